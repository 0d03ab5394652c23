//! The PL011 UART, as kernels and firmware use it.
//!
//! What differs from the hardware, by choice:
//! - Transmission is immediate and needs neither `UARTCR.UARTEN` nor `TXE`: early consoles write to `UARTDR` and rely
//!   on firmware that this machine may not have run. The transmit FIFO is always empty, and the transmit interrupt is
//!   raised by every write.
//! - There is no baud rate; a receive timeout is raised as soon as characters stand in the FIFO, not 32 bit periods
//!   later.
//! - The host's input waits in a queue without limit until the guest listens, and then fills the FIFO as the guest
//!   drains it, so there is no overrun. The guest listens when it enabled the UART, reception and one of the receive
//!   interrupts; or when it polls, that is when it has found the FIFO empty [`POLLS`] times without writing or reading
//!   a character. So what is typed before a driver is up is not thrown away by the driver's own start-up, which drains
//!   the FIFO. Characters that stand in the FIFO when the guest turns it off or on (`UARTLCR_H.FEN`) go back to the
//!   queue.
//! - CTS, DSR and DCD are always asserted. There is no DMA, and no IrDA.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Mutex};

use bus::{Device, DeviceFault, IrqLine, Level, MmioAccess};
use snapshot::{Codec, Invalid};

pub mod spec;
#[cfg(test)]
mod tests;

use spec::{DEPTH, cr, fr, int};

/// How often in a row a guest must find the receive FIFO empty to count as polling for input.
pub const POLLS: u32 = 8;

/// A PL011: a window of 4 KiB.
pub struct Pl011 {
    name: String,
    uart: Arc<Mutex<Uart>>,
}

/// The host's side of a PL011. Clones are the same.
#[derive(Clone)]
pub struct Pl011Input(Arc<Mutex<Uart>>);

struct Uart {
    irq: IrqLine,
    level: Level,
    output: Box<dyn Write + Send>,
    output_error: Option<std::io::Error>,
    /// Input that has not reached the FIFO.
    queue: VecDeque<u8>,
    fifo: VecDeque<u8>,
    /// Times that the guest found the FIFO empty since it last moved a character.
    polls: u32,
    rsr: u32,
    ilpr: u32,
    ibrd: u32,
    fbrd: u32,
    lcr_h: u32,
    cr: u32,
    ifls: u32,
    imsc: u32,
    ris: u32,
    dmacr: u32,
}

impl Pl011 {
    /// Size of the window in bytes.
    pub const LEN: u64 = 0x1000;

    /// A UART in its reset state that drives `irq` and writes what the guest sends to `output`, byte by byte and
    /// without flushing. `name` is for messages.
    pub fn new(name: impl Into<String>, irq: IrqLine, output: Box<dyn Write + Send>) -> Self {
        let uart = Uart {
            irq,
            level: Level::Low,
            output,
            output_error: None,
            queue: VecDeque::new(),
            fifo: VecDeque::with_capacity(DEPTH),
            polls: 0,
            rsr: 0,
            ilpr: 0,
            ibrd: 0,
            fbrd: 0,
            lcr_h: 0,
            cr: cr::RESET,
            ifls: spec::IFLS_RESET,
            imsc: 0,
            ris: 0,
            dmacr: 0,
        };
        Self { name: name.into(), uart: Arc::new(Mutex::new(uart)) }
    }

    /// The host's side.
    pub fn input(&self) -> Pl011Input {
        Pl011Input(Arc::clone(&self.uart))
    }
}

impl Pl011Input {
    /// Appends to the guest's input. Nothing is dropped, however much waits.
    pub fn push(&self, bytes: &[u8]) {
        let mut uart = self.0.lock().expect("no holder panics");
        uart.queue.extend(bytes);
        uart.receive();
        uart.update();
    }
    /// Bytes that the guest has not read yet.
    pub fn waiting(&self) -> usize {
        let uart = self.0.lock().expect("no holder panics");
        uart.queue.len() + uart.fifo.len()
    }
    /// The first error that the output gave since the last call. Later ones are not kept, and none reaches the guest.
    pub fn take_output_error(&self) -> Option<std::io::Error> {
        self.0.lock().expect("no holder panics").output_error.take()
    }
}

impl Device for Pl011 {
    fn name(&self) -> &str {
        &self.name
    }
    /// Registers are at most 16 bits wide in 32-bit places; any access size reads the part it covers.
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        let value = self.uart.lock().expect("no holder panics").read(access.offset & !3);
        Ok(u64::from(value >> (8 * (access.offset & 3))))
    }
    /// Any access size writes the register at its own offset; the bytes between are not registers.
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        self.uart.lock().expect("no holder panics").write(access.offset, value as u32);
        Ok(())
    }
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        let u = self.uart.lock().expect("no holder panics");
        let registers = [u.rsr, u.ilpr, u.ibrd, u.fbrd, u.lcr_h, u.cr, u.ifls, u.imsc, u.ris, u.dmacr];
        for register in registers {
            state.write_u32(register);
        }
        state.write_u32(u.fifo.len() as u32);
        for byte in &u.fifo {
            state.write_u8(*byte);
        }
    }
    /// What the host typed and the guest has not read is part of it.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { name: _, uart } = self;
        let mut uart = uart.lock().expect("no holder panics");
        let Uart {
            irq: _,
            level,
            output: _,
            output_error: _,
            queue,
            fifo,
            polls,
            rsr,
            ilpr,
            ibrd,
            fbrd,
            lcr_h,
            cr,
            ifls,
            imsc,
            ris,
            dmacr,
        } = &mut *uart;
        let mut high = *level == Level::High;
        codec.each([&mut high, queue, fifo, polls])?;
        codec.each([rsr, ilpr, ibrd, fbrd, lcr_h, cr, ifls, imsc, ris, dmacr])?;
        *level = Level::from_bit(high);
        if fifo.len() > DEPTH { Err(Invalid::new("a FIFO that is too full")) } else { Ok(()) }
    }
}

impl Uart {
    fn depth(&self) -> usize {
        if self.lcr_h & spec::LCR_H_FEN == 0 { 1 } else { DEPTH }
    }

    /// Does the guest listen? See the crate's documentation.
    fn listens(&self) -> bool {
        let enabled = self.cr & (cr::UARTEN | cr::RXE) == cr::UARTEN | cr::RXE;
        (enabled && self.imsc & (int::RX | int::RT) != 0 || self.polls >= POLLS) && self.cr & cr::LBE == 0
    }

    /// Moves input into the FIFO as far as the guest listens and there is room.
    fn receive(&mut self) {
        if self.queue.is_empty() || !self.listens() {
            return;
        }
        while self.fifo.len() < self.depth()
            && let Some(byte) = self.queue.pop_front()
        {
            self.arrive(byte);
        }
    }

    /// A character enters the FIFO, which has room.
    fn arrive(&mut self, byte: u8) {
        self.fifo.push_back(byte);
        if self.fifo.len() >= self.receive_level() {
            self.ris |= int::RX;
        }
        self.ris |= int::RT;
    }

    fn receive_level(&self) -> usize {
        spec::receive_level(self.ifls).min(self.depth())
    }

    fn update(&mut self) {
        let level = Level::from_bit(self.ris & self.imsc != 0);
        if level != self.level {
            self.level = level;
            self.irq.set(level);
        }
    }

    fn flags(&self) -> u32 {
        let mut flags = fr::CONNECTED | fr::TXFE;
        if self.fifo.is_empty() {
            flags |= fr::RXFE;
        }
        if self.fifo.len() >= self.depth() {
            flags |= fr::RXFF;
        }
        flags
    }

    fn read(&mut self, offset: u64) -> u32 {
        match offset {
            spec::DR => self.read_data(),
            spec::RSR => self.rsr,
            spec::FR => {
                let flags = self.flags();
                if flags & fr::RXFE != 0 {
                    self.polls = self.polls.saturating_add(1);
                    self.receive();
                    self.update();
                }
                flags
            }
            spec::ILPR => self.ilpr,
            spec::IBRD => self.ibrd,
            spec::FBRD => self.fbrd,
            spec::LCR_H => self.lcr_h,
            spec::CR => self.cr,
            spec::IFLS => self.ifls,
            spec::IMSC => self.imsc,
            spec::RIS => self.ris,
            spec::MIS => self.ris & self.imsc,
            spec::DMACR => self.dmacr,
            spec::ID..=0xffc => spec::IDS[((offset - spec::ID) / 4) as usize].into(),
            _ => 0,
        }
    }

    fn read_data(&mut self) -> u32 {
        self.polls = 0;
        let byte = self.fifo.pop_front().unwrap_or(0);
        if self.fifo.len() < self.receive_level() {
            self.ris &= !int::RX;
        }
        if self.fifo.is_empty() {
            self.ris &= !int::RT;
        }
        self.receive();
        self.update();
        byte.into()
    }

    fn write(&mut self, offset: u64, value: u32) {
        match offset {
            spec::DR => self.transmit(value as u8),
            spec::RSR => self.rsr = 0,
            spec::ILPR => self.ilpr = value & 0xff,
            spec::IBRD => self.ibrd = value & 0xffff,
            spec::FBRD => self.fbrd = value & 0x3f,
            spec::LCR_H => {
                if (self.lcr_h ^ value) & spec::LCR_H_FEN != 0 {
                    self.unread();
                }
                self.lcr_h = value & 0xff;
            }
            spec::CR => self.cr = value & 0xffff,
            spec::IFLS => self.ifls = value & 0x3f,
            spec::IMSC => self.imsc = value & 0x7ff,
            spec::ICR => self.ris &= !value,
            spec::DMACR => self.dmacr = value & 7,
            _ => return,
        }
        self.receive();
        self.update();
    }

    /// Empties the FIFO back into the queue.
    fn unread(&mut self) {
        while let Some(byte) = self.fifo.pop_back() {
            self.queue.push_front(byte);
        }
        self.ris &= !(int::RX | int::RT);
    }

    fn transmit(&mut self, byte: u8) {
        self.polls = 0;
        self.ris |= int::TX;
        if self.cr & cr::LBE != 0 {
            if self.fifo.len() < self.depth() {
                self.arrive(byte);
            } else {
                self.rsr |= spec::RSR_OE;
                self.ris |= int::OE;
            }
        } else if let Err(error) = self.output.write_all(&[byte]) {
            self.output_error.get_or_insert(error);
        }
    }
}
