//! Errors of images.

use super::MAX_VOXELS;
use std::io;
use std::path::PathBuf;

/// Error of an image file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct ImageError {
    /// The file or folder.
    pub path: PathBuf,
    /// Fault of the file.
    pub problem: ImageProblem,
}

/// Reason why an image cannot be read, written or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageProblem {
    /// A file cannot be opened or read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// A file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// The extension is not that of a supported format.
    #[error("the format is not known; give .nrrd, .nhdr, .tif, .tiff, .raw, or a folder of .tif files")]
    UnknownFormat,
    /// A raw file has no description of its layout.
    #[error("a raw file needs its size and the type of its voxels (--size NX,NY,NZ --type u16)")]
    NoLayout,
    /// The file has fewer or more bytes than its header or layout says.
    #[error("has {found} bytes of voxels, but {expected} are expected; check size and type")]
    Length {
        /// Number of bytes found; one more than expected stands for any larger number.
        found: u64,
        /// Number of bytes that size and type require.
        expected: u64,
    },
    /// An axis has no voxels, or the image has too many.
    #[error("the size {0:?} is not supported: 1 to {MAX_VOXELS} voxels are")]
    Size([u64; 3]),
    /// A label is not a whole number from 0 to 2³² − 1. The number is the position of the voxel.
    #[error(
        "voxel {0} has the value {1}, but labels are whole numbers from 0 to 4294967295; segment the image \
         first"
    )]
    Label(usize, String),
    /// A field of an NRRD header is missing or not supported.
    #[error("header field '{field}': {problem}")]
    Header {
        /// Name of the field.
        field: &'static str,
        /// Fault of its value, and what is supported.
        problem: String,
    },
    /// A file is not a valid TIFF file.
    #[error("not a readable TIFF image: {0}")]
    Tiff(String),
    /// A slice of a stack has more than one channel.
    #[error("slice {0} has colours; save the labels as one channel of whole numbers")]
    Colours(usize),
    /// A slice of a stack has another size than the first one.
    #[error("slice {0} has {1} × {2} voxels, the first one has {3} × {4}; all slices need the same size")]
    SliceSize(usize, u32, u32, u32, u32),
    /// A folder has no TIFF files.
    #[error("the folder has no .tif or .tiff files")]
    NoSlices,
    /// All voxels have the label 0.
    #[error("the image has no grains, because no label is above 0; label the grains with positive numbers")]
    NoGrains,
}
