//! A simulation with its sources, outlets and walls that open.

use super::checkpoint::SourceState;
use super::plan::{Outlet, ParticleGroup, Times};
use super::scene::Region;
use super::vtk::{Frame, Surfaces};
use super::walls::{self, SceneWall};
use anyhow::{Context as _, ensure};
use feeler_geom::{Aabb, P3, Pose, V3};
use feeler_particles::{
    Amount, FillRegion, Load, ParticleId, Random, Settings, Simulation, Sphere, Wall, WallId, fill,
};
use nalgebra::UnitQuaternion;
use std::f64::consts::PI;

/// What is simulated.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) settings: Settings,
    pub(super) groups: Vec<ParticleGroup>,
    pub(super) walls: Vec<SceneWall>,
    pub(super) outlets: Vec<Outlet>,
    pub(super) domain: Aabb,
    pub(super) times: Times,
}

impl Setting {
    /// Whether some particles are not spheres.
    pub(super) fn has_surfaces(&self) -> bool {
        self.groups.iter().any(|g| g.shape.scaled.is_some())
    }
}

/// A simulation and what is counted of it.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) setting: &'a Setting,
    pub(super) simulation: Simulation,
    pub(super) sources: Vec<SourceState>,
    /// Group and radius (mm) of all particles, including removed ones, by their number.
    pub(super) particles: Vec<(usize, f64)>,
    /// Number and mass (kg) of the particles that have left by each outlet, and last of those that left the
    /// domain.
    pub(super) left: Vec<(u64, f64)>,
    /// Loads of walls, added up over the steps of a row.
    pub(super) loads: Vec<Load>,
}

impl<'a> World<'a> {
    /// With walls, and no grains yet.
    pub(super) fn new(setting: &'a Setting) -> anyhow::Result<Self> {
        let mut simulation = Simulation::new(setting.settings)?;
        for wall in &setting.walls {
            simulation.add_wall(wall.wall.clone(), wall.law)?;
        }
        let random = |g: &ParticleGroup| SourceState {
            random: Random::new(g.seed, SOURCE).0,
            ..SourceState::default()
        };
        Ok(Self {
            setting,
            simulation,
            sources: setting.groups.iter().map(random).collect(),
            particles: Vec::new(),
            left: vec![(0, 0.0); setting.outlets.len() + 1],
            loads: vec![Load::default(); setting.walls.len()],
        })
    }

    /// Puts in the grains that are there at the beginning.
    ///
    /// # Errors
    /// Regions that are none, or too small.
    pub(super) fn fill(&mut self) -> anyhow::Result<()> {
        for (k, group) in self.setting.groups.iter().enumerate() {
            let of_group = || format!("[[grains]] '{}': region", group.name);
            let world = &*self;
            let region = region(world, group).with_context(of_group)?;
            region.check().with_context(of_group)?;
            let Some(amount) = group.amount.filter(|_| group.source.is_none()) else { continue };
            let amount = match amount {
                Amount::Volume(v) => Amount::Volume(v / group.shape.filled()),
                Amount::Number(n) => Amount::Number(n),
            };
            let balls = fill(&region, &group.shape.sizes, amount, group.seed, |ball| world.is_free(ball))
                .with_context(of_group)?;
            for ball in balls {
                self.add(k, &ball)?;
            }
        }
        Ok(())
    }

    /// Adds a particle of a checkpoint, at the origin: its position is that of the saved state.
    pub(super) fn add_restored(&mut self, group: usize, radius: f64) -> anyhow::Result<()> {
        ensure!(
            group < self.setting.groups.len() && radius > 0.0,
            "the checkpoint has a particle of no group"
        );
        self.add(group, &Sphere { center: P3::origin(), radius })
    }

    fn add(&mut self, group: usize, ball: &Sphere) -> anyhow::Result<()> {
        let of = &self.setting.groups[group];
        let particle = of.shape.particle(ball.radius, of.density)?;
        let number = self.particles.len() as u64;
        let turn = of.shape.turn(&mut Random::new(Random::new(of.seed, TURN).whole(), number));
        let middle = of.shape.scaled.as_ref().map_or(P3::origin(), |scaled| scaled.middle * ball.radius);
        let pose = Pose::from_parts((ball.center - turn * middle).into(), turn);
        self.simulation.add(particle, &pose, of.velocity, V3::zeros())?;
        self.particles.push((group, ball.radius));
        Ok(())
    }

    fn is_free(&self, sphere: &Sphere) -> bool {
        let is_apart = |id: ParticleId| {
            let Some(motion) = self.simulation.motion(id) else { return true };
            let (group, radius) = self.particles[id.index()];
            let min_distance = radius + sphere.radius;
            // A bounding sphere is not about the centre of mass.
            let center = match &self.setting.groups[group].shape.scaled {
                None => motion.center,
                Some(scaled) => {
                    self.simulation.pose(id).map_or(motion.center, |pose| pose * (scaled.middle * radius))
                }
            };
            (center - sphere.center).norm_squared() >= min_distance * min_distance
        };
        self.present_particles().all(is_apart)
            && walls::is_free(&self.simulation, &self.setting.walls, sphere)
    }

    /// Makes a step: what begins in it begins, sources give, grains that are through an outlet or out of the
    /// domain leave.
    ///
    /// # Errors
    /// A step that is too long.
    pub(super) fn step(&mut self) -> anyhow::Result<()> {
        let times = &self.setting.times;
        let step = self.simulation.step_count();
        for (k, wall) in self.setting.walls.iter().enumerate() {
            let id = WallId::new(k);
            wall.schedule.set(&mut self.simulation, id, step, times)?;
            if wall.opens_at.is_some_and(|t| times.step_at(t) == step) {
                self.simulation.set_wall_enabled(id, false);
            }
        }
        for group in 0..self.setting.groups.len() {
            self.give(group, step)?;
        }
        self.simulation.step(times.step)?;
        for (k, sum) in self.loads.iter_mut().enumerate() {
            if let Some(load) = self.simulation.wall_load(WallId::new(k)) {
                sum.force += load.force;
                sum.moment += load.moment;
            }
        }
        for id in self.simulation.particle_ids() {
            let Some(center) = self.simulation.motion(id).map(|m| m.center) else { continue };
            if !self.simulation.is_present(id) {
                continue;
            }
            let outlet = self.setting.outlets.iter().position(|o| o.has_let(&center));
            let is_out = outlet.is_some() || !self.setting.domain.contains(&center);
            if is_out {
                let (count, mass) = &mut self.left[outlet.unwrap_or(self.setting.outlets.len())];
                *count += 1;
                *mass += self.simulation.mass(id).unwrap_or(0.0);
                self.simulation.remove(id);
            }
        }
        Ok(())
    }

    /// Lets a source give what is due, as far as there is room.
    fn give(&mut self, group: usize, step: u64) -> anyhow::Result<()> {
        let of = &self.setting.groups[group];
        let Some(source) = of.source else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let time = step as f64 * self.setting.times.step;
        if time < source.from || time >= source.until {
            return Ok(());
        }
        let mut state = self.sources[group];
        #[expect(clippy::cast_precision_loss, reason = "a count of grains")]
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
            let region = region(self, of).with_context(|| format!("[[grains]] '{}': region", of.name))?;
            let place = (0..TRIES).find_map(|_| {
                let ball = region.place(radius, &mut random)?;
                self.is_free(&ball).then_some(ball)
            });
            state.random = random.0;
            match place {
                Some(ball) => {
                    self.add(group, &ball)?;
                    state.made += 1;
                    let ball = 4.0 / 3.0 * PI * radius * radius * radius;
                    let volume = f64::from_bits(state.volume) + ball * of.shape.filled();
                    (state.volume, state.next) = (volume.to_bits(), 0);
                }
                // Grains have to fall out of the way first.
                None => state.tries_at = step + (self.setting.times.steps_of_row / WAITS).max(1),
            }
        }
        self.sources[group] = state;
        Ok(())
    }

    /// Mean loads of the steps since the last time, and begins anew.
    pub(super) fn mean_loads(&mut self) -> Vec<Load> {
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let steps = self.setting.times.steps_of_row as f64;
        let mean = |l: &Load| Load { force: l.force / steps, moment: l.moment / steps };
        let out = self.loads.iter().map(mean).collect();
        self.loads.fill(Load::default());
        out
    }

    /// Particles that have not been removed.
    pub(super) fn present_particles(&self) -> impl Iterator<Item = ParticleId> + '_ {
        self.simulation.particle_ids().filter(|id| self.simulation.is_present(*id))
    }

    /// Mass (kg) of the present particles, and their potential energy (µJ) relative to the origin.
    pub(super) fn mass_and_potential(&self) -> (f64, f64) {
        let gravity = self.setting.settings.gravity;
        let of = |id: ParticleId| {
            let mass = self.simulation.mass(id).unwrap_or(0.0);
            let height = self.simulation.motion(id).map_or(0.0, |m| -gravity.dot(&m.center.coords));
            (mass, mass * height)
        };
        self.present_particles().map(of).fold((0.0, 0.0), |(m, e), (dm, de)| (m + dm, e + de))
    }

    /// Surfaces of the particles that are not spheres, as they are drawn.
    #[expect(clippy::cast_possible_truncation, reason = "for pictures")]
    pub(super) fn surfaces(&self) -> Surfaces {
        let mut out = Surfaces::default();
        for k in self.present_particles() {
            let (group, radius) = self.particles[k.index()];
            let Some(scaled) = &self.setting.groups[group].shape.scaled else { continue };
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

    /// What a frame shows.
    #[expect(clippy::cast_possible_truncation, reason = "for pictures")]
    pub(super) fn frame(&self) -> Frame {
        let mut out = Frame::default();
        for k in self.present_particles() {
            let Some(motion) = self.simulation.motion(k) else { continue };
            let (group, radius) = self.particles[k.index()];
            let shape = &self.setting.groups[group].shape;
            out.centers.push(motion.center);
            out.radii.push(shape.equal_radius(radius) as f32);
            out.velocities.push([0, 1, 2].map(|i| motion.velocity[i] as f32));
            out.ids.push(i64::try_from(k.index()).unwrap_or(i64::MAX));
            out.groups.push(i64::try_from(self.particles[k.index()].0).unwrap_or(i64::MAX));
            if self.setting.has_surfaces() {
                let turn = self.simulation.pose(k).map_or_else(UnitQuaternion::identity, |p| p.rotation);
                out.turns.push([turn.w, turn.i, turn.j, turn.k].map(|x| x as f32));
            }
        }
        out
    }
}

/// The region of a group where its wall is now.
fn region<'w>(world: &'w World<'_>, group: &ParticleGroup) -> anyhow::Result<FillRegion<'w>> {
    Ok(match &group.region {
        Region::Box([a, b]) => FillRegion::Box { min: P3::from(*a), max: P3::from(*b) },
        Region::Cylinder { from, to, radius } => {
            FillRegion::Cylinder { from: P3::from(*from), to: P3::from(*to), radius: *radius }
        }
        Region::Inside { wall, above, below } => {
            let walls = &world.setting.walls;
            let names = || walls.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
            let k = walls.iter().position(|p| p.name == *wall);
            let k = k.with_context(|| format!("inside: there is no wall '{wall}'; there are {}", names()))?;
            let Some(Wall::Facets(facets)) = world.simulation.wall(WallId::new(k)) else {
                anyhow::bail!(
                    "inside: wall '{wall}' has no triangles; give it an STL file without solid, or a chord"
                );
            };
            ensure!(
                !walls[k].is_material,
                "inside: wall '{wall}' is material inside; give it sides = \"both\" if it is a container"
            );
            FillRegion::Inside {
                wall: facets,
                above: above.unwrap_or(f64::NEG_INFINITY),
                below: below.unwrap_or(f64::INFINITY),
            }
        }
    })
}

/// Number of the stream of random numbers of the sources: the second argument of [`Random::new`].
const SOURCE: u64 = 3;
/// Number of the stream of random numbers of the orientations of grains.
const TURN: u64 = 4;

/// Places that a source tries in one step, and how often it tries between two rows where there was no room.
const TRIES: u32 = 20;
const WAITS: u64 = 20;
