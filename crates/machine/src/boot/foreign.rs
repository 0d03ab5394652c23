//! Files that people give in place of an arm64 kernel, and what to do with each.

use core::fmt;

/// What a file was recognised as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// Compressed data, by the named program.
    Compressed {
        /// What it is.
        format: &'static str,
        /// The program that unpacks it.
        unpack: &'static str,
    },
    /// An arm64 kernel that unpacks itself under EFI firmware (CONFIG_EFI_ZBOOT).
    Zboot {
        /// Byte at which the payload starts.
        offset: u32,
        /// Bytes of the payload.
        bytes: u32,
        /// Its compression as the header names it; printable characters only.
        format: String,
    },
    /// A PE (EFI) executable for the named machine.
    Pe(String),
    /// Something else that has a name.
    Named {
        /// What it is.
        name: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compressed { format, unpack } => {
                write!(f, "{format} data; if it holds an arm64 Linux Image, unpack it first: {unpack} < FILE > Image")
            }
            Self::Zboot { offset, bytes, format } => {
                write!(f, "an EFI zboot kernel, which only EFI firmware can unpack; take the {format} payload out: ")?;
                let unpack = match format.as_str() {
                    "gzip" => "gunzip",
                    "zstd" | "zstd22" => "zstd -d",
                    "xz" | "xzkern" => "xz -d",
                    "lz4" => "lz4 -d",
                    "lzma" => "lzma -d",
                    "lzo" => "lzop -d",
                    _ => "the program that unpacks it",
                };
                write!(f, "tail -c +{} FILE | head -c {bytes} | {unpack} > Image", u64::from(*offset) + 1)
            }
            Self::Pe(machine) => {
                write!(f, "a PE (EFI) executable for {machine}, without an arm64 Linux Image header")
            }
            Self::Named { name, advice } => write!(f, "{name}; {advice}"),
        }
    }
}

/// Start of a file and what it means.
const MAGIC: &[(&[u8], Foreign)] = &[
    (b"\x1f\x8b", compressed("gzip", "gunzip")),
    (b"\xfd7zXZ\0", compressed("xz", "xz -d")),
    (b"\x28\xb5\x2f\xfd", compressed("zstd", "zstd -d")),
    (b"BZh", compressed("bzip2", "bunzip2")),
    (b"\x02\x21\x4c\x18", compressed("lz4", "lz4 -d")),
    (b"\x04\x22\x4d\x18", compressed("lz4", "lz4 -d")),
    (b"\x89LZO\0", compressed("lzo", "lzop -d")),
    (b"\x5d\0\0", compressed("lzma", "lzma -d")),
    (b"\x27\x05\x19\x56", named("a U-Boot image (uImage)", "give the arm64 Linux Image that it was made of")),
    (
        b"\xd0\x0d\xfe\xed",
        named(
            "a device tree blob or a FIT image",
            "a device tree goes with --dtb, and --kernel takes an Image or an ELF",
        ),
    ),
    (b"070701", named("a cpio archive", "an initramfs goes with --initrd")),
    (b"ANDROID!", named("an Android boot image", "unpack it and give the Image in it")),
    (b"!<arch>", named("an ar archive (a Debian package?)", "unpack it and give the Image in it")),
    (b"#!", named("a script", "--kernel takes an arm64 Linux Image or an AArch64 ELF")),
];

const fn compressed(format: &'static str, unpack: &'static str) -> Foreign {
    Foreign::Compressed { format, unpack }
}

const fn named(name: &'static str, advice: &'static str) -> Foreign {
    Foreign::Named { name, advice }
}

/// Marks inside a file, with their offsets.
const INNER_MAGIC: &[(usize, &[u8], Foreign)] = &[
    (0x202, b"HdrS", named("an x86 Linux kernel (bzImage)", "give the Image of an arm64 kernel")),
    (0x24, b"\x18\x28\x6f\x01", named("a 32-bit Arm Linux kernel (zImage)", "give the Image of an arm64 kernel")),
    (56, b"RSC\x05", named("a RISC-V Linux kernel", "give the Image of an arm64 kernel")),
    (257, b"ustar", named("a tar archive", "unpack it and give the Image in it")),
];

/// What `file` is, if it is known. Takes any bytes.
pub fn recognise(file: &[u8]) -> Option<Foreign> {
    if file.starts_with(b"MZ") && file.get(4..8) == Some(b"zimg") {
        return zboot(file);
    }
    let inner = INNER_MAGIC.iter().find(|(at, magic, _)| file.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    let outer = || MAGIC.iter().find(|(magic, _)| file.starts_with(magic)).map(|(_, foreign)| foreign.clone());
    inner.map(|(_, _, foreign)| foreign.clone()).or_else(outer).or_else(|| pe(file))
}

/// The header of CONFIG_EFI_ZBOOT: payload offset at 8, its size at 12, its compression's name at 24.
fn zboot(file: &[u8]) -> Option<Foreign> {
    let word = |at: usize| file.get(at..at + 4)?.try_into().map(u32::from_le_bytes).ok();
    let name = file.get(24..56)?.iter().take_while(|b| b.is_ascii_alphanumeric());
    Some(Foreign::Zboot { offset: word(8)?, bytes: word(12)?, format: name.map(|b| char::from(*b)).collect() })
}

fn pe(file: &[u8]) -> Option<Foreign> {
    if !file.starts_with(b"MZ") {
        return None;
    }
    let offset = u32::from_le_bytes(file.get(60..64)?.try_into().ok()?) as usize;
    let header = file.get(offset..)?;
    if !header.starts_with(b"PE\0\0") {
        return None;
    }
    let machine = u16::from_le_bytes(header.get(4..6)?.try_into().ok()?);
    Some(Foreign::Pe(match machine {
        0xaa64 => "AArch64".to_owned(),
        0x8664 => "x86-64".to_owned(),
        0x014c => "32-bit x86".to_owned(),
        0x01c0 | 0x01c2 | 0x01c4 => "32-bit Arm".to_owned(),
        0x5064 => "RISC-V".to_owned(),
        0x6264 => "LoongArch".to_owned(),
        other => format!("machine {other:#x}"),
    }))
}
