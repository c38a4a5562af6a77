//! Nearest point of a simplex by enumeration of all faces: slower, for simplices whose signs are only
//! rounding.

use super::{Nearest, s1d};
use feeler_geom::V3;

/// Returns whether `found` is the point of the simplex `s` nearest to the origin, up to rounding: no
/// vertex has a smaller component along the vector to the point than the point itself. The whole
/// tetrahedron is optimal if its point is the origin.
pub(crate) fn is_optimal(s: &[V3], found: &Nearest) -> bool {
    let size = s.iter().fold(0.0, |m: f64, v| m.max(v.amax()));
    if found.n == 4 {
        return found.point.amax() <= 4.0 * f64::EPSILON * size;
    }
    let x = found.point;
    let slack = 16.0 * f64::EPSILON * x.norm() * size;
    s.iter().all(|v| x.dot(v) >= x.norm_squared() - slack)
}

/// Returns the point of the simplex nearest to the origin, by comparing the candidates of all vertices,
/// edges, triangles and the interior. Each is a convex combination of vertices.
pub(crate) fn exhaustive(s: &[V3]) -> Nearest {
    let n = s.len().min(4);
    let mut best = Nearest::vertex(s, 0);
    for i in 0..n {
        best = best.nearer(Nearest::vertex(s, i));
        for j in i + 1..n {
            best = best.nearer(s1d(s, [i, j]));
            for k in j + 1..n {
                if let Some(inside) = triangle(s, [i, j, k]) {
                    best = best.nearer(inside);
                }
            }
        }
    }
    if n == 4
        && let Some(inside) = whole(s)
    {
        best = best.nearer(inside);
    }
    best
}

/// Returns the point of a triangle nearest to the origin, if it is inside the triangle; `None` if a
/// weight is not positive. The least-squares problem over the plane is solved along orthogonal
/// directions. The longest edge comes first, so that a needle keeps the digits along it.
fn triangle(s: &[V3], v: [usize; 3]) -> Option<Nearest> {
    let p = v.map(|i| s[i]);
    let lengths = [p[1] - p[2], p[2] - p[0], p[0] - p[1]].map(|e| e.norm_squared());
    let far = (0..3).fold(0, |m, i| if lengths[i] > lengths[m] { i } else { m });
    // The longest edge runs from r to q, opposite to `far`.
    let (q, r) = ((far + 1) % 3, (far + 2) % 3);
    let (e, f) = (p[q] - p[r], p[far] - p[r]);
    let ee = e.norm_squared();
    let h = f - e * (f.dot(&e) / ee);
    let hh = h.norm_squared();
    let mut weights = [0.0; 3];
    let mut x = p[r];
    for _ in 0..3 {
        let t = -x.dot(&h) / hh;
        weights[far] += t;
        weights[q] += -(x + f * t).dot(&e) / ee;
        weights[r] = 1.0 - weights[far] - weights[q];
        x = p[0] * weights[0] + p[1] * weights[1] + p[2] * weights[2];
    }
    weights.iter().all(|w| *w > 0.0).then(|| Nearest::triangle(s, v, weights))
}

/// Expresses the origin as a combination of a tetrahedron's vertices. In flat tetrahedra the weights of
/// Cramer's rule have a residual far above rounding; each correction multiplies it by the same small
/// factor. Returns `None` if the residual stays or a weight is not positive; the origin is then outside
/// or on a face.
fn whole(s: &[V3]) -> Option<Nearest> {
    let (det, c) = super::volumes(s);
    let size = s.iter().fold(0.0, |m: f64, v| m.max(v.amax()));
    let e = [s[1] - s[0], s[2] - s[0], s[3] - s[0]];
    // Gradients of the weights of vertices 1, 2 and 3; `volumes` has the opposite orientation.
    let g = [e[1].cross(&e[2]) / -det, e[2].cross(&e[0]) / -det, e[0].cross(&e[1]) / -det];
    let mut weights = c.map(|c| c / det);
    for _ in 0..4 {
        let sum: f64 = weights.iter().sum();
        let w = weights.map(|w| w / sum);
        if !w.iter().all(|w| *w > 0.0) {
            return None;
        }
        let found = Nearest::whole(s, w);
        if found.point.amax() <= 4.0 * f64::EPSILON * size {
            return Some(found);
        }
        let d = g.map(|g| g.dot(&found.point));
        weights = [w[0] + d[0] + d[1] + d[2], w[1] - d[0], w[2] - d[1], w[3] - d[2]];
    }
    None
}
