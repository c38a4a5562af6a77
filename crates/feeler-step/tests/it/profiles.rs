//! Tests of conics revolved about an axis that they cross: one half of the profile is the surface.

use std::f64::consts::PI;

use crate::writer::{File, Length};
use feeler_brep::Solid;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_step::{Import, read_step_bytes};

fn import(file: &File) -> Import {
    read_step_bytes("small.step", file.text().as_bytes()).expect("a STEP file")
}

fn built(file: &File) -> Solid {
    build_solid(&import(file).solids[0], &BuildOptions::default()).expect("a solid")
}

fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-7 * b.abs(), "{a} instead of {b}");
}

/// Adds the surface of a conic revolved about the z axis and returns its id.
fn turned(f: &mut File, conic: &str) -> u64 {
    let (o, z) = (f.point([0., 0., -7.]), f.direction([0., 0., 1.]));
    let axis = f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"));
    let profile = f.add(conic);
    f.add(format!("SURFACE_OF_REVOLUTION('',#{profile},#{axis})"))
}

/// Adds the solid below a disc of radius `r` at height `z`, bounded by `surface`; with `v` the edge has
/// a pcurve on the surface.
fn below(f: &mut File, surface: u64, sense: bool, r: f64, z: f64, v: Option<f64>) {
    let corner = f.vertex([0., r, z]);
    let frame = f.placement([0., 0., z], [0., 0., 1.], Some([1., 0., 0.]));
    let mut circle = f.add(format!("CIRCLE('',#{frame},{r:?})"));
    if let Some(v) = v {
        let p = f.add(format!("CARTESIAN_POINT('',(0.,{v:?}))"));
        let d = f.add("DIRECTION('',(1.,0.))");
        let vector = f.add(format!("VECTOR('',#{d},1.)"));
        let line = f.add(format!("LINE('',#{p},#{vector})"));
        let context = f.add("GEOMETRIC_REPRESENTATION_CONTEXT('','',2)");
        let holder = f.add(format!("DEFINITIONAL_REPRESENTATION('',(#{line}),#{context})"));
        let pcurve = f.add(format!("PCURVE('',#{surface},#{holder})"));
        circle = f.add(format!("SURFACE_CURVE('',#{circle},(#{pcurve}),.CURVE_3D.)"));
    }
    let ring = f.edge(corner, corner, circle);
    let (under, over) = (f.edge_loop(&[(ring, false)]), f.edge_loop(&[(ring, true)]));
    let plane = f.add(format!("PLANE('',#{frame})"));
    let faces = [f.face(&[under], surface, sense), f.face(&[over], plane, true)];
    let solid = f.solid(&faces);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
}

/// A whole ellipse is revolved about either of its axes, starting on either side: half of it is the
/// ellipsoid.
#[test]
fn whole_ellipsoids() {
    for (x, y_turned, radius, height) in [
        ([1., 0., 0.], false, 10.0, 6.0),
        ([-1., 0., 0.], true, 10.0, 6.0),
        ([0., 0., 1.], true, 6.0, 10.0),
        ([0., 0., -1.], false, 6.0, 10.0),
    ] {
        for sense in [true, false] {
            let mut f = File::new();
            let y = if y_turned { 1. } else { -1. };
            let frame = f.placement([0., 0., 0.], [0., y, 0.], Some(x));
            let surface = turned(&mut f, &format!("ELLIPSE('',#{frame},10.,6.)"));
            let pole = f.vertex([0., 0., height]);
            let bound = f.add(format!("VERTEX_LOOP('',#{pole})"));
            let face = f.face(&[bound], surface, sense);
            let solid = f.solid(&[face]);
            let context = f.context(Length::Millimetre, false);
            f.shape(&[solid], context);
            let solid = built(&f);
            assert_near(solid.volume, 4.0 / 3.0 * PI * radius * radius * height);
            assert!((solid.bounds.max.z - height).abs() < 0.3, "{:?}", solid.bounds);
        }
    }
}

/// The part of an ellipsoid below a plane. The half of the profile determines the outside, and so the
/// side of its edge on which the face lies. It follows from the pcurve of the file, or else from the
/// volume.
#[test]
fn cut_ellipsoids() {
    let volume = PI * 100.0 * ((2.0 - 8.0 / 108.0) + (6.0 - 216.0 / 108.0));
    let (r, v) = (100.0_f64 * (1.0 - 4.0 / 36.0), feeler_geom::math::asin(1.0 / 3.0));
    // On the half on the side of x the normal of the profile points outside, on the other half inside.
    for (sense, v) in [(true, Some(v)), (false, Some(PI - v)), (true, None), (false, None)] {
        let mut f = File::new();
        let frame = f.placement([0., 0., 0.], [0., -1., 0.], Some([1., 0., 0.]));
        let surface = turned(&mut f, &format!("ELLIPSE('',#{frame},10.,6.)"));
        below(&mut f, surface, sense, r.sqrt(), 2.0, v);
        let source = import(&f);
        assert_eq!(source.solids[0].faces[0].either_way, v.is_none(), "the pcurve determines the half");
        let solid = built(&f);
        assert_near(solid.volume, volume);
        assert_eq!(solid.remarks.len(), usize::from(v.is_none() && !sense), "{:?}", solid.remarks);
    }
}

/// The solids of `z = x²/8 − 1` and of a branch of `(z + 5)²/25 − x²/16 = 1`, up to a plane.
#[test]
fn paraboloids_and_hyperboloids() {
    let cup = PI * 18.0 * 4.5;
    let bowl = PI * 16.0 * ((9.0 * 9.0 * 9.0 - 125.0) / 75.0 - 4.0);
    for (conic, r, z, volume) in [
        ("PARABOLA('',#F,2.)", 6.0, 3.5, cup),
        ("HYPERBOLA('',#F,5.,4.)", 4.0 * 56_f64.sqrt() / 5.0, 4.0, bowl),
    ] {
        let origin = if conic.starts_with('P') { [0., 0., -1.] } else { [0., 0., -5.] };
        for (y, sense) in [(-1., true), (-1., false), (1., true), (1., false)] {
            let mut f = File::new();
            let frame = f.placement(origin, [0., y, 0.], Some([0., 0., 1.]));
            let surface = turned(&mut f, &conic.replace("#F", &format!("#{frame}")));
            below(&mut f, surface, sense, r, z, None);
            assert_near(built(&f).volume, volume);
        }
    }
}

/// Revolved conics of another modeller with holes, cups and dished ends, if the files are available.
#[test]
fn turned_conics_of_another_modeller() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/wrong");
    let Ok(cases) = std::fs::read(folder.join("cases.json")) else { return };
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&cases).unwrap();
    for case in cases.iter().filter(|c| c["kind"] == "volume") {
        let import = feeler_step::read_step(&folder.join(case["a"].as_str().unwrap())).unwrap();
        let build = |s| build_solid(s, &BuildOptions::default()).unwrap().volume;
        let volume: f64 = import.solids.iter().map(build).sum();
        let right = case["volume_mm3"].as_f64().unwrap();
        assert!((volume - right).abs() <= 1e-6 * right, "{case}: {volume}");
    }
}

/// The zone of a ball of radius 10 between two heights. Its side is a whole circle revolved about its
/// own diameter. The circle begins on the side of the axis given by the sign of `x`, and rises there.
/// With `has_seam`, a seam is at `y = 0`, `x > 0`.
fn zone(x: f64, has_seam: bool, sense: bool, (a, b): (f64, f64)) -> File {
    let mut f = File::new();
    let frame = f.placement([0., 0., 0.], [0., -x, 0.], Some([x, 0., 0.]));
    let surface = turned(&mut f, &format!("CIRCLE('',#{frame},10.)"));
    let rim = |f: &mut File, z: f64| {
        let r = (100.0 - z * z).sqrt();
        let v = f.vertex([r, 0., z]);
        let frame = f.placement([0., 0., z], [0., 0., 1.], Some([1., 0., 0.]));
        let circle = f.add(format!("CIRCLE('',#{frame},{r:?})"));
        (v, f.edge(v, v, circle))
    };
    let ((v0, low), (v1, high)) = (rim(&mut f, a), rim(&mut f, b));
    let loops = if has_seam {
        let frame = f.placement([0., 0., 0.], [0., -1., 0.], Some([1., 0., 0.]));
        let circle = f.add(format!("CIRCLE('',#{frame},10.)"));
        let seam = f.edge(v0, v1, circle);
        vec![f.edge_loop(&[(low, true), (seam, true), (high, false), (seam, false)])]
    } else {
        vec![f.edge_loop(&[(low, true)]), f.edge_loop(&[(high, false)])]
    };
    let side = f.face(&loops, surface, sense);
    let disc = |f: &mut File, edge: u64, forward: bool, z: f64, up: f64| {
        let l = f.edge_loop(&[(edge, forward)]);
        let frame = f.placement([0., 0., z], [0., 0., up], None);
        let plane = f.add(format!("PLANE('',#{frame})"));
        f.face(&[l], plane, true)
    };
    let (bottom, top) = (disc(&mut f, low, false, a, -1.), disc(&mut f, high, true, b, 1.));
    let solid = f.solid(&[side, bottom, top]);
    let context = f.context(Length::Millimetre, false);
    f.shape(&[solid], context);
    f
}

/// A seam selects the half of the circle on its side. Without a seam, the complement would be two caps, which
/// are not connected. The volume is not evidence in either case: it is positive for the complement too.
#[test]
fn zones_of_balls() {
    for (a, b) in [(-3.0_f64, 4.0_f64), (-9.5, 9.0), (6.0, 9.9)] {
        let volume = PI * (100.0 * (b - a) - (b * b * b - a * a * a) / 3.0);
        for (x, has_seam, sense) in
            [(1., true, true), (-1., true, false), (1., false, true), (-1., false, false), (1., false, false)]
        {
            let solid = built(&zone(x, has_seam, sense, (a, b)));
            assert_near(solid.volume, volume);
            let is_warned = !has_seam && !sense;
            assert_eq!(solid.remarks.len(), usize::from(is_warned), "{:?}", solid.remarks);
            let says = |what| solid.remarks.iter().all(|r| r.message.contains(what));
            assert!(says("with the other one the face would be 2 separate regions"), "{:?}", solid.remarks);
        }
        // The senses in the file are wrong: its seam lies beyond the rims of the zone.
        let solid = built(&zone(1., true, false, (a, b)));
        assert_near(solid.volume, volume);
        assert!(solid.remarks[0].message.contains("its seam #"), "{:?}", solid.remarks);
    }
}

/// Balls cut by a plane, like the ellipsoids above: the parametric curve of the file selects the half;
/// without one, the volume does.
#[test]
fn cut_balls() {
    let volume = PI * (100.0 * 12.0 - (8.0 + 1000.0) / 3.0);
    let v = feeler_geom::math::asin(0.2);
    for (sense, v) in [(true, Some(v)), (false, Some(PI - v)), (true, None), (false, None)] {
        let mut f = File::new();
        let frame = f.placement([0., 0., 0.], [0., -1., 0.], Some([1., 0., 0.]));
        let surface = turned(&mut f, &format!("CIRCLE('',#{frame},10.)"));
        below(&mut f, surface, sense, 96.0_f64.sqrt(), 2.0, v);
        assert_eq!(import(&f).solids[0].faces[0].either_way, v.is_none(), "only a parametric curve decides");
        let solid = built(&f);
        assert_near(solid.volume, volume);
        assert_eq!(solid.remarks.len(), usize::from(v.is_none() && !sense), "{:?}", solid.remarks);
    }
}

/// A cylinder with a dimple or a dome in its top: the file distinguishes the two neither by a seam nor
/// by parameters, and both are solids. It is read with a warning that gives both volumes.
#[test]
fn a_dimple_may_be_a_dome() {
    for sense in [true, false] {
        let mut f = File::new();
        let ring = |f: &mut File, r: f64, z: f64| {
            let v = f.vertex([r, 0., z]);
            let frame = f.placement([0., 0., z], [0., 0., 1.], Some([1., 0., 0.]));
            let circle = f.add(format!("CIRCLE('',#{frame},{r:?})"));
            f.edge(v, v, circle)
        };
        let (low, high, hole) = (ring(&mut f, 20., -30.), ring(&mut f, 20., 0.), ring(&mut f, 8., 0.));
        let plane = |f: &mut File, z: f64, up: f64| {
            let frame = f.placement([0., 0., z], [0., 0., up], None);
            f.add(format!("PLANE('',#{frame})"))
        };
        let (bottom, top) = (plane(&mut f, -30., -1.), plane(&mut f, 0., 1.));
        let frame = f.placement([0., 0., 0.], [0., 0., 1.], None);
        let side = f.add(format!("CYLINDRICAL_SURFACE('',#{frame},20.)"));
        // The centre is 6 above the top.
        let frame = f.placement([0., 0., 6.], [0., -1., 0.], Some([1., 0., 0.]));
        let ball = turned(&mut f, &format!("CIRCLE('',#{frame},10.)"));
        let loops: Vec<u64> =
            [(low, false), (high, true), (hole, false), (low, true), (high, false), (hole, true)]
                .into_iter()
                .map(|edge| f.edge_loop(&[edge]))
                .collect();
        let faces = [
            f.face(&loops[..1], bottom, true),
            f.face(&loops[1..3], top, true),
            f.face(&loops[3..5], side, true),
            f.face(&loops[5..], ball, sense),
        ];
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        let solid = built(&f);
        let (whole, cap) = (PI * 400.0 * 30.0, PI * 16.0 * (30.0 - 4.0) / 3.0);
        let ball = 4.0 / 3.0 * PI * 1000.0;
        let (dimple, dome) = (whole - cap, whole + ball - cap);
        assert_near(solid.volume, if sense { dome } else { dimple });
        let [remark] = &solid.remarks[..] else { panic!("{:?}", solid.remarks) };
        for volume in [dimple, dome] {
            assert!(remark.message.contains(&format!("{volume:.6} mm³")), "{remark}");
        }
    }
}

/// A circle revolved about a line that intersects it: an apple and a lemon. A trimmed profile selects one of
/// them; the whole circle without edges is ambiguous.
#[test]
fn apples_and_lemons() {
    for (name, t0, t1) in [("apple", -2.0, 2.0), ("lemon", -1.0, 1.0)] {
        // The centre is 10 cos t1 off the axis; the profile is on the side of x.
        let (c, h) = (-10.0 * feeler_geom::math::cos(t1), 10.0 * feeler_geom::math::sin(t1));
        let write = |trimmed: bool| {
            let mut f = File::new();
            let frame = f.placement([c, 0., 0.], [0., -1., 0.], Some([1., 0., 0.]));
            let mut profile = f.add(format!("CIRCLE('',#{frame},10.)"));
            if trimmed {
                let [from, to] = [t0, t1].map(|t: f64| format!("(PARAMETER_VALUE({t:?}))"));
                profile = f.add(format!("TRIMMED_CURVE('',#{profile},{from},{to},.T.,.PARAMETER.)"));
            }
            let (o, z) = (f.point([0., 0., -7.]), f.direction([0., 0., 1.]));
            let axis = f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"));
            let surface = f.add(format!("SURFACE_OF_REVOLUTION('',#{profile},#{axis})"));
            let tip = f.vertex([0., 0., h]);
            let bound = f.add(format!("VERTEX_LOOP('',#{tip})"));
            let face = f.face(&[bound], surface, true);
            let solid = f.solid(&[face]);
            let context = f.context(Length::Millimetre, false);
            f.shape(&[solid], context);
            f
        };
        let r = |t: f64| c + 10.0 * feeler_geom::math::cos(t);
        let n = 20_000;
        let step = (t1 - t0) / f64::from(n);
        // The midpoint rule is enough for a closed form of this length.
        let volume: f64 = (0..n)
            .map(|k| t0 + step * (f64::from(k) + 0.5))
            .map(|t| PI * r(t) * r(t) * 10.0 * feeler_geom::math::cos(t) * step)
            .sum();
        let solid = built(&write(true));
        assert!(
            (solid.volume - volume).abs() <= 1e-6 * volume,
            "{name}: {} instead of {volume}",
            solid.volume
        );
        let refused = read_step_bytes("small.step", write(false).text().as_bytes()).unwrap_err().to_string();
        assert!(refused.contains("ambiguous") && refused.contains("trimmed profile"), "{refused}");
    }
}

/// Planes as lines turned about the axis: the two halves of a line have opposite normals. The line
/// begins on the half with the face.
#[test]
fn lines_across_the_axis() {
    for (at, along) in [(3.0, 1.0), (3.0, -1.0), (-3.0, 1.0), (-3.0, -1.0)] {
        let mut f = File::new();
        let p = f.line([at, 0., 0.], [along, 0., 0.]);
        let (o, z) = (f.point([0., 0., 5.]), f.direction([0., 0., 1.]));
        let axis = f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"));
        let plane = f.add(format!("SURFACE_OF_REVOLUTION('',#{p},#{axis})"));
        let v = f.vertex([10., 0., 0.]);
        let frame = f.placement([0., 0., 0.], [0., 0., 1.], Some([1., 0., 0.]));
        let circle = f.add(format!("CIRCLE('',#{frame},10.)"));
        let rim = f.edge(v, v, circle);
        let (under, over) = (f.edge_loop(&[(rim, false)]), f.edge_loop(&[(rim, true)]));
        let ball = f.add(format!("SPHERICAL_SURFACE('',#{frame},10.)"));
        // (z × x) × x is down.
        let down = (at > 0.0) == (along > 0.0);
        let faces = [f.face(&[under], plane, down), f.face(&[over], ball, true)];
        let solid = f.solid(&faces);
        let context = f.context(Length::Millimetre, false);
        f.shape(&[solid], context);
        let solid = built(&f);
        assert_near(solid.volume, 2.0 / 3.0 * PI * 1000.0);
        assert_eq!(solid.remarks, [], "{at} {along}");
    }
}
