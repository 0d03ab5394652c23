//! Branches, exception generating and system instructions.

use crate::machine::Machine;
use crate::spec::Spec;

mod barrier;
mod compare;
mod exception;
mod hint;
mod immediate;
mod pstate;
mod register;
mod system;
mod system128;

/// The classes' tables.
pub(crate) fn classes<M: Machine>() -> Vec<&'static [Spec<M>]> {
    vec![
        immediate::specs(),
        compare::specs(),
        register::specs(),
        exception::specs(),
        hint::specs(),
        barrier::specs(),
        pstate::specs(),
        system::specs(),
        system128::specs(),
    ]
}
