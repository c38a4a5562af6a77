//! Meshes of gmsh in the text formats 2.2 and 4.1.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use feeler_deformable::{DeformableBody, DeformableError, Material, Mesh};

const FORMAT_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat
$PhysicalNames\n1\n3 1 \"part\"\n$EndPhysicalNames
$Nodes\n6
1 0 0 0\n2 1 0 0\n3 0 1 0\n5 0 0 1\n7 9 9 9\n8 1 1 1.5e0
$EndNodes
$Elements\n4
1 15 2 0 1 7
2 2 2 1 1 1 2 3
3 4 2 1 1 1 2 3 5
4 4 2 1 1 2 8 3 5
$EndElements
";

const FORMAT_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat
$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities
$Nodes\n2 9 1 9
0 1 0 1\n9\n5 5 5
3 1 0 8\n1\n2\n3\n4\n5\n6\n7\n8
0 0 0\n2 0 0\n2 3 0\n0 3 0\n0 0 4\n2 0 4\n2 3 4\n0 3 4
$EndNodes
$Elements\n2 2 1 2
2 1 3 1\n1 1 2 3 4
3 1 5 1\n2 1 2 3 4 5 6 7 8
$EndElements
";

fn mass(mesh: &Mesh) -> f64 {
    DeformableBody::new(mesh, Material::new(1.0, 0.3, 1.0).unwrap(), 0.1).unwrap().mass()
}

#[test]
fn both_formats_are_read_without_boundary_elements_and_unused_nodes() {
    let mesh = Mesh::from_msh(FORMAT_2).unwrap();
    assert_eq!(mesh.tetrahedra, [[0, 1, 2, 3], [1, 4, 2, 3]], "indices instead of tags");
    assert_eq!((mesh.nodes.len(), mesh.nodes[4].z.to_bits()), (5, 1.5_f64.to_bits()), "nodes");
    assert!(mass(&mesh) > 1.0 / 6.0, "{}", mass(&mesh));
    let windows = FORMAT_2.replace('\n', "\r\n");
    assert_eq!(Mesh::from_msh(&windows), Ok(mesh), "lines that end with a carriage return");
    let mesh = Mesh::from_msh(FORMAT_4).unwrap();
    assert_eq!((mesh.nodes.len(), mesh.hexahedra.len(), mesh.tetrahedra.len()), (8, 1, 0), "counts");
    assert!((mass(&mesh) - 24.0).abs() < 1e-12, "{}", mass(&mesh));
}

#[test]
fn files_of_gmsh_have_the_volume_of_the_box() {
    let files = [
        (include_str!("../meshes/tetrahedra-2.2.msh"), include_str!("../meshes/tetrahedra-4.1.msh"), false),
        (include_str!("../meshes/hexahedra-2.2.msh"), include_str!("../meshes/hexahedra-4.1.msh"), true),
    ];
    for (old, new, are_hexahedra) in files {
        let (old, new) = (Mesh::from_msh(old).unwrap(), Mesh::from_msh(new).unwrap());
        assert_eq!(old.hexahedra.len() == 8 && old.tetrahedra.is_empty(), are_hexahedra, "elements");
        assert_eq!(old, new, "both formats have the same mesh");
        assert!((mass(&new) - 24.0).abs() < 1e-9, "{}", mass(&new));
    }
}

#[test]
fn invalid_files_are_refused_with_the_line() {
    let line = |text: &str| match Mesh::from_msh(text) {
        Err(DeformableError::MeshFile { line, reason }) => (line, reason),
        other => (0, format!("{other:?}")),
    };
    let cases = [
        (FORMAT_2.replace("2.2 0", "3.0 0"), 2, "version '3.0'"),
        (FORMAT_2.replace("2.2 0", "2.2 1"), 2, "binary"),
        (FORMAT_2.replace("3 0 1 0\n", "2 0 1 0\n"), 12, "node 2 occurs twice"),
        (FORMAT_2.replace("3 0 1 0\n", "3 0 x 0\n"), 12, "three coordinates"),
        (FORMAT_2.replace("3 0 1 0\n", "3 0 inf 0\n"), 12, "not finite"),
        (FORMAT_2.replace("$Nodes\n6", "$Nodes\n5"), 15, "'$EndNodes' is expected"),
        (FORMAT_2.replace("2 8 3 5", "2 8 3 6"), 22, "node 6 does not exist"),
        (FORMAT_2.replace("2 8 3 5", "2 8 3"), 22, "4 nodes are expected, found 3"),
        (FORMAT_2.replace("4 4 2 1 1 2 8", "4 11 2 1 1 2 8"), 22, "element type 11"),
        (FORMAT_2.replace("4 4 2 1 1 2 8 3 5", "4 4 99 1"), 22, "fewer tags"),
        (FORMAT_2.replace("$EndElements\n", ""), 22, "the file ends"),
        (FORMAT_4.replace("9\n5 5 5", "9\n5 5"), 12, "3 numbers"),
        (FORMAT_4.replace("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n", ""), 5, "must come first"),
        (FORMAT_4.replace("2 1 2 3 4 5 6 7 8", "2 1 2 3 4 5 6 7 -8"), 36, "'-8'"),
        ("$MeshFormat\n4.1 0 8\n$EndMeshFormat\nrubbish".to_owned(), 4, "outside"),
    ];
    for (text, number, reason) in cases {
        let found = line(&text);
        assert!(found.0 == number && found.1.contains(reason), "line {number}, {reason}: {found:?}");
    }
    let empty = Mesh::from_msh("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n");
    assert_eq!(empty, Err(DeformableError::Empty), "no elements");
}

#[test]
fn cut_and_altered_files_do_not_panic() {
    for text in [FORMAT_2, FORMAT_4] {
        for end in 0..text.len() {
            let cut = Mesh::from_msh(&text[..end]);
            assert!(cut.is_err() || end + 1 >= text.len(), "cut at {end}");
            for replacement in ["9", "-", " 1 ", "\n", "$"] {
                let altered = format!("{}{replacement}{}", &text[..end], &text[end + 1..]);
                if let Ok(mesh) = Mesh::from_msh(&altered) {
                    let count = mesh.nodes.len();
                    let nodes = mesh.tetrahedra.iter().flatten().chain(mesh.hexahedra.iter().flatten());
                    assert!(nodes.into_iter().all(|&n| (n as usize) < count), "indices exist");
                }
            }
        }
    }
}
