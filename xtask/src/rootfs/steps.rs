//! The script of real programs, and what each has to say.

use anyhow::{Context, Result, bail, ensure};

/// A step: a program or a few at work.
pub struct Step {
    /// The name in the table, and of the script.
    pub name: &'static str,
    /// What is run.
    pub script: &'static str,
    /// Its output, without carriage returns.
    pub check: fn(output: &str, setting: &Setting) -> Result<()>,
}

/// What the steps are told.
pub struct Setting {
    /// Number of CPUs.
    pub cpus: u32,
    /// How long stress-ng works, the guest's seconds.
    pub stress: u32,
}

macro_rules! exact {
    ($name:literal) => {
        Step {
            name: $name,
            script: include_str!(concat!("../../rootfs/steps/", $name, ".sh")),
            check: |output, _| same(output, include_str!(concat!("../../rootfs/steps/", $name, ".out"))),
        }
    };
}

macro_rules! checked {
    ($name:literal, $check:expr) => {
        Step { name: $name, script: include_str!(concat!("../../rootfs/steps/", $name, ".sh")), check: $check }
    };
}

/// All of them, in their order. What the files `*.out` say comes from the same programs on another architecture.
pub const STEPS: &[Step] = &[
    exact!("systemd"),
    checked!("cpus", |output, setting| same(output, &format!("{0}\n{0} {THOUSAND}\n", setting.cpus))),
    exact!("coreutils"),
    exact!("ext4"),
    exact!("python3"),
    exact!("perl"),
    exact!("gcc"),
    checked!("hackbench", hackbench),
    checked!("apt", apt),
    checked!("stress-ng", stress),
];

/// SHA-256 of `seq 1 1000`.
const THOUSAND: &str = "67d4ff71d43921d5739f387da09746f405e425b07d727e4c69d029461d1f051f";
/// SHA-256 of `seq 1 400000`.
const NUMBERS: &str = "88d1bf216a4a23b8ef0ad575bf91511a3929458e2babeed31ff8a89f7c5dbac3";

/// The kinds of work that stress-ng is given, as its script names them.
const STRESSORS: [&str; 14] = [
    "cpu", "vm", "hdd", "fork", "pipe", "futex", "matrix", "memcpy", "qsort", "mutex", "atomic", "timer", "sigq",
    "vecmath",
];

fn same(output: &str, wanted: &str) -> Result<()> {
    let (mut found, mut lines) = (output.lines(), wanted.lines());
    loop {
        match (found.next(), lines.next()) {
            (None, None) => return Ok(()),
            (found, wanted) if found == wanted => {}
            (found, wanted) => bail!("it says {found:?} instead of {wanted:?}"),
        }
    }
}

fn has(output: &str, line: &str) -> Result<()> {
    ensure!(output.lines().any(|found| found == line), "it does not say \"{line}\"");
    Ok(())
}

fn hackbench(output: &str, _: &Setting) -> Result<()> {
    for mode in ["process", "threaded"] {
        has(output, &format!("Running in {mode} mode with 2 groups using 40 file descriptors each (== 80 tasks)"))?;
    }
    let times: Vec<f64> = output.lines().filter_map(|line| line.strip_prefix("Time: ")?.trim().parse().ok()).collect();
    ensure!(times.len() == 2 && times.iter().all(|time| *time > 0.0), "its times are {times:?}");
    Ok(())
}

fn apt(output: &str, _: &Setting) -> Result<()> {
    for line in [
        "10.0.2.15",
        "  Candidate: 1.0",
        "vambrace-greeting 1.0 install ok installed",
        "greetings from a package",
        &format!("{NUMBERS}  -"),
        "gone",
    ] {
        has(output, line)?;
    }
    let wrong = output.lines().find(|line| line.starts_with("E: "));
    wrong.map_or(Ok(()), |line| bail!("{line}"))
}

fn stress(output: &str, setting: &Setting) -> Result<()> {
    let tail = |start: &str| output.lines().find_map(|line| Some(line.split_once(start)?.1.trim()));
    let wrong = output.lines().find(|line| line.contains("fail:") || line.contains("unsuccessful"));
    ensure!(wrong.is_none(), "a verification failed: {wrong:?}");
    // Lines such as `stress-ng: metrc: [633] cpu  92  3.00`: what, how often, for how many seconds.
    let done: Vec<(&str, u64)> = output
        .lines()
        .filter_map(|line| {
            let mut words = line.split_once("metrc: [")?.1.split_whitespace().skip(1);
            Some((words.next()?, words.next()?.parse().ok()?))
        })
        .collect();
    for wanted in STRESSORS {
        ensure!(done.iter().any(|(name, _)| *name == wanted), "it does not say what {wanted} did");
    }
    ensure!(done.iter().any(|(_, times)| *times > 0), "it did nothing");
    let ended = tail("successful run completed in ").context("it does not say that it ended well")?;
    let seconds: f64 = ended.split([' ', 's']).next().unwrap_or_default().parse().unwrap_or_default();
    ensure!(seconds >= f64::from(setting.stress), "it worked for {ended} only");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_compared_line_by_line() {
        assert!(same("one\ntwo\n", "one\ntwo").is_ok());
        for wrong in ["one", "one\ntwo\nthree", "one\n2", ""] {
            assert!(same(wrong, "one\ntwo").is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_stress_that_failed_or_was_short_is_seen() {
        let lines = STRESSORS.map(|name| format!("stress-ng: metrc: [7] {name}   7   60.00   1.0\n"));
        let mut good = lines.concat();
        good += "stress-ng: info:  [7] successful run completed in 60.02s (1 min, 0.02 secs)\n";
        let setting = |stress| Setting { cpus: 1, stress };
        stress(&good, &setting(60)).unwrap();
        assert!(stress(&good, &setting(61)).is_err());
        for (from, to) in
            [(" memcpy", " other"), ("successful", "unsuccessful"), ("successful", ""), ("   7 ", "   0 ")]
        {
            assert!(stress(&good.replace(from, to), &setting(60)).is_err(), "{to}");
        }
        assert!(stress(&format!("{good}stress-ng: fail:  [9] qsort"), &setting(60)).is_err());
    }
}
