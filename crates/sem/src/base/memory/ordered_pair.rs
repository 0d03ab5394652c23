//! LDAPR and STLR with writeback, and ordered pairs. FEAT_LRCPC3.

use super::address::{Addressing, Offset, PostIndex, PreIndex, XnOrSp};
use super::transfer::{AcquirePc, Release, access, load, store};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;

crate::encodings! {
    "STLR_32S_*" => "* {Wt}, [{Xn|sp}, #-4]!";
    "LDAPR_32L_*" => "* {Wt}, [{Xn|sp}], #4";
    "STLR_64S_*" => "* {Xt}, [{Xn|sp}, #-8]!";
    "LDAPR_64L_*" => "* {Xt}, [{Xn|sp}], #8";
    "STILP_32SE_*" => "* {Wt}, {Ws}, [{Xn|sp}, #-8]!";
    "LDIAPP_32LE_*" => "* {Wt}, {Ws}, [{Xn|sp}], #8";
    "STILP_64SS_*" => "* {Xt}, {Xs}, [{Xn|sp}, #-16]!";
    "LDIAPP_64LS_*" => "* {Xt}, {Xs}, [{Xn|sp}], #16";
    "*_32*" => "* {Wt}, {Ws}, [{Xn|sp}]";
    "*_64*" => "* {Xt}, {Xs}, [{Xn|sp}]";
    STLR_32S_ldapstl_writeback  "1001100110000000000010 nnnnn ttttt"   FEAT_LRCPC3 next down::<2> => store::<M, PreIndex<XnOrSp>, Release, 2>;
    LDAPR_32L_ldapstl_writeback "1001100111000000000010 nnnnn ttttt"   FEAT_LRCPC3 next up::<2> => load::<M, PostIndex<XnOrSp>, AcquirePc, 2>;
    STLR_64S_ldapstl_writeback  "1101100110000000000010 nnnnn ttttt"   FEAT_LRCPC3 next down::<3> => store::<M, PreIndex<XnOrSp>, Release, 3>;
    LDAPR_64L_ldapstl_writeback "1101100111000000000010 nnnnn ttttt"   FEAT_LRCPC3 next up::<3> => load::<M, PostIndex<XnOrSp>, AcquirePc, 3>;
    STILP_32SE_ldiappstilp      "10011001000 aaaaa 000010 nnnnn ttttt" FEAT_LRCPC3 next down::<3> => store_pair::<M, PreIndex<XnOrSp>, 2>;
    STILP_32S_ldiappstilp       "10011001000 aaaaa 000110 nnnnn ttttt" FEAT_LRCPC3 next plain => store_pair::<M, Offset<XnOrSp>, 2>;
    LDIAPP_32LE_ldiappstilp     "10011001010 aaaaa 000010 nnnnn ttttt" FEAT_LRCPC3 next up::<3> => load_pair::<M, PostIndex<XnOrSp>, 2>;
    LDIAPP_32L_ldiappstilp      "10011001010 aaaaa 000110 nnnnn ttttt" FEAT_LRCPC3 next plain => load_pair::<M, Offset<XnOrSp>, 2>;
    STILP_64SS_ldiappstilp      "11011001000 aaaaa 000010 nnnnn ttttt" FEAT_LRCPC3 next down::<4> => store_pair::<M, PreIndex<XnOrSp>, 3>;
    STILP_64S_ldiappstilp       "11011001000 aaaaa 000110 nnnnn ttttt" FEAT_LRCPC3 next plain => store_pair::<M, Offset<XnOrSp>, 3>;
    LDIAPP_64LS_ldiappstilp     "11011001010 aaaaa 000010 nnnnn ttttt" FEAT_LRCPC3 next up::<4> => load_pair::<M, PostIndex<XnOrSp>, 3>;
    LDIAPP_64L_ldiappstilp      "11011001010 aaaaa 000110 nnnnn ttttt" FEAT_LRCPC3 next plain => load_pair::<M, Offset<XnOrSp>, 3>;
}

/// The writeback of a load: 1 << `LOG2` bytes up.
fn up<const LOG2: u32>(_: u32) -> Option<u64> {
    Some(1 << LOG2)
}

/// The writeback of a store: 1 << `LOG2` bytes down.
fn down<const LOG2: u32>(_: u32) -> Option<u64> {
    Some(0u64.wrapping_sub(1 << LOG2))
}

/// LDIAPP. Its Rt2 is at \[20:16\].
fn load_pair<M: Machine, A: Addressing, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let first = m.load(address, access::<AcquirePc>(LOG2, A::tags(i)))?;
    let second = m.load(address + M::Word::from(1 << LOG2), access::<AcquirePc>(LOG2, A::tags(i)))?;
    A::write_back(m, i, base);
    m.set_x(i.rt(), first);
    m.set_x(i.bits(20, 16), second);
    Ok(())
}

/// STILP. Its Rt2 is at \[20:16\].
fn store_pair<M: Machine, A: Addressing, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let (first, second) = (m.x(i.rt()), m.x(i.bits(20, 16)));
    m.store(address, first, access::<Release>(LOG2, A::tags(i)))?;
    m.store(address + M::Word::from(1 << LOG2), second, access::<Release>(LOG2, A::tags(i)))?;
    A::write_back(m, i, base);
    Ok(())
}
