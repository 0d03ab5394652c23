//! From `hal`'s boot to the first program, and the end.

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU32, Ordering};

use hal::dt::Board;
use hal::log;
use hal::smp::StartError;
use hal::sync::Once;

use crate::errno::Result;
use crate::proc::{ExitStatus, Process, Thread, exec, table};
use crate::sched::{self, CURRENT};
use crate::signal::Handlers;
use crate::vfs::{self, File, FileTable, FsContext, Location, cpio, open_flags, tmpfs};
use crate::{cmdline, contextidr, crash, emulate, feature, random, syscall, tty};

static CONSOLE: AtomicU32 = AtomicU32::new(u32::MAX);
static ROOT: Once<Arc<tmpfs::Node>> = Once::new();

/// Is that the console's interrupt?
pub fn is_console(intid: u32) -> bool {
    CONSOLE.load(Ordering::Relaxed) == intid
}

/// The rest of the boot, on the boot CPU.
pub fn main(board: &'static Board) -> ! {
    cmdline::set(board.bootargs());
    crate::mte::choose_check();
    random::seed(&board.seed);
    let root = ROOT.get_or_init(tmpfs::new);
    let fs = Arc::new(FsContext::new(Location::root(Arc::clone(root) as Arc<dyn vfs::Inode>)));
    let kernel = Arc::new(Process::new(0, None, Arc::new(Handlers::new()), 0));
    let idle = |cpu: usize| -> Arc<Thread> {
        let made = Thread::idle(Arc::clone(&kernel), Arc::new(FileTable::default()), Arc::clone(&fs));
        let Ok(thread) = made else { give_up("no memory for an idle thread") };
        thread.set_name(format!("idle/{cpu}").as_bytes());
        let thread = Arc::new(thread);
        sched::set_idle(cpu, Arc::clone(&thread));
        thread
    };
    CURRENT.install(0, idle(0));
    hal::gic::enable(hal::timer::intid());
    feature::begin();
    let online = start_others(board, idle);
    crate::mte::init();
    emulate::init();
    contextidr::init();
    crate::sampler::init(board.pmu);
    log!("vambrace-kernel: {online} of {} CPU(s) online", board.cpus.len());
    crate::mm::contpte::init();
    crash::on_boot_cpu();
    if let Some((_, intid)) = &board.uart {
        CONSOLE.store(*intid, Ordering::Relaxed);
        hal::gic::enable(*intid);
        hal::console::enable_input();
    }
    let Some(archive) = hal::boot::initrd() else {
        log!("vambrace-kernel: no initramfs, so there is nothing to run");
        end(0);
    };
    match cpio::unpack(root, archive) {
        Ok(count) => log!("vambrace-kernel: {count} entries in the initramfs"),
        Err(error) => give_up(&format!("the initramfs is no use: {error}")),
    }
    if let Err(error) = start_init(fs) {
        give_up(&format!("the first program cannot start: {error:?}"));
    }
    sched::idle()
}

/// Another CPU, from its start on.
pub fn secondary() -> ! {
    hal::gic::enable(hal::timer::intid());
    crash::on_other_cpu();
    sched::idle()
}

/// Starts the others. With `late=N` the last N come when the features are final, as if they had been plugged in.
fn start_others(board: &Board, idle: impl Fn(usize) -> Arc<Thread>) -> usize {
    let late = cmdline::value("late").and_then(|count| count.parse().ok()).unwrap_or(0);
    let early = board.cpus.len().saturating_sub(late);
    let mut online = 1;
    let mut ready: Option<Arc<Thread>> = None;
    let others = board.cpus.iter().filter(|affinity| **affinity != hal::percpu::boot_affinity());
    for (n, affinity) in others.enumerate() {
        if n + 1 == early.max(1) {
            feature::finish();
        }
        let thread = ready.take().unwrap_or_else(|| idle(online));
        match hal::smp::start(&CURRENT, online, *affinity, Arc::clone(&thread)) {
            Ok(()) => online += 1,
            // The next one takes its number.
            Err(StartError::Refused) => ready = Some(thread),
            Err(error) => {
                log!("vambrace-kernel: CPU {online} ({affinity:#x}) does not start: {error:?}");
                break;
            }
        }
    }
    feature::finish();
    online
}

fn start_init(fs: Arc<FsContext>) -> Result<()> {
    let path = cmdline::value("rdinit").unwrap_or("/init");
    let pid = table::new_id();
    let process = Arc::new(Process::new(pid, None, Arc::new(Handlers::new()), 0));
    let files = Arc::new(FileTable::default());
    let console = Arc::new(File::new(None, tty::console(), open_flags::RDWR));
    for _ in 0..3 {
        files.add(Arc::clone(&console), false, 0, 3)?;
    }
    tty::set_foreground(process.group.load(core::sync::atomic::Ordering::Relaxed));
    let start = Box::new(move || {
        let outcome = run_init(path);
        if let Err(error) = outcome {
            give_up(&format!("{path} cannot be run: {error:?}"));
        }
    });
    let thread = Arc::new(Thread::new(pid, Arc::clone(&process), None, files, fs, Some(start))?);
    process.threads.lock().push(Arc::clone(&thread));
    table::insert(&thread);
    sched::start(&thread);
    Ok(())
}

fn run_init(path: &str) -> Result<()> {
    let file = vfs::lookup(&CURRENT.get().fs(), path.as_bytes())?;
    let mut arguments: Vec<Vec<u8>> = vec![path.as_bytes().to_vec()];
    arguments.extend(cmdline::init_arguments().map(|word| word.as_bytes().to_vec()));
    let environment = vec![b"HOME=/".to_vec(), b"TERM=linux".to_vec()];
    exec::exec(exec::Request { file, path: path.as_bytes().to_vec(), arguments, environment })
}

/// The first program has ended: so does the run.
pub fn power_off(status: ExitStatus) -> ! {
    match status {
        ExitStatus::Code(code) => log!("vambrace-kernel: init exited with status {code}"),
        ExitStatus::Signal(signal) => log!("vambrace-kernel: init was killed by signal {signal}"),
    }
    end(status.shell_status())
}

/// Says what is worth knowing at the end, and switches off.
pub fn end(status: u8) -> ! {
    sched::stop_others();
    syscall::report_unknown();
    hal::power::off(status)
}

fn give_up(message: &str) -> ! {
    log!("vambrace-kernel: {message}");
    end(1)
}

/// reboot(2) with LINUX_REBOOT_CMD_RESTART.
pub fn restart() -> ! {
    sched::stop_others();
    syscall::report_unknown();
    hal::power::reset()
}
