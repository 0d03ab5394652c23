//! Load/store register (immediate pre-indexed).

use super::address::{PreIndex, Sp, Xn};
use super::transfer::{Plain, load, load_signed, store};
use crate::base::imm::simm9;

crate::encodings! {
    "*_32_*" => "* {Wt}, [{Xn|sp}, #{imm9:s}]!";
    "*_64_*" => "* {Xt}, [{Xn|sp}, #{imm9:s}]!";
    STRB_32_ldst_immpre  "00111000000 iiiiiiiii 11 nnnnn ttttt" - next simm9 => store::<M, PreIndex<Xn>, Plain, 0>;
    STRB_32_ldst_immpre  "00111000000 iiiiiiiii 11 11111 ttttt" - next simm9 => store::<M, PreIndex<Sp>, Plain, 0>;
    LDRB_32_ldst_immpre  "00111000010 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load::<M, PreIndex<Xn>, Plain, 0>;
    LDRB_32_ldst_immpre  "00111000010 iiiiiiiii 11 11111 ttttt" - next simm9 => load::<M, PreIndex<Sp>, Plain, 0>;
    LDRSB_64_ldst_immpre "00111000100 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load_signed::<M, PreIndex<Xn>, Plain, 0, 64>;
    LDRSB_64_ldst_immpre "00111000100 iiiiiiiii 11 11111 ttttt" - next simm9 => load_signed::<M, PreIndex<Sp>, Plain, 0, 64>;
    LDRSB_32_ldst_immpre "00111000110 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load_signed::<M, PreIndex<Xn>, Plain, 0, 32>;
    LDRSB_32_ldst_immpre "00111000110 iiiiiiiii 11 11111 ttttt" - next simm9 => load_signed::<M, PreIndex<Sp>, Plain, 0, 32>;
    STRH_32_ldst_immpre  "01111000000 iiiiiiiii 11 nnnnn ttttt" - next simm9 => store::<M, PreIndex<Xn>, Plain, 1>;
    STRH_32_ldst_immpre  "01111000000 iiiiiiiii 11 11111 ttttt" - next simm9 => store::<M, PreIndex<Sp>, Plain, 1>;
    LDRH_32_ldst_immpre  "01111000010 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load::<M, PreIndex<Xn>, Plain, 1>;
    LDRH_32_ldst_immpre  "01111000010 iiiiiiiii 11 11111 ttttt" - next simm9 => load::<M, PreIndex<Sp>, Plain, 1>;
    LDRSH_64_ldst_immpre "01111000100 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load_signed::<M, PreIndex<Xn>, Plain, 1, 64>;
    LDRSH_64_ldst_immpre "01111000100 iiiiiiiii 11 11111 ttttt" - next simm9 => load_signed::<M, PreIndex<Sp>, Plain, 1, 64>;
    LDRSH_32_ldst_immpre "01111000110 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load_signed::<M, PreIndex<Xn>, Plain, 1, 32>;
    LDRSH_32_ldst_immpre "01111000110 iiiiiiiii 11 11111 ttttt" - next simm9 => load_signed::<M, PreIndex<Sp>, Plain, 1, 32>;
    STR_32_ldst_immpre   "10111000000 iiiiiiiii 11 nnnnn ttttt" - next simm9 => store::<M, PreIndex<Xn>, Plain, 2>;
    STR_32_ldst_immpre   "10111000000 iiiiiiiii 11 11111 ttttt" - next simm9 => store::<M, PreIndex<Sp>, Plain, 2>;
    LDR_32_ldst_immpre   "10111000010 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load::<M, PreIndex<Xn>, Plain, 2>;
    LDR_32_ldst_immpre   "10111000010 iiiiiiiii 11 11111 ttttt" - next simm9 => load::<M, PreIndex<Sp>, Plain, 2>;
    LDRSW_64_ldst_immpre "10111000100 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load_signed::<M, PreIndex<Xn>, Plain, 2, 64>;
    LDRSW_64_ldst_immpre "10111000100 iiiiiiiii 11 11111 ttttt" - next simm9 => load_signed::<M, PreIndex<Sp>, Plain, 2, 64>;
    STR_64_ldst_immpre   "11111000000 iiiiiiiii 11 nnnnn ttttt" - next simm9 => store::<M, PreIndex<Xn>, Plain, 3>;
    STR_64_ldst_immpre   "11111000000 iiiiiiiii 11 11111 ttttt" - next simm9 => store::<M, PreIndex<Sp>, Plain, 3>;
    LDR_64_ldst_immpre   "11111000010 iiiiiiiii 11 nnnnn ttttt" - next simm9 => load::<M, PreIndex<Xn>, Plain, 3>;
    LDR_64_ldst_immpre   "11111000010 iiiiiiiii 11 11111 ttttt" - next simm9 => load::<M, PreIndex<Sp>, Plain, 3>;
}
