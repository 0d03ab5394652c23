//! How much may be under way. A message counts for more than its bytes: for what Linux 6.1 on arm64 takes of memory to hold
//! it, so that as many fit before a sender has to wait.

/// Bytes of a send buffer (net.core.wmem_default).
pub const SEND: usize = 212_992;
/// Most bytes of a message: the send buffer without what each message takes.
pub const LONGEST: usize = SEND - 32;
/// Most bytes of one part of a stream. Linux takes 32 KiB and what the head holds.
pub const PART: usize = HEAD + 32768;

const PAGE: usize = hal::mem::PAGE_SIZE;
/// What describes a message.
const DESCRIPTOR: usize = 256;
/// What lies behind the bytes of its head.
const TAIL: usize = 320;
/// Bytes of a stream's part that are in its head: a page's rest.
const HEAD: usize = PAGE - TAIL;
/// The same of messages with bounds: four pages' rest.
const LONG_HEAD: usize = 4 * PAGE - TAIL;

fn with_head(len: usize, head: usize) -> usize {
    // What the head cannot hold is in whole pages; the head's memory is a power of two.
    let in_pages = len.saturating_sub(head).next_multiple_of(PAGE).min(len);
    let in_head = (len - in_pages).next_multiple_of(64);
    DESCRIPTOR + (in_head + TAIL).next_power_of_two() + in_pages.next_multiple_of(PAGE)
}

/// What a part of a stream takes.
pub fn of_part(len: usize) -> usize {
    with_head(len, HEAD)
}

/// What a message with bounds takes.
pub fn of_message(len: usize) -> usize {
    with_head(len, LONG_HEAD)
}

/// May one more be sent, with `used` under way?
pub fn has_room(used: usize) -> bool {
    used < SEND
}

/// Is there so much room that one who waits should be told: three quarters?
pub fn is_writable(used: usize) -> bool {
    (used + 1) * 4 <= SEND
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_take_what_linux_takes() {
        // Counted on Linux 6.1 by `guest/el0/sockets.c`: messages that are sent before EAGAIN.
        let fit = |cost: usize| SEND.div_ceil(cost);
        assert_eq!((of_part(1), fit(of_part(1))), (768, 278));
        assert_eq!((of_part(100), of_part(192), of_part(193)), (768, 768, 1280));
        assert_eq!((of_part(3776), of_part(3777)), (4352, 4096 + 768));
        assert_eq!(of_message(16064), 256 + 16384);
        assert!(of_message(LONGEST) > SEND);
    }

    #[test]
    fn more_bytes_never_leave_more_room() {
        for len in 1..PART {
            assert!(of_part(len) > len && of_part(len + 4096) > of_part(len));
        }
    }
}
