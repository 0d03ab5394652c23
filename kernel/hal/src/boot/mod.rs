//! From `head.S` to the kernel's main function: final tables, console, frames, GIC, timer.

#[cfg(target_os = "none")]
mod tables;
#[cfg(target_os = "none")]
pub(crate) use tables::{KERNEL_DATA, stack_tables};
#[cfg(target_os = "none")]
mod target {
    use core::cell::UnsafeCell;
    use core::ops::Range;
    use core::sync::atomic::Ordering;

    use arch::Pa;

    use super::*;
    use crate::cpu::{self, read_register};
    use crate::dt::{Board, DtError, MAX_RANGES};
    use crate::mem::stacks::Stack;
    use crate::mem::{frames, layout, tlb};
    use crate::percpu::{self, BOOT_PERCPU};
    use crate::sync::Once;
    use crate::{console, fp, gic, log, mte, power, psci, timer};

    core::arch::global_asm!(include_str!("head.S"), options(raw));

    unsafe extern "C" {
        static __image_start: u8;
        static __image_end: u8;
        #[link_name = "secondary_entry"]
        static SECONDARY_ENTRY: u8;
        static empty_l0: u8;
        static boot_stack_top: u8;
    }
    unsafe extern "Rust" {
        /// The image's: the rest of the kernel, on the boot CPU.
        fn kernel_main(board: &'static Board) -> !;
        /// The image's: what another CPU does.
        fn kernel_secondary() -> !;
        /// The image's: may this CPU be taken?
        fn kernel_cpu_check() -> bool;
    }

    /// Too large for a stack.
    struct Place(UnsafeCell<Board>);
    // SAFETY: only the boot CPU writes, before others run; from then on there are shared references alone.
    unsafe impl Sync for Place {}
    static PLACE: Place = Place(UnsafeCell::new(Board::EMPTY));
    static BOARD: Once<&'static Board> = Once::new();
    static IMAGE: Once<Pa> = Once::new();
    static TTBR1: Once<Pa> = Once::new();

    /// The physical address of something in the image.
    pub(crate) fn image_pa(at: *const u8) -> Pa {
        let image = IMAGE.get().expect("set first");
        Pa(at as u64 - layout::IMAGE as u64 + image.0)
    }
    pub(crate) fn kernel_table() -> u64 {
        TTBR1.get().expect("set at boot").0
    }
    pub(crate) fn secondary_entry() -> u64 {
        image_pa(&raw const SECONDARY_ENTRY).0
    }
    pub(crate) fn empty_table() -> Pa {
        image_pa(&raw const empty_l0)
    }
    fn image_range() -> Range<u64> {
        let start = IMAGE.get().expect("set first").0;
        start..start + (&raw const __image_end as u64 - layout::IMAGE as u64)
    }

    /// The initramfs, if the loader gave one. It stays where it is.
    pub fn initrd() -> Option<&'static [u8]> {
        let range = BOARD.get()?.initrd.clone()?;
        // SAFETY: it is RAM (checked in `usable`), reserved from the allocator, and nobody writes to it.
        Some(unsafe {
            core::slice::from_raw_parts(layout::linear(Pa(range.start)), (range.end - range.start) as usize)
        })
    }

    /// Vambrace's, and QEMU's `virt`.
    const KNOWN_PL011: Range<u64> = 0x900_0000..0x900_1000;

    /// Can it be the registers of a device?
    fn is_device(registers: &Range<u64>) -> bool {
        !registers.is_empty() && registers.end <= layout::PA_LIMIT && registers.start & 0xfff == 0
    }

    /// What a boot problem was, to whoever can read it; then the end.
    fn give_up(message: core::fmt::Arguments<'_>) -> ! {
        console::print_emergency(format_args!("vambrace-kernel: cannot boot: {message}\n"));
        power::off(1)
    }

    /// The device tree, which `head.S` mapped.
    fn device_tree(pa: u64) -> Result<&'static [u8], DtError> {
        let window = (2 << 20) + ((2 << 20) - (pa as usize & ((2 << 20) - 1)));
        if pa == 0 || pa % 8 != 0 {
            return Err(DtError::Malformed);
        }
        let at = layout::DEVICE_TREE + (pa as usize & ((2 << 20) - 1));
        // SAFETY: 4 MiB from the 2 MiB boundary before it are mapped.
        let header: [u8; 8] = unsafe { *(at as *const [u8; 8]) };
        let size = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize;
        if header[..4] != [0xd0, 0x0d, 0xfe, 0xed] || size > window || size < 40 {
            return Err(DtError::Malformed);
        }
        // SAFETY: as above, and nobody writes to it.
        Ok(unsafe { core::slice::from_raw_parts(at as *const u8, size) })
    }

    #[unsafe(no_mangle)]
    extern "C" fn boot_primary(dtb: u64, level: u64, image: u64) -> ! {
        let _ = IMAGE.set(Pa(image));
        BOOT_PERCPU.affinity.store(cpu::affinity(), Ordering::Relaxed);
        percpu::register(0, &BOOT_PERCPU);
        BOOT_PERCPU.overflow.store(&raw const boot_stack_top as u64, Ordering::Relaxed);
        init_cpu_features();
        let blob = device_tree(dtb);
        // SAFETY: the only reference, before any other code looks for it.
        let board: &'static mut Board = unsafe { &mut *PLACE.0.get() };
        let outcome = blob.and_then(|blob| board.read(blob));
        let board: &'static Board = board;
        psci::init(board.psci);
        if let Err(error) = outcome {
            // What was read may suffice to say so; else it is said where the boards that are known have a PL011.
            let found = board.uart.as_ref().map(|(registers, _)| registers.clone()).filter(is_device);
            let registers = found.unwrap_or(KNOWN_PL011);
            tables::install(tables::of_console(&registers, image_range()));
            console::init(layout::DEVICES + registers.start as usize);
            give_up(format_args!("{error}"));
        }
        // As `kcore::feature` has it, which is too late: the memory type of the linear map depends on it.
        let is_refused = |word| matches!(word, "nomte" | "id_aa64pfr1.mte=0" | "id_aa64pfr1.mte=1");
        mte::decide(!board.bootargs().split_ascii_whitespace().any(is_refused));
        mte::init_cpu();
        let tables = tables::build(board, image_range());
        let _ = TTBR1.set(tables);
        tables::install(tables);
        if let Some((registers, _)) = board.uart.as_ref().filter(|(registers, _)| is_device(registers)) {
            console::init(layout::DEVICES + registers.start as usize);
        }
        let dtb_range = dtb..dtb + blob.map_or(0, |blob| blob.len() as u64);
        let mut used = Used::default();
        used.add(image_range());
        used.add(dtb_range);
        board.initrd.iter().chain(board.reserved.iter()).for_each(|range| used.add(range.clone()));
        if let Some(range) = &board.initrd {
            let is_ram = board.memory.iter().any(|ram| ram.start <= range.start && range.end <= ram.end);
            if !is_ram {
                give_up(format_args!("the initramfs at {:#x} is not in RAM", range.start));
            }
        }
        for (what, range) in [("distributor", Some(&board.gicd)), ("redistributors", board.gicr.first())] {
            let range = range.filter(|range| range.end <= layout::PA_LIMIT && range.end - range.start >= 0x1_0000);
            if range.is_none() {
                give_up(format_args!("the GIC's {what} are nowhere"));
            }
        }
        if let Err(message) = init_frames(board, &mut used) {
            give_up(format_args!("{message}"));
        }
        let _ = BOARD.set(board);
        let Some(overflow) = Stack::new() else { give_up(format_args!("too little RAM")) };
        BOOT_PERCPU.overflow.store(overflow.top() as u64, Ordering::Relaxed);
        core::mem::forget(overflow);
        gic::init(board.gicd.start);
        timer::init(&board.timers);
        if let Err(error) = gic::init_cpu(&BOOT_PERCPU, &board.gicr) {
            give_up(format_args!("GIC: {error:?}"));
        }
        init_cpu_last();
        log!("vambrace-kernel: EL{level}, {} CPU(s), {} MiB", board.cpus.len(), frames::total_count() >> 8);
        BOOT_PERCPU.set_online();
        // SAFETY: the image defines it.
        unsafe { kernel_main(board) }
    }

    #[unsafe(no_mangle)]
    extern "C" fn boot_secondary() -> ! {
        init_cpu_features();
        crate::trap::install();
        let this = percpu::this();
        // SAFETY: the image defines it.
        if !unsafe { kernel_cpu_check() } {
            this.refuse();
            cpu::halt();
        }
        mte::init_cpu();
        let board = BOARD.get().expect("set by the boot CPU");
        if let Err(error) = gic::init_cpu(this, &board.gicr) {
            log!("vambrace-kernel: CPU {}: GIC: {error:?}", percpu::id());
            cpu::halt();
        }
        init_cpu_last();
        this.set_online();
        // SAFETY: the image defines it.
        unsafe { kernel_secondary() }
    }

    fn has_own_pan() -> bool {
        read_register!("id_aa64mmfr1_el1") >> 20 & 0xf != 0
    }

    fn init_cpu_features() {
        if has_own_pan() {
            // SAFETY: MSR PAN, #1: EL0's pages are not for plain loads and stores.
            unsafe { core::arch::asm!(".inst 0xd500419f", options(nomem, nostack)) };
        }
        // ID_AA64PFR1_EL1.BT: PACIASP is no landing pad for BR either (SCTLR_EL1.BT0), as Linux has it.
        if read_register!("id_aa64pfr1_el1") & 0xf != 0 {
            let sctlr = read_register!("sctlr_el1") | 1 << 35;
            // SAFETY: it restricts branches of EL0 in guarded pages.
            unsafe { cpu::write_register!("sctlr_el1", sctlr) };
            cpu::isb();
        }
        // ID_AA64ISAR2_EL1.MOPS: programs are told (HWCAP2_MOPS), so EL0 may (SCTLR_EL1.MSCEn).
        if read_register!("S3_0_C0_C6_2") >> 16 & 0xf != 0 {
            let sctlr = read_register!("sctlr_el1") | 1 << 33;
            // SAFETY: it allows instructions of EL0.
            unsafe { cpu::write_register!("sctlr_el1", sctlr) };
            cpu::isb();
        }
    }

    fn init_cpu_last() {
        // The identity map has done its work.
        crate::mem::set_no_user_table();
        tlb::all_local();
        timer::init_cpu();
        fp::init_cpu();
    }

    /// Parts of RAM that are taken, in no order.
    struct Used {
        ranges: [Range<u64>; MAX_RANGES + 4],
        len: usize,
    }
    impl Default for Used {
        fn default() -> Self {
            Self { ranges: [const { 0..0 }; MAX_RANGES + 4], len: 0 }
        }
    }
    impl Used {
        fn add(&mut self, range: Range<u64>) {
            self.ranges[self.len] = range;
            self.len += 1;
        }
        /// The first range that is taken at or behind `at`.
        fn next(&self, at: u64) -> Option<&Range<u64>> {
            self.ranges[..self.len].iter().filter(|range| range.end > at && !range.is_empty()).min_by_key(|r| r.start)
        }
        /// Calls `free` for each gap of `ram`.
        fn gaps(&self, ram: &Range<u64>, mut free: impl FnMut(Range<u64>)) {
            let mut at = ram.start;
            while at < ram.end {
                let next = self.next(at).filter(|range| range.start < ram.end);
                let end = next.map_or(ram.end, |range| range.start);
                if at < end {
                    free(at..end);
                }
                at = next.map_or(ram.end, |range| range.end);
            }
        }
    }

    fn init_frames(board: &Board, used: &mut Used) -> Result<(), &'static str> {
        let ram = || board.memory.iter().filter(|range| range.end <= layout::PA_LIMIT);
        let start = ram().map(|range| range.start).min().ok_or("no RAM below 128 TiB")? & !0xfff;
        let end = ram().map(|range| range.end).max().unwrap_or(0);
        let count = ((end - start) >> 12) as usize;
        let bytes = (count * size_of::<frames::Info>()) as u64;
        // What is known about frames goes where there is room for it.
        let mut place = None;
        for range in ram() {
            used.gaps(range, |gap| {
                let at = gap.start.next_multiple_of(4096);
                if place.is_none() && at + bytes <= gap.end {
                    place = Some(at);
                }
            });
        }
        let place = place.ok_or("too little RAM")?;
        used.add(place..place + bytes);
        let at = layout::linear(Pa(place));
        // SAFETY: RAM that nobody uses, mapped; all zeros are a valid Info.
        let infos = unsafe {
            at.write_bytes(0, bytes as usize);
            core::slice::from_raw_parts(at.cast::<frames::Info>(), count)
        };
        frames::init(Pa(start), infos);
        for range in ram() {
            used.gaps(range, |gap| frames::add_free(Pa(gap.start), Pa(gap.end)));
        }
        Ok(())
    }

    /// Where the image begins, as linked.
    pub fn image_start() -> usize {
        &raw const __image_start as usize
    }
}
#[cfg(target_os = "none")]
pub use target::*;

#[cfg(not(target_os = "none"))]
pub use crate::fakes::boot::*;
