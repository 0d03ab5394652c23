//! The frame on which a handler runs (struct rt_sigframe of arm64), and the way back.
//!
//! From SP up: siginfo (128 bytes), ucontext with the registers, records in its reserved space (FP and SIMD registers, ESR
//! of a fault, the end), and above all of it a frame record for debuggers.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use hal::mem::{Frame, FrameKind};
use hal::sync::Once;
use hal::thread::flags;
use hal::trap::{USER_PSTATE, UserFrame};
use hal::{fp, uaccess};

use super::{Action, Info, SigSet};
use crate::errno::{Errno, Result};
use crate::feature::{self, Capability};
use crate::mm::{Backing, MapRequest, Mm, PAGE, PageSource, Placement, Protection, Sharing};
use crate::sched::CURRENT;

/// Offsets from SP.
mod offset {
    pub const CONTEXT: usize = 128;
    pub const STACK: usize = CONTEXT + 16;
    pub const MASK: usize = CONTEXT + 40;
    /// struct sigcontext: fault address, X0 to X30, SP, PC, PSTATE.
    pub const REGISTERS: usize = CONTEXT + 176;
    pub const RESERVED: usize = REGISTERS + 288;
    pub const END: usize = RESERVED + 4096;
}

const FPSIMD_MAGIC: u32 = 0x4650_8001;
const FPSIMD_SIZE: usize = 528;
const ESR_MAGIC: u32 = 0x4553_5201;
const ESR_SIZE: usize = 16;

const SA_ONSTACK: u64 = 0x0800_0000;
const SA_SIGINFO: u64 = 4;
const SA_EXPOSE_TAGBITS: u64 = 0x800;
const SA_RESTORER: u64 = 0x0400_0000;
const SS_DISABLE: u32 = 2;
const SS_ONSTACK: u32 = 1;

/// Bytes of what a handler needs on its stack, the frame record included.
pub const SIZE: u64 = offset::END as u64 + 16;

/// Is SP on the alternate stack?
fn is_on(stack: (u64, u64, u32), sp: u64) -> bool {
    stack.2 & SS_DISABLE == 0 && sp > stack.0 && sp - stack.0 <= stack.1
}

/// SS_* of a stack as sigaltstack tells them, with this SP.
pub fn stack_flags(stack: (u64, u64, u32), sp: u64) -> u32 {
    if stack.1 == 0 {
        SS_DISABLE
    } else if is_on(stack, sp) {
        SS_ONSTACK
    } else {
        0
    }
}

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Makes `frame` the beginning of the handler, which returns to what `frame` was. `mask` is restored then.
pub fn push(frame: &UserFrame, signal: u8, info: &Info, action: &Action, mask: SigSet) -> Result<()> {
    let current = CURRENT.get();
    let sp = hal::thread::user_sp();
    let stack = *current.signals.stack.lock();
    let uses_stack = action.flags & SA_ONSTACK != 0 && stack.1 != 0 && !is_on(stack, sp);
    let top = if uses_stack { stack.0 + stack.1 } else { sp };
    let record = top.checked_sub(16).ok_or(Errno::EFAULT)? & !15;
    let at = record.checked_sub(offset::END as u64).ok_or(Errno::EFAULT)? & !15;
    let mut bytes = vec![0u8; offset::END];
    let shown = if action.flags & SA_EXPOSE_TAGBITS == 0 { info.without_tag(signal) } else { *info };
    bytes[..offset::CONTEXT].copy_from_slice(&shown.to_bytes(signal));
    put(&mut bytes, offset::STACK, stack.0);
    put(&mut bytes, offset::STACK + 8, u64::from(stack_flags(stack, sp)));
    put(&mut bytes, offset::STACK + 16, stack.1);
    put(&mut bytes, offset::MASK, mask.0);
    put(&mut bytes, offset::REGISTERS, info.without_tag(signal).fault_address());
    for n in 0..31 {
        put(&mut bytes, offset::REGISTERS + 8 + 8 * n, frame.register(n));
    }
    for (n, value) in [sp, frame.pc(), frame.pstate()].into_iter().enumerate() {
        put(&mut bytes, offset::REGISTERS + 256 + 8 * n, value);
    }
    let mut next = offset::RESERVED;
    let registers = fp::get(&current.context).unwrap_or(fp::FpRegisters::ZERO);
    put(&mut bytes, next, (FPSIMD_SIZE as u64) << 32 | u64::from(FPSIMD_MAGIC));
    put(&mut bytes, next + 8, u64::from(registers.fpcr) << 32 | u64::from(registers.fpsr));
    for (n, half) in registers.vectors.iter().flatten().enumerate() {
        put(&mut bytes, next + 16 + 8 * n, *half);
    }
    next += FPSIMD_SIZE;
    if info.esr != 0 {
        put(&mut bytes, next, (ESR_SIZE as u64) << 32 | u64::from(ESR_MAGIC));
        put(&mut bytes, next + 8, info.esr);
    }
    uaccess::write(at, &bytes)?;
    let mut ends = [0; 16];
    put(&mut ends, 0, frame.register(29));
    put(&mut ends, 8, frame.register(30));
    uaccess::write(record, &ends)?;

    frame.set_register(0, u64::from(signal));
    if action.flags & SA_SIGINFO != 0 {
        frame.set_register(1, at);
        frame.set_register(2, at + offset::CONTEXT as u64);
    }
    frame.set_register(29, record);
    let back = if action.flags & SA_RESTORER != 0 { action.restorer } else { current.mm()?.lock().trampoline };
    frame.set_register(30, back);
    frame.set_pc(action.handler);
    // As after an indirect call, and with tag checks on: BTYPE := 01, TCO := 0.
    frame.set_pstate(frame.pstate() & !(1 << 25 | 3 << 10) | u64::from(feature::has(Capability::Bti)) << 10);
    hal::thread::set_user_sp(at);
    current.context.set_flags(flags::RESTORE_ALL);
    Ok(())
}

/// rt_sigreturn: makes `frame` what it was; returns the mask to restore. An error: the frame in memory is no frame.
pub fn pop(frame: &UserFrame) -> Result<SigSet> {
    let at = hal::thread::user_sp();
    if at % 16 != 0 {
        return Err(Errno::EFAULT);
    }
    let mut bytes: Vec<u8> = vec![0; offset::END];
    uaccess::read(&mut bytes, at)?;
    let get = |at: usize| -> u64 { (0..8).rev().fold(0, |value, n| value << 8 | u64::from(bytes[at + n])) };
    let pstate = get(offset::REGISTERS + 272);
    // AArch64, EL0, nothing masked.
    if pstate & 0x1f != 0 || pstate & 0x3c0 != 0 {
        return Err(Errno::EFAULT);
    }
    let mut next = offset::RESERVED;
    let mut registers = None;
    loop {
        let head = get(next);
        let (magic, size) = (head as u32, (head >> 32) as usize);
        match (magic, size) {
            (0, 0) => break,
            (FPSIMD_MAGIC, FPSIMD_SIZE) if registers.is_none() => {
                let control = get(next + 8);
                registers = Some(fp::FpRegisters {
                    vectors: core::array::from_fn(|n| [get(next + 16 + 16 * n), get(next + 24 + 16 * n)]),
                    fpsr: control as u32,
                    fpcr: (control >> 32) as u32,
                });
            }
            (ESR_MAGIC, ESR_SIZE) => {}
            _ => return Err(Errno::EFAULT),
        }
        next += size;
        if next + 8 > offset::END {
            return Err(Errno::EFAULT);
        }
    }
    let current = CURRENT.get();
    match &registers {
        // One that never used them need not begin to.
        Some(registers) if *registers == fp::FpRegisters::ZERO && fp::get(&current.context).is_none() => {}
        Some(registers) => fp::set(&current.context, registers),
        None => fp::forget(&current.context),
    }
    for n in 0..31 {
        frame.set_register(n, get(offset::REGISTERS + 8 + 8 * n));
    }
    hal::thread::set_user_sp(get(offset::REGISTERS + 256));
    frame.set_pc(get(offset::REGISTERS + 264));
    frame.set_pstate(pstate & USER_PSTATE);
    let stack = (get(offset::STACK), get(offset::STACK + 16), get(offset::STACK + 8) as u32);
    if stack.2 & !(SS_DISABLE | SS_ONSTACK) == 0 {
        *current.signals.stack.lock() = (stack.0, stack.1, stack.2 & SS_DISABLE);
    }
    current.context.set_flags(flags::RESTORE_ALL);
    Ok(SigSet(get(offset::MASK)))
}

/// What a handler returns to: a page of code that all programs share.
#[derive(Debug)]
struct Trampoline(Frame);

impl PageSource for Trampoline {
    fn page(&self, index: u64) -> Result<Frame> {
        if index == 0 { Ok(self.0.clone()) } else { Err(Errno::EFAULT) }
    }
    fn path(&self) -> Option<alloc::string::String> {
        Some("[vdso]".into())
    }
}

/// Maps it.
pub fn map_trampoline(mm: &Arc<Mm>) -> Result<()> {
    /// BTI C; MOV X8, #139; SVC #0
    const CODE: [u32; 3] = [0xd503_245f, 0xd280_1168, 0xd400_0001];
    static PAGE_OF_CODE: Once<Arc<Trampoline>> = Once::new();
    if PAGE_OF_CODE.get().is_none() {
        let frame = Frame::zeroed(FrameKind::User).ok_or(Errno::ENOMEM)?;
        for (n, word) in CODE.iter().enumerate() {
            frame.write(4 * n, &word.to_le_bytes());
        }
        // Another may have been first, with the same.
        let _ = PAGE_OF_CODE.set(Arc::new(Trampoline(frame)));
    }
    let source = Arc::clone(PAGE_OF_CODE.get().ok_or(Errno::ENOMEM)?) as Arc<dyn PageSource>;
    let request = MapRequest {
        placement: Placement::Hint(0),
        len: PAGE,
        protection: Protection::from_bits(5),
        sharing: Sharing::Private,
        backing: Backing::Pages { source, first: 0 },
        grows_down: false,
        name: "",
    };
    let mut space = mm.lock();
    space.trampoline = space.map(request, 0)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_linux_own() {
        // From struct rt_sigframe, ucontext and sigcontext of arm64: 128 + 4560 bytes.
        assert_eq!(offset::END, 4688);
        assert_eq!(offset::REGISTERS + 280, offset::CONTEXT + 456);
        assert_eq!(SIZE, 4704);
    }

    #[test]
    fn the_alternate_stack_is_recognised() {
        let stack = (0x1000, 0x2000, 0);
        assert_eq!(stack_flags(stack, 0x3000), SS_ONSTACK);
        assert_eq!(stack_flags(stack, 0x1001), SS_ONSTACK);
        assert_eq!(stack_flags(stack, 0x1000), 0);
        assert_eq!(stack_flags(stack, 0x3001), 0);
        assert_eq!(stack_flags((0, 0, SS_DISABLE), 0x1000), SS_DISABLE);
    }
}
