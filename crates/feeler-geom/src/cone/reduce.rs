//! Smallest polyhedral cone of at most four sides around the spherical convex hull of directions.
//!
//! The hull is a convex polygon in the gnomonic plane, and the cone a triangle or quadrilateral around
//! it. A smallest quadrilateral around a convex polygon has at least three sides on sides of the
//! polygon. The fourth side is on one as well, unless its two neighbours diverge from it; then it
//! touches the polygon in its midpoint. There are few enough candidates to try them all.
//!
//! # Source
//! BREP §4.2.2, Algorithms 10 and 11 (one guess per edge; the smallest cone is left open there). The
//! midpoint rule is that of `DePano` and Aggarwal for the smallest k-gon around a polygon.
//!
//! # Deviations
//! Candidates are ranked by area in the plane, and the best few are compared by solid angle. A test
//! compares the result with a numerical search over all quadrilaterals; the excess is below 2 %.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the conservative branch")]

use super::{HULL_DILATION, MIN_COS, PolyCone};
use crate::frame::complete_basis;
use crate::{P2, V2, V3};
use arrayvec::ArrayVec;

/// Maximum number of sides of a hull of which all combinations of three and four are tried; of hulls
/// with more sides, sides are removed greedily. A larger value costs time (with its fourth power), a
/// smaller one gives looser cones.
const MAX_SIDES: usize = 12;

/// Maximum number of points of a hull; hulls with more points are replaced by larger hulls with fewer
/// points, because the work is quadratic in the number of points. A larger value costs time; at this
/// value the replacement enlarges a circle by 0.3 %, at a smaller one by more.
const MAX_POINTS: usize = 32;

/// Maximum number of candidate cones that are compared by solid angle. A larger value costs time, a
/// smaller one may miss the smallest cone.
const MAX_FINALISTS: usize = 4;

/// Maximum distance of each corner of the dilated hull from a point of the hull, relative to the radius
/// of dilation, if the hull itself is the result because it has three or four sides. A larger value
/// allows needle-like cones; with a smaller one the search of candidates is needed more often.
const MAX_MITRE: f64 = 8.0;

/// Sine of the angle below which two neighbouring sides are merged. With a larger value sides with a
/// distinct direction are lost; with a smaller one corners of nearly parallel sides lie at infinity.
const PARALLEL_SINE: f64 = 1e-6;

/// Central (gnomonic) projection of directions onto the plane tangent to the unit sphere at `axis`, with
/// coordinates along `x` and `y`.
pub(super) struct Gnomonic {
    axis: V3,
    x: V3,
    y: V3,
}

impl Gnomonic {
    pub(super) fn new(axis: V3) -> Self {
        let (x, y) = complete_basis(&axis);
        Self { axis, x, y }
    }

    /// Projects a direction onto the plane. Returns `None` if the direction is at a right angle or more
    /// from the axis, or nearly so.
    pub(super) fn project(&self, d: &V3) -> Option<P2> {
        let w = d.dot(&self.axis);
        (w > MIN_COS).then(|| P2::new(d.dot(&self.x) / w, d.dot(&self.y) / w))
    }

    pub(super) fn lift(&self, q: &V2) -> V3 {
        (self.axis + self.x * q.x + self.y * q.y).normalize()
    }
}

/// Line of the points q of the projection plane with ⟨m, q⟩ = h. The unit vector m lies in that plane,
/// is normal to the line and points out of the hull: all points of the hull have ⟨m, q⟩ ≤ h.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    m: V2,
    h: f64,
}

impl Line {
    fn intersection(&self, next: &Self) -> Option<V2> {
        let det = self.m.perp(&next.m);
        // Nearly parallel sides have no reliable corner.
        (det > 1e-9).then(|| {
            V2::new(self.h * next.m.y - next.h * self.m.y, self.m.x * next.h - next.m.x * self.h) / det
        })
    }
}

/// Polygon in the gnomonic plane that three or four lines bound, with its area. The lines are in
/// counter-clockwise order, and each is the projection of a side of the cone around the hull.
#[derive(Clone, Debug)]
struct Polygon {
    lines: ArrayVec<Line, 4>,
    area: f64,
}

impl Polygon {
    /// Creates the polygon that three or four lines bound. Returns `None` if neighbouring lines do not
    /// intersect.
    fn of(lines: &[Line]) -> Option<Self> {
        let n = lines.len();
        let mut corners = ArrayVec::<V2, 4>::new();
        for i in 0..n {
            corners.push(lines[i].intersection(&lines[(i + 1) % n])?);
        }
        let fan = |i: usize| (corners[i] - corners[0]).perp(&(corners[i + 1] - corners[0]));
        let area = 0.5 * (1..n - 1).map(fan).sum::<f64>();
        Some(Self { lines: lines.iter().copied().collect(), area })
    }
}

/// Dilated convex hull of projected directions: the convex hull of one disc for each corner, whose
/// radius allows for directions within [`HULL_DILATION`] of the given ones.
pub(super) struct Hull<'a> {
    /// Projection of directions onto the plane of the hull.
    map: &'a Gnomonic,
    /// Corners of the hull before the dilation, counter-clockwise; the centres of the discs.
    points: Vec<P2>,
    /// Radius of the disc around each of `points`.
    radii: Vec<f64>,
}

impl<'a> Hull<'a> {
    pub(super) fn new(map: &'a Gnomonic, points: Vec<P2>) -> Self {
        // A cap of radius δ at the angle φ from the axis reaches tan(φ + δ) − tan φ = sin δ / (cos φ cos(φ +
        // δ)) in the radial direction and less in all others.
        let radius = |q: &P2| {
            let cos = 1.0 / (1.0 + q.coords.norm_squared()).sqrt();
            1.001 * HULL_DILATION / (cos * (cos - HULL_DILATION))
        };
        let radii = points.iter().map(radius).collect();
        Self { map, points, radii }
    }

    /// Supporting line of the dilated hull with outward unit normal `m`.
    fn line(&self, m: V2) -> Line {
        let reach = |(q, r): (&P2, &f64)| m.dot(&q.coords) + r;
        let h = self.points.iter().zip(&self.radii).map(reach).fold(f64::NEG_INFINITY, f64::max);
        Line { m, h }
    }

    /// Sides of the dilated hull, counter-clockwise; nearly parallel neighbours are merged. If the hull
    /// is a segment, it has two sides; if it is a point, it gets one side in an arbitrary direction.
    fn sides(&self) -> Vec<Line> {
        let n = self.points.len();
        let side = |i: usize| {
            let e = self.points[(i + 1) % n] - self.points[i];
            let len = e.norm();
            (len > 0.0).then(|| self.line(V2::new(e.y, -e.x) / len))
        };
        let mut out: Vec<Line> = (0..n).filter_map(side).collect();
        // Points of an arc are collinear up to rounding. Every line supports all points, so one of two
        // nearly equal lines suffices.
        let one = |a: &Line, b: &Line| a.m.perp(&b.m).abs() < PARALLEL_SINE && a.m.dot(&b.m) > 0.0;
        out.dedup_by(|b, a| one(a, b));
        if let [first, .., last] = out.as_slice()
            && one(first, last)
        {
            out.pop();
        }
        if out.is_empty() { vec![self.line(V2::x())] } else { out }
    }

    /// Computes a smallest cone of at most four sides around the hull. Returns `None` if no candidate is
    /// proven to contain the hull.
    pub(super) fn smallest(&self) -> Option<PolyCone> {
        let sides = self.sides();
        if let 3..=4 = sides.len()
            && let Some(cone) = self.own_sides(&sides)
        {
            return Some(cone);
        }
        let dirs: Vec<V3> = self.points.iter().map(|q| self.map.lift(&q.coords)).collect();
        if sides.len() <= 2 {
            return self.cone_of(&self.rectangle(sides[0].m)?, &dirs);
        }
        let coarse = (sides.len() > MAX_POINTS).then(|| self.coarse(&sides)).flatten();
        let mut all = match coarse {
            Some(hull) => hull.candidates(hull.sides()),
            None => self.candidates(sides),
        };
        all.sort_by(|a, b| a.area.total_cmp(&b.area));
        let sound = all.iter().filter_map(|p| self.cone_of(p, &dirs)).take(MAX_FINALISTS);
        let by_size = sound.map(|c| (c.solid_angle(), c)).min_by(|a, b| a.0.total_cmp(&b.0));
        by_size.map(|c| c.1)
    }

    /// Computes a hull with at most [`MAX_POINTS`] points around this hull. Returns `None` if
    /// neighbouring sides do not intersect.
    fn coarse(&self, sides: &[Line]) -> Option<Self> {
        let sides = thinned(sides.to_vec(), MAX_POINTS);
        let n = sides.len();
        let corner = |i: usize| sides[i].intersection(&sides[(i + 1) % n]).map(P2::from);
        let points = (0..n).map(corner).collect::<Option<Vec<P2>>>()?;
        Some(Self::new(self.map, points))
    }

    /// Computes triangles and quadrilaterals around the hull, including the smallest ones.
    fn candidates(&self, sides: Vec<Line>) -> Vec<Polygon> {
        let mut all = sides.iter().filter_map(|s| self.rectangle(s.m)).collect();
        self.around_sides(&thinned(sides, MAX_SIDES), &mut all);
        all
    }

    /// Returns the cone over the dilated hull itself if it has three or four sides; no cone is smaller.
    /// Returns `None` if a corner is needle-like.
    fn own_sides(&self, sides: &[Line]) -> Option<PolyCone> {
        let polygon = Polygon::of(sides)?;
        let n = sides.len();
        for i in 0..n {
            let corner = sides[i].intersection(&sides[(i + 1) % n])?;
            let near = |(q, r): (&P2, &f64)| (q.coords - corner).norm() <= MAX_MITRE * r;
            if !self.points.iter().zip(&self.radii).any(near) {
                return None;
            }
        }
        let dirs: Vec<V3> = self.points.iter().map(|q| self.map.lift(&q.coords)).collect();
        self.cone_of(&polygon, &dirs)
    }

    fn rectangle(&self, m: V2) -> Option<Polygon> {
        let t = V2::new(-m.y, m.x);
        Polygon::of(&[m, t, -m, -t].map(|m| self.line(m)))
    }

    /// Appends polygons around the hull to `out`: those whose sides lie on three or four of the lines
    /// `sides`, which are lines through sides of the hull. If two of three such lines diverge, so that
    /// the three do not bound a triangle, a fourth line between these two completes a quadrilateral. It
    /// touches the hull, and the point of contact is the midpoint of its segment between the two
    /// ([`balanced`](Self::balanced)).
    fn around_sides(&self, sides: &[Line], out: &mut Vec<Polygon>) {
        let n = sides.len();
        // Two sides that do not intersect leave the triangle open, which a fourth side closes.
        let closing: Vec<Option<Line>> = (0..n * n)
            .map(|k| (&sides[k / n], &sides[k % n]))
            .map(|(c, a)| if c.m.perp(&a.m) < 1e-6 { self.balanced(c, a) } else { None })
            .collect();
        for i in 0..n {
            for j in i + 1..n {
                for k in j + 1..n {
                    let three = [i, j, k];
                    out.extend(Polygon::of(&three.map(|x| sides[x])));
                    for turn in 0..3 {
                        let [a, b, c] = std::array::from_fn(|x| three[(x + turn) % 3]);
                        if let Some(d) = closing[c * n + a] {
                            out.extend(Polygon::of(&[sides[a], sides[b], sides[c], d]));
                        }
                    }
                    for l in k + 1..n {
                        out.extend(Polygon::of(&[sides[i], sides[j], sides[k], sides[l]]));
                    }
                }
            }
        }
    }

    /// Returns the supporting line of the hull whose segment between the lines `from` and `to` touches
    /// the hull in its midpoint. Returns `None` if such a line does not exist.
    fn balanced(&self, from: &Line, to: &Line) -> Option<Line> {
        // The far end x on `to` and its mirror image 2p − x on `from`: ⟨to, x⟩ and ⟨from, x⟩ are given.
        let det = from.m.perp(&to.m);
        if !(det.abs() > 1e-9) {
            return None;
        }
        let n = self.points.len();
        (0..n).find_map(|i| {
            let (p, r) = (&self.points[i], self.radii[i]);
            let (f, t) = (2.0 * from.m.dot(&p.coords) - from.h, to.h);
            let x = V2::new(f * to.m.y - t * from.m.y, from.m.x * t - to.m.x * f) / det;
            let along = (x - p.coords).try_normalize(1e-300)?;
            let m = V2::new(along.y, -along.x);
            // The line must support the hull at p, and its normal must lie between those of the
            // neighbours. Testing the points next to p first excludes most lines that do not support the
            // hull.
            let max_height = m.dot(&p.coords) + 2.0 * r;
            let below = |k: usize| m.dot(&self.points[k].coords) + self.radii[k] <= max_height;
            let between = from.m.perp(&m) > 1e-9 && m.perp(&to.m) > 1e-9;
            if !(between && below((i + 1) % n) && below((i + n - 1) % n)) {
                return None;
            }
            let line = self.line(m);
            (line.h <= max_height).then_some(line)
        })
    }

    /// Returns the cone over a polygon. Returns `None` unless the cone is convex by more than rounding
    /// and contains all directions `dirs`, with part of the dilation as margin.
    fn cone_of(&self, polygon: &Polygon, dirs: &[V3]) -> Option<PolyCone> {
        let lines = &polygon.lines;
        let n = lines.len();
        let mut generators = ArrayVec::new();
        for i in 0..n {
            generators.push(self.map.lift(&lines[i].intersection(&lines[(i + 1) % n])?));
        }
        let cone = PolyCone { generators };
        let spare = -0.25 * HULL_DILATION;
        let sound = cone.is_convex()
            && cone.generators.iter().all(|g| g.dot(&self.map.axis) > 0.1 * MIN_COS)
            && cone.faces().all(|f| dirs.iter().all(|d| f.dot(d) <= spare));
        sound.then_some(cone)
    }
}

/// Removes sides of a convex polygon until at most `max_sides` remain. Each step removes the side whose
/// removal increases the area least.
fn thinned(mut sides: Vec<Line>, max_sides: usize) -> Vec<Line> {
    let added = |sides: &[Line], i: usize| {
        let n = sides.len();
        let (prev, this, next) = (&sides[(i + n - 1) % n], &sides[i], &sides[(i + 1) % n]);
        let Some(tip) = prev.intersection(next) else { return f64::INFINITY };
        match (prev.intersection(this), this.intersection(next)) {
            (Some(p), Some(q)) => 0.5 * (q - p).perp(&(tip - p)).abs(),
            // Nearly parallel to a neighbour: one of the two is redundant.
            _ => 0.0,
        }
    };
    let mut cost: Vec<f64> = (0..sides.len()).map(|i| added(&sides, i)).collect();
    while sides.len() > max_sides {
        let Some(i) = (0..sides.len()).min_by(|&i, &j| cost[i].total_cmp(&cost[j])) else { break };
        sides.remove(i);
        cost.remove(i);
        let n = sides.len();
        for k in [(i + n - 1) % n, i % n] {
            cost[k] = added(&sides, k);
        }
    }
    sides
}
