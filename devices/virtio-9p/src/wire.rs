//! Messages: fields read with distrust, and written.

use crate::spec::errno;

/// An error number of Linux, as the guest gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub u32);

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        // The numbers are those of arm64 on every host that has openat2 and the common table; all of ours are below 133.
        Self(error.raw_os_error().unsigned_abs())
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self(error.raw_os_error().map_or(errno::EIO, i32::unsigned_abs))
    }
}

/// The fields of a request, read one after the other. One that is cut off is a fault of the protocol.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], Refusal> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or(Refusal(errno::EPROTO))?;
        self.0 = rest;
        Ok(bytes)
    }
    fn number(&mut self, len: usize) -> Result<u64, Refusal> {
        Ok(self.bytes(len)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }
    /// An 8-bit number.
    pub fn u8(&mut self) -> Result<u8, Refusal> {
        Ok(self.number(1)? as u8)
    }
    /// A 16-bit number.
    pub fn u16(&mut self) -> Result<u16, Refusal> {
        Ok(self.number(2)? as u16)
    }
    /// A 32-bit number.
    pub fn u32(&mut self) -> Result<u32, Refusal> {
        Ok(self.number(4)? as u32)
    }
    /// A 64-bit number.
    pub fn u64(&mut self) -> Result<u64, Refusal> {
        self.number(8)
    }
    /// A string, which is bytes: names need not be UTF-8.
    pub fn string(&mut self) -> Result<&'a [u8], Refusal> {
        let len = self.u16()?;
        self.bytes(len.into())
    }
    /// The name of an entry of a directory: one component, and neither `.` nor `..`.
    pub fn name(&mut self) -> Result<&'a [u8], Refusal> {
        let name = self.string()?;
        if name.len() > 255 {
            return Err(Refusal(errno::ENAMETOOLONG));
        }
        let is_name = !name.is_empty() && name != b"." && name != b".." && !name.iter().any(|b| *b == b'/' || *b == 0);
        if is_name { Ok(name) } else { Err(Refusal(errno::EINVAL)) }
    }
}

/// What an answer's fields are put into.
#[derive(Debug, Default)]
pub struct Answer(pub Vec<u8>);

impl Answer {
    /// An 8-bit number.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }
    /// A 16-bit number.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    /// A 32-bit number.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    /// A 64-bit number.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }
    /// A string of at most 65535 bytes; a longer one is cut.
    pub fn string(&mut self, value: &[u8]) -> &mut Self {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.u16(value.len() as u16);
        self.0.extend(value);
        self
    }
    /// A qid: type, version, path.
    pub fn qid(&mut self, qid: Qid) -> &mut Self {
        self.u8(qid.kind).u32(qid.version).u64(qid.path)
    }
}

/// What names a file's contents to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Qid {
    /// As in [`crate::spec::qid`].
    pub kind: u8,
    /// How often the guest changed it.
    pub version: u32,
    /// A number of its own.
    pub path: u64,
}
