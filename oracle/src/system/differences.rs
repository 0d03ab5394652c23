//! Where QEMU 7.2 and our machine print different lines, and why that is right.

use arch::feature::Feature;

mod el2;
mod list;

/// The list. An entry that explains nothing fails the test.
pub const DIFFERENCES: &[Difference] = &joined::<{ list::EL1.len() + el2::EL2.len() }>([list::EL1, el2::EL2]);

const fn joined<const N: usize>(parts: [&[Difference]; 2]) -> [Difference; N] {
    let mut all = [parts[0][0]; N];
    let mut n = 0;
    let mut part = 0;
    while part < parts.len() {
        let mut m = 0;
        while m < parts[part].len() {
            all[n] = parts[part][m];
            (n, m) = (n + 1, m + 1);
        }
        part += 1;
    }
    all
}

/// Why a line may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The judge does what the manual does not permit, or does not model it.
    JudgeWrong(&'static str),
    /// The manual leaves a choice, and the two choose differently.
    Choice(&'static str),
    /// The models differ in what identifies them. The entry need not explain anything: the values may become equal.
    Model(&'static str),
    /// The judge does not have this feature, so lines that only a CPU with it prints are not there.
    JudgeLacks(Feature),
    /// Our model does not have the feature, so lines differ or are not there; counts only as long as that is so, and the
    /// entry need not explain anything.
    Lacking(Feature),
}

/// One kind of difference.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The program.
    pub program: &'static str,
    /// The models; empty for all.
    pub cpus: &'static [&'static str],
    /// Names of lines; `*` stands for any text.
    pub names: &'static [&'static str],
    /// What our line contains.
    pub ours: &'static str,
    /// What the judge's line contains.
    pub judge: &'static str,
    /// Why: the manual's rule.
    pub because: Because,
}

impl Difference {
    /// Is this the reason why line `name` differs?
    #[must_use]
    pub fn explains(&self, program: &str, cpu: &str, name: &str, ours: &str, judge: &str) -> bool {
        self.concerns(program, cpu, name) && ours.contains(self.ours) && judge.contains(self.judge)
    }

    /// Is this the reason why line `name` is only on one side?
    #[must_use]
    pub fn explains_absence(&self, program: &str, cpu: &str, name: &str, from: Absent) -> bool {
        let side = match self.because {
            Because::JudgeLacks(_) => Absent::Judge,
            Because::Lacking(_) => Absent::Ours,
            _ => return false,
        };
        side == from && self.concerns(program, cpu, name)
    }

    fn concerns(&self, program: &str, cpu: &str, name: &str) -> bool {
        let applies = match self.because {
            Because::Lacking(feature) => arch::preset::preset(cpu).is_some_and(|model| !model.has(feature)),
            _ => true,
        };
        applies
            && self.program == program
            && (self.cpus.is_empty() || self.cpus.contains(&cpu))
            && self.names.iter().any(|pattern| matches(pattern, name))
    }
}

/// Where a line is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// On our side.
    Ours,
    /// On the judge's.
    Judge,
}

/// Does `name` match `pattern`, in which `*` stands for any text?
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name
            .strip_prefix(start)
            .is_some_and(|after| (0..=after.len()).any(|n| after.is_char_boundary(n) && matches(rest, &after[n..]))),
    }
}
