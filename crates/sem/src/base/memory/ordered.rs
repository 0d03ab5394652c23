//! Load/store ordered; LDAPR and its unscaled forms.

use super::address::{Offset, XnOrSp};
use super::transfer::{Acquire, AcquirePc, Limited, Release, load, load_signed, store};
use crate::base::imm::simm9;
use crate::spec::plain;

crate::encodings! {
    "*32*_memop" => "* {Wt}, [{Xn|sp}]";
    "*64*_memop" => "* {Xt}, [{Xn|sp}]";
    "*_*32_ldstord" => "* {Wt}, [{Xn|sp}]";
    "*_*64_ldstord" => "* {Xt}, [{Xn|sp}]";
    "*_32_*" => "* {Wt}, [{Xn|sp}{,imm9:s}]";
    "*_64_*" => "* {Xt}, [{Xn|sp}{,imm9:s}]";
    STLLRB_SL32_ldstord          "00001000100 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => store::<M, Offset<XnOrSp>, Limited, 0>;
    STLRB_SL32_ldstord           "00001000100 zzzzz 1 zzzzz nnnnn ttttt" - next plain => store::<M, Offset<XnOrSp>, Release, 0>;
    LDLARB_LR32_ldstord          "00001000110 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => load::<M, Offset<XnOrSp>, Limited, 0>;
    LDARB_LR32_ldstord           "00001000110 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load::<M, Offset<XnOrSp>, Acquire, 0>;
    STLLRH_SL32_ldstord          "01001000100 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => store::<M, Offset<XnOrSp>, Limited, 1>;
    STLRH_SL32_ldstord           "01001000100 zzzzz 1 zzzzz nnnnn ttttt" - next plain => store::<M, Offset<XnOrSp>, Release, 1>;
    LDLARH_LR32_ldstord          "01001000110 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => load::<M, Offset<XnOrSp>, Limited, 1>;
    LDARH_LR32_ldstord           "01001000110 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load::<M, Offset<XnOrSp>, Acquire, 1>;
    STLLR_SL32_ldstord           "10001000100 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => store::<M, Offset<XnOrSp>, Limited, 2>;
    STLR_SL32_ldstord            "10001000100 zzzzz 1 zzzzz nnnnn ttttt" - next plain => store::<M, Offset<XnOrSp>, Release, 2>;
    LDLAR_LR32_ldstord           "10001000110 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => load::<M, Offset<XnOrSp>, Limited, 2>;
    LDAR_LR32_ldstord            "10001000110 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load::<M, Offset<XnOrSp>, Acquire, 2>;
    STLLR_SL64_ldstord           "11001000100 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => store::<M, Offset<XnOrSp>, Limited, 3>;
    STLR_SL64_ldstord            "11001000100 zzzzz 1 zzzzz nnnnn ttttt" - next plain => store::<M, Offset<XnOrSp>, Release, 3>;
    LDLAR_LR64_ldstord           "11001000110 zzzzz 0 zzzzz nnnnn ttttt" FEAT_LOR next plain => load::<M, Offset<XnOrSp>, Limited, 3>;
    LDAR_LR64_ldstord            "11001000110 zzzzz 1 zzzzz nnnnn ttttt" - next plain => load::<M, Offset<XnOrSp>, Acquire, 3>;
    LDAPRB_32L_memop             "00111000101 11111 110000 nnnnn ttttt"  FEAT_LRCPC next plain => load::<M, Offset<XnOrSp>, AcquirePc, 0>;
    LDAPRH_32L_memop             "01111000101 11111 110000 nnnnn ttttt"  FEAT_LRCPC next plain => load::<M, Offset<XnOrSp>, AcquirePc, 1>;
    LDAPR_32L_memop              "10111000101 11111 110000 nnnnn ttttt"  FEAT_LRCPC next plain => load::<M, Offset<XnOrSp>, AcquirePc, 2>;
    LDAPR_64L_memop              "11111000101 11111 110000 nnnnn ttttt"  FEAT_LRCPC next plain => load::<M, Offset<XnOrSp>, AcquirePc, 3>;
    STLURB_32_ldapstl_unscaled   "00011001000 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => store::<M, Offset<XnOrSp>, Release, 0>;
    LDAPURB_32_ldapstl_unscaled  "00011001010 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load::<M, Offset<XnOrSp>, AcquirePc, 0>;
    LDAPURSB_64_ldapstl_unscaled "00011001100 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load_signed::<M, Offset<XnOrSp>, AcquirePc, 0, 64>;
    LDAPURSB_32_ldapstl_unscaled "00011001110 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load_signed::<M, Offset<XnOrSp>, AcquirePc, 0, 32>;
    STLURH_32_ldapstl_unscaled   "01011001000 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => store::<M, Offset<XnOrSp>, Release, 1>;
    LDAPURH_32_ldapstl_unscaled  "01011001010 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load::<M, Offset<XnOrSp>, AcquirePc, 1>;
    LDAPURSH_64_ldapstl_unscaled "01011001100 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load_signed::<M, Offset<XnOrSp>, AcquirePc, 1, 64>;
    LDAPURSH_32_ldapstl_unscaled "01011001110 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load_signed::<M, Offset<XnOrSp>, AcquirePc, 1, 32>;
    STLUR_32_ldapstl_unscaled    "10011001000 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => store::<M, Offset<XnOrSp>, Release, 2>;
    LDAPUR_32_ldapstl_unscaled   "10011001010 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load::<M, Offset<XnOrSp>, AcquirePc, 2>;
    LDAPURSW_64_ldapstl_unscaled "10011001100 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load_signed::<M, Offset<XnOrSp>, AcquirePc, 2, 64>;
    STLUR_64_ldapstl_unscaled    "11011001000 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => store::<M, Offset<XnOrSp>, Release, 3>;
    LDAPUR_64_ldapstl_unscaled   "11011001010 iiiiiiiii 00 nnnnn ttttt"  FEAT_LRCPC2 next simm9 => load::<M, Offset<XnOrSp>, AcquirePc, 3>;
}
