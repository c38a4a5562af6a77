//! Files of a run in its folder. If a run continues from a checkpoint, rows and frames that were written
//! after it are discarded.

use crate::error::PourError;
use crate::series;
use crate::setup::PourScene;
use crate::timing::StepDurations;
use crate::vtk;
use crate::world::World;
use feeler_geom::P3;
use feeler_hierarchy::whole::write_whole;
use feeler_particles::WallId;
use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const SERIES: &str = "series.csv";
const COLLECTION: &str = "scene.pvd";
const CHECKPOINT: &str = "checkpoint";
const TIMING: &str = "timing.csv";
const FRAMES: &str = "frames";

/// Names of the columns of the file of durations.
const TIMING_COLUMNS: [&str; 3] = ["time_s", "contacts_s", "step_s"];

/// Open files of a run. While they exist, a lock prevents other runs from writing to the folder.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
    series: File,
    length: u64,
    frames: u64,
}

impl Files {
    /// Opens the folder of a run, which is created if necessary, and locks it.
    ///
    /// # Errors
    /// The folder cannot be created, or another run writes to it.
    pub(crate) fn open(folder: &Path) -> Result<Self, PourError> {
        let frames = folder.join(FRAMES);
        fs::create_dir_all(&frames).map_err(PourError::write(&frames, "create the folder"))?;
        let path = folder.join(SERIES);
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let series = open.map_err(PourError::write(&path, "write"))?;
        // On file systems without locks, other runs are not excluded.
        if matches!(series.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(PourError::Locked { path });
        }
        let out = Self { folder: folder.to_path_buf(), series, length: 0, frames: 0 };
        for folder in [out.folder.clone(), frames] {
            remove(&folder, |name| name.starts_with('.') && name.ends_with(".tmp"))?;
        }
        Ok(out)
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        checkpoint(&self.folder)
    }

    pub(crate) fn series(&self) -> PathBuf {
        self.folder.join(SERIES)
    }

    pub(crate) fn frame(&self, number: u64) -> PathBuf {
        self.folder.join(frame(number))
    }

    /// Removes all files of an earlier run, and writes the fixed walls, the shapes of particles and the
    /// header of the series.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub(crate) fn begin(&mut self, scene: &PourScene) -> Result<(), PourError> {
        match fs::remove_file(self.checkpoint()) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(PourError::write(&self.checkpoint(), "remove")(e));
            }
            _ => {}
        }
        self.truncate(0, 0)?;
        for (k, wall) in scene.walls.iter().enumerate() {
            if wall.schedule.is_fixed() && !wall.mesh.1.is_empty() {
                let points: Vec<P3> = wall.mesh.0.iter().map(|p| wall.wall.pose() * p).collect();
                self.whole(&fixed(k), &vtk::wall(&points, &wall.mesh.1))?;
            }
        }
        for (k, group) in scene.groups.iter().enumerate() {
            if let Some(scaled) = &group.shape.scaled {
                let surface = scaled.surface(GLYPH_HALVINGS);
                self.whole(&shape(k), &vtk::wall(&surface.points, &surface.triangles))?;
            }
        }
        self.begin_timing(scene)?;
        self.row(&series::header(scene))
    }

    /// Writes the header of the file of durations, or removes that file if the scene does not request it.
    fn begin_timing(&self, scene: &PourScene) -> Result<(), PourError> {
        if scene.has_timing {
            return self.whole(TIMING, &series::line(&TIMING_COLUMNS.map(str::to_owned)));
        }
        let path = self.folder.join(TIMING);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(PourError::write(&path, "remove")(e)),
            _ => Ok(()),
        }
    }

    /// Appends the mean durations of the steps up to a time (s) to the file of durations.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn timing_row(&self, time: f64, means: &StepDurations) -> Result<(), PourError> {
        let path = self.folder.join(TIMING);
        let line = series::line(&[time, means.contacts, means.step].map(|x| x.to_string()));
        let file = File::options().append(true).create(true).open(&path);
        file.and_then(|mut file| file.write_all(&line)).map_err(PourError::write(&path, "write"))
    }

    /// Discards the rows of the file of durations after the row with the number `row`. Does nothing without
    /// such a file.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub(crate) fn truncate_timing(&self, row: u64) -> Result<(), PourError> {
        let path = self.folder.join(TIMING);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(PourError::Read { path, error }),
        };
        let kept = usize::try_from(row).unwrap_or(usize::MAX).saturating_add(1);
        let lines: String = text.split_inclusive('\n').take(kept).collect();
        self.whole(TIMING, lines.as_bytes())
    }

    /// Discards the content of the series after its first `length` bytes, and the files of all frames
    /// with the number `frames` or a larger one. The next frame gets the number `frames`.
    ///
    /// # Errors
    /// The series is shorter than `length`, or a file cannot be written or removed.
    pub(crate) fn truncate(&mut self, length: u64, frames: u64) -> Result<(), PourError> {
        let path = self.series();
        let failed = || PourError::write(&path, "write");
        let found = self.series.metadata().map_err(failed())?.len();
        if found < length {
            let problem = format!("has {found} bytes, but had {length} at the checkpoint");
            return Err(PourError::run_file(&path, problem));
        }
        self.series.set_len(length).map_err(failed())?;
        self.series.seek(SeekFrom::Start(length)).map_err(failed())?;
        (self.length, self.frames) = (length, frames);
        remove(&self.folder.join(FRAMES), |name| {
            let number =
                name.strip_suffix(".vtp").and_then(|n| n.rsplit_once('-')).and_then(|(_, n)| n.parse().ok());
            let is_own = ["grains-", "surfaces-", "wall-"].iter().any(|kind| name.starts_with(kind));
            is_own && number.is_some_and(|n: u64| n >= frames)
        })
    }

    /// Waits until all rows are stored on the disk, and returns the length of the series (bytes).
    ///
    /// # Errors
    /// The series cannot be written.
    pub(crate) fn sync(&self) -> Result<u64, PourError> {
        self.series.sync_data().map_err(PourError::write(&self.series(), "write"))?;
        Ok(self.length)
    }

    /// Appends a row to the series.
    ///
    /// # Errors
    /// The series cannot be written.
    pub(crate) fn row(&mut self, cells: &[String]) -> Result<(), PourError> {
        let line = series::line(cells);
        let path = self.series();
        self.series.write_all(&line).map_err(PourError::write(&path, "write"))?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Writes the files of the next frame: the particles, their surfaces if some are not spheres, and
    /// the moving walls.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn add_frame(&mut self, world: &World<'_>) -> Result<(), PourError> {
        self.whole(&frame(self.frames), &vtk::particles(&world.frame()))?;
        if world.scene.has_surfaces() {
            self.whole(&surfaces(self.frames), &vtk::surfaces(&world.surfaces()))?;
        }
        for (k, wall) in world.scene.walls.iter().enumerate() {
            let Some(now) = world.simulation.wall(WallId::new(k)) else { continue };
            if !wall.schedule.is_fixed() && !wall.mesh.1.is_empty() {
                let points: Vec<P3> = wall.mesh.0.iter().map(|p| now.pose() * p).collect();
                self.whole(&moving(k, self.frames), &vtk::wall(&points, &wall.mesh.1))?;
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Writes the collection for `ParaView`, which lists all frames with their times.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write_list(&self, scene: &PourScene) -> Result<(), PourError> {
        let mut files = Vec::new();
        for number in 0..self.frames {
            let time = scene.time_of_frame(number);
            files.push((time, 0, frame(number)));
            if scene.has_surfaces() {
                files.push((time, scene.walls.len() + 1, surfaces(number)));
            }
            for (k, wall) in scene.walls.iter().enumerate().filter(|(_, p)| !p.mesh.1.is_empty()) {
                let is_open = wall.opens_at.is_some_and(|t| t <= time);
                if !is_open {
                    let name = if wall.schedule.is_fixed() { fixed(k) } else { moving(k, number) };
                    files.push((time, k + 1, name));
                }
            }
        }
        self.whole(COLLECTION, vtk::collection(&files).as_bytes())
    }

    /// Replaces a file of the folder completely, or leaves the previous one if writing fails.
    fn whole(&self, name: &str, bytes: &[u8]) -> Result<(), PourError> {
        let path = self.folder.join(name);
        write_whole(&path, bytes).map_err(PourError::whole(&path))
    }
}

/// Path of the checkpoint in the folder of a run.
pub(crate) fn checkpoint(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINT)
}

fn frame(number: u64) -> String {
    format!("{FRAMES}/grains-{number:06}.vtp")
}

fn surfaces(number: u64) -> String {
    format!("{FRAMES}/surfaces-{number:06}.vtp")
}

/// Name of the file with the surface that represents each particle of the group with the index `group`.
fn shape(group: usize) -> String {
    format!("shape-{group}.vtp")
}

/// Number of halvings of the edges of an octahedron for the surfaces that `ParaView` draws as glyphs,
/// which then have 258 points. Each further halving slows down `ParaView` by a factor of four; with
/// fewer, facets are visible.
const GLYPH_HALVINGS: u32 = 3;

fn fixed(wall: usize) -> String {
    format!("wall-{}.vtp", wall + 1)
}

fn moving(wall: usize, frame: u64) -> String {
    format!("{FRAMES}/wall-{}-{frame:06}.vtp", wall + 1)
}

/// Removes the files in a folder for whose names `is_removed` returns `true`.
fn remove(folder: &Path, is_removed: impl Fn(&str) -> bool) -> Result<(), PourError> {
    let unreadable = |error| PourError::Read { path: folder.to_owned(), error };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if is_removed(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(PourError::write(&entry.path(), "remove"))?;
        }
    }
    Ok(())
}
