//! The state of one PE.

use std::sync::Arc;

use arch::feature::Feature;
use arch::field::mdcr_el2;
use arch::model::CpuModel;
use arch::sysreg::{Kind, Reg};
use arch::trap::NestedMode;
use arch::{El, Va};
use bus::{Bus, CpuInterface, CpuLines, Ram};
use event::{Detail, Event, Sink};
use mmu::{Contexts, CtxPair, FastCache, MmuFeatures, Stage1, Stage2, Tlb, TlbiOp};
use sem::Insn;

use crate::code::BlockMemory;
use crate::el2::Traps;
use crate::eval::Q;
use crate::exception::{Exception, Interrupt};
use crate::memory::Monitor;
use crate::pauth::{KnownCodes, Pauth};
use crate::peers::Peers;
use crate::pmu::Pmu;
use crate::pstate::Pstate;
use crate::stop::{Exit, Stop, ToolError};
use crate::timer::Timer;

/// Which instruction reaches the firmware (PSCI, SMCCC) of a machine without EL2 and EL3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduit {
    /// HVC.
    Hvc,
    /// SMC.
    Smc,
}

/// What a PE is made of.
pub struct PeConfig {
    /// Its number in the machine, from 0.
    pub index: usize,
    /// `MPIDR_EL1`.
    pub mpidr: u64,
    /// Features, ID registers, sizes.
    pub model: CpuModel,
    /// The address map.
    pub bus: Arc<Bus>,
    /// The interrupt controller's CPU interface.
    pub gic: Arc<dyn CpuInterface>,
    /// The wires from the interrupt controller.
    pub lines: Arc<CpuLines>,
    /// How firmware is called.
    pub conduit: Conduit,
    /// `CNTFRQ_EL0`, in Hz: ticks of the machine's time a second.
    pub frequency: u64,
    /// For RNDR.
    pub seed: u64,
    /// Does HLT #0xf000 reach the machine?
    pub semihosting: Semihosting,
}

/// Whether semihosting calls are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semihosting {
    /// HLT is UNDEFINED.
    Off,
    /// HLT #0xf000 leaves to the machine.
    On,
}

/// What a PE did that others must hear of before they run on.
#[derive(Clone, Copy, Debug)]
pub enum Broadcast {
    /// A TLB invalidation for the Inner or Outer Shareable domain.
    Tlbi(TlbiOp),
    /// SEV.
    Event,
}

/// What a PE's turn begins with.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// When the machine's round began, in ticks.
    pub begin: u64,
    /// The same in nanoseconds: the time that devices see until the next round. It does not depend on where blocks of code
    /// begin, so neither does what devices do.
    pub device_time: u64,
    /// What PEs have seen of the system counter at most.
    pub seen: u64,
}

/// What a model makes of a register.
#[derive(Clone, Copy)]
pub(crate) struct RegFacts {
    /// Is it there?
    pub present: bool,
    /// Bits that software can write.
    pub writable: u64,
    /// What it reaches at EL2 with `HCR_EL2.E2H` set.
    pub with_e2h: Reg,
    /// For an `_EL12` or `_EL02` name: what it reaches, with E2H set.
    pub el12: Option<Reg>,
}

impl RegFacts {
    fn new(model: &CpuModel, reg: Reg) -> Self {
        Self {
            present: model.has_register(reg),
            writable: model.writable(reg),
            with_e2h: reg.at_el2_with_e2h().unwrap_or(reg),
            el12: reg.el12_target(),
        }
    }
}

/// Whether there are events at all. What they cost while nobody hears them is measured beside a build without.
const EVENTS: bool = cfg!(not(feature = "without-events"));

/// A processing element. It implements [`sem::Machine`], and [`Pe::run`] executes.
///
/// The fields that every instruction touches come first.
// The flags are independent of each other, and each is tested on a hot path.
#[allow(clippy::struct_excessive_bools)]
pub struct Pe {
    /// X0 to X30; index 31 is always 0 and stands for XZR.
    pub(crate) x: [u64; 32],
    /// The current stack pointer; the others are in `sp_bank`.
    pub(crate) sp: u64,
    pub(crate) nzcv: u64,
    /// Address of the first instruction of the running block; between blocks, of the next instruction.
    pub(crate) pc: u64,
    /// Where the running block goes on.
    pub(crate) next_pc: u64,
    /// Set by an instruction after which the rest of the block must not run unseen.
    pub(crate) leave_block: bool,
    pub(crate) fp_enabled: bool,
    /// All ones where every access must be aligned (SCTLR_ELx.A, or MMU off), else 0.
    pub(crate) align_mask: u64,
    /// 15 where SP's alignment is checked, else 0.
    pub(crate) sp_align_mask: u64,
    /// The fast cache's contexts for accesses of the current level.
    pub(crate) contexts: CtxPair,
    /// For LDTR and STTR.
    pub(crate) contexts_unprivileged: CtxPair,
    /// For fetches: as `contexts`, but never valid while a fetch needs a look (illegal execution state).
    pub(crate) contexts_fetch: CtxPair,
    pub(crate) ram: Arc<Ram>,
    pub(crate) fast: FastCache,
    /// How often an address was translated otherwise than by `fast`, wrapping.
    pub(crate) translations: u64,
    /// [`Ram::code_marks`] as of the last time that `fast` gave up writing to code.
    pub(crate) code_marks: u32,
    pub(crate) block_memory: BlockMemory,
    /// The PEs that run at the same time, if any does.
    pub(crate) peers: Option<Arc<Peers>>,

    pub(crate) q: [Q; 32],
    pub(crate) fpcr: u64,
    pub(crate) fpsr: u64,

    /// Instructions retired, up to the start of the running block.
    pub(crate) insns: u64,
    /// Exceptions taken: each lets a tick pass.
    pub(crate) taken: u64,
    /// Ticks that passed without a retired instruction: sleep, exceptions that instructions did not retire for.
    pub(crate) skipped: u64,
    /// The highest count of the system counter that any PE had seen when this one began its turn, or that it saw since.
    pub(crate) seen: u64,
    /// The time that devices see, in nanoseconds.
    pub(crate) device_time: u64,
    /// Instructions retired at each EL, up to the last change of EL.
    pub(crate) insns_at_el: [u64; 4],
    pub(crate) el_since: u64,

    pub(crate) pstate: Pstate,
    /// SP_EL0 to SP_EL3; the entry of the current one is out of date.
    pub(crate) sp_bank: [u64; 4],
    pub(crate) sys: Box<[u64; Reg::COUNT]>,
    /// By `TimerId`.
    pub(crate) timers: [Timer; 4],
    /// The outputs that the GIC last saw.
    pub(crate) timer_outputs: [bool; 4],
    pub(crate) pmu: Pmu,
    pub(crate) monitor: Option<Monitor>,
    /// With peers: what the marked bytes held.
    pub(crate) monitor_value: u128,
    pub(crate) event_register: bool,
    pub(crate) pending: Option<Exception>,
    pub(crate) exit: Option<Exit>,
    /// Where a WFIT or WFET ends, in ticks.
    pub(crate) wait_until: Option<u64>,
    /// State of the generator behind RNDR; never 0.
    pub(crate) random: u64,
    pub(crate) semihosting: bool,
    /// Is a breakpoint armed in the current state?
    pub(crate) breakpoints_on: bool,
    /// Is a watchpoint?
    pub(crate) watchpoints_on: bool,
    /// What the sink asks for.
    pub(crate) detail: Detail,
    /// Is software step on in the current state?
    pub(crate) step_on: bool,
    /// The running block is one step.
    pub(crate) single: bool,
    /// After a step: was the instruction a load-exclusive?
    pub(crate) stepped: Option<bool>,

    /// Pointer authentication, where the model has it.
    pub(crate) pauth: Option<Pauth>,
    pub(crate) known_codes: KnownCodes,
    /// Stage 1 of the current regime, a copy of its place in `stage1_of`.
    pub(crate) stage1: Stage1,
    /// Stage 1 of each regime, by its number.
    pub(crate) stage1_of: [Stage1; 3],
    pub(crate) stage2: Stage2,
    /// What EL1 is to a guest hypervisor; `None` without HCR_EL2.NV.
    pub(crate) nested: Option<NestedMode>,
    pub(crate) mmu_features: MmuFeatures,
    pub(crate) tlb: Tlb,
    /// What is held of stage 2 alone.
    pub(crate) stage2_tlb: mmu::Stage2Tlb,
    pub(crate) context_table: Contexts,
    /// The generation of `context_table` that the contexts in force belong to.
    pub(crate) context_generation: u64,

    pub(crate) lines: Arc<CpuLines>,
    /// Lines of `lines` that PSTATE does not mask.
    pub(crate) unmasked: u32,
    pub(crate) bus: Arc<Bus>,
    pub(crate) gic: Arc<dyn CpuInterface>,
    /// Where a debugger outside the machine wants it to stop.
    pub(crate) debugger: Option<Box<crate::debugger::Debugger>>,
    pub(crate) outbox: Vec<Broadcast>,
    pub(crate) sink: Option<Box<dyn Sink>>,

    pub(crate) index: usize,
    pub(crate) model: CpuModel,
    /// What the model makes of each register, by its index.
    pub(crate) facts: Box<[RegFacts; Reg::COUNT]>,
    /// What EL2 may trap.
    pub(crate) traps: Traps,
    pub(crate) conduit: Conduit,
    pub(crate) frequency: u64,
}

impl Pe {
    /// A PE out of reset, at the highest level that its model has (EL2 or EL1), at address 0.
    #[must_use]
    pub fn new(config: PeConfig) -> Self {
        let mmu_features = crate::system::mmu_features(&config.model);
        let mut pe = Self {
            x: [0; 32],
            sp: 0,
            nzcv: 0,
            pc: 0,
            next_pc: 0,
            leave_block: false,
            fp_enabled: false,
            align_mask: !0,
            sp_align_mask: 0,
            contexts: CtxPair::NEVER,
            contexts_unprivileged: CtxPair::NEVER,
            contexts_fetch: CtxPair::NEVER,
            ram: config.bus.ram().clone(),
            fast: FastCache::new(),
            translations: 0,
            code_marks: 0,
            block_memory: BlockMemory::new(),
            peers: None,
            q: [Q(0); 32],
            fpcr: 0,
            fpsr: 0,
            insns: 0,
            taken: 0,
            skipped: 0,
            seen: 0,
            device_time: 0,
            insns_at_el: [0; 4],
            el_since: 0,
            pstate: Pstate::reset(if config.model.has(Feature::FEAT_EL2) { El::El2 } else { El::El1 }),
            sp_bank: [0; 4],
            sys: Box::new(Reg::ALL.map(|r| config.model.reset(r))),
            timers: [Timer::default(); 4],
            timer_outputs: [false; 4],
            pmu: Pmu::default(),
            monitor: None,
            monitor_value: 0,
            event_register: false,
            pending: None,
            exit: None,
            wait_until: None,
            random: config.seed | 1,
            semihosting: config.semihosting == Semihosting::On,
            step_on: false,
            breakpoints_on: false,
            watchpoints_on: false,
            detail: Detail::Plain,
            single: false,
            stepped: None,
            pauth: Pauth::of(&config.model),
            known_codes: KnownCodes::new(),
            stage1: Stage1::new(&crate::system::NO_TRANSLATION, &mmu_features),
            stage1_of: [Stage1::new(&crate::system::NO_TRANSLATION, &mmu_features); 3],
            stage2: Stage2::off(&mmu_features),
            nested: None,
            mmu_features,
            tlb: Tlb::new(),
            stage2_tlb: mmu::Stage2Tlb::new(),
            context_table: Contexts::new(),
            context_generation: 0,
            lines: config.lines,
            unmasked: 0,
            bus: config.bus,
            gic: config.gic,
            debugger: None,
            outbox: Vec::new(),
            sink: None,
            index: config.index,
            facts: Box::new(Reg::ALL.map(|r| RegFacts::new(&config.model, r))),
            traps: Traps::of(&config.model),
            model: config.model,
            conduit: config.conduit,
            frequency: config.frequency,
        };
        pe.lines.drive(CpuLines::ATTENTION, bus::Level::High);
        pe.load_id_registers(config.mpidr);
        pe.derive();
        pe
    }

    fn load_id_registers(&mut self, mpidr: u64) {
        for reg in Reg::ALL.into_iter().filter(|r| r.info().kind == Kind::Id) {
            self.sys[reg as usize] = self.model.id_value(reg);
        }
        self.sys[Reg::MIDR_EL1 as usize] = self.model.id_value(Reg::MIDR_EL1);
        self.sys[Reg::MPIDR_EL1 as usize] = mpidr;
        self.sys[Reg::VPIDR_EL2 as usize] = self.sys[Reg::MIDR_EL1 as usize];
        self.sys[Reg::VMPIDR_EL2 as usize] = mpidr;
        self.sys[Reg::CNTFRQ_EL0 as usize] = self.frequency;
        if self.model.has(Feature::FEAT_PMUv3) && self.model.has(Feature::FEAT_EL2) {
            let counters = u64::from(self.model.pmu_counters);
            let control = &mut self.sys[Reg::MDCR_EL2 as usize];
            *control = mdcr_el2::HPMN.set(*control, counters);
        }
    }

    /// Starts the PE anew, as PSCI CPU_ON and the boot protocols do: at `entry`, at the highest level, MMU off, all interrupts
    /// masked, X0 as given.
    pub fn start(&mut self, entry: Va, x0: u64) {
        let mpidr = self.mpidr();
        self.account_el(self.insns);
        self.emit(Event::Restart { insns: self.accounted() });
        for reg in Reg::ALL {
            self.sys[reg as usize] = self.model.reset(reg);
        }
        self.load_id_registers(mpidr);
        self.x = [0; 32];
        self.x[0] = x0;
        self.pc = entry.0;
        self.pending = None;
        self.exit = None;
        self.wait_until = None;
        self.monitor = None;
        self.timers = [Timer::default(); 4];
        self.reset_pmu();
        self.fpcr = 0;
        self.set_pstate(Pstate::reset(self.highest_level()));
        self.hypervisor_control_changed();
        self.stage2_tlb.clear();
        self.translation_rules_changed();
    }

    /// Sends this PE's events to `sink`.
    pub fn set_sink(&mut self, sink: Option<Box<dyn Sink>>) {
        self.detail = sink.as_ref().map_or(Detail::Plain, |sink| sink.detail());
        self.sink = sink;
        self.block_memory.forget();
        self.contexts_changed();
    }
    #[inline(always)]
    fn detail(&self) -> Detail {
        if EVENTS { self.detail } else { Detail::Plain }
    }
    /// Does anybody hear of this PE's events?
    #[inline(always)]
    pub(crate) fn is_heard(&self) -> bool {
        EVENTS && self.sink.is_some()
    }
    /// Must every access be looked at? Then nothing is remembered that would spare the look.
    #[inline(always)]
    pub(crate) fn looks_at_accesses(&self) -> bool {
        self.watchpoints_on || self.detail() == Detail::Accesses
    }
    /// Reports an access that found RAM at `offset`.
    #[inline]
    pub(crate) fn report_access(&mut self, kind: event::AccessKind, offset: u64, bytes: u64) {
        if self.detail() == Detail::Accesses {
            self.emit(Event::Access { kind, pa: self.bus.ram_base().add(offset), bytes });
        }
    }
    /// Reports what retired up to a change of level.
    pub(crate) fn report_retired(&mut self) {
        if self.detail() >= Detail::Instructions {
            self.emit(Event::Retired { insns: self.accounted() });
        }
    }
    #[inline]
    pub(crate) fn emit(&mut self, event: Event) {
        if EVENTS && let Some(sink) = &mut self.sink {
            // In the middle of a block the last change of level is later than what was retired before the block.
            sink.event(self.insns.max(self.el_since) + self.skipped, &event);
        }
    }
    /// The same for what `insn` of the running block does.
    #[inline]
    pub(crate) fn emit_at(&mut self, insn: Insn, event: Event) {
        let at = self.time_at(insn);
        if EVENTS && let Some(sink) = &mut self.sink {
            sink.event(at, &event);
        }
    }

    /// Xn, or 0 for 31.
    #[must_use]
    pub fn x_register(&self, n: usize) -> u64 {
        self.x[n & 31]
    }
    /// Writes Xn; 31 is discarded.
    pub fn set_x_register(&mut self, n: usize, value: u64) {
        if n < 31 {
            self.x[n] = value;
        }
    }
    /// The next instruction's address.
    #[must_use]
    pub fn pc(&self) -> Va {
        Va(self.pc)
    }
    /// Goes on at `pc`.
    pub fn set_pc(&mut self, pc: Va) {
        self.pc = pc.0;
    }
    /// PSTATE without NZCV.
    #[must_use]
    pub fn pstate(&self) -> Pstate {
        self.pstate
    }
    /// The current stack pointer.
    #[must_use]
    pub fn sp(&self) -> u64 {
        self.sp
    }
    /// N, Z, C and V, in bits 31 to 28 as in an SPSR.
    #[must_use]
    pub fn nzcv(&self) -> u64 {
        self.nzcv
    }
    /// What is stored in a system register. Those whose value is computed where it is read (timers' counts, the GIC's)
    /// read as 0 or as something old.
    #[must_use]
    pub fn stored(&self, reg: Reg) -> u64 {
        self.sys[reg as usize]
    }
    /// Its number in the machine.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }
    /// `MPIDR_EL1`.
    #[must_use]
    pub fn mpidr(&self) -> u64 {
        self.sys[Reg::MPIDR_EL1 as usize]
    }
    /// What it is a model of.
    #[must_use]
    pub fn model(&self) -> &CpuModel {
        &self.model
    }

    /// Instructions retired.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.insns
    }
    /// Instructions retired at each exception level.
    #[must_use]
    pub fn instructions_by_el(&self) -> [u64; 4] {
        self.retired_by_el(self.insns)
    }
    /// The same where `retired` instructions have retired.
    pub(crate) fn retired_by_el(&self, retired: u64) -> [u64; 4] {
        let mut counts = self.insns_at_el;
        counts[self.pstate.el as usize] += retired - self.el_since;
        counts
    }
    /// The same as of the last change of EL.
    pub(crate) fn accounted(&self) -> [u64; 4] {
        self.insns_at_el
    }
    /// Call where PSTATE.EL is about to change, with all instructions retired so far counted.
    pub(crate) fn account_el(&mut self, retired: u64) {
        self.insns_at_el[self.pstate.el as usize] += retired - self.el_since;
        self.el_since = retired;
    }

    /// This PE's time in ticks.
    #[inline(always)]
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.insns + self.skipped
    }
    /// Instructions retired and exceptions taken: what run limits count.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.insns + self.taken
    }
    /// Has the time of a WFIT or WFET come? If so, it has been seen.
    #[must_use]
    pub fn wait_is_over(&mut self) -> bool {
        let now = self.count();
        let over = self.wait_until.is_some_and(|end| now >= end);
        if over {
            self.seen = now;
        }
        over
    }
    /// Ticks that passed while nothing executed.
    #[must_use]
    pub fn idle_ticks(&self) -> u64 {
        self.skipped - self.taken
    }
    /// Tells the sink that this PE no longer sleeps.
    pub fn tell_waking(&mut self) {
        self.emit(Event::Wake);
    }
    /// Lets time pass to `ticks` without instructions; does nothing where it is later already.
    pub fn skip_to(&mut self, ticks: u64) {
        self.skipped += ticks.saturating_sub(self.ticks());
    }
    /// This PE's turn begins.
    pub fn begin_turn(&mut self, turn: Turn) {
        self.device_time = turn.device_time;
        self.skip_to(turn.begin);
        self.seen = turn.seen;
    }
    /// A piece of this PE's work beside peers begins.
    pub fn begin_piece(&mut self) {
        if let Some(peers) = &self.peers {
            self.device_time = peers.nanoseconds();
        }
    }
    /// What this PE, or another before its turn, saw of the system counter at most.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// What others must hear of; empties the list.
    pub fn take_broadcasts(&mut self) -> Vec<Broadcast> {
        std::mem::take(&mut self.outbox)
    }
    /// Is there something that others must hear of?
    #[must_use]
    pub fn has_broadcasts(&self) -> bool {
        !self.outbox.is_empty()
    }
    /// RAM.
    #[must_use]
    pub fn ram(&self) -> &Ram {
        &self.ram
    }
    /// The wires from the interrupt controller.
    #[must_use]
    pub fn lines(&self) -> &Arc<CpuLines> {
        &self.lines
    }
    /// Hears what another PE did.
    pub fn receive(&mut self, broadcast: Broadcast) {
        match broadcast {
            Broadcast::Tlbi(op) => {
                self.invalidate_tlb(&op);
            }
            Broadcast::Event => self.event_register = true,
        }
    }
    /// Clears the exclusive monitor: another PE may run now.
    pub fn clear_monitor(&mut self) {
        self.monitor = None;
    }

    /// The highest exception level of its model.
    pub(crate) fn highest_level(&self) -> El {
        if self.has_el2() { El::El2 } else { El::El1 }
    }

    /// The lines that end WFI: interrupts, masked or not; virtual ones where they are enabled.
    #[must_use]
    pub fn waking_lines(&self) -> u32 {
        let mut wakes = CpuLines::IRQ | CpuLines::FIQ | CpuLines::SERROR | CpuLines::SEI_TO_EL2;
        for (interrupt, lines) in [
            (Interrupt::Irq, CpuLines::VIRQ | CpuLines::HCR_VI),
            (Interrupt::Fiq, CpuLines::VFIQ | CpuLines::HCR_VF),
            (Interrupt::SError, CpuLines::HCR_VSE | CpuLines::SEI_VIRTUAL),
        ] {
            if self.virtual_enabled(interrupt) {
                wakes |= lines;
            }
        }
        wakes
    }
    /// Would WFI complete at once?
    #[must_use]
    pub fn has_pending_interrupt(&self) -> bool {
        self.lines.get() & self.waking_lines() != 0
    }
    /// The interrupts that would be taken.
    #[must_use]
    pub fn unmasked_lines(&self) -> u32 {
        self.unmasked & !(CpuLines::ATTENTION | CpuLines::MAIL)
    }
    /// Is something to be looked at before the next instruction?
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        self.event_register || self.lines.get() & (self.unmasked | CpuLines::EVENT) != 0
    }
    /// Was there an event for WFE? No longer.
    pub fn take_event(&mut self) -> bool {
        self.take_event_line() | std::mem::take(&mut self.event_register)
    }

    /// Asks the machine for something after this instruction.
    pub(crate) fn leave(&mut self, exit: Exit) -> Stop {
        self.exit = Some(exit);
        Stop::Leave
    }
    pub(crate) fn tool_error(&mut self, error: ToolError) -> Stop {
        self.exit = Some(Exit::Tool(error));
        Stop::Tool
    }

    /// Folds the architectural state into `state`, for the end-of-run hash.
    pub fn hash_state(&self, state: &mut dyn std::hash::Hasher) {
        self.x.iter().for_each(|v| state.write_u64(*v));
        self.q.iter().for_each(|v| state.write_u128(v.0));
        let mut sys = self.sys.clone();
        // Where a counter was last brought up to date is no state.
        self.running_counts().for_each(|(reg, count)| sys[reg as usize] = count);
        sys.iter().for_each(|v| state.write_u64(*v));
        self.sp_bank.iter().for_each(|v| state.write_u64(*v));
        let mut word = |v| state.write_u64(v);
        for v in [self.sp, self.nzcv, self.pc, self.pstate.to_spsr(), self.fpcr, self.fpsr, self.insns, self.skipped] {
            word(v);
        }
        for timer in self.timers {
            word(timer.ctl);
            word(timer.cval);
        }
    }
}
