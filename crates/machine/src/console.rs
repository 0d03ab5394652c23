//! The console's input: from any thread of the host to the UART, waking a machine that sleeps.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pl011::Pl011Input;
use virtio_console::ConsoleQueue;

/// Types into the guest's console.
#[derive(Clone)]
pub struct ConsoleInput {
    port: Port,
    typed: Arc<(Mutex<bool>, Condvar)>,
}

/// The device that what is typed goes to.
#[derive(Clone)]
pub(crate) enum Port {
    Uart(Pl011Input),
    Virtio(ConsoleQueue),
}

impl ConsoleInput {
    pub(crate) fn new(port: Port) -> Self {
        Self { port, typed: Arc::default() }
    }

    /// Gives `bytes` to the device, which keeps them until the guest takes them.
    pub fn push(&self, bytes: &[u8]) {
        match &self.port {
            Port::Uart(uart) => uart.push(bytes),
            Port::Virtio(queue) => queue.push(bytes),
        }
        self.wake();
    }

    /// Bytes that the guest has not read yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        match &self.port {
            Port::Uart(uart) => uart.waiting(),
            Port::Virtio(queue) => queue.waiting(),
        }
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
