//! The fine-grained traps (FEAT_FGT), which the judge of the system level lacks: each bit, its register or instruction,
//! and what EL2 is told. DDI 0487, the descriptions of HFGRTR_EL2, HFGWTR_EL2, HDFGRTR_EL2, HDFGWTR_EL2 and HFGITR_EL2.

mod guest;

use arch::field::hcr_el2 as hcr;
use arch::sysreg::{Reg, Reg::*};
use arch::trap::{FINE, INSTRUCTIONS, On, Sense, covers};
use guest::{At, EL0T, EL1H, Guest, Way, iss, mrs, msr};

/// EL2's own state: AArch64 below, and nothing of what `max` enables for the lower levels withheld.
const HCR: u64 =
    hcr::RW.mask() | hcr::APK.mask() | hcr::API.mask() | hcr::ATA.mask() | hcr::FIEN.mask() | hcr::EnSCXT.mask();

fn guest(name: &str) -> Guest {
    let mut guest = Guest::new(arch::preset::hardware(name).unwrap().limited_to(&arch::feature::modelled()));
    guest.set(HCR_EL2, HCR);
    // What is enabled by a set bit.
    for reg in [HFGRTR_EL2, HFGWTR_EL2, HDFGRTR_EL2, HDFGWTR_EL2] {
        let enabled = FINE.iter().filter(|f| (f.read == reg || f.write == reg) && f.sense == Sense::Clear);
        guest.set(reg, enabled.fold(0, |bits, f| bits | 1 << f.bit));
    }
    guest.set(CNTHCTL_EL2, 3);
    guest
}

#[test]
fn each_bit_traps_its_registers_and_no_other_bit_does() {
    let mut accesses = 0;
    let mut guest = guest("max");
    for fine in FINE {
        for (way, control) in [(On::Read, fine.read), (On::Write, fine.write)] {
            for reg in Reg::ALL {
                if !fine.regs.contain(reg) || !covers(fine.on, way, reg) || !guest.has(reg) {
                    continue;
                }
                // What is written is what is there.
                guest.set_x(3, guest.get(reg));
                let enc = reg.info().enc;
                let (word, direction) =
                    if way == On::Read { (mrs(enc, 3), Way::Read) } else { (msr(enc, 3), Way::Write) };
                let plain = guest.get(control);
                let all = guest.writable(control);
                // Every bit but this one set the other way.
                let bit = 1u64 << fine.bit;
                let others = !plain & all & !bit | plain & bit;
                guest.set(control, others);
                assert_ne!(guest.run(word, EL1H), At::El2(0x18, iss(enc, 3, direction)), "{} without", reg.name());
                guest.set(control, plain ^ bit);
                assert_eq!(guest.run(word, EL1H), At::El2(0x18, iss(enc, 3, direction)), "{} {way:?}", reg.name());
                guest.set(control, plain);
                accesses += 1;
            }
        }
    }
    assert!(accesses > 150, "{accesses}");
}

#[test]
fn each_bit_of_hfgitr_traps_its_instructions() {
    let mut guest = guest("max");
    guest.set_x(1, guest::DATA);
    for instruction in INSTRUCTIONS {
        let Some(bit) = instruction.fine else { continue };
        let word = msr(instruction.enc, 1);
        guest.set(HFGITR_EL2, guest.writable(HFGITR_EL2) & !(1u64 << bit));
        assert_ne!(guest.run(word, EL1H), At::El2(0x18, iss(instruction.enc, 1, Way::Write)), "{}", instruction.name);
        guest.set(HFGITR_EL2, 1u64 << bit);
        assert_eq!(guest.run(word, EL1H), At::El2(0x18, iss(instruction.enc, 1, Way::Write)), "{}", instruction.name);
    }
}

/// CheckForSVCTrap and CheckForERetTrap. A trapped SVC is to be executed again: ELR_EL2 is its own address.
#[test]
fn svc_and_eret() {
    const SVC: u32 = 0xd400_0001 | 0x1234 << 5;
    let mut guest = guest("max");
    guest.set(HFGITR_EL2, 1 << 53);
    assert_eq!(guest.run(SVC, EL1H), At::El2(0x15, 0x1234));
    assert_eq!(guest.get(ELR_EL2), guest.place());
    assert_eq!(guest.run(SVC, EL0T), At::El1(0x15, 0x1234));
    assert_eq!(guest.get(ELR_EL1), guest.place() + 4);
    guest.set(HFGITR_EL2, 1 << 52);
    assert_eq!(guest.run(SVC, EL0T), At::El2(0x15, 0x1234));
    assert_eq!(guest.run(SVC, EL1H), At::El1(0x15, 0x1234));
    // A host's EL0 is not a guest's.
    guest.set(HCR_EL2, HCR | hcr::E2H.mask() | hcr::TGE.mask());
    assert_eq!(guest.run(SVC, EL0T), At::El2(0x15, 0x1234));
    assert_eq!(guest.get(ELR_EL2), guest.place() + 4);
    guest.set(HCR_EL2, HCR);
    guest.set(HFGITR_EL2, 1 << 51);
    for (word, kind) in [(0xd69f_03e0, 0), (0xd69f_0bff, 2), (0xd69f_0fff, 3)] {
        assert_eq!(guest.run(word, EL1H), At::El2(0x1a, kind));
    }
    // UNDEFINED at EL0 comes first.
    assert_eq!(guest.run(0xd69f_03e0, EL0T), At::El1(0, 0));
}

/// What EL1 traps of EL0 comes before what EL2 does, and UNDEFINED before both.
#[test]
fn priorities() {
    let mut guest = guest("max");
    let ctr = CTR_EL0.info().enc;
    guest.set(HFGRTR_EL2, guest.get(HFGRTR_EL2) | 1 << 14);
    assert_eq!(guest.run(mrs(ctr, 3), EL0T), At::El1(0x18, iss(ctr, 3, Way::Read)));
    guest.set(SCTLR_EL1, guest.get(SCTLR_EL1) | 1 << 15);
    assert_eq!(guest.run(mrs(ctr, 3), EL0T), At::El2(0x18, iss(ctr, 3, Way::Read)));
    // A read-only register written.
    let midr = MIDR_EL1.info().enc;
    guest.set(HFGWTR_EL2, u64::MAX);
    assert_eq!(guest.run(msr(midr, 3), EL1H), At::El1(0, 0));
    // EL2 itself is trapped nowhere.
    guest.set(HFGRTR_EL2, u64::MAX);
    assert_eq!(guest.run(mrs(midr, 3), 0x3c9), At::El2(0x15, 0x7777));
}

/// Without the feature its registers are UNDEFINED at EL2, and nothing is trapped.
#[test]
fn without_the_feature() {
    let mut guest = guest("neoverse-n1");
    assert_eq!(guest.run(mrs(HFGRTR_EL2.info().enc, 3), 0x3c9), At::El2(0, 0));
    assert_eq!(guest.run(mrs(HCRX_EL2.info().enc, 3), 0x3c9), At::El2(0, 0));
    assert_eq!(guest.run(mrs(SCTLR_EL1.info().enc, 3), EL1H), At::El1(0x15, 0x7777));
}

/// MDCR_EL2.TDCC comes with FEAT_FGT.
#[test]
fn the_debug_communications_channel() {
    let mut guest = guest("max");
    let channel = MDCCINT_EL1.info().enc;
    guest.set(MDCR_EL2, 1 << 27);
    assert_eq!(guest.run(mrs(channel, 3), EL1H), At::El2(0x18, iss(channel, 3, Way::Read)));
    assert_eq!(guest.run(mrs(MDSCR_EL1.info().enc, 3), EL1H), At::El1(0x15, 0x7777));
}

/// CNTPOFF_EL2 moves what the lower levels see of the physical counter and their physical timer, with CNTHCTL_EL2.ECV,
/// unless `HCR_EL2.{E2H, TGE}` are both set (CNTHCTL_EL2, field ECV).
#[test]
fn the_physical_offset() {
    const OFFSET: u64 = 1 << 40;
    let mut guest = guest("max");
    let count = CNTPCT_EL0.info().enc;
    guest.set(CNTPOFF_EL2, OFFSET);
    assert_eq!(guest.run(mrs(count, 3), EL1H), At::El1(0x15, 0x7777));
    assert!(guest.x(3) < OFFSET);
    guest.set(CNTHCTL_EL2, 3 | 1 << 12);
    assert_eq!(guest.run(mrs(count, 3), EL1H), At::El1(0x15, 0x7777));
    assert!(guest.x(3) > OFFSET, "{:#x}", guest.x(3));
    // TVAL -1 is the past, wherever the count is: ISTATUS.
    let (tval, ctl) = (CNTP_TVAL_EL0.info().enc, CNTP_CTL_EL0.info().enc);
    guest.set(CNTP_CTL_EL0, 1);
    guest.set(CNTP_CVAL_EL0, 0u64.wrapping_sub(OFFSET));
    assert_eq!(guest.run(mrs(ctl, 3), EL1H), At::El1(0x15, 0x7777));
    assert_eq!(guest.x(3), 5);
    guest.set(CNTP_CVAL_EL0, u64::MAX);
    assert_eq!(guest.run(mrs(tval, 3), EL1H), At::El1(0x15, 0x7777));
    // At EL2 nothing is moved.
    assert_eq!(guest.run(mrs(count, 3), 0x3c9), At::El2(0x15, 0x7777));
    assert!(guest.x(3) < OFFSET);
    guest.set(HCR_EL2, HCR | hcr::E2H.mask() | hcr::TGE.mask());
    guest.set(CNTHCTL_EL2, 0xc03 | 1 << 12);
    assert_eq!(guest.run(mrs(count, 3), EL0T), At::El2(0x15, 0x7777));
    assert!(guest.x(3) < OFFSET);
}
