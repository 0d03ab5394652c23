//! The worlds in the report.

use std::fmt::Write;

use serde::Serialize;

use super::{Named, NamedExceptions, grouped, listed, parenthesised};
use crate::names;
use crate::worlds::{ExitSum, Place, WorldCounts, Worlds};

/// Exits of a kind, as they are written. The instructions are those from the exits to the next entries of any world.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
struct Exits {
    el2_insns: u64,
    host_el0_insns: u64,
    mean_el2_insns: f64,
    most_el2_insns: u64,
    through_host_el0: u64,
    times: u64,
}

impl Exits {
    fn new(sum: &ExitSum) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
        let mean = sum.el2 as f64 / sum.times.max(1) as f64;
        Self {
            el2_insns: sum.el2,
            host_el0_insns: sum.host_el0,
            mean_el2_insns: (mean * 10.0).round() / 10.0,
            most_el2_insns: sum.most_el2,
            through_host_el0: sum.through_el0,
            times: sum.times,
        }
    }
}

/// One world's counts by name. Of EL2 itself there are instructions only.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct NamedWorld {
    #[serde(skip_serializing_if = "Option::is_none")]
    below: Option<Below>,
    insns_by_el: Named<u64>,
}

/// What there is of a world below EL2.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct Below {
    entries: u64,
    #[serde(flatten)]
    exceptions: NamedExceptions,
    exits: Named<Exits>,
    list_registers_in_use: Named<u64>,
    next_world: Named<u64>,
    stage2_faults: Named<u64>,
}

impl Below {
    fn new(counts: &WorldCounts) -> Self {
        Self {
            entries: counts.entries,
            exceptions: NamedExceptions::new(&counts.exceptions),
            exits: counts.exits.iter().map(|(kind, sum)| (names::exit(*kind), Exits::new(sum))).collect(),
            // Keys are text in JSON: two digits keep the numbers in order.
            list_registers_in_use: counts.list_registers.iter().map(|(used, n)| (format!("{used:02}"), *n)).collect(),
            next_world: counts.next.iter().map(|(world, n)| (names::place(Place::Below(*world)), *n)).collect(),
            stage2_faults: counts.stage2_faults.iter().map(|(fault, n)| (names::stage2_fault(*fault), *n)).collect(),
        }
    }
}

/// All of them by name.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub(super) struct NamedWorlds(Named<NamedWorld>);

impl NamedWorlds {
    pub(super) fn new(worlds: &Worlds) -> Self {
        let world = |place: Place, counts: &WorldCounts| {
            let by_el = counts.insns.iter().enumerate().filter(|(_, count)| **count > 0);
            NamedWorld {
                below: (place != Place::Own).then(|| Below::new(counts)),
                insns_by_el: by_el.map(|(el, count)| (format!("EL{el}"), *count)).collect(),
            }
        };
        Self(worlds.by_place.iter().map(|(place, counts)| (names::place(*place), world(*place, counts))).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lines for people, each by `line`.
    pub(super) fn summarise(&self, line: &mut impl FnMut(&str, String)) {
        for (name, world) in &self.0 {
            let total: u64 = world.insns_by_el.values().sum();
            let insns = format!("{} instructions{}", grouped(total), parenthesised(&world.insns_by_el));
            let Some(below) = &world.below else {
                line(name, insns);
                continue;
            };
            line(name, format!("{insns}, {} entries", grouped(below.entries)));
            line("  exits", exits(&below.exits));
            if !below.exceptions.sysreg_traps.is_empty() {
                line("  register traps", listed(&below.exceptions.sysreg_traps));
            }
            if !below.stage2_faults.is_empty() {
                line("  stage 2 faults", listed(&below.stage2_faults));
            }
            if !below.list_registers_in_use.is_empty() {
                let parts = below.list_registers_in_use.iter();
                let parts: Vec<String> = parts
                    .map(|(used, n)| format!("{} {}", used.trim_start_matches('0').max("0"), grouped(*n)))
                    .collect();
                line("  list registers", format!("in use at entry: {}", parts.join(", ")));
            }
        }
    }
}

/// The sums, and the eight kinds that cost EL2 most.
fn exits(exits: &Named<Exits>) -> String {
    let (times, el2) = exits.values().fold((0, 0), |(t, i), e| (t + e.times, i + e.el2_insns));
    let mut largest: Vec<(&String, &Exits)> = exits.iter().collect();
    largest.sort_by_key(|(name, e)| (std::cmp::Reverse(e.el2_insns), (*name).clone()));
    let mut text = format!("{}, with {} instructions at EL2", grouped(times), grouped(el2));
    for (n, (name, e)) in largest.iter().take(8).enumerate() {
        let before = if n == 0 { ": " } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{before}{name} {} x {}", grouped(e.times), e.mean_el2_insns);
    }
    if largest.len() > 8 {
        text.push_str("; ...");
    }
    text
}
