//! Load register (literal).

use super::address::Literal;
use super::transfer::{Plain, load, load_signed, prefetch};
use crate::base::imm::offset19;
use crate::spec::plain;

crate::encodings! {
    "PRFM_*" => "* {prfop}, {label19}";
    "*_32_*" => "* {Wt}, {label19}";
    "*_64_*" => "* {Xt}, {label19}";
    LDR_32_loadlit   "00011000 iiiiiiiiiiiiiiiiiii ttttt" - next offset19 => load::<M, Literal, Plain, 2>;
    LDR_64_loadlit   "01011000 iiiiiiiiiiiiiiiiiii ttttt" - next offset19 => load::<M, Literal, Plain, 3>;
    LDRSW_64_loadlit "10011000 iiiiiiiiiiiiiiiiiii ttttt" - next offset19 => load_signed::<M, Literal, Plain, 2, 64>;
    PRFM_P_loadlit   "11011000 iiiiiiiiiiiiiiiiiii ttttt" - next plain => prefetch;
}
