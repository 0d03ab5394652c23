//! Where a tool and we print different texts, and why ours stands.

use super::normal::matches;
use super::tools::Maker;

/// A kind of difference.
pub struct Difference {
    /// The tool; `None` where no tool knows the word.
    maker: Option<Maker>,
    /// The leaf's name; in it and in the texts a `*` stands for anything.
    pub leaf: &'static str,
    /// Our text.
    pub ours: &'static str,
    /// The tool's.
    pub theirs: &'static str,
    /// Why.
    pub reason: &'static str,
}

impl Difference {
    /// Is it this one?
    pub fn explains(&self, maker: Option<Maker>, leaf: &str, ours: &str, theirs: &str) -> bool {
        self.maker == maker && matches(self.leaf, leaf) && matches(self.ours, ours) && matches(self.theirs, theirs)
    }
}

const fn gnu(leaf: &'static str, ours: &'static str, theirs: &'static str, reason: &'static str) -> Difference {
    Difference { maker: Some(Maker::Gnu), leaf, ours, theirs, reason }
}

const fn llvm(leaf: &'static str, ours: &'static str, theirs: &'static str, reason: &'static str) -> Difference {
    Difference { maker: Some(Maker::Llvm), leaf, ours, theirs, reason }
}

const fn unknown(leaf: &'static str, reason: &'static str) -> Difference {
    Difference { maker: None, leaf, ours: "*", theirs: "", reason }
}

const NOT_IN_ARCH: &str = "the register is not in arch's table, so no CPU model has it";
const OLDER: &str = "the tool is older than the feature";
const NAMELESS: &str = "the tool has no name for the register";
const ARGUMENT: &str = "the tool hides Xt of an operation that ignores it";
const RESERVED: &str = "the tool takes registers that the manual reserves as unknown; the feature is in no CPU model";
const ZERO: &str =
    "addresses and counts in XZR are CONSTRAINED UNPREDICTABLE: UNDEFINED here (K1.2, memory copy and set)";

/// A word that only LLVM knows.
const fn llvm_only(theirs: &'static str, reason: &'static str) -> Difference {
    llvm("", ".inst *", theirs, reason)
}

const FP8: &str = "FEAT_FP8 and its kind, of Armv9.5, are not in our list";
const FAMINMAX: &str = "FEAT_FAMINMAX, of Armv9.5, is not in our list";
const LUT: &str = "FEAT_LUT, of Armv9.5, is not in our list";
const CPA: &str = "FEAT_CPA, of Armv9.5, is not in our list";
const PAUTH_LR: &str = "FEAT_PAuth_LR, of Armv9.5, is not in our list";
const TME: &str = "FEAT_TME is not in our list";
const NO_REGISTER: &str = "op0 is 0 or 1, which names no register: MSR (immediate) and SYS are there";

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    gnu("MRS_*", "mrs x*, s*_*_c*_c*_*", "*", NOT_IN_ARCH),
    gnu("MSR_SR_*", "msr s*_*_c*_c*_*, x*", "*", NOT_IN_ARCH),
    llvm("MRS_*", "mrs x*, s*_*_c*_c*_*", "*", NOT_IN_ARCH),
    llvm("MSR_SR_*", "msr s*_*_c*_c*_*, x*", "*", NOT_IN_ARCH),
    llvm("M*RR*_*", "m*rr*s*_*_c*_c*_*", "*", NOT_IN_ARCH),
    gnu("MRS_*", "*", "mrs x*, s*_*_c*_c*_*", NAMELESS),
    gnu("MSR_SR_*", "*", "msr s*_*_c*_c*_*, x*", NAMELESS),
    llvm("MRS_*", "*", "mrs x*, s*_*_c*_c*_*", NAMELESS),
    llvm("MSR_SR_*", "*", "msr s*_*_c*_c*_*, x*", NAMELESS),
    llvm("MRRS_*", "*", "mrrs *s*_*_c*_c*_*", NAMELESS),
    llvm("MSRR_*", "*", "msrr s*_*_c*_c*_*", NAMELESS),
    gnu("SYS_*", "tlbi *nxs*", "sys *", OLDER),
    gnu("SYS_*", "tlbi vmallws2e1*", "sys *", OLDER),
    gnu("SYS_*", "cosp rctx, *", "sys *", OLDER),
    gnu("SYS_*", "at s1e*a, *", "sys *", OLDER),
    gnu("SYS_*", "gcs*", "sys *", OLDER),
    gnu("SYS_*", "trcit *", "sys *", OLDER),
    gnu("SYS_*", "dc cig*pa*, *", "sys *", OLDER),
    gnu("SYS_*", "dc cipae, *", "sys *", OLDER),
    gnu("SYSL_*", "gcs*", "sysl *", OLDER),
    gnu("SYS_*", "*, x*", "*", ARGUMENT),
    llvm("SYS_*", "*, x*", "*", ARGUMENT),
    gnu("SYS_*", "brb *", "sys *", OLDER),
    llvm("SYS_*", "dc c*pa*, xzr", "sys *", "the tool prints SYS where Xt is XZR, though both are the same operation"),
    llvm("SYSP_*", "tlbip *nxs, *", "sysp *", "the tool lacks the nXS forms of TLBIP"),
    llvm("SYSP_*", "sysp *", "tlbip *", "TLBIP has only operations by address and by range"),
    gnu("*_hints", "*", "hint *", OLDER),
    llvm("*_hints", "*", "hint *", OLDER),
    gnu("CLRBHB_*", "clrbhb", "clearbhb", "a name of before the manual's"),
    gnu("SB_*", "sb", "msr s0_*", "CRm should be 0, and is ignored"),
    llvm("SB_*", "sb", "msr s0_*", "CRm should be 0, and is ignored"),
    gnu("MSR_SI_*", "msr *, #0x*", "msr s0_*, xzr", "the manual lets the immediate be 0 to 15 for every field"),
    llvm("MSR_SI_*", "msr svcr, #0x*", "msr s0_*, xzr", "reserved; the feature is in no CPU model"),
    gnu("MSR_SI_*", "msr allint, *", "*", OLDER),
    gnu("ORR_*_log_imm", "orr *sp, *zr, *", "mov *", "ORR is preferred where MOVZ or MOVN could make the immediate"),
    gnu("PRF*", "prf* p*slc*", "prf* #0x*", OLDER),
    gnu("RPRFM_*", "rprfm *", "prfm *", OLDER),
    llvm("LDRA*W_*", "*]!", "*, #0x0]!", "the manual lets an offset of 0 be left out, as elsewhere"),
    llvm("DSB_*", "dsb #0x0c", "dfb", "DFB is of Armv8-R only"),
    llvm("SUBPS_*", "cmpp *", "subps xzr, *", "the manual prefers CMPP"),
    llvm("BFM_*", "bfc *", "bfi *zr, *", "the manual prefers BFC"),
    llvm("*SHLL_asimdshf_L", "*xtl* *", "*shll* *, #0x0", "the manual prefers SXTL and UXTL"),
    llvm(
        "*G_64_addsub_immtags",
        ".inst *",
        "*",
        "op3 should be 0; like GNU's tool and QEMU we take others as unallocated",
    ),
    unknown("*P*_128_memop_128", RESERVED),
    unknown("RCW*P*_rcwcomswappr", RESERVED),
    unknown("M*RR*_systemmovepr", RESERVED),
    unknown("SYSP_*", RESERVED),
    llvm("CPY*_memcms", ".inst *", "*xzr*", ZERO),
    llvm("SET*_memcms", ".inst *", "*xzr*", ZERO),
    // Words of no leaf.
    llvm_only("fcvtn* v*.*b, v*, v*", FP8),
    llvm_only("f*dot v*", FP8),
    llvm_only("fmlal*b v*", FP8),
    llvm_only("fmlal*t v*", FP8),
    llvm_only("*f1cvtl* v*", FP8),
    llvm_only("*f2cvtl* v*", FP8),
    llvm_only("fscale v*", FP8),
    llvm_only("fam*", FAMINMAX),
    llvm_only("luti* v*", LUT),
    llvm_only("*addpt *", CPA),
    llvm_only("*subpt *", CPA),
    llvm_only("*sppc*", PAUTH_LR),
    llvm_only("*171615", PAUTH_LR),
    llvm_only("tcancel *", TME),
    llvm_only("tcommit", TME),
    llvm_only("tstart *", TME),
    llvm_only("ttest *", TME),
    gnu("", ".inst *", "tcancel *", TME),
    gnu("", ".inst *", "tcommit", TME),
    gnu("", ".inst *", "tstart *", TME),
    gnu("", ".inst *", "ttest *", TME),
    gnu("", ".inst *", "msr s*", NO_REGISTER),
    gnu("", ".inst *", "mrs *, s*", NO_REGISTER),
    llvm_only("msr s*", NO_REGISTER),
    llvm_only("mrs *, s*", NO_REGISTER),
    llvm_only("msrr s*", NO_REGISTER),
    llvm_only("mrrs *, s*", NO_REGISTER),
    gnu("", ".inst *", "fml*l* v*", "the tool ignores that sz is 1, which is reserved"),
];
