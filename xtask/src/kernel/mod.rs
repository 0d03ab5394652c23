//! `cargo xtask kernel`: our own kernel (`kernel/*`), built for the bare machine, and programs run on it.

mod alternatives;
mod bad_input;
mod build;
mod built_in;
mod contpte;
mod fuzz;
mod levels;
mod mrs_trace;
mod mte;
mod paths;
pub mod program;
mod runs;
mod same;
mod sampler;
mod siblings;
mod toolchain;
mod trace;

use std::path::Path;

use anyhow::{Context, Result};

use crate::guests::{Guests, Kernel};
use crate::{boot, setup, shell};

pub use built_in::release;
pub use runs::ALL as RUNS;
pub use runs::Run;

/// The Linux that runs the same scripts, as judge.
const JUDGE: Kernel = Kernel::V6_1;

/// The one that knows as many features of CPUs as our kernel.
const CPU_JUDGE: Kernel = Kernel::V6_12;

/// A run that judges by itself: of a built image, a line about how it went.
pub type Own = fn(&Path, boot::Echo) -> Result<String>;
/// All of these. One to a line, so that more can be added side by side.
pub const OWN: &[(&str, Own)] = &[
    (alternatives::NAME, alternatives::check),
    (bad_input::NAME, bad_input::check),
    (built_in::NAME, built_in::check),
    (contpte::NAME, contpte::check),
    (levels::NAME, levels::check),
    (fuzz::NAME, fuzz::check),
    (mrs_trace::NAME, mrs_trace::check),
    (mte::NAME, mte::check),
    ("pauth", same::pauth),
    (sampler::NAME, sampler::check),
    (siblings::NAME, siblings::check),
];

/// Arguments of `cargo xtask kernel`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run this on Vambrace and QEMU, at EL1 and EL2, and compare; `all` for everything. May be given several times.
    #[arg(long, value_name = "NAME")]
    run: Vec<String>,
    /// Number of CPUs, instead of each run's own.
    #[arg(long)]
    cpus: Option<u32>,
    #[command(flatten)]
    fuzz: fuzz::Options,
    /// Show the consoles.
    #[arg(long)]
    show: bool,
    /// Print what the short ways through the kernel cost, beside Linux.
    #[arg(long)]
    table: bool,
    /// Only check: clippy for the bare target.
    #[arg(long)]
    check: bool,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    fuzz::choose(&args.fuzz);
    if args.check {
        return check();
    }
    let image = build()?;
    println!("kernel: {}", image.display());
    let echo = if args.show { boot::Echo::On } else { boot::Echo::Off };
    if args.table {
        return table(&image, echo);
    }
    if args.run.is_empty() {
        let names: Vec<&str> = RUNS.iter().map(|run| run.name).collect();
        let own: Vec<&str> = OWN.iter().map(|(name, _)| *name).collect();
        println!("runs: {}, {}", names.join(", "), own.join(", "));
        return Ok(());
    }
    let is_own = |name: &&String| OWN.iter().any(|(own, _)| own == name);
    let (own, run): (Vec<&String>, Vec<&String>) = args.run.iter().partition(is_own);
    let is_all = args.run.iter().any(|name| name == "all");
    for (_, check) in OWN.iter().filter(|(name, _)| is_all || own.iter().any(|own| own == name)) {
        setup::ensure(&[setup::Part::Guests, setup::Part::Cross, setup::Part::QemuSystem, setup::Part::QemuUser])?;
        boot::build_vambrace()?;
        println!("{}", check(&image, echo)?);
    }
    if run.is_empty() {
        return Ok(());
    }
    let wanted: Vec<&Run> = if is_all {
        RUNS.iter().collect()
    } else {
        let find = |name: &String| {
            RUNS.iter().find(|run| run.name == name).with_context(|| format!("there is no run `{name}`"))
        };
        run.into_iter().map(find).collect::<Result<_>>()?
    };
    let lab = prepare()?;
    for run in wanted {
        println!("{}", lab.run(run, args.cpus, echo)?);
    }
    Ok(())
}

/// Prints what the short ways through the kernel cost, beside Linux. An error if ours are not half of Linux's.
pub fn table(image: &Path, echo: boot::Echo) -> Result<()> {
    setup::ensure(&[setup::Part::Guests, setup::Part::Cross, setup::Part::QemuUser])?;
    boot::build_vambrace()?;
    paths::table(&Guests::prepare(&[JUDGE])?, image, echo)
}

/// Builds the image; returns where it is.
pub fn build() -> Result<std::path::PathBuf> {
    build::image(&toolchain::Toolchain::find()?)
}

/// Builds the image of other sources; returns where it is.
pub fn build_in(root: &Path, target: &Path) -> Result<std::path::PathBuf> {
    build::image_of(&toolchain::Toolchain::find()?, root, target)
}

/// What the run of that name, one that judges by itself, says of an image.
pub fn judge(name: &str, image: &Path) -> Result<String> {
    let (_, check) = OWN.iter().find(|(own, _)| *own == name).with_context(|| format!("there is no run `{name}`"))?;
    setup::ensure(&[setup::Part::Guests, setup::Part::Cross, setup::Part::QemuSystem, setup::Part::QemuUser])?;
    boot::build_vambrace()?;
    check(image, boot::Echo::Off)
}

/// Clippy as for everything else, on what is compiled for the bare target alone.
pub fn check() -> Result<()> {
    let toolchain = toolchain::Toolchain::find()?;
    if matches!(toolchain, toolchain::Toolchain::Debian) {
        eprintln!("kernel: no clippy comes with Debian's compiler; the build is the check");
        return build().map(|_| ());
    }
    let mut clippy = toolchain.cargo("clippy")?;
    clippy.args(build::ARGUMENTS).args(["--", "-D", "warnings"]);
    shell::run(&mut clippy)
}

/// Everything that a run needs.
pub fn prepare() -> Result<runs::Lab> {
    setup::ensure(&[setup::Part::Guests, setup::Part::Cross, setup::Part::QemuSystem])?;
    let guests = Guests::prepare(&[JUDGE, CPU_JUDGE])?;
    boot::build_vambrace()?;
    Ok(runs::Lab::new(guests, build()?))
}
