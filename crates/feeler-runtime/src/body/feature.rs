//! Derived data of one feature: its oriented spheres, its position on them, and its directions.

use crate::body::helix::Helix;
use crate::body::samples::at;
use crate::body::tree::SolveClass;
use crate::profile::apart::apex;
use crate::profile::helical::Band;
use crate::profile::ring::Ring;
use feeler_geom::cone::{DirectionBand, PolyCone};
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Aabb, P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::{AreaId, Feature, Hierarchy, NearCanonical};
use std::ops::Range;

/// Derived data of one feature.
#[derive(Clone, Debug)]
pub(crate) struct FeatureData {
    /// Feature to which the data belongs.
    pub feature: Feature,
    /// Primitive (oriented spheres) of a canonical feature, in the frame of the solid; `None` for free-form
    /// geometry.
    pub primitive: Option<Primitive>,
    /// Canonical feature that a near-canonical feature follows; `None` for other features.
    pub near: Option<Near>,
    /// Range of the coordinates (mm) of a face along a line, measured from the origin of the line. The
    /// line is the skeleton of its primitive, or of the canonical surface that it follows. Unused for
    /// other features.
    pub along: [f64; 2],
    /// For a face of a torus, or one that follows a torus, the range of its angles along the meridian:
    /// the first angle and the length of the range (rad), see [`Part`](crate::profile::Part). The whole
    /// meridian for other features.
    pub part: [f64; 2],
    /// Position in [`Body::axes`](crate::Body) of the axis of revolution of the feature, or of the normal
    /// of a plane. `None` for points, for free-form features, and for axes that few features share or that
    /// are far from the solid.
    pub axis: Option<u8>,
    /// For a planar face whose border contains a circular arc, the range of the distances (mm) of its
    /// points from the centre of such an arc; `None` for other features.
    pub ring: Option<Ring>,
    /// Directions of the polars of the feature, as a band about the axis of its primitive or of the
    /// canonical feature that it follows.
    pub zone: DirectionBand,
    /// Box around the areas of the feature, in the frame of the solid.
    pub bounds: Aabb,
    /// Diagonal of `bounds` (mm).
    pub extent: f64,
    /// Parameter rectangle around the areas of the feature.
    pub rect: Rect,
    /// Largest deviation (mm) of a trimming piece of the face, of a span of the edge, or of the vertex.
    pub deviation: f64,
    /// Range of the feature's areas in the body's list of areas, which is sorted by feature;
    /// [`Body::areas_of`](crate::Body) returns them.
    pub areas: Range<usize>,
    /// Whether the feature is a face whose trimmed domain is known to be a disc.
    pub is_disc: bool,
    /// Whether the feature can carry quasi-minima only, no strict minima.
    pub quasi_only: bool,
    /// Screw motion that maps a free-form feature to itself; `None` if no such motion is known.
    pub helix: Option<Box<Helix>>,
    /// For a face of a thread, the band of orbits of a screw motion that contains it; `None` for other
    /// features.
    pub band: Option<Box<Band>>,
}

impl FeatureData {
    /// Primitive of the feature, or of the canonical feature that it follows; `None` for other free-form
    /// features.
    pub(crate) fn around(&self) -> Option<&Primitive> {
        self.primitive.as_ref().or(self.near.as_ref().map(|n| &n.primitive))
    }

    /// Number of the feature's kind. It is equal for features of one dimension, class and type of
    /// primitive, which are solved by the same code.
    pub(crate) fn kind(&self) -> u8 {
        let dimension = match self.feature {
            Feature::Vertex(_) => 0,
            Feature::Edge(_) => 1,
            Feature::Face(_) => 2,
        };
        let around = match self.around() {
            None => 0,
            Some(Primitive::Plane { .. }) => 1,
            Some(Primitive::Point { .. }) => 2,
            Some(Primitive::Line { .. }) => 3,
            Some(Primitive::Circle { .. }) => 4,
        };
        kind_of(dimension, self.form(), around)
    }

    /// Class of the feature (canonical, near-canonical, free-form edge or other), which decides how its
    /// pairs are solved.
    pub(crate) fn form(&self) -> SolveClass {
        match self {
            Self { primitive: Some(_), .. } => SolveClass::Canonical,
            Self { near: Some(_), .. } => SolveClass::Near,
            Self { feature: Feature::Edge(_), areas, .. } if areas.len() <= MAX_EDGE_AREAS => {
                SolveClass::FreeEdge
            }
            _ => SolveClass::Free,
        }
    }
}

/// Number of a kind of feature, from its dimension, its class and the type `around` of its primitive.
fn kind_of(dimension: u8, form: SolveClass, around: u8) -> u8 {
    (dimension << 5) | ((form as u8) << 3) | around
}

/// Class of a feature, given its [`kind`](FeatureData::kind).
pub(super) fn class_of_kind(kind: u8) -> SolveClass {
    let forms = [SolveClass::Canonical, SolveClass::Near, SolveClass::FreeEdge, SolveClass::Free];
    forms[usize::from((kind >> 3) & 3)]
}

/// Canonical feature that a free-form feature follows closely, with the differences between both; see
/// [`feeler_hierarchy::NearCanonical`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// Primitive (oriented spheres) of the canonical feature, in the frame of the solid.
    pub primitive: Primitive,
    /// Largest distance (mm) between the canonical and the free-form feature.
    pub deviation: f64,
    /// Largest angle (rad) between the normals of the free-form and the canonical feature; for curves,
    /// between their tangents.
    pub angle: f64,
    /// Largest difference (1/mm) between the curvatures of the free-form and the canonical feature.
    pub curvature: f64,
}

/// Maximum number of areas of a free-form edge for which one solve with a canonical feature covers all
/// areas of the edge. With more areas, each is solved on its own, because the hierarchy excludes them
/// faster.
const MAX_EDGE_AREAS: usize = 24;

/// Range (mm) of a canonical face along the line of its primitive, from the face's parameters and the
/// deviation of its borders (mm). `None` for features that are not faces around a line.
pub(super) fn exact_along(
    hierarchy: &Hierarchy,
    feature: Feature,
    primitive: Option<&Primitive>,
    deviation: f64,
) -> Option<[f64; 2]> {
    let Feature::Face(f) = feature else { return None };
    let Some(Primitive::Line { origin, dir, sigma, slope }) = primitive else { return None };
    let face = &hierarchy.faces[f.index()];
    let rect = &face.trim.rect;
    let [a, b] = [rect.v0, rect.v1].map(|v| (face.surface.point(P2::new(rect.u0, v)) - origin).dot(dir));
    let slack = deviation.max(0.0) + 1e-12 * (a.abs() + b.abs());
    Some([a.min(b) - slack, a.max(b) + slack].map(|h| h.max(apex(*sigma, *slope))))
}

/// Band of the directions of cones: about the axis of `around`, or about the axis of the first cone if
/// `around` is a point or `None`.
pub(super) fn zone<'a>(
    around: Option<&Primitive>,
    cones: impl Iterator<Item = &'a PolyCone> + Clone,
) -> DirectionBand {
    let axis = match around {
        Some(Primitive::Plane { normal, .. }) => *normal,
        Some(Primitive::Line { dir, .. }) => *dir,
        Some(Primitive::Circle { frame, .. }) => frame.z,
        Some(Primitive::Point { .. }) | None => cones.clone().next().map_or(V3::z(), |c| c.revolution().axis),
    };
    DirectionBand::around(&axis, cones)
}

/// Returns the canonical feature that a free-form feature follows; `None` if the hierarchy has none
/// stored for it.
pub(super) fn near(hierarchy: &Hierarchy, feature: Feature) -> Option<Near> {
    fn of<T>(near: &NearCanonical<T>, primitive: Option<Primitive>) -> Option<Near> {
        let &NearCanonical { deviation, angle, curvature, .. } = near;
        primitive.map(|primitive| Near { primitive, deviation, angle, curvature })
    }
    match feature {
        Feature::Face(f) => {
            let near = hierarchy.faces[f.index()].canonical_approximation.as_ref()?;
            of(near, Primitive::of_surface(&near.shape, near.outward))
        }
        Feature::Edge(e) => {
            let near = hierarchy.edges[e.index()].canonical_approximation.as_ref()?;
            of(near, Primitive::of_curve(&near.shape))
        }
        Feature::Vertex(_) => None,
    }
}

/// Length by which the range of a torus face's meridian angles is extended at each end, as a fraction of
/// the range of the sampled points. Because the face's sides are sampled, only rounding has to be
/// covered. A larger value gives looser ranges; with a smaller one, points of a face are outside its
/// range.
pub(super) const PART_SLACK: f64 = 1e-6;
/// Like [`PART_SLACK`], for a spline face that follows a torus. It is larger because the parameters of
/// such a face do not run along meridians, so that points between the samples can be outside their
/// range.
pub(super) const NEAR_PART_SLACK: f64 = 0.05;
/// Largest angle (rad) between sampled points of a torus. A larger value is coarser; a smaller one uses
/// more memory.
const OUTLINE_STEP: f64 = 0.3;

/// Points (frame of the solid) of an area of a face, on a grid over its parameter rectangle that includes the
/// sides and corners. Empty for areas of edges and vertices.
pub(super) fn outline(hierarchy: &Hierarchy, area: AreaId) -> impl Iterator<Item = P3> + '_ {
    let area = &hierarchy.areas[area.index()];
    let surface = match area.feature {
        Feature::Face(f) => Some(&hierarchy.faces[f.index()].surface),
        _ => None,
    };
    surface.into_iter().flat_map(move |s| {
        let turn = if s.is_canonical() { area.rect.v1 - area.rect.v0 } else { 8.0 * OUTLINE_STEP };
        let n = (turn / OUTLINE_STEP).clamp(1.0, 64.0).ceil();
        let steps = move || {
            std::iter::successors(Some(0.0), move |k| (k + 1.0 <= n).then_some(k + 1.0)).map(move |k| k / n)
        };
        steps().flat_map(move |x| steps().map(move |y| s.point(at(&area.rect, x, y))))
    })
}

/// Inverse radius (1/mm) of a sphere or cylinder face, or of the tube of a torus face. It is 0 for all
/// other features; free-form ones bend little over a deviation unless the file is unusable.
pub(super) fn curvature_bound(data: &FeatureData) -> f64 {
    let inverse = |r: f64| if r > 0.0 { 1.0 / r } else { 0.0 };
    match (data.feature, data.primitive) {
        (Feature::Face(_), Some(Primitive::Point { sigma, .. } | Primitive::Circle { sigma, .. })) => {
            inverse(sigma.abs())
        }
        (Feature::Face(_), Some(Primitive::Line { sigma, slope, .. })) if slope.abs() < f64::EPSILON => {
            inverse(sigma.abs())
        }
        _ => 0.0,
    }
}

/// Upper bound of the absolute curvatures (1/mm) of a face; 0 for an edge or a vertex, infinite for a
/// free-form face and for a cone near its apex.
pub(super) fn max_bend(hierarchy: &Hierarchy, data: &FeatureData) -> f64 {
    let Feature::Face(face) = data.feature else { return 0.0 };
    let bend = match &hierarchy.faces[face.index()].surface {
        Surface::Plane { .. } => 0.0,
        Surface::Cylinder { radius, .. } | Surface::Sphere { radius, .. } => 1.0 / radius,
        Surface::Cone { half_angle, .. } => {
            let v = if data.rect.v0 * data.rect.v1 > 0.0 {
                data.rect.v0.abs().min(data.rect.v1.abs())
            } else {
                0.0
            };
            let (sin, cos) = math::sin_cos(*half_angle);
            (cos * cos / (v * sin)).abs()
        }
        Surface::Torus { major, minor, .. } => (1.0 / minor).max(1.0 / (major - minor).max(0.0)),
        Surface::Bezier(_) => f64::INFINITY,
    };
    if bend.is_nan() { f64::INFINITY } else { bend }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The class of a feature can be recovered from its kind.
    #[test]
    fn kinds_contain_classes() {
        for form in [SolveClass::Canonical, SolveClass::Near, SolveClass::FreeEdge, SolveClass::Free] {
            for (dimension, around) in [(0, 2), (1, 4), (2, 0)] {
                assert_eq!(class_of_kind(kind_of(dimension, form, around)), form);
            }
        }
    }
}
