//! The table of encodings.

use arch::feature::Feature;

use crate::insn::Insn;
use crate::machine::{Done, Machine};
use crate::pattern::Pattern;

/// One encoding: a leaf of Arm's list, and the function that gives its meaning on machine `M`.
pub struct Spec<M: Machine> {
    /// Arm's name of the leaf, such as `ADD_64_addsub_imm`. Two lines may share it where one is a special case.
    pub name: &'static str,
    /// Fixed bits.
    pub pattern: Pattern,
    /// The feature without which the encoding is UNDEFINED.
    pub feature: Option<Feature>,
    /// Does it end a block of pre-decoded instructions? Branches, exceptions, barriers and what changes the context do.
    pub flow: Flow,
    /// Prepares [`Insn::imm`]; `None` from it means that the word is UNDEFINED after all (reserved field values).
    pub prepare: fn(u32) -> Option<u64>,
    /// How it is written, in the notation of [`crate::text`]; empty where no text was given.
    pub text: &'static str,
    /// The meaning.
    pub run: fn(&mut M, Insn) -> Done<M>,
}

/// How an instruction leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Next,
    /// It ends its block.
    End,
}

/// For encodings without a costly immediate and without reserved values.
#[must_use]
pub fn plain(_word: u32) -> Option<u64> {
    Some(0)
}

/// The body of an encoding that is known but not done yet.
pub fn not_done<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.not_done(i)
}

/// One class's table. A line is one leaf of Arm's list, or a special case of one (same name, more fixed bits) that a
/// body of its own serves better. Of the lines that match a word the one with the most fixed bits wins; where two have
/// equally many they must say the same, or a third line must take the words of both: a test sees to it.
///
/// First come the texts: `"LEAVES" => "text";` where LEAVES is a leaf's name in which each `*` stands for anything, and the
/// text is in the notation of [`crate::text`]. A leaf has the first one that takes its name.
///
/// A line: `NAME "pattern" FEATURE flow prepare => function;` where FEATURE is `-` or a `Feature`, flow is
/// `next` or `end`, and prepare and function are paths, with generic arguments where they have any.
#[macro_export]
macro_rules! encodings {
    ($($leaves:literal => $text:literal;)* $($name:ident $pattern:literal $feature:tt $flow:ident $prepare:path => $run:expr;)*) => {
        /// The encodings of this class.
        #[must_use]
        pub fn specs<M: $crate::machine::Machine>() -> &'static [$crate::spec::Spec<M>] {
            const TEXTS: &[(&str, &str)] = &[$(($leaves, $text)),*];
            const { $crate::text::assert_used(TEXTS, &[$(stringify!($name)),*]) };
            const {
                &[$($crate::spec::Spec {
                    name: stringify!($name),
                    pattern: $crate::pattern::Pattern::parse($pattern),
                    feature: $crate::feature_of!($feature),
                    flow: $crate::flow_of!($flow),
                    prepare: $prepare,
                    text: $crate::text::of_leaf(TEXTS, stringify!($name)),
                    run: $run,
                }),*]
            }
        }
    };
}

/// `-` or a feature's name, as an `Option<Feature>`.
#[macro_export]
macro_rules! feature_of {
    (-) => {
        None
    };
    ($feature:ident) => {
        Some(arch::feature::Feature::$feature)
    };
}

/// `next` or `end`, as a `Flow`.
#[macro_export]
macro_rules! flow_of {
    (next) => {
        $crate::spec::Flow::Next
    };
    (end) => {
        $crate::spec::Flow::End
    };
}

/// Every class's table, in the order of Arm's list. The position of a line, counted over all tables, is its `InsnId`,
/// the same for every `M`.
#[must_use]
pub fn specs<M: Machine>() -> Vec<&'static Spec<M>> {
    let classes = [crate::base::classes::<M>(), crate::simd::classes::<M>()];
    classes.into_iter().flatten().flatten().collect()
}
