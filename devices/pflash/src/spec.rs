//! Facts of the flash: commands and status of Intel's command set (Intel StrataFlash J3 datasheet, 290667), the query
//! table (Common Flash Interface, JESD68.01, and its list of command sets, JEP137), and the shape of a bank on the `virt`
//! board: two 16-bit chips side by side.

/// Bytes of a bank.
pub const BANK: u64 = 64 << 20;
/// Bytes that are erased together, in both chips.
pub const BLOCK: u64 = 256 << 10;
/// Blocks of a bank.
pub const BLOCKS: usize = (BANK / BLOCK) as usize;
/// Chips side by side.
pub const CHIPS: u64 = 2;
/// Bytes of a bank's word: a 16-bit half for each chip.
pub const WORD: u64 = 4;
/// Most words of a buffered program.
pub const BUFFER: usize = 1 << (BUFFER_LOG2 - 1);
/// Bytes of one chip's buffer, as a power of 2.
const BUFFER_LOG2: u8 = 11;

/// Commands: the low byte of what is written.
pub mod command {
    /// Word program, the older name.
    pub const PROGRAM_ALTERNATE: u8 = 0x10;
    /// Block erase, to be confirmed.
    pub const ERASE: u8 = 0x20;
    /// Word program.
    pub const PROGRAM: u8 = 0x40;
    /// Clear status register.
    pub const CLEAR_STATUS: u8 = 0x50;
    /// Block lock bits: what follows says what.
    pub const LOCK_SETUP: u8 = 0x60;
    /// Read status register.
    pub const READ_STATUS: u8 = 0x70;
    /// Read identifier codes.
    pub const READ_ID: u8 = 0x90;
    /// Read query.
    pub const QUERY: u8 = 0x98;
    /// Program/erase suspend: nothing lasts long enough to be suspended.
    pub const SUSPEND: u8 = 0xb0;
    /// Write to buffer.
    pub const BUFFERED_PROGRAM: u8 = 0xe8;
    /// Read array.
    pub const READ_ARRAY: u8 = 0xff;
    /// The confirmation of erase, buffer and suspend (resume); behind [`LOCK_SETUP`]: clear the lock bit.
    pub const CONFIRM: u8 = 0xd0;
    /// Behind [`LOCK_SETUP`]: set the lock bit.
    pub const LOCK: u8 = 0x01;
    /// Behind [`LOCK_SETUP`]: set it until reset.
    pub const LOCK_DOWN: u8 = 0x2f;
}

/// Bits of the status register.
pub mod status {
    /// SR.7: ready. Everything is done at once.
    pub const READY: u8 = 0x80;
    /// SR.5: an erase, or clearing lock bits, failed.
    pub const ERASE: u8 = 0x20;
    /// SR.4: a program, or setting a lock bit, failed. With [`ERASE`]: a sequence of commands that is none.
    pub const PROGRAM: u8 = 0x10;
    /// SR.1: the block is locked.
    pub const LOCKED: u8 = 0x02;
    /// A sequence of commands that is none.
    pub const SEQUENCE: u8 = ERASE | PROGRAM;
}

/// The maker's code: Intel.
pub const MAKER: u8 = 0x89;
/// The device's code, as the `virt` board has it.
pub const DEVICE: u8 = 0x18;

/// What the query table holds at `index`, by bytes of a chip; 0 behind its end.
pub fn query(index: u64) -> u8 {
    QUERY.get(usize::try_from(index).unwrap_or(usize::MAX)).copied().unwrap_or(0)
}

const fn table() -> [u8; 0x40] {
    let mut table = [0; 0x40];
    (table[0x10], table[0x11], table[0x12]) = (b'Q', b'R', b'Y');
    // Command set: Intel/Sharp extended; where its own table is.
    (table[0x13], table[0x15]) = (0x01, 0x31);
    // Supply voltage: 4.5 V to 5.5 V; no programming voltage.
    (table[0x1b], table[0x1c]) = (0x45, 0x55);
    // Typical times as powers of 2: word and buffer program in microseconds, block erase in milliseconds; and by how much
    // the longest exceed them.
    (table[0x1f], table[0x20], table[0x21]) = (0x07, 0x07, 0x0a);
    (table[0x23], table[0x24], table[0x25]) = (0x04, 0x04, 0x04);
    // A chip's bytes as a power of 2; 8 and 16 bits wide; its buffer.
    table[0x27] = (BANK / CHIPS).trailing_zeros() as u8;
    table[0x28] = 0x02;
    table[0x2a] = BUFFER_LOG2;
    // One region of blocks: their number less 1, a block's bytes in a chip by 256.
    table[0x2c] = 1;
    table[0x2d] = (BLOCKS - 1) as u8;
    table[0x2e] = ((BLOCKS - 1) >> 8) as u8;
    table[0x2f] = ((BLOCK / CHIPS) >> 8) as u8;
    table[0x30] = ((BLOCK / CHIPS) >> 16) as u8;
    // The command set's own table, version 1.0: lock bits at once (bit 5), cleared at power-on.
    (table[0x31], table[0x32], table[0x33], table[0x34], table[0x35]) = (b'P', b'R', b'I', b'1', b'0');
    table[0x36] = 1 << 5;
    // Which of a block's lock bits can be read: the lock bit.
    table[0x3b] = 1;
    table
}

const QUERY: [u8; 0x40] = table();
