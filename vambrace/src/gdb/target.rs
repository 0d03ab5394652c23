//! What a GDB client may do with a machine.

use std::convert::Infallible;
use std::num::NonZeroUsize;

use arch::{Pa, Va};
use gdbstub::common::{Signal, Tid};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{
    MultiThreadBase, MultiThreadResume, MultiThreadResumeOps, MultiThreadSchedulerLocking,
    MultiThreadSchedulerLockingOps, MultiThreadSingleStep, MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint,
    SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use machine::schedule::CpuState;
use machine::{Debugger, DebuggerWatch, Machine, Watched};

use super::registers::{self, Aarch64, Core, Id};

/// Which addresses the client's accesses to memory mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Virtual ones, of the thread.
    Virtual,
    /// Physical ones.
    Physical,
}

/// A machine under a client.
pub struct Debuggee<'a> {
    pub machine: &'a mut Machine,
    pub addresses: Addresses,
    /// The CPU that is to make one step.
    pub step: Option<usize>,
    stops: Debugger,
    xml: String,
}

const PAGE: u64 = 4096;

impl<'a> Debuggee<'a> {
    /// No breakpoints.
    pub fn new(machine: &'a mut Machine) -> Self {
        let xml = registers::target_xml(machine);
        Self { machine, addresses: Addresses::Virtual, step: None, stops: Debugger::default(), xml }
    }

    /// The client is gone: nothing stops the machine any more.
    pub fn release(&mut self) {
        self.stops = Debugger::default();
        self.machine.set_debugger(Debugger::default());
        self.addresses = Addresses::Virtual;
        self.step = None;
    }

    /// The machine stops where the client says.
    pub fn arm(&mut self) {
        self.machine.set_debugger(self.stops.clone());
    }

    /// Is CPU `cpu` at a breakpoint, so that it has to be stepped off?
    pub fn is_at_breakpoint(&self, cpu: usize) -> bool {
        let pe = self.machine.board().cpus.get(cpu).map(|cpu| &cpu.pe);
        pe.is_some_and(|pe| self.stops.breakpoints.contains(&pe.pc().0))
    }

    /// The offset in RAM of `address`, as thread `tid` sees it, and how many bytes of its page follow.
    fn place(&self, address: u64, tid: Tid) -> Option<(u64, u64)> {
        let pa = match self.addresses {
            Addresses::Physical => Pa(address),
            Addresses::Virtual => self.machine.board().cpus.get(cpu_of(tid))?.pe.probe(Va(address))?,
        };
        let bus = &self.machine.board().bus;
        let offset = pa.0.checked_sub(bus.ram_base().0).filter(|offset| *offset < bus.ram().len())?;
        Some((offset, (PAGE - address % PAGE).min(bus.ram().len() - offset)))
    }
}

/// The thread of a CPU.
pub fn thread(cpu: usize) -> Tid {
    NonZeroUsize::MIN.saturating_add(cpu)
}

/// The CPU of a thread.
pub fn cpu_of(tid: Tid) -> usize {
    tid.get() - 1
}

impl Target for Debuggee<'_> {
    type Arch = Aarch64;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Aarch64, Infallible> {
        BaseOps::MultiThread(self)
    }
    // Breakpoints are the PE's own, in neither memory nor registers.
    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }
    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }
    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl MultiThreadBase for Debuggee<'_> {
    fn read_registers(&mut self, regs: &mut Core, tid: Tid) -> TargetResult<(), Self> {
        *regs = Core::of(self.machine, cpu_of(tid)).ok_or(TargetError::NonFatal)?;
        Ok(())
    }
    fn write_registers(&mut self, regs: &Core, tid: Tid) -> TargetResult<(), Self> {
        regs.write(self.machine, cpu_of(tid)).ok_or(TargetError::NonFatal)
    }
    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }
    /// Of RAM only: reading a device would change it.
    fn read_addrs(&mut self, start: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        let mut done = 0;
        while done < data.len() {
            let Some((offset, room)) = self.place(start.wrapping_add(done as u64), tid) else { break };
            let n = room.min((data.len() - done) as u64) as usize;
            let read = self.machine.board().bus.ram().read_bytes(offset, &mut data[done..done + n]);
            read.ok_or(TargetError::NonFatal)?;
            done += n;
        }
        if done == 0 && !data.is_empty() { Err(TargetError::NonFatal) } else { Ok(done) }
    }
    fn write_addrs(&mut self, start: u64, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        let mut done = 0;
        while done < data.len() {
            let place = self.place(start.wrapping_add(done as u64), tid);
            let (offset, room) = place.ok_or(TargetError::NonFatal)?;
            let n = room.min((data.len() - done) as u64) as usize;
            let written = self.machine.board().bus.ram().write_bytes(offset, &data[done..done + n]);
            written.ok_or(TargetError::NonFatal)?;
            done += n;
        }
        Ok(())
    }
    fn list_active_threads(&mut self, register: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        (0..self.machine.board().cpus.len()).for_each(|cpu| register(thread(cpu)));
        Ok(())
    }
    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }
    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl SingleRegisterAccess<Tid> for Debuggee<'_> {
    fn read_register(&mut self, tid: Tid, id: Id, buf: &mut [u8]) -> TargetResult<usize, Self> {
        let bytes = match id {
            Id::Core(n) => Core::of(self.machine, cpu_of(tid)).and_then(|core| core.read_one(n)),
            Id::System(reg) => {
                let cpu = self.machine.board().cpus.get(cpu_of(tid));
                cpu.and_then(|cpu| cpu.pe.inspect(reg)).map(|value| value.to_le_bytes().to_vec())
            }
        };
        let bytes = bytes.filter(|bytes| bytes.len() <= buf.len()).ok_or(TargetError::NonFatal)?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
    fn write_register(&mut self, tid: Tid, id: Id, value: &[u8]) -> TargetResult<(), Self> {
        let cpu = cpu_of(tid);
        let written = match id {
            Id::Core(n) => Core::of(self.machine, cpu)
                .and_then(|core| core.with_one(n, value))
                .and_then(|core| core.write(self.machine, cpu)),
            Id::System(reg) => {
                let value = value.try_into().map(u64::from_le_bytes).ok();
                let pe = self.machine.pe_mut(cpu);
                pe.zip(value).and_then(|(pe, value)| pe.set_system_register(reg, value))
            }
        };
        written.ok_or(TargetError::NonFatal)
    }
}

/// All CPUs always run on together, in the machine's order: a step says only when to stop.
impl MultiThreadResume for Debuggee<'_> {
    fn resume(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.step = None;
        Ok(())
    }
    fn set_resume_action_continue(&mut self, _: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        Ok(())
    }
    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }
    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }
}

/// A client may ask that the other CPUs stand still. They do not: the order of turns is the machine's.
impl MultiThreadSchedulerLocking for Debuggee<'_> {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl MultiThreadSingleStep for Debuggee<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.step = Some(cpu_of(tid));
        Ok(())
    }
}

impl ThreadExtraInfo for Debuggee<'_> {
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Infallible> {
        let Some(cpu) = self.machine.board().cpus.get(cpu_of(tid)) else { return Ok(0) };
        let state = match cpu.state {
            CpuState::Off => "off",
            CpuState::Running => "running",
            CpuState::Sleeping => "asleep",
            CpuState::Waiting => "in WFE",
        };
        let text = format!("CPU {} EL{} {state}", cpu_of(tid), cpu.pe.pstate().el as u8);
        let n = text.len().min(buf.len());
        buf[..n].copy_from_slice(&text.as_bytes()[..n]);
        Ok(n)
    }
}

impl Breakpoints for Debuggee<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }
    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }
    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for Debuggee<'_> {
    fn add_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        if !addr.is_multiple_of(4) {
            return Ok(false);
        }
        self.stops.breakpoints.insert(addr);
        Ok(true)
    }
    fn remove_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.stops.breakpoints.remove(&addr))
    }
}

impl HwBreakpoint for Debuggee<'_> {
    fn add_hw_breakpoint(&mut self, addr: u64, kind: usize) -> TargetResult<bool, Self> {
        self.add_sw_breakpoint(addr, kind)
    }
    fn remove_hw_breakpoint(&mut self, addr: u64, kind: usize) -> TargetResult<bool, Self> {
        self.remove_sw_breakpoint(addr, kind)
    }
}

fn watch(va: u64, bytes: u64, kind: WatchKind) -> DebuggerWatch {
    let watched = match kind {
        WatchKind::Write => Watched::Writes,
        WatchKind::Read => Watched::Reads,
        WatchKind::ReadWrite => Watched::Both,
    };
    DebuggerWatch { va, bytes, watched }
}

impl HwWatchpoint for Debuggee<'_> {
    fn add_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        if len == 0 || self.stops.watchpoints.len() >= 64 {
            return Ok(false);
        }
        self.stops.watchpoints.push(watch(addr, len, kind));
        Ok(true)
    }
    fn remove_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let wanted = watch(addr, len, kind);
        let found = self.stops.watchpoints.iter().position(|watch| *watch == wanted);
        Ok(found.map(|at| self.stops.watchpoints.remove(at)).is_some())
    }
}

impl TargetDescriptionXmlOverride for Debuggee<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let rest = self.xml.as_bytes().get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or(&[]);
        let n = rest.len().min(length).min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}
