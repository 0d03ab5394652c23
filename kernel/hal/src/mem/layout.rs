//! The upper half of the virtual address space (48 bits, TTBR1).
//!
//! | from | what |
//! |---|---|
//! | `0xffff_0000_0000_0000` | all RAM, at this plus its physical address |
//! | `0xffff_8000_4000_0000` | the device tree, while booting |
//! | `0xffff_8000_8000_0000` | the kernel's image |
//! | `0xffff_9000_0000_0000` | devices, at this plus their physical address |
//! | `0xffff_a000_0000_0000` | stacks of threads and for overflows, with nothing between them |

use arch::Pa;

/// Where RAM begins, at physical address 0.
pub const LINEAR: usize = 0xffff_0000_0000_0000;
/// Where the boot code maps 4 MiB around the device tree.
pub const DEVICE_TREE: usize = 0xffff_8000_4000_0000;
/// Where the image is linked.
pub const IMAGE: usize = 0xffff_8000_8000_0000;
/// Where devices begin, at physical address 0.
pub const DEVICES: usize = 0xffff_9000_0000_0000;
/// Where stacks are; see `stacks`.
pub const STACKS: usize = 0xffff_a000_0000_0000;
/// Physical addresses are below this: what the linear map has room for.
pub const PA_LIMIT: u64 = 1 << 47;
/// The first address that is not EL0's.
pub const USER_END: u64 = 1 << 48;

/// The linear map's address of `pa`.
#[inline]
pub(crate) fn linear(pa: Pa) -> *mut u8 {
    #[cfg(target_os = "none")]
    {
        (LINEAR + pa.0 as usize) as *mut u8
    }
    #[cfg(not(target_os = "none"))]
    {
        crate::fakes::ram(pa)
    }
}
