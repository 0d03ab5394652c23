//! TCP: a connection of the guest ends here, and one of the host's goes on in its place.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, IpListenEndpoint, Ipv4Packet, TcpPacket};

use super::{Forward, GATEWAY, GATEWAY_MAC, GUEST, MAX_WAITING, NetError, PREFIX};
use crate::spec::MAX_FRAME;

/// Most connections; the guest's further ones are refused.
const MAX_FLOWS: usize = 128;
/// Bytes of a connection that wait, in each direction.
const BUFFER: usize = 64 << 10;
/// The first port of the gateway's own connections to the guest.
const FIRST_PORT: u16 = 49_152;

/// The wire between the guest and the gateway's TCP.
#[derive(Default)]
struct Wire {
    to_gateway: VecDeque<Vec<u8>>,
    to_guest: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);
struct Sending<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut bytes = vec![0; len];
        let result = f(&mut bytes);
        self.0.push_back(bytes);
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sending<'_>)> {
        let frame = self.to_gateway.pop_front()?;
        Some((Received(frame), Sending(&mut self.to_guest)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Sending<'_>> {
        (self.to_guest.len() < MAX_WAITING).then_some(Sending(&mut self.to_guest))
    }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = MAX_FRAME;
        capabilities
    }
}

/// The two ends of a connection on the guest's side: the guest's port, and the other end as the guest knows it.
type Ends = (u16, Ipv4Addr, u16);

enum Stage {
    /// The host's socket is not connected yet; this frame of the guest's waits for it.
    Connecting(Vec<u8>),
    /// Both are.
    Open {
        socket: SocketHandle,
        /// The guest's side has ended, and the host's socket was told.
        told_host: bool,
    },
}

struct Flow {
    ends: Ends,
    host: TcpStream,
    stage: Stage,
}

/// All connections.
pub struct Tcp {
    interface: Interface,
    sockets: SocketSet<'static>,
    wire: Wire,
    flows: Vec<Flow>,
    listeners: Vec<(TcpListener, u16)>,
    next_port: u16,
}

fn instant(now: u64) -> Instant {
    Instant::from_micros((now / 1000) as i64)
}

/// The port that a segment is for.
pub fn port(payload: &[u8]) -> Option<u16> {
    Some(TcpPacket::new_checked(payload).ok()?.dst_port())
}

impl Tcp {
    /// No connections, and listeners for `forwards`.
    pub fn new(forwards: &[Forward]) -> Result<Self, NetError> {
        let mut wire = Wire::default();
        let config = Config::new(HardwareAddress::Ethernet(GATEWAY_MAC));
        let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
        // The gateway stands in for whatever the guest speaks to.
        interface.set_any_ip(true);
        interface.update_ip_addrs(|addresses| {
            // There is room for two.
            let _ = addresses.push(IpCidr::new(IpAddress::Ipv4(GATEWAY), PREFIX));
        });
        let _ = interface.routes_mut().add_default_ipv4_route(GATEWAY);
        let mut listeners = Vec::new();
        for forward in forwards {
            let failed = |source| NetError::Listen { port: forward.host, source };
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, forward.host)).map_err(failed)?;
            listener.set_nonblocking(true).map_err(failed)?;
            listeners.push((listener, forward.guest));
        }
        let sockets = SocketSet::new(Vec::new());
        Ok(Self { interface, sockets, wire, flows: Vec::new(), listeners, next_port: FIRST_PORT })
    }

    /// The host's ports that are listened on.
    pub fn ports(&self) -> Vec<u16> {
        self.listeners.iter().filter_map(|(listener, _)| Some(listener.local_addr().ok()?.port())).collect()
    }

    /// All connections end.
    pub fn forget(&mut self) {
        self.flows.clear();
        self.sockets = SocketSet::new(Vec::new());
        self.wire = Wire::default();
    }

    /// A frame that needs no connection, or one that is there.
    pub fn take(&mut self, frame: &[u8], now: u64, frames: &mut VecDeque<Vec<u8>>) {
        self.wire.to_gateway.push_back(frame.to_vec());
        self.exchange(now, frames);
    }

    fn exchange(&mut self, now: u64, frames: &mut VecDeque<Vec<u8>>) {
        self.interface.poll(instant(now), &mut self.wire, &mut self.sockets);
        frames.append(&mut self.wire.to_guest);
    }

    /// A segment of the guest, whose other end is `host`, or nobody.
    pub fn packet(
        &mut self,
        frame: &[u8],
        packet: &Ipv4Packet<&[u8]>,
        host: Option<SocketAddr>,
        now: u64,
        frames: &mut VecDeque<Vec<u8>>,
    ) -> Option<()> {
        let segment = TcpPacket::new_checked(packet.payload()).ok()?;
        let ends = (segment.src_port(), packet.dst_addr(), segment.dst_port());
        let known = self.flows.iter().find(|flow| flow.ends == ends);
        match known {
            // It says the same again; its first one waits.
            Some(Flow { stage: Stage::Connecting(_), .. }) => return Some(()),
            None if segment.syn() && !segment.ack() && segment.src_port() != 0 => {
                let host = host.filter(|_| self.flows.len() < MAX_FLOWS);
                if let Some(stream) = host.and_then(connect) {
                    self.flows.push(Flow { ends, host: stream, stage: Stage::Connecting(frame.to_vec()) });
                    return Some(());
                }
            }
            _ => {}
        }
        // Where there is no connection, it is reset.
        self.take(frame, now, frames);
        Some(())
    }

    /// Moves what can be moved.
    pub fn poll(&mut self, now: u64, frames: &mut VecDeque<Vec<u8>>) {
        self.accept();
        let mut index = 0;
        while index < self.flows.len() {
            if self.step(index, now, frames) {
                index += 1;
            } else {
                let flow = self.flows.swap_remove(index);
                if let Stage::Open { socket, .. } = flow.stage {
                    self.sockets.remove(socket);
                }
            }
        }
        self.exchange(now, frames);
    }

    /// Takes connections of the host's on to the guest.
    fn accept(&mut self) {
        for n in 0..self.listeners.len() {
            if self.flows.len() >= MAX_FLOWS {
                return;
            }
            let (listener, guest_port) = &self.listeners[n];
            let Ok((stream, _)) = listener.accept() else { continue };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let port = self.next_port;
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_PORT);
            let mut socket = new_socket();
            let (to, from) = ((IpAddress::Ipv4(GUEST), *guest_port), (IpAddress::Ipv4(GATEWAY), port));
            if socket.connect(self.interface.context(), to, from).is_ok() {
                let socket = self.sockets.add(socket);
                let ends = (*guest_port, GATEWAY, port);
                self.flows.push(Flow { ends, host: stream, stage: Stage::Open { socket, told_host: false } });
            }
        }
    }

    /// One connection's turn; false where it is over.
    fn step(&mut self, index: usize, now: u64, frames: &mut VecDeque<Vec<u8>>) -> bool {
        let flow = &mut self.flows[index];
        match &mut flow.stage {
            Stage::Connecting(frame) => {
                let Some(result) = connected(&flow.host) else { return true };
                let frame = std::mem::take(frame);
                let mut is_on = false;
                if result {
                    let mut socket = new_socket();
                    let end = IpListenEndpoint { addr: Some(IpAddress::Ipv4(flow.ends.1)), port: flow.ends.2 };
                    is_on = socket.listen(end).is_ok();
                    let socket = self.sockets.add(socket);
                    flow.stage = Stage::Open { socket, told_host: false };
                }
                // With no socket for it, it is reset.
                self.take(&frame, now, frames);
                is_on
            }
            Stage::Open { socket, told_host } => {
                let socket = self.sockets.get_mut::<Socket>(*socket);
                if move_bytes(socket, &mut flow.host, told_host).is_none() {
                    socket.abort();
                    // The reset is sent before the socket is removed.
                    self.exchange(now, frames);
                    return false;
                }
                !matches!(socket.state(), State::Closed | State::TimeWait)
            }
        }
    }
}

fn new_socket() -> Socket<'static> {
    let mut socket = Socket::new(SocketBuffer::new(vec![0; BUFFER]), SocketBuffer::new(vec![0; BUFFER]));
    // What waits should not wait for an acknowledgement that a sleeping guest sends late.
    socket.set_nagle_enabled(false);
    socket.set_ack_delay(None);
    socket
}

/// Begins a connection of the host's.
fn connect(host: SocketAddr) -> Option<TcpStream> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).ok()?;
    match rustix::net::connect(&socket, &host) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Some(socket.into()),
        Err(_) => None,
    }
}

/// Whether it came about; `None` while that is open.
fn connected(stream: &TcpStream) -> Option<bool> {
    let mut fds = [PollFd::new(stream, PollFlags::OUT)];
    let ready = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
    match ready {
        Ok(0) => None,
        _ => Some(stream.take_error().is_ok_and(|error| error.is_none()) && stream.peer_addr().is_ok()),
    }
}

/// Moves bytes both ways; `None` where the host's side failed.
fn move_bytes(socket: &mut Socket, host: &mut TcpStream, told_host: &mut bool) -> Option<()> {
    while socket.can_recv() {
        let sent = socket.recv(|bytes| match host.write(bytes) {
            Ok(n) => (n, Ok(n)),
            Err(error) => (0, Err(error.kind())),
        });
        match sent.ok()? {
            Ok(0) | Err(ErrorKind::WouldBlock) => break,
            Ok(_) | Err(ErrorKind::Interrupted) => {}
            Err(_) => return None,
        }
    }
    let is_up = !matches!(socket.state(), State::Listen | State::SynSent | State::SynReceived);
    if is_up && !socket.may_recv() && !socket.can_recv() && !*told_host {
        *told_host = true;
        // A host's socket that is gone shows that when it is read.
        let _ = host.shutdown(Shutdown::Write);
    }
    while socket.can_send() {
        let read = socket.send(|bytes| match host.read(bytes) {
            Ok(n) => (n, Ok(n)),
            Err(error) => (0, Err(error.kind())),
        });
        match read.ok()? {
            Ok(0) => {
                socket.close();
                break;
            }
            Err(ErrorKind::WouldBlock) => break,
            Ok(_) | Err(ErrorKind::Interrupted) => {}
            Err(_) => return None,
        }
    }
    Some(())
}
