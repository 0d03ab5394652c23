//! Bit fields of registers, by register and by the manual's field name: `field::sctlr_el1::M.is_set(value)`.

mod control;
mod debug;
mod gic;
mod ident;

pub use control::*;
pub use debug::*;
pub use gic::*;
pub use ident::*;

/// A bit field of a 64-bit value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// The lowest bit, 0 to 63.
    pub lsb: u8,
    /// The number of bits, 1 to 64 - `lsb`.
    pub width: u8,
}

impl Field {
    /// The field `[msb:lsb]`. Refused at compile time (in a constant) unless `lsb <= msb < 64`.
    #[must_use]
    pub const fn span(msb: u8, lsb: u8) -> Self {
        assert!(lsb <= msb && msb < 64);
        Self { lsb, width: msb - lsb + 1 }
    }
    /// The field's bits, all ones, in place.
    #[inline(always)]
    #[must_use]
    pub const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.width)) << self.lsb
    }
    /// The field's value in `register`, unsigned.
    #[inline(always)]
    #[must_use]
    pub const fn get(self, register: u64) -> u64 {
        register >> self.lsb & (u64::MAX >> (64 - self.width))
    }
    /// The field's value in `register`, as a signed number.
    #[inline(always)]
    #[must_use]
    pub const fn get_signed(self, register: u64) -> i64 {
        (register << (64 - self.lsb - self.width)) as i64 >> (64 - self.width)
    }
    /// Whether any bit of the field is set in `register`.
    #[inline(always)]
    #[must_use]
    pub const fn is_set(self, register: u64) -> bool {
        register & self.mask() != 0
    }
    /// `value` in place, all else zero. Bits of `value` beyond the width are dropped.
    #[inline(always)]
    #[must_use]
    pub const fn of(self, value: u64) -> u64 {
        value << self.lsb & self.mask()
    }
    /// `register` with the field replaced by `value`. Bits of `value` beyond the width are dropped.
    #[inline(always)]
    #[must_use]
    pub const fn set(self, register: u64, value: u64) -> u64 {
        register & !self.mask() | self.of(value)
    }
}

macro_rules! fields {
    ($($(#[$doc:meta])* mod $register:ident { $($name:ident $([$($span:literal)*])?;)* })*) => {
        $($(#[$doc])*
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod $register {
            use crate::field::Field;
            $(pub const $name: Field = $crate::field::fields!(@ $($($span)*)?);)*
            /// Every field with its name, in the order of the list.
            pub const FIELDS: &[(&str, Field)] = &[$((stringify!($name), $name)),*];
        })*
    };
    (@ $bit:literal) => { Field::span($bit, $bit) };
    (@ $msb:literal $lsb:literal) => { Field::span($msb, $lsb) };
}
pub(crate) use fields;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn get_and_set() {
        let f = Field::span(11, 8);
        assert_eq!((f.mask(), f.get(0xabcd), f.get_signed(0xfbcd), f.get_signed(0x0fcd)), (0xf00, 0xb, -5, -1));
        assert_eq!((f.of(0x12), f.set(0xffff, 0x3)), (0x200, 0xf3ff));
        let all = Field::span(63, 0);
        assert_eq!((all.mask(), all.get(u64::MAX), all.get_signed(u64::MAX)), (u64::MAX, u64::MAX, -1));
        assert_eq!(Field::span(63, 63).get_signed(1 << 63), -1);
    }

    #[test]
    fn fields_of_one_register_are_disjoint() {
        for (register, fields) in [
            ("SCTLR_EL1", sctlr_el1::FIELDS),
            ("TCR_EL1", tcr_el1::FIELDS),
            ("TCR_EL2", tcr_el2::FIELDS),
            ("VTCR_EL2", vtcr_el2::FIELDS),
            ("HCR_EL2", hcr_el2::FIELDS),
            ("HCRX_EL2", hcrx_el2::FIELDS),
            ("SPSR", crate::pstate::spsr::FIELDS),
            ("MDSCR_EL1", mdscr_el1::FIELDS),
            ("MDCR_EL2", mdcr_el2::FIELDS),
            ("ICH_HCR_EL2", ich_hcr_el2::FIELDS),
            ("ICH_LR_EL2", ich_lr_el2::FIELDS),
            ("ICH_VMCR_EL2", ich_vmcr_el2::FIELDS),
            ("DBGBCR", dbgbcr_el1::FIELDS),
            ("DBGWCR", dbgwcr_el1::FIELDS),
            ("CTR_EL0", ctr_el0::FIELDS),
            ("FPCR", fpcr::FIELDS),
        ] {
            let mut seen = 0;
            for (name, field) in fields {
                assert_eq!(seen & field.mask(), 0, "{register}.{name} overlaps");
                seen |= field.mask();
            }
        }
    }
}
