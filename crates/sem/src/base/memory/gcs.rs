//! Guarded control stack stores. FEAT_GCS; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    "*" => "* {Xt}, [{Xn|sp}]";
    GCSSTR_64_ldst_gcs  "1101100100011111000011 nnnnn ttttt" FEAT_GCS next plain => not_done;
    GCSSTTR_64_ldst_gcs "1101100100011111000111 nnnnn ttttt" FEAT_GCS next plain => not_done;
}
