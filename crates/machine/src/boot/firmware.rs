//! Starting firmware: its image and its variables go into flash, the device tree to the start of RAM, where firmware of the
//! `virt` board looks for it; kernel, initial RAM disk and command line into the configuration device.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use arch::Pa;
use bus::Ram;

use super::{BootError, Entry, Kind, device_tree, image, open, read};
use crate::config::{FirmwareConfig, MachineConfig};
use crate::fdt::Additions;
use crate::firmware::FirmwareDevices;
use crate::map::{FLASH, RAM_BASE};

/// Bytes of an image that are read at a time. Where they are all 0 the flash, which holds zeros, takes no memory of the host.
const PIECE: usize = 64 << 10;

/// The largest file that the configuration device can hold: sizes have 32 bits there.
const MAX_ITEM: u64 = u32::MAX as u64;

/// Reads all that `config` names and puts it where the firmware in `files` finds it. `ram` and its flash hold zeros.
pub(crate) fn load(
    config: &MachineConfig,
    files: &FirmwareConfig,
    devices: &FirmwareDevices,
    ram: &Ram,
) -> Result<Entry, BootError> {
    fill("--firmware", &files.code, ram, 0)?;
    if let Some(variables) = &files.variables {
        fill("--firmware-vars", &variables.path, ram, 1)?;
    }
    let dtb = device_tree(config, Additions { bootargs: None, initrd: None, memory: ram.len() })?;
    let no_room = BootError::NoRoomForDtb { kernel_end: RAM_BASE, ram_end: RAM_BASE + ram.len() };
    ram.write_bytes(0, &dtb).ok_or(no_room)?;
    if let Some(path) = &config.kernel {
        let kernel = read("--kernel", path, MAX_ITEM)?;
        if !image::is_image(&kernel) && !kernel.starts_with(b"MZ") {
            return Err(BootError::NotForFirmware { path: path.clone() });
        }
        let initrd = config.initrd.as_deref().map(|path| read("--initrd", path, MAX_ITEM)).transpose()?;
        let append = config.append.as_deref().unwrap_or("");
        devices.tell(|items| items.set_kernel(kernel, initrd.map(Cow::Owned), append));
    }
    Ok(Entry { pc: Pa(FLASH[0].base), dtb: Pa(RAM_BASE), kind: Kind::Image })
}

/// Puts the file at `path` into bank `n`, whose rest stays as it is.
fn fill(flag: &'static str, path: &Path, ram: &Ram, n: usize) -> Result<(), BootError> {
    let limit = FLASH[n].len;
    let mut file = open(flag, path)?.take(limit + 1);
    let mut piece = Vec::with_capacity(PIECE);
    let mut done = 0;
    loop {
        let error = |source| BootError::Read { flag, path: path.to_owned(), source };
        piece.clear();
        file.by_ref().take(PIECE as u64).read_to_end(&mut piece).map_err(error)?;
        if piece.is_empty() {
            break;
        }
        let too_large = || BootError::FileTooLarge { flag, path: path.to_owned(), limit };
        let end = done + piece.len() as u64;
        if end > limit {
            return Err(too_large());
        }
        if piece.iter().any(|byte| *byte != 0) {
            ram.write_flash(FirmwareDevices::bank(n) + done, &piece).ok_or_else(too_large)?;
        }
        done = end;
    }
    if done == 0 { Err(BootError::Empty { flag, path: path.to_owned() }) } else { Ok(()) }
}
