//! Content of a page: shapes, and the scenes that place them.
//!
//! These types are plain data for the results of any measurement. Lengths are in mm; positions and poses
//! are in the coordinates of the scene.

use crate::shape::{LineSegment, Shape};
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
    /// Name of the scene, displayed if the picture has several scenes.
    pub name: String,
    /// Placed solids of the scene.
    pub parts: Vec<PicturePart>,
    /// Measured pairs of parts.
    pub pairs: Vec<PicturePair>,
    /// Marked places, drawn from the beginning and listed beside the picture.
    pub marks: Vec<PictureMark>,
    /// Motion of the parts; `None` if they do not move.
    pub motion: Option<PictureMotion>,
    /// Moving balls in addition to the parts; `None` without balls.
    pub balls: Option<Balls>,
    /// Whether the parts are cells of a tessellation. A slider moves them apart, lengths have no unit, and
    /// pairs of parts are not measured.
    pub are_cells: bool,
}

/// Placed solid of a scene.
#[derive(Clone, Debug)]
pub struct PicturePart {
    /// Names from the root of the assembly, joined by `/`.
    pub path: String,
    /// Index of the part's shape in [`Picture::shapes`].
    pub shape: usize,
    /// Pose that maps the part's own coordinates to those of the scene, or of its track if the part
    /// moves.
    pub pose: Pose,
    /// Index of the track of the scene's motion that the part follows; `None` if it does not move.
    pub track: Option<usize>,
    /// Colour of the part.
    pub tint: Tint,
    /// Lines of text that are displayed when the part is picked.
    pub facts: Vec<String>,
}

/// Colour of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Colour that the page assigns to the part's shape.
    #[default]
    Own,
    /// Colour for parts of the old version in a comparison.
    Old,
    /// Colour for parts of the new version in a comparison.
    New,
    /// Like `Own`, but transparent.
    Glass,
    /// Colour of a number: parts of several scenes with the same number have the same colour.
    Number(u32),
}

/// A marked place of a scene with a text, such as a repair of the import.
#[derive(Clone, Debug, Default)]
pub struct PictureMark {
    /// Class of the text's colour: `error`, `warning` or `note`.
    pub class: &'static str,
    /// Displayed text.
    pub text: String,
    /// Points (mm) that are marked.
    pub points: Vec<P3>,
    /// Line segments (mm) that are marked.
    pub lines: Vec<LineSegment>,
    /// Marked faces, each as the index of a part of the scene and of a face of its shape.
    pub faces: Vec<[usize; 2]>,
}

/// Two parts that were measured against each other.
#[derive(Clone, Debug)]
pub struct PicturePair {
    /// Indices of the two parts in the scene.
    pub parts: [usize; 2],
    /// Status of the pair in one word, such as `touching`.
    pub status: String,
    /// Local minima, sorted by distance.
    pub minima: Vec<PictureMinimum>,
    /// Number of further minima, which `minima` omits.
    pub more: usize,
    /// Witness point inside both parts (mm); `None` if they do not interfere.
    pub witness: Option<P3>,
}

/// A local minimum of the distance.
#[derive(Clone, Debug)]
pub struct PictureMinimum {
    /// Distance (mm) of the footpoints.
    pub distance: f64,
    /// Footpoints on the first and on the second part (mm).
    pub points: [P3; 2],
    /// Descriptions of the faces, edges or vertices that contain the footpoints.
    pub features: [String; 2],
    /// Kind of the minimum in one word, such as `strict`.
    pub kind: &'static str,
}

/// Poses of the parts of a scene as functions of time.
#[derive(Clone, Debug, Default)]
pub struct PictureMotion {
    /// Times of the poses, in the unit `unit`.
    pub times: Vec<f64>,
    /// Displayed unit of the times: `s`, or empty for steps.
    pub unit: &'static str,
    /// Displayed name and unit of the quantity in `margin`; `None` if it is the smallest distance in mm.
    pub curve: Option<[&'static str; 2]>,
    /// Poses of each track, one for each time.
    pub tracks: Vec<Vec<Pose>>,
    /// Smallest distance (mm) of the parts at each time, or the quantity that `curve` names. `None`
    /// beyond the largest measured distance; 0 if parts interfere.
    pub margin: Vec<Option<f64>>,
    /// Indices of the times at which parts interfere.
    pub interfering: Vec<usize>,
    /// Footpoints (mm) of the nearest minima at each time, two for each minimum, one on either part.
    pub minima: Vec<Vec<[P3; 2]>>,
}

/// Moving balls that appear and disappear, and the surfaces that are drawn instead of some of them.
#[derive(Clone, Debug, Default)]
pub struct Balls {
    /// Radius of each ball (mm).
    pub radii: Vec<f64>,
    /// Surfaces that are drawn instead of balls, in coordinates relative to the ball's centre and in
    /// units of the ball's radius.
    pub shapes: Vec<TriangleSurface>,
    /// Index in `shapes` of the surface for each ball. A ball with `None`, or beyond the end of this
    /// list, is drawn as a ball.
    pub shape_of: Vec<Option<u32>>,
    /// Balls that are present, one frame for each time of the motion.
    pub frames: Vec<BallFrame>,
    /// Name and unit of the value that determines the colour of a ball.
    pub value: [&'static str; 2],
}

/// Balls that are present at one time. All lists have the same length, except that `turns` may be empty.
#[derive(Clone, Debug, Default)]
pub struct BallFrame {
    /// Indices of the balls that are present, into [`Balls::radii`].
    pub numbers: Vec<u32>,
    /// Centres of the balls (mm).
    pub centers: Vec<P3>,
    /// Rotation of each ball, from the coordinates of its surface in [`Balls::shapes`] to those of the
    /// scene; empty for no rotations.
    pub turns: Vec<UnitQuaternion<f64>>,
    /// Values that determine the colours, at least 0.
    pub values: Vec<f64>,
}

/// Triangulated surface, counter-clockwise from outside.
#[derive(Clone, Debug, Default)]
pub struct TriangleSurface {
    /// Vertices, in units of the ball's radius.
    pub points: Vec<P3>,
    /// Outward unit normals at the vertices.
    pub normals: Vec<V3>,
    /// Corners of the triangles, as indices of vertices.
    pub triangles: Vec<[u32; 3]>,
}

/// View of a scene that a row of the page's table displays when it is clicked.
#[derive(Clone, Debug)]
pub struct Show {
    /// Index of the scene in [`Picture::scenes`].
    pub scene: usize,
    /// Displayed content of the scene.
    pub what: What,
}

/// Displayed content of a scene.
#[derive(Clone, Debug)]
pub enum What {
    /// The whole scene.
    All,
    /// A measured pair: an index into the scene's pairs, and the step of the motion at which it was
    /// measured, if parts move.
    Pair(usize, Option<usize>),
    /// The parts of the scene with these indices.
    Parts(Vec<usize>),
    /// A mark of the scene, by its index.
    Mark(usize),
    /// The scene at the time of the motion with this index.
    Step(usize),
}

/// WebAssembly runtime for pages, and the models of a picture with one scene.
#[derive(Clone, Debug)]
pub struct Live {
    /// JavaScript of the WebAssembly package, for pages without modules.
    pub script: String,
    /// Bytes of the package's WebAssembly file.
    pub wasm: Vec<u8>,
    /// Bytes of `.feeler` files, one for each model.
    pub models: Vec<Vec<u8>>,
    /// For each part of the scene, the index of its model in `models` and the index of its solid in that
    /// model.
    pub parts: Vec<[usize; 2]>,
}
