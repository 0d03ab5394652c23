//! `--profile`: the file's totals are the statistics', it is the same each time, and what is hot is hot.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use machine::testing::elf;
use serde_json::Value;

const RAM_BASE: u64 = 0x4000_0000;

/// Counts to 100 in one function, to 20000 in another, then powers off.
const PROGRAM: [u32; 9] = [
    0xd280_0c82, // mov x2, #100
    0xf100_0442, // 1: subs x2, x2, #1
    0x54ff_ffe1, // b.ne 1b
    // hot, at 12
    0xd289_c402, // mov x2, #20000
    0xf100_0442, // 1: subs x2, x2, #1
    0x54ff_ffe1, // b.ne 1b
    0xd2b0_8000, // mov x0, #0x84000000
    0xf280_0100, // movk x0, #8: SYSTEM_OFF
    0xd400_0003, // smc #0
];

/// The profile's bytes, and all instructions by the statistics.
fn profile(dir: &Path, every: &str) -> (Vec<u8>, u64) {
    fs::write(dir.join("kernel"), elf(RAM_BASE, &PROGRAM)).unwrap();
    fs::write(dir.join("map"), "0000000040000000 T cold\n000000004000000c T hot\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_vambrace"));
    command.args(["run", "--memory", "16M", "--cpus", "2", "--profile-every", every]);
    for (flag, file) in [("--kernel", "kernel"), ("--vmlinux", "map"), ("--stats", "stats"), ("--profile", "profile")] {
        command.arg(flag).arg(dir.join(file));
    }
    assert!(command.stdin(Stdio::null()).status().unwrap().success());
    let stats: Value = serde_json::from_slice(&fs::read(dir.join("stats")).unwrap()).unwrap();
    (fs::read(dir.join("profile")).unwrap(), stats["insns"].as_u64().unwrap())
}

/// Instructions by innermost function.
fn by_function(profile: &[u8]) -> BTreeMap<String, u64> {
    let profile: Value = serde_json::from_slice(profile).unwrap();
    let mut counts = BTreeMap::new();
    for thread in profile["threads"].as_array().unwrap() {
        let number = |table: &str, column: &str, n: u64| thread[table][column][n as usize].as_u64().unwrap();
        let samples = &thread["samples"];
        for (stack, weight) in samples["stack"].as_array().unwrap().iter().zip(samples["weight"].as_array().unwrap()) {
            let frame = number("stackTable", "frame", stack.as_u64().unwrap());
            let name = number("funcTable", "name", number("frameTable", "func", frame));
            let name = thread["stringArray"][name as usize].as_str().unwrap();
            *counts.entry(name.to_owned()).or_insert(0) += weight.as_u64().unwrap();
        }
    }
    counts
}

#[test]
fn totals_repetition_and_what_is_hot() {
    let directory = tempfile::tempdir().unwrap();
    let dir = directory.path();
    let (exact, insns) = profile(dir, "1");
    let counts = by_function(&exact);
    assert_eq!(counts, [("cold".to_owned(), 201), ("hot".to_owned(), 40_004)].into());
    assert_eq!(counts.values().sum::<u64>(), insns);
    for every in ["97", "10007"] {
        let (first, insns) = profile(dir, every);
        let counts = by_function(&first);
        assert_eq!(counts.values().sum::<u64>(), insns, "{every}: {counts:?}");
        assert!(counts["hot"] > insns / 2, "{every}: {counts:?}");
        assert_eq!(first, profile(dir, every).0, "{every}");
    }
}
