//! Add/subtract (immediate, with tags). FEAT_MTE; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    ADDG_64_addsub_immtags "1001000110 iiiiii zz iiii nnnnn ddddd" FEAT_MTE next plain => not_done;
    SUBG_64_addsub_immtags "1101000110 iiiiii zz iiii nnnnn ddddd" FEAT_MTE next plain => not_done;
}
