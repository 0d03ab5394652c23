//! Character devices, by Linux's numbers (Documentation/admin-guide/devices.txt).

use alloc::sync::Arc;

use super::{File, FileOps, Sink, Source};
use crate::errno::{Errno, Result};
use crate::{random, tty};

/// What devtmpfs holds: name, permissions, number.
pub const LIST: &[(&str, u32, (u32, u32))] = &[
    ("null", 0o666, (1, 3)),
    ("zero", 0o666, (1, 5)),
    ("full", 0o666, (1, 7)),
    ("random", 0o666, (1, 8)),
    ("urandom", 0o666, (1, 9)),
    ("kmsg", 0o644, (1, 11)),
    // No number of Linux's: a session of profiling, see `contextidr`.
    ("profile", 0o600, (10, 250)),
    ("tty", 0o666, (5, 0)),
    ("console", 0o600, (5, 1)),
    ("ttyAMA0", 0o600, (204, 64)),
];

/// Opens a device by its number.
pub fn open(number: (u32, u32), flags: u32) -> Result<Arc<dyn FileOps>> {
    Ok(match number {
        (1, 3) => Arc::new(Null),
        (1, 5) => Arc::new(Zero),
        (1, 7) => Arc::new(Full),
        (1, 8 | 9) => Arc::new(Random),
        (1, 11) => Arc::new(Log),
        (10, 250) => Arc::new(crate::contextidr::Session::open()?),
        (5, 0) => tty::open_own()?,
        (5, 1) => tty::console(),
        (204, 64) => tty::open(flags),
        _ => return Err(Errno::ENXIO),
    })
}

#[derive(Debug)]
struct Null;
impl FileOps for Null {
    fn read(&self, _file: &File, _to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        Ok(0)
    }
    fn write(&self, _file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Ok(from.skip())
    }
    fn size(&self) -> Option<u64> {
        Some(0)
    }
}

#[derive(Debug)]
struct Zero;
impl FileOps for Zero {
    fn read(&self, _file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        read_zeros(to)
    }
    fn write(&self, _file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Ok(from.skip())
    }
    fn size(&self) -> Option<u64> {
        Some(0)
    }
}

/// Fills the buffer with zeros, part by part.
fn read_zeros(to: &mut Sink<'_>) -> Result<usize> {
    const PART: usize = 1 << 16;
    let mut total = 0;
    while to.left() > 0 {
        match to.put_zeros(PART) {
            Ok(put) => total += put,
            Err(_) if total > 0 => break,
            Err(error) => return Err(error),
        }
        if crate::signal::breathe_or_end() {
            break;
        }
    }
    Ok(total)
}

#[derive(Debug)]
struct Full;
impl FileOps for Full {
    fn read(&self, _file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        read_zeros(to)
    }
    fn write(&self, _file: &File, _from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::ENOSPC)
    }
}

#[derive(Debug)]
struct Random;
impl FileOps for Random {
    fn read(&self, _file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        let mut total = 0;
        while to.left() > 0 {
            let mut bytes = [0; 64];
            random::fill(&mut bytes);
            match to.put(&bytes) {
                Ok(put) => total += put,
                Err(_) if total > 0 => break,
                Err(error) => return Err(error),
            }
            if total % 4096 == 0 && crate::signal::breathe_or_end() {
                break;
            }
        }
        Ok(total)
    }
    fn write(&self, _file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Ok(from.skip())
    }
}

/// Lines written here are the kernel's messages; there is nothing to read.
#[derive(Debug)]
struct Log;
impl FileOps for Log {
    fn read(&self, _file: &File, _to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EAGAIN)
    }
    fn write(&self, _file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        let mut line = [0; 256];
        let len = from.take(&mut line)?;
        let text = alloc::string::String::from_utf8_lossy(&line[..len]);
        hal::log!("{}", text.trim_end());
        Ok(len + from.skip())
    }
}
