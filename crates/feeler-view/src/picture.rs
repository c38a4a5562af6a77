//! What a page shows: shapes, and the scenes in which they stand.
//!
//! Plain data, filled by whoever has measured something. Lengths in mm, places and poses in the coordinates
//! of the scene.

use crate::shape::Shape;
use feeler_geom::{P3, Pose, V3};
use nalgebra::UnitQuaternion;

/// Everything that one page shows.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// What parts look like; each may stand in several places.
    pub shapes: Vec<Shape>,
    /// What can be shown, one at a time: first the first.
    pub scenes: Vec<Scene>,
    /// What rows of the page's table show when they are clicked.
    pub shows: Vec<Show>,
    /// Measures in the page itself, if it may.
    pub live: Option<Live>,
}

/// Parts in their places, and what was measured of them.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// What it is called where there are several.
    pub name: String,
    /// Parts.
    pub parts: Vec<Part>,
    /// Pairs that were measured.
    pub pairs: Vec<Pair>,
    /// How parts move.
    pub motion: Option<Motion>,
    /// Balls among the parts.
    pub balls: Option<Balls>,
}

/// A solid in its place.
#[derive(Clone, Debug)]
pub struct Part {
    /// Names from the root of the assembly, joined by `/`.
    pub path: String,
    /// Its shape.
    pub shape: usize,
    /// From its own coordinates to those of the scene; of a part that moves to those of its track.
    pub pose: Pose,
    /// The track of the scene's motion that it follows.
    pub track: Option<usize>,
    /// In which colour.
    pub tint: Tint,
}

/// Colour of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// One of its own.
    #[default]
    Own,
    /// Of an old version.
    Old,
    /// Of a new version.
    New,
    /// One of its own, as glass: what is behind it is seen.
    Glass,
}

/// Two parts that were measured against each other.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Indices of the parts.
    pub parts: [usize; 2],
    /// How they stand to each other, in a word.
    pub status: String,
    /// Local minima by distance.
    pub minima: Vec<Minimum>,
    /// Minima that are left out.
    pub more: usize,
    /// A point inside both.
    pub witness: Option<P3>,
}

/// A local minimum of the distance.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// Distance (mm).
    pub distance: f64,
    /// Footpoints.
    pub points: [P3; 2],
    /// What they are on.
    pub features: [String; 2],
    /// Its class, in a word.
    pub class: &'static str,
}

/// Poses over time.
#[derive(Clone, Debug, Default)]
pub struct Motion {
    /// When.
    pub times: Vec<f64>,
    /// Unit of the times, as it is shown: `s`, or empty for steps.
    pub unit: &'static str,
    /// What `margin` is and its unit, where it is no distance.
    pub curve: Option<[&'static str; 2]>,
    /// For each track its pose at each time.
    pub tracks: Vec<Vec<Pose>>,
    /// Smallest distance (mm) at each time, as far as it was within reach; 0 where parts interfere.
    pub margin: Vec<Option<f64>>,
    /// Times at which parts interfere.
    pub interfering: Vec<usize>,
    /// At each time the footpoints of the nearest minima.
    pub minima: Vec<Vec<[P3; 2]>>,
}

/// Balls that move, come and go, and what is drawn in their place.
#[derive(Clone, Debug, Default)]
pub struct Balls {
    /// Radius of each ball (mm).
    pub radii: Vec<f64>,
    /// What is drawn instead of balls: surfaces about the centre, as they are where the radius is 1 mm.
    pub shapes: Vec<Surface>,
    /// For each ball the shape that is drawn instead of it; without it, or beyond the list, the ball.
    pub shape_of: Vec<Option<u32>>,
    /// Which are there, one for each time of the motion.
    pub frames: Vec<BallFrame>,
    /// What colours them, and its unit.
    pub value: [&'static str; 2],
}

/// Balls at one time; all lists are as long, but turns may be left out.
#[derive(Clone, Debug, Default)]
pub struct BallFrame {
    /// Their numbers.
    pub numbers: Vec<u32>,
    /// Their centres (mm).
    pub centers: Vec<P3>,
    /// How each is turned, from the coordinates of its shape to those of the scene; or none of them.
    pub turns: Vec<UnitQuaternion<f64>>,
    /// What colours each, 0 or more.
    pub values: Vec<f64>,
}

/// A surface of triangles, counter-clockwise from outside.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Vertices.
    pub points: Vec<P3>,
    /// Outward unit normals there.
    pub normals: Vec<V3>,
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
}

/// What a row of a table shows.
#[derive(Clone, Debug)]
pub struct Show {
    /// In which scene.
    pub scene: usize,
    /// What of it.
    pub what: What,
}

/// What is shown of a scene.
#[derive(Clone, Debug)]
pub enum What {
    /// All of it.
    All,
    /// Two parts that were measured: an index of the scene's pairs, and the step of the motion at which they
    /// were, if parts move.
    Pair(usize, Option<usize>),
    /// These parts.
    Parts(Vec<usize>),
    /// Places (mm) that a remark is about.
    Places(Vec<P3>),
    /// A step of the motion.
    Step(usize),
}

/// The runtime for web pages, and the models of a picture with one scene.
#[derive(Clone, Debug)]
pub struct Live {
    /// The package's script, for pages without modules.
    pub script: String,
    /// Its WebAssembly.
    pub wasm: Vec<u8>,
    /// `.feeler` files.
    pub models: Vec<Vec<u8>>,
    /// For each part of the scene its model, and its solid there.
    pub parts: Vec<[usize; 2]>,
}
