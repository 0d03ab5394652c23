//! What system instructions ask of the PE. Their effects are plain functions of the PE, reached through
//! [`crate::Machine::system`].

use arch::sysreg::Enc;

use crate::machine::PauthKey;

/// One system operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// MRS: gives the register's value.
    Mrs(Enc),
    /// MSR (register): writes the argument.
    Msr(Enc),
    /// SYS (IC, DC, AT, TLBI and unnamed ones): the argument is Xt.
    Sys(Enc),
    /// SYSL: gives a value.
    Sysl(Enc),
    /// MSR (immediate); the number is CRm.
    MsrImmediate(PstateField, u8),
    /// An instruction that generates an exception, with its 16-bit immediate.
    Exception(ExceptionCall, u16),
    /// ERET.
    Eret,
    /// ERETAA and ERETAB; the argument is the modifier, SP.
    EretAuthenticated(PauthKey),
    /// DRPS.
    Drps,
    /// CLREX.
    Clrex,
    /// A barrier.
    Barrier(BarrierOp, Domain),
    /// A hint that has an effect; the others are no-operations.
    Hint(Hint),
}

/// Fields of PSTATE that MSR (immediate) writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PstateField {
    /// SPSel.
    SpSel,
    /// DAIFSet.
    DaifSet,
    /// DAIFClr.
    DaifClr,
    /// UAO.
    Uao,
    /// PAN.
    Pan,
    /// DIT.
    Dit,
    /// SSBS.
    Ssbs,
    /// TCO.
    Tco,
    /// CFINV: inverts C (the number is unused).
    Cfinv,
    /// XAFLAG.
    Xaflag,
    /// AXFLAG.
    Axflag,
}

/// Instructions that generate exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExceptionCall {
    /// To EL1.
    Svc,
    /// To EL2.
    Hvc,
    /// To EL3.
    Smc,
    /// Software breakpoint.
    Brk,
    /// Halting breakpoint, or semihosting where the machine offers it.
    Hlt,
    /// Permanently undefined.
    Udf,
    /// DCPS1 to DCPS3.
    Dcps(u8),
}

/// Barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierOp {
    /// DMB, all accesses.
    Dmb,
    /// DMB, loads before loads and stores.
    DmbLd,
    /// DMB, stores before stores.
    DmbSt,
    /// DSB.
    Dsb,
    /// ISB.
    Isb,
    /// SB.
    Sb,
}

/// A barrier's shareability domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Non-shareable.
    NonShareable,
    /// Inner Shareable.
    InnerShareable,
    /// Outer Shareable.
    OuterShareable,
    /// Full system.
    System,
}

/// Hints with an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// YIELD.
    Yield,
    /// WFE.
    Wfe,
    /// WFI.
    Wfi,
    /// SEV.
    Sev,
    /// SEVL.
    Sevl,
    /// ESB.
    Esb,
    /// PSB CSYNC.
    Psb,
    /// WFET; the argument is the timeout.
    Wfet,
    /// WFIT; the argument is the timeout.
    Wfit,
}
