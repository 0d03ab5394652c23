//! The file: a head, sections in a fixed order, an end.
//!
//! The head is [`MAGIC`], the format's [`VERSION`], and the maker's mark. A section is its name (8 bytes, padded with
//! zeros), the length of its contents, the length as stored, a checksum of what is stored, a checksum of these fields;
//! then its contents, by LZ4 where that is shorter. The end is a section without contents. Numbers are little-endian.

use std::io::{self, Read, Write};

use thiserror::Error;

use crate::{Codec, Digest, Invalid};

/// How every snapshot begins. As with PNG, a transfer as text does not leave it whole.
const MAGIC: [u8; 8] = *b"\x89VAMB\r\n\x1a";

/// The version of the format. It rises with every change of what any section holds.
pub const VERSION: u32 = 4;

/// No section is longer than this, in bytes.
pub const MAX_SECTION: usize = 128 << 20;

const END: &str = "end";

/// A snapshot cannot be written, or cannot be used.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// The host refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not begin as a snapshot does.
    #[error("not a snapshot of this tool")]
    Foreign,
    /// The format is another one.
    #[error("a snapshot in format {found}; this version of the tool has format {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// The tool that made it models the machine otherwise.
    #[error("a snapshot of another version of the tool, whose machines differ; take it anew")]
    Maker,
    /// It ends too early.
    #[error("the snapshot is cut short")]
    Truncated,
    /// A checksum is wrong.
    #[error("the snapshot is damaged: the checksum of {section} is wrong")]
    Damaged {
        /// Where.
        section: String,
    },
    /// Something else comes where a section should.
    #[error("the snapshot has {found} where {expected} should be")]
    Order {
        /// The section that should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Something follows the end.
    #[error("the snapshot has something behind its end")]
    Trailing,
    /// A section is longer than any can be.
    #[error("section {section} of the snapshot has {bytes} bytes, more than the {MAX_SECTION} that can be used")]
    Length {
        /// Where.
        section: String,
        /// Its length in bytes.
        bytes: u64,
    },
    /// A value cannot be.
    #[error("section {section} of the snapshot: {source}")]
    Value {
        /// Where.
        section: String,
        /// What is wrong.
        source: Invalid,
    },
}

/// The fields before a section's contents.
struct Header {
    name: [u8; 8],
    length: u32,
    stored: u32,
    checksum: u64,
}

impl Header {
    const BYTES: usize = 32;

    fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.name);
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.stored.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.checksum.to_le_bytes());
        let own = Digest::of(&bytes[..24]);
        bytes[24..].copy_from_slice(&own.to_le_bytes());
        bytes
    }

    /// `None` where its checksum is wrong.
    fn of_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let double = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let mut name = [0; 8];
        name.copy_from_slice(&bytes[..8]);
        let header = Self { name, length: word(8), stored: word(12), checksum: double(16) };
        (double(24) == Digest::of(&bytes[..24])).then_some(header)
    }

    fn name(&self) -> String {
        String::from_utf8_lossy(&self.name).trim_end_matches('\0').escape_default().to_string()
    }
}

/// A name as a header has it; longer ones are cut.
fn name_field(name: &str) -> [u8; 8] {
    let mut field = [0; 8];
    for (into, byte) in field.iter_mut().zip(name.bytes()) {
        *into = byte;
    }
    field
}

/// Writes a snapshot.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins one. `maker` tells versions of the tool apart whose sections mean different things.
    pub fn new(mut out: W, maker: u64) -> Result<Self, SnapshotError> {
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend(maker.to_le_bytes());
        out.write_all(&head)?;
        Ok(Self { out })
    }

    /// Writes a section, whose contents `fill` saves.
    pub fn section(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut Codec<'_>) -> Result<(), Invalid>,
    ) -> Result<(), SnapshotError> {
        let value = |source| SnapshotError::Value { section: name.to_owned(), source };
        let mut contents = Vec::new();
        fill(&mut Codec::save(&mut contents)).map_err(value)?;
        if contents.len() > MAX_SECTION {
            return Err(SnapshotError::Length { section: name.to_owned(), bytes: contents.len() as u64 });
        }
        let packed = lz4_flex::block::compress(&contents);
        let stored = if packed.len() < contents.len() { &packed } else { &contents };
        let header = Header {
            name: name_field(name),
            length: contents.len() as u32,
            stored: stored.len() as u32,
            checksum: Digest::of(stored),
        };
        self.out.write_all(&header.to_bytes())?;
        Ok(self.out.write_all(stored)?)
    }

    /// Ends the snapshot; gives back what it was written to.
    pub fn finish(mut self) -> Result<W, SnapshotError> {
        self.section(END, |_| Ok(()))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Reads a snapshot.
pub struct Reader<R> {
    input: R,
    next: Option<Header>,
}

impl<R: Read> Reader<R> {
    /// Looks at the head. `maker` is what the tool would give to [`Writer::new`].
    pub fn new(mut input: R, maker: u64) -> Result<Self, SnapshotError> {
        let mut magic = [0; MAGIC.len()];
        // A file shorter than that is no snapshot.
        match input.read_exact(&mut magic) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(SnapshotError::Foreign),
            result => result?,
        }
        if magic != MAGIC {
            return Err(SnapshotError::Foreign);
        }
        let mut this = Self { input, next: None };
        let mut version = [0; 4];
        this.fill(&mut version)?;
        match u32::from_le_bytes(version) {
            VERSION => {}
            found => return Err(SnapshotError::Version { found }),
        }
        let mut mark = [0; 8];
        this.fill(&mut mark)?;
        if u64::from_le_bytes(mark) != maker {
            return Err(SnapshotError::Maker);
        }
        Ok(this)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), SnapshotError> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => SnapshotError::Truncated,
            _ => SnapshotError::Io(error),
        })
    }

    fn header(&mut self, expected: &str) -> Result<&Header, SnapshotError> {
        if self.next.is_none() {
            let mut bytes = [0; Header::BYTES];
            self.fill(&mut bytes)?;
            let damaged = || SnapshotError::Damaged { section: format!("what should be section {expected}") };
            self.next = Some(Header::of_bytes(&bytes).ok_or_else(damaged)?);
        }
        self.next.as_ref().ok_or(SnapshotError::Truncated)
    }

    /// Is the next section one of that name?
    pub fn is_next(&mut self, name: &str) -> Result<bool, SnapshotError> {
        Ok(self.header(name)?.name == name_field(name))
    }

    /// Reads the next section, which must be that of `name`; `take` loads its contents, all of them.
    pub fn section(
        &mut self,
        name: &str,
        take: impl FnOnce(&mut Codec<'_>) -> Result<(), Invalid>,
    ) -> Result<(), SnapshotError> {
        let contents = self.contents(name)?;
        let mut codec = Codec::load(&contents);
        take(&mut codec)
            .and_then(|()| codec.finish())
            .map_err(|source| SnapshotError::Value { section: name.to_owned(), source })
    }

    fn contents(&mut self, name: &str) -> Result<Vec<u8>, SnapshotError> {
        let header = self.header(name)?;
        let section = || name.to_owned();
        if header.name != name_field(name) {
            return Err(SnapshotError::Order { expected: section(), found: header.name() });
        }
        let (length, bytes, checksum) = (header.length as usize, header.stored, header.checksum);
        // LZ4 makes at most 255 bytes of one.
        if length > MAX_SECTION || bytes as usize > MAX_SECTION || length > (bytes as usize).saturating_mul(255) {
            return Err(SnapshotError::Length { section: section(), bytes: u64::from(header.length.max(bytes)) });
        }
        self.next = None;
        let mut stored = Vec::new();
        // Grows with what is read.
        self.input.by_ref().take(bytes.into()).read_to_end(&mut stored)?;
        if stored.len() != bytes as usize {
            return Err(SnapshotError::Truncated);
        }
        if Digest::of(&stored) != checksum {
            return Err(SnapshotError::Damaged { section: section() });
        }
        if length == stored.len() {
            return Ok(stored);
        }
        let mut contents = vec![0; length];
        match lz4_flex::block::decompress_into(&stored, &mut contents) {
            Ok(done) if done == length => Ok(contents),
            _ => Err(SnapshotError::Damaged { section: section() }),
        }
    }

    /// Nothing more is there.
    pub fn finish(mut self) -> Result<(), SnapshotError> {
        self.section(END, |_| Ok(()))?;
        let mut byte = [0];
        match self.input.read(&mut byte)? {
            0 => Ok(()),
            _ => Err(SnapshotError::Trailing),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Persist;

    fn file() -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), 5).unwrap();
        writer.section("zeros", |codec| vec![0u8; 5000].persist(codec)).unwrap();
        writer.section("number", |codec| 77u64.persist(codec)).unwrap();
        writer.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<u8>, u64), SnapshotError> {
        let mut reader = Reader::new(bytes, 5)?;
        let (mut zeros, mut number) = (Vec::new(), 0);
        reader.section("zeros", |codec| zeros.persist(codec))?;
        assert!(reader.is_next("number")?);
        reader.section("number", |codec| number.persist(codec))?;
        reader.finish().map(|()| (zeros, number))
    }

    #[test]
    fn sections_come_back() {
        let bytes = file();
        assert!(bytes.len() < 300, "zeros take no room");
        assert_eq!(read(&bytes).unwrap(), (vec![0; 5000], 77));
    }

    #[test]
    fn what_is_cut_flipped_or_foreign_is_refused() {
        let bytes = file();
        for cut in 0..bytes.len() {
            let error = read(&bytes[..cut]).unwrap_err();
            assert!(matches!(error, SnapshotError::Foreign | SnapshotError::Truncated), "{cut}: {error}");
        }
        for at in 0..bytes.len() {
            for mask in [1, 0x80, 0xff] {
                let mut flipped = bytes.clone();
                flipped[at] ^= mask;
                assert!(read(&flipped).is_err(), "byte {at}");
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(matches!(read(&longer), Err(SnapshotError::Trailing)));
        assert!(matches!(Reader::new(&bytes[..], 6).err(), Some(SnapshotError::Maker)));
        let mut reader = Reader::new(&bytes[..], 5).unwrap();
        assert!(matches!(reader.section("number", |_| Ok(())), Err(SnapshotError::Order { .. })));
    }

    #[test]
    fn a_length_is_not_believed() {
        let header =
            Header { name: name_field("zeros"), length: MAX_SECTION as u32, stored: 8, checksum: Digest::of(&[0; 8]) };
        let mut bytes = file()[..20].to_vec();
        bytes.extend(header.to_bytes());
        bytes.extend([0; 8]);
        assert!(matches!(read(&bytes), Err(SnapshotError::Length { .. })));
    }
}
