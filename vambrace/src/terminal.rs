//! The terminal in raw mode: keys reach the guest one by one, Ctrl-C included.

use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcsetattr};

/// How the terminal was before, while it is in raw mode.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Is standard input a terminal?
pub fn is_terminal() -> bool {
    isatty(stdin())
}

/// Raw mode, until this is dropped.
#[derive(Debug)]
pub struct Raw(());

impl Raw {
    /// Puts the terminal at standard input into raw mode.
    pub fn enter() -> Result<Self, Errno> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        let guard = Self(());
        tcsetattr(stdin(), OptionalActions::Drain, &raw)?;
        Ok(guard)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// Puts the terminal back as it was, if it is in raw mode.
pub fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(stdin(), OptionalActions::Drain, &before);
    }
}

/// Has a panic's message printed on a terminal that is as it was.
pub fn restore_on_panic() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        print(info);
    }));
}
