//! What is known about files.

use hal::uaccess;

use super::user::{self, AT_EMPTY_PATH};
use crate::errno::Result;
use crate::vfs::{Follow, Metadata};

const BLOCK: u64 = 4096;

fn metadata(directory: i32, path: u64, flags: u32) -> Result<Metadata> {
    let text = if path == 0 && flags & AT_EMPTY_PATH != 0 { alloc::vec::Vec::new() } else { user::path(path)? };
    if text.is_empty() && flags & AT_EMPTY_PATH != 0 {
        return if directory == user::AT_FDCWD {
            Ok(crate::sched::CURRENT.get().fs().cwd().inode.metadata())
        } else {
            user::file(directory)?.metadata()
        };
    }
    let start = user::start(directory, &text)?;
    let fs = crate::sched::CURRENT.get().fs();
    Ok(crate::vfs::resolve(&fs, &start, &text, user::follow(flags))?.inode.metadata())
}

/// struct stat of arm64 (include/uapi/asm-generic/stat.h): 128 bytes.
fn stat_bytes(metadata: &Metadata) -> [u8; 128] {
    let mut bytes = [0; 128];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &metadata.dev.to_le_bytes());
    put(8, &metadata.ino.to_le_bytes());
    put(16, &(metadata.kind.mode_bits() | metadata.mode).to_le_bytes());
    put(20, &metadata.links.to_le_bytes());
    put(24, &metadata.uid.to_le_bytes());
    put(28, &metadata.gid.to_le_bytes());
    let (major, minor) = (u64::from(metadata.device.0), u64::from(metadata.device.1));
    put(32, &(minor & 0xff | major << 8 | (minor & !0xff) << 12).to_le_bytes());
    put(48, &metadata.size.to_le_bytes());
    put(56, &(BLOCK as u32).to_le_bytes());
    put(64, &metadata.size.div_ceil(512).to_le_bytes());
    for (n, time) in metadata.times.iter().enumerate() {
        put(72 + 16 * n, &(time / 1_000_000_000).to_le_bytes());
        put(80 + 16 * n, &(time % 1_000_000_000).to_le_bytes());
    }
    bytes
}

pub fn newfstatat(directory: i32, path: u64, buffer: u64, flags: u32) -> Result<()> {
    let bytes = stat_bytes(&metadata(directory, path, flags)?);
    Ok(uaccess::write(buffer, &bytes)?)
}

pub fn fstat(fd: i32, buffer: u64) -> Result<()> {
    let bytes = stat_bytes(&user::file(fd)?.metadata()?);
    Ok(uaccess::write(buffer, &bytes)?)
}

pub fn statx(directory: i32, path: u64, flags: u32, _mask: u32, buffer: u64) -> Result<()> {
    /// STATX_BASIC_STATS
    const BASIC: u32 = 0x7ff;
    let metadata = metadata(directory, path, flags)?;
    let mut bytes = [0; 256];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &BASIC.to_le_bytes());
    put(4, &(BLOCK as u32).to_le_bytes());
    put(16, &metadata.links.to_le_bytes());
    put(20, &metadata.uid.to_le_bytes());
    put(24, &metadata.gid.to_le_bytes());
    put(28, &((metadata.kind.mode_bits() | metadata.mode) as u16).to_le_bytes());
    put(32, &metadata.ino.to_le_bytes());
    put(40, &metadata.size.to_le_bytes());
    put(48, &metadata.size.div_ceil(512).to_le_bytes());
    // Access, (birth,) change, modification.
    for (at, n) in [(64, 0), (96, 2), (112, 1)] {
        put(at, &(metadata.times[n] / 1_000_000_000).to_le_bytes());
        put(at + 8, &((metadata.times[n] % 1_000_000_000) as u32).to_le_bytes());
    }
    put(128, &metadata.device.0.to_le_bytes());
    put(132, &metadata.device.1.to_le_bytes());
    put(140, &(metadata.dev as u32).to_le_bytes());
    Ok(uaccess::write(buffer, &bytes)?)
}

fn put_statfs(buffer: u64) -> Result<()> {
    const TMPFS_MAGIC: u64 = 0x0102_1994;
    let (total, free) = (hal::mem::total_count() as u64, hal::mem::free_count() as u64);
    user::put_numbers(buffer, [TMPFS_MAGIC, BLOCK, total / 2, free / 2, free / 2, 0, 0, 0, 255, BLOCK, 0, 0, 0, 0, 0])
}

pub fn statfs(path: u64, buffer: u64) -> Result<()> {
    user::location(user::AT_FDCWD, path, Follow::Yes)?;
    put_statfs(buffer)
}

pub fn fstatfs(fd: i32, buffer: u64) -> Result<()> {
    user::file(fd)?;
    put_statfs(buffer)
}
