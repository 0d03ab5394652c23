//! What can be wrong with a configuration.

use std::path::PathBuf;

use arch::policy::NoSuchPolicy;
use thiserror::Error;
use virtio_vsock::MAX_PATH;
use virtio_vsock::spec::{MAX_CID, MIN_CID};

use super::{MIN_MEMORY, PAGE};
use crate::map::{MAX_CPUS, VIRTIO_COUNT};

/// A configuration that no machine can be made of. Each message names the flag, the value and what to do.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// No CPU, or too many.
    #[error("--cpus {0}: a machine has 1 to {MAX_CPUS} CPUs")]
    Cpus(usize),
    /// Not a size.
    #[error("--memory {0}: not a size; give bytes, or a number with K, M, G or T, such as 512M or 1G")]
    MemorySyntax(String),
    /// Less RAM than a kernel can start in.
    #[error("--memory {0} (bytes): too small; a machine has at least {min} MiB", min = MIN_MEMORY >> 20)]
    MemoryTooSmall(u64),
    /// Not whole pages.
    #[error("--memory {0} (bytes): not a multiple of {page} KiB, the largest page size", page = PAGE >> 10)]
    MemoryAlignment(u64),
    /// More RAM than the host has.
    #[error("--memory {bytes} (bytes): the host has only {host} bytes of memory; ask for less")]
    MemoryTooLarge {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that the host has.
        host: u64,
    },
    /// Not a point of a run.
    #[error("--at {0}: give insns=N, N a number of instructions")]
    At(String),
    /// Not the disks or shares that a snapshot has. Where they are on the host is for the user to say: whoever made the file
    /// may have written any place into it.
    #[error(
        "{flag}: {given} given, but the machine of the snapshot has {}: {}; say where each is now, in this order",
        .saved.len(), .saved.join(", ")
    )]
    SnapshotPlaces {
        /// `--disk`, `--share` or `--firmware-vars`.
        flag: &'static str,
        /// How many are given.
        given: usize,
        /// Where they were.
        saved: Vec<String>,
    },
    /// Nothing to run.
    #[error(
        "nothing to boot: give --kernel FILE, an arm64 Linux Image or an AArch64 ELF, or --firmware FILE; this build has no kernel of its own \
         (`cargo xtask release` makes one that has)"
    )]
    NoKernel,
    /// The demo has its own.
    #[error("--initrd without --kernel: the kernel that is built in has its own initial RAM disk")]
    InitrdWithoutKernel,
    /// Firmware has nothing to hand these to.
    #[error("{0} without --kernel: firmware hands it to the kernel that --kernel names; give one, or leave it out")]
    FirmwareWithoutKernel(&'static str),
    /// Nothing would read them.
    #[error("--firmware-vars without --firmware: only firmware has variables; give --firmware FILE")]
    VariablesWithoutFirmware,
    /// Not a file of variables.
    #[error("--firmware-vars {0}: give FILE or FILE,keep")]
    VariablesSyntax(String),
    /// A command line that Linux would cut off.
    #[error("--append: {0} bytes; arm64 Linux takes at most {max}", max = super::MAX_APPEND)]
    AppendTooLong(usize),
    /// A command line that is no C string.
    #[error("--append: has a zero byte")]
    AppendNul,
    /// Not a preset.
    #[error("--cpu {name}: no such preset; there are {known}")]
    Preset {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// Not a feature setting.
    #[error("--feature {setting}: {reason}")]
    Feature {
        /// The setting.
        setting: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Features that do not go together.
    #[error("--cpu {preset} with these --feature settings cannot be (CPU {cpu}): {reason}")]
    Model {
        /// The preset.
        preset: String,
        /// The CPU.
        cpu: usize,
        /// What is wrong.
        reason: String,
    },
    /// Not a property of the GIC, or properties that do not go together.
    #[error("--gic {setting}: {reason}")]
    Gic {
        /// The setting.
        setting: String,
        /// What is wrong with it.
        reason: String,
    },
    /// What a GICv2 has not.
    #[error("--feature gic=2, a GICv2: {0}")]
    GicV2(String),
    /// Not a policy.
    #[error("--policy {text}: {reason}")]
    Policy {
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: NoSuchPolicy,
    },
    /// A setting for a CPU that is not there.
    #[error("{flag} {setting}: no CPU {cpu}; with --cpus {cpus} they are 0 to {last}", last = .cpus - 1)]
    SettingCpu {
        /// `--feature` or `--gic`.
        flag: &'static str,
        /// The setting.
        setting: String,
        /// The CPU it names.
        cpu: usize,
        /// How many there are.
        cpus: usize,
    },
    /// Not a disk.
    #[error("--disk {0}: give FILE or FILE,ro")]
    DiskSyntax(String),
    /// Not a share.
    #[error("--share {0}: give DIR, with ,ro and ,tag=NAME behind it if you like")]
    ShareSyntax(String),
    /// More disks and shares than transports.
    #[error("{0} times --disk and --share: a machine has {VIRTIO_COUNT} virtio-mmio slots")]
    TooManyDevices(usize),
    /// One file as two disks, and somebody writes.
    #[error("--disk {}: given twice; that is only possible with ,ro on both", .0.display())]
    SharedDisk(PathBuf),
    /// Not a time for the power button.
    #[error("--power-button {0}: give insns=N or seconds=S")]
    PowerButton(String),
    /// Not a network.
    #[error(
        "--net {0}: give none, or user with ,dns=ADDRESS[:PORT] and ,forward=HOST:GUEST (ports) behind it if you like"
    )]
    NetSyntax(String),
    /// Not a virtio socket device.
    #[error("--vsock {0}: give cid=N,socket=PATH")]
    VsockSyntax(String),
    /// A context identifier that is reserved, or none.
    #[error("--vsock {0}: the guest's CID is {MIN_CID} to {MAX_CID}")]
    VsockCid(String),
    /// A path that no socket can have, with a port behind it.
    #[error(
        "--vsock {text}: the path has {len} bytes; give one of at most {MAX_PATH}, such as one that begins where you are"
    )]
    VsockPath {
        /// What was given.
        text: String,
        /// Length of the path in bytes.
        len: usize,
    },
    /// What the host holds of it cannot be had again.
    #[error("--save with {0}: connections to the host cannot be saved; leave {0} out")]
    NotSaved(&'static str),
    /// Not a shape.
    #[error("--topology {0}: give sockets=S,clusters=C, or one of them")]
    TopologySyntax(String),
    /// Not a node.
    #[error("--numa {0}: give memory=SIZE, a multiple of 64K, with ,cpus=A-B behind it unless it is memory alone")]
    NumaSyntax(String),
    /// Not a distance.
    #[error("--numa-distance {0}: give A:B=D for two nodes, from 0, and 11 to 254")]
    DistanceSyntax(String),
    /// A topology that does not fit the machine.
    #[error("the topology does not fit: {0}")]
    Topology(String),
    /// Two consoles on one terminal.
    #[error("--virtio-console stdio: --console has standard output already; give --console FILE too")]
    TwoConsoles,
    /// Not a time mode.
    #[error("--time {0}: give insn, wall or cost=PRESET")]
    TimeSyntax(String),
    /// A limit of no time, or of more than can be counted.
    #[error("--timeout {0}: give a number of seconds above 0 and below 2^64")]
    Timeout(String),
    /// The host cannot do it.
    #[error("--threads parallel: this host has no atomic accesses of 16 bytes; use --threads serial")]
    NoQuadAtomics,
    /// What needs CPUs that take turns.
    #[error(
        "{0} does not go with --threads parallel: {why}; leave one of them out",
        why = "it needs CPUs that take turns in a fixed order"
    )]
    NotParallel(&'static str),
    /// A feature of a later version.
    #[error("{flag} {value}: not yet; this version can {instead}")]
    NotYet {
        /// The flag.
        flag: &'static str,
        /// Its value.
        value: String,
        /// What it can do instead.
        instead: &'static str,
    },
}
