//! The virtio-mmio transport, version 2 (VIRTIO 1.2, §4.2), for any [`VirtioDevice`]; and the empty slot.
//!
//! The driver must negotiate `VIRTIO_F_VERSION_1`; there is no legacy interface. The transport offers
//! `VIRTIO_F_INDIRECT_DESC` for every device. A driver that breaks a queue finds `DEVICE_NEEDS_RESET` set, with a
//! configuration interrupt, and the device does nothing more until it is reset.

use bus::{Device, DeviceFault, IrqLine, Level, MmioAccess, Size};
use snapshot::{Codec, Invalid};

mod queue;
pub mod spec;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

pub use bus::GuestMemory;
pub use queue::{Buffer, Chain, QueueError, QueueIo, Queues, part, total};

use queue::{Indirect, Queue};
use spec::{feature, interrupt, reg, status};

/// What makes a transport a disk, a network card, …
pub trait VirtioDevice: Send {
    /// The device type (VIRTIO 1.2, §5).
    fn id(&self) -> u32;
    /// The device's own feature bits; the transport adds the reserved ones it needs.
    fn features(&self) -> u64;
    /// The largest size of each queue, powers of two up to 32768.
    fn queue_sizes(&self) -> &[u16];
    /// The configuration space; beyond it reads give 0.
    fn config(&self) -> &[u8];
    /// The driver writes `bytes` at `offset` of the configuration space. By default nothing there can be written.
    fn write_config(&mut self, offset: u64, bytes: &[u8]) {
        let _ = (offset, bytes);
    }
    /// The driver settled on `features`.
    fn start(&mut self, features: u64);
    /// The driver resets the device.
    fn reset(&mut self);
    /// The driver says that queue number `queue` has requests. An error means that the queue is broken.
    fn notify(&mut self, queue: usize, io: &mut QueueIo<'_>) -> Result<(), QueueError>;
    /// Something may have happened outside the guest: the device brings what came to the driver. Called only while the
    /// driver is live. An error means that a queue is broken.
    fn poll(&mut self, queues: &mut Queues<'_>) -> Result<(), QueueError> {
        let _ = queues;
        Ok(())
    }
    /// Folds the guest-visible state beyond the queues.
    fn hash(&self, state: &mut dyn core::hash::Hasher);
    /// Saves the state beyond the queues, or takes it from a snapshot, as [`Device::persist`] says. What lies on the host
    /// (a disk's contents) stays there; the snapshot says what it must be.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid>;
}

/// A virtio-mmio slot: a window of 512 bytes.
pub struct VirtioMmio {
    name: String,
    slot: Option<Slot>,
}

struct Slot {
    device: Box<dyn VirtioDevice>,
    irq: IrqLine,
    level: Level,
    memory: GuestMemory,
    queues: Vec<Queue>,
    device_features_sel: u32,
    driver_features_sel: u32,
    driver_features: u64,
    queue_sel: u32,
    interrupt_status: u32,
    status: u32,
    broken: Option<QueueError>,
}

impl VirtioMmio {
    /// Size of the window in bytes.
    pub const LEN: u64 = 0x200;

    /// A slot with no device: it reads as a transport with device ID 0, which drivers skip.
    pub fn empty(name: impl Into<String>) -> Self {
        Self { name: name.into(), slot: None }
    }

    /// A slot with `device`, which reaches `memory` and drives `irq`. `name` is for messages.
    pub fn new(name: impl Into<String>, irq: IrqLine, memory: GuestMemory, device: Box<dyn VirtioDevice>) -> Self {
        let queues = device.queue_sizes().iter().map(|max| Queue::new(*max)).collect();
        let slot = Slot {
            device,
            irq,
            level: Level::Low,
            memory,
            queues,
            device_features_sel: 0,
            driver_features_sel: 0,
            driver_features: 0,
            queue_sel: 0,
            interrupt_status: 0,
            status: 0,
            broken: None,
        };
        Self { name: name.into(), slot: Some(slot) }
    }

    /// Lets the device notice what happened outside the guest, at `now` in nanoseconds since power-on.
    pub fn poll(&mut self, now: u64) {
        if let Some(slot) = &mut self.slot {
            slot.poll(now);
            slot.update();
        }
    }

    /// What the driver did wrong, if it broke a queue since the last reset.
    pub fn broken(&self) -> Option<&QueueError> {
        self.slot.as_ref()?.broken.as_ref()
    }
}

impl Device for VirtioMmio {
    fn name(&self) -> &str {
        &self.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        if access.offset >= reg::CONFIG {
            return Ok(self.slot.as_ref().map_or(0, |s| read_config(s.device.config(), access)));
        }
        // Registers are accessed as 32-bit words only (§4.2.2.2); other sizes read as zero.
        Ok(match (access.size, access.offset) {
            (Size::Word, reg::MAGIC_VALUE) => spec::MAGIC.into(),
            (Size::Word, reg::VERSION) => spec::VERSION.into(),
            (Size::Word, reg::VENDOR_ID) => spec::VENDOR.into(),
            (Size::Word, offset) => self.slot.as_ref().map_or(0, |slot| slot.read(offset)).into(),
            _ => 0,
        })
    }
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        let Some(slot) = &mut self.slot else { return Ok(()) };
        if access.offset >= reg::CONFIG {
            let bytes = value.to_le_bytes();
            slot.device.write_config(access.offset - reg::CONFIG, &bytes[..access.size.bytes() as usize]);
        } else if access.size == Size::Word {
            slot.write(access.offset, value as u32, access.now);
            slot.update();
        }
        Ok(())
    }
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        if let Some(slot) = &self.slot {
            slot.hash(state);
        }
    }
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { name: _, slot } = self;
        codec.same(&slot.as_ref().map(|slot| slot.device.id()), "what is in the slot")?;
        slot.as_mut().map_or(Ok(()), |slot| slot.persist(codec))
    }
}

fn read_config(config: &[u8], access: MmioAccess) -> u64 {
    let from = (access.offset - reg::CONFIG) as usize;
    let byte = |n: u64| u64::from(config.get(from + n as usize).copied().unwrap_or(0));
    (0..access.size.bytes()).fold(0, |value, n| value | byte(n) << (8 * n))
}

/// Replaces one half of a 64-bit register, the upper one where `high` is 4.
fn set_half(value: &mut u64, high: u64, half: u32) {
    let shift = 8 * high;
    *value = *value & !(0xffff_ffff << shift) | u64::from(half) << shift;
}

impl Slot {
    fn offered(&self) -> u64 {
        self.device.features() | feature::VERSION_1 | feature::INDIRECT_DESC
    }

    fn selected(&self) -> Option<&Queue> {
        self.queues.get(self.queue_sel as usize)
    }

    fn read(&self, offset: u64) -> u32 {
        match offset {
            reg::DEVICE_ID => self.device.id(),
            reg::DEVICE_FEATURES if self.device_features_sel < 2 => {
                (self.offered() >> (32 * self.device_features_sel)) as u32
            }
            reg::QUEUE_NUM_MAX => self.selected().map_or(0, |q| q.max.into()),
            reg::QUEUE_READY => self.selected().map_or(0, |q| q.ready.into()),
            reg::INTERRUPT_STATUS => self.interrupt_status,
            reg::STATUS => self.status,
            offset if reg::SHM.contains(&offset) => u32::MAX,
            // ConfigGeneration too: no device changes its configuration space.
            _ => 0,
        }
    }

    fn write(&mut self, offset: u64, value: u32, now: u64) {
        match offset {
            reg::DEVICE_FEATURES_SEL => self.device_features_sel = value,
            reg::DRIVER_FEATURES_SEL => self.driver_features_sel = value,
            reg::DRIVER_FEATURES => {
                if self.status & status::FEATURES_OK == 0 && self.driver_features_sel < 2 {
                    set_half(&mut self.driver_features, u64::from(self.driver_features_sel) * 4, value);
                }
            }
            reg::QUEUE_SEL => self.queue_sel = value,
            reg::QUEUE_NOTIFY => self.notify(value, now),
            reg::INTERRUPT_ACK => self.interrupt_status &= !value,
            reg::STATUS => self.set_status(value),
            _ => self.write_queue(offset, value),
        }
    }

    fn write_queue(&mut self, offset: u64, value: u32) {
        let Some(queue) = self.queues.get_mut(self.queue_sel as usize) else { return };
        match (offset, queue.ready) {
            (reg::QUEUE_READY, true) => queue.ready = value & 1 != 0,
            (reg::QUEUE_READY, false) if value & 1 != 0 => {
                if let Err(error) = queue.start() {
                    self.fail(error);
                }
            }
            // A live queue cannot be changed (§4.2.2.2).
            (_, true) => {}
            (reg::QUEUE_NUM, _) => queue.size = value,
            (reg::QUEUE_DESC | 0x084, _) => set_half(&mut queue.desc, offset & 4, value),
            (reg::QUEUE_DRIVER | 0x094, _) => set_half(&mut queue.driver, offset & 4, value),
            (reg::QUEUE_DEVICE | 0x0a4, _) => set_half(&mut queue.device, offset & 4, value),
            _ => {}
        }
    }

    /// Writes the status field (§3.1). Bits are set one by one by the driver and cleared by a reset only.
    fn set_status(&mut self, value: u32) {
        if value & 0xff == 0 {
            self.reset();
            return;
        }
        let mut set = value & 0xff & !status::NEEDS_RESET & !self.status;
        if set & status::FEATURES_OK != 0 {
            let acceptable =
                self.driver_features & !self.offered() == 0 && self.driver_features & feature::VERSION_1 != 0;
            if acceptable {
                self.device.start(self.driver_features);
            } else {
                set &= !status::FEATURES_OK;
            }
        }
        self.status |= set;
    }

    fn reset(&mut self) {
        self.device.reset();
        self.queues = self.device.queue_sizes().iter().map(|max| Queue::new(*max)).collect();
        self.device_features_sel = 0;
        self.driver_features_sel = 0;
        self.driver_features = 0;
        self.queue_sel = 0;
        self.interrupt_status = 0;
        self.status = 0;
        self.broken = None;
    }

    fn is_live(&self) -> bool {
        const LIVE: u32 = status::FEATURES_OK | status::DRIVER_OK;
        self.status & (LIVE | status::NEEDS_RESET | status::FAILED) == LIVE
    }

    fn indirect(&self) -> Indirect {
        if self.driver_features & feature::INDIRECT_DESC == 0 { Indirect::Refused } else { Indirect::Negotiated }
    }

    fn poll(&mut self, now: u64) {
        if !self.is_live() {
            return;
        }
        let indirect = self.indirect();
        let mut queues = Queues::new(&mut self.queues, &self.memory, indirect, now);
        let result = self.device.poll(&mut queues);
        if queues.wants_interrupt() {
            self.interrupt_status |= interrupt::USED;
        }
        if let Err(error) = result {
            self.fail(error);
        }
    }

    fn notify(&mut self, index: u32, now: u64) {
        let (live, indirect) = (self.is_live(), self.indirect());
        let Some(queue) = self.queues.get_mut(index as usize).filter(|q| live && q.ready) else { return };
        let mut io = QueueIo::new(queue, &self.memory, indirect, now);
        let result = self.device.notify(index as usize, &mut io);
        // What was completed before an error is announced all the same.
        match io.wants_interrupt() {
            Ok(true) => self.interrupt_status |= interrupt::USED,
            Ok(false) => {}
            Err(error) => self.fail(error),
        }
        if let Err(error) = result {
            self.fail(error);
        }
    }

    /// The driver broke a queue (§2.1.2).
    fn fail(&mut self, error: QueueError) {
        self.status |= status::NEEDS_RESET;
        if self.status & status::DRIVER_OK != 0 {
            self.interrupt_status |= interrupt::CONFIG;
        }
        self.broken.get_or_insert(error);
    }

    fn update(&mut self) {
        let level = Level::from_bit(self.interrupt_status != 0);
        if level != self.level {
            self.level = level;
            self.irq.set(level);
        }
    }

    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self {
            device,
            irq: _,
            level,
            memory: _,
            queues,
            device_features_sel,
            driver_features_sel,
            driver_features,
            queue_sel,
            interrupt_status,
            status,
            broken,
        } = self;
        let (mut high, mut is_broken) = (*level == Level::High, broken.is_some());
        codec.each([&mut high, &mut is_broken, device_features_sel, driver_features_sel, driver_features])?;
        codec.each([queue_sel, interrupt_status, status])?;
        *level = Level::from_bit(high);
        if codec.is_loading() {
            *broken = is_broken.then_some(QueueError::Request("before the snapshot"));
        }
        queues.iter_mut().try_for_each(|queue| queue.persist(codec))?;
        device.persist(codec)
    }

    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        for value in
            [self.device_features_sel, self.driver_features_sel, self.queue_sel, self.interrupt_status, self.status]
        {
            state.write_u32(value);
        }
        state.write_u64(self.driver_features);
        for queue in &self.queues {
            queue.hash(state);
        }
        self.device.hash(state);
    }
}
