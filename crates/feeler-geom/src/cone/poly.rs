//! Polyhedral cones of at most four generators.
//!
//! # Source
//! BREP §3.2 (definition, antipodal test, Algorithm 4), §3.3.3 (hull, Algorithm 5), §3.4 (dilation, Algorithm
//! 6), §4.2.2 (at most four sides, Algorithm 11).
//!
//! # Deviations
//! - The spherical hull is a planar hull after gnomonic projection about the axis of the smallest cap,
//!   which maps great circles to lines. The tiny dilation that gives an interior is a radius at every
//!   projected point, so arcs and single directions are not special cases.
//! - Algorithm 11 makes one guess per edge; [`super::reduce`] searches the smallest cone. Every
//!   candidate is checked against all directions of the hull before it is accepted.
//! - Algorithm 6 is not conservative. MATH §7 turns the plane of two neighbours by asin(sin α /
//!   cos(θ/2)). The result contains the dilated arc between those two, but can cut off part of the
//!   dilation of a third, nearly coplanar generator. The turn is therefore computed for all generators
//!   together.
//! - The antipodal test of Algorithm 4 can dilate both cones by an angle. If it does, the planes through
//!   two generators that are not neighbours are candidates as well.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the conservative branch")]

use super::HULL_DILATION;
use super::MIN_COS;
use super::PolyCone;
use super::min_cap::units;
use super::reduce::{Gnomonic, Hull};
use super::revolution::RevolutionCone;
use crate::frame::unit;
use crate::obb::planar_hull;
use crate::{V2, V3, math};
use arrayvec::ArrayVec;
use nalgebra::Matrix3;

#[cfg(feature = "serde")]
impl crate::bulk::Record for PolyCone {
    const SIZE: usize = 4 + 4 * V3::SIZE;

    #[inline]
    fn put(&self, out: &mut Vec<u8>) {
        let mut all = [V3::zeros(); 4];
        all[..self.generators.len()].copy_from_slice(&self.generators);
        u32::try_from(self.generators.len()).unwrap_or(u32::MAX).put(out);
        all.put(out);
    }

    #[inline]
    fn take(from: &mut crate::bulk::Bytes<'_>) -> Option<Self> {
        let n = usize::try_from(u32::take(from)?).ok()?;
        let all = <[V3; 4]>::take(from)?;
        let mut generators = ArrayVec::from(all);
        if n > all.len() {
            return None;
        }
        generators.truncate(n);
        Some(Self { generators })
    }
}

/// Upper bound of the rounding error of a triple product of unit vectors with a few roundings each. A
/// larger value separates fewer cones; a smaller one could separate cones that contain opposite
/// directions.
const TRIPLE_EPS: f64 = 16.0 * f64::EPSILON;

impl PolyCone {
    /// The cone of all directions, which never culls.
    #[must_use]
    pub fn all() -> Self {
        Self { generators: ArrayVec::new() }
    }

    /// Whether this is the cone of all directions.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.generators.is_empty()
    }

    /// Computes a cone with non-empty interior and at most four generators around directions of any
    /// length. It is the spherical convex hull of the directions, dilated by [`HULL_DILATION`] and
    /// reduced to four generators. Returns `None` if the directions do not fit an open half-space (or
    /// fit it by less than 1e-4 rad), if one is not finite, or if all are zero. Zero vectors among
    /// others are ignored, because they do not change a conical hull.
    #[must_use]
    pub fn hull(directions: &[V3]) -> Option<Self> {
        Self::hull_and_cap(directions).map(|cones| cones.0)
    }

    /// Like [`PolyCone::hull`], but also returns the smallest cone of revolution around the same
    /// directions, which is narrower than the one around the polyhedral cone.
    #[must_use]
    pub fn hull_and_cap(directions: &[V3]) -> Option<(Self, RevolutionCone)> {
        let dirs = units(directions).filter(|d| !d.is_empty())?;
        let cap = RevolutionCone::around_units(&dirs);
        let map = Gnomonic::new(cap.axis);
        let mut points = Vec::with_capacity(dirs.len());
        for d in &dirs {
            points.push(map.project(d)?);
        }
        let hull = Hull::new(&map, planar_hull(points));
        Some((hull.smallest()?, cap))
    }

    /// Square pyramid circumscribed to a cone of revolution. `None` if the half-angle is at least π/2,
    /// or within 1e-4 rad of it.
    #[must_use]
    pub fn from_revolution(cone: &RevolutionCone) -> Option<Self> {
        let map = Gnomonic::new(unit(cone.axis)?);
        let half = cone.half_angle + HULL_DILATION;
        let (s, c) = math::sin_cos(half);
        if !(cone.half_angle < std::f64::consts::FRAC_PI_2 && c > MIN_COS) {
            return None;
        }
        let t = s / c;
        let corners = [V2::new(t, t), V2::new(-t, t), V2::new(-t, -t), V2::new(t, -t)];
        Some(Self { generators: corners.iter().map(|q| map.lift(q)).collect() })
    }

    /// Cone around both cones. It contains all directions if one of the cones does, or if both together
    /// do not fit a half-space.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_all() || other.is_all() {
            return Self::all();
        }
        let both: ArrayVec<V3, 8> = self.generators.iter().chain(&other.generators).copied().collect();
        Self::hull(&both).unwrap_or_else(Self::all)
    }

    /// Smallest cone of revolution around this cone.
    #[must_use]
    pub fn revolution(&self) -> RevolutionCone {
        // `around` returns all directions for an empty slice.
        RevolutionCone::around(&self.generators)
    }

    /// The cone rotated by a rotation matrix.
    #[must_use]
    pub fn rotated(&self, rotation: &Matrix3<f64>) -> Self {
        Self { generators: self.generators.iter().map(|g| rotation * g).collect() }
    }

    /// Whether a direction (of any length) is inside the cone, or outside each of its faces by at most
    /// `eps` (rad). A cone of fewer than three generators contains all directions.
    #[must_use]
    pub fn contains(&self, direction: &V3, eps: f64) -> bool {
        if self.generators.len() < 3 {
            return true;
        }
        let slack = math::sin(eps) * direction.norm();
        self.faces().all(|n| n.dot(direction) <= slack)
    }

    /// Solid angle of the cone (sr); 4π for the cone of all directions.
    #[must_use]
    pub fn solid_angle(&self) -> f64 {
        let g = &self.generators;
        if g.len() < 3 {
            return 4.0 * std::f64::consts::PI;
        }
        (1..g.len() - 1).map(|i| triangle_solid_angle(&g[0], &g[i], &g[i + 1])).sum()
    }

    /// Cone with the same number of generators around all directions within `angle` (rad, ≥ 0) of this
    /// cone. Returns `None` if a face has no plane that bounds the dilated cone, or if the result does
    /// not fit an open half-space.
    #[must_use]
    pub fn dilated(&self, angle: f64) -> Option<Self> {
        if self.is_all() || !(angle > 0.0) {
            return Some(self.clone());
        }
        if !(angle < std::f64::consts::FRAC_PI_2) {
            return None;
        }
        let n = self.generators.len();
        // The excess over the angle covers the rounding of the planes of a hull that is only
        // HULL_DILATION wide.
        let sin_alpha = math::sin(angle) + 1e-3 * HULL_DILATION;
        let mut planes = ArrayVec::<V3, 4>::new();
        for i in 0..n {
            planes.push(dilated_face(&self.generators, i, sin_alpha)?);
        }
        let mut generators = ArrayVec::<V3, 4>::new();
        for i in 0..n {
            generators.push(unit(planes[(i + n - 1) % n].cross(&planes[i]))?);
        }
        let out = Self { generators };
        let axis = unit(self.generators.iter().sum())?;
        let sound = out.generators.iter().all(|g| g.dot(&axis) > MIN_COS)
            && out.is_convex()
            && out.faces().all(|f| self.generators.iter().all(|g| f.dot(g) <= -math::sin(angle)));
        sound.then_some(out)
    }

    /// Outward unit normals of the faces, with face i between generators i and i + 1. Empty for fewer
    /// than three generators.
    pub fn faces(&self) -> impl Iterator<Item = V3> + '_ {
        let n = if self.generators.len() < 3 { 0 } else { self.generators.len() };
        (0..n).map(move |i| {
            let (a, b) = (&self.generators[i], &self.generators[(i + 1) % n]);
            // Two distinct generators always span a plane. A zero normal would be a face that excludes
            // no direction.
            unit(b.cross(a)).unwrap_or_default()
        })
    }

    /// Whether there are at least three generators, in strict counter-clockwise order around a pointed cone
    /// by more than rounding, seen against the cone's axis (towards the apex). [`separated`] relies on this
    /// order.
    #[must_use]
    pub fn is_convex(&self) -> bool {
        let (g, n) = (&self.generators, self.generators.len());
        n >= 3
            && (0..n).all(|i| {
                let face = g[(i + 1) % n].cross(&g[i]);
                (2..n).all(|k| face.dot(&g[(i + k) % n]) < -8.0 * TRIPLE_EPS)
            })
    }
}

/// Searches for a plane through the origin which proves that no direction of the cone `a` is opposite to
/// a direction of the cone `b`, even after both cones are dilated by asin(`sin_alpha`) (≥ 0). The cones
/// are given by their generators in a common frame. Returns the code of the plane, or `None` if no plane
/// was found. The code can be the `hint` of the next call for the same cones; the plane of the hint is
/// tried before all others, and any number is allowed.
///
/// Cones of fewer than three generators are never separated. The result `Some` is proven in spite of
/// rounding. If `sin_alpha` is 0, the test finds all pairs that are separated by more than rounding; if
/// it is positive, all pairs that are separated by more than 1e-9.
///
/// Code 0 is the plane normal to the sum of all generators. With A's generators numbered from 0 and B's
/// from 4, code `8 i + j` is the plane through generators i and j with normal `g_i × g_j` (tilted away
/// from them if `sin_alpha` > 0).
#[must_use]
pub fn separated(a: &[V3], b: &[V3], sin_alpha: f64, hint: u8) -> Option<u8> {
    if !(a.len() >= 3 && b.len() >= 3 && a.len() <= 4 && b.len() <= 4) {
        return None;
    }
    let pair = Pair::new(a, b);
    let (i, j) = (usize::from(hint / 8), usize::from(hint % 8));
    let is_pair = hint != 0 && i != j && pair.exists(i) && pair.exists(j);
    if is_pair
        && if sin_alpha > 0.0 {
            pair.tilted_plane_separates(i, j, sin_alpha)
        } else {
            pair.plane_separates(i, j)
        }
    {
        return Some(hint);
    }
    if pair.has_opposite_middle() {
        return None;
    }
    if sin_alpha > 0.0 { pair.separated_by(sin_alpha) } else { pair.separated() }
}

/// Whether one plane proves that no direction of the cone `a` is opposite to a direction of the cone `b`
/// after both are dilated by asin(`sin_alpha`) (> 0). The plane is given by the `code` that
/// [`separated`] returned for the same cones; no other plane is tested.
#[must_use]
pub fn separated_along(a: &[V3], b: &[V3], sin_alpha: f64, code: u8) -> bool {
    if !(a.len() >= 3 && b.len() >= 3 && a.len() <= 4 && b.len() <= 4) {
        return false;
    }
    let pair = Pair::new(a, b);
    if code == 0 {
        return unit(-pair.sum()).is_some_and(|n| pair.clears(&n, sin_alpha));
    }
    let (i, j) = (usize::from(code / 8), usize::from(code % 8));
    i != j && pair.exists(i) && pair.exists(j) && pair.tilted_plane_separates(i, j, sin_alpha)
}

/// Generators of two cones A and B in a common frame: A's at indices 0 to 3, B's at 4 to 7. `n_a` and
/// `n_b` are their numbers.
struct Pair {
    g: [V3; 8],
    n_a: usize,
    n_b: usize,
}

impl Pair {
    fn new(a: &[V3], b: &[V3]) -> Self {
        let mut g = [V3::zeros(); 8];
        g[..a.len()].copy_from_slice(a);
        g[4..4 + b.len()].copy_from_slice(b);
        Self { g, n_a: a.len(), n_b: b.len() }
    }

    fn exists(&self, k: usize) -> bool {
        (k < self.n_a) | ((4 <= k) & (k < 4 + self.n_b))
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        (0..self.n_a).chain(4..4 + self.n_b)
    }

    fn sum(&self) -> V3 {
        self.g.iter().sum()
    }

    /// Whether the sum of one cone's generators is opposite to an inner direction of the other cone. If
    /// so, no plane separates the cones, and the search can be skipped.
    fn has_opposite_middle(&self) -> bool {
        let (a, b) = (&self.g[..self.n_a], &self.g[4..4 + self.n_b]);
        let opposite_is_inside = |d: &[V3], cone: &[V3]| {
            let middle: V3 = d.iter().sum();
            (0..cone.len()).all(|i| cone[i].cross(&cone[(i + 1) % cone.len()]).dot(&middle) < 0.0)
        };
        opposite_is_inside(a, b) || opposite_is_inside(b, a)
    }

    fn separated(&self) -> Option<u8> {
        let sum = self.sum();
        // The plane normal to the sum: all generators are strictly on one side, so no direction of one
        // cone has its opposite in the other.
        if self.all().all(|k| self.g[k].dot(&sum) > TRIPLE_EPS * 8.0) {
            return Some(0);
        }
        for (base, n) in [(0, self.n_a), (4, self.n_b)] {
            for i in 0..n {
                let (i, j) = (base + (i + 1) % n, base + i);
                if self.plane_separates(i, j) {
                    return Some(code(i, j));
                }
            }
        }
        for i in 0..self.n_a {
            for j in 4..4 + self.n_b {
                let n = self.g[i].cross(&self.g[j]);
                // The side of one more generator determines the sign that can separate.
                let (i, j) = if n.dot(&self.g[if i == 0 { 1 } else { 0 }]) < 0.0 { (i, j) } else { (j, i) };
                if self.plane_separates(i, j) {
                    return Some(code(i, j));
                }
            }
        }
        None
    }

    /// Whether the plane through generators i and j proves that no direction of A is opposite to one of
    /// B: all other generators are strictly on the negative side of n = `g_i × g_j`. For the exact
    /// normal, ⟨n, g⟩ ≤ 0 then holds for all generators, with equality for `g_i` and `g_j` only. Two
    /// opposite directions would have to be multiples of these two. That is impossible if both belong to
    /// one cone; if they belong to different cones, they would be exactly opposite, and n would be zero.
    fn plane_separates(&self, i: usize, j: usize) -> bool {
        let n = self.g[i].cross(&self.g[j]);
        // All generators are tested without branches, because the one that fails is unpredictable.
        let holds = self.g.map(|g| n.dot(&g) < -TRIPLE_EPS);
        let fails = |(k, holds): (usize, bool)| self.exists(k) & (k != i) & (k != j) & !holds;
        !holds.into_iter().enumerate().fold(false, |any, of_one| any | fails(of_one))
    }

    fn separated_by(&self, sin_alpha: f64) -> Option<u8> {
        if let Some(n) = unit(-self.sum())
            && self.clears(&n, sin_alpha)
        {
            return Some(0);
        }
        // Cones that cannot be separated without an angle cannot be separated with one. A plane that
        // separates without an angle is likely to separate with one.
        let found = self.separated()?;
        if found != 0
            && self.tilted_plane_separates(usize::from(found / 8), usize::from(found % 8), sin_alpha)
        {
            return Some(found);
        }
        for i in self.all() {
            for j in self.all() {
                if i != j && self.tilted_plane_separates(i, j, sin_alpha) {
                    return Some(code(i, j));
                }
            }
        }
        None
    }

    /// Whether ⟨n, g⟩ ≤ −sin α for all generators and the unit normal `n`.
    fn clears(&self, n: &V3, sin_alpha: f64) -> bool {
        let bound = -(sin_alpha + TRIPLE_EPS);
        let clear = |g: &[V3]| g.iter().all(|g| n.dot(g) <= bound);
        clear(&self.g[..self.n_a]) && clear(&self.g[4..4 + self.n_b])
    }

    /// Whether the plane whose unit normal n fulfils `⟨n, g_i⟩ = ⟨n, g_j⟩ = −sin α`, on the side of `g_i
    /// × g_j`, separates the dilated cones. The normals of all separating planes form an intersection of
    /// caps, one per generator. If the intersection is not empty and is bounded by more than one cap,
    /// the normal of one of these planes is a corner of it.
    fn tilted_plane_separates(&self, i: usize, j: usize, sin_alpha: f64) -> bool {
        let (a, b) = (&self.g[i], &self.g[j]);
        let (Some(across), Some(mid)) = (unit(a.cross(b)), unit(a + b)) else { return false };
        // The excess keeps rounding from rejecting the two generators that define the plane.
        let sin_tilt = (sin_alpha + 1e-9) / mid.dot(a);
        if !(0.0..1.0).contains(&sin_tilt) {
            return false;
        }
        let cos_tilt = (1.0 - sin_tilt * sin_tilt).sqrt();
        let Some(n) = unit(across * cos_tilt - mid * sin_tilt) else { return false };
        self.clears(&n, sin_alpha)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "both are below 8")]
fn code(i: usize, j: usize) -> u8 {
    (8 * i + j) as u8
}

/// Returns the unit outward normal n of the plane closest to face i among those with ⟨n, g⟩ ≤ −sin α for
/// all generators g. Returns `None` if such a plane does not exist. The dilated cone is inside the plane
/// because each unit vector Σ μ g of the cone has Σ μ ≥ 1.
fn dilated_face(g: &[V3], i: usize, sin_alpha: f64) -> Option<V3> {
    let (a, b) = (&g[i], &g[(i + 1) % g.len()]);
    let face = unit(b.cross(a))?;
    let mid = unit(a + b)?;
    // n(β) = cos β face − sin β mid, and ⟨n(β), g⟩ = −ρ cos(β − ψ) with ρ cos ψ = −⟨face, g⟩ and ρ sin ψ =
    // ⟨mid, g⟩: every generator allows an interval of β.
    let (mut lo, mut hi) = (0.0_f64, std::f64::consts::FRAC_PI_2);
    for d in g {
        let (x, y) = (-face.dot(d), mid.dot(d));
        let rho = math::hypot(x, y);
        if !(sin_alpha <= rho) {
            return None;
        }
        let (psi, reach) = (math::atan2(y, x), math::acos(sin_alpha / rho));
        lo = lo.max(psi - reach);
        hi = hi.min(psi + reach);
    }
    if !(lo <= hi) {
        return None;
    }
    let (s, c) = math::sin_cos(lo);
    unit(face * c - mid * s)
}

/// Solid angle (sr) of the cone of three unit vectors (Van Oosterom and Strackee).
fn triangle_solid_angle(a: &V3, b: &V3, c: &V3) -> f64 {
    2.0 * math::atan2(a.dot(&b.cross(c)).abs(), 1.0 + a.dot(b) + b.dot(c) + c.dot(a))
}
