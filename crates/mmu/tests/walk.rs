//! Walks against hand-made tables.

mod common;

use common::*;
use vambrace_mmu::{
    Access, AccessKind, Caching, Contiguous, Dirty, FaultKind, Granule, GranuleSupport, Guarded, Half, HwUpdate,
    MemAttr, MmuFeatures, NtPolicy, PanState, Perms, Privilege, Regime, Regs, Scope, Shareability, Stage1, Switch,
    walk,
};

fn shapes() -> Vec<Shape> {
    let mut all = vec![];
    for granule in [Granule::K4, Granule::K16, Granule::K64] {
        let (low, plain_max) = if granule == Granule::K64 { (17, 52) } else { (16, 48) };
        for ia_bits in low..=plain_max {
            all.push(Shape { granule, ia_bits, form: Form::Plain });
        }
        let wide = if granule == Granule::K64 { Form::Lpa } else { Form::Lpa2 };
        for ia_bits in low..=52 {
            all.push(Shape { granule, ia_bits, form: wide });
        }
    }
    all
}

/// First and last page of each half, every granule, every T0SZ and T1SZ, 48-bit and 52-bit forms.
#[test]
fn every_start_level_and_size() {
    for shape in shapes() {
        let t = Tables::new();
        let (lower, upper) = (t.alloc(), t.alloc());
        let s = Stage1::new(&regs(shape, lower, upper), &features(shape));
        let page = 1u64 << shape.page_bits();
        let span = 1u64 << shape.ia_bits;
        let top_pa = if shape.form == Form::Plain { 0xffff_fff0_0000 } else { 0xf_ffff_fff0_0000 };
        for (root, base, pa) in [
            (lower, 0, 0x4000_0000),
            (lower, span - page, top_pa),
            (upper, span.wrapping_neg(), 0x8000_0000),
            (upper, page.wrapping_neg(), top_pa - 0x10_0000),
        ] {
            t.map(shape, root, base, pa, 3, AF);
            let e = walk(&s, va(base + 0x123), READ, &t).unwrap_or_else(|f| panic!("{shape:?} {base:#x}: {f:?}"));
            assert_eq!((e.va.0, e.pa.0, e.level, e.steps), (base, pa, 3, shape.levels()), "{shape:?}");
            assert_eq!(e.size(), page);
            assert_eq!(e.output(va(base + 0x123)).0, pa + 0x123);
        }
        if shape.ia_bits < 55 {
            for outside in [span, span.wrapping_neg() - 1] {
                let f = walk(&s, va(outside), READ, &t).unwrap_err();
                assert_eq!((what(f), f.fsc(), f.steps), ((FaultKind::Translation, 0), 0x04, 0), "{shape:?}");
            }
        }
    }
}

/// The start levels of the manual's tables, at their edges.
#[test]
fn start_levels() {
    for (granule, form, ia_bits, level) in [
        (Granule::K4, Form::Lpa2, 52, -1),
        (Granule::K4, Form::Lpa2, 49, -1),
        (Granule::K4, Form::Plain, 48, 0),
        (Granule::K4, Form::Plain, 40, 0),
        (Granule::K4, Form::Plain, 39, 1),
        (Granule::K4, Form::Plain, 31, 1),
        (Granule::K4, Form::Plain, 30, 2),
        (Granule::K4, Form::Plain, 22, 2),
        (Granule::K4, Form::Plain, 21, 3),
        (Granule::K16, Form::Lpa2, 52, 0),
        (Granule::K16, Form::Plain, 48, 0),
        (Granule::K16, Form::Plain, 47, 1),
        (Granule::K16, Form::Plain, 37, 1),
        (Granule::K16, Form::Plain, 36, 2),
        (Granule::K16, Form::Plain, 26, 2),
        (Granule::K16, Form::Plain, 25, 3),
        (Granule::K64, Form::Plain, 52, 1),
        (Granule::K64, Form::Plain, 43, 1),
        (Granule::K64, Form::Plain, 42, 2),
        (Granule::K64, Form::Plain, 30, 2),
        (Granule::K64, Form::Plain, 29, 3),
    ] {
        let shape = Shape { granule, ia_bits, form };
        let t = Tables::new();
        let f = walk(&stage1(shape, t.alloc()), va(0), READ, &t).unwrap_err();
        assert_eq!(what(f), (FaultKind::Translation, level), "{shape:?}");
    }
}

#[test]
fn sizes_out_of_bounds_fault() {
    let t = Tables::new();
    let root = t.alloc();
    let of = |granule: Granule, tsz: u64, ds: u64, features: MmuFeatures| {
        let shape = Shape { granule, ia_bits: 48, form: Form::Plain };
        let tcr = shape.tcr(5) & !0x3f | tsz | ds << 59;
        let s = Stage1::new(&Regs { tcr, ..regs(shape, root, root) }, &features);
        what(walk(&s, va(0), READ, &t).unwrap_err())
    };
    let all = MmuFeatures::ALL;
    let old = MmuFeatures { ttst: Switch::Off, lva: Switch::Off, pa_bits: 48, ..MmuFeatures::ALL };
    let no_lpa2 =
        MmuFeatures { granule_4k: GranuleSupport::Present, granule_16k: GranuleSupport::Present, ..MmuFeatures::ALL };
    // A size in bounds ends at the empty table's level instead.
    for (granule, tsz, ds, features, bad) in [
        (Granule::K4, 15, 0, all, true),
        (Granule::K4, 11, 1, all, true),
        (Granule::K4, 15, 1, no_lpa2, true),
        (Granule::K4, 39, 0, old, false),
        (Granule::K4, 40, 0, old, true),
        (Granule::K4, 48, 0, all, false),
        (Granule::K4, 49, 0, all, true),
        (Granule::K16, 15, 0, all, true),
        (Granule::K16, 39, 0, old, false),
        (Granule::K16, 40, 0, old, true),
        (Granule::K64, 11, 0, all, true),
        (Granule::K64, 12, 0, all, false),
        (Granule::K64, 15, 0, old, true),
        (Granule::K64, 39, 0, old, false),
        (Granule::K64, 40, 0, old, true),
        (Granule::K64, 47, 0, all, false),
        (Granule::K64, 48, 0, all, true),
    ] {
        let (kind, level) = of(granule, tsz, ds, features);
        assert_eq!(kind, FaultKind::Translation);
        assert_eq!(level == 0, bad, "{granule:?} TxSZ {tsz} DS {ds}: level {level}");
    }
}

/// Blocks, legal and not, at every level of every form.
#[test]
fn blocks() {
    for (granule, form, level, legal) in [
        (Granule::K4, Form::Plain, 0, false),
        (Granule::K4, Form::Plain, 1, true),
        (Granule::K4, Form::Plain, 2, true),
        (Granule::K4, Form::Lpa2, -1, false),
        (Granule::K4, Form::Lpa2, 0, true),
        (Granule::K4, Form::Lpa2, 1, true),
        (Granule::K16, Form::Plain, 0, false),
        (Granule::K16, Form::Plain, 1, false),
        (Granule::K16, Form::Plain, 2, true),
        (Granule::K16, Form::Lpa2, 0, false),
        (Granule::K16, Form::Lpa2, 1, true),
        (Granule::K64, Form::Plain, 1, false),
        (Granule::K64, Form::Plain, 2, true),
        (Granule::K64, Form::Lpa, 1, true),
        (Granule::K64, Form::Lpa, 2, true),
    ] {
        let shape = Shape { granule, ia_bits: if form == Form::Plain { 48 } else { 52 }, form };
        let t = Tables::new();
        let root = t.alloc();
        let size = 1u64 << shape.leaf_log2(level);
        let (base, pa) = if legal { (size, 3 * size) } else { (0, 0) };
        t.map(shape, root, base, pa, level, AF);
        let got = walk(&stage1(shape, root), va(base + 0x1234), READ, &t);
        if legal {
            let e = got.unwrap();
            assert_eq!((e.va.0, e.pa.0, e.size(), e.level), (base, pa, size, level), "{shape:?}");
        } else {
            assert_eq!(what(got.unwrap_err()), (FaultKind::Translation, level), "{shape:?}");
        }
    }
}

/// Every fault kind at every level, with its status code.
#[test]
fn fault_at_every_level() {
    let wide = Shape { granule: Granule::K4, ia_bits: 52, form: Form::Lpa2 };
    for level in -1..=3i8 {
        let t = Tables::new();
        let root = t.alloc();
        let at = 0x123_4567_8000_u64;
        let slot = t.slot(wide, root, at, level);
        // PS = 48 bits here, so a 52-bit address in a descriptor is out of range.
        let s = Stage1::new(&Regs { tcr: wide.tcr(5), ..regs(wide, root, root) }, &features(wide));
        let fault = |descriptor: u64, access: Access| {
            t.set(slot, descriptor);
            let f = walk(&s, va(at), access, &t).unwrap_err();
            assert_eq!((f.level, f.steps), (level, (level + 2) as u8), "{descriptor:#x}");
            (f.kind, f.fsc())
        };
        let l = (level & 3) as u8;
        let pick = |minus_one: u8, base: u8| if level < 0 { minus_one } else { base + l };
        assert_eq!(fault(0, READ), (FaultKind::Translation, pick(0x2b, 0x04)));
        assert_eq!(fault(2, READ), (FaultKind::Translation, pick(0x2b, 0x04)));
        let big = wide.address(1 << 50);
        if level == 3 {
            assert_eq!(fault(AF | 1, READ), (FaultKind::Translation, 0x07), "reserved at level 3");
        }
        if level == -1 {
            assert_eq!(fault(AF | 1, READ), (FaultKind::Translation, 0x2b), "no block at level -1");
        }
        assert_eq!(fault(big | AF | 3, READ), (FaultKind::AddressSize, pick(0x29, 0x00)));
        if level >= 0 {
            let leaf = if level == 3 { 3 } else { 1 };
            assert_eq!(fault(leaf, READ), (FaultKind::AccessFlag, 0x08 + l));
            assert_eq!(fault(leaf | AF, READ0), (FaultKind::Permission, 0x0c + l));
            assert_eq!(fault(leaf | AF | AP2, WRITE), (FaultKind::Permission, 0x0c + l));
            assert_eq!(fault(leaf | AF | PXN, FETCH), (FaultKind::Permission, 0x0c + l));
        }
        t.abort_at.set(Some(slot));
        let f = walk(&s, va(at), READ, &t).unwrap_err();
        assert_eq!((f.kind, f.level, f.fsc()), (FaultKind::ExternalOnWalk, level, pick(0x13, 0x14)));
    }
}

/// An Address size fault beats the Access flag, which beats permissions.
#[test]
fn fault_priority() {
    let t = Tables::new();
    let root = t.alloc();
    let s = Stage1::new(&Regs { tcr: K4.tcr(0), ..regs(K4, root, root) }, &features(K4));
    t.map(K4, root, 0, 1 << 40, 3, AP2);
    assert_eq!(what(walk(&s, va(0), WRITE0, &t).unwrap_err()), (FaultKind::AddressSize, 3));
    t.map(K4, root, 0, 1 << 20, 3, AP2);
    assert_eq!(what(walk(&s, va(0), WRITE0, &t).unwrap_err()), (FaultKind::AccessFlag, 3));
    t.map(K4, root, 0, 1 << 20, 3, AP2 | AF);
    assert_eq!(what(walk(&s, va(0), WRITE0, &t).unwrap_err()), (FaultKind::Permission, 3));
}

/// IPS limits, the PE's own size limits IPS.
#[test]
fn output_size() {
    for (ps, bits) in [(0, 32), (1, 36), (2, 40), (3, 42), (4, 44), (5, 48), (6, 48), (7, 48)] {
        for pe in [32, 40, 48] {
            let t = Tables::new();
            let root = t.alloc();
            let f = MmuFeatures { pa_bits: pe, ..features(K4) };
            let s = Stage1::new(&Regs { tcr: K4.tcr(ps), ..regs(K4, root, root) }, &f);
            let limit = bits.min(u32::from(pe));
            t.map(K4, root, 0, (1 << limit) - 0x1000, 3, AF);
            assert!(walk(&s, va(0), READ, &t).is_ok(), "PS {ps}, PE {pe}");
            if limit < 48 {
                t.map(K4, root, 0, 1 << limit, 3, AF);
                assert_eq!(what(walk(&s, va(0), READ, &t).unwrap_err()), (FaultKind::AddressSize, 3), "{ps} {pe}");
            }
        }
    }
}

#[test]
fn table_base_out_of_range_is_level_0() {
    let t = Tables::new();
    let s = Stage1::new(&Regs { tcr: K4.tcr(0), ..regs(K4, 1 << 32, 0) }, &features(K4));
    assert_eq!(what(walk(&s, va(0), READ, &t).unwrap_err()), (FaultKind::AddressSize, 0));
}

/// Bits [51:48] of a 52-bit table base lie in TTBR[5:2]; CnP and the ASID are no part of it.
#[test]
fn wide_table_base() {
    for shape in [
        Shape { granule: Granule::K64, ia_bits: 48, form: Form::Lpa },
        Shape { granule: Granule::K4, ia_bits: 48, form: Form::Lpa2 },
        Shape { granule: Granule::K16, ia_bits: 48, form: Form::Lpa2 },
    ] {
        let t = Tables::new();
        let root = 0xf_0000_0012_0000_u64;
        let ttbr = 0xabcd << 48 | root & 0xffff_ffff_ffff | (root >> 48) << 2 | 1;
        let s = stage1(shape, ttbr);
        let level = shape.start_level();
        let f = walk(&s, va(0), READ, &t).unwrap_err();
        assert_eq!(what(f), (FaultKind::Translation, level));
        t.abort_at.set(Some(root));
        assert_eq!(what(walk(&s, va(0), READ, &t).unwrap_err()), (FaultKind::ExternalOnWalk, level), "{shape:?}");
    }
}

#[test]
fn hierarchical_permissions() {
    const NO_EL0: u64 = 1 << 61;
    const NO_WRITE: u64 = 1 << 62;
    const UXN_TABLE: u64 = 1 << 60;
    const PXN_TABLE: u64 = 1 << 59;
    for limited_level in 0..3 {
        for limit in [NO_EL0, NO_WRITE, UXN_TABLE, PXN_TABLE] {
            let t = Tables::new();
            let root = t.alloc();
            let leaf_bits = AF | AP1 | if limit == PXN_TABLE { AP2 } else { 0 };
            t.map(K4, root, 0, 0x4000_0000, 3, leaf_bits);
            let table = t.slot(K4, root, 0, limited_level);
            t.set(table, t.get(table) | limit);
            let denied = match limit {
                NO_EL0 => READ0,
                NO_WRITE => WRITE0,
                UXN_TABLE => Access::new(AccessKind::Fetch, Privilege::El0),
                _ => FETCH,
            };
            let s = stage1(K4, root);
            assert_eq!(what(walk(&s, va(0), denied, &t).unwrap_err()), (FaultKind::Permission, 3));
            let e = walk(&s, va(0), READ, &t).unwrap();
            assert_eq!(e.perms.has(Perms::EL0), limit != NO_EL0);
            assert_eq!(e.perms.has(Perms::READ_ONLY), limit == NO_WRITE || limit == PXN_TABLE);
            assert_eq!(e.perms.has(Perms::UXN), limit == UXN_TABLE);
            assert_eq!(e.perms.has(Perms::PXN), limit == PXN_TABLE);
            // HPD0 switches them off, HPD1 does not.
            let r = regs(K4, root, root);
            let hpd0 = Stage1::new(&Regs { tcr: r.tcr | 1 << 41, ..r }, &features(K4));
            assert!(walk(&hpd0, va(0), denied, &t).is_ok());
            let hpd1 = Stage1::new(&Regs { tcr: r.tcr | 1 << 42, ..r }, &features(K4));
            assert!(walk(&hpd1, va(0), denied, &t).is_err());
            let no_feature = MmuFeatures { hpds: Switch::Off, ..features(K4) };
            let ignored = Stage1::new(&Regs { tcr: r.tcr | 1 << 41, ..r }, &no_feature);
            assert!(walk(&ignored, va(0), denied, &t).is_err());
        }
    }
}

#[test]
fn contiguous_runs() {
    for (shape, level, run) in
        [(K4, 3, 16), (K4, 2, 16), (K4, 1, 16), (K16, 3, 128), (K16, 2, 32), (K64, 3, 32), (K64, 2, 32)]
    {
        let t = Tables::new();
        let root = t.alloc();
        let one = 1u64 << shape.leaf_log2(level);
        let size = one * run;
        let at = size + 5 * one;
        let pa = 2 * size;
        t.map(shape, root, at, pa + 5 * one, level, AF | CONT);
        let s = stage1(shape, root);
        let e = walk(&s, va(at + 7), READ, &t).unwrap();
        assert_eq!((e.va.0, e.pa.0, e.size(), e.contiguous), (size, pa, size, Contiguous::Run), "{shape:?}");
        assert_eq!(e.output(va(at + 7)).0, pa + 5 * one + 7);
        // Misprogrammed: the descriptor's address does not belong where it stands.
        t.map(shape, root, at, pa + 6 * one, level, AF | CONT);
        let e = walk(&s, va(at + 7), READ, &t).unwrap();
        assert_eq!((e.va.0, e.pa.0, e.size(), e.contiguous), (at, pa + 6 * one, one, Contiguous::Single));
        t.map(shape, root, at, pa + 5 * one, level, AF);
        assert_eq!(walk(&s, va(at), READ, &t).unwrap().contiguous, Contiguous::Single);
    }
}

#[test]
fn access_flag_in_memory() {
    const HA: u64 = 1 << 39;
    let t = Tables::new();
    let root = t.alloc();
    let slot = t.map(K4, root, 0, 0x4000_0000, 3, NG);
    let r = Regs { tcr: K4.tcr(5) | HA, ..regs(K4, root, root) };
    let s = Stage1::new(&r, &features(K4));
    let before = t.get(slot);
    let at = Access::new(AccessKind::AtRead, Privilege::El1);
    assert_eq!(walk(&s, va(0), at, &t).unwrap().caching, Caching::Never, "AT changes nothing");
    assert!(walk(&s, va(0), READ0, &t).is_err(), "a fault changes nothing");
    assert_eq!(t.get(slot), before);
    assert_eq!(walk(&s, va(0), READ, &t).unwrap().caching, Caching::Tlb);
    assert_eq!(t.get(slot), before | AF);
    // Without the feature, HA means nothing.
    t.set(slot, before);
    let none = Stage1::new(&r, &MmuFeatures { hafdbs: HwUpdate::None, ..features(K4) });
    assert_eq!(what(walk(&none, va(0), READ, &t).unwrap_err()), (FaultKind::AccessFlag, 3));
}

#[test]
fn dirty_state_in_memory() {
    const HA: u64 = 1 << 39;
    const HD: u64 = 1 << 40;
    let t = Tables::new();
    let root = t.alloc();
    let clean = |bits: u64| t.map(K4, root, 0, 0x4000_0000, 3, AF | DBM | AP2 | bits);
    let slot = clean(0);
    let before = t.get(slot);
    let with = |tcr: u64, hafdbs: HwUpdate| {
        Stage1::new(&Regs { tcr: K4.tcr(5) | tcr, ..regs(K4, root, root) }, &MmuFeatures { hafdbs, ..features(K4) })
    };
    for off in [with(HA, HwUpdate::Dirty), with(HD, HwUpdate::Dirty), with(HA | HD, HwUpdate::AccessFlag)] {
        assert_eq!(what(walk(&off, va(0), WRITE, &t).unwrap_err()), (FaultKind::Permission, 3));
        assert_eq!(walk(&off, va(0), READ, &t).unwrap().dirty, Dirty::NotTracked);
    }
    let s = with(HA | HD, HwUpdate::Dirty);
    let e = walk(&s, va(0), READ, &t).unwrap();
    assert_eq!((e.dirty, e.perms.has(Perms::READ_ONLY)), (Dirty::Clean, false));
    let at = Access::new(AccessKind::AtWrite, Privilege::El1);
    assert_eq!(walk(&s, va(0), at, &t).unwrap().dirty, Dirty::Clean);
    assert_eq!(t.get(slot), before, "neither a read nor AT makes it dirty");
    assert!(walk(&s, va(0), WRITE0, &t).is_err());
    assert_eq!(t.get(slot), before, "nor a write that faults");
    for kind in [AccessKind::Write, AccessKind::ReadWrite] {
        t.set(slot, before & !AF);
        let e = walk(&s, va(0), Access::new(kind, Privilege::El1), &t).unwrap();
        assert_eq!(e.dirty, Dirty::Marked);
        assert_eq!(t.get(slot), before & !AP2, "Access flag and dirty state in one update");
    }
    // APTable still forbids writes.
    clean(0);
    let table = t.slot(K4, root, 0, 2);
    t.set(table, t.get(table) | 1 << 62);
    assert_eq!(what(walk(&s, va(0), WRITE, &t).unwrap_err()), (FaultKind::Permission, 3));
    assert_eq!(t.get(slot), before);
}

#[test]
fn update_meets_another_pe() {
    let t = Tables::new();
    let root = t.alloc();
    let slot = t.map(K4, root, 0, 0x4000_0000, 3, 0);
    let s = Stage1::new(&Regs { tcr: K4.tcr(5) | 1 << 39, ..regs(K4, root, root) }, &features(K4));
    // The other PE moves the page meanwhile: the new address counts, and it gets the flag.
    t.race.set(Some(0x5000_0000 | 3));
    assert_eq!(walk(&s, va(0), READ, &t).unwrap().pa.0, 0x5000_0000);
    assert_eq!(t.get(slot), 0x5000_0000 | 3 | AF);
    // It unmaps the page: a fault, and nothing is written.
    t.set(slot, 0x5000_0000 | 3);
    t.race.set(Some(0));
    assert_eq!(what(walk(&s, va(0), READ, &t).unwrap_err()), (FaultKind::Translation, 3));
    assert_eq!(t.get(slot), 0);
    // It replaces a block by a table.
    let block = t.map(K4, root, 0x4000_0000, 0x8000_0000, 2, 0);
    let table = t.alloc();
    t.set(table, 0x6000_0000 | AF | 3);
    t.race.set(Some(table | 3));
    let e = walk(&s, va(0x4000_0000), READ, &t).unwrap();
    assert_eq!((e.pa.0, e.level), (0x6000_0000, 3));
    assert_eq!(t.get(block), table | 3);
}

#[test]
fn nt_bit() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0, 0x4000_0000, 2, AF | NT);
    let with = |bbm, nt| Stage1::new(&regs(K4, root, root), &MmuFeatures { bbm, nt, ..features(K4) });
    assert_eq!(walk(&with(0, NtPolicy::Faults), va(0), READ, &t).unwrap().caching, Caching::Tlb);
    for bbm in 1..=2 {
        assert_eq!(walk(&with(bbm, NtPolicy::Uncached), va(0), READ, &t).unwrap().caching, Caching::Never);
        let f = walk(&with(bbm, NtPolicy::Faults), va(0), READ, &t).unwrap_err();
        assert_eq!(what(f), (FaultKind::Translation, 2));
    }
    // In a page descriptor bit 16 is part of the address.
    t.map(K4, root, 0x4000_0000, 0x1_0000, 3, AF);
    let e = walk(&with(2, NtPolicy::Faults), va(0x4000_0000), READ, &t).unwrap();
    assert_eq!((e.pa.0, e.caching), (0x1_0000, Caching::Tlb));
}

#[test]
fn big_endian_tables() {
    let t = Tables::new();
    let root = t.alloc();
    let slot = t.map(K4, root, 0, 0x4000_0000, 3, 0);
    let plain = t.get(slot);
    for word in t.words.borrow_mut().values_mut() {
        *word = word.swap_bytes();
    }
    let r = Regs { sctlr: 1 | 1 << 25, tcr: K4.tcr(5) | 1 << 39, ..regs(K4, root, root) };
    let s = Stage1::new(&r, &features(K4));
    assert_eq!(walk(&s, va(0), READ, &t).unwrap().pa.0, 0x4000_0000);
    assert_eq!(t.get(slot).swap_bytes(), plain | AF);
    assert!(walk(&stage1(K4, root), va(0), READ, &t).is_err());
}

#[test]
fn top_byte() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0x1000, 0x4000_0000, 3, AF | AP1 | AP2);
    t.map(K4, root, 0xffff_ffff_ffff_f000, 0x5000_0000, 3, AF | AP1 | AP2);
    let base = regs(K4, root, root);
    let with = |tcr: u64| Stage1::new(&Regs { tcr: base.tcr | tcr, ..base }, &features(K4));
    let (tbi0, tbi1, tbid0) = (1 << 37, 1 << 38, 1 << 51);
    let low = va(0xab00_0000_0000_1000);
    let high = va(0x12ff_ffff_ffff_f000);
    assert!(walk(&with(0), low, READ, &t).is_err());
    assert_eq!(walk(&with(tbi0), low, READ, &t).unwrap().va, va(0x1000));
    assert!(walk(&with(tbi0), high, READ, &t).is_err());
    assert_eq!(walk(&with(tbi1), high, READ, &t).unwrap().va, va(0xffff_ffff_ffff_f000));
    assert!(walk(&with(tbi0), low, FETCH, &t).is_ok());
    assert!(walk(&with(tbi0 | tbid0), low, FETCH, &t).is_err());
    assert!(walk(&with(tbi0 | tbid0), low, READ, &t).is_ok());
    assert!(walk(&with(tbi0), va(0x00f0_0000_0000_1000), READ, &t).is_err(), "bits 55:48 always count");
}

#[test]
fn walk_disables() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0, 0x4000_0000, 3, AF | AP1);
    t.map(K4, root, 0xffff_0000_0000_0000, 0x4000_0000, 3, AF | AP1);
    let base = regs(K4, root, root);
    let try_with = |tcr: u64, at: u64, access: Access| {
        let s = Stage1::new(&Regs { tcr: base.tcr | tcr, ..base }, &features(K4));
        walk(&s, va(at), access, &t).err().map(|f| (what(f), f.steps))
    };
    let level_0 = Some(((FaultKind::Translation, 0), 0));
    let (low, high) = (0, 0xffff_0000_0000_0000);
    // EPD0, EPD1.
    assert_eq!(try_with(1 << 7, low, READ), level_0);
    assert_eq!(try_with(1 << 7, high, READ), None);
    assert_eq!(try_with(1 << 23, high, READ), level_0);
    assert_eq!(try_with(1 << 23, low, READ), None);
    // E0PD0, E0PD1: unprivileged accesses only.
    for (bit, hit, miss) in [(55, low, high), (56, high, low)] {
        assert_eq!(try_with(1 << bit, hit, READ0), level_0);
        assert_eq!(try_with(1 << bit, hit, READ), None);
        assert_eq!(try_with(1 << bit, miss, READ0), None);
    }
}

#[test]
fn asid_choice() {
    let t = Tables::new();
    let root = t.alloc();
    t.map(K4, root, 0, 0x4000_0000, 3, AF | NG);
    t.map(K4, root, 0x1000, 0x4000_0000, 3, AF);
    let base = regs(K4, root | 0x1234 << 48, root | 0x5678 << 48);
    let scope = |tcr: u64, f: MmuFeatures| {
        walk(&Stage1::new(&Regs { tcr: base.tcr | tcr, ..base }, &f), va(0), READ, &t).unwrap().scope
    };
    let (a1, as16) = (1 << 22, 1 << 36);
    assert_eq!(scope(as16, features(K4)), Scope::Asid(0x1234));
    assert_eq!(scope(as16 | a1, features(K4)), Scope::Asid(0x5678));
    assert_eq!(scope(0, features(K4)), Scope::Asid(0x34));
    assert_eq!(scope(as16, MmuFeatures { asid16: Switch::Off, ..features(K4) }), Scope::Asid(0x34));
    let s = Stage1::new(&base, &features(K4));
    assert_eq!(walk(&s, va(0x1000), READ, &t).unwrap().scope, Scope::Global);
}

#[test]
fn attributes() {
    let t = Tables::new();
    let root = t.alloc();
    let s = stage1(K4, root); // MAIR: 0 write-back, 1 Device-nGnRE, 2 Non-cacheable
    for (index, sh, attr, expect) in [
        (0, 3, 0xff, Shareability::Inner),
        (0, 2, 0xff, Shareability::Outer),
        (0, 0, 0xff, Shareability::Non),
        (1, 0, 0x04, Shareability::Outer),
        (2, 3, 0x44, Shareability::Outer),
    ] {
        t.map(K4, root, 0, 0x4000_0000, 3, AF | index << 2 | sh << 8);
        let e = walk(&s, va(0), READ, &t).unwrap();
        assert_eq!((e.attr, e.sh), (MemAttr(attr), expect));
        assert_eq!(e.guarded, Guarded::No);
    }
    t.map(K4, root, 0, 0x4000_0000, 3, AF | 1 << 50);
    assert_eq!(walk(&s, va(0), READ, &t).unwrap().guarded, Guarded::Yes);
    // With DS, shareability is TCR's (SH0 = Inner here), and [9:8] are address bits.
    let wide = Shape { granule: Granule::K4, ia_bits: 48, form: Form::Lpa2 };
    let s = Stage1::new(&Regs { tcr: wide.tcr(6) | 3 << 12, ..regs(wide, root, root) }, &features(wide));
    t.map(wide, root, 0, 0xc_0000_4000_0000, 3, AF);
    let e = walk(&s, va(0), READ, &t).unwrap();
    assert_eq!((e.sh, e.pa.0), (Shareability::Inner, 0xc_0000_4000_0000));
}

#[test]
fn translation_off() {
    let t = Tables::new();
    let base = Regs { sctlr: 0, ..regs(K4, 0, 0) };
    let s = Stage1::new(&base, &MmuFeatures { pa_bits: 40, ..features(K4) });
    let e = walk(&s, va(0x12_3456_7890), WRITE0, &t).unwrap();
    assert_eq!(e.output(va(0x12_3456_7890)).0, 0x12_3456_7890);
    assert_eq!((e.attr, e.caching, e.steps), (MemAttr::DEVICE_NGNRNE, Caching::Identity, 0));
    assert_eq!(walk(&s, va(0), FETCH, &t).unwrap().attr, MemAttr::NORMAL_NC);
    let cached = Stage1::new(&Regs { sctlr: 1 << 12, ..base }, &features(K4));
    assert_eq!(walk(&cached, va(0), FETCH, &t).unwrap().attr, MemAttr::NORMAL_WT_RA);
    for outside in [1 << 40, 1 << 55, 1 << 56, u64::MAX] {
        assert_eq!(what(walk(&s, va(outside), READ, &t).unwrap_err()), (FaultKind::AddressSize, 0));
    }
    let tbi = Stage1::new(&Regs { tcr: base.tcr | 1 << 37, ..base }, &features(K4));
    assert_eq!(walk(&tbi, va(0xab00_0000_0000_1000), READ, &t).unwrap().pa.0, 0x1000);
    assert_eq!(t.reads.get(), 0);
}

/// TCR_EL2 has its own layout, one range, no EL0, no ASID.
#[test]
fn el2_regime() {
    let t = Tables::new();
    let root = t.alloc();
    let at = 0x7fff_ffff_f000;
    t.map(K4, root, at, 0x4000_0000, 3, AF | AP1 | NG | PXN);
    let r = Regs { regime: Regime::El2, tcr: 16 | 5 << 16, ..regs(K4, root, 0) };
    let s = Stage1::new(&r, &features(K4));
    let el2 = |kind| Access::new(kind, Privilege::El2);
    let e = walk(&s, va(at), el2(AccessKind::Fetch).with_pan(PanState::On), &t).unwrap();
    assert_eq!((e.scope, e.regime), (Scope::Global, Regime::El2));
    assert!(walk(&s, va(at), el2(AccessKind::Write).with_pan(PanState::On), &t).is_ok());
    assert_eq!(what(walk(&s, va(1 << 63), el2(AccessKind::Read), &t).unwrap_err()), (FaultKind::Translation, 0));
    t.map(K4, root, at, 0x4000_0000, 3, AF | UXN | AP2);
    assert!(walk(&s, va(at), el2(AccessKind::Fetch), &t).is_err());
    assert!(walk(&s, va(at), el2(AccessKind::Write), &t).is_err());
}

/// Writing a TTBR alone is the same as decoding everything.
#[test]
fn set_ttbr() {
    for shape in [K4, K16, K64, Shape { granule: Granule::K64, ia_bits: 48, form: Form::Lpa }] {
        for extra in [0, 1 << 22, 1 << 36, 1 << 22 | 1 << 36, 1 << 7 | 1 << 23] {
            for ps in [0, 6] {
                let r = Regs { tcr: shape.tcr(ps) | extra, ..regs(shape, 0x1000_0001, 0x2000_0000) };
                let (a, b) = (0x1234_0123_4567_003c, 0xfffe_0000_7654_0001);
                let mut s = Stage1::new(&r, &features(shape));
                s.set_ttbr(Half::Lower, a);
                assert_eq!(s, Stage1::new(&Regs { ttbr0: a, ..r }, &features(shape)));
                s.set_ttbr(Half::Upper, b);
                assert_eq!(s, Stage1::new(&Regs { ttbr0: a, ttbr1: b, ..r }, &features(shape)));
                s.set_ttbr(Half::Lower, r.ttbr0);
                s.set_ttbr(Half::Upper, r.ttbr1);
                assert_eq!(s, Stage1::new(&r, &features(shape)));
            }
        }
    }
}
