//! The files of a run, in its folder: what is written when, and what is undone when a run goes on.

use super::series;
use super::vtk;
use super::world::{Setting, World};
use anyhow::{Context as _, ensure};
use feeler_geom::P3;
use feeler_hierarchy::whole::write_whole;
use feeler_particles::WallId;
use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const SERIES: &str = "series.csv";
const COLLECTION: &str = "scene.pvd";
const CHECKPOINT: &str = "checkpoint";
const FRAMES: &str = "frames";

/// The files of a run. While they are open no other run writes them.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    series: File,
    length: u64,
    frames: u64,
}

impl Files {
    /// Opens the folder, which is made if need be.
    ///
    /// # Errors
    /// It cannot be made, or another run writes there.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let frames = folder.join(FRAMES);
        fs::create_dir_all(&frames)
            .with_context(|| format!("{}: cannot make the folder", frames.display()))?;
        let path = folder.join(SERIES);
        let named = || path.display().to_string();
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let series = open.with_context(|| format!("{}: cannot write it", named()))?;
        // Where there are no locks nobody is kept out.
        if matches!(series.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            anyhow::bail!("{}: another run writes it; end that one, or give another folder with -o", named());
        }
        let out = Self { folder: folder.to_path_buf(), series, length: 0, frames: 0 };
        for folder in [out.folder.clone(), frames] {
            remove(&folder, |name| name.starts_with('.') && name.ends_with(".tmp"))?;
        }
        Ok(out)
    }

    pub(super) fn checkpoint(&self) -> PathBuf {
        checkpoint(&self.folder)
    }

    pub(super) fn series(&self) -> PathBuf {
        self.folder.join(SERIES)
    }

    pub(super) fn frame(&self, number: u64) -> PathBuf {
        self.folder.join(frame(number))
    }

    /// Throws away what was written before, and begins.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn begin(&mut self, setting: &Setting) -> anyhow::Result<()> {
        match fs::remove_file(self.checkpoint()) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(e).with_context(|| format!("{}: cannot remove it", self.checkpoint().display()));
            }
            _ => {}
        }
        self.go_on(0, 0)?;
        for (k, wall) in setting.walls.iter().enumerate() {
            if wall.schedule.is_still() && !wall.mesh.1.is_empty() {
                let points: Vec<P3> = wall.mesh.0.iter().map(|p| wall.wall.pose() * p).collect();
                self.whole(&still(k), &vtk::wall(&points, &wall.mesh.1))?;
            }
        }
        for (k, group) in setting.groups.iter().enumerate() {
            if let Some(scaled) = &group.shape.scaled {
                let surface = scaled.surface(FINE);
                self.whole(&shape(k), &vtk::wall(&surface.points, &surface.triangles))?;
            }
        }
        self.row(&series::header(setting))
    }

    /// Undoes what was written after a moment: rows beyond so many bytes, frames beyond so many.
    ///
    /// # Errors
    /// The file system refuses; there is less than was known.
    pub(super) fn go_on(&mut self, length: u64, frames: u64) -> anyhow::Result<()> {
        let path = self.series();
        let named = || path.display().to_string();
        let found = self.series.metadata().with_context(named)?.len();
        ensure!(
            found >= length,
            "{}: has {found} bytes, and had {length} at the checkpoint; --fresh starts over",
            named()
        );
        self.series.set_len(length).with_context(named)?;
        self.series.seek(SeekFrom::Start(length)).with_context(named)?;
        (self.length, self.frames) = (length, frames);
        remove(&self.folder.join(FRAMES), |name| {
            let number =
                name.strip_suffix(".vtp").and_then(|n| n.rsplit_once('-')).and_then(|(_, n)| n.parse().ok());
            let is_own = ["grains-", "surfaces-", "wall-"].iter().any(|kind| name.starts_with(kind));
            is_own && number.is_some_and(|n: u64| n >= frames)
        })
    }

    /// Bytes of the rows, once they are on the disk.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn settled(&self) -> anyhow::Result<u64> {
        self.series.sync_data().with_context(|| self.series().display().to_string())?;
        Ok(self.length)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn row(&mut self, cells: &[String]) -> anyhow::Result<()> {
        let line = series::line(cells);
        self.series
            .write_all(&line)
            .with_context(|| format!("{}: cannot write it", self.series().display()))?;
        self.length += line.len() as u64;
        Ok(())
    }

    /// Adds a frame of grains and of walls that move.
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn add_frame(&mut self, world: &World<'_>) -> anyhow::Result<()> {
        self.whole(&frame(self.frames), &vtk::particles(&world.frame()))?;
        if world.setting.has_surfaces() {
            self.whole(&surfaces(self.frames), &vtk::surfaces(&world.surfaces()))?;
        }
        for (k, wall) in world.setting.walls.iter().enumerate() {
            let Some(now) = world.simulation.wall(WallId::new(k)) else { continue };
            if !wall.schedule.is_still() && !wall.mesh.1.is_empty() {
                let points: Vec<P3> = wall.mesh.0.iter().map(|p| now.pose() * p).collect();
                self.whole(&moving(k, self.frames), &vtk::wall(&points, &wall.mesh.1))?;
            }
        }
        self.frames += 1;
        Ok(())
    }

    /// Lists all frames there are; `times` gives that of each (s).
    ///
    /// # Errors
    /// The file system refuses.
    pub(super) fn list(&self, setting: &Setting, times: impl Fn(u64) -> f64) -> anyhow::Result<()> {
        let mut files = Vec::new();
        for number in 0..self.frames {
            let time = times(number);
            files.push((time, 0, frame(number)));
            if setting.has_surfaces() {
                files.push((time, setting.walls.len() + 1, surfaces(number)));
            }
            for (k, wall) in setting.walls.iter().enumerate().filter(|(_, p)| !p.mesh.1.is_empty()) {
                let is_open = wall.opens_at.is_some_and(|t| t <= time);
                if !is_open {
                    let name = if wall.schedule.is_still() { still(k) } else { moving(k, number) };
                    files.push((time, k + 1, name));
                }
            }
        }
        self.whole(COLLECTION, vtk::collection(&files).as_bytes())
    }

    fn whole(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        write_whole(&path, bytes).with_context(|| format!("{}: cannot write it", path.display()))
    }
}

/// Where the checkpoint of a folder is.
pub(super) fn checkpoint(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINT)
}

fn frame(number: u64) -> String {
    format!("{FRAMES}/grains-{number:06}.vtp")
}

fn surfaces(number: u64) -> String {
    format!("{FRAMES}/surfaces-{number:06}.vtp")
}

/// The surface that grains of a group are copies of.
fn shape(group: usize) -> String {
    format!("shape-{group}.vtp")
}

/// Halvings of the edges of that surface: 258 points.
const FINE: u32 = 3;

fn still(wall: usize) -> String {
    format!("wall-{}.vtp", wall + 1)
}

fn moving(wall: usize, frame: u64) -> String {
    format!("{FRAMES}/wall-{}-{frame:06}.vtp", wall + 1)
}

/// Removes the files of a folder whose names are of a kind.
fn remove(folder: &Path, is_one: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    let named = || folder.display().to_string();
    for entry in fs::read_dir(folder).with_context(named)? {
        let entry = entry.with_context(named)?;
        if is_one(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())
                .with_context(|| format!("{}: cannot remove it", entry.path().display()))?;
        }
    }
    Ok(())
}
