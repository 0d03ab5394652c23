//! Bytes on their way from one socket to another.

use alloc::vec::Vec;

use hal::mem::{Frame, FrameKind, PAGE_SIZE};

use crate::errno::{Errno, Result};
use crate::vfs::{Sink, Source};

/// Up to this size bytes are in the heap, else in pages.
const SMALL: usize = 2048;

#[derive(Debug)]
enum Body {
    Small(Vec<u8>),
    Pages(Vec<Frame>),
}

/// A message, or a part of a stream.
#[derive(Debug)]
pub struct Message {
    body: Body,
    /// First byte that was not read yet.
    start: usize,
    len: usize,
    /// What it takes of the send buffer.
    pub cost: usize,
}

impl Message {
    /// Takes up to `len` bytes. EFAULT if not all can be had, with nothing taken: a message is sent whole or not at all.
    pub fn take(from: &mut Source<'_>, len: usize, cost: usize) -> Result<Self> {
        let len = len.min(from.left());
        let body = if len <= SMALL {
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(len).map_err(|_| Errno::ENOMEM)?;
            bytes.resize(len, 0);
            if from.take(&mut bytes)? < len {
                return Err(Errno::EFAULT);
            }
            Body::Small(bytes)
        } else {
            let mut frames = Vec::with_capacity(len.div_ceil(PAGE_SIZE));
            let mut left = len;
            while left > 0 {
                let frame = Frame::new(FrameKind::User).ok_or(Errno::ENOMEM)?;
                let part = left.min(PAGE_SIZE);
                if from.take_page(&frame, 0, part)? < part {
                    return Err(Errno::EFAULT);
                }
                left -= part;
                frames.push(frame);
            }
            Body::Pages(frames)
        };
        Ok(Self { body, start: 0, len, cost })
    }

    /// Bytes that were not read yet.
    pub fn left(&self) -> usize {
        self.len - self.start
    }

    /// Goes back to where it was before `count` bytes were read.
    pub fn unread(&mut self, count: usize) {
        self.start -= count;
    }

    /// Gives what fits; returns how many bytes. EFAULT if the program's buffer takes none.
    pub fn give(&mut self, to: &mut Sink<'_>) -> Result<usize> {
        let from = self.start;
        while self.left() > 0 && to.left() > 0 {
            let put = match &self.body {
                Body::Small(bytes) => to.put(&bytes[self.start..]),
                Body::Pages(frames) => {
                    let offset = self.start % PAGE_SIZE;
                    let in_page = (PAGE_SIZE - offset).min(self.left());
                    to.put_page(&frames[self.start / PAGE_SIZE], offset, in_page)
                }
            };
            match put {
                Ok(put) => self.start += put,
                Err(_) if self.start > from => break,
                Err(error) => return Err(error),
            }
        }
        Ok(self.start - from)
    }
}
