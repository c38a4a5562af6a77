//! Extents of vertices, curves and faces along a direction, with lower and upper bounds. The *height* of
//! a point is its coordinate along the direction.
//!
//! Lines, conics, spheres and tori have closed forms. Splines are bisected until the bounds are tight
//! enough: the heights of the control points enclose those of a part of the spline, and the gap between
//! the bounds shrinks with the square of the size of the part. A face is highest in its interior only
//! where its normal points along the direction, and otherwise on its edges, whose extents are computed
//! separately.
//!
//! # Source
//! MATH §18.

use crate::bezier::{BezierSpline, BezierSurface, H4};
use crate::trim::{Side, TrimCells};
use crate::{Curve, P2, P3, Rect, Surface, V3, math};
use std::collections::BinaryHeap;
use std::f64::consts::{PI, TAU};

/// Extent of a point set along a unit direction `d`: bounds of the largest `d · x` (mm) over its points
/// `x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Lower bound of the extent (mm), up to rounding: the height of `point`.
    pub lower: f64,
    /// Upper bound of the extent (mm), including rounding.
    pub upper: f64,
    /// A point of the set at height `lower` along `d`; it proves that the largest height is at least `lower`.
    pub point: P3,
}

/// Bound of the rounding error of an extent, relative to the coordinates involved. A larger value
/// loosens boxes; with a smaller one points could lie outside their boxes.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// Distance in parameters within which points outside count as inside: from a side of an area's
/// rectangle (relative to the range of the parameter, if that is longer than 1) or from a trim. Only
/// points at which the surface is perpendicular to the direction are accepted this way, so the extent
/// grows by at most the square of this value. A larger value enlarges boxes; a smaller one could miss
/// such a point on the boundary.
const BORDER_TOL: f64 = 1e-9;

/// Maximum number of bisections from a Bézier piece or patch to one of its cells; the cell's current
/// bound is used after that. A larger value only costs time, a smaller one loosens the extents of
/// strongly curved splines.
const MAX_HALVINGS: u32 = 60;

/// Maximum number of cells that are bisected for one curve or face; the best bound so far is used after
/// that. A larger value costs time on degenerate splines, a smaller one loosens their extents.
const MAX_CELLS: usize = 20_000;

impl Extent {
    fn of_point(point: P3, d: &V3, reach: f64) -> Self {
        let h = d.dot(&point.coords);
        Self { lower: h, upper: h + ROUNDING * (point.coords.amax() + reach), point }
    }

    /// Returns the extent of the union of two point sets along the same direction.
    #[must_use]
    pub fn or_farther(self, o: Self) -> Self {
        let upper = self.upper.max(o.upper);
        if o.lower > self.lower { Self { upper, ..o } } else { Self { upper, ..self } }
    }

    /// Computes the extent of a vertex along the unit direction `d`.
    #[must_use]
    pub fn of_vertex(point: P3, d: &V3) -> Self {
        Self::of_point(point, d, 0.0)
    }

    /// Computes the extent of a curve over `[t0, t1]` along the unit direction `d`. Splines are bisected
    /// until the bounds differ by at most `tol` (mm), or until no part can exceed `floor` (mm), a height
    /// that another feature of the solid is known to reach.
    #[must_use]
    pub fn of_curve(curve: &Curve, (t0, t1): (f64, f64), d: &V3, floor: f64, tol: f64) -> Self {
        let (at, reach) = match curve {
            Curve::Bezier(spline) => return of_spline(spline, (t0, t1), d, floor, tol),
            Curve::Line { .. } => (None, 0.0),
            Curve::Circle { frame, radius } => (Some(math::atan2(d.dot(&frame.y), d.dot(&frame.x))), *radius),
            Curve::Ellipse { frame, semi_x, semi_y } => {
                let peak = math::atan2(semi_y * d.dot(&frame.y), semi_x * d.dot(&frame.x));
                (Some(peak), semi_x.max(*semi_y))
            }
            // The height is stationary where 2 f (t x + y) vanishes (parabola) or a sinh t x + b cosh t
            // y (hyperbola).
            Curve::Parabola { frame, focal } => (Some(-d.dot(&frame.y) / d.dot(&frame.x)), *focal),
            Curve::Hyperbola { frame, semi, semi_imag } => {
                let (a, b) = (semi * d.dot(&frame.x), semi_imag * d.dot(&frame.y));
                (Some(0.5 * math::ln((a - b) / (a + b))), semi + semi_imag)
            }
        };
        let of = |t: f64| Self::of_point(curve.point(t), d, reach);
        let ends = of(t0).or_farther(of(t1));
        let at = match curve {
            Curve::Circle { .. } | Curve::Ellipse { .. } => at.map(|t| math::wrap(t, t0, TAU)),
            _ => at,
        };
        match at {
            Some(t) if t0 < t && t < t1 => ends.or_farther(of(t)),
            _ => ends,
        }
    }

    /// Computes the extent along the unit direction `d` of the points of a face at which it is
    /// perpendicular to `d` and highest. Only points over `rect` and in the trimmed domain count. Returns
    /// `None` if such a point does not exist or is proven not to exceed `floor`; the face is then highest
    /// on its boundary. `floor` (mm) is a height that another feature of the solid is known to reach, and
    /// `tol` (mm) the difference of the bounds at which the search stops.
    #[must_use]
    pub fn of_face(
        surface: &Surface,
        rect: &Rect,
        trim: &TrimCells,
        d: &V3,
        floor: f64,
        tol: f64,
    ) -> Option<Self> {
        match surface {
            // These surfaces are level only along whole rulings, which end at borders or at an apex.
            Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Cone { .. } => None,
            Surface::Sphere { frame, radius } => {
                let [x, y, z] = [&frame.x, &frame.y, &frame.z].map(|a| d.dot(a));
                let uv = P2::new(math::atan2(y, x), math::atan2(z, math::hypot(x, y)));
                let point = frame.origin + d * *radius;
                is_in_domain(uv, [Some(TAU), None], rect, trim).then(|| Self::of_point(point, d, *radius))
            }
            Surface::Torus { frame, major, minor } => {
                let [x, y, z] = [&frame.x, &frame.y, &frame.z].map(|a| d.dot(a));
                let (u, across) = (math::atan2(y, x), math::hypot(x, y));
                // The second point is on the inner sheet of a spindle torus.
                let at = [P2::new(u, math::atan2(z, across)), P2::new(u + PI, math::atan2(z, -across))];
                at.into_iter()
                    .filter(|uv| is_in_domain(*uv, [Some(TAU); 2], rect, trim))
                    .map(|uv| Self::of_point(surface.point(uv), d, major + minor))
                    .reduce(Self::or_farther)
            }
            Surface::Bezier(grid) => of_grid(grid, rect, trim, d, floor, tol),
        }
    }
}

/// Whether the parameters `uv`, shifted by whole periods, are in the rectangle and in the trimmed
/// domain, or within [`BORDER_TOL`] of both.
fn is_in_domain(uv: P2, periods: [Option<f64>; 2], rect: &Rect, trim: &TrimCells) -> bool {
    let into = |x: f64, lo: f64, hi: f64, period: Option<f64>| {
        let near = BORDER_TOL * (hi - lo).max(1.0);
        let x = period.map_or(x, |p| math::wrap(x, lo - near, p));
        (lo - near <= x && x <= hi + near).then_some(x)
    };
    let Some(u) = into(uv.x, rect.u0, rect.u1, periods[0]) else { return false };
    let Some(v) = into(uv.y, rect.v0, rect.v1, periods[1]) else { return false };
    let near = Rect { u0: u - BORDER_TOL, u1: u + BORDER_TOL, v0: v - BORDER_TOL, v1: v + BORDER_TOL };
    trim.may_touch(&near)
}

/// Homogeneous height of a control point: its height along the direction times its weight, and the
/// weight.
type Height = [f64; 2];

fn heights(control: &[H4], d: &V3) -> Vec<Height> {
    control.iter().map(|h| [d.dot(&h.xyz()), h.w]).collect()
}

fn top(net: &[Height]) -> f64 {
    // Weights of a range outside its piece may become non-positive; the height is then unbounded.
    net.iter().fold(f64::NEG_INFINITY, |m, [h, w]| m.max(if *w > 0.0 { h / w } else { f64::INFINITY }))
}

fn bottom(net: &[Height]) -> f64 {
    net.iter().fold(f64::INFINITY, |m, [h, w]| m.min(if *w > 0.0 { h / w } else { f64::NEG_INFINITY }))
}

/// Splits the homogeneous heights of a Bézier curve at the middle of its parameter range (de Casteljau).
fn halves(net: &[Height]) -> [Vec<Height>; 2] {
    let (mut left, mut right) = (Vec::with_capacity(net.len()), net.to_vec());
    for k in (0..net.len()).rev() {
        left.push(right[0]);
        for i in 0..k {
            right[i] = std::array::from_fn(|c| 0.5 * (right[i][c] + right[i + 1][c]));
        }
    }
    // Each round leaves the last point of its row in place, so `right` is the right half.
    [left, right]
}

/// A part of a Bézier piece or patch over the parameters `rect`, with the heights `net` of its `size[0]
/// × size[1]` control points. Cells are ordered by `upper`, the upper bound of their height.
struct Cell {
    upper: f64,
    net: Vec<Height>,
    rect: Rect,
    size: [usize; 2],
    /// Whether all points of the cell are known to be in the trimmed domain.
    whole: bool,
    halvings: u32,
}

crate::ordered_by!(Cell, |a, b| a.upper.total_cmp(&b.upper));

fn of_spline(spline: &BezierSpline, (t0, t1): (f64, f64), d: &V3, floor: f64, tol: f64) -> Extent {
    let of = |t: f64| Extent::of_point(spline.derivs(t).p, d, 0.0);
    let mut best = of(t0).or_farther(of(t1));
    let mut cells = BinaryHeap::new();
    let mut reach: f64 = 0.0;
    for part in spline.parts(t0, t1) {
        let control = spline.sub_control(part.piece, part.t0, part.t1);
        reach = control.iter().fold(reach, |m, h| m.max(h.xyz().amax() / h.w));
        let net = heights(&control, d);
        let rect = Rect { u0: part.t0 + part.shift, u1: part.t1 + part.shift, v0: 0.0, v1: 0.0 };
        cells.push(Cell { upper: top(&net), size: [net.len(), 1], net, rect, whole: true, halvings: 0 });
    }
    let mut left = MAX_CELLS;
    let mut upper = f64::NEG_INFINITY;
    while let Some(cell) = cells.pop() {
        if cell.upper <= best.lower.max(floor) + tol || cell.halvings >= MAX_HALVINGS || left == 0 {
            upper = upper.max(cell.upper);
            if cell.halvings >= MAX_HALVINGS && left > 0 {
                continue;
            }
            break;
        }
        left -= 1;
        let m = 0.5 * (cell.rect.u0 + cell.rect.u1);
        best = best.or_farther(of(m));
        let ranges = [Rect { u1: m, ..cell.rect }, Rect { u0: m, ..cell.rect }];
        for (net, rect) in halves(&cell.net).into_iter().zip(ranges) {
            let halvings = cell.halvings + 1;
            cells.push(Cell { upper: top(&net), size: cell.size, net, rect, whole: true, halvings });
        }
    }
    Extent { upper: best.upper.max(upper + ROUNDING * reach), ..best }
}

/// Returns 1 if the height is proven to increase along a parameter of a cell, -1 if it is proven to
/// decrease, and 0 if neither is proven. The control points `i` and `i + stride` for `i` in `starts` are
/// neighbours along that parameter.
fn trend(net: &[Height], starts: impl Iterator<Item = usize>, stride: usize) -> i32 {
    let (mut rise, mut fall, mut turn) = (f64::INFINITY, f64::INFINITY, 0.0_f64);
    let (mut max_height, mut min_weight) = (0.0_f64, f64::INFINITY);
    // Heights relative to one in the middle reduce the influence of the slope of the weights.
    let base = net[net.len() / 2][0] / net[net.len() / 2][1];
    let above = |h: &Height| h[0] - base * h[1];
    for h in net {
        max_height = max_height.max(above(h).abs());
        min_weight = min_weight.min(h[1]);
    }
    for i in starts {
        let (a, b) = (&net[i], &net[i + stride]);
        let step = above(b) - above(a);
        rise = rise.min(step);
        fall = fall.min(-step);
        turn = turn.max((b[1] - a[1]).abs());
    }
    // The slope of h / w has the sign of h' w − h w'.
    let error = max_height * turn + 1e-14 * max_height * min_weight;
    if rise * min_weight > error {
        1
    } else if fall * min_weight > error {
        -1
    } else {
        0
    }
}

fn of_grid(
    grid: &BezierSurface,
    rect: &Rect,
    trim: &TrimCells,
    d: &V3,
    floor: f64,
    tol: f64,
) -> Option<Extent> {
    let size = [grid.u_degree as usize + 1, grid.v_degree as usize + 1];
    let (us, vs) = grid.parts(rect);
    let mut cells = BinaryHeap::new();
    let mut reach: f64 = 0.0;
    for (u, v) in us.iter().flat_map(|u| vs.iter().map(move |v| (u, v))) {
        let part = Rect { u0: u.t0, u1: u.t1, v0: v.t0, v1: v.t1 };
        let control = grid.sub_control((u.piece, v.piece), &part);
        reach = control.iter().fold(reach, |m, h| m.max(h.xyz().amax() / h.w));
        let net = heights(&control, d);
        let rect = Rect {
            u0: part.u0 + u.shift,
            u1: part.u1 + u.shift,
            v0: part.v0 + v.shift,
            v1: part.v1 + v.shift,
        };
        cells.push(Cell { upper: top(&net), net, rect, size, whole: false, halvings: 0 });
    }
    let mut best: Option<Extent> = None;
    let mut upper = f64::NEG_INFINITY;
    let mut left = MAX_CELLS;
    while let Some(mut cell) = cells.pop() {
        let reached = best.map_or(floor, |b| b.lower.max(floor));
        if cell.upper <= reached + tol || left == 0 {
            upper = upper.max(cell.upper);
            break;
        }
        left -= 1;
        if !cell.whole {
            if !trim.may_touch(&cell.rect) {
                continue;
            }
            cell.whole = !trim.has_boundary_in(&cell.rect);
        }
        let middle = P2::new(0.5 * (cell.rect.u0 + cell.rect.u1), 0.5 * (cell.rect.v0 + cell.rect.v1));
        if cell.whole || trim.classify(middle) == Side::Inside {
            let at = Extent::of_point(grid.first_derivs(middle).0, d, 0.0);
            best = Some(best.map_or(at, |b| b.or_farther(at)));
        }
        if cell.halvings >= MAX_HALVINGS {
            upper = upper.max(cell.upper);
            continue;
        }
        // The bound of this cell is tight enough, and no remaining cell has a higher one.
        if cell.upper - bottom(&cell.net) <= tol {
            upper = upper.max(cell.upper);
            break;
        }
        // If the height has a slope over the whole cell, its maximum is on a side. Only sides where
        // patches join are kept, because the surface may have a crease there; other sides belong to a
        // neighbouring cell too.
        let Some(cell) = narrowed(cell, grid) else { continue };
        halve(cell, &mut cells);
    }
    let best = best.unwrap_or(Extent { lower: f64::NEG_INFINITY, upper, point: P3::origin() });
    let upper = best.upper.max(upper + ROUNDING * reach);
    (upper > floor).then_some(Extent { upper, ..best })
}

/// Restricts a cell to the side with the maximum height, for each parameter along which the height is
/// proven to be monotone; otherwise returns the cell unchanged. Returns `None` if that side is inside a
/// patch of the grid, because a neighbouring cell of the same patch then contains the side, too.
fn narrowed(mut cell: Cell, grid: &BezierSurface) -> Option<Cell> {
    let [nu, nv] = cell.size;
    if nu > 1 {
        let t = trend(&cell.net, 0..(nu - 1) * nv, nv);
        if t != 0 {
            let side = if t > 0 { cell.rect.u1 } else { cell.rect.u0 };
            if !is_break(side, &grid.u_breaks, grid.u_periodic) {
                return None;
            }
            let from = if t > 0 { (nu - 1) * nv } else { 0 };
            cell.net = cell.net[from..from + nv].to_vec();
            (cell.rect.u0, cell.rect.u1, cell.size[0]) = (side, side, 1);
        }
    }
    let [nu, nv] = cell.size;
    if nv > 1 {
        let starts = (0..nu).flat_map(|a| a * nv..(a + 1) * nv - 1);
        let t = trend(&cell.net, starts, 1);
        if t != 0 {
            let side = if t > 0 { cell.rect.v1 } else { cell.rect.v0 };
            if !is_break(side, &grid.v_breaks, grid.v_periodic) {
                return None;
            }
            let from = if t > 0 { nv - 1 } else { 0 };
            cell.net = (0..nu).map(|a| cell.net[a * nv + from]).collect();
            (cell.rect.v0, cell.rect.v1, cell.size[1]) = (side, side, 1);
        }
    }
    Some(cell)
}

fn is_break(x: f64, breaks: &[f64], periodic: bool) -> bool {
    let (lo, hi) = (breaks[0], breaks[breaks.len() - 1]);
    let near = 1e-12 * (hi - lo);
    let x = if periodic { math::wrap(x, lo - near, hi - lo) } else { x };
    breaks.iter().any(|b| (b - x).abs() <= near)
}

/// Bisects a cell across the parameter along which the heights vary more, and pushes the halves to
/// `cells`. A cell that is a single point is pushed again with [`MAX_HALVINGS`] halvings.
fn halve(cell: Cell, cells: &mut BinaryHeap<Cell>) {
    let [nu, nv] = cell.size;
    let Cell { net, rect, whole, halvings, size, .. } = cell;
    let height = |i: usize| net[i][0] / net[i][1];
    let vary = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        pairs.fold(0.0, |m: f64, (a, b)| m.max((height(a) - height(b)).abs()))
    };
    let along_u = vary(&mut (0..(nu - 1) * nv).map(|i| (i, i + nv)));
    let along_v = vary(&mut (0..nu).flat_map(|a| (a * nv..(a + 1) * nv - 1).map(|i| (i, i + 1))));
    let mut push = |net: Vec<Height>, rect: Rect| {
        cells.push(Cell { upper: top(&net), net, rect, size, whole, halvings: halvings + 1 });
    };
    if nu == 1 && nv == 1 {
        cells.push(Cell { upper: top(&net), net, rect, size, whole, halvings: MAX_HALVINGS });
    } else if nv == 1 || (nu > 1 && along_u >= along_v) {
        let m = 0.5 * (rect.u0 + rect.u1);
        let (mut low, mut high) = (net.clone(), net);
        for b in 0..nv {
            let column: Vec<Height> = (0..nu).map(|a| low[a * nv + b]).collect();
            let [l, h] = halves(&column);
            (0..nu).for_each(|a| (low[a * nv + b], high[a * nv + b]) = (l[a], h[a]));
        }
        push(low, Rect { u1: m, ..rect });
        push(high, Rect { u0: m, ..rect });
    } else {
        let m = 0.5 * (rect.v0 + rect.v1);
        let (mut low, mut high) = (Vec::with_capacity(net.len()), Vec::with_capacity(net.len()));
        for row in net.chunks_exact(nv) {
            let [l, h] = halves(row);
            low.extend(l);
            high.extend(h);
        }
        push(low, Rect { v1: m, ..rect });
        push(high, Rect { v0: m, ..rect });
    }
}
