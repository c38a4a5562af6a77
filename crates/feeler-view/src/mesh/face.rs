//! Triangulation of a face.

use super::Mesh;
use super::edges::LinePoint;
use super::grid::Axis;
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Rect, V3};
use feeler_hierarchy::Face;
use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use std::collections::HashSet;

/// Smallest distance of grid points from trims, in cells of the grid. Triangles at trims are longer with
/// a larger value; they are slivers with a smaller one.
const MIN_TRIM_DISTANCE: f64 = 0.3;
/// Largest distance between ends of trim pieces at which they count as one point, in cells of the grid.
/// Small features vanish with a larger value; the mesh has holes at trims with a smaller one, because
/// trim pieces meet only up to rounding.
const SAME_END_TOLERANCE: f64 = 1e-9;
/// Step to multiples of which positions in the plane are rounded, in cells of the grid, so that trims
/// that are straight up to rounding are straight. Positions are coarser with a larger value; there are
/// slivers next to trims with a smaller one.
const POSITION_STEP: f64 = 1e-11;

/// Triangulation of a face in a plane: the face's parameters, scaled so that the cells of the grid are
/// squares.
struct Plane<'a> {
    face: &'a Face,
    grid: &'a [Axis; 2],
    net: ConstrainedDelaunayTriangulation<Point2<f64>>,
    /// Parameters of the vertices on the face.
    uv: Vec<P2>,
    /// Positions of the vertices in space (mm).
    points: Vec<P3>,
    /// Positions in the plane of the corners of the parameter rectangle and of the ends of trim pieces.
    ends: Vec<Point2<f64>>,
    /// Sides of triangles on trims as pairs of vertex indices, directed so that the face's domain is to
    /// their left.
    borders: HashSet<(usize, usize)>,
    /// Number of chords of trims that were left out because they cross others.
    crossings: usize,
}

impl Plane<'_> {
    /// Inserts a vertex at the parameters `uv`. Its position in space is `point` if given, otherwise the
    /// point of the surface.
    fn insert(&mut self, uv: P2, point: Option<P3>) -> Result<FixedVertexHandle, String> {
        let at = self.place(uv);
        self.insert_at(at, uv, point)
    }

    /// Inserts the end of a trim piece at the parameters `uv`. An existing end or corner within rounding
    /// of it is reused, so that there is no gap between trim pieces.
    fn insert_end(&mut self, uv: P2, point: Option<P3>) -> Result<FixedVertexHandle, String> {
        let at = self.place(uv);
        let is_near = |p: &&Point2<f64>| (p.x - at.x).abs().max((p.y - at.y).abs()) <= SAME_END_TOLERANCE;
        let known = self.ends.iter().find(is_near).copied();
        if known.is_none() {
            self.ends.push(at);
        }
        self.insert_at(known.unwrap_or(at), uv, point)
    }

    fn place(&self, uv: P2) -> Point2<f64> {
        let [u, v] = self.grid;
        // Rounding avoids slivers between a trim and the border of the domain next to it.
        let rounded = |x: f64| (x / POSITION_STEP).round() * POSITION_STEP;
        Point2::new(rounded(u.pitch * u.position(uv.x)), rounded(v.pitch * v.position(uv.y)))
    }

    fn insert_at(&mut self, at: Point2<f64>, uv: P2, point: Option<P3>) -> Result<FixedVertexHandle, String> {
        let handle = self.net.insert(at).map_err(|e| format!("{e:?}"))?;
        let here = || self.face.surface.point(self.wrapped(uv));
        if handle.index() == self.uv.len() {
            let here = point.unwrap_or_else(here);
            self.uv.push(uv);
            self.points.push(here);
        } else if let Some(point) = point {
            self.points[handle.index()] = point;
        }
        Ok(handle)
    }

    /// Returns `uv` with a parameter at the upper end of its period replaced by the lower end, so that
    /// the points of both borders are equal to the bit.
    #[expect(clippy::float_cmp, reason = "lines of the grid are exactly on the borders")]
    fn wrapped(&self, uv: P2) -> P2 {
        let (trim, r) = (&self.face.trim, &self.face.trim.rect);
        let u = if trim.u_period.is_some() && uv.x == r.u1 { r.u0 } else { uv.x };
        let v = if trim.v_period.is_some() && uv.y == r.v1 { r.v0 } else { uv.y };
        P2::new(u, v)
    }

    fn add_line(&mut self, line: &[LinePoint]) -> Result<(), String> {
        let mut last: Option<FixedVertexHandle> = None;
        for (i, p) in line.iter().enumerate() {
            let is_end = i == 0 || i + 1 == line.len();
            let next =
                if is_end { self.insert_end(p.uv, Some(p.point)) } else { self.insert(p.uv, Some(p.point)) }?;
            if let Some(last) = last.filter(|last| *last != next) {
                let added = self.net.try_add_constraint(last, next);
                let ends: Vec<(usize, usize)> = added
                    .iter()
                    .map(|e| {
                        let e = self.net.directed_edge(*e);
                        (e.from().fix().index(), e.to().fix().index())
                    })
                    .collect();
                if ends.is_empty() && !self.net.exists_constraint(last, next) {
                    self.crossings += 1;
                }
                self.borders.extend(ends);
                self.borders.insert((last.index(), next.index()));
            }
            last = Some(next);
        }
        Ok(())
    }

    /// Inserts the grid points inside the trims.
    fn add_grid(&mut self) -> Result<(), String> {
        let trim = &self.face.trim;
        let [axis_u, axis_v] = self.grid;
        for &u in &axis_u.at {
            for &v in &axis_v.at {
                let uv = P2::new(u, v);
                // Points on the two borders of a period are tested at the same parameters, so either both or
                // none of them are inserted.
                let wrapped = self.wrapped(uv);
                let (hu, hv) = (axis_u.width(wrapped.x), axis_v.width(wrapped.y));
                let metric = [1.0 / (hu * hu), 0.0, 1.0 / (hv * hv)];
                if trim.classify(wrapped) == Side::Inside
                    && trim.nearest(wrapped, metric, MIN_TRIM_DISTANCE).is_none()
                {
                    self.insert(uv, None)?;
                }
            }
        }
        Ok(())
    }

    /// Whether each triangle is inside the trims, by the triangle's index. The trims divide the
    /// triangles into regions. The directions of the trims around a region decide, or the position of a
    /// point of the region if there are no trims.
    fn inside(&self) -> Vec<bool> {
        let n = self.net.num_all_faces();
        let mut region = vec![usize::MAX; n];
        let mut inside = vec![false; n];
        for start in self.net.inner_faces() {
            if region[start.fix().index()] != usize::MAX {
                continue;
            }
            let mut open = vec![start];
            let mut all = Vec::new();
            region[start.fix().index()] = start.fix().index();
            let mut votes = 0_i64;
            while let Some(face) = open.pop() {
                all.push(face);
                for edge in face.adjacent_edges() {
                    let ends = (edge.from().fix().index(), edge.to().fix().index());
                    let left = self.borders.contains(&ends);
                    let right = self.borders.contains(&(ends.1, ends.0));
                    votes += i64::from(left) - i64::from(right && !left);
                    if left || right {
                        continue;
                    }
                    if let Some(next) = edge.rev().face().as_inner()
                        && region[next.fix().index()] == usize::MAX
                    {
                        region[next.fix().index()] = start.fix().index();
                        open.push(next);
                    }
                }
            }
            let is_inside = if votes == 0 {
                let largest = all.iter().max_by(|a, b| a.area().total_cmp(&b.area())).unwrap_or(&start);
                let corners = largest.vertices().map(|v| self.uv[v.fix().index()]);
                let middle = corners.iter().fold(P2::origin(), |c, p| c + p.coords / 3.0);
                self.face.trim.classify(middle) == Side::Inside
            } else {
                votes > 0
            };
            all.iter().for_each(|f| inside[f.fix().index()] = is_inside);
        }
        inside
    }
}

/// Triangulates a face, adds the triangles to the mesh, and returns their largest distance from the
/// surface (mm). `lines` are the points of the face's trim pieces.
pub(super) fn add(
    mesh: &mut Mesh,
    (number, face): (usize, &Face),
    grid: &[Axis; 2],
    lines: &[Vec<LinePoint>],
) -> Result<f64, String> {
    let mut plane = Plane {
        face,
        grid,
        net: ConstrainedDelaunayTriangulation::new(),
        uv: Vec::new(),
        points: Vec::new(),
        ends: Vec::new(),
        borders: HashSet::new(),
        crossings: 0,
    };
    // With the corners, the triangulation covers the whole parameter rectangle.
    for corner in corners(&face.trim.rect) {
        plane.insert_end(corner, None)?;
    }
    lines.iter().try_for_each(|line| plane.add_line(line))?;
    plane.add_grid()?;
    mesh.crossings += plane.crossings;
    Ok(collect(mesh, number, &plane))
}

fn corners(r: &Rect) -> [P2; 4] {
    [P2::new(r.u0, r.v0), P2::new(r.u1, r.v0), P2::new(r.u1, r.v1), P2::new(r.u0, r.v1)]
}

/// Adds the triangles inside the trims to the mesh, as those of the face `number`, and returns their
/// largest distance from the surface (mm).
fn collect(mesh: &mut Mesh, number: usize, plane: &Plane<'_>) -> f64 {
    let mut off: f64 = 0.0;
    let face = plane.face;
    let count = |n: usize| u32::try_from(n).expect("fewer points than 2^32");
    let inside = plane.inside();
    // Mesh indices of the vertices that triangles use. Other vertices are left out, such as corners of
    // the parameter rectangle outside the trims.
    let mut index: Vec<Option<u32>> = vec![None; plane.points.len()];
    let mut add_vertex = |mesh: &mut Mesh, i: usize| {
        *index[i].get_or_insert_with(|| {
            mesh.points.push(plane.points[i]);
            mesh.normals.push(outward(face, plane.uv[i]));
            count(mesh.points.len() - 1)
        })
    };
    for triangle in plane.net.inner_faces().filter(|t| inside[t.fix().index()]) {
        let ids = triangle.vertices().map(|v| v.fix().index());
        let [a, b, c] = ids.map(|i| plane.points[i]);
        // At a pole, a side of the rectangle is a single point.
        if is_point(&[a, b, c]) {
            continue;
        }
        let [i, j, k] = ids.map(|i| add_vertex(mesh, i));
        mesh.triangles.push(if face.outward { [i, j, k] } else { [i, k, j] });
        mesh.faces.push(count(number));
        off = off.max(deviation(face, ids.map(|i| plane.uv[i]), [a, b, c]));
    }
    off
}

/// Whether two corners of a triangle coincide up to rounding.
fn is_point([a, b, c]: &[P3; 3]) -> bool {
    let sides = [(a - b).norm(), (b - c).norm(), (c - a).norm()];
    let longest = sides.iter().copied().fold(0.0, f64::max);
    sides.iter().any(|s| *s <= 1e-12 * longest)
}

fn outward(face: &Face, uv: P2) -> V3 {
    let n = face.surface.normal(uv);
    if face.outward { n } else { -n }
}

/// Largest distance (mm) of a triangle from the face's surface, measured at the triangle's centre and at
/// the midpoints of its sides. `uv` are the parameters of its corners, `points` their positions.
fn deviation(face: &Face, uv: [P2; 3], points: [P3; 3]) -> f64 {
    let weights = [[1.0 / 3.0; 3], [0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]];
    let off = |w: &[f64; 3]| {
        let q = (0..3).fold(P2::origin(), |q, k| q + uv[k].coords * w[k]);
        let p = (0..3).fold(P3::origin(), |p, k| p + points[k].coords * w[k]);
        let there = face.surface.point(face.surface.invert(&p, Some(q), None));
        (p - there).norm()
    };
    weights.iter().map(off).fold(0.0, f64::max)
}
