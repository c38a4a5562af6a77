//! Contact history of one shape with one wall: identities of contacts that persist from step to step.
//!
//! # Source
//! WALL, "Continuity of Contact-State Information" (Figure 9): state is handed over if the facets' normals
//! differ by at most Θ and there is no hole between the facets. The links of the associative logic
//! represent the path.
//!
//! # Deviations
//! - Instead of copying state, the contact keeps its identity, and with it the shear state of its law.
//! - If a step is longer than the reach of the overlap, the facet that was active is no longer linked, and
//!   WALL drops its state. Here the path is then searched as WALL defines it: from facet to neighbour,
//!   where each facet intersects the plane through both wall contact points along the mean normal, is
//!   turned by at most Θ, and is no farther from the midpoint of the two points than these are apart.
//! - A contact takes over the state of one other contact only, the one with the fewest links between, as in
//!   WALL's description of Figure 6. In proximity mode the states of several contacts that become one are
//!   added.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::closest::FacetRegion;
use super::mesh::{Mesh, id};
use super::overlap::{FacetShape, LocalGrain, LocalSphere};
use super::resolve::{ANGLE_ROUNDING, ActiveContact, FacetRole, ResolvedContacts};
use super::wall::{FacetWall, Resolution};
use crate::contact::WallContact;
use feeler_geom::{P3, V3};
use feeler_grains::convex::Placed;
use serde::{Deserialize, Serialize};

/// Contact of a sphere or a grain with a wall of facets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacetContact {
    /// The contact (world). Its identity persists as long as the contact does. A contact ends when the
    /// shape moves to another facet in reduced mode; it moves from facet to facet in the other modes.
    pub contact: WallContact,
    /// Number of the facet; for a proximity contact, the number of the facet with the largest overlap.
    pub facet: u32,
    /// Part of the facet that the contact point is on; the interior for a proximity contact.
    pub region: FacetRegion,
}

/// A facet that a sphere overlaps, with the role of its contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverlappedFacet {
    /// Number of the facet.
    pub facet: u32,
    /// Point of the facet nearest to the sphere's centre (world).
    pub point: P3,
    /// Unit normal from `point` to the sphere's centre (world).
    pub normal: V3,
    /// Overlap (mm): the sphere's radius minus the distance of its centre from `point`.
    pub overlap: f64,
    /// Part of the facet that the point is on.
    pub region: FacetRegion,
    /// Role of the contact of the sphere with this facet.
    pub role: FacetRole,
}

/// An active contact of the previous step (wall's coordinates).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct KnownContact {
    id: u64,
    facet: u32,
    point: P3,
    normal: V3,
    /// Half-open range of the contact's facets in [`FacetRecord::members`].
    members: (u32, u32),
}

/// Contact history of one sphere or grain with one wall, with scratch buffers.
#[derive(Clone, Debug, Default)]
pub struct FacetHistory {
    persistent: FacetRecord,
    contacts: Vec<FacetContact>,
    merged: Vec<(u64, u64)>,
    /// Numbers of the facets near the shape, which include all that it can overlap.
    near: Vec<u32>,
    /// Centre of a sphere (wall's coordinates), its radius (mm), and the wall's version. `near` lists
    /// all facets of that version whose boxes intersect the sphere. `None` without a list.
    near_at: Option<(P3, f64, u64)>,
    /// Number of times that [`LIST_MARGIN`] is currently halved for this shape.
    halvings: u32,
    resolved: ResolvedContacts,
    claimed: Vec<bool>,
    visited: Vec<u32>,
}

/// The part of a history that persists from step to step, and that a saved state stores.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FacetRecord {
    /// Identity that the next new contact gets.
    next: u64,
    known: Vec<KnownContact>,
    /// Numbers of the facets of the contacts in `known`, one contact after the other.
    members: Vec<u32>,
}

/// Placeholder for the identity of a contact that has not received one yet.
const NO_ID: u64 = u64::MAX;

impl FacetHistory {
    /// Ends all contacts, but keeps buffers.
    pub(crate) fn clear(&mut self) {
        self.persistent.next = 0;
        self.persistent.known.clear();
        self.persistent.members.clear();
        self.contacts.clear();
        self.merged.clear();
        (self.near_at, self.halvings) = (None, 0);
    }

    /// Contacts of the last step, by decreasing overlap.
    #[must_use]
    pub fn contacts(&self) -> &[FacetContact] {
        &self.contacts
    }

    /// Contacts that became part of another contact in the last step, as pairs of identities. The shear
    /// state of the first identity has to be added to that of the second.
    #[must_use]
    pub fn merged(&self) -> &[(u64, u64)] {
        &self.merged
    }

    /// Returns the record for a saved state; `None` if there have been no contacts yet.
    pub(crate) fn record(&self) -> Option<FacetRecord> {
        let record = &self.persistent;
        let is_new = record.next == 0 && record.known.is_empty() && record.members.is_empty();
        (!is_new).then(|| record.clone())
    }

    /// Restores the history from a record, for a wall with `facets` facets. `None` if the record is not
    /// consistent or has numbers of facets that the wall does not have.
    pub(crate) fn restored(record: FacetRecord, facets: usize) -> Option<Self> {
        let is_facet = |k: &u32| (*k as usize) < facets;
        let is_valid = |c: &KnownContact| {
            let (from, to) = (c.members.0 as usize, c.members.1 as usize);
            is_facet(&c.facet)
                && from <= to
                && to <= record.members.len()
                && c.point.iter().chain(c.normal.iter()).all(|x| x.is_finite())
        };
        let is_consistent = record.next < NO_ID / 2
            && record.members.iter().all(is_facet)
            && record.known.iter().all(is_valid);
        is_consistent.then(|| Self { persistent: record, ..Self::default() })
    }
}

impl FacetWall {
    /// Computes the contacts of a sphere (world, mm) with this wall, by decreasing overlap. `history`
    /// belongs to this sphere and this wall, and has the contacts of the previous step.
    pub fn contacts<'h>(
        &self,
        history: &'h mut FacetHistory,
        center: &P3,
        radius: f64,
    ) -> &'h [FacetContact] {
        let center = self.pose().inverse_transform_point(center);
        self.contacts_of(history, &LocalSphere { center, radius })
    }

    /// Computes the contacts of a grain (world). The overlap with a facet is, as with a sphere, the
    /// smallest displacement that separates the two and keeps the grain's origin on its side of the
    /// facet. `radius` (mm) is that of a sphere about the grain's origin that contains the grain.
    /// `history` belongs to this grain and this wall, and has the contacts of the previous step.
    pub fn grain_contacts<'h>(
        &self,
        history: &'h mut FacetHistory,
        grain: &Placed<'_>,
        radius: f64,
    ) -> &'h [FacetContact] {
        let placed = grain.moved(&self.pose().inverse());
        self.contacts_of(history, &LocalGrain { placed, center: placed.origin(), radius })
    }

    fn contacts_of<'h>(&self, history: &'h mut FacetHistory, shape: &impl FacetShape) -> &'h [FacetContact] {
        self.list_near(history, shape.center(), shape.radius());
        let FacetHistory { persistent, resolved, near, .. } = history;
        resolved.resolve(self, near, &persistent.members, shape);
        self.identify(history);
        let pose = self.pose();
        history.contacts.clear();
        for (active, known) in history.resolved.active.iter().zip(&history.persistent.known) {
            let contact = WallContact {
                id: known.id,
                point: pose * active.point,
                normal: pose.rotation * active.normal,
                gap: -active.depth,
                curvatures: self.curvatures(active),
            };
            history.contacts.push(FacetContact { contact, facet: active.facet, region: active.region });
        }
        &history.contacts
    }

    /// Lists all facets that a sphere (world, mm) overlaps, by decreasing overlap, with their roles. The
    /// roles explain the result of [`FacetWall::contacts`].
    #[must_use]
    pub fn resolve(&self, center: &P3, radius: f64) -> Vec<OverlappedFacet> {
        let x = self.pose().inverse_transform_point(center);
        let (mut near, mut resolved) = (Vec::new(), ResolvedContacts::default());
        self.tree.near(&self.mesh, &x, radius, &mut near);
        resolved.resolve(self, &near, &[], &LocalSphere { center: x, radius });
        let overlaps = resolved.order.iter().map(|k| &resolved.overlaps[*k as usize]);
        overlaps
            .map(|o| OverlappedFacet {
                facet: o.facet,
                point: self.pose() * o.closest.point,
                normal: self.pose().rotation * o.normal,
                overlap: o.depth,
                region: o.closest.region,
                role: o.role,
            })
            .collect()
    }

    /// Updates `history.near`, the list of the facets near a shape with the centre `x` (wall's
    /// coordinates) and the radius `radius` (mm). The list of the previous step is kept if it is still
    /// complete.
    fn list_near(&self, history: &mut FacetHistory, x: &P3, radius: f64) {
        #[cfg(test)]
        if self.search_all {
            history.near.clear();
            history.near.extend(0..id(self.facets()));
            return;
        }
        let is_complete = history
            .near_at
            .is_some_and(|(at, reach, version)| version == self.version && radius + (x - at).norm() <= reach);
        if !is_complete {
            let reach = radius * (1.0 + LIST_MARGIN / f64::from(1_u32 << history.halvings));
            self.tree.near(&self.mesh, x, reach, &mut history.near);
            // With small facets a long list costs more than a search of the tree in each step.
            let needed = history.resolved.overlaps.len();
            if history.near.len() > LONG_LIST + 2 * needed {
                history.halvings = (history.halvings + 1).min(MAX_HALVINGS);
            } else if history.near.len() < LONG_LIST / 2 + needed {
                history.halvings = history.halvings.saturating_sub(1);
            }
            history.near_at = Some((*x, reach * (1.0 - DISTANCE_ROUNDING), self.version));
        }
    }

    /// Assigns identities to the active contacts in `history.resolved` and replaces the contacts of the
    /// previous step by them. Each gets the identity of the previous contact that it continues, or a new
    /// one.
    fn identify(&self, history: &mut FacetHistory) {
        let FacetHistory { persistent, resolved, merged, claimed, visited, .. } = history;
        let FacetRecord { next, known, members } = persistent;
        merged.clear();
        claimed.clear();
        claimed.resize(known.len(), false);
        // `known` keeps the contacts of the previous step in front of the new ones.
        let (n_old, n_old_members) = (known.len(), members.len());
        for active in &resolved.active {
            let from = id(members.len());
            let (a, b) = (active.members.0 as usize, active.members.1 as usize);
            members.extend_from_slice(&resolved.members[a..b]);
            let members_of = (from, id(members.len()));
            let (facet, point, normal) = (active.facet, active.point, active.normal);
            known.push(KnownContact { id: NO_ID, facet, point, normal, members: members_of });
        }
        let shares = |a: &KnownContact, b: &KnownContact, members: &[u32]| {
            let b = &members[b.members.0 as usize..b.members.1 as usize];
            members[a.members.0 as usize..a.members.1 as usize].iter().any(|f| b.contains(f))
        };
        for new in n_old..known.len() {
            for old in 0..n_old {
                if !claimed[old] && shares(&known[new], &known[old], members) {
                    claimed[old] = true;
                    join(known, merged, old, new);
                }
            }
        }
        if let Some(cutoff) = self.resolution.cutoff() {
            let adds = matches!(self.resolution, Resolution::Proximity { .. });
            loop {
                // Contacts with the fewest links between them are joined first, then those with larger
                // overlap.
                let mut best: Option<(u32, usize, usize)> = None;
                for old in 0..n_old {
                    if claimed[old] {
                        continue;
                    }
                    let from = known[old];
                    let found = if let Some(at) = resolved.position_of(from.facet) {
                        let chain = self.follow(resolved, at, from.facet, cutoff);
                        chain.and_then(|(steps, facet)| Some((steps, holder(known, n_old, members, facet)?)))
                    } else {
                        (n_old..known.len())
                            .filter(|new| adds || known[*new].id == NO_ID)
                            .find(|new| is_connected(&self.mesh, &from, &known[*new], cutoff, visited))
                            .map(|new| (u32::MAX, new))
                    };
                    let Some((steps, new)) = found else { continue };
                    let may = adds || known[new].id == NO_ID;
                    if may && best.is_none_or(|b| steps < b.0) {
                        best = Some((steps, old, new));
                    }
                }
                let Some((_, old, new)) = best else { break };
                claimed[old] = true;
                join(known, merged, old, new);
            }
        }
        known.drain(..n_old);
        members.drain(..n_old_members);
        let shift = id(n_old_members);
        for contact in known {
            contact.members = (contact.members.0 - shift, contact.members.1 - shift);
            if contact.id == NO_ID {
                contact.id = *next;
                *next += 1;
            }
        }
    }

    /// Follows the links of `resolved` from the contact at position `at` of its overlaps to an active
    /// contact or a member of one. The contact at `at` is that of the facet `from`, which was active in
    /// the previous step. Returns the number of links and the facet of the contact at the end. `None` if
    /// the normal of a facet on the way differs by more than `cutoff` (rad) from that of `from`, or if a
    /// contact on the way is hidden.
    fn follow(&self, resolved: &ResolvedContacts, at: usize, from: u32, cutoff: f64) -> Option<(u32, u32)> {
        let (mut at, mut steps) = (at, 0);
        loop {
            let overlap = &resolved.overlaps[at];
            if self.mesh.angle(from, overlap.facet) > cutoff + ANGLE_ROUNDING {
                return None;
            }
            match overlap.role {
                FacetRole::Active | FacetRole::Member(_) => return Some((steps, overlap.facet)),
                FacetRole::Hidden => return None,
                FacetRole::Linked(_) => at = resolved.link(at)?,
            }
            steps += 1;
        }
    }

    /// Principal curvatures (1/mm) of the wall at a contact's point: infinite across an edge and at a
    /// vertex, else 0. They are 0 at an edge or a vertex, too, if the contact's normal is that of the
    /// facet.
    fn curvatures(&self, active: &ActiveContact) -> [f64; 2] {
        let n = &self.mesh.normals[active.facet as usize];
        let is_flat = active.normal.cross(n).norm() <= FLAT_ANGLE;
        match active.region {
            FacetRegion::Edge(_) if !is_flat => [f64::INFINITY, 0.0],
            FacetRegion::Vertex(_) if !is_flat => [f64::INFINITY, f64::INFINITY],
            _ => [0.0, 0.0],
        }
    }
}

/// Position in `known` of the contact of this step that a facet belongs to; `None` without such a
/// contact. Contacts of this step begin at position `n_old`, and `members` lists the facets of all
/// contacts.
fn holder(known: &[KnownContact], n_old: usize, members: &[u32], facet: u32) -> Option<usize> {
    (n_old..known.len()).find(|k| {
        let (from, to) = known[*k].members;
        members[from as usize..to as usize].contains(&facet)
    })
}

/// Assigns the identity of the contact `old` of the previous step to the contact `new` of this step. If
/// `new` has an identity already, the smaller one of both is kept, and the pair is added to `merged`.
fn join(known: &mut [KnownContact], merged: &mut Vec<(u64, u64)>, old: usize, new: usize) {
    let (old_id, new_id) = (known[old].id, known[new].id);
    if new_id == NO_ID {
        known[new].id = old_id;
        return;
    }
    // The older identity remains.
    let (kept, dropped) = (old_id.min(new_id), old_id.max(new_id));
    for (_, to) in merged.iter_mut().filter(|(_, to)| *to == dropped) {
        *to = kept;
    }
    merged.push((dropped, kept));
    known[new].id = kept;
}

/// Whether a path of adjacent facets leads from the contact `from` of the previous step to the contact
/// `to` of this step, as WALL defines it (see the top of this file). The normals of all facets of the
/// path differ by at most `cutoff` (rad) from that of the first. `visited` is a scratch buffer.
fn is_connected(
    mesh: &Mesh,
    from: &KnownContact,
    to: &KnownContact,
    cutoff: f64,
    visited: &mut Vec<u32>,
) -> bool {
    let is_within = |facet: u32| mesh.angle(from.facet, facet) <= cutoff + ANGLE_ROUNDING;
    if !is_within(to.facet) {
        return false;
    }
    if mesh.are_adjacent(from.facet, to.facet) {
        return true;
    }
    let path = to.point - from.point;
    let across = path.cross(&(from.normal + to.normal));
    let length = path.norm();
    // Points that coincide, or differ along the normal, define no plane.
    if !(across.norm() > ANGLE_ROUNDING * length) {
        return false;
    }
    let across = across.normalize();
    let middle = nalgebra::center(&from.point, &to.point);
    visited.clear();
    visited.push(from.facet);
    let mut next = 0;
    while next < visited.len() {
        let facet = visited[next];
        next += 1;
        for vertex in mesh.facets[facet as usize] {
            for neighbour in mesh.at_vertex(vertex) {
                if visited.contains(neighbour)
                    || !is_within(*neighbour)
                    || !mesh.intersects_plane(*neighbour, &from.point, &across)
                    || mesh.closest(*neighbour, &middle).distance > length
                {
                    continue;
                }
                if *neighbour == to.facet {
                    return true;
                }
                visited.push(*neighbour);
            }
        }
    }
    false
}

/// Distance beyond a shape's bounding sphere up to which facets are listed, as a multiple of the
/// sphere's radius. The list is complete until the shape has moved by this distance. With a larger value
/// lists are longer; with a smaller one the tree is searched more often.
const LIST_MARGIN: f64 = 0.25;

/// Number of listed facets, beyond twice the number of those that the shape overlaps, above which
/// [`LIST_MARGIN`] is halved for the next list. With a larger value each step checks more facets; with a
/// smaller one the tree is searched more often.
const LONG_LIST: usize = 48;

/// Maximum number of times that [`LIST_MARGIN`] is halved. It is then a thousandth of its value.
const MAX_HALVINGS: u32 = 10;

/// Relative amount by which the radius of a list is reduced because of the rounding of distances. It
/// exceeds the rounding of the tree's distances by far, and no list becomes noticeably shorter by it.
const DISTANCE_ROUNDING: f64 = 1e-12;

/// Maximum angle (rad) between the normal of a contact on an edge and that of its facet at which the
/// wall counts as flat there. With a larger value the edges of fine meshes count as flat; with a smaller
/// one coplanar edges count as sharp.
const FLAT_ANGLE: f64 = 1e-6;
