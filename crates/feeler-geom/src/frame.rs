//! Right-handed orthonormal frames.

use crate::{P3, Pose, V3};

/// A right-handed orthonormal frame: `world = origin + a x + b y + c z`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    /// Origin.
    pub origin: P3,
    /// First unit axis.
    pub x: V3,
    /// Second unit axis, `z × x`.
    pub y: V3,
    /// Third unit axis.
    pub z: V3,
}

impl Frame {
    /// The world frame.
    #[must_use]
    pub fn identity() -> Self {
        Self { origin: P3::origin(), x: V3::x(), y: V3::y(), z: V3::z() }
    }

    /// Frame with the given `z` (normalised) and an `x` as close to `x_hint` as orthogonality allows. When the
    /// hint is missing or (nearly) parallel to `z`, ISO 10303-42's default is taken: the world X, or Y when the
    /// axis is along X. `None` if `z` has no direction or anything is not finite.
    #[must_use]
    pub fn from_z(origin: P3, z: V3, x_hint: Option<V3>) -> Option<Self> {
        let z = unit(z)?;
        if !origin.coords.iter().all(|c| c.is_finite()) {
            return None;
        }
        let project = |h: V3| {
            let h = unit(h)?;
            let p = h - z * h.dot(&z);
            // Twice: once leaves an error of eps / |p|.
            let p = unit(p).filter(|_| p.norm() > 1e-9)?;
            unit(p - z * p.dot(&z))
        };
        let x = x_hint
            .and_then(project)
            .or_else(|| project(V3::x()).filter(|_| z.x.abs() < 1.0 - 1e-9))
            .or_else(|| project(V3::y()))?;
        Some(Self { origin, x, y: z.cross(&x), z })
    }

    /// World point of local coordinates.
    #[must_use]
    pub fn point(&self, a: f64, b: f64, c: f64) -> P3 {
        self.origin + self.x * a + self.y * b + self.z * c
    }

    /// World vector of local components.
    #[must_use]
    pub fn vector(&self, a: f64, b: f64, c: f64) -> V3 {
        self.x * a + self.y * b + self.z * c
    }

    /// Local coordinates of a world point.
    #[must_use]
    pub fn local(&self, p: &P3) -> V3 {
        self.local_vector(&(p - self.origin))
    }

    /// Local components of a world vector.
    #[must_use]
    pub fn local_vector(&self, v: &V3) -> V3 {
        V3::new(v.dot(&self.x), v.dot(&self.y), v.dot(&self.z))
    }

    /// The frame moved by a pose.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { origin: pose * self.origin, x: pose * self.x, y: pose * self.y, z: pose * self.z }
    }
}

/// `v` normalised, `None` when it is zero or not finite.
#[must_use]
pub fn unit(v: V3) -> Option<V3> {
    let scale = v.amax();
    if !(scale.is_finite() && scale > 0.0) {
        return None;
    }
    let w = v / scale;
    Some(w / w.norm())
}

/// Two unit vectors that complete the unit vector `n` to a right-handed orthonormal basis `(e1, e2, n)`.
#[must_use]
pub fn complete_basis(n: &V3) -> (V3, V3) {
    // The axis least aligned with n keeps the cross product well conditioned.
    let a = n.abs();
    let h = if a.x <= a.y && a.x <= a.z {
        V3::x()
    } else if a.y <= a.z {
        V3::y()
    } else {
        V3::z()
    };
    let e1 = n.cross(&h).normalize();
    (e1, n.cross(&e1))
}
