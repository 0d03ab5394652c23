//! Pre-decoded code: each physical page of code holds blocks of decoded instructions, found by physical address, so
//! that they survive every address-space switch and serve every alias.

use std::sync::Arc;

use arch::feature::FeatureSet;
use bus::Ram;
use bus::ram::{CODE_PAGE, Stale};
use event::BarrierKind;
use mmu::CtxId;
use sem::spec::Flow;
use sem::{Decoder, Insn};

use crate::footprint::ByWord;
use crate::pe::Pe;
use crate::spin::Part;
use crate::stop::Stop;

/// One decoded instruction: what to run and its operands.
#[derive(Clone, Copy)]
pub struct Op {
    /// The body, instantiated for the PE.
    pub run: fn(&mut Pe, Insn) -> Result<(), Stop>,
    /// Its operands.
    pub insn: Insn,
}

/// A block: instructions of one page that follow each other, the last of which may branch. Names a run in the arena of
/// its [`CodeCache`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    start: u32,
    len: u32,
}

impl Block {
    /// How many instructions it has.
    pub(crate) fn len(self) -> u32 {
        self.len
    }
    /// Its first `count` instructions.
    pub(crate) fn first(self, count: u32) -> Self {
        Self { len: self.len.min(count), ..self }
    }
}

const WORDS: usize = (CODE_PAGE / 4) as usize;
/// The longest block. Longer ones gain nothing: the work per block is small already.
const MAX_BLOCK: usize = 64;

/// The blocks of one page of code: block number + 1 by word in the page; 0 where none starts.
type Starts = Box<[u32; WORDS]>;

/// The decoded code of PEs with one feature set.
pub struct CodeCache {
    ram: Arc<Ram>,
    decoder: Decoder<Pe>,
    features: FeatureSet,
    /// Index in `pages` + 1 by physical page; 0 where no code was decoded.
    index: Vec<u32>,
    pages: Vec<Starts>,
    blocks: Vec<Block>,
    /// The arena of decoded instructions. Blocks of pages that were written stay in it as waste until it is cleared.
    ops: Vec<Op>,
    /// Changes whenever a block that a PE may remember goes.
    generation: u32,
    /// How much of what became stale has been dropped, as [`Ram::stale_end`] counts.
    stale_seen: u64,
    parts: ByWord<Part>,
}

/// The arena is cleared when it holds more decoded instructions than this (24 bytes each).
const MAX_OPS: usize = 1 << 20;

impl CodeCache {
    /// An empty cache for PEs with `features` on `ram`.
    #[must_use]
    pub fn new(ram: Arc<Ram>, features: FeatureSet) -> Self {
        let pages = ram.size().div_ceil(CODE_PAGE) as usize;
        Self {
            stale_seen: ram.stale_end(),
            ram,
            decoder: Decoder::new(),
            features,
            index: vec![0; pages],
            pages: Vec::new(),
            blocks: Vec::new(),
            ops: Vec::new(),
            generation: 0,
            parts: ByWord::default(),
        }
    }

    /// A [`Block`] that was got under another generation must not be used.
    #[inline(always)]
    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// The instructions of `block`.
    #[inline(always)]
    pub(crate) fn ops(&self, block: Block) -> &[Op] {
        &self.ops[block.start as usize..block.start as usize + block.len as usize]
    }

    /// May all of `block` be of a loop that only waits? Adds the barriers in it to `barriers`.
    pub(crate) fn only_waits(&mut self, block: Block, barriers: &mut Vec<BarrierKind>) -> bool {
        let ops = &self.ops[block.start as usize..][..block.len as usize];
        for op in ops {
            match self.parts.of(op.insn.word(), Part::of) {
                Part::Plain => {}
                Part::Barrier(kind) => barriers.push(kind),
                Part::Foreign => return false,
            }
        }
        true
    }

    /// The block that starts at `offset` in RAM or flash, decoded now if it is new. `offset` is a multiple of 4 inside.
    pub(crate) fn block(&mut self, offset: u64) -> Block {
        let slot = self.index[(offset / CODE_PAGE) as usize];
        let known = match slot.checked_sub(1) {
            Some(page) => self.pages[page as usize][(offset % CODE_PAGE / 4) as usize],
            None => 0,
        };
        match known.checked_sub(1) {
            Some(block) => self.blocks[block as usize],
            None => self.decode_block(offset),
        }
    }

    #[cold]
    #[inline(never)]
    fn decode_block(&mut self, offset: u64) -> Block {
        if self.ops.len() > MAX_OPS {
            self.clear();
        }
        let physical_page = (offset / CODE_PAGE) as usize;
        if self.index[physical_page] == 0 {
            self.pages.push(Box::new([0; WORDS]));
            self.index[physical_page] = self.pages.len() as u32;
        }
        self.ram.mark_code(offset);
        let first = (offset % CODE_PAGE / 4) as usize;
        let start = self.ops.len();
        for n in 0..MAX_BLOCK.min(WORDS - first) {
            // The last page of RAM may be partial; a fetch beyond its end is caught before a block starts there.
            let Some(word) = self.ram.read_u32(offset + 4 * n as u64) else { break };
            let (op, flow) = predecode(&self.decoder, self.features, word, 4 * n as u32);
            self.ops.push(op);
            if flow == Flow::End {
                break;
            }
        }
        let block = Block { start: start as u32, len: (self.ops.len() - start) as u32 };
        self.blocks.push(block);
        self.pages[self.index[physical_page] as usize - 1][first] = self.blocks.len() as u32;
        block
    }

    /// Were pages written of which there may be blocks?
    #[inline(always)]
    pub(crate) fn has_stale(&self) -> bool {
        self.ram.stale_end() != self.stale_seen
    }

    /// Drops the blocks of pages that were written, here or by a PE with another cache. Call it where
    /// [`Self::has_stale`] says so.
    #[cold]
    pub(crate) fn drop_stale(&mut self) {
        match self.ram.stale_since(&mut self.stale_seen) {
            Stale::All => self.clear(),
            Stale::Pages(pages) => {
                for page in pages {
                    if let Some(slot) = self.index.get(page as usize).and_then(|i| i.checked_sub(1)) {
                        self.pages[slot as usize].fill(0);
                    }
                }
                self.generation = self.generation.wrapping_add(1);
            }
        }
    }

    /// Drops all blocks. Pages stay marked, since other caches may have blocks of them.
    fn clear(&mut self) {
        self.index.fill(0);
        self.pages.clear();
        self.blocks.clear();
        self.ops.clear();
        self.generation = self.generation.wrapping_add(1);
    }
}

/// What a PE remembers of where blocks are, by virtual address, so that going on to the next block needs no translation.
/// Direct-mapped; an entry counts only under the context and in the epoch in which it was made.
pub(crate) struct BlockMemory {
    slots: Box<[Remembered; SLOTS]>,
    /// In bits \[31:12\], so that a context id fits below.
    epoch: u32,
    /// The generation of the code cache that the epoch belongs to.
    generation: u32,
}

#[derive(Clone, Copy)]
struct Remembered {
    pc: u64,
    /// Epoch and context.
    tag: u32,
    block: Block,
    /// The values of PSTATE.BTYPE, one bit each, with which a branch may lead here.
    landings: u8,
}

const SLOTS: usize = 4096;
const EPOCH: u32 = 1 << 12;
const FORGOTTEN: Remembered = Remembered { pc: 1, tag: 0, block: Block { start: 0, len: 0 }, landings: 0 };

impl BlockMemory {
    pub(crate) fn new() -> Self {
        let Ok(slots) = vec![FORGOTTEN; SLOTS].into_boxed_slice().try_into() else {
            unreachable!("the length is SLOTS")
        };
        Self { slots, epoch: EPOCH, generation: 0 }
    }

    /// The block at `pc` in `context`, if it is remembered.
    #[inline(always)]
    pub(crate) fn find(&self, pc: u64, context: CtxId) -> Option<Block> {
        let slot = &self.slots[(pc >> 2) as usize % SLOTS];
        (slot.pc == pc && slot.tag == self.epoch | context.get() as u32).then_some(slot.block)
    }

    pub(crate) fn remember(&mut self, pc: u64, context: CtxId, block: Block) {
        let tag = self.epoch | context.get() as u32;
        self.slots[(pc >> 2) as usize % SLOTS] = Remembered { pc, tag, block, landings: 0 };
    }

    /// The same for a branch that set PSTATE.BTYPE, if it was seen to be allowed.
    #[inline]
    pub(crate) fn find_landing(&self, pc: u64, context: CtxId, btype: u8) -> Option<Block> {
        let slot = &self.slots[(pc >> 2) as usize % SLOTS];
        self.find(pc, context).filter(|_| slot.landings >> btype & 1 == 1)
    }

    /// Such a branch is allowed at `pc`. Without effect where the block is not remembered.
    pub(crate) fn remember_landing(&mut self, pc: u64, context: CtxId, btype: u8) {
        let tag = self.epoch | context.get() as u32;
        let slot = &mut self.slots[(pc >> 2) as usize % SLOTS];
        if slot.pc == pc && slot.tag == tag {
            slot.landings |= 1 << btype;
        }
    }

    /// A translation that fetches may use has gone, or context ids have other meanings.
    pub(crate) fn forget(&mut self) {
        self.epoch = self.epoch.wrapping_add(EPOCH);
        if self.epoch == 0 {
            self.slots.fill(FORGOTTEN);
            self.epoch = EPOCH;
        }
    }

    /// Forgets if the code cache dropped blocks since the last call.
    #[inline(always)]
    pub(crate) fn follow(&mut self, code: &CodeCache) {
        if self.generation != code.generation() {
            self.generation = code.generation();
            self.forget();
        }
    }
}

/// Decodes one word. What no line matches, what a line reserves and what the features lack is UNDEFINED.
fn predecode(decoder: &Decoder<Pe>, features: FeatureSet, word: u32, offset: u32) -> (Op, Flow) {
    let known = decoder.decode(word).and_then(|(_, spec)| {
        let present = spec.feature.is_none_or(|f| features.has(f));
        present.then(|| (spec.prepare)(word)).flatten().map(|imm| (spec, imm))
    });
    match known {
        Some((spec, imm)) => (Op { run: spec.run, insn: Insn::new(word, offset, imm) }, spec.flow),
        None => (Op { run: Pe::undefined, insn: Insn::new(word, offset, 0) }, Flow::End),
    }
}
