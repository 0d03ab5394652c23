//! From a packaged kernel or module to the plain file.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;

/// The plain Image in what a package calls `vmlinuz`: an Image already, an Image in gzip, or an
/// EFI "zboot" program that carries one as its payload.
pub fn plain_kernel(file: Vec<u8>) -> Result<Vec<u8>> {
    if is_image(&file) {
        return Ok(file);
    }
    let unpacked = if file.starts_with(b"MZ") && file.get(4..8) == Some(b"zimg") {
        zboot_payload(&file)?
    } else {
        decompress(&file)?
    };
    if !is_image(&unpacked) {
        bail!("the kernel file holds no arm64 Image (no \"ARM\\x64\" at offset 56)");
    }
    Ok(unpacked)
}

/// A module as `insmod` wants it.
pub fn plain_module(file: Vec<u8>) -> Result<Vec<u8>> {
    let module = if file.starts_with(b"\x7fELF") { file } else { decompress(&file)? };
    if !module.starts_with(b"\x7fELF") {
        bail!("the module is no ELF file after unpacking");
    }
    Ok(module)
}

/// The magic of the arm64 boot protocol (Documentation/arch/arm64/booting.rst).
fn is_image(file: &[u8]) -> bool {
    file.get(56..60) == Some(b"ARM\x64")
}

/// Header of an EFI zboot image: "MZ\0\0", "zimg", offset and size of the payload (u32), two
/// reserved words, the name of the compression. The payload's own magic says the same.
fn zboot_payload(file: &[u8]) -> Result<Vec<u8>> {
    let word = |at: usize| -> Option<usize> {
        let bytes: [u8; 4] = file.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let payload = word(8)
        .zip(word(12))
        .and_then(|(offset, size)| file.get(offset..offset.checked_add(size)?))
        .context("the zboot header points outside of the file")?;
    if is_image(payload) {
        return Ok(payload.to_vec());
    }
    decompress(payload)
}

fn decompress(packed: &[u8]) -> Result<Vec<u8>> {
    match packed {
        [0x1f, 0x8b, ..] => {
            let mut plain = Vec::new();
            GzDecoder::new(packed).read_to_end(&mut plain).context("broken gzip data")?;
            Ok(plain)
        }
        [0xfd, b'7', b'z', b'X', b'Z', ..] => filter("xz", packed),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => filter("zstd", packed),
        _ => bail!("unknown compression; the file begins with {:02x?}", packed.get(..8)),
    }
}

/// Through the system's own decompressor.
fn filter(program: &str, packed: &[u8]) -> Result<Vec<u8>> {
    let mut child = Command::new(program)
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {program}; install it, or run `cargo xtask setup`"))?;
    let mut stdin = child.stdin.take().context("no pipe")?;
    let output = std::thread::scope(|scope| {
        let writer = scope.spawn(move || stdin.write_all(packed));
        let output = child.wait_with_output();
        // A failed write shows in the status of the program that stopped reading.
        let _ = writer.join();
        output
    })?;
    if !output.status.success() {
        bail!("`{program} -dc` failed ({})", output.status);
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn image() -> Vec<u8> {
        let mut image = vec![0u8; 4096];
        image[56..60].copy_from_slice(b"ARM\x64");
        image[100] = 7;
        image
    }

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn zboot(payload: &[u8], claimed: usize) -> Vec<u8> {
        let mut file = vec![0u8; 512];
        file[..8].copy_from_slice(b"MZ\0\0zimg");
        file[8..12].copy_from_slice(&512u32.to_le_bytes());
        file[12..16].copy_from_slice(&(claimed as u32).to_le_bytes());
        file[24..28].copy_from_slice(b"gzip");
        file.extend_from_slice(payload);
        file
    }

    #[test]
    fn an_image_stays_what_it_is() {
        assert_eq!(plain_kernel(image()).unwrap(), image());
    }

    #[test]
    fn gzip_and_zboot_are_unpacked() {
        let packed = gzip(&image());
        assert_eq!(plain_kernel(packed.clone()).unwrap(), image());
        assert_eq!(plain_kernel(zboot(&packed, packed.len())).unwrap(), image());
    }

    #[test]
    fn a_lying_zboot_header_and_foreign_files_are_refused() {
        let packed = gzip(&image());
        let lie = zboot(&packed, usize::try_from(u32::MAX).unwrap());
        assert!(plain_kernel(lie).unwrap_err().to_string().contains("outside"));
        assert!(plain_kernel(gzip(b"no kernel")).is_err());
        assert!(plain_kernel(b"MZ".to_vec()).is_err());
        assert!(plain_module(gzip(b"no elf")).is_err());
    }
}
