//! Contacts of two solids that move little from step to step, followed instead of looked for.
//!
//! A query looks everywhere; most of what it finds in the next step is what it has found before, a little
//! further on. [`Following`] remembers where a query has found minima and takes each of them on by Newton's
//! steps on its own two features, for as long as nothing else can have come near. It is what simulations of
//! many solids ask: a contact takes a fiftieth of a query, or less, and a few hundred bytes.
//!
//! # Guarantees
//! A query with a reach of `reach + stride` knows of each minimum within it. While no point of B has moved by
//! more than the stride since (or where none was near, by what was clear), distances have changed by no more,
//! so that nothing that was beyond can be within the reach. What is told passes the same test of trims,
//! polars and curvature as what queries tell; where a minimum does not, or passes on to another feature, the
//! pair is to be asked again. Corners of flat contacts are no minima by themselves: they take part in motions
//! that count as none. Only minima that arise within the reach, by one parting into two as surfaces fit each
//! other more closely, are told up to a stride late.
//!
//! # Source
//! MATH §8 (critical pairs), §10 (identities).

mod newton;

use crate::accept::filter::filter;
use crate::api::contact::{ContactKind, FeatureKind};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::tolerance::Tolerances;
use crate::body::Body;
use crate::body::coordinates::{coordinate_range, relative_pose};
use crate::pair::ContactPair;
use crate::query::Context;
use feeler_geom::{P2, P3, Pose, V3};
use feeler_hierarchy::{EdgeId, FaceId, Feature, VertexId};

/// What is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowOptions {
    /// Minima up to this distance (mm) are told for certain.
    pub reach: f64,
    /// Contacts down to this depth (mm) are told for certain, as far as a stride more is less than walls
    /// allow: see [`QueryOptions::penetration`](crate::QueryOptions::penetration).
    pub penetration: f64,
    /// How far (mm) B may move, as seen from A, before the pair is asked again.
    pub stride: f64,
}

/// A minimum that is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FollowedContact {
    /// Identity: counts up from contact to contact of the pair, also where it passes on to another feature.
    pub id: u64,
    /// Signed distance (mm) along the normal.
    pub distance: f64,
    /// Footpoint on A, in A's own coordinates.
    pub local_a: P3,
    /// Footpoint on B, in B's own coordinates.
    pub local_b: P3,
    /// A's outward direction there, unit, in A's own coordinates.
    pub normal: V3,
    /// Smallest and largest curvature (1/mm) of the gap between both surfaces, for Hertz's law: infinite
    /// where one of them is no face.
    pub curvatures: [f64; 2],
    /// Features of A and of B.
    pub features: [(FeatureKind, u32); 2],
    /// Parameters of the footpoints there: `(u, v)` of a face, `(t, 0)` of an edge, zeros of a vertex.
    pub uv: [[f64; 2]; 2],
    /// Whether it is a corner of a line or area of equal distance.
    pub is_flat: bool,
}

/// The minima of a pair of solids, followed from pose to pose.
///
/// ```no_run
/// # use feeler_runtime::{Body, ContactPair, FollowOptions, Following};
/// # fn step() -> feeler_geom::Pose { feeler_geom::Pose::identity() }
/// # fn show(a: std::sync::Arc<Body>, b: std::sync::Arc<Body>) -> Result<(), feeler_runtime::QueryError> {
/// let here = feeler_geom::Pose::identity();
/// let options = FollowOptions { reach: 0.0, penetration: 0.05, stride: 0.1 };
/// // One may serve any number of pairs of the same two solids.
/// let mut pair = ContactPair::new(a.clone(), b.clone());
/// let mut following = Following::default();
/// for _ in 0..1000 {
///     let there = step();
///     if !following.go_on(&a, &b, &here, &there, &options)? {
///         following.ask(&mut pair, &here, &there, &options)?;
///     }
///     let _deepest = following.contacts().iter().map(|c| c.distance).fold(0.0, f64::min);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Following {
    asked: Option<Asked>,
    contacts: Vec<FollowedContact>,
    next: u64,
}

/// When a pair was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asked {
    /// Of B in A's coordinates.
    pub pose: Pose,
    /// How far (mm) B may move from there: a stride, or more where nothing was near, and less where there are
    /// flat contacts; negative where the pair is to be asked in each pose.
    pub free: f64,
}

/// How much farther than points of B a footpoint runs at most where a contact goes on.
const RUN: f64 = 10.0;
/// The same where B has hardly moved, as a part of the smaller size.
const NEAR: f64 = 1e-3;
/// What the distance of the footpoints on the solid counts on which they are farther apart.
const FARTHER: f64 = 0.01;
/// Cosine of the angle by which the normal of a contact turns at most from one asking to the next.
const TURNED: f64 = 0.5;

impl Following {
    /// The contacts of the last pose.
    #[must_use]
    pub fn contacts(&self) -> &[FollowedContact] {
        &self.contacts
    }

    /// What a saved state has to hold: when the pair was asked, the contacts, and the number of the next one.
    #[must_use]
    pub fn parts(&self) -> (Option<&Asked>, &[FollowedContact], u64) {
        (self.asked.as_ref(), &self.contacts, self.next)
    }

    /// From what [`parts`](Self::parts) has told.
    #[must_use]
    pub fn from_parts(asked: Option<Asked>, mut contacts: Vec<FollowedContact>, next: u64) -> Self {
        // More are never followed: only a damaged state has them.
        contacts.truncate(MOST);
        Self { asked, contacts, next }
    }

    /// Forgets all; numbers go on.
    pub fn forget(&mut self) {
        self.asked = None;
        self.contacts.clear();
    }

    /// Follows the contacts to other poses (which take each solid's own coordinates to the world), or tells
    /// that the pair has to be asked: at first, after a stride, and where a contact has left its features.
    /// The contacts are then those of before.
    ///
    /// # Errors
    /// [`QueryError`] if a pose is not finite, or if rounding of the coordinates exceeds a tenth of the
    /// tolerance while there are contacts to follow.
    pub fn go_on(
        &mut self,
        a: &Body,
        b: &Body,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &FollowOptions,
    ) -> Result<bool, QueryError> {
        let pose_ab = relative_pose(pose_a, pose_b)?;
        let Some(asked) = &self.asked else { return Ok(false) };
        // At most, not less than: a pair at rest is queried once, whatever the stride. A motion that
        // overflows is not within it.
        let is_within = moved(&asked.pose, &pose_ab, b) <= asked.free;
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
            // What was within reach and stride has moved by a stride at most.
            d_max: options.reach + 2.0 * options.stride,
            least: tol.least_distance_apart().min(-options.penetration - 2.0 * options.stride),
            quasi_angle: 0.0,
            cull: None,
        };
        // In place only once all of them are known.
        let mut next: arrayvec::ArrayVec<FollowedContact, MOST> = arrayvec::ArrayVec::new();
        for known in &self.contacts {
            let found = if known.is_flat { Some(flat(&pose_ab, known)) } else { further(&ctx, known) };
            let Some(found) = found else { return Ok(false) };
            let is_new = next.iter().all(|c| (c.local_a - found.local_a).norm() > tol.same);
            if !is_new || next.try_push(found).is_err() {
                return Ok(false);
            }
        }
        self.contacts.clear();
        self.contacts.extend(next);
        Ok(true)
    }

    /// Asks for the contacts at these poses. `pair` is of the same two solids; what it was asked before
    /// plays no part.
    ///
    /// Contacts along lines and areas are told by their corners. They go on for as long as B has moved by no
    /// more than what counts as zero for the model (1e-7 of the size), as it does where it lies still.
    ///
    /// # Errors
    /// As [`ContactPair::query`]; there are no contacts then.
    pub fn ask(
        &mut self,
        pair: &mut ContactPair,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &FollowOptions,
    ) -> Result<(), QueryError> {
        let size = pair.body_a().size().min(pair.body_b().size());
        // What is deeper may rise within a stride.
        let walls = DEEPEST * (pair.body_a().min_thickness() + pair.body_b().min_thickness());
        let penetration = (options.penetration + options.stride).min(walls).max(options.penetration);
        let query = QueryOptions {
            penetration,
            detect_interference: false,
            conformal_spacing: Some(pair.body_a().size().max(pair.body_b().size())),
            load_bearing: true,
            ..QueryOptions::within(options.reach + WIDE * options.stride)
        };
        pair.forget();
        let before = std::mem::take(&mut self.contacts);
        let since = self.asked.take();
        pair.query(pose_a, pose_b, &query)?;
        let found = pair.contacts();
        let pose_ab = pose_a.inv_mul(pose_b);
        let run = since.map(|since| RUN * moved(&since.pose, &pose_ab, pair.body_b()) + NEAR * size);
        let mut taken: u64 = 0;
        let turn = pose_a.rotation.inverse();
        let near = found.partition_point(|l| l.distance <= options.reach + options.stride);
        for minimum in found[..near].iter().filter(|l| l.kind != ContactKind::Quasi).take(MOST) {
            let normal = turn * minimum.normal;
            let at = [minimum.local_a, minimum.local_b];
            let number = run.and_then(|run| nearest(&before, &mut taken, (at, normal), run));
            let number = number.unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            });
            self.contacts.push(FollowedContact {
                id: number,
                distance: minimum.distance,
                local_a: minimum.local_a,
                local_b: minimum.local_b,
                normal,
                curvatures: [f64::INFINITY; 2],
                features: [minimum.feature_a, minimum.feature_b].map(|f| (f.kind, f.index)),
                uv: [minimum.feature_a.uv, minimum.feature_b.uv],
                is_flat: minimum.kind == ContactKind::Conformal,
            });
        }
        let clear = found.first().map_or(WIDE * options.stride, |l| l.distance - options.reach);
        let free = if near == 0 {
            clear
        } else if near > MOST {
            // Numbers go on all the same: friction lasts.
            -1.0
        } else if self.contacts.iter().any(|c| c.is_flat) {
            options.stride.min(Tolerances::new(pair.body_a(), pair.body_b(), &pose_ab, None).tol)
        } else {
            options.stride
        };
        self.asked = Some(Asked { pose: pose_ab, free });
        let bodies = [pair.body_a().as_ref(), pair.body_b().as_ref()];
        for contact in &mut self.contacts {
            contact.curvatures = newton::gap_curvatures(bodies, &pose_ab, contact);
        }
        Ok(())
    }
}

/// How many strides far minima are looked for: where there are none, B is free to move as far.
const WIDE: f64 = 4.0;

/// Part of the sum of both walls that depths stay below.
const DEEPEST: f64 = 0.49;

/// Contacts of a pair at most: what has more is asked for in each pose, and told up to here.
const MOST: usize = 64;

/// How far (mm) points of B have moved, as seen from A.
fn moved(before: &Pose, now: &Pose, b: &Body) -> f64 {
    let moved = before.inv_mul(now);
    // Twice the sine of half the angle, for points up to the corner of B's box.
    moved.translation.vector.norm() + 2.0 * moved.rotation.imag().norm() * b.reach()
}

/// The number of the contact that one goes on: the nearest one whose normal is alike, and that none has taken
/// yet. Of what slides a footpoint stays on the one solid, of what rolls neither does; where a corner is in
/// two contacts the other footpoint tells them apart.
fn nearest(
    before: &[FollowedContact],
    taken: &mut u64,
    (at, normal): ([P3; 2], V3),
    run: f64,
) -> Option<u64> {
    let free =
        before.iter().enumerate().filter(|(k, c)| *taken & (1 << k) == 0 && c.normal.dot(&normal) > TURNED);
    let apart = free.map(|(k, c)| {
        let [a, b] = [(c.local_a - at[0]).norm(), (c.local_b - at[1]).norm()];
        (k, a.min(b) + FARTHER * a.max(b), c.id)
    });
    let (k, _, number) = apart.filter(|(_, d, _)| *d <= run).min_by(|x, y| x.1.total_cmp(&y.1))?;
    *taken |= 1 << k;
    Some(number)
}

/// A corner of a flat contact at another pose, hardly away: what was opposite still is.
fn flat(pose_ab: &Pose, known: &FollowedContact) -> FollowedContact {
    FollowedContact { distance: known.normal.dot(&(pose_ab * known.local_b - known.local_a)), ..*known }
}

/// A contact at another pose, or none where it is no minimum of its features any more.
fn further(ctx: &Context<'_>, known: &FollowedContact) -> Option<FollowedContact> {
    // A saved state may be that of another solid.
    let is_there = |body: &Body, (kind, index): (FeatureKind, u32)| {
        let h = body.hierarchy();
        let many = match kind {
            FeatureKind::Face => h.faces.len(),
            FeatureKind::Edge => h.edges.len(),
            FeatureKind::Vertex => h.vertices.len(),
        };
        (index as usize) < many
    };
    if !(is_there(ctx.a, known.features[0]) && is_there(ctx.b, known.features[1])) {
        return None;
    }
    let candidate = newton::critical_pair(ctx, known)?;
    let found = filter(ctx, &candidate).filter(|x| x.kind == ContactKind::Strict)?;
    let mut out = FollowedContact {
        distance: found.distance,
        local_a: found.p_a,
        local_b: ctx.pose_ba * found.p_b,
        normal: found.n,
        uv: [found.place_a.uv, found.place_b.uv],
        ..*known
    };
    out.curvatures = newton::gap_curvatures([ctx.a, ctx.b], &ctx.pose_ab, &out);
    Some(out)
}

/// A feature of a body.
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
