//! Resolution of the contacts of one shape with many facets: links, hidden facets, proximity contacts.
//!
//! # Source
//! WALL, "Faceted Wall Contact Resolution": contacts by decreasing overlap, linked if a wall contact
//! point is on an edge or a vertex that the facet shares with another overlapped facet (Figures 4 to 7);
//! facets hidden by other facets (Figure 8); proximity contacts.
//!
//! # Deviations
//! - If one of two linked contacts has its point off the shared part, it has the larger overlap, because the
//!   shared part belongs to its facet, too. The link itself therefore decides which contact is active. A
//!   comparison of the overlaps would leave the decision to rounding if a sphere is within 1e-8 of its radius
//!   above an edge.
//! - Linked *pairs* are compared, not connected sets: a contact stays active unless a contact linked to it
//!   has a larger overlap. With sets, one facet at a concave edge could link the floor and the wall, and
//!   one of the two contacts would disappear depending on the triangulation.
//! - Points on a shared edge up to rounding are linked, too, and equal points are one: a flat wall whose
//!   facets are coplanar up to rounding has one contact, also exactly above an edge.
//! - All overlapped facets can hide a contact, not only those with active contacts, for the same reason.
//! - A proximity contact is computed anew in each step, so that its force depends on the position of the
//!   sphere alone, not on its path. Contacts whose normals cancel are not combined.

use super::closest::{Closest, FacetRegion};
use super::mesh::{NONE, id};
use super::overlap::FacetShape;
use super::wall::{FacetWall, Resolution};
use feeler_geom::{P3, V3};

/// Role of the contact with one facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetRole {
    /// The contact exerts a force.
    Active,
    /// The contact is linked to the contact with the facet of this number, which acts instead or is
    /// itself linked.
    Linked(u32),
    /// The contact exerts no force, because another overlapped facet is between the contact point and
    /// the centre of the shape.
    Hidden,
    /// The contact is part of a proximity contact, which has the number of this facet.
    Member(u32),
}

/// Contact with one overlapped facet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overlap {
    pub(super) facet: u32,
    pub(super) closest: Closest,
    pub(super) normal: V3,
    /// Overlap (mm).
    pub(super) depth: f64,
    pub(super) role: FacetRole,
    /// Position in [`ResolvedContacts::overlaps`] of the contact that this one is linked to, or `NONE`.
    link: u32,
}

/// A contact that acts: with one facet, or a proximity contact with several (wall's coordinates).
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveContact {
    pub(super) facet: u32,
    pub(super) point: P3,
    pub(super) normal: V3,
    /// Overlap (mm).
    pub(super) depth: f64,
    pub(super) region: FacetRegion,
    /// Half-open range of the contact's facets in [`ResolvedContacts::members`].
    pub(super) members: (u32, u32),
}

/// Result of the resolution, with scratch buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct ResolvedContacts {
    /// Contacts with all overlapped facets whose side is active, by increasing number of the facet.
    pub(super) overlaps: Vec<Overlap>,
    /// Positions in `overlaps` by decreasing overlap.
    pub(super) order: Vec<u32>,
    /// Contacts that act, by decreasing overlap.
    pub(super) active: Vec<ActiveContact>,
    /// Numbers of the facets of the active contacts, one contact after the other.
    pub(super) members: Vec<u32>,
    links: Vec<(u32, u32)>,
    group: Vec<u32>,
    queue: Vec<u32>,
}

impl ResolvedContacts {
    /// Position in `overlaps` of the contact with a facet; `None` if the facet is not overlapped.
    pub(super) fn position_of(&self, facet: u32) -> Option<usize> {
        self.overlaps.binary_search_by_key(&facet, |t| t.facet).ok()
    }

    /// Position in `overlaps` of the contact that the contact at position `at` is linked to; `None` if
    /// it is not linked.
    pub(super) fn link(&self, at: usize) -> Option<usize> {
        let link = self.overlaps[at].link;
        (link != NONE).then_some(link as usize)
    }

    /// Computes all results for a shape (wall's coordinates). `facets` are the numbers of facets,
    /// sorted, which include all that the shape overlaps; `previous` are the facets that were active in
    /// the previous step.
    pub(super) fn resolve(
        &mut self,
        wall: &FacetWall,
        facets: &[u32],
        previous: &[u32],
        shape: &impl FacetShape,
    ) {
        self.overlaps.clear();
        for facet in facets {
            let Some((closest, depth)) = shape.overlap(&wall.mesh, *facet) else { continue };
            if wall.is_active(*facet, closest.signed) {
                let normal = closest.normal.unwrap_or_else(|| {
                    let n = wall.mesh.normals[*facet as usize];
                    if wall.is_active(*facet, 1.0) { n } else { -n }
                });
                self.overlaps.push(Overlap {
                    facet: *facet,
                    closest,
                    normal,
                    depth,
                    role: FacetRole::Active,
                    link: NONE,
                });
            }
        }
        self.order.clear();
        self.order.extend(0..id(self.overlaps.len()));
        let overlaps = &self.overlaps;
        self.order.sort_unstable_by(|a, b| {
            let (a, b) = (&overlaps[*a as usize], &overlaps[*b as usize]);
            b.depth.total_cmp(&a.depth).then(a.facet.cmp(&b.facet))
        });
        self.link_up(wall, previous);
        if wall.resolution != Resolution::Reduced {
            self.hide(wall, shape.center());
        }
        self.gather(wall, shape);
    }

    /// Links each contact whose point is on an edge or a vertex to a contact of another facet there that
    /// acts instead of it, mostly the one with the larger overlap (see the top of this file). Linked
    /// contacts get the role [`FacetRole::Linked`].
    fn link_up(&mut self, wall: &FacetWall, previous: &[u32]) {
        self.links.clear();
        for at in 0..self.overlaps.len() {
            let overlap = &self.overlaps[at];
            let sharing = match overlap.closest.linked {
                FacetRegion::Face => continue,
                FacetRegion::Edge(edge) => wall.mesh.at_edge(edge),
                FacetRegion::Vertex(vertex) => wall.mesh.at_vertex(vertex),
            };
            for facet in sharing.iter().filter(|f| **f != overlap.facet) {
                if let Some(other) = self.position_of(*facet) {
                    self.links.push((id(at), id(other)));
                }
            }
        }
        self.links.sort_unstable();
        for k in 0..self.links.len() {
            let (a, b) = self.links[k];
            let is_mutual = self.links.binary_search(&(b, a)).is_ok();
            if is_mutual && b < a {
                continue;
            }
            let [u, v] = [a, b].map(|at| &self.overlaps[at as usize]);
            let same_point = u.closest.same_point.max(v.closest.same_point);
            let rank = |t: &Overlap| match t.closest.region {
                FacetRegion::Face => 0,
                FacetRegion::Edge(_) => 1,
                FacetRegion::Vertex(_) => 2,
            };
            let first_acts = if (u.closest.point - v.closest.point).norm() <= same_point {
                // An active contact remains active (Figure 5).
                let key = |t: &Overlap| (rank(t), !previous.contains(&t.facet), t.facet);
                key(u) < key(v)
            } else if is_mutual {
                v.depth.total_cmp(&u.depth).then(u.facet.cmp(&v.facet)).is_le()
            } else {
                false
            };
            let (acts, yields) = if first_acts { (a, b) } else { (b, a) };
            self.point_to(yields, acts);
        }
        // Rounding could create a cycle of links, in which no contact would act.
        for k in 0..self.overlaps.len() {
            let mut at = k;
            for _ in 0..self.overlaps.len() {
                match self.link(at) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            if self.link(at).is_some() {
                let (mut best, mut here) = (at, at);
                while let Some(next) = self.link(here).filter(|n| *n != at) {
                    here = next;
                    if self.overlaps[here].depth > self.overlaps[best].depth {
                        best = here;
                    }
                }
                self.overlaps[best].link = NONE;
            }
        }
        for at in 0..self.overlaps.len() {
            if let Some(next) = self.link(at) {
                self.overlaps[at].role = FacetRole::Linked(self.overlaps[next].facet);
            }
        }
    }

    /// Links the contact at position `yields` to the one at `acts`, which acts instead. If it is linked
    /// already, the link to the contact with the larger overlap is kept.
    fn point_to(&mut self, yields: u32, acts: u32) {
        let known = self.overlaps[yields as usize].link;
        let overlap = |at: u32| self.overlaps[at as usize].depth;
        let is_better =
            known == NONE || overlap(acts).total_cmp(&overlap(known)).then(known.cmp(&acts)).is_gt();
        if is_better {
            self.overlaps[yields as usize].link = acts;
        }
    }

    /// Sets the role of active contacts to [`FacetRole::Hidden`] if a facet with a larger overlap is
    /// between the contact point and the centre `x` of the shape (Figure 8).
    fn hide(&mut self, wall: &FacetWall, x: &P3) {
        for k in 1..self.order.len() {
            let at = self.order[k] as usize;
            let overlap = self.overlaps[at];
            if overlap.role != FacetRole::Active {
                continue;
            }
            let is_hidden = self.order[..k].iter().any(|other| {
                let other = &self.overlaps[*other as usize];
                wall.mesh.is_crossed(other.facet, x, &overlap.closest.point)
            });
            if is_hidden {
                self.overlaps[at].role = FacetRole::Hidden;
            }
        }
    }

    /// Writes the active contacts and their facets to `active` and `members`. Proximity mode combines
    /// the contacts of facets with similar normals.
    fn gather(&mut self, wall: &FacetWall, shape: &impl FacetShape) {
        self.active.clear();
        self.members.clear();
        self.group.clear();
        self.group.resize(self.overlaps.len(), NONE);
        for k in 0..self.order.len() {
            let at = self.order[k] as usize;
            if self.overlaps[at].role != FacetRole::Active || self.group[at] != NONE {
                continue;
            }
            let from = id(self.members.len());
            if let Resolution::Proximity { cutoff } = wall.resolution
                && self.collect(wall, at, cutoff)
            {
                self.combine(at, from, shape);
                continue;
            }
            self.group[at] = id(at);
            let overlap = &self.overlaps[at];
            self.members.push(overlap.facet);
            self.active.push(ActiveContact {
                facet: overlap.facet,
                point: overlap.closest.point,
                normal: overlap.normal,
                depth: overlap.depth,
                region: overlap.closest.region,
                members: (from, from + 1),
            });
        }
    }

    /// Collects in `queue` the contacts that belong to the proximity contact of the active contact at
    /// position `at` of `overlaps`: other active ones, and overlapped facets beside them, whose normals
    /// differ by at most `cutoff` (rad) from that of a contact in the queue. Returns `false` if no other
    /// active contact belongs to it, or if the normals cancel.
    fn collect(&mut self, wall: &FacetWall, at: usize, cutoff: f64) -> bool {
        self.queue.clear();
        self.queue.push(id(at));
        let is_close = |queue: &[u32], overlaps: &[Overlap], other: usize| {
            queue.iter().any(|m| {
                wall.mesh.angle(overlaps[*m as usize].facet, overlaps[other].facet) <= cutoff + ANGLE_ROUNDING
            })
        };
        // Active contacts come first: nothing is combined without a second one.
        let mut done = false;
        while !done {
            done = true;
            for k in 0..self.order.len() {
                let other = self.order[k] as usize;
                let is_free = self.overlaps[other].role == FacetRole::Active
                    && self.group[other] == NONE
                    && !self.queue.contains(&id(other));
                if is_free && is_close(&self.queue, &self.overlaps, other) {
                    self.queue.push(id(other));
                    done = false;
                }
            }
        }
        if self.queue.len() == 1 {
            return false;
        }
        let mut next = 0;
        while next < self.queue.len() {
            let facet = self.overlaps[self.queue[next] as usize].facet;
            next += 1;
            for vertex in wall.mesh.facets[facet as usize] {
                for neighbour in wall.mesh.at_vertex(vertex) {
                    let Some(other) = self.position_of(*neighbour) else { continue };
                    let may = self.overlaps[other].role != FacetRole::Hidden
                        && self.group[other] == NONE
                        && !self.queue.contains(&id(other));
                    if may && is_close(&self.queue, &self.overlaps, other) {
                        self.queue.push(id(other));
                    }
                }
            }
        }
        let overlaps = &self.overlaps;
        let sum: V3 =
            self.queue.iter().map(|m| overlaps[*m as usize].normal * overlaps[*m as usize].depth).sum();
        let all: f64 = self.queue.iter().map(|m| overlaps[*m as usize].depth).sum();
        sum.norm() > MIN_NORMAL_SUM * all
    }

    /// Combines the contacts in `queue` into one proximity contact of the facet at position `at` of
    /// `overlaps`, and appends it to `active`. Its normal is the mean of the contacts' normals weighted
    /// by overlap, its overlap the mean of their overlaps. `from` is the length of `members`, to which
    /// this function appends the facets of the contact.
    fn combine(&mut self, at: usize, from: u32, shape: &impl FacetShape) {
        // The order by number makes sums independent of the order in which members were found.
        self.queue.sort_unstable();
        let (mut sum, mut all) = (V3::zeros(), 0.0);
        for m in &self.queue {
            let overlap = &self.overlaps[*m as usize];
            sum += overlap.normal * overlap.depth;
            all += overlap.depth;
        }
        let (normal, depth) = (sum.normalize(), all / self.queue.len() as f64);
        let facet = self.overlaps[at].facet;
        for m in &self.queue {
            self.group[*m as usize] = id(at);
            let overlap = &mut self.overlaps[*m as usize];
            overlap.role = if overlap.facet == facet { FacetRole::Active } else { FacetRole::Member(facet) };
            self.members.push(overlap.facet);
        }
        let point = shape.wall_point(&normal, depth);
        let members = (from, id(self.members.len()));
        self.active.push(ActiveContact { facet, point, normal, depth, region: FacetRegion::Face, members });
    }
}

/// Amount (rad) by which cutoff angles between normals are increased because of rounding. The normals of
/// coplanar facets are parallel to rounding only; with a smaller value a cutoff of 0 would lose the
/// shear state on flat walls. A larger value widens the cutoff noticeably.
pub(super) const ANGLE_ROUNDING: f64 = 1e-9;

/// Minimum length of the sum of normals weighted by overlap, divided by the sum of the overlaps, for
/// contacts to be combined. With a smaller value the direction of a proximity contact could be rounding;
/// with a larger one contacts with almost opposite normals remain separate.
const MIN_NORMAL_SUM: f64 = 1e-6;
