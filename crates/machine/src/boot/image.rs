//! The arm64 Linux Image (Documentation/arch/arm64/booting.rst, "Call the kernel image").

use super::kernel::{Kernel, KernelError, Kind, Segment};
use crate::map::RAM_BASE;

/// Bytes of the header.
pub const HEADER: usize = 64;

const MAGIC_AT: usize = 56;
const MAGIC: &[u8; 4] = b"ARM\x64";
/// Where a kernel with an EFI stub keeps the offset of its PE header.
const PE_OFFSET_AT: usize = 60;

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Offset from a 2 MiB boundary at which the image goes, in bytes.
    pub text_offset: u64,
    /// Memory that the image takes, BSS included, in bytes; 0 before Linux 3.17.
    pub image_size: u64,
    /// Bit 0: big-endian.
    pub flags: u64,
}

impl Header {
    /// The header at the start of `bytes`, if there is one.
    pub fn find(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..HEADER)?;
        let word = |at: usize| header[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        (&header[MAGIC_AT..MAGIC_AT + 4] == MAGIC).then_some(())?;
        let (text_offset, image_size, flags) = (word(8)?, word(16)?, word(24)?);
        // "Where image_size is zero, text_offset can be assumed to be 0x80000."
        Some(if image_size == 0 {
            Self { text_offset: 0x8_0000, image_size, flags }
        } else {
            Self { text_offset, image_size, flags }
        })
    }

    fn is_big_endian(self) -> bool {
        self.flags & 1 != 0
    }
}

/// Does `file` claim to be an Image?
pub fn is_image(file: &[u8]) -> bool {
    file.get(MAGIC_AT..MAGIC_AT + 4) == Some(MAGIC)
}

/// Lays an Image out at the start of RAM.
pub fn parse(file: &[u8], ram: u64) -> Result<Kernel<'_>, KernelError> {
    let actual = file.len() as u64;
    let header = Header::find(file).ok_or(KernelError::ImageTruncated { needs: HEADER as u64, actual })?;
    if header.is_big_endian() {
        return Err(KernelError::ImageBigEndian);
    }
    if let Some(needs) = bytes_by_pe_header(file).filter(|needs| *needs > actual) {
        return Err(KernelError::ImageTruncated { needs, actual });
    }
    let len = match header.image_size {
        // Nothing says how large the BSS is.
        0 => actual * 2,
        size => size.max(actual),
    };
    let needs = header.text_offset.saturating_add(len);
    if needs > ram {
        return Err(KernelError::TooLarge { needs, ram });
    }
    let pa = RAM_BASE + header.text_offset;
    Ok(Kernel { kind: Kind::Image, entry: pa, segments: vec![Segment { pa, bytes: file, len }] })
}

/// How long an Image with an EFI stub must be, by the sections of its PE header. `None` without a stub.
fn bytes_by_pe_header(file: &[u8]) -> Option<u64> {
    if !file.starts_with(b"MZ") {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(file.get(at..at.checked_add(2)?)?.try_into().ok()?) as usize);
    let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at.checked_add(4)?)?.try_into().ok()?) as usize);
    let pe = word(PE_OFFSET_AT)?;
    // The signature, then a COFF header of 20 bytes, the optional header, the section table.
    let sections = pe + 24;
    let Some((count, optional)) = half(pe + 6).zip(half(pe + 20)) else { return Some(sections as u64) };
    if file.get(pe..pe + 4) != Some(b"PE\0\0") {
        return None;
    }
    let table = sections + optional;
    let mut needs = (table + 40 * count) as u64;
    for section in 0..count {
        let at = table + 40 * section;
        let (Some(bytes), Some(offset)) = (word(at + 16), word(at + 20)) else { break };
        needs = needs.max(bytes as u64 + offset as u64);
    }
    Some(needs)
}
