//! Which shared libraries a program names (the gABI's dynamic section; ELF64, little-endian).

/// The `DT_NEEDED` names of an AArch64 program or library, in its order; none for what is no dynamic ELF.
pub fn needed(file: &[u8]) -> Vec<String> {
    Elf(file).needed().unwrap_or_default()
}

const PT_LOAD: u64 = 1;
const PT_DYNAMIC: u64 = 2;
const DT_NULL: u64 = 0;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const EM_AARCH64: u64 = 183;

struct Elf<'a>(&'a [u8]);

/// A program header's type, offset in the file, address, and size in the file.
#[derive(Clone, Copy)]
struct Segment {
    kind: u64,
    offset: u64,
    address: u64,
    size: u64,
}

impl Elf<'_> {
    fn number(&self, at: u64, bytes: usize) -> Option<u64> {
        let at = usize::try_from(at).ok()?;
        let field = self.0.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn segments(&self) -> Option<Vec<Segment>> {
        let is_ours = self.0.starts_with(b"\x7fELF\x02\x01") && self.number(18, 2)? == EM_AARCH64;
        let (table, size, count) = (self.number(32, 8)?, self.number(54, 2)?, self.number(56, 2)?);
        (0..count)
            .map(|index| {
                let at = table.checked_add(index * size)?;
                Some(Segment {
                    kind: self.number(at, 4)?,
                    offset: self.number(at.checked_add(8)?, 8)?,
                    address: self.number(at.checked_add(16)?, 8)?,
                    size: self.number(at.checked_add(32)?, 8)?,
                })
            })
            .collect::<Option<Vec<_>>>()
            .filter(|_| is_ours)
    }

    fn needed(&self) -> Option<Vec<String>> {
        let segments = self.segments()?;
        let dynamic = segments.iter().find(|segment| segment.kind == PT_DYNAMIC)?;
        let entry = |index: u64| {
            Some((self.number(dynamic.offset + index * 16, 8)?, self.number(dynamic.offset + index * 16 + 8, 8)?))
        };
        let entries: Vec<(u64, u64)> =
            (0..dynamic.size / 16).map_while(entry).take_while(|(tag, _)| *tag != DT_NULL).collect();
        let (_, strings) = *entries.iter().find(|(tag, _)| *tag == DT_STRTAB)?;
        let place = |address: u64| {
            let holds =
                |s: &&Segment| s.kind == PT_LOAD && (s.address..s.address.saturating_add(s.size)).contains(&address);
            segments.iter().find(holds).map(|s| address - s.address + s.offset)
        };
        let strings = place(strings)?;
        let name = |offset: u64| {
            let rest = self.0.get(usize::try_from(strings.checked_add(offset)?).ok()?..)?;
            let length = rest.iter().position(|byte| *byte == 0)?;
            Some(String::from_utf8_lossy(&rest[..length]).into_owned())
        };
        entries.iter().filter(|(tag, _)| *tag == DT_NEEDED).map(|(_, offset)| name(*offset)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(file: &mut [u8], at: usize, value: u64, bytes: usize) {
        file[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
    }

    /// Two segments behind the header: everything loaded at 0x10000, and the dynamic section at 0x100.
    fn library(names: &[&str]) -> Vec<u8> {
        let mut file = vec![0; 0x400];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        put(&mut file, 18, EM_AARCH64, 2);
        put(&mut file, 32, 64, 8);
        put(&mut file, 54, 56, 2);
        put(&mut file, 56, 2, 2);
        for (at, kind, offset, size) in [(64, PT_LOAD, 0, 0x400), (120, PT_DYNAMIC, 0x100, 0x100)] {
            put(&mut file, at, kind, 4);
            put(&mut file, at + 8, offset, 8);
            put(&mut file, at + 16, 0x10000 + offset, 8);
            put(&mut file, at + 32, size, 8);
        }
        let mut strings = vec![0];
        let mut entries = vec![(DT_STRTAB, 0x10200)];
        for name in names {
            entries.push((DT_NEEDED, strings.len() as u64));
            strings.extend_from_slice(name.as_bytes());
            strings.push(0);
        }
        file[0x200..0x200 + strings.len()].copy_from_slice(&strings);
        for (index, (tag, value)) in entries.into_iter().enumerate() {
            put(&mut file, 0x100 + index * 16, tag, 8);
            put(&mut file, 0x108 + index * 16, value, 8);
        }
        file
    }

    #[test]
    fn names_are_read_in_order() {
        assert_eq!(needed(&library(&["libz.so.1", "libc.so.6"])), ["libz.so.1", "libc.so.6"]);
    }

    #[test]
    fn what_is_no_library_of_ours_needs_nothing() {
        let mut x86 = library(&["libc.so.6"]);
        put(&mut x86, 18, 62, 2);
        assert_eq!(needed(&x86), [""; 0]);
        assert_eq!(needed(b"#!/bin/sh"), [""; 0]);
        for length in 0..0x400 {
            needed(&library(&["libc.so.6"])[..length]);
        }
    }
}
