//! Memory copy and memory set. FEAT_MOPS; those that set tags come with FEAT_MTE.
//!
//! Of the two ways to keep what is to go in registers this is Option A: the prologue makes the addresses those of the ends
//! and the count negative, or leaves both where a copy goes downwards; it moves nothing itself. The other two move some
//! bytes and start again until none are to go, so that interrupts and faults find registers that say what is to go. The
//! epilogue takes any count.

use crate::insn::Insn;
use crate::machine::{Assist, CopyOrder, Done, Machine, Privilege};
use crate::word::Word;

crate::encodings! {
    "CPY*" => "* [{Xd}]!, [{Xs}]!, {Xn}!";
    "SET*" => "* [{Xd}]!, {Xn}!, {Xs}";
    CPYFP_CPY_memcms     "00 011001000 sssss 000001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPWT_CPY_memcms   "00 011001000 sssss 000101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPRT_CPY_memcms   "00 011001000 sssss 001001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPT_CPY_memcms    "00 011001000 sssss 001101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPWN_CPY_memcms   "00 011001000 sssss 010001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPWTWN_CPY_memcms "00 011001000 sssss 010101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPRTWN_CPY_memcms "00 011001000 sssss 011001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPTWN_CPY_memcms  "00 011001000 sssss 011101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPRN_CPY_memcms   "00 011001000 sssss 100001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPWTRN_CPY_memcms "00 011001000 sssss 100101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPRTRN_CPY_memcms "00 011001000 sssss 101001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPTRN_CPY_memcms  "00 011001000 sssss 101101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPN_CPY_memcms    "00 011001000 sssss 110001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPWTN_CPY_memcms  "00 011001000 sssss 110101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPRTN_CPY_memcms  "00 011001000 sssss 111001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFPTN_CPY_memcms   "00 011001000 sssss 111101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyfp;
    CPYFM_CPY_memcms     "00 011001010 sssss 000001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMWT_CPY_memcms   "00 011001010 sssss 000101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMRT_CPY_memcms   "00 011001010 sssss 001001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMT_CPY_memcms    "00 011001010 sssss 001101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMWN_CPY_memcms   "00 011001010 sssss 010001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMWTWN_CPY_memcms "00 011001010 sssss 010101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMRTWN_CPY_memcms "00 011001010 sssss 011001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMTWN_CPY_memcms  "00 011001010 sssss 011101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMRN_CPY_memcms   "00 011001010 sssss 100001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMWTRN_CPY_memcms "00 011001010 sssss 100101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMRTRN_CPY_memcms "00 011001010 sssss 101001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMTRN_CPY_memcms  "00 011001010 sssss 101101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMN_CPY_memcms    "00 011001010 sssss 110001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMWTN_CPY_memcms  "00 011001010 sssss 110101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMRTN_CPY_memcms  "00 011001010 sssss 111001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFMTN_CPY_memcms   "00 011001010 sssss 111101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFE_CPY_memcms     "00 011001100 sssss 000001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFEWT_CPY_memcms   "00 011001100 sssss 000101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFERT_CPY_memcms   "00 011001100 sssss 001001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFET_CPY_memcms    "00 011001100 sssss 001101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFEWN_CPY_memcms   "00 011001100 sssss 010001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFEWTWN_CPY_memcms "00 011001100 sssss 010101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFERTWN_CPY_memcms "00 011001100 sssss 011001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFETWN_CPY_memcms  "00 011001100 sssss 011101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFERN_CPY_memcms   "00 011001100 sssss 100001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFEWTRN_CPY_memcms "00 011001100 sssss 100101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFERTRN_CPY_memcms "00 011001100 sssss 101001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFETRN_CPY_memcms  "00 011001100 sssss 101101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFEN_CPY_memcms    "00 011001100 sssss 110001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFEWTN_CPY_memcms  "00 011001100 sssss 110101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFERTN_CPY_memcms  "00 011001100 sssss 111001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    CPYFETN_CPY_memcms   "00 011001100 sssss 111101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpyf;
    SETP_SET_memcms      "00 011001110 sssss 000001 nnnnn ddddd" FEAT_MOPS next set_registers => setp::<M, MOST>;
    SETPT_SET_memcms     "00 011001110 sssss 000101 nnnnn ddddd" FEAT_MOPS next set_registers => setp::<M, MOST>;
    SETPN_SET_memcms     "00 011001110 sssss 001001 nnnnn ddddd" FEAT_MOPS next set_registers => setp::<M, MOST>;
    SETPTN_SET_memcms    "00 011001110 sssss 001101 nnnnn ddddd" FEAT_MOPS next set_registers => setp::<M, MOST>;
    SETM_SET_memcms      "00 011001110 sssss 010001 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETMT_SET_memcms     "00 011001110 sssss 010101 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETMN_SET_memcms     "00 011001110 sssss 011001 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETMTN_SET_memcms    "00 011001110 sssss 011101 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETE_SET_memcms      "00 011001110 sssss 100001 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETET_SET_memcms     "00 011001110 sssss 100101 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETEN_SET_memcms     "00 011001110 sssss 101001 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    SETETN_SET_memcms    "00 011001110 sssss 101101 nnnnn ddddd" FEAT_MOPS end set_registers => set;
    CPYP_CPY_memcms      "00 011101000 sssss 000001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPWT_CPY_memcms    "00 011101000 sssss 000101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPRT_CPY_memcms    "00 011101000 sssss 001001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPT_CPY_memcms     "00 011101000 sssss 001101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPWN_CPY_memcms    "00 011101000 sssss 010001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPWTWN_CPY_memcms  "00 011101000 sssss 010101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPRTWN_CPY_memcms  "00 011101000 sssss 011001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPTWN_CPY_memcms   "00 011101000 sssss 011101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPRN_CPY_memcms    "00 011101000 sssss 100001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPWTRN_CPY_memcms  "00 011101000 sssss 100101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPRTRN_CPY_memcms  "00 011101000 sssss 101001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPTRN_CPY_memcms   "00 011101000 sssss 101101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPN_CPY_memcms     "00 011101000 sssss 110001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPWTN_CPY_memcms   "00 011101000 sssss 110101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPRTN_CPY_memcms   "00 011101000 sssss 111001 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYPTN_CPY_memcms    "00 011101000 sssss 111101 nnnnn ddddd" FEAT_MOPS next copy_registers => cpyp;
    CPYM_CPY_memcms      "00 011101010 sssss 000001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMWT_CPY_memcms    "00 011101010 sssss 000101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMRT_CPY_memcms    "00 011101010 sssss 001001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMT_CPY_memcms     "00 011101010 sssss 001101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMWN_CPY_memcms    "00 011101010 sssss 010001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMWTWN_CPY_memcms  "00 011101010 sssss 010101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMRTWN_CPY_memcms  "00 011101010 sssss 011001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMTWN_CPY_memcms   "00 011101010 sssss 011101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMRN_CPY_memcms    "00 011101010 sssss 100001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMWTRN_CPY_memcms  "00 011101010 sssss 100101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMRTRN_CPY_memcms  "00 011101010 sssss 101001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMTRN_CPY_memcms   "00 011101010 sssss 101101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMN_CPY_memcms     "00 011101010 sssss 110001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMWTN_CPY_memcms   "00 011101010 sssss 110101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMRTN_CPY_memcms   "00 011101010 sssss 111001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYMTN_CPY_memcms    "00 011101010 sssss 111101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYE_CPY_memcms      "00 011101100 sssss 000001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYEWT_CPY_memcms    "00 011101100 sssss 000101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYERT_CPY_memcms    "00 011101100 sssss 001001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYET_CPY_memcms     "00 011101100 sssss 001101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYEWN_CPY_memcms    "00 011101100 sssss 010001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYEWTWN_CPY_memcms  "00 011101100 sssss 010101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYERTWN_CPY_memcms  "00 011101100 sssss 011001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYETWN_CPY_memcms   "00 011101100 sssss 011101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYERN_CPY_memcms    "00 011101100 sssss 100001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYEWTRN_CPY_memcms  "00 011101100 sssss 100101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYERTRN_CPY_memcms  "00 011101100 sssss 101001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYETRN_CPY_memcms   "00 011101100 sssss 101101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYEN_CPY_memcms     "00 011101100 sssss 110001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYEWTN_CPY_memcms   "00 011101100 sssss 110101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYERTN_CPY_memcms   "00 011101100 sssss 111001 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    CPYETN_CPY_memcms    "00 011101100 sssss 111101 nnnnn ddddd" FEAT_MOPS end copy_registers => cpy;
    SETGP_SET_memcms     "00 011101110 sssss 000001 nnnnn ddddd" FEAT_MTE next set_registers => setp::<M, MOST_GRANULES>;
    SETGPT_SET_memcms    "00 011101110 sssss 000101 nnnnn ddddd" FEAT_MTE next set_registers => setp::<M, MOST_GRANULES>;
    SETGPN_SET_memcms    "00 011101110 sssss 001001 nnnnn ddddd" FEAT_MTE next set_registers => setp::<M, MOST_GRANULES>;
    SETGPTN_SET_memcms   "00 011101110 sssss 001101 nnnnn ddddd" FEAT_MTE next set_registers => setp::<M, MOST_GRANULES>;
    SETGM_SET_memcms     "00 011101110 sssss 010001 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGMT_SET_memcms    "00 011101110 sssss 010101 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGMN_SET_memcms    "00 011101110 sssss 011001 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGMTN_SET_memcms   "00 011101110 sssss 011101 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGE_SET_memcms     "00 011101110 sssss 100001 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGET_SET_memcms    "00 011101110 sssss 100101 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGEN_SET_memcms    "00 011101110 sssss 101001 nnnnn ddddd" FEAT_MTE end set_registers => setg;
    SETGETN_SET_memcms   "00 011101110 sssss 101101 nnnnn ddddd" FEAT_MTE end set_registers => setg;
}

/// The largest count that the prologues leave as it is.
const MOST: u64 = i64::MAX as u64;
/// The same in granules of tags.
const MOST_GRANULES: u64 = MOST & !15;
/// The same where the direction is chosen.
const MOST_EITHER_WAY: u64 = (1 << 55) - 1;

/// Rd, Rs and Rn of a copy must not meet or be 31 (CONSTRAINED UNPREDICTABLE): then it is UNDEFINED.
fn copy_registers(word: u32) -> Option<u64> {
    let i = Insn::new(word, 0, 0);
    let (d, s, n) = (i.rd(), i.rs(), i.rn());
    (d != s && d != n && s != n && d != 31 && s != 31 && n != 31).then_some(0)
}

/// The same of a set, but that Rs, the value, may be 31.
fn set_registers(word: u32) -> Option<u64> {
    let i = Insn::new(word, 0, 0);
    let (d, s, n) = (i.rd(), i.rs(), i.rn());
    (d != s && d != n && s != n && d != 31 && n != 31).then_some(0)
}

/// Bit `n` of the word selects EL0's permissions.
const fn privilege(i: Insn, n: u32) -> Privilege {
    if i.bit(n) == 1 { Privilege::Unprivileged } else { Privilege::Current }
}

/// Is the instruction enabled, and does what is to go look like Option A's?
fn check<M: Machine>(m: &mut M, i: Insn, to_go: M::Word) -> Done<M> {
    let operands = [to_go, m.nzcv(), M::Word::from(0)];
    m.assist(i, Assist::CheckMops, operands).map(drop)
}

/// Xn, at most `most`.
fn count<M: Machine>(m: &mut M, i: Insn, most: u64) -> M::Word {
    let (count, most) = (m.x(i.rn()), M::Word::from(most));
    most.is_ult(count).select(most, count)
}

fn setp<M: Machine, const MOST: u64>(m: &mut M, i: Insn) -> Done<M> {
    let zero = M::Word::from(0);
    check(m, i, zero)?;
    let (end, count) = (m.x(i.rd()), count(m, i, MOST));
    m.set_x(i.rd(), end + count);
    m.set_x(i.rn(), zero - count);
    m.set_nzcv(zero);
    Ok(())
}

fn cpyfp<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let zero = M::Word::from(0);
    check(m, i, zero)?;
    let (to, from, count) = (m.x(i.rd()), m.x(i.rs()), count(m, i, MOST));
    m.set_x(i.rd(), to + count);
    m.set_x(i.rs(), from + count);
    m.set_x(i.rn(), zero - count);
    m.set_nzcv(zero);
    Ok(())
}

/// Downwards where the source begins below the destination and reaches into it, tags aside.
fn cpyp<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let zero = M::Word::from(0);
    check(m, i, zero)?;
    let (to, from, count) = (m.x(i.rd()), m.x(i.rs()), count(m, i, MOST_EITHER_WAY));
    let (to_address, from_address) = (to.zext(56), from.zext(56));
    let down = from_address.is_ult(to_address) & to_address.is_ult(from_address + count);
    m.set_x(i.rd(), down.select(to, to + count));
    m.set_x(i.rs(), down.select(from, from + count));
    m.set_x(i.rn(), down.select(count, zero - count));
    m.set_nzcv(zero);
    Ok(())
}

/// Starts the instruction again with `left` to go, if anything is.
fn go_on<M: Machine>(m: &mut M, i: Insn, left: M::Word) -> Done<M> {
    let again = m.pc(i);
    m.set_x(i.rn(), left);
    m.branch_if(left, again)
}

fn set_with<M: Machine>(m: &mut M, i: Insn, op: Assist) -> Done<M> {
    let (end, to_go, value) = (m.x(i.rd()), m.x(i.rn()), m.x(i.rs()));
    check(m, i, to_go)?;
    let done = m.assist(i, op, [end + to_go, M::Word::from(0) - to_go, value])?;
    go_on(m, i, to_go + done)
}

fn set<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    set_with(m, i, Assist::SetMemory(privilege(i, 12)))
}

fn setg<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    set_with(m, i, Assist::SetMemoryAndTags(privilege(i, 12)))
}

/// What is to go before, and what was moved.
fn copy_with<M: Machine>(m: &mut M, i: Insn, order: CopyOrder) -> Result<(M::Word, M::Word), M::Stop> {
    let (to, from, to_go) = (m.x(i.rd()), m.x(i.rs()), m.x(i.rn()));
    check(m, i, to_go)?;
    let op = Assist::CopyMemory { read: privilege(i, 13), write: privilege(i, 12), order };
    Ok((to_go, m.assist(i, op, [to, from, to_go])?))
}

fn cpyf<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (to_go, done) = copy_with(m, i, CopyOrder::Upwards)?;
    go_on(m, i, to_go + done)
}

fn cpy<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (to_go, done) = copy_with(m, i, CopyOrder::BySign)?;
    let down = M::Word::from(0).is_slt(to_go);
    go_on(m, i, down.select(to_go - done, to_go + done))
}
