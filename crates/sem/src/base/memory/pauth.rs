//! Load register (PAC). FEAT_PAuth; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    "*_64_*" => "* {Xt}, [{Xn|sp}{,simm10}]";
    "*_64W_*" => "* {Xt}, [{Xn|sp}{,simm10}]!";
    LDRAA_64_ldst_pac  "111110000 s 1 iiiiiiiii 01 nnnnn ttttt" FEAT_PAuth next plain => not_done;
    LDRAA_64W_ldst_pac "111110000 s 1 iiiiiiiii 11 nnnnn ttttt" FEAT_PAuth next plain => not_done;
    LDRAB_64_ldst_pac  "111110001 s 1 iiiiiiiii 01 nnnnn ttttt" FEAT_PAuth next plain => not_done;
    LDRAB_64W_ldst_pac "111110001 s 1 iiiiiiiii 11 nnnnn ttttt" FEAT_PAuth next plain => not_done;
}
