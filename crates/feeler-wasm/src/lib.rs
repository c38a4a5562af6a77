//! JavaScript interface for web pages: loads `.feeler` files, queries pairs, tracks the contacts of
//! pairs and scenes over the steps of a simulator, and returns meshes for display. With the feature `step`,
//! it also imports STEP files. It uses one thread.
//!
//! ```js
//! import init, { Model, Body, ContactPair } from "./feeler_wasm.js";
//! await init();
//! const model = Model.fromBytes(new Uint8Array(await (await fetch("ball.feeler")).arrayBuffer()));
//! const ball = new Body(model, 0);
//! const pair = new ContactPair(ball, ball);
//! const contacts = pair.query(undefined, [22.5, 0, 0, 0, 0, 0, 1], 5);
//! contacts[0].distance; // 2.5
//! pair.status;          // "separated"
//! ```
//!
//! Lengths are in mm, angles in rad. A pose is an array of seven numbers: a translation x, y, z and a
//! unit quaternion x, y, z, w; undefined is the identity. Methods have the names of the Rust library, in
//! camel case. Members of records and options have the names of the Rust library, in snake case. Invalid
//! arguments throw an `Error` with a message. Objects are freed by `free()` or by the garbage collector.
#![allow(unsafe_code, reason = "code that wasm-bindgen generates")]
#![allow(clippy::missing_errors_doc, reason = "errors are thrown with messages")]
#![allow(missing_debug_implementations, reason = "types that wasm-bindgen generates")]

mod options;
mod record;
mod scene;
#[cfg(feature = "step")]
mod step;
mod tracker;

use feeler::Pose;
use feeler::pose::{from_values, to_values};
use js_sys::{Array, Float64Array, Uint32Array};
use options::read_query_options;
use record::{contact, numbers, object, status_name, verdict};
use std::fmt::Display;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

pub use scene::Scene;
pub use tracker::ContactTracker;

/// Converts an error to a JavaScript `Error`.
pub(crate) fn thrown(e: impl Display) -> JsError {
    JsError::new(&format!("{e:#}"))
}

/// Contents of a `.feeler` file: distinct solids and their instances.
#[wasm_bindgen]
pub struct Model(feeler::Model);

/// Prepared solid or open surface, for pairs, trackers and scenes.
#[wasm_bindgen]
pub struct Body(pub(crate) Arc<feeler::Body>);

/// Two bodies, A and B, with the results of earlier queries that the next query reuses.
#[wasm_bindgen]
pub struct ContactPair(feeler::ContactPair);

#[wasm_bindgen]
impl Model {
    /// Reads the bytes of a `.feeler` file.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, JsError> {
        feeler::Model::from_bytes(bytes).map(Self).map_err(thrown)
    }

    /// Number of distinct solids of the model.
    #[wasm_bindgen(getter, js_name = solidCount)]
    pub fn solid_count(&self) -> usize {
        self.0.solids.len()
    }

    /// Instances of the solids: objects with `name`, `path` (names from the root of the assembly, joined
    /// by '/'; empty if the model has no assembly), `solid` (index of the solid) and `pose` (from the
    /// solid's coordinates to those of the model).
    #[wasm_bindgen(getter)]
    pub fn instances(&self) -> Array {
        let one = |i: &feeler::Instance| {
            object(&[
                ("name", i.name.as_str().into()),
                ("path", i.path.as_str().into()),
                ("solid", i.solid.into()),
                ("pose", numbers(&to_values(&i.pose()))),
            ])
        };
        self.0.instances.iter().map(one).collect()
    }
}

#[wasm_bindgen]
impl Body {
    /// Creates a body from a solid of a model. `solid` is the index of the solid, counted from 0.
    #[wasm_bindgen(constructor)]
    pub fn new(model: &Model, solid: usize) -> Result<Body, JsError> {
        feeler::Body::from_model(&model.0, solid).map(|b| Self(Arc::new(b))).map_err(thrown)
    }

    /// Bounding box in the solid's own coordinates (mm): three smallest and three largest coordinates.
    #[wasm_bindgen(getter)]
    pub fn bounds(&self) -> Float64Array {
        let info = &self.0.hierarchy().info;
        Float64Array::from(&[info.bbox_min, info.bbox_max].concat()[..])
    }

    /// Lower bound of the thickness of the material (mm): the length of the shortest segment through
    /// material that is normal to faces at both ends. Infinite if no such segment exists; 0 for an
    /// open surface and if no bound could be proven.
    #[wasm_bindgen(getter, js_name = minThickness)]
    pub fn min_thickness(&self) -> f64 {
        self.0.min_thickness()
    }

    /// Volume (mm³); 0 for an open surface.
    #[wasm_bindgen(getter)]
    pub fn volume(&self) -> f64 {
        self.0.hierarchy().info.volume
    }

    /// Returns a triangle mesh within `chord` (mm) of the solid, for display. It is an object with
    /// `points` (mm) and `normals` (three numbers for each vertex), `triangles` (indices of three
    /// vertices for each triangle), `faces` (index of the face of each triangle), `welded` (for each
    /// vertex, the index of the first vertex at the same position), `deviation` (largest measured
    /// distance of a triangle from its surface, mm) and `open_sides` (number of triangle sides that no
    /// adjacent triangle shares).
    pub fn mesh(&self, chord: f64) -> Result<JsValue, JsError> {
        let mesh = feeler::mesh::mesh(self.0.hierarchy(), chord).map_err(thrown)?;
        let points: Vec<f64> = mesh.points.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        let normals: Vec<f64> = mesh.normals.iter().flat_map(|n| [n.x, n.y, n.z]).collect();
        let triangles: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
        Ok(object(&[
            ("points", Float64Array::from(&points[..]).into()),
            ("normals", Float64Array::from(&normals[..]).into()),
            ("triangles", Uint32Array::from(&triangles[..]).into()),
            ("faces", Uint32Array::from(&mesh.faces[..]).into()),
            ("welded", Uint32Array::from(&mesh.welded[..]).into()),
            ("deviation", mesh.deviation.into()),
            ("open_sides", u32::try_from(mesh.open_sides()).unwrap_or(u32::MAX).into()),
        ]))
    }
}

#[wasm_bindgen]
impl ContactPair {
    /// Creates a pair of the bodies A (`a`) and B (`b`), which may be the same body.
    #[wasm_bindgen(constructor)]
    pub fn new(a: &Body, b: &Body) -> ContactPair {
        Self(feeler::ContactPair::new(a.0.clone(), b.0.clone()))
    }

    /// Computes all local minima of the distance up to `d_max` (mm) and returns them by ascending
    /// distance. Each is an object with the members of `contacts` in the JSON document of
    /// `feeler query`. `options` is undefined or an object with some of `quasi_angle` (rad),
    /// `dilation_a`, `dilation_b`, `tolerance`, `penetration`, `conformal_spacing` (mm),
    /// `detect_interference`, `verdict_unless_pressed`, `certified` and `load_bearing`.
    pub fn query(
        &mut self,
        pose_a: Option<Vec<f64>>,
        pose_b: Option<Vec<f64>>,
        d_max: f64,
        options: &JsValue,
    ) -> Result<Array, JsError> {
        let (pose_a, pose_b) = (pose(pose_a)?, pose(pose_b)?);
        self.0.query(&pose_a, &pose_b, &read_query_options(d_max, options)?).map_err(thrown)?;
        Ok(self.contacts())
    }

    /// Contacts of the last query, as returned by `query`.
    pub fn contacts(&self) -> Array {
        self.0.contacts().iter().map(contact).collect()
    }

    /// Relation of the solids in the last query: separated, touching, interfering or undecided.
    /// Undefined before the first query, after an error, and if the options skipped the verdict.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> Option<String> {
        self.0.status().map(|status| status_name(status).to_owned())
    }

    /// Smallest distance (mm) of a contact of the last query; undefined if no contact exists.
    #[wasm_bindgen(getter, js_name = minDistance)]
    pub fn min_distance(&self) -> Option<f64> {
        self.0.min_distance()
    }

    /// Verdict of the last query; undefined if `status` is undefined. The verdict is an object with
    /// `status`, `min_distance` (mm, if there is a contact), `undecided_count` and `tolerance` (mm); if
    /// the solids interfere, also `witness` (a point inside both, mm, world coordinates), `inside_a`
    /// and `inside_b` (lower bounds of the distances of the witness from the boundaries of A and of B,
    /// mm), and `depth` (mm; the sum of both, or `-min_distance` if that is larger).
    #[wasm_bindgen(getter)]
    pub fn verdict(&self) -> JsValue {
        let min_distance = self.0.min_distance();
        let tolerance = self.0.tolerances().tol;
        self.0.verdict().map_or(JsValue::UNDEFINED, |found| verdict(found, min_distance, tolerance))
    }

    /// Returns the verdict of the last query. It is computed now if the options of the query skipped it.
    pub fn decide(&mut self) -> JsValue {
        self.0.decide();
        self.verdict()
    }

    /// Discards the results of earlier queries. The contacts of the next query get new ids.
    pub fn forget(&mut self) {
        self.0.forget();
    }
}

/// Reads a pose; `None` stands for the identity.
pub(crate) fn pose(values: Option<Vec<f64>>) -> Result<Pose, JsError> {
    let Some(values) = values else { return Ok(Pose::identity()) };
    let count = values.len();
    let values = <[f64; 7]>::try_from(values)
        .map_err(|_| thrown(format!("a pose has 7 numbers x, y, z, qx, qy, qz, qw; got {count} numbers")))?;
    from_values(&values).map_err(thrown)
}
