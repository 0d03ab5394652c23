//! Vambrace's tasks: `cargo xtask help` lists them.

mod apt;
mod bench;
mod boot;
mod boots;
mod cpio;
mod cross;
mod demo;
mod devices;
mod firmware;
mod fuzz;
mod gdb;
mod guests;
mod image;
mod kernel;
mod kvm;
mod layers;
mod levels;
mod licences;
mod metadata;
mod mutants;
mod nested;
mod oracle;
mod parallel;
mod perf;
mod profile;
mod rootfs;
mod session;
mod setup;
mod shell;
mod snapshots;
mod tags;
mod test;
mod twice;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Vambrace's tasks")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Fetch Debian arm64 kernels and busybox, and make initramfs images from them.
    Guests(guests::Args),
    /// Install what the tasks need from the system, or say how.
    Setup(setup::Args),
    /// Boot a guest to a shell, or through a fixed script.
    Demo(demo::Args),
    /// Run every test that CI runs.
    Test,
    /// Have a guest work the board's devices.
    Devices(devices::Args),
    /// Start firmware (EDK2): to its shell, and from it Linux and GRUB.
    Firmware(firmware::Args),
    /// Boot every kernel on several numbers of CPUs.
    Boots(boots::Args),
    /// A Linux guest of Linux's KVM, on several hosts and in several ways.
    Nested(nested::Args),
    /// What trapping the interrupt controller's common registers costs a guest with pseudo-NMI.
    Seed002(nested::Seed002Args),
    /// Save a run in the middle and restore it: it ends as one that was not.
    Snapshot(snapshots::Args),
    /// A session of GDB with a kernel that boots.
    Gdb(gdb::Args),
    /// Measure Vambrace beside QEMU.
    Bench(bench::Args),
    /// Build our kernel, and run programs on it.
    Kernel(kernel::Args),
    /// Build `vambrace` with our kernel and its demonstration inside.
    Release,
    /// Take barriers, invalidations, locks and flags out of our kernel one at a time, and see that the tests find it.
    Mutants(mutants::Args),
    /// Compare the PE with independent implementations.
    Oracle(oracle::Args),
    /// Run the machine's parts on hostile input, guided by what it reaches.
    Fuzz(fuzz::Args),
    /// Check that dependencies between our crates point down.
    Layers,
    /// Check the licences of all dependencies.
    Licences,
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<test::Reported>() {
                eprintln!("error: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Guests(args) => guests::run(&args),
        Task::Setup(args) => setup::run(&args),
        Task::Demo(args) => demo::run(&args),
        Task::Test => test::run(),
        Task::Devices(args) => devices::run(&args),
        Task::Firmware(args) => firmware::run(&args),
        Task::Boots(args) => boots::run(&args),
        Task::Nested(args) => nested::run(&args),
        Task::Seed002(args) => nested::seed002(&args),
        Task::Snapshot(args) => snapshots::run(&args),
        Task::Gdb(args) => gdb::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Kernel(args) => kernel::run(&args),
        Task::Release => kernel::release(),
        Task::Mutants(args) => mutants::run(&args),
        Task::Oracle(args) => oracle::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Layers => layers::run(),
        Task::Licences => licences::run(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_made() {
        super::Cli::command().debug_assert();
    }
}
