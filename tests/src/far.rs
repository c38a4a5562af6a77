//! Solids that are far apart, or far from the world's origin: each query must give the right result or be
//! rejected.
//!
//! A minimum between solids that are far apart is checked by a separating slab: along the normal of the
//! minimum, neither solid may have points between the footpoints. Solids with a common offset are
//! checked by a query at the same relative pose without the offset.

use feeler_geom::{Pose, V3};
use feeler_hierarchy::extent;
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryError, QueryOptions, Status};
use std::sync::Arc;

/// Result of a query that does not contradict the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The reported contacts are right.
    Right,
    /// The query was rejected with an error that names the limit.
    Refused,
}

/// Returns the pose with an additional translation of `distance` (mm) along a unit direction.
#[must_use]
pub fn moved(pose: &Pose, direction: &V3, distance: f64) -> Pose {
    Pose::from_parts((pose.translation.vector + direction * distance).into(), pose.rotation)
}

/// Queries a pair whose solid B is `distance` (mm) from A along a unit direction.
///
/// # Errors
/// A description of the fault.
pub fn far_apart(
    pair: &mut ContactPair,
    (rotation_b, direction, distance): (&Pose, &V3, f64),
    options: &QueryOptions,
) -> Result<Outcome, String> {
    let (a, b) = (pair.body_a().clone(), pair.body_b().clone());
    let pose_b = moved(rotation_b, direction, distance);
    match pair.query(&Pose::identity(), &pose_b, options) {
        Err(error) => refused(pair, error),
        Ok(_) => {
            let minima = pair.contacts().iter().filter(|l| l.kind != ContactKind::Quasi);
            let nearest = minima.min_by(|l, m| l.distance.total_cmp(&m.distance)).copied();
            let status = pair.status();
            if status != Some(Status::Separated) {
                return Err(format!("status {status:?} of solids {distance:e} mm apart"));
            }
            check_nearest(&a, &b, &pose_b, nearest.as_ref(), options)?;
            Ok(Outcome::Right)
        }
    }
}

/// Checks that the error is that of large coordinates and gives its limit, and that the pair has no
/// results.
fn refused(pair: &ContactPair, error: QueryError) -> Result<Outcome, String> {
    let QueryError::CoordinatesTooLarge { coordinates, limit, .. } = error else {
        return Err(format!("rejected for another reason: {error}"));
    };
    let names_limit = error.to_string().contains(&format!("{limit:.3e}"));
    if coordinates <= limit || limit <= 0.0 || !names_limit {
        return Err(format!("the error does not give its limit: {error}"));
    }
    if !pair.contacts().is_empty() || pair.status().is_some() {
        return Err("the pair has results after an error".into());
    }
    Ok(Outcome::Refused)
}

/// Compares the nearest minimum with a slab between the solids: along its normal, A must end at one
/// footpoint and B must begin at the other.
fn check_nearest(
    a: &Arc<Body>,
    b: &Arc<Body>,
    pose_b: &Pose,
    nearest: Option<&Contact>,
    options: &QueryOptions,
) -> Result<(), String> {
    let sizes = a.size() + b.size();
    let apart = pose_b.translation.vector.amax();
    let direction = (pose_b.translation.vector / apart).normalize();
    // Nearest points of the hulls need not be points of the solids: a ring is farther than its centre,
    // by less than `bend` (mm).
    let bend = sizes * sizes / apart;
    let slack = 1e-9 * sizes + 4.0 * f64::EPSILON * apart;
    let Some(l) = nearest else {
        let gap = slab(a, b, pose_b, &direction)?;
        return if gap > options.d_max {
            Ok(())
        } else {
            Err(format!("no minimum up to {:e} mm for solids {gap:e} mm apart", options.d_max))
        };
    };
    let (p, q) = (l.local_a, pose_b * l.local_b);
    if ((q - p).norm() - l.distance).abs() > slack {
        return Err(format!(
            "distance {:e} mm, but the footpoints are {:e} mm apart",
            l.distance,
            (q - p).norm()
        ));
    }
    let gap = slab(a, b, pose_b, &((q - p) / l.distance))?;
    if (l.distance - gap).abs() > slack + bend {
        return Err(format!("a minimum of {:e} mm for solids {gap:e} mm apart", l.distance));
    }
    Ok(())
}

/// Width (mm) of the slab between two solids along a unit direction; negative if they overlap along it.
fn slab(a: &Body, b: &Body, pose_b: &Pose, direction: &V3) -> Result<f64, String> {
    let reach = |body: &Body, d: &V3| {
        let found = extent(body.hierarchy(), d, 1e-9 * body.size()).ok_or("a solid without extent")?;
        Ok::<f64, String>(0.5 * (found.lower + found.upper))
    };
    let back = pose_b.rotation.inverse() * -direction;
    Ok(pose_b.translation.vector.dot(direction) - reach(a, direction)? - reach(b, &back)?)
}

/// Queries a pair with a common offset (mm) of both solids along a unit direction, and compares the
/// result with that of a fresh pair at the relative pose of the rounded poses.
///
/// # Errors
/// A description of the fault.
pub fn far_from_the_origin(
    pair: &mut ContactPair,
    [pose_a, pose_b]: [&Pose; 2],
    (direction, offset): (&V3, f64),
    options: &QueryOptions,
) -> Result<Outcome, String> {
    let [far_a, far_b] = [pose_a, pose_b].map(|p| moved(p, direction, offset));
    // The difference of the translations is exact.
    let origin = far_a.translation.vector;
    let near_a = Pose::from_parts(V3::zeros().into(), far_a.rotation);
    let near_b = Pose::from_parts((far_b.translation.vector - origin).into(), far_b.rotation);
    let mut fresh = ContactPair::new(pair.body_a().clone(), pair.body_b().clone());
    let expected = fresh.query(&near_a, &near_b, options);
    let found = pair.query(&far_a, &far_b, options);
    let (expected, found) = match (expected, found) {
        (Ok(e), Ok(f)) => (e.to_vec(), f.to_vec()),
        (Err(e), Err(f)) if e == f => return refused(pair, f),
        (e, f) => return Err(format!("{:?} instead of {:?}", f.err(), e.err())),
    };
    if pair.status() != fresh.status() {
        return Err(format!("{:?} instead of {:?}", pair.status(), fresh.status()));
    }
    if found.len() != expected.len() {
        return Err(format!("{} minima instead of {}", found.len(), expected.len()));
    }
    let tol = 1e-9 * (pair.body_a().size() + pair.body_b().size());
    let rounding = 8.0 * f64::EPSILON * offset;
    for (f, e) in found.iter().zip(&expected) {
        let distance = (f.distance - e.distance).abs();
        // A sample of a conformal set may be at another point of the set.
        let local = (f.local_a - e.local_a).norm().max((f.local_b - e.local_b).norm());
        let world = (f.point_a - far_a * f.local_a).norm().max((f.point_b - far_b * f.local_b).norm());
        let is_one = f.kind == ContactKind::Strict && e.kind == ContactKind::Strict;
        let is_right = distance <= tol && (!is_one || local <= 1e3 * tol) && world <= rounding + tol;
        if !is_right {
            return Err(format!(
                "errors (mm): distance {distance:e}, local points {local:e}, world points {world:e}"
            ));
        }
    }
    Ok(Outcome::Right)
}
