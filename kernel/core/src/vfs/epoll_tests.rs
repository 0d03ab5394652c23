use super::*;
use crate::vfs::eventfd::{self, Take};
use crate::vfs::{Sink, Source};
use alloc::vec;
use proptest::prelude::*;

fn event() -> Arc<File> {
    hal::fakes_init();
    eventfd::new(0, Take::All, open_flags::NONBLOCK)
}
fn raise(file: &File) {
    file.write(&mut Source::kernel(&1u64.to_le_bytes())).unwrap();
}
fn lower(file: &File) {
    let _ = file.read(&mut Sink::kernel(&mut [0; 8]));
}
fn add(epoll: &File, file: &Arc<File>, fd: i32, events: u32) -> Result<()> {
    of(epoll).unwrap().change(file, fd, Change::Add(Event { events, data: fd as u64 }))
}
/// Data of what is ready.
fn ready(epoll: &File, most: usize) -> Vec<u64> {
    of(epoll).unwrap().collect(most).into_iter().map(|event| event.data).collect()
}

const IN: u32 = 1;

#[test]
fn levels_edges_and_single_shots() {
    let epoll = new();
    let files = [event(), event(), event()];
    for (n, mode) in [0, how::EDGE, how::ONE_SHOT].into_iter().enumerate() {
        add(&epoll, &files[n], n as i32, IN | mode).unwrap();
        raise(&files[n]);
    }
    assert_eq!(ready(&epoll, 9), [0, 1, 2]);
    // The level stays, the edge was told, the shot was fired.
    assert_eq!(ready(&epoll, 9), [0]);
    for file in &files {
        raise(file);
    }
    assert_eq!(ready(&epoll, 9), [0, 1]);
    of(&epoll).unwrap().change(&files[2], 2, Change::Modify(Event { events: IN | how::ONE_SHOT, data: 7 })).unwrap();
    assert_eq!(ready(&epoll, 9), [0, 7]);
    lower(&files[0]);
    assert_eq!(ready(&epoll, 9), [0; 0]);
}

#[test]
fn an_edge_is_of_what_was_asked_for() {
    let (epoll, file) = (new(), event());
    raise(&file);
    add(&epoll, &file, 1, IN | how::EDGE).unwrap();
    assert_eq!(ready(&epoll, 9), [1]);
    // Room for writers is nothing that it wants to know of.
    lower(&file);
    raise(&file);
    assert_eq!(ready(&epoll, 9), [1]);
    lower(&file);
    assert_eq!(ready(&epoll, 9), [0; 0]);
}

#[test]
fn who_waited_longest_is_told_first() {
    let epoll = new();
    let files = [event(), event(), event()];
    for (n, file) in files.iter().enumerate() {
        add(&epoll, file, n as i32, IN).unwrap();
        raise(file);
    }
    assert_eq!((ready(&epoll, 1), ready(&epoll, 1), ready(&epoll, 2)), (vec![0], vec![1], vec![2, 0]));
}

#[test]
fn files_that_close_are_gone() {
    let (epoll, file) = (new(), event());
    add(&epoll, &file, 1, IN).unwrap();
    assert_eq!(add(&epoll, &file, 1, IN), Err(Errno::EEXIST));
    add(&epoll, &file, 2, IN).unwrap();
    raise(&file);
    assert_eq!(ready(&epoll, 9), [1, 2]);
    let change = |change| of(&epoll).unwrap().change(&file, 1, change);
    assert_eq!((change(Change::Remove), change(Change::Remove)), (Ok(()), Err(Errno::ENOENT)));
    assert_eq!(change(Change::Modify(Event::default())), Err(Errno::ENOENT));
    assert_eq!(ready(&epoll, 9), [2]);
    drop(file);
    assert_eq!(ready(&epoll, 9), [0; 0]);
    assert_eq!(epoll.ops.poll(&epoll), Poll::default());
}

#[test]
fn one_above_the_other_but_not_in_a_circle() {
    hal::fakes_init();
    let chain: Vec<Arc<File>> = (0..=MAX_DEPTH).map(|_| new()).collect();
    for n in 1..MAX_DEPTH {
        add(&chain[n], &chain[n - 1], 0, IN).unwrap();
    }
    assert_eq!(add(&chain[MAX_DEPTH], &chain[MAX_DEPTH - 1], 0, IN), Err(Errno::ELOOP));
    assert_eq!(add(&chain[0], &chain[MAX_DEPTH], 0, IN), Err(Errno::ELOOP));
    assert_eq!(add(&chain[0], &chain[2], 0, IN), Err(Errno::ELOOP));
    let file = event();
    add(&chain[0], &file, 0, IN).unwrap();
    raise(&file);
    let top = &chain[MAX_DEPTH - 1];
    assert_eq!((top.ops.poll(top), ready(top, 9)), (Poll::IN, vec![0]));
    lower(&file);
    assert_eq!((top.ops.poll(top), ready(top, 9)), (Poll::default(), vec![]));
}

proptest! {
    /// Levels are what the files say; edges are told once after each rise.
    #[test]
    fn against_a_model(steps in prop::collection::vec((0u8..4, 0usize..4), 0..60)) {
        let epoll = new();
        let files: Vec<Arc<File>> = (0..4).map(|_| event()).collect();
        for (n, file) in files.iter().enumerate() {
            add(&epoll, file, n as i32, IN | if n < 2 { 0 } else { how::EDGE }).unwrap();
        }
        let (mut level, mut edge) = ([false; 4], [false; 4]);
        for (step, n) in steps {
            match step {
                0 | 1 => {
                    raise(&files[n]);
                    (level[n], edge[n]) = (true, true);
                }
                2 => {
                    lower(&files[n]);
                    level[n] = false;
                }
                _ => {
                    let mut told = ready(&epoll, 9);
                    told.sort_unstable();
                    let expected: Vec<u64> =
                        (0..4).filter(|n| level[*n] && (*n < 2 || edge[*n])).map(|n| n as u64).collect();
                    prop_assert_eq!(told, expected);
                    edge = [false; 4];
                }
            }
        }
    }
}
