use super::*;
use std::path::Path;

fn solid(name: &str) -> Hierarchy {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../data/{name}.step"));
    feeler_import::prepare_step(&file).unwrap().solids.swap_remove(0)
}

fn length(segments: &[LineSegment]) -> f64 {
    segments.iter().map(|[a, b]| (b - a).norm()).sum()
}

#[test]
fn edges_of_a_box_are_its_twelve() {
    let solid = solid("box");
    let shape = Shape::new(&solid, 0.01, true).unwrap();
    let sides: f64 = (0..3).map(|k| solid.info.bbox_max[k] - solid.info.bbox_min[k]).sum();
    assert!((length(&shape.edges) - 4.0 * sides).abs() < 1e-9, "{} of {}", length(&shape.edges), 4.0 * sides);
    assert_eq!(shape.faces.len(), 6);
    assert!(shape.faces.iter().all(|f| f.0 == "plane" && f.1 > 0));
    assert!((shape.size() - (shape.corners().1 - shape.corners().0).norm()).abs() < 1e-12);
}

#[test]
fn a_cylinder_has_two_circles_and_no_seam() {
    let solid = solid("cylinder");
    let shape = Shape::new(&solid, 0.001, false).unwrap();
    let radius = 0.5 * (solid.info.bbox_max[0] - solid.info.bbox_min[0]);
    let circles = 4.0 * std::f64::consts::PI * radius;
    assert!((length(&shape.edges) - circles).abs() < 1e-3 * circles, "{}", length(&shape.edges));
    assert!(shape.areas.is_empty() && shape.boxes.is_empty() && shape.cones.is_empty());
}

#[test]
fn a_cone_has_no_line_up_to_its_apex() {
    let solid = solid("cone");
    let shape = Shape::new(&solid, 0.01, false).unwrap();
    // The bottom lies in a plane of constant z.
    let heights: Vec<f64> = shape.edges.iter().map(|[a, b]| (a.z - b.z).abs()).collect();
    assert!(heights.iter().all(|h| *h < 1e-6), "{heights:?}");
}

#[test]
fn layers_are_those_of_the_hierarchy() {
    for name in ["plug", "wave", "torus"] {
        let solid = solid(name);
        let shape = Shape::new(&solid, 0.05, true).unwrap();
        assert_eq!(shape.boxes.len(), solid.nodes.len(), "{name}");
        assert_eq!(shape.boxes.iter().filter(|b| b.0 == 0).count(), 1, "{name}: one root");
        let directed = solid.areas.iter().filter(|a| !a.cone.is_all()).count();
        assert_eq!(shape.cones.len(), directed, "{name}");
        // Borders of areas are on the solid: in the box of the root, and no farther from the mesh than
        // its surfaces.
        let root = shape.boxes.iter().find(|b| b.0 == 0).map(|b| b.1).unwrap();
        assert!(!shape.areas.is_empty(), "{name}");
        assert!(shape.areas.iter().flatten().all(|p| root.contains(p, 1e-6)), "{name}");
    }
}
