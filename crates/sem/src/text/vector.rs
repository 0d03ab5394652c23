//! Operands of SIMD&FP instructions.
//!
//! A vector register is `{Vd.T}`, where T is an arrangement as the manual writes it (`4s`) or one of these names:
//! T of size and Q, Ta of twice that size in 128 bits, P of twice that size in as many bits; F of sz and Q, Fn of half
//! that size, Fw of that size in 128 bits; I of immh and Q, Ia of twice that size in 128 bits; E of imm5 and Q; Bq, Hq,
//! Sq of Q alone, Hh of Q with half as many bits.
//!
//! A scalar register is a kind and its field: Z as size says, Zw twice that; F as sz says; I as immh says, Iw twice
//! that; E as imm5 says; Y as ftype says; L as a load or store moves.

use std::fmt::{Formatter, Result};

use super::operand::Operands;

/// The letters of elements of 1, 2, 4, 8 and 16 bytes.
const LETTERS: [char; 5] = ['b', 'h', 's', 'd', 'q'];

/// An arrangement: log2 of the elements' bytes, log2 of the vector's bytes.
#[derive(Clone, Copy)]
struct Arrangement(u32, u32);

impl std::fmt::Display for Arrangement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self(element, vector) = *self;
        write!(f, "{}{}", 1u32 << vector.saturating_sub(element), letter(element))
    }
}

fn letter(log2: u32) -> char {
    LETTERS[(log2 as usize).min(4)]
}

impl Operands<'_> {
    /// log2 of the bytes of Q or half of it.
    fn vector(self) -> u32 {
        3 + self.bits(30, 30)
    }

    fn size(self) -> u32 {
        self.bits(23, 22)
    }

    /// log2 of the bytes of an element by the highest set bit of immh.
    fn immh_size(self) -> u32 {
        self.bits(22, 19).checked_ilog2().unwrap_or(0)
    }

    /// log2 of the bytes of an element by the lowest set bit of imm5.
    fn imm5_size(self) -> u32 {
        self.bits(20, 16).trailing_zeros().min(3)
    }

    /// log2 of the bytes of ftype.
    fn ftype_size(self) -> u32 {
        [2, 3, 4, 1][self.bits(23, 22) as usize]
    }

    /// log2 of the bytes that a load or store moves to or from one SIMD&FP register.
    fn load_size(self) -> u32 {
        match (self.bits(29, 27), self.bits(24, 24)) {
            // Literal; pair.
            (3, 0) | (5, _) => 2 + self.bits(31, 30),
            _ => self.access_log2(),
        }
    }

    /// The kind of the scalar register that letters name, with the rest of the name.
    pub fn scalar_kind(self, name: &str) -> Option<(u8, &str)> {
        let (kind, rest) = name.split_at(1);
        let (rest, wider) = match rest.strip_prefix('w') {
            Some(rest) => (rest, 1),
            None => (rest, 0),
        };
        let log2 = match kind {
            "Z" => self.size(),
            "F" => 2 + self.bits(22, 22),
            "I" => self.immh_size(),
            "E" => self.imm5_size(),
            "Y" => self.ftype_size(),
            "L" => self.load_size(),
            _ => return None,
        };
        Some((letter(log2 + wider) as u8, rest))
    }

    /// The arrangement of that name, or `None` where the name is one itself.
    fn arrangement(self, name: &str) -> Option<Arrangement> {
        let (size, vector, sz) = (self.size(), self.vector(), self.bits(22, 22));
        Some(match name {
            "T" => Arrangement(size, vector),
            "Ta" => Arrangement(size + 1, 4),
            "P" => Arrangement(size + 1, vector),
            "F" => Arrangement(2 + sz, vector),
            "Fn" => Arrangement(1 + sz, vector),
            "Fw" => Arrangement(2 + sz, 4),
            "I" => Arrangement(self.immh_size(), vector),
            "Ia" => Arrangement(self.immh_size() + 1, 4),
            "E" => Arrangement(self.imm5_size(), vector),
            "Bq" => Arrangement(0, vector),
            "Hq" => Arrangement(1, vector),
            "Sq" => Arrangement(2, vector),
            "Hh" => Arrangement(1, vector - 1),
            _ => return None,
        })
    }

    /// A vector register, its arrangement by name.
    pub fn vector_register(self, f: &mut Formatter<'_>, number: u32, arrangement: &str) -> Result {
        match self.arrangement(arrangement) {
            Some(arrangement) => write!(f, "v{number}.{arrangement}"),
            None => write!(f, "v{number}.{arrangement}"),
        }
    }

    /// The SIMD&FP operands that are no registers.
    pub fn write_vector(self, f: &mut Formatter<'_>, name: &str) -> Option<Result> {
        let (h, l, m) = (self.bits(11, 11), self.bits(21, 21), self.bits(20, 20));
        let (vm, vm_low) = (self.bits(20, 16), self.bits(19, 16));
        let imm5 = self.bits(20, 16) >> (self.imm5_size() + 1);
        Some(match name {
            "2" => f.write_str(["", "2"][self.bits(30, 30) as usize]),
            "bt" => f.write_str(["b", "t"][self.bits(30, 30) as usize]),
            "elem" => self.element(f, self.size()),
            "elemh" => write!(f, "v{vm_low}.h[{}]", h << 2 | l << 1 | m),
            "elemf" => self.element(f, 2 + self.bits(22, 22)),
            "elem4b" => write!(f, "v{vm}.4b[{}]", h << 1 | l),
            "elem2h" => write!(f, "v{vm}.2h[{}]", h << 1 | l),
            "elemc" if self.size() == 1 => write!(f, "v{vm}.h[{}]", h << 1 | l),
            "elemc" => write!(f, "v{vm}.s[{h}]"),
            "elem5d" => write!(f, "v{}.{}[{imm5}]", self.bits(4, 0), letter(self.imm5_size())),
            "elem5n" => write!(f, "v{}.{}[{imm5}]", self.bits(9, 5), letter(self.imm5_size())),
            "elem4n" => {
                let index = self.bits(14, 11) >> self.imm5_size();
                write!(f, "v{}.{}[{index}]", self.bits(9, 5), letter(self.imm5_size()))
            }
            "shr" => write!(f, "{}", (16 << self.immh_size()) - self.bits(22, 16)),
            "shl" => write!(f, "{}", self.bits(22, 16).wrapping_sub(8 << self.immh_size())),
            "fbits" => write!(f, "{}", 64 - self.bits(15, 10)),
            "esize" => write!(f, "{}", 8 << self.size()),
            "rot12" => write!(f, "{}", self.bits(12, 11) * 90),
            "rot13" => write!(f, "{}", self.bits(14, 13) * 90),
            "rotadd" => write!(f, "{}", 90 + self.bits(12, 12) * 180),
            "abcdefgh" => write!(f, "0x{:x}", self.modified()),
            "imm64" => write!(f, "0x{:x}", self.modified_bytes()),
            ",lsl32" => amount(f, self.bits(14, 13) * 8),
            ",lsl16" => amount(f, self.bits(13, 13) * 8),
            "msl" => write!(f, "{}", 8 << self.bits(12, 12)),
            "fimm" => float(f, self.bits(20, 13)),
            "vfimm" => float(f, self.modified()),
            "list" => {
                let arrangement = Arrangement(self.bits(11, 10), self.vector());
                registers(f, self.bits(4, 0), self.structure_registers(), &arrangement)
            }
            "lane" => self.lane(f),
            "bytes" => write!(f, "{}", self.structure_bytes()),
            "tbl" => registers(f, self.bits(9, 5), self.bits(14, 13) + 1, &"16b"),
            _ => return None,
        })
    }

    /// An element of Vm of 2, 4 or 8 bytes.
    fn element(self, f: &mut Formatter<'_>, log2: u32) -> Result {
        let (h, l, m) = (self.bits(11, 11), self.bits(21, 21), self.bits(20, 20));
        match log2 {
            0 | 1 => write!(f, "v{}.h[{}]", self.bits(19, 16), h << 2 | l << 1 | m),
            2 => write!(f, "v{}.s[{}]", self.bits(20, 16), h << 1 | l),
            _ => write!(f, "v{}.d[{h}]", self.bits(20, 16)),
        }
    }

    /// abcdefgh of a modified immediate.
    fn modified(self) -> u32 {
        self.bits(18, 16) << 5 | self.bits(9, 5)
    }

    /// Each bit of abcdefgh as a byte of ones or zeros.
    fn modified_bytes(self) -> u64 {
        (0..8).filter(|bit| self.modified() >> bit & 1 == 1).fold(0, |bytes, bit| bytes | 0xff << (8 * bit))
    }

    /// How many registers a load or store of structures has.
    fn structure_registers(self) -> u32 {
        if self.bits(24, 24) == 1 {
            // A single structure, or one for all lanes.
            return (self.bits(13, 13) << 1 | self.bits(21, 21)) + 1;
        }
        match self.bits(15, 12) {
            0 | 2 => 4,
            4 | 6 => 3,
            7 => 1,
            _ => 2,
        }
    }

    /// log2 of the bytes of the element that a load or store of a single structure moves.
    fn lane_size(self) -> u32 {
        match (self.bits(15, 14), self.bits(10, 10)) {
            (2, 1) => 3,
            // For all lanes.
            (3, _) => self.bits(11, 10),
            (opcode, _) => opcode,
        }
    }

    /// The bytes that a load or store of structures moves.
    fn structure_bytes(self) -> u32 {
        let single = self.bits(24, 24) == 1;
        self.structure_registers() << if single { self.lane_size() } else { self.vector() }
    }

    /// The element of a single structure, its index in Q:S:size.
    fn lane(self, f: &mut Formatter<'_>) -> Result {
        let index = self.bits(30, 30) << 3 | self.bits(12, 10);
        let log2 = self.lane_size();
        registers(f, self.bits(4, 0), self.structure_registers(), &letter(log2))?;
        write!(f, "[{}]", index >> log2)
    }
}

/// `{v0.4s}`, `{v0.4s, v1.4s}`, `{v0.4s-v2.4s}`; written out where register 0 follows 31.
fn registers(f: &mut Formatter<'_>, first: u32, count: u32, arrangement: &dyn std::fmt::Display) -> Result {
    let last = (first + count - 1) & 31;
    write!(f, "{{v{first}.{arrangement}")?;
    if count > 2 && first < last {
        write!(f, "-v{last}.{arrangement}")?;
    } else {
        for number in first + 1..first + count {
            write!(f, ", v{}.{arrangement}", number & 31)?;
        }
    }
    f.write_str("}")
}

/// `, lsl #` and the amount, unless it is 0.
fn amount(f: &mut Formatter<'_>, amount: u32) -> Result {
    if amount == 0 { Ok(()) } else { write!(f, ", lsl #{amount}") }
}

/// The number that VFPExpandImm makes of abcdefgh.
fn float(f: &mut Formatter<'_>, imm8: u32) -> Result {
    let exponent = (imm8 >> 4 & 7 ^ 4) as i32 - 3;
    let magnitude = f64::from(16 + (imm8 & 15)) / 16.0 * f64::from(exponent).exp2();
    write!(f, "{:?}", if imm8 >> 7 == 1 { -magnitude } else { magnitude })
}
