//! Files, as far as pipes know of them.

use std::fmt::Debug;
use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;

use crate::errno::{Errno, Result};
use crate::sched::wait::WaitQueue;

#[path = "../../../../core/src/vfs/pipe.rs"]
#[allow(dead_code)]
pub mod pipe;
#[path = "../../../../core/src/vfs/transfer.rs"]
#[allow(dead_code)]
mod transfer;
pub use transfer::{Sink, Source};

pub mod open_flags {
    pub const ACCMODE: u32 = 3;
    pub const RDONLY: u32 = 0;
    pub const WRONLY: u32 = 1;
    pub const NONBLOCK: u32 = 0o4000;
}
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Poll(pub u32);
impl Poll {
    pub const IN: Self = Self(0x41);
    pub const OUT: Self = Self(0x104);
    pub const ERROR: Self = Self(0x8);
    pub const HANG_UP: Self = Self(0x10);
    pub const ANY: Self = Self(u32::MAX);
}
impl BitOr for Poll {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
impl BitOrAssign for Poll {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
#[derive(Debug)]
pub enum InodeKind {
    Fifo,
}
#[derive(Debug)]
#[allow(dead_code)]
pub struct Metadata {
    pub ino: u64,
    pub dev: u64,
    pub kind: InodeKind,
    pub mode: u32,
    pub links: u32,
    pub uid: u32,
    pub gid: u32,
    pub size: u64,
    pub device: (u32, u32),
    pub times: [u64; 3],
}
#[allow(dead_code)]
pub trait FileOps: Send + Sync + Debug {
    fn read(&self, _file: &File, _to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EINVAL)
    }
    fn write(&self, _file: &File, _from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        Err(Errno::EINVAL)
    }
    fn ioctl(&self, _file: &File, _request: u32, _argument: u64) -> Result<i64> {
        Err(Errno::ENOTTY)
    }
    fn poll(&self, _file: &File) -> Poll {
        Poll::default()
    }
    fn wait_queues<'a>(&'a self, _each: &mut dyn FnMut(&'a WaitQueue)) {}
    fn metadata(&self) -> Option<Metadata> {
        None
    }
    fn describe(&self) -> Option<String> {
        None
    }
}
#[derive(Debug)]
pub struct File {
    ops: Arc<dyn FileOps>,
    flags: u32,
}
impl File {
    pub fn new(_location: Option<()>, ops: Arc<dyn FileOps>, flags: u32) -> Self {
        Self { ops, flags }
    }
    pub fn is_nonblocking(&self) -> bool {
        self.flags & open_flags::NONBLOCK != 0
    }
    pub fn read(&self, bytes: &mut [u8]) -> Result<usize> {
        self.ops.read(self, &mut Sink::kernel(bytes), 0)
    }
    pub fn write(&self, bytes: &[u8]) -> Result<usize> {
        self.ops.write(self, &mut Source::kernel(bytes), 0)
    }
}
