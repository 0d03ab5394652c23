//! Takes up the kernel of `kernel/` and its demo's initramfs, where `cargo xtask release` has put them: then they are part
//! of the program. A plain `cargo build` needs neither.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    // The directory is always there: cargo takes what is not there for changed, and would build anew each time.
    println!("cargo::rerun-if-changed=demo");
    let dir = manifest.join("demo");
    let files = ["Image", "initramfs.cpio"].map(|name| dir.join(name));
    let text = match &files.each_ref().map(|path| path.canonicalize()) {
        [Ok(kernel), Ok(initrd)] => {
            let include = |path: &Path| format!("include_bytes!({:?})", path.display().to_string());
            format!("Some(({}, {}))", include(kernel), include(initrd))
        }
        _ => "None".to_owned(),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("demo.rs"), format!("const BUILT_IN: Option<(&[u8], &[u8])> = {text};\n"))
}
