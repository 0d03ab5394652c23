//! Random instruction words and machine states, for comparing one reading of the bodies with another.

use crate::decode::{Decoder, InsnId};
use crate::eval::{Fill, Flat, FpAccess, Memory, Refuse, SpCheck, TagControl, mix};
use crate::insn::Insn;
use crate::machine::{FpEnv, Machine};
use crate::word::Quad;

/// A seeded source of numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// From a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(mix(seed))
    }
    /// The next number.
    pub fn random(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.random() % end
    }
    /// Once in `n`.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    /// One of them.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A word: often one at an edge.
    pub fn word(&mut self) -> u64 {
        const EDGES: [u64; 14] = [
            0,
            1,
            2,
            u64::MAX,
            u64::MAX - 1,
            1 << 63,
            (1 << 63) - 1,
            1 << 31,
            (1 << 31) - 1,
            1 << 32,
            (1 << 32) - 1,
            0xffff_ffff_8000_0000,
            0x80,
            0x8000,
        ];
        match self.below(8) {
            0..=2 => self.pick(&EDGES),
            3 => self.below(256),
            4 => self.random() >> self.below(64),
            5 => u64::MAX << self.below(64),
            _ => self.random(),
        }
    }

    /// A quad: of random bits, or of elements that are often special as numbers.
    pub fn quad(&mut self) -> u128 {
        // Zero, subnormal, one, largest, infinity, quiet and signalling NaN, negative zero.
        const SINGLE: [u64; 8] = [0, 1, 0x3f80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001, 0x8000_0000];
        const HALF: [u64; 8] = [0, 1, 0x3c00, 0x7bff, 0x7c00, 0x7e00, 0x7c01, 0x8000];
        const DOUBLE: [u64; 8] =
            [0, 1, 0x3ff << 52, 0x7fef_ffff_ffff_ffff, 0x7ff << 52, 0xfff << 51, (0x7ff << 52) | 1, 1 << 63];
        let (bits, specials) = match self.below(5) {
            0 => (16, &HALF),
            1 => (32, &SINGLE),
            2 => (64, &DOUBLE),
            3 => return u128::from(self.word()) | u128::from(self.word()) << 64,
            _ => return u128::from(self.random()) | u128::from(self.random()) << 64,
        };
        (0..128 / bits).fold(0, |quad, lane| {
            let element = if self.once_in(2) { self.pick(specials) } else { self.random() };
            quad | u128::from(element & (u64::MAX >> (64 - bits))) << (bits * lane)
        })
    }

    /// A state: all registers, flags, FPCR, memory and its refusals, traps, the monitor.
    pub fn state(&mut self) -> Flat {
        // QC, IDC, IXC, UFC, OFC, DZC, IOC: bits 27, 7, 4 to 0.
        const FPSR_BITS: u64 = 1 << 27 | 0x9f;
        // DN, FZ, RMode, FZ16 and AHP: bits 26 to 22 and 19.
        const FPCR_BITS: u64 = 0x1f << 22 | 1 << 19;
        let mut state = Flat {
            sp: self.word() & if self.once_in(8) { u64::MAX } else { !15 },
            pc: self.word() & !3,
            nzcv: self.below(16) << 28,
            fp: FpEnv {
                fpcr: if self.once_in(2) { 0 } else { self.random() & FPCR_BITS },
                fpsr: self.random() & FPSR_BITS,
            },
            memory: Memory {
                fill: Fill::Hash(self.random()),
                tag_fill: Fill::Hash(self.random()),
                refuse: if self.once_in(2) { Refuse::Nothing } else { Refuse::SomePages(self.random()) },
                ..Memory::default()
            },
            tag_control: TagControl {
                exclude: (self.random() & self.random()) as u16,
                rgsr: self.random() & 0x00ff_ff0f,
            },
            fp_access: if self.once_in(16) { FpAccess::Trapped } else { FpAccess::Allowed },
            sp_check: if self.once_in(2) { SpCheck::On } else { SpCheck::Off },
            ..Flat::default()
        };
        state.x.fill_with(|| self.word());
        state.q.fill_with(|| self.quad());
        state
    }

    /// Sets the exclusive monitor, half of the time so that a store-exclusive of some size may pass.
    pub fn monitor(&mut self, state: &mut Flat, word: u32) {
        let base = state.x_or_sp(word >> 5 & 31);
        state.monitor = self.once_in(2).then(|| (base, 1 << self.below(5)));
    }

    /// A word that decodes to line `line` and is not reserved, with its prepared immediate; `None` where a few
    /// thousand tries found none.
    pub fn insn<M: Machine>(&mut self, decoder: &Decoder<M>, line: InsnId, offset: u32) -> Option<Insn> {
        let pattern = decoder.spec(line).pattern;
        (0..4000).find_map(|_| {
            let mut free = self.random() as u32;
            // Few registers, so that they meet; and 31 often.
            for field in [0, 5, 10, 16] {
                if self.once_in(3) {
                    let register = self.pick(&[0, 1, 2, 3, 30, 31]);
                    free = free & !(31 << field) | register << field;
                }
            }
            let word = pattern.value | free & !pattern.mask;
            let (found, spec) = decoder.decode(word)?;
            let imm = (spec.prepare)(word).filter(|_| found == line)?;
            Some(Insn::new(word, offset, imm))
        })
    }
}

/// What a machine of numbers computes by itself (sums and flags, conditions) and keeps (registers) is what [`Flat`]
/// computes and keeps. Panics where it is not.
pub fn check_values<M: Machine<Word = u64>>(machine: &mut M, seed: u64) {
    let (mut rng, mut flat) = (Rng::new(seed), Flat::default());
    for _ in 0..5000 {
        let (bits, a, b, carry) = (rng.pick(&[32, 64]), rng.word(), rng.word(), rng.below(2));
        let (ours, theirs) = (flat.add_with_carry(bits, a, b, carry), machine.add_with_carry(bits, a, b, carry));
        assert_eq!(theirs, ours, "add_with_carry({bits}, {a:#x}, {b:#x}, {carry})");
        assert_eq!(machine.logic_flags(bits, a), flat.logic_flags(bits, a), "logic_flags({bits}, {a:#x})");
    }
    for (nzcv, cond) in (0..16).flat_map(|nzcv| (0..16).map(move |cond| (nzcv << 28, cond))) {
        machine.set_nzcv(nzcv);
        flat.set_nzcv(nzcv);
        assert_eq!(machine.nzcv(), nzcv);
        assert_eq!(machine.condition(cond), flat.condition(cond), "condition({cond}) of {nzcv:#x}");
    }
    for n in 0..32 {
        machine.set_x(n, mix(u64::from(n)));
        machine.set_q(n, M::Quad::from_halves(mix(u64::from(n) + 100), u64::from(n)));
    }
    machine.set_sp(1234);
    for n in 0..32 {
        assert_eq!(machine.x(n), if n == 31 { 0 } else { mix(u64::from(n)) }, "X{n}");
        let quad = machine.q(n);
        assert_eq!((quad.lo(), quad.hi()), (mix(u64::from(n) + 100), u64::from(n)), "Q{n}");
    }
    assert_eq!((machine.sp(), machine.x_or_sp(31), machine.x_or_sp(30)), (1234, 1234, mix(30)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_is_a_machine() {
        check_values(&mut Flat::default(), 1);
    }
}
