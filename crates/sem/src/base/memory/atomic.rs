//! Atomic memory operations. FEAT_LSE. STADD and its kind are LDADD and its kind with Rt of 31.

use super::address::{Base, XnOrSp};
use super::transfer::{Acquire, AcquireRelease, Kind, Plain, Release, access};
use crate::insn::Insn;
use crate::machine::{AtomicOp, Done, Machine};
use crate::spec::plain;
use crate::word::Word;

crate::encodings! {
    "LD*_32_*" => "t=31 & A=0? {st} {Ws}, [{Xn|sp}] | * {Ws}, {Wt}, [{Xn|sp}]";
    "SWP*_32_*" => "* {Ws}, {Wt}, [{Xn|sp}]";
    "LD*_64_*" => "t=31 & A=0? {st} {Xs}, [{Xn|sp}] | * {Xs}, {Xt}, [{Xn|sp}]";
    "SWP*_64_*" => "* {Xs}, {Xt}, [{Xn|sp}]";
    LDADDB_32_memop    "00111000001 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Plain, 0>;
    LDCLRB_32_memop    "00111000001 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Plain, 0>;
    LDEORB_32_memop    "00111000001 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Plain, 0>;
    LDSETB_32_memop    "00111000001 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Plain, 0>;
    LDSMAXB_32_memop   "00111000001 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Plain, 0>;
    LDSMINB_32_memop   "00111000001 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Plain, 0>;
    LDUMAXB_32_memop   "00111000001 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Plain, 0>;
    LDUMINB_32_memop   "00111000001 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Plain, 0>;
    SWPB_32_memop      "00111000001 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Plain, 0>;
    LDADDLB_32_memop   "00111000011 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Release, 0>;
    LDCLRLB_32_memop   "00111000011 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Release, 0>;
    LDEORLB_32_memop   "00111000011 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Release, 0>;
    LDSETLB_32_memop   "00111000011 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Release, 0>;
    LDSMAXLB_32_memop  "00111000011 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Release, 0>;
    LDSMINLB_32_memop  "00111000011 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Release, 0>;
    LDUMAXLB_32_memop  "00111000011 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Release, 0>;
    LDUMINLB_32_memop  "00111000011 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Release, 0>;
    SWPLB_32_memop     "00111000011 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Release, 0>;
    LDADDAB_32_memop   "00111000101 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Acquire, 0>;
    LDCLRAB_32_memop   "00111000101 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Acquire, 0>;
    LDEORAB_32_memop   "00111000101 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Acquire, 0>;
    LDSETAB_32_memop   "00111000101 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Acquire, 0>;
    LDSMAXAB_32_memop  "00111000101 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Acquire, 0>;
    LDSMINAB_32_memop  "00111000101 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Acquire, 0>;
    LDUMAXAB_32_memop  "00111000101 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Acquire, 0>;
    LDUMINAB_32_memop  "00111000101 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Acquire, 0>;
    SWPAB_32_memop     "00111000101 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Acquire, 0>;
    LDADDALB_32_memop  "00111000111 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, AcquireRelease, 0>;
    LDCLRALB_32_memop  "00111000111 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, AcquireRelease, 0>;
    LDEORALB_32_memop  "00111000111 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, AcquireRelease, 0>;
    LDSETALB_32_memop  "00111000111 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, AcquireRelease, 0>;
    LDSMAXALB_32_memop "00111000111 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, AcquireRelease, 0>;
    LDSMINALB_32_memop "00111000111 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, AcquireRelease, 0>;
    LDUMAXALB_32_memop "00111000111 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, AcquireRelease, 0>;
    LDUMINALB_32_memop "00111000111 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, AcquireRelease, 0>;
    SWPALB_32_memop    "00111000111 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, AcquireRelease, 0>;
    LDADDH_32_memop    "01111000001 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Plain, 1>;
    LDCLRH_32_memop    "01111000001 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Plain, 1>;
    LDEORH_32_memop    "01111000001 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Plain, 1>;
    LDSETH_32_memop    "01111000001 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Plain, 1>;
    LDSMAXH_32_memop   "01111000001 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Plain, 1>;
    LDSMINH_32_memop   "01111000001 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Plain, 1>;
    LDUMAXH_32_memop   "01111000001 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Plain, 1>;
    LDUMINH_32_memop   "01111000001 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Plain, 1>;
    SWPH_32_memop      "01111000001 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Plain, 1>;
    LDADDLH_32_memop   "01111000011 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Release, 1>;
    LDCLRLH_32_memop   "01111000011 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Release, 1>;
    LDEORLH_32_memop   "01111000011 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Release, 1>;
    LDSETLH_32_memop   "01111000011 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Release, 1>;
    LDSMAXLH_32_memop  "01111000011 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Release, 1>;
    LDSMINLH_32_memop  "01111000011 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Release, 1>;
    LDUMAXLH_32_memop  "01111000011 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Release, 1>;
    LDUMINLH_32_memop  "01111000011 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Release, 1>;
    SWPLH_32_memop     "01111000011 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Release, 1>;
    LDADDAH_32_memop   "01111000101 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Acquire, 1>;
    LDCLRAH_32_memop   "01111000101 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Acquire, 1>;
    LDEORAH_32_memop   "01111000101 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Acquire, 1>;
    LDSETAH_32_memop   "01111000101 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Acquire, 1>;
    LDSMAXAH_32_memop  "01111000101 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Acquire, 1>;
    LDSMINAH_32_memop  "01111000101 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Acquire, 1>;
    LDUMAXAH_32_memop  "01111000101 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Acquire, 1>;
    LDUMINAH_32_memop  "01111000101 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Acquire, 1>;
    SWPAH_32_memop     "01111000101 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Acquire, 1>;
    LDADDALH_32_memop  "01111000111 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, AcquireRelease, 1>;
    LDCLRALH_32_memop  "01111000111 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, AcquireRelease, 1>;
    LDEORALH_32_memop  "01111000111 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, AcquireRelease, 1>;
    LDSETALH_32_memop  "01111000111 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, AcquireRelease, 1>;
    LDSMAXALH_32_memop "01111000111 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, AcquireRelease, 1>;
    LDSMINALH_32_memop "01111000111 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, AcquireRelease, 1>;
    LDUMAXALH_32_memop "01111000111 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, AcquireRelease, 1>;
    LDUMINALH_32_memop "01111000111 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, AcquireRelease, 1>;
    SWPALH_32_memop    "01111000111 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, AcquireRelease, 1>;
    LDADD_32_memop     "10111000001 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Plain, 2>;
    LDCLR_32_memop     "10111000001 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Plain, 2>;
    LDEOR_32_memop     "10111000001 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Plain, 2>;
    LDSET_32_memop     "10111000001 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Plain, 2>;
    LDSMAX_32_memop    "10111000001 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Plain, 2>;
    LDSMIN_32_memop    "10111000001 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Plain, 2>;
    LDUMAX_32_memop    "10111000001 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Plain, 2>;
    LDUMIN_32_memop    "10111000001 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Plain, 2>;
    SWP_32_memop       "10111000001 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Plain, 2>;
    LDADDL_32_memop    "10111000011 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Release, 2>;
    LDCLRL_32_memop    "10111000011 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Release, 2>;
    LDEORL_32_memop    "10111000011 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Release, 2>;
    LDSETL_32_memop    "10111000011 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Release, 2>;
    LDSMAXL_32_memop   "10111000011 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Release, 2>;
    LDSMINL_32_memop   "10111000011 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Release, 2>;
    LDUMAXL_32_memop   "10111000011 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Release, 2>;
    LDUMINL_32_memop   "10111000011 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Release, 2>;
    SWPL_32_memop      "10111000011 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Release, 2>;
    LDADDA_32_memop    "10111000101 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Acquire, 2>;
    LDCLRA_32_memop    "10111000101 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Acquire, 2>;
    LDEORA_32_memop    "10111000101 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Acquire, 2>;
    LDSETA_32_memop    "10111000101 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Acquire, 2>;
    LDSMAXA_32_memop   "10111000101 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Acquire, 2>;
    LDSMINA_32_memop   "10111000101 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Acquire, 2>;
    LDUMAXA_32_memop   "10111000101 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Acquire, 2>;
    LDUMINA_32_memop   "10111000101 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Acquire, 2>;
    SWPA_32_memop      "10111000101 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Acquire, 2>;
    LDADDAL_32_memop   "10111000111 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, AcquireRelease, 2>;
    LDCLRAL_32_memop   "10111000111 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, AcquireRelease, 2>;
    LDEORAL_32_memop   "10111000111 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, AcquireRelease, 2>;
    LDSETAL_32_memop   "10111000111 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, AcquireRelease, 2>;
    LDSMAXAL_32_memop  "10111000111 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, AcquireRelease, 2>;
    LDSMINAL_32_memop  "10111000111 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, AcquireRelease, 2>;
    LDUMAXAL_32_memop  "10111000111 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, AcquireRelease, 2>;
    LDUMINAL_32_memop  "10111000111 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, AcquireRelease, 2>;
    SWPAL_32_memop     "10111000111 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, AcquireRelease, 2>;
    LDADD_64_memop     "11111000001 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Plain, 3>;
    LDCLR_64_memop     "11111000001 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Plain, 3>;
    LDEOR_64_memop     "11111000001 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Plain, 3>;
    LDSET_64_memop     "11111000001 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Plain, 3>;
    LDSMAX_64_memop    "11111000001 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Plain, 3>;
    LDSMIN_64_memop    "11111000001 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Plain, 3>;
    LDUMAX_64_memop    "11111000001 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Plain, 3>;
    LDUMIN_64_memop    "11111000001 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Plain, 3>;
    SWP_64_memop       "11111000001 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Plain, 3>;
    LDADDL_64_memop    "11111000011 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Release, 3>;
    LDCLRL_64_memop    "11111000011 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Release, 3>;
    LDEORL_64_memop    "11111000011 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Release, 3>;
    LDSETL_64_memop    "11111000011 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Release, 3>;
    LDSMAXL_64_memop   "11111000011 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Release, 3>;
    LDSMINL_64_memop   "11111000011 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Release, 3>;
    LDUMAXL_64_memop   "11111000011 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Release, 3>;
    LDUMINL_64_memop   "11111000011 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Release, 3>;
    SWPL_64_memop      "11111000011 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Release, 3>;
    LDADDA_64_memop    "11111000101 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, Acquire, 3>;
    LDCLRA_64_memop    "11111000101 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, Acquire, 3>;
    LDEORA_64_memop    "11111000101 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, Acquire, 3>;
    LDSETA_64_memop    "11111000101 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, Acquire, 3>;
    LDSMAXA_64_memop   "11111000101 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, Acquire, 3>;
    LDSMINA_64_memop   "11111000101 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, Acquire, 3>;
    LDUMAXA_64_memop   "11111000101 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, Acquire, 3>;
    LDUMINA_64_memop   "11111000101 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, Acquire, 3>;
    SWPA_64_memop      "11111000101 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, Acquire, 3>;
    LDADDAL_64_memop   "11111000111 sssss 000000 nnnnn ttttt" FEAT_LSE next plain => add::<M, AcquireRelease, 3>;
    LDCLRAL_64_memop   "11111000111 sssss 000100 nnnnn ttttt" FEAT_LSE next plain => clear::<M, AcquireRelease, 3>;
    LDEORAL_64_memop   "11111000111 sssss 001000 nnnnn ttttt" FEAT_LSE next plain => eor::<M, AcquireRelease, 3>;
    LDSETAL_64_memop   "11111000111 sssss 001100 nnnnn ttttt" FEAT_LSE next plain => set::<M, AcquireRelease, 3>;
    LDSMAXAL_64_memop  "11111000111 sssss 010000 nnnnn ttttt" FEAT_LSE next plain => smax::<M, AcquireRelease, 3>;
    LDSMINAL_64_memop  "11111000111 sssss 010100 nnnnn ttttt" FEAT_LSE next plain => smin::<M, AcquireRelease, 3>;
    LDUMAXAL_64_memop  "11111000111 sssss 011000 nnnnn ttttt" FEAT_LSE next plain => umax::<M, AcquireRelease, 3>;
    LDUMINAL_64_memop  "11111000111 sssss 011100 nnnnn ttttt" FEAT_LSE next plain => umin::<M, AcquireRelease, 3>;
    SWPAL_64_memop     "11111000111 sssss 100000 nnnnn ttttt" FEAT_LSE next plain => swap::<M, AcquireRelease, 3>;
}

/// Rt := the old element; the element := `op` of it and Rs.
#[inline(always)]
fn atomic<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn, op: AtomicOp) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let operand = m.x(i.rs()).zext(8 << LOG2);
    let old = m.atomic(op, address, operand, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rt(), old);
    Ok(())
}

fn add<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::Add)
}

fn clear<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::Clear)
}

fn eor<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::Eor)
}

fn set<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::Set)
}

fn smax<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::SignedMax)
}

fn smin<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::SignedMin)
}

fn umax<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::UnsignedMax)
}

fn umin<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::UnsignedMin)
}

fn swap<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    atomic::<M, K, LOG2>(m, i, AtomicOp::Swap)
}
