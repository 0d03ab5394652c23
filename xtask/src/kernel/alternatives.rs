//! `--run alternatives`: code is chosen by what the CPUs have, and by their errata, as boot options have it; programs that
//! wait for each other by futexes, and read the kernel's answers, run with each choice.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::boot::{Boot, Echo, Level, Machine};

use super::program;

/// Its name on the command line.
pub const NAME: &str = "alternatives";

/// A CPU (of both machines, or Vambrace's alone), words, and the conditions that are met: facts of these CPUs.
const CASES: [(&str, &[Machine], &str, &[&str]); 8] = [
    ("max", &[Machine::Vambrace, Machine::Qemu], "", &["Pan", "Lse", "Mte", "Pauth"]),
    ("max", &[Machine::Vambrace, Machine::Qemu], "nolse nomte", &["Pan", "Pauth"]),
    ("max", &[Machine::Vambrace], "nopauth", &["Pan", "Lse", "Mte"]),
    ("cortex-a53", &[Machine::Vambrace, Machine::Qemu], "", &[]),
    ("cortex-a57", &[Machine::Vambrace, Machine::Qemu], "", &["832075 (Cortex-A57)"]),
    ("neoverse-n1", &[Machine::Vambrace, Machine::Qemu], "", &["Pan", "Lse"]),
    ("thunderx2", &[Machine::Vambrace], "", &["Pan", "Lse"]),
    ("apple-m1", &[Machine::Vambrace], "", &["Pan", "Lse", "Pauth"]),
];

/// Runs it; a line about how it went.
pub fn check(image: &Path, echo: Echo) -> Result<String> {
    let initrd = program::initramfs("uaccess")?;
    let mut facts = Vec::new();
    for (cpu, machines, words, met) in CASES {
        for (machine, level) in machines.iter().flat_map(|on| [(*on, Level::El1), (*on, Level::El2)]) {
            let mut boot = Boot::of(image, Some(&initrd), words);
            boot.cpu = Some(cpu);
            boot.cpus = 4;
            boot.level = level;
            boot.qemu_board = if cpu == "max" { ",mte=on" } else { "" };
            boot.semihosting = true;
            boot.max_insns = Some(1_000_000_000);
            let outcome = boot.run(machine, echo)?;
            outcome.expect_status(7)?;
            outcome.expect_line("hello from uaccess")?;
            let prefix = "vambrace-kernel: alternatives for ";
            let line = outcome.line_from(prefix).context("nothing is said about alternatives")?;
            // `NAME COUNT, NAME COUNT, ... (of N)`
            let names = line[prefix.len()..].split(" (of ").next().unwrap_or_default();
            let mut found: Vec<&str> = names.split(", ").filter_map(|part| Some(part.rsplit_once(' ')?.0)).collect();
            found.sort_unstable();
            let mut expected = met.to_vec();
            expected.sort_unstable();
            ensure!(found == expected, "{cpu} {words}: {found:?} instead of {expected:?}\n{}", outcome.report());
            if machine == Machine::Vambrace && level == Level::El1 {
                facts.push(format!("{cpu} {words}[{}]", &line[prefix.len()..]));
            }
        }
    }
    Ok(format!("{NAME}: {}", facts.join(", ")))
}
