//! The stack that a program begins with: arguments, environment, auxiliary vector (System V ABI for AArch64).

use alloc::vec::Vec;

use crate::errno::Result;
use crate::memory;

/// AT_* of the auxiliary vector.
#[allow(missing_docs)]
pub mod aux {
    pub const NULL: u64 = 0;
    pub const PHDR: u64 = 3;
    pub const PHENT: u64 = 4;
    pub const PHNUM: u64 = 5;
    pub const PAGESZ: u64 = 6;
    pub const BASE: u64 = 7;
    pub const FLAGS: u64 = 8;
    pub const ENTRY: u64 = 9;
    pub const UID: u64 = 11;
    pub const EUID: u64 = 12;
    pub const GID: u64 = 13;
    pub const EGID: u64 = 14;
    pub const PLATFORM: u64 = 15;
    pub const HWCAP: u64 = 16;
    pub const CLKTCK: u64 = 17;
    pub const SECURE: u64 = 23;
    pub const RANDOM: u64 = 25;
    pub const HWCAP2: u64 = 26;
    pub const EXECFN: u64 = 31;
    pub const MINSIGSTKSZ: u64 = 51;
}

/// What goes onto it.
#[derive(Debug)]
pub struct Contents<'a> {
    /// argv, without NULs.
    pub arguments: &'a [Vec<u8>],
    /// envp, without NULs.
    pub environment: &'a [Vec<u8>],
    /// The path of the program (AT_EXECFN).
    pub path: &'a [u8],
    /// 16 random bytes (AT_RANDOM).
    pub random: [u8; 16],
    /// Entries of the auxiliary vector whose values are numbers.
    pub auxiliary: &'a [(u64, u64)],
}

/// A stack, ready to be copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Image {
    /// SP, a multiple of 16; `bytes` go here.
    pub sp: u64,
    /// What lies from SP on up.
    pub bytes: Vec<u8>,
    /// Where the arguments' strings are.
    pub arguments: (u64, u64),
    /// Where the environment's are.
    pub environment: (u64, u64),
}

/// Lays it out below `top`. ENOMEM if the kernel has no room for it.
pub fn build(top: u64, contents: &Contents) -> Result<Image> {
    let texts = || contents.arguments.iter().chain(contents.environment);
    let fixed = contents.path.len() + contents.auxiliary.len() * 16 + 512;
    // From the top down: path, platform, random bytes, environment, arguments.
    let mut strings: Vec<u8> =
        memory::with_capacity(texts().map(|text| text.len() + 1).sum::<usize>() + contents.path.len() + 64)?;
    let mut put = |bytes: &[u8]| {
        let at = strings.len() as u64;
        strings.extend_from_slice(bytes);
        at
    };
    let mut with_nul = |bytes: &[u8]| {
        let at = put(bytes);
        put(&[0]);
        at
    };
    let mut arguments: Vec<u64> = memory::with_capacity(contents.arguments.len())?;
    arguments.extend(contents.arguments.iter().map(|argument| with_nul(argument)));
    let arguments_end = with_nul(b"") as usize;
    let mut environment: Vec<u64> = memory::with_capacity(contents.environment.len())?;
    environment.extend(contents.environment.iter().map(|variable| with_nul(variable)));
    let environment_end = with_nul(b"") as usize;
    let platform = with_nul(b"aarch64");
    let path = with_nul(contents.path);
    let random = put(&contents.random);
    let strings_at = (top - strings.len() as u64) & !15;
    let at = |offset: u64| strings_at + offset;

    let count = arguments.len() + environment.len();
    let mut words: Vec<u64> = memory::with_capacity(count + fixed / 8)?;
    words.push(contents.arguments.len() as u64);
    words.extend(arguments.iter().map(|offset| at(*offset)));
    words.push(0);
    words.extend(environment.iter().map(|offset| at(*offset)));
    words.push(0);
    for (kind, value) in contents.auxiliary {
        words.extend([*kind, *value]);
    }
    words.extend([aux::PLATFORM, at(platform), aux::EXECFN, at(path), aux::RANDOM, at(random), aux::NULL, 0]);
    let sp = (strings_at - 8 * words.len() as u64) & !15;
    let mut bytes: Vec<u8> = memory::with_capacity(8 * words.len() + strings.len() + 32)?;
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.resize((strings_at - sp) as usize, 0);
    bytes.extend_from_slice(&strings);
    let first_variable = environment.first().copied().unwrap_or(environment_end as u64);
    Ok(Image {
        sp,
        bytes,
        arguments: (at(0), at(arguments_end as u64)),
        environment: (at(first_variable), at(environment_end as u64)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_where_the_abi_says() {
        let arguments = [b"sh".to_vec(), b"-c".to_vec()];
        let environment = [b"A=b".to_vec()];
        let contents = Contents {
            arguments: &arguments,
            environment: &environment,
            path: b"/bin/sh",
            random: [7; 16],
            auxiliary: &[(aux::PAGESZ, 4096)],
        };
        hal::fakes_init();
        let image = build(0x1_0000, &contents).unwrap();
        assert_eq!(image.sp % 16, 0);
        assert!(image.sp + image.bytes.len() as u64 <= 0x1_0000);
        let word = |n: usize| u64::from_le_bytes(image.bytes[8 * n..8 * n + 8].try_into().unwrap());
        let text = |address: u64| {
            let from = &image.bytes[(address - image.sp) as usize..];
            from[..from.iter().position(|byte| *byte == 0).unwrap()].to_vec()
        };
        assert_eq!(word(0), 2);
        assert_eq!((text(word(1)), text(word(2)), word(3)), (b"sh".to_vec(), b"-c".to_vec(), 0));
        assert_eq!((text(word(4)), word(5)), (b"A=b".to_vec(), 0));
        assert_eq!((word(6), word(7)), (aux::PAGESZ, 4096));
        assert_eq!((word(10), text(word(11))), (aux::EXECFN, b"/bin/sh".to_vec()));
        assert_eq!(text(image.arguments.0), b"sh");
        assert_eq!(text(image.environment.0), b"A=b");
    }
}
