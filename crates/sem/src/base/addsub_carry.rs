//! Add/subtract (with carry).

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "SBC_*" => "n=31? ngc {Rd}, {Rm} | * {Rd}, {Rn}, {Rm}";
    "SBCS_*" => "n=31? ngcs {Rd}, {Rm} | * {Rd}, {Rn}, {Rm}";
    "*" => "* {Rd}, {Rn}, {Rm}";
    ADC_32_addsub_carry  "00011010000 mmmmm 000000 nnnnn ddddd" - next plain => adc::<M, 32>;
    ADCS_32_addsub_carry "00111010000 mmmmm 000000 nnnnn ddddd" - next plain => adcs::<M, 32>;
    SBC_32_addsub_carry  "01011010000 mmmmm 000000 nnnnn ddddd" - next plain => sbc::<M, 32>;
    SBCS_32_addsub_carry "01111010000 mmmmm 000000 nnnnn ddddd" - next plain => sbcs::<M, 32>;
    ADC_64_addsub_carry  "10011010000 mmmmm 000000 nnnnn ddddd" - next plain => adc::<M, 64>;
    ADCS_64_addsub_carry "10111010000 mmmmm 000000 nnnnn ddddd" - next plain => adcs::<M, 64>;
    SBC_64_addsub_carry  "11011010000 mmmmm 000000 nnnnn ddddd" - next plain => sbc::<M, 64>;
    SBCS_64_addsub_carry "11111010000 mmmmm 000000 nnnnn ddddd" - next plain => sbcs::<M, 64>;
}

/// PSTATE.C as 0 or 1.
fn carry<M: Machine>(m: &mut M) -> M::Word {
    m.nzcv().lshr(M::Word::from(29)) & M::Word::from(1)
}

fn adc<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) + m.x(i.rm()) + carry(m);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn sbc<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let result = m.x(i.rn()) + !m.x(i.rm()) + carry(m);
    m.set_x(i.rd(), result.zext(BITS));
    Ok(())
}

fn adcs<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b, c) = (m.x(i.rn()), m.x(i.rm()), carry(m));
    let (result, nzcv) = m.add_with_carry(BITS, a, b, c);
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}

fn sbcs<M: Machine, const BITS: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (a, b, c) = (m.x(i.rn()), !m.x(i.rm()), carry(m));
    let (result, nzcv) = m.add_with_carry(BITS, a, b, c);
    m.set_nzcv(nzcv);
    m.set_x(i.rd(), result);
    Ok(())
}
