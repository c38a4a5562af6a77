//! Points on a grid over each free-form area: where solvers look first. Made at the first use, then shared.

use crate::Body;
use feeler_geom::{P2, P3, Pose, Rect, V3};
use feeler_hierarchy::Feature;
use std::sync::OnceLock;

/// Points along each parameter of a patch.
pub(crate) const SIDE: usize = 5;
/// Points along a curve.
const ALONG: usize = 9;
/// Room for the points of an area.
pub(crate) const ROOM: usize = SIDE * SIDE;

/// Points of an area in equal steps of its parameters, row by row.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    points: [P3; ROOM],
    /// Points along each parameter: the second is 1 for a curve.
    pub shape: [usize; 2],
    /// No point of the area is farther (mm, about) from its nearest grid point.
    pub radius: f64,
}

/// The grids of a solid's free-form areas.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    grids: Vec<OnceLock<Box<Grid>>>,
}

impl Samples {
    pub(crate) fn new(areas: usize) -> Self {
        Self { grids: (0..areas).map(|_| OnceLock::new()).collect() }
    }

    /// The grid of a free-form area, in the solid's own frame.
    pub(crate) fn get(&self, body: &Body, area: u32) -> &Grid {
        self.grids[area as usize].get_or_init(|| Box::new(Grid::of_area(body, area)))
    }
}

/// Parameters of a point of the unit box.
pub(crate) fn at(rect: &Rect, x: f64, y: f64) -> P2 {
    P2::new(rect.u0 + x * (rect.u1 - rect.u0), rect.v0 + y * (rect.v1 - rect.v0))
}

/// Parameter in [0, 1] of the `i`-th of `n` equal steps.
#[expect(clippy::cast_precision_loss, reason = "a grid index")]
fn step(i: usize, n: usize) -> f64 {
    if n < 2 { 0.0 } else { i as f64 / (n - 1) as f64 }
}

impl Grid {
    fn of_area(body: &Body, area: u32) -> Self {
        let area = body.area(area);
        let (shape, point): (_, &dyn Fn(P2) -> P3) = match area.feature {
            Feature::Face(f) => ([SIDE, SIDE], &move |uv| body.face(f).surface.point(uv)),
            Feature::Edge(e) => ([ALONG, 1], &move |uv| body.edge(e).curve.point(uv.x)),
            Feature::Vertex(_) => unreachable!("a vertex is canonical"),
        };
        let points = std::array::from_fn(|k| {
            let (i, j) = (k / shape[1], k % shape[1]);
            if i < shape[0] {
                point(at(&area.rect, step(i, shape[0]), step(j, shape[1])))
            } else {
                P3::origin()
            }
        });
        let mut grid = Self { points, shape, radius: 0.0 };
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
        // A tenth for the bend of a cell.
        grid.radius = 0.55 * longest;
        grid
    }

    /// The grid moved by a pose.
    pub(crate) fn placed(&self, pose: &Pose) -> Self {
        let mut out = self.clone();
        let n = self.len();
        let r = pose.rotation.to_rotation_matrix();
        for p in &mut out.points[..n] {
            *p = r * *p + pose.translation.vector;
        }
        out
    }

    pub(crate) fn len(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    pub(crate) fn points(&self) -> &[P3] {
        &self.points[..self.len()]
    }

    /// Unit-box parameters of grid point `k`.
    pub(crate) fn params(&self, k: usize) -> [f64; 2] {
        [step(k / self.shape[1], self.shape[0]), step(k % self.shape[1], self.shape[1])]
    }

    /// Whether no neighbour of grid point `k` has a smaller value; ties go to the first, and what is not finite is none.
    pub(crate) fn is_minimum(&self, values: &[f64; ROOM], k: usize) -> bool {
        let v = values[k];
        if !v.is_finite() {
            return false;
        }
        let (i, j) = (k / self.shape[1], k % self.shape[1]);
        let near = |c: usize, n: usize| c.saturating_sub(1)..=(c + 1).min(n - 1);
        !near(i, self.shape[0]).any(|a| {
            near(j, self.shape[1]).any(|b| {
                let l = a * self.shape[1] + b;
                values[l] < v || (values[l] <= v && l < k)
            })
        })
    }

    /// About the nearest point of the area to `p`: unit-box parameters and squared distance. The area is taken for
    /// the quadratic interpolant of the grid points around the nearest one.
    pub(crate) fn foot(&self, p: &P3) -> ([f64; 2], f64) {
        let mut nearest = (f64::INFINITY, 0);
        for (k, q) in self.points().iter().enumerate() {
            let d = (q - p).norm_squared();
            if d < nearest.0 {
                nearest = (d, k);
            }
        }
        let [rows, columns] = self.shape;
        let (i, j) = (nearest.1 / columns, nearest.1 % columns);
        let (ci, cj) = (center(i, rows), center(j, columns));
        let mut x = [offset(i, ci), offset(j, cj)];
        let mut best = (nearest.0, x);
        // Two steps: the start is within half a cell or so of the foot.
        for round in 0..3 {
            let (q, du, dv) = self.interpolant((ci, cj), x);
            let r = q - p;
            let d = r.norm_squared();
            if d < best.0 {
                best = (d, x);
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
            x = [(x[0] - s).clamp(-1.0, 1.0), (x[1] - t).clamp(-1.0, 1.0)];
        }
        let unit = |c: usize, s: f64, n: usize| if n < 2 { 0.0 } else { step(c, n) + s * step(1, n) };
        ([unit(ci, best.1[0], rows), unit(cj, best.1[1], columns)], best.0)
    }

    /// Point and tangents, by steps of the grid, of the interpolant about a grid point.
    fn interpolant(&self, (ci, cj): (usize, usize), [s, t]: [f64; 2]) -> (P3, V3, V3) {
        let columns = self.shape[1];
        let (ws, ds) = lagrange(s);
        if columns == 1 {
            let q = [0, 1, 2].map(|i| self.points[ci + i - 1].coords);
            let mix = |w: [f64; 3]| q[0] * w[0] + q[1] * w[1] + q[2] * w[2];
            return (P3::from(mix(ws)), mix(ds), V3::zeros());
        }
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

/// The middle one of three neighbours that hold `i`, of `n` points.
fn center(i: usize, n: usize) -> usize {
    if n < 3 { 0 } else { i.clamp(1, n - 2) }
}

fn offset(i: usize, center: usize) -> f64 {
    match i.cmp(&center) {
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => 1.0,
    }
}

/// Quadratic Lagrange polynomials through −1, 0, 1 and their derivatives.
fn lagrange(s: f64) -> ([f64; 3], [f64; 3]) {
    ([0.5 * s * (s - 1.0), 1.0 - s * s, 0.5 * s * (s + 1.0)], [s - 0.5, -2.0 * s, s + 0.5])
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::math;

    /// On a grid over half a radian of a torus the foot is that of the torus but for a small part of a cell.
    #[test]
    fn feet_are_near_the_feet_of_the_surface() {
        let torus = |u: f64, v: f64| {
            let ((su, cu), (sv, cv)) = (math::sin_cos(u), math::sin_cos(v));
            P3::new((3.0 + cv) * cu, (3.0 + cv) * su, sv)
        };
        let mut points = [P3::origin(); ROOM];
        for (k, p) in points.iter_mut().enumerate() {
            *p = torus(0.5 * step(k / SIDE, SIDE), 0.5 * step(k % SIDE, SIDE));
        }
        let grid = Grid { points, shape: [SIDE, SIDE], radius: 0.0 };
        for i in 0..10_i32 {
            for j in 0..10_i32 {
                let (u, v) = (0.05 * f64::from(i) + 0.02, 0.05 * f64::from(j) + 0.02);
                let p = torus(u, v);
                let n = (p - P3::new(3.0 * math::cos(u), 3.0 * math::sin(u), 0.0)).normalize();
                let (x, d) = grid.foot(&(p + n * 0.1));
                assert!((d.sqrt() - 0.1).abs() < 1e-4, "{u} {v}: {}", d.sqrt());
                assert!((x[0] - 2.0 * u).abs() < 0.01 && (x[1] - 2.0 * v).abs() < 0.01, "{u} {v}: {x:?}");
            }
        }
    }

    #[test]
    fn one_grid_point_of_a_basin_is_its_minimum() {
        let grid = Grid { points: [P3::origin(); ROOM], shape: [SIDE, SIDE], radius: 0.0 };
        let values: [f64; ROOM] = std::array::from_fn(|k| {
            let [x, y] = grid.params(k);
            (x - 0.3) * (x - 0.3) + (y - 0.8) * (y - 0.8)
        });
        let minima: Vec<usize> = (0..grid.len()).filter(|&k| grid.is_minimum(&values, k)).collect();
        assert_eq!(minima, [SIDE + 3]);
        assert!(!grid.is_minimum(&[f64::NAN; ROOM], 0), "what is not finite is no minimum");
        let flat: Vec<usize> = (0..grid.len()).filter(|&k| grid.is_minimum(&[1.0; ROOM], k)).collect();
        assert_eq!(flat, [0], "ties go to the first");
    }
}
