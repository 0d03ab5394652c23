//! Contiguous page descriptors: 16 pages of 4K that lie side by side in memory, aligned to 64K, may be one entry of the TLB.
//! Blocks are folded when they can be, and unfolded before part of one changes.
//!
//! `block`: the algorithms · `conflict`: TLB conflict aborts · here: which way is taken,
//! counts, and the blocks of an address space.

pub mod block;
pub mod conflict;

use alloc::string::String;
use core::fmt::Write;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use arch::Pa;
use hal::mem::{Frame, FrameKind, tlb};

use super::PAGE;
use super::pte::Pte;
use super::space::Space;
use super::vma::{Backing, Sharing, Vma};
use crate::cmdline;
use crate::feature::{self, Bbm};
use block::{BLOCK, Done, Form, Stage};

/// Bytes of a block.
pub const BLOCK_SIZE: u64 = BLOCK as u64 * PAGE;
/// log2 of its pages.
const BLOCK_ORDER: u8 = BLOCK.trailing_zeros() as u8;

static STAGE: AtomicU8 = AtomicU8::new(Stage::Bbm0 as u8);
static IS_LARGE: AtomicU8 = AtomicU8::new(0);

static FOLDS: AtomicU64 = AtomicU64::new(0);
static UNFOLDS: AtomicU64 = AtomicU64::new(0);
static REWRITTEN: AtomicU64 = AtomicU64::new(0);
static TLBIS: AtomicU64 = AtomicU64::new(0);
static DSBS: AtomicU64 = AtomicU64::new(0);
static LARGE: AtomicU64 = AtomicU64::new(0);
static SPURIOUS: AtomicU64 = AtomicU64::new(0);

/// Adds one; these counts are written where the lock of an address space is held anyway.
fn count(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Ordering::Relaxed);
}

/// A fault found its page there already: another CPU was at work on the descriptor, or the TLB was late.
pub fn count_spurious() {
    count(&SPURIOUS, 1);
}

/// Chooses the way, once all CPUs are there and before the first program: by `bbm=auto|0|1|2abort|noabort` and
/// `contpte=bbm0|delay|elide`. What the CPUs do not allow is not taken: a stage above falls to the highest that they do.
pub fn init() {
    let level = match cmdline::value("bbm") {
        Some("0") => Bbm::L0,
        Some("1") => Bbm::L1,
        Some("2abort") => Bbm::L2Abort,
        Some("noabort") => Bbm::NoAbort,
        _ => feature::bbm(),
    };
    let highest = highest(level);
    let stage = match cmdline::value("contpte") {
        Some("bbm0") => Stage::Bbm0,
        Some("delay") => highest.min(Stage::Delay),
        _ => highest,
    };
    STAGE.store(stage as u8, Ordering::Relaxed);
    IS_LARGE.store(u8::from(cmdline::value("thp64k") != Some("never")), Ordering::Relaxed);
}

/// The highest stage that a level allows. Level 1 would do for Contiguous bits, but is also what CPUs are given whose level 2
/// is an erratum.
fn highest(level: Bbm) -> Stage {
    match level {
        Bbm::L0 | Bbm::L1 => Stage::Bbm0,
        Bbm::L2Abort => Stage::Delay,
        Bbm::NoAbort => Stage::Elide,
    }
}

fn stage() -> Stage {
    match STAGE.load(Ordering::Relaxed) {
        0 => Stage::Bbm0,
        1 => Stage::Delay,
        _ => Stage::Elide,
    }
}

/// /proc/contpte.
pub fn write_counts(out: &mut String) {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let name = match stage() {
        Stage::Bbm0 => "bbm0",
        Stage::Delay => "delay",
        Stage::Elide => "elide",
    };
    let _ = writeln!(out, "stage {name}");
    let values = [
        ("folds", read(&FOLDS)),
        ("unfolds", read(&UNFOLDS)),
        ("rewritten", read(&REWRITTEN)),
        ("tlbis", read(&TLBIS)),
        ("dsbs", read(&DSBS)),
        ("blocks", read(&LARGE)),
        ("spurious", read(&SPURIOUS)),
        ("conflicts", conflict::count()),
    ];
    for (name, value) in values {
        let _ = writeln!(out, "{name} {value}");
    }
}

fn start_of(va: u64) -> u64 {
    va & !(BLOCK_SIZE - 1)
}

impl Space {
    fn convert(&self, va: u64, form: Form, asid: u16) {
        let Some(descriptors) = self.tables.block(va) else { return };
        let done = block::convert(descriptors, form, stage(), || {
            let cost = tlb::range(asid, start_of(va), BLOCK);
            count(&TLBIS, cost.tlbis);
            count(&DSBS, cost.dsbs);
        });
        count(if form == Form::Contiguous { &FOLDS } else { &UNFOLDS }, 1);
        if done == Done::Rewritten {
            count(&REWRITTEN, 1);
        }
    }

    /// Before the descriptor of `va` changes by itself: if it is part of a folded block, that is unfolded.
    pub(super) fn unfold(&self, va: u64, asid: u16) {
        if self.tables.get(va).is_contiguous() {
            self.convert(va, Form::Single, asid);
        }
    }

    /// The same before all descriptors of `start..end` change: for blocks that reach out of it.
    pub(super) fn unfold_edges(&self, start: u64, end: u64, asid: u16) {
        for edge in [start, end] {
            if edge % BLOCK_SIZE != 0 {
                self.unfold(edge, asid);
            }
        }
    }

    /// The same before all descriptors of `start..end` change to another memory type: for all blocks.
    pub(super) fn unfold_range(&self, start: u64, end: u64, asid: u16) {
        let mut at = start;
        while at < end {
            self.unfold(at, asid);
            at = start_of(at) + BLOCK_SIZE;
        }
    }

    /// After the descriptor of `va` has changed: folds its block if that is possible now. A block lies in one area.
    pub(super) fn fold(&self, va: u64, asid: u16) {
        let pte = self.tables.get(va);
        let is_aligned = (pte.pa().0 ^ va) % BLOCK_SIZE < PAGE;
        if !pte.is_valid() || pte.is_contiguous() || !is_aligned {
            return;
        }
        let start = start_of(va);
        let is_in_area = self.find(start).is_some_and(|vma| start + BLOCK_SIZE <= vma.end);
        if is_in_area && self.tables.block(va).is_some_and(|descriptors| block::can_fold(descriptors)) {
            self.convert(va, Form::Contiguous, asid);
        }
    }

    /// After all descriptors of `start..end` have changed: folds the blocks at its ends, or all of them.
    pub(super) fn fold_range(&self, start: u64, end: u64, asid: u16) {
        let mut at = start_of(start);
        while at < end {
            self.fold(at.max(start), asid);
            at += BLOCK_SIZE;
        }
    }

    /// Serves a first write to private anonymous memory by a whole block, if its area has room for one and none of it is
    /// there. False: one page must do.
    pub(super) fn fault_block(&mut self, vma: &Vma, va: u64) -> bool {
        let start = start_of(va);
        let is_for_block = IS_LARGE.load(Ordering::Relaxed) != 0
            && matches!(vma.backing, Backing::Anonymous)
            && vma.sharing == Sharing::Private
            && !vma.grows_down
            && vma.start <= start
            && start + BLOCK_SIZE <= vma.end;
        if !is_for_block {
            return false;
        }
        let Some(descriptors) = self.tables.block(va) else { return false };
        if descriptors.iter().any(|word| word.load(Ordering::Relaxed) != 0) {
            return false;
        }
        let Some(frames) = Frame::zeroed_run(FrameKind::User, BLOCK_ORDER) else { return false };
        for (frame, word) in frames.zip(descriptors) {
            if vma.protection.executable() {
                frame.sync_instructions();
            }
            if vma.protection.tagged() {
                crate::mte::prepare(&frame);
            }
            let pte = Pte::page(frame.into_descriptor(), vma.protection);
            word.store(pte.contiguous().0, Ordering::Release);
        }
        hal::cpu::dsb_ishst();
        count(&LARGE, 1);
        true
    }
}

/// Which private pages may get an area's rights at once, rather than by a fault at their first write: those that nobody else
/// has. All of a folded block may or none, so that its descriptors stay alike.
#[derive(Debug)]
pub(super) struct Own {
    is_possible: bool,
    /// The last block that was asked about.
    block: Option<(u64, bool)>,
}

impl Own {
    /// For pages of `vma`, with the rights that it has now.
    pub(super) fn new(vma: &Vma) -> Self {
        Self { is_possible: vma.protection.writable() && matches!(vma.backing, Backing::Anonymous), block: None }
    }

    /// May the page at `va` of that descriptor?
    pub(super) fn has(&mut self, va: u64, pte: Pte) -> bool {
        if !self.is_possible {
            return false;
        }
        let is_only = |pa: Pa| {
            let frame = Frame::from_descriptor(pa);
            let shares = frame.shares();
            let _ = frame.into_descriptor();
            shares == 1
        };
        if !pte.is_contiguous() {
            return is_only(pte.pa());
        }
        let start = start_of(va);
        if let Some((_, answer)) = self.block.filter(|(block, _)| *block == start) {
            return answer;
        }
        let first = start_of(pte.pa().0);
        let answer = (0..BLOCK as u64).all(|n| is_only(Pa(first + n * PAGE)));
        self.block = Some((start, answer));
        answer
    }
}

#[cfg(test)]
mod tests;
