//! Search of all Voronoi regions of a simplex.
//!
//! # Source
//! DIST §2.5.3, after Ericson's closest point on a tetrahedron: vertices, edges and faces by dot
//! products.

use crate::gjk::SubAlgorithm;
use crate::signed_volumes::Nearest;
use feeler_geom::V3;

/// Sub-algorithm of GJK that computes the point of a simplex nearest to the origin by a search of all
/// Voronoi regions. It is robust, but slow for tetrahedra, of which it tries all faces that are visible
/// from the origin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Voronoi;

impl SubAlgorithm for Voronoi {
    fn nearest(&self, s: &[V3]) -> Option<Nearest> {
        match s.len() {
            1 => Some(Nearest::vertex(s, 0)),
            2 => Some(edge(s, [0, 1])),
            3 => Some(triangle(s, [0, 1, 2])),
            4 => Some(tetrahedron(s)),
            _ => None,
        }
    }
}

fn edge(s: &[V3], [i, j]: [usize; 2]) -> Nearest {
    let t = s[j] - s[i];
    let along = -s[i].dot(&t);
    let length = t.norm_squared();
    if along <= 0.0 {
        Nearest::vertex(s, i)
    } else if along >= length {
        Nearest::vertex(s, j)
    } else {
        Nearest::edge(s, [i, j], [1.0 - along / length, along / length])
    }
}

fn triangle(s: &[V3], v: [usize; 3]) -> Nearest {
    let [a, b, c] = v.map(|i| s[i]);
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (-ab.dot(&a), -ac.dot(&a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return Nearest::vertex(s, v[0]);
    }
    let (d3, d4) = (-ab.dot(&b), -ac.dot(&b));
    if d3 >= 0.0 && d4 <= d3 {
        return Nearest::vertex(s, v[1]);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return Nearest::edge(s, [v[0], v[1]], [1.0 - t, t]);
    }
    let (d5, d6) = (-ab.dot(&c), -ac.dot(&c));
    if d6 >= 0.0 && d5 <= d6 {
        return Nearest::vertex(s, v[2]);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return Nearest::edge(s, [v[0], v[2]], [1.0 - t, t]);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return Nearest::edge(s, [v[1], v[2]], [1.0 - t, t]);
    }
    let f = 1.0 / (va + vb + vc);
    Nearest::triangle(s, v, [1.0 - (vb + vc) * f, vb * f, vc * f])
}

fn tetrahedron(s: &[V3]) -> Nearest {
    let mut best: Option<Nearest> = None;
    for (face, apex) in [([0, 1, 2], 3), ([0, 2, 3], 1), ([0, 1, 3], 2), ([1, 2, 3], 0)] {
        let [a, b, c] = face.map(|i: usize| s[i]);
        let n = (b - a).cross(&(c - a));
        let (origin, other) = (-a.dot(&n), (s[apex] - a).dot(&n));
        if !(origin * other > 0.0) {
            let found = triangle(s, face);
            best = match best {
                Some(b) if b.point().norm_squared() <= found.point().norm_squared() => best,
                _ => Some(found),
            };
        }
    }
    best.unwrap_or_else(|| {
        let (det, c) = crate::signed_volumes::volumes(s);
        Nearest::whole(s, c.map(|c| c / det))
    })
}
