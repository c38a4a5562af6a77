//! Minima between deformable curves and solids beside the distances of densely sampled curves
//! ([`feeler_tests::curve_solids`]): random curves about the solids of `data`, and poses of the scenarios of
//! [`feeler_tests::curve_scenes`]. The campaign `curves` of the benches judges more poses.

use feeler_curves::{Curve, CurveOptions, Obstacle, P3};
use feeler_geom::{Pose, V3};
use feeler_runtime::Body;
use feeler_tests::curve_scenes::CURVE_SCENES;
use feeler_tests::curve_solids::{Verdict, judge};
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

/// Control points of cubics with a direction that goes on at joints.
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

/// All are right; how many minima agreed.
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
    let judged = |(i, name): (usize, &&str)| {
        let solid = solid(&Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../data/{name}.step")));
        let size = solid.body().size();
        let mut rng = SmallRng::seed_from_u64(7 + i as u64);
        let mut one = |k: usize| {
            let pose = random_pose(&mut rng, 0.5 * size);
            let points = random_curve(&mut rng, 1 + k % 3, 0.6 * size);
            let curve = Curve::new(3, &points, 0.02 * size, false).expect("a cubic");
            let options = CurveOptions { d_max: 0.2 * size, ..CurveOptions::default() };
            (format!("{name} {k}"), judge(&curve, &solid, &pose, &options))
        };
        (0..4).map(&mut one).collect::<Vec<_>>()
    };
    let verdicts: Vec<_> = names.par_iter().enumerate().flat_map(judged).collect();
    let n = agreed(&verdicts);
    assert!(n > 40, "{n}");
}

#[test]
fn poses_of_the_scenarios() {
    for scene in CURVE_SCENES {
        let Some(file) = scene.solid() else { continue };
        let solid = solid(&file);
        let bounds = *solid.body().bounds();
        let judged = |k: u32| {
            let points = scene.points(f64::from(k) / 8.0, &bounds.min, &bounds.max);
            let curve = Curve::new(3, &points, scene.radius(), scene.is_closed()).expect("a scenario");
            let options = CurveOptions { d_max: scene.d_max(), ..CurveOptions::default() };
            (format!("{} {k}", scene.name()), judge(&curve, &solid, &Pose::identity(), &options))
        };
        let verdicts: Vec<_> = (0..9).into_par_iter().map(judged).collect();
        let n = agreed(&verdicts);
        assert!(n > 9, "{}: {n}", scene.name());
    }
}
