//! What `feeler query` tells about the pose beyond the verdict, in words and in JSON.

use crate::features::{feature_json, feature_name, point_text};
use crate::verdict::crossing_json;
use feeler_geom::{Pose, V3};
use feeler_runtime::{
    ConformalSet, ContactPair, ContactRegion, CrossingCurve, Crossings, FeatureRef, LeftOut, QueryError,
    QueryOptions, RegionKind, Status,
};
use serde_json::{Value, json};

/// What was found out on request about the pose of the last query.
pub(crate) struct Report {
    /// Whether there is a witness that a translation belongs to.
    interfering: bool,
    translation: Option<V3>,
    /// Of solids that do not interfere, and whether it was searched for beyond the largest distance.
    nearest: Option<f64>,
    is_beyond: bool,
    /// Of solids that touch.
    contacts: Option<Vec<ContactRegion>>,
    /// Conformal sets, the samples of which are among the minima.
    pub sets: Vec<ConformalSet>,
    /// Pairs of faces that cross.
    crossing: Vec<(FeatureRef, FeatureRef)>,
    /// The curves in which they do, where they are asked for.
    crossings: Option<Crossings>,
}

pub(crate) fn region_kind_name(kind: RegionKind) -> &'static str {
    match kind {
        RegionKind::Plane => "plane",
        RegionKind::Cylinder => "cylinder",
        RegionKind::Cone => "cone",
        RegionKind::Sphere => "sphere",
        RegionKind::Torus => "torus",
        RegionKind::FreeForm => "free-form",
        RegionKind::Line => "line",
        RegionKind::Point => "point",
    }
}

fn curve_json(c: &CrossingCurve) -> Value {
    let points: Vec<[f64; 3]> = c.points.iter().map(|p| (*p).into()).collect();
    let mut curve = crossing_json(&c.feature_a, &c.feature_b);
    curve["closed"] = c.closed.into();
    curve["points"] = json!(points);
    curve
}

fn left_out_json(l: &LeftOut) -> Value {
    let mut place = crossing_json(&l.feature_a, &l.feature_b);
    place["point"] = json!(<[f64; 3]>::from(l.point));
    place["why"] = l.why.into();
    place
}

pub(crate) fn region_json(c: &ContactRegion) -> Value {
    json!({
        "kind": region_kind_name(c.kind),
        "feature_a": feature_json(&c.feature_a), "feature_b": feature_json(&c.feature_b),
        "point": <[f64; 3]>::from(c.point), "area": c.area, "length": c.length, "error": c.error,
    })
}

fn set_json(s: &ConformalSet) -> Value {
    let mut set = region_json(&s.contact);
    set["distance"] = s.distance.into();
    set["extent"] = s.extent.into();
    set["samples"] = json!(s.samples);
    set
}

/// A conformal set in a few words.
pub(crate) fn set_text(s: &ConformalSet) -> String {
    let kind = region_kind_name(s.contact.kind);
    let size = match (s.contact.area, s.contact.length) {
        (Some(area), _) => format!(", {area:.6} mm2"),
        (None, Some(length)) => format!(", {length:.6} mm"),
        (None, None) => String::new(),
    };
    format!("{kind}{size}, {:.6} mm across", s.extent)
}

fn region_line(c: &ContactRegion) -> String {
    let size = match (c.area, c.length) {
        (Some(area), _) => format!(", {area:.6} mm2"),
        (None, Some(length)) => format!(", {length:.6} mm"),
        (None, None) => format!(" at {}", point_text(&c.point)),
    };
    let (kind, a, b) = (region_kind_name(c.kind), feature_name(&c.feature_a), feature_name(&c.feature_b));
    format!("touching: {kind}, {a} of A and {b} of B{size}")
}

impl Report {
    /// Finds it out.
    pub(crate) fn new(
        pair: &ContactPair,
        (pose_a, pose_b): (&Pose, &Pose),
        options: &QueryOptions,
        chord: Option<f64>,
    ) -> Result<Self, QueryError> {
        let interfering = pair.status() == Some(Status::Interfering);
        let translation =
            if interfering { pair.separating_translation(pose_a, pose_b, options)? } else { None };
        // Without a verdict it is not known whether the distance means anything.
        let apart = matches!(pair.status(), Some(Status::Separated | Status::Touching));
        let nearest = match pair.min_distance() {
            None if apart => match pair.nearest_distance(pose_a, pose_b, options) {
                // Separated all the same: only the distance is not known to the tolerance.
                Err(QueryError::CoordinatesTooLarge { .. }) => None,
                found => found?,
            },
            found => found.filter(|_| apart),
        };
        let is_beyond = pair.min_distance().is_none();
        let touching = pair.status() == Some(Status::Touching);
        let contacts = if touching { Some(pair.contact_regions(pose_a, pose_b, options)?) } else { None };
        let sets = pair.conformal_sets(pose_a, pose_b, options)?;
        let crossing = if interfering { pair.crossing_faces(pose_a, pose_b, options)? } else { Vec::new() };
        let crossings =
            chord.map(|chord| pair.crossing_curves(pose_a, pose_b, options, chord)).transpose()?;
        Ok(Self { interfering, translation, nearest, is_beyond, contacts, sets, crossing, crossings })
    }

    /// As members of the document of a query.
    pub(crate) fn put_json(&self, document: &mut Value) {
        if self.interfering {
            document["witness"]["separating_translation"] =
                self.translation.map_or(Value::Null, |t| <[f64; 3]>::from(t).into());
        }
        if let Some(nearest) = self.nearest {
            document["nearest_distance"] = nearest.into();
        }
        document["sets"] = self.sets.iter().map(set_json).collect();
        if !self.crossing.is_empty() {
            document["crossing_faces"] = self.crossing.iter().map(|(a, b)| crossing_json(a, b)).collect();
        }
        if let Some(Crossings { curves, left_out }) = &self.crossings {
            document["curves"] = curves.iter().map(curve_json).collect();
            document["curves_left_out"] = left_out.iter().map(left_out_json).collect();
        }
        if let Some(contacts) = &self.contacts {
            document["contact_regions"] = contacts.iter().map(region_json).collect();
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
        let contacts = self.contacts.iter().flatten().map(region_line);
        let others = match self.crossing.len() {
            0 | 1 => None,
            n => Some(format!("interfering: {n} pairs of faces cross")),
        };
        let curves = self.crossings.as_ref().map(|c| {
            let sides = |c: &CrossingCurve| c.points.windows(2).map(|w| (w[1] - w[0]).norm()).sum::<f64>();
            let length: f64 = c.curves.iter().map(sides).sum();
            let (n, m) = (c.curves.len(), c.left_out.len());
            format!(
                "interfering: the boundaries cross in {n} curves, {length:.6} mm long; {m} places are \
                left out"
            )
        });
        let curves = curves.filter(|_| self.interfering);
        let far = self.nearest.filter(|_| self.is_beyond).map(|d| format!("separated: {d:.9} mm apart"));
        far.into_iter()
            .chain(self.translation.iter().map(apart))
            .chain(others)
            .chain(curves)
            .chain(contacts)
            .collect()
    }
}
