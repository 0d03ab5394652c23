//! Errata, by MIDR ranges. The source of each is Arm's Software Developer Errata Notice of the part.

use super::midr::{MidrRange, part};

/// An erratum that the kernel works around, or that keeps it from using something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Erratum {
    /// A53 845719: a load in AArch32 state may read wrong data. AArch32 is not run, so nothing is done about it.
    ContextIdrWrite,
    /// Changing the size of a block without break-before-make may livelock.
    Bbml2Livelock,
    /// A write of PSTATE.SSBS may not act at once: EL0 is not told of the register.
    SpeculativeSsbs,
    /// A57 832075: a load of Device memory beside exclusive or acquiring accesses may deadlock: such loads acquire.
    DeviceLoadAcquire,
}

/// One of them, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct ErratumInfo {
    /// Which.
    pub erratum: Erratum,
    /// What the log calls it.
    pub name: &'static str,
    /// The CPUs that have it.
    pub ranges: &'static [MidrRange],
}

/// All of them, in the order of [`Erratum`].
pub static ERRATA: &[ErratumInfo] = &[
    ErratumInfo {
        erratum: Erratum::ContextIdrWrite,
        name: "845719 (Cortex-A53)",
        ranges: &[MidrRange::arm(part::CORTEX_A53).up_to(0, 4)],
    },
    ErratumInfo {
        erratum: Erratum::Bbml2Livelock,
        name: "FEAT_BBM level 2 may livelock",
        ranges: &[
            MidrRange::arm(part::CORTEX_A76),
            MidrRange::arm(part::NEOVERSE_N1),
            MidrRange::arm(part::CORTEX_A77),
            MidrRange::arm(part::CORTEX_A78),
            MidrRange::arm(part::CORTEX_X1),
            MidrRange::arm(part::CORTEX_A78C),
            MidrRange::arm(part::CORTEX_A710),
            MidrRange::arm(part::CORTEX_X2),
            MidrRange::arm(part::CORTEX_X3),
            MidrRange::arm(part::CORTEX_X4).up_to(0, 2),
            MidrRange::arm(part::CORTEX_X925).up_to(0, 1),
            MidrRange::arm(part::NEOVERSE_N2),
            MidrRange::arm(part::NEOVERSE_V1),
            MidrRange::arm(part::NEOVERSE_V2),
            MidrRange::arm(part::NEOVERSE_V3).up_to(0, 1),
        ],
    },
    ErratumInfo {
        erratum: Erratum::SpeculativeSsbs,
        name: "MSR SSBS is not self-synchronising",
        ranges: &[
            MidrRange::arm(part::CORTEX_A76),
            MidrRange::arm(part::CORTEX_A77),
            MidrRange::arm(part::CORTEX_A78),
            MidrRange::arm(part::CORTEX_A78C),
            MidrRange::arm(part::CORTEX_A710),
            MidrRange::arm(part::CORTEX_A715),
            MidrRange::arm(part::CORTEX_A720),
            MidrRange::arm(part::CORTEX_A720AE),
            MidrRange::arm(part::CORTEX_A725),
            MidrRange::arm(part::CORTEX_X1),
            MidrRange::arm(part::CORTEX_X1C),
            MidrRange::arm(part::CORTEX_X2),
            MidrRange::arm(part::CORTEX_X3),
            MidrRange::arm(part::CORTEX_X4),
            MidrRange::arm(part::CORTEX_X925),
            MidrRange::arm(part::NEOVERSE_N1),
            MidrRange::arm(part::NEOVERSE_N2),
            MidrRange::arm(part::NEOVERSE_V1),
            MidrRange::arm(part::NEOVERSE_V2),
            MidrRange::arm(part::NEOVERSE_V3),
            MidrRange::arm(part::NEOVERSE_V3AE),
        ],
    },
    ErratumInfo {
        erratum: Erratum::DeviceLoadAcquire,
        name: "832075 (Cortex-A57)",
        ranges: &[MidrRange::arm(part::CORTEX_A57).up_to(1, 2)],
    },
];

/// CPUs whose level 2 never ends in a TLB conflict abort, whether or not ID_AA64MMFR2_EL1.BBM says 3.
pub static BBM_NO_ABORT: &[MidrRange] = &[
    MidrRange::arm(part::CORTEX_X4).from(0, 3),
    MidrRange::arm(part::NEOVERSE_V3).from(0, 2),
    MidrRange::arm(part::NEOVERSE_V3AE).from(0, 2),
    MidrRange::of(0xc0, 0xac3),
    MidrRange::of(0xc0, 0xac4),
];
