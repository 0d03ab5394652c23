//! Pre-decoded code: each physical page of code holds blocks of decoded instructions, found by physical address, so
//! that they survive every address-space switch and serve every alias.

use std::sync::Arc;

use bus::Ram;
use bus::ram::CODE_PAGE;
use sem::spec::Flow;
use sem::{Decoder, Insn};

use crate::pe::Pe;
use crate::stop::Stop;

/// One decoded instruction: what to run and its operands.
#[derive(Clone, Copy)]
pub struct Op {
    /// The body, instantiated for the PE.
    pub run: fn(&mut Pe, Insn) -> Result<(), Stop>,
    /// Its operands.
    pub insn: Insn,
}

/// A block: instructions of one page that follow each other, the last of which may branch.
#[derive(Clone, Copy)]
struct Block {
    start: u32,
    len: u32,
}

const WORDS: usize = (CODE_PAGE / 4) as usize;
/// The longest block. Longer ones gain nothing: the work per block is small already.
const MAX_BLOCK: usize = 64;

struct Page {
    /// Block number + 1 by word in the page; 0 where none starts.
    starts: Box<[u16; WORDS]>,
    blocks: Vec<Block>,
    ops: Vec<Op>,
}

impl Page {
    fn new() -> Self {
        Self { starts: Box::new([0; WORDS]), blocks: Vec::new(), ops: Vec::new() }
    }
    fn clear(&mut self) {
        self.starts.fill(0);
        self.blocks.clear();
        self.ops.clear();
    }
}

/// The decoded code of PEs with one feature set.
pub struct CodeCache {
    ram: Arc<Ram>,
    decoder: Decoder<Pe>,
    features: arch::feature::FeatureSet,
    /// Index in `pages` + 1 by physical page; 0 where no code was decoded.
    index: Vec<u32>,
    pages: Vec<Page>,
    ops: usize,
}

/// All pages are dropped when there are more decoded instructions than this (24 bytes each).
const MAX_OPS: usize = 1 << 20;

impl CodeCache {
    /// An empty cache for PEs with `features` on `ram`.
    #[must_use]
    pub fn new(ram: Arc<Ram>, features: arch::feature::FeatureSet) -> Self {
        let pages = ram.len().div_ceil(CODE_PAGE) as usize;
        Self { ram, decoder: Decoder::new(), features, index: vec![0; pages], pages: Vec::new(), ops: 0 }
    }

    /// The block that starts at `offset` in RAM, decoded now if it is new. `offset` is a multiple of 4 inside RAM.
    #[inline(always)]
    pub(crate) fn block(&mut self, offset: u64) -> &[Op] {
        let word = (offset % CODE_PAGE / 4) as usize;
        let slot = self.index[(offset / CODE_PAGE) as usize];
        let known = match slot.checked_sub(1) {
            Some(page) => self.pages[page as usize].starts[word],
            None => 0,
        };
        if known == 0 {
            return self.decode_block(offset);
        }
        let page = &self.pages[slot as usize - 1];
        let block = page.blocks[usize::from(known) - 1];
        &page.ops[block.start as usize..(block.start + block.len) as usize]
    }

    #[cold]
    #[inline(never)]
    fn decode_block(&mut self, offset: u64) -> &[Op] {
        if self.ops > MAX_OPS {
            self.clear();
        }
        let physical_page = (offset / CODE_PAGE) as usize;
        if self.index[physical_page] == 0 {
            self.pages.push(Page::new());
            self.index[physical_page] = self.pages.len() as u32;
        }
        self.ram.mark_code(offset);
        let first = (offset % CODE_PAGE / 4) as usize;
        let page = &mut self.pages[self.index[physical_page] as usize - 1];
        let start = page.ops.len();
        for n in 0..MAX_BLOCK.min(WORDS - first) {
            let at = offset + 4 * n as u64;
            // The last page of RAM may be partial; a fetch beyond its end is caught before a block starts there.
            let Some(word) = self.ram.read_u32(at) else { break };
            let (op, flow) = predecode(&self.decoder, self.features, word, 4 * n as u32);
            page.ops.push(op);
            if flow == Flow::End {
                break;
            }
        }
        let block = Block { start: start as u32, len: (page.ops.len() - start) as u32 };
        self.ops += block.len as usize;
        page.blocks.push(block);
        page.starts[first] = page.blocks.len() as u16;
        &page.ops[start..]
    }

    /// Drops the blocks of pages that were written. Call it where [`Ram::has_stale`] says so.
    pub(crate) fn drop_stale(&mut self) {
        for page in self.ram.take_stale() {
            if let Some(slot) = self.index.get(page as usize).and_then(|i| i.checked_sub(1)) {
                let page = &mut self.pages[slot as usize];
                self.ops -= page.ops.len();
                page.clear();
            }
            self.ram.unmark_code(page);
        }
    }

    fn clear(&mut self) {
        for (physical, slot) in self.index.iter_mut().enumerate().filter(|(_, slot)| **slot != 0) {
            self.ram.unmark_code(physical as u32);
            *slot = 0;
        }
        self.pages.clear();
        self.ops = 0;
    }
}

/// Decodes one word. What no line matches, what a line reserves and what the features lack is UNDEFINED.
fn predecode(decoder: &Decoder<Pe>, features: arch::feature::FeatureSet, word: u32, offset: u32) -> (Op, Flow) {
    let known = decoder.decode(word).and_then(|(_, spec)| {
        let present = spec.feature.is_none_or(|f| features.has(f));
        present.then(|| (spec.prepare)(word)).flatten().map(|imm| (spec, imm))
    });
    match known {
        Some((spec, imm)) => (Op { run: spec.run, insn: Insn::new(word, offset, imm) }, spec.flow),
        None => (Op { run: Pe::undefined, insn: Insn::new(word, offset, 0) }, Flow::End),
    }
}
