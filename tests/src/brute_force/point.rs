//! Search for the distance minima of points: about a thousand points a second, so that a million can be
//! checked.
//!
//! Starts, steps and tests are those of the search between solids (`brute_force`). The search is faster
//! because points have at most two parameters, and because trims are kept in a raster that decides most
//! feet without a ray.

use super::{Cell, Domain, EIGEN_MARGIN, Feature, Minimum, Shape, Verdict};
use super::{admissible, dimension, edge_cells, features, oriented, same};
use feeler_brep::Solid;
use feeler_geom::{Curve, P2, P3, Surface, V2, V3, math};
use nalgebra::Matrix2;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::sync::atomic::{AtomicU8, Ordering};

/// Number of chords for each piece of a trim: chords of a quarter circle deviate from it by 2e-6 of the
/// radius.
const CHORDS: u32 = 400;
/// Error of trims and ends, relative to the size of the solid.
const MARGIN: f64 = 1e-5;
/// Number of raster cells along each parameter of a face.
const GRID: i32 = 48;
/// Number of raster cells beyond each end of a face's parameter range.
const BEYOND: i32 = 8;
/// Number of raster cells along each parameter of a face, with those beyond the ends.
const WIDE: usize = (GRID + 2 * BEYOND) as usize;
/// Maximum number of Newton steps of a minimisation.
const STEPS: usize = 120;

/// Search for the distance minima of points on one solid, whose features are cut into cells.
pub struct PointOracle<'a> {
    size: f64,
    margin: f64,
    features: Vec<Feature<'a>>,
    /// Rasters of the features that are faces, by feature index; `None` for other features.
    rasters: Vec<Option<Raster>>,
    /// All edges, including those that carry no minima outside the solid.
    edges: Vec<(&'a Curve, (f64, f64), Vec<Cell>)>,
    vertices: &'a [P3],
    /// Points at which faces end without an edge or a vertex: tips of cones. Newton's method does not
    /// converge to them.
    tips: Vec<P3>,
}

impl std::fmt::Debug for PointOracle<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointOracle").field("features", &self.features.len()).finish_non_exhaustive()
    }
}

/// Chords of the boundary of a face, sorted into cells of the parameter plane.
struct Raster {
    domain: Domain,
    /// Corner of the raster with the smallest parameters; `size` is the size of a cell.
    lo: P2,
    step: V2,
    /// Start of the chords (with their images by the periods) of cell k: they are
    /// `first[k]..first[k + 1]`.
    first: Vec<u32>,
    chords: Vec<(P2, P2)>,
    /// State of cells without chords: 0 not computed yet, 1 outside, 2 inside.
    side: Vec<AtomicU8>,
}

impl Raster {
    fn new(domain: Domain) -> Self {
        let step = (domain.hi - domain.lo) / f64::from(GRID);
        let lo = domain.lo - step * f64::from(BEYOND);
        let mut of_cell: Vec<Vec<(P2, P2)>> = vec![Vec::new(); WIDE * WIDE];
        let shifts = domain.shifts();
        for ((a, b), shift) in domain.segments.iter().flat_map(|ab| shifts.iter().map(move |s| (*ab, s))) {
            let (a, b) = (a + shift, b + shift);
            let cell = |p: P2, k: usize| ((p[k] - lo[k]) / step[k]).floor();
            let range = |k: usize| {
                let (x, y) = (cell(a, k).min(cell(b, k)), cell(a, k).max(cell(b, k)));
                // By rounding, a chord on the border of two cells may be in only one of them.
                (x - 0.5).floor().max(0.0) as usize..(y + 1.5).clamp(0.0, WIDE as f64) as usize
            };
            for j in range(1) {
                for i in range(0) {
                    of_cell[j * WIDE + i].push((a, b));
                }
            }
        }
        let mut first = vec![0];
        let mut chords = Vec::new();
        for cell in of_cell {
            chords.extend(cell);
            first.push(chords.len() as u32);
        }
        let side = (0..WIDE * WIDE).map(|_| AtomicU8::new(0)).collect();
        Self { domain, lo, step, first, chords, side }
    }

    fn of(&self, i: usize, j: usize) -> &[(P2, P2)] {
        let k = j * WIDE + i;
        &self.chords[self.first[k] as usize..self.first[k + 1] as usize]
    }

    /// Raster cell that contains `uv`; `None` outside the raster.
    fn cell(&self, uv: P2) -> Option<[usize; 2]> {
        let at = |k: usize| {
            let x = ((uv[k] - self.lo[k]) / self.step[k]).floor();
            (0.0..WIDE as f64).contains(&x).then_some(x as usize)
        };
        Some([at(0)?, at(1)?])
    }

    fn inside(&self, surface: &Surface, uv: P2) -> bool {
        let uv = self.domain.wrapped(on_this_side(surface, uv));
        // The other half of a cone begins beyond its apex.
        let is_beyond = |k: usize, period: Option<f64>| {
            let rounding = 1e-9 * (self.domain.hi[k] - self.domain.lo[k]);
            period.is_none()
                && !(self.domain.lo[k] - rounding..=self.domain.hi[k] + rounding).contains(&uv[k])
        };
        if is_beyond(0, self.domain.u_period) || is_beyond(1, self.domain.v_period) {
            return false;
        }
        let Some([i, j]) = self.cell(uv) else { return self.domain.inside(uv) };
        if self.of(i, j).is_empty() {
            let state = &self.side[j * WIDE + i];
            return match state.load(Ordering::Relaxed) {
                0 => {
                    let center = V2::new(self.step.x * (i as f64 + 0.5), self.step.y * (j as f64 + 0.5));
                    let is_inside = self.domain.inside(self.lo + center);
                    state.store(1 + u8::from(is_inside), Ordering::Relaxed);
                    is_inside
                }
                side => side == 2,
            };
        }
        // Rays along both axes in both directions: the first chord that is hit votes by its side.
        let votes: i32 = [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)]
            .map(|(k, sign)| {
                let mut at = [i, j];
                loop {
                    if let Some(vote) = first_hit(self.of(at[0], at[1]), uv, k, sign) {
                        return vote;
                    }
                    let next = if sign > 0.0 { at[k] + 1 } else { at[k].wrapping_sub(1) };
                    if next >= WIDE {
                        return 0;
                    }
                    at[k] = next;
                }
            })
            .iter()
            .sum();
        if votes.abs() >= 3 { votes > 0 } else { self.domain.inside(uv) }
    }

    /// Whether the boundary is nearer to `uv` than `margin` (mm), measured by the metric of the surface
    /// at `uv`.
    fn is_near(&self, surface: &Surface, uv: P2, margin: f64) -> bool {
        let uv = self.domain.wrapped(on_this_side(surface, uv));
        let far = |uv| self.domain.boundary_distance(surface, uv) < margin;
        let Some([i, j]) = self.cell(uv) else { return far(uv) };
        let d = surface.derivs(uv);
        let area = d.du.cross(&d.dv).norm();
        let (wide, high) = (self.step.x * area / d.dv.norm(), self.step.y * area / d.du.norm());
        let reach = margin / wide.min(high);
        if reach.is_nan() || reach >= f64::from(BEYOND) - 1.0 {
            return far(uv);
        }
        let k = reach.ceil() as usize;
        let range = |at: usize| at.saturating_sub(k)..=(at + k).min(WIDE - 1);
        range(j).any(|j| {
            range(i).any(|i| {
                self.of(i, j).iter().any(|(a, b)| {
                    let in_space = |p: &P2| d.du * (p.x - uv.x) + d.dv * (p.y - uv.y);
                    let (a, b) = (in_space(a), in_space(b));
                    let s = b - a;
                    let l2 = s.norm_squared();
                    let t = if l2 > 0.0 { (-a.dot(&s) / l2).clamp(0.0, 1.0) } else { 0.0 };
                    (a + s * t).norm() < margin
                })
            })
        })
    }
}

/// Moves the latitude of a sphere's parameters into [-π/2, π/2], because Newton's method may have
/// stepped over a pole.
fn on_this_side(surface: &Surface, uv: P2) -> P2 {
    let Surface::Sphere { .. } = surface else { return uv };
    let v = math::wrap(uv.y, -PI, TAU);
    if v.abs() <= FRAC_PI_2 { P2::new(uv.x, v) } else { P2::new(uv.x + PI, PI.copysign(v) - v) }
}

/// Side of the first chord that a ray along axis `k` intersects: 1 if the material is on the side of the
/// ray's start. `None` if it intersects no chord.
fn first_hit(chords: &[(P2, P2)], from: P2, k: usize, sign: f64) -> Option<i32> {
    let other = 1 - k;
    let mut best = (f64::INFINITY, None);
    for (a, b) in chords {
        let (x, y) = (a[other] - from[other], b[other] - from[other]);
        if (x > 0.0) == (y > 0.0) {
            continue;
        }
        let s = x / (x - y);
        let t = (a[k] + (b[k] - a[k]) * s - from[k]) * sign;
        if t > 0.0 && t < best.0 {
            // The material is to the left of a chord.
            let e = b - a;
            let left = if k == 0 { sign * e.y } else { -sign * e.x };
            best = (t, Some(if left > 0.0 { 1 } else { -1 }));
        }
    }
    best.1
}

impl<'a> PointOracle<'a> {
    /// Cuts the solid into cells. `open` (mm) is the largest deviation of edges from the faces.
    #[must_use]
    pub fn new(solid: &'a Solid, open: f64) -> Self {
        let size = solid.bounds.diagonal();
        let raster = |i: usize| Some(Raster::new(Domain::of_chords(solid, i, CHORDS)));
        // Faces come first among the features, in the order of the solid.
        let features = features(solid);
        let rasters =
            (0..features.len()).map(|i| (i < solid.shell.faces.len()).then_some(i).and_then(raster));
        let edge = |i: usize| {
            let (e, info) = (&solid.shell.edges[i], &solid.edges[i]);
            (&e.curve, info.range, edge_cells(&e.curve, info.range.0, info.range.1))
        };
        Self {
            size,
            margin: (MARGIN * size).max(4.0 * open),
            rasters: rasters.collect(),
            features,
            edges: (0..solid.edges.len()).map(edge).collect(),
            vertices: &solid.shell.vertices,
            tips: (0..solid.shell.faces.len()).flat_map(|i| tips(solid, i, size)).collect(),
        }
    }

    /// Error (mm) of trims and ends; a test that passes or fails by less is undecided.
    #[must_use]
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// All minima of the distance from the point `p` outside the solid, up to `d_max` (mm); `p_a` of
    /// each minimum is on the solid.
    #[must_use]
    pub fn minima(&self, p: &P3, d_max: f64) -> Vec<Minimum> {
        let size = self.size;
        let mut found: Vec<(usize, Minimum)> = Vec::new();
        for (feature, raster) in self.features.iter().zip(&self.rasters) {
            let mut ends: Vec<P3> = Vec::new();
            let kept = found.len();
            for cell in &feature.cells {
                if (p - cell.p).norm() > d_max + cell.r {
                    continue;
                }
                let Some((x, footpoint)) = foot(&feature.shape, cell.x, p, size) else { continue };
                // Most starts converge to the same point.
                if (p - footpoint).norm() > d_max
                    || ends.iter().any(|e| (e - footpoint).norm() <= 1e-9 * size)
                {
                    continue;
                }
                ends.push(footpoint);
                if let Some(m) = self.accepted(feature, raster.as_ref(), x, p, d_max)
                    && !found[kept..].iter().any(|(_, o)| same(o, &m, size))
                {
                    found.push((dimension(&feature.shape), m));
                }
            }
        }
        found.sort_by(|(ra, ma), (rb, mb)| {
            let undecided = ma.borderline.is_some().cmp(&mb.borderline.is_some());
            undecided.then(rb.cmp(ra)).then(ma.distance.total_cmp(&mb.distance))
        });
        let mut out: Vec<Minimum> = Vec::new();
        for (_, m) in found {
            if !out.iter().any(|o| same(o, &m, size)) {
                out.push(m);
            }
        }
        out.sort_by(|m, o| m.distance.total_cmp(&o.distance));
        out
    }

    /// Whether a claimed footpoint is a minimum of the distance from `p`. The search starts at the
    /// footpoint itself, so it confirms minima that lie between the starts of [`PointOracle::minima`].
    #[must_use]
    pub fn confirms(&self, p: &P3, footpoint: &P3, d_max: f64) -> bool {
        self.features.iter().zip(&self.rasters).any(|(feature, raster)| {
            feature.cells.iter().filter(|cell| (footpoint - cell.p).norm() <= cell.r + self.margin).any(
                |cell| {
                    let at = foot(&feature.shape, cell.x, footpoint, self.size)
                        .filter(|(_, at)| (at - footpoint).norm() <= self.margin);
                    let from = at.and_then(|(x, _)| foot(&feature.shape, x, p, self.size));
                    let there = from.filter(|(_, at)| (at - footpoint).norm() <= self.margin);
                    there.is_some_and(|(x, _)| self.accepted(feature, raster.as_ref(), x, p, d_max).is_some())
                },
            )
        })
    }

    fn accepted(
        &self,
        feature: &Feature<'_>,
        raster: Option<&Raster>,
        x: [f64; 2],
        p: &P3,
        d_max: f64,
    ) -> Option<Minimum> {
        let (at, lengths, h) = second_order(&feature.shape, x, p);
        let distance = (p - at).norm();
        if distance > d_max * (1.0 + 1e-9) || distance < 1e-9 * self.size {
            return None;
        }
        let n = (p - at) / distance;
        let mut borderline = (distance > d_max * (1.0 - 1e-9)).then_some("d_max");
        let verdict = match (&feature.shape, raster) {
            (Shape::Face { surface, outward, .. }, Some(raster)) => {
                let uv = P2::from(x);
                if n.dot(&oriented(surface.normal(uv), *outward)) < 0.999 {
                    Verdict::No
                } else if raster.is_near(surface, uv, self.margin) {
                    Verdict::Borderline("trim")
                } else if raster.inside(surface, uv) {
                    Verdict::Yes
                } else {
                    Verdict::No
                }
            }
            (shape, _) => admissible(shape, &x[..dimension(shape)], &n, self.margin),
        };
        match verdict {
            Verdict::No => return None,
            Verdict::Borderline(why) => borderline = Some(why),
            Verdict::Yes => {}
        }
        let mut min_eigenvalue = f64::INFINITY;
        let dimension = dimension(&feature.shape);
        if dimension > 0 {
            if lengths[..dimension].iter().any(|l| *l < 1e-9) {
                borderline = Some("singular");
            }
            let l = |i: usize, k: usize| (lengths[i] * lengths[k]).max(1e-300);
            min_eigenvalue = h[(0, 0)] / l(0, 0);
            if dimension == 2 {
                let scaled = Matrix2::from_fn(|i, k| h[(i, k)] / l(i, k));
                min_eigenvalue = scaled.symmetric_eigenvalues().min();
            }
            if min_eigenvalue < -EIGEN_MARGIN {
                return None;
            }
            if min_eigenvalue < EIGEN_MARGIN {
                borderline = Some("second order");
            }
        }
        let (feature_a, feature_b) = (feature.name.clone(), "point".to_owned());
        Some(Minimum { distance, p_a: at, p_b: *p, feature_a, feature_b, borderline, min_eigenvalue })
    }

    /// Distance (mm) from a point to the boundary, from either side, but at most `limit`; computed from
    /// footpoints inside the faces and on all edges.
    #[must_use]
    pub fn boundary_distance(&self, p: &P3, limit: f64) -> f64 {
        self.nearest(p, limit).0
    }

    /// Whether a point is on the material's side of the nearest boundary point. `None` unless that
    /// boundary point is inside a face, or on an edge or a vertex with `p` in its polar. If the solid
    /// does not pass through itself, the result is whether `p` is inside.
    #[must_use]
    pub fn is_behind_nearest(&self, p: &P3) -> Option<bool> {
        let (distance, behind) = self.nearest(p, f64::INFINITY);
        let is_in_front = || {
            let found = self.minima(p, 1.01 * distance);
            found.iter().any(|m| m.borderline.is_none() && m.distance <= distance + 1e-9 * self.size)
        };
        behind.or_else(|| is_in_front().then_some(false))
    }

    fn nearest(&self, p: &P3, limit: f64) -> (f64, Option<bool>) {
        let mut best = limit;
        let mut behind = None;
        for vertex in self.vertices.iter().chain(&self.tips) {
            best = best.min((vertex - p).norm());
        }
        for (curve, (t0, t1), cells) in &self.edges {
            if cells.iter().any(|c| (p - c.p).norm() <= best + c.r) {
                best = best.min((curve.point(curve.project(p, *t0, *t1)) - p).norm());
            }
        }
        for (feature, raster) in self.features.iter().zip(&self.rasters) {
            let (Shape::Face { surface, outward, .. }, Some(raster)) = (&feature.shape, raster) else {
                continue;
            };
            for cell in &feature.cells {
                if (p - cell.p).norm() > best + cell.r {
                    continue;
                }
                let Some((x, footpoint)) = foot(&feature.shape, cell.x, p, self.size) else { continue };
                let (uv, distance) = (P2::from(x), (footpoint - p).norm());
                if distance < best && raster.inside(surface, uv) {
                    best = distance;
                    behind = Some((p - footpoint).dot(&oriented(surface.normal(uv), *outward)) < 0.0);
                }
            }
        }
        (best, behind)
    }
}

/// Points to which whole sides of a face's parameter rectangle degenerate, if the face contains them.
fn tips(solid: &Solid, face: usize, size: f64) -> Vec<P3> {
    const SAMPLES: u32 = 64;
    let surface = &solid.shell.faces[face].surface;
    let domain = Domain::new(solid, face);
    let (lo, d) = (domain.lo, domain.hi - domain.lo);
    // Points of the parameter plane: `s` along a side, `into` from the side into the face.
    let of_side = |(along, end): (usize, f64)| {
        let at = |s: f64, into: f64| {
            let mut x = V2::zeros();
            x[along] = s * d[along];
            x[1 - along] = (end - into * (2.0 * end - 1.0)) * d[1 - along];
            lo + x
        };
        let samples = || (0..SAMPLES).map(|i| (f64::from(i) + 0.5) / f64::from(SAMPLES));
        let tip = surface.point(at(0.0, 0.0));
        let is_point = samples().all(|s| (surface.point(at(s, 0.0)) - tip).norm() <= 1e-9 * size);
        (is_point && samples().any(|s| domain.inside(at(s, 1e-6)))).then_some(tip)
    };
    [(0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0)].into_iter().filter_map(of_side).collect()
}

/// Point of a feature at parameters `x`, lengths of its first derivatives, and the Hessian of half the
/// squared distance from `p`.
fn second_order(shape: &Shape<'_>, x: [f64; 2], p: &P3) -> (P3, [f64; 2], Matrix2<f64>) {
    let (at, j, h) = model(shape, x, p);
    (at, j.map(|v| v.norm()), h)
}

fn model(shape: &Shape<'_>, x: [f64; 2], p: &P3) -> (P3, [V3; 2], Matrix2<f64>) {
    match shape {
        Shape::Face { surface, .. } => {
            let d = surface.derivs(P2::from(x));
            let w = d.p - p;
            let off = d.du.dot(&d.dv) + w.dot(&d.duv);
            let h = Matrix2::new(
                d.du.norm_squared() + w.dot(&d.duu),
                off,
                off,
                d.dv.norm_squared() + w.dot(&d.dvv),
            );
            (d.p, [d.du, d.dv], h)
        }
        Shape::Edge { curve, .. } => {
            let d = curve.derivs(x[0]);
            let h = d.d1.norm_squared() + (d.p - p).dot(&d.d2);
            (d.p, [d.d1, V3::zeros()], Matrix2::new(h, 0.0, 0.0, 1.0))
        }
        Shape::Vertex { point, .. } => (*point, [V3::zeros(); 2], Matrix2::identity()),
    }
}

/// Parameters and position of a footpoint of `p`, by damped Newton steps from `start`; `None` if they
/// diverge or do not converge.
fn foot(shape: &Shape<'_>, start: [f64; 2], p: &P3, size: f64) -> Option<([f64; 2], P3)> {
    let n = dimension(shape);
    let mut x = start;
    let (mut at, mut j, mut h) = model(shape, x, p);
    if n == 0 {
        return Some((x, at));
    }
    let first = at;
    let mut lambda = 1e-3;
    let slope = |at: &P3, j: &[V3; 2]| j.map(|v| (at - p).dot(&v));
    let scaled =
        |g: &[f64; 2], j: &[V3; 2]| (0..n).map(|i| (g[i] / j[i].norm().max(1e-12)).abs()).fold(0.0, f64::max);
    for _ in 0..STEPS {
        let g = slope(&at, &j);
        if scaled(&g, &j) < 1e-13 * size {
            return Some((x, at));
        }
        let mut damped = h;
        for i in 0..n {
            let l = j[i].norm().max(1e-9);
            damped[(i, i)] += lambda * l * l;
        }
        let det = damped.determinant();
        if !(damped[(0, 0)] > 0.0 && det > 0.0) {
            lambda = (lambda * 4.0_f64).max(1e-12);
            if lambda > 1e12 {
                return None;
            }
            continue;
        }
        let step = [
            (damped[(0, 1)] * g[1] - damped[(1, 1)] * g[0]) / det,
            (damped[(1, 0)] * g[0] - damped[(0, 0)] * g[1]) / det,
        ];
        let y = if n == 2 { [x[0] + step[0], x[1] + step[1]] } else { [x[0] + step[0], x[1]] };
        let next = model(shape, y, p);
        let moved = (0..n).map(|i| (step[i] * j[i].norm()).abs()).fold(0.0, f64::max);
        if !(next.0 - p).norm().is_finite() || (next.0 - first).norm() > 3.0 * size {
            return None;
        }
        if (next.0 - p).norm_squared() <= (at - p).norm_squared() * (1.0 + 1e-14) {
            x = y;
            (at, j, h) = next;
            lambda *= 0.2;
            if lambda < 1e-9 {
                lambda = 0.0;
            }
            if moved < 1e-14 * size {
                return Some((x, at));
            }
        } else {
            if moved < 1e-12 * size {
                return Some((x, at));
            }
            lambda = (lambda * 5.0).max(1e-6);
        }
    }
    (scaled(&slope(&at, &j), &j) < 1e-9 * size).then_some((x, at))
}
