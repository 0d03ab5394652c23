//! Property: under any maps, accesses and TLBIs, translation through the fast cache and the TLB equals a walk of the
//! tables, as long as software follows break-before-make with any TLBI that covers the change.
//!
//! The seed is fixed; `VAMBRACE_SEED=N` takes another, `VAMBRACE_CASES=N` more cases. A failure prints both seed and
//! the shrunk sequence.

mod common;

use arch::Va;
use arch::sysreg::Enc;
use common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use vambrace_mmu::{
    Access, AccessKind, Admission, Contexts, Dirty, Entry, FastCache, Fault, Key, PanState, Privilege, Rights, Source,
    Stage1, Tlb, TlbiOp, permissions, translate, walk,
};

const ASIDS: u64 = 2;
const REGION: u64 = 0x20_0000;
/// Regions of 2 MiB: two of each process (non-global), two of the kernel (shared).
const REGIONS: [u64; 4] = [0x4000_0000, 0x4020_0000, 0xffff_8000_0000_0000, 0xffff_8000_0020_0000];
/// The pages looked at in a region: two of one contiguous run, one of the next, one far off.
const PAGES: [u64; 4] = [0, 0xf000, 0x1_0000, 0x1f_f000];

#[derive(Clone, Copy, Debug)]
struct Bits {
    perms: u8,
    ng: bool,
    af: bool,
    dbm: bool,
    pa: u8,
}

impl Bits {
    /// Lower and upper attributes. What belongs to a process is non-global. Contiguous runs have neither AF nor DBM
    /// updates to make, as hardware may make them in one descriptor for all.
    fn descriptor(self, region: usize, contiguous: bool) -> u64 {
        let ng = self.ng || region < 2;
        u64::from(self.perms & 3) << 6
            | u64::from(self.perms >> 2 & 3) << 53
            | if ng { NG } else { 0 }
            | if self.af || contiguous { AF } else { 0 }
            | if self.dbm && !contiguous { DBM } else { 0 }
            | if contiguous { CONT } else { 0 }
    }
    fn base(self) -> u64 {
        0x1_0000_0000 + u64::from(self.pa) * REGION
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape2M {
    Nothing,
    Block,
    Pages,
    Run,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    /// Replace a whole region, break before make.
    Remap { asid: u64, region: usize, shape: Shape2M, bits: Bits, tlbi: u8 },
    /// Replace one page where the region consists of pages.
    Page { asid: u64, region: usize, page: usize, bits: Bits, tlbi: u8 },
    /// An access.
    Access { asid: u64, region: usize, page: usize, kind: AccessKind, user: bool, pan: bool },
    /// A TLBI out of the blue.
    Tlbi { crm: u8, op2: u8, xt: u64 },
}

fn bits() -> impl Strategy<Value = Bits> {
    (0..16u8, any::<bool>(), any::<bool>(), any::<bool>(), 0..8u8).prop_map(|(perms, ng, af, dbm, pa)| Bits {
        perms,
        ng,
        af,
        dbm,
        pa,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let asid = 1..=ASIDS;
    let region = 0..REGIONS.len();
    let page = 0..PAGES.len();
    let shape = prop_oneof![
        1 => Just(Shape2M::Nothing),
        3 => Just(Shape2M::Block),
        3 => Just(Shape2M::Pages),
        3 => Just(Shape2M::Run)
    ];
    let kind = prop_oneof![
        Just(AccessKind::Read),
        Just(AccessKind::Write),
        Just(AccessKind::ReadWrite),
        Just(AccessKind::Fetch),
        Just(AccessKind::AtRead),
    ];
    prop_oneof![
        1 => (asid.clone(), region.clone(), shape, bits(), any::<u8>())
            .prop_map(|(asid, region, shape, bits, tlbi)| Op::Remap { asid, region, shape, bits, tlbi }),
        1 => (asid.clone(), region.clone(), page.clone(), bits(), any::<u8>())
            .prop_map(|(asid, region, page, bits, tlbi)| Op::Page { asid, region, page, bits, tlbi }),
        20 => (asid, region, page, kind, prop::bool::weighted(0.6), prop::bool::weighted(0.3))
            .prop_map(|(asid, region, page, kind, user, pan)| Op::Access { asid, region, page, kind, user, pan }),
        1 => (0..8u8, 0..8u8, any::<u64>()).prop_map(|(crm, op2, xt)| Op::Tlbi { crm, op2, xt }),
    ]
}

/// How invalidation is done: right, or with a part left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tlbis {
    Executed,
    /// Break-before-make without its TLBI.
    Skipped,
    /// The fast cache does not hear of what a TLBI removes.
    FastCacheKept,
}

struct World {
    tlbis: Tlbis,
    tables: Tables,
    roots: [u64; ASIDS as usize],
    kernel: u64,
    stage1: Vec<Stage1>,
    tlb: Tlb,
    fast: FastCache,
    contexts: Contexts,
    fast_hits: u32,
    tlb_hits: u32,
}

/// What two ways to translate must agree on.
fn essence(entry: &Entry, at: Va) -> impl PartialEq + std::fmt::Debug {
    (entry.output(at), entry.perms, entry.attr, entry.sh, entry.level, entry.size_log2, entry.scope)
}

impl World {
    fn new(tlbis: Tlbis) -> Self {
        let tables = Tables::new();
        let roots = [(); ASIDS as usize].map(|()| tables.alloc());
        let kernel = tables.alloc();
        let stage1 = (1..=ASIDS)
            .map(|asid| {
                let mut r = regs(K4, roots[asid as usize - 1] | asid << 48, kernel);
                r.tcr |= 3 << 39;
                Stage1::new(&r, &features(K4))
            })
            .collect();
        let (tlb, fast, contexts) = (Tlb::new(), FastCache::new(), Contexts::new());
        Self { tlbis, tables, roots, kernel, stage1, tlb, fast, contexts, fast_hits: 0, tlb_hits: 0 }
    }

    fn root(&self, asid: u64, region: usize) -> u64 {
        if region < 2 { self.roots[asid as usize - 1] } else { self.kernel }
    }

    fn tlbi(&mut self, crm: u16, op2: u16, xt: u64) {
        if let Some(op) = TlbiOp::decode(Enc::new(1, 0, 8, crm, op2), xt, ORIGIN) {
            let (fast, tlbis) = (&mut self.fast, self.tlbis);
            self.tlb.invalidate(&op, |e| {
                if tlbis != Tlbis::FastCacheKept {
                    fast.invalidate_range(e.va, e.size());
                }
            });
        }
    }

    /// Some TLBI that covers `bytes` (a page or a region) at `va`: of this ASID where the range is a process's.
    fn cover(&mut self, choice: u8, asid: u64, region: usize, va: u64, bytes: u64) {
        if self.tlbis == Tlbis::Skipped {
            return;
        }
        let crm_single = [7, 3, 1][usize::from(choice) % 3];
        let crm_range = [6, 2, 5][usize::from(choice) % 3];
        let last = u16::from(choice >> 4 & 1) * 4; // the last-level forms
        let operand = |asid: u64, va: u64| asid << 48 | va >> 12 & 0xfff_ffff_ffff;
        // Kernel mappings may be cached under every ASID: only the forms for any ASID cover them.
        let any_asid = if region < 2 { u16::from(choice >> 5 & 1) * 2 } else { 2 };
        match choice >> 2 & 3 {
            0 => self.tlbi(crm_single, 0, 0),
            1 if region < 2 => self.tlbi(crm_single, 2, asid << 48),
            1 | 2 => {
                // Page by page. What a region held may be one block, so one address of it would do; any will.
                for page in (va..=va + (bytes - 1)).step_by(4096) {
                    self.tlbi(crm_single, 1 + any_asid + last, operand(asid, page));
                }
            }
            _ => {
                // 2 pages, or (15 + 1) << 6 = 1024 pages: more than asked is fine.
                let (scale, num) = if bytes == 4096 { (0, 0) } else { (1, 15) };
                let xt = asid << 48 | 1 << 46 | scale << 44 | num << 39 | va >> 12 & 0x1f_ffff_ffff;
                self.tlbi(crm_range, 1 + any_asid + last, xt);
            }
        }
    }

    fn run(&mut self, op: Op) -> Result<(), TestCaseError> {
        match op {
            Op::Remap { asid, region, shape, bits, tlbi } => {
                let at = REGIONS[region];
                let root = self.root(asid, region);
                let slot = self.tables.slot(K4, root, at, 2);
                self.tables.set(slot, 0);
                self.cover(tlbi, asid, region, at, REGION);
                match shape {
                    Shape2M::Nothing => {}
                    Shape2M::Block => {
                        self.tables.map(K4, root, at, bits.base(), 2, bits.descriptor(region, false));
                    }
                    Shape2M::Pages | Shape2M::Run => {
                        let contiguous = matches!(shape, Shape2M::Run);
                        for page in (0..REGION).step_by(4096) {
                            let d = bits.descriptor(region, contiguous);
                            self.tables.map(K4, root, at + page, bits.base() + page, 3, d);
                        }
                    }
                }
            }
            Op::Page { asid, region, page, bits, tlbi } => {
                let root = self.root(asid, region);
                let at = REGIONS[region] + PAGES[page];
                if self.tables.get(self.tables.slot(K4, root, at, 2)) & 3 != 3 {
                    return Ok(());
                }
                let slot = self.tables.slot(K4, root, at, 3);
                if self.tables.get(slot) & CONT != 0 {
                    return Ok(()); // a page of a run does not change alone
                }
                self.tables.set(slot, 0);
                self.cover(tlbi, asid, region, at, 4096);
                self.tables.map(K4, root, at, bits.base() + PAGES[page], 3, bits.descriptor(region, false));
            }
            Op::Access { asid, region, page, kind, user, pan } => {
                let at = Va(REGIONS[region] + PAGES[page] + 0x28);
                let privilege = if user { Privilege::El0 } else { Privilege::El1 };
                let pan = if pan { PanState::On } else { PanState::Off };
                let access = Access { kind, privilege, pan };
                self.access(asid, at, access)?;
            }
            Op::Tlbi { crm, op2, xt } => self.tlbi(u16::from(crm), u16::from(op2), xt),
        }
        Ok(())
    }

    fn access(&mut self, asid: u64, at: Va, access: Access) -> Result<(), TestCaseError> {
        let s = self.stage1[asid as usize - 1];
        // The judge: a walk over a copy of the memory.
        let copy = Tables::new();
        *copy.words.borrow_mut() = self.tables.words.borrow().clone();
        let want = walk(&s, at, access, &copy);

        let pair = self.contexts.pair(&mut self.fast, &s, access.privilege, access.pan);
        let hit = match access.kind {
            AccessKind::Read => self.fast.lookup_read(at, pair.of(at), 8),
            AccessKind::Write => self.fast.lookup_write(at, pair.of(at), 8),
            AccessKind::ReadWrite => {
                let both = self.fast.lookup_read(at, pair.of(at), 8);
                self.fast.lookup_write(at, pair.of(at), 8).filter(|w| Some(*w) == both)
            }
            AccessKind::Fetch => self.fast.lookup_fetch(at, pair.of(at), 4),
            _ => None,
        };
        if let Some(offset) = hit {
            self.fast_hits += 1;
            let want = want.map_err(|f| TestCaseError::fail(format!("fast hit, but {f:?}")))?;
            prop_assert_eq!(offset, want.output(at).0);
        } else {
            let fast = &mut self.fast;
            let dropped = |e: &Entry| fast.invalidate_range(e.va, e.size());
            let got = translate(&s, &mut self.tlb, at, access, &self.tables, dropped);
            match (&got, &want) {
                (Ok(g), Ok(w)) => {
                    prop_assert_eq!(essence(&g.entry, at), essence(w, at));
                    self.tlb_hits += u32::from(g.source == Source::Tlb);
                    self.fill(&s, at, access, &g.entry);
                }
                (Err(g), Err(w)) => {
                    let of = |f: &Fault| (f.kind, f.level, f.stage, f.direction, f.steps);
                    prop_assert_eq!(of(g), of(w));
                }
                _ => prop_assert!(false, "got {:?}, want {:?}", got, want),
            }
        }
        prop_assert!(*self.tables.words.borrow() == *copy.words.borrow(), "hardware updates differ");
        // The TLB holds the page wherever the fast cache does.
        if [AccessKind::Read, AccessKind::Write, AccessKind::Fetch].iter().any(|kind| {
            let ctx = self.contexts.pair(&mut self.fast, &s, access.privilege, access.pan).of(at);
            match kind {
                AccessKind::Read => self.fast.lookup_read(at, ctx, 1),
                AccessKind::Write => self.fast.lookup_write(at, ctx, 1),
                _ => self.fast.lookup_fetch(at, ctx, 1),
            }
            .is_some()
        }) {
            prop_assert!(self.tlb.lookup(Key::new(&s, at)).is_some(), "fast without TLB");
        }
        Ok(())
    }

    /// What a PE does after a translation.
    fn fill(&mut self, s: &Stage1, at: Va, access: Access, entry: &Entry) {
        if entry.caching == vambrace_mmu::Caching::Never {
            return;
        }
        let mut rights = permissions::rights(s, entry, access.privilege, access.pan);
        if entry.dirty == Dirty::Clean {
            rights = rights.without(Rights::WRITE);
        }
        if self.contexts.admit(&mut self.fast, entry) == Admission::Renewed {
            assert_eq!(self.contexts.admit(&mut self.fast, entry), Admission::Same);
        }
        let pair = self.contexts.pair(&mut self.fast, s, access.privilege, access.pan);
        self.fast.fill(at, pair.of(at), entry.output(at).0, rights);
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name}={v} is no number")))
}

/// Runs the property; gives hits of fast cache and TLB.
fn check(cases: u32, tlbi: Tlbis) -> Result<(u32, u32), String> {
    let seed = number("VAMBRACE_SEED", 1);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let hits = std::cell::Cell::new((0, 0));
    let result = TestRunner::new_with_rng(config, rng).run(&prop::collection::vec(op(), 100..300), |ops| {
        let mut world = World::new(tlbi);
        for (region, asid) in (0..REGIONS.len()).flat_map(|r| (1..=ASIDS).map(move |a| (r, a))) {
            let bits = Bits { perms: 1, ng: false, af: true, dbm: false, pa: region as u8 };
            let shape = if region % 2 == 0 { Shape2M::Pages } else { Shape2M::Run };
            world.run(Op::Remap { asid, region, shape, bits, tlbi: 0 })?;
        }
        for (n, op) in ops.iter().enumerate() {
            world.run(*op).map_err(|e| TestCaseError::fail(format!("step {n}, {op:?}: {e}")))?;
        }
        let (f, t) = hits.get();
        hits.set((f + world.fast_hits, t + world.tlb_hits));
        Ok(())
    });
    result.map(|()| hits.get()).map_err(|error| format!("VAMBRACE_SEED={seed}: {error}"))
}

#[test]
fn tlb_and_walk_equal_walk_alone() {
    let cases = number("VAMBRACE_CASES", 200) as u32;
    let (fast, tlb) = check(cases, Tlbis::Executed).unwrap_or_else(|e| panic!("{e}"));
    assert!(fast > 5 * cases && tlb > 20 * cases, "the caches took part: {fast} and {tlb} hits in {cases} cases");
}

/// Without the TLBIs the property fails, so it can see what it is there for.
#[test]
fn the_property_sees_missing_tlbis() {
    assert!(check(20, Tlbis::Skipped).is_err());
    assert!(check(20, Tlbis::FastCacheKept).is_err());
}
