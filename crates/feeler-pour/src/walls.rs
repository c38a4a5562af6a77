//! Walls of a scene, loaded from files, with their poses, motions and displayed triangles.

use crate::error::{PourError, Within as _, ensure};
use crate::lid::Lid;
use crate::plan::PourTimes;
use crate::tables::{self, LidTable, MotionTable, PoseValue, SceneFile, ShakeTable, Sides, WallTable};
use feeler_assembly::{Assembly, AssemblyPart};
use feeler_geom::pose::from_values;
use feeler_geom::{Aabb, P3, Pose, V3, math};
use feeler_import::{Reading, is_stl};
use feeler_particles::{
    ActiveSides, ExactWall, FacetWall, Law, PlaneWall, Resolution, RigidMotion, Simulation, Sphere, Wall,
    WallId,
};
use feeler_view::mesh;
use std::f64::consts::PI;
use std::path::Path;

/// Wall of a scene. The walls of the scene and of the simulation have the same indices.
#[derive(Debug)]
pub(crate) struct SceneWall {
    pub(crate) name: String,
    pub(crate) wall: Wall,
    pub(crate) law: Law,
    /// Whether the triangles of the wall enclose material, in which no particle may be placed.
    pub(crate) is_material: bool,
    /// Displayed vertices and triangles, in the coordinates of the wall; empty for a plane.
    pub(crate) mesh: (Vec<P3>, Vec<[u32; 3]>),
    /// Maximum distance (mm) of the displayed triangles from the wall.
    pub(crate) deviation: f64,
    pub(crate) schedule: WallSchedule,
    /// Time (s) from which the wall is disabled; `None` if it is never disabled.
    pub(crate) opens_at: Option<f64>,
}

/// Motion of a wall over time: prescribed, or that of a lid, which reacts to forces.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WallSchedule {
    Fixed,
    Rigid { motion: RigidMotion, from: f64, until: f64 },
    Sinusoidal { by: V3, frequency: f64, from: f64, until: f64 },
    Sliding(Lid),
}

impl WallSchedule {
    /// The lid; `None` if the motion is prescribed.
    pub(crate) fn lid(&self) -> Option<&Lid> {
        if let Self::Sliding(lid) = self { Some(lid) } else { None }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed)
    }

    /// Upper bound, over the whole schedule, of the speed (mm/s) of a point of the wall that is at most
    /// `arm` (mm) from the axis of rotation.
    pub(crate) fn max_speed(&self, arm: f64) -> f64 {
        match self {
            Self::Fixed => 0.0,
            Self::Rigid { motion, .. } => motion.velocity.norm() + motion.spin.norm() * arm,
            Self::Sinusoidal { by, frequency, .. } => by.norm() * 2.0 * PI * frequency,
            // The speed after a fall over the largest distance.
            Self::Sliding(lid) => (2.0 * lid.free_acceleration * arm).sqrt(),
        }
    }

    /// Pose at a time (s) of a wall with the initial pose `begin`; `travel` (mm) is the distance that a lid
    /// has moved. The simulation deviates slightly, because there motions begin and end at whole time steps
    /// and oscillations are integrated step by step.
    pub(crate) fn pose_at(&self, begin: &Pose, time: f64, travel: f64) -> Pose {
        let since = |from: f64, until: f64| (time.min(until) - from).max(0.0);
        match self {
            Self::Fixed => *begin,
            Self::Sliding(lid) => {
                let moved = lid.slider.axis() * travel;
                Pose::translation(moved.x, moved.y, moved.z) * begin
            }
            Self::Rigid { motion, from, until } => {
                let t = since(*from, *until);
                let turn = nalgebra::UnitQuaternion::from_scaled_axis(motion.spin * t);
                let c = motion.center;
                let moved = Pose::from_parts((c.coords + motion.velocity * t - turn * c.coords).into(), turn);
                moved * begin
            }
            Self::Sinusoidal { by, frequency, from, until } => {
                let turn = 2.0 * PI * frequency * since(*from, *until);
                Pose::from_parts((by * math::sin(turn)).into(), nalgebra::UnitQuaternion::identity()) * begin
            }
        }
    }

    /// Sets the motion of a wall for the time step with the number `step`: a rigid motion in its first
    /// step, an oscillation in each of its steps. The step after the last one of a motion stops the
    /// wall. A number without a wall is ignored.
    ///
    /// # Errors
    /// A velocity is not finite.
    pub(crate) fn set(
        &self,
        world: &mut Simulation,
        wall: WallId,
        step: u64,
        times: &PourTimes,
    ) -> Result<(), PourError> {
        let Some(w) = world.wall_mut(wall) else { return Ok(()) };
        let range = |from: f64, until: f64| times.step_at(from)..times.step_at(until);
        match self {
            Self::Fixed | Self::Sliding(_) => {}
            Self::Rigid { motion, from, until } => {
                let range = range(*from, *until);
                if step == range.start {
                    w.set_motion(Some(*motion))?;
                } else if step == range.end {
                    w.set_motion(None)?;
                }
            }
            Self::Sinusoidal { by, frequency, from, until } => {
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

/// Loads all walls of a scene; paths of files are relative to `folder`. Messages about files are added
/// to `notes`.
///
/// # Errors
/// A file cannot be used, or keys exclude each other; the error names the wall.
pub(crate) fn read(
    scene: &SceneFile,
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<SceneWall>, PourError> {
    let mut out: Vec<SceneWall> = Vec::new();
    for (k, table) in scene.walls.iter().enumerate() {
        let file = table.file.as_deref().map(|f| Path::new(f).file_stem().unwrap_or_default());
        let from_file = file.map(|stem| stem.to_string_lossy().into_owned());
        let name = table.name.clone().or(from_file).unwrap_or_else(|| format!("wall-{}", k + 1));
        let walls = walls_of_table(scene, table, &name, folder, notes);
        for wall in walls.within(|| format!("[[wall]] '{name}'"))? {
            if out.iter().any(|other| other.name == wall.name) {
                let problem = "two walls have this name; give each wall a name of its own";
                return Err(PourError::value(format!("[[wall]] '{}'", wall.name), problem));
            }
            out.push(wall);
        }
    }
    Ok(out)
}

/// Walls of a table `[[wall]]`: a plane, or the triangles or solids of a file.
fn walls_of_table(
    scene: &SceneFile,
    table: &WallTable,
    name: &str,
    folder: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<SceneWall>, PourError> {
    let law = scene.law(table.law.as_deref())?;
    let pose = pose(table.pose.as_ref())?;
    let schedule = schedule(scene, table)?;
    if let Some(t) = table.opens_at {
        ensure!(t >= 0.0 && t.is_finite(), "opens_at", "give a time in s of at least 0");
    }
    let mut walls = match (&table.file, &table.plane) {
        (Some(file), None) => walls_of_file(table, name, &folder.join(file), notes)?,
        (None, Some(plane)) => {
            check_plane_keys(table)?;
            let plane = PlaneWall::new(P3::from(plane.point), V3::from(plane.normal)).in_key("plane")?;
            vec![SceneWall {
                name: name.to_owned(),
                ..bare(plane.into(), (Vec::new(), Vec::new()), 0.0, false)
            }]
        }
        _ => {
            let problem = "give either file = \"….step\" (or .stl, .feeler), or plane = { point, normal }";
            return Err(PourError::value("file, plane", problem));
        }
    };
    for wall in &mut walls {
        (wall.law, wall.schedule, wall.opens_at) = (law, schedule, table.opens_at);
        let own = *wall.wall.pose();
        wall.wall.set_pose(pose * own)?;
    }
    if let Some(lid) = &table.lid {
        set_lid(lid, &mut walls, scene).in_key("lid")?;
    }
    Ok(walls)
}

/// Makes a lid of the only wall of a table.
fn set_lid(table: &LidTable, walls: &mut [SceneWall], scene: &SceneFile) -> Result<(), PourError> {
    let [wall] = walls else {
        let problem = format!("the file has {} solids; name one of them with part", walls.len());
        return Err(PourError::value("part", problem));
    };
    let vertices = wall.mesh.0.iter().map(|p| wall.wall.pose() * p);
    wall.schedule = WallSchedule::Sliding(Lid::new(table, &scene.gravity.into(), &wall.wall, vertices)?);
    Ok(())
}

fn check_plane_keys(table: &WallTable) -> Result<(), PourError> {
    for (key, is_given) in [
        ("chord", table.chord.is_some()),
        ("sides", table.sides.is_some()),
        ("part", table.part.is_some()),
        ("unit", table.unit.is_some()),
        ("solid", table.solid.is_some()),
    ] {
        ensure!(!is_given, key, "this key does not apply to planes; omit it");
    }
    Ok(())
}

fn walls_of_file(
    table: &WallTable,
    name: &str,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<SceneWall>, PourError> {
    let (is_stl, is_solid) = (is_stl(path), table.solid == Some(true));
    let sides_apply = !is_solid || table.sides.is_none();
    ensure!(
        sides_apply,
        "sides",
        "this key does not apply with solid = true: closed meshes have contacts on their outside, open ones \
         on both sides; omit it"
    );
    ensure!(table.solid.is_none() || is_stl, "solid", "this key is for STL files; omit it");
    ensure!(!is_stl || table.chord.is_none(), "chord", "STL files consist of triangles already; omit it");
    let mut walls = if is_stl && !is_solid { stl(table, path)? } else { solids(table, path, notes)? };
    let has_several = walls.len() > 1;
    for wall in &mut walls {
        wall.name = if has_several { format!("{name}/{}", wall.name) } else { name.to_owned() };
    }
    Ok(walls)
}

/// Wall without name, with a default law and at rest; the caller sets these.
fn bare(wall: Wall, mesh: (Vec<P3>, Vec<[u32; 3]>), deviation: f64, is_material: bool) -> SceneWall {
    let law = Law::penalty(1.0);
    SceneWall {
        name: String::new(),
        wall,
        law,
        is_material,
        mesh,
        deviation,
        schedule: WallSchedule::Fixed,
        opens_at: None,
    }
}

/// Wall of the triangles of an STL file, which get two active sides unless the table states `sides`.
fn stl(table: &WallTable, path: &Path) -> Result<Vec<SceneWall>, PourError> {
    ensure!(table.part.is_none(), "part", "an STL file has one part; omit it");
    let unit = tables::reading(path, table.unit.as_deref())?.unit;
    let scale = unit.ok_or_else(|| PourError::value("unit", "STL files do not state their unit"))?;
    let mut wall = FacetWall::read_stl(path, scale)?;
    let is_material = set_sides(&mut wall, table.sides.unwrap_or(Sides::Both))?;
    let mesh = triangles(&wall);
    Ok(vec![bare(wall.into(), mesh, 0.0, is_material)])
}

/// Sets which sides of the triangles have contacts, and the angle [`CUTOFF`] up to which a contact moves
/// from facet to facet. Returns whether the triangles enclose material, which they do if `sides` is
/// `Front`. Returns an error for an open mesh with `Front`.
fn set_sides(wall: &mut FacetWall, sides: Sides) -> Result<bool, PourError> {
    if sides == Sides::Front {
        ensure!(
            wall.open_sides() == 0,
            "sides",
            "\"front\" requires a closed mesh, and {} sides of facets have no neighbour; give \"both\"",
            wall.open_sides()
        );
        wall.set_sides(|_, _| ActiveSides::Front);
    }
    wall.set_resolution(Resolution::Full { cutoff: CUTOFF })?;
    Ok(sides == Sides::Front)
}

/// Vertices of a wall of facets, and its facets as triples of indices of these vertices.
fn triangles(wall: &FacetWall) -> (Vec<P3>, Vec<[u32; 3]>) {
    let number = |p: &P3| {
        let by_coordinates = |q: &P3| q.x.total_cmp(&p.x).then(q.y.total_cmp(&p.y)).then(q.z.total_cmp(&p.z));
        let at = wall.vertices().binary_search_by(by_coordinates).unwrap_or(0);
        u32::try_from(at).unwrap_or(0)
    };
    let facets = (0_u32..).map_while(|k| wall.corners(k));
    (wall.vertices().to_vec(), facets.map(|c| [number(&c[0]), number(&c[1]), number(&c[2])]).collect())
}

/// Walls of the solids of a file: triangles if the table has a chord error, otherwise exact walls.
fn solids(table: &WallTable, path: &Path, notes: &mut Vec<String>) -> Result<Vec<SceneWall>, PourError> {
    let parts = parts(table, path, notes)?;
    let sides_apply = table.sides.is_none() || table.chord.is_some();
    ensure!(
        sides_apply,
        "sides",
        "faces of solids have material behind them; omit it, or add chord for triangles"
    );
    let mut out = Vec::new();
    for part in parts {
        let hierarchy = part.body.hierarchy();
        let diagonal = hierarchy.info.bbox_min.iter().zip(hierarchy.info.bbox_max);
        let size = diagonal.map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt();
        let chord = table.chord.unwrap_or(DISPLAY_CHORD_FRACTION * size);
        let min = MIN_CHORD_FRACTION * size;
        let is_valid = chord >= min && chord.is_finite();
        ensure!(is_valid, "chord", "give {min:.1e} mm or more for a part of {size:.0} mm");
        let drawn = mesh::mesh(hierarchy, chord).within(|| path.display().to_string())?;
        let welded = |t: &[u32; 3]| t.map(|k| drawn.welded[k as usize]);
        let corners: Vec<[u32; 3]> = drawn.triangles.iter().map(welded).collect();
        let mut wall = if table.chord.is_some() {
            let mut wall = FacetWall::new(&drawn.points, &corners).within(|| path.display().to_string())?;
            let is_material = set_sides(&mut wall, table.sides.unwrap_or(Sides::Front))?;
            let mesh = triangles(&wall);
            bare(wall.into(), mesh, drawn.deviation, is_material)
        } else {
            let wall = ExactWall::new(part.body.clone());
            bare(wall.into(), (drawn.points, corners), drawn.deviation, false)
        };
        wall.wall.set_pose(part.pose)?;
        wall.name = part.path;
        out.push(wall);
    }
    Ok(out)
}

/// Loads the parts of a file whose name or path is the `part` of the table, or all parts without it.
/// Messages about the file are added to `notes`. A file without a selected part is an error.
fn parts(table: &WallTable, path: &Path, notes: &mut Vec<String>) -> Result<Vec<AssemblyPart>, PourError> {
    // An open mesh is a wall as well: a sheet without thickness.
    let reading = Reading { open_shells: is_stl(path), ..tables::reading(path, table.unit.as_deref())? };
    let loaded = feeler_import::load_with(path, reading);
    let (model, note) = loaded.map_err(|e| PourError::Import(format!("{e:#}")))?;
    // All lines of the note but the first repeat the parts that could not be prepared.
    notes.extend(note.as_ref().and_then(|n| n.lines().next()).map(str::to_owned));
    notes.extend(model.left_out().into_iter().map(|part| format!("{}: {part}", path.display())));
    let mut parts = Assembly::from_model(&model).within(|| path.display().to_string())?.into_parts();
    if parts.iter().any(|part| part.body.is_sheet()) {
        notes.push(format!(
            "{}: the triangles do not close; they have contacts on both sides",
            path.display()
        ));
    }
    if let Some(wanted) = &table.part {
        let names: Vec<String> = parts.iter().map(|p| p.path.clone()).collect();
        parts.retain(|p| p.path == *wanted || p.name == *wanted);
        let is_found = !parts.is_empty();
        ensure!(is_found, "part", "{} has no '{wanted}'; its parts are {}", path.display(), names.join(", "));
    }
    ensure!(!parts.is_empty(), "file", "{} contains no solid; give another file", path.display());
    Ok(parts)
}

/// Reads the pose of a wall: seven numbers, or three numbers for a translation, as an array or as a
/// string. `None` stands for the identity.
fn pose(value: Option<&PoseValue>) -> Result<Pose, PourError> {
    let numbers = match value {
        None => return Ok(Pose::identity()),
        Some(PoseValue::Numbers(numbers)) => numbers.clone(),
        Some(PoseValue::Text(text)) => {
            // The hash of the checkpoint does not include a pose file.
            ensure!(!text.starts_with('@'), "pose", "give its numbers; scenes do not read pose files");
            let number = |word: &str| {
                let word = word.trim();
                let wrong = |_| PourError::value("pose", format!("'{word}' is not a number"));
                word.parse::<f64>().map_err(wrong)
            };
            text.split(',').map(number).collect::<Result<_, _>>()?
        }
    };
    ensure!(numbers.iter().all(|x| x.is_finite()), "pose", "give finite numbers");
    match *numbers.as_slice() {
        [x, y, z] => Ok(Pose::translation(x, y, z)),
        [x, y, z, qx, qy, qz, qw] => from_values(&[x, y, z, qx, qy, qz, qw]).in_key("pose"),
        _ => {
            let problem = format!("{} numbers; give x, y, z, or x, y, z, qx, qy, qz, qw", numbers.len());
            Err(PourError::value("pose", problem))
        }
    }
}

/// Reads the prescribed motion of a wall; lids are set after their walls are loaded.
fn schedule(scene: &SceneFile, table: &WallTable) -> Result<WallSchedule, PourError> {
    match (&table.motion, &table.shake, &table.lid) {
        (None, None, _) => Ok(WallSchedule::Fixed),
        (Some(motion), None, None) => rigid(scene, motion),
        (None, Some(shake), None) => sinusoidal(scene, shake),
        _ => {
            Err(PourError::value("motion, shake, lid", "a wall has one motion; omit all but one of the keys"))
        }
    }
}

fn rigid(scene: &SceneFile, table: &MotionTable) -> Result<WallSchedule, PourError> {
    let all = [&table.velocity, &table.spin, &table.center];
    ensure!(all.iter().all(|v| tables::is_finite(v)), "motion", "give finite numbers");
    let (from, until) = interval(scene, "motion", table.from, table.until)?;
    let motion =
        RigidMotion { velocity: table.velocity.into(), spin: table.spin.into(), center: table.center.into() };
    Ok(WallSchedule::Rigid { motion, from, until })
}

fn sinusoidal(scene: &SceneFile, table: &ShakeTable) -> Result<WallSchedule, PourError> {
    let is_valid = tables::is_finite(&table.by) && table.frequency > 0.0 && table.frequency.is_finite();
    ensure!(is_valid, "shake", "give by (mm) and a frequency above 0 (Hz)");
    let (from, until) = interval(scene, "shake", table.from, table.until)?;
    Ok(WallSchedule::Sinusoidal { by: table.by.into(), frequency: table.frequency, from, until })
}

/// Checked interval of time (s) of a motion; its end is infinite without `until`. Errors name `key`.
fn interval(scene: &SceneFile, key: &str, from: f64, until: Option<f64>) -> Result<(f64, f64), PourError> {
    let until = until.unwrap_or(f64::INFINITY);
    ensure!(0.0 <= from && from < until, key, "{from} to {until} s is not a valid interval of time");
    ensure!(from < scene.end, key, "begins at {from} s, but the scene ends at {} s", scene.end);
    Ok((from, until))
}

/// Box (mm, world) around the walls at their initial poses; of a plane, only its point counts.
pub(crate) fn bounds(walls: &[SceneWall]) -> Aabb {
    let mut out = Aabb::empty();
    for wall in walls {
        wall.mesh.0.iter().for_each(|p| out.insert(&(wall.wall.pose() * p)));
        if matches!(wall.wall, Wall::Plane(_)) {
            out.insert(&wall.wall.reference());
        }
    }
    out
}

/// Whether a sphere (mm, world) touches no enabled wall, and its centre is not inside material.
pub(crate) fn is_free(simulation: &Simulation, walls: &[SceneWall], sphere: &Sphere) -> bool {
    let all = simulation.wall_ids().filter_map(|id| Some((id, simulation.wall(id)?)));
    all.zip(walls).all(|((id, wall), of_scene)| {
        let is_inside = || {
            let Wall::Facets(facets) = wall else { return false };
            of_scene.is_material && facets.encloses(&sphere.center)
        };
        !simulation.is_wall_enabled(id) || !(wall.touches(sphere) || is_inside())
    })
}

/// Maximum angle (rad) between the normals of two facets from one of which a contact moves to the other,
/// so that it keeps its shear state. With a larger value, contacts keep their shear states across real
/// edges; with a smaller one, they lose them on curved walls.
const CUTOFF: f64 = 0.5;

/// Minimum chord error of a wall of triangles, divided by the diagonal of the solid. A smaller value
/// allows meshes that exceed the memory; a larger one rejects accurate meshes.
const MIN_CHORD_FRACTION: f64 = 1e-6;

/// Chord error of the displayed triangles of exact walls, divided by the diagonal of the solid. With a
/// larger value, facets are visible; a smaller one makes pages larger.
const DISPLAY_CHORD_FRACTION: f64 = 5e-4;
