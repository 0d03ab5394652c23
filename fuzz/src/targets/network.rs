//! Frames into the user network. Where they go on the host is steered: to ports of the target's own, to a port that nobody
//! listens on, or nowhere.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::OnceLock;

use virtio_net::user::{DNS, GATEWAY, GATEWAY_MAC, GUEST};
use virtio_net::{Link, UserConfig, UserNet, spec};

use crate::{Input, Target};

pub const TARGET: Target = Target { name: "network", run, seeds };

const MAC: [u8; 6] = [0x52, 0x54, 0, 0x12, 0x34, 0x56];

/// The host's side: one that accepts, one that takes datagrams, and a port that is nobody's.
struct Host {
    tcp: TcpListener,
    udp: UdpSocket,
    ports: [u16; 3],
}

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        tcp.set_nonblocking(true).expect("a socket");
        udp.set_nonblocking(true).expect("a socket");
        let port = |address: std::io::Result<std::net::SocketAddr>| address.expect("an address").port();
        // Port 1 is below those that programs are given, and no service's.
        let ports = [port(tcp.local_addr()), port(udp.local_addr()), 1];
        Host { tcp, udp, ports }
    })
}

/// Answers what came, so that both directions are worked.
fn serve(host: &Host, open: &mut Vec<TcpStream>) {
    while let Ok((stream, _)) = host.tcp.accept() {
        // Nothing is to wait in the host when it is dropped.
        let _ = stream.set_nonblocking(true);
        open.push(stream);
    }
    let mut bytes = [0; 2048];
    for stream in open {
        if let Ok(len) = stream.read(&mut bytes) {
            let _ = stream.write(&bytes[..len]);
        }
    }
    while let Ok((len, from)) = host.udp.recv_from(&mut bytes) {
        let _ = host.udp.send_to(&bytes[..len], from);
    }
}

fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Leads an IPv4 packet to where it does no harm, whatever it is; its checksums are made right where `is_right`.
fn steer(frame: &mut [u8], host: &Host, where_to: usize, is_right: bool) {
    const IP: usize = 14;
    if frame.len() < IP + 20 || frame[12..14] != [8, 0] {
        return;
    }
    let targets =
        [GATEWAY, GATEWAY, GATEWAY, DNS, GUEST, Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST, Ipv4Addr::new(224, 0, 0, 1)];
    frame[IP + 16..IP + 20].copy_from_slice(&targets[where_to % 8].octets());
    let header = usize::from(frame[IP] & 15) * 4;
    let end = frame.len();
    let transport = (IP + header).min(end);
    let protocol = frame[IP + 9];
    let is_dhcp = protocol == 17 && frame.get(transport + 2..transport + 4) == Some(&[0, 67]);
    // TCP, UDP and their kin have the port at the same place.
    if let Some(port) = frame.get_mut(transport + 2..transport + 4).filter(|_| !is_dhcp && protocol != 1) {
        let n = if where_to < 128 { usize::from(protocol == 17) } else { 2 };
        port.copy_from_slice(&host.ports[n].to_be_bytes());
    }
    if !is_right {
        return;
    }
    frame[IP + 2..IP + 4].copy_from_slice(&((end - IP) as u16).to_be_bytes());
    if header >= 20 && transport < end {
        frame[IP + 10..IP + 12].fill(0);
        let sum = checksum(&[&frame[IP..transport]]);
        frame[IP + 10..IP + 12].copy_from_slice(&sum.to_be_bytes());
    }
    let at = match protocol {
        1 => 2,
        6 => 16,
        17 => 6,
        _ => return,
    };
    if end < transport + at + 2 {
        return;
    }
    if protocol == 17 && end >= transport + 8 {
        frame[transport + 4..transport + 6].copy_from_slice(&((end - transport) as u16).to_be_bytes());
    }
    frame[transport + at..transport + at + 2].fill(0);
    let len = ((end - transport) as u16).to_be_bytes();
    let pseudo = [&frame[IP + 12..IP + 20], &[0, protocol], &len].concat();
    let sum = if protocol == 1 { checksum(&[&frame[transport..]]) } else { checksum(&[&pseudo, &frame[transport..]]) };
    frame[transport + at..transport + at + 2].copy_from_slice(&sum.to_be_bytes());
}

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let host = host();
    let dns = input.u8() & 1 == 0;
    let dns = dns.then(|| std::net::SocketAddrV4::new(Ipv4Addr::LOCALHOST, host.ports[1]));
    let mut net = UserNet::new(MAC, &UserConfig { dns, forwards: vec![] }).expect("a network");
    let (mut now, mut open) = (0, Vec::new());
    // The last numbers that came from the network, so that a segment can fit.
    let (mut seq, mut ack) = (0u32, 0u32);
    while !input.is_empty() {
        let what = input.u8();
        if what < 16 {
            now += input.value() & 0xf_ffff_ffff;
            std::thread::sleep(std::time::Duration::from_micros(60));
            net.poll(now);
        } else {
            let len = input.u16() % 1600;
            let mut frame = input.bytes(len.into()).to_vec();
            if what & 1 == 0 && frame.len() >= 14 {
                frame[..6].copy_from_slice(&if what & 2 == 0 { GATEWAY_MAC.0 } else { [0xff; 6] });
                frame[6..12].copy_from_slice(&MAC);
            }
            if what & 4 == 0 && frame.len() >= 54 && frame[14] == 0x45 && frame[23] == 6 {
                frame[38..42].copy_from_slice(&ack.to_be_bytes());
                frame[42..46].copy_from_slice(&seq.wrapping_add(1).to_be_bytes());
            }
            steer(&mut frame, host, input.u8().into(), what & 8 == 0);
            net.send(&frame, now);
        }
        serve(host, &mut open);
        while let Some(frame) = net.receive() {
            assert!(frame.len() <= spec::MAX_FRAME, "a frame of {} bytes", frame.len());
            if frame.len() >= 54 && frame[12..14] == [8, 0] && frame[23] == 6 {
                seq = u32::from_be_bytes([frame[38], frame[39], frame[40], frame[41]]);
                ack = u32::from_be_bytes([frame[42], frame[43], frame[44], frame[45]]);
            }
        }
    }
    net.reset();
}

fn seeds() -> Vec<Vec<u8>> {
    let ethernet = |kind: u16, payload: &[u8]| {
        let mut frame = vec![0; 12];
        frame.extend(kind.to_be_bytes());
        frame.extend(payload);
        frame
    };
    let ipv4 = |protocol: u8, source: Ipv4Addr, payload: &[u8]| {
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
        packet.extend(source.octets());
        packet.extend(GATEWAY.octets());
        packet.extend(payload);
        ethernet(0x800, &packet)
    };
    // What (with the right cards, numbers and sums), length, frame, where to.
    let send = |frame: &[u8], where_to: u8| {
        let mut bytes = vec![32];
        bytes.extend((frame.len() as u16).to_le_bytes());
        bytes.extend(frame);
        bytes.push(where_to);
        bytes
    };
    let wait = vec![0, 25];
    let tcp = |flags: u8, payload: &[u8]| {
        let mut segment = vec![7, 0xd0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, flags, 0xea, 0x60, 0, 0, 0, 0];
        segment.extend(payload);
        ipv4(6, GUEST, &segment)
    };
    let udp = |source: u16, target: u16, payload: &[u8]| {
        let mut datagram = source.to_be_bytes().to_vec();
        datagram.extend(target.to_be_bytes());
        datagram.extend([0; 4]);
        datagram.extend(payload);
        datagram
    };
    let mut arp = vec![0, 1, 8, 0, 6, 4, 0, 1];
    arp.extend(MAC);
    arp.extend(GUEST.octets());
    arp.extend([0; 6]);
    arp.extend(GATEWAY.octets());
    let mut dhcp = vec![1, 1, 6, 0, 0x12, 0x34, 0x56, 0x78];
    dhcp.resize(28, 0);
    dhcp.extend(MAC);
    dhcp.resize(236, 0);
    dhcp.extend([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 55, 2, 1, 3, 255]);
    let discover = ipv4(17, Ipv4Addr::UNSPECIFIED, &udp(68, 67, &dhcp));
    let echo = ipv4(1, GUEST, &[8, 0, 0, 0, 0, 1, 0, 1, 1, 2, 3, 4]);
    let query = ipv4(17, GUEST, &udp(1000, 53, b"a question"));
    let session = [
        send(&tcp(2, &[]), 0),
        wait.clone(),
        wait.clone(),
        send(&tcp(0x10, &[]), 0),
        send(&tcp(0x18, b"hello"), 0),
        wait.clone(),
        send(&tcp(0x11, &[]), 0),
        wait.clone(),
    ];
    let all = [
        send(&ethernet(0x806, &arp), 0),
        send(&discover, 6),
        send(&echo, 0),
        [send(&query, 3), wait.clone()].concat(),
        session.concat(),
        [send(&tcp(2, &[]), 128), wait.clone()].concat(),
        send(&tcp(4, &[]), 0),
        send(&ethernet(0x86dd, &[0x60; 40]), 0),
    ];
    all.into_iter().map(|bytes| [vec![0], bytes].concat()).collect()
}
