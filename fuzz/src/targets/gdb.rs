//! Clients of `--gdb`: packets with right checksums, junk, interrupts; they vanish, and others come. The run ends as it would
//! have.

use std::os::unix::net::UnixStream;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use machine::{Limit, Machine, MachineConfig, Outcome};

use super::guest::{self, ENTRY};
use crate::{Input, Target};

// The tool's own file: it is no library.
#[path = "../../../vambrace/src/gdb/mod.rs"]
#[allow(dead_code, unused_imports)]
mod stub;

use stub::server::{Message, Stream};

pub const TARGET: Target = Target { name: "gdb", run, seeds };

/// Instructions of a run.
const LIMIT: u64 = 60_000;
/// x1 = a place in memory; it counts there, for ever.
const PROGRAM: [u32; 4] = [0x1000_0101, 0x9100_0400, 0xf900_0020, 0x17ff_fffe];

fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let directory = guest::directory();
    let kernel = directory.path().join("kernel");
    std::fs::write(&kernel, guest::elf(&PROGRAM)).expect("a file");
    let config = MachineConfig {
        kernel: Some(kernel),
        cpus: 2,
        memory: guest::MEMORY,
        max_insns: Some(LIMIT),
        ..MachineConfig::default()
    };
    let mut machine = Machine::from_config(&config, guest::options()).expect("a machine");
    let start = input.of(&[stub::Start::WithClient, stub::Start::AtOnce]);
    let mut messages = Vec::new();
    // The other ends: nobody reads there, as long as the client is not gone.
    let mut clients = Vec::new();
    let mut connect = |messages: &mut Vec<Message>| {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        ours.set_write_timeout(Some(Duration::from_millis(10))).expect("a socket");
        clients.push(theirs);
        messages.push(Message::Client(Stream::Unix(ours)));
    };
    connect(&mut messages);
    while !input.is_empty() && messages.len() < 512 {
        match input.below(16) {
            0 => messages.push(Message::Gone),
            1 => connect(&mut messages),
            2 => messages.push(Message::Bytes(vec![3])),
            3 => {
                let len = input.u8();
                messages.push(Message::Bytes(input.bytes(len.into()).to_vec()));
            }
            _ => {
                let len = input.u8();
                let packet = input.bytes(len.into());
                let sum = packet.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
                messages.push(Message::Bytes([b"+$", packet, format!("#{sum:02x}").as_bytes()].concat()));
            }
        }
    }
    messages.push(Message::Gone);
    let (sender, receiver) = sync_channel(messages.len());
    for message in messages {
        sender.send(message).expect("there is room for all");
    }
    drop(sender);
    match stub::run(&mut machine, &receiver, start) {
        // Memory and registers are the client's to write: so anything may have come of the program.
        Outcome::Tool { error, .. } => assert!(!error.to_string().is_empty()),
        Outcome::Limit(Limit::Instructions(LIMIT)) | Outcome::Quit | Outcome::Stuck(_) => {}
        Outcome::PoweredOff | Outcome::Reset | Outcome::Exit(_) => {}
        outcome @ (Outcome::Limit(_) | Outcome::Paused | Outcome::NoThread { .. }) => {
            panic!("the run ended by {outcome:?}")
        }
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let session = |packets: &[&str]| {
        let mut bytes = vec![0];
        for packet in packets {
            bytes.extend([4, packet.len() as u8]);
            bytes.extend(packet.bytes());
        }
        bytes
    };
    let (add, word) = (ENTRY + 4, ENTRY + 0x20);
    vec![
        session(&[
            "qSupported:multiprocess+;swbreak+;hwbreak+;vContSupported+",
            "qXfer:features:read:target.xml:0,800",
            "qfThreadInfo",
            "qsThreadInfo",
            "?",
            "Hgp1.1",
            "g",
            "p20",
            "P0=0100000000000000",
        ]),
        session(&["?", &format!("Z0,{add:x},4"), "c", &format!("z0,{add:x},4"), "s", "vCont?", "vCont;s:p1.1;c"]),
        session(&["?", &format!("Z2,{word:x},8"), "c", &format!("Z3,{word:x},8"), &format!("Z4,{word:x},1"), "c"]),
        session(&["?", &format!("m{word:x},40"), &format!("M{word:x},4:00000014"), "mffffffffffffffff,8", "m0,10000"]),
        session(&["Qqemu.PhyMemMode:1", "qqemu.PhyMemMode", "m40000000,10", "Qqemu.PhyMemMode:0", "m40000000,10"]),
        session(&["?", "G00", "qC", "T1", "Hc-1", "D", "k"]),
        [session(&["?", "c"]), vec![2, 0, 1], session(&["?", "s"])].concat(),
        [session(&["?"]), vec![3, 9], b"$g#00$g#6".to_vec(), vec![1], session(&["vKill;1"])].concat(),
    ]
}
