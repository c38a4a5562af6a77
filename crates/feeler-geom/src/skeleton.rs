//! Canonical features as families of oriented spheres: closed forms for their critical distances (MATH §3).
use crate::{Curve, Frame, P3, Surface, V3};
use arrayvec::ArrayVec;

/// A canonical feature as seen from outside the material: a plane, or an envelope of oriented spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    /// Plane through `origin` with outward unit `normal`.
    Plane {
        /// A point.
        origin: P3,
        /// Outward unit normal.
        normal: V3,
    },
    /// Sphere of signed radius `sigma` (vertex: 0).
    Point {
        /// Centre.
        center: P3,
        /// Signed radius: positive when the material is inside.
        sigma: f64,
    },
    /// Cylinder, cone or straight edge: spheres at `origin + t dir` with radius `sigma + slope t`. For a cone
    /// `origin` is the apex, `sigma` = 0 and `slope` = ± sin(half-angle).
    Line {
        /// Point of the axis.
        origin: P3,
        /// Unit direction.
        dir: V3,
        /// Signed radius at the origin.
        sigma: f64,
        /// Change of the signed radius per mm, in (-1, 1).
        slope: f64,
    },
    /// Torus or circular edge: spheres of signed radius `sigma` around the circle.
    Circle {
        /// Centre and axes of the circle.
        frame: Frame,
        /// Radius of the circle.
        radius: f64,
        /// Signed tube radius.
        sigma: f64,
    },
}

/// A critical pair of footpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Critical {
    /// Footpoint on A.
    pub p_a: P3,
    /// Footpoint on B.
    pub p_b: P3,
    /// Unit normal from A to B (A's outward normal, minus B's), defined at distance 0 too.
    pub n: V3,
    /// Signed distance `(p_b - p_a)·n`.
    pub distance: f64,
}

/// Dimension of a continuous family of critical pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// A curve of pairs (parallel cylinders, a cylinder on a plane, coaxial torus and cylinder …).
    One,
    /// A surface of pairs (coaxial cylinders, parallel planes …).
    Two,
}

/// All critical pairs of two primitives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criticals {
    /// Isolated pairs with distance in `[-tol, d_max]`.
    pub isolated: ArrayVec<Critical, 16>,
    /// Set when the pair has (within `tol`, a length over `extent`) a continuous family of critical pairs.
    pub family: Option<Family>,
}

impl Primitive {
    /// The primitive of a canonical surface with the given orientation; `None` for a Bézier grid.
    #[must_use]
    pub fn of_surface(surface: &Surface, outward: bool) -> Option<Self> {
        let _ = (surface, outward);
        todo!("helper: skeleton")
    }

    /// The primitive of a straight or circular curve; `None` for others.
    #[must_use]
    pub fn of_curve(curve: &Curve) -> Option<Self> {
        let _ = curve;
        todo!("helper: skeleton")
    }

    /// The primitive of a vertex.
    #[must_use]
    pub fn of_point(p: P3) -> Self {
        Self::Point { center: p, sigma: 0.0 }
    }
}

/// All critical pairs with signed distance in `[-tol, d_max]`. `extent` (mm) is the size of the features: near-
/// degenerate poses count as a [`Family`] when they deviate from an exact one by less than `tol` mm over `extent`;
/// isolated pairs are returned all the same where they exist.
#[must_use]
pub fn critical_pairs(a: &Primitive, b: &Primitive, d_max: f64, tol: f64, extent: f64) -> Criticals {
    let _ = (a, b, d_max, tol, extent);
    todo!("helper: skeleton")
}

/// Signed distance from a point to a primitive (positive outside the material), with gradient and Hessian by
/// the point: what iterative solvers minimise over the other side's parameters (MATH §8). The foot is the
/// nearest one of the sheet whose outward normal has the gradient's direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedDistance {
    /// Signed distance.
    pub value: f64,
    /// Unit gradient: the outward normal at the foot.
    pub gradient: V3,
    /// Hessian.
    pub hessian: nalgebra::Matrix3<f64>,
    /// Footpoint on the primitive.
    pub foot: P3,
}

/// [`SignedDistance`] of `p`; `None` on the skeleton's focal set (the axis, the centre), where it has no direction.
#[must_use]
pub fn signed_distance(primitive: &Primitive, p: &P3) -> Option<SignedDistance> {
    let _ = (primitive, p);
    todo!("helper: skeleton")
}
