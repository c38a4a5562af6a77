//! Triangle meshes of prepared solids, for comparison with triangle engines.
//!
//! Each face is triangulated in its parameter plane: points along its trims and on a grid, spaced so that
//! chords stay within the chord error of the surface, and a Delaunay triangulation constrained to the trims.
//! Both sides of an edge are sampled by the same rule but not at the same points: cracks are as wide as the
//! chord error at most.
//!
//! # Source
//! Linear interpolation over a cell of `hu` by `hv` is off by at most
//! `(hu² |∂uu| + 2 hu hv |∂uv| + hv² |∂vv|) / 8`; only the parts along the normal move a triangle away from
//! its surface.
#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of cells and points of one face"
)]

use crate::Fallible;
use feeler_geom::trim::{Side, TrimPiece};
use feeler_geom::{P2, P3, Rect, Surface};
use feeler_hierarchy::{Face, Hierarchy};
use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};

/// Triangles, counter-clockwise from outside.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    /// Vertices (mm); faces do not share them.
    pub points: Vec<P3>,
    /// Indices of the corners.
    pub triangles: Vec<[u32; 3]>,
    /// Pieces of trims left out because their chords cross others.
    pub crossings: usize,
}

/// Longest cells, as a multiple of their width: where a surface is straight one way. Longer ones make fewer
/// triangles, but larger boxes.
const ASPECT: f64 = 4.0;
/// Samples of a face in each direction, for its curvature.
const SAMPLES: usize = 24;
/// Points of the grid keep this share of a cell from the trims.
const BERTH: f64 = 0.3;

/// A mesh no farther than about `chord` (mm) from the solid.
///
/// # Errors
/// A parameter that is not finite.
pub fn tessellate(solid: &Hierarchy, chord: f64) -> Fallible<Mesh> {
    let mut mesh = Mesh::default();
    for (i, face) in solid.faces.iter().enumerate() {
        add_face(&mut mesh, face, chord).map_err(|e| format!("face {i}: {e}"))?;
    }
    Ok(mesh)
}

impl Mesh {
    /// Corners of a triangle.
    #[must_use]
    pub fn corners(&self, triangle: [u32; 3]) -> [P3; 3] {
        triangle.map(|i| self.points[i as usize])
    }

    /// Area (mm²).
    #[must_use]
    pub fn area(&self) -> f64 {
        let one = |[a, b, c]: [P3; 3]| 0.5 * (b - a).cross(&(c - a)).norm();
        self.triangles.iter().map(|t| one(self.corners(*t))).sum()
    }

    /// Enclosed volume (mm³).
    #[must_use]
    pub fn volume(&self) -> f64 {
        let o = self.points.first().copied().unwrap_or_else(P3::origin);
        let one = |[a, b, c]: [P3; 3]| (a - o).dot(&(b - o).cross(&(c - o))) / 6.0;
        self.triangles.iter().map(|t| one(self.corners(*t))).sum()
    }
}

/// Where one direction of the grid has its lines.
struct Axis {
    /// Parameters, increasing.
    at: Vec<f64>,
    /// Size of a cell in the plane of the triangulation.
    pitch: f64,
}

impl Axis {
    /// Lines so dense that `step` holds everywhere; `steps` are those allowed in equal parts of `[lo, hi]`.
    fn new(lo: f64, hi: f64, steps: &[f64]) -> Self {
        let part = (hi - lo) / steps.len() as f64;
        let weights: Vec<f64> = steps.iter().map(|h| part / h).collect();
        let total: f64 = weights.iter().sum();
        let n = total.ceil().clamp(1.0, 1e4) as usize;
        let mut at = vec![lo];
        let (mut k, mut before) = (0, 0.0);
        for i in 1..n {
            let goal = total * i as f64 / n as f64;
            while k + 1 < weights.len() && before + weights[k] < goal {
                before += weights[k];
                k += 1;
            }
            at.push(lo + part * (k as f64 + (goal - before) / weights[k]));
        }
        at.push(hi);
        Self { at, pitch: 1.0 }
    }

    fn cells(&self) -> usize {
        self.at.len() - 1
    }

    fn cell(&self, x: f64) -> usize {
        self.at.partition_point(|a| *a <= x).clamp(1, self.cells()) - 1
    }

    fn width(&self, x: f64) -> f64 {
        let i = self.cell(x);
        self.at[i + 1] - self.at[i]
    }

    /// Cells from the first line to `x`.
    fn position(&self, x: f64) -> f64 {
        let i = self.cell(x);
        i as f64 + (x - self.at[i]) / (self.at[i + 1] - self.at[i])
    }
}

/// The grid of a face.
fn axes(surface: &Surface, rect: &Rect, chord: f64) -> [Axis; 2] {
    // Largest normal curvature and largest speed in each column and row.
    let (mut bend, mut speed) = ([[0.0_f64; SAMPLES]; 2], [[0.0_f64; SAMPLES]; 2]);
    for i in 0..SAMPLES {
        for j in 0..SAMPLES {
            let part = |k: usize| (k as f64 + 0.5) / SAMPLES as f64;
            let d =
                surface.derivs(P2::new(rect.u0 + part(i) * rect.width(), rect.v0 + part(j) * rect.height()));
            let n = d.du.cross(&d.dv).try_normalize(0.0).unwrap_or_default();
            let (lu, lv) = (d.du.norm(), d.dv.norm());
            // 2 hu hv |∂uv| ≤ |∂uv| (hu² s + hv² / s) for every s > 0; equal steps in space make the two
            // equal.
            let twist = n.dot(&d.duv).abs();
            let by = |s: f64| if twist > 0.0 { twist * s } else { 0.0 };
            bend[0][i] = bend[0][i].max(n.dot(&d.duu).abs() + by(lu / lv));
            bend[1][j] = bend[1][j].max(n.dot(&d.dvv).abs() + by(lv / lu));
            speed[0][i] = speed[0][i].max(lu);
            speed[1][j] = speed[1][j].max(lv);
        }
    }
    let largest = |x: &[f64]| x.iter().copied().fold(0.0, f64::max);
    let size = [rect.width(), rect.height()];
    let budget = 8.0 * chord;
    // A direction that one cell spans leaves its share of the error to the other.
    let whole = [0, 1].map(|k| largest(&bend[k]) * size[k] * size[k] / budget);
    let share = |k: usize| if whole[1 - k] < 0.1 { 1.0 - whole[1 - k] } else { 0.5 };
    let mut steps = [0, 1].map(|k| bend[k].map(|b| (budget * share(k) / b).sqrt().min(size[k])));
    let shortest = [0, 1].map(|k| {
        let each = steps[k].iter().zip(&speed[k]).map(|(h, s)| h * s);
        each.fold(f64::INFINITY, f64::min)
    });
    let flat = steps.iter().zip(size).all(|(s, size)| s.iter().all(|h| *h >= size));
    if !flat {
        for k in 0..2 {
            for (h, s) in steps[k].iter_mut().zip(&speed[k]) {
                *h = h.min(ASPECT * shortest[1 - k] / s);
            }
        }
    }
    let mut out = [Axis::new(rect.u0, rect.u1, &steps[0]), Axis::new(rect.v0, rect.v1, &steps[1])];
    if flat {
        for k in 0..2 {
            out[k].pitch = size[k] * largest(&speed[k]);
        }
    }
    out
}

/// Parameters along a piece of trim, so dense that chords stay within `chord` and within a cell.
fn along(piece: &TrimPiece, surface: &Surface, [u, v]: &[Axis; 2], chord: f64) -> Vec<P2> {
    const PARTS: usize = 16;
    let p: Vec<P3> = (0..=PARTS).map(|k| surface.point(piece.eval(k as f64 / PARTS as f64))).collect();
    let bend = p.windows(3).map(|w| (w[0] - w[1] + (w[2] - w[1])).norm()).fold(0.0, f64::max);
    let (a, b) = (piece.start(), piece.end());
    let cells = (u.position(a.x) - u.position(b.x)).abs().max((v.position(a.y) - v.position(b.y)).abs());
    let n = (PARTS as f64 * (bend / (8.0 * chord)).sqrt()).max(cells - 1e-9).ceil().clamp(1.0, 1e4) as usize;
    (0..=n).map(|k| piece.eval(k as f64 / n as f64)).collect()
}

/// A triangulation in the plane where cells are squares.
struct Plane<'a> {
    axes: &'a [Axis; 2],
    net: ConstrainedDelaunayTriangulation<Point2<f64>>,
    /// Parameters of the vertices.
    uv: Vec<P2>,
}

impl Plane<'_> {
    fn insert(&mut self, uv: P2) -> Fallible<FixedVertexHandle> {
        let [u, v] = self.axes;
        let at = Point2::new(u.pitch * u.position(uv.x), v.pitch * v.position(uv.y));
        let handle = self.net.insert(at).map_err(|e| format!("{e:?}"))?;
        if handle.index() == self.uv.len() {
            self.uv.push(uv);
        }
        Ok(handle)
    }
}

fn add_face(mesh: &mut Mesh, face: &Face, chord: f64) -> Fallible<()> {
    let (surface, trim) = (&face.surface, &face.trim);
    let rect = &trim.rect;
    if !(rect.width() > 0.0 && rect.height() > 0.0 && rect.width().is_finite() && rect.height().is_finite()) {
        return Err("its domain has no finite size".into());
    }
    let axes = axes(surface, rect, chord);
    let mut plane = Plane { axes: &axes, net: ConstrainedDelaunayTriangulation::new(), uv: Vec::new() };
    // With the corners the triangulation covers the whole rectangle.
    for corner in rect.corners() {
        plane.insert(corner)?;
    }
    for piece in &trim.pieces {
        let points = along(piece, surface, &axes, chord);
        let mut last = plane.insert(points[0])?;
        for p in &points[1..] {
            let next = plane.insert(*p)?;
            if last != next && !plane.net.exists_constraint(last, next) {
                if plane.net.can_add_constraint(last, next) {
                    plane.net.add_constraint(last, next);
                } else {
                    mesh.crossings += 1;
                }
            }
            last = next;
        }
    }
    for &u in &axes[0].at {
        for &v in &axes[1].at {
            let uv = P2::new(u, v);
            let (hu, hv) = (axes[0].width(u), axes[1].width(v));
            let metric = [1.0 / (hu * hu), 0.0, 1.0 / (hv * hv)];
            if trim.classify(uv) == Side::Inside && trim.nearest(uv, metric, BERTH).is_none() {
                plane.insert(uv)?;
            }
        }
    }
    collect(mesh, face, &plane);
    Ok(())
}

/// Adds the triangles inside the trims.
fn collect(mesh: &mut Mesh, face: &Face, plane: &Plane<'_>) {
    let first = mesh.points.len() as u32;
    mesh.points.extend(plane.uv.iter().map(|uv| face.surface.point(*uv)));
    for triangle in plane.net.inner_faces() {
        let ids = triangle.vertices().map(|v| v.fix().index());
        let centre = ids.iter().fold(P2::origin(), |c, &i| c + plane.uv[i].coords / 3.0);
        if face.trim.classify(centre) != Side::Inside {
            continue;
        }
        let [a, b, c] = ids.map(|i| first + i as u32);
        let [p, q, r] = mesh.corners([a, b, c]);
        // At a pole a side of the rectangle is one point.
        if (q - p).cross(&(r - p)).norm() > 1e-12 * (q - p).norm_squared().max((r - p).norm_squared()) {
            mesh.triangles.push(if face.outward { [a, b, c] } else { [a, c, b] });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Area and volume of the exact solid, and samples of the triangles on its surfaces.
    fn check(name: &str, chord: f64) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{name}.step"));
        let model = crate::prepare(&file).unwrap();
        let solid = &model.solids[0];
        let mesh = tessellate(solid, chord).unwrap();
        assert_eq!(mesh.crossings, 0, "{name}: trims cross");
        let (area, volume) = (solid.info.area, solid.info.volume);
        assert!(mesh.triangles.iter().flatten().all(|i| (*i as usize) < mesh.points.len()), "{name}: index");
        // A layer as thick as the error, on all of the boundary.
        assert!(
            (mesh.volume() - volume).abs() < chord * area,
            "{name}: volume {} of {volume}",
            mesh.volume()
        );
        assert!((mesh.area() - area).abs() < 0.05 * area, "{name}: area {} of {area}", mesh.area());
        let fine = tessellate(solid, 0.01 * chord).unwrap();
        assert!(
            (fine.volume() - volume).abs() < 0.01 * chord * area,
            "{name}: volume {} of {volume}",
            fine.volume()
        );
        assert!((fine.area() - area).abs() < 0.002 * area, "{name}: area {} of {area}", fine.area());
        let mut first = 0;
        for face in &solid.faces {
            let mut own = Mesh::default();
            add_face(&mut own, face, chord).unwrap();
            for t in &own.triangles {
                let [a, b, c] = own.corners(*t);
                let middle = P3::from((a.coords + b.coords + c.coords) / 3.0);
                for p in
                    [middle, nalgebra::center(&a, &b), nalgebra::center(&b, &c), nalgebra::center(&c, &a)]
                {
                    let off = (face.surface.point(face.surface.invert(&p, None, None)) - p).norm();
                    assert!(off < 1.5 * chord, "{name}: {off} of {chord} off face of {:?}", face.sources);
                }
            }
            first += own.triangles.len();
        }
        assert_eq!(first, mesh.triangles.len(), "{name}: triangles of the faces");
    }

    #[test]
    fn meshes_are_near_their_solids() {
        for name in [
            "box",
            "cylinder",
            "cone",
            "half-cone",
            "sphere",
            "sphere-without-edges",
            "torus",
            "bore",
            "loft",
            "swept",
            "wave",
            "void",
            "race",
            "spool",
            "bayonet-plug",
            "bayonet-socket",
            "perforated-plate",
            "torus-nurbs",
            "stepped-seat",
        ] {
            check(name, 0.05);
        }
    }
}
