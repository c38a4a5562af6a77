//! Versions of a solid that differ in how their faces are cut.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_assembly::{ComparisonTolerances, DifferenceKind, compare_models};
use feeler_geom::P3;
use feeler_hierarchy::Model;
use feeler_import::prepare_bytes;
use std::fmt::Write as _;

/// A prism over an outline, with its caps divided by lines from one corner to another.
fn prism(outline: &[[f64; 2]], height: f64, cuts: &[&[usize]]) -> String {
    let mut body = String::new();
    let mut last = 0;
    let mut add = |text: String| {
        last += 1;
        writeln!(body, "#{last}={text};").unwrap();
        last
    };
    let n = outline.len();
    let at = |k: usize| [outline[k % n][0], outline[k % n][1], if k < n { 0.0 } else { height }];
    let vertices: Vec<u64> = (0..2 * n)
        .map(|k| {
            let [x, y, z] = at(k);
            let p = add(format!("CARTESIAN_POINT('',({x:?},{y:?},{z:?}))"));
            add(format!("VERTEX_POINT('',#{p})"))
        })
        .collect();
    let mut edges: Vec<(usize, usize, u64)> = Vec::new();
    let mut faces = Vec::new();
    let mut rings: Vec<Vec<usize>> = (0..n).map(|k| vec![k, (k + 1) % n, n + (k + 1) % n, n + k]).collect();
    for cap in cuts {
        rings.push(cap.iter().rev().copied().collect());
        rings.push(cap.iter().map(|k| n + k).collect());
    }
    for ring in rings {
        let mut uses = Vec::new();
        for i in 0..ring.len() {
            let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
            let known = edges.iter().find(|e| (e.0, e.1) == (a, b) || (e.1, e.0) == (a, b)).copied();
            let (from, _, edge) = known.unwrap_or_else(|| {
                let (p, q) = (at(a), at(b));
                let o = add(format!("CARTESIAN_POINT('',({:?},{:?},{:?}))", p[0], p[1], p[2]));
                let d = add(format!("DIRECTION('',({:?},{:?},{:?}))", q[0] - p[0], q[1] - p[1], q[2] - p[2]));
                let v = add(format!("VECTOR('',#{d},1.)"));
                let line = add(format!("LINE('',#{o},#{v})"));
                let edge = add(format!("EDGE_CURVE('',#{},#{},#{line},.T.)", vertices[a], vertices[b]));
                edges.push((a, b, edge));
                (a, b, edge)
            });
            uses.push(add(format!("ORIENTED_EDGE('',*,*,#{edge},.{}.)", if from == a { "T" } else { "F" })));
        }
        let list: Vec<String> = uses.iter().map(|u| format!("#{u}")).collect();
        let l = add(format!("EDGE_LOOP('',({}))", list.join(",")));
        let bound = add(format!("FACE_OUTER_BOUND('',#{l},.T.)"));
        let [p, q, r] = [ring[0], ring[1], ring[2]].map(|k| P3::from(at(k)));
        let normal = (q - p).cross(&(r - q)).normalize();
        let o = add(format!("CARTESIAN_POINT('',({:?},{:?},{:?}))", p.x, p.y, p.z));
        let z = add(format!("DIRECTION('',({:?},{:?},{:?}))", normal.x, normal.y, normal.z));
        let frame = add(format!("AXIS2_PLACEMENT_3D('',#{o},#{z},$)"));
        let plane = add(format!("PLANE('',#{frame})"));
        faces.push(add(format!("ADVANCED_FACE('',(#{bound}),#{plane},.T.)")));
    }
    let list: Vec<String> = faces.iter().map(|u| format!("#{u}")).collect();
    let shell = add(format!("CLOSED_SHELL('',({}))", list.join(",")));
    add(format!("MANIFOLD_SOLID_BREP('part',#{shell})"));
    format!(
        "ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION((''),'2;1');\nFILE_NAME('','',(''),(''),'','','');\n\
         FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));\nENDSEC;\nDATA;\n{body}ENDSEC;\nEND-ISO-10303-21;\n"
    )
}

fn model(text: &str) -> Model {
    prepare_bytes("part.step", text.as_bytes()).unwrap()
}

const OUTLINE: [[f64; 2]; 6] = [[0.0, 0.0], [4.0, 0.0], [5.0, 2.0], [4.0, 4.0], [0.0, 4.0], [-1.0, 2.0]];

#[test]
fn faces_that_are_cut_differently_are_no_difference() {
    let whole = model(&prism(&OUTLINE, 3.0, &[&[0, 1, 2, 3, 4, 5]]));
    let cuts: [&[&[usize]]; 3] = [
        &[&[0, 1, 2, 3], &[0, 3, 4, 5]],
        &[&[5, 0, 1, 2], &[2, 3, 4, 5]],
        &[&[0, 1, 2], &[0, 2, 4, 5], &[2, 3, 4]],
    ];
    let tolerances = ComparisonTolerances::default();
    for (k, cut) in cuts.iter().enumerate() {
        let other = model(&prism(&OUTLINE, 3.0, cut));
        assert!(other.solids[0].info.source_counts[0] > whole.solids[0].info.source_counts[0]);
        for (a, b) in [(&whole, &other), (&other, &whole)] {
            let found = compare_models(a, b, &tolerances);
            assert!(found.differences.is_empty(), "{k}: {:?}", found.differences);
            assert_eq!(found.parts.same, 1);
        }
        // A real change is found all the same.
        let mut outline = OUTLINE;
        outline[2][0] += 1e-3;
        let changed = model(&prism(&outline, 3.0, cut));
        let found = compare_models(&whole, &changed, &tolerances);
        assert!(found.differences.iter().any(|d| d.kind == DifferenceKind::Face), "{k}");
        assert_eq!(found.parts.changed, 1);
    }
}
