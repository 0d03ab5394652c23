//! Stage 2: geometry computed a second time on random tables, rights, faults, hardware updates, what both stages make
//! together, and what TLBI removes.

mod common;

use arch::sysreg::Enc;
use arch::{Ipa, Va};
use common::*;
use proptest::prelude::*;
use vambrace_mmu::{
    Access, AccessKind, Caching, Direction, Dirty, Entry, Fault, FaultKind, Granule, HwUpdate, MemAttr, MmuFeatures,
    Origin, Privilege, Regime, Regs, Rights, SecondStage, Source, Stage, Stage1, Stage2, Stage2Cause, Stage2Regs,
    Stage2Tlb, Switch, Tlb, TlbiOp, Translated, translate_through, walk_two,
};

const HCR_VM: u64 = 1;
const S2_READ: u64 = 1 << 6;
const S2_WRITE: u64 = 1 << 7;
/// Normal write-back, all rights, accessed.
const ALL: u64 = 0xf << 2 | S2_READ | S2_WRITE | AF;

/// Stage 2 tables: [`Shape`] has the granule, the size and the form; the walk starts at `start`, at up to 16 concatenated
/// tables.
#[derive(Clone, Copy, Debug)]
struct Tree {
    shape: Shape,
    start: i8,
}

impl Tree {
    fn lowest_bit(self, level: i8) -> u32 {
        Shape { ia_bits: 52, ..self.shape }.index_bits(level).1
    }
    fn index(self, level: i8, ipa: u64) -> u64 {
        let lo = self.lowest_bit(level);
        // The start level has whatever is left of the address; the others what their tables have room for.
        let bits = if level == self.start { self.shape.ia_bits - lo } else { self.shape.page_bits() - 3 };
        ipa >> lo & ((1 << bits) - 1)
    }
    fn slot(self, t: &Tables, root: u64, ipa: u64, level: i8) -> u64 {
        let mut table = root;
        for at in self.start..=level {
            let slot = table + 8 * self.index(at, ipa);
            if at == level {
                return slot;
            }
            if t.get(slot) & 3 != 3 {
                t.set(slot, self.shape.address(t.alloc()) | 3);
            }
            table = t.get(slot) & 0xffff_0000;
        }
        unreachable!("a level below the start");
    }
    fn map(self, t: &Tables, root: u64, ipa: u64, pa: u64, level: i8, bits: u64) -> u64 {
        let slot = self.slot(t, root, ipa, level);
        t.set(slot, self.shape.address(pa) | bits | if level == 3 { 3 } else { 1 });
        slot
    }
    /// VTCR_EL2.{SL2, SL0} of the start level, by the manual's table.
    fn start_fields(self) -> u64 {
        let (sl2, sl0) = match (self.shape.granule, self.start) {
            (Granule::K4, -1) => (1, 0),
            (Granule::K4, 2) | (Granule::K16 | Granule::K64, 3) => (0, 0),
            (Granule::K4, 1) | (Granule::K16 | Granule::K64, 2) => (0, 1),
            (Granule::K4, 0) | (Granule::K16 | Granule::K64, 1) => (0, 2),
            (Granule::K4, 3) | (Granule::K16, 0) => (0, 3),
            other => panic!("{other:?}"),
        };
        sl2 << 33 | sl0 << 6
    }
    fn vtcr(self) -> u64 {
        let tg0 = match self.shape.granule {
            Granule::K4 => 0,
            Granule::K64 => 1,
            Granule::K16 => 2,
        };
        let ps = if self.shape.form == Form::Plain { 5 } else { 6 };
        let ds = u64::from(self.shape.form == Form::Lpa2);
        u64::from(64 - self.shape.ia_bits) | self.start_fields() | tg0 << 14 | ps << 16 | ds << 32
    }
    fn stage2(self, root: u64) -> Stage2 {
        let regs = Stage2Regs { hcr: HCR_VM, vtcr: self.vtcr(), vttbr: root };
        Stage2::new(&regs, &features(self.shape))
    }
    fn may_hold_a_leaf(self, level: i8) -> bool {
        let wide = self.shape.form != Form::Plain;
        match (self.shape.granule, level) {
            (_, 2 | 3) | (Granule::K4, 1) => true,
            (Granule::K4, 0) | (Granule::K16 | Granule::K64, 1) => wide,
            _ => false,
        }
    }
}

/// Every shape that VTCR_EL2 can ask for.
fn trees() -> impl Strategy<Value = Tree> {
    let granule = prop_oneof![Just(Granule::K4), Just(Granule::K16), Just(Granule::K64)];
    (granule, any::<bool>(), -1i8..=3, 1u32..=17).prop_filter_map("no such shape", |(granule, wide, start, bits)| {
        let form = match (granule, wide) {
            (_, false) => Form::Plain,
            (Granule::K64, true) => Form::Lpa,
            (_, true) => Form::Lpa2,
        };
        let lpa2 = form == Form::Lpa2;
        let exists = match (granule, start) {
            (Granule::K4, -1) | (Granule::K16, 0) => lpa2,
            (Granule::K64, -1 | 0) | (Granule::K16, -1) => false,
            _ => true,
        };
        if !exists {
            return None;
        }
        let shape = Shape { granule, ia_bits: 52, form };
        let ia_bits = shape.index_bits(start).1 + bits;
        let most = if form == Form::Plain { 48 } else { 52 };
        let least = if granule == Granule::K64 { 17 } else { 16 };
        let concatenated = bits <= shape.page_bits() - 3 + 4;
        (concatenated && (least..=most).contains(&ia_bits)).then_some(Tree { shape: Shape { ia_bits, ..shape }, start })
    })
}

fn stage2_walk(s: &Stage2, ipa: u64, access: Access, t: &Tables) -> Result<vambrace_mmu::Stage2Entry, Fault> {
    s.walk(Ipa(ipa), access, Stage2Cause::Output, t)
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn a_leaf_maps_what_it_should_and_nothing_else(tree in trees(), level in 0i8..=3, at: u64, to: u64, other: u64) {
        prop_assume!(level >= tree.start && tree.may_hold_a_leaf(level));
        let size = tree.lowest_bit(level);
        // A start level that is not filled up ends within one block.
        let ipa = at & ((1 << tree.shape.ia_bits) - 1) & !((1 << size) - 1);
        let top = if tree.shape.form == Form::Plain { 48 } else { 52 };
        let pa = to & ((1 << top) - 1) & !((1 << size) - 1);
        let t = Tables::new();
        // Room for 16 concatenated tables, aligned to their size.
        let root = 0x100_0000;
        tree.map(&t, root, ipa, pa, level, ALL);
        let s = tree.stage2(root);
        let inside = ipa | other & ((1 << size) - 1);
        let entry = stage2_walk(&s, inside, READ, &t).unwrap();
        prop_assert_eq!((entry.ipa.0, entry.pa.0, u32::from(entry.size_log2)), (ipa, pa, size));
        prop_assert_eq!(entry.output(Ipa(inside)).0, pa | inside & ((1 << size) - 1));
        prop_assert_eq!(i8::try_from(entry.steps).unwrap(), level - tree.start + 1);
        // Another address: a fault at the level where its way leaves that of the leaf.
        let elsewhere = other & ((1 << tree.shape.ia_bits) - 1);
        let parts = (tree.start..=level).find(|l| tree.index(*l, elsewhere) != tree.index(*l, ipa));
        match parts {
            Some(parts) => prop_assert_eq!(what(stage2_walk(&s, elsewhere, READ, &t).unwrap_err()), (FaultKind::Translation, parts)),
            None => prop_assert!(stage2_walk(&s, elsewhere, READ, &t).is_ok()),
        }
        // Beyond the input size.
        if tree.shape.ia_bits < 52 {
            let fault = stage2_walk(&s, 1 << tree.shape.ia_bits | inside, READ, &t).unwrap_err();
            prop_assert_eq!(what(fault), (FaultKind::Translation, 0));
        }
    }

    /// Both stages: the smaller size, the composed address, for any address of the entry.
    #[test]
    fn two_stages_compose(second in trees(), level2 in 0i8..=3, level1 in 1i8..=3, at: u64, inside: u64, vmid: u8) {
        prop_assume!(level2 >= second.start && second.may_hold_a_leaf(level2) && second.shape.ia_bits >= 33);
        let t = Tables::new();
        let (root1, root2) = (t.alloc(), 0x100_0000);
        let size1 = K4.leaf_log2(level1);
        let size2 = second.lowest_bit(level2);
        let va = at & 0xffff_ffff_ffff & !((1 << size1) - 1);
        // Above the tables, within the input of stage 2.
        let ipa_at = 1 << 32 | at >> 7 & ((1 << 32) - 1);
        let ipa = ipa_at & !((1 << size1) - 1);
        let pa = 0x7_1234_5678_0000 & 0x7fff_ffff_ffff & !((1 << size2) - 1);
        t.map(K4, root1, va, ipa, level1, AF);
        // The tables of stage 1 map to themselves, unless the leaf's block holds them.
        let target = (ipa | inside & ((1 << size1) - 1)) & ((1 << second.shape.ia_bits) - 1);
        let page = 1u64 << second.shape.page_bits();
        let holds = |a: u64| (a ^ target) >> size2 == 0;
        prop_assume!(!holds(0x10_0000) && !holds(0x1f_0000));
        for table in (0x10_0000..0x18_0000u64).step_by(page as usize) {
            second.map(&t, root2, table, table, 3, ALL);
        }
        let slot = second.slot(&t, root2, target, level2);
        prop_assume!(t.get(slot) & 3 != 3);
        second.map(&t, root2, target & !((1 << size2) - 1), pa, level2, ALL);
        let s2 = second.stage2(root2 | u64::from(vmid) << 48);
        let regs = Regs { vmid: u16::from(vmid), stage2: Switch::On, ..regs(K4, root1, root1) };
        let s1 = Stage1::new(&regs, &features(K4));
        let address = va | inside & ((1 << size1) - 1);
        prop_assume!(ipa | inside & ((1 << size1) - 1) == target);
        let expected = pa | target & ((1 << size2) - 1);
        let walked = walk_two(&s1, &s2, Va(address), READ, &t).unwrap();
        let size = size1.min(size2);
        prop_assert_eq!(u32::from(walked.size_log2), size);
        prop_assert_eq!(walked.output(Va(address)).0, expected);
        prop_assert_eq!(walked.va.0, address & !((1 << size) - 1));
        prop_assert_eq!(walked.vmid, u16::from(vmid));
        // Through the TLBs: the same from a walk, from what is held of stage 2, and from the combination.
        let (mut tlb, mut held) = (Tlb::new(), Stage2Tlb::new());
        let mut go = |tlb: &mut Tlb| {
            let second = SecondStage { stage2: &s2, held: &mut held };
            translate_through(&s1, Some(second), tlb, Va(address), READ, &t, |_| {}).unwrap()
        };
        let same = |t: Translated| Entry { steps: walked.steps, ..t.entry } == walked;
        let first = go(&mut tlb);
        prop_assert!(same(first) && first.source == Source::Walk);
        prop_assert!(go(&mut tlb).source == Source::Tlb);
        let again = go(&mut Tlb::new());
        prop_assert!(same(again) && again.source == Source::Walk && again.entry.steps < first.entry.steps);
    }
}

const PLAIN: Tree = Tree { shape: Shape { granule: Granule::K4, ia_bits: 40, form: Form::Plain }, start: 1 };
const ROOT: u64 = 0x100_0000;
const IPA: u64 = 0x40_1234_5000;

fn access(kind: AccessKind, privilege: Privilege) -> Access {
    Access::new(kind, privilege)
}

/// S2AP and XN with and without FEAT_XNX (the tables of D8.4.5 and D8.4.6).
#[test]
fn rights() {
    for (xnx, xn, el1, el0) in [
        (Switch::On, 0, true, true),
        (Switch::On, 1, false, true),
        (Switch::On, 2, false, false),
        (Switch::On, 3, true, false),
        (Switch::Off, 0, true, true),
        (Switch::Off, 1, true, true),
        (Switch::Off, 2, false, false),
        (Switch::Off, 3, false, false),
    ] {
        for s2ap in 0..4u64 {
            let t = Tables::new();
            PLAIN.map(&t, ROOT, IPA, 0x9000, 3, 0xf << 2 | AF | s2ap << 6 | xn << 53);
            let features = MmuFeatures { xnx, ..features(PLAIN.shape) };
            let s = Stage2::new(&Stage2Regs { hcr: HCR_VM, vtcr: PLAIN.vtcr(), vttbr: ROOT }, &features);
            for (privilege, fetch) in [(Privilege::El1, el1), (Privilege::El0, el0)] {
                for (kind, allowed) in [
                    (AccessKind::Read, s2ap & 1 != 0),
                    (AccessKind::Write, s2ap & 2 != 0),
                    (AccessKind::ReadWrite, s2ap == 3),
                    (AccessKind::Fetch, fetch),
                ] {
                    match stage2_walk(&s, IPA, access(kind, privilege), &t) {
                        Ok(entry) => {
                            assert!(allowed, "{kind:?} {s2ap} {xn}");
                            assert_eq!(entry.rights.of(privilege).contains(Rights::FETCH), fetch);
                        }
                        Err(fault) => {
                            assert!(!allowed, "{kind:?} {s2ap} {xn}");
                            assert_eq!(what(fault), (FaultKind::Permission, 3));
                            assert_eq!(fault.stage, Stage::Two { ipa: Ipa(IPA), cause: Stage2Cause::Output });
                        }
                    }
                }
            }
        }
    }
}

/// VTCR_EL2.HA and HD.
#[test]
fn hardware_updates() {
    use AccessKind::{AtWrite, Fetch, Read, Write};
    let none = 0xf << 2 | S2_READ;
    for (control, start, kind, end) in [
        (0, none, Read, None),
        (1, none, Read, Some(none | AF)),
        (1, none, Fetch, Some(none | AF)),
        (1, none, Write, None),
        (1, none, AtWrite, None),
        (3, none, Write, None),
        (3, none | DBM, Write, Some(none | DBM | AF | S2_WRITE)),
        (3, none | DBM, Read, Some(none | DBM | AF)),
        (1, none | DBM, Write, None),
        (3, none | DBM | AF, AtWrite, Some(none | DBM | AF)),
    ] {
        let t = Tables::new();
        let slot = PLAIN.map(&t, ROOT, IPA, 0x9000, 3, start);
        let before = t.get(slot);
        let regs = Stage2Regs { hcr: HCR_VM, vtcr: PLAIN.vtcr() | control << 21, vttbr: ROOT };
        let s = Stage2::new(&regs, &features(PLAIN.shape));
        let found = stage2_walk(&s, IPA, access(kind, Privilege::El1), &t);
        if let Some(end) = end {
            let entry = found.unwrap();
            assert_eq!(t.get(slot), 0x9000 | end | 3, "{control} {start:#x} {kind:?}");
            assert!(kind != Write || entry.dirty == Dirty::Marked);
        } else {
            found.unwrap_err();
            assert_eq!(t.get(slot), before);
        }
        // Without FEAT_HAFDBS the controls are nothing.
        let old = MmuFeatures { hafdbs: HwUpdate::None, ..features(PLAIN.shape) };
        let plain = stage2_walk(&Stage2::new(&regs, &old), IPA, READ, &t).is_ok();
        assert_eq!(plain, t.get(slot) & AF != 0);
    }
}

/// Contiguous runs, nT, and block sizes that the granule does not have.
#[test]
fn leaves() {
    let t = Tables::new();
    let base = IPA & !0xffff;
    for n in 0..16 {
        PLAIN.map(&t, ROOT, base + n * 0x1000, 0x9_0000 + n * 0x1000, 3, ALL | CONT);
    }
    let s = PLAIN.stage2(ROOT);
    let entry = stage2_walk(&s, base + 0x5123, READ, &t).unwrap();
    assert_eq!((entry.ipa.0, entry.pa.0, entry.size_log2), (base, 0x9_0000, 16));
    // nT at BBM level 1: not held, or a fault.
    let t = Tables::new();
    PLAIN.map(&t, ROOT, IPA & !0x1f_ffff, 0x20_0000, 2, ALL | NT);
    assert_eq!(stage2_walk(&s, IPA, READ, &t).unwrap().caching, Caching::Never);
    let old = MmuFeatures { bbm: 0, ..features(PLAIN.shape) };
    let regs = Stage2Regs { hcr: HCR_VM, vtcr: PLAIN.vtcr(), vttbr: ROOT };
    assert_eq!(stage2_walk(&Stage2::new(&regs, &old), IPA, READ, &t).unwrap().caching, Caching::Tlb);
    // A block at level 0 needs 52-bit addresses; so does one of 16 KiB tables at level 1.
    for tree in [
        Tree { shape: Shape { granule: Granule::K4, ia_bits: 48, form: Form::Plain }, start: 0 },
        Tree { shape: Shape { granule: Granule::K16, ia_bits: 40, form: Form::Plain }, start: 1 },
        Tree { shape: Shape { granule: Granule::K64, ia_bits: 46, form: Form::Plain }, start: 1 },
    ] {
        let t = Tables::new();
        tree.map(&t, ROOT, 0, 0, tree.start, ALL);
        let fault = stage2_walk(&tree.stage2(ROOT), 0x1000, READ, &t);
        if tree.shape.granule == Granule::K64 {
            // 52 bits of address are there with this granule wherever they are at all.
            assert!(!tree.may_hold_a_leaf(1));
        }
        assert_eq!(what(fault.unwrap_err()), (FaultKind::Translation, tree.start), "{tree:?}");
    }
}

/// What VTCR_EL2 asks for and the PE has not, or what does not fit: a level 0 Translation fault.
#[test]
fn set_ups_that_do_not_fit() {
    let old = MmuFeatures { ttst: Switch::Off, pa_bits: 40, ..MmuFeatures::V8_0 };
    let of = |granule, ia_bits, start, features: &MmuFeatures| {
        let tree = Tree { shape: Shape { granule, ia_bits, form: Form::Plain }, start };
        let t = Tables::new();
        let s = Stage2::new(&Stage2Regs { hcr: HCR_VM, vtcr: tree.vtcr(), vttbr: ROOT }, features);
        what(stage2_walk(&s, 0, READ, &t).unwrap_err())
    };
    let plain = features(PLAIN.shape);
    for (granule, ia_bits, start, features, bad) in [
        // One bit at least for the start level, four more than its table has at most.
        (Granule::K4, 30, 1, &plain, true),
        (Granule::K4, 31, 1, &plain, false),
        (Granule::K4, 43, 1, &plain, false),
        (Granule::K4, 44, 1, &plain, true),
        (Granule::K16, 40, 2, &plain, false),
        (Granule::K16, 41, 2, &plain, true),
        (Granule::K64, 46, 2, &plain, false),
        (Granule::K64, 47, 2, &plain, true),
        // Larger than physical addresses.
        (Granule::K4, 40, 1, &old, false),
        (Granule::K4, 41, 1, &old, true),
        // Level 0 needs 44 bits, level 1 of 64 KiB tables as well.
        (Granule::K4, 40, 0, &old, true),
        (Granule::K64, 40, 2, &old, false),
        // Level 3 is for small tables alone.
        (Granule::K4, 25, 3, &plain, false),
        (Granule::K4, 25, 3, &old, true),
    ] {
        let level = if bad { 0 } else { start };
        assert_eq!(
            of(granule, ia_bits, start, features),
            (FaultKind::Translation, level),
            "{granule:?} {ia_bits} {start}"
        );
    }
}

fn two_stages(t: &Tables, vmid: u16) -> (Stage1, Stage2, u64) {
    let root1 = t.alloc();
    t.map(K4, root1, 0x5000, IPA, 3, AF);
    for table in (0x10_0000..0x20_0000u64).step_by(0x1000) {
        PLAIN.map(t, ROOT, table, table, 3, ALL);
    }
    let slot = PLAIN.map(t, ROOT, IPA, 0x9000, 3, ALL);
    let regs = Regs { vmid, stage2: Switch::On, ..regs(K4, root1, root1) };
    (Stage1::new(&regs, &features(K4)), PLAIN.stage2(ROOT | u64::from(vmid) << 48), slot)
}

/// A fault of stage 2 on a walk names the table, has stage 2's level and the direction of the access.
#[test]
fn faults_on_walks() {
    let t = Tables::new();
    let (s1, s2, _) = two_stages(&t, 0);
    let table = t.slot(K4, 0x10_0000, 0x5000, 3);
    let slot = PLAIN.slot(&t, ROOT, table, 3);
    for (descriptor, kind, level) in [
        (0, FaultKind::Translation, 3),
        (t.get(slot) & !AF, FaultKind::AccessFlag, 3),
        (t.get(slot) & !S2_READ, FaultKind::Permission, 3),
    ] {
        t.set(slot, descriptor);
        for (access, direction) in [(READ, Direction::Read), (WRITE, Direction::Write), (FETCH, Direction::Read)] {
            let fault = walk_two(&s1, &s2, Va(0x5008), access, &t).unwrap_err();
            assert_eq!((what(fault), fault.direction), ((kind, level), direction));
            assert_eq!(fault.stage, Stage::Two { ipa: Ipa(table), cause: Stage2Cause::Stage1Walk });
        }
    }
}

/// HCR_EL2.PTW: a walk does not read Device memory, whether stage 2 is held or walked.
#[test]
fn protected_walks() {
    let t = Tables::new();
    let (s1, open, _) = two_stages(&t, 0);
    let table = t.slot(K4, 0x10_0000, 0x5000, 3);
    PLAIN.map(&t, ROOT, table & !0xfff, table & !0xfff, 3, ALL & !(0xf << 2) | 1 << 2);
    let guarded = Stage2::new(&Stage2Regs { hcr: HCR_VM | 4, vtcr: PLAIN.vtcr(), vttbr: ROOT }, &features(PLAIN.shape));
    let mut held = Stage2Tlb::new();
    for (stage2, fine) in [(&open, true), (&guarded, false), (&open, true), (&guarded, false)] {
        let second = SecondStage { stage2, held: &mut held };
        let found = translate_through(&s1, Some(second), &mut Tlb::new(), Va(0x5000), READ, &t, |_| {});
        assert_eq!(found.is_ok(), fine);
        if let Err(fault) = found {
            assert_eq!(what(fault), (FaultKind::Permission, 3));
        }
    }
}

const GUEST: Origin = Origin { vmid: 3, ttl: Switch::Off, ..ORIGIN };

fn el1(crm: u16, op2: u16, xt: u64) -> TlbiOp {
    TlbiOp::decode(Enc::new(1, 0, 8, crm, op2), xt, GUEST).unwrap()
}
fn el2(crm: u16, op2: u16, xt: u64) -> TlbiOp {
    TlbiOp::decode_el2(Enc::new(1, 4, 8, crm, op2), xt, GUEST, Regime::El2).unwrap()
}

/// Which instructions make a change of stage 2 visible: both what is held of stage 2 and what was combined must go.
#[test]
fn maintenance_of_both_stages() {
    let page = IPA >> 12;
    // TG 4 KiB, SCALE 0, NUM 0: two pages from BaseADDR.
    let range = 1 << 46 | (IPA - 0x1000) >> 12;
    let (ipas2, ipas2is, ipas2os) = (el2(4, 1, page), el2(0, 1, page), el2(4, 0, page));
    let (last, ranged) = (el2(4, 5, page), el2(4, 2, range));
    let vmalle1 = el1(7, 0, 0);
    for (name, ops, visible) in [
        ("nothing", vec![], false),
        ("VMALLE1", vec![vmalle1], false),
        ("VAE1", vec![el1(7, 1, 5)], false),
        ("IPAS2E1", vec![ipas2], false),
        ("IPAS2E1, VMALLE1", vec![ipas2, vmalle1], true),
        ("IPAS2E1IS, VMALLE1", vec![ipas2is, vmalle1], true),
        ("IPAS2E1OS, VMALLE1", vec![ipas2os, vmalle1], true),
        ("IPAS2LE1, VMALLE1", vec![last, vmalle1], true),
        ("RIPAS2E1, VMALLE1", vec![ranged, vmalle1], true),
        ("IPAS2E1, VAE1", vec![ipas2, el1(7, 1, 5)], true),
        ("IPAS2E1 of another page, VMALLE1", vec![el2(4, 1, page + 1), vmalle1], false),
        ("RIPAS2E1 before it, VMALLE1", vec![el2(4, 2, range - 2), vmalle1], false),
        ("RIPAS2E1 with a reserved TG, VMALLE1", vec![el2(4, 2, page), vmalle1], false),
        ("VMALLS12E1", vec![el2(7, 6, 0)], true),
        ("ALLE1", vec![el2(7, 4, 0)], true),
        ("ALLE2", vec![el2(7, 0, 0)], false),
    ] {
        let t = Tables::new();
        let (s1, s2, slot) = two_stages(&t, 3);
        let (mut tlb, mut held) = (Tlb::new(), Stage2Tlb::new());
        let go = |tlb: &mut Tlb, held: &mut Stage2Tlb| {
            let second = SecondStage { stage2: &s2, held };
            translate_through(&s1, Some(second), tlb, Va(0x5000), READ, &t, |_| {}).map(|t| t.entry.pa.0)
        };
        assert_eq!(go(&mut tlb, &mut held), Ok(0x9000));
        t.set(slot, 0xa000 | ALL | 3);
        for op in &ops {
            tlb.invalidate(op, |_| {});
            held.invalidate(op);
        }
        assert_eq!(go(&mut tlb, &mut held), Ok(if visible { 0xa000 } else { 0x9000 }), "{name}");
        // What is for another machine does nothing.
        let (mut tlb, mut held) = (Tlb::new(), Stage2Tlb::new());
        go(&mut tlb, &mut held).unwrap();
        t.set(slot, 0xb000 | ALL | 3);
        for op in &ops {
            let other = TlbiOp { vmid: vambrace_mmu::VmidMatch::This(4), ..*op };
            tlb.invalidate(&other, |_| {});
            held.invalidate(&other);
        }
        assert_eq!(go(&mut tlb, &mut held), Ok(0xa000), "{name} of another");
    }
}

/// An entry that does not permit the access is looked up again in the tables, so that a hypervisor may widen rights and
/// make pages accessible without maintenance; a fault is never held.
#[test]
fn rights_are_widened_without_maintenance() {
    let t = Tables::new();
    let (s1, s2, slot) = two_stages(&t, 3);
    let (mut tlb, mut held) = (Tlb::new(), Stage2Tlb::new());
    let mut go = |access| {
        let second = SecondStage { stage2: &s2, held: &mut held };
        translate_through(&s1, Some(second), &mut tlb, Va(0x5000), access, &t, |_| {}).map(|t| t.entry.pa.0)
    };
    for (bits, access, result) in [
        (0, READ, Err((FaultKind::Translation, 3))),
        (0x9000 | (ALL & !AF) | 3, READ, Err((FaultKind::AccessFlag, 3))),
        (0x9000 | (ALL & !S2_WRITE) | 3, READ, Ok(0x9000)),
        (0x9000 | (ALL & !S2_WRITE) | 3, WRITE, Err((FaultKind::Permission, 3))),
        (0x9000 | ALL | 3, WRITE, Ok(0x9000)),
    ] {
        t.set(slot, bits);
        assert_eq!(go(access).map_err(what), result, "{bits:#x} {access:?}");
    }
}

/// VMIDs of 8 and 16 bits.
#[test]
fn vmids() {
    let of = |vs: u64, vmid16, vmid: u64| {
        let features = MmuFeatures { vmid16, ..features(PLAIN.shape) };
        let regs = Stage2Regs { hcr: HCR_VM, vtcr: PLAIN.vtcr() | vs << 19, vttbr: ROOT | vmid << 48 };
        Stage2::new(&regs, &features).vmid
    };
    assert_eq!(of(0, Switch::On, 0x1234), 0x34);
    assert_eq!(of(1, Switch::On, 0x1234), 0x1234);
    assert_eq!(of(1, Switch::Off, 0x1234), 0x34);
}

/// The attribute of both stages for every pair, by what each means.
#[test]
fn attributes_combine() {
    const CACHES: [(u8, u8); 4] = [(0, 0), (0b0100, 1), (0b1011, 2), (0b1111, 3)];
    let t = Tables::new();
    for hcr in [HCR_VM, HCR_VM | 1 << 46, HCR_VM | 1 << 32] {
        let forced = hcr >> 46 & 1 != 0;
        let disabled = hcr >> 32 & 1 != 0;
        let s = Stage2::new(&Stage2Regs { hcr, vtcr: PLAIN.vtcr(), vttbr: ROOT }, &features(PLAIN.shape));
        for attr in 0..16u8 {
            PLAIN.map(&t, ROOT, IPA, 0x9000, 3, ALL & !(0xf << 2) | u64::from(attr) << 2);
            let second = stage2_walk(&s, IPA, READ, &t).unwrap();
            // Device memory of stage 1, from the strictest.
            for (n, device) in [0x00, 0x04, 0x08, 0x0c].into_iter().enumerate() {
                let found = s.combine(MemAttr(device), &second);
                let expected = match (forced, attr) {
                    (false, 0..4) => MemAttr((n as u8).min(attr) << 2),
                    (true, _) if attr & 4 == 0 => MemAttr((n as u8).min(attr & 3) << 2),
                    (true, _) if attr & 3 == 2 => MemAttr(0xff),
                    _ => MemAttr(device),
                };
                assert_eq!(found, expected, "{hcr:#x} {attr:#x} {device:#x}");
            }
            for (outer, _) in &CACHES[1..] {
                for (inner, _) in &CACHES[1..] {
                    let first = MemAttr(outer << 4 | inner);
                    let found = s.combine(first, &second);
                    let weaker = |first: u8, second: u8| {
                        let rank = |nibble: u8| CACHES.iter().find(|(n, _)| *n == nibble).unwrap().1;
                        let least = if disabled { 1 } else { rank(first).min(second) };
                        // The hints are stage 1's; all here allocate on both.
                        CACHES[usize::from(least)].0
                    };
                    let expected = match (forced, attr) {
                        (false, 0..4) => MemAttr(attr << 2),
                        // A nibble of 0 in a Normal encoding is reserved.
                        (false, _) if attr & 3 == 0 => continue,
                        (false, _) => MemAttr(weaker(*outer, attr >> 2) << 4 | weaker(*inner, attr & 3)),
                        (true, _) if attr & 4 == 0 => MemAttr((attr & 3) << 2),
                        (true, _) => match attr & 3 {
                            3 => first,
                            2 => MemAttr(0xff),
                            _ => MemAttr(0x44),
                        },
                    };
                    assert_eq!(found, expected, "{hcr:#x} {attr:#x} {first:?}");
                }
            }
            // Tags stay where both stages have the memory fully cacheable.
            let tagged = s.combine(MemAttr(0xf0), &second) == MemAttr(0xf0);
            let may = if forced { attr & 7 >= 6 } else { attr == 15 && !disabled };
            assert_eq!(tagged, may, "{hcr:#x} {attr:#x}");
        }
    }
}
