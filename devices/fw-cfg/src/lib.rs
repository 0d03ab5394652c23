//! The firmware configuration device (`qemu,fw-cfg-mmio`): numbered items that firmware and kernels read, by a register or by
//! DMA, and a directory of those that are files. No item can be written. Transfers touch guest RAM only.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bus::{Device, DeviceFault, GuestMemory, MmioAccess, Size};
use snapshot::{Codec, Invalid};

pub mod spec;
#[cfg(test)]
mod tests;

use spec::{dma, item};

/// What a machine tells its firmware.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Items(BTreeMap<u16, Cow<'static, [u8]>>);

impl Items {
    /// Those that every machine has: signature, interfaces, the number of CPUs, an empty directory.
    pub fn new(cpus: u16) -> Self {
        let mut items = Self(BTreeMap::new());
        items.set(item::SIGNATURE, b"QEMU".as_slice());
        items.set(item::ID, spec::INTERFACES.to_le_bytes().to_vec());
        items.set(item::CPUS, cpus.to_le_bytes().to_vec());
        items.set(item::MAX_CPUS, cpus.to_le_bytes().to_vec());
        items.set_files(&[]);
        items
    }

    /// Gives item `number` this content.
    pub fn set(&mut self, number: u16, content: impl Into<Cow<'static, [u8]>>) {
        self.0.insert(number, content.into());
    }

    /// The kernel, for firmware that boots it; then the initial RAM disk and the command line, where there are some. Sizes
    /// have 32 bits.
    pub fn set_kernel(
        &mut self,
        kernel: impl Into<Cow<'static, [u8]>>,
        initrd: Option<Cow<'static, [u8]>>,
        command_line: &str,
    ) {
        let mut sized = |size: u16, number: u16, content: Cow<'static, [u8]>| {
            self.set(size, (content.len() as u32).to_le_bytes().to_vec());
            self.set(number, content);
        };
        sized(item::KERNEL_SIZE, item::KERNEL, kernel.into());
        if let Some(initrd) = initrd {
            sized(item::INITRD_SIZE, item::INITRD, initrd);
        }
        if !command_line.is_empty() {
            let text = [command_line.as_bytes(), &[0]].concat();
            sized(item::COMMAND_LINE_SIZE, item::COMMAND_LINE, text.into());
        }
    }

    /// Makes these the files, numbered in their order: names of at most [`spec::NAME`] - 1 bytes, contents. Longer names are
    /// cut.
    pub fn set_files(&mut self, files: &[(&str, Vec<u8>)]) {
        let mut directory = (files.len() as u32).to_be_bytes().to_vec();
        for (n, (name, content)) in files.iter().enumerate() {
            let number = item::FIRST_FILE + n as u16;
            directory.extend((content.len() as u32).to_be_bytes());
            directory.extend(number.to_be_bytes());
            directory.extend([0, 0]);
            let mut field = [0; spec::NAME];
            let length = name.len().min(spec::NAME - 1);
            field[..length].copy_from_slice(&name.as_bytes()[..length]);
            directory.extend(field);
            self.set(number, content.clone());
        }
        self.set(item::DIRECTORY, directory);
    }

    fn get(&self, number: u16) -> &[u8] {
        self.0.get(&number).map_or(&[], |content| content)
    }
}

/// The device: a window of 24 bytes.
pub struct FwCfg {
    name: String,
    memory: GuestMemory,
    items: Items,
    selected: u16,
    /// How far the selected item has been read.
    position: u64,
    /// The upper half of the next transfer's descriptor's address.
    high: u32,
}

/// Bytes that a transfer copies at a time.
const PIECE: usize = 64 << 10;

impl FwCfg {
    /// Size of the window in bytes.
    pub const LEN: u64 = spec::LEN;

    /// A device with `items`, which reaches `memory`. `name` is for messages.
    pub fn new(name: impl Into<String>, memory: GuestMemory, items: Items) -> Self {
        Self { name: name.into(), memory, items, selected: 0, position: 0, high: 0 }
    }

    /// Its items, before a guest reads them.
    pub fn items_mut(&mut self) -> &mut Items {
        &mut self.items
    }

    fn select(&mut self, number: u16) {
        (self.selected, self.position) = (number, 0);
    }

    /// The item's next bytes; behind its end there are zeros.
    fn next(&mut self, into: &mut [u8]) {
        let item = self.items.get(self.selected);
        let rest = usize::try_from(self.position).ok().and_then(|position| item.get(position..)).unwrap_or(&[]);
        let (there, behind) = into.split_at_mut(rest.len().min(into.len()));
        there.copy_from_slice(&rest[..there.len()]);
        behind.fill(0);
        self.position = self.position.saturating_add(into.len() as u64);
    }

    /// Does what the descriptor at `at` says, and writes there how it went. What is not in RAM cannot be told.
    fn transfer(&mut self, at: u64) {
        let mut descriptor = [0; dma::LEN as usize];
        if self.memory.read(at, &mut descriptor).is_none() {
            return;
        }
        let word = |n: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| descriptor[4 * n + byte]));
        let (control, length) = (word(0), word(1));
        let address = u64::from(word(2)) << 32 | u64::from(word(3));
        if control & dma::SELECT != 0 {
            self.select((control >> 16) as u16);
        }
        let result = if control & dma::READ != 0 {
            self.read_to(address, length.into())
        } else if control & dma::WRITE != 0 {
            None
        } else {
            if control & dma::SKIP != 0 {
                self.position = self.position.saturating_add(length.into());
            }
            Some(())
        };
        let answer = if result.is_some() { 0 } else { dma::ERROR };
        // It was read from there; a transfer over the descriptor itself is the guest's wish.
        let _ = self.memory.write(at, &u32::to_be_bytes(answer));
    }

    /// Copies the item's next `length` bytes to `address`, if all of it is RAM.
    fn read_to(&mut self, address: u64, length: u64) -> Option<()> {
        if !self.memory.contains(address, length) {
            return None;
        }
        let mut piece = vec![0; PIECE.min(length as usize)];
        let mut done = 0;
        while done < length {
            let part = (piece.len() as u64).min(length - done) as usize;
            self.next(&mut piece[..part]);
            self.memory.write(address + done, &piece[..part])?;
            done += part as u64;
        }
        Some(())
    }
}

impl Device for FwCfg {
    fn name(&self) -> &str {
        &self.name
    }
    fn read(&mut self, access: MmioAccess) -> Result<u64, DeviceFault> {
        let bytes = access.size.bytes() as usize;
        let mut word = [0; 8];
        match access.offset {
            spec::DATA => self.next(&mut word[..bytes]),
            offset @ spec::DMA.. if offset + bytes as u64 <= spec::LEN => {
                let from = (offset - spec::DMA) as usize;
                word[..bytes].copy_from_slice(&spec::DMA_SIGNATURE[from..from + bytes]);
            }
            _ => {}
        }
        Ok(u64::from_le_bytes(word))
    }
    /// The data register cannot be written.
    fn write(&mut self, access: MmioAccess, value: u64) -> Result<(), DeviceFault> {
        match (access.offset, access.size) {
            (spec::SELECTOR, Size::Half) => self.select((value as u16).swap_bytes()),
            (spec::DMA, Size::Word) => self.high = (value as u32).swap_bytes(),
            (spec::DMA_LOW, Size::Word) => {
                let high = std::mem::take(&mut self.high);
                self.transfer(u64::from(high) << 32 | u64::from((value as u32).swap_bytes()));
            }
            (spec::DMA, Size::Double) => self.transfer(value.swap_bytes()),
            _ => {}
        }
        Ok(())
    }
    /// The items are the same for the whole run.
    fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u16(self.selected);
        state.write_u64(self.position);
        state.write_u32(self.high);
    }
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { name: _, memory: _, items: Items(items), selected, position, high } = self;
        let count = codec.count(items.len())?;
        if codec.is_loading() {
            items.clear();
            for _ in 0..count {
                let mut number = 0;
                codec.value(&mut number)?;
                let mut content = vec![0; codec.count(0)?];
                codec.bytes(&mut content)?;
                items.insert(number, content.into());
            }
        } else {
            for (number, content) in items {
                codec.value(&mut number.clone())?;
                codec.count(content.len())?;
                codec.bytes(content.to_mut())?;
            }
        }
        codec.each([selected, position, high])
    }
}
