//! Permutations: ZIP, UZP, TRN, EXT, TBL, TBX. DDI 0487 C4.1 "Advanced SIMD permute", "extract", "table lookup".

use crate::insn::Insn;
use crate::machine::{Done, FpEnv, Machine, Pure};
use crate::simd::lanes::{Lane, build, build_of_pairs};
use crate::simd::pures::Sizes;
use crate::simd::reserved::{ext, no_1d};
use crate::simd::{binary, constant, set_vd, size};
use crate::spec::plain;
use crate::word::{Quad, Word};

crate::encodings! {
    "EXT_*" => "* {Vd.Bq}, {Vn.Bq}, {Vm.Bq}, #{imm4ext}";
    "TB*" => "* {Vd.Bq}, {tbl}, {Vm.Bq}";
    "*" => "* {Vd.T}, {Vn.T}, {Vm.T}";
    UZP1_asimdperm_only "0 Q 001110 zz 0 mmmmm 000110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| unzip(m, i, &UZP1);
    TRN1_asimdperm_only "0 Q 001110 zz 0 mmmmm 001010 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, TRN1[size(i)]);
    ZIP1_asimdperm_only "0 Q 001110 zz 0 mmmmm 001110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, ZIP1[size(i)]);
    UZP2_asimdperm_only "0 Q 001110 zz 0 mmmmm 010110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| unzip(m, i, &UZP2);
    TRN2_asimdperm_only "0 Q 001110 zz 0 mmmmm 011010 nnnnn ddddd" FEAT_AdvSIMD next no_1d => |m, i| binary(m, i, TRN2[size(i)]);
    ZIP2_asimdperm_only "0 Q 001110 zz 0 mmmmm 011110 nnnnn ddddd" FEAT_AdvSIMD next no_1d => zip2_body;
    EXT_asimdext_only   "0 Q 101110000 mmmmm 0 iiii 0 nnnnn ddddd" FEAT_AdvSIMD next ext => extract;
    TBL_asimdtbl_L1_1   "0 Q 001110000 mmmmm 000000 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| table(m, i, 1, constant::<M>(0));
    TBX_asimdtbl_L1_1   "0 Q 001110000 mmmmm 000100 nnnnn ddddd" FEAT_AdvSIMD next plain => table_extend::<M, 1>;
    TBL_asimdtbl_L2_2   "0 Q 001110000 mmmmm 001000 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| table(m, i, 2, constant::<M>(0));
    TBX_asimdtbl_L2_2   "0 Q 001110000 mmmmm 001100 nnnnn ddddd" FEAT_AdvSIMD next plain => table_extend::<M, 2>;
    TBL_asimdtbl_L3_3   "0 Q 001110000 mmmmm 010000 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| table(m, i, 3, constant::<M>(0));
    TBX_asimdtbl_L3_3   "0 Q 001110000 mmmmm 010100 nnnnn ddddd" FEAT_AdvSIMD next plain => table_extend::<M, 3>;
    TBL_asimdtbl_L4_4   "0 Q 001110000 mmmmm 011000 nnnnn ddddd" FEAT_AdvSIMD next plain => |m, i| table(m, i, 4, constant::<M>(0));
    TBX_asimdtbl_L4_4   "0 Q 001110000 mmmmm 011100 nnnnn ddddd" FEAT_AdvSIMD next plain => table_extend::<M, 4>;
}

pub(super) const UZP1: Sizes = sizes!("UZP1", uzp, 0; u8 u16 u32 u64);
pub(super) const UZP2: Sizes = sizes!("UZP2", uzp, 1; u8 u16 u32 u64);
pub(super) const ZIP1: Sizes = sizes!("ZIP1", zip, 0; u8 u16 u32 u64);
pub(super) const ZIP2: Sizes = sizes!("ZIP2", zip, 1; u8 u16 u32 u64);
const TRN1: Sizes = sizes!("TRN1", trn, 0; u8 u16 u32 u64);
const TRN2: Sizes = sizes!("TRN2", trn, 1; u8 u16 u32 u64);

fn uzp<E: Lane, const PART: usize>(_: &mut FpEnv, [a, b, _]: [u128; 3]) -> u128 {
    build_of_pairs::<E>(a, b, |even, odd| if PART == 0 { even } else { odd })
}

fn zip<E: Lane, const PART: usize>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    build(E::COUNT, operands, |operands, i| E::read(&operands[i % 2], PART * E::COUNT / 2 + i / 2))
}

fn trn<E: Lane, const PART: usize>(_: &mut FpEnv, operands: [u128; 3]) -> u128 {
    build(E::COUNT, operands, |operands, i| E::read(&operands[i % 2], (i & !1) + PART))
}

/// For 64-bit vectors Vn and Vm lie in one register together.
fn unzip<M: Machine>(m: &mut M, i: Insn, table: &Sizes) -> Done<M> {
    m.check_fp()?;
    let (a, b, zero) = (m.q(i.rn()), m.q(i.rm()), constant::<M>(0));
    let (a, b) = if i.bit(30) == 1 { (a, b) } else { (M::Quad::from_halves(a.lo(), b.lo()), zero) };
    let result = m.pure(table[size(i)], [a, b, zero]);
    set_vd(m, i, result);
    Ok(())
}

/// For 64-bit vectors the upper part is the upper half of what ZIP1 gives for 128 bits.
fn zip2_body<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    if i.bit(30) == 1 {
        return binary(m, i, ZIP2[size(i)]);
    }
    m.check_fp()?;
    let (a, b) = (m.q(i.rn()), m.q(i.rm()));
    let both = m.pure(ZIP1[size(i)], [a, b, constant::<M>(0)]);
    set_vd(m, i, M::Quad::from_lo(both.hi()));
    Ok(())
}

fn extract<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let (a, b, zero) = (m.q(i.rn()), m.q(i.rm()), M::Word::from(0));
    let source = if i.bit(30) == 1 { [a.lo(), a.hi(), b.lo(), b.hi()] } else { [a.lo(), b.lo(), zero, zero] };
    let (first, shift) = (i.bits(14, 11) as usize / 8, u64::from(i.bits(14, 11) % 8 * 8));
    let at = |n: usize| {
        if shift == 0 {
            source[n]
        } else {
            source[n].lshr(M::Word::from(shift)) | source[n + 1].shl(M::Word::from(64 - shift))
        }
    };
    set_vd(m, i, M::Quad::from_halves(at(first), at(first + 1)));
    Ok(())
}

const TABLE: [Pure; 4] = [
    Pure { name: "TBX.0", run: look_up::<0> },
    Pure { name: "TBX.16", run: look_up::<16> },
    Pure { name: "TBX.32", run: look_up::<32> },
    Pure { name: "TBX.48", run: look_up::<48> },
];

/// `otherwise`, with bytes replaced where the index falls into this register of the table, which holds bytes
/// `FIRST` to `FIRST` + 15.
fn look_up<const FIRST: u8>(_: &mut FpEnv, [table, indices, otherwise]: [u128; 3]) -> u128 {
    let table = table.to_le_bytes();
    u8::map2(indices, otherwise, |index, old| {
        let at = index.wrapping_sub(FIRST);
        if at < 16 { table[usize::from(at)] } else { old }
    })
}

fn table<M: Machine>(m: &mut M, i: Insn, registers: u32, otherwise: M::Quad) -> Done<M> {
    m.check_fp()?;
    let indices = m.q(i.rm());
    let mut result = otherwise;
    for (r, f) in (0..registers).zip(TABLE) {
        let part = m.q((i.rn() + r) % 32);
        result = m.pure(f, [part, indices, result]);
    }
    set_vd(m, i, result);
    Ok(())
}

fn table_extend<M: Machine, const REGISTERS: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let old = m.q(i.rd());
    table(m, i, REGISTERS, old)
}
