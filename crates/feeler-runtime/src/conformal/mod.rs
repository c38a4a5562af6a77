//! Samples of conformal sets: connected sets of non-strict minima between canonical features.
//!
//! The closed forms report a continuous family of critical pairs of the untrimmed features. Its members
//! are pairs of footpoints; this module keeps those with both footpoints inside the trims. A set ends
//! where the trim of one solid crosses the family. Its corners are found by marching along the trims
//! (families of dimension two) or along the family's own line or circle (dimension one). Steps are bounded
//! by the distance to the nearest trim, and crossings of trims are bisected.
//!
//! # Source
//! BREP §4.3.2, MATH §9, §2 (pairs of lower features inside a set are its samples).
//!
//! Two features may form a family only approximately, within the tolerances. A member is then a point of
//! one solid and the nearest point of the other: both footpoints are on their solids, and the distance of
//! the member is that between them. Round trims and circles are sampled at fixed parameters and straight
//! ones at their ends, so that samples are stable under small changes of the pose.
//!
//! # Guarantees
//! A set that is wider than [`march::MIN_STEP`] times the smaller feature's extent gets at least one
//! sample. All members of a set are at the same distance within the tolerance, so the smallest distance is
//! not lost. Reported corners are within the tolerance of the corners of the set. The samples are
//! deterministic.
//!
//! # Deviations
//! One-dimensional families of any canonical pair are sampled, which the reference leaves open.
//! Semidefinite pairs of free-form features are reported with the one sample that the solver found.

mod image;
mod known;
mod march;
mod outermost;
mod outline;

pub(crate) use known::{Continuing, KnownSets, MAX_SET_MOTION};

use crate::api::contact::ContactKind;
use crate::api::options::QueryOptions;
use crate::api::tolerance::{Tolerances, power_of_two};
use crate::body::Body;
use crate::body::side::Which;
use crate::conformal::known::Validity;
use crate::conformal::outermost::Outermost;
use crate::footpoint::side::{Foot, Side, lies_on, on_surface, side};
use crate::footpoint::trim::InDomain;
use crate::query::{Accepted, Context, FamilyPair};
use crate::solve::Solved;
use arrayvec::ArrayVec;
use feeler_geom::contact::{SecondOrder, second_order};
use feeler_geom::frame::complete_basis;
use feeler_geom::skeleton::{Critical, Family, Primitive, family_foot, signed_distance};
use feeler_geom::trim::Side as TrimSide;
use feeler_geom::{Aabb, Curve, Obb, P2, P3, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};

/// Scratch buffers reused between queries.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Features of A and B of the sets found in this query.
    sets: Vec<(Feature, Feature)>,
    /// Features of A and B of the sets that are not sampled because no member is nearer than a minimum.
    beyond: Vec<(Feature, Feature)>,
    seeds: Seeds,
    /// Samples of one set.
    samples: Vec<Sample>,
    solved: Vec<Accepted>,
    /// Distance (mm) of each sample of a set from the nearest sample that is kept.
    gap: Vec<f64>,
    march: march::Scratch,
    /// Sets of the last query of a simulator's step.
    pub known: KnownSets,
    /// Largest distance (mm) of a dropped corner from the nearest sample of its set, for
    /// [`ContactPair::conformal_loss`](crate::ContactPair::conformal_loss).
    pub loss: f64,
    /// Whether corners of a flat set that a step can close are missing because of the limit on their number.
    pub is_limited: bool,
}

/// Maximum distance of a footpoint outside the trims of its face, in units of
/// [`Tolerances::trim`](crate::Tolerances::trim), at which it may count as on the face. With a larger
/// value, more families are walked along; with a smaller one, ends of sets on borders of faces are lost.
const MAX_BESIDE_TRIM: f64 = 4.0;
/// Maximum number of samples of a set without [`QueryOptions::conformal_spacing`]. A larger number makes
/// queries slower; a smaller one leaves large sets with few samples.
const MAX_SAMPLES: usize = 32;
/// Maximum number of samples of a set with [`QueryOptions::conformal_spacing`]. A larger number may
/// exhaust memory; a smaller one ignores the spacing sooner.
const MAX_DENSE_SAMPLES: usize = 4096;
/// Rotation (rad) of the normals of both features relative to each other, over the extent of a family,
/// below which the members of the family do not count as maxima. With a larger value, maxima are sampled;
/// with a smaller one, families near contact are lost.
const MAX_FAMILY_TURN: f64 = 1e-4;
/// Maximum difference (in tolerances) between a member's distance and the smallest one of its set. Members
/// with a larger distance lie on the opposite side of a pin. With a larger value, the far side of a pin
/// with hardly any play is sampled; with a smaller one, members of a slightly tilted set are lost.
const MAX_DISTANCE_SPREAD: f64 = 2.0;
/// Maximum angle (rad) between the direction of a minimum of features of lower dimension and the normals
/// of a set that contains it. With a larger value, isolated minima near a set vanish; with a smaller one,
/// contacts are reported twice.
const COVER_ANGLE: f64 = 1e-5;
/// Maximum distance, in tolerances, of a minimum of features of lower dimension from a set that contains it.
/// With a larger value, isolated minima near a set vanish; with a smaller one, contacts are reported twice.
const COVER_LENGTH: f64 = 10.0;

/// Largest change of the gap of a dropped corner of a flat set by the rotation of a step, relative to that of
/// the kept ones, as a fraction of the accepted error of gaps. A larger value allows deeper contacts; a
/// smaller one gives more contacts of round and many-sided areas.
const MAX_LOSS: f64 = 0.5;

/// Largest difference (mm) between the distances of a minimum and of a set that replaces it.
pub(crate) fn largest_change(tol: &Tolerances) -> f64 {
    2.0 * COVER_LENGTH * tol.tol
}

/// Which conformal sets a query samples.
pub(crate) enum Sampling {
    /// All sets.
    All,
    /// Sets that may have a member nearer than all accepted minima.
    Nearest,
    /// All sets; those of the last query of a step continue within a motion.
    Continuing(Continuing),
}

/// Adds samples of families in `solved`, selected by `sampling`, to `accepted`, and removes minima of
/// features of lower dimension (edges and vertices of the faces) that are members of the sampled sets.
pub(crate) fn sample(
    ctx: &Context<'_>,
    solved: &Solved,
    options: &QueryOptions,
    sampling: &Sampling,
    scratch: &mut Scratch,
    accepted: &mut Vec<Accepted>,
) {
    (scratch.loss, scratch.is_limited) = (0.0, false);
    let continuing = match sampling {
        Sampling::Continuing(continuing) => Some(continuing),
        Sampling::All | Sampling::Nearest => None,
    };
    thin_out_solved(ctx, options, scratch, accepted);
    scratch.sets.clear();
    scratch.beyond.clear();
    if continuing.is_some() {
        scratch.known.start(ctx);
    }
    // Sets of dimension two are sampled first, because families on their borders belong to them.
    let of_dimension = |dimension: Family| {
        solved.families.iter().filter(move |f| (f.family == Family::One) == (dimension == Family::One))
    };
    for family in of_dimension(Family::Two).chain(of_dimension(Family::One)) {
        let Some(set) = FamilySet::new(ctx, family) else { continue };
        // A family of dimension one takes no longer to search than to exclude.
        let is_wide = family.family == Family::Two;
        if matches!(sampling, Sampling::Nearest) && is_wide && set.is_beyond_nearest(accepted) {
            scratch.beyond.push((family.feature_a, family.feature_b));
            continue;
        }
        scratch.samples.clear();
        if family.family == Family::One {
            scratch.seeds.collect(ctx, family, options.conformal_spacing);
            let Scratch { sets, beyond, seeds, .. } = &*scratch;
            if is_on_border(&set, sets, seeds) || is_on_border(&set, beyond, seeds) {
                continue;
            }
        }
        let Scratch { known, samples, .. } = &mut *scratch;
        let continued = continuing.and_then(|c| known.continued(&set, family, c, samples));
        // The bound of a simulator's step varies, and only smaller losses are searched anew.
        let corner_loss = power_of_two(max_corner_loss(ctx));
        if continued.is_none() {
            search(&set, family, options, corner_loss, scratch);
        }
        if let Some(continuing) = continuing {
            let validity = continued.unwrap_or(Validity { remaining: continuing.limit, corner_loss });
            scratch.known.store(ctx, family, &scratch.samples, validity);
        }
        let lowest = scratch.samples.iter().fold(f64::INFINITY, |d, s| d.min(s.pair.distance));
        scratch.samples.retain(|s| s.pair.distance <= lowest + MAX_DISTANCE_SPREAD * ctx.tol.tol);
        if !scratch.samples.is_empty() {
            scratch.sets.push((family.feature_a, family.feature_b));
            let Scratch { samples, gap, loss, is_limited, .. } = scratch;
            accepted.retain(|x| !is_member(ctx, samples, x));
            let dropped = thin_out(ctx, samples, gap, options, accepted);
            *loss = loss.max(dropped.loss);
            *is_limited |= dropped.is_limited;
        }
    }
    if continuing.is_some() {
        scratch.known.finish();
    }
    let sets = &scratch.sets;
    accepted.retain(|x| !sets.iter().any(|set| covers(ctx, *set, x)));
}

/// Searches for the members of a family and stores them in `scratch.samples`, which is empty. The seeds of a
/// family of dimension one are those in `scratch.seeds`. `corner_loss` (mm) is the largest distance of a
/// corner from the polygon of the load-bearing samples of a flat set.
fn search(
    set: &FamilySet<'_>,
    family: &FamilyPair,
    options: &QueryOptions,
    corner_loss: f64,
    scratch: &mut Scratch,
) {
    let Scratch { seeds, march: of_march, samples, .. } = scratch;
    let ctx = set.ctx;
    match family.family {
        Family::One => march::along_family(set, seeds, options, of_march, samples),
        Family::Two => {
            march::along_trims(set, options, corner_loss, of_march, samples);
            // The outline of a set carries its loads, unless one solid ends at a pressed border.
            let is_outlined =
                options.load_bearing && !samples.is_empty() && !samples.iter().any(|s| is_pressed(ctx, s));
            if !is_outlined {
                seeds.collect(ctx, family, options.conformal_spacing);
                march::at_seeds(set, seeds, samples);
            }
        }
    }
}

/// Whether all members of the family `set` of dimension one are members of one of the sets `sets` between
/// faces that have the edges of the family on their borders. One member decides, because both faces are
/// invariant under the motion that leaves the family invariant.
fn is_on_border(set: &FamilySet<'_>, sets: &[(Feature, Feature)], seeds: &Seeds) -> bool {
    let ctx = set.ctx;
    let bounds = |body: &Body, feature: Feature, face: Feature| match feature {
        Feature::Edge(e) => body.edge(e).sides.iter().any(|side| Feature::Face(side.face) == face),
        _ => feature == face,
    };
    let around = |&&(fa, fb): &&(Feature, Feature)| {
        bounds(ctx.a, set.feature_a, fa) && bounds(ctx.b, set.feature_b, fb)
    };
    sets.iter().filter(around).any(|&(fa, fb)| {
        let Some(pair) = seeds.points(ctx).find_map(|(_, p)| set.pair(&p)) else { return false };
        let tolerances = (COVER_ANGLE, COVER_LENGTH * ctx.tol.tol);
        let is_on_face = |which, feature: Feature, p: &P3, n: &V3| match feature {
            Feature::Face(f) => on_surface(ctx, (which, f), (p, n), tolerances).is_some(),
            _ => false,
        };
        is_on_face(Which::A, fa, &pair.p_a, &pair.n) && is_on_face(Which::B, fb, &pair.p_b, &-pair.n)
    })
}

/// Whether the distance of a sample is more negative than the tolerances allow for solids that do not
/// interfere.
fn is_pressed(ctx: &Context<'_>, sample: &Sample) -> bool {
    sample.pair.distance < ctx.tol.min_distance()
}

/// Thins out the samples of free-form features in conformal contact, of which there is one for every pair
/// of leaves, to the number of samples of other sets.
fn thin_out_solved(
    ctx: &Context<'_>,
    options: &QueryOptions,
    scratch: &mut Scratch,
    accepted: &mut Vec<Accepted>,
) {
    each_set(scratch, accepted, |samples, gap, accepted| _ = thin_out(ctx, samples, gap, options, accepted));
}

/// Keeps the load-bearing samples of each set in `accepted`. It is for pressed sets, all of whose samples
/// were reported because it was not known which of them are contacts.
pub(crate) fn keep_load_bearing(ctx: &Context<'_>, scratch: &mut Scratch, accepted: &mut Vec<Accepted>) {
    let mut is_limited = false;
    each_set(scratch, accepted, |samples, _, accepted| is_limited |= keep_outermost(ctx, samples, accepted));
    scratch.is_limited |= is_limited;
}

/// Removes the samples of each set from `accepted`. Then calls `put_back` for each set with its samples, a
/// scratch buffer and `accepted`.
fn each_set(
    scratch: &mut Scratch,
    accepted: &mut Vec<Accepted>,
    mut put_back: impl FnMut(&mut Vec<Sample>, &mut Vec<f64>, &mut Vec<Accepted>),
) {
    let Scratch { solved, samples, gap, .. } = scratch;
    solved.clear();
    accepted.retain(|x| {
        let conformal = x.kind == ContactKind::Conformal;
        if conformal {
            solved.push(*x);
        }
        !conformal
    });
    solved.sort_unstable_by_key(|x| (x.feature_a, x.feature_b));
    for group in solved.chunk_by(|x, y| (x.feature_a, x.feature_b) == (y.feature_a, y.feature_b)) {
        samples.clear();
        samples.extend(group.iter().map(|pair| Sample {
            pair: *pair,
            own: Which::A,
            corner: false,
            found: 0,
        }));
        put_back(samples, gap, accepted);
    }
}

/// A family of critical pairs of two features, with the data for tests of its members.
pub(crate) struct FamilySet<'a> {
    pub ctx: &'a Context<'a>,
    pub feature_a: Feature,
    pub feature_b: Feature,
    /// Primitive of `feature_a`, in the frame of A.
    a: Primitive,
    /// Primitive of `feature_b`, in the frame of A.
    b: Primitive,
    /// Smaller one of the extents (box diagonals, mm) of the family's two features.
    pub extent: f64,
}

/// A point of a trim of a face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnTrim {
    /// Parameters (u, v) of the point on the face.
    pub uv: P2,
    /// Deviation (mm) of the trim from its edge.
    pub deviation: f64,
}

/// Location of a footpoint on its face, computed by the caller.
#[derive(Clone, Copy, Debug)]
struct KnownPlace {
    /// Parameters (u, v) of the footpoint on its face; `None` if they are not known.
    uv: Option<P2>,
    /// Location of the footpoint in the trimmed domain of the face.
    in_domain: InDomain,
}

/// A member of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Footpoints, direction and distance of the member, in the frame of A.
    pub pair: Critical,
    /// Tests of the footpoints on A and B; `None` if the member does not lie on both solids or is a
    /// maximum.
    pub sides: Option<(Side, Side)>,
}

impl<'a> FamilySet<'a> {
    fn new(ctx: &'a Context<'a>, family: &FamilyPair) -> Option<Self> {
        let (fa, fb) = (family.feature_a, family.feature_b);
        Some(Self {
            ctx,
            feature_a: fa,
            feature_b: fb,
            a: ctx.primitive(Which::A, fa)?,
            b: ctx.primitive(Which::B, fb)?,
            extent: ctx.extent(fa, fb),
        })
    }

    /// Whether no member is nearer than the nearest minimum in `accepted`, and that minimum is not one that
    /// the set would replace by members at another distance.
    ///
    /// The distances of a family are those of two planes, whose extremes over a box are at its corners, or
    /// constant up to twice the tolerance.
    fn is_beyond_nearest(&self, accepted: &[Accepted]) -> bool {
        let ctx = self.ctx;
        let strict = accepted.iter().filter(|x| x.kind != ContactKind::Quasi);
        let Some(nearest) = strict.map(|x| x.distance).reduce(f64::min) else { return false };
        // The verdict of solids in contact needs all contacts.
        if nearest <= ctx.tol.tol {
            return false;
        }
        let bounds = |which: Which, feature: Feature| ctx.body(which).data(feature).bounds;
        let (of_a, of_b) = (bounds(Which::A, self.feature_a), bounds(Which::B, self.feature_b));
        let (own, bounds) = if (of_a.max - of_a.min).norm() < (of_b.max - of_b.min).norm() {
            (Which::A, of_a)
        } else {
            (Which::B, of_b)
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let corners = Obb::from_aabb(&bounds).corners().map(|corner| ctx.in_a(own, &corner));
        for point in &corners {
            let Some(pair) = self.pair(point) else { return false };
            low = low.min(pair.distance);
            high = high.max(pair.distance);
        }
        let is_plane = |p: &Primitive| matches!(p, Primitive::Plane { .. });
        let is_exact = high - low <= ctx.tol.eps || is_plane(&self.a) && is_plane(&self.b);
        let has_this_distance = is_exact && (nearest - low).abs() <= ctx.tol.eps;
        has_this_distance || nearest < low - largest_change(&ctx.tol)
    }

    /// Whether both features are cylinders, cones or straight edges. The members of a family of dimension
    /// one then lie along parallel lines.
    pub(crate) fn is_of_lines(&self) -> bool {
        let is_line = |p: &Primitive| matches!(p, Primitive::Line { .. });
        is_line(&self.a) && is_line(&self.b)
    }

    /// Points near both branches of a family of two cylinders, cones or straight edges, three along each
    /// branch (frame of A). The branches are the lines of A's feature in the plane of both axes. Empty for
    /// other families, and for coincident axes.
    pub(crate) fn points_on_branches(&self) -> ArrayVec<P3, 6> {
        let mut points = ArrayVec::new();
        let (
            &Primitive::Line { origin: a, dir: along_a, sigma, slope },
            &Primitive::Line { origin: b, dir: along_b, .. },
        ) = (&self.a, &self.b)
        else {
            return points;
        };
        let (low, high) = self.range_along(&a, &along_a);
        for s in [low, 0.5 * (low + high), high] {
            let on_a = a + along_a * s;
            let on_b = b + along_b * (on_a - b).dot(&along_b);
            let between = on_b - on_a;
            let across = between - along_a * between.dot(&along_a);
            if let Some(across) = across.try_normalize(self.ctx.tol.tol) {
                let radius = (sigma + slope * s).abs();
                points.extend([on_a + across * radius, on_a - across * radius]);
            }
        }
        points
    }

    /// Whether there may be a member on both solids with a footpoint within `radius` (mm) of the point `p`
    /// (frame of A). `false` if the point is too far from the box of either feature.
    pub(crate) fn may_face(&self, p: &P3, radius: f64) -> bool {
        let ctx = self.ctx;
        let reach = radius + ctx.reach() + ctx.tol.same + ctx.a.deviation() + ctx.b.deviation();
        let near = |bounds: &Aabb, p: &P3| bounds.inflated(reach).contains(p);
        near(&ctx.a.data(self.feature_a).bounds, p)
            && near(&ctx.b.data(self.feature_b).bounds, &(ctx.pose_ba * p))
    }

    /// Returns the member nearest to the point `guess` on or near A (frame of A); `None` if the family has
    /// no member near it.
    pub(crate) fn member(&self, guess: &P3) -> Option<Member> {
        self.checked(self.pair(guess)?)
    }

    /// Returns the member of a family of dimension two whose footpoint on the body `own` is `p` (frame of
    /// A); `None` on the focal set of the other feature.
    pub(crate) fn member_at(&self, own: Which, p: &P3) -> Option<Member> {
        self.checked(self.facing(own, p)?)
    }

    /// Whether at least one of the family's features is an edge.
    pub(crate) fn has_edge(&self) -> bool {
        [self.feature_a, self.feature_b].iter().any(|f| matches!(f, Feature::Edge(_)))
    }

    /// Returns the body on whose feature the members of a family of dimension one are placed; their
    /// footpoints on the other body are the nearest points there. An edge takes precedence over a face,
    /// and any other feature over a plane.
    pub(crate) fn leading_side(&self) -> Which {
        match (&self.a, &self.b) {
            (Primitive::Plane { .. }, _) => Which::B,
            (_, Primitive::Plane { .. }) => Which::A,
            (a, b) if is_thin(b) && !is_thin(a) => Which::B,
            _ => Which::A,
        }
    }

    /// Returns the member of a family of dimension one whose footpoint on the body `own` is the point of
    /// that body's feature nearest to `p` (frame of A). `None` on the focal set of either feature.
    pub(crate) fn member_beside(&self, own: Which, p: &P3) -> Option<Member> {
        let primitive = if own == Which::A { &self.a } else { &self.b };
        // The path runs along an edge exactly, and the distance from an edge has no gradient on the edge.
        let foot = if is_thin(primitive) { *p } else { signed_distance(primitive, p)?.foot };
        self.checked(self.facing(own, &foot)?)
    }

    /// Whether the direction of the member at the point `p` of the body `own` is outside the polar of a
    /// straight edge between planes, cylinders and cones. The directions of all members along the edge are
    /// then outside its polar.
    pub(crate) fn faces_away(&self, own: Which, p: &P3) -> bool {
        let Some(pair) = self.facing(own, p) else { return false };
        let ctx = self.ctx;
        let sides = [(Which::A, self.feature_a, pair.n), (Which::B, self.feature_b, -pair.n)];
        sides.into_iter().any(|(which, feature, n)| {
            let Feature::Edge(e) = feature else { return false };
            let body = ctx.body(which);
            let edge = body.edge(e);
            let is_ruled = |f: FaceId| {
                let surface = &body.face(f).surface;
                matches!(surface, Surface::Plane { .. } | Surface::Cylinder { .. } | Surface::Cone { .. })
            };
            let is_straight = matches!(edge.curve, Curve::Line { .. });
            let Some(span) = edge.spans.first().filter(|_| is_straight) else { return false };
            let middle = ctx.in_a(which, &edge.curve.point(0.5 * (span.t0 + span.t1)));
            edge.sides.iter().all(|side| is_ruled(side.face))
                && self.side(which, feature, &middle, n).is_none()
        })
    }

    /// Whether all members along a straight path of the body `own` have a footpoint outside the trims of
    /// its face. `ends` are the ends of the path (frame of A). The result is `true` only if no trim of the
    /// face is near the path.
    pub(crate) fn stays_outside(&self, own: Which, ends: [P3; 2]) -> bool {
        let pair = |p: &P3| self.facing(own, p);
        let [Some(first), Some(last)] = ends.each_ref().map(pair) else { return false };
        let ctx = self.ctx;
        [
            (Which::A, self.feature_a, [first.p_a, last.p_a]),
            (Which::B, self.feature_b, [ctx.pose_ba * first.p_b, ctx.pose_ba * last.p_b]),
        ]
        .into_iter()
        .any(|(which, feature, ends)| {
            let Feature::Face(f) = feature else { return false };
            let face = ctx.body(which).face(f);
            // Straight paths are straight in the parameters of planes and of cylinders, along rulings.
            let radius = match face.surface {
                Surface::Plane { .. } => 1.0,
                Surface::Cylinder { radius, .. } => radius,
                _ => return false,
            };
            let [p, q] = ends.map(|p| face.surface.invert(&p, None, None));
            let slack = ctx.body(which).data(feature).deviation + MAX_BESIDE_TRIM * ctx.tol.trim;
            // On a cylinder, straight paths run along rulings.
            if radius * (p.x - q.x).abs() > slack && !matches!(face.surface, Surface::Plane { .. }) {
                return false;
            }
            let rect = Rect {
                u0: p.x.min(q.x) - slack / radius,
                u1: p.x.max(q.x) + slack / radius,
                v0: p.y.min(q.y) - slack,
                v1: p.y.max(q.y) + slack,
            };
            !face.trim.has_boundary_in(&rect) && face.trim.classify(p) == TrimSide::Outside
        })
    }

    /// Returns the member whose footpoint on the body `own` is the point `p` (frame of A) of the trim
    /// `trim`. `on_other` is the location of the other footpoint in the domain of the other face, if it
    /// is known. `None` on the focal set of the other feature.
    pub(crate) fn member_on_trim(
        &self,
        own: Which,
        p: &P3,
        trim: OnTrim,
        on_other: Option<InDomain>,
    ) -> Option<Member> {
        let pair = self.facing(own, p)?;
        let mut known = [on_other.map(|in_domain| KnownPlace { uv: None, in_domain }); 2];
        let in_domain = InDomain { slack: trim.deviation, border: true };
        known[own as usize] = Some(KnownPlace { uv: Some(trim.uv), in_domain });
        Some(Member { pair, sides: self.sides(&pair, known) })
    }

    fn checked(&self, pair: Critical) -> Option<Member> {
        Some(Member { pair, sides: self.sides(&pair, [None; 2]) })
    }

    /// Returns the pair of footpoints of the member nearest to the point `guess` on or near A (frame of A),
    /// without the test whether they lie on the solids. `None` if the family has no member near `guess`.
    pub(crate) fn pair(&self, guess: &P3) -> Option<Critical> {
        let pair = family_foot(&self.a, &self.b, guess, self.ctx.least, (self.ctx.tol.tol, self.extent))?;
        // Near an exact family the solution is exact to the tolerance: one footpoint is kept, and the
        // other one is recomputed as the nearest point.
        match (&self.a, &self.b) {
            (Primitive::Plane { .. }, _) | (_, Primitive::Plane { .. }) => Some(pair),
            (a, b) => match (is_thin(a), is_thin(b)) {
                (true, true) => Some(pair),
                (false, true) => self.facing(Which::B, &pair.p_b).or(Some(pair)),
                (_, false) => self.facing(Which::A, &pair.p_a).or(Some(pair)),
            },
        }
    }

    /// Returns the pair of the point `p` (frame of A) of the body `own` and the nearest point of the
    /// untrimmed feature of the other body; `None` on the focal set of that feature.
    pub(crate) fn facing(&self, own: Which, p: &P3) -> Option<Critical> {
        let other = match own {
            Which::A => &self.b,
            Which::B => &self.a,
        };
        let s = signed_distance(other, p)?;
        Some(match own {
            Which::A => Critical { p_a: *p, p_b: s.foot, n: -s.gradient, distance: s.value },
            Which::B => Critical { p_a: s.foot, p_b: *p, n: s.gradient, distance: s.value },
        })
    }

    /// Returns the range of a line (frame of A) in which members may lie: distances (mm) from `origin` in
    /// the unit direction `dir`, from the projections of the boxes of both features on the line.
    pub(crate) fn range_along(&self, origin: &P3, dir: &V3) -> (f64, f64) {
        let ctx = self.ctx;
        let projection = |which: Which, feature: Feature| {
            let corners = Obb::from_aabb(&ctx.body(which).data(feature).bounds).corners();
            let along = corners.iter().map(|c| dir.dot(&(ctx.in_a(which, c) - origin)));
            along.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(s), h.max(s)))
        };
        let (a, b) = (projection(Which::A, self.feature_a), projection(Which::B, self.feature_b));
        let (lo, hi) = (a.0.max(b.0), a.1.min(b.1));
        // Rounding of touching boxes, and the distance that trims accept beyond them.
        let slack = ctx.tol.same + ctx.a.deviation() + ctx.b.deviation();
        if lo <= hi { (lo - slack, hi + slack) } else { (0.5 * (lo + hi) - slack, 0.5 * (lo + hi) + slack) }
    }

    /// Tolerances for tests of members: their directions may deviate by the angle that corresponds to the
    /// tolerance (a length) over the extent of the features, because a family may be exact only up to the
    /// tolerance.
    fn tolerances(&self) -> Tolerances {
        let tol = self.ctx.tol;
        let bent = tol.bent(1.0 / self.extent);
        Tolerances { critical: tol.critical.max(bent), angle: tol.angle.max(bent), ..tol }
    }

    /// Tests the point `p` (frame of A) of a feature of the body `which` with the outward direction `n`:
    /// trims, polar and local shape. `None` if the point is outside the trims or the direction outside the
    /// polar.
    fn side(&self, which: Which, feature: Feature, p: &P3, n: V3) -> Option<Side> {
        let basis = complete_basis(&n);
        let foot = Foot { p, n, basis, hint: None, in_domain: None, beside: 0.0, beyond: 0.0 };
        side(self.ctx, which, feature, &foot, &self.tolerances())
    }

    /// Tests both footpoints of a pair, like [`FamilySet::side`]. `known` are the locations of the
    /// footpoints on A and B in the domains of their faces, if known. `None` if a test fails, if the
    /// distance is out of range, or if the pair is a maximum.
    fn sides(&self, c: &Critical, known: [Option<KnownPlace>; 2]) -> Option<(Side, Side)> {
        let ctx = self.ctx;
        if !(ctx.least <= c.distance && c.distance <= ctx.d_max) {
            return None;
        }
        let basis = complete_basis(&c.n);
        let beside = ctx.beside(c.distance);
        let tol = self.tolerances();
        let of = |which: Which, feature, p, n| {
            let known = known[which as usize];
            let (hint, in_domain) = (known.and_then(|k| k.uv), known.map(|k| k.in_domain));
            side(ctx, which, feature, &Foot { p, n, basis, hint, in_domain, beside, beyond: 0.0 }, &tol)
        };
        let of_a = || of(Which::A, self.feature_a, &c.p_a, c.n);
        let of_b = || of(Which::B, self.feature_b, &c.p_b, -c.n);
        // A side with a known location is cheapest.
        let (a, b) = if known[1].is_some() {
            let b = of_b()?;
            (of_a()?, b)
        } else {
            (of_a()?, of_b()?)
        };
        // The far side of a tilted pin is a maximum around its axis, by as little as the tolerance allows.
        let flat = second_order(&a.shape, &b.shape, c.distance, self.extent, MAX_FAMILY_TURN * self.extent);
        (flat != SecondOrder::Indefinite).then_some((a, b))
    }

    /// Direction and distance of a member. Edges near an exact family are critical up to the tolerance only,
    /// so that both are those of the footpoints.
    fn direction_of(&self, pair: &Critical) -> (V3, f64) {
        let between = pair.p_b - pair.p_a;
        if pair.distance > self.ctx.tol.tol {
            (between.normalize(), between.norm())
        } else {
            (pair.n, pair.distance)
        }
    }

    /// Converts a member to a sample; `None` if the member does not lie on both solids. `own` and `corner`
    /// are stored in the sample.
    pub(crate) fn sample(&self, m: &Member, (own, corner): (Which, bool)) -> Option<Sample> {
        let (a, b) = m.sides?;
        let quasi = self.ctx.a.data(self.feature_a).quasi_only
            || self.ctx.b.data(self.feature_b).quasi_only
            || a.polar != crate::footpoint::polar::Polar::Exact
            || b.polar != crate::footpoint::polar::Polar::Exact;
        let (n, distance) = self.direction_of(&m.pair);
        let pair = Accepted {
            feature_a: self.feature_a,
            feature_b: self.feature_b,
            p_a: m.pair.p_a,
            p_b: m.pair.p_b,
            n,
            distance,
            kind: if quasi { ContactKind::Quasi } else { ContactKind::Conformal },
            place_a: a.located.place,
            place_b: b.located.place,
            slack_a: a.located.slack,
            slack_b: b.located.slack,
            is_extended: a.located.is_beside || b.located.is_beside,
            is_slid: false,
            undecided: false,
        };
        Some(Sample { pair, own, corner, found: 0 })
    }
}

/// Points on both features of a family near which members are searched for: corners, midpoints of the
/// sides and centres of all areas. All areas are used, so that samples do not depend on the pairs culled
/// by the traversal. Points are computed on demand, because most families need only a few.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    grids: Vec<Grid>,
    /// Number of points of the grids of all areas.
    len: usize,
}

/// Points of one area at equal steps of its parameters.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// Body of the area.
    which: Which,
    area: AreaId,
    /// Index of this grid's first point: the number of points of all grids before it.
    first: usize,
    /// Number of intervals along each side of the area.
    intervals: usize,
}

impl Seeds {
    /// Replaces the points with those for a family. `spacing` (mm) is the requested distance between
    /// points; `None` for two intervals along each side of an area.
    fn collect(&mut self, ctx: &Context<'_>, family: &FamilyPair, spacing: Option<f64>) {
        self.grids.clear();
        self.len = 0;
        for (which, feature) in [(Which::A, family.feature_a), (Which::B, family.feature_b)] {
            let body = ctx.body(which);
            for &area in body.areas_of(body.data(feature)) {
                let intervals = intervals(body, area, spacing);
                self.grids.push(Grid { which, area, first: self.len, intervals });
                self.len += match feature {
                    Feature::Vertex(_) => 1,
                    Feature::Edge(_) => intervals + 1,
                    Feature::Face(_) => (intervals + 1) * (intervals + 1),
                };
            }
        }
    }

    /// Number of points of the grids of all areas.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Seed at an index among all seeds (frame of A), and the body on which it lies.
    pub(crate) fn point(&self, ctx: &Context<'_>, index: usize) -> (Which, P3) {
        let grid = &self.grids[self.grids.partition_point(|grid| grid.first <= index) - 1];
        (grid.which, grid.point(ctx, index - grid.first))
    }

    /// All points (frame of A) in the order of their indices, each with the body on which it lies.
    pub(crate) fn points<'a>(&'a self, ctx: &'a Context<'_>) -> impl Iterator<Item = (Which, P3)> + 'a {
        (0..self.len).map(|index| self.point(ctx, index))
    }
}

/// Maximum number of intervals of [`Seeds`] along one side of an area. With a larger number, small
/// spacings take more work; with a smaller one, samples of large areas are farther apart than
/// [`QueryOptions::conformal_spacing`].
const MAX_GRID: usize = 64;

/// Number of intervals of [`Seeds`] along one side of an area, for a spacing (mm) of the points.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "small counts, clamped before the cast"
)]
fn intervals(body: &Body, area: AreaId, spacing: Option<f64>) -> usize {
    let length = 2.0 * body.node(body.leaf_of_area(area)).obb.half.amax();
    spacing.map_or(2, |s| (length / s).ceil().clamp(2.0, MAX_GRID as f64) as usize)
}

impl Grid {
    /// Point at an index of this grid, in the frame of A.
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    fn point(&self, ctx: &Context<'_>, index: usize) -> P3 {
        let body = ctx.body(self.which);
        let data = body.area(self.area);
        let n = self.intervals;
        let at = |i: usize, x0: f64, x1: f64| x0 + (x1 - x0) * i as f64 / n as f64;
        let r = &data.rect;
        let point = match data.feature {
            Feature::Vertex(v) => body.vertex(v).point,
            Feature::Edge(e) => body.edge(e).curve.point(at(index, r.u0, r.u1)),
            Feature::Face(f) => {
                let (i, j) = (index / (n + 1), index % (n + 1));
                body.face(f).surface.point(P2::new(at(i, r.u0, r.u1), at(j, r.v0, r.v1)))
            }
        };
        ctx.in_a(self.which, &point)
    }
}

/// Whether the minimum `x` is a conformal one of the same features as the set with these samples, and a
/// member of the set. A minimum whose distance is smaller than those of all samples by more than rounding
/// is not a member.
fn is_member(ctx: &Context<'_>, samples: &[Sample], x: &Accepted) -> bool {
    let Some(first) = samples.first().map(|s| &s.pair) else { return false };
    if x.kind != ContactKind::Conformal || (x.feature_a, x.feature_b) != (first.feature_a, first.feature_b) {
        return false;
    }
    let distances = || samples.iter().map(|s| s.pair.distance);
    let (low, high) = distances().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), d| (l.min(d), h.max(d)));
    low - 0.01 * ctx.tol.tol <= x.distance && x.distance <= high + ctx.tol.tol
}

/// Whether a primitive is that of an edge or a vertex.
fn is_thin(p: &Primitive) -> bool {
    match p {
        Primitive::Plane { .. } => false,
        Primitive::Point { sigma, .. } | Primitive::Circle { sigma, .. } => *sigma == 0.0,
        Primitive::Line { sigma, slope, .. } => *sigma == 0.0 && *slope == 0.0,
    }
}

/// Whether the minimum `x` is one of features of lower dimension and a member of the set of the features
/// `fa` and `fb`.
fn covers(ctx: &Context<'_>, (fa, fb): (Feature, Feature), x: &Accepted) -> bool {
    if dim(x.feature_a) + dim(x.feature_b) >= dim(fa) + dim(fb) {
        return false;
    }
    let on = |which, feature, own: Feature, p: &P3, n: &V3| {
        own == feature || lies_on(ctx, which, feature, p, n, COVER_ANGLE, COVER_LENGTH * ctx.tol.tol)
    };
    on(Which::A, fa, x.feature_a, &x.p_a, &x.n) && on(Which::B, fb, x.feature_b, &x.p_b, &-x.n)
}

fn dim(f: Feature) -> u8 {
    match f {
        Feature::Face(_) => 2,
        Feature::Edge(_) => 1,
        Feature::Vertex(_) => 0,
    }
}

/// Corners of a set that are not reported.
struct Dropped {
    /// Largest distance (mm) of a dropped corner from the reported samples; 0 for load-bearing samples.
    loss: f64,
    /// Whether corners of a flat set that a step can close are missing because of the limit on their number.
    is_limited: bool,
}

/// Thins out the samples of a set and adds the kept ones to `out`. Corners are kept first, then repeatedly
/// the sample farthest from all kept ones. This ends when the kept samples are denser than
/// [`QueryOptions::conformal_spacing`] (default: a quarter of the set's diameter) or their maximum number
/// is reached. The sample with the smallest distance is kept, too, if its distance is smaller than those
/// of the others by more than rounding. With [`QueryOptions::load_bearing`], only the outermost samples
/// are kept.
///
/// Among samples that are about equally far from the kept ones, the one that was found first is taken, so
/// that rounding does not decide. `gap` is a scratch buffer.
fn thin_out(
    ctx: &Context<'_>,
    samples: &mut Vec<Sample>,
    gap: &mut Vec<f64>,
    options: &QueryOptions,
    out: &mut Vec<Accepted>,
) -> Dropped {
    // The corners of pressed sets may not be contacts although samples inside them are.
    if options.load_bearing && !samples.iter().any(|s| is_pressed(ctx, s)) {
        return Dropped { loss: 0.0, is_limited: keep_outermost(ctx, samples, out) };
    }
    let spacing = options.conformal_spacing;
    let cap = if spacing.is_some() { MAX_DENSE_SAMPLES } else { MAX_SAMPLES };
    let same = ctx.tol.same;
    let nearest = samples.iter().min_by(|x, y| x.pair.distance.total_cmp(&y.pair.distance)).copied();
    let apart =
        |x: &Sample, y: &Sample| (x.pair.p_a - y.pair.p_a).norm().max((x.pair.p_b - y.pair.p_b).norm());
    let n = samples.len();
    // Corners first.
    let mut n_corners = 0;
    for i in 0..n {
        samples[i].found = i;
        if samples[i].corner {
            samples.swap(i, n_corners);
            n_corners += 1;
        }
    }
    let diameter = samples.iter().map(|s| apart(s, &samples[0])).fold(0.0, f64::max);
    let limit = spacing.unwrap_or(f64::INFINITY).min(0.25 * diameter);
    gap.clear();
    gap.resize(n, f64::INFINITY);
    // Kept samples are moved to the front: first corners only, then any.
    let mut kept = 0;
    for (end, limit) in [(n_corners, same), (n, limit + same)] {
        while kept < cap.min(end) {
            let widest = gap[kept..end].iter().fold(0.0, |m: f64, g| m.max(*g));
            if widest <= limit {
                break;
            }
            let about = (kept..end).filter(|i| gap[*i] >= widest - same);
            let Some(next) = about.min_by_key(|i| samples[*i].found) else { break };
            samples.swap(kept, next);
            gap.swap(kept, next);
            let newest = samples[kept];
            kept += 1;
            for i in kept..n {
                gap[i] = gap[i].min(apart(&samples[i], &newest));
            }
        }
    }
    let left_out = samples[kept..].iter().zip(&gap[kept..]).filter(|(s, gap)| s.corner && **gap > same);
    let loss = left_out.map(|(_, gap)| *gap).fold(0.0, f64::max);
    samples.truncate(kept);
    if let Some(s) = nearest
        && samples.iter().all(|k| k.pair.distance > s.pair.distance + 0.01 * ctx.tol.tol)
    {
        samples.push(s);
    }
    out.extend(samples.iter().map(|s| s.pair));
    Dropped { loss, is_limited: false }
}

/// Adds the load-bearing (outermost) samples of a set to `out`, and the sample with the smallest distance
/// if its distance is smaller than those of the outermost ones by more than rounding.
/// Returns whether corners of a flat set are missing because of the limit on their number.
fn keep_outermost(ctx: &Context<'_>, samples: &[Sample], out: &mut Vec<Accepted>) -> bool {
    let plane = samples.first().and_then(|s| match ctx.a.data(s.pair.feature_a).primitive {
        Some(Primitive::Plane { normal, .. }) => Some(normal),
        _ => None,
    });
    let farthest = Outermost::of(samples.len(), |i| samples[i].pair.p_a, plane, max_corner_loss(ctx));
    let kept = farthest.places.iter().map(|&i| &samples[i].pair);
    let lowest = kept.clone().map(|pair| pair.distance).fold(f64::INFINITY, f64::min);
    out.extend(kept);
    let nearest = samples.iter().map(|s| &s.pair).min_by(|x, y| x.distance.total_cmp(&y.distance));
    out.extend(nearest.filter(|pair| pair.distance < lowest - 0.01 * ctx.tol.tol));
    farthest.is_limited
}

/// Largest distance (mm) of a sample of a flat set from the polygon of the reported ones: a rotation of the
/// step changes its gap by at most this length times its angle more than theirs. Infinite except in steps.
fn max_corner_loss(ctx: &Context<'_>) -> f64 {
    ctx.step.map_or(f64::INFINITY, |step| MAX_LOSS * step.gap_error / step.rotation)
}

/// A member of a set that lies on both solids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub pair: Accepted,
    /// Body with which the sample moves: the one whose trim or family was followed.
    own: Which,
    /// Whether the set ends at this sample, or the sample is at a fixed parameter of its curve.
    pub corner: bool,
    /// Index in the order in which the samples of a set were found.
    found: usize,
}
