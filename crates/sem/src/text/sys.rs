//! Names of the system's operations, registers, barriers and prefetches.

use std::fmt::{Formatter, Result};

use arch::sysreg::{Enc, Reg, lookup};

use super::lower_case;
use super::operand::general;

/// A system operation by name.
struct Op {
    /// op1:CRn:CRm:op2.
    code: u16,
    /// The mnemonic and the operation.
    name: &'static str,
    /// Does it use Xt?
    register: bool,
}

const fn op(op1: u16, crn: u16, crm: u16, op2: u16, name: &'static str, register: bool) -> Op {
    Op { code: op1 << 11 | crn << 7 | crm << 3 | op2, name, register }
}

/// Lines of op1, CRn, CRm, op2, the name, and `x` where Xt is an operand.
macro_rules! operations {
    ($($op1:literal $crn:literal $crm:literal $op2:literal $name:literal $register:tt;)*) => {
        &[$(op($op1, $crn, $crm, $op2, $name, takes!($register))),*]
    };
}

macro_rules! takes {
    (x) => {
        true
    };
    (-) => {
        false
    };
}

/// Operations of SYS but TLBI. The last column says whether Xt is an operand.
const OPERATIONS: &[Op] = operations! {
    0 7 1 0 "ic ialluis" -;
    0 7 5 0 "ic iallu" -;
    3 7 5 1 "ic ivau" x;
    3 7 4 1 "dc zva" x;
    3 7 4 3 "dc gva" x;
    3 7 4 4 "dc gzva" x;
    0 7 6 1 "dc ivac" x;
    0 7 6 2 "dc isw" x;
    0 7 6 3 "dc igvac" x;
    0 7 6 4 "dc igsw" x;
    0 7 6 5 "dc igdvac" x;
    0 7 6 6 "dc igdsw" x;
    0 7 10 2 "dc csw" x;
    0 7 10 4 "dc cgsw" x;
    0 7 10 6 "dc cgdsw" x;
    0 7 14 2 "dc cisw" x;
    0 7 14 4 "dc cigsw" x;
    0 7 14 6 "dc cigdsw" x;
    3 7 10 1 "dc cvac" x;
    3 7 10 3 "dc cgvac" x;
    3 7 10 5 "dc cgdvac" x;
    3 7 11 1 "dc cvau" x;
    3 7 12 1 "dc cvap" x;
    3 7 12 3 "dc cgvap" x;
    3 7 12 5 "dc cgdvap" x;
    3 7 13 1 "dc cvadp" x;
    3 7 13 3 "dc cgvadp" x;
    3 7 13 5 "dc cgdvadp" x;
    3 7 14 1 "dc civac" x;
    3 7 14 3 "dc cigvac" x;
    3 7 14 5 "dc cigdvac" x;
    4 7 14 0 "dc cipae" x;
    4 7 14 7 "dc cigdpae" x;
    6 7 14 1 "dc cipapa" x;
    6 7 14 5 "dc cigdpapa" x;
    0 7 8 0 "at s1e1r" x;
    0 7 8 1 "at s1e1w" x;
    0 7 8 2 "at s1e0r" x;
    0 7 8 3 "at s1e0w" x;
    0 7 9 0 "at s1e1rp" x;
    0 7 9 1 "at s1e1wp" x;
    0 7 9 2 "at s1e1a" x;
    4 7 8 0 "at s1e2r" x;
    4 7 8 1 "at s1e2w" x;
    4 7 8 4 "at s12e1r" x;
    4 7 8 5 "at s12e1w" x;
    4 7 8 6 "at s12e0r" x;
    4 7 8 7 "at s12e0w" x;
    4 7 9 2 "at s1e2a" x;
    6 7 8 0 "at s1e3r" x;
    6 7 8 1 "at s1e3w" x;
    6 7 9 2 "at s1e3a" x;
    3 7 3 4 "cfp rctx" x;
    3 7 3 5 "dvp rctx" x;
    3 7 3 6 "cosp rctx" x;
    3 7 3 7 "cpp rctx" x;
    0 7 7 4 "gcspushx" -;
    0 7 7 5 "gcspopcx" -;
    0 7 7 6 "gcspopx" -;
    3 7 2 7 "trcit" x;
    3 7 7 0 "gcspushm" x;
    3 7 7 2 "gcsss1" x;
    1 7 2 4 "brb iall" -;
    1 7 2 5 "brb inj" -;
};

/// TLBI operations: op1, CRm, op2 where CRn is 8. `is`, `os` stand in the names where they belong; with CRn 9 `nxs`
/// follows.
const INVALIDATIONS: &[Op] = operations! {
    4 8 0 1 "ipas2e1is" x;
    4 8 0 2 "ripas2e1is" x;
    4 8 0 5 "ipas2le1is" x;
    4 8 0 6 "ripas2le1is" x;
    4 8 4 0 "ipas2e1os" x;
    4 8 4 1 "ipas2e1" x;
    4 8 4 2 "ripas2e1" x;
    4 8 4 3 "ripas2e1os" x;
    4 8 4 4 "ipas2le1os" x;
    4 8 4 5 "ipas2le1" x;
    4 8 4 6 "ripas2le1" x;
    4 8 4 7 "ripas2le1os" x;
    6 8 4 3 "rpaos" x;
    6 8 4 7 "rpalos" x;
    6 8 1 4 "paallos" -;
    6 8 7 4 "paall" -;
};

/// TLBI operations that exist in the Outer Shareable, Inner Shareable and non-shareable form: CRm 1, 3 and 7.
const BY_ADDRESS: &[Op] = operations! {
    0 8 0 0 "vmalle1" -;
    0 8 0 1 "vae1" x;
    0 8 0 2 "aside1" x;
    0 8 0 3 "vaae1" x;
    0 8 0 5 "vale1" x;
    0 8 0 7 "vaale1" x;
    4 8 0 0 "alle2" -;
    4 8 0 1 "vae2" x;
    4 8 0 4 "alle1" -;
    4 8 0 5 "vale2" x;
    4 8 0 6 "vmalls12e1" -;
    6 8 0 0 "alle3" -;
    6 8 0 1 "vae3" x;
    6 8 0 5 "vale3" x;
};

/// TLBI range operations in the three forms: CRm 5, 2 and 6.
const BY_RANGE: &[Op] = operations! {
    0 8 0 1 "rvae1" x;
    0 8 0 3 "rvaae1" x;
    0 8 0 5 "rvale1" x;
    0 8 0 7 "rvaale1" x;
    4 8 0 1 "rvae2" x;
    4 8 0 2 "vmallws2e1" -;
    4 8 0 5 "rvale2" x;
    6 8 0 1 "rvae3" x;
    6 8 0 5 "rvale3" x;
};

/// SYSL operations.
const GCSPOPM: u16 = op(3, 7, 7, 1, "", true).code;
const GCSSS2: u16 = op(3, 7, 7, 3, "", true).code;

/// op1:CRn:CRm:op2 of a word.
const fn code(word: u32) -> u16 {
    (word >> 5 & 0x3fff) as u16
}

/// A TLBI operation: its name, the domain that follows the name, `nxs` or nothing, and whether Xt is an operand.
fn invalidation(code: u16) -> Option<(&'static str, &'static str, &'static str, bool)> {
    let nxs = match code >> 7 & 15 {
        8 => "",
        9 => "nxs",
        _ => return None,
    };
    let of_code = |ops: &'static [Op], code: u16| ops.iter().find(|op| op.code == code);
    // CRn 8.
    let code = code & !(15 << 7) | 8 << 7;
    if let Some(op) = of_code(INVALIDATIONS, code) {
        return Some((op.name, "", nxs, op.register));
    }
    let (ops, domain) = match code >> 3 & 15 {
        1 => (BY_ADDRESS, "os"),
        3 => (BY_ADDRESS, "is"),
        7 => (BY_ADDRESS, ""),
        5 => (BY_RANGE, "os"),
        2 => (BY_RANGE, "is"),
        6 => (BY_RANGE, ""),
        _ => return None,
    };
    let op = of_code(ops, code & !(15 << 3))?;
    Some((op.name, domain, nxs, op.register))
}

/// SYS.
pub fn system(f: &mut Formatter<'_>, word: u32) -> Result {
    let (code, register) = (code(word), word & 31);
    if let Some(op) = OPERATIONS.iter().find(|op| op.code == code) {
        // The name is a mnemonic alone, or one and its first operand, after which an Xt that is ignored can stand.
        match (op.register || register != 31, op.name.contains(' ')) {
            (false, _) => return f.write_str(op.name),
            (true, true) => {
                write!(f, "{}, ", op.name)?;
                return general(f, b'X', register, false);
            }
            (true, false) if op.register => {
                write!(f, "{} ", op.name)?;
                return general(f, b'X', register, false);
            }
            (true, false) => {}
        }
    }
    if let Some((name, domain, nxs, takes)) = invalidation(code) {
        write!(f, "tlbi {name}{domain}{nxs}")?;
        return argument(f, takes || register != 31, register);
    }
    f.write_str("sys ")?;
    place(f, word)?;
    argument(f, register != 31, register)
}

fn argument(f: &mut Formatter<'_>, takes: bool, register: u32) -> Result {
    if !takes {
        return Ok(());
    }
    f.write_str(", ")?;
    general(f, b'X', register, false)
}

/// op1, CRn, CRm and op2 as operands.
fn place(f: &mut Formatter<'_>, word: u32) -> Result {
    let enc = Enc::of_word(word);
    write!(f, "#{}, c{}, c{}, #{}", enc.op1(), enc.crn(), enc.crm(), enc.op2())
}

/// SYSL.
pub fn system_load(f: &mut Formatter<'_>, word: u32) -> Result {
    let name = match code(word) {
        GCSPOPM => "gcspopm",
        GCSSS2 => "gcsss2",
        _ => "sysl",
    };
    if name == "gcspopm" && word & 31 == 31 {
        return f.write_str(name);
    }
    f.write_str(name)?;
    f.write_str(" ")?;
    if name != "sysl" {
        return general(f, b'X', word & 31, false);
    }
    general(f, b'X', word & 31, false)?;
    f.write_str(", ")?;
    place(f, word)
}

/// SYSP. TLBIP is its alias.
pub fn system_pair(f: &mut Formatter<'_>, word: u32) -> Result {
    let register = word & 31;
    let invalidation = invalidation(code(word)).filter(|op| op.3 && !matches!(op.0, "aside1" | "rpaos" | "rpalos"));
    if let Some((name, domain, nxs, _)) = invalidation {
        write!(f, "tlbip {name}{domain}{nxs}")?;
    } else {
        f.write_str("sysp ")?;
        place(f, word)?;
        if register == 31 {
            return Ok(());
        }
    }
    f.write_str(", ")?;
    general(f, b'X', register, false)?;
    f.write_str(", ")?;
    general(f, b'X', (register + 1).min(31), false)
}

/// A system register, by its name where `arch` has it.
pub fn register(f: &mut Formatter<'_>, word: u32) -> Result {
    let enc = Enc::of_word(word);
    let read = word >> 21 & 1 == 1;
    match lookup(enc) {
        // The debug channel's two directions share an encoding.
        Some(Reg::DBGDTRRX_EL0) if !read => f.write_str("dbgdtrtx_el0"),
        Some(register) => lower_case(f, register.name()),
        None => write!(f, "s{}_{}_c{}_c{}_{}", enc.op0(), enc.op1(), enc.crn(), enc.crm(), enc.op2()),
    }
}

/// The field of PSTATE that MSR (immediate) with op1 and op2 writes.
pub const fn pstate_field(op1: u32, op2: u32) -> &'static str {
    match (op1, op2) {
        (0, 3) => "uao",
        (0, 4) => "pan",
        (0, 5) => "spsel",
        (1, 0) => "allint",
        (3, 1) => "ssbs",
        (3, 2) => "dit",
        (3, 4) => "tco",
        (3, 6) => "daifset",
        (3, 7) => "daifclr",
        _ => "svcr",
    }
}

/// The options of barriers, by CRm; the reserved ones are numbers.
pub fn barrier(f: &mut Formatter<'_>, option: u32) -> Result {
    let name = match option {
        1 => "oshld",
        2 => "oshst",
        3 => "osh",
        5 => "nshld",
        6 => "nshst",
        7 => "nsh",
        9 => "ishld",
        10 => "ishst",
        11 => "ish",
        13 => "ld",
        14 => "st",
        15 => "sy",
        _ => return write!(f, "#0x{option:02x}"),
    };
    f.write_str(name)
}

/// What PRFM does, or its number.
pub fn prefetch(f: &mut Formatter<'_>, operation: u32) -> Result {
    let kind = ["pld", "pli", "pst"].get(operation as usize >> 3);
    let (level, policy) = (operation >> 1 & 3, ["keep", "strm"][operation as usize & 1]);
    match kind {
        Some(kind) if level == 3 => write!(f, "{kind}slc{policy}"),
        Some(kind) => write!(f, "{kind}l{}{policy}", level + 1),
        None => write!(f, "#0x{operation:02x}"),
    }
}

/// What RPRFM does, or its number.
pub fn range_prefetch(f: &mut Formatter<'_>, operation: u32) -> Result {
    match operation {
        0 => f.write_str("pldkeep"),
        1 => f.write_str("pstkeep"),
        4 => f.write_str("pldstrm"),
        5 => f.write_str("pststrm"),
        _ => write!(f, "#{operation}"),
    }
}
