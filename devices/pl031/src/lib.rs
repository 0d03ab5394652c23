//! The PL031 real-time clock: seconds since an epoch that the board fixes, so that runs repeat.
//!
//! The clock runs from power-on and cannot be stopped (`RTCCR` reads as 1), as on the `virt` board. It counts the
//! machine's time, never the host's. A load takes effect at once and keeps the phase of the seconds.

use bus::{Device, DeviceFault, IrqLine, Level, MmioAccess};
use snapshot::{Codec, Invalid};

pub mod spec;
#[cfg(test)]
mod tests;

const SECOND: u64 = 1_000_000_000;

/// A PL031: a window of 4 KiB.
pub struct Pl031 {
    name: String,
    irq: IrqLine,
    level: Level,
    /// The counter at power-on.
    base: u32,
    mr: u32,
    lr: u32,
    imsc: u32,
    ris: u32,
    /// When the counter next equals `mr`, in nanoseconds since power-on; `None`: beyond the end of time.
    alarm: Option<u64>,
}

impl Pl031 {
    /// Size of the window in bytes.
    pub const LEN: u64 = 0x1000;

    /// A clock that reads `epoch` (seconds since 1970) at power-on and drives `irq` at its alarm. `name` is for
    /// messages. The counter has 32 bits: an epoch beyond them wraps, as the hardware's counter does.
    pub fn new(name: impl Into<String>, irq: IrqLine, epoch: u64) -> Self {
        let mut clock = Self {
            name: name.into(),
            irq,
            level: Level::Low,
            base: epoch as u32,
            mr: 0,
            lr: 0,
            imsc: 0,
            ris: 0,
            alarm: None,
        };
        clock.arm(0);
        clock
    }

    /// When [`Pl031::tick`] is due, in nanoseconds since power-on; `None` while no alarm can interrupt.
    pub fn next_event(&self) -> Option<u64> {
        self.alarm.filter(|_| self.imsc & !self.ris & 1 != 0)
    }

    /// Raises the alarm if it is due at `now`, in nanoseconds since power-on.
    pub fn tick(&mut self, now: u64) {
        if self.alarm.is_some_and(|at| at <= now) {
            self.ris = 1;
            // The counter comes round to the match again after 2^32 seconds.
            self.arm(now.saturating_add(SECOND));
            self.update();
        }
    }

    fn count(&self, now: u64) -> u32 {
        self.base.wrapping_add((now / SECOND) as u32)
    }

    /// Sets the alarm for the next time from `now` on that the counter equals the match register.
    fn arm(&mut self, now: u64) {
        let wait = u64::from(self.mr.wrapping_sub(self.count(now)));
        // Equal already: due now, not at the start of this second.
        let due = if wait == 0 { Some(now) } else { (now / SECOND + wait).checked_mul(SECOND) };
        self.alarm = due;
    }

    fn update(&mut self) {
        let level = Level::from_bit(self.ris & self.imsc != 0);
        if level != self.level {
            self.level = level;
            self.irq.set(level);
        }
    }
}

impl Device for Pl031 {
    fn name(&self) -> &str {
        &self.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        self.tick(access.now);
        let value = match access.offset & !3 {
            spec::DR => self.count(access.now),
            spec::MR => self.mr,
            spec::LR => self.lr,
            spec::CR => 1,
            spec::IMSC => self.imsc,
            spec::RIS => self.ris,
            spec::MIS => self.ris & self.imsc,
            offset @ spec::ID..=0xffc => spec::IDS[((offset - spec::ID) / 4) as usize].into(),
            _ => 0,
        };
        Ok(u64::from(value >> (8 * (access.offset & 3))))
    }
    /// Only accesses at a register's own offset write; the alarm is due at once where a load or a match makes the
    /// counter equal the match.
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        self.tick(access.now);
        let value = value as u32;
        match access.offset {
            spec::MR => {
                self.mr = value;
                self.arm(access.now);
            }
            spec::LR => {
                self.lr = value;
                self.base = value.wrapping_sub((access.now / SECOND) as u32);
                self.arm(access.now);
            }
            spec::IMSC => self.imsc = value & 1,
            spec::ICR => self.ris &= !value,
            _ => return Ok(()),
        }
        self.tick(access.now);
        self.update();
        Ok(())
    }
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        for register in [self.base, self.mr, self.lr, self.imsc, self.ris] {
            state.write_u32(register);
        }
        state.write_u64(self.alarm.unwrap_or(u64::MAX));
    }
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { name: _, irq: _, level, base, mr, lr, imsc, ris, alarm } = self;
        let mut high = *level == Level::High;
        codec.each([&mut high, base, mr, lr, imsc, ris, alarm])?;
        *level = Level::from_bit(high);
        Ok(())
    }
}
