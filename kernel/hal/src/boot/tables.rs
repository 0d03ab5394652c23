//! The kernel's final tables: RAM, the image with the rights of its parts, devices. Built once, never changed.

use core::cell::UnsafeCell;
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use arch::Pa;

use super::target::image_pa;
use crate::dt::Board;
use crate::mem::layout::{DEVICES, IMAGE, LINEAR, PA_LIMIT, STACKS};

const POOL: usize = 96;

/// Tables for the whole upper half: enough for [`MAX_RANGES`](crate::dt::MAX_RANGES) ranges of RAM with ragged ends.
#[repr(C, align(4096))]
struct Pool([UnsafeCell<[u64; 512]>; POOL]);
// SAFETY: only the boot CPU writes, before any other runs.
unsafe impl Sync for Pool {}
static TABLES: Pool = Pool([const { UnsafeCell::new([0; 512]) }; POOL]);
static USED: AtomicUsize = AtomicUsize::new(0);

/// Descriptor attributes: AF, inner shareable, UXN, and by use AttrIndx, AP[2] (read-only), PXN.
mod attributes {
    const BASE: u64 = 1 << 54 | 1 << 10 | 3 << 8;
    const NORMAL: u64 = 1 << 2;
    const READ_ONLY: u64 = 1 << 7;
    pub const PXN: u64 = 1 << 53;
    pub const CODE: u64 = BASE | NORMAL | READ_ONLY;
    pub const CONSTANTS: u64 = BASE | NORMAL | READ_ONLY | PXN;
    pub const DATA: u64 = BASE | NORMAL | PXN;
    /// AttrIndx 3: the kernel reaches the tags of pages by the linear map.
    pub const TAGGED_DATA: u64 = BASE | 3 << 2 | PXN;
    pub const DEVICE: u64 = BASE | PXN;
}

unsafe extern "C" {
    static __image_start: u8;
    static __rodata_start: u8;
    static __data_start: u8;
    static __image_end: u8;
    static boot_guard: u8;
    static boot_stack: u8;
}

/// Attributes of the kernel's data, for pages that are mapped later.
pub const KERNEL_DATA: u64 = attributes::DATA;

/// The table of level 2 below [`STACKS`].
static STACK_TABLES: AtomicPtr<[AtomicU64; 512]> = AtomicPtr::new(core::ptr::null_mut());

/// The table of level 2 in which stacks are.
pub fn stack_tables() -> &'static [AtomicU64; 512] {
    // SAFETY: `build` has put one of the pool's tables there, which nothing else refers to any more.
    unsafe { &*STACK_TABLES.load(Ordering::Acquire) }
}

fn new_table() -> *mut [u64; 512] {
    let n = USED.fetch_add(1, Ordering::Relaxed);
    assert!(n < POOL, "the boot tables are full");
    TABLES.0[n].get()
}

/// Maps `pa` at `va` for `len` bytes by the largest blocks that fit.
fn map(root: *mut [u64; 512], va: usize, pa: u64, len: u64, attributes: u64) {
    let (mut va, mut pa, end) = (va, pa, pa + len);
    while pa < end {
        let fits = |shift: u32| (va as u64 | pa) & ((1 << shift) - 1) == 0 && end - pa >= 1 << shift;
        let last = if fits(30) {
            1
        } else if fits(21) {
            2
        } else {
            3
        };
        let mut table = root;
        for level in 0..last {
            let index = va >> (39 - 9 * level) & 511;
            // SAFETY: `table` is one of the pool's, which this CPU alone touches; a table descriptor points to another.
            unsafe {
                let entry = &raw mut (*table)[index];
                // Something larger is there already: ranges that overlap are mapped once.
                if *entry & 3 == 1 {
                    table = core::ptr::null_mut();
                    break;
                }
                if *entry == 0 {
                    *entry = image_pa(new_table().cast()).0 | 3;
                }
                let next = *entry & 0xffff_ffff_f000;
                table = (next - image_pa(core::ptr::null::<u8>().wrapping_add(IMAGE)).0 + IMAGE as u64) as *mut _;
            }
        }
        let kind = if last == 3 { 3 } else { 1 };
        let index = va >> (39 - 9 * last) & 511;
        // SAFETY: as above.
        if !table.is_null() && unsafe { (*table)[index] } == 0 {
            // SAFETY: as above.
            unsafe { (*table)[index] = pa | attributes | kind };
        }
        let step = 1u64 << (39 - 9 * last);
        va += step as usize;
        pa += step;
    }
}

/// Builds them; returns the physical address for TTBR1.
pub fn build(board: &Board, image: Range<u64>) -> Pa {
    let root = new_table();
    let linear = if crate::mte::is_used() { attributes::TAGGED_DATA } else { attributes::DATA };
    for ram in board.memory.iter().filter(|ram| ram.end <= PA_LIMIT) {
        let (start, end) = (ram.start.next_multiple_of(4096), ram.end & !4095);
        if start < end {
            map(root, LINEAR + start as usize, start, end - start, linear);
        }
    }
    let parts = [
        (&raw const __image_start, &raw const __rodata_start, attributes::CODE),
        (&raw const __rodata_start, &raw const __data_start, attributes::CONSTANTS),
        (&raw const __data_start, &raw const boot_guard, attributes::DATA),
        (&raw const boot_stack, &raw const __image_end, attributes::DATA),
    ];
    for (start, end, attributes) in parts {
        let offset = start as usize - IMAGE;
        map(root, start as usize, image.start + offset as u64, (end as usize - start as usize) as u64, attributes);
    }
    let mut device = |range: &Range<u64>| {
        let (start, end) = (range.start & !4095, range.end.next_multiple_of(4096));
        if end <= PA_LIMIT {
            map(root, DEVICES + start as usize, start, end - start, attributes::DEVICE);
        }
    };
    device(&board.gicd);
    board.gicr.iter().for_each(&mut device);
    if let Some((registers, _)) = &board.uart {
        device(registers);
    }
    let (upper, lower) = (new_table(), new_table());
    // SAFETY: as in `map`.
    unsafe {
        (*root)[STACKS >> 39 & 511] = image_pa(upper.cast()).0 | 3;
        (*upper)[STACKS >> 30 & 511] = image_pa(lower.cast()).0 | 3;
    }
    STACK_TABLES.store(lower.cast(), Ordering::Release);
    image_pa(root.cast())
}

/// The image and one device, to say why there is no more. Returns the physical address for TTBR1.
pub fn of_console(registers: &Range<u64>, image: Range<u64>) -> Pa {
    let root = new_table();
    let size = image.end - image.start;
    map(root, IMAGE, image.start, size, KERNEL_DATA & !attributes::PXN);
    let (start, end) = (registers.start & !4095, registers.end.next_multiple_of(4096).min(registers.start + (1 << 16)));
    map(root, DEVICES + start as usize, start, end - start, attributes::DEVICE);
    image_pa(root.cast())
}

/// Makes this CPU use them: by way of an empty table, so that old and new descriptors never meet in the TLB.
pub fn install(table: Pa) {
    unsafe extern "C" {
        static set_ttbr1: u8;
    }
    let function = image_pa(&raw const set_ttbr1).0;
    // SAFETY: the function is identity-mapped by TTBR0, uses no stack, and comes back to the label, which the new tables
    // map at the same address.
    unsafe {
        core::arch::asm!("dsb ishst", "adr x1, 2f", "br {function}", "2:", function = in(reg) function,
            in("x0") table.0, out("x1") _, out("x2") _, options(nostack));
    }
}
