//! Encoding of `.feeler` files: header, checksum and payload.
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
//! The payload is the [`Model`] in bincode with fixed-width little-endian integers. Long lists of small
//! records are runs of plain bytes in it ([`feeler_geom::bulk`]), so that loading is one validated copy. A
//! reader first compares lengths, then the checksum, then decodes with an allocation limit ([`codec`]), and
//! finally checks that the model is [well formed](crate::validate).
//!
//! # Versions
//!
//! - The magic and the offset of the version never change, so every release can report whether a file is
//!   older or newer.
//! - [`FORMAT_VERSION`] increases by one with every change to the bytes or to their meaning: a field
//!   added, removed or moved, a number with another meaning, a rule of [`validate`](crate::validate) that
//!   existing files violate. It stays the same when only the numbers improve (tighter bounds, other
//!   trees); then the version of the program stored in the file differs.
//! - A release reads and writes one version. A `.feeler` file is made from an input that still exists, so
//!   code for past versions would only be additional attack surface. An older file is rejected with the
//!   advice to prepare the input again, which `feeler preprocess` does by itself; a newer one is rejected
//!   with the advice to update.
//! - Before 1.0 any release may raise the version. From 1.0 on, a release that raises it increments its
//!   own minor version, and the change log says so.

use crate::codec;
use crate::data::{Hierarchy, Model};
use crate::validate::{IllFormed, check_well_formed};
use crate::whole::write_whole;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Format version that this code writes, and the only one that it reads.
pub const FORMAT_VERSION: u32 = 7;

/// First bytes of every `.feeler` file.
const MAGIC: [u8; 8] = *b"FEELER\r\n";
/// Length of the header in bytes.
const HEADER_LEN: usize = 64;
/// Position of the checksum in the header, counted in words of eight bytes from 0.
const CHECKSUM_WORD: usize = 3;
/// Width in bytes of the floating-point numbers in a file, as stated by its header.
const SCALAR_WIDTH: u16 = 8;
/// Code of the length unit millimetre in the header.
const UNIT_MM: u16 = 1;

/// Reason why a file cannot be read or written. A failed write leaves an existing file at the path
/// unchanged.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// An error that concerns a file, with its path.
    #[error("{}: {source}", path.display())]
    At {
        /// Path of the file.
        path: PathBuf,
        /// The error that concerns the file.
        source: Box<FileError>,
    },
    /// An operation of the file system failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// The operation, as a verb phrase such as `read`.
        action: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The first bytes are not those of a feeler file.
    #[error("not a feeler file (prepare a STEP file with `feeler preprocess`)")]
    NotFeeler,
    /// The magic number shows that line ends were translated, as by a copy in text mode.
    #[error("damaged by a transfer in text mode; copy the file again in binary mode")]
    TextMode,
    /// The file was written by a later release.
    #[error(
        "written in format version {found}, newer than the supported version {supported}; update feeler, or \
         prepare the input again with this version"
    )]
    Newer {
        /// Format version of the file.
        found: u32,
        /// Format version of this code.
        supported: u32,
    },
    /// The file was written by an earlier release, in a format that is not supported any more.
    #[error(
        "written in format version {found}, older than the supported version {supported}; prepare the input \
         again with `feeler preprocess`"
    )]
    Older {
        /// Format version of the file.
        found: u32,
        /// Format version of this code.
        supported: u32,
    },
    /// The file ends too early.
    #[error("truncated at byte {at} of {expected}; copy the file again, or prepare the input again")]
    Truncated {
        /// Length of the file (bytes).
        at: u64,
        /// Length of the file (bytes) that the header states, or the length of a header if the file is
        /// shorter than a header.
        expected: u64,
    },
    /// There are bytes after the end of the payload.
    #[error(
        "{extra} unexpected bytes after byte {expected}; copy the file again, or prepare the input again"
    )]
    Trailing {
        /// Length of the file (bytes) that the header states.
        expected: u64,
        /// Number of bytes beyond the length that the header states.
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
        /// Checksum computed from the bytes.
        found: u64,
    },
    /// A header field has an unsupported value.
    #[error("header: unsupported {field} {value}")]
    Header {
        /// Name of the header field.
        field: &'static str,
        /// Value of the header field.
        value: u64,
    },
    /// The payload is not an encoded model although its checksum is correct.
    #[error("payload: {0}")]
    Payload(String),
    /// The decoded model is not well formed.
    #[error("not well formed: {0}")]
    IllFormed(#[from] IllFormed),
}

impl FileError {
    fn at(self, path: &Path) -> Self {
        Self::At { path: path.to_owned(), source: Box::new(self) }
    }
}

/// Returns whether the bytes begin like a feeler file, which may be damaged.
#[must_use]
pub fn is_feeler(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC[..6])
}

/// Encodes a model as the bytes of a file. Equal models give equal bytes.
///
/// # Errors
/// [`FileError::IllFormed`], because such a file could not be read again.
pub fn encode(model: &Model) -> Result<Vec<u8>, FileError> {
    check_well_formed(model)?;
    let mut bytes = vec![0; HEADER_LEN];
    codec::append(model, &mut bytes).map_err(FileError::Payload)?;
    let areas: usize = model.solids.iter().map(|s| s.areas.len()).sum();
    let payload = (bytes.len() - HEADER_LEN) as u64;
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
    u32::try_from(n).map_err(|_| FileError::Payload(format!("{n} entries are too many for a file")))
}

/// Computes the checksum of a complete file and stores it in the header.
fn seal(bytes: &mut [u8]) {
    let sum = codec::checksum(bytes, CHECKSUM_WORD);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
}

/// Returns the bytes of the file with its format version replaced and a matching checksum. Tests use it
/// to check how readers reject other versions. Bytes shorter than a header are returned unchanged.
#[must_use]
pub fn with_version(bytes: &[u8], version: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= HEADER_LEN {
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        seal(&mut bytes);
    }
    bytes
}

/// Returns the number of payload bytes of one solid's hierarchy.
#[must_use]
pub fn encoded_size(hierarchy: &Hierarchy) -> usize {
    codec::encoded_size(hierarchy)
}

/// Decoded fields of a file's header; the module documentation lists their meaning.
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
    /// Parses a header. If `bytes` are shorter than a header, the fields that exist are checked first,
    /// so that errors are specific: the bytes may already differ from the magic number.
    fn parse(bytes: &[u8]) -> Result<Self, FileError> {
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            let text = bytes.starts_with(b"FEELER\n") || bytes.starts_with(b"FEELER\r\r");
            return Err(if text { FileError::TextMode } else { FileError::NotFeeler });
        }
        if bytes.len() >= 12 {
            let version = u32::from_le_bytes(field(bytes, 8));
            // The version is checked first because a later format may have another header.
            if version > FORMAT_VERSION {
                return Err(FileError::Newer { found: version, supported: FORMAT_VERSION });
            }
            if version < FORMAT_VERSION {
                return Err(FileError::Older { found: version, supported: FORMAT_VERSION });
            }
        }
        if bytes.len() < HEADER_LEN {
            return Err(FileError::Truncated { at: bytes.len() as u64, expected: HEADER_LEN as u64 });
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

    /// Checks the length of the whole file against the header.
    fn check_length(&self, len: u64) -> Result<(), FileError> {
        let expected = self.payload.saturating_add(HEADER_LEN as u64);
        if len < expected {
            return Err(FileError::Truncated { at: len, expected });
        }
        if len > expected {
            return Err(FileError::Trailing { expected, extra: len - expected });
        }
        Ok(())
    }

    /// Checks that the hash of the input, the flatness and the counts of a decoded model are those in
    /// the header.
    fn check_counts(&self, model: &Model) -> Result<(), FileError> {
        let areas: usize = model.solids.iter().map(|s| s.areas.len()).sum();
        let same = self.input_hash == model.input_hash
            && self.flatness == model.options.flatness.to_bits()
            && self.solids as usize == model.solids.len()
            && self.instances as usize == model.instances.len()
            && self.areas == areas as u64;
        let wrong = "the hash of the input, the flatness or a count (solids, instances, areas) differs from \
                     that in the header; prepare the input again";
        if same { Ok(()) } else { Err(FileError::Payload(wrong.to_owned())) }
    }
}

/// Reads `N` bytes at offset `at`, which must exist.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[at..at + N]);
    out
}

/// Decodes the model in the bytes of a file.
///
/// Never panics. Allocates at most a small multiple of the number of bytes, or about a megabyte if that
/// is more, whatever lengths the bytes state.
///
/// # Errors
/// Any variant of [`FileError`] except [`FileError::At`] and [`FileError::Io`].
pub fn decode(bytes: &[u8]) -> Result<Model, FileError> {
    let header = Header::parse(bytes)?;
    header.check_length(bytes.len() as u64)?;
    let found = codec::checksum(bytes, CHECKSUM_WORD);
    if found != header.checksum {
        return Err(FileError::Checksum { stored: header.checksum, found });
    }
    let model: Model = codec::decode_payload(&bytes[HEADER_LEN..], HEADER_LEN).map_err(FileError::Payload)?;
    header.check_counts(&model)?;
    check_well_formed(&model)?;
    Ok(model)
}

/// Reads and decodes a `.feeler` file.
///
/// The header is checked before the rest of the file is read.
///
/// # Errors
/// The errors of [`decode`] and [`FileError::Io`], inside [`FileError::At`] with the path.
pub fn read_model(path: &Path) -> Result<Model, FileError> {
    read_bytes(path).and_then(|bytes| decode(&bytes)).map_err(|e| e.at(path))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    let read = |source| FileError::Io { action: "read", source };
    let file = File::open(path).map_err(|source| FileError::Io { action: "open", source })?;
    let mut bytes = Vec::new();
    (&file).take(HEADER_LEN as u64).read_to_end(&mut bytes).map_err(read)?;
    let header = Header::parse(&bytes)?;
    header.check_length(file.metadata().map_err(read)?.len())?;
    (&file).read_to_end(&mut bytes).map_err(read)?;
    Ok(bytes)
}

/// Encodes and writes a `.feeler` file; returns the number of bytes. The bytes go to a temporary file in
/// the same folder, which is then renamed. If this fails, the previous file at `path` stays, and no
/// temporary file remains.
///
/// # Errors
/// [`FileError::IllFormed`] and [`FileError::Io`], inside [`FileError::At`] with the path.
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
    /// The file cannot be read, is damaged, or has another format version ([`read_model`]).
    pub fn read(path: impl AsRef<Path>) -> Result<Self, FileError> {
        read_model(path.as_ref())
    }

    /// Decodes a model from the bytes of a `.feeler` file.
    ///
    /// # Errors
    /// The bytes are damaged, or have another format version; the errors have no path ([`decode`]).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        decode(bytes)
    }

    /// Encodes the model as the bytes of a `.feeler` file. Equal models give equal bytes.
    ///
    /// # Errors
    /// The model is not well formed ([`FileError::IllFormed`]).
    pub fn to_bytes(&self) -> Result<Vec<u8>, FileError> {
        encode(self)
    }

    /// Writes a `.feeler` file; returns the number of bytes.
    ///
    /// # Errors
    /// The model is not well formed, or the file cannot be written ([`write_model`]).
    pub fn write(&self, path: impl AsRef<Path>) -> Result<u64, FileError> {
        write_model(path.as_ref(), self)
    }
}

#[cfg(test)]
mod tests;
