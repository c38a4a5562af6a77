//! Contacts that last: which contact of a ball with a wall is which one of the step before.
//!
//! # Source
//! WALL, "Continuity of Contact-State Information" (Figure 9): state is handed over if the facets'
//! normals differ by Θ at the most and there is no hole between the facets; the links of the associative
//! logic stand in for the path.
//!
//! # Deviations
//! - Instead of copying state, the contact keeps its number: whatever a law remembers under it lasts.
//! - Where a step is longer than the ball's overlap reaches, no link is left of the facet that was active,
//!   and WALL gives its state up. Then the path is looked for as WALL defines it: from facet to neighbour,
//!   each meeting the plane through both wall contact points along the mean normal, none turned by more than
//!   Θ, no farther from the middle of the two points than these are apart.
//! - A contact takes over from one only, that with the fewest links between, as in WALL's account of Figure
//!   6. In proximity mode what several contacts remember goes to the one that they become, and is added up
//!   there.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::closest::Region;
use super::grain::{Meets, Round, Smooth};
use super::mesh::{Mesh, id};
use super::resolve::{ANGLE, Acting, Resolved, Role};
use super::wall::{FacetWall, Resolution};
use crate::contact::WallContact;
use feeler_geom::{P3, V3};
use feeler_grains::convex::Placed;

/// A contact of a ball with a wall of facets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacetContact {
    /// What forces need to know. Its number lasts as long as the contact: on one facet in reduced mode, also
    /// from facet to facet in the other ones.
    pub contact: WallContact,
    /// The facet; of several in proximity the one with the largest overlap.
    pub facet: u32,
    /// Where on the facet its point is; that of a proximity contact counts as inside.
    pub region: Region,
}

/// A facet that a ball overlaps, and what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacetTouch {
    /// Which.
    pub facet: u32,
    /// The facet's point nearest to the ball's centre (world).
    pub point: P3,
    /// Unit normal from there to the ball's centre (world).
    pub normal: V3,
    /// Radius less the distance of that point.
    pub overlap: f64,
    /// Where on the facet the point is.
    pub region: Region,
    /// What becomes of it.
    pub role: Role,
}

/// An active contact of the last step (wall's coordinates).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Held {
    pub(crate) id: u64,
    pub(crate) facet: u32,
    pub(crate) point: P3,
    pub(crate) normal: V3,
    /// Its facets, in the list of members.
    pub(crate) members: (u32, u32),
}

/// What lasts of the contacts of one ball with one wall, and storage.
#[derive(Clone, Debug, Default)]
pub struct FacetMemory {
    pub(crate) next: u64,
    pub(crate) held: Vec<Held>,
    pub(crate) members: Vec<u32>,
    contacts: Vec<FacetContact>,
    handed: Vec<(u64, u64)>,
    // Storage; nothing of it lasts.
    near: Vec<u32>,
    near_at: Option<(P3, f64, u64)>,
    /// Halvings of [`AHEAD`].
    halvings: u32,
    resolved: Resolved,
    claimed: Vec<bool>,
    visited: Vec<u32>,
}

/// A number of no contact.
const NO_ID: u64 = u64::MAX;

impl FacetMemory {
    /// Forgets all but its storage.
    pub(crate) fn forget(&mut self) {
        self.next = 0;
        self.held.clear();
        self.members.clear();
        self.contacts.clear();
        self.handed.clear();
        (self.near_at, self.halvings) = (None, 0);
    }

    /// Contacts of the last step, by decreasing overlap.
    #[must_use]
    pub fn contacts(&self) -> &[FacetContact] {
        &self.contacts
    }

    /// Contacts that have become part of another one in the last step: what is remembered of the first is to
    /// be added to what is remembered of the second.
    #[must_use]
    pub fn handed(&self) -> &[(u64, u64)] {
        &self.handed
    }
}

impl FacetWall {
    /// The contacts of a ball (world, mm) with this wall, by decreasing overlap. `memory` belongs to this
    /// ball and this wall; its contacts are those of the step before.
    pub fn contacts<'m>(&self, memory: &'m mut FacetMemory, center: &P3, radius: f64) -> &'m [FacetContact] {
        let center = self.pose().inverse_transform_point(center);
        self.contacts_of(memory, &Round { center, radius })
    }

    /// The same of a grain (world): how it overlaps a facet is the least way out that keeps its origin on
    /// that side, as of a ball. `radius` (mm): of a ball about the origin that holds it.
    pub fn grain_contacts<'m>(
        &self,
        memory: &'m mut FacetMemory,
        grain: &Placed<'_>,
        radius: f64,
    ) -> &'m [FacetContact] {
        let placed = grain.moved(&self.pose().inverse());
        self.contacts_of(memory, &Smooth { placed, center: placed.origin(), radius })
    }

    fn contacts_of<'m>(&self, memory: &'m mut FacetMemory, body: &impl Meets) -> &'m [FacetContact] {
        self.look_around(memory, body.center(), body.radius());
        let FacetMemory { resolved, near, members, .. } = memory;
        resolved.resolve(self, near, members, body);
        self.identify(memory);
        let pose = self.pose();
        memory.contacts.clear();
        for (acting, held) in memory.resolved.acting.iter().zip(&memory.held) {
            let contact = WallContact {
                id: held.id,
                point: pose * acting.point,
                normal: pose.rotation * acting.normal,
                gap: -acting.overlap,
                curvatures: self.curvatures(acting),
            };
            memory.contacts.push(FacetContact { contact, facet: acting.facet, region: acting.region });
        }
        &memory.contacts
    }

    /// All facets that a ball overlaps, by decreasing overlap, and what becomes of each: how
    /// [`FacetWall::contacts`] comes to its answer.
    #[must_use]
    pub fn resolve(&self, center: &P3, radius: f64) -> Vec<FacetTouch> {
        let x = self.pose().inverse_transform_point(center);
        let (mut near, mut resolved) = (Vec::new(), Resolved::default());
        self.tree.near(&self.mesh, &x, radius, &mut near);
        resolved.resolve(self, &near, &[], &Round { center: x, radius });
        let touches = resolved.order.iter().map(|k| &resolved.touches[*k as usize]);
        touches
            .map(|t| FacetTouch {
                facet: t.facet,
                point: self.pose() * t.closest.point,
                normal: self.pose().rotation * t.normal,
                overlap: t.overlap,
                region: t.closest.region,
                role: t.role,
            })
            .collect()
    }

    /// Facets near the ball: those of the step before, as long as the ball has not moved far.
    fn look_around(&self, memory: &mut FacetMemory, x: &P3, radius: f64) {
        let holds = memory
            .near_at
            .is_some_and(|(at, reach, version)| version == self.version && radius + (x - at).norm() <= reach);
        if !holds {
            let reach = radius * (1.0 + AHEAD / f64::from(1_u32 << memory.halvings));
            self.tree.near(&self.mesh, x, reach, &mut memory.near);
            // Of small facets a long list costs more than asking the tree again.
            let needed = memory.resolved.touches.len();
            if memory.near.len() > LONG + 2 * needed {
                memory.halvings = (memory.halvings + 1).min(HALVINGS);
            } else if memory.near.len() < LONG / 2 + needed {
                memory.halvings = memory.halvings.saturating_sub(1);
            }
            // Less what rounding takes.
            memory.near_at = Some((*x, reach * (1.0 - ROUNDING), self.version));
        }
    }

    /// Gives the acting contacts their numbers.
    fn identify(&self, memory: &mut FacetMemory) {
        let FacetMemory { next, held, members, resolved, handed, claimed, visited, .. } = memory;
        handed.clear();
        claimed.clear();
        claimed.resize(held.len(), false);
        // `held` keeps the old contacts in front; the new ones are put behind them.
        let (n_old, n_old_members) = (held.len(), members.len());
        for acting in &resolved.acting {
            let from = id(members.len());
            let (a, b) = (acting.members.0 as usize, acting.members.1 as usize);
            members.extend_from_slice(&resolved.members[a..b]);
            let members_of = (from, id(members.len()));
            let (facet, point, normal) = (acting.facet, acting.point, acting.normal);
            held.push(Held { id: NO_ID, facet, point, normal, members: members_of });
        }
        let shares = |a: &Held, b: &Held, members: &[u32]| {
            let b = &members[b.members.0 as usize..b.members.1 as usize];
            members[a.members.0 as usize..a.members.1 as usize].iter().any(|f| b.contains(f))
        };
        for new in n_old..held.len() {
            for old in 0..n_old {
                if !claimed[old] && shares(&held[new], &held[old], members) {
                    claimed[old] = true;
                    join(held, handed, old, new);
                }
            }
        }
        if let Some(cutoff) = self.resolution.cutoff() {
            let adds = matches!(self.resolution, Resolution::Proximity { .. });
            loop {
                // The pair with the fewest links between, the one with the larger overlap first.
                let mut best: Option<(u32, usize, usize)> = None;
                for old in 0..n_old {
                    if claimed[old] {
                        continue;
                    }
                    let from = held[old];
                    let found = if let Some(at) = resolved.of(from.facet) {
                        let chain = self.follow(resolved, at, from.facet, cutoff);
                        chain.and_then(|(steps, facet)| Some((steps, holder(held, n_old, members, facet)?)))
                    } else {
                        (n_old..held.len())
                            .filter(|new| adds || held[*new].id == NO_ID)
                            .find(|new| leads_to(&self.mesh, &from, &held[*new], cutoff, visited))
                            .map(|new| (u32::MAX, new))
                    };
                    let Some((steps, new)) = found else { continue };
                    let may = adds || held[new].id == NO_ID;
                    if may && best.is_none_or(|b| steps < b.0) {
                        best = Some((steps, old, new));
                    }
                }
                let Some((_, old, new)) = best else { break };
                claimed[old] = true;
                join(held, handed, old, new);
            }
        }
        held.drain(..n_old);
        members.drain(..n_old_members);
        let shift = id(n_old_members);
        for h in held {
            h.members = (h.members.0 - shift, h.members.1 - shift);
            if h.id == NO_ID {
                h.id = *next;
                *next += 1;
            }
        }
    }

    /// Follows links from a facet that was active, as long as normals are within the cutoff; how many, and
    /// the facet where they end.
    fn follow(&self, resolved: &Resolved, at: usize, from: u32, cutoff: f64) -> Option<(u32, u32)> {
        let (mut at, mut steps) = (at, 0);
        loop {
            let touch = &resolved.touches[at];
            if self.mesh.angle(from, touch.facet) > cutoff + ANGLE {
                return None;
            }
            match touch.role {
                Role::Active | Role::Member(_) => return Some((steps, touch.facet)),
                Role::Hidden => return None,
                Role::Linked(_) => at = resolved.link(at)?,
            }
            steps += 1;
        }
    }

    /// Curvatures at a contact's point: a ball that stands along a facet's normal meets a plane, also on an
    /// edge.
    fn curvatures(&self, acting: &Acting) -> [f64; 2] {
        let n = &self.mesh.normals[acting.facet as usize];
        let is_flat = acting.normal.cross(n).norm() <= FLAT;
        match acting.region {
            Region::Edge(_) if !is_flat => [f64::INFINITY, 0.0],
            Region::Vertex(_) if !is_flat => [f64::INFINITY, f64::INFINITY],
            _ => [0.0, 0.0],
        }
    }
}

/// The new contact that has a facet.
fn holder(held: &[Held], n_old: usize, members: &[u32], facet: u32) -> Option<usize> {
    (n_old..held.len()).find(|k| {
        let (from, to) = held[*k].members;
        members[from as usize..to as usize].contains(&facet)
    })
}

/// Makes an old contact a new one, or part of it.
fn join(held: &mut [Held], handed: &mut Vec<(u64, u64)>, old: usize, new: usize) {
    let (old_id, new_id) = (held[old].id, held[new].id);
    if new_id == NO_ID {
        held[new].id = old_id;
        return;
    }
    // The older number stays.
    let (stays, goes) = (old_id.min(new_id), old_id.max(new_id));
    for (_, to) in handed.iter_mut().filter(|(_, to)| *to == goes) {
        *to = stays;
    }
    handed.push((goes, stays));
    held[new].id = stays;
}

/// Whether there is a path without a hole from a facet that was active to one that is.
fn leads_to(mesh: &Mesh, from: &Held, to: &Held, cutoff: f64, visited: &mut Vec<u32>) -> bool {
    let is_within = |facet: u32| mesh.angle(from.facet, facet) <= cutoff + ANGLE;
    if !is_within(to.facet) {
        return false;
    }
    if mesh.are_adjacent(from.facet, to.facet) {
        return true;
    }
    let way = to.point - from.point;
    let across = way.cross(&(from.normal + to.normal));
    let length = way.norm();
    // Without a direction there is no plane.
    if !(across.norm() > ANGLE * length) {
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
                    || !mesh.meets_plane(*neighbour, &from.point, &across)
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

/// How far beyond its surface a ball's facets are listed, as a part of its radius: until it has moved as far,
/// they are not looked for again.
const AHEAD: f64 = 0.25;

/// Facets of a list that is long, beside those that the ball overlaps, and how often [`AHEAD`] is halved at
/// most to have shorter ones.
const LONG: usize = 48;
const HALVINGS: u32 = 10;

/// What rounding may take from a distance, as a part of it.
const ROUNDING: f64 = 1e-12;

/// Angle (rad) between a contact's and a facet's normal up to which a ball on an edge meets a plane.
const FLAT: f64 = 1e-6;
