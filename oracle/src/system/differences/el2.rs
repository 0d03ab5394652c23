//! The differences of the programs at EL2. Sections are of DDI 0487.

use arch::feature::Feature::{self, *};

use super::Because::{self, Choice, JudgeLacks, JudgeWrong, Lacking, Model};
use super::Difference;
use super::list::{
    DEVICE_ALIGNMENT, EXCLUSIVE, MAINTENANCE, NO_SP_CHECK, PC_ALIGNMENT, RESERVED, SHAREABILITY, on_all, on_max,
};

const WALK_LEVEL: Because = JudgeWrong(
    "a fault of stage 2 on a walk of stage 1 has the level of stage 2's descriptor (AArch64.S2Walk sets FaultRecord.level); \
     QEMU 7.2 gives stage 1's",
);
const LIMITED_ORDER: Because = Choice(
    "LDLAR and STLLR have acquire and release semantics in LORegions, so AR is 1 (ISS of a Data Abort); QEMU says 0",
);
const TGE_STAGE1: Because = JudgeWrong(
    "with HCR_EL2.TGE set SCTLR_EL1.M behaves as 0 (HCR_EL2, field TGE); QEMU 7.2 looks at it where stage 2 is off and for AT",
);
const ANY_DEVICE: Because = JudgeWrong(
    "Normal memory of stage 1 is Device of stage 2's type (S2CombineS1MemAttrs); QEMU 7.2 takes the nibble 0b0100 for nGnRE",
);
const TRANSIENT: Because = JudgeWrong(
    "stage 2 makes memory write-through and leaves stage 1's hints, the transient one too (S2CombineS1AttrHints); QEMU drops it",
);
const FWB_RESERVED: Because = Choice(
    "MemAttr[3] is RES0 and 0b100 reserved with HCR_EL2.FWB (D8.6.6); ours follows S2ApplyFWBMemAttrs, QEMU makes it Device",
);
const FWB_DEVICE: Because = JudgeWrong(
    "Device memory of both stages is the stricter type with HCR_EL2.FWB too (S2ApplyFWBMemAttrs); QEMU takes stage 2's",
);
const STAGE1_SHAREABILITY: Because = Choice(
    "whether stage 2 combines with the descriptor's shareability of stage 1 or with what applies to its memory type is \
     IMPLEMENTATION DEFINED (AArch64.S1Translate)",
);

const ASYNCHRONOUS: Because = Choice("the priority among interrupts and SErrors is IMPLEMENTATION DEFINED (D1.3.5.7)");
const SYNDROME_OF_STAGE2: Because =
    JudgeWrong("ISV is 0 but for aborts of stage 2 (ISS of a Data Abort); QEMU 7.2 sets it for EL2's own");
const NO_AARCH32: Because = Model("ours has no AArch32, where SCTLR_EL1.ITD and SED are RES1");
const VIRTUAL_WITHOUT_ROUTE: Because = JudgeWrong(
    "VI is a virtual interrupt with HCR_EL2.IMO alone (HCR_EL2, field VI), so WFI has nothing to complete for and is trapped",
);
const ALIAS_WITHOUT_E2H: Because = JudgeWrong(
    "names that end in _EL12 and _EL02 are UNDEFINED at EL2 without HCR_EL2.E2H (SCTLR_EL12, CNTP_CVAL_EL02)",
);
const NO_WIRE: Because =
    JudgeWrong("the board of QEMU 7.2 has no wire from CNTHV to the GIC, which is PPI 28 (BSA, PPI assignments)");

const DEBUG_REGISTERS: Because = JudgeWrong(
    "OSDTRRX_EL1, OSDTRTX_EL1, OSECCR_EL1, DBGPRCR_EL1, DBGCLAIM*_EL1, DBGAUTHSTATUS_EL1, DBGDTR_EL0 and DBGDTRRX_EL0 are there from \
     Armv8.0 on (D19.3); QEMU 7.2 has none of them",
);
const OF_AARCH32: Because =
    Model("ours has no AArch32, for which DBGVCR32, DACR32, IFSR32, FPEXC32_EL2 and SPSR_abt, _fiq, _irq and _und are");
const ERROR_RECORDS: Because =
    Choice("with no error record (ERRIDR_EL1.NUM 0) ERRSELR_EL1 and ERX*_EL1 are UNDEFINED or RES0");
const OWN_INVENTION: Because =
    Model("CCSIDR2_EL1 comes with FEAT_CCIDX, SMIDR_EL1 with FEAT_SME: `max` is each machine's own invention");
const SB: Because = Choice("CRm of SB should be 0: with another value it is UNDEFINED or acts as SB");
const OS_LOCK: Because =
    JudgeWrong("while the OS Lock is locked there are no debug exceptions but BRK (D2.7); QEMU 7.2 steps");
const CONTEXTS: Because = JudgeWrong(
    "breakpoints match contexts and VMIDs alone and linked, each at its levels (AArch64.BreakpointValueMatch); QEMU 7.2 has linked \
     contexts alone, and those of CONTEXTIDR_EL1 at each level",
);

/// Registers that ours lacks as long as it does not model `feature`.
const fn lacking(names: &'static [&'static str], feature: Feature) -> Difference {
    Difference { program: "el2_sysregs", cpus: &["max"], names, ours: "", judge: "", because: Lacking(feature) }
}

/// The list.
pub const EL2: &[Difference] = &[
    on_all("el2_faults", &["levels device under TGE"], "esr=92000010", "esr=9200000d", TGE_STAGE1),
    on_all("el2_faults", &["walk level 1 *"], " hpfar=1c0e010 ", " hpfar=1c0e010 ", WALK_LEVEL),
    on_all("el2_faults", &["walk level 2 *"], " hpfar=1c0e020 ", " hpfar=1c0e020 ", WALK_LEVEL),
    on_all("el2_faults", &["order device of stage 2 unaligned"], "esr=96000021", "done", DEVICE_ALIGNMENT),
    on_all("el2_faults", &["stage 1 off* at-*", "DC with stage 1 on at-*"], "b00 ", "a00 ", SHAREABILITY),
    on_all("el2_faults", &["form * stxr"], "esr=9200004", "done", EXCLUSIVE),
    on_all(
        "el2_faults",
        &["form * dc cvac", "form * dc ivac", "form * dc civac", "form * ic ivau"],
        "esr=920001",
        "done",
        MAINTENANCE,
    ),
    on_all("el2_faults", &["form * ldlar"], "esr=93c5c00", "esr=93c5800", LIMITED_ORDER),
    on_all("el2_faults", &["form * stllr"], "esr=9385404", "esr=9385004", LIMITED_ORDER),
    on_all(
        "el2_stage2",
        &["attributes plain *", "attributes CD *"],
        "par=800000040c00b00",
        "par=400000040c00b00",
        ANY_DEVICE,
    ),
    on_all(
        "el2_stage2",
        &["attributes plain *", "attributes CD *"],
        "par=c00000040c00b00",
        "par=400000040c00b00",
        ANY_DEVICE,
    ),
    on_all("el2_stage2", &["attributes plain 77 *"], "", "", TRANSIENT),
    on_all("el2_stage2", &["attributes plain 5a *"], "", "", TRANSIENT),
    on_max(
        "el2_stage2",
        &["attributes FWB* 4 SH *", "attributes FWB* 8 SH *", "attributes FWB* 9 SH *", "attributes FWB* a SH *"],
        "par=",
        "par=40c00b00",
        FWB_RESERVED,
    ),
    on_max(
        "el2_stage2",
        &[
            "attributes FWB* b SH *",
            "attributes FWB* c SH *",
            "attributes FWB* d SH *",
            "attributes FWB* e SH *",
            "attributes FWB* f SH *",
        ],
        "par=",
        "par=40c00b00",
        FWB_RESERVED,
    ),
    on_max(
        "el2_stage2",
        &["attributes FWB* 1 SH *", "attributes FWB* 2 SH *", "attributes FWB* 3 SH *"],
        "par=",
        "00000040c00b00",
        FWB_DEVICE,
    ),
    on_max("el2_stage2", &["attributes FWB* 6 SH *"], "b00", "b80", STAGE1_SHAREABILITY),
    on_all("el2_stage2", &["at * s12e1r, TGE", "at * s1e1r, TGE"], "par=", "par=80b", TGE_STAGE1),
    on_all("el2_stage2", &["at, EL2's own 3 *"], "b00", "a00", SHAREABILITY),
    on_all("el2_routing", &["virtual all three *"], "", "", ASYNCHRONOUS),
    on_all("el2_routing", &["synchronous * pc alignment"], "esr=8a000000 ", "00000d far=2 ", PC_ALIGNMENT),
    on_all("el2_routing", &["synchronous * sp alignment"], "esr=9a000000 ", "done", NO_SP_CHECK),
    on_all("el2_routing", &["synchronous * mrs sctlr_el1"], "x0=30d0199d ", "x0=30d0181d ", NO_AARCH32),
    on_all("el2_routing", &["synchronous * el2* load nothing"], "esr=96000005", "esr=97c08005", SYNDROME_OF_STAGE2),
    on_all("el2_routing", &["synchronous TGE el0 * nothing"], "000010 ", "000005 ", TGE_STAGE1),
    on_all("el2_routing", &["wfi VI without IMO, and trapped"], "esr=7e00000", "done", VIRTUAL_WITHOUT_ROUTE),
    on_all(
        "el2_registers",
        &["id own*", "id virtual, at el2"],
        "x1=80000000",
        "x1=80000000",
        Model("another revision"),
    ),
    on_all("el2_registers", &["redirected * read el12"], "esr=2000000", "done", ALIAS_WITHOUT_E2H),
    on_all("el2_registers", &["timers * without E2H"], "esr=2000000", "esr=62", ALIAS_WITHOUT_E2H),
    on_all("el2_registers", &["written *"], "ones=", "ones=", RESERVED),
    on_all("el2_registers", &["redirected cpacr read el1, E2H"], "x0=3033ff ", "x0=3032ff ", RESERVED),
    on_all("el2_registers", &["redirected sctlr read *"], "x0=30d0199d ", "x0=30d0181d ", NO_AARCH32),
    on_all("el2_timer", &["offset * status"], "pending=58000000", "pending=48000000", NO_WIRE),
    on_all("el2_timer", &["condition cval"], "pending=14000000", "pending=4000000", NO_WIRE),
    on_all("el2_timer", &["interrupt hv *"], "", "", NO_WIRE),
    on_all("el2_debug", &["plain step, OS Lock *"], "done", "000022 ", OS_LOCK),
    on_all("el2_debug", &["context match *", "VMID *", "both contexts *", "context of EL2 *"], "", "", CONTEXTS),
    Difference {
        program: "el2_debug",
        cpus: &["neoverse-n1", "max"],
        names: &["context of EL1 *"],
        ours: "",
        judge: "",
        because: CONTEXTS,
    },
    on_all("el2_sysregs", &["m* debug 0 * *", "m* debug 3 0 *"], "o", "", DEBUG_REGISTERS),
    on_all(
        "el2_sysregs",
        &["m* debug 4 0 7 *", "m* el2* 4 3 0 *", "m* el2* 4 4 3 *", "m* el2* 4 5 0 *", "m* el2* 4 5 3 *"],
        ".",
        "o",
        OF_AARCH32,
    ),
    on_max("el2_sysregs", &["mrs * 3 e 0 *"], "ooo..oo.", "ooo.....", JudgeLacks(FEAT_ECV)),
    on_max("el2_sysregs", &["m* el2* 4 2 2 *"], "o", "", JudgeLacks(FEAT_NV)),
    Difference {
        program: "el2_sysregs",
        cpus: &["neoverse-n1", "max"],
        names: &["m* el2* 0 5 3 *", "m* el2* 0 5 4 *", "m* el2* 0 5 5 *"],
        ours: "o",
        judge: "",
        because: ERROR_RECORDS,
    },
    Difference {
        program: "el2_sysregs",
        cpus: &["neoverse-n1", "max"],
        names: &["mrs el2 5 *", "msr el2 5 *"],
        ours: " .",
        judge: "",
        because: ALIAS_WITHOUT_E2H,
    },
    on_max("el2_sysregs", &["mrs el2* 1 0 0 *"], "", "", OWN_INVENTION),
    on_max("el2_sysregs", &["op0 0 el2 3 3 *"], "..o.oooo", "..o.ooo.", SB),
    on_max("el2_sysregs", &["m* el2* 4 1 1 *", "m* el2* 4 3 1 *"], "oooooooo", "", JudgeLacks(FEAT_FGT)),
    on_max("el2_sysregs", &["m* el2* 4 e 0 *"], "...o..o.", "...o....", JudgeLacks(FEAT_ECV_POFF)),
    lacking(&["m* el2* 0 1 2 *", "m* el2* 4 1 2 *", "m* el2 E2H 5 1 2 *"], FEAT_SVE),
    lacking(&["m* 3 4 2 *", "m* 3 d 0 *", "op0 0 el* 3 4 *"], FEAT_SME),
    lacking(&["sys el* 3 7 3 *"], FEAT_SPECRES),
    on_max(
        "el2_traps",
        &["* HCR.TID4 *", "* HCR.TICAB *", "* HCR.TOCU *", "* HCR.TTLBIS *", "* HCR.TTLBOS *"],
        "",
        ": nothing",
        JudgeLacks(FEAT_EVT),
    ),
];
