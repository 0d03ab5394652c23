use super::*;
use crate::mm::vma::Protection;
use alloc::vec::Vec;
use arch::Pa;
use core::cell::Cell;
use loom::sync::Arc;
use loom::thread;
use proptest::prelude::*;

const STAGES: [Stage; 3] = [Stage::Bbm0, Stage::Delay, Stage::Elide];
const BASE: u64 = 0x4001_0000;
const AF: u64 = 1 << 10;
const DBM: u64 = 1 << 51;
const READ_ONLY: u64 = 1 << 7;

impl Word for loom::sync::atomic::AtomicU64 {
    fn load(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
    fn store(&self, value: u64) {
        self.store(value, Ordering::Release);
    }
    fn swap(&self, value: u64) -> u64 {
        self.swap(value, Ordering::AcqRel)
    }
    fn compare_exchange(&self, old: u64, new: u64) -> Result<u64, u64> {
        self.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed)
    }
    fn pause() {
        thread::yield_now();
    }
}

fn page(n: usize) -> Pte {
    Pte::page(Pa(BASE + n as u64 * PAGE), Protection::READ_WRITE)
}

/// What hardware does for an access to a page by a valid descriptor: an atomic update of that one.
fn walk<W: Word>(word: &W) -> bool {
    let old = word.load();
    old & 1 != 0 && (old & AF != 0 || word.compare_exchange(old, old | AF).is_ok())
}

/// Two descriptors, one of them not accessed yet; a writer, a reader without the lock, and a walk of the hardware. In each
/// order: the reader sees its page as it is or nothing, never nothing when bits are flipped, and no access is lost.
fn model(form: Form, stage: Stage, is_accessed: bool) {
    let mut builder = loom::model::Builder::new();
    // All that two switches away from a thread that could go on lead to.
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let start = |n: usize| {
            let pte = if form == Form::Single { page(n).contiguous() } else { page(n) };
            let noted = if is_accessed && n == 0 { AF } else { 0 };
            loom::sync::atomic::AtomicU64::new(pte.0 & !AF | noted)
        };
        let block: Arc<[loom::sync::atomic::AtomicU64; 2]> = Arc::new([start(0), start(1)]);
        let reader = {
            let block = Arc::clone(&block);
            thread::spawn(move || {
                let pte = get_lockless(&*block, 1);
                if stage == Stage::Elide {
                    assert!(pte.is_valid(), "no descriptor is ever invalid");
                }
                if pte.is_valid() {
                    assert_eq!(pte.pa(), page(1).pa());
                    assert_eq!(pte.attributes(), page(1).attributes());
                    let was_noted = is_accessed && form == Form::Single;
                    assert!(!was_noted || pte.noted().accessed, "the block was accessed all the time");
                }
            })
        };
        let hardware = {
            let block = Arc::clone(&block);
            thread::spawn(move || walk(&block[0]))
        };
        let done = convert(&block, form, stage, || {});
        reader.join().unwrap();
        let walked = hardware.join().unwrap();
        assert_eq!(done == Done::Flipped, stage == Stage::Elide);
        for n in 0..2 {
            let pte = Pte(Word::load(&block[n]));
            assert_eq!(pte.is_contiguous(), form == Form::Contiguous);
            assert_eq!((pte.pa(), pte.attributes()), (page(n).pa(), page(n).attributes()));
        }
        // What is written behind the last look at a descriptor is in that descriptor.
        assert!(!walked || get(&*block, 0).noted().accessed, "an access is lost");
    });
}

#[test]
fn every_interleaving_of_a_writer_a_reader_and_a_walk() {
    for stage in STAGES {
        for form in [Form::Contiguous, Form::Single] {
            model(form, stage, false);
            model(form, stage, true);
        }
    }
}

/// A descriptor that counts how often it was made invalid.
#[derive(Debug)]
struct Watched {
    value: Cell<u64>,
    invalid: Cell<u32>,
}
impl Watched {
    fn set(&self, value: u64) {
        if value & 1 == 0 {
            self.invalid.set(self.invalid.get() + 1);
        }
        self.value.set(value);
    }
}
impl Word for Watched {
    fn load(&self) -> u64 {
        self.value.get()
    }
    fn store(&self, value: u64) {
        self.set(value);
    }
    fn swap(&self, value: u64) -> u64 {
        let old = self.value.get();
        self.set(value);
        old
    }
    fn compare_exchange(&self, old: u64, new: u64) -> Result<u64, u64> {
        if self.value.get() == old {
            self.set(new);
            Ok(old)
        } else {
            Err(self.value.get())
        }
    }
}

fn block_of(ptes: impl Iterator<Item = Pte>) -> [Watched; BLOCK] {
    let words: Vec<Watched> =
        ptes.map(|pte| Watched { value: Cell::new(pte.0), invalid: Cell::new(0) }).take(BLOCK).collect();
    words.try_into().unwrap()
}

#[test]
fn the_stages_invalidate_where_they_say() {
    for stage in STAGES {
        for form in [Form::Contiguous, Form::Single] {
            let block = block_of((0..BLOCK).map(|n| if form == Form::Single { page(n).contiguous() } else { page(n) }));
            let calls = Cell::new(0);
            let done = convert(&block, form, stage, || {
                calls.set(calls.get() + 1);
                let valid = block.iter().filter(|word| word.value.get() & 1 != 0).count();
                assert_eq!(valid, if stage == Stage::Bbm0 { 0 } else { BLOCK }, "{stage:?}");
            });
            let invalid: u32 = block.iter().map(|word| word.invalid.get()).sum();
            match stage {
                Stage::Elide => assert_eq!((done, calls.get(), invalid), (Done::Flipped, 0, 0)),
                _ => assert_eq!((done, calls.get(), invalid), (Done::Rewritten, 1, BLOCK as u32)),
            }
        }
    }
}

#[test]
fn what_is_no_run_is_neither_folded_nor_flipped() {
    type Change = (&'static str, fn(u64) -> u64);
    let changes: [Change; 5] = [
        ("output address", |pte| pte + PAGE),
        ("rights", |pte| pte ^ READ_ONLY),
        ("memory type", |pte| pte ^ 1 << 2),
        ("absence", |_| 0),
        ("form", |pte| pte ^ 1 << 52),
    ];
    for (what, change) in changes {
        for n in 0..BLOCK {
            let block = block_of((0..BLOCK).map(page));
            assert!(can_fold(&block));
            block[n].value.set(change(block[n].value.get()));
            assert!(!can_fold(&block), "{what} of {n}");
            assert!(!flip(&block, Form::Single), "{what} of {n}");
            let calls = Cell::new(0);
            let done = convert(&block, Form::Single, Stage::Elide, || {
                calls.set(1);
                assert!(block.iter().all(|word| word.value.get() == 0), "break before make");
            });
            assert_eq!((done, calls.get()), (Done::Rewritten, 1));
        }
    }
    let unaligned = block_of((1..=BLOCK).map(page));
    assert!(!can_fold(&unaligned));
}

#[test]
fn the_one_descriptor_that_lacks_the_access_flag_gets_it() {
    for n in 0..BLOCK {
        let block = block_of((0..BLOCK).map(|n| page(n).contiguous()));
        block[n].value.set(block[n].value.get() & !AF);
        // The page as a whole counts as accessed, yet a walk that reads this descriptor would fault.
        assert!(get(&block, 0).noted().accessed);
        assert!(set_accessed(&block, 0));
        assert!(block.iter().all(|word| word.value.get() & AF != 0));
        assert!(!set_accessed(&block, 0));
    }
}

/// A descriptor in which hardware notes an access just before the first update of it.
struct Late {
    value: Cell<u64>,
    note: Cell<u64>,
}
impl Word for Late {
    fn load(&self) -> u64 {
        self.value.get()
    }
    fn store(&self, value: u64) {
        self.value.set(value);
    }
    fn swap(&self, value: u64) -> u64 {
        self.value.replace(value)
    }
    fn compare_exchange(&self, old: u64, new: u64) -> Result<u64, u64> {
        self.value.set(self.value.get() | self.note.take());
        if self.value.get() == old {
            self.value.set(new);
            Ok(old)
        } else {
            Err(self.value.get())
        }
    }
}

/// While bits are flipped, a walk may note at any descriptor an access to any page of the block: also at one behind those
/// that are done already.
#[test]
fn what_is_noted_while_bits_are_flipped_holds_for_every_page() {
    for form in [Form::Contiguous, Form::Single] {
        for late in 0..BLOCK {
            let block: [Late; BLOCK] = core::array::from_fn(|n| {
                let pte = if form == Form::Single { page(n).contiguous() } else { page(n) };
                Late { value: Cell::new(pte.0 & !AF), note: Cell::new(if n == late { AF } else { 0 }) }
            });
            assert_eq!(convert(&block, form, Stage::Elide, || {}), Done::Flipped);
            assert!(block.iter().all(|word| word.value.get() & AF != 0), "noted at {late}");
        }
    }
}

proptest! {
    /// Against the rule: whatever hardware noted anywhere in a block holds for all of it afterwards; the rest stays.
    #[test]
    fn notes_of_hardware_are_kept(
        accessed in any::<u16>(), dirty in any::<u16>(), stage in 0usize..3, folds in any::<bool>()
    ) {
        let form = if folds { Form::Contiguous } else { Form::Single };
        let block = block_of((0..BLOCK).map(|n| {
            let mut pte = page(n).0 | DBM;
            if accessed >> n & 1 == 0 { pte &= !AF; }
            if dirty >> n & 1 == 0 { pte |= READ_ONLY; }
            if folds { Pte(pte) } else { Pte(pte).contiguous() }
        }));
        prop_assert_eq!(can_fold(&block), folds);
        for n in 0..BLOCK {
            let noted = if folds {
                crate::mm::pte::Noted { accessed: accessed >> n & 1 != 0, dirty: dirty >> n & 1 != 0 }
            } else {
                crate::mm::pte::Noted { accessed: accessed != 0, dirty: dirty != 0 }
            };
            prop_assert_eq!(get(&block, n).noted(), noted);
            prop_assert_eq!(get_lockless(&block, n).noted(), noted);
        }
        convert(&block, form, STAGES[stage], || {});
        for (n, word) in block.iter().enumerate() {
            let pte = Pte(word.value.get());
            prop_assert_eq!(pte.noted().accessed, accessed != 0);
            prop_assert_eq!(pte.noted().dirty, dirty != 0);
            prop_assert_eq!(pte.is_contiguous(), folds);
            prop_assert_eq!(pte.pa(), page(n).pa());
        }
    }
}
