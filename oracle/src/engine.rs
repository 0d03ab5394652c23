//! Runs cases on both sides, compares, and makes what differs small.

use std::path::Path;

use anyhow::Result;
use arch::model::CpuModel;

use crate::case::{Case, End, Outcome};
use crate::differ::{self, Difference};
use crate::generate::Source;
use crate::ours::Ours;
use crate::user::Judge;

const NOP: u32 = 0xd503_201f;

/// Both sides.
pub struct Engine {
    /// Our PE.
    pub ours: Ours,
    /// The other side.
    pub judge: Judge,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both did the same.
    Equal,
    /// They differ, and a rule says why they may.
    Explained(&'static str),
    /// They differ.
    Different(Box<(Outcome, Outcome)>),
    /// It was not put to the judge: on our side it did not end, or asked for the system.
    NotRun(End),
}

impl Engine {
    /// Both sides, with the judge's program in `directory`.
    pub fn new(model: CpuModel, directory: &Path) -> Result<Self> {
        Ok(Self { ours: Ours::new(model)?, judge: Judge::build(directory)? })
    }

    /// Runs the cases on both sides.
    pub fn compare(&mut self, source: &Source, cases: &[Case]) -> Result<Vec<Verdict>> {
        // A case may have written over the breakpoints; the judge starts anew with each call.
        self.ours.restore();
        let ours: Vec<Outcome> = cases.iter().map(|case| self.ours.run(case)).collect();
        let runs = |outcome: &Outcome| !matches!(outcome.end, End::Endless | End::NotDone | End::Leaves);
        let put: Vec<Case> =
            cases.iter().zip(&ours).filter(|(_, outcome)| runs(outcome)).map(|(case, _)| case.clone()).collect();
        let mut theirs = self.judge.run(&put)?.into_iter();
        Ok(cases
            .iter()
            .zip(ours)
            .map(|(case, ours)| {
                if !runs(&ours) {
                    return Verdict::NotRun(ours.end);
                }
                let Some(theirs) = theirs.next() else { return Verdict::NotRun(End::Leaves) };
                let parts = ours.differences(&theirs);
                if parts.is_empty() {
                    return Verdict::Equal;
                }
                match differ::explain(source, &Difference { case, ours: &ours, theirs: &theirs, parts: &parts }) {
                    Some(reason) => Verdict::Explained(reason),
                    None => Verdict::Different(Box::new((ours, theirs))),
                }
            })
            .collect())
    }

    /// Makes a case that differs small: instructions become NOPs or go, registers become zero, as long as it still
    /// differs. `None` where it does not differ again.
    pub fn shrink(&mut self, source: &Source, case: &Case) -> Result<Option<(Case, Outcome, Outcome)>> {
        let mut small = case.clone();
        let mut steps: Vec<Step> = (0..case.words.len()).map(Step::Nop).collect();
        steps.extend(case.state.registers().filter(|(_, value)| *value != 0).map(|(name, _)| Step::Zero(name)));
        // Each round keeps what can go at once, or else the first that can go alone.
        while !steps.is_empty() {
            let mut trials: Vec<Case> = steps.iter().map(|step| step.applied(&small)).collect();
            let verdicts = self.compare(source, &trials)?;
            let different = |verdict: &Verdict| matches!(verdict, Verdict::Different(_));
            let good: Vec<usize> = (0..steps.len()).filter(|&n| different(&verdicts[n])).collect();
            let Some(&first) = good.first() else { break };
            // All, then halves of them: the largest number that still differs together.
            let mut chosen = vec![first];
            let mut length = good.len();
            while length > 1 {
                let all = good[..length].iter().fold(small.clone(), |case, &n| steps[n].applied(&case));
                if self.compare(source, std::slice::from_ref(&all))?.iter().any(different) {
                    chosen = good[..length].to_vec();
                    trials[first] = all;
                    break;
                }
                length /= 2;
            }
            small = trials.swap_remove(first);
            steps = steps.into_iter().enumerate().filter(|(n, _)| !chosen.contains(n)).map(|(_, step)| step).collect();
        }
        for trial in [without_nops(&small), Case { seed: 0, ..without_nops(&small) }] {
            if trial != small
                && matches!(self.compare(source, std::slice::from_ref(&trial))?[..], [Verdict::Different(_)])
            {
                small = trial;
            }
        }
        match &mut self.compare(source, std::slice::from_ref(&small))?[..] {
            [Verdict::Different(outcomes)] => {
                let (ours, theirs) = (**outcomes).clone();
                Ok(Some((small, ours, theirs)))
            }
            _ => Ok(None),
        }
    }
}

/// One way to make a case smaller.
enum Step {
    Nop(usize),
    Zero(String),
}

impl Step {
    fn applied(&self, case: &Case) -> Case {
        let mut case = case.clone();
        match self {
            Self::Nop(n) => case.words[*n] = NOP,
            // The name came from the state, so it is one.
            Self::Zero(name) if name != "pc" => case.state.set(name, 0).expect("a register"),
            Self::Zero(_) => {}
        }
        case
    }
}

fn without_nops(case: &Case) -> Case {
    let mut words: Vec<u32> = case.words.iter().copied().filter(|word| *word != NOP).collect();
    if words.is_empty() {
        words.push(NOP);
    }
    Case { words, ..case.clone() }
}
