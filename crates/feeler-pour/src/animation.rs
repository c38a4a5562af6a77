//! Animated picture of a finished run: transparent walls and moving particles.

use crate::error::PourError;
use crate::files::Files;
use crate::series::Series;
use crate::setup::PourScene;
use crate::shape::ScaledShape;
use crate::vtk;
use crate::walls::SceneWall;
use feeler_geom::{Pose, V3};
use feeler_view::mesh::Mesh;
use feeler_view::picture::{BallFrame, Balls, Picture, PictureMotion, PicturePart, PictureScene, Tint};
use feeler_view::shape::Shape;
use nalgebra::{Quaternion, UnitQuaternion};

/// Builds the animated picture, with the title `name`, of the frames of a run of `rows` rows.
///
/// # Errors
/// A frame cannot be read.
pub(crate) fn animation(
    name: &str,
    scene: &PourScene,
    files: &Files,
    series: &Series,
    rows: u64,
) -> Result<Picture, PourError> {
    let frames = selected_frames(files, rows / scene.times.rows_of_frame + 1)?;
    let (parts, shapes, tracks) = walls(scene, series, &frames);
    let (curve, values) = curve(series, scene);
    let times = series.column("time_s");
    let times: Vec<f64> =
        frames.iter().map(|f| times.get(row_of_frame(scene, *f)).copied().unwrap_or(0.0)).collect();
    let motion = PictureMotion {
        minima: vec![Vec::new(); times.len()],
        times,
        unit: "s",
        curve: Some(curve),
        tracks,
        margin: frames.iter().map(|f| values.get(row_of_frame(scene, *f)).copied()).collect(),
        interfering: Vec::new(),
    };
    let balls = Some(particles(scene, files, &frames)?);
    let scene =
        PictureScene { name: name.to_owned(), parts, motion: Some(motion), balls, ..PictureScene::default() };
    Ok(Picture { shapes, scenes: vec![scene], ..Picture::default() })
}

/// Number of the row of the series that belongs to a frame.
fn row_of_frame(scene: &PourScene, frame: u64) -> usize {
    usize::try_from(frame * scene.times.rows_of_frame).unwrap_or(usize::MAX)
}

/// Returns the walls that have triangles, as parts of the picture; their shapes; and for each moving one
/// among them its poses (world) in `frames`, which are numbers of frames.
fn walls(
    scene: &PourScene,
    series: &Series,
    frames: &[u64],
) -> (Vec<PicturePart>, Vec<Shape>, Vec<Vec<Pose>>) {
    let (mut parts, mut shapes, mut tracks) = (Vec::new(), Vec::new(), Vec::new());
    for wall in scene.walls.iter().filter(|wall| !wall.mesh.1.is_empty()) {
        let track = (!wall.schedule.is_fixed()).then(|| {
            let travel = series.column(&format!("{}_travel_mm", wall.name));
            let pose = |frame: &u64| {
                let travel = travel.get(row_of_frame(scene, *frame)).copied().unwrap_or(0.0);
                wall.schedule.pose_at(wall.wall.pose(), scene.time_of_frame(*frame), travel)
            };
            tracks.push(frames.iter().map(pose).collect());
            tracks.len() - 1
        });
        parts.push(PicturePart {
            path: wall.name.clone(),
            shape: shapes.len(),
            pose: if track.is_some() { Pose::identity() } else { *wall.wall.pose() },
            track,
            tint: Tint::Glass,
            facts: Vec::new(),
        });
        shapes.push(flat_shape(wall));
    }
    (parts, shapes, tracks)
}

/// Reads the particles of `frames`, which are numbers of frames, for the picture.
fn particles(scene: &PourScene, files: &Files, frames: &[u64]) -> Result<Balls, PourError> {
    let mut balls = Balls { value: ["speed", "mm/s"], ..Balls::default() };
    let scaled: Vec<Option<&ScaledShape>> = scene.groups.iter().map(|g| g.shape.scaled.as_ref()).collect();
    balls.shapes = scaled.iter().flatten().map(|s| s.surface(HALVINGS)).collect();
    let index = |group: usize| u32::try_from(scaled[..group].iter().flatten().count()).ok();
    let shape_of_group: Vec<Option<u32>> =
        scaled.iter().enumerate().map(|(k, s)| s.and_then(|_| index(k))).collect();
    for number in frames {
        let frame = vtk::read_particles(&files.frame(*number))?;
        let id = |k: &i64| usize::try_from(*k).unwrap_or(0);
        for ((k, r), group) in frame.ids.iter().zip(&frame.radii).zip(&frame.groups) {
            let needed = (id(k) + 1).max(balls.radii.len());
            balls.radii.resize(needed, 0.0);
            balls.radii[id(k)] = f64::from(*r);
            balls.shape_of.resize(needed, None);
            let group = usize::try_from(*group).ok();
            balls.shape_of[id(k)] = group.and_then(|g| shape_of_group.get(g).copied()).flatten();
        }
        balls.frames.push(BallFrame {
            numbers: frame.ids.iter().map(|k| u32::try_from(*k).unwrap_or(u32::MAX)).collect(),
            centers: frame.centers,
            turns: frame.rotations.iter().map(rotation).collect(),
            values: frame.velocities.iter().map(|v| V3::from(v.map(f64::from)).norm()).collect(),
        });
    }
    Ok(balls)
}

/// Returns the name and the unit of the displayed curve, and its value at each row of the series. The
/// curve is the mass flow, or the kinetic energy if nothing flows out.
fn curve(series: &Series, scene: &PourScene) -> ([&'static str; 2], Vec<f64>) {
    if series.mass_flow(scene).iter().any(|x| *x > 0.0) {
        let flow = series.smooth_mass_flow(scene);
        return (["mass flow", "g/s"], flow.into_iter().map(|x| 1e3 * x).collect());
    }
    (["kinetic energy", "mJ"], series.column("kinetic_uJ").iter().map(|x| 1e-3 * x).collect())
}

/// Returns the rotation with the rounded components w, x, y, z of a unit quaternion; the identity if all
/// are 0.
fn rotation(numbers: &[f32; 4]) -> UnitQuaternion<f64> {
    let [w, i, j, k] = numbers.map(f64::from);
    UnitQuaternion::try_new(Quaternion::new(w, i, j, k), 0.0).unwrap_or_else(UnitQuaternion::identity)
}

/// Returns the numbers of the frames that are displayed, among `count` frames: every n-th frame, with
/// the smallest n for which they contain about [`MAX_BALLS`] particles or fewer.
fn selected_frames(files: &Files, count: u64) -> Result<Vec<u64>, PourError> {
    let mut bytes = 0;
    for number in 0..count {
        let path = files.frame(number);
        bytes += std::fs::metadata(&path).map_err(|error| PourError::Read { path, error })?.len();
    }
    let balls = usize::try_from(bytes / BYTES_OF_PARTICLE).unwrap_or(usize::MAX);
    Ok((0..count).step_by(balls.div_ceil(MAX_BALLS).max(1)).collect())
}

/// Returns the shape of a wall with flat triangles. Edges between triangles of different directions are
/// drawn.
fn flat_shape(wall: &SceneWall) -> Shape {
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

/// Maximum number of particles in a page, summed over the displayed frames. A larger value makes pages
/// of more than 50 MB; a smaller one omits frames, so that the motion is jerky.
const MAX_BALLS: usize = 1_500_000;

/// Size (bytes) of a particle in the file of a frame, for an estimate of the number of particles from
/// file sizes.
const BYTES_OF_PARTICLE: u64 = 72;

/// Number of halvings of the edges of an octahedron for the displayed surface of a grain, which then has
/// 512 triangles. Each further halving quarters the frame rate; with fewer, facets are visible.
const HALVINGS: u32 = 3;
