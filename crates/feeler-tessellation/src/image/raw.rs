//! Raw files: voxels without a header.

use super::{ImageProblem, VoxelImage, labels, voxel_count, whole};
use feeler_geom::{P3, V3};
use std::io::Read;
use std::path::Path;

/// Type of the value of a voxel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the types in Rust")]
pub enum VoxelType {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl VoxelType {
    /// Returns the number of bytes of a value.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

impl std::str::FromStr for VoxelType {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Ok(match s {
            "u8" | "uchar" | "unsigned char" | "uint8" | "uint8_t" => Self::U8,
            "i8" | "signed char" | "int8" | "int8_t" => Self::I8,
            "u16" | "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => Self::U16,
            "i16" | "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => {
                Self::I16
            }
            "u32" | "uint" | "unsigned int" | "uint32" | "uint32_t" => Self::U32,
            "i32" | "int" | "signed int" | "int32" | "int32_t" => Self::I32,
            "u64" | "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => {
                Self::U64
            }
            "i64"
            | "longlong"
            | "long long"
            | "long long int"
            | "signed long long"
            | "signed long long int"
            | "int64"
            | "int64_t" => Self::I64,
            "f32" | "float" => Self::F32,
            "f64" | "double" => Self::F64,
            _ => return Err(format!("'{s}' is not a type of voxels; give u8, i8, … u64, i64, f32 or f64")),
        })
    }
}

/// Order of the bytes of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByteOrder {
    /// Lowest byte first.
    #[default]
    Little,
    /// Highest byte first.
    Big,
}

/// Description of a raw file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLayout {
    /// Number of voxels along each axis; the first axis runs fastest.
    pub size: [u64; 3],
    /// Type of each value.
    pub voxel_type: VoxelType,
    /// Order of the bytes of a value.
    pub order: ByteOrder,
}

pub(super) fn read(path: &Path, layout: &RawLayout) -> Result<VoxelImage, ImageProblem> {
    voxel_count(layout.size)?;
    let file = std::fs::File::open(path).map_err(ImageProblem::Read)?;
    let labels = read_labels(file, layout)?;
    let size = layout.size.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    Ok(VoxelImage { size, spacing: V3::repeat(1.0), origin: P3::origin(), labels })
}

/// Reads all voxels and checks that nothing follows them.
pub(super) fn read_labels(reader: impl Read, layout: &RawLayout) -> Result<Vec<u32>, ImageProblem> {
    let width = layout.voxel_type.bytes();
    let expected = voxel_count(layout.size)? as u64 * width as u64;
    // The buffer grows with the file, so a wrong size allocates nothing.
    let mut bytes = Vec::new();
    reader.take(expected + 1).read_to_end(&mut bytes).map_err(ImageProblem::Read)?;
    if bytes.len() as u64 != expected {
        return Err(ImageProblem::Length { found: bytes.len() as u64, expected });
    }
    if layout.order == ByteOrder::Big {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    macro_rules! values {
        ($t:ty, $n:literal, $convert:expr) => {
            labels(bytes.as_chunks::<$n>().0.iter().map(|c| <$t>::from_le_bytes(*c)), $convert)
        };
    }
    match layout.voxel_type {
        VoxelType::U8 => values!(u8, 1, |x| Some(x.into())),
        VoxelType::I8 => values!(i8, 1, |x| x.try_into().ok()),
        VoxelType::U16 => values!(u16, 2, |x| Some(x.into())),
        VoxelType::I16 => values!(i16, 2, |x| x.try_into().ok()),
        VoxelType::U32 => values!(u32, 4, Some),
        VoxelType::I32 => values!(i32, 4, |x| x.try_into().ok()),
        VoxelType::U64 => values!(u64, 8, |x| x.try_into().ok()),
        VoxelType::I64 => values!(i64, 8, |x| x.try_into().ok()),
        VoxelType::F32 => values!(f32, 4, |x| whole(x.into())),
        VoxelType::F64 => values!(f64, 8, whole),
    }
}
