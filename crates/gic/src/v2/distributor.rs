//! The distributor's frame (IHI 0048, §4.3). What is private to a CPU is that of the CPU that accesses it.

use bus::{Device, DeviceFault, MmioAccess, Size};
use snapshot::{Codec, Invalid};

use super::GicV2;
use super::spec::{self, DISTRIBUTOR, DistReg, GICD_ENABLES, GICD_IIDR, sgir};
use super::state::State;
use crate::spec::{BitReg, IntReg, PRIVATE, SGIS, readable, writable};

/// The distributor as a device: a window of [`spec::WINDOW`] bytes.
pub struct Distributor(pub(super) GicV2);

impl Device for Distributor {
    fn name(&self) -> &'static str {
        "gic-v2-distributor"
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        Ok(self.0.with_pe(access.cpu, |state| read(state, access)).unwrap_or(0))
    }
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        self.0.with_pe(access.cpu, |state| write(state, access, value));
        Ok(())
    }
    fn hash(&self, hasher: &mut dyn core::hash::Hasher) {
        self.0.with(|state| state.hash_distributor(hasher));
    }
    /// The whole controller: its parts are one state.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        self.0.persist(codec)
    }
}

/// The first INTID that the register at byte `at` of a run is about.
const fn first_intid(reg: IntReg, at: u64) -> u32 {
    (match reg {
        IntReg::Bits(_) => at * 8,
        IntReg::Priority => at,
        IntReg::Config => at * 4,
    }) as u32
}

/// The bytes of `n` registers from `at` on that are of one byte an interrupt, as one value.
fn bytes(at: u64, size: Size, byte: impl Fn(u32) -> u8) -> u64 {
    (0..size.bytes()).rev().fold(0, |value, n| value << 8 | u64::from(byte((at + n) as u32)))
}

fn read(state: &mut State, access: MmioAccess) -> u64 {
    let MmioAccess { offset, size, cpu, .. } = access;
    let Some(block) = readable(DISTRIBUTOR, offset, size) else { return 0 };
    let at = offset - block.offset;
    match block.reg {
        DistReg::Ctlr => state.enables.into(),
        // ITLinesNumber and CPUNumber; no Security Extensions.
        DistReg::Typer => (state.banks.len() | (state.pes.len() - 1) << 5) as u64,
        DistReg::Iidr => GICD_IIDR.into(),
        DistReg::Int(reg) => state.bank(cpu, first_intid(reg, at)).map_or(0, |(bank, _)| bank.read(reg, at, size)),
        DistReg::Targets => bytes(at, size, |intid| target(state, cpu, intid)),
        DistReg::ClearSgi | DistReg::SetSgi => bytes(at, size, |n| state.pes[cpu].sources[n as usize]),
        DistReg::Id => spec::id_register(offset).into(),
        DistReg::Sgi => 0,
    }
}

/// `GICD_ITARGETSR` of an interrupt: of private ones the CPU itself. With one CPU the registers are RAZ/WI (§4.3.12).
fn target(state: &State, cpu: usize, intid: u32) -> u8 {
    match intid.checked_sub(PRIVATE) {
        _ if state.pes.len() == 1 => 0,
        None => 1 << cpu,
        Some(spi) => state.targets.get(spi as usize).copied().unwrap_or(0),
    }
}

fn write(state: &mut State, access: MmioAccess, value: u64) {
    let MmioAccess { offset, size, cpu, .. } = access;
    let Some(block) = writable(DISTRIBUTOR, offset, size) else { return };
    let at = offset - block.offset;
    match block.reg {
        DistReg::Ctlr => state.enables = value as u32 & GICD_ENABLES,
        DistReg::Int(reg) => write_interrupts(state, cpu, reg, at, size, value),
        DistReg::Targets if state.pes.len() == 1 => {}
        DistReg::Targets => {
            for n in 0..size.bytes() {
                let intid = (at + n) as u32;
                if intid >= PRIVATE && state.bank(cpu, intid).is_some() {
                    state.targets[(intid - PRIVATE) as usize] = (value >> (8 * n)) as u8 & state.all_pes();
                }
            }
        }
        DistReg::Sgi => send(state, cpu, value as u32),
        DistReg::ClearSgi | DistReg::SetSgi => {
            for n in 0..size.bytes() {
                let (sgi, bits) = ((at + n) as usize, (value >> (8 * n)) as u8 & state.all_pes());
                let old = state.pes[cpu].sources[sgi];
                let new = if block.reg == DistReg::SetSgi { old | bits } else { old & !bits };
                state.pes[cpu].set_sources(sgi, new);
            }
        }
        DistReg::Typer | DistReg::Iidr | DistReg::Id => {}
    }
}

fn write_interrupts(state: &mut State, cpu: usize, reg: IntReg, at: u64, size: Size, value: u64) {
    let intid = first_intid(reg, at);
    let Some((bank, _)) = state.bank(cpu, intid) else { return };
    // SGIs stay enabled, and have registers of their own that make them pending (§4.3.5, §4.3.7).
    let fixed = [BitReg::ClearEnable, BitReg::SetPending, BitReg::ClearPending].map(IntReg::Bits);
    let sgis = if intid < PRIVATE && fixed.contains(&reg) { (1 << SGIS) - 1 } else { 0 };
    bank.write(reg, at, size, value & !sgis);
}

/// A write to `GICD_SGIR` (§4.3.15).
fn send(state: &mut State, from: usize, value: u32) {
    let list = match value >> sgir::FILTER_SHIFT & 3 {
        0 => value >> sgir::LIST_SHIFT & 0xff,
        1 => !(1 << from),
        2 => 1 << from,
        // Reserved.
        _ => 0,
    };
    let n = (value & (SGIS - 1)) as usize;
    for pe in state.pes.iter_mut().enumerate().filter(|(to, _)| list >> to & 1 != 0).map(|(_, pe)| pe) {
        pe.set_sources(n, pe.sources[n] | 1 << from);
    }
}
