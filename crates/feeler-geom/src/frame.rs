//! Right-handed orthonormal frames.

use crate::{P3, Pose, V3};

/// A right-handed orthonormal frame. The point with local coordinates (a, b, c) is `origin + a x + b y +
/// c z`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    /// Origin of the frame (mm).
    pub origin: P3,
    /// First unit axis of the frame.
    pub x: V3,
    /// Second unit axis of the frame, `z × x`.
    pub y: V3,
    /// Third unit axis of the frame.
    pub z: V3,
}

impl Frame {
    /// The frame at the origin with the coordinate axes.
    #[must_use]
    pub fn identity() -> Self {
        Self { origin: P3::origin(), x: V3::x(), y: V3::y(), z: V3::z() }
    }

    /// Creates a frame with the given `z`, which is normalised, and the `x` closest to `x_hint` that is
    /// orthogonal to it. If the hint is missing or nearly parallel to `z`, the default of ISO 10303-42
    /// replaces it: the X axis, or the Y axis if `z` is along X. Returns `None` if `z` is zero or a
    /// number is not finite.
    #[must_use]
    pub fn from_z(origin: P3, z: V3, x_hint: Option<V3>) -> Option<Self> {
        let z = unit(z)?;
        if !origin.coords.iter().all(|c| c.is_finite()) {
            return None;
        }
        let project = |h: V3| {
            let h = unit(h)?;
            let p = h - z * h.dot(&z);
            // Projected twice, because one projection leaves an error of eps / |p|.
            let p = unit(p).filter(|_| p.norm() > 1e-9)?;
            unit(p - z * p.dot(&z))
        };
        let x = x_hint
            .and_then(project)
            .or_else(|| project(V3::x()).filter(|_| z.x.abs() < 1.0 - 1e-9))
            .or_else(|| project(V3::y()))?;
        Some(Self { origin, x, y: z.cross(&x), z })
    }

    /// Point with the local coordinates (a, b, c), in the coordinates in which the frame is given.
    #[must_use]
    pub fn point(&self, a: f64, b: f64, c: f64) -> P3 {
        self.origin + self.x * a + self.y * b + self.z * c
    }

    /// Vector with the local components (a, b, c), in the coordinates in which the frame is given.
    #[must_use]
    pub fn vector(&self, a: f64, b: f64, c: f64) -> V3 {
        self.x * a + self.y * b + self.z * c
    }

    /// Local coordinates of a point `p`, which is given in the same coordinates as the frame.
    #[must_use]
    pub fn local(&self, p: &P3) -> V3 {
        self.local_vector(&(p - self.origin))
    }

    /// Local components of a vector `v`, which is given in the same coordinates as the frame.
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

/// Normalises `v`. Returns `None` if it is zero or not finite.
#[must_use]
pub fn unit(v: V3) -> Option<V3> {
    let scale = v.amax();
    if !(scale.is_finite() && scale > 0.0) {
        return None;
    }
    let w = v / scale;
    Some(w / w.norm())
}

/// Returns two unit vectors `(e1, e2)` that complete the unit vector `n` to a right-handed orthonormal
/// basis `(e1, e2, n)`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{point, rng, unit as random_unit};

    fn is_frame(f: &Frame) {
        let m = nalgebra::Matrix3::from_columns(&[f.x, f.y, f.z]);
        assert!((m.transpose() * m - nalgebra::Matrix3::identity()).amax() < 1e-15, "orthonormal {f:?}");
        assert!(m.determinant() > 0.0, "right-handed {f:?}");
    }

    #[test]
    fn frames_are_orthonormal() {
        let mut r = rng(51);
        for _ in 0..1000 {
            let (z, h) = (random_unit(&mut r) * 1e-3, random_unit(&mut r));
            let f = Frame::from_z(point(&mut r, 9.0), z, Some(h)).unwrap();
            is_frame(&f);
            assert!((f.z - z.normalize()).norm() < 1e-15, "z is kept");
            assert!(f.x.dot(&h) >= 0.0 && f.y.dot(&h).abs() < 1e-15, "x is on the side of the hint");
            // A hint nearly along z.
            is_frame(&Frame::from_z(P3::origin(), z, Some(z.normalize() + h * 1e-7)).unwrap());
            let p = point(&mut r, 9.0);
            let l = f.local(&p);
            assert!((f.point(l.x, l.y, l.z) - p).norm() < 1e-13, "there and back");
            let n = z.normalize();
            let (e1, e2) = complete_basis(&n);
            is_frame(&Frame { origin: p, x: e1, y: e2, z: n });
        }
    }

    #[test]
    fn omitted_directions_follow_the_standard() {
        let f = |z, h| Frame::from_z(P3::origin(), z, h).unwrap().x;
        assert_eq!(f(V3::z(), None), V3::x(), "the world X");
        assert_eq!(f(V3::x(), None), V3::y(), "Y for an axis along X");
        assert_eq!(f(-V3::x(), None), V3::y(), "Y for an axis along −X");
        assert_eq!(f(V3::z(), Some(V3::z())), V3::x(), "a hint along z is ignored");
        assert_eq!(Frame::from_z(P3::origin(), V3::zeros(), None), None, "no axis");
        assert_eq!(Frame::from_z(P3::origin(), V3::z() * f64::NAN, None), None, "not finite");
    }
}
