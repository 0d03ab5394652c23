//! The console's input: from any thread of the host to the UART, waking a machine that sleeps.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pl011::Pl011Input;

/// Types into the guest's console.
#[derive(Clone)]
pub struct ConsoleInput {
    uart: Pl011Input,
    typed: Arc<(Mutex<bool>, Condvar)>,
}

impl ConsoleInput {
    pub(crate) fn new(uart: Pl011Input) -> Self {
        Self { uart, typed: Arc::default() }
    }

    /// Gives `bytes` to the UART, which keeps them until the guest takes them.
    pub fn push(&self, bytes: &[u8]) {
        self.uart.push(bytes);
        self.wake();
    }

    /// Bytes that the guest has not read yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.uart.waiting()
    }

    /// Ends a sleep of the machine without input, as the end of input and the user's wish to quit do.
    pub fn wake(&self) {
        *self.typed.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.typed.1.notify_all();
    }

    /// Sleeps until something is typed, at most `limit`; gives the time that passed.
    pub(crate) fn wait(&self, limit: Duration) -> Duration {
        let start = Instant::now();
        let typed = self.typed.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut typed, _) =
            self.typed.1.wait_timeout_while(typed, limit, |typed| !*typed).unwrap_or_else(PoisonError::into_inner);
        *typed = false;
        start.elapsed()
    }
}
