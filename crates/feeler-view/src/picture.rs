//! Content of a page: shapes, and the scenes that place them.
//!
//! These types are plain data for the results of any measurement. Lengths are in mm; positions and poses
//! are in the coordinates of the scene.

use crate::shape::Shape;
use feeler_geom::{P3, Pose, V3};
use nalgebra::UnitQuaternion;

/// Content of one page.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// Shapes of parts; a shape may be used by several parts.
    pub shapes: Vec<Shape>,
    /// Scenes, of which one is displayed at a time, initially the first.
    pub scenes: Vec<PictureScene>,
    /// Views that rows of the page's table display when they are clicked.
    pub shows: Vec<Show>,
    /// Data for measurements in the page itself; `None` disables them.
    pub live: Option<Live>,
}

/// Placed parts, and the results of measurements.
#[derive(Clone, Debug, Default)]
pub struct PictureScene {
    /// Name, displayed if there are several scenes.
    pub name: String,
    /// Parts.
    pub parts: Vec<PicturePart>,
    /// Measured pairs of parts.
    pub pairs: Vec<PicturePair>,
    /// Motion of the parts.
    pub motion: Option<PictureMotion>,
    /// Balls in addition to the parts.
    pub balls: Option<Balls>,
}

/// Placed solid.
#[derive(Clone, Debug)]
pub struct PicturePart {
    /// Names from the root of the assembly, joined by `/`.
    pub path: String,
    /// Index of the shape.
    pub shape: usize,
    /// Pose that maps the part's own coordinates to those of the scene, or of its track if the part
    /// moves.
    pub pose: Pose,
    /// Track of the scene's motion that the part follows.
    pub track: Option<usize>,
    /// Colour.
    pub tint: Tint,
}

/// Colour of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Colour of the part itself.
    #[default]
    Own,
    /// Colour of an old version.
    Old,
    /// Colour of a new version.
    New,
    /// Colour of the part itself, but transparent.
    Glass,
}

/// Two parts that were measured against each other.
#[derive(Clone, Debug)]
pub struct PicturePair {
    /// Indices of the parts.
    pub parts: [usize; 2],
    /// Status of the pair in one word, such as `touching`.
    pub status: String,
    /// Local minima, sorted by distance.
    pub minima: Vec<PictureMinimum>,
    /// Number of minima that are left out.
    pub more: usize,
    /// Witness point inside both parts (mm).
    pub witness: Option<P3>,
}

/// A local minimum of the distance.
#[derive(Clone, Debug)]
pub struct PictureMinimum {
    /// Distance (mm).
    pub distance: f64,
    /// Footpoints (mm).
    pub points: [P3; 2],
    /// Features of the footpoints.
    pub features: [String; 2],
    /// Kind of the minimum in one word.
    pub kind: &'static str,
}

/// Poses as functions of time.
#[derive(Clone, Debug, Default)]
pub struct PictureMotion {
    /// Times of the poses, in the unit `unit`.
    pub times: Vec<f64>,
    /// Displayed unit of the times: `s`, or empty for steps.
    pub unit: &'static str,
    /// Name and unit of `margin`, if it is not a distance.
    pub curve: Option<[&'static str; 2]>,
    /// Poses of each track, one for each time.
    pub tracks: Vec<Vec<Pose>>,
    /// Smallest distance (mm) at each time, `None` beyond the reach; 0 if parts interfere.
    pub margin: Vec<Option<f64>>,
    /// Indices of the times at which parts interfere.
    pub interfering: Vec<usize>,
    /// Footpoints of the nearest minima at each time (mm).
    pub minima: Vec<Vec<[P3; 2]>>,
}

/// Moving balls that appear and disappear, and the surfaces that are drawn instead of them.
#[derive(Clone, Debug, Default)]
pub struct Balls {
    /// Radius of each ball (mm).
    pub radii: Vec<f64>,
    /// Surfaces that are drawn instead of balls, about their centres, for a radius of 1 mm.
    pub shapes: Vec<TriangleSurface>,
    /// Index of the surface for each ball. `None`, or an index of a ball beyond the list, draws the
    /// ball.
    pub shape_of: Vec<Option<u32>>,
    /// Balls that are present, one frame for each time of the motion.
    pub frames: Vec<BallFrame>,
    /// Name and unit of the value that determines the colour.
    pub value: [&'static str; 2],
}

/// Balls at one time. All lists have the same length, except that `turns` may be empty.
#[derive(Clone, Debug, Default)]
pub struct BallFrame {
    /// Indices of the balls.
    pub numbers: Vec<u32>,
    /// Centres (mm).
    pub centers: Vec<P3>,
    /// Rotations from the coordinates of the shapes to those of the scene; may be empty.
    pub turns: Vec<UnitQuaternion<f64>>,
    /// Values that determine the colours, at least 0.
    pub values: Vec<f64>,
}

/// Triangulated surface, counter-clockwise from outside.
#[derive(Clone, Debug, Default)]
pub struct TriangleSurface {
    /// Vertices.
    pub points: Vec<P3>,
    /// Outward unit normals at the vertices.
    pub normals: Vec<V3>,
    /// Corners of the triangles, as indices of vertices.
    pub triangles: Vec<[u32; 3]>,
}

/// View that a row of a table displays.
#[derive(Clone, Debug)]
pub struct Show {
    /// Index of the scene.
    pub scene: usize,
    /// Displayed content of the scene.
    pub what: What,
}

/// Displayed content of a scene.
#[derive(Clone, Debug)]
pub enum What {
    /// Everything.
    All,
    /// A measured pair: an index into the scene's pairs, and the step of the motion at which it was
    /// measured, if parts move.
    Pair(usize, Option<usize>),
    /// Parts with these indices.
    Parts(Vec<usize>),
    /// Points (mm) that a remark refers to.
    Places(Vec<P3>),
    /// Step of the motion.
    Step(usize),
}

/// WebAssembly runtime for pages, and the models of a picture with one scene.
#[derive(Clone, Debug)]
pub struct Live {
    /// Script of the package, for pages without modules.
    pub script: String,
    /// WebAssembly of the package.
    pub wasm: Vec<u8>,
    /// `.feeler` files.
    pub models: Vec<Vec<u8>>,
    /// Model of each part of the scene, and its solid in that model.
    pub parts: Vec<[usize; 2]>,
}
