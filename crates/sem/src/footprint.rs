//! [`Footprint`]: what an instruction touches, whatever its registers hold.
//!
//! A body's `if`s test decode-time fields only, so one pass over it with values that hold nothing sees all that it
//! can do. Writes that depend on a value (a failed store-exclusive, say) count as done.

use core::convert::Infallible;
use core::fmt::{Debug, Formatter};
use core::ops::{Add, BitAnd, BitOr, BitOrAssign, BitXor, Mul, Not, Sub};
use std::sync::LazyLock;

use arch::sysreg::Enc;

use crate::decode::InsnId;
use crate::insn::{Insn, Reg};
use crate::machine::{Access, Assist, AtomicOp, BranchKind, Done, Machine, Pure, TagOp};
use crate::spec::{Spec, specs};
use crate::system::{PstateField, System};
use crate::word::{Quad, Word};

/// A register of the guest, as footprints count them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Xn, 0 to 30.
    X(u8),
    /// The current stack pointer.
    Sp,
    /// Qn, 0 to 31.
    Q(u8),
    /// The flags.
    Nzcv,
    /// The address of the instruction. Branches count as control, not as its writes.
    Pc,
    /// FPCR.
    Fpcr,
    /// FPSR.
    Fpsr,
}

impl Place {
    const ALL: u32 = 68;

    const fn index(self) -> u32 {
        match self {
            Self::X(n) => n as u32 % 31,
            Self::Sp => 31,
            Self::Q(n) => 32 + n as u32 % 32,
            Self::Nzcv => 64,
            Self::Pc => 65,
            Self::Fpcr => 66,
            Self::Fpsr => 67,
        }
    }

    const fn of_index(index: u32) -> Self {
        match index {
            0..=30 => Self::X(index as u8),
            31 => Self::Sp,
            32..=63 => Self::Q(index as u8 - 32),
            64 => Self::Nzcv,
            65 => Self::Pc,
            66 => Self::Fpcr,
            _ => Self::Fpsr,
        }
    }
}

/// A set of places.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Places(u128);

impl Places {
    /// Is it one of them?
    #[must_use]
    pub const fn has(self, place: Place) -> bool {
        self.0 >> place.index() & 1 != 0
    }
    /// Adds one.
    pub fn add(&mut self, place: Place) {
        self.0 |= 1 << place.index();
    }
    /// Are there none?
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Do the sets share a place?
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// All of them, X0 first.
    pub fn iter(self) -> impl Iterator<Item = Place> {
        (0..Place::ALL).map(Place::of_index).filter(move |&place| self.has(place))
    }
    /// All places there are.
    pub fn all() -> impl Iterator<Item = Place> {
        (0..Place::ALL).map(Place::of_index)
    }
}

impl BitOrAssign for Places {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Debug for Places {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads, and may write.
    ReadWrite,
}

/// One access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    /// What it does.
    pub kind: AccessKind,
    /// Its size in bytes, 1 to 16.
    pub bytes: u32,
    /// How.
    pub access: Access,
    /// Is it through the exclusive monitor?
    pub monitor: Monitor,
}

/// Is an access an exclusive one?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Monitor {
    /// No.
    Unused,
    /// Yes.
    Used,
}

/// Where an instruction goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Control {
    /// At the next one.
    #[default]
    Next,
    /// Elsewhere.
    Branch(BranchKind),
    /// There or here.
    BranchIf,
    /// The encoding is not done: nothing is known.
    NotDone,
}

/// What one instruction touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Registers that it reads.
    pub reads: Places,
    /// Registers that it writes.
    pub writes: Places,
    /// Its memory accesses in order.
    pub memory: Vec<Touch>,
    /// Its operations on allocation tags in order. Data that they set to zero is not in `memory`.
    pub tags: Vec<TagOp>,
    /// Its system operations in order. What they do to system registers and to the PE is theirs to say; only
    /// [`Place`]s are in `reads` and `writes`.
    pub system: Vec<System>,
    /// What it asks of the PE beside these, in order. What is read beside the operands (keys, controls) is the PE's to say.
    pub assists: Vec<Assist>,
    /// The pure functions that it calls, in order.
    pub calls: Vec<Pure>,
    /// Where it goes on.
    pub control: Control,
    /// Is it a SIMD&FP instruction, which CPACR_EL1 and its kind may trap?
    pub fp_check: bool,
    /// May it stop on a misaligned SP?
    pub sp_check: bool,
}

impl Footprint {
    /// Of an instruction.
    #[must_use]
    pub fn of(InsnId(line): InsnId, insn: Insn) -> Self {
        static LINES: LazyLock<Vec<&'static Spec<Footprint>>> = LazyLock::new(specs::<Footprint>);
        let mut footprint = Self::default();
        let Ok(()) = (LINES[usize::from(line)].run)(&mut footprint, insn);
        footprint
    }

    /// Can it take an exception, or reach the system at all?
    #[must_use]
    pub fn may_stop(&self) -> bool {
        self.fp_check
            || self.sp_check
            || !self.memory.is_empty()
            || !self.tags.is_empty()
            || !self.system.is_empty()
            || !self.assists.is_empty()
            || self.control == Control::NotDone
    }

    /// Does it read memory, or tags?
    #[must_use]
    pub fn reads_memory(&self) -> bool {
        self.assists.iter().any(|assist| assist.loads())
            || self.memory.iter().any(|touch| touch.kind != AccessKind::Write)
            || self.tags.iter().any(|op| op.loads())
    }

    /// May it write memory, or tags?
    #[must_use]
    pub fn writes_memory(&self) -> bool {
        self.assists.iter().any(|assist| assist.stores())
            || self.memory.iter().any(|touch| touch.kind != AccessKind::Read)
            || self.tags.iter().any(|op| op.stores())
    }

    fn touch(&mut self, kind: AccessKind, bytes: u32, access: Access, monitor: Monitor) {
        self.memory.push(Touch { kind, bytes, access, monitor });
    }
}

/// A word or a quad of [`Footprint`]: holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nothing;

impl From<u64> for Nothing {
    fn from(_: u64) -> Self {
        Self
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident),*) => {
        $(impl $operator for Nothing {
            type Output = Self;
            fn $function(self, _: Self) -> Self {
                Self
            }
        })*
    };
}

operators!(Add add, Sub sub, Mul mul, BitAnd bitand, BitOr bitor, BitXor bitxor);

impl Not for Nothing {
    type Output = Self;
    fn not(self) -> Self {
        Self
    }
}

impl Word for Nothing {
    fn shl(self, _: Self) -> Self {
        Self
    }
    fn lshr(self, _: Self) -> Self {
        Self
    }
    fn ashr(self, _: Self) -> Self {
        Self
    }
    fn ror(self, _: Self) -> Self {
        Self
    }
    fn zext(self, _: u32) -> Self {
        Self
    }
    fn sext(self, _: u32) -> Self {
        Self
    }
    fn is_eq(self, _: Self) -> Self {
        Self
    }
    fn is_ult(self, _: Self) -> Self {
        Self
    }
    fn is_slt(self, _: Self) -> Self {
        Self
    }
    fn select(self, _: Self, _: Self) -> Self {
        Self
    }
    fn clz(self) -> Self {
        Self
    }
    fn rbit(self) -> Self {
        Self
    }
    fn rev(self) -> Self {
        Self
    }
    fn popcount(self) -> Self {
        Self
    }
    fn umulh(self, _: Self) -> Self {
        Self
    }
    fn smulh(self, _: Self) -> Self {
        Self
    }
    fn udiv(self, _: Self) -> Self {
        Self
    }
    fn sdiv(self, _: Self) -> Self {
        Self
    }
}

impl Quad for Nothing {
    type Word = Self;
    fn from_halves(_: Self, _: Self) -> Self {
        Self
    }
    fn lo(self) -> Self {
        Self
    }
    fn hi(self) -> Self {
        Self
    }
}

const NZCV: Enc = Enc::new(3, 3, 4, 2, 0);
const RNDR: Enc = Enc::new(3, 3, 2, 4, 0);
const RNDRRS: Enc = Enc::new(3, 3, 2, 4, 1);
const FPCR: Enc = Enc::new(3, 3, 4, 4, 0);
const FPSR: Enc = Enc::new(3, 3, 4, 4, 1);
const SPSEL: Enc = Enc::new(3, 0, 4, 2, 0);

fn place_of(register: Enc) -> Option<Place> {
    match register {
        NZCV => Some(Place::Nzcv),
        FPCR => Some(Place::Fpcr),
        FPSR => Some(Place::Fpsr),
        _ => None,
    }
}

impl Machine for Footprint {
    type Word = Nothing;
    type Quad = Nothing;
    type Stop = Infallible;

    fn x(&mut self, n: Reg) -> Nothing {
        if n != 31 {
            self.reads.add(Place::X(n as u8));
        }
        Nothing
    }
    fn set_x(&mut self, n: Reg, _value: Nothing) {
        if n != 31 {
            self.writes.add(Place::X(n as u8));
        }
    }
    fn sp(&mut self) -> Nothing {
        self.reads.add(Place::Sp);
        Nothing
    }
    fn set_sp(&mut self, _value: Nothing) {
        self.writes.add(Place::Sp);
    }
    fn pc(&mut self, _insn: Insn) -> Nothing {
        self.reads.add(Place::Pc);
        Nothing
    }
    fn nzcv(&mut self) -> Nothing {
        self.reads.add(Place::Nzcv);
        Nothing
    }
    fn set_nzcv(&mut self, _value: Nothing) {
        self.writes.add(Place::Nzcv);
    }
    fn condition(&mut self, cond: u32) -> Nothing {
        if cond < 14 {
            self.reads.add(Place::Nzcv);
        }
        Nothing
    }
    fn add_with_carry(&mut self, _bits: u32, _a: Nothing, _b: Nothing, _carry: Nothing) -> (Nothing, Nothing) {
        (Nothing, Nothing)
    }
    fn logic_flags(&mut self, _bits: u32, _result: Nothing) -> Nothing {
        Nothing
    }

    fn q(&mut self, n: Reg) -> Nothing {
        self.reads.add(Place::Q(n as u8));
        Nothing
    }
    fn set_q(&mut self, n: Reg, _value: Nothing) {
        self.writes.add(Place::Q(n as u8));
    }
    fn check_fp(&mut self) -> Done<Self> {
        self.fp_check = true;
        Ok(())
    }
    fn pure(&mut self, function: Pure, _operands: [Nothing; 3]) -> Nothing {
        self.calls.push(function);
        self.reads.add(Place::Fpcr);
        self.reads.add(Place::Fpsr);
        self.writes.add(Place::Fpsr);
        Nothing
    }

    fn load(&mut self, _address: Nothing, access: Access) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::Read, access.bytes(), access, Monitor::Unused);
        Ok(Nothing)
    }
    fn store(&mut self, _address: Nothing, _value: Nothing, access: Access) -> Done<Self> {
        self.touch(AccessKind::Write, access.bytes(), access, Monitor::Unused);
        Ok(())
    }
    fn load_quad(&mut self, _address: Nothing, access: Access) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::Read, 16, access, Monitor::Unused);
        Ok(Nothing)
    }
    fn store_quad(&mut self, _address: Nothing, _value: Nothing, access: Access) -> Done<Self> {
        self.touch(AccessKind::Write, 16, access, Monitor::Unused);
        Ok(())
    }
    fn load_exclusive(&mut self, _address: Nothing, access: Access) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::Read, access.bytes(), access, Monitor::Used);
        Ok(Nothing)
    }
    fn load_exclusive_pair(&mut self, _address: Nothing, access: Access) -> Result<(Nothing, Nothing), Infallible> {
        self.touch(AccessKind::Read, 2 * access.bytes(), access, Monitor::Used);
        Ok((Nothing, Nothing))
    }
    fn store_exclusive(&mut self, _address: Nothing, _value: Nothing, access: Access) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::Write, access.bytes(), access, Monitor::Used);
        Ok(Nothing)
    }
    fn store_exclusive_pair(
        &mut self,
        _address: Nothing,
        _values: (Nothing, Nothing),
        access: Access,
    ) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::Write, 2 * access.bytes(), access, Monitor::Used);
        Ok(Nothing)
    }
    fn atomic(
        &mut self,
        _op: AtomicOp,
        _address: Nothing,
        _operand: Nothing,
        access: Access,
    ) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::ReadWrite, access.bytes(), access, Monitor::Unused);
        Ok(Nothing)
    }
    fn compare_swap(
        &mut self,
        _address: Nothing,
        _expected: Nothing,
        _new: Nothing,
        access: Access,
    ) -> Result<Nothing, Infallible> {
        self.touch(AccessKind::ReadWrite, access.bytes(), access, Monitor::Unused);
        Ok(Nothing)
    }
    fn compare_swap_pair(
        &mut self,
        _address: Nothing,
        _expected: (Nothing, Nothing),
        _new: (Nothing, Nothing),
        access: Access,
    ) -> Result<(Nothing, Nothing), Infallible> {
        self.touch(AccessKind::ReadWrite, 2 * access.bytes(), access, Monitor::Unused);
        Ok((Nothing, Nothing))
    }

    fn tags(&mut self, op: TagOp, _address: Nothing, _value: Nothing) -> Result<Nothing, Infallible> {
        self.tags.push(op);
        Ok(Nothing)
    }

    fn check_sp_alignment(&mut self) -> Done<Self> {
        self.reads.add(Place::Sp);
        self.sp_check = true;
        Ok(())
    }

    fn branch(&mut self, kind: BranchKind, _target: Nothing) -> Done<Self> {
        self.control = Control::Branch(kind);
        Ok(())
    }
    fn branch_if(&mut self, _condition: Nothing, _target: Nothing) -> Done<Self> {
        self.control = Control::BranchIf;
        Ok(())
    }
    fn not_done(&mut self, _insn: Insn) -> Done<Self> {
        self.control = Control::NotDone;
        Ok(())
    }

    fn assist(&mut self, _insn: Insn, op: Assist, _operands: [Nothing; 3]) -> Result<Nothing, Infallible> {
        self.assists.push(op);
        Ok(Nothing)
    }
    fn system(&mut self, _insn: Insn, op: System, _argument: Nothing) -> Result<Nothing, Infallible> {
        self.system.push(op);
        match op {
            System::Mrs(RNDR | RNDRRS) => self.writes.add(Place::Nzcv),
            System::Mrs(register) => place_of(register).into_iter().for_each(|place| self.reads.add(place)),
            // The current stack pointer becomes another one, or stays.
            System::Msr(SPSEL) | System::MsrImmediate(PstateField::SpSel, _) => {
                self.reads.add(Place::Sp);
                self.writes.add(Place::Sp);
            }
            System::Msr(register) => place_of(register).into_iter().for_each(|place| self.writes.add(place)),
            System::MsrImmediate(PstateField::Cfinv | PstateField::Xaflag | PstateField::Axflag, _) => {
                self.reads.add(Place::Nzcv);
                self.writes.add(Place::Nzcv);
            }
            _ => {}
        }
        Ok(Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decoder;

    fn of(word: u32) -> Footprint {
        let (id, spec) = Decoder::<Footprint>::new().decode(word).expect("allocated");
        Footprint::of(id, Insn::new(word, 0, (spec.prepare)(word).expect("not reserved")))
    }

    fn places(places: Places) -> Vec<Place> {
        places.iter().collect()
    }

    #[test]
    fn arithmetic_touches_registers() {
        let adds = of(0xab02_0020); // adds x0, x1, x2
        assert_eq!(places(adds.reads), [Place::X(1), Place::X(2)]);
        assert_eq!(places(adds.writes), [Place::X(0), Place::Nzcv]);
        assert!(!adds.may_stop());
        assert!(of(0xd503_201f) == Footprint::default(), "nop");
    }

    #[test]
    fn loads_and_stores_touch_memory() {
        let push = of(0xa9bf_7bfd); // stp x29, x30, [sp, #-16]!
        assert_eq!(places(push.reads), [Place::X(29), Place::X(30), Place::Sp]);
        assert_eq!(places(push.writes), [Place::Sp]);
        assert!(push.sp_check && push.may_stop() && push.writes_memory() && !push.reads_memory());
        assert_eq!(push.memory.iter().map(|touch| touch.bytes).sum::<u32>(), 16);
        let swap = of(0xb8e0_8041); // swpal w0, w1, [x2]
        assert_eq!(swap.memory[0].kind, AccessKind::ReadWrite);
        assert_eq!((swap.memory[0].bytes, swap.memory[0].access.order), (4, crate::Order::AcquireRelease));
    }

    #[test]
    fn control_and_system() {
        let call = of(0x9400_0001); // bl .+4
        assert_eq!(places(call.reads), [Place::Pc]);
        assert_eq!(places(call.writes), [Place::X(30)]);
        assert_eq!(call.control, Control::Branch(BranchKind::Call));
        let mrs = of(0xd53b_4203); // mrs x3, nzcv
        assert_eq!((places(mrs.reads), places(mrs.writes)), (vec![Place::Nzcv], vec![Place::X(3)]));
        assert_eq!(mrs.system, [System::Mrs(NZCV)]);
    }
}
