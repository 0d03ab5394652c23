//! Single-copy atomic 64-byte load/store. FEAT_LS64 and its kind; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    "ST64BV*" => "* {Xs}, {Xt}, [{Xn|sp}]";
    "*" => "* {Xt}, [{Xn|sp}]";
    ST64BV0_64_memop "11111000001 sssss 101000 nnnnn ttttt" FEAT_LS64_ACCDATA next plain => not_done;
    ST64BV_64_memop  "11111000001 sssss 101100 nnnnn ttttt" FEAT_LS64_V next plain => not_done;
    ST64B_64L_memop  "1111100000111111100100 nnnnn ttttt"   FEAT_LS64 next plain => not_done;
    LD64B_64L_memop  "1111100000111111110100 nnnnn ttttt"   FEAT_LS64 next plain => not_done;
}
