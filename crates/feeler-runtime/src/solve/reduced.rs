//! Objective of a canonical feature, which is minimised over the parameters of the other feature of a pair.
//!
//! # Source
//! MATH §8: signed distance to the primitive, regular at d = 0.
//!
//! # Deviations
//! The distance from an edge or a vertex has a kink at 0. Against a free curve, and for a vertex against a
//! patch and a remote edge against a patch, half its square is minimised instead: its Hessian at distance 0
//! is that of the squared length of tangential steps, regular unless the curves are parallel. Other edges
//! against a patch are solved in [`super::edge_face`].

use feeler_geom::skeleton::{Bending, Primitive, signed_distance_gradient, signed_distance_within};
use feeler_geom::{P3, V3};

/// Objective of one primitive: the signed distance from it, or half the squared distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reduced {
    primitive: Primitive,
    /// Largest magnitude (mm) of the primitive's coordinates and radii, from [`Primitive::reach`].
    reach: f64,
    /// Whether the objective is half the squared distance (mm²) instead of the signed distance (mm).
    pub squared: bool,
}

/// Value and derivatives of a [`Reduced`] objective at a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Signed distance (mm) or half the squared distance (mm²).
    pub f: f64,
    /// Gradient of the objective in space.
    pub grad: V3,
    /// Second derivative of the objective in space.
    pub bending: Bending,
    /// Footpoint of the point on the primitive.
    pub foot: P3,
    /// Inverse (1/mm) of the approximate distance from the nearest point at which the objective has no
    /// derivatives. Over that distance, the derivatives can change by any amount.
    pub sharpness: f64,
}

impl Reduced {
    pub(crate) fn new(primitive: &Primitive) -> Self {
        let squared = match *primitive {
            Primitive::Plane { .. } => false,
            Primitive::Point { sigma, .. } | Primitive::Circle { sigma, .. } => is_thin(sigma),
            Primitive::Line { sigma, slope, .. } => is_thin(sigma) && is_thin(slope),
        };
        Self { primitive: *primitive, reach: primitive.reach(), squared }
    }

    /// Computes the value and the gradient of the objective at `p`, without the other data of
    /// [`Reduced::probe`]. `None` on the focal set of the primitive.
    pub(crate) fn slope(&self, p: &P3) -> Option<(f64, V3)> {
        if self.squared {
            let q = self.probe(p)?;
            return Some((q.f, q.grad));
        }
        signed_distance_gradient(&self.primitive, self.reach, p)
    }

    /// Evaluates the objective at `p`; `None` on the focal set of the primitive (the axis of a cylinder, for
    /// example), where the objective has no derivatives.
    pub(crate) fn probe(&self, p: &P3) -> Option<Probe> {
        self.probed(p)
    }

    /// Evaluates the objective at `p` like [`Reduced::probe`], for hot loops that use some of the
    /// results: it is inlined, so that the compiler drops the others.
    #[inline(always)]
    pub(super) fn probed(&self, p: &P3) -> Option<Probe> {
        if !self.squared {
            let s = signed_distance_within(&self.primitive, self.reach, p)?;
            let foot = p - s.gradient * s.value;
            let sharpness = s.bending.k.abs().max(s.bending.l.abs());
            return Some(Probe { f: s.value, grad: s.gradient, bending: s.bending, foot, sharpness });
        }
        // The second derivatives of half a squared distance are 1, except along the edge.
        let from = |foot: P3, t: V3, l: f64, sharpness: f64| {
            let grad = p - foot;
            let bending = Bending { n: V3::zeros(), t, k: 1.0, l };
            Some(Probe { f: 0.5 * grad.norm_squared(), grad, bending, foot, sharpness })
        };
        match self.primitive {
            Primitive::Point { center, .. } => from(center, V3::zeros(), 0.0, 0.0),
            Primitive::Line { origin, dir, .. } => from(origin + dir * dir.dot(&(p - origin)), dir, 0.0, 0.0),
            Primitive::Circle { frame, radius, .. } => {
                let q = frame.local(p);
                let radial = frame.vector(q.x, q.y, 0.0);
                let rho = radial.norm();
                if rho <= 1e-14 * radius {
                    return None;
                }
                let e = radial / rho;
                // ½((ρ − R)² + z²): the angular curvature is (1 − R/ρ).
                from(frame.origin + e * radius, frame.z.cross(&e), 1.0 - radius / rho, 1.0 / rho)
            }
            Primitive::Plane { .. } => None,
        }
    }
}

/// Whether `sigma`, the radius or the slope of a primitive, is exactly zero, as it is by construction
/// for primitives of edges and vertices.
fn is_thin(sigma: f64) -> bool {
    sigma == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::Frame;

    /// Gradient and Hessian of the squared forms against central differences.
    #[test]
    fn derivatives() {
        let frame = Frame::from_z(P3::new(0.3, -0.2, 0.1), V3::new(1.0, 2.0, -0.5), None).unwrap();
        for primitive in [
            Primitive::Point { center: P3::new(1.0, 2.0, 3.0), sigma: 0.0 },
            Primitive::Line { origin: P3::new(1.0, 0.0, 0.0), dir: frame.x, sigma: 0.0, slope: 0.0 },
            Primitive::Circle { frame, radius: 1.7, sigma: 0.0 },
        ] {
            let r = Reduced::new(&primitive);
            assert!(r.squared, "thin");
            let p = P3::new(0.7, -1.1, 0.4);
            let probe = r.probe(&p).unwrap();
            let h = 1e-5;
            for i in 0..3 {
                let mut e = V3::zeros();
                e[i] = h;
                let (u, v) = (r.probe(&(p + e)).unwrap(), r.probe(&(p - e)).unwrap());
                assert!(((u.f - v.f) / (2.0 * h) - probe.grad[i]).abs() < 1e-9, "gradient");
                assert!(
                    ((u.grad - v.grad) / (2.0 * h) - probe.bending.matrix().column(i)).norm() < 1e-8,
                    "Hessian"
                );
            }
        }
    }
}
