//! Bytes on their way from and to programs (or the kernel itself).

use hal::mem::Frame;
use hal::uaccess;

use crate::errno::{Errno, Result};

/// A program's buffer: address and bytes.
pub type Buffer = (u64, usize);

/// Where the byte `done` of buffers is, and how many are left in its buffer.
fn place(buffers: &[Buffer], mut done: usize) -> Buffer {
    for (address, len) in buffers {
        if done < *len {
            return (address.wrapping_add(done as u64), len - done);
        }
        done -= len;
    }
    (0, 0)
}

/// Calls `copy` for one buffer after the other with its address and what range of `len` bytes goes there, as long as all
/// of it is done; returns how many bytes were.
fn each(buffers: &[Buffer], done: usize, len: usize, mut copy: impl FnMut(u64, usize, usize) -> usize) -> usize {
    let mut total = 0;
    while total < len {
        let (address, room) = place(buffers, done + total);
        let part = room.min(len - total);
        let copied = copy(address, total, part);
        total += copied;
        if copied < part || part == 0 {
            break;
        }
    }
    total
}

/// Where bytes go.
#[derive(Debug)]
pub struct Sink<'a> {
    place: SinkPlace<'a>,
    done: usize,
    len: usize,
}

#[derive(Debug)]
enum SinkPlace<'a> {
    User(u64),
    Users(&'a [Buffer]),
    Kernel(&'a mut [u8]),
}

impl<'a> Sink<'a> {
    /// A program's buffer.
    pub fn user(address: u64, len: usize) -> Self {
        Self { place: SinkPlace::User(address), done: 0, len }
    }
    /// Several of them, one behind the other.
    pub fn users(buffers: &'a [Buffer]) -> Self {
        let len = buffers.iter().map(|buffer| buffer.1).sum();
        Self { place: SinkPlace::Users(buffers), done: 0, len }
    }
    /// The kernel's.
    pub fn kernel(buffer: &'a mut [u8]) -> Self {
        let len = buffer.len();
        Self { place: SinkPlace::Kernel(buffer), done: 0, len }
    }
    /// Bytes that still fit.
    pub fn left(&self) -> usize {
        self.len - self.done
    }
    /// Bytes that were put.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Puts as many of `bytes` as fit; returns how many. EFAULT if the buffer takes none.
    pub fn put(&mut self, bytes: &[u8]) -> Result<usize> {
        let len = bytes.len().min(self.left());
        let put = match &mut self.place {
            SinkPlace::User(address) => uaccess::write_some(*address + self.done as u64, &bytes[..len]),
            SinkPlace::Users(buffers) => each(buffers, self.done, len, |address, from, len| {
                uaccess::write_some(address, &bytes[from..from + len])
            }),
            SinkPlace::Kernel(buffer) => {
                buffer[self.done..self.done + len].copy_from_slice(&bytes[..len]);
                len
            }
        };
        self.finish(put, len)
    }

    /// The same from a page.
    pub fn put_page(&mut self, frame: &Frame, offset: usize, len: usize) -> Result<usize> {
        let len = len.min(self.left());
        let put = match &mut self.place {
            SinkPlace::User(address) => frame.copy_to_user(offset, *address + self.done as u64, len),
            SinkPlace::Users(buffers) => {
                each(buffers, self.done, len, |address, from, len| frame.copy_to_user(offset + from, address, len))
            }
            SinkPlace::Kernel(buffer) => {
                frame.read(offset, &mut buffer[self.done..self.done + len]);
                len
            }
        };
        self.finish(put, len)
    }

    /// Puts zeros.
    pub fn put_zeros(&mut self, len: usize) -> Result<usize> {
        let len = len.min(self.left());
        let put = match &mut self.place {
            SinkPlace::User(address) => {
                let at = *address + self.done as u64;
                if uaccess::clear(at, len).is_ok() { len } else { 0 }
            }
            SinkPlace::Users(buffers) => {
                each(
                    buffers,
                    self.done,
                    len,
                    |address, _, len| {
                        if uaccess::clear(address, len).is_ok() { len } else { 0 }
                    },
                )
            }
            SinkPlace::Kernel(buffer) => {
                buffer[self.done..self.done + len].fill(0);
                len
            }
        };
        self.finish(put, len)
    }

    fn finish(&mut self, put: usize, len: usize) -> Result<usize> {
        if put == 0 && len > 0 {
            return Err(Errno::EFAULT);
        }
        self.done += put;
        Ok(put)
    }
}

/// Where bytes come from.
#[derive(Debug)]
pub struct Source<'a> {
    place: SourcePlace<'a>,
    done: usize,
    len: usize,
}

#[derive(Debug)]
enum SourcePlace<'a> {
    User(u64),
    Users(&'a [Buffer]),
    Kernel(&'a [u8]),
}

impl<'a> Source<'a> {
    /// A program's buffer.
    pub fn user(address: u64, len: usize) -> Self {
        Self { place: SourcePlace::User(address), done: 0, len }
    }
    /// Several of them, one behind the other.
    pub fn users(buffers: &'a [Buffer]) -> Self {
        let len = buffers.iter().map(|buffer| buffer.1).sum();
        Self { place: SourcePlace::Users(buffers), done: 0, len }
    }
    /// The kernel's.
    pub fn kernel(bytes: &'a [u8]) -> Self {
        Self { place: SourcePlace::Kernel(bytes), done: 0, len: bytes.len() }
    }
    /// Bytes that are left.
    pub fn left(&self) -> usize {
        self.len - self.done
    }
    /// Bytes that were taken.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Takes as many bytes as `to` has room for; returns how many. EFAULT if none can be had.
    pub fn take(&mut self, to: &mut [u8]) -> Result<usize> {
        let len = to.len().min(self.left());
        let taken = match self.place {
            SourcePlace::User(address) => uaccess::read_some(&mut to[..len], address + self.done as u64),
            SourcePlace::Users(buffers) => each(buffers, self.done, len, |address, from, len| {
                uaccess::read_some(&mut to[from..from + len], address)
            }),
            SourcePlace::Kernel(bytes) => {
                to[..len].copy_from_slice(&bytes[self.done..self.done + len]);
                len
            }
        };
        self.finish(taken, len)
    }

    /// The same into a page.
    pub fn take_page(&mut self, frame: &Frame, offset: usize, len: usize) -> Result<usize> {
        let len = len.min(self.left());
        let taken = match self.place {
            SourcePlace::User(address) => frame.fill_from_user(offset, address + self.done as u64, len),
            SourcePlace::Users(buffers) => {
                each(buffers, self.done, len, |address, from, len| frame.fill_from_user(offset + from, address, len))
            }
            SourcePlace::Kernel(bytes) => {
                frame.write(offset, &bytes[self.done..self.done + len]);
                len
            }
        };
        self.finish(taken, len)
    }

    /// Passes over all that is left.
    pub fn skip(&mut self) -> usize {
        let left = self.left();
        self.done = self.len;
        left
    }

    fn finish(&mut self, taken: usize, len: usize) -> Result<usize> {
        if taken == 0 && len > 0 {
            return Err(Errno::EFAULT);
        }
        self.done += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// Bytes that go one behind the other go to each buffer's addresses in turn, up to the first that fails.
        #[test]
        fn buffers_are_filled_in_turn(
            lens in prop::collection::vec(0usize..9, 0..6), skip in 0usize..20, want in 0usize..40, bad in 0usize..40
        ) {
            let buffers: Vec<Buffer> = lens.iter().enumerate().map(|(n, len)| (100 * n as u64 + 100, *len)).collect();
            let all: Vec<u64> =
                buffers.iter().flat_map(|(at, len)| (0..*len as u64).map(move |n| at + n)).skip(skip).collect();
            let want = want.min(all.len());
            let mut seen = Vec::new();
            let total = each(&buffers, skip, want, |address, from, len| {
                assert_eq!(from, seen.len());
                let len = len.min(bad.saturating_sub(seen.len()));
                seen.extend((0..len as u64).map(|n| address + n));
                len
            });
            prop_assert_eq!(total, want.min(bad));
            prop_assert_eq!(&seen[..], &all[..total]);
        }
    }
}
