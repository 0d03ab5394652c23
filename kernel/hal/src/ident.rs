//! Identification registers of the CPU that asks.

/// Encodings of the ID space: op0 3, op1 0, CRn 0, and an index of CRm x 8 + op2.
pub const SPACE: usize = 64;

/// What one CPU says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The ID space. 0 where the encoding is UNDEFINED (CRm 0 but for MIDR, MPIDR and REVIDR) or reserved.
    pub space: [u64; SPACE],
    /// CTR_EL0.
    pub ctr: u64,
    /// DCZID_EL0.
    pub dczid: u64,
}

#[cfg(target_os = "none")]
mod target {
    use super::*;
    use crate::cpu::read_register;

    macro_rules! row {
        ($space:ident, $($crm:literal)*) => {$(
            row!(@ $space, $crm, "0", 0); row!(@ $space, $crm, "1", 1);
            row!(@ $space, $crm, "2", 2); row!(@ $space, $crm, "3", 3);
            row!(@ $space, $crm, "4", 4); row!(@ $space, $crm, "5", 5);
            row!(@ $space, $crm, "6", 6); row!(@ $space, $crm, "7", 7);
        )*};
        (@ $space:ident, $crm:literal, $op2:literal, $n:literal) => {{
            let value: u64;
            // SAFETY: in CRm 1 to 7 what is not allocated reads as zero.
            unsafe {
                core::arch::asm!(concat!("mrs {}, S3_0_C0_C", $crm, "_", $op2), out(reg) value,
                    options(nomem, nostack, preserves_flags));
            }
            $space[$crm * 8 + $n] = value;
        }};
    }

    /// This CPU's.
    #[inline(never)]
    pub fn identity() -> Identity {
        let mut space = [0; SPACE];
        space[0] = midr();
        space[5] = read_register!("mpidr_el1");
        space[6] = read_register!("revidr_el1");
        row!(space, 1 2 3 4 5 6 7);
        Identity { space, ctr: read_register!("ctr_el0"), dczid: read_register!("dczid_el0") }
    }

    /// MIDR_EL1 of this CPU.
    #[inline]
    pub fn midr() -> u64 {
        read_register!("midr_el1")
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::ident::*;
