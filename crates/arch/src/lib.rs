//! Facts of the A-profile architecture, written once and used by the machine and by the kernel alike:
//! address kinds, exception levels, system registers, features, ID registers, syndromes and descriptors.
#![cfg_attr(not(test), no_std)]

pub mod addr;
pub mod el;
pub mod feature;
pub mod sysreg;

pub use addr::{Ipa, Pa, Va};
pub use el::El;
