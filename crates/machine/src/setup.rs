//! From a configuration to a machine that is ready to run.

use std::io::Write;

use arch::Pa;
use cpu::Semihosting;
use snapshot::SnapshotError;
use thiserror::Error;

use crate::board::{Board, BoardConfig, BoardError};
use crate::boot::{self, BootError};
use crate::config::{ConfigError, DiskAccess, FirmwareConfig, MachineConfig, TimeMode};
use crate::psci::Firmware;
use crate::run::{Limits, Machine, Pace};
use crate::slots::{Devices, DiskConfig, Input, ShareConfig};

/// Seconds since 1970 at power-on: 2020-01-01 00:00:00 UTC, the same on every run.
pub const EPOCH: u64 = 1_577_836_800;

/// What surrounds a machine, beside its configuration.
pub struct Options {
    /// Where the UART's output goes.
    pub console: Box<dyn Write + Send>,
    /// Where a virtio console's output goes, if there is to be one.
    pub virtio_console: Option<Box<dyn Write + Send>>,
    /// Where the input goes.
    pub input: Input,
    /// How the guest's time passes while all CPUs sleep.
    pub sleep: Sleep,
    /// Are semihosting calls served?
    pub semihosting: Semihosting,
}

/// What happens while all CPUs sleep, with `--time insn`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Time is put forward at once.
    Skipped,
    /// Time passes on the host as well: for a user who types.
    Paced,
}

/// A machine could not be set up.
#[derive(Debug, Error)]
pub enum SetupError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The board.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// Kernel, initial RAM disk, device tree.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// A snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl Machine {
    /// Builds the board that `config` describes and loads what it boots.
    pub fn from_config(config: &MachineConfig, options: Options) -> Result<Self, SetupError> {
        Self::build(config, options, |board| {
            let entry = match (&config.firmware, &board.firmware) {
                (Some(files), Some(devices)) => boot::firmware::load(config, files, devices, board.bus.ram())?,
                _ => boot::load(config, board.bus.ram())?,
            };
            Ok((entry.pc, entry.dtb))
        })
    }

    /// Builds the board; `load` fills its memory and says where the boot CPU starts and where the device tree is.
    pub(crate) fn build(
        config: &MachineConfig,
        options: Options,
        load: impl FnOnce(&Board) -> Result<(Pa, Pa), BootError>,
    ) -> Result<Self, SetupError> {
        let models = config.models()?;
        let disk = |d: &crate::config::Disk| DiskConfig {
            path: d.path.clone(),
            access: match d.access {
                DiskAccess::ReadWrite => virtio_blk::Access::ReadWrite,
                DiskAccess::ReadOnly => virtio_blk::Access::ReadOnly,
            },
        };
        let share = |(n, share): (usize, &crate::config::Share)| ShareConfig {
            path: share.path.clone(),
            tag: share.tag.clone().unwrap_or_else(|| if n == 0 { "share".into() } else { format!("share{n}") }),
            access: match share.access {
                DiskAccess::ReadWrite => virtio_9p::Access::ReadWrite,
                DiskAccess::ReadOnly => virtio_9p::Access::ReadOnly,
            },
        };
        let board = Board::new(BoardConfig {
            models,
            memory: config.memory,
            topology: config.topology.clone(),
            devices: Devices {
                disks: config.disks.iter().map(disk).collect(),
                rng: config.rng,
                net: config.net.clone(),
                vsock: config.vsock.clone(),
                shares: config.shares.iter().enumerate().map(share).collect(),
                console: options.virtio_console,
                input: options.input,
            },
            console: options.console,
            seed: config.seed,
            semihosting: options.semihosting,
            epoch: EPOCH,
            policy: config.policy,
            firmware: config.firmware.as_ref().map(FirmwareConfig::writes).transpose().map_err(BoardError::from)?,
            controller: config.controller(),
        })?;
        let (entry, dtb) = load(&board)?;
        let pace = match (config.time, options.sleep) {
            (TimeMode::Wall, _) => Pace::Wall,
            // What is to come from the host's network or programs needs the host's time.
            (TimeMode::Insn, _) if config.connects_to_host().is_some() => Pace::PacedSleep,
            (TimeMode::Insn, Sleep::Paced) => Pace::PacedSleep,
            (TimeMode::Insn, Sleep::Skipped) => Pace::Instructions,
        };
        let limits = Limits { steps: config.max_insns, pause: config.pause, timeout: config.timeout };
        let mut machine = Self::new(board, entry, dtb.0, pace, limits, Firmware::new(config.seed));
        machine.set_threads(config.threads);
        if let Some(press) = config.power_button {
            machine.power_button().arm(press);
        }
        Ok(machine)
    }
}
