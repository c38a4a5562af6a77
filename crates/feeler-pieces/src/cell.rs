//! Cells: convex sets of points that contain small parts of a surface and can be cut by planes.

use crate::polygon::{HalfPlane, bounds, clipped, convex_polygon, trimmed};
use feeler_convex::Polytope;
use feeler_geom::trim::TrimCells;
use feeler_geom::{Frame, Obb, P2, P3, V2, V3};
use std::rc::Rc;

/// Number of points of a curved cell beyond which inner points are dropped and only edges of the hull are
/// cut. A larger value makes cuts slower, a smaller one cells.
const MAX_POINTS: usize = 16;

/// Point of the surface with its outward normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The point (mm).
    pub(crate) point: P3,
    /// Outward unit normal.
    pub(crate) normal: V3,
}

/// A plane that divides space, with the negative side `normal · p < offset`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// Unit normal of the plane.
    pub(crate) normal: V3,
    /// Product of the normal and the points of the plane (mm).
    pub(crate) offset: f64,
    /// Points within this distance of the plane (mm) count as being on it.
    pub(crate) tol: f64,
}

impl Cut {
    /// Signed distance of a point from the plane (mm).
    fn height(&self, p: &P3) -> f64 {
        self.normal.dot(&p.coords) - self.offset
    }
}

/// A convex set that contains a part of the surface.
#[derive(Clone, Debug)]
pub(crate) struct Cell<'a> {
    /// Index of the face, or of the triangle of a mesh.
    pub(crate) source: u32,
    /// Points whose hull contains the part of the surface (mm).
    pub(crate) points: Vec<P3>,
    /// Outward normal of the surface near the middle of the part; zero if it is not known.
    pub(crate) normal: V3,
    shape: Shape<'a>,
}

/// Data with which a cell is cut.
#[derive(Clone, Debug)]
enum Shape<'a> {
    /// A part of a plane, which is computed again after a cut.
    Planar(Planar<'a>),
    /// Edges of the polytope around a part of another surface, as indices of the cell's points.
    Curved(Vec<[u32; 2]>),
}

/// A part of a plane: the part of a trimmed domain in a convex polygon.
#[derive(Clone, Debug)]
struct Planar<'a> {
    frame: Frame,
    window: Vec<P2>,
    /// Domain of the face; `None` if the whole window belongs to the surface.
    trim: Option<&'a TrimCells>,
}

impl<'a> Cell<'a> {
    /// Creates a cell of a curved surface from points whose hull contains it.
    pub(crate) fn curved(source: u32, points: Vec<P3>, normal: V3) -> Self {
        let (points, edges) = hull_edges(points);
        Self { source, points, normal, shape: Shape::Curved(edges) }
    }

    /// Creates the cell of the part of a plane in the convex polygon `window` of its parameters. `tol`
    /// is the tolerance of trims (mm). Returns `None` if the part is empty.
    pub(crate) fn planar(
        source: u32,
        frame: Frame,
        window: &[P2],
        trim: Option<&'a TrimCells>,
        normal: V3,
        tol: f64,
    ) -> Option<Self> {
        let polygon = match trim {
            Some(trim) => trimmed(trim, window, tol),
            None => convex_polygon(window),
        };
        if polygon.is_empty() {
            return None;
        }
        let points = polygon.iter().map(|p| frame.point(p.x, p.y, 0.0)).collect();
        // The window shrinks with the part, which keeps its corners few.
        let window = if polygon.len() < 3 { window.to_vec() } else { polygon };
        let shape = Shape::Planar(Planar { frame, window, trim });
        Some(Self { source, points, normal, shape })
    }

    /// Returns the middle of the cell with its normal. It is a sample of the surface up to the thickness of
    /// the cell. `None` for a cell without a normal.
    pub(crate) fn sample(&self) -> Option<Sample> {
        let share = 1.0 / f64::from(u32::try_from(self.points.len()).unwrap_or(u32::MAX));
        let middle = self.points.iter().fold(V3::zeros(), |sum, p| sum + p.coords * share);
        let is_known = self.normal.norm_squared() > 0.5;
        is_known.then(|| Sample { point: P3::from(middle), normal: self.normal })
    }

    /// Divides the cell by a plane into its parts on the negative and on the positive side. Each part
    /// contains the cell's surface on its side of the plane.
    pub(crate) fn divided(self: &Rc<Self>, cut: &Cut) -> [Option<Rc<Self>>; 2] {
        let heights = || self.points.iter().map(|p| cut.height(p));
        let below = heights().any(|h| h < -cut.tol);
        let above = heights().any(|h| h > cut.tol);
        match (below, above) {
            (true, false) => [Some(Rc::clone(self)), None],
            (false, true) => [None, Some(Rc::clone(self))],
            // The material behind a surface in the plane is on the side opposite to its normal.
            (false, false) if self.normal.dot(&cut.normal) < 0.0 => [None, Some(Rc::clone(self))],
            (false, false) => [Some(Rc::clone(self)), None],
            (true, true) => self.split(cut).map(|part| part.map(Rc::new)),
        }
    }

    fn split(&self, cut: &Cut) -> [Option<Self>; 2] {
        let planar = match &self.shape {
            Shape::Planar(planar) => planar,
            Shape::Curved(edges) => {
                return [1.0, -1.0].map(|sign| {
                    let points = clipped_hull(&self.points, edges, cut, sign);
                    Some(Self::curved(self.source, points, self.normal))
                });
            }
        };
        let frame = &planar.frame;
        let normal = V2::new(cut.normal.dot(&frame.x), cut.normal.dot(&frame.y));
        let offset = cut.offset - cut.normal.dot(&frame.origin.coords);
        [1.0, -1.0].map(|sign| {
            let half = HalfPlane { normal: normal * sign, offset: offset * sign, tol: cut.tol };
            let window = clipped(&planar.window, &half);
            Self::planar(self.source, *frame, &window, planar.trim, self.normal, cut.tol)
        })
    }
}

/// Returns the vertices of the hull of points, with its edges as indices of vertices. Few points are
/// returned with all pairs of them; many coplanar points, whose hull has no edges, are replaced by their
/// box.
fn hull_edges(points: Vec<P3>) -> (Vec<P3>, Vec<[u32; 2]>) {
    if points.len() <= MAX_POINTS {
        let count = u32::try_from(points.len()).unwrap_or(u32::MAX);
        return (points, (0..count).flat_map(|i| (0..i).map(move |j| [j, i])).collect());
    }
    let hull = Polytope::new(&points).ok().filter(|hull| !hull.facets().is_empty());
    let Some(hull) = hull else { return hull_edges(Obb::fit(&points).corners().to_vec()) };
    let mut numbers: Vec<u32> = hull.facets().iter().flatten().copied().collect();
    numbers.sort_unstable();
    numbers.dedup();
    // A vertex is always found, because `numbers` lists the corners of all facets.
    let position = |i: u32| u32::try_from(numbers.binary_search(&i).unwrap_or(0)).unwrap_or(u32::MAX);
    // Each edge belongs to two facets, once in each direction.
    let sides = hull.facets().iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]);
    let edges = sides.filter(|[i, j]| i < j).map(|side| side.map(position)).collect();
    (hull.vertices().to_vec(), edges)
}

/// Returns points whose hull contains the part of a polytope, given by its points and edges, below the
/// plane (`sign` 1) or above it (−1).
fn clipped_hull(points: &[P3], edges: &[[u32; 2]], cut: &Cut, sign: f64) -> Vec<P3> {
    let heights: Vec<f64> = points.iter().map(|p| sign * cut.height(p)).collect();
    let kept = points.iter().zip(&heights).filter(|(_, h)| **h <= cut.tol);
    let mut out: Vec<P3> = kept.map(|(p, _)| *p).collect();
    for edge in edges {
        let [i, j] = edge.map(|i| i as usize);
        let (x, y) = (heights[i], heights[j]);
        if (x < 0.0 && y > 0.0) || (x > 0.0 && y < 0.0) {
            out.push(points[i] + (points[j] - points[i]) * (x / (x - y)));
        }
    }
    out
}

/// Extents of the parameters of points, as a tolerance scale.
pub(crate) fn width(polygon: &[P2]) -> f64 {
    let r = bounds(polygon);
    r.width().max(r.height())
}
