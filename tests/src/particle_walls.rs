//! Minima of the distance from points to solids, judged by brute force: cells and damped Newton steps over
//! the boundary representation, trims by rays in the parameter plane, polars by inward directions, sides by
//! rays in space. Nothing of it knows hierarchies, boxes, closed forms of feet or trimming cells.

use crate::Part;
use crate::brute_force::PointOracle;
use crate::membership::Rays;
use feeler_geom::{P2, P3, Surface, V3, math};
use feeler_runtime::{Boundary, PointMinima, PointMinimum};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use rayon::prelude::*;

/// What the comparison of many points found.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Points that were asked for, and how many of them are inside.
    pub points: [usize; 2],
    /// Minima that both have.
    pub agreed: usize,
    /// Minima that the brute force cannot decide within its error.
    pub undecided: usize,
    /// Samples of sets.
    pub samples: usize,
    /// Points with more than one minimum.
    pub several: usize,
    /// Points that are inside by rays and outside by the nearest place, or the other way round: there the
    /// model passes through itself, and has no side.
    pub sideless: usize,
    /// What is wrong, in words.
    pub wrong: Vec<String>,
}

impl Tally {
    /// The sum of two.
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

/// A point about a solid: beside faces, edges and vertices, on axes and planes of symmetry, and anywhere.
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
            // Half of them in a plane through the middle.
            if rng.random_bool(0.5) {
                let k = rng.random_range(0..3);
                p[k] = lo[k] + 0.5 * d[k];
            }
            p
        }
    }
}

/// Asks for `n` points of a part, within `reach` (mm), on all threads: the same points for any number of
/// them.
#[must_use]
pub fn judge(name: &str, part: &Part, reach: f64, n: usize, seed: u64) -> Tally {
    let oracle = PointOracle::new(&part.solid, part.body.hierarchy().info.max_trim_deviation);
    let rays = Rays::new(part.body.hierarchy());
    let boundary = Boundary::new(part.body.clone());
    let ask = |first: usize| {
        let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ first as u64);
        let mut query = PointMinima::new();
        let mut tally = Tally::default();
        for _ in first..n.min(first + TOGETHER) {
            let p = point_about(part, reach, &mut rng);
            let found = query.query(&boundary, &p, reach);
            tally.compare(name, part, &oracle, &rays, &p, reach, found);
        }
        tally
    };
    (0..n).into_par_iter().step_by(TOGETHER).map(ask).reduce(Tally::default, Tally::and)
}

/// Points that one thread takes at a time.
const TOGETHER: usize = 50;

impl Tally {
    #[expect(clippy::too_many_arguments, reason = "what a comparison is of")]
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
        // What the model leaves open between its faces and edges. The border of a face, where its trim or the
        // edge is mapped to, is off the edge by no more than the deviation, and so two ways to tell the same
        // border (the brute force takes the edge, queries also either face) are off each other by no more
        // than twice that. Distances to two sets differ by no more than these are off each other. The rest is
        // what solvers stop at.
        let open = 1e-7 * size + 2.0 * part.body.hierarchy().info.max_trim_deviation;
        self.points[0] += 1;
        let mut say = |what: String| self.wrong.push(format!("{name} at {:?}: {what}", p.coords.as_slice()));
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
                say(format!("inside: {side:?}, found {found:?}"));
                return;
            }
            let [only] = found else {
                if tiny || side.is_none() {
                    self.undecided += 1;
                } else {
                    say(format!("{} places of a point inside", found.len()));
                }
                return;
            };
            // What is told too shallow is the limit, and differs, too.
            let depth = oracle.boundary_distance(p, only.distance.abs() + 1e-3 * size);
            // Beside trims the brute force is no better than its margins.
            let is_beside = only.distance.abs().max(depth) <= near;
            match ((only.distance.abs() - depth).abs() <= open, is_beside) {
                (true, _) => self.agreed += 1,
                (false, true) => self.undecided += 1,
                (false, false) => say(format!("depth {} instead of {depth}, {only:?}", only.distance)),
            }
            return;
        }
        let expected = oracle.minima(p, reach);
        self.several += usize::from(found.len() > 1);
        for m in found {
            let n = m.normal * m.distance;
            if (m.point + n - p).norm() > 1e-8 * size {
                say(format!("the point is not along the normal of {m:?}"));
            }
        }
        for e in &expected {
            let is_there = found
                .iter()
                .any(|m| (m.point - e.p_a).norm() <= 1e-5 * size && (m.distance - e.distance).abs() <= open);
            // Of a set the brute force finds other places than the samples.
            let is_set = || {
                e.borderline == Some("second order")
                    && found.iter().any(|m| m.is_sample && (m.distance - e.distance).abs() <= open)
            };
            match (is_there || is_set(), e.borderline) {
                (true, _) => self.agreed += 1,
                (false, Some(_)) => self.undecided += 1,
                (false, None) if e.distance <= near => self.undecided += 1,
                (false, None) => say(format!("lost {e:?}, found {found:?}")),
            }
        }
        for m in found {
            let is_there = expected.iter().any(|e| {
                (m.distance - e.distance).abs() <= open
                    && (m.is_sample || (m.point - e.p_a).norm() <= 1e-5 * size)
            });
            // Of two that are as good as one, the brute force keeps that on the larger feature.
            let is_near =
                expected.iter().any(|e| e.borderline.is_some() && (m.point - e.p_a).norm() <= near + open);
            if !is_there && is_near {
                self.undecided += 1;
                continue;
            }
            if m.is_sample {
                self.samples += 1;
            }
            // Directions of what is nearer than the margins of the brute force are not told by it.
            if !is_there && m.distance > near && !m.is_sample && !oracle.confirms(p, &m.point, reach) {
                say(format!("made up {m:?}, expected {expected:?}"));
            }
        }
    }
}
