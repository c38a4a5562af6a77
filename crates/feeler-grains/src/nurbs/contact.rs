//! Refinement of contacts to the last digits.
//!
//! Queries converge until the angle between the connection of the footpoints and the normals is below
//! rounding for the sizes of both solids. Where grains fit each other closely, the footpoints have
//! larger errors. From there, Newton's method on equations that are regular at contact converges to
//! rounding. The result does not depend on the order of the grains.
//!
//! # Source
//! MATH §8: (q − p)·∂p = 0 and (∂u p × ∂v p)·∂q = 0.

use super::NurbsGrain;
use feeler_geom::{P2, P3, Pose, SurfaceDerivs, V3};
use nalgebra::{Matrix4, Vector4};

/// Contact of two grains, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrainContact {
    /// Footpoint on A (mm).
    pub point_a: P3,
    /// Footpoint on B (mm).
    pub point_b: P3,
    /// Unit normal from A to B: the mean of A's outward normal and the opposite of B's, normalised.
    pub normal: V3,
    /// Signed gap (mm): the component along the normal of the vector from `point_a` to `point_b`,
    /// negative for an overlap.
    pub gap: f64,
}

/// A grain, its pose (world), and the parameters of a point of its surface.
pub type GrainPlace<'a> = (&'a NurbsGrain, &'a Pose, P2);

/// Maximum number of steps of Newton's method, which converges quadratically from the results of
/// queries.
const MAX_STEPS: u32 = 6;
/// Largest distance between a footpoint after refinement and the point at the given parameters, relative
/// to the size of the larger grain. A larger value reaches another minimum, a smaller one rejects
/// contacts in flat valleys.
const MAX_DISPLACEMENT: f64 = 1e-5;

/// Refines the contact near the given parameters of two grains to rounding. For faces that are splines,
/// queries report these parameters in `feature_a.uv` and `feature_b.uv` of a contact. Returns `None` at
/// poles, and if Newton's method moves a footpoint too far from the given parameters or does not
/// converge.
#[must_use]
pub fn polished(a: GrainPlace<'_>, b: GrainPlace<'_>) -> Option<GrainContact> {
    // The equations are solved from each grain, so the mean does not depend on the order of the grains.
    let (there, back) = (solved(a, b)?, solved(b, a)?);
    let normal = (there.2 - back.2).try_normalize(0.5)?;
    let (point_a, point_b) = (nalgebra::center(&there.0, &back.1), nalgebra::center(&there.1, &back.0));
    Some(GrainContact { point_a, point_b, normal, gap: (point_b - point_a).dot(&normal) })
}

fn placed(grain: &NurbsGrain, pose: &Pose, uv: P2) -> SurfaceDerivs {
    let d = grain.grid().derivs(uv);
    let turned = |v: V3| pose.rotation * v;
    SurfaceDerivs {
        p: pose * d.p,
        du: turned(d.du),
        dv: turned(d.dv),
        duu: turned(d.duu),
        duv: turned(d.duv),
        dvv: turned(d.dvv),
    }
}

/// Solves for the footpoints by Newton's method from the given parameters. Returns the footpoints on A
/// and B and A's outward unit normal (world). `None` if the footpoint on A moves more than
/// [`MAX_DISPLACEMENT`], if the equations are singular, or if the method does not converge.
fn solved(a: GrainPlace<'_>, b: GrainPlace<'_>) -> Option<(P3, P3, V3)> {
    let mut x = Vector4::new(a.2.x, a.2.y, b.2.x, b.2.y);
    let size = a.0.size().max(b.0.size());
    let start = placed(a.0, a.1, a.2).p;
    let mut last = f64::INFINITY;
    let mut best = None;
    for _ in 0..MAX_STEPS {
        let p = placed(a.0, a.1, P2::new(x[0], x[1]));
        let q = placed(b.0, b.1, P2::new(x[2], x[3]));
        if (p.p - start).norm() > MAX_DISPLACEMENT * size {
            return None;
        }
        let n = p.du.cross(&p.dv);
        let w = q.p - p.p;
        // Residuals are divided by the lengths of the tangents, so all rows have the same weight.
        let [t, s] = [[p.du, p.dv], [q.du, q.dv]].map(|t| t.map(|v| v.norm()));
        let f = Vector4::new(w.dot(&p.du), w.dot(&p.dv), n.dot(&q.du), n.dot(&q.dv));
        let area = n.norm();
        let residual = (f[0] / t[0] / size).abs().max((f[1] / t[1] / size).abs());
        let residual = residual.max((f[2] / area / s[0]).abs()).max((f[3] / area / s[1]).abs());
        if residual >= last || !residual.is_finite() {
            break;
        }
        last = residual;
        best = Some((p.p, q.p, n / area));
        let (n_u, n_v) = (p.duu.cross(&p.dv) + p.du.cross(&p.duv), p.duv.cross(&p.dv) + p.du.cross(&p.dvv));
        let j = Matrix4::new(
            w.dot(&p.duu) - p.du.dot(&p.du),
            w.dot(&p.duv) - p.dv.dot(&p.du),
            q.du.dot(&p.du),
            q.dv.dot(&p.du),
            w.dot(&p.duv) - p.du.dot(&p.dv),
            w.dot(&p.dvv) - p.dv.dot(&p.dv),
            q.du.dot(&p.dv),
            q.dv.dot(&p.dv),
            n_u.dot(&q.du),
            n_v.dot(&q.du),
            n.dot(&q.duu),
            n.dot(&q.duv),
            n_u.dot(&q.dv),
            n_v.dot(&q.dv),
            n.dot(&q.duv),
            n.dot(&q.dvv),
        );
        x -= j.lu().solve(&f)?;
    }
    best.filter(|_| last < 1e-12)
}
