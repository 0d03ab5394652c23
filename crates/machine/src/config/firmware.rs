//! `--firmware` and `--firmware-vars`

use std::path::PathBuf;
use std::str::FromStr;

use pflash::{KeepError, Kept, Writes};

use super::ConfigError;

/// Firmware in flash memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirmwareConfig {
    /// What the first bank holds; the CPU starts at its first byte.
    pub code: PathBuf,
    /// What the second bank holds, the firmware's variables; `None`: zeros, and what the guest writes is forgotten.
    pub variables: Option<Variables>,
}

/// The second bank of flash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// What it holds at first.
    pub path: PathBuf,
    /// What becomes of what the guest writes.
    pub writes: VariableWrites,
}

/// What becomes of what the guest writes to its variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VariableWrites {
    /// It is forgotten when the machine ends: every run begins with the same variables.
    #[default]
    Forgotten,
    /// It goes to the file.
    Kept,
}

impl FromStr for Variables {
    type Err = ConfigError;

    /// `FILE` or `FILE,keep`.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let (path, writes) = match text.strip_suffix(",keep") {
            Some(path) => (path, VariableWrites::Kept),
            None => (text, VariableWrites::Forgotten),
        };
        if path.is_empty() {
            return Err(ConfigError::VariablesSyntax(text.to_owned()));
        }
        Ok(Self { path: path.into(), writes })
    }
}

impl FirmwareConfig {
    /// What becomes of what is written to the second bank; its file is opened where it keeps that.
    pub(crate) fn writes(&self) -> Result<Writes, KeepError> {
        match &self.variables {
            Some(Variables { path, writes: VariableWrites::Kept }) => Ok(Writes::Kept(Kept::open(path)?)),
            _ => Ok(Writes::Forgotten),
        }
    }
}
