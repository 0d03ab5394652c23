//! execve: a new program in the current process.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use hal::thread::flags;

use super::elf::{self, Kind, ProgramHeader};
use super::stack::{self, aux};
use super::{Thread, exit};
use crate::errno::{Errno, Result};
use crate::feature::{self, Capability};
use crate::mm::{Backing, MapRequest, Mm, PAGE, Placement, Protection, Sharing, USER_END};
use crate::sched::{self, CURRENT};
use crate::vfs::{self, Inode, InodeKind, Location};

/// Where programs that are position-independent go (Linux: two thirds of the address space).
const RELOCATABLE_BASE: u64 = 0xaaaa_aaaa_0000;
/// Address behind the stack.
const STACK_TOP: u64 = USER_END - PAGE;
/// Bytes of stack that are mapped at first; it grows.
const STACK_FIRST: u64 = 33 * PAGE;
/// Most bytes of arguments and environment.
const MAX_STRINGS: usize = 2 << 20;
/// Most interpreters of interpreters (`#!`).
const MAX_SCRIPTS: usize = 5;

/// The program to run, and what it is told.
#[derive(Debug)]
pub struct Request {
    /// The file.
    pub file: Arc<Location>,
    /// Its path as given, for AT_EXECFN and scripts.
    pub path: Vec<u8>,
    /// argv
    pub arguments: Vec<Vec<u8>>,
    /// envp
    pub environment: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Program {
    location: Arc<Location>,
    header: elf::Header,
    segments: Vec<ProgramHeader>,
}

#[derive(Debug)]
struct Loaded {
    /// What is added to addresses as linked.
    bias: u64,
    entry: u64,
    /// Address behind the last segment.
    end: u64,
    program_headers: u64,
}

/// AT_HWCAP: PSTATE.SSBS is there.
const HWCAP_SSBS: u64 = 1 << 28;

/// Replaces the current thread's program. On success the thread's frame is the new program's beginning.
pub fn exec(mut request: Request) -> Result<()> {
    let name = request.path.clone();
    let program = open_program(&mut request)?;
    let strings = request.arguments.iter().chain(&request.environment).map(|text| text.len() + 9);
    if strings.sum::<usize>() > MAX_STRINGS {
        return Err(Errno::E2BIG);
    }
    let interpreter = match program.segments.iter().find(|segment| segment.kind == elf::INTERP) {
        Some(segment) => Some(open_interpreter(&program, segment)?),
        None => None,
    };
    let mm = Mm::new()?;
    let current = CURRENT.share();
    let limit = current.process.limit(3).clamp(128 * PAGE, 1 << 40);
    {
        let mut space = mm.lock();
        space.stack_limit = limit;
        // As Linux: room for the stack, at least 128 MiB.
        space.mmap_top = STACK_TOP - (limit.max(128 << 20) + 256 * PAGE).next_multiple_of(PAGE);
    }
    let base = if program.header.kind == Kind::Relocatable { RELOCATABLE_BASE } else { 0 };
    // What has an interpreter is guarded by it: the kernel guards what it starts itself.
    let guard = guard_of(interpreter.as_ref().unwrap_or(&program))?;
    let program_guard = if interpreter.is_none() { guard } else { Guard::No };
    let loaded = load(&mm, &program, Some(base), program_guard)?;
    let linker = match &interpreter {
        Some(interpreter) => Some(load(&mm, interpreter, None, guard)?),
        None => None,
    };
    {
        let mut space = mm.lock();
        let brk = loaded.end.next_multiple_of(PAGE);
        space.brk = (brk, brk);
        space.map(
            MapRequest {
                placement: Placement::Fixed(STACK_TOP - STACK_FIRST),
                len: STACK_FIRST,
                protection: Protection::READ_WRITE,
                sharing: Sharing::Private,
                backing: Backing::Anonymous,
                grows_down: true,
                name: "[stack]",
            },
            0,
        )?;
    }
    crate::signal::map_trampoline(&mm)?;
    let sp = write_stack(&mm, &request, &program, &loaded, linker.as_ref())?;

    if !current.process.begin_exec(current.tid) {
        // Another thread's exec, or the process's end, was first: this thread ends on its way back.
        current.context.set_flags(flags::RESCHEDULE);
        return Err(Errno::ERESTARTNOINTR);
    }
    // From here on there is no way back.
    end_other_threads(&current);
    current.process.end_exec();
    crate::futex::leave(&current);
    let old = current.replace_mm(Some(mm));
    exit::release_vfork(&current);
    drop(old);
    let files = current.files()?;
    // Threads that shared the table keep theirs.
    let files = if Arc::strong_count(&files) > 2 {
        let own = Arc::new(files.copy()?);
        drop(current.replace_files(Some(Arc::clone(&own))));
        own
    } else {
        files
    };
    files.close_on_exec();
    {
        let mut handlers = current.process.handlers.lock();
        let fresh = Arc::new(handlers.for_exec());
        *handlers = fresh;
    }
    current.process.timers.end_created();
    current.process.has_run_exec.store(true, core::sync::atomic::Ordering::Relaxed);
    {
        let mut stack = current.signals.stack.lock();
        *stack = stack.for_exec();
    }
    current.set_name(name.rsplit(|byte| *byte == b'/').next().unwrap_or(&name));
    current.clear_child_tid.store(0, core::sync::atomic::Ordering::Relaxed);
    hal::fp::forget(&current.context);
    crate::mte::reset();
    crate::pauth::reset();
    hal::thread::set_user_sp(sp);
    hal::thread::set_user_tpidr(0);
    let frame = current.context.frame();
    for n in 0..31 {
        frame.set_register(n, 0);
    }
    frame.set_original_x0(0);
    frame.set_pc(linker.as_ref().map_or(loaded.entry, |linker| linker.entry));
    // Loads may pass stores by speculation, unless a program asks for less.
    let has_ssbs = crate::feature::hwcap() & HWCAP_SSBS != 0;
    frame.set_pstate(if has_ssbs { hal::trap::PSTATE_SSBS } else { 0 });
    current.context.set_flags(flags::RESTORE_ALL);
    Ok(())
}

fn read_some(inode: &dyn Inode, offset: u64, len: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let got = inode.read_kernel(offset, &mut bytes)?;
    bytes.truncate(got);
    Ok(bytes)
}

/// The program itself, through scripts to their interpreters.
fn open_program(request: &mut Request) -> Result<Program> {
    for _ in 0..MAX_SCRIPTS {
        let inode = Arc::clone(&request.file.inode);
        check_executable(&*inode)?;
        let start = read_some(&*inode, 0, 256)?;
        if !start.starts_with(b"#!") {
            return parse(Arc::clone(&request.file));
        }
        let line = start[2..].split(|byte| *byte == b'\n').next().unwrap_or(&[]);
        let line = line.trim_ascii();
        let (interpreter, argument) = match line.iter().position(|byte| *byte == b' ' || *byte == b'\t') {
            Some(space) => (&line[..space], Some(line[space..].trim_ascii().to_vec())),
            None => (line, None),
        };
        if interpreter.is_empty() {
            return Err(Errno::ENOEXEC);
        }
        let mut arguments = vec![interpreter.to_vec()];
        arguments.extend(argument);
        arguments.push(request.path.clone());
        arguments.extend(request.arguments.iter().skip(1).cloned());
        request.arguments = arguments;
        request.file = vfs::lookup(&CURRENT.get().fs(), interpreter)?;
        request.path = interpreter.to_vec();
    }
    Err(Errno::ELOOP)
}

fn check_executable(inode: &dyn Inode) -> Result<()> {
    let metadata = inode.metadata();
    if metadata.kind != InodeKind::Regular || metadata.mode & 0o111 == 0 {
        return Err(Errno::EACCES);
    }
    Ok(())
}

fn parse(location: Arc<Location>) -> Result<Program> {
    let start = read_some(&*location.inode, 0, elf::HEADER)?;
    let header = elf::header(&start)?;
    let len = usize::from(header.count) * elf::PROGRAM_HEADER;
    let table = read_some(&*location.inode, header.program_headers, len)?;
    if table.len() < len {
        return Err(Errno::ENOEXEC);
    }
    let segments = elf::program_headers(&table)?;
    if !segments.iter().any(|segment| segment.kind == elf::LOAD) {
        return Err(Errno::ENOEXEC);
    }
    Ok(Program { location, header, segments })
}

fn open_interpreter(program: &Program, segment: &ProgramHeader) -> Result<Program> {
    if segment.file_size < 2 || segment.file_size > 4096 {
        return Err(Errno::ENOEXEC);
    }
    let path = read_some(&*program.location.inode, segment.offset, segment.file_size as usize)?;
    let path = path.strip_suffix(&[0]).ok_or(Errno::ENOEXEC)?;
    let location = vfs::lookup(&CURRENT.get().fs(), path)?;
    check_executable(&*location.inode)?;
    parse(location)
}

/// What has to be added to `low` so that `low..end` lies where there is room; it is taken until the segments come.
fn find_room(mm: &Arc<Mm>, low: u64, end: u64) -> Result<u64> {
    let request = MapRequest {
        placement: Placement::Hint(0),
        len: (end - low).next_multiple_of(PAGE),
        protection: Protection::NONE,
        sharing: Sharing::Private,
        backing: Backing::Anonymous,
        grows_down: false,
        name: "",
    };
    Ok(mm.lock().map(request, 0)?.wrapping_sub(low))
}

/// Is code mapped with PROT_BTI?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guard {
    No,
    Yes,
}

/// What the file's properties ask for, if the CPUs have it.
fn guard_of(program: &Program) -> Result<Guard> {
    let Some(segment) = program.segments.iter().find(|segment| segment.kind == elf::GNU_PROPERTY) else {
        return Ok(Guard::No);
    };
    if segment.file_size > elf::MAX_PROPERTY {
        return Err(Errno::ENOEXEC);
    }
    let note = read_some(&*program.location.inode, segment.offset, segment.file_size as usize)?;
    let is_wanted = elf::wants_guard(&note)? && feature::has(Capability::Bti);
    Ok(if is_wanted { Guard::Yes } else { Guard::No })
}

/// Maps the segments: at addresses as linked plus `base`, or (`None`) wherever there is room.
fn load(mm: &Arc<Mm>, program: &Program, base: Option<u64>, guard: Guard) -> Result<Loaded> {
    let loads = || program.segments.iter().filter(|segment| segment.kind == elf::LOAD);
    let low = loads().map(|segment| segment.address & !(PAGE - 1)).min().unwrap_or(0);
    let end = loads().map(|segment| segment.address + segment.memory_size).max().unwrap_or(0);
    let bias = base.map_or_else(|| find_room(mm, low, end), Ok)?;
    let source = program.location.inode.pages().ok_or(Errno::ENOEXEC)?;
    for segment in loads().filter(|segment| segment.memory_size > 0) {
        let protection =
            Protection::from_bits(u64::from((segment.flags & 4) >> 2 | segment.flags & 2 | (segment.flags & 1) << 2));
        let is_guarded = guard == Guard::Yes && protection.executable();
        let protection = if is_guarded { protection.with_guard() } else { protection };
        let address = bias.wrapping_add(segment.address);
        let start = address & !(PAGE - 1);
        let file_end = address + segment.file_size;
        let file_pages_end = if segment.file_size == 0 { start } else { file_end.next_multiple_of(PAGE) };
        let memory_end = (address + segment.memory_size).next_multiple_of(PAGE);
        let map = |from: u64, to: u64, backing: Backing| {
            if from >= to {
                return Ok(());
            }
            let request = MapRequest {
                placement: Placement::Fixed(from),
                len: to - from,
                protection,
                sharing: Sharing::Private,
                backing,
                grows_down: false,
                name: "",
            };
            mm.lock().map(request, 0).map(|_| ())
        };
        let first = (segment.offset & !(PAGE - 1)) / PAGE;
        map(start, file_pages_end, Backing::Pages { source: Arc::clone(&source), first })?;
        map(file_pages_end.max(start), memory_end, Backing::Anonymous)?;
        // What the file has behind the segment's end is not the program's.
        if segment.memory_size > segment.file_size && protection.writable() && file_end < file_pages_end {
            mm.write_foreign(file_end, &vec![0; (file_pages_end - file_end) as usize])?;
        }
    }
    let in_file = program.header.program_headers;
    let program_headers =
        program.segments.iter().find(|segment| segment.kind == elf::PHDR).map(|s| s.address).or_else(|| {
            loads()
                .find(|segment| (segment.offset..segment.offset + segment.file_size).contains(&in_file))
                .map(|segment| segment.address + (in_file - segment.offset))
        });
    Ok(Loaded {
        bias,
        entry: bias.wrapping_add(program.header.entry),
        end: bias.wrapping_add(end),
        program_headers: program_headers.map_or(0, |address| bias.wrapping_add(address)),
    })
}

fn write_stack(
    mm: &Arc<Mm>,
    request: &Request,
    program: &Program,
    loaded: &Loaded,
    linker: Option<&Loaded>,
) -> Result<u64> {
    let credentials = *CURRENT.get().credentials.lock();
    let mut random = [0; 16];
    crate::random::fill(&mut random);
    let auxiliary = [
        (aux::HWCAP, crate::feature::hwcap()),
        (aux::PAGESZ, PAGE),
        (aux::CLKTCK, 100),
        (aux::PHDR, loaded.program_headers),
        (aux::PHENT, elf::PROGRAM_HEADER as u64),
        (aux::PHNUM, u64::from(program.header.count)),
        (aux::BASE, linker.map_or(0, |linker| linker.bias)),
        (aux::FLAGS, 0),
        (aux::ENTRY, loaded.entry),
        (aux::UID, u64::from(credentials.uid[0])),
        (aux::EUID, u64::from(credentials.uid[1])),
        (aux::GID, u64::from(credentials.gid[0])),
        (aux::EGID, u64::from(credentials.gid[1])),
        (aux::SECURE, 0),
        (aux::HWCAP2, crate::feature::hwcap2()),
        (aux::MINSIGSTKSZ, crate::signal::MIN_STACK),
    ];
    let contents = stack::Contents {
        arguments: &request.arguments,
        environment: &request.environment,
        path: &request.path,
        random,
        auxiliary: &auxiliary,
    };
    let image = stack::build(STACK_TOP, &contents)?;
    mm.write_foreign(image.sp, &image.bytes)?;
    let mut space = mm.lock();
    space.arguments = image.arguments;
    space.environment = image.environment;
    space.program = Some(Arc::clone(&program.location));
    Ok(image.sp)
}

/// exec leaves one thread.
fn end_other_threads(current: &Arc<Thread>) {
    loop {
        let others: Vec<Arc<Thread>> =
            current.process.threads.lock().iter().filter(|thread| !Arc::ptr_eq(thread, current)).cloned().collect();
        if others.is_empty() {
            return;
        }
        for other in others {
            other.signals.end();
            other.context.set_flags(flags::SIGNAL);
            sched::wake_for_signal(&other);
        }
        crate::time::sleep_uninterruptibly(1_000_000);
    }
}
