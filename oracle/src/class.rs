//! Arm's encoding classes: which one a leaf is in, by its name.

/// The groups of Arm's list with their classes. Only those that hold encodings which `sem` knows.
pub const GROUPS: [(&str, &[&str]); 6] = [
    (
        "dpimm",
        &["pcreladdr", "addsub_imm", "addsub_immtags", "minmax_imm", "log_imm", "movewide", "bitfield", "extract"],
    ),
    (
        "control",
        &[
            "condbranch",
            "exception",
            "systeminstrswithreg",
            "hints",
            "barriers",
            "pstate",
            "systeminstrs",
            "systemmove",
            "syspairinstrs",
            "systemmovepr",
            "branch_reg",
            "branch_imm",
            "compbranch",
            "testbranch",
        ],
    ),
    (
        "dpreg",
        &[
            "dp_2src",
            "dp_1src",
            "log_shift",
            "addsub_shift",
            "addsub_ext",
            "addsub_carry",
            "rmif",
            "setf",
            "condcmp_reg",
            "condcmp_imm",
            "condsel",
            "dp_3src",
        ],
    ),
    (
        "ldst",
        &[
            "asisdlse",
            "asisdlsep",
            "asisdlso",
            "asisdlsop",
            "comswappr",
            "comswap",
            "ldstexclp",
            "ldstexclr",
            "ldstord",
            "rcwcomswap",
            "rcwcomswappr",
            "memop_128",
            "ldst_gcs",
            "ldsttags",
            "ldiappstilp",
            "ldapstl_writeback",
            "ldapstl_unscaled",
            "ldapstl_simd",
            "loadlit",
            "memcms",
            "ldstnapair_offs",
            "ldstpair_post",
            "ldstpair_off",
            "ldstpair_pre",
            "ldst_unscaled",
            "ldst_immpost",
            "ldst_unpriv",
            "ldst_immpre",
            "memop",
            "ldst_regoff",
            "ldst_pac",
            "ldst_pos",
        ],
    ),
    (
        "simd_dp",
        &[
            "cryptoaes",
            "cryptosha3",
            "cryptosha2",
            "asisdone",
            "asisdsamefp16",
            "asisdmiscfp16",
            "asisdsame2",
            "asisdmisc",
            "asisdpair",
            "asisddiff",
            "asisdsame",
            "asisdshf",
            "asisdelem",
            "asimdtbl",
            "asimdperm",
            "asimdext",
            "asimdins",
            "asimdsamefp16",
            "asimdmiscfp16",
            "asimdsame2",
            "asimdmisc",
            "asimdall",
            "asimddiff",
            "asimdsame",
            "asimdimm",
            "asimdshf",
            "asimdelem",
            "crypto3_imm2",
            "cryptosha512_3",
            "crypto4",
            "crypto3_imm6",
            "cryptosha512_2",
            "float2fix",
            "float2int",
            "floatdp1",
            "floatcmp",
            "floatimm",
            "floatccmp",
            "floatdp2",
            "floatsel",
            "floatdp3",
        ],
    ),
    ("reserved", &["perm_undef"]),
];

/// The one leaf whose name does not hold its class.
const OTHERS: [(&str, &str); 1] = [("FCMLA_advsimd_elt", "asimdelem")];

/// The class of the leaf `name`: part of its name.
#[must_use]
pub fn of(name: &str) -> Option<&'static str> {
    let framed = format!("_{name}_");
    let classes = GROUPS.iter().flat_map(|(_, classes)| classes.iter().copied());
    let found = classes.filter(|class| framed.contains(&format!("_{class}_"))).max_by_key(|class| class.len());
    found.or_else(|| OTHERS.iter().find(|(leaf, _)| *leaf == name).map(|(_, class)| *class))
}

/// The group of a class.
#[must_use]
pub fn group(class: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(_, classes)| classes.contains(&class)).map(|(group, _)| *group)
}
