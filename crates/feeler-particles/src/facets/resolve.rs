//! Which of the contacts of a ball with many facets are active: links, what is behind other facets,
//! proximity.
//!
//! # Source
//! WALL, "Faceted Wall Contact Resolution": contacts with decreasing overlap, linked where a wall
//! contact point is on an edge or a vertex that another overlapped facet shares (Figures 4 to 7); what
//! another facet hides (Figure 8); proximity contacts.
//!
//! # Deviations
//! - Of two linked contacts the one whose point is *not* on the shared part has the larger overlap, because
//!   the shared part belongs to it too. So the link itself tells which is active; comparing the overlaps
//!   would leave it to rounding where a ball is within 1e-8 of its radius above an edge.
//! - The linked *pairs* are compared, not connected sets: a contact stays active if no contact linked to it
//!   overlaps more. By sets one facet at a concave edge could link the floor and the wall, and one of the two
//!   would vanish depending on the triangulation.
//! - Points on a shared edge up to rounding are linked too, and equal points are one: a flat wall whose
//!   facets are coplanar up to rounding has one contact, also exactly above an edge.
//! - What is hidden is asked of all overlapped facets, not only of those with active contacts, for the same
//!   reason.
//! - A proximity contact is made anew in each step, so that its force depends on where the ball is, not on
//!   how it got there; and contacts that cancel each other are not combined.

use super::closest::{Closest, Region};
use super::grain::Meets;
use super::mesh::{NONE, id};
use super::wall::{FacetWall, Resolution};
use feeler_geom::{P3, V3};

/// What has become of the contact with one facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It acts.
    Active,
    /// It is linked to one with another facet, which acts in its place or is linked further.
    Linked(u32),
    /// Another facet is between it and the ball's centre.
    Hidden,
    /// It is part of a proximity contact, which is told under this facet.
    Member(u32),
}

/// A facet that a ball overlaps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) facet: u32,
    pub(super) closest: Closest,
    pub(super) normal: V3,
    pub(super) overlap: f64,
    pub(super) role: Role,
    /// Which one (of the list) it is linked to.
    link: u32,
}

/// A contact that acts: of one facet, or of several in proximity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acting {
    pub(super) facet: u32,
    pub(super) point: P3,
    pub(super) normal: V3,
    pub(super) overlap: f64,
    pub(super) region: Region,
    /// Its facets, `from..to` of the list of members.
    pub(super) members: (u32, u32),
}

/// Storage for resolving, and its result.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    /// Overlapped facets, by number.
    pub(super) touches: Vec<Touch>,
    /// The same by decreasing overlap.
    pub(super) order: Vec<u32>,
    /// Contacts that act, by decreasing overlap.
    pub(super) acting: Vec<Acting>,
    pub(super) members: Vec<u32>,
    links: Vec<(u32, u32)>,
    group: Vec<u32>,
    queue: Vec<u32>,
}

impl Resolved {
    /// The contact with a facet, if it is overlapped.
    pub(super) fn of(&self, facet: u32) -> Option<usize> {
        self.touches.binary_search_by_key(&facet, |t| t.facet).ok()
    }

    /// Where the links of a facet's contact lead.
    pub(super) fn link(&self, at: usize) -> Option<usize> {
        let link = self.touches[at].link;
        (link != NONE).then_some(link as usize)
    }

    /// Resolves the contacts of a ball (wall's coordinates) with facets, sorted, among which all overlapped
    /// ones are. `before`: the facets that were active in the last step.
    pub(super) fn resolve(&mut self, wall: &FacetWall, facets: &[u32], before: &[u32], body: &impl Meets) {
        self.touches.clear();
        for facet in facets {
            let Some((closest, overlap)) = body.overlap(&wall.mesh, *facet) else { continue };
            if wall.is_felt(*facet, closest.signed) {
                let normal = closest.normal.unwrap_or_else(|| {
                    let n = wall.mesh.normals[*facet as usize];
                    if wall.is_felt(*facet, 1.0) { n } else { -n }
                });
                self.touches.push(Touch {
                    facet: *facet,
                    closest,
                    normal,
                    overlap,
                    role: Role::Active,
                    link: NONE,
                });
            }
        }
        self.order.clear();
        self.order.extend(0..id(self.touches.len()));
        let touches = &self.touches;
        self.order.sort_unstable_by(|a, b| {
            let (a, b) = (&touches[*a as usize], &touches[*b as usize]);
            b.overlap.total_cmp(&a.overlap).then(a.facet.cmp(&b.facet))
        });
        self.link_up(wall, before);
        if wall.resolution != Resolution::Reduced {
            self.hide(wall, body.center());
        }
        self.gather(wall, body);
    }

    /// Links contacts through shared edges and vertices, and puts those with less overlap out of action.
    fn link_up(&mut self, wall: &FacetWall, before: &[u32]) {
        self.links.clear();
        for at in 0..self.touches.len() {
            let touch = &self.touches[at];
            let sharing = match touch.closest.linked {
                Region::Face => continue,
                Region::Edge(edge) => wall.mesh.at_edge(edge),
                Region::Vertex(vertex) => wall.mesh.at_vertex(vertex),
            };
            for facet in sharing.iter().filter(|f| **f != touch.facet) {
                if let Some(other) = self.of(*facet) {
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
            let [u, v] = [a, b].map(|at| &self.touches[at as usize]);
            let same = u.closest.same.max(v.closest.same);
            let rank = |t: &Touch| match t.closest.region {
                Region::Face => 0,
                Region::Edge(_) => 1,
                Region::Vertex(_) => 2,
            };
            let first_acts = if (u.closest.point - v.closest.point).norm() <= same {
                // What was active remains so (Figure 5).
                let key = |t: &Touch| (rank(t), !before.contains(&t.facet), t.facet);
                key(u) < key(v)
            } else if is_mutual {
                v.overlap.total_cmp(&u.overlap).then(u.facet.cmp(&v.facet)).is_le()
            } else {
                false
            };
            let (acts, yields) = if first_acts { (a, b) } else { (b, a) };
            self.point_to(yields, acts);
        }
        // Rounding could make a circle of links, of which nothing would act.
        for k in 0..self.touches.len() {
            let mut at = k;
            for _ in 0..self.touches.len() {
                match self.link(at) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            if self.link(at).is_some() {
                let (mut best, mut here) = (at, at);
                while let Some(next) = self.link(here).filter(|n| *n != at) {
                    here = next;
                    if self.touches[here].overlap > self.touches[best].overlap {
                        best = here;
                    }
                }
                self.touches[best].link = NONE;
            }
        }
        for at in 0..self.touches.len() {
            if let Some(next) = self.link(at) {
                self.touches[at].role = Role::Linked(self.touches[next].facet);
            }
        }
    }

    /// Of several links the one to the largest overlap is kept.
    fn point_to(&mut self, yields: u32, acts: u32) {
        let known = self.touches[yields as usize].link;
        let overlap = |at: u32| self.touches[at as usize].overlap;
        let is_better =
            known == NONE || overlap(acts).total_cmp(&overlap(known)).then(known.cmp(&acts)).is_gt();
        if is_better {
            self.touches[yields as usize].link = acts;
        }
    }

    /// Puts out of action what is behind another facet, seen from the ball's centre (Figure 8).
    fn hide(&mut self, wall: &FacetWall, x: &P3) {
        for k in 1..self.order.len() {
            let at = self.order[k] as usize;
            let touch = self.touches[at];
            if touch.role != Role::Active {
                continue;
            }
            let is_hidden = self.order[..k].iter().any(|other| {
                let other = &self.touches[*other as usize];
                wall.mesh.is_crossed(other.facet, x, &touch.closest.point)
            });
            if is_hidden {
                self.touches[at].role = Role::Hidden;
            }
        }
    }

    /// Lists what acts, in proximity mode as one contact where facets hardly differ in direction.
    fn gather(&mut self, wall: &FacetWall, body: &impl Meets) {
        self.acting.clear();
        self.members.clear();
        self.group.clear();
        self.group.resize(self.touches.len(), NONE);
        for k in 0..self.order.len() {
            let at = self.order[k] as usize;
            if self.touches[at].role != Role::Active || self.group[at] != NONE {
                continue;
            }
            let from = id(self.members.len());
            if let Resolution::Proximity { cutoff } = wall.resolution
                && self.combine(wall, at, cutoff)
            {
                self.act_together(at, from, body);
                continue;
            }
            self.group[at] = id(at);
            let touch = &self.touches[at];
            self.members.push(touch.facet);
            self.acting.push(Acting {
                facet: touch.facet,
                point: touch.closest.point,
                normal: touch.normal,
                overlap: touch.overlap,
                region: touch.closest.region,
                members: (from, from + 1),
            });
        }
    }

    /// Collects the proximity contact of an active contact in `queue`; false if it is alone.
    fn combine(&mut self, wall: &FacetWall, at: usize, cutoff: f64) -> bool {
        self.queue.clear();
        self.queue.push(id(at));
        let is_close = |queue: &[u32], touches: &[Touch], other: usize| {
            queue
                .iter()
                .any(|m| wall.mesh.angle(touches[*m as usize].facet, touches[other].facet) <= cutoff + ANGLE)
        };
        // Active contacts first: without a second one nothing is combined.
        let mut done = false;
        while !done {
            done = true;
            for k in 0..self.order.len() {
                let other = self.order[k] as usize;
                let is_free = self.touches[other].role == Role::Active
                    && self.group[other] == NONE
                    && !self.queue.contains(&id(other));
                if is_free && is_close(&self.queue, &self.touches, other) {
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
            let facet = self.touches[self.queue[next] as usize].facet;
            next += 1;
            for vertex in wall.mesh.facets[facet as usize] {
                for neighbour in wall.mesh.at_vertex(vertex) {
                    let Some(other) = self.of(*neighbour) else { continue };
                    let may = self.touches[other].role != Role::Hidden
                        && self.group[other] == NONE
                        && !self.queue.contains(&id(other));
                    if may && is_close(&self.queue, &self.touches, other) {
                        self.queue.push(id(other));
                    }
                }
            }
        }
        let touches = &self.touches;
        let sum: V3 =
            self.queue.iter().map(|m| touches[*m as usize].normal * touches[*m as usize].overlap).sum();
        let all: f64 = self.queue.iter().map(|m| touches[*m as usize].overlap).sum();
        sum.norm() > CANCELLED * all
    }

    /// Makes one contact of those in `queue`: the normal weighted by overlaps, the mean of the overlaps.
    fn act_together(&mut self, at: usize, from: u32, body: &impl Meets) {
        // By number, so that sums do not depend on how the members were found.
        self.queue.sort_unstable();
        let (mut sum, mut all) = (V3::zeros(), 0.0);
        for m in &self.queue {
            let touch = &self.touches[*m as usize];
            sum += touch.normal * touch.overlap;
            all += touch.overlap;
        }
        let (normal, overlap) = (sum.normalize(), all / self.queue.len() as f64);
        let facet = self.touches[at].facet;
        for m in &self.queue {
            self.group[*m as usize] = id(at);
            let touch = &mut self.touches[*m as usize];
            touch.role = if touch.facet == facet { Role::Active } else { Role::Member(facet) };
            self.members.push(touch.facet);
        }
        let point = body.wall_point(&normal, overlap);
        let members = (from, id(self.members.len()));
        self.acting.push(Acting { facet, point, normal, overlap, region: Region::Face, members });
    }
}

/// Angles (rad) of normals are equal up to this: parallel facets are so to rounding.
pub(super) const ANGLE: f64 = 1e-9;

/// Part of the sum of the overlaps below which weighted normals cancel.
const CANCELLED: f64 = 1e-6;
