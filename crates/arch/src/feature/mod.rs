//! Architecture features: what there is, what shows it in the ID registers, what each needs.

mod modelled;
mod request;
mod set;
mod table;

pub use modelled::{NOT_MODELLED, modelled};
pub use request::{Request, RequestError, Setting, Switch};
pub use set::{FeatureSet, Missing};
pub use table::{FEATURES, Feature};

use crate::sysreg::Reg;

/// A 4-bit field of an ID register that says a feature is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdField {
    /// The register.
    pub reg: Reg,
    /// The field's lowest bit.
    pub lsb: u8,
    /// The field is signed: 0xf says "absent", where an unsigned field says 0.
    pub signed: bool,
    /// The least value with which the feature is there.
    pub value: u8,
}

/// What is known of one feature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeatureInfo {
    /// The manual's name, with `FEAT_`.
    pub name: &'static str,
    /// The fields that show it: all of them. Empty where no field does so by the usual rule.
    pub fields: &'static [IdField],
    /// The features it needs.
    pub needs: &'static [Feature],
}

impl Feature {
    /// What is known of it.
    #[must_use]
    pub fn info(self) -> &'static FeatureInfo {
        &FEATURES[self as usize]
    }

    /// The manual's name, with `FEAT_`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The feature of this name, with or without `FEAT_`, in any case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let bare = without_prefix(name);
        Self::ALL.into_iter().find(|f| without_prefix(f.name()).eq_ignore_ascii_case(bare))
    }
}

impl core::fmt::Display for Feature {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

fn without_prefix(name: &str) -> &str {
    match name.get(..5) {
        Some(prefix) if prefix.eq_ignore_ascii_case("FEAT_") => &name[5..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        for feature in Feature::ALL {
            assert_eq!(Feature::by_name(feature.name()), Some(feature));
            assert_eq!(Feature::by_name(&feature.name()[5..].to_lowercase()), Some(feature));
            assert_eq!(Feature::ALL[feature as usize], feature);
        }
        assert_eq!((Feature::by_name("feat_"), Feature::by_name(""), Feature::by_name("é")), (None, None, None));
    }

    #[test]
    fn needs_are_acyclic() {
        for feature in Feature::ALL {
            let needs = FeatureSet::EMPTY.with_needs(feature).without(feature);
            for need in needs.iter() {
                let back = FeatureSet::EMPTY.with_needs(need);
                assert!(!back.has(feature), "{feature} and {need} need each other");
            }
        }
    }

    #[test]
    fn a_higher_value_of_a_field_needs_the_lower() {
        for a in Feature::ALL {
            for b in Feature::ALL {
                let above = a
                    .info()
                    .fields
                    .iter()
                    .any(|x| b.info().fields.iter().any(|y| (x.reg, x.lsb) == (y.reg, y.lsb) && x.value > y.value));
                // The debug version is one field for the debug architecture and VHE.
                if above && b != Feature::FEAT_VHE {
                    assert!(FeatureSet::EMPTY.with_needs(a).has(b), "{a} should need {b}");
                }
            }
        }
    }
}
