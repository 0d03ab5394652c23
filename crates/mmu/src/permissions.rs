//! Access permissions of a translation.

use crate::{Access, AccessKind, Caching, Direction, Dirty, Entry, Fault, FaultKind, PanState, Perms, Privilege};
use crate::{Rights, Stage1};

/// The outcome of a permission check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Go on.
    Allowed,
    /// A permitted write to a writable-clean page: the walk must be made again to mark it dirty in memory.
    Rewalk,
    /// A Permission fault.
    Denied(Fault),
}

/// What `privilege` under `pan` may do through `entry`, from its permission bits, PAN, EPAN and WXN, and from stage 2.
/// Whether a write must first mark the page dirty is [`Entry::dirty`]'s matter, not looked at here.
#[inline]
#[must_use]
pub fn rights(stage1: &Stage1, entry: &Entry, privilege: Privilege, pan: PanState) -> Rights {
    stage1_rights(stage1, entry, privilege, pan).intersection(entry.stage2.of(privilege))
}

/// What stage 1 alone grants.
#[inline]
fn stage1_rights(stage1: &Stage1, entry: &Entry, privilege: Privilege, pan: PanState) -> Rights {
    if entry.caching == Caching::Identity || entry.perms.has(Perms::STAGE1_OFF) {
        return Rights::ALL;
    }
    let p = entry.perms;
    let writable = !p.has(Perms::READ_ONLY);
    let (read, write, fetch);
    if stage1.regime.has_el0() {
        let el0 = p.has(Perms::EL0);
        let ux = !p.has(Perms::UXN);
        if privilege == Privilege::El0 {
            (read, write, fetch) = (el0, el0 && writable, ux);
        } else {
            // What EL0 can write, EL1 never executes.
            let px = !(p.has(Perms::PXN) || (el0 && writable));
            let kept_out = pan == PanState::On && (el0 || (ux && stage1.epan.is_on()));
            // PAN does not apply to fetches, so WXN looks at the right to write as it is without PAN.
            let wx = writable && stage1.wxn.is_on();
            let data = if kept_out { Rights::NONE } else { read_write(writable) };
            return if px && !wx { data.union(Rights::FETCH) } else { data };
        }
    } else {
        (read, write, fetch) = (true, writable, !p.has(Perms::UXN));
    }
    let mut out = Rights::NONE;
    if read {
        out = out.union(Rights::READ);
    }
    if write {
        out = out.union(Rights::WRITE);
    }
    if fetch && !(write && stage1.wxn.is_on()) {
        out = out.union(Rights::FETCH);
    }
    out
}

fn read_write(writable: bool) -> Rights {
    if writable { Rights::READ.union(Rights::WRITE) } else { Rights::READ }
}

/// May `access` go through `entry`?
#[inline]
#[must_use]
pub fn check(stage1: &Stage1, entry: &Entry, access: Access) -> Outcome {
    let pan = match access.kind {
        // The manual exempts cache maintenance and fetches from PAN.
        AccessKind::CacheMaintenance | AccessKind::CacheInvalidate | AccessKind::Fetch => PanState::Off,
        _ => access.pan,
    };
    let have = stage1_rights(stage1, entry, access.privilege, pan);
    let need = access.needs();
    if !have.contains(need) {
        let mut fault = Fault::stage1(FaultKind::Permission, entry.level, access);
        if access.kind == AccessKind::ReadWrite && have.contains(Rights::READ) {
            fault.direction = Direction::Write;
        }
        return Outcome::Denied(fault);
    }
    // A walk of both stages finds the fault that stage 2 has for it.
    let beyond_stage2 = !entry.stage2.of(access.privilege).contains(need);
    if beyond_stage2 || (access.stores() && entry.dirty == Dirty::Clean) { Outcome::Rewalk } else { Outcome::Allowed }
}
