//! Files taken apart and put together, for tests of what reads them.

use crate::Digest;

/// The length of what is before the sections.
const HEAD: usize = 20;
/// The length of what is before the contents of a section.
const HEADER: usize = 32;

/// The name in a section's header, and its contents.
pub type Section = (Vec<u8>, Vec<u8>);

/// Each section of a file; its head apart.
#[must_use]
pub fn sections(file: &[u8]) -> (Vec<u8>, Vec<Section>) {
    let (head, mut rest) = file.split_at(HEAD);
    let mut all = Vec::new();
    while !rest.is_empty() {
        let word = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]) as usize;
        let (length, stored) = (word(8), word(12));
        let bytes = &rest[HEADER..HEADER + stored];
        let contents =
            if length == stored { bytes.to_vec() } else { lz4_flex::block::decompress(bytes, length).expect("LZ4") };
        all.push((rest[..8].to_vec(), contents));
        rest = &rest[HEADER + stored..];
    }
    (head.to_vec(), all)
}

/// The file of these sections, with checksums that are right.
#[must_use]
pub fn assemble(head: &[u8], sections: &[Section]) -> Vec<u8> {
    let mut file = head.to_vec();
    for (name, contents) in sections {
        let mut header = name.clone();
        for length in [contents.len() as u32; 2] {
            header.extend(length.to_le_bytes());
        }
        header.extend(Digest::of(contents).to_le_bytes());
        let own = Digest::of(&header);
        file.extend(header);
        file.extend(own.to_le_bytes());
        file.extend(contents);
    }
    file
}
