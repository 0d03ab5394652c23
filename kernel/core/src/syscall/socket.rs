//! Sockets.

use alloc::vec::Vec;

use hal::uaccess;

use super::{file, user};
use crate::errno::{Errno, Result};
use crate::sched::CURRENT;
use crate::socket::{self, Kind, Shutdown, Wish};
use crate::vfs::{self, Buffer, File, Sink, Source, open_flags};

const AF_UNIX: u32 = 1;
/// MSG_* (include/linux/socket.h).
mod message_flags {
    pub const OOB: u32 = 1;
    pub const PEEK: u32 = 2;
    pub const CTRUNC: u32 = 8;
    pub const TRUNC: u32 = 0x20;
    pub const DONTWAIT: u32 = 0x40;
    pub const WAITALL: u32 = 0x100;
    pub const NOSIGNAL: u32 = 0x4000;
}
use message_flags as m;

pub fn socketpair(family: u32, kind: u32, protocol: u32, fds: u64) -> Result<()> {
    const RAW: u32 = 3;
    let flags = kind & !0xf;
    if flags & !(open_flags::CLOEXEC | open_flags::NONBLOCK) != 0 {
        return Err(Errno::EINVAL);
    }
    if family != AF_UNIX {
        return Err(Errno::EAFNOSUPPORT);
    }
    if protocol > AF_UNIX {
        return Err(Errno::EPROTONOSUPPORT);
    }
    // Raw ones are datagrams here.
    let kind = if kind & 0xf == RAW { Kind::Datagram } else { Kind::of(kind & 0xf)? };
    let (a, b) = socket::pair(kind, flags);
    file::add_two(a, b, flags, fds)
}

fn wish(file: &File, flags: u32) -> Result<Wish> {
    if flags & m::OOB != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(Wish {
        is_patient: flags & m::DONTWAIT == 0 && !file.is_nonblocking(),
        peeks: flags & m::PEEK != 0,
        wants_all: flags & m::WAITALL != 0,
    })
}

/// Why nothing can be sent to the socket of that name: nobody has one.
fn no_such_name(address: u64, len: usize) -> Errno {
    const FAMILY: usize = 2;
    let mut name = [0; 110];
    if len <= FAMILY || len > name.len() || uaccess::read(&mut name[..len], address).is_err() {
        return Errno::EINVAL;
    }
    if u32::from(u16::from_le_bytes([name[0], name[1]])) != AF_UNIX {
        return Errno::EINVAL;
    }
    let path = name[FAMILY..len].split(|byte| *byte == 0).next().unwrap_or(&[]);
    let found = if path.is_empty() { Ok(()) } else { vfs::lookup(&CURRENT.get().fs(), path).map(|_| ()) };
    found.err().unwrap_or(Errno::ECONNREFUSED)
}

fn send(file: &File, from: &mut Source<'_>, flags: u32, address: (u64, u32)) -> Result<usize> {
    let socket = socket::of(file)?;
    let is_patient = wish(file, flags)?.is_patient;
    match socket.kind() {
        _ if address.0 == 0 || address.1 == 0 => {}
        Kind::Stream => return Err(Errno::EISCONN),
        Kind::Datagram => return Err(no_such_name(address.0, address.1 as usize)),
        Kind::Packet => {}
    }
    let result = socket.send(from, is_patient);
    if flags & m::NOSIGNAL == 0 { socket::with_signal(socket.kind(), result) } else { result }
}

/// Bytes and the flags that recvmsg gives.
fn receive(file: &File, to: &mut Sink<'_>, flags: u32) -> Result<(usize, u32)> {
    let socket = socket::of(file)?;
    let received = socket.receive(to, wish(file, flags)?)?;
    let is_cut = received.whole > received.len;
    let len = if flags & m::TRUNC != 0 && socket.kind() != Kind::Stream { received.whole } else { received.len };
    Ok((len, if is_cut { m::TRUNC } else { 0 }))
}

pub fn sendto(fd: i32, buffer: u64, len: usize, flags: u32, address: u64, address_len: u32) -> Result<usize> {
    let file = user::file(fd)?;
    send(&file, &mut Source::user(buffer, len.min(file::MAX_COUNT)), flags, (address, address_len))
}

pub fn recvfrom(fd: i32, buffer: u64, len: usize, flags: u32, address: u64, address_len: u64) -> Result<usize> {
    let file = user::file(fd)?;
    let (len, _) = receive(&file, &mut Sink::user(buffer, len.min(file::MAX_COUNT)), flags)?;
    if address != 0 {
        // The peer has no name.
        uaccess::write(address_len, &0u32.to_le_bytes())?;
    }
    Ok(len)
}

/// struct msghdr: name, its length, buffers, how many, control data, its length, flags.
#[derive(Debug)]
struct Header {
    at: u64,
    name: u64,
    name_len: u32,
    buffers: Vec<Buffer>,
    control_len: u64,
}

impl Header {
    fn read(at: u64) -> Result<Self> {
        let word = |n: u64| user::number(at.wrapping_add(8 * n));
        let (name, name_len, vector, count, control_len) = (word(0)?, word(1)? as u32, word(2)?, word(3)?, word(5)?);
        let buffers = file::buffers(vector, usize::try_from(count).unwrap_or(usize::MAX));
        let buffers = buffers.map_err(|error| if count > 1024 { Errno::EMSGSIZE } else { error })?;
        Ok(Self { at, name, name_len, buffers, control_len })
    }
}

pub fn sendmsg(fd: i32, header: u64, flags: u32) -> Result<usize> {
    let file = user::file(fd)?;
    socket::of(&file)?;
    let header = Header::read(header)?;
    if header.control_len != 0 {
        // Neither files nor credentials are passed on.
        return Err(Errno::EINVAL);
    }
    send(&file, &mut Source::users(&header.buffers), flags, (header.name, header.name_len))
}

pub fn recvmsg(fd: i32, header: u64, flags: u32) -> Result<usize> {
    let file = user::file(fd)?;
    socket::of(&file)?;
    let header = Header::read(header)?;
    let (len, result_flags) = receive(&file, &mut Sink::users(&header.buffers), flags)?;
    let at = |offset: u64| header.at.wrapping_add(offset);
    if header.name != 0 {
        // The peer has none.
        uaccess::write(at(8), &0u32.to_le_bytes())?;
    }
    uaccess::write(at(40), &0u64.to_le_bytes())?;
    uaccess::write(at(48), &(result_flags & !m::CTRUNC | flags & 0x4000_0000).to_le_bytes())?;
    Ok(len)
}

pub fn shutdown(fd: i32, how: u32) -> Result<()> {
    let file = user::file(fd)?;
    socket::of(&file)?.shut(Shutdown::of(how)?);
    Ok(())
}

/// A name without a path: the family alone.
fn put_name(address: u64, len_at: u64) -> Result<()> {
    let mut len = [0; 4];
    uaccess::read(&mut len, len_at)?;
    let room = usize::try_from(i32::from_le_bytes(len)).map_err(|_| Errno::EINVAL)?;
    let name = (AF_UNIX as u16).to_le_bytes();
    uaccess::write(address, &name[..room.min(2)])?;
    Ok(uaccess::write(len_at, &2u32.to_le_bytes())?)
}

pub fn getsockname(fd: i32, address: u64, len_at: u64) -> Result<()> {
    let file = user::file(fd)?;
    socket::of(&file)?;
    put_name(address, len_at)
}

pub fn getpeername(fd: i32, address: u64, len_at: u64) -> Result<()> {
    let file = user::file(fd)?;
    if !socket::of(&file)?.is_connected() {
        return Err(Errno::ENOTCONN);
    }
    put_name(address, len_at)
}

/// SOL_SOCKET
const SOCKET_LEVEL: u32 = 1;

pub fn getsockopt(fd: i32, level: u32, name: u32, value_at: u64, len_at: u64) -> Result<()> {
    let file = user::file(fd)?;
    let socket = socket::of(&file)?;
    if level != SOCKET_LEVEL {
        return Err(Errno::EOPNOTSUPP);
    }
    let mut len = [0; 4];
    uaccess::read(&mut len, len_at)?;
    let room = usize::try_from(i32::from_le_bytes(len)).map_err(|_| Errno::EINVAL)?;
    let value = match name {
        3 => socket.kind() as u32,                                  // TYPE
        4 => socket.take_error().map_or(0, |error| error.0 as u32), // ERROR
        7 | 8 => socket::BUFFER as u32,                             // SNDBUF, RCVBUF
        2 | 9 | 30 | 38 => 0,                                       // REUSEADDR, KEEPALIVE, ACCEPTCONN, PROTOCOL
        18 => 1,                                                    // RCVLOWAT
        39 => AF_UNIX,                                              // DOMAIN
        _ => return Err(Errno::ENOPROTOOPT),
    };
    let len = room.min(4);
    uaccess::write(value_at, &value.to_le_bytes()[..len])?;
    Ok(uaccess::write(len_at, &(len as u32).to_le_bytes())?)
}

pub fn setsockopt(fd: i32, level: u32, name: u32, _value: u64, len: i32) -> Result<()> {
    let file = user::file(fd)?;
    socket::of(&file)?;
    match (level, name) {
        (SOCKET_LEVEL, _) if len < 4 => Err(Errno::EINVAL),
        // REUSEADDR, KEEPALIVE: they mean nothing to local sockets.
        (SOCKET_LEVEL, 2 | 9) => Ok(()),
        (SOCKET_LEVEL, _) => Err(Errno::ENOPROTOOPT),
        _ => Err(Errno::EOPNOTSUPP),
    }
}
