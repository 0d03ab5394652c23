//! Load/store register (register offset).
//!
//! option\[1\] must be 1; else UNDEFINED: no line has it. The usual forms (a general-purpose base; LSL, UXTW, SXTW) have
//! lines of their own, one line takes the rest.

use super::address::{Indexed, IndexedAny, IndexedSxtw, IndexedUxtw, index_shift};
use super::transfer::{Plain, load, load_signed, prefetch, store};
use crate::spec::plain;

crate::encodings! {
    "RPRFM_*" => "* {rprfop}, {Xm}, [{Xn|sp}]";
    "PRFM_*" => "* {prfop}, [{Xn|sp}, {regoff}]";
    "*_32*" => "* {Wt}, [{Xn|sp}, {regoff}]";
    "*_64*" => "* {Xt}, [{Xn|sp}, {regoff}]";
    STRB_32B_ldst_regoff   "00111000001 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<0> => store::<M, IndexedAny, Plain, 0>;
    STRB_32B_ldst_regoff   "00111000001 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<0> => store::<M, IndexedUxtw, Plain, 0>;
    STRB_32B_ldst_regoff   "00111000001 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<0> => store::<M, IndexedSxtw, Plain, 0>;
    STRB_32B_ldst_regoff   "00111000001 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<0> => store::<M, IndexedAny, Plain, 0>;
    STRB_32BL_ldst_regoff  "00111000001 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<0> => store::<M, Indexed, Plain, 0>;
    STRB_32BL_ldst_regoff  "00111000001 mmmmm 011 s 10 11111 ttttt"    - next index_shift::<0> => store::<M, IndexedAny, Plain, 0>;
    LDRB_32B_ldst_regoff   "00111000011 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<0> => load::<M, IndexedAny, Plain, 0>;
    LDRB_32B_ldst_regoff   "00111000011 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<0> => load::<M, IndexedUxtw, Plain, 0>;
    LDRB_32B_ldst_regoff   "00111000011 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<0> => load::<M, IndexedSxtw, Plain, 0>;
    LDRB_32B_ldst_regoff   "00111000011 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<0> => load::<M, IndexedAny, Plain, 0>;
    LDRB_32BL_ldst_regoff  "00111000011 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<0> => load::<M, Indexed, Plain, 0>;
    LDRB_32BL_ldst_regoff  "00111000011 mmmmm 011 s 10 11111 ttttt"    - next index_shift::<0> => load::<M, IndexedAny, Plain, 0>;
    LDRSB_64B_ldst_regoff  "00111000101 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<0> => load_signed::<M, IndexedAny, Plain, 0, 64>;
    LDRSB_64B_ldst_regoff  "00111000101 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<0> => load_signed::<M, IndexedUxtw, Plain, 0, 64>;
    LDRSB_64B_ldst_regoff  "00111000101 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<0> => load_signed::<M, IndexedSxtw, Plain, 0, 64>;
    LDRSB_64B_ldst_regoff  "00111000101 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<0> => load_signed::<M, IndexedAny, Plain, 0, 64>;
    LDRSB_64BL_ldst_regoff "00111000101 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<0> => load_signed::<M, Indexed, Plain, 0, 64>;
    LDRSB_64BL_ldst_regoff "00111000101 mmmmm 011 s 10 11111 ttttt"    - next index_shift::<0> => load_signed::<M, IndexedAny, Plain, 0, 64>;
    LDRSB_32B_ldst_regoff  "00111000111 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<0> => load_signed::<M, IndexedAny, Plain, 0, 32>;
    LDRSB_32B_ldst_regoff  "00111000111 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<0> => load_signed::<M, IndexedUxtw, Plain, 0, 32>;
    LDRSB_32B_ldst_regoff  "00111000111 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<0> => load_signed::<M, IndexedSxtw, Plain, 0, 32>;
    LDRSB_32B_ldst_regoff  "00111000111 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<0> => load_signed::<M, IndexedAny, Plain, 0, 32>;
    LDRSB_32BL_ldst_regoff "00111000111 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<0> => load_signed::<M, Indexed, Plain, 0, 32>;
    LDRSB_32BL_ldst_regoff "00111000111 mmmmm 011 s 10 11111 ttttt"    - next index_shift::<0> => load_signed::<M, IndexedAny, Plain, 0, 32>;
    STRH_32_ldst_regoff    "01111000001 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<1> => store::<M, IndexedAny, Plain, 1>;
    STRH_32_ldst_regoff    "01111000001 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<1> => store::<M, Indexed, Plain, 1>;
    STRH_32_ldst_regoff    "01111000001 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<1> => store::<M, IndexedUxtw, Plain, 1>;
    STRH_32_ldst_regoff    "01111000001 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<1> => store::<M, IndexedSxtw, Plain, 1>;
    STRH_32_ldst_regoff    "01111000001 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<1> => store::<M, IndexedAny, Plain, 1>;
    LDRH_32_ldst_regoff    "01111000011 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<1> => load::<M, IndexedAny, Plain, 1>;
    LDRH_32_ldst_regoff    "01111000011 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<1> => load::<M, Indexed, Plain, 1>;
    LDRH_32_ldst_regoff    "01111000011 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<1> => load::<M, IndexedUxtw, Plain, 1>;
    LDRH_32_ldst_regoff    "01111000011 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<1> => load::<M, IndexedSxtw, Plain, 1>;
    LDRH_32_ldst_regoff    "01111000011 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<1> => load::<M, IndexedAny, Plain, 1>;
    LDRSH_64_ldst_regoff   "01111000101 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<1> => load_signed::<M, IndexedAny, Plain, 1, 64>;
    LDRSH_64_ldst_regoff   "01111000101 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<1> => load_signed::<M, Indexed, Plain, 1, 64>;
    LDRSH_64_ldst_regoff   "01111000101 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<1> => load_signed::<M, IndexedUxtw, Plain, 1, 64>;
    LDRSH_64_ldst_regoff   "01111000101 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<1> => load_signed::<M, IndexedSxtw, Plain, 1, 64>;
    LDRSH_64_ldst_regoff   "01111000101 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<1> => load_signed::<M, IndexedAny, Plain, 1, 64>;
    LDRSH_32_ldst_regoff   "01111000111 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<1> => load_signed::<M, IndexedAny, Plain, 1, 32>;
    LDRSH_32_ldst_regoff   "01111000111 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<1> => load_signed::<M, Indexed, Plain, 1, 32>;
    LDRSH_32_ldst_regoff   "01111000111 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<1> => load_signed::<M, IndexedUxtw, Plain, 1, 32>;
    LDRSH_32_ldst_regoff   "01111000111 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<1> => load_signed::<M, IndexedSxtw, Plain, 1, 32>;
    LDRSH_32_ldst_regoff   "01111000111 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<1> => load_signed::<M, IndexedAny, Plain, 1, 32>;
    STR_32_ldst_regoff     "10111000001 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<2> => store::<M, IndexedAny, Plain, 2>;
    STR_32_ldst_regoff     "10111000001 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<2> => store::<M, Indexed, Plain, 2>;
    STR_32_ldst_regoff     "10111000001 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<2> => store::<M, IndexedUxtw, Plain, 2>;
    STR_32_ldst_regoff     "10111000001 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<2> => store::<M, IndexedSxtw, Plain, 2>;
    STR_32_ldst_regoff     "10111000001 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<2> => store::<M, IndexedAny, Plain, 2>;
    LDR_32_ldst_regoff     "10111000011 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<2> => load::<M, IndexedAny, Plain, 2>;
    LDR_32_ldst_regoff     "10111000011 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<2> => load::<M, Indexed, Plain, 2>;
    LDR_32_ldst_regoff     "10111000011 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<2> => load::<M, IndexedUxtw, Plain, 2>;
    LDR_32_ldst_regoff     "10111000011 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<2> => load::<M, IndexedSxtw, Plain, 2>;
    LDR_32_ldst_regoff     "10111000011 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<2> => load::<M, IndexedAny, Plain, 2>;
    LDRSW_64_ldst_regoff   "10111000101 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<2> => load_signed::<M, IndexedAny, Plain, 2, 64>;
    LDRSW_64_ldst_regoff   "10111000101 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<2> => load_signed::<M, Indexed, Plain, 2, 64>;
    LDRSW_64_ldst_regoff   "10111000101 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<2> => load_signed::<M, IndexedUxtw, Plain, 2, 64>;
    LDRSW_64_ldst_regoff   "10111000101 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<2> => load_signed::<M, IndexedSxtw, Plain, 2, 64>;
    LDRSW_64_ldst_regoff   "10111000101 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<2> => load_signed::<M, IndexedAny, Plain, 2, 64>;
    STR_64_ldst_regoff     "11111000001 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<3> => store::<M, IndexedAny, Plain, 3>;
    STR_64_ldst_regoff     "11111000001 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<3> => store::<M, Indexed, Plain, 3>;
    STR_64_ldst_regoff     "11111000001 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<3> => store::<M, IndexedUxtw, Plain, 3>;
    STR_64_ldst_regoff     "11111000001 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<3> => store::<M, IndexedSxtw, Plain, 3>;
    STR_64_ldst_regoff     "11111000001 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<3> => store::<M, IndexedAny, Plain, 3>;
    LDR_64_ldst_regoff     "11111000011 mmmmm o 1 o s 10 nnnnn ttttt"  - next index_shift::<3> => load::<M, IndexedAny, Plain, 3>;
    LDR_64_ldst_regoff     "11111000011 mmmmm 011 s 10 nnnnn ttttt"    - next index_shift::<3> => load::<M, Indexed, Plain, 3>;
    LDR_64_ldst_regoff     "11111000011 mmmmm 010 s 10 nnnnn ttttt"    - next index_shift::<3> => load::<M, IndexedUxtw, Plain, 3>;
    LDR_64_ldst_regoff     "11111000011 mmmmm 110 s 10 nnnnn ttttt"    - next index_shift::<3> => load::<M, IndexedSxtw, Plain, 3>;
    LDR_64_ldst_regoff     "11111000011 mmmmm o 1 o s 10 11111 ttttt"  - next index_shift::<3> => load::<M, IndexedAny, Plain, 3>;
    PRFM_P_ldst_regoff     "11111000101 mmmmm o 1 o s 10 nnnnn ttttt"  - next plain => prefetch;
    RPRFM_R_ldst_regoff    "11111000101 mmmmm o 1 o s 10 nnnnn 11 ttt" - next plain => prefetch;
}
