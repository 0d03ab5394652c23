//! Snapshots of a whole machine.
//!
//! A machine is saved between two rounds, a point that an undisturbed run comes by too, so that what goes on from there is
//! bit for bit what would have been. The sections: `config` (what the machine is), `machine` (time, who runs, firmware),
//! a `device` each, a `cpu` each, a `ram` for each mebibyte that holds something. What `--stats` counts follows, from
//! whoever counts.

use std::fmt::Write as _;
use std::io::{Read, Write};

use arch::Pa;
use arch::preset;
use arch::sysreg::Reg;
use cpu::Semihosting;
use snapshot::{Codec, Digest, Invalid, Persist, Reader, SnapshotError, Writer};

use crate::config::MachineConfig;
use crate::map;
use crate::run::Machine;
use crate::setup::{Options, SetupError};

/// Ticks since power-on are below this: 36 years.
const MAX_TICKS: u64 = 1 << 60;

/// Tells versions of the tool apart that model CPUs differently: registers, presets, identification.
#[must_use]
pub fn maker() -> u64 {
    let mut text = env!("CARGO_PKG_VERSION").to_owned();
    for reg in Reg::ALL {
        text.push_str(reg.name());
    }
    for name in preset::names() {
        // Writing to a string does not fail.
        let _ = write!(text, "{:?}", preset::preset(name));
    }
    Digest::of(text.as_bytes())
}

/// What a saved machine is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The configuration.
    pub config: MachineConfig,
    /// Are semihosting calls served?
    pub semihosting: Semihosting,
}

impl Description {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { config, semihosting } = self;
        let mut served = *semihosting == Semihosting::On;
        codec.each([config, &mut served])?;
        *semihosting = if served { Semihosting::On } else { Semihosting::Off };
        Ok(())
    }

    /// Writes the first section of a snapshot.
    pub fn save<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), SnapshotError> {
        writer.section("config", |codec| self.clone().persist(codec))
    }

    /// Reads it. The configuration has yet to be validated.
    pub fn load<R: Read>(reader: &mut Reader<R>) -> Result<Self, SnapshotError> {
        let mut this = Self { config: MachineConfig::default(), semihosting: Semihosting::Off };
        reader.section("config", |codec| this.persist(codec))?;
        Ok(this)
    }
}

impl Machine {
    /// Writes the state, behind the [`Description`].
    pub fn save<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), SnapshotError> {
        writer.section("machine", |codec| self.persist_own(codec))?;
        let board = self.board_mut();
        board.bus.persist_devices(|device| writer.section("device", |codec| device.persist(codec)))?;
        for cpu in &mut board.cpus {
            writer.section("cpu", |codec| cpu.pe.persist(codec))?;
        }
        let ram = board.bus.ram();
        for number in ram.stretches() {
            writer.section("ram", |codec| ram.save_stretch(number, codec))?;
        }
        Ok(())
    }

    /// The machine of a snapshot whose [`Description`] has been read; `config` is the description's, with the limits and
    /// the places of disks that hold now.
    pub fn from_snapshot<R: Read>(
        config: &MachineConfig,
        options: Options,
        reader: &mut Reader<R>,
    ) -> Result<Self, SetupError> {
        let mut machine = Self::build(config, options, |_| Ok((Pa(map::RAM_BASE), Pa(0))))?;
        machine.load(reader)?;
        Ok(machine)
    }

    fn load<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<(), SnapshotError> {
        reader.section("machine", |codec| self.persist_own(codec))?;
        let board = self.board_mut();
        board.bus.persist_devices(|device| reader.section("device", |codec| device.persist(codec)))?;
        for cpu in &mut board.cpus {
            reader.section("cpu", |codec| cpu.pe.persist(codec))?;
        }
        let ram = board.bus.ram();
        let mut last = None;
        while reader.is_next("ram")? {
            reader.section("ram", |codec| {
                let number = ram.load_stretch(codec)?;
                let is_in_order = last.replace(number).is_none_or(|last| last < number);
                if is_in_order { Ok(()) } else { Err(Invalid::new("memory out of order")) }
            })?;
        }
        Ok(())
    }

    /// What is of the machine itself.
    fn persist_own(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        if !self.is_between_rounds() {
            return Err(Invalid::new("the machine is in the middle of a round"));
        }
        let (entry, now, psci, cpus) = self.own_state();
        codec.same(&cpus.len(), "the number of CPUs")?;
        codec.each([entry, now, psci])?;
        if *now >= MAX_TICKS {
            return Err(Invalid::new("a time that cannot be"));
        }
        cpus.iter_mut().try_for_each(|cpu| cpu.persist_state(codec))?;
        codec.value(self.board_mut().power_button_release())
    }
}
