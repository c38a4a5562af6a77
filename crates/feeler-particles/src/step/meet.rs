//! What walls do to one ball: shared by simulations and by the forces for other programs.

use super::Load;
use super::error::StepError;
use super::form::Form;
use super::solid::Asker;
use super::wall::{Wall, WallMeeting, facets_met};
use crate::contact::WallContact;
use crate::exact::{self, ParticleState, WallContacts};
use crate::facets::FacetMemory;
use crate::law::{Law, Meeting, ShearState, radius_on};
use feeler_geom::{P3, V3};
use feeler_grains::convex::Placed;
use feeler_runtime::{Following, QueryError};

/// What lasts of the contacts of one sphere with one wall.
#[derive(Clone, Debug, Default)]
pub(super) struct WallMemory {
    /// Of a wall of triangles: in a box, so that this record stays small for other walls.
    pub(super) facets: Option<Box<FacetMemory>>,
    pub(super) shear: Vec<(u64, ShearState)>,
    /// Where the contacts with an exact wall are (wall's coordinates), in the order of `shear`.
    pub(super) places: Vec<P3>,
    /// Of a solid with an exact wall or a plane.
    pub(super) following: Option<Box<Following>>,
    /// On the wall.
    load: Load,
}

/// Of one sphere: what lasts, what acts on it, and storage.
#[derive(Clone, Debug, Default)]
pub(super) struct SphereMemory {
    pub(super) walls: Vec<WallMemory>,
    /// On the particle.
    pub(super) load: Load,
    found: Vec<WallMeeting>,
    before: Vec<(u64, ShearState)>,
    places_before: Vec<P3>,
}

impl SphereMemory {
    pub(super) fn new(walls: usize) -> Self {
        Self { walls: vec![WallMemory::default(); walls], ..Self::default() }
    }

    /// Forgets its contacts, all of them or those with one wall.
    pub(super) fn forget(&mut self, wall: Option<usize>) {
        for (k, memory) in self.walls.iter_mut().enumerate() {
            if wall.is_none_or(|w| w == k) {
                memory.facets.iter_mut().for_each(|f| f.forget());
                memory.shear.clear();
                memory.places.clear();
                memory.following.iter_mut().for_each(|f| f.forget());
                memory.load = Load::default();
            }
        }
        if wall.is_none() {
            self.load = Load::default();
        }
    }

    pub(super) fn add_wall(&mut self) {
        self.walls.push(WallMemory::default());
    }
}

/// The body that a sphere belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    /// Centre of mass, which `velocity` is of, and the moment about.
    pub(super) center: P3,
    pub(super) velocity: V3,
    pub(super) spin: V3,
    pub(super) mass: f64,
}

/// What an exact wall was asked last.
#[derive(Debug, Default)]
struct Asked {
    states: Vec<ParticleState>,
    out: WallContacts,
}

/// Walls with their laws.
#[derive(Debug, Default)]
pub(super) struct Walls {
    pub(super) list: Vec<Wall>,
    laws: Vec<Law>,
    /// Walls that are met; the others let everything through.
    pub(super) felt: Vec<bool>,
    /// On each wall in the last step.
    pub(super) loads: Vec<Load>,
    asked: Vec<Asked>,
    spheres: Vec<exact::Sphere>,
}

impl Walls {
    pub(super) fn add(&mut self, wall: Wall, law: Law) -> Result<usize, StepError> {
        law.check().map_err(|error| StepError::Law { what: "a wall", error })?;
        self.list.push(wall);
        self.laws.push(law);
        self.felt.push(true);
        self.loads.push(Load::default());
        self.asked.push(Asked::default());
        Ok(self.list.len() - 1)
    }

    /// Moves all on by a time (s).
    pub(super) fn advance(&mut self, time: f64) -> Result<(), StepError> {
        for (wall, w) in self.list.iter_mut().enumerate() {
            w.advance(time).map_err(|error| StepError::Wall { wall, error })?;
        }
        Ok(())
    }

    /// Asks exact walls for their contacts with all spheres, or the grains in them; the error is one that
    /// cannot be asked for.
    pub(super) fn ask<'g>(
        &mut self,
        spheres: impl Iterator<Item = exact::Sphere>,
        grain: impl Fn(usize) -> Option<Placed<'g>> + Sync,
    ) -> Result<(), usize> {
        if !self.list.iter().any(|w| matches!(w, Wall::Exact(_))) {
            return Ok(());
        }
        self.spheres.clear();
        self.spheres.extend(spheres);
        for ((wall, asked), felt) in self.list.iter().zip(&mut self.asked).zip(&self.felt) {
            let Wall::Exact(solid) = wall else { continue };
            if !felt {
                continue;
            }
            let Asked { states, out } = asked;
            solid.wall.contacts_of(&self.spheres, &grain, 0.0, states, out).map_err(|e| match e {
                exact::WallError::Position { index }
                | exact::WallError::Radius { index, .. }
                | exact::WallError::Coordinates { index, .. } => index,
                _ => 0,
            })?;
        }
        Ok(())
    }

    /// The sphere at a place is asked for no more.
    pub(super) fn leave_out(&mut self, place: usize) {
        for asked in &mut self.asked {
            if place < asked.states.len() {
                asked.states.remove(place);
            }
        }
    }

    /// Spheres have changed places: the one at `k` was at `order[k]` before. What is known of places of exact
    /// walls goes along, for speed.
    pub(super) fn reorder(&mut self, order: &[Option<u32>]) {
        for asked in &mut self.asked {
            let old = std::mem::take(&mut asked.states);
            let of = |k: &Option<u32>| k.and_then(|k| old.get(k as usize).copied()).unwrap_or_default();
            asked.states = order.iter().map(of).collect();
        }
    }

    /// Finds what walls do to one sphere, or to what it stands for, the one numbered `number` of those asked
    /// for.
    ///
    /// # Errors
    /// A solid that cannot be asked for.
    pub(super) fn meet(
        &self,
        number: usize,
        sphere: &exact::Sphere,
        form: Option<&Form<'_>>,
        moving: &Moving,
        memory: &mut SphereMemory,
        (asker, time): (&mut Asker, f64),
    ) -> Result<(), QueryError> {
        memory.load = Load::default();
        let SphereMemory { walls: memories, load, found, before, places_before } = memory;
        for (k, wall) in self.list.iter().enumerate() {
            let lasting = &mut memories[k];
            lasting.load = Load::default();
            if !self.felt[k] {
                continue;
            }
            let is_exact = matches!(wall, Wall::Exact(_));
            let asked: &[WallContact] = if is_exact { self.asked[k].out.of(number) } else { &[] };
            let is_solid = matches!(form, Some(Form::Solid(_)));
            found.clear();
            match (form, wall) {
                (Some(Form::Grain(met)), Wall::Facets(facets)) => {
                    let memory = lasting.facets.get_or_insert_default();
                    facets_met(facets, facets.grain_contacts(memory, &met.placed, sphere.radius), found);
                }
                (Some(Form::Grain(met)), Wall::Plane(plane)) => {
                    found.extend(plane.grain_contact(&met.placed, sphere.radius));
                }
                (Some(Form::Solid(met)), Wall::Exact(exact)) => {
                    let is_clear = asked.is_empty();
                    let following = lasting.following.get_or_insert_default();
                    met.wall_contacts(exact, is_clear, following, asker, found)?;
                }
                (Some(Form::Solid(met)), Wall::Plane(plane)) => {
                    let ball = (&sphere.center, sphere.radius);
                    let following = lasting.following.get_or_insert_default();
                    met.plane_contacts(plane, ball, following, asker, found)?;
                }
                // Simulations refuse solids beside triangles.
                (Some(Form::Solid(_)), Wall::Facets(_)) => {}
                (_, Wall::Exact(exact)) => exact.met(asked, found),
                (_, Wall::Facets(facets)) => {
                    let memory = lasting.facets.get_or_insert_default();
                    facets_met(facets, facets.contacts(memory, &sphere.center, sphere.radius), found);
                }
                (_, Wall::Plane(plane)) => found.extend(plane.contact(&sphere.center, sphere.radius)),
            }
            if found.is_empty() && lasting.shear.is_empty() {
                continue;
            }
            std::mem::swap(&mut lasting.shear, before);
            lasting.shear.clear();
            if is_exact {
                std::mem::swap(&mut lasting.places, places_before);
                lasting.places.clear();
                if !is_solid {
                    rename(before, places_before, found, wall, sphere.radius);
                }
            }
            for meeting in found.iter() {
                let contact = &meeting.contact;
                let of = |id: u64| before.iter().find(|(known, _)| *known == id).map(|(_, state)| *state);
                let mut state = of(contact.id).unwrap_or_else(|| ShearState::new(contact.normal));
                let handed = lasting.facets.as_ref().map_or(&[][..], |f| f.handed());
                for (from, _) in handed.iter().filter(|(_, to)| *to == contact.id) {
                    if let Some(other) = of(*from) {
                        state.add(&other);
                    }
                }
                let arm = meeting.at - moving.center;
                let own = || form.map_or(sphere.radius, |f| f.radius_at(&-contact.normal));
                let radius = meeting.radius.unwrap_or_else(|| radius_on(own(), contact.curvatures));
                let seen = Meeting {
                    overlap: -contact.gap,
                    normal: contact.normal,
                    velocity: moving.velocity + moving.spin.cross(&arm) - meeting.velocity,
                    twist: 0.5 * contact.normal.dot(&(moving.spin + meeting.spin)),
                    radius,
                    mass: moving.mass,
                };
                let force = self.laws[k].force(&seen, &mut state, time);
                lasting.shear.push((contact.id, state));
                if is_exact {
                    lasting.places.push(wall.pose().inverse_transform_point(&contact.point));
                }
                load.force += force;
                load.moment += arm.cross(&force);
                lasting.load.force -= force;
                lasting.load.moment -= (meeting.at - wall.reference()).cross(&force);
            }
        }
        Ok(())
    }

    /// Adds up what acts on walls, in the order of the spheres that are given.
    pub(super) fn add_up<'m>(&mut self, memories: impl Iterator<Item = &'m SphereMemory>) {
        self.loads.fill(Load::default());
        for memory in memories {
            for (sum, part) in self.loads.iter_mut().zip(&memory.walls) {
                sum.force += part.load.force;
                sum.moment += part.load.moment;
            }
        }
    }
}

/// A contact with an exact wall is numbered by its face or edge. Where a ball has rolled on to the next one
/// the contact goes on: what is remembered under a number that is gone gets that of the new contact near it.
fn rename(before: &mut [(u64, ShearState)], places: &[P3], found: &[WallMeeting], wall: &Wall, radius: f64) {
    for k in 0..before.len() {
        let (id, state) = before[k];
        if found.iter().any(|m| m.contact.id == id) {
            continue;
        }
        let mut best: Option<(f64, u64)> = None;
        for meeting in found {
            let contact = &meeting.contact;
            if before.iter().any(|(known, _)| *known == contact.id)
                || contact.normal.dot(&state.normal) < TURNED
            {
                continue;
            }
            let apart = (wall.pose().inverse_transform_point(&contact.point) - places[k]).norm();
            if apart <= radius * BESIDE && best.is_none_or(|(least, _)| apart < least) {
                best = Some((apart, contact.id));
            }
        }
        if let Some((_, id)) = best {
            before[k].0 = id;
        }
    }
}

/// Cosine of the angle between the normals of a contact before and after it has passed on to another face.
const TURNED: f64 = 0.9;

/// How far apart, as a part of the radius, the two places are.
const BESIDE: f64 = 0.5;
