//! Packets of SPE records (Arm ARM, D17 "Statistical Profiling Extension Sample Record Specification"). The buffer may end
//! anywhere and hold anything: the decoder reads no byte behind its end, and refuses headers that it does not know.

use core::fmt;

/// A packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packet {
    /// Nothing; one byte.
    Padding,
    /// The record ends without a time.
    End,
    /// The record ends with this time.
    Timestamp(u64),
    /// Bits of what happened.
    Events(u64),
    /// Where data came from; the meaning is the implementation's.
    DataSource(u64),
    /// What kind of operation: its class (0 to 3) and the byte with details.
    Operation(u8, u8),
    /// CONTEXTIDR of that level.
    Context(ContextLevel, u32),
    /// Cycles; the index says of what.
    Counter(u8, u16),
    /// An address; the index says of what: see [`address_index`].
    Address(u8, u64),
}

/// Whose CONTEXTIDR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContextLevel {
    /// CONTEXTIDR_EL1.
    El1,
    /// CONTEXTIDR_EL2.
    El2,
}

/// Indices of address packets.
#[allow(missing_docs)]
pub mod address_index {
    pub const PC: u8 = 0;
    pub const BRANCH_TARGET: u8 = 1;
    pub const DATA_VIRTUAL: u8 = 2;
    pub const DATA_PHYSICAL: u8 = 3;
}

/// Why decoding stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PacketError {
    /// The packet goes beyond the buffer's end: the record was cut off.
    Truncated,
    /// No packet begins so. The header, extended ones with the prefix above.
    Unknown(u16),
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the buffer ends within a packet"),
            Self::Unknown(header) => write!(f, "no packet has the header {header:#x}"),
        }
    }
}

const PADDING: u8 = 0x00;
const END: u8 = 0x01;
const TIMESTAMP: u8 = 0x71;
const EXTENDED: u8 = 0x20;

/// The packet at the beginning of `bytes`, and its length, which is at least 1 and at most `bytes.len()`.
pub fn decode(bytes: &[u8]) -> Result<(Packet, usize), PacketError> {
    let (&first, rest) = bytes.split_first().ok_or(PacketError::Truncated)?;
    match first {
        PADDING => return Ok((Packet::Padding, 1)),
        END => return Ok((Packet::End, 1)),
        _ => {}
    }
    // An extended header has two more bits of the index, and the header proper behind it.
    let is_extended = first & 0xfc == EXTENDED;
    let (header, payload) = if is_extended {
        let (&second, rest) = rest.split_first().ok_or(PacketError::Truncated)?;
        (second, rest)
    } else {
        (first, rest)
    };
    let unknown =
        PacketError::Unknown(if is_extended { u16::from(first) << 8 | u16::from(header) } else { first.into() });
    let index = (if is_extended { (first & 3) << 3 } else { 0 }) | header & 7;
    let len = 1 << (header >> 4 & 3);
    // What the header is, and of which length it must be, comes before the payload is looked at.
    let make: fn(u8, u64, u8) -> Packet = match header {
        _ if header & 0xf8 == 0x98 && len == 2 => |_, value, index| Packet::Counter(index, value as u16),
        _ if header & 0xf8 == 0xb0 && len == 8 => |_, value, index| Packet::Address(index, value),
        _ if is_extended => return Err(unknown),
        TIMESTAMP => |_, value, _| Packet::Timestamp(value),
        _ if header & 0xcf == 0x42 => |_, value, _| Packet::Events(value),
        _ if header & 0xcf == 0x43 => |_, value, _| Packet::DataSource(value),
        _ if header & 0xfc == 0x48 => |header, value, _| Packet::Operation(header & 3, value as u8),
        0x64 => |_, value, _| Packet::Context(ContextLevel::El1, value as u32),
        0x65 => |_, value, _| Packet::Context(ContextLevel::El2, value as u32),
        _ => return Err(unknown),
    };
    let payload = payload.get(..len).ok_or(PacketError::Truncated)?;
    let value = payload.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    Ok((make(header, value, index), 1 + usize::from(is_extended) + len))
}

/// An address packet's parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// Bits 55:0.
    pub address: u64,
    /// Exception level, of a PC or branch target.
    pub level: u8,
    /// Non-secure.
    pub is_nonsecure: bool,
}

/// Takes the payload of a PC or branch target apart: NS bit 63, EL 62:61.
pub fn code_address(payload: u64) -> Address {
    Address { address: payload & ((1 << 56) - 1), level: (payload >> 61 & 3) as u8, is_nonsecure: payload >> 63 != 0 }
}

/// The packets of a buffer. After an error it ends: what follows cannot be told from payload.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    bytes: &'a [u8],
}

impl<'a> Packets<'a> {
    /// Of the bytes up to PMBPTR_EL1.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }
}

impl Iterator for Packets<'_> {
    type Item = Result<Packet, PacketError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let result = decode(self.bytes);
        self.bytes = result.map_or(&[], |(_, len)| &self.bytes[len..]);
        Some(result.map(|(packet, _)| packet))
    }
}

/// One sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// PC, as [`code_address`] takes it.
    pub pc: Option<u64>,
    /// CONTEXTIDR: with PMSCR.CX the PID. EL2's, where there are both: then the kernel runs there.
    pub context: Option<u32>,
    /// Event bits.
    pub events: u64,
    /// The data's virtual address.
    pub data: Option<u64>,
    /// Total latency in cycles (counter 0).
    pub latency: Option<u16>,
    /// When.
    pub time: Option<u64>,
}

/// The records of a buffer; a cut-off one at the end is an error, and so is an unknown packet.
#[derive(Clone, Debug)]
pub struct Records<'a>(Packets<'a>);

impl<'a> Records<'a> {
    /// Of the bytes up to PMBPTR_EL1.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(Packets::new(bytes))
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, PacketError>;
    fn next(&mut self) -> Option<Self::Item> {
        let mut record = Record::default();
        let mut has_begun = false;
        loop {
            let packet = match self.0.next() {
                Some(Ok(packet)) => packet,
                Some(Err(error)) => return Some(Err(error)),
                None => return has_begun.then_some(Err(PacketError::Truncated)),
            };
            has_begun |= packet != Packet::Padding;
            match packet {
                Packet::End => return Some(Ok(record)),
                Packet::Timestamp(time) => return Some(Ok(Record { time: Some(time), ..record })),
                Packet::Events(events) => record.events = events,
                Packet::Context(ContextLevel::El2, id) => record.context = Some(id),
                Packet::Context(ContextLevel::El1, id) => record.context = record.context.or(Some(id)),
                Packet::Counter(0, cycles) => record.latency = Some(cycles),
                Packet::Address(address_index::PC, address) => record.pc = Some(address),
                Packet::Address(address_index::DATA_VIRTUAL, address) => record.data = Some(address),
                Packet::Padding
                | Packet::DataSource(_)
                | Packet::Operation(..)
                | Packet::Counter(..)
                | Packet::Address(..) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn a_record_by_hand() {
        let mut bytes: Vec<u8> = [0, 0xb0].to_vec();
        bytes.extend(0xc000_0000_0040_1000u64.to_le_bytes());
        bytes.extend([0x65, 0x39, 5, 0, 0, 0x49, 1, 0x52, 0x02, 0x12, 0x98, 0x34, 0x02, 0xb2]);
        bytes.extend(0x7fff_1234u64.to_le_bytes());
        bytes.extend([0x71, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0x4a, 2, 0x01]);
        let records: Vec<_> = Records::new(&bytes).collect();
        let first = Record {
            pc: Some(0xc000_0000_0040_1000),
            context: Some(1337),
            events: 0x1202,
            data: Some(0x7fff_1234),
            latency: Some(0x234),
            time: Some(0x0102_0304_0506_0708),
        };
        assert_eq!(records, [Ok(first), Ok(Record::default())]);
        let pc = code_address(0xc000_0000_0040_1000);
        assert_eq!(pc, Address { address: 0x40_1000, level: 2, is_nonsecure: true });
    }

    #[test]
    fn unknown_headers_are_refused_and_nothing_follows() {
        assert_eq!(decode(&[0x66, 0, 0, 0, 0]), Err(PacketError::Unknown(0x66)));
        assert_eq!(decode(&[0x20, 0x71, 0, 0, 0, 0, 0, 0, 0, 0]), Err(PacketError::Unknown(0x2071)));
        assert_eq!(decode(&[0x21, 0x99, 1, 2]), Ok((Packet::Counter(9, 0x201), 4)));
        let packets: Vec<_> = Packets::new(&[0xff, 0x01, 0x01]).collect();
        assert_eq!(packets, [Err(PacketError::Unknown(0xff))]);
    }

    proptest! {
        /// Whatever the bytes: a packet lies within them, and cutting it off anywhere is noticed.
        #[test]
        fn no_byte_behind_the_end_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            match decode(&bytes) {
                Ok((packet, len)) => {
                    prop_assert!((1..=10).contains(&len) && len <= bytes.len());
                    prop_assert_eq!(decode(&bytes[..len]), Ok((packet, len)));
                    for cut in 0..len {
                        prop_assert_eq!(decode(&bytes[..cut]), Err(PacketError::Truncated));
                    }
                }
                Err(PacketError::Truncated) => prop_assert!(bytes.len() < 10),
                Err(PacketError::Unknown(_)) => {}
            }
            let (packets, records) = (Packets::new(&bytes).count(), Records::new(&bytes).count());
            prop_assert!(packets <= bytes.len() && records <= packets);
        }

        /// Headers in the manual's ranges make packets of the length that their bits 5:4 say, and no others do.
        #[test]
        fn lengths_are_in_the_header(header in 1u8.., payload in any::<[u8; 8]>()) {
            let mut bytes = [header; 9];
            bytes[1..].copy_from_slice(&payload);
            if let Ok((packet, len)) = decode(&bytes) {
                let is_long = !matches!(packet, Packet::End) && header & 0xfc != 0x20;
                prop_assert!(!is_long || len == 1 + (1 << (header >> 4 & 3)));
            }
        }
    }
}
