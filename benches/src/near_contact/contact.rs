//! Random pairs of solids brought to a pose at which their distance is 0.
//!
//! The solids start apart. A query determines the nearest minimum with the distance d and the normal n
//! from A to B, and solid B is translated by −d·n. No point of B moves farther than the distance, so B
//! cannot enter A, and the footpoints of the minimum coincide. A second query determines the last
//! thousandth of the size, because a large distance is less accurate.

use super::solids::NamedSolid;
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::{Contact, ContactKind, ContactPair, FeatureKind, FeatureRef, QueryOptions, Status};
use nalgebra::{Translation3, UnitQuaternion, Vector3};
use rand::Rng as _;
use rand::rngs::SmallRng;

/// Distance that remains for the second query, as a fraction of the size.
const SECOND_QUERY_DISTANCE_REL: f64 = 1e-3;
/// Maximum difference between an expected and a reported distance that count as equal, as a fraction of
/// the size.
pub const SAME_DISTANCE_REL: f64 = 1e-9;
/// Probability that B starts within the box of A (if a free pose is found there) instead of anywhere
/// around A.
const NESTED_PROBABILITY: f64 = 0.5;
/// Probability that the axes of B are parallel to those of A.
const ALIGNED_PROBABILITY: f64 = 0.1;
/// Number of attempts to find a start within the box of A.
const NESTED_ATTEMPTS: u32 = 8;

/// Minimum squared sine of the angle between two edges in contact for which the normal is guaranteed.
const MIN_SINE_SQUARED: f64 = 1e-6;

/// A pose of B at which the distance of both solids is 0. A has its pose of the file.
#[derive(Clone, Debug)]
pub struct RandomContact {
    /// Motion of B relative to its pose in the file.
    pub pose_b: Pose,
    /// Point of the contact (mm) in world coordinates.
    pub point: P3,
    /// Unit normal from A to B.
    pub normal: V3,
    /// Feature of A at the contact.
    pub feature_a: FeatureRef,
    /// Feature of B at the contact.
    pub feature_b: FeatureRef,
    /// Largest curvature (1/mm) of the surfaces at the contact; infinite at an edge or a vertex.
    pub curvature: f64,
    /// Depth (mm) down to which the pair of features certainly stays a minimum. It is finite only for
    /// two edges: unless they cross at a sufficient angle, the contact moves to their faces.
    pub stable_depth: f64,
    /// Contradiction between the queries that led to the contact, if there is one.
    pub contradiction: Option<String>,
}

/// Larger of both sizes (mm).
#[must_use]
pub fn size_of(a: &NamedSolid, b: &NamedSolid) -> f64 {
    a.body.size().max(b.body.size())
}

/// A random unit vector.
pub fn random_direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if v.norm() > 0.1 && v.norm() < 1.0 {
            return v.normalize();
        }
    }
}

/// A random rotation: uniform, or a product of quarter turns about the axes.
fn random_rotation(rng: &mut SmallRng) -> UnitQuaternion<f64> {
    if rng.random_bool(ALIGNED_PROBABILITY) {
        let mut turn = |axis: V3| {
            let quarters = f64::from(rng.random_range(0..4_u32));
            UnitQuaternion::from_scaled_axis(axis * (quarters * std::f64::consts::FRAC_PI_2))
        };
        return turn(V3::x()) * turn(V3::y()) * turn(V3::z());
    }
    // Shoemake: three uniform numbers give a uniform rotation.
    let [x, y, z]: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.0..1.0));
    let tau = std::f64::consts::TAU;
    let ((s1, c1), (s2, c2)) = (math::sin_cos(tau * y), math::sin_cos(tau * z));
    let (p, q) = ((1.0 - x).sqrt(), x.sqrt());
    UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(q * c2, p * s1, p * c1, q * s2))
}

/// Centre of the box of a solid in its pose of the file.
#[must_use]
pub fn center(solid: &NamedSolid) -> V3 {
    let bounds = solid.body.bounds();
    (solid.own * nalgebra::center(&bounds.min, &bounds.max)).coords
}

/// A random pose of B at which both solids are apart.
fn random_start(a: &NamedSolid, b: &NamedSolid, rng: &mut SmallRng) -> Pose {
    let rotation = random_rotation(rng);
    let direction = random_direction(rng);
    let outside = 0.51 * (a.body.size() + b.body.size());
    // Motion of B that moves the centre of its box to a point.
    let at = |point: V3| Pose::from_parts(Translation3::from(point - rotation * center(b)), rotation);
    if rng.random_bool(NESTED_PROBABILITY) {
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        for _ in 0..NESTED_ATTEMPTS {
            let half = (a.body.bounds().max - a.body.bounds().min) * 0.6;
            let offset = half.map(|h| h * rng.random_range(-1.0..1.0));
            let pose = at(center(a) + a.own.rotation * offset);
            let options = QueryOptions::within(0.0);
            let is_apart = pair.query(&a.own, &(pose * b.own), &options).is_ok()
                && pair.status() == Some(Status::Separated);
            if is_apart {
                return pose;
            }
        }
    }
    at(center(a) + direction * outside)
}

/// Nearest minimum at a pose of B. The search starts within `reach` (mm) and extends it until a minimum
/// is found. `None` if no minimum exists.
fn nearest(a: &NamedSolid, b: &NamedSolid, pose_b: &Pose, mut reach: f64) -> Result<Option<Contact>, String> {
    let limit = 100.0 * (a.body.size() + b.body.size());
    while reach < limit {
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        let options = QueryOptions { detect_interference: false, ..QueryOptions::within(reach) };
        let minima = pair.query(&a.own, &(pose_b * b.own), &options).map_err(|e| e.to_string())?;
        if let Some(found) = minima.iter().find(|l| l.kind != ContactKind::Quasi) {
            return Ok(Some(*found));
        }
        reach *= 4.0;
    }
    Ok(None)
}

/// Whether the solids interfere at a pose of B.
fn interferes(a: &NamedSolid, b: &NamedSolid, pose_b: &Pose) -> Result<bool, String> {
    let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
    pair.query(&a.own, &(pose_b * b.own), &QueryOptions::within(0.0)).map_err(|e| e.to_string())?;
    Ok(pair.status() == Some(Status::Interfering))
}

/// Formats a pose for the command line.
fn values(pose: &Pose) -> String {
    feeler_geom::pose::to_values(pose).map(|x| x.to_string()).join(",")
}

/// Translates B by a vector in world coordinates.
#[must_use]
pub fn shifted(pose: &Pose, by: V3) -> Pose {
    Translation3::from(by) * pose
}

/// Computes [`RandomContact::stable_depth`]. Two edges are a minimum at the distance d if
/// `(1 + d κ_A) (1 + d κ_B) > c²` (MATH §16), with c the cosine between their tangents and `κ_A` and `κ_B`
/// their curvatures against the normal.
fn stable_depth(a: &NamedSolid, b: &NamedSolid, pose_b: &Pose, minimum: &Contact) -> f64 {
    let (feature_a, feature_b) = (&minimum.feature_a, &minimum.feature_b);
    if [feature_a.kind, feature_b.kind] != [FeatureKind::Edge; 2] {
        return f64::INFINITY;
    }
    let tangent = |solid: &NamedSolid, feature: &FeatureRef, pose: Pose| {
        let curve = &solid.body.hierarchy().edges[feature.index as usize].curve;
        let d = curve.derivs(feature.uv[0]);
        let curvature = d.d1.cross(&d.d2).norm() / math::powi(d.d1.norm(), 3);
        (pose.rotation * d.d1.normalize(), curvature)
    };
    let (tangent_a, curvature_a) = tangent(a, feature_a, a.own);
    let (tangent_b, curvature_b) = tangent(b, feature_b, pose_b * b.own);
    let sine_squared = tangent_a.cross(&tangent_b).norm_squared();
    if sine_squared < MIN_SINE_SQUARED { 0.0 } else { 0.5 * sine_squared / (curvature_a + curvature_b) }
}

impl RandomContact {
    /// A random contact of two solids.
    ///
    /// # Errors
    /// A query fails, finds no minimum of two solids that are apart, or misses the nearest one.
    pub fn random(a: &NamedSolid, b: &NamedSolid, rng: &mut SmallRng) -> Result<Self, String> {
        let size = size_of(a, b);
        let near = SECOND_QUERY_DISTANCE_REL * size;
        let start = random_start(a, b, rng);
        let far = nearest(a, b, &start, 0.05 * size)?
            .ok_or_else(|| format!("no minimum at any distance at --pose-b {}", values(&start)))?;
        if far.distance < -SAME_DISTANCE_REL * size {
            return Err(format!("the solids are apart, but a minimum has the distance {:e}", far.distance));
        }
        let rest = far.distance.min(near);
        let close = shifted(&start, far.normal * (rest - far.distance));
        if interferes(a, b, &close)? {
            let distance = far.distance;
            return Err(format!(
                "a minimum nearer than {distance:e} is missed at --pose-b {}: after a translation by \
                 this distance the solids interfere",
                values(&start)
            ));
        }
        let second = nearest(a, b, &close, 4.0 * rest.max(1e-3 * near))?;
        let found = second.map_or(f64::INFINITY, |l| l.distance);
        let contradiction = ((found - rest).abs() > SAME_DISTANCE_REL * size).then(|| {
            format!("the distance at --pose-b {} should be {rest:e} and is {found:e}", values(&close))
        });
        // Footpoints at the smaller distance exist, whatever the other query has found.
        let (last, distance) = match second {
            Some(second) if second.distance <= rest + SAME_DISTANCE_REL * size => (second, second.distance),
            _ => (far, rest),
        };
        Ok(Self {
            pose_b: shifted(&close, last.normal * -distance),
            point: last.point_a,
            normal: last.normal,
            feature_a: last.feature_a,
            feature_b: last.feature_b,
            curvature: last.curvature_a.iter().chain(&last.curvature_b).map(|k| k.abs()).fold(0.0, f64::max),
            stable_depth: stable_depth(a, b, &close, &last),
            contradiction,
        })
    }
}
