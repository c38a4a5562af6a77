//! What `feeler query` tells about the pose beyond the verdict, in words and in JSON.

use crate::query::{feature_json, feature_name, point_text};
use feeler_geom::{Pose, V3};
use feeler_runtime::{Contact, ContactKind, ContactPair, QueryError, QueryOptions, Status};
use serde_json::{Value, json};

/// What was found out on request about the pose of the last query.
pub(crate) struct Report {
    /// Whether there is a witness that a translation belongs to.
    interfering: bool,
    translation: Option<V3>,
    /// Of solids that touch.
    contacts: Option<Vec<Contact>>,
}

fn kind_name(kind: ContactKind) -> &'static str {
    match kind {
        ContactKind::Plane => "plane",
        ContactKind::Cylinder => "cylinder",
        ContactKind::Cone => "cone",
        ContactKind::Sphere => "sphere",
        ContactKind::Torus => "torus",
        ContactKind::FreeForm => "free-form",
        ContactKind::Line => "line",
        ContactKind::Point => "point",
    }
}

fn contact_json(c: &Contact) -> Value {
    json!({
        "kind": kind_name(c.kind), "feature_a": feature_json(&c.feature_a), "feature_b": feature_json(&c.feature_b),
        "point": <[f64; 3]>::from(c.point), "area": c.area, "length": c.length, "error": c.error,
    })
}

fn contact_line(c: &Contact) -> String {
    let size = match (c.area, c.length) {
        (Some(area), _) => format!(", {area:.6} mm2"),
        (None, Some(length)) => format!(", {length:.6} mm"),
        (None, None) => format!(" at {}", point_text(&c.point)),
    };
    let (kind, a, b) = (kind_name(c.kind), feature_name(&c.feature_a), feature_name(&c.feature_b));
    format!("touching: {kind}, {a} of A and {b} of B{size}")
}

impl Report {
    /// Finds it out.
    pub(crate) fn new(
        pair: &ContactPair,
        (pose_a, pose_b): (&Pose, &Pose),
        options: &QueryOptions,
    ) -> Result<Self, QueryError> {
        let interfering = pair.status() == Some(Status::Interfering);
        let translation =
            if interfering { pair.separating_translation(pose_a, pose_b, options)? } else { None };
        let touching = pair.status() == Some(Status::Touching);
        let contacts = if touching { Some(pair.contacts(pose_a, pose_b, options)?) } else { None };
        Ok(Self { interfering, translation, contacts })
    }

    /// As members of the document of a query.
    pub(crate) fn put_json(&self, document: &mut Value) {
        if self.interfering {
            document["witness"]["separating_translation"] =
                self.translation.map_or(Value::Null, |t| <[f64; 3]>::from(t).into());
        }
        if let Some(contacts) = &self.contacts {
            document["contact"] = contacts.iter().map(contact_json).collect();
        }
    }

    /// A line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let apart = |t: &V3| {
            format!(
                "interfering: B moved by {:.6} {:.6} {:.6}, {:.6} mm, is out of A",
                t.x,
                t.y,
                t.z,
                t.norm()
            )
        };
        let contacts = self.contacts.iter().flatten().map(contact_line);
        self.translation.iter().map(apart).chain(contacts).collect()
    }
}
