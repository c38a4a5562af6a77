//! Domain and sites of a tessellation.

use feeler_geom::{P3, V3};

/// Box from the origin to `lengths`, in which cells are computed. Unit: any, often the edge of a voxel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Edge lengths, > 0.
    pub lengths: V3,
    /// Axes along which the cells repeat. The other axes end at walls.
    pub periodic: [bool; 3],
}

impl Domain {
    /// Returns the shortest one of the vectors that differ from `offset` by whole periods.
    #[must_use]
    pub fn nearest_offset(&self, offset: &V3) -> V3 {
        let mut out = *offset;
        for k in (0..3).filter(|k| self.periodic[*k]) {
            out[k] -= (offset[k] / self.lengths[k]).round() * self.lengths[k];
        }
        out
    }
}

/// Site of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// Position. It may be outside the domain; along periodic axes it is moved into the domain.
    pub position: P3,
    /// Weight, in squared units of length, subtracted from squared distances; any sign. A cell grows with its
    /// weight. Adding one number to all weights changes nothing.
    pub weight: f64,
}
