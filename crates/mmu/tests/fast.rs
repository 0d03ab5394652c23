//! The fast cache and its contexts.

mod common;

use common::*;
use vambrace_mmu::{Admission, Contexts, CtxId, FastCache, PanState, Privilege, Regs, Rights, Stage1, walk};

fn ctx(n: u16) -> CtxId {
    CtxId::from_raw(n)
}

const RW: Rights = Rights::READ.union(Rights::WRITE);

#[test]
fn hits_and_misses() {
    for page in [0, 0x1000, 0x7fff_ffff_f000, 0xffff_8000_1234_5000, 0xffff_ffff_ffff_f000] {
        let mut f = FastCache::new();
        assert_eq!(f.lookup_read(va(page), ctx(1), 1), None);
        f.fill(va(page + 0x10), ctx(1), 0x5_0010, RW);
        assert_eq!(f.lookup_read(va(page), ctx(1), 8), Some(0x5_0000));
        assert_eq!(f.lookup_read(va(page + 0xff8), ctx(1), 8), Some(0x5_0ff8));
        assert_eq!(f.lookup_write(va(page + 0xfff), ctx(1), 1), Some(0x5_0fff));
        assert_eq!(f.lookup_fetch(va(page), ctx(1), 4), None);
        assert_eq!(f.lookup_read(va(page), ctx(2), 8), None);
        // Across the end of the page, even into a page that is there.
        f.fill(va(page.wrapping_add(0x1000)), ctx(1), 0x9_0000, RW);
        assert_eq!(f.lookup_read(va(page + 0xff9), ctx(1), 8), None);
        assert_eq!(f.lookup_write(va(page + 0xfff), ctx(1), 16), None);
    }
}

/// An empty slot, or any other, never answers to the id that stands for none.
#[test]
fn never() {
    let mut f = FastCache::new();
    for id in [CtxId::NEVER, CtxId::from_raw(0), CtxId::from_raw(4095), CtxId::from_raw(u16::MAX)] {
        for page in [0, 0x1000, 0xffff_ffff_ffff_f000] {
            assert_eq!(f.lookup_read(va(page), id, 8), None);
            f.fill(va(page), id, 0, Rights::ALL);
            assert_eq!(f.lookup_read(va(page), id, 8), None);
            f.fill(va(page), ctx(4094), 0, Rights::ALL);
            f.invalidate_page(va(page));
            assert_eq!((f.lookup_write(va(page), id, 8), f.lookup_fetch(va(page), ctx(4094), 4)), (None, None));
        }
    }
}

#[test]
fn fills_merge_only_for_the_same_page() {
    let mut f = FastCache::new();
    let (a, b) = (va(0x1000), va(0x1000 + (1 << 22))); // one slot
    f.fill(a, ctx(1), 0x1000, Rights::READ);
    f.fill(a, ctx(1), 0x1000, Rights::FETCH);
    assert!(f.lookup_read(a, ctx(1), 1).is_some() && f.lookup_fetch(a, ctx(1), 1).is_some());
    assert!(f.lookup_write(a, ctx(1), 1).is_none());
    // The same page of another context, same offset: the other context's rights go.
    f.fill(a, ctx(2), 0x1000, Rights::WRITE);
    assert!(f.lookup_read(a, ctx(2), 1).is_none() && f.lookup_write(a, ctx(2), 1).is_some());
    // Another page with the same distance between virtual address and offset must not revive the old one's tags.
    f.fill(b, ctx(2), 0x1000 + (1 << 22), Rights::READ);
    assert!(f.lookup_write(a, ctx(2), 1).is_none() && f.lookup_write(b, ctx(2), 1).is_none());
    // The page moved.
    f.fill(b, ctx(2), 0x8000, Rights::WRITE);
    assert_eq!(f.lookup_read(b, ctx(2), 1), None);
    assert_eq!(f.lookup_write(b, ctx(2), 1), Some(0x8000));
}

#[test]
fn invalidation() {
    let mut f = FastCache::new();
    let at = 0x0000_1234_5678_9000;
    let tagged = va(at | 0xab << 56);
    f.fill(tagged, ctx(3), 0x4000, Rights::ALL);
    assert!(f.lookup_read(va(at), ctx(3), 1).is_none(), "each top byte is a page of its own");
    f.invalidate_page(va(at + 0x1000));
    assert!(f.lookup_read(tagged, ctx(3), 1).is_some());
    f.invalidate_page(va(at + 0x123));
    for hit in [f.lookup_read(tagged, ctx(3), 1), f.lookup_write(tagged, ctx(3), 1), f.lookup_fetch(tagged, ctx(3), 1)]
    {
        assert_eq!(hit, None);
    }
    // Ranges, small (page by page) and large (a scan), with neighbours that stay.
    for base in [0x40_0000, 0xffff_8000_0040_0000_u64] {
        for bytes in [0x1000, 0x3000, 0x40_0000, 0x80_0000, 1 << 39] {
            let mut f = FastCache::new();
            for n in 0..8 {
                f.fill(va(base + n * 0x1000 + (0xcd << 56 & !base)), ctx(1), n << 12, RW);
            }
            let before = va(base - 0x1000);
            f.fill(before, ctx(1), 0, RW);
            f.invalidate_range(va(base), bytes);
            for n in 0..8 {
                let hit = f.lookup_read(va(base + n * 0x1000 + (0xcd << 56 & !base)), ctx(1), 1);
                assert_eq!(hit.is_some(), n * 0x1000 >= bytes, "{base:#x} {bytes:#x} page {n}");
            }
            assert!(f.lookup_read(before, ctx(1), 1).is_some());
        }
    }
    f.fill(va(at), ctx(3), 0x4000, Rights::ALL);
    f.invalidate_all();
    assert!(f.lookup_read(va(at), ctx(3), 1).is_none());
}

#[test]
fn code_pages_lose_writes() {
    let mut f = FastCache::new();
    let aliases = [va(0x1000), va(0x40_2000), va(0xffff_8000_0000_3000)];
    for a in aliases {
        f.fill(a, ctx(1), 0x7000, Rights::ALL);
    }
    f.fill(va(0x9000), ctx(1), 0x8000, Rights::ALL);
    f.drop_writes_to(|offset| offset == 0x7000);
    for a in aliases {
        assert!(f.lookup_write(a, ctx(1), 1).is_none());
        assert!(f.lookup_read(a, ctx(1), 1).is_some() && f.lookup_fetch(a, ctx(1), 1).is_some());
    }
    assert!(f.lookup_write(va(0x9000), ctx(1), 1).is_some());
}

fn with_asid(asid: u64) -> Stage1 {
    Stage1::new(&Regs { tcr: K4.tcr(5) | 1 << 36, ..regs(K4, asid << 48, 0) }, &features(K4))
}

#[test]
fn contexts_tell_states_apart() {
    let mut f = FastCache::new();
    let mut c = Contexts::new();
    let (off, on) = (PanState::Off, PanState::On);
    let mut seen = vec![];
    for asid in [0, 1, 0x1234, 0xffff] {
        let s = with_asid(asid);
        for (privilege, pan) in [(Privilege::El0, off), (Privilege::El1, off), (Privilege::El1, on)] {
            seen.push((s, privilege, pan, c.pair(&mut f, &s, privilege, pan)));
        }
        assert_eq!(c.pair(&mut f, &s, Privilege::El0, on), c.pair(&mut f, &s, Privilege::El0, off));
    }
    for (n, a) in seen.iter().enumerate() {
        assert_eq!(c.pair(&mut f, &a.0, a.1, a.2), a.3, "ids last");
        assert_eq!((a.3.of(va(0x1000)), a.3.of(va(0xffff_0000_0000_0000))), (a.3.lower, a.3.upper));
        assert_eq!(a.3.of(va(0xff00_0000_0000_0000)), a.3.lower, "bit 55 selects");
        for b in &seen[..n] {
            assert_ne!(a.3.lower, b.3.lower);
            assert_eq!(a.3.upper == b.3.upper, (a.1, a.2) == (b.1, b.2), "the kernel half leaves the ASID out");
        }
    }
    let r = regs(K4, 0, 0);
    let base = c.pair(&mut f, &Stage1::new(&r, &features(K4)), Privilege::El1, off);
    for other in [
        Regs { vmid: 1, ..r },
        Regs { sctlr: 0, ..r },
        Regs { regime: vambrace_mmu::Regime::El20, ..r },
        Regs { regime: vambrace_mmu::Regime::El2, ..r },
    ] {
        let p = c.pair(&mut f, &Stage1::new(&other, &features(K4)), Privilege::El1, off);
        assert!(p.lower != base.lower && p.upper != base.upper, "{other:?}");
    }
    assert_eq!(c.generation(), 0);
}

/// The first non-global page of the upper half makes its ids include the ASID, and takes the old ones back.
#[test]
fn non_global_kernel() {
    let t = Tables::new();
    let root = t.alloc();
    let (high, low) = (0xffff_8000_0000_0000, 0x1000);
    t.map(K4, root, high, 0x1000, 3, AF | NG);
    t.map(K4, root, high + 0x1000, 0x1000, 3, AF);
    t.map(K4, root, low, 0x1000, 3, AF | NG);
    let mut f = FastCache::new();
    let mut c = Contexts::new();
    let of = |asid: u64| Stage1::new(&regs(K4, root | asid << 48, root), &features(K4));
    let pair = |c: &mut Contexts, f: &mut FastCache, asid| c.pair(f, &of(asid), Privilege::El1, PanState::Off);
    let (p1, p2) = (pair(&mut c, &mut f, 1), pair(&mut c, &mut f, 2));
    assert_eq!(p1.upper, p2.upper);
    f.fill(va(low), p1.lower, 0, RW);
    for quiet in [high + 0x1000, low] {
        let e = walk(&of(1), va(quiet), READ, &t).unwrap();
        assert_eq!(c.admit(&mut f, &e), Admission::Same);
    }
    let e = walk(&of(1), va(high), READ, &t).unwrap();
    assert_eq!(c.admit(&mut f, &e), Admission::Renewed);
    assert_eq!(c.generation(), 1);
    assert!(f.lookup_read(va(low), p1.lower, 1).is_none());
    let (p1, p2) = (pair(&mut c, &mut f, 1), pair(&mut c, &mut f, 2));
    assert_ne!(p1.upper, p2.upper);
    assert_eq!(c.admit(&mut f, &e), Admission::Same);
}

/// More states than ids: they start over, and nothing old can match.
#[test]
fn ids_run_out() {
    let mut f = FastCache::new();
    let mut c = Contexts::new();
    let mut generation = 0;
    let mut used = std::collections::BTreeSet::new();
    for asid in 0..10_000 {
        let p = c.pair(&mut f, &with_asid(asid), Privilege::El0, PanState::Off);
        if c.generation() != generation {
            generation = c.generation();
            used.clear();
            assert!(f.lookup_read(va(0x1000), p.lower, 1).is_none());
        }
        assert!(used.insert(p.lower.get()), "ASID {asid} got an id in use");
        assert!((1..4096).contains(&p.lower.get()));
        f.fill(va(0x1000), p.lower, 0, RW);
    }
    assert!(generation > 2);
}
