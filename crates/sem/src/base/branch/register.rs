//! Unconditional branch (register).

use crate::insn::Insn;
use crate::machine::{Assist, BranchKind, Done, Machine, PauthKey};
use crate::spec::plain;
use crate::system::System;

crate::encodings! {
    "RET_*" => "n=30? * | * {Xn}";
    "*_64_*" => "* {Xn}";
    "*_64E_*" => "*";
    "*_64P_*" => "* {Xn}, {Xd|sp}";
    BR_64_branch_reg      "1101011000011111000000 nnnnn 00000" - end plain => br;
    BRAAZ_64_branch_reg   "1101011000011111000010 nnnnn 11111" FEAT_PAuth end plain => br_authenticated;
    BRABZ_64_branch_reg   "1101011000011111000011 nnnnn 11111" FEAT_PAuth end plain => br_authenticated;
    BLR_64_branch_reg     "1101011000111111000000 nnnnn 00000" - end plain => blr;
    BLRAAZ_64_branch_reg  "1101011000111111000010 nnnnn 11111" FEAT_PAuth end plain => blr_authenticated;
    BLRABZ_64_branch_reg  "1101011000111111000011 nnnnn 11111" FEAT_PAuth end plain => blr_authenticated;
    RET_64R_branch_reg    "1101011001011111000000 nnnnn 00000" - end plain => ret;
    RETAA_64E_branch_reg  "11010110010111110000101111111111"   FEAT_PAuth end plain => ret_authenticated;
    RETAB_64E_branch_reg  "11010110010111110000111111111111"   FEAT_PAuth end plain => ret_authenticated;
    ERET_64E_branch_reg   "11010110100111110000001111100000"   - end plain => eret;
    ERETAA_64E_branch_reg "11010110100111110000101111111111"   FEAT_PAuth end plain => eret_authenticated;
    ERETAB_64E_branch_reg "11010110100111110000111111111111"   FEAT_PAuth end plain => eret_authenticated;
    DRPS_64E_branch_reg   "11010110101111110000001111100000"   - end plain => drps;
    BRAA_64P_branch_reg   "1101011100011111000010 nnnnn mmmmm" FEAT_PAuth end plain => br_authenticated;
    BRAB_64P_branch_reg   "1101011100011111000011 nnnnn mmmmm" FEAT_PAuth end plain => br_authenticated;
    BLRAA_64P_branch_reg  "1101011100111111000010 nnnnn mmmmm" FEAT_PAuth end plain => blr_authenticated;
    BLRAB_64P_branch_reg  "1101011100111111000011 nnnnn mmmmm" FEAT_PAuth end plain => blr_authenticated;
}

/// A branch that is not a call; what it leads to in a guarded page depends on its register (FEAT_BTI).
#[inline(always)]
fn jump<M: Machine>(m: &mut M, i: Insn, target: M::Word) -> Done<M> {
    let kind = if matches!(i.rn(), 16 | 17) { BranchKind::IndirectVeneer } else { BranchKind::Indirect };
    m.branch(kind, target)
}

fn br<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let target = m.x(i.rn());
    jump(m, i, target)
}

fn blr<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    // The target is read first: BLR X30 goes to the old X30.
    let (target, link) = (m.x(i.rn()), m.pc(i) + M::Word::from(4));
    m.set_x(30, link);
    m.branch(BranchKind::IndirectCall, target)
}

fn ret<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let target = m.x(i.rn());
    m.branch(BranchKind::Return, target)
}

fn eret<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.system(i, System::Eret, M::Word::from(0)).map(drop)
}

fn drps<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.system(i, System::Drps, M::Word::from(0)).map(drop)
}

/// Bit 10, M, selects the key.
const fn key(i: Insn) -> PauthKey {
    if i.bit(10) == 0 { PauthKey::IA } else { PauthKey::IB }
}

/// `pointer` authenticated on the way to its use.
#[inline(always)]
fn authenticated<M: Machine>(m: &mut M, i: Insn, pointer: M::Word, modifier: M::Word) -> Result<M::Word, M::Stop> {
    m.assist(i, Assist::AuthenticateCombined(key(i)), [pointer, modifier, M::Word::from(0)])
}

/// The target in Rn; the modifier is in Rm, or zero where bit 24, Z, is clear.
#[inline(always)]
fn target<M: Machine>(m: &mut M, i: Insn) -> Result<M::Word, M::Stop> {
    let pointer = m.x(i.rn());
    let modifier = if i.bit(24) == 1 { m.x_or_sp(i.rd()) } else { M::Word::from(0) };
    authenticated(m, i, pointer, modifier)
}

fn br_authenticated<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let target = target(m, i)?;
    jump(m, i, target)
}

fn blr_authenticated<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (target, link) = (target(m, i)?, m.pc(i) + M::Word::from(4));
    m.set_x(30, link);
    m.branch(BranchKind::IndirectCall, target)
}

fn ret_authenticated<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (pointer, modifier) = (m.x(30), m.sp());
    let target = authenticated(m, i, pointer, modifier)?;
    m.branch(BranchKind::Return, target)
}

fn eret_authenticated<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let modifier = m.sp();
    m.system(i, System::EretAuthenticated(key(i)), modifier).map(drop)
}
