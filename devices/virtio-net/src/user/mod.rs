//! A network of the tool's own, without privileges on the host: 10.0.2.0/24, in which the guest is 10.0.2.15.
//!
//! - 10.0.2.2 is the gateway. It answers DHCP and pings, and its TCP and UDP ports are those of the host's 127.0.0.1.
//! - 10.0.2.3, if the user named a server for names: its port 53 is that server's.
//! - Whatever is beyond, the guest reaches by TCP and UDP over IPv4; the host's own sockets make the connections.
//! - Connections to ports of the host's 127.0.0.1 that the user named are led to ports of the guest.
//!
//! Nothing else gets in, and frames of any other kind, or from any other address, are dropped.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet,
};
use thiserror::Error;

use crate::Link;

mod dhcp;
mod tcp;
mod udp;

/// The guest.
pub const GUEST: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 15);
/// The gateway.
pub const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 2);
/// The server for names.
pub const DNS: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);
/// Bits of the network's addresses.
pub const PREFIX: u8 = 24;
/// The gateway's card: a locally administered address.
pub const GATEWAY_MAC: EthernetAddress = EthernetAddress([0x52, 0x55, 10, 0, 2, 2]);

/// The host's sockets are looked at no more often than this.
const PATIENCE: Duration = Duration::from_micros(50);
/// Frames that wait for the guest; more are dropped.
const MAX_WAITING: usize = 512;

/// How the network is to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserConfig {
    /// The server for names.
    pub dns: Option<SocketAddrV4>,
    /// Ports of the host for ports of the guest.
    pub forwards: Vec<Forward>,
}

/// A TCP port of the host's 127.0.0.1 that leads to one of the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The host's port; 0 for any that is free.
    pub host: u16,
    /// The guest's port.
    pub guest: u16,
}

/// A network cannot be set up.
#[derive(Debug, Error)]
pub enum NetError {
    /// A port of the host.
    #[error("cannot listen on port {port} of 127.0.0.1: {source}; name another with forward=HOST:GUEST")]
    Listen {
        /// The port.
        port: u16,
        /// The host's reason.
        source: std::io::Error,
    },
}

/// The network.
pub struct UserNet {
    dns: Option<SocketAddrV4>,
    tcp: tcp::Tcp,
    udp: udp::Udp,
    /// Who the guest is, by its frames.
    guest_mac: EthernetAddress,
    /// Frames for the guest.
    frames: VecDeque<Vec<u8>>,
    polled: Instant,
}

impl UserNet {
    /// A network of `config` for a card with the address `mac`.
    pub fn new(mac: [u8; 6], config: &UserConfig) -> Result<Self, NetError> {
        Ok(Self {
            dns: config.dns,
            tcp: tcp::Tcp::new(&config.forwards)?,
            udp: udp::Udp::default(),
            guest_mac: EthernetAddress(mac),
            frames: VecDeque::new(),
            polled: Instant::now(),
        })
    }

    /// The host's ports that lead to the guest, in the order of the forwards.
    pub fn ports(&self) -> Vec<u16> {
        self.tcp.ports()
    }

    /// Looks at one frame of the guest; `None` where it is dropped.
    fn take(&mut self, bytes: &[u8], now: u64) -> Option<()> {
        let frame = EthernetFrame::new_checked(bytes).ok()?;
        let is_ours = frame.dst_addr() == GATEWAY_MAC || frame.dst_addr().is_broadcast();
        if !is_ours || frame.src_addr() != self.guest_mac {
            return None;
        }
        match frame.ethertype() {
            EthernetProtocol::Arp => self.arp(bytes, frame.payload(), now),
            EthernetProtocol::Ipv4 => {
                let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
                self.ipv4(bytes, &packet, now)
            }
            _ => None,
        }
    }

    /// The gateway and the server for names are there; the guest's answers are the TCP side's to know.
    fn arp(&mut self, bytes: &[u8], payload: &[u8], now: u64) -> Option<()> {
        let packet = ArpPacket::new_checked(payload).ok()?;
        let ArpRepr::EthernetIpv4 { operation, source_protocol_addr, target_protocol_addr, .. } =
            ArpRepr::parse(&packet).ok()?
        else {
            return None;
        };
        let wanted = match operation {
            ArpOperation::Reply => source_protocol_addr == GUEST,
            _ => source_protocol_addr == GUEST && self.is_here(target_protocol_addr),
        };
        wanted.then(|| self.tcp.take(bytes, now, &mut self.frames))
    }

    fn is_here(&self, address: Ipv4Addr) -> bool {
        address == GATEWAY || (address == DNS && self.dns.is_some())
    }

    fn ipv4(&mut self, bytes: &[u8], packet: &Ipv4Packet<&[u8]>, now: u64) -> Option<()> {
        // Pieces of packets are not put together.
        if !packet.verify_checksum() || packet.more_frags() || packet.frag_offset() != 0 {
            return None;
        }
        let target = packet.dst_addr();
        if packet.next_header() == IpProtocol::Udp && udp::is_dhcp(packet.payload()) {
            let answer = dhcp::answer(packet, self.guest_mac, self.dns.is_some())?;
            self.frames.push_back(answer);
            return Some(());
        }
        if packet.src_addr() != GUEST {
            return None;
        }
        match packet.next_header() {
            IpProtocol::Icmp => self.is_here(target).then(|| self.tcp.take(bytes, now, &mut self.frames)),
            IpProtocol::Tcp => {
                let port = tcp::port(packet.payload())?;
                let host = self.host_of(target, port);
                self.tcp.packet(bytes, packet, host, now, &mut self.frames)
            }
            IpProtocol::Udp => {
                let port = udp::port(packet.payload())?;
                let host = self.host_of(target, port)?;
                self.udp.packet(packet, host)
            }
            _ => None,
        }
    }

    /// Where on the host's side something for `target` goes; `None` for nowhere.
    fn host_of(&self, target: Ipv4Addr, port: u16) -> Option<SocketAddr> {
        let is_near = target.octets()[..3] == GATEWAY.octets()[..3];
        if target == GATEWAY {
            Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into())
        } else if target == DNS && port == 53 {
            self.dns.map(SocketAddr::from)
        } else if is_near
            || target.is_loopback()
            || target.is_multicast()
            || target.is_broadcast()
            || target.octets()[0] == 0
            || port == 0
        {
            None
        } else {
            Some(SocketAddrV4::new(target, port).into())
        }
    }
}

impl Link for UserNet {
    fn send(&mut self, frame: &[u8], now: u64) {
        if self.frames.len() < MAX_WAITING {
            // What is not for us is dropped.
            let _ = self.take(frame, now);
        }
    }
    fn poll(&mut self, now: u64) {
        if self.polled.elapsed() < PATIENCE {
            return;
        }
        self.polled = Instant::now();
        if self.frames.len() < MAX_WAITING {
            self.tcp.poll(now, &mut self.frames);
            self.udp.poll(self.guest_mac, &mut self.frames);
        }
    }
    fn receive(&mut self) -> Option<Vec<u8>> {
        self.frames.pop_front()
    }
    fn reset(&mut self) {
        self.frames.clear();
        self.tcp.forget();
        self.udp = udp::Udp::default();
    }
}
