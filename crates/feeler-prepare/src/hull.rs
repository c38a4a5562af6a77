//! Computes a convex polytope that contains a solid and is tight along every direction.
//!
//! The convex hull of extreme points of the solid along some directions is a polytope inside the solid's
//! convex hull. Along the normal of each facet, the extent of the solid, measured from an inner point,
//! exceeds that of the polytope by some factor. Scaled about the inner point by the largest of these
//! factors, the polytope contains the solid, and no extent along any direction grows by more than that
//! factor. If the factor of a facet is too large, the extreme point along its normal is added.
//!
//! # Source
//! MATH §18; sandwich algorithms for convex bodies.

use feeler_convex::{Polytope, Support as _};
use feeler_geom::{Extent, P3, V3};
use feeler_hierarchy::{Hierarchy, extent};
use std::collections::BTreeMap;

/// Maximum ratio, along any direction, of the extent of the hull from its centre to that of the solid. A
/// larger value loosens the broad phase; a smaller one needs more points.
const MAX_FACTOR: f64 = 1.01;

/// Maximum difference between the lower and the upper bound of the extent of the solid along the normal
/// of a facet, relative to the distance of the facet from the centre of the hull. A larger value loosens
/// the hull; a smaller one takes longer.
const EXTENT_TOL: f64 = 1e-3;

/// Maximum number of points of the hull; a ball takes about 400. If it is exceeded, the hull is scaled
/// by the factor reached so far, which may be larger than [`MAX_FACTOR`].
const MAX_POINTS: usize = 4000;

/// Height of a facet (a triangle of the hull), and distance between two points, below which they count
/// as rounding, relative to the size of the solid. A smaller value admits facets of noise.
const SLIVER: f64 = 1e-9;

/// Half the thickness, relative to the size of the solid, that is given to planar sheets so that their
/// hull has an interior. A larger value loosens the hull; a smaller one gives hulls without volume.
const SHEET_HALF_THICKNESS: f64 = 1e-6;

/// Distance of the nearest facet from the centre of a hull, relative to the size of the solid, up to
/// which the points count as flat and get the thickness of sheets. A larger value loosens the hulls of
/// foils; with a smaller one the facets of a sheet whose coordinates are rounded are enlarged by the
/// quotient of two roundings.
const FLAT: f64 = 1e-7;

/// Computes the points whose convex hull contains the solid, as stored in [`Hierarchy::hull`]. All other
/// fields of `h` must be complete. Returns no points for a hierarchy without nodes.
pub(crate) fn hull(h: &Hierarchy) -> Vec<P3> {
    let Some(root) = h.nodes.first() else { return Vec::new() };
    let size = 2.0 * root.obb.radius();
    let mut points = Vec::new();
    let extent_along = |d: &V3, tol: f64| extent(h, d, tol).filter(|e| e.lower.is_finite());
    for k in 0..27_u32 {
        let step = |n: u32| f64::from(k / n % 3) - 1.0;
        // The directions are scaled by the box, so that they are evenly distributed over flat or long
        // parts.
        let half = root.obb.half.map(|x| 1.0 / x.max(1e-3 * size));
        let local = V3::new(step(1) * half.x, step(3) * half.y, step(9) * half.z);
        let axes = &root.obb.axes;
        if let Some(d) = (axes[0] * local.x + axes[1] * local.y + axes[2] * local.z).try_normalize(0.0) {
            let found = extent_along(&d, EXTENT_TOL * size).map(|e| e.point);
            points.extend(found.filter(|p| points.iter().all(|q: &P3| (p - q).norm() > SLIVER * size)));
        }
    }
    let Ok(flat) = Polytope::new(&points) else { return root.obb.corners().to_vec() };
    // A planar sheet gets a thickness, so that it has an inside; rounding does not count as one.
    let thick =
        if inner_distance(&flat, &points, size) <= FLAT * size { SHEET_HALF_THICKNESS * size } else { 0.0 };
    let mut extents: BTreeMap<[u32; 3], Option<Extent>> = BTreeMap::new();
    loop {
        let spread = thicker(&points, thick);
        let Ok(inner) = Polytope::new(&spread) else { return root.obb.corners().to_vec() };
        let center = inner.center();
        let (mut factor, mut min_distance, num_points) = (1.0_f64, f64::INFINITY, points.len());
        for f in inner.facets() {
            let [a, b, c] = f.map(|i| spread[i as usize]);
            // A sliver between collinear points has no normal; the part of the solid beyond it is as
            // thin.
            let area = (b - a).cross(&(c - a));
            let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
            let Some(n) = area.try_normalize(SLIVER * size * longest) else { continue };
            let away = n.dot(&(a - center));
            min_distance = min_distance.min(away);
            let found =
                extents.entry(*f).or_insert_with(|| extent_along(&n, EXTENT_TOL * away.max(1e-9 * size)));
            let Some(e) = found else { return root.obb.corners().to_vec() };
            let upper = e.upper + thick * (n.x.abs() + n.y.abs() + n.z.abs());
            let here = (upper - n.dot(&center.coords)) / away;
            // A point that is already in the list would change nothing; the remaining distance comes from
            // deviations in the file.
            let is_new = |p: &P3| points.iter().all(|q| (p - q).norm() > SLIVER * size);
            if here > MAX_FACTOR && is_new(&e.point) {
                points.push(e.point);
            }
            factor = factor.max(here);
        }
        if points.len() == num_points || points.len() > MAX_POINTS {
            let grow = factor + 16.0 * SLIVER * size / min_distance;
            if !(grow.is_finite() && grow >= 1.0) || inner.facets().is_empty() {
                return root.obb.corners().to_vec();
            }
            return inner.vertices().iter().map(|v| center + (v - center) * grow).collect();
        }
    }
}

/// Distance (mm) of the centre of a polytope from the plane of its nearest facet. Facets whose height is
/// at most the fraction [`SLIVER`] of `size` are ignored; the result is 0 if none remains.
fn inner_distance(polytope: &Polytope, points: &[P3], size: f64) -> f64 {
    let center = polytope.center();
    let distance = |f: &[u32; 3]| {
        let [a, b, c] = f.map(|i| points[i as usize]);
        let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
        let n = (b - a).cross(&(c - a)).try_normalize(SLIVER * size * longest)?;
        Some(n.dot(&(a - center)))
    };
    let nearest = polytope.facets().iter().filter_map(distance).fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { nearest } else { 0.0 }
}

/// Corners of cubes with half-width `thick` around the points, or the points themselves without a
/// thickness. The corners of point `i` start at index `8 i`.
fn thicker(points: &[P3], thick: f64) -> Vec<P3> {
    if thick <= 0.0 {
        return points.to_vec();
    }
    let corner = |k: u32| {
        V3::new(f64::from(k & 1) - 0.5, f64::from(k >> 1 & 1) - 0.5, f64::from(k >> 2) - 0.5) * (2.0 * thick)
    };
    points.iter().flat_map(|p| (0..8).map(move |k| p + corner(k))).collect()
}

#[cfg(test)]
mod tests {
    use crate::prepare_solid;
    use feeler_brep::build::{BuildOptions, build_solid};
    use feeler_brep::fixtures::SourceBuilder;
    use feeler_brep::sheet::both_sides;
    use feeler_convex::{Polytope, Support as _};
    use feeler_geom::{P3, Pose, V3};
    use feeler_hierarchy::Options;

    /// Sheets that are flat but for the rounding of their coordinates have a finite hull around them.
    #[test]
    fn hulls_of_plane_sheets_are_finite() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(seed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31) - 0.5
        };
        let mut n_tight = 0;
        for k in 0..240 {
            let ratio = feeler_geom::math::powi(10.0, k % 5);
            let (a, b) = (3.0, 3.0 / ratio);
            let noise = a * feeler_geom::math::powi(10.0, -16 + (k / 5) % 8);
            let far = if k % 3 == 0 { 0.0 } else { a * feeler_geom::math::powi(10.0, (k / 7) % 5) };
            let pose = Pose::translation(far * random(), far * random(), far * random())
                * Pose::rotation(V3::new(random(), random(), random()) * if k % 2 == 0 { 0.0 } else { 6.0 });
            let mut source = SourceBuilder::new();
            let outlines: [&[(f64, f64)]; 2] = [
                &[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)],
                &[(0.0, 0.0), (0.7, -0.2), (1.0, 0.6), (0.4, 1.0), (0.1, 0.8)],
            ];
            let outline = outlines[usize::try_from(k / 2 % 2).unwrap()];
            let ring: Vec<u32> = outline
                .iter()
                .map(|(x, y)| {
                    let p = pose * P3::new(a * x, b * y, noise * random());
                    source.vertex(p.x, p.y, p.z)
                })
                .collect();
            source.polygon(&[&ring]);
            let sheet = both_sides(source.finish("sheet")).unwrap().solid;
            let solid = build_solid(&sheet, &BuildOptions::default()).unwrap_or_else(|e| panic!("{k}: {e}"));
            let h = prepare_solid(&solid, &Options { flatness: 0.8 }).unwrap_or_else(|e| panic!("{k}: {e}"));
            let size = 5.0 * a;
            for p in &h.hull {
                let off = (p - solid.shell.vertices[0]).norm();
                assert!(off <= size, "{k}: a point of the hull is {off} mm away");
            }
            let hull = Polytope::new(&h.hull).unwrap();
            let mut is_tight = true;
            for d in (0..40).map(|_| V3::new(random(), random(), random()).normalize()) {
                let reach = hull.support(&d).point.coords.dot(&d);
                let own =
                    solid.shell.vertices.iter().map(|p| p.coords.dot(&d)).fold(f64::NEG_INFINITY, f64::max);
                let extent = own
                    + solid
                        .shell
                        .vertices
                        .iter()
                        .map(|p| -p.coords.dot(&d))
                        .fold(f64::NEG_INFINITY, f64::max);
                assert!(reach >= own - 1e-12 * (size + far), "{k}: a point is outside of the hull");
                is_tight &= reach <= own + 0.02 * extent + 1e-5 * size;
            }
            n_tight += usize::from(is_tight);
        }
        // The box is the hull of the others.
        assert!(n_tight > 200, "{n_tight} hulls are tight");
    }
}
