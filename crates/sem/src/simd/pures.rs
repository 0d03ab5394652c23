//! Tables of pure functions by element size and vector form.

use crate::machine::Pure;

/// For elements of 8, 16, 32 and 64 bits; always 128 bits wide.
pub(crate) type Sizes = [Pure; 4];
/// By form: scalar, 64 bits, 128 bits; for functions that touch FPSR and so must not see unused lanes.
pub(crate) type Forms<const N: usize> = [[Pure; N]; 3];

/// Narrowing and widening functions: by the narrow element's size, 8 to 32 bits.
pub(crate) type Narrows = [Pure; 3];

/// `[f::<E1, ARGS>, …]` as a table of [`Pure`] functions named `NAME.B` and so on.
macro_rules! sizes {
    ($name:expr, $f:ident; $b:ident $h:ident $s:ident $d:ident) => {
        [
            crate::machine::Pure { name: concat!($name, ".B"), run: $f::<$b> },
            crate::machine::Pure { name: concat!($name, ".H"), run: $f::<$h> },
            crate::machine::Pure { name: concat!($name, ".S"), run: $f::<$s> },
            crate::machine::Pure { name: concat!($name, ".D"), run: $f::<$d> },
        ]
    };
    ($name:expr, $f:ident, $($arg:tt),+; $b:ident $h:ident $s:ident $d:ident) => {
        [
            crate::machine::Pure { name: concat!($name, ".B"), run: $f::<$b, $($arg),+> },
            crate::machine::Pure { name: concat!($name, ".H"), run: $f::<$h, $($arg),+> },
            crate::machine::Pure { name: concat!($name, ".S"), run: $f::<$s, $($arg),+> },
            crate::machine::Pure { name: concat!($name, ".D"), run: $f::<$d, $($arg),+> },
        ]
    };
}

/// The same for narrow elements of 8, 16 and 32 bits.
macro_rules! narrows {
    ($name:expr, $f:ident $(, $arg:tt)*; $b:ident $h:ident $s:ident) => {
        [
            crate::machine::Pure { name: concat!($name, ".B"), run: $f::<$b $(, $arg)*> },
            crate::machine::Pure { name: concat!($name, ".H"), run: $f::<$h $(, $arg)*> },
            crate::machine::Pure { name: concat!($name, ".S"), run: $f::<$s $(, $arg)*> },
        ]
    };
}

/// Three tables: one element, 64 bits, 128 bits.
macro_rules! forms {
    ($name:expr, $f:ident; $b:ident $h:ident $s:ident $d:ident) => {
        [
            sizes!(concat!($name, ".1"), $f, 0; $b $h $s $d),
            sizes!(concat!($name, ".64"), $f, 1; $b $h $s $d),
            sizes!(concat!($name, ".128"), $f, 2; $b $h $s $d),
        ]
    };
}

/// How many elements of `bits` bits a form has: 0 is the scalar form, 1 is 64 bits, 2 is 128 bits.
#[inline(always)]
pub(crate) const fn count(form: usize, bits: u32) -> usize {
    if form == 0 { 1 } else { form * 64 / bits as usize }
}
