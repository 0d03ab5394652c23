//! Address kinds. A virtual, an intermediate physical and a physical address never mix by accident.

use core::fmt;

macro_rules! address {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// The address `bytes` further on, wrapping at 64 bits.
            #[inline(always)]
            #[must_use]
            pub const fn add(self, bytes: u64) -> Self {
                Self(self.0.wrapping_add(bytes))
            }

            /// The address rounded down to a multiple of `size`, a power of two in bytes.
            #[inline(always)]
            #[must_use]
            pub const fn align_down(self, size: u64) -> Self {
                Self(self.0 & !(size - 1))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }
    };
}

address! {
    /// A virtual address, top byte included.
    Va
}
address! {
    /// An intermediate physical address: the output of stage 1 where stage 2 is in use.
    Ipa
}
address! {
    /// A physical address.
    Pa
}
