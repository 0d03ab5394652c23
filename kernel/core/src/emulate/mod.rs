//! MRS of the ID space at EL0 (op0 3, op1 0, CRn 0, CRm 0 and 2 to 7): the ABI that Linux documents in
//! Documentation/arch/arm64/cpu-feature-registers.rst.
//!
//! `mrs=lockfree` (default): one look into a table that never changes once programs run. The way writes nothing but the
//! thread's own frame. `mrs=locked`: as Linux did it up to 6.1, see [`locked`].
//!
//! With FEAT_IDST the access comes as EC 0x18 and the syndrome has all of it; without, as EC 0x00, and the instruction is
//! read from memory. Both end in [`emulate`].

mod locked;

use arch::sysreg::Enc;
use hal::sync::Once;
use hal::trap::UserFrame;

use crate::feature::registers::space_index;
use crate::sched::CURRENT;
use crate::{cmdline, feature};

/// What a register of the ID space reads as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// Always this.
    Const(u64),
    /// MIDR_EL1 of the CPU that the thread happens to be on.
    ThisCpuMidr,
    /// It is refused.
    Sigill,
}

/// By CRm x 8 + op2.
type Table = [Answer; 64];

/// All that the way reads. It has its cache lines for itself, so that nobody's stores take them away.
#[repr(align(64))]
struct Constants {
    table: Once<Table>,
    /// Set if `mrs=locked`.
    locked: Once<&'static locked::Hooks>,
}
static CONSTANTS: Constants = Constants { table: Once::new(), locked: Once::new() };

/// MPIDR_EL1 for EL0: RES1 bit 31 alone. Affinities are nobody's business.
const MPIDR: u64 = 1 << 31;

fn answers(user: impl Fn(usize) -> u64) -> Table {
    core::array::from_fn(|at| match (at / 8, at % 8) {
        (0, 0) => Answer::ThisCpuMidr,
        (0, 5) => Answer::Const(MPIDR),
        (0, 6) => Answer::Const(0),
        (0 | 1, _) => Answer::Sigill,
        _ => Answer::Const(user(at)),
    })
}

/// Builds the table, once the features are final and before programs run.
pub fn init() {
    let _ = CONSTANTS.table.set(answers(feature::user_value));
    if cmdline::value("mrs") == Some("locked") {
        let _ = CONSTANTS.locked.set(locked::hooks());
    }
}

/// An MRS, taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mrs {
    register: Enc,
    rt: usize,
}

/// MRS: bits \[31:20\] are 0xd53.
fn decode(word: u32) -> Option<Mrs> {
    // Bit 20 is op0's upper bit, which all encodings of MRS have.
    let mrs = Mrs { register: Enc((word >> 5) as u16 | 1 << 15), rt: (word & 31) as usize };
    (word & 0xfff0_0000 == 0xd530_0000).then_some(mrs)
}

/// The syndrome of EC 0x18: Op0 21:20, Op2 19:17, Op1 16:14, CRn 13:10, Rt 9:5, CRm 4:1, Direction 0 (1: a read).
fn of_syndrome(esr: u64) -> Option<Mrs> {
    let field = |lsb: u32, width: u32| (esr >> lsb & ((1 << width) - 1)) as u16;
    let register = Enc::new(field(20, 2), field(14, 3), field(10, 4), field(1, 4), field(17, 3));
    (esr & 1 != 0).then_some(Mrs { register, rt: field(5, 5) as usize })
}

/// The word at the PC, as a fetch would have it: little-endian, also from a page that EL0 may only execute. `None`: it has
/// gone since.
fn fetch(pc: u64) -> Option<u32> {
    hal::uaccess::load32(pc).ok().or_else(|| fetch_unreadable(pc))
}

#[cold]
#[inline(never)]
fn fetch_unreadable(pc: u64) -> Option<u32> {
    CURRENT.get().mm().ok()?.fetch(pc)
}

/// Serves it. `None`: not a read that EL0 may do.
#[inline]
fn emulate(table: &Table, mrs: Mrs, frame: &UserFrame) -> Option<usize> {
    let value = match table[space_index(mrs.register)?] {
        Answer::Const(value) => value,
        Answer::ThisCpuMidr => hal::ident::midr(),
        Answer::Sigill => return None,
    };
    frame.set_register(mrs.rt, value);
    frame.set_pc(frame.pc().wrapping_add(4));
    // BTYPE and SS are as after an instruction that was executed: so a step exception is what follows, if stepping is on.
    frame.set_pstate(frame.pstate() & !(BTYPE | SS));
    Some(mrs.rt)
}
const BTYPE: u64 = 3 << 10;
const SS: u64 = 1 << 21;

/// An exception of EL0 with EC 0x00 or 0x18. `Some`: it was served, and that register of the frame was written (31: none).
pub fn undefined(frame: &UserFrame, esr: u64) -> Option<usize> {
    const EC_SYSREG: u64 = 0x18;
    if !frame.is_user() {
        return None;
    }
    let table = CONSTANTS.table.get()?;
    if esr >> 26 == EC_SYSREG {
        return emulate(table, of_syndrome(esr)?, frame);
    }
    let word = fetch(frame.pc())?;
    match CONSTANTS.locked.get() {
        None => emulate(table, decode(word)?, frame),
        Some(hooks) => by_hooks(hooks, table, word, frame),
    }
}

/// Not inlined: that would make the other way save registers.
#[inline(never)]
fn by_hooks(hooks: &locked::Hooks, table: &Table, word: u32, frame: &UserFrame) -> Option<usize> {
    hooks.find(word, frame.pstate())?(table, word, frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PC: u64 = 0x40_0000;
    fn frame() -> hal::thread::Context {
        hal::fakes_init();
        let context = hal::thread::Context::new().unwrap();
        context.frame().set_pc(PC);
        context.frame().set_pstate(0xf << 28 | BTYPE | SS);
        context
    }
    fn word(register: Enc, rt: u32) -> u32 {
        0xd530_0000 | u32::from(register.0 & 0x7fff) << 5 | rt
    }
    fn syndrome(register: Enc, rt: u64) -> u64 {
        let place = |value: u16, lsb: u32| u64::from(value) << lsb;
        0x18 << 26
            | 1 << 25
            | place(register.op0(), 20)
            | place(register.op2(), 17)
            | place(register.op1(), 14)
            | place(register.crn(), 10)
            | rt << 5
            | place(register.crm(), 1)
            | 1
    }

    proptest! {
        /// The two ways into the kernel mean the same; and whatever the instruction, nothing else is touched.
        #[test]
        fn both_syndromes_agree(bits in any::<u16>(), narrow in any::<bool>(), rt in 0u32..32, salt in any::<u64>()) {
            // Half of them in the ID space, the rest anywhere.
            let register = Enc(if narrow { 0xc000 | bits & 0x7f } else { bits | 1 << 15 });
            let table = answers(|at| salt.wrapping_mul(at as u64 + 1));
            let decoded = decode(word(register, rt)).unwrap();
            prop_assert_eq!(Some(decoded), of_syndrome(syndrome(register, u64::from(rt))));
            prop_assert_eq!(decoded, Mrs { register, rt: rt as usize });

            let context = frame();
            let frame = context.frame();
            let served = emulate(&table, decoded, frame);
            let is_space = register.op0() == 3 && register.op1() == 0 && register.crn() == 0 && register.crm() < 8;
            let is_read = is_space && register.crm() != 1
                && (register.crm() != 0 || [0, 5, 6].contains(&register.op2()));
            prop_assert_eq!(served, is_read.then_some(rt as usize));
            prop_assert_eq!(frame.pc(), if is_read { PC + 4 } else { PC });
            let pstate = 0xf << 28 | if is_read { 0 } else { BTYPE | SS };
            prop_assert_eq!(frame.pstate(), pstate);
            for n in (0..31).filter(|n| served.is_none() || *n != rt as usize) {
                prop_assert_eq!(frame.register(n), 0);
            }
            if is_read && register.crm() > 1 && rt < 31 {
                let at = u64::from(register.crm() * 8 + register.op2());
                prop_assert_eq!(frame.register(rt as usize), salt.wrapping_mul(at + 1));
            }
        }

        #[test]
        fn only_mrs_is_decoded(word in any::<u32>()) {
            prop_assert_eq!(decode(word).is_some(), word >> 20 == 0xd53);
            prop_assert!(decode(word & !(1 << 21)).is_none(), "MSR is refused");
        }

        /// The list of hooks finds what the table serves.
        #[test]
        fn locked_and_lockfree_agree(n in 0u32..64, rt in 0u32..32) {
            let table = answers(|at| at as u64);
            let word = 0xd538_0000 | n << 5 | rt;
            let hooks = locked::hooks();
            let (first, second) = (frame(), frame());
            let hook = hooks.find(word, first.frame().pstate()).expect("MRS has a hook");
            let by_hook = hook(&table, word, first.frame());
            let directly = emulate(&table, decode(word).unwrap(), second.frame());
            prop_assert_eq!(by_hook, directly);
            prop_assert!((0..31).all(|n| first.frame().register(n) == second.frame().register(n)));
            prop_assert!(hooks.find(0, 0).is_none());
        }
    }

    #[test]
    fn aarch32_is_refused() {
        let context = frame();
        context.frame().set_pstate(0x10);
        let _ = CONSTANTS.table.set(answers(|_| 0));
        assert_eq!(undefined(context.frame(), syndrome(Enc::new(3, 0, 0, 6, 0), 0)), None);
        context.frame().set_pstate(0);
        assert_eq!(undefined(context.frame(), syndrome(Enc::new(3, 0, 0, 6, 0), 0)), Some(0));
        assert_eq!(undefined(context.frame(), syndrome(Enc::new(3, 0, 0, 6, 0), 0) & !1), None, "a write");
    }
}
