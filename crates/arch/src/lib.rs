//! Facts of the A-profile architecture, written once and used by the machine and by the kernel alike:
//! address kinds, exception levels, system registers, features, ID registers, syndromes and descriptors.
#![cfg_attr(not(test), no_std)]

pub mod addr;
pub mod descriptor;
pub mod el;
pub mod esr;
pub mod feature;
pub mod field;
pub mod gic;
pub mod model;
pub mod pmu;
pub mod policy;
pub mod preset;
pub mod pstate;
pub mod sysreg;
pub mod trap;

pub use addr::{Ipa, Pa, Va};
pub use el::El;
pub use model::CpuModel;
