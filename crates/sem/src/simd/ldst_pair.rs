//! Loads and stores of pairs of SIMD&FP registers. DDI 0487 C4.1 "Load/store register pair" and "no-allocate pair".

use crate::base::address::{Base as _, XnOrSp};
use crate::insn::Insn;
use crate::machine::{Access, Done, Machine, TagCheck};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "*_pre" => "* {Lt}, {La}, [{Xn|sp}, #{simm7}]!";
    "*_post" => "* {Lt}, {La}, [{Xn|sp}], #{simm7}";
    "*" => "* {Lt}, {La}, [{Xn|sp}{,simm7}]";
    STNP_S_ldstnapair_offs "0010110000 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, OFFSET, 2>;
    LDNP_S_ldstnapair_offs "0010110001 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, OFFSET, 2>;
    STNP_D_ldstnapair_offs "0110110000 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, OFFSET, 3>;
    LDNP_D_ldstnapair_offs "0110110001 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, OFFSET, 3>;
    STNP_Q_ldstnapair_offs "1010110000 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, OFFSET, 4>;
    LDNP_Q_ldstnapair_offs "1010110001 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, OFFSET, 4>;
    STP_S_ldstpair_off     "0010110100 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, OFFSET, 2>;
    LDP_S_ldstpair_off     "0010110101 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, OFFSET, 2>;
    STP_D_ldstpair_off     "0110110100 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, OFFSET, 3>;
    LDP_D_ldstpair_off     "0110110101 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, OFFSET, 3>;
    STP_Q_ldstpair_off     "1010110100 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, OFFSET, 4>;
    LDP_Q_ldstpair_off     "1010110101 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, OFFSET, 4>;
    STP_S_ldstpair_post    "0010110010 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, POST, 2>;
    LDP_S_ldstpair_post    "0010110011 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, POST, 2>;
    STP_D_ldstpair_post    "0110110010 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, POST, 3>;
    LDP_D_ldstpair_post    "0110110011 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, POST, 3>;
    STP_Q_ldstpair_post    "1010110010 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, POST, 4>;
    LDP_Q_ldstpair_post    "1010110011 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, POST, 4>;
    STP_S_ldstpair_pre     "0010110110 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, PRE, 2>;
    LDP_S_ldstpair_pre     "0010110111 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, PRE, 2>;
    STP_D_ldstpair_pre     "0110110110 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, PRE, 3>;
    LDP_D_ldstpair_pre     "0110110111 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, PRE, 3>;
    STP_Q_ldstpair_pre     "1010110110 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => store::<M, PRE, 4>;
    LDP_Q_ldstpair_pre     "1010110111 iiiiiii uuuuu nnnnn ttttt" FEAT_FP next plain => load::<M, PRE, 4>;
}

const OFFSET: u32 = 0;
const POST: u32 = 1;
const PRE: u32 = 2;

/// The address, and the base's new value where it is written back.
#[inline(always)]
fn address<M: Machine>(m: &mut M, i: Insn, mode: u32, log2: u32) -> (M::Word, Option<M::Word>) {
    let base = m.x_or_sp(i.rn());
    let moved = base + M::Word::from((i.signed(21, 15) << log2) as u64);
    match mode {
        OFFSET => (moved, None),
        POST => (base, Some(moved)),
        _ => (moved, Some(moved)),
    }
}

/// Accesses relative to SP are not checked against allocation tags, unless it is written back.
#[inline(always)]
fn tags(i: Insn, mode: u32) -> TagCheck {
    if mode == OFFSET { XnOrSp::tags(i.rn()) } else { TagCheck::Checked }
}

/// LDP of the same register twice is CONSTRAINED UNPREDICTABLE; of the permitted outcomes we take the load that
/// leaves the second element in the register.
fn load<M: Machine, const MODE: u32, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (first, base) = address(m, i, MODE, LOG2);
    let second = first + M::Word::from(1 << LOG2);
    let access = Access::plain(LOG2).tagged(tags(i, MODE));
    let (a, b) = if LOG2 == 4 {
        (m.load_quad(first, access)?, m.load_quad(second, access)?)
    } else {
        (M::Quad::from_lo(m.load(first, access)?), M::Quad::from_lo(m.load(second, access)?))
    };
    m.set_q(i.rt(), a);
    m.set_q(i.rt2(), b);
    if let Some(base) = base {
        m.set_x_or_sp(i.rn(), base);
    }
    Ok(())
}

fn store<M: Machine, const MODE: u32, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (first, base) = address(m, i, MODE, LOG2);
    let second = first + M::Word::from(1 << LOG2);
    let access = Access::plain(LOG2).tagged(tags(i, MODE));
    let (a, b) = (m.q(i.rt()), m.q(i.rt2()));
    if LOG2 == 4 {
        m.store_quad(first, a, access)?;
        m.store_quad(second, b, access)?;
    } else {
        m.store(first, a.lo(), access)?;
        m.store(second, b.lo(), access)?;
    }
    if let Some(base) = base {
        m.set_x_or_sp(i.rn(), base);
    }
    Ok(())
}
