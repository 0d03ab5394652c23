use super::*;
use crate::mm::{Access, AddressTables, MapRequest, Placement, Protection, USER_END};
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use proptest::prelude::*;

const START: u64 = 0x1000_0000;
const PAGES: u64 = 4 * BLOCK as u64;

fn space() -> Space {
    hal::fakes_init();
    IS_LARGE.store(1, Ordering::Relaxed);
    Space::new(AddressTables::new().unwrap())
}

fn map(space: &mut Space, first: u64, pages: u64, bits: u64) {
    space
        .map(
            MapRequest {
                placement: Placement::Fixed(START + first * PAGE),
                len: pages * PAGE,
                protection: Protection::from_bits(bits),
                sharing: Sharing::Private,
                backing: Backing::Anonymous,
                grows_down: false,
                name: "",
            },
            0,
        )
        .unwrap();
}

fn is_folded(space: &Space, page: u64) -> bool {
    space.tables.get(START + page * PAGE).is_contiguous()
}

#[test]
fn a_block_unfolds_for_a_partial_change_and_folds_when_it_is_undone() {
    for stage in [Stage::Bbm0, Stage::Delay, Stage::Elide] {
        STAGE.store(stage as u8, Ordering::Relaxed);
        let mut space = space();
        map(&mut space, 0, PAGES, 3);
        space.fault(START + 20 * PAGE, Access::Write, 0).unwrap();
        assert!(!is_folded(&space, 0) && (16..32).all(|page| is_folded(&space, page)));
        let last = START + 31 * PAGE;
        space.protect(last, PAGE, Protection::READ, 0).unwrap();
        assert!((16..32).all(|page| !is_folded(&space, page)));
        assert!(!space.tables.get(last).is_writable());
        space.protect(last, PAGE, Protection::READ_WRITE, 0).unwrap();
        assert!((16..32).all(|page| is_folded(&space, page)));
        assert!(space.tables.get(last).is_writable());
        // As a whole it changes as it is.
        space.protect(START, PAGES * PAGE, Protection::READ, 0).unwrap();
        assert!((16..32).all(|page| is_folded(&space, page)));
        space.discard(last, last + PAGE, 0);
        assert!((16..32).all(|page| !is_folded(&space, page)));
    }
}

#[test]
fn rights_return_to_a_block_at_once_only_if_all_of_it_is_the_spaces_own() {
    STAGE.store(Stage::Bbm0 as u8, Ordering::Relaxed);
    let (mut parent, mut child) = (space(), space());
    map(&mut parent, 0, BLOCK as u64, 3);
    parent.fault(START, Access::Write, 0).unwrap();
    parent.copy_into(&mut child).unwrap();
    child.discard(START, START + PAGE, 0);
    parent.protect(START, BLOCK_SIZE, Protection::READ, 0).unwrap();
    parent.protect(START, BLOCK_SIZE, Protection::READ_WRITE, 0).unwrap();
    assert!(
        (1..BLOCK as u64).all(|page| !parent.tables.get(START + page * PAGE).is_writable()),
        "the child has them too"
    );
}

#[test]
fn no_stage_is_above_the_level() {
    let levels = [Bbm::L0, Bbm::L1, Bbm::L2Abort, Bbm::NoAbort];
    assert_eq!(levels.map(highest), [Stage::Bbm0, Stage::Bbm0, Stage::Delay, Stage::Elide]);
}

/// What must hold of any address space: each folded block is a run with the same attributes within one area.
fn check(space: &Space) -> Result<(), TestCaseError> {
    let mut folded = Vec::new();
    space.tables.for_each(0, USER_END, |va, word| {
        if Pte(word.load(Ordering::Relaxed)).is_contiguous() {
            folded.push(va);
        }
    });
    for va in folded {
        let start = start_of(va);
        let first = space.tables.get(start);
        let area = space.find(start).map(|vma| vma.start..vma.end);
        prop_assert!(area.is_some_and(|area| start + BLOCK_SIZE <= area.end));
        for n in 0..BLOCK as u64 {
            let pte = space.tables.get(start + n * PAGE);
            prop_assert!(pte.is_contiguous(), "{:#x} of {va:#x}", start + n * PAGE);
            prop_assert_eq!(pte.pa().0, first.pa().0 + n * PAGE);
            prop_assert_eq!(pte.attributes(), first.attributes());
        }
        prop_assert_eq!(first.pa().0 % BLOCK_SIZE, 0);
    }
    Ok(())
}

/// Writes to or reads from the first byte of a page as a program would.
fn touch(space: &mut Space, page: u64, value: Option<u8>) -> Option<u8> {
    let va = START + page * PAGE;
    let access = if value.is_some() { Access::Write } else { Access::Read };
    if !{
        let pte = space.tables.get(va);
        pte.is_valid() && access.is_allowed_by(pte)
    } {
        space.fault(va, access, 0).ok()?;
    }
    let pte = space.tables.get(va);
    assert!(access.is_allowed_by(pte));
    let frame = Frame::from_descriptor(pte.pa());
    let mut byte = [0];
    if let Some(value) = value {
        frame.write(0, &[value]);
    }
    frame.read(0, &mut byte);
    let _ = frame.into_descriptor();
    Some(byte[0])
}

#[derive(Clone, Debug)]
struct Model {
    pages: [Option<(u8, u8)>; PAGES as usize],
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Random calls on two address spaces, of which the second is a fork of the first, against arrays of pages.
    #[test]
    fn pages_are_what_arrays_say(
        operations in prop::collection::vec((0u8..8, 0..PAGES, 1u64..40, any::<u8>(), any::<bool>()), 1..60),
        stage in 0u8..3,
    ) {
        STAGE.store(stage, Ordering::Relaxed);
        let mut spaces = [space(), space()];
        let mut models = [Model { pages: [None; PAGES as usize] }, Model { pages: [None; PAGES as usize] }];
        for (kind, first, pages, value, which) in operations {
            let n = usize::from(which);
            let pages = pages.min(PAGES - first);
            let range = first as usize..(first + pages) as usize;
            let (start, end) = (START + first * PAGE, START + (first + pages) * PAGE);
            let (space, model) = (&mut spaces[n], &mut models[n]);
            match kind {
                0 => {
                    map(space, first, pages, 3);
                    model.pages[range].fill(Some((3, 0)));
                }
                1 => {
                    space.unmap(start, pages * PAGE, 0).unwrap();
                    model.pages[range].fill(None);
                }
                2 => {
                    space.discard(start, end, 0);
                    model.pages[range].iter_mut().flatten().for_each(|page| page.1 = 0);
                }
                3 => {
                    let bits = if value & 1 != 0 { 3 } else { 1 };
                    if space.protect(start, pages * PAGE, Protection::from_bits(bits), 0).is_ok() {
                        model.pages[range].iter_mut().flatten().for_each(|page| page.0 = bits as u8);
                    }
                }
                4 => {
                    let mut new = self::space();
                    spaces[0].copy_into(&mut new).unwrap();
                    spaces[1] = new;
                    models[1] = models[0].clone();
                }
                5 => {
                    // What lies behind keeps it from growing in place: so it goes elsewhere.
                    let is_blocked = model.pages.get((first + pages) as usize).is_some_and(Option::is_some);
                    if is_blocked && space.remap(start, pages * PAGE, (pages + 300) * PAGE, true, 0).is_ok() {
                        model.pages[range].fill(None);
                    }
                }
                _ => {
                    let expected = model.pages[first as usize];
                    let wrote = touch(space, first, Some(value));
                    prop_assert_eq!(wrote.is_some(), expected.is_some_and(|page| page.0 & 2 != 0));
                    if wrote.is_some() {
                        model.pages[first as usize] = Some((3, value));
                    }
                }
            }
            for (space, model) in spaces.iter_mut().zip(&models) {
                check(space)?;
                for (n, page) in model.pages.iter().enumerate() {
                    let pte = space.tables.get(START + n as u64 * PAGE);
                    prop_assert!(!pte.is_valid() || page.is_some_and(|page| !pte.is_writable() || page.0 & 2 != 0));
                    if value % 4 == 0 {
                        prop_assert_eq!(touch(space, n as u64, None), page.map(|page| page.1), "page {}", n);
                    }
                }
            }
        }
    }
}
