//! `--vsock`

use std::path::PathBuf;
use std::str::FromStr;

use virtio_vsock::MAX_PATH;
use virtio_vsock::spec::{MAX_CID, MIN_CID};

use super::ConfigError;

/// A virtio socket device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VsockConfig {
    /// The guest's context identifier, [`MIN_CID`] to [`MAX_CID`].
    pub cid: u32,
    /// Where the host's programs find the guest: a path of at most [`MAX_PATH`] bytes.
    pub socket: PathBuf,
}

impl FromStr for VsockConfig {
    type Err = ConfigError;

    /// `cid=N,socket=PATH`; commas behind `socket=` are the path's.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let syntax = || ConfigError::VsockSyntax(text.to_owned());
        let (cid, socket) = text.split_once(',').ok_or_else(syntax)?;
        let cid = cid.strip_prefix("cid=").filter(|cid| cid.bytes().all(|b| b.is_ascii_digit())).ok_or_else(syntax)?;
        let socket = socket.strip_prefix("socket=").filter(|path| !path.is_empty()).ok_or_else(syntax)?;
        let cid = cid.parse().ok().filter(|cid| (MIN_CID..=MAX_CID).contains(cid));
        let cid = cid.ok_or_else(|| ConfigError::VsockCid(text.to_owned()))?;
        if socket.len() > MAX_PATH {
            return Err(ConfigError::VsockPath { text: text.to_owned(), len: socket.len() });
        }
        Ok(Self { cid, socket: socket.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets() {
        let good = |text: &str, cid, socket: &str| {
            assert_eq!(text.parse(), Ok(VsockConfig { cid, socket: socket.into() }));
        };
        good("cid=3,socket=a", 3, "a");
        good("cid=4294967294,socket=/tmp/a,b", u32::MAX - 1, "/tmp/a,b");
        good(&format!("cid=3,socket={}", "x".repeat(96)), 3, &"x".repeat(96));
        let bad = |text: &str| text.parse::<VsockConfig>().unwrap_err();
        for text in
            ["", "3", "cid=3", "socket=a", "socket=a,cid=3", "cid=x,socket=a", "cid=+3,socket=a", "cid=3,socket="]
        {
            assert_eq!(bad(text), ConfigError::VsockSyntax(text.into()));
        }
        for cid in ["", "0", "1", "2", "4294967295", "4294967296", "99999999999999999999999"] {
            let text = format!("cid={cid},socket=a");
            assert_eq!(bad(&text), ConfigError::VsockCid(text));
        }
        let text = format!("cid=3,socket={}", "x".repeat(97));
        assert_eq!(bad(&text), ConfigError::VsockPath { text, len: 97 });
    }
}
