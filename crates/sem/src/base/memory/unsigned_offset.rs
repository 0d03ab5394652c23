//! Load/store register (unsigned immediate).

use super::address::{Offset, Sp, Xn};
use super::transfer::{Plain, load, load_signed, prefetch, store};
use crate::base::imm::imm12_scaled;
use crate::spec::plain;

crate::encodings! {
    "PRFM_*" => "* {prfop}, [{Xn|sp}{,uimm12}]";
    "*_32_*" => "* {Wt}, [{Xn|sp}{,uimm12}]";
    "*_64_*" => "* {Xt}, [{Xn|sp}{,uimm12}]";
    STRB_32_ldst_pos  "0011100100 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<0> => store::<M, Offset<Xn>, Plain, 0>;
    STRB_32_ldst_pos  "0011100100 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<0> => store::<M, Offset<Sp>, Plain, 0>;
    LDRB_32_ldst_pos  "0011100101 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<0> => load::<M, Offset<Xn>, Plain, 0>;
    LDRB_32_ldst_pos  "0011100101 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<0> => load::<M, Offset<Sp>, Plain, 0>;
    LDRSB_64_ldst_pos "0011100110 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<0> => load_signed::<M, Offset<Xn>, Plain, 0, 64>;
    LDRSB_64_ldst_pos "0011100110 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<0> => load_signed::<M, Offset<Sp>, Plain, 0, 64>;
    LDRSB_32_ldst_pos "0011100111 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<0> => load_signed::<M, Offset<Xn>, Plain, 0, 32>;
    LDRSB_32_ldst_pos "0011100111 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<0> => load_signed::<M, Offset<Sp>, Plain, 0, 32>;
    STRH_32_ldst_pos  "0111100100 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<1> => store::<M, Offset<Xn>, Plain, 1>;
    STRH_32_ldst_pos  "0111100100 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<1> => store::<M, Offset<Sp>, Plain, 1>;
    LDRH_32_ldst_pos  "0111100101 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<1> => load::<M, Offset<Xn>, Plain, 1>;
    LDRH_32_ldst_pos  "0111100101 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<1> => load::<M, Offset<Sp>, Plain, 1>;
    LDRSH_64_ldst_pos "0111100110 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<1> => load_signed::<M, Offset<Xn>, Plain, 1, 64>;
    LDRSH_64_ldst_pos "0111100110 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<1> => load_signed::<M, Offset<Sp>, Plain, 1, 64>;
    LDRSH_32_ldst_pos "0111100111 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<1> => load_signed::<M, Offset<Xn>, Plain, 1, 32>;
    LDRSH_32_ldst_pos "0111100111 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<1> => load_signed::<M, Offset<Sp>, Plain, 1, 32>;
    STR_32_ldst_pos   "1011100100 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<2> => store::<M, Offset<Xn>, Plain, 2>;
    STR_32_ldst_pos   "1011100100 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<2> => store::<M, Offset<Sp>, Plain, 2>;
    LDR_32_ldst_pos   "1011100101 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<2> => load::<M, Offset<Xn>, Plain, 2>;
    LDR_32_ldst_pos   "1011100101 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<2> => load::<M, Offset<Sp>, Plain, 2>;
    LDRSW_64_ldst_pos "1011100110 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<2> => load_signed::<M, Offset<Xn>, Plain, 2, 64>;
    LDRSW_64_ldst_pos "1011100110 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<2> => load_signed::<M, Offset<Sp>, Plain, 2, 64>;
    STR_64_ldst_pos   "1111100100 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<3> => store::<M, Offset<Xn>, Plain, 3>;
    STR_64_ldst_pos   "1111100100 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<3> => store::<M, Offset<Sp>, Plain, 3>;
    LDR_64_ldst_pos   "1111100101 iiiiiiiiiiii nnnnn ttttt" - next imm12_scaled::<3> => load::<M, Offset<Xn>, Plain, 3>;
    LDR_64_ldst_pos   "1111100101 iiiiiiiiiiii 11111 ttttt" - next imm12_scaled::<3> => load::<M, Offset<Sp>, Plain, 3>;
    PRFM_P_ldst_pos   "1111100110 iiiiiiiiiiii nnnnn ttttt" - next plain => prefetch;
}
