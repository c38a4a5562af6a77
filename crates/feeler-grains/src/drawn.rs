//! Triangulated surfaces of grains for pictures and glyphs. Nothing is measured on them.

use crate::convex::Grain;
use feeler_geom::math::powf;
use feeler_geom::{P3, V3};
use std::collections::BTreeMap;

/// Triangulated surface, counter-clockwise from outside, in the coordinates of the grain's semi-axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrainSurface {
    /// Vertices (mm).
    pub points: Vec<P3>,
    /// Outward unit normals at the vertices.
    pub normals: Vec<V3>,
    /// Corners of the triangles, as indices of vertices.
    pub triangles: Vec<[u32; 3]>,
}

/// Triangulates a grain, layer included, by 8 · 4^`halvings` triangles with vertices on its surface. The
/// vertices are those of an octahedron whose edges are halved `halvings` times, projected to the surface
/// of the shape along rays from the origin, and moved outwards by the thickness of the layer. They are
/// evenly spread even where the surface is sharply bent.
#[must_use]
pub fn drawn(grain: &Grain, halvings: u32) -> GrainSurface {
    let (directions, triangles) = directions(halvings);
    let normals: Vec<V3> = directions.iter().map(|d| normal(grain, d)).collect();
    let on = |(d, n): (&V3, &V3)| P3::from(d / gauge(grain, d) + n * grain.dilation());
    GrainSurface { points: directions.iter().zip(&normals).map(on).collect(), normals, triangles }
}

/// Unit vectors, evenly spread over all directions, and the triangles between them, as indices of the
/// vectors: an octahedron whose edges are halved `halvings` times.
#[must_use]
pub fn directions(halvings: u32) -> (Vec<V3>, Vec<[u32; 3]>) {
    let points = vec![V3::x(), -V3::x(), V3::y(), -V3::y(), V3::z(), -V3::z()];
    let triangles =
        vec![[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5_u32]];
    halved(points, triangles, halvings)
}

/// Unit vectors, evenly spread over all directions, and the 20 · 4^`halvings` triangles between them, as
/// indices of the vectors: an icosahedron whose edges are halved `halvings` times.
#[must_use]
pub fn icosahedral_directions(halvings: u32) -> (Vec<V3>, Vec<[u32; 3]>) {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let signs = [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)];
    let corners = [0, 1, 2].into_iter().flat_map(|i| signs.map(|(short, long)| (i, short, long)));
    let point = |(i, short, long): (usize, f64, f64)| {
        let mut p = V3::zeros();
        (p[i], p[(i + 1) % 3]) = (short, long);
        p.normalize()
    };
    let around_first = [[0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11]];
    let adjacent = [[1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8]];
    let around_last = [[3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9]];
    let adjacent_to_last = [[4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1_u32]];
    let triangles = [around_first, adjacent, around_last, adjacent_to_last].concat();
    halved(corners.map(point).collect(), triangles, halvings)
}

/// Halves the edges of a mesh of the unit sphere `halvings` times.
fn halved(mut points: Vec<V3>, mut triangles: Vec<[u32; 3]>, halvings: u32) -> (Vec<V3>, Vec<[u32; 3]>) {
    for _ in 0..halvings {
        let mut known = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *known.entry((a.min(b), a.max(b))).or_insert_with(|| {
                points.push((points[a as usize] + points[b as usize]).normalize());
                u32::try_from(points.len() - 1).unwrap_or(u32::MAX)
            })
        };
        let parts = |[a, b, c]: [u32; 3]| {
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        triangles = triangles.into_iter().flat_map(parts).collect();
    }
    (points, triangles)
}

/// Norm (a^p + b^p)^(1/p) for a, b ≥ 0. The larger number is factored out, so that powers do not
/// overflow.
fn norm(a: f64, b: f64, p: f64) -> f64 {
    let m = a.max(b);
    if m > 0.0 { m * powf(powf(a / m, p) + powf(b / m, p), 1.0 / p) } else { 0.0 }
}

/// Semi-axes (mm) on the sides of the origin to which the direction `d` points, each with the sign of
/// that coordinate of `d`.
fn axes(grain: &Grain, d: &V3) -> V3 {
    let (positive, negative) = (grain.shape().positive(), grain.shape().negative());
    V3::from_fn(|i, _| if d[i] < 0.0 { -negative[i] } else { positive[i] })
}

/// Gauge function of the shape, without its layer, at the point `p`: 1 on its surface, and proportional
/// to the distance from the origin along each ray.
fn gauge(grain: &Grain, p: &V3) -> f64 {
    let [e1, e2] = grain.shape().exponents();
    let u = p.component_div(&axes(grain, p)).abs();
    norm(norm(u.x, u.y, 2.0 / e1), u.z, 2.0 / e2)
}

/// Outward unit normal of the shape's surface at its intersection with the ray from the origin along
/// `d`.
fn normal(grain: &Grain, d: &V3) -> V3 {
    let [e1, e2] = grain.shape().exponents();
    let axes = axes(grain, d);
    let u = (d / gauge(grain, d)).component_div(&axes).abs();
    let (p, q) = (2.0 / e1, 2.0 / e2);
    let across = norm(u.x, u.y, p);
    let around = |x: f64| if across > 0.0 { powf(across, q - 1.0) * powf(x / across, p - 1.0) } else { 0.0 };
    let gradient = V3::new(around(u.x), around(u.y), powf(u.z, q - 1.0)).component_div(&axes);
    gradient.try_normalize(0.0).unwrap_or_else(|| d.normalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convex::Placed;
    use feeler_geom::Pose;

    /// No point of the shape is farther along the normal of a vertex than the vertex.
    #[test]
    fn vertices_are_support_points_of_their_normals() {
        for (exponents, layer) in [([1.0, 1.0], 0.0), ([0.3, 0.6], 0.0), ([1.6, 0.4], 0.2), ([0.7, 1.7], 0.0)]
        {
            let grain = Grain::new(V3::new(1.0, 0.8, 0.4), V3::new(0.5, 0.9, 1.6), exponents).unwrap();
            let grain = if layer > 0.0 { grain.dilated(layer).unwrap() } else { grain };
            let placed = Placed::new(&grain, &Pose::identity()).unwrap();
            let drawn = drawn(&grain, 3);
            assert_eq!((drawn.points.len(), drawn.triangles.len()), (258, 512));
            for (p, n) in drawn.points.iter().zip(&drawn.normals) {
                assert!((n.norm() - 1.0).abs() < 1e-12, "{n}");
                let farthest = placed.surface(n).0;
                assert!((farthest - p).dot(n).abs() < 1e-12, "{exponents:?}: {p} {n} {farthest}");
            }
            // The mesh is closed and oriented outwards: it encloses nearly the volume of the shape.
            let volume = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|k| drawn.points[k as usize].coords);
                a.dot(&b.cross(&c)) / 6.0
            };
            let within: f64 = drawn.triangles.iter().map(volume).sum();
            if layer <= 0.0 {
                let exact = crate::mass::poly_superellipsoid(grain.shape()).unwrap().volume;
                assert!(within < exact && within > 0.9 * exact, "{exponents:?}: {within} of {exact}");
            }
        }
    }
}
