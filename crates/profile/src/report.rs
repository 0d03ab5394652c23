//! The report of a run.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::counters::{BARRIERS, CAUSES, Counts, Exceptions, Sum};
use crate::names;

mod worlds;

use worlds::NamedWorlds;

/// Counts by name.
type Named<T> = BTreeMap<String, T>;

/// What the machine knows of one CPU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RunFacts {
    /// Instructions retired.
    pub insns: u64,
    /// Instructions retired at EL0 to EL3.
    pub insns_by_el: [u64; 4],
    /// The CPU's time, in ticks.
    pub ticks: u64,
    /// Ticks of it in which it slept.
    pub idle_ticks: u64,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Exit {
    /// In a few words, such as `powered off`.
    pub reason: String,
    /// The tool's exit status.
    pub status: u8,
}

/// Times and entries of a kind of TLB invalidation.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
struct Invalidation {
    /// Entries removed on the CPU that executed it.
    removed: u64,
    times: u64,
}

/// Walks for a cause.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
struct Walks {
    descriptors: u64,
    times: u64,
}

/// Exceptions by name.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
struct NamedExceptions {
    exceptions_by_class: Named<u64>,
    exceptions_by_level: Named<u64>,
    exceptions_by_syndrome: Named<u64>,
    fiqs: u64,
    irqs: u64,
    serrors: u64,
    sysreg_traps: Named<u64>,
}

/// Counts by name, as they are written.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
struct NamedCounts {
    barriers: Named<u64>,
    exception_returns: Named<u64>,
    #[serde(flatten)]
    exceptions: NamedExceptions,
    exclusives_failed: u64,
    sleeps: u64,
    tlb_fills: u64,
    tlb_invalidations: Named<Invalidation>,
    walks: Named<Walks>,
    #[serde(skip_serializing_if = "NamedWorlds::is_empty")]
    worlds: NamedWorlds,
}

fn route((from, to): (arch::El, arch::El)) -> String {
    format!("{}->{}", names::level(from), names::level(to))
}

impl NamedExceptions {
    fn new(counts: &Exceptions) -> Self {
        let mut classes = Named::<u64>::new();
        let mut syndromes = Named::new();
        for (syndrome, count) in &counts.syndromes {
            let class = names::class(u64::from(syndrome.ec) << 26);
            syndromes.insert(format!("EC {:#04x} ISS {:#09x} {class}", syndrome.ec, syndrome.iss), *count);
            *classes.entry(class).or_default() += count;
        }
        Self {
            exceptions_by_class: classes,
            exceptions_by_level: counts.levels.iter().map(|(levels, count)| (route(*levels), *count)).collect(),
            exceptions_by_syndrome: syndromes,
            fiqs: counts.fiqs,
            irqs: counts.irqs,
            serrors: counts.serrors,
            sysreg_traps: counts.traps.iter().map(|(enc, count)| (names::register(*enc), *count)).collect(),
        }
    }
}

impl NamedCounts {
    fn new(counts: &Counts) -> Self {
        let walks = CAUSES.into_iter().zip(counts.walks).filter(|(_, sum)| sum.times > 0);
        let barriers = BARRIERS.into_iter().zip(counts.barriers).filter(|(_, count)| *count > 0);
        let invalidation = |sum: &Sum| Invalidation { removed: sum.amount, times: sum.times };
        Self {
            barriers: barriers.map(|(kind, count)| (names::barrier(kind).to_owned(), count)).collect(),
            exception_returns: counts.returns.iter().map(|(levels, count)| (route(*levels), *count)).collect(),
            exceptions: NamedExceptions::new(&counts.exceptions),
            exclusives_failed: counts.exclusives_failed,
            sleeps: counts.sleeps,
            tlb_fills: counts.tlb_fills,
            tlb_invalidations: counts
                .invalidations
                .iter()
                .map(|(enc, sum)| (names::tlbi_name(*enc), invalidation(sum)))
                .collect(),
            walks: walks
                .map(|(cause, sum)| {
                    (names::cause(cause).to_owned(), Walks { descriptors: sum.amount, times: sum.times })
                })
                .collect(),
            worlds: NamedWorlds::new(&counts.worlds),
        }
    }
}

/// What one CPU did.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CpuReport {
    #[serde(flatten)]
    counts: NamedCounts,
    idle_ticks: u64,
    insns: u64,
    insns_by_el: Named<u64>,
    ticks: u64,
}

impl CpuReport {
    /// A report of a CPU.
    pub fn new(facts: &RunFacts, counts: &Counts) -> Self {
        let by_el = facts.insns_by_el.iter().enumerate().map(|(el, count)| (format!("EL{el}"), *count));
        Self {
            counts: NamedCounts::new(counts),
            idle_ticks: facts.idle_ticks,
            insns: facts.insns,
            insns_by_el: by_el.collect(),
            ticks: facts.ticks,
        }
    }
}

/// What a run was made of. All CPUs together are at the top: instructions and idle time are sums, `ticks` is the time of
/// the CPU that got furthest.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    total: CpuReport,
    cpus: Vec<CpuReport>,
    exit: Exit,
    /// The only value that two runs with the same inputs do not have in common.
    host_seconds: f64,
    state_hash: String,
}

impl Report {
    /// The report of a run: of each CPU in order, what the machine knows and what was counted.
    pub fn new(cpus: &[(RunFacts, Counts)], exit: Exit, state_hash: u64, host_seconds: f64) -> Self {
        let mut facts = RunFacts::default();
        let mut counts = Counts::default();
        let cpus: Vec<(RunFacts, Counts)> =
            cpus.iter().map(|(facts, counted)| (*facts, counted.clone().settled(facts.insns_by_el))).collect();
        for (cpu, counted) in &cpus {
            facts.insns += cpu.insns;
            facts.idle_ticks += cpu.idle_ticks;
            facts.ticks = facts.ticks.max(cpu.ticks);
            for (into, from) in facts.insns_by_el.iter_mut().zip(cpu.insns_by_el) {
                *into += from;
            }
            counts.add(counted);
        }
        Self {
            total: CpuReport::new(&facts, &counts),
            cpus: cpus.iter().map(|(facts, counts)| CpuReport::new(facts, counts)).collect(),
            exit,
            host_seconds,
            state_hash: format!("{state_hash:016x}"),
        }
    }

    /// As JSON, keys in alphabetical order, with a newline at the end.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        // A value's objects are sorted maps.
        let mut text = serde_json::to_string_pretty(&serde_json::to_value(self)?)?;
        text.push('\n');
        Ok(text)
    }

    /// A short text for people.
    pub fn summary(&self) -> String {
        let total = &self.total;
        let counts = &total.counts;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name:<20} {value}");
        };
        line("exit", format!("{} (status {})", self.exit.reason, self.exit.status));
        line("instructions", format!("{}{}", grouped(total.insns), parenthesised(&total.insns_by_el)));
        if self.cpus.len() > 1 {
            let each: Vec<String> = self.cpus.iter().take(8).map(|cpu| grouped(cpu.insns)).collect();
            let more = if self.cpus.len() > 8 { ", ..." } else { "" };
            line("  on each CPU", format!("{}{more}", each.join(", ")));
        }
        line("ticks", format!("{}, of CPU time idle: {}", grouped(total.ticks), grouped(total.idle_ticks)));
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = total.insns as f64 / self.host_seconds.max(1e-9) / 1e6;
        line("host seconds", format!("{:.3} ({rate:.0} million instructions a second)", self.host_seconds));
        let exceptions = &counts.exceptions;
        line("exceptions", listed(&exceptions.exceptions_by_class));
        line("system register traps", listed(&exceptions.sysreg_traps));
        line("interrupts", format!("{} IRQ, {} FIQ, {} SError", exceptions.irqs, exceptions.fiqs, exceptions.serrors));
        let walks = |f: fn(&Walks) -> u64| counts.walks.values().map(f).sum::<u64>();
        line(
            "walks",
            format!(
                "{} ({} descriptors), {} TLB fills",
                grouped(walks(|w| w.times)),
                grouped(walks(|w| w.descriptors)),
                grouped(counts.tlb_fills)
            ),
        );
        let invalidations = counts.tlb_invalidations.iter().map(|(name, i)| (name.clone(), i.times)).collect();
        line("TLB invalidations", listed(&invalidations));
        line("barriers", listed(&counts.barriers));
        line("exclusives failed", grouped(counts.exclusives_failed));
        line("sleeps", grouped(counts.sleeps));
        counts.worlds.summarise(&mut line);
        line("state hash", self.state_hash.clone());
        text
    }
}

/// The total, and the largest five of it by name.
fn listed(counts: &Named<u64>) -> String {
    let total: u64 = counts.values().sum();
    let mut largest: Vec<(&String, &u64)> = counts.iter().collect();
    largest.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    let parts: Vec<String> =
        largest.iter().take(5).map(|(name, count)| format!("{name} {}", grouped(**count))).collect();
    let more = if largest.len() > 5 { ", ..." } else { "" };
    if parts.is_empty() { grouped(total) } else { format!("{} ({}{more})", grouped(total), parts.join(", ")) }
}

/// Those above zero, in parentheses.
fn parenthesised(counts: &Named<u64>) -> String {
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(name, count)| format!("{name} {}", grouped(*count)))
        .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use arch::{El, Va};
    use event::{BarrierKind, Event, WalkCause};

    use super::*;

    fn report() -> Report {
        let mut counts = Counts::default();
        let (from, to) = (El::El0, El::El1);
        for event in [
            Event::Exception { from, to, esr: 0x5600_0000, pc: Va(0) },
            Event::Exception { from, to, esr: 0x9200_0047, pc: Va(0) },
            Event::Exception { from, to, esr: 0x6230_0001, pc: Va(0) },
            Event::ExceptionReturn { from: to, to: from },
            Event::Walk { steps: 4, cause: WalkCause::Read },
            Event::TlbInvalidate { enc: arch::sysreg::Enc::new(1, 0, 8, 3, 0).0, removed: 3 },
            Event::Barrier(BarrierKind::Dsb),
        ] {
            counts.count(&event);
        }
        let facts =
            RunFacts { insns: 1234567, insns_by_el: [1000000, 234567, 0, 0], ticks: 1300000, idle_ticks: 65433 };
        let exit = Exit { reason: "powered off".into(), status: 0 };
        Report::new(&[(facts, counts), (RunFacts { ticks: 5, ..facts }, Counts::default())], exit, 0xabc, 1.5)
    }

    #[test]
    fn json() {
        let text = report().to_json().unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["insns"], 2469134);
        assert_eq!(value["insns_by_el"]["EL0"], 2000000);
        assert_eq!((&value["ticks"], &value["idle_ticks"]), (&1300000.into(), &130866.into()));
        assert_eq!(value["cpus"][1]["insns"], 1234567);
        assert_eq!(value["exceptions_by_class"]["Svc"], 1);
        assert_eq!(value["exceptions_by_syndrome"]["EC 0x24 ISS 0x0000047 DataAbort"], 1);
        assert_eq!(value["exceptions_by_level"]["EL0->EL1"], 3);
        assert_eq!(value["sysreg_traps"]["MIDR_EL1"], 1);
        assert_eq!(value["tlb_invalidations"]["VMALLE1IS"]["removed"], 3);
        assert_eq!(value["walks"]["read"]["descriptors"], 4);
        assert_eq!(value["state_hash"], "0000000000000abc");
        // EL2 was not used.
        assert!(value.get("worlds").is_none());
        assert_eq!((&value["exit"]["status"], &value["host_seconds"]), (&0.into(), &1.5.into()));
    }

    #[test]
    fn keys_are_sorted() {
        let text = report().to_json().unwrap();
        let keys = |depth: usize| -> Vec<&str> {
            let prefix = format!("{}\"", " ".repeat(depth));
            text.lines().filter_map(|line| line.strip_prefix(prefix.as_str())?.split('"').next()).collect()
        };
        let top = keys(2);
        assert!(top.len() > 15 && top.is_sorted(), "{top:?}");
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn text() {
        let text = report().summary();
        for part in [
            "powered off (status 0)",
            "2 469 134 (EL0 2 000 000, EL1 469 134)",
            "1 234 567, 1 234 567",
            "3 (DataAbort 1, Svc 1, SysReg 1)",
            "1 (MIDR_EL1 1)",
            "1 (VMALLE1IS 1)",
            "1 (DSB 1)",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
    }

    #[test]
    fn a_run_of_nothing() {
        let exit = Exit { reason: "limit".into(), status: 124 };
        let report = Report::new(&[], exit, 0, 0.0);
        assert!(report.to_json().is_ok() && report.summary().contains("limit (status 124)"));
    }
}
