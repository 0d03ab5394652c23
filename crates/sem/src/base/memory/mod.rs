//! Loads and stores of general-purpose registers.

use crate::machine::Machine;
use crate::spec::Spec;

pub mod address;
pub mod transfer;

mod atomic;
mod atomic128;
mod compare_swap;
mod exclusive;
mod gcs;
mod literal;
mod ls64;
mod mops;
mod ordered;
mod ordered_pair;
mod pair;
mod pauth;
mod post_index;
mod pre_index;
mod rcw;
mod register_offset;
mod tags;
mod unprivileged;
mod unscaled;
mod unsigned_offset;

/// The classes' tables.
pub(crate) fn classes<M: Machine>() -> Vec<&'static [Spec<M>]> {
    vec![
        unsigned_offset::specs(),
        unscaled::specs(),
        pre_index::specs(),
        post_index::specs(),
        register_offset::specs(),
        unprivileged::specs(),
        literal::specs(),
        pair::specs(),
        exclusive::specs(),
        ordered::specs(),
        ordered_pair::specs(),
        compare_swap::specs(),
        atomic::specs(),
        atomic128::specs(),
        rcw::specs(),
        gcs::specs(),
        pauth::specs(),
        tags::specs(),
        mops::specs(),
        ls64::specs(),
    ]
}
