//! Projection onto a surface by dividing rectangles (DIRECT), refined by a simplex search.
//!
//! # Source
//! NURBS §3.2.4, Algorithms 3 and 4, (3.17) to (3.19); Jones, Perttunen & Stuckman, *Lipschitzian
//! optimization without the Lipschitz constant*, 1993; Nelder & Mead, *A simplex method for function
//! minimization*, 1965.
//!
//! # Deviations
//! The text stops DIRECT when Δu/u and Δv/v are small, which is impossible at u = 0. Here it stops when
//! the sides of the best rectangle are small relative to the domain. It is implemented here because the
//! crates for DIRECT depend on C or Fortran.

use feeler_geom::bezier::BezierSurface;
use feeler_geom::{P2, P3};

/// Criteria at which DIRECT and the local search stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectOptions {
    /// Smallest improvement of the smallest value so far, relative to its magnitude, that a rectangle
    /// must promise to be divided: ε of (3.19).
    pub jump: f64,
    /// Longest side of the best rectangle, relative to the domain, at which DIRECT ends. The best
    /// rectangle is the one with the smallest distance at its centre.
    pub side: f64,
    /// Size of the simplex, relative to the domain, at which the local search ends: the largest
    /// difference of a coordinate between its best corner and another.
    pub simplex: f64,
}

impl Default for DirectOptions {
    fn default() -> Self {
        Self { jump: 1e-4, side: 0.1, simplex: 1e-9 }
    }
}

/// Closest point of a surface, and the effort to find it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Parameters of the closest point on the surface.
    pub uv: P2,
    /// Position of the closest point (mm).
    pub point: P3,
    /// Number of evaluations of the surface.
    pub evaluations: u64,
}

/// Rectangle in the unit square, to which the domain is mapped: its centre, the number of times that the
/// unit square was cut in three along each axis, and the value of the function at the centre.
#[derive(Clone, Copy)]
struct Cell {
    middle: [f64; 2],
    cuts: [u32; 2],
    value: f64,
}

/// Maximum number of rounds of DIRECT, in each of which several rectangles are divided.
const MAX_ROUNDS: u32 = 60;
/// Maximum number of steps of the simplex search.
const MAX_STEPS: u32 = 400;

/// Searches for the point of a surface that is closest to the point `x` (mm). The search is global, but
/// it is not a proof.
#[must_use]
pub fn closest(grid: &BezierSurface, x: &P3, options: &DirectOptions) -> Closest {
    let domain = grid.domain();
    let place = |s: [f64; 2]| P2::new(domain.u0 + s[0] * domain.width(), domain.v0 + s[1] * domain.height());
    let mut evaluations = 0;
    let mut f = |s: [f64; 2]| {
        evaluations += 1;
        (grid.derivs(place(s)).p - x).norm_squared()
    };
    let best = direct(&mut f, options);
    let size = side(&best, 0).max(side(&best, 1));
    let wraps = [grid.u_periodic, grid.v_periodic];
    // Periodic parameters may leave the domain; the others are clamped to it.
    let mut inside = |s: [f64; 2]| {
        let clamped = |k: usize| if wraps[k] { s[k] } else { s[k].clamp(0.0, 1.0) };
        f([clamped(0), clamped(1)])
    };
    let found = simplex(&mut inside, best.middle, size, options.simplex);
    let clamped = |k: usize| if wraps[k] { found[k] } else { found[k].clamp(0.0, 1.0) };
    let uv = place([clamped(0), clamped(1)]);
    evaluations += 1;
    Closest { uv, point: grid.derivs(uv).p, evaluations }
}

fn side(cell: &Cell, k: usize) -> f64 {
    (0..cell.cuts[k]).fold(1.0, |s, _| s / 3.0)
}

/// Distance from the centre of a rectangle to its corners, in the unit square.
fn radius(cell: &Cell) -> f64 {
    0.5 * (side(cell, 0) * side(cell, 0) + side(cell, 1) * side(cell, 1)).sqrt()
}

fn direct(f: &mut impl FnMut([f64; 2]) -> f64, options: &DirectOptions) -> Cell {
    let first = Cell { middle: [0.5; 2], cuts: [0; 2], value: f([0.5; 2]) };
    let mut cells = vec![first];
    let least =
        |cells: &[Cell]| cells.iter().copied().min_by(|a, b| a.value.total_cmp(&b.value)).unwrap_or(first);
    for _ in 0..MAX_ROUNDS {
        let best = least(&cells);
        if side(&best, 0).max(side(&best, 1)) <= options.side {
            break;
        }
        for k in potentially_optimal(&cells, best.value, options.jump) {
            divide(&mut cells, k, f);
        }
    }
    least(&cells)
}

/// Algorithm 3: cuts the rectangle with the index `k` in three along its longest side, or along both
/// sides if they are equal, and appends the new rectangles to `cells`.
fn divide(cells: &mut Vec<Cell>, k: usize, f: &mut impl FnMut([f64; 2]) -> f64) {
    let cell = cells[k];
    let fewest = cell.cuts[0].min(cell.cuts[1]);
    let mut tried: Vec<(f64, usize, [Cell; 2])> = Vec::new();
    for i in (0..2).filter(|&i| cell.cuts[i] == fewest) {
        let third = side(&cell, i) / 3.0;
        let beside = [-third, third].map(|d| {
            let mut middle = cell.middle;
            middle[i] += d;
            Cell { middle, cuts: cell.cuts, value: f(middle) }
        });
        tried.push((beside[0].value.min(beside[1].value), i, beside));
    }
    // (3.17): the best value gets the largest rectangle.
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut cuts = cell.cuts;
    for (_, i, beside) in tried {
        cuts[i] += 1;
        cells.extend(beside.map(|b| Cell { cuts, ..b }));
    }
    cells[k].cuts = cuts;
}

/// Indices of the rectangles to divide, by (3.18) and (3.19): the best rectangle of each size, if its
/// radius and value are on the lower right convex hull of those of all rectangles. `least` is the
/// smallest value so far, `jump` is [`DirectOptions::jump`].
fn potentially_optimal(cells: &[Cell], least: f64, jump: f64) -> Vec<usize> {
    let mut by_size: Vec<(f64, f64, usize)> = Vec::new();
    for (k, cell) in cells.iter().enumerate() {
        let d = radius(cell);
        match by_size.iter_mut().find(|s| (s.0 - d).abs() <= 1e-12 * d) {
            Some(s) if cell.value < s.1 => (s.1, s.2) = (cell.value, k),
            Some(_) => {}
            None => by_size.push((d, cell.value, k)),
        }
    }
    let mut out = Vec::new();
    for &(d, value, k) in &by_size {
        // Range of the slopes K for which this rectangle is below all smaller and all larger ones.
        let (mut low, mut high) = (0.0_f64, f64::INFINITY);
        for &(other, of_other, _) in &by_size {
            let slope = (value - of_other) / (d - other);
            if other < d {
                low = low.max(slope);
            } else if other > d {
                high = high.min(slope);
            }
        }
        let promises = !high.is_finite() || value - high * d <= least - jump * least.abs();
        if low <= high && high > 0.0 && promises {
            out.push(k);
        }
    }
    out
}

/// Searches for a minimum of `f` by Nelder and Mead's method from a triangle with a corner at `start`
/// and legs of half of `size` along the axes, until its size is at most `done` or [`MAX_STEPS`] steps
/// have been made. Returns the best point.
fn simplex(f: &mut impl FnMut([f64; 2]) -> f64, start: [f64; 2], size: f64, done: f64) -> [f64; 2] {
    let corner = |i: usize| {
        let mut s = start;
        if i > 0 {
            s[i - 1] += if s[i - 1] > 0.5 { -0.5 * size } else { 0.5 * size };
        }
        s
    };
    let mut t = [0, 1, 2].map(|i| (f(corner(i)), corner(i)));
    for _ in 0..MAX_STEPS {
        t.sort_by(|a, b| a.0.total_cmp(&b.0));
        let off = |i: usize| (t[i].1[0] - t[0].1[0]).abs().max((t[i].1[1] - t[0].1[1]).abs());
        if off(1).max(off(2)) <= done {
            break;
        }
        let middle = [0, 1].map(|k| 0.5 * (t[0].1[k] + t[1].1[k]));
        let along = |share: f64| [0, 1].map(|k| middle[k] + share * (t[2].1[k] - middle[k]));
        let mut tried = |share: f64| (f(along(share)), along(share));
        let reflected = tried(-1.0);
        if reflected.0 < t[0].0 {
            let expanded = tried(-2.0);
            t[2] = if expanded.0 < reflected.0 { expanded } else { reflected };
        } else if reflected.0 < t[1].0 {
            t[2] = reflected;
        } else {
            let outside = reflected.0 < t[2].0;
            let contracted = tried(if outside { -0.5 } else { 0.5 });
            if contracted.0 < t[2].0.min(reflected.0) {
                t[2] = contracted;
            } else {
                for i in 1..3 {
                    let s = [0, 1].map(|k| 0.5 * (t[0].1[k] + t[i].1[k]));
                    t[i] = (f(s), s);
                }
            }
        }
    }
    t.sort_by(|a, b| a.0.total_cmp(&b.0));
    t[0].1
}
