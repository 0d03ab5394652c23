//! The controller in snapshots: the registers' state. Where SPIs are placed and what the wires are follows from it.

use snapshot::{Codec, Invalid, persist_names};

use super::{Bank, Interface, NOWHERE, Pe, Sleep, State};
use crate::priority::{MIN_BPR0, MIN_BPR1};
use crate::spec::{PRIORITY_MASK, irouter};

persist_names!(Sleep { Asleep = 0, Awake = 1 });

impl Bank {
    /// Saves or loads it.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { implemented, fixed_edge, group, enabled, latch, line, message, active, edge, priority } = self;
        codec.each([group, enabled, latch, line, message, active, edge, priority])?;
        let beyond = |bits: &u32| bits & !*implemented != 0;
        let registers = [group, enabled, active];
        if registers.into_iter().any(|bits| beyond(bits))
            || *edge & *fixed_edge != *fixed_edge
            || priority.iter().any(|priority| priority & !PRIORITY_MASK != 0)
        {
            return Err(Invalid::new("an interrupt in a state that cannot be"));
        }
        Ok(())
    }
}

impl Interface {
    /// Saves or loads it.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self { pmr, bpr, active, ctlr, enables } = self;
        codec.each([pmr, bpr, ctlr, enables])?;
        active.persist(codec)?;
        let points = [(bpr[0], MIN_BPR0), (bpr[1], MIN_BPR1)];
        if points.into_iter().any(|(point, least)| !(least..=7).contains(&point)) {
            return Err(Invalid::new("a binary point that cannot be"));
        }
        Ok(())
    }
}

impl Pe {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self {
            affinity,
            bank,
            sleep,
            ctlr,
            status,
            lpis,
            interface,
            virtual_interface,
            hppi: _,
            spis: _,
            spi_words: _,
            wires: _,
            driven: _,
            touched: _,
        } = self;
        codec.same(affinity, "the affinity of a PE")?;
        bank.persist(codec)?;
        codec.each([sleep, ctlr, status])?;
        lpis.persist(codec)?;
        interface.persist(codec)?;
        virtual_interface.persist(codec)
    }
}

impl State {
    /// Saves or loads everything. The wires of PEs are theirs to load, after this.
    pub fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let Self {
            enables,
            status,
            banks,
            routes,
            pes,
            messages,
            to_load,
            ranges: _,
            placed: _,
            one_of_n: _,
            takers: _,
            touched: _,
        } = self;
        codec.same(&(pes.len(), banks.len()), "the size of the interrupt controller")?;
        codec.same(&messages.is_some(), "whether there is an ITS")?;
        codec.each([enables, status])?;
        banks.iter_mut().try_for_each(|bank| bank.persist(codec))?;
        for route in routes.iter_mut() {
            codec.value(route)?;
            if *route & !irouter::FIELDS != 0 {
                return Err(Invalid::new("a route that cannot be"));
            }
        }
        pes.iter_mut().try_for_each(|pe| pe.persist(codec))?;
        if let Some(messages) = messages {
            messages.persist(codec)?;
        }
        if codec.is_loading() {
            let loading = pes.iter().enumerate().filter(|(_, pe)| pe.lpis.is_loading);
            *to_load = loading.map(|(n, _)| n as u16).collect();
            self.place_all();
        }
        Ok(())
    }

    /// Places all SPIs by the registers alone.
    fn place_all(&mut self) {
        self.placed.fill(NOWHERE);
        self.takers = [NOWHERE; 2];
        for pe in &mut self.pes {
            (pe.spis, pe.spi_words) = ([0; super::MAX_SPI_BANKS], 0);
        }
        for bank in 0..self.banks.len() {
            let routes = &self.routes[bank * 32..bank * 32 + 32];
            let by_any = routes.iter().enumerate().filter(|(_, route)| **route & irouter::IRM != 0);
            self.one_of_n[bank] = by_any.fold(0, |set, (n, _)| set | 1 << n) & self.banks[bank].implemented;
        }
        self.choose_takers();
        for bank in 0..self.banks.len() {
            self.replace(bank, u32::MAX);
        }
        self.touch_all();
    }
}
