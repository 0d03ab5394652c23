//! Bit patterns of encodings, written as in the manual's diagrams.

/// Fixed bits of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Which bits are fixed.
    pub mask: u32,
    /// Their values.
    pub value: u32,
}

impl Pattern {
    /// Parses 32 places, most significant first: `0` and `1` are fixed, any letter is a field's bit, spaces and `_`
    /// only separate. At compile time, so a pattern of another length does not build.
    #[must_use]
    pub const fn parse(text: &str) -> Self {
        let bytes = text.as_bytes();
        let (mut mask, mut value, mut places, mut i) = (0u32, 0u32, 0, 0);
        while i < bytes.len() {
            let c = bytes[i];
            i += 1;
            if c == b' ' || c == b'_' {
                continue;
            }
            places += 1;
            mask <<= 1;
            value <<= 1;
            match c {
                b'0' => mask |= 1,
                b'1' => {
                    mask |= 1;
                    value |= 1;
                }
                b'a'..=b'z' | b'A'..=b'Z' => {}
                _ => panic!("a pattern holds 0, 1, letters, spaces and _"),
            }
        }
        assert!(places == 32, "a pattern has 32 places");
        Self { mask, value }
    }

    /// Does `word` have the fixed bits?
    #[inline(always)]
    #[must_use]
    pub const fn matches(self, word: u32) -> bool {
        word & self.mask == self.value
    }

    /// Is there a word that both match?
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        let both = self.mask & other.mask;
        self.value & both == other.value & both
    }
}
