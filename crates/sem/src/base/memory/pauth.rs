//! Load register (PAC). FEAT_PAuth.

use super::address::{Base, XnOrSp};
use crate::insn::Insn;
use crate::machine::{Access, Assist, Done, Machine, PauthKey};

crate::encodings! {
    "*_64_*" => "* {Xt}, [{Xn|sp}{,simm10}]";
    "*_64W_*" => "* {Xt}, [{Xn|sp}{,simm10}]!";
    LDRAA_64_ldst_pac  "111110000 s 1 iiiiiiiii 01 nnnnn ttttt" FEAT_PAuth next offset => load;
    LDRAA_64W_ldst_pac "111110000 s 1 iiiiiiiii 11 nnnnn ttttt" FEAT_PAuth next offset => load_write_back;
    LDRAB_64_ldst_pac  "111110001 s 1 iiiiiiiii 01 nnnnn ttttt" FEAT_PAuth next offset => load;
    LDRAB_64W_ldst_pac "111110001 s 1 iiiiiiiii 11 nnnnn ttttt" FEAT_PAuth next offset => load_write_back;
}

/// S:imm9 at \[22\] and \[20:12\], signed, in doublewords.
fn offset(word: u32) -> Option<u64> {
    let number = (word >> 22 & 1) << 9 | word >> 12 & 0x1ff;
    Some(i64::from((number << 22) as i32 >> 19) as u64)
}

/// The address, from the base authenticated with a data key and modifier zero; and what lies there.
#[inline(always)]
fn access<M: Machine>(m: &mut M, i: Insn) -> Result<(M::Word, M::Word), M::Stop> {
    let key = if i.bit(23) == 0 { PauthKey::DA } else { PauthKey::DB };
    let (base, zero) = (XnOrSp::read(m, i.rn())?, M::Word::from(0));
    let address = m.assist(i, Assist::AuthenticateCombined(key), [base, zero, zero])? + M::Word::from(i.imm);
    Ok((address, m.load(address, Access::plain(3))?))
}

fn load<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (_, value) = access(m, i)?;
    m.set_x(i.rt(), value);
    Ok(())
}

/// As for the other loads, the loaded value wins where Rt is the base.
fn load_write_back<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (address, value) = access(m, i)?;
    XnOrSp::write(m, i.rn(), address);
    m.set_x(i.rt(), value);
    Ok(())
}
