//! What a board has for firmware: two banks of flash memory, of which the first holds the code, and the configuration device.

use std::sync::{Arc, Mutex};

use arch::Pa;
use bus::{Bus, GuestMemory, MapError};
use fw_cfg::{FwCfg, Items};
use pflash::{Flash, Writes};

use crate::map;

/// The devices.
pub struct FirmwareDevices {
    configuration: Arc<Mutex<FwCfg>>,
}

impl FirmwareDevices {
    /// Bytes of flash in all.
    pub(crate) const FLASH: u64 = map::FLASH[0].len + map::FLASH[1].len;

    /// Maps them on a board with `cpus` CPUs whose RAM has [`FirmwareDevices::FLASH`] bytes of flash behind it. `variables` is
    /// what becomes of what is written to the second bank; the first cannot be written.
    pub(crate) fn map(bus: &mut Bus, cpus: usize, variables: Writes) -> Result<Self, MapError> {
        for (n, writes) in [Writes::Refused, variables].into_iter().enumerate() {
            let (window, at) = (map::FLASH[n], Self::bank(n));
            let flash = Flash::new(format!("flash{n}"), bus.ram().clone(), at, writes);
            bus.map_flash(Pa(window.base), window.len, Arc::new(Mutex::new(flash)), at)?;
        }
        let memory = GuestMemory::new(bus.ram().clone(), bus.ram_base());
        let configuration = Arc::new(Mutex::new(FwCfg::new("fw-cfg", memory, Items::new(cpus as u16))));
        bus.map(Pa(map::FW_CFG.base), map::FW_CFG.len, configuration.clone())?;
        Ok(Self { configuration })
    }

    /// Where bank `n` is in the flash behind RAM.
    pub(crate) const fn bank(n: usize) -> u64 {
        map::FLASH[0].len * n as u64
    }

    /// Tells the firmware what `add` adds to what every machine says.
    pub(crate) fn tell(&self, add: impl FnOnce(&mut Items)) {
        add(self.configuration.lock().expect("no device panics").items_mut());
    }
}
