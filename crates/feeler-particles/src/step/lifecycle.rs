//! Lifecycle: particles and walls are added, particles are removed, walls are disabled and enabled.

use super::contact_history::ColliderHistory;
use super::error::SimulationError;
use super::ids::{ParticleId, WallId};
use super::particle::Particle;
use super::shape::ParticleShape;
use super::wall::Wall;
use super::{Collider, Load, MAX_COLLIDERS, ParticleMotion, Simulation};
use crate::exact::WallContacts;
use crate::law::Law;
use crate::sphere::Sphere;
use feeler_geom::{Pose, V3};

impl Simulation {
    /// Adds a wall with the law of its contacts.
    ///
    /// # Errors
    /// The law has invalid parameters, or the wall is made of triangles and there are particles that are
    /// solids, because solids have no contacts with triangles.
    pub fn add_wall(&mut self, wall: Wall, law: Law) -> Result<WallId, SimulationError> {
        if self.has_solids && matches!(wall, Wall::Facets(_)) {
            return Err(SimulationError::Particle(SOLIDS_AND_FACETS));
        }
        let id = self.walls.add(wall, law)?;
        self.histories.iter_mut().for_each(ColliderHistory::add_wall);
        Ok(id)
    }

    /// Adds a particle. `pose` leads from the particle's coordinates to the world, `velocity` (mm/s) is
    /// that of the centre of mass, `spin` (rad/s, world) the angular velocity.
    ///
    /// # Errors
    /// A number is not finite, there are more than 2³¹ spheres, or the particle is a solid and there are
    /// walls of triangles.
    pub fn add(
        &mut self,
        particle: Particle,
        pose: &Pose,
        velocity: V3,
        spin: V3,
    ) -> Result<ParticleId, SimulationError> {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if !numbers.chain(velocity.iter()).chain(spin.iter()).all(|c| c.is_finite()) {
            return Err(SimulationError::Particle(
                "the pose and the velocities of a particle must be finite",
            ));
        }
        let is_solid = particle.shape.as_deref().is_some_and(ParticleShape::is_solid);
        if is_solid && self.walls.list.iter().any(|w| matches!(w, Wall::Facets(_))) {
            return Err(SimulationError::Particle(SOLIDS_AND_FACETS));
        }
        let number = u32::try_from(self.particles.len()).map_err(|_| SimulationError::TooMany)?;
        if self.colliders.len() + particle.spheres.len() > MAX_COLLIDERS {
            return Err(SimulationError::TooMany);
        }
        let axes = pose * particle.axes;
        let rotation = axes.rotation;
        let momentum = rotation * (rotation.inverse() * spin).component_mul(&particle.inertia);
        self.motions.push(ParticleMotion {
            center: axes.translation.vector.into(),
            rotation,
            velocity,
            momentum,
        });
        let first = self.colliders.len();
        let is_bounding = particle.shape.is_some();
        self.colliders.extend(particle.spheres.iter().map(|s| Collider {
            particle: number,
            is_bounding,
            sphere: *s,
        }));
        self.histories.resize(self.colliders.len(), ColliderHistory::new(self.walls.list.len()));
        self.particles.push(particle);
        self.has_solids |= is_solid;
        self.driven.push(false);
        self.removed.push(false);
        let last = self.colliders.len() as u64;
        self.present.extend((first as u64..last).filter_map(|k| u32::try_from(k).ok()));
        self.loads.push(Load::default());
        self.broad_phase = None;
        self.bounds.clear();
        Ok(ParticleId::new(number as usize))
    }

    /// Removes a particle for good: it no longer moves, has no contacts and no energy. Its identity and the
    /// motion that it had remain, but its contact history is cleared. A particle that does not exist or has
    /// been removed already is ignored.
    pub fn remove(&mut self, particle: ParticleId) {
        if !self.is_present(particle) {
            return;
        }
        let particle = particle.index();
        self.removed[particle] = true;
        self.loads[particle] = Load::default();
        let is_its = |c: &Collider| c.particle as usize == particle;
        let first = self.colliders.partition_point(|c| (c.particle as usize) < particle);
        let count = self.colliders[first..].iter().take_while(|c| is_its(c)).count();
        self.histories[first..first + count].iter_mut().for_each(|h| h.clear(None));
        let position = self.present.partition_point(|k| (*k as usize) < first);
        self.present.drain(position..position + count);
        (0..count).for_each(|_| self.walls.remove_sphere(position));
        let colliders = &self.colliders;
        let has_it = |(a, b): (u32, u32)| is_its(&colliders[a as usize]) || is_its(&colliders[b as usize]);
        self.pairs.retain(|p| !has_it(p.colliders));
        self.solid_pairs.retain(|p| !has_it(p.colliders));
        self.broad_phase = None;
        self.bounds.clear();
    }

    /// Whether a particle exists and has not been removed.
    #[must_use]
    pub fn is_present(&self, particle: ParticleId) -> bool {
        self.removed.get(particle.index()).is_some_and(|removed| !removed)
    }

    /// Number of particles that have not been removed.
    #[must_use]
    pub fn present_count(&self) -> usize {
        self.removed.iter().filter(|removed| !**removed).count()
    }

    /// Enables or disables a wall. Particles pass through a disabled wall, which has no load but still
    /// moves. A particle that overlaps the wall when it is enabled again is pushed out. A wall that does
    /// not exist is ignored.
    pub fn set_wall_enabled(&mut self, wall: WallId, enabled: bool) {
        let wall = wall.index();
        let Some(flag) = self.walls.enabled.get_mut(wall) else { return };
        *flag = enabled;
        if !enabled {
            self.histories.iter_mut().for_each(|h: &mut ColliderHistory| h.clear(Some(wall)));
            self.walls.loads[wall] = Load::default();
        }
    }

    /// Whether a wall exists and is enabled.
    #[must_use]
    pub fn is_wall_enabled(&self, wall: WallId) -> bool {
        self.walls.enabled.get(wall.index()).is_some_and(|enabled| *enabled)
    }

    /// Replaces the list `present` by the indices of the colliders of particles that have not been
    /// removed.
    pub(super) fn list_present(&mut self) {
        let Self { present, colliders, removed, .. } = self;
        present.clear();
        let numbered = (0_u32..).zip(colliders.iter());
        present.extend(numbered.filter(|(_, c)| !removed[c.particle as usize]).map(|(k, _)| k));
    }
}

impl Wall {
    /// Whether a sphere (world) overlaps the wall in its present pose. A wall of triangles is overlapped
    /// from either side; a sphere that the triangles enclose without touching it does not overlap the
    /// wall. `false` if the position of the sphere is out of range.
    #[must_use]
    pub fn touches(&self, sphere: &Sphere) -> bool {
        match self {
            Self::Facets(wall) => wall.reaches(&sphere.center, sphere.radius),
            Self::Exact(solid) => {
                let mut out = WallContacts::default();
                let found = solid.exact.contacts(&[*sphere], 0.0, &mut Vec::new(), &mut out);
                // A sphere whose position is out of range touches nothing.
                found.is_ok() && out.of(0).iter().any(|c| c.gap < 0.0)
            }
            Self::Plane(wall) => wall.height(&sphere.center) < sphere.radius,
        }
    }
}

/// Message that refuses walls of triangles together with solid particles, which would pass through them.
const SOLIDS_AND_FACETS: &str =
    "solid particles have no contacts with triangles; make the wall a solid (ExactWall) or of planes";

#[cfg(test)]
mod tests {
    use crate::{
        ExactWall, FacetWall, Law, Particle, ParticleId, PlaneWall, Resolution, Simulation,
        SimulationSettings, Wall, WallId,
    };
    use feeler_geom::{P3, Pose, V3};
    use std::path::Path;

    const LAW: Law = Law::Linear { normal: 2e3, shear: 1e3, restitution: 0.5, friction: 0.5 };

    fn id(particle: usize) -> ParticleId {
        ParticleId::new(particle)
    }

    fn wall_id(wall: usize) -> WallId {
        WallId::new(wall)
    }

    /// Spheres above a floor of triangles, beside a plane and a block.
    fn simulation(skipped: &[usize]) -> Simulation {
        let settings = SimulationSettings { gravity: V3::z() * -9_810.0, between: Some(LAW) };
        let mut out = Simulation::new(settings).unwrap();
        let corner = |(x, y): (f64, f64)| P3::new(x, y, 0.0);
        let corners = [(-50.0, -50.0), (50.0, -50.0), (50.0, 50.0), (-50.0, 50.0)].map(corner);
        let mut floor = FacetWall::new(&corners, &[[0, 1, 2], [0, 2, 3]]).unwrap();
        floor.set_resolution(Resolution::Full { cutoff: 0.5 }).unwrap();
        out.add_wall(floor.into(), LAW).unwrap();
        out.add_wall(PlaneWall::new(P3::new(-2.0, 0.0, 0.0), V3::x()).unwrap().into(), LAW).unwrap();
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/box.step");
        let (model, _) = feeler_import::load(&file).unwrap();
        let body = std::sync::Arc::new(feeler_runtime::Body::from_model(&model, 0).unwrap());
        let mut block: Wall = ExactWall::new(body).into();
        block.set_pose(Pose::translation(24.0, 0.0, -7.0)).unwrap();
        out.add_wall(block, LAW).unwrap();
        for k in (0..40_usize).filter(|k| !skipped.contains(k)) {
            let pose = Pose::translation(
                2.2 * (k % 4) as f64,
                1.9 * (k / 4 % 3) as f64,
                4.3 + 2.1 * (k / 12) as f64,
            );
            let sphere = Particle::sphere(1.0 + 0.005 * k as f64, 2_500.0).unwrap();
            out.add(sphere, &pose, V3::new(1.0, 2.0, -300.0), V3::zeros()).unwrap();
        }
        out
    }

    fn run(simulation: &mut Simulation, steps: usize) {
        (0..steps).for_each(|_| simulation.step(1e-5).unwrap());
    }

    /// Motions of all particles that are present.
    fn motions(simulation: &Simulation) -> Vec<crate::ParticleMotion> {
        let present = simulation.particle_ids().filter(|k| simulation.is_present(*k));
        present.map(|k| *simulation.motion(k).unwrap()).collect()
    }

    #[test]
    fn remaining_particles_move_as_if_removed_ones_had_never_existed() {
        let removed = [0, 7, 8, 21, 39];
        let mut with = simulation(&[]);
        removed.iter().for_each(|k| with.remove(id(*k)));
        let mut without = simulation(&removed);
        let mut contacts = 0;
        assert_eq!((with.particle_count(), with.present_count(), without.particle_count()), (40, 35, 35));
        for _ in 0..80 {
            run(&mut with, 50);
            run(&mut without, 50);
            assert!(motions(&with) == motions(&without), "equal to the bit");
            assert!(
                with.kinetic_energy().to_bits() == without.kinetic_energy().to_bits()
                    && with.pair_count() == without.pair_count(),
                "equal sums"
            );
            assert!(
                with.wall_ids().all(|w| with.wall_load(w) == without.wall_load(w)),
                "equal loads of walls"
            );
            assert_eq!(with.wall_contact_count(), without.wall_contact_count());
            contacts += with.pair_count() + with.wall_contact_count();
        }
        assert!(contacts > 20, "{contacts} contacts");
        let (motion, load) = (with.motion(id(7)).unwrap(), with.load(id(7)).unwrap());
        let start = simulation(&[]).motion(id(7)).unwrap().center;
        assert!(motion.center == start && load.force == V3::zeros(), "a removed particle does not move");
    }

    #[test]
    fn removal_ends_contacts_and_is_part_of_the_saved_state() {
        let mut whole = simulation(&[]);
        let touching =
            |s: &Simulation| s.particle_ids().find(|k| !s.shear_states(*k, 0, wall_id(0)).is_empty());
        let particle = (0..500).find_map(|_| {
            run(&mut whole, 10);
            touching(&whole)
        });
        let particle = particle.unwrap();
        whole.remove(particle);
        whole.remove(particle);
        whole.remove(id(1_000));
        assert!(whole.shear_states(particle, 0, wall_id(0)).is_empty(), "no contact");
        assert!(!whole.is_present(particle) && !whole.is_present(id(1_000)));
        run(&mut whole, 1_000);
        whole.set_wall_enabled(wall_id(1), false);
        run(&mut whole, 200);
        let state = whole.save();
        let mut again = simulation(&[]);
        again.restore(&state).unwrap();
        assert!(!again.is_present(particle) && again.present_count() == 39);
        assert!(!again.is_wall_enabled(wall_id(1)) && again.is_wall_enabled(wall_id(0)));
        run(&mut whole, 500);
        run(&mut again, 500);
        assert!(whole.save() == again.save(), "equal bytes");
    }

    #[test]
    fn particles_pass_through_disabled_walls() {
        let settings = SimulationSettings { gravity: V3::z() * -9_810.0, between: None };
        let mut simulation = Simulation::new(settings).unwrap();
        let lid = simulation.add_wall(PlaneWall::new(P3::origin(), V3::z()).unwrap().into(), LAW).unwrap();
        let sphere = Particle::sphere(1.0, 2_500.0).unwrap();
        let weight = sphere.mass() * 9_810.0;
        let pose = Pose::translation(0.0, 0.0, 1.0);
        let sphere = simulation.add(sphere, &pose, V3::zeros(), V3::zeros()).unwrap();
        run(&mut simulation, 20_000);
        let load = simulation.wall_load(lid).unwrap().force.z;
        assert!((load + weight).abs() < 1e-6 * weight, "{load}: the sphere rests");
        let height = simulation.motion(sphere).unwrap().center.z;
        simulation.set_wall_enabled(lid, false);
        run(&mut simulation, 1_000);
        let fallen = height - simulation.motion(sphere).unwrap().center.z;
        let expected = 0.5 * 9_810.0 * 1e-4;
        assert!((fallen - expected).abs() < 1e-3 * expected, "{fallen} {expected}: the sphere falls freely");
        let load = simulation.wall_load(lid).unwrap().force;
        assert!(load == V3::zeros() && simulation.wall_contact_count() == 0, "no load");
        simulation.set_wall_enabled(wall_id(7), true);
        assert!(!simulation.is_wall_enabled(wall_id(7)), "there is no such wall");
        let mass = simulation.mass(sphere).unwrap();
        assert!((mass * 9_810.0 - weight).abs() < 1e-12 && simulation.radius(sphere) == Some(1.0));
    }
}
