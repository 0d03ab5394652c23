//! Loads and stores of single structures, and LD1R to LD4R. DDI 0487 C4.1 "Advanced SIMD load/store single
//! structure".

use crate::insn::Insn;
use crate::machine::{Access, Done, Machine, Order};
use crate::simd::ldst_multiple::{post_index, tags};
use crate::simd::{element, replicate, with_element};
use crate::spec::plain;
use crate::word::Quad;

crate::encodings! {
    "LD*R_asisdlso_*" => "* {list}, [{Xn|sp}]";
    "*_asisdlso_*" => "* {lane}, [{Xn|sp}]";
    "LD*R_asisdlsop_RX*" => "* {list}, [{Xn|sp}], {Xm}";
    "LD*R_asisdlsop_*" => "* {list}, [{Xn|sp}], #{bytes}";
    "*_asisdlsop_*X*" => "* {lane}, [{Xn|sp}], {Xm}";
    "*_asisdlsop_*" => "* {lane}, [{Xn|sp}], #{bytes}";
    ST1_asisdlso_B1_1b    "0 Q 00110100000000000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 0>;
    ST3_asisdlso_B3_3b    "0 Q 00110100000000001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 0>;
    ST1_asisdlso_H1_1h    "0 Q 00110100000000010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 1>;
    ST3_asisdlso_H3_3h    "0 Q 00110100000000011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 1>;
    ST1_asisdlso_S1_1s    "0 Q 00110100000000100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 2>;
    ST1_asisdlso_D1_1d    "0 Q 00110100000000100001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 3>;
    ST3_asisdlso_S3_3s    "0 Q 00110100000000101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 2>;
    ST3_asisdlso_D3_3d    "0 Q 00110100000000101001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 3>;
    STL1_asisdlso_D1      "0 Q 00110100000001100001 nnnnn ttttt" FEAT_LRCPC3 next plain => store_ordered;
    ST2_asisdlso_B2_2b    "0 Q 00110100100000000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 0>;
    ST4_asisdlso_B4_4b    "0 Q 00110100100000001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 0>;
    ST2_asisdlso_H2_2h    "0 Q 00110100100000010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 1>;
    ST4_asisdlso_H4_4h    "0 Q 00110100100000011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 1>;
    ST2_asisdlso_S2_2s    "0 Q 00110100100000100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 2>;
    ST2_asisdlso_D2_2d    "0 Q 00110100100000100001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 3>;
    ST4_asisdlso_S4_4s    "0 Q 00110100100000101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 2>;
    ST4_asisdlso_D4_4d    "0 Q 00110100100000101001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 3>;
    LD1_asisdlso_B1_1b    "0 Q 00110101000000000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 0>;
    LD3_asisdlso_B3_3b    "0 Q 00110101000000001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 0>;
    LD1_asisdlso_H1_1h    "0 Q 00110101000000010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 1>;
    LD3_asisdlso_H3_3h    "0 Q 00110101000000011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 1>;
    LD1_asisdlso_S1_1s    "0 Q 00110101000000100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 2>;
    LD1_asisdlso_D1_1d    "0 Q 00110101000000100001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 3>;
    LD3_asisdlso_S3_3s    "0 Q 00110101000000101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 2>;
    LD3_asisdlso_D3_3d    "0 Q 00110101000000101001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 3>;
    LD1R_asisdlso_R1      "0 Q 001101010000001100 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 1>;
    LD3R_asisdlso_R3      "0 Q 001101010000001110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 3>;
    LDAP1_asisdlso_D1     "0 Q 00110101000001100001 nnnnn ttttt" FEAT_LRCPC3 next plain => load_ordered;
    LD2_asisdlso_B2_2b    "0 Q 00110101100000000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 0>;
    LD4_asisdlso_B4_4b    "0 Q 00110101100000001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 0>;
    LD2_asisdlso_H2_2h    "0 Q 00110101100000010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 1>;
    LD4_asisdlso_H4_4h    "0 Q 00110101100000011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 1>;
    LD2_asisdlso_S2_2s    "0 Q 00110101100000100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 2>;
    LD2_asisdlso_D2_2d    "0 Q 00110101100000100001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 3>;
    LD4_asisdlso_S4_4s    "0 Q 00110101100000101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 2>;
    LD4_asisdlso_D4_4d    "0 Q 00110101100000101001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 3>;
    LD2R_asisdlso_R2      "0 Q 001101011000001100 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 2>;
    LD4R_asisdlso_R4      "0 Q 001101011000001110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 4>;
    ST1_asisdlsop_BX1_r1b "0 Q 001101100 mmmmm 000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 0>;
    ST3_asisdlsop_BX3_r3b "0 Q 001101100 mmmmm 001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 0>;
    ST1_asisdlsop_HX1_r1h "0 Q 001101100 mmmmm 010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 1>;
    ST3_asisdlsop_HX3_r3h "0 Q 001101100 mmmmm 011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 1>;
    ST1_asisdlsop_SX1_r1s "0 Q 001101100 mmmmm 100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 2>;
    ST1_asisdlsop_DX1_r1d "0 Q 001101100 mmmmm 100001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 3>;
    ST3_asisdlsop_SX3_r3s "0 Q 001101100 mmmmm 101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 2>;
    ST3_asisdlsop_DX3_r3d "0 Q 001101100 mmmmm 101001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 3>;
    ST1_asisdlsop_B1_i1b  "0 Q 00110110011111000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 0>;
    ST3_asisdlsop_B3_i3b  "0 Q 00110110011111001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 0>;
    ST1_asisdlsop_H1_i1h  "0 Q 00110110011111010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 1>;
    ST3_asisdlsop_H3_i3h  "0 Q 00110110011111011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 1>;
    ST1_asisdlsop_S1_i1s  "0 Q 00110110011111100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 2>;
    ST1_asisdlsop_D1_i1d  "0 Q 00110110011111100001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 1, 3>;
    ST3_asisdlsop_S3_i3s  "0 Q 00110110011111101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 2>;
    ST3_asisdlsop_D3_i3d  "0 Q 00110110011111101001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 3, 3>;
    ST2_asisdlsop_BX2_r2b "0 Q 001101101 mmmmm 000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 0>;
    ST4_asisdlsop_BX4_r4b "0 Q 001101101 mmmmm 001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 0>;
    ST2_asisdlsop_HX2_r2h "0 Q 001101101 mmmmm 010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 1>;
    ST4_asisdlsop_HX4_r4h "0 Q 001101101 mmmmm 011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 1>;
    ST2_asisdlsop_SX2_r2s "0 Q 001101101 mmmmm 100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 2>;
    ST2_asisdlsop_DX2_r2d "0 Q 001101101 mmmmm 100001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 3>;
    ST4_asisdlsop_SX4_r4s "0 Q 001101101 mmmmm 101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 2>;
    ST4_asisdlsop_DX4_r4d "0 Q 001101101 mmmmm 101001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 3>;
    ST2_asisdlsop_B2_i2b  "0 Q 00110110111111000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 0>;
    ST4_asisdlsop_B4_i4b  "0 Q 00110110111111001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 0>;
    ST2_asisdlsop_H2_i2h  "0 Q 00110110111111010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 1>;
    ST4_asisdlsop_H4_i4h  "0 Q 00110110111111011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 1>;
    ST2_asisdlsop_S2_i2s  "0 Q 00110110111111100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 2>;
    ST2_asisdlsop_D2_i2d  "0 Q 00110110111111100001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 2, 3>;
    ST4_asisdlsop_S4_i4s  "0 Q 00110110111111101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 2>;
    ST4_asisdlsop_D4_i4d  "0 Q 00110110111111101001 nnnnn ttttt" FEAT_AdvSIMD next plain => store::<M, 4, 3>;
    LD1_asisdlsop_BX1_r1b "0 Q 001101110 mmmmm 000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 0>;
    LD3_asisdlsop_BX3_r3b "0 Q 001101110 mmmmm 001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 0>;
    LD1_asisdlsop_HX1_r1h "0 Q 001101110 mmmmm 010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 1>;
    LD3_asisdlsop_HX3_r3h "0 Q 001101110 mmmmm 011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 1>;
    LD1_asisdlsop_SX1_r1s "0 Q 001101110 mmmmm 100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 2>;
    LD1_asisdlsop_DX1_r1d "0 Q 001101110 mmmmm 100001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 3>;
    LD3_asisdlsop_SX3_r3s "0 Q 001101110 mmmmm 101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 2>;
    LD3_asisdlsop_DX3_r3d "0 Q 001101110 mmmmm 101001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 3>;
    LD1R_asisdlsop_RX1_r  "0 Q 001101110 mmmmm 1100 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 1>;
    LD3R_asisdlsop_RX3_r  "0 Q 001101110 mmmmm 1110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 3>;
    LD1_asisdlsop_B1_i1b  "0 Q 00110111011111000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 0>;
    LD3_asisdlsop_B3_i3b  "0 Q 00110111011111001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 0>;
    LD1_asisdlsop_H1_i1h  "0 Q 00110111011111010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 1>;
    LD3_asisdlsop_H3_i3h  "0 Q 00110111011111011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 1>;
    LD1_asisdlsop_S1_i1s  "0 Q 00110111011111100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 2>;
    LD1_asisdlsop_D1_i1d  "0 Q 00110111011111100001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 1, 3>;
    LD3_asisdlsop_S3_i3s  "0 Q 00110111011111101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 2>;
    LD3_asisdlsop_D3_i3d  "0 Q 00110111011111101001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 3, 3>;
    LD1R_asisdlsop_R1_i   "0 Q 001101110111111100 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 1>;
    LD3R_asisdlsop_R3_i   "0 Q 001101110111111110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 3>;
    LD2_asisdlsop_BX2_r2b "0 Q 001101111 mmmmm 000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 0>;
    LD4_asisdlsop_BX4_r4b "0 Q 001101111 mmmmm 001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 0>;
    LD2_asisdlsop_HX2_r2h "0 Q 001101111 mmmmm 010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 1>;
    LD4_asisdlsop_HX4_r4h "0 Q 001101111 mmmmm 011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 1>;
    LD2_asisdlsop_SX2_r2s "0 Q 001101111 mmmmm 100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 2>;
    LD2_asisdlsop_DX2_r2d "0 Q 001101111 mmmmm 100001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 3>;
    LD4_asisdlsop_SX4_r4s "0 Q 001101111 mmmmm 101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 2>;
    LD4_asisdlsop_DX4_r4d "0 Q 001101111 mmmmm 101001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 3>;
    LD2R_asisdlsop_RX2_r  "0 Q 001101111 mmmmm 1100 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 2>;
    LD4R_asisdlsop_RX4_r  "0 Q 001101111 mmmmm 1110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 4>;
    LD2_asisdlsop_B2_i2b  "0 Q 00110111111111000 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 0>;
    LD4_asisdlsop_B4_i4b  "0 Q 00110111111111001 S zz nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 0>;
    LD2_asisdlsop_H2_i2h  "0 Q 00110111111111010 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 1>;
    LD4_asisdlsop_H4_i4h  "0 Q 00110111111111011 S z 0 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 1>;
    LD2_asisdlsop_S2_i2s  "0 Q 00110111111111100 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 2>;
    LD2_asisdlsop_D2_i2d  "0 Q 00110111111111100001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 2, 3>;
    LD4_asisdlsop_S4_i4s  "0 Q 00110111111111101 S 00 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 2>;
    LD4_asisdlsop_D4_i4d  "0 Q 00110111111111101001 nnnnn ttttt" FEAT_AdvSIMD next plain => load::<M, 4, 3>;
    LD2R_asisdlsop_R2_i   "0 Q 001101111111111100 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 2>;
    LD4R_asisdlsop_R4_i   "0 Q 001101111111111110 zz nnnnn ttttt" FEAT_AdvSIMD next plain => load_replicate::<M, 4>;
}

/// The element's index: Q:S:size without the bits that the element's size takes.
#[inline(always)]
fn index(i: Insn, log2: u32) -> u32 {
    (i.bit(30) << 3 | i.bit(12) << 2 | i.bits(11, 10)) >> log2
}

fn load<M: Machine, const REGS: usize, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let base = m.x_or_sp(i.rn());
    let mut values = [M::Word::from(0); REGS];
    for (r, value) in values.iter_mut().enumerate() {
        *value = m.load(base + M::Word::from((r as u64) << LOG2), Access::plain(LOG2).tagged(tags(i)))?;
    }
    for (n, value) in (i.rt()..).zip(values) {
        let old = m.q(n % 32);
        m.set_q(n % 32, with_element(old, LOG2, index(i, LOG2), value));
    }
    post_index(m, i, base, (REGS as u32) << LOG2);
    Ok(())
}

fn store<M: Machine, const REGS: usize, const LOG2: u32>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let base = m.x_or_sp(i.rn());
    for r in 0..REGS as u32 {
        let value = element(m.q((i.rt() + r) % 32), LOG2, index(i, LOG2));
        m.store(base + M::Word::from(u64::from(r << LOG2)), value, Access::plain(LOG2).tagged(tags(i)))?;
    }
    post_index(m, i, base, (REGS as u32) << LOG2);
    Ok(())
}

fn load_replicate<M: Machine, const REGS: usize>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let (base, log2) = (m.x_or_sp(i.rn()), i.bits(11, 10));
    let mut values = [M::Word::from(0); REGS];
    for (r, value) in values.iter_mut().enumerate() {
        *value = m.load(base + M::Word::from((r as u64) << log2), Access::plain(log2).tagged(tags(i)))?;
    }
    for (n, value) in (i.rt()..).zip(values) {
        let half = replicate(8 << log2, value);
        let high = if i.bit(30) == 1 { half } else { M::Word::from(0) };
        m.set_q(n % 32, M::Quad::from_halves(half, high));
    }
    post_index(m, i, base, (REGS as u32) << log2);
    Ok(())
}

fn load_ordered<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let base = m.x_or_sp(i.rn());
    let value = m.load(base, Access::ordered(3, Order::AcquirePc).tagged(tags(i)))?;
    let old = m.q(i.rt());
    m.set_q(i.rt(), with_element(old, 3, i.bit(30), value));
    Ok(())
}

fn store_ordered<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    m.check_fp()?;
    if i.rn() == 31 {
        m.check_sp_alignment()?;
    }
    let base = m.x_or_sp(i.rn());
    let value = element(m.q(i.rt()), 3, i.bit(30));
    m.store(base, value, Access::ordered(3, Order::Release).tagged(tags(i)))
}
