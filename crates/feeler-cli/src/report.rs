//! What `feeler query` tells about the pose beyond the verdict, in words and in JSON.

use feeler_geom::{Pose, V3};
use feeler_runtime::{ContactPair, QueryError, QueryOptions, Status};
use serde_json::Value;

/// What was found out on request about the pose of the last query.
pub(crate) struct Report {
    /// Whether there is a witness that a translation belongs to.
    interfering: bool,
    translation: Option<V3>,
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
        Ok(Self { interfering, translation })
    }

    /// As members of the document of a query.
    pub(crate) fn put_json(&self, document: &mut Value) {
        if self.interfering {
            document["witness"]["separating_translation"] =
                self.translation.map_or(Value::Null, |t| <[f64; 3]>::from(t).into());
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
        self.translation.iter().map(apart).collect()
    }
}
