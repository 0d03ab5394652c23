//! The tables against Arm's machine-readable list of encodings, as the crate `aarchmrs-instructions` carries it.
//!
//! That crate has a function for each leaf and no list of them, so its source is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use sem::Decoder;
use sem::eval::{Flat, mix};
use sem::pattern::Pattern;

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

/// The leaves of the base instructions.
fn base() -> Vec<Leaf> {
    let mut all = Vec::new();
    for group in ["control", "dpimm", "dpreg", "ldst", "reserved"] {
        let mut of_group = Vec::new();
        leaves(&source().join(group), &mut of_group);
        // Bit 26 is V in loads and stores.
        of_group.retain(|leaf| group != "ldst" || leaf.pattern.mask & leaf.pattern.value & 1 << 26 == 0);
        assert!(!of_group.is_empty(), "{group}");
        all.append(&mut of_group);
    }
    all
}

/// Later than Armv8.7 and in no feature that a PE model can have: classes, and parts of names.
const LATER_CLASSES: [&str; 21] = [
    "compbranch_imm",
    "compbranch_regs",
    "compbranch_regs2",
    "compfault_imm",
    "compfault_regs",
    "testfault",
    "extendedhints",
    "miscbranch",
    "dp_1src_imm",
    "systemresult",
    "tchange_imm",
    "tchange_reg",
    "addsub_pt",
    "memset_go",
    "memop_unpriv",
    "comswap_unpriv",
    "comswappr_unpriv",
    "ldstexclr_unpriv",
    "asisdlse",
    "asisdlsep",
    "asisdlso",
];
const LATER_NAMES: [&str; 16] = [
    "SPPC",
    "171615",
    "MADDPT",
    "MSUBPT",
    "TEXIT",
    "FLT_EX",
    "TENTER",
    "STTP_",
    "LDTP_",
    "STTNP_",
    "LDTNP_",
    "STL64B",
    "LDA64B",
    "STLP_64_ldia",
    "LDAP_64_ldia",
    "LDAPP_64_ldia",
];

fn later(leaf: &Leaf) -> bool {
    LATER_CLASSES.contains(&leaf.class.as_str()) || LATER_NAMES.iter().any(|part| leaf.name.contains(part))
}

#[test]
fn every_leaf_has_a_line() {
    let lines: Vec<&str> = sem::specs::<Flat>().iter().map(|line| line.name).collect();
    let leaves = base();
    let missing: Vec<&str> = leaves
        .iter()
        .filter(|leaf| !later(leaf) && !lines.contains(&leaf.name.as_str()))
        .map(|leaf| &*leaf.name)
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    let needless: Vec<&str> = leaves
        .iter()
        .filter(|leaf| later(leaf) && lines.contains(&leaf.name.as_str()))
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
    let (leaves, decoder) = (base(), Decoder::<Flat>::new());
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
                None => later(best) || RESERVED.iter().any(|part| best.name.ends_with(part)),
            };
            if !right {
                *wrong.entry(format!("{} as {}", best.name, name.unwrap_or("nothing"))).or_default() += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
