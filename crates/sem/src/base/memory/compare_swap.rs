//! Compare and swap, and of a pair. FEAT_LSE.
//!
//! A pair is two registers, the first one even: odd Rs and Rt are UNDEFINED, no line has them.

use super::address::{Base, XnOrSp};
use super::transfer::{Acquire, AcquireRelease, Kind, Plain, Release, access};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;

crate::encodings! {
    "CASP*_CP32_*" => "* {Ws}, {Ws+1}, {Wt}, {Wt+1}, [{Xn|sp}]";
    "CASP*_CP64_*" => "* {Xs}, {Xs+1}, {Xt}, {Xt+1}, [{Xn|sp}]";
    "*_C32_*" => "* {Ws}, {Wt}, [{Xn|sp}]";
    "*_C64_*" => "* {Xs}, {Xt}, [{Xn|sp}]";
    CASB_C32_comswap      "00001000101 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Plain, 0>;
    CASLB_C32_comswap     "00001000101 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Release, 0>;
    CASAB_C32_comswap     "00001000111 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Acquire, 0>;
    CASALB_C32_comswap    "00001000111 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, AcquireRelease, 0>;
    CASH_C32_comswap      "01001000101 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Plain, 1>;
    CASLH_C32_comswap     "01001000101 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Release, 1>;
    CASAH_C32_comswap     "01001000111 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Acquire, 1>;
    CASALH_C32_comswap    "01001000111 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, AcquireRelease, 1>;
    CAS_C32_comswap       "10001000101 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Plain, 2>;
    CASL_C32_comswap      "10001000101 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Release, 2>;
    CASA_C32_comswap      "10001000111 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Acquire, 2>;
    CASAL_C32_comswap     "10001000111 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, AcquireRelease, 2>;
    CAS_C64_comswap       "11001000101 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Plain, 3>;
    CASL_C64_comswap      "11001000101 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Release, 3>;
    CASA_C64_comswap      "11001000111 sssss 011111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, Acquire, 3>;
    CASAL_C64_comswap     "11001000111 sssss 111111 nnnnn ttttt"   FEAT_LSE next plain => cas::<M, AcquireRelease, 3>;
    CASP_CP32_comswappr   "00001000001 ssss 0 011111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, Plain, 2>;
    CASPL_CP32_comswappr  "00001000001 ssss 0 111111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, Release, 2>;
    CASPA_CP32_comswappr  "00001000011 ssss 0 011111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, Acquire, 2>;
    CASPAL_CP32_comswappr "00001000011 ssss 0 111111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, AcquireRelease, 2>;
    CASP_CP64_comswappr   "01001000001 ssss 0 011111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, Plain, 3>;
    CASPL_CP64_comswappr  "01001000001 ssss 0 111111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, Release, 3>;
    CASPA_CP64_comswappr  "01001000011 ssss 0 011111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, Acquire, 3>;
    CASPAL_CP64_comswappr "01001000011 ssss 0 111111 nnnnn tttt 0" FEAT_LSE next plain => casp::<M, AcquireRelease, 3>;
}

fn cas<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let (expected, new) = (m.x(i.rs()), m.x(i.rt()));
    let old = m.compare_swap(address, expected, new, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rs(), old);
    Ok(())
}

fn casp<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let expected = (m.x(i.rs()), m.x(i.rs() + 1));
    let new = (m.x(i.rt()), m.x(i.rt() + 1));
    let (first, second) = m.compare_swap_pair(address, expected, new, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rs(), first);
    m.set_x(i.rs() + 1, second);
    Ok(())
}
