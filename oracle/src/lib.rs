//! Comparison with independent implementations.
