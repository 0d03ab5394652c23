//! Hints with an effect: waiting and events. DDI 0487 D1.6.

use sem::{Hint, Insn};

use crate::pe::{Broadcast, Pe};
use crate::stop::{Exit, Stop};
use arch::El;
use arch::esr::{Wfx, WfxKind};
use arch::field::{hcr_el2 as hcr, sctlr_el1 as sctlr};
use event::Event;

impl Pe {
    pub(super) fn hint(&mut self, insn: Insn, hint: Hint, argument: u64) -> Result<(), Stop> {
        match hint {
            Hint::Yield => Err(self.leave(Exit::Yield)),
            Hint::Sev => {
                self.event_register = true;
                if self.send_event() {
                    return Ok(());
                }
                self.outbox.push(Broadcast::Event);
                Err(self.leave(Exit::Yield))
            }
            Hint::Sevl => {
                self.event_register = true;
                Ok(())
            }
            Hint::Wfe | Hint::Wfet => {
                if self.take_event() {
                    return Ok(());
                }
                self.wait(insn, hint, argument, Exit::WaitForEvent)
            }
            Hint::Wfi | Hint::Wfit => {
                if self.has_pending_interrupt() {
                    return Ok(());
                }
                self.wait(insn, hint, argument, Exit::WaitForInterrupt)
            }
            // No error record and no statistical profiling is modelled: nothing to synchronise.
            Hint::Esb | Hint::Psb => Ok(()),
        }
    }

    fn wait(&mut self, insn: Insn, hint: Hint, timeout: u64, exit: Exit) -> Result<(), Stop> {
        let control = self.control();
        let timed = matches!(hint, Hint::Wfit | Hint::Wfet);
        let (allowed, kind) = match hint {
            Hint::Wfi | Hint::Wfit => (sctlr::nTWI, WfxKind::Wfi),
            _ => (sctlr::nTWE, WfxKind::Wfe),
        };
        if self.pstate.el == El::El0 && !allowed.is_set(control) {
            let timeout = timed.then(|| insn.rd() as u8);
            return Err(self.raise(Wfx { kind, timeout }.syndrome(), None));
        }
        let trapped = if kind == WfxKind::Wfi { hcr::TWI } else { hcr::TWE };
        if self.pstate.el < El::El2 && !self.is_host_el0() && self.hcr(trapped) {
            let timeout = timed.then(|| insn.rd() as u8);
            return Err(self.raise_to_el2(Wfx { kind, timeout }.syndrome()));
        }
        if timed {
            // The local timeout: the wait ends where CNTVCT_EL0, as it reads here, reaches it.
            self.see_counter(insn);
            let now = self.virtual_counter_at(insn);
            if now >= timeout {
                return Ok(());
            }
            self.wait_until = Some(self.counter_at(insn).saturating_add(timeout - now));
        }
        self.emit_at(insn, Event::Sleep);
        Err(self.leave(exit))
    }
}
