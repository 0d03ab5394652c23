//! Parallel NOR flash with Intel's command set, as firmware of the `virt` board uses it: a bank of 64 MiB,
//! two 16-bit chips side by side that get the same commands.
//!
//! The contents lie behind guest RAM ([`bus::Ram::read_flash`]), so that code in them runs. Loads see what the commands ask
//! for: array, status, identifier or query table; fetches and table walks always see the array. A bank that the user gave for
//! reading only refuses to be programmed and erased by its status. What is programmed into a bank that is kept goes to its
//! file before the guest finds the status ready; what the host refuses shows as a failed program or erase.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bus::{Device, DeviceFault, MmioAccess, Ram, Size};
use snapshot::{Codec, Digest, Invalid, persist_fields, persist_names};
use thiserror::Error;

pub mod spec;
#[cfg(test)]
mod tests;

use spec::{BANK, BLOCK, BLOCKS, BUFFER, WORD, command, status};

/// A file cannot hold what the guest writes to flash.
#[derive(Debug, Error)]
pub enum KeepError {
    /// It cannot be opened for writing.
    #[error("cannot open {} to keep what the guest writes to flash: {source}; copy it to where it can be written, or leave out `,keep`", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The host's reason.
        source: io::Error,
    },
    /// It is no file.
    #[error("{} is not a regular file: it cannot keep what the guest writes to flash", .path.display())]
    Kind {
        /// What was named.
        path: PathBuf,
    },
    /// Another run has it.
    #[error("{} is in use by another run, which keeps in it what its guest writes to flash", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
}

/// A file that has what a bank has. It is locked as long as it is open, and grows up to the bank's length where the guest
/// writes behind its end.
#[derive(Debug)]
pub struct Kept(File);

impl Kept {
    /// Opens the file at `path`, which has to be there.
    pub fn open(path: &Path) -> Result<Self, KeepError> {
        let failed = |source| KeepError::Open { path: path.to_owned(), source };
        // Looked at before it is opened: opening a pipe would wait for its other end.
        if !std::fs::metadata(path).map_err(failed)?.is_file() {
            return Err(KeepError::Kind { path: path.to_owned() });
        }
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        // Some file systems know no locks; that is no reason not to use the file.
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(KeepError::InUse { path: path.to_owned() });
        }
        Ok(Self(file))
    }
}

/// What becomes of what the guest writes.
#[derive(Debug)]
pub enum Writes {
    /// It is refused.
    Refused,
    /// It is there until the machine ends.
    Forgotten,
    /// It goes to a file.
    Kept(Kept),
}

/// What loads see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Array,
    Status,
    Identifier,
    Query,
}

/// What the next write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expects {
    Command,
    /// The value to program.
    Value,
    EraseConfirm,
    LockCommand,
    /// How many words, less 1, go into the buffer.
    BufferCount,
    /// A word of the buffer.
    BufferWord,
    BufferConfirm,
}

persist_names!(Mode { Array = 0, Status = 1, Identifier = 2, Query = 3 });
persist_names!(Expects {
    Command = 0,
    Value = 1,
    EraseConfirm = 2,
    LockCommand = 3,
    BufferCount = 4,
    BufferWord = 5,
    BufferConfirm = 6,
});

/// A block's lock bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lock {
    #[default]
    Open,
    Locked,
    /// Until reset.
    LockedDown,
}

persist_names!(Lock { Open = 0, Locked = 1, LockedDown = 2 });

/// A value on its way into the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Word {
    offset: u64,
    /// Bytes: 1, 2, 4 or 8.
    bytes: u8,
    value: u64,
}

persist_fields!(Word { offset, bytes, value });

/// A bank of flash: a window of 64 MiB.
pub struct Flash {
    name: String,
    ram: Arc<Ram>,
    /// Where in the flash behind RAM the bank's contents are.
    at: u64,
    writes: Writes,
    mode: Mode,
    expects: Expects,
    status: u8,
    /// The block that a buffered program was begun for.
    block: u64,
    /// How many words it has.
    count: u64,
    buffer: Vec<Word>,
    /// By block; empty while no lock bit was ever set.
    locks: Vec<Lock>,
}

impl Flash {
    /// Size of the window in bytes.
    pub const LEN: u64 = BANK;

    /// A bank whose contents are `at` this offset of the flash in `ram`, which holds [`Flash::LEN`] bytes there. `name` is
    /// for messages.
    pub fn new(name: impl Into<String>, ram: Arc<Ram>, at: u64, writes: Writes) -> Self {
        Self {
            name: name.into(),
            ram,
            at,
            writes,
            mode: Mode::Array,
            expects: Expects::Command,
            status: status::READY,
            block: 0,
            count: 0,
            buffer: Vec::new(),
            locks: Vec::new(),
        }
    }

    fn array(&self, offset: u64, bytes: u64) -> u64 {
        let mut word = [0; 8];
        // What leaves the bank reads as zeros.
        let into = &mut word[..bytes.min(BANK.saturating_sub(offset)) as usize];
        self.ram.read_flash(self.at + offset, into).map_or(0, |()| u64::from_le_bytes(word))
    }

    /// What a chip answers at `index`, counted in its 16-bit words, while it shows its identifier.
    fn identifier(&self, offset: u64, index: u64) -> u8 {
        match index & 0xff {
            0 => spec::MAKER,
            1 => spec::DEVICE,
            2 => u8::from(self.lock_of(offset / BLOCK) != Lock::Open),
            _ => 0,
        }
    }

    fn lock_of(&self, block: u64) -> Lock {
        self.locks.get(block as usize).copied().unwrap_or_default()
    }

    /// One byte of what is shown: both chips answer alike, in the low half of their 16 bits.
    fn shown(&self, offset: u64) -> u8 {
        if !offset.is_multiple_of(WORD / spec::CHIPS) {
            return 0;
        }
        match self.mode {
            Mode::Status => self.status,
            Mode::Identifier => self.identifier(offset, offset / WORD),
            Mode::Query => spec::query(offset / WORD),
            Mode::Array => 0,
        }
    }

    /// A sequence of commands that is none: nothing was changed.
    fn broken_sequence(&mut self) {
        self.status |= status::SEQUENCE;
        self.expects = Expects::Command;
        self.buffer = Vec::new();
    }

    fn start(&mut self, offset: u64, word: u8) {
        use command::*;
        let (mode, expects) = match word {
            // Suspend and resume are of what is done already.
            READ_STATUS | SUSPEND | CONFIRM => (Mode::Status, Expects::Command),
            READ_ID => (Mode::Identifier, Expects::Command),
            QUERY => (Mode::Query, Expects::Command),
            CLEAR_STATUS => {
                self.status = status::READY;
                return;
            }
            PROGRAM | PROGRAM_ALTERNATE => (Mode::Status, Expects::Value),
            ERASE => (Mode::Status, Expects::EraseConfirm),
            LOCK_SETUP => (Mode::Status, Expects::LockCommand),
            BUFFERED_PROGRAM => {
                self.block = offset / BLOCK;
                (Mode::Status, Expects::BufferCount)
            }
            // Read array; and what is no command.
            _ => (Mode::Array, Expects::Command),
        };
        (self.mode, self.expects) = (mode, expects);
    }

    /// May the block be changed? If not, the status says so with `bit`.
    fn may_change(&mut self, block: u64, bit: u8) -> bool {
        if self.lock_of(block) != Lock::Open {
            self.status |= bit | status::LOCKED;
            return false;
        }
        if matches!(self.writes, Writes::Refused) {
            self.status |= bit;
            return false;
        }
        true
    }

    /// Puts `bytes` at `offset`, which are inside the bank: into the file first. `bit` says in the status that it failed.
    fn put(&mut self, offset: u64, bytes: &[u8], bit: u8) {
        let kept = match &self.writes {
            Writes::Kept(Kept(file)) => file.write_all_at(bytes, offset).is_ok(),
            Writes::Refused | Writes::Forgotten => true,
        };
        if !kept || self.ram.write_flash(self.at + offset, bytes).is_none() {
            self.status |= bit;
        }
    }

    /// Programs a value: bits go from 1 to 0 only.
    fn program(&mut self, Word { offset, bytes, value }: Word) {
        let bytes = u64::from(bytes);
        if offset + bytes > BANK || !self.may_change(offset / BLOCK, status::PROGRAM) {
            return;
        }
        let new = self.array(offset, bytes) & value;
        self.put(offset, &new.to_le_bytes()[..bytes as usize], status::PROGRAM);
    }

    fn erase(&mut self, block: u64) {
        if self.may_change(block, status::ERASE) {
            self.put(block * BLOCK, &vec![0xff; BLOCK as usize], status::ERASE);
        }
    }

    fn lock(&mut self, block: u64, word: u8) {
        let lock = match word {
            command::LOCK => Lock::Locked,
            command::LOCK_DOWN => Lock::LockedDown,
            command::CONFIRM => Lock::Open,
            _ => return self.broken_sequence(),
        };
        if self.lock_of(block) == Lock::LockedDown && lock != Lock::LockedDown {
            self.status |= status::LOCKED;
            return;
        }
        self.locks.resize(BLOCKS, Lock::Open);
        if let Some(of_block) = self.locks.get_mut(block as usize) {
            *of_block = lock;
        }
    }

    fn fill_buffer(&mut self, word: Word) {
        if word.offset / BLOCK != self.block {
            return self.broken_sequence();
        }
        self.buffer.push(word);
        if self.buffer.len() as u64 >= self.count {
            self.expects = Expects::BufferConfirm;
        }
    }

    fn confirm_buffer(&mut self, word: u8) {
        if word != command::CONFIRM {
            return self.broken_sequence();
        }
        self.expects = Expects::Command;
        for word in std::mem::take(&mut self.buffer) {
            self.program(word);
        }
    }

    /// A digest of what the file of a bank that is kept holds, up to the bank's length; `None` of others.
    fn digest_of_file(&self) -> Option<io::Result<u64>> {
        let Writes::Kept(Kept(file)) = &self.writes else { return None };
        Some(digest(|offset, into| {
            let mut done = 0;
            while done < into.len() {
                match file.read_at(&mut into[done..], offset + done as u64)? {
                    0 => break,
                    n => done += n,
                }
            }
            into[done..].fill(0);
            Ok(())
        }))
    }
}

/// The digest of a bank that `read` gives block by block.
fn digest(read: impl Fn(u64, &mut [u8]) -> io::Result<()>) -> io::Result<u64> {
    let (mut digest, mut block) = (Digest::new(), vec![0; BLOCK as usize]);
    for n in 0..BLOCKS as u64 {
        read(n * BLOCK, &mut block)?;
        digest.add(&block);
    }
    Ok(digest.value())
}

fn size_of(size: Size) -> u8 {
    size.bytes() as u8
}

impl Device for Flash {
    fn name(&self) -> &str {
        &self.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        let bytes = access.size.bytes();
        if self.mode == Mode::Array {
            return Ok(self.array(access.offset, bytes));
        }
        Ok((0..bytes).fold(0, |value, n| value | u64::from(self.shown(access.offset + n)) << (8 * n)))
    }
    /// Commands are the low byte of what is written, whatever its size; values have the size of the access.
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        let (offset, low) = (access.offset, value as u8);
        let word = Word { offset, bytes: size_of(access.size), value };
        match self.expects {
            Expects::Command => self.start(offset, low),
            Expects::Value => {
                self.expects = Expects::Command;
                self.program(word);
            }
            Expects::EraseConfirm if low == command::CONFIRM => {
                self.expects = Expects::Command;
                self.erase(offset / BLOCK);
            }
            Expects::EraseConfirm => self.broken_sequence(),
            Expects::LockCommand => {
                self.expects = Expects::Command;
                self.lock(offset / BLOCK, low);
            }
            Expects::BufferCount => {
                // Each chip gets the count in its own half.
                let count = u64::from(value as u16) + 1;
                if count > BUFFER as u64 {
                    self.broken_sequence();
                } else {
                    self.count = count;
                    self.expects = Expects::BufferWord;
                }
            }
            Expects::BufferWord => self.fill_buffer(word),
            Expects::BufferConfirm => self.confirm_buffer(low),
        }
        Ok(())
    }
    /// The contents are hashed with RAM.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u8(self.mode as u8);
        state.write_u8(self.expects as u8);
        state.write_u8(self.status);
        state.write_u64(self.block);
        state.write_u64(self.count);
        for word in &self.buffer {
            state.write_u64(word.offset);
            state.write_u8(word.bytes);
            state.write_u64(word.value);
        }
        for lock in &self.locks {
            state.write_u8(*lock as u8);
        }
    }
    /// The contents are saved with RAM. A file that keeps them is not in a snapshot, only what it must hold.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let unread = |error: io::Error| Invalid::new(format!("the file of {} cannot be read: {error}", self.name));
        let mut of_file = self.digest_of_file().transpose().map_err(unread)?;
        let (now, loading) = (of_file, codec.is_loading());
        codec.value(&mut of_file)?;
        if loading && now.is_some() && now != of_file {
            return Err(Invalid::new(format!("{}: its file does not hold what it held then", self.name)));
        }
        let Self { name: _, ram: _, at: _, writes: _, mode, expects, status, block, count, buffer, locks } = self;
        codec.each([mode, expects, status, block, count, buffer, locks])?;
        let is_word = |word: &Word| [1, 2, 4, 8].contains(&word.bytes) && word.offset < BANK;
        let fits = buffer.len() <= BUFFER && buffer.iter().all(is_word);
        let locks_fit = locks.is_empty() || locks.len() == BLOCKS;
        if fits && locks_fit && *block < BLOCKS as u64 && *count <= BUFFER as u64 {
            Ok(())
        } else {
            Err(Invalid::new("a flash in a state that it cannot be in"))
        }
    }
}
