//! [`Lift`]: bodies as IR.
//!
//! A body computes with [`Term`]s: numbers, or names of IR values. Terms are `Copy` and have operators, as
//! [`Word`] asks, so an operator cannot be handed the builder; the block that is being built is therefore the
//! thread's, from the start of [`lift_block`] to its end. No term outlives that: bodies keep nothing, and neither
//! [`Lift`] nor a term that names a value can be made outside.
//!
//! Bodies never stop while they are lifted. An operation that may stop when it runs does so in
//! [`ir::eval()`], which then leaves the block; [`OnMachine`] runs blocks on any machine of numbers.

use core::cell::RefCell;
use core::convert::Infallible;
use core::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};
use std::sync::LazyLock;

use ir::{Binary, Block, Builder, Class, Mode, Op, Operand, Unary, Value, Width};

use crate::decode::InsnId;
use crate::insn::{Insn, Reg};
use crate::machine::{Access, Assist, AtomicOp, BranchKind, Done, Machine, Pure, TagOp};
use crate::spec::{Flow, Spec, specs};
use crate::system::System;
use crate::word::{Quad, Word};

/// The payload of IR's system calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The instruction.
    pub insn: Insn,
    /// What it asks for.
    pub op: System,
}

/// Lifts instructions up to and including the first whose line says that it ends a block, or that is not done.
#[must_use]
pub fn lift_block(mode: Mode, insns: impl IntoIterator<Item = (InsnId, Insn)>) -> Block<Call> {
    static LINES: LazyLock<Vec<&'static Spec<Lift>>> = LazyLock::new(specs::<Lift>);
    build(mode, |m| {
        for (InsnId(line), insn) in insns {
            let spec = LINES[usize::from(line)];
            m.start(insn);
            let Ok(()) = (spec.run)(m, insn);
            if spec.flow == Flow::End || m.ended {
                break;
            }
        }
    })
}

thread_local! {
    static CURRENT: RefCell<Option<Builder<Call>>> = const { RefCell::new(None) };
}

/// The block that `body` builds.
pub(crate) fn build(mode: Mode, body: impl FnOnce(&mut Lift)) -> Block<Call> {
    CURRENT.set(Some(Builder::new(mode)));
    body(&mut Lift { ended: false });
    CURRENT.take().map_or_else(Block::new, Builder::finish)
}

fn current<R>(f: impl FnOnce(&mut Builder<Call>) -> R) -> R {
    CURRENT.with_borrow_mut(|builder| f(builder.as_mut().expect("terms exist inside lift_block only")))
}

/// The machine that writes down what it is asked.
#[derive(Debug)]
pub struct Lift {
    /// Was a control operation the last?
    ended: bool,
}

/// A word of [`Lift`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term(Operand);

/// A quad of [`Lift`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuadTerm(Value);

impl From<u64> for Term {
    fn from(number: u64) -> Self {
        Self(Operand::Const(number))
    }
}

fn unary(op: Unary, a: Term) -> Term {
    Term(current(|b| b.unary(op, a.0)))
}

fn binary(op: Binary, x: Term, y: Term) -> Term {
    Term(current(|b| b.binary(op, x.0, y.0)))
}

macro_rules! operators {
    ($($operator:ident $function:ident $op:ident),*) => {
        $(impl $operator for Term {
            type Output = Self;
            fn $function(self, other: Self) -> Self {
                binary(Binary::$op, self, other)
            }
        })*
    };
}

operators!(Add add Add, Sub sub Sub, Mul mul Mul, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

impl Not for Term {
    type Output = Self;
    fn not(self) -> Self {
        unary(Unary::Not, self)
    }
}

impl Word for Term {
    fn shl(self, n: Self) -> Self {
        binary(Binary::Shl, self, n)
    }
    fn lshr(self, n: Self) -> Self {
        binary(Binary::Lshr, self, n)
    }
    fn ashr(self, n: Self) -> Self {
        binary(Binary::Ashr, self, n)
    }
    fn ror(self, n: Self) -> Self {
        binary(Binary::Ror, self, n)
    }
    fn zext(self, bits: u32) -> Self {
        unary(Unary::Zext(bits as u8), self)
    }
    fn sext(self, bits: u32) -> Self {
        unary(Unary::Sext(bits as u8), self)
    }
    fn is_eq(self, other: Self) -> Self {
        binary(Binary::IsEq, self, other)
    }
    fn is_ult(self, other: Self) -> Self {
        binary(Binary::IsUlt, self, other)
    }
    fn is_slt(self, other: Self) -> Self {
        binary(Binary::IsSlt, self, other)
    }
    fn select(self, then: Self, other: Self) -> Self {
        Self(current(|b| b.select(self.0, then.0, other.0)))
    }
    fn clz(self) -> Self {
        unary(Unary::Clz, self)
    }
    fn rbit(self) -> Self {
        unary(Unary::Rbit, self)
    }
    fn rev(self) -> Self {
        unary(Unary::Rev, self)
    }
    fn popcount(self) -> Self {
        unary(Unary::Popcount, self)
    }
    fn umulh(self, other: Self) -> Self {
        binary(Binary::Umulh, self, other)
    }
    fn smulh(self, other: Self) -> Self {
        binary(Binary::Smulh, self, other)
    }
    fn udiv(self, by: Self) -> Self {
        binary(Binary::Udiv, self, by)
    }
    fn sdiv(self, by: Self) -> Self {
        binary(Binary::Sdiv, self, by)
    }
}

impl Quad for QuadTerm {
    type Word = Term;
    fn from_halves(lo: Term, hi: Term) -> Self {
        Self(current(|b| b.quad_from_halves(lo.0, hi.0)))
    }
    fn lo(self) -> Term {
        Term(current(|b| b.lo(self.0)))
    }
    fn hi(self) -> Term {
        Term(current(|b| b.hi(self.0)))
    }
}

impl Lift {
    fn start(&mut self, insn: Insn) {
        self.none([], |[]| Op::InsnStart { offset: insn.offset(), word: insn.word() });
    }

    /// An operation that gives one word and takes those words.
    fn one<const N: usize>(words: [Term; N], op: impl FnOnce([Value; N]) -> Op<Call>) -> Term {
        current(|b| {
            let values = words.map(|word| b.value(word.0));
            Term(b.one(op(values)))
        })
    }

    fn two<const N: usize>(words: [Term; N], op: impl FnOnce([Value; N]) -> Op<Call>) -> (Term, Term) {
        current(|b| {
            let values = words.map(|word| b.value(word.0));
            let (first, second) = b.two(op(values));
            (Term(first), Term(second))
        })
    }

    fn none<const N: usize>(&mut self, words: [Term; N], op: impl FnOnce([Value; N]) -> Op<Call>) {
        current(|b| {
            let values = words.map(|word| b.value(word.0));
            let op = op(values);
            self.ended |= op.class() == Class::Control;
            b.push(op);
        });
    }
}

impl Machine for Lift {
    type Word = Term;
    type Quad = QuadTerm;
    type Stop = Infallible;

    fn x(&mut self, n: Reg) -> Term {
        Term(current(|b| b.read_x(n as u8)))
    }
    fn set_x(&mut self, n: Reg, value: Term) {
        current(|b| b.write_x(n as u8, value.0));
    }
    fn sp(&mut self) -> Term {
        Term(current(Builder::read_sp))
    }
    fn set_sp(&mut self, value: Term) {
        current(|b| b.write_sp(value.0));
    }
    fn pc(&mut self, insn: Insn) -> Term {
        Self::one([], |[]| Op::Pc { offset: insn.offset() })
    }
    fn nzcv(&mut self) -> Term {
        Term(current(Builder::read_nzcv))
    }
    fn set_nzcv(&mut self, value: Term) {
        current(|b| b.write_nzcv(value.0));
    }
    fn condition(&mut self, cond: u32) -> Term {
        Term(current(|b| b.condition(cond as u8)))
    }
    fn add_with_carry(&mut self, bits: u32, x: Term, y: Term, carry: Term) -> (Term, Term) {
        let (result, flags) = current(|b| b.add_with_carry(Width::of(bits), x.0, y.0, carry.0));
        (Term(result), Term(flags))
    }
    fn logic_flags(&mut self, bits: u32, result: Term) -> Term {
        Term(current(|b| b.logic_flags(Width::of(bits), result.0)))
    }

    fn q(&mut self, n: Reg) -> QuadTerm {
        QuadTerm(current(|b| b.read_q(n as u8)))
    }
    fn set_q(&mut self, n: Reg, value: QuadTerm) {
        current(|b| b.write_q(n as u8, value.0));
    }
    fn check_fp(&mut self) -> Done<Self> {
        self.none([], |[]| Op::CheckFp);
        Ok(())
    }
    fn pure(&mut self, function: Pure, operands: [QuadTerm; 3]) -> QuadTerm {
        QuadTerm(current(|b| b.push(Op::Call { function, operands: operands.map(|quad| quad.0) })))
    }

    fn load(&mut self, address: Term, access: Access) -> Result<Term, Infallible> {
        Ok(Self::one([address], |[address]| Op::Load { address, access }))
    }
    fn store(&mut self, address: Term, value: Term, access: Access) -> Done<Self> {
        self.none([address, value], |[address, value]| Op::Store { address, value, access });
        Ok(())
    }
    fn load_quad(&mut self, address: Term, access: Access) -> Result<QuadTerm, Infallible> {
        Ok(QuadTerm(current(|b| {
            let address = b.value(address.0);
            b.push(Op::LoadQuad { address, access })
        })))
    }
    fn store_quad(&mut self, address: Term, value: QuadTerm, access: Access) -> Done<Self> {
        self.none([address], |[address]| Op::StoreQuad { address, value: value.0, access });
        Ok(())
    }
    fn load_exclusive(&mut self, address: Term, access: Access) -> Result<Term, Infallible> {
        Ok(Self::one([address], |[address]| Op::LoadExclusive { address, access }))
    }
    fn load_exclusive_pair(&mut self, address: Term, access: Access) -> Result<(Term, Term), Infallible> {
        Ok(Self::two([address], |[address]| Op::LoadExclusivePair { address, access }))
    }
    fn store_exclusive(&mut self, address: Term, value: Term, access: Access) -> Result<Term, Infallible> {
        Ok(Self::one([address, value], |[address, value]| Op::StoreExclusive { address, value, access }))
    }
    fn store_exclusive_pair(
        &mut self,
        address: Term,
        values: (Term, Term),
        access: Access,
    ) -> Result<Term, Infallible> {
        Ok(Self::one([address, values.0, values.1], |[address, first, second]| Op::StoreExclusivePair {
            address,
            values: [first, second],
            access,
        }))
    }
    fn atomic(&mut self, op: AtomicOp, address: Term, operand: Term, access: Access) -> Result<Term, Infallible> {
        Ok(Self::one([address, operand], |[address, operand]| Op::Atomic { op, address, operand, access }))
    }
    fn compare_swap(&mut self, address: Term, expected: Term, new: Term, access: Access) -> Result<Term, Infallible> {
        Ok(Self::one([address, expected, new], |[address, expected, new]| Op::CompareSwap {
            address,
            expected,
            new,
            access,
        }))
    }
    fn compare_swap_pair(
        &mut self,
        address: Term,
        expected: (Term, Term),
        new: (Term, Term),
        access: Access,
    ) -> Result<(Term, Term), Infallible> {
        let words = [address, expected.0, expected.1, new.0, new.1];
        Ok(Self::two(words, |[address, e0, e1, n0, n1]| Op::CompareSwapPair {
            address,
            expected: [e0, e1],
            new: [n0, n1],
            access,
        }))
    }

    fn tags(&mut self, op: TagOp, address: Term, value: Term) -> Result<Term, Infallible> {
        Ok(Self::one([address, value], |[address, value]| Op::Tags { op, address, value }))
    }

    fn check_sp_alignment(&mut self) -> Done<Self> {
        self.none([], |[]| Op::CheckSpAlignment);
        Ok(())
    }

    fn branch(&mut self, kind: BranchKind, target: Term) -> Done<Self> {
        self.none([target], |[target]| Op::Branch { kind, target });
        Ok(())
    }
    fn branch_if(&mut self, condition: Term, target: Term) -> Done<Self> {
        self.none([condition, target], |[condition, target]| Op::BranchIf { condition, target });
        Ok(())
    }
    fn not_done(&mut self, _insn: Insn) -> Done<Self> {
        self.none([], |[]| Op::NotDone);
        Ok(())
    }
    fn assist(&mut self, _insn: Insn, op: Assist, operands: [Term; 3]) -> Result<Term, Infallible> {
        Ok(Self::one(operands, |operands| Op::Assist { op, operands }))
    }
    fn system(&mut self, insn: Insn, op: System, argument: Term) -> Result<Term, Infallible> {
        Ok(Self::one([argument], |[argument]| Op::System { call: Call { insn, op }, argument }))
    }
}

/// Runs IR on a machine of numbers: `ir::eval(&block, &mut OnMachine(&mut machine))`.
pub struct OnMachine<'a, M>(pub &'a mut M);

/// An instruction of which only the place counts.
fn at(offset: u32, word: u32) -> Insn {
    Insn::new(word, offset, 0)
}

fn to_quad<M: Machine<Word = u64>>(value: u128) -> M::Quad {
    M::Quad::from_halves(value as u64, (value >> 64) as u64)
}

fn from_quad(quad: impl Quad<Word = u64>) -> u128 {
    u128::from_halves(quad.lo(), quad.hi())
}

impl<M: Machine<Word = u64>> ir::State<Call> for OnMachine<'_, M> {
    type Stop = M::Stop;

    fn read_x(&mut self, n: u8) -> u64 {
        self.0.x(Reg::from(n))
    }
    fn write_x(&mut self, n: u8, value: u64) {
        self.0.set_x(Reg::from(n), value);
    }
    fn read_sp(&mut self) -> u64 {
        self.0.sp()
    }
    fn write_sp(&mut self, value: u64) {
        self.0.set_sp(value);
    }
    fn pc(&mut self, offset: u32) -> u64 {
        self.0.pc(at(offset, 0))
    }
    fn read_nzcv(&mut self) -> u64 {
        self.0.nzcv()
    }
    fn write_nzcv(&mut self, value: u64) {
        self.0.set_nzcv(value);
    }
    fn read_q(&mut self, n: u8) -> u128 {
        from_quad(self.0.q(Reg::from(n)))
    }
    fn write_q(&mut self, n: u8, value: u128) {
        self.0.set_q(Reg::from(n), to_quad::<M>(value));
    }

    fn load(&mut self, address: u64, access: Access) -> Result<u64, M::Stop> {
        self.0.load(address, access)
    }
    fn store(&mut self, address: u64, value: u64, access: Access) -> Result<(), M::Stop> {
        self.0.store(address, value, access)
    }
    fn load_quad(&mut self, address: u64, access: Access) -> Result<u128, M::Stop> {
        self.0.load_quad(address, access).map(from_quad)
    }
    fn store_quad(&mut self, address: u64, value: u128, access: Access) -> Result<(), M::Stop> {
        self.0.store_quad(address, to_quad::<M>(value), access)
    }
    fn load_exclusive(&mut self, address: u64, access: Access) -> Result<u64, M::Stop> {
        self.0.load_exclusive(address, access)
    }
    fn load_exclusive_pair(&mut self, address: u64, access: Access) -> Result<(u64, u64), M::Stop> {
        self.0.load_exclusive_pair(address, access)
    }
    fn store_exclusive(&mut self, address: u64, value: u64, access: Access) -> Result<u64, M::Stop> {
        self.0.store_exclusive(address, value, access)
    }
    fn store_exclusive_pair(&mut self, address: u64, values: [u64; 2], access: Access) -> Result<u64, M::Stop> {
        self.0.store_exclusive_pair(address, values.into(), access)
    }
    fn atomic(&mut self, op: AtomicOp, address: u64, operand: u64, access: Access) -> Result<u64, M::Stop> {
        self.0.atomic(op, address, operand, access)
    }
    fn compare_swap(&mut self, address: u64, expected: u64, new: u64, access: Access) -> Result<u64, M::Stop> {
        self.0.compare_swap(address, expected, new, access)
    }
    fn compare_swap_pair(
        &mut self,
        address: u64,
        expected: [u64; 2],
        new: [u64; 2],
        access: Access,
    ) -> Result<(u64, u64), M::Stop> {
        self.0.compare_swap_pair(address, expected.into(), new.into(), access)
    }

    fn tags(&mut self, op: TagOp, address: u64, value: u64) -> Result<u64, M::Stop> {
        self.0.tags(op, address, value)
    }

    fn check_sp_alignment(&mut self) -> Result<(), M::Stop> {
        self.0.check_sp_alignment()
    }
    fn check_fp(&mut self) -> Result<(), M::Stop> {
        self.0.check_fp()
    }
    fn call(&mut self, function: Pure, operands: [u128; 3]) -> u128 {
        from_quad(self.0.pure(function, operands.map(to_quad::<M>)))
    }
    fn assist(&mut self, offset: u32, word: u32, op: Assist, operands: [u64; 3]) -> Result<u64, M::Stop> {
        self.0.assist(at(offset, word), op, operands)
    }
    fn system(&mut self, call: &Call, argument: u64) -> Result<u64, M::Stop> {
        self.0.system(call.insn, call.op, argument)
    }

    fn branch(&mut self, kind: BranchKind, target: u64) -> Result<(), M::Stop> {
        self.0.branch(kind, target)
    }
    fn branch_if(&mut self, condition: u64, target: u64) -> Result<(), M::Stop> {
        self.0.branch_if(condition, target)
    }
    fn not_done(&mut self, offset: u32, word: u32) -> Result<(), M::Stop> {
        self.0.not_done(at(offset, word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decoder;
    use crate::eval::Flat;
    use crate::testing::Rng;

    fn lift(mode: Mode, words: &[u32]) -> Block<Call> {
        let decoder = Decoder::<Lift>::new();
        lift_block(
            mode,
            words.iter().enumerate().map(|(at, &word)| {
                let (id, spec) = decoder.decode(word).expect("allocated");
                (id, Insn::new(word, 4 * at as u32, (spec.prepare)(word).expect("not reserved")))
            }),
        )
    }

    #[test]
    fn text() {
        let loop_end = [
            0xf841_0c20, // ldr x0, [x1, #16]!
            0xeb02_003f, // cmp x1, x2
            0x5400_0041, // b.ne .+8
            0xd503_201f, // nop: not reached
        ];
        assert_eq!(
            lift(Mode::Simplify, &loop_end).to_string(),
            "insn +0x0 f8410c20\n  v0 = x1\n  v1 = 0x10\n  v2 = add v0, v1\n  v3 = load.8 [v2]\n  x1 = v2\n  x0 = v3\n\
             insn +0x4 eb02003f\n  v4 = x2\n  v5 = not v4\n  v6 = 0x1\n  v7, v8 = add_with_carry.64 v2, v5, v6\n  \
             nzcv = v8\n\
             insn +0x8 54000041\n  v9 = pc +0x8\n  v10 = 0x8\n  v11 = add v9, v10\n  v12 = condition.ne v8\n  \
             branch_if v12, v11\n"
        );
    }

    /// Every operation of [`Word`] on three words, 64 results.
    fn words<W: Word>(a: W, b: W, c: W) -> Vec<W> {
        let widths = [1, 5, 8, 16, 31, 32, 33, 63, 64];
        let mut all = vec![a + b, a - b, a * b, a & b, a | b, a ^ b, !a, a.shl(b), a.lshr(b), a.ashr(b), a.ror(b)];
        all.extend(widths.map(|bits| a.zext(bits)));
        all.extend(widths.map(|bits| a.sext(bits)));
        all.extend([a.is_eq(b), a.is_ult(b), a.is_slt(b), a.is_ne(b), a.low32(), a.select(b, c), c.select(b, a)]);
        all.extend([a.clz(), a.rbit(), a.rev(), a.popcount(), a.umulh(b), a.smulh(b), a.udiv(b), a.sdiv(b)]);
        all
    }

    fn machine_words<M: Machine>(m: &mut M, [a, b, c]: [M::Word; 3]) -> Vec<M::Word> {
        let mut all = words(a, b, c);
        for bits in [32, 64] {
            let carry = c & M::Word::from(1);
            let (result, flags) = m.add_with_carry(bits, a, b, carry);
            all.extend([result, flags, m.logic_flags(bits, a)]);
        }
        let flags = a & M::Word::from(0xf << 28);
        m.set_nzcv(flags);
        all.extend((0..16).map(|cond| m.condition(cond)));
        let quad = M::Quad::from_halves(a, b);
        all.extend([quad.lo(), quad.hi(), M::Quad::from_lo(c).hi()]);
        all
    }

    /// IR's operations give what the words of numbers give, whether they fold or run.
    #[test]
    fn primitives_agree() {
        let mut rng = Rng::new(7);
        let chunks = machine_words(&mut Flat::default(), [0; 3]).len().div_ceil(28);
        for _ in 0..500 {
            let numbers = [rng.word(), rng.word(), rng.word()];
            let expected = machine_words(&mut Flat::default(), numbers);
            for mode in [Mode::Literal, Mode::Simplify] {
                for (from, constants) in (0..chunks).flat_map(|chunk| [(28 * chunk, true), (28 * chunk, false)]) {
                    let block = build(mode, |m| {
                        m.none([], |[]| Op::InsnStart { offset: 0, word: 0 });
                        let terms: [Term; 3] =
                            core::array::from_fn(|n| if constants { Term::from(numbers[n]) } else { m.x(n as Reg) });
                        for (n, term) in machine_words(m, terms).into_iter().skip(from).take(28).enumerate() {
                            m.set_x(3 + n as Reg, term);
                        }
                    });
                    assert_eq!(ir::verify(&block), Ok(()));
                    let mut state = Flat::default();
                    state.x[..3].copy_from_slice(&numbers);
                    ir::eval(&block, &mut OnMachine(&mut state));
                    let expected = &expected[from..(from + 28).min(expected.len())];
                    assert_eq!(&state.x[3..3 + expected.len()], expected, "{numbers:x?} from {from}:\n{block}");
                }
            }
        }
    }
}
