//! The bootable kernel: joins what `hal`'s assembly calls to `kcore`. An Image for the bare target; on a host, a program
//! that says so.
#![cfg_attr(target_os = "none", no_std)]
#![cfg_attr(target_os = "none", no_main)]

#[cfg(target_os = "none")]
mod glue;

/// The kernel is no program of the host.
#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this kernel is built for a bare machine: `cargo xtask kernel`");
    std::process::exit(2);
}
