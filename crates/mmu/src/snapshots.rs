//! The TLBs in snapshots. They are state: software that forgets an invalidation meets what they hold, and counts of walks
//! depend on them. What derives from them (the fast cache and its contexts) is not in a snapshot: a slot that is missing
//! is filled again from an entry that is there.

use snapshot::{Codec, Invalid, Persist, persist_fields, persist_names};

use crate::{
    Caching, Contiguous, Dirty, Entry, Granule, Guarded, MemAttr, Perms, Regime, Rights, Scope, Shareability,
    Stage2Entry, Stage2Rights,
};

persist_names!(Granule { K4 = 0, K16 = 1, K64 = 2 });
persist_names!(Contiguous { Single = 0, Run = 1 });
persist_names!(Shareability { Non = 0, Outer = 2, Inner = 3 });
persist_names!(Regime { El10 = 0, El2 = 1, El20 = 2 });
persist_names!(Guarded { No = 0, Yes = 1 });
persist_names!(Dirty { NotTracked = 0, Clean = 1, Marked = 2 });
persist_names!(Caching { Tlb = 0, Identity = 1, Never = 2 });
persist_fields!(Stage2Rights { el1, el0 });

/// Sizes of translations, as log2 of bytes: from a page to what one descriptor of the highest level maps.
const SIZES: core::ops::RangeInclusive<u8> = 12..=52;

impl Persist for MemAttr {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        codec.value(&mut self.0)
    }
}

impl Persist for Rights {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut bits = self.to_bits();
        codec.value(&mut bits)?;
        *self = Self::of_bits(bits).ok_or_else(|| Invalid::new("rights that are none"))?;
        Ok(())
    }
}

impl Persist for Perms {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut bits = self.to_bits();
        codec.value(&mut bits)?;
        *self = Self::with_bits(bits).ok_or_else(|| Invalid::new("permissions that are none"))?;
        Ok(())
    }
}

impl Persist for Scope {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut asid = match *self {
            Self::Global => None,
            Self::Asid(asid) => Some(asid),
        };
        codec.value(&mut asid)?;
        *self = asid.map_or(Self::Global, Self::Asid);
        Ok(())
    }
}

/// A TLB holds what it may hold.
fn check(size_log2: u8, aligned: u64, caching: Caching) -> Result<(), Invalid> {
    let size = SIZES.contains(&size_log2) && aligned & ((1 << size_log2) - 1) == 0;
    if size && caching == Caching::Tlb { Ok(()) } else { Err(Invalid::new("a TLB entry that cannot be")) }
}

impl Persist for Entry {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self {
            va,
            pa,
            size_log2,
            level,
            granule,
            contiguous,
            perms,
            attr,
            sh,
            scope,
            regime,
            vmid,
            stage2,
            guarded,
            dirty,
            caching,
            steps,
        } = self;
        codec.each([va, pa, size_log2, level, granule, contiguous, perms, attr, sh, scope, regime, vmid])?;
        codec.each([stage2, guarded, dirty, caching, steps])?;
        check(*size_log2, va.0 | pa.0, *caching)
    }
}

impl Persist for Stage2Entry {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { ipa, pa, size_log2, rights, attr, sh, dirty, caching, steps } = self;
        codec.each([ipa, pa, size_log2, rights, attr, sh, dirty, caching, steps])?;
        check(*size_log2, ipa.0 | pa.0, *caching)
    }
}
