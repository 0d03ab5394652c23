//! PEs that run at the same time, each on a thread of the host: what they share beside memory, interrupt controller and
//! devices. Without peers (one PE at a time) nothing here is touched.
//!
//! TLB invalidations for all go to each peer's mailbox. The PE that sent them goes on behind its DSB once every peer that
//! executes has emptied its mailbox between two instructions; meanwhile it empties its own, so that two that wait for each
//! other go on. A peer that sleeps or is off empties its mailbox before it executes again.

use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Release, SeqCst},
    fence,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bus::{CpuLines, Level};
use mmu::TlbiOp;
use sem::{BarrierOp, Order};

use crate::pe::{Broadcast, Pe};

/// Invalidations that a mailbox holds; more become one of everything.
const MAILS: usize = 512;
/// Looks at a peer before the host's scheduler is asked to let another thread run.
const SPINS: u32 = 100;

/// What PEs that run at the same time share.
pub struct Peers {
    started: Instant,
    /// The system counter when it started.
    origin: u64,
    /// Ticks of the counter a second.
    frequency: u64,
    /// The run ends: nobody waits any longer.
    stopping: AtomicBool,
    all: Box<[Peer]>,
}

struct Peer {
    lines: Arc<CpuLines>,
    mailbox: Mutex<Mailbox>,
    /// How many invalidations it has done, of those that were ever sent.
    served: AtomicU64,
}

#[derive(Default)]
struct Mailbox {
    mails: Vec<TlbiOp>,
    /// More were sent than fit.
    everything: bool,
    /// How many were ever sent.
    sent: u64,
    /// Does its PE execute, or may at any time?
    executes: bool,
}

impl Peer {
    fn mailbox(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Peers {
    /// PEs with these lines, by number, none of which executes; the system counter stands at `origin` and goes by the
    /// host's clock, `frequency` ticks a second.
    #[must_use]
    pub fn new(lines: impl IntoIterator<Item = Arc<CpuLines>>, origin: u64, frequency: u64) -> Self {
        let peer = |lines| Peer { lines, mailbox: Mutex::default(), served: AtomicU64::new(0) };
        Self {
            started: Instant::now(),
            origin,
            frequency,
            stopping: AtomicBool::new(false),
            all: lines.into_iter().map(peer).collect(),
        }
    }

    /// The system counter. No thread sees it go back.
    #[must_use]
    pub fn count(&self) -> u64 {
        let nanoseconds = self.started.elapsed().as_nanos();
        self.origin + (nanoseconds * u128::from(self.frequency) / 1_000_000_000) as u64
    }
    /// The same in nanoseconds.
    #[must_use]
    pub fn nanoseconds(&self) -> u64 {
        (u128::from(self.count()) * 1_000_000_000 / u128::from(self.frequency)) as u64
    }

    /// Has all PEs leave [`Pe::run`] soon, wakes those that sleep, and lets nobody wait.
    pub fn stop(&self) {
        self.stopping.store(true, SeqCst);
        for peer in &self.all {
            peer.lines.drive(CpuLines::MAIL, Level::High);
            peer.lines.unpark();
        }
    }
    /// Does the run end?
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(SeqCst)
    }

    /// All but number `from` have an event (SEV).
    fn send_event(&self, from: usize) {
        for (_, peer) in self.all.iter().enumerate().filter(|(index, _)| *index != from) {
            peer.lines.drive(CpuLines::EVENT, Level::High);
        }
    }

    /// Puts `ops` into all mailboxes but number `from`; gives who executes, and how many it must have done then.
    fn send(&self, from: usize, ops: &[TlbiOp]) -> Vec<(usize, u64)> {
        let mut executing = Vec::new();
        for (index, peer) in self.all.iter().enumerate().filter(|(index, _)| *index != from) {
            let mut mailbox = peer.mailbox();
            mailbox.sent += ops.len() as u64;
            if mailbox.everything || mailbox.mails.len() + ops.len() > MAILS {
                mailbox.everything = true;
                mailbox.mails.clear();
            } else {
                mailbox.mails.extend_from_slice(ops);
            }
            if mailbox.executes {
                executing.push((index, mailbox.sent));
                drop(mailbox);
                peer.lines.drive(CpuLines::MAIL, Level::High);
            }
        }
        executing
    }

    fn has_served(&self, index: usize, count: u64) -> bool {
        self.all[index].served.load(Acquire) >= count
    }
}

/// Lets a thread wait for another one: briefly by itself, then by the host's scheduler.
#[derive(Default)]
pub struct Backoff(u32);

impl Backoff {
    /// Waits a little.
    pub fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        if self.0 < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

impl Pe {
    /// From here on it runs beside `peers`, on a thread of its own; with `None`, alone again. It is taken to sleep until
    /// [`Pe::rejoin`].
    pub fn set_peers(&mut self, peers: Option<Arc<Peers>>) {
        if self.peers.is_some() {
            // What came last, so that nothing is lost.
            self.serve_mail();
            self.event_register |= self.take_event_line();
        }
        self.peers = peers;
        self.monitor = None;
        self.masks_changed();
    }

    /// It is about to sleep: nobody waits for it any longer.
    pub fn retire(&mut self) {
        if let Some(peers) = self.peers.clone() {
            peers.all[self.index].mailbox().executes = false;
            self.serve_mail();
        }
    }

    /// It is about to execute: it does first what was sent while it slept.
    pub fn rejoin(&mut self) {
        if let Some(peers) = self.peers.clone() {
            // From here on whoever sends waits; what was sent before is done below.
            peers.all[self.index].mailbox().executes = true;
            self.serve_mail();
        }
    }

    /// Is its event line high? No longer.
    pub(crate) fn take_event_line(&mut self) -> bool {
        let is_high = self.peers.is_some() && self.lines.get() & CpuLines::EVENT != 0;
        if is_high {
            self.lines.drive(CpuLines::EVENT, Level::Low);
        }
        is_high
    }

    /// SEV: gives `false` without peers.
    pub(crate) fn send_event(&self) -> bool {
        let Some(peers) = &self.peers else { return false };
        // What was stored before is there when they look.
        fence(SeqCst);
        peers.send_event(self.index);
        true
    }

    /// Does what peers sent. Call it between two instructions.
    #[cold]
    pub(crate) fn serve_mail(&mut self) {
        let Some(peers) = self.peers.clone() else { return };
        let peer = &peers.all[self.index];
        self.lines.drive(CpuLines::MAIL, Level::Low);
        let (mails, everything, sent) = {
            let mut mailbox = peer.mailbox();
            let everything = std::mem::take(&mut mailbox.everything);
            (std::mem::take(&mut mailbox.mails), everything, mailbox.sent)
        };
        if everything {
            self.forget_translations();
        }
        for op in mails {
            self.receive(Broadcast::Tlbi(op));
        }
        peer.served.store(sent, Release);
        self.follow_code_marks();
    }

    /// A barrier orders the accesses of this PE's thread as those of the PE. Behind a DSB, what was to be invalidated
    /// elsewhere is.
    #[cold]
    pub(crate) fn barrier_among_peers(&mut self, barrier: BarrierOp) {
        match barrier {
            BarrierOp::DmbSt => fence(Release),
            // The block of an ISB ends, and before the next one comes a look at what became stale.
            BarrierOp::DmbLd | BarrierOp::Isb | BarrierOp::Sb => fence(Acquire),
            BarrierOp::Dmb => {
                fence(SeqCst);
                self.follow_code_marks();
            }
            BarrierOp::Dsb => {
                fence(SeqCst);
                self.follow_code_marks();
                self.complete_invalidations();
            }
        }
    }

    fn complete_invalidations(&mut self) {
        let Some(peers) = self.peers.clone() else { return };
        if self.outbox.is_empty() {
            return;
        }
        let ops: Vec<TlbiOp> = self
            .outbox
            .drain(..)
            .filter_map(|broadcast| match broadcast {
                Broadcast::Tlbi(op) => Some(op),
                Broadcast::Event => None,
            })
            .collect();
        for (index, count) in peers.send(self.index, &ops) {
            let mut backoff = Backoff::default();
            while !peers.has_served(index, count) && !peers.is_stopping() {
                if self.lines.get() & CpuLines::MAIL != 0 {
                    self.serve_mail();
                }
                backoff.wait();
            }
        }
        // What was served here may have been the translation of the block's next instruction.
        self.leave_block = true;
    }

    /// Completes what is to be invalidated elsewhere, if no DSB has.
    pub fn send_invalidations(&mut self) {
        if self.peers.is_some() && !self.outbox.is_empty() {
            self.complete_invalidations();
        }
    }

    /// Orders what comes after a load as its instruction asks.
    #[cold]
    pub(crate) fn order_after_load(order: Order) {
        match order {
            Order::Plain | Order::Release => {}
            Order::Acquire | Order::AcquirePc | Order::AcquireRelease | Order::LimitedOrder => fence(Acquire),
        }
    }
}
