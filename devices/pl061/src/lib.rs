//! The PL061 GPIO controller: eight lines, of which the board drives the inputs. Outputs lead nowhere.

use bus::{Device, DeviceFault, IrqLine, Level, MmioAccess};
use snapshot::{Codec, Invalid};

pub mod spec;
#[cfg(test)]
mod tests;

/// A PL061: a window of 4 KiB.
pub struct Pl061 {
    name: String,
    irq: IrqLine,
    level: Level,
    /// What drives the lines from outside.
    inputs: u8,
    /// What the guest drives on those that are outputs.
    outputs: u8,
    dir: u8,
    is: u8,
    ibe: u8,
    iev: u8,
    ie: u8,
    /// Edges that were seen.
    edges: u8,
    afsel: u8,
}

impl Pl061 {
    /// Size of the window in bytes.
    pub const LEN: u64 = 0x1000;

    /// A controller in its reset state, all of whose lines are low, that drives `irq`. `name` is for messages.
    pub fn new(name: impl Into<String>, irq: IrqLine) -> Self {
        Self {
            name: name.into(),
            irq,
            level: Level::Low,
            inputs: 0,
            outputs: 0,
            dir: 0,
            is: 0,
            ibe: 0,
            iev: 0,
            ie: 0,
            edges: 0,
            afsel: 0,
        }
    }

    /// Drives line `line`, 0 to 7, from outside.
    pub fn drive(&mut self, line: u8, level: Level) {
        let bit = 1 << (line & 7);
        self.change(|gpio| match level {
            Level::High => gpio.inputs |= bit,
            Level::Low => gpio.inputs &= !bit,
        });
    }

    /// The lines' levels.
    fn lines(&self) -> u8 {
        self.outputs & self.dir | self.inputs & !self.dir
    }

    /// By level, as it is now; by edge, what was seen.
    fn raw(&self) -> u8 {
        let by_level = !(self.lines() ^ self.iev);
        self.is & by_level | !self.is & self.edges
    }

    /// Makes a change, and notes the edges that come from it and are asked for.
    fn change(&mut self, what: impl FnOnce(&mut Self)) {
        let before = self.lines();
        what(self);
        let after = self.lines();
        let wanted = self.ibe | !(after ^ self.iev);
        self.edges |= (before ^ after) & wanted & !self.is;
        let level = Level::from_bit(self.raw() & self.ie != 0);
        if level != self.level {
            self.level = level;
            self.irq.set(level);
        }
    }
}

impl Device for Pl061 {
    fn name(&self) -> &str {
        &self.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        let value = match access.offset & !3 {
            offset @ 0..spec::DATA_END => self.lines() & (offset >> 2) as u8,
            spec::DIR => self.dir,
            spec::IS => self.is,
            spec::IBE => self.ibe,
            spec::IEV => self.iev,
            spec::IE => self.ie,
            spec::RIS => self.raw(),
            spec::MIS => self.raw() & self.ie,
            spec::AFSEL => self.afsel,
            offset @ spec::ID..=0xffc => spec::IDS[((offset - spec::ID) / 4) as usize],
            _ => 0,
        };
        Ok(u64::from(value) >> (8 * (access.offset & 3)))
    }
    /// Only accesses at a register's own offset write.
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        let value = value as u8;
        self.change(|gpio| match access.offset {
            offset @ 0..spec::DATA_END if offset & 3 == 0 => {
                let mask = (offset >> 2) as u8;
                gpio.outputs = gpio.outputs & !mask | value & mask;
            }
            spec::DIR => gpio.dir = value,
            spec::IS => gpio.is = value,
            spec::IBE => gpio.ibe = value,
            spec::IEV => gpio.iev = value,
            spec::IE => gpio.ie = value,
            spec::IC => gpio.edges &= !value,
            spec::AFSEL => gpio.afsel = value,
            _ => {}
        });
        Ok(())
    }
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        let registers =
            [self.inputs, self.outputs, self.dir, self.is, self.ibe, self.iev, self.ie, self.edges, self.afsel];
        state.write(&registers);
    }
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { name: _, irq: _, level, inputs, outputs, dir, is, ibe, iev, ie, edges, afsel } = self;
        let mut high = *level == Level::High;
        codec.each([&mut high, inputs, outputs, dir, is, ibe, iev, ie, edges, afsel])?;
        *level = Level::from_bit(high);
        Ok(())
    }
}
