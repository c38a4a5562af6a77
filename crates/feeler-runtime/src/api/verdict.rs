//! Verdicts: the relation of two posed solids, and what they have in common. Lengths in mm, points in world
//! coordinates.

use crate::api::contact::FeatureRef;
use feeler_geom::P3;

/// Relation of two posed solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The solids are farther apart than the tolerance of the query,
    /// [`Tolerances::tol`](crate::Tolerances::tol).
    Separated,
    /// The distance between the solids is at most the tolerance of the query, and their interiors have
    /// no common point that is deeper than the tolerance in both.
    Touching,
    /// The interiors intersect, which a [`Witness`] proves. The minima of such a query may be incomplete.
    Interfering,
    /// The work limit of a query was reached before interference was found or excluded everywhere.
    /// [`Verdict::undecided`] lists the points in question.
    Undecided,
}

/// A point that proves that the interiors of both solids intersect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness {
    /// Point inside both solids (mm, world coordinates).
    pub point: P3,
    /// Lower bound (mm) of the distance from the point to the boundary of A; 0 if A is a sheet, which
    /// contains the point.
    pub inside_a: f64,
    /// Lower bound (mm) of the distance from the point to the boundary of B; 0 if B is a sheet, which
    /// contains the point. No translation shorter than `inside_a + inside_b` separates the solids.
    pub inside_b: f64,
}

impl Witness {
    /// Depth (mm) that the witness proves: `inside_a + inside_b`. No shorter translation separates the
    /// solids. A point midway between two faces that are pressed into one another proves the depth of their
    /// contact; other points prove less.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.inside_a + self.inside_b
    }
}

/// A point near which interference could neither be confirmed nor excluded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UndecidedPoint {
    /// Feature of A near the undecided point.
    pub feature_a: FeatureRef,
    /// Feature of B near the undecided point.
    pub feature_b: FeatureRef,
    /// A point of the region in which interference remained undecided (mm, world coordinates).
    pub point: P3,
    /// Upper bound (mm) of the depth of common interior points of both solids in that region, at most half
    /// the smallest side of either solid's box.
    pub depth_bound: f64,
}

/// A common point of both solids that is deeper than the tolerance of the query
/// ([`Tolerances::tol`](crate::Tolerances::tol)), but not deeper than the tolerance plus the deviation of an
/// edge from its faces there. It does not count as interference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WidenedPoint {
    /// The point inside both solids (mm, world coordinates).
    pub point: P3,
    /// Deviation (mm) of the edge from its faces, by which the tolerance is enlarged at this point.
    pub by: f64,
}

/// Curve in which a face of A and a face of B intersect.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossingCurve {
    /// Face of A that the curve lies in, with the parameters of a point of the curve on it.
    pub feature_a: FeatureRef,
    /// Face of B that the curve lies in, with the parameters of a point of the curve on it.
    pub feature_b: FeatureRef,
    /// Whether the curve is closed; the last point then equals the first one.
    pub closed: bool,
    /// Points (mm, world coordinates) of a polyline along the curve.
    pub points: Vec<P3>,
}

/// Point near which a part of a crossing curve is missing, because the search was incomplete or the curve
/// could not be followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissingCurvePart {
    /// Face of A on the crossing curve, with its parameters at the point.
    pub feature_a: FeatureRef,
    /// Face of B on the crossing curve, with its parameters at the point.
    pub feature_b: FeatureRef,
    /// A point (mm, world coordinates) near the missing part of the crossing curve.
    pub point: P3,
    /// Reason why the part of the curve is missing, as an English phrase.
    pub why: &'static str,
}

/// Curves in which the boundaries of two solids intersect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// One curve for each connected component of the intersection of each pair of faces.
    pub curves: Vec<CrossingCurve>,
    /// Points near which parts of curves are missing.
    pub left_out: Vec<MissingCurvePart>,
}

/// Shape of the common part of two touching features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// A region of a plane.
    Plane,
    /// A region of a cylinder, such as that between a pin and a bore of the same radius.
    Cylinder,
    /// A region of a cone.
    Cone,
    /// A region of a sphere.
    Sphere,
    /// A region of a torus.
    Torus,
    /// A region of a spline surface.
    FreeForm,
    /// A line, straight or curved, in which two faces, an edge and a face, or two edges touch.
    Line,
    /// An isolated point at which the features touch.
    Point,
}

/// Common part of two touching features of two solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRegion {
    /// Shape of the common part: a region of a surface, a line or a point.
    pub kind: RegionKind,
    /// Touching feature of A, with the parameters of a point of the common part on it.
    pub feature_a: FeatureRef,
    /// Touching feature of B, with the parameters of a point of the common part on it.
    pub feature_b: FeatureRef,
    /// A point of the common part (mm, world coordinates).
    pub point: P3,
    /// Area (mm²) of the common part, measured on A's face. `None` for lines and points, and if it could
    /// not be determined.
    pub area: Option<f64>,
    /// Length (mm) of a line. `None` for regions and points, and for lines between faces that are
    /// neither straight nor circular.
    pub length: Option<f64>,
    /// Estimated error of the area (mm²) or length (mm), deviations of trims from their edges included;
    /// `None` if both are `None`.
    pub error: Option<f64>,
}

/// Set of equal minima between two features, connected or not, such as parallel planes or a coaxial pin.
#[derive(Clone, Debug, PartialEq)]
pub struct ConformalSet {
    /// Features of A and B that contain the set, and its size: the region or line on A's feature whose
    /// points are at `distance` from B's feature.
    pub contact: ContactRegion,
    /// Distance (mm) of the minima of the set.
    pub distance: f64,
    /// Largest distance (mm) between two samples of the set.
    pub extent: f64,
    /// Indices of the samples of this set in [`ContactPair::contacts`](crate::ContactPair::contacts).
    pub samples: Vec<usize>,
}

/// Method by which the volume of an overlap was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapMethod {
    /// Integrals over the parts of the faces of each solid that are inside the other one.
    Faces,
    /// Integrals over faces at small opposite displacements of B, extrapolated to no displacement, because
    /// faces coincide or are tangent to each other. The stated error is the smaller one of a bound by the
    /// shortest displacement and the areas of the solids, and an estimate by the distances between faces.
    Displaced,
    /// Integration of the lengths of parallel lines in both solids, along two directions. The stated error
    /// is an estimate, which includes the difference of the two results.
    Lines,
}

/// Common part of two interfering solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Volume (mm³).
    pub volume: f64,
    /// Centroid (mm, world coordinates).
    pub centroid: P3,
    /// Smallest coordinates (mm, world) of the box around the common part. The box is exact like the volume,
    /// except with [`OverlapMethod::Lines`], which gives the box of sampled points.
    pub min: P3,
    /// Largest coordinates (mm, world) of the box around the common part.
    pub max: P3,
    /// Estimated error of the volume (mm³): that of the integration, of the extrapolation, and of boundaries
    /// that are not closed because trims deviate from their edges.
    pub error: f64,
    /// Method by which the volume was computed.
    pub method: OverlapMethod,
}

/// Relation of two posed solids, and its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the solids are separated, touching, interfering or undecided.
    pub status: Status,
    /// A point inside both solids; `None` unless the status is [`Status::Interfering`].
    pub witness: Option<Witness>,
    /// Points near which interference could neither be confirmed nor excluded; empty unless the status is
    /// [`Status::Undecided`].
    pub undecided: Vec<UndecidedPoint>,
    /// Points at which the status holds only for a tolerance enlarged by the deviation of an edge from
    /// its faces.
    pub widened: Vec<WidenedPoint>,
    /// A feature of A and a feature of B that intersect; `None` if no such pair was found. Interfering
    /// solids may lack one, because one solid can contain the other.
    pub crossing: Option<(FeatureRef, FeatureRef)>,
}

impl Verdict {
    /// Depth (mm) of an interference: that of its deepest contact, or that which the witness proves if that
    /// is larger ([`Witness::depth`]). `min_distance` is the smallest signed distance (mm) of the minima of
    /// the query, `None` if it found none. For solids with several contacts a shorter translation may
    /// separate them. `None` if the solids do not interfere.
    #[must_use]
    pub fn depth(&self, min_distance: Option<f64>) -> Option<f64> {
        if self.status != Status::Interfering {
            return None;
        }
        let witness = self.witness.map_or(0.0, |w| w.depth());
        Some(min_distance.map_or(witness, |d| witness.max(-d)))
    }

    /// Largest possible depth (mm) of common interior points of undecided solids; 0 if the status is decided.
    #[must_use]
    pub fn depth_bound(&self) -> f64 {
        self.undecided.iter().fold(0.0, |deepest, u| deepest.max(u.depth_bound))
    }

    /// Verdict before any interference, contact or undecided point was found: separated.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            status: Status::Separated,
            witness: None,
            undecided: Vec::new(),
            widened: Vec::new(),
            crossing: None,
        }
    }

    /// Resets to [`Verdict::new`] and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.status = Status::Separated;
        self.witness = None;
        self.undecided.clear();
        self.widened.clear();
        self.crossing = None;
    }
}
