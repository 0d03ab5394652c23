//! Programs of the host, by sockets in its file system, after the manner of Firecracker:
//!
//! - a program that wants a port of the guest connects to the socket at a path, sends `CONNECT PORT` and a newline, and gets
//!   `OK HOSTPORT` and a newline when the guest has taken the connection; where it does not, the program finds the end;
//! - a program that serves port P of the host listens at that path with `_P` behind it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::net::Shutdown;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use thiserror::Error;

use crate::{Host, Stream};

/// The longest path of the socket, in bytes: with `_4294967295` and a zero behind it, it is as long as an address can be
/// (`sun_path`, 108 bytes).
pub const MAX_PATH: usize = 96;

/// The host's sockets are looked at no more often than this.
const PATIENCE: Duration = Duration::from_micros(50);
/// Programs that have not said yet which port they want; further ones wait to be accepted.
const MAX_HANDSHAKES: usize = 64;
/// The longest line that says it, with its newline: that of the port 4294967295.
const MAX_LINE: usize = 19;

/// The sockets cannot be set up.
#[derive(Debug, Error)]
pub enum VsockError {
    /// Something else is there.
    #[error("--vsock: {} is there already, and is no socket; name another place, or remove it", .0.display())]
    NotASocket(PathBuf),
    /// Another run's, or another program's.
    #[error("--vsock: a program listens at {} already; name another place", .0.display())]
    InUse(PathBuf),
    /// The host refuses.
    #[error("--vsock: cannot listen at {}: {source}", .path.display())]
    Listen {
        /// The socket's place.
        path: PathBuf,
        /// The host's reason.
        source: io::Error,
    },
}

/// A program that has not said yet which port it wants.
struct Handshake {
    stream: UnixStream,
    line: Vec<u8>,
}

/// Sockets of the host.
pub struct UnixHost {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket's file.
    file: (u64, u64),
    handshakes: Vec<Handshake>,
    polled: Instant,
}

impl Drop for UnixHost {
    fn drop(&mut self) {
        // Somebody may have put another file there.
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            // Where that fails, the next run finds that nobody listens, and removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl UnixHost {
    /// Listens at `path`. A socket that is there is replaced if nobody listens.
    pub fn listen(path: &Path) -> Result<Self, VsockError> {
        let failed = |source| VsockError::Listen { path: path.to_owned(), source };
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
            Ok(status) if !status.file_type().is_socket() => return Err(VsockError::NotASocket(path.to_owned())),
            Ok(_) => match connect(path) {
                // Nobody listens any more.
                Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(failed)?,
                Ok(_) | Err(Errno::AGAIN) => return Err(VsockError::InUse(path.to_owned())),
                Err(error) => return Err(failed(error.into())),
            },
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let file = identity(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), file, handshakes: Vec::new(), polled: Instant::now() })
    }

    /// Where a program listens that serves `port`.
    fn place(&self, port: u32) -> PathBuf {
        let mut place = OsString::from(&self.path);
        place.push(format!("_{port}"));
        place.into()
    }
}

impl Host for UnixHost {
    fn is_due(&mut self) -> bool {
        let is_due = self.polled.elapsed() >= PATIENCE;
        if is_due {
            self.polled = Instant::now();
        }
        is_due
    }

    fn accept(&mut self) -> Option<(u32, Box<dyn Stream>)> {
        while self.handshakes.len() < MAX_HANDSHAKES
            && let Ok((stream, _)) = self.listener.accept()
        {
            if stream.set_nonblocking(true).is_ok() {
                self.handshakes.push(Handshake { stream, line: Vec::new() });
            }
        }
        let mut index = 0;
        while let Some(handshake) = self.handshakes.get_mut(index) {
            match handshake.read() {
                Line::Unfinished => index += 1,
                Line::Bad => drop(self.handshakes.swap_remove(index)),
                Line::Port(port) => return Some((port, Box::new(self.handshakes.swap_remove(index).stream))),
            }
        }
        None
    }

    fn connect(&mut self, port: u32) -> Option<Box<dyn Stream>> {
        Some(Box::new(connect(&self.place(port)).ok()?))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Unfinished,
    /// No port, or no program any more.
    Bad,
    Port(u32),
}

impl Handshake {
    fn read(&mut self) -> Line {
        // What is behind the newline is the guest's.
        let mut byte = [0];
        loop {
            match self.stream.read(&mut byte) {
                Ok(0) => return Line::Bad,
                Ok(_) if byte[0] == b'\n' => return port(&self.line).map_or(Line::Bad, Line::Port),
                Ok(_) if self.line.len() + 1 < MAX_LINE => self.line.push(byte[0]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Line::Unfinished,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => return Line::Bad,
            }
        }
    }
}

/// The port of a line, without its newline.
fn port(line: &[u8]) -> Option<u32> {
    let digits = line.strip_prefix(b"CONNECT ")?;
    // `parse` alone would take a leading plus sign.
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Connects without waiting: to a local socket that is at once, or not at all.
fn connect(path: &Path) -> Result<UnixStream, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

/// Device and inode.
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let status = fs::symlink_metadata(path)?;
    Ok((status.dev(), status.ino()))
}

impl Stream for UnixStream {
    fn end(&mut self, how: Shutdown) {
        // One that is not connected any more has ended.
        let _ = self.shutdown(how);
    }
    fn is_gone(&self) -> bool {
        // Without events that are asked for, there are those of an end in both directions, and of errors.
        let mut fds = [PollFd::new(self, PollFlags::empty())];
        match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) => fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR),
            // Asked again later.
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines() {
        assert_eq!(port(b"CONNECT 0"), Some(0));
        assert_eq!(port(b"CONNECT 4294967295"), Some(u32::MAX));
        for bad in
            ["", "CONNECT", "CONNECT ", "CONNECT 4294967296", "CONNECT +1", "CONNECT -1", "CONNECT 1 ", "connect 1"]
        {
            assert_eq!(port(bad.as_bytes()), None, "{bad}");
        }
    }

    /// What `accept` gives for a program that sends `bytes`; at the second call, with what is left.
    fn handshake(bytes: &[u8]) -> (Line, Vec<u8>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        theirs.write_all(bytes).unwrap();
        let mut handshake = Handshake { stream: ours, line: Vec::new() };
        let line = handshake.read();
        let mut left = [0; 64];
        let len = handshake.stream.read(&mut left).unwrap_or(0);
        (line, left[..len].to_vec())
    }

    #[test]
    fn handshakes() {
        assert_eq!(handshake(b"CONNECT 12"), (Line::Unfinished, vec![]));
        assert_eq!(handshake(b"CONNECT 12\nhello\n"), (Line::Port(12), b"hello\n".to_vec()));
        assert_eq!(handshake(b"CONNECT 4294967295\n").0, Line::Port(u32::MAX));
        assert_eq!(handshake(b"CONNECT 0000000000000001\n").0, Line::Bad);
        assert_eq!(handshake(&[b'x'; 40]).0, Line::Bad);
        assert_eq!(handshake(b"\n").0, Line::Bad);
    }

    fn refused(path: &Path) -> String {
        UnixHost::listen(path).err().expect("an error").to_string()
    }

    #[test]
    fn what_is_at_the_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let host = UnixHost::listen(&path).unwrap();
        assert!(refused(&path).contains("a program listens at"));
        drop(host);
        assert!(!path.exists(), "the socket stays");

        // One that a killed run has left.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let host = UnixHost::listen(&path).unwrap();
        // Somebody else's is not removed.
        fs::remove_file(&path).unwrap();
        fs::write(&path, "a file").unwrap();
        drop(host);
        assert!(refused(&path).contains("is no socket"));
        assert_eq!(fs::read(&path).unwrap(), b"a file");

        let link = dir.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(refused(&link).contains("is no socket"));
        assert!(refused(&dir.path().join("no/such/place")).contains("No such file"));
        assert!(refused(dir.path()).contains("is no socket"));
    }

    #[test]
    fn the_longest_path() {
        let dir = tempfile::tempdir().unwrap();
        let name = "x".repeat(MAX_PATH - dir.path().as_os_str().len() - 1);
        let mut host = UnixHost::listen(&dir.path().join(name)).unwrap();
        assert_eq!(host.path.as_os_str().len(), MAX_PATH);
        let _listener = UnixListener::bind(host.place(u32::MAX)).unwrap();
        assert!(host.connect(u32::MAX).is_some());
        assert!(host.connect(1).is_none());
    }

    #[test]
    fn gone_is_gone_both_ways() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        assert!(!ours.is_gone());
        theirs.shutdown(Shutdown::Write).unwrap();
        assert!(!ours.is_gone());
        drop(theirs);
        assert!(ours.is_gone());
    }
}
