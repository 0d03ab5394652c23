//! 128-bit atomic memory operations. FEAT_LSE128; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    "*" => "* {Xt}, {Xs}, [{Xn|sp}]";
    LDCLRP_128_memop_128   "00011001001 aaaaa 000100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDSETP_128_memop_128   "00011001001 aaaaa 001100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    SWPP_128_memop_128     "00011001001 aaaaa 100000 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDCLRPL_128_memop_128  "00011001011 aaaaa 000100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDSETPL_128_memop_128  "00011001011 aaaaa 001100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    SWPPL_128_memop_128    "00011001011 aaaaa 100000 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDCLRPA_128_memop_128  "00011001101 aaaaa 000100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDSETPA_128_memop_128  "00011001101 aaaaa 001100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    SWPPA_128_memop_128    "00011001101 aaaaa 100000 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDCLRPAL_128_memop_128 "00011001111 aaaaa 000100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    LDSETPAL_128_memop_128 "00011001111 aaaaa 001100 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
    SWPPAL_128_memop_128   "00011001111 aaaaa 100000 nnnnn ttttt" FEAT_LSE128 next plain => not_done;
}
