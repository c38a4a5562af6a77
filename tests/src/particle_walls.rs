//! Minima of the distance from points to solids, compared with a brute-force search: cells and damped
//! Newton steps over the boundary representation, trims by rays in the parameter plane, polars by inward
//! directions, sides by rays in space. The search does not use hierarchies, boxes, closed forms of feet
//! or trimming cells.

use crate::Part;
use crate::brute_force::PointOracle;
use crate::membership::Rays;
use feeler_geom::{P2, P3, Surface, V3, math};
use feeler_runtime::{Boundary, PointMinima, PointMinimum};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use rayon::prelude::*;

/// Statistics of the comparison for many points.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of query points, and number of those inside.
    pub points: [usize; 2],
    /// Number of minima that both methods find.
    pub agreed: usize,
    /// Number of minima that the brute-force search cannot decide within its error.
    pub undecided: usize,
    /// Number of samples of conformal sets.
    pub samples: usize,
    /// Number of points with more than one minimum.
    pub several: usize,
    /// Number of points that are inside by rays and outside by the nearest boundary point, or vice
    /// versa. The model passes through itself there, so a side is undefined.
    pub sideless: usize,
    /// Descriptions of the faults.
    pub wrong: Vec<String>,
}

impl Tally {
    /// Returns the sum of two statistics.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (a, b) in self.points.iter_mut().zip(other.points) {
            *a += b;
        }
        self.agreed += other.agreed;
        self.undecided += other.undecided;
        self.samples += other.samples;
        self.several += other.several;
        self.sideless += other.sideless;
        self.wrong.extend(other.wrong);
        self
    }
}

fn unit(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.01..1.0).contains(&v.norm()) {
            return v.normalize();
        }
    }
}

/// A random point near a solid: beside faces, edges and vertices, on axes and planes of symmetry, or
/// anywhere within `reach` (mm).
#[must_use]
pub fn point_about(part: &Part, reach: f64, rng: &mut SmallRng) -> P3 {
    let shell = &part.solid.shell;
    let off = |rng: &mut SmallRng| {
        let scale = [1.0, 0.3, 0.03, 1e-3][rng.random_range(0..4)];
        rng.random_range(-1.0..1.0) * reach * scale
    };
    match rng.random_range(0..8) {
        0..=2 => {
            let f = rng.random_range(0..shell.faces.len());
            let surface = &shell.faces[f].surface;
            let rect = &part.solid.faces[f].domain.rect;
            let uv = P2::new(
                rect.u0 + rect.width() * rng.random_range(0.0..1.0),
                rect.v0 + rect.height() * rng.random_range(0.0..1.0),
            );
            surface.point(uv) + surface.normal(uv) * off(rng)
        }
        3 | 4 if !shell.edges.is_empty() => {
            let e = rng.random_range(0..shell.edges.len());
            let (t0, t1) = part.solid.edges[e].range;
            shell.edges[e].curve.point(t0 + (t1 - t0) * rng.random_range(0.0..1.0)) + unit(rng) * off(rng)
        }
        5 if !shell.vertices.is_empty() => {
            shell.vertices[rng.random_range(0..shell.vertices.len())] + unit(rng) * off(rng)
        }
        6 => {
            let f = rng.random_range(0..shell.faces.len());
            let rect = &part.solid.faces[f].domain.rect;
            let t = rng.random_range(-0.2..1.2);
            match &shell.faces[f].surface {
                Surface::Cylinder { frame, .. } | Surface::Cone { frame, .. } => {
                    frame.origin + frame.z * (rect.v0 + t * rect.height())
                }
                Surface::Sphere { frame, .. } => frame.origin,
                Surface::Torus { frame, major, .. } => {
                    let (s, c) = math::sin_cos(t);
                    frame.point(major * c, major * s, 0.0)
                }
                Surface::Plane { frame } => {
                    let c = part.solid.bounds.center();
                    c + frame.z * off(rng)
                }
                Surface::Bezier(_) => part.solid.bounds.center(),
            }
        }
        _ => {
            let (lo, d) = (part.solid.bounds.min, part.solid.bounds.max - part.solid.bounds.min);
            let mut p = lo + V3::from_fn(|i, _| d[i] * rng.random_range(-0.05..1.05));
            // Half of these points are in a plane through the centre.
            if rng.random_bool(0.5) {
                let k = rng.random_range(0..3);
                p[k] = lo[k] + 0.5 * d[k];
            }
            p
        }
    }
}

/// Compares the minima of `n` points of a part within `reach` (mm). The points do not depend on the
/// number of threads.
#[must_use]
pub fn check(name: &str, part: &Part, reach: f64, n: usize, seed: u64) -> Tally {
    let oracle = PointOracle::new(&part.solid, part.body.hierarchy().info.max_trim_deviation);
    let rays = Rays::new(part.body.hierarchy());
    let boundary = Boundary::new(part.body.clone());
    let check_chunk = |first: usize| {
        let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ first as u64);
        let mut query = PointMinima::new();
        let mut tally = Tally::default();
        for _ in first..n.min(first + CHUNK) {
            let p = point_about(part, reach, &mut rng);
            let found = query.query(&boundary, &p, reach);
            tally.compare(name, part, &oracle, &rays, &p, reach, found);
        }
        tally
    };
    (0..n).into_par_iter().step_by(CHUNK).map(check_chunk).reduce(Tally::default, Tally::and)
}

/// Number of points in each work item of a thread.
const CHUNK: usize = 50;

impl Tally {
    #[expect(clippy::too_many_arguments, reason = "the inputs of a comparison")]
    fn compare(
        &mut self,
        name: &str,
        part: &Part,
        oracle: &PointOracle<'_>,
        rays: &Rays<'_>,
        p: &P3,
        reach: f64,
        found: &[PointMinimum],
    ) {
        let size = part.solid.bounds.diagonal();
        let near = 2.0 * oracle.margin();
        // Tolerance for gaps of the model between its faces and edges, and for the accuracy of the
        // solvers. The border of a face (the image of its trim or of the edge) is off the edge by at most
        // the deviation. The brute-force search uses the edge, queries also use either face, so their
        // borders differ by at most twice the deviation, and so do distances to them.
        let open = 1e-7 * size + 2.0 * part.body.hierarchy().info.max_trim_deviation;
        self.points[0] += 1;
        let mut report =
            |what: String| self.wrong.push(format!("{name} at {:?}: {what}", p.coords.as_slice()));
        let side = rays.contains(p);
        let is_inside = found.iter().any(|m| m.distance < 0.0);
        let tiny = found.iter().any(|m| m.distance.abs() <= 1e-4 * size);
        if is_inside || side == Some(true) {
            self.points[1] += 1;
            if side.zip(oracle.is_behind_nearest(p)).is_some_and(|(a, b)| a != b) && !tiny {
                self.sideless += 1;
                return;
            }
            if side.is_some_and(|s| s != is_inside) && !tiny {
                report(format!("inside by rays: {side:?}, found {found:?}"));
                return;
            }
            let [only] = found else {
                if tiny || side.is_none() {
                    self.undecided += 1;
                } else {
                    report(format!("{} minima of a point inside", found.len()));
                }
                return;
            };
            // The limit exceeds the reported depth, so a depth that is reported too small is found as
            // well.
            let depth = oracle.boundary_distance(p, only.distance.abs() + 1e-3 * size);
            // Beside trims, the brute-force search is accurate only up to its margins.
            let is_beside = only.distance.abs().max(depth) <= near;
            match ((only.distance.abs() - depth).abs() <= open, is_beside) {
                (true, _) => self.agreed += 1,
                (false, true) => self.undecided += 1,
                (false, false) => report(format!("depth {} instead of {depth}, {only:?}", only.distance)),
            }
            return;
        }
        let expected = oracle.minima(p, reach);
        self.several += usize::from(found.len() > 1);
        for m in found {
            let n = m.normal * m.distance;
            if (m.point + n - p).norm() > 1e-8 * size {
                report(format!("the point is not along the normal of {m:?}"));
            }
        }
        for e in &expected {
            let is_there = found
                .iter()
                .any(|m| (m.point - e.p_a).norm() <= 1e-5 * size && (m.distance - e.distance).abs() <= open);
            // The brute-force search may find other points of a conformal set than the samples.
            let is_set = || {
                e.borderline == Some("second order")
                    && found.iter().any(|m| m.is_sample && (m.distance - e.distance).abs() <= open)
            };
            match (is_there || is_set(), e.borderline) {
                (true, _) => self.agreed += 1,
                (false, Some(_)) => self.undecided += 1,
                (false, None) if e.distance <= near => self.undecided += 1,
                (false, None) => report(format!("missing {e:?}, found {found:?}")),
            }
        }
        for m in found {
            let is_there = expected.iter().any(|e| {
                (m.distance - e.distance).abs() <= open
                    && (m.is_sample || (m.point - e.p_a).norm() <= 1e-5 * size)
            });
            // If two features have nearly equal minima, the brute-force search reports the one on the
            // feature of higher dimension.
            let is_near =
                expected.iter().any(|e| e.borderline.is_some() && (m.point - e.p_a).norm() <= near + open);
            if !is_there && is_near {
                self.undecided += 1;
                continue;
            }
            if m.is_sample {
                self.samples += 1;
            }
            // The brute-force search does not resolve the directions of minima that are nearer than its
            // margins.
            if !is_there && m.distance > near && !m.is_sample && !oracle.confirms(p, &m.point, reach) {
                report(format!("not a minimum: {m:?}, expected {expected:?}"));
            }
        }
    }
}
