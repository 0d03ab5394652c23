//! Two runs of the same machine are the same: console bytes, statistics, hash of the final state, trace.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::boot::{self, Boot, Echo, Machine, Outcome};

/// Runs `boot` twice; `expect` says whether a run went well. Gives the hash of each.
pub fn check(boot: &Boot, expect: impl Fn(&Outcome) -> Result<()>) -> Result<[String; 2]> {
    let one_run = |name: &str| -> Result<(Outcome, String, Vec<u8>)> {
        let stats = boot::scratch(name)?.with_extension("json");
        let trace = boot::scratch(name)?.with_extension("trace.json");
        let mut boot = boot.clone();
        boot.stats = Some(stats.clone());
        boot.trace = Some(trace.clone());
        let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
        expect(&outcome)?;
        boot::instructions(&stats)?;
        let (stats, written) = (fs::read_to_string(&stats)?, fs::read(&trace)?);
        fs::remove_file(&trace)?;
        Ok((outcome, stats, written))
    };
    let (first, first_stats, first_trace) = one_run("first")?;
    let (second, second_stats, second_trace) = one_run("second")?;
    if first.bytes != second.bytes {
        bail!("the consoles differ\nfirst:\n{}second:\n{}", first.report(), second.report());
    }
    same_statistics(&first_stats, &second_stats)?;
    ensure!(first_trace == second_trace, "the traces differ");
    agrees(&first_trace, &first_stats)?;
    Ok([hash(&first_stats)?, hash(&second_stats)?])
}

/// Two runs' statistics are the same but for what is the host's; gives the hash of the final state.
pub fn same_statistics(first: &str, second: &str) -> Result<String> {
    let (left, right) = (without_host(first), without_host(second));
    if left != right {
        bail!("the statistics differ: {}", first_difference(&left, &right));
    }
    hash(first)
}

/// A trace shows as many exceptions of each class, interrupts and sleeps as the statistics count.
fn agrees(trace: &[u8], stats: &str) -> Result<()> {
    let trace: Value = serde_json::from_slice(trace).context("the trace is no JSON")?;
    let stats: Value = serde_json::from_str(stats)?;
    let mut shown = BTreeMap::new();
    for event in trace["traceEvents"].as_array().context("the trace has no events")? {
        let name = event["name"].as_str().filter(|name| event["ph"] == "B" && !name.starts_with("TTBR0"));
        if let Some(name) = name {
            *shown.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    let mut counted: BTreeMap<String, u64> = serde_json::from_value(stats["exceptions_by_class"].clone())?;
    for (name, member) in [("IRQ", "irqs"), ("FIQ", "fiqs"), ("SError", "serrors"), ("sleep", "sleeps")] {
        counted.insert(name.to_owned(), stats[member].as_u64().with_context(|| format!("no count of {member}"))?);
    }
    counted.retain(|_, count| *count > 0);
    ensure!(shown == counted, "the trace shows {shown:?}, the statistics count {counted:?}");
    Ok(())
}

fn hash(stats: &str) -> Result<String> {
    let json: Value = serde_json::from_str(stats)?;
    Ok(json["state_hash"].as_str().context("the statistics have no state_hash")?.to_owned())
}

/// The text without the members whose name begins with `host_`, which are the host's business.
fn without_host(json: &str) -> String {
    let mut kept = String::new();
    let mut rest = json;
    while let Some(at) = rest.find("\"host_") {
        kept.push_str(&rest[..at]);
        let member = &rest[at..];
        rest = &member[member.find([',', '}', '\n']).unwrap_or(member.len())..];
    }
    kept.push_str(rest);
    kept
}

fn first_difference(left: &str, right: &str) -> String {
    let at = left.bytes().zip(right.bytes()).take_while(|(l, r)| l == r).count();
    let around = |text: &str| {
        let bytes = text.as_bytes();
        let window = &bytes[at.saturating_sub(60)..bytes.len().min(at + 40)];
        String::from_utf8_lossy(window).into_owned()
    };
    format!("at byte {at}:\n  {}\n  {}", around(left), around(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_members_do_not_count() {
        let one = "{\"insns\":5,\"host_seconds\":1.25,\"idle\":2}";
        let two = "{\"insns\":5,\"host_seconds\":9.5e-1,\"idle\":2}";
        assert_eq!(without_host(one), without_host(two));
        assert_ne!(without_host(one), without_host(&two.replace("2}", "3}")));
        let last = "{\n  \"insns\": 5,\n  \"host_seconds\": 1.0\n}\n";
        assert_eq!(without_host(last), "{\n  \"insns\": 5,\n  \n}\n");
    }
}
