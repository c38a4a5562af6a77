//! Shapes that are invariant under a screw motion: flanks of threads, edges of drills, springs.
//!
//! A curve or surface is invariant under the screw motion with velocities `v + w × p` if the velocity of
//! each of its points is tangent to it: `n · (v + w × p) = 0` for the normals n at p. That is one linear
//! equation in v and w for each normal: the normal lines are in one linear complex. The v and w with the
//! smallest sum of squared residuals form the eigenvector of the smallest eigenvalue of a 6 × 6 matrix.
//! If a second motion fits nearly as well (cylinders, spheres, planes, short pieces), the shape is
//! rejected.
//!
//! # Source
//! Pottmann and Wallner, *Computational Line Geometry*, 2001, §3.1 and §4.2.3 (helical surfaces, their fit
//! by linear complexes).
//!
//! # Deviations
//! The fit to normals passes their noise on to the axis. It is therefore refined by Gauss–Newton steps
//! on the distances of the shape from one section of it, moved by the screw. The deviation is the
//! largest such distance at samples on every piece, enlarged by a half; it is not a proven bound.

use crate::bezier::{BezierSpline, BezierSurface};
use crate::frame::unit;
use crate::{Frame, P2, P3, Pose, Rect, Twist, V3, math};
use nalgebra::{Matrix6, SymmetricEigen, Vector6};
use std::f64::consts::TAU;

/// A screw motion with the deviation of a shape from invariance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Helical {
    /// Frame whose z axis is the screw axis; angles are measured from x.
    pub frame: Frame,
    /// Translation (mm) along the axis per radian; negative for left-handed threads.
    pub lead: f64,
    /// Estimated maximum distance (mm) of the shape from an exactly invariant one; not a proven bound.
    pub deviation: f64,
}

/// A point in cylindrical coordinates about the screw axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylindrical {
    /// Distance of the point from the screw axis (mm).
    pub radius: f64,
    /// Angle (rad) of the point about the screw axis, measured from the x axis of the frame of
    /// [`Helical`], between −π and π.
    pub angle: f64,
    /// Coordinate of the point along the screw axis (mm), measured from the origin of the frame of
    /// [`Helical`].
    pub height: f64,
}

/// Factor by which the largest distance measured at samples is multiplied to allow for the points
/// between them. A larger value rejects threads, a smaller one underestimates deviations.
const DEVIATION_MARGIN: f64 = 1.5;
/// Maximum root mean square of the normal velocities in the first fit ([`fitted`]) with which a shape
/// counts as helical. A normal velocity is the component of the motion's velocity along the shape's
/// normal at a sample. Lengths are divided by the radius of the shape about its centre, and the motion
/// is scaled so that the velocity of the centre and the angular velocity form a vector of length 1. The
/// angular velocity must be at least this value, too; otherwise the motion is a translation. A larger
/// value wastes further fits on other shapes; a smaller one rejects threads whose splines are inexact.
const MAX_NORMAL_VELOCITY: f64 = 1e-3;
/// Minimum ratio of the root mean square normal velocity of the second best motion to that of the best
/// one, which makes the motion unique. A larger value rejects short threads; with a smaller one
/// cylinders become threads of any lead.
const MIN_RMS_RATIO: f64 = 10.0;
/// Minimum root mean square normal velocity of the second best motion, for shapes for which that of the
/// best one is only rounding. A larger value rejects short threads; with a smaller one cylinders become
/// threads of any lead.
const MIN_SECOND_RMS: f64 = 1e-4;
/// Minimum and maximum lead (mm per radian), relative to the radius of the shape. With a smaller lead
/// the motion counts as a rotation, with a larger one as a translation, and neither is a screw.
const LEAD_RANGE: [f64; 2] = [1e-3, 10.0];
/// Maximum number of Gauss–Newton steps that refine the motion, which stop earlier once the deviation no
/// longer decreases. A larger value only costs time, a smaller one can leave the axis inaccurate.
const MAX_FIT_STEPS: usize = 4;

impl Helical {
    /// Returns the cylindrical coordinates of a point about the screw axis.
    #[must_use]
    pub fn cylindrical(&self, p: &P3) -> Cylindrical {
        let d = p - self.frame.origin;
        let (x, y) = (d.dot(&self.frame.x), d.dot(&self.frame.y));
        Cylindrical { radius: math::hypot(x, y), angle: math::atan2(y, x), height: d.dot(&self.frame.z) }
    }

    /// Returns the velocity (mm per radian) of a point under the screw motion.
    #[must_use]
    pub fn velocity(&self, p: &P3) -> V3 {
        self.frame.z * self.lead + self.frame.z.cross(&(p - self.frame.origin))
    }

    /// Returns the screw motion by an angle (rad) about the axis as a pose.
    #[must_use]
    pub fn motion(&self, angle: f64) -> Pose {
        let turn = Twist::rotation(&self.frame.origin, self.frame.z);
        Twist { v: turn.v + self.frame.z * self.lead, w: turn.w }.times(angle).exp()
    }

    /// Distance (mm) between neighbouring turns along the axis.
    #[must_use]
    pub fn pitch(&self) -> f64 {
        TAU * self.lead.abs()
    }

    /// Returns the angle (rad) of the screw motion that takes `from` to the same polar angle as `to`, on
    /// the turn whose height is nearest to that of `to`.
    #[must_use]
    pub fn angle_between(&self, from: &P3, to: &P3) -> f64 {
        let (a, b) = (self.cylindrical(from), self.cylindrical(to));
        let turn = b.angle - a.angle;
        turn + TAU * (((b.height - a.height) / self.lead - turn) / TAU).round()
    }

    /// Creates the screw motion whose velocity field is a multiple of that of a twist. Its deviation is
    /// set to infinity, because it is not measured yet. Returns `None` if the lead is outside
    /// [`LEAD_RANGE`] times `extent`, the radius (mm) of the shape about its centre `center`.
    fn of_twist(twist: &Twist, center: &P3, extent: f64) -> Option<Self> {
        let rate = twist.w.norm();
        let mut twist = twist.times(1.0 / rate);
        if twist.w[twist.w.iamax()] < 0.0 {
            twist = -twist;
        }
        let lead = twist.w.dot(&twist.v);
        // The origin is the point of the axis nearest to the centre of the shape.
        let at_center = twist.at(center);
        let origin = center + twist.w.cross(&(at_center - twist.w * lead));
        let is_screw =
            lead.is_finite() && (LEAD_RANGE[0] * extent..LEAD_RANGE[1] * extent).contains(&lead.abs());
        is_screw.then_some(())?;
        Some(Self { frame: Frame::from_z(origin, twist.w, None)?, lead, deviation: f64::INFINITY })
    }

    fn twist(&self) -> Twist {
        let turn = Twist::rotation(&self.frame.origin, self.frame.z);
        Twist { v: turn.v + self.frame.z * self.lead, w: turn.w }
    }
}

/// Computes the screw motion under which the part of a surface over `rect` is invariant up to `tol`
/// (mm). Returns `None` if such a motion does not exist or is not unique.
#[must_use]
pub fn of_surface(grid: &BezierSurface, rect: &Rect, tol: f64) -> Option<Helical> {
    let at = |s: f64, t: f64| P2::new(rect.u0 + rect.width() * s, rect.v0 + (rect.v1 - rect.v0) * t);
    let normal = |uv: P2| {
        let (p, du, dv) = grid.first_derivs(uv);
        Some(Normal { p, n: unit(du.cross(&dv))? })
    };
    let few: Vec<Normal> = (0..FIT_SAMPLES * 3)
        .map(|k| normal(at(spread(k, FIT_SAMPLES * 3), spread(7 * k % 11, 11))))
        .collect::<Option<_>>()?;
    let guess = fitted(&few)?;
    // Decide which parameter runs along the motion.
    let middle = at(0.5, 0.5);
    let (p, du, dv) = grid.first_derivs(middle);
    let along = guess.velocity(&p);
    let cosine = |d: V3| Some(unit(d)?.dot(&unit(along)?).abs());
    let along_u = cosine(du)? > cosine(dv)?;
    let section =
        |uv: P2| grid.first_derivs(if along_u { P2::new(middle.x, uv.y) } else { P2::new(uv.x, middle.y) }).0;
    let (pieces_u, pieces_v) =
        (pieces(&grid.u_breaks, rect.u0, rect.u1), pieces(&grid.v_breaks, rect.v0, rect.v1));
    let all = |n_u: usize, n_v: usize| -> Option<Vec<Pair>> {
        let (us, vs) = (sample_parameters(&pieces_u, n_u), sample_parameters(&pieces_v, n_v));
        let mut out = Vec::with_capacity(us.len() * vs.len());
        for (i, &u) in us.iter().enumerate() {
            for (j, &v) in vs.iter().enumerate() {
                let uv = P2::new(u, v);
                out.push(Pair {
                    from: section(uv),
                    to: normal(uv)?,
                    section_index: if along_u { j } else { i },
                });
            }
        }
        Some(out)
    };
    let n = |degree: u32| (2 * degree as usize).clamp(4, 16);
    finished(guess, &all(4, 3)?, &all(n(grid.u_degree), n(grid.v_degree))?, tol)
}

/// Computes the screw motion under which a spline over `[t0, t1]` is invariant up to `tol` (mm). Returns
/// `None` if such a motion does not exist or is not unique.
#[must_use]
pub fn of_curve(spline: &BezierSpline, (t0, t1): (f64, f64), tol: f64) -> Option<Helical> {
    let across = |t: f64| {
        let d = spline.derivs(t);
        let [n, m]: [V3; 2] = crate::frame::complete_basis(&unit(d.d1)?).into();
        Some([Normal { p: d.p, n }, Normal { p: d.p, n: m }])
    };
    let mut few = Vec::new();
    for k in 0..2 * FIT_SAMPLES {
        few.extend(across(t0 + (t1 - t0) * spread(k, 2 * FIT_SAMPLES))?);
    }
    let guess = fitted(&few)?;
    let from = spline.derivs(0.5 * (t0 + t1)).p;
    let parts = pieces(&spline.breaks, t0, t1);
    let all = |n: usize| -> Option<Vec<Pair>> {
        let mut out = Vec::new();
        for t in sample_parameters(&parts, n) {
            out.extend(across(t)?.into_iter().enumerate().map(|(section_index, to)| Pair {
                from,
                to,
                section_index,
            }));
        }
        Some(out)
    };
    finished(guess, &all(6)?, &all((4 * spline.degree as usize).clamp(8, 32))?, tol)
}

/// A point of the shape with a unit normal.
#[derive(Clone, Copy, Debug)]
struct Normal {
    p: P3,
    n: V3,
}

/// A point of one section of the shape, and the point of the shape to which the screw motion should take
/// it.
#[derive(Clone, Copy, Debug)]
struct Pair {
    from: P3,
    to: Normal,
    /// Index of the section's point (surfaces) or of the normal (curves); pairs with the same index
    /// follow the same orbit.
    section_index: usize,
}

/// Number that determines the samples of the first fit. A surface is sampled by three times as many
/// normals as this number; a curve is sampled at twice as many points, with two normals at each. A larger
/// value costs time; with a smaller one the first fit can miss the motion.
const FIT_SAMPLES: usize = 12;

/// Returns sample `k` of `n` unevenly spaced numbers inside `[0, 1]`. Evenly spaced samples could
/// coincide with a period of the shape.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn spread(k: usize, n: usize) -> f64 {
    (k as f64 + 0.5 + [0.3, -0.3][k % 2]) / n as f64
}

/// Returns the ranges of the pieces of a spline with these breaks, clipped to `[lo, hi]`.
fn pieces(breaks: &[f64], lo: f64, hi: f64) -> Vec<[f64; 2]> {
    let cut = breaks.windows(2).map(|w| [w[0].max(lo), w[1].min(hi)]).filter(|w| w[1] > w[0]);
    let all: Vec<[f64; 2]> = cut.collect();
    if all.is_empty() { vec![[lo, hi]] } else { all }
}

/// Returns `n` evenly spaced parameters inside each of the ranges `pieces`.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn sample_parameters(pieces: &[[f64; 2]], n: usize) -> Vec<f64> {
    let of = |w: &[f64; 2]| {
        let w = *w;
        (0..n).map(move |k| w[0] + (w[1] - w[0]) * (0.01 + 0.98 * k as f64 / (n - 1) as f64))
    };
    pieces.iter().flat_map(of).collect()
}

/// Computes the screw motion whose linear complex fits the normals best. Returns `None` if no unique one
/// fits well enough.
fn fitted(normals: &[Normal]) -> Option<Helical> {
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let count = normals.len() as f64;
    let center = P3::from(normals.iter().map(|s| s.p.coords).sum::<V3>() / count);
    let extent = normals.iter().fold(0.0, |m: f64, s| m.max((s.p - center).norm()));
    let mut sum = Matrix6::zeros();
    for s in normals {
        let p = (s.p - center) / extent;
        let moment = p.cross(&s.n);
        let row = Vector6::new(s.n.x, s.n.y, s.n.z, moment.x, moment.y, moment.z);
        sum += row * row.transpose() / count;
    }
    if !sum.iter().all(|x| x.is_finite()) {
        return None;
    }
    let eigen = SymmetricEigen::new(sum);
    let mut order: [usize; 6] = std::array::from_fn(|i| i);
    order.sort_unstable_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]));
    let rms = |i: usize| eigen.eigenvalues[order[i]].max(0.0).sqrt();
    if rms(0) > MAX_NORMAL_VELOCITY || rms(1) < (MIN_RMS_RATIO * rms(0)).max(MIN_SECOND_RMS) {
        return None;
    }
    let x = eigen.eigenvectors.column(order[0]);
    let (v, w) = (V3::new(x[0], x[1], x[2]) * extent, V3::new(x[3], x[4], x[5]));
    if w.norm() < MAX_NORMAL_VELOCITY {
        return None;
    }
    // Shift the field from the centre to the origin.
    Helical::of_twist(&Twist { v: v - w.cross(&center.coords), w }, &center, extent)
}

/// Returns the signed distance (mm), along the normal at the target of a pair, from the moved point to
/// the target.
fn miss(screw: &Helical, pair: &Pair) -> f64 {
    let moved = screw.motion(screw.angle_between(&pair.from, &pair.to.p)) * pair.from;
    (pair.to.p - moved).dot(&pair.to.n)
}

/// Refines the motion `guess` on the pairs `some` and measures its deviation on the pairs `all`. Returns
/// `None` if the deviation exceeds `tol` (mm).
fn finished(guess: Helical, some: &[Pair], all: &[Pair], tol: f64) -> Option<Helical> {
    let worst = |screw: &Helical, of: &[Pair]| of.iter().fold(0.0, |m: f64, p| m.max(miss(screw, p).abs()));
    let uneven = |screw: &Helical| {
        let mut off: Vec<f64> = some.iter().map(|p| miss(screw, p)).collect();
        even_out(some, &mut off);
        off.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    };
    let mut best = (uneven(&guess), guess);
    let mut screw = guess;
    for _ in 0..MAX_FIT_STEPS {
        let Some(next) = improved(&screw, some) else { break };
        screw = next;
        let off = uneven(&screw);
        // An improvement of less than a tenth is rounding or stagnation.
        let is_better = off < 0.9 * best.0;
        if off < best.0 {
            best = (off, screw);
        }
        if !is_better {
            break;
        }
    }
    let deviation = DEVIATION_MARGIN * worst(&best.1, all);
    (deviation <= tol).then_some(Helical { deviation, ..best.1 })
}

/// Subtracts from each value the mean of the values with the same section index.
fn even_out(pairs: &[Pair], values: &mut [f64]) {
    let n = pairs.iter().map(|p| p.section_index + 1).max().unwrap_or(0);
    let mut sums = vec![(0.0, 0.0); n];
    for (p, x) in pairs.iter().zip(values.iter()) {
        sums[p.section_index].0 += x;
        sums[p.section_index].1 += 1.0;
    }
    for (p, x) in pairs.iter().zip(values) {
        *x -= sums[p.section_index].0 / sums[p.section_index].1;
    }
}

/// Returns the screw motion after one Gauss–Newton step on the distances of the pairs `some`, with
/// central differences as derivatives. Returns `None` if the result is not a screw motion.
fn improved(screw: &Helical, some: &[Pair]) -> Option<Helical> {
    let extent = some.iter().fold(0.0, |m: f64, p| m.max((p.to.p - screw.frame.origin).norm()));
    let step = 1e-6;
    let changed = |k: usize, by: f64| {
        let mut twist = screw.twist();
        if k < 3 {
            twist.v[k] += by * extent;
        } else {
            // Rotate about the centre of the shape.
            let turn = Twist::rotation(&screw.frame.origin, V3::ith(k - 3, by));
            (twist.v, twist.w) = (twist.v + turn.v, twist.w + turn.w);
        }
        Helical::of_twist(&twist, &screw.frame.origin, extent)
    };
    let mut sides = Vec::with_capacity(6);
    for k in 0..6 {
        sides.push([changed(k, -step)?, changed(k, step)?]);
    }
    // Deviations of the section itself are constant along the motion and do not count, hence the
    // subtraction of means.
    let off = |of: &dyn Fn(&Pair) -> f64| {
        let mut out: Vec<f64> = some.iter().map(of).collect();
        even_out(some, &mut out);
        out
    };
    let rows: Vec<Vec<f64>> =
        sides.iter().map(|[lo, hi]| off(&|p| (miss(hi, p) - miss(lo, p)) / (2.0 * step))).collect();
    let misses = off(&|p| miss(screw, p));
    let (mut normal, mut right) = (Matrix6::zeros(), Vector6::zeros());
    for (i, miss) in misses.iter().enumerate() {
        let row = Vector6::from_fn(|k, _| rows[k][i]);
        normal += row * row.transpose();
        right -= row * *miss;
    }
    // The scale of the twist is free, so the matrix is singular and needs damping.
    let damped = normal + Matrix6::identity() * (1e-12 * normal.trace());
    let x = damped.cholesky()?.solve(&right);
    let mut twist = screw.twist();
    twist.v += V3::new(x[0], x[1], x[2]) * extent;
    let turn = Twist::rotation(&screw.frame.origin, V3::new(x[3], x[4], x[5]));
    (twist.v, twist.w) = (twist.v + turn.v, twist.w + turn.w);
    Helical::of_twist(&twist, &screw.frame.origin, extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bezier::H4;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};
    use std::f64::consts::PI;

    const LEAD: f64 = 0.16;

    /// A helix of cubic pieces about an axis in general position; `pieces` counts those of all turns.
    fn helix(radius: f64, height: f64, turns: f64, pieces: i32, pose: &Pose) -> BezierSpline {
        let samples: Vec<(f64, P3, V3)> = (0..=pieces)
            .map(|k| {
                let t = TAU * turns * f64::from(k) / f64::from(pieces);
                let (s, c) = math::sin_cos(t);
                let p = P3::new(radius * c, radius * s, LEAD * t + height);
                (t, pose * p, pose * V3::new(-radius * s, radius * c, LEAD))
            })
            .collect();
        BezierSpline::hermite(&samples)
    }

    fn pose() -> Pose {
        Pose::new(V3::new(3.0, -7.0, 2.0), V3::new(0.4, -0.8, 0.3))
    }

    /// Distance of a point from the exact helicoid with a straight profile through two points (radius,
    /// height).
    fn off(pose: &Pose, p: &P3, [from, to]: [[f64; 2]; 2]) -> f64 {
        let q = pose.inverse() * p;
        let slope = (to[1] - from[1]) / (to[0] - from[0]);
        let (r, turn) = (math::hypot(q.x, q.y), math::atan2(q.y, q.x));
        let height = q.z - LEAD * turn - from[1] - slope * (r - from[0]);
        let height = height - (height / (TAU * LEAD)).round() * TAU * LEAD;
        height / (1.0 + slope * slope + (LEAD / r) * (LEAD / r)).sqrt()
    }

    fn check(found: &Helical, pose: &Pose, within: f64) {
        let axis = pose * V3::z();
        assert!((found.lead - LEAD).abs() < within, "{found:?}");
        assert!(found.frame.z.cross(&axis).norm() < within, "{found:?}");
        let off = found.frame.origin - pose * P3::origin();
        assert!((off - axis * off.dot(&axis)).norm() < 10.0 * within, "{found:?}");
    }

    #[test]
    fn helices_are_found_with_their_deviation() {
        let pose = pose();
        for (pieces, noise) in [(60, 0.0), (120, 0.0), (240, 0.0), (160, 1e-6)] {
            let mut curve = helix(2.5, 0.3, 5.0, pieces, &pose);
            shake(&mut curve.control, noise);
            let found = of_curve(&curve, curve.range(), 1e-1).unwrap();
            let true_off = (0..4_000).fold(0.0, |m: f64, k| {
                let q = pose.inverse() * curve.derivs(10.0 * PI * f64::from(k) / 4_000.0).p;
                let height = q.z - LEAD * math::atan2(q.y, q.x) - 0.3;
                let height = height - (height / (TAU * LEAD)).round() * TAU * LEAD;
                m.max(math::hypot(math::hypot(q.x, q.y) - 2.5, height))
            });
            assert!(true_off <= 1.2 * found.deviation && found.deviation <= 6.0 * true_off + 1e-12);
            check(&found, &pose, 3.0 * true_off + 1e-11);
            // A tolerance below the deviation is not met.
            assert!(of_curve(&curve, curve.range(), 0.3 * true_off).is_none());
        }
    }

    /// Moves each control point by a random displacement whose components are at most `by` in magnitude.
    fn shake(control: &mut [H4], by: f64) {
        let mut rng = SmallRng::seed_from_u64(3);
        for h in control {
            for k in 0..3 {
                h[k] += by * rng.random_range(-1.0..1.0);
            }
        }
    }

    #[test]
    fn flanks_are_found_with_their_deviation() {
        let pose = pose();
        let profile = [[2.4, 0.1], [2.9, 0.35]];
        for (turns, pieces, noise) in [(5.0, 40, 0.0), (5.0, 160, 1e-6), (1.0, 30, 1e-7), (12.0, 400, 1e-5)] {
            let [a, b] = profile.map(|[r, z]| helix(r, z, turns, pieces, &pose));
            let mut grid = BezierSurface::ruled(&a, &b);
            shake(&mut grid.control, noise);
            let found = of_surface(&grid, &grid.domain(), 1e-2).unwrap();
            let r = grid.domain();
            let true_off = (0..4_000).fold(0.0, |m: f64, k| {
                let at = |i: i32, n: i32| f64::from(i % n) / f64::from(n - 1);
                let uv = P2::new(r.u0 + r.width() * at(k, 3_989), r.v0 + (r.v1 - r.v0) * at(k, 7));
                m.max(off(&pose, &grid.derivs(uv).p, profile).abs())
            });
            assert!(
                true_off <= 2.0 * found.deviation && found.deviation <= 6.0 * true_off + 1e-11,
                "{turns} {pieces} {noise}: {true_off} {found:?}"
            );
            check(&found, &pose, 5.0 * true_off + 1e-11);
            // The motion takes points of the flank to points of the flank.
            let (p, q) = (grid.derivs(P2::new(r.u0, r.v0)).p, grid.derivs(P2::new(r.u1, r.v0)).p);
            let angle = found.angle_between(&p, &q);
            assert!((angle.abs() - TAU * turns).abs() < 1e-3, "{angle}");
            assert!((found.motion(angle) * p - q).norm() < 1e-3);
        }
    }

    /// Shapes that are invariant under several motions, under a rotation, or under no motion.
    #[test]
    fn other_shapes_are_rejected() {
        let frame = Frame::identity();
        let arc = BezierSpline::arc(&frame, 3.0, 3.0, 0.0, 2.0);
        let ellipse = BezierSpline::arc(&frame, 3.0, 2.0, 0.0, 2.0);
        let line = BezierSpline::segment(&P3::new(1.0, 0.0, 0.0), &P3::new(2.0, 0.0, 3.0), 0.0, 1.0);
        let mut high =
            BezierSpline::arc(&Frame { origin: P3::new(0.5, 0.1, 4.0), ..frame }, 2.0, 3.5, 0.0, 2.0);
        high.breaks.clone_from(&ellipse.breaks);
        // A helix that widens, and one whose lead grows.
        let bent = |radius: fn(f64) -> f64, height: fn(f64) -> f64| {
            let at = |t: f64| P3::new(radius(t) * math::cos(t), radius(t) * math::sin(t), height(t));
            let samples: Vec<(f64, P3, V3)> = (0..=100)
                .map(|k| {
                    let t = 0.2 * f64::from(k);
                    (t, at(t), (at(t + 1e-5) - at(t - 1e-5)) / 2e-5)
                })
                .collect();
            BezierSpline::hermite(&samples)
        };
        let spirals = [bent(|t| 2.0 + 0.05 * t, |t| 0.16 * t), bent(|_| 2.0, |t| 0.16 * t + 0.005 * t * t)];
        for curve in [&arc, &ellipse, &line, &spirals[0], &spirals[1]] {
            assert_eq!(of_curve(curve, curve.range(), 1e-3), None);
        }
        let z = V3::z();
        let surfaces = [
            BezierSurface::revolution(&line, &P3::origin(), &z, 0.0, 3.0),
            BezierSurface::revolution(&high, &P3::new(9.0, 0.0, 0.0), &V3::y(), 0.0, 2.0),
            BezierSurface::extrusion(&ellipse, &z, 0.0, 3.0),
            BezierSurface::ruled(&ellipse, &high),
            BezierSurface::extrusion(&line, &V3::y(), 0.0, 3.0),
            BezierSurface::ruled(&spirals[1], &bent(|_| 2.5, |t| 0.2 + 0.16 * t + 0.005 * t * t)),
        ];
        for (k, grid) in surfaces.iter().enumerate() {
            assert_eq!(of_surface(grid, &grid.domain(), 1e-3), None, "{k}");
        }
    }
}
