//! Who called: the chain of frame records (AAPCS64 6.4.6).

use arch::Va;
use cpu::Pe;
use symbols::Location;

/// Most frames that are followed.
pub(super) const MAX_FRAMES: usize = 64;

/// Where the parts of Linux's `struct pt_regs` are, in bytes from the record that marks it, from Linux 6.14 on.
mod pt_regs {
    /// The record's kind: it follows the record's two zeros.
    pub const KIND: u64 = 16;
    /// This kind: the registers at an exception are around it. (The other kind is the last record.)
    pub const IS_EXCEPTION: u64 = 2;
    /// X29, below the record.
    pub const X29: u64 = 0x128 - 29 * 8;
    /// The PC, below the record.
    pub const PC: u64 = 0x128 - 32 * 8;
}

/// Where a function goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Behind a call: the instruction before it made the call, and may be the last of its function.
    Return(Va),
    /// At the instruction that took an exception.
    Exception(Va),
}

/// Bytes of a function's first instructions: BTI or PACIASP, STP of X29 and X30, MOV to X29.
const PROLOGUE: u64 = 12;

/// Is `lr`, of X30, the caller of the function at whose `place` the PC is, and not among its `frames`? A function has no
/// record of its own before its fourth instruction.
pub(crate) fn is_caller(lr: Va, place: Option<Location<'_>>, frames: &[Frame]) -> bool {
    place.is_some_and(|place| place.offset < PROLOGUE) && frames.first() != Some(&Frame::Return(lr))
}

/// The frames on the stack, from the innermost on. The PC and the link register are not among them.
///
/// A guest can make any chain: it ends after 64 frames, at what cannot be read, and at a record that points to itself.
pub(crate) fn frames(pe: &Pe) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut record = Va(pe.x_register(29));
    while frames.len() < MAX_FRAMES {
        let Some((next, frame)) = step(pe, record) else { break };
        frames.push(frame);
        if next == record {
            break;
        }
        record = next;
    }
    frames
}

/// The next record and the frame that the one at `record` holds; `None` at the end.
fn step(pe: &Pe, record: Va) -> Option<(Va, Frame)> {
    if record.0 == 0 || !record.0.is_multiple_of(8) {
        return None;
    }
    let below = |bytes: u64| pe.peek(Va(record.0.wrapping_sub(bytes)));
    match (pe.peek(record)?, pe.peek(record.add(8))?) {
        (0, 0) if pe.peek(record.add(pt_regs::KIND)) == Some(pt_regs::IS_EXCEPTION) => {
            Some((Va(below(pt_regs::X29)?), Frame::Exception(Va(below(pt_regs::PC)?))))
        }
        (_, 0) => None,
        (next, address) => Some((Va(next), Frame::Return(without_signature(Va(address))))),
    }
}

/// Removes a pointer authentication code: with 48-bit addresses it takes bits 63 to 56 and 54 to 48.
pub(crate) fn without_signature(address: Va) -> Va {
    const HIGH: u64 = 0xffff << 48;
    Va(if address.0 >> 55 & 1 == 1 { address.0 | HIGH } else { address.0 & !HIGH })
}
