//! Tests of cones in STEP files whose apex vertex is beside the apex.

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::{Solid, VertexInfo, VertexPolar};
use feeler_step::read_step_bytes;

const CONE_APEX: &str = "#25 = CARTESIAN_POINT('',(1.7763568394E-15,-4.35081943503E-31,30.));";
const HALF_CONE_APEX: &str = "#23 = CARTESIAN_POINT('',(1.7763568394E-15,-4.35081943503E-31,30.));";

/// Builds the solid of `text` after the replacement of `from`, which occurs once, by `to`.
fn built(text: &str, from: &str, to: &str) -> Solid {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    let import = read_step_bytes("cone.step", text.replace(from, to).as_bytes()).expect("a STEP file");
    build_solid(&import.solids[0], &BuildOptions::default()).unwrap_or_else(|e| panic!("{to}: {e}"))
}

/// Heights of the vertices that are features above the height 29 mm.
fn apices(solid: &Solid) -> Vec<f64> {
    let all = solid.shell.vertices.iter().zip(&solid.vertices);
    let is_feature = |v: &VertexInfo| !v.smooth && v.polar != VertexPolar::Empty;
    all.filter(|(p, v)| p.z > 29.0 && is_feature(v)).map(|(p, _)| p.z).collect()
}

/// The apex is one vertex at its right height, however far the vertex of the file is from it within the gap
/// tolerance.
#[test]
fn the_apex_of_a_cone_is_one_vertex() {
    let cone = include_str!("../../../../data/cone.step");
    let half = include_str!("../../../../data/half-cone.step");
    for (text, entity) in [(cone, CONE_APEX), (half, HALF_CONE_APEX)] {
        for z in [
            "30.",
            "29.999999",
            "29.99999",
            "30.00001",
            "29.9999",
            "30.0001",
            "29.999",
            "30.001",
            "29.99",
            "29.97",
        ] {
            let to = format!("{}0.,0.,{z}));", &entity[..entity.find("1.77").expect("a number")]);
            let solid = built(text, entity, &to);
            let apices = apices(&solid);
            assert_eq!(apices.len(), 1, "{to}: {:?}", solid.remarks);
            assert!((apices[0] - 30.0).abs() < 5e-6, "{to}: {apices:?}");
            let is_added = solid.remarks.iter().any(|r| r.message.contains("tip has no vertex"));
            assert!(!is_added, "{to}: {:?}", solid.remarks);
        }
    }
}

/// Without the seam, the apex is a `VERTEX_LOOP`, or it is not in the file.
#[test]
fn the_apex_of_a_cone_without_a_seam_is_one_vertex() {
    let text = include_str!("../../../../data/cone.step");
    let without_seam = text
        .replace("#19 = EDGE_LOOP('',(#20,#50,#77));", "#19 = EDGE_LOOP('',(#50));")
        .replace("#17 = ADVANCED_FACE('',(#18),#32,.T.);", "#17 = ADVANCED_FACE('',(#18,#201),#32,.T.);");
    for z in ["30.", "29.99999", "29.9999", "29.97"] {
        let to = format!(
            "{}0.,0.,{z}));#200 = VERTEX_LOOP('',#24);#201 = FACE_BOUND('',#200,.T.);",
            &CONE_APEX[..CONE_APEX.find("1.77").expect("a number")]
        );
        let solid = built(&without_seam, CONE_APEX, &to);
        let apices = apices(&solid);
        assert_eq!(apices.len(), 1, "{to}: {:?}", solid.remarks);
        assert!((apices[0] - 30.0).abs() < 5e-6, "{to}: {apices:?}");
        assert_eq!(solid.shell.vertices.iter().filter(|p| p.z > 29.0).count(), 1, "{to}");
    }
    let bare = text.replace("#19 = EDGE_LOOP('',(#20,#50,#77));", "#19 = EDGE_LOOP('',(#50));");
    let solid = built(&bare, CONE_APEX, CONE_APEX);
    let apices = apices(&solid);
    assert!(apices.len() == 1 && (apices[0] - 30.0).abs() < 1e-9, "{apices:?}, {:?}", solid.remarks);
    assert!(solid.remarks.iter().any(|r| r.message.contains("tip has no vertex")), "{:?}", solid.remarks);
}
