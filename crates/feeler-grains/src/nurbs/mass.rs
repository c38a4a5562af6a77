//! Volume, centroid and inertia of the body bounded by a closed grid of patches.
//!
//! By the divergence theorem, with d = x − c and N = ∂u × ∂v du dv, the volume is ⅓ ∮ d·N, its first
//! moments are ¼ ∮ d (d·N), and its second moments are ⅕ ∮ d dᵀ (d·N). The integrands of a polynomial
//! patch are polynomials, which Gauss' rule integrates exactly. Rational patches are halved until the
//! sums converge.
//!
//! # Source
//! MATH §17.

use feeler_geom::bezier::BezierSurface;
use feeler_geom::trim::gauss_legendre;
use feeler_geom::{P2, P3, Rect, V3};
use nalgebra::Matrix3;

/// Surface area, and mass properties for density 1, of a grain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainMass {
    /// Surface area (mm²), with a relative accuracy of 1e-9.
    pub area: f64,
    /// Volume (mm³).
    pub volume: f64,
    /// Centroid (mm).
    pub centroid: P3,
    /// Inertia tensor about the centroid (mm⁵): moments on the diagonal, negative products off it.
    pub tensor: Matrix3<f64>,
}

/// Largest change of a sum when a patch is halved, at which halving stops. It is relative to the patch's
/// area times the size of the grain; for moments, times the size once or twice more. A larger value
/// gives inexact masses of rational grains, a smaller one halves patches without effect.
const MAX_RELATIVE_CHANGE: f64 = 1e-13;
/// Maximum number of halvings of a patch.
const MAX_HALVINGS: u32 = 5;

/// Surface integrals over one patch or all patches: area, flux d·N (`flux`), flux times d (`first`), and
/// flux times d dᵀ (`second`), with d and N as at the top of this file.
#[derive(Clone, Copy, Default)]
struct Sums {
    area: f64,
    flux: f64,
    first: V3,
    second: Matrix3<f64>,
}

impl std::ops::AddAssign for Sums {
    fn add_assign(&mut self, o: Self) {
        self.area += o.area;
        self.flux += o.flux;
        self.first += o.first;
        self.second += o.second;
    }
}

/// Mass properties of the body bounded by a closed grid whose natural normal points outwards. With the
/// opposite normal, volume and tensor are negative.
pub(super) fn mass(grid: &BezierSurface) -> GrainMass {
    let box_ = feeler_geom::Aabb::of_points(&grid.points());
    let (reference, size) = (box_.center(), box_.diagonal());
    // The integrands of the second moments of a patch of degree p have degree 5p − 1 in a parameter.
    let max_degree = grid.u_degree.max(grid.v_degree) as usize;
    let rule = gauss_legendre((5 * max_degree).div_ceil(2).max(6));
    let (n_u, n_v) = grid.n_patches();
    let mut sums = Sums::default();
    for i in 0..n_u {
        for j in 0..n_v {
            let rect = grid.patch_rect((i, j));
            let once = over(grid, &rule, (i, j), &rect, &reference);
            sums += halved(grid, &rule, (i, j), &rect, (&reference, size), once, 0);
        }
    }
    let volume = sums.flux / 3.0;
    let shift = sums.first * 0.25 / volume;
    let central = sums.second * 0.2 - shift * shift.transpose() * volume;
    let tensor = Matrix3::from_diagonal_element(central.trace()) - central;
    GrainMass { area: sums.area, volume, centroid: reference + shift, tensor }
}

fn halved(
    grid: &BezierSurface,
    rule: &[(f64, f64)],
    patch: (usize, usize),
    rect: &Rect,
    (reference, size): (&P3, f64),
    once: Sums,
    depth: u32,
) -> Sums {
    let (u, v) = (0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1));
    let parts = [
        Rect { u1: u, v1: v, ..*rect },
        Rect { u0: u, v1: v, ..*rect },
        Rect { u1: u, v0: v, ..*rect },
        Rect { u0: u, v0: v, ..*rect },
    ];
    let finer = parts.map(|part| over(grid, rule, patch, &part, reference));
    let mut sum = Sums::default();
    finer.iter().for_each(|part| sum += *part);
    let scale = once.area.max(sum.area) * size;
    let off = ((sum.flux - once.flux).abs() / scale)
        .max((sum.first - once.first).amax() / (scale * size))
        .max((sum.second - once.second).amax() / (scale * size * size));
    if off <= MAX_RELATIVE_CHANGE && (sum.area - once.area).abs() <= 1e-9 * sum.area || depth >= MAX_HALVINGS
    {
        return sum;
    }
    let mut sum = Sums::default();
    for (part, once) in parts.iter().zip(finer) {
        sum += halved(grid, rule, patch, part, (reference, size), once, depth + 1);
    }
    sum
}

fn over(
    grid: &BezierSurface,
    rule: &[(f64, f64)],
    patch: (usize, usize),
    rect: &Rect,
    reference: &P3,
) -> Sums {
    let mut sums = Sums::default();
    for (s, w_u) in rule {
        for (t, w_v) in rule {
            let uv = P2::new(rect.u0 + s * rect.width(), rect.v0 + t * rect.height());
            let at = grid.patch_derivs(patch, uv);
            let d = at.p - reference;
            let normal = at.du.cross(&at.dv) * (w_u * w_v * rect.width() * rect.height());
            let flux = d.dot(&normal);
            sums += Sums { area: normal.norm(), flux, first: d * flux, second: d * d.transpose() * flux };
        }
    }
    sums
}
