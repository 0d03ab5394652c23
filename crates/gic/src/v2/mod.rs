//! A GICv2 without the Security Extensions: a distributor and memory-mapped CPU interfaces for up to eight CPUs (Arm IHI
//! 0048), and virtual ones (`GICH_*`, `GICV_*`), whose state and arithmetic are those of [`crate::virtual_interface`].

mod cpu_interface;
mod distributor;
mod frame;
pub mod spec;
mod state;
mod virtual_control;
mod virtual_cpu;

use std::sync::{Arc, Mutex};

use arch::sysreg::Enc;
use bus::{CpuInterface, CpuLines, IrqSink, Level};
use snapshot::{Codec, Invalid};

pub use distributor::Distributor as DistributorV2;
pub use frame::Frame as FrameV2;

use crate::GicError;
use crate::spec::{MAX_SPIS, PRIVATE, SGIS};
use state::State;

/// A handle on the controller; clones are the same controller.
#[derive(Clone)]
pub struct GicV2(Arc<Mutex<State>>);

impl GicV2 {
    /// Most CPUs.
    pub const MAX_PES: usize = spec::MAX_PES;
    /// Size of each of its windows in bytes.
    pub const WINDOW: u64 = spec::WINDOW;

    /// Makes a controller in its reset state, for the CPUs that these wires lead to.
    pub fn new(wires: Vec<Arc<CpuLines>>, spis: u32) -> Result<Self, GicError> {
        if wires.is_empty() || wires.len() > spec::MAX_PES {
            return Err(GicError::PesOfV2(wires.len()));
        }
        if spis > MAX_SPIS {
            return Err(GicError::Spis(spis));
        }
        Ok(Self(Arc::new(Mutex::new(State::new(wires, spis)))))
    }

    /// The distributor's device.
    pub fn distributor(&self) -> DistributorV2 {
        distributor::Distributor(self.clone())
    }

    /// The device of the CPU interfaces.
    pub fn cpu_interfaces(&self) -> FrameV2 {
        FrameV2::new(self, &cpu_interface::REGISTERS)
    }

    /// The device of the virtual interface control registers.
    pub fn virtual_control(&self) -> FrameV2 {
        FrameV2::new(self, &virtual_control::REGISTERS)
    }

    /// The device of the virtual CPU interfaces.
    pub fn virtual_cpu_interfaces(&self) -> FrameV2 {
        FrameV2::new(self, &virtual_cpu::REGISTERS)
    }

    /// Runs one operation on the state and settles it.
    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock().expect("no holder panics");
        let result = f(&mut state);
        state.settle();
        result
    }

    /// The same for CPU `cpu`; `None` where there is none.
    fn with_pe<T>(&self, cpu: usize, f: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.with(|state| (cpu < state.pes.len()).then(|| f(state)))
    }

    /// Saves or loads everything. What was refused is not looked at.
    fn persist(&self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut state = self.0.lock().expect("no holder panics");
        state.persist(codec)?;
        state.settle();
        Ok(())
    }

    /// Drives a wire, if there is one, and it is not at this level already.
    fn drive(&self, cpu: usize, intid: u32, level: Level) {
        let mut state = self.0.lock().expect("no holder panics");
        if let Some((bank, n)) = state.bank(cpu, intid)
            && bank.line >> n & 1 != u32::from(level == Level::High)
        {
            bank.drive(1 << n, level);
            state.settle();
        }
    }
}

impl IrqSink for GicV2 {
    fn set_spi(&self, intid: u32, level: Level) {
        if intid >= PRIVATE {
            self.drive(0, intid, level);
        }
    }
}

/// A GICv2 has no system registers.
impl CpuInterface for GicV2 {
    fn read(&self, _: usize, _: Enc) -> Option<u64> {
        None
    }
    fn write(&self, _: usize, _: Enc, _: u64) -> Option<()> {
        None
    }
    fn list_registers_in_use(&self, cpu: usize) -> u8 {
        self.with_pe(cpu, |state| state.pes[cpu].virtual_interface.in_use()).unwrap_or(0)
    }
    fn set_ppi(&self, cpu: usize, intid: u32, level: Level) {
        if (SGIS..PRIVATE).contains(&intid) {
            self.drive(cpu, intid, level);
        }
    }
}
