//! A simplified block does what the block does as told: random blocks on random states.

extern crate vambrace_ir as ir;

mod common;

use common::{Recorder, mix};
use ir::{
    Access, Binary, Block, Builder, FpEnv, Mode, Op, Operand, Pure, Unary, Value, Width, eval, same_effects, verify,
};

/// One step of a recipe for a block. The operands are picked from the values so far by the numbers, modulo how many
/// there are, so that a recipe stays one when a step is taken out.
#[derive(Clone, Copy, Debug)]
struct Step {
    kind: u64,
    picks: [usize; 3],
    number: u64,
}

struct Pool {
    words: Vec<Operand>,
    quads: Vec<Value>,
}

impl Pool {
    fn word(&self, pick: usize) -> Operand {
        // Half of the time one of the last few, so that operations meet.
        let (pick, from) = (pick / 2, if pick.is_multiple_of(2) { 0 } else { self.words.len().saturating_sub(3) });
        self.words[from + pick % (self.words.len() - from)]
    }
}

fn mixed(fp: &mut FpEnv, [a, b, c]: [u128; 3]) -> u128 {
    fp.fpsr |= a as u64 & 0x1f;
    a.rotate_left(7) ^ b.wrapping_mul(3) ^ !c
}

const MIXED: Pure = Pure { name: "mixed", run: mixed };

const UNARY: [Unary; 5] = [Unary::Not, Unary::Clz, Unary::Rbit, Unary::Rev, Unary::Popcount];

const BINARY: [Binary; 17] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::Lshr,
    Binary::Ashr,
    Binary::Ror,
    Binary::IsEq,
    Binary::IsUlt,
    Binary::IsSlt,
    Binary::Umulh,
    Binary::Smulh,
    Binary::Udiv,
    Binary::Sdiv,
];

fn step(b: &mut Builder<u32>, pool: &mut Pool, Step { kind, picks, number }: Step) {
    let [x, y, z] = picks.map(|pick| pool.word(pick));
    let quad = pool.quads[picks[0] % pool.quads.len()];
    let register = picks[2] as u8 % 4;
    let access = Access::plain(number as u32 % 4);
    let result = match kind {
        0..=3 => b.unary(UNARY[number as usize % UNARY.len()], x),
        4 => b.unary(Unary::Zext(number as u8 % 64 + 1), x),
        5..=6 => b.unary(Unary::Zext(number as u8 % 3 + 7), x),
        7..=8 => b.unary(Unary::Sext(number as u8 % 64 + 1), x),
        9..=24 => b.binary(BINARY[number as usize % BINARY.len()], x, y),
        25 => b.select(x, y, z),
        26 => {
            let carry = b.unary(Unary::Zext(1), z);
            let width = if number & 1 == 0 { Width::W32 } else { Width::W64 };
            let (result, flags) = b.add_with_carry(width, x, y, carry);
            b.write_nzcv(flags);
            result
        }
        27 => {
            let width = if number & 1 == 0 { Width::W32 } else { Width::W64 };
            b.logic_flags(width, x)
        }
        28 => b.condition(number as u8 & 15),
        29 => b.read_x(register),
        30 => {
            b.write_x(register, x);
            x
        }
        31 => b.read_sp(),
        32 => {
            b.write_sp(x);
            b.read_nzcv()
        }
        33 => {
            let address = b.value(x);
            b.one(Op::Load { address, access })
        }
        34 => {
            let (address, value) = (b.value(x), b.value(y));
            b.push(Op::Store { address, value, access });
            y
        }
        35 => {
            let argument = b.value(x);
            b.one(Op::System { call: picks[1] as u32 % 7, argument })
        }
        36 => {
            let address = b.value(x);
            let (first, second) = b.two(Op::LoadExclusivePair { address, access });
            pool.words.push(second);
            first
        }
        37 => {
            pool.quads.push(b.quad_from_halves(x, y));
            b.lo(quad)
        }
        38 => {
            let (lo, hi) = (b.lo(quad), b.hi(quad));
            pool.quads.push(b.quad_from_halves(lo, hi));
            hi
        }
        39 => {
            let quads = picks.map(|pick| pool.quads[pick % pool.quads.len()]);
            pool.quads.push(b.push(Op::Call { function: MIXED, operands: quads }));
            x
        }
        40 => {
            b.write_q(register, quad);
            pool.quads.push(b.read_q(register + 1));
            x
        }
        _ => Operand::Const(number),
    };
    pool.words.push(result);
}

fn block(mode: Mode, steps: &[Step]) -> Block<u32> {
    let mut b = Builder::new(mode);
    b.push(Op::InsnStart { offset: 0, word: 0 });
    let mut pool = Pool { words: vec![Operand::Const(0), Operand::Const(u64::MAX)], quads: vec![] };
    pool.quads.push(b.read_q(0));
    for n in 0..4 {
        pool.words.push(b.read_x(n));
    }
    for (at, &this) in steps.iter().enumerate() {
        b.push(Op::InsnStart { offset: 4 * at as u32 + 4, word: at as u32 });
        step(&mut b, &mut pool, this);
    }
    for (n, &word) in pool.words.iter().rev().take(27).enumerate() {
        b.write_x(4 + n as u8, word);
    }
    for (n, &quad) in pool.quads.iter().rev().take(27).enumerate() {
        b.write_q(5 + n as u8, quad);
    }
    b.finish()
}

fn judge(steps: &[Step], state: &Recorder) -> Result<(), String> {
    let blocks = [Mode::Literal, Mode::Simplify].map(|mode| block(mode, steps));
    let [literal, simplified] = &blocks;
    let texts = || format!("{literal}\n{simplified}");
    for block in &blocks {
        verify(block).map_err(|invalid| format!("{invalid}:\n{block}"))?;
    }
    let smallest = simplified.clone().without_overwritten().pruned();
    verify(&smallest).map_err(|invalid| format!("{invalid}:\n{smallest}"))?;
    same_effects(literal, simplified).map_err(|differs| format!("{differs}:\n{}", texts()))?;
    let [one, other, smallest] = [literal, simplified, &smallest].map(|block| {
        let mut state = state.clone();
        let exit = eval(block, &mut state);
        (exit, state)
    });
    if one == other && one == smallest {
        Ok(())
    } else {
        Err(format!("{one:x?}\n{other:x?}\n{smallest:x?}\n{}", texts()))
    }
}

fn edge(n: u64) -> u64 {
    const EDGES: [u64; 9] = [0, 1, 2, 63, 64, u64::MAX, 1 << 63, 1 << 31, 0xffff_ffff];
    match n % 3 {
        0 => EDGES[(n >> 8) as usize % EDGES.len()],
        1 => u64::MAX >> (n >> 8 & 63),
        _ => mix(n),
    }
}

#[test]
fn simplified_blocks_do_the_same() {
    for seed in 0..30_000u64 {
        let mut n = mix(seed);
        let mut next = || {
            n = n.wrapping_add(1);
            mix(n)
        };
        let mut steps: Vec<Step> = (0..2 + seed % 30)
            .map(|_| Step { kind: next() % 46, picks: [(); 3].map(|()| next() as usize >> 1), number: edge(next()) })
            .collect();
        let mut state = Recorder { sp: edge(next()), nzcv: next() & 0xf << 28, ..Recorder::default() };
        state.x.fill_with(|| edge(next()));
        state.q.fill_with(|| u128::from(edge(next())) | u128::from(edge(next())) << 64);
        state.limit = next().is_multiple_of(3).then(|| edge(next()));
        if let Err(mut why) = judge(&steps, &state) {
            let mut at = steps.len();
            while at > 0 {
                at -= 1;
                let mut fewer = steps.clone();
                fewer.remove(at);
                if let Err(reason) = judge(&fewer, &state) {
                    (steps, why) = (fewer, reason);
                }
            }
            panic!("seed {seed}: {steps:?} on {state:x?}\n{why}");
        }
    }
}
