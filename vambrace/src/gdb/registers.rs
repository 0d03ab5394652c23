//! The registers as GDB numbers and describes them: `org.gnu.gdb.aarch64.core` and `fpu`, then the system registers that a
//! CPU has, by their manual's names.

use std::fmt::Write;
use std::num::NonZeroUsize;

use arch::sysreg::Reg;
use gdbstub::arch::{Arch, RegId, Registers};
use machine::Machine;

/// AArch64.
#[derive(Debug)]
pub enum Aarch64 {}

impl Arch for Aarch64 {
    type Usize = u64;
    type Registers = Core;
    type BreakpointKind = usize;
    type RegId = Id;
}

/// General and floating-point registers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Core {
    /// X0 to X30.
    pub x: [u64; 31],
    /// The stack pointer in use.
    pub sp: u64,
    /// The next instruction.
    pub pc: u64,
    /// PSTATE as in an SPSR.
    pub cpsr: u32,
    /// V0 to V31.
    pub v: [u128; 32],
    /// FPSR.
    pub fpsr: u32,
    /// FPCR.
    pub fpcr: u32,
}

/// Bytes of all of them.
const BYTES: usize = 8 * 33 + 4 + 16 * 32 + 8;

impl Core {
    /// Those of CPU `cpu`.
    pub fn of(machine: &Machine, cpu: usize) -> Option<Self> {
        let pe = &machine.board().cpus.get(cpu)?.pe;
        let (fpsr, fpcr) = pe.fp_status_and_control();
        Some(Self {
            x: std::array::from_fn(|n| pe.x_register(n)),
            sp: pe.sp(),
            pc: pe.pc().0,
            cpsr: (pe.pstate().to_spsr() | pe.nzcv()) as u32,
            v: std::array::from_fn(|n| pe.v_register(n)),
            fpsr: fpsr as u32,
            fpcr: fpcr as u32,
        })
    }

    /// Writes them to CPU `cpu`. `None`, and nothing changes, where CPSR is of another level.
    pub fn write(&self, machine: &mut Machine, cpu: usize) -> Option<()> {
        let old = Self::of(machine, cpu)?;
        let pe = machine.pe_mut(cpu)?;
        pe.set_pstate_bits(self.cpsr.into())?;
        self.x.iter().enumerate().for_each(|(n, value)| pe.set_x_register(n, *value));
        self.v.iter().enumerate().for_each(|(n, value)| pe.set_v_register(n, *value));
        // Who writes CPSR alone may select the other stack pointer, which keeps its value.
        if self.sp != old.sp {
            pe.set_sp(self.sp);
        }
        pe.set_pc(arch::Va(self.pc));
        pe.set_system_register(Reg::FPSR, self.fpsr.into())?;
        pe.set_system_register(Reg::FPCR, self.fpcr.into())
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        self.x.iter().chain([&self.sp, &self.pc]).for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes.extend(self.cpsr.to_le_bytes());
        self.v.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes.extend(self.fpsr.to_le_bytes());
        bytes.extend(self.fpcr.to_le_bytes());
        bytes
    }

    /// The part of the bytes that is register `n`.
    fn place(n: usize) -> Option<std::ops::Range<usize>> {
        match n {
            0..=32 => Some(8 * n..8 * n + 8),
            33 => Some(264..268),
            34..=65 => Some(268 + 16 * (n - 34)..284 + 16 * (n - 34)),
            66..=67 => Some(780 + 4 * (n - 66)..784 + 4 * (n - 66)),
            _ => None,
        }
    }

    /// Register `n`.
    pub fn read_one(&self, n: usize) -> Option<Vec<u8>> {
        Some(self.bytes()[Self::place(n)?].to_vec())
    }
    /// The same with register `n` changed.
    pub fn with_one(&self, n: usize, value: &[u8]) -> Option<Self> {
        let mut bytes = self.bytes();
        let place = bytes.get_mut(Self::place(n)?)?;
        if place.len() != value.len() {
            return None;
        }
        place.copy_from_slice(value);
        let mut changed = Self::default();
        changed.gdb_deserialize(&bytes).ok()?;
        Some(changed)
    }
}

impl Registers for Core {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.pc
    }
    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.bytes().into_iter().for_each(|byte| write_byte(Some(byte)));
    }
    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let bytes = bytes.get(..BYTES).ok_or(())?;
        let number = |n: usize| {
            let place = Self::place(n).unwrap_or(0..0);
            bytes[place].iter().rev().fold(0u128, |value, byte| value << 8 | u128::from(*byte))
        };
        *self = Self {
            x: std::array::from_fn(|n| number(n) as u64),
            sp: number(31) as u64,
            pc: number(32) as u64,
            cpsr: number(33) as u32,
            v: std::array::from_fn(|n| number(34 + n)),
            fpsr: number(66) as u32,
            fpcr: number(67) as u32,
        };
        Ok(())
    }
}

/// GDB's number of the first system register.
const FIRST_SYSTEM: usize = 68;

/// A register by GDB's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    /// One of [`Core`].
    Core(usize),
    /// A system register.
    System(Reg),
}

impl RegId for Id {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        let size = |bytes| NonZeroUsize::new(bytes);
        match id {
            0..FIRST_SYSTEM => Some((Self::Core(id), size(Core::place(id)?.len()))),
            _ => Some((Self::System(*Reg::ALL.get(id - FIRST_SYSTEM)?), size(8))),
        }
    }
    fn to_raw_id(&self) -> Option<usize> {
        Some(match self {
            Self::Core(n) => *n,
            Self::System(reg) => FIRST_SYSTEM + *reg as usize,
        })
    }
}

/// The fields of CPSR, as in an SPSR: name, lowest and highest bit.
const CPSR: [(&str, u32, u32); 18] = [
    ("SP", 0, 0),
    ("EL", 2, 3),
    ("F", 6, 6),
    ("I", 7, 7),
    ("A", 8, 8),
    ("D", 9, 9),
    ("BTYPE", 10, 11),
    ("SSBS", 12, 12),
    ("IL", 20, 20),
    ("SS", 21, 21),
    ("PAN", 22, 22),
    ("UAO", 23, 23),
    ("DIT", 24, 24),
    ("TCO", 25, 25),
    ("V", 28, 28),
    ("C", 29, 29),
    ("Z", 30, 30),
    ("N", 31, 31),
];

/// The description of the registers, with the system registers of CPU 0.
pub fn target_xml(machine: &Machine) -> String {
    let mut xml = String::from(concat!(
        "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target version=\"1.0\">",
        "<architecture>aarch64</architecture><feature name=\"org.gnu.gdb.aarch64.core\">"
    ));
    // Writing to a string does not fail.
    let mut put = |text: std::fmt::Arguments<'_>| {
        let _ = xml.write_fmt(text);
    };
    for n in 0..31 {
        put(format_args!("<reg name=\"x{n}\" bitsize=\"64\"/>"));
    }
    put(format_args!("<reg name=\"sp\" bitsize=\"64\" type=\"data_ptr\"/>"));
    put(format_args!("<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/>"));
    put(format_args!("<flags id=\"cpsr_flags\" size=\"4\">"));
    for (name, low, high) in CPSR {
        put(format_args!("<field name=\"{name}\" start=\"{low}\" end=\"{high}\"/>"));
    }
    put(format_args!("</flags><reg name=\"cpsr\" bitsize=\"32\" type=\"cpsr_flags\"/></feature>"));
    put(format_args!("<feature name=\"org.gnu.gdb.aarch64.fpu\">"));
    put(format_args!("<vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"));
    put(format_args!(
        "<vector id=\"v2u\" type=\"uint64\" count=\"2\"/><vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
    ));
    put(format_args!(
        "<vector id=\"v4u\" type=\"uint32\" count=\"4\"/><vector id=\"v16u\" type=\"uint8\" count=\"16\"/>"
    ));
    put(format_args!("<union id=\"vnd\"><field name=\"f\" type=\"v2d\"/><field name=\"u\" type=\"v2u\"/></union>"));
    put(format_args!("<union id=\"vns\"><field name=\"f\" type=\"v4f\"/><field name=\"u\" type=\"v4u\"/></union>"));
    put(format_args!("<union id=\"aarch64v\"><field name=\"d\" type=\"vnd\"/><field name=\"s\" type=\"vns\"/>"));
    put(format_args!("<field name=\"b\" type=\"v16u\"/></union>"));
    for n in 0..32 {
        put(format_args!("<reg name=\"v{n}\" bitsize=\"128\" type=\"aarch64v\"/>"));
    }
    put(format_args!("<reg name=\"fpsr\" bitsize=\"32\"/><reg name=\"fpcr\" bitsize=\"32\"/></feature>"));
    put(format_args!("<feature name=\"org.vambrace.system\">"));
    let pe = &machine.board().cpus[0].pe;
    for reg in Reg::ALL.into_iter().filter(|reg| pe.inspect(*reg).is_some()) {
        let number = FIRST_SYSTEM + reg as usize;
        let name = reg.name();
        put(format_args!("<reg name=\"{name}\" bitsize=\"64\" regnum=\"{number}\" group=\"system\"/>"));
    }
    put(format_args!("</feature></target>"));
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_their_places() {
        let core = Core { x: [7; 31], pc: 0x1234, v: [9 << 100; 32], fpcr: 5, cpsr: 6, ..Core::default() };
        let bytes = core.bytes();
        assert_eq!(bytes.len(), BYTES);
        let mut back = Core::default();
        back.gdb_deserialize(&bytes).unwrap();
        assert_eq!(back, core);
        assert_eq!(core.read_one(32), Some(0x1234u64.to_le_bytes().to_vec()));
        assert_eq!(core.read_one(67), Some(vec![5, 0, 0, 0]));
        assert_eq!(core.with_one(65, &[1; 16]).unwrap().v[31], u128::from_le_bytes([1; 16]));
        assert_eq!(core.with_one(33, &[1; 8]), None);
        for n in (0..FIRST_SYSTEM + Reg::COUNT).step_by(7) {
            let (id, size) = Id::from_raw_id(n).unwrap();
            assert_eq!((id.to_raw_id(), size.is_some()), (Some(n), true));
        }
        assert!(Id::from_raw_id(FIRST_SYSTEM + Reg::COUNT).is_none());
    }
}
