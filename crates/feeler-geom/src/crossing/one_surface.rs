//! Proof that faces of one free-form surface do not cross.
//!
//! A part that was cut from a block, or cast in a mould, has the same surface as its counterpart, whatever
//! the parameters of both. Then the question is whether *one* surface comes near itself: a crossing at a
//! depth needs two points of this surface whose chord is nearly normal to it, as short as the depth. This is
//! decided once for the whole face, also at poles, where the parameters are singular.
//!
//! # Source
//! MATH §15, *Faces of one surface*.

use super::follow::{FollowScratch, Map, Net, Pair, separation};
use super::{Local, Patch, halves};
use crate::bezier::{BezierSurface, Part};
use crate::chebyshev::{MAX_NODES, chebyshev};
use crate::{P2, P3, Rect, Surface, V3};
use arrayvec::ArrayVec;
use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::f64::consts::SQRT_2;
use std::sync::OnceLock;

/// Maximum number of cells of the first patches that are examined for their distance from the second surface.
/// With a larger value faces that are not of one surface take longer; with a smaller one faces with many
/// pieces are not recognised.
pub const MAX_FACE_CELLS: usize = 40_000;
/// Maximum number of pairs of cells of the surface that are examined. With a larger value surfaces that come
/// near themselves take longer; with a smaller one surfaces with many poles or bends are not recognised.
const MAX_PAIRS: usize = 200_000;
/// Accepted distance of the first face from the second surface, as a part of the smaller depth; below 1.
/// With a larger value the surface must be flatter near itself; with a smaller one the proof holds for
/// smaller motions.
const MAX_DISTANCE: f64 = 0.5;
/// Length by which an image may leave its Bézier patch, as a part of the accepted distance, to which it is
/// added. With a larger value bounds are looser; with a smaller one cells at borders of patches are divided
/// without end, because of rounding.
const MAX_EXCESS: f64 = 0.05;
/// Largest ratio of a derivative in a cell to that in its middle, for the part of an image beyond its patch.
/// A larger value makes bounds looser; a smaller one could be too small beside poles.
const EXCESS_FACTOR: f64 = 4.0;
/// Maximum sine of the angle between the normals of both surfaces in the middle of a cell: surfaces at a
/// larger angle cross. With a larger value faces that end near a crossing count as one surface; with a
/// smaller one fitted splines do not.
const MAX_TILT: f64 = 0.1;
/// Largest part of the map between the parameters that mixes both, as a part of the rest, in cells that are
/// large. With a larger value surfaces with rotated parameters take longer; with a smaller one parts with
/// poles that are moved are not recognised.
const MAX_MIXING: f64 = 0.3;
/// Size of small cells, as a multiple of the accepted distance: parameters may be mixed, and distances of
/// corresponding points are accepted. A larger value makes failures slower; a smaller one fails near poles of
/// parts that are moved.
const SMALL_CELL: f64 = 32.0;
/// Distance of the nearest point from the corresponding one, as a multiple of that of the points, up to which
/// the surface has to be smooth. With a larger value cells near borders are smaller; with a smaller one
/// nearest points are not found where the parameters are stretched.
const MAX_SHIFT: f64 = 2.0;
/// Distance of corresponding points, as a part of the accepted one, beyond which its component along the
/// normals is bounded. With a larger value the proof holds for smaller motions; with a smaller one it takes
/// longer.
const MAX_DIRECT: f64 = 0.5;
/// Largest distance of corresponding points due to the curvature, as a part of the accepted distance. With a
/// larger value the proof holds for smaller motions; with a smaller one cells are smaller.
const MAX_BULGE: f64 = 0.25;
/// Change of the derivatives over a cell, relative to them, above which it is cut across the parameter of
/// largest change, as beside poles. With a larger value more cells are needed there; with a smaller one
/// beside borders.
const MIN_BEND: f64 = 0.5;
/// Maximum sine of the angle between normals of a rectangle and their mean. The bound of the difference of
/// unit vectors holds up to this value.
const MAX_SINE: f64 = 0.5;
/// Smallest part of a cell that is cut off along a border. With a larger value cells are halved instead; with
/// a smaller one slivers are cut off in vain.
const MIN_CUT: f64 = 1e-9;
/// Width of a part of a rectangle, relative to the domain, that is due to the rounding of parameters. With a
/// larger value narrow patches are ignored; with a smaller one rectangles overlap patches by rounding.
const SLIVER: f64 = 1e-14;
/// Minimum ratio of the distance of two points to that of their parameters (as lengths), relative to that in
/// the middle. With a larger value cells are smaller; with a smaller one their chords are bounded loosely.
const MIN_STRETCH: f64 = 0.1;
/// Maximum number of Bézier patches that the rectangle around two cells may overlap. A larger value needs
/// more stack; with a smaller one cells at corners of narrow patches are divided more often.
const MAX_PIECES: usize = 16;

/// Accepted distance (mm) of a face from the surface of another one, if crossings count between the two
/// depths (mm, positive, ascending).
#[must_use]
pub fn distance_on_one_surface(depth: [f64; 2]) -> f64 {
    MAX_DISTANCE * depth[0]
}

/// Bounds of the derivatives and of the continuity of a spline surface, which are computed when they are
/// first needed. They are valid for this surface only, in all poses.
#[derive(Clone, Debug, Default)]
pub struct SurfaceBounds(OnceLock<PieceBounds>);

/// Bounds of all pieces of a spline surface.
#[derive(Clone, Debug)]
struct PieceBounds {
    /// Bounds of the third derivatives over each Bézier patch; the second index, of v, varies fastest.
    thirds: Vec<[f64; 4]>,
    /// Continuity at the start of each piece along u, and along v.
    joints: [Vec<Joint>; 2],
}

impl SurfaceBounds {
    fn of(&self, spline: &BezierSurface) -> &PieceBounds {
        self.0.get_or_init(|| {
            let (nu, nv) = spline.n_patches();
            let third = |i: usize| {
                let balls = spline.third_derivatives(&spline.patch_rect((i / nv, i % nv)));
                balls.map(|ball| ball.norm())
            };
            let joints = [true, false].map(|of_u| {
                let n = if of_u { nu } else { nv };
                (0..n).map(|k| Joint::new(spline, of_u, k)).collect()
            });
            PieceBounds { thirds: (0..nu * nv).map(third).collect(), joints }
        })
    }
}

/// Returns an upper bound (mm) of the distances of the points of `first`, patches in the frame of `second`,
/// from the surface `second`. `None` if it exceeds `limit` (mm), if that is not proved, or if a surface is
/// not a spline. `bounds` are those of `second`; `left` is the number of cells that may still be examined, at
/// most [`MAX_FACE_CELLS`] for a face; `hint` are parameters of `second` near those of the point nearest to
/// the middle of the first patch, if they are known. Adds rectangles of the parameters of `second` to
/// `images`, each in one Bézier patch up to rounding. They contain a point of `second` within the bound for
/// each point of `first`.
pub fn distance_from_surface(
    first: &[Patch<'_>],
    (second, bounds): (&Surface, &SurfaceBounds),
    hint: Option<P2>,
    limit: f64,
    images: &mut Vec<Rect>,
    left: &mut usize,
) -> Option<f64> {
    let Surface::Bezier(surface) = second else { return None };
    let mut scratch = FollowScratch::default();
    // Only its derivatives are needed, and only for parameters that are not affine.
    let chords = OnceCell::new();
    let chords = || chords.get_or_init(|| Chords::new((second, surface, bounds), [limit; 2]));
    let mut largest = 0.0_f64;
    for patch in first {
        let found = (&mut *images, &mut *left);
        largest = largest.max(distance_of_patch(
            (patch, hint),
            (second, surface),
            limit,
            found,
            (&chords, &mut scratch),
        )?);
    }
    Some(largest)
}

/// Whether no point z of `ends` (rectangles of the parameters, each in one Bézier patch; `None`: the whole
/// surface) comes near a depth of a point y of `starts`, patches of the same spline surface in its own frame:
/// for no t between the two values of `depth` (mm), |z − y ± t n(y)| is at most [`distance_on_one_surface`].
/// `false` also if this is not proved.
///
/// If the points of another face are within that distance of the surface, none of them lies between the two
/// depths behind `starts`, or in front of them.
#[must_use]
pub fn is_clear_of_itself(
    starts: &[Patch<'_>],
    ends: Option<&[Rect]>,
    depth: [f64; 2],
    bounds: &SurfaceBounds,
) -> bool {
    let Some(surface) = starts.first().map(|patch| patch.surface) else { return true };
    let Surface::Bezier(spline) = surface else { return false };
    let chords = Chords::new((surface, spline, bounds), depth);
    let (nu, nv) = spline.n_patches();
    let whole = || (0..nu * nv).map(|i| spline.patch_rect((i / nv, i % nv))).collect::<Vec<_>>();
    chords.are_excluded(starts, &ends.map_or_else(whole, <[Rect]>::to_vec))
}

/// [`distance_from_surface`] for one patch. `left` is the number of cells that may still be examined.
fn distance_of_patch<'a>(
    (first, hint): (&Patch<'_>, Option<P2>),
    (second, surface): (&'a Surface, &BezierSurface),
    limit: f64,
    (images, left): (&mut Vec<Rect>, &mut usize),
    (chords, scratch): (&dyn Fn() -> &'a Chords<'a>, &mut FollowScratch),
) -> Option<f64> {
    let net_a = Net::new(first)?;
    let mut pending = vec![(first.rect, hint)];
    let mut largest = 0.0_f64;
    while let Some((cell, hint)) = pending.pop() {
        if *left == 0 {
            return None;
        }
        *left -= 1;
        let from = cell.center();
        let da = net_a.derivs(from);
        let to = hint
            .and_then(|hint| near_parameters(surface, &da.p, hint, limit))
            .unwrap_or_else(|| second.invert(&da.p, None, None));
        let net_b = Net::of(surface, surface.patch(to), None);
        let db = net_b.derivs(to);
        let off = (da.p - db.p).norm();
        let tilt = da.du.cross(&da.dv).normalize().cross(&db.du.cross(&db.dv).normalize()).norm();
        let sizes = [da.du.norm() * cell.width(), da.dv.norm() * cell.height()];
        let (is_wide, is_large) = (sizes[0] > sizes[1], sizes[0].max(sizes[1]) > SMALL_CELL * limit);
        // Comparisons are such that values that are not numbers prove nothing.
        let is_near = off <= limit && (tilt <= MAX_TILT || !is_large);
        if !is_near {
            return None;
        }
        let radius = first.local(&cell).radius();
        // Larger cells may have a smaller bound.
        let is_tiny = off + radius <= MAX_DIRECT * limit || radius <= 0.5 * MAX_DIRECT * limit;
        if is_tiny && off + radius <= (1.0 - MAX_EXCESS) * limit {
            largest = largest.max(off + radius);
            images.push(Rect { u0: to.x, u1: to.x, v0: to.y, v1: to.y });
            continue;
        }
        if radius <= MAX_EXCESS * limit {
            // Smaller cells would not be nearer.
            return None;
        }
        let Some((map, mixing)) = Map::aligned(from, to, &da, &db) else {
            pending.extend(halves(&cell, is_wide).map(|half| (half, Some(to))));
            continue;
        };
        // Near poles, parameters of parts that are moved are mixed in cells as small as this motion.
        if mixing > MAX_MIXING && is_large {
            return None;
        }
        let with_hint = |part: Rect| (part, Some(map.apply(part.center())));
        let (image, piece) = (map.image(&cell), surface.patch_rect(net_b.patch));
        let slack = [&db.du, &db.dv].map(|d| MAX_EXCESS * limit / (EXCESS_FACTOR * d.norm()));
        if let Some(parts) = cut_at_border((&cell, &map), (&image, &piece), slack) {
            pending.extend(parts.map(with_hint));
            continue;
        }
        // The polynomial beyond the patch is not the surface.
        let beyond = |low: f64, high: f64, d: &V3| EXCESS_FACTOR * d.norm() * low.max(high).max(0.0);
        let excess = beyond(piece.u0 - image.u0, image.u1 - piece.u1, &db.du)
            + beyond(piece.v0 - image.v0, image.v1 - piece.v1, &db.dv);
        let direct = map.distance(&net_a, &net_b, &image).map(|distance| distance + excess);
        let mut found = direct.filter(|distance| *distance <= MAX_DIRECT * limit);
        let mut unbounded = Unbounded::Far;
        if let (None, Some(direct)) = (found, direct) {
            let cells = [(&net_a, &cell), (&net_b, &image)];
            match chords().off_surface(first, cells, &map, (direct, limit - excess), scratch) {
                Ok((bound, nearest)) => {
                    images.extend(nearest.iter().map(|cell| cell.rect));
                    found = Some(bound + excess);
                }
                // Smaller cells would hardly be nearer.
                Err(_) if direct <= limit && (off > 0.5 * MAX_DIRECT * limit || !is_large) => {
                    found = Some(direct);
                }
                Err(reason) => unbounded = reason,
            }
        }
        let Some(distance) = found else {
            let by_error = || {
                let [of_u, of_v] = errors_at_sides([&net_a, &net_b], &map, &cell);
                of_u > of_v || of_u >= of_v && is_wide
            };
            let across_u =
                unbounded.is_bent_along_u().map_or_else(by_error, |of_u| of_u == map.is_straight());
            pending.extend(halves(&cell, across_u).map(with_hint));
            continue;
        };
        largest = largest.max(distance);
        images.push(image.intersection(&piece));
    }
    Some(largest)
}

/// Parameters, wrapped into the domain, of a point of a surface at a distance of at most `limit` (mm) from
/// `p`: a local minimum of the distance near `hint`. `None` if none is found inside the domain.
fn near_parameters(surface: &BezierSurface, p: &P3, hint: P2, limit: f64) -> Option<P2> {
    let domain = surface.domain();
    let is_inside = |uv: P2| {
        (surface.u_periodic || domain.u0 < uv.x && uv.x < domain.u1)
            && (surface.v_periodic || domain.v0 < uv.y && uv.y < domain.v1)
    };
    let (uv, distance) = surface.descend(p, hint)?;
    (distance <= limit && is_inside(uv)).then(|| surface.wrapped(uv))
}

/// Largest distances (mm) of corresponding points in the middles of the sides of a cell of the first patch:
/// of those across u, and of those across v.
fn errors_at_sides([net_a, net_b]: [&Net<'_>; 2], map: &Map, cell: &Rect) -> [f64; 2] {
    let &Rect { u0, u1, v0, v1 } = cell;
    let middle = cell.center();
    let at = |u: f64, v: f64| {
        let uv = P2::new(u, v);
        (net_a.derivs(uv).p - net_b.derivs(map.apply(uv)).p).norm()
    };
    [at(u0, middle.y).max(at(u1, middle.y)), at(middle.x, v0).max(at(middle.x, v1))]
}

/// Cuts a cell along the preimage of that border of a Bézier patch beyond which its image extends most, in
/// units of `slack` (parameters). `None` if the image extends beyond no border by more than `slack`.
fn cut_at_border(
    (cell, map): (&Rect, &Map),
    (image, piece): (&Rect, &Rect),
    slack: [f64; 2],
) -> Option<[Rect; 2]> {
    let along_u = [(piece.u0 - image.u0, piece.u0), (image.u1 - piece.u1, piece.u1)];
    let along_v = [(piece.v0 - image.v0, piece.v0), (image.v1 - piece.v1, piece.v1)];
    let sides = along_u.map(|(beyond, at)| (beyond / slack[0], 0, at));
    let others = along_v.map(|(beyond, at)| (beyond / slack[1], 1, at));
    let (beyond, k, at) = sides.into_iter().chain(others).max_by(|a, b| a.0.total_cmp(&b.0))?;
    if beyond <= 1.0 {
        return None;
    }
    let across_u = (k == 0) == map.is_straight();
    let i = usize::from(!across_u);
    let cut = map.from[i] + (at - map.to[k]) / map.linear[(k, i)];
    let [low, high] = if across_u { [cell.u0, cell.u1] } else { [cell.v0, cell.v1] };
    let least = MIN_CUT * (high - low);
    let is_inside = cut - low > least && high - cut > least;
    let cut = if is_inside { cut } else { 0.5 * (low + high) };
    Some(if across_u {
        [Rect { u1: cut, ..*cell }, Rect { u0: cut, ..*cell }]
    } else {
        [Rect { v1: cut, ..*cell }, Rect { v0: cut, ..*cell }]
    })
}

/// Why heights along the normals do not bound the distance of a cell from a surface.
#[derive(Clone, Copy)]
enum Unbounded {
    /// The distances of corresponding points, or those along the normals, are too large, or the surface is
    /// not smooth.
    Far,
    /// The derivatives change too much over the cell, or it is beside a border of the surface: relative
    /// changes of the derivatives along u and along v of the surface.
    Bent([f64; 2]),
}

impl Unbounded {
    /// Reason for a cell of the surface whose derivatives are bounded by `local`; `scale` are the lengths of
    /// the first ones.
    fn bent(local: &Local, scale: [f64; 2]) -> Self {
        let Local { suu, suv, svv, hu, hv, .. } = local;
        let change = |of_u: f64, of_v: f64| of_u / scale[0] + of_v / scale[1];
        Self::Bent([change(*suu, *suv) * hu, change(*suv, *svv) * hv])
    }

    /// Whether the derivatives change more along u than along v of the surface. `None` if they change little.
    fn is_bent_along_u(&self) -> Option<bool> {
        match self {
            Self::Bent([of_u, of_v]) if of_u.max(*of_v) > MIN_BEND => Some(of_u > of_v),
            _ => None,
        }
    }
}

/// Chords of a surface from a point y to a point z that is nearly at a depth behind y, or in front of it:
/// |z − y ± t n(y)| is at most `limit` for a depth t between the two of `depth`.
struct Chords<'a> {
    surface: &'a Surface,
    spline: &'a BezierSurface,
    bounds: &'a PieceBounds,
    /// Bounds of the third derivatives over cells, by the bits of their rectangles.
    refined: RefCell<HashMap<[u64; 4], [f64; 4]>>,
    limit: f64,
    depth: [f64; 2],
}

/// Maximum difference of the first derivatives on both sides of a line between two pieces, relative to them,
/// that is due to rounding. With a larger value steps of the derivatives are ignored; with a smaller one
/// smooth surfaces are divided into smaller cells.
const MAX_STEP: f64 = 1e-9;
/// Largest ratio of the gap along a line between two pieces to that at the nodes and ends. A larger value
/// makes bounds looser; a smaller one could be too small between the nodes.
const GAP_FACTOR: f64 = 2.0;

/// Continuity of a surface across the line at the start of a piece along u or v.
#[derive(Clone, Copy, Debug)]
struct Joint {
    /// Distance (mm) of both sides; closed surfaces and splines with multiple knots may have one.
    gap: f64,
    /// Whether the first derivatives are continuous.
    is_smooth: bool,
}

impl Joint {
    /// Continuity at the start of piece `k` along u (if `of_u`) or v.
    fn new(spline: &BezierSurface, of_u: bool, k: usize) -> Self {
        let (nu, nv) = spline.n_patches();
        let (n, across, degree, periodic) = if of_u {
            (nu, nv, spline.v_degree, spline.u_periodic)
        } else {
            (nv, nu, spline.u_degree, spline.v_periodic)
        };
        if k == 0 && !periodic {
            // A border of the surface, which no rectangle crosses.
            return Self { gap: f64::INFINITY, is_smooth: false };
        }
        let before = (k + n - 1) % n;
        // Differences, multiplied by the squared weights, are polynomials of twice the degree along the line.
        let nodes = &chebyshev((2 * degree as usize + 1).min(MAX_NODES)).nodes;
        let piece = |i: usize, j: usize| if of_u { (i, j) } else { (j, i) };
        let mut joint = Self { gap: 0.0, is_smooth: true };
        for j in 0..across {
            let (left, right) = (piece(before, j), piece(k, j));
            let (l, r) = (spline.patch_rect(left), spline.patch_rect(right));
            for x in nodes.iter().chain(&[-1.0, 1.0]) {
                let along = |low: f64, high: f64| 0.5 * (low + high) + 0.5 * (high - low) * x;
                let (end, start) = if of_u {
                    (P2::new(l.u1, along(l.v0, l.v1)), P2::new(r.u0, along(r.v0, r.v1)))
                } else {
                    (P2::new(along(l.u0, l.u1), l.v1), P2::new(along(r.u0, r.u1), r.v0))
                };
                let (a, b) = (spline.patch_derivs(left, end), spline.patch_derivs(right, start));
                joint.gap = joint.gap.max(GAP_FACTOR * (a.p - b.p).norm());
                // Along a gap of varying width, the derivatives along the line differ, too.
                let size = a.du.norm() + a.dv.norm() + b.du.norm() + b.dv.norm();
                let (across, along) =
                    if of_u { (a.du - b.du, a.dv - b.dv) } else { (a.dv - b.dv, a.du - b.du) };
                let across_size = if of_u { a.du.norm() + b.du.norm() } else { a.dv.norm() + b.dv.norm() };
                joint.is_smooth &= across.norm() <= MAX_STEP * across_size && along.norm() <= MAX_STEP * size;
            }
        }
        joint
    }
}

/// Cell of a surface in one Bézier patch.
#[derive(Clone, Copy)]
struct Cell {
    rect: Rect,
    /// Axis and sine of the cone of normals, as in [`Patch::cone`].
    cone: (V3, f64),
    /// Bounds of the third derivatives over the rectangle `valid_for`, which contains `rect`.
    third: [f64; 4],
    valid_for: Rect,
}

/// Area of a cell, as a part of the rectangle of its bounds of third derivatives, below which they may be
/// computed anew. With a larger value bounds are computed more often; with a smaller one cells near poles,
/// where the derivatives by the angle decrease with the distance, have loose bounds.
const MAX_REFINEMENT: f64 = 0.1;
/// Change of the first derivatives over a cell, relative to them, due to the third derivatives, above which
/// these are bounded anew. With a larger value cells have looser bounds; with a smaller one bounds are
/// computed more often.
const MIN_CHANGE: f64 = 0.05;
/// Smallest ratio of distances to those of parameters, relative to that in the middle, of the cells into
/// which the surface is divided at first. A larger value gives more cells; with a smaller one more of them
/// are near each other.
const MIN_FLATNESS: f64 = 0.6;
/// Part of a Bézier patch below which cells are not divided at first. A larger value gives large cells at
/// poles; a smaller one gives more cells there.
const MIN_FLAT_CELL: f64 = 1e-2;

impl<'a> Chords<'a> {
    fn new(
        (surface, spline, bounds): (&'a Surface, &'a BezierSurface, &'a SurfaceBounds),
        depth: [f64; 2],
    ) -> Self {
        let (bounds, limit) = (bounds.of(spline), distance_on_one_surface(depth));
        Self { surface, spline, bounds, refined: RefCell::default(), limit, depth }
    }

    /// Largest length (mm) of such a chord.
    fn longest(&self) -> f64 {
        self.depth[1] + self.limit
    }

    /// Whether it is proved that no such chord starts at a point of `starts` and ends at a point of the
    /// rectangles `ends`, each of which is in one Bézier patch.
    fn are_excluded(&self, starts: &[Patch<'_>], ends: &[Rect]) -> bool {
        let ball = |local: &Local| (local.p, local.radius());
        let ends = self.flat_cells(ends);
        let mut pending: Vec<[Cell; 2]> = Vec::new();
        let mut left = MAX_PAIRS;
        starts.iter().all(|start| {
            let mut cell = self.start(start);
            let (p, radius) = ball(&self.refined(&mut cell));
            let near = ends.iter().filter(|(_, (q, of_end))| {
                let gap = (p - q).norm() - radius - of_end;
                // Also for values that are not numbers.
                !matches!(gap.partial_cmp(&self.longest()), Some(Ordering::Greater))
            });
            pending.extend(near.map(|(end, _)| [cell, *end]));
            while let Some(pair) = pending.pop() {
                if left == 0 {
                    return false;
                }
                left -= 1;
                if let Some(halves) = self.cut(pair) {
                    pending.extend(halves);
                }
            }
            true
        })
    }

    /// Divides rectangles, each of which is in one Bézier patch, into cells over which the derivatives change
    /// little, each with a ball that contains it. Cells near poles are not divided further than into a
    /// hundredth of their Bézier patch.
    fn flat_cells(&self, rects: &[Rect]) -> Vec<(Cell, (P3, f64))> {
        let mut out = Vec::new();
        let mut pending: Vec<Cell> =
            rects.iter().map(|rect| self.cell(self.spline.patch(rect.center()), *rect)).collect();
        let smallest = |cell: &Cell| {
            let piece = self.spline.patch_rect(self.spline.patch(cell.rect.center()));
            MIN_FLAT_CELL * piece.width() * piece.height()
        };
        while let Some(mut cell) = pending.pop() {
            let local = self.refined(&mut cell);
            let stretch = Stretch::new(&local).map_or(0.0, |stretch| stretch.least(&[local]) / stretch.least);
            if stretch >= MIN_FLATNESS || cell.rect.width() * cell.rect.height() <= smallest(&cell) {
                out.push((cell, (local.p, local.radius())));
            } else {
                pending.extend(halves_of(&cell, &local));
            }
        }
        out
    }

    /// Cell over the rectangle of a patch, shifted by periods into the domain.
    fn start(&self, patch: &Patch<'_>) -> Cell {
        let Rect { u0, u1, v0, v1 } = patch.rect;
        let middle = patch.rect.center();
        let shift = self.spline.wrapped(middle) - middle;
        let rect = Rect { u0: u0 + shift.x, u1: u1 + shift.x, v0: v0 + shift.y, v1: v1 + shift.y };
        let index = self.spline.patch(middle);
        Cell { cone: patch.cone, ..self.cell(index, rect.intersection(&self.spline.patch_rect(index))) }
    }

    /// Cell over a rectangle inside a Bézier patch, without a cone of normals.
    fn cell(&self, (i, j): (usize, usize), rect: Rect) -> Cell {
        let third = self.bounds.thirds[i * self.spline.n_patches().1 + j];
        let whole = self.spline.patch_rect((i, j));
        Cell { rect, cone: (V3::zeros(), 1.0), third, valid_for: whole }
    }

    fn local(&self, cell: &Cell) -> Local {
        let &Cell { rect, cone, third, .. } = cell;
        Patch { surface: self.surface, outward: true, pose: None, rect, third, cone }.local(&rect)
    }

    /// Halves one of the two cells and returns both pairs. `None` if it is proved that no chord leads from
    /// the first to the second cell.
    fn cut(&self, [mut y, mut z]: [Cell; 2]) -> Option<[[Cell; 2]; 2]> {
        let (ly, lz) = (self.refined(&mut y), self.refined(&mut z));
        let n = ly.du.cross(&ly.dv).try_normalize(0.0).unwrap_or_else(V3::zeros);
        let is_excluded = separation(&ly, &lz, &n) > self.longest()
            || self.are_level((&y, &ly), &lz, &n)
            || self.is_regular(&y, &z);
        if is_excluded {
            return None;
        }
        let of_start = ly.radius() >= lz.radius();
        let (cell, l) = if of_start { (&y, &ly) } else { (&z, &lz) };
        Some(halves_of(cell, l).map(|part| if of_start { [part, z] } else { [y, part] }))
    }

    /// Derivatives over a cell, whose bounds of third derivatives are computed anew if they are too loose.
    fn refined(&self, cell: &mut Cell) -> Local {
        let local = self.local(cell);
        let area = |r: &Rect| r.width() * r.height();
        if area(&cell.rect) > MAX_REFINEMENT * area(&cell.valid_for) {
            return local;
        }
        let is_line = cell.rect.width() <= 0.0 || cell.rect.height() <= 0.0;
        if is_line {
            // The derivatives of a part without width are not defined.
            return local;
        }
        let Local { hu, hv, third: [t0, t1, t2, t3], .. } = local;
        let of_u = t0 * hu * hu + 2.0 * t1 * hu * hv + t2 * hv * hv;
        let of_v = t1 * hu * hu + 2.0 * t2 * hu * hv + t3 * hv * hv;
        let is_tight = of_u <= MIN_CHANGE * local.du.norm() && of_v <= MIN_CHANGE * local.dv.norm();
        if is_tight {
            return local;
        }
        let Rect { u0, u1, v0, v1 } = cell.rect;
        let key = [u0, u1, v0, v1].map(f64::to_bits);
        // A cell is compared with many others.
        let compute = || self.spline.third_derivatives(&cell.rect).map(|ball| ball.norm());
        let refined = *self.refined.borrow_mut().entry(key).or_insert_with(compute);
        // In cells as small as the rounding of parameters, those of the patch are better.
        cell.third = std::array::from_fn(|k| refined[k].min(cell.third[k]));
        cell.valid_for = cell.rect;
        self.local(cell)
    }

    /// Whether both cells are so flat along the direction `n` (zero: unknown), from which the normals of the
    /// first one differ little, that no chord is as high as the smaller depth. This excludes the surroundings
    /// of poles.
    fn are_level(&self, (y, ly): (&Cell, &Local), lz: &Local, n: &V3) -> bool {
        let (axis, sine) = y.cone;
        let cosine = axis.dot(n).abs().min(1.0);
        // Cosine of the largest angle between `n` and a normal of the first cell.
        let least = cosine * (1.0 - sine * sine).max(0.0).sqrt() - (1.0 - cosine * cosine).sqrt() * sine;
        let middle = (lz.p - ly.p).dot(n);
        let ([low_y, high_y], [low_z, high_z]) = (ly.range(n), lz.range(n));
        let height = (middle + high_z - low_y).max(high_y - low_z - middle);
        self.depth[0] * least > self.limit + height
    }

    /// Upper bound (mm) of the distances of the points of a cell of `first` from the surface, if
    /// corresponding points differ by at most `distance` (mm), mostly along the surface: the differences
    /// along the normals, and half of the curvature times the squared distance; and cells that contain a
    /// point within the bound for each point of the cell. `nets`: both Bézier patches and the cells on them,
    /// of which `map` takes the first one to the second one. An error if the bound exceeds `limit`, or if the
    /// surface is not smooth within `distance` of the second cell.
    fn off_surface(
        &self,
        first: &Patch<'_>,
        [(net_a, a), (net_b, b)]: [(&Net<'_>, &Rect); 2],
        map: &Map,
        (distance, limit): (f64, f64),
        scratch: &mut FollowScratch,
    ) -> Result<(f64, ArrayVec<Cell, MAX_PIECES>), Unbounded> {
        let domain = self.spline.domain();
        let [grow_u, grow_v] = map.scale.map(|scale| MAX_SHIFT * distance / scale);
        let grown = Rect { u0: b.u0 - grow_u, u1: b.u1 + grow_u, v0: b.v0 - grow_v, v1: b.v1 + grow_v };
        let is_inside = (self.spline.u_periodic || grown.u0 >= domain.u0 && grown.u1 <= domain.u1)
            && (self.spline.v_periodic || grown.v0 >= domain.v0 && grown.v1 <= domain.v1);
        if !is_inside {
            return Err(Unbounded::bent(&self.local(&self.cell(net_b.patch, *b)), map.scale));
        }
        let (cells, lines) = self.cells_over(&grown).ok_or(Unbounded::Far)?;
        let locals: ArrayVec<Local, MAX_PIECES> = cells.iter().map(|cell| self.local(cell)).collect();
        let main = locals.iter().max_by(|a, b| (a.hu * a.hv).total_cmp(&(b.hu * b.hv)));
        let (main, stretch) =
            main.and_then(|main| Some((main, Stretch::new(main)?))).ok_or(Unbounded::Far)?;
        let (scale, least) = (stretch.scale, stretch.least(&locals));
        // The nearest point is then within the grown rectangle.
        let is_reached =
            least * scale[0] * MAX_SHIFT >= map.scale[0] && least * scale[1] * MAX_SHIFT >= map.scale[1];
        // `least` is a number only if all derivatives are.
        if !lines.is_smooth {
            return Err(Unbounded::Far);
        }
        if !(least >= MIN_STRETCH * stretch.least && is_reached) {
            return Err(Unbounded::bent(main, scale));
        }
        let apart = distance / least;
        let bulge = 0.5 * second_derivative(&locals, scale) * apart * apart + lines.gap;
        let n = net_b.derivs(map.to);
        let n = n.du.cross(&n.dv).try_normalize(0.0).ok_or(Unbounded::Far)?;
        if bulge >= MAX_BULGE * limit {
            return Err(Unbounded::Far);
        }
        let (la, lb) = (first.local(a), self.local(&self.cell(net_b.patch, *b)));
        let pair = Pair { net_a, net_b, a: *a, b: *b, la, lb };
        // The angle of the normals would only limit the smaller one of both heights.
        let [low, high] = pair.difference(map, a, &n, 1.0, scratch).map_err(|_| Unbounded::Far)?.height;
        let off = high.max(-low) + bulge;
        if off <= limit { Ok((off, cells)) } else { Err(Unbounded::Far) }
    }

    /// Whether chords between the cells, as long as the longest one, are too flat, because the derivatives
    /// change little over the smallest rectangle around both.
    fn is_regular(&self, Cell { rect: y, .. }: &Cell, Cell { rect: z, .. }: &Cell) -> bool {
        let domain = self.spline.domain();
        let shift = |periodic: bool, period: f64, difference: f64| {
            if periodic { (difference / period).round() * period } else { 0.0 }
        };
        let apart = y.center() - z.center();
        let du = shift(self.spline.u_periodic, domain.width(), apart.x);
        let dv = shift(self.spline.v_periodic, domain.height(), apart.y);
        let hull = Rect {
            u0: y.u0.min(z.u0 + du),
            u1: y.u1.max(z.u1 + du),
            v0: y.v0.min(z.v0 + dv),
            v1: y.v1.max(z.v1 + dv),
        };
        let Some((mut cells, lines)) = self.cells_over(&hull) else { return false };
        let coarse: ArrayVec<Local, MAX_PIECES> = cells.iter().map(|cell| self.local(cell)).collect();
        if self.are_chords_flat(&coarse, lines) {
            return true;
        }
        let fine: ArrayVec<Local, MAX_PIECES> = cells.iter_mut().map(|cell| self.refined(cell)).collect();
        self.are_chords_flat(&fine, lines)
    }

    /// Cells that cover a rectangle, each in one Bézier patch, and the continuity across all lines between
    /// them: the sum of the gaps, and whether all are smooth. `None` if there are too many.
    fn cells_over(&self, hull: &Rect) -> Option<(ArrayVec<Cell, MAX_PIECES>, Joint)> {
        let domain = self.spline.domain();
        let (mut us, mut vs) = self.spline.parts(hull);
        // The shift by a period is rounded, so that a rectangle can overlap a piece by a sliver.
        us.retain(|u| u.t1 - u.t0 > SLIVER * domain.width());
        vs.retain(|v| v.t1 - v.t0 > SLIVER * domain.height());
        let of_lines = |parts: &[Part], joints: &[Joint]| {
            let crossed = parts.windows(2).map(|w| joints[w[1].piece]);
            crossed
                .fold((0.0, true), |(gap, is_smooth), joint| (gap + joint.gap, is_smooth & joint.is_smooth))
        };
        let (gap_u, is_smooth_u) = of_lines(&us, &self.bounds.joints[0]);
        let (gap_v, is_smooth_v) = of_lines(&vs, &self.bounds.joints[1]);
        let lines = Joint { gap: gap_u + gap_v, is_smooth: is_smooth_u && is_smooth_v };
        let mut cells: ArrayVec<Cell, MAX_PIECES> = ArrayVec::new();
        for (u, v) in us.iter().flat_map(|u| vs.iter().map(move |v| (u, v))) {
            let rect = Rect { u0: u.t0, u1: u.t1, v0: v.t0, v1: v.t1 };
            cells.try_push(self.cell((u.piece, v.piece), rect)).ok()?;
        }
        Some((cells, lines))
    }

    /// [`Chords::is_regular`] for a rectangle that is divided into the given cells. `lines` is the continuity
    /// across all lines between them: the sum of the gaps, and whether all are smooth.
    fn are_chords_flat(&self, locals: &[Local], lines: Joint) -> bool {
        let Some(main) = locals.iter().max_by(|a, b| (a.hu * a.hv).total_cmp(&(b.hu * b.hv))) else {
            return false;
        };
        // Lengths (mm) along both parameters in the middle of the largest piece replace the parameters.
        let (mu, mv) = (main.du.norm(), main.dv.norm());
        let Some(middle) = Stretch::new(main) else { return false };
        let stretch = middle.least(locals);
        let is_regular = stretch >= MIN_STRETCH * middle.least;
        if !is_regular {
            return false;
        }
        // Distance of the ends of a chord in parameters, as lengths.
        let apart = (self.longest() + lines.gap) / stretch;
        let height = if lines.is_smooth {
            0.5 * second_derivative(locals, [mu, mv]) * apart * apart
        } else {
            // The derivatives change abruptly; the tangent planes may, by a small angle. Sine of the largest
            // angle between a normal and the mean of those in the middles of the pieces.
            let normal = |cell: &Local| cell.du.cross(&cell.dv).try_normalize(0.0);
            let Some(n) = locals.iter().filter_map(normal).sum::<V3>().try_normalize(0.0) else {
                return false;
            };
            let tilted = tilt(locals, [mu, mv], &n);
            let sine = tilted / stretch;
            let is_flat = sine <= MAX_SINE;
            if !is_flat {
                return false;
            }
            // |n − n(y)| is at most 1.04 times the sine.
            tilted * apart + 1.04 * sine * self.longest()
        };
        height + lines.gap < self.depth[0] - self.limit
    }
}

/// Ratio of the bends of a cell along both parameters above which it is cut across the larger one, whatever
/// its sides. With a larger value long cells of cylinders are cut in vain; with a smaller one cells at poles
/// are cut into narrow sectors.
const MAX_BEND_RATIO: f64 = 16.0;

/// Norm (1/mm) of the second derivatives over cells, with respect to the parameters times `scale` (mm).
fn second_derivative(cells: &[Local], [mu, mv]: [f64; 2]) -> f64 {
    let largest = |of: fn(&Local) -> f64| cells.iter().map(of).fold(0.0, f64::max);
    let (uu, uv, vv) = (largest(|l| l.suu), largest(|l| l.suv), largest(|l| l.svv));
    let (uu, uv, vv) = (uu / (mu * mu), uv / (mu * mv), vv / (mv * mv));
    (uu * uu + 2.0 * uv * uv + vv * vv).sqrt()
}

/// Upper bound of the component along the unit vector `n` of any derivative over cells, by a unit vector of
/// the parameters times `scale` (mm).
fn tilt(cells: &[Local], [mu, mv]: [f64; 2], n: &V3) -> f64 {
    let along = |cell: &Local, p: V3, q: V3| {
        let [low, high] = derivative_range(cell, &p, &q);
        high.max(-low)
    };
    let zero = V3::zeros();
    let of_cell = |cell: &Local| along(cell, n / mu, zero).max(along(cell, zero, n / mv));
    SQRT_2 * cells.iter().map(of_cell).fold(0.0, f64::max)
}

/// Halves a cell across its longer side, or along it if only the shorter side is bent. Near a pole, cells are
/// thus cut towards it, because sectors of any angle meet there.
fn halves_of(cell: &Cell, l: &Local) -> [Cell; 2] {
    let twist = l.suv * l.hu * l.hv;
    let (of_u, of_v) = (l.suu * l.hu * l.hu + twist, l.svv * l.hv * l.hv + twist);
    let across_u = if of_u > MAX_BEND_RATIO * of_v {
        true
    } else if of_v > MAX_BEND_RATIO * of_u {
        false
    } else {
        l.du.norm() * l.hu > l.dv.norm() * l.hv
    };
    halves(&cell.rect, across_u).map(|rect| Cell { rect, ..*cell })
}

/// Smallest squared sine of the angle between both derivatives. A larger value refuses skewed parameters;
/// with a smaller one the bounds are due to rounding.
const MIN_SINE_SQUARED: f64 = 1e-12;

/// Smallest ratio of the length of a chord to the distance of its ends in the parameters, as lengths.
///
/// The derivatives along a chord, averaged, take the difference of the parameters to the chord. Multiplied by
/// the pseudoinverse of the derivatives in the middle, they give a matrix near the identity. The smallest
/// eigenvalue of its symmetric part bounds the ratio, also where the derivatives change by a factor, as
/// between two circles around a pole.
struct Stretch {
    /// Lengths (mm) of the derivatives along u and v in the middle.
    scale: [f64; 2],
    /// Rows of the pseudoinverse of the unit vectors along the derivatives in the middle.
    dual: [V3; 2],
    /// Smallest singular value of these unit vectors.
    least: f64,
}

impl Stretch {
    /// `None` if the derivatives in the middle are parallel or zero.
    fn new(middle: &Local) -> Option<Self> {
        let scale = [middle.du.norm(), middle.dv.norm()];
        let (tu, tv) = (middle.du / scale[0], middle.dv / scale[1]);
        let cosine = tu.dot(&tv);
        let sine_squared = 1.0 - cosine * cosine;
        let is_regular = sine_squared > MIN_SINE_SQUARED;
        let dual = [(tu - tv * cosine) / sine_squared, (tv - tu * cosine) / sine_squared];
        is_regular.then(|| Self { scale, dual, least: (1.0 - cosine.abs()).max(0.0).sqrt() })
    }

    /// The ratio over cells that cover the rectangle of the parameters; not positive if none is known.
    fn least(&self, cells: &[Local]) -> f64 {
        let Self { scale: [mu, mv], dual: [p, q], .. } = self;
        let zero = V3::zeros();
        let [mut a, mut d, mut off] = [f64::INFINITY, f64::INFINITY, 0.0_f64];
        for cell in cells {
            let (of_u, of_v) = (p / *mu, q / *mv);
            let ([of_a, _], [of_d, _]) =
                (derivative_range(cell, &of_u, &zero), derivative_range(cell, &zero, &of_v));
            let [low, high] = derivative_range(cell, &(q / *mu), &(p / *mv));
            if !(of_a + of_d + low + high).is_finite() {
                return f64::NEG_INFINITY;
            }
            a = a.min(of_a);
            d = d.min(of_d);
            off = off.max(0.5 * high.max(-low));
        }
        let half = 0.5 * (a - d);
        (0.5 * (a + d) - (half * half + off * off).sqrt()) * self.least
    }
}

/// Range of the sum of the components of both first derivatives along `p` (of u) and `q` (of v) over a cell.
fn derivative_range(cell: &Local, p: &V3, q: &V3) -> [f64; 2] {
    let &Local { du, dv, duu, duv, dvv, hu, hv, third: [t0, t1, t2, t3], .. } = cell;
    let middle = du.dot(p) + dv.dot(q);
    let linear = (duu.dot(p) + duv.dot(q)).abs() * hu + (duv.dot(p) + dvv.dot(q)).abs() * hv;
    let of_u = 0.5 * (t0 * hu * hu + t2 * hv * hv) + t1 * hu * hv;
    let of_v = 0.5 * (t1 * hu * hu + t3 * hv * hv) + t2 * hu * hv;
    let spread = linear + of_u * p.norm() + of_v * q.norm();
    [middle - spread, middle + spread]
}

#[cfg(test)]
mod tests;
