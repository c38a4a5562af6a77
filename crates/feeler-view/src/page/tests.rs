use super::*;
use crate::picture::{Part, Scene, Tint};
use crate::shape::Shape;
use base64::Engine as _;
use feeler_geom::Pose;
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;

const EVIL: &str = "</script><img src=x onerror=alert(1)>\"'&";

fn picture() -> Picture {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/plug.step");
    let model = feeler_import::prepare_step(&file).unwrap();
    let shape = Shape { name: EVIL.to_owned(), ..Shape::new(&model.solids[0], 0.1, true).unwrap() };
    let part = |x: f64| Part {
        path: format!("{EVIL}/{x}"),
        shape: 0,
        pose: Pose::translation(x, 0.0, 0.0),
        track: None,
        tint: Tint::Own,
    };
    let scene = Scene { name: EVIL.to_owned(), parts: vec![part(0.0), part(40.0)], ..Scene::default() };
    Picture { shapes: vec![shape], scenes: vec![scene], ..Picture::default() }
}

/// What the page's script unpacks: document and arrays.
fn unpacked(page: &str) -> (Value, Vec<u8>) {
    let start = page.find("id=\"picture\">").unwrap() + "id=\"picture\">".len();
    let text = &page[start..start + page[start..].find('<').unwrap()];
    let packed = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    assert_eq!((4 + length) % 8, 0, "arrays begin at a multiple of eight");
    (serde_json::from_slice(&bytes[4..4 + length]).unwrap(), bytes[4 + length..].to_vec())
}

#[test]
fn a_page_asks_for_nothing_and_names_are_no_markup() {
    let picture = picture();
    let page = page(EVIL, "", Some(&picture)).unwrap();
    assert!(!page.contains("<img"), "a name became an element");
    // As many scripts end as begin.
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    for asks in ["src=\"", "@import", "url(", "import(", "<link rel=\"style"] {
        let own = page.replace(THREE, "").replace(SCRIPT, "");
        assert!(!own.contains(asks), "{asks}");
    }
    assert!(page.contains("Permission is hereby granted"), "the licence of three.js");
}

#[test]
fn what_is_packed_is_what_was_given() {
    let picture = picture();
    let (document, arrays) = unpacked(&page("plug", "", Some(&picture)).unwrap());
    let scene = &document["scenes"][0];
    assert_eq!(scene["parts"][1]["path"], format!("{EVIL}/40"));
    assert_eq!(scene["parts"][1]["pose"][0], 40.0);
    let shape = &document["shapes"][0];
    let mesh = &picture.shapes[0].mesh;
    assert_eq!(shape["deviation"].as_f64(), Some(mesh.deviation));
    let numbers = |value: &Value, size: usize| -> Vec<&[u8]> {
        let at = |k: usize| usize::try_from(value[k].as_u64().unwrap()).unwrap();
        assert_eq!(at(1) % 8, 0);
        arrays[at(1)..at(1) + size * at(2)].chunks(size).collect()
    };
    let points = numbers(&shape["points"], 4);
    assert_eq!(points.len(), 3 * mesh.points.len());
    let middle = picture.shapes[0].middle();
    for (k, bytes) in points.iter().enumerate() {
        let x = f64::from(f32::from_le_bytes((*bytes).try_into().unwrap())) + middle[k % 3];
        assert!((x - mesh.points[k / 3][k % 3]).abs() < 1e-5, "point {}", k / 3);
    }
    let triangles = numbers(&shape["triangles"], 4);
    assert_eq!(triangles.len(), 3 * mesh.triangles.len());
    assert_eq!(numbers(&shape["levels"], 4).len() * 12, numbers(&shape["boxes"], 4).len());
}

#[test]
fn equal_pictures_are_equal_pages() {
    assert_eq!(page("a", "", Some(&picture())).unwrap(), page("a", "", Some(&picture())).unwrap());
}

#[test]
fn a_page_without_a_picture_has_no_scripts() {
    let page = page("a < b", "<p>text</p>", None).unwrap();
    assert!(page.contains("<title>a &lt; b</title>") && !page.contains("<script"));
}
