//! Results and options of queries.

use feeler_geom::{P3, V3};
use feeler_hierarchy::Feature;

/// Kind of the point of a curve at which a minimum lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CurveLocation {
    /// Inside a piece, or at a joint where the direction is continuous.
    Inside,
    /// At a joint of pieces where the direction changes by more than 1e-6 rad.
    Corner,
    /// At a free end of an open curve.
    End,
}

/// Local minimum of the distance between two curves, or between a curve and itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveMinimum {
    /// Parameters of the minimum on both curves. For a curve and itself, the smaller one comes first.
    pub u: [f64; 2],
    /// Points on the curves at `u`. The points on the tubes are one radius away: along `normal` on the
    /// first curve, against it on the second one.
    pub points: [P3; 2],
    /// Unit vector from the first point to the second one. If the curves cross, it is orthogonal to both
    /// of them, and its sign is arbitrary.
    pub normal: V3,
    /// Distance between the points on the two curves, without their radii (mm).
    pub distance: f64,
    /// Distance between the tubes (mm): `distance` minus both radii. Negative where the tubes overlap.
    pub gap: f64,
    /// Kind of the point on each curve: inside a piece, at a corner or at a free end.
    pub places: [CurveLocation; 2],
    /// Number, from 0, of the set in this result of which the minimum is a sample; `None` if it is not a
    /// sample of a stretch of equal distance.
    pub set: Option<u32>,
    /// Identity of the minimum. It stays the same between queries of one [`crate::CurvePair`] while the
    /// minimum moves continuously.
    pub id: u64,
}

/// Local minimum of the distance between a curve and a solid, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidMinimum {
    /// Parameter of the minimum on the curve.
    pub u: f64,
    /// Point on the curve at `u`. The point on the tube is `radius` away, against the normal.
    pub point: P3,
    /// Footpoint on the solid's boundary.
    pub foot: P3,
    /// Unit vector that points away from the solid: `point - foot = distance · normal`.
    pub normal: V3,
    /// Signed distance between `point` and `foot` (mm): negative where the curve is inside the solid.
    pub distance: f64,
    /// Distance between tube and solid (mm): `distance` minus the radius. Negative where the tube
    /// overlaps the solid.
    pub gap: f64,
    /// Kind of the point on the curve: inside a piece, at a corner or at a free end.
    pub place: CurveLocation,
    /// Face, edge or vertex of the solid that the minimum lies on.
    pub feature: Feature,
    /// Number, from 0, of the set in this result of which the minimum is a sample; `None` if it is not a
    /// sample of a stretch of equal distance.
    pub set: Option<u32>,
    /// Identity of the minimum. It stays the same between queries of one [`crate::CurveSolidPair`] while
    /// the minimum moves continuously.
    pub id: u64,
}

/// Options of queries between curves, and between curves and solids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveOptions {
    /// Maximum gap of reported minima (mm).
    pub d_max: f64,
    /// Maximum change of the distance per length along the curve (mm per mm) at which the distance
    /// counts as constant. A long enough stretch of constant distance is reported as a set of samples.
    /// With larger values, tubes that lie side by side become one contact sooner.
    pub level_slope: f64,
    /// Minimum length (mm) of a stretch of constant distance that is reported as a set of samples; a
    /// shorter one is reported as one minimum. `None` stands for the sum of the radii or a hundredth of
    /// the smaller curve's size, whichever is larger; for a curve and a solid, twice the radius replaces
    /// the sum.
    pub level_length: Option<f64>,
    /// Maximum number of samples of a set, at least 2.
    pub max_samples: usize,
}

impl CurveOptions {
    /// Checks that all options are valid.
    ///
    /// # Errors
    /// A message for the user that names the first invalid option and its value.
    pub fn check(&self) -> Result<(), String> {
        let not =
            |what: &str, value: f64| Err(format!("{what} is {value}: give a finite number of 0 or more"));
        let is_fine = |x: f64| x.is_finite() && x >= 0.0;
        match self {
            Self { d_max, .. } if !is_fine(*d_max) => not("d_max", *d_max),
            Self { level_slope, .. } if !is_fine(*level_slope) => not("level_slope", *level_slope),
            Self { level_length: Some(length), .. } if !is_fine(*length) => not("level_length", *length),
            Self { max_samples, .. } if *max_samples < 2 => {
                Err(format!("max_samples is {max_samples}: give at least 2"))
            }
            _ => Ok(()),
        }
    }
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self { d_max: 1.0, level_slope: 1e-6, level_length: None, max_samples: 16 }
    }
}

/// Counts of the work of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurveStats {
    /// Number of visited pairs of tree nodes. The separate searches from free ends and corners of curves
    /// are not counted.
    pub n_nodes: usize,
    /// Number of examined pairs of parts of curves: leaves of their trees, and pieces into which leaves
    /// were bisected.
    pub n_parts: usize,
    /// Number of pairs of parts that were bisected down to rounding without a result. Their minima may be
    /// missing. Such pairs occur near cusps, and where each curve is a circular arc around points of the
    /// other.
    pub n_undecided: usize,
}
