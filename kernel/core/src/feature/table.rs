//! The fields of the ID registers, one line each: name, lowest bit (and highest, where it is not a 4-bit field), whether
//! EL0 sees it, whether a variation is expected, signed or not, kind, safe value. Bits that no line has read as zero.
//!
//! What EL0 sees is the ABI that Linux documents (Documentation/arch/arm64/cpu-feature-registers.rst) and programs rely on.

use arch::field::Field;
use arch::sysreg::Reg;

use super::field::{IdField, Kind::*, Strictness::*, Visibility, Visibility::*};

/// What needs registers that are not switched with threads yet: the scalable vectors and matrices. Hidden.
#[allow(non_upper_case_globals)]
const Vectors: Visibility = Hidden;

macro_rules! sign {
    (u) => {
        false
    };
    (s) => {
        true
    };
}
macro_rules! place {
    ($lsb:literal) => {
        Field::span($lsb + 3, $lsb)
    };
    ($lsb:literal $msb:literal) => {
        Field::span($msb, $lsb)
    };
}
macro_rules! fields {
    ($($register:ident { $($name:ident [$($bit:literal)*] $visibility:ident $strictness:ident $sign:ident $kind:ident
        $safe:literal;)* })*) => {
        /// All fields.
        pub static FIELDS: &[IdField] = &[$($(IdField {
            register: Reg::$register,
            name: stringify!($name),
            place: place!($($bit)*),
            is_signed: sign!($sign),
            visibility: $visibility,
            strictness: $strictness,
            kind: $kind,
            safe: $safe,
        }),*),*];
    };
}

fields! {
    ID_AA64PFR0_EL1 {
        csv3       [60]    Hidden   Relaxed u LowerSafe        0;
        csv2       [56]    Hidden   Relaxed u LowerSafe        0;
        dit        [48]    Visible  Strict  u LowerSafe        0;
        amu        [44]    Hidden   Relaxed u LowerSafe        0;
        mpam       [40]    Hidden   Strict  u LowerSafe        0;
        sve        [32]    Vectors  Strict  u LowerSafe        0;
        ras        [28]    Hidden   Strict  u LowerSafe        0;
        gic        [24]    Hidden   Strict  u LowerSafe        0;
        advsimd    [20]    Visible  Strict  s LowerSafe        -1;
        fp         [16]    Visible  Strict  s LowerSafe        -1;
        el3        [12]    Hidden   Strict  u LowerSafe        0;
        el2        [8]     Hidden   Strict  u LowerSafe        0;
        el1        [4]     Hidden   Strict  u LowerSafe        1;
        el0        [0]     Hidden   Strict  u LowerSafe        1;
    }
    ID_AA64PFR1_EL1 {
        the        [48]    Hidden   Strict  u LowerSafe        0;
        gcs        [44]    Hidden   Strict  u LowerSafe        0;
        nmi        [36]    Hidden   Strict  u LowerSafe        0;
        csv2_frac  [32]    Hidden   Relaxed u LowerSafe        0;
        sme        [24]    Vectors  Strict  u LowerSafe        0;
        mpam_frac  [16]    Hidden   Strict  u LowerSafe        0;
        ras_frac   [12]    Hidden   Strict  u LowerSafe        0;
        mte        [8]     Visible  Strict  u LowerSafe        0;
        ssbs       [4]     Visible  Relaxed u LowerSafe        0;
        bt         [0]     Visible  Strict  u LowerSafe        0;
    }
    ID_AA64PFR2_EL1 {
        fpmr       [32]    Vectors  Strict  u LowerSafe        0;
    }
    ID_AA64ZFR0_EL1 {
        f64mm      [56]    Vectors  Strict  u LowerSafe        0;
        f32mm      [52]    Vectors  Strict  u LowerSafe        0;
        i8mm       [44]    Vectors  Strict  u LowerSafe        0;
        sm4        [40]    Vectors  Strict  u LowerSafe        0;
        sha3       [32]    Vectors  Strict  u LowerSafe        0;
        b16b16     [24]    Vectors  Strict  u LowerSafe        0;
        bf16       [20]    Vectors  Strict  u LowerSafe        0;
        bitperm    [16]    Vectors  Strict  u LowerSafe        0;
        aes        [4]     Vectors  Strict  u LowerSafe        0;
        svever     [0]     Vectors  Strict  u LowerSafe        0;
    }
    ID_AA64SMFR0_EL1 {
        fa64       [63 63] Vectors  Strict  u Exact            0;
        smever     [56]    Vectors  Strict  u Exact            0;
        i16i64     [52]    Vectors  Strict  u Exact            0;
        f64f64     [48 48] Vectors  Strict  u Exact            0;
        i16i32     [44]    Vectors  Strict  u Exact            0;
        b16b16     [43 43] Vectors  Strict  u Exact            0;
        f16f16     [42 42] Vectors  Strict  u Exact            0;
        i8i32      [36]    Vectors  Strict  u Exact            0;
        f16f32     [35 35] Vectors  Strict  u Exact            0;
        b16f32     [34 34] Vectors  Strict  u Exact            0;
        bi32i32    [33 33] Vectors  Strict  u Exact            0;
        f32f32     [32 32] Vectors  Strict  u Exact            0;
    }
    ID_AA64DFR0_EL1 {
        doublelock [36]    Hidden   Strict  s LowerSafe        0;
        pmsver     [32]    Hidden   Relaxed u LowerSafe        0;
        ctx_cmps   [28]    Hidden   Strict  u LowerSafe        0;
        wrps       [20]    Hidden   Strict  u LowerSafe        0;
        brps       [12]    Hidden   Strict  u LowerSafe        0;
        pmuver     [8]     Hidden   Relaxed s Exact            0;
        debugver   [0]     Hidden   Strict  u Exact            6;
    }
    ID_AA64ISAR0_EL1 {
        rndr       [60]    Visible  Strict  u LowerSafe        0;
        tlb        [56]    Hidden   Strict  u LowerSafe        0;
        ts         [52]    Visible  Strict  u LowerSafe        0;
        fhm        [48]    Visible  Strict  u LowerSafe        0;
        dp         [44]    Visible  Strict  u LowerSafe        0;
        sm4        [40]    Visible  Strict  u LowerSafe        0;
        sm3        [36]    Visible  Strict  u LowerSafe        0;
        sha3       [32]    Visible  Strict  u LowerSafe        0;
        rdm        [28]    Visible  Strict  u LowerSafe        0;
        atomic     [20]    Visible  Strict  u LowerSafe        0;
        crc32      [16]    Visible  Strict  u LowerSafe        0;
        sha2       [12]    Visible  Strict  u LowerSafe        0;
        sha1       [8]     Visible  Strict  u LowerSafe        0;
        aes        [4]     Visible  Strict  u LowerSafe        0;
    }
    ID_AA64ISAR1_EL1 {
        ls64       [60]    Hidden   Strict  u LowerSafe        0;
        xs         [56]    Hidden   Strict  u LowerSafe        0;
        i8mm       [52]    Visible  Strict  u LowerSafe        0;
        dgh        [48]    Visible  Strict  u LowerSafe        0;
        bf16       [44]    Visible  Strict  u LowerSafe        0;
        specres    [40]    Hidden   Strict  u LowerSafe        0;
        sb         [36]    Visible  Strict  u LowerSafe        0;
        frintts    [32]    Visible  Strict  u LowerSafe        0;
        gpi        [28]    Visible  Strict  u LowerSafe        0;
        gpa        [24]    Visible  Strict  u LowerSafe        0;
        lrcpc      [20]    Visible  Strict  u LowerSafe        0;
        fcma       [16]    Visible  Strict  u LowerSafe        0;
        jscvt      [12]    Visible  Strict  u LowerSafe        0;
        api        [8]     Visible  Strict  u Exact            0;
        apa        [4]     Visible  Strict  u Exact            0;
        dpb        [0]     Visible  Strict  u LowerSafe        0;
    }
    ID_AA64ISAR2_EL1 {
        cssc       [52]    Visible  Relaxed u LowerSafe        0;
        rprfm      [48]    Visible  Relaxed u LowerSafe        0;
        clrbhb     [28]    Hidden   Relaxed u LowerSafe        0;
        pac_frac   [24]    Hidden   Strict  u LowerSafe        0;
        bc         [20]    Visible  Relaxed u LowerSafe        0;
        mops       [16]    Visible  Strict  u LowerSafe        0;
        apa3       [12]    Visible  Strict  u Exact            0;
        gpa3       [8]     Visible  Strict  u LowerSafe        0;
        rpres      [4]     Visible  Relaxed u LowerSafe        0;
        wfxt       [0]     Visible  Relaxed u LowerSafe        0;
    }
    ID_AA64ISAR3_EL1 {
        faminmax   [4]     Visible  Relaxed u LowerSafe        0;
    }
    ID_AA64MMFR0_EL1 {
        ecv        [60]    Visible  Strict  u LowerSafe        0;
        fgt        [56]    Hidden   Strict  u LowerSafe        0;
        exs        [44]    Hidden   Strict  u LowerSafe        0;
        tgran4_2   [40]    Hidden   Relaxed u Exact            1;
        tgran64_2  [36]    Hidden   Relaxed u Exact            1;
        tgran16_2  [32]    Hidden   Relaxed u Exact            1;
        tgran4     [28]    Hidden   Strict  s LowerSafe        -1;
        tgran64    [24]    Hidden   Strict  s LowerSafe        -1;
        tgran16    [20]    Hidden   Strict  u LowerSafe        0;
        bigendel0  [16]    Hidden   Strict  u LowerSafe        0;
        snsmem     [12]    Hidden   Strict  u LowerSafe        0;
        bigend     [8]     Hidden   Strict  u LowerSafe        0;
        asidbits   [4]     Hidden   Strict  u LowerSafe        0;
        parange    [0]     Hidden   Strict  u LowerSafe        0;
    }
    ID_AA64MMFR1_EL1 {
        ecbhb      [60]    Hidden   Relaxed u LowerSafe        0;
        tidcp1     [52]    Hidden   Relaxed u LowerSafe        0;
        afp        [44]    Visible  Relaxed u LowerSafe        0;
        hcx        [40]    Hidden   Relaxed u LowerSafe        0;
        ets        [36]    Hidden   Strict  u LowerSafe        0;
        twed       [32]    Hidden   Strict  u LowerSafe        0;
        xnx        [28]    Hidden   Strict  u LowerSafe        0;
        specsei    [24]    Hidden   Strict  u HigherSafe       0;
        pan        [20]    Hidden   Strict  u LowerSafe        0;
        lo         [16]    Hidden   Strict  u LowerSafe        0;
        hpds       [12]    Hidden   Strict  u LowerSafe        0;
        vh         [8]     Hidden   Strict  u LowerSafe        0;
        vmidbits   [4]     Hidden   Strict  u LowerSafe        0;
        hafdbs     [0]     Hidden   Strict  u LowerSafe        0;
    }
    ID_AA64MMFR2_EL1 {
        e0pd       [60]    Hidden   Relaxed u LowerSafe        0;
        evt        [56]    Hidden   Strict  u LowerSafe        0;
        bbm        [52]    Hidden   Strict  u LowerSafe        0;
        ttl        [48]    Hidden   Strict  u LowerSafe        0;
        fwb        [40]    Hidden   Strict  u LowerSafe        0;
        ids        [36]    Hidden   Strict  u LowerSafe        0;
        at         [32]    Visible  Strict  u LowerSafe        0;
        st         [28]    Hidden   Strict  u LowerSafe        0;
        nv         [24]    Hidden   Strict  u LowerSafe        0;
        ccidx      [20]    Hidden   Strict  u LowerSafe        0;
        varange    [16]    Hidden   Strict  u LowerSafe        0;
        iesb       [12]    Hidden   Strict  u LowerSafe        0;
        lsm        [8]     Hidden   Strict  u LowerSafe        0;
        uao        [4]     Hidden   Strict  u LowerSafe        0;
        cnp        [0]     Hidden   Strict  u LowerSafe        0;
    }
    ID_AA64MMFR3_EL1 {
        s1poe      [16]    Hidden   Strict  u LowerSafe        0;
        s1pie      [8]     Hidden   Strict  u LowerSafe        0;
        sctlrx     [4]     Hidden   Strict  u LowerSafe        0;
        tcrx       [0]     Hidden   Strict  u LowerSafe        0;
    }
    ID_AA64MMFR4_EL1 {
        e2h0       [24]    Hidden   Strict  s LowerSafe        0;
    }
    CTR_EL0 {
        tminline   [32 37] Hidden   Strict  u LowerSafe        0;
        dic        [29 29] Visible  Strict  u LowerSafe        1;
        idc        [28 28] Visible  Strict  u LowerSafe        1;
        cwg        [24]    Visible  Strict  u HigherOrZeroSafe 0;
        erg        [20]    Visible  Strict  u HigherOrZeroSafe 0;
        dminline   [16]    Visible  Strict  u LowerSafe        1;
        l1ip       [14 15] Visible  Relaxed u Exact            2;
        iminline   [0]     Visible  Strict  u LowerSafe        0;
    }
    DCZID_EL0 {
        dzp        [4 4]   Visible  Strict  u HigherSafe       1;
        bs         [0]     Visible  Strict  u LowerSafe        0;
    }
}
