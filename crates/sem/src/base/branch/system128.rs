//! 128-bit system register moves and system instructions. FEAT_SYSREG128, FEAT_SYSINSTR128; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    "SYSP_*" => "{sysp}";
    "MSRR_*" => "* {sysreg}, {Xt}, {Xt+1}";
    "MRRS_*" => "* {Xt}, {Xt+1}, {sysreg}";
    MSRR_SR_systemmovepr  "110101010101 o ooo cccc cccc ooo ttttt" FEAT_SYSREG128 end plain => not_done;
    MRRS_RS_systemmovepr  "110101010111 o ooo cccc cccc ooo ttttt" FEAT_SYSREG128 end plain => not_done;
    SYSP_CR_syspairinstrs "1101010101001 ooo cccc cccc ooo ttttt"  FEAT_SYSINSTR128 end plain => not_done;
}
