//! A thread: what the scheduler runs.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::AtomicU64;

use hal::sync::SpinLock;
use hal::thread::{Context, flags};

use super::Process;
use crate::errno::{Errno, Result};
use crate::mm::Mm;
use crate::sched::Schedule;
use crate::sched::wait::WaitQueue;
use crate::signal::ThreadSignals;
use crate::vfs::{FileTable, FsContext};

/// Numbers of user and groups; all programs are root's unless they change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// Real, effective, saved user.
    pub uid: [u32; 3],
    /// Real, effective, saved group.
    pub gid: [u32; 3],
}

type Start = Box<dyn FnOnce() + Send>;

/// A thread. What only the thread itself changes is behind locks because others look at it.
pub struct Thread {
    /// The CPU's part. Its flags are read on the way into and out of the kernel.
    pub context: Context,
    /// The scheduler's part.
    pub schedule: Schedule,
    /// Its number.
    pub tid: i32,
    /// Its process.
    pub process: Arc<Process>,
    mm: SpinLock<Option<Arc<Mm>>>,
    files: SpinLock<Option<Arc<FileTable>>>,
    fs: SpinLock<Arc<FsContext>>,
    /// Its name (comm), padded with NULs.
    pub name: SpinLock<[u8; 16]>,
    /// Its signals.
    pub signals: ThreadSignals,
    /// User and groups.
    pub credentials: SpinLock<Credentials>,
    /// Where 0 is stored, and a futex woken, at its end (set_tid_address); 0: nowhere.
    pub clear_child_tid: AtomicU64,
    /// Its list of robust futexes (set_robust_list); 0: none.
    pub robust_list: AtomicU64,
    /// Woken when a vfork child lets go of the parent's memory; the count of times it did.
    pub vfork_done: WaitQueue,
    /// The parent that waits in vfork.
    pub vfork_parent: SpinLock<Option<Arc<Thread>>>,
    /// Set by the child when it is done.
    pub vfork_released: AtomicU64,
    /// Page faults served: without and with a page of a file.
    pub faults: AtomicU64,
    /// PR_SET_TAGGED_ADDR_CTRL's word; only the thread itself changes it.
    pub mte_control: AtomicU64,
    /// Its keys of pointer authentication.
    pub keys: crate::pauth::ThreadKeys,
    start: SpinLock<Option<Start>>,
    is_idle: bool,
}

impl Thread {
    /// A thread of `process` that does not run yet. It begins with `start`, if there is one, and then goes to EL0.
    pub fn new(
        tid: i32,
        process: Arc<Process>,
        mm: Option<Arc<Mm>>,
        files: Arc<FileTable>,
        fs: Arc<FsContext>,
        start: Option<Start>,
    ) -> Result<Self> {
        Ok(Self {
            context: Context::new().ok_or(Errno::ENOMEM)?,
            schedule: Schedule::new(),
            tid,
            process,
            mm: SpinLock::new(mm),
            files: SpinLock::new(Some(files)),
            fs: SpinLock::new(fs),
            name: SpinLock::new([0; 16]),
            signals: ThreadSignals::default(),
            credentials: SpinLock::new(Credentials::default()),
            clear_child_tid: AtomicU64::new(0),
            robust_list: AtomicU64::new(0),
            vfork_done: WaitQueue::new(),
            vfork_parent: SpinLock::new(None),
            vfork_released: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            mte_control: AtomicU64::new(0),
            keys: crate::pauth::ThreadKeys::default(),
            start: SpinLock::new(start),
            is_idle: false,
        })
    }

    /// The idle thread of a CPU.
    pub fn idle(process: Arc<Process>, files: Arc<FileTable>, fs: Arc<FsContext>) -> Result<Self> {
        Ok(Self { is_idle: true, ..Self::new(0, process, None, files, fs, None)? })
    }

    /// Is it a CPU's idle thread?
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    pub(crate) fn take_start(&self) -> Option<Start> {
        self.start.lock().take()
    }

    /// Its address space; EFAULT if it has none (any more).
    pub fn mm(&self) -> Result<Arc<Mm>> {
        self.mm.lock().clone().ok_or(Errno::EFAULT)
    }

    /// Replaces the current thread's address space and makes it the CPU's. Returns the old one.
    pub fn replace_mm(&self, new: Option<Arc<Mm>>) -> Option<Arc<Mm>> {
        match &new {
            Some(mm) => mm.activate(),
            None => hal::mem::set_no_user_table(),
        }
        core::mem::replace(&mut *self.mm.lock(), new)
    }

    /// Makes its address space the CPU's, in a switch from `previous`.
    pub(crate) fn activate_memory(&self, previous: &Self) {
        match &*self.mm.lock() {
            Some(mm) => {
                let is_same =
                    previous.mm.try_lock().is_some_and(|old| old.as_ref().is_some_and(|old| Arc::ptr_eq(old, mm)));
                if !is_same {
                    mm.activate();
                }
            }
            None => hal::mem::set_no_user_table(),
        }
    }

    /// Its files; EBADF at its end.
    pub fn files(&self) -> Result<Arc<FileTable>> {
        self.files.lock().clone().ok_or(Errno::EBADF)
    }

    /// Replaces its files; the old ones are returned.
    pub fn replace_files(&self, new: Option<Arc<FileTable>>) -> Option<Arc<FileTable>> {
        core::mem::replace(&mut *self.files.lock(), new)
    }

    /// Its root and working directory.
    pub fn fs(&self) -> Arc<FsContext> {
        Arc::clone(&self.fs.lock())
    }

    /// Replaces them.
    pub fn replace_fs(&self, new: Arc<FsContext>) {
        let old = core::mem::replace(&mut *self.fs.lock(), new);
        drop(old);
    }

    /// Is there a signal that it does not block, or is it told to end?
    pub fn has_signal(&self) -> bool {
        self.context.flags() & flags::SIGNAL != 0
    }

    /// Sets its name from a path's last part.
    pub fn set_name(&self, name: &[u8]) {
        let mut bytes = [0; 16];
        let len = name.len().min(15);
        bytes[..len].copy_from_slice(&name[..len]);
        *self.name.lock() = bytes;
    }

    /// Its name.
    pub fn name_text(&self) -> alloc::string::String {
        let bytes = *self.name.lock();
        let len = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        alloc::string::String::from_utf8_lossy(&bytes[..len]).into_owned()
    }

    /// Counter ticks that it has run, up to now if it runs.
    pub fn ticks(&self) -> u64 {
        self.schedule.ticks(self.context.is_on_cpu())
    }
}

impl hal::thread::Thread for Thread {
    fn context(&self) -> &Context {
        &self.context
    }
}

impl fmt::Debug for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thread {{ tid: {} }}", self.tid)
    }
}
