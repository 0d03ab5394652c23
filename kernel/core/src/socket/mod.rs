//! Sockets of the local domain (AF_UNIX), made in pairs: streams, datagrams, sequenced packets.
//!
//! `message`: bytes on their way · `buffer`: how much room they take · `pair`: the two ends, and what they do to each other.
//! What follows POSIX only in part follows Linux 6.1, beside which `guest/el0/sockets.c` runs.

mod buffer;
mod message;
mod pair;

use alloc::format;
use alloc::sync::Arc;

pub use buffer::SEND as BUFFER;
pub use pair::{Received, Shutdown, Socket, Wish};

use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::sched::wait::WaitQueue;
use crate::signal::{self, Info, SIGPIPE};
use crate::vfs::{File, FileOps, InodeKind, Metadata, Poll, Sink, Source, open_flags};

/// What a socket carries (SOCK_*).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Bytes.
    Stream = 1,
    /// Messages, without a connection.
    Datagram = 2,
    /// Messages, and an end of the connection.
    Packet = 5,
}

impl Kind {
    /// By SOCK_*'s value; ESOCKTNOSUPPORT.
    pub fn of(value: u32) -> Result<Self> {
        match value {
            1 => Ok(Self::Stream),
            2 => Ok(Self::Datagram),
            5 => Ok(Self::Packet),
            _ => Err(Errno::ESOCKTNOSUPPORT),
        }
    }
}

/// Two sockets that are each other's peer. Of `flags` O_NONBLOCK counts.
pub fn pair(kind: Kind, flags: u32) -> (Arc<File>, Arc<File>) {
    let (a, b) = Socket::pair(kind);
    let flags = flags & open_flags::NONBLOCK | open_flags::RDWR;
    (Arc::new(File::new(None, Arc::new(a), flags)), Arc::new(File::new(None, Arc::new(b), flags)))
}

/// The socket that an open file is; ENOTSOCK.
pub fn of(file: &File) -> Result<&Socket> {
    file.ops.as_any().and_then(|any| any.downcast_ref()).ok_or(Errno::ENOTSOCK)
}

/// A signal goes with EPIPE where streams are written to.
pub fn with_signal<T>(kind: Kind, result: Result<T>) -> Result<T> {
    if kind == Kind::Stream && matches!(result, Err(Errno::EPIPE)) {
        signal::send_to_thread(&CURRENT.share(), SIGPIPE, Info::of_user());
    }
    result
}

impl FileOps for Socket {
    fn read(&self, file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        if to.left() == 0 {
            return Ok(0);
        }
        let wish = Wish { is_patient: !file.is_nonblocking(), ..Wish::default() };
        self.receive(to, wish).map(|received| received.len)
    }

    fn write(&self, file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        with_signal(self.kind(), self.send(from, !file.is_nonblocking()))
    }

    fn poll(&self, _file: &File) -> Poll {
        self.events()
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        self.queues().into_iter().for_each(each);
    }

    fn ioctl(&self, _file: &File, request: u32, argument: u64) -> Result<i64> {
        const FIONREAD: u32 = 0x541b;
        if request != FIONREAD {
            return Err(Errno::ENOTTY);
        }
        hal::uaccess::write(argument, &(self.readable() as u32).to_ne_bytes())?;
        Ok(0)
    }

    fn metadata(&self) -> Option<Metadata> {
        Some(Metadata {
            ino: self.id(),
            dev: 0,
            kind: InodeKind::Socket,
            mode: 0o777,
            links: 1,
            uid: 0,
            gid: 0,
            size: 0,
            device: (0, 0),
            times: [self.created(); 3],
        })
    }

    fn describe(&self) -> Option<alloc::string::String> {
        Some(format!("socket:[{}]", self.id()))
    }

    fn as_any(&self) -> Option<&dyn core::any::Any> {
        Some(self)
    }
}
