//! Operands by name.

use std::fmt::{Formatter, Result};

use super::field::{Sign, expression, plain};
use super::{lower_case, sys};
use crate::base::bitmask64;

/// The names of conditions, by number.
const CONDITIONS: [&str; 16] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];
/// Shifts of registers, by number.
const SHIFTS: [&str; 4] = ["lsl", "lsr", "asr", "ror"];
/// Extensions of registers, by number.
const EXTENDS: [&str; 8] = ["uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"];

/// What operands are read from.
#[derive(Clone, Copy)]
pub struct Operands<'a> {
    pub word: u32,
    pub pc: u64,
    pub mnemonic: &'a str,
}

impl Operands<'_> {
    /// The operand `name`. One that is not known is written as `{name?}`; a test of the tables finds it.
    pub fn write(self, f: &mut Formatter<'_>, name: &str) -> Result {
        if name.starts_with(|c: char| c.is_ascii_uppercase()) {
            return self.register(f, name);
        }
        match name {
            "st" => {
                f.write_str("st")?;
                lower_case(f, &self.mnemonic[2..])
            }
            ",shift" => self.shift(f),
            "extended" => self.extended(f),
            "cond" => f.write_str(CONDITIONS[self.bits(15, 12) as usize]),
            "!cond" => f.write_str(CONDITIONS[self.bits(15, 12) as usize ^ 1]),
            "bcond" => f.write_str(CONDITIONS[self.bits(3, 0) as usize]),
            ",lsl12" => f.write_str(["", ", lsl #12"][self.bits(22, 22) as usize]),
            "bitmask" => write!(f, "0x{:x}", bitmask64(self.word).unwrap_or_default() & self.register_mask()),
            "wide" => write!(f, "0x{:x}", self.wide()),
            "!wide" => write!(f, "0x{:x}", !self.wide() & self.register_mask()),
            ",hw" => self.half_word(f),
            // -immr modulo the register's size.
            "lsb" => write!(f, "{}", self.bits(21, 16).wrapping_neg() & (31 | self.bits(31, 31) << 5)),
            "width" => write!(f, "{}", self.bits(15, 10) + 1 - self.bits(21, 16)),
            "adr" => self.target(f, self.signed(23, 5) << 2 | i64::from(self.bits(30, 29))),
            "adrp" => {
                let offset = (self.signed(23, 5) << 2 | i64::from(self.bits(30, 29))) << 12;
                write!(f, "0x{:x}", (self.pc & !0xfff).wrapping_add(offset as u64))
            }
            "label26" => self.target(f, self.signed(25, 0) << 2),
            "label19" => self.target(f, self.signed(23, 5) << 2),
            "label14" => self.target(f, self.signed(18, 5) << 2),
            "bit" => write!(f, "{}", self.bits(31, 31) << 5 | self.bits(23, 19)),
            ",uimm12" => offset(f, i64::from(self.bits(21, 10)) << self.access_log2()),
            ",simm7" => offset(f, self.pair_offset()),
            "simm7" => write!(f, "{}", self.pair_offset()),
            "simm10" => write!(f, "{}", self.pauth_offset()),
            ",simm10" => offset(f, self.pauth_offset()),
            "regoff" => self.register_offset(f),
            "prfop" => sys::prefetch(f, self.bits(4, 0)),
            "rprfop" => sys::range_prefetch(f, self.bits(15, 15) << 5 | self.bits(13, 12) << 3 | self.bits(2, 0)),
            "barriernxs" => f.write_str(["oshnxs", "nshnxs", "ishnxs", "synxs"][self.bits(11, 10) as usize]),
            "barrier" => sys::barrier(f, self.bits(11, 8)),
            "bti" => f.write_str(["", " c", " j", " jc"][self.bits(7, 6) as usize]),
            "pstate" => f.write_str(sys::pstate_field(self.bits(18, 16), self.bits(7, 5))),
            "sysreg" => sys::register(f, self.word),
            "sys" => sys::system(f, self.word),
            "sysl" => sys::system_load(f, self.word),
            "sysp" => sys::system_pair(f, self.word),
            _ => match self.write_vector(f, name) {
                Some(result) => result,
                None => self.number(f, name),
            },
        }
    }

    /// Bits \[hi:lo\].
    pub fn bits(self, hi: u32, lo: u32) -> u32 {
        self.word >> lo & (u32::MAX >> (31 - (hi - lo)))
    }

    fn signed(self, hi: u32, lo: u32) -> i64 {
        i64::from((self.word << (31 - hi)) as i32 >> (31 - hi + lo))
    }

    /// A register: its kind, its field, `+1`, `|sp`, or the arrangement of a vector.
    fn register(self, f: &mut Formatter<'_>, name: &str) -> Result {
        if let Some((field, arrangement)) = name.strip_prefix('V').and_then(|rest| rest.split_once('.')) {
            return match plain(field, self.word) {
                Some(number) => self.vector_register(f, number, arrangement),
                None => write!(f, "{{{name}?}}"),
            };
        }
        let (kind, field) = match self.scalar_kind(name) {
            Some(kind_and_field) => kind_and_field,
            None if name.starts_with('R') => ([b'W', b'X'][self.bits(31, 31) as usize], &name[1..]),
            // The general register of an element: X for one of 8 bytes.
            None if name.starts_with('G') => (if self.bits(19, 16) == 8 { b'X' } else { b'W' }, &name[1..]),
            None => (name.as_bytes()[0], &name[1..]),
        };
        let (field, sp) = match field.strip_suffix("|sp") {
            Some(field) => (field, true),
            None => (field, false),
        };
        let (field, next) = match field.strip_suffix("+1") {
            Some(field) => (field, 1),
            None => (field, 0),
        };
        match plain(field, self.word) {
            Some(number) => general(f, kind, (number + next) & 31, sp),
            None => write!(f, "{{{name}?}}"),
        }
    }

    /// A number: an expression and its notation.
    fn number(self, f: &mut Formatter<'_>, name: &str) -> Result {
        let (name, or_nothing) = match name.strip_prefix(',') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let (text, notation) = name.split_once(':').unwrap_or((name, ""));
        let sign = if notation == "s" { Sign::Signed } else { Sign::Unsigned };
        let Some(number) = expression(text, self.word, sign) else {
            return write!(f, "{{{name}?}}");
        };
        if or_nothing {
            return offset(f, number);
        }
        if notation == "x" { write!(f, "0x{number:x}") } else { write!(f, "{number}") }
    }

    fn target(self, f: &mut Formatter<'_>, offset: i64) -> Result {
        write!(f, "0x{:x}", self.pc.wrapping_add(offset as u64))
    }

    /// The shift of Rm, unless it is LSL by 0.
    fn shift(self, f: &mut Formatter<'_>) -> Result {
        match (self.bits(23, 22), self.bits(15, 10)) {
            (0, 0) => Ok(()),
            (kind, amount) => write!(f, ", {} #{amount}", SHIFTS[kind as usize]),
        }
    }

    /// All bits of a register of the size that sf, bit 31, says.
    fn register_mask(self) -> u64 {
        u64::MAX >> (32 - 32 * self.bits(31, 31))
    }

    /// Rm, extended. Where the stack pointer takes part LSL is the name of the extension that does nothing.
    fn extended(self, f: &mut Formatter<'_>) -> Result {
        let wide = self.bits(31, 31) == 1;
        let (option, amount) = (self.bits(15, 13), self.bits(12, 10));
        general(f, if wide && option & 3 == 3 { b'X' } else { b'W' }, self.bits(20, 16), false)?;
        let sets_flags = self.bits(29, 29) == 1;
        let stack_pointer = self.bits(9, 5) == 31 || !sets_flags && self.bits(4, 0) == 31;
        if stack_pointer && option == if wide { 3 } else { 2 } {
            return if amount == 0 { Ok(()) } else { write!(f, ", lsl #{amount}") };
        }
        write!(f, ", {}", EXTENDS[option as usize])?;
        if amount == 0 { Ok(()) } else { write!(f, " #{amount}") }
    }

    /// imm16, shifted.
    fn wide(self) -> u64 {
        u64::from(self.bits(20, 5)) << (self.bits(22, 21) * 16)
    }

    /// The shift of imm16, unless 0.
    fn half_word(self, f: &mut Formatter<'_>) -> Result {
        match self.bits(22, 21) {
            0 => Ok(()),
            half => write!(f, ", lsl #{}", half * 16),
        }
    }

    /// log2 of the bytes that a load or store of one register moves.
    pub fn access_log2(self) -> u32 {
        let vector = self.bits(26, 26);
        self.bits(31, 30) | (vector & self.bits(23, 23)) << 2
    }

    /// imm7 of a pair, scaled.
    fn pair_offset(self) -> i64 {
        let (opc, vector, load) = (self.bits(31, 30), self.bits(26, 26), self.bits(22, 22));
        let log2 = match (vector, opc, load) {
            (1, _, _) => 2 + opc,
            // LDPSW; STGP.
            (_, 1, 1) => 2,
            (_, 1, _) => 4,
            _ => 2 + opc / 2,
        };
        self.signed(21, 15) << log2
    }

    /// S:imm9 of LDRAA and LDRAB, scaled.
    fn pauth_offset(self) -> i64 {
        let magnitude = i64::from(self.bits(20, 12));
        (magnitude - (i64::from(self.bits(22, 22)) << 9)) << 3
    }

    /// Rm as the offset of an address.
    fn register_offset(self, f: &mut Formatter<'_>) -> Result {
        let (option, scaled) = (self.bits(15, 13), self.bits(12, 12) == 1);
        general(f, if option & 1 == 1 { b'X' } else { b'W' }, self.bits(20, 16), false)?;
        let extend = if option == 3 { "lsl" } else { EXTENDS[option as usize] };
        match (option, scaled) {
            (3, false) => Ok(()),
            (_, false) => write!(f, ", {extend}"),
            (_, true) => write!(f, ", {extend} #{}", self.access_log2()),
        }
    }
}

/// `, #` and the number, unless it is 0.
pub fn offset(f: &mut Formatter<'_>, number: i64) -> Result {
    if number == 0 { Ok(()) } else { write!(f, ", #{number}") }
}

/// Register `number` of the kind that letter `kind` names; 31 of W and X is SP where `sp`, else ZR.
pub fn general(f: &mut Formatter<'_>, kind: u8, number: u32, sp: bool) -> Result {
    match (kind, number, sp) {
        (b'W', 31, true) => f.write_str("wsp"),
        (b'X', 31, true) => f.write_str("sp"),
        (b'W', 31, false) => f.write_str("wzr"),
        (b'X', 31, false) => f.write_str("xzr"),
        _ => write!(f, "{}{number}", kind.to_ascii_lowercase() as char),
    }
}
