//! The tables against Arm's machine-readable list of encodings, as the crate `aarchmrs-instructions` carries it.
//!
//! That crate has a function for each leaf and no list of them, so its source is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use arch::feature::Feature;
use sem::eval::{Flat, mix};
use sem::footprint::{Control, Footprint};
use sem::pattern::Pattern;
use sem::testing::Rng;
use sem::{Decoder, InsnId};
use vambrace_oracle::class;
use vambrace_oracle::ours::model;

/// One leaf of Arm's list.
#[derive(Debug)]
struct Leaf {
    /// Its class: the file that it is in.
    class: String,
    name: String,
    pattern: Pattern,
}

/// Where cargo keeps the crate's source.
fn source() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let package = packages.iter().find(|package| package["name"] == "aarchmrs-instructions").unwrap();
    Path::new(package["manifest_path"].as_str().unwrap()).with_file_name("src").join("A64")
}

/// The leaves in a folder of the source and its folders.
fn leaves(dir: &Path, found: &mut Vec<Leaf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            leaves(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let class = path.file_stem().unwrap().to_str().unwrap();
        for module in text.split("pub mod ").skip(1) {
            let constant = |name: &str| {
                let (_, rest) = module.split_once(&format!("pub const {name}: u32 ="))?;
                let (digits, _) = rest.trim_start().strip_prefix("0b")?.split_once("u32")?;
                u32::from_str_radix(digits, 2).ok()
            };
            if let (Some((name, _)), Some(mask), Some(value)) =
                (module.split_once(' '), constant("OPCODE_MASK"), constant("OPCODE"))
            {
                found.push(Leaf { class: class.into(), name: name.into(), pattern: Pattern { mask, value } });
            }
        }
    }
}

/// The leaves of the groups that are modelled: all but SVE and SME.
fn all() -> Vec<Leaf> {
    let mut all = Vec::new();
    for group in ["control", "dpimm", "dpreg", "ldst", "reserved", "simd_dp"] {
        let before = all.len();
        leaves(&source().join(group), &mut all);
        assert!(all.len() > before, "{group}");
    }
    all
}

/// Later than the features that a PE model can have: classes, parts of names, and their feature.
const LATER_CLASSES: [(&str, &str); 18] = [
    ("compbranch_imm", "FEAT_CMPBR"),
    ("compbranch_regs", "FEAT_CMPBR"),
    ("compbranch_regs2", "FEAT_CMPBR"),
    ("compfault_imm", LATEST),
    ("compfault_regs", LATEST),
    ("testfault", LATEST),
    ("extendedhints", LATEST),
    ("miscbranch", "FEAT_PAuth_LR"),
    ("dp_1src_imm", "FEAT_PAuth_LR"),
    ("systemresult", "FEAT_TME"),
    ("tchange_imm", LATEST),
    ("tchange_reg", LATEST),
    ("addsub_pt", "FEAT_CPA"),
    ("memset_go", LATEST),
    ("memop_unpriv", "FEAT_LSUI"),
    ("comswap_unpriv", "FEAT_LSUI"),
    ("comswappr_unpriv", "FEAT_LSUI"),
    ("ldstexclr_unpriv", "FEAT_LSUI"),
];
const LATEST: &str = "later than Armv9.5";
const LATER_NAMES: [(&str, &str); 43] = [
    ("SPPC", "FEAT_PAuth_LR"),
    ("171615", "FEAT_PAuth_LR"),
    ("MADDPT", "FEAT_CPA"),
    ("MSUBPT", "FEAT_CPA"),
    ("TEXIT", LATEST),
    ("FLT_EX", LATEST),
    ("TENTER", LATEST),
    ("STTP_", "FEAT_LSUI"),
    ("LDTP_", "FEAT_LSUI"),
    ("STTNP_", "FEAT_LSUI"),
    ("LDTNP_", "FEAT_LSUI"),
    ("STL64B", LATEST),
    ("LDA64B", LATEST),
    ("STLP_64_ldia", LATEST),
    ("LDAP_64_ldia", LATEST),
    ("LDAPP_64_ldia", LATEST),
    ("LDBF", "FEAT_LSFE"),
    ("STBF", "FEAT_LSFE"),
    ("LDFADD", "FEAT_LSFE"),
    ("LDFMAX", "FEAT_LSFE"),
    ("LDFMIN", "FEAT_LSFE"),
    ("STFADD", "FEAT_LSFE"),
    ("STFMAX", "FEAT_LSFE"),
    ("STFMIN", "FEAT_LSFE"),
    ("_sisd_", "FEAT_FPRCVT"),
    ("_FP16FP32", LATEST),
    ("FMMLA_asimd_", LATEST),
    ("FDOT_", "FEAT_FP8DOT2, FEAT_FP8DOT4"),
    ("FMLALB_", "FEAT_FP8FMA"),
    ("FMLALT_", "FEAT_FP8FMA"),
    ("FMLALL", "FEAT_FP8FMA"),
    ("F1CVTL", "FEAT_FP8"),
    ("F2CVTL", "FEAT_FP8"),
    ("FCVTN_asimdsame2", "FEAT_FP8"),
    ("FSCALE_", "FEAT_FP8"),
    ("FAMAX_", "FEAT_FAMINMAX"),
    ("FAMIN_", "FEAT_FAMINMAX"),
    ("LUTI", "FEAT_LUT"),
    ("FCMTL", LATEST),
    ("FMAXINM", LATEST),
    ("FMININM", LATEST),
    ("FMAXMG", LATEST),
    ("FMINMG", LATEST),
];

/// Why a leaf is in no feature that a PE model can have, if so.
fn later(leaf: &Leaf) -> Option<&'static str> {
    let class = LATER_CLASSES.iter().find(|(class, _)| *class == leaf.class);
    class
        .or_else(|| LATER_NAMES.iter().find(|(part, _)| leaf.name.contains(part) && !leaf.name.starts_with("BFDOT")))
        .map(|(_, why)| *why)
}

#[test]
fn every_leaf_has_a_line() {
    let lines: Vec<&str> = sem::specs::<Flat>().iter().map(|line| line.name).collect();
    let leaves = all();
    let missing: Vec<(&str, &str)> = leaves
        .iter()
        .filter(|leaf| later(leaf).is_none() && !lines.contains(&leaf.name.as_str()))
        .map(|leaf| (&*leaf.class, &*leaf.name))
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
    let needless: Vec<&str> = leaves
        .iter()
        .filter(|leaf| later(leaf).is_some() && lines.contains(&leaf.name.as_str()))
        .map(|leaf| &*leaf.name)
        .collect();
    assert!(needless.is_empty(), "listed as later, but there: {needless:?}");
}

/// Leaves with reserved field values, whose words some have no line.
const RESERVED: [&str; 10] = [
    "_addsub_shift",
    "_log_shift",
    "_bitfield",
    "_addsub_ext",
    "_ldst_regoff",
    "_comswappr",
    "_pstate",
    "_memcms",
    "_log_imm",
    "_movewide",
];

/// Words of a leaf decode to its line, or to the line of a leaf that is more specific.
#[test]
fn words_decode_to_their_leaf() {
    let (leaves, decoder) = (all(), Decoder::<Flat>::new());
    let mut wrong: BTreeMap<String, u32> = BTreeMap::new();
    for (n, leaf) in leaves.iter().enumerate() {
        for i in 0..200 {
            let fill = mix((n as u64) << 32 | i) as u32;
            let word = leaf.pattern.value | fill & !leaf.pattern.mask;
            // The best leaf for the word, which may be another one.
            let best = leaves
                .iter()
                .filter(|leaf| leaf.pattern.matches(word))
                .max_by_key(|leaf| leaf.pattern.mask.count_ones())
                .unwrap();
            let name = decoder.decode(word).map(|(_, line)| line.name);
            let right = match name {
                Some(name) => name == best.name,
                None => later(best).is_some() || RESERVED.iter().any(|part| best.name.ends_with(part)),
            };
            if !right {
                *wrong.entry(format!("{} as {}", best.name, name.unwrap_or("nothing"))).or_default() += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every line's class, which our tables derive from its name, is the file that Arm's list has it in.
#[test]
fn classes_are_arms() {
    for leaf in all().iter().filter(|leaf| later(leaf).is_none()) {
        assert_eq!(class::of(&leaf.name), Some(leaf.class.as_str()), "{}", leaf.name);
        assert!(class::group(&leaf.class).is_some(), "{}", leaf.class);
    }
}

/// Leaves in the folders of SVE and SME.
fn scalable() -> usize {
    let mut found = Vec::new();
    for group in ["sve", "sme"] {
        leaves(&source().join(group), &mut found);
    }
    found.len()
}

/// Is its body the one that only names it?
fn is_done(decoder: &Decoder<Flat>, id: InsnId) -> bool {
    let mut rng = Rng::new(1);
    rng.insn(decoder, id, 0).is_some_and(|insn| Footprint::of(id, insn).control != Control::NotDone)
}

/// What `cargo xtask oracle --count` prints.
#[test]
fn count() {
    let decoder = Decoder::<Flat>::new();
    let modelled = model().unwrap();
    let max = arch::preset::preset("max").unwrap();
    let leaves = all();
    // Of a leaf with several lines, the one with the fewest fixed bits is the leaf itself.
    let mut lines: BTreeMap<&str, InsnId> = BTreeMap::new();
    for id in (0..decoder.len()).map(|n| InsnId(n as u16)) {
        let weight = |id: InsnId| decoder.spec(id).pattern.mask.count_ones();
        let entry = lines.entry(decoder.spec(id).name).or_insert(id);
        if weight(id) < weight(*entry) {
            *entry = id;
        }
    }
    let (mut done, mut refused, mut unknown) = (0, BTreeMap::<String, usize>::new(), BTreeMap::<&str, usize>::new());
    for leaf in &leaves {
        if let Some(why) = later(leaf) {
            *unknown.entry(why).or_default() += 1;
            continue;
        }
        let id = lines[leaf.name.as_str()];
        let feature = decoder.spec(id).feature;
        match (feature.filter(|feature| !max.has(*feature)), is_done(&decoder, id)) {
            (None, true) => done += 1,
            (Some(feature), true) => *refused.entry(format!("{feature} (done, not offered)")).or_default() += 1,
            (feature, false) => {
                *refused.entry(feature.map_or_else(|| "-".to_owned(), |f| f.to_string())).or_default() += 1;
                // An encoding that a guest may meet must not be one that only names itself.
                assert!(feature.is_some(), "{} is offered and not done", leaf.name);
            }
        }
    }
    let (scalable, sum) = (scalable(), |counts: &mut dyn Iterator<Item = usize>| counts.sum::<usize>());
    let (refused_all, unknown_all) = (sum(&mut refused.values().copied()), sum(&mut unknown.values().copied()));
    println!("encodings in Arm's list              {:>5}", leaves.len() + scalable);
    println!("modelled                             {done:>5}");
    println!("refused by name                      {refused_all:>5}");
    for (feature, n) in &refused {
        println!("  {feature:<35}{n:>5}");
    }
    println!("later than what arch::feature knows  {unknown_all:>5}  (UNDEFINED)");
    for (feature, n) in &unknown {
        println!("  {feature:<35}{n:>5}");
    }
    println!("FEAT_SVE, FEAT_SME and what needs it {scalable:>5}  (UNDEFINED)");
    assert_eq!(done + refused_all + unknown_all, leaves.len());
    assert!(done > 1500 && max.features.has(Feature::FEAT_FP) && modelled.features.has(Feature::FEAT_AdvSIMD));
}
