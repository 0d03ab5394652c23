//! The slots of virtio-mmio transports, and what is in them: disks from the first slot on, in their order; other devices from
//! the last slot down, so that a disk more or less does not move them.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arch::Pa;
use bus::{Bus, Entropy, IrqLine, Ram};
use virtio_9p::{Tree, Virtio9p};
use virtio_blk::{FileDisk, VirtioBlk};
use virtio_console::{ConsoleQueue, VirtioConsole};
use virtio_mmio::{GuestMemory, VirtioDevice, VirtioMmio};
use virtio_net::{UserConfig, UserNet, VirtioNet};
use virtio_rng::VirtioRng;
use virtio_vsock::{UnixHost, VirtioVsock};

use crate::board::BoardError;
use crate::config::{Presence, VsockConfig};
use crate::map;

/// Virtio devices that a board is to have.
#[derive(Default)]
pub struct Devices {
    /// Disks, in the order of their slots.
    pub disks: Vec<DiskConfig>,
    /// An entropy device.
    pub rng: Presence,
    /// Directories of the host.
    pub shares: Vec<ShareConfig>,
    /// A network card with a network of the tool's own.
    pub net: Option<UserConfig>,
    /// A socket device.
    pub vsock: Option<VsockConfig>,
    /// Where a console's output goes, if there is to be one.
    pub console: Option<Box<dyn Write + Send>>,
    /// Where the board's input goes.
    pub input: Input,
}

/// Where what is typed goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// To the UART.
    #[default]
    Uart,
    /// To the virtio console, if there is one.
    VirtioConsole,
}

/// A disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskConfig {
    /// The image.
    pub path: PathBuf,
    /// May the guest write?
    pub access: virtio_blk::Access,
}

/// A directory of the host for the guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareConfig {
    /// The directory.
    pub path: PathBuf,
    /// Its name in the guest.
    pub tag: String,
    /// May the guest write?
    pub access: virtio_9p::Access,
}

/// Whether something outside the guest wakes a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wakes {
    /// It only answers.
    Never,
    /// It is to be polled.
    Polled,
}

/// How long the machine may sleep without looking at its devices.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naps {
    /// Until something is typed.
    Long,
    /// A millisecond: nobody wakes it when something comes from the host's network or programs.
    Short,
}

/// The network card's address, a locally administered one.
const MAC: [u8; 6] = [0x52, 0x54, 0x00, 0x12, 0x34, 0x56];

/// The devices of a board.
pub(crate) struct Slots {
    memory: GuestMemory,
    disks: Vec<Box<dyn VirtioDevice>>,
    others: Vec<(Box<dyn VirtioDevice>, Wakes)>,
    polled: Vec<Arc<Mutex<VirtioMmio>>>,
    naps: Naps,
}

impl Slots {
    /// No devices yet; they will reach `ram`.
    pub fn new(ram: Arc<Ram>) -> Self {
        let memory = GuestMemory::new(ram, Pa(map::RAM_BASE));
        Self { memory, disks: Vec::new(), others: Vec::new(), polled: Vec::new(), naps: Naps::Long }
    }

    /// Makes `devices`; gives where the board's input goes, if not to the UART.
    pub fn fill(&mut self, devices: Devices, seed: u64, epoch: u64) -> Result<Option<ConsoleQueue>, BoardError> {
        for disk in &devices.disks {
            let file = FileDisk::open(&disk.path, disk.access)?;
            let name = format!("vambrace-disk{}", self.disks.len());
            self.disks.push(Box::new(VirtioBlk::new(Box::new(file), &name)));
        }
        if devices.rng == Presence::Present {
            self.add(VirtioRng::new(Entropy::new(seed, "virtio-rng")), Wakes::Never);
        }
        let console = devices.console.map(VirtioConsole::new);
        let input = console.as_ref().filter(|_| devices.input == Input::VirtioConsole).map(VirtioConsole::input);
        if let Some(console) = console {
            self.add(console, Wakes::Polled);
        }
        if let Some(config) = &devices.net {
            let net = UserNet::new(MAC, config)?;
            self.add(VirtioNet::new(MAC, Box::new(net)), Wakes::Polled);
            self.naps = Naps::Short;
        }
        if let Some(config) = &devices.vsock {
            let host = UnixHost::listen(&config.socket)?;
            self.add(VirtioVsock::new(config.cid, Box::new(host)), Wakes::Polled);
            self.naps = Naps::Short;
        }
        for share in &devices.shares {
            let tree = Tree::open(&share.path, share.access)?;
            self.add(Virtio9p::new(tree, &share.tag, epoch), Wakes::Never);
        }
        Ok(input)
    }

    fn add(&mut self, device: impl VirtioDevice + 'static, wakes: Wakes) {
        self.others.push((Box::new(device), wakes));
    }

    /// Maps all slots, those that stay empty too. `irq` gives the wire of an INTID.
    pub fn map(&mut self, bus: &mut Bus, irq: impl Fn(u32) -> IrqLine) -> Result<(), BoardError> {
        let wanted = self.disks.len() + self.others.len();
        if wanted > map::VIRTIO_COUNT {
            return Err(BoardError::TooManyDevices(wanted));
        }
        let mut devices: Vec<Option<(Box<dyn VirtioDevice>, Wakes)>> = Vec::new();
        devices.extend(self.disks.drain(..).map(|disk| Some((disk, Wakes::Never))));
        devices.resize_with(map::VIRTIO_COUNT - self.others.len(), || None);
        devices.extend(self.others.drain(..).rev().map(Some));
        for (slot, device) in devices.into_iter().enumerate() {
            let window = map::virtio(slot);
            let name = format!("virtio-mmio{slot}");
            let (transport, wakes) = match device {
                None => (VirtioMmio::empty(name), Wakes::Never),
                Some((device, wakes)) => {
                    let line = irq(map::SPI_BASE + map::VIRTIO_SPI + slot as u32);
                    (VirtioMmio::new(name, line, self.memory.clone(), device), wakes)
                }
            };
            let transport = Arc::new(Mutex::new(transport));
            if wakes == Wakes::Polled {
                self.polled.push(transport.clone());
            }
            bus.map(Pa(window.base), window.len, transport)?;
        }
        Ok(())
    }

    /// How long the machine may sleep in one piece that wants to sleep for `wait`.
    pub fn nap(&self, wait: Duration) -> Duration {
        match self.naps {
            Naps::Long => wait,
            Naps::Short => wait.min(Duration::from_millis(1)),
        }
    }

    /// Lets the devices notice what happened outside the guest, at `now` in nanoseconds since power-on.
    pub fn poll(&self, now: u64) {
        for transport in &self.polled {
            transport.lock().expect("no device panics").poll(now);
        }
    }
}
