//! Hierarchy of a square piece of a plane, which represents an infinite wall.

use crate::data::{Area, Face, Feature, Hierarchy, Node, SolidInfo};
use crate::id::FaceId;
use crate::mask::FeatureType;
use feeler_geom::trim::{TrimCells, TrimDomain, TrimPiece};
use feeler_geom::{Frame, Obb, P2, P3, PolyCone, Rect, RevolutionCone, Surface, V3};

/// Edge index of trim pieces that belong to no edge.
const NO_EDGE: u32 = u32::MAX;

/// Creates the hierarchy of a square of the plane z = 0, which extends by `half` (mm) from the origin to
/// each side, with material below to a depth of `half / 2`. The hierarchy has one face and no edges or
/// vertices, so its minima are those of the whole plane if their footpoints lie inside the square.
/// Returns `None` unless `half` is positive and finite.
#[must_use]
pub fn plane(half: f64) -> Option<Hierarchy> {
    let frame = Frame::from_z(P3::origin(), V3::z(), Some(V3::x()))?;
    let corners = [(-half, -half), (half, -half), (half, half), (-half, half)].map(|(u, v)| P2::new(u, v));
    let sides = [0, 1, 2, 3].map(|k| TrimPiece::line(corners[k], corners[(k + 1) % 4], NO_EDGE));
    let rect = Rect { u0: -half, u1: half, v0: -half, v1: half };
    let (trim, problems) = TrimCells::build(&TrimDomain::new(&sides, rect, None, None, P2::origin()));
    if !(half > 0.0 && half.is_finite() && problems.is_empty()) {
        return None;
    }
    let surface = Surface::Plane { frame };
    let types = FeatureType::of_surface(&surface, true, false).bit();
    let at_z = |z: f64| corners.map(|c| P3::new(c.x, c.y, z));
    let obb = Obb::fit(&at_z(0.0));
    let area = Area { feature: Feature::Face(FaceId(0)), rect, cone: PolyCone::hull(&[V3::z()])? };
    let node = Node { obb, cone: RevolutionCone { axis: V3::z(), half_angle: 0.0 }, types, link: Node::LEAF };
    let (wide, deep) = (2.0 * half, 0.5 * half);
    let info = SolidInfo {
        name: "plane".to_owned(),
        bbox_min: [-half, -half, -deep],
        bbox_max: [half, half, 0.0],
        area: wide * wide,
        volume: wide * wide * deep,
        min_thickness: f64::INFINITY,
        source_counts: [1, 0, 0],
        faces_by_type: [1, 0, 0, 0, 0, 0],
        supermaximal: [1, 0],
        ..SolidInfo::default()
    };
    Some(Hierarchy {
        info,
        faces: vec![Face {
            surface,
            outward: true,
            trim,
            sources: vec![(0, None)],
            canonical_approximation: None,
        }],
        edges: Vec::new(),
        vertices: Vec::new(),
        areas: vec![area],
        nodes: vec![node],
        hull: at_z(0.0).into_iter().chain(at_z(-deep)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::plane;
    use crate::validate::check_hierarchy;

    #[test]
    fn pieces_of_planes_are_well_formed() {
        for half in [1e-6, 1.0, 1e9] {
            let h = plane(half).expect("a plane");
            check_hierarchy(&h).expect("well formed");
            assert!((h.faces[0].trim.area_uv() / (4.0 * half * half) - 1.0).abs() < 1e-12);
        }
        for half in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(plane(half).is_none(), "{half}");
        }
    }
}
