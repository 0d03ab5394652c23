//! The base instructions: everything that is not SIMD&FP, SVE or SME. One file for each of Arm's encoding classes, or for
//! classes whose instructions share their functions.
//!
//! Encodings up to Armv8.7 and some later ones are here; words of later ones are UNDEFINED, as on a PE without them.

use crate::machine::Machine;
use crate::spec::Spec;

mod branch;
mod memory;

mod addsub_carry;
mod addsub_extended;
mod addsub_imm;
mod addsub_shifted;
mod bitfield;
mod cond_compare;
mod cond_select;
mod crc32;
mod data1;
mod data2;
mod data3;
mod extract;
mod flag_manip;
pub mod imm;
mod logical_imm;
mod logical_shifted;
mod minmax_imm;
mod move_wide;
mod operand;
mod pc_rel;
mod tags;
#[cfg(test)]
mod tests;

pub use crc32::{CRC32, CRC32C};
pub(crate) use logical_imm::bitmask64;
pub use memory::{address, transfer};

/// The classes' tables.
pub(crate) fn classes<M: Machine>() -> Vec<&'static [Spec<M>]> {
    let data_processing = [
        addsub_imm::specs(),
        tags::specs(),
        minmax_imm::specs(),
        logical_imm::specs(),
        move_wide::specs(),
        bitfield::specs(),
        extract::specs(),
        pc_rel::specs(),
        addsub_shifted::specs(),
        addsub_extended::specs(),
        addsub_carry::specs(),
        logical_shifted::specs(),
        flag_manip::specs(),
        cond_compare::specs(),
        cond_select::specs(),
        data1::specs(),
        data2::specs(),
        data3::specs(),
    ];
    [&data_processing[..], &branch::classes(), &memory::classes()].concat()
}
