//! Calls of the program, and models with planted changes, shared by the tests.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)
}

pub(crate) fn feeler(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().unwrap()
}

/// Runs the program in the folder `data`.
pub(crate) fn feeler_in_data(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_feeler"));
    command.current_dir(data("")).args(args).output().expect("the program starts")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(data(name)).unwrap()
}

/// STEP text of the bore with its radius of 10 mm increased by `by` (mm).
pub(crate) fn wider_bore(by: f64) -> String {
    let text = read("bore.step");
    let wider = text.replace(",10.);", &format!(",{});", 10.0 + by));
    assert_eq!(text.matches(",10.);").count(), 3, "two circles and a cylinder");
    wider
}

/// STEP text of the plate with a hundred holes, one of which is moved by `by` (mm) along x.
pub(crate) fn plate_with_moved_hole(by: f64) -> String {
    let text = read("perforated-plate.step");
    let mut moved = 0;
    let line = |line: &str| {
        let numbers = || -> Option<[f64; 3]> {
            let (_, rest) = line.split_once("CARTESIAN_POINT('',(")?;
            let all: Vec<f64> =
                rest.split_once(')')?.0.split(',').map(|x| x.parse().ok()).collect::<Option<_>>()?;
            all.try_into().ok()
        };
        // Points of the hole around (-28, -28), which has a radius of 2.5 mm.
        match numbers() {
            Some([x, y, z]) if (x + 28.0) * (x + 28.0) + (y + 28.0) * (y + 28.0) <= 2.6 * 2.6 => {
                moved += 1;
                let (head, rest) = line.split_once("CARTESIAN_POINT('',(").unwrap();
                let tail = rest.split_once(')').unwrap().1;
                format!("{head}CARTESIAN_POINT('',({:?},{y:?},{z:?}){tail}", x + by)
            }
            _ => line.to_owned(),
        }
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    assert!(moved >= 4, "{moved} points");
    lines.join("\n")
}

/// STEP text of the socket without the last face of its shell.
pub(crate) fn socket_with_a_hole() -> String {
    let text = read("socket.step");
    let start = text.find("CLOSED_SHELL").unwrap();
    let end = start + text[start..].find(')').unwrap();
    let last = start + text[start..end].rfind(',').unwrap();
    format!("{}{}", &text[..last], &text[end..])
}

/// ASCII STL text of a box of twelve triangles. `low` and `high` are opposite corners.
pub(crate) fn stl_block(low: [f64; 3], high: [f64; 3]) -> String {
    let corner = |k: usize| {
        let of = |axis: usize| if k >> axis & 1 == 0 { low[axis] } else { high[axis] };
        format!("vertex {} {} {}\n", of(0), of(1), of(2))
    };
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]);
    let facet = |t: [usize; 3]| {
        let [a, b, c] = t.map(corner);
        format!("facet normal 0 0 0\nouter loop\n{a}{b}{c}endloop\nendfacet\n")
    };
    format!("solid block\n{}endsolid block\n", triangles.map(facet).collect::<String>())
}
