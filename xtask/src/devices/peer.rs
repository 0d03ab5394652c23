//! What the guest speaks to on the host: a server of files, one for names, and a client of the guest's own server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

/// What every name's address is.
pub const ADDRESS: &str = "192.0.2.7";
/// What a post is answered with.
pub const CHECKED: &str = "received";
/// Of the file that the server has: of `yes vambrace | head -c 300000 | md5sum`.
pub const FILE_MD5: &str = "91dd3b3b1c880098b7fd127f86950ce7";

/// The servers. They serve until the process ends.
pub struct Peer {
    /// The port of the server of files.
    pub port: u16,
    /// The port of the server of names.
    pub names: u16,
    /// A free port, for a forward.
    pub forward: u16,
    posted: Arc<Mutex<Vec<u8>>>,
}

impl Peer {
    /// Starts them.
    pub fn start() -> Result<Self> {
        let files = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let names = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        // Free now; nobody else is likely to take it before the tool does.
        let forward = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let posted = Arc::default();
        let peer = Self {
            port: files.local_addr()?.port(),
            names: names.local_addr()?.port(),
            forward,
            posted: Arc::clone(&posted),
        };
        std::thread::spawn(move || {
            for stream in files.incoming().flatten() {
                // What goes wrong shows in what the guest gets.
                let _ = serve(stream, forward, &posted);
            }
        });
        std::thread::spawn(move || while serve_name(&names).is_ok() {});
        Ok(peer)
    }

    /// What the guest posted.
    pub fn posted(&self) -> Vec<u8> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One request of HTTP.
fn serve(mut stream: TcpStream, forward: u16, posted: &Mutex<Vec<u8>>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut request, mut len) = (String::new(), 0);
    reader.read_line(&mut request)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            len = value.trim().parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let body = match request.split(' ').nth(1) {
        Some("/file") => b"vambrace\n".iter().copied().cycle().take(300_000).collect(),
        Some("/post") => {
            let mut bytes = vec![0; len];
            reader.read_exact(&mut bytes)?;
            *posted.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
            CHECKED.as_bytes().to_vec()
        }
        Some("/ask") => ask(forward)?,
        _ => b"what?".to_vec(),
    };
    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), &body].concat())?;
    Ok(())
}

/// The guest's page, by the host's port.
fn ask(forward: u16) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, forward))?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    stream.write_all(b"GET /index.html HTTP/1.0\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let at = answer.windows(4).position(|window| window == b"\r\n\r\n").context("no page")?;
    Ok(answer.split_off(at + 4))
}

/// One question of DNS (RFC 1035); the answer has one address, and none for other types.
fn serve_name(socket: &UdpSocket) -> Result<()> {
    let mut bytes = [0; 512];
    let (len, from) = socket.recv_from(&mut bytes)?;
    let question = &bytes[..len];
    // The name ends with an empty label; type and class follow.
    let Some(end) = question.get(12..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) else { return Ok(()) };
    let end = 12 + end + 5;
    let is_address = question.get(end - 4..end - 2) == Some(&[0, 1]);
    let mut answer = question[..2].to_vec();
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_address), 0, 0, 0, 0]);
    answer.extend(question.get(12..end).unwrap_or_default());
    if is_address {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        answer.extend(ADDRESS.parse::<Ipv4Addr>()?.octets());
    }
    socket.send_to(&answer, from)?;
    Ok(())
}
