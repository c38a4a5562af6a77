//! Reference for the status of a query, without any code of the runtime: pairs of generated solids near
//! contact ([`generate`]) and checks against their closed forms ([`mod@judge`]).

pub mod freeform;
pub mod generate;
pub mod judge;

use crate::membership::{Shape, Spec};
use crate::part_of;
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::Hierarchy;
use feeler_runtime::{Body, ContactKind, ContactPair, QueryOptions, Status};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Status of two solids as reported by a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The solids are separated.
    Separated,
    /// The solids touch.
    Touching,
    /// The interiors intersect.
    Interfering,
    /// The query did not reach a decision.
    Undecided,
}

/// Result of a query, in world coordinates and mm.
#[derive(Clone, Debug)]
pub struct QueryResult {
    /// Reported status.
    pub verdict: Verdict,
    /// Smallest distance (mm); `None` if it exceeds `d_max`.
    pub distance: Option<f64>,
    /// Footpoints of the minima on A and B, sorted by distance, at most 16.
    pub points: Vec<[P3; 2]>,
    /// Witness of an interference, and lower bounds of its depths (mm) in A and in B; `None` without an
    /// interference.
    pub witness: Option<(P3, [f64; 2])>,
    /// Wall time (s) of the query.
    pub seconds: f64,
}

/// Queries two bodies with minima up to `d_max` (mm).
///
/// # Panics
/// If the poses are not finite.
#[must_use]
pub fn query(a: &Arc<Body>, b: &Arc<Body>, pose_a: &Pose, pose_b: &Pose, d_max: f64) -> QueryResult {
    query_with(a, b, pose_a, pose_b, &QueryOptions::within(d_max))
}

/// Queries two bodies with the given options. Only this function calls the program under test.
///
/// # Panics
/// If the poses or options are not finite.
#[must_use]
pub fn query_with(
    a: &Arc<Body>,
    b: &Arc<Body>,
    pose_a: &Pose,
    pose_b: &Pose,
    options: &QueryOptions,
) -> QueryResult {
    let mut pair = ContactPair::new(a.clone(), b.clone());
    let clock = Instant::now();
    pair.query(pose_a, pose_b, options).expect("finite poses and options");
    let seconds = clock.elapsed().as_secs_f64();
    let verdict = match pair.status() {
        Some(Status::Separated) => Verdict::Separated,
        Some(Status::Touching) => Verdict::Touching,
        Some(Status::Interfering) => Verdict::Interfering,
        Some(Status::Undecided) | None => Verdict::Undecided,
    };
    let minima = pair.contacts().iter().filter(|l| l.kind != ContactKind::Quasi);
    let points = minima.take(16).map(|l| [l.point_a, l.point_b]).collect();
    let witness = pair.verdict().and_then(|v| v.witness);
    let witness = witness.map(|w| (w.point, [w.inside_a, w.inside_b]));
    QueryResult { verdict, distance: pair.min_distance(), points, witness, seconds }
}

/// A generated solid ready for queries.
#[derive(Debug)]
pub struct Model {
    /// Dimensions of the solid.
    pub spec: Spec,
    /// The solid and its closed form.
    pub shape: Shape,
    /// The body prepared for queries.
    pub body: Arc<Body>,
    /// Points of the boundary, on faces, edges and vertices, each with an outward unit direction.
    pub samples: Vec<(P3, V3)>,
}

impl Model {
    /// Builds and prepares a solid.
    ///
    /// # Panics
    /// If the solid cannot be built or prepared.
    #[must_use]
    pub fn new(spec: &Spec) -> Self {
        let shape = spec.shape();
        let body = part_of(&shape.source, feeler_import::DEFAULT_FLATNESS).body;
        let mut rng = SmallRng::seed_from_u64(7);
        let reach = 1e-3 * body.size();
        let points = boundary_points(body.hierarchy(), &mut rng);
        let samples = points
            .into_iter()
            .map(|p| {
                // At edges and vertices, the mean is a direction between the normals.
                let mean: V3 = (0..6)
                    .map(|_| p + V3::from_fn(|_, _| rng.random_range(-reach..reach)))
                    .map(|q| -judge::slope(&|p: &P3| shape.form.depth(p), &q, reach * 1e-4))
                    .sum();
                (p, mean.try_normalize(1e-6).unwrap_or_else(V3::z))
            })
            .collect();
        Self { spec: *spec, shape, body, samples }
    }

    /// Diagonal of the bounding box (mm).
    #[must_use]
    pub fn size(&self) -> f64 {
        self.body.size()
    }
}

/// Points on the exact faces, edges and vertices of a solid.
#[must_use]
pub fn boundary_points(solid: &Hierarchy, rng: &mut SmallRng) -> Vec<P3> {
    let mut out: Vec<P3> = solid.vertices.iter().map(|v| v.point).collect();
    for e in &solid.edges {
        for s in &e.spans {
            out.extend((0..4).map(|_| e.curve.point(rng.random_range(s.t0..s.t1))));
        }
    }
    let each = (120 / solid.faces.len()).clamp(8, 40);
    for f in &solid.faces {
        let r = f.trim.rect;
        let uv = (0..4 * each).map(|_| P2::new(rng.random_range(r.u0..r.u1), rng.random_range(r.v0..r.v1)));
        out.extend(
            uv.filter(|uv| f.trim.classify(*uv) == Side::Inside).take(each).map(|uv| f.surface.point(uv)),
        );
    }
    out
}

/// Cache of generated solids, by their dimensions.
#[derive(Debug, Default)]
pub struct Pool {
    models: HashMap<String, Rc<Model>>,
}

impl Pool {
    /// The solid with given dimensions, built and prepared at its first use.
    pub fn get(&mut self, spec: &Spec) -> Rc<Model> {
        if self.models.len() > 3000 {
            self.models.clear();
        }
        self.models.entry(format!("{spec:?}")).or_insert_with(|| Rc::new(Model::new(spec))).clone()
    }
}
