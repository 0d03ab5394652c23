//! LD1 to LD4 and ST1 to ST4, multiple structures. DDI 0487 C4.1 "Advanced SIMD load/store multiple structures".
//!
//! Memory is read and written 16 bytes at a time with the element's size as the unit of alignment, and the elements
//! are sorted between registers afterwards, by the same functions as UZP and ZIP.

use crate::base::address::{Base as _, XnOrSp};
use crate::insn::Insn;
use crate::machine::{Access, Done, FpEnv, Machine, TagCheck};
use crate::simd::constant;
use crate::simd::lanes::{Lane, build};
use crate::simd::pures::Sizes;
use crate::simd::simd_perm::{UZP1, UZP2, ZIP1, ZIP2};
use crate::spec::plain;
use crate::word::{Quad, Word};

crate::encodings! {
    "*_asisdlse_*" => "* {list}, [{Xn|sp}]";
    "*_asisdlsep_I*" => "* {list}, [{Xn|sp}], #{bytes}";
    "*_asisdlsep_R*" => "* {list}, [{Xn|sp}], {Xm}";
    ST4_asisdlse_R4     "0 Q 001100000000000000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 4, 4>;
    ST1_asisdlse_R4_4v  "0 Q 001100000000000010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 4>;
    ST3_asisdlse_R3     "0 Q 001100000000000100 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 3, 3>;
    ST1_asisdlse_R3_3v  "0 Q 001100000000000110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 3>;
    ST1_asisdlse_R1_1v  "0 Q 001100000000000111 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 1>;
    ST2_asisdlse_R2     "0 Q 001100000000001000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 2, 2>;
    ST1_asisdlse_R2_2v  "0 Q 001100000000001010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 2>;
    LD4_asisdlse_R4     "0 Q 001100010000000000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 4, 4>;
    LD1_asisdlse_R4_4v  "0 Q 001100010000000010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 4>;
    LD3_asisdlse_R3     "0 Q 001100010000000100 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 3, 3>;
    LD1_asisdlse_R3_3v  "0 Q 001100010000000110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 3>;
    LD1_asisdlse_R1_1v  "0 Q 001100010000000111 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 1>;
    LD2_asisdlse_R2     "0 Q 001100010000001000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 2, 2>;
    LD1_asisdlse_R2_2v  "0 Q 001100010000001010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 2>;
    ST4_asisdlsep_R4_r  "0 Q 001100100 mmmmm 0000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 4, 4>;
    ST1_asisdlsep_R4_r4 "0 Q 001100100 mmmmm 0010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 4>;
    ST3_asisdlsep_R3_r  "0 Q 001100100 mmmmm 0100 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 3, 3>;
    ST1_asisdlsep_R3_r3 "0 Q 001100100 mmmmm 0110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 3>;
    ST1_asisdlsep_R1_r1 "0 Q 001100100 mmmmm 0111 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 1>;
    ST2_asisdlsep_R2_r  "0 Q 001100100 mmmmm 1000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 2, 2>;
    ST1_asisdlsep_R2_r2 "0 Q 001100100 mmmmm 1010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 2>;
    ST4_asisdlsep_I4_i  "0 Q 001100100111110000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 4, 4>;
    ST1_asisdlsep_I4_i4 "0 Q 001100100111110010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 4>;
    ST3_asisdlsep_I3_i  "0 Q 001100100111110100 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 3, 3>;
    ST1_asisdlsep_I3_i3 "0 Q 001100100111110110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 3>;
    ST1_asisdlsep_I1_i1 "0 Q 001100100111110111 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 1>;
    ST2_asisdlsep_I2_i  "0 Q 001100100111111000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => store::<M, 2, 2>;
    ST1_asisdlsep_I2_i2 "0 Q 001100100111111010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 2>;
    LD4_asisdlsep_R4_r  "0 Q 001100110 mmmmm 0000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 4, 4>;
    LD1_asisdlsep_R4_r4 "0 Q 001100110 mmmmm 0010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 4>;
    LD3_asisdlsep_R3_r  "0 Q 001100110 mmmmm 0100 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 3, 3>;
    LD1_asisdlsep_R3_r3 "0 Q 001100110 mmmmm 0110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 3>;
    LD1_asisdlsep_R1_r1 "0 Q 001100110 mmmmm 0111 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 1>;
    LD2_asisdlsep_R2_r  "0 Q 001100110 mmmmm 1000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 2, 2>;
    LD1_asisdlsep_R2_r2 "0 Q 001100110 mmmmm 1010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 2>;
    LD4_asisdlsep_I4_i  "0 Q 001100110111110000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 4, 4>;
    LD1_asisdlsep_I4_i4 "0 Q 001100110111110010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 4>;
    LD3_asisdlsep_I3_i  "0 Q 001100110111110100 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 3, 3>;
    LD1_asisdlsep_I3_i3 "0 Q 001100110111110110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 3>;
    LD1_asisdlsep_I1_i1 "0 Q 001100110111110111 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 1>;
    LD2_asisdlsep_I2_i  "0 Q 001100110111111000 zz nnnnn ttttt" FEAT_AdvSIMD next no_1d => load::<M, 2, 2>;
    LD1_asisdlsep_I2_i2 "0 Q 001100110111111010 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 2>;
}

/// Structures of elements of 64 bits need 128-bit registers.
fn no_1d(word: u32) -> Option<u64> {
    (word >> 30 & 1 == 1 || word >> 10 & 3 != 3).then_some(0)
}

/// The base is moved on by Rm or, where Rm is 31, by the size of what was transferred.
#[inline(always)]
pub(super) fn post_index<M: Machine>(m: &mut M, i: Insn, base: M::Word, bytes: u32) {
    if i.bit(23) == 1 {
        let step = if i.rm() == 31 { M::Word::from(u64::from(bytes)) } else { m.x(i.rm()) };
        m.set_x_or_sp(i.rn(), base + step);
    }
}

/// Accesses relative to SP are not checked against allocation tags, unless it is written back.
#[inline(always)]
pub(super) fn tags(i: Insn) -> TagCheck {
    if i.bit(23) == 1 { TagCheck::Checked } else { XnOrSp::tags(i.rn()) }
}

/// 8 bytes in elements of `access`'s size.
fn load_half<M: Machine>(m: &mut M, address: M::Word, access: Access) -> Result<M::Word, M::Stop> {
    let mut value = m.load(address, access)?;
    for at in (1 << access.log2..8).step_by(1 << access.log2) {
        let element = m.load(address + M::Word::from(at), access)?;
        value = value | element.shl(M::Word::from(at * 8));
    }
    Ok(value)
}

/// Stores 8 bytes in elements of `access`'s size.
fn store_half<M: Machine>(m: &mut M, address: M::Word, value: M::Word, access: Access) -> Done<M> {
    for at in (0..8).step_by(1 << access.log2) {
        m.store(address + M::Word::from(at), value.lshr(M::Word::from(at * 8)), access)?;
    }
    Ok(())
}

fn load<M: Machine, const STRUCTURE: usize, const REGS: usize>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (base, log2, whole) = (m.x_or_sp(i.rn()), i.bits(11, 10), i.bit(30) == 1);
    let access = Access::plain(log2).tagged(tags(i));
    let bytes = if whole { 16 * REGS as u64 } else { 8 * REGS as u64 };
    let mut memory = [constant::<M>(0); 4];
    for (at, quad) in (0..bytes).step_by(16).zip(&mut memory) {
        let address = base + M::Word::from(at);
        *quad = if at + 16 <= bytes {
            m.load_quad(address, access)?
        } else {
            M::Quad::from_lo(load_half(m, address, access)?)
        };
    }
    let regs = if STRUCTURE > 1 {
        separate::<M, STRUCTURE>(m, log2 as usize, memory)
    } else if whole {
        memory
    } else {
        let [a, b, _, _] = memory;
        [a.lo(), a.hi(), b.lo(), b.hi()].map(M::Quad::from_lo)
    };
    for (n, value) in (i.rt()..).zip(&regs[..REGS]) {
        m.set_q(n % 32, if whole { *value } else { M::Quad::from_lo(value.lo()) });
    }
    post_index(m, i, base, bytes as u32);
    Ok(())
}

fn store<M: Machine, const STRUCTURE: usize, const REGS: usize>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (base, log2, whole) = (m.x_or_sp(i.rn()), i.bits(11, 10), i.bit(30) == 1);
    let access = Access::plain(log2).tagged(tags(i));
    let mut regs = [constant::<M>(0); 4];
    for (n, reg) in (i.rt()..).zip(&mut regs[..REGS]) {
        *reg = m.q(n % 32);
    }
    let memory = if STRUCTURE > 1 {
        interleave::<M, STRUCTURE>(m, log2 as usize, regs)
    } else if whole {
        regs
    } else {
        let [a, b, c, d] = regs;
        let zero = constant::<M>(0);
        [M::Quad::from_halves(a.lo(), b.lo()), M::Quad::from_halves(c.lo(), d.lo()), zero, zero]
    };
    let bytes = if whole { 16 * REGS as u64 } else { 8 * REGS as u64 };
    for (at, quad) in (0..bytes).step_by(16).zip(memory) {
        let address = base + M::Word::from(at);
        if at + 16 <= bytes {
            m.store_quad(address, quad, access)?;
        } else {
            store_half(m, address, quad.lo(), access)?;
        }
    }
    post_index(m, i, base, bytes as u32);
    Ok(())
}

/// Sorts structures as they lie in memory into one register for each member.
fn separate<M: Machine, const STRUCTURE: usize>(m: &mut M, size: usize, memory: [M::Quad; 4]) -> [M::Quad; 4] {
    let zero = constant::<M>(0);
    let [a, b, c, d] = memory;
    match STRUCTURE {
        2 => {
            let (x, y) = split(m, size, a, b);
            [x, y, zero, zero]
        }
        3 => {
            let member = LD3.map(|f| m.pure(f[size], [a, b, c]));
            [member[0], member[1], member[2], zero]
        }
        _ => {
            let (even_low, odd_low) = split(m, size, a, b);
            let (even_high, odd_high) = split(m, size, c, d);
            let (x, z) = split(m, size, even_low, even_high);
            let (y, w) = split(m, size, odd_low, odd_high);
            [x, y, z, w]
        }
    }
}

/// The elements with even and those with odd numbers.
fn split<M: Machine>(m: &mut M, size: usize, a: M::Quad, b: M::Quad) -> (M::Quad, M::Quad) {
    let operands = [a, b, constant::<M>(0)];
    (m.pure(UZP1[size], operands), m.pure(UZP2[size], operands))
}

/// Elements of `a` and `b` in turn.
fn zip<M: Machine>(m: &mut M, size: usize, a: M::Quad, b: M::Quad) -> (M::Quad, M::Quad) {
    let operands = [a, b, constant::<M>(0)];
    (m.pure(ZIP1[size], operands), m.pure(ZIP2[size], operands))
}

/// The inverse of [`separate`].
fn interleave<M: Machine, const STRUCTURE: usize>(m: &mut M, size: usize, regs: [M::Quad; 4]) -> [M::Quad; 4] {
    let zero = constant::<M>(0);
    let [a, b, c, d] = regs;
    match STRUCTURE {
        2 => {
            let (x, y) = zip(m, size, a, b);
            [x, y, zero, zero]
        }
        3 => {
            let part = ST3.map(|f| m.pure(f[size], [a, b, c]));
            [part[0], part[1], part[2], zero]
        }
        _ => {
            let (ac_low, ac_high) = zip(m, size, a, c);
            let (bd_low, bd_high) = zip(m, size, b, d);
            let (x, y) = zip(m, size, ac_low, bd_low);
            let (z, w) = zip(m, size, ac_high, bd_high);
            [x, y, z, w]
        }
    }
}

const LD3: [Sizes; 3] = [
    sizes!("LD3.0", ld3, 0; u8 u16 u32 u64),
    sizes!("LD3.1", ld3, 1; u8 u16 u32 u64),
    sizes!("LD3.2", ld3, 2; u8 u16 u32 u64),
];
const ST3: [Sizes; 3] = [
    sizes!("ST3.0", st3, 0; u8 u16 u32 u64),
    sizes!("ST3.1", st3, 1; u8 u16 u32 u64),
    sizes!("ST3.2", st3, 2; u8 u16 u32 u64),
];

/// Member `MEMBER` of each structure of three.
fn ld3<E: Lane, const MEMBER: usize>(_: &mut FpEnv, memory: [u128; 3]) -> u128 {
    build(E::COUNT, memory, |memory, i| {
        let at = 3 * i + MEMBER;
        E::read(&memory[at / E::COUNT], at % E::COUNT)
    })
}

/// Part `PART` of three registers' elements in turn.
fn st3<E: Lane, const PART: usize>(_: &mut FpEnv, regs: [u128; 3]) -> u128 {
    build(E::COUNT, regs, |regs, i| {
        let at = PART * E::COUNT + i;
        E::read(&regs[at % 3], at / 3)
    })
}
