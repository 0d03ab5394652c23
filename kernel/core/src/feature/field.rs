//! A field of an ID register: how the values of several CPUs make one that holds for all.

use arch::field::Field;
use arch::sysreg::Reg;

/// Which of two values is safe for software that may run on either CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Neither, if they differ: the field's safe value.
    Exact,
    /// The lower.
    LowerSafe,
    /// The higher.
    HigherSafe,
    /// Zero if either is zero, else the higher.
    HigherOrZeroSafe,
}

/// Is a variation between CPUs expected?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strictness {
    /// No: it is reported, and a late CPU below the published value is refused.
    Strict,
    /// Yes.
    Relaxed,
}

/// Does EL0 see the field?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    /// Yes.
    Visible,
    /// No: it sees the safe value.
    Hidden,
}

/// What is known of a field.
#[derive(Clone, Copy, Debug)]
pub struct IdField {
    /// The register.
    pub register: Reg,
    /// The field's name in the manual, in lower case: boot options name it so.
    pub name: &'static str,
    /// Its place.
    pub place: Field,
    /// Values are signed: 0xf of four bits is -1, "absent".
    pub is_signed: bool,
    /// Does EL0 see it?
    pub visibility: Visibility,
    /// Is a variation expected?
    pub strictness: Strictness,
    /// How two values make one.
    pub kind: Kind,
    /// What holds everywhere.
    pub safe: i64,
}

impl IdField {
    /// Its value in `register`.
    pub fn get(&self, register: u64) -> i64 {
        if self.is_signed { self.place.get_signed(register) } else { self.place.get(register) as i64 }
    }

    /// `register` with the field replaced.
    pub fn set(&self, register: u64, value: i64) -> u64 {
        self.place.set(register, value as u64)
    }

    /// Is that a value that the field can have?
    pub fn can_be(&self, value: i64) -> bool {
        self.get(self.set(0, value)) == value
    }

    /// One value for CPUs that have `a` and `b`.
    pub fn combine(&self, a: i64, b: i64) -> i64 {
        match self.kind {
            _ if a == b => a,
            Kind::Exact => self.safe,
            Kind::LowerSafe => a.min(b),
            Kind::HigherOrZeroSafe if a == 0 || b == 0 => 0,
            Kind::HigherSafe | Kind::HigherOrZeroSafe => a.max(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::FIELDS;
    use proptest::prelude::*;

    proptest! {
        /// The value of many CPUs depends neither on their order nor on how often each was asked.
        #[test]
        fn combining_is_a_semilattice(n in 0..FIELDS.len(), a in any::<u64>(), b in any::<u64>(), c in any::<u64>()) {
            let field = &FIELDS[n];
            let (a, b, c) = (field.get(a), field.get(b), field.get(c));
            prop_assert_eq!(field.combine(a, a), a);
            prop_assert_eq!(field.combine(a, b), field.combine(b, a));
            if field.kind != super::Kind::Exact {
                prop_assert_eq!(field.combine(field.combine(a, b), c), field.combine(a, field.combine(b, c)));
            } else if a != b {
                prop_assert_eq!(field.combine(a, b), field.safe);
            }
            prop_assert!(field.can_be(field.combine(a, b)));
        }
    }

    #[test]
    fn fields_of_a_register_do_not_overlap_and_safe_values_fit() {
        for (n, field) in FIELDS.iter().enumerate() {
            assert!(field.can_be(field.safe), "{}.{}", field.register.name(), field.name);
            for other in &FIELDS[..n] {
                let overlap = other.place.mask() & field.place.mask() != 0;
                assert!(other.register != field.register || !overlap, "{} and {}", other.name, field.name);
                assert!(other.register != field.register || other.name != field.name, "{}", field.name);
            }
        }
    }
}
