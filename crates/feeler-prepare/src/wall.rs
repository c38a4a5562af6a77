//! The smallest thickness of the material: the shortest segment through it that is normal to the boundary at
//! both ends.
//!
//! Pairs of cells (nodes of the hierarchy, then ever smaller rectangles of its areas) are opened, the one
//! with the smallest lower bound of the distance first, and each along its own best parts down to cells that
//! are small against their distance. What is still possible there counts as a pair. A pair is left out only
//! where it provably holds none: no opposite normals, the wrong side, out of reach along the normals, outside
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

use self::core::{Core, across, core, extent, most_along, widest};
use crate::cover::Coverage;
use crate::normals::normals_over;

/// Pairs that reach the smallest upper bound but for this share are not opened further.
const ENOUGH: f64 = 0.995;

/// Bounds of a pair of small cells differ by less than this share.
const CLOSE: f64 = 0.004;

/// Small cells: their diagonal relative to the distance, and the half-angle (rad) of their normals.
const SMALL: (f64, f64) = (0.1, 0.05);

/// Walls thinner than this share of the solid's size are not looked for: at singular points normals have no
/// bound.
const THINNEST: f64 = 1e-6;

/// Thinner walls than this share of the size end the search: they are folds and cusps, where every bound is
/// poor.
const HOPELESS: f64 = 1e-5;

/// Rounding of bounds, relative to the lengths involved.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Halvings of the rectangle of an area.
const MAX_HALVINGS: u8 = 48;

/// Pairs that are bounded at most: so many, and so many for each area. Then the smallest lower bound is the
/// result.
const BUDGET: (usize, usize) = (240_000, 40);

/// What bounding a part of a free-form surface costs, in pairs.
const FREE_FORM: usize = 150;

/// What of a cell's length counts where its normals do not turn: cells that are flat in one direction are cut
/// across.
const FLAT: f64 = 1e-3;

/// See [`wall`](feeler_hierarchy::SolidInfo::wall). Infinite for sheets, which hold no material.
pub(crate) fn wall(h: &Hierarchy) -> f64 {
    if h.info.inertia.is_none() {
        return f64::INFINITY;
    }
    Search::new(h).run()
}

/// What a cell is.
#[derive(Clone, Copy, Debug)]
enum What {
    Node(NodeId),
    Piece { face: FaceId, rect: Rect, halvings: u8 },
}

/// A part of the boundary.
struct Cell {
    what: What,
    obb: Obb,
    /// Around the outward normals.
    cap: RevolutionCone,
    core: Core,
    /// Its parts, once they were asked for.
    parts: Option<[Option<u32>; 2]>,
}

/// Two cells, the same one twice included, that may hold a wall.
#[derive(Clone, Copy, Debug)]
struct Pair {
    near: f64,
    far: f64,
    cells: [u32; 2],
    /// When it was found.
    serial: usize,
}

// The nearest is on top of a heap; among equals the last found, which tends to be the smallest.
feeler_geom::ordered_by!(Pair, |a, b| b.near.total_cmp(&a.near).then(a.serial.cmp(&b.serial)));

struct Search<'a> {
    h: &'a Hierarchy,
    cells: Vec<Cell>,
    coverage: BTreeMap<FaceId, Coverage<'a>>,
    size: f64,
    /// Rounding of lengths.
    slack: f64,
    /// Smallest upper bound of a pair of small cells.
    upper: f64,
    /// Pairs bounded.
    spent: usize,
}

impl<'a> Search<'a> {
    fn new(h: &'a Hierarchy) -> Self {
        let (size, place) =
            h.nodes.first().map_or((0.0, 0.0), |n| (2.0 * n.obb.radius(), n.obb.center.coords.amax()));
        let slack = ROUNDING * (size + place);
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
        let budget = BUDGET.0 + BUDGET.1 * self.h.areas.len();
        let mut lower = f64::INFINITY;
        let mut open: BinaryHeap<Pair> = BinaryHeap::new();
        let mut best = if self.cells.is_empty() { None } else { self.pair(0, 0) };
        while let Some(pair) = best.or_else(|| open.pop()) {
            let deep = best.take().is_some();
            if pair.near >= ENOUGH * self.upper || self.spent > budget || self.upper <= HOPELESS * self.size {
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
            // The part that is most likely to hold a pair: the nearest, then the one whose boxes face each
            // other best.
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

    /// Whether what is left of a pair counts as a wall.
    fn is_small(&self, pair: &Pair) -> bool {
        let [a, b] = pair.cells.map(|i| &self.cells[i as usize]);
        let whole = |c: &Cell| match c.what {
            What::Node(_) => false,
            What::Piece { halvings, .. } => halvings >= MAX_HALVINGS,
        };
        let small = |c: &Cell| matches!(c.what, What::Piece { .. }) && c.cap.half_angle <= SMALL.1;
        let close = pair.far * (1.0 - CLOSE) <= pair.near + self.slack;
        let narrow = 2.0 * a.obb.radius().max(b.obb.radius()) <= SMALL.0 * pair.near;
        (close && narrow && small(a) && small(b)) || whole(a) || whole(b)
    }

    /// How far the centres of two cells are aside of each other's normals.
    fn aside(&self, pair: &Pair) -> f64 {
        let [a, b] = pair.cells.map(|i| &self.cells[i as usize]);
        let d = b.obb.center - a.obb.center;
        let aside = |m: &V3| (d - m * d.dot(m)).norm();
        aside(&a.cap.axis).min(aside(&b.cap.axis))
    }

    /// The pairs of the parts of the cell that leaves more open.
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
            c.obb.radius() * (c.cap.half_angle.min(1.0) + FLAT)
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
        let parts = match self.cells[i as usize].what {
            What::Node(node) => {
                self.h.nodes[node.index()].children().map_or([None; 2], |c| c.map(|c| self.node(c)))
            }
            What::Piece { face, rect, halvings } => {
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

    /// The cell of a node; none when it holds no face.
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
            // Bounding free-form parts is what takes the time.
            let core = core(surface, true, &area.rect, &node.obb);
            return Some(self.add(
                What::Piece { face, rect: area.rect, halvings: 0 },
                node.obb,
                node.cone,
                core,
            ));
        }
        Some(self.add(
            What::Node(i),
            node.obb,
            node.cone,
            Core { places: node.obb, axis: None, exact: false, radius: 0.0 },
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
        // A cone around the normals of a larger part holds as well; the narrower one where rounding blurs
        // that of a sliver.
        let cap = whole.filter(|w| w.half_angle < cap.half_angle).unwrap_or(cap);
        // Flat along the normals.
        let middle = f.surface.derivs(rect.center());
        let z = if cap.is_all() { unit(middle.du.cross(&middle.dv)).unwrap_or_else(V3::z) } else { cap.axis };
        let x = unit(middle.du - z * z.dot(&middle.du)).unwrap_or_else(|| complete_basis(&z).0);
        let obb = Obb::around(&f.surface.hull_points(&rect), [x, z.cross(&x), z]);
        self.spent += if f.surface.is_canonical() { 0 } else { FREE_FORM };
        let core = core(&f.surface, f.outward, &rect, &obb);
        self.add(What::Piece { face, rect, halvings }, obb, cap, core)
    }

    fn add(&mut self, what: What, obb: Obb, cap: RevolutionCone, core: Core) -> u32 {
        let index = feeler_geom::count::index(self.cells.len());
        self.cells.push(Cell { what, obb, cap, core, parts: None });
        index
    }

    /// Two cells, unless they hold no wall that is thinner than what is known. `d` goes from a point of the
    /// first to one of the second cell, `n` is the outward normal at the first: a wall of thickness τ has
    /// `d = -τ n`.
    fn pair(&mut self, i: u32, j: u32) -> Option<Pair> {
        self.spent += 1;
        let (a, b) = (&self.cells[i as usize], &self.cells[j as usize]);
        let slack = self.slack;
        // No normals are opposite when the angle between one axis and the other's opposite is larger than
        // both half-angles.
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
            if angle >= WIDE {
                continue;
            }
            let (along, spread) = (-d.dot(&m), extent(&a.obb, &m) + extent(&b.obb, &m) + slack);
            near = near.max(along - spread);
            far = far.min((along + spread) / cos);
        }
        let circle = self.one_circle(a, b);
        if let Some(one) = circle {
            // Normals at two places of a circle that face each other: one and the same place, or opposite
            // ones.
            let radii = a.core.radius + b.core.radius;
            match one {
                Place::Apart => return None,
                Place::Same => (near, far) = (near.max(radii - 4.0 * slack), far.min(radii + 4.0 * slack)),
                Place::Any => {}
            }
        }
        if let Some(across) = across(&a.core, &b.core) {
            // A multiple of the normal, to one side or the other.
            let (long, radii) = (across.norm(), a.core.radius + b.core.radius);
            let slack = 4.0 * slack;
            if long > ACROSS * self.size {
                let turned = math::atan2(across.cross(&m).norm(), across.dot(&m));
                let room = angle + slack / long;
                let sides = [(turned <= room, long), (PI - turned <= room, -long)];
                let least = sides.iter().rev().find(|s| s.0)?.1;
                let most = sides.iter().find(|s| s.0)?.1;
                near = near.max(radii + least - slack);
                far = far.min(radii + most + slack);
            } else {
                near = near.max(radii - long - slack);
                far = far.min(radii + long + slack);
            }
        }
        if angle < WIDE {
            let middle = a.obb.center + d * 0.5;
            let place = |c: &Core| {
                let o = c.places.center;
                c.axis.map_or(o, |axis| o + axis * (middle - o).dot(&axis))
            };
            let cone = (m, angle);
            let offset = place(&a.core) - place(&b.core);
            let turned = math::atan2(offset.cross(&m).norm(), offset.dot(&m));
            let radii = a.core.radius + b.core.radius;
            let spread = widest(&a.core.places, cone) + widest(&b.core.places, cone) + slack;
            let least = offset.norm() * math::cos((turned + angle).min(PI));
            let most = offset.norm() * math::cos((turned - angle).max(0.0));
            near = near.max(radii + least - spread);
            far = far.min(radii + most + spread);
        }
        near = (near - slack).max(0.0);
        if far <= THINNEST * self.size || far < near {
            return None;
        }
        if angle < WIDE && i != j {
            let sin = math::sin(angle);
            let reach = far.min(self.upper);
            let aside = d - m * d.dot(&m);
            if let Some(e) = unit(aside)
                && aside.norm() > extent(&a.obb, &e) + extent(&b.obb, &e) + reach * sin + slack
            {
                return None;
            }
            let along = |axis: &V3| slack + reach * most_along((m, angle), axis);
            if unreachable_in_frame(&a.obb, &b.obb, slack, along).is_some() {
                return None;
            }
        }
        // Where the normals say little, the boxes may say more.
        let near = if i == j { near } else { near.max(a.obb.distance_lower_bound(&b.obb) - slack) };
        Some(Pair { near, far, cells: [i, j], serial: self.spent })
    }
}

/// How normal planes at places of two arcs of one circle may share a chord.
enum Place {
    /// Not at all.
    Apart,
    /// Both are in one place.
    Same,
    /// There, or in opposite places.
    Any,
}

impl Search<'_> {
    /// Of two cells on tori with one and the same circle: a wall between them runs along normals of both, so
    /// the chord between the places on the circle is normal to the circle at both ends.
    fn one_circle(&self, a: &Cell, b: &Cell) -> Option<Place> {
        let of = |c: &Cell| match c.what {
            What::Piece { face, rect, .. } => match &self.h.faces[face.index()].surface {
                Surface::Torus { frame, major, .. } => Some((*frame, *major, rect)),
                _ => None,
            },
            What::Node(_) => None,
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
        let (low, high) = (b.u0 - a.u1 + turned - SAME_PLACE, b.u1 - a.u0 + turned + SAME_PLACE);
        // Multiples of half a turn between the bounds.
        let first = (low / PI).ceil();
        Some(if first * PI > high {
            Place::Apart
        } else if first % 2.0 == 0.0 && (first + 1.0) * PI > high {
            Place::Same
        } else {
            Place::Any
        })
    }
}

/// Axes and centres that are farther apart than this share of the size have a direction from one to the
/// other.
const ACROSS: f64 = 1e-6;

/// Room (rad) for the rounding of places on a circle.
const SAME_PLACE: f64 = 1e-9;

/// Cones of more than this half-angle (rad) say nothing of directions.
const WIDE: f64 = 1.5;

/// A rectangle cut across the direction in which it is less flat.
fn halves(surface: &Surface, r: &Rect) -> [Rect; 2] {
    let middle = r.center();
    let open = |a: P2, b: P2| {
        let (p, q, m) = (surface.point(a), surface.point(b), surface.point(middle));
        let turn = (surface.normal(a) - surface.normal(b)).norm();
        ((p - m).norm() + (q - m).norm()) * (turn + FLAT)
    };
    let along_u = open(P2::new(r.u0, middle.y), P2::new(r.u1, middle.y));
    let along_v = open(P2::new(middle.x, r.v0), P2::new(middle.x, r.v1));
    if along_u >= along_v {
        [Rect { u1: middle.x, ..*r }, Rect { u0: middle.x, ..*r }]
    } else {
        [Rect { v1: middle.y, ..*r }, Rect { v0: middle.y, ..*r }]
    }
}
