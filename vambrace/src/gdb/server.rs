//! Where clients come: a loopback port or a socket file, and the thread that listens there, to one client at a time.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use gdbstub::conn::Connection;
use thiserror::Error;

/// A client that takes no answer for so long is as good as gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages that wait for the run to look; then the client waits.
const WAITING: usize = 16;

/// The place of `--gdb` cannot be used.
#[derive(Debug, Error)]
#[error("--gdb {place}: {reason}{hint}")]
pub struct ListenError {
    place: String,
    reason: io::Error,
    hint: &'static str,
}

/// What the thread that listens says.
pub enum Message {
    /// A client has come.
    Client(Stream),
    /// It sent this.
    Bytes(Vec<u8>),
    /// It has gone.
    Gone,
}

/// A connection.
pub enum Stream {
    /// On the loopback.
    Tcp(TcpStream),
    /// On a socket file.
    Unix(UnixStream),
}

impl Stream {
    fn second(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => Write::write_all(stream, bytes),
            Self::Unix(stream) => Write::write_all(stream, bytes),
        }
    }
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

/// A place where clients come.
pub struct Server {
    messages: Receiver<Message>,
    /// The socket's file, which goes with the server.
    file: Option<PathBuf>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Somebody else may have removed it.
            let _ = std::fs::remove_file(file);
        }
    }
}

impl Server {
    /// Listens at `place`: a port of the loopback, or the path of a socket.
    pub fn listen(place: &str) -> Result<Self, ListenError> {
        let port = place.trim_start_matches(':').parse::<u16>().ok();
        Self::bind(place, port).map_err(|reason| {
            let is_file = port.is_none() && reason.kind() == io::ErrorKind::AddrInUse;
            let hint = if is_file { "; remove the file if no run listens there any more" } else { "" };
            ListenError { place: place.to_owned(), reason, hint }
        })
    }

    fn bind(place: &str, port: Option<u16>) -> io::Result<Self> {
        let (sender, messages) = sync_channel(WAITING);
        if let Some(port) = port {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
            eprintln!("vambrace: gdb: target remote {}", listener.local_addr()?);
            std::thread::spawn(move || {
                let streams = listener.incoming().map_while(Result::ok);
                // Packets are small, and each waits for its answer.
                let ready = |stream: &TcpStream| {
                    stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(PATIENCE))).is_ok()
                };
                serve_all(streams.filter(ready).map(Stream::Tcp), &sender);
            });
            return Ok(Self { messages, file: None });
        }
        let listener = UnixListener::bind(place)?;
        eprintln!("vambrace: gdb: target remote {place}");
        std::thread::spawn(move || {
            let streams = listener.incoming().map_while(Result::ok);
            let ready = |stream: &UnixStream| stream.set_write_timeout(Some(PATIENCE)).is_ok();
            serve_all(streams.filter(ready).map(Stream::Unix), &sender);
        });
        Ok(Self { messages, file: Some(place.into()) })
    }

    /// What clients say.
    pub fn messages(&self) -> &Receiver<Message> {
        &self.messages
    }
}

fn serve_all(mut streams: impl Iterator<Item = Stream>, sender: &SyncSender<Message>) {
    // Ends where nobody listens any more.
    let _ = streams.try_for_each(|stream| match stream.second() {
        Ok(writer) => serve(stream, writer, sender),
        Err(_) => Some(()),
    });
}

/// Passes on what one client sends; `None` where nobody listens any more.
fn serve(mut stream: Stream, writer: Stream, sender: &SyncSender<Message>) -> Option<()> {
    sender.send(Message::Client(writer)).ok()?;
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => sender.send(Message::Bytes(buffer[..n].to_vec())).ok()?,
            _ => return sender.send(Message::Gone).ok(),
        }
    }
}

/// The way back to a client, who is hung up on when it goes. What is not flushed waits, so that an answer is one write.
pub struct Answers {
    stream: Stream,
    waiting: Vec<u8>,
}

impl Answers {
    /// To whoever is at the other end.
    pub fn new(stream: Stream) -> Self {
        Self { stream, waiting: Vec::new() }
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        // The client may have hung up first.
        let _ = match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Connection for Answers {
    type Error = io::Error;

    fn write(&mut self, byte: u8) -> io::Result<()> {
        self.waiting.push(byte);
        Ok(())
    }
    fn flush(&mut self) -> io::Result<()> {
        let result = self.stream.write(&self.waiting);
        self.waiting.clear();
        result
    }
}
