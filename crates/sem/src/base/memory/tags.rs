//! Load/store memory tags. FEAT_MTE, FEAT_MTE2; not done yet.

use crate::spec::{not_done, plain};

crate::encodings! {
    STG_64Spost_ldsttags     "11011001001 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STG_64Soffset_ldsttags   "11011001001 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STG_64Spre_ldsttags      "11011001001 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STZGM_64bulk_ldsttags    "1101100100100000000000 nnnnn ttttt"   FEAT_MTE2 next plain => not_done;
    LDG_64Loffset_ldsttags   "11011001011 iiiiiiiii 00 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STZG_64Spost_ldsttags    "11011001011 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STZG_64Soffset_ldsttags  "11011001011 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STZG_64Spre_ldsttags     "11011001011 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next plain => not_done;
    ST2G_64Spost_ldsttags    "11011001101 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next plain => not_done;
    ST2G_64Soffset_ldsttags  "11011001101 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next plain => not_done;
    ST2G_64Spre_ldsttags     "11011001101 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STGM_64bulk_ldsttags     "1101100110100000000000 nnnnn ttttt"   FEAT_MTE2 next plain => not_done;
    STZ2G_64Spost_ldsttags   "11011001111 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STZ2G_64Soffset_ldsttags "11011001111 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next plain => not_done;
    STZ2G_64Spre_ldsttags    "11011001111 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next plain => not_done;
    LDGM_64bulk_ldsttags     "1101100111100000000000 nnnnn ttttt"   FEAT_MTE2 next plain => not_done;
}
