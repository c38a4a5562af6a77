//! Export of solids to binary glTF 2.0: meshes with normals, and edges as lines.
//!
//! The unit of glTF is the metre and its y axis points up. A root node rotates and scales the
//! millimetres with the z axis up.

use crate::picture::{Picture, PicturePart, PictureScene};
use crate::shape::Shape;
use feeler_geom::pose::to_values;
use feeler_geom::{P3, V3};
use serde_json::{Value, json};
use std::io;

/// Code of glTF for the component type of coordinates (32-bit floating point).
const FLOAT: u32 = 5126;
/// Code of glTF for the component type of indices (32-bit integers).
const UNSIGNED_INT: u32 = 5125;
/// Code of glTF for buffers of vertex attributes.
const ARRAY_BUFFER: u32 = 34962;
/// Code of glTF for buffers of indices.
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
/// Code of glTF for line segments.
const LINES: u32 = 1;
/// Code of glTF for triangles.
const TRIANGLES: u32 = 4;

/// Factor from mm, the unit of solids, to m, the unit of glTF.
const METRES_PER_MM: f64 = 1e-3;

#[derive(Default)]
struct Parts {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Parts {
    fn put(&mut self, bytes: &[u8], target: u32, accessor: Value) -> usize {
        self.views.push(json!({
            "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len(), "target": target,
        }));
        self.bytes.extend_from_slice(bytes);
        let mut accessor = accessor;
        accessor["bufferView"] = (self.views.len() - 1).into();
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    #[expect(clippy::cast_possible_truncation, reason = "for drawing")]
    fn vectors(&mut self, vectors: impl Iterator<Item = V3>, with_box: bool) -> usize {
        let numbers: Vec<[f32; 3]> = vectors.map(|v| [v.x as f32, v.y as f32, v.z as f32]).collect();
        let mut accessor = json!({ "componentType": FLOAT, "count": numbers.len(), "type": "VEC3" });
        if with_box {
            let extreme = |pick: fn(f32, f32) -> f32| -> [f32; 3] {
                let first = numbers.first().copied().unwrap_or_default();
                numbers.iter().fold(first, |m, v| std::array::from_fn(|k| pick(m[k], v[k])))
            };
            accessor["min"] = json!(extreme(f32::min));
            accessor["max"] = json!(extreme(f32::max));
        }
        let bytes: Vec<u8> = numbers.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        self.put(&bytes, ARRAY_BUFFER, accessor)
    }

    fn indices(&mut self, indices: impl Iterator<Item = u32>) -> usize {
        let bytes: Vec<u8> = indices.flat_map(u32::to_le_bytes).collect();
        let accessor = json!({ "componentType": UNSIGNED_INT, "count": bytes.len() / 4, "type": "SCALAR" });
        self.put(&bytes, ELEMENT_ARRAY_BUFFER, accessor)
    }

    /// Appends the mesh of a shape, in coordinates relative to the shape's centre, and returns its JSON
    /// description.
    fn mesh(&mut self, shape: &Shape) -> Value {
        let middle = shape.middle();
        let from = |p: &P3| p - middle;
        let mesh = &shape.mesh;
        let points = self.vectors(mesh.points.iter().map(from), true);
        let normals = self.vectors(mesh.normals.iter().copied(), false);
        let triangles = self.indices(mesh.triangles.iter().flatten().copied());
        let mut primitives = vec![json!({
            "attributes": { "POSITION": points, "NORMAL": normals }, "indices": triangles, "material": 0,
            "mode": TRIANGLES,
        })];
        if !shape.edges.is_empty() {
            let ends = self.vectors(shape.edges.iter().flatten().map(from), true);
            let line = json!({ "attributes": { "POSITION": ends }, "material": 1, "mode": LINES });
            primitives.push(line);
        }
        json!({ "name": shape.name, "primitives": primitives })
    }
}

/// Encodes a scene of a picture as the bytes of a binary glTF file.
///
/// # Errors
/// Returns an error if the file exceeds 4 GiB.
pub fn glb(picture: &Picture, scene: &PictureScene) -> io::Result<Vec<u8>> {
    let mut parts = Parts::default();
    // A mesh of glTF needs at least one triangle.
    let drawn: Vec<Option<Value>> =
        picture.shapes.iter().map(|s| (!s.mesh.triangles.is_empty()).then(|| parts.mesh(s))).collect();
    let mut meshes = Vec::new();
    let number: Vec<Option<usize>> = drawn
        .into_iter()
        .map(|m| {
            meshes.push(m?);
            Some(meshes.len() - 1)
        })
        .collect();
    let node = |p: &PicturePart| {
        // Coordinates of meshes are relative to the centre of their shape, so the pose is applied to
        // that centre.
        let at = p.pose.transform_point(&picture.shapes[p.shape].middle());
        let [.., x, y, z, w] = to_values(&p.pose);
        let mut node = json!({
            "name": p.path, "translation": at.coords.as_slice(), "rotation": [x, y, z, w],
        });
        if let Some(mesh) = number[p.shape] {
            node["mesh"] = mesh.into();
        }
        node
    };
    let mut nodes: Vec<Value> = scene.parts.iter().map(node).collect();
    let all: Vec<usize> = (0..nodes.len()).collect();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let scale = [METRES_PER_MM; 3];
    let mut root = json!({ "name": scene.name, "scale": scale, "rotation": [-half, 0.0, 0.0, half] });
    if !all.is_empty() {
        root["children"] = json!(all);
    }
    nodes.push(root);
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("feeler ", env!("CARGO_PKG_VERSION")) },
        "scene": 0, "scenes": [{ "nodes": [nodes.len() - 1] }], "nodes": nodes,
        "materials": [
            { "name": "face", "pbrMetallicRoughness":
                { "baseColorFactor": [0.6, 0.65, 0.7, 1.0], "metallicFactor": 0.1, "roughnessFactor": 0.6 } },
            { "name": "edge", "pbrMetallicRoughness":
                { "baseColorFactor": [0.05, 0.05, 0.05, 1.0], "metallicFactor": 0.0 } },
        ],
    });
    // glTF does not allow empty lists.
    if !meshes.is_empty() {
        document["meshes"] = json!(meshes);
        document["accessors"] = json!(parts.accessors);
        document["bufferViews"] = json!(parts.views);
        document["buffers"] = json!([{ "byteLength": parts.bytes.len() }]);
    }
    container(serde_json::to_vec(&document)?, parts.bytes)
}

/// Joins the file header, the JSON document and the binary data to one file; each chunk is padded to a
/// multiple of four bytes.
fn container(mut document: Vec<u8>, mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    document.resize(document.len().next_multiple_of(4), b' ');
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let number = |n: usize| {
        u32::try_from(n)
            .map(u32::to_le_bytes)
            .map_err(|_| io::Error::other("the file exceeds 4 GiB; give a larger chord error"))
    };
    let with_bytes = !bytes.is_empty();
    let total = 12 + 8 + document.len() + if with_bytes { 8 + bytes.len() } else { 0 };
    let mut out = b"glTF".to_vec();
    out.extend(2_u32.to_le_bytes());
    out.extend(number(total)?);
    out.extend(number(document.len())?);
    out.extend(b"JSON");
    out.extend(document);
    if with_bytes {
        out.extend(number(bytes.len())?);
        out.extend(b"BIN\0");
        out.extend(bytes);
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
