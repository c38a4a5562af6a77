//! What a query tells.

use feeler_geom::{P3, V3};

/// What of a curve a minimum lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Inside a piece, or at a joint where the direction goes on.
    Inside,
    /// A joint where the direction changes.
    Corner,
    /// A free end.
    End,
}

/// A local minimum of the distance between two curves, or of one with itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveMinimum {
    /// Parameters on both curves; of a curve with itself the smaller one comes first.
    pub u: [f64; 2],
    /// The points of the curves there (not of their tubes: those are `radius` away along the normal).
    pub points: [P3; 2],
    /// Unit vector from the first point to the second one. Where the curves cross it is orthogonal to both, its sign
    /// without meaning.
    pub normal: V3,
    /// Distance of the points.
    pub distance: f64,
    /// Distance of the tubes: `distance` less both radii. Negative where they overlap.
    pub gap: f64,
    /// What it lies on.
    pub places: [Place; 2],
    /// For samples of a stretch along which the distance is the same: the number of the stretch in this answer.
    pub set: Option<u32>,
    /// The same from query to query of one [`crate::CurvePair`] as long as the minimum moves on.
    pub id: u64,
}

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveOptions {
    /// Largest gap of minima that are told (mm).
    pub d_max: f64,
    /// Stretches on which the distance changes by less than this with length (mm per mm) are sets of equal distance,
    /// told by samples. Larger values make tubes that lie side by side one contact sooner.
    pub level_slope: f64,
    /// The length (mm) from which on a level stretch is a set and not a minimum; `None`: the larger of the sum of the
    /// radii and a hundredth of the smaller curve's size.
    pub level_length: Option<f64>,
    /// Most samples of a set, at least 2.
    pub max_samples: usize,
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self { d_max: 1.0, level_slope: 1e-6, level_length: None, max_samples: 16 }
    }
}

/// What a query cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CurveStats {
    /// Pairs of nodes of the trees that were visited; for vertices none are counted.
    pub n_nodes: usize,
    /// Pairs of parts of leaves that were looked at.
    pub n_parts: usize,
    /// Pairs of parts that were halved down to rounding without an answer: there, minima may be missing. Not 0 only
    /// where both curves are circles about each other's points, or have no direction.
    pub n_undecided: usize,
}
