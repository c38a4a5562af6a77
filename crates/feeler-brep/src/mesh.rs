//! Solids whose boundaries are given as triangles.
//!
//! Each triangle becomes a planar face; coplanar ones are merged when the solid is prepared. Nothing is
//! smoothed: a triangulated cylinder is a prism.

use feeler_geom::count::index;
use feeler_geom::{Curve, Frame, P3, Surface, math};
use std::collections::BTreeMap;
use std::f64::consts::PI;

use crate::sheet::both_sides;
use crate::source::{EdgeSource, FaceSource, LoopSource, SolidSource, VertexSource};

/// Reason why triangles do not bound a solid. Triangles and points are numbered from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshSolidError {
    /// A corner of a triangle refers to a point that does not exist.
    #[error(
        "triangle {triangle} refers to point {corner}, but there are only {points} points (numbered from 0)"
    )]
    Corner {
        /// Number of the triangle whose corner refers to the missing point.
        triangle: usize,
        /// Number of the missing point to which the triangle refers.
        corner: u32,
        /// Number of points in the mesh.
        points: usize,
    },
    /// A coordinate of the point with this number is not finite or is too large.
    #[error("point {0} has a coordinate that is not finite or beyond 1e12 mm")]
    NotFinite(usize),
    /// The corners of the triangle with this number are on one line.
    #[error(
        "the corners of triangle {0} are on one line; repair the mesh, or export it with other tolerances"
    )]
    Flat(usize),
    /// A side of a triangle does not belong to exactly two triangles.
    #[error(
        "the side from {from:?} to {to:?} belongs to {uses} triangles instead of two; {}",
        if *uses == 1 { "close the hole there, or allow open shells" } else { "separate what touches there" }
    )]
    Side {
        /// One end (mm) of the side.
        from: [f64; 3],
        /// The other end (mm) of the side.
        to: [f64; 3],
        /// Number of triangles with this side.
        uses: usize,
    },
    /// The mesh contains no triangle with an area.
    #[error("the mesh has no triangle with an area")]
    Empty,
}

/// Options of [`solids_of_triangles`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeshOptions {
    /// Whether surfaces may be open; open ones become sheets ([`both_sides`]).
    pub open_shells: bool,
    /// Rounding (mm) of the coordinates: connected triangles that are coplanar within it become faces on
    /// one plane. With 0 only exactly coplanar triangles do.
    pub rounding: f64,
}

/// A solid bounded by triangles.
#[derive(Clone, Debug)]
pub struct MeshSolid {
    /// Boundary of the solid, with one planar face for each triangle.
    pub source: SolidSource,
    /// Number of sides that belong to one triangle only; the solid is a sheet if the number is not 0.
    pub open_edges: usize,
}

/// Returns the solids that connected surfaces of triangles bound. Points are in mm; triangles list the
/// indices of their corners in `points`. Equal points are merged, and triangles with two equal corners
/// are left out. Entity ids of faces are the numbers of their triangles, counted from 1.
///
/// A connected surface whose normals point inwards is a void of the smallest surface around it with
/// outward normals; without such a surface, [`build_solid`](crate::build::build_solid) reverses it. If
/// the normals of the surface with the largest volume point inwards, all surfaces are considered inside
/// out.
///
/// # Errors
/// [`MeshSolidError`] if a point or triangle is invalid, or if a side belongs to a wrong number of triangles.
pub fn solids_of_triangles(
    name: &str,
    points: &[P3],
    triangles: &[[u32; 3]],
    options: MeshOptions,
) -> Result<Vec<MeshSolid>, MeshSolidError> {
    let mut mesh = Welded::new(points, triangles)?;
    let mut pieces = mesh.pieces(options)?;
    let closed = pieces.iter().filter(|p| p.open_sides == 0).map(|p| p.volume);
    if closed.max_by(|a, b| a.abs().total_cmp(&b.abs())).is_some_and(|largest| largest < 0.0) {
        pieces.iter_mut().for_each(|p| p.volume = -p.volume);
    }
    let planes = mesh.planes(&pieces, options.rounding);
    let is_solid = |p: &&Piece| p.open_sides > 0 || p.volume > 0.0;
    let mut solids: Vec<Vec<&Piece>> = pieces.iter().filter(is_solid).map(|p| vec![p]).collect();
    for hollow in pieces.iter().filter(|p| !is_solid(p)) {
        let around = solids.iter_mut().filter(|s| mesh.is_around(s[0], hollow));
        match around.min_by(|a, b| a[0].volume.total_cmp(&b[0].volume)) {
            Some(solid) => solid.push(hollow),
            None => solids.push(vec![hollow]),
        }
    }
    Ok(solids.iter().map(|pieces| mesh.solid(name, pieces, &planes)).collect())
}

/// A connected surface of triangles.
struct Piece {
    /// Indices of the triangles in [`Welded::triangles`].
    triangles: Vec<usize>,
    /// Number of its sides that belong to one triangle only.
    open_sides: usize,
    /// Signed volume (mm³); negative if the normals point inwards.
    volume: f64,
    low: P3,
    high: P3,
}

/// Triangles after equal points are merged.
struct Welded {
    points: Vec<P3>,
    /// For each triangle, the indices of its corners in `points`, and its number in the input, counted
    /// from 0.
    triangles: Vec<([u32; 3], usize)>,
    /// For each triangle, the index of the triangle at each of its three sides; `None` at an open side.
    neighbours: Vec<[Option<usize>; 3]>,
}

impl Welded {
    fn new(points: &[P3], triangles: &[[u32; 3]]) -> Result<Self, MeshSolidError> {
        if let Some(k) = points.iter().position(|p| !p.iter().all(|c| c.abs() <= MAX_COORDINATE)) {
            return Err(MeshSolidError::NotFinite(k));
        }
        let mut known: BTreeMap<[u64; 3], u32> = BTreeMap::new();
        let mut out = Self { points: Vec::new(), triangles: Vec::new(), neighbours: Vec::new() };
        for (triangle, corners) in triangles.iter().enumerate() {
            let mut own = [0; 3];
            for (to, &corner) in own.iter_mut().zip(corners) {
                let p = points.get(corner as usize);
                let p = p.ok_or(MeshSolidError::Corner { triangle, corner, points: points.len() })?;
                // Adding 0 turns −0 into 0.
                let p = p.map(|c| c + 0.0);
                *to = *known.entry([p.x, p.y, p.z].map(f64::to_bits)).or_insert_with(|| {
                    out.points.push(p);
                    index(out.points.len() - 1)
                });
            }
            if own[0] == own[1] || own[1] == own[2] || own[2] == own[0] {
                continue;
            }
            let [a, b, c] = own.map(|v| out.points[v as usize]);
            let (normal, longest) = ((b - a).cross(&(c - a)).norm(), longest(&[a, b, c]));
            if normal <= DEGENERATE_AREA * longest * longest {
                return Err(MeshSolidError::Flat(triangle));
            }
            out.triangles.push((own, triangle));
        }
        if out.triangles.is_empty() { Err(MeshSolidError::Empty) } else { Ok(out) }
    }

    fn corners(&self, k: usize) -> [P3; 3] {
        self.triangles[k].0.map(|v| self.points[v as usize])
    }

    /// Divides the triangles into connected surfaces, in the order of their first triangles.
    fn pieces(&mut self, options: MeshOptions) -> Result<Vec<Piece>, MeshSolidError> {
        let mut sides: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for (k, (own, _)) in self.triangles.iter().enumerate() {
            (0..3).for_each(|i| sides.entry(side(own, i)).or_default().push(k));
        }
        let is_fine = |uses: usize| uses == 2 || (uses == 1 && options.open_shells);
        if let Some((ends, users)) = sides.iter().find(|(_, users)| !is_fine(users.len())) {
            let [from, to] = ends.map(|v| self.points[v as usize].into());
            return Err(MeshSolidError::Side { from, to, uses: users.len() });
        }
        let other =
            |k: usize, own: &[u32; 3], i: usize| sides[&side(own, i)].iter().find(|o| **o != k).copied();
        let neighbours = |(k, (own, _)): (usize, &([u32; 3], usize))| [0, 1, 2].map(|i| other(k, own, i));
        self.neighbours = self.triangles.iter().enumerate().map(neighbours).collect();
        let mut seen = vec![false; self.triangles.len()];
        let mut out = Vec::new();
        for first in 0..self.triangles.len() {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let mut triangles = vec![first];
            let mut next = 0;
            while next < triangles.len() {
                let neighbours = self.neighbours[triangles[next]];
                next += 1;
                for k in neighbours.into_iter().flatten() {
                    if !std::mem::replace(&mut seen[k], true) {
                        triangles.push(k);
                    }
                }
            }
            triangles.sort_unstable();
            out.push(self.piece(triangles));
        }
        Ok(out)
    }

    fn piece(&self, triangles: Vec<usize>) -> Piece {
        let open_sides = triangles.iter().flat_map(|k| self.neighbours[*k]).filter(Option::is_none).count();
        let from = self.corners(triangles[0])[0];
        let (mut volume, mut low, mut high) = (0.0, from, from);
        for k in &triangles {
            let corners = self.corners(*k);
            let [a, b, c] = corners.map(|p| p - from);
            volume += a.dot(&b.cross(&c)) / 6.0;
            for p in corners {
                low = low.inf(&p);
                high = high.sup(&p);
            }
        }
        Piece { triangles, open_sides, volume, low, high }
    }

    /// Returns whether the closed piece `piece` encloses the piece `other`. The test is whether the
    /// solid angle that `piece` subtends at a point of `other` is the full sphere.
    fn is_around(&self, piece: &Piece, other: &Piece) -> bool {
        let in_box = (0..3).all(|k| piece.low[k] <= other.low[k] && other.high[k] <= piece.high[k]);
        if piece.open_sides > 0 || !in_box {
            return false;
        }
        let from = self.corners(other.triangles[0])[0];
        let seen = piece.triangles.iter().map(|k| {
            let [a, b, c] = self.corners(*k).map(|p| p - from);
            let [x, y, z] = [&a, &b, &c].map(|v| v.norm());
            let down = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
            2.0 * math::atan2(a.dot(&b.cross(&c)), down)
        });
        seen.sum::<f64>().abs() > 2.0 * PI
    }

    /// Returns a plane for each triangle, in descending order of areas: connected triangles that are
    /// coplanar within `rounding` (mm) with the largest one of them get the plane of that one.
    fn planes(&self, pieces: &[Piece], rounding: f64) -> Vec<Frame> {
        let own = |k: usize| frame(&self.corners(k));
        let mut out: Vec<Option<Frame>> = vec![None; self.triangles.len()];
        for piece in pieces {
            let area = |k: &usize| {
                let [a, b, c] = self.corners(*k);
                (b - a).cross(&(c - a)).norm_squared()
            };
            let mut seeds: Vec<(f64, usize)> = piece.triangles.iter().map(|k| (area(k), *k)).collect();
            seeds.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, seed) in seeds {
                if out[seed].is_some() {
                    continue;
                }
                let plane = own(seed);
                let is_of_it = |k: usize| {
                    let is_near =
                        |p: &P3| plane.z.dot(&(p - plane.origin)).abs() <= MAX_PLANE_DISTANCE * rounding;
                    self.corners(k).iter().all(is_near)
                        && own(k).z.dot(&plane.z) >= 1.0 - 0.5 * MAX_PLANE_ANGLE * MAX_PLANE_ANGLE
                };
                out[seed] = Some(plane);
                let mut reached = vec![seed];
                while let Some(at) = reached.pop() {
                    for k in self.neighbours[at].into_iter().flatten() {
                        if out[k].is_none() && is_of_it(k) {
                            out[k] = Some(plane);
                            reached.push(k);
                        }
                    }
                }
            }
        }
        out.into_iter().enumerate().map(|(k, plane)| plane.unwrap_or_else(|| own(k))).collect()
    }

    fn solid(&self, name: &str, pieces: &[&Piece], planes: &[Frame]) -> MeshSolid {
        let source = self.source(name, pieces, planes);
        let open_edges = pieces[0].open_sides;
        // `both_sides` fails only for sides of more than two triangles, and such sides have been
        // rejected before.
        let sheet = if open_edges > 0 { both_sides(source.clone()).ok() } else { None };
        MeshSolid { source: sheet.map_or(source, |sheets| sheets.solid), open_edges }
    }

    fn source(&self, name: &str, pieces: &[&Piece], planes: &[Frame]) -> SolidSource {
        let mut out = SolidSource { name: name.to_owned(), ..SolidSource::default() };
        // Entity ids are unique over faces, vertices and edges.
        let mut last = self.triangles.last().map_or(0, |(_, given)| given + 1) as u64;
        let mut next = || {
            last += 1;
            last
        };
        let mut vertices: BTreeMap<u32, u32> = BTreeMap::new();
        let mut edges: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for (shell, piece) in pieces.iter().enumerate() {
            for k in &piece.triangles {
                let (own, given) = self.triangles[*k];
                let mut vertex = |v: u32, out: &mut SolidSource| {
                    *vertices.entry(v).or_insert_with(|| {
                        out.vertices.push(VertexSource { id: next(), point: self.points[v as usize] });
                        index(out.vertices.len() - 1)
                    })
                };
                let ends = own.map(|v| vertex(v, &mut out));
                let mut loop_ = Vec::with_capacity(3);
                for i in 0..3 {
                    let between = side(&own, i);
                    let forward = between[0] == own[i];
                    let (a, b) = (ends[i], ends[(i + 1) % 3]);
                    let (start, end) = if forward { (a, b) } else { (b, a) };
                    let edge = *edges.entry(between).or_insert_with(|| {
                        let [p, q] = [start, end].map(|v| out.vertices[v as usize].point);
                        let curve = Curve::Line { origin: p, dir: (q - p).normalize() };
                        let edge =
                            EdgeSource { id: next(), curve, range: None, start, end, same_sense: true };
                        out.edges.push(edge);
                        index(out.edges.len() - 1)
                    });
                    loop_.push((edge, forward));
                }
                out.faces.push(FaceSource {
                    id: given as u64 + 1,
                    shell: index(shell),
                    surface: Surface::Plane { frame: planes[*k] },
                    surface_deviation: 0.0,
                    outward: true,
                    either_way: false,
                    outer_sheet: None,
                    loops: vec![LoopSource::Edges(loop_)],
                });
            }
        }
        out
    }
}

/// Returns the ends (indices of points, the smaller one first) of the side of a triangle from corner `i`
/// to the next corner. `own` lists the corners.
fn side(own: &[u32; 3], i: usize) -> [u32; 2] {
    let (a, b) = (own[i], own[(i + 1) % 3]);
    [a.min(b), a.max(b)]
}

/// Length (mm) of the longest side of a triangle.
fn longest([a, b, c]: &[P3; 3]) -> f64 {
    (b - a).norm().max((c - b).norm()).max((a - c).norm())
}

/// Returns the frame of a triangle with an area: its origin is the first corner, x is along the first
/// side, and z along the normal.
fn frame(corners: &[P3; 3]) -> Frame {
    let [a, b, c] = corners;
    let x = (b - a).normalize();
    let z = (b - a).cross(&(c - a)).normalize();
    Frame { origin: *a, x, y: z.cross(&x), z }
}

/// Maximum distance of a triangle's corners from the plane that it shares with other triangles, relative
/// to [`MeshOptions::rounding`]. It exceeds 1 because the corners that define the plane are rounded,
/// too, and errors grow with the distance from these corners. A larger value merges faces and loses
/// edges, a smaller one leaves faces in parts.
const MAX_PLANE_DISTANCE: f64 = 8.0;

/// Maximum angle (rad) between the normals of coplanar triangles; the normals of slim ones are less
/// accurate. A larger value merges faces and loses edges, a smaller one leaves faces in parts.
const MAX_PLANE_ANGLE: f64 = 1e-3;

/// Maximum of twice the area of a triangle, relative to the square of its longest side, at which it is
/// considered to have no plane. A larger value rejects slim triangles, a smaller one accepts planes of
/// rounding errors.
const DEGENERATE_AREA: f64 = 1e-9;

/// Maximum magnitude of coordinates (mm); larger coordinates are rejected. With a larger value digits
/// are lost; a smaller one rejects meshes far from the origin.
const MAX_COORDINATE: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BuildOptions, build_solid};
    use feeler_geom::V3;

    /// A box of twelve triangles with outward normals; all coordinates are between `low` and `high`.
    fn block(low: f64, high: f64) -> (Vec<P3>, Vec<[u32; 3]>) {
        let of = |k: u32, bit: u32| if k & bit == 0 { low } else { high };
        let points = (0..8).map(|k| P3::new(of(k, 1), of(k, 2), of(k, 4))).collect();
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        (points, sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect())
    }

    /// The triangles of two boxes, each between two coordinates (see [`block`]); with `turned` the
    /// triangles of the second box have inward normals.
    fn both(first: (f64, f64), second: (f64, f64), turned: bool) -> (Vec<P3>, Vec<[u32; 3]>) {
        let (mut points, mut triangles) = block(first.0, first.1);
        let (more, corners) = block(second.0, second.1);
        points.extend(more);
        let moved = |t: &[u32; 3]| t.map(|k| k + 8);
        let turn = |[a, b, c]: [u32; 3]| if turned { [a, c, b] } else { [a, b, c] };
        triangles.extend(corners.iter().map(moved).map(turn));
        (points, triangles)
    }

    /// A square tube along z from 0 to 3: 3 mm wide, with a hole of 1 mm.
    fn tube() -> (Vec<P3>, Vec<[u32; 3]>) {
        let ring = |low: f64, high: f64, z: f64| {
            [(low, low), (high, low), (high, high), (low, high)].map(|(x, y)| P3::new(x, y, z))
        };
        // The outer and the inner ring below, then above.
        let points =
            [ring(0.0, 3.0, 0.0), ring(1.0, 2.0, 0.0), ring(0.0, 3.0, 3.0), ring(1.0, 2.0, 3.0)].concat();
        let mut triangles = Vec::new();
        for i in 0..4 {
            let j = (i + 1) % 4;
            let quads = [
                [i, j, 8 + j, 8 + i],
                [4 + j, 4 + i, 12 + i, 12 + j],
                [j, i, 4 + i, 4 + j],
                [8 + i, 8 + j, 12 + j, 12 + i],
            ];
            triangles.extend(quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]));
        }
        (points, triangles)
    }

    fn volumes((points, triangles): &(Vec<P3>, Vec<[u32; 3]>)) -> Vec<f64> {
        let solids = solids_of_triangles("mesh", points, triangles, MeshOptions::default()).unwrap();
        let built = solids.iter().map(|s| build_solid(&s.source, &BuildOptions::default()).unwrap());
        built.map(|s| s.volume).collect()
    }

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-9 * e)
    }

    #[test]
    fn pieces_are_solids_or_hollows() {
        assert!(close(&volumes(&block(-1.0, 2.0)), &[27.0]));
        // A box that is inside out is reversed. A box inside another one is a hollow if its normals point
        // inwards, otherwise a solid.
        let turned = {
            let (points, triangles) = block(0.0, 2.0);
            (points, triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect::<Vec<[u32; 3]>>())
        };
        assert!(close(&volumes(&turned), &[8.0]));
        assert!(close(&volumes(&both((0.0, 3.0), (1.0, 2.0), true)), &[26.0]));
        assert!(close(&volumes(&both((0.0, 3.0), (1.0, 2.0), false)), &[27.0, 1.0]));
        assert!(close(&volumes(&both((0.0, 3.0), (5.0, 6.0), false)), &[27.0, 1.0]));
        // The box and its hollow are both inside out.
        let (points, triangles) = both((0.0, 3.0), (1.0, 2.0), true);
        let turned = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        assert!(close(&volumes(&(points, turned)), &[26.0]));
        // The block is inside out and lies in the hole of the tube: inside the tube's bounding box, but
        // it is a separate solid.
        let (mut points, mut triangles) = tube();
        let (more, corners) = block(1.2, 1.8);
        points.extend(more);
        triangles.extend(corners.iter().map(|[a, b, c]| [a + 16, c + 16, b + 16]));
        assert!(close(&volumes(&(points, triangles)), &[24.0, 0.216]));
        // The block is a void of the smaller one of the two boxes around it, in whichever order they are
        // listed.
        let (mut points, mut triangles) = both((0.0, 9.0), (4.0, 5.0), true);
        let (more, corners) = block(3.0, 6.0);
        points.extend(more);
        triangles.extend(corners.iter().map(|t| t.map(|k| k + 16)));
        assert!(close(&volumes(&(points, triangles)), &[729.0, 26.0]));
    }

    #[test]
    fn points_are_welded_and_order_does_not_matter() {
        let (points, triangles) = block(0.0, 2.0);
        // Each triangle has corners of its own, and one with two equal corners is inserted.
        let mut own: Vec<P3> = triangles.iter().flatten().map(|k| points[*k as usize]).collect();
        own[0].x = -0.0;
        let mut apart: Vec<[u32; 3]> = (0..12).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        apart.insert(5, [0, 0, 1]);
        assert!(close(&volumes(&(own, apart)), &[8.0]));
    }

    #[test]
    fn invalid_meshes_are_reported() {
        let (points, triangles) = block(0.0, 2.0);
        let error_of = |points: &[P3], triangles: &[[u32; 3]]| {
            solids_of_triangles("mesh", points, triangles, MeshOptions::default()).unwrap_err()
        };
        assert_eq!(error_of(&points, &[]), MeshSolidError::Empty);
        assert!(matches!(error_of(&points, &triangles[1..]), MeshSolidError::Side { uses: 1, .. }));
        let open = MeshOptions { open_shells: true, rounding: 0.0 };
        let sheet = solids_of_triangles("mesh", &points, &triangles[..10], open).unwrap();
        assert_eq!(sheet[0].open_edges, 4);
        let sheet = build_solid(&sheet[0].source, &BuildOptions::default()).unwrap();
        assert!(
            (sheet.area - 40.0).abs() < 1e-9 && sheet.volume.abs() < 1e-9,
            "{} {}",
            sheet.area,
            sheet.volume
        );
        let twice = [&triangles[..], &[[0, 1, 7]]].concat();
        assert!(matches!(error_of(&points, &twice), MeshSolidError::Side { uses: 3, .. }));
        assert_eq!(
            error_of(&points, &[[0, 1, 8]]),
            MeshSolidError::Corner { triangle: 0, corner: 8, points: 8 }
        );
        let mut lost = points.clone();
        lost[3].y = f64::NAN;
        assert_eq!(error_of(&lost, &triangles), MeshSolidError::NotFinite(3));
        let line = [P3::origin(), P3::new(1.0, 1.0, 0.0), P3::new(3.0, 3.0, 0.0)];
        assert_eq!(error_of(&line, &[[0, 1, 2]]), MeshSolidError::Flat(0));
        // Two boxes that share only a corner are two solids; two that share an edge are rejected.
        let shifted = |by: V3| {
            let mut all = points.clone();
            all.extend(points.iter().map(|p| p + by));
            let more = triangles.iter().map(|t| t.map(|k| k + 8));
            (all, triangles.iter().copied().chain(more).collect::<Vec<[u32; 3]>>())
        };
        assert!(close(&volumes(&shifted(V3::new(2.0, 2.0, 2.0))), &[8.0, 8.0]));
        let (all, corners) = shifted(V3::new(2.0, 2.0, 0.0));
        assert!(matches!(error_of(&all, &corners), MeshSolidError::Side { uses: 4, .. }));
    }
}
