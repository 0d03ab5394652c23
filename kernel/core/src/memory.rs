//! Memory that programs make the kernel need. What a program can make large is asked for here and may be refused; the rest
//! is small, and frames are kept back for it (`hal::mem::frames::reserve`).

use alloc::vec::Vec;

use crate::errno::{Errno, Result};

/// Before something new is made that stays: ENOMEM where little is left.
pub fn check() -> Result<()> {
    if hal::mem::is_low() { Err(Errno::ENOMEM) } else { Ok(()) }
}

/// The same, where many small things are made that come to so many bytes.
pub fn check_room(bytes: usize) -> Result<()> {
    if hal::mem::has_room(bytes) { Ok(()) } else { Err(Errno::ENOMEM) }
}

/// An empty vector with room for `count`.
pub fn with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    reserve(&mut vector, count)?;
    Ok(vector)
}

/// Room for `more` in a vector.
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<()> {
    if vector.capacity() - vector.len() >= more {
        return Ok(());
    }
    let bytes = vector.len().checked_add(more).and_then(|count| count.checked_mul(size_of::<T>()));
    check_room(bytes.ok_or(Errno::ENOMEM)?)?;
    vector.try_reserve(more).map_err(|_| Errno::ENOMEM)
}

/// So many bytes, zeros.
pub fn zeroed(len: usize) -> Result<Vec<u8>> {
    let mut bytes = with_capacity(len)?;
    bytes.resize(len, 0);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_not_is_refused() {
        hal::fakes_init();
        assert_eq!(zeroed(5).unwrap(), [0; 5]);
        for len in [usize::MAX, usize::MAX / 2, 1 << 40] {
            assert_eq!(zeroed(len).unwrap_err(), Errno::ENOMEM);
            assert_eq!(with_capacity::<u64>(len).unwrap_err(), Errno::ENOMEM);
        }
        let mut vector = alloc::vec![1u8];
        assert_eq!(reserve(&mut vector, usize::MAX).unwrap_err(), Errno::ENOMEM);
        assert_eq!(vector, [1]);
    }
}
