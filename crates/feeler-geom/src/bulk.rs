//! Long arrays of small records as plain little-endian bytes.
//!
//! A record has a fixed size and no padding. `#[serde(with = "feeler_geom::bulk")]` on a `Vec` of
//! records stores them as one run of bytes: a reader copies field by field, without a call of serde for
//! every number.

use crate::{Obb, P2, P3, V3};
use nalgebra::Vector4;
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use std::fmt;
use std::marker::PhantomData;

/// A value that is stored in a fixed number of bytes.
pub trait Record: Sized {
    /// Size of a record in bytes.
    const SIZE: usize;

    /// Appends the record's bytes to `out`.
    fn put(&self, out: &mut Vec<u8>);

    /// Reads a record from the next [`SIZE`](Self::SIZE) bytes. Returns `None` if there are fewer bytes,
    /// or if they do not encode such a record. The values of numbers are not validated.
    fn take(from: &mut Bytes<'_>) -> Option<Self>;
}

/// Cursor over the bytes from which records are still to be read.
#[derive(Debug)]
pub struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    #[inline]
    fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
}

macro_rules! number {
    ($($t:ty),*) => {$(
        impl Record for $t {
            const SIZE: usize = size_of::<$t>();

            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut Bytes<'_>) -> Option<Self> {
                from.next().map(Self::from_le_bytes)
            }
        }
    )*};
}

number!(u8, u16, u32, i32, u64, f64);

impl<T: Record + Copy + Default, const N: usize> Record for [T; N] {
    const SIZE: usize = N * T::SIZE;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|x| x.put(out));
    }

    #[inline]
    fn take(from: &mut Bytes<'_>) -> Option<Self> {
        let mut all = [T::default(); N];
        for x in &mut all {
            *x = T::take(from)?;
        }
        Some(all)
    }
}

macro_rules! coordinates {
    ($($t:ty: $n:literal),*) => {$(
        impl Record for $t {
            const SIZE: usize = $n * 8;

            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                self.iter().for_each(|x| x.put(out));
            }

            #[inline]
            fn take(from: &mut Bytes<'_>) -> Option<Self> {
                <[f64; $n]>::take(from).map(Self::from)
            }
        }
    )*};
}

coordinates!(P2: 2, P3: 3, V3: 3, Vector4<f64>: 4);

/// Implements [`Record`] for a struct of records:
/// `record!(Type { field: FieldType, … })` lists all fields.
#[macro_export]
macro_rules! record {
    ($t:ident { $($field:ident: $of:ty),* $(,)? }) => {
        impl $crate::bulk::Record for $t {
            const SIZE: usize = 0 $(+ <$of as $crate::bulk::Record>::SIZE)*;

            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $(<$of as $crate::bulk::Record>::put($field, out);)*
            }

            #[inline]
            fn take(from: &mut $crate::bulk::Bytes<'_>) -> Option<Self> {
                Some(Self { $($field: <$of as $crate::bulk::Record>::take(from)?),* })
            }
        }
    };
}

record!(Obb { center: P3, axes: [V3; 3], half: V3 });

/// Serializes records as one run of bytes.
///
/// # Errors
/// The errors of the serializer.
pub fn serialize<T: Record, S: Serializer>(records: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(records.len() * T::SIZE);
    records.iter().for_each(|r| r.put(&mut bytes));
    serializer.serialize_bytes(&bytes)
}

/// Deserializes records from one run of bytes.
///
/// # Errors
/// The errors of the deserializer, or an error if the bytes are not a whole number of valid records.
pub fn deserialize<'de, T: Record, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Records<T>(PhantomData<T>);

    impl<T: Record> Visitor<'_> for Records<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "records of {} bytes", T::SIZE)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
            let chunks = bytes.chunks_exact(T::SIZE);
            if !chunks.remainder().is_empty() {
                return Err(E::custom("the length of a list is not a multiple of its record size"));
            }
            let mut records = Vec::with_capacity(chunks.len());
            for chunk in chunks {
                let record = T::take(&mut Bytes(chunk));
                records.push(record.ok_or_else(|| E::custom("a record has an unknown kind"))?);
            }
            Ok(records)
        }
    }

    deserializer.deserialize_bytes(Records(PhantomData))
}
