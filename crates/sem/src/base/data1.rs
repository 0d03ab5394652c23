//! Data-processing (1 source).

use crate::insn::Insn;
use crate::machine::{Assist, Done, Machine, PauthKey};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "*_64P_*" => "* {Xd}, {Xn|sp}";
    "*_64Z_*" => "* {Xd}";
    "*" => "* {Rd}, {Rn}";
    RBIT_32_dp_1src    "0101101011000000000000 nnnnn ddddd" - next plain => rbit32;
    REV16_32_dp_1src   "0101101011000000000001 nnnnn ddddd" - next plain => rev16::<M, 32>;
    REV_32_dp_1src     "0101101011000000000010 nnnnn ddddd" - next plain => rev32;
    CLZ_32_dp_1src     "0101101011000000000100 nnnnn ddddd" - next plain => clz::<M, 32>;
    CLS_32_dp_1src     "0101101011000000000101 nnnnn ddddd" - next plain => cls::<M, 32>;
    CTZ_32_dp_1src     "0101101011000000000110 nnnnn ddddd" FEAT_CSSC next plain => ctz::<M, 32>;
    CNT_32_dp_1src     "0101101011000000000111 nnnnn ddddd" FEAT_CSSC next plain => cnt::<M, 32>;
    ABS_32_dp_1src     "0101101011000000001000 nnnnn ddddd" FEAT_CSSC next plain => abs::<M, 32>;
    RBIT_64_dp_1src    "1101101011000000000000 nnnnn ddddd" - next plain => rbit64;
    REV16_64_dp_1src   "1101101011000000000001 nnnnn ddddd" - next plain => rev16::<M, 64>;
    REV32_64_dp_1src   "1101101011000000000010 nnnnn ddddd" - next plain => rev_words;
    REV_64_dp_1src     "1101101011000000000011 nnnnn ddddd" - next plain => rev64;
    CLZ_64_dp_1src     "1101101011000000000100 nnnnn ddddd" - next plain => clz::<M, 64>;
    CLS_64_dp_1src     "1101101011000000000101 nnnnn ddddd" - next plain => cls::<M, 64>;
    CTZ_64_dp_1src     "1101101011000000000110 nnnnn ddddd" FEAT_CSSC next plain => ctz::<M, 64>;
    CNT_64_dp_1src     "1101101011000000000111 nnnnn ddddd" FEAT_CSSC next plain => cnt::<M, 64>;
    ABS_64_dp_1src     "1101101011000000001000 nnnnn ddddd" FEAT_CSSC next plain => abs::<M, 64>;
    PACIA_64P_dp_1src  "1101101011000001000000 nnnnn ddddd" FEAT_PAuth next plain => sign;
    PACIB_64P_dp_1src  "1101101011000001000001 nnnnn ddddd" FEAT_PAuth next plain => sign;
    PACDA_64P_dp_1src  "1101101011000001000010 nnnnn ddddd" FEAT_PAuth next plain => sign;
    PACDB_64P_dp_1src  "1101101011000001000011 nnnnn ddddd" FEAT_PAuth next plain => sign;
    AUTIA_64P_dp_1src  "1101101011000001000100 nnnnn ddddd" FEAT_PAuth next plain => authenticate;
    AUTIB_64P_dp_1src  "1101101011000001000101 nnnnn ddddd" FEAT_PAuth next plain => authenticate;
    AUTDA_64P_dp_1src  "1101101011000001000110 nnnnn ddddd" FEAT_PAuth next plain => authenticate;
    AUTDB_64P_dp_1src  "1101101011000001000111 nnnnn ddddd" FEAT_PAuth next plain => authenticate;
    PACIZA_64Z_dp_1src "110110101100000100100011111 ddddd"  FEAT_PAuth next plain => sign_zero;
    PACIZB_64Z_dp_1src "110110101100000100100111111 ddddd"  FEAT_PAuth next plain => sign_zero;
    PACDZA_64Z_dp_1src "110110101100000100101011111 ddddd"  FEAT_PAuth next plain => sign_zero;
    PACDZB_64Z_dp_1src "110110101100000100101111111 ddddd"  FEAT_PAuth next plain => sign_zero;
    AUTIZA_64Z_dp_1src "110110101100000100110011111 ddddd"  FEAT_PAuth next plain => authenticate_zero;
    AUTIZB_64Z_dp_1src "110110101100000100110111111 ddddd"  FEAT_PAuth next plain => authenticate_zero;
    AUTDZA_64Z_dp_1src "110110101100000100111011111 ddddd"  FEAT_PAuth next plain => authenticate_zero;
    AUTDZB_64Z_dp_1src "110110101100000100111111111 ddddd"  FEAT_PAuth next plain => authenticate_zero;
    XPACI_64Z_dp_1src  "110110101100000101000011111 ddddd"  FEAT_PAuth next plain => strip_instruction;
    XPACD_64Z_dp_1src  "110110101100000101000111111 ddddd"  FEAT_PAuth next plain => strip_data;
}

fn rbit32<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).rbit().lshr(M::Word::from(32));
    m.set_x(i.rd(), result);
    Ok(())
}

fn rbit64<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).rbit();
    m.set_x(i.rd(), result);
    Ok(())
}

fn rev16<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (value, even, eight) = (m.x(i.rn()), M::Word::from(0x00ff_00ff_00ff_00ff), M::Word::from(8));
    let result = (value & even).shl(eight) | value.lshr(eight) & even;
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

/// REV of a W register.
fn rev32<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).rev().lshr(M::Word::from(32));
    m.set_x(i.rd(), result);
    Ok(())
}

/// REV32: each word of an X register.
fn rev_words<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).rev().ror(M::Word::from(32));
    m.set_x(i.rd(), result);
    Ok(())
}

/// REV of an X register.
fn rev64<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).rev();
    m.set_x(i.rd(), result);
    Ok(())
}

/// Leading zeros in the low `BITS`, 32 or 64, of `value`.
#[inline(always)]
fn leading_zeros<M: Machine, const BITS: u32>(value: M::Word) -> M::Word {
    if BITS == 64 { value.clz() } else { value.low32().clz() - M::Word::from(32) }
}

fn clz<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = leading_zeros::<M, BITS>(m.x(i.rn()));
    m.set_x(i.rd(), result);
    Ok(())
}

fn cls<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    // Bit n + 1 of the difference says whether bits n + 1 and n differ; the lowest bit ends the count at BITS - 1.
    let value = m.x(i.rn());
    let difference = value ^ value.shl(M::Word::from(1)) | M::Word::from(1);
    m.set_x(i.rd(), leading_zeros::<M, BITS>(difference));
    Ok(())
}

fn ctz<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let value = m.x(i.rn());
    let ended = if BITS == 64 { value } else { value | M::Word::from(1 << 32) };
    m.set_x(i.rd(), ended.rbit().clz());
    Ok(())
}

fn cnt<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).zext(BITS).popcount();
    m.set_x(i.rd(), result);
    Ok(())
}

fn abs<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (value, zero) = (m.x(i.rn()).sext(BITS), M::Word::from(0));
    let result = value.is_slt(zero).select(zero - value, value);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

/// The key by opcode\[1:0\].
const fn key(i: Insn) -> PauthKey {
    match i.bits(11, 10) {
        0 => PauthKey::IA,
        1 => PauthKey::IB,
        2 => PauthKey::DA,
        _ => PauthKey::DB,
    }
}

/// Rd := what `op` makes of Rd and the modifier.
#[inline(always)]
fn pauth<M: Machine>(m: &mut M, i: Insn, op: Assist, modifier: M::Word) -> Done<M> {
    let pointer = m.x(i.rd());
    let result = m.assist(i, op, [pointer, modifier, M::Word::from(0)])?;
    m.set_x(i.rd(), result);
    Ok(())
}

fn sign<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let modifier = m.x_or_sp(i.rn());
    pauth(m, i, Assist::Sign(key(i)), modifier)
}

fn sign_zero<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth(m, i, Assist::Sign(key(i)), M::Word::from(0))
}

fn authenticate<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let modifier = m.x_or_sp(i.rn());
    pauth(m, i, Assist::Authenticate(key(i)), modifier)
}

fn authenticate_zero<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth(m, i, Assist::Authenticate(key(i)), M::Word::from(0))
}

fn strip_instruction<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth(m, i, Assist::StripInstruction, M::Word::from(0))
}

fn strip_data<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth(m, i, Assist::StripData, M::Word::from(0))
}
