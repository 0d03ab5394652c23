//! FEAT_PAuth for EL0: keys, and which of them instructions use. The kernel's own code has no such instructions.

/// The right to use FEAT_PAuth: there is one only where every CPU has it, with the same algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Pauth(());

/// FEAT_PAuth, if every CPU has it and `nopauth` was not said. From when alternatives are chosen.
#[inline(always)]
pub fn get() -> Option<Pauth> {
    crate::patch::has::<{ crate::patch::capability::PAUTH }>().then_some(Pauth(()))
}

/// A key, low half first.
pub type Key = [u64; 2];

/// APIAKey, APIBKey, APDAKey, APDBKey, APGAKey.
pub type Keys = [Key; 5];

/// SCTLR_EL1.{EnIA, EnIB, EnDA, EnDB}, in the order of the keys: instructions of a key that is not enabled do nothing.
pub type Enabled = [bool; 4];

#[cfg(target_os = "none")]
impl Pauth {
    /// EL0 has these from now on (its next instruction follows an exception's return, which synchronises).
    pub fn load(self, keys: &Keys, enabled: Enabled) {
        use crate::cpu::{read_register, write_register};

        /// Bits of SCTLR_EL1.
        const ENABLE: [u64; 4] = [1 << 31, 1 << 30, 1 << 27, 1 << 13];
        let all = ENABLE.iter().fold(0, |all, bit| all | bit);
        let wanted = ENABLE.iter().zip(enabled).filter(|(_, is)| *is).fold(0, |bits, (bit, _)| bits | bit);
        let sctlr = read_register!("sctlr_el1") & !all | wanted;
        let [ia, ib, da, db, ga] = keys;
        // SAFETY: these registers act on instructions of pointer authentication, of which the kernel has none.
        unsafe {
            write_register!("S3_0_C2_C1_0", ia[0]);
            write_register!("S3_0_C2_C1_1", ia[1]);
            write_register!("S3_0_C2_C1_2", ib[0]);
            write_register!("S3_0_C2_C1_3", ib[1]);
            write_register!("S3_0_C2_C2_0", da[0]);
            write_register!("S3_0_C2_C2_1", da[1]);
            write_register!("S3_0_C2_C2_2", db[0]);
            write_register!("S3_0_C2_C2_3", db[1]);
            write_register!("S3_0_C2_C3_0", ga[0]);
            write_register!("S3_0_C2_C3_1", ga[1]);
            write_register!("sctlr_el1", sctlr);
        }
    }
}

#[cfg(not(target_os = "none"))]
impl Pauth {
    /// Nothing.
    pub fn load(self, _keys: &Keys, _enabled: Enabled) {}
}
