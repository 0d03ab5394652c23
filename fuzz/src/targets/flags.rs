//! Values of flags. A configuration that is valid has a board and a device tree.

use machine::config::{CpuConfig, MachineConfig, Presence, parse_net, parse_size};
use machine::fdt::{self, Description, Firmware, Hypervisor, Monitors};
use machine::{Board, BoardConfig, Devices, Semihosting};

use crate::Target;

pub const TARGET: Target = Target { name: "flags", run, seeds };

/// A board of more is made by hand, not here: it takes its time.
const MOST_CPUS: usize = 4;

/// Lines of a flag and its value.
fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut config = MachineConfig { kernel: Some("kernel".into()), memory: 64 << 20, ..MachineConfig::default() };
    for line in text.lines() {
        let (flag, value) = line.split_once(' ').unwrap_or((line, ""));
        let result = set(&mut config, flag, value);
        if let Err(error) = result {
            assert!(!error.is_empty());
        }
    }
    match config.validate(Some(1 << 32)) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(()) if config.cpus <= MOST_CPUS => build(&config),
        Ok(()) => {}
    }
}

fn set(config: &mut MachineConfig, flag: &str, value: &str) -> Result<(), String> {
    fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(value: &str) -> Result<T, String> {
        value.parse().map_err(|error: T::Err| error.to_string())
    }
    match flag {
        "cpus" => config.cpus = parsed(value)?,
        "memory" => config.memory = parse_size(value).ok_or("no size")?,
        "topology" => config.topology.shape = Some(parsed(value)?),
        "numa" => config.topology.nodes.push(parsed(value)?),
        "distance" => config.topology.distances.push(parsed(value)?),
        "cpu" => config.cpu = CpuConfig { preset: value.into(), ..config.cpu.clone() },
        "feature" => config.cpu.features.push(parsed(value)?),
        "gic" => config.cpu.gic.push(parsed(value)?),
        "policy" => config.policy = parsed(value)?,
        "disk" => config.disks.push(parsed(value)?),
        "share" => config.shares.push(parsed(value)?),
        "net" => config.net = parse_net(value).map_err(|error| error.to_string())?,
        "vsock" => config.vsock = Some(parsed(value)?),
        "button" => config.power_button = Some(parsed(value)?),
        "time" => config.time = parsed(value)?,
        "append" => config.append = Some(value.into()),
        "rng" => config.rng = Presence::Present,
        _ => return Err("no such flag".into()),
    }
    Ok(())
}

/// The board, without what is the host's.
fn build(config: &MachineConfig) {
    let models = config.models().expect("they were validated");
    let blob = fdt::generate(&Description {
        preset: &config.cpu.preset,
        cpus: config.cpus,
        memory: config.memory,
        topology: &config.topology,
        bootargs: config.append.as_deref().unwrap_or(""),
        initrd: None,
        hypervisor: Hypervisor::Present,
        monitors: Monitors::Absent,
        firmware: Firmware::StoodInFor,
        controller: config.controller(),
        seed: 0,
    });
    fdt::dump(&blob).expect("what is generated is a tree");
    let board = Board::new(BoardConfig {
        models,
        memory: config.memory,
        topology: config.topology.clone(),
        firmware: None,
        devices: Devices { rng: config.rng, ..Devices::default() },
        console: Box::new(std::io::sink()),
        policy: config.policy,
        seed: 0,
        semihosting: Semihosting::Off,
        epoch: 0,
        controller: config.controller(),
    });
    board.expect("a valid configuration has a board");
}

fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "cpus 4\nmemory 64M\ntopology sockets=2,clusters=2\nnuma memory=32M,cpus=0-1\nnuma memory=32M,cpus=2-3\ndistance 0:1=33\n",
        "cpu max\nfeature FEAT_LSE=off\nfeature 0:pa-bits=40\nfeature el2=off\nfeature breakpoints=4\n",
        "cpu neoverse-n1\ngic list-registers=8,seis=on,tds=off\ngic 0:list-registers=2\npolicy adversarial:7\n",
        "disk a,ro\nshare dir,ro,tag=x\nnet user,dns=1.1.1.1:5,forward=80:80\nbutton seconds=1.5\ntime wall\nrng\nappend quiet\n",
        "cpus 8\nfeature gic=2\n",
        "cpus 2\nfeature its=on\nfeature its=off\nfeature gic=3\nfeature its=on\n",
        "cpus 4\nfeature 1:lse=off\nfeature 9:lse=on\nbutton insns=5\nnet none\nmemory 1G\n",
        "vsock cid=3,socket=s\nvsock cid=4294967294,socket=a,b\nvsock cid=2,socket=s\n",
    ];
    texts.into_iter().map(|text| text.as_bytes().to_vec()).collect()
}
