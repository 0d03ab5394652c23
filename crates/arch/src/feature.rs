//! Architecture features (the full table comes with the feature list).

/// A feature of the architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types)]
pub enum Feature {
    /// Large System Extensions: atomics.
    FEAT_LSE,
}
