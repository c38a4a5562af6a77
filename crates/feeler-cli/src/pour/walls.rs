//! Walls of a scene: reads them, sets their poses, and prepares their display.

use super::plan::Times;
use super::scene::{self, Scene, Sides, WrittenPose};
use crate::clearance::parts;
use crate::pose;
use anyhow::{Context as _, bail, ensure};
use feeler_geom::{Aabb, P3, Pose, V3, math};
use feeler_import::{Reading, is_stl};
use feeler_particles::{
    ActiveSides, ExactWall, FacetWall, Law, PlaneWall, Resolution, RigidMotion, Simulation, Sphere, Wall,
    WallId,
};
use feeler_view::mesh;
use std::f64::consts::PI;
use std::path::Path;

/// A wall of the scene, at the position that its number in the simulation is.
#[derive(Debug)]
pub(super) struct SceneWall {
    pub(super) name: String,
    pub(super) wall: Wall,
    pub(super) law: Law,
    /// Whether it is triangles around material: no grain may be inside.
    pub(super) is_material: bool,
    /// What it looks like (its coordinates), and how far that is off (mm); nothing for a plane.
    pub(super) mesh: (Vec<P3>, Vec<[u32; 3]>),
    pub(super) deviation: f64,
    pub(super) schedule: WallSchedule,
    /// Time (s) from which the wall is disabled.
    pub(super) opens_at: Option<f64>,
}

/// Motion of a wall over time.
#[derive(Clone, Copy, Debug)]
pub(super) enum WallSchedule {
    Still,
    Rigid { motion: RigidMotion, from: f64, until: f64 },
    Shaken { by: V3, frequency: f64, from: f64, until: f64 },
}

impl WallSchedule {
    pub(super) fn is_still(&self) -> bool {
        matches!(self, Self::Still)
    }

    /// The fastest that a point moves that is so far from the axis (mm/s).
    pub(super) fn speed(&self, arm: f64) -> f64 {
        match self {
            Self::Still => 0.0,
            Self::Rigid { motion, .. } => motion.velocity.norm() + motion.spin.norm() * arm,
            Self::Shaken { by, frequency, .. } => by.norm() * 2.0 * PI * frequency,
        }
    }

    /// Where a wall is at a time (s) that began at a pose: for pictures, as steps add up rounding.
    pub(super) fn pose_at(&self, begin: &Pose, time: f64) -> Pose {
        let since = |from: f64, until: f64| (time.min(until) - from).max(0.0);
        match self {
            Self::Still => *begin,
            Self::Rigid { motion, from, until } => {
                let t = since(*from, *until);
                let turn = nalgebra::UnitQuaternion::from_scaled_axis(motion.spin * t);
                let c = motion.center;
                let moved = Pose::from_parts((c.coords + motion.velocity * t - turn * c.coords).into(), turn);
                moved * begin
            }
            Self::Shaken { by, frequency, from, until } => {
                let turn = 2.0 * PI * frequency * since(*from, *until);
                Pose::from_parts((by * math::sin(turn)).into(), nalgebra::UnitQuaternion::identity()) * begin
            }
        }
    }

    /// Sets the motion that a wall has in a step.
    ///
    /// # Errors
    /// Velocities that are not finite.
    pub(super) fn set(
        &self,
        world: &mut Simulation,
        wall: WallId,
        step: u64,
        times: &Times,
    ) -> anyhow::Result<()> {
        let Some(w) = world.wall_mut(wall) else { return Ok(()) };
        let range = |from: f64, until: f64| times.step_at(from)..times.step_at(until);
        match self {
            Self::Still => {}
            Self::Rigid { motion, from, until } => {
                let range = range(*from, *until);
                if step == range.start {
                    w.set_motion(Some(*motion))?;
                } else if step == range.end {
                    w.set_motion(None)?;
                }
            }
            Self::Shaken { by, frequency, from, until } => {
                let range = range(*from, *until);
                if range.contains(&step) {
                    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
                    let time = ((step - range.start) as f64 + 0.5) * times.step;
                    let turn = 2.0 * PI * frequency;
                    let velocity = by * (turn * math::cos(turn * time));
                    let center = w.reference();
                    w.set_motion(Some(RigidMotion { velocity, spin: V3::zeros(), center }))?;
                } else if step == range.end {
                    w.set_motion(None)?;
                }
            }
        }
        Ok(())
    }
}

/// Reads all walls; `tell` takes what is to be said.
///
/// # Errors
/// Files that cannot be used, keys that do not go together, with the wall's name.
pub(super) fn read(
    scene: &Scene,
    folder: &Path,
    mut tell: impl FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<Vec<SceneWall>> {
    let mut out: Vec<SceneWall> = Vec::new();
    for (k, written) in scene.walls.iter().enumerate() {
        let file = written.file.as_deref().map(|f| Path::new(f).file_stem().unwrap_or_default());
        let from_file = file.map(|stem| stem.to_string_lossy().into_owned());
        let name = written.name.clone().or(from_file).unwrap_or_else(|| format!("wall-{}", k + 1));
        let of_wall = || format!("[[wall]] '{name}'");
        let walls = wall(scene, written, &name, folder, &mut tell).with_context(of_wall)?;
        for wall in walls {
            ensure!(
                out.iter().all(|other| other.name != wall.name),
                "[[wall]] '{}': there are two of this name; give each a name of its own",
                wall.name
            );
            out.push(wall);
        }
    }
    Ok(out)
}

fn wall(
    scene: &Scene,
    written: &scene::Wall,
    name: &str,
    folder: &Path,
    tell: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<Vec<SceneWall>> {
    let law = scene.law(written.law.as_deref())?;
    let placed = placed(written.pose.as_ref())?;
    let schedule = schedule(scene, written)?;
    if let Some(t) = written.opens_at {
        ensure!(t >= 0.0 && t.is_finite(), "opens_at: give a time in s, 0 or more");
    }
    let wall = |name: String, wall: Wall| SceneWall {
        name,
        wall,
        law,
        is_material: false,
        mesh: (Vec::new(), Vec::new()),
        deviation: 0.0,
        schedule,
        opens_at: written.opens_at,
    };
    let mut walls = match (&written.file, &written.plane) {
        (Some(file), None) => {
            let path = folder.join(file);
            let is_stl = is_stl(&path);
            ensure!(
                written.solid != Some(true) || written.sides.is_none(),
                "sides: solids have their own, and sheets both; leave it out"
            );
            ensure!(written.solid.is_none() || is_stl, "solid: this is for STL files; leave it out");
            ensure!(!is_stl || written.chord.is_none(), "chord: STL has triangles already; leave it out");
            let has_facets = is_stl && written.solid != Some(true);
            let mut walls = if has_facets { stl(written, &path)? } else { solids(written, &path, tell)? };
            let many = walls.len() > 1;
            for (own, _) in &mut walls {
                *own = if many { format!("{name}/{own}") } else { name.to_owned() };
            }
            walls
                .into_iter()
                .map(|(own, read)| SceneWall { name: own, law, schedule, opens_at: written.opens_at, ..read })
                .collect()
        }
        (None, Some(plane)) => {
            for (key, is_there) in [
                ("chord", written.chord.is_some()),
                ("sides", written.sides.is_some()),
                ("part", written.part.is_some()),
                ("unit", written.unit.is_some()),
                ("solid", written.solid.is_some()),
            ] {
                ensure!(!is_there, "{key}: a plane has none; leave it out");
            }
            let plane = PlaneWall::new(P3::from(plane.point), V3::from(plane.normal)).context("plane")?;
            vec![wall(name.to_owned(), plane.into())]
        }
        _ => bail!("give either file = \"….step\" (or .stl, .feeler), or plane = {{ point, normal }}"),
    };
    for wall in &mut walls {
        let own = *wall.wall.pose();
        wall.wall.set_pose(placed * own)?;
    }
    Ok(walls)
}

/// A wall as it is read; its name, law and motion are put in later.
fn bare(wall: Wall, mesh: (Vec<P3>, Vec<[u32; 3]>), deviation: f64, is_material: bool) -> SceneWall {
    let law = Law::penalty(1.0);
    SceneWall {
        name: String::new(),
        wall,
        law,
        is_material,
        mesh,
        deviation,
        schedule: WallSchedule::Still,
        opens_at: None,
    }
}

fn stl(written: &scene::Wall, path: &Path) -> anyhow::Result<Vec<(String, SceneWall)>> {
    ensure!(written.part.is_none(), "part: STL has one alone; leave it out");
    let unit = scene::reading(path, written.unit.as_deref())?.unit;
    let scale = unit.context("unit: STL files have none")?;
    let mut wall = FacetWall::read_stl(path, scale)?;
    let sides = written.sides.unwrap_or(Sides::Both);
    let is_material = faceted(&mut wall, sides)?;
    let mesh = triangles(&wall);
    Ok(vec![(String::new(), bare(wall.into(), mesh, 0.0, is_material))])
}

/// Chooses sides and how contacts are resolved; whether there is material behind.
fn faceted(wall: &mut FacetWall, sides: Sides) -> anyhow::Result<bool> {
    if sides == Sides::Front {
        ensure!(
            wall.open_sides() == 0,
            "sides: \"front\" is for closed meshes, and {} sides of facets have no neighbour; give \"both\"",
            wall.open_sides()
        );
        wall.set_sides(|_, _| ActiveSides::Front);
    }
    wall.set_resolution(Resolution::Full { cutoff: CUTOFF })?;
    Ok(sides == Sides::Front)
}

fn triangles(wall: &FacetWall) -> (Vec<P3>, Vec<[u32; 3]>) {
    let number = |p: &P3| {
        let by_place = |q: &P3| q.x.total_cmp(&p.x).then(q.y.total_cmp(&p.y)).then(q.z.total_cmp(&p.z));
        let at = wall.vertices().binary_search_by(by_place).unwrap_or(0);
        u32::try_from(at).unwrap_or(0)
    };
    let facets = (0_u32..).map_while(|k| wall.corners(k));
    (wall.vertices().to_vec(), facets.map(|c| [number(&c[0]), number(&c[1]), number(&c[2])]).collect())
}

fn solids(
    written: &scene::Wall,
    path: &Path,
    tell: &mut dyn FnMut(&str) -> std::io::Result<()>,
) -> anyhow::Result<Vec<(String, SceneWall)>> {
    // Triangles that do not close are a wall all the same.
    let open_shells = is_stl(path);
    let reading = Reading { open_shells, ..scene::reading(path, written.unit.as_deref())? };
    let (mut found, left_out) = parts::parts(&[path.to_path_buf()], &[], reading, |t| tell(t))?;
    for what in left_out {
        tell(&what)?;
    }
    if found.iter().any(|part| part.body.is_sheet()) {
        tell(&format!("{}: its triangles do not close: a sheet, met from both sides", path.display()))?;
    }
    if let Some(wanted) = &written.part {
        let names: Vec<String> = found.iter().map(|p| p.path.clone()).collect();
        found.retain(|p| p.path == *wanted || p.name == *wanted);
        ensure!(
            !found.is_empty(),
            "part: {} has no '{wanted}'; there are {}",
            path.display(),
            names.join(", ")
        );
    }
    ensure!(!found.is_empty(), "{}: there is no solid in it", path.display());
    ensure!(
        written.sides.is_none() || written.chord.is_some(),
        "sides: a solid has material behind its faces; leave it out, or add chord for triangles"
    );
    let mut out = Vec::new();
    for part in found {
        let hierarchy = part.body.hierarchy();
        let diagonal = hierarchy.info.bbox_min.iter().zip(hierarchy.info.bbox_max);
        let size = diagonal.map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt();
        let chord = written.chord.unwrap_or(DRAWN * size);
        let least = LEAST_CHORD * size;
        ensure!(
            chord >= least && chord.is_finite(),
            "chord: give {least:.1e} mm or more for a part of {size:.0} mm"
        );
        let drawn = mesh::mesh(hierarchy, chord).with_context(|| path.display().to_string())?;
        let welded = |t: &[u32; 3]| t.map(|k| drawn.welded[k as usize]);
        let corners: Vec<[u32; 3]> = drawn.triangles.iter().map(welded).collect();
        let mut wall = if written.chord.is_some() {
            let mut wall =
                FacetWall::new(&drawn.points, &corners).with_context(|| path.display().to_string())?;
            let is_material = faceted(&mut wall, written.sides.unwrap_or(Sides::Front))?;
            let mesh = triangles(&wall);
            bare(wall.into(), mesh, drawn.deviation, is_material)
        } else {
            let wall = ExactWall::new(part.body.clone());
            bare(wall.into(), (drawn.points, corners), drawn.deviation, false)
        };
        wall.wall.set_pose(part.pose)?;
        out.push((part.path, wall));
    }
    Ok(out)
}

fn placed(written: Option<&WrittenPose>) -> anyhow::Result<Pose> {
    match written {
        None => Ok(Pose::identity()),
        Some(WrittenPose::Text(text)) => {
            // A file of its own could change without the checkpoint noticing.
            ensure!(!text.starts_with('@'), "pose: give its numbers; a scene takes no file for it");
            pose::parse(text)
        }
        Some(WrittenPose::Numbers(numbers)) => {
            let text: Vec<String> = numbers.iter().map(f64::to_string).collect();
            pose::parse(&text.join(","))
        }
    }
}

fn schedule(scene: &Scene, written: &scene::Wall) -> anyhow::Result<WallSchedule> {
    let range = |key: &str, from: f64, until: Option<f64>| {
        let until = until.unwrap_or(f64::INFINITY);
        ensure!(0.0 <= from && from < until, "{key}: {from} to {until} s is no time");
        ensure!(from < scene.end, "{key}: begins at {from} s, and the scene ends at {} s", scene.end);
        Ok((from, until))
    };
    match (&written.motion, &written.shake) {
        (None, None) => Ok(WallSchedule::Still),
        (Some(m), None) => {
            let all = [&m.velocity, &m.spin, &m.center];
            ensure!(all.iter().all(|v| scene::is_finite(v)), "motion: give finite numbers");
            let (from, until) = range("motion", m.from, m.until)?;
            let motion =
                RigidMotion { velocity: m.velocity.into(), spin: m.spin.into(), center: m.center.into() };
            Ok(WallSchedule::Rigid { motion, from, until })
        }
        (None, Some(s)) => {
            ensure!(
                scene::is_finite(&s.by) && s.frequency > 0.0 && s.frequency.is_finite(),
                "shake: give by (mm) and a frequency above 0 (Hz)"
            );
            let (from, until) = range("shake", s.from, s.until)?;
            Ok(WallSchedule::Shaken { by: s.by.into(), frequency: s.frequency, from, until })
        }
        _ => bail!("motion, shake: give one of them"),
    }
}

/// Box around all walls where they are, and around the points of planes.
pub(super) fn bounds(walls: &[SceneWall]) -> Aabb {
    let mut out = Aabb::empty();
    for wall in walls {
        wall.mesh.0.iter().for_each(|p| out.insert(&(wall.wall.pose() * p)));
        if matches!(wall.wall, Wall::Plane(_)) {
            out.insert(&wall.wall.reference());
        }
    }
    out
}

/// Whether a sphere touches no wall that is enabled and is not inside material.
pub(super) fn is_free(simulation: &Simulation, walls: &[SceneWall], sphere: &Sphere) -> bool {
    let all = simulation.wall_ids().filter_map(|id| Some((id, simulation.wall(id)?)));
    all.zip(walls).all(|((id, wall), of_scene)| {
        let is_inside = || {
            let Wall::Facets(facets) = wall else { return false };
            of_scene.is_material && facets.encloses(&sphere.center)
        };
        !simulation.is_wall_enabled(id) || !(wall.touches(sphere) || is_inside())
    })
}

/// Largest angle (rad) between facets that a contact moves on to.
const CUTOFF: f64 = 0.5;

/// Least chord error, as a part of the diagonal.
const LEAST_CHORD: f64 = 1e-6;

/// Chord error of pictures of exact walls, as a part of their diagonal.
const DRAWN: f64 = 5e-4;
