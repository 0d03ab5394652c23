//! Address spaces of programs.
//!
//! `pte`: descriptors · `table`: tables as trees · `asid`: identifiers with rollover · `vma`: what is where ·
//! `oom`: who goes when there is no memory ·
//! `contpte`: contiguous descriptors · `space`: the mmap family · `fault`: demand paging and copy-on-write · `Mm`: all of it, with its lock.

pub mod asid;
pub mod contpte;
mod fault;
pub mod oom;
pub mod pte;
mod space;
pub mod table;
pub mod vma;

use alloc::sync::Arc;
use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use hal::mem::{Frame, layout, tlb};
use hal::sync::{SpinGuard, SpinLock};

pub use fault::{Access, FaultError};
pub use space::{MapRequest, Placement, Space};
pub use table::AddressTables;
pub use vma::{Backing, Protection, Sharing, Vma};

use crate::errno::{Errno, Result};

/// First address behind EL0's.
pub const USER_END: u64 = layout::USER_END;
/// Bytes of a page.
pub const PAGE: u64 = hal::mem::PAGE_SIZE as u64;

/// Pages that can be mapped: of a file, or of memory that processes share. Pages exist from the first request on.
pub trait PageSource: Send + Sync + fmt::Debug {
    /// A share of page `index`. EFAULT behind the end (SIGBUS), ENOMEM.
    fn page(&self, index: u64) -> Result<Frame>;
    /// Calls `each` with index and a share of those pages of `range` that exist already, in their order.
    fn present(&self, range: Range<u64>, each: &mut dyn FnMut(u64, Frame)) {
        let _ = (range, each);
    }
    /// The inode's number, for /proc/PID/maps.
    fn inode_number(&self) -> u64 {
        0
    }
    /// The file's path, likewise.
    fn path(&self) -> Option<alloc::string::String> {
        None
    }
}

/// One address space.
#[derive(Debug)]
pub struct Mm {
    space: SpinLock<Space>,
    /// Generation and ASID; see [`asid`].
    pub(crate) id: AtomicU64,
    root: arch::Pa,
}

impl Mm {
    /// An empty one.
    pub fn new() -> Result<Arc<Self>> {
        let tables = AddressTables::new()?;
        let root = tables.root();
        Ok(Arc::new(Self { space: SpinLock::new(Space::new(tables)), id: AtomicU64::new(0), root }))
    }

    /// Its contents, locked. The page-fault path takes this lock: user memory must not be touched meanwhile.
    pub fn lock(&self) -> SpinGuard<'_, Space> {
        self.space.lock()
    }

    /// A copy for fork: private pages are shared until one side writes.
    pub fn fork(&self) -> Result<Arc<Self>> {
        let new = Self::new()?;
        let mut from = self.space.lock();
        let result = from.copy_into(&mut new.space.lock());
        // The parent's own entries may still allow writes.
        hal::mem::tlb::asid(self.asid());
        result.map(|()| new)
    }

    /// The ASID in use; 0 if it has never run. It may change at any time but while this mm's lock is held, and then
    /// invalidations under the old one have been done by the rollover.
    pub fn asid(&self) -> u16 {
        self.id.load(Ordering::Acquire) as u16
    }

    /// Makes it this CPU's.
    pub fn activate(&self) {
        let asid = asid::take(self);
        hal::mem::set_user_table(self.root, asid);
    }

    /// Serves a fault at `address`.
    pub fn fault(&self, address: u64, access: Access) -> core::result::Result<(), FaultError> {
        let mut space = match self.space.try_lock() {
            Some(space) => space,
            // Whoever has the lock may be at work on this very block: then the page may be back before the lock is.
            None if self.suffices_lockless(address, access) => {
                contpte::count_spurious();
                tlb::page_local(self.asid(), address & !(PAGE - 1));
                return Ok(());
            }
            None => self.space.lock(),
        };
        let asid = self.asid();
        space.fault(address, access, asid)
    }

    /// Does the page at `address` allow the access? Without the lock: tables are freed with the address space only, and the
    /// descriptor is true of some time during the call, which is all that another try of the access needs.
    fn suffices_lockless(&self, address: u64, access: Access) -> bool {
        if address >= USER_END {
            return false;
        }
        let Some(block) = table::block(self.root, address) else { return false };
        let index = (address / PAGE) as usize % contpte::block::BLOCK;
        let pte = contpte::block::get_lockless(block, index);
        pte.is_valid() && pte.noted().accessed && access.is_allowed_by(pte)
    }
}

impl From<FaultError> for Errno {
    fn from(error: FaultError) -> Self {
        match error {
            FaultError::OutOfMemory => Self::ENOMEM,
            _ => Self::EFAULT,
        }
    }
}

impl Mm {
    /// Writes into an address space that need not be the current one, as a program's store would.
    pub fn write_foreign(&self, address: u64, bytes: &[u8]) -> Result<()> {
        self.foreign(address, bytes.len(), Access::Write, |frame, offset, range| frame.write(offset, &bytes[range]))
    }

    /// Reads from one, as a program's load would.
    pub fn read_foreign(&self, address: u64, bytes: &mut [u8]) -> Result<()> {
        let len = bytes.len();
        self.foreign(address, len, Access::Read, |frame, offset, range| frame.read(offset, &mut bytes[range]))
    }

    /// The instruction at `address`, as a fetch would have it, also where EL0 may only execute. `None`: no fetch would
    /// have it now.
    pub fn fetch(&self, address: u64) -> Option<u32> {
        let space = self.space.lock();
        let pte = (address < USER_END).then(|| space.tables.get(address & !(PAGE - 1)))?;
        if !pte.is_valid() || !pte.is_executable() {
            return None;
        }
        let frame = Frame::from_descriptor(pte.pa());
        let mut word = [0; 4];
        // An instruction is aligned: it does not cross the page's end.
        frame.read(((address % PAGE) & !3) as usize, &mut word);
        let _ = frame.into_descriptor();
        Some(u32::from_le_bytes(word))
    }

    fn foreign(
        &self,
        address: u64,
        len: usize,
        access: Access,
        mut each: impl FnMut(&Frame, usize, core::ops::Range<usize>),
    ) -> Result<()> {
        let mut done = 0;
        while done < len {
            let at = address.checked_add(done as u64).ok_or(Errno::EFAULT)?;
            let offset = (at % PAGE) as usize;
            let part = (PAGE as usize - offset).min(len - done);
            let asid = self.asid();
            let frame = {
                let mut space = self.space.lock();
                let mut pte = space.tables.get(at & !(PAGE - 1));
                let suffices = match access {
                    Access::Write => pte.is_valid() && pte.is_writable(),
                    _ => pte.is_valid() && pte.is_readable(),
                };
                if !suffices {
                    space.fault(at, access, asid)?;
                    pte = space.tables.get(at & !(PAGE - 1));
                }
                let frame = Frame::from_descriptor(pte.pa());
                let share = frame.clone();
                let _ = frame.into_descriptor();
                share
            };
            each(&frame, offset, done..done + part);
            done += part;
        }
        Ok(())
    }
}
