//! `--gdb`: GDB's remote protocol on a loopback port or a socket file.
//!
//! The client changes when the run is looked at, never its course, unless it writes registers or memory: CPUs take their
//! turns as they would. One client at a time. One that leaves, or sends what cannot be understood, loses its breakpoints,
//! and the run goes on; one that kills ends the run as the user does.

mod registers;
pub mod server;
mod target;

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use gdbstub::common::Signal;
use gdbstub::conn::Connection;
use gdbstub::stub::state_machine::GdbStubStateMachine;
use gdbstub::stub::{DisconnectReason, GdbStub, MultiThreadStopReason};
use gdbstub::target::ext::breakpoints::WatchKind;
use machine::{Advance, Halt, Machine, Outcome, Watched};

use server::{Answers, Message, Stream};
use target::{Addresses, Debuggee, thread};

pub use server::{ListenError, Server};

/// When a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At once.
    AtOnce,
    /// When a client says so.
    WithClient,
}

type Stub<'a> = GdbStubStateMachine<'static, Debuggee<'a>, Answers>;

/// What becomes of the session.
enum Next<'a> {
    Goes(Stub<'a>),
    /// Without a client.
    Lost,
    /// The client ends the run.
    Kill,
}

/// Runs `machine` to its end, under the clients of whom `messages` tell.
pub fn run(machine: &mut Machine, messages: &Receiver<Message>, start: Start) -> Outcome {
    machine.begin();
    let quit = machine.quit_flag();
    let mut debuggee = Debuggee::new(machine);
    let mut stub: Option<Stub<'_>> = None;
    let mut waits = start == Start::WithClient;
    // Where the last stop was, which the next run has to leave.
    let mut stopped: Option<Halt> = None;
    let mut packets = Packets::default();
    loop {
        let is_stopped = waits || !matches!(stub, None | Some(GdbStubStateMachine::Running(_)));
        let message = if is_stopped {
            if quit.load(Ordering::Relaxed) {
                return Outcome::Quit;
            }
            if let Some(outcome) = debuggee.machine.out_of_time() {
                return outcome;
            }
            match messages.recv_timeout(Duration::from_millis(100)) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => None,
            }
        } else {
            messages.try_recv().ok()
        };
        match message {
            Some(Message::Client(stream)) => {
                packets = Packets::default();
                stub = connect(stream, &mut debuggee);
                waits = false;
                continue;
            }
            Some(Message::Gone) => {
                stub = None;
                debuggee.release();
                continue;
            }
            Some(Message::Bytes(bytes)) => {
                let Some(current) = stub.take() else { continue };
                match feed_all(current, &bytes, &mut packets, &mut debuggee) {
                    Next::Goes(next) => stub = Some(next),
                    Next::Lost => debuggee.release(),
                    Next::Kill => return Outcome::Quit,
                }
                continue;
            }
            None if is_stopped => {
                // The thread that listens has ended: nobody will come.
                (stub, waits) = (None, false);
                debuggee.release();
            }
            None => {}
        }
        debuggee.arm();
        let step = debuggee.step;
        let leaves = match stopped.take() {
            Some(Halt::Watchpoint { cpu, .. }) => Some(cpu),
            Some(Halt::Breakpoint { cpu } | Halt::Step { cpu }) if debuggee.is_at_breakpoint(cpu) => Some(cpu),
            _ => None,
        };
        let advance = match leaves {
            Some(cpu) => match debuggee.machine.step_off(cpu) {
                Advance::Halted(Halt::Step { cpu }) if step != Some(cpu) => Advance::Round,
                advance => advance,
            },
            None => debuggee.machine.advance(step),
        };
        match advance {
            Advance::Round => {}
            Advance::Halted(halt) => {
                stopped = Some(halt);
                stub = report(stub.take(), &mut debuggee, reason(halt));
            }
            Advance::Ended(outcome) => {
                let code = match &outcome {
                    Outcome::PoweredOff => 0,
                    Outcome::Exit(code) => u8::try_from(*code).unwrap_or(u8::MAX),
                    _ => 1,
                };
                report(stub.take(), &mut debuggee, MultiThreadStopReason::Exited(code));
                return outcome;
            }
        }
    }
}

fn reason(halt: Halt) -> MultiThreadStopReason<u64> {
    match halt {
        Halt::Breakpoint { cpu } => MultiThreadStopReason::SwBreak(thread(cpu)),
        Halt::Step { cpu } => MultiThreadStopReason::SignalWithThread { tid: thread(cpu), signal: Signal::SIGTRAP },
        Halt::Watchpoint { cpu, va, watched } => {
            let kind = match watched {
                Watched::Writes => WatchKind::Write,
                Watched::Reads => WatchKind::Read,
                Watched::Both => WatchKind::ReadWrite,
            };
            MultiThreadStopReason::Watch { tid: thread(cpu), kind, addr: va.0 }
        }
    }
}

/// A client has come: the machine is stopped for it.
fn connect<'a>(stream: Stream, debuggee: &mut Debuggee<'a>) -> Option<Stub<'a>> {
    debuggee.release();
    GdbStub::new(Answers::new(stream)).run_state_machine(debuggee).ok()
}

/// Tells a client that waits for it that the machine has stopped.
fn report<'a>(
    stub: Option<Stub<'a>>,
    debuggee: &mut Debuggee<'a>,
    reason: MultiThreadStopReason<u64>,
) -> Option<Stub<'a>> {
    let stub = match stub? {
        GdbStubStateMachine::Running(running) => running.report_stop(debuggee, reason).ok(),
        other => Some(other),
    };
    if stub.is_none() {
        debuggee.release();
    }
    stub
}

/// Gives the stub what it is to see of `bytes`.
fn feed_all<'a>(mut stub: Stub<'a>, bytes: &[u8], packets: &mut Packets, debuggee: &mut Debuggee<'a>) -> Next<'a> {
    for byte in bytes {
        if packets.is_too_long(*byte) {
            return Next::Lost;
        }
        for byte in packets.filter(*byte, debuggee, &mut stub) {
            match feed(stub, byte, debuggee) {
                Next::Goes(next) => stub = next,
                end => return end,
            }
        }
    }
    Next::Goes(stub)
}

/// Gives the stub one byte.
fn feed<'a>(stub: Stub<'a>, byte: u8, debuggee: &mut Debuggee<'a>) -> Next<'a> {
    let next = match stub {
        GdbStubStateMachine::Idle(idle) => idle.incoming_data(debuggee, byte),
        GdbStubStateMachine::Running(running) => running.incoming_data(debuggee, byte),
        other => Ok(other),
    };
    match next {
        Ok(GdbStubStateMachine::CtrlCInterrupt(interrupt)) => {
            let reason = MultiThreadStopReason::SignalWithThread { tid: thread(0), signal: Signal::SIGINT };
            match interrupt.interrupt_handled(debuggee, Some(reason)) {
                Ok(stub) => Next::Goes(stub),
                Err(_) => Next::Lost,
            }
        }
        Ok(GdbStubStateMachine::Disconnected(end)) => match end.get_reason() {
            DisconnectReason::Kill => Next::Kill,
            _ => Next::Lost,
        },
        Ok(stub) => Next::Goes(stub),
        // What cannot be understood, or an answer that cannot be sent.
        Err(_) => Next::Lost,
    }
}

/// Longest packet that is looked at here.
const OWN: usize = 64;
/// Longest packet of all; clients are told of 4 KiB.
const LONGEST: usize = 64 << 10;

/// Packets that the stub does not know, QEMU's for physical memory, are answered here: `Qqemu.PhyMemMode:1` and
/// `qqemu.PhyMemMode`. All others pass.
#[derive(Default)]
struct Packets {
    /// A packet that begins as one of those does.
    held: Vec<u8>,
    /// Bytes since a packet began or ended.
    length: usize,
}

impl Packets {
    /// Does this byte make a packet longer than anyone's is? The stub would keep it all.
    fn is_too_long(&mut self, byte: u8) -> bool {
        self.length = if matches!(byte, b'$' | b'#') { 0 } else { self.length + 1 };
        self.length > LONGEST
    }

    /// The bytes for the stub.
    fn filter(&mut self, byte: u8, debuggee: &mut Debuggee<'_>, stub: &mut Stub<'_>) -> Vec<u8> {
        const NAMES: [&[u8]; 2] = [b"$Qqemu.PhyMemMode:", b"$qqemu.PhyMemMode#"];
        self.held.push(byte);
        let may_be_own = NAMES.iter().any(|name| {
            let n = name.len().min(self.held.len());
            self.held[..n] == name[..n]
        });
        if !may_be_own || self.held.len() > OWN {
            return std::mem::take(&mut self.held);
        }
        let Some(end) = self.held.iter().position(|byte| *byte == b'#').filter(|end| self.held.len() == end + 3) else {
            return Vec::new();
        };
        let answer: &[u8] = match &self.held[1..end] {
            b"qqemu.PhyMemMode" if debuggee.addresses == Addresses::Physical => b"$1#31",
            b"qqemu.PhyMemMode" => b"$0#30",
            b"Qqemu.PhyMemMode:0" => {
                debuggee.addresses = Addresses::Virtual;
                b"$OK#9a"
            }
            b"Qqemu.PhyMemMode:1" => {
                debuggee.addresses = Addresses::Physical;
                b"$OK#9a"
            }
            _ => b"$E22#a9",
        };
        self.held.clear();
        if let GdbStubStateMachine::Idle(idle) = stub {
            // An answer that cannot be sent: the next byte tells.
            let _ = idle.borrow_conn().write_all(&[b"+", answer].concat()).and_then(|()| idle.borrow_conn().flush());
        }
        Vec::new()
    }
}
