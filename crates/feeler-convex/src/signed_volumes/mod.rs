//! The point of a simplex nearest to the origin.
//!
//! # Source
//! DIST §3.1 and §3.2.2, Algorithms 1 to 4 (S3D, S2D, S1D), Eqs. (3.2) to (3.8).
//!
//! # Deviations
//! - The errata of MATH §12: (3.8) projects with a minus, and S1D falls back to the nearer end point.
//!   Every face whose sign is *not the same* as the whole's is searched, not only those with the
//!   opposite sign; otherwise exactly coplanar points would not be searched at all.
//! - With plain signs, volumes and areas are computed from edges instead of coordinates. Both are equal
//!   in exact arithmetic, but a common translation of the vertices then costs no digits. Weights are the
//!   signed volumes divided by their sum.
//! - With exact signs, a tetrahedron of volume zero is covered by its faces of either sign alone
//!   (Radon's partition). The smaller of the two sets is searched: one face in Figure 4.6.
//! - [`nearest_to_origin`] checks its result for optimality and tries all faces if rounding misled the
//!   signs.

mod exhaustive;
mod signs;

pub(crate) use exhaustive::{exhaustive, is_optimal};
use feeler_geom::V3;
pub(crate) use signs::volumes;
use signs::{area_signs, exact_volumes};

/// Method of computing signs of volumes and areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Signs {
    /// Plain double precision: fastest; on degenerate simplices it may search more faces than necessary.
    #[default]
    Double,
    /// Exact signs by adaptive predicates: the shortest search on degenerate simplices.
    Adaptive,
}

/// States whether the last vertex of a simplex is the one that was added last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Newest {
    /// The order is unknown, so all faces of the simplex are candidates.
    #[default]
    Unknown,
    /// The last vertex was added to a simplex with a known nearest point and lies beyond that point, in
    /// the direction of the origin. Only faces with the last vertex are candidates (DIST §3.2.2).
    Last,
}

/// Nearest point of a simplex, with the smallest set of vertices whose hull contains it and their
/// positive weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    point: V3,
    n: usize,
    vertices: [usize; 4],
    weights: [f64; 4],
}

impl Nearest {
    /// Returns the point of the simplex nearest to the origin.
    #[must_use]
    pub const fn point(&self) -> V3 {
        self.point
    }

    /// Returns the indices of the vertices of the given simplex whose hull contains the nearest point,
    /// in ascending order.
    #[must_use]
    pub fn vertices(&self) -> &[usize] {
        &self.vertices[..self.n]
    }

    /// Returns the positive barycentric weights of the vertices with the indices [`Self::vertices`];
    /// they sum to 1 up to rounding.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights[..self.n]
    }

    pub(crate) fn vertex(s: &[V3], i: usize) -> Self {
        Self { point: s[i], n: 1, vertices: [i, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    pub(crate) fn edge(s: &[V3], [i, j]: [usize; 2], [wi, wj]: [f64; 2]) -> Self {
        Self { point: s[i] * wi + s[j] * wj, n: 2, vertices: [i, j, 0, 0], weights: [wi, wj, 0.0, 0.0] }
    }

    pub(crate) fn triangle(s: &[V3], [i, j, k]: [usize; 3], [wi, wj, wk]: [f64; 3]) -> Self {
        let point = s[i] * wi + s[j] * wj + s[k] * wk;
        Self { point, n: 3, vertices: [i, j, k, 0], weights: [wi, wj, wk, 0.0] }
    }

    pub(crate) fn whole(s: &[V3], w: [f64; 4]) -> Self {
        let point = s[0] * w[0] + s[1] * w[1] + s[2] * w[2] + s[3] * w[3];
        Self { point, n: 4, vertices: [0, 1, 2, 3], weights: w }
    }

    /// Creates the combination of those vertices of `s` whose bits are set in `set`, with bit i for
    /// vertex i. `weight` returns the weight of the vertex with an index.
    #[cfg(any(test, feature = "reference"))]
    pub(crate) fn of_set(s: &[V3], set: usize, weight: impl Fn(usize) -> f64) -> Self {
        let mut out = Self { point: V3::zeros(), n: 0, vertices: [0; 4], weights: [0.0; 4] };
        for i in (0..s.len()).filter(|i| set >> i & 1 == 1) {
            out.vertices[out.n] = i;
            out.weights[out.n] = weight(i);
            out.point += s[i] * out.weights[out.n];
            out.n += 1;
        }
        out
    }

    fn nearer(self, other: Self) -> Self {
        if other.point.norm_squared() < self.point.norm_squared() { other } else { self }
    }
}

/// Observer of the faces and edges that are searched. The unit type ignores them at no cost.
pub(crate) trait FaceObserver {
    fn face(&mut self, _vertices: &[usize]) {}
}

impl FaceObserver for () {}

/// Returns the point nearest to the origin among all points of the convex hull of `s`, which contains
/// one to four points; `None` for any other number. The points may coincide or be collinear or coplanar.
/// Coordinates and their cubes must be finite.
#[must_use]
pub fn nearest_to_origin(s: &[V3]) -> Option<Nearest> {
    let found = signed_volumes(s, Signs::Double, Newest::Unknown)?;
    Some(if is_optimal(s, &found) { found } else { exhaustive(s).nearer(found) })
}

/// Computes the point of a simplex of one to four points nearest to the origin by Algorithm 1, without a
/// check of the result. Use [`nearest_to_origin`] for simplices that may be degenerate. Returns `None`
/// for any other number of points.
#[must_use]
pub fn signed_volumes(s: &[V3], signs: Signs, newest: Newest) -> Option<Nearest> {
    signed_volumes_watched(s, signs, newest, &mut ())
}

#[inline]
pub(crate) fn signed_volumes_watched<W: FaceObserver>(
    s: &[V3],
    signs: Signs,
    newest: Newest,
    watch: &mut W,
) -> Option<Nearest> {
    match s.len() {
        1 => Some(Nearest::vertex(s, 0)),
        2 => Some(s1d(s, [0, 1])),
        3 => Some(s2d(s, [0, 1, 2], signs, newest, watch)),
        4 => Some(s3d(s, signs, newest, watch)),
        _ => None,
    }
}

/// Eq. (3.4): returns whether both numbers have the same sign; `false` if either is zero or NaN.
#[inline]
fn same_sign(a: f64, b: f64) -> bool {
    (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0)
}

/// Algorithm 2: returns the point of the tetrahedron `s` nearest to the origin. `watch` is informed of
/// every face that is searched.
#[inline]
fn s3d<W: FaceObserver>(s: &[V3], signs: Signs, newest: Newest, watch: &mut W) -> Nearest {
    const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];
    let (det, c) = match signs {
        Signs::Double => volumes(s),
        Signs::Adaptive => exact_volumes(s),
    };
    if c.iter().all(|c| same_sign(det, *c)) {
        let sum = c[0] + c[1] + c[2] + c[3];
        return Nearest::whole(s, c.map(|c| c / sum));
    }
    // The last face is the one without the newest vertex.
    let n_faces = if newest == Newest::Last { 3 } else { 4 };
    let is_candidate = if signs == Signs::Adaptive && det == 0.0 {
        flat_cover(&c, n_faces)
    } else {
        c.map(|c| !same_sign(det, c))
    };
    let mut best: Option<Nearest> = None;
    for j in 0..n_faces {
        if is_candidate[j] {
            watch.face(&FACES[j]);
            let face_newest = if j < 3 { newest } else { Newest::Unknown };
            let found = s2d(s, FACES[j], signs, face_newest, watch);
            best = Some(match best {
                Some(b) => b.nearer(found),
                None => found,
            });
        }
    }
    // Only reached through rounding: then only the old face is left.
    best.unwrap_or_else(|| s2d(s, FACES[3], signs, Newest::Unknown, watch))
}

/// Selects faces that cover a tetrahedron of volume zero, given its four signed volumes `c`. The volumes
/// sum to zero, so the faces with positive volumes alone, and those with negative volumes alone,
/// triangulate the flat hull. Only the first `n_faces` faces may be selected. If the tetrahedron's plane
/// contains the origin, all volumes are zero and all faces are candidates.
fn flat_cover(c: &[f64; 4], n_faces: usize) -> [bool; 4] {
    let count = |positive: bool| {
        let picked = c.map(|c| if positive { c > 0.0 } else { c < 0.0 });
        // A set that needs an excluded face does not cover the hull.
        let whole = picked[n_faces..].iter().all(|p| !p);
        (picked, picked.iter().filter(|p| **p).count(), whole)
    };
    let (p, n) = (count(true), count(false));
    if p.1 == 0 || n.1 == 0 {
        return [true; 4];
    }
    match (p.2, n.2) {
        (true, false) => p.0,
        (false, true) => n.0,
        _ if p.1 <= n.1 => p.0,
        _ => n.0,
    }
}

/// Algorithm 3: returns the point of a triangle nearest to the origin. The triangle is given by the
/// indices `v` of its vertices in the simplex `s`; the last one is the newest vertex if `newest` is
/// `Last`.
#[inline]
fn s2d<W: FaceObserver>(s: &[V3], v: [usize; 3], signs: Signs, newest: Newest, watch: &mut W) -> Nearest {
    let [a, b, c] = v.map(|i| s[i]);
    // Edges from the newest vertex, c.
    let (ca, cb) = (a - c, b - c);
    let n = ca.cross(&cb);
    let (mu, areas) = match signs {
        Signs::Double => {
            // ⟨n, x × y⟩: areas towards the projection of the origin. The projection is parallel to n
            // and cancels.
            let (area_a, area_b) = (n.dot(&cb.cross(&c)), n.dot(&c.cross(&ca)));
            let mu = n.norm_squared();
            (mu, [area_a, area_b, n.dot(&a.cross(&(b - a)))])
        }
        Signs::Adaptive => area_signs([a, b, c], &n),
    };
    let inside = areas.map(|c| same_sign(mu, c));
    if inside == [true; 3] {
        let sum = areas[0] + areas[1] + areas[2];
        return Nearest::triangle(s, v, areas.map(|c| c / sum));
    }
    let mut best: Option<Nearest> = None;
    let n_edges = if newest == Newest::Last { 2 } else { 3 };
    for (inside, edge) in inside.iter().zip([[v[1], v[2]], [v[0], v[2]], [v[0], v[1]]]).take(n_edges) {
        if !inside {
            watch.face(&edge);
            let found = s1d(s, edge);
            best = Some(match best {
                Some(b) => b.nearer(found),
                None => found,
            });
        }
    }
    best.unwrap_or_else(|| s1d(s, [v[0], v[1]]))
}

/// Algorithm 4: returns the point of an edge nearest to the origin. The edge is given by the indices `v`
/// of its ends a and b in the simplex `s`. With t = b − a, the products ⟨−a, t⟩ and ⟨b, t⟩ have the
/// signs of the lengths of the two fictitious segments, in which the projected origin replaces one end.
/// They need no division.
#[inline]
fn s1d(s: &[V3], v: [usize; 2]) -> Nearest {
    let (a, b) = (s[v[0]], s[v[1]]);
    let t = b - a;
    let (towards_b, towards_a) = (-a.dot(&t), b.dot(&t));
    if towards_a > 0.0 && towards_b > 0.0 {
        let sum = towards_a + towards_b;
        return Nearest::edge(s, v, [towards_a / sum, towards_b / sum]);
    }
    Nearest::vertex(s, if a.norm_squared() <= b.norm_squared() { v[0] } else { v[1] })
}

#[cfg(test)]
mod tests;
