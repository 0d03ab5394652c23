//! The address map: where RAM lies, which device owns which window.

use std::sync::{Arc, Mutex};

use arch::Pa;
use snapshot::{Codec, Invalid};
use thiserror::Error;

use crate::{Device, DeviceFault, MmioAccess, Ram, Size};

/// A window could not be mapped.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MapError {
    /// It overlaps another.
    #[error("device {name} at {base:#x} (+{len:#x}) overlaps {other}")]
    Overlap {
        /// The new device.
        name: String,
        /// Its base.
        base: u64,
        /// Its length in bytes.
        len: u64,
        /// The window already there.
        other: String,
    },
}

/// What lies at a physical address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// RAM, at this offset from its start.
    Ram(u64),
    /// A device: its index in the map and the offset in its window.
    Device(usize, u64),
    /// Nothing: an access is an external abort.
    Nothing,
}

struct Window {
    base: u64,
    len: u64,
    name: String,
    device: Arc<Mutex<dyn Device>>,
    /// Where in [`Ram`] the contents of the window are, of flash memory.
    contents: Option<u64>,
}

/// What saves and loads one device.
pub struct DevicePart<'a>(&'a Window);

impl DevicePart<'_> {
    /// Saves or loads it. The name and the place are part of it, so that a device does not get another one's state.
    pub fn persist(&self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let window = self.0;
        codec.same(&window.name, &format!("the device at {:#x}, here {},", window.base, window.name))?;
        codec.same(&window.base, &format!("the place of {}", window.name))?;
        window.device.lock().expect("no device panics").persist(codec)
    }
}

/// The physical address map of one machine. Built once, then shared by all PEs.
pub struct Bus {
    ram: Arc<Ram>,
    ram_base: Pa,
    windows: Vec<Window>,
}

impl Bus {
    /// A map that holds only RAM, at `ram_base`.
    #[must_use]
    pub fn new(ram: Arc<Ram>, ram_base: Pa) -> Self {
        Self { ram, ram_base, windows: Vec::new() }
    }

    /// Maps `len` bytes at `base` to `device`.
    pub fn map(&mut self, base: Pa, len: u64, device: Arc<Mutex<dyn Device>>) -> Result<(), MapError> {
        self.map_window(base, len, device, None)
    }

    /// Maps flash memory: loads and stores go to `device`, fetches and table walks find what is `at` this offset in the
    /// flash that [`Bus::ram`] holds.
    pub fn map_flash(&mut self, base: Pa, len: u64, device: Arc<Mutex<dyn Device>>, at: u64) -> Result<(), MapError> {
        let contents = self.ram.len() + at;
        self.map_window(base, len, device, Some(contents))
    }

    fn map_window(
        &mut self,
        base: Pa,
        len: u64,
        device: Arc<Mutex<dyn Device>>,
        contents: Option<u64>,
    ) -> Result<(), MapError> {
        let name = device.lock().expect("no holder panics").name().to_owned();
        let end = base.0 + len;
        let clash = |b: u64, l: u64| base.0 < b + l && b < end;
        let other = if clash(self.ram_base.0, self.ram.len()) {
            Some("RAM".to_owned())
        } else {
            self.windows.iter().find(|w| clash(w.base, w.len)).map(|w| w.name.clone())
        };
        if let Some(other) = other {
            return Err(MapError::Overlap { name, base: base.0, len, other });
        }
        let at = self.windows.partition_point(|w| w.base < base.0);
        self.windows.insert(at, Window { base: base.0, len, name, device, contents });
        Ok(())
    }

    /// Guest RAM.
    #[inline(always)]
    #[must_use]
    pub fn ram(&self) -> &Arc<Ram> {
        &self.ram
    }
    /// Where RAM starts.
    #[must_use]
    pub fn ram_base(&self) -> Pa {
        self.ram_base
    }

    /// What lies at `pa`.
    #[inline]
    #[must_use]
    pub fn target(&self, pa: Pa) -> Target {
        let offset = pa.0.wrapping_sub(self.ram_base.0);
        if offset < self.ram.len() {
            return Target::Ram(offset);
        }
        let at = self.windows.partition_point(|w| w.base <= pa.0);
        match at.checked_sub(1).map(|i| (i, &self.windows[i])) {
            Some((i, w)) if pa.0 - w.base < w.len => Target::Device(i, pa.0 - w.base),
            _ => Target::Nothing,
        }
    }

    /// Reads device `index`, as named by [`Bus::target`].
    pub fn read_device(&self, index: usize, access: MmioAccess) -> Result<u64, DeviceFault> {
        let window = self.windows.get(index).ok_or(DeviceFault)?;
        Ok(window.device.lock().expect("no device panics").read(access)? & access.size.mask())
    }

    /// Writes device `index`, as named by [`Bus::target`].
    pub fn write_device(&self, index: usize, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        let window = self.windows.get(index).ok_or(DeviceFault)?;
        window.device.lock().expect("no device panics").write(access, value & access.size.mask())
    }

    /// The offset in [`Bus::ram`] of `bytes` at `pa` that may be fetched or hold translation tables: in RAM, or in flash
    /// memory, whose contents these see whatever its registers are set to show.
    #[inline]
    #[must_use]
    pub fn contents(&self, pa: Pa, bytes: u64) -> Option<u64> {
        match self.target(pa) {
            Target::Ram(offset) => (bytes <= self.ram.len() - offset).then_some(offset),
            Target::Device(index, offset) => {
                let window = &self.windows[index];
                (bytes <= window.len - offset).then_some(window.contents? + offset)
            }
            Target::Nothing => None,
        }
    }

    /// Reads RAM, or the contents of flash, at `pa` (descriptor fetches, debugger); `None` elsewhere.
    #[inline]
    #[must_use]
    pub fn read_ram(&self, pa: Pa, size: Size) -> Option<u64> {
        let offset = self.contents(pa, size.bytes())?;
        match size {
            Size::Byte => self.ram.read_u8(offset).map(u64::from),
            Size::Half => self.ram.read_u16(offset).map(u64::from),
            Size::Word => self.ram.read_u32(offset).map(u64::from),
            Size::Double => self.ram.read_u64(offset),
        }
    }

    /// Saves or loads one device after the other, in address order: `part` gets what does that, once for each.
    pub fn persist_devices<E>(&self, mut part: impl FnMut(DevicePart<'_>) -> Result<(), E>) -> Result<(), E> {
        self.windows.iter().try_for_each(|window| part(DevicePart(window)))
    }

    /// Folds RAM and every device into `state`, in address order.
    #[expect(clippy::should_implement_trait, reason = "not a key: a digest of all state")]
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        self.ram.hash(state);
        for window in &self.windows {
            window.device.lock().expect("no device panics").hash(state);
        }
    }
}
