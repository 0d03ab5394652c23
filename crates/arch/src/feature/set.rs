//! Sets of features.

use super::Feature;
use core::fmt;

const WORDS: usize = Feature::COUNT.div_ceil(64);

/// A set of features.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FeatureSet([u64; WORDS]);

/// A feature that is in a set without one that it needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The feature present.
    pub feature: Feature,
    /// The feature absent.
    pub needs: Feature,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs {}, which is off", self.feature, self.needs)
    }
}

impl core::error::Error for Missing {}

impl FeatureSet {
    /// No feature.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// The features listed.
    #[must_use]
    pub const fn of(features: &[Feature]) -> Self {
        let mut set = Self::EMPTY;
        let mut i = 0;
        while i < features.len() {
            set = set.with(features[i]);
            i += 1;
        }
        set
    }

    /// Every feature there is. Not consistent by itself: some exclude each other.
    #[must_use]
    pub const fn all() -> Self {
        Self::of(&Feature::ALL)
    }

    /// Whether `feature` is in the set.
    #[inline(always)]
    #[must_use]
    pub const fn has(&self, feature: Feature) -> bool {
        self.0[feature as usize / 64] >> (feature as usize % 64) & 1 != 0
    }

    /// The set with `feature`.
    #[must_use]
    pub const fn with(mut self, feature: Feature) -> Self {
        self.0[feature as usize / 64] |= 1 << (feature as usize % 64);
        self
    }

    /// The set without `feature`.
    #[must_use]
    pub const fn without(mut self, feature: Feature) -> Self {
        self.0[feature as usize / 64] &= !(1 << (feature as usize % 64));
        self
    }

    /// The set with `feature` and all that it needs, directly or not.
    #[must_use]
    pub fn with_needs(self, feature: Feature) -> Self {
        if self.has(feature) {
            return self;
        }
        feature.info().needs.iter().fold(self.with(feature), |set, &need| set.with_needs(need))
    }

    /// The set without `feature` and without all that needs it, directly or not.
    #[must_use]
    pub fn without_dependents(self, feature: Feature) -> Self {
        self.without(feature).consistent_part()
    }

    /// The set without the features that lack something they need, until none does.
    #[must_use]
    pub fn consistent_part(mut self) -> Self {
        while let Err(missing) = self.check() {
            self = self.without(missing.feature);
        }
        self
    }

    /// The features in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// The features in both sets.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The features in this set and not in `other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(core::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// Whether every feature has what it needs; the error names the first that does not.
    pub fn check(&self) -> Result<(), Missing> {
        for feature in self.iter() {
            for &needs in feature.info().needs {
                if !self.has(needs) {
                    return Err(Missing { feature, needs });
                }
            }
        }
        Ok(())
    }

    /// The features in the set, in table order.
    pub fn iter(&self) -> impl Iterator<Item = Feature> + '_ {
        Feature::ALL.into_iter().filter(|&feature| self.has(feature))
    }
}

impl fmt::Debug for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Feature::name)).finish()
    }
}

impl FromIterator<Feature> for FeatureSet {
    fn from_iter<I: IntoIterator<Item = Feature>>(features: I) -> Self {
        features.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Feature::*;

    #[test]
    fn needs_and_dependents() {
        let set = FeatureSet::EMPTY.with_needs(FEAT_FHM);
        assert!(set.has(FEAT_FP16) && set.has(FEAT_FP) && !set.has(FEAT_AES));
        assert_eq!(set.check(), Ok(()));
        assert_eq!(set.without(FEAT_FP16).check(), Err(Missing { feature: FEAT_FHM, needs: FEAT_FP16 }));
        let less = set.without_dependents(FEAT_FP16);
        assert_eq!(less, FeatureSet::of(&[FEAT_FP, FEAT_AdvSIMD]));
        assert_eq!(set.minus(less).iter().count(), 2);
        assert_eq!(
            std::format!("{}", set.without(FEAT_FP16).check().unwrap_err()),
            "FEAT_FHM needs FEAT_FP16, which is off"
        );
    }

    #[test]
    fn all_has_all() {
        assert!(Feature::ALL.into_iter().all(|f| FeatureSet::all().has(f)));
        assert_eq!(FeatureSet::all().check(), Ok(()));
        assert_eq!(FeatureSet::all().iter().collect::<FeatureSet>(), FeatureSet::all());
    }
}
