//! The image: compiled, linked, and laid out as a loader wants it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::toolchain::{TARGET, Toolchain};
use crate::shell;

/// What cargo is told.
pub const ARGUMENTS: [&str; 6] = ["-p", "vambrace-kernel-image", "--target", TARGET, "--profile", "kernel"];

/// Builds the Image.
pub fn image(toolchain: &Toolchain) -> Result<PathBuf> {
    let root = shell::workspace_root();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    image_of(toolchain, &root, &target)
}

/// Builds the Image of the sources in `root`, with what is built in `target`.
pub fn image_of(toolchain: &Toolchain, root: &Path, target: &Path) -> Result<PathBuf> {
    let mut cargo = toolchain.cargo("build")?;
    cargo.args(["--quiet"]).args(ARGUMENTS).current_dir(root).env("CARGO_TARGET_DIR", target);
    shell::run(&mut cargo).context("building the kernel")?;
    let target = target.join(TARGET).join("kernel");
    let elf = fs::read(target.join("vambrace-kernel")).context("the build left no ELF file")?;
    let image = target.join("Image");
    fs::write(&image, flatten(&elf)?)?;
    Ok(image)
}

/// The bytes of an ELF file's segments at their distances from the first one.
fn flatten(elf: &[u8]) -> Result<Vec<u8>> {
    const LOAD: u64 = 1;
    let number = |at: usize, len: usize| -> Result<u64> {
        let bytes = elf.get(at..at + len).context("the ELF file is cut off")?;
        Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    if elf.get(..5) != Some(b"\x7fELF\x02") {
        bail!("no 64-bit ELF file");
    }
    let (table, size, count) = (number(32, 8)? as usize, number(54, 2)? as usize, number(56, 2)? as usize);
    let mut segments = Vec::new();
    for n in 0..count {
        let at = table + n * size;
        let (offset, address, len) = (number(at + 8, 8)?, number(at + 16, 8)?, number(at + 32, 8)?);
        if number(at, 4)? == LOAD && len > 0 {
            segments.push((address, offset as usize, len as usize));
        }
    }
    let base = segments.iter().map(|segment| segment.0).min().context("the ELF file has no segments")?;
    let mut image = Vec::new();
    for (address, offset, len) in segments {
        let start = (address - base) as usize;
        image.resize(image.len().max(start + len), 0);
        let bytes = elf.get(offset..offset + len).context("a segment is outside of the ELF file")?;
        image[start..start + len].copy_from_slice(bytes);
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_keep_their_distances() {
        let mut elf = vec![0u8; 64];
        elf[..5].copy_from_slice(b"\x7fELF\x02");
        elf[32] = 64;
        elf[54] = 56;
        elf[56] = 3;
        for (kind, offset, address, len) in [(1u8, 232u8, 0x10u8, 2u8), (2, 0, 0, 9), (1, 234, 0x14, 1)] {
            let mut header = [0u8; 56];
            (header[0], header[8], header[16], header[32]) = (kind, offset, address, len);
            elf.extend(header);
        }
        elf.extend([1, 2, 3]);
        assert_eq!(flatten(&elf).unwrap(), [1, 2, 0, 0, 3]);
        assert!(flatten(&elf[..200]).is_err());
    }
}
