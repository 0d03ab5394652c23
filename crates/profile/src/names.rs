//! Names of what is counted.

use arch::El;
use arch::esr::{Ec, Fsc, esr};
use arch::sysreg::{Enc, lookup};
use event::{BarrierKind, WalkCause};

use crate::worlds::{ExitKind, Place, Stage2Access, Stage2Fault, Way};

/// The exception class in `ESR_ELx`, by the manual's name; unallocated ones by number.
pub fn class(esr: u64) -> String {
    let bits = esr::EC.get(esr);
    Ec::from_bits(bits).map_or_else(|| format!("{bits:#04x}"), |ec| format!("{ec:?}"))
}

/// A system register by name, a TLB invalidation by name, or the five numbers as the assembler takes them.
pub fn register(enc: Enc) -> String {
    match lookup(enc) {
        Some(reg) => reg.name().to_owned(),
        None if enc.op0() == 1 && matches!(enc.crn(), 8 | 9) => format!("TLBI {}", tlbi_name(enc)),
        None => generic(enc),
    }
}

fn generic(enc: Enc) -> String {
    format!("S{}_{}_C{}_C{}_{}", enc.op0(), enc.op1(), enc.crn(), enc.crm(), enc.op2())
}

/// `EL0` to `EL3`.
pub fn level(el: El) -> String {
    format!("EL{}", el as u8)
}

/// Where a CPU was: `EL2`, or whose EL1 and EL0.
pub fn place(place: Place) -> String {
    match place {
        Place::Own => "EL2".to_owned(),
        Place::Below(world) if world.stage2 => format!("VMID {}", world.vmid),
        Place::Below(world) => format!("VMID {}, stage 2 off", world.vmid),
    }
}

/// A kind of exit to EL2.
pub fn exit(kind: ExitKind) -> String {
    match kind {
        ExitKind::Irq => "IRQ".to_owned(),
        ExitKind::Fiq => "FIQ".to_owned(),
        ExitKind::SError => "SError".to_owned(),
        ExitKind::Wait(ti) => ["WFI", "WFE", "WFIT", "WFET"][usize::from(ti & 3)].to_owned(),
        ExitKind::Register(enc, _) if enc.op0() == 1 => register(enc),
        ExitKind::Register(enc, Way::Read) => format!("{} read", register(enc)),
        ExitKind::Register(enc, Way::Write) => format!("{} write", register(enc)),
        ExitKind::Stage2(fault) => format!("stage 2 {}", stage2_fault(fault)),
        ExitKind::Class(bits) => class(u64::from(bits) << 26),
    }
}

/// A fault of stage 2, such as `translation level 3, read`.
pub fn stage2_fault(fault: Stage2Fault) -> String {
    let (name, level) = match fault.status {
        Fsc::Translation(level) => ("translation", level),
        Fsc::AccessFlag(level) => ("access flag", level),
        Fsc::Permission(level) => ("permission", level),
        Fsc::AddressSize(level) => ("address size", level),
        // No other status is a stage 2 fault here.
        other => return format!("{other:?}"),
    };
    let access = match fault.access {
        Stage2Access::Read => "read",
        Stage2Access::Write => "write",
        Stage2Access::Fetch => "fetch",
        Stage2Access::Walk => "walk",
        Stage2Access::Maintenance => "maintenance",
    };
    format!("{name} level {}, {access}", level as i8)
}

/// Why a walk was made.
pub fn cause(cause: WalkCause) -> &'static str {
    match cause {
        WalkCause::Read => "read",
        WalkCause::Write => "write",
        WalkCause::Fetch => "fetch",
        WalkCause::Probe => "probe",
    }
}

/// A barrier instruction.
pub fn barrier(kind: BarrierKind) -> &'static str {
    match kind {
        BarrierKind::Dmb => "DMB",
        BarrierKind::Dsb => "DSB",
        BarrierKind::Isb => "ISB",
        BarrierKind::Sb => "SB",
    }
}

/// TLBI operations: (op1, CRm, op2, name). All have op0 1 and CRn 8, or CRn 9 with nXS after the name (FEAT_XS).
/// "TLBI", the Arm Architecture Reference Manual, C5.5.
const TLBI: &[(u16, u16, u16, &str)] = &[
    (0, 1, 0, "VMALLE1OS"),
    (0, 1, 1, "VAE1OS"),
    (0, 1, 2, "ASIDE1OS"),
    (0, 1, 3, "VAAE1OS"),
    (0, 1, 5, "VALE1OS"),
    (0, 1, 7, "VAALE1OS"),
    (0, 2, 1, "RVAE1IS"),
    (0, 2, 3, "RVAAE1IS"),
    (0, 2, 5, "RVALE1IS"),
    (0, 2, 7, "RVAALE1IS"),
    (0, 3, 0, "VMALLE1IS"),
    (0, 3, 1, "VAE1IS"),
    (0, 3, 2, "ASIDE1IS"),
    (0, 3, 3, "VAAE1IS"),
    (0, 3, 5, "VALE1IS"),
    (0, 3, 7, "VAALE1IS"),
    (0, 5, 1, "RVAE1OS"),
    (0, 5, 3, "RVAAE1OS"),
    (0, 5, 5, "RVALE1OS"),
    (0, 5, 7, "RVAALE1OS"),
    (0, 6, 1, "RVAE1"),
    (0, 6, 3, "RVAAE1"),
    (0, 6, 5, "RVALE1"),
    (0, 6, 7, "RVAALE1"),
    (0, 7, 0, "VMALLE1"),
    (0, 7, 1, "VAE1"),
    (0, 7, 2, "ASIDE1"),
    (0, 7, 3, "VAAE1"),
    (0, 7, 5, "VALE1"),
    (0, 7, 7, "VAALE1"),
    (4, 0, 1, "IPAS2E1IS"),
    (4, 0, 2, "RIPAS2E1IS"),
    (4, 0, 5, "IPAS2LE1IS"),
    (4, 0, 6, "RIPAS2LE1IS"),
    (4, 1, 0, "ALLE2OS"),
    (4, 1, 1, "VAE2OS"),
    (4, 1, 4, "ALLE1OS"),
    (4, 1, 5, "VALE2OS"),
    (4, 1, 6, "VMALLS12E1OS"),
    (4, 2, 1, "RVAE2IS"),
    (4, 2, 5, "RVALE2IS"),
    (4, 3, 0, "ALLE2IS"),
    (4, 3, 1, "VAE2IS"),
    (4, 3, 4, "ALLE1IS"),
    (4, 3, 5, "VALE2IS"),
    (4, 3, 6, "VMALLS12E1IS"),
    (4, 4, 0, "IPAS2E1OS"),
    (4, 4, 1, "IPAS2E1"),
    (4, 4, 2, "RIPAS2E1"),
    (4, 4, 3, "RIPAS2E1OS"),
    (4, 4, 4, "IPAS2LE1OS"),
    (4, 4, 5, "IPAS2LE1"),
    (4, 4, 6, "RIPAS2LE1"),
    (4, 4, 7, "RIPAS2LE1OS"),
    (4, 5, 1, "RVAE2OS"),
    (4, 5, 5, "RVALE2OS"),
    (4, 6, 1, "RVAE2"),
    (4, 6, 5, "RVALE2"),
    (4, 7, 0, "ALLE2"),
    (4, 7, 1, "VAE2"),
    (4, 7, 4, "ALLE1"),
    (4, 7, 5, "VALE2"),
    (4, 7, 6, "VMALLS12E1"),
    (6, 1, 0, "ALLE3OS"),
    (6, 1, 1, "VAE3OS"),
    (6, 1, 5, "VALE3OS"),
    (6, 2, 1, "RVAE3IS"),
    (6, 2, 5, "RVALE3IS"),
    (6, 3, 0, "ALLE3IS"),
    (6, 3, 1, "VAE3IS"),
    (6, 3, 5, "VALE3IS"),
    (6, 5, 1, "RVAE3OS"),
    (6, 5, 5, "RVALE3OS"),
    (6, 6, 1, "RVAE3"),
    (6, 6, 5, "RVALE3"),
    (6, 7, 0, "ALLE3"),
    (6, 7, 1, "VAE3"),
    (6, 7, 5, "VALE3"),
];

/// The TLB invalidation that `enc` names, such as `VAE1IS`; by its five numbers where there is none.
pub fn tlbi_name(enc: Enc) -> String {
    let suffix = match (enc.op0(), enc.crn()) {
        (1, 8) => "",
        (1, 9) => "nXS",
        _ => return generic(enc),
    };
    let same = |(op1, crm, op2, _): &&(u16, u16, u16, &str)| (*op1, *crm, *op2) == (enc.op1(), enc.crm(), enc.op2());
    match TLBI.iter().find(same) {
        Some((.., name)) => format!("{name}{suffix}"),
        None => generic(enc),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalidations() {
        // Encodings as binutils assembles them.
        for (enc, name) in [
            (Enc::new(1, 0, 8, 3, 0), "VMALLE1IS"),
            (Enc::new(1, 0, 8, 7, 1), "VAE1"),
            (Enc::new(1, 0, 8, 3, 2), "ASIDE1IS"),
            (Enc::new(1, 0, 8, 2, 1), "RVAE1IS"),
            (Enc::new(1, 0, 9, 3, 5), "VALE1ISnXS"),
            (Enc::new(1, 4, 8, 4, 1), "IPAS2E1"),
            (Enc::new(1, 4, 8, 7, 6), "VMALLS12E1"),
            (Enc::new(1, 6, 8, 7, 0), "ALLE3"),
            (Enc::new(1, 0, 8, 7, 4), "S1_0_C8_C7_4"),
            (Enc::new(3, 0, 8, 7, 0), "S3_0_C8_C7_0"),
        ] {
            assert_eq!(tlbi_name(enc), name);
        }
    }

    #[test]
    fn invalidations_are_listed_once() {
        let mut keys: Vec<_> = TLBI.iter().map(|(op1, crm, op2, _)| (op1, crm, op2)).collect();
        let mut names: Vec<_> = TLBI.iter().map(|(.., name)| name).collect();
        let count = TLBI.len();
        keys.sort_unstable();
        keys.dedup();
        names.sort_unstable();
        names.dedup();
        assert_eq!((keys.len(), names.len()), (count, count));
    }

    #[test]
    fn registers() {
        assert_eq!(register(Enc::new(3, 0, 0, 0, 0)), "MIDR_EL1");
        assert_eq!(register(Enc::new(3, 7, 15, 15, 7)), "S3_7_C15_C15_7");
        assert_eq!((class(0x15 << 26), class(0x25 << 26)), ("Svc".into(), "DataAbort".into()));
        assert_eq!(class(0x3f << 26), "0x3f");
    }
}
