//! What system calls take from and give to a program's memory.

use alloc::sync::Arc;
use alloc::vec::Vec;

use hal::uaccess;

use crate::errno::{Errno, Result};
use crate::mm::PAGE;
use crate::sched::CURRENT;
use crate::vfs::{File, Follow, Location, PATH_MAX, resolve};

/// "The working directory" in place of a directory's number.
pub const AT_FDCWD: i32 = -100;
/// Flag: a path may be empty, then the directory's number is what is meant.
pub const AT_EMPTY_PATH: u32 = 0x1000;
/// Flag: the last name is not followed.
pub const AT_SYMLINK_NOFOLLOW: u32 = 0x100;

/// The bytes up to a NUL. `limit` counts the NUL; a longer text gives `too_long`.
pub fn text(address: u64, limit: usize, too_long: Errno) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut chunk = [0; 128];
    while text.len() < limit {
        let at = address.checked_add(text.len() as u64).ok_or(Errno::EFAULT)?;
        // Not over a page's end, which may be the end of what is mapped.
        let len = chunk.len().min((PAGE - at % PAGE) as usize).min(limit - text.len());
        let got = uaccess::read_some(&mut chunk[..len], at);
        match chunk[..got].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&chunk[..end]);
                return Ok(text);
            }
            None if got < len => return Err(Errno::EFAULT),
            None => {
                crate::memory::reserve(&mut text, len)?;
                text.extend_from_slice(&chunk[..len]);
            }
        }
    }
    Err(too_long)
}

/// A path.
pub fn path(address: u64) -> Result<Vec<u8>> {
    text(address, PATH_MAX, Errno::ENAMETOOLONG)
}

/// A list of texts that a null pointer ends, such as argv. A null pointer in place of the list is an empty one.
pub fn texts(address: u64, limit: usize) -> Result<Vec<Vec<u8>>> {
    /// Most bytes of one (Linux: MAX_ARG_STRLEN).
    const LONGEST: usize = 128 << 10;
    let mut texts = Vec::new();
    let mut total = 0;
    if address == 0 {
        return Ok(texts);
    }
    loop {
        let pointer = number(address.wrapping_add(8 * texts.len() as u64))?;
        if pointer == 0 {
            return Ok(texts);
        }
        let text = text(pointer, limit.min(LONGEST), Errno::E2BIG)?;
        // Its bytes, and what the kernel has for it meanwhile.
        total += text.len() + 48;
        if total > limit {
            return Err(Errno::E2BIG);
        }
        crate::memory::reserve(&mut texts, 1)?;
        texts.push(text);
    }
}

/// A 64-bit word.
pub fn number(address: u64) -> Result<u64> {
    let mut bytes = [0; 8];
    uaccess::read(&mut bytes, address)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Writes words one behind the other.
pub fn put_numbers<const N: usize>(address: u64, numbers: [u64; N]) -> Result<()> {
    for (n, number) in numbers.iter().enumerate() {
        uaccess::write(address.wrapping_add(8 * n as u64), &number.to_le_bytes())?;
    }
    Ok(())
}

/// Seconds and nanoseconds, as nanoseconds.
pub fn timespec(address: u64) -> Result<u64> {
    let (seconds, nanoseconds) = (number(address)?, number(address.wrapping_add(8))?);
    if seconds > i64::MAX as u64 || nanoseconds >= 1_000_000_000 {
        return Err(Errno::EINVAL);
    }
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds))
}

/// The current thread's open file.
pub fn file(fd: i32) -> Result<Arc<File>> {
    CURRENT.get().files()?.get(fd)
}

/// Where a relative path begins.
pub fn start(directory: i32, path: &[u8]) -> Result<Arc<Location>> {
    if directory == AT_FDCWD || path.first() == Some(&b'/') {
        return Ok(CURRENT.get().fs().cwd());
    }
    file(directory)?.location.clone().ok_or(Errno::ENOTDIR)
}

/// What a directory's number and a path mean.
pub fn location(directory: i32, address: u64, follow: Follow) -> Result<Arc<Location>> {
    let path = path(address)?;
    let start = start(directory, &path)?;
    resolve(&CURRENT.get().fs(), &start, &path, follow)
}

/// [`Follow`] by AT_SYMLINK_NOFOLLOW.
pub fn follow(flags: u32) -> Follow {
    if flags & AT_SYMLINK_NOFOLLOW == 0 { Follow::Yes } else { Follow::No }
}
