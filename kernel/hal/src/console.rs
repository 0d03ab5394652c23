//! The console: a PL011. Output waits for room in the FIFO; input is taken when asked or by interrupt.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::sync::SpinLock;

/// Virtual address of the registers; 0: no console yet.
static BASE: AtomicUsize = AtomicUsize::new(0);
static LOCK: SpinLock<()> = SpinLock::new(());

/// PL011 registers, as offsets (Arm DDI 0183).
mod register {
    pub const DR: usize = 0x00;
    pub const FR: usize = 0x18;
    pub const IBRD: usize = 0x24;
    pub const LCR_H: usize = 0x2c;
    pub const CR: usize = 0x30;
    pub const IMSC: usize = 0x38;
    pub const ICR: usize = 0x44;
    /// Transmit FIFO full.
    pub const FR_TXFF: u32 = 1 << 5;
    /// Receive FIFO empty.
    pub const FR_RXFE: u32 = 1 << 4;
    /// Receive, and receive timeout.
    pub const RX_INTERRUPTS: u32 = 1 << 4 | 1 << 6;
}

#[cfg(target_os = "none")]
fn read(offset: usize) -> u32 {
    crate::mmio::read32(BASE.load(Ordering::Relaxed) + offset)
}
#[cfg(target_os = "none")]
fn write(offset: usize, value: u32) {
    crate::mmio::write32(BASE.load(Ordering::Relaxed) + offset, value);
}
#[cfg(not(target_os = "none"))]
fn read(_offset: usize) -> u32 {
    register::FR_RXFE
}
#[cfg(not(target_os = "none"))]
fn write(offset: usize, value: u32) {
    if offset == register::DR {
        std::eprint!("{}", char::from(value as u8));
    }
}

/// Takes the PL011 whose registers are mapped at `base`.
#[cfg(target_os = "none")]
pub(crate) fn init(base: usize) {
    BASE.store(base, Ordering::Relaxed);
    write(register::CR, 0);
    write(register::ICR, 0x7ff);
    // The firmware or board has set the speed; where it has not, one that is no reserved value.
    if read(register::IBRD) == 0 {
        write(register::IBRD, 13);
    }
    write(register::LCR_H, 3 << 5 | 1 << 4); // 8 bits, FIFOs
    write(register::CR, 1 << 9 | 1 << 8 | 1); // RXE, TXE, UARTEN
}

/// Asks for interrupts when bytes come in.
pub fn enable_input() {
    write(register::IMSC, register::RX_INTERRUPTS);
}

/// The next byte that came in, if any.
pub fn input() -> Option<u8> {
    let is_ready = cfg!(not(target_os = "none")) || BASE.load(Ordering::Relaxed) != 0;
    (is_ready && read(register::FR) & register::FR_RXFE == 0).then(|| read(register::DR) as u8)
}

/// Writes bytes as they are.
pub fn output(bytes: &[u8]) {
    let _guard = LOCK.lock();
    raw_output(bytes);
}

fn raw_output(bytes: &[u8]) {
    #[cfg(target_os = "none")]
    if BASE.load(Ordering::Relaxed) == 0 {
        return crate::power::semihosting_write(bytes);
    }
    for byte in bytes {
        while read(register::FR) & register::FR_TXFF != 0 {}
        write(register::DR, u32::from(*byte));
    }
}

/// The kernel's own messages: line by line, with carriage returns.
#[derive(Debug)]
pub struct Log {
    _private: (),
}

impl Write for Log {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                raw_output(b"\r\n");
            }
            raw_output(line.as_bytes());
        }
        Ok(())
    }
}

/// Prints one message of the kernel.
pub fn print(message: fmt::Arguments<'_>) {
    let _guard = LOCK.lock();
    let _ = Log { _private: () }.write_fmt(message);
}

/// Writes bytes although the lock may be held by the very code that fails.
pub fn output_emergency(bytes: &[u8]) {
    raw_output(bytes);
}

/// Prints although the lock may be held by the very code that fails.
pub fn print_emergency(message: fmt::Arguments<'_>) {
    let _guard = LOCK.try_lock();
    let _ = Log { _private: () }.write_fmt(message);
}

/// Prints a line of the kernel's log.
#[macro_export]
macro_rules! log {
    ($($format:tt)*) => { $crate::console::print(format_args!("{}\n", format_args!($($format)*))) };
}
