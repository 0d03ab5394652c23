//! Bare-metal programs on our machine and on qemu-system-aarch64: a table of the lines that are equal, that
//! differ as listed, and that differ otherwise, which are printed in full.
//!
//! `cargo run -p vambrace-oracle --bin system -- [PROGRAM [CPU]]`. `--ours` prints what our machine prints instead;
//! `--reasons` adds why listed lines differ.

use std::process::ExitCode;

use anyhow::Result;
use vambrace_oracle::system::{self, Comparison, Setup, differences::DIFFERENCES};

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (flags, words): (Vec<_>, Vec<_>) = args.into_iter().partition(|arg| arg.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let programs = words.first().map_or_else(system::programs, |program| Ok(vec![program.clone()]))?;
    let cpus = words.get(1).map_or_else(|| system::MODELS.map(String::from).to_vec(), |cpu| vec![cpu.clone()]);
    let directory = std::env::temp_dir();
    let mut used = vec![0; DIFFERENCES.len()];
    let mut failed = false;
    if !has("--ours") {
        println!("{:<12} {:<12} {:>6} {:>9} {:>11}", "program", "model", "equal", "explained", "unexplained");
    }
    for program in programs {
        let elf = directory.join(format!("vambrace-{program}-{}.elf", std::process::id()));
        system::build(&program, &elf)?;
        for cpu in &cpus {
            let setup = Setup::new(&program, cpu);
            let ours = system::run_ours(&elf, &setup)?;
            if has("--ours") {
                println!("{}", ours.join("\n"));
                continue;
            }
            let judge = system::run_judge(&elf, &setup)?;
            let Comparison { equal, explained, unexplained, used: entries } =
                system::compare(&program, cpu, DIFFERENCES, &ours, &judge);
            println!("{program:<12} {cpu:<12} {equal:>6} {explained:>9} {:>11}", unexplained.len());
            for text in &unexplained {
                println!("{text}");
            }
            failed |= !unexplained.is_empty();
            for entry in entries {
                used[entry] += 1;
            }
        }
        // A file left behind does no harm.
        let _ = std::fs::remove_file(&elf);
    }
    if has("--reasons") {
        for (entry, _) in DIFFERENCES.iter().zip(&used).filter(|(_, runs)| **runs > 0) {
            println!("{} {:?}: {:?}", entry.program, entry.names, entry.because);
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
