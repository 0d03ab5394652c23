//! Choices out of bytes. Where the bytes end, all further choices are the first.

/// Bytes that are taken one after the other.
#[derive(Clone, Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    /// Is nothing left?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// At most `len` bytes.
    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }
    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes(self.0.len())
    }
    fn number(&mut self, len: usize) -> u64 {
        self.bytes(len).iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }
    /// 8 bits.
    pub fn u8(&mut self) -> u8 {
        self.number(1) as u8
    }
    /// 16 bits.
    pub fn u16(&mut self) -> u16 {
        self.number(2) as u16
    }
    /// 32 bits.
    pub fn u32(&mut self) -> u32 {
        self.number(4) as u32
    }
    /// 64 bits.
    pub fn u64(&mut self) -> u64 {
        self.number(8)
    }
    /// A number below `end`, by one byte.
    pub fn below(&mut self, end: usize) -> usize {
        usize::from(self.u8()) % end
    }
    /// One of `choices`, by one byte.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
    /// A value that hardware is likely to tell from others: small, one bit, all bits, or any.
    pub fn value(&mut self) -> u64 {
        match self.u8() {
            0 => 0,
            1 => u64::MAX,
            2 => self.u64(),
            3 => self.u32().into(),
            4 => self.u16().into(),
            5 => !u64::from(self.u8()),
            kind @ 6..=69 => 1 << (kind - 6),
            kind => u64::from(kind - 69),
        }
    }
}
