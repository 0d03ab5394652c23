//! Bytes on their way from and to programs (or the kernel itself).

use hal::mem::Frame;
use hal::uaccess;

use crate::errno::{Errno, Result};

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
    Kernel(&'a mut [u8]),
}

impl<'a> Sink<'a> {
    /// A program's buffer.
    pub fn user(address: u64, len: usize) -> Self {
        Self { place: SinkPlace::User(address), done: 0, len }
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
    Kernel(&'a [u8]),
}

impl<'a> Source<'a> {
    /// A program's buffer.
    pub fn user(address: u64, len: usize) -> Self {
        Self { place: SourcePlace::User(address), done: 0, len }
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
