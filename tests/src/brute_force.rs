//! A slow search for all local minimal distances, the oracle of MATH §14.3.
//!
//! It shares only the geometry evaluators and the topology with the program under test: no hierarchy, no
//! cones, no closed forms, no trimming cells. Every feature is cut into cells over which the normal
//! changes little. A damped Newton minimisation starts from every pair of cells that is near enough. The
//! results are filtered by the definitions of MATH §2: trims by ray shooting in the parameter plane,
//! polars by inward directions, the second order by the eigenvalues of the full Hessian in arc-length
//! parameters.
//!
//! A result that passes or fails a test by less than its numerical error is marked `borderline`: the program
//! under test may report it or not.

mod point;

pub use point::PointOracle;

use feeler_brep::{EdgeStatus, Solid};
use feeler_geom::trim::TrimPiece;
use feeler_geom::{Curve, P2, P3, Pose, Surface, V2, V3};
use nalgebra::{DMatrix, DVector};

/// Local minimal distance found by the search.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// Distance (mm).
    pub distance: f64,
    /// Footpoint on A, in the frame of A.
    pub p_a: P3,
    /// Footpoint on B, in the frame of A.
    pub p_b: P3,
    /// Feature of A, for messages.
    pub feature_a: String,
    /// Feature of B, for messages.
    pub feature_b: String,
    /// Test that the minimum passed or failed by less than its numerical error, if any.
    pub borderline: Option<&'static str>,
    /// Smallest eigenvalue of the Hessian of half the squared distance with respect to arc length.
    pub min_eigenvalue: f64,
}

/// Margin (rad) within which a test of angles counts as undecided. A larger value leaves more minima
/// undecided.
const ANGLE_MARGIN: f64 = 2e-4;
/// Like [`ANGLE_MARGIN`], for trims; relative to the size.
const TRIM_MARGIN: f64 = 1e-4;
/// Like [`ANGLE_MARGIN`], for the eigenvalues of the Hessian.
const EIGEN_MARGIN: f64 = 1e-7;
/// Maximum difference from the largest cosine to the query direction at which boundary directions count
/// as equally near. It covers a few steps of [`directions_around`].
const SAME_DIRECTION_COS: f64 = 1e-3;

enum Shape<'a> {
    Face {
        surface: &'a Surface,
        outward: bool,
        domain: Domain,
    },
    Edge {
        curve: &'a Curve,
        t0: f64,
        t1: f64,
        closed: bool,
        sides: Vec<(&'a Surface, bool, bool)>,
    },
    /// `around`: unit directions of the edges and to nearby boundary points. `boundary`: the same
    /// directions, each with the outward normal of a face there.
    Vertex {
        point: P3,
        around: Vec<V3>,
        boundary: Vec<(V3, V3)>,
    },
}

struct Feature<'a> {
    name: String,
    shape: Shape<'a>,
    cells: Vec<Cell>,
}

struct Cell {
    /// Parameters of the cell's centre, from which Newton's method starts.
    x: [f64; 2],
    /// The cell's centre in space, in the frame of its own solid.
    p: P3,
    /// Radius (mm) of the cell around `p`.
    r: f64,
}

/// Boundary polylines of a face, with the material on the left.
pub(crate) struct Domain {
    segments: Vec<(P2, P2)>,
    u_period: Option<f64>,
    v_period: Option<f64>,
    lo: P2,
    hi: P2,
}

impl Domain {
    pub(crate) fn new(solid: &Solid, face: usize) -> Self {
        Self::of_chords(solid, face, 48)
    }

    /// Boundary of a face, with `n` chords for each piece.
    fn of_chords(solid: &Solid, face: usize, n: u32) -> Self {
        let d = &solid.faces[face].domain;
        let point = |piece: &TrimPiece, s: f64| {
            let [a, b, c, e] = piece.control.map(|p| p.coords);
            let m = 1.0 - s;
            P2::from(a * (m * m * m) + b * (3.0 * m * m * s) + c * (3.0 * m * s * s) + e * (s * s * s))
        };
        let segments = d
            .pieces
            .iter()
            .flat_map(|p| {
                (0..n).map(move |i| {
                    (point(p, f64::from(i) / f64::from(n)), point(p, f64::from(i + 1) / f64::from(n)))
                })
            })
            .collect();
        Self {
            segments,
            u_period: d.u_period,
            v_period: d.v_period,
            lo: P2::new(d.rect.u0, d.rect.v0),
            hi: P2::new(d.rect.u1, d.rect.v1),
        }
    }

    /// Returns `uv` shifted to the base period, because Newton's method may have walked around several
    /// times.
    fn wrapped(&self, uv: P2) -> P2 {
        let wrap =
            |x: f64, lo: f64, period: Option<f64>| period.map_or(x, |p| feeler_geom::math::wrap(x, lo, p));
        P2::new(wrap(uv.x, self.lo.x, self.u_period), wrap(uv.y, self.lo.y, self.v_period))
    }

    /// Returns whether `uv` is inside. The first boundary segment that each of several rays hits votes
    /// by the side on which `uv` is.
    pub(crate) fn inside(&self, uv: P2) -> bool {
        if self.segments.is_empty() {
            return true;
        }
        let uv = self.wrapped(uv);
        let span = self.hi - self.lo;
        let shifts = self.shifts();
        let mut votes = 0i32;
        for k in 0..7 {
            let angle = 0.3 + f64::from(k) * 0.9;
            let dir = V2::new(feeler_geom::math::cos(angle) * span.x, feeler_geom::math::sin(angle) * span.y);
            let mut best = (f64::INFINITY, 0i32);
            for (a, b) in &self.segments {
                for shift in &shifts {
                    let (a, b) = (a + shift - uv, b + shift - uv);
                    let e = b - a;
                    let den = dir.x * e.y - dir.y * e.x;
                    if den == 0.0 {
                        continue;
                    }
                    let t = (a.x * e.y - a.y * e.x) / den;
                    let s = (a.x * dir.y - a.y * dir.x) / den;
                    if t > 0.0 && t < best.0 && (0.0..=1.0).contains(&s) {
                        // den > 0: the segment runs to the left of the ray's direction, so `uv` is on its
                        // left.
                        best = (t, if den > 0.0 { 1 } else { -1 });
                    }
                }
            }
            votes += best.1;
        }
        votes > 0
    }

    /// Distance (mm) from `uv` to the boundary, measured by the metric of the surface at `uv`.
    pub(crate) fn boundary_distance(&self, surface: &Surface, uv: P2) -> f64 {
        let uv = self.wrapped(uv);
        let d = surface.derivs(uv);
        let (e, f, g) = (d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared());
        let mut best = f64::INFINITY;
        let shifts = self.shifts();
        for (a, b) in &self.segments {
            for shift in &shifts {
                let (a, b) = (a + shift - uv, b + shift - uv);
                let s = b - a;
                let q = |x: V2, y: V2| e * x.x * y.x + f * (x.x * y.y + x.y * y.x) + g * x.y * y.y;
                let l2 = q(s, s);
                let t = if l2 > 0.0 { (-q(a, s) / l2).clamp(0.0, 1.0) } else { 0.0 };
                let c = a + s * t;
                best = best.min(q(c, c).max(0.0).sqrt());
            }
        }
        best
    }

    /// Parameter vectors of -1, 0 and 1 period in each periodic parameter.
    fn shifts(&self) -> Vec<V2> {
        let v = images(self.v_period);
        images(self.u_period).into_iter().flat_map(|du| v.iter().map(move |dv| V2::new(du, *dv))).collect()
    }
}

fn images(period: Option<f64>) -> Vec<f64> {
    period.map_or_else(|| vec![0.0], |p| vec![-p, 0.0, p])
}

fn oriented(n: V3, outward: bool) -> V3 {
    if outward { n } else { -n }
}

/// Cells of a face: a grid so fine that normals turn by about 15° across a cell.
fn face_cells(surface: &Surface, domain: &Domain, extent: f64) -> Vec<Cell> {
    let count = |a: f64, b: f64, period: Option<f64>, flat: bool| -> usize {
        let _ = period;
        if flat { 3 } else { (((b - a).abs() / 0.26).ceil() as usize).clamp(2, 26) }
    };
    let (nu, nv) = match surface {
        Surface::Plane { .. } => (4, 4),
        Surface::Cylinder { .. } | Surface::Cone { .. } => {
            (count(domain.lo.x, domain.hi.x, domain.u_period, false), 3)
        }
        Surface::Sphere { .. } | Surface::Torus { .. } => (
            count(domain.lo.x, domain.hi.x, domain.u_period, false),
            count(domain.lo.y, domain.hi.y, domain.v_period, false),
        ),
        Surface::Bezier(b) => {
            ((4 * (b.u_breaks.len() - 1)).clamp(8, 40), (4 * (b.v_breaks.len() - 1)).clamp(8, 40))
        }
    };
    let (us, vs) = match surface {
        Surface::Bezier(b) => (
            steps(domain.lo.x, domain.hi.x, nu, &b.u_breaks),
            steps(domain.lo.y, domain.hi.y, nv, &b.v_breaks),
        ),
        _ => (steps(domain.lo.x, domain.hi.x, nu, &[]), steps(domain.lo.y, domain.hi.y, nv, &[])),
    };
    let mut cells = Vec::new();
    for u in us.windows(2) {
        for v in vs.windows(2) {
            let at = |s: f64, t: f64| P2::new(u[0] + (u[1] - u[0]) * s, v[0] + (v[1] - v[0]) * t);
            let uv = at(0.5, 0.5);
            let p = surface.point(uv);
            let r = [
                (0.0, 0.0),
                (1.0, 0.0),
                (0.0, 1.0),
                (1.0, 1.0),
                (0.5, 0.0),
                (0.0, 0.5),
                (1.0, 0.5),
                (0.5, 1.0),
            ]
            .iter()
            .map(|&(s, t)| (surface.point(at(s, t)) - p).norm())
            .fold(0.0, f64::max);
            if p.coords.iter().all(|c| c.is_finite()) && r.is_finite() && r <= 4.0 * extent {
                cells.push(Cell { x: [uv.x, uv.y], p, r: r * 1.1 });
            }
        }
    }
    cells
}

/// Ends of `n` equal steps between `lo` and `hi`, and the breaks between them. Breaks are needed because
/// pieces may be far shorter than steps, and Newton's method may end anywhere if it starts from a cell
/// over many pieces.
fn steps(lo: f64, hi: f64, n: usize, breaks: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = (0..=n).map(|i| lo + (hi - lo) * i as f64 / n as f64).collect();
    out.extend(breaks.iter().filter(|b| lo < **b && **b < hi));
    out.sort_by(f64::total_cmp);
    out.dedup_by(|b, a| *b - *a <= 1e-9 * (hi - lo));
    out
}

fn edge_cells(curve: &Curve, t0: f64, t1: f64) -> Vec<Cell> {
    let n = match curve {
        Curve::Line { .. } => 2,
        Curve::Bezier(s) => (6 * (s.breaks.len() - 1)).clamp(12, 120),
        _ => ((t1 - t0) / 0.2).ceil().clamp(4.0, 40.0) as usize,
    };
    (0..n)
        .map(|i| {
            let at = |s: f64| t0 + (t1 - t0) * (i as f64 + s) / n as f64;
            let p = curve.point(at(0.5));
            let r =
                [0.0, 0.25, 0.75, 1.0].iter().map(|&s| (curve.point(at(s)) - p).norm()).fold(0.0, f64::max);
            Cell { x: [at(0.5), 0.0], p, r: r * 1.1 }
        })
        .collect()
}

fn features(solid: &Solid) -> Vec<Feature<'_>> {
    let extent = solid.bounds.diagonal();
    let mut out = Vec::new();
    for (i, f) in solid.shell.faces.iter().enumerate() {
        let domain = Domain::new(solid, i);
        let cells = face_cells(&f.surface, &domain, extent);
        out.push(Feature {
            name: format!("face #{}", solid.faces[i].source),
            shape: Shape::Face { surface: &f.surface, outward: f.orientation, domain },
            cells,
        });
    }
    for (i, e) in solid.shell.edges.iter().enumerate() {
        let info = &solid.edges[i];
        if matches!(info.status, EdgeStatus::Seam | EdgeStatus::Concave | EdgeStatus::Smooth) {
            continue;
        }
        let (t0, t1) = info.range;
        let sides = info
            .sides
            .iter()
            .map(|s| {
                let f = &solid.shell.faces[s.face as usize];
                (&f.surface, f.orientation, s.forward)
            })
            .collect();
        let closed = e.vertices.0 == e.vertices.1 && solid.vertices[e.vertices.0].smooth;
        out.push(Feature {
            name: format!("edge #{}", info.source),
            shape: Shape::Edge { curve: &e.curve, t0, t1, closed, sides },
            cells: edge_cells(&e.curve, t0, t1),
        });
    }
    for (i, p) in solid.shell.vertices.iter().enumerate() {
        if solid.vertices[i].smooth {
            continue;
        }
        let (around, boundary) = directions_around(solid, i, p);
        out.push(Feature {
            name: format!("vertex #{}", solid.vertices[i].source),
            shape: Shape::Vertex { point: *p, around, boundary },
            cells: vec![Cell { x: [0.0; 2], p: *p, r: 0.0 }],
        });
    }
    out
}

/// Directions from a vertex to nearby boundary points, against which the polar is tested, and the same
/// directions with the outward normals there. Directions on faces start at the point of the face nearest
/// to the vertex, because the vertex may be off the face by more than the length of a step times the
/// angle margin.
fn directions_around(solid: &Solid, vertex: usize, p: &P3) -> (Vec<V3>, Vec<(V3, V3)>) {
    let h = solid.bounds.diagonal() * 1e-5;
    let mut around = Vec::new();
    let mut boundary = Vec::new();
    for &e in &solid.vertices[vertex].edges {
        let (edge, info) = (&solid.shell.edges[e as usize], &solid.edges[e as usize]);
        let (t0, t1) = info.range;
        for (end, t, sign) in [(edge.vertices.0, t0, 1.0), (edge.vertices.1, t1, -1.0)] {
            if let Some(tangent) = edge.curve.tangent(t).filter(|_| end == vertex) {
                around.push(tangent * sign);
                // An edge contributes the normals of both faces: the normal of the more closely sampled
                // face alone would give the wrong side.
                for side in &info.sides {
                    let face = &solid.shell.faces[side.face as usize];
                    let normal = face.surface.normal(face.surface.invert(p, None, None));
                    boundary.push((tangent * sign, oriented(normal, face.orientation)));
                }
            }
        }
    }
    for &f in &solid.vertices[vertex].faces {
        let face = &solid.shell.faces[f as usize];
        let domain = Domain::new(solid, f as usize);
        let foot = face.surface.invert(p, None, None);
        let d = face.surface.derivs(foot);
        let singular = d.du.norm() < 1e-6 * d.dv.norm() || d.dv.norm() < 1e-6 * d.du.norm();
        for k in 0..720 {
            let angle = f64::from(k) * std::f64::consts::TAU / 720.0;
            let (s, c) = feeler_geom::math::sin_cos(angle);
            let uv = if singular {
                // At an apex or pole, walk along v at every u.
                let v = if d.dv.norm() > 0.0 { h / d.dv.norm() } else { h };
                let sign = if domain.hi.y - foot.y > foot.y - domain.lo.y { 1.0 } else { -1.0 };
                P2::new(angle, foot.y + sign * v)
            } else {
                // A step of length h in the tangent plane.
                let m = nalgebra::Matrix2::new(
                    d.du.norm_squared(),
                    d.du.dot(&d.dv),
                    d.du.dot(&d.dv),
                    d.dv.norm_squared(),
                );
                let (e1, n) = (d.du.normalize(), face.surface.normal(foot));
                let w = (e1 * c + n.cross(&e1) * s) * h;
                let rhs = nalgebra::Vector2::new(w.dot(&d.du), w.dot(&d.dv));
                let Some(step) = m.try_inverse().map(|i| i * rhs) else { continue };
                foot + step
            };
            if domain.inside(uv) {
                let q = face.surface.point(uv);
                if let Some(v) = (q - d.p).try_normalize(1e-300) {
                    around.push(v);
                    boundary.push((v, oriented(face.surface.normal(uv), face.orientation)));
                }
            }
        }
    }
    (around, boundary)
}

/// Point, first and second derivatives of a feature in world coordinates; derivatives are with respect
/// to its parameters.
fn evaluate(shape: &Shape<'_>, pose: &Pose, x: &[f64]) -> (P3, Vec<V3>, Vec<Vec<V3>>) {
    match shape {
        Shape::Face { surface, .. } => {
            let d = surface.derivs(P2::new(x[0], x[1]));
            (
                pose * d.p,
                vec![pose * d.du, pose * d.dv],
                vec![vec![pose * d.duu, pose * d.duv], vec![pose * d.duv, pose * d.dvv]],
            )
        }
        Shape::Edge { curve, .. } => {
            let d = curve.derivs(x[0]);
            (pose * d.p, vec![pose * d.d1], vec![vec![pose * d.d2]])
        }
        Shape::Vertex { point, .. } => (pose * point, vec![], vec![]),
    }
}

fn dimension(shape: &Shape<'_>) -> usize {
    match shape {
        Shape::Face { .. } => 2,
        Shape::Edge { .. } => 1,
        Shape::Vertex { .. } => 0,
    }
}

/// Points of both features in world coordinates, gradient and Hessian of half the squared distance, and
/// lengths of the first derivatives.
fn model(
    a: &Shape<'_>,
    b: &Shape<'_>,
    pose_b: &Pose,
    x: &[f64],
) -> (P3, P3, DVector<f64>, DMatrix<f64>, Vec<f64>) {
    let (na, nb) = (dimension(a), dimension(b));
    let (pa, ja, ha) = evaluate(a, &Pose::identity(), &x[..na]);
    let (pb, jb, hb) = evaluate(b, pose_b, &x[na..]);
    let w = pb - pa;
    // d(w)/dx: −ja for A, +jb for B.
    let j: Vec<V3> = ja.iter().map(|v| -v).chain(jb.iter().copied()).collect();
    let n = na + nb;
    let g = DVector::from_fn(n, |i, _| w.dot(&j[i]));
    let mut h = DMatrix::from_fn(n, n, |i, k| j[i].dot(&j[k]));
    for i in 0..na {
        for k in 0..na {
            h[(i, k)] -= w.dot(&ha[i][k]);
        }
    }
    for i in 0..nb {
        for k in 0..nb {
            h[(na + i, na + k)] += w.dot(&hb[i][k]);
        }
    }
    let lengths = j.iter().map(|v| v.norm()).collect();
    (pa, pb, g, h, lengths)
}

/// Damped Newton minimisation of half the squared distance from the parameters `start`; `None` if it
/// diverges or does not converge.
fn minimise(a: &Shape<'_>, b: &Shape<'_>, pose_b: &Pose, start: &[f64], size: f64) -> Option<Vec<f64>> {
    let mut x = start.to_vec();
    let mut lambda = 1e-3;
    let (mut pa, mut pb, mut g, mut h, mut len) = model(a, b, pose_b, &x);
    let first = pa;
    for _ in 0..120 {
        let n = x.len();
        if n == 0 {
            return Some(x);
        }
        let scaled = (0..n).map(|i| (g[i] / len[i].max(1e-12)).abs()).fold(0.0, f64::max);
        if scaled < 1e-13 * size {
            return Some(x);
        }
        let mut damped = h.clone();
        for i in 0..n {
            damped[(i, i)] += lambda * len[i].max(1e-9) * len[i].max(1e-9);
        }
        let step = damped.cholesky().map(|c| -c.solve(&g));
        let Some(step) = step else {
            lambda = (lambda * 4.0).max(1e-12);
            if lambda > 1e12 {
                return None;
            }
            continue;
        };
        let y: Vec<f64> = x.iter().zip(step.iter()).map(|(x, s)| x + s).collect();
        let (pa2, pb2, g2, h2, len2) = model(a, b, pose_b, &y);
        let moved = (0..n).map(|i| (step[i] * len[i]).abs()).fold(0.0, f64::max);
        if !(pb2 - pa2).norm().is_finite() || (pa2 - first).norm() > 3.0 * size {
            return None;
        }
        if (pb2 - pa2).norm_squared() <= (pb - pa).norm_squared() * (1.0 + 1e-14) {
            x = y;
            (pa, pb, g, h, len) = (pa2, pb2, g2, h2, len2);
            lambda *= 0.2;
            if lambda < 1e-9 {
                lambda = 0.0;
            }
            if moved < 1e-14 * size {
                return Some(x);
            }
        } else {
            if moved < 1e-12 * size {
                return Some(x);
            }
            lambda = (lambda * 5.0).max(1e-6);
        }
    }
    let scaled = (0..x.len()).map(|i| (g[i] / len[i].max(1e-12)).abs()).fold(0.0, f64::max);
    (scaled < 1e-9 * size).then_some(x)
}

/// Outcome of a test with a margin of error.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Yes,
    Borderline(&'static str),
    No,
}

/// Tests whether `x` lies in the relative interior of the feature, and `n` (unit vector towards the
/// other solid, in the feature's own frame) in its polar. `margin` (mm) is the error of trims and ends.
fn admissible(shape: &Shape<'_>, x: &[f64], n: &V3, margin: f64) -> Verdict {
    match shape {
        Shape::Face { surface, outward, domain } => {
            let uv = P2::new(x[0], x[1]);
            let normal = oriented(surface.normal(uv), *outward);
            if n.dot(&normal) < 0.999 {
                return Verdict::No;
            }
            let near = domain.boundary_distance(surface, uv);
            let inside = domain.inside(uv);
            if near < margin {
                Verdict::Borderline("trim")
            } else if inside {
                Verdict::Yes
            } else {
                Verdict::No
            }
        }
        Shape::Edge { curve, t0, t1, closed, sides } => {
            let mut t = x[0];
            if let Some(p) = curve.period() {
                t = feeler_geom::math::wrap(t, *t0 - 1e-9 * p, p);
            }
            let d = curve.derivs(t);
            let margin = margin / d.d1.norm().max(1e-12);
            let mut verdict = Verdict::Yes;
            if !*closed {
                if t < t0 - margin || t > t1 + margin {
                    return Verdict::No;
                }
                if t < t0 + margin || t > t1 - margin {
                    verdict = Verdict::Borderline("end");
                }
            }
            let Some(tangent) = curve.tangent(t) else { return Verdict::Borderline("singular") };
            for (surface, outward, forward) in sides {
                let uv = surface.invert(&d.p, None, None);
                let normal = oriented(surface.normal(uv), *outward);
                let inward = normal.cross(&if *forward { tangent } else { -tangent });
                let s = n.dot(&inward);
                if s > ANGLE_MARGIN {
                    return Verdict::No;
                }
                if s > -ANGLE_MARGIN {
                    verdict = Verdict::Borderline("edge polar");
                }
            }
            // Both inward directions are on the far side, but the material surrounds them, so the edge
            // is concave.
            let (n1, n2) = (side_normal(&sides[0], &d.p), side_normal(&sides[1], &d.p));
            let t1 = if sides[0].2 { tangent } else { -tangent };
            let mut dihedral = feeler_geom::math::atan2(n1.cross(&n2).dot(&t1), n1.dot(&n2));
            if dihedral.abs() > std::f64::consts::PI - ANGLE_MARGIN {
                let Some(is_blade) = is_blade(sides, &d.p, &tangent, 10.0 * margin * d.d1.norm()) else {
                    return Verdict::Borderline("razor");
                };
                dihedral = if is_blade { dihedral.abs() } else { -dihedral.abs() };
            }
            if dihedral < -ANGLE_MARGIN {
                return Verdict::No;
            }
            if dihedral < ANGLE_MARGIN {
                return Verdict::Borderline("flat edge");
            }
            verdict
        }
        Shape::Vertex { around, boundary, .. } => {
            let worst = around.iter().map(|v| n.dot(v)).fold(f64::NEG_INFINITY, f64::max);
            if worst > 5.0 * ANGLE_MARGIN {
                return Verdict::No;
            }
            // Reject directions into the material. No boundary point lies between `n` and the boundary
            // directions nearest to it, so they are on the same side. At an edge the normals of both
            // faces decide together.
            let nearest = boundary.iter().map(|(v, _)| n.dot(v)).fold(f64::NEG_INFINITY, f64::max);
            let side: V3 = boundary
                .iter()
                .filter(|(v, _)| n.dot(v) > nearest - SAME_DIRECTION_COS)
                .map(|(_, m)| m)
                .sum();
            if n.dot(&side) < 0.0 {
                return Verdict::No;
            }
            if worst > -5.0 * ANGLE_MARGIN { Verdict::Borderline("vertex polar") } else { Verdict::Yes }
        }
    }
}

/// Decides whether two faces with opposite normals at `p` enclose the material (a blade) or are enclosed
/// by it (a slit without an angle). Compares their positions a step (mm) away from the edge; `None` if
/// their distance there is within their deviations from the edge.
fn is_blade(sides: &[(&Surface, bool, bool)], p: &P3, tangent: &V3, step: f64) -> Option<bool> {
    let beside = |side: &(&Surface, bool, bool)| {
        let at = side.0.invert(p, None, None);
        let normal = oriented(side.0.normal(at), side.1);
        let inward = normal.cross(&if side.2 { *tangent } else { -*tangent });
        let place = p + inward * step;
        (side.0.point(side.0.invert(&place, None, None)), normal, (side.0.point(at) - p).norm())
    };
    let ((q1, n1, off1), (q2, _, off2)) = (beside(sides.first()?), beside(sides.get(1)?));
    let behind = (q1 - q2).dot(&n1);
    (behind.abs() > 2.0 * (off1 + off2)).then_some(behind > 0.0)
}

fn side_normal(side: &(&Surface, bool, bool), p: &P3) -> V3 {
    let uv = side.0.invert(p, None, None);
    oriented(side.0.normal(uv), side.1)
}

/// Returns all local minima of the distance between A and B (posed by `pose_b` in A's frame) up to
/// `d_max` (mm).
#[must_use]
pub fn all_minima(a: &Solid, b: &Solid, pose_b: &Pose, d_max: f64) -> Vec<Minimum> {
    let (fa, fb) = (features(a), features(b));
    let size = a.bounds.diagonal().max(b.bounds.diagonal());
    let mut found: Vec<(usize, Minimum)> = Vec::new();
    for x in &fa {
        for y in &fb {
            let mut local: Vec<Minimum> = Vec::new();
            for ca in &x.cells {
                for cb in &y.cells {
                    if (pose_b * cb.p - ca.p).norm() > d_max + ca.r + cb.r {
                        continue;
                    }
                    let start: Vec<f64> = ca.x[..dimension(&x.shape)]
                        .iter()
                        .chain(&cb.x[..dimension(&y.shape)])
                        .copied()
                        .collect();
                    let Some(end) = minimise(&x.shape, &y.shape, pose_b, &start, size) else { continue };
                    if let Some(m) = accepted(x, y, pose_b, &end, d_max, size)
                        && !local.iter().any(|o| same(o, &m, size))
                    {
                        local.push(m);
                    }
                }
            }
            let rank = dimension(&x.shape) + dimension(&y.shape);
            found.extend(local.into_iter().map(|m| (rank, m)));
        }
    }
    // Equal pairs of points on features of lower dimension are duplicates; minima that are not
    // borderline are preferred.
    found.sort_by(|(ra, ma), (rb, mb)| {
        ma.borderline
            .is_some()
            .cmp(&mb.borderline.is_some())
            .then(rb.cmp(ra))
            .then(ma.distance.total_cmp(&mb.distance))
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

fn same(m: &Minimum, o: &Minimum, size: f64) -> bool {
    (m.p_a - o.p_a).norm() < 1e-5 * size && (m.p_b - o.p_b).norm() < 1e-5 * size
}

/// Returns the end of a minimisation as a local minimum, if it passes all tests of MATH §2; otherwise
/// `None`.
fn accepted(
    a: &Feature<'_>,
    b: &Feature<'_>,
    pose_b: &Pose,
    x: &[f64],
    d_max: f64,
    size: f64,
) -> Option<Minimum> {
    let na = dimension(&a.shape);
    let (p_a, p_b, _, h, lengths) = model(&a.shape, &b.shape, pose_b, x);
    let distance = (p_b - p_a).norm();
    if distance > d_max * (1.0 + 1e-9) || distance < 1e-9 * size {
        return None;
    }
    let n = (p_b - p_a) / distance;
    let mut borderline = (distance > d_max * (1.0 - 1e-9)).then_some("d_max");
    for verdict in [
        admissible(&a.shape, &x[..na], &n, TRIM_MARGIN * size),
        admissible(&b.shape, &x[na..], &(pose_b.rotation.inverse() * -n), TRIM_MARGIN * size),
    ] {
        match verdict {
            Verdict::No => return None,
            Verdict::Borderline(why) => borderline = Some(why),
            Verdict::Yes => {}
        }
    }
    let mut min_eigenvalue = f64::INFINITY;
    if !lengths.is_empty() {
        if lengths.iter().any(|l| *l < 1e-9) {
            borderline = Some("singular");
        }
        let scaled =
            DMatrix::from_fn(h.nrows(), h.ncols(), |i, k| h[(i, k)] / (lengths[i] * lengths[k]).max(1e-300));
        min_eigenvalue = scaled.symmetric_eigenvalues().min();
        if min_eigenvalue < -EIGEN_MARGIN {
            return None;
        }
        if min_eigenvalue < EIGEN_MARGIN {
            borderline = Some("second order");
        }
    }
    Some(Minimum {
        distance,
        p_a,
        p_b,
        feature_a: a.name.clone(),
        feature_b: b.name.clone(),
        borderline,
        min_eigenvalue,
    })
}
