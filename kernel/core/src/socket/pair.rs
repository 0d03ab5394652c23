//! Two sockets that are each other's peer.
//!
//! An end holds what was sent to it, under a spin lock; user memory is touched outside of it. Readers of an end take turns
//! (`reading`), and the one whose turn it is takes messages out of the queue while it copies them. Senders reserve room
//! first. A lock of one end is never taken under that of the other.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU64, Ordering};

use hal::sync::SpinLock;

use super::message::Message;
use super::{Kind, buffer};
use crate::errno::{Errno, Result};
use crate::sched::wait::{Mutex, WaitQueue, mutex};
use crate::vfs::{Poll, Sink, Source};

/// Directions that are shut: bits as Linux's RCV_SHUTDOWN and SEND_SHUTDOWN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Shutdown(u32);

impl Shutdown {
    const RECEIVE: Self = Self(1);
    const SEND: Self = Self(2);
    const BOTH: Self = Self(3);

    /// By shutdown(2)'s number; EINVAL.
    pub fn of(how: u32) -> Result<Self> {
        if how < 3 { Ok(Self(how + 1)) } else { Err(Errno::EINVAL) }
    }
    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
    /// What the peer can do no more.
    fn turned(self) -> Self {
        Self((self.0 & 1) << 1 | self.0 >> 1)
    }
}

#[derive(Debug, Default)]
struct State {
    /// What was sent here.
    messages: VecDeque<Message>,
    /// How many there are, those that a reader holds among them.
    count: usize,
    /// What they take of the peer's send buffer, with what is reserved.
    used: usize,
    shut: Shutdown,
    /// What the next call gives instead of what it should.
    error: Option<Errno>,
    is_closed: bool,
    /// A datagram socket whose peer went has none any more.
    is_alone: bool,
}

#[derive(Debug)]
struct End {
    state: SpinLock<State>,
    reading: Mutex<()>,
    can_read: WaitQueue,
    can_write: WaitQueue,
}

#[derive(Debug)]
struct Pair {
    kind: Kind,
    id: u64,
    created: u64,
    ends: [End; 2],
}

/// A socket: one of two ends.
#[derive(Debug)]
pub struct Socket {
    pair: Arc<Pair>,
    side: usize,
}

/// How to receive.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// Wait for something to come.
    pub is_patient: bool,
    /// Leave it there (MSG_PEEK).
    pub peeks: bool,
    /// Wait until the buffer is full (MSG_WAITALL).
    pub wants_all: bool,
}

/// What came.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Received {
    /// Bytes that were given.
    pub len: usize,
    /// Bytes that the message had.
    pub whole: usize,
}

impl End {
    fn new() -> Self {
        Self {
            state: SpinLock::new(State::default()),
            reading: mutex(()),
            can_read: WaitQueue::new(),
            can_write: WaitQueue::new(),
        }
    }

    /// Something of the connection changed.
    fn wake(&self) {
        self.can_read.wake_all();
        self.can_write.wake_all();
    }
}

impl Socket {
    /// Two of a kind.
    pub fn pair(kind: Kind) -> (Self, Self) {
        // Each end has a number of its own.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let pair = Arc::new(Pair {
            kind,
            id: NEXT.fetch_add(2, Ordering::Relaxed),
            created: crate::time::realtime(),
            ends: [End::new(), End::new()],
        });
        (Self { pair: Arc::clone(&pair), side: 0 }, Self { pair, side: 1 })
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        self.pair.kind
    }
    /// Its inode's number.
    pub fn id(&self) -> u64 {
        self.pair.id + self.side as u64
    }
    /// When it was made: nanoseconds since 1970.
    pub fn created(&self) -> u64 {
        self.pair.created
    }
    /// Those that wait for it.
    pub fn queues(&self) -> [&WaitQueue; 2] {
        [&self.own().can_read, &self.own().can_write]
    }
    /// Has it a peer?
    pub fn is_connected(&self) -> bool {
        !self.own().state.lock().is_alone
    }
    /// The pending error, which is none from then on (SO_ERROR).
    pub fn take_error(&self) -> Option<Errno> {
        self.own().state.lock().error.take()
    }

    fn own(&self) -> &End {
        &self.pair.ends[self.side]
    }
    fn peer(&self) -> &End {
        &self.pair.ends[1 - self.side]
    }

    /// Bytes that can be read, of datagrams those of the first (FIONREAD).
    pub fn readable(&self) -> usize {
        let state = self.own().state.lock();
        match self.pair.kind {
            Kind::Stream | Kind::Packet => state.messages.iter().map(Message::left).sum(),
            Kind::Datagram => state.messages.front().map_or(0, Message::left),
        }
    }

    /// What can be done now.
    pub fn events(&self) -> Poll {
        let used = self.peer().state.lock().used;
        let state = self.own().state.lock();
        let mut poll = Poll::default();
        if state.error.is_some() {
            poll |= Poll::ERROR;
        }
        if state.shut == Shutdown::BOTH {
            poll |= Poll::HANG_UP;
        }
        if state.shut.has(Shutdown::RECEIVE) {
            poll |= Poll::READ_HANG_UP | Poll::IN;
        }
        if state.count > 0 {
            poll |= Poll::IN;
        }
        if buffer::is_writable(used) {
            poll |= Poll::OUT | Poll::OUT_BAND;
        }
        poll
    }

    /// Why nothing can be sent, if so.
    fn check_send(&self) -> Result<()> {
        let mut state = self.own().state.lock();
        if self.pair.kind == Kind::Stream && state.shut.has(Shutdown::SEND) {
            return Err(Errno::EPIPE);
        }
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        if state.is_alone {
            return Err(Errno::ENOTCONN);
        }
        if state.shut.has(Shutdown::SEND) { Err(Errno::EPIPE) } else { Ok(()) }
    }

    /// Room at the peer for a message that takes `cost`.
    fn reserve(&self, cost: usize, is_patient: bool) -> Result<()> {
        let reserve = || {
            let mut state = self.peer().state.lock();
            let has_room = buffer::has_room(state.used);
            if has_room {
                state.used += cost;
            }
            has_room
        };
        loop {
            self.check_send()?;
            if reserve() {
                return Ok(());
            }
            if !is_patient {
                return Err(Errno::EAGAIN);
            }
            let ready = || {
                let has_room = buffer::has_room(self.peer().state.lock().used);
                let state = self.own().state.lock();
                (has_room || state.error.is_some() || state.shut.has(Shutdown::SEND)).then_some(())
            };
            self.own().can_write.wait(ready).map_err(|_| Errno::ERESTARTSYS)?;
        }
    }

    /// Sends one message, or one part of a stream; returns how many bytes.
    fn send_one(&self, from: &mut Source<'_>, len: usize, is_patient: bool) -> Result<usize> {
        let cost = match self.pair.kind {
            Kind::Stream => buffer::of_part(len),
            _ => buffer::of_message(len),
        };
        self.reserve(cost, is_patient)?;
        let peer = self.peer();
        let message = match Message::take(from, len, cost) {
            Ok(message) => message,
            Err(error) => {
                peer.state.lock().used -= cost;
                return Err(error);
            }
        };
        let mut state = peer.state.lock();
        let refusal = if state.is_closed && self.pair.kind == Kind::Datagram {
            Some(Errno::ECONNREFUSED)
        } else if state.is_closed || state.shut.has(Shutdown::RECEIVE) {
            Some(Errno::EPIPE)
        } else {
            None
        };
        if let Some(error) = refusal {
            state.used -= cost;
            drop(state);
            if error == Errno::ECONNREFUSED {
                self.own().state.lock().is_alone = true;
            }
            return Err(error);
        }
        state.messages.push_back(message);
        state.count += 1;
        drop(state);
        peer.can_read.wake_for(Poll::IN);
        Ok(len)
    }

    /// Sends; returns how many bytes. With less than all, there was no room for more, or an error that the next call gives.
    pub fn send(&self, from: &mut Source<'_>, is_patient: bool) -> Result<usize> {
        let total = from.left();
        if self.pair.kind != Kind::Stream {
            self.check_alone()?;
            if total > buffer::LONGEST {
                return Err(Errno::EMSGSIZE);
            }
            return self.send_one(from, total, is_patient);
        }
        if total == 0 {
            return self.check_send().map(|()| 0);
        }
        let mut sent = 0;
        while sent < total {
            match self.send_one(from, (total - sent).min(buffer::PART), is_patient) {
                Ok(len) => sent += len,
                Err(_) if sent > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn check_alone(&self) -> Result<()> {
        if self.own().state.lock().is_alone { Err(Errno::ENOTCONN) } else { Ok(()) }
    }

    /// Takes the first message; nobody else may, until it is put back or gone.
    fn take(&self) -> Option<Message> {
        self.own().state.lock().messages.pop_front()
    }

    fn put_back(&self, message: Message) {
        self.own().state.lock().messages.push_front(message);
    }

    /// A message was read.
    fn forget(&self, message: Message) {
        let used = {
            let mut state = self.own().state.lock();
            state.count -= 1;
            state.used -= message.cost;
            state.used
        };
        drop(message);
        if buffer::is_writable(used) {
            self.peer().can_write.wake_for(Poll::OUT);
        }
    }

    /// Receives. Nothing: the connection has ended.
    pub fn receive(&self, to: &mut Sink<'_>, wish: Wish) -> Result<Received> {
        loop {
            let found = {
                let turn = self.own().reading.lock();
                let found = match self.pair.kind {
                    Kind::Stream => self.receive_bytes(to, wish.peeks),
                    _ => self.receive_message(to, wish.peeks),
                };
                drop(turn);
                found?
            };
            if let Some(found) = found {
                let is_enough = to.left() == 0 || !wish.wants_all || wish.peeks || self.pair.kind != Kind::Stream;
                if is_enough {
                    return Ok(found);
                }
            }
            let so_far = Received { len: to.done(), whole: to.done() };
            match self.wait_for_more(wish.is_patient) {
                Ok(true) => {}
                Ok(false) => return Ok(so_far),
                Err(_) if to.done() > 0 => return Ok(so_far),
                Err(error) => return Err(error),
            }
        }
    }

    /// False: there will be no more.
    fn wait_for_more(&self, is_patient: bool) -> Result<bool> {
        let look = || {
            let mut state = self.own().state.lock();
            if state.count > 0 {
                return Some(Ok(true));
            }
            if let Some(error) = state.error.take() {
                return Some(Err(error));
            }
            // A datagram socket that is shut still has EAGAIN for those without patience.
            let ends = state.shut.has(Shutdown::RECEIVE) && (is_patient || self.pair.kind != Kind::Datagram);
            ends.then_some(Ok(false))
        };
        if let Some(verdict) = look() {
            return verdict;
        }
        if !is_patient {
            return Err(Errno::EAGAIN);
        }
        self.own().can_read.wait(look).map_err(|_| Errno::ERESTARTSYS)?
    }

    /// As much of a stream as there is and fits.
    fn receive_bytes(&self, to: &mut Sink<'_>, peeks: bool) -> Result<Option<Received>> {
        let before = to.done();
        let mut seen = VecDeque::new();
        let mut result = Ok(());
        while to.left() > 0 {
            let Some(mut message) = self.take() else { break };
            let given = message.give(to);
            if let (true, Ok(given)) = (peeks, given) {
                message.unread(given);
                seen.push_front(message);
            } else if message.left() > 0 {
                self.put_back(message);
            } else {
                self.forget(message);
            }
            if let Err(error) = given {
                result = Err(error);
                break;
            }
        }
        for message in seen {
            self.put_back(message);
        }
        let len = to.done() - before;
        if len > 0 {
            return Ok(Some(Received { len: to.done(), whole: to.done() }));
        }
        result.map(|()| None)
    }

    /// One message; what does not fit of it is lost.
    fn receive_message(&self, to: &mut Sink<'_>, peeks: bool) -> Result<Option<Received>> {
        if let Some(error) = self.take_error() {
            return Err(error);
        }
        let Some(mut message) = self.take() else { return Ok(None) };
        let whole = message.left();
        let given = message.give(to);
        if peeks {
            message.unread(*given.as_ref().unwrap_or(&0));
            self.put_back(message);
        } else {
            self.forget(message);
        }
        Ok(Some(Received { len: given?, whole }))
    }

    /// shutdown(2)
    pub fn shut(&self, how: Shutdown) {
        let shut = |end: &End, how: Shutdown| {
            let mut state = end.state.lock();
            state.shut = Shutdown(state.shut.0 | how.0);
            drop(state);
            end.wake();
        };
        shut(self.own(), how);
        if self.pair.kind != Kind::Datagram {
            shut(self.peer(), how.turned());
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let unread = {
            let mut state = self.own().state.lock();
            state.is_closed = true;
            state.count = 0;
            let unread = core::mem::take(&mut state.messages);
            state.used -= unread.iter().map(|message| message.cost).sum::<usize>();
            unread
        };
        let peer = self.peer();
        if self.pair.kind != Kind::Datagram {
            let mut state = peer.state.lock();
            state.shut = Shutdown::BOTH;
            if !unread.is_empty() {
                state.error = Some(Errno::ECONNRESET);
            }
        }
        drop(unread);
        peer.wake();
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
