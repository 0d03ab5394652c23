//! A GICv3: distributor, redistributors and the system-register CPU interface, with one security state
//! (`GICD_CTLR.DS` = 1) and affinity routing always on, for up to 512 PEs; with LPIs and an ITS if it is given memory.
//!
//! Modules: [`spec`] holds the programmer's model as data, `state` the state and its one consistency rule,
//! `priority` the arithmetic of priorities, and `distributor`, `redistributor` and `cpu_interface` the registers of
//! each part, `virtual_interface` the list registers and what a guest sees; `lpi` the LPIs of a redistributor, `its` what
//! turns messages into LPIs. [`GicV2`] is a GICv2, in `v2`, and [`Controller`] either.

use core::ops::Range;
use std::sync::{Arc, Mutex};

use arch::gic::VirtualInterface;
use arch::policy::Policy;
use arch::sysreg::Enc;
use bus::{CpuInterface, CpuLines, GuestMemory, IrqSink, Level};
use thiserror::Error;

mod controller;
mod cpu_interface;
mod distributor;
mod its;
mod lpi;
mod priority;
mod redistributor;
pub mod spec;
mod state;
#[cfg(test)]
mod tests;
mod v2;
mod virtual_interface;

pub use controller::Controller;
pub use distributor::Distributor;
pub use its::ItsFrames;
pub use redistributor::Redistributors;
pub use state::Sleep;
pub use v2::{DistributorV2, FrameV2, GicV2};

use spec::{MAX_PES, MAX_SPIS, PRIVATE, SGIS};
use state::{Interface, State};

/// A GIC cannot be made as asked.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum GicError {
    /// No PE, or too many.
    #[error("a GIC serves 1 to {MAX_PES} PEs, not {0}")]
    Pes(usize),
    /// More CPUs than a GICv2 has.
    #[error("a GICv2 serves 1 to {max} CPUs, not {0}", max = v2::spec::MAX_PES)]
    PesOfV2(usize),
    /// Too many SPIs.
    #[error("a GIC has at most {MAX_SPIS} shared peripheral interrupts, not {0}")]
    Spis(u32),
    /// Not one set of wires a PE.
    #[error("{pes} PEs but wires for {wires}")]
    Wires {
        /// PEs.
        pes: usize,
        /// Sets of wires.
        wires: usize,
    },
    /// Not one virtual CPU interface a PE.
    #[error("{pes} PEs but {interfaces} virtual CPU interfaces")]
    Interfaces {
        /// PEs.
        pes: usize,
        /// Virtual CPU interfaces.
        interfaces: usize,
    },
    /// Two PEs have one affinity.
    #[error("two PEs have affinity {0:#x}")]
    Affinity(u64),
}

/// What a GIC is made of.
pub struct Config {
    /// Affinity of each PE, by PE index, as in `MPIDR_EL1`: Aff3 in bits \[39:32\], Aff2 to Aff0 in \[23:0\]. Other
    /// bits are ignored.
    pub affinities: Vec<u64>,
    /// Number of SPIs, at most 988; rounded up to a multiple of 32 as far as INTIDs go.
    pub spis: u32,
    /// The wires of each PE, by PE index.
    pub wires: Vec<Arc<CpuLines>>,
    /// What the virtual CPU interface of each PE is like, by PE index.
    pub interfaces: Vec<VirtualInterface>,
    /// What happens where software misuses a CPU interface.
    pub policy: Policy,
    /// What `GICR_WAKER` says at power-on. Reset is [`Sleep::Asleep`]: nothing is forwarded until software wakes the
    /// redistributor. A board that starts a kernel in the firmware's stead hands it over [`Sleep::Awake`].
    pub sleep: Sleep,
    /// Guest memory, if there are to be LPIs and an ITS, whose tables are there.
    pub memory: Option<GuestMemory>,
}

impl Config {
    /// The number of SPIs of the `virt` board.
    pub const VIRT_SPIS: u32 = 256 - PRIVATE;
}

/// A handle on the controller; clones are the same controller.
#[derive(Clone)]
pub struct Gic(Arc<Shared>);

struct Shared {
    pes: usize,
    state: Mutex<State>,
}

impl Gic {
    /// Makes a controller in its reset state.
    pub fn new(config: Config) -> Result<Self, GicError> {
        let Config { affinities, spis, wires, interfaces, policy, sleep, memory } = config;
        let pes = affinities.len();
        if pes == 0 || pes > MAX_PES {
            return Err(GicError::Pes(pes));
        }
        if wires.len() != pes {
            return Err(GicError::Wires { pes, wires: wires.len() });
        }
        if interfaces.len() != pes {
            return Err(GicError::Interfaces { pes, interfaces: interfaces.len() });
        }
        if spis > MAX_SPIS {
            return Err(GicError::Spis(spis));
        }
        let packed: Vec<u32> = affinities.iter().map(|a| (a >> 8 & 0xff00_0000 | a & 0xff_ffff) as u32).collect();
        let mut sorted = packed.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            let a = u64::from(twice[0]);
            return Err(GicError::Affinity((a & 0xff00_0000) << 8 | a & 0xff_ffff));
        }
        let parts = wires.into_iter().zip(interfaces).collect();
        let state = State::new(&packed, spis, parts, sleep, policy, memory);
        Ok(Self(Arc::new(Shared { pes, state: Mutex::new(state) })))
    }

    /// The distributor's device, for a window of [`Distributor::LEN`] bytes.
    pub fn distributor(&self) -> Distributor {
        Distributor::new(self.clone())
    }

    /// The device of one contiguous region of redistributors, those of the PEs in `pes` (cut to the PEs there are),
    /// for a window of [`Redistributors::window`] bytes.
    pub fn redistributors(&self, pes: Range<usize>) -> Redistributors {
        Redistributors::new(self.clone(), pes.start.min(self.0.pes)..pes.end.min(self.0.pes))
    }

    /// The ITS's device, for a window of [`ItsFrames::LEN`] bytes. Where there is none it does nothing.
    pub fn its(&self) -> ItsFrames {
        ItsFrames::new(self.clone())
    }

    /// Goes on with commands and tables that wait, in the round that begins at `now` (nanoseconds).
    pub fn work(&self, now: u64) {
        self.with(|state| state.work(now));
    }

    /// Does anything wait for [`Gic::work`]?
    pub fn has_work(&self) -> bool {
        self.0.state.lock().expect("no holder panics").has_work()
    }

    /// Resets the CPU interface of PE `cpu`, as a PE's warm reset does; its redistributor keeps its state.
    pub fn reset_interface(&self, cpu: usize) {
        self.with_pe(cpu, |state| {
            state.pes[cpu].interface = Interface::new();
            virtual_interface::reset(state, cpu);
            state.touch(cpu);
            state.choose_takers();
        });
    }

    /// Does PE `cpu`'s redistributor, told by `GICR_WAKER` that its PE sleeps, ask to wake it? For PSCI CPU_SUSPEND:
    /// a guest may have put the redistributor to sleep before, and then no wire is driven.
    pub fn wake_request(&self, cpu: usize) -> bool {
        self.with_pe(cpu, |state| state.wake_request(cpu)).unwrap_or(false)
    }

    /// Runs one operation on the state and settles it.
    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.state.lock().expect("no holder panics");
        let result = f(&mut state);
        state.settle();
        result
    }

    /// As [`Gic::with`]; `None` where there is no PE `cpu`.
    fn with_pe<T>(&self, cpu: usize, f: impl FnOnce(&mut State) -> T) -> Option<T> {
        (cpu < self.0.pes).then(|| self.with(f))
    }
}

impl IrqSink for Gic {
    /// A board that wires a device to an SPI that does not exist gets no interrupt from it.
    fn set_spi(&self, intid: u32, level: Level) {
        if intid >= PRIVATE {
            self.with(|state| cpu_interface::change(state, 0, intid, |bank, n| bank.drive(1 << n, level)));
        }
    }
}

impl CpuInterface for Gic {
    fn read(&self, cpu: usize, reg: Enc) -> Option<u64> {
        self.with_pe(cpu, |state| cpu_interface::read(state, cpu, reg)).flatten()
    }
    fn write(&self, cpu: usize, reg: Enc, value: u64) -> Option<()> {
        self.with_pe(cpu, |state| cpu_interface::write(state, cpu, reg, value)).flatten()
    }
    fn read_virtual(&self, cpu: usize, reg: Enc) -> Option<u64> {
        self.with_pe(cpu, |state| virtual_interface::read(state, cpu, reg)).flatten()
    }
    fn write_virtual(&self, cpu: usize, reg: Enc, value: u64) -> Option<()> {
        self.with_pe(cpu, |state| virtual_interface::write(state, cpu, reg, value)).flatten()
    }
    fn read_hypervisor(&self, cpu: usize, reg: Enc) -> Option<u64> {
        self.with_pe(cpu, |state| virtual_interface::read_hypervisor(state, cpu, reg)).flatten()
    }
    fn write_hypervisor(&self, cpu: usize, reg: Enc, value: u64) -> Option<()> {
        self.with_pe(cpu, |state| virtual_interface::write_hypervisor(state, cpu, reg, value)).flatten()
    }
    fn list_registers_in_use(&self, cpu: usize) -> u8 {
        self.with_pe(cpu, |state| state.pes[cpu].virtual_interface.in_use()).unwrap_or(0)
    }
    fn set_ppi(&self, cpu: usize, intid: u32, level: Level) {
        if (SGIS..PRIVATE).contains(&intid) {
            self.with_pe(cpu, |state| {
                // Timers repeat the level they already drive; that changes nothing.
                if state.pes[cpu].bank.line >> intid & 1 != u32::from(level == Level::High) {
                    cpu_interface::change(state, cpu, intid, |bank, n| bank.drive(1 << n, level));
                }
            });
        }
    }
}
