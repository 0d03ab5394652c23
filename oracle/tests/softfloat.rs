//! Scalar floating point beside Berkeley SoftFloat, on random and special operands, in every rounding mode, with FZ, FZ16
//! and DN. Numbers and flags are SoftFloat's. Its build detects tininess after rounding; where that matters, a second call
//! that truncates says whether the result was tiny before. NaN results are compared with the manual's rules
//! (FPProcessNaN, FPConvertNaN), written down here. BFCVT is not here: SoftFloat's conversion truncates.
//!
//! `VAMBRACE_CASES` says how many operations; the default is for CI.

use std::collections::BTreeMap;

use sem::eval::Flat;
use sem::testing::Rng;
use softfloat_wrapper::{ExceptionFlags, F16, F32, F64, Float, RoundingMode};
use vambrace_oracle::generate::element;

const DN: u64 = 1 << 25;
const FZ: u64 = 1 << 24;
const FZ16: u64 = 1 << 19;
const IOC: u64 = 1;
const DZC: u64 = 2;
const OFC: u64 = 4;
const UFC: u64 = 8;
const IXC: u64 = 16;
const IDC: u64 = 128;

/// A format: its width, and that of its fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Format {
    bits: u32,
    fraction: u32,
}

const HALF: Format = Format { bits: 16, fraction: 10 };
const SINGLE: Format = Format { bits: 32, fraction: 23 };
const DOUBLE: Format = Format { bits: 64, fraction: 52 };

impl Format {
    fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }
    fn fraction_mask(self) -> u64 {
        (1 << self.fraction) - 1
    }
    fn infinity(self) -> u64 {
        (self.sign() - 1) & !self.fraction_mask()
    }
    fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }
    fn default_nan(self) -> u64 {
        self.infinity() | self.quiet()
    }
    fn is_nan(self, value: u64) -> bool {
        value & (self.sign() - 1) > self.infinity()
    }
    fn is_signalling(self, value: u64) -> bool {
        self.is_nan(value) && value & self.quiet() == 0
    }
    fn is_denormal(self, value: u64) -> bool {
        value & self.infinity() == 0 && value & self.fraction_mask() != 0
    }
    /// The field `ftype` of scalar instructions.
    fn ftype(self) -> u32 {
        match self.bits {
            16 => 3 << 22,
            32 => 0,
            _ => 1 << 22,
        }
    }
    /// The bit of FPCR that flushes this format's denormals.
    fn flush(self) -> u64 {
        if self == HALF { FZ16 } else { FZ }
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
enum Op {
    Two(Two),
    Sqrt,
    /// a*b+c with the signs of the product and of the addend.
    Fused {
        minus_product: bool,
        minus_addend: bool,
    },
    /// To an integral value; the mode, or FPCR's; does it say that it is inexact?
    Round {
        mode: Option<RoundingMode>,
        exact: bool,
    },
    Compare {
        signalling: bool,
    },
    ToFloat(Format),
    ToInt {
        signed: bool,
        bits: u32,
        mode: RoundingMode,
    },
    FromInt {
        signed: bool,
        bits: u32,
    },
}

#[derive(Clone, Copy, Debug)]
enum Two {
    Add,
    Sub,
    Mul,
    NegatedMul,
    Div,
}

/// An instruction: its name, its format (of the operands, or of the result of [`Op::FromInt`]), its word.
struct Instruction {
    name: String,
    format: Format,
    op: Op,
    word: u32,
}

/// Rd 0, Rn 1, Rm 2, Ra 3.
fn instructions() -> Vec<Instruction> {
    let mut all = Vec::new();
    for format in [HALF, SINGLE, DOUBLE] {
        let mut add = |name: &str, op, word: u32| {
            all.push(Instruction {
                name: format!("{name} {}", format.bits),
                format,
                op,
                word: word | format.ftype() | 1 << 5,
            });
        };
        let two = [("FMUL", Two::Mul, 0), ("FDIV", Two::Div, 1), ("FADD", Two::Add, 2), ("FSUB", Two::Sub, 3)];
        for (name, op, opcode) in two.into_iter().chain([("FNMUL", Two::NegatedMul, 8)]) {
            add(name, Op::Two(op), 0x1e20_0800 | 2 << 16 | opcode << 12);
        }
        add("FSQRT", Op::Sqrt, 0x1e21_c000);
        for (name, word, minus_product, minus_addend) in [
            ("FMADD", 0x1f00_0000, false, false),
            ("FMSUB", 0x1f00_8000, true, false),
            ("FNMADD", 0x1f20_0000, true, true),
            ("FNMSUB", 0x1f20_8000, false, true),
        ] {
            add(name, Op::Fused { minus_product, minus_addend }, word | 2 << 16 | 3 << 10);
        }
        use RoundingMode::*;
        let modes =
            [("N", TiesToEven), ("P", TowardPositive), ("M", TowardNegative), ("Z", TowardZero), ("A", TiesToAway)];
        for (opcode, (letter, mode)) in (8..).zip(modes) {
            add(&format!("FRINT{letter}"), Op::Round { mode: Some(mode), exact: false }, 0x1e20_4000 | opcode << 15);
        }
        add("FRINTX", Op::Round { mode: None, exact: true }, 0x1e27_4000);
        add("FRINTI", Op::Round { mode: None, exact: false }, 0x1e27_c000);
        add("FCMP", Op::Compare { signalling: false }, 0x1e20_2000 | 2 << 16);
        add("FCMPE", Op::Compare { signalling: true }, 0x1e20_2010 | 2 << 16);
        for (name, to, opcode) in [("FCVT S", SINGLE, 4), ("FCVT D", DOUBLE, 5), ("FCVT H", HALF, 7)] {
            if to != format {
                add(name, Op::ToFloat(to), 0x1e20_4000 | opcode << 15);
            }
        }
        for (bits, sf) in [(32, 0), (64, 1u32 << 31)] {
            // rmode and opcode of signed conversions; A has an opcode of its own.
            let fields = [(0, 0), (1, 0), (2, 0), (3, 0), (0, 4)];
            for ((letter, mode), (rmode, opcode)) in modes.into_iter().zip(fields) {
                for (sign, signed, unsigned) in [("S", true, 0), ("U", false, 1)] {
                    let word = 0x1e20_0000 | sf | rmode << 19 | (opcode | unsigned) << 16;
                    add(&format!("FCVT{letter}{sign} {bits}"), Op::ToInt { signed, bits, mode }, word);
                }
            }
            add(&format!("SCVTF {bits}"), Op::FromInt { signed: true, bits }, 0x1e22_0000 | sf);
            add(&format!("UCVTF {bits}"), Op::FromInt { signed: false, bits }, 0x1e23_0000 | sf);
        }
    }
    all
}

fn mode(fpcr: u64) -> RoundingMode {
    use RoundingMode::*;
    [TiesToEven, TowardPositive, TowardNegative, TowardZero][(fpcr >> 22 & 3) as usize]
}

/// SoftFloat's flags since the last call, as FPSR has them.
fn flags() -> u64 {
    let mut flags = ExceptionFlags::default();
    flags.get();
    let pairs = [
        (flags.is_invalid(), IOC),
        (flags.is_infinite(), DZC),
        (flags.is_overflow(), OFC),
        (flags.is_underflow(), UFC),
        (flags.is_inexact(), IXC),
    ];
    ExceptionFlags::default().set();
    pairs.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, flag)| all | flag)
}

/// What SoftFloat gives for numbers: the bits of the result.
fn numbers<F: Float + Copy>(op: Op, [a, b, c]: [F; 3], rounding: RoundingMode, integer: u64) -> u64
where
    F::Payload: Into<u64>,
{
    let bits = |value: F| -> u64 { value.to_bits().into() };
    match op {
        Op::Two(Two::Add) => bits(a.add(b, rounding)),
        Op::Two(Two::Sub) => bits(a.sub(b, rounding)),
        Op::Two(Two::Mul) => bits(a.mul(b, rounding)),
        Op::Two(Two::NegatedMul) => bits(a.mul(b, rounding).neg()),
        Op::Two(Two::Div) => bits(a.div(b, rounding)),
        Op::Sqrt => bits(a.sqrt(rounding)),
        Op::Fused { minus_product, minus_addend } => {
            let (a, c) = (if minus_product { a.neg() } else { a }, if minus_addend { c.neg() } else { c });
            bits(a.fused_mul_add(b, c, rounding))
        }
        Op::Round { mode, .. } => bits(a.round_to_integral(mode.unwrap_or(rounding))),
        Op::Compare { .. } => {
            // NZCV of FPCompare.
            if Float::eq(&a, b) {
                0x6000_0000
            } else if a.lt_quiet(b) {
                0x8000_0000
            } else {
                0x2000_0000
            }
        }
        Op::ToFloat(HALF) => a.to_f16(rounding).to_bits().into(),
        Op::ToFloat(SINGLE) => a.to_f32(rounding).to_bits().into(),
        Op::ToFloat(_) => a.to_f64(rounding).to_bits(),
        Op::ToInt { signed: true, bits: 32, mode } => u64::from(a.to_i32(mode, true) as u32),
        Op::ToInt { signed: true, mode, .. } => a.to_i64(mode, true) as u64,
        Op::ToInt { signed: false, bits: 32, mode } => u64::from(a.to_u32(mode, true)),
        Op::ToInt { signed: false, mode, .. } => a.to_u64(mode, true),
        Op::FromInt { signed: true, bits: 32 } => bits(F::from_i32(integer as i32, rounding)),
        Op::FromInt { signed: true, .. } => bits(F::from_i64(integer as i64, rounding)),
        Op::FromInt { signed: false, bits: 32 } => bits(F::from_u32(integer as u32, rounding)),
        Op::FromInt { signed: false, .. } => bits(F::from_u64(integer, rounding)),
    }
}

/// The result (a register's bits, or NZCV) and FPSR.
fn expected(instruction: &Instruction, operands: [u64; 3], integer: u64, fpcr: u64) -> (u64, u64) {
    let Instruction { format, op, .. } = *instruction;
    let mut fpsr = 0;
    // FPUnpack; conversions between formats do not flush half precision (FPUnpackCV).
    let flushes = fpcr & format.flush() != 0 && !(matches!(op, Op::ToFloat(_)) && format == HALF);
    let count = match op {
        Op::Two(_) | Op::Compare { .. } => 2,
        Op::Fused { .. } => 3,
        Op::FromInt { .. } => 0,
        _ => 1,
    };
    let mut values = operands;
    for value in &mut values[..count] {
        if flushes && format.is_denormal(*value) {
            *value &= format.sign();
            fpsr |= if format == HALF { 0 } else { IDC };
        }
    }
    if let Some((result, flag)) = nan(format, op, &values[..count], fpcr) {
        return (result, fpsr | flag);
    }
    let rounding = mode(fpcr);
    let [a, b, c] = values;
    ExceptionFlags::default().set();
    let compute = |rounding| match format.bits {
        16 => numbers(op, [a, b, c].map(|v| F16::from_bits(v as u16)), rounding, integer),
        32 => numbers(op, [a, b, c].map(|v| F32::from_bits(v as u32)), rounding, integer),
        _ => numbers(op, [a, b, c].map(F64::from_bits), rounding, integer),
    };
    let mut result = compute(rounding);
    let mut flags = flags();
    let to = match op {
        Op::ToFloat(to) => to,
        Op::Compare { .. } | Op::ToInt { .. } => return (result, fpsr | flags),
        Op::Round { exact, .. } => {
            return (result, fpsr | flags & !IXC | if exact && result != a { IXC } else { 0 });
        }
        _ => format,
    };
    if to.is_nan(result) {
        // An invalid operation on numbers. FNMUL negates what FPMul gives, NaN or not.
        let negated = matches!(op, Op::Two(Two::NegatedMul));
        result = to.default_nan() ^ if negated { to.sign() } else { 0 };
    }
    if flags & IXC != 0 && result & (to.sign() - 1) == 1 << to.fraction {
        // The least normal number: tiny before rounding where truncation gives less.
        if compute(RoundingMode::TowardZero) & (to.sign() - 1) < 1 << to.fraction {
            flags |= UFC;
        }
    }
    // FPRound: tiny before rounding flushes, and only UFC says so; conversions to half precision do not (FPRoundCV).
    let flushes = fpcr & to.flush() != 0 && !(matches!(op, Op::ToFloat(_)) && to == HALF);
    if flushes && (to.is_denormal(result) || flags & UFC != 0) {
        result &= to.sign();
        flags = flags & !(IXC | UFC) | UFC;
    }
    (result, fpsr | flags)
}

/// The result and flags where an operand is a NaN.
fn nan(format: Format, op: Op, values: &[u64], fpcr: u64) -> Option<(u64, u64)> {
    let is_signalling = values.iter().any(|v| format.is_signalling(*v));
    if !values.iter().any(|v| format.is_nan(*v)) {
        return None;
    }
    let invalid = if is_signalling { IOC } else { 0 };
    match op {
        Op::Compare { signalling } => return Some((0x3000_0000, if signalling { IOC } else { invalid })),
        Op::ToInt { .. } => return Some((0, IOC)),
        Op::ToFloat(to) => {
            let quiet = to.infinity() | to.quiet();
            // FPConvertNaN: the fraction's upper bits.
            let value = values[0];
            let sign = if value & format.sign() == 0 { 0 } else { to.sign() };
            let fraction = (value & format.fraction_mask()) << (64 - format.fraction) >> (64 - to.fraction);
            return Some((if fpcr & DN != 0 { quiet } else { sign | quiet | fraction }, invalid));
        }
        _ => {}
    }
    // FPProcessNaNs3 has the addend first; the signs were changed before.
    let mut order: Vec<u64> = values.to_vec();
    if let Op::Fused { minus_product, minus_addend } = op {
        let flip = |value: u64, minus: bool| if minus { value ^ format.sign() } else { value };
        order = vec![flip(values[2], minus_addend), flip(values[0], minus_product), values[1]];
        // FPMulAdd: infinity times zero plus a quiet NaN is an invalid operation.
        let magnitude = |value: u64| value & (format.sign() - 1);
        let (a, b) = (magnitude(values[0]), magnitude(values[1]));
        let product_invalid = a == format.infinity() && b == 0 || a == 0 && b == format.infinity();
        if product_invalid && !is_signalling {
            return Some((format.default_nan(), IOC));
        }
    }
    let first = order.iter().find(|v| format.is_signalling(**v)).or_else(|| order.iter().find(|v| format.is_nan(**v)));
    let mut result = first? | format.quiet();
    if fpcr & DN != 0 {
        result = format.default_nan();
    }
    if let Op::Two(Two::NegatedMul) = op {
        // FNMUL negates what FPMul gives, NaN or not.
        result ^= format.sign();
    }
    Some((result, invalid))
}

#[test]
fn scalar_operations() {
    let total: usize = std::env::var("VAMBRACE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400_000);
    let seed: u64 = std::env::var("VAMBRACE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let instructions = instructions();
    let mut rng = Rng::new(seed);
    let mut wrong: BTreeMap<String, (u32, String)> = BTreeMap::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for n in 0..total {
        let instruction = &instructions[n % instructions.len()];
        let fpcr = match rng.below(3) {
            0 => rng.below(4) << 22,
            _ => rng.random() & (3 << 22 | DN | FZ | FZ16),
        };
        let mut operands = [0u64; 3].map(|_| element(&mut rng, u64::from(instruction.format.bits)));
        if rng.once_in(8) {
            // Operands that meet.
            operands[1] = operands[0] ^ rng.below(4);
        }
        let integer = rng.word();
        let mut m = Flat::default();
        (m.fp.fpcr, m.x[1]) = (fpcr, integer);
        // The register's upper bits do not matter.
        let junk = u128::from(rng.random()) << 64 | u128::from(rng.random());
        for (register, value) in (1..).zip(operands) {
            let mask = u128::MAX << instruction.format.bits;
            m.q[register] = junk & mask | u128::from(value);
        }
        if let Op::FromInt { .. } = instruction.op {
            m.q[1] = junk;
        }
        m.step(instruction.word).unwrap_or_else(|stop| panic!("{}: {stop:?}", instruction.name));
        let result = match instruction.op {
            Op::Compare { .. } => m.nzcv,
            Op::ToInt { .. } => m.x[0],
            _ => {
                assert_eq!(m.q[0] >> 64, 0, "{}", instruction.name);
                m.q[0] as u64
            }
        };
        let ours = (result, m.fp.fpsr);
        let theirs = expected(instruction, operands, integer, fpcr);
        *counts.entry(instruction.name.clone()).or_default() += 1;
        if ours != theirs {
            let entry = wrong.entry(instruction.name.clone()).or_insert_with(|| {
                (0, format!("{operands:x?} {integer:x} FPCR {fpcr:x} => {theirs:x?}, ours {ours:x?}"))
            });
            entry.0 += 1;
        }
    }
    println!("SoftFloat: {total} operations of {} instructions, seed {seed}, {} differ", counts.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
