//! CPUs of several models have caches of decoded code of their own; what one of them writes, all see.

mod common;

use arch::feature::Feature;
use common::{ENTRY, machine_of_models};
use vambrace_machine::Outcome;

/// CPU 0 switches CPU 1 on; when that has called the function at the start of the next page, it calls it too, changes it from
/// X3 = 1 to X3 = 2 as the architecture asks, calls it again, tells CPU 1, and powers off once that has called it as well.
const CODE: &[u32] = &[
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #0x3
    0xd280_0021, // mov x1, #0x1
    0x1000_0322, // adr x2, 70 <second>
    0xd400_0002, // hvc #0x0
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0xf940_0141, // ldr x1, [x10]
    0xb4ff_ffe1, // cbz x1, 1c <second-0x54>
    0x9400_03f7, // bl 1000 <f>
    0x1000_7ec4, // adr x4, 1000 <f>
    0x5280_0865, // mov w5, #0x43
    0x72ba_5005, // movk w5, #0xd280, lsl #16
    0xb900_0085, // str w5, [x4]
    0xd50b_7b24, // dc cvau, x4
    0xd503_3b9f, // dsb ish
    0xd50b_7524, // ic ivau, x4
    0xd503_3b9f, // dsb ish
    0xd503_3fdf, // isb
    0xd280_0021, // mov x1, #0x1
    0xf900_0541, // str x1, [x10, #8]
    0x9400_03eb, // bl 1000 <f>
    0xf900_0d43, // str x3, [x10, #24]
    0xf940_0941, // ldr x1, [x10, #16]
    0xb4ff_ffe1, // cbz x1, 5c <second-0x14>
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #0x8
    0xd400_0002, // hvc #0x0
    0xd2a8_000a, // mov x10, #0x40000000
    0x914c_014a, // add x10, x10, #0x300, lsl #12
    0x9400_03e2, // bl 1000 <f>
    0xf900_0143, // str x3, [x10]
    0xf940_0541, // ldr x1, [x10, #8]
    0xb4ff_ffe1, // cbz x1, 80 <second+0x10>
    0xd503_3fdf, // isb
    0x9400_03dd, // bl 1000 <f>
    0xf900_0943, // str x3, [x10, #16]
    0xd503_207f, // wfi
    0x17ff_ffff, // b 94 <second+0x24>
];
/// The function.
const FUNCTION: &[u32] = &[
    0xd280_0023, // mov x3, #0x1
    0xd65f_03c0, // ret
];
/// Where they keep what X3 was.
const RESULTS: u64 = 0x30_0000;

#[test]
fn code_that_one_model_writes_is_new_for_the_other() {
    let model = arch::preset::preset("max").expect("a preset").without_dependents(Feature::FEAT_EL2);
    let other = model.clone().without_dependents(Feature::FEAT_LSE);
    assert_ne!(model.features, other.features);
    for models in [[model.clone(), other.clone()], [other, model.clone()], [model.clone(), model]] {
        let (mut machine, _) = machine_of_models(&models, 10_000_000, &[(ENTRY, CODE), (ENTRY + 0x1000, FUNCTION)]);
        assert_eq!(machine.run(), Outcome::PoweredOff);
        let ram = machine.board().bus.ram();
        let results = [0, 16, 24].map(|at| ram.read_u64(RESULTS + at));
        assert_eq!(results, [Some(1), Some(2), Some(2)], "CPU 1 before and after, CPU 0 after");
    }
}
