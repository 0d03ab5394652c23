//! System instructions and system register moves. What each encoding op0:op1:CRn:CRm:op2 does, and whether it is there
//! at all, the PE knows.

use arch::sysreg::{self, Enc};

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::system::System;

crate::encodings! {
    "SYS_*" => "{sys}";
    "SYSL_*" => "{sysl}";
    "MSR_*" => "* {sysreg}, {Xt}";
    "MRS_*" => "* {Xt}, {sysreg}";
    SYS_CR_systeminstrs  "1101010100001 ooo cccc cccc ooo ttttt"  - end plain => sys;
    SYSL_RC_systeminstrs "1101010100101 ooo cccc cccc ooo ttttt"  - end plain => sysl;
    MSR_SR_systemmove    "110101010001 o ooo cccc cccc ooo ttttt" - end register => msr;
    MRS_RS_systemmove    "110101010011 o ooo cccc cccc ooo ttttt" - next register => mrs;
}

/// The register's index in `arch::sysreg` + 1, or 0 where none is known: so that the PE need not look it up each time.
fn register(word: u32) -> Option<u64> {
    Some(sysreg::lookup(Enc::of_word(word)).map_or(0, |reg| reg as u64 + 1))
}

fn sys<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let argument = m.x(i.rt());
    m.system(i, System::Sys(Enc::of_word(i.word())), argument).map(drop)
}

fn sysl<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let value = m.system(i, System::Sysl(Enc::of_word(i.word())), M::Word::from(0))?;
    m.set_x(i.rt(), value);
    Ok(())
}

fn msr<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let value = m.x(i.rt());
    m.system(i, System::Msr(Enc::of_word(i.word())), value).map(drop)
}

fn mrs<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let value = m.system(i, System::Mrs(Enc::of_word(i.word())), M::Word::from(0))?;
    m.set_x(i.rt(), value);
    Ok(())
}
