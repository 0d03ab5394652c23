//! The differences of the programs at EL1. Sections are of DDI 0487.

use arch::feature::Feature::{self, *};

use super::Because::{Choice, JudgeLacks, JudgeWrong, Lacking, Model};
use super::{Because, Difference};

type Names = &'static [&'static str];

/// On every model.
pub(super) const fn on_all(
    program: &'static str,
    names: Names,
    ours: &'static str,
    judge: &'static str,
    because: Because,
) -> Difference {
    Difference { program, cpus: &[], names, ours, judge, because }
}

/// On the models that have what Armv8.2 has.
const fn on_updating(
    program: &'static str,
    names: Names,
    ours: &'static str,
    judge: &'static str,
    because: Because,
) -> Difference {
    Difference { program, cpus: &["neoverse-n1", "max"], names, ours, judge, because }
}

/// On `max` alone.
pub(super) const fn on_max(
    program: &'static str,
    names: Names,
    ours: &'static str,
    judge: &'static str,
    because: Because,
) -> Difference {
    Difference { program, cpus: &["max"], names, ours, judge, because }
}

/// Lines of `program` that differ on `max` as long as our machine does not model `feature`.
const fn lacking(program: &'static str, names: Names, feature: Feature) -> Difference {
    Difference { program, cpus: &["max"], names, ours: "", judge: "", because: Lacking(feature) }
}

pub(super) const NO_SP_CHECK: Because = JudgeWrong("QEMU 7.2 has no SP alignment check (SCTLR_EL1.SA and SA0)");
pub(super) const PC_ALIGNMENT: Because =
    JudgeWrong("a misaligned PC comes before an Instruction Abort (D1.3.5.5); QEMU looks the page up first");
const IMPLEMENTATION_SPACE: Because = JudgeWrong(
    "HCR_EL2.TIDCP traps EL1's accesses to the spaces reserved for IMPLEMENTATION DEFINED registers and instructions, CRn 11 and 15, \
     to EL2 (HCR_EL2); QEMU 7.2 has it for AArch32 only",
);
const COUNTER_AT_EL0: Because = JudgeWrong(
    "with HCR_EL2.E2H = 0, CNTHCTL_EL2.EL1PCTEN traps EL0's reads of CNTPCT_EL0, EL1PCEN accesses to the timer alone (CNTHCTL_EL2); \
     QEMU 7.2 looks at the other bit",
);
const NO_TWE: Because = JudgeWrong("HCR_EL2.TWE traps a WFE that would wait (HCR_EL2); in QEMU 7.2 WFE only yields");
const NO_ERROR_RECORDS: Because = JudgeWrong(
    "with FEAT_RAS the error record registers are there even where ERRIDR_EL1.NUM is 0, RAZ/WI or UNDEFINED by choice (ERXADDR_EL1), \
     and trapped before; QEMU 7.2 has ERRIDR_EL1 alone",
);
const DEBUG_CLAIMS: Because = JudgeWrong(
    "MDCR_EL2.TDA, and TDE with it, covers DBGCLAIMSET_EL1, DBGCLAIMCLR_EL1 and DBGAUTHSTATUS_EL1, and TDOSA covers DBGPRCR_EL1 \
     (MDCR_EL2); QEMU 7.2 has them as constants without access checks",
);
pub(super) const SHAREABILITY: Because = JudgeWrong(
    "PAR_EL1.SH is 0b10 for Device and for Normal Non-cacheable memory, and 0b01 is reserved (PAR_EL1, field SH); QEMU 7.2 gives \
     the descriptor's SH",
);
const BLOCKS: Because = JudgeWrong(
    "a Block descriptor where the granule has none at that level is reserved: a Translation fault (D8.3); QEMU 7.2 takes it",
);
pub(super) const MAINTENANCE: Because = JudgeWrong(
    "cache maintenance by VA meets Translation, Access flag and Permission faults (the rules for DC and IC by VA); in QEMU 7.2 it does nothing",
);
pub(super) const EXCLUSIVE: Because = Choice(
    "whether a Store-Exclusive that the monitor fails is checked for memory aborts is IMPLEMENTATION DEFINED (AArch64.ExclusiveMonitorsPass)",
);
pub(super) const DEVICE_ALIGNMENT: Because = JudgeWrong(
    "unaligned accesses and DC ZVA to Device memory, and to anything with the MMU off, are Alignment faults (B2.8, DC ZVA); \
     QEMU 7.2 has no such check",
);
const LDAPR: Because = JudgeWrong("LDAPR must be aligned without FEAT_LSE2 (B2.8); QEMU 7.2 does not check");
const AT_ACCESS_FLAG: Because = Choice(
    "whether AT sets the Access flag is left open (hardware management of the Access flag); ours leaves the tables alone, QEMU sets it",
);
const AT_DIRTY: Because = JudgeWrong(
    "AT does not change the dirty state (hardware management of dirty state); QEMU 7.2 clears AP[2] for its write forms",
);
const DIRTY_EXECUTE: Because = JudgeWrong(
    "with HD set a descriptor with DBM is writable (hardware management of dirty state), so what EL0 can write is never executable at EL1; \
     QEMU 7.2 judges by AP[2] as it is",
);
const LONG_CYCLES: Because =
    Model("PMCR_EL0.LC is RES1 where no level has AArch32, which our models do not have (PMCR_EL0)");
const OVERFLOW_WHILE_OFF: Because = JudgeWrong(
    "an overflow of a counter that PMCR_EL0.E disables requests no interrupt (CheckForPMUOverflow); QEMU 7.2 does not look when E is written",
);
const PRIORITY_BITS: Because = Choice(
    "a GICv2 has 16 to 256 levels of priority (IHI 0048 3.3): ours 32, QEMU's 256, from which the least binary points and where \
     active priorities are follow",
);
const XPACLRI: Because =
    JudgeWrong("XPACLRI strips whatever SCTLR_EL1 enables (XPACLRI, Strip); QEMU makes it a NOP where no key is on");
const PAC_RANGE: Because = JudgeWrong(
    "where bits 55 and 63 differ and the ranges are not alike: InsertPAC takes bit 55 where either range has TBI, and the size of \
     the range that it so selects; QEMU looks at the range of bit 55",
);

pub(super) const RESERVED: Because = Choice(
    "a RES0 or RES1 bit of a register that can be written is either fixed or holds what was written without effect; ours \
     holds only the bits that the model has, QEMU nearly all",
);
/// Registers of `registers` in which QEMU holds reserved bits.
const RESERVED_BITS: Names = &[
    "written vbar_el1",
    "written esr_el1",
    "written spsr_el1",
    "written contextidr_el1",
    "written cpacr_el1",
    "written tcr_el1",
    "written cntkctl_el1",
    "written fpcr",
    "written fpsr",
    "written dbgbcr*",
    "written dbgwcr*",
    "written sctlr_el1",
];
const ONE_TAG: Because = JudgeWrong(
    "QEMU 7.2 forgets an address's offset in its page when it looks up tags, so that all of a page shares two of them",
);
const ZVA_STORES: Because =
    JudgeWrong("DC ZVA is a store: WnR is 1, and asymmetric checks do not fault; QEMU 7.2 checks it as a load");
const CAS_READS: Because = JudgeWrong(
    "a compare and swap reads, as all atomics do: WnR is 0 where a read would fault too, and an asymmetric check faults; \
     QEMU 7.2 has that for the other atomics",
);
const ALIGNMENT_FIRST: Because = JudgeWrong(
    "an Alignment fault that does not hang on the memory's type comes before a tag check (priority of synchronous aborts); \
     QEMU 7.2 has it last",
);
const TAG_RES0: Because = JudgeWrong("QEMU 7.2 keeps what is written to RES0 bits of RGSR_EL1, GCR_EL1 and TFSR*_EL1");

/// The list.
pub const EL1: &[Difference] = &[
    on_all("exceptions", &["sp checks * *"], "esr=9a000000", "", NO_SP_CHECK),
    on_all("exceptions", &["at el* misaligned pc without *"], "esr=8a000000", "esr=8", PC_ALIGNMENT),
    on_all(
        "exceptions",
        &["sctlr none msr daif* el0"],
        "esr=620",
        "esr=6207",
        JudgeWrong(
            "ISS of EC 0x18 has Op2 in [19:17] and Op1 in [16:14] (D17.2.37); QEMU 7.2 has them the other way round for MSR \
             (immediate)",
        ),
    ),
    on_all(
        "exceptions",
        &["sctlr none wfe twice el0"],
        "esr=7e00001",
        "done",
        Choice("a trap of WFE need not be taken, since WFE may complete at any time (D1.6.1)"),
    ),
    on_all(
        "exceptions",
        &["sctlr all ic ivau x21 el0"],
        "esr=9200014d",
        "done",
        Choice("whether IC IVAU of what EL0 cannot read is a Permission fault is IMPLEMENTATION DEFINED (IC IVAU)"),
    ),
    lacking("exceptions", &["feature cfinv *", "feature rmif *"], FEAT_FlagM),
    lacking("exceptions", &["feature xaflag *"], FEAT_FlagM2),
    lacking("exceptions", &["feature sb *"], FEAT_SB),
    lacking("exceptions", &["feature dc cvadp *"], FEAT_DPB2),
    lacking("exceptions", &["feature cfp rctx *"], FEAT_SPECRES),
    on_max("pauth", &["no keys xpaclri el*"], "x0=1234567890", "x0=1200001234567890", XPACLRI),
    on_max(
        "pauth",
        &["25 and 42 bits p*", "tbi0 p*", "tbi1 36 bits p*", "tbid0 p*", "tbi and tbid p*"],
        "",
        "",
        PAC_RANGE,
    ),
    on_max(
        "bti",
        &["* hlt *"],
        "esr=2000000",
        "esr=2000000",
        Choice(
            "SPSR_EL1.BTYPE of an exception that the instruction itself raises, but for BRK, may be 0 (AArch64.TakeException)",
        ),
    ),
    on_all("walks", &["granule * at-*"], "b00 x1=", "done", SHAREABILITY),
    on_all("walks", &["granule * reserved *"], "", "", BLOCKS),
    on_all("walks", &["kinds* *cva*", "kinds* *iva*", "range* *cva*", "range* *iva*"], "esr=9", "done", MAINTENANCE),
    on_all("walks", &["kinds* stxr1", "range* stxr1"], "esr=96", "x0=1", EXCLUSIVE),
    on_all("walks", &["kinds* device zva*"], "61 ", "done", DEVICE_ALIGNMENT),
    on_all("walks", &["range, TBI0 br tagged"], "esr=8a000000", "esr=82", PC_ALIGNMENT),
    on_all("dirty", &["tcr * *cva*", "tcr * *iva*"], "esr=9", "done", MAINTENANCE),
    on_all("dirty", &["tcr * stxr1"], "esr=96", "x0=1", EXCLUSIVE),
    on_updating("dirty", &["tcr * *cva*", "tcr * *iva*"], "after=", "after=", MAINTENANCE),
    on_updating("dirty", &["tcr * stxr1"], "after=", "after=", EXCLUSIVE),
    on_updating("dirty", &["tcr 3 * DBM, read-only* exec1"], "esr=860000", "done", DIRTY_EXECUTE),
    on_updating("dirty", &["tcr 3 * DBM, read-only exec1"], "after=83c", "after=87c", DIRTY_EXECUTE),
    on_updating("dirty", &["tcr 3 * DBM* at-e1w", "tcr 3 * DBM* at-e0w"], "after=", "after=", AT_DIRTY),
    on_updating("dirty", &["tcr * at-*"], "after=", "after=", AT_ACCESS_FLAG),
    on_all(
        "wide",
        &["wide granule 10 * block 1 *", "wide granule e * level 1 *", "wide granule e * DS block 0 *"],
        "",
        "",
        BLOCKS,
    ),
    on_all("memory", &["device *", "MMU off *"], "21 far", "done", DEVICE_ALIGNMENT),
    on_all("memory", &["device *", "MMU off *"], "61 far", "done", DEVICE_ALIGNMENT),
    on_updating("memory", &["* ldapr x"], "21 far", "", LDAPR),
    on_all(
        "gic",
        &[
            "id GICD_TYPER",
            "id GICR_TYPER",
            "id GICR_CTLR",
            "id ICC_CTLR",
            "readback GICD_TYPER",
            "readback icc * ctlr",
        ],
        "",
        "",
        Model("number of INTIDs and of priority bits, message-based SPIs, range selector, affinity of the first CPU"),
    ),
    on_all(
        "gic",
        &["readback GICD_ISENABLER8"],
        "ones=0",
        "ones=f",
        JudgeWrong("registers of INTIDs beyond GICD_TYPER.ITLinesNumber are RES0 (IHI 0069, GICD_TYPER)"),
    ),
    on_all(
        "gic",
        &["readback GICD_IPRIORITYR*", "readback GICR_IPRIORITYR*", "readback byte"],
        "8",
        "",
        Choice(
            "how many bits of priority there are (IHI 0069 4.8): the CPU interface of both has 5, QEMU's distributor 8",
        ),
    ),
    on_all(
        "gic",
        &["readback GICD_IROUTER40*"],
        "",
        "ones=ffffffff",
        JudgeWrong("bits 30:24 and 63:40 of GICD_IROUTER are RES0 (IHI 0069); QEMU keeps them"),
    ),
    on_all("gic", &["readback icc * pmr"], "f8", "fffffff8", JudgeWrong("ICC_PMR_EL1 has bits 7:0 alone")),
    on_all(
        "gic",
        &["readback icc * bpr*"],
        "",
        "",
        JudgeWrong(
            "a binary point below the minimum becomes the minimum (IHI 0069, ICC_BPR0_EL1); QEMU compares the whole value \
             written with it, not the field",
        ),
    ),
    on_all(
        "gic",
        &["groups SGI1R for a Group 0 interrupt"],
        "hppir0=1",
        "hppir0=3ff",
        JudgeWrong(
            "with one Security state ICC_SGI1R_EL1 generates SGIs of either group (IHI 0069, forwarding of SGIs)",
        ),
    ),
    on_all(
        "gic",
        &["groups enables"],
        "distributor=3 interface=2 hppir0=3ff hppir1=2",
        "hppir1=3ff",
        JudgeWrong(
            "an interrupt of a group that is disabled at the CPU interface does not hide one of the other group (IHI 0069 4.6); \
             QEMU picks the highest first and then finds its group disabled",
        ),
    ),
    on_all(
        "gic",
        &["spi SETSPI_NSR"],
        "spi-pending=100",
        "spi-pending=0",
        Choice("message-based SPIs are optional (GICD_TYPER.MBIS): ours has them, QEMU 7.2 does not"),
    ),
    on_all(
        "gicv2",
        &["id GICD_TYPER", "readback GICD_TYPER"],
        "27",
        "28",
        Model("the number of SPIs: 224, as on the board's GICv3; the judge's GICv2 has 256"),
    ),
    on_all(
        "gicv2",
        &[
            "id GICC_BPR",
            "id GICC_ABPR",
            "readback GICC_BPR",
            "readback GICC_ABPR",
            "readback binary points",
            "readback GICD_IPRIORITYR*",
            "readback GICC_PMR",
            "groups active priorities",
        ],
        "",
        "",
        PRIORITY_BITS,
    ),
    on_all("gicv2", &["mask pmr"], " pmr=f8 ", " pmr=ff ", PRIORITY_BITS),
    on_all(
        "gicv2",
        &["mask pmr"],
        "hppir=1 iar=3ff",
        "hppir=3ff iar=3ff",
        JudgeWrong(
            "GICC_HPPIR shows what is pending whatever GICC_PMR masks (DDI 0601, GICC_HPPIR); QEMU shows no such interrupt",
        ),
    ),
    on_all(
        "gicv2",
        &["spi to them"],
        "spi-pending=100",
        "spi-pending=0",
        JudgeWrong(
            "an SPI is pending whoever is its target (IHI 0048 4.3.7); QEMU keeps that by target, so without one it is not",
        ),
    ),
    on_all(
        "gicv2",
        &["readback GICD_ITARGETSR32", "spi targets", "sources all"],
        "03",
        "ff",
        JudgeWrong("bits of CPUs that are not there are RAZ/WI (IHI 0048 4.3.12, 4.3.17); QEMU keeps them"),
    ),
    on_all(
        "gicv2",
        &["readback GICC_CTLR"],
        "ones=3ff",
        "ones=21f",
        Choice("there is no bypass: the bits that switch it off, GICC_CTLR[8:5], keep what is written or are RAZ/WI"),
    ),
    on_all(
        "gicv2",
        &["sources *"],
        "hppir=4",
        "hppir=",
        JudgeWrong("GICC_HPPIR says in bits 12:10 which CPU sent an SGI (DDI 0601, GICC_HPPIR); QEMU gives 0"),
    ),
    on_all(
        "gicv2",
        &["groups control *iar"],
        "value=3ff",
        "value=3fe",
        JudgeWrong(
            "a read of GICC_IAR gives 1023 where no pending interrupt has sufficient priority (IHI 0048 4.4.4); QEMU looks \
             at the group first",
        ),
    ),
    on_all(
        "gicv2",
        &["groups ahppir", "groups aiar", "groups rpr after aiar"],
        "value=",
        "value=",
        JudgeWrong(
            "GICC_AIAR, GICC_AEOIR and GICC_AHPPIR belong to a GICv2 (IHI 0048 4.4.11 to 4.4.13); QEMU 7.2 has none",
        ),
    ),
    on_all(
        "gicv2",
        &["groups enables"],
        "interface=",
        "hppir=1 isr=0 iar=1",
        JudgeWrong(
            "interrupts of a group that is disabled, at the distributor or at the CPU interface, are not seen and hide none of \
             the other group (DDI 0601, GICC_HPPIR); QEMU picks the highest first",
        ),
    ),
    on_all(
        "its",
        &["registers GITS_TYPER"],
        "value=1f0001ef71",
        "value=1f0001efb1",
        Model("the size of an event's entry: 8 bytes, QEMU's has 12"),
    ),
    on_all(
        "its",
        &["registers GITS_BASER0", "registers GITS_BASER1"],
        "before=0",
        "before=200",
        Choice("GITS_BASER<n>.Page_Size resets to an UNKNOWN value (IHI 0069)"),
    ),
    on_all(
        "its",
        &["registers GITS_CBASER", "registers GITS_CWRITER", "registers GICR_PROPBASER", "registers GICR_PENDBASER"],
        "",
        "",
        JudgeWrong("reserved bits are RES0, and PTZ and Retry read as zero (IHI 0069); QEMU keeps what is written"),
    ),
    on_all(
        "its",
        &["registers GITS_CTLR"],
        "value=1",
        "value=80000001",
        Choice("Quiescent tells about an ITS that is off (IHI 0069, GITS_CTLR); QEMU's is set while it is on as well"),
    ),
    on_all(
        "registers",
        &["id id_*", "id mvfr*"],
        "",
        "",
        Model("ours has no AArch32, and each feature only where it is modelled"),
    ),
    Difference {
        program: "registers",
        cpus: &["neoverse-n1"],
        names: &["id midr_el1"],
        ours: "413fd0c1",
        judge: "414fd0c1",
        because: Model("another revision of the Neoverse N1"),
    },
    Difference {
        program: "registers",
        cpus: &["max"],
        names: &["id *", "caches *"],
        ours: "",
        judge: "",
        because: Model("`max` is each machine's own invention"),
    },
    on_all("registers", RESERVED_BITS, "ones=", "ones=", RESERVED),
    Difference {
        program: "registers",
        cpus: &["cortex-a57"],
        names: &["written ttbr0_el1", "written ttbr1_el1"],
        ours: "zeros=0",
        judge: "zeros=0",
        because: RESERVED,
    },
    on_all(
        "sysregs",
        &[
            "m* el1, debug 0 0 0 *",
            "m* el1, debug 0 0 3 *",
            "m* el1, debug 0 0 6 *",
            "m* el1, debug 0 1 4 *",
            "m* el1, debug 0 7 8 *",
            "m* el1, debug 0 7 9 *",
            "mrs el1, debug 0 7 e *",
            "m* debug 3 0 4 *",
            "m* debug 3 0 5 *",
        ],
        "o",
        "",
        JudgeWrong(
            "OSDTRRX_EL1, OSDTRTX_EL1, OSECCR_EL1, DBGPRCR_EL1, DBGCLAIM*_EL1, DBGAUTHSTATUS_EL1, DBGDTR_EL0 and \
             DBGDTRRX_EL0 are there from Armv8.0 on (D19.3); QEMU 7.2 has none of them",
        ),
    ),
    on_updating(
        "sysregs",
        &[
            "mr* el1 0 5 3 *",
            "mr* el1 0 5 4 *",
            "mr* el1 0 5 5 *",
            "ms* el1 0 5 3 *",
            "ms* el1 0 5 4 *",
            "ms* el1 0 5 5 *",
        ],
        "o",
        "",
        Choice("with no error record (ERRIDR_EL1.NUM 0) ERRSELR_EL1 and ERX*_EL1 are UNDEFINED or RES0"),
    ),
    on_max("sysregs", &["mrs el1 3 e 0 *"], "ooo..oo.", "ooo.....", JudgeLacks(FEAT_ECV)),
    on_max("sysregs", &["mrs el0 3 e 0 *"], "ttt..tt.", "ttt.....", JudgeLacks(FEAT_ECV)),
    on_all(
        "pmu",
        &["register higher levels"],
        "ccfiltr=0",
        "",
        JudgeWrong("PMCCFILTR_EL0.{NSK, NSU, NSH, M} are RES0 without EL3 and EL2; QEMU 7.2 keeps them"),
    ),
    on_all("pmu", &["register control", "register control on"], "value=4", "", LONG_CYCLES),
    on_all("pmu", &["overflow control off"], "pending=0", "pending=800000", OVERFLOW_WHILE_OFF),
    Difference {
        program: "sysregs",
        cpus: &["max"],
        names: &["mrs el1 1 0 0 *"],
        ours: "",
        judge: "",
        because: Model(
            "CCSIDR2_EL1 comes with FEAT_CCIDX, SMIDR_EL1 with FEAT_SME: `max` is each machine's own invention",
        ),
    },
    Difference {
        program: "sysregs",
        cpus: &["max"],
        names: &["op0 0 el* 3 3 *"],
        ours: "..o.oooo",
        judge: "..o.ooo.",
        because: Choice("CRm of SB should be 0: with another value it is UNDEFINED or acts as SB"),
    },
    lacking("sysregs", &["m* el1 0 1 2 *"], FEAT_SVE),
    lacking("sysregs", &["m* 3 4 2 *", "m* 3 d 0 *", "op0 0 el* 3 4 *"], FEAT_SME),
    lacking("sysregs", &["mrs el* 3 2 4 *"], FEAT_RNG),
    lacking("sysregs", &["sys el* 3 7 3 *"], FEAT_SPECRES),
    lacking("sysregs", &["sys el* 3 7 d *"], FEAT_DPB2),
    lacking("sysregs", &["op0 0 el* 0 4 0 *"], FEAT_FlagM),
    lacking("sysregs", &["op0 0 el* 3 3 0 *"], FEAT_SB),
    on_all(
        "step",
        &["reset locked out of reset", "OS Lock locked"],
        "done",
        "22 ",
        JudgeWrong(
            "while the OS Lock is locked, as it is out of reset, there are no debug exceptions but BRK (D2.7); QEMU 7.2 steps",
        ),
    ),
    on_all(
        "step",
        &["watchpoint *"],
        "22 far",
        "62 far",
        JudgeWrong("WnR is 0 for a load (ISS of Watchpoint exceptions); QEMU keeps it from the store that hit last"),
    ),
    on_all(
        "step",
        &["watchpoint high byte unaligned", "watchpoint word unaligned"],
        "done",
        "22 far",
        JudgeWrong(
            "only an access to a watched byte matches (AArch64.WatchpointByteMatch); QEMU takes the doublewords around it",
        ),
    ),
    on_all(
        "step",
        &["watchpoint before unaligned"],
        "far=4080003c",
        "far=40800038",
        Choice("FAR is any address in the watched block, at or below the watched byte accessed last (D2.10.5)"),
    ),
    Difference {
        program: "permissions",
        cpus: &["max"],
        names: &["EPAN *", "AT EPAN *"],
        ours: "",
        judge: "",
        because: JudgeLacks(FEAT_PAN3),
    },
    on_max(
        "registers",
        &["written csselr_el1"],
        "ones=1f ",
        "ones=f ",
        JudgeWrong("CSSELR_EL1.TnD is there with FEAT_MTE2"),
    ),
    on_all(
        "el2_vgic",
        &["registers value * vmcr"],
        "",
        "",
        JudgeWrong(
            "ICH_VMCR_EL2.VPMR is ICV_PMR_EL1, whose unimplemented bits are RAZ/WI (IHI 0069); QEMU 7.2 keeps what EL2 writes to them",
        ),
    ),
    on_all(
        "el2_vgic",
        &["registers guest ffffffffffffffff *"],
        "",
        "",
        JudgeWrong("ICV_BPR0_EL1 and ICV_BPR1_EL1 have bits 2:0 alone; QEMU compares the whole value with the minimum"),
    ),
    on_all(
        "el2_vgic",
        &["ends split * after eoir"],
        "hcr=1 ",
        "hcr=8000001 ",
        JudgeWrong(
            "ICH_HCR_EL2.EOIcount counts what would have deactivated an interrupt (IHI 0069): with EOImode 1 not ICV_EOIR<n>_EL1",
        ),
    ),
    on_all(
        "el2_vgic",
        &["maintenance group * on o*"],
        "",
        "",
        JudgeWrong("ICH_MISR_EL2.VGrp0D is about ICH_VMCR_EL2.VENG0 (IHI 0069); QEMU 7.2 looks at VENG1"),
    ),
    on_all(
        "el2_vgic",
        &["enable read sre", "enable write sre"],
        "esr=623a301",
        "el=1 done",
        Choice("where ICC_SRE_EL2.SRE is RAO/WI, Enable may be so too (IHI 0069); in QEMU it is"),
    ),
    on_all(
        "el2_vgic",
        &["pins hcr 58 unmask with both", "pins hcr d8 unmask*"],
        "interrupt=300",
        "interrupt=280",
        Choice("the priority among asynchronous exceptions (D1.3.6)"),
    ),
    on_all("el2_traps", &["* HCR.TIDCP el1"], "S3_0_C15_C0_0,r", "nothing", IMPLEMENTATION_SPACE),
    on_all("el2_traps", &["* MDCR.TDE el1", "* MDCR.TDA el1", "* MDCR.TDOSA el1"], "", "", DEBUG_CLAIMS),
    on_all("el2_traps", &["E2H=0 CNTHCTL.EL1PCTEN el0"], "CNTPCT_EL0,r", "nothing", COUNTER_AT_EL0),
    on_all("el2_traps", &["E2H=0 CNTHCTL.EL1PCEN el0"], ": CNTP_CTL", ": CNTPCT_EL0,r", COUNTER_AT_EL0),
    on_all("el2_traps", &["TWE el1"], "el=2 vector=400 esr=7e00001", "el=1 done", NO_TWE),
    on_updating("el2_traps", &["* HCR.TERR el1"], "ERRSELR_EL1,r", ": ERRIDR_EL1,r", NO_ERROR_RECORDS),
    on_max("el2_traps", &["* HCR.FIEN el1"], "ERXPFGCTL_EL1,r", "nothing", NO_ERROR_RECORDS),
    on_max("tags", &["* mrs_gmid"], "x0=4 ", "x0=6 ", Model("the size of blocks of tags")),
    on_max("tags", &["registers el1 msr_*", "register bits *"], "", "", TAG_RES0),
    on_max("tags", &["blocks *"], "value=0", "value=", ONE_TAG),
    on_max("tags", &["block checks * match zva"], "esr=56007777 data=0", "esr=9", ONE_TAG),
    on_max("tags", &["block checks * match zva status"], "tfsr=0 tfsre0=0", "=1", ONE_TAG),
    on_max("tags", &["block checks sync* mismatch zva"], "000051 data=ffff", "000011 data=ffff", ZVA_STORES),
    on_max("tags", &["block checks asym * mismatch zva*"], "", "", ZVA_STORES),
    on_max("tags", &["checks * cas", "checks * casb", "checks * casp"], "000011 ", "000051 ", CAS_READS),
    on_max("tags", &["checks asym * cas*"], "", "", CAS_READS),
    on_max("tags", &["checks * casp", "checks * ldxp"], "000021 ", "", ALIGNMENT_FIRST),
    on_max("tags", &["checks * casp status", "checks * ldxp status"], "tfsr=0 tfsre0=0", "", ALIGNMENT_FIRST),
];
