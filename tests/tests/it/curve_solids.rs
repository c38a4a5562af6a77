//! Minima between deformable curves and solids, compared with the distances of densely sampled curves
//! ([`feeler_tests::curve_solids`]): random curves near the solids of `data`, and poses of the scenarios
//! of [`feeler_tests::curve_scenes`]. The benchmark program `curves` checks more poses.

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_curves::{Curve, CurveOptions, CurveSolidPair, Obstacle, P3};
use feeler_geom::{Pose, V3};
use feeler_hierarchy::Options;
use feeler_runtime::Body;
use feeler_tests::curve_scenes::CURVE_SCENES;
use feeler_tests::curve_solids::{Verdict, compare};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;

fn solid(file: &Path) -> Obstacle {
    let model = feeler_import::prepare_step(file).expect("a file of data");
    Obstacle::new(Arc::new(Body::from_model(&model, 0).expect("a solid")))
}

fn random_pose(rng: &mut SmallRng, shift: f64) -> Pose {
    let axis = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    let at = V3::from_fn(|_, _| rng.random_range(-shift..shift));
    Pose::new(at, axis * 3.0)
}

/// Control points of cubics with continuous derivative at joints.
fn random_curve(rng: &mut SmallRng, pieces: usize, extent: f64) -> Vec<P3> {
    let mut any = || V3::from_fn(|_, _| rng.random_range(-extent..extent));
    let points: Vec<V3> = (0..=pieces).map(|_| any()).collect();
    let slopes: Vec<V3> = (0..=pieces).map(|_| any()).collect();
    let mut out = vec![P3::from(points[0])];
    for i in 0..pieces {
        out.push((points[i] + slopes[i] / 3.0).into());
        out.push((points[i + 1] - slopes[i + 1] / 3.0).into());
        out.push(points[i + 1].into());
    }
    out
}

/// Asserts that all cases are right and returns the number of minima that agree.
fn agreed(verdicts: &[(String, Verdict)]) -> usize {
    let wrong: Vec<String> =
        verdicts.iter().filter(|(_, v)| !v.is_right()).map(|(name, v)| format!("{name}: {v:?}")).collect();
    assert!(wrong.is_empty(), "{} of {} cases\n{}", wrong.len(), verdicts.len(), wrong.join("\n"));
    verdicts.iter().map(|(_, v)| v.agreed).sum()
}

#[test]
fn random_curves_about_solids() {
    let names = [
        "box",
        "cylinder",
        "cone",
        "sphere",
        "torus",
        "bore",
        "ring",
        "spool",
        "plug",
        "socket",
        "half-cone",
        "loft",
        "swept",
        "wave",
        "torus-nurbs",
        "cone-nurbs",
        "bayonet-plug",
        "stepped-seat",
        "void",
        "inch-bracket",
    ];
    let compared = |(i, name): (usize, &&str)| {
        let solid = solid(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{name}.step")));
        let size = solid.body().size();
        let mut rng = SmallRng::seed_from_u64(7 + i as u64);
        let mut one = |k: usize| {
            let pose = random_pose(&mut rng, 0.5 * size);
            let points = random_curve(&mut rng, 1 + k % 3, 0.6 * size);
            let curve = Curve::new(3, &points, 0.02 * size, false).expect("a cubic");
            let options = CurveOptions { d_max: 0.2 * size, ..CurveOptions::default() };
            (format!("{name} {k}"), compare(&curve, &solid, &pose, &options))
        };
        (0..4).map(&mut one).collect::<Vec<_>>()
    };
    let verdicts: Vec<_> = names.par_iter().enumerate().flat_map(compared).collect();
    let n = agreed(&verdicts);
    assert!(n > 40, "{n}");
}

#[test]
fn poses_of_the_scenarios() {
    for scene in CURVE_SCENES {
        let Some(file) = scene.solid() else { continue };
        let solid = solid(&file);
        let bounds = *solid.body().bounds();
        let compared = |k: u32| {
            let points = scene.points(f64::from(k) / 8.0, &bounds.min, &bounds.max);
            let curve = Curve::new(3, &points, scene.radius(), scene.is_closed()).expect("a scenario");
            let options = CurveOptions { d_max: scene.d_max(), ..CurveOptions::default() };
            (format!("{} {k}", scene.name()), compare(&curve, &solid, &Pose::identity(), &options))
        };
        let verdicts: Vec<_> = (0..9).into_par_iter().map(compared).collect();
        let n = agreed(&verdicts);
        assert!(n > 9, "{}: {n}", scene.name());
    }
}

/// A block whose top is a ridge: a parabola of degree 2, extruded by 20 mm along y.
fn ridge() -> Obstacle {
    use truck_modeling::{Point3, Solid, Vector3, Wire, builder};
    let corner = |x: f64, z: f64| builder::vertex(Point3::new(x, 0.0, z));
    let [a, b, c, d] = [corner(-10.0, 0.0), corner(10.0, 0.0), corner(10.0, 5.0), corner(-10.0, 5.0)];
    let top = builder::bezier(&c, &d, vec![Point3::new(2.0, 0.0, 15.0)]);
    let wire = Wire::from(vec![builder::line(&a, &b), builder::line(&b, &c), top, builder::line(&d, &a)]);
    let face = builder::try_attach_plane(&[wire]).expect("a plane face");
    let solid: Solid = builder::tsweep(&face, Vector3::new(0.0, 20.0, 0.0));
    let source = feeler_brep::truck::solid_source("ridge", &solid).expect("a closed solid");
    let solid = build_solid(&source, &BuildOptions::default()).expect("a solid");
    let options = Options { flatness: feeler_import::DEFAULT_FLATNESS };
    let hierarchy = feeler_prepare::prepare_solid(&solid, &options).expect("a hierarchy");
    Obstacle::new(Arc::new(Body::new(hierarchy).expect("a body")))
}

#[test]
fn a_cable_along_a_ridge_is_one_set() {
    let solid = ridge();
    let bounds = *solid.body().bounds();
    // The parabola is highest where z' of its Bernstein form (5, 15, 5) vanishes: in its middle.
    let top = P3::new(1.0, 0.0, 10.0);
    assert!((bounds.max.z - top.z).abs() < 1e-9, "{bounds:?}");
    let at = |y: f64| P3::new(top.x, y, top.z + 0.8);
    // The cable runs from beyond one end to the middle, in four pieces.
    let points: Vec<P3> = (0..=12).map(|k| at(-5.0 + 17.0 * f64::from(k) / 12.0)).collect();
    let cable = Curve::new(3, &points, 0.5, false).expect("a cable");
    let options = CurveOptions { d_max: 0.5, ..CurveOptions::default() };
    let mut pair = CurveSolidPair::new();
    let found = pair.query(&cable, &solid, &Pose::identity(), &options);
    assert!(found.len() > 4 && found.iter().all(|m| (m.gap - 0.3).abs() < 1e-9), "{found:?}");
    let of_set = |m: &&feeler_curves::SolidMinimum| m.set == Some(0);
    let ys: Vec<f64> = found.iter().filter(of_set).map(|m| m.foot.y).collect();
    let (low, high) = (ys.iter().copied().fold(99.0, f64::min), ys.iter().copied().fold(-99.0, f64::max));
    // Feet within 1e-10 of the size beside the border of a patch count as on the patch.
    let slack = 2e-10 * solid.body().size();
    assert!(low.abs() < slack && (high - 12.0).abs() < slack, "{low} {high}");
    assert!(
        found.iter().all(|m| m.set == Some(0) || m.place == feeler_curves::CurveLocation::End),
        "{found:?}"
    );
}

#[test]
fn cables_that_run_into_a_concave_fillet() {
    // The cables run along the long leg towards the short one: level until the fillet begins, then nearer
    // to it.
    let solid = solid(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/inch-bracket.step"));
    let mut rng = SmallRng::seed_from_u64(29);
    let verdicts: Vec<_> = (0..40)
        .map(|k| {
            let (height, y) = (rng.random_range(0.3..3.5), rng.random_range(-3.0..24.0));
            let (from, to) = (rng.random_range(30.0..60.0), rng.random_range(6.5..14.0));
            let at = |t: f64| P3::new(from + t * (to - from), y, 6.35 + height);
            let points: Vec<P3> = (0..=6).map(|k| at(f64::from(k) / 6.0)).collect();
            let curve = Curve::new(3, &points, 0.2, false).expect("a cable");
            let options = CurveOptions { d_max: 4.0, ..CurveOptions::default() };
            (format!("{k}"), compare(&curve, &solid, &Pose::identity(), &options))
        })
        .collect();
    let n = agreed(&verdicts);
    assert!(n >= 40, "{n}");
}
