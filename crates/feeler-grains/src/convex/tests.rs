use super::*;
use feeler_convex::{
    DistanceOutcome, DistanceRequest, PenetrationOutcome, PenetrationRequest, Support, distance, penetration,
};
use feeler_geom::{P3, Pose, V3};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn grain(rng: &mut SmallRng, exponents: std::ops::Range<f64>) -> Grain {
    let mut semi = || V3::from_fn(|_, _| rng.random_range(0.3..1.5));
    let (plus, minus) = (semi(), semi());
    let e = [rng.random_range(exponents.clone()), rng.random_range(exponents)];
    Grain::new(plus, minus, e).expect("a grain")
}

fn direction(rng: &mut SmallRng) -> V3 {
    loop {
        let v = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if (0.01..1.0).contains(&v.norm_squared()) {
            return v.normalize();
        }
    }
}

fn pose(rng: &mut SmallRng, place: V3) -> Pose {
    let axis = direction(rng) * rng.random_range(0.0..3.0);
    Pose::from_parts(Translation3::from(place), UnitQuaternion::from_scaled_axis(axis))
}

#[test]
fn support_points_are_those_of_the_convex_crate() {
    let mut rng = SmallRng::seed_from_u64(1);
    for _ in 0..20_000 {
        let g = grain(&mut rng, 0.1..1.9);
        let n = direction(&mut rng);
        let s = g.support_derivative(&n);
        let known = g.shape().support(&n).point;
        assert!((s.point - known.coords).amax() < 1e-13, "{g:?} {n:?} {s:?}");
        assert!((s.height - known.coords.dot(&n)).abs() < 1e-14, "{g:?} {n:?} {s:?}");
    }
}

#[test]
fn second_derivatives_are_those_of_differences() {
    let mut rng = SmallRng::seed_from_u64(2);
    let h = 1e-5;
    let mut checked = 0;
    for _ in 0..20_000 {
        let g = grain(&mut rng, 0.3..1.7);
        let n = direction(&mut rng);
        if n.abs().min() < 0.02 {
            continue;
        }
        let placed = Placed::new(&g, &pose(&mut rng, V3::zeros())).expect("finite");
        let n = placed.rotation * n;
        let (_, bend) = placed.surface(&n);
        assert!((bend * n).amax() < 1e-12 * bend.amax().max(1.0), "{g:?} {n:?}");
        let t = direction(&mut rng).cross(&n);
        let ahead = placed.surface(&(n + t * h).normalize()).0;
        let behind = placed.surface(&(n - t * h).normalize()).0;
        let by_differences = (ahead - behind) / (2.0 * h);
        let off = (by_differences - bend * t).amax() / (bend.amax() + 0.01);
        assert!(off < 1e-4, "{off} {g:?} {n:?}\n{bend} {t:?}\n{by_differences}");
        checked += 1;
    }
    assert!(checked > 15_000, "{checked}");
}

/// Random grains apart or overlapping slightly.
fn near(rng: &mut SmallRng, exponents: std::ops::Range<f64>) -> ([Grain; 2], [Pose; 2]) {
    let grains = [grain(rng, exponents.clone()), grain(rng, exponents)];
    let first = direction(rng) * rng.random_range(0.0..5.0);
    let apart = direction(rng) * (rng.random_range(0.4..0.8) * (grains[0].radius() + grains[1].radius()));
    let poses = [pose(rng, first), pose(rng, first + apart)];
    (grains, poses)
}

#[test]
fn bounds_of_grains_apart_are_below_their_distances() {
    let mut rng = SmallRng::seed_from_u64(31);
    let (mut apart, mut share) = (0, 0.0);
    for _ in 0..20_000 {
        let (grains, poses) = near(&mut rng, 0.2..1.8);
        let [a, b] = [0, 1].map(|k| Placed::new(&grains[k], &poses[k]).expect("finite"));
        let reach = rng.random_range(-0.2..0.2);
        match (proximity(&a, &b, reach, None), contact(&a, &b, f64::INFINITY, None)) {
            (Proximity::Contact(one), Some(full)) => assert!((one.gap - full.gap).abs() < 1e-8, "{one:?}"),
            (Proximity::Apart(bound), Some(full)) => {
                assert!(reach < bound && bound <= full.gap + 1e-9, "{bound} {full:?}");
                if full.gap > 0.01 {
                    apart += 1;
                    share += bound / full.gap;
                }
            }
            (_, None) => panic!("grains have a distance"),
        }
    }
    assert!(apart > 5_000 && share > 0.5 * f64::from(apart), "{apart} {share}");
}

/// Gap computed by algorithms that share only the support points with `contact`.
fn reference_gap(a: &Placed<'_>, b: &Placed<'_>) -> f64 {
    let d = distance(a, b, &DistanceRequest::default());
    if d.outcome == DistanceOutcome::Separated {
        return d.distance;
    }
    let p = penetration(a, b, &PenetrationRequest::default());
    if p.outcome == PenetrationOutcome::Separated { d.distance } else { -p.depth }
}

#[test]
fn contacts_are_those_of_distance_and_penetration() {
    let mut rng = SmallRng::seed_from_u64(5);
    let (mut apart, mut fell_back) = (0, 0);
    for _ in 0..1500 {
        let (grains, poses) = near(&mut rng, 0.4..1.6);
        let thick = rng.random_bool(0.3);
        let grains = if thick { grains.map(|g| g.dilated(0.1).expect("thick")) } else { grains };
        let size = grains[0].radius() + grains[1].radius();
        let [a, b] = [0, 1].map(|i| Placed::new(&grains[i], &poses[i]).expect("finite"));
        let c = contact(&a, &b, f64::INFINITY, None).expect("no limit");
        let known = reference_gap(&a, &b);
        assert!((c.gap - known).abs() < 1e-9 * size, "{c:?} {known} {grains:?} {poses:?}");
        assert!(((c.point_b - c.point_a) - c.normal * c.gap).norm() < 1e-5 * size, "{c:?}");
        assert!((c.normal.norm() - 1.0).abs() < 1e-14);
        assert!((c.point.coords * 2.0 - c.point_a.coords - c.point_b.coords).norm() < 1e-12);
        apart += u32::from(c.gap > 0.0);
        fell_back += u32::from(c.fell_back);
        // The grains are exchanged.
        let s = contact(&b, &a, f64::INFINITY, None).expect("no limit");
        assert!((s.gap - c.gap).abs() < 1e-13 * size, "{c:?} {s:?}");
        if !c.fell_back {
            assert_eq!(s.gap.to_bits(), c.gap.to_bits());
            assert_eq!((s.normal, s.point, s.point_a), (-c.normal, c.point, c.point_b));
        }
        // The search starts from an arbitrary guess.
        let w = contact(&a, &b, f64::INFINITY, Some(direction(&mut rng))).expect("no limit");
        assert!((w.gap - c.gap).abs() < 1e-9 * size, "{c:?} {w:?}");
        // A smaller reach ends the search early.
        assert_eq!(contact(&a, &b, c.gap - 1e-9, None), None);
        assert!(contact(&a, &b, c.gap + 1e-9, None).is_some());
    }
    assert!((600..1400).contains(&apart) && fell_back < 300, "{apart} {fell_back}");
}

#[test]
fn balls_and_boxes_by_closed_forms() {
    let ball = |r: f64| Grain::superellipsoid(V3::repeat(r), [1.0, 1.0]).expect("a ball");
    let (a, b) = (ball(1.0), ball(2.0));
    let mut rng = SmallRng::seed_from_u64(7);
    for far in [0.0, 1e-9, 0.5, 2.9, 3.0, 3.1, 40.0] {
        let n = direction(&mut rng);
        let poses = [pose(&mut rng, V3::zeros()), pose(&mut rng, n * far)];
        let [pa, pb] = [Placed::new(&a, &poses[0]), Placed::new(&b, &poses[1])].map(|p| p.expect("finite"));
        let c = contact(&pa, &pb, f64::INFINITY, None).expect("no limit");
        assert!((c.gap - (far - 3.0)).abs() < 3e-15 * (far + 3.0), "{far} {c:?}");
        assert!(!c.fell_back && (far < 1e-3 || (c.normal - n).norm() < 1e-14), "{far} {c:?}");
    }
    // An ellipsoid beside a ball on its axis, layers on both.
    let long = Grain::superellipsoid(V3::new(3.0, 1.0, 1.0), [1.0, 1.0]).and_then(|g| g.dilated(0.25));
    let (long, thick) = (long.expect("a grain"), b.dilated(0.5).expect("a grain"));
    let at = Pose::translation(6.0, 0.0, 0.0);
    let [pa, pb] =
        [Placed::new(&long, &Pose::identity()), Placed::new(&thick, &at)].map(|p| p.expect("finite"));
    let c = contact(&pa, &pb, f64::INFINITY, None).expect("no limit");
    assert!((c.gap - 0.25).abs() < 1e-14 && (c.point - P3::new(3.375, 0.0, 0.0)).norm() < 1e-14, "{c:?}");
}

/// A local maximum of the gap that is not the best one is rejected: two plates, one through the other.
#[test]
fn a_shallow_direction_is_found_from_a_deep_one() {
    let plate = Grain::superellipsoid(V3::new(1.0, 1.0, 0.1), [0.6, 0.6]).expect("a plate");
    for plate in [plate, plate.dilated(0.05).expect("thicker"), plate.dilated(0.6).expect("thick")] {
        shallow_from(&plate);
    }
}

fn shallow_from(plate: &Grain) {
    let poses = [Pose::identity(), Pose::translation(0.3, 0.2, 0.05)];
    let [a, b] = [0, 1].map(|i| Placed::new(plate, &poses[i]).expect("finite"));
    let known = reference_gap(&a, &b);
    for guess in [V3::x(), -V3::x(), V3::y(), V3::z(), -V3::z(), V3::new(1.0, 1.0, 0.1)] {
        let c = contact(&a, &b, f64::INFINITY, Some(guess)).expect("no limit");
        assert!((c.gap - known).abs() < 1e-10 && c.normal.z > 0.9, "{guess:?}: {c:?}, not {known}");
    }
}

#[test]
fn balls_from_within_stay_inside() {
    let mut rng = SmallRng::seed_from_u64(8);
    let mut large = 0;
    for _ in 0..4000 {
        let g = grain(&mut rng, 0.1..1.9);
        let n = direction(&mut rng);
        let s = g.support_derivative(&n);
        let radius = g.ball_at(&s);
        let center = s.point - n * radius;
        large += u32::from(radius > 0.05);
        for _ in 0..200 {
            let m = direction(&mut rng);
            // Half of the samples are next to the point, where a violation would show first.
            let m = if rng.random_bool(0.5) { (n + m * 0.2).normalize() } else { m };
            let clearance = g.shape().support(&m).point.coords.dot(&m) - center.dot(&m);
            assert!(clearance >= radius - 1e-13, "{g:?} {n:?}: {radius} {clearance}");
        }
        assert!(radius >= g.min_curvature_radius() * (1.0 - 1e-12), "{g:?} {n:?}");
        assert!(
            (g.dilated(0.5).expect("thick").ball_at(&s) - radius).abs() < 1e-15,
            "layers are not counted"
        );
    }
    assert!(large > 1000, "{large}");
    let ellipsoid = Grain::superellipsoid(V3::new(1.0, 2.0, 3.0), [1.0, 1.0]).expect("a grain");
    assert!((ellipsoid.min_curvature_radius() - 1.0 / 3.0).abs() < 1e-15);
}

#[test]
fn dilation_reverts_erosion() {
    let mut rng = SmallRng::seed_from_u64(9);
    for _ in 0..200 {
        let g = grain(&mut rng, 0.4..1.0);
        let by = g.min_curvature_radius() * 0.99;
        assert!(by > 1e-3, "{by} {g:?}");
        let p = Placed::new(&g, &pose(&mut rng, V3::zeros())).expect("finite");
        let eroded = Eroded::new(p, by).expect("below the bound");
        let again = feeler_convex::Dilated::new(eroded, by).expect("a radius");
        let (grains, poses) = near(&mut rng, 0.4..1.6);
        let other = Placed::new(&grains[1], &poses[1]).expect("finite");
        let (x, y) = (
            distance(&p, &other, &DistanceRequest::default()),
            distance(&again, &other, &DistanceRequest::default()),
        );
        if x.outcome == DistanceOutcome::Separated {
            assert!((x.distance - y.distance).abs() < 1e-7, "{x:?} {y:?}");
        }
        // Support function: no support point is beyond the support plane of another direction.
        for _ in 0..100 {
            let (m, n) = (direction(&mut rng), direction(&mut rng));
            let (pm, pn) = (eroded.support(&m).point, eroded.support(&n).point);
            assert!((pn - pm).dot(&m) <= 1e-12, "{g:?} {m:?} {n:?}");
        }
        let message = Eroded::new(p, g.min_curvature_radius() * 1.01).expect_err("too deep").to_string();
        assert!(message.contains("erode by at most that"), "{message}");
    }
    let sharp = Grain::superellipsoid(V3::repeat(1.0), [1.2, 1.0]).expect("a grain");
    let p = Placed::new(&sharp, &Pose::identity()).expect("finite");
    assert!(
        Eroded::new(p, 1e-9).is_err() && Eroded::new(p, 0.0).is_ok() && Eroded::new(p, f64::NAN).is_err()
    );
    // An erosion can remove a layer.
    let thick = sharp.dilated(0.2).expect("thick");
    let p = Placed::new(&thick, &Pose::identity()).expect("finite");
    assert!((Eroded::new(p, 0.15).expect("within the layer").radius() - 0.05).abs() < 1e-15);
}

#[test]
fn invalid_grains_are_refused() {
    let message = |r: Result<Grain, crate::GrainError>| r.expect_err("refused").to_string();
    let ones = V3::repeat(1.0);
    assert!(message(Grain::new(ones, ones, [1.0, 1.95])).contains("ε2 is 1.95"));
    assert!(message(Grain::new(ones, ones, [f64::NAN, 1.0])).contains("ε1"));
    assert!(message(Grain::new(ones, V3::new(1.0, -1.0, 1.0), [1.0, 1.0])).contains("-y is -1 mm"));
    assert!(message(Grain::new(V3::new(1.0, 1.0, f64::INFINITY), ones, [1.0, 1.0])).contains("+z"));
    let g = Grain::new(ones, ones, [1.0, 1.0]).expect("a grain");
    assert!(message(g.dilated(-1.0)).contains("thickness is -1 mm") && g.dilated(f64::NAN).is_err());
    let nowhere = Pose::translation(f64::NAN, 0.0, 0.0);
    assert_eq!(Placed::new(&g, &nowhere).expect_err("nowhere"), crate::GrainError::Pose);
}

/// A small grain beside a large one, both far from the origin, has a contact of the same accuracy.
#[test]
fn small_grains_are_as_exact() {
    let mut rng = SmallRng::seed_from_u64(15);
    let far = V3::new(3e3, -2e3, 1e3);
    for _ in 0..500 {
        let large = grain(&mut rng, 0.5..1.5);
        let (plus, minus) = (large.positive * 0.02, large.negative * 0.02);
        let small = Grain::new(plus, minus, large.shape().exponents()).expect("a grain");
        let first = pose(&mut rng, far);
        // Beside the surface of the large one.
        let n = direction(&mut rng);
        let surface = Placed::new(&large, &first).expect("finite").surface(&n).0;
        let off = rng.random_range(-0.01..0.03);
        let second = pose(&mut rng, surface.coords + n * off);
        let (a, b) =
            (Placed::new(&large, &first).expect("finite"), Placed::new(&small, &second).expect("finite"));
        let c = contact(&a, &b, f64::INFINITY, None).expect("no limit");
        // The reference keeps its digits only near the origin.
        let back = Translation3::from(-far);
        let (first, second) = (back * first, back * second);
        let known = reference_gap(
            &Placed::new(&large, &first).expect("finite"),
            &Placed::new(&small, &second).expect("finite"),
        );
        assert!((c.gap - known).abs() < 1e-11, "{c:?} {known} {large:?}");
    }
}

/// Aligned axes, extreme exponents, thin and long grains, any scale: the gap is right or `uncertainty`
/// covers its error.
#[test]
fn degenerate_pairs() {
    let mut rng = SmallRng::seed_from_u64(16);
    let mut fell_back = 0;
    for round in 0..1500 {
        let scale = [1.0, 1e-6, 1e6][round % 3];
        let mut any = || {
            let mut semi = || V3::from_fn(|_, _| scale * [1.0, 0.1, 2.0, 1.0][rng.random_range(0..4)]);
            let (plus, other) = (semi(), semi());
            let minus = if rng.random_bool(0.5) { plus } else { other };
            let e = [0, 1].map(|_| [0.1, 1.0, 1.9, 0.5, 1.5][rng.random_range(0..5)]);
            Grain::new(plus, minus, e).expect("a grain")
        };
        let grains = [any(), any()];
        let size = grains[0].radius() + grains[1].radius();
        let part = [0.0, 0.0, 0.3, -0.5, 0.9];
        let place = V3::from_fn(|_, _| part[rng.random_range(0..5)] * size);
        let quarter = f64::from(rng.random_range(0..4_u8)) * std::f64::consts::FRAC_PI_2;
        let turn = UnitQuaternion::from_scaled_axis(V3::ith(rng.random_range(0..3), quarter));
        let poses = [Pose::identity(), Pose::from_parts(Translation3::from(place), turn)];
        let [a, b] = [0, 1].map(|i| Placed::new(&grains[i], &poses[i]).expect("finite"));
        let c = contact(&a, &b, f64::INFINITY, None).expect("no limit");
        let known = reference_gap(&a, &b);
        let off = (c.gap - known).abs();
        assert!(off <= 2e-8 * size + c.uncertainty, "{off} {c:?} {known} {grains:?} {poses:?}");
        assert!(c.point.iter().chain(c.normal.iter()).all(|x| x.is_finite()));
        let s = contact(&b, &a, f64::INFINITY, None).expect("no limit");
        assert!((c.gap - s.gap).abs() <= 1e-9 * size + c.uncertainty, "{c:?} {s:?}");
        if !c.fell_back {
            assert_eq!((c.gap.to_bits(), c.point), (s.gap.to_bits(), s.point), "{grains:?} {poses:?}");
        }
        fell_back += u32::from(c.fell_back);
    }
    assert!(fell_back < 900, "{fell_back}");
}
