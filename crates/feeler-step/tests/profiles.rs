//! Tests of conics revolved about an axis that they cross: one half of the profile is the surface.

mod writer;

use std::f64::consts::PI;

use feeler_brep::Solid;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_step::{Import, read_step_bytes};
use writer::{File, Length};

fn import(file: &File) -> Import {
    read_step_bytes("small.step", file.text().as_bytes()).expect("a STEP file")
}

fn built(file: &File) -> Solid {
    build_solid(&import(file).solids[0], &BuildOptions::default()).expect("a solid")
}

fn assert_near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-7 * b.abs(), "{a} instead of {b}");
}

/// Adds the conic revolved about the z axis.
fn turned(f: &mut File, conic: &str) -> u64 {
    let (o, z) = (f.point([0., 0., -7.]), f.direction([0., 0., 1.]));
    let axis = f.add(format!("AXIS1_PLACEMENT('',#{o},#{z})"));
    let profile = f.add(conic);
    f.add(format!("SURFACE_OF_REVOLUTION('',#{profile},#{axis})"))
}

/// Adds the solid below a disc at height `z`; with `v` the edge has a pcurve on the surface.
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
