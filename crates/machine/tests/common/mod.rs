//! Machines that run words put straight into RAM.
// Each test program uses its part of this.
#![allow(dead_code)]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use arch::feature::Feature;
use arch::policy::Policy;
use arch::{CpuModel, Pa};
use cpu::Semihosting;
use event::{Event, Sink};
use vambrace_machine::psci::Firmware;
use vambrace_machine::setup::Sleep;
use vambrace_machine::{Board, BoardConfig, Controller, Devices, Input, Limits, Machine, Options, Pace, Topology};

/// Where programs start.
pub const ENTRY: u64 = 0x4020_0000;
/// Bytes of RAM.
pub const MEMORY: u64 = 16 << 20;

/// Lets the virtual timer's interrupt reach CPU 0. X0 is 1 behind it.
pub const GIC_ON: [u32; 17] = [
    0xd280_0020, // mov x0, #1
    0xd518_cca0, // msr icc_sre_el1, x0
    0xd503_3fdf, // isb
    0xd2a1_0141, // mov x1, #0x80a0000: the redistributor
    0xb900_143f, // str wzr, [x1, #0x14]: GICR_WAKER
    0x9140_4021, // add x1, x1, #0x10000
    0x1280_0000, // mov w0, #-1
    0xb900_8020, // str w0, [x1, #0x80]: GICR_IGROUPR0
    0x52a1_0000, // mov w0, #1 << 27: the virtual timer
    0xb901_0020, // str w0, [x1, #0x100]: GICR_ISENABLER0
    0xd2a1_0001, // mov x1, #0x8000000: the distributor
    0x5280_0240, // mov w0, #0x12: ARE, group 1
    0xb900_0020, // str w0, [x1]
    0xd280_1fe0, // mov x0, #0xff
    0xd518_4600, // msr icc_pmr_el1, x0
    0xd280_0020, // mov x0, #1
    0xd518_cce0, // msr icc_igrpen1_el1, x0
];

/// Kept bytes: the console's.
#[derive(Clone, Default)]
pub struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    /// What was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("no writer panics").clone()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").extend(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Events in order.
#[derive(Clone, Default)]
pub struct Events(Arc<Mutex<Vec<Event>>>);

impl Events {
    /// What happened so far.
    pub fn all(&self) -> Vec<Event> {
        self.0.lock().expect("no sink panics").clone()
    }
}

impl Sink for Events {
    fn event(&mut self, _: u64, event: &Event) {
        self.0.lock().expect("no sink panics").push(*event);
    }
}

/// Words as they are in memory.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What a machine from a configuration has beside it: this console.
pub fn options(console: &Kept) -> Options {
    Options {
        console: Box::new(console.clone()),
        virtio_console: None,
        input: Input::Uart,
        sleep: Sleep::Skipped,
        semihosting: Semihosting::Off,
    }
}

/// A machine with `cpus` CPUs of `preset`, without EL2, that ends after `steps`, with `pieces` of memory: address, words.
pub fn machine(preset: &str, cpus: usize, steps: u64, pieces: &[(u64, &[u32])]) -> (Machine, Kept) {
    let model = arch::preset::preset(preset).expect("a preset").without_dependents(Feature::FEAT_EL2);
    machine_of(model, cpus, steps, pieces)
}

/// The same of any model.
pub fn machine_of(model: CpuModel, cpus: usize, steps: u64, pieces: &[(u64, &[u32])]) -> (Machine, Kept) {
    machine_with(model, cpus, Policy::Benign, steps, pieces)
}

/// The same, where `policy` decides what the architecture leaves open.
pub fn machine_with(
    model: CpuModel,
    cpus: usize,
    policy: Policy,
    steps: u64,
    pieces: &[(u64, &[u32])],
) -> (Machine, Kept) {
    machine_of_all(vec![model; cpus], policy, steps, pieces)
}

/// The same with a CPU of each of `models`.
pub fn machine_of_models(models: &[CpuModel], steps: u64, pieces: &[(u64, &[u32])]) -> (Machine, Kept) {
    machine_of_all(models.to_vec(), Policy::Benign, steps, pieces)
}

fn machine_of_all(models: Vec<CpuModel>, policy: Policy, steps: u64, pieces: &[(u64, &[u32])]) -> (Machine, Kept) {
    let console = Kept::default();
    let board = Board::new(BoardConfig {
        models,
        memory: MEMORY,
        topology: Topology::default(),
        devices: Devices::default(),
        firmware: None,
        console: Box::new(console.clone()),
        policy,
        seed: 0,
        semihosting: Semihosting::Off,
        epoch: 0,
        controller: Controller::default(),
    })
    .expect("a board");
    for (address, words) in pieces {
        board.bus.ram().write_bytes(address - 0x4000_0000, &bytes(words)).expect("it lies in RAM");
    }
    let limits = Limits { steps: Some(steps), pause: None, timeout: None };
    (Machine::new(board, Pa(ENTRY), 0, Pace::Instructions, limits, Firmware::new(0)), console)
}
