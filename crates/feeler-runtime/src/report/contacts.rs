//! Contact regions of touching solids, and conformal sets: features, kind and size of each.

use super::context;
use super::region::common_area;
use super::stretch::{common_line, common_stretch};
use crate::api::contact::{Contact, ContactKind, FeatureKind};
use crate::api::error::QueryError;
use crate::api::options::QueryOptions;
use crate::api::verdict::{ConformalSet, ContactRegion, RegionKind, Status};
use crate::pair::ContactPair;
use crate::query::Context;
use feeler_geom::{P3, Pose, Surface};
use feeler_hierarchy::FaceId;

impl ContactPair {
    /// Computes the contact regions of two touching solids, sorted by features. There is one region for
    /// each pair of features that touch along an area or a line, connected or not, and one for each
    /// isolated point. Empty unless the status at these poses is [`Status::Touching`].
    ///
    /// Features touch if their distance is at most the tolerance
    /// ([`Tolerances::tol`](crate::Tolerances::tol)). Areas (mm²) and lengths (mm) are integrated, which
    /// takes longer than a query. The results of the last query of this pair do not change; they are used
    /// if that query was at these poses with these options. Otherwise the pair is queried again, and
    /// proofs of its earlier queries are reused.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    ///
    /// # Source
    /// MATH §15.
    pub fn contact_regions(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Vec<ContactRegion>, QueryError> {
        let Some(ctx) = context(self, (pose_a, pose_b), options)? else { return Ok(Vec::new()) };
        Ok(self.touching(&ctx, [pose_a, pose_b], options)?.regions(&ctx))
    }

    /// Contacts at distances up to the tolerance at the given poses; empty unless the solids touch.
    fn touching(
        &self,
        ctx: &Context<'_>,
        [pose_a, pose_b]: [&Pose; 2],
        options: &QueryOptions,
    ) -> Result<Touching, QueryError> {
        let tol = ctx.tol.tol;
        if self.has_contacts_at([pose_a, pose_b], options, tol) {
            let is_touching = self.status() == Some(Status::Touching);
            return Ok(Touching::new(self.contacts().iter().filter(|l| is_touching && l.distance <= tol)));
        }
        let options = QueryOptions {
            d_max: tol,
            quasi_angle: 0.0,
            penetration: 0.0,
            certified: false,
            conformal_spacing: None,
            detect_interference: true,
            ..*options
        };
        let mut pair = self.with_data_of_verdicts();
        pair.query(pose_a, pose_b, &options)?;
        let is_touching = pair.status() == Some(Status::Touching);
        Ok(Touching::new(pair.contacts().iter().filter(|_| is_touching)))
    }
}

/// Contacts of touching solids, sorted by features.
struct Touching {
    contacts: Vec<Contact>,
}

/// Features of A and B: kinds and indices.
fn features(l: &Contact) -> (FeatureKind, u32, FeatureKind, u32) {
    (l.feature_a.kind, l.feature_a.index, l.feature_b.kind, l.feature_b.index)
}

impl Touching {
    fn new<'a>(contacts: impl Iterator<Item = &'a Contact>) -> Self {
        let mut contacts: Vec<Contact> = contacts.filter(|l| l.kind != ContactKind::Quasi).copied().collect();
        contacts.sort_by_key(features);
        Self { contacts }
    }

    /// Region of each pair of features with a conformal set, and of each other contact.
    fn regions(&self, ctx: &Context<'_>) -> Vec<ContactRegion> {
        let mut out = Vec::new();
        for group in self.contacts.chunk_by(|l, m| features(l) == features(m)) {
            let (sets, points): (Vec<&Contact>, Vec<&Contact>) =
                group.iter().partition(|l| l.kind == ContactKind::Conformal);
            out.extend(sets.first().map(|_| region_of_set(ctx, &sets)));
            out.extend(points.into_iter().map(region_of_point));
        }
        out
    }

    /// Whether the conformal contacts of the features of `samples`, which are not empty, are these samples.
    fn has_set(&self, samples: &[&Contact]) -> bool {
        let of_set = |l: &&Contact| l.kind == ContactKind::Conformal && features(l) == features(samples[0]);
        let set = self.contacts.iter().filter(of_set);
        set.map(|l| (l.local_a, l.local_b)).eq(samples.iter().map(|l| (l.local_a, l.local_b)))
    }
}

impl ContactPair {
    /// Computes the conformal sets of the last query, sorted by features and distance. There is one set
    /// for each pair of features and each distance at which this pair has samples. The last query must
    /// have been at these poses with these options, because its [`ContactPair::contacts`] contain the
    /// samples of the sets. Areas (mm²) and lengths (mm) are integrated, which takes longer than a query.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    ///
    /// # Source
    /// MATH §15.
    pub fn conformal_sets(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<Vec<ConformalSet>, QueryError> {
        let Some(ctx) = context(self, (pose_a, pose_b), options)? else { return Ok(Vec::new()) };
        Ok(self.sets(&ctx, &|samples| region_of_set(&ctx, samples)))
    }

    /// Computes [`ContactPair::contact_regions`] and [`ContactPair::conformal_sets`] together, which takes
    /// half as long if the solids touch along areas: the region of a set in contact is integrated once.
    ///
    /// # Errors
    /// Errors of [`ContactPair::query`].
    pub fn regions_and_sets(
        &self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
    ) -> Result<(Vec<ContactRegion>, Vec<ConformalSet>), QueryError> {
        let Some(ctx) = context(self, (pose_a, pose_b), options)? else {
            return Ok((Vec::new(), Vec::new()));
        };
        let touching = self.touching(&ctx, [pose_a, pose_b], options)?;
        let regions = touching.regions(&ctx);
        let region = |samples: &[&Contact]| {
            let of_set = |region: &&ContactRegion| {
                region.kind != RegionKind::Point
                    && (region.feature_a.kind, region.feature_a.index)
                        == (samples[0].feature_a.kind, samples[0].feature_a.index)
                    && (region.feature_b.kind, region.feature_b.index)
                        == (samples[0].feature_b.kind, samples[0].feature_b.index)
            };
            let known = regions.iter().find(of_set).filter(|_| touching.has_set(samples));
            known.copied().unwrap_or_else(|| region_of_set(&ctx, samples))
        };
        let sets = self.sets(&ctx, &region);
        Ok((regions, sets))
    }

    /// Conformal sets of the last query; `region` returns the region of a set with the given samples.
    fn sets(&self, ctx: &Context<'_>, region: &dyn Fn(&[&Contact]) -> ContactRegion) -> Vec<ConformalSet> {
        let contacts = self.contacts();
        let key = |k: usize| features(&contacts[k]);
        let mut samples: Vec<usize> =
            (0..contacts.len()).filter(|&k| contacts[k].kind == ContactKind::Conformal).collect();
        samples.sort_by(|&i, &j| {
            key(i).cmp(&key(j)).then(contacts[i].distance.total_cmp(&contacts[j].distance))
        });
        // One pair of features can have sets at several distances, for example a ball between the flanks
        // of a groove.
        let is_same_set = |i: &usize, j: &usize| {
            key(*i) == key(*j)
                && (contacts[*i].distance - contacts[*j].distance).abs() <= SAME_SET_DISTANCE * ctx.tol.same
        };
        let set = |group: &[usize]| {
            let of: Vec<&Contact> = group.iter().map(|&k| &contacts[k]).collect();
            let far = |l: &Contact, m: &Contact| (l.local_a - m.local_a).norm();
            let all = of.iter().flat_map(|l| of.iter().map(move |m| far(l, m)));
            ConformalSet {
                contact: region(&of),
                distance: of[0].distance,
                extent: all.fold(0.0, f64::max),
                samples: group.to_vec(),
            }
        };
        samples.chunk_by(is_same_set).map(set).collect()
    }
}

/// Largest difference between the distances of two samples of one pair of features that are consecutive
/// in the order of distance and belong to one set, as a multiple of `Tolerances::same`. A larger value
/// merges two sets, a smaller one splits a set.
const SAME_SET_DISTANCE: f64 = 10.0;

fn region_of_point(l: &Contact) -> ContactRegion {
    ContactRegion {
        kind: RegionKind::Point,
        feature_a: l.feature_a,
        feature_b: l.feature_b,
        point: l.point_a,
        area: None,
        length: None,
        error: None,
    }
}

/// Contact region of a conformal set with the given samples, which belong to one pair of features.
fn region_of_set(ctx: &Context<'_>, samples: &[&Contact]) -> ContactRegion {
    let first = samples[0];
    let (a, b) = (&first.feature_a, &first.feature_b);
    let mut contact = region_of_point(first);
    // Contacts of pressed solids are measured at distance 0.
    let distance = first.distance.max(0.0);
    let points: Vec<P3> = samples.iter().map(|l| l.local_a).collect();
    match (a.kind, b.kind) {
        (FeatureKind::Face, FeatureKind::Face) => {
            let faces = [a.index, b.index].map(FaceId);
            if let Some((area, error)) = common_area(ctx, faces, &points[0], distance) {
                contact.kind = kind_of(&ctx.a.face(faces[0]).surface, &ctx.b.face(faces[1]).surface);
                (contact.area, contact.error) = (Some(area), Some(error));
            } else {
                contact.kind = RegionKind::Line;
                if let Some((length, error)) = common_line(ctx, faces, &points, distance) {
                    (contact.length, contact.error) = (Some(length), Some(error));
                }
            }
        }
        (FeatureKind::Vertex, _) | (_, FeatureKind::Vertex) => {}
        _ => {
            contact.kind = RegionKind::Line;
            let (length, error) = common_stretch(ctx, a, b, distance);
            (contact.length, contact.error) = (Some(length), Some(error));
        }
    }
    contact
}

/// Kind of the contact region of two faces with a common area.
fn kind_of(a: &Surface, b: &Surface) -> RegionKind {
    match (a, b) {
        (Surface::Bezier(_), _) | (_, Surface::Bezier(_)) => RegionKind::FreeForm,
        (Surface::Plane { .. }, _) => RegionKind::Plane,
        (Surface::Cylinder { .. }, _) => RegionKind::Cylinder,
        (Surface::Cone { .. }, _) => RegionKind::Cone,
        (Surface::Sphere { .. }, _) => RegionKind::Sphere,
        (Surface::Torus { .. }, _) => RegionKind::Torus,
    }
}
