//! Computes the critical pair of two features near a known one, by Newton's method on equations that are
//! regular at contact.
//!
//! Let w be the vector from the footpoint p to the footpoint q. If p is on a face with the normal n, the
//! equations are w·∂p = 0 and n·∂q = 0 for the derivatives of the points along their features. If neither
//! feature is a face, w is orthogonal to both features.
//!
//! # Source
//! MATH §8.

use super::{FollowedContact, feature, point};
use crate::body::{Body, outward_normal};
use crate::query::{Candidate, Context};
use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, Pose, V3, math};
use feeler_hierarchy::Feature;
use nalgebra::{Matrix2, Matrix4, Vector4};

/// Maximum number of steps of Newton's method. The start differs from the result by about
/// [`FollowOptions::stride`](super::FollowOptions), and each step doubles the number of correct digits.
/// With a smaller value, large motions require queries; a larger one has no effect on regular contacts.
const MAX_STEPS: u32 = 10;
/// Length of a step, as a fraction of the larger solid's size, at which the iteration ends. A larger value
/// loses digits; a smaller one takes steps of rounding.
const CONVERGED_STEP: f64 = 1e-14;
/// Largest length of the final step, as a fraction of the larger solid's size, at which its result is
/// accepted. A larger value accepts inexact contacts; with a smaller one, flat contacts require queries.
const MAX_LAST_STEP: f64 = 1e-11;
/// Largest displacement of a footpoint from one pose to the next, as a fraction of the larger solid's
/// size. With a larger value, other minima of the same faces are found; with a smaller one, flat contacts
/// require queries.
const MAX_RUN: f64 = 0.1;

/// Point of a feature in A's frame with its derivatives with respect to the parameters. A vertex has no
/// parameters, an edge has one.
#[derive(Clone, Copy, Debug)]
struct Jet {
    p: P3,
    /// Number of parameters of the feature.
    parameters: usize,
    /// First derivatives of the point with respect to u and v (A's frame); zero for parameters that the
    /// feature does not have.
    first: [V3; 2],
    /// Second derivatives of the point (A's frame): uu, uv and vv; zero for parameters that the feature
    /// does not have.
    second: [V3; 3],
}

impl Jet {
    fn new(body: &Body, pose: Option<&Pose>, of: Feature, uv: [f64; 2]) -> Self {
        let none = V3::zeros();
        let own = match of {
            Feature::Face(f) => {
                let d = body.face(f).surface.derivs(point(uv));
                Self { p: d.p, parameters: 2, first: [d.du, d.dv], second: [d.duu, d.duv, d.dvv] }
            }
            Feature::Edge(e) => {
                let d = body.edge(e).curve.derivs(uv[0]);
                Self { p: d.p, parameters: 1, first: [d.d1, none], second: [d.d2, none, none] }
            }
            Feature::Vertex(v) => {
                Self { p: body.vertex(v).point, parameters: 0, first: [none; 2], second: [none; 3] }
            }
        };
        let Some(pose) = pose else { return own };
        let turned = |v: V3| pose.rotation * v;
        Self { p: pose * own.p, first: own.first.map(turned), second: own.second.map(turned), ..own }
    }

    fn second(&self, i: usize, k: usize) -> V3 {
        self.second[i + k]
    }
}

/// Returns the critical pair of a contact's features near the footpoints of `known`; `None` if Newton's
/// method does not converge there.
pub(super) fn critical_pair(ctx: &Context<'_>, known: &FollowedContact) -> Option<Candidate> {
    let [fa, fb] = known.features.map(feature);
    let (mut uv_a, mut uv_b) = (known.uv[0], known.uv[1]);
    let start = known.local_a;
    let size = ctx.tol.size;
    let mut last = f64::INFINITY;
    for _ in 0..MAX_STEPS {
        let a = Jet::new(ctx.a, None, fa, uv_a);
        let b = Jet::new(ctx.b, Some(&ctx.pose_ab), fb, uv_b);
        if (a.p - start).norm() > MAX_RUN * size {
            return None;
        }
        // A face comes first, because its normal is that of the contact.
        let swap = a.parameters < b.parameters && b.parameters == 2;
        let x = if swap { step(&b, &a)? } else { step(&a, &b)? };
        let ((da, db), length) = if swap {
            (([x[2], x[3]], [x[0], x[1]]), run(&b, [x[0], x[1]]).max(run(&a, [x[2], x[3]])))
        } else {
            (([x[0], x[1]], [x[2], x[3]]), run(&a, [x[0], x[1]]).max(run(&b, [x[2], x[3]])))
        };
        if !length.is_finite() {
            return None;
        }
        let has_converged = length <= CONVERGED_STEP * size;
        // Steps that do not get shorter any more are rounding.
        if !has_converged && length >= 0.5 * last && last <= MAX_LAST_STEP * size {
            break;
        }
        last = length;
        uv_a = [uv_a[0] - da[0], uv_a[1] - da[1]];
        uv_b = [uv_b[0] - db[0], uv_b[1] - db[1]];
        if has_converged {
            break;
        }
    }
    if last > MAX_LAST_STEP * size {
        return None;
    }
    candidate(ctx, known, (fa, uv_a), (fb, uv_b))
}

/// Computes a step of Newton's method: the values to subtract from the two parameters of the feature `s`
/// and from those of the feature `o`. If one feature is a face, it must be `s`. `None` if the equations
/// are singular.
fn step(s: &Jet, o: &Jet) -> Option<Vector4<f64>> {
    let w = o.p - s.p;
    let is_face = s.parameters == 2;
    let n = s.first[0].cross(&s.first[1]);
    let n_along = [
        s.second[0].cross(&s.first[1]) + s.first[0].cross(&s.second[1]),
        s.second[1].cross(&s.first[1]) + s.first[0].cross(&s.second[2]),
    ];
    // Rows of missing parameters are those of the identity matrix.
    let (mut f, mut j) = (Vector4::zeros(), Matrix4::identity());
    for i in 0..s.parameters {
        f[i] = w.dot(&s.first[i]);
        for k in 0..s.parameters {
            j[(i, k)] = w.dot(&s.second(i, k)) - s.first[k].dot(&s.first[i]);
        }
        for l in 0..o.parameters {
            j[(i, 2 + l)] = o.first[l].dot(&s.first[i]);
        }
    }
    for m in 0..o.parameters {
        let of = if is_face { n } else { w };
        f[2 + m] = of.dot(&o.first[m]);
        for k in 0..s.parameters {
            j[(2 + m, k)] = if is_face { n_along[k].dot(&o.first[m]) } else { -s.first[k].dot(&o.first[m]) };
        }
        for l in 0..o.parameters {
            let with = if is_face { 0.0 } else { o.first[l].dot(&o.first[m]) };
            j[(2 + m, 2 + l)] = of.dot(&o.second(m, l)) + with;
        }
    }
    j.lu().solve(&f)
}

/// Displacement (mm) of a footpoint if its parameters change by `x`, to first order.
fn run(jet: &Jet, x: [f64; 2]) -> f64 {
    (jet.first[0] * x[0] + jet.first[1] * x[1]).norm()
}

fn candidate(
    ctx: &Context<'_>,
    known: &FollowedContact,
    (fa, uv_a): (Feature, [f64; 2]),
    (fb, uv_b): (Feature, [f64; 2]),
) -> Option<Candidate> {
    let a = Jet::new(ctx.a, None, fa, uv_a);
    let b = Jet::new(ctx.b, Some(&ctx.pose_ab), fb, uv_b);
    let apart = b.p - a.p;
    let n = match (fa, fb) {
        (Feature::Face(f), _) => outward_normal(ctx.a.face(f), point(uv_a)),
        (_, Feature::Face(f)) => ctx.pose_ab.rotation * -outward_normal(ctx.b.face(f), point(uv_b)),
        _ => {
            let across = a.first[0].cross(&b.first[0]).try_normalize(f64::MIN_POSITIVE);
            let along = apart.try_normalize(ctx.tol.tol).or(across)?;
            if along.dot(&known.normal) < 0.0 { -along } else { along }
        }
    };
    let distance = apart.dot(&n);
    let across = (apart - n * distance).norm();
    if across > ctx.tol.tol.max(MAX_OFFSET * distance.abs()) {
        return None;
    }
    let hint = |feature: Feature, uv| (!matches!(feature, Feature::Vertex(_))).then_some(point(uv));
    Some(Candidate {
        feature_a: fa,
        feature_b: fb,
        p_a: a.p,
        p_b: b.p,
        n,
        distance,
        hint_a: hint(fa, uv_a),
        hint_b: hint(fb, uv_b),
        undecided: false,
    })
}

/// Largest distance of the footpoint on B from the normal line through the footpoint on A, as a fraction
/// of the distance between them. A larger value accepts pairs that are not critical; a smaller one loses
/// minima at large distances.
const MAX_OFFSET: f64 = 1e-6;

/// Smallest and largest curvature (1/mm) of the gap between two faces at a contact; infinite unless both
/// features are faces, and at poles.
pub(super) fn gap_curvatures([a, b]: [&Body; 2], pose_ab: &Pose, contact: &FollowedContact) -> [f64; 2] {
    let [fa, fb] = contact.features.map(feature);
    let a = Jet::new(a, None, fa, contact.uv[0]);
    let b = Jet::new(b, Some(pose_ab), fb, contact.uv[1]);
    let basis = complete_basis(&contact.normal);
    match (height(&a, &contact.normal, &basis), height(&b, &contact.normal, &basis)) {
        (Some(a), Some(b)) => {
            let of = b - a;
            let (middle, half) = (0.5 * (of[(0, 0)] + of[(1, 1)]), 0.5 * (of[(0, 0)] - of[(1, 1)]));
            let radius = math::hypot(half, of[(0, 1)]);
            [middle - radius, middle + radius]
        }
        _ => [f64::INFINITY; 2],
    }
}

/// Second derivatives (1/mm) of a surface's height along `n` over the plane that the unit vectors `x` and
/// `y` orthogonal to `n` span. `None` if the feature is not a face, and at degenerate points.
fn height(jet: &Jet, n: &V3, (x, y): &(V3, V3)) -> Option<Matrix2<f64>> {
    if jet.parameters < 2 {
        return None;
    }
    let [u, v] = jet.first;
    let from_plane = Matrix2::new(u.dot(x), v.dot(x), u.dot(y), v.dot(y)).try_inverse()?;
    let [uu, uv, vv] = jet.second.map(|d| d.dot(n));
    let out = from_plane.transpose() * Matrix2::new(uu, uv, uv, vv) * from_plane;
    out.iter().all(|c| c.is_finite()).then_some(out)
}
