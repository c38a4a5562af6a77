//! The contacts that a step of a simulator needs: minima, quasi-minima, contacts of extended faces, and
//! samples. They follow from bounds of the relative motion in the step.
//!
//! Let the step rotate B by at most θ relative to A and displace no point of B by more than d. Consider a
//! minimum at the end of the step with the normal n and the distance h. Let w be the vector between its
//! two material points at the beginning of the step. Then |w − h n| ≤ d, n is in A's polar, and −n is
//! within θ of B's polar. The points are not a critical pair at the beginning. Polars are therefore
//! dilated, and faces extended, by amounts that follow from θ and d.
//!
//! # Source
//! BREP §1.3.1.4, §3.4 (quasi-LMDs), (1.24); MATH §23.

mod fixed_point;
mod flush;
mod known;
mod sample;
#[cfg(test)]
mod tests;

pub(crate) use fixed_point::{Sample, SampleId};
pub(crate) use flush::slid_past;
pub(crate) use sample::{Scratch as SampleScratch, add_samples};

use crate::accept::filter::{filter, filter_beside, is_impossible};
use crate::api::contact::{ContactKind, FeatureRef};
use crate::body::edge_normals::edge_normals;
use crate::body::side::Which;
use crate::cull::dilations::Dilations;
use crate::cull::motion::Motion;
use crate::footpoint::polar::{Few, farthest_direction};
use crate::footpoint::touching::collect;
use crate::footpoint::trim::{locate_on_edge, place_on};
use crate::query::{Accepted, Candidate, Context, StepBounds, Waves};
use feeler_geom::{P2, P3, Pose, V3, math};
use feeler_hierarchy::{EdgeId, FaceId, Feature};

/// Bounds of the motion of B relative to A in the next step of a simulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Widening {
    /// Upper bound of the rotation (rad) of B relative to A in the step.
    pub rotation: f64,
    /// Upper bound of the displacement (mm) of any point of B relative to A in the step.
    pub displacement: f64,
    /// Upper bound (mm) of the distances that the step can close: `displacement` plus the dilations of
    /// both solids. A pair of footpoints at a larger distance stays apart in the whole step, so it needs
    /// no contact.
    pub max_distance: f64,
    /// Accepted error (mm) of the gap that a contact predicts for the end of the step.
    pub gap_error: f64,
    /// Pose of B in A's frame before the last step; `None` if the motion is not a continuation of that
    /// step.
    pub pose_before: Option<Pose>,
    /// Whether one minimum is enough of those that only small waves of splines separate.
    pub ignores_waves: bool,
}

impl Widening {
    /// Largest displacement and rotation of B.
    pub(crate) fn motion(&self) -> Motion {
        Motion { displacement: self.displacement, rotation: self.rotation }
    }

    /// Differences of free-form features from canonical ones that do not matter in the step (MATH §23, *Waves
    /// of splines*): they change gaps by a small part of the accepted error; the step rotates B by more than
    /// their angle, so that the ends of a feature have contacts, too, where waves hide the minimum of a pair
    /// of features; and a contact between such features has samples, because its gap is not linear within the
    /// step. `size` (mm) is that of the smaller solid.
    pub(crate) fn waves(&self, size: f64) -> Waves {
        if !self.ignores_waves {
            return Waves::NONE;
        }
        let nonlinear = 0.5 * self.rotation * self.rotation / self.allowed_error(size);
        Waves {
            deviation: 0.5 * WAVE_HEIGHT * self.gap_error,
            angle: WAVE_ANGLE * self.rotation,
            curvature: WAVE_CURVATURE * nonlinear,
        }
    }

    /// Bounds of the step for the search of minima and sets.
    pub(crate) fn bounds(&self) -> StepBounds {
        StepBounds { rotation: self.rotation, gap_error: self.gap_error }
    }

    /// Error (mm) of a predicted gap up to which no samples are added: the accepted error plus the terms of
    /// second order that samples have, too. `size` (mm) is that of the smaller solid.
    pub(crate) fn allowed_error(&self, size: f64) -> f64 {
        let &Self { rotation, displacement, gap_error, .. } = self;
        gap_error + rotation * displacement + 0.5 * rotation * rotation * (0.5 * size)
    }

    /// Bounds of a motion that is longer by `factor`, with the same accepted error and dilations.
    pub(crate) fn times(&self, factor: f64) -> Self {
        Self {
            rotation: factor * self.rotation,
            displacement: factor * self.displacement,
            max_distance: self.max_distance + (factor - 1.0) * self.displacement,
            ..*self
        }
    }
}

/// Largest difference of the gaps of two minima that waves of splines separate and of which one is enough, as
/// a fraction of the accepted error of gaps. A larger value uses up the error; with a smaller one, more
/// patches are searched for minima of waves.
const WAVE_HEIGHT: f64 = 0.25;
/// Largest angle of such waves, as a fraction of the step's rotation, by which polars are dilated. Contacts
/// at the ends of features replace hidden minima up to a fraction of 1. A smaller value searches more
/// patches.
const WAVE_ANGLE: f64 = 0.5;
/// Largest difference of curvatures of such waves, as a fraction of the relative curvature below which
/// contacts have samples. The relative curvature of a contact beside waves is at most three times that
/// difference. A larger value omits samples that replace minima; a smaller one searches more patches.
const WAVE_CURVATURE: f64 = 0.25;

/// Largest angle (rad) by which a polar is dilated, and the quasi-angle for which pairs of areas are
/// culled. A larger value makes steps slower; a smaller one misses contacts of edges that cross at small
/// angles.
pub(crate) const LARGEST_DILATION: f64 = 0.25;
/// Dilation of the polars of two crossing edges, as a multiple of the step's rotation divided by the
/// sine of the angle between the edges. The factor exceeds 1 because that angle can change during the
/// step. A larger value adds contacts; a smaller one misses contacts of edges whose angle changes.
const CROSSING_DILATION: f64 = 1.2;
/// Smallest angle between edges that count as crossing, as a multiple of the step's rotation. Edges at
/// smaller angles have contacts at the ends of their overlap instead. A larger value misses crossings, a
/// smaller one dilates polars more.
const MIN_CROSSING_ANGLE: f64 = 6.0;

/// Angles by which polars are dilated when pairs of areas are culled for a step, at least as large as
/// those used by [`widened`]. `bend` (1/mm) is the largest curvature of a face. The angles `before` of the
/// last step are returned if they are sufficient and not much larger.
pub(crate) fn dilations(step: &Widening, bend: f64, before: Option<Dilations>) -> Dilations {
    let Widening { rotation, displacement, .. } = *step;
    // The largest dilation for edges that are not almost parallel.
    let crossing = CROSSING_DILATION * rotation / math::sin(MIN_CROSSING_ANGLE * rotation);
    let crossing = if crossing > 0.0 { crossing } else { LARGEST_DILATION };
    Dilations::of_step([rotation, displacement, bend], [crossing, LARGEST_DILATION], before)
}

/// Accepts a critical pair as a contact of the step, or returns `None`. A pair that [`filter`] accepts is
/// a minimum. Another pair is accepted as a quasi-minimum if its direction is within the angle
/// [`dilation`] of both polars and its footpoints are on the faces extended by the displacement of the
/// step.
pub(crate) fn widened(ctx: &Context<'_>, step: &Widening, c: &Candidate) -> Option<Accepted> {
    let exact = Context { quasi_angle: 0.0, ..*ctx };
    if let Some(minimum) = filter(&exact, c) {
        return Some(minimum);
    }
    let has = |is: fn(&Feature) -> bool| is(&c.feature_a) || is(&c.feature_b);
    if has(|f| matches!(f, Feature::Vertex(_))) && !has(|f| matches!(f, Feature::Face(_))) {
        return beside_polars(&exact, step, c);
    }
    let quasi_angle = dilation(ctx, step, c)?;
    let slide = step.displacement;
    let ctx = &Context { quasi_angle, ..*ctx };
    let quasi = filter_beside(ctx, c, ctx.beside(c.distance).max(slide), slide)?;
    Some(Accepted { kind: ContactKind::Quasi, ..quasi })
}

/// Angle (rad) by which the polars of a candidate's features are dilated; `None` for two edges that are
/// almost parallel.
fn dilation(ctx: &Context<'_>, step: &Widening, c: &Candidate) -> Option<f64> {
    let Widening { rotation, displacement, .. } = *step;
    let bend = |which, feature, p: &P3, hint| match feature {
        Feature::Face(f) => bend_of_face(ctx, which, f, p, hint),
        Feature::Edge(_) | Feature::Vertex(_) => 0.0,
    };
    let angle = match (c.feature_a, c.feature_b) {
        (Feature::Edge(a), Feature::Edge(b)) => {
            let s = tangent(ctx, (Which::A, a), (&c.p_a, c.hint_a), displacement)?;
            let t = tangent(ctx, (Which::B, b), (&c.p_b, c.hint_b), displacement)?;
            let sine = s.cross(&t).norm();
            if sine <= math::sin(MIN_CROSSING_ANGLE * rotation) {
                return None;
            }
            CROSSING_DILATION * rotation / sine
        }
        (Feature::Face(_), Feature::Face(_)) => 0.0,
        // A footpoint that slides on a curved face turns the normal.
        (a, b) => {
            let bends = bend(Which::A, a, &c.p_a, c.hint_a) + bend(Which::B, b, &c.p_b, c.hint_b);
            rotation + bends * displacement
        }
    };
    Some(angle.min(LARGEST_DILATION))
}

/// Largest absolute curvature (1/mm) of a face at a point (frame of A); 0 if it is not finite. `hint` are
/// the parameters of the point, if known.
fn bend_of_face(ctx: &Context<'_>, which: Which, face: FaceId, p: &P3, hint: Option<P2>) -> f64 {
    let surface = &ctx.body(which).face(face).surface;
    let uv = hint.unwrap_or_else(|| surface.invert(&ctx.in_own(which, p), None, None));
    let [k1, k2] = surface.curvatures(uv);
    let bend = k1.abs().max(k2.abs());
    if bend.is_finite() { bend } else { 0.0 }
}

/// Unit tangent (frame of A) of an edge at a point (frame of A), which may be up to `beyond` (mm) beyond an
/// end; `None` if the point is not on the edge. `hint` contains the parameter of the point, if known.
fn tangent(
    ctx: &Context<'_>,
    (which, edge): (Which, EdgeId),
    (p, hint): (&P3, Option<P2>),
    beyond: f64,
) -> Option<V3> {
    let body = ctx.body(which);
    let at = locate_on_edge(body, edge, &ctx.in_own(which, p), hint.map(|h| h.x), beyond, &ctx.tol)?;
    let tangent = edge_normals(body, edge, at.place.uv[0])?.tangent;
    Some(if which == Which::A { tangent } else { ctx.pose_ab * tangent })
}

/// Accepts a candidate of two vertices, or of a vertex and an edge, whose connection is outside a polar,
/// as a quasi-minimum. Its direction is the one in both dilated polars in which the footpoints are
/// farthest apart. `None` if the polars have no such direction or the distance is out of range.
fn beside_polars(ctx: &Context<'_>, step: &Widening, c: &Candidate) -> Option<Accepted> {
    if is_impossible(ctx, c) {
        return None;
    }
    let mut constraints = Few::new();
    collect(ctx, Which::A, c.feature_a, &c.p_a, &mut constraints)?;
    collect(ctx, Which::B, c.feature_b, &c.p_b, &mut constraints)?;
    let between = c.p_b - c.p_a;
    let n = farthest_direction(&constraints, step.rotation + ctx.tol.angle, &between)?;
    let distance = between.dot(&n);
    if !(ctx.tol.min_distance() <= distance && distance <= ctx.d_max) {
        return None;
    }
    let slack = |which, feature| match feature {
        Feature::Vertex(v) => ctx.body(which).vertex(v).deviation,
        Feature::Edge(_) | Feature::Face(_) => 0.0,
    };
    let place =
        |which, feature, p: &P3| -> FeatureRef { place_on(ctx.body(which), feature, &ctx.in_own(which, p)) };
    Some(Accepted {
        feature_a: c.feature_a,
        feature_b: c.feature_b,
        p_a: c.p_a,
        p_b: c.p_b,
        n,
        distance,
        kind: ContactKind::Quasi,
        place_a: place(Which::A, c.feature_a, &c.p_a),
        place_b: place(Which::B, c.feature_b, &c.p_b),
        slack_a: slack(Which::A, c.feature_a),
        slack_b: slack(Which::B, c.feature_b),
        is_extended: false,
        is_slid: false,
        undecided: c.undecided,
    })
}
