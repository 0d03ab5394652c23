//! AT_HWCAP and AT_HWCAP2 (arch/arm64/include/uapi/asm/hwcap.h), from what EL0 sees of the ID registers: a line is the
//! bit, the name in /proc/cpuinfo, and the fields with the least value of each.

use arch::sysreg::Reg::{self, *};

use super::registers::{Values, index, known};

/// A capability of programs.
#[derive(Clone, Copy, Debug)]
struct Hwcap {
    word: usize,
    bit: u32,
    name: &'static str,
    fields: &'static [(Reg, u8, i64)],
}

macro_rules! hwcaps {
    ($($word:literal $bit:literal $name:ident $($register:ident $lsb:literal $value:literal)*;)*) => {
        static HWCAPS: &[Hwcap] = &[$(Hwcap {
            word: $word,
            bit: $bit,
            name: stringify!($name),
            fields: &[$(($register, $lsb, $value)),*],
        }),*];
    };
}

hwcaps! {
    0 0  fp       ID_AA64PFR0_EL1 16 0;
    0 1  asimd    ID_AA64PFR0_EL1 20 0;
    0 3  aes      ID_AA64ISAR0_EL1 4 1;
    0 4  pmull    ID_AA64ISAR0_EL1 4 2;
    0 5  sha1     ID_AA64ISAR0_EL1 8 1;
    0 6  sha2     ID_AA64ISAR0_EL1 12 1;
    0 7  crc32    ID_AA64ISAR0_EL1 16 1;
    0 8  atomics  ID_AA64ISAR0_EL1 20 2;
    0 9  fphp     ID_AA64PFR0_EL1 16 1;
    0 10 asimdhp  ID_AA64PFR0_EL1 20 1;
    0 11 cpuid;
    0 12 asimdrdm ID_AA64ISAR0_EL1 28 1;
    0 13 jscvt    ID_AA64ISAR1_EL1 12 1;
    0 14 fcma     ID_AA64ISAR1_EL1 16 1;
    0 15 lrcpc    ID_AA64ISAR1_EL1 20 1;
    0 16 dcpop    ID_AA64ISAR1_EL1 0 1;
    0 17 sha3     ID_AA64ISAR0_EL1 32 1;
    0 18 sm3      ID_AA64ISAR0_EL1 36 1;
    0 19 sm4      ID_AA64ISAR0_EL1 40 1;
    0 20 asimddp  ID_AA64ISAR0_EL1 44 1;
    0 21 sha512   ID_AA64ISAR0_EL1 12 2;
    0 23 asimdfhm ID_AA64ISAR0_EL1 48 1;
    0 24 dit      ID_AA64PFR0_EL1 48 1;
    0 25 uscat    ID_AA64MMFR2_EL1 32 1;
    0 26 ilrcpc   ID_AA64ISAR1_EL1 20 2;
    0 27 flagm    ID_AA64ISAR0_EL1 52 1;
    0 28 ssbs     ID_AA64PFR1_EL1 4 2;
    0 29 sb       ID_AA64ISAR1_EL1 36 1;
    1 0  dcpodp   ID_AA64ISAR1_EL1 0 2;
    1 7  flagm2   ID_AA64ISAR0_EL1 52 2;
    1 8  frint    ID_AA64ISAR1_EL1 32 1;
    1 13 i8mm     ID_AA64ISAR1_EL1 52 1;
    1 14 bf16     ID_AA64ISAR1_EL1 44 1;
    1 15 dgh      ID_AA64ISAR1_EL1 48 1;
    1 16 rng      ID_AA64ISAR0_EL1 60 1;
    1 17 bti      ID_AA64PFR1_EL1 0 1;
    1 18 mte      ID_AA64PFR1_EL1 8 2;
    1 19 ecv      ID_AA64MMFR0_EL1 60 1;
    1 20 afp      ID_AA64MMFR1_EL1 44 1;
    1 21 rpres    ID_AA64ISAR2_EL1 4 1;
    1 22 mte3     ID_AA64PFR1_EL1 8 3;
    1 31 wfxt     ID_AA64ISAR2_EL1 0 2;
    1 32 ebf16    ID_AA64ISAR1_EL1 44 2;
    1 34 cssc     ID_AA64ISAR2_EL1 52 1;
    1 35 rprfm    ID_AA64ISAR2_EL1 48 1;
    1 43 mops     ID_AA64ISAR2_EL1 16 1;
    1 44 hbc      ID_AA64ISAR2_EL1 20 1;
    1 46 lrcpc3   ID_AA64ISAR1_EL1 20 3;
    1 47 lse128   ID_AA64ISAR0_EL1 20 3;
}

/// A bit of the first word, its name, and fields of which one must be above zero.
type AnyOf = (u32, &'static str, [(Reg, u8); 3]);

/// Address and generic authentication: the field depends on the algorithm.
const PAUTH: [AnyOf; 2] = [
    (30, "paca", [(ID_AA64ISAR1_EL1, 4), (ID_AA64ISAR1_EL1, 8), (ID_AA64ISAR2_EL1, 12)]),
    (31, "pacg", [(ID_AA64ISAR1_EL1, 24), (ID_AA64ISAR1_EL1, 28), (ID_AA64ISAR2_EL1, 8)]),
];

/// What programs are told: AT_HWCAP and AT_HWCAP2. `each` gets the names, in the order of the bits.
pub fn of(user: &dyn Fn(usize) -> u64, each: &mut dyn FnMut(&'static str)) -> [u64; 2] {
    let value = |register: Reg, lsb: u8| known(register, lsb).get(user(index(register)));
    let mut words = [0; 2];
    let mut set = |word: usize, bit: u32, name: &'static str| {
        words[word] |= 1 << bit;
        each(name);
    };
    let pauth = |set: &mut dyn FnMut(usize, u32, &'static str)| {
        for (bit, name, fields) in PAUTH {
            if fields.iter().any(|(register, lsb)| value(*register, *lsb) > 0) {
                set(0, bit, name);
            }
        }
    };
    for (n, hwcap) in HWCAPS.iter().enumerate() {
        if hwcap.word == 1 && HWCAPS[n - 1].word == 0 {
            pauth(&mut set);
        }
        if hwcap.fields.iter().all(|(register, lsb, least)| value(*register, *lsb) >= *least) {
            set(hwcap.word, hwcap.bit, hwcap.name);
        }
    }
    words
}

/// The same from values of all CPUs, without the names.
pub fn words(values: &Values) -> [u64; 2] {
    of(&|at| values.user(at), &mut |_| {})
}

#[cfg(test)]
mod tests {
    use super::super::registers::tests::identity;
    use super::*;

    /// Of Linux 6.12 on the same values, less EVTSTRM (bit 2).
    #[test]
    fn as_linux_says() {
        let cortex_a57 = identity(&[(ID_AA64PFR0_EL1, 0x11), (ID_AA64ISAR0_EL1, 0x1_1120)]);
        assert_eq!(words(&Values::of(&cortex_a57)), [0x8fb, 0]);
        let without_fp = identity(&[(ID_AA64PFR0_EL1, 0xff_0011)]);
        assert_eq!(words(&Values::of(&without_fp)), [1 << 11, 0]);
        let apple_m1 = identity(&[
            (ID_AA64PFR0_EL1, 0x0001_0000_0011_0011),
            (ID_AA64PFR1_EL1, 0x20),
            (ID_AA64ISAR0_EL1, 0x0021_1001_1021_2120),
            (ID_AA64ISAR1_EL1, 0x0000_1011_1021_1202),
            (ID_AA64MMFR2_EL1, 1 << 32),
        ]);
        assert_eq!(words(&Values::of(&apple_m1)), [0xffb3_fffb, 0x4181]);
    }
}
