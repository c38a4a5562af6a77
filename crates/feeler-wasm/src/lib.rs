//! Queries in a web page: loads `.feeler` files, asks pairs, draws bodies. One thread.
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
//! Poses are x, y, z (mm) and a quaternion x, y, z, w. Objects are freed by `free()`, or when they are not
//! used any more.
#![allow(unsafe_code, reason = "what wasm-bindgen makes")]
#![allow(clippy::missing_errors_doc, reason = "errors are thrown, with texts")]
#![allow(missing_debug_implementations, reason = "what wasm-bindgen makes")]

use feeler::pose::{from_values, to_values};
use feeler::{FeatureKind, FeatureRef, Lmd, LmdClass, Pose, QueryOptions, Status};
use js_sys::{Array, Float64Array, Object, Reflect, Uint32Array};
use std::fmt::Display;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

fn thrown(e: impl Display) -> JsError {
    JsError::new(&format!("{e:#}"))
}

/// What a file holds.
#[wasm_bindgen]
pub struct Model(feeler::Model);

/// A solid ready for queries.
#[wasm_bindgen]
pub struct Body(Arc<feeler::Body>);

/// Two bodies and what their queries reuse.
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

    /// Where they stand: objects with `name`, `solid` and `pose`.
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
    /// Takes a solid of a model into use, by its number.
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
    /// program's JSON. A pose that is undefined is where the solid is modelled.
    pub fn query(
        &mut self,
        pose_a: Option<Vec<f64>>,
        pose_b: Option<Vec<f64>>,
        d_max: f64,
    ) -> Result<Array, JsError> {
        let (pose_a, pose_b) = (pose(pose_a)?, pose(pose_b)?);
        let lmds = self.0.query(&pose_a, &pose_b, &QueryOptions::within(d_max)).map_err(thrown)?;
        Ok(lmds.iter().map(contact).collect())
    }

    /// How the solids stood in the last query; undefined before the first one.
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

    /// Of interfering solids a point inside both; else undefined.
    #[wasm_bindgen(getter)]
    pub fn witness(&self) -> Option<Float64Array> {
        let witness = self.0.verdict()?.witness?;
        Some(Float64Array::from(&<[f64; 3]>::from(witness.point)[..]))
    }

    /// Begins a new motion: what the next query finds is new.
    pub fn forget(&mut self) {
        self.0.forget();
    }
}

fn pose(values: Option<Vec<f64>>) -> Result<Pose, JsError> {
    let Some(values) = values else { return Ok(Pose::identity()) };
    let count = values.len();
    let values = <[f64; 7]>::try_from(values)
        .map_err(|_| thrown(format!("a pose is x, y, z, qx, qy, qz, qw; got {count} numbers")))?;
    from_values(&values).map_err(thrown)
}

fn numbers(values: &[f64]) -> JsValue {
    values.iter().map(|x| JsValue::from_f64(*x)).collect::<Array>().into()
}

fn object(members: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        // A plain object takes every member.
        let _ = Reflect::set(&object, &(*name).into(), value);
    }
    object.into()
}

fn feature(f: &FeatureRef) -> JsValue {
    let kind = match f.kind {
        FeatureKind::Face => "face",
        FeatureKind::Edge => "edge",
        FeatureKind::Vertex => "vertex",
    };
    #[expect(clippy::cast_precision_loss, reason = "entity numbers are below 2^53")]
    object(&[
        ("kind", kind.into()),
        ("index", f.index.into()),
        ("source", (f.source as f64).into()),
        ("uv", numbers(&f.uv)),
    ])
}

fn contact(l: &Lmd) -> JsValue {
    let class = match l.class {
        LmdClass::Strict => "strict",
        LmdClass::Quasi => "quasi",
        LmdClass::Conformal => "conformal",
    };
    let point = |p: [f64; 3]| numbers(&p);
    #[expect(clippy::cast_precision_loss, reason = "identities have 53 bits")]
    object(&[
        ("distance", l.distance.into()),
        ("gap", l.gap.into()),
        ("point_a", point(l.point_a.into())),
        ("point_b", point(l.point_b.into())),
        ("local_a", point(l.local_a.into())),
        ("local_b", point(l.local_b.into())),
        ("normal", point(l.normal.into())),
        ("curvature_a", numbers(&l.curvature_a)),
        ("curvature_b", numbers(&l.curvature_b)),
        ("class", class.into()),
        ("id", (l.id as f64).into()),
        ("age", l.age.into()),
        ("undecided", l.undecided.into()),
        ("feature_a", feature(&l.feature_a)),
        ("feature_b", feature(&l.feature_b)),
    ])
}
