//! Add/subtract (immediate, with tags). FEAT_MTE.

use crate::insn::Insn;
use crate::machine::{Done, Machine, TagOp};
use crate::word::Word;

crate::encodings! {
    "*" => "* {Xd|sp}, {Xn|sp}, #{imm6*16:x}, #{imm4:x}";
    ADDG_64_addsub_immtags "1001000110 iiiiii zz iiii nnnnn ddddd" FEAT_MTE next offset => addg;
    SUBG_64_addsub_immtags "1101000110 iiiiii zz iiii nnnnn ddddd" FEAT_MTE next negated_offset => addg;
}

/// imm6 at \[21:16\], in granules. Bits \[15:14\] should be zero; words where they are not are CONSTRAINED UNPREDICTABLE,
/// here UNDEFINED.
fn offset(word: u32) -> Option<u64> {
    (word >> 14 & 3 == 0).then_some(u64::from(word >> 16 & 63) << 4)
}

fn negated_offset(word: u32) -> Option<u64> {
    offset(word).map(u64::wrapping_neg)
}

/// `address` with logical tag `tag`, a number below 16.
#[inline(always)]
pub(super) fn with_tag<M: Machine>(address: M::Word, tag: M::Word) -> M::Word {
    address & M::Word::from(!(15 << 56)) | tag.shl(M::Word::from(56))
}

/// Bits \[59:56\].
#[inline(always)]
pub(super) fn logical_tag<M: Machine>(address: M::Word) -> M::Word {
    address.lshr(M::Word::from(56)) & M::Word::from(15)
}

/// Rd := Rn plus the offset, with the tag that lies uimm4 (\[13:10\]) further on.
fn addg<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let base = m.x_or_sp(i.rn());
    let tag = m.tags(TagOp::Choose, base, M::Word::from(u64::from(i.bits(13, 10))))?;
    m.set_x_or_sp(i.rd(), with_tag::<M>(base + M::Word::from(i.imm), tag));
    Ok(())
}
