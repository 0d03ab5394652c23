//! Virtio sockets: `guest/el0/vsock.c` speaks with programs of the host, which are here.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::{expect, initrd_of};
use crate::boot::{Boot, Echo, Machine};
use crate::guests::{BOARD, File, Guests, Kernel};
use crate::kernel::program;

const CID: u32 = 77;
/// Bytes of a long stream.
const LEN: usize = 3 << 20;
/// Bytes that the host's program sends when it calls.
const CALLS: [usize; 5] = [LEN, 1, 70_000, 0, 5];

/// What the guest says.
const LINES: [&str; 15] = [
    "devices: vsock cid 77",
    "devices: vsock received 3145728",
    // EAGAIN.
    "devices: vsock full -11",
    "devices: vsock full within a mebibyte 1",
    "devices: vsock lost 0",
    "devices: vsock echoes 8",
    "devices: vsock called with 3145728",
    "devices: vsock called with 1",
    "devices: vsock called with 70000",
    "devices: vsock called with 0",
    "devices: vsock called with 5",
    "devices: vsock caller says good",
    // ECONNRESET.
    "devices: vsock missing -104",
    "devices: vsock nobody -104",
    "devices: vsock status 0",
];

/// What the host's programs find wrong.
type Complaints = Arc<Mutex<Vec<String>>>;

/// Boots `kernel` and runs the guest's program.
pub fn vsock(guests: &Guests, kernel: Kernel) -> Result<()> {
    let mut files = guests.drivers(BOARD, kernel)?;
    files.push(File::executable("bin/vsock", fs::read(program::build("vsock")?)?));
    let initrd = initrd_of(guests, files, "vsock", &[("vsock", include_str!("../../initramfs/devices/vsock.sh"))])?;
    let place = Place::new()?;
    let complaints = Complaints::default();
    let serve = |port: u32, program: fn(&UnixListener, &Path) -> Result<()>| -> Result<()> {
        let listener = UnixListener::bind(place.port(port))?;
        let (socket, complaints) = (place.socket(), Arc::clone(&complaints));
        std::thread::spawn(move || {
            // To the end of the process; without a guest any more it waits there.
            loop {
                if let Err(error) = program(&listener, &socket) {
                    complaints.lock().unwrap_or_else(PoisonError::into_inner).push(format!("port {port}: {error:#}"));
                }
            }
        });
        Ok(())
    };
    serve(1000, streams)?;
    serve(1001, slow)?;
    serve(1002, echo)?;
    serve(1003, call)?;
    let mut boot = Boot::new(guests, kernel, "vambrace.batch=vsock").with_initrd(&initrd);
    boot.words.extend(["--vsock".to_owned(), format!("cid={CID},socket={}", place.socket().display())]);
    let outcome = boot.run(Machine::Vambrace, Echo::Off)?;
    let complaints = complaints.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
    ensure!(complaints.is_empty(), "the host's programs say\n{complaints}\n{}", outcome.report());
    outcome.expect_status(0)?;
    outcome.expect_line("vambrace-batch: vsock: status 0")?;
    expect(&outcome, &LINES.join("\n"))?;
    ensure!(!place.socket().exists(), "the tool leaves its socket");
    Ok(())
}

/// A directory for sockets; paths of sockets are short.
struct Place(PathBuf);

impl Place {
    fn new() -> Result<Self> {
        let place = std::env::temp_dir().join(format!("vambrace-vsock-{}", std::process::id()));
        fs::create_dir(&place).with_context(|| format!("cannot create {}", place.display()))?;
        Ok(Self(place))
    }
    fn socket(&self) -> PathBuf {
        self.0.join("v")
    }
    fn port(&self, port: u32) -> PathBuf {
        self.0.join(format!("v_{port}"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // It is in a place for what may be forgotten.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The bytes that both sides know.
fn stream(len: usize) -> Vec<u8> {
    let mut state = 0u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn accept(listener: &UnixListener) -> Result<UnixStream> {
    let (stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    Ok(stream)
}

/// Takes a stream to its end and sends one.
fn streams(listener: &UnixListener, _: &Path) -> Result<()> {
    let mut guest = accept(listener)?;
    let mut got = Vec::new();
    guest.read_to_end(&mut got)?;
    ensure!(got == stream(LEN), "{} bytes, or other ones", got.len());
    guest.write_all(&stream(LEN))?;
    Ok(())
}

/// Reads nothing until the guest knocks; says how much it was then.
fn slow(listener: &UnixListener, _: &Path) -> Result<()> {
    let mut guest = accept(listener)?;
    // It stays: Linux waits in vain for a connection that is closed before the program that asked for it has woken.
    let _knock = accept(listener)?;
    let mut got = Vec::new();
    guest.read_to_end(&mut got)?;
    let (last, all) = got.split_last().context("nothing came")?;
    ensure!(*last == b'x' && all.iter().all(|byte| *byte == 0x5a), "other bytes");
    guest.write_all(&(got.len() as u64).to_le_bytes())?;
    Ok(())
}

/// Sends back what comes, connection after connection.
fn echo(listener: &UnixListener, _: &Path) -> Result<()> {
    let mut guest = accept(listener)?;
    std::thread::spawn(move || {
        let mut bytes = [0; 100];
        // What goes wrong shows in what the guest gets.
        while let Ok(len) = guest.read(&mut bytes)
            && len != 0
            && guest.write_all(&bytes[..len]).is_ok()
        {}
    });
    Ok(())
}

/// Connects to the guest, as the guest asks for by its connection, and tells it how that went.
fn call(listener: &UnixListener, socket: &Path) -> Result<()> {
    let mut guest = accept(listener)?;
    let refused = |line: &str| -> Result<()> {
        let mut stream = connect(socket, line)?;
        let mut said = Vec::new();
        stream.read_to_end(&mut said)?;
        ensure!(said.is_empty(), "{line:?} is answered with {}", String::from_utf8_lossy(&said));
        Ok(())
    };
    // Nobody listens there, and there are no such ports.
    for line in ["CONNECT 2001\n", "CONNECT x\n", "CONNECT 4294967296\n", "HELLO\n"] {
        refused(line)?;
    }
    // All are under way at once; the guest takes them one after the other.
    let mut streams = Vec::new();
    for _ in CALLS {
        let mut stream = connect(socket, "CONNECT 2000\n")?;
        let line = line(&mut stream)?;
        let port = line.strip_prefix("OK ").and_then(|port| port.parse::<u32>().ok());
        ensure!(port.is_some_and(|port| port >= 1 << 30), "the answer is {line:?}");
        streams.push(stream);
    }
    for (stream, len) in streams.iter_mut().zip(CALLS) {
        exchange(stream, len).with_context(|| format!("a stream of {len} bytes"))?;
    }
    guest.write_all(b"good")?;
    Ok(())
}

fn connect(socket: &Path, line: &str) -> Result<UnixStream> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    stream.write_all(line.as_bytes())?;
    Ok(stream)
}

/// A line, without its newline and without what is behind it.
fn line(stream: &mut UnixStream) -> Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while stream.read(&mut byte)? != 0 {
        if byte == *b"\n" {
            return Ok(String::from_utf8(line)?);
        }
        line.push(byte[0]);
    }
    bail!("the end, behind {line:?}")
}

/// Sends a stream, and gets as much back.
fn exchange(guest: &mut UnixStream, len: usize) -> Result<()> {
    let bytes = stream(len);
    guest.write_all(&bytes)?;
    guest.shutdown(Shutdown::Write)?;
    let mut got = Vec::new();
    guest.read_to_end(&mut got)?;
    ensure!(got == bytes, "{} bytes, or other ones", got.len());
    Ok(())
}
