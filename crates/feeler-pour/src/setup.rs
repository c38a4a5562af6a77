//! Scenes that are ready to run, with particle groups, walls, outlets, domain and times.

use crate::error::{PourError, Within as _, ensure};
use crate::packing::PackingPlan;
use crate::plan::{self, Outlet, ParticleGroup, PourTimes};
use crate::shape::ScaledShape;
use crate::stop::StopRule;
use crate::tables::{self, SceneFile, ShapeTable};
use crate::walls::{self, SceneWall};
use feeler_geom::{Aabb, V3};
use feeler_import::input_hash;
use feeler_particles::{Law, SimulationSettings, Wall};
use std::path::Path;

/// Scene that was read from a file and checked.
#[derive(Debug)]
pub struct PourScene {
    pub(crate) settings: SimulationSettings,
    pub(crate) groups: Vec<ParticleGroup>,
    pub(crate) walls: Vec<SceneWall>,
    pub(crate) outlets: Vec<Outlet>,
    /// Box (mm, world) outside which particles are removed as lost.
    pub(crate) domain: Aabb,
    pub(crate) times: PourTimes,
    pub(crate) packing: Option<PackingPlan>,
    pub(crate) stop: Option<StopRule>,
    /// Whether the durations of steps are written.
    pub(crate) has_timing: bool,
    /// Hash of the scene, of all files that it names and of the version of the program.
    pub(crate) hash: u64,
    notes: Vec<String>,
}

impl PourScene {
    /// Reads a scene file and the models that it names.
    ///
    /// # Errors
    /// A file cannot be read, or the scene is not valid; the error names the file, the table and the key.
    pub fn load(file: &Path) -> Result<Self, PourError> {
        let read = |error| PourError::Read { path: file.to_owned(), error };
        let text = std::fs::read_to_string(file).map_err(read)?;
        let folder = file.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder).within(|| file.display().to_string())
    }

    /// Reads the text of a scene file; paths in it are relative to `folder`.
    ///
    /// # Errors
    /// Like [`Self::load`].
    pub fn parse(text: &str, folder: &Path) -> Result<Self, PourError> {
        let scene = tables::read(text)?;
        let hash = hash(text, &scene, folder)?;
        let mut notes = Vec::new();
        let between = scene.law(scene.between.as_deref()).in_key("between")?;
        let groups = plan::groups(&scene, folder)?;
        let outlets = plan::outlets(&scene)?;
        let walls = walls::read(&scene, folder, &mut notes)?;
        check_solids(&groups, &walls)?;
        let domain = plan::domain(&scene, &walls::bounds(&walls))?;
        let mass = |w: &SceneWall| w.schedule.lid().map(|lid| lid.slider.mass());
        let laws: Vec<(Law, Option<f64>)> = walls.iter().map(|w| (w.law, mass(w))).collect();
        let speed = max_speed(&scene, &groups, &walls, &domain);
        let contact = plan::shortest_contact(&groups, &between, &laws, speed);
        let (times, note) = plan::times(&scene, contact)?;
        notes.extend(note);
        check_names(&outlets, &walls)?;
        let settings = SimulationSettings { gravity: scene.gravity.into(), between: Some(between) };
        let packing = scene.packing.as_ref().map(|table| PackingPlan::new(table, &walls)).transpose();
        let packing = packing.in_key("[packing]")?;
        #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
        let row = times.step * times.steps_of_row as f64;
        let stop = scene.stop.as_ref().map(|table| StopRule::new(table, row)).transpose().in_key("[stop]")?;
        let has_timing = scene.output.timing;
        for group in &groups {
            notes.extend(group.shape.note.iter().map(|note| format!("[[grains]] '{}': {note}", group.name)));
        }
        Ok(Self { settings, groups, walls, outlets, domain, times, packing, stop, has_timing, hash, notes })
    }

    /// Messages about the scene: models that were prepared in memory, parts that could not be prepared, the
    /// mass properties of meshes, and a warning if the time step is long.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Time step, and the intervals of rows, frames and checkpoints.
    #[must_use]
    pub fn times(&self) -> &PourTimes {
        &self.times
    }

    /// Names of the outlets, followed by `lost` for particles that leave the domain otherwise.
    pub fn outflow_names(&self) -> impl Iterator<Item = &str> {
        self.outlets.iter().map(|o| o.name.as_str()).chain([LOST])
    }

    /// Whether a particle group of the scene has a shape other than a sphere.
    pub(crate) fn has_surfaces(&self) -> bool {
        self.groups.iter().any(|g| g.shape.scaled.is_some())
    }

    /// Time of the frame with this number (s).
    pub(crate) fn time_of_frame(&self, frame: u64) -> f64 {
        self.times.time_of_row(frame * self.times.rows_of_frame)
    }
}

/// Hash of a scene, of the files that it names, and of the version of this crate.
fn hash(text: &str, scene: &SceneFile, folder: &Path) -> Result<u64, PourError> {
    let mut all = format!("{}\n{text}", env!("CARGO_PKG_VERSION")).into_bytes();
    let of_walls = scene.walls.iter().filter_map(|w| w.file.as_ref().map(|f| ("[[wall]]", f)));
    let of_grains = scene.groups.iter().filter_map(|g| match &g.shape {
        Some(ShapeTable::Solid(solid)) => Some(("[[grains]] shape: solid", &solid.file)),
        _ => None,
    });
    for (table, file) in of_walls.chain(of_grains) {
        let path = folder.join(file);
        let bytes = std::fs::read(&path).map_err(|e| {
            let remedy = "paths are relative to the scene's folder";
            PourError::value(
                format!("{table}: file"),
                format!("{}: cannot be read: {e}; {remedy}", path.display()),
            )
        })?;
        all.extend(input_hash(&bytes).to_le_bytes());
    }
    Ok(input_hash(&all))
}

/// Rejects a scene with particles that are solids and walls of triangles, because contacts between these
/// are not implemented.
fn check_solids(groups: &[ParticleGroup], walls: &[SceneWall]) -> Result<(), PourError> {
    let solids = groups.iter().find(|g| g.shape.scaled.as_ref().is_some_and(ScaledShape::is_solid));
    let facets = walls.iter().find(|w| matches!(w.wall, Wall::Facets(_)));
    let (Some(group), Some(wall)) = (solids, facets) else { return Ok(()) };
    let problem = format!(
        "grains '{}' are solids, which have no contacts with triangles; omit chord, or add solid = true for \
         an STL file",
        group.name
    );
    Err(PourError::value(format!("[[wall]] '{}'", wall.name), problem))
}

/// Rejects equal names of outlets and walls, and the name `lost`, because the names become columns of
/// the series.
fn check_names(outlets: &[Outlet], walls: &[SceneWall]) -> Result<(), PourError> {
    let names: Vec<&str> =
        outlets.iter().map(|o| o.name.as_str()).chain(walls.iter().map(|w| w.name.as_str())).collect();
    for (k, name) in names.iter().enumerate() {
        let is_new = *name != LOST && !names[..k].contains(name);
        ensure!(is_new, "name", "'{name}' is taken; give each wall and outlet a name of its own");
    }
    Ok(())
}

/// Estimate of the largest speed of contacts (mm/s), at least [`MIN_SPEED`]: the sum of the speed after
/// a fall over the diagonal of the domain and of the largest initial speed of particles and speed of
/// walls.
fn max_speed(scene: &SceneFile, groups: &[ParticleGroup], walls: &[SceneWall], domain: &Aabb) -> f64 {
    let height = domain.diagonal();
    let fallen = (2.0 * V3::from(scene.gravity).norm() * height).sqrt();
    let thrown = groups.iter().map(|g| g.velocity.norm()).fold(0.0, f64::max);
    let moved = walls.iter().map(|w| w.schedule.max_speed(height)).fold(0.0, f64::max);
    (fallen + thrown + moved).max(MIN_SPEED)
}

/// Name of the outflow of particles that leave the domain other than by an outlet.
const LOST: &str = "lost";

/// Minimum of the estimated speed of contacts (mm/s) from which the time step is computed; it is used if
/// nothing moves. A larger value shortens the steps of scenes without gravity; a smaller one makes steps
/// of Hertzian contacts unbounded.
const MIN_SPEED: f64 = 1.0;
