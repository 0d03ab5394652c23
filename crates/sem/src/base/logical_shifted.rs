//! Logical (shifted register).
//!
//! In 32 bits amounts over 31 are UNDEFINED: no line has them.

use super::imm::imm6;
use super::operand::{Asr, Lsl, Lsr, Operand, Register, Ror};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "ORR_*" => "n=31 & shift=0 & imms=0? mov {Rd}, {Rm} | * {Rd}, {Rn}, {Rm}{,shift}";
    "ORN_*" => "n=31? mvn {Rd}, {Rm}{,shift} | * {Rd}, {Rn}, {Rm}{,shift}";
    "ANDS_*" => "d=31? tst {Rn}, {Rm}{,shift} | * {Rd}, {Rn}, {Rm}{,shift}";
    "*" => "* {Rd}, {Rn}, {Rm}{,shift}";
    AND_32_log_shift  "00001010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => and::<M, Register, 32>;
    AND_32_log_shift  "00001010 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => and::<M, Lsl, 32>;
    AND_32_log_shift  "00001010 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => and::<M, Lsr, 32>;
    AND_32_log_shift  "00001010 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => and::<M, Asr, 32>;
    AND_32_log_shift  "00001010 11 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => and::<M, Ror, 32>;
    BIC_32_log_shift  "00001010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => bic::<M, Register, 32>;
    BIC_32_log_shift  "00001010 00 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bic::<M, Lsl, 32>;
    BIC_32_log_shift  "00001010 01 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bic::<M, Lsr, 32>;
    BIC_32_log_shift  "00001010 10 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bic::<M, Asr, 32>;
    BIC_32_log_shift  "00001010 11 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bic::<M, Ror, 32>;
    ORR_32_log_shift  "00101010 00 0 mmmmm 000000 11111 ddddd"  - next plain => mov::<M, 32>;
    ORR_32_log_shift  "00101010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => orr::<M, Register, 32>;
    ORR_32_log_shift  "00101010 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orr::<M, Lsl, 32>;
    ORR_32_log_shift  "00101010 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orr::<M, Lsr, 32>;
    ORR_32_log_shift  "00101010 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orr::<M, Asr, 32>;
    ORR_32_log_shift  "00101010 11 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orr::<M, Ror, 32>;
    ORN_32_log_shift  "00101010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => orn::<M, Register, 32>;
    ORN_32_log_shift  "00101010 00 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orn::<M, Lsl, 32>;
    ORN_32_log_shift  "00101010 01 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orn::<M, Lsr, 32>;
    ORN_32_log_shift  "00101010 10 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orn::<M, Asr, 32>;
    ORN_32_log_shift  "00101010 11 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => orn::<M, Ror, 32>;
    EOR_32_log_shift  "01001010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => eor::<M, Register, 32>;
    EOR_32_log_shift  "01001010 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eor::<M, Lsl, 32>;
    EOR_32_log_shift  "01001010 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eor::<M, Lsr, 32>;
    EOR_32_log_shift  "01001010 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eor::<M, Asr, 32>;
    EOR_32_log_shift  "01001010 11 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eor::<M, Ror, 32>;
    EON_32_log_shift  "01001010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => eon::<M, Register, 32>;
    EON_32_log_shift  "01001010 00 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eon::<M, Lsl, 32>;
    EON_32_log_shift  "01001010 01 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eon::<M, Lsr, 32>;
    EON_32_log_shift  "01001010 10 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eon::<M, Asr, 32>;
    EON_32_log_shift  "01001010 11 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => eon::<M, Ror, 32>;
    ANDS_32_log_shift "01101010 00 0 mmmmm 000000 nnnnn 11111"  - next plain => tst::<M, 32>;
    ANDS_32_log_shift "01101010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => ands::<M, Register, 32>;
    ANDS_32_log_shift "01101010 00 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => ands::<M, Lsl, 32>;
    ANDS_32_log_shift "01101010 01 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => ands::<M, Lsr, 32>;
    ANDS_32_log_shift "01101010 10 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => ands::<M, Asr, 32>;
    ANDS_32_log_shift "01101010 11 0 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => ands::<M, Ror, 32>;
    BICS_32_log_shift "01101010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => bics::<M, Register, 32>;
    BICS_32_log_shift "01101010 00 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bics::<M, Lsl, 32>;
    BICS_32_log_shift "01101010 01 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bics::<M, Lsr, 32>;
    BICS_32_log_shift "01101010 10 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bics::<M, Asr, 32>;
    BICS_32_log_shift "01101010 11 1 mmmmm 0 iiiii nnnnn ddddd" - next imm6 => bics::<M, Ror, 32>;
    AND_64_log_shift  "10001010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => and::<M, Register, 64>;
    AND_64_log_shift  "10001010 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => and::<M, Lsl, 64>;
    AND_64_log_shift  "10001010 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => and::<M, Lsr, 64>;
    AND_64_log_shift  "10001010 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => and::<M, Asr, 64>;
    AND_64_log_shift  "10001010 11 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => and::<M, Ror, 64>;
    BIC_64_log_shift  "10001010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => bic::<M, Register, 64>;
    BIC_64_log_shift  "10001010 00 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bic::<M, Lsl, 64>;
    BIC_64_log_shift  "10001010 01 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bic::<M, Lsr, 64>;
    BIC_64_log_shift  "10001010 10 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bic::<M, Asr, 64>;
    BIC_64_log_shift  "10001010 11 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bic::<M, Ror, 64>;
    ORR_64_log_shift  "10101010 00 0 mmmmm 000000 11111 ddddd"  - next plain => mov::<M, 64>;
    ORR_64_log_shift  "10101010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => orr::<M, Register, 64>;
    ORR_64_log_shift  "10101010 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orr::<M, Lsl, 64>;
    ORR_64_log_shift  "10101010 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orr::<M, Lsr, 64>;
    ORR_64_log_shift  "10101010 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orr::<M, Asr, 64>;
    ORR_64_log_shift  "10101010 11 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orr::<M, Ror, 64>;
    ORN_64_log_shift  "10101010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => orn::<M, Register, 64>;
    ORN_64_log_shift  "10101010 00 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orn::<M, Lsl, 64>;
    ORN_64_log_shift  "10101010 01 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orn::<M, Lsr, 64>;
    ORN_64_log_shift  "10101010 10 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orn::<M, Asr, 64>;
    ORN_64_log_shift  "10101010 11 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => orn::<M, Ror, 64>;
    EOR_64_log_shift  "11001010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => eor::<M, Register, 64>;
    EOR_64_log_shift  "11001010 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eor::<M, Lsl, 64>;
    EOR_64_log_shift  "11001010 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eor::<M, Lsr, 64>;
    EOR_64_log_shift  "11001010 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eor::<M, Asr, 64>;
    EOR_64_log_shift  "11001010 11 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eor::<M, Ror, 64>;
    EON_64_log_shift  "11001010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => eon::<M, Register, 64>;
    EON_64_log_shift  "11001010 00 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eon::<M, Lsl, 64>;
    EON_64_log_shift  "11001010 01 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eon::<M, Lsr, 64>;
    EON_64_log_shift  "11001010 10 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eon::<M, Asr, 64>;
    EON_64_log_shift  "11001010 11 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => eon::<M, Ror, 64>;
    ANDS_64_log_shift "11101010 00 0 mmmmm 000000 nnnnn 11111"  - next plain => tst::<M, 64>;
    ANDS_64_log_shift "11101010 00 0 mmmmm 000000 nnnnn ddddd"  - next plain => ands::<M, Register, 64>;
    ANDS_64_log_shift "11101010 00 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => ands::<M, Lsl, 64>;
    ANDS_64_log_shift "11101010 01 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => ands::<M, Lsr, 64>;
    ANDS_64_log_shift "11101010 10 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => ands::<M, Asr, 64>;
    ANDS_64_log_shift "11101010 11 0 mmmmm iiiiii nnnnn ddddd"  - next imm6 => ands::<M, Ror, 64>;
    BICS_64_log_shift "11101010 00 1 mmmmm 000000 nnnnn ddddd"  - next plain => bics::<M, Register, 64>;
    BICS_64_log_shift "11101010 00 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bics::<M, Lsl, 64>;
    BICS_64_log_shift "11101010 01 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bics::<M, Lsr, 64>;
    BICS_64_log_shift "11101010 10 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bics::<M, Asr, 64>;
    BICS_64_log_shift "11101010 11 1 mmmmm iiiiii nnnnn ddddd"  - next imm6 => bics::<M, Ror, 64>;
}

/// ORR with XZR, not shifted: MOV (register).
fn mov<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rm());
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn and<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn bic<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & !O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn orr<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) | O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn orn<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) | !O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn eor<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) ^ O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn eon<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) ^ !O::read::<M, BITS>(m, i);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn ands<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & O::read::<M, BITS>(m, i);
    set_result_and_flags::<M, BITS>(m, i, result)
}

fn bics<M: Machine, O: Operand, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & !O::read::<M, BITS>(m, i);
    set_result_and_flags::<M, BITS>(m, i, result)
}

#[inline(always)]
fn set_result_and_flags<M: Machine, const BITS: u32>(m: &mut M, i: Insn, result: M::Word) -> Done<M> {
    let nzcv = m.logic_flags(BITS, result);
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

/// ANDS to XZR, not shifted.
fn tst<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) & m.x(i.rm());
    let nzcv = m.logic_flags(BITS, result);
    m.set_nzcv(nzcv);
    Ok(())
}
