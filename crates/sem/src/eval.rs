//! [`Flat`], the plainest machine: numbers for values, a sparse test memory, no translation. For tests and for
//! comparison with other implementations; the PE that runs guests is another machine.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;
use std::hash::DefaultHasher;
use std::sync::LazyLock;

use arch::sysreg::Enc;
use ir::tags::{TAG_GRANULE, choose_tag, logical_tag, random_tag, tag_shift};

use crate::decode::Decoder;
use crate::insn::{Insn, Reg};
use crate::machine::{Access, Assist, AtomicOp, BranchKind, CopyOrder, Done, FpEnv, Machine, PauthKey, Pure, TagOp};
use crate::system::{PstateField, System};
use crate::word::Word;

/// Why [`Flat`] stops an instruction. Registers and memory are as before it, unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An access to an address that [`Memory`] refuses.
    Fault {
        /// The first refused byte.
        address: u64,
    },
    /// SP was misaligned where [`Flat::sp_check`] asks.
    SpAlignment,
    /// SIMD&FP while [`Flat::fp_access`] traps it.
    FpTrap,
    /// The word has no line, or its line says UNDEFINED.
    Undefined {
        /// The word.
        word: u32,
    },
    /// The line says that the encoding is not done yet.
    NotDone {
        /// The word.
        word: u32,
    },
    /// An authentication failed.
    PacFail,
    /// A memory copy or set found registers of the other option.
    WrongOption,
    /// A memory set of granules is misaligned.
    Misaligned,
    /// A system operation that leaves the program: exceptions, ERET, DRPS.
    Leaves(System),
}

/// Is SIMD&FP trapped?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FpAccess {
    /// No.
    #[default]
    Allowed,
    /// Yes.
    Trapped,
}

/// Is the alignment of SP checked?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpCheck {
    /// No.
    #[default]
    Off,
    /// Yes.
    On,
}

/// What bytes hold that no one wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// 0.
    #[default]
    Zeros,
    /// A function of the address and the seed.
    Hash(u64),
}

/// Which addresses are refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Refuse {
    /// None.
    #[default]
    Nothing,
    /// One in eight of all 4 KiB pages, a function of the page and the seed.
    SomePages(u64),
    /// All outside this range.
    Outside(core::ops::Range<u64>),
}

/// A sparse memory over all 64-bit addresses. Little-endian; accesses wrap at the top; alignment does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// What unwritten bytes hold.
    pub fill: Fill,
    /// Which addresses are refused.
    pub refuse: Refuse,
    /// What was written, byte by byte.
    pub written: BTreeMap<u64, u8>,
    /// Allocation tags that no one set.
    pub tag_fill: Fill,
    /// Allocation tags that were set, by the number of their granule.
    pub tags: BTreeMap<u64, u8>,
}

/// A well-mixed function of one number (the finaliser of SplitMix64).
#[must_use]
pub const fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

impl Memory {
    /// The byte at `address`, refused or not.
    #[must_use]
    pub fn byte(&self, address: u64) -> u8 {
        self.written.get(&address).copied().unwrap_or(match self.fill {
            Fill::Zeros => 0,
            Fill::Hash(seed) => (mix(seed ^ address >> 3) >> (8 * (address & 7))) as u8,
        })
    }

    /// The allocation tag of the granule that holds `address`.
    #[must_use]
    pub fn tag(&self, address: u64) -> u8 {
        let granule = address / TAG_GRANULE;
        self.tags.get(&granule).copied().unwrap_or(match self.tag_fill {
            Fill::Zeros => 0,
            Fill::Hash(seed) => (mix(seed ^ granule) & 15) as u8,
        })
    }

    fn refuses(&self, address: u64) -> bool {
        match &self.refuse {
            Refuse::Nothing => false,
            Refuse::SomePages(seed) => mix(seed ^ address >> 12) & 7 == 0,
            Refuse::Outside(range) => !range.contains(&address),
        }
    }

    fn check(&self, address: u64, bytes: u32) -> Result<(), Stop> {
        match (0..u64::from(bytes)).map(|i| address.wrapping_add(i)).find(|&a| self.refuses(a)) {
            Some(address) => Err(Stop::Fault { address }),
            None => Ok(()),
        }
    }

    /// Reads 1 to 16 bytes.
    pub fn read(&self, address: u64, bytes: u32) -> Result<u128, Stop> {
        self.check(address, bytes)?;
        Ok((0..bytes).fold(0, |value, i| value | u128::from(self.byte(address.wrapping_add(u64::from(i)))) << (8 * i)))
    }

    /// Writes 1 to 16 bytes, all or none.
    pub fn write(&mut self, address: u64, bytes: u32, value: u128) -> Result<(), Stop> {
        self.check(address, bytes)?;
        for i in 0..bytes {
            self.written.insert(address.wrapping_add(u64::from(i)), (value >> (8 * i)) as u8);
        }
        Ok(())
    }
}

/// What decides on the tags that [`TagOp`] chooses. Blocks of tags have 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagControl {
    /// `GCR_EL1.Exclude`. Out of reset all are excluded, as for Linux's EL0.
    pub exclude: u16,
    /// `RGSR_EL1`.
    pub rgsr: u64,
}

impl Default for TagControl {
    fn default() -> Self {
        Self { exclude: u16::MAX, rgsr: 0 }
    }
}

/// A PE without an exception model: an instruction that would take an exception stops with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flat {
    /// X0 to X30.
    pub x: [u64; 31],
    /// The stack pointer.
    pub sp: u64,
    /// The address of the instruction (in a block: of its first).
    pub pc: u64,
    /// N, Z, C, V in bits \[31:28\].
    pub nzcv: u64,
    /// Q0 to Q31.
    pub q: [u128; 32],
    /// FPCR and FPSR.
    pub fp: FpEnv,
    /// Memory.
    pub memory: Memory,
    /// The control of tags.
    pub tag_control: TagControl,
    /// The exclusive monitor: address and bytes.
    pub monitor: Option<(u64, u32)>,
    /// Is SIMD&FP trapped?
    pub fp_access: FpAccess,
    /// Is SP checked?
    pub sp_check: SpCheck,
    /// The taken branch, if one was.
    pub branched: Option<(BranchKind, u64)>,
    /// System operations with their arguments, in order.
    pub log: Vec<(System, u64)>,
}

static DECODER: LazyLock<Decoder<Flat>> = LazyLock::new(Decoder::new);

const NZCV: Enc = Enc::new(3, 3, 4, 2, 0);
const RNDR: Enc = Enc::new(3, 3, 2, 4, 0);
const RNDRRS: Enc = Enc::new(3, 3, 2, 4, 1);
const FPCR: Enc = Enc::new(3, 3, 4, 4, 0);
const FPSR: Enc = Enc::new(3, 3, 4, 4, 1);

impl Flat {
    /// Decodes and executes `word` at [`Flat::pc`] and moves the PC on, to the target where it branched.
    pub fn step(&mut self, word: u32) -> Result<(), Stop> {
        let (_, spec) = DECODER.decode(word).ok_or(Stop::Undefined { word })?;
        let imm = (spec.prepare)(word).ok_or(Stop::Undefined { word })?;
        self.branched = None;
        (spec.run)(self, Insn::new(word, 0, imm))?;
        self.pc = self.branched.map_or(self.pc.wrapping_add(4), |(_, target)| target);
        Ok(())
    }

    fn system_value(op: System) -> u64 {
        let mut hasher = DefaultHasher::new();
        op.hash(&mut hasher);
        hasher.finish()
    }

    /// Memory copy and set, at most this many bytes at a time.
    const MOVED_AT_ONCE: u64 = 48;

    fn move_bytes(&mut self, op: Assist, [to, from, third]: [u64; 3]) -> Result<u64, Stop> {
        let down = matches!(op, Assist::CopyMemory { order: CopyOrder::BySign, .. }) && third as i64 > 0;
        let (to_go, unit) = match op {
            Assist::CopyMemory { .. } => (if down { third } else { third.wrapping_neg() }, 1),
            Assist::SetMemoryAndTags(_) => (from, TAG_GRANULE),
            _ => (from, 1),
        };
        if unit > 1 && to_go != 0 && (to | to_go) & (unit - 1) != 0 {
            return Err(Stop::Misaligned);
        }
        let mut done = 0;
        while done < to_go.min(Self::MOVED_AT_ONCE) {
            let result = if let Assist::CopyMemory { .. } = op {
                let at = if down { third - done - 1 } else { third.wrapping_add(done) };
                let byte = self.memory.read(from.wrapping_add(at), 1);
                byte.and_then(|byte| self.memory.write(to.wrapping_add(at), 1, byte))
            } else {
                let address = to.wrapping_add(done);
                let bytes = u128::from_le_bytes([third as u8; 16]);
                let result = self.memory.write(address, unit as u32, bytes);
                if unit > 1 && result.is_ok() {
                    self.memory.tags.insert(address / TAG_GRANULE, logical_tag(address));
                }
                result
            };
            match result {
                Ok(()) => done += unit,
                // What was moved counts first; the instruction then runs again, and stops.
                Err(stop) => return if done == 0 { Err(stop) } else { Ok(done) },
            }
        }
        Ok(done)
    }

    fn pstate(&mut self, field: PstateField) {
        let flag = |n: u32| self.nzcv >> n & 1 != 0;
        let (n, z, c, v) = (flag(31), flag(30), flag(29), flag(28));
        let to = |n: bool, z: bool, c: bool, v: bool| {
            u64::from(n) << 31 | u64::from(z) << 30 | u64::from(c) << 29 | u64::from(v) << 28
        };
        self.nzcv = match field {
            PstateField::Cfinv => to(n, z, !c, v),
            PstateField::Xaflag => to(!c && !z, z && c, c || z, !c && z),
            PstateField::Axflag => to(false, z || v, c && !v, false),
            _ => self.nzcv,
        };
    }
}

impl Flat {
    fn store_tags(&mut self, address: u64, granules: u64, op: TagOp, tag: u8) -> Result<u64, Stop> {
        self.memory.check(address, (granules * TAG_GRANULE) as u32)?;
        for at in (0..granules).map(|n| address.wrapping_add(n * TAG_GRANULE)) {
            self.memory.tags.insert(at / TAG_GRANULE, tag);
            if op.zeroes() {
                self.memory.write(at, 16, 0)?;
            }
        }
        Ok(0)
    }
}

impl Machine for Flat {
    type Word = u64;
    type Quad = u128;
    type Stop = Stop;

    fn x(&mut self, n: Reg) -> u64 {
        if n == 31 { 0 } else { self.x[n as usize] }
    }
    fn set_x(&mut self, n: Reg, value: u64) {
        if n != 31 {
            self.x[n as usize] = value;
        }
    }
    fn sp(&mut self) -> u64 {
        self.sp
    }
    fn set_sp(&mut self, value: u64) {
        self.sp = value;
    }
    fn pc(&mut self, insn: Insn) -> u64 {
        self.pc.wrapping_add(u64::from(insn.offset()))
    }
    fn nzcv(&mut self) -> u64 {
        self.nzcv
    }
    fn set_nzcv(&mut self, value: u64) {
        self.nzcv = value;
    }

    // The manual's ConditionHolds().
    fn condition(&mut self, cond: u32) -> u64 {
        let flag = |n: u32| self.nzcv >> n & 1 == 1;
        let (n, z, c, v) = (flag(31), flag(30), flag(29), flag(28));
        let result = match cond >> 1 & 7 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => c && !z,
            5 => n == v,
            6 => n == v && !z,
            _ => true,
        };
        u64::from(result != (cond & 1 == 1 && cond != 15))
    }

    // The manual's AddWithCarry(): compares the result with the unbounded sums.
    fn add_with_carry(&mut self, bits: u32, a: u64, b: u64, carry: u64) -> (u64, u64) {
        let unsigned = u128::from(a.zext(bits)) + u128::from(b.zext(bits)) + u128::from(carry);
        let signed = i128::from(a.sext(bits) as i64) + i128::from(b.sext(bits) as i64) + i128::from(carry);
        let result = (unsigned as u64).zext(bits);
        let n = result >> (bits - 1);
        let c = u64::from(u128::from(result) != unsigned);
        let v = u64::from(i128::from(result.sext(bits) as i64) != signed);
        (result, n << 31 | u64::from(result == 0) << 30 | c << 29 | v << 28)
    }
    fn logic_flags(&mut self, bits: u32, result: u64) -> u64 {
        let result = result.zext(bits);
        (result >> (bits - 1)) << 31 | u64::from(result == 0) << 30
    }

    fn q(&mut self, n: Reg) -> u128 {
        self.q[n as usize]
    }
    fn set_q(&mut self, n: Reg, value: u128) {
        self.q[n as usize] = value;
    }
    fn check_fp(&mut self) -> Done<Self> {
        if self.fp_access == FpAccess::Trapped { Err(Stop::FpTrap) } else { Ok(()) }
    }
    fn pure(&mut self, function: Pure, operands: [u128; 3]) -> u128 {
        (function.run)(&mut self.fp, operands)
    }

    fn load(&mut self, address: u64, access: Access) -> Result<u64, Stop> {
        self.memory.read(address, access.bytes()).map(|value| value as u64)
    }
    fn store(&mut self, address: u64, value: u64, access: Access) -> Done<Self> {
        self.memory.write(address, access.bytes(), u128::from(value))
    }
    fn load_quad(&mut self, address: u64, _access: Access) -> Result<u128, Stop> {
        self.memory.read(address, 16)
    }
    fn store_quad(&mut self, address: u64, value: u128, _access: Access) -> Done<Self> {
        self.memory.write(address, 16, value)
    }
    fn load_exclusive(&mut self, address: u64, access: Access) -> Result<u64, Stop> {
        let value = self.load(address, access)?;
        self.monitor = Some((address, access.bytes()));
        Ok(value)
    }
    fn load_exclusive_pair(&mut self, address: u64, access: Access) -> Result<(u64, u64), Stop> {
        let both = self.memory.read(address, 2 * access.bytes())?;
        self.monitor = Some((address, 2 * access.bytes()));
        Ok(split(both, access))
    }
    fn store_exclusive(&mut self, address: u64, value: u64, access: Access) -> Result<u64, Stop> {
        if self.monitor != Some((address, access.bytes())) {
            self.monitor = None;
            return Ok(1);
        }
        self.store(address, value, access)?;
        self.monitor = None;
        Ok(0)
    }
    fn store_exclusive_pair(&mut self, address: u64, values: (u64, u64), access: Access) -> Result<u64, Stop> {
        if self.monitor != Some((address, 2 * access.bytes())) {
            self.monitor = None;
            return Ok(1);
        }
        self.memory.write(address, 2 * access.bytes(), join(values, access))?;
        self.monitor = None;
        Ok(0)
    }
    fn atomic(&mut self, op: AtomicOp, address: u64, operand: u64, access: Access) -> Result<u64, Stop> {
        let old = self.load(address, access)?;
        self.store(address, op.apply(access.log2, old, operand), access)?;
        Ok(old)
    }
    fn compare_swap(&mut self, address: u64, expected: u64, new: u64, access: Access) -> Result<u64, Stop> {
        let old = self.load(address, access)?;
        if old == expected.zext(8 * access.bytes()) {
            self.store(address, new, access)?;
        }
        Ok(old)
    }
    fn compare_swap_pair(
        &mut self,
        address: u64,
        expected: (u64, u64),
        new: (u64, u64),
        access: Access,
    ) -> Result<(u64, u64), Stop> {
        let old = self.memory.read(address, 2 * access.bytes())?;
        if old == join(expected, access) {
            self.memory.write(address, 2 * access.bytes(), join(new, access))?;
        }
        Ok(split(old, access))
    }

    fn tags(&mut self, op: TagOp, address: u64, value: u64) -> Result<u64, Stop> {
        const BLOCK: u64 = 64;
        let block = address & !(BLOCK - 1);
        let control = self.tag_control;
        match op {
            TagOp::Choose => Ok(choose_tag(logical_tag(address), value as u8, control.exclude).into()),
            TagOp::Random => {
                let (rgsr, offset) = random_tag(control.rgsr);
                let tag = choose_tag((rgsr & 15) as u8, offset, control.exclude | value as u16);
                self.tag_control.rgsr = rgsr & !15 | u64::from(tag);
                Ok(tag.into())
            }
            TagOp::Load => {
                self.memory.check(address, 16)?;
                Ok(self.memory.tag(address).into())
            }
            TagOp::LoadMultiple => {
                self.memory.check(block, BLOCK as u32)?;
                let granules = (block..block + BLOCK).step_by(16);
                Ok(granules.fold(0, |all, at| all | u64::from(self.memory.tag(at)) << tag_shift(at)))
            }
            TagOp::StoreMultiple => {
                self.memory.check(block, BLOCK as u32)?;
                for at in (block..block + BLOCK).step_by(16) {
                    self.memory.tags.insert(at / TAG_GRANULE, (value >> tag_shift(at) & 15) as u8);
                }
                Ok(0)
            }
            TagOp::StoreZeroMultiple => self.store_tags(block, BLOCK / TAG_GRANULE, op, value as u8 & 15),
            TagOp::Store | TagOp::StorePair | TagOp::StoreZero | TagOp::StoreZeroPair => {
                if !address.is_multiple_of(TAG_GRANULE) {
                    return Err(Stop::Fault { address });
                }
                self.store_tags(address, op.granules(), op, logical_tag(value))
            }
        }
    }

    fn check_sp_alignment(&mut self) -> Done<Self> {
        if self.sp_check == SpCheck::On && self.sp & 15 != 0 { Err(Stop::SpAlignment) } else { Ok(()) }
    }

    fn branch(&mut self, kind: BranchKind, target: u64) -> Done<Self> {
        self.branched = Some((kind, target));
        Ok(())
    }
    fn branch_if(&mut self, condition: u64, target: u64) -> Done<Self> {
        if condition != 0 {
            self.branched = Some((BranchKind::Direct, target));
        }
        Ok(())
    }
    fn not_done(&mut self, insn: Insn) -> Done<Self> {
        Err(Stop::NotDone { word: insn.word() })
    }

    /// Pointer authentication with a stand-in for the cipher: a hash goes to bits \[54:48\] and \[63:56\].
    fn assist(&mut self, _insn: Insn, op: Assist, [pointer, modifier, third]: [u64; 3]) -> Result<u64, Stop> {
        const CODE: u64 = 0xff7f << 48;
        let plain = pointer.sext(56) & !CODE | pointer.sext(56).sext(48) & CODE;
        let key = |key: PauthKey| mix(plain ^ mix(modifier ^ key as u64)) & CODE;
        match op {
            Assist::Sign(k) => Ok(plain ^ key(k)),
            Assist::Authenticate(k) | Assist::AuthenticateCombined(k) => {
                // Few random pointers are signed: only some of the others fail.
                if pointer == plain ^ key(k) || pointer & 3 != 0 { Ok(plain) } else { Err(Stop::PacFail) }
            }
            Assist::StripInstruction | Assist::StripData => Ok(plain),
            Assist::SignGeneric => Ok(mix(pointer ^ mix(modifier)) & !0xffff_ffff),
            Assist::CheckMops if pointer != 0 && modifier >> 29 & 1 == 1 => Err(Stop::WrongOption),
            Assist::CheckMops => Ok(0),
            Assist::SetMemory(_) | Assist::SetMemoryAndTags(_) | Assist::CopyMemory { .. } => {
                self.move_bytes(op, [pointer, modifier, third])
            }
        }
    }
    /// Flags, FPCR and FPSR act; other registers read as a function of their encoding; barriers, hints and writes
    /// are only logged.
    fn system(&mut self, _insn: Insn, op: System, argument: u64) -> Result<u64, Stop> {
        self.log.push((op, argument));
        match op {
            System::Exception(..) | System::Eret | System::EretAuthenticated(_) | System::Drps => {
                return Err(Stop::Leaves(op));
            }
            System::Mrs(NZCV) => return Ok(self.nzcv),
            // The flags say that there was a random number.
            System::Mrs(RNDR | RNDRRS) => {
                self.nzcv = 0;
                return Ok(Self::system_value(op));
            }
            System::Mrs(FPCR) => return Ok(self.fp.fpcr),
            System::Mrs(FPSR) => return Ok(self.fp.fpsr),
            System::Mrs(_) | System::Sysl(_) => return Ok(Self::system_value(op)),
            System::Msr(NZCV) => self.nzcv = argument & 0xf << 28,
            System::Msr(FPCR) => self.fp.fpcr = argument,
            System::Msr(FPSR) => self.fp.fpsr = argument,
            System::MsrImmediate(field, _) => self.pstate(field),
            System::Clrex => self.monitor = None,
            System::Msr(_) | System::Sys(_) | System::Barrier(..) | System::Hint(_) => {}
        }
        Ok(0)
    }
}

/// Two elements of `access`'s size; the first is at the lower address.
fn split(both: u128, access: Access) -> (u64, u64) {
    let bits = 8 * access.bytes();
    ((both as u64).zext(bits), ((both >> bits) as u64).zext(bits))
}

fn join((first, second): (u64, u64), access: Access) -> u128 {
    let bits = 8 * access.bytes();
    u128::from(first.zext(bits)) | u128::from(second.zext(bits)) << bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_and_sets_flags() {
        let mut m = Flat { pc: 0x1000, ..Flat::default() };
        m.x[1] = 0x7fff_ffff;
        m.step(0x3100_0420).unwrap(); // adds w0, w1, #1
        assert_eq!((m.x[0], m.nzcv, m.pc), (0x8000_0000, 0b1001 << 28, 0x1004));
        m.step(0xf100_0c3f).unwrap(); // cmp x1, #3
        assert_eq!(m.nzcv, 0b0010 << 28);
        assert_eq!(m.step(0xffff_ffff), Err(Stop::Undefined { word: 0xffff_ffff }));
        assert_eq!(m.pc, 0x1008);
    }

    #[test]
    fn memory_is_all_or_none() {
        let mut memory = Memory { refuse: Refuse::Outside(16..32), ..Memory::default() };
        assert_eq!(memory.write(28, 8, 1), Err(Stop::Fault { address: 32 }));
        assert_eq!(memory.written.len(), 0);
        memory.write(24, 8, 0x1122_3344_5566_7788).unwrap();
        assert_eq!(memory.read(26, 2), Ok(0x5566));
        assert_eq!(memory.read(15, 2), Err(Stop::Fault { address: 15 }));
    }

    #[test]
    fn conditions() {
        let mut m = Flat::default();
        for nzcv in 0..16u64 {
            m.nzcv = nzcv << 28;
            assert_eq!((m.condition(14), m.condition(15)), (1, 1));
            for cond in 0..14 {
                assert_eq!(m.condition(cond) ^ 1, m.condition(cond ^ 1));
            }
            assert_eq!(m.condition(12), u64::from(nzcv & 4 == 0 && (nzcv >> 3 == nzcv & 1)), "gt");
        }
    }

    #[test]
    fn monitor_lets_one_store_pass() {
        let (mut m, access) = (Flat::default(), Access::plain(2));
        assert_eq!(m.store_exclusive(8, 1, access), Ok(1));
        m.load_exclusive(8, access).unwrap();
        assert_eq!(m.store_exclusive(8, 1, access), Ok(0));
        assert_eq!(m.store_exclusive(8, 2, access), Ok(1));
        assert_eq!(m.load(8, access), Ok(1));
        assert_eq!(m.compare_swap_pair(8, (1, 0), (3, 4), access), Ok((1, 0)));
        assert_eq!(m.memory.read(8, 8), Ok(4 << 32 | 3));
    }
}
