//! The algorithms on one block of page descriptors that can be contiguous: 16 with the 4K granule, and as many as the slice
//! has where a test wants fewer.
//!
//! Writers hold the address space's lock. Walkers of the hardware do not, and may set the access flag and, with DBM, the
//! dirty state of any descriptor of a contiguous block on behalf of its others; readers without the lock do not either.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::mm::PAGE;
use crate::mm::pte::{Noted, Pte};

/// Descriptors of a contiguous block at level 3 with the 4K granule.
pub const BLOCK: usize = 16;

/// A place of a descriptor. Beside [`AtomicU64`] the tests have others.
pub trait Word {
    /// Reads it.
    fn load(&self) -> u64;
    /// Writes it: earlier writes are seen by who sees this one.
    fn store(&self, value: u64);
    /// Writes it; returns what was there.
    fn swap(&self, value: u64) -> u64;
    /// Writes `new` if `old` is there; else returns what is.
    fn compare_exchange(&self, old: u64, new: u64) -> Result<u64, u64>;
    /// Between two looks at it.
    fn pause() {
        core::hint::spin_loop();
    }
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
    #[inline]
    fn store(&self, value: u64) {
        self.store(value, Ordering::Release);
    }
    #[inline]
    fn swap(&self, value: u64) -> u64 {
        self.swap(value, Ordering::AcqRel)
    }
    #[inline]
    fn compare_exchange(&self, old: u64, new: u64) -> Result<u64, u64> {
        self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed)
    }
}

/// What becomes of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Descriptors for themselves.
    Single,
    /// One block, which the TLB may hold as one entry.
    Contiguous,
}

impl Form {
    fn of(self, pte: Pte) -> Pte {
        match self {
            Self::Single => pte.single(),
            Self::Contiguous => pte.contiguous(),
        }
    }
}

/// How a block changes its form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stage {
    /// By break-before-make: cleared, invalidated, written. Right on every CPU.
    Bbm0,
    /// Cleared, written, invalidated: for FEAT_BBM level 2, where an access may meet both forms and abort.
    Delay,
    /// The Contiguous bits are flipped one by one and nothing is invalidated: where an access that meets both forms takes
    /// either and never aborts.
    Elide,
}

/// How it was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// All descriptors were invalid meanwhile, and an invalidation was made.
    Rewritten,
    /// No descriptor was ever invalid; no invalidation.
    Flipped,
}

/// Does `other`, `distance` places behind `pte`, belong to the same contiguous block? The hardware's own bits aside.
fn is_in_run(pte: Pte, other: Pte, distance: isize) -> bool {
    let expected = pte.pa().0.wrapping_add_signed(distance as i64 * PAGE as i64);
    other.is_valid() && other.pa().0 == expected && other.attributes() == pte.attributes()
}

/// Are these descriptors one run of pages with the same attributes, and in the same form?
fn is_run<W: Word>(block: &[W], first: Pte) -> bool {
    let same_form = |pte: Pte| pte.is_contiguous() == first.is_contiguous();
    first.is_valid()
        && block.iter().enumerate().all(|(n, word)| {
            let pte = Pte(word.load());
            same_form(pte) && is_in_run(first, pte, n as isize)
        })
}

/// Can it be folded: all of its pages are there, side by side from a multiple of the block's size, with the same
/// attributes, and not folded yet?
pub fn can_fold<W: Word>(block: &[W]) -> bool {
    let first = Pte(block[0].load());
    first.is_valid()
        && !first.is_contiguous()
        && first.pa().0 % (block.len() as u64 * PAGE) == 0
        && is_run(block, first)
}

/// Brings a block into another form. `invalidate` removes all TLB entries of it and is complete on return.
pub fn convert<W: Word, const N: usize>(block: &[W; N], form: Form, stage: Stage, invalidate: impl FnOnce()) -> Done {
    if stage == Stage::Elide && flip(block, form) {
        return Done::Flipped;
    }
    let mut taken = [Pte::NONE; N];
    for (pte, word) in taken.iter_mut().zip(block) {
        *pte = Pte(word.swap(0));
    }
    let all = taken.iter().fold(Noted::default(), |all, pte| all.or(pte.noted()));
    let write = || {
        for (pte, word) in taken.iter().zip(block) {
            // The hardware may have noted an access to one page at another.
            word.store(form.of(pte.with_noted(all)).0);
        }
    };
    if stage == Stage::Delay {
        write();
        invalidate();
    } else {
        invalidate();
        write();
    }
    Done::Rewritten
}

/// Flips the Contiguous bit of each descriptor. False, and nothing was changed, if they are not one run: then a TLB entry of
/// the old form would say something else than the new descriptors do.
fn flip<W: Word>(block: &[W], form: Form) -> bool {
    if !is_run(block, Pte(block[0].load())) {
        return false;
    }
    // What is noted anywhere goes along with each bit: no reader finds a page without what its block had.
    let mut all = block.iter().fold(Noted::default(), |all, word| all.or(Pte(word.load()).noted()));
    for word in block {
        all = all.or(update(word, |pte| form.of(pte.with_noted(all))).noted());
    }
    for word in block {
        update(word, |pte| pte.with_noted(all));
    }
    true
}

/// Changes a descriptor without losing what the hardware notes in it meanwhile; returns it as it is now.
fn update<W: Word>(word: &W, change: impl Fn(Pte) -> Pte) -> Pte {
    let mut old = Pte(word.load());
    loop {
        let new = change(old);
        if new == old {
            return new;
        }
        match word.compare_exchange(old.0, new.0) {
            Ok(_) => return new,
            Err(now) => old = Pte(now),
        }
    }
}

/// A descriptor as its page is: of a contiguous block, with the access flag and dirty state that any of it has. The caller
/// holds the lock.
pub fn get<W: Word>(block: &[W], index: usize) -> Pte {
    let pte = Pte(block[index].load());
    if !pte.is_contiguous() {
        return pte;
    }
    block.iter().fold(pte, |all, word| all.with_noted(Pte(word.load()).noted()))
}

/// The same without the lock: what it gives was true of the whole block, or of a single descriptor, at some time during the
/// call. While a writer is at work on the block it is looked at again.
pub fn get_lockless<W: Word>(block: &[W], index: usize) -> Pte {
    loop {
        let pte = Pte(block[index].load());
        if !pte.is_valid() || !pte.is_contiguous() {
            return pte;
        }
        let mut all = pte;
        let is_whole = block.iter().enumerate().all(|(n, word)| {
            let other = Pte(word.load());
            all = all.with_noted(other.noted());
            other.is_contiguous() && is_in_run(pte, other, n as isize - index as isize)
        });
        if is_whole {
            return all;
        }
        W::pause();
    }
}

/// Notes an access to a page, as hardware without the means does not: the access flag, in every descriptor that a walk for
/// the page may read. True if one lacked it. What the other descriptors say does not count: a walk that reads the one that
/// lacks it would fault for ever.
pub fn set_accessed<W: Word>(block: &[W], index: usize) -> bool {
    let is_contiguous = Pte(block[index].load()).is_contiguous();
    let words = if is_contiguous { block } else { core::slice::from_ref(&block[index]) };
    let mut changed = false;
    for word in words {
        let before = Pte(word.load());
        changed |= update(word, Pte::accessed) != before;
    }
    changed
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
