//! Points and directions on a grid over each free-form area, from which solvers find their starting points.
//! They are computed at the first use and then shared.

mod bundle;
mod cell;
mod curvature;
mod pole;

use crate::body::edge_normals::edge_normals;
use crate::body::{Body, outward_normal};
use arrayvec::ArrayVec;
pub(crate) use bundle::NormalBundle;
use cell::Cell;
pub(crate) use curvature::CurvatureBounds;
use feeler_geom::CurveDerivs;
use feeler_geom::{Curve, P2, P3, Rect, V3, VectorBall};
use feeler_hierarchy::{Area, AreaId, EdgeId, Feature};
pub(crate) use pole::Pole;
use std::f64::consts::PI;
use std::sync::OnceLock;

/// Distance outside an area, in widths of its parameter rectangle, up to which Newton iterations
/// continue. With a larger value, more duplicates must be removed; with a smaller one, minima on the
/// border of an area are lost.
pub(crate) const MARGIN: f64 = 0.05;
/// Number of grid points along each parameter of a patch. More of them give better starting points and cost
/// more.
pub(crate) const SIDE: usize = 5;
/// Number of steps between the samples along a curve. More of them give better starting points and cost
/// more.
pub(crate) const CURVE_STEPS: usize = 8;
/// Index of the middle sample along an area of an edge.
pub(crate) const MIDDLE: usize = CURVE_STEPS / 2;
/// Number of samples along an area of an edge, ends included.
const CURVE_POINTS: usize = CURVE_STEPS + 1;
/// Amount by which the derivatives of the minimised function in a cell of the grid may exceed their range
/// at the cell's corners, relative to the range. A larger value gives more starting points; with a
/// smaller one, some are missed.
const CELL_SLACK: f64 = 0.2;
/// Amount by which the derivatives of the minimised function around a grid point at which the function
/// is smaller than at the neighbours may exceed their range at these points, relative to the range. A
/// larger value gives more starting points; with a smaller one, some are missed.
const AROUND_SLACK: f64 = 0.5;
/// Largest error of footpoints computed on grids, in unit-box parameters, including the margin around an
/// area in which solvers search. A larger value gives more starting points; with a smaller one, some are
/// missed.
const MAX_FOOT_ERROR: f64 = 0.15;
/// Largest length of the tangent along a collapsed side of a patch, relative to the other tangent. With
/// a larger value, slim areas count as collapsed; a smaller one starts solvers at singular points.
pub(crate) const COLLAPSED: f64 = 1e-9;
/// Maximum number of grid points of an area.
pub(crate) const GRID_POINTS: usize = SIDE * SIDE;

/// Points of a free-form area at equal steps of its parameters, in the frame of the solid. A row has one
/// value of u; with n points along v, index n i + j is for step i along u and step j along v.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    points: [P3; GRID_POINTS],
    /// Tangents by u and v (mm per step of the grid) at the grid points of a patch; zeros for an edge.
    tangents: [[V3; 2]; GRID_POINTS],
    /// Approximate lengths (mm) of the area along u and along v, from the derivatives in its middle; the
    /// second one is infinite for an edge.
    pub lengths: [f64; 2],
    /// Largest length (mm) of the second difference a − 2 b + c of three consecutive grid points along u
    /// or v.
    pub bend: f64,
    /// Estimate of the largest curvature (1/mm), which includes changes of speed along the parameters.
    curvature: f64,
    /// Numbers of points along u and v; the second one is 1 for an edge.
    pub shape: [usize; 2],
    /// Estimate of the largest distance (mm) of a point of the area from its nearest grid point.
    pub radius: f64,
    /// Whether a side of the area is a single point; `false` for an edge.
    pub has_pole: bool,
    /// Sides of the area that are a single point, at which the parameter lines that end there have
    /// different directions.
    pub poles: Vec<Pole>,
}

/// Normals of an area at its grid points. They are separate from the points because they cost several
/// times as many operations, and a search for one footpoint does not need them.
#[derive(Clone, Debug)]
pub(crate) struct Normals {
    /// Outward unit normals at the grid points; for an edge, the directions in the middle of its polar.
    vectors: [V3; GRID_POINTS],
    /// Largest angle (rad), over the grid points, between the vector at a point and a direction of the
    /// polar there: 0 for a face, π if it is unknown.
    pub spread: f64,
}

/// Approximate footpoint of a point on a free-form area, computed from its grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GridFoot {
    /// Unit-box parameters of the footpoint: [0, 1] spans the area in u and in v.
    pub params: [f64; 2],
    /// Unit-box parameters of the footpoint before they are clamped to the interpolated part of the
    /// area; outside [0, 1] they indicate a footpoint beyond the border.
    pub beyond: [f64; 2],
    /// Vector from the point to the footpoint (mm).
    pub offset: V3,
    /// The grid point (row, column) around which the area is interpolated. `steps` is the footpoint
    /// relative to it, in steps of the grid.
    about: (usize, usize),
    steps: [f64; 2],
}

/// Lazily computed samples of the free-form areas of a solid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    grids: Vec<OnceLock<Box<Grid>>>,
    normals: Vec<OnceLock<Box<Normals>>>,
    curves: Vec<OnceLock<Box<CurveSamples>>>,
    /// Segments, indexed by edge; the other lists are indexed by area.
    segments: Vec<OnceLock<Box<[EdgeSegment]>>>,
    thirds: Vec<OnceLock<Box<[VectorBall; 4]>>>,
    curvatures: Vec<OnceLock<Box<CurvatureBounds>>>,
    bundles: Vec<OnceLock<Box<[NormalBundle]>>>,
}

/// Points of an edge's area at equal steps of its parameter, with derivatives.
pub(crate) type CurveSamples = [CurveDerivs; CURVE_POINTS];

/// Data of one area of an edge without closed form, with which solves exclude most areas. The segments of
/// one edge are stored contiguously.
#[derive(Clone, Debug)]
pub(crate) struct EdgeSegment {
    /// Radius (mm) of a ball around the middle sample that contains the area up to the deviation of the
    /// edge; infinite if the sample is not finite.
    pub radius: f64,
    /// Length of the area's interval of the edge parameter.
    pub width: f64,
    /// Whether the first sample of the area equals the last one of the previous area of the edge,
    /// derivatives included.
    pub is_joined: bool,
    /// Middle sample of the area's [`CurveSamples`].
    pub middle: CurveDerivs,
    /// Last sample of the area's [`CurveSamples`].
    pub last: CurveDerivs,
    third: OnceLock<Third>,
    third_ends: OnceLock<[V3; 2]>,
}

/// Bounds of the variation of the third derivative of an edge with respect to its parameter, over one
/// area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Third {
    /// Upper bound of the difference of the third derivative from a constant, over the area and
    /// [`MARGIN`] beyond it.
    pub spread: f64,
    /// Upper bound of the difference of the third derivative from a linear function of the parameter,
    /// over the area.
    pub bend: f64,
}

impl EdgeSegment {
    /// Bounds of the edge's third derivative over `area`, which is the area of this segment. They are
    /// computed at the first use only, because most segments of an edge are out of reach of the other solid.
    pub(crate) fn third(&self, body: &Body, area: AreaId) -> Third {
        *self.third.get_or_init(|| {
            let spread = third_spread(body, area);
            Third { spread, bend: third_bend(body, area).min(spread) }
        })
    }

    /// Values at both ends of `area`, which is the area of this segment, of the linear function of the
    /// parameter from which the edge's third derivative differs by at most [`Third::bend`].
    pub(crate) fn third_ends(&self, body: &Body, area: AreaId) -> &[V3; 2] {
        self.third_ends.get_or_init(|| third_ends(body, area))
    }
}

/// Number of parts of an area over which third derivatives are enclosed. More of them give tighter bounds
/// and cost more.
const THIRD_PARTS: usize = 16;

/// Radius of a ball that contains the third derivatives of an edge over one of its areas and [`MARGIN`]
/// beyond it; infinite if the area is not that of an edge.
fn third_spread(body: &Body, area: AreaId) -> f64 {
    let Area { feature: Feature::Edge(edge), rect, .. } = body.area(area) else { return f64::INFINITY };
    let beyond = MARGIN * rect.width();
    body.edge(*edge).curve.third_derivatives(rect.u0 - beyond, rect.u1 + beyond).radius
}

/// Balls around the third derivatives of an edge over equal parts of one of its areas; `None` if the area is
/// not that of an edge.
fn thirds_of_parts(body: &Body, area: AreaId) -> Option<[VectorBall; THIRD_PARTS]> {
    let Area { feature: Feature::Edge(edge), rect, .. } = body.area(area) else { return None };
    let part = |k: usize| rect.u0 + rect.width() * step(k, THIRD_PARTS + 1);
    let curve = &body.edge(*edge).curve;
    Some(std::array::from_fn(|k| curve.third_derivatives(part(k), part(k + 1))))
}

/// Values of the linear function of [`third_bend`] at both ends of the area.
fn third_ends(body: &Body, area: AreaId) -> [V3; 2] {
    let Some([first, .., last]) = thirds_of_parts(body, area) else { return [V3::repeat(f64::NAN); 2] };
    let half_step = (last.center - first.center) * (0.5 * step(1, THIRD_PARTS));
    [first.center - half_step, last.center + half_step]
}

/// Upper bound of the difference between the third derivative of an edge over one of its areas and the
/// linear function through the midpoints of its first and last part.
fn third_bend(body: &Body, area: AreaId) -> f64 {
    let Some(thirds) = thirds_of_parts(body, area) else { return f64::INFINITY };
    let [first, .., last] = thirds.map(|ball| ball.center);
    let linear = |k| first + (last - first) * step(k, THIRD_PARTS);
    let off = |(k, ball): (usize, &VectorBall)| (ball.center - linear(k)).norm() + ball.radius;
    // Within a part, the linear function changes by half its slope in either direction.
    thirds.iter().enumerate().map(off).fold(0.0, f64::max) + 0.5 * (linear(1) - first).norm()
}

impl Samples {
    pub(crate) fn new(areas: usize, edges: usize) -> Self {
        Self {
            segments: (0..edges).map(|_| OnceLock::new()).collect(),
            grids: (0..areas).map(|_| OnceLock::new()).collect(),
            normals: (0..areas).map(|_| OnceLock::new()).collect(),
            curves: (0..areas).map(|_| OnceLock::new()).collect(),
            thirds: (0..areas).map(|_| OnceLock::new()).collect(),
            curvatures: (0..areas).map(|_| OnceLock::new()).collect(),
            bundles: (0..areas).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Samples of an area of an edge, whose curve and parameter interval are given; in the frame of the
    /// solid.
    pub(crate) fn along(&self, curve: &Curve, area: AreaId, rect: &Rect) -> &CurveSamples {
        self.curves[area.index()].get_or_init(|| {
            Box::new(std::array::from_fn(|i| curve.derivs(at(rect, step(i, CURVE_POINTS), 0.0).x)))
        })
    }

    /// Whether [`Samples::segments`] of an edge have been computed.
    pub(crate) fn has_segments(&self, edge: EdgeId) -> bool {
        self.segments[edge.index()].get().is_some()
    }

    /// Segments of an edge in the frame of the solid, in the order of [`Body::areas_of`]. All of them are
    /// computed at the first use.
    pub(crate) fn segments(&self, body: &Body, edge: EdgeId) -> &[EdgeSegment] {
        self.segments[edge.index()].get_or_init(|| {
            let mut before = None;
            let of_area = |&area: &AreaId| {
                let samples = body.curve_samples_of(area);
                let [first, middle, last] = [0, MIDDLE, CURVE_STEPS].map(|i| samples[i]);
                let is_joined = before.replace(last) == Some(first);
                let corners = body.node(body.leaf_of_area(area)).obb.corners();
                let is_finite = middle.p.iter().all(|c| c.is_finite());
                let farthest = corners.iter().fold(0.0, |r: f64, c| r.max((c - middle.p).norm()));
                let radius = if is_finite { farthest } else { f64::INFINITY };
                let width = body.area(area).rect.width();
                EdgeSegment {
                    radius,
                    width,
                    is_joined,
                    middle,
                    last,
                    third: OnceLock::new(),
                    third_ends: OnceLock::new(),
                }
            };
            body.areas_of(body.data(Feature::Edge(edge))).iter().map(of_area).collect()
        })
    }

    /// Balls around the third derivatives with respect to the unit-box parameters of a free-form area
    /// (uuu, uuv, uvv, vvv; for an edge only the first), over the area and [`MARGIN`] beyond it.
    pub(crate) fn third_derivatives(&self, body: &Body, area: AreaId) -> &[VectorBall; 4] {
        self.thirds[area.index()].get_or_init(|| {
            let Area { feature, rect, .. } = body.area(area);
            let (wu, wv) = (rect.width(), rect.height());
            let wide = Rect {
                u0: rect.u0 - MARGIN * wu,
                u1: rect.u1 + MARGIN * wu,
                v0: rect.v0 - MARGIN * wv,
                v1: rect.v1 + MARGIN * wv,
            };
            Box::new(match feature {
                Feature::Edge(e) => {
                    let third = body.edge(*e).curve.third_derivatives(wide.u0, wide.u1);
                    [third.times(wu * wu * wu); 4]
                }
                Feature::Face(f) => {
                    let third = body.face(*f).surface.third_derivatives(&wide);
                    let [a, b, c, d] = third.unwrap_or([VectorBall::everything(); 4]);
                    [
                        a.times(wu * wu * wu),
                        b.times(wu * wu * wv),
                        c.times(wu * wv * wv),
                        d.times(wv * wv * wv),
                    ]
                }
                Feature::Vertex(_) => unreachable!("a vertex is canonical"),
            })
        })
    }

    /// Bounds of the normal curvatures (1/mm) of an area of a free-form face.
    pub(crate) fn curvature_bounds(&self, body: &Body, area: AreaId) -> &CurvatureBounds {
        self.curvatures[area.index()].get_or_init(|| Box::new(CurvatureBounds::of_area(body, area)))
    }

    /// Bundles of normals of an area of a free-form face, one for each piece of the area; empty unless
    /// its patch has a pole.
    pub(crate) fn bundles(&self, body: &Body, area: AreaId) -> &[NormalBundle] {
        self.bundles[area.index()].get_or_init(|| {
            let pole = self.get(body, area).poles.first();
            pole.map_or_else(Box::default, |pole| NormalBundle::of_area(body, area, pole))
        })
    }

    /// Grid of a free-form area in the frame of the solid.
    pub(crate) fn get(&self, body: &Body, area: AreaId) -> &Grid {
        self.grids[area.index()].get_or_init(|| Box::new(Grid::of_area(body, area)))
    }

    /// Normals at the grid points of a free-form area.
    pub(crate) fn normals(&self, body: &Body, area: AreaId) -> &Normals {
        let of_area = || Box::new(Normals::of_area(body, area, self.get(body, area)));
        self.normals[area.index()].get_or_init(of_area)
    }
}

/// Parameters in `rect` of the point (x, y) of the unit box.
pub(crate) fn at(rect: &Rect, x: f64, y: f64) -> P2 {
    P2::new(rect.u0 + x * (rect.u1 - rect.u0), rect.v0 + y * (rect.v1 - rect.v0))
}

/// Parameter in [0, 1] of point `i` of `n` equally spaced points.
#[expect(clippy::cast_precision_loss, reason = "a grid index")]
fn step(i: usize, n: usize) -> f64 {
    if n < 2 { 0.0 } else { i as f64 / (n - 1) as f64 }
}

impl Normals {
    /// Normal vectors in the order of the grid points. Entries beyond the number of grid points are zero.
    pub(crate) fn vectors(&self) -> &[V3; GRID_POINTS] {
        &self.vectors
    }

    fn of_area(body: &Body, area: AreaId, grid: &Grid) -> Self {
        let Area { feature, rect, .. } = body.area(area);
        let mut normals = Self { vectors: [V3::zeros(); GRID_POINTS], spread: 0.0 };
        for k in 0..grid.len() {
            let [x, y] = grid.params(k);
            let uv = at(rect, x, y);
            let (n, spread) = match *feature {
                Feature::Face(f) => (outward_normal(body.face(f), uv), 0.0),
                Feature::Edge(e) => {
                    edge_normals(body, e, uv.x).map_or((V3::zeros(), PI), |normals| normals.middle())
                }
                Feature::Vertex(_) => unreachable!("a vertex is canonical"),
            };
            normals.vectors[k] = n;
            // The normal is NaN where a patch collapses.
            normals.spread = if n.norm_squared() > 0.5 { normals.spread.max(spread) } else { PI };
        }
        normals
    }
}

impl Grid {
    fn of_area(body: &Body, index: AreaId) -> Self {
        let area = body.area(index);
        let rect = &area.rect;
        let shape = match area.feature {
            Feature::Face(_) => [SIDE, SIDE],
            Feature::Edge(_) => [CURVE_POINTS, 1],
            Feature::Vertex(_) => unreachable!("a vertex is canonical"),
        };
        let mut grid = Self {
            points: [P3::origin(); GRID_POINTS],
            tangents: [[V3::zeros(); 2]; GRID_POINTS],
            lengths: [0.0; 2],
            bend: 0.0,
            curvature: 0.0,
            shape,
            radius: 0.0,
            has_pole: false,
            poles: Vec::new(),
        };
        for k in 0..grid.len() {
            let [x, y] = grid.params(k);
            let uv = at(rect, x, y);
            grid.points[k] = match area.feature {
                Feature::Face(f) => {
                    let d = body.face(f).surface.derivs(uv);
                    let step = step(1, SIDE);
                    grid.tangents[k] =
                        [d.du * (step * (rect.u1 - rect.u0)), d.dv * (step * (rect.v1 - rect.v0))];
                    d.p
                }
                Feature::Edge(_) => body.curve_samples_of(index)[k].p,
                Feature::Vertex(_) => unreachable!("a vertex is canonical"),
            };
        }
        let middle = at(rect, 0.5, 0.5);
        grid.lengths = match area.feature {
            Feature::Face(f) => {
                let d = body.face(f).surface.derivs(middle);
                [d.du.norm() * (rect.u1 - rect.u0), d.dv.norm() * (rect.v1 - rect.v0)]
            }
            Feature::Edge(_) => {
                let middle = body.curve_samples_of(index)[MIDDLE];
                [middle.d1.norm() * (rect.u1 - rect.u0), f64::INFINITY]
            }
            Feature::Vertex(_) => [f64::INFINITY; 2],
        };
        let mut longest = 0.0_f64;
        for k in 0..grid.len() {
            let (i, j) = (k / shape[1], k % shape[1]);
            let (right, down) = (j + 1 < shape[1], i + 1 < shape[0]);
            let to = |l: usize| (grid.points[l] - grid.points[k]).norm();
            if right && down {
                longest = longest.max(to(k + shape[1] + 1));
                longest = longest.max((grid.points[k + 1] - grid.points[k + shape[1]]).norm());
            } else if down && shape[1] == 1 {
                longest = longest.max(to(k + 1));
            }
        }
        for k in 0..grid.len() {
            let (i, j) = (k / shape[1], k % shape[1]);
            for (inside, step) in [(0 < i && i + 1 < shape[0], shape[1]), (0 < j && j + 1 < shape[1], 1)] {
                if inside {
                    let before = grid.points[k] - grid.points[k - step];
                    let after = grid.points[k + step] - grid.points[k];
                    let second = (after - before).norm();
                    grid.bend = grid.bend.max(second);
                    let steps = (before.norm() * after.norm()).max(f64::MIN_POSITIVE);
                    grid.curvature = grid.curvature.max(second / steps);
                }
            }
        }
        // A margin of a tenth accounts for the curvature of a cell.
        grid.radius = 0.55 * longest;
        if shape[1] > 1 {
            let sides = grid.point_sides();
            grid.has_pole = !sides.is_empty();
            grid.poles =
                sides.iter().filter_map(|&(along, is_end)| Pole::new(&grid, along, is_end)).collect();
        }
        grid
    }

    /// Sides of a patch that are a single point. Each is given by the index of the parameter that is
    /// constant along the side, and whether the side is at the end of that parameter.
    fn point_sides(&self) -> ArrayVec<(usize, bool), 4> {
        let is_fixed =
            |k: usize, t: usize| self.tangents[k][t].norm() <= COLLAPSED * self.tangents[k][1 - t].norm();
        [(0, false), (0, true), (1, false), (1, true)]
            .into_iter()
            .filter(|&(along, is_end)| side(along, is_end).into_iter().all(|k| is_fixed(k, 1 - along)))
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    pub(crate) fn points(&self) -> &[P3] {
        &self.points[..self.len()]
    }

    /// Indices of the grid points on the border of a patch, in order around it.
    pub(crate) fn border(&self) -> impl Iterator<Item = usize> {
        let [rows, columns] = self.shape;
        let (last_row, last_column) = (rows - 1, columns - 1);
        (0..last_column)
            .chain((0..last_row).map(move |i| i * columns + last_column))
            .chain((0..last_column).map(move |j| last_row * columns + last_column - j))
            .chain((0..last_row).map(move |i| (last_row - i) * columns))
    }

    /// Normal at a footpoint, interpolated from those at the grid points around it; not normalised.
    pub(crate) fn normal(&self, normals: &Normals, foot: &GridFoot) -> V3 {
        let [x, y] = foot.steps;
        self.mixed(&normals.vectors, foot.about, (&lagrange(x).0, &lagrange(y).0))
    }

    /// Indices of the three by three (or three) grid points around grid point `k`, itself included; fewer
    /// at the border.
    fn around(&self, k: usize) -> impl Iterator<Item = usize> + Clone {
        let [rows, columns] = self.shape;
        let (i, j) = (k / columns, k % columns);
        let near = |c: usize, n: usize| c.saturating_sub(1)..=(c + 1).min(n - 1);
        near(i, rows).flat_map(move |a| near(j, columns).map(move |b| a * columns + b))
    }

    /// Whether [`Grid::foot`] converges for a point at this distance (mm) from the area. Its steps
    /// neglect the curvature, so each error is about distance times curvature times the previous one.
    pub(crate) fn finds_feet(&self, distance: f64) -> bool {
        distance * self.curvature < 0.25
    }

    /// Derivatives, per step of the grid, of a function whose spatial gradient at grid point `k` of a
    /// patch is `g`.
    pub(crate) fn slopes(&self, k: usize, g: &V3) -> [f64; 2] {
        self.tangents[k].map(|t| g.dot(&t))
    }

    /// Starting points, in unit-box parameters, in those cells of a patch that may contain a minimum of
    /// a function. `slopes` are its derivatives at the grid points, per step of the grid. Derivatives
    /// also separate two minima that have no grid point between them; a comparison of values does not.
    pub(crate) fn cells_with_minimum(
        &self,
        slopes: &[[f64; 2]; GRID_POINTS],
    ) -> impl Iterator<Item = [f64; 2]> {
        let [rows, columns] = self.shape;
        (0..rows - 1).flat_map(move |i| (0..columns.saturating_sub(1)).map(move |j| (i, j))).filter_map(
            move |(i, j)| {
                let k = i * columns + j;
                let cell = Cell::new([k, k + columns, k + 1, k + columns + 1].map(|l| &slopes[l]));
                if !cell.passes_zero() {
                    return None;
                }
                let [uu, uv, vv] = cell.second;
                let (trace, det) = (uu + vv, cell.determinant());
                if trace <= 0.0 || det < -CELL_SLACK * trace * trace || !cell.may_be_critical(0.5, CELL_SLACK)
                {
                    return None;
                }
                let [g, h] = cell.first;
                let (s, t) = if det > CELL_SLACK * CELL_SLACK * trace * trace {
                    ((uv * h - vv * g) / det, (uv * g - uu * h) / det)
                } else {
                    (0.0, 0.0)
                };
                let [x, y] = self.params(k);
                let within = |s: f64| (0.5 + s).clamp(0.0, 1.0);
                Some([x + within(s) * step(1, rows), y + within(t) * step(1, columns)])
            },
        )
    }

    /// Whether a function whose value at grid point `k` of a patch is smaller than at its neighbours may
    /// have a critical point near `k`. `slopes` are its derivatives, per step of the grid. Interior
    /// points are never excluded. A point on the border is excluded if the derivative across the border
    /// does not change its sign around the point, or if no adjacent cell can contain a zero of both
    /// derivatives; [`AROUND_SLACK`] widens both tests.
    pub(crate) fn may_be_critical(&self, slopes: &[[f64; 2]; GRID_POINTS], k: usize) -> bool {
        let [rows, columns] = self.shape;
        let (i, j) = (k / columns, k % columns);
        let on_border = [i.is_multiple_of(rows - 1), j.is_multiple_of(columns - 1)];
        let passes_zero = (0..2).all(|x| {
            let around = self.around(k).map(|l| slopes[l][x]);
            let (lo, hi) =
                around.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), s| (lo.min(s), hi.max(s)));
            let slack = AROUND_SLACK * (hi - lo);
            !on_border[x] || around.clone().any(f64::is_nan) || lo - slack <= 0.0 && hi + slack >= 0.0
        });
        let beside = |c: usize, n: usize| c.saturating_sub(1)..(c + 1).min(n - 1);
        passes_zero
            && (on_border == [false; 2]
                || columns == 1
                || beside(i, rows).any(|i| {
                    beside(j, columns).any(|j| {
                        let k = i * columns + j;
                        let cell = Cell::new([k, k + columns, k + 1, k + columns + 1].map(|l| &slopes[l]));
                        cell.may_be_critical(1.0, AROUND_SLACK)
                    })
                }))
    }

    /// Whether a point of this area, between its grid point `k` and the neighbours of `k`, may have its
    /// footpoint inside another area. `beyond[l]` is the footpoint of grid point `l` of this area, in
    /// unit-box parameters of the other area ([`GridFoot::beyond`]): outside [0, 1] if the footpoint is
    /// beyond the border of that area.
    pub(crate) fn may_face(&self, beyond: &[[f64; 2]; GRID_POINTS], k: usize) -> bool {
        (0..2).all(|c| {
            let (lo, hi) = self
                .around(k)
                .map(|l| beyond[l][c])
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
            lo <= 1.0 + MAX_FOOT_ERROR && hi >= -MAX_FOOT_ERROR
        })
    }

    /// Whether a vector field, given at the grid points, may be as short as `length` somewhere between
    /// `k` and its neighbours. The field is assumed to deviate from linear interpolation by at most a
    /// quarter of its second differences, twice as much as a quadratic field.
    pub(crate) fn may_vanish(&self, field: &[V3; GRID_POINTS], k: usize, length: f64) -> bool {
        let v = field[k];
        let size = v.norm();
        let [rows, columns] = self.shape;
        let (ci, cj) = (center(k / columns, rows), center(k % columns, columns));
        let c = ci * columns + cj;
        let second = |step: usize| (field[c - step] - field[c] * 2.0 + field[c + step]).norm();
        let bend = second(columns) + if columns > 1 { second(1) } else { 0.0 };
        // The component along the field at this point is at least as large at all neighbours.
        let lowest = self.around(k).map(|l| field[l].dot(&v)).fold(f64::INFINITY, f64::min);
        let needed = (length + 0.25 * bend) * size;
        lowest <= needed || lowest.is_nan() || needed.is_nan()
    }

    /// Index of the grid point of a patch whose parameters are nearest to the unit-box parameters `x`.
    pub(crate) fn nearest_to(&self, x: [f64; 2]) -> usize {
        let [rows, columns] = self.shape;
        let next =
            |c: f64, n: usize| (0..n).find(|&i| i + 1 == n || c < step(2 * i + 1, 2 * n - 1)).unwrap_or(0);
        next(x[0], rows) * columns + next(x[1], columns)
    }

    /// Unit-box parameters of grid point `k`.
    pub(crate) fn params(&self, k: usize) -> [f64; 2] {
        [step(k / self.shape[1], self.shape[0]), step(k % self.shape[1], self.shape[1])]
    }

    /// Whether no neighbour of grid point `k` has a smaller value. Of equal values, the one with the
    /// lowest index is the minimum. A value that is not finite is never a minimum.
    pub(crate) fn is_minimum(&self, values: &[f64; GRID_POINTS], k: usize) -> bool {
        let v = values[k];
        if !v.is_finite() {
            return false;
        }
        let [rows, columns] = self.shape;
        let (i, j) = (k / columns, k % columns);
        let (first, last) = (j.saturating_sub(1), (j + 2).min(columns));
        for row in i.saturating_sub(1)..(i + 2).min(rows) {
            let mut of_row = row * columns + first..row * columns + last;
            if of_row.any(|l| values[l] < v || (values[l] <= v && l < k)) {
                return false;
            }
        }
        true
    }

    /// Approximation of the point of the area nearest to `p`. The area is replaced by the quadratic
    /// interpolant of the grid points around the nearest one.
    pub(crate) fn foot(&self, p: &P3) -> GridFoot {
        let mut nearest = (f64::INFINITY, 0);
        for (k, q) in self.points().iter().enumerate() {
            let d = (q - p).norm_squared();
            if d < nearest.0 {
                nearest = (d, k);
            }
        }
        let [rows, columns] = self.shape;
        if columns == 1 {
            return self.foot_on_curve(p, nearest);
        }
        let (i, j) = (nearest.1 / columns, nearest.1 % columns);
        let (ci, cj) = (center(i, rows), center(j, columns));
        let mut x = [offset(i, ci), offset(j, cj)];
        let mut best = (nearest.0, x, self.points[nearest.1] - p);
        let mut free = x;
        // Two steps suffice because the start is within about half a cell of the foot.
        for round in 0..3 {
            let (q, du, dv) = self.interpolant((ci, cj), x);
            let r = q - p;
            let d = r.norm_squared();
            if d < best.0 {
                best = (d, x, r);
            }
            if round == 2 {
                break;
            }
            let (a, b, c) = (du.norm_squared(), du.dot(&dv), dv.norm_squared());
            let (e, f) = (du.dot(&r), dv.dot(&r));
            let det = a * c - b * b;
            let (s, t) = if det > 1e-12 * a * c {
                ((c * e - b * f) / det, (a * f - b * e) / det)
            } else {
                (if a > 0.0 { e / a } else { 0.0 }, 0.0)
            };
            free = [x[0] - s, x[1] - t];
            x = free.map(|c| c.clamp(-1.0, 1.0));
        }
        let unit = |c: usize, s: f64, n: usize| step(c, n) + s * step(1, n);
        let x = best.1;
        GridFoot {
            params: [unit(ci, x[0], rows), unit(cj, x[1], columns)],
            beyond: [unit(ci, free[0], rows), unit(cj, free[1], columns)],
            offset: best.2,
            about: (ci, cj),
            steps: x,
        }
    }

    /// Implements [`Grid::foot`] for an edge, given the squared distance (mm²) and the index of the
    /// nearest grid point.
    fn foot_on_curve(&self, p: &P3, (nearest, i): (f64, usize)) -> GridFoot {
        let c = center(i, self.shape[0]);
        let [before, at, after] = [self.points[c - 1], self.points[c], self.points[c + 1]];
        // The interpolant as a polynomial of the steps from the middle point.
        let (first, second) = ((after - before) * 0.5, (after - at + (before - at)) * 0.5);
        let from = at - p;
        let mut s = offset(i, c);
        let mut best = (nearest, s, self.points[i] - p);
        let mut free = s;
        for round in 0..3 {
            let r = from + (first + second * s) * s;
            let d = r.norm_squared();
            if d < best.0 {
                best = (d, s, r);
            }
            if round == 2 {
                break;
            }
            let tangent = first + second * (2.0 * s);
            let length_sq = tangent.norm_squared();
            free = s - if length_sq > 0.0 { tangent.dot(&r) / length_sq } else { 0.0 };
            s = free.clamp(-1.0, 1.0);
        }
        let unit = |s: f64| step(c, self.shape[0]) + s * step(1, self.shape[0]);
        GridFoot {
            params: [unit(best.1), 0.0],
            beyond: [unit(free), 0.0],
            offset: best.2,
            about: (c, 0),
            steps: [best.1, 0.0],
        }
    }

    /// Weighted sum of the vectors `v` at the three by three grid points around grid point (ci, cj). The
    /// weights are the products of `ws` along u and `wt` along v. For an area of an edge, whose samples form
    /// a single column, only the three points along u and the weights `ws` are used.
    fn mixed(&self, v: &[V3; GRID_POINTS], (ci, cj): (usize, usize), (ws, wt): (&[f64; 3], &[f64; 3])) -> V3 {
        let columns = self.shape[1];
        (0..3).fold(V3::zeros(), |sum, i| {
            if columns == 1 {
                return sum + v[ci + i - 1] * ws[i];
            }
            let row = (ci + i - 1) * columns + cj - 1;
            sum + (v[row] * wt[0] + v[row + 1] * wt[1] + v[row + 2] * wt[2]) * ws[i]
        })
    }

    /// Point and tangents (per step of the grid) of the quadratic interpolant of a patch around grid
    /// point (ci, cj), at (s, t) steps from that point.
    fn interpolant(&self, (ci, cj): (usize, usize), [s, t]: [f64; 2]) -> (P3, V3, V3) {
        let columns = self.shape[1];
        let (ws, ds) = lagrange(s);
        let (wt, dt) = lagrange(t);
        let (mut p, mut du, mut dv) = (V3::zeros(), V3::zeros(), V3::zeros());
        for i in 0..3 {
            let row = (ci + i - 1) * columns + cj - 1;
            let q = [0, 1, 2].map(|j| self.points[row + j].coords);
            let mix = |w: &[f64; 3]| q[0] * w[0] + q[1] * w[1] + q[2] * w[2];
            let (r, r1) = (mix(&wt), mix(&dt));
            p += r * ws[i];
            du += r * ds[i];
            dv += r1 * ws[i];
        }
        (P3::from(p), du, dv)
    }
}

/// Indices of the grid points on the side of a patch at the start or the end of the parameter `along` (0
/// for u, 1 for v).
fn side(along: usize, is_end: bool) -> [usize; SIDE] {
    let at = if is_end { SIDE - 1 } else { 0 };
    std::array::from_fn(|k| if along == 0 { at * SIDE + k } else { k * SIDE + at })
}

/// Index of the middle of three adjacent points that include `i`, among `n` points.
fn center(i: usize, n: usize) -> usize {
    if n < 3 { 0 } else { i.clamp(1, n - 2) }
}

/// Position of grid index `i` relative to the adjacent or equal index `center`, in steps of the grid.
fn offset(i: usize, center: usize) -> f64 {
    match i.cmp(&center) {
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => 1.0,
    }
}

/// Values and derivatives at `s` of the quadratic Lagrange polynomials for the nodes −1, 0, 1.
fn lagrange(s: f64) -> ([f64; 3], [f64; 3]) {
    ([0.5 * s * (s - 1.0), 1.0 - s * s, 0.5 * s * (s + 1.0)], [s - 0.5, -2.0 * s, s + 0.5])
}

#[cfg(test)]
mod tests;
