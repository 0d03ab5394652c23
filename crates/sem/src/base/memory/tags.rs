//! Load/store memory tags, and STGP. FEAT_MTE, FEAT_MTE2. None of them is checked against tags itself.

use super::address::{Addressing, Base, Offset, PostIndex, PreIndex, XnOrSp};
use crate::base::tags::with_tag;
use crate::insn::Insn;
use crate::machine::{Access, Done, Machine, TagCheck, TagOp};
use crate::spec::plain;

crate::encodings! {
    "*post_*" => "* {Xt|sp}, [{Xn|sp}], #{imm9*16:s}";
    "*pre_*" => "* {Xt|sp}, [{Xn|sp}, #{imm9*16:s}]!";
    "*bulk_*" => "* {Xt}, [{Xn|sp}]";
    "LDG_*" => "* {Xt}, [{Xn|sp}{,imm9*16:s}]";
    "*" => "* {Xt|sp}, [{Xn|sp}{,imm9*16:s}]";
    STG_64Spost_ldsttags     "11011001001 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next simm9_granules => stg::<M, PostIndex<XnOrSp>>;
    STG_64Soffset_ldsttags   "11011001001 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next simm9_granules => stg::<M, Offset<XnOrSp>>;
    STG_64Spre_ldsttags      "11011001001 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next simm9_granules => stg::<M, PreIndex<XnOrSp>>;
    STZGM_64bulk_ldsttags    "1101100100100000000000 nnnnn ttttt"   FEAT_MTE2 next plain => stzgm;
    LDG_64Loffset_ldsttags   "11011001011 iiiiiiiii 00 nnnnn ttttt" FEAT_MTE next simm9_granules => ldg;
    STZG_64Spost_ldsttags    "11011001011 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next simm9_granules => stzg::<M, PostIndex<XnOrSp>>;
    STZG_64Soffset_ldsttags  "11011001011 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next simm9_granules => stzg::<M, Offset<XnOrSp>>;
    STZG_64Spre_ldsttags     "11011001011 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next simm9_granules => stzg::<M, PreIndex<XnOrSp>>;
    ST2G_64Spost_ldsttags    "11011001101 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next simm9_granules => st2g::<M, PostIndex<XnOrSp>>;
    ST2G_64Soffset_ldsttags  "11011001101 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next simm9_granules => st2g::<M, Offset<XnOrSp>>;
    ST2G_64Spre_ldsttags     "11011001101 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next simm9_granules => st2g::<M, PreIndex<XnOrSp>>;
    STGM_64bulk_ldsttags     "1101100110100000000000 nnnnn ttttt"   FEAT_MTE2 next plain => stgm;
    STZ2G_64Spost_ldsttags   "11011001111 iiiiiiiii 01 nnnnn ttttt" FEAT_MTE next simm9_granules => stz2g::<M, PostIndex<XnOrSp>>;
    STZ2G_64Soffset_ldsttags "11011001111 iiiiiiiii 10 nnnnn ttttt" FEAT_MTE next simm9_granules => stz2g::<M, Offset<XnOrSp>>;
    STZ2G_64Spre_ldsttags    "11011001111 iiiiiiiii 11 nnnnn ttttt" FEAT_MTE next simm9_granules => stz2g::<M, PreIndex<XnOrSp>>;
    LDGM_64bulk_ldsttags     "1101100111100000000000 nnnnn ttttt"   FEAT_MTE2 next plain => ldgm;
}

/// imm9 at \[20:12\], signed, in granules.
fn simm9_granules(word: u32) -> Option<u64> {
    crate::base::imm::simm9(word).map(|offset| offset << 4)
}

/// The tags or the data and the tags of one or two granules := the logical tag of Xt or SP.
#[inline(always)]
fn store<M: Machine, A: Addressing>(m: &mut M, i: Insn, op: TagOp) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let value = m.x_or_sp(i.rt());
    m.tags(op, address, value)?;
    A::write_back(m, i, base);
    Ok(())
}

fn stg<M: Machine, A: Addressing>(m: &mut M, i: Insn) -> Done<M> {
    store::<M, A>(m, i, TagOp::Store)
}

fn stzg<M: Machine, A: Addressing>(m: &mut M, i: Insn) -> Done<M> {
    store::<M, A>(m, i, TagOp::StoreZero)
}

fn st2g<M: Machine, A: Addressing>(m: &mut M, i: Insn) -> Done<M> {
    store::<M, A>(m, i, TagOp::StorePair)
}

fn stz2g<M: Machine, A: Addressing>(m: &mut M, i: Insn) -> Done<M> {
    store::<M, A>(m, i, TagOp::StoreZeroPair)
}

/// The logical tag of Xt := the tag in memory.
fn ldg<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let (address, _) = Offset::<XnOrSp>::address(m, i)?;
    let tag = m.tags(TagOp::Load, address & M::Word::from(!15), M::Word::from(0))?;
    let value = with_tag::<M>(m.x(i.rt()), tag);
    m.set_x(i.rt(), value);
    Ok(())
}

fn ldgm<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let tags = m.tags(TagOp::LoadMultiple, address, M::Word::from(0))?;
    m.set_x(i.rt(), tags);
    Ok(())
}

fn stgm<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let value = m.x(i.rt());
    m.tags(TagOp::StoreMultiple, address, value).map(drop)
}

fn stzgm<M: Machine>(m: &mut M, i: Insn) -> Done<M> {
    let address = XnOrSp::read(m, i.rn())?;
    let value = m.x(i.rt());
    m.tags(TagOp::StoreZeroMultiple, address, value).map(drop)
}

/// STGP: the granule := Xt, Xt2, its tag := the logical tag of its address. The tag comes first, since it checks all
/// that can fault.
pub(super) fn store_pair<M: Machine, A: Addressing>(m: &mut M, i: Insn) -> Done<M> {
    let (address, base) = A::address(m, i)?;
    let (first, second) = (m.x(i.rt()), m.x(i.rt2()));
    m.tags(TagOp::Store, address, address)?;
    let access = Access::plain(3).tagged(TagCheck::Unchecked);
    m.store(address, first, access)?;
    m.store(address + M::Word::from(8), second, access)?;
    A::write_back(m, i, base);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decoder;
    use crate::eval::{Flat, Stop, TagControl};
    use crate::footprint::Footprint;

    fn checks(word: u32) -> TagCheck {
        let (id, line) = Decoder::<Flat>::new().decode(word).expect("allocated");
        Footprint::of(id, Insn::new(word, 0, (line.prepare)(word).expect("not reserved"))).memory[0].access.tags
    }

    #[test]
    fn sp_and_pc_with_an_immediate_are_unchecked() {
        for (word, text) in [
            (0xf940_03e0, "ldr x0, [sp]"),
            (0xf940_07e0, "ldr x0, [sp, #8]"),
            (0xf85f_83e0, "ldur x0, [sp, #-8]"),
            (0xf840_0be0, "ldtr x0, [sp]"),
            (0x5800_0000, "ldr x0, ."),
            (0x9c00_0000, "ldr q0, ."),
            (0xa940_0be0, "ldp x0, x2, [sp]"),
            (0xa840_0be0, "ldnp x0, x2, [sp]"),
            (0xc85f_7fe0, "ldxr x0, [sp]"),
            (0xc802_7fe0, "stxr w2, x0, [sp]"),
            (0xc8df_ffe0, "ldar x0, [sp]"),
            (0xc8a2_7fe0, "cas x2, x0, [sp]"),
            (0xf822_03e0, "ldadd x2, x0, [sp]"),
            (0x3dc0_07e0, "ldr q0, [sp, #16]"),
            (0xad40_07e0, "ldp q0, q1, [sp]"),
            (0x4c40_73e0, "ld1 {v0.16b}, [sp]"),
            (0x0d40_07e0, "ld1 {v0.b}[1], [sp]"),
        ] {
            assert_eq!(checks(word), TagCheck::Unchecked, "{text}");
        }
        for (word, text) in [
            (0xf940_0020, "ldr x0, [x1]"),
            (0xf841_07e0, "ldr x0, [sp], #16"),
            (0xf841_0fe0, "ldr x0, [sp, #16]!"),
            (0xf862_6be0, "ldr x0, [sp, x2]"),
            (0xa8c1_0be0, "ldp x0, x2, [sp], #16"),
            (0xa9bf_0be0, "stp x0, x2, [sp, #-16]!"),
            (0xa900_0820, "stp x0, x2, [x1]"),
            (0xc85f_7c20, "ldxr x0, [x1]"),
            (0xc89f_fc20, "stlr x0, [x1]"),
            (0xf822_0020, "ldadd x2, x0, [x1]"),
            (0x3cc1_07e0, "ldr q0, [sp], #16"),
            (0x3d80_0020, "str q0, [x1]"),
            (0x3ce2_6be0, "ldr q0, [sp, x2]"),
            (0xacc1_07e0, "ldp q0, q1, [sp], #32"),
            (0x4cdf_73e0, "ld1 {v0.16b}, [sp], #16"),
            (0x0d9f_07e0, "st1 {v0.b}[1], [sp], #1"),
        ] {
            assert_eq!(checks(word), TagCheck::Checked, "{text}");
        }
        assert_eq!(checks(0x6900_8820), TagCheck::Unchecked, "stgp x0, x2, [x1, #16]");
    }

    const A: u64 = 0x0500_0000_0000_1000;

    fn machine() -> Flat {
        let mut m = Flat { tag_control: TagControl { exclude: 0b10, rgsr: 0x1_00 }, ..Flat::default() };
        (m.x[1], m.x[2], m.sp) = (A, 0x20, A + 0x100);
        m
    }

    #[test]
    fn arithmetic_on_tags() {
        let mut m = machine();
        m.step(0x9181_0c20).unwrap(); // addg x0, x1, #16, #3
        assert_eq!(m.x[0], 0x0800_0000_0000_1010);
        m.x[1] = 0xff00_0000_0000_0010;
        m.step(0xd182_043f).unwrap(); // subg sp, x1, #32, #1
        assert_eq!(m.sp, 0xf0ff_ffff_ffff_fff0, "tag 0 follows 15");
        m.x[1] = A;
        m.step(0x9ac2_1420).unwrap(); // gmi x0, x1, x2
        assert_eq!(m.x[0], 0x20 | 1 << 5);
        m.sp = 0xffff_ffff_ffff_fff0;
        m.step(0x9adf_0020).unwrap(); // subp x0, x1, sp
        assert_eq!(m.x[0], 0x1010);
        m.x[2] = 0x0380_0000_0000_1000;
        m.step(0xbac2_0020).unwrap(); // subps x0, x1, x2
        assert_eq!((m.x[0], m.nzcv), (1 << 55, 0), "bit 55 is the sign: 0x1000 - (0x1000 - 2^55)");
        m.step(0x9ac2_13e0).unwrap(); // irg x0, sp, x2
        // The register gives 1, the next after 0 is excluded.
        assert_eq!((m.x[0], m.tag_control.rgsr), (0xf2ff_ffff_ffff_fff0, 0x10_0002));
    }

    #[test]
    fn tags_and_data_in_memory() {
        let mut m = machine();
        m.memory.write(A, 16, u128::MAX).unwrap();
        m.step(0xd920_143f).unwrap(); // stg sp, [x1], #16
        assert_eq!((m.memory.tag(A), m.x[1]), (5, A + 16));
        m.x[1] = A;
        m.x[0] = 0x0900_0000_0000_0000;
        m.step(0xd9e0_2420).unwrap(); // stz2g x0, [x1], #32
        assert_eq!((m.memory.tag(A), m.memory.tag(A + 16), m.memory.tag(A + 32)), (9, 9, 0));
        assert_eq!((m.memory.read(A, 16), m.x[1]), (Ok(0), A + 32));
        m.x[1] = A + 8;
        m.step(0xd960_1020).unwrap(); // ldg x0, [x1, #16]
        assert_eq!(m.x[0], 0x0900_0000_0000_0000);
        assert_eq!(m.step(0xd960_1820), Err(Stop::Fault { address: A + 24 }), "stzg x0, [x1, #16], misaligned");
        m.x[1] = A;
        m.step(0x6900_8820).unwrap(); // stgp x0, x2, [x1, #16]
        assert_eq!((m.memory.tag(A + 16), m.memory.read(A + 16, 16)), (5, Ok(0x20 << 64 | 9 << 56)));
        m.step(0xd9e0_0020).unwrap(); // ldgm x0, [x1]
        assert_eq!(m.x[0], 0x59);
        m.x[0] = 0x4321;
        m.step(0xd9a0_0020).unwrap(); // stgm x0, [x1]
        assert_eq!([0, 16, 32, 48].map(|at| m.memory.tag(A + at)), [1, 2, 3, 4]);
        m.step(0xd920_0020).unwrap(); // stzgm x0, [x1]
        assert_eq!([0, 16, 32, 48].map(|at| m.memory.tag(A + at)), [1; 4]);
        assert_eq!(m.memory.read(A + 16, 16), Ok(0));
    }
}
