//! Culling of the minima of a curve with itself, for BREP's example of a spring (§5.3, figures 5.21 and
//! 5.22): BREP's tests and the tests of this crate, for comparison.
//!
//! # Source
//! BREP §4.3.3, Algorithm 13: pairs of pieces are tested, and bisected until both are flat.
//! # Deviations
//! - In line 8 of the algorithm `node_B` is `bezier_B`, and lines 19 to 22 are the four combinations of
//!   halves.
//! - BREP does not say how contacts between neighbouring parts of a curve are excluded. Here all methods
//!   exclude them by the turning in between, as in `tree`.

mod orthogonal;
pub mod shapes;

use std::f64::consts::PI;

use feeler_geom::obb::separated_in_frame;
use feeler_geom::{Obb, P3, V3};

use crate::curve::{Curve, with_pieces};
use crate::part::{Part, turn_too_little};
use crate::piece::{Piece, angle_bound, first_leg, last_leg, turning};
use crate::tree::{Between, Leaf};
use orthogonal::{Ball, TangentCone, by_polyhedra, by_revolution, by_signs};

/// Maximum number of bisections of a piece. A part that is still not flat contains a cusp.
const MAX_BISECTIONS: u32 = 12;

/// Kind of test by which it is decided whether a direction between two parts can be orthogonal to the
/// tangents of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cones {
    /// Tangents and directions are bounded by cones of revolution.
    Revolution,
    /// Tangents and directions are bounded by polyhedral cones.
    Polyhedral,
    /// Signs of Bernstein coefficients are tested, without cones.
    Signs,
}

/// Method of culling pairs of parts of a curve that cannot contain a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Method {
    /// Test by which it is decided whether a direction between two parts can be orthogonal to the
    /// tangents of both.
    pub cones: Cones,
    /// Whether pairs whose oriented boxes are farther apart than `reach` are culled, too.
    pub boxes: bool,
    /// Maximum half angle (rad) of the cone of tangents at which a part is flat, so that it is not
    /// bisected.
    pub flatness: f64,
    /// Maximum distance (mm) of minima, infinite for no limit. Only the test of boxes uses it.
    pub reach: f64,
}

/// Pairs of flat parts of one curve that may contain a minimum.
#[derive(Clone, Debug, Default)]
pub struct Culling {
    /// Intervals of the curve's parameter of the two parts of each pair.
    pub pairs: Vec<[[f64; 2]; 2]>,
    /// Number of pairs of parts that were tested.
    pub n_tests: usize,
}

impl Culling {
    /// Replaces the pairs by the pairs of flat parts of a curve that the method does not cull.
    pub fn itself(&mut self, curve: &Curve, method: &Method) {
        self.pairs.clear();
        self.n_tests = 0;
        with_pieces!(&curve.pieces, s => self.pieces(&s.pieces, s.is_closed, method));
    }

    /// Runs Newton's method once from the middle of each pair, like the final step of BREP's algorithm.
    /// Returns the number of runs that end inside of their pair; duplicates at common borders count
    /// twice.
    #[must_use]
    pub fn solve(&self, curve: &Curve) -> usize {
        self.pairs.iter().filter(|pair| newton(curve, pair)).count()
    }

    fn pieces<const N: usize>(&mut self, pieces: &[Piece<N>], is_closed: bool, method: &Method) {
        let turned = turned(pieces);
        let total = turned[pieces.len()][1];
        let segments = pieces.iter().enumerate().map(|(k, piece)| {
            let u = [k as f64, k as f64 + 1.0];
            let leaf = Leaf { control: *piece, u, turning: turning(piece), turned: turned[k] };
            Segment::new(Part::of_leaf(&leaf), method)
        });
        let segments: Vec<Segment<N>> = segments.collect();
        for (i, a) in segments.iter().enumerate() {
            let around = |last: usize| {
                if is_closed { total - (turned[last + 1][0] - turned[i][1]) } else { f64::INFINITY }
            };
            self.with_itself(a, around(i), MAX_BISECTIONS, method);
            for (j, b) in segments.iter().enumerate().skip(i + 1) {
                let onward = turned[j][1] - turned[i + 1][0];
                self.cull(a, b, Between { onward, around: around(j) }, MAX_BISECTIONS, method);
            }
        }
    }

    /// Adds the pairs of flat parts within one part `a` that the method does not cull, recursively;
    /// `halvings` bisections are left. `around` is an upper bound of the turning (rad) of the rest of a
    /// closed curve, infinite for an open one.
    fn with_itself<const N: usize>(&mut self, a: &Segment<N>, around: f64, halvings: u32, method: &Method) {
        if a.part.turning() < PI || halvings == 0 {
            return;
        }
        let [l, r] = a.part.halves(true);
        let (inner_l, inner_r) = Part::facing(&l, &r);
        let [near_l, near_r] = [inner_l, inner_r].map(|part| Segment::new(part, method));
        self.cull(&near_l, &near_r, Between { onward: 0.0, around }, MAX_BISECTIONS, method);
        for half in [l, r] {
            self.with_itself(&Segment::new(half, method), around, halvings - 1, method);
        }
    }

    /// Adds the pairs of a flat part of `a` and a flat part of `b` that Algorithm 13 does not cull,
    /// recursively; `halvings` bisections are left. `between` is the turning between `a` and `b`.
    fn cull<const N: usize>(
        &mut self,
        a: &Segment<N>,
        b: &Segment<N>,
        between: Between,
        halvings: u32,
        method: &Method,
    ) {
        if turn_too_little(&a.part, &b.part, &between) {
            return;
        }
        self.n_tests += 1;
        if !may_contain_minimum(a, b, method) {
            return;
        }
        if halvings == 0 || a.is_flat && b.is_flat {
            let interval = |p: &Part<N>| [p.u, p.u + p.du];
            self.pairs.push([interval(&a.part), interval(&b.part)]);
            return;
        }
        let turns = between.can_reject();
        if a.is_flat {
            for half in b.halves(turns, method) {
                self.cull(a, &half, between, halvings - 1, method);
            }
        } else if b.is_flat {
            for half in a.halves(turns, method) {
                self.cull(&half, b, between, halvings - 1, method);
            }
        } else {
            let of_b = b.halves(turns, method);
            for half_a in a.halves(turns, method) {
                for half_b in &of_b {
                    self.cull(&half_a, half_b, between, halvings - 1, method);
                }
            }
        }
    }
}

/// Upper bounds of the turning (rad) from the start of a curve to the start of each piece, before and
/// after the joint there; the last entry is for the end of the curve.
fn turned<const N: usize>(pieces: &[Piece<N>]) -> Vec<[f64; 2]> {
    let mut sum = 0.0;
    let mut out = Vec::with_capacity(pieces.len() + 1);
    for (k, piece) in pieces.iter().enumerate() {
        let before = sum;
        if k > 0 {
            sum += angle_bound(&last_leg(&pieces[k - 1]), &first_leg(piece));
        }
        out.push([before, sum]);
        sum += turning(piece);
    }
    let closing = angle_bound(&last_leg(&pieces[pieces.len() - 1]), &first_leg(&pieces[0]));
    out.push([sum, sum + closing]);
    out
}

/// A part with the data of its tests; only data that the method needs are computed.
struct Segment<const N: usize> {
    part: Part<N>,
    is_flat: bool,
    tangents: TangentCone,
    ball: Option<Ball>,
    obb: Option<Obb>,
}

impl<const N: usize> Segment<N> {
    fn new(part: Part<N>, method: &Method) -> Self {
        let tangents = TangentCone::of(&part.control);
        Self {
            is_flat: tangents.half_angle() <= method.flatness,
            tangents,
            ball: (method.cones == Cones::Revolution).then(|| Ball::of(&part.control)),
            obb: method.boxes.then(|| along_chord(&part.control)),
            part,
        }
    }

    fn halves(&self, turns: bool, method: &Method) -> [Self; 2] {
        self.part.halves(turns).map(|half| Self::new(half, method))
    }
}

fn may_contain_minimum<const N: usize>(a: &Segment<N>, b: &Segment<N>, method: &Method) -> bool {
    if let (Some(a), Some(b)) = (&a.obb, &b.obb)
        && separated_in_frame(a, b, method.reach, 0).is_some()
    {
        return false;
    }
    match (method.cones, &a.ball, &b.ball) {
        (Cones::Revolution, Some(ball_a), Some(ball_b)) => {
            by_revolution([&a.tangents, &b.tangents], [ball_a, ball_b])
        }
        (Cones::Revolution, ..) => true,
        (Cones::Polyhedral, ..) => by_polyhedra(&a.part.control, &b.part.control),
        (Cones::Signs, ..) => by_signs(&a.part.control, &b.part.control),
    }
}

/// Oriented box of a piece along its chord; its second axis points to the control point farthest from
/// the chord.
fn along_chord<const N: usize>(a: &Piece<N>) -> Obb {
    let x = (a[N - 1] - a[0]).try_normalize(0.0).unwrap_or_else(V3::x);
    let across = |p: &V3| {
        let w = p - a[0];
        w - x * x.dot(&w)
    };
    let far = a
        .iter()
        .map(across)
        .fold(V3::zeros(), |far, w| if w.norm_squared() > far.norm_squared() { w } else { far });
    let y = far.try_normalize(0.0).unwrap_or_else(|| across_of(&x));
    // Orthogonalised once more, because the remaining component along x may be as large as rounding.
    let y = (y - x * x.dot(&y)).try_normalize(0.5).unwrap_or_else(|| across_of(&x));
    Obb::around(&a.map(P3::from), [x, y, x.cross(&y)])
}

/// Returns a unit vector orthogonal to a unit vector.
fn across_of(x: &V3) -> V3 {
    let axis = if x.x.abs() < 0.6 { V3::x() } else { V3::y() };
    (axis - x * x.dot(&axis)).normalize()
}

/// Whether Newton's method, from the middles of two intervals of a curve's parameter, converges to a
/// critical pair inside both.
fn newton(curve: &Curve, pair: &[[f64; 2]; 2]) -> bool {
    let [[a, a_end], [b, b_end]] = *pair;
    let (da, db) = (a_end - a, b_end - b);
    let (mut s, mut t) = (0.5 * (a + a_end), 0.5 * (b + b_end));
    for _ in 0..16 {
        let (p, q) = (curve.at(s), curve.at(t));
        let w = p.p - q.p;
        let (fs, ft) = (w.dot(&p.d), -w.dot(&q.d));
        let (ss, tt) = (p.d.norm_squared() + w.dot(&p.dd), q.d.norm_squared() - w.dot(&q.dd));
        let st = -p.d.dot(&q.d);
        let det = ss * tt - st * st;
        let (ds, dt) = ((st * ft - tt * fs) / det, (st * fs - ss * ft) / det);
        s += ds;
        t += dt;
        let is_near = |u: f64, from: f64, d: f64| from - d <= u && u <= from + 2.0 * d;
        // NaN also fails this test.
        if !(is_near(s, a, da) && is_near(t, b, db)) {
            return false;
        }
        if ds.abs() <= 1e-10 * da && dt.abs() <= 1e-10 * db {
            let is_in = |u: f64, from: f64, d: f64| from - 1e-9 * d <= u && u <= from + (1.0 + 1e-9) * d;
            return is_in(s, a, da) && is_in(t, b, db);
        }
    }
    false
}

#[cfg(test)]
mod tests;
