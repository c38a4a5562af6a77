//! Pictures of solids for pages.

use crate::features::feature_name;
use feeler_assembly::contact_kind_name;
use feeler_geom::{P3, Pose};
use feeler_hierarchy::{Hierarchy, Model};
use feeler_runtime::{Body, Contact};
use feeler_view::picture::{Picture, PictureMinimum, PicturePart, PictureScene, Show, Tint, What};
use feeler_view::shape::Shape;
use rayon::prelude::*;
use std::sync::Arc;

/// Default chord error of triangles, relative to the diagonal of the solid's bounding box. Curved faces
/// look faceted with a larger value; pages are larger with a smaller one.
const CHORD: f64 = 5e-4;

/// Number of triangles in a picture beyond which a report draws no further model. Pages exceed a few
/// megabytes with a larger value; a smaller one omits models.
const MAX_TRIANGLES: usize = 400_000;

/// Maximum number of models that a report draws; each is loaded once more. Reports take longer with a larger
/// value; a smaller one omits models.
const MAX_MODELS: usize = 20;

/// Picture under construction, with its shapes, scenes and options.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    pub(crate) picture: Picture,
    /// Messages about solids that could not be drawn.
    pub(crate) failed: Vec<String>,
    /// Chord error of triangles (mm); `None` stands for [`CHORD`] times the size of each solid.
    chord: Option<f64>,
    /// Whether boxes, cones and leaf areas are drawn.
    with_layers: bool,
}

impl Drawing {
    pub(crate) fn new(chord: Option<f64>, with_layers: bool) -> Self {
        Self { chord, with_layers, ..Self::default() }
    }

    /// Adds the shapes of solids and returns their indices in the picture. A solid that cannot be drawn
    /// gets an empty shape and a message in `failed`.
    pub(crate) fn shapes(&mut self, solids: &[&Hierarchy]) -> Vec<usize> {
        let (chord, with_layers) = (self.chord, self.with_layers);
        let one = |solid: &&Hierarchy| {
            let diagonal = solid.info.bbox_min.iter().zip(solid.info.bbox_max);
            let size = diagonal.map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt();
            Shape::new(solid, chord.unwrap_or(CHORD * size), with_layers)
        };
        let drawn: Vec<_> = solids.par_iter().map(one).collect();
        let mut out = Vec::new();
        for (solid, shape) in solids.iter().zip(drawn) {
            let name = &solid.info.name;
            let shape = shape.unwrap_or_else(|e| {
                self.failed.push(format!("'{name}' cannot be drawn: {e}"));
                Shape { name: name.clone(), ..Shape::default() }
            });
            out.push(self.picture.shapes.len());
            self.picture.shapes.push(shape);
        }
        out
    }

    /// Adds the shapes of bodies and returns the index of the shape for each body. A body that is listed
    /// several times is added once.
    pub(crate) fn shapes_of_bodies<'a>(
        &mut self,
        bodies: impl IntoIterator<Item = &'a Arc<Body>>,
    ) -> Vec<usize> {
        let bodies: Vec<&Arc<Body>> = bodies.into_iter().collect();
        let mut distinct: Vec<*const Body> = bodies.iter().map(|b| Arc::as_ptr(b)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        // Shapes are in the order of the bodies, because addresses differ from run to run.
        let mut first = vec![None; distinct.len()];
        let mut solids = Vec::new();
        let mut which = Vec::new();
        for body in bodies {
            let k = distinct.partition_point(|p| *p < Arc::as_ptr(body));
            let n = *first[k].get_or_insert_with(|| {
                solids.push(body.hierarchy());
                solids.len() - 1
            });
            which.push(n);
        }
        let shapes = self.shapes(&solids);
        which.into_iter().map(|n| shapes[n]).collect()
    }

    /// Adds the shapes of a model's solids to the picture, and returns a part of the picture for each
    /// instance of the model, without adding it to a scene.
    pub(crate) fn parts_of_model(&mut self, model: &Model, tint: Tint) -> Vec<PicturePart> {
        let solids: Vec<&Hierarchy> = model.solids.iter().collect();
        let shapes = self.shapes(&solids);
        let part = |(i, instance): (usize, &feeler_hierarchy::Instance)| {
            let own = [&instance.path, &instance.name].into_iter().find(|n| !n.is_empty());
            PicturePart {
                path: own.map_or_else(|| format!("solid {i}"), Clone::clone),
                shape: shapes[instance.solid as usize],
                pose: instance.pose(),
                track: None,
                tint,
                facts: Vec::new(),
            }
        };
        model.instances.iter().enumerate().map(part).collect()
    }

    /// Adds a shape that consists of line segments (mm) only and returns its index in the picture.
    pub(crate) fn wire(&mut self, name: &str, lines: &[[P3; 2]]) -> usize {
        self.picture.shapes.push(Shape::of_lines(name, lines.to_vec()));
        self.picture.shapes.len() - 1
    }

    /// Adds a scene and returns its index in the picture.
    pub(crate) fn add(&mut self, scene: PictureScene) -> usize {
        self.picture.scenes.push(scene);
        self.picture.scenes.len() - 1
    }

    /// Registers a selection of the parts and pairs of a scene (by its index), which the picture shows
    /// when a row of a table is clicked. Returns the index of the selection, for
    /// [`Row::show`](crate::page::Row).
    pub(crate) fn show(&mut self, scene: usize, what: What) -> usize {
        self.picture.shows.push(Show { scene, what });
        self.picture.shows.len() - 1
    }

    /// Whether [`MAX_MODELS`] or [`MAX_TRIANGLES`] is reached, so that a report draws no further model.
    pub(crate) fn is_full(&self) -> bool {
        self.picture.scenes.len() >= MAX_MODELS || self.triangles() > MAX_TRIANGLES
    }

    pub(crate) fn triangles(&self) -> usize {
        self.picture.shapes.iter().map(|s| s.mesh.triangles.len()).sum()
    }

    /// The finished picture; `None` if it has no scene.
    pub(crate) fn finished(&self) -> Option<&Picture> {
        (!self.picture.scenes.is_empty()).then_some(&self.picture)
    }
}

/// Converts a contact to a minimum of a picture: footpoints, distance, kind, and names of the features.
pub(crate) fn minimum(l: &Contact) -> PictureMinimum {
    PictureMinimum {
        distance: l.distance,
        points: [l.point_a, l.point_b],
        features: [feature_name(&l.feature_a), feature_name(&l.feature_b)],
        kind: contact_kind_name(l.kind),
    }
}

/// Creates a part of a picture that does not move, from its path, the index of its shape and its pose.
pub(crate) fn still(path: &str, shape: usize, pose: Pose) -> PicturePart {
    PicturePart { path: path.to_owned(), shape, pose, track: None, tint: Tint::Own, facts: Vec::new() }
}

/// Returns the indices of the parts that a difference with this `subject` is about. Such a subject
/// begins with the path of the part in quotes.
pub(crate) fn about(parts: &[PicturePart], subject: &str) -> Vec<usize> {
    let is_about = |p: &PicturePart| {
        let rest = subject.strip_prefix('\'').and_then(|s| s.strip_prefix(p.path.as_str()));
        rest.is_some_and(|r| r.starts_with('\''))
    };
    (0..parts.len()).filter(|i| is_about(&parts[*i])).collect()
}
