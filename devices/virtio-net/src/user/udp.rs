//! UDP: a socket of the host for each pair of ends.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use std::collections::VecDeque;

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr,
    UdpPacket, UdpRepr,
};

use super::{GATEWAY_MAC, GUEST, MAX_WAITING};

/// Most sockets; the one that was longest without a datagram gives way.
const MAX_FLOWS: usize = 128;
/// The longest datagram that one frame holds.
const MAX_DATAGRAM: usize = 1500 - 20 - 8;

struct Flow {
    socket: UdpSocket,
    used: u64,
}

/// The flows, by the guest's port and the other end as the guest knows it.
#[derive(Default)]
pub struct Udp {
    flows: BTreeMap<(u16, Ipv4Addr, u16), Flow>,
    clock: u64,
}

/// The port that a datagram is for.
pub fn port(payload: &[u8]) -> Option<u16> {
    Some(UdpPacket::new_checked(payload).ok()?.dst_port())
}

/// Is it for a DHCP server?
pub fn is_dhcp(payload: &[u8]) -> bool {
    port(payload) == Some(67)
}

impl Udp {
    /// A datagram of the guest for `host`.
    pub fn packet(&mut self, packet: &Ipv4Packet<&[u8]>, host: SocketAddr) -> Option<()> {
        let datagram = UdpPacket::new_checked(packet.payload()).ok()?;
        let (source, target) = (IpAddress::Ipv4(packet.src_addr()), IpAddress::Ipv4(packet.dst_addr()));
        if !datagram.verify_checksum(&source, &target) {
            return None;
        }
        self.clock += 1;
        let key = (datagram.src_port(), packet.dst_addr(), datagram.dst_port());
        if !self.flows.contains_key(&key) {
            if self.flows.len() >= MAX_FLOWS {
                let oldest = self.flows.iter().min_by_key(|(_, flow)| flow.used).map(|(key, _)| *key)?;
                self.flows.remove(&oldest);
            }
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
            socket.connect(host).ok()?;
            socket.set_nonblocking(true).ok()?;
            self.flows.insert(key, Flow { socket, used: 0 });
        }
        let flow = self.flows.get_mut(&key)?;
        flow.used = self.clock;
        // As on any network, it may be lost.
        let _ = flow.socket.send(datagram.payload());
        Some(())
    }

    /// Brings what came from the host's side.
    pub fn poll(&mut self, mac: EthernetAddress, frames: &mut VecDeque<Vec<u8>>) {
        let mut bytes = [0; MAX_DATAGRAM + 1];
        let mut gone = Vec::new();
        for (key, flow) in &mut self.flows {
            while frames.len() < MAX_WAITING {
                match flow.socket.recv(&mut bytes) {
                    // Too long for a frame.
                    Ok(len) if len > MAX_DATAGRAM => {}
                    Ok(len) => frames.push_back(frame(mac, (key.1, key.2), (GUEST, key.0), &bytes[..len])),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // Nobody is there.
                    Err(_) => {
                        gone.push(*key);
                        break;
                    }
                }
            }
        }
        for key in gone {
            self.flows.remove(&key);
        }
    }
}

/// A frame to the guest with a datagram in it.
pub fn frame(mac: EthernetAddress, from: (Ipv4Addr, u16), to: (Ipv4Addr, u16), payload: &[u8]) -> Vec<u8> {
    let checksums = ChecksumCapabilities::default();
    let udp = UdpRepr { src_port: from.1, dst_port: to.1 };
    let ip = Ipv4Repr {
        src_addr: from.0,
        dst_addr: to.0,
        next_header: IpProtocol::Udp,
        payload_len: udp.header_len() + payload.len(),
        hop_limit: 64,
    };
    let target = if to.0.is_broadcast() { EthernetAddress::BROADCAST } else { mac };
    let ethernet = EthernetRepr { src_addr: GATEWAY_MAC, dst_addr: target, ethertype: EthernetProtocol::Ipv4 };
    let mut bytes = vec![0; ethernet.buffer_len() + ip.buffer_len() + ip.payload_len];
    let mut frame = EthernetFrame::new_unchecked(bytes.as_mut_slice());
    ethernet.emit(&mut frame);
    let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
    ip.emit(&mut packet, &checksums);
    let mut datagram = UdpPacket::new_unchecked(packet.payload_mut());
    let (source, target) = (IpAddress::Ipv4(from.0), IpAddress::Ipv4(to.0));
    udp.emit(&mut datagram, &source, &target, payload.len(), |into| into.copy_from_slice(payload), &checksums);
    bytes
}
