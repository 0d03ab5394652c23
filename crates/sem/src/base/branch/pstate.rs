//! MSR (immediate). Each field of PSTATE that can be written so is a line; other op1 and op2 are UNDEFINED.

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::{not_done, plain};
use crate::system::{PstateField, System};

crate::encodings! {
    "*" =>
        "op1=3 & op2=3 & crm=2? smstop sm | op1=3 & op2=3 & crm=3? smstart sm | op1=3 & op2=3 & crm=4? smstop za \
         | op1=3 & op2=3 & crm=5? smstart za | op1=3 & op2=3 & crm=6? smstop | op1=3 & op2=3 & crm=7? smstart \
         | msr {pstate}, #{crm:x}";
    MSR_SI_pstate "1101010100000 000 0100 cccc 011 11111"  FEAT_UAO end plain => uao;
    MSR_SI_pstate "1101010100000 000 0100 cccc 100 11111"  FEAT_PAN end plain => pan;
    MSR_SI_pstate "1101010100000 000 0100 cccc 101 11111"  - end plain => spsel;
    MSR_SI_pstate "1101010100000 001 0100 000 c 000 11111" FEAT_NMI end plain => not_done;
    MSR_SI_pstate "1101010100000 011 0100 cccc 001 11111"  FEAT_SSBS2 end plain => ssbs;
    MSR_SI_pstate "1101010100000 011 0100 cccc 010 11111"  FEAT_DIT end plain => dit;
    MSR_SI_pstate "1101010100000 011 0100 0 ccc 011 11111" FEAT_SME end plain => not_done;
    MSR_SI_pstate "1101010100000 011 0100 cccc 100 11111"  FEAT_MTE end plain => tco;
    MSR_SI_pstate "1101010100000 011 0100 cccc 110 11111"  - end plain => daifset;
    MSR_SI_pstate "1101010100000 011 0100 cccc 111 11111"  - end plain => daifclr;
}

fn msr<M: Machine>(m: &mut M, i: Insn, field: PstateField) -> Done<M> {
    m.system(i, System::MsrImmediate(field, i.bits(11, 8) as u8), M::Word::from(0)).map(drop)
}

fn uao<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::Uao)
}

fn pan<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::Pan)
}

fn spsel<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::SpSel)
}

fn ssbs<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::Ssbs)
}

fn dit<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::Dit)
}

fn tco<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::Tco)
}

fn daifset<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::DaifSet)
}

fn daifclr<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    msr(m, i, PstateField::DaifClr)
}
