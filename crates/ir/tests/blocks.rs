//! Blocks as text, what the verifier refuses, exits.

extern crate vambrace_ir as ir;

mod common;

use common::{Recorder, Stop};
use ir::*;

type Test = Builder<u32>;

fn start(b: &mut Test, offset: u32) {
    b.push(Op::InsnStart { offset, word: 0xd503_201f });
}

/// One of every operation that has a form of its own in text.
fn everything(mode: Mode) -> Block<u32> {
    let mut b = Test::new(mode);
    start(&mut b, 0);
    let (x1, sp) = (b.read_x(1), b.read_sp());
    let sum = b.binary(Binary::Add, x1, Operand::Const(8));
    let (result, flags) = b.add_with_carry(Width::W32, sum, sp, Operand::Const(1));
    let narrow = b.unary(Unary::Zext(32), result);
    b.write_nzcv(flags);
    b.write_x(1, narrow);
    b.write_x(31, sum);
    start(&mut b, 4);
    b.push(Op::CheckSpAlignment);
    let (address, value) = (b.value(sp), b.value(x1));
    b.push(Op::Store { address, value, access: Access::unprivileged(1) });
    let loaded = b.one(Op::Load { address, access: Access::ordered(3, Order::AcquirePc) });
    let holds = b.condition(12);
    let chosen = b.select(holds, loaded, Operand::Const(0));
    b.write_sp(chosen);
    start(&mut b, 8);
    b.push(Op::CheckFp);
    let quad = b.push(Op::LoadQuad { address, access: Access::plain(3) });
    let hi = b.hi(quad);
    let other = b.quad_from_halves(hi, Operand::Const(0));
    let one = b.quad_from_halves(Operand::Const(1), Operand::Const(0));
    let function = Pure { name: "vector_add_16", run: |_, [a, ..]| a };
    let called = b.push(Op::Call { function, operands: [other, one, quad] });
    b.write_q(7, called);
    start(&mut b, 12);
    let operand = b.value(hi);
    let access = Access::ordered(2, Order::AcquireRelease);
    b.push(Op::Atomic { op: AtomicOp::UnsignedMax, address, operand, access });
    let (first, second) =
        b.two(Op::CompareSwapPair { address, expected: [value, operand], new: [operand, value], access });
    b.push(Op::StoreExclusive { address, value, access: Access::plain(0) });
    b.push(Op::System { call: 5, argument: value });
    let flags = b.read_nzcv();
    b.write_x(2, flags);
    let either = b.binary(Binary::IsUlt, first, second);
    let target = b.push(Op::Pc { offset: 12 });
    let condition = b.value(either);
    b.push(Op::BranchIf { condition, target });
    b.finish()
}

#[test]
fn literal_text() {
    let block = everything(Mode::Literal);
    assert_eq!(verify(&block), Ok(()));
    assert_eq!(block.to_string(), include_str!("literal.txt"));
}

#[test]
fn simplified_text() {
    let block = everything(Mode::Simplify);
    assert_eq!(verify(&block), Ok(()));
    assert_eq!(block.to_string(), include_str!("simplified.txt"));
    assert_eq!(same_effects(&everything(Mode::Literal), &block), Ok(()));
}

fn block(ops: impl IntoIterator<Item = Op<u32>>) -> Block<u32> {
    let mut block = Block::new();
    for op in ops {
        block.push(op);
    }
    block
}

const START: Op<u32> = Op::InsnStart { offset: 0, word: 0 };

#[test]
fn the_verifier_refuses() {
    let v = Value;
    let plain = Access::plain(3);
    let refused = [
        (vec![START, Op::WriteX(0, v(0))], Invalid::Undefined { at: 1, value: v(0) }),
        (vec![START, Op::Unary(Unary::Not, v(0))], Invalid::Undefined { at: 1, value: v(0) }),
        (vec![START, Op::ReadQ(0), Op::WriteX(0, v(0))], Invalid::Type { at: 2, value: v(0), needs: Type::Word }),
        (vec![START, Op::ReadX(0), Op::WriteQ(0, v(0))], Invalid::Type { at: 2, value: v(0), needs: Type::Quad }),
        (vec![START, Op::ReadX(31)], Invalid::Range { at: 1, number: 31 }),
        (vec![Op::Const(0), Op::Unary(Unary::Zext(65), v(0))], Invalid::Range { at: 1, number: 65 }),
        (vec![Op::Const(0), Op::Unary(Unary::Sext(0), v(0))], Invalid::Range { at: 1, number: 0 }),
        (vec![START, Op::NotDone, START], Invalid::AfterControl { at: 2 }),
        (vec![Op::ReadX(0)], Invalid::Place { at: 0 }),
        (vec![START, START], Invalid::Place { at: 1 }),
        (
            vec![START, Op::ReadX(0), Op::WriteX(1, v(0)), Op::Load { address: v(0), access: plain }],
            Invalid::NotRestartable { at: 3 },
        ),
    ];
    for (ops, why) in refused {
        assert_eq!(verify(&block(ops)), Err(why));
    }
    let next = Op::InsnStart { offset: 4, word: 0 };
    let ops = [START, Op::ReadX(0), Op::WriteX(1, v(0)), next, Op::Load { address: v(0), access: plain }];
    assert_eq!(verify(&block(ops)), Ok(()));
}

#[test]
fn effects_differ() {
    let load = |log2| Op::Load { address: Value(0), access: Access::plain(log2) };
    let one = block([START, Op::ReadX(0), load(2), load(3)]);
    assert_eq!(same_effects(&one, &block([START, Op::ReadX(5), load(2), load(3)])), Ok(()));
    let swapped = block([START, Op::ReadX(0), load(3), load(2)]);
    assert_eq!(same_effects(&one, &swapped), Err(Differs { before: 2, after: 2 }));
    assert_eq!(same_effects(&one, &block([START, Op::ReadX(0), load(2)])), Err(Differs { before: 3, after: 3 }));
}

#[test]
fn a_stop_leaves_the_instruction_to_run_again() {
    let access = Access::plain(2);
    let block = block([
        START,
        Op::ReadX(0),
        Op::WriteX(1, Value(0)),
        Op::InsnStart { offset: 4, word: 0 },
        Op::Load { address: Value(0), access },
        Op::WriteX(2, Value(1)),
        Op::InsnStart { offset: 8, word: 7 },
        Op::NotDone,
    ]);
    let mut state = Recorder { limit: Some(16), ..Recorder::default() };
    state.x[0] = 20;
    assert_eq!(eval(&block, &mut state), Exit { started: 2, offset: 4, stop: Some(Stop::Limit(20)) });
    assert_eq!((state.x[1], state.x[2]), (20, 0));
    state.x[0] = 12;
    assert_eq!(eval(&block, &mut state), Exit { started: 3, offset: 8, stop: Some(Stop::NotDone(8, 7)) });
    assert_eq!(state.x[2], common::mix(12) >> 32);
    let system = self::block([START, Op::ReadX(0), Op::System { call: 99, argument: Value(0) }]);
    assert_eq!(eval(&system, &mut state), Exit { started: 1, offset: 0, stop: Some(Stop::System) });
}

#[test]
fn unused_values_go() {
    let access = Access::plain(0);
    let pruned = block([
        START,
        Op::ReadX(3),
        Op::ReadX(4),
        Op::Unary(Unary::Not, Value(0)),
        Op::Load { address: Value(1), access },
        Op::AddWithCarry { width: Width::W64, a: Value(1), b: Value(1), carry: Value(3) },
        Op::WriteX(0, Value(5)),
    ])
    .pruned();
    let expected = block([
        START,
        Op::ReadX(4),
        Op::Load { address: Value(0), access },
        Op::AddWithCarry { width: Width::W64, a: Value(0), b: Value(0), carry: Value(1) },
        Op::WriteX(0, Value(3)),
    ]);
    assert_eq!(pruned, expected);
}

#[test]
fn overwritten_writes_go() {
    let load = Op::Load { address: Value(0), access: Access::plain(0) };
    let next = Op::InsnStart { offset: 4, word: 0 };
    let (flags, x1) = (Op::WriteNzcv(Value(0)), Op::WriteX(1, Value(0)));
    let ops = [START, Op::ReadX(0), flags, x1, next, flags, Op::ReadX(1), x1];
    assert_eq!(block(ops).without_overwritten(), block([START, Op::ReadX(0), x1, next, flags, Op::ReadX(1), x1]));
    let seen = block([START, Op::ReadX(0), flags, x1, next, load, flags, x1]);
    assert_eq!(seen.clone().without_overwritten(), seen);
}
