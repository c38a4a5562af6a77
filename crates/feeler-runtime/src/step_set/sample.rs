//! Samples of nearly conformal pairs of features, which are contacts of a simulator's step in addition to
//! the minima.
//!
//! A step predicts the gap of a contact as a linear function of the motion. The error of the prediction is
//! at most (θ² + 2 κa θ u − κa κb u²) / (2 (κa + κb)) after a relative rotation θ and a slide u, where κa
//! and κb are the curvatures of both features in a direction. Points at fixed parameters of one feature
//! are contacts, too, if this error exceeds the accepted error plus the terms of second order of all
//! contacts, θ d + ½ θ² ρ. Here d is the displacement of the step and ρ the lever arm. With a spacing h,
//! the error of samples is at most κ h² / 8, where κ is the relative curvature at the end of the step. If
//! bodies roll on each other, 1 / κ is at most ρ, and samples would only obstruct the motion: the path of
//! a material point bends away from the surface by ½ θ² ρ, which linear gaps do not include.
//!
//! Parameters are multiples of a power of two, so that a sample keeps its identity while it exists.
//!
//! # Source
//! BREP §1.3.1.4; MATH §23.

use super::fixed_point::{FaceFoot, Sample, foot_on_face};
use super::known::KnownSamples;
use super::{LARGEST_DILATION, Widening};
use crate::api::contact::{ContactKind, FeatureKind, FeatureRef};
use crate::api::tolerance::power_of_two;
use crate::body::edge_normals::edge_normals;
use crate::body::samples::EdgeSegment;
use crate::body::side::Which;
use crate::body::{Body, outward_normal};
use crate::cull::motion::Motion;
use crate::footpoint::polar::Polar;
use crate::footpoint::side::{Foot, side};
use crate::footpoint::trim::{on_face, place_on, place_on_face};
use crate::query::{Accepted, Context};
use arrayvec::ArrayVec;
use feeler_geom::frame::complete_basis;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Curve, CurveDerivs, P2, P3, Surface, V3, math};
use feeler_hierarchy::{EdgeId, FaceId, Feature};
use smallvec::SmallVec;
use std::cell::Cell;

/// Samples that continue, and scratch buffers reused between queries.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    found: Found,
    /// Samples of the last step.
    pub known: KnownSamples,
}

/// Samples of a search.
#[derive(Debug, Default)]
struct Found {
    samples: Vec<Sample>,
    /// Scratch buffer: samples along a line on a face.
    row: Vec<Sample>,
    /// Whether samples may be missing because of a limit on their number.
    is_limited: bool,
}

/// Bounds of the motions for which samples are computed.
struct Bounds<'a> {
    /// Bound of the step, which determines where samples are necessary and their spacing.
    step: &'a Widening,
    /// Larger bound, within whose displacement samples are searched.
    search: Widening,
}

/// Difference between the bound for which samples are searched and that of the step, as a fraction of the
/// latter. A larger value searches less often, with more samples; a smaller one searches after shorter
/// motions.
const SEARCH_SLACK: f64 = 0.125;

/// Maximum number of samples along a line in each of the two directions from a contact. A larger number
/// makes steps slower; a smaller one leaves the ends of long contacts without samples.
const MAX_ALONG_LINE: i64 = 64;
/// Maximum number of samples that are added along one edge or on one pair of faces of closed form. A larger
/// number makes steps slower; a smaller one leaves parts of large contacts without samples.
const MAX_SAMPLES: usize = 256;
/// Number of samples of one line that are compared with new ones before these are computed. A larger number
/// uses more stack; a smaller one computes samples twice on lines with more of them.
const MAX_KNOWN: usize = 512;
/// Number of all samples of the pair of bodies at which no more are added if a free-form feature takes part.
/// A larger number makes steps slower; a smaller one leaves turns of threads without samples.
const MAX_FREE_SAMPLES: usize = 1024;
/// Largest spacing of samples, as a fraction of the range of a feature's parameters. A larger value leaves
/// short features without samples; a smaller one adds samples.
const MAX_SPACING: f64 = 0.25;
/// Largest product of the curvature of a feature and the extent of the pair of features at which the
/// feature counts as straight. A larger value misses samples of slightly bent features; a smaller one
/// adds samples to straight ones.
const MIN_CURVATURE: f64 = 1e-6;
/// Largest rotation (rad) of the normal over the extent of a pair of faces in a direction that counts as that
/// of their rulings, so that the borders across it have samples. A larger value adds samples; with a smaller
/// one, cylinders that are tilted in their play have none at their borders.
const MAX_RULING_TURN: f64 = 0.01;
/// Difference of principal curvatures, as a fraction of the larger one, below which a surface bends equally
/// in all directions. A larger value uses arbitrary directions on surfaces with principal ones; with a
/// smaller one, rounding determines the directions on spheres.
const SPHERICAL: f64 = 1e-6;

/// Stores in `out` the samples of nearly conformal pairs of features, which a step needs in addition to
/// the contacts `kept`. Only samples whose gap the step can close are stored.
///
/// Samples are searched for a larger bound than that of the step. While B has moved by at most the difference
/// and contacts have the same features, they are only computed again at their fixed points. `moved` is the
/// motion of B since the last query.
pub(crate) fn add_samples(
    ctx: &Context<'_>,
    step: &Widening,
    moved: &Motion,
    kept: &[Accepted],
    scratch: &mut Scratch,
    out: &mut Vec<Sample>,
) {
    let search = step.times(1.0 + SEARCH_SLACK);
    let is_near = |c: &&Accepted| !c.is_slid && c.distance <= search.max_distance;
    let near = || kept.iter().filter(is_near);
    if !scratch.known.continues(ctx, step, moved, near()) {
        let found = &mut scratch.found;
        found.samples.clear();
        found.is_limited = false;
        search_samples(ctx, &Bounds { step, search }, near(), found);
        // Several minima of one pair of features have samples in common.
        found.samples.sort_unstable_by_key(Sample::identity);
        found.samples.dedup_by_key(|s| s.identity());
        let slack = step.times(SEARCH_SLACK).motion();
        scratch.known.store(ctx, step, slack, (&found.samples, found.is_limited));
    }
    out.clear();
    out.extend(scratch.known.samples().filter(|s| s.pair.distance <= step.max_distance));
    out.retain(|s| !kept.iter().any(|c| is_at(ctx, c, s)));
}

/// Searches for the samples at the contacts `near` and adds them to `found`.
fn search_samples<'a>(
    ctx: &Context<'_>,
    bounds: &Bounds<'_>,
    near: impl Iterator<Item = &'a Accepted>,
    found: &mut Found,
) {
    for contact in near {
        match (contact.feature_a, contact.feature_b) {
            (Feature::Edge(e), Feature::Face(_)) => along_edge(ctx, bounds, contact, (Which::A, e), found),
            (Feature::Face(_), Feature::Edge(e)) => along_edge(ctx, bounds, contact, (Which::B, e), found),
            _ => {}
        }
        // The smallest distance of two faces may lie beyond their borders; edges have the contacts then.
        let is_set = contact.kind == ContactKind::Conformal;
        for pair in faces_of(ctx, &bounds.search, contact) {
            let of_a = ctx.primitive(Which::A, pair.feature_a);
            let is_closed_form = of_a.is_some() && ctx.primitive(Which::B, pair.feature_b).is_some();
            // Samples of free-form faces take long, so that they are added beside strict contacts only.
            let is_own = (pair.feature_a, pair.feature_b) == (contact.feature_a, contact.feature_b);
            if !is_closed_form && (is_set || !is_own) {
                continue;
            }
            let has_borders = on_faces(ctx, bounds, &pair, found);
            if is_closed_form && (has_borders || is_set) {
                along_borders(ctx, bounds, &pair, found);
            }
        }
    }
}

/// Pairs of faces at a contact, each as a copy of the contact with these features. The faces of each body
/// are the feature of the contact, if it is a face, or the faces adjacent to its edge whose normals the
/// step can turn into the direction of the contact.
fn faces_of(ctx: &Context<'_>, step: &Widening, contact: &Accepted) -> SmallVec<[Accepted; 2]> {
    let faces = |which: Which| -> SmallVec<[FaceId; 2]> {
        let (feature, place, p) = match which {
            Which::A => (contact.feature_a, &contact.place_a, &contact.p_a),
            Which::B => (contact.feature_b, &contact.place_b, &contact.p_b),
        };
        match feature {
            Feature::Face(f) => SmallVec::from_slice(&[f]),
            Feature::Vertex(_) => SmallVec::new(),
            Feature::Edge(e) => {
                let body = ctx.body(which);
                let n = outward_of(ctx, which, &contact.n);
                let point = body.edge(e).curve.point(place.uv[0]);
                let turns = |f: FaceId| {
                    let data = body.face(f);
                    // Inversion of a point on a free-form face takes too long.
                    if matches!(data.surface, Surface::Bezier(_)) {
                        return false;
                    }
                    let uv = data.surface.invert(&point, None, None);
                    let bend = super::bend_of_face(ctx, which, f, p, Some(uv));
                    let angle = (step.rotation + bend * step.displacement).min(LARGEST_DILATION);
                    outward_normal(data, uv).dot(&n) >= math::cos(angle + ctx.tol.critical)
                };
                let mut sides: SmallVec<[FaceId; 2]> = body.edge(e).sides.iter().map(|s| s.face).collect();
                sides.dedup();
                sides.retain(|f| turns(*f));
                sides
            }
        }
    };
    let (of_a, of_b) = (faces(Which::A), faces(Which::B));
    let place = |which, face: FaceId, feature, known: &FeatureRef, p: &P3| match feature {
        Feature::Face(_) => *known,
        Feature::Edge(_) | Feature::Vertex(_) => place_on_face(ctx.body(which), face, &ctx.in_own(which, p)),
    };
    let mut out = SmallVec::new();
    for &a in &of_a {
        for &b in &of_b {
            out.push(Accepted {
                feature_a: Feature::Face(a),
                feature_b: Feature::Face(b),
                place_a: place(Which::A, a, contact.feature_a, &contact.place_a, &contact.p_a),
                place_b: place(Which::B, b, contact.feature_b, &contact.place_b, &contact.p_b),
                ..*contact
            });
        }
    }
    out
}

/// Returns whether an edge is a circle, an arc of one, or a spline that follows one.
fn is_round(body: &Body, edge: EdgeId) -> bool {
    let is_circle = |p: &Primitive| matches!(p, Primitive::Circle { .. });
    matches!(body.edge(edge).curve, Curve::Circle { .. })
        || body.data(Feature::Edge(edge)).near.is_some_and(|near| is_circle(&near.primitive))
}

/// Whether a face is a part of a plane, cylinder or cone, or a spline that follows one.
fn is_ruled(body: &Body, face: FaceId) -> bool {
    let data = body.data(Feature::Face(face));
    let primitive = data.primitive.as_ref().or_else(|| data.near.as_ref().map(|near| &near.primitive));
    matches!(primitive, Some(Primitive::Plane { .. } | Primitive::Line { .. }))
}

/// Whether all edges of a face are round or straight, so that [`along_borders`] and the ends of straight
/// edges determine the gap along its borders.
fn has_sampled_borders(body: &Body, face: FaceId) -> bool {
    let is_straight = |edge: EdgeId| {
        let is_line = |p: &Primitive| matches!(p, Primitive::Line { .. });
        matches!(body.edge(edge).curve, Curve::Line { .. })
            || body.data(Feature::Edge(edge)).near.is_some_and(|near| is_line(&near.primitive))
    };
    body.edges_of_face(face).iter().all(|&edge| is_round(body, edge) || is_straight(edge))
}

/// Adds samples along the round edges of both faces of a contact, each edge against the face of the other
/// body. Along straight edges the gap is a linear function, so that contacts at their ends suffice.
fn along_borders(ctx: &Context<'_>, bounds: &Bounds<'_>, contact: &Accepted, found: &mut Found) {
    for which in [Which::A, Which::B] {
        let (feature, p) = match which {
            Which::A => (contact.feature_a, &contact.p_a),
            Which::B => (contact.feature_b, &contact.p_b),
        };
        let Feature::Face(face) = feature else { return };
        let p = ctx.in_own(which, p);
        for &edge in ctx.body(which).edges_of_face(face) {
            if !is_round(ctx.body(which), edge) {
                continue;
            }
            let place = place_near(ctx.body(which), edge, &p);
            let on_edge = match which {
                Which::A => Accepted { feature_a: Feature::Edge(edge), place_a: place, ..*contact },
                Which::B => Accepted { feature_b: Feature::Edge(edge), place_b: place, ..*contact },
            };
            along_edge(ctx, bounds, &on_edge, (which, edge), found);
        }
    }
}

/// Returns the approximate footpoint on an edge of a point `p` (the solid's frame), at which samples along
/// the edge start. It is not exact for splines, because a projection would search all their pieces.
fn place_near(body: &Body, edge: EdgeId, p: &P3) -> FeatureRef {
    let feature = Feature::Edge(edge);
    if !matches!(body.edge(edge).curve, Curve::Bezier(_)) {
        return place_on(body, feature, p);
    }
    let distance = |s: &EdgeSegment| (p - s.middle.p).norm_squared();
    let segments = body.areas_of(body.data(feature)).iter().zip(body.segments_of(edge));
    let nearest = segments.min_by(|x, y| distance(x.1).total_cmp(&distance(y.1)));
    let t = nearest.map_or(0.0, |(area, segment)| {
        let rect = &body.area(*area).rect;
        let step = |t: f64, d: &CurveDerivs| {
            let from = p - d.p;
            let second = d.d1.norm_squared() - d.d2.dot(&from);
            let forward = if second > 0.0 { d.d1.dot(&from) / second } else { 0.0 };
            (t + forward).clamp(rect.u0, rect.u1)
        };
        let t = step(0.5 * (rect.u0 + rect.u1), &segment.middle);
        step(t, &body.edge(edge).curve.derivs(t))
    });
    FeatureRef { kind: FeatureKind::Edge, index: edge.0, source: 0, uv: [t, 0.0] }
}

/// Start parameters of the searches for the points of one face that are nearest to the fixed points of
/// samples. The fixed points are on the feature of the other body.
struct Hint {
    /// Parameters of the contact's footpoint on the face that is searched.
    of_contact: P2,
    /// Parameters of the previous sample's footpoint on the face that is searched.
    last: Cell<P2>,
}

impl Hint {
    fn new(contact: &Accepted, which: Which) -> Self {
        let [u, v] = if which == Which::A { contact.place_a.uv } else { contact.place_b.uv };
        Self { of_contact: P2::new(u, v), last: Cell::new(P2::new(u, v)) }
    }

    /// Start parameters for the sample `number` on a walk outwards from the sample `middle`: those of the
    /// contact for the first samples, otherwise those of the previous sample.
    fn of(&self, number: i64, middle: i64) -> P2 {
        if (number - middle).abs() <= 1 { self.of_contact } else { self.last.get() }
    }

    fn set(&self, place: &FeatureRef) {
        self.last.set(P2::new(place.uv[0], place.uv[1]));
    }
}

/// Returns whether `out` contains a sample of a contact's features with a fixed point on the body `which`
/// within `spacing` (mm) of the point `p` (frame of A).
fn is_passed(out: &[Sample], contact: &Accepted, (which, p): (Which, &P3), spacing: f64) -> bool {
    let point = |s: &Sample| if which == Which::A { s.pair.p_a } else { s.pair.p_b };
    out.iter().any(|s| {
        s.key.0 == which
            && (s.pair.feature_a, s.pair.feature_b) == (contact.feature_a, contact.feature_b)
            && (point(s) - p).norm() <= spacing
    })
}

/// Returns whether a sample and a contact have the same features and the same footpoints.
fn is_at(ctx: &Context<'_>, c: &Accepted, s: &Sample) -> bool {
    (c.feature_a, c.feature_b) == (s.pair.feature_a, s.pair.feature_b)
        && (c.p_a - s.pair.p_a).norm() <= ctx.tol.same
        && (c.p_b - s.pair.p_b).norm() <= ctx.tol.same
}

/// Upper bound (mm) of the error of one gap that a step predicts as a linear function of the motion.
/// `own` and `other` are the curvatures (1/mm) of both features in one direction, positive where a solid
/// bulges. Infinite unless the sum of the curvatures is positive.
fn error(step: &Widening, own: f64, other: f64) -> f64 {
    let sum = own + other;
    if sum <= 0.0 {
        return f64::INFINITY;
    }
    let (turn, most) = (step.rotation, step.displacement);
    let at = |u: f64| (turn * turn + 2.0 * own * turn * u - own * other * u * u) / (2.0 * sum);
    let ends = at(most).max(at(-most));
    let top = turn / other;
    if top.abs() <= most { ends.max(at(top)) } else { ends }
}

/// Error (mm) of a predicted gap up to which no samples are added ([`Widening::allowed_error`]).
fn allowed(ctx: &Context<'_>, step: &Widening) -> f64 {
    step.allowed_error(ctx.a.size().min(ctx.b.size()))
}

/// Adds samples along an edge of the body `which` that is nearly parallel to the face of the other body in
/// a contact.
fn along_edge(
    ctx: &Context<'_>,
    &Bounds { step, ref search }: &Bounds<'_>,
    contact: &Accepted,
    (which, edge): (Which, EdgeId),
    found: &mut Found,
) {
    let (body, other) = (ctx.body(which), which.other());
    let (place, face) = match which {
        Which::A => (&contact.place_a, contact.feature_b),
        Which::B => (&contact.place_b, contact.feature_a),
    };
    let data = body.edge(edge);
    let at = place.uv[0];
    let d = data.curve.derivs(at);
    let speed = d.d1.norm();
    let Some(tangent) = data.curve.tangent_of(at, &d) else { return };
    let bend = (d.d2 - tangent * tangent.dot(&d.d2)) / (speed * speed);
    let tangent = if which == Which::A { tangent } else { ctx.pose_ab * tangent };
    let p = ctx.in_a(which, &d.p);
    let hint = Hint::new(contact, other);
    let Some(here) = Line::at(ctx, (other, face), hint.of_contact, &p, &tangent) else { return };
    let of_edge = outward_of(ctx, which, &here.towards_face(which)).dot(&-bend);
    let extent = ctx.extent(contact.feature_a, contact.feature_b);
    // Along a straight edge on a face that is straight in its direction, the gap is a linear function.
    let is_linear = [bend.norm(), here.curvature.abs()].iter().all(|k| *k <= MIN_CURVATURE / extent);
    if is_linear || error(step, of_edge, here.curvature) <= allowed(ctx, step) {
        return;
    }
    let slid = here.max_curvature_beside(ctx, (other, face), step.displacement);
    let at_end = (of_edge + slid).max(0.0) + bend.norm() * step.rotation;
    let spacing = (8.0 * step.gap_error / at_end.max(MIN_CURVATURE / extent)).sqrt();
    let whole: f64 = data.spans.iter().map(|s| s.t1 - s.t0).sum();
    let step_length = power_of_two((spacing / speed).min(MAX_SPACING * whole));
    if is_passed(&found.samples, contact, (which, &p), step_length * speed) {
        return;
    }
    let middle = whole_number(at / step_length);
    let period = data.curve.period();
    let most = period.map_or(MAX_ALONG_LINE, |p| MAX_ALONG_LINE.min(whole_number(0.5 * p / step_length)));
    let sample = |i: i64| {
        let t = i as f64 * step_length;
        let is_on = data.spans.iter().any(|span| {
            let t = period.map_or(t, |p| math::unwrap_near(t, 0.5 * (span.t0 + span.t1), p));
            // Only a closed curve with a period continues beyond its span.
            (data.closed && period.is_some()) || (span.t0 <= t && t <= span.t1)
        });
        if !is_on {
            return Err(Miss::Beside);
        }
        let p = data.curve.point(t);
        let facing = facing(ctx, other, (face, hint.of(i, middle)), &ctx.in_a(which, &p), search)?;
        hint.set(&facing.place);
        let quasi_angle = (search.rotation + bend.norm() * search.displacement).min(LARGEST_DILATION);
        let is_in_polar = |n: &V3| {
            let normals = edge_normals(body, edge, t)?;
            let across = (n - normals.tangent * normals.tangent.dot(n)).try_normalize(0.5)?;
            Some(normals.test(&across, ctx.tol.angle, quasi_angle) != Polar::Outside)
        };
        if is_in_polar(&outward_of(ctx, which, &facing.n)) != Some(true) {
            return Err(Miss::Beside);
        }
        let own = FeatureRef { kind: FeatureKind::Edge, index: edge.0, source: 0, uv: [t, 0.0] };
        Ok(facing.sample(contact, which, own, ([i, 0], [step_length, 1.0])))
    };
    let is_closed_form = ctx.primitive(other, face).is_some()
        && (!matches!(data.curve, Curve::Bezier(_)) || is_round(body, edge));
    let in_all = if is_closed_form { found.samples.len() + MAX_SAMPLES } else { MAX_FREE_SAMPLES };
    let is_of_line = |s: &&Sample| {
        s.key.0 == which
            && (s.pair.feature_a, s.pair.feature_b) == (contact.feature_a, contact.feature_b)
            && s.step[0].to_bits() == step_length.to_bits()
    };
    // Duplicates beyond its capacity are removed later.
    let mut known: ArrayVec<i64, MAX_KNOWN> =
        found.samples.iter().filter(is_of_line).map(|s| s.key.1[0]).take(MAX_KNOWN).collect();
    known.sort_unstable();
    let unknown = |i: i64| if known.binary_search(&i).is_ok() { Err(Miss::Known) } else { sample(i) };
    let is_limited = walk(middle, (most, in_all), is_closed_form, &unknown, &mut found.samples);
    found.is_limited |= is_limited;
}

/// Returns the whole number nearest to `x`.
#[expect(clippy::cast_possible_truncation, reason = "parameters are at most some thousand steps")]
fn whole_number(x: f64) -> i64 {
    x.round() as i64
}

/// Adds samples with the numbers outwards from `middle` while the step can close their gaps: at most
/// `most` in each direction, and until `out` contains `in_all` samples. `sample` computes a sample from
/// its number. A number with the result [`Miss::Beside`] is skipped if `skips` is true, and ends the walk
/// in this direction if not. Returns whether one of these numbers ends the walk while samples may follow.
fn walk(
    middle: i64,
    (most, in_all): (i64, usize),
    skips: bool,
    sample: &dyn Fn(i64) -> Result<Sample, Miss>,
    out: &mut Vec<Sample>,
) -> bool {
    let mut is_limited = false;
    for sign in [1, -1] {
        let first = if sign == 1 { 0 } else { 1 };
        for k in first..=most {
            if out.len() >= in_all {
                return true;
            }
            match sample(middle + sign * k) {
                Ok(s) => out.push(s),
                // The walk from another contact has continued from there.
                Err(Miss::Known) => break,
                // The nearest points are on both sides of the contact.
                Err(Miss::OutOfReach) if k > 0 => break,
                // The point is beyond a border of either face; there may be samples behind the gap.
                Err(Miss::Beside) if k > 0 && !skips => break,
                _ => {}
            }
            is_limited |= k == MAX_ALONG_LINE;
        }
    }
    is_limited
}

/// Adds to `out` samples at fixed parameters of one of the two faces of a contact, along those of its
/// parameters in whose direction the error of a predicted gap exceeds the accepted one. Returns whether
/// both faces are nearly straight along one of the parameters, so that samples along their borders are
/// needed, too.
fn on_faces(
    ctx: &Context<'_>,
    &Bounds { step, ref search }: &Bounds<'_>,
    contact: &Accepted,
    found: &mut Found,
) -> bool {
    let (Feature::Face(a), Feature::Face(b)) = (contact.feature_a, contact.feature_b) else { return false };
    // The points on the face with the larger curvature are fixed. A sphere is curved equally in all
    // directions, so the other face is preferred to it, whose parameter lines are the principal
    // directions.
    let bend = |which, f: FaceId, place: &FeatureRef| {
        let [k1, k2] = ctx.body(which).face(f).surface.curvatures(P2::new(place.uv[0], place.uv[1]));
        let bend = k1.abs().max(k2.abs());
        ((k1 - k2).abs() > SPHERICAL * bend, bend)
    };
    let is_a = bend(Which::A, a, &contact.place_a) >= bend(Which::B, b, &contact.place_b);
    let (which, face, place) =
        if is_a { (Which::A, a, &contact.place_a) } else { (Which::B, b, &contact.place_b) };
    let (other, other_face, of_place) =
        if is_a { (Which::B, b, &contact.place_b) } else { (Which::A, a, &contact.place_a) };
    let of_other = Feature::Face(other_face);
    let body = ctx.body(which);
    let data = body.face(face);
    let uv = P2::new(place.uv[0], place.uv[1]);
    let derivs = data.surface.derivs(uv);
    let extent = ctx.extent(contact.feature_a, contact.feature_b);
    let [mut is_sampled, mut is_straight, mut is_ruling] = [[false; 2]; 3];
    let mut apart = [0.0; 2];
    for (i, along) in [derivs.du, derivs.dv].into_iter().enumerate() {
        let along = along.normalize();
        let direction = if which == Which::A { along } else { ctx.pose_ab * along };
        let curvature = |which, face, place: &FeatureRef| {
            curvature_along(ctx, (which, face), P2::new(place.uv[0], place.uv[1]), &direction)
        };
        let (Some(own), Some(of_other)) =
            (curvature(which, face, place), curvature(other, other_face, of_place))
        else {
            return false;
        };
        let bend = own.abs() + of_other.abs();
        // Between borders with samples, the gap of ruled faces is then linear up to half of the accepted
        // error. The curvature of others can change, as on a torus, and their lines can be circles.
        is_straight[i] = bend <= MIN_CURVATURE / extent
            || bend <= 4.0 * step.gap_error / (extent * extent)
                && [(body, face), (ctx.body(other), other_face)]
                    .iter()
                    .all(|(body, face)| is_ruled(body, *face) && has_sampled_borders(body, *face));
        is_ruling[i] = is_straight[i] || bend <= MAX_RULING_TURN / extent;
        is_sampled[i] = !is_straight[i] && error(step, own, of_other) > allowed(ctx, step);
        apart[i] = (4.0 * step.gap_error / (own + of_other).max(MIN_CURVATURE / extent)).sqrt();
    }
    let rect = &data.trim.rect;
    // The speed of u depends on v.
    let spacing_of = |apart: f64, speed: f64, range: f64| {
        let step = power_of_two((apart / speed).min(MAX_SPACING * range));
        Some(step).filter(|step| step.is_finite() && *step > 0.0)
    };
    let has_borders = is_ruling != [false; 2];
    if is_sampled == [false; 2] {
        return has_borders;
    }
    let p = ctx.in_a(which, &derivs.p);
    if is_passed(&found.samples, contact, (which, &p), apart[0].min(apart[1])) {
        return has_borders;
    }
    let Some(spacing_v) = spacing_of(apart[1], derivs.dv.norm(), rect.v1 - rect.v0) else {
        return has_borders;
    };
    let spacing_u = |v: f64| {
        let speed = data.surface.derivs(P2::new(uv.x, v)).du.norm();
        spacing_of(apart[0], speed, rect.u1 - rect.u0)
    };
    let deviation = body.data(Feature::Face(face)).deviation;
    let hint = Hint::new(contact, other);
    let sample = |i: i64, (j, middle_u): (i64, i64), spacing_u: f64| {
        let uv = P2::new(i as f64 * spacing_u, j as f64 * spacing_v);
        if !on_face(data, uv, deviation, &ctx.tol) {
            return Err(Miss::Beside);
        }
        let p = data.surface.point(uv);
        let near = hint.of(i, middle_u);
        let facing = facing(ctx, other, (of_other, near), &ctx.in_a(which, &p), search)?;
        hint.set(&facing.place);
        // Normals are opposite up to the rotation of the step and the curvature between samples.
        let outward = outward_normal(data, uv);
        if outward.dot(&outward_of(ctx, which, &facing.n)) < math::cos(LARGEST_DILATION) {
            return Err(Miss::Beside);
        }
        let own = FeatureRef { kind: FeatureKind::Face, index: face.0, source: 0, uv: [uv.x, uv.y] };
        Ok(facing.sample(contact, which, own, ([i, j], [spacing_u, spacing_v])))
    };
    let middle_v = whole_number(uv.y / spacing_v);
    let [along_u, along_v] = is_sampled.map(|is| if is { MAX_ALONG_LINE } else { 0 });
    let is_closed_form =
        ctx.primitive(other, of_other).is_some() && ctx.primitive(which, Feature::Face(face)).is_some();
    let in_all = if is_closed_form { found.samples.len() + MAX_SAMPLES } else { MAX_FREE_SAMPLES };
    for sign in [1, -1] {
        for k in i64::from(sign == -1)..=along_v {
            found.row.clear();
            let j = middle_v + sign * k;
            let Some(spacing_u) = spacing_u(j as f64 * spacing_v) else { break };
            let middle_u = whole_number(uv.x / spacing_u);
            // At most one turn.
            let around =
                data.trim.u_period.map_or(along_u, |p| along_u.min(whole_number(0.5 * p / spacing_u)));
            let is_limited = walk(
                middle_u,
                (around, MAX_SAMPLES),
                is_closed_form,
                &|i| sample(i, (j, middle_u), spacing_u),
                &mut found.row,
            );
            let remaining = in_all.saturating_sub(found.samples.len());
            found.samples.extend(found.row.iter().take(remaining));
            found.is_limited |= is_limited || found.row.len() > remaining;
            if (found.row.is_empty() && k > 0) || remaining == 0 {
                break;
            }
            found.is_limited |= k == MAX_ALONG_LINE;
        }
    }
    has_borders
}

/// Reason why a sample is not added.
enum Miss {
    /// The walk from another contact has added it.
    Known,
    /// The step cannot close the gap between the point and the face.
    OutOfReach,
    /// The point has no suitable footpoint on the face: it is beyond a border, its normal is outside a
    /// polar, or the point is too deep behind the face.
    Beside,
}

/// A point of one body and the nearest point on a face of the other body.
#[derive(Clone, Copy, Debug)]
struct FacePoint {
    /// The two points, that on A first (mm, frame of A).
    points: [P3; 2],
    /// Unit normal of the face at its point, directed from A to B (frame of A).
    n: V3,
    /// Signed distance (mm) from A's point to B's along `n`.
    distance: f64,
    /// The face, with the parameters of the point on it.
    place: FeatureRef,
    /// Whether the point on the face lies outside the trims of the face, on its extension.
    is_extended: bool,
}

impl FacePoint {
    fn sample(
        &self,
        contact: &Accepted,
        which: Which,
        own: FeatureRef,
        (key, step): ([i64; 2], [f64; 2]),
    ) -> Sample {
        let (place_a, place_b) = match which {
            Which::A => (own, self.place),
            Which::B => (self.place, own),
        };
        let pair = Accepted {
            p_a: self.points[0],
            p_b: self.points[1],
            n: self.n,
            distance: self.distance,
            kind: ContactKind::Quasi,
            place_a,
            place_b,
            is_extended: self.is_extended,
            undecided: false,
            ..*contact
        };
        Sample { pair, key: (which, key), step }
    }
}

/// Returns the point of a face of the body `which`, extended by the displacement of the step, that is
/// nearest to the point `p` of the other body (frame of A). `near` are the face's parameters from which
/// Newton's method starts on a spline. The error says why the point has no sample.
fn facing(
    ctx: &Context<'_>,
    which: Which,
    (feature, near): (Feature, P2),
    p: &P3,
    step: &Widening,
) -> Result<FacePoint, Miss> {
    let Feature::Face(face) = feature else { return Err(Miss::Beside) };
    let FaceFoot { p: foot, outward, distance, uv: hint } =
        foot_on_face(ctx, which, face, near, p).ok_or(Miss::Beside)?;
    // Reject points of another turn of the face, and points beyond the border by more than the step.
    if hint.is_some() && (p - foot - outward * distance).norm() > step.displacement {
        return Err(Miss::Beside);
    }
    // Reject deeper points: they lie on another side of the solid, or on another turn of a thread.
    if distance < ctx.least {
        return Err(Miss::Beside);
    }
    // Trims and normals are tested last: they take longer and do not change the distance. There may be nearer
    // points behind one that is beside the face.
    if distance > step.max_distance {
        let bounds = ctx.body(which).data(feature).bounds.inflated(step.displacement);
        return Err(if bounds.contains(&ctx.in_own(which, &foot)) { Miss::OutOfReach } else { Miss::Beside });
    }
    let (points, n) = match which {
        Which::A => ([foot, *p], outward),
        Which::B => ([*p, foot], -outward),
    };
    let basis = complete_basis(&n);
    let beside = ctx.beside(distance).max(step.displacement);
    let foot = Foot { p: &foot, n: outward, basis, hint, in_domain: None, beside, beyond: 0.0 };
    let located = side(ctx, which, feature, &foot, &ctx.tol).ok_or(Miss::Beside)?.located;
    Ok(FacePoint { points, n, distance, place: located.place, is_extended: located.is_beside })
}

/// Converts the direction `n` from A to B (frame of A) to the outward direction of the body `which` in its
/// own frame.
fn outward_of(ctx: &Context<'_>, which: Which, n: &V3) -> V3 {
    match which {
        Which::A => *n,
        Which::B => ctx.pose_ba * -n,
    }
}

/// Normal curvature (1/mm) of a face of the body `which` at the parameters `uv` along a unit direction (frame
/// of A), positive where the solid bulges; `None` if it is not finite.
fn curvature_along(ctx: &Context<'_>, (which, face): (Which, FaceId), uv: P2, direction: &V3) -> Option<f64> {
    let data = ctx.body(which).face(face);
    let principal = data.surface.principal(uv);
    let own = if which == Which::A { *direction } else { ctx.pose_ba * direction };
    let sign = if data.outward { 1.0 } else { -1.0 };
    let along = |k: f64, e: &V3| k * e.dot(&own) * e.dot(&own);
    let curvature = sign * (along(principal.k1, &principal.dir1) + along(principal.k2, &principal.dir2));
    curvature.is_finite().then_some(curvature)
}

/// Line on a face that is opposite to a point of an edge of the other body and parallel to the edge there.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Point of the face nearest to the point of the edge (frame of A).
    foot: P3,
    /// Parameters of the foot.
    uv: P2,
    /// Outward unit normal of the face at the foot (frame of A).
    outward: V3,
    /// Unit tangent of the edge (frame of A).
    tangent: V3,
    /// Normal curvature (1/mm) of the face along the tangent, positive where the solid bulges.
    curvature: f64,
}

impl Line {
    /// Line on a face of the body `which` opposite to the point `p` with the unit tangent `tangent` (both in
    /// the frame of A). `near` are the parameters from which Newton's method starts on a spline. `None` if
    /// the nearest point is not unique or the curvature not finite.
    fn at(
        ctx: &Context<'_>,
        (which, feature): (Which, Feature),
        near: P2,
        p: &P3,
        tangent: &V3,
    ) -> Option<Self> {
        let Feature::Face(face) = feature else { return None };
        let foot = foot_on_face(ctx, which, face, near, p)?;
        let surface = &ctx.body(which).face(face).surface;
        let uv = foot.uv.unwrap_or_else(|| surface.invert(&ctx.in_own(which, &foot.p), None, None));
        let curvature = curvature_along(ctx, (which, face), uv, tangent)?;
        Some(Self { foot: foot.p, uv, outward: foot.outward, tangent: *tangent, curvature })
    }

    /// Direction from A to B (frame of A) of a contact of the edge, which is on the body `edge`, at the foot.
    fn towards_face(&self, edge: Which) -> V3 {
        if edge == Which::A { -self.outward } else { self.outward }
    }

    /// Largest curvature (1/mm) along the tangent at the foot and at points beside it to which a
    /// displacement across the edge can move the foot.
    fn max_curvature_beside(&self, ctx: &Context<'_>, face: (Which, Feature), displacement: f64) -> f64 {
        let across = self.tangent.cross(&self.outward) * displacement;
        let curvature = |p: P3| Self::at(ctx, face, self.uv, &p, &self.tangent).map(|line| line.curvature);
        let beside = [self.foot - across, self.foot + across].into_iter().filter_map(curvature);
        beside.fold(self.curvature, f64::max)
    }
}
