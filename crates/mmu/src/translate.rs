//! One translation: TLB first, then the tables.

use core::cell::RefCell;

use arch::{Ipa, Va};

use crate::stage2::ThroughStage2;
use crate::walk::walk_input;
use crate::{
    Access, Caching, Dirty, Entry, Fault, Input, Key, Outcome, Perms, Stage1, Stage2, Stage2Cause, Stage2Tlb,
    TableMemory, Tlb, permissions,
};

/// Stage 2 where it is in use, with what the PE holds of it.
pub struct SecondStage<'a> {
    /// Its set-up.
    pub stage2: &'a Stage2,
    /// Its translations, which walks use and fill.
    pub held: &'a mut Stage2Tlb,
}

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
    dropped: impl FnMut(&Entry),
) -> Result<Translated, Fault> {
    translate_through(stage1, None, tlb, va, access, mem, dropped)
}

/// [`translate`] where stage 2 may be in use.
#[inline]
pub fn translate_through(
    stage1: &Stage1,
    second: Option<SecondStage<'_>>,
    tlb: &mut Tlb,
    va: Va,
    access: Access,
    mem: &impl TableMemory,
    mut dropped: impl FnMut(&Entry),
) -> Result<Translated, Fault> {
    let input = stage1.input(va, access)?;
    let key = Key::new(stage1, input.va);
    if (stage1.enabled.is_on() || second.is_some())
        && let Some(entry) = tlb.lookup(key)
    {
        match permissions::check(stage1, &entry, access) {
            Outcome::Allowed => return Ok(Translated { entry, source: Source::Tlb }),
            Outcome::Rewalk | Outcome::Denied(_) => tlb.remove(key, &mut dropped),
        }
    }
    let entry = match second {
        Some(SecondStage { stage2, held }) => {
            walk_both(stage1, input, &ThroughStage2 { stage2, mem, access, held: Some(RefCell::new(held)) })?
        }
        None => walk_input(stage1, input, access, mem)?,
    };
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

/// Walks stage 1 alone where stage 2 is in use, for AT S1E1*: the entry's output is an intermediate address.
pub fn walk_stage1(
    stage1: &Stage1,
    stage2: &Stage2,
    va: Va,
    access: Access,
    mem: &impl TableMemory,
) -> Result<Entry, Fault> {
    let input = stage1.input(va, access)?;
    walk_input(stage1, input, access, &ThroughStage2 { stage2, mem, access, held: None })
}

/// Walks both stages from the tables alone, for AT S12E1* and the debugger.
pub fn walk_two(
    stage1: &Stage1,
    stage2: &Stage2,
    va: Va,
    access: Access,
    mem: &impl TableMemory,
) -> Result<Entry, Fault> {
    walk_both(stage1, stage1.input(va, access)?, &ThroughStage2 { stage2, mem, access, held: None })
}

/// Walks both stages: the tables of stage 1 lie at intermediate addresses, and so does what they translate to.
/// The result is one entry of the smaller size with the attributes of both.
fn walk_both(stage1: &Stage1, input: Input, through: &ThroughStage2<'_, impl TableMemory>) -> Result<Entry, Fault> {
    let (stage2, access) = (through.stage2, through.access);
    let first = walk_input(stage1, input, access, through)?;
    let ipa = Ipa(first.output(input.va).0);
    let second = through.translate(ipa, access, Stage2Cause::Output)?;
    let size_log2 = first.size_log2.min(second.size_log2);
    let va = input.va.align_down(1 << size_log2);
    let caching = match (first.caching, second.caching) {
        (Caching::Never, _) | (_, Caching::Never) => Caching::Never,
        // With stage 1 off there is a translation all the same, which a TLB may hold.
        _ => Caching::Tlb,
    };
    let clean = first.dirty == Dirty::Clean || second.dirty == Dirty::Clean;
    let attr = stage2.combine(first.attr, &second);
    Ok(Entry {
        va,
        pa: second.output(ipa).align_down(1 << size_log2),
        size_log2,
        attr,
        sh: first.sh.combine(second.sh).effective(attr),
        stage2: second.rights,
        dirty: if clean { Dirty::Clean } else { first.dirty },
        caching,
        steps: first.steps + second.steps,
        perms: if first.caching == Caching::Identity { Perms::STAGE1_OFF } else { first.perms },
        ..first
    })
}
