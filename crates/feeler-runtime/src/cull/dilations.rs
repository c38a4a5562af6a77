//! Angles by which the polars of edges and vertices are dilated, by the types of the two features of a
//! pair.
//!
//! A step of a simulator dilates the polars of each kind of pair by a different angle (MATH §23). Pairs of
//! nodes are culled with the largest angle of the kinds below them, so that two faces, which are not
//! dilated, are culled as in a query of minima.

use feeler_hierarchy::FeatureType;

/// Angles by which the polars of edges and vertices are dilated in one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dilations {
    /// Angle (rad) by which polars are dilated, for each [`Kind`] of pair.
    angles: [f64; KINDS],
    /// Largest displacement (mm) of a footpoint along a curved face in the step, which rotates the
    /// normal by up to this length times the curvature; 0 for a query of minima.
    slide: f64,
}

/// Kind of a pair of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two faces.
    Faces = 0,
    /// An edge or a vertex and a plane, or a vertex and an edge or another vertex.
    Flat = 1,
    /// An edge or a vertex and a curved face.
    Curved = 2,
    /// Two edges.
    Edges = 3,
}

/// Number of kinds of pairs.
pub(crate) const KINDS: usize = 4;

/// Smallest dilation (rad) of an edge or a vertex paired with a face, for a step with motion. With a
/// larger value, more pairs are solved at rest; with a smaller one, the front of the traversal is
/// recomputed while a motion fades.
const MIN_DILATION: f64 = 2.5e-4;
/// Ratio of successive values to which dilations and slides are rounded up. With a larger value, more pairs
/// are solved; with a smaller one, the front is recomputed more often.
const GRID_RATIO: f64 = 4.0;
/// Ratio of a dilation to the required one above which the front is recomputed with smaller dilations. With
/// a larger value, more pairs are solved after fast steps; with a smaller one, the front is recomputed more
/// often.
const MAX_RATIO: f64 = 64.0;

/// Type bits of all edges.
const EDGES: u16 = FeatureType::StraightEdge.bit() | FeatureType::CurvedEdge.bit();
/// Type bit of vertices.
const VERTEX: u16 = FeatureType::Vertex.bit();
/// Type bit of planes.
const PLANE: u16 = FeatureType::Plane.bit();
/// Type bits of curved faces.
const CURVED: u16 = FeatureType::FACES & !PLANE;

impl Dilations {
    /// Dilations with one angle (rad) for all kinds of pairs, as in a query of minima.
    pub(crate) fn uniform(quasi_angle: f64) -> Self {
        Self { angles: [quasi_angle; KINDS], slide: 0.0 }
    }

    /// Dilations of a step that rotates B by at most `rotation` (rad) and displaces it by at most
    /// `displacement` (mm), against faces with absolute curvatures of at most `bend` (1/mm). `crossing`
    /// (rad) is the dilation for pairs of edges, and `largest` (rad) limits all dilations. The dilations
    /// `before`, of the previous step, are returned if they are sufficient and at most [`MAX_RATIO`]
    /// times too large.
    pub(crate) fn of_step(
        [rotation, displacement, bend]: [f64; 3],
        [crossing, largest]: [f64; 2],
        before: Option<Self>,
    ) -> Self {
        if rotation <= 0.0 && displacement <= 0.0 {
            return Self::uniform(0.0);
        }
        let flat = rotation.max(MIN_DILATION);
        let edges = if rotation > 0.0 { crossing } else { 0.0 };
        let needed = [0.0, flat, flat + turn(bend, displacement), edges].map(|angle: f64| angle.min(largest));
        let suffices = |old: f64, new: f64| old >= new && old <= MAX_RATIO * new;
        if let Some(before) = before
            && before.angles.iter().zip(&needed).all(|(old, new)| suffices(*old, *new))
            && suffices(before.slide, displacement)
        {
            return before;
        }
        let angles = needed.map(|angle| on_grid(angle, largest));
        Self { angles, slide: on_grid(displacement, f64::INFINITY) }
    }

    /// Dilation (rad) of an edge or a vertex paired with a curved face whose absolute curvatures are at
    /// most `bend` (1/mm).
    pub(crate) fn beside_face(&self, bend: f64) -> f64 {
        (self.angle(Kind::Flat) + turn(bend, self.slide)).min(self.angle(Kind::Curved))
    }

    /// Angle (rad) by which polars are dilated for a kind of pair.
    pub(crate) fn angle(&self, kind: Kind) -> f64 {
        self.angles[kind as usize]
    }

    /// Whether the polars are dilated for any kind of pair.
    pub(crate) fn any(&self) -> bool {
        self.angles.iter().any(|angle| *angle > 0.0)
    }

    /// All dilations (rad), in the order of [`Kind`].
    pub(crate) fn angles(&self) -> &[f64; KINDS] {
        &self.angles
    }

    /// Returns the one of two kinds of feature pairs whose polars are dilated by the larger angle; the first
    /// one if the angles are equal.
    pub(crate) fn larger(&self, first: Kind, second: Kind) -> Kind {
        if self.angle(second) > self.angle(first) { second } else { first }
    }

    /// Kind with the largest dilation among the pairs of a feature of A and a feature of B. `a` and `b`
    /// are the unions of their type bits ([`FeatureType::bit`]).
    pub(crate) fn largest_kind(&self, a: u16, b: u16) -> Kind {
        let has = |x: u16, y: u16| (a & x != 0 && b & y != 0) || (a & y != 0 && b & x != 0);
        let mut largest = Kind::Faces;
        for (kind, is_present) in [
            (Kind::Flat, has(VERTEX, VERTEX | EDGES) || has(VERTEX | EDGES, PLANE)),
            (Kind::Curved, has(VERTEX | EDGES, CURVED)),
            (Kind::Edges, has(EDGES, EDGES)),
        ] {
            if is_present && self.angle(kind) > self.angle(largest) {
                largest = kind;
            }
        }
        largest
    }
}

/// Largest rotation (rad) of the normal along a displacement `slide` (mm) on a face with curvatures of
/// at most `bend` (1/mm).
fn turn(bend: f64, slide: f64) -> f64 {
    if slide > 0.0 { bend * slide } else { 0.0 }
}

/// Smallest power of [`GRID_RATIO`] that is at least `x`, or `largest` if that is smaller. The result is 0 if
/// `x` is 0, and `largest` if `x` is infinite.
fn on_grid(x: f64, largest: f64) -> f64 {
    if x <= f64::MIN_POSITIVE || x >= f64::MAX {
        return x.min(largest);
    }
    let mut value = 1.0;
    while value < x {
        value *= GRID_RATIO;
    }
    while value / GRID_RATIO >= x {
        value /= GRID_RATIO;
    }
    value.min(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CROSSING: f64 = 0.2;
    const LARGEST: f64 = 0.25;

    fn of(rotation: f64, displacement: f64, bend: f64) -> Dilations {
        Dilations::of_step([rotation, displacement, bend], [CROSSING, LARGEST], None)
    }

    #[test]
    fn dilations_of_a_step_are_sufficient_and_at_most_four_times_larger() {
        for (rotation, displacement, bend) in
            [(1e-3, 0.02, 0.5), (3e-2, 0.0, 1.0), (1e-4, 1.0, 1e-3), (0.24, 0.0, 0.0), (1e-3, 0.1, 100.0)]
        {
            let dilations = of(rotation, displacement, bend);
            let needed = [0.0, rotation, rotation + bend * displacement, CROSSING];
            for (angle, needed) in dilations.angles().iter().zip(needed.map(|x: f64| x.min(LARGEST))) {
                assert!(*angle >= needed && *angle <= needed.max(MIN_DILATION) * 4.0, "{angle} {needed}");
            }
        }
    }

    #[test]
    fn a_step_without_motion_dilates_nothing_and_one_without_rotation_no_edges() {
        assert_eq!(of(0.0, 0.0, 1.0), Dilations::uniform(0.0));
        assert!(!of(0.0, 0.0, f64::INFINITY).any());
        let sliding = of(0.0, 0.01, 1.0);
        assert!(sliding.angle(Kind::Edges) <= 0.0 && sliding.angle(Kind::Curved) >= 0.01);
        // The curvature of a spline is unbounded.
        assert!(of(1e-3, 0.01, f64::INFINITY).angle(Kind::Curved) >= LARGEST);
        assert!(of(1e-3, 0.0, f64::INFINITY).angle(Kind::Curved) <= 4e-3);
    }

    #[test]
    fn sufficient_dilations_are_kept() {
        let next =
            |before, rotation| Dilations::of_step([rotation, 0.0, 0.0], [CROSSING, LARGEST], Some(before));
        let first = of(1e-2, 0.0, 0.0);
        assert_eq!(next(first, 1.1e-2), first);
        assert_eq!(next(first, 1e-3), first);
        assert_ne!(next(first, 5e-2), first);
        assert_ne!(next(of(0.2, 0.0, 0.0), 1e-3), of(0.2, 0.0, 0.0));
    }

    #[test]
    fn the_kind_is_that_with_the_largest_dilation() {
        let dilations = of(1e-3, 0.01, 1.0);
        let bit = |t: FeatureType| t.bit();
        use FeatureType as T;
        for (a, b, expected) in [
            (bit(T::Plane), bit(T::FreeForm), Kind::Faces),
            (bit(T::Plane), bit(T::Vertex), Kind::Flat),
            (bit(T::StraightEdge), bit(T::Plane), Kind::Flat),
            (bit(T::Vertex), bit(T::CurvedEdge), Kind::Flat),
            (bit(T::Vertex), bit(T::Vertex), Kind::Flat),
            (bit(T::ConcaveCylinder), bit(T::CurvedEdge), Kind::Curved),
            (bit(T::Plane) | bit(T::Vertex), bit(T::FreeForm), Kind::Curved),
            (bit(T::CurvedEdge), bit(T::StraightEdge), Kind::Edges),
            (FeatureType::FACES | bit(T::StraightEdge), FeatureType::FACES | bit(T::CurvedEdge), Kind::Edges),
        ] {
            assert_eq!(dilations.largest_kind(a, b), expected, "{a:b} {b:b}");
            assert_eq!(dilations.largest_kind(b, a), expected, "{b:b} {a:b}");
        }
    }
}
