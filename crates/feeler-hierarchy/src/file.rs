//! The file: header, checksum, payload; whole or absent.
//!
//! | bytes | header field, little-endian |
//! |---|---|
//! | 0..8 | magic `FEELER\r\n`: a transfer in text mode damages it visibly |
//! | 8..12 | format version |
//! | 12..14 | width of a scalar in bytes, 8 |
//! | 14..16 | length unit, 1 = mm |
//! | 16..24 | length of the payload in bytes |
//! | 24..32 | checksum of the rest of the header and the payload |
//! | 32..40 | hash of the input |
//! | 40..48 | flatness (rad) |
//! | 48..52 | distinct solids |
//! | 52..56 | instances |
//! | 56..64 | areas of all solids |
//!
//! The payload is the [`Model`] in bincode with fixed-width little-endian integers; long lists of small
//! records are runs of plain bytes in it ([`feeler_geom::bulk`]), so that loading is one validated copy. A
//! reader first compares lengths, then the checksum, then decodes under a limit of allocation
//! ([`codec`]), and last checks that the model is [well formed](crate::validate).
//!
//! # Versions
//!
//! - The magic and the place of the version never change: every release can say whether a file is older or
//!   newer.
//! - [`FORMAT_VERSION`] goes up by one with every change to the bytes or to what they mean: a field added,
//!   removed or moved, a number with another meaning, a rule of [`validate`](crate::validate) that files of
//!   today break. It stays when only the numbers get better (tighter bounds, other trees): then the program's
//!   version in the file differs.
//! - A release reads and writes one version. A `.feeler` file is made from an input that is still there, so
//!   there is no code for the versions of the past, each of which would be one more door to defend: an older
//!   file is refused with the advice to prepare the input again, which `feeler preprocess` does by itself, a
//!   newer one with the advice to update.
//! - Before 1.0 any release may raise the version; from 1.0 on, a release that raises it raises its own minor
//!   version, and the change log says so.

use crate::codec;
use crate::data::{Hierarchy, Model};
use crate::validate::{IllFormed, check_well_formed};
use crate::whole::write_whole;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Version of the format that this code writes, and the only one it reads.
pub const FORMAT_VERSION: u32 = 6;

const MAGIC: [u8; 8] = *b"FEELER\r\n";
const HEADER: usize = 64;
/// Position of the checksum, in words of eight bytes.
const CHECKSUM_WORD: usize = 3;
const SCALAR_WIDTH: u16 = 8;
const UNIT_MM: u16 = 1;

/// Why a file cannot be read or written. In every case nothing has been changed: a file is whole or absent.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Something about the file at this path.
    #[error("{}: {source}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// What about it.
        source: Box<FileError>,
    },
    /// The file system refused.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The first bytes are not those of a feeler file.
    #[error("not a feeler file (prepare a STEP file with `feeler preprocess`)")]
    NotFeeler,
    /// The magic shows that line ends were translated.
    #[error("damaged by a transfer in text mode; copy the file again in binary mode")]
    TextMode,
    /// Written by a later release.
    #[error(
        "written in format version {found}, newer than the supported version {supported}; update feeler, or \
            prepare \
         the input again with this version"
    )]
    Newer {
        /// Version of the file.
        found: u32,
        /// Version of this code.
        supported: u32,
    },
    /// Written by an earlier release whose format is no longer read.
    #[error(
        "written in format version {found}, older than the supported version {supported}; prepare the input \
            again \
         with `feeler preprocess`"
    )]
    Older {
        /// Version of the file.
        found: u32,
        /// Version of this code.
        supported: u32,
    },
    /// The file ends too early.
    #[error("truncated at byte {at} of {expected}; copy the file again, or prepare the input again")]
    Truncated {
        /// Length found.
        at: u64,
        /// Length that the header announces, or the header's own.
        expected: u64,
    },
    /// Bytes after the end of the payload.
    #[error("{extra} bytes too many after byte {expected}")]
    Trailing {
        /// Length that the header announces.
        expected: u64,
        /// Bytes after it.
        extra: u64,
    },
    /// Some byte has changed since the file was written.
    #[error(
        "damaged: the checksum is {found:016x}, not {stored:016x}; copy the file again, or prepare the \
            input again"
    )]
    Checksum {
        /// Checksum in the header.
        stored: u64,
        /// Checksum of the bytes.
        found: u64,
    },
    /// A header field has a value that this code does not know.
    #[error("header: unknown {field} {value}")]
    Header {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// The payload is not an encoded model although its checksum is right.
    #[error("payload: {0}")]
    Payload(String),
    /// The payload is a model that cannot be used.
    #[error("not well formed: {0}")]
    IllFormed(#[from] IllFormed),
}

impl FileError {
    fn at(self, path: &Path) -> Self {
        Self::At { path: path.to_owned(), source: Box::new(self) }
    }
}

/// Whether bytes begin like a feeler file, whole or damaged.
#[must_use]
pub fn is_feeler(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC[..6])
}

/// The bytes of a file for `model`. The same model always gives the same bytes.
///
/// # Errors
/// [`FileError::IllFormed`]: what could not be read again is not written.
pub fn encode(model: &Model) -> Result<Vec<u8>, FileError> {
    check_well_formed(model)?;
    let mut bytes = vec![0; HEADER];
    codec::append(model, &mut bytes).map_err(FileError::Payload)?;
    let areas: usize = model.solids.iter().map(|s| s.areas.len()).sum();
    let payload = (bytes.len() - HEADER) as u64;
    bytes[0..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes[12..14].copy_from_slice(&SCALAR_WIDTH.to_le_bytes());
    bytes[14..16].copy_from_slice(&UNIT_MM.to_le_bytes());
    bytes[16..24].copy_from_slice(&payload.to_le_bytes());
    bytes[32..40].copy_from_slice(&model.input_hash.to_le_bytes());
    bytes[40..48].copy_from_slice(&model.options.flatness.to_le_bytes());
    bytes[48..52].copy_from_slice(&count(model.solids.len())?.to_le_bytes());
    bytes[52..56].copy_from_slice(&count(model.instances.len())?.to_le_bytes());
    bytes[56..64].copy_from_slice(&(areas as u64).to_le_bytes());
    seal(&mut bytes);
    Ok(bytes)
}

fn count(n: usize) -> Result<u32, FileError> {
    u32::try_from(n).map_err(|_| FileError::Payload(format!("{n} is more than a count can hold")))
}

/// Writes the checksum into a header.
fn seal(bytes: &mut [u8]) {
    let sum = codec::checksum(bytes, CHECKSUM_WORD);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
}

/// The same file with another format version and a checksum to match: for tests of what readers say about it.
/// Bytes too short to have a version are returned as they are.
#[must_use]
pub fn with_version(bytes: &[u8], version: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= HEADER {
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        seal(&mut bytes);
    }
    bytes
}

/// Number of payload bytes that one solid's hierarchy takes.
#[must_use]
pub fn encoded_size(hierarchy: &Hierarchy) -> usize {
    codec::encoded_size(hierarchy)
}

/// What the header says.
struct Header {
    payload: u64,
    checksum: u64,
    input_hash: u64,
    flatness: u64,
    solids: u32,
    instances: u32,
    areas: u64,
}

impl Header {
    /// Reads as much of a header as there is, so that the message fits: what is too short may still be known
    /// to be no feeler file at all.
    fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            let text = bytes.starts_with(b"FEELER\n") || bytes.starts_with(b"FEELER\r\r");
            return Err(if text { FileError::TextMode } else { FileError::NotFeeler });
        }
        if bytes.len() >= 12 {
            let version = u32::from_le_bytes(field(bytes, 8));
            // Before anything else: a later format may have another header.
            if version > FORMAT_VERSION {
                return Err(FileError::Newer { found: version, supported: FORMAT_VERSION });
            }
            if version < FORMAT_VERSION {
                return Err(FileError::Older { found: version, supported: FORMAT_VERSION });
            }
        }
        if bytes.len() < HEADER {
            return Err(FileError::Truncated { at: bytes.len() as u64, expected: HEADER as u64 });
        }
        let width = u16::from_le_bytes(field(bytes, 12));
        if width != SCALAR_WIDTH {
            return Err(FileError::Header { field: "scalar width", value: width.into() });
        }
        let unit = u16::from_le_bytes(field(bytes, 14));
        if unit != UNIT_MM {
            return Err(FileError::Header { field: "length unit", value: unit.into() });
        }
        Ok(Self {
            payload: u64::from_le_bytes(field(bytes, 16)),
            checksum: u64::from_le_bytes(field(bytes, 24)),
            input_hash: u64::from_le_bytes(field(bytes, 32)),
            flatness: u64::from_le_bytes(field(bytes, 40)),
            solids: u32::from_le_bytes(field(bytes, 48)),
            instances: u32::from_le_bytes(field(bytes, 52)),
            areas: u64::from_le_bytes(field(bytes, 56)),
        })
    }

    /// Compares the length of a whole file with what the header announces.
    fn check_length(&self, len: u64) -> Result<(), FileError> {
        let expected = self.payload.saturating_add(HEADER as u64);
        if len < expected {
            return Err(FileError::Truncated { at: len, expected });
        }
        if len > expected {
            return Err(FileError::Trailing { expected, extra: len - expected });
        }
        Ok(())
    }

    /// Compares a decoded model with what the header announces.
    fn check_counts(&self, model: &Model) -> Result<(), FileError> {
        let areas: usize = model.solids.iter().map(|s| s.areas.len()).sum();
        let same = self.input_hash == model.input_hash
            && self.flatness == model.options.flatness.to_bits()
            && self.solids as usize == model.solids.len()
            && self.instances as usize == model.instances.len()
            && self.areas == areas as u64;
        if same {
            Ok(())
        } else {
            Err(FileError::Payload("does not hold what the header announces".to_owned()))
        }
    }
}

/// `N` bytes from `at` on, which are there.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

/// The model in the bytes of a file.
///
/// Never panics, and allocates no more than a small multiple of the bytes' length (or about a megabyte, if
/// that is more), whatever the bytes claim.
///
/// # Errors
/// All variants of [`FileError`] but [`FileError::At`] and [`FileError::Io`].
pub fn decode(bytes: &[u8]) -> Result<Model, FileError> {
    let header = Header::parse(bytes)?;
    header.check_length(bytes.len() as u64)?;
    let found = codec::checksum(bytes, CHECKSUM_WORD);
    if found != header.checksum {
        return Err(FileError::Checksum { stored: header.checksum, found });
    }
    let model: Model = codec::decode_payload(&bytes[HEADER..], HEADER).map_err(FileError::Payload)?;
    header.check_counts(&model)?;
    check_well_formed(&model)?;
    Ok(model)
}

/// Reads a file.
///
/// The header is checked before the rest is read.
///
/// # Errors
/// As [`decode`], or [`FileError::Io`]; with the path.
pub fn read_model(path: &Path) -> Result<Model, FileError> {
    read_bytes(path).and_then(|bytes| decode(&bytes)).map_err(|e| e.at(path))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let read = |source| FileError::Io { action: "read", source };
    let file = File::open(path).map_err(|source| FileError::Io { action: "open", source })?;
    let mut bytes = Vec::new();
    (&file).take(HEADER as u64).read_to_end(&mut bytes).map_err(read)?;
    let header = Header::parse(&bytes)?;
    header.check_length(file.metadata().map_err(read)?.len())?;
    (&file).read_to_end(&mut bytes).map_err(read)?;
    Ok(bytes)
}

/// Writes a file: to a temporary one in the same folder, which then takes the name. On failure what was at
/// `path` before stays, and nothing is left behind. Returns the number of bytes.
///
/// # Errors
/// [`FileError::IllFormed`] and [`FileError::Io`]; with the path.
pub fn write_model(path: &Path, model: &Model) -> Result<u64, FileError> {
    let write = || {
        let bytes = encode(model)?;
        write_whole(path, &bytes).map_err(|e| FileError::Io { action: e.action, source: e.source })?;
        Ok(bytes.len() as u64)
    };
    write().map_err(|e: FileError| e.at(path))
}

impl Model {
    /// Reads a `.feeler` file.
    ///
    /// # Errors
    /// As [`read_model`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        read_model(path.as_ref())
    }

    /// A model from the bytes of a `.feeler` file.
    ///
    /// # Errors
    /// As [`Model::read`], without a path.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        decode(bytes)
    }

    /// The bytes of a `.feeler` file. The same model always gives the same bytes.
    ///
    /// # Errors
    /// As [`Model::write`], without a path.
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        encode(self)
    }

    /// Writes a `.feeler` file; returns the number of bytes.
    ///
    /// # Errors
    /// As [`write_model`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<u64, FileError> {
        write_model(path.as_ref(), self)
    }
}

#[cfg(test)]
mod tests;
