use super::*;
use crate::picture::Tint;
use feeler_geom::Pose;
use std::path::Path;

/// An independent glTF library reads the exported file, and finds the meshes at their poses, in metres.
#[test]
fn another_reader_finds_the_same_meshes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/plug.step");
    let model = feeler_import::prepare_step(&file).unwrap();
    let shape = Shape::new(&model.solids[0], 0.05, false).unwrap();
    let turned = Pose::new(V3::new(30.0, -4.0, 7.0), V3::new(0.3, -0.2, 0.9));
    let part = |path: &str, shape, pose| PicturePart {
        path: path.into(),
        shape,
        pose,
        track: None,
        tint: Tint::Own,
        facts: Vec::new(),
    };
    let scene = PictureScene {
        name: "two plugs".into(),
        parts: vec![
            part("a", 1, Pose::identity()),
            part("empty", 0, Pose::identity()),
            part("b </script>", 1, turned),
        ],
        ..PictureScene::default()
    };
    let picture = Picture { shapes: vec![Shape::default(), shape], ..Picture::default() };
    let bytes = glb(&picture, &scene).unwrap();

    let read = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = read.blob.as_deref().unwrap();
    let root = read.default_scene().unwrap().nodes().next().unwrap();
    let [scale, ..] = root.transform().decomposed().2;
    assert!((scale - 1e-3).abs() < 1e-9);
    let nodes: Vec<_> = root.children().collect();
    assert_eq!(nodes.iter().filter_map(|n| n.name()).collect::<Vec<_>>(), ["a", "empty", "b </script>"]);
    assert!(nodes[1].mesh().is_none());
    let drawn = &picture.shapes[1];
    for (node, pose) in [(&nodes[0], Pose::identity()), (&nodes[2], turned)] {
        let mesh = node.mesh().unwrap();
        let faces = mesh.primitives().next().unwrap();
        let reader = faces.reader(|_| Some(blob));
        let points: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
        let indices: Vec<u32> = reader.read_indices().unwrap().into_u32().collect();
        assert_eq!(indices.len(), 3 * drawn.mesh.triangles.len());
        assert!(indices.iter().zip(drawn.mesh.triangles.iter().flatten()).all(|(i, j)| i == j));
        let matrix = node.transform().matrix();
        for (p, q) in points.iter().zip(&drawn.mesh.points) {
            let at = |k: usize| {
                (0..3).map(|c| f64::from(matrix[c][k]) * f64::from(p[c])).sum::<f64>()
                    + f64::from(matrix[3][k])
            };
            let placed = pose * q;
            assert!(
                (0..3).all(|k| (at(k) - placed[k]).abs() < 1e-4),
                "{q} is at {} {} {}",
                at(0),
                at(1),
                at(2)
            );
        }
        let lines = mesh.primitives().nth(1).unwrap();
        assert_eq!(lines.mode(), gltf::mesh::Mode::Lines);
        let ends = lines.reader(|_| Some(blob)).read_positions().unwrap().count();
        assert_eq!(ends, 2 * drawn.edges.len());
    }
}

#[test]
fn a_scene_without_parts_is_a_file() {
    let bytes = glb(&Picture::default(), &PictureScene::default()).unwrap();
    assert_eq!(gltf::Gltf::from_slice(&bytes).unwrap().nodes().count(), 1);
}
