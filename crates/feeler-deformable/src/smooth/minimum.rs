//! Minima of a signed distance on segments and triangles.
//!
//! Signs of the slope bracket minima: the distance from a convex shape has at most one interior minimum on a
//! segment, between two ends at which it decreases inwards. Probes divide segments and triangles near concave
//! shapes. A triangle is searched along chords parallel to one of its edges, in the direction in which the
//! minima of the chords decrease.

use crate::shape::SurfacePoint;
use feeler_geom::{P3, V3};

/// Slope of the distance along a unit direction below which a point counts as stationary. With a larger
/// value, forces deviate from the gradient of the potential by about this ratio; a smaller value takes more
/// evaluations and is limited by the rounding of normals.
const STATIONARY_SLOPE: f64 = 1e-10;
/// Slope below which a chord of a facet counts as stationary, relative to that of a point on the chord. A
/// larger value makes forces less exact; with a value near 1, the rounding of points on chords prevents
/// convergence.
const CHORD_SLOPES: f64 = 10.0;
/// Maximum number of evaluations for a bracketed minimum. With a smaller value, minima at sharp bends of the
/// distance are inaccurate; a larger one has no effect, because brackets are halved regularly.
const MAX_EVALUATIONS: usize = 200;
/// Maximum number of bisections of an interval whose ends show that it contains a minimum. With a smaller
/// value, minima beside narrow gaps are missed; a larger one has no effect beyond the digits of parameters.
const MAX_BISECTIONS: usize = 40;
/// Number of evaluations of which the last one bisects the bracket. With a larger value, minima at sharp
/// bends take more evaluations; a smaller value delays the convergence elsewhere.
const BISECTION_PERIOD: usize = 8;

/// Signed distance of points, and the parameters of the search for minima.
pub(super) struct Field<F> {
    /// Nearest surface point of a point (frame of the shape); `None` if the computation fails.
    pub(super) nearest: F,
    /// Distance (mm) beyond which minima need not be found.
    pub(super) reach: f64,
    /// Largest distance of probes (mm).
    pub(super) spacing: f64,
}

/// Minimum on a segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentMinimum {
    /// Parameter of the minimum in [0, 1].
    pub(super) t: f64,
    pub(super) at: SurfacePoint,
}

/// Bracket of a stationary point: parameters with their slopes, of which the first is negative and the second
/// positive.
struct Bracket {
    low: (f64, f64),
    high: (f64, f64),
    /// Slope below which a parameter counts as stationary.
    tolerance: f64,
}

/// Parameter with the distance there and its slope.
#[derive(Clone, Copy, Debug)]
struct Probe {
    t: f64,
    distance: f64,
    slope: f64,
}

/// Finds a bracket between two probes; `None` if they do not show that the interval contains a minimum. They
/// do if the distance decreases inwards at both ends, or at one end only, which is below the other one. The
/// latter is bisected until a point has the other sign of the slope. The outer `None` is a failure of
/// `probe`.
fn bracket(
    [mut low, mut high]: [Probe; 2],
    tolerance: f64,
    mut probe: impl FnMut(f64) -> Option<Probe>,
) -> Option<Option<Bracket>> {
    for _ in 0..MAX_BISECTIONS {
        let rise = high.distance - low.distance;
        let (is_low, is_high) = (low.slope < -tolerance, high.slope > tolerance);
        if is_low && is_high {
            return Some(Some(Bracket { low: (low.t, low.slope), high: (high.t, high.slope), tolerance }));
        }
        let is_below = (is_high && rise < -tolerance) || (is_low && rise > tolerance);
        if !is_below {
            return Some(None);
        }
        let middle = probe(0.5 * (low.t + high.t))?;
        // One of the halves has a minimum for the same reason.
        let is_first = if is_high {
            middle.slope >= 0.0 && middle.distance <= high.distance
        } else {
            middle.slope > tolerance || middle.distance > low.distance
        };
        if is_first {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(None)
}

impl Bracket {
    /// Calls `slope` for parameters in the bracket until one of them is stationary.
    fn solve(mut self, mut slope: impl FnMut(f64) -> Option<f64>) -> Option<()> {
        let mut last = 0.0;
        for k in 1..=MAX_EVALUATIONS {
            let (a, b) = (self.low, self.high);
            let secant = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
            let is_inside = k % BISECTION_PERIOD != 0 && secant > a.0 && secant < b.0;
            let t = if is_inside { secant } else { 0.5 * (a.0 + b.0) };
            if t <= a.0 || t >= b.0 {
                return Some(());
            }
            let s = slope(t)?;
            if s.abs() <= self.tolerance {
                return Some(());
            }
            // If the same end moves twice, the other slope is halved, so that the next secant lies beyond the
            // root (Illinois).
            let factor = if s * last > 0.0 { 0.5 } else { 1.0 };
            if s < 0.0 {
                self.low = (t, s);
                self.high.1 *= factor;
            } else {
                self.high = (t, s);
                self.low.1 *= factor;
            }
            last = s;
        }
        Some(())
    }
}

impl<F: FnMut(&P3) -> Option<SurfacePoint>> Field<F> {
    /// Step (mm) from a probe to the next one: the surface is not within reach of points that are nearer to
    /// the probe than its distance exceeds the reach.
    fn advance(&self, distance: f64) -> f64 {
        self.spacing.max(distance - self.reach)
    }

    /// Smallest distance on the segment `ab`, at whose ends the surface points are `ends`.
    pub(super) fn on_segment(&mut self, [a, b]: [&P3; 2], ends: [SurfacePoint; 2]) -> Option<SegmentMinimum> {
        let along = b - a;
        let length = along.norm();
        let tolerance = STATIONARY_SLOPE * length;
        let mut best = SegmentMinimum { t: 0.0, at: ends[0] };
        let mut from = best;
        while from.t < 1.0 {
            let step = self.advance(from.at.distance);
            let rest = (1.0 - from.t) * length;
            let to = if step < rest {
                // Probes are evenly distributed.
                let t = from.t + (rest / (rest / step).ceil()) / length;
                SegmentMinimum { t, at: (self.nearest)(&(a + along * t))? }
            } else {
                SegmentMinimum { t: 1.0, at: ends[1] }
            };
            if to.at.distance < best.at.distance {
                best = to;
            }
            let probe =
                |t: f64, at: &SurfacePoint| Probe { t, distance: at.distance, slope: at.normal.dot(&along) };
            let ends = [from, to].map(|m| probe(m.t, &m.at));
            let found = bracket(ends, tolerance, |t| {
                let at = (self.nearest)(&(a + along * t))?;
                if at.distance < best.at.distance {
                    best = SegmentMinimum { t, at };
                }
                Some(probe(t, &at))
            })?;
            if let Some(bracket) = found {
                bracket.solve(|t| {
                    let at = (self.nearest)(&(a + along * t))?;
                    // Values that differ by rounding only must not replace a stationary point.
                    if at.distance <= best.at.distance {
                        best = SegmentMinimum { t, at };
                    }
                    Some(at.normal.dot(&along))
                })?;
            }
            from = to;
        }
        Some(best)
    }

    /// Smallest distance on a triangle: the weights of its corners, and the surface point there. `edges` are
    /// the minima of the edges from corner k to corner k + 1.
    pub(super) fn on_triangle(
        &mut self,
        corners: [&P3; 3],
        edges: &[SegmentMinimum; 3],
    ) -> Option<([f64; 3], SurfacePoint)> {
        let mut base = 0;
        for k in 1..3 {
            if edges[k].at.distance < edges[base].at.distance {
                base = k;
            }
        }
        let [a, b, c] = [0, 1, 2].map(|k| corners[(base + k) % 3]);
        let rising = |t: f64, at: &SurfacePoint| {
            let direction: V3 = c.coords - (a.coords * (1.0 - t) + b.coords * t);
            (at.normal.dot(&direction), CHORD_SLOPES * STATIONARY_SLOPE * direction.norm())
        };
        let size = (c - a).norm().max((c - b).norm());
        let mut best = (0.0, edges[base]);
        let mut from = best;
        while from.0 < 1.0 {
            let step = self.advance(from.1.at.distance);
            let rest = (1.0 - from.0) * size;
            let is_last = step >= rest;
            let s = from.0 + (rest / (rest / step).ceil()) / size;
            let to =
                if is_last { (1.0, SegmentMinimum::default()) } else { (s, self.on_chord([a, b, c], s)?) };
            let (slope, tolerance) = rising(from.1.t, &from.1.at);
            // The end of the last interval is a corner, which is not below the best point of the edges.
            let end = if is_last { -slope } else { rising(to.1.t, &to.1.at).0 };
            if !is_last && to.1.at.distance < best.1.at.distance {
                best = to;
            }
            let is_bracket = slope < -tolerance && end > 0.0;
            let found = if is_last || is_bracket {
                is_bracket.then_some(Bracket { low: (from.0, slope), high: (to.0, end), tolerance })
            } else {
                let ends = [(from, slope), (to, end)];
                let ends = ends.map(|((t, m), slope)| Probe { t, distance: m.at.distance, slope });
                bracket(ends, tolerance, |s| {
                    let on_chord = self.on_chord([a, b, c], s)?;
                    if on_chord.at.distance < best.1.at.distance {
                        best = (s, on_chord);
                    }
                    let slope = rising(on_chord.t, &on_chord.at).0;
                    Some(Probe { t: s, distance: on_chord.at.distance, slope })
                })?
            };
            if let Some(bracket) = found {
                bracket.solve(|s| {
                    let on_chord = self.on_chord([a, b, c], s)?;
                    if on_chord.at.distance <= best.1.at.distance {
                        best = (s, on_chord);
                    }
                    Some(rising(on_chord.t, &on_chord.at).0)
                })?;
            }
            from = to;
        }
        let (s, SegmentMinimum { t, at }) = best;
        let mut weights = [0.0; 3];
        let found = [(1.0 - s) * (1.0 - t), (1.0 - s) * t, s];
        (0..3).for_each(|k| weights[(base + k) % 3] = found[k]);
        Some((weights, at))
    }

    /// Minimum on the chord of a triangle `abc` that is parallel to `ab`, at the share `s` of the way to `c`.
    fn on_chord(&mut self, [a, b, c]: [&P3; 3], s: f64) -> Option<SegmentMinimum> {
        let ends = [a + (c - a) * s, b + (c - b) * s];
        let at = [(self.nearest)(&ends[0])?, (self.nearest)(&ends[1])?];
        self.on_segment([&ends[0], &ends[1]], at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closest;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    fn ball(center: P3, radius: f64) -> impl Fn(&P3) -> SurfacePoint {
        move |p| {
            let arm = p - center;
            SurfacePoint { distance: arm.norm() - radius, normal: arm.normalize() }
        }
    }

    /// Minimum on a triangle, and the number of evaluations.
    fn minimum(
        corners: &[P3; 3],
        spacing: f64,
        nearest: impl Fn(&P3) -> SurfacePoint,
    ) -> (P3, SurfacePoint, u32) {
        let mut count = 0;
        let counted = |p: &P3| {
            count += 1;
            Some(nearest(p))
        };
        let mut field = Field { nearest: counted, reach: 0.1, spacing };
        let edges = [0, 1, 2].map(|k| {
            let (a, b) = (&corners[k], &corners[(k + 1) % 3]);
            field.on_segment([a, b], [nearest(a), nearest(b)]).unwrap()
        });
        let (w, at) = field.on_triangle([&corners[0], &corners[1], &corners[2]], &edges).unwrap();
        let x = (0..3).fold(V3::zeros(), |sum, k| sum + corners[k].coords * w[k]);
        (P3::from(x), at, count)
    }

    #[test]
    fn minima_of_balls_are_closest_points_of_triangles() {
        let mut rng = SmallRng::seed_from_u64(5);
        let mut random = || P3::from(V3::from_fn(|_, _| rng.random_range(-1.0..1.0)));
        let (mut total, mut inside, mut most) = (0_u32, 0_u32, 0);
        for _ in 0..2000 {
            let corners = [random(), random(), random()];
            let center = random();
            let (x, at, count) = minimum(&corners, f64::INFINITY, ball(center, 0.01));
            let w = closest::point_triangle(&center, [&corners[0], &corners[1], &corners[2]]);
            let exact = (0..3).fold(V3::zeros(), |sum, k| sum + corners[k].coords * w[k]);
            assert!((x - P3::from(exact)).norm() < 1e-7, "{x} {exact}");
            assert!((at.distance - ((x - center).norm() - 0.01)).abs() < 1e-14, "{at:?}");
            if w.iter().all(|w| *w > 0.0) {
                (total, inside, most) = (total + count, inside + 1, most.max(count));
            }
        }
        let mean = f64::from(total) / f64::from(inside);
        assert!(inside > 200 && mean < 80.0 && most < 1000, "{inside} minima inside: {mean}, at most {most}");
    }

    #[test]
    fn minima_beside_gaps_narrower_than_the_probes_are_stationary() {
        let (a, b) = (P3::origin(), P3::new(1.0, 0.0, 0.0));
        // Both balls are left of a probe, so that the distance increases at both, with a gap between them.
        let balls = [ball(P3::new(-0.05, 0.0, -0.3), 0.2), ball(P3::new(0.93, 0.0, -0.25), 0.2)];
        let nearest = |p: &P3| {
            let at = balls.each_ref().map(|b| b(p));
            if at[0].distance < at[1].distance { at[0] } else { at[1] }
        };
        for (ends, t) in [([a, b], 0.93), ([b, a], 0.07)] {
            let mut field = Field { nearest: |p: &P3| Some(nearest(p)), reach: 0.1, spacing: 1.0 };
            let at = ends.map(|p| nearest(&p));
            let found = field.on_segment([&ends[0], &ends[1]], at).unwrap();
            assert!((found.t - t).abs() < 1e-8 && found.at.normal.x.abs() < 1e-8, "{found:?}");
        }
    }

    #[test]
    fn probes_find_bumps_of_concave_shapes() {
        let mut rng = SmallRng::seed_from_u64(6);
        let corners = [P3::new(0.0, 0.0, 0.12), P3::new(4.0, 0.0, 0.12), P3::new(1.0, 4.0, 0.12)];
        for _ in 0..200 {
            let (s, t) = (rng.random_range(0.1..0.6), rng.random_range(0.1..0.3));
            let at = corners[0] + (corners[1] - corners[0]) * s + (corners[2] - corners[0]) * t;
            // A pin of the radius 0.2 with a round end stands on the plane z = -1.
            let bump = ball(P3::new(at.x, at.y, -0.15), 0.2);
            let shape = |p: &P3| {
                let near = bump(p);
                if near.distance < p.z + 1.0 {
                    near
                } else {
                    SurfacePoint { distance: p.z + 1.0, normal: V3::z() }
                }
            };
            let (x, found, count) = minimum(&corners, 0.2, shape);
            assert!((x - at).norm() < 1e-6 && (found.distance - 0.07).abs() < 1e-9, "{x} {at}");
            assert!(count < 5000, "{count}");
        }
    }
}
