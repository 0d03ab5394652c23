//! The firmware that the board stands in for: PSCI 1.1 (Arm DEN 0022), SMCCC 1.1 (DEN 0028) and TRNG 1.0 (DEN 0098).
//!
//! Logic only: [`Firmware::call`] looks at the CPUs through [`Cpus`] and says what the machine is to do. Whatever a
//! guest passes, the answer is a value.

use crate::entropy::Entropy;

#[cfg(test)]
mod tests;

/// Function identifiers. Those with an SMC64 form have it at the same number with bit 30 set ([`SMC64`]).
mod id {
    pub const SMCCC_VERSION: u32 = 0x8000_0000;
    pub const SMCCC_ARCH_FEATURES: u32 = 0x8000_0001;
    pub const PSCI_VERSION: u32 = 0x8400_0000;
    pub const CPU_SUSPEND: u32 = 0x8400_0001;
    pub const CPU_OFF: u32 = 0x8400_0002;
    pub const CPU_ON: u32 = 0x8400_0003;
    pub const AFFINITY_INFO: u32 = 0x8400_0004;
    pub const MIGRATE_INFO_TYPE: u32 = 0x8400_0006;
    pub const SYSTEM_OFF: u32 = 0x8400_0008;
    pub const SYSTEM_RESET: u32 = 0x8400_0009;
    pub const PSCI_FEATURES: u32 = 0x8400_000a;
    pub const SYSTEM_RESET2: u32 = 0x8400_0012;
    pub const TRNG_VERSION: u32 = 0x8400_0050;
    pub const TRNG_FEATURES: u32 = 0x8400_0051;
    pub const TRNG_GET_UUID: u32 = 0x8400_0052;
    pub const TRNG_RND: u32 = 0x8400_0053;
}

/// The bit of a function identifier that says that its arguments have 64 bits.
const SMC64: u32 = 1 << 30;

/// Return codes of PSCI. TRNG and SMCCC have the first two in common with it.
mod code {
    pub const SUCCESS: i64 = 0;
    pub const NOT_SUPPORTED: i64 = -1;
    pub const INVALID_PARAMETERS: i64 = -2;
    pub const ALREADY_ON: i64 = -4;
    pub const ON_PENDING: i64 = -5;
    pub const INVALID_ADDRESS: i64 = -9;
}

/// Major version in the upper half, minor in the lower.
const VERSION_1_1: i64 = 0x1_0001;
const TRNG_VERSION_1_0: i64 = 0x1_0000;

/// MIGRATE_INFO_TYPE: there is no trusted OS, or it needs no migration.
const MIGRATION_NOT_REQUIRED: i64 = 2;

/// Is a CPU running?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// It runs or sleeps.
    On,
    /// It is off.
    Off,
    /// It was asked to start and has not yet.
    Pending,
}

/// What the firmware must know of the machine.
pub trait Cpus {
    /// How many CPUs there are.
    fn count(&self) -> usize;
    /// The affinity of CPU `index`, less than [`Cpus::count`].
    fn affinity(&self, index: usize) -> u64;
    /// The state of CPU `index`, less than [`Cpus::count`].
    fn power(&self, index: usize) -> Power;
    /// Is physical address `pa` in RAM?
    fn is_ram(&self, pa: u64) -> bool;
}

/// What a call makes the machine do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Write X0 to X3 of the caller and go on.
    Return([u64; 4]),
    /// SYSTEM_OFF.
    PowerOff,
    /// SYSTEM_RESET or SYSTEM_RESET2.
    Reset,
    /// CPU_OFF: the caller stops.
    CpuOff,
    /// CPU_ON: start `cpu`, which is off, at EL1 with the MMU off, PC = `entry`, X0 = `context`;
    /// the caller's X0 becomes 0.
    CpuOn {
        /// Index of the CPU to start.
        cpu: usize,
        /// Its first instruction, a physical address in RAM.
        entry: u64,
        /// Its X0.
        context: u64,
    },
    /// CPU_SUSPEND to standby: the caller waits as in WFI, then goes on with X0 = 0.
    Standby,
    /// CPU_SUSPEND to powerdown: the caller waits as in WFI, then starts as after CPU_ON.
    Suspend {
        /// Its first instruction afterwards, a physical address in RAM.
        entry: u64,
        /// Its X0 afterwards.
        context: u64,
    },
}

impl Outcome {
    const fn result(x0: i64) -> Self {
        Self::Return([x0 as u64, 0, 0, 0])
    }
}

/// The firmware's state: where its random numbers are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Firmware {
    trng: Entropy,
}

snapshot::persist_fields!(Firmware { trng });

/// A function and how wide its arguments are.
#[derive(Clone, Copy)]
struct Function {
    /// As in [`id`], without [`SMC64`].
    id: u32,
    width: Width,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    W32,
    W64,
}

impl Function {
    /// The function with identifier `word`, if this firmware has it.
    fn find(word: u32) -> Option<Self> {
        use id::*;
        let (id, width) = if word & SMC64 == 0 { (word, Width::W32) } else { (word & !SMC64, Width::W64) };
        let widest = match id {
            CPU_SUSPEND | CPU_ON | AFFINITY_INFO | SYSTEM_RESET2 | TRNG_RND => Width::W64,
            SMCCC_VERSION | SMCCC_ARCH_FEATURES | PSCI_VERSION | CPU_OFF | MIGRATE_INFO_TYPE | SYSTEM_OFF
            | SYSTEM_RESET | PSCI_FEATURES | TRNG_VERSION | TRNG_FEATURES | TRNG_GET_UUID => Width::W32,
            _ => return None,
        };
        (width == Width::W32 || widest == Width::W64).then_some(Self { id, width })
    }

    fn is_trng(self) -> bool {
        (id::TRNG_VERSION..=id::TRNG_RND).contains(&self.id)
    }
    fn is_smccc(self) -> bool {
        self.id <= id::SMCCC_ARCH_FEATURES
    }
}

impl Firmware {
    /// The firmware of a machine with this seed.
    pub fn new(seed: u64) -> Self {
        Self { trng: Entropy::new(seed, "trng") }
    }

    /// A call by HVC or SMC with `args` in X0 to X3. Functions that are not there return NOT_SUPPORTED.
    pub fn call(&mut self, cpus: &impl Cpus, args: [u64; 4]) -> Outcome {
        let Some(function) = Function::find(args[0] as u32) else { return Outcome::result(code::NOT_SUPPORTED) };
        let [_, a, b, c] = match function.width {
            Width::W32 => args.map(|arg| arg & 0xffff_ffff),
            Width::W64 => args,
        };
        match function.id {
            id::SMCCC_VERSION | id::PSCI_VERSION => Outcome::result(VERSION_1_1),
            id::SMCCC_ARCH_FEATURES => Outcome::result(arch_features(a as u32)),
            id::CPU_SUSPEND => suspend(cpus, a, b, c),
            id::CPU_OFF => Outcome::CpuOff,
            id::CPU_ON => cpu_on(cpus, a, b, c),
            id::AFFINITY_INFO => Outcome::result(affinity_info(cpus, a, b)),
            id::MIGRATE_INFO_TYPE => Outcome::result(MIGRATION_NOT_REQUIRED),
            id::SYSTEM_OFF => Outcome::PowerOff,
            id::SYSTEM_RESET => Outcome::Reset,
            id::SYSTEM_RESET2 => reset2(a),
            id::PSCI_FEATURES => Outcome::result(psci_features(a as u32)),
            id::TRNG_VERSION => Outcome::result(TRNG_VERSION_1_0),
            id::TRNG_FEATURES => Outcome::result(trng_features(a as u32)),
            // An arbitrary UUID (version 4): it names this implementation.
            id::TRNG_GET_UUID => Outcome::Return([0x6d61_7601, 0x4265_6172, 0x8e63_6c61, 0x5ea1_6b65]),
            _ => self.random(function.width, a),
        }
    }

    /// TRNG_RND: `bits` bits, the lowest in X3.
    fn random(&mut self, width: Width, bits: u64) -> Outcome {
        let unit = match width {
            Width::W32 => 32,
            Width::W64 => 64,
        };
        if bits == 0 || bits > 3 * unit {
            return Outcome::result(code::INVALID_PARAMETERS);
        }
        let mut word = |place: u64| match bits.saturating_sub(place * unit).min(unit) {
            0 => 0,
            wanted => self.trng.next_u64() >> (64 - wanted),
        };
        let (low, middle, high) = (word(0), word(1), word(2));
        Outcome::Return([code::SUCCESS as u64, high, middle, low])
    }
}

/// SMCCC_ARCH_FEATURES. SMCCC_ARCH_WORKAROUND_1 to 3 are not offered: nothing speculates here, so there is nothing to
/// work around. (A kernel on a CPU without FEAT_CSV2 then reports itself vulnerable, as it does on hardware with old
/// firmware.)
fn arch_features(word: u32) -> i64 {
    match Function::find(word) {
        Some(function) if function.is_smccc() => code::SUCCESS,
        _ => code::NOT_SUPPORTED,
    }
}

/// PSCI_FEATURES. For CPU_SUSPEND the flags are 0: the original format of the power state, no OS-initiated mode.
fn psci_features(word: u32) -> i64 {
    match Function::find(word) {
        Some(function) if !function.is_trng() && function.id != id::SMCCC_ARCH_FEATURES => code::SUCCESS,
        _ => code::NOT_SUPPORTED,
    }
}

fn trng_features(word: u32) -> i64 {
    match Function::find(word) {
        Some(function) if function.is_trng() => code::SUCCESS,
        _ => code::NOT_SUPPORTED,
    }
}

fn is_entry(cpus: &impl Cpus, entry: u64) -> bool {
    entry.is_multiple_of(4) && cpus.is_ram(entry)
}

fn cpu_on(cpus: &impl Cpus, target: u64, entry: u64, context: u64) -> Outcome {
    // Bits other than the affinity must be zero.
    let Some(cpu) = (0..cpus.count()).find(|cpu| cpus.affinity(*cpu) == target) else {
        return Outcome::result(code::INVALID_PARAMETERS);
    };
    match cpus.power(cpu) {
        Power::On => Outcome::result(code::ALREADY_ON),
        Power::Pending => Outcome::result(code::ON_PENDING),
        Power::Off if !is_entry(cpus, entry) => Outcome::result(code::INVALID_ADDRESS),
        Power::Off => Outcome::CpuOn { cpu, entry, context },
    }
}

/// CPU_SUSPEND with a power state in the original format: \[31:26\] and \[23:17\] zero, \[25:24\] the level, \[16\] the
/// type. The level is taken as the deepest allowed; only the caller itself is suspended.
fn suspend(cpus: &impl Cpus, state: u64, entry: u64, context: u64) -> Outcome {
    const RESERVED: u64 = !0x0301_ffff;
    const POWERDOWN: u64 = 1 << 16;
    if state & RESERVED != 0 {
        Outcome::result(code::INVALID_PARAMETERS)
    } else if state & POWERDOWN == 0 {
        Outcome::Standby
    } else if is_entry(cpus, entry) {
        Outcome::Suspend { entry, context }
    } else {
        Outcome::result(code::INVALID_ADDRESS)
    }
}

/// AFFINITY_INFO: 0 where a CPU of the named group is on, 2 where one is about to be, else 1.
fn affinity_info(cpus: &impl Cpus, target: u64, lowest_level: u64) -> i64 {
    const ON: i64 = 0;
    const OFF: i64 = 1;
    const PENDING: i64 = 2;
    // Affinity levels below `lowest_level` are ignored. Aff3 is not next to Aff2 in the register.
    let mask = match lowest_level {
        0 => 0xff_00ff_ffff,
        1 => 0xff_00ff_ff00,
        2 => 0xff_00ff_0000,
        3 => 0xff_0000_0000,
        _ => return code::INVALID_PARAMETERS,
    };
    let group = (0..cpus.count()).filter(|cpu| cpus.affinity(*cpu) & mask == target & mask);
    let states: Vec<Power> = group.map(|cpu| cpus.power(cpu)).collect();
    if states.is_empty() || target & !0xff_00ff_ffff != 0 {
        code::INVALID_PARAMETERS
    } else if states.contains(&Power::On) {
        ON
    } else if states.contains(&Power::Pending) {
        PENDING
    } else {
        OFF
    }
}

/// SYSTEM_RESET2: type 0 is SYSTEM_WARM_RESET; there are no others.
fn reset2(kind: u64) -> Outcome {
    if kind == 0 { Outcome::Reset } else { Outcome::result(code::INVALID_PARAMETERS) }
}
