//! The state of the whole controller and the one rule that keeps it consistent: every change marks the PEs whose
//! highest priority pending interrupt it can affect, and [`State::settle`] recomputes those and drives their wires.
//!
//! Interrupts live in [`Bank`]s of 32, one private bank a PE and the distributor's banks for SPIs. An SPI that is
//! ready (pending, enabled, not active) is *placed* on at most one PE, as a bit in that PE's `spis`; so a PE looks only
//! at its own 32 private bits and at the few SPIs that are ready for it now.

mod snapshots;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arch::gic::VirtualInterface as Model;
use arch::policy::Policy;
use bus::{CpuLines, GuestMemory, Level, Size};

use crate::its::Messages;
use crate::lpi::Lpis;
use crate::priority::{ActivePriorities, Group, IDLE, MIN_BPR0, MIN_BPR1, group_priority};
use crate::spec::{
    BitReg, IntReg, MAX_SPIS, PRIORITY_BITS, PRIORITY_MASK, PRIVATE, SPECIAL, gicr_ctlr, icc_ctlr, irouter,
};
use crate::virtual_interface::{Form, VirtualInterface};

/// Banks of SPIs at most.
pub const MAX_SPI_BANKS: usize = MAX_SPIS.div_ceil(32) as usize;

/// 32 interrupts with consecutive INTIDs; bit `n` of each word is the bank's interrupt `n`.
#[derive(Clone, Debug)]
pub struct Bank {
    /// Interrupts that exist.
    pub implemented: u32,
    /// Interrupts whose trigger cannot be changed: SGIs are always edge-triggered.
    pub fixed_edge: u32,
    /// 1: Group 1.
    pub group: u32,
    /// Enabled.
    pub enabled: u32,
    /// Pending by an edge, by `ISPENDR` or by an SGI; acknowledging clears it.
    pub latch: u32,
    /// Level of the wire.
    pub line: u32,
    /// Level as set by `SETSPI` and cleared by `CLRSPI`, for message-based level-sensitive SPIs.
    pub message: u32,
    /// Active.
    pub active: u32,
    /// 1: edge-triggered, 0: level-sensitive.
    pub edge: u32,
    /// Priorities.
    pub priority: [u8; 32],
}

impl Bank {
    /// The reset state: all disabled, inactive, Group 0, priority 0.
    pub const fn new(implemented: u32, fixed_edge: u32) -> Self {
        Self {
            implemented,
            fixed_edge,
            group: 0,
            enabled: 0,
            latch: 0,
            line: 0,
            message: 0,
            active: 0,
            edge: fixed_edge,
            priority: [0; 32],
        }
    }

    /// Pending interrupts. A level-sensitive one is pending as long as its signal is asserted, or until acknowledged
    /// where software set it pending (§4.1).
    pub const fn pending(&self) -> u32 {
        self.latch | (!self.edge & (self.line | self.message))
    }
    /// Interrupts that could be signalled: pending, enabled and not active.
    pub const fn ready(&self) -> u32 {
        self.pending() & self.enabled & !self.active
    }
    /// The group of interrupt `n` of the bank.
    pub const fn group_of(&self, n: u32) -> Group {
        if self.group >> n & 1 == 0 { Group::Zero } else { Group::One }
    }
    /// Of `candidates`, those whose group is in `groups`.
    const fn in_groups(&self, candidates: u32, groups: Groups) -> u32 {
        candidates & ((self.group & groups.one) | (!self.group & groups.zero))
    }

    /// Pending becomes active; an interrupt whose signal is still asserted becomes active and pending.
    pub fn activate(&mut self, n: u32) {
        self.latch &= !(1 << n);
        self.active |= 1 << n;
    }

    /// The wires in `mask` take `level`. Edge-triggered interrupts latch on the rising edge.
    pub fn drive(&mut self, mask: u32, level: Level) {
        match level {
            Level::High => {
                self.latch |= mask & !self.line & self.edge;
                self.line |= mask;
            }
            Level::Low => self.line &= !mask,
        }
    }

    /// What [`Bank::best`] finds of the candidates in `groups`, where the bank begins with INTID `first`.
    pub fn highest(&self, candidates: u32, groups: Groups, first: u32) -> Option<Pending> {
        let (priority, n) = self.best(self.in_groups(candidates, groups))?;
        Some(Pending { intid: first + n, priority, group: self.group_of(n) })
    }

    /// The candidate of highest priority as (priority, bit); of equal ones that with the lowest INTID, which is this
    /// implementation's choice where the architecture leaves it open (§4.8).
    fn best(&self, mut candidates: u32) -> Option<(u8, u32)> {
        let mut best = None;
        while candidates != 0 {
            let n = candidates.trailing_zeros();
            candidates &= candidates - 1;
            let priority = self.priority[n as usize];
            if best.is_none_or(|(p, _)| priority < p) {
                best = Some((priority, n));
            }
        }
        best
    }

    /// Reads `offset` bytes into the bank's part of a register run.
    pub fn read(&self, reg: IntReg, offset: u64, size: Size) -> u64 {
        match reg {
            IntReg::Bits(BitReg::Group) => self.group.into(),
            IntReg::Bits(BitReg::SetEnable | BitReg::ClearEnable) => self.enabled.into(),
            IntReg::Bits(BitReg::SetPending | BitReg::ClearPending) => self.pending().into(),
            IntReg::Bits(BitReg::SetActive | BitReg::ClearActive) => self.active.into(),
            IntReg::Priority => {
                let at = offset as usize & 31;
                let bytes = &self.priority[at..(at + size.bytes() as usize).min(32)];
                bytes.iter().rev().fold(0, |value, b| value << 8 | u64::from(*b))
            }
            IntReg::Config => {
                let half = self.edge >> (offset / 4 % 2 * 16);
                (0..16).fold(0, |value, n| value | u64::from(half >> n & 1) << (2 * n + 1))
            }
        }
    }

    /// Writes `offset` bytes into the bank's part of a register run. Gives the interrupts that this may have changed.
    pub fn write(&mut self, reg: IntReg, offset: u64, size: Size, value: u64) -> u32 {
        let bits = value as u32 & self.implemented;
        match reg {
            IntReg::Bits(BitReg::Group) => return std::mem::replace(&mut self.group, bits) ^ bits,
            IntReg::Bits(BitReg::SetEnable) => self.enabled |= bits,
            IntReg::Bits(BitReg::ClearEnable) => self.enabled &= !bits,
            IntReg::Bits(BitReg::SetPending) => self.latch |= bits,
            IntReg::Bits(BitReg::ClearPending) => self.latch &= !bits,
            IntReg::Bits(BitReg::SetActive) => self.active |= bits,
            IntReg::Bits(BitReg::ClearActive) => self.active &= !bits,
            IntReg::Priority => {
                let at = offset as usize & 31;
                let mut changed = 0;
                for n in (at..(at + size.bytes() as usize).min(32)).filter(|n| self.implemented >> n & 1 != 0) {
                    let new = (value >> (8 * (n - at))) as u8 & PRIORITY_MASK;
                    changed |= u32::from(self.priority[n] != new) << n;
                    self.priority[n] = new;
                }
                return changed;
            }
            IntReg::Config => {
                let shift = offset / 4 % 2 * 16;
                let edge = (0..16).fold(0, |edge, n| edge | (value as u32 >> (2 * n + 1) & 1) << n) << shift;
                let writable = 0xffff << shift & self.implemented & !self.fixed_edge;
                let new = self.edge & !writable | edge & writable;
                return std::mem::replace(&mut self.edge, new) ^ new;
            }
        }
        bits
    }

    /// Folds the state.
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        for word in [self.group, self.enabled, self.latch, self.line, self.message, self.active, self.edge] {
            state.write_u32(word);
        }
        state.write(&self.priority);
    }
}

/// Masks of the groups that are enabled: all ones or none for each.
#[derive(Clone, Copy)]
pub struct Groups {
    zero: u32,
    one: u32,
}

impl Groups {
    /// By a register's two bits.
    pub const fn enabled(bits: u32) -> Self {
        Self { zero: 0u32.wrapping_sub(bits & 1), one: 0u32.wrapping_sub(bits >> 1 & 1) }
    }
}

/// The SPIs that exist of bank `bank`: the last one ends before the special INTIDs.
pub const fn implemented(bank: u32) -> u32 {
    let end = bank * 32 + 64;
    if end > SPECIAL { u32::MAX >> (end - SPECIAL) } else { u32::MAX }
}

/// A PE's CPU interface: the state behind the `ICC_*` registers.
#[derive(Clone, Debug)]
pub struct Interface {
    /// `ICC_PMR_EL1`.
    pub pmr: u8,
    /// `ICC_BPR0_EL1` and `ICC_BPR1_EL1`.
    pub bpr: [u8; 2],
    /// `ICC_AP0R0_EL1` and `ICC_AP1R0_EL1`.
    pub active: ActivePriorities,
    /// The writable bits of `ICC_CTLR_EL1`.
    pub ctlr: u64,
    /// `ICC_IGRPEN0_EL1` (bit 0) and `ICC_IGRPEN1_EL1` (bit 1).
    pub enables: u32,
}

impl Interface {
    /// The reset state. Binary points reset to their least values, everything else to zero (§12.2).
    pub const fn new() -> Self {
        Self { pmr: 0, bpr: [MIN_BPR0, MIN_BPR1], active: ActivePriorities::new(PRIORITY_BITS), ctlr: 0, enables: 0 }
    }
    /// The group priority of an interrupt of `group` (§4.8, priority grouping). `ICC_BPR1_EL1` is the Non-secure one,
    /// whose values are one above Group 0's scale; with `CBPR` Group 0's holds for both.
    pub const fn group_priority(&self, group: Group, priority: u8) -> u8 {
        match group {
            Group::One if self.ctlr & icc_ctlr::CBPR == 0 => group_priority(priority, self.bpr[1] - 1),
            _ => group_priority(priority, self.bpr[0]),
        }
    }
    /// May it signal `pending`: does that pass the priority mask and preempt what runs? (§4.8)
    pub fn can_signal(&self, pending: Pending) -> bool {
        let running = self.active.running();
        // By the pending one's binary point: without bits of group priority there is no preemption.
        let group_priority = |priority| self.group_priority(pending.group, priority);
        pending.priority < self.pmr && (running == IDLE || group_priority(pending.priority) < group_priority(running))
    }
    /// Folds the state.
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write(&[self.pmr, self.bpr[0], self.bpr[1]]);
        self.active.hash(state);
        state.write_u64(self.ctlr);
        state.write_u32(self.enables);
    }
}

/// A pending interrupt that a PE could take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its INTID.
    pub intid: u32,
    /// Its priority.
    pub priority: u8,
    /// Its group.
    pub group: Group,
}

/// Whether a PE's redistributor forwards interrupts (`GICR_WAKER`, §11.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// `ProcessorSleep` is 1: nothing is forwarded.
    Asleep,
    /// `ProcessorSleep` is 0.
    Awake,
}

/// One PE: its redistributor and its CPU interface.
pub struct Pe {
    /// Affinity, Aff3.Aff2.Aff1.Aff0 a byte each.
    pub affinity: u32,
    /// SGIs and PPIs.
    pub bank: Bank,
    /// `GICR_WAKER`.
    pub sleep: Sleep,
    /// The writable bits of `GICR_CTLR`.
    pub ctlr: u32,
    /// `GICR_STATUSR`.
    pub status: u32,
    /// LPIs, where there are any.
    pub lpis: Lpis,
    /// The CPU interface.
    pub interface: Interface,
    /// The virtual CPU interface.
    pub virtual_interface: VirtualInterface,
    /// The interrupt that the CPU interface sees: the highest priority one of the enabled groups.
    pub hppi: Option<Pending>,
    /// SPIs that are ready and placed here.
    spis: [u32; MAX_SPI_BANKS],
    /// Which words of `spis` are not 0.
    spi_words: u32,
    wires: Arc<CpuLines>,
    driven: u32,
    touched: bool,
}

impl Pe {
    fn place(&mut self, bank: usize, bit: u32) {
        self.spis[bank] |= bit;
        self.spi_words |= 1 << bank;
    }

    fn remove(&mut self, bank: usize, bit: u32) {
        self.spis[bank] &= !bit;
        if self.spis[bank] == 0 {
            self.spi_words &= !(1 << bank);
        }
    }

    /// Drives wires that follow no physical interrupt.
    pub fn drive(&self, lines: u32, level: Level) {
        if lines != 0 {
            self.wires.drive(lines, level);
        }
    }

    fn drive_physical(&mut self, lines: u32) {
        drive_changes(&self.wires, &mut self.driven, lines);
    }
}

/// Drives what differs from the lines `driven` before.
pub fn drive_changes(wires: &CpuLines, driven: &mut u32, lines: u32) {
    let changed = lines ^ std::mem::replace(driven, lines);
    for (mask, level) in [(changed & lines, Level::High), (changed & !lines, Level::Low)] {
        if mask != 0 {
            wires.drive(mask, level);
        }
    }
}

/// An SPI is placed on no PE.
const NOWHERE: u16 = u16::MAX;

/// Everything.
pub struct State {
    /// `GICD_CTLR.EnableGrp0` and `EnableGrp1`.
    pub enables: u32,
    /// `GICD_STATUSR`.
    pub status: u32,
    /// SPIs: bank 0 holds INTIDs 32 to 63.
    pub banks: Vec<Bank>,
    /// `GICD_IROUTER`, by INTID - 32.
    pub routes: Vec<u64>,
    /// PEs by index.
    pub pes: Vec<Pe>,
    /// What LPIs need, where there are any.
    pub messages: Option<Messages>,
    /// PEs that have yet to read their pending tables, as [`Lpis::is_loading`] says.
    pub to_load: BTreeSet<u16>,
    /// PEs by the upper 28 bits of the affinity; one entry for each of the 16 Aff0 values of such a range.
    ranges: BTreeMap<u32, [u16; 16]>,
    /// Where each SPI is placed, by INTID - 32.
    placed: Vec<u16>,
    /// SPIs with `IRM` set, by bank.
    one_of_n: Vec<u32>,
    /// The PE that takes 1-of-N SPIs, by group.
    takers: [u16; 2],
    /// PEs to settle.
    touched: Vec<u16>,
}

impl State {
    /// The reset state. `affinities` are distinct and as many as `pes`, which have each PE's wires and virtual interface;
    /// `spis` is at most [`MAX_SPIS`]. With `memory` there are LPIs.
    pub fn new(
        affinities: &[u32],
        spis: u32,
        pes: Vec<(Arc<CpuLines>, Model)>,
        sleep: Sleep,
        policy: Policy,
        memory: Option<GuestMemory>,
    ) -> Self {
        let mut ranges = BTreeMap::new();
        for (index, affinity) in affinities.iter().enumerate() {
            ranges.entry(affinity >> 4).or_insert([NOWHERE; 16])[*affinity as usize & 15] = index as u16;
        }
        let pe = |(index, (affinity, (wires, model))): (usize, (&u32, (Arc<CpuLines>, Model)))| Pe {
            affinity: *affinity,
            bank: Bank::new(u32::MAX, 0xffff),
            sleep,
            ctlr: 0,
            status: 0,
            lpis: Lpis::default(),
            interface: Interface::new(),
            virtual_interface: VirtualInterface::new(model, Form::System, policy, index),
            hppi: None,
            spis: [0; MAX_SPI_BANKS],
            spi_words: 0,
            wires,
            driven: 0,
            touched: false,
        };
        let banks = spis.div_ceil(32);
        Self {
            enables: 0,
            status: 0,
            banks: (0..banks).map(|b| Bank::new(implemented(b), 0)).collect(),
            routes: vec![0; banks as usize * 32],
            pes: affinities.iter().zip(pes).enumerate().map(pe).collect(),
            messages: memory.map(|memory| Messages::new(memory, policy)),
            to_load: BTreeSet::new(),
            ranges,
            placed: vec![NOWHERE; banks as usize * 32],
            one_of_n: vec![0; banks as usize],
            takers: [NOWHERE; 2],
            touched: Vec::with_capacity(affinities.len()),
        }
    }

    /// The PEs that `list` names in the range `range` (affinity without the lower four bits of Aff0).
    pub fn targets(&self, range: u32, list: u16) -> impl Iterator<Item = usize> + use<> {
        let pes = self.ranges.get(&range).copied().unwrap_or([NOWHERE; 16]);
        (0..16).filter(move |n| list >> n & 1 != 0 && pes[*n] != NOWHERE).map(move |n| pes[n] as usize)
    }

    /// Marks PE `pe` for [`State::settle`].
    pub fn touch(&mut self, pe: usize) {
        if !std::mem::replace(&mut self.pes[pe].touched, true) {
            self.touched.push(pe as u16);
        }
    }

    /// Marks every PE.
    pub fn touch_all(&mut self) {
        for pe in 0..self.pes.len() {
            self.touch(pe);
        }
    }

    /// Recomputes the marked PEs and drives their wires. Ends every operation.
    pub fn settle(&mut self) {
        while let Some(index) = self.touched.pop() {
            let hppi = self.highest(index as usize);
            let pe = &mut self.pes[index as usize];
            pe.touched = false;
            pe.hppi = hppi;
            let lines = match hppi.filter(|p| pe.interface.can_signal(*p)).map(|p| p.group) {
                Some(Group::Zero) => CpuLines::FIQ,
                Some(Group::One) => CpuLines::IRQ,
                None => 0,
            };
            pe.drive_physical(lines);
        }
    }

    /// The highest priority pending interrupt that the redistributor forwards to PE `index`'s interface.
    /// Groups disabled at the distributor or at the interface do not take part (§4.6).
    fn highest(&self, index: usize) -> Option<Pending> {
        let pe = &self.pes[index];
        if pe.sleep == Sleep::Asleep {
            return None;
        }
        self.highest_in(pe, self.enables & pe.interface.enables)
    }

    fn highest_in(&self, pe: &Pe, enables: u32) -> Option<Pending> {
        let groups = Groups::enabled(enables);
        let private = &pe.bank;
        let mut best = private.highest(private.ready(), groups, 0);
        let mut words = pe.spi_words;
        while words != 0 {
            let at = words.trailing_zeros();
            words &= words - 1;
            let bank = &self.banks[at as usize];
            let found = bank.highest(pe.spis[at as usize], groups, PRIVATE + at * 32);
            if let Some(found) = found.filter(|found| best.is_none_or(|b| found.priority < b.priority)) {
                best = Some(found);
            }
        }
        // LPIs are of group 1 (§4.6).
        if groups.one != 0
            && let Some((priority, intid)) = pe.lpis.best()
            && best.is_none_or(|b| priority < b.priority)
        {
            best = Some(Pending { intid, priority, group: Group::One });
        }
        best
    }

    /// Would PE `index`'s redistributor ask the power controller to wake its PE: is an interrupt of a group that the
    /// distributor forwards waiting while `ProcessorSleep` is set? (§11.1, WakeRequest)
    pub fn wake_request(&self, index: usize) -> bool {
        let pe = &self.pes[index];
        pe.sleep == Sleep::Asleep && self.highest_in(pe, self.enables).is_some()
    }

    /// Places the SPIs in `mask` of `bank` anew, after a change to them, and marks the PEs that this concerns.
    pub fn replace(&mut self, bank: usize, mut mask: u32) {
        let ready = self.banks[bank].ready();
        while mask != 0 {
            let n = mask.trailing_zeros();
            let bit = 1 << n;
            mask &= mask - 1;
            let spi = bank * 32 + n as usize;
            let new = if ready & bit == 0 { NOWHERE } else { self.target(spi) };
            let old = std::mem::replace(&mut self.placed[spi], new);
            if old != NOWHERE {
                if old != new {
                    self.pes[old as usize].remove(bank, bit);
                }
                self.touch(old as usize);
            }
            if new != NOWHERE && old != new {
                self.pes[new as usize].place(bank, bit);
                self.touch(new as usize);
            }
        }
    }

    /// The PE that SPI `spi` (INTID - 32) goes to now.
    fn target(&self, spi: usize) -> u16 {
        let route = self.routes[spi];
        if route & irouter::IRM != 0 {
            return self.takers[self.banks[spi / 32].group_of(spi as u32 % 32).index()];
        }
        let affinity = (route >> 8 & 0xff00_0000 | route & 0xff_ffff) as u32;
        self.ranges.get(&(affinity >> 4)).map_or(NOWHERE, |range| range[affinity as usize & 15])
    }

    /// Sets `GICD_IROUTER` of SPI `spi` (INTID - 32).
    pub fn set_route(&mut self, spi: usize, route: u64) {
        let (bank, bit) = (spi / 32, 1 << (spi % 32));
        if self.banks[bank].implemented & bit == 0 {
            return;
        }
        self.routes[spi] = route & irouter::FIELDS;
        if route & irouter::IRM == 0 {
            self.one_of_n[bank] &= !bit;
        } else {
            self.one_of_n[bank] |= bit;
        }
        self.replace(bank, bit);
    }

    /// Chooses the PEs that take 1-of-N SPIs anew, after a change to which PEs participate, and moves the SPIs.
    ///
    /// A PE participates for a group if it is awake, has the group enabled at its interface, and `GICR_CTLR.DPG*` does
    /// not exclude it (§4.7). Which of them takes an SPI is IMPLEMENTATION DEFINED; here it is always the one with the
    /// lowest index, so that runs repeat.
    pub fn choose_takers(&mut self) {
        let taker = |group: Group| {
            let dpg = match group {
                Group::Zero => gicr_ctlr::DPG0,
                Group::One => gicr_ctlr::DPG1NS,
            };
            let participates = |pe: &Pe| {
                pe.sleep == Sleep::Awake && pe.interface.enables >> group.index() & 1 != 0 && pe.ctlr & dpg == 0
            };
            self.pes.iter().position(participates).map_or(NOWHERE, |n| n as u16)
        };
        let takers = Group::ALL.map(taker);
        if takers != self.takers {
            self.takers = takers;
            for bank in 0..self.banks.len() {
                self.replace(bank, self.one_of_n[bank]);
            }
        }
    }

    /// Folds the guest-visible state of the distributor.
    pub fn hash_distributor(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u32(self.enables);
        state.write_u32(self.status);
        self.banks.iter().for_each(|bank| bank.hash(state));
        self.routes.iter().for_each(|route| state.write_u64(*route));
    }

    /// Folds the guest-visible state of the PEs in `pes`: redistributor and CPU interface.
    pub fn hash_pes(&self, pes: core::ops::Range<usize>, state: &mut dyn core::hash::Hasher) {
        for pe in &self.pes[pes] {
            pe.bank.hash(state);
            state.write_u32(u32::from(pe.sleep == Sleep::Asleep));
            state.write_u32(pe.ctlr);
            state.write_u32(pe.status);
            if self.messages.is_some() {
                pe.lpis.hash(state);
            }
            pe.interface.hash(state);
            pe.virtual_interface.hash(state);
        }
    }
}
