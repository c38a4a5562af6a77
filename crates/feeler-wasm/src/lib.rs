//! Queries and contact tracking in a web page: loads `.feeler` files, queries pairs, tracks the contacts of
//! pairs and scenes over the steps of a simulator, and gives meshes to draw. One thread.
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
//! Poses are x, y, z (mm) and a quaternion x, y, z, w. Objects are freed by `free()`, or by the garbage
//! collector.
#![allow(unsafe_code, reason = "code that wasm-bindgen generates")]
#![allow(clippy::missing_errors_doc, reason = "errors are thrown, with texts")]
#![allow(missing_debug_implementations, reason = "types that wasm-bindgen generates")]

mod record;
mod scene;
mod tracker;

use feeler::pose::{from_values, to_values};
use feeler::{Pose, QueryOptions, Status};
use js_sys::{Array, Float64Array, Uint32Array};
use record::{contact, numbers, object};
use std::fmt::Display;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

pub use scene::Scene;
pub use tracker::ContactTracker;

pub(crate) fn thrown(e: impl Display) -> JsError {
    JsError::new(&format!("{e:#}"))
}

/// The contents of a `.feeler` file.
#[wasm_bindgen]
pub struct Model(feeler::Model);

/// A solid ready for queries.
#[wasm_bindgen]
pub struct Body(pub(crate) Arc<feeler::Body>);

/// Two bodies, and the results that their queries reuse.
#[wasm_bindgen]
pub struct ContactPair(feeler::ContactPair);

#[wasm_bindgen]
impl Model {
    /// A model from the bytes of a `.feeler` file.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Model, JsError> {
        feeler::Model::from_bytes(bytes).map(Self).map_err(thrown)
    }

    /// Number of distinct solids.
    #[wasm_bindgen(getter)]
    pub fn solids(&self) -> usize {
        self.0.solids.len()
    }

    /// Placements of the solids: objects with `name`, `solid` and `pose`.
    #[wasm_bindgen(getter)]
    pub fn instances(&self) -> Array {
        let one = |i: &feeler::Instance| {
            let name = if i.path.is_empty() { &i.name } else { &i.path };
            object(&[
                ("name", name.into()),
                ("solid", i.solid.into()),
                ("pose", numbers(&to_values(&i.pose()))),
            ])
        };
        self.0.instances.iter().map(one).collect()
    }
}

#[wasm_bindgen]
impl Body {
    /// The body of a solid of a model, given by its number.
    #[wasm_bindgen(constructor)]
    pub fn new(model: &Model, solid: usize) -> Result<Body, JsError> {
        feeler::Body::from_model(&model.0, solid).map(|b| Self(Arc::new(b))).map_err(thrown)
    }

    /// Smallest and largest coordinates (mm): six numbers.
    #[wasm_bindgen(getter)]
    pub fn bounds(&self) -> Float64Array {
        let info = &self.0.hierarchy().info;
        Float64Array::from(&[info.bbox_min, info.bbox_max].concat()[..])
    }

    /// Volume (mm³).
    #[wasm_bindgen(getter)]
    pub fn volume(&self) -> f64 {
        self.0.hierarchy().info.volume
    }

    /// Triangles no farther than `chord` (mm) from the solid: `points`, `normals` (three numbers each),
    /// `triangles` (three vertices each), `faces` and `deviation`.
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
            ("deviation", mesh.deviation.into()),
        ]))
    }
}

#[wasm_bindgen]
impl ContactPair {
    /// A pair of bodies; both may be the same.
    #[wasm_bindgen(constructor)]
    pub fn new(a: &Body, b: &Body) -> ContactPair {
        Self(feeler::ContactPair::new(a.0.clone(), b.0.clone()))
    }

    /// All local minimal distances up to `d_max` (mm), by ascending distance: objects with the names of the
    /// program's JSON. An undefined pose is the identity.
    pub fn query(
        &mut self,
        pose_a: Option<Vec<f64>>,
        pose_b: Option<Vec<f64>>,
        d_max: f64,
    ) -> Result<Array, JsError> {
        let (pose_a, pose_b) = (pose(pose_a)?, pose(pose_b)?);
        let contacts = self.0.query(&pose_a, &pose_b, &QueryOptions::within(d_max)).map_err(thrown)?;
        Ok(contacts.iter().map(contact).collect())
    }

    /// Status of the solids in the last query; undefined before the first one.
    #[wasm_bindgen(getter)]
    pub fn status(&self) -> Option<String> {
        let word = match self.0.status()? {
            Status::Separated => "separated",
            Status::Touching => "touching",
            Status::Interfering => "interfering",
            Status::Undecided => "undecided",
        };
        Some(word.to_owned())
    }

    /// A point inside both solids if they interfere, else undefined.
    #[wasm_bindgen(getter)]
    pub fn witness(&self) -> Option<Float64Array> {
        let witness = self.0.verdict()?.witness?;
        Some(Float64Array::from(&<[f64; 3]>::from(witness.point)[..]))
    }

    /// Begins a new motion: all contacts of the next query get new identities.
    pub fn forget(&mut self) {
        self.0.forget();
    }
}

pub(crate) fn pose(values: Option<Vec<f64>>) -> Result<Pose, JsError> {
    let Some(values) = values else { return Ok(Pose::identity()) };
    let count = values.len();
    let values = <[f64; 7]>::try_from(values)
        .map_err(|_| thrown(format!("a pose is x, y, z, qx, qy, qz, qw; got {count} numbers")))?;
    from_values(&values).map_err(thrown)
}
