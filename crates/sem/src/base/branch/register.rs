//! Unconditional branch (register). The forms that authenticate (FEAT_PAuth) are not done yet.

use crate::insn::Insn;
use crate::machine::{BranchKind, Done, Machine};
use crate::spec::{not_done, plain};
use crate::system::System;

crate::encodings! {
    "RET_*" => "n=30? * | * {Xn}";
    "*_64_*" => "* {Xn}";
    "*_64E_*" => "*";
    "*_64P_*" => "* {Xn}, {Xd|sp}";
    BR_64_branch_reg      "1101011000011111000000 nnnnn 00000" - end plain => br;
    BRAAZ_64_branch_reg   "1101011000011111000010 nnnnn 11111" FEAT_PAuth end plain => not_done;
    BRABZ_64_branch_reg   "1101011000011111000011 nnnnn 11111" FEAT_PAuth end plain => not_done;
    BLR_64_branch_reg     "1101011000111111000000 nnnnn 00000" - end plain => blr;
    BLRAAZ_64_branch_reg  "1101011000111111000010 nnnnn 11111" FEAT_PAuth end plain => not_done;
    BLRABZ_64_branch_reg  "1101011000111111000011 nnnnn 11111" FEAT_PAuth end plain => not_done;
    RET_64R_branch_reg    "1101011001011111000000 nnnnn 00000" - end plain => ret;
    RETAA_64E_branch_reg  "11010110010111110000101111111111"   FEAT_PAuth end plain => not_done;
    RETAB_64E_branch_reg  "11010110010111110000111111111111"   FEAT_PAuth end plain => not_done;
    ERET_64E_branch_reg   "11010110100111110000001111100000"   - end plain => eret;
    ERETAA_64E_branch_reg "11010110100111110000101111111111"   FEAT_PAuth end plain => not_done;
    ERETAB_64E_branch_reg "11010110100111110000111111111111"   FEAT_PAuth end plain => not_done;
    DRPS_64E_branch_reg   "11010110101111110000001111100000"   - end plain => drps;
    BRAA_64P_branch_reg   "1101011100011111000010 nnnnn mmmmm" FEAT_PAuth end plain => not_done;
    BRAB_64P_branch_reg   "1101011100011111000011 nnnnn mmmmm" FEAT_PAuth end plain => not_done;
    BLRAA_64P_branch_reg  "1101011100111111000010 nnnnn mmmmm" FEAT_PAuth end plain => not_done;
    BLRAB_64P_branch_reg  "1101011100111111000011 nnnnn mmmmm" FEAT_PAuth end plain => not_done;
}

fn br<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let target = m.x(i.rn());
    m.branch(BranchKind::Indirect, target)
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
