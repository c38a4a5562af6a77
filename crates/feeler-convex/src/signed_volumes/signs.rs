//! Signed volumes and areas of a simplex and of its fictitious simplices, in which the origin replaces
//! one vertex.

use feeler_geom::V3;
use robust::{Coord, Coord3D};

/// Computes six times the signed volume of the tetrahedron `s`, and of the four fictitious tetrahedra in
/// which the origin replaces one vertex, from edge vectors: Eq. (3.6) translated to the last vertex.
#[inline]
pub(crate) fn volumes(s: &[V3]) -> (f64, [f64; 4]) {
    let d = s[3];
    let e = [s[0] - d, s[1] - d, s[2] - d];
    let n = [e[1].cross(&e[2]), e[2].cross(&e[0]), e[0].cross(&e[1])];
    let old = (s[1] - s[0]).cross(&(s[2] - s[0]));
    (e[0].dot(&n[0]), [-d.dot(&n[0]), -d.dot(&n[1]), -d.dot(&n[2]), s[0].dot(&old)])
}

/// Computes the same signed volumes as [`volumes`], of the tetrahedron and of its four fictitious
/// tetrahedra, with exact signs.
pub(super) fn exact_volumes(s: &[V3]) -> (f64, [f64; 4]) {
    let o = V3::zeros();
    // Vertices with the origin in place of vertex j; all vertices for j = 4.
    let at = |j: usize| [0, 1, 2, 3].map(|i| if i == j { o } else { s[i] });
    (volume(&at(4)), [0, 1, 2, 3].map(|j| volume(&at(j))))
}

fn volume(s: &[V3; 4]) -> f64 {
    let [a, b, c, d] = s.map(|v| Coord3D { x: v.x, y: v.y, z: v.z });
    robust::orient3d(a, b, c, d)
}

/// Algorithm 3, lines 3 to 13: computes twice the area of the triangle `v` with normal `n`, and twice
/// the areas of its three fictitious triangles, in which the projected origin replaces one vertex. The
/// areas are those of the projections onto the coordinate plane where the triangle is largest, and their
/// signs are exact for the computed projection of the origin. All are NaN for a degenerate triangle.
pub(super) fn area_signs(v: [V3; 3], n: &V3) -> (f64, [f64; 3]) {
    let p = n * (v[2].dot(n) / n.norm_squared());
    if !p.iter().all(|c| c.is_finite()) {
        // A degenerate triangle has no normal and no projection; NaN differs from every sign in Eq.
        // (3.4).
        return (f64::NAN, [f64::NAN; 3]);
    }
    let j = n.iamax();
    let (k, l) = ((j + 1) % 3, (j + 2) % 3);
    let flat = |v: &V3| Coord { x: v[k], y: v[l] };
    let [a, b, c] = v.map(|v| flat(&v));
    let p = flat(&p);
    (
        robust::orient2d(a, b, c),
        [robust::orient2d(p, b, c), robust::orient2d(a, p, c), robust::orient2d(a, b, p)],
    )
}
