//! A guest state for tests: registers, and a record of all that goes beyond them.

use ir::{Access, Assist, AtomicOp, BranchKind, FpEnv, Pure, State, TagOp};

/// Mixes a number well (SplitMix64's finaliser).
pub fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}

/// Memory answers with a function of the address; every access and call is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorder {
    pub x: [u64; 31],
    pub sp: u64,
    pub nzcv: u64,
    pub q: [u128; 32],
    pub fp: FpEnv,
    pub record: Vec<String>,
    /// Accesses to this address and above stop.
    pub limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Limit(u64),
    NotDone(u32, u32),
    System,
}

impl Recorder {
    fn access(&mut self, what: impl std::fmt::Debug, address: u64, access: Access) -> Result<u64, Stop> {
        if self.limit.is_some_and(|limit| address >= limit) {
            return Err(Stop::Limit(address));
        }
        self.record.push(format!("{what:x?} {address:x} {access:?}"));
        Ok(mix(address) >> (64 - (8 << access.log2)))
    }
}

impl State<u32> for Recorder {
    type Stop = Stop;

    fn read_x(&mut self, n: u8) -> u64 {
        self.x[usize::from(n)]
    }
    fn write_x(&mut self, n: u8, value: u64) {
        self.x[usize::from(n)] = value;
    }
    fn read_sp(&mut self) -> u64 {
        self.sp
    }
    fn write_sp(&mut self, value: u64) {
        self.sp = value;
    }
    fn pc(&mut self, offset: u32) -> u64 {
        0x1000 + u64::from(offset)
    }
    fn read_nzcv(&mut self) -> u64 {
        self.nzcv
    }
    fn write_nzcv(&mut self, value: u64) {
        self.nzcv = value;
    }
    fn read_q(&mut self, n: u8) -> u128 {
        self.q[usize::from(n)]
    }
    fn write_q(&mut self, n: u8, value: u128) {
        self.q[usize::from(n)] = value;
    }

    fn load(&mut self, address: u64, access: Access) -> Result<u64, Stop> {
        self.access("load", address, access)
    }
    fn store(&mut self, address: u64, value: u64, access: Access) -> Result<(), Stop> {
        self.access(("store", value), address, access).map(drop)
    }
    fn load_quad(&mut self, address: u64, access: Access) -> Result<u128, Stop> {
        self.access("load_quad", address, access).map(|value| u128::from(value) << 60 | u128::from(mix(value)))
    }
    fn store_quad(&mut self, address: u64, value: u128, access: Access) -> Result<(), Stop> {
        self.access(("store_quad", value), address, access).map(drop)
    }
    fn load_exclusive(&mut self, address: u64, access: Access) -> Result<u64, Stop> {
        self.access("load_exclusive", address, access)
    }
    fn load_exclusive_pair(&mut self, address: u64, access: Access) -> Result<(u64, u64), Stop> {
        let both = self.access("load_exclusive_pair", address, access)?;
        Ok((both, both / 2))
    }
    fn store_exclusive(&mut self, address: u64, value: u64, access: Access) -> Result<u64, Stop> {
        self.access(("store_exclusive", value), address, access).map(|value| value & 1)
    }
    fn store_exclusive_pair(&mut self, address: u64, values: [u64; 2], access: Access) -> Result<u64, Stop> {
        self.access(("store_exclusive_pair", values), address, access).map(|value| value & 1)
    }
    fn atomic(&mut self, op: AtomicOp, address: u64, operand: u64, access: Access) -> Result<u64, Stop> {
        self.access((op, operand), address, access)
    }
    fn compare_swap(&mut self, address: u64, expected: u64, new: u64, access: Access) -> Result<u64, Stop> {
        self.access(("compare_swap", expected, new), address, access)
    }
    fn compare_swap_pair(
        &mut self,
        address: u64,
        expected: [u64; 2],
        new: [u64; 2],
        access: Access,
    ) -> Result<(u64, u64), Stop> {
        let both = self.access(("compare_swap_pair", expected, new), address, access)?;
        Ok((both / 3, both))
    }

    fn tags(&mut self, op: TagOp, address: u64, value: u64) -> Result<u64, Stop> {
        self.access((op, value), address, Access::plain(0))
    }

    fn check_sp_alignment(&mut self) -> Result<(), Stop> {
        self.record.push("check_sp_alignment".into());
        Ok(())
    }
    fn check_fp(&mut self) -> Result<(), Stop> {
        self.record.push("check_fp".into());
        Ok(())
    }
    fn call(&mut self, function: Pure, operands: [u128; 3]) -> u128 {
        (function.run)(&mut self.fp, operands)
    }
    fn assist(&mut self, offset: u32, word: u32, op: Assist, operands: [u64; 3]) -> Result<u64, Stop> {
        self.record.push(format!("{op:?} {operands:x?} at {offset:x} {word:x}"));
        Ok(operands.into_iter().fold(0, |hash, operand| mix(hash ^ operand)))
    }
    /// Changes SP and the flags; 99 stops.
    fn system(&mut self, call: &u32, argument: u64) -> Result<u64, Stop> {
        if *call == 99 {
            return Err(Stop::System);
        }
        self.record.push(format!("system {call} {argument:x}"));
        self.sp = mix(self.sp);
        self.nzcv = (self.nzcv ^ 0xf << 28) & 0xf << 28;
        Ok(mix(argument))
    }

    fn branch(&mut self, kind: BranchKind, target: u64) -> Result<(), Stop> {
        self.record.push(format!("{kind:?} {target:x}"));
        Ok(())
    }
    fn branch_if(&mut self, condition: u64, target: u64) -> Result<(), Stop> {
        self.record.push(format!("branch_if {condition:x} {target:x}"));
        Ok(())
    }
    fn not_done(&mut self, offset: u32, word: u32) -> Result<(), Stop> {
        Err(Stop::NotDone(offset, word))
    }
}
