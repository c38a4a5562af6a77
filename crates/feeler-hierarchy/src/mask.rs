//! Masks of the feature types between which a minimum of the distance can exist.
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
//! Straight edges are C+, curved edges T+ and vertices S+, each of radius → 0. A free form can have any
//! signs.
//!
//! **Strict** (M ≻ 0 for some choice). This is impossible
//! - (i) if neither type has a positive curvature (P, C−, S− among themselves): M ⪯ 0;
//! - (ii) if one type has a direction of curvature 0 along which the other one, at any angle, has no
//!   positive curvature: P × C+ (along the axis), C+ × C−, C+ × S−: `xᵀMx ≤ 0` there;
//! - (iii) for T− with P, C−, S−: `xᵀMx < 0` along the section of the tube.
//!
//! All other pairs are possible: C+ × C+, C+ × T− and T− × T− crossed (`diag(−1, 2) + diag(2, −1) ≻ 0`;
//! Table 2.2 clears the last pair wrongly), and S+ and T+ with any type if they are small enough.
//!
//! **Conformal** (M ⪰ 0 and singular for some choice: a minimum that is not strict; a singular `I + d S`
//! gives no minimum between faces, since the coupling −I is regular). The values of the smallest
//! eigenvalue over all choices form an interval, so it misses 0 only
//! - (iv) if M ⪰ 0 is impossible: S− with P, C±, S−, T−; C− with P, C−, T−; P × T−: in one direction, one
//!   type has a negative curvature and the other no positive one (for C+ × S− the axis);
//! - (v) if a minimum is always strict: S+ with P, C+, S+: `M ⪰ S+ ≻ 0`.
//!
//! The conclusions hold for edges and vertices, too (the tests check them with their own Hessians),
//! including a vertex or a straight edge at the centre of a sphere or on the axis of a cylinder.

use feeler_geom::{Curve, Surface};

/// Type of a feature for the masks; its value is the index of the type's bit in unions of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum FeatureType {
    /// Plane.
    Plane,
    /// Cylinder with the material inside.
    ConvexCylinder,
    /// Cylinder with the material outside (a bore).
    ConcaveCylinder,
    /// Cone with the material inside.
    ConvexCone,
    /// Cone with the material outside (a conical hole).
    ConcaveCone,
    /// Sphere with the material inside.
    ConvexSphere,
    /// Sphere with the material outside (a cavity).
    ConcaveSphere,
    /// Torus with the material inside the tube. Each sheet of a spindle torus is of this type if the
    /// material is on the tube's side.
    ConvexTorus,
    /// Torus with the material outside the tube.
    ConcaveTorus,
    /// Straight edge.
    StraightEdge,
    /// Any edge that is not straight.
    CurvedEdge,
    /// Vertex.
    Vertex,
    /// Any surface that is not canonical.
    FreeForm,
}

use FeatureType as T;

/// Number of feature types.
const NUM_TYPES: usize = 13;

/// Returns the union of the bits of several types.
const fn union(types: &[T]) -> u16 {
    let mut bits = 0;
    let mut i = 0;
    while i < types.len() {
        bits |= types[i].bit();
        i += 1;
    }
    bits
}

/// Union of the bits of all types.
const ALL: u16 = (1 << NUM_TYPES) - 1;
/// Types that are convex in one direction and straight in the other (cylinders, cones, straight edges).
const CONVEX_RULED: u16 = union(&[T::ConvexCylinder, T::ConvexCone, T::StraightEdge]);
/// Types that are concave in one direction and straight in the other (bores and conical holes).
const CONCAVE_RULED: u16 = union(&[T::ConcaveCylinder, T::ConcaveCone]);
/// Types with positive curvature in every direction (convex spheres, vertices).
const ROUND: u16 = union(&[T::ConvexSphere, T::Vertex]);
/// Bit of planes.
const PLANE: u16 = T::Plane.bit();
/// Bit of concave spheres.
const CAVITY: u16 = T::ConcaveSphere.bit();
/// Bit of concave tori.
const GROOVE: u16 = T::ConcaveTorus.bit();

impl FeatureType {
    /// All types in the order of their bits.
    pub const ALL: [Self; NUM_TYPES] = [
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

    /// Union of the bits of all types of faces.
    pub const FACES: u16 = ALL & !union(&[T::StraightEdge, T::CurvedEdge, T::Vertex]);

    /// Returns the bit of this type.
    #[must_use]
    pub const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Returns the type of a face. `outward` is whether the outward normal is the natural normal `∂u ×
    /// ∂v`; `on_inner_sheet` is whether the face lies on the inner sheet of a spindle torus, where the
    /// natural normal points into the tube ([`on_inner_sheet`](feeler_geom::trim::on_inner_sheet)).
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

    /// Returns the type of an edge.
    #[must_use]
    pub fn of_curve(curve: &Curve) -> Self {
        match curve {
            Curve::Line { .. } => T::StraightEdge,
            _ => T::CurvedEdge,
        }
    }

    /// Returns the union of the bits of the types with which this type can have a strict minimum. The
    /// numbers in the code, such as (iv), refer to the derivation in the module's documentation.
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

    /// Returns the union of the bits of the types with which this type can have a minimum that is not
    /// strict. The numbers in the code, such as (iv), refer to the derivation in the module's
    /// documentation.
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

/// [`FeatureType::strict_mask`] of each type, indexed by the type's bit; entries of unknown bits allow
/// all types.
const STRICT_MASKS: [u16; 16] = {
    let mut table = [ALL; 16];
    let mut i = 0;
    while i < NUM_TYPES {
        table[i] = T::ALL[i].strict_mask();
        i += 1;
    }
    table
};

/// [`FeatureType::conformal_mask`] of each type, indexed by the type's bit; entries of unknown bits
/// allow all types.
const CONFORMAL_MASKS: [u16; 16] = {
    let mut table = [ALL; 16];
    let mut i = 0;
    while i < NUM_TYPES {
        table[i] = T::ALL[i].conformal_mask();
        i += 1;
    }
    table
};

/// Returns whether `table`, which contains the mask of each type, allows any of the types in the union
/// `a` with any of those in the union `b`.
fn any_allowed(table: &[u16; 16], a: u16, b: u16) -> bool {
    let mut rest = a;
    while rest != 0 {
        if table[rest.trailing_zeros() as usize] & b != 0 {
            return true;
        }
        rest &= rest - 1;
    }
    false
}

/// Returns whether features with these types (unions of [`FeatureType::bit`]) can have a strict minimum
/// of their distance. Unknown bits are compatible with everything.
#[must_use]
pub fn strict_compatible(types_a: u16, types_b: u16) -> bool {
    any_allowed(&STRICT_MASKS, types_a, types_b) || has_unknown_bits(types_a, types_b)
}

/// Returns whether features with these types (unions of [`FeatureType::bit`]) can have a minimum of
/// their distance that is not strict (conformal). Unknown bits are compatible with everything. A pair of
/// features may be culled only if both this function and [`strict_compatible`] return `false`.
#[must_use]
pub fn conformal_compatible(types_a: u16, types_b: u16) -> bool {
    any_allowed(&CONFORMAL_MASKS, types_a, types_b) || has_unknown_bits(types_a, types_b)
}

fn has_unknown_bits(a: u16, b: u16) -> bool {
    ((a | b) & !ALL) != 0 && a != 0 && b != 0
}

#[cfg(test)]
mod tests;
