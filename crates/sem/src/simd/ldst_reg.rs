//! Loads and stores of one SIMD&FP register: unsigned offset, unscaled, post- and pre-indexed, register offset,
//! literal, and FEAT_LRCPC3's ordered ones. DDI 0487 C4.1 "Loads and Stores".

use crate::base::address::{Base as _, XnOrSp};
use crate::insn::Insn;
use crate::machine::{Access, Done, Machine, Order, TagCheck};
use crate::spec::plain;
use crate::word::{Quad, Word};

crate::encodings! {
    "*_loadlit" => "* {Lt}, {label19}";
    "*_ldst_pos" => "* {Lt}, [{Xn|sp}{,uimm12}]";
    "*_ldst_immpost" => "* {Lt}, [{Xn|sp}], #{imm9:s}";
    "*_ldst_immpre" => "* {Lt}, [{Xn|sp}, #{imm9:s}]!";
    "*_ldst_regoff" => "* {Lt}, [{Xn|sp}, {regoff}]";
    "*" => "* {Lt}, [{Xn|sp}{,imm9:s}]";
    STR_B_ldst_pos        "0011110100 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => store::<M, Offset, 0>;
    LDR_B_ldst_pos        "0011110101 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => load::<M, Offset, 0>;
    STR_Q_ldst_pos        "0011110110 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => store::<M, Offset, 4>;
    LDR_Q_ldst_pos        "0011110111 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => load::<M, Offset, 4>;
    STR_H_ldst_pos        "0111110100 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => store::<M, Offset, 1>;
    LDR_H_ldst_pos        "0111110101 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => load::<M, Offset, 1>;
    STR_S_ldst_pos        "1011110100 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => store::<M, Offset, 2>;
    LDR_S_ldst_pos        "1011110101 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => load::<M, Offset, 2>;
    STR_D_ldst_pos        "1111110100 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => store::<M, Offset, 3>;
    LDR_D_ldst_pos        "1111110101 iiiiiiiiiiii nnnnn ttttt" FEAT_FP next plain => load::<M, Offset, 3>;
    STUR_B_ldst_unscaled  "00111100000 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => store::<M, Unscaled, 0>;
    LDUR_B_ldst_unscaled  "00111100010 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => load::<M, Unscaled, 0>;
    STUR_Q_ldst_unscaled  "00111100100 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => store::<M, Unscaled, 4>;
    LDUR_Q_ldst_unscaled  "00111100110 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => load::<M, Unscaled, 4>;
    STUR_H_ldst_unscaled  "01111100000 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => store::<M, Unscaled, 1>;
    LDUR_H_ldst_unscaled  "01111100010 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => load::<M, Unscaled, 1>;
    STUR_S_ldst_unscaled  "10111100000 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => store::<M, Unscaled, 2>;
    LDUR_S_ldst_unscaled  "10111100010 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => load::<M, Unscaled, 2>;
    STUR_D_ldst_unscaled  "11111100000 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => store::<M, Unscaled, 3>;
    LDUR_D_ldst_unscaled  "11111100010 iiiiiiiii 00 nnnnn ttttt" FEAT_FP next plain => load::<M, Unscaled, 3>;
    STR_B_ldst_immpost    "00111100000 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => store::<M, PostIndex, 0>;
    LDR_B_ldst_immpost    "00111100010 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => load::<M, PostIndex, 0>;
    STR_Q_ldst_immpost    "00111100100 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => store::<M, PostIndex, 4>;
    LDR_Q_ldst_immpost    "00111100110 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => load::<M, PostIndex, 4>;
    STR_H_ldst_immpost    "01111100000 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => store::<M, PostIndex, 1>;
    LDR_H_ldst_immpost    "01111100010 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => load::<M, PostIndex, 1>;
    STR_S_ldst_immpost    "10111100000 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => store::<M, PostIndex, 2>;
    LDR_S_ldst_immpost    "10111100010 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => load::<M, PostIndex, 2>;
    STR_D_ldst_immpost    "11111100000 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => store::<M, PostIndex, 3>;
    LDR_D_ldst_immpost    "11111100010 iiiiiiiii 01 nnnnn ttttt" FEAT_FP next plain => load::<M, PostIndex, 3>;
    STR_B_ldst_immpre     "00111100000 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => store::<M, PreIndex, 0>;
    LDR_B_ldst_immpre     "00111100010 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => load::<M, PreIndex, 0>;
    STR_Q_ldst_immpre     "00111100100 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => store::<M, PreIndex, 4>;
    LDR_Q_ldst_immpre     "00111100110 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => load::<M, PreIndex, 4>;
    STR_H_ldst_immpre     "01111100000 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => store::<M, PreIndex, 1>;
    LDR_H_ldst_immpre     "01111100010 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => load::<M, PreIndex, 1>;
    STR_S_ldst_immpre     "10111100000 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => store::<M, PreIndex, 2>;
    LDR_S_ldst_immpre     "10111100010 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => load::<M, PreIndex, 2>;
    STR_D_ldst_immpre     "11111100000 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => store::<M, PreIndex, 3>;
    LDR_D_ldst_immpre     "11111100010 iiiiiiiii 11 nnnnn ttttt" FEAT_FP next plain => load::<M, PreIndex, 3>;
    STR_B_ldst_regoff     "00111100001 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => store::<M, Register, 0>;
    STR_BL_ldst_regoff    "00111100001 mmmmm 011 S 10 nnnnn ttttt" FEAT_FP next extend => store::<M, Register, 0>;
    LDR_B_ldst_regoff     "00111100011 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => load::<M, Register, 0>;
    LDR_BL_ldst_regoff    "00111100011 mmmmm 011 S 10 nnnnn ttttt" FEAT_FP next extend => load::<M, Register, 0>;
    STR_Q_ldst_regoff     "00111100101 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => store::<M, Register, 4>;
    LDR_Q_ldst_regoff     "00111100111 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => load::<M, Register, 4>;
    STR_H_ldst_regoff     "01111100001 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => store::<M, Register, 1>;
    LDR_H_ldst_regoff     "01111100011 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => load::<M, Register, 1>;
    STR_S_ldst_regoff     "10111100001 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => store::<M, Register, 2>;
    LDR_S_ldst_regoff     "10111100011 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => load::<M, Register, 2>;
    STR_D_ldst_regoff     "11111100001 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => store::<M, Register, 3>;
    LDR_D_ldst_regoff     "11111100011 mmmmm ooo S 10 nnnnn ttttt" FEAT_FP next extend => load::<M, Register, 3>;
    LDR_S_loadlit         "00011100 iiiiiiiiiiiiiiiiiii ttttt" FEAT_FP next plain => literal::<M, 2>;
    LDR_D_loadlit         "01011100 iiiiiiiiiiiiiiiiiii ttttt" FEAT_FP next plain => literal::<M, 3>;
    LDR_Q_loadlit         "10011100 iiiiiiiiiiiiiiiiiii ttttt" FEAT_FP next plain => literal::<M, 4>;
    STLUR_B_ldapstl_simd  "00011101000 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_store::<M, 0>;
    LDAPUR_B_ldapstl_simd "00011101010 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_load::<M, 0>;
    STLUR_Q_ldapstl_simd  "00011101100 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_store::<M, 4>;
    LDAPUR_Q_ldapstl_simd "00011101110 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_load::<M, 4>;
    STLUR_H_ldapstl_simd  "01011101000 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_store::<M, 1>;
    LDAPUR_H_ldapstl_simd "01011101010 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_load::<M, 1>;
    STLUR_S_ldapstl_simd  "10011101000 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_store::<M, 2>;
    LDAPUR_S_ldapstl_simd "10011101010 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_load::<M, 2>;
    STLUR_D_ldapstl_simd  "11011101000 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_store::<M, 3>;
    LDAPUR_D_ldapstl_simd "11011101010 iiiiiiiii 10 nnnnn ttttt" FEAT_LRCPC3 next plain => ordered_load::<M, 3>;
}

/// How the address and the new base come from the word.
trait Mode {
    /// The address, and the base register's new value where it is written back.
    fn address<M: Machine>(m: &mut M, i: Insn, log2: u32) -> (M::Word, Option<M::Word>);
    /// Is the access checked against allocation tags?
    #[inline(always)]
    fn tags(_: Insn) -> TagCheck {
        TagCheck::Checked
    }
}

struct Offset;
struct Unscaled;
struct PostIndex;
struct PreIndex;
struct Register;

impl Mode for Offset {
    fn tags(i: Insn) -> TagCheck {
        XnOrSp::tags(i.rn())
    }
    fn address<M: Machine>(m: &mut M, i: Insn, log2: u32) -> (M::Word, Option<M::Word>) {
        (m.x_or_sp(i.rn()) + M::Word::from(u64::from(i.bits(21, 10)) << log2), None)
    }
}

impl Mode for Unscaled {
    fn tags(i: Insn) -> TagCheck {
        XnOrSp::tags(i.rn())
    }
    fn address<M: Machine>(m: &mut M, i: Insn, _: u32) -> (M::Word, Option<M::Word>) {
        (m.x_or_sp(i.rn()) + M::Word::from(i.signed(20, 12) as u64), None)
    }
}

impl Mode for PostIndex {
    fn address<M: Machine>(m: &mut M, i: Insn, _: u32) -> (M::Word, Option<M::Word>) {
        let base = m.x_or_sp(i.rn());
        (base, Some(base + M::Word::from(i.signed(20, 12) as u64)))
    }
}

impl Mode for PreIndex {
    fn address<M: Machine>(m: &mut M, i: Insn, _: u32) -> (M::Word, Option<M::Word>) {
        let address = m.x_or_sp(i.rn()) + M::Word::from(i.signed(20, 12) as u64);
        (address, Some(address))
    }
}

impl Mode for Register {
    fn address<M: Machine>(m: &mut M, i: Insn, log2: u32) -> (M::Word, Option<M::Word>) {
        let index = m.x(i.rm());
        let index = match i.bits(15, 13) {
            0b010 => index.zext(32),
            0b110 => index.sext(32),
            _ => index,
        };
        let shift = if i.bit(12) == 1 { log2 } else { 0 };
        (m.x_or_sp(i.rn()) + index.shl(M::Word::from(u64::from(shift))), None)
    }
}

/// Extension by a byte or halfword (option<1> is 0) is reserved.
fn extend(word: u32) -> Option<u64> {
    (word >> 14 & 1 == 1).then_some(0)
}

/// Reads a register's worth of 1 to 16 bytes.
#[inline(always)]
fn read<M: Machine>(m: &mut M, address: M::Word, access: Access) -> Result<M::Quad, M::Stop> {
    if access.log2 == 4 { m.load_quad(address, access) } else { Ok(M::Quad::from_lo(m.load(address, access)?)) }
}

/// Writes the low 1 to 16 bytes of a register.
#[inline(always)]
fn write<M: Machine>(m: &mut M, address: M::Word, value: M::Quad, access: Access) -> Done<M> {
    if access.log2 == 4 { m.store_quad(address, value, access) } else { m.store(address, value.lo(), access) }
}

fn load<M: Machine, A: Mode, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (address, base) = A::address(m, i, LOG2);
    let value = read(m, address, Access::plain(LOG2).tagged(A::tags(i)))?;
    m.set_q(i.rt(), value);
    if let Some(base) = base {
        m.set_x_or_sp(i.rn(), base);
    }
    Ok(())
}

fn store<M: Machine, A: Mode, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (address, base) = A::address(m, i, LOG2);
    let value = m.q(i.rt());
    write(m, address, value, Access::plain(LOG2).tagged(A::tags(i)))?;
    if let Some(base) = base {
        m.set_x_or_sp(i.rn(), base);
    }
    Ok(())
}

fn literal<M: Machine, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let address = m.pc(i) + M::Word::from((i.signed(23, 5) * 4) as u64);
    let value = read(m, address, Access::plain(LOG2).tagged(TagCheck::Unchecked))?;
    m.set_q(i.rt(), value);
    Ok(())
}

fn ordered_load<M: Machine, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (address, _) = Unscaled::address(m, i, LOG2);
    let value = read(m, address, Access::ordered(LOG2, Order::AcquirePc).tagged(Unscaled::tags(i)))?;
    m.set_q(i.rt(), value);
    Ok(())
}

fn ordered_store<M: Machine, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (address, _) = Unscaled::address(m, i, LOG2);
    let value = m.q(i.rt());
    write(m, address, value, Access::ordered(LOG2, Order::Release).tagged(Unscaled::tags(i)))
}
