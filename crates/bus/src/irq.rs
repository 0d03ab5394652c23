//! Interrupt lines between devices, the interrupt controller and the PEs.

use std::sync::atomic::{
    AtomicBool, AtomicU32,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// The level of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Not asserted.
    Low,
    /// Asserted.
    High,
}

impl Level {
    /// `High` where `asserted`.
    #[must_use]
    pub const fn from_bit(asserted: bool) -> Self {
        if asserted { Self::High } else { Self::Low }
    }
}

/// The input side of an interrupt controller.
pub trait IrqSink: Send + Sync {
    /// Sets the level of shared peripheral interrupt `intid` (32 to 1019).
    fn set_spi(&self, intid: u32, level: Level);
}

/// A device's output wire, bound to one SPI.
#[derive(Clone)]
pub struct IrqLine {
    sink: Arc<dyn IrqSink>,
    intid: u32,
}

impl IrqLine {
    /// The wire from a device to SPI `intid` of `sink`.
    #[must_use]
    pub fn new(sink: Arc<dyn IrqSink>, intid: u32) -> Self {
        Self { sink, intid }
    }
    /// Drives the wire.
    pub fn set(&self, level: Level) {
        self.sink.set_spi(self.intid, level);
    }
}

/// The wires from the interrupt controller into one PE. The controller sets them, the PE polls them
/// at instruction boundaries; both see one word.
#[derive(Default, Debug)]
pub struct CpuLines {
    lines: AtomicU32,
    /// The PE's thread is in [`CpuLines::park`], where it has one of its own.
    parked: AtomicBool,
    thread: Mutex<Option<Thread>>,
}

impl CpuLines {
    /// IRQ.
    pub const IRQ: u32 = 1;
    /// FIQ.
    pub const FIQ: u32 = 2;
    /// SError interrupt (edge; the PE clears it when taken).
    pub const SERROR: u32 = 4;
    /// Virtual IRQ.
    pub const VIRQ: u32 = 8;
    /// Virtual FIQ.
    pub const VFIQ: u32 = 16;
    /// An event for WFE (SEV); the PE clears it.
    pub const EVENT: u32 = 32;
    /// `HCR_EL2.VI`, driven by the PE itself.
    pub const HCR_VI: u32 = 128;
    /// `HCR_EL2.VF`, driven by the PE itself.
    pub const HCR_VF: u32 = 256;
    /// `HCR_EL2.VSE`, driven by the PE itself.
    pub const HCR_VSE: u32 = 512;
    /// A guest misused the virtual CPU interface, which reports that (ICH_VTR_EL2.SEIS). The PE turns it into one of the two
    /// below, by its controls.
    pub const SEI: u32 = 1024;
    /// A virtual SError interrupt that the virtual CPU interface generated.
    pub const SEI_VIRTUAL: u32 = 2048;
    /// An SError interrupt that the virtual CPU interface generated and that ICH_HCR_EL2.TSEI takes to EL2.
    pub const SEI_TO_EL2: u32 = 4096;
    /// Something waits in the PE's mailbox (TLB invalidations and the like from other PEs).
    pub const MAIL: u32 = 64;

    /// No interrupt: the PE drives it high once and for all, and unmasks it to leave its loop before the next instruction.
    pub const ATTENTION: u32 = 1 << 31;

    /// All lines.
    #[inline(always)]
    #[must_use]
    pub fn get(&self) -> u32 {
        self.lines.load(Relaxed)
    }
    /// Sets all lines at once, as a snapshot has them.
    pub fn restore(&self, lines: u32) {
        self.lines.store(lines | Self::ATTENTION, Relaxed);
    }
    /// Drives the lines in `mask`. One that rises ends a [`CpuLines::park`].
    pub fn drive(&self, mask: u32, level: Level) {
        match level {
            Level::High => {
                let before = self.lines.fetch_or(mask, SeqCst);
                if before & mask != mask {
                    self.unpark();
                }
            }
            Level::Low => {
                self.lines.fetch_and(!mask, Relaxed);
            }
        }
    }

    /// The calling thread is from here on the one that [`CpuLines::unpark`] wakes.
    pub fn attach_thread(&self) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(std::thread::current());
    }
    /// The attached thread sleeps until a line rises or [`CpuLines::unpark`], or for `limit`, or for no reason; not at all
    /// where `is_over` says so, which is asked after whoever ends the sleep sees that there is one.
    pub fn park(&self, limit: Option<Duration>, is_over: impl FnOnce() -> bool) {
        self.parked.store(true, SeqCst);
        if !is_over() {
            match limit {
                None => std::thread::park(),
                Some(limit) => std::thread::park_timeout(limit),
            }
        }
        self.parked.store(false, SeqCst);
    }
    /// Ends a sleep.
    pub fn unpark(&self) {
        if self.parked.load(SeqCst)
            && let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner)
        {
            thread.unpark();
        }
    }
}

/// The GIC's CPU interface as a PE reaches it: the `ICC_*` (and later `ICH_*`, `ICV_*`) system registers and the
/// private interrupts. The PE has already made the access checks of the architecture (EL, SRE, traps);
/// what remains here is the interface's own behaviour.
pub trait CpuInterface: Send + Sync {
    /// Reads `reg` for PE `cpu`. Reading an acknowledge register acknowledges. `None`: no such register here.
    fn read(&self, cpu: usize, reg: arch::sysreg::Enc) -> Option<u64>;
    /// Writes `reg` for PE `cpu`. `None`: no such register here.
    fn write(&self, cpu: usize, reg: arch::sysreg::Enc, value: u64) -> Option<()>;
    /// Reads the virtual counterpart (`ICV_*`) of `reg` for PE `cpu`. `None`: there is none.
    fn read_virtual(&self, cpu: usize, reg: arch::sysreg::Enc) -> Option<u64> {
        let _ = (cpu, reg);
        None
    }
    /// Writes the virtual counterpart (`ICV_*`) of `reg` for PE `cpu`. `None`: there is none.
    fn write_virtual(&self, cpu: usize, reg: arch::sysreg::Enc, value: u64) -> Option<()> {
        let _ = (cpu, reg, value);
        None
    }
    /// Reads an `ICH_*` register of PE `cpu`. `None`: there is none.
    fn read_hypervisor(&self, cpu: usize, reg: arch::sysreg::Enc) -> Option<u64> {
        let _ = (cpu, reg);
        None
    }
    /// Writes an `ICH_*` register of PE `cpu`. `None`: there is none.
    fn write_hypervisor(&self, cpu: usize, reg: arch::sysreg::Enc, value: u64) -> Option<()> {
        let _ = (cpu, reg, value);
        None
    }
    /// How many list registers of PE `cpu` are in use (their state is not invalid), for statistics.
    fn list_registers_in_use(&self, cpu: usize) -> u8 {
        let _ = cpu;
        0
    }
    /// Drives private peripheral interrupt `intid` (16 to 31) of PE `cpu`.
    fn set_ppi(&self, cpu: usize, intid: u32, level: Level);
}
