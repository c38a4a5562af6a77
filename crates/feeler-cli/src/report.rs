//! Further results of `feeler query`: separating translation, contact regions, crossing curves.

use crate::features::{feature_json, feature_name, point_text};
use crate::verdict::crossing_json;
use feeler_geom::{Pose, V3};
use feeler_runtime::{
    ConformalSet, ContactPair, ContactRegion, CrossingCurve, Crossings, FeatureRef, MissingCurvePart,
    Overlap, OverlapMethod, QueryError, QueryOptions, RegionKind, Status,
};
use serde_json::{Value, json};

/// Results of a pair that go beyond its last query and are computed on request for the same poses.
pub(crate) struct Report {
    /// Whether the solids interfere.
    interfering: bool,
    /// Translation of B (mm, world) that separates interfering solids; `None` if the solids do not
    /// interfere.
    translation: Option<V3>,
    /// Smallest distance (mm) of separated or touching solids; `None` for other solids, or if it is not
    /// known.
    nearest: Option<f64>,
    /// Whether the last query found no minimum within its `d_max`.
    is_beyond: bool,
    /// Contact regions of touching solids; `None` for other solids.
    regions: Option<Vec<ContactRegion>>,
    /// Conformal sets, whose samples are among the minima.
    pub sets: Vec<ConformalSet>,
    /// Pairs of crossing faces, one of A and one of B; empty unless the solids interfere.
    crossing: Vec<(FeatureRef, FeatureRef)>,
    /// Curves in which the faces cross; `None` without `--curves`.
    crossings: Option<Crossings>,
    /// Common part of interfering solids; the outer `None` without `--volume`, the inner one for other
    /// solids.
    overlap: Option<Option<Overlap>>,
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

fn left_out_json(l: &MissingCurvePart) -> Value {
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

fn method_name(method: OverlapMethod) -> &'static str {
    match method {
        OverlapMethod::Faces => "faces",
        OverlapMethod::Displaced => "displaced",
        OverlapMethod::Lines => "lines",
    }
}

/// JSON object of an overlap.
pub(crate) fn overlap_json(o: &Overlap) -> Value {
    json!({
        "volume": o.volume, "centroid": <[f64; 3]>::from(o.centroid),
        "bbox_min": <[f64; 3]>::from(o.min), "bbox_max": <[f64; 3]>::from(o.max),
        "error": o.error, "method": method_name(o.method),
    })
}

fn overlap_line(o: &Overlap) -> String {
    format!(
        "overlap: {:.9} mm3 (error about {:.1e} mm3, method: {}), centroid {}, from {} to {}",
        o.volume,
        o.error,
        method_name(o.method),
        point_text(&o.centroid),
        point_text(&o.min),
        point_text(&o.max)
    )
}

fn set_json(s: &ConformalSet) -> Value {
    let mut set = region_json(&s.contact);
    set["distance"] = s.distance.into();
    set["extent"] = s.extent.into();
    set["samples"] = json!(s.samples);
    set
}

/// Kind and size of a conformal set, as text.
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
    /// Computes the results for the last query of `pair`, whose poses and options must be the same.
    /// `chord` is the chord error (mm) of the crossing curves, `None` if the curves are not wanted, and
    /// `volume` states whether the overlap is wanted.
    pub(crate) fn new(
        pair: &ContactPair,
        (pose_a, pose_b): (&Pose, &Pose),
        options: &QueryOptions,
        (chord, volume): (Option<f64>, bool),
    ) -> Result<Self, QueryError> {
        let interfering = pair.status() == Some(Status::Interfering);
        let translation =
            if interfering { pair.separating_translation(pose_a, pose_b, options)? } else { None };
        // Only for these verdicts the nearest minimum is the distance of the solids.
        let apart = matches!(pair.status(), Some(Status::Separated | Status::Touching));
        let nearest = match pair.min_distance() {
            None if apart => match pair.nearest_distance(pose_a, pose_b, options) {
                // The solids are separated, but coordinates are too large to compute the distance to the
                // tolerance.
                Err(QueryError::CoordinatesTooLarge { .. }) => None,
                found => found?,
            },
            found => found.filter(|_| apart),
        };
        let is_beyond = pair.min_distance().is_none();
        let touching = pair.status() == Some(Status::Touching);
        let (regions, sets) = if touching {
            let (regions, sets) = pair.regions_and_sets(pose_a, pose_b, options)?;
            (Some(regions), sets)
        } else {
            (None, pair.conformal_sets(pose_a, pose_b, options)?)
        };
        let crossing = if interfering { pair.crossing_faces(pose_a, pose_b, options)? } else { Vec::new() };
        let crossings =
            chord.map(|chord| pair.crossing_curves(pose_a, pose_b, options, chord)).transpose()?;
        let overlap = volume.then(|| pair.overlap(pose_a, pose_b, options)).transpose()?;
        Ok(Self { interfering, translation, nearest, is_beyond, regions, sets, crossing, crossings, overlap })
    }

    /// Adds the results to the document of a query.
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
        if let Some(overlap) = &self.overlap {
            document["overlap"] = overlap.as_ref().map_or(Value::Null, overlap_json);
        }
        if let Some(regions) = &self.regions {
            document["contact_regions"] = regions.iter().map(region_json).collect();
        }
    }

    /// Returns the results as lines of text.
    pub(crate) fn lines(&self) -> Vec<String> {
        let translation = |t: &V3| {
            format!(
                "interfering: moving B by {:.6} {:.6} {:.6}, {:.6} mm, separates the solids",
                t.x,
                t.y,
                t.z,
                t.norm()
            )
        };
        let regions = self.regions.iter().flatten().map(region_line);
        let others = match self.crossing.len() {
            0 | 1 => None,
            n => Some(format!("interfering: {n} pairs of faces cross")),
        };
        let curves = self.crossings.as_ref().map(|c| {
            let sides = |c: &CrossingCurve| c.points.windows(2).map(|w| (w[1] - w[0]).norm()).sum::<f64>();
            let length: f64 = c.curves.iter().map(sides).sum();
            let (n, m) = (c.curves.len(), c.left_out.len());
            format!(
                "interfering: the boundaries cross in {n} curves of {length:.6} mm in total; {m} curves \
                 could not be traced"
            )
        });
        let curves = curves.filter(|_| self.interfering);
        let far = self.nearest.filter(|_| self.is_beyond).map(|d| format!("separated: {d:.9} mm apart"));
        far.into_iter()
            .chain(self.translation.iter().map(translation))
            .chain(others)
            .chain(curves)
            .chain(self.overlap.iter().flatten().map(overlap_line))
            .chain(regions)
            .collect()
    }
}
