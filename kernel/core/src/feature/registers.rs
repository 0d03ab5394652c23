//! The values that hold for all CPUs.

use arch::sysreg::{Enc, Reg};
use hal::ident::{Identity, SPACE};

use super::field::{IdField, Strictness, Visibility};
use super::table::FIELDS;

/// Places of a register: in the ID space, or behind it.
const CTR: usize = SPACE;
const DCZID: usize = SPACE + 1;
const COUNT: usize = SPACE + 2;

/// The index of a register of [`FIELDS`]: CRm x 8 + op2 of the ID space.
pub fn index(register: Reg) -> usize {
    match register {
        Reg::CTR_EL0 => CTR,
        Reg::DCZID_EL0 => DCZID,
        _ => (register.info().enc.0 & 63) as usize,
    }
}

/// The index of an encoding in the ID space; `None` outside.
pub fn space_index(enc: Enc) -> Option<usize> {
    let is_inside = enc.op0() == 3 && enc.op1() == 0 && enc.crn() == 0 && enc.crm() < 8;
    is_inside.then_some((enc.0 & 63) as usize)
}

/// Values of ID registers, of one CPU or of all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Values([u64; COUNT]);

impl Values {
    /// What a CPU says, without bits that no field has.
    pub fn of(identity: &Identity) -> Self {
        let mut raw = [0; COUNT];
        raw[..SPACE].copy_from_slice(&identity.space);
        raw[CTR] = identity.ctr;
        raw[DCZID] = identity.dczid;
        let mut values = [0; COUNT];
        for field in FIELDS {
            let at = index(field.register);
            values[at] |= raw[at] & field.place.mask();
        }
        Self(values)
    }

    /// A register's value.
    pub fn get(&self, register: Reg) -> u64 {
        self.0[index(register)]
    }

    /// A field's value.
    pub fn field(&self, field: &IdField) -> i64 {
        field.get(self.get(field.register))
    }

    /// Replaces a field's value.
    pub fn set_field(&mut self, field: &IdField, value: i64) {
        let register = &mut self.0[index(field.register)];
        *register = field.set(*register, value);
    }

    /// What holds for CPUs of both values. `report` is told of each strict field that differs.
    #[must_use]
    pub fn joined(&self, other: &Self, report: &mut dyn FnMut(&'static IdField, i64, i64)) -> Self {
        let mut joined = *self;
        for field in FIELDS {
            let (mine, others) = (self.field(field), other.field(field));
            if mine != others && field.strictness == Strictness::Strict {
                report(field, mine, others);
            }
            joined.set_field(field, field.combine(mine, others));
        }
        joined
    }

    /// What EL0 sees of the ID space's register at `index`, if these are the values of all CPUs.
    pub fn user(&self, at: usize) -> u64 {
        FIELDS.iter().filter(|field| index(field.register) == at).fold(0, |value, field| {
            let shown = match field.visibility {
                Visibility::Visible => self.field(field),
                Visibility::Hidden => field.safe,
            };
            field.set(value, shown)
        })
    }
}

/// The field of that register and name, as boot options spell them: `id_aa64mmfr2` and `bbm`.
pub fn find(register: &str, name: &str) -> Option<&'static IdField> {
    let is_register = |field: &&IdField| {
        let full = field.register.name();
        let (bare, _) = full.rsplit_once("_EL").unwrap_or((full, ""));
        bare.eq_ignore_ascii_case(register)
    };
    FIELDS.iter().filter(is_register).find(|field| field.name.eq_ignore_ascii_case(name))
}

/// The field that [`find`] must find.
pub fn known(register: Reg, lsb: u8) -> &'static IdField {
    FIELDS.iter().find(|field| field.register == register && field.place.lsb == lsb).expect("a field of the table")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub fn identity(registers: &[(Reg, u64)]) -> Identity {
        let mut identity = hal::ident::identity();
        for (register, value) in registers {
            identity.space[index(*register)] = *value;
        }
        identity
    }

    fn any_identity() -> impl Strategy<Value = Identity> {
        (proptest::collection::vec(any::<u64>(), SPACE), any::<u64>(), any::<u64>())
            .prop_map(|(space, ctr, dczid)| Identity { space: space.try_into().unwrap(), ctr, dczid })
    }

    /// What an independent test of Linux's ABI allows: no bit outside is ever set but those of fixed values.
    const VISIBLE: &[(Reg, u64)] = &[
        (Reg::ID_AA64ISAR0_EL1, 0xf0ff_ffff_f0ff_fff0),
        (Reg::ID_AA64ISAR1_EL1, 0x00ff_f0ff_ffff_ffff),
        (Reg::ID_AA64ISAR2_EL1, 0x00ff_0000_00ff_ffff),
        (Reg::ID_AA64MMFR0_EL1, 0xf000_0000_ff00_0000),
        (Reg::ID_AA64MMFR1_EL1, 0x0000_f000_0000_0000),
        (Reg::ID_AA64MMFR2_EL1, 0x0000_000f_0000_0000),
        (Reg::ID_AA64PFR0_EL1, 0x000f_000f_00ff_0011),
        (Reg::ID_AA64PFR1_EL1, 0x0000_0000_0f00_0fff),
        (Reg::ID_AA64DFR0_EL1, 6),
        (Reg::ID_AA64ZFR0_EL1, 0x0ff0_ff0f_0fff_00ff),
        (Reg::ID_AA64SMFR0_EL1, 0x8ff1_fcff_0000_0000),
        (Reg::ID_AA64MMFR3_EL1, 0),
        (Reg::ID_AA64MMFR4_EL1, 0),
    ];

    proptest! {
        #[test]
        fn el0_sees_no_other_bits(identity in any_identity()) {
            let values = Values::of(&identity);
            for (register, mask) in VISIBLE {
                // Linux shows stage 2's granules with their safe value, which that test does not know.
                let extra = if *register == Reg::ID_AA64MMFR0_EL1 { 0x111_0000_0000 } else { 0 };
                let shown = values.user(index(*register));
                prop_assert_eq!(shown & !(mask | extra), 0, "{}: {:#x}", register.name(), shown);
            }
        }

        /// However many CPUs in whatever order: the values are those that every pair agrees on.
        #[test]
        fn joining_is_commutative_and_idempotent(a in any_identity(), b in any_identity()) {
            let (a, b) = (Values::of(&a), Values::of(&b));
            prop_assert_eq!(a.joined(&b, &mut |_, _, _| {}), b.joined(&a, &mut |_, _, _| {}));
            let mut reports = 0;
            prop_assert_eq!(a.joined(&a, &mut |_, _, _| reports += 1), a);
            prop_assert_eq!(reports, 0);
        }
    }

    #[test]
    fn fields_are_found_by_the_names_of_boot_options() {
        assert_eq!(find("id_aa64mmfr2", "bbm").unwrap().place.lsb, 52);
        assert_eq!(find("ctr", "dic").unwrap().place.lsb, 29);
        assert!(find("id_aa64mmfr2", "nothing").is_none() && find("id_aa64mmfr9", "bbm").is_none());
    }
}
