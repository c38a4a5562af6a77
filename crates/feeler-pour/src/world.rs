//! Simulation of a scene, with its sources, its outlets, and walls that move and open.

use crate::checkpoint::SourceState;
use crate::error::{PourError, Within as _, ensure};
use crate::packing::Packing;
use crate::plan::ParticleGroup;
use crate::setup::PourScene;
use crate::shape::CUBIC_METRE;
use crate::tables::{Arrangement, RegionTable};
use crate::timing::StepClock;
use crate::vtk::{Frame, Surfaces};
use crate::walls;
use feeler_geom::{P3, Pose, V3};
use feeler_particles::{
    Amount, FillRegion, Load, ParticleId, Random, Simulation, Sphere, Wall, WallId, deposit, fill,
};
use nalgebra::UnitQuaternion;
use std::f64::consts::PI;

/// Simulation of a scene, with the state of its sources and the counts of its particles.
#[derive(Debug)]
pub(crate) struct World<'s> {
    pub(crate) scene: &'s PourScene,
    pub(crate) simulation: Simulation,
    pub(crate) sources: Vec<SourceState>,
    /// For each particle, by its number and including removed ones: the index of its group and the
    /// radius (mm) of its bounding ball.
    pub(crate) particles: Vec<(usize, f64)>,
    /// Number and mass (kg) of the particles that have left by each outlet. The last entry is for
    /// particles that left the domain otherwise.
    pub(crate) left: Vec<(u64, f64)>,
    /// Load of each wall, summed over the time steps since the last row of the series was computed.
    pub(crate) loads: Vec<Load>,
    /// Durations of the time steps since the last row of the series was written.
    pub(crate) clock: StepClock,
}

impl<'s> World<'s> {
    /// Creates the simulation with the walls of a scene and without particles.
    pub(crate) fn new(scene: &'s PourScene) -> Result<Self, PourError> {
        let mut simulation = Simulation::new(scene.settings)?;
        for wall in &scene.walls {
            let id = simulation.add_wall(wall.wall.clone(), wall.law)?;
            simulation.set_slider(id, wall.schedule.lid().map(|lid| lid.slider));
        }
        let random = |g: &ParticleGroup| SourceState {
            random: Random::new(g.seed, SOURCE_STREAM).0,
            ..SourceState::default()
        };
        Ok(Self {
            scene,
            simulation,
            sources: scene.groups.iter().map(random).collect(),
            particles: Vec::new(),
            left: vec![(0, 0.0); scene.outlets.len() + 1],
            loads: vec![Load::default(); scene.walls.len()],
            clock: StepClock::default(),
        })
    }

    /// Adds the particles of all groups without a source, which exist from the beginning.
    ///
    /// # Errors
    /// A region is not valid, or too small for its particles.
    pub(crate) fn fill(&mut self) -> Result<(), PourError> {
        self.set_placed_lids_enabled(false);
        for (k, group) in self.scene.groups.iter().enumerate() {
            let subject = || format!("[[grains]] '{}': region", group.name);
            let world = &*self;
            let region = region(world, group).within(subject)?;
            region.check().within(subject)?;
            let Some(amount) = group.amount.filter(|_| group.source.is_none()) else { continue };
            let amount = match amount {
                Amount::Volume(v) => Amount::Volume(v / group.shape.volume_fraction()),
                Amount::Number(n) => Amount::Number(n),
            };
            let (sizes, is_free) = (&group.shape.sizes, |ball: &Sphere| world.is_free(ball));
            let balls = match (group.arrangement, &region) {
                (Arrangement::Dense, FillRegion::Box { min, max }) => {
                    deposit((*min, *max), sizes, amount, group.seed, &world.bounding_balls(), is_free)
                }
                _ => fill(&region, sizes, amount, group.seed, is_free),
            };
            for ball in balls.within(subject)? {
                self.add(k, &ball)?;
            }
        }
        self.set_placed_lids_enabled(true);
        self.place_lids()
    }

    /// Enables or disables the lids that are placed at a distance from the particles. While they are
    /// disabled, particles may be placed where a lid is in the scene.
    fn set_placed_lids_enabled(&mut self, enabled: bool) {
        for (k, wall) in self.scene.walls.iter().enumerate() {
            if wall.schedule.lid().is_some_and(|lid| lid.above.is_some()) {
                self.simulation.set_wall_enabled(WallId::new(k), enabled);
            }
        }
    }

    /// Moves the lids along their axes to their distance from the first particle.
    fn place_lids(&mut self) -> Result<(), PourError> {
        for (k, wall) in self.scene.walls.iter().enumerate() {
            let Some((lid, above)) = wall.schedule.lid().and_then(|lid| Some((lid, lid.above?))) else {
                continue;
            };
            let axis = lid.slider.axis();
            let first =
                self.present_particles().map(|id| self.lowest(id, axis)).fold(f64::INFINITY, f64::min);
            if first.is_finite() {
                let pose = wall.schedule.pose_at(wall.wall.pose(), 0.0, first - above - lid.front);
                if let Some(now) = self.simulation.wall_mut(WallId::new(k)) {
                    now.set_pose(pose)?;
                }
            }
        }
        Ok(())
    }

    /// Smallest coordinate along `axis` (unit vector, world) of the surface of a particle (mm). The surface
    /// of a particle that is not a sphere is the one that frames contain.
    fn lowest(&self, id: ParticleId, axis: &V3) -> f64 {
        let (group, radius) = self.particles[id.index()];
        let Some(pose) = self.simulation.pose(id) else { return f64::INFINITY };
        match &self.scene.groups[group].shape.scaled {
            None => pose.translation.vector.dot(axis) - radius,
            Some(scaled) => {
                let along = scaled.points.iter().map(|p| (pose * (p * radius)).coords.dot(axis));
                along.fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// Distance (mm) that the lid with this index among the walls has moved along its axis since its pose in
    /// the scene, and its velocity (mm/s) along the axis; `None` if the wall is not a lid.
    pub(crate) fn lid_motion(&self, wall: usize) -> Option<[f64; 2]> {
        let begin = &self.scene.walls[wall];
        let (lid, now) = (begin.schedule.lid()?, self.simulation.wall(WallId::new(wall))?);
        // Adding 0 turns −0 into 0.
        Some([lid.travel(&begin.wall, now), now.velocity().dot(lid.slider.axis())].map(|x| x + 0.0))
    }

    /// Kinetic energy (µJ) of the particles and lids.
    pub(crate) fn kinetic_energy_with_lids(&self) -> f64 {
        let of_lid = |k: usize| {
            let speed = self.lid_motion(k).map_or(0.0, |[_, speed]| speed);
            let mass = self.scene.walls[k].schedule.lid().map_or(0.0, |lid| lid.slider.mass());
            0.5 * mass * speed * speed
        };
        self.simulation.kinetic_energy() + (0..self.scene.walls.len()).map(of_lid).sum::<f64>()
    }

    /// Bounding balls (mm, world) of the present particles.
    fn bounding_balls(&self) -> Vec<Sphere> {
        self.present_particles().filter_map(|id| self.bounding_ball(id)).collect()
    }

    /// Bounding ball (mm, world) of a particle; `None` if no such particle exists.
    fn bounding_ball(&self, id: ParticleId) -> Option<Sphere> {
        let (group, radius) = self.particles[id.index()];
        let local = self.scene.groups[group].shape.scaled.as_ref().map(|s| s.ball_center * radius);
        Some(Sphere { center: self.simulation.pose(id)? * local.unwrap_or_else(P3::origin), radius })
    }

    /// Adds a particle of a checkpoint at the origin; the saved state of the simulation then sets its
    /// position. `radius` (mm) is that of its bounding ball. Returns `false` if no such group exists,
    /// or the radius is not above 0.
    pub(crate) fn add_restored(&mut self, group: usize, radius: f64) -> Result<bool, PourError> {
        let is_valid = group < self.scene.groups.len() && radius > 0.0;
        if is_valid {
            self.add(group, &Sphere { center: P3::origin(), radius })?;
        }
        Ok(is_valid)
    }

    /// Adds a particle of the group with this index, whose bounding ball is `ball` (mm, world).
    fn add(&mut self, index: usize, ball: &Sphere) -> Result<(), PourError> {
        let group = &self.scene.groups[index];
        let particle = group.shape.particle(ball.radius, group.density)?;
        let number = self.particles.len() as u64;
        let mut random = Random::new(Random::new(group.seed, ORIENTATION_STREAM).whole(), number);
        let rotation = group.shape.random_orientation(&mut random);
        let scaled = group.shape.scaled.as_ref();
        let ball_center = scaled.map_or(P3::origin(), |scaled| scaled.ball_center * ball.radius);
        let pose = Pose::from_parts((ball.center - rotation * ball_center).into(), rotation);
        self.simulation.add(particle, &pose, group.velocity, V3::zeros())?;
        self.particles.push((index, ball.radius));
        Ok(())
    }

    /// Whether a sphere (mm, world) touches no particle and no wall, and is not inside material.
    fn is_free(&self, sphere: &Sphere) -> bool {
        let is_apart = |id: ParticleId| {
            let Some(ball) = self.bounding_ball(id) else { return true };
            let min_distance = ball.radius + sphere.radius;
            (ball.center - sphere.center).norm_squared() >= min_distance * min_distance
        };
        self.present_particles().all(is_apart) && walls::is_free(&self.simulation, &self.scene.walls, sphere)
    }

    /// Computes a time step: sets the motion of the walls, adds the particles of sources, integrates,
    /// and removes the particles that have passed an outlet or left the domain.
    ///
    /// # Errors
    /// The simulation rejects the step.
    pub(crate) fn step(&mut self) -> Result<(), PourError> {
        let step = self.simulation.step_count();
        self.set_walls(step)?;
        for group in 0..self.scene.groups.len() {
            self.feed(group, step)?;
        }
        let Self { simulation, clock, scene, .. } = self;
        clock.measure(|contacts_end| simulation.step_with(scene.times.step, |_, _| contacts_end()))?;
        self.add_loads();
        self.remove_particles();
        Ok(())
    }

    /// Sets the motion of the walls for the step with this number, and disables the walls that open in
    /// it.
    fn set_walls(&mut self, step: u64) -> Result<(), PourError> {
        let times = &self.scene.times;
        for (k, wall) in self.scene.walls.iter().enumerate() {
            let id = WallId::new(k);
            wall.schedule.set(&mut self.simulation, id, step, times)?;
            if wall.opens_at.is_some_and(|t| times.step_at(t) == step) {
                self.simulation.set_wall_enabled(id, false);
            }
        }
        Ok(())
    }

    fn add_loads(&mut self) {
        for (k, sum) in self.loads.iter_mut().enumerate() {
            if let Some(load) = self.simulation.wall_load(WallId::new(k)) {
                sum.force += load.force;
                sum.moment += load.moment;
            }
        }
    }

    /// Removes the particles that have passed an outlet or left the domain, and counts them.
    fn remove_particles(&mut self) {
        for id in self.simulation.particle_ids() {
            let Some(center) = self.simulation.motion(id).map(|m| m.center) else { continue };
            if !self.simulation.is_present(id) {
                continue;
            }
            let outlet = self.scene.outlets.iter().position(|o| o.has_passed(&center));
            let is_out = outlet.is_some() || !self.scene.domain.contains(&center);
            if is_out {
                let (count, mass) = &mut self.left[outlet.unwrap_or(self.scene.outlets.len())];
                *count += 1;
                *mass += self.simulation.mass(id).unwrap_or(0.0);
                self.simulation.remove(id);
            }
        }
    }

    /// Adds the particles of a group that its source has to create up to this step. If the region of the
    /// source has no space for the next one, the source pauses for the fraction 1 / [`RETRIES_PER_ROW`] of
    /// the time between two rows of the series, but for at least one step.
    fn feed(&mut self, group: usize, step: u64) -> Result<(), PourError> {
        let of = &self.scene.groups[group];
        let Some(source) = of.source else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let time = step as f64 * self.scene.times.step;
        if time < source.from || time >= source.until {
            return Ok(());
        }
        let mut state = self.sources[group];
        #[expect(clippy::cast_precision_loss, reason = "a count of particles")]
        let is_due = |made: u64| made as f64 <= (time - source.from) * source.rate;
        while step >= state.tries_at && is_due(state.made) {
            let is_wanted = match of.amount {
                None => true,
                Some(Amount::Number(n)) => state.made < n as u64,
                Some(Amount::Volume(v)) => f64::from_bits(state.volume) < v,
            };
            if !is_wanted {
                break;
            }
            let mut random = Random(state.random);
            if state.next == 0 {
                state.next = (0.5 * of.shape.sizes.draw(&mut random)).to_bits();
            }
            let radius = f64::from_bits(state.next);
            let region = region(self, of).within(|| format!("[[grains]] '{}': region", of.name))?;
            let free_ball = (0..MAX_ATTEMPTS).find_map(|_| {
                let ball = region.place(radius, &mut random)?;
                self.is_free(&ball).then_some(ball)
            });
            state.random = random.0;
            match free_ball {
                Some(ball) => {
                    self.add(group, &ball)?;
                    state.made += 1;
                    let ball = 4.0 / 3.0 * PI * radius * radius * radius;
                    let volume = f64::from_bits(state.volume) + ball * of.shape.volume_fraction();
                    (state.volume, state.next) = (volume.to_bits(), 0);
                }
                // The region has no free space. The source tries again after a fraction of the time between
                // two rows of the output.
                None => state.tries_at = step + (self.scene.times.steps_of_row / RETRIES_PER_ROW).max(1),
            }
        }
        self.sources[group] = state;
        Ok(())
    }

    /// Returns the mean load of each wall since the last row, and resets the sums. It must be called
    /// once for each row, because the sums are divided by the number of steps between two rows.
    pub(crate) fn mean_loads(&mut self) -> Vec<Load> {
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let steps = self.scene.times.steps_of_row as f64;
        let mean = |l: &Load| Load { force: l.force / steps, moment: l.moment / steps };
        let out = self.loads.iter().map(mean).collect();
        self.loads.fill(Load::default());
        out
    }

    /// Measures of the packing at the present time; `None` if the scene does not request them.
    pub(crate) fn packing(&self) -> Option<Packing> {
        let volume = |id: ParticleId| {
            let group = &self.scene.groups[self.particles[id.index()].0];
            (id, self.simulation.mass(id).unwrap_or(0.0) / (group.density * CUBIC_METRE))
        };
        let plan = self.scene.packing.as_ref()?;
        Some(plan.measure(&self.scene.walls, &self.simulation, self.present_particles().map(volume)))
    }

    /// Particles that have not been removed.
    pub(crate) fn present_particles(&self) -> impl Iterator<Item = ParticleId> + '_ {
        self.simulation.particle_ids().filter(|id| self.simulation.is_present(*id))
    }

    /// Total mass (kg) of the present particles, and their potential energy (µJ) relative to the origin
    /// of the world.
    pub(crate) fn mass_and_potential(&self) -> (f64, f64) {
        let gravity = self.scene.settings.gravity;
        let of = |id: ParticleId| {
            let mass = self.simulation.mass(id).unwrap_or(0.0);
            let height = self.simulation.motion(id).map_or(0.0, |m| -gravity.dot(&m.center.coords));
            (mass, mass * height)
        };
        self.present_particles().map(of).fold((0.0, 0.0), |(m, e), (dm, de)| (m + dm, e + de))
    }

    /// Surfaces (world) of the present particles that are not spheres, for frames.
    #[expect(clippy::cast_possible_truncation, reason = "for display")]
    pub(crate) fn surfaces(&self) -> Surfaces {
        let mut out = Surfaces::default();
        for k in self.present_particles() {
            let (group, radius) = self.particles[k.index()];
            let Some(scaled) = &self.scene.groups[group].shape.scaled else { continue };
            let (Some(pose), Some(motion)) = (self.simulation.pose(k), self.simulation.motion(k)) else {
                continue;
            };
            let first = i64::try_from(out.points.len()).unwrap_or(i64::MAX);
            out.points.extend(scaled.points.iter().map(|p| pose * (p * radius)));
            out.corners.extend(scaled.triangles.iter().flatten().map(|c| first + i64::from(*c)));
            let many = scaled.points.len();
            out.ids.extend(std::iter::repeat_n(i64::try_from(k.index()).unwrap_or(i64::MAX), many));
            out.groups.extend(std::iter::repeat_n(i64::try_from(group).unwrap_or(i64::MAX), many));
            out.speeds.extend(std::iter::repeat_n(motion.velocity.norm() as f32, many));
        }
        out
    }

    /// Frame with all present particles.
    #[expect(clippy::cast_possible_truncation, reason = "for display")]
    pub(crate) fn frame(&self) -> Frame {
        let mut out = Frame::default();
        for k in self.present_particles() {
            let Some(motion) = self.simulation.motion(k) else { continue };
            let (group, radius) = self.particles[k.index()];
            let shape = &self.scene.groups[group].shape;
            out.centers.push(motion.center);
            out.radii.push(shape.equal_radius(radius) as f32);
            out.velocities.push([0, 1, 2].map(|i| motion.velocity[i] as f32));
            out.ids.push(i64::try_from(k.index()).unwrap_or(i64::MAX));
            out.groups.push(i64::try_from(self.particles[k.index()].0).unwrap_or(i64::MAX));
            if self.scene.has_surfaces() {
                let rotation = self.simulation.pose(k).map_or_else(UnitQuaternion::identity, |p| p.rotation);
                out.rotations.push([rotation.w, rotation.i, rotation.j, rotation.k].map(|x| x as f32));
            }
        }
        out
    }
}

/// Returns the region in which particles of a group are placed. A region inside a wall moves with the
/// wall. That wall must have triangles that do not enclose material (`sides = "both"`, open or closed);
/// other walls are an error.
fn region<'w>(world: &'w World<'_>, group: &ParticleGroup) -> Result<FillRegion<'w>, PourError> {
    Ok(match &group.region {
        RegionTable::Box([a, b]) => FillRegion::Box { min: P3::from(*a), max: P3::from(*b) },
        RegionTable::Cylinder { from, to, radius } => {
            FillRegion::Cylinder { from: P3::from(*from), to: P3::from(*to), radius: *radius }
        }
        RegionTable::Inside { wall, above, below } => {
            let walls = &world.scene.walls;
            let names = || walls.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
            let k = walls.iter().position(|p| p.name == *wall).ok_or_else(|| {
                PourError::value(
                    "inside",
                    format!("the scene has no wall '{wall}'; its walls are {}", names()),
                )
            })?;
            let Some(Wall::Facets(facets)) = world.simulation.wall(WallId::new(k)) else {
                let problem =
                    format!("wall '{wall}' has no triangles; give it an STL file without solid, or a chord");
                return Err(PourError::value("inside", problem));
            };
            ensure!(
                !walls[k].is_material,
                "inside",
                "wall '{wall}' encloses material; give it sides = \"both\" if it is a container"
            );
            FillRegion::Inside {
                wall: facets,
                above: above.unwrap_or(f64::NEG_INFINITY),
                below: below.unwrap_or(f64::INFINITY),
            }
        }
    })
}

/// Number of the stream of random numbers of sources. Streams with different numbers and the same seed
/// are independent of each other.
const SOURCE_STREAM: u64 = 3;

/// Number of the stream of random numbers for the orientations of particles.
const ORIENTATION_STREAM: u64 = 4;

/// Maximum number of positions that a source tries for a particle in one step. A larger value takes time
/// if the region is full; a smaller one leaves space unused.
const MAX_ATTEMPTS: u32 = 20;

/// Number of times that a source whose region is full tries again between two rows of the series. A
/// larger value takes more time; a smaller one delays the particles of the source.
const RETRIES_PER_ROW: u64 = 20;
