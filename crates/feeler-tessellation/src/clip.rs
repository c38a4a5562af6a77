//! Cell of one site, clipped from its box by the radical planes of the sites around it.
//!
//! A cell is stored as a simple polyhedron: three planes meet at each vertex. Vertices where more planes meet
//! are split into several vertices with edges of length zero between them. All decisions are exact, with a
//! symbolic perturbation of the weights, so every cell is a valid polyhedron, and cells agree about the
//! faces, edges and vertices that they share.
//!
//! # Source
//! Edelsbrunner and Mücke, *Simulation of simplicity* (1990); order of the perturbation by coordinates, which
//! translations do not change: Devillers and Teillaud, *Perturbations for Delaunay and weighted Delaunay 3D
//! triangulations* (2011).

use crate::expansion::{Expansion, determinant};
use feeler_geom::{P3, V3};
use std::cmp::Ordering;

/// Origin of a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Radical plane of the cell's site and another site, or an image of a site.
    Site { index: u32, shift: [i32; 3], position: P3, weight: f64 },
    /// Wall of the domain.
    Wall { axis: usize, upper: bool },
}

/// Half-space 2 row · v ≤ height, where v is relative to the site.
#[derive(Clone, Copy, Debug)]
struct Plane {
    /// Exact: coordinates are multiples of one power of two.
    row: V3,
    height: f64,
    /// Sum of the magnitudes of the height's terms, which bounds its rounding.
    magnitude: f64,
    source: Source,
}

#[derive(Clone, Copy, Debug)]
struct Vertex {
    /// The determinant of the rows of these planes is positive.
    planes: [u32; 3],
    /// Neighbour along the edge that does not lie on the plane of the same position.
    neighbours: [u32; 3],
    /// Position relative to the site.
    at: V3,
    /// Bound of the error of the position.
    error: f64,
    /// False only while [`Clipper::remove_outside`] replaces the vertex.
    is_kept: bool,
}

/// Maximum error of a vertex relative to the norm of its position, above which the vertex is recomputed with
/// exact determinants. A larger value gives less accurate vertices of nearly flat simplices; a smaller one
/// recomputes more vertices.
const MAX_VERTEX_ERROR: f64 = 1e-12;

/// Bound of the rounding errors of the short sums of products in this module, relative to the magnitudes of
/// their terms. A larger value needs exact arithmetic more often; a smaller one may give wrong signs.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Cell during clipping; its buffers are reused from cell to cell.
#[derive(Debug, Default)]
pub(crate) struct Clipper {
    site: u32,
    position: P3,
    weight: f64,
    planes: Vec<Plane>,
    vertices: Vec<Vertex>,
    free: Vec<u32>,
    /// For each plane, the first new vertex on it; `NONE` elsewhere.
    first: Vec<u32>,
    outside: Vec<u32>,
    pub(crate) is_empty: bool,
    /// Largest distance of a vertex from the site.
    pub(crate) radius: f64,
}

const NONE: u32 = u32::MAX;

/// Faces of a clipped cell: source of the plane, and vertices counter-clockwise from outside.
pub(crate) struct Polyhedron {
    /// Relative to the site.
    pub(crate) vertices: Vec<V3>,
    /// For each vertex, the faces that meet there.
    pub(crate) corners: Vec<[u32; 3]>,
    pub(crate) faces: Vec<(Source, Vec<u32>)>,
}

#[expect(clippy::cast_possible_truncation, reason = "a cell has far fewer than 2³² planes and vertices")]
const fn index(n: usize) -> u32 {
    n as u32
}

impl Clipper {
    /// Starts a cell as the box of six planes; `bounds[axis]` has the lower and the upper one.
    pub(crate) fn start(&mut self, site: u32, position: P3, weight: f64, bounds: [[(Source, f64); 2]; 3]) {
        (self.site, self.position, self.weight) = (site, position, weight);
        self.planes.clear();
        self.vertices.clear();
        self.free.clear();
        self.first.clear();
        self.is_empty = false;
        for (axis, pair) in bounds.iter().enumerate() {
            for (side, (source, distance)) in pair.iter().enumerate() {
                let sign = if side == 0 { -1.0 } else { 1.0 };
                let mut row = V3::zeros();
                // The plane of an image at twice the distance is scaled like that of a wall only if the row
                // is the offset of the image.
                let length = if matches!(source, Source::Site { .. }) { 2.0 * distance } else { 1.0 };
                row[axis] = sign * length;
                let height = 2.0 * distance * length;
                self.planes.push(Plane { row, height, magnitude: height.abs(), source: *source });
                self.first.push(NONE);
            }
        }
        for corner in 0..8_u32 {
            let upper = [0, 1, 2].map(|k| corner >> k & 1);
            let mut planes = [0, 1, 2].map(|k| 2 * k + upper[k as usize]);
            let mut neighbours = [0, 1, 2].map(|k: u32| corner ^ (1 << k));
            if corner.count_ones() % 2 == 0 {
                planes.swap(0, 1);
                neighbours.swap(0, 1);
            }
            let mut at = V3::zeros();
            for k in 0..3 {
                let (_, distance) = bounds[k][upper[k] as usize];
                at[k] = if upper[k] == 0 { -distance } else { distance };
            }
            let error = at.norm() * f64::EPSILON;
            self.vertices.push(Vertex { planes, neighbours, at, error, is_kept: true });
        }
        self.is_empty = bounds.iter().any(|[l, u]| l.1 + u.1 <= 0.0);
        self.update_radius();
    }

    fn update_radius(&mut self) {
        self.radius = self.vertices.iter().map(|v| v.at.norm_squared()).fold(0.0, f64::max).sqrt();
    }

    /// Clips the cell by the radical plane of another site.
    pub(crate) fn cut(&mut self, other: u32, shift: [i32; 3], position: P3, weight: f64) {
        let row = position - self.position;
        let d_sq = row.norm_squared();
        if d_sq == 0.0 {
            // The heavier one of two sites at one point has the cell; the first one if they are equal.
            let loses = weight.total_cmp(&self.weight).then(self.site.cmp(&other)) == Ordering::Greater;
            self.is_empty |= loses;
            return;
        }
        let height = d_sq - weight + self.weight;
        let magnitude = d_sq + weight.abs() + self.weight.abs();
        let reach = self.radius * (1.0 + 2.0 * MAX_VERTEX_ERROR);
        if height > 2.0 * d_sq.sqrt() * reach + ROUNDING * magnitude {
            return;
        }
        let source = Source::Site { index: other, shift, position, weight };
        let plane = Plane { row, height, magnitude, source };
        self.outside.clear();
        for k in 0..self.vertices.len() {
            if self.is_outside(&self.vertices[k], &plane) {
                self.outside.push(index(k));
            }
        }
        if self.outside.is_empty() {
            return;
        }
        if self.outside.len() == self.vertices.len() {
            self.is_empty = true;
            return;
        }
        self.remove_outside(plane);
        self.update_radius();
    }

    /// Removes the vertices in `self.outside` and closes the cell by a face on `plane`.
    fn remove_outside(&mut self, plane: Plane) {
        let new_plane = index(self.planes.len());
        self.planes.push(plane);
        self.first.push(NONE);
        let outside = std::mem::take(&mut self.outside);
        for k in &outside {
            self.vertices[*k as usize].is_kept = false;
        }
        let mut touched: Vec<u32> = Vec::new();
        for k in &outside {
            let old = self.vertices[*k as usize];
            for e in 0..3 {
                let inside = old.neighbours[e];
                if !self.vertices[inside as usize].is_kept {
                    continue;
                }
                let mut planes = old.planes;
                planes[e] = new_plane;
                let (at, error) = self.position_of(planes);
                let mut vertex = Vertex { planes, neighbours: [NONE; 3], at, error, is_kept: true };
                vertex.neighbours[e] = inside;
                let number = index(self.vertices.len());
                self.vertices.push(vertex);
                let back = self.vertices[inside as usize].neighbours.iter().position(|n| n == k);
                if let Some(back) = back {
                    self.vertices[inside as usize].neighbours[back] = number;
                }
                for side in [(e + 1) % 3, (e + 2) % 3] {
                    let face = planes[side];
                    let other = std::mem::replace(&mut self.first[face as usize], number);
                    touched.push(face);
                    if other != NONE {
                        self.connect(number, other, face, new_plane);
                    }
                }
            }
        }
        for face in touched {
            self.first[face as usize] = NONE;
        }
        self.outside = outside;
        self.compact();
    }

    /// Connects two vertices along the edge between the planes `f` and `g`.
    fn connect(&mut self, a: u32, b: u32, f: u32, g: u32) {
        for (from, to) in [(a, b), (b, a)] {
            let vertex = &mut self.vertices[from as usize];
            if let Some(k) = vertex.planes.iter().position(|p| *p != f && *p != g) {
                vertex.neighbours[k] = to;
            }
        }
    }

    /// Moves the last vertices to the slots of removed ones.
    fn compact(&mut self) {
        self.free.clear();
        self.free.extend(&self.outside);
        self.free.sort_unstable();
        while let Some(slot) = self.free.pop() {
            let last = index(self.vertices.len() - 1);
            if slot != last {
                let moved = self.vertices[last as usize];
                self.vertices[slot as usize] = moved;
                for n in moved.neighbours {
                    for m in &mut self.vertices[n as usize].neighbours {
                        if *m == last {
                            *m = slot;
                        }
                    }
                }
            }
            self.vertices.pop();
        }
    }

    /// Returns whether a vertex lies on the outer side of a plane, after the symbolic perturbation.
    fn is_outside(&self, vertex: &Vertex, plane: &Plane) -> bool {
        let value = 2.0 * plane.row.dot(&vertex.at) - plane.height;
        let length = plane.row.norm();
        let error = 2.0 * length * vertex.error + ROUNDING * (length * vertex.at.norm() + plane.magnitude);
        if value.abs() > error {
            return value > 0.0;
        }
        self.is_outside_exactly(vertex, plane)
    }

    #[cold]
    fn is_outside_exactly(&self, vertex: &Vertex, plane: &Plane) -> bool {
        let planes = [
            &self.planes[vertex.planes[0] as usize],
            &self.planes[vertex.planes[1] as usize],
            &self.planes[vertex.planes[2] as usize],
            plane,
        ];
        let with = |heights: [Expansion; 4]| {
            let rows: Vec<Vec<Expansion>> = planes
                .iter()
                .zip(heights)
                .map(|(p, h)| vec![p.row.x.into(), p.row.y.into(), p.row.z.into(), h])
                .collect();
            determinant(&rows).sign()
        };
        // With the first three heights h = 2 row · v, the determinant is (h₄ − 2 row₄ · v) times the
        // determinant of the first three rows, which is positive.
        let sign = with(planes.map(|p| self.exact_height(p)));
        if sign != Ordering::Equal {
            return sign == Ordering::Less;
        }
        // Derivatives by the weights, the largest perturbation first.
        let mut order: Vec<(P3, u32, Option<usize>)> = vec![(self.position, self.site, None)];
        for (k, p) in planes.iter().enumerate() {
            if let Source::Site { index, position, .. } = p.source {
                order.push((position, index, Some(k)));
            }
        }
        order.sort_by(|(p, i, _), (q, j, _)| {
            let axis = |k: usize| q[k].total_cmp(&p[k]);
            axis(0).then(axis(1)).then(axis(2)).then(i.cmp(j))
        });
        for (_, _, which) in order {
            let heights = [0, 1, 2, 3].map(|k| match (which, planes[k].source) {
                (None, Source::Site { .. }) => 1.0.into(),
                (Some(w), _) if w == k => (-1.0).into(),
                _ => Expansion::default(),
            });
            let sign = with(heights);
            if sign != Ordering::Equal {
                return sign == Ordering::Less;
            }
        }
        false
    }

    /// Returns the height of a plane without rounding.
    fn exact_height(&self, plane: &Plane) -> Expansion {
        match plane.source {
            Source::Site { weight, .. } => {
                let square = |k: usize| Expansion::product(plane.row[k], plane.row[k]);
                let weights = Expansion::from(self.weight).add(&Expansion::from(-weight));
                square(0).add(&square(1)).add(&square(2)).add(&weights)
            }
            Source::Wall { .. } => plane.height.into(),
        }
    }

    /// Computes the point where three planes meet, relative to the site, and a bound of its error.
    fn position_of(&self, planes: [u32; 3]) -> (V3, f64) {
        let p = planes.map(|k| &self.planes[k as usize]);
        let [a, b, c] = p.map(|p| p.row);
        let (bc, ca, ab) = (b.cross(&c), c.cross(&a), a.cross(&b));
        let det = a.dot(&bc);
        let numerator = bc * p[0].height + ca * p[1].height + ab * p[2].height;
        let at = numerator / (2.0 * det);
        let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
        let magnitude = lb * lc * p[0].magnitude + lc * la * p[1].magnitude + la * lb * p[2].magnitude;
        let error = ROUNDING * (magnitude + 2.0 * at.norm() * la * lb * lc) / det.abs();
        if error <= MAX_VERTEX_ERROR * at.norm() {
            return (at, error);
        }
        let exact = |column: Option<usize>| {
            let rows: Vec<Vec<Expansion>> =
                p.iter()
                    .map(|plane| {
                        (0..3)
                            .map(|k| {
                                if column == Some(k) { self.exact_height(plane) } else { plane.row[k].into() }
                            })
                            .collect()
                    })
                    .collect();
            determinant(&rows).value()
        };
        let twice = 2.0 * exact(None);
        let at = V3::new(exact(Some(0)) / twice, exact(Some(1)) / twice, exact(Some(2)) / twice);
        (at, ROUNDING * at.norm())
    }

    /// Returns the faces of the cell: those on the bounds first, then in the order of the cuts.
    pub(crate) fn polyhedron(&self) -> Polyhedron {
        let mut faces = Vec::new();
        let mut face_of = vec![NONE; self.planes.len()];
        let mut start = vec![NONE; self.planes.len()];
        for (k, v) in self.vertices.iter().enumerate() {
            for p in v.planes {
                start[p as usize] = index(k);
            }
        }
        for (plane, first) in start.iter().enumerate().filter(|(_, s)| **s != NONE) {
            let mut corners = Vec::with_capacity(8);
            let mut at = *first;
            // A face has at most as many vertices as the cell.
            for _ in 0..self.vertices.len() {
                corners.push(at);
                let vertex = &self.vertices[at as usize];
                let k = vertex.planes.iter().position(|p| *p as usize == plane).unwrap_or(0);
                at = vertex.neighbours[(k + 1) % 3];
                if at == *first {
                    break;
                }
            }
            face_of[plane] = index(faces.len());
            faces.push((self.planes[plane].source, corners));
        }
        Polyhedron {
            vertices: self.vertices.iter().map(|v| v.at).collect(),
            corners: self.vertices.iter().map(|v| v.planes.map(|p| face_of[p as usize])).collect(),
            faces,
        }
    }
}
