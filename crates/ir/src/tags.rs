//! Allocation tags (FEAT_MTE): what instructions do with them, and how they are chosen.

/// Bytes that one allocation tag covers.
pub const TAG_GRANULE: u64 = 16;

/// May a data access be checked against allocation tags?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagCheck {
    /// Yes, where the PE's controls and the memory's type ask for it.
    Checked,
    /// No: the base is SP or PC and the offset an immediate, without writeback.
    Unchecked,
}

/// What an instruction asks of allocation tags. Tags are 4 bits; an address holds its logical tag in bits \[59:56\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagOp {
    /// ADDG, SUBG: gives the tag that lies `value` (0 to 15) steps from the address's own, excluded ones not counted.
    Choose,
    /// IRG: gives a random tag that is not among those in `value` (bit n excludes tag n). The address does not count.
    Random,
    /// LDG: gives the tag of the granule at an address that is a multiple of [`TAG_GRANULE`].
    Load,
    /// STG: sets the tag of the granule at an address, which must be a multiple of [`TAG_GRANULE`], to the logical tag
    /// of `value`.
    Store,
    /// ST2G: the same for two granules.
    StorePair,
    /// STZG: the same for one granule, and its data becomes zero.
    StoreZero,
    /// STZ2G: the same for two granules.
    StoreZeroPair,
    /// LDGM: gives the tags of the granules of a block of `GMID_EL1.BS`, each at its place in the 256 bytes around it.
    LoadMultiple,
    /// STGM: the reverse of LDGM.
    StoreMultiple,
    /// STZGM: sets all tags of a block of `DCZID_EL0.BS` to bits \[3:0\] of `value`, and its data becomes zero.
    StoreZeroMultiple,
}

impl TagOp {
    /// Does it look at tags in memory?
    #[must_use]
    pub const fn loads(self) -> bool {
        matches!(self, Self::Load | Self::LoadMultiple)
    }
    /// Does it set tags in memory?
    #[must_use]
    pub const fn stores(self) -> bool {
        !self.loads() && !matches!(self, Self::Choose | Self::Random)
    }
    /// Granules of STG and its kind, 0 for others.
    #[must_use]
    pub const fn granules(self) -> u64 {
        match self {
            Self::Store | Self::StoreZero => 1,
            Self::StorePair | Self::StoreZeroPair => 2,
            _ => 0,
        }
    }
    /// Does it set data to zero as well?
    #[must_use]
    pub const fn zeroes(self) -> bool {
        matches!(self, Self::StoreZero | Self::StoreZeroPair | Self::StoreZeroMultiple)
    }
}

/// The logical tag of an address.
#[must_use]
pub const fn logical_tag(address: u64) -> u8 {
    (address >> 56 & 15) as u8
}

/// Where LDGM and STGM hold the tag of the granule at `address`: the lowest bit of four.
#[must_use]
pub const fn tag_shift(address: u64) -> u64 {
    4 * (address / TAG_GRANULE % 16)
}

/// The manual's ChooseNonExcludedTag: `offset` steps on from `start`, excluded tags (bit n of `exclude` for tag n) not
/// counted; 0 where all are excluded.
#[must_use]
pub const fn choose_tag(start: u8, offset: u8, exclude: u16) -> u8 {
    if exclude == u16::MAX {
        return 0;
    }
    let (mut tag, mut left) = (start & 15, offset & 15);
    loop {
        // A start that is excluded matters only where no step is taken.
        if left > 0 {
            tag = (tag + 1) & 15;
            left -= 1;
        }
        while exclude >> tag & 1 == 1 {
            tag = (tag + 1) & 15;
        }
        if left == 0 {
            return tag;
        }
    }
}

/// `RGSR_EL1` after the manual's RandomTag, which takes four bits from the shift register in SEED; and the tag.
#[must_use]
pub const fn random_tag(rgsr: u64) -> (u64, u8) {
    let (mut lfsr, mut tag, mut bit) = (rgsr >> 8 & 0xffff, 0, 0);
    while bit < 4 {
        let top = (lfsr >> 5 ^ lfsr >> 3 ^ lfsr >> 2 ^ lfsr) & 1;
        lfsr = top << 15 | lfsr >> 1;
        tag |= (top as u8) << bit;
        bit += 1;
    }
    (rgsr & 0xf | lfsr << 8, tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excluded_tags_do_not_count() {
        assert_eq!(choose_tag(3, 0, 0), 3);
        assert_eq!(choose_tag(15, 2, 0), 1);
        assert_eq!(choose_tag(3, 0, 0b1000), 4);
        assert_eq!(choose_tag(3, 1, 0b10_1000), 4, "the step from 3 is to 4, as if 3 were not excluded");
        assert_eq!(choose_tag(3, 2, 0b10_1000), 6);
        assert_eq!(choose_tag(0, 15, 0xfffe), 0);
        assert_eq!(choose_tag(7, 3, 0xffff), 0);
    }

    #[test]
    fn random_tags_shift_the_seed() {
        // SEED 1: the bits that enter are 1, 0, 0, 0 (bits 5, 3, 2 and 0 of 1, 8000, 4000, 2000).
        assert_eq!(random_tag(0x1_0a), (0x0010_000a, 1));
        let (mut rgsr, mut period) = (0x1_00, 0u32);
        loop {
            rgsr = random_tag(rgsr).0;
            period += 1;
            if rgsr == 0x1_00 {
                break;
            }
        }
        assert!(period > 10_000, "{period}");
        assert_eq!(random_tag(0), (0, 0), "a zero seed stays");
    }
}
