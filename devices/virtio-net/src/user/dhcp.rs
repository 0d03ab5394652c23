//! DHCP (RFC 2131): one address for one guest, for ever.

use std::net::Ipv4Addr;

use smoltcp::wire::{DhcpMessageType, DhcpOption, DhcpPacket, DhcpRepr, EthernetAddress, Ipv4Packet, UdpPacket};

use super::{DNS, GATEWAY, GUEST, udp};

const SERVER_PORT: u16 = 67;
const CLIENT_PORT: u16 = 68;
/// Option 6: servers for names.
const OPTION_DNS: u8 = 6;
const LEASE_SECONDS: u32 = 86_400;

/// The frame that answers a message of a client; `None` where there is nothing to say.
pub fn answer(packet: &Ipv4Packet<&[u8]>, mac: EthernetAddress, has_dns: bool) -> Option<Vec<u8>> {
    let datagram = UdpPacket::new_checked(packet.payload()).ok()?;
    if datagram.dst_port() != SERVER_PORT {
        return None;
    }
    let message = DhcpPacket::new_checked(datagram.payload()).ok()?;
    let message = DhcpRepr::parse(&message).ok()?;
    if message.client_hardware_address != mac {
        return None;
    }
    let wanted = message.requested_ip.unwrap_or(message.client_ip);
    let kind = match message.message_type {
        DhcpMessageType::Discover => DhcpMessageType::Offer,
        DhcpMessageType::Request if message.server_identifier.is_some_and(|server| server != GATEWAY) => return None,
        DhcpMessageType::Request if wanted == GUEST => DhcpMessageType::Ack,
        DhcpMessageType::Request => DhcpMessageType::Nak,
        _ => return None,
    };
    let servers = DNS.octets();
    let options = [DhcpOption { kind: OPTION_DNS, data: &servers }];
    let is_given = kind != DhcpMessageType::Nak;
    let reply = DhcpRepr {
        message_type: kind,
        transaction_id: message.transaction_id,
        secs: 0,
        client_hardware_address: mac,
        client_ip: Ipv4Addr::UNSPECIFIED,
        your_ip: if is_given { GUEST } else { Ipv4Addr::UNSPECIFIED },
        server_ip: GATEWAY,
        router: is_given.then_some(GATEWAY),
        subnet_mask: is_given.then_some(Ipv4Addr::new(255, 255, 255, 0)),
        relay_agent_ip: Ipv4Addr::UNSPECIFIED,
        broadcast: message.broadcast,
        requested_ip: None,
        client_identifier: None,
        server_identifier: Some(GATEWAY),
        parameter_request_list: None,
        dns_servers: None,
        max_size: None,
        lease_duration: is_given.then_some(LEASE_SECONDS),
        renew_duration: None,
        rebind_duration: None,
        additional_options: if has_dns && is_given { &options } else { &[] },
    };
    let mut bytes = vec![0; reply.buffer_len()];
    reply.emit(&mut DhcpPacket::new_unchecked(bytes.as_mut_slice())).ok()?;
    // To everybody: the guest has no address yet.
    Some(udp::frame(mac, (GATEWAY, SERVER_PORT), (Ipv4Addr::BROADCAST, CLIENT_PORT), &bytes))
}
