//! The PE as a [`sem::Machine`]: executing is one reading of the semantics.
//! Memory is in `memory`, system operations in `system`.

use arch::feature::Feature;
use sem::{Access, Assist, AtomicOp, BranchKind, Done, FpEnv, Insn, Machine, Pure, Quad, System, TagOp, Word};

use crate::pe::Pe;
use crate::stop::Stop;

/// A register's 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct Q(pub u128);

impl Quad for Q {
    type Word = u64;
    #[inline(always)]
    fn from_halves(lo: u64, hi: u64) -> Self {
        Self(u128::from(hi) << 64 | u128::from(lo))
    }
    #[inline(always)]
    fn lo(self) -> u64 {
        self.0 as u64
    }
    #[inline(always)]
    fn hi(self) -> u64 {
        (self.0 >> 64) as u64
    }
}

/// For each condition a mask over the 16 values of NZCV: bit n is set where the condition holds for NZCV = n.
const CONDITIONS: [u16; 16] = conditions();

/// ConditionHolds of the shared pseudocode, for NZCV in bits 31 to 28.
#[inline(always)]
pub(crate) fn condition_holds(cond: u32, nzcv: u64) -> bool {
    CONDITIONS[(cond & 15) as usize] >> (nzcv >> 28 & 15) & 1 == 1
}

const fn conditions() -> [u16; 16] {
    let mut table = [0; 16];
    let mut cond = 0;
    while cond < 16 {
        let mut nzcv = 0;
        while nzcv < 16 {
            let (n, z, c, v) = (nzcv & 8 != 0, nzcv & 4 != 0, nzcv & 2 != 0, nzcv & 1 != 0);
            let base = match cond >> 1 {
                0 => z,
                1 => c,
                2 => n,
                3 => v,
                4 => c && !z,
                5 => n == v,
                6 => n == v && !z,
                _ => true,
            };
            // ConditionHolds: bit 0 inverts, except for the always conditions 111x.
            let holds = if cond & 1 == 1 && cond != 15 { !base } else { base };
            if holds {
                table[cond] |= 1 << nzcv;
            }
            nzcv += 1;
        }
        cond += 1;
    }
    table
}

impl Machine for Pe {
    type Word = u64;
    type Quad = Q;
    type Stop = Stop;

    #[inline(always)]
    fn x(&mut self, n: u32) -> u64 {
        self.x[(n & 31) as usize]
    }
    #[inline(always)]
    fn set_x(&mut self, n: u32, value: u64) {
        self.x[(n & 31) as usize] = value;
        // x[31] stands for XZR, so that reads need no test.
        self.x[31] = 0;
    }
    #[inline(always)]
    fn sp(&mut self) -> u64 {
        self.sp
    }
    #[inline(always)]
    fn set_sp(&mut self, value: u64) {
        self.sp = value;
    }
    #[inline(always)]
    fn pc(&mut self, insn: Insn) -> u64 {
        self.pc.wrapping_add(u64::from(insn.offset()))
    }
    #[inline(always)]
    fn nzcv(&mut self) -> u64 {
        self.nzcv
    }
    #[inline(always)]
    fn set_nzcv(&mut self, value: u64) {
        self.nzcv = value;
    }
    #[inline(always)]
    fn condition(&mut self, cond: u32) -> u64 {
        u64::from(condition_holds(cond, self.nzcv))
    }
    #[inline(always)]
    fn add_with_carry(&mut self, bits: u32, a: u64, b: u64, carry: u64) -> (u64, u64) {
        if bits == 32 {
            let (a, b) = (a as u32, b as u32);
            let wide = u64::from(a) + u64::from(b) + carry;
            let result = wide as u32;
            let overflow = (a ^ result) & (b ^ result);
            let nzcv = u64::from(result >> 31) << 31
                | u64::from(result == 0) << 30
                | (wide >> 32) << 29
                | u64::from(overflow >> 31) << 28;
            (u64::from(result), nzcv)
        } else {
            let (partial, carry1) = a.overflowing_add(b);
            let (result, carry2) = partial.overflowing_add(carry);
            let overflow = (a ^ result) & (b ^ result);
            let nzcv = (result >> 63) << 31
                | u64::from(result == 0) << 30
                | u64::from(carry1 | carry2) << 29
                | (overflow >> 63) << 28;
            (result, nzcv)
        }
    }
    #[inline(always)]
    fn logic_flags(&mut self, bits: u32, result: u64) -> u64 {
        let result = result.zext(bits);
        (result >> (bits - 1)) << 31 | u64::from(result == 0) << 30
    }

    #[inline(always)]
    fn q(&mut self, n: u32) -> Q {
        self.q[(n & 31) as usize]
    }
    #[inline(always)]
    fn set_q(&mut self, n: u32, value: Q) {
        self.q[(n & 31) as usize] = value;
    }
    #[inline(always)]
    fn check_fp(&mut self) -> Done<Self> {
        if self.fp_enabled { Ok(()) } else { self.fp_access_trap() }
    }
    #[inline(always)]
    fn pure(&mut self, function: Pure, operands: [Q; 3]) -> Q {
        let mut env = FpEnv { fpcr: self.fpcr, fpsr: self.fpsr };
        let result = (function.run)(&mut env, operands.map(|q| q.0));
        self.fpsr = env.fpsr;
        Q(result)
    }

    #[inline(always)]
    fn load(&mut self, address: u64, access: Access) -> Result<u64, Stop> {
        self.load_word(address, access)
    }
    #[inline(always)]
    fn store(&mut self, address: u64, value: u64, access: Access) -> Done<Self> {
        self.store_word(address, value, access)
    }
    fn load_quad(&mut self, address: u64, access: Access) -> Result<Q, Stop> {
        self.load_quadword(address, access)
    }
    fn store_quad(&mut self, address: u64, value: Q, access: Access) -> Done<Self> {
        self.store_quadword(address, value, access)
    }
    fn load_exclusive(&mut self, address: u64, access: Access) -> Result<u64, Stop> {
        self.exclusive_load(address, access)
    }
    fn load_exclusive_pair(&mut self, address: u64, access: Access) -> Result<(u64, u64), Stop> {
        self.exclusive_load_pair(address, access)
    }
    fn store_exclusive(&mut self, address: u64, value: u64, access: Access) -> Result<u64, Stop> {
        self.exclusive_store(address, value, access)
    }
    fn store_exclusive_pair(&mut self, address: u64, values: (u64, u64), access: Access) -> Result<u64, Stop> {
        self.exclusive_store_pair(address, values, access)
    }
    fn atomic(&mut self, op: AtomicOp, address: u64, operand: u64, access: Access) -> Result<u64, Stop> {
        self.read_modify_write(address, access, |old| op.apply(access.log2, old, operand))
    }
    fn compare_swap(&mut self, address: u64, expected: u64, new: u64, access: Access) -> Result<u64, Stop> {
        let bits = 8 << access.log2;
        self.read_modify_write(address, access, |old| if old == expected.zext(bits) { new } else { old })
    }
    fn compare_swap_pair(
        &mut self,
        address: u64,
        expected: (u64, u64),
        new: (u64, u64),
        access: Access,
    ) -> Result<(u64, u64), Stop> {
        self.read_modify_write_pair(address, access, expected, new)
    }

    fn tags(&mut self, op: TagOp, address: u64, value: u64) -> Result<u64, Stop> {
        self.tag_operation(op, address, value)
    }

    #[inline(always)]
    fn check_sp_alignment(&mut self) -> Done<Self> {
        if self.sp & self.sp_align_mask == 0 { Ok(()) } else { self.sp_alignment_fault() }
    }

    #[inline(always)]
    fn branch(&mut self, kind: BranchKind, target: u64) -> Done<Self> {
        if matches!(kind, BranchKind::Indirect | BranchKind::IndirectVeneer | BranchKind::IndirectCall)
            && self.model.has(Feature::FEAT_BTI)
        {
            self.set_branch_type(kind);
        }
        // Only a register can hold a target with a tag: then the top byte is neither all zeros nor all ones.
        self.next_pc = if (target >> 55).wrapping_add(1) & 0x1fe == 0 { target } else { self.branch_address(target) };
        Ok(())
    }
    #[inline(always)]
    fn branch_if(&mut self, condition: u64, target: u64) -> Done<Self> {
        if condition != 0 {
            self.next_pc = target;
        }
        Ok(())
    }
    fn not_done(&mut self, insn: Insn) -> Done<Self> {
        self.report_not_done(insn)
    }
    fn assist(&mut self, insn: Insn, op: Assist, operands: [u64; 3]) -> Result<u64, Stop> {
        self.assist_with(insn, op, operands)
    }
    fn system(&mut self, insn: Insn, op: System, argument: u64) -> Result<u64, Stop> {
        self.system_operation(insn, op, argument)
    }
}
