//! What the kernel may use or must work around, decided from all CPUs.

use arch::sysreg::Reg::{self, *};

use super::errata::{BBM_NO_ABORT, ERRATA, Erratum};
use super::field::{IdField, Strictness, Visibility};
use super::midr::is_in;
use super::registers::{Values, known};
use super::table::FIELDS;

/// Whose word decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// The boot CPU's: it is used before there are others. Every other must have it as well.
    Boot,
    /// That of all CPUs.
    System,
}

/// Something that the kernel may use. The number is the capability's bit, and that of its alternatives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Capability {
    Pan,
    Vhe,
    Asid16,
    Lse,
    Idst,
    Mte,
    Mte3,
    TlbiRange,
    Epan,
    Pauth,
    Bti,
    PauthGeneric,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct CapabilityInfo {
    /// Which.
    pub capability: Capability,
    /// Whose word decides.
    pub scope: Scope,
    /// It is there if one of the fields has at least that value.
    pub fields: &'static [(Reg, u8, i64)],
}

/// All of them, in the order of [`Capability`].
pub static CAPABILITIES: &[CapabilityInfo] = &[
    CapabilityInfo { capability: Capability::Pan, scope: Scope::Boot, fields: &[(ID_AA64MMFR1_EL1, 20, 1)] },
    CapabilityInfo { capability: Capability::Vhe, scope: Scope::Boot, fields: &[(ID_AA64MMFR1_EL1, 8, 1)] },
    CapabilityInfo { capability: Capability::Asid16, scope: Scope::Boot, fields: &[(ID_AA64MMFR0_EL1, 4, 2)] },
    CapabilityInfo { capability: Capability::Lse, scope: Scope::System, fields: &[(ID_AA64ISAR0_EL1, 20, 2)] },
    CapabilityInfo { capability: Capability::Idst, scope: Scope::System, fields: &[(ID_AA64MMFR2_EL1, 36, 1)] },
    CapabilityInfo { capability: Capability::Mte, scope: Scope::Boot, fields: &[(ID_AA64PFR1_EL1, 8, 2)] },
    CapabilityInfo { capability: Capability::Mte3, scope: Scope::System, fields: &[(ID_AA64PFR1_EL1, 8, 3)] },
    CapabilityInfo { capability: Capability::TlbiRange, scope: Scope::System, fields: &[(ID_AA64ISAR0_EL1, 56, 2)] },
    CapabilityInfo { capability: Capability::Epan, scope: Scope::System, fields: &[(ID_AA64MMFR1_EL1, 20, 3)] },
    CapabilityInfo {
        capability: Capability::Pauth,
        scope: Scope::System,
        fields: &[(ID_AA64ISAR1_EL1, 4, 1), (ID_AA64ISAR1_EL1, 8, 1), (ID_AA64ISAR2_EL1, 12, 1)],
    },
    CapabilityInfo { capability: Capability::Bti, scope: Scope::System, fields: &[(ID_AA64PFR1_EL1, 0, 1)] },
    CapabilityInfo {
        capability: Capability::PauthGeneric,
        scope: Scope::System,
        fields: &[(ID_AA64ISAR1_EL1, 24, 1), (ID_AA64ISAR1_EL1, 28, 1), (ID_AA64ISAR2_EL1, 8, 1)],
    },
];

impl CapabilityInfo {
    /// Do these values have it?
    pub fn is_in(&self, values: &Values) -> bool {
        self.fields.iter().any(|(register, lsb, least)| values.field(known(*register, *lsb)) >= *least)
    }
}

/// How a block's size may be changed (ID_AA64MMFR2_EL1.BBM, less errata, plus what the field does not say).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bbm {
    /// By break-before-make.
    L0,
    /// The Contiguous bit and nT may change freely; no size.
    L1,
    /// At once, and then a TLB conflict abort may come.
    L2Abort,
    /// At once.
    NoAbort,
}

/// One CPU, as the kernel takes it: after boot options.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    /// Its ID registers.
    pub values: Values,
    /// MIDR_EL1.
    pub midr: u64,
    /// Was BBM lowered by an option? Then what is known beside the field does not raise it.
    pub is_bbm_lowered: bool,
}

impl Cpu {
    /// Bits of [`Erratum`].
    pub fn errata(&self) -> u32 {
        let has = |n: &usize| is_in(self.midr, ERRATA[*n].ranges);
        (0..ERRATA.len()).filter(has).fold(0, |bits, n| bits | 1 << n)
    }

    /// Its way of changing sizes.
    pub fn bbm(&self) -> Bbm {
        let level = self.values.field(known(ID_AA64MMFR2_EL1, 52));
        let is_listed = !self.is_bbm_lowered && is_in(self.midr, BBM_NO_ABORT);
        let may_livelock = self.errata() & 1 << Erratum::Bbml2Livelock as u32 != 0;
        match level {
            _ if is_listed => Bbm::NoAbort,
            0 => Bbm::L0,
            1 => Bbm::L1,
            _ if may_livelock => Bbm::L1,
            2 => Bbm::L2Abort,
            _ => Bbm::NoAbort,
        }
    }
}

/// Why a CPU is not taken.
#[derive(Clone, Copy, Debug)]
pub enum Refusal {
    /// It lacks what the kernel uses already.
    Lacks(Capability),
    /// A field is below what was promised.
    Below(&'static IdField, i64, i64),
    /// Changes of block sizes are done in a way that it does not stand.
    Bbm(Bbm, Bbm),
    /// It has an erratum that no other had, so that nothing was done about it.
    Erratum(&'static str),
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Lacks(capability) => write!(f, "it lacks {capability:?}, which the kernel uses"),
            Self::Below(field, promised, has) => {
                write!(f, "{}.{} is {has}, and programs were promised {promised}", field.register.name(), field.name)
            }
            Self::Bbm(promised, has) => write!(f, "it has break-before-make level {has:?}, and {promised:?} is in use"),
            Self::Erratum(name) => write!(f, "it has erratum {name}, which no CPU had when workarounds were chosen"),
        }
    }
}

/// What all CPUs have that came before programs.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// ID registers.
    pub values: Values,
    /// Bits of [`Capability`]s that the boot CPU decided.
    pub boot: u32,
    /// The weakest.
    pub bbm: Bbm,
    /// Bits of [`Erratum`]s that any of them has.
    pub errata: u32,
}

fn boot_bits(values: &Values) -> u32 {
    bits(values, |info| info.scope == Scope::Boot)
}
fn bits(values: &Values, which: impl Fn(&CapabilityInfo) -> bool) -> u32 {
    let wanted = CAPABILITIES.iter().filter(|info| which(info) && info.is_in(values));
    wanted.fold(0, |bits, info| bits | 1 << info.capability as u32)
}
fn lacking(wanted: u32, values: &Values) -> Option<Capability> {
    let is_missing = |info: &&CapabilityInfo| wanted & 1 << info.capability as u32 != 0 && !info.is_in(values);
    CAPABILITIES.iter().find(is_missing).map(|info| info.capability)
}

impl System {
    /// Of the boot CPU alone.
    pub fn new(cpu: &Cpu) -> Self {
        Self { values: cpu.values, boot: boot_bits(&cpu.values), bbm: cpu.bbm(), errata: cpu.errata() }
    }

    /// One more CPU before programs run: the values become what holds for it too. `report` is told of strict fields that
    /// differ.
    pub fn join(&self, cpu: &Cpu, report: &mut dyn FnMut(&'static IdField, i64, i64)) -> Result<Self, Refusal> {
        if let Some(capability) = lacking(self.boot, &cpu.values) {
            return Err(Refusal::Lacks(capability));
        }
        Ok(Self {
            values: self.values.joined(&cpu.values, report),
            boot: self.boot,
            bbm: self.bbm.min(cpu.bbm()),
            errata: self.errata | cpu.errata(),
        })
    }

    /// A CPU that comes when programs have been told: may it be taken?
    pub fn admit(&self, cpu: &Cpu) -> Result<(), Refusal> {
        if let Some(capability) = lacking(self.capabilities(), &cpu.values) {
            return Err(Refusal::Lacks(capability));
        }
        for field in FIELDS {
            let (promised, has) = (self.values.field(field), cpu.values.field(field));
            let matters = field.strictness == Strictness::Strict || field.visibility == Visibility::Visible;
            if matters && field.combine(promised, has) != promised {
                return Err(Refusal::Below(field, promised, has));
            }
        }
        if cpu.bbm() < self.bbm {
            return Err(Refusal::Bbm(self.bbm, cpu.bbm()));
        }
        let new = cpu.errata() & !self.errata;
        if new != 0 {
            return Err(Refusal::Erratum(ERRATA[new.trailing_zeros() as usize].name));
        }
        Ok(())
    }

    /// Bits of all [`Capability`]s that may be used.
    pub fn capabilities(&self) -> u32 {
        self.boot | bits(&self.values, |info| info.scope == Scope::System)
    }

    /// Does any CPU have it?
    pub fn has_erratum(&self, erratum: Erratum) -> bool {
        self.errata & 1 << erratum as u32 != 0
    }

    /// What EL0 is told of the ID space's register at `index`.
    pub fn user(&self, index: usize) -> u64 {
        let mut values = self.values;
        if self.has_erratum(Erratum::SpeculativeSsbs) {
            let ssbs = known(ID_AA64PFR1_EL1, 4);
            values.set_field(ssbs, ssbs.safe);
        }
        values.user(index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::registers::tests::identity;
    use super::*;
    use std::format;

    fn cpu(midr: u64, registers: &[(Reg, u64)]) -> Cpu {
        Cpu { values: Values::of(&identity(registers)), midr, is_bbm_lowered: false }
    }
    const BIG: u64 = 0x410f_d823;
    const LITTLE: u64 = 0x410f_d034;

    #[test]
    fn tables_are_in_the_order_of_their_enums() {
        assert!(CAPABILITIES.iter().enumerate().all(|(n, info)| info.capability as usize == n));
        use hal::patch::capability::{BTI, LSE, MTE, PAN, PAUTH};
        use hal::patch::capability::{DEVICE_LOAD_ACQUIRE, ERRATA as FIRST};
        assert_eq!(DEVICE_LOAD_ACQUIRE, FIRST + Erratum::DeviceLoadAcquire as u32);
        assert_eq!((PAUTH, BTI), (Capability::Pauth as u32, Capability::Bti as u32));
        assert_eq!((PAN, LSE, MTE), (Capability::Pan as u32, Capability::Lse as u32, Capability::Mte as u32));
        assert!(ERRATA.iter().enumerate().all(|(n, info)| info.erratum as usize == n));
    }

    #[test]
    fn early_cpus_lower_late_ones_are_refused() {
        let big = cpu(BIG, &[(ID_AA64ISAR0_EL1, 2 << 20 | 2 << 4), (ID_AA64MMFR2_EL1, 2 << 52)]);
        let little = cpu(LITTLE, &[(ID_AA64ISAR0_EL1, 2 << 4)]);
        let system = System::new(&big);
        assert_eq!((system.capabilities(), system.bbm), (1 << Capability::Lse as u32, Bbm::NoAbort));
        let refusal = system.admit(&little).unwrap_err();
        assert!(format!("{refusal}").contains("Lse"), "{refusal}");

        let mut strict = 0;
        let both = system.join(&little, &mut |_, _, _| strict += 1).unwrap();
        assert_eq!((both.capabilities(), both.bbm, strict), (0, Bbm::L0, 2));
        assert!(both.has_erratum(Erratum::ContextIdrWrite) && !system.has_erratum(Erratum::ContextIdrWrite));
        assert_eq!(both.values.get(ID_AA64ISAR0_EL1), 2 << 4);
        both.admit(&little).unwrap();
        both.admit(&big).unwrap();
    }

    #[test]
    fn a_late_field_below_names_itself() {
        let big = cpu(BIG, &[(ID_AA64ISAR0_EL1, 2 << 4)]);
        let refusal = System::new(&big).admit(&cpu(BIG, &[(ID_AA64ISAR0_EL1, 1 << 4)])).unwrap_err();
        assert_eq!(format!("{refusal}"), "ID_AA64ISAR0_EL1.aes is 1, and programs were promised 2");
        let new_erratum = System::new(&cpu(0x410f_d852, &[])).admit(&cpu(LITTLE, &[])).unwrap_err();
        assert!(matches!(new_erratum, Refusal::Erratum(_)));
    }

    #[test]
    fn what_the_boot_cpu_uses_all_need() {
        let with_pan = cpu(BIG, &[(ID_AA64MMFR1_EL1, 1 << 20)]);
        let system = System::new(&with_pan);
        let refusal = system.join(&cpu(BIG, &[]), &mut |_, _, _| {}).unwrap_err();
        assert!(matches!(refusal, Refusal::Lacks(Capability::Pan)));
    }

    #[test]
    fn levels_of_break_before_make() {
        let level = |midr, bbm: u64| cpu(midr, &[(ID_AA64MMFR2_EL1, bbm << 52)]).bbm();
        assert_eq!((level(0x410f_d822, 2), level(0x410f_d823, 2)), (Bbm::L1, Bbm::NoAbort));
        assert_eq!(
            (level(0xc00f_ac30, 0), level(0x000f_0560, 2), level(0x000f_0560, 3)),
            (Bbm::NoAbort, Bbm::L2Abort, Bbm::NoAbort)
        );
        let lowered = Cpu { is_bbm_lowered: true, ..cpu(0xc00f_ac30, &[]) };
        assert_eq!(lowered.bbm(), Bbm::L0);
    }

    #[test]
    fn ssbs_is_hidden_where_it_does_not_work() {
        let shown = |midr| System::new(&cpu(midr, &[(ID_AA64PFR1_EL1, 0x21)])).user(4 * 8 + 1);
        assert_eq!((shown(0x410f_d493), shown(0x611f_0231)), (1, 0x21));
    }
}
