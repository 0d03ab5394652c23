//! Loads and stores of one register and of a pair, for all addressing modes and kinds of access.
//!
//! Where a load writes its base back and Rt is the base, the architecture leaves the outcome open (CONSTRAINED
//! UNPREDICTABLE): here the loaded value wins, the same as without writeback. A store of its base stores the old value.
//! A load of a pair into one register leaves the second element.

use super::address::Addressing;
use crate::insn::Insn;
use crate::machine::{Access, Done, Machine, Order, Privilege, TagCheck};
use crate::word::Word;

/// The kind of an access.
pub trait Kind {
    /// Its ordering.
    const ORDER: Order = Order::Plain;
    /// Whose permissions it uses.
    const PRIVILEGE: Privilege = Privilege::Current;
}

/// No ordering, the current permissions.
pub struct Plain;
/// EL0's permissions.
pub struct Unprivileged;
/// Load-acquire.
pub struct Acquire;
/// Load-acquire, RCpc.
pub struct AcquirePc;
/// Store-release.
pub struct Release;
/// Both.
pub struct AcquireRelease;
/// LoadLOAcquire and StoreLORelease.
pub struct Limited;

impl Kind for Plain {}
impl Kind for Unprivileged {
    const PRIVILEGE: Privilege = Privilege::Unprivileged;
}
impl Kind for Acquire {
    const ORDER: Order = Order::Acquire;
}
impl Kind for AcquirePc {
    const ORDER: Order = Order::AcquirePc;
}
impl Kind for Release {
    const ORDER: Order = Order::Release;
}
impl Kind for AcquireRelease {
    const ORDER: Order = Order::AcquireRelease;
}
impl Kind for Limited {
    const ORDER: Order = Order::LimitedOrder;
}

/// An access of kind `K` and 1 << `log2` bytes.
pub(super) const fn access<K: Kind>(log2: u32, tags: TagCheck) -> Access {
    Access { log2, order: K::ORDER, privilege: K::PRIVILEGE, tags }
}

/// Rt := the element, zero-extended.
pub(super) fn load<M: Machine, A: Addressing, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let value = m.load(address, access::<K>(LOG2, A::tags(i)))?;
    A::write_back(m, i, base);
    m.set_x(i.rt(), value);
    Ok(())
}

/// Rt := the element, sign-extended to `BITS`, 32 or 64.
pub(super) fn load_signed<M: Machine, A: Addressing, K: Kind, const LOG2: u32, const BITS: u32>(
    m: &mut M,
    i: Insn,
) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let value = m.load(address, access::<K>(LOG2, A::tags(i)))?.sext(8 << LOG2).zext(BITS);
    A::write_back(m, i, base);
    m.set_x(i.rt(), value);
    Ok(())
}

/// The element := Rt.
pub(super) fn store<M: Machine, A: Addressing, K: Kind, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let value = m.x(i.rt());
    m.store(address, value, access::<K>(LOG2, A::tags(i)))?;
    A::write_back(m, i, base);
    Ok(())
}

/// Rt, Rt2 := the two elements, zero-extended.
pub(super) fn load_pair<M: Machine, A: Addressing, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let (first, second) = elements(m, address, Access::plain(LOG2).tagged(A::tags(i)))?;
    A::write_back(m, i, base);
    m.set_x(i.rt(), first);
    m.set_x(i.rt2(), second);
    Ok(())
}

/// LDPSW: Rt, Rt2 := the two words, sign-extended.
pub(super) fn load_pair_signed<M: Machine, A: Addressing>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let (first, second) = elements(m, address, Access::plain(2).tagged(A::tags(i)))?;
    A::write_back(m, i, base);
    m.set_x(i.rt(), first.sext(32));
    m.set_x(i.rt2(), second.sext(32));
    Ok(())
}

/// The two elements := Rt, Rt2.
pub(super) fn store_pair<M: Machine, A: Addressing, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let (first, second) = (m.x(i.rt()), m.x(i.rt2()));
    let access = Access::plain(LOG2).tagged(A::tags(i));
    m.store(address, first, access)?;
    m.store(address + M::Word::from(1 << LOG2), second, access)?;
    A::write_back(m, i, base);
    Ok(())
}

/// The element at `address` and the one above.
#[inline(always)]
fn elements<M: Machine>(m: &mut M, address: M::Word, access: Access) -> Result<(M::Word, M::Word), M::Stop> {
    let first = m.load(address, access)?;
    let second = m.load(address + M::Word::from(1 << access.log2), access)?;
    Ok((first, second))
}

/// PRFM and its kind: no access, no fault, not even for a misaligned stack pointer.
pub(super) fn prefetch<M: Machine>(_: &mut M, _: Insn) -> Done<M> {
    Ok(())
}
