use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpAddress,
    IpProtocol, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber, UdpPacket, UdpRepr,
};
use virtio_mmio::spec::{reg, ring};
use virtio_mmio::testing::{DATA, Driver, Junk, Random};

use super::user::{DNS, GATEWAY, GATEWAY_MAC, GUEST};
use super::*;

const MAC: [u8; 6] = [0x52, 0x54, 0, 0x12, 0x34, 0x56];

fn net(config: &UserConfig) -> UserNet {
    UserNet::new(MAC, config).expect("a network")
}

fn ethernet(kind: EthernetProtocol, len: usize, fill: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let repr = EthernetRepr { src_addr: EthernetAddress(MAC), dst_addr: GATEWAY_MAC, ethertype: kind };
    let mut bytes = vec![0; 14 + len];
    let mut frame = EthernetFrame::new_unchecked(bytes.as_mut_slice());
    repr.emit(&mut frame);
    fill(frame.payload_mut());
    bytes
}

fn ipv4(to: Ipv4Addr, protocol: IpProtocol, len: usize, fill: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let ip = Ipv4Repr { src_addr: GUEST, dst_addr: to, next_header: protocol, payload_len: len, hop_limit: 64 };
    ethernet(EthernetProtocol::Ipv4, 20 + len, |bytes| {
        let mut packet = Ipv4Packet::new_unchecked(bytes);
        ip.emit(&mut packet, &ChecksumCapabilities::default());
        fill(packet.payload_mut());
    })
}

fn udp(to: Ipv4Addr, port: u16, payload: &[u8]) -> Vec<u8> {
    let repr = UdpRepr { src_port: 1000, dst_port: port };
    ipv4(to, IpProtocol::Udp, 8 + payload.len(), |bytes| {
        let (from, to) = (IpAddress::Ipv4(GUEST), IpAddress::Ipv4(to));
        let mut packet = UdpPacket::new_unchecked(bytes);
        let fill = |into: &mut [u8]| into.copy_from_slice(payload);
        repr.emit(&mut packet, &from, &to, payload.len(), fill, &ChecksumCapabilities::default());
    })
}

/// A segment, by its control bit, its numbers and its bytes.
fn tcp(to: Ipv4Addr, port: u16, control: TcpControl, seq: i32, ack: Option<i32>, payload: &[u8]) -> Vec<u8> {
    let repr = TcpRepr {
        src_port: 2000,
        dst_port: port,
        control,
        seq_number: TcpSeqNumber(seq),
        ack_number: ack.map(TcpSeqNumber),
        window_len: 60_000,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload,
    };
    ipv4(to, IpProtocol::Tcp, repr.buffer_len(), |bytes| {
        let (from, to) = (IpAddress::Ipv4(GUEST), IpAddress::Ipv4(to));
        repr.emit(&mut TcpPacket::new_unchecked(bytes), &from, &to, &ChecksumCapabilities::default());
    })
}

fn arp(target: Ipv4Addr) -> Vec<u8> {
    let repr = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Request,
        source_hardware_addr: EthernetAddress(MAC),
        source_protocol_addr: GUEST,
        target_hardware_addr: EthernetAddress([0; 6]),
        target_protocol_addr: target,
    };
    ethernet(EthernetProtocol::Arp, repr.buffer_len(), |bytes| repr.emit(&mut ArpPacket::new_unchecked(bytes)))
}

/// Polls until a frame comes for the guest.
fn next(net: &mut UserNet) -> Option<Vec<u8>> {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
        net.poll(started.elapsed().as_nanos() as u64);
        if let Some(frame) = net.receive() {
            return Some(frame);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    None
}

/// The next segment for the guest: control bits, number, acknowledgement, bytes.
fn segment(net: &mut UserNet) -> (bool, bool, bool, i32, i32, Vec<u8>) {
    let frame = next(net).expect("a frame");
    let frame = EthernetFrame::new_checked(frame.as_slice()).expect("a frame");
    let packet = Ipv4Packet::new_checked(frame.payload()).expect("a packet");
    assert!(packet.verify_checksum());
    let segment = TcpPacket::new_checked(packet.payload()).expect("a segment");
    assert!(segment.verify_checksum(&packet.src_addr().into(), &packet.dst_addr().into()));
    let numbers = (segment.seq_number().0, segment.ack_number().0);
    (segment.syn(), segment.fin(), segment.rst(), numbers.0, numbers.1, segment.payload().to_vec())
}

#[test]
fn who_is_there() {
    let mut net = net(&UserConfig::default());
    net.send(&arp(GATEWAY), 0);
    let frame = net.receive().expect("an answer");
    assert_eq!(EthernetFrame::new_unchecked(frame).src_addr(), GATEWAY_MAC);
    // Not the guest itself, nor a server for names that was not named, nor anybody else.
    for nobody in [GUEST, DNS, Ipv4Addr::new(10, 0, 2, 99), Ipv4Addr::new(8, 8, 8, 8)] {
        net.send(&arp(nobody), 0);
        assert_eq!(net.receive(), None, "{nobody}");
    }
    // Another card's frame.
    let mut foreign = arp(GATEWAY);
    foreign[11] ^= 1;
    net.send(&foreign, 0);
    assert_eq!(net.receive(), None);
}

#[test]
fn pings_of_the_gateway_are_answered() {
    use smoltcp::wire::{Icmpv4Packet, Icmpv4Repr};
    let mut net = net(&UserConfig::default());
    net.send(&arp(GATEWAY), 0);
    net.receive().expect("an answer");
    let ping = |to| {
        let repr = Icmpv4Repr::EchoRequest { ident: 5, seq_no: 6, data: b"ping" };
        ipv4(to, IpProtocol::Icmp, repr.buffer_len(), |bytes| {
            repr.emit(&mut Icmpv4Packet::new_unchecked(bytes), &ChecksumCapabilities::default());
        })
    };
    net.send(&ping(GATEWAY), 0);
    let frame = net.receive().expect("an answer");
    let frame = EthernetFrame::new_unchecked(frame.as_slice());
    let packet = Ipv4Packet::new_checked(frame.payload()).expect("a packet");
    let icmp = Icmpv4Packet::new_checked(packet.payload()).expect("a message");
    let repr = Icmpv4Repr::parse(&icmp, &ChecksumCapabilities::default()).expect("a message");
    assert_eq!(repr, Icmpv4Repr::EchoReply { ident: 5, seq_no: 6, data: b"ping" });
    for nobody in [DNS, Ipv4Addr::new(8, 8, 8, 8), Ipv4Addr::new(10, 0, 2, 77)] {
        net.send(&ping(nobody), 0);
        assert_eq!(net.receive(), None, "{nobody}");
    }
}

#[test]
fn datagrams_go_to_the_host_and_back() {
    let host = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let port = host.local_addr().expect("a port").port();
    let dns = Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
    let mut net = net(&UserConfig { dns, forwards: vec![] });
    for (to, to_port) in [(GATEWAY, port), (DNS, 53)] {
        net.send(&udp(to, to_port, b"question"), 0);
        let mut bytes = [0; 100];
        let (len, from) = host.recv_from(&mut bytes).expect("the question");
        assert_eq!(&bytes[..len], b"question");
        host.send_to(b"answer", from).expect("sent");
        let frame = next(&mut net).expect("the answer");
        let frame = EthernetFrame::new_unchecked(frame.as_slice());
        let packet = Ipv4Packet::new_checked(frame.payload()).expect("a packet");
        assert_eq!((packet.src_addr(), packet.dst_addr()), (to, GUEST));
        let datagram = UdpPacket::new_checked(packet.payload()).expect("a datagram");
        assert!(datagram.verify_checksum(&to.into(), &GUEST.into()));
        assert_eq!((datagram.src_port(), datagram.dst_port(), datagram.payload()), (to_port, 1000, &b"answer"[..]));
    }
    // The host's loopback is not reached by its own address, and no other port of the server is.
    host.set_read_timeout(Some(Duration::from_millis(50))).expect("set");
    for (to, to_port) in [(Ipv4Addr::LOCALHOST, port), (DNS, port), (Ipv4Addr::new(10, 0, 2, 7), port), (GATEWAY, 0)] {
        net.send(&udp(to, to_port, b"x"), 0);
        assert!(host.recv(&mut [0; 8]).is_err(), "{to}");
    }
}

#[test]
fn a_connection_of_the_guest() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
    let port = listener.local_addr().expect("a port").port();
    let mut net = net(&UserConfig::default());
    net.send(&arp(GATEWAY), 0);
    net.receive().expect("an answer");
    net.send(&tcp(GATEWAY, port, TcpControl::Syn, 100, None, b""), 0);
    let (syn, _, rst, seq, ack, _) = segment(&mut net);
    assert_eq!((syn, rst, ack), (true, false, 101));
    let (mut host, _) = listener.accept().expect("a connection");
    net.send(&tcp(GATEWAY, port, TcpControl::Psh, 101, Some(seq + 1), b"hello"), 0);
    let mut bytes = [0; 5];
    host.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
    net.poll(0);
    std::thread::sleep(Duration::from_millis(1));
    net.poll(0);
    host.read_exact(&mut bytes).expect("the guest's bytes");
    assert_eq!(&bytes, b"hello");
    host.write_all(b"world").expect("sent");
    drop(host);
    let (mut got, mut ended) = (vec![], false);
    while !ended {
        let (_, fin, rst, _, _, bytes) = segment(&mut net);
        assert!(!rst);
        got.extend(bytes);
        ended = fin;
    }
    assert_eq!(got, b"world");
}

#[test]
fn a_connection_that_the_host_refuses_is_reset() {
    let closed = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
        listener.local_addr().expect("a port").port()
    };
    let mut net = net(&UserConfig::default());
    net.send(&arp(GATEWAY), 0);
    net.receive().expect("an answer");
    for (to, port) in [(GATEWAY, closed), (DNS, 53), (Ipv4Addr::LOCALHOST, 1), (Ipv4Addr::new(10, 0, 2, 50), 80)] {
        net.send(&tcp(to, port, TcpControl::Syn, 100, None, b""), 0);
        let (_, _, rst, _, ack, _) = segment(&mut net);
        assert!(rst && ack == 101, "{to} {port}");
    }
}

#[test]
fn a_forward_leads_to_the_guest() {
    let mut net = net(&UserConfig { dns: None, forwards: vec![Forward { host: 0, guest: 80 }] });
    net.send(&arp(GATEWAY), 0);
    net.receive().expect("an answer");
    let host = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, net.ports()[0])).expect("a connection");
    let (syn, _, _, seq, _, _) = segment(&mut net);
    assert!(syn);
    drop((host, seq));
    // A port that is taken is named.
    let taken = net.ports()[0];
    let error = UserNet::new(MAC, &UserConfig { dns: None, forwards: vec![Forward { host: taken, guest: 1 }] });
    let text = error.err().expect("it is taken").to_string();
    assert!(text.contains(&format!("port {taken} of 127.0.0.1")), "{text}");
}

#[test]
fn frames_go_both_ways_in_the_drivers_buffers() {
    let mut driver = Driver::live(Box::new(VirtioNet::new(MAC, Box::new(net(&UserConfig::default())))), 16, 0);
    assert_eq!(driver.read(reg::DEVICE_ID), 1);
    assert_eq!(driver.read(reg::CONFIG).to_le_bytes(), MAC[..4]);
    let frame = [vec![0; HEADER_LEN], arp(GATEWAY)].concat();
    driver.memory.write(DATA, &frame).expect("RAM");
    driver.queue = spec::TRANSMIT;
    assert_eq!(driver.request(&[(DATA, 12, 0), (DATA + 12, frame.len() as u32 - 12, 0)]), [(0, 0)]);
    driver.queue = spec::RECEIVE;
    driver.mmio.poll(0);
    assert_eq!(driver.used(), []);
    assert_eq!(driver.request(&[(DATA + 0x1000, 1526, ring::WRITE)]), [(0, 12 + 42)]);
    assert_eq!(driver.bytes(DATA + 0x1000, 12), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(driver.bytes(DATA + 0x100c, 6), MAC);
    // Runts and giants are dropped, the queue goes on.
    driver.queue = spec::TRANSMIT;
    for len in [12, 20, 1600] {
        assert_eq!(driver.request(&[(DATA, len, 0)]), [(0, 0)]);
    }
    assert_eq!(driver.request(&[(DATA, 11, 0)]), []);
    assert!(matches!(driver.mmio.broken(), Some(QueueError::Request(_))));
}

/// Frames that are nearly right. Nothing that they ask for may leave the host: targets are those of the gateway alone.
#[test]
fn junk() {
    let request = |random: &mut Random, bytes: &mut Vec<u8>| {
        let payload: Vec<u8> = (0..random.below(80)).map(|_| random.word() as u8).collect();
        let controls = [TcpControl::Syn, TcpControl::Fin, TcpControl::Rst, TcpControl::None, TcpControl::Psh];
        let to = random.of(&[GATEWAY, DNS, GUEST, Ipv4Addr::new(10, 0, 2, 9), Ipv4Addr::BROADCAST]);
        let port = random.of(&[0, 1, 53, 67, 9]);
        let mut frame = match random.below(6) {
            0 => arp(to),
            1 => udp(to, port, &payload),
            2 => ipv4(to, IpProtocol::Icmp, payload.len(), |into| into.copy_from_slice(&payload)),
            3 => ethernet(EthernetProtocol::Ipv4, payload.len(), |into| into.copy_from_slice(&payload)),
            _ => {
                let ack = (random.below(2) == 0).then(|| random.word() as i32);
                tcp(to, port, random.of(&controls), random.word() as i32, ack, &payload)
            }
        };
        if random.below(2) == 0 {
            // Behind the addresses, which are what keeps it here.
            let at = 34 + random.below(frame.len().saturating_sub(34).max(1) as u64) as usize;
            if let Some(byte) = frame.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        if random.below(8) == 0 {
            frame.truncate(random.below(60) as usize);
        }
        bytes.extend([0; HEADER_LEN]);
        bytes.extend(frame);
    };
    let device = || -> Box<dyn VirtioDevice> {
        let config = UserConfig { dns: Some(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9)), forwards: vec![] };
        Box::new(VirtioNet::new(MAC, Box::new(net(&config))))
    };
    let answered = Junk { device: &device, request: &request, seed: 0x0001_0001, steps: 20_000 }.run();
    assert!(answered > 500, "{answered}");
    let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    assert!(descriptors < 600, "{descriptors} descriptors");
}
