//! `cargo xtask demo --rootfs`: a Debian system on a disk, to a login prompt or through a script of real programs.

mod repository;
mod steps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};

use crate::boot::{self, Access, Boot, Disk, Echo, Machine};
use crate::guests::{File, Guests, Kernel, check_root_disk};
use crate::session::Session;
use crate::{setup, shell};
use repository::Repository;
use steps::{STEPS, Setting, Step};

/// What runs a step.
const STEP: &str = include_str!("../../rootfs/step");
/// Who logs in, with which password; as the second stage sets it.
const USER: [&str; 2] = ["root", "vambrace"];
/// The shell's prompt.
const PROMPT: &str = "root@vambrace:~# ";
/// For a whole script: hours, since the host may have much else to do.
const LIMIT: Duration = Duration::from_secs(3 * 3600);

/// Arguments of `cargo xtask demo` for the root disk.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// A Debian system on a root disk (`guests --rootfs` makes it) to its login prompt; with --batch through a script of
    /// real programs. The disk is a copy; what a run changes is gone with it.
    #[arg(long, conflicts_with = "nested")]
    pub rootfs: bool,
    /// QEMU in place of Vambrace, for comparison.
    #[arg(long, requires = "rootfs")]
    qemu: bool,
    /// Seconds of the guest that stress-ng works.
    #[arg(long, default_value_t = 60, requires = "rootfs")]
    stress: u32,
    /// Only the steps of the script whose names have this in them.
    #[arg(long, default_value = "", requires = "rootfs")]
    only: String,
}

/// What to run.
pub struct Root {
    machine: Machine,
    kernel: Kernel,
    cpus: u32,
    /// How long stress-ng works, the guest's seconds.
    stress: u32,
    /// Only the steps whose names have this in them.
    only: String,
}

impl Root {
    /// As the arguments say.
    pub fn new(options: &Options, kernel: Kernel, cpus: u32) -> Self {
        let machine = if options.qemu { Machine::Qemu } else { Machine::Vambrace };
        Self { machine, kernel, cpus, stress: options.stress, only: options.only.clone() }
    }

    /// Leaves the user at the login prompt.
    pub fn interactive(&self) -> Result<()> {
        let guests = self.prepare()?;
        let place = place()?;
        let disk = disk(&guests, &place)?;
        let mut command = self.boot(&guests, &place, &disk, &[])?.command(self.machine);
        let line = shell::display(&command);
        println!("{line}\nThe user is {}, the password {}. `poweroff` ends.", USER[0], USER[1]);
        let status = command.stdin(Stdio::inherit()).status().with_context(|| format!("cannot start `{line}`"))?;
        ensure!(status.success(), "the guest did not power off cleanly ({status})");
        Ok(fs::remove_dir_all(place)?)
    }

    /// Runs the script, and prints a table.
    pub fn batch(&self) -> Result<()> {
        let guests = self.prepare()?;
        let place = place()?;
        let disk = disk(&guests, &place)?;
        let repository = Repository::start(&place.join("repository"))?;
        let steps: Vec<&Step> = STEPS.iter().filter(|step| step.name.contains(&self.only)).collect();
        ensure!(!steps.is_empty(), "no step has `{}` in its name", self.only);
        let settings = format!("VAMBRACE_PORT={}\nVAMBRACE_STRESS={}\n", repository.port, self.stress);
        let mut files = vec![file("step", STEP), file("settings", &settings)];
        files.extend(steps.iter().map(|step| file(&format!("{}.sh", step.name), step.script)));
        let boot = self.boot(&guests, &place, &disk, &files)?;

        let mut session = Session::start(boot.command(self.machine), LIMIT, Echo::On)?;
        log_in(&mut session)?;
        let setting = Setting { cpus: self.cpus, stress: self.stress };
        let mut table = Vec::new();
        for step in steps {
            let logged_in = session.seconds();
            let run = run(&mut session, step, &setting)?;
            if table.is_empty() {
                table.push(Row { name: "to a login", verdict: Ok(()), guest: Some(run.begins), host: logged_in });
            }
            table.push(run.row);
        }
        for row in table.iter_mut().filter(|row| row.name == "apt" && row.verdict.is_ok()) {
            row.verdict = repository.expect_served();
        }
        table.push(power_off(&mut session)?);
        drop(session);
        let verdict = check_root_disk(&disk);
        table.push(Row { name: "file system", verdict, guest: None, host: 0.0 });
        self.report(&table).with_context(|| format!("the disk is in {}", disk.display()))?;
        // Half a gigabyte that nobody needs.
        Ok(fs::remove_dir_all(place)?)
    }

    fn prepare(&self) -> Result<Guests> {
        setup::ensure(&[setup::Part::Guests, setup::Part::RootDisk])?;
        if self.machine == Machine::Qemu {
            setup::ensure(&[setup::Part::QemuSystem])?;
        }
        boot::build_vambrace()?;
        Guests::prepare(&[self.kernel])
    }

    fn boot(&self, guests: &Guests, place: &Path, disk: &Path, files: &[File]) -> Result<Boot> {
        let initrd = place.join("initrd.gz");
        guests.root_initrd(&initrd, self.kernel, files)?;
        let words = "console=ttyAMA0 panic=-1 net.ifnames=0 systemd.log_color=0 vambrace.root=/dev/vda";
        let mut boot = Boot::of(&guests.image(self.kernel), Some(&initrd), words);
        boot.cpus = self.cpus;
        boot.disk = Some(Disk { path: disk.to_path_buf(), access: Access::ReadWrite });
        boot.words = ["--net", "user", "--rng"].map(str::to_owned).to_vec();
        // Its clock goes by instructions as ours does, one a nanosecond: by the host's, a busy host would make the guest's
        // time-outs run out, and a minute of work would be as much as the host has left for it.
        let qemu = "-icount shift=0 -netdev user,id=net -device virtio-net-device,netdev=net -device virtio-rng-device";
        boot.qemu_words = qemu.split(' ').map(str::to_owned).collect();
        boot.stats = Some("-".into());
        Ok(boot)
    }

    /// The table; an error if anything in it is not good.
    fn report(&self, table: &[Row]) -> Result<()> {
        println!("\nDebian on a root disk, {} on {} CPU(s), {}:", self.kernel, self.cpus, self.machine.name());
        println!("| {:12} | {:6} | guest s | host s |", "program", "result");
        println!("|---|---|--:|--:|");
        for row in table {
            let result = if row.verdict.is_ok() { "good" } else { "BAD" };
            let guest = row.guest.map_or_else(String::new, |seconds| format!("{seconds:.2}"));
            println!("| {:12} | {result:6} | {guest:>7} | {:>6.1} |", row.name, row.host);
        }
        let bad: Vec<String> =
            table.iter().filter_map(|row| Some(format!("{}: {:#}", row.name, row.verdict.as_ref().err()?))).collect();
        ensure!(bad.is_empty(), "not everything went well:\n{}", bad.join("\n"));
        Ok(())
    }
}

/// A directory for the files of this run alone: there may be others.
fn place() -> Result<PathBuf> {
    let place = boot::scratch(&format!("rootfs-{}", std::process::id()))?;
    fs::create_dir_all(&place)?;
    Ok(place)
}

/// A disk of this run's own.
fn disk(guests: &Guests, place: &Path) -> Result<PathBuf> {
    let path = place.join("root.img");
    guests.root_disk_copy(&path)?;
    Ok(path)
}

/// A line of the table.
struct Row {
    name: &'static str,
    verdict: Result<()>,
    /// Seconds of the guest's clock.
    guest: Option<f64>,
    /// Seconds of ours.
    host: f64,
}

/// What came of a step.
struct Run {
    row: Row,
    /// What the guest's clock showed before it.
    begins: f64,
}

fn file(name: &str, contents: &str) -> File {
    File { path: format!("run/vambrace/{name}"), permissions: 0o644, contents: contents.as_bytes().to_vec() }
}

fn log_in(session: &mut Session) -> Result<()> {
    session.expect("vambrace login: ")?;
    session.send(USER[0])?;
    session.expect("Password: ")?;
    session.send(USER[1])?;
    session.expect(PROMPT).map(drop)
}

/// Types the step, and reads on to the next prompt.
fn run(session: &mut Session, step: &'static Step, setting: &Setting) -> Result<Run> {
    let before = session.seconds();
    session.send(&format!("sh /run/vambrace/step {}", step.name))?;
    session.expect(&format!("step {} begins ", step.name))?;
    let begins = seconds(&session.expect("\n")?)?;
    let output = session.expect(&format!("step {} ends ", step.name))?.replace('\r', "");
    let end = session.expect("\n")?;
    let (status, ends) = end.split_once(' ').context("a step without an end")?;
    let guest = Some(seconds(ends)? - begins);
    session.expect(PROMPT)?;
    let verdict = if status == "0" { (step.check)(&output, setting) } else { Err(anyhow!("exit status {status}")) };
    Ok(Run { row: Row { name: step.name, verdict, guest, host: session.seconds() - before }, begins })
}

fn seconds(text: &str) -> Result<f64> {
    text.trim().parse().with_context(|| format!("the guest's clock shows \"{}\"", text.trim()))
}

fn power_off(session: &mut Session) -> Result<Row> {
    let before = session.seconds();
    session.send("systemctl poweroff")?;
    let status = session.finish()?;
    let verdict = match status.code() {
        Some(0) => session.expect_seen("reboot: Power down"),
        _ => Err(anyhow!("{status}")),
    };
    Ok(Row { name: "power-off", verdict, guest: None, host: session.seconds() - before })
}
