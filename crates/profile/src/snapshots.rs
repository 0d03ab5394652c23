//! Counters in snapshots, so that the report of a run that goes on is that of the whole run.

use std::sync::PoisonError;

use arch::El;
use arch::esr::Fsc;
use arch::sysreg::Enc;
use event::World;
use snapshot::{Codec, Invalid, Persist, persist_fields, persist_names};

use crate::counters::{Counters, Counts, Exceptions, Sum, Syndrome};
use crate::worlds::{ExitKind, ExitSum, Place, Stage2Access, Stage2Fault, Way, WorldCounts, Worlds};

persist_fields!(Syndrome { ec, iss });
persist_fields!(Sum { times, amount });
persist_fields!(ExitSum { times, el2, most_el2, host_el0, through_el0 });
persist_names!(Stage2Access { Read = 0, Write = 1, Fetch = 2, Walk = 3, Maintenance = 4 });
persist_names!(Way { Write = 0, Read = 1 });

/// A key that has no value of its own to begin with: loaded by a function.
trait Key: Ord + Copy {
    fn save(self, codec: &mut Codec<'_>) -> Result<(), Invalid>;
    fn load(codec: &mut Codec<'_>) -> Result<Self, Invalid>;
}

/// Keys that overwrite a value that they are not.
macro_rules! keys {
    ($($ty:ty = $blank:expr),* $(,)?) => {$(
        impl Key for $ty {
            fn save(mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
                codec.value(&mut self)
            }
            fn load(codec: &mut Codec<'_>) -> Result<Self, Invalid> {
                let mut key = $blank;
                codec.value(&mut key)?;
                Ok(key)
            }
        }
    )*};
}

const NO_WORLD: World = World { vmid: 0, stage2: false };

keys! {
    Syndrome = Syndrome { ec: 0, iss: 0 },
    El = El::El0,
    Enc = Enc(0),
    World = NO_WORLD,
    u8 = 0u8,
    Place = Place::Own,
    Stage2Access = Stage2Access::Read,
    Way = Way::Read,
}

impl<A: Key, B: Key> Key for (A, B) {
    fn save(self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        self.0.save(codec)?;
        self.1.save(codec)
    }
    fn load(codec: &mut Codec<'_>) -> Result<Self, Invalid> {
        Ok((A::load(codec)?, B::load(codec)?))
    }
}

impl Persist for Place {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut below = match *self {
            Self::Own => None,
            Self::Below(world) => Some((world.vmid, world.stage2)),
        };
        codec.value(&mut below)?;
        *self = below.map_or(Self::Own, |(vmid, stage2)| Self::Below(World { vmid, stage2 }));
        Ok(())
    }
}

impl Key for Stage2Fault {
    fn save(self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        self.status.code().save(codec)?;
        self.access.save(codec)
    }
    fn load(codec: &mut Codec<'_>) -> Result<Self, Invalid> {
        let status = Fsc::from_code(u8::load(codec)?).ok_or_else(|| Invalid::new("no fault status"))?;
        Ok(Self { status, access: Stage2Access::load(codec)? })
    }
}

impl Key for ExitKind {
    fn save(self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        match self {
            Self::Irq => 0u8.save(codec),
            Self::Fiq => 1u8.save(codec),
            Self::SError => 2u8.save(codec),
            Self::Wait(kind) => (3u8, kind).save(codec),
            Self::Register(enc, way) => (4u8, (enc, way)).save(codec),
            Self::Stage2(fault) => (5u8, fault).save(codec),
            Self::Class(class) => (6u8, class).save(codec),
        }
    }
    fn load(codec: &mut Codec<'_>) -> Result<Self, Invalid> {
        Ok(match u8::load(codec)? {
            0 => Self::Irq,
            1 => Self::Fiq,
            2 => Self::SError,
            3 => Self::Wait(u8::load(codec)?),
            4 => Self::Register(Enc::load(codec)?, Way::load(codec)?),
            5 => Self::Stage2(Stage2Fault::load(codec)?),
            6 => Self::Class(u8::load(codec)?),
            _ => return Err(Invalid::new("no kind of exit")),
        })
    }
}

/// Counts by key.
fn map<K: Key, V: Persist + Default>(
    map: &mut std::collections::BTreeMap<K, V>,
    codec: &mut Codec<'_>,
) -> Result<(), Invalid> {
    let count = codec.count(map.len())?;
    if codec.is_loading() {
        map.clear();
        for _ in 0..count {
            let key = K::load(codec)?;
            codec.value(map.entry(key).or_default())?;
        }
        return Ok(());
    }
    map.iter_mut().try_for_each(|(key, value)| {
        key.save(codec)?;
        codec.value(value)
    })
}

impl Persist for Exceptions {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { syndromes, levels, traps, irqs, fiqs, serrors } = self;
        map(syndromes, codec)?;
        map(levels, codec)?;
        map(traps, codec)?;
        codec.each([irqs, fiqs, serrors])
    }
}

impl Persist for WorldCounts {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { entries, insns, exceptions, exits, next, stage2_faults, list_registers } = self;
        codec.each([entries, insns, exceptions])?;
        map(exits, codec)?;
        map(next, codec)?;
        map(stage2_faults, codec)?;
        map(list_registers, codec)
    }
}

impl Persist for Worlds {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let (by_place, here, open, since) = self.state();
        map(by_place, codec)?;
        codec.each([here, since])?;
        let mut is_open = open.is_some();
        codec.value(&mut is_open)?;
        match open {
            Some(exit) if !codec.is_loading() => exit.save(codec),
            _ if is_open => {
                *open = Some(Key::load(codec)?);
                Ok(())
            }
            _ => {
                *open = None;
                Ok(())
            }
        }
    }
}

impl Persist for Counts {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { exceptions, worlds, returns, walks, tlb_fills, invalidations, barriers, exclusives_failed, sleeps } =
            self;
        codec.each([exceptions, worlds])?;
        map(returns, codec)?;
        map(invalidations, codec)?;
        codec.each([walks, tlb_fills, barriers, exclusives_failed, sleeps])
    }
}

impl Counters {
    /// Saves the counts so far, or goes on from those that were saved.
    pub fn persist(&self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        codec.value(&mut *self.shared().lock().unwrap_or_else(PoisonError::into_inner))
    }
}
