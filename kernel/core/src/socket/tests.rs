use super::*;
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn send(socket: &Socket, bytes: &[u8]) -> Result<usize> {
    socket.send(&mut Source::kernel(bytes), false)
}
fn receive(socket: &Socket, len: usize, wish: Wish) -> Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let received = socket.receive(&mut Sink::kernel(&mut bytes), wish)?;
    bytes.truncate(received.len);
    Ok(bytes)
}
fn read(socket: &Socket, len: usize) -> Result<Vec<u8>> {
    receive(socket, len, Wish::default())
}
fn pair(kind: Kind) -> (Socket, Socket) {
    hal::fakes_init();
    Socket::pair(kind)
}

const PEEK: Wish = Wish { is_patient: false, peeks: true, wants_all: false };
const KINDS: [Kind; 3] = [Kind::Stream, Kind::Datagram, Kind::Packet];

#[test]
fn messages_keep_their_bounds_and_bytes_do_not() {
    for kind in KINDS {
        let (a, b) = pair(kind);
        assert_eq!((send(&a, b"one"), send(&a, b"three"), send(&b, b"x")), (Ok(3), Ok(5), Ok(1)));
        let expected: &[&[u8]] = if kind == Kind::Stream { &[b"onet", b"hree"] } else { &[b"one", b"thre"] };
        assert_eq!(receive(&b, 4, PEEK).unwrap(), expected[0]);
        for part in expected {
            assert_eq!(read(&b, 4).unwrap(), *part, "{kind:?}");
        }
        assert_eq!(read(&b, 4), Err(Errno::EAGAIN));
        assert_eq!(read(&a, 4).unwrap(), b"x");
    }
}

#[test]
fn what_does_not_fit_is_known() {
    let (a, b) = pair(Kind::Packet);
    send(&a, b"message").unwrap();
    let mut bytes = [0; 3];
    let received = b.receive(&mut Sink::kernel(&mut bytes), Wish::default());
    assert_eq!((received, &bytes), (Ok(Received { len: 3, whole: 7 }), b"mes"));
    assert_eq!(b.events().0 & Poll::IN.0, 0);
}

#[test]
fn an_end_that_closes_is_felt() {
    for kind in KINDS {
        let (a, b) = pair(kind);
        send(&a, b"left").unwrap();
        drop(a);
        assert_eq!(read(&b, 9).unwrap(), b"left");
        if kind == Kind::Datagram {
            assert_eq!(read(&b, 9), Err(Errno::EAGAIN));
            assert_eq!((send(&b, b"x"), send(&b, b"x")), (Err(Errno::ECONNREFUSED), Err(Errno::ENOTCONN)));
            assert_eq!(b.events(), Poll::OUT | Poll::OUT_BAND);
        } else {
            assert_eq!(read(&b, 9).unwrap(), b"");
            assert_eq!((send(&b, b"x"), send(&b, b"x")), (Err(Errno::EPIPE), Err(Errno::EPIPE)));
            let open = Poll::IN | Poll::READ_HANG_UP | Poll::HANG_UP;
            assert_eq!(b.events(), open | Poll::OUT | Poll::OUT_BAND);
        }
    }
}

#[test]
fn what_nobody_read_resets() {
    let (a, b) = pair(Kind::Stream);
    send(&b, b"unread").unwrap();
    send(&a, b"x").unwrap();
    drop(a);
    assert_ne!(b.events().0 & Poll::ERROR.0, 0);
    // What came before is there, then the error, then the end.
    assert_eq!(read(&b, 9).unwrap(), b"x");
    assert_eq!(read(&b, 9), Err(Errno::ECONNRESET));
    assert_eq!(read(&b, 9).unwrap(), b"");
}

#[test]
fn shutting_one_way_leaves_the_other() {
    for kind in KINDS {
        let (a, b) = pair(kind);
        send(&a, b"before").unwrap();
        a.shut(Shutdown::SEND);
        assert_eq!(send(&a, b"after"), Err(Errno::EPIPE));
        assert_eq!(read(&b, 9).unwrap(), b"before");
        if kind == Kind::Datagram {
            assert_eq!(read(&b, 9), Err(Errno::EAGAIN));
        } else {
            assert_eq!(read(&b, 9).unwrap(), b"");
        }
        send(&b, b"back").unwrap();
        assert_eq!(read(&a, 9).unwrap(), b"back");
        b.shut(Shutdown::RECEIVE);
        assert_eq!(b.events().0 & Poll::READ_HANG_UP.0, Poll::READ_HANG_UP.0);
    }
    assert_eq!(Shutdown::of(3), Err(Errno::EINVAL));
}

#[test]
fn a_full_buffer_is_not_writable_until_a_quarter_is_left() {
    for kind in KINDS {
        let (a, b) = pair(kind);
        let sent = (0..1000).take_while(|_| send(&a, &[7; 100]).is_ok()).count();
        assert_eq!((sent, send(&a, b"x")), (278, Err(Errno::EAGAIN)));
        let is_writable = || a.events().0 & Poll::OUT.0 != 0;
        let mut read_first = 0;
        while !is_writable() {
            read(&b, 100).unwrap();
            read_first += 1;
        }
        // 69 of 768 bytes each are the most that leave three quarters.
        assert_eq!(read_first, 278 - 69);
    }
}

#[test]
fn long_messages() {
    let (a, b) = pair(Kind::Datagram);
    let bytes: Vec<u8> = (0..buffer::LONGEST).map(|n| (n % 251) as u8).collect();
    assert_eq!(send(&a, &bytes), Ok(bytes.len()));
    assert_eq!(read(&b, bytes.len()).unwrap(), bytes);
    assert_eq!(send(&a, &vec![0; buffer::LONGEST + 1]), Err(Errno::EMSGSIZE));
    let (a, b) = pair(Kind::Stream);
    let sent = send(&a, &vec![1; 1 << 20]).unwrap();
    assert!((buffer::SEND / 2..buffer::SEND + buffer::PART).contains(&sent), "{sent}");
    assert_eq!(read(&b, 1 << 20).unwrap().len(), sent);
}

proptest! {
    /// Against queues of messages, or of bytes.
    #[test]
    fn what_comes_is_what_went(
        kind in prop::sample::select(&KINDS[..]),
        steps in prop::collection::vec((0u8..4, 0usize..6000), 1..60)
    ) {
        let (a, b) = pair(kind);
        let mut model: VecDeque<Vec<u8>> = VecDeque::new();
        let mut next = 0u8;
        for (step, len) in steps {
            if step < 2 {
                let bytes: Vec<u8> = (0..len).map(|n| next.wrapping_add(n as u8)).collect();
                next = next.wrapping_add(len as u8).wrapping_mul(3);
                match send(&a, &bytes) {
                    Ok(sent) => {
                        prop_assert!(sent == len || kind == Kind::Stream);
                        if kind != Kind::Stream || len > 0 {
                            model.push_back(bytes[..sent].to_vec());
                        }
                    }
                    Err(error) => prop_assert_eq!(error, Errno::EAGAIN),
                }
                continue;
            }
            let wish = Wish { peeks: step == 3, ..Wish::default() };
            let got = receive(&b, len.max(1), wish);
            if model.is_empty() {
                prop_assert_eq!(got, Err(Errno::EAGAIN));
                continue;
            }
            let expected = if kind == Kind::Stream {
                let mut all: Vec<u8> = model.iter().flatten().copied().collect();
                let rest = all.split_off(len.max(1).min(all.len()));
                if !wish.peeks {
                    model.clear();
                    model.extend((!rest.is_empty()).then_some(rest));
                }
                all
            } else {
                let mut message = model[0].clone();
                message.truncate(len.max(1));
                if !wish.peeks {
                    model.pop_front();
                }
                message
            };
            prop_assert_eq!(got, Ok(expected));
        }
        let bytes: usize = model.iter().map(Vec::len).sum();
        prop_assert_eq!(b.readable(), if kind == Kind::Datagram { model.front().map_or(0, Vec::len) } else { bytes });
        // All room comes back.
        while read(&b, 1 << 20).is_ok() {}
        let state = b.own().state.lock();
        prop_assert_eq!((state.used, state.count), (0, 0));
    }
}
