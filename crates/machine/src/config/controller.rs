//! What `--feature` says of the interrupt controller, which is the board's and no CPU's.

use super::{Asked, ConfigError, MachineConfig, Presence};

/// The version of the interrupt controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GicVersion {
    /// A GICv2: no system registers, at most eight CPUs.
    V2,
    /// A GICv3.
    #[default]
    V3,
}

/// The interrupt controller that a board has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controller {
    /// The version.
    pub version: GicVersion,
    /// An ITS, with LPIs. Nothing on the board sends it messages, and a kernel that finds one spends time and memory on its
    /// tables: so there is none unless it is asked for.
    pub its: Presence,
}

/// One thing asked of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardRequest {
    /// `gic=2` or `gic=3`.
    Gic(GicVersion),
    /// `its=on` or `its=off`.
    Its(Presence),
}

impl BoardRequest {
    /// Names and values, for `vambrace features`.
    pub const NAMES: [(&'static str, &'static str); 2] = [
        ("gic", "2 or 3: the GIC's version; 2 for at most 8 CPUs (3)"),
        ("its", "on or off: the GIC's ITS, with LPIs (off)"),
    ];

    /// Reads `NAME=VALUE`; `None` where the name is none of the board's. The error says why the value cannot be.
    pub(super) fn parse(text: &str) -> Option<Result<Self, String>> {
        let (name, value) = text.split_once('=')?;
        Some(match (name.to_ascii_lowercase().as_str(), value) {
            ("gic", "2") => Ok(Self::Gic(GicVersion::V2)),
            ("gic", "3") => Ok(Self::Gic(GicVersion::V3)),
            ("gic", _) => Err(format!("gic is 2 or 3, not `{value}`")),
            ("its", "on") => Ok(Self::Its(Presence::Present)),
            ("its", "off") => Ok(Self::Its(Presence::Absent)),
            ("its", _) => Err(format!("its is `on` or `off`, not `{value}`")),
            _ => return None,
        })
    }
}

impl MachineConfig {
    /// The interrupt controller: later settings over earlier ones.
    #[must_use]
    pub fn controller(&self) -> Controller {
        let mut controller = Controller::default();
        for setting in &self.cpu.features {
            match setting.asked {
                Asked::Board(BoardRequest::Gic(version)) => controller.version = version,
                Asked::Board(BoardRequest::Its(its)) => controller.its = its,
                Asked::Cpu(_) => {}
            }
        }
        controller
    }

    /// What cannot be with a GICv2.
    pub(super) fn validate_controller(&self) -> Result<(), ConfigError> {
        let controller = self.controller();
        let refused = |what: String| Err(ConfigError::GicV2(what));
        match self.cpu.gic.first() {
            _ if controller.version == GicVersion::V3 => Ok(()),
            _ if self.cpus > gic::GicV2::MAX_PES => {
                refused(format!("--cpus {} are too many, it serves {}", self.cpus, gic::GicV2::MAX_PES))
            }
            _ if controller.its == Presence::Present => refused("--feature its=on is a GICv3's".to_owned()),
            Some(setting) => refused(format!("--gic {} is about a GICv3's virtual CPU interface", setting.text)),
            None => Ok(()),
        }
    }
}
