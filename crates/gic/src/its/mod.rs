//! The Interrupt Translation Service (IHI 0069, §5): commands from a queue in guest memory map events of devices to LPIs and
//! these to PEs; a message, or the INT command, then makes them pending.
//!
//! Commands are executed when `GITS_CWRITER` is written, as many as a round of the machine may have ([`Work`]). On a command
//! error the machine's policy decides between what the architecture permits: the benign one ignores the command and goes
//! on, the adversarial one stalls the queue (`GITS_CREADR.Stalled`) until software writes `GITS_CWRITER.Retry`.

pub mod spec;

mod commands;
mod tables;

use arch::policy::{Choices, Policy};
use bus::{Device, DeviceFault, GuestMemory, MmioAccess, Size};
use snapshot::{Codec, Invalid};

use crate::Gic;
use crate::lpi::Work;
use crate::spec::{IIDR, id_register, merge, readable, writable};
use crate::state::State;
use commands::Command;
use spec::{Reg, baser, cbaser, ctlr, queue};

/// The part of the machine that chooses what a command error does.
const CHOOSER: u64 = 1 << 32;

/// What a GIC with LPIs has beside one without.
pub struct Messages {
    /// Where the tables are.
    pub memory: GuestMemory,
    /// The ITS.
    pub its: Its,
    /// What may be done in the present round.
    pub work: Work,
}

impl Messages {
    /// The reset state.
    pub fn new(memory: GuestMemory, policy: Policy) -> Self {
        Self { memory, its: Its::new(policy), work: Work::new() }
    }

    /// Saves or loads it.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { memory: _, its, work } = self;
        its.persist(codec)?;
        work.persist(codec)
    }
}

/// The ITS's registers.
pub struct Its {
    ctlr: u64,
    /// `GITS_BASER0`, the devices', and `GITS_BASER1`, the collections'.
    pub basers: [u64; 2],
    cbaser: u64,
    /// Offsets in the queue.
    cwriter: u64,
    creadr: u64,
    /// `GITS_CREADR.Stalled`.
    stalled: u64,
    choices: Choices,
}

impl Its {
    fn new(policy: Policy) -> Self {
        let choices = Choices::new(policy, CHOOSER);
        Self { ctlr: 0, basers: baser::FIXED, cbaser: 0, cwriter: 0, creadr: 0, stalled: 0, choices }
    }

    fn is_enabled(&self) -> bool {
        self.ctlr & ctlr::ENABLED != 0
    }

    /// Bytes of the queue.
    fn queue_len(&self) -> u64 {
        ((self.cbaser & cbaser::SIZE) + 1) << 12
    }

    /// Is there a command to execute? One that was written behind the end of the queue makes it invalid until another is
    /// (`GITS_CWRITER`).
    fn has_command(&self) -> bool {
        let valid = self.is_enabled() && self.cbaser & cbaser::VALID != 0 && self.stalled == 0;
        valid && self.cwriter < self.queue_len() && self.creadr != self.cwriter
    }

    /// The next command; `None` where it is not in memory.
    fn command(&self, memory: &GuestMemory) -> Option<Command> {
        let at = (self.cbaser & cbaser::ADDRESS) + self.creadr;
        let mut words = [0; 4];
        for (n, word) in words.iter_mut().enumerate() {
            *word = memory.read_u64(at + 8 * n as u64)?;
        }
        Some(Command(words))
    }

    /// A command is done.
    fn advance(&mut self) {
        self.creadr = (self.creadr + queue::COMMAND) % self.queue_len();
    }

    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { ctlr, basers, cbaser, cwriter, creadr, stalled, choices: _ } = self;
        codec.each([ctlr, basers, cbaser, cwriter, creadr, stalled])?;
        let offsets = [*cwriter, *creadr];
        if *ctlr & !ctlr::ENABLED != 0
            || basers.iter().zip(baser::FIXED).any(|(baser, fixed)| *baser & !baser::WRITABLE != fixed)
            || *cbaser & !cbaser::FIELDS != 0
            || offsets.into_iter().any(|offset| offset & !queue::OFFSET != 0)
            || *stalled & !queue::RETRY != 0
            || self.creadr >= self.queue_len()
        {
            return Err(Invalid::new("an ITS in a state that cannot be"));
        }
        Ok(())
    }

    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        for word in [self.ctlr, self.cbaser, self.cwriter, self.creadr, self.stalled] {
            state.write_u64(word);
        }
        self.basers.iter().for_each(|baser| state.write_u64(*baser));
    }

    /// The register at `offset` as 64 bits, where it is one that can be read.
    fn read(&self, reg: Reg, at: u64) -> u64 {
        match reg {
            Reg::Ctlr if self.is_enabled() => self.ctlr,
            Reg::Ctlr => self.ctlr | ctlr::QUIESCENT,
            Reg::Iidr => IIDR.into(),
            Reg::Typer => spec::TYPER,
            Reg::Cbaser => self.cbaser,
            Reg::Cwriter => self.cwriter,
            Reg::Creadr => self.creadr | self.stalled,
            Reg::Baser => self.basers.get((at / 8) as usize).copied().unwrap_or(0),
            Reg::Id | Reg::Translater => 0,
        }
    }

    /// Writes to the tables' and the queue's registers while the ITS is enabled are UNPREDICTABLE; they are ignored.
    fn write(&mut self, reg: Reg, at: u64, value: u64) {
        match reg {
            Reg::Ctlr => self.ctlr = value & ctlr::ENABLED,
            Reg::Cbaser if !self.is_enabled() => {
                self.cbaser = value & cbaser::FIELDS;
                (self.creadr, self.stalled) = (0, 0);
            }
            Reg::Cwriter => {
                self.cwriter = value & queue::OFFSET;
                if value & queue::RETRY != 0 {
                    self.stalled = 0;
                }
            }
            Reg::Baser if !self.is_enabled() => {
                let n = (at / 8) as usize;
                if let Some(baser) = self.basers.get_mut(n) {
                    *baser = value & baser::WRITABLE | baser::FIXED[n];
                }
            }
            _ => {}
        }
    }
}

impl State {
    /// Goes on with what waits, as far as the round that began at `now` may have it: pending tables, then commands, which so
    /// find all tables read.
    pub fn work(&mut self, now: u64) {
        let Some(messages) = &mut self.messages else { return };
        messages.work.begin(now);
        self.load_tables();
        while let Some(messages) = self.messages.as_mut().filter(|m| m.work.may_go_on() && m.its.has_command()) {
            messages.work.spend(1);
            let command = messages.its.command(&messages.memory);
            let result = command.map(|command| self.execute(command));
            let Some(messages) = &mut self.messages else { return };
            match result {
                Some(Ok(cost)) => messages.work.spend(cost),
                // A command error.
                Some(Err(_)) | None if messages.its.choices.raises_errors() => {
                    messages.its.stalled = queue::RETRY;
                    return;
                }
                Some(Err(_)) | None => {}
            }
            messages.its.advance();
        }
    }

    /// Does something wait for the next round?
    pub fn has_work(&self) -> bool {
        !self.to_load.is_empty() || self.messages.as_ref().is_some_and(|messages| messages.its.has_command())
    }
}

/// The ITS as a device: a window of [`spec::LEN`] bytes.
pub struct ItsFrames {
    gic: Gic,
}

impl ItsFrames {
    /// Size of the window in bytes.
    pub const LEN: u64 = spec::LEN;

    pub(crate) fn new(gic: Gic) -> Self {
        Self { gic }
    }
}

impl Device for ItsFrames {
    fn name(&self) -> &'static str {
        "gic-its"
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        Ok(self.gic.with(|state| {
            state.work(access.now);
            state.messages.as_ref().map_or(0, |messages| read(&messages.its, access.offset, access.size))
        }))
    }
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        self.gic.with(|state| {
            write(state, access.offset, access.size, value);
            state.work(access.now);
        });
        Ok(())
    }
    fn hash(&self, hasher: &mut dyn core::hash::Hasher) {
        self.gic.with(|state| {
            if let Some(messages) = &state.messages {
                messages.its.hash(hasher);
            }
        });
    }
    /// It is part of the distributor's.
    fn persist(&mut self, _: &mut Codec<'_>) -> Result<(), Invalid> {
        Ok(())
    }
}

fn read(its: &Its, offset: u64, size: Size) -> u64 {
    let Some(block) = readable(spec::FRAMES, offset, size) else { return 0 };
    if block.reg == Reg::Id {
        return id_register(offset, spec::PIDR0).into();
    }
    let at = offset - block.offset;
    its.read(block.reg, at) >> (8 * (at & 4))
}

fn write(state: &mut State, offset: u64, size: Size, value: u64) {
    let Some(messages) = &mut state.messages else { return };
    let Some(block) = writable(spec::FRAMES, offset, size) else { return };
    let its = &mut messages.its;
    let at = offset - block.offset;
    if block.reg == Reg::Translater {
        // A PE's writes are messages of device 0: the board has none that sends any.
        if its.is_enabled() {
            state.translate_message(0, value as u32);
        }
        return;
    }
    let old = its.read(block.reg, at);
    its.write(block.reg, at, merge(old, at, size, value));
}
