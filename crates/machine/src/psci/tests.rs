use proptest::prelude::*;

use super::*;

/// Four CPUs and a half: 0 on, 1 off, 2 pending, 17 (in cluster 1) off.
struct Board;

impl Cpus for Board {
    fn count(&self) -> usize {
        18
    }
    fn affinity(&self, index: usize) -> u64 {
        crate::map::affinity(index)
    }
    fn power(&self, index: usize) -> Power {
        match index {
            0 => Power::On,
            2 => Power::Pending,
            _ => Power::Off,
        }
    }
    fn is_ram(&self, pa: u64) -> bool {
        (0x4000_0000..0x8000_0000).contains(&pa)
    }
}

fn call(args: [u64; 4]) -> Outcome {
    Firmware::new(1).call(&Board, args)
}

const fn returns(x0: i64) -> Outcome {
    Outcome::result(x0)
}

#[test]
fn calls() {
    const RAM: u64 = 0x4008_0000;
    let on = |cpu, entry, context| Outcome::CpuOn { cpu, entry, context };
    for (args, outcome) in [
        // SMCCC_VERSION, SMCCC_ARCH_FEATURES of: itself, ARCH_WORKAROUND_1, _2, _3, a PSCI function.
        ([0x8000_0000, 0, 0, 0], returns(0x1_0001)),
        ([0x8000_0001, 0x8000_0001, 0, 0], returns(0)),
        ([0x8000_0001, 0x8000_8000, 0, 0], returns(-1)),
        ([0x8000_0001, 0x8000_7fff, 0, 0], returns(-1)),
        ([0x8000_0001, 0x8000_3fff, 0, 0], returns(-1)),
        ([0x8000_0001, 0x8400_0000, 0, 0], returns(-1)),
        // PSCI_VERSION; only the lower half of X0 is the identifier.
        ([0x8400_0000, 0, 0, 0], returns(0x1_0001)),
        ([0xffff_ffff_8400_0000, 0, 0, 0], returns(0x1_0001)),
        // PSCI_VERSION has no SMC64 form.
        ([0xc400_0000, 0, 0, 0], returns(-1)),
        ([0x8400_0002, 0, 0, 0], Outcome::CpuOff),
        ([0x8400_0006, 0, 0, 0], returns(2)),
        ([0x8400_0008, 0, 0, 0], Outcome::PowerOff),
        ([0x8400_0009, 0, 0, 0], Outcome::Reset),
        ([0x8400_0012, 0, 0, 0], Outcome::Reset),
        ([0xc400_0012, 0, 7, 0], Outcome::Reset),
        ([0x8400_0012, 0x8000_0000, 0, 0], returns(-2)),
        // PSCI_FEATURES: of CPU_SUSPEND, SMCCC_VERSION, SYSTEM_SUSPEND, TRNG_VERSION.
        ([0x8400_000a, 0xc400_0001, 0, 0], returns(0)),
        ([0x8400_000a, 0x8000_0000, 0, 0], returns(0)),
        ([0x8400_000a, 0xc400_000e, 0, 0], returns(-1)),
        ([0x8400_000a, 0x8400_0050, 0, 0], returns(-1)),
        // SYSTEM_SUSPEND, a vendor's function, a yielding call.
        ([0xc400_000e, RAM, 0, 0], returns(-1)),
        ([0x8600_ff01, 0, 0, 0], returns(-1)),
        ([0, 0, 0, 0], returns(-1)),
        // CPU_ON, 32 and 64 bits: off, on, pending, in another cluster, nobody, reserved bits.
        ([0x8400_0003, 1, 0xffff_ffff_0000_0000 | RAM, 5], on(1, RAM, 5)),
        ([0xc400_0003, 1, RAM, u64::MAX], on(1, RAM, u64::MAX)),
        ([0x8400_0003, 1, RAM, u64::MAX], on(1, RAM, 0xffff_ffff)),
        ([0xc400_0003, 0, RAM, 0], returns(-4)),
        ([0xc400_0003, 2, RAM, 0], returns(-5)),
        ([0xc400_0003, 0x101, RAM, 0], on(17, RAM, 0)),
        ([0xc400_0003, 0x102, RAM, 0], returns(-2)),
        ([0xc400_0003, 0x11, RAM, 0], returns(-2)),
        ([0xc400_0003, 0x8000_0001, RAM, 0], returns(-2)),
        ([0xc400_0003, u64::MAX, RAM, 0], returns(-2)),
        // Entry points outside RAM, misaligned.
        ([0xc400_0003, 1, 0, 0], returns(-9)),
        ([0xc400_0003, 1, 0x8000_0000, 0], returns(-9)),
        ([0xc400_0003, 1, RAM + 2, 0], returns(-9)),
        // AFFINITY_INFO: by CPU, by cluster, of nobody, at a level that is not.
        ([0xc400_0004, 0, 0, 0], returns(0)),
        ([0xc400_0004, 1, 0, 0], returns(1)),
        ([0xc400_0004, 2, 0, 0], returns(2)),
        ([0xc400_0004, 3, 1, 0], returns(0)),
        ([0xc400_0004, 0x100, 1, 0], returns(1)),
        ([0xc400_0004, 0x100, 2, 0], returns(0)),
        ([0xc400_0004, 0x102, 0, 0], returns(-2)),
        ([0xc400_0004, 0, 4, 0], returns(-2)),
        ([0xc400_0004, 1 << 31, 0, 0], returns(-2)),
        // CPU_SUSPEND: standby, powerdown, powerdown to nowhere, reserved bits.
        ([0xc400_0001, 0x0000_0001, 0, 0], Outcome::Standby),
        ([0xc400_0001, 0x0101_0000, RAM, 9], Outcome::Suspend { entry: RAM, context: 9 }),
        ([0xc400_0001, 0x0001_0000, 4, 9], returns(-9)),
        ([0xc400_0001, 0x0002_0000, RAM, 9], returns(-2)),
        ([0x8400_0001, 0x8000_0000, RAM, 9], returns(-2)),
        // TRNG_VERSION, TRNG_FEATURES of TRNG_RND and of a PSCI function, TRNG_RND of too much and of nothing.
        ([0x8400_0050, 0, 0, 0], returns(0x1_0000)),
        ([0x8400_0051, 0xc400_0053, 0, 0], returns(0)),
        ([0x8400_0051, 0x8400_0000, 0, 0], returns(-1)),
        ([0x8400_0053, 97, 0, 0], returns(-2)),
        ([0xc400_0053, 193, 0, 0], returns(-2)),
        ([0xc400_0053, 0, 0, 0], returns(-2)),
    ] {
        assert_eq!(call(args), outcome, "{args:x?}");
    }
}

#[test]
fn random_numbers() {
    let draw = |seed, id: u64, bits| match Firmware::new(seed).call(&Board, [id, bits, 0, 0]) {
        Outcome::Return(x) => x,
        other => panic!("{other:?}"),
    };
    let [x0, high, middle, low] = draw(1, 0xc400_0053, 192);
    assert_eq!(x0, 0);
    assert!(high != 0 && middle != 0 && low != 0 && high != low);
    assert_eq!(draw(1, 0xc400_0053, 192), [x0, high, middle, low]);
    assert_ne!(draw(2, 0xc400_0053, 192), [x0, high, middle, low]);
    let [_, high, middle, low] = draw(1, 0xc400_0053, 65);
    assert!(high == 0 && middle <= 1 && low >> 32 != 0);
    let [_, high, middle, low] = draw(1, 0x8400_0053, 96);
    assert!([high, middle, low].iter().all(|word| *word != 0 && *word >> 32 == 0));
    let mut firmware = Firmware::new(1);
    let args = [0xc400_0053, 64, 0, 0];
    assert_ne!(firmware.call(&Board, args), firmware.call(&Board, args));
}

proptest! {
    /// Any call is answered, and nothing but a CPU that is off is ever started, in RAM.
    #[test]
    fn any_call(id in prop_oneof![0x8400_0000u64..0x8400_0060, 0xc400_0000u64..0xc400_0060, any::<u64>()],
                a in prop_oneof![0u64..40, any::<u64>()], b: u64, c: u64) {
        match call([id, a, b, c]) {
            Outcome::CpuOn { cpu, entry, .. } => {
                prop_assert_eq!(Board.power(cpu), Power::Off);
                prop_assert!(Board.is_ram(entry));
            }
            Outcome::Suspend { entry, .. } => prop_assert!(Board.is_ram(entry)),
            _ => {}
        }
    }
}
