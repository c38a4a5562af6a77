//! Codec of `.feeler` files, also for other data that is stored as bytes: serde types in bincode 2.
//!
//! This is the only module that sees bincode, and none of its types are public: a change of the codec touches
//! this file alone. [`encode`] and [`decode`] store any serde type behind a magic number and a checksum, with
//! the same limits on allocation as files have. They are here, rather than with their users, so that saved
//! states of simulations get the guards of files without a second codec.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | magic number of the kind of data; its last byte is the version |
//! | 8..16 | checksum of everything else, little-endian |
//! | 16.. | the value: fields in order, fixed-width little-endian integers, bits of floating-point numbers |

use bincode::error::DecodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Write};

/// Length in bytes of the header, which consists of the magic number and the checksum.
const HEADER: usize = 16;

/// Position of the checksum in the header, counted in words of eight bytes from 0.
const CHECKSUM_WORD: usize = 1;

/// Reason why bytes cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The bytes begin with a magic number that differs in more than the version.
    #[error("begins with other bytes: it is another kind of data")]
    Magic,
    /// The magic number has the expected kind but another version.
    #[error("has version {found}; this program reads version {supported}")]
    Version {
        /// Version that the data states.
        found: u8,
        /// Version that this program reads.
        supported: u8,
    },
    /// The bytes end within the header; the number is their length.
    #[error("ends after {0} bytes")]
    Truncated(usize),
    /// The checksum in the header differs from that of the bytes.
    #[error("is damaged: its checksum is wrong")]
    Checksum,
    /// The checksum is right, but the bytes are not a value of the expected type, as the text states.
    #[error("cannot be decoded: {0}")]
    Payload(String),
}

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding()
}

/// Encodes a value: a header with a magic number, whose last byte is the version, and a checksum,
/// followed by the value. Equal values give equal bytes.
///
/// # Errors
/// [`CodecError::Payload`]: the type serializes sequences of unknown length.
pub fn encode<T: Serialize>(magic: [u8; 8], value: &T) -> Result<Vec<u8>, CodecError> {
    let mut bytes = magic.to_vec();
    bytes.resize(HEADER, 0);
    append(value, &mut bytes).map_err(CodecError::Payload)?;
    let sum = checksum(&bytes, CHECKSUM_WORD);
    bytes[8 * CHECKSUM_WORD..HEADER].copy_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// Decodes a value that [`encode`] has encoded with the same magic number.
///
/// The function never panics. It allocates no more than a small multiple of the bytes' length, or about
/// a megabyte if that is more, whatever the bytes claim. It checks only the encoding, not whether the
/// value makes sense.
///
/// # Errors
/// An error is returned if the bytes are of another kind or version, truncated or damaged.
pub fn decode<T: DeserializeOwned>(magic: [u8; 8], bytes: &[u8]) -> Result<T, CodecError> {
    let known = bytes.len().min(7);
    if bytes[..known] != magic[..known] {
        return Err(CodecError::Magic);
    }
    if let Some(found) = bytes.get(7).filter(|version| **version != magic[7]) {
        return Err(CodecError::Version { found: *found, supported: magic[7] });
    }
    let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
        return Err(CodecError::Truncated(bytes.len()));
    };
    if header[8 * CHECKSUM_WORD..] != checksum(bytes, CHECKSUM_WORD).to_le_bytes() {
        return Err(CodecError::Checksum);
    }
    decode_payload(payload, HEADER).map_err(CodecError::Payload)
}

/// Appends the encoding of a value, without a header, to `bytes`.
pub(crate) fn append<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), String> {
    bincode::serde::encode_into_std_write(value, bytes, config()).map(|_| ()).map_err(|e| e.to_string())
}

/// Number of bytes that [`append`] appends.
pub(crate) fn encoded_size<T: Serialize>(value: &T) -> usize {
    struct Counter(usize);
    impl Write for Counter {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.0 += buf.len();
            Ok(buf.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // The writer accepts everything, and plain data has no other reason to fail.
    let _ = bincode::serde::encode_into_std_write(value, &mut counter, config());
    counter.0
}

/// Decodes a value whose encoding must fill `payload` exactly. `offset` is the position of the payload's
/// first byte in the file, used in error messages.
///
/// The codec allocates a string's claimed length before it compares the length with the number of bytes
/// present, and its limit must be a constant. Payloads are therefore divided into classes of lengths,
/// each with the largest length of the class as its limit. Lists are safe without a limit: at most a
/// megabyte is reserved for a list before its elements are decoded, and each element must be present.
pub(crate) fn decode_payload<T: DeserializeOwned>(payload: &[u8], offset: usize) -> Result<T, String> {
    const CLASSES: [usize; 5] = [1 << 16, 1 << 20, 1 << 24, 1 << 28, 1 << 31];
    match payload.len() {
        n if n <= CLASSES[0] => decode_within::<T, { CLASSES[0] }>(payload, offset),
        n if n <= CLASSES[1] => decode_within::<T, { CLASSES[1] }>(payload, offset),
        n if n <= CLASSES[2] => decode_within::<T, { CLASSES[2] }>(payload, offset),
        n if n <= CLASSES[3] => decode_within::<T, { CLASSES[3] }>(payload, offset),
        n if n <= CLASSES[4] => decode_within::<T, { CLASSES[4] }>(payload, offset),
        n => Err(format!("{n} bytes are more than this version reads")),
    }
}

fn decode_within<T: DeserializeOwned, const LIMIT: usize>(
    payload: &[u8],
    offset: usize,
) -> Result<T, String> {
    let config =
        bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<LIMIT>();
    let (value, read) =
        bincode::serde::decode_from_slice::<T, _>(payload, config).map_err(|e| in_words(&e))?;
    if read != payload.len() {
        let left = payload.len() - read;
        return Err(format!(
            "{left} bytes are left over after byte {}; write the data again with this version of the program",
            offset + read
        ));
    }
    Ok(value)
}

fn in_words(error: &DecodeError) -> String {
    match error {
        DecodeError::UnexpectedEnd { .. } => "ends inside a record".to_owned(),
        DecodeError::LimitExceeded => "a length exceeds that of the file".to_owned(),
        DecodeError::Utf8 { .. } => "a string is not valid UTF-8".to_owned(),
        DecodeError::InvalidBooleanValue(value) => format!("{value} is not a valid Boolean value (0 or 1)"),
        DecodeError::OutsideUsizeRange(n) => format!("the length {n} is too large for this platform"),
        DecodeError::UnexpectedVariant { type_name, found, .. } => {
            format!(
                "{found} is not a valid value of the type {type_name}; write the data again with this \
                 version of the program"
            )
        }
        DecodeError::Other(text) => (*text).to_owned(),
        DecodeError::OtherString(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Computes the checksum of the bytes. The word of eight bytes with index `checksum_word`, which stores
/// the checksum, counts as 0.
///
/// The words are distributed over several independent states in turn, so that a processor can update the
/// states in parallel. Each step is one-to-one in the state and in the word, and so is the combination
/// of the states. A change within one word thus always changes the result; other changes remain
/// unnoticed once in 2⁶⁴.
pub(crate) fn checksum(bytes: &[u8], checksum_word: usize) -> u64 {
    const LANES: usize = 4;
    fn step(state: u64, word: u64) -> u64 {
        // An odd multiplier (the golden ratio's fraction) mixes upwards, the shift downwards; both can be
        // undone.
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed = (state ^ word).wrapping_mul(ODD);
        mixed ^ (mixed >> 29)
    }
    let (words, last) = bytes.as_chunks::<8>();
    let word = |at: usize, w: &[u8; 8]| if at == checksum_word { 0 } else { u64::from_le_bytes(*w) };
    let mut states = [1, 2, 3, 4];
    let (blocks, rest) = words.as_chunks::<LANES>();
    for (i, block) in blocks.iter().enumerate() {
        for (k, (state, w)) in states.iter_mut().zip(block).enumerate() {
            *state = step(*state, word(LANES * i + k, w));
        }
    }
    let mut end = [0; 8];
    end[..last.len()].copy_from_slice(last);
    let numbered = (LANES * blocks.len()..).zip(rest);
    let tail = numbered.map(|(at, w)| word(at, w)).chain([u64::from_le_bytes(end), bytes.len() as u64]);
    states.into_iter().chain(tail).fold(0, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 8] = *b"feelert\x03";

    #[test]
    fn values_round_trip_to_the_bit() {
        type Value = (Vec<Option<f64>>, u64, String);
        let value: Value =
            (vec![Some(-0.0), None, Some(f64::INFINITY), Some(0.1)], u64::MAX, "µm".to_owned());
        let bytes = encode(MAGIC, &value).unwrap();
        let again: Value = decode(MAGIC, &bytes).unwrap();
        assert_eq!(format!("{again:?}"), format!("{value:?}"));
        assert_eq!(encode(MAGIC, &again).unwrap(), bytes);
        let empty = encode(MAGIC, &()).unwrap();
        assert_eq!((empty.len(), decode::<()>(MAGIC, &empty)), (HEADER, Ok(())));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        let bytes = encode(MAGIC, &(vec![1_u32, 2, 3, 4, 5], 0.5_f64)).unwrap();
        let read = |bytes: &[u8]| decode::<(Vec<u32>, f64)>(MAGIC, bytes).unwrap_err();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let error = read(&damaged);
                let is_named = match at {
                    0..7 => error == CodecError::Magic,
                    7 => matches!(error, CodecError::Version { supported: 3, .. }),
                    _ => error == CodecError::Checksum,
                };
                assert!(is_named, "{at}: {error}");
            }
            let is_short = at < HEADER;
            assert_eq!(is_short, read(&bytes[..at]) == CodecError::Truncated(at), "{at}");
        }
        let longer = encode(MAGIC, &((vec![1_u32], 0.5_f64), 7_u8)).unwrap();
        assert!(read(&longer).to_string().contains("1 bytes are left over"), "{}", read(&longer));
        let lengths = encode(MAGIC, &(u64::MAX, 0.5_f64)).unwrap();
        assert!(matches!(read(&lengths), CodecError::Payload(_)), "a length without elements");
    }
}
