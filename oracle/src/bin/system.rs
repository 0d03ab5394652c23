//! Runs bare-metal programs on both machines and prints where they differ:
//! `cargo run -p vambrace-oracle --bin system -- [PROGRAM [CPU]]`; with `--ours` it prints what ours prints.

use anyhow::Result;
use vambrace_oracle::system::{self, Setup, differences::DIFFERENCES};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (flags, words): (Vec<_>, Vec<_>) = args.into_iter().partition(|arg| arg.starts_with("--"));
    let programs = words.first().map_or_else(system::programs, |program| Ok(vec![program.clone()]))?;
    let cpus = words.get(1).map_or_else(|| system::MODELS.map(String::from).to_vec(), |cpu| vec![cpu.clone()]);
    let directory = std::env::temp_dir();
    for program in programs {
        let elf = directory.join(format!("vambrace-{program}-{}.elf", std::process::id()));
        system::build(&program, &elf)?;
        for cpu in &cpus {
            let features = system::features(&program, cpu);
            let setup = Setup { cpu: cpu.clone(), cpus: system::cpus(&program), features };
            let ours = system::run_ours(&elf, &setup);
            if flags.iter().any(|flag| flag == "--ours") {
                println!("{}", ours?.join("\n"));
                continue;
            }
            let judge = system::run_judge(&elf, &setup);
            println!("{program} on {cpu}");
            match (ours, judge) {
                (Ok(ours), Ok(judge)) => {
                    let found = system::compare(&program, cpu, DIFFERENCES, &ours, &judge);
                    println!("{} equal, {} explained, {} not", found.equal, found.explained, found.unexplained.len());
                    found.unexplained.iter().for_each(|text| println!("{text}"));
                }
                (ours, judge) => {
                    for (who, result) in [("ours", ours), ("judge", judge)] {
                        println!(
                            "{who}: {}",
                            result.map_or_else(|e| format!("{e:#}"), |lines| format!("{} lines", lines.len()))
                        );
                    }
                }
            }
        }
        // A file left behind does no harm.
        let _ = std::fs::remove_file(&elf);
    }
    Ok(())
}
