//! Load/store register (unscaled immediate).

use super::address::{Offset, Sp, Xn};
use super::transfer::{Plain, load, load_signed, prefetch, store};
use crate::base::imm::simm9;
use crate::spec::plain;

crate::encodings! {
    "PRFUM_*" => "* {prfop}, [{Xn|sp}{,imm9:s}]";
    "*_32_*" => "* {Wt}, [{Xn|sp}{,imm9:s}]";
    "*_64_*" => "* {Xt}, [{Xn|sp}{,imm9:s}]";
    STURB_32_ldst_unscaled  "00111000000 iiiiiiiii 00 nnnnn ttttt" - next simm9 => store::<M, Offset<Xn>, Plain, 0>;
    STURB_32_ldst_unscaled  "00111000000 iiiiiiiii 00 11111 ttttt" - next simm9 => store::<M, Offset<Sp>, Plain, 0>;
    LDURB_32_ldst_unscaled  "00111000010 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load::<M, Offset<Xn>, Plain, 0>;
    LDURB_32_ldst_unscaled  "00111000010 iiiiiiiii 00 11111 ttttt" - next simm9 => load::<M, Offset<Sp>, Plain, 0>;
    LDURSB_64_ldst_unscaled "00111000100 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<Xn>, Plain, 0, 64>;
    LDURSB_64_ldst_unscaled "00111000100 iiiiiiiii 00 11111 ttttt" - next simm9 => load_signed::<M, Offset<Sp>, Plain, 0, 64>;
    LDURSB_32_ldst_unscaled "00111000110 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<Xn>, Plain, 0, 32>;
    LDURSB_32_ldst_unscaled "00111000110 iiiiiiiii 00 11111 ttttt" - next simm9 => load_signed::<M, Offset<Sp>, Plain, 0, 32>;
    STURH_32_ldst_unscaled  "01111000000 iiiiiiiii 00 nnnnn ttttt" - next simm9 => store::<M, Offset<Xn>, Plain, 1>;
    STURH_32_ldst_unscaled  "01111000000 iiiiiiiii 00 11111 ttttt" - next simm9 => store::<M, Offset<Sp>, Plain, 1>;
    LDURH_32_ldst_unscaled  "01111000010 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load::<M, Offset<Xn>, Plain, 1>;
    LDURH_32_ldst_unscaled  "01111000010 iiiiiiiii 00 11111 ttttt" - next simm9 => load::<M, Offset<Sp>, Plain, 1>;
    LDURSH_64_ldst_unscaled "01111000100 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<Xn>, Plain, 1, 64>;
    LDURSH_64_ldst_unscaled "01111000100 iiiiiiiii 00 11111 ttttt" - next simm9 => load_signed::<M, Offset<Sp>, Plain, 1, 64>;
    LDURSH_32_ldst_unscaled "01111000110 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<Xn>, Plain, 1, 32>;
    LDURSH_32_ldst_unscaled "01111000110 iiiiiiiii 00 11111 ttttt" - next simm9 => load_signed::<M, Offset<Sp>, Plain, 1, 32>;
    STUR_32_ldst_unscaled   "10111000000 iiiiiiiii 00 nnnnn ttttt" - next simm9 => store::<M, Offset<Xn>, Plain, 2>;
    STUR_32_ldst_unscaled   "10111000000 iiiiiiiii 00 11111 ttttt" - next simm9 => store::<M, Offset<Sp>, Plain, 2>;
    LDUR_32_ldst_unscaled   "10111000010 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load::<M, Offset<Xn>, Plain, 2>;
    LDUR_32_ldst_unscaled   "10111000010 iiiiiiiii 00 11111 ttttt" - next simm9 => load::<M, Offset<Sp>, Plain, 2>;
    LDURSW_64_ldst_unscaled "10111000100 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load_signed::<M, Offset<Xn>, Plain, 2, 64>;
    LDURSW_64_ldst_unscaled "10111000100 iiiiiiiii 00 11111 ttttt" - next simm9 => load_signed::<M, Offset<Sp>, Plain, 2, 64>;
    STUR_64_ldst_unscaled   "11111000000 iiiiiiiii 00 nnnnn ttttt" - next simm9 => store::<M, Offset<Xn>, Plain, 3>;
    STUR_64_ldst_unscaled   "11111000000 iiiiiiiii 00 11111 ttttt" - next simm9 => store::<M, Offset<Sp>, Plain, 3>;
    LDUR_64_ldst_unscaled   "11111000010 iiiiiiiii 00 nnnnn ttttt" - next simm9 => load::<M, Offset<Xn>, Plain, 3>;
    LDUR_64_ldst_unscaled   "11111000010 iiiiiiiii 00 11111 ttttt" - next simm9 => load::<M, Offset<Sp>, Plain, 3>;
    PRFUM_P_ldst_unscaled   "11111000100 iiiiiiiii 00 nnnnn ttttt" - next plain => prefetch;
}
