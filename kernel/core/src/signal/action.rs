//! What a process does about each signal.

use hal::sync::SpinLock;

use super::{LAST, SigSet};
use super::{SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};
use crate::errno::Errno;

const SIG_DFL: u64 = 0;
const SIG_IGN: u64 = 1;
const SA_NOCLDSTOP: u64 = 1;
const SA_NOCLDWAIT: u64 = 2;
/// Flags that mean something: SA_NOCLDSTOP, NOCLDWAIT, SIGINFO, EXPOSE_TAGBITS, RESTORER, ONSTACK, RESTART, NODEFER,
/// RESETHAND. A program learns from their absence which ones the kernel does not know.
const KNOWN_FLAGS: u64 = 0xdc00_0807;
const SA_RESTART: u64 = 0x1000_0000;
const SA_NODEFER: u64 = 0x4000_0000;
const SA_RESETHAND: u64 = 0x8000_0000;

/// rt_sigaction's structure on arm64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    /// SIG_DFL, SIG_IGN, or the handler's address.
    pub handler: u64,
    /// SA_*
    pub flags: u64,
    /// With SA_RESTORER: where the handler returns to.
    pub restorer: u64,
    /// Blocked while the handler runs.
    pub mask: SigSet,
}

impl Action {
    /// SIG_DFL
    pub const DEFAULT: Self = Self { handler: SIG_DFL, flags: 0, restorer: 0, mask: SigSet(0) };

    /// As rt_sigaction takes it.
    pub const fn given(handler: u64, flags: u64, restorer: u64, mask: SigSet) -> Self {
        Self { handler, flags: flags & KNOWN_FLAGS, restorer, mask: mask.blockable() }
    }

    /// SIG_DFL?
    pub const fn is_default(self) -> bool {
        self.handler == SIG_DFL
    }
    /// SA_RESETHAND?
    pub const fn is_one_shot(self) -> bool {
        self.flags & SA_RESETHAND != 0
    }
    /// SA_NODEFER?
    pub const fn is_reentrant(self) -> bool {
        self.flags & SA_NODEFER != 0
    }
    /// Is a call that gave `errno` made again after the handler?
    pub fn restarts(self, errno: Errno) -> bool {
        match errno {
            Errno::ERESTARTNOINTR => true,
            Errno::ERESTARTSYS => self.flags & SA_RESTART != 0,
            _ => false,
        }
    }
    /// Does it do nothing about that signal?
    pub fn ignores(self, signal: u8) -> bool {
        let does_nothing = matches!(default_action(signal), Default::Ignore | Default::Continue);
        self.is_ignore() || self.is_default() && does_nothing
    }
    /// SIG_IGN?
    pub const fn is_ignore(self) -> bool {
        self.handler == SIG_IGN
    }
}

/// What SIG_DFL means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Default {
    /// The process ends.
    Terminate,
    /// Nothing.
    Ignore,
    /// The process stops.
    Stop,
    /// The process goes on.
    Continue,
}

/// signal(7)'s table.
pub const fn default_action(signal: u8) -> Default {
    match signal {
        SIGCHLD | SIGURG | SIGWINCH => Default::Ignore,
        SIGCONT => Default::Continue,
        SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU => Default::Stop,
        _ => Default::Terminate,
    }
}

/// All actions of a process.
#[derive(Debug)]
pub struct Handlers {
    actions: SpinLock<[Action; LAST as usize]>,
}

impl Handlers {
    /// SIG_DFL everywhere.
    pub const fn new() -> Self {
        Self { actions: SpinLock::new([Action::DEFAULT; LAST as usize]) }
    }
    /// The action of a signal, 1 to [`LAST`].
    pub fn get(&self, signal: u8) -> Action {
        self.actions.lock()[usize::from(signal) - 1]
    }
    /// Replaces it; returns the old one.
    pub fn set(&self, signal: u8, action: Action) -> Action {
        core::mem::replace(&mut self.actions.lock()[usize::from(signal) - 1], action)
    }
    /// For a fork.
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { actions: SpinLock::new(*self.actions.lock()) }
    }
    /// For exec: handlers are gone, what is ignored stays ignored.
    #[must_use]
    pub fn for_exec(&self) -> Self {
        let keep = |action: Action| {
            let handler = if action.is_ignore() { SIG_IGN } else { SIG_DFL };
            Action { handler, ..Action::DEFAULT }
        };
        Self { actions: SpinLock::new(self.actions.lock().map(keep)) }
    }
    /// Do children vanish at their end, without being waited for?
    pub fn ignores_children(&self) -> bool {
        let action = self.get(SIGCHLD);
        action.is_ignore() || action.flags & SA_NOCLDWAIT != 0
    }
    /// Those that are ignored, and those that have a handler.
    pub fn ignored_and_caught(&self) -> (SigSet, SigSet) {
        let actions = self.actions.lock();
        let those = |is: fn(&Action) -> bool| {
            let numbered = actions.iter().enumerate();
            SigSet(numbered.filter(|(_, action)| is(action)).fold(0, |set, (n, _)| set | 1 << n))
        };
        (those(|action| action.is_ignore()), those(|action| !action.is_ignore() && !action.is_default()))
    }
    /// Is SIGCHLD wanted when children stop and go on?
    pub fn wants_stops(&self) -> bool {
        let action = self.get(SIGCHLD);
        !action.is_ignore() && action.flags & SA_NOCLDSTOP == 0
    }
}

impl core::default::Default for Handlers {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exec_keeps_only_what_is_ignored() {
        let handlers = Handlers::new();
        handlers.set(2, Action::given(0x1000, !0, 7, SigSet(!0)));
        handlers.set(3, Action::given(SIG_IGN, !0, 7, SigSet(!0)));
        let after = handlers.for_exec();
        assert_eq!(after.get(2), Action::DEFAULT);
        assert_eq!(after.get(3), Action { handler: SIG_IGN, ..Action::DEFAULT });
    }

    #[test]
    fn unknown_flags_and_what_cannot_be_blocked_are_left_out() {
        let action = Action::given(0x1000, !0, 0, SigSet(!0));
        assert_eq!(action.flags & 0x400, 0, "SA_UNSUPPORTED");
        assert!(!action.mask.has(crate::signal::SIGKILL) && action.mask.has(SIGCHLD));
    }

    #[test]
    fn which_calls_are_made_again() {
        let with = |flags| Action { flags, ..Action::DEFAULT };
        assert!(with(SA_RESTART).restarts(Errno::ERESTARTSYS) && !with(0).restarts(Errno::ERESTARTSYS));
        assert!(!with(SA_RESTART).restarts(Errno::ERESTARTNOHAND));
        assert!(!with(SA_RESTART).restarts(Errno::ERESTART_RESTARTBLOCK));
        assert!(with(0).restarts(Errno::ERESTARTNOINTR));
    }
}
