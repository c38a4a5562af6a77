//! Closed forms of generated solids describe the same solids as the prepared hierarchies: volumes and
//! boundaries agree.

use feeler_geom::P3;
use feeler_tests::membership::Rays;
use feeler_tests::verdicts::generate::Case;
use feeler_tests::verdicts::{Model, Pool, boundary_points};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Up to three solids of each kind, by kind.
fn models() -> BTreeMap<String, Vec<Rc<Model>>> {
    let mut pool = Pool::default();
    let mut out: BTreeMap<String, Vec<Rc<Model>>> = BTreeMap::new();
    for i in 0..400 {
        let case = Case::new(i, &mut pool);
        for m in [case.a, case.b] {
            let name = format!("{:?}", m.spec);
            let kind = name.split(' ').next().unwrap_or_default().to_owned();
            let of_kind = out.entry(kind).or_default();
            if of_kind.len() < 3 && of_kind.iter().all(|o| o.spec != m.spec) {
                of_kind.push(m);
            }
        }
    }
    assert!(out.len() >= 36, "{:?}", out.keys());
    out
}

#[test]
fn forms_agree_with_their_solids() {
    let mut rng = SmallRng::seed_from_u64(3);
    for m in models().values().flatten() {
        let (form, info) = (&m.shape.form, &m.body.hierarchy().info);
        for p in boundary_points(m.body.hierarchy(), &mut rng) {
            let depth = form.depth(&p);
            assert!(depth.abs() < 1e-12 * m.size(), "{:?}: boundary point {p} has depth {depth:e}", m.spec);
        }
        // Stratified sampling: the error is at most 1 % of the box.
        let (low, high) = (info.bbox_min, info.bbox_max);
        let n = 40;
        let mut hits = 0;
        for i in 0..n * n * n {
            let cell = [i % n, i / n % n, i / n / n];
            let mut at = |k: usize| {
                let t = (f64::from(cell[k]) + rng.random_range(0.0..1.0)) / f64::from(n);
                low[k] + t * (high[k] - low[k])
            };
            hits += i32::from(form.depth(&P3::new(at(0), at(1), at(2))) > 0.0);
        }
        let whole: f64 = (0..3).map(|k| high[k] - low[k]).product();
        let volume = whole * f64::from(hits) / f64::from(n * n * n);
        assert!(
            (volume - info.volume).abs() < 0.01 * whole,
            "{:?}: volume {volume} instead of {}",
            m.spec,
            info.volume
        );
    }
}

/// The depth is 1-Lipschitz.
#[test]
fn depths_are_bounds() {
    let mut rng = SmallRng::seed_from_u64(4);
    for m in models().values().flatten() {
        let bounds = m.body.bounds().inflated(0.3 * m.size());
        let mut point =
            || P3::from(bounds.min.coords.zip_map(&bounds.max.coords, |a, b| rng.random_range(a..b)));
        for _ in 0..2000 {
            let (p, q) = (point(), point());
            let q = p + (q - p) * 0.1;
            let change = (m.shape.form.depth(&p) - m.shape.form.depth(&q)).abs();
            assert!(change <= (p - q).norm() * (1.0 + 1e-12), "{:?}: {p} {q}", m.spec);
        }
    }
}

/// Rays agree with the closed forms, and decide most points.
#[test]
fn rays_agree_with_forms() {
    let mut rng = SmallRng::seed_from_u64(5);
    let (mut decided, mut doubtful) = (0, 0);
    for m in models().values().flatten() {
        let rays = Rays::new(m.body.hierarchy());
        let bounds = m.body.bounds().inflated(0.1 * m.size());
        for _ in 0..60 {
            let p = P3::from(bounds.min.coords.zip_map(&bounds.max.coords, |a, b| rng.random_range(a..b)));
            let depth = m.shape.form.depth(&p);
            match rays.contains(&p) {
                Some(inside) => {
                    decided += 1;
                    assert_eq!(inside, depth > 0.0, "{:?}: depth {depth} at {p}", m.spec);
                }
                None => doubtful += i32::from(depth.abs() > 0.01 * m.size()),
            }
        }
    }
    assert!(doubtful * 50 < decided, "{doubtful} doubtful, {decided} decided");
}

/// Volumes of free-form solids from the share of points that rays classify as inside.
#[test]
fn rays_agree_with_volumes() {
    let mut rng = SmallRng::seed_from_u64(6);
    for name in ["box-nurbs", "cone-nurbs", "torus-nurbs", "sphere-nurbs", "wave", "loft", "swept"] {
        let part = feeler_tests::model(name);
        let solid = part.body.hierarchy();
        let rays = Rays::new(solid);
        let (low, high) = (solid.info.bbox_min, solid.info.bbox_max);
        let (mut inside, mut decided) = (0, 0);
        for _ in 0..2000 {
            let p = P3::from(nalgebra::Vector3::from_fn(|k, _| rng.random_range(low[k]..high[k])));
            if let Some(is) = rays.contains(&p) {
                decided += 1;
                inside += i32::from(is);
            }
        }
        let whole: f64 = (0..3).map(|k| high[k] - low[k]).product();
        let (share, expected) = (f64::from(inside) / f64::from(decided), solid.info.volume / whole);
        assert!(
            decided > 1800 && (share - expected).abs() < 0.05,
            "{name}: share {share} instead of {expected}, {decided} decided"
        );
    }
}
