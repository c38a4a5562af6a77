use super::*;
use crate::picture::{BallFrame, Balls, PictureMotion, PicturePart, PictureScene, Tint, TriangleSurface};
use crate::shape::Shape;
use base64::Engine as _;
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Quaternion, UnitQuaternion};
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;

const EVIL: &str = "</script><img src=x onerror=alert(1)>\"'&";

fn picture() -> Picture {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/plug.step");
    let model = feeler_import::prepare_step(&file).unwrap();
    let shape = Shape { name: EVIL.to_owned(), ..Shape::new(&model.solids[0], 0.1, true).unwrap() };
    let part = |x: f64| PicturePart {
        path: format!("{EVIL}/{x}"),
        shape: 0,
        pose: Pose::translation(x, 0.0, 0.0),
        track: None,
        tint: Tint::Own,
        facts: Vec::new(),
    };
    let scene =
        PictureScene { name: EVIL.to_owned(), parts: vec![part(0.0), part(40.0)], ..PictureScene::default() };
    Picture { shapes: vec![shape], scenes: vec![scene], ..Picture::default() }
}

/// JSON document and arrays of the picture of a page, unpacked as by the page's script.
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
    // Opening and closing tags of scripts are balanced.
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
    for request in ["src=\"", "@import", "url(", "import(", "<link rel=\"style"] {
        let own = page.replace(THREE, "").replace(SCRIPT, "");
        assert!(!own.contains(request), "{request}");
    }
    assert!(page.contains("Permission is hereby granted"), "the licence of three.js");
}

/// Components of quaternions, the real part last.
const TURNS: [[f64; 4]; 3] = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -0.6, 0.8]];

fn turn([x, y, z, w]: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z))
}

#[test]
fn balls_are_packed_as_they_move() {
    let frame = |numbers: &[u32], z: f64| BallFrame {
        numbers: numbers.to_vec(),
        centers: numbers.iter().map(|k| P3::new(f64::from(*k), -2.0, z)).collect(),
        turns: numbers.iter().map(|k| TURNS[*k as usize]).map(turn).collect(),
        values: numbers.iter().map(|k| 10.0 * f64::from(*k)).collect(),
    };
    let [a, b, c] = [P3::new(1.5, 0.0, 0.0), P3::new(0.0, 1.0, 0.0), P3::new(0.0, 0.0, -0.5)];
    let surface = TriangleSurface {
        points: vec![a, b, c],
        normals: vec![V3::x(), V3::y(), -V3::z()],
        triangles: vec![[0, 1, 2], [2, 1, 0]],
    };
    let balls = Balls {
        radii: vec![1.0, 2.5, 3.0],
        shapes: vec![surface],
        shape_of: vec![None, Some(0)],
        frames: vec![frame(&[0, 1, 2], 50.0), frame(&[0, 2], -50.0), frame(&[], 0.0)],
        value: ["speed", "mm/s"],
    };
    let motion =
        PictureMotion { times: vec![0.0, 1.0, 2.0], margin: vec![None; 3], ..PictureMotion::default() };
    let scene = PictureScene { motion: Some(motion), balls: Some(balls.clone()), ..PictureScene::default() };
    let picture = Picture { scenes: vec![scene], ..Picture::default() };
    let (document, arrays) = unpacked(&page("balls", "", Some(&picture)).unwrap());
    let packed = &document["scenes"][0]["balls"];
    assert_eq!(packed["counts"], serde_json::json!([3, 2, 0]));
    let numbers = |key: &str, size: usize| -> Vec<u64> {
        let at = |k: usize| usize::try_from(packed[key][k].as_u64().unwrap()).unwrap();
        let whole = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, b| 256 * sum + u64::from(*b));
        arrays[at(1)..at(1) + size * at(2)].chunks(size).map(whole).collect()
    };
    assert_eq!(numbers("numbers", 4), [0, 1, 2, 0, 2]);
    let all: Vec<P3> = balls.frames.iter().flat_map(|f| f.centers.clone()).collect();
    let centers = numbers("centers", 2);
    for (k, center) in all.iter().enumerate() {
        for i in 0..3 {
            let [min, size] = ["min", "size"].map(|key| packed[key][i].as_f64().unwrap());
            let x = min + size * centers[3 * k + i] as f64 / 65535.0;
            assert!((x - center[i]).abs() <= size / 65535.0, "ball {k}: {x} {center}");
        }
    }
    assert_eq!(numbers("values", 2), [0, 32768, 65535, 0, 65535]);
    assert_eq!(packed["most"], 20.0);
    // Index 0 is the ball itself, which is also used beyond the end of the list.
    assert_eq!(numbers("shape_of", 4), [0, 1, 0]);
    let turns: Vec<f64> = numbers("turns", 2)
        .iter()
        .map(|bits| f64::from(u16::try_from(*bits).unwrap().cast_signed()) / 32767.0)
        .collect();
    let expected: Vec<f64> = [0, 1, 2, 0, 2].iter().flat_map(|k| TURNS[*k]).collect();
    assert!(turns.len() == 20 && turns.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 2e-5), "{turns:?}");
    let at = |value: &Value, k: usize| usize::try_from(value[k].as_u64().unwrap()).unwrap();
    let shape = &packed["shapes"][0];
    let floats = |key: &str| -> Vec<f32> {
        let (begin, count) = (at(&shape[key], 1), at(&shape[key], 2));
        arrays[begin..begin + 4 * count].as_chunks::<4>().0.iter().map(|x| f32::from_le_bytes(*x)).collect()
    };
    assert_eq!(floats("points"), [1.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -0.5]);
    assert_eq!((at(&shape["normals"], 2), at(&shape["triangles"], 2)), (9, 6));
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
