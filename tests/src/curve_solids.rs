//! Comparison of the minima that feeler-curves finds between a curve and a solid with distances of a
//! densely sampled curve from the boundary of the solid.
//!
//! The distance from the boundary as a function of the curve's parameter has all minima whose foot is
//! the nearest boundary point. If a reported minimum is farther than the nearest boundary point, it is
//! counted, and only its foot and its normal are checked.

use feeler_curves::{Curve, CurveLocation, CurveOptions, CurveSolidPair, Obstacle, P3, SolidMinimum};
use feeler_geom::Pose;
use feeler_runtime::{Body, PointQuery};

/// Number of samples for each piece of a curve.
const STEPS: usize = 100;

/// Minimum of the sampled distance of a curve from the boundary of a solid.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// Start of the parameter range in which the distance is within rounding of the smallest one.
    pub from: f64,
    /// End of the parameter range that starts at `from`.
    pub to: f64,
    /// Smallest distance (mm) in this range.
    pub distance: f64,
}

/// Result of the comparison of one case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Number of sampled minima that are also reported.
    pub agreed: usize,
    /// Sampled minima that are not reported.
    pub lost: Vec<Sampled>,
    /// Reported contacts that are not minima, or whose numbers are wrong, with a description.
    pub wrong: Vec<(SolidMinimum, String)>,
    /// Minima that are reported more than once.
    pub twice: Vec<SolidMinimum>,
    /// Number of reported minima that are farther than the nearest boundary point.
    pub behind: usize,
}

impl Verdict {
    /// Whether the comparison found no faults.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.lost.is_empty() && self.wrong.is_empty() && self.twice.is_empty()
    }
}

/// Distances (mm) of the points of a curve from the boundary of a solid.
struct Distances<'a> {
    curve: &'a Curve,
    body: &'a Body,
    into: Pose,
    limit: f64,
    points: PointQuery,
}

impl Distances<'_> {
    fn at(&mut self, u: f64) -> f64 {
        self.from(&(self.into * self.curve.point(u)))
    }

    fn from(&mut self, p: &P3) -> f64 {
        let nearest = self.points.nearest(self.body, p, self.limit).expect("near");
        nearest.map_or(self.limit, |n| n.distance)
    }

    /// Parameter in the interval `[lo, hi]` at which the distance is smallest, and this distance (mm),
    /// by golden section.
    fn smallest(&mut self, mut lo: f64, mut hi: f64) -> (f64, f64) {
        let g = 0.5 * (5.0_f64.sqrt() - 1.0);
        for _ in 0..60 {
            let (x, y) = (hi - g * (hi - lo), lo + g * (hi - lo));
            if self.at(x) < self.at(y) {
                hi = y;
            } else {
                lo = x;
            }
        }
        [lo, hi].map(|u| (u, self.at(u))).into_iter().min_by(|p, q| p.1.total_cmp(&q.1)).unwrap_or((lo, 0.0))
    }

    /// Minima of the sampled distance up to `reach` (mm), refined. Consecutive samples whose distances
    /// are within `level` (mm) of the first one are one minimum.
    fn minima(&mut self, reach: f64, level: f64) -> Vec<Sampled> {
        let pieces = self.curve.n_pieces() as f64;
        let n = STEPS * self.curve.n_pieces();
        let at = |i: usize| pieces * i as f64 / n as f64;
        let d: Vec<f64> = (0..=n).map(|i| self.at(at(i))).collect();
        let is_closed = self.curve.is_closed();
        let mut out: Vec<Sampled> = Vec::new();
        let mut i = 0;
        while i <= n {
            // A run of equally distant samples.
            let mut j = i;
            while j < n && (d[j + 1] - d[i]).abs() <= level {
                j += 1;
            }
            let before = if i > 0 {
                d[i - 1]
            } else if is_closed {
                d[n - 1]
            } else {
                f64::INFINITY
            };
            let after = if j < n {
                d[j + 1]
            } else if is_closed {
                d[1]
            } else {
                f64::INFINITY
            };
            if d[i] <= before && d[j] <= after {
                let (lo, hi) = (at(i.saturating_sub(1)), at((j + 1).min(n)));
                let (u, distance) = self.smallest(lo, hi);
                let (u, distance) = if d[i] < distance { (at(i), d[i]) } else { (u, distance) };
                if distance <= reach {
                    let ends = if j > i + 2 { (at(i), at(j)) } else { (u, u) };
                    out.push(Sampled { from: ends.0.min(u), to: ends.1.max(u), distance });
                }
            }
            i = j + 1;
        }
        out
    }
}

/// Compares the contacts of a curve and a solid in a pose with the sampled minima.
#[must_use]
pub fn compare(curve: &Curve, solid: &Obstacle, pose: &Pose, options: &CurveOptions) -> Verdict {
    let mut pair = CurveSolidPair::new();
    let reported = pair.query(curve, solid, pose, options).to_vec();
    let body = solid.body();
    let size = body.size();
    let into = pose.inverse();
    let reach = options.d_max + curve.radius();
    let mut distances = Distances { curve, body, into, limit: 2.0 * reach, points: PointQuery::new() };
    let mut verdict = Verdict::default();
    // Trims follow their edges only up to a measured deviation.
    let slack = 1e-9 * size + body.hierarchy().info.max_trim_deviation;
    let pieces = curve.n_pieces() as f64;
    let mut inside = PointQuery::new();
    for sampled in distances.minima(reach - 1e-6 * size, 1e-12 * size) {
        // Where the curve passes through the boundary, the unsigned distance is 0, but the signed
        // distance has no minimum there; it decreases inside.
        let middle = into * curve.point(0.5 * (sampled.from + sampled.to));
        if sampled.distance < 1e-6 * size || inside.contains(body, &middle, 1e-9) != Ok(Some(false)) {
            continue;
        }
        let is_reported = |m: &SolidMinimum| {
            let [from, to] = m.set.map_or([m.u, m.u], |set| range(&reported, set));
            let close = |u: f64, v: f64| (curve.point(u) - curve.point(v)).norm() < 1e-2 * size;
            // Along a set of equal distances, the distance may change by the slope that counts as level.
            let level = options.level_slope * (to - from) * size / pieces;
            (m.distance - sampled.distance).abs() < 1e-6 * size + slack + level
                && (from <= sampled.to && sampled.from <= to
                    || close(from, sampled.to)
                    || close(to, sampled.from))
        };
        if reported.iter().any(is_reported) {
            verdict.agreed += 1;
        } else {
            verdict.lost.push(sampled);
        }
    }
    for (i, m) in reported.iter().enumerate() {
        let faults = distances.faults(m, slack, &mut verdict.behind);
        if !faults.is_empty() {
            verdict.wrong.push((*m, faults));
        }
        let again = |other: &SolidMinimum| {
            (other.point - m.point).norm() < 1e-7 * size && (other.foot - m.foot).norm() < 1e-7 * size
        };
        if reported[..i].iter().any(again) {
            verdict.twice.push(*m);
        }
    }
    verdict
}

/// Parameter range of the reported samples of a set.
fn range(reported: &[SolidMinimum], set: u32) -> [f64; 2] {
    let of_set = || reported.iter().filter(|m| m.set == Some(set)).map(|m| m.u);
    [of_set().fold(f64::INFINITY, f64::min), of_set().fold(f64::NEG_INFINITY, f64::max)]
}

impl Distances<'_> {
    /// Description of the faults of a reported minimum; empty if it is right. `slack` (mm) is the
    /// tolerance of distances; `behind` counts minima that are farther than the nearest boundary point.
    fn faults(&mut self, m: &SolidMinimum, slack: f64, behind: &mut usize) -> String {
        let size = self.body.size();
        let mut faults = String::new();
        let mut report = |what: String| {
            faults += &what;
            faults += "; ";
        };
        self.limit = size;
        let off = self.from(&(self.into * m.foot));
        if off > slack {
            report(format!("the foot is {off:e} mm off the boundary"));
        }
        if (m.point - m.foot - m.normal * m.distance).norm() > 1e-9 * size {
            report("the normal is not along the line between the points".into());
        }
        if (m.gap - m.distance + self.curve.radius()).abs() > 1e-12 * size {
            report("the gap is not the distance minus the radius".into());
        }
        if (self.curve.point(m.u) - m.point).norm() > 1e-9 * size {
            report("the point is not on the curve".into());
        }
        let nearest = self.from(&(self.into * m.point));
        if nearest > m.distance.abs() + slack {
            report(format!("the nearest boundary point is farther: {nearest} mm"));
        } else if nearest > m.distance.abs() - 1e-9 * size {
            // If the foot is the nearest boundary point, the contact is a minimum of the sampled
            // distance.
            let pieces = self.curve.n_pieces() as f64;
            for h in [1e-3, -1e-3] {
                let u = m.u + h;
                let u = if self.curve.is_closed() { u.rem_euclid(pieces) } else { u.clamp(0.0, pieces) };
                let there = self.at(u);
                let there = if m.distance < 0.0 { -there } else { there };
                if there < m.distance - slack {
                    report(format!("the curve is nearer by {:e} mm at {u}", m.distance - there));
                }
            }
        } else {
            *behind += 1;
        }
        if m.place == CurveLocation::Inside && m.set.is_none() {
            let t = self.curve.derivatives(m.u)[0];
            let is_joint = (m.u - m.u.round()).abs() < 1e-9;
            if !is_joint && m.normal.dot(&t).abs() > 1e-7 * t.norm() {
                report("the normal is not orthogonal to the curve".into());
            }
        }
        faults
    }
}
