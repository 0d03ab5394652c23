//! The command line's grammar, and what it says of a machine.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use machine::config::{
    ConfigError, CpuConfig, Engine, FeatureSetting, FirmwareConfig, MachineConfig, Presence, Share, TimeMode,
    VariableWrites, parse_net, parse_size,
};
use machine::{Threads, Topology};

/// An arm64 machine in software, for people who write arm64 kernels and hypervisors.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Boot a kernel.
    Run(Box<RunArgs>),
    /// List the CPU presets.
    Cpus,
    /// List the architecture features, or those of one preset.
    Features {
        /// A preset, as `vambrace cpus` lists them.
        preset: Option<String>,
    },
    /// Write an ELF with nothing but the symbols of a kernel, for GDB: gdb-multiarch OUT. Where the kernel runs elsewhere
    /// than it was linked (KASLR): symbol-file OUT -o OFFSET; OFFSET is $VBAR_EL1 less the address of `vectors`.
    Symbols {
        /// The kernel: an uncompressed arm64 Linux Image, an ELF, or its System.map.
        kernel: PathBuf,
        /// The ELF.
        out: PathBuf,
    },
    /// Experiments (not yet).
    Lab {
        /// What to do.
        #[command(subcommand)]
        command: LabCommand,
    },
}

/// Experiments.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// List them (not yet).
    List,
    /// Run one (not yet).
    Run {
        /// Its name.
        name: String,
    },
}

/// How to end, and what the statuses mean.
const RUN_HELP: &str = "\
Console: with a terminal, what you type goes to the guest as you type it, Ctrl-C included.
  Ctrl-A x   quit            Ctrl-A h   these keys            Ctrl-A Ctrl-A   type Ctrl-A
  Ctrl-A p   press the power button
Without a terminal, the guest finds all of standard input waiting from the start, so that a run is the same every
time; a pipe that stays open is read as it comes. A guest that waits for more than there is (a shell's prompt, say)
runs on for ever: end it by its last line of input (poweroff -f), or give --timeout or --max-insns.

Exit status: 0 the guest powered off (or you quit); 1 tool error; 2 usage, or a file that cannot be used;
3 the guest asked for a reset, or stopped in a way that no one handles; 124 a limit was reached.
A guest that ends itself by semihosting passes its own code on.";

/// Boot a kernel.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    /// Kernel: an uncompressed arm64 Linux Image or an AArch64 ELF. Without it, the kernel that is built in (`cargo xtask
    /// release`), with a small demonstration.
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// Initial RAM disk, handed to the kernel as it is.
    #[arg(long, value_name = "FILE")]
    pub initrd: Option<PathBuf>,
    /// Kernel command line, at most 2047 bytes.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub append: Option<String>,
    /// Device tree blob in place of the generated one; --append and --initrd are put into it.
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
    /// Firmware: an image for flash memory, at most 64 MiB, such as EDK2's for the `virt` board. The CPU starts in it; it gets
    /// --kernel (an EFI application, as Linux Images are), --initrd and --append from the fw_cfg device, or boots a disk.
    #[arg(long, value_name = "FILE")]
    firmware: Option<PathBuf>,
    /// The firmware's variables: what the second bank of flash memory holds at first (without this, zeros). The file is not
    /// written, so that each run begins with the same variables; with ,keep, what the guest writes to the bank goes to it. With
    /// --restore, where the file that keeps them is now.
    #[arg(id = "firmware-vars", long, value_name = "FILE[,keep]")]
    firmware_vars: Option<String>,
    /// Number of CPUs, 1 to 512.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub cpus: usize,
    /// RAM: bytes, or a number with K, M, G or T (powers of 1024); at least 16M, a multiple of 64K.
    #[arg(long, value_name = "SIZE", default_value = "1G", allow_hyphen_values = true)]
    pub memory: String,
    /// Sockets, clusters of each, and as many cores of each cluster (at most 16) as make all CPUs: in MPIDR_EL1's Aff2,
    /// Aff1, Aff0 and in the device tree.
    #[arg(long, value_name = "sockets=S,clusters=C")]
    topology: Option<String>,
    /// A NUMA node: its memory and CPUs. Given once for each; together they have all.
    #[arg(long, value_name = "memory=SIZE[,cpus=A-B]")]
    numa: Vec<String>,
    /// How far NUMA nodes A and B are from each other, 11 to 254; without it, 20. A node is 10 from itself.
    #[arg(id = "numa-distance", long, value_name = "A:B=D")]
    numa_distance: Vec<String>,
    /// CPU preset, as `vambrace cpus` lists them.
    #[arg(long, value_name = "PRESET", default_value = "cortex-a57")]
    pub cpu: String,
    /// A feature on or off, such as FEAT_LSE=off, or a setting, such as pa-bits=40; with N: before it, for CPU N
    /// (from 0) alone. Of the board: gic=2, a GICv2; its=on, an ITS and LPIs for a GICv3. May be given again.
    #[arg(long, value_name = "[N:]NAME=VALUE", allow_hyphen_values = true)]
    pub feature: Vec<String>,
    /// Properties of the GIC's virtual CPU interface, such as list-registers=8,seis=on,tds=off; with N: before them, for
    /// CPU N (from 0) alone. `vambrace features` lists them, `vambrace features PRESET` a preset's. May be given again.
    #[arg(long, value_name = "[N:]NAME=VALUE,...", allow_hyphen_values = true)]
    pub gic: Vec<String>,
    /// How to choose where the architecture permits several outcomes: benign, or adversarial[:SEED], which raises the errors
    /// that may be raised.
    #[arg(long, value_name = "benign|adversarial[:SEED]", default_value = "benign")]
    pub policy: String,
    /// A disk: a raw file or block device on virtio-mmio, with ,ro read-only; what is beyond its last whole sector of 512
    /// bytes is out of the guest's reach. May be given again, up to 32 times.
    #[arg(long, value_name = "FILE[,ro]")]
    pub disk: Vec<String>,
    /// An entropy device (virtio), whose bytes follow from --seed.
    #[arg(long)]
    pub rng: bool,
    /// Network: none, or user, a network of the tool's own (10.0.2.0/24: the guest is 10.0.2.15 by DHCP; 10.0.2.2 is the
    /// host's 127.0.0.1; beyond, TCP and UDP go out by the host's sockets). dns names a server that the guest finds at
    /// 10.0.2.3; forward leads a TCP port of the host's 127.0.0.1 to one of the guest. Runs with a network are not the same
    /// every time.
    #[arg(long, value_name = "none|user[,dns=ADDRESS][,forward=HOST:GUEST]", default_value = "none")]
    net: String,
    /// A virtio socket device (vsock): the guest has the CID N, at least 3. A program of the host that wants the guest's port P
    /// connects to the socket PATH, sends `CONNECT P` and a newline, and gets `OK`, a port and a newline when it is connected.
    /// The guest's connections to CID 2, port P, go to the socket PATH_P, at which a program of the host listens. PATH is
    /// removed at the end; one that a killed run has left is replaced. Runs with it are not the same every time.
    #[arg(long, value_name = "cid=N,socket=PATH")]
    vsock: Option<String>,
    /// Press the power button once: after N instructions, all CPUs together, or when the guest's clock shows S seconds.
    #[arg(long, value_name = "insns=N|seconds=S")]
    power_button: Option<String>,
    /// A directory of the host for the guest (9P on virtio), with ,ro read-only; the guest mounts it by
    /// `mount -t 9p -o trans=virtio,version=9p2000.L NAME /mnt`, where NAME is `share`, then `share1` and so on, or the
    /// tag. May be given again.
    #[arg(long, value_name = "DIR[,ro][,tag=NAME]")]
    share: Vec<String>,
    /// What the guest's clock counts: insn (instructions, the same on every run), wall (the host's clock), or
    /// cost=PRESET (not yet). Without this insn, with --threads parallel wall.
    #[arg(long, value_name = "MODE")]
    pub time: Option<String>,
    /// How instructions are executed: interp, auto (jit: not yet).
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    engine: EngineName,
    /// CPUs on one host thread, in a fixed order (serial), or each on one of its own (parallel): faster where the host has
    /// several cores to spare, but no run is like another, the guest's clock is the host's, --max-insns is not exact, and
    /// --save, --restore, --gdb, --trace and --profile are refused.
    #[arg(long, value_enum, default_value_t = ThreadsName::Serial)]
    threads: ThreadsName,
    /// Where everything that looks random to the guest comes from: a number below 2^64.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    pub seed: u64,
    /// Stop with status 124 after this many instructions, all CPUs together.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_insns: Option<u64>,
    /// Stop with status 124 after this many seconds of the host's time; fractions are allowed.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub timeout: Option<String>,
    /// After the run, write statistics to FILE as JSON, or a short summary to standard error (-).
    #[arg(long, value_name = "FILE|-")]
    pub stats: Option<PathBuf>,
    /// Symbols for messages about the kernel: its vmlinux with symbols, another ELF, or a System.map. Without it they come
    /// from the kernel itself, where it has them.
    #[arg(long, value_name = "FILE")]
    pub vmlinux: Option<PathBuf>,
    /// Write what each CPU did to FILE; --trace-events says what and how. Some 100 bytes an exception: a boot of Linux has
    /// a million. Compressed if the name ends in .gz.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// What --trace writes: a timeline for <https://ui.perfetto.dev>, of exceptions, returns, interrupts, sleep, and changes
    /// of TTBR0 and CONTEXTIDR, where an instruction is a nanosecond; exceptions, interrupts and returns as lines of text with
    /// the number of instructions until then; or accesses, which adds each load and store to these lines and makes the run
    /// much slower.
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = TraceEvents::Timeline, requires = "trace")]
    pub trace_events: TraceEvents,
    /// Write instructions by function and call chain to FILE, for <https://profiler.firefox.com>: each CPU is looked at after
    /// every N of its instructions, which are taken to be where the first of them was. The same each time; all together are
    /// the instructions of the run. Compressed if the name ends in .gz.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// N of --profile. With 1 the counts are exact, and the run is hundreds of times slower.
    #[arg(long, value_name = "N", default_value = "10007", value_parser = profile_every, requires = "profile")]
    pub profile_every: NonZeroU64,
    /// Serve GDB (target remote) on this port of the loopback, 0 for any, or on a socket at this path.
    #[arg(long, value_name = "PORT|PATH")]
    pub gdb: Option<String>,
    /// Begin when GDB says so.
    #[arg(long, requires = "gdb")]
    pub gdb_wait: bool,
    /// Write a snapshot of the machine to FILE at the point that --at names, and end with status 0. Disks are not in it, only
    /// what they must hold.
    #[arg(long, value_name = "FILE", requires = "at")]
    pub save: Option<PathBuf>,
    /// Where to take the snapshot: insns=N, at the end of the round (10000 ticks a CPU) in which N instructions (as
    /// --max-insns counts them) are reached.
    #[arg(long, value_name = "insns=N", requires = "save")]
    at: Option<String>,
    /// Go on from the snapshot in FILE. The machine is the snapshot's; --disk and --share (as many as it has, in its order)
    /// say where its disks and shares are now.
    #[arg(long, value_name = "FILE", conflicts_with_all = MACHINE_FLAGS)]
    pub restore: Option<PathBuf>,
    /// The guest's serial port: stdio, or FILE for its output (then it gets no input).
    #[arg(long, value_name = "stdio|FILE", default_value = "stdio")]
    pub console: PathBuf,
    /// A virtio console (hvc0) beside it: FILE for its output, or stdio, if --console names a file.
    #[arg(long, value_name = "stdio|FILE")]
    pub virtio_console: Option<PathBuf>,
    /// Does HLT #0xf000 call the tool? With auto, where the kernel is an ELF or built in. On, any program of the guest can end the
    /// run.
    #[arg(long, value_enum, default_value_t = SemihostingChoice::Auto)]
    pub semihosting: SemihostingChoice,
}

/// The flags that say what the machine is, which a snapshot says.
const MACHINE_FLAGS: [&str; 21] = [
    "kernel",
    "initrd",
    "append",
    "dtb",
    "firmware",
    "cpus",
    "memory",
    "cpu",
    "feature",
    "gic",
    "policy",
    "net",
    "vsock",
    "topology",
    "numa",
    "numa-distance",
    "rng",
    "time",
    "seed",
    "semihosting",
    "engine",
];

/// `--engine`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    Interp,
    Jit,
    Auto,
}

/// `--threads`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThreadsName {
    Serial,
    Parallel,
}

/// `--trace-events`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceEvents {
    /// For Perfetto.
    Timeline,
    /// Exceptions, interrupts and returns.
    Exceptions,
    /// Loads and stores too.
    Accesses,
}

/// `--semihosting`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SemihostingChoice {
    /// Where the kernel is an ELF or built in.
    Auto,
    /// Yes.
    On,
    /// No.
    Off,
}

impl RunArgs {
    /// The first flag given that this version does not serve.
    fn not_yet(&self) -> Option<ConfigError> {
        let given = [("--engine", (self.engine == EngineName::Jit).then(|| "jit".into()), "interpret (interp, auto)")];
        given
            .into_iter()
            .find_map(|(flag, value, instead)| value.map(|value| ConfigError::NotYet { flag, value, instead }))
    }

    /// How CPUs share the host, if nothing else given needs them to take turns.
    fn threads(&self) -> Result<Threads, ConfigError> {
        if self.threads == ThreadsName::Serial {
            return Ok(Threads::Serial);
        }
        let given = [
            ("--save", self.save.is_some()),
            ("--restore", self.restore.is_some()),
            ("--gdb", self.gdb.is_some()),
            ("--trace", self.trace.is_some()),
            ("--profile", self.profile.is_some()),
            ("--time insn", self.time.as_deref() == Some("insn")),
        ];
        let other = given.into_iter().find(|(_, is_given)| *is_given);
        other.map_or(Ok(Threads::Parallel), |(flag, _)| Err(ConfigError::NotParallel(flag)))
    }

    fn time(&self, threads: Threads) -> Result<TimeMode, ConfigError> {
        match (&self.time, threads) {
            (Some(mode), _) => mode.parse(),
            (None, Threads::Serial) => Ok(TimeMode::Insn),
            (None, Threads::Parallel) => Ok(TimeMode::Wall),
        }
    }

    /// The machine that the flags describe. It is not validated yet.
    pub fn config(&self) -> Result<MachineConfig, ConfigError> {
        if let Some(error) = self.not_yet() {
            return Err(error);
        }
        let threads = self.threads()?;
        let features = self.feature.iter().map(|text| text.parse::<FeatureSetting>()).collect::<Result<_, _>>()?;
        let policy = |reason| ConfigError::Policy { text: self.policy.clone(), reason };
        if self.firmware.is_none() && self.firmware_vars.is_some() {
            return Err(ConfigError::VariablesWithoutFirmware);
        }
        Ok(MachineConfig {
            cpus: self.cpus,
            memory: parse_size(&self.memory).ok_or_else(|| ConfigError::MemorySyntax(self.memory.clone()))?,
            topology: Topology {
                shape: self.topology.as_deref().map(str::parse).transpose()?,
                nodes: self.numa.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
                distances: self.numa_distance.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            },
            cpu: CpuConfig {
                preset: self.cpu.clone(),
                features,
                gic: self.gic.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            },
            firmware: match &self.firmware {
                None => None,
                Some(code) => Some(FirmwareConfig {
                    code: code.clone(),
                    variables: self.firmware_vars.as_deref().map(str::parse).transpose()?,
                }),
            },
            kernel: self.kernel.clone(),
            demo: if self.kernel.is_none() && self.firmware.is_none() { crate::demo::demo() } else { None },
            initrd: self.initrd.clone(),
            append: self.append.clone(),
            dtb: self.dtb.clone(),
            disks: self.disk.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            shares: self.share.iter().map(|text| text.parse()).collect::<Result<_, _>>()?,
            net: parse_net(&self.net)?,
            vsock: self.vsock.as_deref().map(str::parse).transpose()?,
            rng: if self.rng { Presence::Present } else { Presence::Absent },
            time: self.time(threads)?,
            engine: match self.engine {
                EngineName::Interp => Engine::Interpreter,
                EngineName::Auto | EngineName::Jit => Engine::Auto,
            },
            threads,
            seed: self.seed,
            policy: self.policy.parse().map_err(policy)?,
            ..self.bounds()?
        })
    }

    /// What bounds the run; the rest as by default.
    fn bounds(&self) -> Result<MachineConfig, ConfigError> {
        Ok(MachineConfig {
            max_insns: self.max_insns,
            pause: self.at.as_deref().map(at).transpose()?,
            timeout: self.timeout.as_deref().map(timeout).transpose()?,
            power_button: self.power_button.as_deref().map(str::parse).transpose()?,
            ..MachineConfig::default()
        })
    }

    /// The machine of a snapshot under the flags that go with one.
    pub fn restored(&self, saved: MachineConfig) -> Result<MachineConfig, ConfigError> {
        if let Some(error) = self.not_yet() {
            return Err(error);
        }
        self.threads()?;
        let MachineConfig { max_insns, pause, timeout, power_button, .. } = self.bounds()?;
        let was = |path: &Path| path.display().to_string();
        let disks = places("--disk", &self.disk, saved.disks.iter().map(|disk| was(&disk.path)).collect())?;
        let mut shares: Vec<Share> =
            places("--share", &self.share, saved.shares.iter().map(|share| was(&share.path)).collect())?;
        // The guest knows it by this name.
        for (share, saved) in shares.iter_mut().zip(saved.shares) {
            share.tag = share.tag.take().or(saved.tag);
        }
        let mut firmware = saved.firmware;
        if let Some(firmware) = &mut firmware {
            let variables = firmware.variables.take();
            let kept = variables.iter().filter(|variables| variables.writes == VariableWrites::Kept);
            let kept = kept.map(|variables| was(&variables.path)).collect();
            firmware.variables = places("--firmware-vars", self.firmware_vars.as_slice(), kept)?.pop().or(variables);
        } else if self.firmware_vars.is_some() {
            return Err(ConfigError::VariablesWithoutFirmware);
        }
        Ok(MachineConfig { disks, shares, firmware, max_insns, pause, timeout, power_button, ..saved })
    }
}

/// What the user says of each of `saved`.
fn places<T>(flag: &'static str, given: &[String], saved: Vec<String>) -> Result<Vec<T>, ConfigError>
where
    T: std::str::FromStr<Err = ConfigError>,
{
    if given.len() != saved.len() {
        return Err(ConfigError::SnapshotPlaces { flag, given: given.len(), saved });
    }
    given.iter().map(|text| text.parse()).collect()
}

fn at(text: &str) -> Result<u64, ConfigError> {
    let count = text.strip_prefix("insns=").filter(|count| count.bytes().all(|b| b.is_ascii_digit()));
    count.and_then(|count| count.parse().ok()).ok_or_else(|| ConfigError::At(text.to_owned()))
}

fn profile_every(text: &str) -> Result<NonZeroU64, String> {
    let every = text.parse::<u64>().ok().filter(|every| *every <= 1 << 30).and_then(NonZeroU64::new);
    every.ok_or_else(|| "a number of instructions, 1 to 2^30".to_owned())
}

fn timeout(text: &str) -> Result<Duration, ConfigError> {
    let error = || ConfigError::Timeout(text.to_owned());
    let seconds: f64 = text.parse().map_err(|_| error())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero()).ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use arch::policy::Policy;
    use clap::CommandFactory;

    use super::*;

    fn parse(words: &[&str]) -> Result<MachineConfig, String> {
        let cli = Cli::try_parse_from(["vambrace", "run"].iter().chain(words)).map_err(|e| e.to_string())?;
        let Command::Run(args) = cli.command else { return Err("not run".into()) };
        args.config().map_err(|e| e.to_string())
    }

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_machine() {
        let config = parse(&[
            "--kernel",
            "Image",
            "--initrd",
            "i",
            "--append",
            "-x y",
            "--cpus",
            "4",
            "--memory",
            "2G",
            "--cpu",
            "neoverse-n1",
            "--feature",
            "lse=off",
            "--feature",
            "1:pan=off",
            "--gic",
            "tds=off,list-registers=8",
            "--policy",
            "adversarial:9",
            "--disk",
            "a",
            "--disk",
            "b,ro",
            "--time",
            "wall",
            "--engine",
            "interp",
            "--threads",
            "serial",
            "--net",
            "none",
            "--seed",
            "7",
            "--max-insns",
            "9",
            "--timeout",
            "1.5",
        ])
        .unwrap();
        assert_eq!((config.cpus, config.memory, config.seed, config.max_insns), (4, 2 << 30, 7, Some(9)));
        assert_eq!(config.append.as_deref(), Some("-x y"));
        assert_eq!(config.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(config.engine, Engine::Interpreter);
        assert_eq!((config.disks.len(), config.cpu.features.len()), (2, 2));
        assert_eq!(config.cpu.preset, "neoverse-n1");
        assert_eq!(config.cpu.gic, ["tds=off,list-registers=8".parse().unwrap()]);
        assert_eq!(config.policy, Policy::Adversarial { seed: 9 });
    }

    #[test]
    fn the_defaults() {
        assert_eq!(
            parse(&["--kernel", "k"]).unwrap(),
            MachineConfig { kernel: Some("k".into()), ..Default::default() }
        );
    }

    #[test]
    fn firmware() {
        use machine::config::Variables;
        let config = parse(&["--firmware", "c.fd"]).unwrap();
        let code = FirmwareConfig { code: "c.fd".into(), variables: None };
        assert_eq!((config.firmware, config.kernel, config.demo), (Some(code), None, None));
        let variables =
            |text| parse(&["--firmware", "c", "--firmware-vars", text]).map(|c| c.firmware.unwrap().variables);
        let of = |path: &str, writes| Ok(Some(Variables { path: path.into(), writes }));
        assert_eq!(variables("v.fd"), of("v.fd", VariableWrites::Forgotten));
        assert_eq!(variables("v,w.fd,keep"), of("v,w.fd", VariableWrites::Kept));
        assert!(variables(",keep").unwrap_err().contains("--firmware-vars ,keep"));
        assert!(parse(&["--kernel", "k", "--firmware-vars", "v"]).unwrap_err().contains("--firmware"));
    }

    #[test]
    fn flags_of_later_versions() {
        for (flag, value) in [("--time", "cost=x"), ("--engine", "jit")] {
            let message = parse(&["--kernel", "k", flag, value]).unwrap_err();
            assert!(message.starts_with(&format!("{flag} {value}: not yet; this version can ")), "{message}");
        }
    }

    #[test]
    fn what_cpus_at_the_same_time_do_not_go_with() {
        let parallel = |words: &[&str]| parse(&[&["--kernel", "k", "--threads", "parallel"], words].concat());
        let config = parallel(&["--max-insns", "9"]).unwrap();
        assert_eq!((config.threads, config.time, config.max_insns), (Threads::Parallel, TimeMode::Wall, Some(9)));
        assert_eq!(parallel(&["--time", "wall"]).unwrap().time, TimeMode::Wall);
        for (flag, more) in [
            ("--save", ["s", "--at", "insns=1"].as_slice()),
            ("--gdb", &["0"]),
            ("--trace", &["t"]),
            ("--profile", &["p"]),
            ("--time", &["insn"]),
        ] {
            let message = parallel(&[&[flag], more].concat()).unwrap_err();
            assert!(message.starts_with(flag) && message.contains("does not go with --threads parallel"), "{message}");
        }
        let Command::Run(args) =
            Cli::try_parse_from(["vambrace", "run", "--restore", "s", "--threads", "parallel"]).unwrap().command
        else {
            panic!("not run")
        };
        let message = args.restored(MachineConfig::default()).unwrap_err().to_string();
        assert!(message.starts_with("--restore does not go with"), "{message}");
    }

    #[test]
    fn a_snapshot_says_what_the_machine_is() {
        const WITH_A_SNAPSHOT: [&str; 20] = [
            "firmware-vars",
            "power-button",
            "restore",
            "save",
            "at",
            "disk",
            "share",
            "threads",
            "max-insns",
            "timeout",
            "stats",
            "vmlinux",
            "trace",
            "trace-events",
            "profile",
            "profile-every",
            "gdb",
            "gdb-wait",
            "console",
            "virtio-console",
        ];
        let command = Cli::command();
        let run = command.find_subcommand("run").unwrap();
        let names: Vec<_> = run.get_arguments().filter_map(|arg| arg.get_long()).collect();
        assert!(names.len() > 20);
        for name in names {
            let refused = MACHINE_FLAGS.contains(&name);
            let other = matches!(name, "help" | "version");
            assert_ne!(refused, WITH_A_SNAPSHOT.contains(&name) || other, "--{name}: does it go with a snapshot?");
        }
        assert!(parse(&["--restore", "s", "--cpus", "2"]).unwrap_err().contains("--cpus"));
        assert!(parse(&["--kernel", "k", "--save", "s"]).unwrap_err().contains("--at"));
        assert_eq!(parse(&["--kernel", "k", "--save", "s", "--at", "insns=7"]).unwrap().pause, Some(7));
    }

    #[test]
    fn where_disks_and_shares_of_a_snapshot_are_is_the_users_word() {
        let restored = |words: &[&str]| {
            let saved = parse(&["--kernel", "k", "--disk", "a", "--share", "/,tag=t", "--seed", "4"]).unwrap();
            let words = ["vambrace", "run", "--restore", "s"].iter().chain(words);
            let Command::Run(args) = Cli::try_parse_from(words).unwrap().command else { panic!("not run") };
            args.restored(saved).map_err(|error| error.to_string())
        };
        let moved = restored(&["--disk", "b", "--share", "d,ro", "--max-insns", "9"]).unwrap();
        assert_eq!((moved.disks[0].path.to_str(), moved.max_insns, moved.seed), (Some("b"), Some(9), 4));
        assert_eq!((moved.shares[0].path.to_str(), moved.shares[0].tag.as_deref()), (Some("d"), Some("t")));
        let refused = |words: &[&str], message: &str| {
            let error = restored(words).unwrap_err();
            assert!(error.contains(message), "{error}");
        };
        refused(&[], "--disk: 0 given, but the machine of the snapshot has 1: a;");
        refused(&["--disk", "b", "--disk", "c"], "--disk: 2 given");
        refused(&["--disk", "b"], "--share: 0 given, but the machine of the snapshot has 1: /;");
    }

    #[test]
    fn bad_values() {
        for (flag, value) in [
            ("--cpus", "x"),
            ("--cpus", "-1"),
            ("--memory", "1X"),
            ("--memory", "-1"),
            ("--feature", "nonsense=on"),
            ("--disk", ",ro"),
            ("--gic", "list-registers=17"),
            ("--gic", "seis"),
            ("--policy", "evil"),
            ("--policy", "adversarial:x"),
            ("--net", "tap"),
            ("--vsock", "cid=2,socket=s"),
            ("--time", "slow"),
            ("--engine", "fast"),
            ("--threads", "2"),
            ("--seed", "1e3"),
            ("--max-insns", "-5"),
            ("--timeout", "0"),
            ("--timeout", "-1"),
            ("--timeout", "1e400"),
            ("--timeout", "nan"),
            ("--timeout", "soon"),
            ("--at", "insns=-1"),
            ("--at", "100"),
            ("--profile-every", "0"),
            ("--profile-every", "1e9"),
        ] {
            let with = match flag {
                "--at" => ["--save", "s"].as_slice(),
                "--profile-every" => &["--profile", "p"],
                _ => &[],
            };
            let message = parse(&[&["--kernel", "k", flag, value], with].concat()).unwrap_err();
            assert!(message.contains(flag) && message.contains(value), "{flag} {value}: {message}");
        }
        assert!(parse(&["--no-such-flag"]).is_err());
    }
}
