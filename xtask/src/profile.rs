//! A profile of a kernel's boot: all instructions are in it, what is hot is hot, and it changes nothing.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::boot::{self, Boot, Echo, Machine};
use crate::guests::{Guests, Kernel};
use crate::twice;

/// Instructions by call chain, the innermost function first, of a profile for Firefox.
fn chains(profile: &Value) -> Option<BTreeMap<String, u64>> {
    let mut chains = BTreeMap::new();
    for thread in profile["threads"].as_array()? {
        let at = |table: &str, column: &str, n: u64| &thread[table][column][n as usize];
        let samples = &thread["samples"];
        for (stack, weight) in samples["stack"].as_array()?.iter().zip(samples["weight"].as_array()?) {
            let mut names = Vec::new();
            let mut next = stack.as_u64();
            while let Some(stack) = next {
                let func = at("frameTable", "func", at("stackTable", "frame", stack).as_u64()?).as_u64()?;
                let name = at("funcTable", "name", func).as_u64()?;
                names.push(thread["stringArray"][name as usize].as_str()?);
                next = at("stackTable", "prefix", stack).as_u64();
            }
            *chains.entry(names.join(" < ")).or_insert(0) += weight.as_u64()?;
        }
    }
    Some(chains)
}

/// Boots `kernel` on 2 CPUs with and without a profile.
pub fn check(guests: &Guests, kernel: Kernel) -> Result<String> {
    let run = |name: &str, words: Vec<String>| -> Result<String> {
        let stats = boot::scratch(name)?;
        let mut boot = Boot::new(guests, kernel, "vambrace.batch=off");
        boot.cpus = 2;
        boot.stats = Some(stats.clone());
        boot.words = words;
        boot.run(Machine::Vambrace, Echo::Off)?.expect_status(0)?;
        Ok(fs::read_to_string(stats)?)
    };
    let file = boot::scratch("profile.json")?;
    let with = run("profile-with.json", vec!["--profile".into(), file.display().to_string()])?;
    let without = run("profile-without.json", Vec::new())?;
    twice::same_statistics(&with, &without)?;
    let profile = serde_json::from_slice(&fs::read(&file)?).context("the profile is no JSON")?;
    let chains = chains(&profile).context("the profile is not one for Firefox")?;
    let total: u64 = chains.values().sum();
    let insns = boot::instructions(&boot::scratch("profile-with.json")?)?;
    ensure!(total == insns, "the profile has {total} instructions, the statistics {insns}");
    // Debian's kernel tests its algorithms while it boots; of these Diffie-Hellman takes longest.
    let hottest = chains.iter().max_by_key(|(_, insns)| **insns).map(|(chain, _)| chain.as_str()).unwrap_or_default();
    for function in ["mpi_powm", "alg_test", "kthread", "ret_from_fork"] {
        ensure!(hottest.split(" < ").any(|name| name == function), "{function} is not in the hottest chain: {hottest}");
    }
    Ok(format!("{total} instructions in {} call chains; hottest: {hottest}", chains.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_a_profile() {
        let profile = serde_json::json!({ "threads": [{
            "samples": { "stack": [1, 0, 1], "weight": [5, 2, 1] },
            "stackTable": { "frame": [0, 1], "prefix": [null, 0] },
            "frameTable": { "func": [0, 1] },
            "funcTable": { "name": [1, 0] },
            "stringArray": ["inner", "outer"],
        }] });
        let expected = [("inner < outer".to_owned(), 6), ("outer".to_owned(), 2)];
        assert_eq!(chains(&profile), Some(expected.into()));
    }
}
