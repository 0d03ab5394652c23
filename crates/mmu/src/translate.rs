//! One translation: TLB first, then the tables.

use arch::Va;

use crate::walk::walk_input;
use crate::{Access, Caching, Entry, Fault, Key, Outcome, Stage1, TableMemory, Tlb, permissions};

/// Where a translation came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The TLB held it.
    Tlb,
    /// The tables were walked ([`Entry::steps`] descriptors read) and the TLB filled, as far as the entry may be held.
    Walk,
    /// Translation is off.
    Off,
}

/// A permitted translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Translated {
    /// The entry.
    pub entry: Entry,
    /// Where it came from.
    pub source: Source,
}

/// Translates `va` for `access` through `tlb`, and fills it. `dropped` sees every entry that leaves the TLB: the
/// caller takes it out of the fast cache.
///
/// Where a TLB entry does not permit the access, it is dropped and the tables decide: always legal, as a TLB may
/// lose any entry at any time, and it spares software that widens permissions a spurious fault.
///
/// A debugger calls [`crate::walk()`] with [`crate::AccessKind::AtRead`] instead, which leaves no trace.
#[inline]
pub fn translate(
    stage1: &Stage1,
    tlb: &mut Tlb,
    va: Va,
    access: Access,
    mem: &impl TableMemory,
    mut dropped: impl FnMut(&Entry),
) -> Result<Translated, Fault> {
    let input = stage1.input(va, access)?;
    let key = Key::new(stage1, input.va);
    if stage1.enabled.is_on()
        && let Some(entry) = tlb.lookup(key)
    {
        match permissions::check(stage1, &entry, access) {
            Outcome::Allowed => return Ok(Translated { entry, source: Source::Tlb }),
            Outcome::Rewalk | Outcome::Denied(_) => tlb.remove(key, &mut dropped),
        }
    }
    let entry = walk_input(stage1, input, access, mem)?;
    let source = match entry.caching {
        Caching::Identity => Source::Off,
        Caching::Never => Source::Walk,
        Caching::Tlb => {
            tlb.insert(entry, dropped);
            Source::Walk
        }
    };
    Ok(Translated { entry, source })
}
