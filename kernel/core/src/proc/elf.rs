//! ELF files, as far as loading needs them (System V ABI, chapter 5; AArch64 supplement). Input is any file: everything is
//! checked.

use alloc::vec::Vec;

use crate::errno::{Errno, Result};

/// Bytes of the header.
pub const HEADER: usize = 64;
/// Bytes of a program header.
pub const PROGRAM_HEADER: usize = 56;
/// Most program headers that are read.
const MAX_PROGRAM_HEADERS: u16 = 128;

/// Fixed or position-independent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// ET_EXEC
    Fixed,
    /// ET_DYN
    Relocatable,
}

/// The header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Fixed or position-independent.
    pub kind: Kind,
    /// Where it begins, as linked.
    pub entry: u64,
    /// Where the program headers are in the file.
    pub program_headers: u64,
    /// How many.
    pub count: u16,
}

/// A program header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramHeader {
    /// PT_*
    pub kind: u32,
    /// PF_X 1, PF_W 2, PF_R 4
    pub flags: u32,
    /// In the file.
    pub offset: u64,
    /// As linked.
    pub address: u64,
    /// Bytes in the file.
    pub file_size: u64,
    /// Bytes in memory; the rest is zeros.
    pub memory_size: u64,
    /// Of the address.
    pub align: u64,
}

/// PT_LOAD
pub const LOAD: u32 = 1;
/// PT_INTERP
pub const INTERP: u32 = 3;
/// PT_PHDR
pub const PHDR: u32 = 6;
/// PT_GNU_PROPERTY
pub const GNU_PROPERTY: u32 = 0x6474_e553;
/// Most bytes of that segment.
pub const MAX_PROPERTY: u64 = 1024;

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    bytes.get(at..at + N).and_then(|part| part.try_into().ok()).ok_or(Errno::ENOEXEC)
}
fn half(bytes: &[u8], at: usize) -> Result<u16> {
    number(bytes, at).map(u16::from_le_bytes)
}
fn word(bytes: &[u8], at: usize) -> Result<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}
fn long(bytes: &[u8], at: usize) -> Result<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// Reads the header; ENOEXEC unless it is of a little-endian AArch64 program.
pub fn header(bytes: &[u8]) -> Result<Header> {
    const EM_AARCH64: u16 = 183;
    // Class 64, little-endian, version 1.
    if bytes.get(..7) != Some(b"\x7fELF\x02\x01\x01".as_slice()) || half(bytes, 18)? != EM_AARCH64 {
        return Err(Errno::ENOEXEC);
    }
    let kind = match half(bytes, 16)? {
        2 => Kind::Fixed,
        3 => Kind::Relocatable,
        _ => return Err(Errno::ENOEXEC),
    };
    let count = half(bytes, 56)?;
    if usize::from(half(bytes, 54)?) != PROGRAM_HEADER || count == 0 || count > MAX_PROGRAM_HEADERS {
        return Err(Errno::ENOEXEC);
    }
    Ok(Header { kind, entry: long(bytes, 24)?, program_headers: long(bytes, 32)?, count })
}

/// Reads program headers that lie side by side.
pub fn program_headers(bytes: &[u8]) -> Result<Vec<ProgramHeader>> {
    bytes
        .chunks_exact(PROGRAM_HEADER)
        .map(|bytes| {
            let header = ProgramHeader {
                kind: word(bytes, 0)?,
                flags: word(bytes, 4)?,
                offset: long(bytes, 8)?,
                address: long(bytes, 16)?,
                file_size: long(bytes, 32)?,
                memory_size: long(bytes, 40)?,
                align: long(bytes, 48)?,
            };
            if header.kind == LOAD {
                let end = header.address.checked_add(header.memory_size);
                let is_sound = header.file_size <= header.memory_size
                    && end.is_some_and(|end| end < crate::mm::USER_END)
                    && header.offset.checked_add(header.file_size).is_some()
                    && header.offset % crate::mm::PAGE == header.address % crate::mm::PAGE;
                if !is_sound {
                    return Err(Errno::ENOEXEC);
                }
            }
            Ok(header)
        })
        .collect()
}

/// Does a PT_GNU_PROPERTY segment say GNU_PROPERTY_AARCH64_FEATURE_1_BTI (AArch64 ELF supplement, "Program Property")? One
/// note: sizes of name and description, type, name, then properties of type, size and data, padded to 8 bytes. ENOEXEC: it
/// is none.
pub fn wants_guard(note: &[u8]) -> Result<bool> {
    const NT_GNU_PROPERTY_TYPE_0: u32 = 5;
    const FEATURE_1_AND: u32 = 0xc000_0000;
    const BTI: u32 = 1;
    let (name_size, size, kind) = (word(note, 0)?, word(note, 4)?, word(note, 8)?);
    if name_size != 4 || kind != NT_GNU_PROPERTY_TYPE_0 || number(note, 12)? != *b"GNU\0" {
        return Err(Errno::ENOEXEC);
    }
    let properties = note.get(16..).and_then(|rest| rest.get(..size as usize)).ok_or(Errno::ENOEXEC)?;
    let mut at = 0;
    while at < properties.len() {
        let (kind, len) = (word(properties, at)?, word(properties, at + 4)? as usize);
        let data = properties.get(at + 8..).and_then(|rest| rest.get(..len)).ok_or(Errno::ENOEXEC)?;
        if kind == FEATURE_1_AND {
            let data: [u8; 4] = data.try_into().map_err(|_| Errno::ENOEXEC)?;
            return Ok(u32::from_le_bytes(data) & BTI != 0);
        }
        at += 8 + len.next_multiple_of(8);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Vec<u8> {
        let mut bytes = alloc::vec![0u8; HEADER];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[16] = 2;
        bytes[18] = 183;
        bytes[24..32].copy_from_slice(&0x40_0078u64.to_le_bytes());
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 2;
        bytes
    }

    #[test]
    fn a_header_is_read() {
        let header = header(&sample()).unwrap();
        assert_eq!(header, Header { kind: Kind::Fixed, entry: 0x40_0078, program_headers: 64, count: 2 });
    }

    #[test]
    fn other_machines_are_refused() {
        for (at, value) in [(0, 0), (4, 1), (5, 2), (16, 1), (18, 62), (54, 32), (56, 0), (57, 1)] {
            let mut bytes = sample();
            bytes[at] = value;
            assert_eq!(header(&bytes), Err(Errno::ENOEXEC), "byte {at}");
        }
    }

    /// What `gcc -mbranch-protection=standard` leaves.
    const NOTE: [u8; 32] =
        [4, 0, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, b'G', b'N', b'U', 0, 0, 0, 0, 0xc0, 4, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];

    #[test]
    fn properties_say_whether_code_is_guarded() {
        assert_eq!(wants_guard(&NOTE), Ok(true));
        let with = |at: usize, value: u8| {
            let mut note = NOTE;
            note[at] = value;
            wants_guard(&note)
        };
        assert_eq!((with(24, 2), with(19, 0xc1)), (Ok(false), Ok(false)));
        for (at, value) in [(0, 5), (8, 1), (12, b'g'), (4, 17), (20, 3), (20, 9), (23, 255)] {
            assert_eq!(with(at, value), Err(Errno::ENOEXEC), "byte {at}");
        }
        assert!((0..NOTE.len()).all(|len| wants_guard(&NOTE[..len]).is_err()));
    }

    proptest! {
        #[test]
        fn any_property_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), head in any::<bool>()) {
            let mut note = if head { NOTE[..16].to_vec() } else { Vec::new() };
            note.extend(&bytes);
            let _ = wants_guard(&note);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = header(&bytes);
            for header in program_headers(&bytes).into_iter().flatten().filter(|header| header.kind == LOAD) {
                prop_assert!(header.address + header.memory_size < crate::mm::USER_END);
            }
        }
    }
}
