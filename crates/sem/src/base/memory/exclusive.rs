//! Load/store exclusive register and pair.
//!
//! Where a store's status register is also its data or its base, the architecture leaves the outcome open (CONSTRAINED
//! UNPREDICTABLE): here data and base are read before the status is written.

use super::address::{Base, XnOrSp};
use super::transfer::{Acquire, Kind, Plain, Release, access};
use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::spec::plain;

crate::encodings! {
    "*_SR32_*" => "* {Ws}, {Wt}, [{Xn|sp}]";
    "*_SR64_*" => "* {Ws}, {Xt}, [{Xn|sp}]";
    "*_LR32_*" => "* {Wt}, [{Xn|sp}]";
    "*_LR64_*" => "* {Xt}, [{Xn|sp}]";
    "*_SP32_*" => "* {Ws}, {Wt}, {Wa}, [{Xn|sp}]";
    "*_SP64_*" => "* {Ws}, {Xt}, {Xa}, [{Xn|sp}]";
    "*_LP32_*" => "* {Wt}, {Wa}, [{Xn|sp}]";
    "*_LP64_*" => "* {Xt}, {Xa}, [{Xn|sp}]";
    STXRB_SR32_ldstexclr  "00001000000 sssss 0 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Plain, 0>;
    STLXRB_SR32_ldstexclr "00001000000 sssss 1 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Release, 0>;
    LDXRB_LR32_ldstexclr  "00001000010 zzzzz 0 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Plain, 0>;
    LDAXRB_LR32_ldstexclr "00001000010 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Acquire, 0>;
    STXRH_SR32_ldstexclr  "01001000000 sssss 0 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Plain, 1>;
    STLXRH_SR32_ldstexclr "01001000000 sssss 1 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Release, 1>;
    LDXRH_LR32_ldstexclr  "01001000010 zzzzz 0 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Plain, 1>;
    LDAXRH_LR32_ldstexclr "01001000010 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Acquire, 1>;
    STXR_SR32_ldstexclr   "10001000000 sssss 0 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Plain, 2>;
    STLXR_SR32_ldstexclr  "10001000000 sssss 1 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Release, 2>;
    LDXR_LR32_ldstexclr   "10001000010 zzzzz 0 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Plain, 2>;
    LDAXR_LR32_ldstexclr  "10001000010 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Acquire, 2>;
    STXR_SR64_ldstexclr   "11001000000 sssss 0 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Plain, 3>;
    STLXR_SR64_ldstexclr  "11001000000 sssss 1 zzzzz nnnnn ttttt" - next plain => store_exclusive::<M, Release, 3>;
    LDXR_LR64_ldstexclr   "11001000010 zzzzz 0 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Plain, 3>;
    LDAXR_LR64_ldstexclr  "11001000010 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load_exclusive::<M, Acquire, 3>;
    STXP_SP32_ldstexclp   "10001000001 sssss 0 aaaaa nnnnn ttttt" - next plain => store_exclusive_pair::<M, Plain, 2>;
    STLXP_SP32_ldstexclp  "10001000001 sssss 1 aaaaa nnnnn ttttt" - next plain => store_exclusive_pair::<M, Release, 2>;
    LDXP_LP32_ldstexclp   "10001000011 zzzzz 0 aaaaa nnnnn ttttt" - next plain => load_exclusive_pair::<M, Plain, 2>;
    LDAXP_LP32_ldstexclp  "10001000011 zzzzz 1 aaaaa nnnnn ttttt" - next plain => load_exclusive_pair::<M, Acquire, 2>;
    STXP_SP64_ldstexclp   "11001000001 sssss 0 aaaaa nnnnn ttttt" - next plain => store_exclusive_pair::<M, Plain, 3>;
    STLXP_SP64_ldstexclp  "11001000001 sssss 1 aaaaa nnnnn ttttt" - next plain => store_exclusive_pair::<M, Release, 3>;
    LDXP_LP64_ldstexclp   "11001000011 zzzzz 0 aaaaa nnnnn ttttt" - next plain => load_exclusive_pair::<M, Plain, 3>;
    LDAXP_LP64_ldstexclp  "11001000011 zzzzz 1 aaaaa nnnnn ttttt" - next plain => load_exclusive_pair::<M, Acquire, 3>;
}

fn load_exclusive<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let value = m.load_exclusive(address, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rt(), value);
    Ok(())
}

fn load_exclusive_pair<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let (first, second) = m.load_exclusive_pair(address, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rt(), first);
    m.set_x(i.rt2(), second);
    Ok(())
}

fn store_exclusive<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let value = m.x(i.rt());
    let status = m.store_exclusive(address, value, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rs(), status);
    Ok(())
}

fn store_exclusive_pair<M: Machine, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let values = (m.x(i.rt()), m.x(i.rt2()));
    let status = m.store_exclusive_pair(address, values, access::<K>(LOG2, XnOrSp::tags(i.rn())))?;
    m.set_x(i.rs(), status);
    Ok(())
}
