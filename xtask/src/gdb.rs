//! `cargo xtask gdb`: a session of GDB itself with a kernel that boots, and the same boot without.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::boot::{self, Boot, Echo, Machine};
use crate::guests::{Guests, Kernel};
use crate::{setup, shell, twice};

/// Arguments of `cargo xtask gdb`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel.
    #[arg(long, default_value = "6.1")]
    kernel: Kernel,
}

/// The session's commands, behind those that connect. Lines that begin with `=` are looked at here.
const SESSION: &str = include_str!("gdb/session.gdb");

/// How long a session may take.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(&[setup::Part::Guests, setup::Part::Gdb])?;
    let guests = Guests::prepare(&[args.kernel])?;
    boot::build_vambrace()?;
    println!("{}", check(&guests, args.kernel)?);
    Ok(())
}

/// What GDB showed.
struct Session {
    text: String,
}

impl Session {
    /// The words behind `= NAME`.
    fn value(&self, name: &str) -> Result<&str> {
        let found = self.text.lines().find_map(|line| line.strip_prefix("= ")?.strip_prefix(name)?.strip_prefix(' '));
        found.with_context(|| format!("the session shows no {name}\n{}", self.text))
    }
    fn expect(&self, name: &str, wanted: &str) -> Result<()> {
        let value = self.value(name)?;
        ensure!(value == wanted, "{name} is {value}, not {wanted}\n{}", self.text);
        Ok(())
    }
    fn expect_text(&self, wanted: &str) -> Result<()> {
        ensure!(self.text.contains(wanted), "the session does not show {wanted:?}\n{}", self.text);
        Ok(())
    }
    /// The functions of the backtrace behind a line.
    fn callers(&self, behind: &str) -> Vec<&str> {
        let lines = self.text.lines().skip_while(|line| *line != behind).skip(1);
        lines.take_while(|line| line.starts_with('#')).filter_map(|line| line.rsplit(' ').nth(1)).collect()
    }
    fn expect_callers(&self, behind: &str, wanted: &[&str]) -> Result<()> {
        let seen = self.callers(behind);
        ensure!(seen.starts_with(wanted), "{behind}: {seen:?}, not {wanted:?}\n{}", self.text);
        Ok(())
    }
}

/// Boots `kernel` on 2 CPUs without GDB and under it: GDB sees what the kernel says of itself, and both runs end the same.
pub fn check(guests: &Guests, kernel: Kernel) -> Result<String> {
    let mut boot = Boot::new(guests, kernel, "nokaslr vambrace.batch=off");
    boot.cpus = 2;
    let stats = boot::scratch("gdb-without.json")?;
    boot.stats = Some(stats.clone());
    let without = boot.run(Machine::Vambrace, Echo::Off)?;
    without.expect_status(0)?;

    let symbols = boot::scratch("gdb-symbols")?;
    shell::capture(Command::new(boot::vambrace_binary()).arg("symbols").arg(guests.image(kernel)).arg(&symbols))?;
    let stats_under = boot::scratch("gdb-under.json")?;
    boot.stats = Some(stats_under.clone());
    boot.words = ["--gdb", "0", "--gdb-wait"].map(Into::into).into();
    let started = Instant::now();
    let (session, console) = session(&boot, &symbols)?;
    let seconds = started.elapsed().as_secs_f64();

    // The kernel prints its own MIDR_EL1 and version.
    let midr = session.value("midr")?;
    let line = format!("Booting Linux on physical CPU 0x0000000000 [0x{midr}]");
    ensure!(without.line_with(&line).is_some(), "the kernel does not say {line:?}");
    session.expect("printk", &format!("0 {midr}"))?;
    let version = without.line_with("Linux version ").and_then(|line| line.split_once("] ")).context("no version")?.1;
    session.expect_text(version)?;
    session.expect("start_kernel", "0")?;
    session.expect_callers("= at start_kernel", &["start_kernel", "__primary_switched"])?;
    // STACK_END_MAGIC of include/uapi/linux/magic.h, which set_task_stack_end_magic writes.
    session.expect_text(&format!("Old value = 0\nNew value = {}\n", 0x57ac_6e9du32))?;
    session.expect_callers("= at magic", &["set_task_stack_end_magic", "start_kernel"])?;
    session.expect_callers("= at printk", &["_printk", "smp_setup_processor_id"])?;
    session.expect("steps", "4 8 c")?;
    session.expect("written", "1234 5678 1")?;
    let [by_va, by_pa] = ["virtual", "physical"].map(|name| session.value(name));
    let (by_va, by_pa) = (by_va?, by_pa?);
    ensure!(by_va == by_pa && by_va != "0", "memory is {by_va} by virtual address, {by_pa} by physical");
    session.expect("second", "2")?;
    session.expect_callers("= at init", &["run_init_process", "kernel_init"])?;
    session.expect("init", "/init")?;

    if console != without.bytes {
        bail!("the console under GDB differs: {}\nGDB:\n{}", String::from_utf8_lossy(&console), session.text);
    }
    let hash = twice::same_statistics(&fs::read_to_string(&stats)?, &fs::read_to_string(&stats_under)?)?;
    Ok(format!("{} under GDB ({seconds:.1} s) and without: both end with state hash {hash}", kernel.name()))
}

/// A process that ends with its handle.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `boot` under GDB; gives what GDB said, and the console.
fn session(boot: &Boot, symbols: &Path) -> Result<(Session, Vec<u8>)> {
    let console = boot::scratch("gdb-console")?;
    let mut command = boot.command(Machine::Vambrace);
    command.stdin(Stdio::null()).stdout(fs::File::create(&console)?).stderr(Stdio::piped());
    let mut machine = Running(command.spawn().context("cannot start vambrace")?);
    let mut complaints = BufReader::new(machine.0.stderr.take().context("no pipe")?);
    let mut line = String::new();
    complaints.read_line(&mut line)?;
    let target =
        line.trim().strip_prefix("vambrace: gdb: target remote ").with_context(|| format!("not a place: {line}"))?;

    let script = boot::scratch("gdb-script")?;
    let begin = format!("file {}\ntarget remote {target}\n", symbols.display());
    fs::write(&script, begin + SESSION)?;
    let output = boot::scratch("gdb-output")?;
    let file = fs::File::create(&output)?;
    let mut gdb = Command::new("gdb-multiarch");
    gdb.args(["-nx", "-batch", "-x"]).arg(&script);
    gdb.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut gdb = Running(gdb.spawn().context("cannot start gdb-multiarch")?);
    let started = Instant::now();
    for child in [&mut gdb.0, &mut machine.0] {
        while child.try_wait()?.is_none() {
            if started.elapsed() > LIMIT {
                bail!("over {} s\n{}", LIMIT.as_secs(), fs::read_to_string(&output)?);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    let session = Session { text: fs::read_to_string(&output)? };
    let mut rest = String::new();
    complaints.read_to_string(&mut rest)?;
    let status = machine.0.wait()?;
    ensure!(status.success() && rest.is_empty(), "vambrace under GDB: {status}, {rest}\n{}", session.text);
    session.value("end")?;
    Ok((session, fs::read(&console)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gdb_shows_is_read() {
        let text = "= midr 411fd070\n= at init\n#0  0xffff80 in run_init_process ()\n#1  0xff in kernel_init ()\nx\n#2  0x1 in y ()";
        let session = Session { text: text.into() };
        assert_eq!(session.value("midr").unwrap(), "411fd070");
        assert!(session.value("mid").is_err());
        assert_eq!(session.callers("= at init"), ["run_init_process", "kernel_init"]);
    }
}
