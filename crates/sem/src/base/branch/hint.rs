//! Hints, and the waits with timeout.
//!
//! The whole hint space executes as NOP on a PE that lacks the feature that gives a hint its meaning, so no line here
//! names a feature. Those that sign and authenticate pointers ask the PE, which leaves the pointer as it is where it
//! lacks FEAT_PAuth. BTI is a NOP where it stands: what it means is for the branch that leads to it.

use crate::insn::Insn;
use crate::machine::{Assist, Done, Machine, PauthKey};
use crate::spec::plain;
use crate::system::{Hint, System};

crate::encodings! {
    "WF*T_*" => "* {Xd}";
    "BTI_*" => "*{bti}";
    "PSB_*" => "psb csync";
    "TSB_*" => "tsb csync";
    "GCSB_*" => "gcsb dsync";
    "CHKFEAT_*" => "* x16";
    "HINT_*" => "hint #{hint:x}";
    "STSHH_*" => "op2=0? * keep | * strm";
    "*" => "*";
    NOP_HI_hints                  "11010101000000110010000000011111"    - next plain => nop;
    YIELD_HI_hints                "11010101000000110010000000111111"    - end plain => yield_;
    WFE_HI_hints                  "11010101000000110010000001011111"    - end plain => wfe;
    WFI_HI_hints                  "11010101000000110010000001111111"    - end plain => wfi;
    SEV_HI_hints                  "11010101000000110010000010011111"    - next plain => sev;
    SEVL_HI_hints                 "11010101000000110010000010111111"    - next plain => sevl;
    DGH_HI_hints                  "11010101000000110010000011011111"    - next plain => nop;
    XPACLRI_HI_hints              "11010101000000110010000011111111"    - next plain => strip_link;
    PACIA1716_HI_hints            "11010101000000110010000100011111"    - next plain => sign_1716;
    PACIB1716_HI_hints            "11010101000000110010000101011111"    - next plain => sign_1716;
    AUTIA1716_HI_hints            "11010101000000110010000110011111"    - next plain => authenticate_1716;
    AUTIB1716_HI_hints            "11010101000000110010000111011111"    - next plain => authenticate_1716;
    ESB_HI_hints                  "11010101000000110010001000011111"    - end plain => esb;
    PSB_HC_hints                  "11010101000000110010001000111111"    - next plain => psb;
    TSB_HC_hints                  "11010101000000110010001001011111"    - next plain => nop;
    GCSB_HD_hints                 "11010101000000110010001001111111"    - next plain => nop;
    CSDB_HI_hints                 "11010101000000110010001010011111"    - next plain => nop;
    CLRBHB_HI_hints               "11010101000000110010001011011111"    - next plain => nop;
    PACIAZ_HI_hints               "11010101000000110010001100011111"    - next plain => sign_link;
    PACIASP_HI_hints              "11010101000000110010001100111111"    - next plain => sign_link;
    PACIBZ_HI_hints               "11010101000000110010001101011111"    - next plain => sign_link;
    PACIBSP_HI_hints              "11010101000000110010001101111111"    - next plain => sign_link;
    AUTIAZ_HI_hints               "11010101000000110010001110011111"    - next plain => authenticate_link;
    AUTIASP_HI_hints              "11010101000000110010001110111111"    - next plain => authenticate_link;
    AUTIBZ_HI_hints               "11010101000000110010001111011111"    - next plain => authenticate_link;
    AUTIBSP_HI_hints              "11010101000000110010001111111111"    - next plain => authenticate_link;
    BTI_HB_hints                  "110101010000001100100100 oo 011111"  - next plain => nop;
    PACM_HI_hints                 "11010101000000110010010011111111"    - next plain => nop;
    CHKFEAT_HF_hints              "11010101000000110010010100011111"    - next plain => nop;
    STSHH_HI_hints                "11010101000000110010011000 o 11111"  - next plain => nop;
    SHUH_HI_hints                 "11010101000000110010011001 o 11111"  - next plain => nop;
    STCPH_HI_hints                "11010101000000110010011010011111"    - next plain => nop;
    SRLS_HI_hints                 "11010101000000110010011011 o 11111"  - next plain => nop;
    SLBND_HI_hints                "11010101000000110010011100011111"    - next plain => nop;
    HINT_HM_hints                 "11010101000000110010 cccc ooo 11111" - next plain => nop;
    WFET_only_systeminstrswithreg "110101010000001100010000000 ddddd"   FEAT_WFxT end plain => wfet;
    WFIT_only_systeminstrswithreg "110101010000001100010000001 ddddd"   FEAT_WFxT end plain => wfit;
}

fn nop<M: Machine>(_: &mut M, _: Insn) -> Done<M> {
    Ok(())
}

fn hint<M: Machine>(m: &mut M, i: Insn, hint: Hint) -> Done<M> {
    m.system(i, System::Hint(hint), M::Word::from(0)).map(drop)
}

fn wait_until<M: Machine>(m: &mut M, i: Insn, hint: Hint) -> Done<M> {
    let timeout = m.x(i.rd());
    m.system(i, System::Hint(hint), timeout).map(drop)
}

fn yield_<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Yield)
}

fn wfe<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Wfe)
}

fn wfi<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Wfi)
}

fn sev<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Sev)
}

fn sevl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Sevl)
}

fn esb<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Esb)
}

fn psb<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    hint(m, i, Hint::Psb)
}

fn wfet<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    wait_until(m, i, Hint::Wfet)
}

fn wfit<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    wait_until(m, i, Hint::Wfit)
}

/// Bit 6 selects the key.
const fn key(i: Insn) -> PauthKey {
    if i.bit(6) == 0 { PauthKey::IA } else { PauthKey::IB }
}

/// X17 := what `op` makes of X17 and X16.
#[inline(always)]
fn pauth_1716<M: Machine>(m: &mut M, i: Insn, op: Assist) -> Done<M> {
    let operands = [m.x(17), m.x(16), M::Word::from(0)];
    let result = m.assist(i, op, operands)?;
    m.set_x(17, result);
    Ok(())
}

fn sign_1716<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth_1716(m, i, Assist::Sign(key(i)))
}

fn authenticate_1716<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth_1716(m, i, Assist::Authenticate(key(i)))
}

/// X30 := what `op` makes of X30 and SP (bit 5 set) or zero.
#[inline(always)]
fn pauth_link<M: Machine>(m: &mut M, i: Insn, op: Assist) -> Done<M> {
    let modifier = if i.bit(5) == 1 { m.sp() } else { M::Word::from(0) };
    let link = m.x(30);
    let result = m.assist(i, op, [link, modifier, M::Word::from(0)])?;
    m.set_x(30, result);
    Ok(())
}

fn sign_link<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth_link(m, i, Assist::Sign(key(i)))
}

fn authenticate_link<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    pauth_link(m, i, Assist::Authenticate(key(i)))
}

fn strip_link<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let link = m.x(30);
    let result = m.assist(i, Assist::StripInstruction, [link, M::Word::from(0), M::Word::from(0)])?;
    m.set_x(30, result);
    Ok(())
}
