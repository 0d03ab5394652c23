//! Load/store register pair: offset, pre-indexed, post-indexed, no-allocate; STGP.

use super::address::{Offset, PostIndex, PreIndex, Sp, Xn, XnOrSp};
use super::tags;
use super::transfer::{load_pair, load_pair_signed, store_pair};
use crate::base::imm::simm7_scaled;

crate::encodings! {
    "*_32_ldstpair_pre" => "* {Wt}, {Wa}, [{Xn|sp}, #{simm7}]!";
    "*_32_ldstpair_post" => "* {Wt}, {Wa}, [{Xn|sp}], #{simm7}";
    "*_32_*" => "* {Wt}, {Wa}, [{Xn|sp}{,simm7}]";
    "*_64_ldstpair_pre" => "* {Xt}, {Xa}, [{Xn|sp}, #{simm7}]!";
    "*_64_ldstpair_post" => "* {Xt}, {Xa}, [{Xn|sp}], #{simm7}";
    "*_64_*" => "* {Xt}, {Xa}, [{Xn|sp}{,simm7}]";
    STP_32_ldstpair_off     "0010100100 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => store_pair::<M, Offset<Xn>, 2>;
    STP_32_ldstpair_off     "0010100100 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => store_pair::<M, Offset<Sp>, 2>;
    LDP_32_ldstpair_off     "0010100101 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair::<M, Offset<Xn>, 2>;
    LDP_32_ldstpair_off     "0010100101 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair::<M, Offset<Sp>, 2>;
    STGP_64_ldstpair_off    "0110100100 sssssss aaaaa nnnnn ttttt" FEAT_MTE next simm7_scaled::<4> => tags::store_pair::<M, Offset<XnOrSp>>;
    LDPSW_64_ldstpair_off   "0110100101 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair_signed::<M, Offset<Xn>>;
    LDPSW_64_ldstpair_off   "0110100101 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair_signed::<M, Offset<Sp>>;
    STP_64_ldstpair_off     "1010100100 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => store_pair::<M, Offset<Xn>, 3>;
    STP_64_ldstpair_off     "1010100100 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => store_pair::<M, Offset<Sp>, 3>;
    LDP_64_ldstpair_off     "1010100101 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => load_pair::<M, Offset<Xn>, 3>;
    LDP_64_ldstpair_off     "1010100101 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => load_pair::<M, Offset<Sp>, 3>;
    STP_32_ldstpair_pre     "0010100110 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => store_pair::<M, PreIndex<Xn>, 2>;
    STP_32_ldstpair_pre     "0010100110 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => store_pair::<M, PreIndex<Sp>, 2>;
    LDP_32_ldstpair_pre     "0010100111 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair::<M, PreIndex<Xn>, 2>;
    LDP_32_ldstpair_pre     "0010100111 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair::<M, PreIndex<Sp>, 2>;
    STGP_64_ldstpair_pre    "0110100110 sssssss aaaaa nnnnn ttttt" FEAT_MTE next simm7_scaled::<4> => tags::store_pair::<M, PreIndex<XnOrSp>>;
    LDPSW_64_ldstpair_pre   "0110100111 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair_signed::<M, PreIndex<Xn>>;
    LDPSW_64_ldstpair_pre   "0110100111 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair_signed::<M, PreIndex<Sp>>;
    STP_64_ldstpair_pre     "1010100110 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => store_pair::<M, PreIndex<Xn>, 3>;
    STP_64_ldstpair_pre     "1010100110 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => store_pair::<M, PreIndex<Sp>, 3>;
    LDP_64_ldstpair_pre     "1010100111 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => load_pair::<M, PreIndex<Xn>, 3>;
    LDP_64_ldstpair_pre     "1010100111 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => load_pair::<M, PreIndex<Sp>, 3>;
    STP_32_ldstpair_post    "0010100010 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => store_pair::<M, PostIndex<Xn>, 2>;
    STP_32_ldstpair_post    "0010100010 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => store_pair::<M, PostIndex<Sp>, 2>;
    LDP_32_ldstpair_post    "0010100011 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair::<M, PostIndex<Xn>, 2>;
    LDP_32_ldstpair_post    "0010100011 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair::<M, PostIndex<Sp>, 2>;
    STGP_64_ldstpair_post   "0110100010 sssssss aaaaa nnnnn ttttt" FEAT_MTE next simm7_scaled::<4> => tags::store_pair::<M, PostIndex<XnOrSp>>;
    LDPSW_64_ldstpair_post  "0110100011 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair_signed::<M, PostIndex<Xn>>;
    LDPSW_64_ldstpair_post  "0110100011 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair_signed::<M, PostIndex<Sp>>;
    STP_64_ldstpair_post    "1010100010 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => store_pair::<M, PostIndex<Xn>, 3>;
    STP_64_ldstpair_post    "1010100010 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => store_pair::<M, PostIndex<Sp>, 3>;
    LDP_64_ldstpair_post    "1010100011 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => load_pair::<M, PostIndex<Xn>, 3>;
    LDP_64_ldstpair_post    "1010100011 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => load_pair::<M, PostIndex<Sp>, 3>;
    STNP_32_ldstnapair_offs "0010100000 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => store_pair::<M, Offset<Xn>, 2>;
    STNP_32_ldstnapair_offs "0010100000 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => store_pair::<M, Offset<Sp>, 2>;
    LDNP_32_ldstnapair_offs "0010100001 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<2> => load_pair::<M, Offset<Xn>, 2>;
    LDNP_32_ldstnapair_offs "0010100001 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<2> => load_pair::<M, Offset<Sp>, 2>;
    STNP_64_ldstnapair_offs "1010100000 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => store_pair::<M, Offset<Xn>, 3>;
    STNP_64_ldstnapair_offs "1010100000 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => store_pair::<M, Offset<Sp>, 3>;
    LDNP_64_ldstnapair_offs "1010100001 iiiiiii aaaaa nnnnn ttttt" - next simm7_scaled::<3> => load_pair::<M, Offset<Xn>, 3>;
    LDNP_64_ldstnapair_offs "1010100001 iiiiiii aaaaa 11111 ttttt" - next simm7_scaled::<3> => load_pair::<M, Offset<Sp>, 3>;
}
