//! Culling tests with the dilations of a step: pairs of areas whose polars are constructed to match within
//! the dilation.

use super::{CROSSING_DILATION, LARGEST_DILATION, MIN_CROSSING_ANGLE, Widening, dilations};
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::cull::node_pair::CullContext;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures;
use feeler_brep::source::SolidSource;
use feeler_geom::{P2, P3, Pose, Surface, V3, math};
use feeler_hierarchy::{AreaId, EdgeId, FaceId, Feature};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Number of random pairs of features in each test.
const PAIRS: u32 = 4000;

fn body(source: &SolidSource) -> Body {
    let solid = build_solid(source, &BuildOptions::default()).unwrap();
    let options = feeler_hierarchy::Options { flatness: 0.05 };
    Body::new(feeler_prepare::prepare_solid(&solid, &options).unwrap()).unwrap()
}

fn block() -> Body {
    body(&fixtures::block([-1.0, -0.8, -0.6], [1.0, 0.8, 0.6]))
}

/// An edge of a block: its middle, its tangent, and the outward normals of both faces.
struct BlockEdge {
    area: AreaId,
    middle: P3,
    tangent: V3,
    normals: [V3; 2],
}

impl BlockEdge {
    fn of(block: &Body, index: u32) -> Self {
        let edge = block.edge(EdgeId(index));
        let area = block.areas_of(block.data(Feature::Edge(EdgeId(index))))[0];
        let rect = block.area(area).rect;
        let derivs = edge.curve.derivs(0.5 * (rect.u0 + rect.u1));
        let normal = |face: FaceId| {
            let face = block.face(face);
            let Surface::Plane { frame } = &face.surface else { unreachable!("a block has planes") };
            if face.outward { frame.z } else { -frame.z }
        };
        let normals = [0, 1].map(|side| normal(edge.sides[side].face));
        Self { area, middle: derivs.p, tangent: derivs.d1.normalize(), normals }
    }

    /// Direction outside the edge's polar by an angle (rad), on the side of the first normal.
    fn outside(&self, angle: f64) -> V3 {
        self.normals[0] * math::cos(angle) - self.normals[1] * math::sin(angle)
    }
}

/// Pose that maps a point, a direction and a tangent perpendicular to it to others.
fn placing((p, m, s): (P3, V3, V3), (q, n, t): (P3, V3, V3)) -> Pose {
    let axes = |n: V3, t: V3| Matrix3::from_columns(&[n, t, n.cross(&t)]);
    let rotation = axes(n, t) * axes(m, s).transpose();
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation));
    Pose::from_parts((q.coords - rotation * p.coords).into(), rotation)
}

fn perpendicular(n: &V3, rng: &mut SmallRng) -> V3 {
    let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    (v - n * n.dot(&v)).normalize()
}

fn log_uniform(rng: &mut SmallRng, low: f64, high: f64) -> f64 {
    math::powf(10.0, rng.random_range(low..high))
}

fn step(rotation: f64, displacement: f64) -> Widening {
    let max_distance = displacement;
    Widening { rotation, displacement, max_distance, gap_error: 1e-3, pose_before: None, ignores_waves: true }
}

/// Returns whether two areas pass the culling tests of a step at a pose of B.
fn passes((a, i): (&Body, AreaId), (b, j): (&Body, AreaId), pose: &Pose, step: &Widening) -> bool {
    let tol = Tolerances::new(a, b, pose, None);
    let cull = CullContext::new(pose, &tol, &QueryOptions::within(0.25));
    let cull = cull.with_beside(step.displacement, None);
    let cull = cull.with_dilations(dilations(step, a.max_bend().max(b.max_bend()), None));
    cull.areas((a, i), (b, j), &cull.placed(b, j))
}

/// An edge of a block lies on the normal of a point of a spline face, outside the edge's polar by a
/// fraction of the dilation: the pair of areas is not culled. Three times as far outside, many pairs are
/// culled.
#[test]
fn edges_beside_spline_faces_are_not_culled() {
    let bumps = [
        fixtures::bump(2.0, &[&[0.4]], 1.0),
        fixtures::bump(2.0, &[&[1.5, 1.2], &[0.9, 1.5]], 1.0),
        fixtures::bump(1.0, &[&[0.8, -0.4], &[-0.3, 0.6]], 2.0),
    ];
    let (bumps, block) = (bumps.map(|source| body(&source)), block());
    let mut rng = SmallRng::seed_from_u64(48);
    let mut culled = 0;
    for k in 0..PAIRS {
        let bump = &bumps[k as usize % bumps.len()];
        let is_spline = |f: &FaceId| matches!(bump.face(*f).surface, Surface::Bezier(_));
        let face = (0..6).map(FaceId).find(is_spline).unwrap();
        let areas = bump.areas_of(bump.data(Feature::Face(face)));
        let area = areas[rng.random_range(0..areas.len())];
        let r = bump.area(area).rect;
        let uv = P2::new(rng.random_range(r.u0..r.u1), rng.random_range(r.v0..r.v1));
        let surface = &bump.face(face).surface;
        let (p, n) = (surface.point(uv), surface.normal(uv));
        let n = if bump.face(face).outward { n } else { -n };
        let bend = surface.curvatures(uv).iter().fold(0.0, |most: f64, k| most.max(k.abs()));
        let step = step(log_uniform(&mut rng, -4.0, -1.0), log_uniform(&mut rng, -4.0, -1.0));
        let largest = (step.rotation + bend * step.displacement).min(LARGEST_DILATION);
        let edge = BlockEdge::of(&block, rng.random_range(0..12));
        let (gap, t) = (rng.random_range(0.0..0.02), perpendicular(&n, &mut rng));
        let at = (p + n * gap, -n, t);
        let placed = |angle: f64| placing((edge.middle, edge.outside(angle), edge.tangent), at);
        let pose = placed(largest * rng.random_range(0.0..0.999));
        assert!(passes((bump, area), (&block, edge.area), &pose, &step), "{k}: {step:?} {uv}");
        culled += u32::from(!passes((bump, area), (&block, edge.area), &placed(3.0 * largest + 0.3), &step));
    }
    assert!(culled > PAIRS / 4, "{culled}");
}

/// Two edges of blocks cross at an angle, the common perpendicular outside the polar of one of them.
#[test]
fn crossing_edges_are_not_culled() {
    let block = block();
    let mut rng = SmallRng::seed_from_u64(49);
    let mut culled = 0;
    for k in 0..PAIRS {
        let [a, b] = [0; 2].map(|_| BlockEdge::of(&block, rng.random_range(0..12)));
        let step = step(log_uniform(&mut rng, -4.0, -1.3), log_uniform(&mut rng, -4.0, -1.0));
        let smallest = math::sin(MIN_CROSSING_ANGLE * step.rotation);
        let sine = log_uniform(&mut rng, smallest.log10(), 0.0).min(1.0);
        let largest = (CROSSING_DILATION * step.rotation / sine).min(LARGEST_DILATION);
        let placed = |angle: f64| {
            let n = a.outside(angle);
            let t = a.tangent * (1.0 - sine * sine).sqrt() + n.cross(&a.tangent) * sine;
            let inside = (b.normals[0] + b.normals[1]).normalize();
            placing((b.middle, inside, b.tangent), (a.middle + n * 0.01, -n, t))
        };
        let pose = placed(largest * rng.random_range(0.0..0.999));
        assert!(passes((&block, a.area), (&block, b.area), &pose, &step), "{k}: {step:?} {sine}");
        culled += u32::from(!passes((&block, a.area), (&block, b.area), &placed(1.2), &step));
    }
    assert!(culled > PAIRS / 4, "{culled}");
}
