//! Load/store register (unprivileged).

use super::address::{Offset, XnOrSp};
use super::transfer::{Unprivileged, load, load_signed, store};
use crate::base::imm::simm9;

crate::encodings! {
    "*_32_*" => "* {Wt}, [{Xn|sp}{,imm9:s}]";
    "*_64_*" => "* {Xt}, [{Xn|sp}{,imm9:s}]";
    STTRB_32_ldst_unpriv  "00111000000 iiiiiiiii 10 nnnnn ttttt" - next simm9 => store::<M, Offset<XnOrSp>, Unprivileged, 0>;
    LDTRB_32_ldst_unpriv  "00111000010 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load::<M, Offset<XnOrSp>, Unprivileged, 0>;
    LDTRSB_64_ldst_unpriv "00111000100 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<XnOrSp>, Unprivileged, 0, 64>;
    LDTRSB_32_ldst_unpriv "00111000110 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<XnOrSp>, Unprivileged, 0, 32>;
    STTRH_32_ldst_unpriv  "01111000000 iiiiiiiii 10 nnnnn ttttt" - next simm9 => store::<M, Offset<XnOrSp>, Unprivileged, 1>;
    LDTRH_32_ldst_unpriv  "01111000010 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load::<M, Offset<XnOrSp>, Unprivileged, 1>;
    LDTRSH_64_ldst_unpriv "01111000100 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<XnOrSp>, Unprivileged, 1, 64>;
    LDTRSH_32_ldst_unpriv "01111000110 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<XnOrSp>, Unprivileged, 1, 32>;
    STTR_32_ldst_unpriv   "10111000000 iiiiiiiii 10 nnnnn ttttt" - next simm9 => store::<M, Offset<XnOrSp>, Unprivileged, 2>;
    LDTR_32_ldst_unpriv   "10111000010 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load::<M, Offset<XnOrSp>, Unprivileged, 2>;
    LDTRSW_64_ldst_unpriv "10111000100 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<XnOrSp>, Unprivileged, 2, 64>;
    STTR_64_ldst_unpriv   "11111000000 iiiiiiiii 10 nnnnn ttttt" - next simm9 => store::<M, Offset<XnOrSp>, Unprivileged, 3>;
    LDTR_64_ldst_unpriv   "11111000010 iiiiiiiii 10 nnnnn ttttt" - next simm9 => load::<M, Offset<XnOrSp>, Unprivileged, 3>;
}
