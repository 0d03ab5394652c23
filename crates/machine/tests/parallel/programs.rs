//! Programs for CPUs at the same time. Each begins with [`FRAME`], its body is at the start of the next page: X19 is the
//! CPU's number, X20 where data are, X21 the number of CPUs, X23 that of rounds. Assembled from what the comments say.

/// Switches CPUs on, waits until all are there, calls the body, and powers off when all have come back.
pub const FRAME: &[u32] = &[
    0xd280_0013, // mov x19, #0x0
    0xd2a8_0014, // mov x20, #0x40000000
    0x914c_0294, // add x20, x20, #0x300, lsl #12
    0xf940_0295, // ldr x21, [x20]
    0xd2a8_000e, // mov x14, #0x40000000
    0x9150_01cf, // add x15, x14, #0x400, lsl #12
    0x911c_05c0, // add x0, x14, #0x701
    0xf900_05e0, // str x0, [x15, #8]
    0x9140_05e0, // add x0, x15, #0x1, lsl #12
    0x9100_0c00, // add x0, x0, #0x3
    0xf900_09e0, // str x0, [x15, #16]
    0xd503_3f9f, // dsb sy
    0xd280_0036, // mov x22, #0x1
    0xeb15_02df, // cmp x22, x21
    0x5400_01a2, // b.cs 6c <second+0x10>
    0x52b8_8000, // mov w0, #0xc4000000
    0x1100_0c00, // add w0, w0, #0x3
    0xaa16_03e1, // mov x1, x22
    0x1000_00a2, // adr x2, 5c <second>
    0xaa16_03e3, // mov x3, x22
    0xd400_0002, // hvc #0x0
    0x9100_06d6, // add x22, x22, #0x1
    0x17ff_fff7, // b 34 <second-0x28>
    0xaa00_03f3, // mov x19, x0
    0xd2a8_0014, // mov x20, #0x40000000
    0x914c_0294, // add x20, x20, #0x300, lsl #12
    0xf940_0295, // ldr x21, [x20]
    0xf940_0697, // ldr x23, [x20, #8]
    0xd2a8_000e, // mov x14, #0x40000000
    0x9150_01cf, // add x15, x14, #0x400, lsl #12
    0xd280_1fe0, // mov x0, #0xff
    0xd518_a200, // msr mair_el1, x0
    0xd286_a320, // mov x0, #0x3519
    0xf2a0_1000, // movk x0, #0x80, lsl #16
    0xd518_2040, // msr tcr_el1, x0
    0xd518_200f, // msr ttbr0_el1, x15
    0xd503_3fdf, // isb
    0xd538_1000, // mrs x0, sctlr_el1
    0xd282_00a1, // mov x1, #0x1005
    0xaa01_0000, // orr x0, x0, x1
    0xd518_1000, // msr sctlr_el1, x0
    0xd503_3fdf, // isb
    0x9101_0281, // add x1, x20, #0x40
    0xd280_0022, // mov x2, #0x1
    0xf8e2_0023, // ldaddal x2, x3, [x1]
    0xc8df_fc23, // ldar x3, [x1]
    0xeb15_007f, // cmp x3, x21
    0x54ff_ffc3, // b.cc b4 <second+0x58>
    0x9400_03d0, // bl 1000 <body>
    0xd503_3f9f, // dsb sy
    0x9102_0281, // add x1, x20, #0x80
    0xd280_0022, // mov x2, #0x1
    0xf8e2_0023, // ldaddal x2, x3, [x1]
    0xb500_00f3, // cbnz x19, f0 <second+0x94>
    0xc8df_fc23, // ldar x3, [x1]
    0xeb15_007f, // cmp x3, x21
    0x54ff_ffc3, // b.cc d8 <second+0x7c>
    0x52b0_8000, // mov w0, #0x84000000
    0x1100_2000, // add w0, w0, #0x8
    0xd400_0002, // hvc #0x0
    0xd503_207f, // wfi
    0x17ff_ffff, // b f0 <second+0x94>
];

/// Each adds to a doubleword, a byte, a halfword and, by CAS, a word.
pub const LSE_COUNTERS: &[u32] = &[
    0x9104_0281, // add x1, x20, #0x100
    0x9104_2284, // add x4, x20, #0x108
    0x9104_4286, // add x6, x20, #0x110
    0x9104_5287, // add x7, x20, #0x114
    0xd280_0022, // mov x2, #0x1
    0xf822_0023, // ldadd x2, x3, [x1]
    0x3822_0083, // ldaddb w2, w3, [x4]
    0x78e2_00c3, // ldaddalh w2, w3, [x6]
    0xb940_00e8, // ldr w8, [x7]
    0x1100_0509, // add w9, w8, #0x1
    0x2a08_03e5, // mov w5, w8
    0x88e8_fce9, // casal w8, w9, [x7]
    0x6b05_011f, // cmp w8, w5
    0x54ff_ff61, // b.ne 1020 <body+0x20>
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fec1, // b.ne 1014 <body+0x14>
    0xd65f_03c0, // ret
];

/// Each adds to a doubleword, and to a byte of its own in another one, by exclusives.
pub const EXCLUSIVE_COUNTERS: &[u32] = &[
    0x9104_0281, // add x1, x20, #0x100
    0x9104_2284, // add x4, x20, #0x108
    0x8b13_0084, // add x4, x4, x19
    0xc85f_7c22, // ldxr x2, [x1]
    0x9100_0442, // add x2, x2, #0x1
    0xc803_7c22, // stxr w3, x2, [x1]
    0x35ff_ffa3, // cbnz w3, 100c <body+0xc>
    0x085f_7c82, // ldxrb w2, [x4]
    0x1100_0442, // add w2, w2, #0x1
    0x0803_7c82, // stxrb w3, w2, [x4]
    0x35ff_ffa3, // cbnz w3, 101c <body+0x1c>
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fee1, // b.ne 100c <body+0xc>
    0xd65f_03c0, // ret
];

/// A lock by exclusives, and a counter that it protects.
pub const SPIN_LOCK: &[u32] = &[
    0x9104_0281, // add x1, x20, #0x100
    0x9105_0284, // add x4, x20, #0x140
    0x5280_0025, // mov w5, #0x1
    0x885f_fc22, // ldaxr w2, [x1]
    0x35ff_ffe2, // cbnz w2, 100c <body+0xc>
    0x8803_7c25, // stxr w3, w5, [x1]
    0x35ff_ffa3, // cbnz w3, 100c <body+0xc>
    0xf940_0086, // ldr x6, [x4]
    0x9100_04c6, // add x6, x6, #0x1
    0xf900_0086, // str x6, [x4]
    0x889f_fc3f, // stlr wzr, [x1]
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fee1, // b.ne 100c <body+0xc>
    0xd65f_03c0, // ret
];

/// A lock by LDADD, whose waiters sleep in WFE, and a counter that it protects.
pub const TICKET_LOCK: &[u32] = &[
    0x9104_0281, // add x1, x20, #0x100
    0x9105_0284, // add x4, x20, #0x140
    0x9106_0287, // add x7, x20, #0x180
    0x5280_0025, // mov w5, #0x1
    0xb8a5_0022, // ldadda w5, w2, [x1]
    0xd503_20bf, // sevl
    0xd503_205f, // wfe
    0x885f_fce3, // ldaxr w3, [x7]
    0x6b02_007f, // cmp w3, w2
    0x54ff_ffa1, // b.ne 1018 <body+0x18>
    0xf940_0086, // ldr x6, [x4]
    0x9100_04c6, // add x6, x6, #0x1
    0xf900_0086, // str x6, [x4]
    0x1100_0463, // add w3, w3, #0x1
    0x889f_fce3, // stlr w3, [x7]
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fe81, // b.ne 1010 <body+0x10>
    0xd65f_03c0, // ret
];

/// Even CPUs write data and say so by STLR; odd ones read by LDAR and count where the data are older.
pub const MESSAGE_RELEASE: &[u32] = &[
    0x927f_fa60, // and x0, x19, #0xfffffffffffffffe
    0x8b00_2281, // add x1, x20, x0, lsl #8
    0x9110_0021, // add x1, x1, #0x400
    0x9102_0024, // add x4, x1, #0x80
    0x3700_0113, // tbnz w19, #0, 1030 <body+0x30>
    0xd280_0005, // mov x5, #0x0
    0x9100_04a5, // add x5, x5, #0x1
    0xf900_0025, // str x5, [x1]
    0xc89f_fc85, // stlr x5, [x4]
    0xeb17_00bf, // cmp x5, x23
    0x54ff_ff83, // b.cc 1018 <body+0x18>
    0xd65f_03c0, // ret
    0xc8df_fc82, // ldar x2, [x4]
    0xf940_0023, // ldr x3, [x1]
    0xeb02_007f, // cmp x3, x2
    0x5400_0082, // b.cs 104c <body+0x4c>
    0x9108_0286, // add x6, x20, #0x200
    0xd280_0027, // mov x7, #0x1
    0xf827_00c7, // ldadd x7, x7, [x6]
    0xeb17_005f, // cmp x2, x23
    0x54ff_ff03, // b.cc 1030 <body+0x30>
    0xd65f_03c0, // ret
];

/// The same by barriers.
pub const MESSAGE_BARRIER: &[u32] = &[
    0x927f_fa60, // and x0, x19, #0xfffffffffffffffe
    0x8b00_2281, // add x1, x20, x0, lsl #8
    0x9110_0021, // add x1, x1, #0x400
    0x9102_0024, // add x4, x1, #0x80
    0x3700_0133, // tbnz w19, #0, 1034 <body+0x34>
    0xd280_0005, // mov x5, #0x0
    0x9100_04a5, // add x5, x5, #0x1
    0xf900_0025, // str x5, [x1]
    0xd503_3abf, // dmb ishst
    0xf900_0085, // str x5, [x4]
    0xeb17_00bf, // cmp x5, x23
    0x54ff_ff63, // b.cc 1018 <body+0x18>
    0xd65f_03c0, // ret
    0xf940_0082, // ldr x2, [x4]
    0xd503_39bf, // dmb ishld
    0xf940_0023, // ldr x3, [x1]
    0xeb02_007f, // cmp x3, x2
    0x5400_0082, // b.cs 1054 <body+0x54>
    0x9108_0286, // add x6, x20, #0x200
    0xd280_0027, // mov x7, #0x1
    0xf827_00c7, // ldadd x7, x7, [x6]
    0xeb17_005f, // cmp x2, x23
    0x54ff_fee3, // b.cc 1034 <body+0x34>
    0xd65f_03c0, // ret
];

/// Each of two writes, reads what the other one wrote, and they count where both read something old. `between` writes X5 to
/// [X2] and reads [X3] to X6.
pub fn buffering(between: [u32; 3]) -> Vec<u32> {
    [BUFFERING_BEGIN, &between, BUFFERING_END].concat()
}

/// With a DMB between the two.
pub const BY_BARRIER: [u32; 3] = [
    0xf900_0045, // str x5, [x2]
    0xd503_3bbf, // dmb ish
    0xf940_0066, // ldr x6, [x3]
];

/// By STLR and LDAR.
pub const BY_RELEASE: [u32; 3] = [
    0xc89f_fc45, // stlr x5, [x2]
    0xc8df_fc66, // ldar x6, [x3]
    0xd503_201f, // nop
];

/// By nothing that orders: here it may happen.
pub const BY_NOTHING: [u32; 3] = [
    0xf900_0045, // str x5, [x2]
    0xf940_0066, // ldr x6, [x3]
    0xd503_201f, // nop
];

const BUFFERING_BEGIN: &[u32] = &[
    0x927f_fa60, // and x0, x19, #0xfffffffffffffffe
    0x8b00_2281, // add x1, x20, x0, lsl #8
    0x9110_0021, // add x1, x1, #0x400
    0x9240_0260, // and x0, x19, #0x1
    0x8b00_1c22, // add x2, x1, x0, lsl #7
    0xd240_0000, // eor x0, x0, #0x1
    0x8b00_1c23, // add x3, x1, x0, lsl #7
    0x9240_0260, // and x0, x19, #0x1
    0x8b00_1c2a, // add x10, x1, x0, lsl #7
    0x9101_014a, // add x10, x10, #0x40
    0xd240_0000, // eor x0, x0, #0x1
    0x8b00_1c2b, // add x11, x1, x0, lsl #7
    0x9101_016b, // add x11, x11, #0x40
    0xd280_0005, // mov x5, #0x0
    0x9100_04a5, // add x5, x5, #0x1
];

const BUFFERING_END: &[u32] = &[
    0xf900_0546, // str x6, [x10, #8]
    0xc89f_fd45, // stlr x5, [x10]
    0xc8df_fd67, // ldar x7, [x11]
    0xeb05_00ff, // cmp x7, x5
    0x54ff_ffc3, // b.cc 1050 <body+0x50>
    0xf940_0567, // ldr x7, [x11, #8]
    0xeb05_00df, // cmp x6, x5
    0x5400_00c2, // b.cs 107c <body+0x7c>
    0xeb05_00ff, // cmp x7, x5
    0x5400_0082, // b.cs 107c <body+0x7c>
    0x9108_0288, // add x8, x20, #0x200
    0xd280_0029, // mov x9, #0x1
    0xf829_0109, // ldadd x9, x9, [x8]
    0xd503_201f, // nop
    0x9100_414c, // add x12, x10, #0x10
    0xc89f_fd85, // stlr x5, [x12]
    0x9100_416c, // add x12, x11, #0x10
    0xc8df_fd87, // ldar x7, [x12]
    0xeb05_00ff, // cmp x7, x5
    0x54ff_ffc3, // b.cc 108c <body+0x8c>
    0xeb17_00bf, // cmp x5, x23
    0x54ff_fce3, // b.cc 1038 <body+0x38>
    0xd65f_03c0, // ret
];

/// Even CPUs add to one and subtract from the other of two doublewords by CASP, odd ones by LDXP and STXP; these count where
/// the two do not belong together.
pub const PAIRS: &[u32] = &[
    0x9104_0281, // add x1, x20, #0x100
    0x9108_0289, // add x9, x20, #0x200
    0xd280_0028, // mov x8, #0x1
    0x3700_01b3, // tbnz w19, #0, 1040 <body+0x40>
    0xa940_0c22, // ldp x2, x3, [x1]
    0xaa02_03e6, // mov x6, x2
    0xaa03_03e7, // mov x7, x3
    0x9100_0444, // add x4, x2, #0x1
    0xd100_0465, // sub x5, x3, #0x1
    0x4862_fc24, // caspal x2, x3, x4, x5, [x1]
    0xeb06_005f, // cmp x2, x6
    0xfa47_0060, // ccmp x3, x7, #0x0, eq
    0x54ff_ff21, // b.ne 1014 <body+0x14>
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fec1, // b.ne 1010 <body+0x10>
    0xd65f_03c0, // ret
    0xc87f_8c22, // ldaxp x2, x3, [x1]
    0x9100_0444, // add x4, x2, #0x1
    0xd100_0465, // sub x5, x3, #0x1
    0xc826_9424, // stlxp w6, x4, x5, [x1]
    0x35ff_ff86, // cbnz w6, 1040 <body+0x40>
    0xab03_005f, // cmn x2, x3
    0x5400_0040, // b.eq 1060 <body+0x60>
    0xf828_0127, // ldadd x8, x7, [x9]
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fee1, // b.ne 1040 <body+0x40>
    0xd65f_03c0, // ret
];

/// CPU 0 gives a page other memory, with break before make, and spoils the old one behind the DSB; the others read the page,
/// try again where it is not mapped, and count what is spoilt.
pub const BROKEN_PAGE: &[u32] = &[
    0x1000_4000, // adr x0, 1800 <vectors>
    0xd518_c000, // msr vbar_el1, x0
    0xd2a0_0600, // mov x0, #0x300000
    0xd518_1040, // msr cpacr_el1, x0
    0xd503_3fdf, // isb
    0x4f00_f401, // fmov v1.4s, #2.000000000000000000e+00
    0xd2b0_0010, // mov x16, #0x80000000
    0x9108_0289, // add x9, x20, #0x200
    0x9109_028c, // add x12, x20, #0x240
    0x9140_09e2, // add x2, x15, #0x2, lsl #12
    0x9140_0de3, // add x3, x15, #0x3, lsl #12
    0x9140_11e4, // add x4, x15, #0x4, lsl #12
    0xb500_0393, // cbnz x19, 10a0 <body+0xa0>
    0xb240_0440, // orr x0, x2, #0x3
    0xf908_01e0, // str x0, [x15, #4096]
    0xd34c_fe0b, // lsr x11, x16, #12
    0xd280_0025, // mov x5, #0x1
    0xf900_0085, // str x5, [x4]
    0xd503_3abf, // dmb ishst
    0xf900_005f, // str xzr, [x2]
    0xd503_3a9f, // dsb ishst
    0xd508_836b, // tlbi vaae1is, x11
    0xd503_3b9f, // dsb ish
    0xd29b_d5a5, // mov x5, #0xdead
    0xf900_0065, // str x5, [x3]
    0xd280_e060, // mov x0, #0x703
    0xaa04_0000, // orr x0, x0, x4
    0xf900_0040, // str x0, [x2]
    0xd503_3a9f, // dsb ishst
    0xaa03_03e0, // mov x0, x3
    0xaa04_03e3, // mov x3, x4
    0xaa00_03e4, // mov x4, x0
    0xd282_7100, // mov x0, #0x1388
    0xf100_0400, // subs x0, x0, #0x1
    0x54ff_ffe1, // b.ne 1084 <body+0x84>
    0xf100_06f7, // subs x23, x23, #0x1
    0x54ff_fd81, // b.ne 1040 <body+0x40>
    0xd280_0025, // mov x5, #0x1
    0xc89f_fd85, // stlr x5, [x12]
    0xd65f_03c0, // ret
    0xd280_0028, // mov x8, #0x1
    0xd280_0006, // mov x6, #0x0
    0x1400_0001, // b 10ac <body+0xac>
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0x6ea1_f820, // fsqrt v0.4s, v1.4s
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf940_0205, // ldr x5, [x16]
    0xaa05_00c6, // orr x6, x6, x5
    0xf100_04df, // cmp x6, #0x1
    0x5400_0040, // b.eq 1198 <body+0x198>
    0xf828_0127, // ldadd x8, x7, [x9]
    0x9100_054a, // add x10, x10, #0x1
    0xf940_0185, // ldr x5, [x12]
    0xb4ff_f825, // cbz x5, 10a4 <body+0xa4>
    0x9109_2287, // add x7, x20, #0x248
    0xf82a_00e0, // ldadd x10, x0, [x7]
    0xd65f_03c0, // ret
];

/// Its vector for synchronous exceptions, 0xa00 bytes behind the begin of the body.
pub const RETURN: &[u32] = &[
    0xd69f_03e0, // eret
];

/// CPU 0 changes a function as the architecture asks and says so; the others call it behind an ISB and count where it is older.
/// `change` writes W6 to [X1] and does what makes it visible. The function is [`FUNCTION`], 0x1000 bytes behind the begin of
/// the body.
pub fn patched(change: [u32; 5]) -> Vec<u32> {
    [PATCHED_BEGIN, &change, PATCHED_END].concat()
}

/// By DC CVAU and IC IVAU.
pub const BY_ADDRESS: [u32; 5] = [
    0xb900_0026, // str w6, [x1]
    0xd50b_7b21, // dc cvau, x1
    0xd503_3b9f, // dsb ish
    0xd50b_7521, // ic ivau, x1
    0xd503_3b9f, // dsb ish
];

/// As CTR_EL0.DIC and IDC permit.
pub const BY_DSB: [u32; 5] = [
    0xd503_201f, // nop
    0xd503_201f, // nop
    0xd503_201f, // nop
    0xb900_0026, // str w6, [x1]
    0xd503_3b9f, // dsb ish
];

/// By IC IALLUIS.
pub const BY_ALL: [u32; 5] = [
    0xd503_201f, // nop
    0xb900_0026, // str w6, [x1]
    0xd503_3b9f, // dsb ish
    0xd508_711f, // ic ialluis
    0xd503_3b9f, // dsb ish
];

const PATCHED_BEGIN: &[u32] = &[
    0x1000_8001, // adr x1, 2000 <function>
    0x9104_0282, // add x2, x20, #0x100
    0x9108_0289, // add x9, x20, #0x200
    0xaa1e_03ed, // mov x13, x30
    0xd280_0028, // mov x8, #0x1
    0xb500_0213, // cbnz x19, 1054 <body+0x54>
    0xd280_0005, // mov x5, #0x0
    0x9100_04a5, // add x5, x5, #0x1
    0x5280_0066, // mov w6, #0x3
    0x72ba_5006, // movk w6, #0xd280, lsl #16
    0x2a05_14c6, // orr w6, w6, w5, lsl #5
];

const PATCHED_END: &[u32] = &[
    0xc89f_fc45, // stlr x5, [x2]
    0xd503_201f, // nop
    0xeb17_00bf, // cmp x5, x23
    0x54ff_fe83, // b.cc 101c <body+0x1c>
    0xd65f_03c0, // ret
    0xc8df_fc45, // ldar x5, [x2]
    0xd503_3fdf, // isb
    0x9400_03e9, // bl 2000 <function>
    0xeb05_007f, // cmp x3, x5
    0x5400_0042, // b.cs 106c <body+0x6c>
    0xf828_0127, // ldadd x8, x7, [x9]
    0xeb17_00bf, // cmp x5, x23
    0x54ff_ff23, // b.cc 1054 <body+0x54>
    0xd61f_01a0, // br x13
];

/// What it returns is to be changed.
pub const FUNCTION: &[u32] = &[
    0xd280_0003, // mov x3, #0x0
    0xd65f_03c0, // ret
];

/// Each waits in WFE for its turn and wakes the others by SEV.
pub const EVENTS: &[u32] = &[
    0x9104_0281, // add x1, x20, #0x100
    0xf100_027f, // cmp x19, #0x0
    0x9105_0282, // add x2, x20, #0x140
    0xd280_0005, // mov x5, #0x0
    0x9100_04a5, // add x5, x5, #0x1
    0xf940_0023, // ldr x3, [x1]
    0x9ad5_0864, // udiv x4, x3, x21
    0x9b15_8c84, // msub x4, x4, x21, x3
    0xeb13_009f, // cmp x4, x19
    0x5400_0060, // b.eq 1030 <body+0x30>
    0xd503_205f, // wfe
    0x17ff_fffa, // b 1014 <body+0x14>
    0x9100_0463, // add x3, x3, #0x1
    0xf900_0023, // str x3, [x1]
    0xd503_3b9f, // dsb ish
    0xd503_209f, // sev
    0xeb17_00bf, // cmp x5, x23
    0x54ff_fe63, // b.cc 1010 <body+0x10>
    0xd65f_03c0, // ret
];
