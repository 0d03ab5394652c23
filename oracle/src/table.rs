//! The comparison as a whole: how many cases of what, on how many threads, and the table of what came of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use sem::eval::mix;
use sem::testing::Rng;

use crate::case::Case;
use crate::engine::{Engine, Verdict};
use crate::generate::{NAMES, Source};
use crate::ours;

/// How much is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Single instructions of each class, at least.
    pub per_class: u64,
    /// Sequences in a round.
    pub sequences: u64,
    /// Any words in a round.
    pub words: u64,
    /// Rounds go on, each with other seeds, until this has passed; one round where it is zero.
    pub time: Duration,
    /// The first round's seed.
    pub seed: u64,
    /// Threads, each with a judge of its own.
    pub threads: usize,
    /// Only this class or line, if given.
    pub only: Option<&'static str>,
}

/// Single instructions of each line, at least.
const PER_LINE: u64 = 12;
/// Cases of one run of the judge.
const BATCH: usize = 4000;

/// The class of sequences in the table.
pub const SEQUENCES: &str = "(sequences)";
/// The class of words that are not allocated, and of their neighbours.
pub const WORDS: &str = "(any words)";

/// One class's row.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// Arm's names of the encodings that were executed.
    pub encodings: BTreeSet<&'static str>,
    /// Cases compared.
    pub cases: u64,
    /// Cases that differ without a reason.
    pub differences: u64,
    /// Cases that differ, by reason.
    pub explained: BTreeMap<&'static str, u64>,
    /// Cases that our side cannot end: not compared.
    pub not_run: u64,
}

/// What came of it all.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Rows by class.
    pub rows: BTreeMap<&'static str, Row>,
    /// Small cases that differ: a line for the files in `oracle/cases`, with the judge's outcome, and ours.
    pub found: Vec<Found>,
    /// Cases that differed once and not again.
    pub unstable: u64,
    /// Rounds.
    pub rounds: u64,
}

/// A small case that differs.
#[derive(Clone, Debug)]
pub struct Found {
    /// The encodings.
    pub names: String,
    /// The case.
    pub case: String,
    /// Our outcome.
    pub ours: String,
    /// The judge's.
    pub theirs: String,
}

enum Job {
    Single(usize),
    Sequence,
    Word,
}

/// The jobs of a round, cheap to make anew.
fn jobs(source: &Source, plan: &Plan) -> Vec<Job> {
    let mut per_class: BTreeMap<&str, u64> = BTreeMap::new();
    for line in &source.lines {
        *per_class.entry(line.class).or_default() += 1;
    }
    let mut jobs = Vec::new();
    for (n, line) in source.lines.iter().enumerate() {
        if plan.only.is_some_and(|only| only != line.class && only != line.spec.name) {
            continue;
        }
        // Some words are not to be had, and some do not end: an eighth more.
        let count = (plan.per_class * 9 / 8).div_ceil(per_class[line.class]).max(PER_LINE);
        jobs.extend((0..count).map(|_| Job::Single(n)));
    }
    let wanted = |class| plan.only.is_none_or(|only| only == class);
    jobs.extend((0..plan.sequences).filter(|_| wanted(SEQUENCES)).map(|_| Job::Sequence));
    jobs.extend((0..plan.words).filter(|_| wanted(WORDS)).map(|_| Job::Word));
    jobs
}

/// Runs it.
pub fn run(plan: &Plan, directory: &Path) -> Result<Report> {
    let model = ours::model()?;
    let source = Source::new(model.features);
    let jobs = jobs(&source, plan);
    let batches = jobs.len().div_ceil(BATCH) as u64;
    let started = Instant::now();
    let next = AtomicU64::new(0);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.threads.max(1))
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    let mut engine = Engine::new(model.clone(), directory)?;
                    loop {
                        let batch = next.fetch_add(1, Ordering::Relaxed);
                        let (round, part) = (batch / batches, batch % batches);
                        if round > 0 && started.elapsed() >= plan.time {
                            return Ok(());
                        }
                        let start = part as usize * BATCH;
                        let jobs = &jobs[start..jobs.len().min(start + BATCH)];
                        let seed = mix(plan.seed.wrapping_add(round)) ^ part;
                        run_batch(&mut engine, &source, jobs, seed, &report)?;
                        let mut report = report.lock().expect("no holder panics");
                        report.rounds = report.rounds.max(round + 1);
                    }
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    report.into_inner().context("a worker panicked")
}

fn run_batch(engine: &mut Engine, source: &Source, jobs: &[Job], seed: u64, report: &Mutex<Report>) -> Result<()> {
    let mut rng = Rng::new(seed);
    let mut cases: Vec<(&'static str, Case)> = Vec::with_capacity(jobs.len());
    for (n, job) in jobs.iter().enumerate() {
        // The page's bytes change now and then only: filling it takes the judge longer than the rest.
        let fill = mix(seed ^ (n as u64 / 256));
        match job {
            Job::Single(line) => {
                let line = &source.lines[*line];
                cases.extend(source.single(&mut rng, line, fill).map(|case| (line.class, case)));
            }
            Job::Sequence => cases.push((SEQUENCES, source.sequence(&mut rng, fill))),
            Job::Word => cases.push((WORDS, source.any_word(&mut rng, fill))),
        }
    }
    let (classes, cases): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    let verdicts = engine.compare(source, &cases)?;
    let mut wrong: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    {
        let mut report = report.lock().expect("no holder panics");
        for (n, (class, verdict)) in classes.iter().zip(&verdicts).enumerate() {
            let row = report.rows.entry(class).or_default();
            if let Verdict::NotRun(_) = verdict {
                row.not_run += 1;
                continue;
            }
            row.cases += 1;
            row.encodings.extend(cases[n].words.iter().filter_map(|word| Some(source.decode(*word)?.name)));
            match verdict {
                Verdict::Explained(reason) => *row.explained.entry(reason).or_default() += 1,
                Verdict::Different(_) => {
                    row.differences += 1;
                    wrong.entry((class, names(&cases[n]))).or_default().push(n);
                }
                Verdict::Equal | Verdict::NotRun(_) => {}
            }
        }
    }
    for ((class, names), numbers) in wrong {
        let known = {
            let report = report.lock().expect("no holder panics");
            report.found.len() >= MOST_FOUND || report.found.iter().any(|found| found.names == names)
        };
        if known {
            continue;
        }
        let small = engine.shrink(source, &cases[numbers[0]])?;
        let mut report = report.lock().expect("no holder panics");
        if let Some((case, ours, theirs)) = small {
            let (ours, theirs) = (ours.text(&case), theirs.text(&case));
            report.found.push(Found { names: self::names(&case), case: case.to_string(), ours, theirs });
        } else {
            report.unstable += 1;
            if let Some(row) = report.rows.get_mut(class) {
                row.differences -= 1;
            }
        }
    }
    Ok(())
}

/// Cases that are made small and printed, at most.
const MOST_FOUND: usize = 200;

fn names(case: &Case) -> String {
    // Words without a line by the bits that say their class, and some more.
    let name = |word: u32| {
        let line = NAMES.decode(word).filter(|(_, spec)| (spec.prepare)(word).is_some());
        line.map_or_else(|| format!("unallocated:{:08x}", word & 0xfffe_0000), |(_, spec)| spec.name.to_owned())
    };
    let names: Vec<String> = case.words.iter().map(|word| name(*word)).collect();
    names.join(" ")
}

impl Report {
    /// All differences without a reason.
    #[must_use]
    pub fn differences(&self) -> u64 {
        self.rows.values().map(|row| row.differences).sum()
    }

    /// All cases.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.rows.values().map(|row| row.cases).sum()
    }

    /// All cases that differ for a reason.
    #[must_use]
    pub fn explained(&self) -> u64 {
        self.rows.values().flat_map(|row| row.explained.values()).sum()
    }

    /// The table and the lists below it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{:<22} {:>9} {:>10} {:>11} {:>9}",
            "encoding class", "encodings", "cases", "differences", "explained"
        );
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (class, row) in &self.rows {
            let explained: u64 = row.explained.values().sum();
            let _ = writeln!(
                text,
                "{class:<22} {:>9} {:>10} {:>11} {explained:>9}",
                row.encodings.len(),
                row.cases,
                row.differences
            );
            for (reason, count) in &row.explained {
                *reasons.entry(reason).or_default() += count;
            }
        }
        let encodings: BTreeSet<&str> = self.rows.values().flat_map(|row| row.encodings.iter().copied()).collect();
        let _ = writeln!(
            text,
            "{:<22} {:>9} {:>10} {:>11} {:>9}",
            "all",
            encodings.len(),
            self.cases(),
            self.differences(),
            self.explained()
        );
        for (reason, count) in reasons {
            let _ = writeln!(text, "explained {count}: {reason}");
        }
        for found in &self.found {
            let _ = writeln!(
                text,
                "difference: {}\n  {} => {}\n  ours: {}",
                found.names, found.case, found.theirs, found.ours
            );
        }
        if self.unstable > 0 {
            let _ = writeln!(text, "{} cases differed once and not when they were run again", self.unstable);
        }
        text
    }
}
