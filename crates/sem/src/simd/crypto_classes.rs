//! Cryptographic encodings: AES, SHA1, SHA256, SHA512, SHA3, SM3, SM4. DDI 0487 C4.1 "Cryptographic …".

use crate::crypto::{aes, sha1, sha256, sha512, sm3, sm4};
use crate::insn::Insn;
use crate::machine::{Done, Machine, Pure};
use crate::simd::{constant, dup_element};
use crate::spec::plain;
use crate::word::{Quad, Word};

crate::encodings! {
    "*_B_cryptoaes" => "* {Vd.16b}, {Vn.16b}";
    "SHA1H_*" => "* {Sd}, {Sn}";
    "*_VV_cryptosha2" => "* {Vd.4s}, {Vn.4s}";
    "*_QSV_*" => "* {Qd}, {Sn}, {Vm.4s}";
    "SHA512H*_QQV_*" => "* {Qd}, {Qn}, {Vm.2d}";
    "*_QQV_*" => "* {Qd}, {Qn}, {Vm.4s}";
    "*_VVV_cryptosha3" => "* {Vd.4s}, {Vn.4s}, {Vm.4s}";
    "*_VV2_*" => "* {Vd.2d}, {Vn.2d}";
    "*_VV4_*" => "* {Vd.4s}, {Vn.4s}";
    "*_VVV2_cryptosha512_3" => "* {Vd.2d}, {Vn.2d}, {Vm.2d}";
    "*_VVV4_cryptosha512_3" => "* {Vd.4s}, {Vn.4s}, {Vm.4s}";
    "*_VVV16_*" => "* {Vd.16b}, {Vn.16b}, {Vm.16b}, {Va.16b}";
    "SM3SS1_*" => "* {Vd.4s}, {Vn.4s}, {Vm.4s}, {Va.4s}";
    "SM3TT*" => "* {Vd.4s}, {Vn.4s}, {Vm.s}[{imm2}]";
    "XAR_*" => "* {Vd.2d}, {Vn.2d}, {Vm.2d}, #{imms}";
    AESE_B_cryptoaes              "0100111000101000010010 nnnnn ddddd" FEAT_AES next plain => |m, i| accumulate(m, i, AESE);
    AESD_B_cryptoaes              "0100111000101000010110 nnnnn ddddd" FEAT_AES next plain => |m, i| accumulate(m, i, AESD);
    AESMC_B_cryptoaes             "0100111000101000011010 nnnnn ddddd" FEAT_AES next plain => |m, i| accumulate(m, i, AESMC);
    AESIMC_B_cryptoaes            "0100111000101000011110 nnnnn ddddd" FEAT_AES next plain => |m, i| accumulate(m, i, AESIMC);
    SHA1H_SS_cryptosha2           "0101111000101000000010 nnnnn ddddd" FEAT_SHA1 next plain => sha1h;
    SHA1SU1_VV_cryptosha2         "0101111000101000000110 nnnnn ddddd" FEAT_SHA1 next plain => |m, i| accumulate(m, i, SHA1SU1);
    SHA256SU0_VV_cryptosha2       "0101111000101000001010 nnnnn ddddd" FEAT_SHA256 next plain => |m, i| accumulate(m, i, SHA256SU0);
    SHA1C_QSV_cryptosha3          "01011110000 mmmmm 000000 nnnnn ddddd" FEAT_SHA1 next plain => |m, i| accumulate3(m, i, SHA1C);
    SHA1P_QSV_cryptosha3          "01011110000 mmmmm 000100 nnnnn ddddd" FEAT_SHA1 next plain => |m, i| accumulate3(m, i, SHA1P);
    SHA1M_QSV_cryptosha3          "01011110000 mmmmm 001000 nnnnn ddddd" FEAT_SHA1 next plain => |m, i| accumulate3(m, i, SHA1M);
    SHA1SU0_VVV_cryptosha3        "01011110000 mmmmm 001100 nnnnn ddddd" FEAT_SHA1 next plain => |m, i| accumulate3(m, i, SHA1SU0);
    SHA256H_QQV_cryptosha3        "01011110000 mmmmm 010000 nnnnn ddddd" FEAT_SHA256 next plain => |m, i| accumulate3(m, i, SHA256H);
    SHA256H2_QQV_cryptosha3       "01011110000 mmmmm 010100 nnnnn ddddd" FEAT_SHA256 next plain => |m, i| accumulate3(m, i, SHA256H2);
    SHA256SU1_VVV_cryptosha3      "01011110000 mmmmm 011000 nnnnn ddddd" FEAT_SHA256 next plain => |m, i| accumulate3(m, i, SHA256SU1);
    SHA512SU0_VV2_cryptosha512_2  "1100111011000000100000 nnnnn ddddd" FEAT_SHA512 next plain => |m, i| accumulate(m, i, SHA512SU0);
    SM4E_VV4_cryptosha512_2       "1100111011000000100001 nnnnn ddddd" FEAT_SM4 next plain => |m, i| accumulate(m, i, SM4E);
    SHA512H_QQV_cryptosha512_3    "11001110011 mmmmm 100000 nnnnn ddddd" FEAT_SHA512 next plain => |m, i| accumulate3(m, i, SHA512H);
    SHA512H2_QQV_cryptosha512_3   "11001110011 mmmmm 100001 nnnnn ddddd" FEAT_SHA512 next plain => |m, i| accumulate3(m, i, SHA512H2);
    SHA512SU1_VVV2_cryptosha512_3 "11001110011 mmmmm 100010 nnnnn ddddd" FEAT_SHA512 next plain => |m, i| accumulate3(m, i, SHA512SU1);
    RAX1_VVV2_cryptosha512_3      "11001110011 mmmmm 100011 nnnnn ddddd" FEAT_SHA3 next plain => |m, i| halves(m, i, |n, m, _| n ^ m.ror(M::Word::from(63)));
    SM3PARTW1_VVV4_cryptosha512_3 "11001110011 mmmmm 110000 nnnnn ddddd" FEAT_SM3 next plain => |m, i| accumulate3(m, i, SM3PARTW1);
    SM3PARTW2_VVV4_cryptosha512_3 "11001110011 mmmmm 110001 nnnnn ddddd" FEAT_SM3 next plain => |m, i| accumulate3(m, i, SM3PARTW2);
    SM4EKEY_VVV4_cryptosha512_3   "11001110011 mmmmm 110010 nnnnn ddddd" FEAT_SM4 next plain => sm4ekey;
    EOR3_VVV16_crypto4            "11001110000 mmmmm 0 aaaaa nnnnn ddddd" FEAT_SHA3 next plain => |m, i| halves(m, i, |n, m, a| n ^ m ^ a);
    BCAX_VVV16_crypto4            "11001110001 mmmmm 0 aaaaa nnnnn ddddd" FEAT_SHA3 next plain => |m, i| halves(m, i, |n, m, a| n ^ m & !a);
    SM3SS1_VVV4_crypto4           "11001110010 mmmmm 0 aaaaa nnnnn ddddd" FEAT_SM3 next plain => sm3ss1;
    SM3TT1A_VVV4_crypto3_imm2     "11001110010 mmmmm 10 ii 00 nnnnn ddddd" FEAT_SM3 next plain => |m, i| sm3tt(m, i, SM3TT1A);
    SM3TT1B_VVV4_crypto3_imm2     "11001110010 mmmmm 10 ii 01 nnnnn ddddd" FEAT_SM3 next plain => |m, i| sm3tt(m, i, SM3TT1B);
    SM3TT2A_VVV4_crypto3_imm2     "11001110010 mmmmm 10 ii 10 nnnnn ddddd" FEAT_SM3 next plain => |m, i| sm3tt(m, i, SM3TT2A);
    SM3TT2B_VVV_crypto3_imm2      "11001110010 mmmmm 10 ii 11 nnnnn ddddd" FEAT_SM3 next plain => |m, i| sm3tt(m, i, SM3TT2B);
    XAR_VVV2_crypto3_imm6         "11001110100 mmmmm iiiiii nnnnn ddddd" FEAT_SHA3 next plain => |m, i| halves(m, i, |n, m, _| (n ^ m).ror(M::Word::from(u64::from(i.bits(15, 10)))));
}

/// Vd = f(Vn, Vd).
fn accumulate<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let (n, d) = (m.q(i.rn()), m.q(i.rd()));
    let result = m.pure(f, [n, d, constant::<M>(0)]);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Vd = f(Vn, Vm, Vd).
fn accumulate3<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), m.q(i.rd())];
    let result = m.pure(f, operands);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Each half of Vd = f(Vn, Vm, Va).
fn halves<M: Machine>(m: &mut M, i: Insn, f: impl Fn(M::Word, M::Word, M::Word) -> M::Word) -> Done<M> {
    m.check_fp()?;
    let (a, b, c) = (m.q(i.rn()), m.q(i.rm()), m.q(i.ra()));
    m.set_q(i.rd(), M::Quad::from_halves(f(a.lo(), b.lo(), c.lo()), f(a.hi(), b.hi(), c.hi())));
    Ok(())
}

fn sha1h<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let word = m.q(i.rn()).lo().zext(32);
    let rotated = word.shl(M::Word::from(30)) | word.lshr(M::Word::from(2));
    m.set_q(i.rd(), M::Quad::from_lo(rotated.zext(32)));
    Ok(())
}

fn sm3ss1<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), m.q(i.ra())];
    let result = m.pure(SM3SS1, operands);
    m.set_q(i.rd(), result);
    Ok(())
}

/// Vd = f(Vn, element imm2 of Vm, Vd).
fn sm3tt<M: Machine>(m: &mut M, i: Insn, f: Pure) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), dup_element(m.q(i.rm()), 2, i.bits(13, 12)), m.q(i.rd())];
    let result = m.pure(f, operands);
    m.set_q(i.rd(), result);
    Ok(())
}

fn sm4ekey<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    let operands = [m.q(i.rn()), m.q(i.rm()), constant::<M>(0)];
    let result = m.pure(SM4EKEY, operands);
    m.set_q(i.rd(), result);
    Ok(())
}

const fn pure(name: &'static str, run: fn(&mut crate::machine::FpEnv, [u128; 3]) -> u128) -> Pure {
    Pure { name, run }
}

const AESE: Pure = pure("AESE", |_, [n, d, _]| aes::encrypt(d, n));
const AESD: Pure = pure("AESD", |_, [n, d, _]| aes::decrypt(d, n));
const AESMC: Pure = pure("AESMC", |_, [n, ..]| aes::mix_columns(n));
const AESIMC: Pure = pure("AESIMC", |_, [n, ..]| aes::inverse_mix_columns(n));
const SHA1C: Pure = pure("SHA1C", |_, [n, m, d]| sha1::hash(d, n, m, sha1::choose));
const SHA1P: Pure = pure("SHA1P", |_, [n, m, d]| sha1::hash(d, n, m, sha1::parity));
const SHA1M: Pure = pure("SHA1M", |_, [n, m, d]| sha1::hash(d, n, m, sha1::majority));
const SHA1SU0: Pure = pure("SHA1SU0", |_, [n, m, d]| sha1::schedule0(d, n, m));
const SHA1SU1: Pure = pure("SHA1SU1", |_, [n, d, _]| sha1::schedule1(d, n));
const SHA256H: Pure = pure("SHA256H", |_, [n, m, d]| sha256::hash(d, n, m).0);
const SHA256H2: Pure = pure("SHA256H2", |_, [n, m, d]| sha256::hash(n, d, m).1);
const SHA256SU0: Pure = pure("SHA256SU0", |_, [n, d, _]| sha256::schedule0(d, n));
const SHA256SU1: Pure = pure("SHA256SU1", |_, [n, m, d]| sha256::schedule1(d, n, m));
const SHA512H: Pure = pure("SHA512H", |_, [n, m, d]| sha512::hash(d, n, m));
const SHA512H2: Pure = pure("SHA512H2", |_, [n, m, d]| sha512::hash2(d, n, m));
const SHA512SU0: Pure = pure("SHA512SU0", |_, [n, d, _]| sha512::schedule0(d, n));
const SHA512SU1: Pure = pure("SHA512SU1", |_, [n, m, d]| sha512::schedule1(d, n, m));
const SM3SS1: Pure = pure("SM3SS1", |_, [n, m, a]| sm3::ss1(n, m, a));
const SM3TT1A: Pure = pure("SM3TT1A", |_, [n, m, d]| sm3::tt1(d, n, m as u32, sha1::parity));
const SM3TT1B: Pure = pure("SM3TT1B", |_, [n, m, d]| sm3::tt1(d, n, m as u32, sha1::majority));
const SM3TT2A: Pure = pure("SM3TT2A", |_, [n, m, d]| sm3::tt2(d, n, m as u32, sha1::parity));
const SM3TT2B: Pure = pure("SM3TT2B", |_, [n, m, d]| sm3::tt2(d, n, m as u32, sha1::choose));
const SM3PARTW1: Pure = pure("SM3PARTW1", |_, [n, m, d]| sm3::part_w1(d, n, m));
const SM3PARTW2: Pure = pure("SM3PARTW2", |_, [n, m, d]| sm3::part_w2(d, n, m));
const SM4E: Pure = pure("SM4E", |_, [n, d, _]| sm4::encrypt(d, n));
const SM4EKEY: Pure = pure("SM4EKEY", |_, [n, m, _]| sm4::key(n, m));
