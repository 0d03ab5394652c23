//! The kernel that is part of this build, if there was one when it was made (`build.rs`).

use machine::config::Demo;

include!(concat!(env!("OUT_DIR"), "/demo.rs"));

/// What `vambrace run` boots where no kernel is named.
pub fn demo() -> Option<Demo> {
    BUILT_IN.map(|(kernel, initrd)| Demo { kernel, initrd })
}
