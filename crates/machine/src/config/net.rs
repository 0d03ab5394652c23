//! `--net`

use std::net::{Ipv4Addr, SocketAddrV4};

use virtio_net::{Forward, UserConfig};

use super::ConfigError;

/// `none`, or `user[,dns=ADDRESS[:PORT]][,forward=HOST:GUEST]...`.
pub fn parse_net(text: &str) -> Result<Option<UserConfig>, ConfigError> {
    let mut words = text.split(',');
    let mut config = match words.next() {
        Some("none") if text == "none" => return Ok(None),
        Some("user") => UserConfig::default(),
        _ => return Err(ConfigError::NetSyntax(text.to_owned())),
    };
    for word in words {
        let is_good = match word.split_once('=') {
            Some(("dns", server)) => {
                let alone = || Some(SocketAddrV4::new(server.parse::<Ipv4Addr>().ok()?, 53));
                config.dns = server.parse().ok().or_else(alone);
                config.dns.is_some()
            }
            Some(("forward", ports)) => {
                let ports = ports.split_once(':').and_then(|(host, guest)| {
                    Some(Forward { host: host.parse().ok()?, guest: guest.parse().ok().filter(|port| *port != 0)? })
                });
                config.forwards.extend(ports);
                ports.is_some()
            }
            _ => false,
        };
        if !is_good {
            return Err(ConfigError::NetSyntax(text.to_owned()));
        }
    }
    Ok(Some(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks() {
        assert_eq!(parse_net("none"), Ok(None));
        assert_eq!(parse_net("user"), Ok(Some(UserConfig::default())));
        let config = parse_net("user,dns=9.9.9.9,forward=8080:80,forward=0:22").unwrap().unwrap();
        assert_eq!(config.dns, Some("9.9.9.9:53".parse().unwrap()));
        assert_eq!(config.forwards, [Forward { host: 8080, guest: 80 }, Forward { host: 0, guest: 22 }]);
        assert_eq!(parse_net("user,dns=1.2.3.4:99").unwrap().unwrap().dns, Some("1.2.3.4:99".parse().unwrap()));
        for bad in
            ["", "tap", "none,dns=1.1.1.1", "user,dns=x", "user,forward=1", "user,forward=1:0", "user,x", "user,"]
        {
            assert_eq!(parse_net(bad), Err(ConfigError::NetSyntax(bad.into())));
        }
    }
}
