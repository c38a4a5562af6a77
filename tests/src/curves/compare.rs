//! Comparison of feeler-curves with the brute-force search.

use super::{Chain, Found, Kind, Minimum, V3, is_same, minima, minima_itself, minimum, slope};
use feeler_curves::{Curve, CurveLocation, CurveMinimum, CurveOptions, CurvePair, P3};

/// Number of grid lines for each piece in the first search, and in the second one, which runs if the
/// results differ.
const STEPS: [usize; 2] = [200, 1600];

/// Minimum margin ([`Minimum::margin`]) of minima that must agree. A minimum with a smaller margin is
/// nearly degenerate: a change of the curves by about the square of the margin makes it vanish, so the
/// results of two methods may differ.
pub const MARGIN: f64 = 1e-6;

/// Maximum error of footpoints, multiplied by the margin (their conditioning), relative to the size.
pub const FOOTPOINT: f64 = 1e-12;

/// Data of a curve.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Degree of the pieces.
    pub degree: usize,
    /// Control points in the order of `Curve::new`.
    pub points: Vec<V3>,
    /// Whether the last piece ends where the first one starts.
    pub is_closed: bool,
    /// Radius (mm) of the tube.
    pub radius: f64,
}

impl Shape {
    /// The curve of feeler-curves.
    ///
    /// # Panics
    /// If the curve is rejected: shapes of cases are valid.
    #[must_use]
    pub fn curve(&self) -> Curve {
        let points: Vec<P3> = self.points.iter().map(|p| P3::from(*p)).collect();
        Curve::new(self.degree, &points, self.radius, self.is_closed).expect("shapes of cases are valid")
    }

    /// Returns the shape with all control points mapped by `map`.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(V3) -> V3) -> Self {
        Self { points: self.points.iter().map(|p| map(*p)).collect(), ..self.clone() }
    }

    /// Number of pieces.
    #[must_use]
    pub fn n(&self) -> usize {
        (self.points.len() - usize::from(!self.is_closed)) / self.degree
    }

    /// Returns the chain of the brute-force search for this shape.
    #[must_use]
    pub fn chain(&self) -> Chain {
        Chain::new(self.degree, &self.points, self.is_closed)
    }
}

/// Result of the comparison of one case.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Number of minima that both methods find.
    pub agreed: usize,
    /// Well-conditioned minima that feeler-curves does not report.
    pub lost: Vec<Minimum>,
    /// Reported contacts that are not minima.
    pub invented: Vec<CurveMinimum>,
    /// Minima that are reported more than once.
    pub twice: Vec<CurveMinimum>,
    /// Descriptions of wrong numbers and of wrong kinds.
    pub wrong: Vec<String>,
    /// Reported strict minima that the brute-force search does not find.
    pub missed: Vec<CurveMinimum>,
    /// Number of minima of both methods whose margin is too small for a comparison of footpoints.
    pub weak: usize,
    /// Number of minima with a margin below [`MARGIN`] that only one method finds.
    pub degenerate: usize,
    /// Number of minima that are reported as samples of a section of equal distance.
    pub in_sets: usize,
    /// Whether the brute-force search gave up, or found a section of exactly equal distance. Only the
    /// reported minima are checked then.
    pub is_open: bool,
    /// Largest error of a footpoint times its margin, relative to the size.
    pub footpoint: f64,
}

impl Verdict {
    /// Whether the comparison found no faults.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.lost.is_empty()
            && self.invented.is_empty()
            && self.twice.is_empty()
            && self.wrong.is_empty()
            && self.missed.is_empty()
    }

    /// Numbers of faults: lost, invented, reported twice, wrong values, missed by the brute-force
    /// search.
    #[must_use]
    pub fn counts(&self) -> [usize; 5] {
        [self.lost.len(), self.invented.len(), self.twice.len(), self.wrong.len(), self.missed.len()]
    }
}

/// Compares the contacts of two curves with the brute-force search.
#[must_use]
pub fn compare(a: &Shape, b: &Shape, options: &CurveOptions) -> Verdict {
    let mut pair = CurvePair::new();
    let reported = pair.query(&a.curve(), &b.curve(), options).to_vec();
    let (chain_a, chain_b) = (a.chain(), b.chain());
    let find = |steps: usize| minima(&chain_a, &chain_b, steps);
    let comparison = Comparison { a, b, chain_a: &chain_a, chain_b: &chain_b, options, is_itself: false };
    comparison.run(&reported, find)
}

/// Compares the contacts of a curve with itself with the brute-force search.
#[must_use]
pub fn compare_itself(a: &Shape, options: &CurveOptions) -> Verdict {
    let mut pair = CurvePair::new();
    let reported = pair.query_itself(&a.curve(), options).to_vec();
    let chain = a.chain();
    let comparison = Comparison { a, b: a, chain_a: &chain, chain_b: &chain, options, is_itself: true };
    comparison.run(&reported, |steps| minima_itself(&chain, steps))
}

struct Comparison<'a> {
    a: &'a Shape,
    b: &'a Shape,
    chain_a: &'a Chain,
    chain_b: &'a Chain,
    options: &'a CurveOptions,
    is_itself: bool,
}

impl Comparison<'_> {
    fn run(&self, reported: &[CurveMinimum], find: impl Fn(usize) -> Found) -> Verdict {
        let verdict = self.verdict(reported, &find(STEPS[0]));
        if verdict.is_right() { verdict } else { self.verdict(reported, &find(STEPS[1])) }
    }

    /// Largest coordinate or extent (mm) of the two curves, which is the scale of rounding.
    fn size(&self) -> f64 {
        let coordinates = self.a.points.iter().chain(&self.b.points).map(V3::norm);
        coordinates.fold(0.0, f64::max)
    }

    /// Smallest margin of minima at a distance (mm) that are compared. A minimum with a margin below
    /// `level_slope` over half `level_length` may count as a section of equal distance.
    fn margin(&self, distance: f64) -> f64 {
        let radii = self.a.radius + self.b.radius;
        let length = self
            .options
            .level_length
            .unwrap_or_else(|| radii.max(0.01 * self.chain_a.size().min(self.chain_b.size())));
        let length = 0.5 * length.max(1e-300);
        MARGIN.max(4.0 * self.options.level_slope * distance / length)
    }

    fn verdict(&self, reported: &[CurveMinimum], found: &Found) -> Verdict {
        let (a, b) = (self.chain_a, self.chain_b);
        let size = self.size();
        let reach = self.options.d_max + self.a.radius + self.b.radius;
        let mut out = Verdict { is_open: found.is_exhausted || found.is_level, ..Verdict::default() };
        let is_same = |p: [f64; 2], q: [f64; 2], tolerance: f64| {
            is_same(a, b, p, q, tolerance) || self.is_itself && is_same(a, b, p, [q[1], q[0]], tolerance)
        };
        let mut is_matched = vec![false; reported.len()];
        for m in &found.minima {
            let min_margin = self.margin(m.distance);
            // The footpoints of a minimum with a small margin are less accurate in proportion.
            let near =
                |t: &CurveMinimum| is_same(t.u, m.u, (1e-7_f64).max(1e-10 / m.margin.max(1e-7)) * size);
            let hits: Vec<usize> =
                (0..reported.len()).filter(|&i| reported[i].set.is_none() && near(&reported[i])).collect();
            if m.margin < min_margin || !m.is_seen {
                if !hits.is_empty() {
                    out.weak += 1;
                } else if m.distance <= reach {
                    out.degenerate += 1;
                }
                for i in hits {
                    is_matched[i] = true;
                }
                continue;
            }
            let Some(&first) = hits.first() else {
                let is_in_set = reported.iter().any(|t| t.set.is_some() && is_same(t.u, m.u, 0.05 * size));
                if m.margin < 1e-3 && is_in_set {
                    out.in_sets += 1;
                } else if m.distance <= reach * (1.0 - 1e-9) {
                    out.lost.push(*m);
                }
                continue;
            };
            for &i in &hits {
                if is_matched[i] || i != first {
                    out.twice.push(reported[i]);
                }
                is_matched[i] = true;
            }
            out.agreed += 1;
            self.check(&reported[first], Some(m), &mut out);
        }
        for (t, is_matched) in reported.iter().zip(is_matched) {
            if is_matched {
                continue;
            }
            if self.is_itself && a.apart(t.u[0], t.u[1]) < 1e-6 {
                // The pair is a trivial one, on the diagonal.
                out.invented.push(*t);
                continue;
            }
            let own = minimum(a, b, t.u[0], t.u[1]);
            let slope = slope(a, b, t.u[0], t.u[1]);
            if t.set.is_some() {
                if slope > 4.0 * self.options.level_slope + 1e-9 {
                    out.invented.push(*t);
                }
                self.check(t, None, &mut out);
            } else if a.is_still(t.u[0]) || b.is_still(t.u[1]) {
                out.degenerate += 1;
            } else if slope > (4.0 * self.options.level_slope).max(1e-9)
                || own.margin < -self.margin(t.distance)
            {
                out.invented.push(*t);
            } else if own.margin < self.margin(t.distance) || out.is_open {
                out.degenerate += 1;
            } else if own.is_seen {
                out.missed.push(*t);
            } else {
                out.invented.push(*t);
            }
        }
        out
    }

    /// Checks that the numbers of a reported minimum are consistent, and agree with the brute-force
    /// search.
    fn check(&self, t: &CurveMinimum, m: Option<&Minimum>, out: &mut Verdict) {
        let size = self.size();
        let mut wrong = |what: &str, off: f64| out.wrong.push(format!("{what} {off:e}: {t:?} / {m:?}"));
        let (p, q) = (t.points[0].coords, t.points[1].coords);
        let off = (p - self.chain_a.point(t.u[0])).norm().max((q - self.chain_b.point(t.u[1])).norm());
        if exceeds(off, 1e-14 * size * 10.0) {
            wrong("the points are off the curves by", off);
        }
        let off = (t.distance - (q - p).norm()).abs();
        if exceeds(off, 1e-14 * size) {
            wrong("the distance is off by", off);
        }
        let off = (t.gap - (t.distance - self.a.radius - self.b.radius)).abs();
        if exceeds(off, 1e-14 * (size + self.a.radius + self.b.radius)) {
            wrong("the gap is off by", off);
        }
        let off = (t.normal.norm() - 1.0).abs();
        if exceeds(off, 1e-12) {
            wrong("the length of the normal is off by", off);
        }
        let off = (t.normal * t.distance - (q - p)).norm();
        if exceeds(off, 1e-13 * size) {
            wrong("the normal is off by", off);
        }
        let Some(m) = m else { return };
        let near = |p: &V3, q: &V3| (p - q).norm();
        let straight = near(&p, &m.points[0]).max(near(&q, &m.points[1]));
        let turned = near(&p, &m.points[1]).max(near(&q, &m.points[0]));
        let off = if self.is_itself { straight.min(turned) } else { straight };
        let off = off * m.margin.min(1.0) / size;
        out.footpoint = out.footpoint.max(off);
        if exceeds(off, FOOTPOINT) {
            wrong("the footpoints, times the margin, are off by", off);
        }
        let kind = |p: CurveLocation| match p {
            CurveLocation::Inside => Kind::Smooth,
            CurveLocation::Corner => Kind::Corner,
            CurveLocation::End => Kind::End,
        };
        let kinds = t.places.map(kind);
        let fits = if straight <= turned || !self.is_itself {
            kinds == m.kinds
        } else {
            [kinds[1], kinds[0]] == m.kinds
        };
        if !fits {
            wrong("the kinds of the footpoints are wrong", 0.0);
        }
        if m.distance > 1e-6 * size {
            return;
        }
        // At a crossing of the curves, the normal is orthogonal to both.
        for (chain, u) in [(self.chain_a, t.u[0]), (self.chain_b, t.u[1])] {
            if m.kinds == [Kind::Smooth; 2] && t.distance <= 1e-14 * size {
                for jet in chain.sides(u).iter().flatten() {
                    let off = (t.normal.dot(&jet.d) / jet.d.norm()).abs();
                    if exceeds(off, 1e-9) {
                        wrong("the normal at a crossing is off by", off);
                    }
                }
            }
        }
    }
}

/// Like `off > bound`, but true if `off` is NaN.
fn exceeds(off: f64, bound: f64) -> bool {
    off.is_nan() || off > bound
}
