//! System instructions that EL2 may trap, in the order of their encodings: name, `op1 CRn CRm op2` (op0 is 1), the controls
//! of HCR_EL2, the bit of HFGITR_EL2.

use super::Instruction;
use crate::field::hcr_el2::*;
use crate::sysreg::Enc;

macro_rules! instructions {
    ($($name:literal $op1:literal $crn:literal $crm:literal $op2:literal [$($field:ident)*] $fine:tt;)*) => {
        /// One line an instruction.
        pub static INSTRUCTIONS: &[Instruction] = &[$(Instruction {
            name: $name,
            enc: Enc::new(1, $op1, $crn, $crm, $op2),
            coarse: &[$($field),*],
            fine: instructions!(@ $fine),
        }),*];
    };
    (@ -) => { None };
    (@ $bit:literal) => { Some($bit) };
}

// Of the controls by shareability, TTLBIS, TTLBOS and TICAB come with FEAT_EVT, as does TOCU. Tags share the bits of data.
instructions! {
    "IC IALLUIS"     0 7  1 0  [TPU TICAB]   0;
    "IC IALLU"       0 7  5 0  [TPU TOCU]    1;
    "DC IVAC"        0 7  6 1  [TPCP]        3;
    "DC ISW"         0 7  6 2  [TSW]         4;
    "DC IGVAC"       0 7  6 3  [TPCP]        3;
    "DC IGSW"        0 7  6 4  [TSW]         4;
    "DC IGDVAC"      0 7  6 5  [TPCP]        3;
    "DC IGDSW"       0 7  6 6  [TSW]         4;
    "AT S1E1R"       0 7  8 0  [AT]          12;
    "AT S1E1W"       0 7  8 1  [AT]          13;
    "AT S1E0R"       0 7  8 2  [AT]          14;
    "AT S1E0W"       0 7  8 3  [AT]          15;
    "AT S1E1RP"      0 7  9 0  [AT]          16;
    "AT S1E1WP"      0 7  9 1  [AT]          17;
    "DC CSW"         0 7 10 2  [TSW]         5;
    "DC CGSW"        0 7 10 4  [TSW]         5;
    "DC CGDSW"       0 7 10 6  [TSW]         5;
    "DC CISW"        0 7 14 2  [TSW]         6;
    "DC CIGSW"       0 7 14 4  [TSW]         6;
    "DC CIGDSW"      0 7 14 6  [TSW]         6;
    "TLBI VMALLE1OS" 0 8  1 0  [TTLB TTLBOS] 18;
    "TLBI VAE1OS"    0 8  1 1  [TTLB TTLBOS] 19;
    "TLBI ASIDE1OS"  0 8  1 2  [TTLB TTLBOS] 20;
    "TLBI VAAE1OS"   0 8  1 3  [TTLB TTLBOS] 21;
    "TLBI VALE1OS"   0 8  1 5  [TTLB TTLBOS] 22;
    "TLBI VAALE1OS"  0 8  1 7  [TTLB TTLBOS] 23;
    "TLBI RVAE1IS"   0 8  2 1  [TTLB TTLBIS] 34;
    "TLBI RVAAE1IS"  0 8  2 3  [TTLB TTLBIS] 35;
    "TLBI RVALE1IS"  0 8  2 5  [TTLB TTLBIS] 36;
    "TLBI RVAALE1IS" 0 8  2 7  [TTLB TTLBIS] 37;
    "TLBI VMALLE1IS" 0 8  3 0  [TTLB TTLBIS] 28;
    "TLBI VAE1IS"    0 8  3 1  [TTLB TTLBIS] 29;
    "TLBI ASIDE1IS"  0 8  3 2  [TTLB TTLBIS] 30;
    "TLBI VAAE1IS"   0 8  3 3  [TTLB TTLBIS] 31;
    "TLBI VALE1IS"   0 8  3 5  [TTLB TTLBIS] 32;
    "TLBI VAALE1IS"  0 8  3 7  [TTLB TTLBIS] 33;
    "TLBI RVAE1OS"   0 8  5 1  [TTLB TTLBOS] 24;
    "TLBI RVAAE1OS"  0 8  5 3  [TTLB TTLBOS] 25;
    "TLBI RVALE1OS"  0 8  5 5  [TTLB TTLBOS] 26;
    "TLBI RVAALE1OS" 0 8  5 7  [TTLB TTLBOS] 27;
    "TLBI RVAE1"     0 8  6 1  [TTLB]        38;
    "TLBI RVAAE1"    0 8  6 3  [TTLB]        39;
    "TLBI RVALE1"    0 8  6 5  [TTLB]        40;
    "TLBI RVAALE1"   0 8  6 7  [TTLB]        41;
    "TLBI VMALLE1"   0 8  7 0  [TTLB]        42;
    "TLBI VAE1"      0 8  7 1  [TTLB]        43;
    "TLBI ASIDE1"    0 8  7 2  [TTLB]        44;
    "TLBI VAAE1"     0 8  7 3  [TTLB]        45;
    "TLBI VALE1"     0 8  7 5  [TTLB]        46;
    "TLBI VAALE1"    0 8  7 7  [TTLB]        47;
    "DC ZVA"         3 7  4 1  [TDZ]         11;
    "DC GVA"         3 7  4 3  [TDZ]         11;
    "DC GZVA"        3 7  4 4  [TDZ]         11;
    "IC IVAU"        3 7  5 1  [TPU TOCU]    2;
    "DC CVAC"        3 7 10 1  [TPCP]        54;
    "DC CGVAC"       3 7 10 3  [TPCP]        54;
    "DC CGDVAC"      3 7 10 5  [TPCP]        54;
    "DC CVAU"        3 7 11 1  [TPU TOCU]    7;
    "DC CVAP"        3 7 12 1  [TPCP]        8;
    "DC CGVAP"       3 7 12 3  [TPCP]        8;
    "DC CGDVAP"      3 7 12 5  [TPCP]        8;
    "DC CVADP"       3 7 13 1  [TPCP]        9;
    "DC CGVADP"      3 7 13 3  [TPCP]        9;
    "DC CGDVADP"     3 7 13 5  [TPCP]        9;
    "DC CIVAC"       3 7 14 1  [TPCP]        10;
    "DC CIGVAC"      3 7 14 3  [TPCP]        10;
    "DC CIGDVAC"     3 7 14 5  [TPCP]        10;
}
