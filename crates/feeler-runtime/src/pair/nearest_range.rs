//! Range of the queries for the smallest distance of a pair, which follows the distance along a motion.

use super::ContactPair;
use crate::api::contact::ContactKind;
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::Status;
use feeler_geom::Pose;

/// Range of queries for the smallest distance. A query with a large range computes all minima up to that
/// distance, for example those of many pairs of teeth of two gears. If only the smallest distance counts, the
/// range can be somewhat larger than the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NearestRange {
    /// Range (mm) of the next query; 0 before the first one.
    next: f64,
}

/// First range, as a fraction of the full one, and the smallest one. With a larger value, queries close to
/// contact compute more minima; a smaller one takes longer to increase for solids that are far apart.
const FIRST: f64 = 1.0 / 64.0;
/// Factor by which the range increases after a query without a minimum. With a larger value, the next query
/// computes more minima; with a smaller one, more ranges are tried.
const GROWTH: f64 = 4.0;
/// Smallest ratio of the range to the last distance. With a larger value queries compute more minima; with a
/// smaller one the next distance lies more often beyond the range.
const MARGIN: f64 = 1.25;

impl NearestRange {
    /// A range that begins small.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Queries the pair within a range that follows from the last distance, and if it finds no minimum except
    /// quasi-minima, within larger ranges up to `options.d_max` (mm). The smallest distance and the verdict
    /// of the pair are those of a query with `options`; minima with larger distances can be missing, and
    /// conformal sets whose distance another minimum has. If a set is slightly tilted, its distance is that
    /// of one of its samples, up to the tolerance.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    pub fn query(
        &mut self,
        pair: &mut ContactPair,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<(), QueryError> {
        options.check()?;
        let full = options.d_max;
        if !full.is_finite() || FIRST * full < f64::MIN_POSITIVE {
            return pair.query(pose_a, pose_b, options).map(|_| ());
        }
        let mut range = self.next.clamp(FIRST * full, full);
        loop {
            pair.query_nearest(pose_a, pose_b, &QueryOptions { d_max: range, ..*options })?;
            let strict = pair.contacts().iter().filter(|c| c.kind != ContactKind::Quasi);
            let nearest = strict.map(|c| c.distance).reduce(f64::min);
            if nearest.is_none() && range < full {
                // Solids that interfere may have no minimum at all.
                let interferes = pair.status() == Some(Status::Interfering);
                range = if interferes { full } else { (GROWTH * range).min(full) };
                continue;
            }
            self.next = nearest.map_or(full, |distance| next_range(range, distance, full));
            return Ok(());
        }
    }
}

/// Range after a query with the range `range` (mm) that found the smallest distance `distance` (mm). Ranges
/// change by factors of 2, because each new one repeats the search of the hierarchies.
fn next_range(range: f64, distance: f64, full: f64) -> f64 {
    let smallest = (MARGIN * distance).max(FIRST * full);
    let mut next = range;
    while 0.5 * next >= MARGIN * smallest {
        next *= 0.5;
    }
    if next < smallest { (2.0 * next).min(full) } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "powers of two")]
    fn ranges_follow_the_distance() {
        // Ranges change by factors of 2, and stay while the distance changes little.
        assert_eq!(next_range(16.0, 5.5, 16.0), 16.0);
        assert_eq!(next_range(16.0, 5.0, 16.0), 8.0);
        assert_eq!(next_range(8.0, 6.0, 16.0), 8.0);
        assert_eq!(next_range(8.0, 7.0, 16.0), 16.0);
        assert_eq!(next_range(16.0, 0.4, 16.0), 1.0);
        // Contact and penetration.
        assert_eq!(next_range(16.0, 0.0, 16.0), 0.5);
        assert_eq!(next_range(0.25, -1.0, 16.0), 0.25);
        // The range never exceeds that of the options.
        assert_eq!(next_range(16.0, 15.0, 16.0), 16.0);
    }
}
