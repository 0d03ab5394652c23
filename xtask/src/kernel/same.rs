//! A program of `guest/el0` that says the same under our kernel as under Linux on the same machine, on `max`.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::boot::{Boot, Echo, Level, Machine, Outcome};
use crate::guests::Guests;

use super::{JUDGE, program};

/// Which of a program's lines count.
#[derive(Debug, Clone, Copy)]
pub enum Said {
    /// Those between `NAME: begin` and `NAME: end`.
    Between,
    /// Those that begin so.
    Beginning(&'static str),
}

/// Runs it under Linux, and under our kernel at EL1 and EL2 on 1 and 4 CPUs, on Vambrace and QEMU; a line about how it went.
pub fn as_linux(guests: &Guests, image: &Path, name: &str, said: Said, words: &str, echo: Echo) -> Result<String> {
    let initrd = program::initramfs(name)?;
    let mut count = 0;
    for on in [Machine::Vambrace, Machine::Qemu] {
        let linux = Boot::new(guests, JUDGE, &format!("quiet loglevel=0 {words}")).with_initrd(&initrd);
        let expected = lines(&machine(linux, Level::El1).run(on, echo)?, name, said)?;
        count = expected.len();
        for level in [Level::El1, Level::El2] {
            for cpus in [1, 4] {
                let mut ours = machine(Boot::of(image, Some(&initrd), words), level);
                ours.cpus = cpus;
                ours.semihosting = true;
                let ours = lines(&ours.run(on, echo)?, name, said)?;
                ensure!(
                    ours == expected,
                    "{name} on {}, {level:?}, {cpus} CPU(s): Linux says\n{}\n-- ours\n{}",
                    on.name(),
                    expected.join("\n"),
                    ours.join("\n")
                );
            }
        }
    }
    Ok(format!("{name} as Linux {JUDGE} on both machines, {count} lines"))
}

/// A boot on `max`, with allocation tags on QEMU's board too.
pub fn machine(mut boot: Boot, level: Level) -> Boot {
    boot.cpu = Some("max");
    boot.level = level;
    boot.qemu_board = ",mte=on";
    boot.max_insns = Some(6_000_000_000);
    boot
}

fn lines(outcome: &Outcome, name: &str, said: Said) -> Result<Vec<String>> {
    let lines: Vec<String> = match said {
        Said::Beginning(prefix) => outcome.lines_from(prefix).map(str::to_owned).collect(),
        Said::Between => {
            let (begin, end) = (format!("{name}: begin"), format!("{name}: end"));
            outcome.expect_line(&begin)?;
            outcome.expect_line(&end)?;
            outcome.lines_behind(&begin).take_while(|line| *line != end).map(str::to_owned).collect()
        }
    };
    ensure!(lines.len() > 10, "{name} said little\n{}", outcome.report());
    Ok(lines)
}

/// `--run pauth`: pointer authentication and branch targets.
pub fn pauth(image: &Path, echo: Echo) -> Result<String> {
    let guests = Guests::prepare(&[JUDGE])?;
    Ok(format!("pauth: {}", as_linux(&guests, image, "pauth", Said::Between, "", echo)?))
}
