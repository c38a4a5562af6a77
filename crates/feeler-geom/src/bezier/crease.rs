//! Joints of patches at which the normal is discontinuous, and the surfaces between such joints.

use std::ops::Range;

use super::{BezierSpline, BezierSurface, dehomogenized};
use crate::{P2, V3, math};

/// Number of samples per side of a patch at which normals are compared. A larger value is slower, a
/// smaller one misses short creases.
const SAMPLES_PER_SIDE: u32 = 5;
/// Minimum length of a derivative, relative to the size of its patch, and minimum sine of the angle
/// between the derivatives, at which a patch has a normal. With a larger value creases at poles are
/// missed; with a smaller one rounding at poles counts as a crease.
const MIN_REGULARITY: f64 = 1e-6;

impl BezierSurface {
    /// Indices of the joints `u = u_breaks[k]` and of the joints `v = v_breaks[k]` at which the normals
    /// of both sides differ at some sample by more than `angle` (rad) and less than 3 rad. Joint 0 is
    /// included in a periodic direction only.
    #[must_use]
    pub fn creases(&self, angle: f64) -> [Vec<usize>; 2] {
        [true, false].map(|of_u| {
            let (n_u, n_v) = self.n_patches();
            let (n, periodic) = if of_u { (n_u, self.u_periodic) } else { (n_v, self.v_periodic) };
            let first = usize::from(!periodic);
            (first..n).filter(|&k| self.jump(of_u, k).is_some_and(|jump| jump > angle)).collect()
        })
    }

    /// Largest angle (rad) at samples between the normals on both sides of the joint `u = u_breaks[k]`
    /// (`v = v_breaks[k]` unless `of_u`). `None` if no sample has a normal on both sides.
    /// Samples with nearly opposite normals are skipped: there the surface is folded onto itself, or a
    /// patch is degenerate.
    fn jump(&self, of_u: bool, k: usize) -> Option<f64> {
        let (n_u, n_v) = self.n_patches();
        let (n, n_across) = if of_u { (n_u, n_v) } else { (n_v, n_u) };
        let before = if k == 0 { n - 1 } else { k - 1 };
        let index = |i: usize, j: usize| if of_u { (i, j) } else { (j, i) };
        let samples = (0..n_across).flat_map(|j| (0..SAMPLES_PER_SIDE).map(move |s| (j, s)));
        let angles = samples.filter_map(|(j, s)| {
            let share = f64::from(s) / f64::from(SAMPLES_PER_SIDE - 1);
            let low = self.normal_of_patch(index(before, j), of_u, 1.0, share)?;
            let high = self.normal_of_patch(index(k, j), of_u, 0.0, share)?;
            let angle = math::atan2(low.cross(&high).norm(), low.dot(&high));
            (angle < MIN_FOLD_ANGLE).then_some(angle)
        });
        angles.max_by(f64::total_cmp)
    }

    /// Unit normal of one patch at relative parameters in [0, 1]: `along` is that of u (of v unless
    /// `of_u`), `across` that of the other parameter. `None` if the patch is singular there.
    fn normal_of_patch(&self, patch: (usize, usize), of_u: bool, along: f64, across: f64) -> Option<V3> {
        let r = self.patch_rect(patch);
        let (s, t) = if of_u { (along, across) } else { (across, along) };
        let d = self.patch_derivs(patch, P2::new(r.u0 + s * r.width(), r.v0 + t * r.height()));
        let control = self.patch_control(patch);
        let first = dehomogenized(&control[0]);
        let size = control.iter().map(|h| (dehomogenized(h) - first).norm()).fold(0.0, f64::max);
        let normal = d.du.cross(&d.dv);
        let [du, dv] = [d.du.norm(), d.dv.norm()];
        let is_regular = du * r.width() > MIN_REGULARITY * size
            && dv * r.height() > MIN_REGULARITY * size
            && normal.norm() > MIN_REGULARITY * du * dv;
        is_regular.then(|| normal.normalize())
    }

    /// Returns the surface of the patches between joints `us` in u and `vs` in v. The ranges may pass
    /// the end of a periodic direction once; parameters are unchanged up to the end, and increased by
    /// the period beyond it. A direction of the result is periodic only if it covers the whole period
    /// and starts at joint 0.
    #[must_use]
    pub fn part(&self, us: Range<usize>, vs: Range<usize>) -> Self {
        let (n_u, n_v) = self.n_patches();
        let patches = us.clone().flat_map(|i| vs.clone().map(move |j| (i % n_u, j % n_v)));
        Self {
            u_degree: self.u_degree,
            v_degree: self.v_degree,
            control: patches.flat_map(|p| self.patch_control(p)).copied().collect(),
            u_periodic: self.u_periodic && us == (0..n_u),
            v_periodic: self.v_periodic && vs == (0..n_v),
            u_breaks: breaks_between(&self.u_breaks, &us),
            v_breaks: breaks_between(&self.v_breaks, &vs),
        }
    }

    /// The curve of a joint: `u = u_breaks[k]` over v if `of_u`, otherwise `v = v_breaks[k]` over u.
    #[must_use]
    pub fn joint(&self, of_u: bool, k: usize) -> BezierSpline {
        let (n_u, n_v) = self.n_patches();
        let (p, q) = (self.u_degree as usize, self.v_degree as usize);
        let (n, n_across) = if of_u { (n_u, n_v) } else { (n_v, n_u) };
        // The last joint is the end of the last patch.
        let (patch, end) = if k == n { (n - 1, true) } else { (k, false) };
        let control = (0..n_across).flat_map(|j| {
            let points = self.patch_control(if of_u { (patch, j) } else { (j, patch) });
            let (at, n_points) = if of_u { (usize::from(end) * p, q) } else { (usize::from(end) * q, p) };
            (0..=n_points).map(move |i| points[if of_u { at * (q + 1) + i } else { i * (q + 1) + at }])
        });
        BezierSpline {
            degree: if of_u { self.v_degree } else { self.u_degree },
            breaks: if of_u { self.v_breaks.clone() } else { self.u_breaks.clone() },
            control: control.collect(),
            periodic: if of_u { self.v_periodic } else { self.u_periodic },
        }
    }
}

/// Angle (rad) between normals above which a sample is a fold or a degenerate patch instead of a crease.
/// With a larger value degenerate sides split faces; with a smaller one sharp creases do not.
const MIN_FOLD_ANGLE: f64 = 3.0;

/// Returns the breaks at the joints of a range, both ends included. Joints beyond the end of a periodic
/// direction have the breaks of the first joints increased by the period.
fn breaks_between(breaks: &[f64], joints: &Range<usize>) -> Vec<f64> {
    let n = breaks.len() - 1;
    let period = breaks[n] - breaks[0];
    let at = |k: usize| if k > n { breaks[k - n] + period } else { breaks[k] };
    (joints.start..=joints.end).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::P3;

    /// A roof over a zigzag: flat patches that join at known angles.
    fn roof(heights: &[f64]) -> BezierSurface {
        let at = |k: usize, y: f64| P3::new(k as f64, y, heights[k]);
        let control = (0..heights.len() - 1).flat_map(|k| {
            [at(k, 0.0), at(k, 3.0), at(k + 1, 0.0), at(k + 1, 3.0)]
                .map(|p| super::super::homogeneous(&p, 1.0))
        });
        BezierSurface {
            u_degree: 1,
            v_degree: 1,
            u_breaks: (0..heights.len()).map(|k| k as f64).collect(),
            v_breaks: vec![0.0, 1.0],
            control: control.collect(),
            u_periodic: false,
            v_periodic: false,
        }
    }

    #[test]
    fn creases_of_a_roof() {
        let s = roof(&[0.0, 0.1, 0.2, 0.2, 0.2 + 1e-6]);
        assert_eq!(s.creases(1e-3), [vec![2], vec![]], "0.1 to 0");
        assert_eq!(s.creases(1e-7), [vec![2, 3], vec![]], "0.1 to 0 to 1e-6");
        assert_eq!(s.creases(0.1), [vec![], vec![]], "atan 0.1 is less");
    }

    #[test]
    fn parts_are_the_surface_between_joints() {
        let s = roof(&[0.0, 0.1, 0.2, 0.2, 0.5]);
        let part = s.part(1..3, 0..1);
        assert_eq!(part.u_breaks, [1.0, 2.0, 3.0]);
        for (u, v) in [(1.0, 0.0), (1.5, 0.5), (2.75, 1.0), (3.0, 0.2)] {
            assert_eq!(part.derivs(P2::new(u, v)).p, s.derivs(P2::new(u, v)).p);
        }
        assert_eq!(part.creases(1e-3), [vec![2 - 1], vec![]]);
    }

    #[test]
    fn joints_are_parameter_lines() {
        let s = roof(&[0.0, 0.1, 0.2, 0.2, 0.5]);
        for k in 0..=4 {
            let line = s.joint(true, k);
            for v in [0.0, 0.3, 1.0] {
                assert!((line.derivs(v).p - s.derivs(P2::new(k as f64, v)).p).norm() < 1e-15);
            }
        }
        for (k, v) in [(0, 0.0), (1, 1.0)] {
            let line = s.joint(false, k);
            for u in [0.0, 0.3, 1.7, 4.0] {
                assert!((line.derivs(u).p - s.derivs(P2::new(u, v)).p).norm() < 1e-15);
            }
        }
    }
}
