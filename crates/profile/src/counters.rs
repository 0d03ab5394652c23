//! Counts of events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arch::El;
use arch::esr::{Ec, esr};
use arch::sysreg::Enc;
use event::{BarrierKind, Event, Sink, WalkCause};

use crate::worlds::Worlds;

/// An exception's class and what of its ISS tells kinds of exceptions apart: see [`Syndrome::of`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Syndrome {
    /// `ESR_ELx.EC`, 6 bits.
    pub ec: u8,
    /// The kept bits of `ESR_ELx.ISS`.
    pub iss: u32,
}

impl Syndrome {
    /// The syndrome in `esr`, without what only says which registers or conditions the instruction named.
    pub fn of(esr: u64) -> Self {
        let ec = esr::EC.get(esr);
        let mask = match Ec::from_bits(ec) {
            // Keeps xFSC, WnR, S1PTW, CM, FnV and SET; drops the register and its size (ISV, SAS, SSE, SRT, SF, AR).
            Some(Ec::DataAbort | Ec::InstructionAbort) => 0x1fff,
            // Keeps op0 to op2, CRn, CRm and the direction; drops Rt.
            Some(Ec::SysReg) => 0x003f_fc1f,
            // Keeps TI; drops the condition and RN.
            Some(Ec::Wfx) => 3,
            // Only a condition is in it.
            Some(Ec::FpAccess) => 0,
            _ => 0x01ff_ffff,
        };
        Self { ec: ec as u8, iss: esr::ISS.get(esr) as u32 & mask }
    }
}

/// The register that a trapped MRS or MSR names: ISS of class 0x18 has Op0 \[21:20\], Op2 \[19:17\], Op1 \[16:14\],
/// CRn \[13:10\], CRm \[4:1\].
pub(crate) fn trapped_register(esr: u64) -> Enc {
    let iss = esr::ISS.get(esr) as u16;
    let high = (esr >> 16) as u16;
    Enc::new(high >> 4 & 3, iss >> 14 & 3 | (high & 1) << 2, iss >> 10 & 15, iss >> 1 & 15, high >> 1 & 7)
}

/// How often an event happened, and how much of something came with it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Sum {
    /// Times.
    pub times: u64,
    /// Total amount.
    pub amount: u64,
}

impl Sum {
    fn add(&mut self, amount: u64) {
        self.times += 1;
        self.amount += amount;
    }
}

/// Exceptions taken.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exceptions {
    /// Synchronous exceptions by syndrome.
    pub syndromes: BTreeMap<Syndrome, u64>,
    /// Exceptions of every kind by the level they were taken from and the one they were taken to.
    pub levels: BTreeMap<(El, El), u64>,
    /// Trapped accesses to system registers (class 0x18).
    pub traps: BTreeMap<Enc, u64>,
    /// IRQs taken.
    pub irqs: u64,
    /// FIQs taken.
    pub fiqs: u64,
    /// SErrors taken.
    pub serrors: u64,
}

impl Exceptions {
    /// Counts an event, if it is an exception.
    pub(crate) fn count(&mut self, event: &Event) {
        let (from, to) = match *event {
            Event::Exception { from, to, esr, .. } => {
                let syndrome = Syndrome::of(esr);
                *self.syndromes.entry(syndrome).or_default() += 1;
                if syndrome.ec == Ec::SysReg as u8 {
                    *self.traps.entry(trapped_register(esr)).or_default() += 1;
                }
                (from, to)
            }
            Event::Irq { from, to } => {
                self.irqs += 1;
                (from, to)
            }
            Event::Fiq { from, to } => {
                self.fiqs += 1;
                (from, to)
            }
            Event::SError { from, to } => {
                self.serrors += 1;
                (from, to)
            }
            _ => return,
        };
        *self.levels.entry((from, to)).or_default() += 1;
    }

    /// Adds others.
    pub(crate) fn add(&mut self, other: &Self) {
        merge(&mut self.syndromes, &other.syndromes);
        merge(&mut self.levels, &other.levels);
        merge(&mut self.traps, &other.traps);
        self.irqs += other.irqs;
        self.fiqs += other.fiqs;
        self.serrors += other.serrors;
    }
}

/// Adds counts by key.
pub(crate) fn merge<K: Ord + Copy>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(*key).or_default() += count;
    }
}

/// What one CPU, or all of them, did.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Exceptions.
    pub exceptions: Exceptions,
    /// What EL2 and the worlds below it did, if there was any.
    pub worlds: Worlds,
    /// Exception returns by the level they left and the one they went to.
    pub returns: BTreeMap<(El, El), u64>,
    /// Walks by cause, as [`WalkCause`] orders them; the amount is descriptors read.
    pub walks: [Sum; 4],
    /// Entries that went into the TLB.
    pub tlb_fills: u64,
    /// TLB invalidations; the amount is entries removed.
    pub invalidations: BTreeMap<Enc, Sum>,
    /// Barriers, as [`BarrierKind`] orders them.
    pub barriers: [u64; 4],
    /// Store-exclusives that returned 1.
    pub exclusives_failed: u64,
    /// Sleeps in WFI and WFE.
    pub sleeps: u64,
}

/// The causes of walks, in the order of their places in [`Counts::walks`].
pub(crate) const CAUSES: [WalkCause; 4] = [WalkCause::Read, WalkCause::Write, WalkCause::Fetch, WalkCause::Probe];
/// The barriers, in the order of their places in [`Counts::barriers`].
pub(crate) const BARRIERS: [BarrierKind; 4] = [BarrierKind::Dmb, BarrierKind::Dsb, BarrierKind::Isb, BarrierKind::Sb];

impl Counts {
    /// Counts one event.
    pub fn count(&mut self, event: &Event) {
        match *event {
            Event::Exception { .. } | Event::Irq { .. } | Event::Fiq { .. } | Event::SError { .. } => {
                self.exceptions.count(event);
                self.worlds.exception(event);
            }
            Event::ExceptionReturn { from, to } => *self.returns.entry((from, to)).or_default() += 1,
            Event::Walk { steps, cause } => self.walks[cause as usize].add(steps.into()),
            Event::TlbFill => self.tlb_fills += 1,
            Event::TlbInvalidate { enc, removed } => {
                self.invalidations.entry(Enc(enc)).or_default().add(removed.into());
            }
            Event::Barrier(kind) => self.barriers[kind as usize] += 1,
            Event::Barriers { kind, times } => self.barriers[kind as usize] += times,
            Event::ExclusiveFailed { .. } => self.exclusives_failed += 1,
            Event::Sleep => self.sleeps += 1,
            Event::WorldEntry { world, insns, list_registers } => self.worlds.enter(world, insns, list_registers),
            Event::WorldExit { cause, insns } => self.worlds.leave(cause, insns),
            Event::Restart { insns } => self.worlds.restart(insns),
            // Events that this version does not count.
            _ => {}
        }
    }

    /// These counts at the end of a run, with the instructions at EL0 to EL3 until then.
    #[must_use]
    pub fn settled(mut self, insns: [u64; 4]) -> Self {
        self.worlds.settle(insns);
        self
    }

    /// Adds what another CPU did.
    pub fn add(&mut self, other: &Self) {
        self.exceptions.add(&other.exceptions);
        self.worlds.add(&other.worlds);
        merge(&mut self.returns, &other.returns);
        self.tlb_fills += other.tlb_fills;
        self.exclusives_failed += other.exclusives_failed;
        self.sleeps += other.sleeps;
        for (into, from) in self.walks.iter_mut().zip(&other.walks) {
            into.times += from.times;
            into.amount += from.amount;
        }
        for (into, from) in self.barriers.iter_mut().zip(&other.barriers) {
            *into += from;
        }
        for (enc, sum) in &other.invalidations {
            let into = self.invalidations.entry(*enc).or_default();
            into.times += sum.times;
            into.amount += sum.amount;
        }
    }
}

/// The counters of one CPU. Clones are the same counters.
#[derive(Clone, Default, Debug)]
pub struct Counters(Arc<Mutex<Counts>>);

impl Counters {
    /// Counters at zero.
    pub fn new() -> Self {
        Self::default()
    }
    /// A sink that counts here, for the CPU. The lock that it takes for each event is free unless someone reads at that
    /// moment; events come from slow paths only.
    pub fn sink(&self) -> Box<dyn Sink> {
        Box::new(SharedSink(self.0.clone()))
    }
    pub(crate) fn shared(&self) -> &Mutex<Counts> {
        &self.0
    }
    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a CPU holds of its [`Counters`].
#[derive(Debug)]
pub struct SharedSink(Arc<Mutex<Counts>>);

impl Sink for SharedSink {
    fn event(&mut self, _: u64, event: &Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).count(event);
    }
}

#[cfg(test)]
mod tests {
    use arch::{Pa, Va};

    use super::*;

    #[test]
    fn places() {
        assert_eq!(CAUSES.map(|cause| cause as usize), [0, 1, 2, 3]);
        assert_eq!(BARRIERS.map(|kind| kind as usize), [0, 1, 2, 3]);
    }

    #[test]
    fn syndromes_lose_registers_and_conditions() {
        let of = |ec: u64, iss: u64| Syndrome::of(ec << 26 | 1 << 25 | iss);
        let kept = |ec, iss| Syndrome { ec, iss };
        // A store of W5 and one of X6, both a translation fault at level 3.
        assert_eq!(of(0x25, 1 << 24 | 2 << 22 | 5 << 16 | 0x47), kept(0x25, 0x47));
        assert_eq!(of(0x25, 1 << 24 | 3 << 22 | 6 << 16 | 1 << 15 | 0x47), kept(0x25, 0x47));
        assert_eq!(of(0x15, 0x1234), kept(0x15, 0x1234));
        assert_eq!(of(0x01, 0x1e0_0001), kept(0x01, 1));
        assert_eq!(of(0x07, 0x1e0_0000), kept(0x07, 0));
        assert_eq!(of(0x18, 0x3f_ffff), kept(0x18, 0x3f_fc1f));
    }

    #[test]
    fn trapped_registers() {
        // MRS X7, MIDR_EL1 and MRS X3, PMCCNTR_EL0 (3, 3, C9, C13, 0), as the ISS has them.
        let read = |op0: u64, op1: u64, crn: u64, crm: u64, op2: u64, rt: u64| {
            0x18 << 26 | op0 << 20 | op2 << 17 | op1 << 14 | crn << 10 | rt << 5 | crm << 1 | 1
        };
        assert_eq!(trapped_register(read(3, 0, 0, 0, 0, 7)), Enc::new(3, 0, 0, 0, 0));
        assert_eq!(trapped_register(read(3, 3, 9, 13, 0, 3)), Enc::new(3, 3, 9, 13, 0));
        assert_eq!(trapped_register(read(3, 7, 15, 15, 7, 31)), Enc::new(3, 7, 15, 15, 7));
        assert_eq!(trapped_register(read(2, 4, 0, 7, 5, 0)), Enc::new(2, 4, 0, 7, 5));
    }

    #[test]
    fn events_are_counted() {
        let counters = Counters::new();
        let mut sink = counters.sink();
        let (from, to) = (El::El0, El::El1);
        let vae1is = Enc::new(1, 0, 8, 3, 1);
        let svc = Event::Exception { from, to, esr: 0x15 << 26, pc: Va(0) };
        let events = [
            svc,
            svc,
            Event::Exception { from: to, to, esr: 0x18 << 26 | 3 << 20 | 1, pc: Va(0) },
            Event::Irq { from, to },
            Event::Fiq { from, to },
            Event::SError { from, to },
            Event::ExceptionReturn { from: to, to: from },
            Event::Walk { steps: 3, cause: WalkCause::Fetch },
            Event::Walk { steps: 4, cause: WalkCause::Fetch },
            Event::TlbFill,
            Event::TlbInvalidate { enc: vae1is.0, removed: 5 },
            Event::Barrier(BarrierKind::Isb),
            Event::ExclusiveFailed { pa: Pa(0) },
            Event::Sleep,
        ];
        for event in &events {
            sink.event(0, event);
        }
        let one = counters.counts();
        assert_eq!(one.exceptions.syndromes[&Syndrome { ec: 0x15, iss: 0 }], 2);
        assert_eq!(one.exceptions.levels, [((from, to), 5), ((to, to), 1)].into());
        assert_eq!(one.exceptions.traps, [(Enc::new(3, 0, 0, 0, 0), 1)].into());
        assert_eq!((one.exceptions.irqs, one.exceptions.fiqs, one.exceptions.serrors), (1, 1, 1));
        assert_eq!(one.returns, [((to, from), 1)].into());
        assert_eq!(one.walks[2], Sum { times: 2, amount: 7 });
        assert_eq!(one.invalidations, [(vae1is, Sum { times: 1, amount: 5 })].into());
        assert_eq!(one.barriers, [0, 0, 1, 0]);
        assert_eq!((one.tlb_fills, one.exclusives_failed, one.sleeps), (1, 1, 1));

        // Two of the same are each event twice.
        let mut two = one.clone();
        two.add(&one);
        for event in &events {
            sink.event(0, event);
        }
        assert_eq!(counters.counts(), two);
    }
}
