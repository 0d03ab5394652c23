//! State to bytes and back by one function.

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;

/// A value that the part it is for cannot have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// With this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Saves into bytes, or loads from them.
pub struct Codec<'a>(Way<'a>);

enum Way<'a> {
    Save(&'a mut Vec<u8>),
    Load(&'a [u8]),
}

impl<'a> Codec<'a> {
    /// Appends to `bytes`.
    pub fn save(bytes: &'a mut Vec<u8>) -> Self {
        Self(Way::Save(bytes))
    }
    /// Takes from `bytes`.
    #[must_use]
    pub fn load(bytes: &'a [u8]) -> Self {
        Self(Way::Load(bytes))
    }
    /// Are values overwritten by what was saved?
    #[must_use]
    pub fn is_loading(&self) -> bool {
        matches!(self.0, Way::Load(_))
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &mut [u8]) -> Result<(), Invalid> {
        match &mut self.0 {
            Way::Save(out) => out.extend_from_slice(bytes),
            Way::Load(rest) => {
                let (head, tail) =
                    rest.split_at_checked(bytes.len()).ok_or_else(|| Invalid::new("ends in the middle of a value"))?;
                bytes.copy_from_slice(head);
                *rest = tail;
            }
        }
        Ok(())
    }

    /// A value.
    pub fn value(&mut self, value: &mut dyn Persist) -> Result<(), Invalid> {
        value.persist(self)
    }

    /// Values one after the other.
    pub fn each<const N: usize>(&mut self, values: [&mut dyn Persist; N]) -> Result<(), Invalid> {
        values.into_iter().try_for_each(|value| value.persist(self))
    }

    /// A value that both sides know: loading something else is an error.
    pub fn same<T: Persist + PartialEq + Clone>(&mut self, value: &T, what: &str) -> Result<(), Invalid> {
        let mut found = value.clone();
        found.persist(self)?;
        if found == *value { Ok(()) } else { Err(Invalid::new(format!("{what} is another"))) }
    }

    /// The number of things that follow. Where it is loaded, no more than there are bytes.
    pub fn count(&mut self, count: usize) -> Result<usize, Invalid> {
        let mut number = count as u64;
        number.persist(self)?;
        match &self.0 {
            Way::Load(rest) if number > rest.len() as u64 => Err(Invalid::new("counts more than there is")),
            _ => Ok(number as usize),
        }
    }

    /// Loading: everything has been taken.
    pub fn finish(self) -> Result<(), Invalid> {
        match self.0 {
            Way::Load(rest) if !rest.is_empty() => Err(Invalid::new("has more than it should")),
            _ => Ok(()),
        }
    }
}

/// State that a snapshot holds.
pub trait Persist {
    /// Saves `self`, or overwrites it by what was saved: as [`Codec::is_loading`] says.
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid>;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Persist for $ty {
            fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
                let mut bytes = self.to_le_bytes();
                codec.bytes(&mut bytes)?;
                *self = <$ty>::from_le_bytes(bytes);
                Ok(())
            }
        }
    )*};
}

numbers! { u8 u16 u32 u64 u128 i8 }

impl Persist for bool {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut byte = u8::from(*self);
        byte.persist(codec)?;
        *self = match byte {
            0 => false,
            1 => true,
            _ => return Err(Invalid::new("neither true nor false")),
        };
        Ok(())
    }
}

/// As 64 bits.
impl Persist for usize {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut number = *self as u64;
        number.persist(codec)?;
        *self = usize::try_from(number).map_err(|_| Invalid::new("a number too large for this host"))?;
        Ok(())
    }
}

impl<T: Persist, const N: usize> Persist for [T; N] {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        self.iter_mut().try_for_each(|value| value.persist(codec))
    }
}

impl<T: Persist + ?Sized> Persist for Box<T> {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        (**self).persist(codec)
    }
}

impl<T: Persist + Default> Persist for Option<T> {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut there = self.is_some();
        there.persist(codec)?;
        if codec.is_loading() {
            *self = there.then(T::default);
        }
        self.as_mut().map_or(Ok(()), |value| value.persist(codec))
    }
}

impl<T: Persist + Default> Persist for Vec<T> {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let count = codec.count(self.len())?;
        if codec.is_loading() {
            self.clear();
            // Grows with what is there, whatever the number says.
            for _ in 0..count {
                let mut value = T::default();
                value.persist(codec)?;
                self.push(value);
            }
            return Ok(());
        }
        self.iter_mut().try_for_each(|value| value.persist(codec))
    }
}

impl<T: Persist + Default> Persist for VecDeque<T> {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut values: Vec<T> = std::mem::take(self).into();
        let result = values.persist(codec);
        *self = values.into();
        result
    }
}

impl Persist for String {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let mut bytes = std::mem::take(self).into_bytes();
        let result = bytes.persist(codec);
        *self = String::from_utf8(bytes).map_err(|_| Invalid::new("a text that is none"))?;
        result
    }
}

impl<K: Persist + Default + Ord + Clone, V: Persist + Default> Persist for BTreeMap<K, V> {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        let count = codec.count(self.len())?;
        if codec.is_loading() {
            self.clear();
            for _ in 0..count {
                let (mut key, mut value) = (K::default(), V::default());
                codec.each([&mut key, &mut value])?;
                self.insert(key, value);
            }
            return Ok(());
        }
        self.iter_mut().try_for_each(|(key, value)| codec.each([&mut key.clone(), value]))
    }
}

impl<A: Persist, B: Persist> Persist for (A, B) {
    fn persist(&mut self, codec: &mut Codec<'_>) -> Result<(), Invalid> {
        codec.each([&mut self.0, &mut self.1])
    }
}

/// Implements [`Persist`] for an enumeration without fields: a number for each name. A name that is left out does not
/// compile.
#[macro_export]
macro_rules! persist_names {
    ($ty:ty { $($name:ident = $number:literal),* $(,)? }) => {
        impl $crate::Persist for $ty {
            fn persist(&mut self, codec: &mut $crate::Codec<'_>) -> Result<(), $crate::Invalid> {
                let mut number: u8 = match self { $(Self::$name => $number),* };
                number.persist(codec)?;
                *self = match number {
                    $($number => Self::$name,)*
                    _ => return Err($crate::Invalid::new(concat!("no ", stringify!($ty)))),
                };
                Ok(())
            }
        }
    };
}

/// Implements [`Persist`] for a structure: the fields in this order, all of them.
#[macro_export]
macro_rules! persist_fields {
    ($ty:ty { $($field:ident),* $(,)? }) => {
        impl $crate::Persist for $ty {
            fn persist(&mut self, codec: &mut $crate::Codec<'_>) -> Result<(), $crate::Invalid> {
                let Self { $($field),* } = self;
                codec.each([$($field),*])
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    enum Colour {
        #[default]
        Red,
        Blue,
    }
    persist_names!(Colour { Red = 0, Blue = 7 });

    #[derive(Clone, Debug, Default, PartialEq)]
    struct Thing {
        colour: Colour,
        words: Vec<String>,
        map: BTreeMap<u8, Option<u64>>,
        pair: (bool, i8),
        array: [u128; 2],
        queue: VecDeque<u16>,
    }
    persist_fields!(Thing { colour, words, map, pair, array, queue });

    fn thing() -> Thing {
        Thing {
            colour: Colour::Blue,
            words: vec!["a".into(), String::new()],
            map: [(3, None), (4, Some(9))].into(),
            pair: (true, -1),
            array: [1 << 100, 2],
            queue: [5, 6].into(),
        }
    }

    fn load(bytes: &[u8]) -> Result<Thing, Invalid> {
        let mut thing = Thing::default();
        let mut codec = Codec::load(bytes);
        thing.persist(&mut codec)?;
        codec.finish().map(|()| thing)
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let (mut first, mut bytes) = (thing(), Vec::new());
        first.persist(&mut Codec::save(&mut bytes)).unwrap();
        assert_eq!(first, thing(), "saving changes nothing");
        assert_eq!(load(&bytes), Ok(thing()));
        for cut in 0..bytes.len() {
            assert!(load(&bytes[..cut]).is_err(), "{cut} bytes");
        }
        bytes.push(0);
        assert_eq!(load(&bytes), Err(Invalid::new("has more than it should")));
    }

    #[test]
    fn a_count_takes_no_memory_by_itself() {
        let mut list: Vec<u64> = Vec::new();
        let result = list.persist(&mut Codec::load(&[0xff; 9]));
        assert_eq!(result, Err(Invalid::new("counts more than there is")));
        assert_eq!(list.capacity(), 0);
    }
}
