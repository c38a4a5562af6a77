//! All local minimal distances between two curves, or between a curve and itself.

use feeler_geom::V3;

use crate::along::LevelThreshold;
use crate::curve::{Curve, Pieces, with_pieces};
use crate::ids::{Ids, Numbered};
use crate::minimum::{CurveLocation, CurveMinimum, CurveOptions, CurveStats};
use crate::sets::{Pairing, Sample, Sampling, Sets};
use crate::solve::{Limits, OnCurve, ParamPair, Solutions, Stretch};
use crate::tree::{CurveTree, Vertex, whole};
use crate::walk::{self, Stack};

/// Distance, as a fraction of the larger curve's size, below which two minima count as one minimum found
/// twice. With a larger value, different minima close to each other are merged; with a smaller one,
/// minima are reported twice.
const SAME_MINIMUM_TOLERANCE: f64 = 1e-8;

/// Length of a part, as a fraction of the larger curve's size, below which it is not bisected. With a
/// larger value, more pairs of parts stay undecided; with a smaller one, undecided pairs cost more
/// bisections.
const MIN_PART_LENGTH: f64 = 1e-10;

/// Slope of the distance with length (mm per mm) that rounding leaves at a vertex (a free end or a
/// corner) where the true slope is zero. With a larger value, inner minima are reported as ends; with a
/// smaller one, touching ends are lost.
const VERTEX_SLOPE_ROUNDING: f64 = 1e-13;

/// Distance in the parameter from a joint within which a minimum may belong to the piece on the other
/// side of the joint. With a larger value, minima near joints are tested needlessly; with a smaller one,
/// false minima beyond the ends of pieces remain.
const JOINT_TOLERANCE: f64 = 1e-8;

/// Maximum displacement of a minimum along the curves between two queries, as a fraction of the larger
/// curve's size, with which it keeps its identity. With a larger value, another minimum takes the
/// identity; with a smaller one, identities change.
pub(crate) const MAX_IDENTITY_MOVE: f64 = 0.05;

impl Numbered for CurveMinimum {
    fn id(&mut self) -> &mut u64 {
        &mut self.id
    }
}

/// Scratch buffers, results and identities of the minima between two curves, or between a curve and
/// itself.
///
/// Query a pair again whenever its curves have moved. Apart from the identities, results do not depend
/// on earlier queries. Repeated queries do not allocate once the buffers have grown to what the curves
/// need.
#[derive(Clone, Debug, Default)]
pub struct CurvePair {
    stack: Stack,
    solutions: Solutions,
    candidates: Vec<(ParamPair, [CurveLocation; 2])>,
    sets: Sets,
    minima: Vec<CurveMinimum>,
    ids: Ids<CurveMinimum>,
}

impl CurvePair {
    /// Creates a pair that has no results yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds all local minima of the distance between two curves whose gaps are at most `d_max`: strict
    /// minima, and samples of stretches of constant distance. They are sorted by their parameters.
    pub fn query(&mut self, a: &Curve, b: &Curve, options: &CurveOptions) -> &[CurveMinimum] {
        let limits = limits(a, b, options);
        self.solutions.clear();
        self.candidates.clear();
        let (stack, out) = (&mut self.stack, &mut self.solutions);
        match (&a.pieces, &b.pieces) {
            (Pieces::Cubic(a), Pieces::Cubic(b)) => walk::curves(a, b, &limits, stack, out),
            (Pieces::Cubic(a), Pieces::Quintic(b)) => walk::curves(a, b, &limits, stack, out),
            (Pieces::Quintic(a), Pieces::Cubic(b)) => walk::curves(a, b, &limits, stack, out),
            (Pieces::Quintic(a), Pieces::Quintic(b)) => walk::curves(a, b, &limits, stack, out),
        }
        // Duplicates are reported as the first one found, so pairs of vertices come first.
        for v in a.vertices() {
            for w in b.vertices() {
                self.vertices(v, w, &limits);
            }
        }
        for vertex in a.vertices() {
            with_pieces!(&b.pieces, s => self.vertex(vertex, s, false, false, &limits));
        }
        for vertex in b.vertices() {
            with_pieces!(&a.pieces, s => self.vertex(vertex, s, true, false, &limits));
        }
        self.collect_minima(a, b, options, false)
    }

    /// Finds all local minima of the distance between a curve and itself; see [`CurvePair::query`].
    /// Points that are near only because they are neighbours along the curve are not minima.
    pub fn query_itself(&mut self, a: &Curve, options: &CurveOptions) -> &[CurveMinimum] {
        let limits = limits(a, a, options);
        self.solutions.clear();
        self.candidates.clear();
        with_pieces!(&a.pieces, s => walk::self_pairs(s, &limits, &mut self.stack, &mut self.solutions));
        let vertices = a.vertices();
        for (i, vertex) in vertices.iter().enumerate() {
            for other in &vertices[i + 1..] {
                if with_pieces!(&a.pieces, s => !turn_too_little_between(s, vertex, other)) {
                    self.vertices(vertex, other, &limits);
                }
            }
        }
        for vertex in vertices {
            with_pieces!(&a.pieces, s => self.vertex(vertex, s, false, true, &limits));
        }
        self.collect_minima(a, a, options, true)
    }

    /// Minima that the most recent query found; empty before the first one.
    #[must_use]
    pub fn minima(&self) -> &[CurveMinimum] {
        &self.minima
    }

    /// Counts of the work of the most recent query.
    #[must_use]
    pub fn stats(&self) -> CurveStats {
        let s = &self.solutions;
        CurveStats { n_nodes: s.n_nodes, n_parts: s.n_parts, n_undecided: s.n_undecided }
    }

    /// Adds the minima between a vertex of one curve and the interior of the pieces of the curve `s` to
    /// the candidates, and stretches of constant distance to the solutions. `swapped` is set if the
    /// vertex is on the second curve, `is_own` if it is a vertex of `s` itself.
    fn vertex<const M: usize>(
        &mut self,
        vertex: &Vertex,
        s: &CurveTree<M>,
        swapped: bool,
        is_own: bool,
        limits: &Limits,
    ) {
        let order = |v: f64, u: f64| if swapped { [u, v] } else { [v, u] };
        let place = vertex_place(vertex);
        let places = if swapped { [CurveLocation::Inside, place] } else { [place, CurveLocation::Inside] };
        let (found, stretches) = (&mut self.candidates, &mut self.solutions.stretches);
        let mut take = |on: OnCurve| match on {
            OnCurve::Minimum(u) => {
                if admits(vertex, &point(s, u)) {
                    found.push((order(vertex.u, u), places));
                }
            }
            OnCurve::Level { ends, outward } => {
                if admits(vertex, &point(s, 0.5 * (ends[0] + ends[1]))) {
                    let along = usize::from(!swapped);
                    let ends = ends.map(|u| order(vertex.u, u));
                    stretches.push(Stretch { ends, outward, along, area: 0 });
                }
            }
        };
        let own = is_own.then_some(vertex);
        walk::point(&vertex.point, own, s, limits, &mut self.stack, &mut self.solutions.n_parts, &mut take);
    }

    fn vertices(&mut self, v: &Vertex, w: &Vertex, limits: &Limits) {
        if (v.point - w.point).norm() <= limits.reach && admits(v, &w.point) && admits(w, &v.point) {
            self.candidates.push(([v.u, w.u], [vertex_place(v), vertex_place(w)]));
        }
    }

    /// Joins stretches of constant distance to sets, removes duplicates and false minima from the
    /// candidates, and computes the remaining minima with their identities.
    fn collect_minima(
        &mut self,
        a: &Curve,
        b: &Curve,
        options: &CurveOptions,
        is_itself: bool,
    ) -> &[CurveMinimum] {
        let pairing = CurvePairing { a, b };
        let size = a.size().max(b.size());
        let sampling =
            Sampling { size, length: level_length(a, b, options), max_samples: options.max_samples };
        self.sets.clear();
        if !self.solutions.stretches.is_empty() {
            self.sets.join(&pairing, &self.solutions.stretches, &sampling);
        }
        let inside = [CurveLocation::Inside; 2];
        let interior = self
            .solutions
            .minima
            .iter()
            .chain(self.sets.minima.iter().map(|s| &s.params))
            .map(|p| (*p, inside));
        // Candidates at vertices come first: an inner minimum that has just reached a vertex is reported
        // as one at the vertex.
        self.candidates.extend(interior);
        self.minima.clear();
        let reach = options.d_max + a.radius() + b.radius();
        let is_turned = |[s, t]: ParamPair| is_itself && t < s;
        let mut n = 0;
        for i in 0..self.candidates.len() {
            let (mut params, mut kinds) = self.candidates[i];
            if self.sets.contains(&pairing, &params, size) {
                continue;
            }
            if is_turned(params) {
                params.reverse();
                kinds.reverse();
            }
            let is_trivial =
                is_itself && is_same(a, a, &[params[0]; 2], &[params[1]; 2], SAME_MINIMUM_TOLERANCE * size);
            if is_trivial || !is_on_own_piece(a, b, &params, &kinds) || is_saddle(a, b, &params, &kinds) {
                continue;
            }
            if !self.candidates[..n]
                .iter()
                .any(|(p, _)| is_same(a, b, p, &params, SAME_MINIMUM_TOLERANCE * size))
            {
                self.candidates[n] = (params, kinds);
                n += 1;
                self.minima.extend(measured(a, b, params, kinds, None, reach));
            }
        }
        for &Sample { mut params, set, .. } in &self.sets.samples {
            if is_turned(params) {
                params.reverse();
            }
            self.minima.extend(measured(a, b, params, inside, Some(set), reach));
        }
        self.minima.sort_unstable_by(|p, q| p.u[0].total_cmp(&q.u[0]).then(p.u[1].total_cmp(&q.u[1])));
        let moved = |new: &CurveMinimum, old: &CurveMinimum| {
            let speed = [a.at(new.u[0]).d.norm(), b.at(new.u[1]).d.norm()];
            let moved = (0..2).map(|k| (new.u[k] - old.u[k]).abs() * speed[k]).fold(0.0, f64::max);
            (moved <= MAX_IDENTITY_MOVE * size && new.set.is_some() == old.set.is_some()).then_some(moved)
        };
        self.ids.assign(&mut self.minima, moved);
        &self.minima
    }
}

/// [`Pairing`] of two curves, with which stretches of constant distance are joined to sets.
struct CurvePairing<'a> {
    a: &'a Curve,
    b: &'a Curve,
}

impl Pairing for CurvePairing<'_> {
    fn separation(&self, p: &ParamPair, q: &ParamPair) -> f64 {
        let separation = |curve: &Curve, k: usize| (curve.point(p[k]) - curve.point(q[k])).norm();
        separation(self.a, 0).max(separation(self.b, 1))
    }

    fn across(&self, mut params: ParamPair, along: usize) -> ParamPair {
        let curves = [self.a, self.b];
        let across = 1 - along;
        let fixed = curves[along].at(params[along]).p;
        // Newton's method, which converges in a few steps inside the valley of a stretch.
        for _ in 0..8 {
            let at = curves[across].at(params[across]);
            let w = at.p - fixed;
            let bend = at.d.norm_squared() + w.dot(&at.dd);
            let step = -w.dot(&at.d) / bend;
            if !step.is_finite() || bend <= 0.0 {
                break;
            }
            params[across] = (params[across] + step).clamp(0.0, curves[across].n_pieces() as f64);
            if step.abs() < 1e-14 {
                break;
            }
        }
        params
    }

    fn is_end(&self, params: &ParamPair) -> bool {
        is_end(self.a, params[0]) || is_end(self.b, params[1])
    }

    fn rises(&self, params: &ParamPair, stretch: &Stretch) -> bool {
        let at = [self.a.at(params[0]), self.b.at(params[1])];
        let w = at[stretch.along].p - at[1 - stretch.along].p;
        w.dot(&at[stretch.along].d) > 0.0
    }
}

/// Whether the parameter `u` is that of a free end of the curve.
pub(crate) fn is_end(curve: &Curve, u: f64) -> bool {
    !curve.is_closed() && (u <= 0.0 || u >= curve.n_pieces() as f64)
}

pub(crate) fn level_length(a: &Curve, b: &Curve, options: &CurveOptions) -> f64 {
    options.level_length.unwrap_or_else(|| (a.radius() + b.radius()).max(0.01 * a.size().min(b.size())))
}

pub(crate) fn limits(a: &Curve, b: &Curve, options: &CurveOptions) -> Limits {
    let level = LevelThreshold { slope: options.level_slope, length: 0.5 * level_length(a, b, options) };
    Limits {
        reach: options.d_max + a.radius() + b.radius(),
        level,
        min_length: MIN_PART_LENGTH * a.size().max(b.size()),
    }
}

fn point<const N: usize>(s: &CurveTree<N>, u: f64) -> V3 {
    let (k, t) = s.locate(u);
    crate::piece::at(&s.pieces[k], t).p
}

fn vertex_place(vertex: &Vertex) -> CurveLocation {
    if vertex.before.is_some() && vertex.after.is_some() { CurveLocation::Corner } else { CurveLocation::End }
}

/// Whether the distance to `point` does not decrease from the vertex along its curve, in the two
/// directions at a corner or the one direction at a free end.
fn admits(vertex: &Vertex, point: &V3) -> bool {
    let w = point - vertex.point;
    let rounding = VERTEX_SLOPE_ROUNDING * w.norm() + f64::EPSILON * (point.norm() + vertex.point.norm());
    let slack = |t: &V3| rounding * t.norm();
    vertex.after.is_none_or(|t| t.dot(&w) <= slack(&t))
        && vertex.before.is_none_or(|t| -t.dot(&w) <= slack(&t))
}

/// Whether a curve turns too little between two vertices to have a minimum between them. Two free ends
/// are never rejected.
fn turn_too_little_between<const N: usize>(s: &CurveTree<N>, v: &Vertex, w: &Vertex) -> bool {
    let is_end = |v: &Vertex| v.leaves.contains(&None);
    if is_end(v) && is_end(w) {
        return false;
    }
    let leaf = |v: &Vertex| v.leaves[0].or(v.leaves[1]).map(|leaf| leaf as usize);
    let (Some(of_v), Some(of_w)) = (leaf(v), leaf(w)) else { return false };
    s.turns_too_little_to_vertex(v, of_w) || s.turns_too_little_to_vertex(w, of_v)
}

/// Whether two pairs of parameters belong to the same points of both curves, up to `tolerance` (mm). The
/// parameters are compared, too, because a curve that touches itself has one point at parameters far
/// apart.
fn is_same(a: &Curve, b: &Curve, p: &ParamPair, q: &ParamPair, tolerance: f64) -> bool {
    let is_near = |curve: &Curve, s: f64, t: f64| {
        let (separation, n) = ((s - t).abs(), curve.n_pieces() as f64);
        separation.min(if curve.is_closed() { (n - separation).abs() } else { separation }) <= 1e-3
    };
    is_near(a, p[0], q[0]) && is_near(b, p[1], q[1]) && CurvePairing { a, b }.separation(p, q) <= tolerance
}

/// Whether a minimum that was found inside of pieces, at the parameters `u`, belongs to the interior of
/// pieces of both curves. A piece may have been extended slightly beyond a vertex, where another piece or
/// no piece follows. Minima inside that lie at a vertex are rejected, because minima at vertices are
/// found separately.
#[expect(clippy::float_cmp, reason = "parameters of vertices are integers")]
fn is_on_own_piece(a: &Curve, b: &Curve, u: &ParamPair, kinds: &[CurveLocation; 2]) -> bool {
    let (at_a, at_b) = (a.at(u[0]), b.at(u[1]));
    let w = at_b.p - at_a.p;
    let slack = 1e3 * JOINT_TOLERANCE * w.norm() + 1e2 * f64::EPSILON * (at_a.p.norm() + at_b.p.norm());
    [(a, at_a, 0), (b, at_b, 1)].iter().all(|(curve, at, k)| {
        if kinds[*k] != CurveLocation::Inside || (u[*k] - u[*k].round()).abs() > JOINT_TOLERANCE {
            return true;
        }
        let n = curve.n_pieces() as f64;
        let is_at = |vertex: &Vertex| {
            let (v, rounding) = (vertex.u, 4.0 * f64::EPSILON * n);
            let (before, after) = (u[*k] <= v + rounding, v - rounding <= u[*k]);
            before && after || (v == 0.0 && (before || n - rounding <= u[*k])) || (v == n && after)
        };
        !curve.vertices().iter().any(is_at) && w.dot(&at.d).abs() <= slack * at.d.norm()
    })
}

/// Whether the pair of points at the parameters `u`, where at least one is at a joint of pieces, is not a
/// minimum: half the squared distance decreases on one side of the joint. `false` if neither point is at
/// a joint. Pieces with a common direction at a joint may differ in curvature, so a minimum of one piece
/// is not always a minimum of the other.
fn is_saddle(a: &Curve, b: &Curve, u: &ParamPair, kinds: &[CurveLocation; 2]) -> bool {
    let sides = |curve: &Curve, k: usize| {
        let is_at = kinds[k] == CurveLocation::Inside && (u[k] - u[k].round()).abs() <= JOINT_TOLERANCE;
        if is_at { curve.at_joint(whole(u[k].round())) } else { None }
    };
    let (joint_a, joint_b) = (sides(a, 0), sides(b, 1));
    if joint_a.is_none() && joint_b.is_none() {
        return false;
    }
    let (at_a, at_b) = (a.at(u[0]), b.at(u[1]));
    let (of_a, of_b) = (joint_a.unwrap_or([at_a; 2]), joint_b.unwrap_or([at_b; 2]));
    let w = at_a.p - at_b.p;
    let (free_a, free_b) = (kinds[0] == CurveLocation::Inside, kinds[1] == CurveLocation::Inside);
    let falls = |i: usize, j: usize| {
        let (p, q) = (of_a[i], of_b[j]);
        let (aa, bb) = (p.d.norm_squared() + w.dot(&p.dd), q.d.norm_squared() - w.dot(&q.dd));
        let ab = -p.d.dot(&q.d);
        let slack = VERTEX_SLOPE_ROUNDING.sqrt() * (p.d.norm_squared() + q.d.norm_squared());
        // With a joint on both curves, each pair of sides is a quadrant. Directions with other signs
        // belong to other pieces.
        let is_quadrant = joint_a.is_some() && joint_b.is_some();
        let leads = !is_quadrant || if i == j { ab < 0.0 } else { ab > 0.0 };
        free_a && aa < -slack
            || free_b && bb < -slack
            || free_a && free_b && leads && aa * bb - ab * ab < -slack * (aa.abs() + bb.abs())
    };
    [(0, 0), (0, 1), (1, 0), (1, 1)].iter().any(|&(i, j)| falls(i, j))
}

fn measured(
    a: &Curve,
    b: &Curve,
    u: ParamPair,
    places: [CurveLocation; 2],
    set: Option<u32>,
    reach: f64,
) -> Option<CurveMinimum> {
    let clamped = |curve: &Curve, u: f64| u.clamp(0.0, curve.n_pieces() as f64);
    let u = [clamped(a, u[0]), clamped(b, u[1])];
    let (at_a, at_b) = (a.at(u[0]), b.at(u[1]));
    let w = at_b.p - at_a.p;
    let distance = w.norm();
    if distance > reach {
        return None;
    }
    // If the difference is only rounding, the normal is the common normal of both curves.
    let normal = if distance > 1e-14 * (at_a.p.norm() + at_b.p.norm() + a.size() + b.size()) {
        w / distance
    } else {
        at_a.d.cross(&at_b.d).normalize()
    };
    let gap = distance - a.radius() - b.radius();
    Some(CurveMinimum {
        u,
        points: [at_a.p.into(), at_b.p.into()],
        normal,
        distance,
        gap,
        places,
        set,
        id: 0,
    })
}
