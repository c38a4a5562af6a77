//! Meshes of tetrahedra and hexahedra, and generators of boxes.

use crate::error::DeformableError;
use feeler_geom::{P3, V3};

/// Mesh of tetrahedra and hexahedra.
///
/// A face that belongs to one element only is part of the boundary. A quadrilateral face never matches
/// triangles, so the interface of tetrahedra and hexahedra in one mesh counts as boundary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the nodes (mm).
    pub nodes: Vec<P3>,
    /// Node indices of the tetrahedra; the first three nodes are counterclockwise seen from outside the
    /// fourth, so that the volume (b − a) × (c − a) · (d − a) is positive.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Node indices of the hexahedra in the order of gmsh: bottom face counterclockwise seen from the top,
    /// then the top face.
    pub hexahedra: Vec<[u32; 8]>,
}

/// Division of a cube into six tetrahedra around the diagonal from corner 0 to corner 6. Opposite faces have
/// matching diagonals, so that neighbouring cubes conform.
const CUBE_TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]];

impl Mesh {
    /// Box of hexahedra from `corner`, with edge lengths `size` (mm) and `divisions` along x, y and z.
    /// Node (i, j, k) has the index i + (nx + 1)(j + (ny + 1) k).
    ///
    /// # Errors
    /// A size is not finite and positive, a number of divisions is 0, or there are too many nodes.
    pub fn box_of_hexahedra(corner: P3, size: V3, divisions: [u32; 3]) -> Result<Self, DeformableError> {
        let cells = divisions.iter().try_fold(1_u64, |n, &d| n.checked_mul(u64::from(d) + 1));
        if cells.is_none_or(|n| n > u64::from(u32::MAX)) {
            return Err(DeformableError::TooLarge);
        }
        let valid = size.iter().all(|s| s.is_finite() && *s > 0.0) && divisions.iter().all(|&d| d > 0);
        if !valid || !corner.iter().all(|c| c.is_finite()) {
            return Err(DeformableError::Divisions);
        }
        let [nx, ny, nz] = divisions;
        let mut mesh = Self::default();
        for k in 0..=nz {
            for j in 0..=ny {
                for i in 0..=nx {
                    let share = V3::new(
                        f64::from(i) / f64::from(nx),
                        f64::from(j) / f64::from(ny),
                        f64::from(k) / f64::from(nz),
                    );
                    mesh.nodes.push(corner + size.component_mul(&share));
                }
            }
        }
        let (row, layer) = (nx + 1, (nx + 1) * (ny + 1));
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let n = i + row * j + layer * k;
                    let face = [n, n + 1, n + 1 + row, n + row];
                    let [a, b, c, d] = face;
                    mesh.hexahedra.push([a, b, c, d, a + layer, b + layer, c + layer, d + layer]);
                }
            }
        }
        Ok(mesh)
    }

    /// Box of tetrahedra, six for each cell of [`Mesh::box_of_hexahedra`], with the same nodes.
    ///
    /// # Errors
    /// A size is not finite and positive, a number of divisions is 0, or there are too many nodes.
    pub fn box_of_tetrahedra(corner: P3, size: V3, divisions: [u32; 3]) -> Result<Self, DeformableError> {
        let cells = Self::box_of_hexahedra(corner, size, divisions)?;
        let tetrahedra =
            cells.hexahedra.iter().flat_map(|h| CUBE_TETRAHEDRA.map(|t| t.map(|k| h[k]))).collect();
        Ok(Self { nodes: cells.nodes, tetrahedra, hexahedra: Vec::new() })
    }

    /// Checks that all coordinates are finite, all node indices exist, and all nodes belong to an element.
    pub(crate) fn check(&self) -> Result<(), DeformableError> {
        let count = self.nodes.len();
        if u32::try_from(count).is_err() {
            return Err(DeformableError::TooLarge);
        }
        if self.tetrahedra.is_empty() && self.hexahedra.is_empty() {
            return Err(DeformableError::Empty);
        }
        if let Some(node) = self.nodes.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
            return Err(DeformableError::NotFinite { node });
        }
        let mut used = vec![false; count];
        for &node in self.tetrahedra.iter().flatten().chain(self.hexahedra.iter().flatten()) {
            let node = node as usize;
            *used.get_mut(node).ok_or(DeformableError::UnknownNode { node, count })? = true;
        }
        used.iter().position(|u| !u).map_or(Ok(()), |node| Err(DeformableError::UnusedNode { node }))
    }
}
