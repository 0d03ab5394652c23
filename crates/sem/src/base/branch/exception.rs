//! Exception generation, and UDF.

use crate::base::imm::imm16;
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::system::{ExceptionCall, System};

crate::encodings! {
    "UDF_*" => "* #{imm16low}";
    "DCPS*" => "imm16=0? * | * #{imm16:x}";
    "*" => "* #{imm16:x}";
    SVC_EX_exception    "11010100000 iiiiiiiiiiiiiiii 00001" - end imm16 => svc;
    HVC_EX_exception    "11010100000 iiiiiiiiiiiiiiii 00010" - end imm16 => hvc;
    SMC_EX_exception    "11010100000 iiiiiiiiiiiiiiii 00011" - end imm16 => smc;
    BRK_EX_exception    "11010100001 iiiiiiiiiiiiiiii 00000" - end imm16 => brk;
    HLT_EX_exception    "11010100010 iiiiiiiiiiiiiiii 00000" - end imm16 => hlt;
    DCPS1_DC_exception  "11010100101 iiiiiiiiiiiiiiii 00001" - end imm16 => dcps::<M, 1>;
    DCPS2_DC_exception  "11010100101 iiiiiiiiiiiiiiii 00010" - end imm16 => dcps::<M, 2>;
    DCPS3_DC_exception  "11010100101 iiiiiiiiiiiiiiii 00011" - end imm16 => dcps::<M, 3>;
    UDF_only_perm_undef "0000000000000000 iiiiiiiiiiiiiiii"  - end udf_imm16 => udf;
}

/// UDF has its imm16 at \[15:0\].
fn udf_imm16(word: u32) -> Option<u64> {
    Some(u64::from(word & 0xffff))
}

fn call<M: Machine>(m: &mut M, i: Insn, call: ExceptionCall) -> Done<M> {
    m.system(i, System::Exception(call, i.imm as u16), M::Word::from(0)).map(drop)
}

fn svc<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Svc)
}

fn hvc<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Hvc)
}

fn smc<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Smc)
}

fn brk<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Brk)
}

fn hlt<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Hlt)
}

fn udf<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Udf)
}

fn dcps<M: Machine, const EL: u8>(m: &mut M, i: Insn) -> Done<M> {
    call(m, i, ExceptionCall::Dcps(EL))
}
