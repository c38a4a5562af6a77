//! Features and points as text and as JSON.

use feeler_runtime::{FeatureKind, FeatureRef};
use serde_json::{Value, json};

fn kind_name(kind: FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Face => "face",
        FeatureKind::Edge => "edge",
        FeatureKind::Vertex => "vertex",
    }
}

pub(crate) fn feature_json(f: &FeatureRef) -> Value {
    json!({ "kind": kind_name(f.kind), "index": f.index, "source": format!("#{}", f.source), "uv": f.uv })
}

/// Name of a feature, with the number of its entity in the input file if it has one: `face 3 (#45)`.
pub(crate) fn feature_name(f: &FeatureRef) -> String {
    format!("{} {} (#{})", kind_name(f.kind), f.index, f.source)
}

pub(crate) fn point_text(p: &feeler_geom::P3) -> String {
    format!("{:.6} {:.6} {:.6}", p.x, p.y, p.z)
}
