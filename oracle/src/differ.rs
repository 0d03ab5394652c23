//! Where the judge cannot be asked, and where it may differ from us, each with the manual's rule. Rules are of DDI 0487.

use arch::feature::Feature::{self, *};
use arch::sysreg::Enc;
use sem::Spec;
use sem::eval::Flat;

use crate::case::{Case, End, Outcome, PC};
use crate::generate::Source;

/// Features that QEMU 7.2's user mode lacks, or shows otherwise.
const NOT_JUDGED: [(Feature, &str); 16] = [
    (FEAT_LRCPC3, "QEMU 7.2 is older"),
    (FEAT_LSE128, "QEMU 7.2 is older"),
    (FEAT_CSSC, "QEMU 7.2 is older"),
    (FEAT_HBC, "QEMU 7.2 is older"),
    (FEAT_MOPS, "QEMU 7.2 is older"),
    (FEAT_LS64, "QEMU 7.2 is older"),
    (FEAT_LS64_V, "QEMU 7.2 is older"),
    (FEAT_LS64_ACCDATA, "QEMU 7.2 is older"),
    (FEAT_WFxT, "QEMU 7.2 is older"),
    (FEAT_XS, "QEMU 7.2 is older"),
    (FEAT_NMI, "QEMU 7.2 is older"),
    (FEAT_THE, "QEMU 7.2 is older"),
    (FEAT_GCS, "QEMU 7.2 is older"),
    (FEAT_PAuth, "its keys are not known in user mode; oracle/tests/system has it at EL1"),
    (FEAT_MTE2, "the page has no tags in user mode; oracle/tests/system has it at EL1"),
    (FEAT_SPECRES, "QEMU 7.2 has no EL0 control for it"),
];

/// Why the judge cannot be asked about an encoding, if so.
#[must_use]
pub fn not_judged(spec: &Spec<Flat>) -> Option<&'static str> {
    let feature = spec.feature?;
    NOT_JUDGED.iter().find(|(f, _)| *f == feature).map(|(_, reason)| *reason)
}

/// Words whose result is the implementation's choice altogether: registers that say what the implementation is, counters,
/// random numbers, and those whose value is not part of a case.
#[must_use]
pub fn not_compared(word: u32) -> bool {
    const NZCV: Enc = Enc::new(3, 3, 4, 2, 0);
    const DAIF: Enc = Enc::new(3, 3, 4, 2, 1);
    const FPCR: Enc = Enc::new(3, 3, 4, 4, 0);
    const FPSR: Enc = Enc::new(3, 3, 4, 4, 1);
    const TPIDR_EL0: Enc = Enc::new(3, 3, 13, 0, 2);
    if word & 0xffd0_0000 != 0xd510_0000 {
        return false;
    }
    let enc = Enc::of_word(word);
    let read = word >> 21 & 1 == 1;
    let id = read && enc.op0() == 3 && enc.op1() == 0 && enc.crn() == 0;
    let user = enc.op1() == 3 && ![NZCV, DAIF, FPCR, FPSR, TPIDR_EL0].contains(&enc);
    id || user
}

/// Why the architecture leaves a word's outcome open (CONSTRAINED UNPREDICTABLE), if so.
#[must_use]
pub fn open(word: u32, spec: &Spec<Flat>) -> Option<&'static str> {
    let name = spec.name;
    let (rt, rn, rt2, rs) = (word & 31, word >> 5 & 31, word >> 10 & 31, word >> 16 & 31);
    let memory = word >> 25 & 0b101 == 0b100;
    let simd = word >> 26 & 1 == 1;
    let pair = name.contains("pair_") || name.contains("_ldstexclp");
    let load = name.starts_with("LD");
    let writes_back = name.contains("_ldst_immpost")
        || name.contains("_ldst_immpre")
        || name.contains("pair_post")
        || name.contains("pair_pre");
    if !memory {
        return judge_is_wrong(word, name);
    }
    if load && pair && rt == rt2 {
        return Some("CONSTRAINED UNPREDICTABLE: a pair loaded into one register (K1.2)");
    }
    if !simd && writes_back && rn != 31 && (rt == rn || pair && rt2 == rn) {
        return Some("CONSTRAINED UNPREDICTABLE: write-back to a register that is transferred (K1.2)");
    }
    let exclusive = name.contains("_ldstexclp") || name.contains("_ldstexclr");
    if exclusive && !load && (rs == rt || name.contains("_ldstexclp") && rs == rt2 || rs == rn && rn != 31) {
        return Some("CONSTRAINED UNPREDICTABLE: the status register is also data or base (K1.2)");
    }
    None
}

/// Words that QEMU 7.2 gets wrong.
fn judge_is_wrong(word: u32, name: &str) -> Option<&'static str> {
    if name == "FCVTZS_asisdshf_C" && word >> 20 & 7 == 1 {
        return Some(FCVTZS);
    }
    if word & 0xbff8_fc00 == 0x2f00_fc00 {
        return Some(FMOV);
    }
    if name == "SB_only_barriers" && word >> 8 & 15 != 0 {
        return Some(SHOULD_BE_ZERO);
    }
    if word & 0xff7e_0c00 == 0x5e70_0800 {
        return Some(PAIRWISE);
    }
    if matches!(word & 0xbf7f_fc00, 0x0e70_c800 | 0x0e70_f800) {
        return Some(ACROSS);
    }
    if word & 0xdfff_fc00 == 0x5ef8_f800 {
        return Some(SCALAR_SIGN);
    }
    // DC CVAP and CVADP.
    matches!(word & 0xffff_ffe0, 0xd50b_7c20 | 0xd50b_7d20).then_some(PERSISTENCE)
}

/// A case with two outcomes that are not equal.
#[derive(Clone, Copy)]
pub struct Difference<'a> {
    /// The case.
    pub case: &'a Case,
    /// What our PE made of it.
    pub ours: &'a Outcome,
    /// What the judge made of it.
    pub theirs: &'a Outcome,
    /// What differs, by [`Outcome::differences`].
    pub parts: &'a [String],
}

impl Difference<'_> {
    /// The instruction at which `outcome` ended, if it is one of the case.
    fn last(&self, outcome: &Outcome) -> Option<u32> {
        let at = outcome.state.pc.checked_sub(PC)? / 4;
        self.case.words.get(at as usize).copied()
    }

    fn only(&self, part: impl Fn(&str) -> bool) -> bool {
        self.parts.iter().all(|name| part(name))
    }
}

const MISALIGNED: &str =
    "PC and SP alignment: QEMU's user mode has no such checks; a misaligned PC or SP faults (D1.3.8, SCTLR_EL1.SA0)";
const LDAPR: &str = "QEMU 7.2 does not check LDAPR's alignment; without FEAT_LSE2 it must be aligned (B2.8.2)";
const EXCLUSIVE: &str = "where the monitor does not hold the address, whether a store-exclusive's faults are found is the implementation's choice";
const ABORTED: &str =
    "an instruction of several transfers that aborts leaves its target registers UNKNOWN and may have stored in part";
const CACHE: &str = "QEMU's user mode makes nothing of cache maintenance; by address to EL0 it may fault (D7.5.9)";
const FPCR: &str = "FPCR.{Len,Stride} are RES0 where no level has AArch32; QEMU keeps them";
const FPSR: &str = "FPSR.{N,Z,C,V} are RES0 where no level has AArch32; QEMU keeps them";
const PERSISTENCE: &str =
    "QEMU 7.2's user mode has no DC CVAP and CVADP; with FEAT_DPB and FEAT_DPB2 EL0 has (SCTLR_EL1.UCI)";
const FCVTZS: &str =
    "QEMU 7.2 sign-extends FCVTZS (scalar, fixed-point, half precision) to 32 bits; the result has 16 bits";
const SHOULD_BE_ZERO: &str =
    "CONSTRAINED UNPREDICTABLE: CRm of SB should be zero; we ignore it, QEMU takes it as UNDEFINED";
const PAIRWISE: &str =
    "QEMU 7.2 does not refuse reserved words of Advanced SIMD scalar pairwise (half precision with sz 1)";
const ACROSS: &str = "QEMU 7.2 does not refuse reserved words of Advanced SIMD across lanes (half precision with sz 1)";
const SCALAR_SIGN: &str =
    "QEMU 7.2 does not refuse scalar forms of FABS and FNEG (vector, half precision), which there are none of";
const HIGH: &str =
    "QEMU gives address 0 where the host's processor does not say it: beyond the host's virtual addresses";
const FMOV: &str =
    "QEMU 7.2 does not refuse reserved words of Advanced SIMD modified immediate (op 1, cmode 1111, o2 1)";

/// Bits 20 to 16: Stride and Len, and one between them.
const LEN_AND_STRIDE: u32 = 0x0037_0000;

/// The rule that explains a difference, if there is one.
#[must_use]
pub fn explain(source: &Source, difference: &Difference) -> Option<&'static str> {
    let case = difference.case;
    if let [word] = case.words[..]
        && let Some((_, spec)) = source.decoder.decode(word)
        && let Some(reason) = open(word, spec)
    {
        return Some(reason);
    }
    let (ours, theirs) = (difference.ours, difference.theirs);
    if theirs.end == End::Died {
        return Some("QEMU 7.2 itself ends with an internal error (assertion) on such a word");
    }
    let is_abort = |end| matches!(end, End::Fault(_) | End::Alignment);
    if ours.end == End::Alignment && ours.state.pc & 3 != 0 {
        // A branch ended there; the judge may have faulted as well, and says another signal.
        return (difference.only(|part| part == "end")).then_some(MISALIGNED);
    }
    // Bits of AArch32 that stay set after an MSR; what else differs needs a reason of its own.
    let fpcr = (ours.state.fpcr ^ theirs.state.fpcr) & !LEN_AND_STRIDE == 0;
    let fpsr = (ours.state.fpsr ^ theirs.state.fpsr) & 0x0fff_ffff == 0;
    let is_explained = |part: &String| part == "fpcr" && fpcr || part == "fpsr" && fpsr;
    if difference.parts.iter().any(is_explained) {
        let parts: Vec<String> = difference.parts.iter().filter(|part| !is_explained(part)).cloned().collect();
        if parts.is_empty() {
            return Some(if difference.only(|part| part == "fpsr") { FPSR } else { FPCR });
        }
        return explain(source, &Difference { parts: &parts, ..*difference });
    }
    let word = difference.last(ours)?;
    let Some((_, spec)) = source.decoder.decode(word) else { return judge_is_wrong(word, "") };
    let name = spec.name;
    let later = theirs.state.pc.wrapping_sub(ours.state.pc) <= 4 * (case.words.len() as u64);
    // SP as it is at that instruction: ours ended there.
    if ours.end == End::Alignment && later {
        if word >> 25 & 0b101 == 0b100 && word >> 5 & 31 == 31 && ours.state.sp & 15 != 0 {
            return Some(MISALIGNED);
        }
        if name.starts_with("LDAPR") {
            return Some(LDAPR);
        }
    }
    if is_abort(ours.end) && later && (name.starts_with("STX") || name.starts_with("STLX")) {
        return Some(EXCLUSIVE);
    }
    if let (End::Fault(address), End::Fault(0)) = (ours.end, theirs.end)
        && address >> 47 != 0
        && difference.only(|part| part == "end")
    {
        return Some(HIGH);
    }
    if is_abort(ours.end) && is_abort(theirs.end) && ours.state.pc == theirs.state.pc {
        return aborted(name, word, difference);
    }
    if matches!(ours.end, End::Fault(_)) && name == "SYS_CR_systeminstrs" && ours.state.pc == theirs.state.pc {
        return (theirs.end == End::Undefined).then_some(CACHE);
    }
    if matches!(ours.end, End::Fault(_)) && name == "SYS_CR_systeminstrs" && later {
        return Some(CACHE);
    }
    None
}

/// Both took an abort at the same instruction.
fn aborted(name: &str, word: u32, difference: &Difference) -> Option<&'static str> {
    let several = ["pair_", "asisdl", "ldstexclp", "comswappr", "ldstnapair"].iter().any(|part| name.contains(part));
    let quad = name.contains("_Q_") || name.contains("_QL_");
    let rt = word & 31;
    let target = |part: &str| {
        part.strip_prefix('q')
            .and_then(|n| n.parse::<u32>().ok())
            .is_some_and(|n| (n.wrapping_sub(rt) & 31) < 4 || n == word >> 10 & 31)
            || part
                .strip_prefix('x')
                .and_then(|n| n.parse::<u32>().ok())
                .is_some_and(|n| n == rt || n == word >> 10 & 31)
    };
    ((several || quad) && difference.only(|part| part == "memory" || target(part))).then_some(ABORTED)
}
