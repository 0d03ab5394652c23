//! Rotate right into flags, evaluate into flags, and the instructions that change flags in place.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "RMIF_*" => "* {Xn}, #{rmif}, #{nzcv:x}";
    "SETF*" => "* {Wn}";
    "*" => "*";
    RMIF_only_rmif   "10111010000 iiiiii 00001 nnnnn 0 mmmm" FEAT_FlagM next plain => rmif;
    SETF8_only_setf  "0011101000000000000010 nnnnn 01101"    FEAT_FlagM next plain => setf::<M, 8>;
    SETF16_only_setf "0011101000000000010010 nnnnn 01101"    FEAT_FlagM next plain => setf::<M, 16>;
    CFINV_M_pstate   "11010101000000000100 0000 00011111"    FEAT_FlagM next plain => cfinv;
    XAFLAG_M_pstate  "11010101000000000100 0000 00111111"    FEAT_FlagM2 next plain => xaflag;
    AXFLAG_M_pstate  "11010101000000000100 0000 01011111"    FEAT_FlagM2 next plain => axflag;
}

fn rmif<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let mask = u64::from(i.bits(3, 0)) << 28;
    let rotated = m.x(i.rn()).ror(M::Word::from(u64::from(i.bits(20, 15)))).shl(M::Word::from(28));
    let nzcv = m.nzcv() & M::Word::from(!mask) | rotated & M::Word::from(mask);
    m.set_nzcv(nzcv);
    Ok(())
}

/// SETF8 and SETF16: N, Z and V of the low `BITS`; C stays.
fn setf<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (value, one) = (m.x(i.rn()), M::Word::from(1));
    let sign = value.lshr(M::Word::from(u64::from(BITS - 1))) & one;
    let above = value.lshr(M::Word::from(u64::from(BITS))) & one;
    let zero = value.zext(BITS).is_eq(M::Word::from(0));
    let carry = m.nzcv() & M::Word::from(1 << 29);
    let flag = |value: M::Word, bit: u64| value.shl(M::Word::from(bit));
    m.set_nzcv(flag(sign, 31) | flag(zero, 30) | carry | flag(sign ^ above, 28));
    Ok(())
}

fn cfinv<M: Machine>(m: &mut M, _: Insn) -> Done<M> {
    let nzcv = m.nzcv() ^ M::Word::from(1 << 29);
    m.set_nzcv(nzcv);
    Ok(())
}

/// Z, C and V as 0 or 1.
fn zcv<M: Machine>(m: &mut M) -> (M::Word, M::Word, M::Word) {
    let nzcv = m.nzcv();
    let flag = |bit: u64| nzcv.lshr(M::Word::from(bit)) & M::Word::from(1);
    (flag(30), flag(29), flag(28))
}

/// From the alternative format for floating-point comparisons to Arm's.
fn xaflag<M: Machine>(m: &mut M, _: Insn) -> Done<M> {
    let ((z, c, _), one) = (zcv(m), M::Word::from(1));
    let flag = |value: M::Word, bit: u64| value.shl(M::Word::from(bit));
    let not_c = c ^ one;
    m.set_nzcv(flag(not_c & (z ^ one), 31) | flag(z & c, 30) | flag(c | z, 29) | flag(not_c & z, 28));
    Ok(())
}

/// From Arm's format for floating-point comparisons to the alternative one.
fn axflag<M: Machine>(m: &mut M, _: Insn) -> Done<M> {
    let ((z, c, v), one) = (zcv(m), M::Word::from(1));
    let flag = |value: M::Word, bit: u64| value.shl(M::Word::from(bit));
    m.set_nzcv(flag(z | v, 30) | flag(c & (v ^ one), 29));
    Ok(())
}
