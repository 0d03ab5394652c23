//! /proc: files whose contents are made when they are opened.
//!
//! A new file is a line in [`ROOT`] or [`OF_PROCESS`] and the function that writes it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Write;

use super::{DirEntry, File, FileOps, Inode, InodeKind, Metadata, Sink, mount};
use crate::errno::{Errno, Result};
use crate::mm::{Backing, PAGE, Sharing};
use crate::proc::{Process, ProcessState, table};
use crate::sched::{self, CURRENT};
use crate::time;

/// The file system's number, apart from those of tmpfs.
const DEVICE: u64 = 0x1_0000;

/// A file's name, and what writes it.
type OfSystem = (&'static str, fn(&mut String));
/// See [`OfSystem`].
type OfProcess = (&'static str, fn(&Process, &mut String));

/// Files of the root directory.
const ROOT: &[OfSystem] = &[
    ("contpte", crate::mm::contpte::write_counts),
    ("cpuinfo", cpuinfo),
    ("frames", frames),
    ("filesystems", |out| out.push_str("nodev\tproc\nnodev\ttmpfs\nnodev\tdevtmpfs\n")),
    ("loadavg", loadavg),
    ("meminfo", meminfo),
    ("mounts", mounts),
    ("stat", stat),
    ("uptime", uptime),
    ("version", |out| out.push_str(&version())),
];

/// Files of each process's directory.
const OF_PROCESS: &[OfProcess] = &[
    ("cmdline", |process, out| strings(process, out, |space| space.arguments)),
    ("comm", |process, out| {
        let _ = writeln!(out, "{}", name(process));
    }),
    ("environ", |process, out| strings(process, out, |space| space.environment)),
    ("maps", maps),
    ("stat", process_stat),
    ("statm", statm),
    ("status", status),
];

/// The line of /proc/version.
pub fn version() -> String {
    format!("{} version {} ({})\n", crate::utsname::SYSNAME, crate::utsname::RELEASE, crate::utsname::VERSION)
}

/// An inode of /proc.
#[derive(Clone, Debug)]
enum Node {
    Root,
    Global(usize),
    SelfLink,
    Process(i32),
    OfProcess(i32, usize),
    /// `exe`: the program's file.
    Program(i32),
    /// `fd`: the open files, by number.
    Files(i32),
    File(i32, i32),
}

/// A new one; its root.
pub fn new() -> Arc<dyn Inode> {
    Arc::new(Node::Root)
}

impl Node {
    fn ino(&self) -> u64 {
        match self {
            Self::Root => 1,
            Self::SelfLink => 2,
            Self::Global(n) => 16 + *n as u64,
            Self::Process(pid) => (*pid as u64) << 8,
            Self::OfProcess(pid, n) => (*pid as u64) << 8 | (16 + *n as u64),
            Self::Program(pid) => (*pid as u64) << 8 | 1,
            Self::Files(pid) => (*pid as u64) << 8 | 2,
            // Above all others.
            Self::File(pid, fd) => 1 << 63 | (*pid as u64) << 24 | *fd as u64,
        }
    }

    fn kind(&self) -> InodeKind {
        match self {
            Self::Root | Self::Process(_) | Self::Files(_) => InodeKind::Directory,
            Self::SelfLink | Self::Program(_) | Self::File(..) => InodeKind::Symlink,
            Self::Global(_) | Self::OfProcess(..) => InodeKind::Regular,
        }
    }

    /// Entries of a directory.
    fn entries(&self) -> Vec<(String, Self)> {
        match self {
            Self::Root => {
                let files = ROOT.iter().enumerate().map(|(n, (name, _))| ((*name).into(), Self::Global(n)));
                let link = core::iter::once(("self".into(), Self::SelfLink));
                let processes = table::processes()
                    .into_iter()
                    .map(|process| (format!("{}", process.pid), Self::Process(process.pid)));
                files.chain(link).chain(processes).collect()
            }
            Self::Process(pid) => {
                let files = OF_PROCESS.iter().enumerate();
                let files = files.map(|(n, (name, _))| ((*name).into(), Self::OfProcess(*pid, n)));
                let others = [("exe".into(), Self::Program(*pid)), ("fd".into(), Self::Files(*pid))];
                files.chain(others).collect()
            }
            Self::Files(pid) => {
                let numbers = files_of(*pid).map_or_else(|_| Vec::new(), |files| files.numbers());
                numbers.into_iter().map(|fd| (format!("{fd}"), Self::File(*pid, fd))).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Inode for Node {
    fn as_any(&self) -> &dyn core::any::Any {
        self
    }

    fn metadata(&self) -> Metadata {
        let kind = self.kind();
        Metadata {
            ino: self.ino(),
            dev: DEVICE,
            kind,
            mode: match kind {
                InodeKind::Directory => 0o555,
                InodeKind::Symlink => 0o777,
                _ => 0o444,
            },
            links: 1,
            uid: 0,
            gid: 0,
            size: 0,
            device: (0, 0),
            times: [time::realtime(); 3],
        }
    }

    fn lookup(&self, name: &[u8]) -> Result<Arc<dyn Inode>> {
        let name = core::str::from_utf8(name).map_err(|_| Errno::ENOENT)?;
        if matches!(self, Self::Root) {
            if let Ok(pid) = name.parse::<i32>() {
                table::process(pid).ok_or(Errno::ENOENT)?;
                return Ok(Arc::new(Self::Process(pid)));
            }
        }
        if self.kind() != InodeKind::Directory {
            return Err(Errno::ENOTDIR);
        }
        let found = self.entries().into_iter().find(|(entry, _)| entry == name).ok_or(Errno::ENOENT)?;
        Ok(Arc::new(found.1))
    }

    fn read_directory(&self, from: u64, each: &mut dyn FnMut(DirEntry<'_>) -> bool) -> Result<()> {
        for (n, (name, node)) in self.entries().iter().enumerate().skip(from as usize) {
            let entry = DirEntry { name: name.as_bytes(), ino: node.ino(), kind: node.kind(), next: n as u64 + 1 };
            if !each(entry) {
                break;
            }
        }
        Ok(())
    }

    fn read_link(&self) -> Result<Vec<u8>> {
        match self {
            Self::SelfLink => Ok(format!("{}", CURRENT.get().process.pid).into_bytes()),
            Self::Program(_) => Ok(self.follow_link().ok_or(Errno::ENOENT)?.path()),
            Self::File(pid, fd) => {
                let file = files_of(*pid)?.get(*fd).map_err(|_| Errno::ENOENT)?;
                match (&file.location, file.ops.describe()) {
                    (Some(location), _) => Ok(location.path()),
                    (None, Some(text)) => Ok(text.into_bytes()),
                    (None, None) => Err(Errno::ENOENT),
                }
            }
            _ => Err(Errno::EINVAL),
        }
    }

    fn follow_link(&self) -> Option<Arc<super::Location>> {
        match self {
            Self::Program(pid) => {
                let mm = table::process(*pid)?.any_thread()?.mm().ok()?;
                mm.lock().program.clone()
            }
            Self::File(pid, fd) => files_of(*pid).ok()?.get(*fd).ok()?.location.clone(),
            _ => None,
        }
    }

    fn open(&self, _flags: u32) -> Result<Arc<dyn FileOps>> {
        let mut text = String::new();
        match self {
            Self::Root | Self::Process(_) | Self::Files(_) => return Ok(Arc::new(super::tmpfs::OpenDirectory)),
            Self::SelfLink | Self::Program(_) | Self::File(..) => return Err(Errno::ELOOP),
            Self::Global(n) => ROOT[*n].1(&mut text),
            Self::OfProcess(pid, n) => {
                let process = table::process(*pid).ok_or(Errno::ENOENT)?;
                OF_PROCESS[*n].1(&process, &mut text);
            }
        }
        Ok(Arc::new(Text(text.into_bytes().into())))
    }
}

/// The open files of a process that has not ended.
fn files_of(pid: i32) -> Result<Arc<super::FileTable>> {
    table::process(pid).and_then(|process| process.any_thread()).ok_or(Errno::ENOENT)?.files()
}

/// A file with contents that were made.
#[derive(Debug)]
struct Text(Box<[u8]>);

impl FileOps for Text {
    fn read(&self, _file: &File, to: &mut Sink<'_>, offset: u64) -> Result<usize> {
        let from = (offset as usize).min(self.0.len());
        to.put(&self.0[from..])
    }
    fn size(&self) -> Option<u64> {
        Some(self.0.len() as u64)
    }
}

fn uptime(out: &mut String) {
    let hundredths = sched::now_nanoseconds() / 10_000_000;
    let _ = writeln!(out, "{}.{:02} 0.00", hundredths / 100, hundredths % 100);
}

fn loadavg(out: &mut String) {
    let (running, all) = (sched::ready_count(), table::thread_count());
    let _ = writeln!(out, "0.00 0.00 0.00 {running}/{all} {}", table::last_id());
}

fn meminfo(out: &mut String) {
    let kib = |frames: usize| frames as u64 * (PAGE / 1024);
    let (total, free) = (kib(hal::mem::total_count()), kib(hal::mem::free_count()));
    for (name, value) in [
        ("MemTotal", total),
        ("MemFree", free),
        ("MemAvailable", free),
        ("Buffers", 0),
        ("Cached", 0),
        ("SwapCached", 0),
        ("SwapTotal", 0),
        ("SwapFree", 0),
        ("Shmem", 0),
        ("SReclaimable", 0),
    ] {
        let _ = writeln!(out, "{:<15} {value:>8} kB", format!("{name}:"));
    }
}

/// Not Linux's: who has how many frames, and how many objects the heap has.
fn frames(out: &mut String) {
    let census = hal::mem::census();
    for (name, value) in [
        ("user", census.user),
        ("tables", census.tables),
        ("kernel", census.kernel),
        ("heap", census.heap),
        ("objects", census.objects),
        ("blocks", census.blocks),
        ("free", census.free),
    ] {
        let _ = writeln!(out, "{name} {value}");
    }
    let _ = writeln!(out, "classes {:?}", census.classes);
}

fn mounts(out: &mut String) {
    out.push_str("rootfs / rootfs rw 0 0\n");
    for (kind, path) in mount::list() {
        let path = String::from_utf8_lossy(&path).into_owned();
        let _ = writeln!(out, "{kind} {path} {kind} rw,relatime 0 0");
    }
}

fn cpuinfo(out: &mut String) {
    for cpu in 0..hal::percpu::count() {
        let _ = writeln!(out, "processor\t: {cpu}");
        crate::feature::write_cpuinfo(out, cpu);
        out.push('\n');
    }
}

fn stat(out: &mut String) {
    let hundredths = sched::now_nanoseconds() / 10_000_000;
    let _ = writeln!(out, "cpu  {hundredths} 0 0 0 0 0 0 0 0 0");
    for cpu in 0..hal::percpu::count() {
        let _ = writeln!(out, "cpu{cpu} {hundredths} 0 0 0 0 0 0 0 0 0");
    }
    let _ = writeln!(out, "intr 0\nctxt {}\nbtime {}", sched::switches(), time::boot_seconds());
    let _ = writeln!(out, "processes {}\nprocs_running {}\nprocs_blocked 0", table::last_id(), sched::ready_count());
}

fn name(process: &Process) -> String {
    process.any_thread().map_or_else(String::new, |thread| thread.name_text())
}

fn state(process: &Process) -> (char, &'static str) {
    if let ProcessState::Zombie(_) = *process.state.lock() {
        return ('Z', "zombie");
    }
    match process.any_thread().map(|thread| thread.schedule.state()) {
        Some(sched::State::Ready) => ('R', "running"),
        Some(sched::State::Uninterruptible) => ('D', "disk sleep"),
        Some(sched::State::Interruptible) => ('S', "sleeping"),
        Some(sched::State::Stopped) => ('T', "stopped"),
        _ => ('X', "dead"),
    }
}

fn sizes(process: &Process) -> (u64, u64) {
    let mm = process.any_thread().and_then(|thread| thread.mm().ok());
    mm.map_or((0, 0), |mm| mm.lock().sizes())
}

fn process_stat(process: &Process, out: &mut String) {
    use core::sync::atomic::Ordering::Relaxed;
    let hundredths = |ticks: u64| sched::nanoseconds_of(ticks) / 10_000_000;
    let (pages, resident) = sizes(process);
    let session = process.session.load(Relaxed);
    // Before the statement, which would hold the lock to its end.
    let threads = process.threads.lock().len();
    let _ = writeln!(
        out,
        "{} ({}) {} {} {} {} {} {} 0 0 0 0 0 {} 0 {} 0 20 0 {} 0 {} {} {} 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 {} 0 0 0 0 0 0 0 0 0 0 0 0 0",
        process.pid,
        name(process),
        state(process).0,
        process.parent_pid(),
        process.group.load(Relaxed),
        session,
        crate::tty::number_for(session),
        crate::tty::foreground_for(session),
        hundredths(process.ticks()),
        hundredths(process.children_ticks.load(Relaxed)),
        threads,
        hundredths(process.started),
        pages * PAGE,
        resident,
        process.any_thread().map_or(0, |thread| thread.schedule.cpu()),
    );
}

fn statm(process: &Process, out: &mut String) {
    let (pages, resident) = sizes(process);
    let _ = writeln!(out, "{pages} {resident} 0 0 0 {pages} 0");
}

fn status(process: &Process, out: &mut String) {
    let (letter, word) = state(process);
    let (pages, resident) = sizes(process);
    let credentials = process.any_thread().map(|thread| *thread.credentials.lock()).unwrap_or_default();
    let _ = writeln!(out, "Name:\t{}\nUmask:\t0022\nState:\t{letter} ({word})", name(process));
    let _ =
        writeln!(out, "Tgid:\t{0}\nNgid:\t0\nPid:\t{0}\nPPid:\t{1}\nTracerPid:\t0", process.pid, process.parent_pid());
    let [real, effective, saved] = credentials.uid;
    let _ = writeln!(out, "Uid:\t{real}\t{effective}\t{saved}\t{effective}");
    let [real, effective, saved] = credentials.gid;
    let _ = writeln!(out, "Gid:\t{real}\t{effective}\t{saved}\t{effective}");
    let _ = writeln!(out, "VmSize:\t{:8} kB\nVmRSS:\t{:8} kB", pages * PAGE / 1024, resident * PAGE / 1024);
    let _ = writeln!(out, "Threads:\t{}", process.threads.lock().len());
    let Some(thread) = process.any_thread() else { return };
    let (ignored, caught) = process.handlers.lock().ignored_and_caught();
    let (shared, own, blocked) = (process.pending.lock().set(), thread.signals.own_pending(), thread.signals.blocked());
    for (name, set) in
        [("SigPnd", own), ("ShdPnd", shared), ("SigBlk", blocked), ("SigIgn", ignored), ("SigCgt", caught)]
    {
        let _ = writeln!(out, "{name}:\t{:016x}", set.0);
    }
}

fn strings(process: &Process, out: &mut String, which: fn(&crate::mm::Space) -> (u64, u64)) {
    let Some(mm) = process.any_thread().and_then(|thread| thread.mm().ok()) else { return };
    let (start, end) = which(&mm.lock());
    let mut bytes = alloc::vec![0; (end - start).min(1 << 17) as usize];
    if mm.read_foreign(start, &mut bytes).is_ok() {
        out.push_str(&String::from_utf8_lossy(&bytes));
    }
}

fn maps(process: &Process, out: &mut String) {
    let Some(mm) = process.any_thread().and_then(|thread| thread.mm().ok()) else { return };
    /// As few at a time as need little memory.
    const AT_ONCE: usize = 32;
    let mut from = 0;
    loop {
        let areas: Vec<crate::mm::Vma> = mm.lock().areas_from(from).take(AT_ONCE).cloned().collect();
        let Some(last) = areas.last() else { return };
        // What is there already, twice, while it is copied to a larger place.
        if crate::memory::check_room(3 * out.len() + (64 << 10)).is_err() || out.len() > LONGEST {
            return;
        }
        from = last.end;
        for vma in &areas {
            map_line(vma, out);
        }
    }
}

/// Most bytes of a file: two that are a power of two fit in the largest block of the heap.
const LONGEST: usize = 1 << 20;

fn map_line(vma: &crate::mm::Vma, out: &mut String) {
    let protection = vma.protection;
    let letter = |is: bool, letter: char| if is { letter } else { '-' };
    let (offset, ino, path) = match &vma.backing {
        Backing::Anonymous => (0, 0, vma.name.into()),
        Backing::Pages { source, first } => (first * PAGE, source.inode_number(), source.path().unwrap_or_default()),
    };
    let start = format!(
        "{:08x}-{:08x} {}{}{}{} {offset:08x} 00:{:02x} {ino} ",
        vma.start,
        vma.end,
        letter(protection.readable(), 'r'),
        letter(protection.writable(), 'w'),
        letter(protection.executable(), 'x'),
        if vma.sharing == Sharing::Private { 'p' } else { 's' },
        u8::from(ino != 0),
    );
    if path.is_empty() {
        let _ = writeln!(out, "{start}");
    } else {
        let _ = writeln!(out, "{start:<73}{path}");
    }
}
