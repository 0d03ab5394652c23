//! Threads as the CPU sees them: a kernel stack with the user's registers on top, and what is switched.

use core::fmt;
use core::marker::PhantomData;
use core::mem::offset_of;
use core::ops::Deref;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use alloc::sync::Arc;

use crate::fp::FpState;
use crate::mem::stacks::Stack;
use crate::percpu::{self, MAX_CPUS};
use crate::trap::UserFrame;

pub use crate::mem::stacks::STACK_SIZE;

/// A thread's flags: read once on entry from EL0 ([`flags::ENTRY`]) and once on return ([`flags::EXIT`]).
pub mod flags {
    /// Another thread should run.
    pub const RESCHEDULE: u32 = 1 << 0;
    /// A signal may be there to be delivered.
    pub const SIGNAL: u32 = 1 << 1;
    /// The frame's callee-saved registers were changed: all are loaded from it. Cleared on the way.
    pub const RESTORE_ALL: u32 = 1 << 2;
    /// TFSRE0_EL1 is to be cleared: what the kernel's accesses found since the entry is not the program's.
    pub const MTE_CLEAR: u32 = 1 << 3;
    /// Its tag checks are asynchronous or asymmetric: TFSRE0_EL1 is to be looked at. Stays while they are.
    pub const MTE_ASYNC: u32 = 1 << 10;
    /// Someone wants to see system calls.
    pub const TRACE: u32 = 1 << 9;
    /// Its system calls may be given addresses with tags (PR_TAGGED_ADDR_ENABLE).
    pub const TAGGED_ADDRESSES: u32 = 1 << 16;
    /// What takes a system call off the short way before it runs.
    pub const ENTRY: u32 = 0xff00;
    /// What takes the return to EL0 off the short way.
    pub const EXIT: u32 = 0x00ff;
}

/// What the CPU needs of a thread. `vectors.S` knows the places of `flags`, `sp` and `tpidr`.
#[repr(C, align(16))]
pub struct Context {
    flags: AtomicU32,
    /// Nonzero while a CPU runs on its stack.
    on_cpu: AtomicU32,
    sp: AtomicU64,
    /// SP_EL0 while it does not run.
    user_sp: AtomicU64,
    /// TPIDR_EL0 while it does not run.
    tpidr: AtomicU64,
    pub(crate) fp: FpState,
    stack: Stack,
}

pub(crate) const FLAGS_OFFSET: usize = offset_of!(Context, flags);
pub(crate) const SP_OFFSET: usize = offset_of!(Context, sp);
pub(crate) const TPIDR_OFFSET: usize = offset_of!(Context, tpidr);

impl Context {
    /// A thread that will begin in the kernel's `kernel_thread_begin`, with an empty user frame. `None`: no memory.
    pub fn new() -> Option<Self> {
        let stack = Stack::new()?;
        let context = Self {
            flags: AtomicU32::new(0),
            on_cpu: AtomicU32::new(0),
            sp: AtomicU64::new(0),
            user_sp: AtomicU64::new(0),
            tpidr: AtomicU64::new(0),
            fp: FpState::new(),
            stack,
        };
        let frame = context.frame();
        for n in 0..31 {
            frame.set_register(n, 0);
        }
        frame.set_pc(0);
        frame.set_pstate(0);
        // What `thread_switch` pops: X19 to X30.
        let switched = core::ptr::from_ref(frame) as usize - 96;
        for n in 0..12 {
            let value = if n == 11 { begin_address() } else { 0 };
            // SAFETY: inside the stack, which nobody else knows yet.
            unsafe { (switched as *mut u64).add(n).write(value) };
        }
        context.sp.store(switched as u64, Ordering::Relaxed);
        Some(context)
    }

    /// The end of the stack.
    pub(crate) fn stack_top(&self) -> usize {
        self.stack.top()
    }

    /// The registers of EL0, as they were on entry and will be on return. SP_EL0 is not among them.
    pub fn frame(&self) -> &UserFrame {
        let at = self.stack_top() - size_of::<UserFrame>();
        // SAFETY: the top of the stack is kept for this, all fields are atomic, and the stack lives as long as `self`.
        unsafe { &*(at as *const UserFrame) }
    }

    /// Its flags.
    #[inline]
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Acquire)
    }
    /// Sets flags; returns those before.
    #[inline]
    pub fn set_flags(&self, flags: u32) -> u32 {
        self.flags.fetch_or(flags, Ordering::AcqRel)
    }
    /// Clears flags; returns those before.
    #[inline]
    pub fn clear_flags(&self, flags: u32) -> u32 {
        self.flags.fetch_and(!flags, Ordering::AcqRel)
    }

    /// Is it on a CPU, or still on its way off one?
    #[inline]
    pub fn is_on_cpu(&self) -> bool {
        self.on_cpu.load(Ordering::Acquire) != 0
    }

    /// SP_EL0 and TPIDR_EL0 of a thread that does not run.
    pub fn set_user_pointers(&self, sp: u64, tpidr: u64) {
        self.user_sp.store(sp, Ordering::Relaxed);
        self.tpidr.store(tpidr, Ordering::Relaxed);
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context {{ flags: {:#x} }}", self.flags())
    }
}

/// A thread type that has a [`Context`].
pub trait Thread: Send + Sync + 'static {
    /// Its context.
    fn context(&self) -> &Context;
}

/// Which thread each CPU runs. There is one of these, a static of `kcore`.
pub struct Current<T> {
    running: [AtomicPtr<T>; MAX_CPUS],
    /// The one that the CPU is switching away from.
    previous: [AtomicPtr<T>; MAX_CPUS],
}

/// The thread that runs this code. It cannot go to another thread; and its own thread is alive while it exists, since the
/// stack that holds it is.
pub struct CurrentRef<'a, T> {
    thread: &'a T,
    not_send: PhantomData<*const T>,
}
impl<T> Deref for CurrentRef<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.thread
    }
}

impl<T: Thread> Current<T> {
    /// Nothing runs.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self {
            running: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_CPUS],
            previous: [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_CPUS],
        }
    }

    /// The current thread. Panics before the boot thread is set.
    #[inline]
    pub fn get(&self) -> CurrentRef<'_, T> {
        self.try_get().expect("a thread runs")
    }

    /// The current thread, unless it is too early for one.
    #[inline]
    pub fn try_get(&self) -> Option<CurrentRef<'_, T>> {
        let thread = self.running[percpu::id()].load(Ordering::Relaxed);
        // SAFETY: the slot owns a share of it, and see CurrentRef.
        unsafe { thread.as_ref() }.map(|thread| CurrentRef { thread, not_send: PhantomData })
    }

    /// One more share of the current thread.
    pub fn share(&self) -> Arc<T> {
        let thread = self.running[percpu::id()].load(Ordering::Relaxed);
        assert!(!thread.is_null(), "a thread runs");
        // SAFETY: it came from Arc::into_raw, and the slot keeps its share.
        unsafe {
            Arc::increment_strong_count(thread);
            Arc::from_raw(thread)
        }
    }

    /// Says which thread CPU `cpu` begins with: for the boot CPU the code that runs now, for another one what
    /// [`crate::smp::start`] will begin with. Panics if the CPU has one.
    pub fn install(&self, cpu: usize, thread: Arc<T>) {
        thread.context().on_cpu.store(1, Ordering::Relaxed);
        let context = core::ptr::from_ref(thread.context()).cast_mut();
        let raw = Arc::into_raw(thread).cast_mut();
        let before = self.running[cpu].swap(raw, Ordering::AcqRel);
        assert!(before.is_null(), "CPU {cpu} has a thread");
        if let Some(percpu) = percpu::of(cpu) {
            percpu.thread.store(context, Ordering::Release);
        }
    }

    /// Takes back what [`Current::install`] gave a CPU that never came to run it. Panics if there is nothing.
    pub fn uninstall(&self, cpu: usize) -> Arc<T> {
        let thread = self.running[cpu].swap(core::ptr::null_mut(), Ordering::AcqRel);
        assert!(!thread.is_null(), "CPU {cpu} has no thread");
        // SAFETY: the slot's share.
        let thread = unsafe { Arc::from_raw(thread) };
        thread.context().on_cpu.store(0, Ordering::Release);
        thread
    }

    /// Switches to `next` and returns when someone switches back to the calling thread, which may be on another CPU.
    /// What is returned is the thread that ran there before. Panics if `next` is the caller.
    pub fn switch_to(&self, next: Arc<T>) -> Arc<T> {
        let cpu = percpu::id();
        let new = core::ptr::from_ref(next.context());
        // The one that leaves it may not have finished to save it.
        while next.context().on_cpu.swap(1, Ordering::Acquire) != 0 {
            core::hint::spin_loop();
        }
        let raw = Arc::into_raw(next).cast_mut();
        let old = self.running[cpu].swap(raw, Ordering::AcqRel);
        assert!(!old.is_null(), "a thread runs");
        // SAFETY: `old` was the slot's share; it goes to `previous`, and from there to `switched`.
        let old_context = unsafe { core::ptr::from_ref((*old).context()) };
        self.previous[cpu].store(old, Ordering::Relaxed);
        // SAFETY: both contexts are alive: the slots own shares. `new` was not on a CPU (its `on_cpu` was won), so its
        // stack holds what `thread_switch` or `Context::new` left.
        unsafe {
            crate::fp::switch(&*old_context, &*new);
            thread_switch(old_context, new);
        }
        self.switched()
    }

    /// What follows a switch, on the new stack: for `kernel_thread_begin`; other threads come out of
    /// [`Current::switch_to`]. Panics if there was no switch.
    pub fn switched(&self) -> Arc<T> {
        let previous = self.previous[percpu::id()].swap(core::ptr::null_mut(), Ordering::Relaxed);
        assert!(!previous.is_null(), "a switch went before");
        // SAFETY: the share that `switch_to` left here.
        let previous = unsafe { Arc::from_raw(previous) };
        previous.context().on_cpu.store(0, Ordering::Release);
        previous
    }
}

impl<T> fmt::Debug for Current<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Current")
    }
}

#[cfg(target_os = "none")]
unsafe extern "C" {
    fn thread_switch(old: *const Context, new: *const Context) -> *const Context;
    fn thread_begin();
}
#[cfg(not(target_os = "none"))]
unsafe fn thread_switch(_old: *const Context, _new: *const Context) {
    unimplemented!("a host has no contexts to switch");
}

fn begin_address() -> u64 {
    #[cfg(target_os = "none")]
    {
        thread_begin as *const () as u64
    }
    #[cfg(not(target_os = "none"))]
    0
}

/// Flags of the thread that runs on this CPU; 0 where there is none yet.
#[inline]
pub(crate) fn current_flags() -> u32 {
    let context = percpu::this().thread.load(Ordering::Relaxed);
    // SAFETY: it is the running thread's, which is alive; it can only be this thread's until this returns.
    unsafe { context.as_ref() }.map_or(0, Context::flags)
}

/// SP_EL0 of the current thread.
pub fn user_sp() -> u64 {
    #[cfg(target_os = "none")]
    {
        crate::cpu::read_register!("sp_el0")
    }
    #[cfg(not(target_os = "none"))]
    0
}

/// Sets SP_EL0 of the current thread.
pub fn set_user_sp(sp: u64) {
    #[cfg(target_os = "none")]
    // SAFETY: the kernel does not use SP_EL0.
    unsafe {
        crate::cpu::write_register!("sp_el0", sp);
    }
    #[cfg(not(target_os = "none"))]
    let _ = sp;
}

/// TPIDR_EL0 of the current thread.
pub fn user_tpidr() -> u64 {
    #[cfg(target_os = "none")]
    {
        crate::cpu::read_register!("tpidr_el0")
    }
    #[cfg(not(target_os = "none"))]
    0
}

/// Sets TPIDR_EL0 of the current thread.
pub fn set_user_tpidr(tpidr: u64) {
    #[cfg(target_os = "none")]
    // SAFETY: the kernel does not use TPIDR_EL0.
    unsafe {
        crate::cpu::write_register!("tpidr_el0", tpidr);
    }
    #[cfg(not(target_os = "none"))]
    let _ = tpidr;
}
