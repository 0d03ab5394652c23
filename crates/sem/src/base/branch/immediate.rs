//! Unconditional branch (immediate), conditional branch (immediate).

use crate::base::imm::{offset19, offset26};
use crate::insn::Insn;
use crate::machine::{BranchKind, Done, Machine};

crate::encodings! {
    "*_branch_imm" => "* {label26}";
    "*_condbranch" => "*.{bcond} {label19}";
    B_only_branch_imm  "000101 iiiiiiiiiiiiiiiiiiiiiiiiii"   - end offset26 => b;
    BL_only_branch_imm "100101 iiiiiiiiiiiiiiiiiiiiiiiiii"   - end offset26 => bl;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0000" - end offset19 => b_cond::<M, 0>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0001" - end offset19 => b_cond::<M, 1>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0010" - end offset19 => b_cond::<M, 2>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0011" - end offset19 => b_cond::<M, 3>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0100" - end offset19 => b_cond::<M, 4>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0101" - end offset19 => b_cond::<M, 5>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0110" - end offset19 => b_cond::<M, 6>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 0111" - end offset19 => b_cond::<M, 7>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1000" - end offset19 => b_cond::<M, 8>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1001" - end offset19 => b_cond::<M, 9>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1010" - end offset19 => b_cond::<M, 10>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1011" - end offset19 => b_cond::<M, 11>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1100" - end offset19 => b_cond::<M, 12>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1101" - end offset19 => b_cond::<M, 13>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1110" - end offset19 => b_cond::<M, 14>;
    B_only_condbranch  "01010100 iiiiiiiiiiiiiiiiiii 0 1111" - end offset19 => b_cond::<M, 15>;
    BC_only_condbranch "01010100 iiiiiiiiiiiiiiiiiii 1 cccc" FEAT_HBC end offset19 => bc_cond;
}

/// The target: the PC plus the prepared offset.
#[inline(always)]
fn target<M: Machine>(m: &mut M, i: Insn) -> M::Word {
    m.pc(i) + M::Word::from(i.imm)
}

fn b<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let target = target(m, i);
    m.branch(BranchKind::Direct, target)
}

fn bl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (target, link) = (target(m, i), m.pc(i) + M::Word::from(4));
    m.set_x(30, link);
    m.branch(BranchKind::Call, target)
}

fn b_cond<M: Machine, const COND: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (target, holds) = (target(m, i), m.condition(COND));
    m.branch_if(holds, target)
}

/// BC.cond is a hint that the outcome is consistent; it branches as B.cond does.
fn bc_cond<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (target, holds) = (target(m, i), m.condition(i.bits(3, 0)));
    m.branch_if(holds, target)
}
