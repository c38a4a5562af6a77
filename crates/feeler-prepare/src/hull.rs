//! A convex polytope around a solid, close enough to bound it along every direction.
//!
//! Points of the solid that lie farthest along some directions span a polytope inside it. Along the normal of
//! each of its facets the solid reaches farther by some factor, seen from a point inside; enlarged by the
//! largest of these factors, the polytope holds the solid, and no extent of it along any direction grows by
//! more than that factor. Where a facet asks for too much, the farthest point along its normal joins.
//!
//! # Source
//! MATH §18; sandwich algorithms for convex bodies.

use feeler_convex::{Polytope, Support as _};
use feeler_geom::{Extent, P3, V3};
use feeler_hierarchy::{Hierarchy, extent};
use std::collections::BTreeMap;

/// Largest factor.
const FACTOR: f64 = 1.01;

/// Room left between the bounds of an extent, relative to the distance of the facet.
const TOL: f64 = 1e-3;

/// Points at most: a ball takes about 400. What is left then is enlarged by what it takes.
const MOST: usize = 4000;

/// Facets thinner and points nearer to each other than this (relative to the size) are rounding.
const SLIVER: f64 = 1e-9;

/// Thickness (relative to the size) that flat sheets are given.
const FLAT: f64 = 1e-6;

/// See [`Hierarchy::hull`]; of a hierarchy whose nodes are there.
pub(crate) fn hull(h: &Hierarchy) -> Vec<P3> {
    let Some(root) = h.nodes.first() else { return Vec::new() };
    let size = 2.0 * root.obb.radius();
    let mut points = Vec::new();
    let ask = |d: &V3, tol: f64| extent(h, d, tol).filter(|e| e.lower.is_finite());
    for k in 0..27_u32 {
        let step = |n: u32| f64::from(k / n % 3) - 1.0;
        // Directions that a flat or long part fills evenly.
        let half = root.obb.half.map(|x| 1.0 / x.max(1e-3 * size));
        let local = V3::new(step(1) * half.x, step(3) * half.y, step(9) * half.z);
        let axes = &root.obb.axes;
        if let Some(d) = (axes[0] * local.x + axes[1] * local.y + axes[2] * local.z).try_normalize(0.0) {
            let found = ask(&d, TOL * size).map(|e| e.point);
            points.extend(found.filter(|p| points.iter().all(|q: &P3| (p - q).norm() > SLIVER * size)));
        }
    }
    let Ok(flat) = Polytope::new(&points) else { return root.obb.corners().to_vec() };
    // A sheet in a plane gets a thickness, so that it has an inside.
    let thick = if flat.facets().is_empty() { FLAT * size } else { 0.0 };
    let mut asked: BTreeMap<[u32; 3], Option<Extent>> = BTreeMap::new();
    loop {
        let spread = thicker(&points, thick);
        let Ok(inner) = Polytope::new(&spread) else { return root.obb.corners().to_vec() };
        let center = inner.center();
        let (mut factor, mut least, known) = (1.0_f64, f64::INFINITY, points.len());
        for f in inner.facets() {
            let [a, b, c] = f.map(|i| spread[i as usize]);
            // A sliver between points on a line has no normal; what lies beyond it is as thin.
            let area = (b - a).cross(&(c - a));
            let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
            let Some(n) = area.try_normalize(SLIVER * size * longest) else { continue };
            let away = n.dot(&(a - center));
            least = least.min(away);
            let found = asked.entry(*f).or_insert_with(|| ask(&n, TOL * away.max(1e-9 * size)));
            let Some(e) = found else { return root.obb.corners().to_vec() };
            let upper = e.upper + thick * (n.x.abs() + n.y.abs() + n.z.abs());
            let here = (upper - n.dot(&center.coords)) / away;
            // A point that is there would change nothing: the rest is the deviations of the file.
            let is_new = |p: &P3| points.iter().all(|q| (p - q).norm() > SLIVER * size);
            if here > FACTOR && is_new(&e.point) {
                points.push(e.point);
            }
            factor = factor.max(here);
        }
        if points.len() == known || points.len() > MOST {
            if !factor.is_finite() || inner.facets().is_empty() {
                return root.obb.corners().to_vec();
            }
            let grow = factor + 16.0 * SLIVER * size / least;
            return inner.vertices().iter().map(|v| center + (v - center) * grow).collect();
        }
    }
}

/// The corners of cubes around the points; the points themselves without a thickness. A point keeps its
/// number times eight.
fn thicker(points: &[P3], thick: f64) -> Vec<P3> {
    if thick <= 0.0 {
        return points.to_vec();
    }
    let corner = |k: u32| {
        V3::new(f64::from(k & 1) - 0.5, f64::from(k >> 1 & 1) - 0.5, f64::from(k >> 2) - 0.5) * (2.0 * thick)
    };
    points.iter().flat_map(|p| (0..8).map(move |k| p + corner(k))).collect()
}
