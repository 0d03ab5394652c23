//! A GICv2's state. Interrupts live in the same [`Bank`]s as a GICv3's; what differs is who an SPI goes to (a set of CPUs, of
//! which the first to acknowledge takes it), and that an SGI is pending once for each CPU that sent it.

use std::sync::Arc;

use arch::gic::VirtualInterface as Model;
use arch::policy::Policy;
use bus::{CpuLines, Level};
use snapshot::{Codec, Invalid};

use super::spec::{GICD_ENABLES, GICH_HCR, gicc_ctlr, narrow, widen};
use crate::priority::Group;
use crate::spec::{PRIVATE, SGIS, icc_ctlr};
use crate::state::{Bank, Groups, Interface, Pending, drive_changes};
use crate::virtual_interface::{Change, Form, MAINTENANCE, VirtualInterface};

/// One CPU: its private interrupts and its interface.
pub struct Pe {
    /// SGIs and PPIs. SGIs are always enabled.
    pub bank: Bank,
    /// Who sent each SGI that is pending, as a set of CPUs.
    pub sources: [u8; SGIS as usize],
    /// `GICC_CTLR`.
    pub ctlr: u32,
    /// Priorities, by the same rules as a GICv3's. Its own controls follow from `ctlr`.
    pub interface: Interface,
    /// What a guest sees in place of the interface.
    pub virtual_interface: VirtualInterface,
    /// The interrupt that the interface sees.
    pub hppi: Option<Pending>,
    wires: Arc<CpuLines>,
    driven: u32,
}

impl Pe {
    fn new(index: usize, wires: Arc<CpuLines>) -> Self {
        let mut bank = Bank::new(u32::MAX, 0xffff);
        bank.enabled = 0xffff;
        // Four list registers and five bits of priority, as a GIC-400 has. What is UNPREDICTABLE is ignored.
        let virtual_interface = VirtualInterface::new(Model::DEFAULT, Form::Memory, Policy::Benign, index);
        let (sources, interface) = ([0; SGIS as usize], Interface::new());
        Self { bank, sources, ctlr: 0, interface, virtual_interface, hppi: None, wires, driven: 0 }
    }

    /// Drives the virtual wires and the maintenance interrupt by the present state.
    fn settle_virtual(&mut self) {
        let Change { rising, falling, maintenance } = self.virtual_interface.settle();
        if rising != 0 {
            self.wires.drive(rising, Level::High);
        }
        if falling != 0 {
            self.wires.drive(falling, Level::Low);
        }
        if let Some(level) = maintenance {
            self.bank.drive(1 << MAINTENANCE, level);
        }
    }

    /// Sets `GICC_CTLR`.
    pub fn set_ctlr(&mut self, value: u32) {
        self.ctlr = value & gicc_ctlr::WRITABLE;
        self.interface.enables = self.ctlr & gicc_ctlr::ENABLES;
        self.interface.ctlr = if self.ctlr & gicc_ctlr::CBPR != 0 { icc_ctlr::CBPR } else { 0 };
    }

    /// The SGI `n` is pending as long as somebody sent it.
    pub fn set_sources(&mut self, n: usize, sources: u8) {
        self.sources[n] = sources;
        let bit = 1 << n;
        self.bank.latch = self.bank.latch & !bit | if sources == 0 { 0 } else { bit };
    }

    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { bank, sources, ctlr, interface, virtual_interface: v, hppi: _, wires, driven: _ } = self;
        bank.persist(codec)?;
        codec.each([sources, ctlr])?;
        interface.persist(codec)?;
        v.persist(codec)?;
        let is_narrow = v.hcr & !GICH_HCR == 0 && v.lr.iter().all(|value| widen(narrow(*value)) == *value);
        if !is_narrow || v.active.register(Group::One, 0) != Some(0) {
            return Err(Invalid::new("a virtual interface in a state that cannot be"));
        }
        if codec.is_loading() && v.driven() != 0 {
            wires.drive(v.driven(), Level::High);
        }
        let pending = (0..SGIS).fold(0, |set, n| set | u32::from(sources[n as usize] != 0) << n);
        if *ctlr & !gicc_ctlr::WRITABLE != 0 || bank.latch & 0xffff != pending || bank.enabled & 0xffff != 0xffff {
            return Err(Invalid::new("a CPU interface in a state that cannot be"));
        }
        let (ctlr, controls) = (*ctlr, (interface.ctlr, interface.enables));
        self.set_ctlr(ctlr);
        if controls != (self.interface.ctlr, self.interface.enables) {
            return Err(Invalid::new("a CPU interface whose controls differ"));
        }
        Ok(())
    }
}

/// Everything.
pub struct State {
    /// `GICD_CTLR`.
    pub enables: u32,
    /// SPIs: bank 0 holds INTIDs 32 to 63.
    pub banks: Vec<Bank>,
    /// `GICD_ITARGETSR`, by INTID - 32.
    pub targets: Vec<u8>,
    /// CPUs by index.
    pub pes: Vec<Pe>,
}

impl State {
    /// The reset state, with `spis` SPIs rounded up to a multiple of 32.
    pub fn new(wires: Vec<Arc<CpuLines>>, spis: u32) -> Self {
        let banks = spis.div_ceil(32);
        // Without another CPU there are no targets: all goes to the one.
        let targets = u8::from(wires.len() == 1);
        Self {
            enables: 0,
            banks: (0..banks).map(|bank| Bank::new(crate::state::implemented(bank), 0)).collect(),
            targets: vec![targets; banks as usize * 32],
            pes: wires.into_iter().enumerate().map(|(n, wires)| Pe::new(n, wires)).collect(),
        }
    }

    /// The CPUs that there are, as a set.
    pub fn all_pes(&self) -> u8 {
        (0xffu32 >> (8 - self.pes.len())) as u8
    }

    /// The bank of INTID `intid` as CPU `pe` sees it, and the bit in it, where there is such an interrupt.
    pub fn bank(&mut self, pe: usize, intid: u32) -> Option<(&mut Bank, u32)> {
        let n = intid % 32;
        let bank = match intid.checked_sub(PRIVATE) {
            None => &mut self.pes.get_mut(pe)?.bank,
            Some(spi) => self.banks.get_mut(spi as usize / 32)?,
        };
        (bank.implemented >> n & 1 != 0).then_some((bank, n))
    }

    /// The highest priority pending interrupt of the groups that are enabled, for CPU `index`. Of equal ones it is that with the
    /// lowest INTID, this implementation's choice.
    fn highest(&self, index: usize) -> Option<Pending> {
        let pe = &self.pes[index];
        let groups = Groups::enabled(self.enables & pe.interface.enables);
        let mut highest = pe.bank.highest(pe.bank.ready(), groups, 0);
        for (at, bank) in self.banks.iter().enumerate() {
            let ready = bank.ready();
            if ready == 0 {
                continue;
            }
            let here =
                (0..32).filter(|n| self.targets[at * 32 + n] >> index & 1 != 0).fold(0, |set, n| set | 1u32 << n);
            let found = bank.highest(ready & here, groups, PRIVATE + 32 * at as u32);
            if let Some(found) = found.filter(|f| highest.is_none_or(|h| f.priority < h.priority)) {
                highest = Some(found);
            }
        }
        highest
    }

    /// Recomputes what each CPU sees, and drives the wires. Ends every change.
    pub fn settle(&mut self) {
        for index in 0..self.pes.len() {
            self.pes[index].settle_virtual();
            let hppi = self.highest(index);
            let pe = &mut self.pes[index];
            pe.hppi = hppi;
            let lines = match hppi.filter(|p| pe.interface.can_signal(*p)).map(|p| p.group) {
                Some(Group::Zero) if pe.ctlr & gicc_ctlr::FIQ_EN != 0 => CpuLines::FIQ,
                Some(_) => CpuLines::IRQ,
                None => 0,
            };
            drive_changes(&pe.wires, &mut pe.driven, lines);
        }
    }

    /// Saves or loads everything. The wires of CPUs are theirs to load, after this.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { enables, banks, targets, pes } = self;
        codec.same(&(pes.len(), banks.len()), "the size of the interrupt controller")?;
        codec.value(enables)?;
        banks.iter_mut().try_for_each(|bank| bank.persist(codec))?;
        for target in targets.iter_mut() {
            codec.value(target)?;
            if u32::from(*target) >> pes.len() != 0 {
                return Err(Invalid::new("a target that cannot be"));
            }
        }
        if *enables & !GICD_ENABLES != 0 {
            return Err(Invalid::new("a distributor in a state that cannot be"));
        }
        pes.iter_mut().try_for_each(|pe| pe.persist(codec))
    }

    /// Folds the state of the distributor, with the private interrupts.
    pub fn hash_distributor(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u32(self.enables);
        self.banks.iter().for_each(|bank| bank.hash(state));
        state.write(&self.targets);
        for pe in &self.pes {
            pe.bank.hash(state);
            state.write(&pe.sources);
        }
    }

    /// Folds the state of the CPU interfaces.
    pub fn hash_interfaces(&self, state: &mut dyn core::hash::Hasher) {
        for pe in &self.pes {
            state.write_u32(pe.ctlr);
            pe.interface.hash(state);
        }
    }

    /// Folds the state of the virtual interfaces.
    pub fn hash_virtual(&self, state: &mut dyn core::hash::Hasher) {
        self.pes.iter().for_each(|pe| pe.virtual_interface.hash(state));
    }
}
