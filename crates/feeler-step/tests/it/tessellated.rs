//! Tests of tessellated solids: bodies generated in all forms of their faces, against closed forms.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::writer::{File, Length, refs, xyz};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_step::{Import, ReadOptions, Reading, read_step_bytes, read_step_with};

/// Form in which the triangles of a face are written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Triangles,
    Strips,
    Fans,
}

/// A grid of quadrilaterals in space, counter-clockwise seen from outside: `n × m` cells.
struct Grid {
    points: Vec<[f64; 3]>,
    n: usize,
    m: usize,
}

impl Grid {
    fn at(&self, i: usize, j: usize) -> usize {
        j * (self.n + 1) + i + 1
    }
}

/// The six sides of a block with `n` cells along each edge. Its top and bottom are displaced by `height`
/// (mm), which is 0 on their borders.
fn block(size: [f64; 3], n: usize, height: &dyn Fn(f64, f64) -> f64) -> Vec<Grid> {
    let side = |f: &dyn Fn(f64, f64) -> [f64; 3]| {
        let step = |k: usize| k as f64 / n as f64;
        let points = (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j))).map(|(i, j)| f(step(i), step(j)));
        Grid { points: points.collect(), n, m: n }
    };
    let [a, b, c] = size;
    vec![
        side(&|u, v| [a * v, b * u, -height(v, u)]),
        side(&|u, v| [a * u, b * v, c + height(u, v)]),
        side(&|u, v| [a * u, 0.0, c * v]),
        side(&|u, v| [a * v, b, c * u]),
        side(&|u, v| [0.0, b * v, c * u]),
        side(&|u, v| [a, b * u, c * v]),
    ]
}

/// Adds a tessellated solid of grids, whose faces have the given forms, and returns its id.
fn written(file: &mut File, grids: &[Grid], forms: &[Form], through: bool, common: bool) -> u64 {
    let list = |f: &mut File, points: &[[f64; 3]]| {
        let rows: Vec<String> = points.iter().map(|p| xyz(*p)).collect();
        f.add(format!("COORDINATES_LIST('',{},({}))", points.len(), rows.join(",")))
    };
    let all: Vec<[f64; 3]> = grids.iter().flat_map(|g| g.points.iter().copied()).collect();
    let shared = if common { Some(list(file, &all)) } else { None };
    let (mut faces, mut before) = (Vec::new(), 0);
    for (k, g) in grids.iter().enumerate() {
        let id = shared.unwrap_or_else(|| list(file, &g.points));
        let offset = if common { before } else { 0 };
        before += g.points.len();
        // With an index list in between, corners refer to the entries of that list.
        let n_points = g.points.len();
        let table: Vec<usize> = (0..n_points).map(|i| offset + n_points - i).collect();
        let number = |p: usize| if through { n_points + 1 - p } else { offset + p };
        let pnindex = if through { listed(&table) } else { "()".to_owned() };
        let text = match forms[k % forms.len()] {
            Form::Triangles => {
                let mut rows = Vec::new();
                for j in 0..g.m {
                    for i in 0..g.n {
                        let [p, q, r, s] = [g.at(i, j), g.at(i + 1, j), g.at(i + 1, j + 1), g.at(i, j + 1)];
                        rows.push(listed(&[p, q, r].map(number)));
                        rows.push(listed(&[p, r, s].map(number)));
                    }
                }
                format!("TRIANGULATED_FACE('',#{id},{n_points},(),$,{pnindex},({}))", rows.join(","))
            }
            form => {
                let mut rows = Vec::new();
                for j in 0..g.m {
                    if form == Form::Strips {
                        let row = (0..=g.n).flat_map(|i| [g.at(i, j + 1), g.at(i, j)]).map(number);
                        let mut row: Vec<usize> = row.collect();
                        // A degenerate triangle changes nothing.
                        row.insert(0, row[0]);
                        row.insert(0, row[0]);
                        rows.push(listed(&row));
                    } else {
                        for i in 0..g.n {
                            let fan = [g.at(i, j), g.at(i + 1, j), g.at(i + 1, j + 1), g.at(i, j + 1)];
                            rows.push(listed(&fan.map(number)));
                        }
                    }
                }
                let rows = format!("({})", rows.join(","));
                let (strips, fans) =
                    if form == Form::Strips { (rows.as_str(), "()") } else { ("()", rows.as_str()) };
                format!("COMPLEX_TRIANGULATED_FACE('',#{id},{n_points},(),$,{pnindex},{strips},{fans})")
            }
        };
        faces.push(file.add(text));
    }
    file.add(format!("TESSELLATED_SOLID('mesh',{},$)", refs(&faces)))
}

fn listed(numbers: &[usize]) -> String {
    let list: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    format!("({})", list.join(","))
}

fn finished(mut file: File, items: &[u64], length: Length) -> String {
    let context = file.context(length, false);
    let rep = file.add(format!("TESSELLATED_SHAPE_REPRESENTATION('',{},#{context})", refs(items)));
    file.product("part", rep);
    file.text()
}

fn read(text: &str) -> Import {
    read_step_bytes("mesh.step", text.as_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn faces_of_all_forms_bound_the_polyhedron() {
    use Form::{Fans, Strips, Triangles};
    let forms: [&[Form]; 5] = [&[Triangles], &[Strips], &[Fans], &[Triangles, Strips, Fans], &[Strips, Fans]];
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(seed >> 33).unwrap()) / f64::from(1_u32 << 31)
    };
    for k in 0..60 {
        let size = [0; 3].map(|_| 1.0 + 9.0 * random());
        let n = 1 + k % 4;
        let bulge = if k % 3 == 0 { 0.0 } else { 0.2 * random() };
        let height = |u: f64, v: f64| bulge * 16.0 * u * (1.0 - u) * v * (1.0 - v);
        let grids = block(size, n, &height);
        // Volume and area of the triangles themselves.
        let (mut volume, mut area) = (0.0, 0.0);
        for of in &grids {
            for j in 0..n {
                for i in 0..n {
                    let p = |i: usize, j: usize| feeler_geom::P3::from(of.points[of.at(i, j) - 1]).coords;
                    let [a, b, c, d] = [p(i, j), p(i + 1, j), p(i + 1, j + 1), p(i, j + 1)];
                    let two = [[a, b, c], [a, c, d]];
                    for [x, y, z] in two {
                        volume += x.dot(&y.cross(&z)) / 6.0;
                        area += 0.5 * (y - x).cross(&(z - x)).norm();
                    }
                }
            }
        }
        let mut file = File::new();
        let solid = written(&mut file, &grids, forms[k % 5], k % 2 == 1, k % 7 < 3);
        let (length, mm) = if k % 6 == 5 { (Length::Inch, 25.4) } else { (Length::Millimetre, 1.0) };
        let import = read(&finished(file, &[solid], length));
        assert_eq!((import.solids.len(), import.instances.len()), (1, 1), "{k}");
        let warned = import.problems.iter().any(|p| p.message.contains("is a tessellated solid of"));
        assert!(warned, "{k}: {:?}", import.problems);
        let built = build_solid(&import.solids[0], &BuildOptions::default()).unwrap();
        assert!(
            (built.volume / (volume * mm * mm * mm) - 1.0).abs() < 1e-9,
            "{k}: {} {volume}",
            built.volume
        );
        assert!((built.area / (area * mm * mm) - 1.0).abs() < 1e-9, "{k}: {} {area}", built.area);
        assert!(bulge > 0.0 || (volume / (size[0] * size[1] * size[2]) - 1.0).abs() < 1e-9, "{k}: {volume}");
        let faces: Vec<u64> = import.solids[0].faces.iter().map(|f| f.id).collect();
        assert!(faces.iter().all(|f| *f < solid), "faces have the numbers of the file");
    }
}

#[test]
fn meshes_that_show_an_exact_solid_are_left_out() {
    // The mesh refers to the exact solid, or is in the same part.
    for linked in [true, false] {
        let mut file = File::new();
        let faces = file.block([0.0; 3], [2.0, 3.0, 4.0]);
        let exact = file.solid(&faces);
        let mesh = written(&mut file, &block([2.0, 3.0, 4.0], 2, &|_, _| 0.0), &[Form::Strips], false, true);
        let mut text = file.text();
        if linked {
            let at = text.rfind(",$);").unwrap();
            text.replace_range(at..at + 4, &format!(",#{exact});"));
        }
        let mut tail = File::new();
        for _ in 0..mesh {
            tail.add("X");
        }
        let context = tail.context(Length::Millimetre, false);
        let own = tail.shape(&[exact], context);
        let definition = tail.product("part", own);
        let shown = tail.add(format!("TESSELLATED_SHAPE_REPRESENTATION('',(#{mesh}),#{context})"));
        let of = tail.add(format!("PRODUCT_DEFINITION_SHAPE('','',#{definition})"));
        tail.add(format!("SHAPE_DEFINITION_REPRESENTATION(#{of},#{shown})"));
        let more = tail.text();
        let entities = more.lines().filter(|l| l.starts_with('#') && !l.ends_with("=X;"));
        let more: String = entities.map(|l| format!("{l}\n")).collect();
        let text = text.replace("ENDSEC;\nEND-ISO", &format!("{more}ENDSEC;\nEND-ISO"));
        let import = read(&text);
        assert_eq!((import.solids.len(), import.instances.len()), (1, 1), "{linked}");
        assert_eq!(import.solids[0].id, exact);
        let left_out = import.problems.iter().filter(|p| p.entity == Some(mesh)).count();
        assert_eq!(left_out, 1, "{:?}", import.problems);
    }
}

#[test]
fn open_and_faulty_meshes_are_refused_or_become_sheets() {
    let mut file = File::new();
    let mut grids = block([2.0, 3.0, 4.0], 2, &|_, _| 0.0);
    grids.pop();
    let solid = written(&mut file, &grids, &[Form::Fans], false, false);
    let text = finished(file, &[solid], Length::Millimetre);
    let refused = read_step_bytes("mesh.step", text.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains(&format!("#{solid} cannot be used: the side from")), "{refused}");
    let reading = Reading { open_shells: true, ..Reading::default() };
    let options = ReadOptions { resolve: &|_| None, reading };
    let sheet = read_step_with("mesh.step", text.as_bytes(), &options).unwrap();
    let built = build_solid(&sheet.solids[0], &BuildOptions::default()).unwrap();
    // Both sides of the five remaining faces.
    assert!((built.area - 2.0 * (52.0 - 12.0)).abs() < 1e-9, "{}", built.area);
    let broken = text.replacen("(1,2,5,4)", "(1,2,500,4)", 1);
    assert_ne!(broken, text, "the first fan");
    let refused = read_step_bytes("mesh.step", broken.as_bytes()).unwrap_err().to_string();
    assert!(refused.contains("refers to point 500 of its triangles"), "{refused}");
}
