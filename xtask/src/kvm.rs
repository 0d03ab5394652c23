//! EL2 under Linux: `guest/el0/kvm.c` makes a virtual machine with KVM, whose exits are known; what KVM makes of the GIC.

use std::fs;

use anyhow::{Result, bail};

use crate::boot::{Boot, Echo, Level, Machine};
use crate::cross;
use crate::guests::{File, Guests, Kernel};
use crate::nested;

/// The exits of the virtual machine: KVM_EXIT_MMIO is 6.
const EXITS: [&str; 5] = [
    "kvm: exit 6 at 0x10000000, 4 bytes, write 1, data 0x42",
    "kvm: exit 6 at 0x10000000, 1 bytes, write 0, data 0",
    "kvm: exit 6 at 0x10000004, 4 bytes, write 1, data 0x3e8",
    "kvm: exit 6 at 0x10000008, 4 bytes, write 1, data 0x1234",
    "kvm: exit 6 at 0x1000000c, 4 bytes, write 1, data 0x55",
];

/// Boots `kernel` at EL2 with `kvm-arm.mode=MODE` and runs the program.
pub fn check(guests: &Guests, kernel: Kernel, mode: &str) -> Result<()> {
    let files = [
        File::executable("bench/kvm", fs::read(cross::hosted("kvm", &[])?)?),
        File::executable("batch/kvm.sh", "/bench/kvm\n"),
    ];
    let initrd = guests.initrd_with("kvm", &files)?;
    let mut boot = Boot::new(guests, kernel, &format!("kvm-arm.mode={mode} vambrace.batch=kvm")).with_initrd(&initrd);
    boot.cpu = Some("neoverse-n1");
    boot.level = Level::El2;
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: kvm: status 0")?;
    outcome.expect_lines_from("kvm: exit ", &EXITS)
}

/// What a host on an Apple M1 says of trapping, by `--gic` setting: all of both groups because of SEIS, and of what is common
/// to them ICC_DIR_EL1 alone (D) where there is ICH_HCR_EL2.TDIR, else everything (C).
const TRAPPING: [(&str, Option<&str>); 3] =
    [("tds=on", Some("[G0G1D]")), ("tds=off", Some("[G0G1C]")), ("seis=off", None)];

/// Boots `kernel` at EL2 of an Apple M1 and looks at its log.
pub fn check_trapping(guests: &Guests, kernel: Kernel) -> Result<()> {
    for (setting, groups) in TRAPPING {
        let mut boot = Boot::new(guests, kernel, "vambrace.batch=demo");
        boot.cpu = Some("apple-m1");
        boot.level = Level::El2;
        boot.words = vec!["--gic".into(), setting.into()];
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        outcome.expect_status(0)?;
        let found = outcome.line_with(nested::TRAPPING_LOG);
        let right = match groups {
            Some(groups) => found.is_some_and(|line| line.contains(&format!("({groups}, "))),
            None => found.is_none() && outcome.line_with("GIC system register CPU interface enabled").is_some(),
        };
        if !right {
            bail!("--gic {setting}: expected {groups:?}, the host says {found:?}\n{}", outcome.report());
        }
    }
    Ok(())
}
