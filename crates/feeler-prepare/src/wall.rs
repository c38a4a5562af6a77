//! Computes the minimum thickness of the material: the length of the shortest segment through it that is
//! normal to the boundary at both ends. Such a segment is called a wall.
//!
//! Pairs of cells (nodes of the hierarchy, then ever smaller rectangles of its areas) are subdivided,
//! the pair with the smallest lower bound first. Each pair is followed along its most promising parts
//! down to cells that are small relative to their distance; a pair of such cells that is not excluded
//! counts as a wall. A pair is discarded only if it provably contains no wall: its cells have no
//! opposite normals, do not reach each other through the material along their normals, or lie outside
//! the trims.
//!
//! # Source
//! MATH §19.

use feeler_geom::frame::{complete_basis, unit};
use feeler_geom::obb::unreachable_in_frame;
use feeler_geom::{Obb, P2, Rect, RevolutionCone, Surface, V3, math};
use feeler_hierarchy::{FaceId, Feature, FeatureType, Hierarchy, NodeId};
use std::collections::{BTreeMap, BinaryHeap};
use std::f64::consts::PI;

mod core;

use self::core::{Core, across, core, extent, max_component, max_extent};
use crate::cover::Coverage;
use crate::normals::normals_over;

/// Fraction of the smallest upper bound of the thickness: pairs whose lower bound exceeds it are not
/// subdivided. A value nearer to 1 is slower; a smaller one reports a smaller thickness than necessary.
const CLOSING_RATIO: f64 = 0.995;

/// Maximum relative difference between the bounds of the thickness at a pair of small cells, which is
/// not subdivided any more. A larger value reports a smaller thickness than necessary; a smaller one is
/// slower.
const MAX_BOUND_GAP: f64 = 0.004;

/// Limits of small cells, which need no subdivision: their diagonal relative to the thickness between
/// them, and the half-angle (rad) of the cone around their normals.
const SMALL_CELL: (f64, f64) = (0.1, 0.05);

/// Minimum thickness, relative to the size of the solid, of walls that are searched for. Thinner ones are
/// ignored because any direction may be a normal at a singular point, so that every such point would be a
/// wall. With a larger value thin walls are missed; with a smaller one singular points count as walls.
const MIN_THICKNESS: f64 = 1e-6;

/// Thickness, relative to the size of the solid: the search ends as soon as its upper bound is at most
/// this. Such walls are folds and cusps, where every bound is poor. A larger value reports lower bounds
/// far below the thickness; with a smaller one folds take long.
const GIVE_UP_THICKNESS: f64 = 1e-5;

/// Bound of rounding errors, relative to the lengths involved. A larger value reports a smaller
/// thickness; with a smaller one the thickness can be too large.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Maximum number of halvings of the rectangle of an area, after which a pair with this cell is not
/// subdivided any more and counts as a wall.
const MAX_HALVINGS: u8 = 48;

/// Limit of the work of the search, in bounded pairs of cells: the first number, plus the second one for
/// each area of the solid. If it is exceeded, the smallest lower bound of the open pairs is the result.
const BUDGET: (usize, usize) = (240_000, 40);

/// Limit of the memory of the search, in cells: the first number, plus the second one for each area of
/// the solid. A cell takes about 400 bytes. If it is exceeded, the search ends as after [`BUDGET`].
/// Only solids that are thinner than [`MIN_THICKNESS`] nearly everywhere reach it first.
const MAX_CELLS: (usize, usize) = (60_000, 4);

/// Cost of bounding the normals of a part of a free-form surface, as a number of bounded pairs of cells.
const FREE_FORM_COST: usize = 150;

/// Angle (rad) added to the turn of the normals, by which the lengths of a cell are weighted when the
/// cut is chosen, so that cells that are flat in every direction are cut across the longer one. It
/// affects only speed.
const FLAT_TURN: f64 = 1e-3;

/// Computes a lower bound (mm) of the smallest thickness of the material,
/// [`min_thickness`](feeler_hierarchy::SolidInfo::min_thickness). The result is infinite for sheets,
/// which contain no material.
pub(crate) fn wall(h: &Hierarchy) -> f64 {
    if h.info.inertia.is_none() {
        return f64::INFINITY;
    }
    Search::new(h).run()
}

/// Part of the boundary that a cell contains: all faces below a node of the hierarchy, or a parameter
/// rectangle of a face that was made by `halvings` halvings of an area.
#[derive(Clone, Copy, Debug)]
enum CellSource {
    Node(NodeId),
    Piece { face: FaceId, rect: Rect, halvings: u8 },
}

/// Part of the solid's boundary with its bounds, in the frame of the solid.
struct Cell {
    source: CellSource,
    obb: Obb,
    /// Cone around the outward normals of the part of the boundary in the cell.
    cap: RevolutionCone,
    core: Core,
    /// Indices, among the cells of the search, of the two parts of this cell; `None` until they are
    /// computed. The index is `None` for a part without any point of a face.
    parts: Option<[Option<u32>; 2]>,
}

/// Two cells, possibly the same one twice, between whose boundary points a wall may be, with bounds of
/// its thickness.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Lower bound of the lengths (mm) of all walls that end in the two cells. A wall is a segment through
    /// the material that is normal to the boundary at both ends.
    near: f64,
    /// Upper bound of the lengths (mm) of all walls that end in the two cells.
    far: f64,
    cells: [u32; 2],
    /// Work of the search ([`Search::spent`]) up to the time when the pair was bounded, which is larger
    /// for later pairs. It makes the order of pairs with equal lower bounds deterministic.
    serial: usize,
}

// The pair with the smallest lower bound is on top of a heap; among pairs with equal lower bounds, the one
// that was bounded last, whose cells tend to be the smallest.
feeler_geom::ordered_by!(Pair, |a, b| b.near.total_cmp(&a.near).then(a.serial.cmp(&b.serial)));

struct Search<'a> {
    h: &'a Hierarchy,
    cells: Vec<Cell>,
    coverage: BTreeMap<FaceId, Coverage<'a>>,
    size: f64,
    /// Bound of the rounding of lengths (mm).
    slack: f64,
    /// Smallest upper bound of the thickness (mm) found at pairs of small cells.
    upper: f64,
    /// Work done so far: number of bounded pairs of cells, plus [`FREE_FORM_COST`] for each bounded part
    /// of a free-form surface. It is limited by [`BUDGET`].
    spent: usize,
}

impl<'a> Search<'a> {
    fn new(h: &'a Hierarchy) -> Self {
        let (size, max_coordinate) =
            h.nodes.first().map_or((0.0, 0.0), |n| (2.0 * n.obb.radius(), n.obb.center.coords.amax()));
        let slack = ROUNDING * (size + max_coordinate);
        let mut out = Self {
            h,
            cells: Vec::new(),
            coverage: BTreeMap::new(),
            size,
            slack,
            upper: f64::INFINITY,
            spent: 0,
        };
        if !h.nodes.is_empty() {
            out.node(NodeId(0));
        }
        out
    }

    fn run(mut self) -> f64 {
        let limit = |(fixed, per_area): (usize, usize)| fixed + per_area * self.h.areas.len();
        let (budget, max_cells) = (limit(BUDGET), limit(MAX_CELLS));
        let mut lower = f64::INFINITY;
        let mut open: BinaryHeap<Pair> = BinaryHeap::new();
        let mut best = if self.cells.is_empty() { None } else { self.pair(0, 0) };
        while let Some(pair) = best.or_else(|| open.pop()) {
            let deep = best.take().is_some();
            if pair.near >= CLOSING_RATIO * self.upper
                || self.spent > budget
                || self.cells.len() > max_cells
                || self.upper <= GIVE_UP_THICKNESS * self.size
            {
                lower = lower.min(pair.near);
                if !deep {
                    break;
                }
                continue;
            }
            if self.is_small(&pair) {
                self.upper = self.upper.min(pair.far);
                lower = lower.min(pair.near);
                continue;
            }
            let mut parts = self.open(&pair);
            if parts.is_empty() {
                continue;
            }
            // The part that most likely contains a wall comes first: the one with the smallest lower
            // bound, then the one whose boxes face each other best.
            let rank = |p: &Pair| (p.near, self.aside(p));
            let first = (0..parts.len())
                .min_by(|i, j| {
                    let (a, b) = (rank(&parts[*i]), rank(&parts[*j]));
                    a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
                })
                .unwrap_or(0);
            best = Some(parts.swap_remove(first));
            open.extend(parts);
        }
        lower
    }

    /// Returns whether a pair is not subdivided any more and counts as a wall: its cells are small and
    /// its bounds are close, or a cell has been halved the maximum number of times.
    fn is_small(&self, pair: &Pair) -> bool {
        let [a, b] = pair.cells.map(|i| &self.cells[i as usize]);
        let whole = |c: &Cell| match c.source {
            CellSource::Node(_) => false,
            CellSource::Piece { halvings, .. } => halvings >= MAX_HALVINGS,
        };
        let small =
            |c: &Cell| matches!(c.source, CellSource::Piece { .. }) && c.cap.half_angle <= SMALL_CELL.1;
        let close = pair.far * (1.0 - MAX_BOUND_GAP) <= pair.near + self.slack;
        let narrow = 2.0 * a.obb.radius().max(b.obb.radius()) <= SMALL_CELL.0 * pair.near;
        (close && narrow && small(a) && small(b)) || whole(a) || whole(b)
    }

    /// Distance (mm) between the centres of a pair's two cells, measured perpendicular to the axis of
    /// one cell's cone of normals, whichever cell gives less.
    fn aside(&self, pair: &Pair) -> f64 {
        let [a, b] = pair.cells.map(|i| &self.cells[i as usize]);
        let d = b.obb.center - a.obb.center;
        let aside = |m: &V3| (d - m * d.dot(m)).norm();
        aside(&a.cap.axis).min(aside(&b.cap.axis))
    }

    /// Subdivides one cell of a pair, the larger or less flat one, and returns the pairs of its parts
    /// with the other cell that may contain a wall. A pair of a cell with itself is divided into the
    /// pairs of its parts.
    fn open(&mut self, pair: &Pair) -> Vec<Pair> {
        let [a, b] = pair.cells;
        let mut out = Vec::new();
        if a == b {
            let parts = self.parts(a);
            for (i, x) in parts.iter().enumerate() {
                for y in &parts[i..] {
                    out.extend(x.zip(*y).and_then(|(x, y)| self.pair(x, y)));
                }
            }
            return out;
        }
        let open = |i: u32| {
            let c = &self.cells[i as usize];
            c.obb.radius() * (c.cap.half_angle.min(1.0) + FLAT_TURN)
        };
        let (a, b) = if open(a) >= open(b) { (a, b) } else { (b, a) };
        for part in self.parts(a).into_iter().flatten() {
            out.extend(self.pair(part, b));
        }
        out
    }

    fn parts(&mut self, i: u32) -> [Option<u32>; 2] {
        if let Some(parts) = self.cells[i as usize].parts {
            return parts;
        }
        let cap = self.cells[i as usize].cap;
        let parts = match self.cells[i as usize].source {
            CellSource::Node(node) => {
                self.h.nodes[node.index()].children().map_or([None; 2], |c| c.map(|c| self.node(c)))
            }
            CellSource::Piece { face, rect, halvings } => {
                let surface = &self.h.faces[face.index()].surface;
                halves(surface, &rect).map(|r| {
                    let coverage = self
                        .coverage
                        .entry(face)
                        .or_insert_with(|| Coverage::new(&self.h.faces[face.index()].trim));
                    let rect = coverage.shrink(&r)?;
                    Some(self.piece(face, rect, halvings + 1, Some(cap)))
                })
            }
        };
        self.cells[i as usize].parts = Some(parts);
        parts
    }

    /// Adds the cell of a node of the hierarchy and returns its index. Returns `None` if the node
    /// contains no face.
    fn node(&mut self, i: NodeId) -> Option<u32> {
        let node = &self.h.nodes[i.index()];
        if node.types & FeatureType::FACES == 0 {
            return None;
        }
        if let Some(area) = node.area().map(|a| &self.h.areas[a.index()]) {
            let Feature::Face(face) = area.feature else { return None };
            let surface = &self.h.faces[face.index()].surface;
            if surface.is_canonical() {
                return Some(self.piece(face, area.rect, 0, None));
            }
            // The bounds of the node are reused because bounding free-form parts takes most of the time.
            let core = core(surface, true, &area.rect, &node.obb);
            return Some(self.add(
                CellSource::Piece { face, rect: area.rect, halvings: 0 },
                node.obb,
                node.cone,
                core,
            ));
        }
        Some(self.add(
            CellSource::Node(i),
            node.obb,
            node.cone,
            Core { centers: node.obb, axis: None, exact: false, radius: 0.0 },
        ))
    }

    fn piece(&mut self, face: FaceId, rect: Rect, halvings: u8, whole: Option<RevolutionCone>) -> u32 {
        let f = &self.h.faces[face.index()];
        let cap = normals_over(&f.surface, &rect).map_or_else(RevolutionCone::all, |mut normals| {
            if !f.outward {
                normals.iter_mut().for_each(|n| *n = -*n);
            }
            RevolutionCone::around(&normals)
        });
        // A cone around the normals of a larger part is also valid. It is used where it is narrower
        // because rounding widens the cone of a sliver.
        let cap = whole.filter(|w| w.half_angle < cap.half_angle).unwrap_or(cap);
        // The box is thin along the normals.
        let middle = f.surface.derivs(rect.center());
        let z = if cap.is_all() { unit(middle.du.cross(&middle.dv)).unwrap_or_else(V3::z) } else { cap.axis };
        let x = unit(middle.du - z * z.dot(&middle.du)).unwrap_or_else(|| complete_basis(&z).0);
        let obb = Obb::around(&f.surface.hull_points(&rect), [x, z.cross(&x), z]);
        self.spent += if f.surface.is_canonical() { 0 } else { FREE_FORM_COST };
        let core = core(&f.surface, f.outward, &rect, &obb);
        self.add(CellSource::Piece { face, rect, halvings }, obb, cap, core)
    }

    fn add(&mut self, source: CellSource, obb: Obb, cap: RevolutionCone, core: Core) -> u32 {
        let index = feeler_geom::count::index(self.cells.len());
        self.cells.push(Cell { source, obb, cap, core, parts: None });
        index
    }

    /// Bounds the thickness of the walls between two cells. Returns `None` if there is provably no wall
    /// that is thicker than [`MIN_THICKNESS`] and thinner than the smallest upper bound so far. In the
    /// code, `d` points from the first cell to the second one and `n` is the outward normal in the first
    /// one: a wall of thickness τ has `d = -τ n`.
    fn pair(&mut self, i: u32, j: u32) -> Option<Pair> {
        self.spent += 1;
        let (a, b) = (&self.cells[i as usize], &self.cells[j as usize]);
        let slack = self.slack;
        // No normals are opposite if the angle between one axis and the reverse of the other exceeds the
        // sum of both half-angles.
        let together = a.cap.half_angle + b.cap.half_angle;
        let opposite = -a.cap.axis.dot(&b.cap.axis);
        if together < PI && opposite < math::cos(together) - 1e-12 {
            return None;
        }
        let d = b.obb.center - a.obb.center;
        let caps = [(a.cap.axis, a.cap.half_angle), (-b.cap.axis, b.cap.half_angle)];
        let (m, angle) = if caps[0].1 <= caps[1].1 { caps[0] } else { caps[1] };
        let mut near = 0.0_f64;
        let mut far = d.norm() + a.obb.radius() + b.obb.radius();
        for (m, angle) in caps {
            let cos = math::cos(angle);
            if angle >= MAX_USEFUL_HALF_ANGLE {
                continue;
            }
            let (along, spread) = (-d.dot(&m), extent(&a.obb, &m) + extent(&b.obb, &m) + slack);
            near = near.max(along - spread);
            far = far.min((along + spread) / cos);
        }
        let circle = self.one_circle(a, b);
        if let Some(one) = circle {
            // Normals at two points of a circle that are opposite belong to the same point or to opposite
            // points.
            let radii = a.core.radius + b.core.radius;
            match one {
                ArcPoints::None => return None,
                ArcPoints::Same => {
                    (near, far) = (near.max(radii - 4.0 * slack), far.min(radii + 4.0 * slack))
                }
                ArcPoints::Any => {}
            }
        }
        if let Some(across) = across(&a.core, &b.core) {
            // The offset is a multiple of the normal, to one side or the other.
            let (long, radii) = (across.norm(), a.core.radius + b.core.radius);
            let slack = 4.0 * slack;
            if long > MIN_OFFSET * self.size {
                let turned = math::atan2(across.cross(&m).norm(), across.dot(&m));
                let max_turn = angle + slack / long;
                let sides = [(turned <= max_turn, long), (PI - turned <= max_turn, -long)];
                let min_along = sides.iter().rev().find(|s| s.0)?.1;
                let max_along = sides.iter().find(|s| s.0)?.1;
                near = near.max(radii + min_along - slack);
                far = far.min(radii + max_along + slack);
            } else {
                near = near.max(radii - long - slack);
                far = far.min(radii + long + slack);
            }
        }
        if angle < MAX_USEFUL_HALF_ANGLE {
            let middle = a.obb.center + d * 0.5;
            let core_point = |c: &Core| {
                let o = c.centers.center;
                c.axis.map_or(o, |axis| o + axis * (middle - o).dot(&axis))
            };
            let cone = (m, angle);
            let offset = core_point(&a.core) - core_point(&b.core);
            let turned = math::atan2(offset.cross(&m).norm(), offset.dot(&m));
            let radii = a.core.radius + b.core.radius;
            let spread = max_extent(&a.core.centers, cone) + max_extent(&b.core.centers, cone) + slack;
            let min_along = offset.norm() * math::cos((turned + angle).min(PI));
            let max_along = offset.norm() * math::cos((turned - angle).max(0.0));
            near = near.max(radii + min_along - spread);
            far = far.min(radii + max_along + spread);
        }
        near = (near - slack).max(0.0);
        if far <= MIN_THICKNESS * self.size || far < near {
            return None;
        }
        if angle < MAX_USEFUL_HALF_ANGLE && i != j {
            let sin = math::sin(angle);
            let reach = far.min(self.upper);
            let aside = d - m * d.dot(&m);
            if let Some(e) = unit(aside)
                && aside.norm() > extent(&a.obb, &e) + extent(&b.obb, &e) + reach * sin + slack
            {
                return None;
            }
            let along = |axis: &V3| slack + reach * max_component((m, angle), axis);
            if unreachable_in_frame(&a.obb, &b.obb, slack, along).is_some() {
                return None;
            }
        }
        // If the normals bound little, the boxes may bound more.
        let near = if i == j { near } else { near.max(a.obb.distance_lower_bound(&b.obb) - slack) };
        Some(Pair { near, far, cells: [i, j], serial: self.spent })
    }
}

/// Points of two arcs of one circle between which a chord can be normal to the circle at both ends.
enum ArcPoints {
    /// Such points do not exist.
    None,
    /// The ends can only be one common point of the arcs.
    Same,
    /// The ends can be one common point, or opposite points of the circle.
    Any,
}

impl Search<'_> {
    /// Relates two cells on tori with the same core circle by their arcs of the circle, or returns
    /// `None` for other cells. A wall between the cells is normal to both tori, so the chord between the
    /// corresponding points of the core circle is normal to the circle at both ends.
    fn one_circle(&self, a: &Cell, b: &Cell) -> Option<ArcPoints> {
        let of = |c: &Cell| match c.source {
            CellSource::Piece { face, rect, .. } => match &self.h.faces[face.index()].surface {
                Surface::Torus { frame, major, .. } => Some((*frame, *major, rect)),
                _ => None,
            },
            CellSource::Node(_) => None,
        };
        let ((fa, ra, a), (fb, rb, b)) = (of(a)?, of(b)?);
        let slack = self.slack;
        let same = (fa.origin - fb.origin).norm() <= slack
            && (ra - rb).abs() <= slack
            && fa.z.cross(&fb.z).norm() <= ROUNDING
            && fa.z.dot(&fb.z) > 0.0;
        if !same {
            return None;
        }
        let y = fa.z.cross(&fa.x);
        let turned = math::atan2(fb.x.dot(&y), fb.x.dot(&fa.x));
        let (low, high) = (b.u0 - a.u1 + turned - CIRCLE_ANGLE_TOL, b.u1 - a.u0 + turned + CIRCLE_ANGLE_TOL);
        // Multiples of half a turn between the bounds are the candidates.
        let first = (low / PI).ceil();
        Some(if first * PI > high {
            ArcPoints::None
        } else if first % 2.0 == 0.0 && (first + 1.0) * PI > high {
            ArcPoints::Same
        } else {
            ArcPoints::Any
        })
    }
}

/// Distance between two axes or centres, relative to the size of the solid, above which it defines a
/// direction from one to the other. A larger value gives looser bounds; with a smaller one, rounding
/// determines directions.
const MIN_OFFSET: f64 = 1e-6;

/// Tolerance (rad) for the rounding of angles on a circle. A larger value gives looser bounds; with a
/// smaller one walls are missed.
const CIRCLE_ANGLE_TOL: f64 = 1e-9;

/// Half-angle (rad) above which a cone of normals does not bound the thickness, because bounds are divided by
/// its cosine; below π/2. With a larger value, useless bounds are computed; a smaller one gives looser
/// bounds.
const MAX_USEFUL_HALF_ANGLE: f64 = 1.5;

/// Halves a parameter rectangle across the parameter along which it is longer and less flat.
fn halves(surface: &Surface, r: &Rect) -> [Rect; 2] {
    let middle = r.center();
    let open = |a: P2, b: P2| {
        let (p, q, m) = (surface.point(a), surface.point(b), surface.point(middle));
        let turn = (surface.normal(a) - surface.normal(b)).norm();
        ((p - m).norm() + (q - m).norm()) * (turn + FLAT_TURN)
    };
    let along_u = open(P2::new(r.u0, middle.y), P2::new(r.u1, middle.y));
    let along_v = open(P2::new(middle.x, r.v0), P2::new(middle.x, r.v1));
    if along_u >= along_v {
        [Rect { u1: middle.x, ..*r }, Rect { u0: middle.x, ..*r }]
    } else {
        [Rect { v1: middle.y, ..*r }, Rect { v0: middle.y, ..*r }]
    }
}
