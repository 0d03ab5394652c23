//! Memory copy and memory set (FEAT_MOPS), Option A. DDI 0487 C6.1.9.
//!
//! One execution of an instruction moves at most [`MOST`] bytes, and less where pages end, memory has to be looked at
//! byte by byte, or a fault follows: then what was moved counts first.

use arch::El;
use arch::esr::mops_wrong_option;
use arch::feature::Feature;
use arch::field::{hcrx_el2, sctlr_el1 as sctlr};
use arch::sysreg::Reg;
use mmu::AccessKind;
use sem::{Access, CopyOrder, Insn, Privilege, TagCheck, TagOp};

use crate::memory::PAGE;
use crate::pe::Pe;
use crate::stop::Stop;

/// The most bytes that one execution moves.
const MOST: u64 = PAGE;
/// The most bytes of them that go one by one.
const MOST_SINGLY: u64 = 64;
const GRANULE: u64 = 16;

/// C of NZCV: Option B.
const C: u64 = 1 << 29;

const fn byte(privilege: Privilege) -> Access {
    Access { privilege, ..Access::plain(0) }
}

/// `value` bytes from `va` up to the end of its page.
const fn to_page_end(va: u64) -> u64 {
    PAGE - va % PAGE
}

/// Bytes from the start of the page that `end - 1` lies in.
const fn from_page_start(end: u64) -> u64 {
    end.wrapping_sub(1) % PAGE + 1
}

impl Pe {
    /// CheckMOPSEnabled, and the option where there is something to do (CheckMemCpyParams, CheckMemSetParams).
    pub(crate) fn check_mops(&mut self, insn: Insn, to_go: u64, nzcv: u64) -> Result<u64, Stop> {
        let el = self.pstate.el;
        let guest = self.has_el2() && el < El::El2 && !(el == El::El0 && self.is_host_el0());
        let hcrx = self.reg(Reg::HCRX_EL2);
        let by_el2 = !guest || hcrx_el2::MSCEn.is_set(hcrx);
        let by_el1 = el != El::El0 || sctlr::MSCEn.is_set(self.control());
        if !self.model.has(Feature::FEAT_MOPS) || !by_el2 || !by_el1 {
            return self.undefined_here();
        }
        if to_go == 0 || nzcv & C == 0 {
            return Ok(0);
        }
        let syndrome = mops_wrong_option(insn.word());
        if guest && el == El::El1 && hcrx_el2::MCE2.is_set(hcrx) {
            return Err(self.raise_to_el2(syndrome));
        }
        Err(self.raise(syndrome, None))
    }

    /// Ends an execution in which the byte or granule after `done` bytes stopped.
    fn moved(&mut self, done: u64, stop: Stop) -> Result<u64, Stop> {
        if done == 0 {
            return Err(stop);
        }
        // It will stop again, at the start of the next execution.
        self.pending = None;
        Ok(done)
    }

    /// SETM, SETE.
    pub(crate) fn set_memory(&mut self, va: u64, count: u64, value: u64, privilege: Privilege) -> Result<u64, Stop> {
        let most = count.min(MOST);
        let (mut done, mut singly) = (0, 0);
        while done < most && singly < MOST_SINGLY && (done == 0 || !self.leave_block) {
            let at = va.wrapping_add(done);
            if let Some(offset) = self.fast_write(at, privilege, 1) {
                let chunk = (most - done).min(to_page_end(at));
                let bytes = [value as u8; PAGE as usize];
                if self.ram.write_bytes(offset, &bytes[..chunk as usize]).is_some() {
                    done += chunk;
                    continue;
                }
            }
            if let Err(stop) = self.store_word(at, value, byte(privilege)) {
                return self.moved(done, stop);
            }
            (done, singly) = (done + 1, singly + 1);
        }
        Ok(done)
    }

    /// SETGM, SETGE: granule by granule.
    pub(crate) fn set_tagged(&mut self, va: u64, count: u64, value: u64, privilege: Privilege) -> Result<u64, Stop> {
        if count != 0 && (va | count) & (GRANULE - 1) != 0 {
            return self.alignment_fault(va, AccessKind::Write);
        }
        let access = Access { privilege, tags: TagCheck::Unchecked, ..Access::plain(3) };
        let value = u64::from_le_bytes([value as u8; 8]);
        let mut done = 0;
        while done < count.min(MOST_SINGLY) && (done == 0 || !self.leave_block) {
            let at = va.wrapping_add(done);
            let granule = self
                .store_word(at, value, access)
                .and_then(|()| self.store_word(at.wrapping_add(8), value, access))
                .and_then(|()| self.tag_operation(TagOp::Store, at, at));
            if let Err(stop) = granule {
                return self.moved(done, stop);
            }
            done += GRANULE;
        }
        Ok(done)
    }

    /// CPYFM, CPYFE, CPYM, CPYE.
    pub(crate) fn copy_memory(
        &mut self,
        [to, from, to_go]: [u64; 3],
        read: Privilege,
        write: Privilege,
        order: CopyOrder,
    ) -> Result<u64, Stop> {
        let down = order == CopyOrder::BySign && to_go as i64 > 0;
        let most = if down { to_go } else { to_go.wrapping_neg() }.min(MOST);
        let (mut done, mut singly) = (0, 0);
        while done < most && singly < MOST_SINGLY && (done == 0 || !self.leave_block) {
            let left = most - done;
            // The pages that are accessed next, and how much of them.
            let at = if down { to_go - done } else { to_go.wrapping_add(done) };
            let (source, target) = (from.wrapping_add(at), to.wrapping_add(at));
            let chunk = if down {
                left.min(from_page_start(source)).min(from_page_start(target))
            } else {
                left.min(to_page_end(source)).min(to_page_end(target))
            };
            let below = |n: u64| if down { n } else { 0 };
            let (source, target) = (source.wrapping_sub(below(chunk)), target.wrapping_sub(below(chunk)));
            if let (Some(read), Some(write)) = (self.fast_read(source, read, 1), self.fast_write(target, write, 1)) {
                let mut bytes = [0; PAGE as usize];
                let bytes = &mut bytes[..chunk as usize];
                if self.ram.read_bytes(read, bytes).and_then(|()| self.ram.write_bytes(write, bytes)).is_some() {
                    done += chunk;
                    continue;
                }
            }
            let last = below(chunk.wrapping_sub(1));
            let value = self.load_word(source.wrapping_add(last), byte(read));
            let stored = value.and_then(|value| self.store_word(target.wrapping_add(last), value, byte(write)));
            if let Err(stop) = stored {
                return self.moved(done, stop);
            }
            (done, singly) = (done + 1, singly + 1);
        }
        Ok(done)
    }
}
