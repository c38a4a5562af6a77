//! Cells and samples of the surface of a solid, a grain or a mesh.

use crate::cell::{Cell, Sample, width};
use crate::error::PiecesError;
use crate::polygon::{bounds, convex_polygon, corners, trimmed};
use feeler_convex::ConvexShapeError;
use feeler_geom::trim::{Side, TrimCells};
use feeler_geom::{Aabb, P2, P3, Rect, Surface, V3};
use std::rc::Rc;

/// Maximum number of cells. A larger value takes more memory and time; with a smaller one fine
/// decompositions of large solids are refused.
pub(crate) const MAX_CELLS: usize = 50_000;

/// Thickness of a cell of a curved surface, and distance by which it exceeds the surface's trims, relative
/// to the requested convexity. A larger value leaves less for merging, a smaller one needs more cells.
const CELL_SHARE: f64 = 0.5;

/// Number of samples over the size of a solid. With a larger value measures take longer, with a smaller
/// one narrow concavities are missed.
const SAMPLES_PER_SIZE: f64 = 24.0;

/// Surface of a body, divided into cells, with samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skin<'a> {
    /// Cells that together contain the surface.
    pub(crate) cells: Vec<Rc<Cell<'a>>>,
    /// Samples of the surface.
    pub(crate) samples: Vec<Sample>,
}

/// A face: a part of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patch<'a> {
    /// Index of the face.
    pub(crate) source: u32,
    /// Surface of the face.
    pub(crate) surface: &'a Surface,
    /// Whether the outward normal is the natural one.
    pub(crate) outward: bool,
    /// Rectangle of parameters that contains the face.
    pub(crate) rect: Rect,
    /// Domain of the face; `None` if it is the whole rectangle.
    pub(crate) trim: Option<&'a TrimCells>,
}

/// Lengths by which a surface is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Requested convexity (mm).
    pub(crate) convexity: f64,
    /// Diagonal of the body's box (mm).
    pub(crate) size: f64,
    /// Tolerance of cuts (mm).
    pub(crate) tol: f64,
}

impl Patch<'_> {
    fn normal(&self, uv: P2) -> V3 {
        let n = self.surface.normal(uv);
        if self.outward { n } else { -n }
    }

    fn is_inside(&self, uv: P2) -> bool {
        self.trim.is_none_or(|trim| trim.classify(uv) == Side::Inside)
    }
}

impl<'a> Skin<'a> {
    /// Appends the cells and samples of a face.
    pub(crate) fn add(&mut self, patch: &Patch<'a>, scale: &Scale) -> Result<(), PiecesError> {
        if let Surface::Plane { frame } = patch.surface {
            let normal = patch.normal(patch.rect.center());
            let window = corners(&patch.rect);
            let cell = Cell::planar(patch.source, *frame, &window, patch.trim, normal, scale.tol);
            if let Some(cell) = cell {
                self.add_samples(patch, &patch.rect, scale);
                self.cells.push(Rc::new(cell));
            }
        } else {
            self.add_curved(patch, scale)?;
        }
        self.add_boundary_samples(patch, scale);
        Ok(())
    }

    /// Appends the cells of a curved face. Rectangles are halved until each is thin and follows the
    /// trims.
    fn add_curved(&mut self, patch: &Patch<'a>, scale: &Scale) -> Result<(), PiecesError> {
        let max_thickness = CELL_SHARE * scale.convexity;
        let mut open = vec![patch.rect];
        while let Some(rect) = open.pop() {
            let Some(rect) = tightened(patch, &rect) else { continue };
            let points = patch.surface.hull_points(&rect);
            if points.is_empty() {
                // Control points with such weights do not bound the surface.
                return Err(PiecesError::Hull(ConvexShapeError::Weight));
            }
            let extent = Aabb::of_points(&points).diagonal();
            let is_thin = thickness(patch, &rect) <= max_thickness;
            if is_thin && follows_trims(patch, &rect, max_thickness) || extent <= max_thickness {
                if self.cells.len() >= MAX_CELLS {
                    let (convexity, size) = (scale.convexity, scale.size);
                    return Err(PiecesError::TooManyCells { convexity, limit: MAX_CELLS, size });
                }
                let normal = patch.normal(rect.center());
                self.add_samples(patch, &rect, scale);
                self.cells.push(Rc::new(Cell::curved(patch.source, points, normal)));
            } else {
                open.extend(halves(patch, &rect, is_thin));
            }
        }
        Ok(())
    }

    /// Appends the samples of a grid over a rectangle that are inside the face.
    fn add_samples(&mut self, patch: &Patch<'_>, rect: &Rect, scale: &Scale) {
        let [along_u, along_v] = lengths(patch.surface, rect);
        let (nu, nv) = (count(along_u, scale.size), count(along_v, scale.size));
        for (s, t) in fractions(nu).flat_map(|s| fractions(nv).map(move |t| (s, t))) {
            let uv = P2::new(rect.u0 + s * rect.width(), rect.v0 + t * rect.height());
            if patch.is_inside(uv) {
                self.push_sample(patch.surface.point(uv), patch.normal(uv));
            }
        }
    }

    /// Appends samples on the trims of a face.
    fn add_boundary_samples(&mut self, patch: &Patch<'_>, scale: &Scale) {
        for piece in patch.trim.iter().flat_map(|trim| &trim.pieces) {
            let ends = [piece.start(), piece.end()].map(|uv| patch.surface.point(uv));
            for t in fractions(count((ends[1] - ends[0]).norm(), scale.size)) {
                let uv = piece.eval(t);
                self.push_sample(patch.surface.point(uv), patch.normal(uv));
            }
        }
    }

    fn push_sample(&mut self, point: P3, normal: V3) {
        if normal.norm_squared() > 0.5 && point.coords.iter().all(|c| c.is_finite()) {
            self.samples.push(Sample { point, normal });
        }
    }

    /// Appends the cell and the samples of a triangle.
    pub(crate) fn add_triangle(&mut self, source: u32, corners: [P3; 3], scale: &Scale) {
        let [a, b, c] = corners;
        let cross = (b - a).cross(&(c - a));
        let frame = feeler_geom::Frame::from_z(a, cross, Some(b - a));
        let cell = frame.and_then(|frame| {
            let flat = |p: P3| P2::new((p - a).dot(&frame.x), (p - a).dot(&frame.y));
            let window = convex_polygon(&[flat(a), flat(b), flat(c)]);
            let cell = Cell::planar(source, frame, &window, None, frame.z, scale.tol);
            cell.filter(|_| window.len() == 3 && width(&window) > 0.0)
        });
        let Some(cell) = cell else {
            // A triangle without area is a segment, which needs no samples.
            return self.cells.push(Rc::new(Cell::curved(source, corners.to_vec(), V3::zeros())));
        };
        let normal = cell.normal;
        self.cells.push(Rc::new(cell));
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let n = count(longest, scale.size);
        for (i, j) in (0..=n).flat_map(|i| (0..=n - i).map(move |j| (i, j))) {
            let (s, t) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
            self.push_sample(a + (b - a) * s + (c - a) * t, normal);
        }
    }
}

/// Number of intervals between samples along a length.
fn count(length: f64, size: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is clamped to a small positive range"
    )]
    let n = (SAMPLES_PER_SIZE * length / size).ceil().clamp(1.0, SAMPLES_PER_SIZE) as u32;
    n
}

/// Fractions of a length at which samples are: both ends, and a point in each of `n` intervals that is not
/// in its middle, because planes divide cells there.
fn fractions(n: u32) -> impl Iterator<Item = f64> {
    let inner = (0..n).map(move |k| (f64::from(k) + 0.38) / f64::from(n));
    std::iter::once(0.0).chain(inner).chain(std::iter::once(1.0))
}

/// Returns the smallest rectangle that contains the part of a face in a rectangle; `None` if it is empty.
fn tightened(patch: &Patch<'_>, rect: &Rect) -> Option<Rect> {
    let Some(trim) = patch.trim else { return Some(*rect) };
    let window = corners(rect);
    // Parameters have no common unit, so the tolerance is relative to the window.
    let polygon = trimmed(trim, &window, 1e-12 * width(&window));
    (!polygon.is_empty()).then(|| bounds(&polygon))
}

/// Extent (mm) of the hull of a surface over a rectangle along its normal in the middle; infinite if the
/// hull is unbounded.
fn thickness(patch: &Patch<'_>, rect: &Rect) -> f64 {
    let normal = patch.normal(rect.center());
    let points = patch.surface.hull_points(rect);
    let heights = points.iter().map(|p| p.coords.dot(&normal));
    let (lo, hi) = heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), h| (lo.min(h), hi.max(h)));
    (hi - lo).abs()
}

/// Whether each corner of a rectangle is inside the face, or within `max_excess` (mm) of its boundary.
fn follows_trims(patch: &Patch<'_>, rect: &Rect, max_excess: f64) -> bool {
    let Some(trim) = patch.trim else { return true };
    let is_near = |uv: P2| trim.nearest(uv, patch.surface.metric(uv), max_excess).is_some();
    rect.corners().into_iter().all(|uv| trim.classify(uv) == Side::Inside || is_near(uv))
}

/// Halves a rectangle: across its longer side if it is thin enough, otherwise in the parameter that
/// makes the halves thinner.
fn halves(patch: &Patch<'_>, rect: &Rect, is_thin: bool) -> [Rect; 2] {
    let c = rect.center();
    let in_u = [Rect { u1: c.x, ..*rect }, Rect { u0: c.x, ..*rect }];
    let in_v = [Rect { v1: c.y, ..*rect }, Rect { v0: c.y, ..*rect }];
    let [along_u, along_v] = lengths(patch.surface, rect);
    let thickest = |halves: &[Rect; 2]| halves.iter().map(|r| thickness(patch, r)).fold(0.0, f64::max);
    let (u, v) = if is_thin { (along_v, along_u) } else { (thickest(&in_u), thickest(&in_v)) };
    // Halving along a parameter without length makes no progress.
    let prefers_u = u < v || (u <= v && along_u >= along_v);
    let is_line = along_v <= 0.0;
    if is_line || (prefers_u && along_u > 0.0) { in_u } else { in_v }
}

/// Lengths (mm) of a surface along u and v through the middle of a rectangle, by chords.
fn lengths(surface: &Surface, rect: &Rect) -> [f64; 2] {
    let c = rect.center();
    let chords = |at: &dyn Fn(f64) -> P2| -> f64 {
        let points = [0.0, 0.25, 0.5, 0.75, 1.0].map(|s| surface.point(at(s)));
        points.windows(2).map(|p| (p[1] - p[0]).norm()).sum()
    };
    [
        chords(&|s| P2::new(rect.u0 + s * rect.width(), c.y)),
        chords(&|s| P2::new(c.x, rect.v0 + s * rect.height())),
    ]
}
