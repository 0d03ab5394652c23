//! The distributor's frame (IHI 0069, §12.8 and §12.9).

use bus::{Device, DeviceFault, Level, MmioAccess, Size};
use snapshot::{Codec, Invalid};

use crate::Gic;
use crate::spec::{
    Access, DIST_PIDR0, DISTRIBUTOR, DistReg, IIDR, IntReg, PRIVATE, SPECIAL, find, gicd_ctlr, gicd_typer, id_register,
    merge, statusr,
};
use crate::state::State;

/// The distributor as a device: a window of 64 KiB.
pub struct Distributor {
    gic: Gic,
}

impl Distributor {
    /// Size of the window in bytes.
    pub const LEN: u64 = 0x1_0000;

    pub(crate) fn new(gic: Gic) -> Self {
        Self { gic }
    }
}

impl Device for Distributor {
    fn name(&self) -> &'static str {
        "gic-distributor"
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        Ok(self.gic.with(|state| read(state, access.offset, access.size)))
    }
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        self.gic.with(|state| write(state, access.offset, access.size, value));
        Ok(())
    }
    fn hash(&self, hasher: &mut dyn core::hash::Hasher) {
        self.gic.with(|state| state.hash_distributor(hasher));
    }
    /// The whole controller: its parts are one state.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        self.gic.with(|state| state.persist(codec))
    }
}

/// The bank of SPIs that the register at byte `at` of a run with `bytes` bytes a bank belongs to. INTIDs 0 to 31 are
/// RES0 here with affinity routing: they belong to the redistributors.
fn bank_at(state: &State, reg: IntReg, at: u64) -> Option<usize> {
    let bytes = match reg {
        IntReg::Bits(_) => 4,
        IntReg::Priority => 32,
        IntReg::Config => 8,
    };
    let bank = (at / bytes).checked_sub(1)? as usize;
    (bank < state.banks.len()).then_some(bank)
}

/// The SPI (INTID - 32) of the `IROUTER` at byte `at` of the run.
fn spi_at(state: &State, at: u64) -> Option<usize> {
    let spi = (at / 8).checked_sub(u64::from(PRIVATE))? as usize;
    (spi < state.routes.len()).then_some(spi)
}

fn read(state: &mut State, offset: u64, size: Size) -> u64 {
    let Some(block) = find(DISTRIBUTOR, offset) else {
        state.status |= statusr::RRD;
        return 0;
    };
    if !block.width.admits(size) {
        return 0;
    }
    if block.access == Access::Wo {
        state.status |= statusr::RWOD;
        return 0;
    }
    let at = offset - block.offset;
    match block.reg {
        DistReg::Ctlr => (state.enables | gicd_ctlr::ARE | gicd_ctlr::DS).into(),
        // CPUNumber is 0: it counts PEs of the legacy routing.
        DistReg::Typer => {
            let lines = state.banks.len() as u32;
            let lpis = match state.messages {
                Some(_) => gicd_typer::LPIS | gicd_typer::IDBITS_LPIS,
                None => gicd_typer::IDBITS,
            };
            (lines | gicd_typer::MBIS | lpis | gicd_typer::A3V | gicd_typer::RSS).into()
        }
        DistReg::Iidr => IIDR.into(),
        DistReg::Status => state.status.into(),
        DistReg::Int(reg) => bank_at(state, reg, at).map_or(0, |bank| state.banks[bank].read(reg, at, size)),
        DistReg::Router => spi_at(state, at).map_or(0, |spi| state.routes[spi] >> (8 * (at & 4))),
        DistReg::Id => id_register(offset, DIST_PIDR0).into(),
        DistReg::Typer2 | DistReg::SetSpi | DistReg::ClearSpi | DistReg::Raz => 0,
    }
}

fn write(state: &mut State, offset: u64, size: Size, value: u64) {
    let Some(block) = find(DISTRIBUTOR, offset) else {
        state.status |= statusr::WRD;
        return;
    };
    if !block.width.admits(size) {
        return;
    }
    if block.access == Access::Ro {
        state.status |= statusr::WROD;
        return;
    }
    let at = offset - block.offset;
    match block.reg {
        DistReg::Ctlr => {
            state.enables = value as u32 & gicd_ctlr::ENABLES;
            state.touch_all();
        }
        DistReg::Status => state.status &= !(value as u32),
        DistReg::SetSpi => message(state, value as u32, Level::High),
        DistReg::ClearSpi => message(state, value as u32, Level::Low),
        DistReg::Int(reg) => {
            if let Some(bank) = bank_at(state, reg, at) {
                let changed = state.banks[bank].write(reg, at, size, value);
                state.replace(bank, changed);
            }
        }
        DistReg::Router => {
            if let Some(spi) = spi_at(state, at) {
                state.set_route(spi, merge(state.routes[spi], at, size, value));
            }
        }
        DistReg::Typer | DistReg::Iidr | DistReg::Typer2 | DistReg::Raz | DistReg::Id => {}
    }
}

/// A write to `GICD_SETSPI_NSR` (`High`) or `GICD_CLRSPI_NSR` (`Low`): an edge-triggered SPI becomes or ceases to be
/// pending, a level-sensitive one is asserted or deasserted (§12.9).
fn message(state: &mut State, value: u32, level: Level) {
    let intid = value & 0x1fff;
    let Some(bank) = (intid / 32).checked_sub(1).map(|b| b as usize).filter(|b| *b < state.banks.len()) else {
        return;
    };
    if intid >= SPECIAL {
        return;
    }
    let bit = 1 << (intid % 32);
    let spis = &mut state.banks[bank];
    let word = if spis.edge & bit == 0 { &mut spis.message } else { &mut spis.latch };
    match level {
        Level::High => *word |= bit,
        Level::Low => *word &= !bit,
    }
    state.replace(bank, bit);
}
