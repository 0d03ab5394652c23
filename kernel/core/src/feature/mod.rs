//! What the CPUs can do: what the kernel uses, and what programs are told.
//!
//! `table`: the ID registers' fields · `field`: how a field's values combine · `registers`: values of all CPUs ·
//! `overrides`: boot options · `midr`, `errata`: CPUs by name · `capability`: what may be used, and which CPU is taken ·
//! `hwcap`: AT_HWCAP.
//!
//! The boot CPU begins ([`begin`]); each CPU that comes before programs lowers what is promised; [`finish`] publishes it
//! and is the end of that: a CPU that comes later and has less is refused.

pub mod capability;
pub mod errata;
pub mod field;
pub mod hwcap;
pub mod midr;
pub mod overrides;
pub mod registers;
pub mod table;

use alloc::string::String;
use core::fmt::Write;
use core::sync::atomic::{AtomicU32, Ordering};

use arch::field::midr_el1::{Implementer, PartNum, Revision, Variant};
use hal::log;
use hal::percpu::MAX_CPUS;
use hal::sync::{Once, SpinLock};

use crate::cmdline;
pub use capability::{Bbm, Capability};
use capability::{Cpu, System};
use registers::{Values, known};

static EARLY: SpinLock<Option<System>> = SpinLock::new(None);
static SYSTEM: Once<System> = Once::new();
static CAPABILITIES: AtomicU32 = AtomicU32::new(0);
/// MIDR_EL1 of each CPU, for /proc/cpuinfo; 0: not there.
static MIDRS: [AtomicU32; MAX_CPUS] = [const { AtomicU32::new(0) }; MAX_CPUS];

/// This CPU, with boot options applied. `report`: what was wrong with an option.
fn this_cpu(report: &mut dyn FnMut(&str, overrides::OverrideError)) -> Cpu {
    let identity = hal::ident::identity();
    let mut values = Values::of(&identity);
    let bbm = known(arch::sysreg::Reg::ID_AA64MMFR2_EL1, 52);
    let is_bbm_lowered = cmdline::has("nobbml2") || cmdline::value("id_aa64mmfr2.bbm").is_some();
    for word in cmdline::words() {
        if let Some(Err(error)) = overrides::apply(word, &mut values) {
            report(word, error);
        }
    }
    debug_assert!(bbm.can_be(values.field(bbm)));
    Cpu { values, midr: identity.space[0], is_bbm_lowered }
}

/// The boot CPU's part, before any other CPU starts.
pub fn begin() {
    let cpu = this_cpu(&mut |word, error| log!("vambrace-kernel: {word}: {error}; ignored"));
    MIDRS[0].store(cpu.midr as u32, Ordering::Relaxed);
    *EARLY.lock() = Some(System::new(&cpu));
}

/// Another CPU's part, before it does anything else: false if it cannot be taken, and then it has said why.
pub fn take_this_cpu() -> bool {
    let number = hal::percpu::id();
    let cpu = this_cpu(&mut |_, _| {});
    let result = if let Some(system) = SYSTEM.get() {
        system.admit(&cpu)
    } else {
        let mut early = EARLY.lock();
        let system = early.as_ref().expect("the boot CPU came first");
        let mut differences = 0;
        let joined = system.join(&cpu, &mut |field, before, here| {
            if differences < 4 {
                let register = field.register.name();
                log!("vambrace-kernel: CPU {number}: {register}.{} is {here}, and {before} elsewhere", field.name);
            }
            differences += 1;
        });
        joined.map(|joined| *early = Some(joined))
    };
    match result {
        Ok(()) => MIDRS[number].store(cpu.midr as u32, Ordering::Relaxed),
        Err(refusal) => log!("vambrace-kernel: CPU {number} is refused: {refusal}"),
    }
    result.is_ok()
}

/// All CPUs that come early have come: what they have in common is what programs will be told, and what code is chosen by.
/// Once is enough.
pub fn finish() {
    if SYSTEM.get().is_some() {
        return;
    }
    let system = EARLY.lock().expect("the boot CPU came first");
    let _ = SYSTEM.set(system);
    CAPABILITIES.store(system.capabilities(), Ordering::Relaxed);
    for info in errata::ERRATA.iter().filter(|info| system.has_erratum(info.erratum)) {
        log!("vambrace-kernel: erratum: {}", info.name);
    }
    crate::patch::choose_alternatives();
}

/// May it be used? From [`finish`] on; before, nothing may.
#[inline]
pub fn has(capability: Capability) -> bool {
    meets(capability as u32)
}

/// Is the condition of an alternative met: has every CPU the capability of that number, or, from
/// [`hal::patch::capability::ERRATA`] on, any CPU the erratum? From [`finish`] on.
pub(crate) fn meets(condition: u32) -> bool {
    match condition.checked_sub(hal::patch::capability::ERRATA) {
        None => CAPABILITIES.load(Ordering::Relaxed) & 1 << condition != 0,
        Some(erratum) => SYSTEM.get().is_some_and(|system| system.errata & 1 << erratum != 0),
    }
}

/// What a condition is called.
pub(crate) fn condition_name(condition: u32) -> alloc::string::String {
    match condition.checked_sub(hal::patch::capability::ERRATA) {
        None => alloc::format!("{:?}", capability::CAPABILITIES[condition as usize].capability),
        Some(erratum) => errata::ERRATA[erratum as usize].name.into(),
    }
}

/// How the sizes of blocks may be changed. From [`finish`] on.
pub fn bbm() -> Bbm {
    SYSTEM.get().map_or(Bbm::L0, |system| system.bbm)
}

/// Have all CPUs PMUv3, of the same version? ID_AA64DFR0_EL1.PMUVer: 0 is none, and -1 one of the implementer's own.
pub fn has_monitors() -> bool {
    let version = known(arch::sysreg::Reg::ID_AA64DFR0_EL1, 8);
    SYSTEM.get().is_some_and(|system| !matches!(system.values.field(version), 0 | -1))
}

/// What EL0 is told of the ID space's register at `index` (CRm x 8 + op2).
pub fn user_value(index: usize) -> u64 {
    SYSTEM.get().map_or(0, |system| system.user(index))
}

/// AT_HWCAP.
pub fn hwcap() -> u64 {
    hwcap::of(&user_value, &mut |_| {})[0]
}

/// AT_HWCAP2.
pub fn hwcap2() -> u64 {
    hwcap::of(&user_value, &mut |_| {})[1]
}

/// CPU `cpu`'s lines of /proc/cpuinfo.
pub fn write_cpuinfo(out: &mut String, cpu: usize) {
    let midr = u64::from(MIDRS[cpu].load(Ordering::Relaxed));
    out.push_str("BogoMIPS\t: 100.00\nFeatures\t:");
    hwcap::of(&user_value, &mut |name| {
        let _ = write!(out, " {name}");
    });
    let (variant, revision) = (Variant.get(midr), Revision.get(midr));
    let _ = writeln!(out, "\nCPU implementer\t: {:#04x}\nCPU architecture: 8", Implementer.get(midr));
    let _ = writeln!(out, "CPU variant\t: {variant:#x}\nCPU part\t: {:#05x}", PartNum.get(midr));
    let _ = writeln!(out, "CPU revision\t: {revision}");
}
