//! VMSAv8-64 translation table descriptors, 64 bits each.

use crate::field::fields;

fields! {
    /// What every valid descriptor has. At level 3 `TABLE` set means page; at the other levels, table; clear, block.
    mod common { VALID [0]; TABLE [1]; }
    /// Attributes of a table descriptor, stage 1 (stage 2 has none of them).
    mod table { PXN [59]; XN [60]; AP [62 61]; NS [63]; }
    /// A block or page descriptor, stage 1.
    mod stage1 {
        AttrIndx [4 2]; NS [5]; AP [7 6]; SH [9 8]; AF [10]; nG [11]; nT [16]; GP [50]; DBM [51]; Contiguous [52];
        PXN [53]; UXN [54]; PBHA [62 59];
    }
    /// A block or page descriptor, stage 2. `XN[1]` is bit 54; with FEAT_XNX bit 53 is `XN[0]`.
    mod stage2 {
        MemAttr [5 2]; S2AP [7 6]; SH [9 8]; AF [10]; FnXS [11]; nT [16]; DBM [51]; Contiguous [52]; XN [54 53];
        PBHA [62 59];
    }
    /// Where output address bits lie. With the 64K granule and FEAT_LPA, OA\[51:48\] is `OA_51_48_64K`; with FEAT_LPA2 in
    /// use (`DS` set, 4K and 16K), OA\[49:48\] is in place and OA\[51:50\] is `OA_51_50_LPA2`, where SH was.
    mod address { OA_47_12 [47 12]; OA_49_12 [49 12]; OA_51_48_64K [15 12]; OA_51_50_LPA2 [9 8]; }
}

/// Values of `SH`.
pub mod sh {
    /// Non-shareable.
    pub const NON: u64 = 0;
    /// Outer Shareable.
    pub const OUTER: u64 = 2;
    /// Inner Shareable.
    pub const INNER: u64 = 3;
}

/// Values of stage 1 `AP[2:1]`.
pub mod ap {
    /// Read and write at EL1 only.
    pub const RW_EL1: u64 = 0;
    /// Read and write at EL1 and EL0.
    pub const RW_ALL: u64 = 1;
    /// Read at EL1 only.
    pub const RO_EL1: u64 = 2;
    /// Read at EL1 and EL0.
    pub const RO_ALL: u64 = 3;
}
