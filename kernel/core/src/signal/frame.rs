//! The frame on which a handler runs (struct rt_sigframe of arm64), and the way back.
//!
//! From SP up: siginfo (128 bytes), ucontext with the registers, records in its reserved space (FP and SIMD registers, ESR
//! of a fault, the end), and above all of it a frame record for debuggers.

use alloc::sync::Arc;

use hal::mem::{Frame, FrameKind};
use hal::sync::Once;
use hal::thread::flags;
use hal::trap::{USER_PSTATE, UserFrame};
use hal::{fp, uaccess};

use super::{Action, AltStack, Info, SigSet, set_blocked};
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

/// PSTATE's condition flags.
const NZCV: u64 = 0xf << 28;

const SA_ONSTACK: u64 = 0x0800_0000;
const SA_SIGINFO: u64 = 4;
const SA_RESTORER: u64 = 0x0400_0000;

/// Bytes of what a handler needs on its stack, the frame record included.
pub const SIZE: u64 = offset::END as u64 + 16;

fn put(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// Makes `frame` the beginning of the handler, which returns to what `frame` was. `mask` is restored then.
pub fn push(frame: &UserFrame, signal: u8, info: &Info, action: &Action, mask: SigSet) -> Result<()> {
    let current = CURRENT.get();
    let sp = hal::thread::user_sp();
    let stack = *current.signals.stack.lock();
    let uses_stack = action.flags & SA_ONSTACK != 0 && stack.size != 0 && !stack.has(sp);
    let top = if uses_stack { stack.start.wrapping_add(stack.size) } else { sp };
    let record = top.checked_sub(16).ok_or(Errno::EFAULT)? & !15;
    let at = record.checked_sub(offset::END as u64).ok_or(Errno::EFAULT)? & !15;
    let mut bytes = crate::memory::zeroed(offset::END)?;
    bytes[..offset::CONTEXT].copy_from_slice(&info.to_bytes(signal));
    put(&mut bytes, offset::STACK, stack.start);
    put(&mut bytes, offset::STACK + 8, u64::from(stack.flags));
    put(&mut bytes, offset::STACK + 16, stack.size);
    put(&mut bytes, offset::MASK, mask.0);
    // The last fault's, whatever the signal: only faults change it.
    let (fault_address, esr) = current.signals.fault();
    put(&mut bytes, offset::REGISTERS, fault_address);
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
    if esr != 0 {
        put(&mut bytes, next, (ESR_SIZE as u64) << 32 | u64::from(ESR_MAGIC));
        put(&mut bytes, next + 8, esr);
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
    // As after an indirect call (BLR), and with tag checks on: BTYPE := 10, TCO := 0.
    frame.set_pstate(frame.pstate() & !(1 << 25 | 3 << 10) | u64::from(feature::has(Capability::Bti)) << 11);
    hal::thread::set_user_sp(at);
    if stack.is_disarmed_by_use() {
        *current.signals.stack.lock() = AltStack::NONE;
    }
    current.context.set_flags(flags::RESTORE_ALL);
    Ok(())
}

/// rt_sigreturn: makes `frame` what it was, and the blocked signals. An error: what is in memory is no frame. Then, too,
/// registers and blocked signals are what was found there, as Linux has it; zeros for what cannot be read.
pub fn pop(frame: &UserFrame) -> Result<()> {
    let at = hal::thread::user_sp();
    if at % 16 != 0 || at > crate::mm::USER_END - offset::END as u64 {
        return Err(Errno::EFAULT);
    }
    let mut bytes = crate::memory::zeroed(offset::END)?;
    let got = uaccess::read_some(&mut bytes, at);
    let get = |at: usize| -> u64 { (0..8).rev().fold(0, |value, n| value << 8 | u64::from(bytes[at + n])) };
    if got >= offset::MASK + 8 {
        set_blocked(SigSet(get(offset::MASK)));
    }
    for n in 0..31 {
        frame.set_register(n, get(offset::REGISTERS + 8 + 8 * n));
    }
    hal::thread::set_user_sp(get(offset::REGISTERS + 256));
    frame.set_pc(get(offset::REGISTERS + 264));
    let pstate = get(offset::REGISTERS + 272);
    // AArch64, EL0, nothing masked.
    let is_valid = pstate & 0x1f == 0 && pstate & 0x3c0 == 0;
    frame.set_pstate(pstate & if is_valid { USER_PSTATE } else { NZCV });
    let current = CURRENT.get();
    current.context.set_flags(flags::RESTORE_ALL);
    if got < bytes.len() || !is_valid {
        return Err(Errno::EFAULT);
    }
    let registers = records(&get)?;
    // One that never used them need not begin to.
    if registers != fp::FpRegisters::ZERO || fp::get(&current.context).is_some() {
        fp::set(&current.context, &registers);
    }
    let stack = *current.signals.stack.lock();
    let flags = get(offset::STACK + 8) as u32;
    let restored = stack.replaced(get(offset::STACK), flags, get(offset::STACK + 16), hal::thread::user_sp());
    // What is wrong with it stops nobody from returning.
    if let Ok(restored) = restored {
        *current.signals.stack.lock() = restored;
    }
    Ok(())
}

/// The records, read by words: there must be the FP and SIMD registers, once, and nothing unknown.
fn records(get: &dyn Fn(usize) -> u64) -> Result<fp::FpRegisters> {
    let mut next = offset::RESERVED;
    let mut registers = None;
    loop {
        let head = get(next);
        let (magic, size) = (head as u32, (head >> 32) as usize);
        match (magic, size) {
            (0, 0) => return registers.ok_or(Errno::EFAULT),
            (FPSIMD_MAGIC, FPSIMD_SIZE) if registers.is_none() && next + size <= offset::END - 8 => {
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
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn offsets_are_linux_own() {
        // From struct rt_sigframe, ucontext and sigcontext of arm64: 128 + 4560 bytes.
        assert_eq!(offset::END, 4688);
        assert_eq!(offset::REGISTERS + 280, offset::CONTEXT + 456);
        assert_eq!(SIZE, 4704);
    }

    /// Records of these heads, one behind the other, as words.
    fn words(heads: &[(u32, usize)]) -> Vec<u64> {
        let mut words = vec![0; offset::END / 8];
        let mut at = offset::RESERVED;
        for (magic, size) in heads {
            if at + 8 <= offset::END {
                words[at / 8] = (*size as u64) << 32 | u64::from(*magic);
            }
            at += size;
        }
        words
    }

    #[test]
    fn only_known_records_are_taken() {
        let check = |heads: &[(u32, usize)]| {
            let words = words(heads);
            records(&|at| words[at / 8]).is_ok()
        };
        let (fpsimd, esr) = ((FPSIMD_MAGIC, FPSIMD_SIZE), (ESR_MAGIC, ESR_SIZE));
        assert!(check(&[fpsimd]) && check(&[fpsimd, esr]) && check(&[esr, esr, fpsimd]));
        assert!(!check(&[]) && !check(&[esr]), "no FP registers");
        assert!(!check(&[fpsimd, fpsimd]));
        assert!(!check(&[(FPSIMD_MAGIC, 512)]) && !check(&[fpsimd, (0x42, 16)]) && !check(&[fpsimd, (0, 16)]));
        // To the very end, without one, and with registers that would lie behind it.
        assert!(!check(&[esr; 256]));
        let mut late = vec![esr; 250];
        late.push(fpsimd);
        assert!(!check(&late));
    }
}
