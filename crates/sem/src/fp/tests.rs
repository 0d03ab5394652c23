//! The host's arithmetic against the soft functions; and cases of the manual.
