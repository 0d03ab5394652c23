//! The Statistical Profiling Extension. Here is the decoder of its records; a driver for the buffer comes beside it when
//! the machine models FEAT_SPE. A driver starts sampling only with a [`crate::contextidr::Token`] in hand, which says that
//! every CPU has written its PID.

pub mod packet;
