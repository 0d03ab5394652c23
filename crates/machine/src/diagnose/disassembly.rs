//! One instruction as text.

use arch::Va;
use arch::sysreg::{self, Enc};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Opcode, Operand};

/// The instruction `word` at `pc`, in the assembler's syntax: `b.ne 0x40001000`. Words that are no instruction, or a newer one
/// than the disassembler knows, are `.inst 0x...`.
#[must_use]
pub fn disassemble(word: u32, pc: Va) -> String {
    if let Some(text) = system_register(word) {
        return text;
    }
    let bytes = word.to_le_bytes();
    let Ok(instruction) = InstDecoder::default().decode(&mut U8Reader::new(&bytes)) else {
        return format!(".inst {word:#010x}");
    };
    let text = instruction.to_string();
    let offset = instruction.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(offset) => Some(*offset),
        _ => None,
    });
    // The disassembler does not know the address: it writes `$+0x10` for a target.
    match (offset, text.find('$')) {
        (Some(offset), Some(at)) => {
            let base = if instruction.opcode == Opcode::ADRP { pc.align_down(4096) } else { pc };
            let behind = text[at..].find([',', ' ', ']']).map_or(text.len(), |len| at + len);
            format!("{}{}{}", &text[..at], base.add(offset.cast_unsigned()), &text[behind..])
        }
        _ => text,
    }
}

/// MRS and MSR (register) with the names of `arch`, which are more and newer.
fn system_register(word: u32) -> Option<String> {
    let register = || sysreg::lookup(Enc::of_word(word)).map(|reg| reg.name().to_ascii_lowercase());
    let general = match word & 31 {
        31 => "xzr".to_owned(),
        n => format!("x{n}"),
    };
    match word >> 20 {
        0xd53 => Some(format!("mrs {general}, {}", register()?)),
        0xd51 => Some(format!("msr {}, {general}", register()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let pc = Va(0xffff_8000_1000_0ffc);
        for (word, text) in [
            (0xd503201f, "nop"),
            (0xa9bf7bfd, "stp x29, x30, [sp, #-0x10]!"),
            (0x94000010, "bl 0xffff80001000103c"),
            (0x17ffffff, "b 0xffff800010000ff8"),
            (0x54000041, "b.ne 0xffff800010001004"),
            (0xb4ffffe0, "cbz x0, 0xffff800010000ff8"),
            (0x36080041, "tbz w1, #0x1, 0xffff800010001004"),
            (0x10000000, "adr x0, 0xffff800010000ffc"),
            (0xb0000001, "adrp x1, 0xffff800010001000"),
            (0x58000040, "ldr x0, 0xffff800010001004"),
            (0xd5384240, "mrs x0, currentel"),
            (0xd538c01f, "mrs xzr, vbar_el1"),
            (0xd518c000, "msr vbar_el1, x0"),
            (0x00000000, "udf #0x0"),
            (0xffffffff, ".inst 0xffffffff"),
        ] {
            assert_eq!(disassemble(word, pc), text, "{word:08x}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { cases: 20_000, ..Default::default() })]

        #[test]
        fn every_word_has_a_text(word: u32, pc: u64) {
            proptest::prop_assert!(!disassemble(word, Va(pc)).is_empty());
        }
    }
}
