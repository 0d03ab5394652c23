//! Data-processing (2 source).

use super::crc32::{CRC32, CRC32C, crc};
use super::operand::rotate;
use super::tags::{logical_tag, with_tag};
use crate::insn::Insn;
use crate::machine::{Assist, Done, Machine, TagOp};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "LSLV_*" => "lsl {Rd}, {Rn}, {Rm}";
    "LSRV_*" => "lsr {Rd}, {Rn}, {Rm}";
    "ASRV_*" => "asr {Rd}, {Rn}, {Rm}";
    "RORV_*" => "ror {Rd}, {Rn}, {Rm}";
    "CRC32*" => "* {Wd}, {Wn}, {Rm}";
    "SUBPS_*" => "d=31? cmpp {Xn|sp}, {Xm|sp} | * {Xd}, {Xn|sp}, {Xm|sp}";
    "SUBP_*" => "* {Xd}, {Xn|sp}, {Xm|sp}";
    "IRG_*" => "m=31? * {Xd|sp}, {Xn|sp} | * {Xd|sp}, {Xn|sp}, {Xm}";
    "GMI_*" => "* {Xd}, {Xn|sp}, {Xm}";
    "PACGA_*" => "* {Xd}, {Xn}, {Xm|sp}";
    "*" => "* {Rd}, {Rn}, {Rm}";
    UDIV_32_dp_2src     "00011010110 mmmmm 000010 nnnnn ddddd" - next plain => udiv::<M, 32>;
    SDIV_32_dp_2src     "00011010110 mmmmm 000011 nnnnn ddddd" - next plain => sdiv::<M, 32>;
    LSLV_32_dp_2src     "00011010110 mmmmm 001000 nnnnn ddddd" - next plain => lslv::<M, 32>;
    LSRV_32_dp_2src     "00011010110 mmmmm 001001 nnnnn ddddd" - next plain => lsrv::<M, 32>;
    ASRV_32_dp_2src     "00011010110 mmmmm 001010 nnnnn ddddd" - next plain => asrv::<M, 32>;
    RORV_32_dp_2src     "00011010110 mmmmm 001011 nnnnn ddddd" - next plain => rorv::<M, 32>;
    CRC32B_32C_dp_2src  "00011010110 mmmmm 010000 nnnnn ddddd" FEAT_CRC32 next plain => crc32::<M, 8>;
    CRC32H_32C_dp_2src  "00011010110 mmmmm 010001 nnnnn ddddd" FEAT_CRC32 next plain => crc32::<M, 16>;
    CRC32W_32C_dp_2src  "00011010110 mmmmm 010010 nnnnn ddddd" FEAT_CRC32 next plain => crc32::<M, 32>;
    CRC32CB_32C_dp_2src "00011010110 mmmmm 010100 nnnnn ddddd" FEAT_CRC32 next plain => crc32c::<M, 8>;
    CRC32CH_32C_dp_2src "00011010110 mmmmm 010101 nnnnn ddddd" FEAT_CRC32 next plain => crc32c::<M, 16>;
    CRC32CW_32C_dp_2src "00011010110 mmmmm 010110 nnnnn ddddd" FEAT_CRC32 next plain => crc32c::<M, 32>;
    SMAX_32_dp_2src     "00011010110 mmmmm 011000 nnnnn ddddd" FEAT_CSSC next plain => smax::<M, 32>;
    UMAX_32_dp_2src     "00011010110 mmmmm 011001 nnnnn ddddd" FEAT_CSSC next plain => umax::<M, 32>;
    SMIN_32_dp_2src     "00011010110 mmmmm 011010 nnnnn ddddd" FEAT_CSSC next plain => smin::<M, 32>;
    UMIN_32_dp_2src     "00011010110 mmmmm 011011 nnnnn ddddd" FEAT_CSSC next plain => umin::<M, 32>;
    SUBP_64S_dp_2src    "10011010110 mmmmm 000000 nnnnn ddddd" FEAT_MTE next plain => subp;
    UDIV_64_dp_2src     "10011010110 mmmmm 000010 nnnnn ddddd" - next plain => udiv::<M, 64>;
    SDIV_64_dp_2src     "10011010110 mmmmm 000011 nnnnn ddddd" - next plain => sdiv::<M, 64>;
    IRG_64I_dp_2src     "10011010110 mmmmm 000100 nnnnn ddddd" FEAT_MTE next plain => irg;
    GMI_64G_dp_2src     "10011010110 mmmmm 000101 nnnnn ddddd" FEAT_MTE next plain => gmi;
    LSLV_64_dp_2src     "10011010110 mmmmm 001000 nnnnn ddddd" - next plain => lslv::<M, 64>;
    LSRV_64_dp_2src     "10011010110 mmmmm 001001 nnnnn ddddd" - next plain => lsrv::<M, 64>;
    ASRV_64_dp_2src     "10011010110 mmmmm 001010 nnnnn ddddd" - next plain => asrv::<M, 64>;
    RORV_64_dp_2src     "10011010110 mmmmm 001011 nnnnn ddddd" - next plain => rorv::<M, 64>;
    PACGA_64P_dp_2src   "10011010110 mmmmm 001100 nnnnn ddddd" FEAT_PAuth next plain => pacga;
    CRC32X_64C_dp_2src  "10011010110 mmmmm 010011 nnnnn ddddd" FEAT_CRC32 next plain => crc32::<M, 64>;
    CRC32CX_64C_dp_2src "10011010110 mmmmm 010111 nnnnn ddddd" FEAT_CRC32 next plain => crc32c::<M, 64>;
    SMAX_64_dp_2src     "10011010110 mmmmm 011000 nnnnn ddddd" FEAT_CSSC next plain => smax::<M, 64>;
    UMAX_64_dp_2src     "10011010110 mmmmm 011001 nnnnn ddddd" FEAT_CSSC next plain => umax::<M, 64>;
    SMIN_64_dp_2src     "10011010110 mmmmm 011010 nnnnn ddddd" FEAT_CSSC next plain => smin::<M, 64>;
    UMIN_64_dp_2src     "10011010110 mmmmm 011011 nnnnn ddddd" FEAT_CSSC next plain => umin::<M, 64>;
    SUBPS_64S_dp_2src   "10111010110 mmmmm 000000 nnnnn ddddd" FEAT_MTE next plain => subps;
}

fn udiv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).zext(BITS).udiv(m.x(i.rm()).zext(BITS));
    m.set_x(i.rd(), result);
    Ok(())
}

fn sdiv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).sext(BITS).sdiv(m.x(i.rm()).sext(BITS));
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

/// Rm modulo `BITS`.
#[inline(always)]
fn amount<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> M::Word {
    // A word's shifts take their amount modulo 64 themselves.
    if BITS == 64 { m.x(i.rm()) } else { m.x(i.rm()) & M::Word::from(31) }
}

fn lslv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).shl(amount::<M, BITS>(m, i));
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn lsrv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).zext(BITS).lshr(amount::<M, BITS>(m, i));
    m.set_x(i.rd(), result);
    Ok(())
}

fn asrv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()).sext(BITS).ashr(amount::<M, BITS>(m, i));
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn rorv<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (value, n) = (m.x(i.rn()), amount::<M, BITS>(m, i));
    m.set_x(i.rd(), rotate::<M, BITS>(value, n).zext(BITS));
    Ok(())
}

fn pacga<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let operands = [m.x(i.rn()), m.x_or_sp(i.rm()), M::Word::from(0)];
    let result = m.assist(i, Assist::SignGeneric, operands)?;
    m.set_x(i.rd(), result);
    Ok(())
}

fn crc32<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    crc::<M, BITS>(m, i, CRC32)
}

fn crc32c<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    crc::<M, BITS>(m, i, CRC32C)
}

/// Both operands as the comparison needs them.
#[inline(always)]
fn signed<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> (M::Word, M::Word) {
    (m.x(i.rn()).sext(BITS), m.x(i.rm()).sext(BITS))
}

#[inline(always)]
fn unsigned<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> (M::Word, M::Word) {
    (m.x(i.rn()).zext(BITS), m.x(i.rm()).zext(BITS))
}

fn smax<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = signed::<M, BITS>(m, i);
    m.set_x(i.rd(), a.is_slt(b).select(b, a).zext(BITS));
    Ok(())
}

fn smin<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = signed::<M, BITS>(m, i);
    m.set_x(i.rd(), a.is_slt(b).select(a, b).zext(BITS));
    Ok(())
}

fn umax<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = unsigned::<M, BITS>(m, i);
    m.set_x(i.rd(), a.is_ult(b).select(b, a));
    Ok(())
}

fn umin<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = unsigned::<M, BITS>(m, i);
    m.set_x(i.rd(), a.is_ult(b).select(a, b));
    Ok(())
}

/// Rd := Rn - Rm, both as 56-bit signed numbers.
fn subp<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x_or_sp(i.rn()).sext(56), m.x_or_sp(i.rm()).sext(56));
    m.set_x(i.rd(), a - b);
    Ok(())
}

fn subps<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b) = (m.x_or_sp(i.rn()).sext(56), m.x_or_sp(i.rm()).sext(56));
    let (result, flags) = m.add_with_carry(64, a, !b, M::Word::from(1));
    m.set_x(i.rd(), result);
    m.set_nzcv(flags);
    Ok(())
}

/// Rd := Rn with a random logical tag that Rm does not exclude.
fn irg<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (base, exclude) = (m.x_or_sp(i.rn()), m.x(i.rm()).zext(16));
    let tag = m.tags(TagOp::Random, base, exclude)?;
    m.set_x_or_sp(i.rd(), with_tag::<M>(base, tag));
    Ok(())
}

/// Rd := Rm with the bit set that excludes Rn's logical tag.
fn gmi<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let tag = logical_tag::<M>(m.x_or_sp(i.rn()));
    let mask = m.x(i.rm()) | M::Word::from(1).shl(tag);
    m.set_x(i.rd(), mask);
    Ok(())
}
