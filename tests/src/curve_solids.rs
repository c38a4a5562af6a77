//! What feeler-curves finds between a curve and a solid beside the distances of a densely sampled curve from
//! the solid's boundary.
//!
//! The distance from the boundary as a function of the curve's parameter tells all minima whose foot is the
//! nearest boundary point; minima behind nearer ones are told of the same features elsewhere on the curve or
//! not judged, and counted.

use feeler_curves::{Curve, CurveOptions, CurveSolidPair, Obstacle, P3, Place, SolidMinimum};
use feeler_geom::Pose;
use feeler_runtime::{Body, PointQuery};

/// Samples a piece.
const STEPS: usize = 100;

/// What of a curve's distance from a solid is least: a stretch of parameters that the minimum is in, and its
/// distance from the boundary.
#[derive(Clone, Copy, Debug)]
pub struct Sampled {
    /// Where the distance is within rounding of the least one.
    pub from: f64,
    /// The other end of the stretch.
    pub to: f64,
    /// The least distance.
    pub distance: f64,
}

/// How one case went.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Minima of the sampled distance that are told.
    pub agreed: usize,
    /// Those that are not told.
    pub lost: Vec<Sampled>,
    /// What is told though it is no minimum, or whose numbers are wrong.
    pub wrong: Vec<(SolidMinimum, String)>,
    /// What is told again.
    pub twice: Vec<SolidMinimum>,
    /// What is told and is farther than the nearest boundary point: only its foot and its normal are judged.
    pub behind: usize,
}

impl Verdict {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.lost.is_empty() && self.wrong.is_empty() && self.twice.is_empty()
    }
}

/// Distances of the points of a curve from the boundary of a solid.
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

    /// The parameter between two others at which the distance is least, by the golden ratio.
    fn least(&mut self, mut lo: f64, mut hi: f64) -> (f64, f64) {
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

    /// Minima of the sampled distance up to `reach`, refined; those within `level` of one another with
    /// nothing higher between them are one stretch.
    fn minima(&mut self, reach: f64, level: f64) -> Vec<Sampled> {
        let pieces = self.curve.n_pieces() as f64;
        let n = STEPS * self.curve.n_pieces();
        let at = |i: usize| pieces * i as f64 / n as f64;
        let d: Vec<f64> = (0..=n).map(|i| self.at(at(i))).collect();
        let is_closed = self.curve.is_closed();
        let mut out: Vec<Sampled> = Vec::new();
        let mut i = 0;
        while i <= n {
            // A run of samples at one height.
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
                let (u, distance) = self.least(lo, hi);
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

/// Judges a query of a curve and a solid in a pose.
#[must_use]
pub fn judge(curve: &Curve, solid: &Obstacle, pose: &Pose, options: &CurveOptions) -> Verdict {
    let mut pair = CurveSolidPair::new();
    let told = pair.query(curve, solid, pose, options).to_vec();
    let body = solid.body();
    let size = body.size();
    let into = pose.inverse();
    let reach = options.d_max + curve.radius();
    let mut distances = Distances { curve, body, into, limit: 2.0 * reach, points: PointQuery::new() };
    let mut verdict = Verdict::default();
    // Trims follow their edges to a measured deviation only.
    let slack = 1e-9 * size + body.hierarchy().info.max_trim_deviation;
    let pieces = curve.n_pieces() as f64;
    let mut inside = PointQuery::new();
    for sampled in distances.minima(reach - 1e-6 * size, 1e-12 * size) {
        // Where the curve passes through the boundary the unsigned distance is 0, which is no minimum of the
        // signed one; inside it grows downwards.
        let middle = into * curve.point(0.5 * (sampled.from + sampled.to));
        if sampled.distance < 1e-6 * size || inside.contains(body, &middle, 1e-9) != Ok(Some(false)) {
            continue;
        }
        let is_told = |m: &SolidMinimum| {
            let [from, to] = m.set.map_or([m.u, m.u], |set| range(&told, set));
            let close = |u: f64, v: f64| (curve.point(u) - curve.point(v)).norm() < 1e-2 * size;
            // Along a set the distance changes by the slope that counts as level.
            let level = options.level_slope * (to - from) * size / pieces;
            (m.distance - sampled.distance).abs() < 1e-6 * size + slack + level
                && (from <= sampled.to && sampled.from <= to
                    || close(from, sampled.to)
                    || close(to, sampled.from))
        };
        if told.iter().any(is_told) {
            verdict.agreed += 1;
        } else {
            verdict.lost.push(sampled);
        }
    }
    for (i, m) in told.iter().enumerate() {
        let faults = distances.faults(m, slack, &mut verdict.behind);
        if !faults.is_empty() {
            verdict.wrong.push((*m, faults));
        }
        let again = |other: &SolidMinimum| {
            (other.point - m.point).norm() < 1e-7 * size && (other.foot - m.foot).norm() < 1e-7 * size
        };
        if told[..i].iter().any(again) {
            verdict.twice.push(*m);
        }
    }
    verdict
}

/// Parameters between which a set is told.
fn range(told: &[SolidMinimum], set: u32) -> [f64; 2] {
    let of_set = || told.iter().filter(|m| m.set == Some(set)).map(|m| m.u);
    [of_set().fold(f64::INFINITY, f64::min), of_set().fold(f64::NEG_INFINITY, f64::max)]
}

impl Distances<'_> {
    /// What is wrong with a minimum that is told.
    fn faults(&mut self, m: &SolidMinimum, slack: f64, behind: &mut usize) -> String {
        let size = self.body.size();
        let mut faults = String::new();
        let mut say = |what: String| {
            faults += &what;
            faults += "; ";
        };
        self.limit = size;
        let off = self.from(&(self.into * m.foot));
        if off > slack {
            say(format!("its foot is {off:e} off the boundary"));
        }
        if (m.point - m.foot - m.normal * m.distance).norm() > 1e-9 * size {
            say("its normal is not that of its points".into());
        }
        if (m.gap - m.distance + self.curve.radius()).abs() > 1e-12 * size {
            say("its gap is not the distance less the radius".into());
        }
        if (self.curve.point(m.u) - m.point).norm() > 1e-9 * size {
            say("its point is not on the curve".into());
        }
        let nearest = self.from(&(self.into * m.point));
        if nearest > m.distance.abs() + slack {
            say(format!("no boundary is as near: {nearest}"));
        } else if nearest > m.distance.abs() - 1e-9 * size {
            // The nearest of all: then it is a minimum of the sampled distance.
            let pieces = self.curve.n_pieces() as f64;
            for h in [1e-3, -1e-3] {
                let u = m.u + h;
                let u = if self.curve.is_closed() { u.rem_euclid(pieces) } else { u.clamp(0.0, pieces) };
                let there = self.at(u);
                let there = if m.distance < 0.0 { -there } else { there };
                if there < m.distance - slack {
                    say(format!("nearer by {:e} at {u}", m.distance - there));
                }
            }
        } else {
            *behind += 1;
        }
        if m.place == Place::Inside && m.set.is_none() {
            let t = self.curve.derivatives(m.u)[0];
            let is_joint = (m.u - m.u.round()).abs() < 1e-9;
            if !is_joint && m.normal.dot(&t).abs() > 1e-7 * t.norm() {
                say("its normal is not across the curve".into());
            }
        }
        faults
    }
}
