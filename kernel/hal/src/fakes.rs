//! A host in place of the hardware.

use arch::Pa;
use std::sync::OnceLock;
use std::vec::Vec;

use crate::mem::frames;

const RAM_BASE: u64 = 0x4000_0000;
const RAM_SIZE: usize = 64 << 20;

fn arena() -> usize {
    static ARENA: OnceLock<usize> = OnceLock::new();
    *ARENA.get_or_init(|| {
        let layout = std::alloc::Layout::from_size_align(RAM_SIZE, 4 << 20).unwrap();
        // SAFETY: the size is not zero; it is never freed.
        unsafe { std::alloc::alloc_zeroed(layout) as usize }
    })
}

pub(crate) fn ram(pa: Pa) -> *mut u8 {
    (arena() as u64).wrapping_add(pa.0).wrapping_sub(RAM_BASE) as *mut u8
}

/// Sets up 64 MiB of RAM, once; for tests.
pub fn init() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let count = RAM_SIZE / crate::mem::PAGE_SIZE;
        let infos: Vec<frames::Info> = (0..count).map(|_| frames::Info::default()).collect();
        frames::init(Pa(RAM_BASE), Vec::leak(infos));
        frames::add_free(Pa(RAM_BASE), Pa(RAM_BASE + RAM_SIZE as u64));
    });
}

/// An invalidation of an ASID.
pub(crate) fn tlb(_asid: u16) {}
/// An invalidation of a page.
pub(crate) fn tlb_page(_asid: u16, _va: u64) {}

pub mod cpu {
    //! The PE.
    use core::sync::atomic::AtomicU32;

    /// Serves nothing.
    pub fn idle() {
        std::thread::yield_now();
    }
    /// Serves nothing.
    pub fn window() {}
    /// Nothing is masked.
    pub fn save_and_mask() -> u64 {
        0
    }
    /// Nothing.
    pub fn restore_mask(_saved: u64) {}
    /// A full barrier.
    pub fn dsb_ish() {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
    }
    /// A full barrier.
    pub fn dsb_ishst() {
        dsb_ish();
    }
    /// Nothing.
    pub fn isb() {}
    /// Nothing.
    pub fn sev() {}
    /// Lets others run.
    pub fn wait_while(_word: &AtomicU32, _value: u32) {
        std::thread::yield_now();
    }
    /// Nothing.
    pub fn sync_instructions(_address: usize, _len: usize) {}
    /// Kept in a register that tests can see.
    pub fn set_context_id(id: u32) {
        CONTEXT_ID.store(id, core::sync::atomic::Ordering::Relaxed);
    }
    /// What was written last.
    pub fn context_id() -> u32 {
        CONTEXT_ID.load(core::sync::atomic::Ordering::Relaxed)
    }
    static CONTEXT_ID: AtomicU32 = AtomicU32::new(0);
    /// Ends the process.
    pub fn halt() -> ! {
        std::process::abort()
    }
    /// EL1.
    pub fn level() -> super::super::cpu::Level {
        super::super::cpu::Level::El1
    }
}
pub mod ident {
    //! A CPU that says nothing of itself but its name.
    use crate::ident::Identity;

    /// Only MIDR_EL1.
    pub fn identity() -> Identity {
        let mut space = [0; crate::ident::SPACE];
        space[0] = midr();
        Identity { space, ctr: 0, dczid: 0 }
    }
    /// A Cortex-A57's.
    pub fn midr() -> u64 {
        0x411f_d070
    }
}
pub mod patch {
    //! Keys as variables.
    use crate::patch::Key;
    use core::sync::atomic::{AtomicBool, Ordering};

    static KEYS: [AtomicBool; 64] = [const { AtomicBool::new(false) }; 64];

    /// Is the key on?
    pub fn is_on<const KEY: Key>() -> bool {
        KEYS[KEY as usize].load(Ordering::SeqCst)
    }
    /// Switches it: one site.
    pub fn set(key: Key, on: bool) -> usize {
        KEYS[key as usize].store(on, Ordering::SeqCst);
        1
    }
}
pub mod alternative {
    //! No code to replace.

    /// No.
    pub fn has<const CAPABILITY: u32>() -> bool {
        false
    }
    /// Nothing to wait for.
    pub fn stand_still() {}
    /// Nobody.
    pub fn standing() -> usize {
        0
    }
    /// There are none.
    pub fn apply_alternatives(_is_met: impl Fn(u32) -> bool) -> usize {
        0
    }
}
pub mod pmu {
    //! No PMU.
    use crate::pmu::Counter;

    /// No.
    pub fn is_here() -> bool {
        false
    }
    /// Nothing.
    pub fn start(_counter: Counter, _period: u32) {}
    /// Nothing.
    pub fn stop() {}
    /// No.
    pub fn take_overflow(_counter: Counter, _period: u32) -> bool {
        false
    }
}
pub mod timer {
    //! Time stands still.

    /// Ticks.
    pub fn now() -> u64 {
        0
    }
    /// Nothing.
    pub fn set_deadline(_deadline: u64) {}
    /// Nothing.
    pub fn stop() {}
}
pub mod gic {
    //! No interrupts.

    /// Nothing.
    pub fn enable(_intid: u32) {}
    /// Nothing is pending.
    pub fn acknowledge() -> u32 {
        super::super::gic::SPECIAL
    }
    /// Nothing.
    pub fn end(_intid: u32) {}
    /// Nothing.
    pub fn send(_sgi: u32, _cpu: usize) {}
}
pub mod fp {
    //! No registers.
    use crate::fp::FpRegisters;
    use crate::thread::Context;

    pub(crate) fn switch(_old: &Context, _new: &Context) {}
    /// Nothing.
    pub fn allow(_current: &Context) {}
    /// None.
    pub fn get(_current: &Context) -> Option<FpRegisters> {
        None
    }
    /// Nothing.
    pub fn set(_current: &Context, _registers: &FpRegisters) {}
    /// Nothing.
    pub fn forget(_current: &Context) {}
    /// Nothing.
    pub fn copy_to(_current: &Context, _new: &Context) {}
}
pub mod tables {
    //! No translation.
    use arch::Pa;

    /// Nothing.
    pub fn set_user_table(_table: Pa, _asid: u16) {}
    /// Nothing.
    pub fn set_no_user_table() {}
}
pub mod boot {
    //! No boot.

    /// None.
    pub fn initrd() -> Option<&'static [u8]> {
        None
    }
}
pub mod smp {
    //! One CPU.
    use crate::psci::PsciError;
    use crate::smp::StartError;
    use crate::thread::{Current, Thread};
    use alloc::sync::Arc;

    /// Refused.
    pub fn start<T: Thread>(_: &Current<T>, _: usize, _: u64, _: Arc<T>) -> Result<(), StartError> {
        Err(StartError::Psci(PsciError(-1)))
    }
}
pub(crate) mod user {
    //! No EL0: every access faults.

    pub struct Pair {
        pub value: u64,
        pub status: u64,
    }
    pub unsafe fn user_read(_to: *mut u8, _from: u64, len: usize) -> usize {
        len
    }
    pub unsafe fn user_write(_to: u64, _from: *const u8, len: usize) -> usize {
        len
    }
    pub unsafe fn user_clear(_to: u64, len: usize) -> usize {
        len
    }
    pub unsafe fn user_load32(_at: u64) -> Pair {
        Pair { value: 0, status: 1 }
    }
    pub unsafe fn user_cas32(_at: u64, _expected: u32, _new: u32) -> Pair {
        Pair { value: 0, status: 1 }
    }
}
