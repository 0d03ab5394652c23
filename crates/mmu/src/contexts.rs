//! Context ids of the fast cache.
//!
//! A slot of the fast cache is valid under one combination of regime, privilege, PAN, VMID and ASID. Such a
//! combination gets a 12-bit id on first use; switching between them is a look-up here and flushes nothing.
//!
//! The upper half usually maps a kernel, global for all ASIDs. As long as no non-global page was filled there, its id
//! leaves the ASID out, so a kernel's slots outlive a switch of processes. The first non-global fill changes the mode
//! (and starts over).

use arch::Va;

use crate::{Entry, FastCache, Half, PanState, Privilege, Scope, Stage1};

/// Ids in use at most; then all start over. Small, since a table of them is kept per PE.
const IDS: u16 = 1023;
const SLOTS: usize = 2048;

/// A context id: 1 to 4094, or [`CtxId::NEVER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CtxId(u16);

impl CtxId {
    /// Matches nothing, and nothing is filled under it.
    pub const NEVER: Self = Self(0);

    /// An id of the caller's own making (tests, measurements): `n` from 1 to 4094, else [`CtxId::NEVER`]. Others come
    /// from [`Contexts`].
    #[must_use]
    pub const fn from_raw(n: u16) -> Self {
        if n < 0xfff { Self(n) } else { Self::NEVER }
    }
    /// The number.
    #[inline(always)]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0 as u64
    }
}

/// Are data accesses to tagged memory checked? Pages where they are stay out of the fast cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagChecks {
    /// No.
    Off = 0,
    /// Yes.
    On = 1,
}

/// The ids in force: one for each half of the address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtxPair {
    /// Bit 55 clear.
    pub lower: CtxId,
    /// Bit 55 set.
    pub upper: CtxId,
}

impl CtxPair {
    /// Matches nothing.
    pub const NEVER: Self = Self { lower: CtxId::NEVER, upper: CtxId::NEVER };

    /// The id for `va`.
    #[inline(always)]
    #[must_use]
    pub const fn of(self, va: Va) -> CtxId {
        // Branch-free: loads of both halves alternate in every kernel.
        let mask = ((va.0 << 8) as i64 >> 63) as u16;
        CtxId(self.lower.0 ^ ((self.lower.0 ^ self.upper.0) & mask))
    }
}

/// What [`Contexts::admit`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The ids in force stay.
    Same,
    /// All ids were taken back and the fast cache emptied: get a new pair before filling.
    Renewed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UpperMode {
    /// Every fill of the upper half so far was global.
    Global,
    /// Ids of the upper half include the ASID.
    ByAsid,
}

/// The ids given out.
pub struct Contexts {
    /// Open addressing: combination in bits \[63:12\], id in \[11:0\]; 0 is free.
    slots: Box<[u64]>,
    used: u16,
    upper: UpperMode,
    generation: u64,
    /// The last answers: exception entry and return alternate between few.
    recent: [(u64, CtxPair); 8],
}

impl Default for Contexts {
    fn default() -> Self {
        Self::new()
    }
}

const NEVER: u64 = u64::MAX;
const NO_ASID: u64 = 1 << 16;

impl Contexts {
    /// No ids given out.
    #[must_use]
    pub fn new() -> Self {
        Self {
            slots: vec![0; SLOTS].into_boxed_slice(),
            used: 0,
            upper: UpperMode::Global,
            generation: 0,
            recent: [(NEVER, CtxPair::NEVER); 8],
        }
    }

    /// As [`Contexts::pair_with_tags`], for a PE that checks no tags.
    #[inline]
    pub fn pair(&mut self, fast: &mut FastCache, stage1: &Stage1, privilege: Privilege, pan: PanState) -> CtxPair {
        self.pair_with_tags(fast, stage1, privilege, pan, TagChecks::Off)
    }

    /// The ids for accesses with `privilege` under `pan` and `tags` in the present state of `stage1`. Where ids run out, all are
    /// taken back and `fast` is emptied: pairs from before that are void (see [`Contexts::generation`]).
    #[inline]
    pub fn pair_with_tags(
        &mut self,
        fast: &mut FastCache,
        stage1: &Stage1,
        privilege: Privilege,
        pan: PanState,
        tags: TagChecks,
    ) -> CtxPair {
        let unprivileged = privilege == Privilege::El0;
        let pan = !unprivileged && pan == PanState::On;
        let key = u64::from(stage1.asid)
            | u64::from(stage1.vmid) << 17
            | (stage1.regime as u64) << 33
            | u64::from(stage1.enabled.is_on()) << 35
            | u64::from(unprivileged) << 36
            | u64::from(pan) << 37
            | (tags as u64) << 38
            | u64::from(stage1.stage2.is_on()) << 40;
        let line = (key ^ key >> 36) as usize % self.recent.len();
        let (known, pair) = self.recent[line];
        if known == key {
            return pair;
        }
        let pair = self.allocate(fast, key);
        self.recent[line] = (key, pair);
        pair
    }

    /// Changes whenever ids were taken back: a pair that was got under another generation must not be used.
    #[inline(always)]
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    #[cold]
    fn allocate(&mut self, fast: &mut FastCache, key: u64) -> CtxPair {
        if self.used + 2 > IDS {
            self.renew(fast);
        }
        let lower = self.id(key);
        let upper = match self.upper {
            UpperMode::ByAsid => lower,
            UpperMode::Global => self.id(key & !0xffff | NO_ASID),
        };
        CtxPair { lower, upper }
    }

    fn id(&mut self, key: u64) -> CtxId {
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) as usize % SLOTS;
        loop {
            match self.slots[at] {
                0 => {
                    self.used += 1;
                    self.slots[at] = key << 12 | u64::from(self.used);
                    return CtxId(self.used);
                }
                slot if slot >> 12 == key => return CtxId((slot & 0xfff) as u16),
                _ => at = (at + 1) % SLOTS,
            }
        }
    }

    fn renew(&mut self, fast: &mut FastCache) {
        self.slots.fill(0);
        self.used = 0;
        self.recent = [(NEVER, CtxPair::NEVER); 8];
        self.generation += 1;
        fast.invalidate_all();
    }

    /// To be asked before each [`FastCache::fill`] from `entry`: may its address be filled under the ids in force?
    #[inline]
    pub fn admit(&mut self, fast: &mut FastCache, entry: &Entry) -> Admission {
        let tagged = matches!(entry.scope, Scope::Asid(_)) && Half::of(entry.va) == Half::Upper;
        if tagged && self.upper == UpperMode::Global {
            self.upper = UpperMode::ByAsid;
            self.renew(fast);
            return Admission::Renewed;
        }
        Admission::Same
    }
}
