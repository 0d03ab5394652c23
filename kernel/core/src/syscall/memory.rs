//! The mmap family.

use super::user;
use crate::errno::{Errno, Result};
use crate::feature::{self, Capability};
use crate::mm::{Backing, MapRequest, PAGE, Placement, Protection, Sharing, USER_END};
use crate::proc::Thread;
use crate::sched::CURRENT;
use crate::vfs::{open_flags, tmpfs};

/// Addresses of these calls may carry a tag.
fn untagged(address: u64) -> u64 {
    address & !(0xff << 56)
}

fn with_space<T>(work: impl FnOnce(&mut crate::mm::Space, u16) -> T) -> Result<T> {
    let mm = Thread::mm(&CURRENT.get())?;
    let mut space = mm.lock();
    let asid = mm.asid();
    Ok(work(&mut space, asid))
}

pub fn brk(end: u64) -> Result<u64> {
    with_space(|space, asid| space.set_brk(end, asid))
}

pub fn mmap(address: u64, length: u64, protection: u64, flags: u64, fd: i32, offset: u64) -> Result<u64> {
    const SHARED: u64 = 1;
    const PRIVATE: u64 = 2;
    const SHARED_VALIDATE: u64 = 3;
    const FIXED: u64 = 0x10;
    const ANONYMOUS: u64 = 0x20;
    const GROWSDOWN: u64 = 0x100;
    const POPULATE: u64 = 0x8000;
    const FIXED_NOREPLACE: u64 = 0x10_0000;
    if offset % PAGE != 0 || length == 0 {
        return Err(Errno::EINVAL);
    }
    let sharing = match flags & 3 {
        SHARED | SHARED_VALIDATE => Sharing::Shared,
        PRIVATE => Sharing::Private,
        _ => return Err(Errno::EINVAL),
    };
    let placement = match (flags & FIXED_NOREPLACE != 0, flags & FIXED != 0) {
        (true, _) => Placement::FixedFree(address),
        (false, true) => Placement::Fixed(address),
        _ => Placement::Hint(address),
    };
    let mut protection = Protection::from_bits(protection);
    if hal::mte::get().is_none() {
        protection = protection.untagged();
    }
    if !feature::has(Capability::Bti) {
        protection = protection.unguarded();
    }
    let backing = if flags & ANONYMOUS != 0 {
        match sharing {
            Sharing::Private => Backing::Anonymous,
            Sharing::Shared => Backing::Pages { source: tmpfs::shared_memory(length), first: 0 },
        }
    } else {
        let file = user::file(fd)?;
        let mode = file.flags() & open_flags::ACCMODE;
        let may_write = mode == open_flags::RDWR;
        if mode == open_flags::WRONLY || sharing == Sharing::Shared && protection.writable() && !may_write {
            return Err(Errno::EACCES);
        }
        Backing::Pages { source: file.ops.pages().ok_or(Errno::ENODEV)?, first: offset / PAGE }
    };
    let grows_down = flags & GROWSDOWN != 0;
    let request = MapRequest { placement, len: length, protection, sharing, backing, grows_down, name: "" };
    let start = with_space(|space, asid| space.map(request, asid))??;
    if flags & POPULATE != 0 {
        populate(start, length, protection);
    }
    Ok(start)
}

/// Brings pages in before they are touched; what cannot be is left to the fault.
fn populate(start: u64, length: u64, protection: Protection) {
    let access = if protection.writable() { crate::mm::Access::Write } else { crate::mm::Access::Read };
    let Ok(mm) = Thread::mm(&CURRENT.get()) else { return };
    for page in 0..length.div_ceil(PAGE) {
        if mm.fault(start + page * PAGE, access).is_err() {
            return;
        }
        if page % 64 == 63 && crate::signal::breathe_or_end() {
            return;
        }
    }
}

pub fn munmap(address: u64, length: u64) -> Result<()> {
    with_space(|space, asid| space.unmap(untagged(address), length, asid))?
}

pub fn mprotect(address: u64, length: u64, protection: u64) -> Result<()> {
    const GROWSDOWN: u64 = 0x0100_0000;
    const GROWSUP: u64 = 0x0200_0000;
    let rights = Protection::from_bits(protection);
    let is_known = protection & !(0x3f | GROWSDOWN | GROWSUP) == 0;
    let is_missing = rights.tagged() && hal::mte::get().is_none() || rights.guarded() && !feature::has(Capability::Bti);
    if !is_known || is_missing {
        return Err(Errno::EINVAL);
    }
    with_space(|space, asid| space.protect(untagged(address), length, rights, asid))?
}

pub fn mremap(old: u64, old_length: u64, new_length: u64, flags: u64, _new: u64) -> Result<u64> {
    const MAYMOVE: u64 = 1;
    if flags & !MAYMOVE != 0 {
        return Err(Errno::EINVAL);
    }
    with_space(|space, asid| space.remap(untagged(old), old_length, new_length, flags & MAYMOVE != 0, asid))?
}

pub fn msync(address: u64, length: u64, _flags: u64) -> Result<()> {
    let (start, end) = range(address, length)?;
    let is_covered = with_space(|space, _| space.is_covered(start, end))?;
    if is_covered { Ok(()) } else { Err(Errno::ENOMEM) }
}

fn range(address: u64, length: u64) -> Result<(u64, u64)> {
    let start = untagged(address);
    let end = length.checked_next_multiple_of(PAGE).and_then(|length| start.checked_add(length));
    let end = end.filter(|end| *end <= USER_END).ok_or(Errno::EINVAL)?;
    if start % PAGE != 0 { Err(Errno::EINVAL) } else { Ok((start, end)) }
}

pub fn madvise(address: u64, length: u64, advice: u32) -> Result<()> {
    const DONTNEED: u32 = 4;
    const FREE: u32 = 8;
    let (start, end) = range(address, length)?;
    let is_covered = with_space(|space, asid| {
        if matches!(advice, DONTNEED | FREE) {
            space.discard(start, end, asid);
        }
        space.is_covered(start, end)
    })?;
    if is_covered { Ok(()) } else { Err(Errno::ENOMEM) }
}
