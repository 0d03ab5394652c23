//! Exceptions. `vectors.S` saves the registers and calls the functions that the image provides (`kernel_*`); on the way
//! back it looks at the thread's flags.
//!
//! The way of a system call: registers saved (all of them: whoever needs them finds them), EC compared, flags read once,
//! the table's function called with X0 to X5 as they are, flags read once, X1 to X18, X30, ELR and SPSR restored. X19 to
//! X29 are still the user's, since Rust's functions preserve them. Interrupts stay masked.

use core::sync::atomic::{AtomicU64, Ordering};

/// Entries of the table of system calls.
pub const SYSCALLS: usize = 512;

/// A system call's function: X0 to X5 in, X0 out.
pub type Syscall = extern "C" fn(u64, u64, u64, u64, u64, u64) -> i64;

/// Registers of the interrupted code, as `vectors.S` lays them on the stack.
#[repr(C)]
#[derive(Debug)]
pub struct UserFrame {
    registers: [AtomicU64; 31],
    pc: AtomicU64,
    pstate: AtomicU64,
    /// X0 as it was when a system call began, for its restart.
    original_x0: AtomicU64,
}

const _: () = assert!(size_of::<UserFrame>() == 272);

impl UserFrame {
    /// Xn; 0 for n = 31.
    #[inline]
    pub fn register(&self, n: usize) -> u64 {
        self.registers.get(n).map_or(0, |register| register.load(Ordering::Relaxed))
    }
    /// Xn := value; nothing for n = 31. X19 to X29 reach EL0 only with [`crate::thread::flags::RESTORE_ALL`].
    #[inline]
    pub fn set_register(&self, n: usize, value: u64) {
        if let Some(register) = self.registers.get(n) {
            register.store(value, Ordering::Relaxed);
        }
    }
    /// ELR.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.pc.load(Ordering::Relaxed)
    }
    /// ELR := value.
    #[inline]
    pub fn set_pc(&self, pc: u64) {
        self.pc.store(pc, Ordering::Relaxed);
    }
    /// SPSR.
    #[inline]
    pub fn pstate(&self) -> u64 {
        self.pstate.load(Ordering::Relaxed)
    }
    /// SPSR := value. Whoever sets it for EL0 keeps to the bits that EL0 may have ([`USER_PSTATE`]).
    #[inline]
    pub fn set_pstate(&self, pstate: u64) {
        self.pstate.store(pstate, Ordering::Relaxed);
    }
    /// X0 as the system call got it.
    #[inline]
    pub fn original_x0(&self) -> u64 {
        self.original_x0.load(Ordering::Relaxed)
    }
    /// Keeps X0 before the result replaces it.
    #[inline]
    pub fn set_original_x0(&self, value: u64) {
        self.original_x0.store(value, Ordering::Relaxed);
    }
    /// Everything of another frame.
    pub fn copy_from(&self, other: &Self) {
        for n in 0..31 {
            self.set_register(n, other.register(n));
        }
        self.set_pc(other.pc());
        self.set_pstate(other.pstate());
        self.set_original_x0(other.original_x0());
    }
    /// Was EL0 in AArch64 state interrupted?
    pub fn is_user(&self) -> bool {
        self.pstate() & 0x1f == 0
    }
}

/// PSTATE.SSBS: speculative store bypassing is allowed.
pub const PSTATE_SSBS: u64 = 1 << 12;

/// Bits of PSTATE that EL0 may choose: NZCV, TCO, DIT, SSBS, BTYPE (those that the CPU lacks are RES0).
pub const USER_PSTATE: u64 = 0xf << 28 | 1 << 25 | 1 << 24 | 1 << 12 | 3 << 10;

/// How the way of a system call looks for an asynchronous tag check fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MteCheck {
    /// By the test of all flags that there is anyway.
    Folded,
    /// By a test of its own.
    Flag,
    /// After a test whether the CPUs have FEAT_MTE2, which is in the code: a branch, or NOP where they have.
    Feature,
}

/// There are no vectors.
#[cfg(not(target_os = "none"))]
pub fn choose(_check: MteCheck) {}

#[cfg(target_os = "none")]
mod target {
    use super::*;
    use crate::thread;
    use core::mem::offset_of;

    core::arch::global_asm!(
        ".set PERCPU_THREAD, {percpu_thread}",
        ".set PERCPU_OVERFLOW, {percpu_overflow}",
        ".set OVERFLOW_BIT, {overflow_bit}",
        ".set THREAD_FLAGS, {flags}",
        ".set THREAD_SP, {sp}",
        ".set THREAD_TPIDR, {tpidr}",
        ".set FLAGS_ENTRY, {entry}",
        ".set FLAGS_EXIT, {exit}",
        ".set SYSCALLS, {syscalls}",
        ".set MTE_ASYNC_BIT, {mte_async}",
        ".set CAP_MTE, {mte}",
        include_str!("../patch/begin.S"),
        include_str!("vectors.S"),
        include_str!("../patch/end.S"),
        mte = const crate::patch::capability::MTE,
        percpu_thread = const offset_of!(crate::percpu::PerCpu, thread),
        percpu_overflow = const offset_of!(crate::percpu::PerCpu, overflow),
        overflow_bit = const crate::mem::stacks::OVERFLOW_BIT,
        flags = const thread::FLAGS_OFFSET,
        sp = const thread::SP_OFFSET,
        tpidr = const thread::TPIDR_OFFSET,
        entry = const thread::flags::ENTRY,
        exit = const thread::flags::EXIT,
        syscalls = const SYSCALLS,
        mte_async = const thread::flags::MTE_ASYNC.trailing_zeros(),
    );

    unsafe extern "C" {
        static vectors: u8;
        static vectors_flag: u8;
        static vectors_feature: u8;
    }
    static CHOICE: AtomicU64 = AtomicU64::new(MteCheck::Folded as u64);

    /// Chooses the vectors of this CPU and of those that start later.
    pub fn choose(check: MteCheck) {
        CHOICE.store(check as u64, Ordering::Release);
        install();
    }

    /// Makes this CPU use the vectors that were chosen.
    pub(crate) fn install() {
        let chosen = CHOICE.load(Ordering::Acquire);
        let at = if chosen == MteCheck::Flag as u64 {
            &raw const vectors_flag
        } else if chosen == MteCheck::Feature as u64 {
            &raw const vectors_feature
        } else {
            &raw const vectors
        };
        // SAFETY: all three tables are the same but for the way of a system call.
        unsafe { crate::cpu::write_register!("vbar_el1", at as u64) };
        crate::cpu::isb();
    }

    #[repr(C)]
    struct Fixup {
        instruction: u64,
        target: u64,
    }

    unsafe extern "C" {
        static __extable_start: Fixup;
        static __extable_end: Fixup;
    }

    fn fixup(pc: u64) -> Option<u64> {
        let start = &raw const __extable_start;
        let end = &raw const __extable_end;
        // SAFETY: the linker script lays the table between the two symbols.
        let table = unsafe { core::slice::from_raw_parts(start, (end as usize - start as usize) / size_of::<Fixup>()) };
        table.iter().find(|fixup| fixup.instruction == pc).map(|fixup| fixup.target)
    }

    /// May the instruction at `pc` fault?
    pub fn has_fixup(pc: u64) -> bool {
        fixup(pc).is_some()
    }

    /// If the instruction at the frame's PC may fault, goes on where its fixup says. False: it may not.
    pub fn fix_up(frame: &UserFrame) -> bool {
        let target = fixup(frame.pc());
        if let Some(target) = target {
            frame.set_pc(target);
        }
        target.is_some()
    }
}
#[cfg(target_os = "none")]
pub use target::*;
