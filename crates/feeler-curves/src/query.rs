//! All local minimal distances between two curves, or of one with itself.

use feeler_geom::V3;

use crate::along::Level;
use crate::curve::{Curve, Pieces, with_pieces};
use crate::ids::{Ids, Numbered};
use crate::minimum::{CurveMinimum, CurveOptions, CurveStats, Place};
use crate::sets::{Pairing, Sample, Sampling, Sets};
use crate::solve::{Limits, OnCurve, Places, Solutions, Stretch};
use crate::tree::{Skeleton, Vertex, whole};
use crate::walk::{self, Stack};

/// Minima that are nearer than this part of the size are one, found by two parts.
const SAME: f64 = 1e-8;

/// Part of the size under which parts are not halved.
const LEAST: f64 = 1e-10;

/// Slope (of the distance with length) that rounding leaves where there is none, at vertices.
const ROUNDING: f64 = 1e-13;

/// How near to a joint (in parameters) a minimum may belong to the piece on its other side.
const JOINT: f64 = 1e-8;

/// Moves of a minimum along the curves from query to query, as part of their size, up to which it is the same
/// one.
pub(crate) const MOVE: f64 = 0.05;

impl Numbered for CurveMinimum {
    fn id(&mut self) -> &mut u64 {
        &mut self.id
    }
}

/// Scratch, results and identities of the minima of two curves, or of one with itself.
///
/// A pair is asked as often as its curves move; its answers do not depend on what it was asked before, but
/// for the identities, and asking again allocates nothing once its room has grown to what the curves need.
#[derive(Clone, Debug, Default)]
pub struct CurvePair {
    stack: Stack,
    solutions: Solutions,
    places: Vec<(Places, [Place; 2])>,
    sets: Sets,
    minima: Vec<CurveMinimum>,
    ids: Ids<CurveMinimum>,
}

impl CurvePair {
    /// A pair that nothing was asked of yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All local minima of the distance between two curves with gaps of at most `d_max`, strict ones and
    /// samples of stretches of equal distance, by their parameters.
    pub fn query(&mut self, a: &Curve, b: &Curve, options: &CurveOptions) -> &[CurveMinimum] {
        let limits = limits(a, b, options);
        self.solutions.clear();
        self.places.clear();
        let (stack, out) = (&mut self.stack, &mut self.solutions);
        match (&a.pieces, &b.pieces) {
            (Pieces::Cubic(a), Pieces::Cubic(b)) => walk::curves(a, b, &limits, stack, out),
            (Pieces::Cubic(a), Pieces::Quintic(b)) => walk::curves(a, b, &limits, stack, out),
            (Pieces::Quintic(a), Pieces::Cubic(b)) => walk::curves(a, b, &limits, stack, out),
            (Pieces::Quintic(a), Pieces::Quintic(b)) => walk::curves(a, b, &limits, stack, out),
        }
        // Of what is found twice the first one is told: vertices with vertices come first.
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
        self.conclude(a, b, options, false)
    }

    /// All local minima of the distance of a curve from itself, as [`CurvePair::query`]; what is near only
    /// along the curve is none.
    pub fn query_itself(&mut self, a: &Curve, options: &CurveOptions) -> &[CurveMinimum] {
        let limits = limits(a, a, options);
        self.solutions.clear();
        self.places.clear();
        with_pieces!(&a.pieces, s => walk::itself(s, &limits, &mut self.stack, &mut self.solutions));
        let vertices = a.vertices();
        for (i, vertex) in vertices.iter().enumerate() {
            for other in &vertices[i + 1..] {
                if with_pieces!(&a.pieces, s => !are_near(s, vertex, other)) {
                    self.vertices(vertex, other, &limits);
                }
            }
        }
        for vertex in vertices {
            with_pieces!(&a.pieces, s => self.vertex(vertex, s, false, true, &limits));
        }
        self.conclude(a, a, options, true)
    }

    /// What the last query found.
    #[must_use]
    pub fn minima(&self) -> &[CurveMinimum] {
        &self.minima
    }

    /// What the last query cost.
    #[must_use]
    pub fn stats(&self) -> CurveStats {
        let s = &self.solutions;
        CurveStats { n_nodes: s.n_nodes, n_parts: s.n_parts, n_undecided: s.n_undecided }
    }

    /// Minima between a vertex and the inside of pieces; `swapped` when the vertex is one of the second
    /// curve.
    fn vertex<const M: usize>(
        &mut self,
        vertex: &Vertex,
        s: &Skeleton<M>,
        swapped: bool,
        is_own: bool,
        limits: &Limits,
    ) {
        let order = |v: f64, u: f64| if swapped { [u, v] } else { [v, u] };
        let place = place(vertex);
        let places = if swapped { [Place::Inside, place] } else { [place, Place::Inside] };
        let (found, stretches) = (&mut self.places, &mut self.solutions.stretches);
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
                    stretches.push(Stretch { ends, outward, along, of: 0 });
                }
            }
        };
        let own = is_own.then_some(vertex);
        walk::point(&vertex.point, own, s, limits, &mut self.stack, &mut self.solutions.n_parts, &mut take);
    }

    fn vertices(&mut self, v: &Vertex, w: &Vertex, limits: &Limits) {
        if (v.point - w.point).norm() <= limits.reach && admits(v, &w.point) && admits(w, &v.point) {
            self.places.push(([v.u, w.u], [place(v), place(w)]));
        }
    }

    /// Joins stretches, leaves out what was found twice, and measures what remains.
    fn conclude(&mut self, a: &Curve, b: &Curve, options: &CurveOptions, is_itself: bool) -> &[CurveMinimum] {
        let pairing = Two { a, b };
        let size = a.size().max(b.size());
        let sampling = Sampling { size, length: level_length(a, b, options), most: options.max_samples };
        self.sets.clear();
        if !self.solutions.stretches.is_empty() {
            self.sets.join(&pairing, &self.solutions.stretches, &sampling);
        }
        let inside = [Place::Inside; 2];
        let interior = self
            .solutions
            .minima
            .iter()
            .chain(self.sets.minima.iter().map(|s| &s.places))
            .map(|p| (*p, inside));
        // Vertices first: an inner minimum that has just reached one is told as the vertex.
        self.places.extend(interior);
        self.minima.clear();
        let reach = options.d_max + a.radius() + b.radius();
        let is_turned = |[s, t]: Places| is_itself && t < s;
        let mut n = 0;
        for i in 0..self.places.len() {
            let (mut places, mut kinds) = self.places[i];
            if self.sets.holds(&pairing, &places, size) {
                continue;
            }
            if is_turned(places) {
                places.reverse();
                kinds.reverse();
            }
            let is_trivial = is_itself && is_same(a, a, &[places[0]; 2], &[places[1]; 2], SAME * size);
            if is_trivial || !is_its_own(a, b, &places, &kinds) || is_saddle(a, b, &places, &kinds) {
                continue;
            }
            if !self.places[..n].iter().any(|(p, _)| is_same(a, b, p, &places, SAME * size)) {
                self.places[n] = (places, kinds);
                n += 1;
                self.minima.extend(measured(a, b, places, kinds, None, reach));
            }
        }
        for &Sample { mut places, set, .. } in &self.sets.samples {
            if is_turned(places) {
                places.reverse();
            }
            self.minima.extend(measured(a, b, places, inside, Some(set), reach));
        }
        self.minima.sort_unstable_by(|p, q| p.u[0].total_cmp(&q.u[0]).then(p.u[1].total_cmp(&q.u[1])));
        let moved = |new: &CurveMinimum, old: &CurveMinimum| {
            let speed = [a.at(new.u[0]).d.norm(), b.at(new.u[1]).d.norm()];
            let moved = (0..2).map(|k| (new.u[k] - old.u[k]).abs() * speed[k]).fold(0.0, f64::max);
            (moved <= MOVE * size && new.set.is_some() == old.set.is_some()).then_some(moved)
        };
        self.ids.assign(&mut self.minima, moved);
        &self.minima
    }
}

/// Places on two curves.
struct Two<'a> {
    a: &'a Curve,
    b: &'a Curve,
}

impl Pairing for Two<'_> {
    fn apart(&self, p: &Places, q: &Places) -> f64 {
        let apart = |curve: &Curve, k: usize| (curve.point(p[k]) - curve.point(q[k])).norm();
        apart(self.a, 0).max(apart(self.b, 1))
    }

    fn across(&self, mut places: Places, along: usize) -> Places {
        let curves = [self.a, self.b];
        let across = 1 - along;
        let fixed = curves[along].at(places[along]).p;
        // Newton's method, in a valley that a stretch was found in: a few steps.
        for _ in 0..8 {
            let at = curves[across].at(places[across]);
            let w = at.p - fixed;
            let bend = at.d.norm_squared() + w.dot(&at.dd);
            let step = -w.dot(&at.d) / bend;
            if !step.is_finite() || bend <= 0.0 {
                break;
            }
            places[across] = (places[across] + step).clamp(0.0, curves[across].n_pieces() as f64);
            if step.abs() < 1e-14 {
                break;
            }
        }
        places
    }

    fn is_end(&self, places: &Places) -> bool {
        is_end(self.a, places[0]) || is_end(self.b, places[1])
    }

    fn rises(&self, places: &Places, stretch: &Stretch) -> bool {
        let at = [self.a.at(places[0]), self.b.at(places[1])];
        let w = at[stretch.along].p - at[1 - stretch.along].p;
        w.dot(&at[stretch.along].d) > 0.0
    }
}

/// Whether a parameter is that of a free end.
pub(crate) fn is_end(curve: &Curve, u: f64) -> bool {
    !curve.is_closed() && (u <= 0.0 || u >= curve.n_pieces() as f64)
}

pub(crate) fn level_length(a: &Curve, b: &Curve, options: &CurveOptions) -> f64 {
    options.level_length.unwrap_or_else(|| (a.radius() + b.radius()).max(0.01 * a.size().min(b.size())))
}

pub(crate) fn limits(a: &Curve, b: &Curve, options: &CurveOptions) -> Limits {
    let level = Level { slope: options.level_slope, length: 0.5 * level_length(a, b, options) };
    Limits { reach: options.d_max + a.radius() + b.radius(), level, least: LEAST * a.size().max(b.size()) }
}

fn point<const N: usize>(s: &Skeleton<N>, u: f64) -> V3 {
    let (k, t) = s.place(u);
    crate::piece::at(&s.pieces[k], t).p
}

fn place(vertex: &Vertex) -> Place {
    if vertex.before.is_some() && vertex.after.is_some() { Place::Corner } else { Place::End }
}

/// Whether no way from the vertex along its curve leads nearer to the point.
fn admits(vertex: &Vertex, point: &V3) -> bool {
    let w = point - vertex.point;
    let rounding = ROUNDING * w.norm() + f64::EPSILON * (point.norm() + vertex.point.norm());
    let slack = |t: &V3| rounding * t.norm();
    vertex.after.is_none_or(|t| t.dot(&w) <= slack(&t))
        && vertex.before.is_none_or(|t| -t.dot(&w) <= slack(&t))
}

/// Whether two vertices of a curve turn too little in between to be near one another; ends of two always may
/// be.
fn are_near<const N: usize>(s: &Skeleton<N>, v: &Vertex, w: &Vertex) -> bool {
    let is_end = |v: &Vertex| v.leaves.contains(&None);
    if is_end(v) && is_end(w) {
        return false;
    }
    let leaf = |v: &Vertex| v.leaves[0].or(v.leaves[1]).map(|leaf| leaf as usize);
    let (Some(of_v), Some(of_w)) = (leaf(v), leaf(w)) else { return false };
    s.is_near_vertex(v, of_w) || s.is_near_vertex(w, of_v)
}

/// Whether places are the same one. Where a curve meets itself, places far along it have one point.
fn is_same(a: &Curve, b: &Curve, p: &Places, q: &Places, tolerance: f64) -> bool {
    let is_near = |curve: &Curve, s: f64, t: f64| {
        let (apart, n) = ((s - t).abs(), curve.n_pieces() as f64);
        apart.min(if curve.is_closed() { (n - apart).abs() } else { apart }) <= 1e-3
    };
    is_near(a, p[0], q[0]) && is_near(b, p[1], q[1]) && Two { a, b }.apart(p, q) <= tolerance
}

/// Whether what was found inside of pieces belongs to the curves as they are there: a piece may have been
/// continued a little beyond a vertex, where another one goes on or nothing does, and vertices themselves are
/// looked at by their own.
#[expect(clippy::float_cmp, reason = "the parameter of a vertex is a whole number")]
fn is_its_own(a: &Curve, b: &Curve, u: &Places, kinds: &[Place; 2]) -> bool {
    let (at_a, at_b) = (a.at(u[0]), b.at(u[1]));
    let w = at_b.p - at_a.p;
    let slack = 1e3 * JOINT * w.norm() + 1e2 * f64::EPSILON * (at_a.p.norm() + at_b.p.norm());
    [(a, at_a, 0), (b, at_b, 1)].iter().all(|(curve, at, k)| {
        if kinds[*k] != Place::Inside || (u[*k] - u[*k].round()).abs() > JOINT {
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

/// Whether f falls to one side of a joint: pieces that go on in one direction may be bent in other ways, and
/// what is a minimum of the one need not be one of the other.
fn is_saddle(a: &Curve, b: &Curve, u: &Places, kinds: &[Place; 2]) -> bool {
    let sides = |curve: &Curve, k: usize| {
        let is_at = kinds[k] == Place::Inside && (u[k] - u[k].round()).abs() <= JOINT;
        if is_at { curve.at_joint(whole(u[k].round())) } else { None }
    };
    let (joint_a, joint_b) = (sides(a, 0), sides(b, 1));
    if joint_a.is_none() && joint_b.is_none() {
        return false;
    }
    let (at_a, at_b) = (a.at(u[0]), b.at(u[1]));
    let (of_a, of_b) = (joint_a.unwrap_or([at_a; 2]), joint_b.unwrap_or([at_b; 2]));
    let w = at_a.p - at_b.p;
    let (free_a, free_b) = (kinds[0] == Place::Inside, kinds[1] == Place::Inside);
    let falls = |i: usize, j: usize| {
        let (p, q) = (of_a[i], of_b[j]);
        let (aa, bb) = (p.d.norm_squared() + w.dot(&p.dd), q.d.norm_squared() - w.dot(&q.dd));
        let ab = -p.d.dot(&q.d);
        let slack = ROUNDING.sqrt() * (p.d.norm_squared() + q.d.norm_squared());
        // Where both have a side, a quadrant: directions of the other signs belong to the other pieces.
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
    u: Places,
    places: [Place; 2],
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
    // Where the difference is but rounding, the normal is the common one.
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
