//! Where QEMU 7.2 and our machine print different lines, and why that is right.

use arch::feature::Feature::{self, *};

/// Why a line may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// The judge does what the manual does not permit, or does not model it.
    JudgeWrong(&'static str),
    /// The manual leaves a choice, and the two choose differently.
    Choice(&'static str),
    /// The models are not the same in this: which identification it is.
    Model(&'static str),
    /// Our model does not have the feature; counts only as long as that is so, and the entry need not explain anything.
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
        let lacking = match self.because {
            Because::Lacking(feature) => arch::preset::preset(cpu).is_some_and(|model| !model.has(feature)),
            _ => true,
        };
        lacking
            && self.program == program
            && (self.cpus.is_empty() || self.cpus.contains(&cpu))
            && self.names.iter().any(|pattern| matches(pattern, name))
            && ours.contains(self.ours)
            && judge.contains(self.judge)
    }
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

/// The list. An entry that explains nothing fails the test.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        program: "exceptions",
        cpus: &[],
        names: &["sp checks * *"],
        ours: "esr=9a000000",
        judge: "",
        because: Because::JudgeWrong("QEMU 7.2 has no SP alignment check (DDI 0487 D1.3.5.2, SCTLR_EL1.SA and SA0)"),
    },
    Difference {
        program: "exceptions",
        cpus: &[],
        names: &["at el* misaligned pc without *"],
        ours: "esr=8a000000",
        judge: "esr=8",
        because: Because::JudgeWrong(
            "a misaligned PC comes before an Instruction Abort (DDI 0487 D1.3.5.5); QEMU looks the page up first",
        ),
    },
    Difference {
        program: "exceptions",
        cpus: &[],
        names: &["sctlr none msr daif* el0"],
        ours: "esr=620",
        judge: "esr=6207",
        because: Because::JudgeWrong(
            "ISS of EC 0x18 has Op2 in [19:17] and Op1 in [16:14] (DDI 0487 D17.2.37); QEMU 7.2 has them the other way \
             round for MSR (immediate)",
        ),
    },
    Difference {
        program: "exceptions",
        cpus: &[],
        names: &["sctlr none wfe twice el0"],
        ours: "esr=7e00001",
        judge: "done",
        because: Because::Choice(
            "a trap of WFE need not be taken, since WFE may complete at any time (DDI 0487 D1.6.1)",
        ),
    },
    Difference {
        program: "exceptions",
        cpus: &[],
        names: &["sctlr all ic ivau x21 el0"],
        ours: "esr=9200014d",
        judge: "done",
        because: Because::Choice(
            "whether IC IVAU of what EL0 cannot read is a Permission fault is IMPLEMENTATION DEFINED (DDI 0487 D7.5.9.4)",
        ),
    },
    lacking(&["feature cfinv *", "feature rmif *"], FEAT_FlagM),
    lacking(&["feature xaflag *"], FEAT_FlagM2),
    lacking(&["feature pacia *"], FEAT_PAuth),
    lacking(&["feature sb *"], FEAT_SB),
    lacking(&["feature dc cvadp *"], FEAT_DPB2),
    lacking(&["feature cfp rctx *"], FEAT_SPECRES),
    lacking(&["at el*"], FEAT_BTI),
];

/// A line of `exceptions` that differs on `max` as long as our machine does not model `feature`.
const fn lacking(names: &'static [&'static str], feature: Feature) -> Difference {
    Difference { program: "exceptions", cpus: &["max"], names, ours: "", judge: "", because: Because::Lacking(feature) }
}
