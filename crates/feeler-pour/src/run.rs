//! Runs of scenes, which write rows, frames and checkpoints to a folder.

use crate::animation::animation;
use crate::checkpoint::{self, Checkpoint};
use crate::error::{CheckpointProblem, PourError, Within as _};
use crate::files::{self, Files};
use crate::packing::Packing;
use crate::series::{self, Series};
use crate::setup::PourScene;
use crate::stop::StopState;
use crate::timing::{StepClock, StepDurations};
use crate::world::World;
use feeler_particles::{SearchBounds, SearchCounts};
use feeler_view::picture::Picture;
use std::path::Path;

/// Run of a scene, which writes its results to a folder. Each call of [`PourRun::advance`] computes one
/// row. A run that was interrupted for any reason continues from its last checkpoint.
#[derive(Debug)]
pub struct PourRun<'s> {
    world: World<'s>,
    files: Files,
    /// Last checkpoint that was written or read; [`PourRun::save`] updates it.
    checkpoint: Checkpoint,
    /// Number of the row that belongs to the current state.
    row: u64,
    stop: StopState,
    /// Durations of all time steps of this object.
    clock: StepClock,
}

/// Number and mass of the particles that have left the domain by one outlet, or not by an outlet
/// (`lost`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outflow {
    /// Name of the outlet; `lost` for particles that have left the domain otherwise.
    pub name: String,
    /// Number of particles that have left in this way since the beginning of the run.
    pub count: u64,
    /// Total mass of these particles (kg).
    pub mass: f64,
}

/// Results of a run at its current row.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PourSummary {
    /// Simulated time (s).
    pub time: f64,
    /// Number of particles in the domain.
    pub count: usize,
    /// Mass of the particles in the domain (kg).
    pub mass: f64,
    /// Kinetic energy of the particles in the domain (µJ).
    pub kinetic_energy: f64,
    /// Potential energy in gravity of the particles in the domain, 0 at the origin of coordinates (µJ).
    pub potential_energy: f64,
    /// Outflow by each outlet, followed by the outflow out of the domain (`lost`).
    pub outflows: Vec<Outflow>,
    /// Names of the sources that have drawn the next particle, but have not found a free position for it
    /// in their region yet.
    pub blocked_sources: Vec<String>,
    /// Measures of the packing, if the scene has a table `[packing]`.
    pub packing: Option<Packing>,
    /// Whether the run has ended because the particles are at rest, as the table `[stop]` states.
    pub has_settled: bool,
}

impl<'s> PourRun<'s> {
    /// Opens the folder of a run and continues from its checkpoint. If no checkpoint exists, or if
    /// `fresh`, the run starts at the beginning and earlier results in the folder are removed.
    ///
    /// # Errors
    /// The particles do not fit in their regions, the checkpoint is damaged or belongs to another scene,
    /// another run writes to the folder, or a file cannot be written.
    pub fn open(scene: &'s PourScene, folder: &Path, fresh: bool) -> Result<Self, PourError> {
        let mut world = World::new(scene)?;
        let saved = if fresh { None } else { checkpoint::read(&files::checkpoint(folder), scene.hash)? };
        if saved.is_none() {
            // If particles do not fit in their regions, the error occurs before any file is written.
            world.fill()?;
        }
        let mut files = Files::open(folder)?;
        if let Some((checkpoint, state)) = saved {
            let is_restored = restore(&mut world, &checkpoint, &state)?;
            if !is_restored {
                let problem = CheckpointProblem::Contents;
                return Err(PourError::Checkpoint { path: files.checkpoint(), problem });
            }
            files.truncate(checkpoint.series, checkpoint.row / scene.times.rows_of_frame + 1)?;
            files.truncate_timing(checkpoint.row)?;
            let (row, stop) = (checkpoint.row, checkpoint.stop);
            return Ok(Self { world, files, checkpoint, row, stop, clock: StepClock::default() });
        }
        files.begin(scene)?;
        let loads = world.mean_loads();
        let before: Vec<f64> = world.left.iter().map(|l| l.1).collect();
        files.row(&series::row(&world, 0.0, &before, &loads))?;
        files.add_frame(&world)?;
        let checkpoint = Checkpoint { scene: scene.hash, ..Checkpoint::default() };
        let (stop, clock) = (StopState::default(), StepClock::default());
        let mut run = Self { world, files, checkpoint, row: 0, stop, clock };
        run.save()?;
        Ok(run)
    }

    /// Number of the row that belongs to the current state: 0 at the beginning,
    /// [`PourTimes::rows`](crate::PourTimes) at the end.
    #[must_use]
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Time of the current state (s).
    #[must_use]
    pub fn time(&self) -> f64 {
        self.world.scene.times.time_of_row(self.row)
    }

    /// Whether the run has reached its last row, or has ended because the particles are at rest.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.row >= self.world.scene.times.rows || self.stop.has_stopped
    }

    /// Mean durations of the time steps that this object has computed; `None` before the first one. They are
    /// not part of the results, which are equal in each run.
    #[must_use]
    pub fn step_durations(&self) -> Option<StepDurations> {
        self.clock.means()
    }

    /// Counts the pairs that the search for contacts excludes, tracks and searches from now on, and sets
    /// whether it uses lower bounds of distances. The files of the run are the same, except for durations.
    pub fn measure_search(&mut self, bounds: SearchBounds) {
        self.world.simulation.measure_search(bounds);
    }

    /// Counts of the search for contacts; `None` without [`PourRun::measure_search`].
    #[must_use]
    pub fn search_counts(&self) -> Option<SearchCounts> {
        self.world.simulation.search_counts()
    }

    /// Number of particles in the domain.
    #[must_use]
    pub fn particle_count(&self) -> usize {
        self.world.simulation.present_count()
    }

    /// Computes the time steps up to the next row and writes the row, with a frame and a checkpoint if
    /// they are due. The steps use the current thread pool of rayon. Does nothing once the run is
    /// finished.
    ///
    /// # Errors
    /// The simulation rejects a step, or a file cannot be written.
    pub fn advance(&mut self) -> Result<(), PourError> {
        if self.is_finished() {
            return Ok(());
        }
        let world = &mut self.world;
        let times = world.scene.times;
        let row = self.row + 1;
        let before: Vec<f64> = world.left.iter().map(|l| l.1).collect();
        for _ in 0..times.steps_of_row {
            world.step().within(|| format!("after {} s", world.simulation.time()))?;
        }
        let loads = world.mean_loads();
        self.files.row(&series::row(world, times.time_of_row(row), &before, &loads))?;
        let is_frame = row.is_multiple_of(times.rows_of_frame);
        if is_frame {
            self.files.add_frame(world)?;
        }
        let clock = std::mem::take(&mut world.clock);
        self.clock.add(&clock);
        if let Some(means) = clock.means().filter(|_| world.scene.has_timing) {
            self.files.timing_row(times.time_of_row(row), &means)?;
        }
        if let Some(rule) = &world.scene.stop {
            rule.update(&mut self.stop, world.kinetic_energy_with_lids(), is_frame);
        }
        self.row = row;
        if self.is_finished() || row.is_multiple_of(times.rows_of_checkpoint) {
            self.save()?;
        }
        Ok(())
    }

    /// Writes a checkpoint of the current state, and the list of frames for `ParaView`.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn save(&mut self) -> Result<(), PourError> {
        let (world, checkpoint) = (&self.world, &mut self.checkpoint);
        checkpoint.row = self.row;
        checkpoint.stop = self.stop;
        checkpoint.series = self.files.sync()?;
        checkpoint.sources.clone_from(&world.sources);
        checkpoint.particles = world.particles.iter().map(|(g, r)| (*g, r.to_bits())).collect();
        checkpoint.left = world.left.iter().map(|(n, m)| (*n, m.to_bits())).collect();
        self.files.write_list(world.scene)?;
        checkpoint::write(&self.files.checkpoint(), checkpoint, &world.simulation.save())
    }

    /// Results at the current row.
    #[must_use]
    pub fn summary(&self) -> PourSummary {
        let world = &self.world;
        let (mass, potential_energy) = world.mass_and_potential();
        let outflow = |(name, (count, mass)): (&str, &(u64, f64))| Outflow {
            name: name.to_owned(),
            count: *count,
            mass: *mass,
        };
        let sources = world.scene.groups.iter().zip(&world.sources);
        let blocked = sources.filter(|(group, source)| group.source.is_some() && source.next != 0);
        PourSummary {
            time: self.time(),
            count: self.particle_count(),
            mass,
            kinetic_energy: world.simulation.kinetic_energy(),
            potential_energy,
            outflows: world.scene.outflow_names().zip(&world.left).map(outflow).collect(),
            blocked_sources: blocked.map(|(group, _)| group.name.clone()).collect(),
            packing: world.packing(),
            has_settled: self.stop.has_stopped,
        }
    }

    /// Reads the series that the run has written so far.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn series(&self) -> Result<Series, PourError> {
        Series::read(&self.files.series())
    }

    /// Builds the animated picture of the run, with the title `name`, for a page of `feeler-view`. If
    /// the frames contain very many particles, only every n-th frame is included.
    ///
    /// # Errors
    /// A file of the run cannot be read, for example because the run is not finished.
    pub fn animation(&self, name: &str) -> Result<Picture, PourError> {
        animation(name, self.world.scene, &self.files, &self.series()?, self.row)
    }
}

/// Restores `world` from a checkpoint and the saved state of its simulation. Returns `false` if the
/// checkpoint does not fit the scene.
fn restore(world: &mut World<'_>, checkpoint: &Checkpoint, state: &[u8]) -> Result<bool, PourError> {
    for (group, radius) in &checkpoint.particles {
        if !world.add_restored(*group, f64::from_bits(*radius))? {
            return Ok(false);
        }
    }
    world.simulation.restore(state)?;
    let counts = (checkpoint.sources.len(), checkpoint.left.len());
    if counts != (world.sources.len(), world.left.len()) {
        return Ok(false);
    }
    world.sources.clone_from(&checkpoint.sources);
    world.left = checkpoint.left.iter().map(|(n, m)| (*n, f64::from_bits(*m))).collect();
    Ok(true)
}
