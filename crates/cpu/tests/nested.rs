//! A guest hypervisor at EL1 (FEAT_NV, FEAT_NV2), which the judge of the system level lacks. DDI 0487 D8.11, HCR_EL2.{NV, NV1,
//! NV2} and VNCR_EL2.

mod guest;

use arch::field::hcr_el2 as hcr;
use arch::sysreg::{Enc, Reg, Reg::*};
use guest::{At, DATA, EL0T, EL1H, Guest, Way, iss};

const BASE: u64 = hcr::RW.mask() | hcr::APK.mask() | hcr::API.mask();
const NV: u64 = BASE | hcr::NV.mask();
const NV2: u64 = NV | hcr::NV2.mask();
const NV1: u64 = hcr::NV1.mask();
/// SVC #0x7777 behind the instruction: it completed.
const DONE: At = At::El1(0x15, 0x7777);

/// MRS X3, `reg`.
fn mrs(reg: Reg) -> u32 {
    guest::mrs(reg.info().enc, 3)
}

/// MSR `reg`, X3.
fn msr(reg: Reg) -> u32 {
    guest::msr(reg.info().enc, 3)
}

fn trapped(reg: Reg, way: Way) -> At {
    At::El2(0x18, iss(reg.info().enc, 3, way))
}

fn guest(control: u64) -> Guest {
    let mut guest = Guest::new(arch::preset::hardware("max").unwrap().limited_to(&arch::feature::modelled()));
    guest.set(HCR_EL2, control);
    guest.set(VNCR_EL2, DATA);
    guest.set(CNTHCTL_EL2, 3);
    guest
}

#[test]
fn without_nv_everything_of_el2_is_undefined() {
    for control in [BASE, BASE | NV1 | hcr::NV2.mask()] {
        let mut guest = guest(control);
        for word in [mrs(HCR_EL2), msr(VBAR_EL2), mrs(SCTLR_EL12), mrs(SP_EL1), 0xd50c_871f] {
            assert_eq!(guest.run(word, EL1H), At::El1(0, 0), "{word:#x}");
        }
        assert_eq!(guest.run(mrs(CurrentEL), EL1H), DONE);
        assert_eq!(guest.x(3), 4);
    }
}

#[test]
fn nv_traps_registers_instructions_and_eret() {
    let mut guest = guest(NV);
    for reg in Reg::ALL.into_iter().filter(|r| r.info().min_read == Some(arch::El::El2)) {
        if !guest.has(reg) {
            continue;
        }
        assert_eq!(guest.run(mrs(reg), EL1H), trapped(reg, Way::Read), "{}", reg.name());
        // EL0's accesses stay UNDEFINED.
        assert_eq!(guest.run(mrs(reg), EL0T), At::El1(0, 0), "{}", reg.name());
    }
    assert_eq!(guest.run(msr(HCR_EL2), EL1H), trapped(HCR_EL2, Way::Write));
    // AT S1E2R, AT S12E0W, TLBI ALLE2, TLBI IPAS2E1IS, TLBI VMALLS12E1 with X3 or XZR.
    for (word, enc, rt) in [
        (0xd50c_7803, Enc::new(1, 4, 7, 8, 0), 3),
        (0xd50c_78e3, Enc::new(1, 4, 7, 8, 7), 3),
        (0xd50c_871f, Enc::new(1, 4, 8, 7, 0), 31),
        (0xd50c_8023, Enc::new(1, 4, 8, 0, 1), 3),
        (0xd50c_87df, Enc::new(1, 4, 8, 7, 6), 31),
    ] {
        assert_eq!(guest.run(word, EL1H), At::El2(0x18, iss(enc, rt, Way::Write)), "{word:#x}");
        assert_eq!(guest.run(word, EL0T), At::El1(0, 0), "{word:#x}");
    }
    for (word, kind) in [(0xd69f_03e0, 0), (0xd69f_0bff, 2), (0xd69f_0fff, 3)] {
        assert_eq!(guest.run(word, EL1H), At::El2(0x1a, kind));
    }
    // HCR_EL2.AT: AT S1E1R.
    let at = Enc::new(1, 0, 7, 8, 0);
    assert_eq!(guest.run(0xd508_7803, EL1H), DONE);
    guest.set(HCR_EL2, NV | hcr::AT.mask());
    assert_eq!(guest.run(0xd508_7803, EL1H), At::El2(0x18, iss(at, 3, Way::Write)));
}

#[test]
fn a_guest_hypervisor_believes_itself_at_el2() {
    // HCR_EL2.{NV2, NV1, NV} = 001, 101 and 111 show SPSR_EL1.M[3:2] = 2 for what EL1 takes from EL1; 011 does not.
    for (control, level) in [(NV, 2), (NV2, 2), (NV2 | NV1, 2), (NV | NV1, 1)] {
        let mut guest = guest(control);
        assert_eq!(guest.run(mrs(CurrentEL), EL1H), DONE);
        assert_eq!((guest.x(3), guest.get(SPSR_EL1) >> 2 & 3), (8, level), "{control:#x}");
        // From EL0 it is as ever.
        guest.run(0xd503_201f, EL0T);
        assert_eq!(guest.get(SPSR_EL1) >> 2 & 3, 0);
    }
}

#[test]
fn registers_in_memory() {
    // Name, offset, and whether EL1's names are meant (NV1) or the others; `None`: whatever NV1 is.
    for (reg, offset, nv1) in [
        (HCR_EL2, 0x78, None),
        (VTTBR_EL2, 0x20, None),
        (TPIDR_EL2, 0x90, None),
        (ICH_LR3_EL2, 0x418, None),
        (SP_EL1, 0x240, None),
        (MDSCR_EL1, 0x158, None),
        (SCTLR_EL12, 0x110, Some(false)),
        (VBAR_EL12, 0x250, Some(false)),
        (CNTV_CVAL_EL02, 0x168, Some(false)),
        (SCTLR_EL1, 0x110, Some(true)),
        (ELR_EL1, 0x230, Some(true)),
        (CNTP_CTL_EL0, 0x180, Some(true)),
    ] {
        for with in [false, true] {
            if nv1.is_some_and(|wanted| wanted != with) {
                continue;
            }
            let mut guest = guest(NV2 | if with { NV1 } else { 0 });
            guest.set_x(3, 0x1234_5678_9abc_def0);
            let before = guest.get(reg);
            assert_eq!(guest.run(msr(reg), EL1H), DONE, "{}", reg.name());
            assert_eq!(guest.load(DATA + offset), 0x1234_5678_9abc_def0, "{}", reg.name());
            // EL1 took SVC, which writes ELR_EL1.
            assert!(guest.get(reg) == before || reg == ELR_EL1, "{}", reg.name());
            guest.store(DATA + offset, 77 + offset);
            assert_eq!(guest.run(mrs(reg), EL1H), DONE);
            assert_eq!(guest.x(3), 77 + offset, "{}", reg.name());
        }
    }
}

#[test]
fn the_rest_is_trapped_or_is_el1s() {
    let mut guest = guest(NV2);
    for reg in [SCTLR_EL2, TTBR0_EL2, CPTR_EL2, MDCR_EL2, CNTHCTL_EL2, ICH_VTR_EL2, CNTP_TVAL_EL02, VBAR_EL2] {
        assert_eq!(guest.run(mrs(reg), EL1H), trapped(reg, Way::Read), "{}", reg.name());
    }
    guest.set_x(3, 0x10);
    for (el2, el1) in [(FAR_EL2, FAR_EL1), (ESR_EL2, ESR_EL1)] {
        guest.set(el1, 0x55);
        assert_eq!(guest.run(mrs(el2), EL1H), DONE);
        assert_eq!(guest.x(3), 0x55);
    }
    // With NV1 the EL12 names mean nothing to the guest.
    guest.set(HCR_EL2, NV2 | NV1);
    assert_eq!(guest.run(mrs(SCTLR_EL12), EL1H), trapped(SCTLR_EL12, Way::Read));
    // Traps of EL1's registers come first.
    guest.set(HCR_EL2, NV2 | NV1 | hcr::TVM.mask());
    assert_eq!(guest.run(msr(SCTLR_EL1), EL1H), trapped(SCTLR_EL1, Way::Write));
    // CNTHCTL_EL2.EL1NVVCT and EL1NVPCT.
    guest.set(HCR_EL2, NV2);
    guest.set(CNTHCTL_EL2, 3 | 1 << 15);
    assert_eq!(guest.run(mrs(CNTP_CTL_EL02), EL1H), trapped(CNTP_CTL_EL02, Way::Read));
    assert_eq!(guest.run(mrs(CNTV_CTL_EL02), EL1H), DONE);
    guest.set(CNTHCTL_EL2, 3 | 1 << 16);
    assert_eq!(guest.run(mrs(CNTV_CTL_EL02), EL1H), trapped(CNTV_CTL_EL02, Way::Read));
    // NV1 without NV2.
    guest.set(HCR_EL2, NV | NV1);
    assert_eq!(guest.run(mrs(VBAR_EL1), EL1H), trapped(VBAR_EL1, Way::Read));
    assert_eq!(guest.run(mrs(SCTLR_EL1), EL1H), DONE);
}

/// A fault at VNCR_EL2 is EL2's own: EC 0x25 with ISS.VNCR, FAR_EL2 the address, and the vector of a lower level.
#[test]
fn faults_behind_vncr() {
    let mut guest = guest(NV2);
    // Outside RAM.
    guest.set(VNCR_EL2, 0x1_0000_0000);
    const VNCR: u64 = 1 << 13;
    assert_eq!(guest.run(mrs(HCR_EL2), EL1H), At::El2(0x25, VNCR | 0x10));
    assert_eq!((guest.get(FAR_EL2), guest.get(ELR_EL2)), (0x1_0000_0078, guest.place()));
    assert_eq!(guest.run(msr(HCR_EL2), EL1H), At::El2(0x25, VNCR | 0x50));
    // Beyond what stage 1 of EL2 takes as an address with translation off.
    guest.set(VNCR_EL2, 1 << 55);
    assert_eq!(guest.run(mrs(HCR_EL2), EL1H), At::El2(0x25, VNCR));
}
