//! Address translation: registers -> typed configuration ([`Stage1`]) -> [`walk()`] -> attributes and
//! [`permissions`] -> [`Fault`]. The architectural [`tlb`] and the host-pointer cache derived from it ([`fast`])
//! stand apart.
//!
//! What a PE does for one access that its [`FastCache`] does not know:
//! [`translate`] (range checks, TLB, walk, permissions), then [`permissions::rights`] and [`FastCache::fill`].
//!
//! Invariants:
//! - every slot of the fast cache is covered by an entry of the TLB (or translation is off), so every function that
//!   removes TLB entries reports them, and the caller hands each to [`FastCache::invalidate_range`];
//! - faulting descriptors are never cached (the manual: entries that cause a Translation, Address size or Access
//!   flag fault are not held in a TLB).

pub mod access;
pub mod attr;
pub mod contexts;
pub mod entry;
pub mod fast;
pub mod fault;
pub mod memory;
pub mod par;
pub mod permissions;
mod snapshots;
pub mod stage1;
pub mod stage2;
pub mod stage2_tlb;
pub mod tlb;
pub mod tlbi;
mod translate;
pub mod walk;

pub use access::{Access, AccessKind, PanState, Privilege, Rights};
pub use attr::{MemAttr, MemType, Shareability};
pub use contexts::{Admission, Contexts, CtxId, CtxPair, TagChecks};
pub use entry::{Caching, Contiguous, Dirty, Entry, Guarded, Perms, Scope};
pub use fast::FastCache;
pub use fault::{Direction, Fault, FaultKind, Stage, Stage2Cause};
pub use memory::{Endian, TableFault, TableMemory};
pub use par::par_value;
pub use permissions::Outcome;
pub use stage1::{Granule, GranuleSupport, Half, HwUpdate, Input, MmuFeatures, NtPolicy, Regime, Regs, Stage1, Switch};
pub use stage2::{Stage2, Stage2Entry, Stage2Regs, Stage2Rights};
pub use stage2_tlb::Stage2Tlb;
pub use tlb::{Key, Tlb};
pub use tlbi::{AsidMatch, Broadcast, Levels, Origin, TlbiOp, TlbiStages, TlbiSupport, TlbiTarget, Ttl, VmidMatch};
pub use translate::{SecondStage, Source, Translated, translate, translate_through, walk_stage1, walk_two};
pub use walk::walk;
