//! LPIs: interrupts 8192 and above, whose configuration and pending state are in tables in guest memory (IHI 0069, §5.1).
//!
//! A redistributor knows which of its LPIs are pending and how they are configured: it reads the pending table when LPIs
//! are enabled, and an LPI's byte of the configuration table when the LPI becomes pending or an INV or INVALL asks for it.
//! Each change of the pending state goes to the table at once, so that what is there is true whenever LPIs are disabled.

use std::collections::BTreeSet;

use bus::GuestMemory;
use snapshot::{Codec, Invalid};

use crate::spec::{FIRST_LPI, LPI_ID_BITS, PRIORITY_MASK, gicr_ctlr, gicr_pendbaser, gicr_propbaser};
use crate::state::State;

/// LPIs at most.
const COUNT: usize = (1 << LPI_ID_BITS) - FIRST_LPI as usize;
/// In a byte of [`Lpis::known`]: pending. In the configuration table bit 1 is RES1 and means nothing.
const PENDING: u8 = 2;
/// In a byte of the configuration table: enabled.
const ENABLED: u8 = 1;
/// What a pass over all LPIs of a redistributor costs beside what it finds, in units of [`Work`].
const PASS: i64 = 64;

/// What the ITS and the redistributors may do in a round of the machine, so that no guest keeps the host busy with them. A
/// command is a unit, and so is an LPI that something with many of them finds. What is left over waits for the next round.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// When the present round began, in nanoseconds.
    round: u64,
    /// Units left. One thing may take more than there were; the next rounds then have less.
    left: i64,
}

impl Work {
    /// Units a round.
    pub const UNITS: i64 = 8192;

    /// A full measure.
    pub const fn new() -> Self {
        Self { round: 0, left: Self::UNITS }
    }
    /// A new measure, if a new round began at `now`.
    pub fn begin(&mut self, now: u64) {
        if now != self.round {
            self.round = now;
            self.left = (self.left + Self::UNITS).min(Self::UNITS);
        }
    }
    /// Is something left?
    pub const fn may_go_on(&self) -> bool {
        self.left > 0
    }
    /// So much has been done.
    pub const fn spend(&mut self, units: i64) {
        self.left -= units;
    }
    /// Saves or loads it.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { round, left } = self;
        let mut used = Self::UNITS.saturating_sub(*left) as u64;
        codec.each([round, &mut used])?;
        // The last thing in a round, a MOVALL, is two passes and every LPI twice at most.
        if used > (Self::UNITS + 2 * (PASS + COUNT as i64)) as u64 {
            return Err(Invalid::new("more work of the ITS than can be"));
        }
        *left = Self::UNITS - used as i64;
        Ok(())
    }
}

/// The LPIs of one redistributor.
#[derive(Default)]
pub struct Lpis {
    /// `GICR_PROPBASER`.
    pub propbaser: u64,
    /// `GICR_PENDBASER`.
    pub pendbaser: u64,
    /// LPIs are enabled, and the pending table has yet to be read.
    pub is_loading: bool,
    /// By INTID - 8192: 0 where not pending, else the configuration as last read, with [`PENDING`]. Empty until LPIs are
    /// enabled for the first time.
    known: Vec<u8>,
    /// Pending and enabled ones, by priority and INTID - 8192.
    ready: BTreeSet<(u8, u16)>,
}

impl Lpis {
    /// The one of highest priority that is pending and enabled: priority and INTID. Of equals it is the lowest INTID.
    pub fn best(&self) -> Option<(u8, u32)> {
        self.ready.first().map(|(priority, n)| (*priority, u32::from(*n) + FIRST_LPI))
    }

    /// How many LPIs there are by `GICR_PROPBASER.IDbits`, which counts INTIDs.
    fn count(&self) -> usize {
        let bits = (self.propbaser & gicr_propbaser::ID_BITS) as u32 + 1;
        (1usize << bits.min(LPI_ID_BITS)).saturating_sub(FIRST_LPI as usize)
    }

    fn key(n: usize, byte: u8) -> (u8, u16) {
        (byte & PRIORITY_MASK, n as u16)
    }

    /// LPI `n` has `byte` now.
    fn set(&mut self, n: usize, byte: u8) {
        if self.known.is_empty() {
            self.known = vec![0; COUNT];
        }
        let old = std::mem::replace(&mut self.known[n], byte);
        if old & ENABLED != 0 {
            self.ready.remove(&Self::key(n, old));
        }
        if byte & ENABLED != 0 {
            self.ready.insert(Self::key(n, byte));
        }
    }

    /// What the configuration table says of LPI `n`, which is pending. A table that is not in RAM enables nothing.
    fn configuration(&self, memory: &GuestMemory, n: usize) -> u8 {
        let at = (self.propbaser & gicr_propbaser::ADDRESS) + n as u64;
        PENDING | memory.read_u8(at).unwrap_or(0) & (PRIORITY_MASK | ENABLED)
    }

    /// Sets or clears LPI `n`'s bit in the pending table.
    fn store(&self, memory: &GuestMemory, n: usize, is_pending: u8) {
        let intid = n as u64 + u64::from(FIRST_LPI);
        let at = (self.pendbaser & gicr_pendbaser::ADDRESS) + intid / 8;
        if let Some(byte) = memory.read_u8(at) {
            let bit = 1 << (intid % 8);
            let new = byte & !bit | if is_pending == 0 { 0 } else { bit };
            if new != byte {
                // What could be read can be written.
                let _ = memory.write(at, &[new]);
            }
        }
    }

    fn is_pending(&self, n: usize) -> bool {
        self.known.get(n).is_some_and(|byte| *byte != 0)
    }

    /// Which are pending.
    fn pending(&self) -> Vec<usize> {
        self.known.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(n, _)| n).collect()
    }

    fn forget(&mut self) {
        self.known.fill(0);
        self.ready.clear();
        self.is_loading = false;
    }

    /// Takes the pending table as it is in memory. Gives how many are pending.
    fn load(&mut self, memory: &GuestMemory) -> i64 {
        self.forget();
        let mut table = vec![0u8; COUNT / 8];
        // The first KiB would be that of the interrupts below 8192; a table that is not in RAM has nothing.
        let at = (self.pendbaser & gicr_pendbaser::ADDRESS) + u64::from(FIRST_LPI) / 8;
        let count = self.count();
        if memory.read(at, &mut table[..count / 8]).is_none() {
            return 0;
        }
        let mut found = 0;
        for (at, bits) in table.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            for n in (0..8).filter(|n| bits >> n & 1 != 0).map(|n| at * 8 + n) {
                self.set(n, self.configuration(memory, n));
                found += 1;
            }
        }
        found
    }

    /// Saves or loads it.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { propbaser, pendbaser, is_loading, known: _, ready: _ } = self;
        codec.each([propbaser, pendbaser, is_loading])?;
        if *propbaser & !gicr_propbaser::WRITABLE != 0 || *pendbaser & !gicr_pendbaser::WRITABLE != 0 {
            return Err(Invalid::new("the address of a table that cannot be"));
        }
        let mut pending: Vec<(u16, u8)> = self.pending().into_iter().map(|n| (n as u16, self.known[n])).collect();
        codec.value(&mut pending)?;
        if codec.is_loading() {
            let loading = self.is_loading;
            self.forget();
            self.is_loading = loading;
            for (n, byte) in pending {
                if usize::from(n) >= self.count()
                    || byte & PENDING == 0
                    || byte & !(PRIORITY_MASK | ENABLED | PENDING) != 0
                {
                    return Err(Invalid::new("an LPI in a state that cannot be"));
                }
                self.set(n.into(), byte);
            }
        }
        Ok(())
    }

    /// Folds the state.
    pub fn hash(&self, state: &mut dyn core::hash::Hasher) {
        state.write_u64(self.propbaser);
        state.write_u64(self.pendbaser);
        state.write_u8(u8::from(self.is_loading));
        for n in self.pending() {
            state.write_u32(n as u32);
            state.write_u8(self.known[n]);
        }
    }
}

/// The index of LPI `intid` in a redistributor's tables.
fn index(intid: u32) -> Option<usize> {
    intid.checked_sub(FIRST_LPI).map(|n| n as usize).filter(|n| *n < COUNT)
}

impl State {
    /// Are there LPIs, and is `intid` one?
    pub fn is_lpi(&self, intid: u32) -> bool {
        self.messages.is_some() && index(intid).is_some()
    }

    /// Are LPIs enabled at PE `pe` (`GICR_CTLR.EnableLPIs`)?
    pub fn has_lpis_on(&self, pe: usize) -> bool {
        self.pes[pe].ctlr & gicr_ctlr::ENABLE_LPIS != 0
    }

    /// LPI `intid` becomes pending at PE `pe`. One that is out of range there, or comes while LPIs are off, is lost (§5.1).
    pub fn pend_lpi(&mut self, pe: usize, intid: u32) {
        self.change_lpi(pe, intid, PENDING);
    }

    /// LPI `intid` is pending at PE `pe` no more.
    pub fn clear_lpi(&mut self, pe: usize, intid: u32) {
        self.change_lpi(pe, intid, 0);
    }

    fn change_lpi(&mut self, pe: usize, intid: u32, pending: u8) {
        let Some(messages) = &self.messages else { return };
        if !self.has_lpis_on(pe) {
            return;
        }
        let lpis = &mut self.pes[pe].lpis;
        let Some(n) = index(intid).filter(|n| *n < lpis.count()) else { return };
        lpis.store(&messages.memory, n, pending);
        // A table that has yet to be read has it.
        if !lpis.is_loading {
            let byte = if pending == 0 { 0 } else { lpis.configuration(&messages.memory, n) };
            lpis.set(n, byte);
            self.touch(pe);
        }
    }

    /// Is LPI `intid` pending at PE `pe`, whose table has been read?
    pub fn is_lpi_pending(&self, pe: usize, intid: u32) -> bool {
        self.has_lpis_on(pe) && index(intid).is_some_and(|n| self.pes[pe].lpis.is_pending(n))
    }

    /// The priority of LPI `intid` at PE `pe`, if it is pending and enabled there: for tests, without [`Lpis::ready`].
    #[cfg(test)]
    pub fn is_lpi_ready(&self, pe: usize, intid: u32) -> Option<u8> {
        let byte = *self.pes[pe].lpis.known.get(index(intid)?)?;
        (byte & ENABLED != 0).then_some(byte & PRIORITY_MASK)
    }

    /// PE `pe` reads LPI `intid`'s configuration anew.
    pub fn reread_lpi(&mut self, pe: usize, intid: u32) {
        let Some((messages, n)) = self.messages.as_ref().zip(index(intid)) else { return };
        let lpis = &mut self.pes[pe].lpis;
        if lpis.is_pending(n) {
            let byte = lpis.configuration(&messages.memory, n);
            lpis.set(n, byte);
            self.touch(pe);
        }
    }

    /// PE `pe` reads all LPIs' configurations anew. Gives what that cost.
    pub fn reread_lpis(&mut self, pe: usize) -> i64 {
        let mut cost = PASS;
        for n in self.pes[pe].lpis.pending() {
            self.reread_lpi(pe, n as u32 + FIRST_LPI);
            cost += 1;
        }
        cost
    }

    /// All that is pending at PE `from` becomes pending at PE `to` instead. Gives what that cost.
    pub fn move_lpis(&mut self, from: usize, to: usize) -> i64 {
        if from == to || !self.has_lpis_on(from) {
            return 0;
        }
        let mut cost = PASS;
        for n in self.pes[from].lpis.pending() {
            let intid = n as u32 + FIRST_LPI;
            self.clear_lpi(from, intid);
            self.pend_lpi(to, intid);
            cost += 1;
        }
        cost
    }

    /// PE `pe` reads its pending table. Gives what that cost.
    fn load_lpis(&mut self, pe: usize) -> i64 {
        let Some(messages) = &self.messages else { return 0 };
        let found = self.pes[pe].lpis.load(&messages.memory);
        self.touch(pe);
        PASS + found
    }

    /// A write of `GICR_CTLR.EnableLPIs`. It can be cleared again (`GICR_CTLR.CES`).
    pub fn enable_lpis(&mut self, pe: usize, bit: u32) {
        let (was, is) = (self.pes[pe].ctlr & gicr_ctlr::ENABLE_LPIS, bit & gicr_ctlr::ENABLE_LPIS);
        self.pes[pe].ctlr = self.pes[pe].ctlr & !gicr_ctlr::ENABLE_LPIS | is;
        if was == is {
            return;
        }
        let lpis = &mut self.pes[pe].lpis;
        lpis.forget();
        lpis.is_loading = is != 0;
        if is != 0 {
            self.to_load.insert(pe as u16);
        } else {
            self.to_load.remove(&(pe as u16));
        }
        self.touch(pe);
    }

    /// Reads pending tables that have yet to be read, as far as there may be work.
    pub fn load_tables(&mut self) {
        while self.messages.as_ref().is_some_and(|messages| messages.work.may_go_on())
            && let Some(pe) = self.to_load.pop_first()
        {
            let cost = self.load_lpis(pe.into());
            if let Some(messages) = &mut self.messages {
                messages.work.spend(cost);
            }
        }
    }
}
