//! Bare-metal programs print the same on qemu-system-aarch64 and on our machine, but for what is listed.

use std::collections::BTreeSet;
use std::path::Path;

use vambrace_oracle::system::differences::{Because, DIFFERENCES};
use vambrace_oracle::system::{MODELS, Setup, build, compare, missing, programs, record, run_judge, run_ours};

/// Runs `program` on both machines, as each model.
fn check(program: &str) {
    if let Some(what) = missing() {
        // CI has it: `cargo xtask test` installs what is missing before it starts.
        println!("skipped: this needs {what}");
        return;
    }
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{program}.elf"));
    build(program, &elf).expect("the program is in order");
    let mut used = BTreeSet::new();
    let mut report = Vec::new();
    for cpu in MODELS {
        let setup = Setup::new(program, cpu);
        let (ours, judge) = (run_ours(&elf, &setup), run_judge(&elf, &setup));
        match (ours, judge) {
            (Ok(ours), Ok(judge)) => {
                let found = compare(program, cpu, DIFFERENCES, &ours, &judge);
                assert!(ours.len() > 10, "{program} on {cpu} prints {} lines", ours.len());
                println!("{program} on {cpu}: {} equal, {} explained", found.equal, found.explained);
                report.extend(found.unexplained.into_iter().map(|text| format!("{cpu}: {text}")));
                used.extend(found.used);
            }
            (ours, judge) => {
                report.extend([ours.err(), judge.err()].into_iter().flatten().map(|e| format!("{cpu}: {e:#}")));
            }
        }
    }
    for (n, entry) in DIFFERENCES.iter().enumerate().filter(|(_, entry)| entry.program == program) {
        if !used.contains(&n) && !matches!(entry.because, Because::Lacking(_) | Because::Model(_)) {
            report.push(format!("listed, but no line differs so: {entry:?}"));
        }
    }
    assert!(report.is_empty(), "{}", report.join("\n"));
}

/// One test a program, so that they run side by side.
macro_rules! tests {
    ($($program:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($program)),*];
        $(#[test]
        fn $program() {
            check(stringify!($program));
        })*
    };
}

tests! { bti dirty el2_debug el2_faults el2_registers el2_routing el2_smp el2_stage2 el2_sysregs el2_timer el2_tlb el2_traps el2_vgic el2_vgic2 exceptions gic gicv2 its memory pauth permissions pmu registers smp step sysregs tags timer tlb walks wide }

#[test]
fn every_program_has_its_test() {
    assert_eq!(programs().expect("the directory is there"), TESTED);
}

/// Locks, SGIs, sleep and broadcast TLB maintenance among four CPUs: two runs agree in every byte, count and state.
#[test]
fn four_cpus_are_deterministic() {
    if let Some(what) = missing() {
        println!("skipped: this needs {what}");
        return;
    }
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("smp-twice.elf");
    build("smp", &elf).expect("the program is in order");
    let setup = Setup::new("smp", "neoverse-n1");
    let run = || record(&elf, &setup).expect("it powers off");
    let first = run();
    assert!(first.instructions.iter().all(|n| *n > 1000), "{:?}", first.instructions);
    assert_eq!(first, run());
}
