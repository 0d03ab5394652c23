//! Ending a run from outside: the user's key, a signal, a console that is gone.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use machine::{ConsoleInput, Machine};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// Why a run is to end.
#[derive(Debug)]
pub enum Reason {
    /// The user quit at the console.
    User,
    /// This signal came.
    Signal(i32),
    /// What the guest prints cannot be written.
    Console(io::Error),
}

/// Ends a run. Clones end the same one.
#[derive(Clone, Default)]
pub struct Stopper(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The first reason given.
    reason: Mutex<Option<Reason>>,
    machine: OnceLock<Handles>,
}

struct Handles {
    quit: Arc<AtomicBool>,
    power: Arc<AtomicBool>,
    input: ConsoleInput,
}

impl Stopper {
    /// From now on this ends `machine`'s run, at once if something asked for it before.
    pub fn arm(&self, machine: &mut Machine) {
        let power = machine.power_button().flag();
        let handles = Handles { quit: machine.quit_flag(), power, input: machine.board().input.clone() };
        let handles = self.0.machine.get_or_init(|| handles);
        if self.reason().is_some() {
            handles.quit.store(true, Ordering::Relaxed);
        }
    }

    /// Ends the run.
    pub fn stop(&self, reason: Reason) {
        self.reason().get_or_insert(reason);
        if let Some(handles) = self.0.machine.get() {
            handles.quit.store(true, Ordering::Relaxed);
            handles.input.wake();
        }
    }

    /// Presses the machine's power button.
    pub fn press_power_button(&self) {
        if let Some(handles) = self.0.machine.get() {
            handles.power.store(true, Ordering::Relaxed);
            handles.input.wake();
        }
    }

    /// Why it was ended, if it was; the reason is taken out.
    pub fn take_reason(&self) -> Option<Reason> {
        self.reason().take()
    }

    fn reason(&self) -> std::sync::MutexGuard<'_, Option<Reason>> {
        self.0.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of SIGINT, SIGTERM, SIGHUP and SIGQUIT ends the run in order; the second ends the tool at once.
    pub fn on_signals(&self) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
        let stopper = self.clone();
        std::thread::spawn(move || {
            for (count, signal) in signals.forever().enumerate() {
                if count == 0 {
                    stopper.stop(Reason::Signal(signal));
                } else {
                    crate::terminal::restore();
                    die_by(signal);
                }
            }
        });
        Ok(())
    }
}

/// Ends the tool by `signal`, as if it had not been handled.
pub fn die_by(signal: i32) {
    // What ends by default does not return; should it, the caller goes on to a normal end.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}
