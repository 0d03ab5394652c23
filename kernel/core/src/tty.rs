//! The console as a terminal: lines are edited and echoed, output gets its carriage returns.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::sync::atomic::Ordering;

use hal::sync::SpinLock;
use hal::{console, uaccess};

use crate::errno::{Errno, Result};
use crate::proc::{Process, job, table};
use crate::sched::CURRENT;
use crate::sched::wait::WaitQueue;
use crate::signal::{self, Info, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
use crate::vfs::{File, FileOps, Poll, Sink, Source, open_flags};

/// struct termios of the kernel's ABI: four words of flags, the line discipline, 19 control characters.
#[derive(Clone, Copy, Debug)]
struct Termios {
    input: u32,
    output: u32,
    control: u32,
    local: u32,
    line: u8,
    characters: [u8; 19],
}

const TERMIOS_SIZE: usize = 36;
const ICRNL: u32 = 0o400;
const OPOST: u32 = 1;
const ONLCR: u32 = 4;
const ISIG: u32 = 1;
const ICANON: u32 = 2;
const ECHO: u32 = 8;
const ECHOE: u32 = 16;
const NOFLSH: u32 = 0o200;
const TOSTOP: u32 = 0o400;
const VINTR: usize = 0;
const VQUIT: usize = 1;
const VERASE: usize = 2;
const VKILL: usize = 3;
const VEOF: usize = 4;
const VSUSP: usize = 10;

/// Linux's number of the PL011's terminal, as /proc/PID/stat has it: major 204, minor 64.
const NUMBER: i32 = 204 << 8 | 64;

const DEFAULT: Termios = Termios {
    input: ICRNL,
    output: OPOST | ONLCR,
    control: 0o2277,                              // B9600, CS8, CREAD, HUPCL
    local: ISIG | ICANON | ECHO | ECHOE | 0o5060, // ECHOK, ECHOCTL, ECHOKE, IEXTEN
    line: 0,
    characters: [3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26, 0, 18, 15, 23, 22, 0, 0, 0],
};

impl Termios {
    fn to_bytes(self) -> [u8; TERMIOS_SIZE] {
        let mut bytes = [0; TERMIOS_SIZE];
        for (n, word) in [self.input, self.output, self.control, self.local].iter().enumerate() {
            bytes[4 * n..4 * n + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[16] = self.line;
        bytes[17..].copy_from_slice(&self.characters);
        bytes
    }
    fn from_bytes(bytes: &[u8; TERMIOS_SIZE]) -> Self {
        let word = |n: usize| u32::from_le_bytes([bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]]);
        let mut characters = [0; 19];
        characters.copy_from_slice(&bytes[17..]);
        Self { input: word(0), output: word(1), control: word(2), local: word(3), line: bytes[16], characters }
    }
}

#[derive(Debug)]
struct State {
    termios: Termios,
    /// Bytes that a read can have.
    ready: VecDeque<u8>,
    /// How many of `ready` are ends of lines or of input.
    lines: usize,
    /// The line that is being edited.
    editing: VecDeque<u8>,
    size: [u16; 4],
}

static STATE: SpinLock<State> = SpinLock::new(State {
    termios: DEFAULT,
    ready: VecDeque::new(),
    lines: 0,
    editing: VecDeque::new(),
    size: [24, 80, 0, 0],
});
static CAN_READ: WaitQueue = WaitQueue::new();
/// Whose terminal it is.
#[derive(Clone, Copy, Debug)]
struct Owner {
    /// The session that it controls.
    session: Option<i32>,
    /// The process group in the foreground, which gets its signals.
    foreground: Option<i32>,
}

const NOBODY: Owner = Owner { session: None, foreground: None };

static OWNER: SpinLock<Owner> = SpinLock::new(NOBODY);

/// An end of input within `ready`: no byte that a program can type.
const END: u8 = 0;

/// /dev/console: nobody's terminal, and without job control.
pub fn console() -> Arc<dyn FileOps> {
    Arc::new(Terminal { is_console: true })
}

/// The terminal itself. A session's leader that has none gets it, unless another session has.
pub fn open(flags: u32) -> Arc<dyn FileOps> {
    if flags & open_flags::NOCTTY == 0 && flags & open_flags::ACCMODE != open_flags::WRONLY {
        let (session, group, is_leader) = own();
        let mut owner = OWNER.lock();
        if is_leader && owner.session.is_none() {
            *owner = Owner { session: Some(session), foreground: Some(group) };
        }
    }
    Arc::new(Terminal { is_console: false })
}

/// /dev/tty: the terminal of the current session.
pub fn open_own() -> Result<Arc<dyn FileOps>> {
    if is_own() { Ok(Arc::new(Terminal { is_console: false })) } else { Err(Errno::ENXIO) }
}

/// The current process's session and group, and whether it leads its session.
fn own() -> (i32, i32, bool) {
    let process = &CURRENT.get().process;
    let session = process.session.load(Ordering::Relaxed);
    (session, process.group.load(Ordering::Relaxed), session == process.pid)
}

/// Does it control the current session?
fn is_own() -> bool {
    OWNER.lock().session == Some(own().0)
}

/// The terminal's number for a session; 0: it has none.
pub fn number_for(session: i32) -> i32 {
    if OWNER.lock().session == Some(session) { NUMBER } else { 0 }
}

/// The group in the foreground of a session's terminal; -1: it has none.
pub fn foreground_for(session: i32) -> i32 {
    let owner = *OWNER.lock();
    owner.foreground.filter(|_| owner.session == Some(session)).unwrap_or(-1)
}

/// A signal for a process group, if there is one.
fn signal_group(group: Option<i32>, number: u8, info: Info) {
    let Some(group) = group else { return };
    for process in table::processes() {
        if process.group.load(Ordering::Relaxed) == group {
            signal::send_to_process(&process, number, info);
        }
    }
}

/// A process ends: with a session's leader the session loses its terminal, and the foreground hangs up.
pub fn process_ends(process: &Process) {
    if process.session.load(Ordering::Relaxed) == process.pid && number_for(process.pid) != 0 {
        let before = core::mem::replace(&mut *OWNER.lock(), NOBODY);
        signal_group(before.foreground, SIGHUP, Info::of_kernel());
    }
}

/// May the current process do this, or is it in the background? Then its group gets `number`, unless it does not want it.
fn check_foreground(number: u8) -> Result<()> {
    let (session, group, _) = own();
    let owner = *OWNER.lock();
    if owner.session != Some(session) || owner.foreground.is_none_or(|foreground| foreground == group) {
        return Ok(());
    }
    let is_unwanted = {
        let current = CURRENT.get();
        current.signals.blocked().has(number) || current.process.handlers.lock().get(number).is_ignore()
    };
    if is_unwanted {
        return if number == SIGTTIN { Err(Errno::EIO) } else { Ok(()) };
    }
    if job::is_orphaned(group, None) {
        return Err(Errno::EIO);
    }
    signal_group(Some(group), number, Info::of_kernel());
    Err(Errno::ERESTARTSYS)
}

/// The console's interrupt: bytes came in.
pub fn on_input() {
    let mut wakes = false;
    let mut to_signal = None;
    {
        let mut state = STATE.lock();
        while let Some(byte) = console::input() {
            let (wake, signal) = state.take(byte);
            wakes |= wake;
            to_signal = to_signal.or(signal);
        }
    }
    input_done(wakes, to_signal);
}

fn input_done(wakes: bool, to_signal: Option<u8>) {
    if let Some(number) = to_signal {
        let foreground = OWNER.lock().foreground;
        signal_group(foreground, number, Info::of_kernel());
    }
    if wakes {
        CAN_READ.wake_all();
    }
}

/// TIOCSTI: as if it had been typed.
fn type_byte(byte: u8) {
    let (wakes, to_signal) = STATE.lock().take(byte);
    input_done(wakes, to_signal);
}

impl State {
    /// One byte from the line: can a reader go on, and is a signal due?
    fn take(&mut self, byte: u8) -> (bool, Option<u8>) {
        let local = self.termios.local;
        let characters = self.termios.characters;
        let byte = if byte == b'\r' && self.termios.input & ICRNL != 0 { b'\n' } else { byte };
        if local & ISIG != 0 && byte != 0 {
            for (index, signal) in [(VINTR, SIGINT), (VQUIT, SIGQUIT), (VSUSP, SIGTSTP)] {
                if byte == characters[index] {
                    if local & NOFLSH == 0 {
                        self.editing.clear();
                        self.ready.clear();
                        self.lines = 0;
                    }
                    self.echo(&[b'^', byte ^ 0x40]);
                    return (false, Some(signal));
                }
            }
        }
        if local & ICANON == 0 {
            self.ready.push_back(byte);
            self.echo(&[byte]);
            return (true, None);
        }
        if byte == characters[VERASE] {
            if self.editing.pop_back().is_some() {
                self.echo(b"\x08 \x08");
            }
        } else if byte == characters[VKILL] {
            for _ in 0..self.editing.len() {
                self.echo(b"\x08 \x08");
            }
            self.editing.clear();
        } else if byte == characters[VEOF] {
            let is_empty = self.editing.is_empty();
            self.ready.append(&mut self.editing);
            if is_empty {
                self.ready.push_back(END);
            }
            self.lines += 1;
            return (true, None);
        } else if byte == b'\n' {
            self.echo(b"\r\n");
            self.editing.push_back(b'\n');
            self.ready.append(&mut self.editing);
            self.lines += 1;
            return (true, None);
        } else if self.editing.len() < 4095 && byte != 0 {
            self.editing.push_back(byte);
            self.echo(&[byte]);
        }
        (false, None)
    }

    fn echo(&self, bytes: &[u8]) {
        if self.termios.local & ECHO != 0 {
            console::output(bytes);
        }
    }

    fn can_read(&self) -> bool {
        if self.termios.local & ICANON != 0 { self.lines > 0 } else { !self.ready.is_empty() }
    }
}

#[derive(Debug)]
struct Terminal {
    is_console: bool,
}

impl FileOps for Terminal {
    fn read(&self, file: &File, to: &mut Sink<'_>, _offset: u64) -> Result<usize> {
        if !self.is_console {
            check_foreground(SIGTTIN)?;
        }
        if to.left() == 0 {
            return Ok(0);
        }
        if !file.is_nonblocking() {
            let ready = || STATE.lock().can_read().then_some(());
            CAN_READ.wait(ready).map_err(|_| Errno::ERESTARTSYS)?;
        }
        let mut bytes = [0; 256];
        let mut len = 0;
        {
            let mut state = STATE.lock();
            if !state.can_read() {
                return Err(Errno::EAGAIN);
            }
            let by_line = state.termios.local & ICANON != 0;
            while len < bytes.len().min(to.left()) {
                let Some(byte) = state.ready.pop_front() else { break };
                if by_line && byte == END {
                    state.lines -= 1;
                    break;
                }
                bytes[len] = byte;
                len += 1;
                if by_line && byte == b'\n' {
                    state.lines -= 1;
                    break;
                }
            }
        }
        to.put(&bytes[..len])
    }

    fn write(&self, _file: &File, from: &mut Source<'_>, _offset: u64) -> Result<usize> {
        let termios = STATE.lock().termios;
        if termios.local & TOSTOP != 0 && !self.is_console {
            check_foreground(SIGTTOU)?;
        }
        let adds_returns = termios.output & OPOST != 0 && termios.output & ONLCR != 0;
        let mut bytes = [0; 256];
        let mut out = [0; 512];
        while from.left() > 0 {
            let len = match from.take(&mut bytes) {
                Ok(len) => len,
                Err(_) if from.done() > 0 => break,
                Err(error) => return Err(error),
            };
            let mut used = 0;
            for byte in &bytes[..len] {
                if *byte == b'\n' && adds_returns {
                    out[used] = b'\r';
                    used += 1;
                }
                out[used] = *byte;
                used += 1;
            }
            console::output(&out[..used]);
        }
        Ok(from.done())
    }

    fn poll(&self, _file: &File) -> Poll {
        if STATE.lock().can_read() { Poll::IN | Poll::OUT } else { Poll::OUT }
    }

    fn wait_queues<'a>(&'a self, each: &mut dyn FnMut(&'a WaitQueue)) {
        each(&CAN_READ);
    }

    fn ioctl(&self, _file: &File, request: u32, argument: u64) -> Result<i64> {
        match request {
            0x5401 => {
                let bytes = STATE.lock().termios.to_bytes(); // TCGETS
                uaccess::write(argument, &bytes)?;
            }
            0x5402..=0x5404 => {
                check_foreground(SIGTTOU)?;
                let mut bytes = [0; TERMIOS_SIZE]; // TCSETS, TCSETSW, TCSETSF
                uaccess::read(&mut bytes, argument)?;
                STATE.lock().termios = Termios::from_bytes(&bytes);
            }
            0x540e => take_over(argument)?, // TIOCSCTTY
            0x540f => {
                let (session, _, _) = own(); // TIOCGPGRP
                let owner = *OWNER.lock();
                if owner.session != Some(session) {
                    return Err(Errno::ENOTTY);
                }
                uaccess::write(argument, &owner.foreground.unwrap_or(0).to_ne_bytes())?;
            }
            0x5410 => {
                let mut bytes = [0; 4]; // TIOCSPGRP
                check_foreground(SIGTTOU).map_err(|error| if error == Errno::EIO { Errno::ENOTTY } else { error })?;
                if !is_own() {
                    return Err(Errno::ENOTTY);
                }
                uaccess::read(&mut bytes, argument)?;
                set_foreground_of(i32::from_ne_bytes(bytes))?;
            }
            0x5412 => {
                let mut byte = [0; 1]; // TIOCSTI
                uaccess::read(&mut byte, argument)?;
                type_byte(byte[0]);
            }
            0x5422 => {
                // TIOCNOTTY
                if !is_own() {
                    return Err(Errno::ENOTTY);
                }
                if own().2 {
                    let before = core::mem::replace(&mut *OWNER.lock(), NOBODY);
                    signal_group(before.foreground, SIGHUP, Info::of_user());
                    signal_group(before.foreground, SIGCONT, Info::of_user());
                }
            }
            0x5413 => {
                let size = STATE.lock().size; // TIOCGWINSZ
                let bytes: [u8; 8] = core::array::from_fn(|n| size[n / 2].to_le_bytes()[n % 2]);
                uaccess::write(argument, &bytes)?;
            }
            0x5414 => {
                let mut bytes = [0; 8]; // TIOCSWINSZ
                uaccess::read(&mut bytes, argument)?;
                STATE.lock().size = core::array::from_fn(|n| u16::from_le_bytes([bytes[2 * n], bytes[2 * n + 1]]));
            }
            0x541b => {
                let count = STATE.lock().ready.len() as u32; // FIONREAD
                uaccess::write(argument, &count.to_ne_bytes())?;
            }
            0x5429 => {
                let (session, _, _) = own(); // TIOCGSID
                if !is_own() {
                    return Err(Errno::ENOTTY);
                }
                uaccess::write(argument, &session.to_ne_bytes())?;
            }
            _ => return Err(Errno::ENOTTY),
        }
        Ok(0)
    }
}

/// TIOCSCTTY: it becomes the current session's. With an argument of 1 it may be taken away from another one.
fn take_over(argument: u64) -> Result<()> {
    let (session, group, is_leader) = own();
    let mut owner = OWNER.lock();
    if is_leader && owner.session == Some(session) {
        return Ok(());
    }
    if !is_leader || owner.session.is_some() && argument != 1 {
        return Err(Errno::EPERM);
    }
    *owner = Owner { session: Some(session), foreground: Some(group) };
    Ok(())
}

/// TIOCSPGRP: a group of the current session comes to the foreground.
fn set_foreground_of(group: i32) -> Result<()> {
    if group < 0 {
        return Err(Errno::EINVAL);
    }
    let (session, _, _) = own();
    let member = table::processes().into_iter().find(|process| process.group.load(Ordering::Relaxed) == group);
    let member = member.or_else(|| table::process(group)).ok_or(Errno::ESRCH)?;
    if member.session.load(Ordering::Relaxed) != session {
        return Err(Errno::EPERM);
    }
    OWNER.lock().foreground = Some(group);
    Ok(())
}

/// At boot: the first program's group gets what is typed to it, without a session that the terminal controls.
pub fn set_foreground(group: i32) {
    OWNER.lock().foreground = Some(group);
}
