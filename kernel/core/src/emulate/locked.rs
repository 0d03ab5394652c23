//! The way of before, `mrs=locked`: hooks for undefined instructions in a list, which is walked under an IRQ-saving queued
//! spin lock at each of them. The emulation runs after the lock was let go. With FEAT_IDST nothing of this is reached, as
//! in Linux.

use alloc::boxed::Box;

use hal::sync::{Once, QueuedLock};
use hal::trap::UserFrame;

use super::{Table, decode, emulate};

/// What serves an instruction.
pub(super) type Serve = fn(&Table, u32, &UserFrame) -> Option<usize>;

/// A hook: it is meant for instructions and PSTATEs that have these values under these masks.
#[derive(Debug)]
struct Hook {
    word: (u32, u32),
    pstate: (u64, u64),
    serve: Serve,
    next: Option<Box<Hook>>,
}

/// The list.
#[derive(Debug)]
pub(super) struct Hooks(QueuedLock<Option<Box<Hook>>>);

/// Its nodes for all CPUs are too large for a stack.
static HOOKS: Hooks = Hooks(QueuedLock::new(None));
static REGISTERED: Once<()> = Once::new();

/// The hooks that Linux registers with its emulation of old AArch32 instructions, and that of MRS.
pub(super) fn hooks() -> &'static Hooks {
    REGISTERED.get_or_init(|| HOOKS.register_all());
    &HOOKS
}

/// PSTATE.M of EL0 in AArch32 state, and in T32.
const MODE: u64 = 0x1f;
const AARCH32: u64 = 0x10;

impl Hooks {
    fn register_all(&self) {
        let refuse: Serve = |_, _, _| None;
        let mrs: Serve = |table, word, frame| emulate(table, decode(word)?, frame);
        // The last registered is the first found.
        self.register((0xfff0_0000, 0xd530_0000), (AARCH32, 0), mrs);
        self.register((0x0fb0_0ff0, 0x0100_0090), (MODE, AARCH32), refuse); // SWP, SWPB
        self.register((0x0fff_0fdf, 0x0e07_0f9a), (MODE, AARCH32), refuse); // CP15 DSB, DMB
        self.register((0x0fff_0fff, 0x0e07_0f95), (MODE, AARCH32), refuse); // CP15 ISB
        self.register((0xffff_fdff, 0xf101_0000), (MODE, AARCH32), refuse); // SETEND, A32
        self.register((0x0000_fff7, 0x0000_b650), (MODE, AARCH32), refuse); // SETEND, T32
    }

    fn register(&self, word: (u32, u32), pstate: (u64, u64), serve: Serve) {
        let mut head = self.0.lock();
        let next = head.take();
        *head = Some(Box::new(Hook { word, pstate, serve, next }));
    }

    /// The hook for that instruction.
    pub fn find(&self, word: u32, pstate: u64) -> Option<Serve> {
        let head = self.0.lock();
        let mut at = head.as_deref();
        while let Some(hook) = at {
            if word & hook.word.0 == hook.word.1 && pstate & hook.pstate.0 == hook.pstate.1 {
                return Some(hook.serve);
            }
            at = hook.next.as_deref();
        }
        None
    }
}
