//! System errors that the GIC's virtual CPU interface generates, and traps of ICC_DIR_EL1: a guest that writes it with EOImode 0.

mod common;

use arch::feature::modelled;
use arch::policy::Policy;
use common::{ENTRY, machine_with};
use vambrace_machine::Outcome;

/// At `ENTRY`, EL2. It ends with the values of HCR_EL2, ICH_HCR_EL2 and VSESR_EL2. What happens is told on the console in
/// bytes: an SError interrupt's ESR_ELx\[31:24\] and x; ISR_EL1.A as the guest sees it after its write; the class of the
/// synchronous exception that ends it.
const CODE: &[u32] = &[
    0x1000_4000, // adr x0, vectors2
    0xd51c_c000, // msr vbar_el2, x0
    0x1000_7fc0, // adr x0, vectors1
    0xd518_c000, // msr vbar_el1, x0
    0x5800_05c0, // ldr x0, vsesr
    0xd51c_5260, // msr vsesr_el2, x0
    0x5800_0500, // ldr x0, hcr
    0xd51c_1100, // msr hcr_el2, x0
    0x5800_0500, // ldr x0, ich
    0xd51c_cb00, // msr ich_hcr_el2, x0
    0x1000_00c0, // adr x0, guest
    0xd51c_4020, // msr elr_el2, x0
    0xd280_78a0, // mov x0, #0x3c5
    0xd51c_4000, // msr spsr_el2, x0
    0xd2a1_200a, // mov x10, #0x9000000
    0xd69f_03e0, // eret
    // guest
    0xd280_0501, // mov x1, #0x28
    0xd518_cb21, // msr icc_dir_el1, x1
    0xd503_201f, // nop
    0xd538_c102, // mrs x2, isr_el1
    0xd348_fc42, // lsr x2, x2, #8
    0x3900_0142, // strb w2, [x10]
    0xd503_44ff, // msr daifclr, #0x4
    0xd503_201f, // nop
    0xd503_44df, // msr daifset, #0x4
    0xd400_0002, // hvc #0x0
    // serror1
    0xd538_5203, // mrs x3, esr_el1
    0xd358_fc63, // lsr x3, x3, #24
    0x3900_0143, // strb w3, [x10]
    0xd280_0023, // mov x3, #0x1
    0x3900_0143, // strb w3, [x10]
    0xd69f_03e0, // eret
    // serror2
    0xd53c_5203, // mrs x3, esr_el2
    0xd358_fc63, // lsr x3, x3, #24
    0x3900_0143, // strb w3, [x10]
    0xd280_0043, // mov x3, #0x2
    0x3900_0143, // strb w3, [x10]
    0xd69f_03e0, // eret
    // sync2
    0xd53c_5203, // mrs x3, esr_el2
    0xd35a_fc63, // lsr x3, x3, #26
    0x3900_0143, // strb w3, [x10]
    0x5280_0100, // mov w0, #0x8
    0x72b0_8000, // movk w0, #0x8400, lsl #16
    0xd400_0003, // smc #0x0
    0x1400_0000, // b .
    0xd503_201f,
];
/// Of the vectors: EL2's for lower levels, EL1's for itself.
const VECTORS: &[(u64, &[u32])] = &[
    (ENTRY + 0xc00, &[0x17ff_fd26]),  // b sync2
    (ENTRY + 0xd80, &[0x17ff_fcc0]),  // b serror2
    (ENTRY + 0x1380, &[0x17ff_fb3a]), // b serror1
];

const RW: u64 = 1 << 31;
const IMO: u64 = 1 << 4;
const AMO: u64 = 1 << 5;
const VSE: u64 = 1 << 8;
const EN: u64 = 1;
const TSEI: u64 = 1 << 13;
const TDIR: u64 = 1 << 14;
const ADVERSARY: Policy = Policy::Adversarial { seed: 1 };

/// Classes of exceptions.
const HVC: u8 = 0x16;
const TRAP: u8 = 0x18;

/// What the console shows.
fn run(gic: &str, policy: Policy, hcr: u64, ich_hcr: u64, vsesr: u64) -> Vec<u8> {
    let mut model = arch::preset::hardware("neoverse-n1").unwrap().limited_to(&modelled());
    model.gic.apply(gic).unwrap();
    let values: Vec<u32> = [RW | hcr, ich_hcr, vsesr].iter().flat_map(|v| [*v as u32, (*v >> 32) as u32]).collect();
    let mut pieces = vec![(ENTRY, CODE), (ENTRY + 0xb8, &values)];
    pieces.extend(VECTORS);
    let (mut machine, console) = machine_with(model, 1, policy, 1000, &pieces);
    assert_eq!(machine.run(), Outcome::PoweredOff);
    console.bytes()
}

#[test]
fn routes() {
    type Case = (&'static str, &'static str, Policy, u64, u64, &'static [u8]);
    let table: [Case; 9] = [
        ("benign", "seis=on", Policy::Benign, IMO | AMO, EN, &[0, HVC]),
        ("without SEIS", "seis=off", ADVERSARY, IMO | AMO, EN, &[0, HVC]),
        ("virtual", "seis=on", ADVERSARY, IMO | AMO, EN, &[1, 0xbe, 1, HVC]),
        ("physical, to EL1", "seis=on", ADVERSARY, IMO, EN, &[1, 0xbe, 1, HVC]),
        ("trapped", "seis=on", ADVERSARY, IMO, EN | TSEI, &[0xbe, 2, 0, HVC]),
        ("trapped from a virtual one", "seis=on", ADVERSARY, IMO | AMO, EN | TSEI, &[0xbe, 2, 0, HVC]),
        ("of the physical interface, to EL1", "seis=on", ADVERSARY, 0, EN, &[1, 0xbe, 1, HVC]),
        ("of the physical interface, to EL2", "seis=on", ADVERSARY, AMO, EN, &[0xbe, 2, 0, HVC]),
        ("TSEI is RES0 without SEIS", "seis=off", ADVERSARY, IMO, EN | TSEI, &[0, HVC]),
    ];
    for (name, gic, policy, hcr, ich_hcr, expected) in table {
        assert_eq!(run(gic, policy, hcr, ich_hcr, 0), expected, "{name}");
    }
}

/// The M1: some reach the hypervisor that asked for virtual ones. Which, the seed says.
#[test]
fn a_broken_interface() {
    let of = |seed| run("seis=broken", Policy::Adversarial { seed }, IMO | AMO, EN, 0);
    let (to_guest, to_host) = ([1, 0xbe, 1, HVC], [0xbe, 2, 0, HVC]);
    let outcomes: Vec<_> = (0..16).map(of).collect();
    assert!(outcomes.iter().all(|o| *o == to_guest || *o == to_host), "{outcomes:x?}");
    assert!(outcomes.iter().any(|o| *o == to_guest) && outcomes.iter().any(|o| *o == to_host));
    assert_eq!(outcomes, (0..16).map(of).collect::<Vec<_>>());
}

#[test]
fn virtual_system_errors_have_the_syndrome_that_the_hypervisor_gives() {
    // ISR_EL1.A is set by the virtual one; IDS of VSESR_EL2 is ESR_EL1[24].
    assert_eq!(run("seis=off", Policy::Benign, AMO | VSE, EN, 0x1ff_ffff), [1, 0xbf, 1, HVC]);
    assert_eq!(run("seis=off", Policy::Benign, AMO | VSE, EN, 0), [1, 0xbe, 1, HVC]);
}

#[test]
fn traps_of_dir() {
    for (gic, ich_hcr, traps) in [
        ("tds=on", EN | TDIR, true),
        ("tds=off", EN | TDIR, false),
        ("tdir-needs-en=off", TDIR, true),
        ("tdir-needs-en=on", TDIR, false),
        ("tdir-needs-en=on", EN | TDIR, true),
    ] {
        let expected: &[u8] = if traps { &[TRAP] } else { &[0, HVC] };
        assert_eq!(run(gic, Policy::Benign, IMO, ich_hcr, 0), expected, "{gic}, ICH_HCR_EL2 = {ich_hcr:#x}");
    }
}
