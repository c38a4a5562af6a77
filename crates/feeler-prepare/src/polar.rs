//! Computes the polar of the tangent cone of a vertex by its extreme rays.
//!
//! # Source
//! BREP §3.3.4 (normal cone of a vertex), MATH §7 "Vertex polar".

use feeler_geom::V3;
use feeler_geom::frame::unit;

/// Tolerance (sine of an angle) by which a ray may violate a constraint of the polar. Flat and
/// sharp-edged vertices have polars without an interior, which rounding must not make empty. A larger
/// value gives larger polars; with a smaller one flat vertices lose theirs.
const RAY_TOL: f64 = 1e-9;

/// Like [`RAY_TOL`], for a second attempt if the first one finds no ray, for files whose tangent planes
/// agree only to single precision. The value matches the tolerance with which the import decides that a
/// polar contains a direction. A larger value gives larger polars; with a smaller one vertices of
/// inexact files are lost.
const NOISY_RAY_TOL: f64 = 1.1e-5;

/// Sine of the angle between two constraints, or between a constraint and the plane of two others, up to
/// which they count as parallel or coplanar. With a larger value rays are missed; a smaller one gives
/// rays of noise.
const PARALLEL_TOL: f64 = 1e-7;

/// Returns unit directions whose conical hull is the polar `{d : ⟨d, v⟩ ≤ 0 for all v}` of the
/// constraints `v`, and the angle (rad) by which they may lie outside the polar. Returns `None` if the
/// polar is not pointed (it contains a line) or no ray was found; all directions must be assumed then.
pub(crate) fn extreme_rays(constraints: &[V3]) -> Option<(Vec<V3>, f64)> {
    let units: Vec<V3> = constraints.iter().filter_map(|v| unit(*v)).collect();
    if !spans_space(&units) {
        return None;
    }
    [RAY_TOL, NOISY_RAY_TOL].into_iter().find_map(|tol| Some((rays_within(&units, tol)?, tol)))
}

fn rays_within(units: &[V3], tol: f64) -> Option<Vec<V3>> {
    let mut rays: Vec<V3> = Vec::new();
    for (i, a) in units.iter().enumerate() {
        for b in &units[i + 1..] {
            let cross = a.cross(b);
            if cross.norm() <= PARALLEL_TOL {
                continue;
            }
            let ray = cross.normalize();
            for ray in [ray, -ray] {
                if units.iter().all(|v| ray.dot(v) <= tol) && rays.iter().all(|r| (r - ray).norm() > tol) {
                    rays.push(ray);
                }
            }
        }
    }
    // Rays that contain an opposite pair do not span the cone: it contains a line, or is a half-plane.
    let pointed =
        rays.iter().enumerate().all(|(i, r)| rays[i + 1..].iter().all(|s| r.dot(s) > RAY_TOL - 1.0));
    (pointed && !rays.is_empty()).then_some(rays)
}

/// Returns whether the directions span all of space; otherwise their polar contains a line.
fn spans_space(units: &[V3]) -> bool {
    let Some(a) = units.first() else { return false };
    let Some(n) = units.iter().map(|b| a.cross(b)).find(|n| n.norm() > PARALLEL_TOL) else { return false };
    let n = n.normalize();
    units.iter().any(|c| n.dot(c).abs() > PARALLEL_TOL)
}

/// Returns whether the polar of the constraints is a single direction, as at a vertex in a flat face.
pub(crate) fn is_ray(constraints: &[V3]) -> bool {
    extreme_rays(constraints).is_some_and(|(rays, _)| rays.iter().all(|r| (r - rays[0]).norm() < 1e-3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    fn random_unit(rng: &mut SmallRng) -> V3 {
        loop {
            let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            if (0.1..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    #[test]
    fn polars_of_the_usual_vertices() {
        let (x, y, z) = (V3::x(), V3::y(), V3::z());
        // The corner of a block in the octant of negative coordinates.
        let corner = extreme_rays(&[-x, -y, -z]).unwrap().0;
        assert_eq!(corner.len(), 3, "{corner:?}");
        assert!(corner.iter().all(|r| r.min() > -1e-12), "{corner:?}");
        // A point of a flat face with outward normal z.
        let flat = [x, -x, y, -y, x + y, -z];
        assert!(is_ray(&flat), "a flat vertex keeps its normal");
        assert!((extreme_rays(&flat).unwrap().0[0] - z).norm() < 1e-12, "the outward one");
        // A point of a straight convex edge along y between the faces with normals x and z.
        let edge = extreme_rays(&[y, -y, -x, -z]).unwrap().0;
        assert_eq!(edge.len(), 2, "{edge:?}");
        assert!(!is_ray(&[y, -y, -x, -z]), "a sector is more than a ray");
        assert!(extreme_rays(&[x]).is_none(), "a half-space is not pointed");
        assert!(extreme_rays(&[]).is_none(), "no constraint, all directions");
        assert!(extreme_rays(&[x, -x, y]).is_none(), "a half-plane is not pointed");
        assert!(extreme_rays(&[x, y, x + y]).is_none(), "a wedge contains a line");
    }

    #[test]
    fn rays_are_in_the_polar_and_span_it() {
        let mut rng = SmallRng::seed_from_u64(11);
        let mut seen = 0;
        for _ in 0..300 {
            let n = rng.random_range(3..9);
            let down = random_unit(&mut rng);
            let constraints: Vec<V3> =
                (0..n).map(|_| (random_unit(&mut rng) + down * 0.9).normalize()).collect();
            let Some((rays, _)) = extreme_rays(&constraints) else { continue };
            for _ in 0..200 {
                let d = random_unit(&mut rng);
                let inside = constraints.iter().all(|v| d.dot(v) <= 0.0);
                if !inside {
                    continue;
                }
                seen += 1;
                // d is in the hull of the rays if no plane through two rays has all rays on one side and
                // d on the other.
                for (i, r) in rays.iter().enumerate() {
                    for s in &rays[i + 1..] {
                        let n = r.cross(s);
                        for n in [n, -n] {
                            let separates = rays.iter().all(|q| q.dot(&n) <= 1e-12) && d.dot(&n) > 1e-9;
                            assert!(!separates, "{d:?} lies in the polar but not in the hull of its rays");
                        }
                    }
                }
            }
        }
        assert!(seen > 200, "too few samples hit a polar: {seen}");
    }
}
