//! The redistributors' frames (IHI 0069, §12.10 and §12.11).

use core::ops::Range;

use bus::{Device, DeviceFault, MmioAccess, Size};
use snapshot::{Codec, Invalid};

use crate::Gic;
use crate::spec::{
    Access, IIDR, REDIST_PIDR0, REDIST_STRIDE, REDISTRIBUTOR, RedistReg, find, gicr_ctlr, gicr_pendbaser,
    gicr_propbaser, gicr_typer, id_register, merge, statusr, waker,
};
use crate::state::{Sleep, State};

/// A contiguous region of redistributors as a device: [`REDIST_STRIDE`] bytes a PE.
pub struct Redistributors {
    gic: Gic,
    pes: Range<usize>,
    name: String,
}

impl Redistributors {
    pub(crate) fn new(gic: Gic, pes: Range<usize>) -> Self {
        let name = format!("gic-redistributors[{}..{}]", pes.start, pes.end);
        Self { gic, pes, name }
    }

    /// Size of the window in bytes.
    pub fn window(&self) -> u64 {
        self.pes.len() as u64 * REDIST_STRIDE
    }

    /// The PE whose frames hold `offset`, and the offset in them.
    fn decode(&self, offset: u64) -> Option<(usize, u64)> {
        let pe = self.pes.start + (offset / REDIST_STRIDE) as usize;
        self.pes.contains(&pe).then_some((pe, offset % REDIST_STRIDE))
    }
}

impl Device for Redistributors {
    fn name(&self) -> &str {
        &self.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        let (pe, offset) = self.decode(access.offset).ok_or(DeviceFault)?;
        let last = if pe + 1 == self.pes.end { gicr_typer::LAST } else { 0 };
        Ok(self.gic.with(|state| read(state, pe, offset, access.size, last)))
    }
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        let (pe, offset) = self.decode(access.offset).ok_or(DeviceFault)?;
        self.gic.with(|state| {
            write(state, pe, offset, access.size, value);
            state.work(access.now);
        });
        Ok(())
    }
    fn hash(&self, hasher: &mut dyn core::hash::Hasher) {
        self.gic.with(|state| state.hash_pes(self.pes.clone(), hasher));
    }
    /// It is part of the distributor's.
    fn persist(&mut self, _: &mut Codec<'_>) -> Result<(), Invalid> {
        Ok(())
    }
}

fn read(state: &mut State, index: usize, offset: u64, size: Size, last: u64) -> u64 {
    let has_lpis = state.messages.is_some();
    let pe = &mut state.pes[index];
    let Some(block) = find(REDISTRIBUTOR, offset) else {
        pe.status |= statusr::RRD;
        return 0;
    };
    if !block.width.admits(size) {
        return 0;
    }
    let at = offset - block.offset;
    match block.reg {
        RedistReg::Ctlr => {
            let ces = if has_lpis { gicr_ctlr::CES } else { 0 };
            let rwp = if pe.lpis.is_loading { gicr_ctlr::RWP } else { 0 };
            (pe.ctlr | ces | rwp).into()
        }
        RedistReg::Iidr => IIDR.into(),
        RedistReg::Typer => {
            let typer = u64::from(pe.affinity) << gicr_typer::AFFINITY_SHIFT
                | (index as u64) << gicr_typer::NUMBER_SHIFT
                | gicr_typer::DPGS
                | if has_lpis { gicr_typer::PLPIS } else { 0 }
                | last;
            typer >> (8 * at)
        }
        RedistReg::Status => pe.status.into(),
        // The handshake with the PE is immediate, so both bits always agree.
        RedistReg::Waker => match pe.sleep {
            Sleep::Asleep => u64::from(waker::PROCESSOR_SLEEP | waker::CHILDREN_ASLEEP),
            Sleep::Awake => 0,
        },
        RedistReg::Propbaser => pe.lpis.propbaser >> (8 * at),
        RedistReg::Pendbaser => pe.lpis.pendbaser >> (8 * at),
        RedistReg::Id => id_register(offset, REDIST_PIDR0).into(),
        RedistReg::Int(reg) => pe.bank.read(reg, at, size),
        RedistReg::Raz => 0,
    }
}

fn write(state: &mut State, index: usize, offset: u64, size: Size, value: u64) {
    let has_lpis = state.messages.is_some();
    let pe = &mut state.pes[index];
    let Some(block) = find(REDISTRIBUTOR, offset) else {
        pe.status |= statusr::WRD;
        return;
    };
    if !block.width.admits(size) {
        return;
    }
    if block.access == Access::Ro {
        pe.status |= statusr::WROD;
        return;
    }
    let at = offset - block.offset;
    match block.reg {
        RedistReg::Ctlr => {
            pe.ctlr = pe.ctlr & !gicr_ctlr::WRITABLE | value as u32 & gicr_ctlr::WRITABLE;
            if has_lpis {
                state.enable_lpis(index, value as u32);
            }
            state.choose_takers();
        }
        // Writes while LPIs are enabled are UNPREDICTABLE; they are ignored. Without LPIs the registers are RES0.
        RedistReg::Propbaser | RedistReg::Pendbaser if !has_lpis || pe.ctlr & gicr_ctlr::ENABLE_LPIS != 0 => {}
        RedistReg::Propbaser => {
            pe.lpis.propbaser = merge(pe.lpis.propbaser, at, size, value) & gicr_propbaser::WRITABLE;
        }
        RedistReg::Pendbaser => {
            pe.lpis.pendbaser = merge(pe.lpis.pendbaser, at, size, value) & gicr_pendbaser::WRITABLE;
        }
        RedistReg::Status => pe.status &= !(value as u32),
        RedistReg::Waker => {
            let sleep = if value as u32 & waker::PROCESSOR_SLEEP == 0 { Sleep::Awake } else { Sleep::Asleep };
            state.set_sleep(index, sleep);
        }
        RedistReg::Int(reg) => {
            if pe.bank.write(reg, at, size, value) != 0 {
                state.touch(index);
            }
        }
        RedistReg::Iidr | RedistReg::Typer | RedistReg::Id | RedistReg::Raz => {}
    }
}

impl State {
    /// PE `index` goes to sleep or wakes.
    pub fn set_sleep(&mut self, index: usize, sleep: Sleep) {
        self.pes[index].sleep = sleep;
        self.touch(index);
        self.choose_takers();
    }
}
