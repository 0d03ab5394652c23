//! The board: RAM, interrupt controller, devices and CPUs, put together.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arch::Pa;
use arch::feature::Feature;
use arch::model::CpuModel;
use arch::policy::Policy;
use bus::{Bus, CpuLines, Device, GuestMemory, IrqLine, IrqSink, Level, Ram};
use cpu::{CodeCache, Conduit, Pe, PeConfig, Semihosting};
use gic::{Gic, GicV2};
use thiserror::Error;

use crate::config::{Controller, GicVersion, Presence};
use crate::console::{ConsoleInput, Port};
use crate::firmware::FirmwareDevices;
use crate::map;
use crate::schedule::Cpu;
use crate::slots::{Devices, Slots};
use crate::topology::Topology;

/// What a board is made of.
pub struct BoardConfig {
    /// The model of each CPU; their number is the number of CPUs, 1 to 512.
    pub models: Vec<CpuModel>,
    /// RAM in bytes.
    pub memory: u64,
    /// Which CPUs are near each other.
    pub topology: Topology,
    /// Virtio devices.
    pub devices: Devices,
    /// Where the UART's output goes.
    pub console: Box<dyn Write + Send>,
    /// For everything random.
    pub seed: u64,
    /// Are semihosting calls served?
    pub semihosting: Semihosting,
    /// Seconds since 1970 at power-on, as the real-time clock has it.
    pub epoch: u64,
    /// How the machine chooses among permitted outcomes.
    pub policy: Policy,
    /// Flash memory and the firmware's configuration device, if there are to be any: what becomes of what is written to the
    /// second bank.
    pub firmware: Option<pflash::Writes>,
    /// The interrupt controller.
    pub controller: Controller,
}

/// A board could not be built.
#[derive(Debug, Error)]
pub enum BoardError {
    /// RAM.
    #[error(transparent)]
    Ram(#[from] bus::RamError),
    /// The interrupt controller.
    #[error(transparent)]
    Gic(#[from] gic::GicError),
    /// The address map.
    #[error(transparent)]
    Map(#[from] bus::MapError),
    /// A disk.
    #[error(transparent)]
    Disk(#[from] virtio_blk::DiskError),
    /// A shared directory.
    #[error(transparent)]
    Share(#[from] virtio_9p::ShareError),
    /// The network.
    #[error(transparent)]
    Net(#[from] virtio_net::NetError),
    /// The socket device.
    #[error(transparent)]
    Vsock(#[from] virtio_vsock::VsockError),
    /// The file that keeps the firmware's variables.
    #[error("--firmware-vars: {0}")]
    Flash(#[from] pflash::KeepError),
    /// More virtio devices than slots.
    #[error("{0} virtio devices wanted, but the board has {max} slots for them", max = map::VIRTIO_COUNT)]
    TooManyDevices(usize),
}

/// The parts of a machine.
pub struct Board {
    /// The address map.
    pub bus: Arc<Bus>,
    /// The interrupt controller.
    pub gic: gic::Controller,
    /// CPUs by number. All are off.
    pub cpus: Vec<Cpu>,
    /// Decoded code, one for each different model.
    pub code: Vec<CodeCache>,
    /// The UART's input.
    pub input: ConsoleInput,
    /// Flash memory and the firmware's configuration device, where there are any.
    pub firmware: Option<FirmwareDevices>,
    rtc: Arc<Mutex<pl031::Pl031>>,
    topology: Topology,
    gpio: Arc<Mutex<pl061::Pl061>>,
    /// When the power button is let go, in nanoseconds; `None` while nobody presses it.
    release: Option<u64>,
    slots: Slots,
}

/// How long the power button is pressed, in nanoseconds: longer than the 5 ms by which Linux sorts out bouncing.
const PRESS: u64 = 100_000_000;

impl Board {
    /// Builds it.
    pub fn new(config: BoardConfig) -> Result<Self, BoardError> {
        let cpus = config.models.len();
        let flash = if config.firmware.is_some() { FirmwareDevices::FLASH } else { 0 };
        let ram = Arc::new(Ram::with_flash(config.memory, flash)?);
        let lines: Vec<Arc<CpuLines>> = (0..cpus).map(|_| Arc::default()).collect();
        let mut bus = Bus::new(ram.clone(), Pa(map::RAM_BASE));
        let gic = interrupt_controller(&config, &lines, &mut bus)?;
        let irq = |intid| IrqLine::new(Arc::new(gic.clone()) as Arc<dyn IrqSink>, intid);

        let firmware = match config.firmware {
            Some(variables) => Some(FirmwareDevices::map(&mut bus, cpus, variables)?),
            None => None,
        };
        let uart = pl011::Pl011::new("pl011", irq(map::SPI_BASE + map::UART_SPI), config.console);
        let mut port = Port::Uart(uart.input());
        bus.map(Pa(map::UART.base), map::UART.len, shared(uart))?;
        let rtc = pl031::Pl031::new("pl031", irq(map::SPI_BASE + map::RTC_SPI), config.epoch);
        let rtc = Arc::new(Mutex::new(rtc));
        bus.map(Pa(map::RTC.base), map::RTC.len, rtc.clone())?;
        let gpio = Arc::new(Mutex::new(pl061::Pl061::new("pl061", irq(map::SPI_BASE + map::GPIO_SPI))));
        bus.map(Pa(map::GPIO.base), map::GPIO.len, gpio.clone())?;
        let mut slots = Slots::new(ram.clone());
        if let Some(queue) = slots.fill(config.devices, config.seed, config.epoch)? {
            port = Port::Virtio(queue);
        }
        slots.map(&mut bus, irq)?;
        let input = ConsoleInput::new(port);

        let bus = Arc::new(bus);
        let mut board = Self {
            bus: bus.clone(),
            gic: gic.clone(),
            cpus: Vec::new(),
            code: Vec::new(),
            input,
            firmware,
            rtc,
            topology: config.topology.clone(),
            gpio,
            release: None,
            slots,
        };
        let mut features = Vec::new();
        for (index, model) in config.models.into_iter().enumerate() {
            let code = features.iter().position(|f| *f == model.features).unwrap_or_else(|| {
                features.push(model.features);
                board.code.push(CodeCache::new(ram.clone(), model.features));
                features.len() - 1
            });
            let conduit = if model.has(Feature::FEAT_EL2) { Conduit::Smc } else { Conduit::Hvc };
            let pe = Pe::new(PeConfig {
                index,
                mpidr: map::mpidr(config.topology.affinity(index, cpus)),
                model,
                bus: bus.clone(),
                gic: Arc::new(gic.clone()),
                lines: lines[index].clone(),
                conduit,
                frequency: map::FREQUENCY,
                seed: config.seed ^ (index as u64) << 32,
                semihosting: config.semihosting,
            });
            board.cpus.push(Cpu::new(pe, code));
        }
        Ok(board)
    }

    /// The affinity of CPU `index`.
    pub(crate) fn affinity(&self, index: usize) -> u64 {
        self.topology.affinity(index, self.cpus.len())
    }

    /// Presses the power button, at `now` in nanoseconds; it is let go a tenth of a second later.
    pub(crate) fn press_power_button(&mut self, now: u64) {
        self.release = Some(now + PRESS);
        self.gpio.lock().expect("no device panics").drive(map::POWER_BUTTON_LINE, Level::High);
    }

    /// When the power button is let go, for snapshots.
    pub(crate) fn power_button_release(&mut self) -> &mut Option<u64> {
        &mut self.release
    }

    /// How long the machine may sleep in one piece that wants to sleep for `wait`.
    pub(crate) fn nap(&self, wait: Duration) -> Duration {
        self.slots.nap(wait)
    }

    /// When a device next does something by itself, in nanoseconds.
    pub(crate) fn device_deadline(&self) -> Option<u64> {
        let rtc = self.rtc.lock().expect("no device panics").next_event();
        // What the GIC has left for the next round is due at once.
        rtc.into_iter().chain(self.release).chain(self.gic.has_work().then_some(0)).min()
    }

    /// Lets devices notice the time.
    pub(crate) fn tick_devices(&mut self, nanoseconds: u64) {
        if self.release.is_some_and(|at| at <= nanoseconds) {
            self.release = None;
            self.gpio.lock().expect("no device panics").drive(map::POWER_BUTTON_LINE, Level::Low);
        }
        self.rtc.lock().expect("no device panics").tick(nanoseconds);
        if self.gic.has_work() {
            self.gic.work(nanoseconds);
        }
        self.slots.poll(nanoseconds);
    }
}

/// Makes the interrupt controller and puts it into the address map.
fn interrupt_controller(
    config: &BoardConfig,
    lines: &[Arc<CpuLines>],
    bus: &mut Bus,
) -> Result<gic::Controller, BoardError> {
    let cpus = config.models.len();
    if config.controller.version == GicVersion::V2 {
        let gic = GicV2::new(lines.to_vec(), gic::Config::VIRT_SPIS)?;
        bus.map(Pa(map::GICD.base), GicV2::WINDOW, shared(gic.distributor()))?;
        bus.map(Pa(map::GICC.base), GicV2::WINDOW, shared(gic.cpu_interfaces()))?;
        if config.models.iter().any(|model| model.has(Feature::FEAT_EL2)) {
            bus.map(Pa(map::GICH.base), GicV2::WINDOW, shared(gic.virtual_control()))?;
            bus.map(Pa(map::GICV.base), GicV2::WINDOW, shared(gic.virtual_cpu_interfaces()))?;
        }
        return Ok(gic::Controller::V2(gic));
    }
    let has_its = config.controller.its == Presence::Present;
    let gic = Gic::new(gic::Config {
        affinities: (0..cpus).map(|cpu| config.topology.affinity(cpu, cpus)).collect(),
        spis: gic::Config::VIRT_SPIS,
        wires: lines.to_vec(),
        interfaces: config.models.iter().map(|model| model.gic).collect(),
        policy: config.policy,
        sleep: gic::Sleep::Awake,
        memory: has_its.then(|| GuestMemory::new(bus.ram().clone(), bus.ram_base())),
    })?;
    bus.map(Pa(map::GICD.base), map::GICD.len, shared(gic.distributor()))?;
    if has_its {
        bus.map(Pa(map::ITS.base), map::ITS.len, shared(gic.its()))?;
    }
    for region in map::gicr_regions(cpus, config.memory) {
        bus.map(Pa(region.window.base), region.window.len, shared(gic.redistributors(region.cpus)))?;
    }
    Ok(gic::Controller::V3(gic))
}

fn shared<D: Device + 'static>(device: D) -> Arc<Mutex<dyn Device>> {
    Arc::new(Mutex::new(device))
}
