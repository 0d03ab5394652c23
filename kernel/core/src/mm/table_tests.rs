//! The tables beside those that another implementation makes of the same edits.

use std::collections::BTreeMap;

use aarch64_paging::descriptor::{El1Attributes, PhysicalAddress};
use aarch64_paging::idmap::IdTranslation;
use aarch64_paging::paging::{Constraints, El1And0, MemoryRegion, RootTable, VaRange};
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use hal::mem::{Frame, FrameKind};
use proptest::prelude::*;

use super::super::pte::Pte;
use super::super::vma::Protection;
use super::AddressTables;
use crate::mm::PAGE;

/// Pages around borders of tables of each level.
const PLACES: [u64; 5] = [0x1000, 0x1f_c000, 0x3fff_e000, 0x7f_ffff_c000, 0xffff_ffff_8000];
const SPAN: u64 = 8;

type Oracle = RootTable<El1And0, IdTranslation<El1Attributes>>;

/// What the Arm ARM says of a page of EL0's with these rights (the kernel's own never execute it).
fn flags(protection: Protection) -> El1Attributes {
    let common = El1Attributes::VALID
        | El1Attributes::INNER_SHAREABLE
        | El1Attributes::ACCESSED
        | El1Attributes::NON_GLOBAL
        | El1Attributes::PXN;
    let rights = if protection.writable() {
        El1Attributes::USER
    } else if protection.readable() {
        El1Attributes::USER | El1Attributes::READ_ONLY
    } else {
        El1Attributes::READ_ONLY
    };
    let execution = if protection.executable() { El1Attributes::empty() } else { El1Attributes::UXN };
    common | rights | execution
}

fn region(va: u64) -> MemoryRegion {
    MemoryRegion::new(va as usize, (va + PAGE) as usize)
}

/// Each page with its output address and attributes.
type Pages = BTreeMap<u64, (u64, u64)>;

fn ours(tables: &AddressTables) -> Pages {
    let mut pages = Pages::new();
    tables.for_each(0, 1 << 48, |va, word| {
        let pte = Pte(word.load(Ordering::Relaxed));
        pages.insert(va, (pte.pa().0, pte.0 & !pte.pa().0));
    });
    pages
}

fn theirs(oracle: &Oracle) -> Pages {
    let mut pages = Pages::new();
    let all = MemoryRegion::new(0, 1 << 48);
    oracle
        .walk_range(&all, &mut |part, descriptor, level| {
            if level == 3 && descriptor.is_valid() {
                let flags = descriptor.flags().bits() as u64;
                pages.insert(part.start().0 as u64, (descriptor.output_address().0 as u64, flags));
            }
            Ok(())
        })
        .expect("all of it is in the table's range");
    pages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Maps, unmaps and changes of rights, in any order.
    #[test]
    fn the_same_translations_as_another_implementation(
        edits in prop::collection::vec((0u8..4, 0..PLACES.len(), 0..SPAN, 1..SPAN, 0u64..8), 1..60)
    ) {
        hal::fakes_init();
        let mut tables = AddressTables::new().unwrap();
        let mut oracle: Oracle = RootTable::with_va_range(IdTranslation::new(), 0, El1And0, VaRange::Lower);
        for (kind, place, first, count, bits) in edits {
            let protection = Protection::from_bits(bits);
            let start = PLACES[place] + first * PAGE;
            let end = (start + count * PAGE).min(1 << 48);
            let pages: Vec<u64> = (start..end).step_by(PAGE as usize).collect();
            match kind {
                0 | 1 => {
                    drop(tables.take(start, end));
                    for va in pages {
                        let frame = Frame::zeroed(FrameKind::User).unwrap();
                        let pa = frame.pa().0;
                        let entry = tables.entry_or_new(va).unwrap();
                        entry.store(Pte::page(frame.into_descriptor(), protection).0, Ordering::Relaxed);
                        oracle
                            .map_range(&region(va), PhysicalAddress(pa as usize), flags(protection), Constraints::empty())
                            .unwrap();
                    }
                }
                2 => {
                    drop(tables.take(start, end));
                    for va in pages {
                        // The output address is ignored, but for a subtraction that must not overflow.
                        let none = PhysicalAddress(va as usize);
                        oracle.map_range(&region(va), none, El1Attributes::empty(), Constraints::empty()).unwrap();
                    }
                }
                _ => {
                    for va in pages {
                        let pte = tables.get(va);
                        if !pte.is_valid() {
                            continue;
                        }
                        let entry = tables.entry(va).unwrap();
                        entry.store(pte.with(protection).0, Ordering::Relaxed);
                        let pa = PhysicalAddress(pte.pa().0 as usize);
                        oracle.map_range(&region(va), pa, flags(protection), Constraints::empty()).unwrap();
                    }
                }
            }
            let (ours, theirs) = (ours(&tables), theirs(&oracle));
            // Type bits and MAIR's index aside, which are each one's own.
            let own = |pages: Pages| -> Pages {
                pages.into_iter().map(|(va, (pa, bits))| (va, (pa, bits & !(7 << 2 | 2)))).collect()
            };
            prop_assert_eq!(own(ours), own(theirs));
        }
    }
}
