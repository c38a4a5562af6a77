//! Volume, centroid and inertia of grains of density 1.
//!
//! # Source
//! POLY §3.5.3, Eqs. (3.32) to (3.34).
//! # Deviations
//! All integrals are computed by one formula, of which POLY's closed forms are special cases. Products
//! of inertia are kept: POLY calls them small, but over its range of random shapes they are up to 38 %
//! of the moments.
//! # Guarantees
//! Poly-superellipsoids are exact up to rounding (1e-14 relative). Polyhedra are exact up to the
//! rounding of their coordinates relative to their centroid.

mod beta;
mod octants;
mod polyhedron;

pub use octants::poly_superellipsoid;
pub use polyhedron::{hull, polyhedron};

use feeler_geom::{P3, Pose, V3};
use feeler_hierarchy::SolidInfo;
use nalgebra::{Matrix3, Rotation3, Translation3, UnitQuaternion};

/// Mass properties of a body of density 1. The volume and the tensor, multiplied by a density (kg/mm³),
/// are the mass (kg) and the inertia (kg·mm²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume (mm³).
    pub volume: f64,
    /// Centre of mass (mm), in the body's own coordinates.
    pub centroid: P3,
    /// Inertia tensor (mm⁵) about the centroid, in the body's own axes: moments of inertia on the diagonal,
    /// negative products of inertia (−∫xy, −∫xz, −∫yz) off the diagonal.
    pub tensor: Matrix3<f64>,
}

impl MassProperties {
    /// Computes mass properties from the integrals ∫1 (`volume`), ∫x (`first`) and ∫x xᵀ (`second`) over
    /// the body, relative to the origin of coordinates.
    fn of_integrals(volume: f64, first: V3, second: &Matrix3<f64>) -> Self {
        let c = first / volume;
        let central = second - c * c.transpose() * volume;
        Self { volume, centroid: c.into(), tensor: Matrix3::from_diagonal_element(central.trace()) - central }
    }

    /// Mass properties of a prepared solid; `None` for an open surface.
    #[must_use]
    pub fn of_solid(info: &SolidInfo) -> Option<Self> {
        let inertia = info.inertia.as_ref()?;
        let tensor = Matrix3::from_fn(|r, c| inertia.tensor[r][c]);
        Some(Self { volume: info.volume, centroid: inertia.centroid.into(), tensor })
    }

    /// Returns the mass properties of the body moved by a pose, in the coordinates that the pose maps
    /// to.
    #[must_use]
    pub fn placed(&self, pose: &Pose) -> Self {
        let r = pose.rotation.to_rotation_matrix();
        let tensor = r * self.tensor * r.transpose();
        // The tensor is symmetric to the bit.
        let tensor = (tensor + tensor.transpose()) * 0.5;
        Self { volume: self.volume, centroid: pose * self.centroid, tensor }
    }

    /// Principal moments of inertia (mm⁵), ascending, and the pose of their axes: from the principal
    /// frame at the centroid to the body's own coordinates. The largest coordinate of each of the first
    /// two axes is positive, and the third axis makes the frame right-handed. The axes of equal moments
    /// are arbitrary.
    #[must_use]
    pub fn principal(&self) -> (V3, Pose) {
        let t = &self.tensor;
        let largest = t.amax();
        let is_diagonal = [(0, 1), (0, 2), (1, 2)].iter().all(|k| t[*k].abs() <= f64::EPSILON * largest);
        let (values, vectors) = if is_diagonal {
            (t.diagonal(), Matrix3::identity())
        } else {
            let eigen = t.symmetric_eigen();
            (eigen.eigenvalues, eigen.eigenvectors)
        };
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        let axis = |k: usize| {
            let v: V3 = vectors.column(order[k]).into_owned();
            if v[v.iamax()] < 0.0 { -v } else { v }
        };
        let (x, y) = (axis(0), axis(1));
        let rotation = Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[x, y, x.cross(&y)]));
        let pose = Pose::from_parts(
            Translation3::from(self.centroid.coords),
            UnitQuaternion::from_rotation_matrix(&rotation),
        );
        (V3::from_fn(|i, _| values[order[i]]), pose)
    }
}

#[cfg(test)]
mod tests;
