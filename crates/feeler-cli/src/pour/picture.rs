//! What people look at: a page that plays the run, and a plot of what flows.

use super::files::Files;
use super::series;
use super::vtk;
use super::world::Setting;
use crate::plot;
use anyhow::{Context as _, ensure};
use feeler_geom::V3;
use feeler_view::markup::escape;
use feeler_view::mesh::Mesh;
use feeler_view::page;
use feeler_view::picture::{BallFrame, Balls, Motion, Part, Picture, Scene, Tint};
use feeler_view::shape::Shape;
use nalgebra::{Quaternion, UnitQuaternion};
use std::fmt::Write as _;
use std::path::Path;

/// The rows of a finished run, by columns.
#[derive(Debug)]
pub(super) struct Columns {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Columns {
    /// # Errors
    /// A file that cannot be read, or is another one.
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let named = || format!("{}: is no series of this program", file.display());
        let mut reader = csv::Reader::from_path(file).with_context(named)?;
        let names: Vec<String> = reader.headers().with_context(named)?.iter().map(str::to_owned).collect();
        let mut values = vec![Vec::new(); names.len()];
        for record in reader.records() {
            let record = record.with_context(named)?;
            ensure!(record.len() == names.len(), named());
            for (column, cell) in values.iter_mut().zip(&record) {
                column.push(cell.parse().with_context(named)?);
            }
        }
        Ok(Self { names, values })
    }

    fn of(&self, name: &str) -> &[f64] {
        self.names.iter().position(|n| n == name).map_or(&[], |k| &self.values[k])
    }

    /// Mass (kg) that flows out each second, by all outlets; by the domain where there is none.
    fn flow(&self, setting: &Setting) -> Vec<f64> {
        let mut names: Vec<&str> = series::outlets(setting).collect();
        if names.len() > 1 {
            names.pop();
        }
        let rows = self.values.first().map_or(0, Vec::len);
        let mut out = vec![0.0; rows];
        for name in names {
            for (sum, x) in out.iter_mut().zip(self.of(&format!("{name}_kg_per_s"))) {
                *sum += x;
            }
        }
        out
    }

    /// What a page draws over time: the mass flow, or where nothing flows the kinetic energy.
    fn curve(&self, setting: &Setting) -> ([&'static str; 2], Vec<f64>) {
        let flow = self.flow(setting);
        if flow.iter().any(|x| *x > 0.0) {
            let flow = smooth(&flow, flow.len() / MEANS);
            return (["mass flow", "g/s"], flow.into_iter().map(|x| 1e3 * x).collect());
        }
        (["kinetic energy", "mJ"], self.of("kinetic_uJ").iter().map(|x| 1e-3 * x).collect())
    }
}

/// Means over so many rows around each, that single grains do not hide the flow.
fn smooth(values: &[f64], over: usize) -> Vec<f64> {
    let mean = |k: usize| {
        let part = &values[k.saturating_sub(over / 2)..(k + over / 2 + 1).min(values.len())];
        #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
        let count = part.len() as f64;
        part.iter().sum::<f64>() / count
    };
    (0..values.len()).map(mean).collect()
}

/// Rows of a mean, as a part of all.
const MEANS: usize = 50;

/// Curves over time: flow, what has left, and what moves.
pub(super) fn plot(columns: &Columns, setting: &Setting) -> String {
    let some = |values: Vec<f64>| values.into_iter().map(Some).collect();
    let flow = columns.flow(setting);
    let over = flow.len() / MEANS;
    let mut panels = Vec::new();
    if flow.iter().any(|x| *x > 0.0) {
        panels.push(plot::Panel {
            label: "mass flow (g/s)".into(),
            values: some(smooth(&flow, over).into_iter().map(|x| 1e3 * x).collect()),
        });
    }
    for name in series::outlets(setting) {
        let kg = columns.of(&format!("{name}_kg"));
        if kg.last().is_some_and(|x| *x > 0.0) {
            panels.push(plot::Panel {
                label: format!("{name}: mass that has left (g)"),
                values: some(kg.iter().map(|x| 1e3 * x).collect()),
            });
        }
    }
    let kinetic = columns.of("kinetic_uJ");
    panels.push(plot::Panel {
        label: "kinetic energy (mJ)".into(),
        values: some(kinetic.iter().map(|x| 1e-3 * x).collect()),
    });
    let last = columns.of("time_s").last().copied().unwrap_or(0.0);
    plot::stacked(&panels, &plot::Axis { label: "time (s)".into(), last })
}

/// Balls of all frames of a page: beyond, frames are left out.
const MOST_BALLS: usize = 1_500_000;

/// The page: walls as glass, and grains as they move. `pose` tells that of a wall at a frame.
pub(super) fn page(
    name: &str,
    setting: &Setting,
    files: &Files,
    frames: &[u64],
    columns: &Columns,
    pose: impl Fn(usize, u64) -> feeler_geom::Pose,
) -> anyhow::Result<String> {
    let mut shapes = Vec::new();
    let mut parts = Vec::new();
    let walls = setting.walls.iter().enumerate().filter(|(_, p)| !p.mesh.1.is_empty());
    let mut tracks = Vec::new();
    for (k, wall) in walls {
        let track = (!wall.schedule.is_still()).then(|| {
            tracks.push(frames.iter().map(|f| pose(k, *f)).collect());
            tracks.len() - 1
        });
        parts.push(Part {
            path: wall.name.clone(),
            shape: shapes.len(),
            pose: if track.is_some() { feeler_geom::Pose::identity() } else { *wall.wall.pose() },
            track,
            tint: Tint::Glass,
        });
        shapes.push(drawn(wall));
    }
    let mut balls = Balls { value: ["speed", "mm/s"], ..Balls::default() };
    let row = |frame: u64| usize::try_from(frame * setting.times.rows_of_frame).unwrap_or(usize::MAX);
    let (curve, values) = columns.curve(setting);
    let (mut times, mut margin) = (Vec::new(), Vec::new());
    let scaled = || setting.groups.iter().map(|g| g.shape.scaled.as_ref());
    balls.shapes = scaled().flatten().map(|s| s.surface(FINE)).collect();
    let count = |group: usize| scaled().take(group).flatten().count();
    let kinds: Vec<Option<u32>> =
        scaled().enumerate().map(|(k, s)| s.and_then(|_| u32::try_from(count(k)).ok())).collect();
    for number in frames {
        let frame = vtk::read_particles(&files.frame(*number))?;
        let id = |k: &i64| usize::try_from(*k).unwrap_or(0);
        for ((k, r), group) in frame.ids.iter().zip(&frame.radii).zip(&frame.groups) {
            let needed = (id(k) + 1).max(balls.radii.len());
            balls.radii.resize(needed, 0.0);
            balls.radii[id(k)] = f64::from(*r);
            balls.shape_of.resize(needed, None);
            balls.shape_of[id(k)] =
                usize::try_from(*group).ok().and_then(|g| kinds.get(g).copied()).flatten();
        }
        balls.frames.push(BallFrame {
            numbers: frame.ids.iter().map(|k| u32::try_from(*k).unwrap_or(u32::MAX)).collect(),
            centers: frame.centers,
            turns: frame.turns.iter().map(turn).collect(),
            values: frame.velocities.iter().map(|v| V3::from(v.map(f64::from)).norm()).collect(),
        });
        times.push(columns.of("time_s").get(row(*number)).copied().unwrap_or(0.0));
        margin.push(values.get(row(*number)).copied());
    }
    let motion = Motion {
        minima: vec![Vec::new(); times.len()],
        times,
        unit: "s",
        curve: Some(curve),
        tracks,
        margin,
        interfering: Vec::new(),
    };
    let scene =
        Scene { name: name.to_owned(), parts, motion: Some(motion), balls: Some(balls), ..Scene::default() };
    let picture = Picture { shapes, scenes: vec![scene], ..Picture::default() };
    let mut body = String::new();
    // Writing to a string cannot fail.
    let _ =
        write!(body, "<h1>{}</h1>\n<div class=\"wide\">\n{}</div>\n", escape(name), plot(columns, setting));
    Ok(page::page(name, &body, Some(&picture))?)
}

/// A unit quaternion; in files they are rounded.
fn turn(numbers: &[f32; 4]) -> UnitQuaternion<f64> {
    let [w, i, j, k] = numbers.map(f64::from);
    UnitQuaternion::try_new(Quaternion::new(w, i, j, k), 0.0).unwrap_or_else(UnitQuaternion::identity)
}

/// Halvings of the edges of grains' surfaces: 512 triangles.
const FINE: u32 = 3;

/// Frames that a page shows, of so many: all, or every so many that it stays small.
pub(super) fn chosen(files: &Files, frames: u64) -> anyhow::Result<Vec<u64>> {
    let mut balls = 0;
    for number in 0..frames {
        balls += std::fs::metadata(files.frame(number))
            .with_context(|| files.frame(number).display().to_string())?
            .len();
    }
    // A ball takes 72 bytes of a frame.
    let many = usize::try_from(balls / 72).unwrap_or(usize::MAX);
    Ok((0..frames).step_by(many.div_ceil(MOST_BALLS).max(1)).collect())
}

/// A wall as it is drawn: its triangles, flat, and where they meet at an angle.
fn drawn(wall: &super::walls::SceneWall) -> Shape {
    let (points, triangles) = &wall.mesh;
    let mut mesh = Mesh { deviation: wall.deviation, ..Mesh::default() };
    for t in triangles {
        let corners = t.map(|k| points[k as usize]);
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let normal = normal.try_normalize(0.0).unwrap_or_else(V3::z);
        let first = u32::try_from(mesh.points.len()).unwrap_or(u32::MAX);
        mesh.points.extend(corners);
        mesh.normals.extend([normal; 3]);
        mesh.triangles.push([first, first + 1, first + 2]);
        mesh.welded.extend(t);
        mesh.faces.push(0);
    }
    Shape::of_mesh(&wall.name, mesh)
}
