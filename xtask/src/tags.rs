//! Allocation tags under Linux: `guest/el0/tags.c` says the same under the guest's kernel as under qemu-aarch64, and what
//! it asks of the kernel alone is as the kernel's documentation has it.

use std::fs;
use std::process::Command;

use anyhow::Result;

use crate::boot::{Boot, Echo, Machine};
use crate::cross;
use crate::guests::{File, Guests, Kernel};
use crate::shell;

/// Asymmetric checks are the kernel's choice, a CPU at a time, among those that a program permits.
const BATCH: &[u8] = b"echo asymm > /sys/devices/system/cpu/cpu0/mte_tcf_preferred\n/bench/tags kernel\n";

/// What the kernel has to say: EFAULT for its own access without a signal, then SEGV_MTESERR for the load and
/// SEGV_MTEAERR for the store.
const OF_THE_KERNEL: [&str; 6] = [
    "tags: prctl 0",
    "tags: write of wrong tag e",
    "tags: in the kernel signals 0 code 0 offset 0",
    "tags: prctl 0",
    "tags: asym load signals 1 code 9 offset 0",
    "tags: asym store signals 1 code 8 offset 0",
];

/// Runs the program both ways.
pub fn check(guests: &Guests, kernel: Kernel) -> Result<()> {
    let flags = ["-O1", "-ffreestanding", "-nostdlib", "-fno-stack-protector", "-march=armv8.1-a"];
    let program = cross::compile("el0/tags.c", "el0-tags", flags)?;

    let judge = shell::capture(Command::new("qemu-aarch64").args(["-cpu", "max"]).arg(&program))?;
    let expected: Vec<&str> = judge.lines().chain(OF_THE_KERNEL).collect();

    let files = [File::executable("bench/tags", fs::read(&program)?), File::executable("batch/tags.sh", BATCH)];
    let initrd = guests.initrd_with("tags", &files)?;
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=tags").with_initrd(&initrd);
    boot.cpu = Some("max");
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: tags: status 0")?;
    outcome.expect_lines_from("tags: ", &expected)
}
