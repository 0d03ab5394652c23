//! Boot options that lower what the CPUs say: `id_aa64mmfr2.bbm=0`, and short names for what people ask for.

use core::fmt;

use super::field::IdField;
use super::registers::{Values, find};

/// Short names, and what each stands for.
pub const ALIASES: &[(&str, &[&str])] = &[
    ("nobbml2", &["id_aa64mmfr2.bbm=0"]),
    ("nomte", &["id_aa64pfr1.mte=0"]),
    ("nobti", &["id_aa64pfr1.bt=0"]),
    ("nolse", &["id_aa64isar0.atomic=0"]),
    ("nomops", &["id_aa64isar2.mops=0"]),
    ("nopan", &["id_aa64mmfr1.pan=0"]),
    ("nossbs", &["id_aa64pfr1.ssbs=0"]),
    (
        "nopauth",
        &[
            "id_aa64isar1.gpi=0",
            "id_aa64isar1.gpa=0",
            "id_aa64isar1.api=0",
            "id_aa64isar1.apa=0",
            "id_aa64isar2.gpa3=0",
            "id_aa64isar2.apa3=0",
        ],
    ),
];

/// Why an option is not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverrideError {
    /// It names no field of an ID register. (Not an error of a word that means something else.)
    NoField,
    /// The value is no number, or does not fit.
    NoValue,
    /// It would claim what the CPU does not have.
    NotSafe {
        /// The hardware's value.
        hardware: i64,
    },
}

impl fmt::Display for OverrideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoField => f.write_str("there is no such field"),
            Self::NoValue => f.write_str("the field cannot have that value"),
            Self::NotSafe { hardware } => write!(f, "the CPU has {hardware}, which does not include that"),
        }
    }
}

/// A word of the command line that looks like `register.field=value`, taken apart.
fn parse(word: &str) -> Option<Result<(&'static IdField, i64), OverrideError>> {
    let (name, value) = word.split_once('=')?;
    let (register, field) = name.split_once('.')?;
    if !register.starts_with("id_") && register != "ctr" {
        return None;
    }
    let Some(field) = find(register, field) else { return Some(Err(OverrideError::NoField)) };
    let number = match value.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    // A signed field may be given as its bits.
    let in_range = |value: i64| value >= 0 && value < 1 << field.place.width;
    Some(match number {
        Ok(value) if field.can_be(value) => Ok((field, value)),
        Ok(value) if in_range(value) => Ok((field, field.get(field.set(0, value)))),
        _ => Err(OverrideError::NoValue),
    })
}

/// Puts one word's overrides into a CPU's values. `None`: it is no such word.
pub fn apply(word: &str, values: &mut Values) -> Option<Result<(), OverrideError>> {
    if let Some((_, words)) = ALIASES.iter().find(|(alias, _)| *alias == word) {
        return Some(words.iter().try_for_each(|word| apply(word, values).unwrap_or(Err(OverrideError::NoField))));
    }
    Some(parse(word)?.and_then(|(field, value)| {
        let hardware = values.field(field);
        // What is safe for a CPU of either value is what the option may ask for.
        if hardware != value && value != field.safe && field.combine(hardware, value) != value {
            return Err(OverrideError::NotSafe { hardware });
        }
        values.set_field(field, value);
        Ok(())
    }))
}

#[cfg(test)]
mod tests {
    use super::super::registers::{known, tests::identity};
    use super::*;
    use arch::sysreg::Reg;
    use proptest::prelude::*;

    #[test]
    fn options_lower_and_never_raise() {
        let mut values = Values::of(&identity(&[(Reg::ID_AA64MMFR2_EL1, 2 << 52), (Reg::ID_AA64PFR1_EL1, 0x320)]));
        let bbm = known(Reg::ID_AA64MMFR2_EL1, 52);
        let raised = apply("id_aa64mmfr2.bbm=3", &mut values);
        assert_eq!((raised, values.field(bbm)), (Some(Err(OverrideError::NotSafe { hardware: 2 })), 2));
        assert_eq!((apply("id_aa64mmfr2.bbm=1", &mut values), values.field(bbm)), (Some(Ok(())), 1));
        assert_eq!((apply("nobbml2", &mut values), values.field(bbm)), (Some(Ok(())), 0));
        assert_eq!((apply("nomte", &mut values), values.get(Reg::ID_AA64PFR1_EL1)), (Some(Ok(())), 0x20));
        assert_eq!(apply("id_aa64mmfr2.bbm=16", &mut values), Some(Err(OverrideError::NoValue)));
        assert_eq!(apply("id_aa64mmfr2.nix=0", &mut values), Some(Err(OverrideError::NoField)));
        assert_eq!((apply("console=ttyAMA0", &mut values), apply("quiet", &mut values)), (None, None));
    }

    #[test]
    fn every_alias_names_fields() {
        for (alias, _) in ALIASES {
            assert_eq!(apply(alias, &mut Values::of(&identity(&[]))), Some(Ok(())), "{alias}");
        }
    }

    proptest! {
        #[test]
        fn no_command_line_panics(word in "(id_|ctr)?[a-z0-9_]{0,16}[.]?[a-z0-9_]{0,8}=?(0x)?-?[0-9a-f]{0,20}") {
            let _ = apply(&word, &mut Values::of(&identity(&[])));
        }
    }
}
