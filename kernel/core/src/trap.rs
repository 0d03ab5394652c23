//! Exceptions: what `hal`'s vectors could not do alone.

use hal::thread::flags;
use hal::trap::UserFrame;
use hal::{gic, timer};

use arch::esr::Ec;

use crate::errno::Errno;
use crate::mm::contpte::conflict;
use crate::mm::{Access, FaultError, oom};
use crate::mte;
use crate::sched::{self, CURRENT};
use crate::signal::{self, Info, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};

/// Is the address in the upper half? Bit 55 says so, whatever the tag.
fn is_kernel(far: u64) -> bool {
    far & 1 << 55 != 0
}

/// Work before a system call, asked for by a flag of [`flags::ENTRY`]. True: the call runs.
pub fn syscall_entry_work(frame: &UserFrame) -> bool {
    CURRENT.get().context.clear_flags(flags::TRACE);
    if !mte::on_entry() {
        return true;
    }
    // The signal comes first, then the call is made, as if it had not been.
    frame.set_original_x0(frame.register(0));
    frame.set_pc(frame.pc() - 4);
    CURRENT.get().context.set_flags(flags::RESTORE_ALL);
    false
}

/// After a system call with a flag of [`flags::EXIT`] set: its result goes to the frame, and the work is done.
pub fn syscall_exit_work(frame: &UserFrame, result: i64) {
    frame.set_original_x0(frame.register(0));
    frame.set_register(0, result as u64);
    let restarts = [Errno::ERESTARTSYS, Errno::ERESTARTNOINTR, Errno::ERESTARTNOHAND, Errno::ERESTART_RESTARTBLOCK];
    // A frame that was replaced (rt_sigreturn, execve) is nobody's call any more, whatever its X0.
    let is_replaced = CURRENT.get().context.flags() & flags::RESTORE_ALL != 0;
    let interrupted = restarts.into_iter().find(|errno| !is_replaced && result == -i64::from(errno.0));
    if interrupted.is_some() {
        // The call is made again, unless a handler says otherwise.
        frame.set_register(0, frame.original_x0());
        frame.set_pc(frame.pc() - 4);
    }
    work(frame, interrupted);
}

/// On the way to EL0 with a flag of [`flags::EXIT`] set.
pub fn exit_work(frame: &UserFrame) {
    work(frame, None);
}

fn work(frame: &UserFrame, interrupted: Option<Errno>) {
    let set = CURRENT.get().context.clear_flags(flags::RESTORE_ALL);
    if set & flags::RESCHEDULE != 0 {
        sched::schedule();
    }
    // Also what was set meanwhile: a call must be made again by the code that knows which it was.
    if CURRENT.get().context.flags() & flags::SIGNAL != 0 {
        signal::deliver(frame, interrupted);
        // The frame may be another now, all of which is loaded on this way.
        CURRENT.get().context.clear_flags(flags::RESTORE_ALL);
    }
    if CURRENT.get().context.flags() & flags::MTE_CLEAR != 0 {
        mte::on_exit();
    }
}

/// A synchronous exception of EL0 that is no system call. True if the frame's X19 to X29 were changed.
pub fn el0_sync(frame: &UserFrame, esr: u64, far: u64) -> bool {
    const UNKNOWN: u64 = Ec::Unknown as u64;
    const SYSTEM_REGISTER: u64 = Ec::SysReg as u64;
    if matches!(esr >> 26, UNKNOWN | SYSTEM_REGISTER) {
        // Before anything else: reads of the ID space are frequent, and programs' start-up is full of them.
        if let Some(register) = crate::emulate::undefined(frame, esr) {
            return (19..30).contains(&register);
        }
    }
    el0_other(frame, esr, far);
    false
}

/// What is no read of the ID space. Not inlined: that would save registers for it which this needs.
#[inline(never)]
fn el0_other(frame: &UserFrame, esr: u64, far: u64) {
    if conflict::is_conflict(esr) && conflict::recover(frame.pc()) {
        return;
    }
    mte::on_entry();
    const DATA_ABORT: u64 = Ec::DataAbort as u64;
    const INSTRUCTION_ABORT: u64 = Ec::InstructionAbort as u64;
    if matches!(esr >> 26, DATA_ABORT | INSTRUCTION_ABORT) {
        return user_abort(esr, far);
    }
    match Ec::from_bits(esr >> 26) {
        Some(Ec::FpAccess) => hal::fp::allow(&CURRENT.get().context),
        Some(Ec::PcAlignment) => signal::force(SIGBUS, Info::of_fault(1, frame.pc()).with_esr(esr)),
        Some(Ec::SpAlignment) => {
            signal::force(SIGBUS, Info::of_fault(1, hal::thread::user_sp()).with_esr(esr));
        }
        Some(Ec::FpException) => signal::force(SIGFPE, Info::of_fault(0, frame.pc())),
        Some(Ec::Brk | Ec::Breakpoint | Ec::SoftwareStep | Ec::Watchpoint) => {
            signal::force(SIGTRAP, Info::of_fault(1, frame.pc()));
        }
        // ILL_ILLOPN
        Some(Ec::PacFail) => signal::force(SIGILL, Info::of_fault(2, frame.pc()).with_esr(esr)),
        // ILL_ILLOPC
        Some(Ec::Unknown | Ec::SysReg | Ec::Bti) | None => signal::force(SIGILL, Info::of_fault(1, frame.pc())),
        Some(_) => signal::force(SIGILL, Info::of_fault(1, frame.pc()).with_esr(esr)),
    }
}

fn access_of(esr: u64) -> Access {
    const WNR: u64 = 1 << 6;
    const CM: u64 = 1 << 8;
    // From EL0 or from the kernel itself.
    if esr >> 27 == Ec::InstructionAbort as u64 >> 1 {
        Access::Execute
    } else if esr & WNR != 0 && esr & CM == 0 {
        Access::Write
    } else {
        Access::Read
    }
}

/// Is it a fault that a page can serve: translation, access flag, permission?
fn is_page_fault(esr: u64) -> bool {
    matches!(esr & 0x3f, 0x04..=0x0f)
}

fn user_abort(esr: u64, far: u64) {
    let address = far & !(0xff << 56);
    if !is_page_fault(esr) {
        return match esr & 0x3f {
            0x21 => signal::force(SIGBUS, Info::of_fault(1, far).with_esr(esr)), // BUS_ADRALN
            // SEGV_MTESERR; FAR's bits 63:60 are UNKNOWN for it.
            0x11 => signal::force(SIGSEGV, Info::of_fault(9, far & !(0xf << 60)).with_esr(esr)),
            _ => signal::force(SIGBUS, Info::of_fault(2, far).with_esr(esr)), // BUS_ADRERR
        };
    }
    if is_kernel(far) {
        return signal::force(SIGSEGV, Info::of_fault(1, far).with_esr(esr));
    }
    let result = {
        let current = CURRENT.get();
        current.faults.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
        match current.mm() {
            Ok(mm) => mm.fault(address, access_of(esr)),
            Err(_) => Err(FaultError::NotMapped),
        }
    };
    match result {
        Ok(()) => {}
        Err(FaultError::NotMapped) => signal::force(SIGSEGV, Info::of_fault(1, far).with_esr(esr)),
        Err(FaultError::NoAccess) => signal::force(SIGSEGV, Info::of_fault(2, far).with_esr(esr)),
        Err(FaultError::BehindEnd) => signal::force(SIGBUS, Info::of_fault(2, far).with_esr(esr)),
        // The access is made again, if the thread is still there.
        Err(FaultError::OutOfMemory) => oom::relieve(),
    }
}

/// A synchronous exception of the kernel itself: an access to EL0's memory, or the end.
pub fn el1_sync(frame: &UserFrame, esr: u64, far: u64) {
    if conflict::is_conflict(esr) && conflict::recover(frame.pc()) {
        return;
    }
    let is_data_abort = matches!(Ec::from_bits(esr >> 26), Some(Ec::DataAbort)) || esr >> 26 == 0x25;
    if is_data_abort && is_page_fault(esr) && !is_kernel(far) {
        let mm = CURRENT.try_get().and_then(|current| current.mm().ok());
        let fault = mm.map(|mm| mm.fault(far & !(0xff << 56), access_of(esr)));
        // Only accesses that may fault are served: any other is a bug, even where there is a page.
        if fix_is_known(frame) {
            match fault {
                Some(Ok(())) => return,
                // Where such accesses are, a thread may sleep.
                Some(Err(FaultError::OutOfMemory)) => {
                    oom::relieve();
                    if !signal::is_told_to_end(&CURRENT.get()) {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
    let is_fixed = fix_up(frame);
    assert!(is_fixed, "exception of the kernel: ESR {esr:#x}, FAR {far:#x}, PC {:#x}", frame.pc());
}

#[cfg(target_os = "none")]
fn fix_up(frame: &UserFrame) -> bool {
    hal::trap::fix_up(frame)
}
#[cfg(target_os = "none")]
fn fix_is_known(frame: &UserFrame) -> bool {
    hal::trap::has_fixup(frame.pc())
}
#[cfg(not(target_os = "none"))]
fn fix_up(_frame: &UserFrame) -> bool {
    false
}
#[cfg(not(target_os = "none"))]
fn fix_is_known(_frame: &UserFrame) -> bool {
    false
}

/// An interrupt. Serves all that are pending.
pub fn irq() {
    mte::on_entry();
    loop {
        let intid = gic::acknowledge();
        if intid >= gic::SPECIAL {
            return;
        }
        match intid {
            sched::SGI_KICK => sched::on_kick(),
            crate::cross::SGI => crate::cross::on_interrupt(),
            sched::SGI_STOP => hal::cpu::halt(),
            _ if intid == timer::intid() => sched::on_timer(),
            _ if crate::sampler::is_interrupt(intid) => crate::sampler::on_interrupt(),
            _ if crate::boot::is_console(intid) => crate::tty::on_input(),
            _ => hal::log!("interrupt {intid} that nobody asked for"),
        }
        gic::end(intid);
    }
}

/// An exception with the stack pointer in no stack.
pub fn stack_overflow(sp: u64, esr: u64, far: u64, pc: u64) -> ! {
    panic!("the kernel's stack is too deep: SP {sp:#x}, ESR {esr:#x}, FAR {far:#x}, PC {pc:#x}");
}

/// An exception that never comes: SError, FIQ, AArch32, or with SP_EL0 in the kernel.
pub fn bad_exception(frame: &UserFrame, vector: u64, esr: u64, far: u64) -> ! {
    panic!("exception by vector {vector}: ESR {esr:#x}, FAR {far:#x}, PC {:#x}", frame.pc());
}
