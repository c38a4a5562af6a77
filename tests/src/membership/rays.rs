//! Membership of points in any solid, by rays against its exact surfaces.
//!
//! Faces are cut into almost flat cells; a ray solves for its crossing in every cell whose box it
//! intersects. The method uses only points and derivatives of surfaces and the classification of their
//! trims. It proves nothing: rays that come near a tangency, a trim or their start are discarded, and the
//! others must all agree.

use feeler_geom::trim::Side;
use feeler_geom::{Aabb, P2, P3, Rect, V3};
use feeler_hierarchy::{Face, Hierarchy};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// A solid whose faces are cut into almost flat cells.
#[derive(Debug)]
pub struct Rays<'a> {
    solid: &'a Hierarchy,
    cells: Vec<Cell>,
    /// Bounding volume tree over the cells, in depth-first order.
    nodes: Vec<Node>,
    size: f64,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    face: usize,
    rect: Rect,
    bounds: Aabb,
    /// Approximate angle (rad) between the normals of the cell.
    turn: f64,
}

/// Box around cells `first..end`; `next` is the index of the node after all descendants of this node.
#[derive(Clone, Copy, Debug)]
struct Node {
    first: usize,
    end: usize,
    next: usize,
    bounds: Aabb,
}

/// Maximum number of cells in a leaf.
const LEAF_CELLS: usize = 4;
/// Starts of the search for the crossing of a ray with a cell, relative to the sides of the cell. Only
/// the first one is used if the ray is steep enough.
const STARTS: [[f64; 2]; 5] = [[0.5, 0.5], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];

/// Position along the ray and sign of a crossing, if there is one; and the sine of the angle between ray
/// and surface.
type Crossing = (Option<(f64, i32)>, f64);

/// Number of valid rays that must agree before a point is classified.
const AGREEING_RAYS: u32 = 3;
/// Minimum distance of a point from the boundary, relative to the size of the solid, at which the point
/// is classified.
pub const NEAR_BOUNDARY: f64 = 1e-4;

impl<'a> Rays<'a> {
    /// Cuts the faces of a solid into cells.
    #[must_use]
    pub fn new(solid: &'a Hierarchy) -> Self {
        let (low, high) = (P3::from(solid.info.bbox_min), P3::from(solid.info.bbox_max));
        let size = (high - low).norm();
        let mut cells = Vec::new();
        for (i, face) in solid.faces.iter().enumerate() {
            let r = face.trim.rect;
            let (us, vs) = face.surface.breaks(&r);
            let ends = |a: f64, inner: &[f64], b: f64| -> Vec<f64> {
                let mut out = vec![a];
                out.extend(inner.iter().copied().filter(|x| *x > a && *x < b));
                out.push(b);
                out
            };
            let (us, vs) = (ends(r.u0, &us, r.u1), ends(r.v0, &vs, r.v1));
            for u in us.windows(2) {
                for v in vs.windows(2) {
                    let rect = Rect { u0: u[0], u1: u[1], v0: v[0], v1: v[1] };
                    cut(face, i, rect, size, 0, &mut cells);
                }
            }
        }
        let mut rays = Self { solid, cells, nodes: Vec::new(), size };
        rays.gather(0, rays.cells.len());
        rays
    }

    /// Appends the nodes of the tree over cells `first..end` in depth-first order.
    fn gather(&mut self, first: usize, end: usize) {
        let bounds = self.cells[first..end].iter().fold(Aabb::empty(), |b, c| b.union(&c.bounds));
        let node = self.nodes.len();
        self.nodes.push(Node { first, end, next: 0, bounds });
        if end - first > LEAF_CELLS {
            let k = (bounds.max - bounds.min).imax();
            let at = |c: &Cell| c.bounds.min[k] + c.bounds.max[k];
            self.cells[first..end].sort_by(|x, y| at(x).total_cmp(&at(y)));
            let middle = usize::midpoint(first, end);
            self.gather(first, middle);
            self.gather(middle, end);
        }
        self.nodes[node].next = self.nodes.len();
    }

    /// Whether the point `p` is inside; `None` if rays disagree or `p` is near the boundary.
    #[must_use]
    pub fn contains(&self, p: &P3) -> Option<bool> {
        let mut rng = SmallRng::seed_from_u64(p.coords.iter().fold(1, |s, x| s * 31 + (x.to_bits() >> 12)));
        let (mut inside, mut outside) = (0, 0);
        for _ in 0..10 {
            let Some(d) = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).try_normalize(0.1) else {
                continue;
            };
            match self.count(p, &d) {
                Some(0) => outside += 1,
                Some(1) => inside += 1,
                _ => {}
            }
            if inside + outside == AGREEING_RAYS {
                break;
            }
        }
        (inside + outside == AGREEING_RAYS && inside.min(outside) == 0).then_some(inside > 0)
    }

    /// Number of leaving minus number of entering crossings of the ray from `p` along `d`; `None` if a
    /// crossing is doubtful.
    fn count(&self, p: &P3, d: &V3) -> Option<i32> {
        let mut hits: Vec<(usize, f64, i32)> = Vec::new();
        let mut i = 0;
        while i < self.nodes.len() {
            let Node { first, end, next, bounds } = &self.nodes[i];
            if !intersects(bounds, p, d) {
                i = *next;
                continue;
            }
            i += 1;
            if end - first > LEAF_CELLS {
                continue;
            }
            for cell in &self.cells[*first..*end] {
                if !intersects(&cell.bounds, p, d) {
                    continue;
                }
                // A ray along a curved cell may cross it twice.
                for start in STARTS {
                    let (crossing, sine) = self.crossing(cell, start, p, d)?;
                    if let Some((t, sign)) = crossing {
                        let is_duplicate =
                            |h: &(usize, f64, i32)| h.0 == cell.face && (h.1 - t).abs() < 1e-7 * self.size;
                        if !hits.iter().any(is_duplicate) {
                            hits.push((cell.face, t, sign));
                        }
                    }
                    if sine.abs() > cell.turn {
                        break;
                    }
                }
            }
        }
        Some(hits.iter().map(|h| h.2).sum())
    }

    /// Crossing of the ray from `p` along `d` with a cell, found by a search from `start` in the cell.
    /// `None` if it is doubtful.
    fn crossing(&self, cell: &Cell, start: [f64; 2], p: &P3, d: &V3) -> Option<Crossing> {
        let face: &Face = &self.solid.faces[cell.face];
        let r = cell.rect;
        let (wu, wv) = (r.width(), r.height());
        let (e, g) = feeler_geom::frame::complete_basis(d);
        let mut uv = P2::new(r.u0 + start[0] * wu, r.v0 + start[1] * wv);
        let mut off = f64::INFINITY;
        for _ in 0..20 {
            let s = face.surface.derivs(uv);
            let w = nalgebra::Vector2::new(e.dot(&(s.p - p)), g.dot(&(s.p - p)));
            off = w.norm();
            if off < 1e-11 * self.size {
                break;
            }
            let m = nalgebra::Matrix2::new(e.dot(&s.du), e.dot(&s.dv), g.dot(&s.du), g.dot(&s.dv));
            let step = m.try_inverse()? * w;
            uv.x = (uv.x - step.x).clamp(r.u0 - 0.5 * wu, r.u1 + 0.5 * wu);
            uv.y = (uv.y - step.y).clamp(r.v0 - 0.5 * wv, r.v1 + 0.5 * wv);
        }
        let beyond = ((r.u0 - uv.x).max(uv.x - r.u1) / wu).max((r.v0 - uv.y).max(uv.y - r.v1) / wv);
        let s = face.surface.derivs(uv);
        let natural = s.du.cross(&s.dv).try_normalize(1e-12 * self.size * self.size);
        let n = natural.map(|n| if n.dot(&face.surface.normal(uv)) < 0.0 { -n } else { n });
        let sine = n.map_or(0.0, |n| n.dot(d) * if face.outward { 1.0 } else { -1.0 });
        if beyond > 1e-3 {
            // Either the crossing is in an adjacent cell or it does not exist. A search that ends near
            // the cell should have converged.
            return (off < 1e-9 * self.size || beyond > 0.4).then_some((None, sine));
        }
        // Clamping to the face must not turn the crossing of a point beyond the face into a valid one.
        let whole = face.trim.rect;
        if off > 1e-9 * self.size || (whole.clamp(uv) - uv).amax() > 1e-9 * wu.max(wv) {
            return None;
        }
        let t = (s.p - p).dot(d);
        let (lu, lv) = (s.du.norm(), s.dv.norm());
        let near = 0.1 * NEAR_BOUNDARY * self.size;
        // No trim is near if all samples around the crossing are inside.
        let side = |i: i32, j: i32| {
            let q =
                P2::new(uv.x + f64::from(i) * near / lu.max(1e-9), uv.y + f64::from(j) * near / lv.max(1e-9));
            face.trim.classify(whole.clamp(q)) == Side::Inside
        };
        let around = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)];
        let inside = around.iter().filter(|(i, j)| side(*i, *j)).count();
        if inside == 0 {
            return Some((None, sine));
        }
        n?;
        if (t * sine).abs() < NEAR_BOUNDARY * self.size && t.abs() < 0.1 * self.size {
            return None;
        }
        if t < 0.0 {
            return Some((None, sine));
        }
        if inside < around.len() || sine.abs() < 1e-3 {
            return None;
        }
        Some((Some((t, if sine > 0.0 { 1 } else { -1 })), sine))
    }
}

/// Whether a line intersects a box. Intersections behind the start of the ray count too, because
/// crossings just behind the start are doubtful.
fn intersects(b: &Aabb, p: &P3, d: &V3) -> bool {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for k in 0..3 {
        let (s, t) = ((b.min[k] - p[k]) / d[k], (b.max[k] - p[k]) / d[k]);
        low = low.max(s.min(t));
        high = high.min(s.max(t));
    }
    low <= high
}

/// Halves the rectangle `r` of a face until the cells are almost flat, and appends them to `out`.
fn cut(face: &Face, index: usize, r: Rect, size: f64, depth: u32, out: &mut Vec<Cell>) {
    let at = |x: f64, y: f64| face.surface.point(P2::new(r.u0 + x * r.width(), r.v0 + y * r.height()));
    let grid: Vec<P3> = (0..25).map(|i| at(f64::from(i % 5) * 0.25, f64::from(i / 5) * 0.25)).collect();
    let corner = |i: usize| grid[i].coords;
    let bend = (0..25)
        .map(|i| {
            let (x, y) = ((i % 5) as f64 * 0.25, (i / 5) as f64 * 0.25);
            let flat = corner(0) * ((1.0 - x) * (1.0 - y))
                + corner(4) * (x * (1.0 - y))
                + corner(20) * ((1.0 - x) * y)
                + corner(24) * (x * y);
            (grid[i].coords - flat).norm()
        })
        .fold(0.0, f64::max);
    let bounds = Aabb::of_points(&grid);
    let extent = bounds.diagonal();
    let along = |step: usize, to: usize| {
        (0..4).map(|i| (corner(i * step + to) - corner((i + 1) * step + to)).norm()).sum::<f64>()
    };
    let flat = bend <= 0.03 * extent && (depth >= 2 || extent < 0.05 * size);
    if depth >= 24
        || flat && extent < 0.3 * size
        || bend <= 1e-4 * size && extent < 1e-2 * size
        || bend <= 1e-12 * size
    {
        // Angle of an arc, estimated from its sagitta.
        let turn = if extent > 0.0 { 10.0 * bend / extent } else { 0.0 };
        out.push(Cell { face: index, rect: r, bounds: bounds.inflated(bend + 1e-9 * size), turn });
        return;
    }
    let (wide, high) = (along(1, 10), along(5, 2));
    let m = r.center();
    let halves = if wide >= high {
        [Rect { u1: m.x, ..r }, Rect { u0: m.x, ..r }]
    } else {
        [Rect { v1: m.y, ..r }, Rect { v0: m.y, ..r }]
    };
    for half in halves {
        cut(face, index, half, size, depth + 1, out);
    }
}
