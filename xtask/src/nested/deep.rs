//! A guest of a guest: the host's KVM gives its guest an EL2 (FEAT_NV2, `kvm-arm.mode=nested`), and the guest's KVM makes a
//! virtual machine in turn.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{Counts, Nested, OUTER, PLAIN, Work, commands};
use crate::boot::{self, Boot, Echo, Level, Machine};
use crate::guests::{File, Guests, Kernel, VMM_WITH_EL2};

/// Arguments of `cargo xtask nested deep`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The kernel of the innermost guest.
    #[arg(long, default_value = "6.1")]
    inner_kernel: Kernel,
    /// Seconds before it is given up.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Further words on the host kernel's command line.
    #[arg(long, default_value = "")]
    host_words: String,
    /// Further words on the command line of its guest.
    #[arg(long, default_value = "")]
    middle_words: String,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let inner = Nested { kernel: Kernel::Newest, inner_kernel: args.inner_kernel, ..Nested::new(Work::Check) };
    let guests = commands::prepare(&inner)?;
    let boot = boot(&guests, &inner, args)?;
    let outcome = boot.run(Machine::Vambrace, Echo::On)?;
    outcome.expect_status(0)?;
    for log in ["VHE+NV2 mode initialized successfully", "VHE mode initialized successfully"] {
        ensure!(outcome.line_with(log).is_some(), "no log says \"{log}\"\n{}", outcome.report());
    }
    outcome.expect_line("vambrace-batch: inner: status 0")?;
    let downs = outcome.lines_with("reboot: Power down").count();
    ensure!(downs == 3, "{downs} of 3 kernels powered down\n{}", outcome.report());
    if let Some(stats) = &boot.stats {
        let counts = Counts::read(stats)?;
        let [el0, el1, el2] = counts.by_level();
        println!("{:.0} s; instructions: EL0 {el0}, EL1 {el1}, EL2 {el2}", outcome.seconds);
        let mut traps = counts.traps();
        traps.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (name, count) in traps.iter().take(12) {
            println!("  {name:<18} {count:>10}");
        }
    }
    Ok(())
}

/// The host, with the guest's kernel and initramfs, which has the innermost guest's.
fn boot(guests: &Guests, inner: &Nested, args: &Args) -> Result<Boot> {
    let middle = boot::scratch("nested-deep-middle.cpio")?;
    guests.plain_initrd(&middle, None, &inner.outer_files(guests, "nested-deep")?)?;
    let append = format!("console=ttyAMA0 panic=-1 vambrace.batch=nested {}", args.middle_words);
    let settings =
        format!("machine={PLAIN},virtualization=on\nmemory=768\ncpus=1\nappend=\"{append}\"\ninput=/dev/null\n");
    let mut files = guests.program(&VMM_WITH_EL2)?;
    files.push(File::executable("batch/nested.sh", OUTER));
    files.push(File::executable("nested/settings", settings));
    files.push(File::executable("nested/Image", fs::read(guests.image(Kernel::Newest))?));
    files.push(File::executable(
        "nested/initrd",
        fs::read(&middle).with_context(|| format!("cannot read {}", middle.display()))?,
    ));
    files.push(File::executable("nested/disk", super::disk()));
    let initrd = boot::scratch("nested-deep.cpio")?;
    guests.plain_initrd(&initrd, None, &files)?;
    let words = format!("vambrace.batch=nested kvm-arm.mode=nested {}", args.host_words);
    let mut boot = Boot::new(guests, Kernel::Newest, &words).with_initrd(&initrd);
    boot.cpu = Some("max");
    boot.level = Level::El2;
    boot.memory = 3072;
    boot.stats = Some(boot::scratch("nested-deep.json")?);
    boot.limit = Duration::from_secs(args.seconds);
    Ok(boot)
}
