//! The console's input: standard input, to the guest.

use std::io;
use std::os::fd::BorrowedFd;

use machine::ConsoleInput;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::stdio::stdin;

use crate::stop::{Reason, Stopper};
use crate::terminal;

/// Most input that is taken before the start, in bytes.
const MOST: usize = 64 << 20;
/// Input waits in the host while the guest has this many bytes to read, so that an endless source does not fill memory.
const AHEAD: usize = 64 << 10;

/// A pipe is given this long for its first bytes, and between any two pieces, before it counts as one that stays open.
const FIRST: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
const NEXT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// What standard input is.
#[derive(Debug, PartialEq, Eq)]
pub enum Source {
    /// A terminal: someone types.
    Terminal,
    /// All of it.
    Complete(Vec<u8>),
    /// Something that goes on: what came so far.
    Open(Vec<u8>),
}

impl Source {
    /// Looks at standard input, and reads it where it has an end.
    pub fn find() -> io::Result<Self> {
        if terminal::is_terminal() {
            return Ok(Self::Terminal);
        }
        match fstat(stdin()) {
            // Closed.
            Err(Errno::BADF) => Ok(Self::Complete(Vec::new())),
            Err(error) => Err(error.into()),
            Ok(status) => match FileType::from_raw_mode(status.st_mode) {
                FileType::RegularFile | FileType::Directory => read_all(stdin(), None),
                _ => read_all(stdin(), Some(FIRST)),
            },
        }
    }
}

/// Reads `fd` to its end; with a patience, only while something comes: `patience` for the first piece, then [`NEXT`].
fn read_all(fd: BorrowedFd<'_>, patience: Option<Timespec>) -> io::Result<Source> {
    let mut bytes = Vec::new();
    let mut limit = patience;
    loop {
        if let Some(limit) = &mut limit {
            if !is_readable(fd, limit)? {
                return Ok(Source::Open(bytes));
            }
            *limit = NEXT;
        }
        let piece = read(fd)?;
        if piece.is_empty() {
            return Ok(Source::Complete(bytes));
        }
        bytes.extend(piece);
        if bytes.len() > MOST {
            if patience.is_some() {
                return Ok(Source::Open(bytes));
            }
            return Err(io::Error::other(format!("more than {MOST} bytes")));
        }
    }
}

fn is_readable(fd: BorrowedFd<'_>, limit: &Timespec) -> io::Result<bool> {
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(limit)) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn read(fd: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; 4096];
    loop {
        match rustix::io::read(fd, &mut buffer) {
            Ok(count) => {
                buffer.truncate(count);
                return Ok(buffer);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// How typed bytes are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Ctrl-A begins a command to the tool.
    Escaped,
    /// All are the guest's.
    Plain,
}

/// Gives what comes from standard input to the guest, from a thread of its own.
pub fn pump(input: ConsoleInput, stopper: Stopper, keys: Keys) {
    std::thread::spawn(move || {
        let mut escape = Escape::default();
        loop {
            while input.waiting() > AHEAD {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            // An input that cannot be read any more has ended.
            let Ok(bytes) = read(stdin()) else { return };
            if bytes.is_empty() {
                return;
            }
            let typed = match keys {
                Keys::Plain => bytes,
                Keys::Escaped => {
                    let (typed, commands) = escape.filter(&bytes);
                    for command in commands {
                        command.obey(&stopper);
                    }
                    typed
                }
            };
            input.push(&typed);
        }
    });
}

/// A command to the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyCommand {
    Quit,
    Power,
    Help,
}

impl KeyCommand {
    fn obey(self, stopper: &Stopper) {
        match self {
            Self::Quit => stopper.stop(Reason::User),
            Self::Power => stopper.press_power_button(),
            // The terminal is raw: a newline alone does not return.
            Self::Help => eprint!(
                "\r\nCtrl-A x: quit   Ctrl-A p: power button   Ctrl-A h: these keys   Ctrl-A Ctrl-A: type Ctrl-A\r\n"
            ),
        }
    }
}

const CTRL_A: u8 = 1;

/// Tells commands from what is the guest's.
#[derive(Debug, Default)]
struct Escape {
    /// Ctrl-A was the last key.
    is_open: bool,
}

impl Escape {
    fn filter(&mut self, bytes: &[u8]) -> (Vec<u8>, Vec<KeyCommand>) {
        let (mut typed, mut commands) = (Vec::new(), Vec::new());
        for byte in bytes {
            match (std::mem::take(&mut self.is_open), *byte) {
                (false, CTRL_A) => self.is_open = true,
                (true, b'x' | b'X') => commands.push(KeyCommand::Quit),
                (true, b'p' | b'P') => commands.push(KeyCommand::Power),
                (true, b'h' | b'H' | b'?') => commands.push(KeyCommand::Help),
                (true, CTRL_A | b'a') => typed.push(CTRL_A),
                // No command: both keys were meant for the guest.
                (true, other) => typed.extend([CTRL_A, other]),
                (false, other) => typed.push(other),
            }
        }
        (typed, commands)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn commands() {
        let mut escape = Escape::default();
        assert_eq!(escape.filter(b"ls\r\x03"), (b"ls\r\x03".to_vec(), vec![]));
        assert_eq!(escape.filter(b"a\x01"), (b"a".to_vec(), vec![]));
        assert_eq!(escape.filter(b"xb"), (b"b".to_vec(), vec![KeyCommand::Quit]));
        assert_eq!(escape.filter(b"\x01h\x01\x01\x01e"), (b"\x01\x01e".to_vec(), vec![KeyCommand::Help]));
    }

    #[test]
    fn sources() {
        let soon = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let null = File::open("/dev/null").unwrap();
        assert_eq!(read_all(null.as_fd(), Some(soon)).unwrap(), Source::Complete(vec![]));

        let (reader, mut writer) = io::pipe().unwrap();
        assert_eq!(read_all(reader.as_fd(), Some(soon)).unwrap(), Source::Open(vec![]));
        writer.write_all(b"ls\n").unwrap();
        drop(writer);
        assert_eq!(read_all(reader.as_fd(), Some(soon)).unwrap(), Source::Complete(b"ls\n".to_vec()));

        let directory = File::open("/").unwrap();
        assert!(read_all(directory.as_fd(), None).is_err());
    }
}
