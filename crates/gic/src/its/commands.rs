//! The ITS's commands (IHI 0069, §5.3).

use bus::GuestMemory;

use super::spec::{DEVICE_BITS, EVENT_BITS, command};
use super::tables::{self, Device, Event};
use crate::state::State;

/// A command that cannot be: its number is of none, what it names is out of range or not mapped, or a table is not in
/// memory. The manual calls it a command error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandError;

/// A command's four doublewords.
#[derive(Clone, Copy, Debug)]
pub struct Command(pub [u64; 4]);

impl Command {
    fn number(self) -> u8 {
        self.0[0] as u8
    }
    fn device(self) -> u32 {
        (self.0[0] >> 32) as u32
    }
    fn event(self) -> u32 {
        self.0[1] as u32
    }
    fn intid(self) -> u32 {
        (self.0[1] >> 32) as u32
    }
    fn collection(self) -> u16 {
        self.0[2] as u16
    }
    fn is_valid(self) -> bool {
        self.0[2] >> 63 != 0
    }
    /// `RDbase` of doubleword `n`: the number of a PE, of `pes` there are.
    fn pe(self, n: usize, pes: usize) -> Result<usize, CommandError> {
        let number = self.0[n] >> 16 & 0x7_ffff_ffff;
        usize::try_from(number).ok().filter(|pe| *pe < pes).ok_or(CommandError)
    }
}

/// The ITS's tables.
struct Tables<'a> {
    memory: &'a GuestMemory,
    devices: u64,
    collections: u64,
    pes: usize,
}

impl Tables<'_> {
    fn device_slot(&self, device: u32) -> Result<u64, CommandError> {
        let there = u64::from(device) < 1 << DEVICE_BITS;
        there.then(|| tables::slot(self.memory, self.devices, device)).flatten().ok_or(CommandError)
    }
    fn collection_slot(&self, collection: u16) -> Result<u64, CommandError> {
        tables::slot(self.memory, self.collections, collection.into()).ok_or(CommandError)
    }
    fn read(&self, at: u64) -> Result<u64, CommandError> {
        self.memory.read_u64(at).ok_or(CommandError)
    }
    fn write(&self, at: u64, entry: u64) -> Result<(), CommandError> {
        self.memory.write(at, &entry.to_le_bytes()).ok_or(CommandError)
    }
    /// Where the entry of a device's event is.
    fn event_slot(&self, device: u32, event: u32) -> Result<u64, CommandError> {
        let entry = self.read(self.device_slot(device)?)?;
        Device::of(entry).and_then(|device| device.slot(event)).ok_or(CommandError)
    }
    /// That entry, and where it is.
    fn event(&self, device: u32, event: u32) -> Result<(u64, Event), CommandError> {
        let slot = self.event_slot(device, event)?;
        Ok((slot, Event::of(self.read(slot)?).ok_or(CommandError)?))
    }
    /// The PE that a collection is mapped to.
    fn target(&self, collection: u16) -> Result<usize, CommandError> {
        let entry = self.read(self.collection_slot(collection)?)?;
        tables::target(entry, self.pes).ok_or(CommandError)
    }
}

impl State {
    fn tables(&self) -> Result<Tables<'_>, CommandError> {
        let messages = self.messages.as_ref().ok_or(CommandError)?;
        let [devices, collections] = messages.its.basers;
        Ok(Tables { memory: &messages.memory, devices, collections, pes: self.pes.len() })
    }

    /// What event `event` of device `device` leads to: a PE and an LPI.
    fn translate(&self, device: u32, event: u32) -> Result<(usize, u32), CommandError> {
        let tables = self.tables()?;
        let (_, event) = tables.event(device, event)?;
        Ok((tables.target(event.collection)?, event.intid))
    }

    /// A message of device `device`: a write to `GITS_TRANSLATER`. One that is not mapped is dropped.
    pub fn translate_message(&mut self, device: u32, event: u32) {
        if let Ok((pe, intid)) = self.translate(device, event) {
            self.pend_lpi(pe, intid);
        }
    }

    /// Executes a command. Gives what it cost beside itself.
    pub fn execute(&mut self, command: Command) -> Result<i64, CommandError> {
        let (device, event) = (command.device(), command.event());
        match command.number() {
            command::MAPD => self.map_device(command)?,
            command::MAPC => self.map_collection(command)?,
            command::MAPTI => self.map_event(command, command.intid())?,
            command::MAPI => self.map_event(command, event)?,
            command::MOVI => self.move_event(command)?,
            command::DISCARD => {
                let tables = self.tables()?;
                let (slot, entry) = tables.event(device, event)?;
                let target = tables.target(entry.collection)?;
                tables.write(slot, 0)?;
                self.clear_lpi(target, entry.intid);
            }
            command::INT => {
                let (pe, intid) = self.translate(device, event)?;
                self.pend_lpi(pe, intid);
            }
            command::CLEAR => {
                let (pe, intid) = self.translate(device, event)?;
                self.clear_lpi(pe, intid);
            }
            command::INV => {
                let (pe, intid) = self.translate(device, event)?;
                self.reread_lpi(pe, intid);
            }
            command::INVALL => {
                let pe = self.tables()?.target(command.collection())?;
                return Ok(self.reread_lpis(pe));
            }
            command::MOVALL => {
                let (from, to) = (command.pe(2, self.pes.len())?, command.pe(3, self.pes.len())?);
                return Ok(self.move_lpis(from, to));
            }
            // All that went before is done already.
            command::SYNC => drop(command.pe(2, self.pes.len())?),
            _ => return Err(CommandError),
        }
        Ok(0)
    }

    fn map_device(&self, command: Command) -> Result<(), CommandError> {
        let tables = self.tables()?;
        let slot = tables.device_slot(command.device())?;
        let bits = (command.0[1] & 0x1f) as u32 + 1;
        let device = Device { table: command.0[2] & 0xf_ffff_ffff_ff00, bits };
        match command.is_valid() {
            false => tables.write(slot, 0),
            true if bits > EVENT_BITS => Err(CommandError),
            true => tables.write(slot, device.entry()),
        }
    }

    fn map_collection(&self, command: Command) -> Result<(), CommandError> {
        let tables = self.tables()?;
        let slot = tables.collection_slot(command.collection())?;
        let entry = if command.is_valid() { tables::collection(command.pe(2, tables.pes)? as u16) } else { 0 };
        tables.write(slot, entry)
    }

    /// Maps an event anew, whatever it was.
    fn map_event(&self, command: Command, intid: u32) -> Result<(), CommandError> {
        let tables = self.tables()?;
        let slot = tables.event_slot(command.device(), command.event())?;
        let collection = command.collection();
        // The collection need not be mapped yet, but be one.
        tables.collection_slot(collection)?;
        if !self.is_lpi(intid) {
            return Err(CommandError);
        }
        tables.write(slot, Event { intid, collection }.entry())
    }

    fn move_event(&mut self, command: Command) -> Result<(), CommandError> {
        let tables = self.tables()?;
        let (slot, event) = tables.event(command.device(), command.event())?;
        let (from, to) = (tables.target(event.collection)?, tables.target(command.collection())?);
        tables.write(slot, Event { collection: command.collection(), ..event }.entry())?;
        if from != to && self.is_lpi_pending(from, event.intid) {
            self.clear_lpi(from, event.intid);
            self.pend_lpi(to, event.intid);
        }
        Ok(())
    }
}
