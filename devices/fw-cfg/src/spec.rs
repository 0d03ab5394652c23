//! Facts of the firmware configuration device: the registers of its memory-mapped form, item numbers, the file directory and
//! the DMA interface (QEMU's docs/specs/fw_cfg.txt; Linux' include/uapi/linux/qemu_fw_cfg.h has the same).

/// The item's next bytes, 1 to 8 at a time, in the order of memory.
pub const DATA: u64 = 0x00;
/// The item's number, 16 bits, big-endian; write only.
pub const SELECTOR: u64 = 0x08;
/// Where the descriptor of a transfer is, 64 bits, big-endian. The write of the lower half starts it.
pub const DMA: u64 = 0x10;
/// The lower half of [`DMA`].
pub const DMA_LOW: u64 = 0x14;
/// Bytes of the window.
pub const LEN: u64 = 0x18;

/// What [`DMA`] reads as, in the order of memory.
pub const DMA_SIGNATURE: [u8; 8] = *b"QEMU CFG";

/// Numbers of items.
pub mod item {
    /// `QEMU`.
    pub const SIGNATURE: u16 = 0x00;
    /// Which interfaces there are.
    pub const ID: u16 = 0x01;
    /// The number of CPUs, 16 bits.
    pub const CPUS: u16 = 0x05;
    /// Bytes of the kernel, 32 bits.
    pub const KERNEL_SIZE: u16 = 0x08;
    /// Bytes of the initial RAM disk, 32 bits.
    pub const INITRD_SIZE: u16 = 0x0b;
    /// The most CPUs there may be, 16 bits.
    pub const MAX_CPUS: u16 = 0x0f;
    /// The kernel.
    pub const KERNEL: u16 = 0x11;
    /// The initial RAM disk.
    pub const INITRD: u16 = 0x12;
    /// Bytes of the command line with its terminator, 32 bits.
    pub const COMMAND_LINE_SIZE: u16 = 0x14;
    /// The command line with its terminator.
    pub const COMMAND_LINE: u16 = 0x15;
    /// The names, sizes and numbers of files.
    pub const DIRECTORY: u16 = 0x19;
    /// The number of the first file.
    pub const FIRST_FILE: u16 = 0x20;
}

/// What [`item::ID`] holds: the registers, and DMA.
pub const INTERFACES: u32 = 0b11;

/// Bytes of a file's name in the directory, its terminator included.
pub const NAME: usize = 56;

/// The descriptor of a transfer: control (32 bits), length (32 bits), address (64 bits), all big-endian.
pub mod dma {
    /// Bytes of a descriptor.
    pub const LEN: u64 = 16;
    /// The transfer failed. All other bits are 0 once it is over.
    pub const ERROR: u32 = 1;
    /// Copy from the item to memory.
    pub const READ: u32 = 2;
    /// Go on in the item by the length.
    pub const SKIP: u32 = 4;
    /// Select the item in the upper 16 bits first.
    pub const SELECT: u32 = 8;
    /// Copy from memory to the item. No item can be written here.
    pub const WRITE: u32 = 16;
}
