//! Contacts of two solids that move little from step to step, tracked without queries.
//!
//! A query searches all pairs of features, although most contacts of a step are those of the previous
//! step. [`ContactFollower`] stores the minima of a query and updates each of them by Newton's method on
//! its own two features, as long as no other contact can have come within the reach
//! ([`FollowOptions::reach`]). It is designed for simulations of many solids: a contact takes at most a
//! fiftieth of the time of a query, and a few hundred bytes.
//!
//! # Guarantees
//! A query up to the distance `reach + stride` finds every minimum within it. Distances change by at most
//! the displacement of points of B, so while that displacement is at most [`FollowOptions::stride`], no
//! other minimum can be within the reach. If the query finds no contact, B can move by the distance of the
//! nearest minimum beyond the reach. Tracked contacts pass the same tests of trims, polars and curvature
//! as those of a query. If a contact fails the tests, or passes on to another feature, a new query is
//! required. A contact beyond the reach is not updated before the displacement since its last update allows
//! it to come within the reach. Corners of flat contacts are not isolated minima, so they are kept only for
//! motions within the tolerance. A minimum that arises within the reach, because one minimum splits into
//! two as surfaces conform more closely, is reported up to a stride late.
//!
//! Solids that overlap can have no pressed minimum at all, for example where an edge has passed an edge. A
//! query whose minima are all beyond an upper bound of the distance proves that; then each pose requires a
//! query, until a minimum is found again or the solids have moved by the range of the search.
//!
//! # Source
//! MATH §8 (critical pairs), §10 (identities), §22 (bounds of distances over time); DIST §3.3, (3.13) and
//! (3.14).
//! # Deviations
//! DIST subtracts the displacements of every step. Here the displacement is that between two poses, which
//! does not grow while bodies oscillate; and each local minimum has a bound of its own, beside that of the
//! pair.

mod newton;

use crate::accept::filter::filter;
use crate::accept::pressed::has_feet_in_material;
use crate::api::contact::{ContactKind, FeatureKind};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::coordinates::{coordinate_range, relative_pose};
use crate::pair::ContactPair;
use crate::query::{Context, Waves};
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::{EdgeId, FaceId, Feature, VertexId};

/// Options of [`ContactFollower`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowOptions {
    /// Distance (mm) up to which all minima of the distance of the two solids are reported.
    pub reach: f64,
    /// Depth (mm) down to which all contacts are reported. Queries search for contacts deeper by one
    /// `stride`, unless this exceeds the limit of
    /// [`QueryOptions::penetration`](crate::QueryOptions::penetration).
    pub penetration: f64,
    /// Displacement (mm) of points of B in the frame of A after which a new query is required. A larger
    /// stride makes queries rarer and each of them slower.
    pub stride: f64,
}

/// A contact that is tracked from pose to pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowedContact {
    /// Identity within the pair, which increases from contact to contact. A contact keeps it when it
    /// passes on to another feature.
    pub id: u64,
    /// Signed distance (mm) from the footpoint on A to that on B along `normal`, at the pose `updated_at`.
    /// If it exceeds [`FollowOptions::reach`], it still does at the present pose.
    pub distance: f64,
    /// Footpoint on A in the frame of A.
    pub local_a: P3,
    /// Footpoint on B in the frame of B.
    pub local_b: P3,
    /// Unit outward direction of A at its footpoint, in the frame of A.
    pub normal: V3,
    /// Smallest and largest curvature (1/mm) of the gap between the surfaces, for Hertz's law; infinite
    /// unless both features are faces, at poles, and if the distance exceeds [`FollowOptions::reach`].
    pub curvatures: [f64; 2],
    /// Kind and index of the features of A and of B that contain the footpoints.
    pub features: [(FeatureKind, u32); 2],
    /// Parameters of the footpoints: `(u, v)` on a face, `(t, 0)` on an edge, zeros at a vertex.
    pub uv: [[f64; 2]; 2],
    /// Whether the contact is a corner of a line or area of equal distance between the solids.
    pub is_flat: bool,
    /// Pose of B in the frame of A at which the contact was computed: the present pose, unless its distance
    /// exceeds [`FollowOptions::reach`].
    pub updated_at: Pose,
}

/// Contacts of a pair of solids, tracked from pose to pose with as few queries as possible.
///
/// All contacts with distances up to [`FollowOptions::reach`] and depths down to
/// [`FollowOptions::penetration`] are reported at each pose. There is one exception: a minimum that arises
/// within the reach because surfaces conform more closely is reported up to [`FollowOptions::stride`]
/// late.
///
/// ```no_run
/// # use feeler_runtime::{Body, ContactPair, FollowOptions, ContactFollower};
/// # fn step() -> feeler_geom::Pose { feeler_geom::Pose::identity() }
/// # fn show(a: std::sync::Arc<Body>, b: std::sync::Arc<Body>) -> Result<(), feeler_runtime::QueryError> {
/// let here = feeler_geom::Pose::identity();
/// let options = FollowOptions { reach: 0.0, penetration: 0.05, stride: 0.1 };
/// // One `ContactPair` can serve any number of pairs of the same two solids.
/// let mut pair = ContactPair::new(a.clone(), b.clone());
/// let mut following = ContactFollower::default();
/// for _ in 0..1000 {
///     let there = step();
///     if !following.follow(&a, &b, &here, &there, &options)? {
///         following.query(&mut pair, &here, &there, &options)?;
///     }
///     let _deepest = following.contacts().iter().map(|c| c.distance).fold(0.0, f64::min);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactFollower {
    last_query: Option<LastQuery>,
    contacts: Vec<FollowedContact>,
    /// Identity of the next new contact.
    next: u64,
}

/// Pose of the last query of a pair, and the displacement for which its contacts suffice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastQuery {
    /// Pose of B in the frame of A at the last query.
    pub pose: Pose,
    /// Displacement (mm) of points of B from this pose up to which the contacts suffice. It is
    /// [`FollowOptions::stride`], but at most the tolerance if a contact is flat, or more if no contact
    /// was near. It is negative if each pose requires a query.
    pub free: f64,
    /// Upper bound (mm) of the distance of the solids at this pose, from this and earlier queries: 0 if they
    /// overlapped, infinite if no minimum has been found yet.
    pub nearest: f64,
}

/// Largest displacement of the footpoints of a contact from one query to the next at which it continues
/// with its identity, as a multiple of the displacement of points of B. The displacement of the
/// footpoints is the smaller one of both, plus [`LARGER_RUN_WEIGHT`] times the larger one. A larger
/// value passes identities to other contacts; with a smaller one, flat contacts get new identities, so
/// that friction starts anew.
const MAX_FOOTPOINT_RUN: f64 = 10.0;
/// Displacement of the footpoints, as a fraction of the smaller solid's size, that is allowed in
/// addition to that of [`MAX_FOOTPOINT_RUN`], because footpoints of flat contacts move even if B hardly
/// does. A larger value passes identities to other contacts; with a smaller one, flat contacts get new
/// identities, so that friction starts anew.
const FOOTPOINT_RUN_AT_REST: f64 = 1e-3;
/// Weight of the larger one of the displacements of both footpoints on their solids, relative to the
/// smaller one, when a contact is compared with those of the previous query. With a larger value,
/// contacts that slide or roll get new identities; with a smaller one, contacts that share a corner
/// exchange identities.
const LARGER_RUN_WEIGHT: f64 = 0.01;
/// Cosine of the largest angle between the normals of a contact in two successive queries. With a larger
/// value, friction starts anew at edges; with a smaller one, a contact continues with the friction of
/// another one.
const MIN_NORMAL_COS: f64 = 0.5;

impl ContactFollower {
    /// Contacts at the last pose, in ascending order of their distances at the last query.
    #[must_use]
    pub fn contacts(&self) -> &[FollowedContact] {
        &self.contacts
    }

    /// Returns the data of which a saved state consists: the last query, the contacts, and the identity
    /// of the next new contact.
    #[must_use]
    pub fn parts(&self) -> (Option<&LastQuery>, &[FollowedContact], u64) {
        (self.last_query.as_ref(), &self.contacts, self.next)
    }

    /// Restores a follower from the data that [`parts`](Self::parts) has returned.
    #[must_use]
    pub fn from_parts(last_query: Option<LastQuery>, mut contacts: Vec<FollowedContact>, next: u64) -> Self {
        // Only a damaged state has more contacts.
        contacts.truncate(MAX_CONTACTS);
        Self { last_query, contacts, next }
    }

    /// Removes the contacts and the last query. Identities are not reused.
    pub fn forget(&mut self) {
        self.last_query = None;
        self.contacts.clear();
    }

    /// Moves the contacts to other poses, which map each solid's own coordinates to the world. Returns
    /// `false` and leaves the contacts unchanged if a query ([`ContactFollower::query`]) is required:
    /// before the first query, if the displacement of points of B in the frame of A since the last query
    /// exceeds [`LastQuery::free`], and if a contact has left its features.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite, or if rounding of the coordinates exceeds a tenth of the
    /// tolerance and there are contacts.
    pub fn follow(
        &mut self,
        a: &Body,
        b: &Body,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &FollowOptions,
    ) -> Result<bool, QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let Some(last) = &self.last_query else { return Ok(false) };
        // The comparison is `<=`, so that a pair at rest is queried once even if the stride is 0. It is
        // false if the motion overflows.
        let is_within = displacement(&last.pose, &pose_ab, b) <= last.free;
        if !is_within {
            return Ok(false);
        }
        if self.contacts.is_empty() {
            return Ok(true);
        }
        coordinate_range(a, b, &pose_ab, &QueryOptions::within(f64::INFINITY))?;
        let tol = Tolerances::new(a, b, &pose_ab, None);
        let ctx = Context {
            a,
            b,
            pose_ab,
            pose_ba: pose_ab.inverse(),
            tol,
            // A contact within the reach and the stride has moved by at most another stride.
            d_max: options.reach + 2.0 * options.stride,
            least: tol.min_distance_apart().min(-options.penetration - 2.0 * options.stride),
            penetration: options.penetration + 2.0 * options.stride,
            quasi_angle: 0.0,
            waves: Waves::NONE,
            step: None,
            cull: None,
        };
        // The contacts are replaced only if all of them can be updated.
        let mut next: arrayvec::ArrayVec<FollowedContact, MAX_CONTACTS> = arrayvec::ArrayVec::new();
        for known in &self.contacts {
            let beyond = known.distance - options.reach - tol.tol;
            // A contact at rest beyond the reach is not updated either.
            if !known.is_flat && beyond > 0.0 && displacement(&known.updated_at, &pose_ab, b) <= beyond {
                if next.try_push(*known).is_err() {
                    return Ok(false);
                }
                continue;
            }
            let found = if known.is_flat {
                Some(moved_flat(&pose_ab, known))
            } else {
                moved(&ctx, known, options.reach)
            };
            let Some(found) = found else { return Ok(false) };
            let is_new = next.iter().all(|c| (c.local_a - found.local_a).norm() > tol.same);
            if !is_new || next.try_push(found).is_err() {
                return Ok(false);
            }
        }
        self.contacts.clear();
        self.contacts.extend_from_slice(&next);
        Ok(true)
    }

    /// Queries the contacts at these poses, sorted by distance. `pair` must be a pair of the same two
    /// solids; its earlier queries have no effect.
    ///
    /// Contacts along lines and areas are represented by their corners. Corners continue while points of
    /// B have moved by at most the tolerance of the model (1e-7 of the size), as in bodies at rest.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`]. After an error, the list of contacts is empty.
    pub fn query(
        &mut self,
        pair: &mut ContactPair,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &FollowOptions,
    ) -> Result<(), QueryError> {
        let size = pair.body_a().size().min(pair.body_b().size());
        // A contact that is deeper by a stride can come within the depth.
        let walls = MAX_WALL_PART * (pair.body_a().min_thickness() + pair.body_b().min_thickness());
        let penetration = (options.penetration + options.stride).min(walls).max(options.penetration);
        let query = QueryOptions {
            penetration,
            detect_interference: false,
            conformal_spacing: Some(pair.body_a().size().max(pair.body_b().size())),
            load_bearing: true,
            ..QueryOptions::within(options.reach + SEARCH_STRIDES * options.stride)
        };
        pair.forget();
        let before = std::mem::take(&mut self.contacts);
        let last = self.last_query.take();
        pair.query(pose_a, pose_b, &query)?;
        let found = pair.contacts();
        let pose_ab = pose_a.inv_mul(pose_b);
        let expected = nearest(&before, last.as_ref(), &pose_ab, pair.body_b());
        let run = last.map(|last| {
            let displacement = displacement(&last.pose, &pose_ab, pair.body_b());
            MAX_FOOTPOINT_RUN * displacement + FOOTPOINT_RUN_AT_REST * size
        });
        let mut taken: u64 = 0;
        let turn = pose_a.rotation.inverse();
        let near = found.partition_point(|l| l.distance <= options.reach + options.stride);
        for minimum in found[..near].iter().filter(|l| l.kind != ContactKind::Quasi).take(MAX_CONTACTS) {
            let normal = turn * minimum.normal;
            let at = [minimum.local_a, minimum.local_b];
            let id = run.and_then(|run| continued_id(&before, &mut taken, (at, normal), run));
            let id = id.unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            self.contacts.push(FollowedContact {
                id,
                distance: minimum.distance,
                local_a: minimum.local_a,
                local_b: minimum.local_b,
                normal,
                curvatures: [f64::INFINITY; 2],
                features: [minimum.feature_a, minimum.feature_b].map(|f| (f.kind, f.index)),
                uv: [minimum.feature_a.uv, minimum.feature_b.uv],
                is_flat: minimum.kind == ContactKind::Conformal,
                updated_at: pose_ab,
            });
        }
        let clear = found.first().map_or(SEARCH_STRIDES * options.stride, |l| l.distance - options.reach);
        let tol = Tolerances::new(pair.body_a(), pair.body_b(), &pose_ab, None).tol;
        let is_lost = clear + options.reach > expected + tol;
        let nearest = found.first().map_or(f64::INFINITY, |l| l.distance.max(0.0)).min(expected);
        let free = if is_lost {
            // The solids overlap where their distance has no minimum that the query finds.
            -1.0
        } else if near == 0 {
            clear
        } else if near > MAX_CONTACTS {
            // Each pose requires a query; identities continue, and with them friction.
            -1.0
        } else if self.contacts.iter().any(|c| c.is_flat) {
            options.stride.min(tol)
        } else {
            options.stride
        };
        self.last_query = Some(LastQuery { pose: pose_ab, free, nearest });
        let bodies = [pair.body_a().as_ref(), pair.body_b().as_ref()];
        for contact in self.contacts.iter_mut().filter(|c| c.is_flat || c.distance <= options.reach) {
            contact.curvatures = newton::gap_curvatures(bodies, &pose_ab, contact);
        }
        Ok(())
    }
}

/// Distance beyond [`FollowOptions::reach`], as a multiple of [`FollowOptions::stride`], up to which a
/// query searches. If it finds nothing, B can move by that distance without another query. A larger value
/// makes queries slower; a smaller one causes more queries.
const SEARCH_STRIDES: f64 = 4.0;

/// Maximum depth up to which a query searches beyond [`FollowOptions::penetration`], as a fraction of the sum
/// of both minimum thicknesses. Queries refuse 0.5 and more. With a smaller value, deep contacts that become
/// shallower are found only after they are within that penetration.
const MAX_WALL_PART: f64 = 0.49;

/// Maximum number of tracked contacts of a pair. If a query finds more, each pose requires a query, and
/// only the first ones are reported. A larger value does not fit the bit set of 64 contacts in
/// [`continued_id`]; a smaller one causes more queries.
const MAX_CONTACTS: usize = 64;

/// Upper bound of the displacement (mm) of a point of B between two poses of B in the frame of A.
fn displacement(before: &Pose, now: &Pose, b: &Body) -> f64 {
    let moved = before.inv_mul(now);
    let bounds = b.bounds();
    let (center, radius) =
        if bounds.is_empty() { (P3::origin(), 0.0) } else { (bounds.center(), 0.5 * bounds.diagonal()) };
    // The rotation displaces a point by 2 sin(angle / 2) times its distance from the centre.
    (moved * center - center).norm() + 2.0 * moved.rotation.imag().norm() * radius
}

/// Upper bound (mm) of the distance of the solids at the pose `pose_ab` of B: their distance at an earlier
/// pose, which overlapping contacts bound by 0, increases by at most the displacement of points of B.
fn nearest(before: &[FollowedContact], last: Option<&LastQuery>, pose_ab: &Pose, b: &Body) -> f64 {
    let of_contacts = before.iter().map(|c| c.distance.max(0.0) + displacement(&c.updated_at, pose_ab, b));
    let of_query = last.map_or(f64::INFINITY, |l| l.nearest + displacement(&l.pose, pose_ab, b));
    of_contacts.fold(of_query, f64::min)
}

/// Returns the identity of the contact in `before` that a new contact continues; `None` if it continues
/// no contact. It continues the contact with the smallest displacement of footpoints (see
/// [`MAX_FOOTPOINT_RUN`]), at most `run` (mm), among those with a similar normal that no other contact
/// has continued (bits of `taken`, where this one is added). `at` are the new footpoints on A and B,
/// each in the frame of its solid; `normal` is in the frame of A.
///
/// If a contact slides, one of its footpoints stays in place on its solid; if it rolls, neither does. If a
/// corner is in two contacts, the footpoints on the other solid distinguish them.
fn continued_id(
    before: &[FollowedContact],
    taken: &mut u64,
    (at, normal): ([P3; 2], V3),
    run: f64,
) -> Option<u64> {
    let free = before
        .iter()
        .enumerate()
        .filter(|(k, c)| *taken & (1 << k) == 0 && c.normal.dot(&normal) > MIN_NORMAL_COS);
    let apart = free.map(|(k, c)| {
        let [a, b] = [(c.local_a - at[0]).norm(), (c.local_b - at[1]).norm()];
        (k, a.min(b) + LARGER_RUN_WEIGHT * a.max(b), c.id)
    });
    let (k, _, id) = apart.filter(|(_, d, _)| *d <= run).min_by(|x, y| x.1.total_cmp(&y.1))?;
    *taken |= 1 << k;
    Some(id)
}

/// Returns a corner of a flat contact at another pose, after a displacement within the tolerance: its
/// footpoints stay in place on both solids.
fn moved_flat(pose_ab: &Pose, known: &FollowedContact) -> FollowedContact {
    let distance = known.normal.dot(&(pose_ab * known.local_b - known.local_a));
    FollowedContact { distance, updated_at: *pose_ab, ..*known }
}

/// Returns a contact at another pose; `None` if it is not a strict minimum of its features any more.
/// Curvatures are computed up to the distance `reach` (mm).
fn moved(ctx: &Context<'_>, known: &FollowedContact, reach: f64) -> Option<FollowedContact> {
    // A saved state can belong to another solid.
    let exists = |body: &Body, (kind, index): (FeatureKind, u32)| {
        let h = body.hierarchy();
        let count = match kind {
            FeatureKind::Face => h.faces.len(),
            FeatureKind::Edge => h.edges.len(),
            FeatureKind::Vertex => h.vertices.len(),
        };
        (index as usize) < count
    };
    if !(exists(ctx.a, known.features[0]) && exists(ctx.b, known.features[1])) {
        return None;
    }
    let candidate = newton::critical_pair(ctx, known)?;
    let found = filter(ctx, &candidate).filter(|x| x.kind == ContactKind::Strict)?;
    if found.is_extended && !has_feet_in_material(ctx, &found) {
        return None;
    }
    let mut out = FollowedContact {
        distance: found.distance,
        local_a: found.p_a,
        local_b: ctx.pose_ba * found.p_b,
        normal: found.n,
        curvatures: [f64::INFINITY; 2],
        uv: [found.place_a.uv, found.place_b.uv],
        updated_at: ctx.pose_ab,
        ..*known
    };
    if out.distance <= reach {
        out.curvatures = newton::gap_curvatures([ctx.a, ctx.b], &ctx.pose_ab, &out);
    }
    Some(out)
}

/// Converts the kind and the index of a feature to its identifier.
fn feature((kind, index): (FeatureKind, u32)) -> Feature {
    match kind {
        FeatureKind::Face => Feature::Face(FaceId(index)),
        FeatureKind::Edge => Feature::Edge(EdgeId(index)),
        FeatureKind::Vertex => Feature::Vertex(VertexId(index)),
    }
}

fn point(uv: [f64; 2]) -> P2 {
    P2::new(uv[0], uv[1])
}
