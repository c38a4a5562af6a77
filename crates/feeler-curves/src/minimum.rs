//! What a query tells.

use feeler_geom::{P3, V3};
use feeler_hierarchy::Feature;

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
    /// Unit vector from the first point to the second one. Where the curves cross it is orthogonal to both,
    /// its sign without meaning.
    pub normal: V3,
    /// Distance of the points.
    pub distance: f64,
    /// Distance of the tubes: `distance` less both radii. Negative where they overlap.
    pub gap: f64,
    /// What it lies on.
    pub places: [Place; 2],
    /// For samples of a stretch along which the distance is the same: the number of the stretch in this
    /// answer.
    pub set: Option<u32>,
    /// The same from query to query of one [`crate::CurvePair`] as long as the minimum moves on.
    pub id: u64,
}

/// A local minimum of the distance between a curve and a solid, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidMinimum {
    /// Parameter of the curve.
    pub u: f64,
    /// The point of the curve there (the tube's is `radius` away against the normal).
    pub point: P3,
    /// The point of the solid.
    pub foot: P3,
    /// Unit vector away from the solid: `point - foot = distance · normal`.
    pub normal: V3,
    /// Signed distance of the points: negative where the curve is inside the solid.
    pub distance: f64,
    /// Distance of the tube: `distance` less the radius. Negative where it overlaps the solid.
    pub gap: f64,
    /// What of the curve it lies on.
    pub place: Place,
    /// The face, edge or vertex of the solid.
    pub feature: Feature,
    /// For samples of a stretch along which the distance is the same: the number of the stretch in this
    /// answer.
    pub set: Option<u32>,
    /// The same from query to query of one [`crate::CurveSolidPair`] as long as the minimum moves on.
    pub id: u64,
}

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveOptions {
    /// Largest gap of minima that are told (mm).
    pub d_max: f64,
    /// Stretches on which the distance changes by less than this with length (mm per mm) are sets of equal
    /// distance, told by samples. Larger values make tubes that lie side by side one contact sooner.
    pub level_slope: f64,
    /// The length (mm) from which on a level stretch is a set and not a minimum; `None`: the larger of the
    /// sum of the radii and a hundredth of the smaller curve's size.
    pub level_length: Option<f64>,
    /// Most samples of a set, at least 2.
    pub max_samples: usize,
}

impl CurveOptions {
    /// What is wrong with them, if anything.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn check(&self) -> Result<(), String> {
        let not =
            |what: &str, value: f64| Err(format!("{what} is {value}: give a finite number of 0 or more"));
        let is_fine = |x: f64| x.is_finite() && x >= 0.0;
        match self {
            Self { d_max, .. } if !is_fine(*d_max) => not("d_max", *d_max),
            Self { level_slope, .. } if !is_fine(*level_slope) => not("level_slope", *level_slope),
            Self { level_length: Some(length), .. } if !is_fine(*length) => not("level_length", *length),
            Self { max_samples, .. } if *max_samples < 2 => Err("max_samples is less than 2".into()),
            _ => Ok(()),
        }
    }
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
    /// Pairs of parts that were halved down to rounding without an answer, as beside cusps and where both
    /// curves are circles about each other's points: there, minima may be missing.
    pub n_undecided: usize,
}
