//! The events of the Performance Monitors Extension that this machine counts. DDI 0487 D14.3, "Common event numbers".
//!
//! Those are here that have one right count on a machine without caches, prediction and speculation.

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident $mnemonic:literal $number:literal;)*) => {
        /// A common event that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PmuEvent {
            $($(#[$doc])* $name,)*
        }

        impl PmuEvent {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The event's number, as in `PMEVTYPERn_EL0.evtCount`.
            #[must_use]
            pub const fn number(self) -> u16 {
                match self {
                    $(Self::$name => $number,)*
                }
            }
            /// The manual's name.
            #[must_use]
            pub const fn mnemonic(self) -> &'static str {
                match self {
                    $(Self::$name => $mnemonic,)*
                }
            }
            /// The event with a number; `None` where it is not counted.
            #[must_use]
            pub const fn of_number(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

events! {
    /// A write to PMSWINC_EL0 with the counter's bit.
    SwIncr "SW_INCR" 0x00;
    /// A fetch walked the tables: there is one TLB, and no look-up beside it.
    L1iTlbRefill "L1I_TLB_REFILL" 0x02;
    /// The same for a load, a store or an instruction that acts on an address.
    L1dTlbRefill "L1D_TLB_REFILL" 0x05;
    /// An instruction that reads memory or tags.
    LdRetired "LD_RETIRED" 0x06;
    /// An instruction that writes memory or tags.
    StRetired "ST_RETIRED" 0x07;
    /// An instruction.
    InstRetired "INST_RETIRED" 0x08;
    /// An exception, counted at the level it was taken from.
    ExcTaken "EXC_TAKEN" 0x09;
    /// ERET and its authenticated forms.
    ExcReturn "EXC_RETURN" 0x0a;
    /// A write to CONTEXTIDR_EL1, by this name.
    CidWriteRetired "CID_WRITE_RETIRED" 0x0b;
    /// A branch that was taken, or an exception return.
    PcWriteRetired "PC_WRITE_RETIRED" 0x0c;
    /// B, B.cond, BL, CBZ, CBNZ, TBZ, TBNZ, taken or not.
    BrImmedRetired "BR_IMMED_RETIRED" 0x0d;
    /// RET and its authenticated forms.
    BrReturnRetired "BR_RETURN_RETIRED" 0x0e;
    /// A cycle: each instruction takes one, and so does each exception; none passes asleep.
    CpuCycles "CPU_CYCLES" 0x11;
    /// A write to TTBR0_EL1 or TTBR1_EL1, by these names.
    TtbrWriteRetired "TTBR_WRITE_RETIRED" 0x1c;
    /// An overflow of the counter before.
    Chain "CHAIN" 0x1e;
    /// A branch, taken or not, or an exception return.
    BrRetired "BR_RETIRED" 0x21;
    /// A walk for data.
    DtlbWalk "DTLB_WALK" 0x34;
    /// A walk for a fetch.
    ItlbWalk "ITLB_WALK" 0x35;
}

/// PMCEID0_EL0 and PMCEID1_EL0: bit n of the first for event n, of the second for event 0x20 + n, both from 0 to 31.
#[must_use]
pub const fn ceid() -> [u64; 2] {
    let mut ceid = [0; 2];
    let mut n = 0;
    while n < PmuEvent::ALL.len() {
        let number = PmuEvent::ALL[n].number();
        ceid[number as usize / 32] |= 1 << (number % 32);
        n += 1;
    }
    ceid
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events() {
        for (place, event) in PmuEvent::ALL.iter().enumerate() {
            assert_eq!(*event as usize, place);
            assert_eq!(PmuEvent::of_number(event.number()), Some(*event));
        }
        assert!(PmuEvent::ALL.iter().map(|event| event.number()).is_sorted_by(|a, b| a < b));
        assert_eq!(PmuEvent::of_number(0x10), None);
        // SW_INCR, INST_RETIRED and CPU_CYCLES are there wherever the extension is.
        assert_eq!(ceid()[0] & 0x2_0101, 0x2_0101);
        assert_eq!(ceid()[0].count_ones() + ceid()[1].count_ones(), PmuEvent::ALL.len() as u32);
        assert_eq!(ceid()[1], 1 << 1 | 1 << 0x14 | 1 << 0x15);
    }
}
