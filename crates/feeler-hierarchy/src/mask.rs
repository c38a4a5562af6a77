//! Which types of features can meet in a minimum of the distance at all.
//!
//! # Source
//! BREP §2.2, Tables 2.1 and 2.2; MATH §4.
//!
//! # Derivation
//! At a critical pair at distance `d` with shape operators `S_a`, `S_b` against the outward normals, the
//! Hessian is positive definite if and only if `I + d S_a ≻ 0` and `M := S_b + S_a (I + d S_a)⁻¹ ≻ 0` (MATH
//! §2). The first makes `κ / (1 + d κ)` a curvature of the same sign as κ, in the same frame, so M is a sum
//! of two symmetric matrices whose eigenvalues have the signs of the two types, at any angle:
//!
//! | type | signs | | type | signs |
//! |---|---|---|---|---|
//! | plane P | 0, 0 | | concave cylinder, cone C− | −, 0 |
//! | convex cylinder, cone C+ | +, 0 | | concave sphere S− | −, − |
//! | convex sphere S+ | +, + | | concave torus T− | −, any |
//! | convex torus T+ | +, any | | | |
//!
//! A straight edge is C+, a curved edge T+ and a vertex S+ of radius → 0. A free form has any signs.
//!
//! **Strict** (M ≻ 0 for some choice). Impossible
//! - (i) when both have no positive curvature (P, C−, S− among themselves): M ⪯ 0;
//! - (ii) when one has a direction of curvature 0 along which the other one, at any angle, has no positive
//!   curvature: P × C+ (along the axis), C+ × C−, C+ × S−: `xᵀMx ≤ 0` there;
//! - (iii) T− against P, C−, S−: `xᵀMx < 0` along the tube's own section.
//!
//! All others are possible: C+ × C+, C+ × T− and T− × T− crossed (`diag(−1, 2) + diag(2, −1) ≻ 0`; Table 2.2
//! clears the last one wrongly), S+ and T+ by being small enough against anything.
//!
//! **Conformal** (M ⪰ 0 and singular for some choice: a minimum that is not strict; a singular `I + d S` is
//! no minimum between faces since the coupling −I is regular). The values of the smallest eigenvalue over all
//! choices form an interval, so it misses 0 only
//! - (iv) when M ⪰ 0 is impossible: S− against P, C±, S−, T−; C− against P, C−, T−; P × T−: one direction has
//!   a negative curvature on one side and none positive on the other (for C+ × S− its axis);
//! - (v) when a minimum is always strict: S+ against P, C+, S+: `M ⪰ S+ ≻ 0`.
//!
//! For edges and vertices the conclusions are the same (checked with their own Hessians in the tests): a
//! vertex or a straight edge at the centre of a sphere, on a cylinder's axis and so on included.

use feeler_geom::{Curve, Surface};

/// Type of a feature; its value is the number of its bit in node unions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum FeatureType {
    /// Plane.
    Plane,
    /// Cylinder with the material inside.
    ConvexCylinder,
    /// Bore.
    ConcaveCylinder,
    /// Cone with the material inside.
    ConvexCone,
    /// Conical hole.
    ConcaveCone,
    /// Ball.
    ConvexSphere,
    /// Spherical cavity.
    ConcaveSphere,
    /// Torus with the material inside the tube (both sheets of a spindle torus with the material on the
    /// tube's side).
    ConvexTorus,
    /// Torus with the material outside the tube.
    ConcaveTorus,
    /// Straight edge.
    StraightEdge,
    /// Any other edge.
    CurvedEdge,
    /// Vertex.
    Vertex,
    /// Any other surface.
    FreeForm,
}

use FeatureType as T;

/// Number of types.
const N: usize = 13;

/// Union of several types.
const fn union(types: &[T]) -> u16 {
    let mut bits = 0;
    let mut i = 0;
    while i < types.len() {
        bits |= types[i].bit();
        i += 1;
    }
    bits
}

const ALL: u16 = (1 << N) - 1;
const CONVEX_RULED: u16 = union(&[T::ConvexCylinder, T::ConvexCone, T::StraightEdge]);
const CONCAVE_RULED: u16 = union(&[T::ConcaveCylinder, T::ConcaveCone]);
const ROUND: u16 = union(&[T::ConvexSphere, T::Vertex]);
const PLANE: u16 = T::Plane.bit();
const CAVITY: u16 = T::ConcaveSphere.bit();
const GROOVE: u16 = T::ConcaveTorus.bit();

impl FeatureType {
    /// All types in the order of their bits.
    pub const ALL: [Self; N] = [
        T::Plane,
        T::ConvexCylinder,
        T::ConcaveCylinder,
        T::ConvexCone,
        T::ConcaveCone,
        T::ConvexSphere,
        T::ConcaveSphere,
        T::ConvexTorus,
        T::ConcaveTorus,
        T::StraightEdge,
        T::CurvedEdge,
        T::Vertex,
        T::FreeForm,
    ];

    /// The bits of all faces.
    pub const FACES: u16 = ALL & !union(&[T::StraightEdge, T::CurvedEdge, T::Vertex]);

    /// The bit of this type.
    #[must_use]
    pub const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// The type of a face; `outward`: the outward normal is the natural one, which on the inner sheet of a
    /// spindle torus ([`on_inner_sheet`](feeler_geom::trim::on_inner_sheet)) points into the tube.
    #[must_use]
    pub fn of_surface(surface: &Surface, outward: bool, on_inner_sheet: bool) -> Self {
        let choose = |convex, concave| if outward { convex } else { concave };
        match *surface {
            Surface::Plane { .. } => T::Plane,
            Surface::Cylinder { .. } => choose(T::ConvexCylinder, T::ConcaveCylinder),
            Surface::Cone { .. } => choose(T::ConvexCone, T::ConcaveCone),
            Surface::Sphere { .. } => choose(T::ConvexSphere, T::ConcaveSphere),
            Surface::Torus { .. } if outward == on_inner_sheet => T::ConcaveTorus,
            Surface::Torus { .. } => T::ConvexTorus,
            Surface::Bezier(_) => T::FreeForm,
        }
    }

    /// The type of an edge.
    #[must_use]
    pub fn of_curve(curve: &Curve) -> Self {
        match curve {
            Curve::Line { .. } => T::StraightEdge,
            _ => T::CurvedEdge,
        }
    }

    /// Types that can meet this one in a strict minimum. The numbers refer to the module's derivation.
    #[must_use]
    pub const fn strict_mask(self) -> u16 {
        let cleared = match self {
            // (i), (ii), (iii).
            T::Plane => PLANE | CONVEX_RULED | CONCAVE_RULED | CAVITY | GROOVE,
            // (ii).
            T::ConvexCylinder | T::ConvexCone | T::StraightEdge => PLANE | CONCAVE_RULED | CAVITY,
            // (i), (ii), (iii).
            T::ConcaveCylinder | T::ConcaveCone | T::ConcaveSphere => {
                PLANE | CONVEX_RULED | CONCAVE_RULED | CAVITY | GROOVE
            }
            // (iii).
            T::ConcaveTorus => PLANE | CONCAVE_RULED | CAVITY,
            T::ConvexSphere | T::Vertex | T::ConvexTorus | T::CurvedEdge | T::FreeForm => 0,
        };
        ALL & !cleared
    }

    /// Types that can meet this one in a minimum that is not strict. The numbers refer to the module's
    /// derivation.
    #[must_use]
    pub const fn conformal_mask(self) -> u16 {
        let cleared = match self {
            // (iv) and (v).
            T::Plane => CONCAVE_RULED | CAVITY | GROOVE | ROUND,
            T::ConvexCylinder | T::ConvexCone | T::StraightEdge => CAVITY | ROUND,
            // (iv).
            T::ConcaveCylinder | T::ConcaveCone => PLANE | CONCAVE_RULED | CAVITY | GROOVE,
            T::ConcaveSphere => PLANE | CONVEX_RULED | CONCAVE_RULED | CAVITY | GROOVE,
            T::ConcaveTorus => PLANE | CONCAVE_RULED | CAVITY,
            // (v).
            T::ConvexSphere | T::Vertex => PLANE | CONVEX_RULED | ROUND,
            T::ConvexTorus | T::CurvedEdge | T::FreeForm => 0,
        };
        ALL & !cleared
    }
}

/// The masks of all types, to be indexed by bit number.
const STRICT: [u16; 16] = {
    let mut table = [ALL; 16];
    let mut i = 0;
    while i < N {
        table[i] = T::ALL[i].strict_mask();
        i += 1;
    }
    table
};

const CONFORMAL: [u16; 16] = {
    let mut table = [ALL; 16];
    let mut i = 0;
    while i < N {
        table[i] = T::ALL[i].conformal_mask();
        i += 1;
    }
    table
};

/// Whether some type of one union can meet some type of the other.
fn meets(table: &[u16; 16], a: u16, b: u16) -> bool {
    let mut rest = a;
    while rest != 0 {
        if table[rest.trailing_zeros() as usize] & b != 0 {
            return true;
        }
        rest &= rest - 1;
    }
    false
}

/// Whether features with these types (unions of [`FeatureType::bit`]) can have a strict minimum of their
/// distance. Unknown bits are compatible with everything.
#[must_use]
pub fn strict_compatible(types_a: u16, types_b: u16) -> bool {
    meets(&STRICT, types_a, types_b) || unknown(types_a, types_b)
}

/// Whether features with these types can have a minimum that is not strict (conformal). A pair of features
/// may be culled only when this and [`strict_compatible`] both say no.
#[must_use]
pub fn conformal_compatible(types_a: u16, types_b: u16) -> bool {
    meets(&CONFORMAL, types_a, types_b) || unknown(types_a, types_b)
}

fn unknown(a: u16, b: u16) -> bool {
    ((a | b) & !ALL) != 0 && a != 0 && b != 0
}

#[cfg(test)]
mod tests;
