//! Volume of the symmetric difference of two versions of a solid: of the points that are in exactly one of
//! them.

use crate::ToleranceChoice;
use feeler_geom::{Pose, Surface};
use feeler_hierarchy::{Hierarchy, Model};
use feeler_runtime::{Body, ContactPair, OverlapMethod, QueryOptions, Status};
use serde::Serialize;
use std::sync::Arc;

/// Relative error of the volume of a solid all of whose faces have closed forms, and of other solids. A
/// larger value states errors that are too large, a smaller one errors that are too small.
const VOLUME_ERROR: [f64; 2] = [1e-12, 1e-8];

/// Volume by which two versions of a solid differ, both in the coordinates of the part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VolumeDifference {
    /// The part, as in the subjects of differences.
    pub subject: String,
    /// Volume (mm³) of the points that are in exactly one of the versions, `V(A) + V(B) − 2 V(A ∩ B)`;
    /// `None` if it is unknown.
    pub volume: Option<f64>,
    /// Estimated error (mm³) of `volume`: that of the three volumes; `None` if it is unknown.
    pub error: Option<f64>,
    /// Volume (mm³) that both versions have in common; `None` if it is unknown.
    pub common: Option<f64>,
    /// How the common volume was found, in one word: `equal`, `faces`, `displaced` or `lines` (the methods of
    /// [`OverlapMethod`]), `separated`, or `unknown`.
    pub method: &'static str,
    /// Reason why the volume is unknown; empty if it is known.
    pub reason: String,
}

impl VolumeDifference {
    /// Measures the difference of two versions of a solid, which is called `subject` in the result.
    pub(super) fn new(subject: &str, models: [&Model; 2], solids: [usize; 2]) -> Self {
        let known = |method, volumes: [f64; 2], common: f64, error: f64| Self {
            subject: subject.to_owned(),
            // By rounding, the sum of volumes that are almost equal can be negative.
            volume: Some((volumes[0] + volumes[1] - 2.0 * common).max(0.0)),
            error: Some(error),
            common: Some(common),
            method,
            reason: String::new(),
        };
        let unknown = |reason: String| Self {
            subject: subject.to_owned(),
            volume: None,
            error: None,
            common: None,
            method: "unknown",
            reason,
        };
        let [a, b] = [0, 1].map(|k| &models[k].solids[solids[k]]);
        if a == b {
            return known("equal", [a.info.volume; 2], a.info.volume, 0.0);
        }
        if a.info.inertia.is_none() || b.info.inertia.is_none() {
            return unknown("a version is a sheet, which has no volume".to_owned());
        }
        let bodies = [0, 1].map(|k| Body::from_model(models[k], solids[k]).map(Arc::new));
        let [Ok(body_a), Ok(body_b)] = bodies else {
            return unknown("a version cannot be queried".to_owned());
        };
        let mut pair = ContactPair::new(body_a, body_b);
        let here = Pose::identity();
        let options = QueryOptions { d_max: 0.0, ..QueryOptions::default() };
        if let Err(e) = ToleranceChoice::Default.query(&mut pair, [&here; 2], &options) {
            return unknown(e.to_string());
        }
        let options = QueryOptions { tolerance: Some(pair.tolerances().tol), ..options };
        let volumes = [a.info.volume, b.info.volume];
        let own = [a, b].map(|h| VOLUME_ERROR[usize::from(!has_closed_forms(h))] * h.info.volume);
        match pair.status() {
            Some(Status::Separated) => known("separated", volumes, 0.0, own[0] + own[1]),
            Some(Status::Touching) => unknown(
                "the versions touch without a common part deeper than the tolerance; they are different \
                 parts, or at different places"
                    .to_owned(),
            ),
            Some(Status::Interfering) => match pair.overlap(&here, &here, &options) {
                Ok(Some(overlap)) => {
                    let error = own[0] + own[1] + 2.0 * overlap.error;
                    let least = volumes[0].min(volumes[1]);
                    let excess = 2.0 * overlap.volume - volumes[0] - volumes[1];
                    if overlap.volume > least + error || excess > error {
                        let reason = "the computed common volume contradicts the volumes of the versions";
                        return unknown(reason.to_owned());
                    }
                    known(method_name(overlap.method), volumes, overlap.volume, error)
                }
                Ok(None) => unknown("their common volume could not be computed".to_owned()),
                Err(e) => unknown(e.to_string()),
            },
            _ => unknown(
                "whether the versions have a common part is undecided, because faces coincide within the \
                 tolerance"
                    .to_owned(),
            ),
        }
    }

    /// Description of the difference for people.
    #[must_use]
    pub fn in_words(&self) -> String {
        match (self.volume, self.error) {
            (Some(volume), Some(error)) if volume <= error => {
                format!(
                    "symmetric difference at most {:.1e} mm3, within the error of the volumes",
                    volume + error
                )
            }
            (Some(volume), Some(error)) => {
                format!(
                    "symmetric difference {} mm3 (error {error:.1e})",
                    super::difference::format_number(volume)
                )
            }
            _ => format!("symmetric difference unknown: {}", self.reason),
        }
    }
}

fn has_closed_forms(solid: &Hierarchy) -> bool {
    solid.faces.iter().all(|f| !matches!(f.surface, Surface::Bezier(_)))
}

fn method_name(method: OverlapMethod) -> &'static str {
    match method {
        OverlapMethod::Faces => "faces",
        OverlapMethod::Displaced => "displaced",
        OverlapMethod::Lines => "lines",
    }
}
