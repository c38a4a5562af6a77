//! Oriented boxes and the separating-axis test.
//!
//! # Source
//! BREP §2.4.3 (boxes bound feature areas) and §4.2.1 (culling); the fifteen axes are those of Gottschalk et
//! al.
//!
//! # Deviations
//! The gap along a separating axis must exceed a margin, measured along the *unit* direction, so that
//! the gap is a lower bound of the Euclidean distance (MATH §10: enlarging one box by `d_max` would be
//! valid for the nine edge–edge axes as well). Boxes are fitted by a local search over rectangles about
//! candidate axes instead of covariance alone, and by surface area instead of volume: flat and linear
//! sets have no volume to compare.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the conservative branch")]

mod along;

pub use along::gap_along;

use crate::frame::{complete_basis, unit};
use crate::{Aabb, P2, P3, Pose, V3};
use nalgebra::{Matrix3, SymmetricEigen};

/// An oriented box.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Obb {
    /// Centre of the box (mm).
    pub center: P3,
    /// Right-handed orthonormal axes of the box.
    pub axes: [V3; 3],
    /// Half-lengths of the box along its axes (mm), ≥ 0.
    pub half: V3,
}

/// A rigid motion with its rotation as a matrix, computed once per query for the box tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseMatrix {
    /// Rotation matrix of the motion.
    pub rotation: Matrix3<f64>,
    /// Translation (mm) of the motion, applied after the rotation.
    pub translation: V3,
}

impl From<&Pose> for PoseMatrix {
    fn from(pose: &Pose) -> Self {
        Self {
            rotation: pose.rotation.to_rotation_matrix().into_inner(),
            translation: pose.translation.vector,
        }
    }
}

impl PoseMatrix {
    /// Applies the motion to a point.
    #[must_use]
    pub fn point(&self, p: &P3) -> P3 {
        P3::from(self.rotation * p.coords + self.translation)
    }
}

/// Number of axes of the separating-axis test of boxes A and B: three of A, three of B and nine cross
/// products.
pub const SAT_AXES: u8 = 15;

/// Allowance for the rounding of the box tests, relative to the sum of all lengths involved. The longest
/// chain of operations from stored numbers to a projected gap has about a dozen roundings. A larger
/// value culls less; a smaller one could separate boxes that overlap.
const SAT_EPS: f64 = 32.0 * f64::EPSILON;

/// Allowance for the rounding of a fitted or moved box, relative to its position and size. A larger
/// value loosens boxes; with a smaller one points could lie outside their box.
const FIT_EPS: f64 = 8.0 * f64::EPSILON;

/// Maximum number of edges of the projected convex hull that are tried as directions of a box about one
/// candidate axis. A larger value costs time, a smaller one gives looser boxes.
const MAX_EDGES: usize = 48;

impl Obb {
    /// Fits a tight box around the convex hull of `points`, rounded outward. The result is
    /// deterministic. The axes are sorted by decreasing half-length (up to rounding).
    ///
    /// The box of no points is the zero box at the origin. Flat and linear sets give flat and linear
    /// boxes (up to rounding). A non-finite point gives an infinite box, which never culls and which the
    /// validation of files rejects.
    #[must_use]
    pub fn fit(points: &[P3]) -> Self {
        let Some(first) = points.first() else {
            return Self { center: P3::origin(), axes: WORLD, half: V3::zeros() };
        };
        let aabb = Aabb::of_points(points);
        // nalgebra's `inf` and `sup` can ignore a NaN, so every point is checked.
        if !points.iter().all(|p| p.coords.iter().all(|c| c.is_finite()))
            || !(aabb.diagonal() < f64::INFINITY)
        {
            return Self { center: P3::origin(), axes: WORLD, half: V3::repeat(f64::INFINITY) };
        }
        if points.iter().all(|p| p == first) {
            return Self::around(points, WORLD);
        }
        let center = aabb.center();
        let local: Vec<V3> = points.iter().map(|p| p - center).collect();
        let axes = best_axes(&local);
        Self::around(points, axes)
    }

    /// Smallest box with the given right-handed orthonormal axes around finite `points`, rounded
    /// outward, with axes sorted by decreasing half-length; the zero box at the origin if `points` is
    /// empty. It costs a hundredth of [`Obb::fit`] if good axes are available.
    #[must_use]
    pub fn around(points: &[P3], axes: [V3; 3]) -> Self {
        let spans = Spans::of(points, &axes);
        Self::with_spans(points, axes, &spans)
    }

    /// Like [`Obb::around`], with the spans of the same points along the same axes already computed.
    #[must_use]
    pub fn with_spans(points: &[P3], axes: [V3; 3], spans: &Spans) -> Self {
        let anchor = points.first().copied().unwrap_or_default();
        let spans = spans.0;
        let mid = axes.iter().zip(&spans).fold(V3::zeros(), |m, (axis, s)| m + axis * (0.5 * (s[0] + s[1])));
        let lengths = spans.map(|s| s[1] - s[0]);
        let mut order = [0_usize, 1, 2];
        order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]).then(i.cmp(&j)));
        let (x, y) = (axes[order[0]], axes[order[1]]);
        let z = axes[order[2]];
        let axes = [x, y, if x.cross(&y).dot(&z) < 0.0 { -z } else { z }];
        let center = anchor + mid;
        let (mut half, mut size) = (V3::zeros(), 0.0_f64);
        for p in points {
            let d = p - center;
            for (k, axis) in axes.iter().enumerate() {
                half[k] = larger(half[k], axis.dot(&d).abs());
            }
            size = larger(size, larger(p.x.abs(), larger(p.y.abs(), p.z.abs())));
        }
        Self { center, axes, half: half.add_scalar(FIT_EPS * (size + half.sum())) }
    }

    /// Converts an axis-aligned box, rounded outward. The empty box gives the zero box at the origin.
    #[must_use]
    pub fn from_aabb(aabb: &Aabb) -> Self {
        if aabb.is_empty() {
            return Self::fit(&[]);
        }
        Self::around(&[aabb.min, aabb.max], WORLD)
    }

    /// Box around both boxes, computed by [`Obb::fit`] on their corners.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut corners = [P3::origin(); 16];
        corners[..8].copy_from_slice(&self.corners());
        corners[8..].copy_from_slice(&other.corners());
        Self::fit(&corners)
    }

    /// The eight corners; bit k of a corner's index is set if the corner is on the positive side along
    /// axis k.
    #[must_use]
    pub fn corners(&self) -> [P3; 8] {
        let e = [self.axes[0] * self.half.x, self.axes[1] * self.half.y, self.axes[2] * self.half.z];
        std::array::from_fn(|i| {
            let side = |k: usize| if i >> k & 1 == 1 { e[k] } else { -e[k] };
            self.center + side(0) + side(1) + side(2)
        })
    }

    /// Returns the box moved by a pose, rounded outward.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        self.placed(&PoseMatrix::from(pose))
    }

    /// Like [`Self::transformed`], for a pose whose rotation is already a matrix.
    #[must_use]
    pub fn placed(&self, pose: &PoseMatrix) -> Self {
        let center = P3::from(pose.rotation * self.center.coords + pose.translation);
        let slack = FIT_EPS * (self.center.coords.amax() + pose.translation.amax() + self.half.sum());
        Self { center, axes: self.axes.map(|a| pose.rotation * a), half: self.half.add_scalar(slack) }
    }

    /// Volume of the box (mm³).
    #[must_use]
    pub fn volume(&self) -> f64 {
        8.0 * self.half.x * self.half.y * self.half.z
    }

    /// Area of the six sides (mm²).
    #[must_use]
    pub fn surface_area(&self) -> f64 {
        8.0 * half_area(&self.half)
    }

    /// Half the length of the diagonal (mm): the radius of the sphere around the box.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.half.norm()
    }

    /// Whether `p` is inside the box enlarged by `eps` (mm) on every side.
    #[must_use]
    pub fn contains(&self, p: &P3, eps: f64) -> bool {
        let d = p - self.center;
        (0..3).all(|k| self.axes[k].dot(&d).abs() <= self.half[k] + eps)
    }

    /// Euclidean distance (mm) of a point from the box, up to rounding; 0 inside.
    #[must_use]
    pub fn distance_to(&self, p: &P3) -> f64 {
        let d = p - self.center;
        let beyond = |k: usize| (self.axes[k].dot(&d).abs() - self.half[k]).max(0.0);
        V3::from_fn(|k, _| beyond(k)).norm()
    }

    /// Lower bound of the Euclidean distance (mm) between two boxes in one frame: the largest gap along
    /// the fifteen axes, rounded down; 0 if the boxes are not separated. The bound is exact up to
    /// rounding unless the nearest points are two corners or a corner and a point of an edge.
    #[must_use]
    pub fn distance_lower_bound(&self, other: &Self) -> f64 {
        let rel = Relative::new(self, &other.center.coords, &other.axes, other.half, 0.0);
        (0..SAT_AXES).fold(0.0, |best: f64, axis| best.max(rel.gap(axis)))
    }
}

/// Searches the fifteen axes for one that proves that the distance between box `a` and box `b` is larger
/// than `margin` (mm, ≥ 0). `pose_ab` takes B's coordinates to A's. Returns the index of that axis, or
/// `None` if no axis proves it. The index can be the `hint` of the next call for the same boxes; the
/// axis of the hint is tried before all others, and a number out of range is ignored.
///
/// Index k < 3 is A's axis k, 3 ≤ k < 6 is B's axis k − 3, and k ≥ 6 is the cross product of A's axis (k
/// − 6) / 3 and B's axis (k − 6) % 3. The test is conservative under rounding: it returns no axis for
/// boxes that are nearer than `margin`. Non-finite numbers give `None`.
#[must_use]
pub fn separated(a: &Obb, b: &Obb, pose_ab: &PoseMatrix, margin: f64, hint: u8) -> Option<u8> {
    let r = &pose_ab.rotation;
    let center = r * b.center.coords + pose_ab.translation;
    let axes = [r * b.axes[0], r * b.axes[1], r * b.axes[2]];
    let size = b.center.coords.amax() + pose_ab.translation.amax();
    Relative::new(a, &center, &axes, b.half, size).separated(margin, hint)
}

/// Like [`separated`], for two boxes that are already in one frame: cheaper if a placed box is tested
/// against several others.
#[must_use]
pub fn separated_in_frame(a: &Obb, b: &Obb, margin: f64, hint: u8) -> Option<u8> {
    Relative::new(a, &b.center.coords, &b.axes, b.half, 0.0).separated(margin, hint)
}

/// Like [`separated_in_frame`] without a hint, but returns the index of the axis and the gap along it
/// (mm, > `margin`, rounded down). The six face axes come first, and among them the one with the widest
/// gap. The boxes stay separated by more than `margin` while they move relative to each other by less
/// than `gap - margin`.
#[must_use]
pub fn gap_in_frame(a: &Obb, b: &Obb, margin: f64) -> Option<(u8, f64)> {
    let rel = Relative::new(a, &b.center.coords, &b.axes, b.half, 0.0);
    let widest =
        (0..6_u8).map(|k| (k, rel.gap(k))).fold((0, f64::NEG_INFINITY), |w, g| if g.1 > w.1 { g } else { w });
    if widest.1 > margin.max(0.0) {
        return Some(widest);
    }
    rel.crossed(margin).map(|axis| (axis, rel.gap(axis)))
}

/// Returns the unit direction of the axis of [`separated`] with index `axis`, pointing from box `a`
/// towards box `b`, both in one frame. Returns `None` for the cross product of nearly parallel axes and
/// for an index out of range.
#[must_use]
pub fn separating_axis(a: &Obb, b: &Obb, axis: u8) -> Option<V3> {
    let k = usize::from(axis);
    let direction = match k {
        0..3 => a.axes[k],
        3..6 => b.axes[k - 3],
        6..15 => a.axes[(k - 6) / 3].cross(&b.axes[(k - 6) % 3]).try_normalize(MIN_CROSS_SQ.sqrt())?,
        _ => return None,
    };
    let is_towards = direction.dot(&(b.center - a.center)) >= 0.0;
    Some(if is_towards { direction } else { -direction })
}

/// Searches the fifteen axes for one that proves that no allowed displacement of box `a` reaches box
/// `b`, both in one frame. `extent` returns, for a unit axis, the largest component (mm) of an allowed
/// displacement along it, to either side; `min_extent` (≥ 0) is a lower bound of `extent` over all axes.
/// Returns the gap (mm) that remains along that axis after the largest displacement, or `None` if no
/// axis proves it.
#[must_use]
pub fn unreachable_in_frame(a: &Obb, b: &Obb, min_extent: f64, extent: impl Fn(&V3) -> f64) -> Option<f64> {
    let rel = Relative::new(a, &b.center.coords, &b.axes, b.half, 0.0);
    let min_extent = min_extent.max(0.0);
    let spare = |gap: f64, axis: &V3| {
        let spare = gap - extent(axis);
        (spare > 0.0).then_some(spare)
    };
    let of_faces = (0..6_u8).find_map(|k| {
        let gap = rel.gap(k);
        let axis = if k < 3 { &a.axes[usize::from(k)] } else { &b.axes[usize::from(k) - 3] };
        if gap > min_extent { spare(gap, axis) } else { None }
    });
    of_faces.or_else(|| {
        (0..9).find_map(|k| {
            let (i, j) = (k / 3, k % 3);
            let (gap, len_sq) = rel.cross_gap(i, j);
            // Comparing squares avoids most square roots.
            if !(gap > 0.0 && gap * gap > min_extent * min_extent * len_sq && len_sq > MIN_CROSS_SQ) {
                return None;
            }
            let gap = gap / len_sq.sqrt() * (1.0 - 4.0 * f64::EPSILON);
            spare(gap, &a.axes[i].cross(&b.axes[j]).try_normalize(MIN_CROSS_SQ.sqrt())?)
        })
    })
}

/// Box B relative to box A, for the separating-axis test: half-lengths `ha` of A and `hb` of B (mm),
/// rotation `r` and offset `t`.
struct Relative {
    /// Products of the axes: `r[i][j] = a_i · b_j`.
    r: [[f64; 3]; 3],
    /// Vector (mm) from A's centre to B's centre, in A's axes.
    t: [f64; 3],
    ha: [f64; 3],
    hb: [f64; 3],
    /// Upper bound of the rounding error (mm) of the gap along a unit axis.
    err: f64,
}

impl Relative {
    fn new(a: &Obb, center_b: &V3, axes_b: &[V3; 3], half_b: V3, size: f64) -> Self {
        let d = center_b - a.center.coords;
        let r = [
            [a.axes[0].dot(&axes_b[0]), a.axes[0].dot(&axes_b[1]), a.axes[0].dot(&axes_b[2])],
            [a.axes[1].dot(&axes_b[0]), a.axes[1].dot(&axes_b[1]), a.axes[1].dot(&axes_b[2])],
            [a.axes[2].dot(&axes_b[0]), a.axes[2].dot(&axes_b[1]), a.axes[2].dot(&axes_b[2])],
        ];
        let t = [a.axes[0].dot(&d), a.axes[1].dot(&d), a.axes[2].dot(&d)];
        let size = size + a.center.coords.amax() + center_b.amax() + a.half.sum() + half_b.sum();
        Self {
            r,
            t,
            ha: [a.half.x, a.half.y, a.half.z],
            hb: [half_b.x, half_b.y, half_b.z],
            err: SAT_EPS * size,
        }
    }

    fn separated(&self, margin: f64, hint: u8) -> Option<u8> {
        let margin = margin.max(0.0);
        if hint < SAT_AXES && self.separates(hint, margin) {
            return Some(hint);
        }
        let unit_margin = margin + self.err;
        let (r, t, ha, hb) = (&self.r, &self.t, &self.ha, &self.hb);
        for i in 0..3 {
            let rb = hb[0] * r[i][0].abs() + hb[1] * r[i][1].abs() + hb[2] * r[i][2].abs();
            if t[i].abs() - ha[i] - rb > unit_margin {
                return Some(AXIS_INDICES[i]);
            }
        }
        for j in 0..3 {
            let ra = ha[0] * r[0][j].abs() + ha[1] * r[1][j].abs() + ha[2] * r[2][j].abs();
            let s = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
            if s.abs() - hb[j] - ra > unit_margin {
                return Some(AXIS_INDICES[3 + j]);
            }
        }
        self.crossed(margin)
    }

    /// Returns the index of a cross-product axis along which the gap exceeds `margin` (mm, ≥ 0), or
    /// `None` if no axis does.
    fn crossed(&self, margin: f64) -> Option<u8> {
        let margin = margin.max(0.0);
        for i in 0..3 {
            for j in 0..3 {
                let (gap, len_sq) = self.cross_gap(i, j);
                // Comparing squares avoids nine square roots.
                if gap > 0.0
                    && gap * gap > margin * margin * len_sq * SQUARE_ROUND_UP
                    && len_sq > MIN_CROSS_SQ
                {
                    return Some(AXIS_INDICES[6 + 3 * i + j]);
                }
            }
        }
        None
    }

    fn separates(&self, axis: u8, margin: f64) -> bool {
        self.gap(axis) > margin
    }

    /// Returns the gap (mm) along the unit axis with index `axis`, minus the bound of its rounding error; a
    /// positive value proves that the projections are disjoint. Indices 0 to 2 are the axes of A, 3 to 5
    /// those of B, and 6 + 3 i + j is the cross product `a_i × b_j`. Cross products with a squared length of
    /// at most [`MIN_CROSS_SQ`] give a negative value.
    fn gap(&self, axis: u8) -> f64 {
        let (r, t, ha, hb) = (&self.r, &self.t, &self.ha, &self.hb);
        let k = usize::from(axis);
        if k < 3 {
            let rb = hb[0] * r[k][0].abs() + hb[1] * r[k][1].abs() + hb[2] * r[k][2].abs();
            t[k].abs() - ha[k] - rb - self.err
        } else if k < 6 {
            let j = k - 3;
            let ra = ha[0] * r[0][j].abs() + ha[1] * r[1][j].abs() + ha[2] * r[2][j].abs();
            let s = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
            s.abs() - hb[j] - ra - self.err
        } else {
            let (gap, len_sq) = self.cross_gap((k - 6) / 3, (k - 6) % 3);
            if len_sq > MIN_CROSS_SQ { gap / len_sq.sqrt() * (1.0 - 4.0 * f64::EPSILON) } else { -self.err }
        }
    }

    /// Returns the gap along the cross product `a_i × b_j` of A's axis i and B's axis j, which is not
    /// normalised, minus the bound of its rounding error, and the squared length of the cross product. In
    /// A's axes the vector has the components `−r[i2][j]` along i1 and `r[i1][j]` along i2, so its length
    /// is free of cancellation.
    #[inline]
    fn cross_gap(&self, i: usize, j: usize) -> (f64, f64) {
        let (r, t, ha, hb) = (&self.r, &self.t, &self.ha, &self.hb);
        let (i1, i2) = OTHER_AXES[i];
        let (j1, j2) = OTHER_AXES[j];
        let (p, q) = (r[i1][j], r[i2][j]);
        let ra = ha[i1] * q.abs() + ha[i2] * p.abs();
        let rb = hb[j1] * r[i][j2].abs() + hb[j2] * r[i][j1].abs();
        ((t[i2] * p - t[i1] * q).abs() - ra - rb - self.err, p * p + q * q)
    }
}

/// Minimum squared length of a cross-product axis. Shorter ones are skipped because the boxes then have
/// nearly parallel axes, and the six face axes give the same gap. A larger value culls less; with a
/// smaller one the directions of the axes are rounding noise.
const MIN_CROSS_SQ: f64 = 1e-10;

/// Factor that allows for rounding when squares of gaps and margins are compared. A larger value culls
/// less, a smaller one could separate boxes that are nearer than the margin.
const SQUARE_ROUND_UP: f64 = 1.0 + 8.0 * f64::EPSILON;

/// For each axis of a box, the indices of the other two in cyclic order.
const OTHER_AXES: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];
/// Indices of the 15 candidate axes of the separating-axis test: 3 of A, 3 of B, 9 cross products.
const AXIS_INDICES: [u8; 15] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
const WORLD: [V3; 3] = [V3::new(1.0, 0.0, 0.0), V3::new(0.0, 1.0, 0.0), V3::new(0.0, 0.0, 1.0)];

/// Larger of two finite numbers; faster than `f64::max`, which handles NaN.
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Smallest and largest coordinates (mm) of points along three axes, relative to the first point; zeros
/// without points. Spans allow sets of axes to be compared at a third of the cost of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spans([[f64; 2]; 3]);

impl Spans {
    /// Computes the spans of points along orthonormal axes.
    #[must_use]
    pub fn of(points: &[P3], axes: &[V3; 3]) -> Self {
        let Some(anchor) = points.first() else { return Self([[0.0; 2]; 3]) };
        // Four lanes, so that the loops over them become vector instructions.
        let lanes = |k: usize| [axes[0][k], axes[1][k], axes[2][k], 0.0];
        let (ax, ay, az) = (lanes(0), lanes(1), lanes(2));
        let (mut lo, mut hi) = ([f64::INFINITY; 4], [f64::NEG_INFINITY; 4]);
        for p in points {
            let d = p - anchor;
            let x: [f64; 4] = std::array::from_fn(|k| ax[k] * d.x + ay[k] * d.y + az[k] * d.z);
            for k in 0..4 {
                lo[k] = if x[k] < lo[k] { x[k] } else { lo[k] };
                hi[k] = if x[k] > hi[k] { x[k] } else { hi[k] };
            }
        }
        Self(std::array::from_fn(|k| [lo[k], hi[k]]))
    }

    /// Surface area (mm²) of the box with these spans, up to rounding.
    #[must_use]
    pub fn area(&self) -> f64 {
        let [x, y, z] = self.0.map(|s| s[1] - s[0]);
        2.0 * (x * y + y * z + z * x)
    }
}

/// An eighth of the surface area of a box with half-lengths `h`.
fn half_area(h: &V3) -> f64 {
    h.x * h.y + h.y * h.z + h.z * h.x
}

fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
}

/// Searches for axes of a box with a small surface area around points near the origin, which must not
/// all be equal. The search tries the smallest rectangles about candidate axes first, and then
/// repeatedly those about the axes of the best box, as long as the box improves.
fn best_axes(points: &[V3]) -> [V3; 3] {
    let mut best = WORLD;
    let world = V3::from_fn(|k, _| {
        let (lo, hi) = extent(points.iter().map(|p| p[k]));
        0.5 * (hi - lo)
    });
    let mut best_area = half_area(&world);
    let mut improve = |axis: V3, best: &mut [V3; 3]| {
        let Some((axes, area)) = rectangle_about(points, axis) else { return false };
        // A minimum relative improvement keeps the rounding noise of a rotated input from deciding.
        let better = area < best_area * (1.0 - 1e-10);
        if better {
            best_area = area;
            *best = axes;
        }
        better
    };
    for axis in candidates(points) {
        improve(axis, &mut best);
    }
    // Each round tries the three axes of the best box. A few rounds reach a local minimum; more rounds
    // gave no measurable improvement.
    for _ in 0..6 {
        let axes = best;
        let mut better = false;
        for axis in axes {
            better |= improve(axis, &mut best);
        }
        if !better {
            break;
        }
    }
    best
}

/// Returns candidate axes for [`rectangle_about`]: the coordinate axes, the axes of the points'
/// covariance, and directions of a large triangle of points.
fn candidates(points: &[V3]) -> Vec<V3> {
    let mut out = WORLD.to_vec();
    #[expect(clippy::cast_precision_loss, reason = "a mean does not need more than 53 bits of the count")]
    let n = points.len() as f64;
    let mean = points.iter().sum::<V3>() / n;
    let mut cov = Matrix3::zeros();
    for p in points {
        let d = p - mean;
        cov += d * d.transpose();
    }
    let scale = cov.amax();
    if scale > 0.0
        && scale.is_finite()
        && let Some(e) = SymmetricEigen::try_new(cov / scale, f64::EPSILON, 200)
    {
        out.extend(e.eigenvectors.column_iter().filter_map(|c| unit(c.into_owned())));
    }
    // A long edge, the point farthest from it, and the normal of their triangle give exact axes for
    // prisms and flat sets.
    let far =
        |score: &dyn Fn(&V3) -> f64| points.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)));
    let p0 = far(&|p| p.norm_squared()).unwrap_or_default();
    let p1 = far(&|p| (p - p0).norm_squared()).unwrap_or_default();
    if let Some(e) = unit(p1 - p0) {
        out.push(e);
        let p2 = far(&|p| (p - p0).cross(&e).norm_squared()).unwrap_or_default();
        if let Some(m) = unit((p2 - p0).cross(&e)) {
            out.push(m);
            out.extend(unit((p2 - p0).cross(&m)));
            out.extend(unit((p2 - p1).cross(&m)));
        }
    }
    out
}

/// Returns the axes of a box around the points with one given axis, and an eighth of its surface area.
/// The other two axes give the smallest area among those along an edge of the convex hull of the
/// projected points. Returns `None` if `axis` is zero.
fn rectangle_about(points: &[V3], axis: V3) -> Option<([V3; 3], f64)> {
    let z = unit(axis)?;
    let (x, y) = complete_basis(&z);
    let (lo, hi) = extent(points.iter().map(|p| p.dot(&z)));
    let depth = 0.5 * (hi - lo);
    let hull = planar_hull(points.iter().map(|p| P2::new(p.dot(&x), p.dot(&y))).collect());
    let step = hull.len().div_ceil(MAX_EDGES).max(1);
    let mut best = (f64::INFINITY, 1.0, 0.0);
    for i in (0..hull.len()).step_by(step) {
        let e = hull[(i + 1) % hull.len()] - hull[i];
        let len = e.norm();
        if !(len > 0.0) {
            continue;
        }
        let (c, s) = (e.x / len, e.y / len);
        let (lo_u, hi_u) = extent(hull.iter().map(|q| q.x * c + q.y * s));
        let (lo_v, hi_v) = extent(hull.iter().map(|q| q.y * c - q.x * s));
        let (a, b) = (0.5 * (hi_u - lo_u), 0.5 * (hi_v - lo_v));
        let area = a * b + depth * (a + b);
        if area < best.0 {
            best = (area, c, s);
        }
    }
    let (area, c, s) = best;
    if area == f64::INFINITY {
        // All points project to one point, so any rectangle is optimal.
        return Some(([x, y, z], 0.0));
    }
    let u = unit(x * c + y * s)?;
    Some(([u, z.cross(&u), z], area))
}

/// Convex hull of points in the plane, counter-clockwise, without repeated or collinear points (Andrew's
/// monotone chain). A degenerate set gives one or two points. The points must be finite.
pub(crate) fn planar_hull(mut points: Vec<P2>) -> Vec<P2> {
    // `total_cmp` distinguishes −0 from 0, which would break the order by y among equal x.
    points.iter_mut().for_each(|p| p.coords.add_scalar_mut(0.0));
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut hull: Vec<P2> = Vec::with_capacity(points.len() + 1);
    let turn = |a: &P2, b: &P2, c: &P2| (b - a).perp(&(c - a));
    for p in &points {
        while hull.len() >= 2 && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], p) <= 0.0 {
            hull.pop();
        }
        hull.push(*p);
    }
    let lower = hull.len() + 1;
    for p in points.iter().rev().skip(1) {
        while hull.len() >= lower && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], p) <= 0.0 {
            hull.pop();
        }
        hull.push(*p);
    }
    hull.pop();
    hull
}

#[cfg(test)]
mod tests;
