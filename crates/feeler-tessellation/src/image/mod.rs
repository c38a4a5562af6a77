//! Labelled voxel images: each voxel has the number of its grain.
//!
//! # Source
//! DIST §6.3.1, Eq. (6.3).

mod error;
mod grains;
mod nrrd;
mod raw;
mod synthetic;
mod tiff;

pub use error::{ImageError, ImageProblem};
pub use grains::{Grains, InterfacePoint};
pub use raw::{ByteOrder, RawLayout, VoxelType};

use feeler_geom::{P3, V3};
use std::path::Path;

/// Maximum number of voxels of an image. A larger value accepts images that do not fit in the memory of usual
/// machines; a smaller one rejects scans.
pub const MAX_VOXELS: u64 = 1 << 32;

/// Image of voxels with labels. Voxels are stored with the first index running fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct VoxelImage {
    /// Number of voxels along each axis.
    pub size: [usize; 3],
    /// Edge lengths of a voxel.
    pub spacing: V3,
    /// Lower corner of the first voxel.
    pub origin: P3,
    /// Label of each voxel; 0 marks voxels that belong to no grain.
    pub labels: Vec<u32>,
}

impl VoxelImage {
    /// Reads an image. The name selects the format: `.nrrd` or `.nhdr`, `.tif` or `.tiff` (one file with all
    /// slices), a folder of TIFF files (one for each slice, in the order of their names), or `.raw`, for
    /// which `layout` is needed.
    ///
    /// # Errors
    /// The file cannot be read, is truncated, or has a format or values that are not supported.
    pub fn load(path: &Path, layout: Option<&RawLayout>) -> Result<Self, ImageError> {
        let extension = path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
        let result = if path.is_dir() {
            tiff::read_folder(path)
        } else {
            match extension.as_str() {
                "nrrd" | "nhdr" => nrrd::read(path),
                "tif" | "tiff" => tiff::read_file(path),
                "raw" | "bin" => layout.ok_or(ImageProblem::NoLayout).and_then(|l| raw::read(path, l)),
                _ => Err(ImageProblem::UnknownFormat),
            }
        };
        result.map_err(|problem| ImageError { path: path.to_owned(), problem })
    }

    /// Writes the image as NRRD with 32-bit labels, compressed by gzip.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save_nrrd(&self, path: &Path) -> Result<(), ImageError> {
        nrrd::write(self, path).map_err(|problem| ImageError { path: path.to_owned(), problem })
    }

    /// Returns the lengths of the image: the number of voxels times their edge lengths.
    #[must_use]
    pub fn lengths(&self) -> V3 {
        self.spacing.component_mul(&V3::from(self.size.map(as_float)))
    }

    /// Returns the centre of a voxel relative to the lower corner of the image.
    #[must_use]
    pub fn center(&self, voxel: [usize; 3]) -> P3 {
        P3::from(self.spacing.component_mul(&V3::from(voxel.map(|k| as_float(k) + 0.5))))
    }

    /// Returns the index of a voxel's label.
    #[must_use]
    pub const fn position(&self, voxel: [usize; 3]) -> usize {
        (voxel[2] * self.size[1] + voxel[1]) * self.size[0] + voxel[0]
    }

    /// Returns the voxel whose label has an index.
    #[must_use]
    pub const fn voxel(&self, position: usize) -> [usize; 3] {
        let [x, y, _] = self.size;
        [position % x, position / x % y, position / (x * y)]
    }

    /// Returns the position of the label of the next voxel along an axis: beyond the last one, the first one
    /// if the axis is periodic, otherwise `None`.
    #[must_use]
    pub fn next(&self, position: usize, axis: usize, periodic: bool) -> Option<usize> {
        let stride = [1, self.size[0], self.size[0] * self.size[1]][axis];
        if self.voxel(position)[axis] + 1 < self.size[axis] {
            Some(position + stride)
        } else {
            periodic.then(|| position - stride * (self.size[axis] - 1))
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of voxels are below 2⁵³")]
pub(crate) const fn as_float(n: usize) -> f64 {
    n as f64
}

/// Returns the number of voxels of an image, if it is supported.
fn voxel_count(size: [u64; 3]) -> Result<usize, ImageProblem> {
    let count = size[0].checked_mul(size[1]).and_then(|n| n.checked_mul(size[2]));
    match count.filter(|n| (1..=MAX_VOXELS).contains(n)).map(usize::try_from) {
        Some(Ok(n)) => Ok(n),
        _ => Err(ImageProblem::Size(size)),
    }
}

/// Converts the values of voxels to labels.
fn labels<T: Copy + std::fmt::Display>(
    values: impl Iterator<Item = T>,
    convert: impl Fn(T) -> Option<u32>,
) -> Result<Vec<u32>, ImageProblem> {
    let numbered = values.enumerate();
    numbered.map(|(k, v)| convert(v).ok_or_else(|| ImageProblem::Label(k, v.to_string()))).collect()
}

/// Returns a whole number as a label, or `None` if it is not one.
fn whole(x: f64) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked in the condition")]
    (x.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&x)).then_some(x as u32)
}
