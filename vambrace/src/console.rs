//! The console's output: what the guest prints, written by a thread of its own, so that the guest's time does not hang on
//! the host's terminal and prompts without a newline appear.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::stop::{Reason, Stopper};

/// The guest waits while more than this many bytes wait to be written.
const QUEUE: usize = 1 << 20;

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// Nothing more comes.
    is_closed: bool,
    /// Writing failed: what comes is dropped.
    is_broken: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Signalled when there is something to write, or `is_closed`.
    more: Condvar,
    /// Signalled when `waiting` has become empty, or `is_broken`.
    less: Condvar,
}

/// The end that the machine writes to.
pub struct Output(Arc<Shared>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let full = |state: &mut State| state.waiting.len() > QUEUE && !state.is_broken;
        let mut state = self.0.less.wait_while(state, full).unwrap_or_else(PoisonError::into_inner);
        if !state.is_broken {
            state.waiting.extend_from_slice(bytes);
            self.0.more.notify_one();
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread that writes.
pub struct Console {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

impl Console {
    /// A console that writes to `target` and ends the run where that fails.
    pub fn start(target: Box<dyn Write + Send>, stopper: Stopper) -> (Self, Output) {
        let shared = Arc::new(Shared::default());
        let output = Output(shared.clone());
        let of_thread = shared.clone();
        let thread = std::thread::spawn(move || write_all(&of_thread, target, &stopper));
        (Self { shared, thread }, output)
    }

    /// Waits until all that the guest printed is written.
    pub fn finish(self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.shared.more.notify_one();
        // The thread does not panic; if it did, its message has been printed.
        let _ = self.thread.join();
    }
}

fn write_all(shared: &Shared, mut target: Box<dyn Write + Send>, stopper: &Stopper) {
    loop {
        let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let mut state = shared.more.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
        let bytes = std::mem::take(&mut state.waiting);
        if bytes.is_empty() {
            return;
        }
        shared.less.notify_one();
        drop(state);
        if let Err(error) = target.write_all(&bytes).and_then(|()| target.flush()) {
            shared.state.lock().unwrap_or_else(PoisonError::into_inner).is_broken = true;
            shared.less.notify_one();
            stopper.stop(Reason::Console(error));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Sheet(Arc<Mutex<Vec<u8>>>);

    impl Write for Sheet {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn everything_is_written_in_order() {
        let sheet = Sheet::default();
        let (console, mut output) = Console::start(Box::new(sheet.clone()), Stopper::default());
        let text: Vec<u8> = (0..3 * QUEUE as u32 / 4).flat_map(u32::to_le_bytes).collect();
        for chunk in text.chunks(1000) {
            output.write_all(chunk).unwrap();
        }
        console.finish();
        assert!(*sheet.0.lock().unwrap() == text);
    }

    #[test]
    fn a_console_that_is_gone_ends_the_run_and_does_not_block_it() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let stopper = Stopper::default();
        let (console, mut output) = Console::start(Box::new(Gone), stopper.clone());
        for _ in 0..4 {
            output.write_all(&vec![0; QUEUE]).unwrap();
        }
        console.finish();
        assert!(matches!(stopper.take_reason(), Some(Reason::Console(_))));
    }
}
