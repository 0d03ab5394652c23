//! Barriers and CLREX.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::system::{BarrierOp, Domain, System};

crate::encodings! {
    "CLREX_*" => "crm=15? * | * #{crm:x}";
    "DSB_BO_*" => "crm=0? ssbb | crm=4? pssbb | * {barrier}";
    "DSB_BOn_*" => "* {barriernxs}";
    "DMB_*" => "* {barrier}";
    "ISB_*" => "crm=15? * | * #{crm:x}";
    "SB_*" => "*";
    CLREX_BN_barriers "11010101000000110011 cccc 01011111" - next plain => clrex;
    DSB_BO_barriers   "11010101000000110011 cccc 10011111" - next plain => dsb;
    DMB_BO_barriers   "11010101000000110011 cccc 10111111" - next plain => dmb;
    ISB_BI_barriers   "11010101000000110011 cccc 11011111" - end plain => isb;
    SB_only_barriers  "11010101000000110011 zzzz 11111111" FEAT_SB end plain => sb;
    DSB_BOn_barriers  "11010101000000110011 ii 1000111111" FEAT_XS next plain => dsb_nxs;
}

/// Where the barrier reaches: CRm\[3:2\], but the reserved CRm\[1:0\] of 0 is a barrier for the full system.
const fn domain(i: Insn) -> Domain {
    match (i.bits(11, 10), i.bits(9, 8)) {
        (3, _) | (_, 0) => Domain::System,
        (0, _) => Domain::OuterShareable,
        (1, _) => Domain::NonShareable,
        _ => Domain::InnerShareable,
    }
}

fn barrier<M: Machine>(m: &mut M, i: Insn, op: BarrierOp, domain: Domain) -> Done<M> {
    m.system(i, System::Barrier(op, domain), M::Word::from(0)).map(drop)
}

fn dmb<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let op = match i.bits(9, 8) {
        1 => BarrierOp::DmbLd,
        2 => BarrierOp::DmbSt,
        _ => BarrierOp::Dmb,
    };
    barrier(m, i, op, domain(i))
}

/// DSB; with CRm 0 and 4 it is SSBB and PSSBB, which a stronger DSB satisfies.
fn dsb<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    barrier(m, i, BarrierOp::Dsb, domain(i))
}

/// DSB with nXS: need not wait for accesses to memory with the XS attribute, and may.
fn dsb_nxs<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    barrier(m, i, BarrierOp::Dsb, domain(i))
}

fn isb<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    barrier(m, i, BarrierOp::Isb, Domain::System)
}

fn sb<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    barrier(m, i, BarrierOp::Sb, Domain::System)
}

fn clrex<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.system(i, System::Clrex, M::Word::from(0)).map(drop)
}
