//! One-line cases for the base instructions: words from the GNU assembler (where it does not know them, from the manual's diagrams),
//! expectations by hand. `oracle` compares the same bodies with qemu-aarch64 on random states; here are the edges, and
//! what that judge does not know.

use crate::base::transfer::{Acquire, AcquirePc, AcquireRelease, Kind, Limited, Plain, Release, Unprivileged};
use crate::decode::Decoder;
use crate::eval::{Fill, Flat, SpCheck, Stop};
use crate::footprint::Footprint;
use crate::insn::Insn;
use crate::machine::{Access, Assist, BranchKind, Machine, PauthKey, TagCheck};
use crate::spec::Flow;
use crate::system::{BarrierOp, Domain, ExceptionCall, Hint, PstateField, System};

/// Word, what it is, what it finds, what it changes. `nzcv` is in binary, a memory cell `[address]bytes` in hexadecimal.
/// What is not named is 0 before, and as before afterwards; the PC is 0x8000, and 4 more afterwards.
const CASES: &[(u32, &str, &str, &str)] = &[
    // Flags at the edges
    (0xab02_0020, "adds x0, x1, x2", "x1=0x7fffffffffffffff x2=1", "x0=0x8000000000000000 nzcv=1001"),
    (0xab02_0020, "adds x0, x1, x2", "x1=0xffffffffffffffff x2=1", "x0=0 nzcv=0110"),
    (0x2b02_0020, "adds w0, w1, w2", "x1=0xffffffff7fffffff x2=0xffffffff00000001", "x0=0x80000000 nzcv=1001"),
    (0x2b02_0020, "adds w0, w1, w2", "x1=0x80000000 x2=0x80000000", "x0=0 nzcv=0111"),
    (0xeb02_0020, "subs x0, x1, x2", "x1=0 x2=1", "x0=0xffffffffffffffff nzcv=1000"),
    (0xeb02_0020, "subs x0, x1, x2", "x1=5 x2=5", "x0=0 nzcv=0110"),
    (0xeb02_0020, "subs x0, x1, x2", "x1=0x8000000000000000 x2=1", "x0=0x7fffffffffffffff nzcv=0011"),
    (0x6b02_0020, "subs w0, w1, w2", "x1=0 x2=0x80000000", "x0=0x80000000 nzcv=1001"),
    (0x7100_043f, "cmp w1, #1", "x1=0x100000001", "nzcv=0110"),
    (0xb100_043f, "cmn x1, #1", "x1=0xffffffffffffffff", "nzcv=0110"),
    (0xba02_0020, "adcs x0, x1, x2", "x1=0xffffffffffffffff x2=0 nzcv=0010", "x0=0 nzcv=0110"),
    (0x3a02_0020, "adcs w0, w1, w2", "x1=0x7fffffff x2=0 nzcv=0010", "x0=0x80000000 nzcv=1001"),
    (0x9a02_0020, "adc x0, x1, x2", "x1=1 x2=2 nzcv=0010", "x0=4 nzcv=0010"),
    (0xfa02_0020, "sbcs x0, x1, x2", "x1=0 x2=0 nzcv=0000", "x0=0xffffffffffffffff nzcv=1000"),
    (0xfa02_0020, "sbcs x0, x1, x2", "x1=0 x2=0 nzcv=0010", "x0=0 nzcv=0110"),
    (0x5a02_0020, "sbc w0, w1, w2", "x1=5 x2=3 nzcv=0000", "x0=1 nzcv=0000"),
    (
        0xea02_0020,
        "ands x0, x1, x2",
        "x1=0xf000000000000000 x2=0x8000000000000000 nzcv=0011",
        "x0=0x8000000000000000 nzcv=1000",
    ),
    (0x6a22_0020, "bics w0, w1, w2", "x1=0xffffffff x2=0xffffffff nzcv=1011", "x0=0 nzcv=0100"),
    (0xf208_9c3f, "tst x1, #0xff00ff00ff00ff00", "x1=0x00ff00ff00ff00ff", "nzcv=0100"),
    // Immediates and the stack pointer
    (0x9100_43ff, "add sp, sp, #0x10", "sp=0x2000", "sp=0x2010"),
    (0xd140_07ff, "sub sp, sp, #1, lsl #12", "sp=0x2000", "sp=0x1000"),
    (0x9100_03e0, "mov x0, sp", "sp=0x2000", "x0=0x2000"),
    (0x1100_07e0, "add w0, wsp, #1", "sp=0xffffffff00002000", "x0=0x2001"),
    (0xf100_43ff, "cmp sp, #0x10", "sp=0x10", "nzcv=0110"),
    (0xcb21_63ff, "sub sp, sp, x1", "sp=0x3000 x1=0x1000", "sp=0x2000"),
    (0x8b21_4be0, "add x0, sp, w1, uxtw #2", "sp=0x1000 x1=0xffffffff00000004", "x0=0x1010"),
    (0x927c_ec3f, "and sp, x1, #0xfffffffffffffff0", "x1=0x1238", "sp=0x1230"),
    (0x3201_07e0, "orr w0, wzr, #0x80000001", "x0=0xffffffffffffffff", "x0=0x80000001"),
    (0xd200_f020, "eor x0, x1, #0x5555555555555555", "x1=0xffffffffffffffff", "x0=0xaaaaaaaaaaaaaaaa"),
    // Extension and shifts
    (0x8b22_9020, "add x0, x1, w2, sxtb #4", "x1=0 x2=0x80", "x0=0xfffffffffffff800"),
    (0x8b22_2020, "add x0, x1, w2, uxth", "x1=1 x2=0xfffff", "x0=0x10000"),
    (0xcb22_c420, "sub x0, x1, w2, sxtw #1", "x1=0 x2=0xffffffff", "x0=2"),
    (0xeb22_e820, "subs x0, x1, x2, sxtx #2", "x1=4 x2=1", "x0=0 nzcv=0110"),
    (0x0b82_7c20, "add w0, w1, w2, asr #31", "x1=1 x2=0x80000000", "x0=0"),
    (0xcb42_fc20, "sub x0, x1, x2, lsr #63", "x1=1 x2=0x8000000000000000", "x0=0"),
    (0x2ac2_1020, "orr w0, w1, w2, ror #4", "x1=0 x2=0xf", "x0=0xf0000000"),
    (0xca22_1020, "eon x0, x1, x2, lsl #4", "x1=0 x2=1", "x0=0xffffffffffffffef"),
    (0x8a22_0020, "bic x0, x1, x2", "x1=0xff x2=0xf", "x0=0xf0"),
    (0x2a22_03e0, "mvn w0, w2", "x2=0xffffffff00000000", "x0=0xffffffff"),
    (0x2a02_03e0, "mov w0, w2", "x2=0xffffffff00000005", "x0=5"),
    // Moves
    (0xd2e2_4680, "movz x0, #0x1234, lsl #48", "x0=1", "x0=0x1234000000000000"),
    (0x1280_0000, "movn w0, #0", "x0=0", "x0=0xffffffff"),
    (0x92a0_0020, "movn x0, #1, lsl #16", "x0=0", "x0=0xfffffffffffeffff"),
    (0xf2d5_79a0, "movk x0, #0xabcd, lsl #32", "x0=0x1111222233334444", "x0=0x1111abcd33334444"),
    (0x72b5_79a0, "movk w0, #0xabcd, lsl #16", "x0=0x1111222233334444", "x0=0xabcd4444"),
    // Bitfields
    (0xd341_0020, "lsl x0, x1, #63", "x1=3", "x0=0x8000000000000000"),
    (0xd37f_fc20, "lsr x0, x1, #63", "x1=0x8000000000000000", "x0=1"),
    (0x131f_7c20, "asr w0, w1, #31", "x1=0x80000000", "x0=0xffffffff"),
    (0xd344_2c20, "ubfx x0, x1, #4, #8", "x1=0x12345", "x0=0x34"),
    (0x9344_2c20, "sbfx x0, x1, #4, #8", "x1=0xf80", "x0=0xfffffffffffffff8"),
    (0x5304_0c20, "ubfiz w0, w1, #28, #4", "x1=0xff", "x0=0xf0000000"),
    (0x9378_0c20, "sbfiz x0, x1, #8, #4", "x1=0x8", "x0=0xfffffffffffff800"),
    (0x9340_7c20, "sxtw x0, w1", "x1=0x180000000", "x0=0xffffffff80000000"),
    (0x1300_1c20, "sxtb w0, w1", "x1=0x180", "x0=0xffffff80"),
    (0x5300_3c20, "uxth w0, w1", "x1=0x1ffff", "x0=0xffff"),
    (0xb378_1c20, "bfi x0, x1, #8, #8", "x0=0xffffffffffffffff x1=0", "x0=0xffffffffffff00ff"),
    (0x331c_7c20, "bfxil w0, w1, #28, #4", "x0=0xaaaaaaaaaaaaaaaa x1=0x50000000", "x0=0xaaaaaaa5"),
    (0xb340_ffe0, "bfc x0, #0, #64", "x0=5", "x0=0"),
    (0x93c2_0020, "extr x0, x1, x2, #0", "x1=1 x2=2", "x0=2"),
    (0x93c2_fc20, "extr x0, x1, x2, #63", "x1=1 x2=0x8000000000000000", "x0=3"),
    (0x1381_0420, "ror w0, w1, #1", "x1=0xffffffff00000001", "x0=0x80000000"),
    // One source
    (0x5ac0_0020, "rbit w0, w1", "x1=0xffffffff00000001", "x0=0x80000000"),
    (0xdac0_0020, "rbit x0, x1", "x1=1", "x0=0x8000000000000000"),
    (0x5ac0_0420, "rev16 w0, w1", "x1=0x11223344", "x0=0x22114433"),
    (0xdac0_0420, "rev16 x0, x1", "x1=0x1122334455667788", "x0=0x2211443366558877"),
    (0x5ac0_0820, "rev w0, w1", "x1=0xff11223344", "x0=0x44332211"),
    (0xdac0_0820, "rev32 x0, x1", "x1=0x1122334455667788", "x0=0x4433221188776655"),
    (0xdac0_0c20, "rev x0, x1", "x1=0x1122334455667788", "x0=0x8877665544332211"),
    (0x5ac0_1020, "clz w0, w1", "x1=0xffffffff00000000", "x0=32"),
    (0xdac0_1020, "clz x0, x1", "x1=0", "x0=64"),
    (0x5ac0_1420, "cls w0, w1", "x1=0xffffffff", "x0=31"),
    (0xdac0_1420, "cls x0, x1", "x1=0", "x0=63"),
    (0xdac0_1420, "cls x0, x1", "x1=0x4000000000000000", "x0=0"),
    // Two and three sources
    (0x9ac2_0820, "udiv x0, x1, x2", "x1=7 x2=0", "x0=0"),
    (0x9ac2_0c20, "sdiv x0, x1, x2", "x1=0x8000000000000000 x2=0xffffffffffffffff", "x0=0x8000000000000000"),
    (0x1ac2_0c20, "sdiv w0, w1, w2", "x1=0x80000000 x2=0xffffffff", "x0=0x80000000"),
    (0x1ac2_0c20, "sdiv w0, w1, w2", "x1=0xfffffff9 x2=2", "x0=0xfffffffd"),
    (0x1ac2_0820, "udiv w0, w1, w2", "x1=0xf00000007 x2=0xf00000002", "x0=3"),
    (0x1ac2_2020, "lsl w0, w1, w2", "x1=1 x2=33", "x0=2"),
    (0x1ac2_2420, "lsr w0, w1, w2", "x1=0xf80000000 x2=31", "x0=1"),
    (0x9ac2_2820, "asr x0, x1, x2", "x1=0x8000000000000000 x2=127", "x0=0xffffffffffffffff"),
    (0x1ac2_2c20, "ror w0, w1, w2", "x1=0xf00000001 x2=33", "x0=0x80000000"),
    (0x1b02_0c20, "madd w0, w1, w2, w3", "x1=0xffffffff x2=2 x3=1", "x0=0xffffffff"),
    (0x9b02_8c20, "msub x0, x1, x2, x3", "x1=3 x2=4 x3=10", "x0=0xfffffffffffffffe"),
    (0x9b02_7c20, "mul x0, x1, x2", "x1=3 x2=4", "x0=12"),
    (0x9b22_0c20, "smaddl x0, w1, w2, x3", "x1=0xffffffff x2=5 x3=4", "x0=0xffffffffffffffff"),
    (0x9ba2_8c20, "umsubl x0, w1, w2, x3", "x1=0xffffffff x2=0xffffffff x3=0", "x0=0x1ffffffff"),
    (0x9b42_7c20, "smulh x0, x1, x2", "x1=0xffffffffffffffff x2=0xffffffffffffffff", "x0=0"),
    (0x9bc2_7c20, "umulh x0, x1, x2", "x1=0xffffffffffffffff x2=0xffffffffffffffff", "x0=0xfffffffffffffffe"),
    // CRC-32 of "1" from all ones: the first step of the check value of "123456789"
    (0x1ac2_4020, "crc32b w0, w1, w2", "x1=0xffffffff x2=0xf31", "x0=0x7c231048"),
    (0x1ac2_5020, "crc32cb w0, w1, w2", "x1=0xffffffff x2=0x31", "x0=0x6f0a661c"),
    (0x9ac2_4c20, "crc32x w0, w1, x2", "x1=0 x2=1", "x0=0xccaa009e"),
    (0x1ac2_5420, "crc32ch w0, w1, w2", "x1=0x12345678 x2=0x1ffff", "x0=0x5b574fe2"),
    // Conditions
    (0x9a82_0020, "csel x0, x1, x2, eq", "x1=1 x2=2 nzcv=0100", "x0=1"),
    (0x1a82_0020, "csel w0, w1, w2, eq", "x1=1 x2=0xf00000002 nzcv=0000", "x0=2"),
    (0x1a82_1420, "csinc w0, w1, w2, ne", "x1=1 x2=0xffffffff nzcv=0100", "x0=0"),
    (0xda82_4020, "csinv x0, x1, x2, mi", "x1=1 x2=0 nzcv=0000", "x0=0xffffffffffffffff"),
    (0x5a82_a420, "csneg w0, w1, w2, ge", "x1=1 x2=1 nzcv=1000", "x0=0xffffffff"),
    (0x9a9f_97e0, "cset x0, hi", "nzcv=0010", "x0=1"),
    (0x5a9f_83e0, "csetm w0, ls", "nzcv=0010 x0=7", "x0=0"),
    (0xfa42_002f, "ccmp x1, x2, #15, eq", "x1=1 x2=1 nzcv=0100", "nzcv=0110"),
    (0xfa42_102f, "ccmp x1, x2, #15, ne", "x1=1 x2=1 nzcv=0100", "nzcv=1111"),
    (0x7a5f_e820, "ccmp w1, #31, #0, al", "x1=0xf0000001f", "nzcv=0110"),
    (0x3a41_7820, "ccmn w1, #1, #0, vc", "x1=0xffffffff", "nzcv=0110"),
    (0xba42_6025, "ccmn x1, x2, #5, vs", "x1=1 x2=1", "nzcv=0101"),
    // Flags
    (0xba1e_042a, "rmif x1, #60, #0xa", "x1=0xf000000000000000 nzcv=0101", "nzcv=1111"),
    (0x3a00_082d, "setf8 w1", "x1=0x180 nzcv=0010", "nzcv=1010"),
    (0x3a00_082d, "setf8 w1", "x1=0x100", "nzcv=0101"),
    (0x3a00_482d, "setf16 w1", "x1=0x8000", "nzcv=1001"),
    (0xd500_401f, "cfinv", "nzcv=1111", "nzcv=1101"),
    (0xd500_403f, "xaflag", "nzcv=0110", "nzcv=0110"),
    (0xd500_403f, "xaflag", "nzcv=0000", "nzcv=1000"),
    (0xd500_405f, "axflag", "nzcv=0011", "nzcv=0100"),
    // Addresses
    (0x70ff_ffe0, "adr x0, .-1", "", "x0=0x7fff"),
    (0x707f_ffe0, "adr x0, .+0xfffff", "", "x0=0x107fff"),
    (0xf0ff_ffe0, "adrp x0, .-0x1000", "pc=0x8ffc", "x0=0x7000"),
    // Branches
    (0x17ff_ffff, "b .-4", "", "pc=0x7ffc"),
    (0x95ff_ffff, "bl .+0x7fffffc", "", "pc=0x8007ffc x30=0x8004"),
    (0x5400_0040, "b.eq .+8", "nzcv=0100", "pc=0x8008"),
    (0x5400_0040, "b.eq .+8", "", ""),
    (0x5400_004f, "b.nv .+8", "", "pc=0x8008"),
    (0x54ff_ffcc, "b.gt .-8", "nzcv=1001", "pc=0x7ff8"),
    (0x54ff_ffcd, "b.le .-8", "nzcv=1001", ""),
    (0x5400_0052, "bc.hs .+8", "nzcv=0010", "pc=0x8008"),
    (0x3480_0001, "cbz w1, .-0x100000", "x1=0xf00000000 pc=0x200000", "pc=0x100000"),
    (0xb400_0041, "cbz x1, .+8", "x1=0xf00000000", ""),
    (0xb500_0041, "cbnz x1, .+8", "x1=0xf00000000", "pc=0x8008"),
    (0x3500_0041, "cbnz w1, .+8", "x1=0xf00000000", ""),
    (0x36f8_0041, "tbz w1, #31, .+8", "x1=0x7fffffff", "pc=0x8008"),
    (0xb7fc_0001, "tbnz x1, #63, .-0x8000", "x1=0x8000000000000000", "pc=0"),
    (0xb703_ffe1, "tbnz x1, #32, .+0x7ffc", "x1=0x80000000", ""),
    (0xd61f_0020, "br x1", "x1=0x1234", "pc=0x1234"),
    (0xd63f_03c0, "blr x30", "x30=0x1234", "pc=0x1234 x30=0x8004"),
    (0xd65f_03c0, "ret", "x30=0x5678", "pc=0x5678"),
    (0xd65f_0060, "ret x3", "x3=0x5678", "pc=0x5678"),
    // Loads and stores, every addressing mode
    (0xf940_0420, "ldr x0, [x1, #8]", "x1=0x1000 [1008]8=0x1122334455667788", "x0=0x1122334455667788"),
    (0xb97f_fc20, "ldr w0, [x1, #0x3ffc]", "x1=0x1000 [4ffc]8=0x1122334455667788", "x0=0x55667788"),
    (0x3940_0420, "ldrb w0, [x1, #1]", "x1=0x1000 [1000]8=0x1122334455667788", "x0=0x77"),
    (0x39c0_0020, "ldrsb w0, [x1]", "x1=0x1000 [1000]8=0x80", "x0=0xffffff80"),
    (0x3980_0020, "ldrsb x0, [x1]", "x1=0x1000 [1000]8=0x80", "x0=0xffffffffffffff80"),
    (0x79c0_07e0, "ldrsh w0, [sp, #2]", "sp=0x1000 [1000]8=0x80000000", "x0=0xffff8000"),
    (0x7980_0420, "ldrsh x0, [x1, #2]", "x1=0x1000 [1000]8=0x80000000", "x0=0xffffffffffff8000"),
    (0xb980_0420, "ldrsw x0, [x1, #4]", "x1=0x1000 [1004]4=0x80000000", "x0=0xffffffff80000000"),
    (0xf900_07e0, "str x0, [sp, #8]", "sp=0x1000 x0=0x1122334455667788", "[1008]8=0x1122334455667788"),
    (0x7900_0020, "strh w0, [x1]", "x1=0x1000 x0=0x12345", "[1000]2=0x2345"),
    (0x3900_003f, "strb wzr, [x1]", "x1=0x1000 [1000]2=0xffff", "[1000]1=0"),
    (0xf85f_f020, "ldur x0, [x1, #-1]", "x1=0x1001 [1000]8=5", "x0=5"),
    (0xb80f_f020, "stur w0, [x1, #255]", "x1=0x1000 x0=0xf00000005", "[10ff]4=5"),
    (0xf85f_8c20, "ldr x0, [x1, #-8]!", "x1=0x1008 [1000]8=5", "x0=5 x1=0x1000"),
    (0xf840_8420, "ldr x0, [x1], #8", "x1=0x1000 [1000]8=5", "x0=5 x1=0x1008"),
    (0xf81f_0fe0, "str x0, [sp, #-16]!", "sp=0x1010 x0=5", "sp=0x1000 [1000]8=5"),
    (0xb881_07e0, "ldrsw x0, [sp], #16", "sp=0x1000 [1000]4=0xffffffff", "x0=0xffffffffffffffff sp=0x1010"),
    (0x3810_0420, "strb w0, [x1], #-256", "x1=0x1100 x0=0x1ff", "x1=0x1000 [1100]1=0xff"),
    (0xf862_6820, "ldr x0, [x1, x2]", "x1=0x1000 x2=8 [1008]8=5", "x0=5"),
    (0xf862_7820, "ldr x0, [x1, x2, lsl #3]", "x1=0x1000 x2=1 [1008]8=5", "x0=5"),
    (0xb862_5820, "ldr w0, [x1, w2, uxtw #2]", "x1=0x1000 x2=0xffffffff00000002 [1008]8=5", "x0=5"),
    (0x7862_d820, "ldrh w0, [x1, w2, sxtw #1]", "x1=0x1002 x2=0xffffffff [1000]8=5", "x0=5"),
    (0x3862_e820, "ldrb w0, [x1, x2, sxtx]", "x1=0x1001 x2=0xffffffffffffffff [1000]8=5", "x0=5"),
    (0x3862_6820, "ldrb w0, [x1, x2]", "x1=0x1000 x2=1 [1000]8=0x500", "x0=5"),
    (0x3822_6be0, "strb w0, [sp, x2]", "sp=0x1000 x2=1 x0=5", "[1001]1=5"),
    (0xf822_dbe0, "str x0, [sp, w2, sxtw #3]", "sp=0x1010 x2=0xfffffffe x0=5", "[1000]8=5"),
    (0x5800_0040, "ldr x0, .+8", "[8008]8=0x1122334455667788", "x0=0x1122334455667788"),
    (0x18fc_0000, "ldr w0, .-0x8000", "[0]4=0x55667788", "x0=0x55667788"),
    (0x9800_0040, "ldrsw x0, .+8", "[8008]4=0x80000000", "x0=0xffffffff80000000"),
    (0xf85f_8820, "ldtr x0, [x1, #-8]", "x1=0x1008 [1000]8=5", "x0=5"),
    (0x3800_0820, "sttrb w0, [x1]", "x1=0x1000 x0=5", "[1000]1=5"),
    (0xb880_0820, "ldtrsw x0, [x1]", "x1=0x1000 [1000]4=0xffffffff", "x0=0xffffffffffffffff"),
    (0xa941_0820, "ldp x0, x2, [x1, #16]", "x1=0x1000 [1010]8=5 [1018]8=6", "x0=5 x2=6"),
    (0x29e0_0820, "ldp w0, w2, [x1, #-256]!", "x1=0x1100 [1000]8=0x600000005", "x0=5 x2=6 x1=0x1000"),
    (0x68c1_0820, "ldpsw x0, x2, [x1], #8", "x1=0x1000 [1000]8=0x1ffffffff", "x0=0xffffffffffffffff x2=1 x1=0x1008"),
    (0xa9be_7bfd, "stp x29, x30, [sp, #-32]!", "sp=0x1020 x29=5 x30=6", "sp=0x1000 [1000]8=5 [1008]8=6"),
    (0x289f_8820, "stp w0, w2, [x1], #252", "x1=0x1000 x0=5 x2=6", "x1=0x10fc [1000]8=0x600000005"),
    (0xa840_0be0, "ldnp x0, x2, [sp]", "sp=0x1000 [1000]8=5 [1008]8=6", "x0=5 x2=6"),
    (0xa800_7c20, "stnp x0, xzr, [x1]", "x1=0x1000 x0=5 [1008]8=6", "[1000]8=5 [1008]8=0"),
    (0xf980_0020, "prfm pldl1keep, [x1]", "x1=1", ""),
    (0x88df_fc20, "ldar w0, [x1]", "x1=0x1000 [1000]8=0xf00000005", "x0=5"),
    (0x089f_ffe0, "stlrb w0, [sp]", "sp=0x1000 x0=0x105", "[1000]1=5"),
    (0xc89f_7c20, "stllr x0, [x1]", "x1=0x1000 x0=5", "[1000]8=5"),
    (0x48df_7c20, "ldlarh w0, [x1]", "x1=0x1000 [1000]8=0x10005", "x0=5"),
    (0xf8bf_c020, "ldapr x0, [x1]", "x1=0x1000 [1000]8=5", "x0=5"),
    (0x19df_f020, "ldapursb w0, [x1, #-1]", "x1=0x1001 [1000]1=0xff", "x0=0xffffffff"),
    (0xd900_8020, "stlur x0, [x1, #8]", "x1=0x1000 x0=5", "[1008]8=5"),
    (0xc802_7c20, "stxr w2, x0, [x1]", "x1=0x1000 x0=5", "x2=1"),
    (0xc8a0_7c22, "cas x0, x2, [x1]", "x1=0x1000 x0=5 x2=6 [1000]8=5", "[1000]8=6"),
    (0x88a0_7c22, "cas w0, w2, [x1]", "x1=0x1000 x0=5 x2=6 [1000]8=7", "x0=7"),
    (0x08e0_7c22, "casab w0, w2, [x1]", "x1=0x1000 x0=0x105 x2=0x106 [1000]8=0x905", "x0=5 [1000]1=6"),
    (
        0x4862_fc24,
        "caspal x2, x3, x4, x5, [x1]",
        "x1=0x1000 x2=1 x3=2 x4=3 x5=4 [1000]8=1 [1008]8=2",
        "[1000]8=3 [1008]8=4",
    ),
    (0x0822_7c24, "casp w2, w3, w4, w5, [x1]", "x1=0x1000 x2=1 x3=2 x4=3 x5=4 [1000]8=0x300000001", "x2=1 x3=3"),
    (0xf820_0022, "ldadd x0, x2, [x1]", "x1=0x1000 x0=0xffffffffffffffff [1000]8=5", "x2=5 [1000]8=4"),
    (0xb820_003f, "stadd w0, [x1]", "x1=0x1000 x0=1 [1000]4=0xffffffff", "[1000]4=0"),
    (0x78e0_1022, "ldclralh w0, w2, [x1]", "x1=0x1000 x0=0xf0f0f [1000]2=0xffff", "x2=0xffff [1000]2=0xf0f0"),
    (0xf8a0_2022, "ldeora x0, x2, [x1]", "x1=0x1000 x0=6 [1000]8=3", "x2=3 [1000]8=5"),
    (0xb860_3022, "ldsetl w0, w2, [x1]", "x1=0x1000 x0=6 [1000]8=3", "x2=3 [1000]4=7"),
    (0x3820_4022, "ldsmaxb w0, w2, [x1]", "x1=0x1000 x0=0x7f [1000]1=0x80", "x2=0x80 [1000]1=0x7f"),
    (0x7820_5022, "ldsminh w0, w2, [x1]", "x1=0x1000 x0=0x8000 [1000]2=1", "x2=1 [1000]2=0x8000"),
    (0x3820_6022, "ldumaxb w0, w2, [x1]", "x1=0x1000 x0=0x17f [1000]1=0x80", "x2=0x80 [1000]1=0x80"),
    (0xf820_7022, "ldumin x0, x2, [x1]", "x1=0x1000 x0=0xffffffffffffffff [1000]8=1", "x2=1"),
    (0xb8e0_8022, "swpal w0, w2, [x1]", "x1=0x1000 x0=5 [1000]8=0x600000007", "x2=7 [1000]4=5"),
    (0x3820_83e0, "swpb w0, w0, [sp]", "sp=0x1000 x0=5 [1000]8=0x107", "x0=7 [1000]1=5"),
    // FEAT_LRCPC3, which the assembler does not know
    (0xd980_0820, "stlr x0, [x1, #-8]!", "x1=0x1008 x0=5", "x1=0x1000 [1000]8=5"),
    (0xd9c0_0820, "ldapr x0, [x1], #8", "x1=0x1000 [1000]8=5", "x1=0x1008 x0=5"),
    (0xd942_1820, "ldiapp x0, x2, [x1]", "x1=0x1000 [1000]8=5 [1008]8=6", "x0=5 x2=6"),
    (0x9902_0820, "stilp w0, w2, [x1, #-8]!", "x1=0x1008 x0=5 x2=6", "x1=0x1000 [1000]8=0x600000005"),
    // Rt is the base: see transfer.rs
    (0xf840_8400, "ldr x0, [x0], #8", "x0=0x1000 [1000]8=5", "x0=5"),
    (0xf800_8c00, "str x0, [x0, #8]!", "x0=0x1000", "x0=0x1008 [1008]8=0x1000"),
    (0x11c0_0420, "smax w0, w1, #1", "x1=0xffffffff", "x0=1"),
    (0x91cb_fc20, "smin x0, x1, #-1", "x1=5", "x0=0xffffffffffffffff"),
    (0x91c7_fc20, "umax x0, x1, #255", "x1=5", "x0=255"),
    (0x11cf_fc20, "umin w0, w1, #255", "x1=0xf00000100", "x0=255"),
    (0x9ac2_6020, "smax x0, x1, x2", "x1=0xffffffffffffffff x2=1", "x0=1"),
    (0x1ac2_6420, "umax w0, w1, w2", "x1=0xffffffff x2=0xf00000001", "x0=0xffffffff"),
    (0x1ac2_6820, "smin w0, w1, w2", "x1=0xffffffff x2=1", "x0=0xffffffff"),
    (0x9ac2_6c20, "umin x0, x1, x2", "x1=0xffffffffffffffff x2=1", "x0=1"),
    (0x5ac0_1820, "ctz w0, w1", "x1=0xf00000000", "x0=32"),
    (0xdac0_1820, "ctz x0, x1", "x1=0x8000000000000000", "x0=63"),
    (0x5ac0_1c20, "cnt w0, w1", "x1=0xf000000ff", "x0=8"),
    (0xdac0_2020, "abs x0, x1", "x1=0xfffffffffffffffb", "x0=5"),
    (0x5ac0_2020, "abs w0, w1", "x1=0x80000000", "x0=0x80000000"),
];

fn number(text: &str) -> u64 {
    text.strip_prefix("0x").map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16)).unwrap()
}

/// Applies `name=value ...`.
fn set(m: &mut Flat, text: &str) {
    for (name, value) in text.split_whitespace().map(|part| part.split_once('=').unwrap()) {
        match name.as_bytes() {
            [b'x', ..] => m.x[name[1..].parse::<usize>().unwrap()] = number(value),
            b"sp" => m.sp = number(value),
            b"pc" => m.pc = number(value),
            b"nzcv" => m.nzcv = u64::from_str_radix(value, 2).unwrap() << 28,
            [b'[', ..] => {
                let (address, bytes) = name[1..].split_once(']').unwrap();
                let address = u64::from_str_radix(address, 16).unwrap();
                m.memory.write(address, bytes.parse().unwrap(), u128::from(number(value))).unwrap();
            }
            _ => panic!("{name}"),
        }
    }
}

#[test]
fn cases() {
    for &(word, text, given, then) in CASES {
        let mut m = Flat { pc: 0x8000, ..Flat::default() };
        set(&mut m, given);
        let mut expected = m.clone();
        expected.pc += 4;
        set(&mut expected, then);
        assert_eq!(m.step(word), Ok(()), "{text}");
        // How it came there, and which zeros were written, is not the point.
        for state in [&mut m, &mut expected] {
            (state.branched, state.monitor) = (None, None);
            state.log.clear();
            state.memory.written.retain(|_, byte| *byte != 0);
        }
        assert_eq!(m, expected, "{text}, with {given}");
    }
}

#[test]
fn exclusives() {
    let mut m = Flat { sp: 0x1000, ..Flat::default() };
    set(&mut m, "[1000]8=5 [1008]8=6 x1=0x1000");
    m.step(0xc85f_fc20).unwrap(); // ldaxr x0, [x1]
    assert_eq!(m.x[0], 5);
    m.x[0] = 9;
    m.step(0xc802_7c20).unwrap(); // stxr w2, x0, [x1]
    assert_eq!((m.x[2], m.memory.read(0x1000, 8)), (0, Ok(9)));
    m.step(0xc802_7c20).unwrap();
    assert_eq!(m.x[2], 1, "the monitor is clear");
    m.step(0xc87f_0fe0).unwrap(); // ldxp x0, x3, [sp]
    assert_eq!((m.x[0], m.x[3]), (9, 6));
    m.step(0xd503_3f5f).unwrap(); // clrex
    m.step(0xc822_8fe0).unwrap(); // stlxp w2, x0, x3, [sp]
    assert_eq!(m.x[2], 1);
    m.step(0x887f_0fe0).unwrap(); // ldxp w0, w3, [sp]
    (m.x[0], m.x[3]) = (0x1_0000_0007, 8);
    m.step(0x8822_0fe0).unwrap(); // stxp w2, w0, w3, [sp]
    assert_eq!((m.x[2], m.memory.read(0x1000, 8)), (0, Ok(0x8_0000_0007)));
    m.step(0x085f_7c22).unwrap(); // ldxrb w2, [x1]
    m.step(0x0802_fc22).unwrap(); // stlxrb w2, w2, [x1]: the data is read before the status is written
    assert_eq!((m.x[2], m.memory.read(0x1000, 1)), (0, Ok(7)));
}

#[test]
fn faults_leave_registers_alone() {
    for (word, text) in [
        (0xf840_8420, "ldr x0, [x1], #8"),
        (0xf800_8c20, "str x0, [x1, #8]!"),
        (0xa8c1_0820, "ldp x0, x2, [x1], #16"),
        (0xa9bf_0820, "stp x0, x2, [x1, #-16]!"),
        (0xf8e2_0020, "ldaddal x2, x0, [x1]"),
        (0xc8a2_7c20, "cas x2, x0, [x1]"),
    ] {
        let mut m = Flat::default();
        m.memory.refuse = crate::eval::Refuse::Outside(0..8);
        m.x[1] = 0x1000;
        let before = m.clone();
        assert!(matches!(m.step(word), Err(Stop::Fault { .. })), "{text}");
        assert_eq!(m, before, "{text}");
    }
}

#[test]
fn sp_as_base_is_checked() {
    let decoder = Decoder::<Flat>::new();
    let mut lines = 0;
    for word in [
        0xf940_03e0,
        0xf900_03e0,
        0xf84f_f3e0,
        0xf841_07e0,
        0xf841_0fe0,
        0xf862_6be0,
        0x3862_6be0,
        0xf840_0be0,
        0xa940_0be0,
        0xa8c1_0be0,
        0xa9bf_0be0,
        0xa840_0be0,
        0xc85f_7fe0,
        0xc802_7fe0,
        0xc87f_0be0,
        0xc8df_ffe0,
        0xf8bf_c3e0,
        0xd940_03e0,
        0xc8a2_7fe0,
        0x4822_7fe0,
        0xf822_03e0,
    ] {
        let name = decoder.decode(word).unwrap().1.name;
        let mut m = Flat { sp: 0x1008, sp_check: SpCheck::On, ..Flat::default() };
        assert_eq!(m.step(word), Err(Stop::SpAlignment), "{name}");
        m.sp = 0x1010;
        assert_eq!(m.step(word), Ok(()), "{name}");
        lines += 1;
    }
    assert_eq!(lines, 21);
    // Prefetches make no access, and so check nothing.
    let mut m = Flat { sp: 0x1008, sp_check: SpCheck::On, ..Flat::default() };
    m.step(0xf980_03e0).unwrap();
}

/// The kinds of access: log2 of the size, ordering, privilege.
#[test]
fn access_kinds() {
    fn kind<K: Kind>(log2: u32) -> Access {
        Access { log2, order: K::ORDER, privilege: K::PRIVILEGE, tags: TagCheck::Checked }
    }
    let decoder = Decoder::<Flat>::new();
    for (word, access) in [
        (0xf940_0020, kind::<Plain>(3)),
        (0x3840_0820, kind::<Unprivileged>(0)),
        (0xb840_0820, kind::<Unprivileged>(2)),
        (0xf800_0820, kind::<Unprivileged>(3)),
        (0x48df_fc20, kind::<Acquire>(1)),
        (0x089f_fc20, kind::<Release>(0)),
        (0x88df_7c20, kind::<Limited>(2)),
        (0xc89f_7c20, kind::<Limited>(3)),
        (0xf8bf_c020, kind::<AcquirePc>(3)),
        (0xd940_0020, kind::<AcquirePc>(3)),
        (0x9900_0020, kind::<Release>(2)),
        (0x885f_fc20, kind::<Acquire>(2)),
        (0xc802_fc20, kind::<Release>(3)),
        (0xc802_7c20, kind::<Plain>(3)),
        (0x887f_8c20, kind::<Acquire>(2)),
        (0xc8e2_7c20, kind::<Acquire>(3)),
        (0xc8a2_fc20, kind::<Release>(3)),
        (0x08e2_fc20, kind::<AcquireRelease>(0)),
        (0x4862_fc24, kind::<AcquireRelease>(3)),
        (0x78e2_0020, kind::<AcquireRelease>(1)),
        (0xb862_8020, kind::<Release>(2)),
        (0xf8a2_1020, kind::<Acquire>(3)),
    ] {
        let (id, line) = decoder.decode(word).unwrap();
        let insn = Insn::new(word, 0, (line.prepare)(word).unwrap());
        let touches = Footprint::of(id, insn).memory;
        assert!(
            !touches.is_empty() && touches.iter().all(|touch| touch.access == access),
            "{}: {touches:?}",
            line.name
        );
    }
}

/// What instructions ask of the system, with the argument, and whether they end their block.
#[test]
fn system() {
    use arch::sysreg::Enc;
    let decoder = Decoder::<Flat>::new();
    let exception = |call, imm16| System::Exception(call, imm16);
    for (word, op, argument, flow) in [
        (0xd400_0001, exception(ExceptionCall::Svc, 0), 0, Flow::End),
        (0xd41f_ffe2, exception(ExceptionCall::Hvc, 0xffff), 0, Flow::End),
        (0xd400_0023, exception(ExceptionCall::Smc, 1), 0, Flow::End),
        (0xd421_0000, exception(ExceptionCall::Brk, 0x800), 0, Flow::End),
        (0xd45e_0000, exception(ExceptionCall::Hlt, 0xf000), 0, Flow::End),
        (0xd4a0_0042, exception(ExceptionCall::Dcps(2), 2), 0, Flow::End),
        (0x0000_1234, exception(ExceptionCall::Udf, 0x1234), 0, Flow::End),
        (0xd69f_03e0, System::Eret, 0, Flow::End),
        (0xd6bf_03e0, System::Drps, 0, Flow::End),
        (0xd538_d081, System::Mrs(Enc::new(3, 0, 13, 0, 4)), 0, Flow::Next),
        (0xd518_2001, System::Msr(Enc::new(3, 0, 2, 0, 0)), 7, Flow::End),
        (0xd508_831f, System::Sys(Enc::new(1, 0, 8, 3, 0)), 0, Flow::End),
        (0xd50b_7421, System::Sys(Enc::new(1, 3, 7, 4, 1)), 7, Flow::End),
        (0xd528_7701, System::Sysl(Enc::new(1, 0, 7, 7, 0)), 0, Flow::End),
        (0xd500_41bf, System::MsrImmediate(PstateField::SpSel, 1), 0, Flow::End),
        (0xd503_42df, System::MsrImmediate(PstateField::DaifSet, 2), 0, Flow::End),
        (0xd503_4fff, System::MsrImmediate(PstateField::DaifClr, 15), 0, Flow::End),
        (0xd500_419f, System::MsrImmediate(PstateField::Pan, 1), 0, Flow::End),
        (0xd500_407f, System::MsrImmediate(PstateField::Uao, 0), 0, Flow::End),
        (0xd503_415f, System::MsrImmediate(PstateField::Dit, 1), 0, Flow::End),
        (0xd503_413f, System::MsrImmediate(PstateField::Ssbs, 1), 0, Flow::End),
        (0xd503_419f, System::MsrImmediate(PstateField::Tco, 1), 0, Flow::End),
        (0xd503_3bbf, System::Barrier(BarrierOp::Dmb, Domain::InnerShareable), 0, Flow::Next),
        (0xd503_39bf, System::Barrier(BarrierOp::DmbLd, Domain::InnerShareable), 0, Flow::Next),
        (0xd503_32bf, System::Barrier(BarrierOp::DmbSt, Domain::OuterShareable), 0, Flow::Next),
        (0xd503_3f9f, System::Barrier(BarrierOp::Dsb, Domain::System), 0, Flow::Next),
        (0xd503_379f, System::Barrier(BarrierOp::Dsb, Domain::NonShareable), 0, Flow::Next),
        (0xd503_309f, System::Barrier(BarrierOp::Dsb, Domain::System), 0, Flow::Next),
        (0xd503_3a3f, System::Barrier(BarrierOp::Dsb, Domain::InnerShareable), 0, Flow::Next),
        (0xd503_3fdf, System::Barrier(BarrierOp::Isb, Domain::System), 0, Flow::End),
        (0xd503_30ff, System::Barrier(BarrierOp::Sb, Domain::System), 0, Flow::End),
        (0xd503_3f5f, System::Clrex, 0, Flow::Next),
        (0xd503_203f, System::Hint(Hint::Yield), 0, Flow::End),
        (0xd503_205f, System::Hint(Hint::Wfe), 0, Flow::End),
        (0xd503_207f, System::Hint(Hint::Wfi), 0, Flow::End),
        (0xd503_209f, System::Hint(Hint::Sev), 0, Flow::Next),
        (0xd503_20bf, System::Hint(Hint::Sevl), 0, Flow::Next),
        (0xd503_221f, System::Hint(Hint::Esb), 0, Flow::End),
        (0xd503_223f, System::Hint(Hint::Psb), 0, Flow::Next),
        (0xd503_1001, System::Hint(Hint::Wfet), 7, Flow::End),
        (0xd503_1021, System::Hint(Hint::Wfit), 7, Flow::End),
    ] {
        let mut m = Flat::default();
        m.x[1] = 7;
        // Exceptions and returns stop Flat; what they asked is logged all the same.
        let end = m.step(word);
        assert!(matches!(end, Ok(()) | Err(Stop::Leaves(_))), "{op:?}: {end:?}");
        assert_eq!(m.log, [(op, argument)], "{word:#010x}");
        assert_eq!(decoder.decode(word).unwrap().1.flow, flow, "{op:?}");
    }
}

#[test]
fn hints_without_effect_are_nops() {
    // NOP, DGH, TSB CSYNC, CSDB, CLRBHB, BTI jc, and numbers without a name.
    for hint in [0, 6, 18, 20, 22, 38, 41, 100, 127] {
        let (mut m, before) = (Flat::default(), Flat { pc: 4, ..Flat::default() });
        m.step(0xd503_201f | hint << 5).unwrap();
        assert_eq!(m, before, "hint #{hint}");
    }
}

#[test]
fn mrs_and_sysl_write_rt() {
    for word in [0xd538_d081, 0xd528_7701] {
        let mut m = Flat::default();
        m.step(word).unwrap();
        assert_ne!(m.x[1], 0);
    }
}

#[test]
fn undefined_words() {
    for (word, why) in [
        (0x8bc0_0000, "add shifted, shift type 11"),
        (0x0b00_8000, "add shifted, 32 bits, by 32"),
        (0x0a00_8000, "and shifted, 32 bits, by 32"),
        (0x8b20_7400, "add extended, shift by 5"),
        (0x9240_fc00, "and immediate, all ones"),
        (0x1200_fc00, "and immediate, no element size"),
        (0x1240_0000, "and immediate, 32 bits, N"),
        (0x5300_8000, "ubfm, 32 bits, imms 32"),
        (0x5320_0000, "ubfm, 32 bits, immr 32"),
        (0x5340_0000, "ubfm, 32 bits, N"),
        (0x9300_0000, "sbfm, 64 bits, N clear"),
        (0x1380_8000, "extr, 32 bits, by 32"),
        (0x13c0_0000, "extr, 32 bits, N"),
        (0x5280_0000 | 1 << 22, "movz, 32 bits, shift by 32"),
        (0xf862_0820, "ldr register, option 000"),
        (0x0861_7c22, "casp, odd Rs"),
        (0x0862_7c23, "casp, odd Rt"),
        (0xd503_2000, "hint, Rt not 31"),
        (0xd500_40df, "msr immediate, op1 0, op2 6"),
        (0xd503_40bf, "msr immediate, op1 3, op2 5"),
        (0xffff_ffff, "no class"),
    ] {
        assert_eq!(Flat::default().step(word), Err(Stop::Undefined { word }), "{why}");
    }
}

/// What each pointer authentication instruction asks for, of which registers, and where the result goes.
#[test]
fn pointer_authentication() {
    use PauthKey::{DA, DB, IA, IB};
    let operands = |op, pointer, modifier| Flat::default().assist(Insn::new(0, 0, 0), op, [pointer, modifier, 0]);
    // Pointers with bit 0 set never fail in Flat.
    let state = || {
        let mut m = Flat { sp: 0x2220, ..Flat::default() };
        (m.x[0], m.x[1], m.x[16], m.x[17], m.x[30]) = (0x4_0001, 0x77, 0x16, 0x17_0001, 0x30_0001);
        m
    };
    for (word, op, register, modifier) in [
        (0xdac1_0020, Assist::Sign(IA), 0, 0x77),            // pacia x0, x1
        (0xdac1_07e0, Assist::Sign(IB), 0, 0x2220),          // pacib x0, sp
        (0xdac1_0820, Assist::Sign(DA), 0, 0x77),            // pacda x0, x1
        (0xdac1_0c20, Assist::Sign(DB), 0, 0x77),            // pacdb x0, x1
        (0xdac1_1020, Assist::Authenticate(IA), 0, 0x77),    // autia x0, x1
        (0xdac1_1fe0, Assist::Authenticate(DB), 0, 0x2220),  // autdb x0, sp
        (0xdac1_2be0, Assist::Sign(DA), 0, 0),               // pacdza x0
        (0xdac1_37e0, Assist::Authenticate(IB), 0, 0),       // autizb x0
        (0xdac1_43e0, Assist::StripInstruction, 0, 0),       // xpaci x0
        (0xdac1_47e0, Assist::StripData, 0, 0),              // xpacd x0
        (0xd503_20ff, Assist::StripInstruction, 30, 0),      // xpaclri
        (0xd503_211f, Assist::Sign(IA), 17, 0x16),           // pacia1716
        (0xd503_21df, Assist::Authenticate(IB), 17, 0x16),   // autib1716
        (0xd503_231f, Assist::Sign(IA), 30, 0),              // paciaz
        (0xd503_237f, Assist::Sign(IB), 30, 0x2220),         // pacibsp
        (0xd503_23bf, Assist::Authenticate(IA), 30, 0x2220), // autiasp
        (0xd503_23df, Assist::Authenticate(IB), 30, 0),      // autibz
    ] {
        let mut m = state();
        m.step(word).unwrap();
        assert_eq!(Ok(m.x[register]), operands(op, state().x[register], modifier), "{word:#010x}");
    }
    let mut m = state();
    m.step(0x9ac1_3002).unwrap(); // pacga x2, x0, x1
    assert_eq!(Ok(m.x[2]), operands(Assist::SignGeneric, 0x4_0001, 0x77));
    for (word, kind, key, modifier, link) in [
        (0xd71f_0801, BranchKind::Indirect, IA, 0x77, 0x30_0001), // braa x0, x1
        (0xd61f_0c1f, BranchKind::Indirect, IB, 0, 0x30_0001),    // brabz x0
        (0xd73f_0c1f, BranchKind::IndirectCall, IB, 0x2220, 4),   // blrab x0, sp
        (0xd63f_081f, BranchKind::IndirectCall, IA, 0, 4),        // blraaz x0
    ] {
        let mut m = state();
        m.step(word).unwrap();
        let target = operands(Assist::AuthenticateCombined(key), 0x4_0001, modifier).unwrap();
        assert_eq!((m.branched, m.x[30]), (Some((kind, target)), link), "{word:#010x}");
    }
    let mut m = state();
    m.step(0xd65f_0fff).unwrap(); // retab
    let target = operands(Assist::AuthenticateCombined(IB), 0x30_0001, 0x2220).unwrap();
    assert_eq!(m.branched, Some((BranchKind::Return, target)));
    assert_eq!(m.step(0xd69f_0bff), Err(Stop::Leaves(System::EretAuthenticated(IA)))); // eretaa
    for (word, key, offset, base) in [
        (0xf820_1401_u32, DA, 8, 0x4_0001),  // ldraa x1, [x0, #8]
        (0xf8ff_fc01, DB, -8, 0x4_0001 - 8), // ldrab x1, [x0, #-8]!
    ] {
        let mut m = state();
        m.memory.fill = Fill::Hash(1);
        m.step(word).unwrap();
        let address = operands(Assist::AuthenticateCombined(key), 0x4_0001, 0).unwrap().wrapping_add_signed(offset);
        assert_eq!(u128::from(m.x[1]), m.memory.read(address, 8).unwrap(), "{word:#010x}");
        assert_eq!(m.x[0], base, "{word:#010x}");
    }
    // A failure leaves all as it was.
    let mut m = state();
    m.x[0] = 0x1234_0000_0000_0000;
    let before = m.clone();
    assert_eq!(m.step(0xd73f_0801), Err(Stop::PacFail)); // blraa x0, x1
    assert_eq!(m, before);
}

#[test]
fn known_but_not_done() {
    for (word, text) in [
        (0xf83f_d020, "ld64b x0, [x1]"),
        (0x1920_1020, "ldclrp x0, x0, [x1]"),
        (0x3820_9020, "rcwclr x0, x0, [x1]"),
        (0xd570_2000, "mrrs x0, x1, ttbr0_el1"),
    ] {
        assert_eq!(Flat::default().step(word), Err(Stop::NotDone { word }), "{text}");
    }
}
