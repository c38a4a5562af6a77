//! What a query finds out about how two posed solids stand to one another. Lengths in mm, points in world
//! coordinates.

use crate::api::contact::FeatureRef;
use feeler_geom::P3;

/// How two posed solids stand to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The solids are apart.
    Separated,
    /// The smallest distance is below the tolerance and the interiors do not meet deeper than that.
    Touching,
    /// The interiors meet: no LMD is promised.
    Interfering,
    /// The work allowed for one query ran out before interference was found or excluded everywhere: see
    /// [`Verdict::undecided`].
    Undecided,
}

/// A point that proves that the interiors meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness {
    /// A point inside both solids.
    pub point: P3,
    /// Lower bound of its distance (mm) to the boundary of A; 0 where A is a sheet, which holds the point.
    pub inside_a: f64,
    /// The same for B. No translation shorter than `inside_a + inside_b` separates the solids.
    pub inside_b: f64,
}

/// A place where interference could neither be confirmed nor excluded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Undecided {
    /// The feature of A there.
    pub feature_a: FeatureRef,
    /// The feature of B there.
    pub feature_b: FeatureRef,
    /// Where to look.
    pub point: P3,
    /// Upper bound of the depth (mm) to which the interiors meet there.
    pub depth_bound: f64,
}

/// A place where an edge is so far off its faces that less than the tolerance could not be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Widened {
    /// Where.
    pub point: P3,
    /// What was added to the tolerance (mm) there.
    pub by: f64,
}

/// A curve in which a face of A and one of B cross.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossingCurve {
    /// The face of A, with the parameters of a point of the curve.
    pub feature_a: FeatureRef,
    /// The face of B, likewise.
    pub feature_b: FeatureRef,
    /// Whether it ends where it begins: the last vertex is the first one.
    pub closed: bool,
    /// Vertices of a polyline.
    pub points: Vec<P3>,
}

/// A place at which a crossing curve could not be followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftOut {
    /// The face of A there.
    pub feature_a: FeatureRef,
    /// The face of B there.
    pub feature_b: FeatureRef,
    /// Where.
    pub point: P3,
    /// Why.
    pub why: &'static str,
}

/// The curves in which the boundaries of two solids cross.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// One for each connected curve of a pair of faces.
    pub curves: Vec<CrossingCurve>,
    /// What is missing.
    pub left_out: Vec<LeftOut>,
}

/// What two features that touch have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// A region of one plane.
    Plane,
    /// A region of one cylinder: a pin that fills its bore.
    Cylinder,
    /// A region of one cone.
    Cone,
    /// A region of one sphere.
    Sphere,
    /// A region of one torus.
    Torus,
    /// A region of a spline surface.
    FreeForm,
    /// Lines: of two faces, of an edge and a face, of two edges.
    Line,
    /// A point.
    Point,
}

/// A contact of two solids that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRegion {
    /// What the features have in common.
    pub kind: RegionKind,
    /// The feature of A, with the parameters of a point of the contact.
    pub feature_a: FeatureRef,
    /// The feature of B, likewise.
    pub feature_b: FeatureRef,
    /// A point of the contact.
    pub point: P3,
    /// Area (mm²) of the region that is on both faces, as a part of A's: only of regions.
    pub area: Option<f64>,
    /// Length (mm) of what is on both features: only of lines, and of those that are neither edges nor
    /// straight nor round `None`.
    pub length: Option<f64>,
    /// Estimated error of the area or length, with what trims are off their edges.
    pub error: Option<f64>,
}

/// A connected or scattered set of equal minima between two features: parallel planes, a coaxial pin.
#[derive(Clone, Debug, PartialEq)]
pub struct ConformalSet {
    /// Its features, its kind and how large it is: the region or line on A that is at the distance from B.
    pub contact: ContactRegion,
    /// mm.
    pub distance: f64,
    /// Largest distance (mm) between two of its samples.
    pub extent: f64,
    /// Where its samples are among the minima of the query.
    pub samples: Vec<usize>,
}

/// How two posed solids stand to one another, and what proves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The outcome.
    pub status: Status,
    /// A common interior point: of all interfering solids, and of no others.
    pub witness: Option<Witness>,
    /// All places that are [`Status::Undecided`]. Empty with any other status.
    pub undecided: Vec<Undecided>,
    /// Places where the status holds for a larger tolerance only.
    pub widened: Vec<Widened>,
    /// A feature of A and one of B that cross. Only of interfering solids, and not of all of them: one may
    /// hold the other.
    pub crossing: Option<(FeatureRef, FeatureRef)>,
}

impl Verdict {
    /// A verdict without anything found.
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

    /// Back to [`Verdict::new`], with the memory of the lists kept.
    pub(crate) fn clear(&mut self) {
        self.status = Status::Separated;
        self.witness = None;
        self.undecided.clear();
        self.widened.clear();
        self.crossing = None;
    }
}
