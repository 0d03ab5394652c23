//! The rest.

use hal::uaccess;

use super::user;
use crate::errno::{Errno, Result};
use crate::{boot, random, sched, utsname};

/// Something that is done already, or that there is nothing to do for.
pub fn nothing() -> Result<()> {
    Ok(())
}

pub fn uname(buffer: u64) -> Result<()> {
    let fields = [utsname::SYSNAME, utsname::NODENAME, utsname::RELEASE, utsname::VERSION, utsname::MACHINE, "(none)"];
    for (n, field) in fields.iter().enumerate() {
        let mut bytes = [0; 65];
        bytes[..field.len()].copy_from_slice(field.as_bytes());
        uaccess::write(buffer.wrapping_add(65 * n as u64), &bytes)?;
    }
    Ok(())
}

pub fn sysinfo(buffer: u64) -> Result<()> {
    // struct sysinfo: uptime, loads[3], totalram, freeram, sharedram, bufferram, totalswap, freeswap, procs and pad,
    // totalhigh, freehigh, mem_unit and pad.
    let page = crate::mm::PAGE;
    let (total, free) = (hal::mem::total_count() as u64 * page, hal::mem::free_count() as u64 * page);
    let uptime = sched::now_nanoseconds() / 1_000_000_000;
    let processes = crate::proc::table::thread_count() as u64;
    user::put_numbers(buffer, [uptime, 0, 0, 0, total, free, 0, 0, 0, 0, processes, 0, 0, 1])
}

pub fn getrandom(buffer: u64, count: usize, _flags: u32) -> Result<usize> {
    let count = count.min(0x7fff_ffff);
    let mut done = 0;
    while done < count {
        let mut bytes = [0; 64];
        random::fill(&mut bytes);
        let len = bytes.len().min(count - done);
        let put = uaccess::write_some(buffer.wrapping_add(done as u64), &bytes[..len]);
        done += put;
        if put < len || done % 4096 == 0 && crate::signal::breathe_or_end() {
            break;
        }
    }
    if done == 0 && count > 0 { Err(Errno::EFAULT) } else { Ok(done) }
}

pub fn reboot(magic: u32, magic2: u32, command: u32) -> Result<()> {
    const MAGIC: u32 = 0xfee1_dead;
    const MAGIC2: [u32; 4] = [672_274_793, 85_072_278, 369_367_448, 537_993_216];
    const RESTART: u32 = 0x0123_4567;
    const HALT: u32 = 0xcdef_0123;
    const POWER_OFF: u32 = 0x4321_fedc;
    if magic != MAGIC || !MAGIC2.contains(&magic2) {
        return Err(Errno::EINVAL);
    }
    match command {
        POWER_OFF | HALT => boot::end(0),
        RESTART => boot::restart(),
        // Ctrl-Alt-Del on and off.
        0 | 0x89ab_cdef => Ok(()),
        _ => Err(Errno::EINVAL),
    }
}
