//! Comparison of two versions of a solid.

use super::difference::{ComparisonTolerances, Difference, DifferenceKind, change};
use super::face::{FaceFacts, compare_faces, vector};
use feeler_hierarchy::Hierarchy;
use nalgebra::Matrix3;
use serde::{Deserialize, Serialize};

/// Properties of a solid, by which versions are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolidFacts {
    /// Name of the solid.
    pub name: String,
    /// Numbers of faces, edges and vertices of the input.
    pub counts: [u32; 3],
    /// Numbers of supermaximal faces and edges.
    pub supermaximal: [u32; 2],
    /// Number of areas of the hierarchy.
    pub areas: usize,
    /// Corners of the bounding box (mm): smallest and largest coordinates.
    pub bounds: [[f64; 3]; 2],
    /// Surface area (mm²).
    pub area: f64,
    /// Volume (mm³).
    pub volume: f64,
    /// Centroid (mm) and inertia tensor about it (mm⁵), at density 1; `None` for a sheet.
    pub inertia: Option<([f64; 3], [[f64; 3]; 3])>,
    /// Smallest thickness of the material (mm); `None` if it is infinite, because no segment through the
    /// material is normal to faces at both of its ends.
    pub min_thickness: Option<f64>,
    /// Geometric properties of the faces; empty if faces are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<FaceFacts>,
}

impl SolidFacts {
    /// Computes the properties of a solid that are compared, including its faces if `with_faces` is set.
    #[must_use]
    pub fn of(solid: &Hierarchy, with_faces: bool) -> Self {
        let info = &solid.info;
        Self {
            name: info.name.clone(),
            counts: info.source_counts,
            supermaximal: info.supermaximal,
            areas: solid.areas.len(),
            bounds: [info.bbox_min, info.bbox_max],
            area: info.area,
            volume: info.volume,
            inertia: info.inertia.map(|i| (i.centroid, i.tensor)),
            min_thickness: Some(info.min_thickness).filter(|w| w.is_finite()),
            faces: if with_faces { FaceFacts::of_solid(solid) } else { Vec::new() },
        }
    }

    /// Diagonal of the bounding box (mm).
    #[must_use]
    pub fn size(&self) -> f64 {
        let [lo, hi] = self.bounds;
        nalgebra::Vector3::from_fn(|k, _| hi[k] - lo[k]).norm()
    }

    /// Whether two solids count as having the same shape: equal counts of faces, edges and vertices, and
    /// equal areas and volumes up to the tolerances.
    pub(crate) fn is_like(&self, other: &Self, tol: &ComparisonTolerances) -> bool {
        self.counts == other.counts
            && tol.same_quantity(self.area, other.area)
            && tol.same_quantity(self.volume, other.volume)
    }
}

/// Returns the differences between two versions of a solid, which is called `subject` in the messages.
#[must_use]
pub fn compare_solids(
    old: &SolidFacts,
    new: &SolidFacts,
    subject: &str,
    tol: &ComparisonTolerances,
) -> Vec<Difference> {
    let mut out = Vec::new();
    let mut add = |kind, what| out.push(Difference::new(kind, subject, what));
    // Faces and edges that are merged or split on the same surfaces and curves are not differences.
    let are_compared = !old.faces.is_empty() && !new.faces.is_empty();
    let sizes = (subject, old.size().max(new.size()));
    let of_faces = if are_compared { compare_faces(&old.faces, &new.faces, sizes, tol) } else { Vec::new() };
    let is_recut = are_compared
        && of_faces.is_empty()
        && old.counts != new.counts
        && old.supermaximal[0] == new.supermaximal[0];
    for (name, a, b) in [
        ("faces", old.counts[0], new.counts[0]),
        ("edges", old.counts[1], new.counts[1]),
        ("vertices", old.counts[2], new.counts[2]),
        ("supermaximal faces", old.supermaximal[0], new.supermaximal[0]),
        ("supermaximal edges", old.supermaximal[1], new.supermaximal[1]),
    ] {
        if a != b && !is_recut {
            add(DifferenceKind::Count, format!("{name} {a} -> {b}"));
        }
    }
    if old.areas != new.areas && !is_recut {
        add(DifferenceKind::Count, format!("areas of the hierarchy {} -> {}", old.areas, new.areas));
    }
    if !tol.same_quantity(old.area, new.area) {
        add(DifferenceKind::Area, change("area", old.area, new.area, "mm2"));
    }
    if !tol.same_quantity(old.volume, new.volume) {
        add(DifferenceKind::Mass, change("volume", old.volume, new.volume, "mm3"));
    }
    match (&old.inertia, &new.inertia) {
        (Some((c, t)), Some((d, u))) => {
            let by = std::array::from_fn(|k| d[k] - c[k]);
            if nalgebra::Vector3::from(by).norm() > tol.length {
                add(DifferenceKind::Mass, format!("centroid moved by {}", vector(&by)));
            }
            let [t, u] = [t, u].map(|t| Matrix3::from_fn(|i, j| t[i][j]));
            let off = (t - u).norm() / t.norm().max(u.norm()).max(f64::MIN_POSITIVE);
            if off > tol.relative {
                add(DifferenceKind::Mass, format!("inertia changed by {off:.3e} of itself"));
            }
        }
        (None, None) => {}
        (before, _) => {
            let what = if before.is_some() { "is no longer a solid" } else { "is a solid now" };
            add(DifferenceKind::Mass, what.to_owned());
        }
    }
    let thickness = |w: Option<f64>| w.unwrap_or(f64::INFINITY);
    if !tol.same_length(thickness(old.min_thickness), thickness(new.min_thickness)) {
        add(
            DifferenceKind::Size,
            change("min thickness", thickness(old.min_thickness), thickness(new.min_thickness), "mm"),
        );
    }
    let far = old.bounds.iter().flatten().zip(new.bounds.iter().flatten());
    let far = far.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    if far > tol.length {
        add(DifferenceKind::Size, format!("sides of the bounding box moved by up to {far:.3e} mm"));
    }
    out.extend(of_faces);
    out
}
