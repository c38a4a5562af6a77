use super::*;
use crate::reference::Drop;
use crate::reference::cases::CaseRandom;
use crate::support::{Ball, Cuboid, Segment};

/// Returns all pairs of bodies that are at most `limit` apart, with their distances, from the distances
/// of all pairs with near bounding balls.
fn near_pairs(drop: &Drop, limit: f64) -> Vec<((u32, u32), f64)> {
    let mut out = Vec::new();
    let n = drop.shapes.len();
    for i in 0..n {
        for j in i + 1..n {
            let (p, q) = (&drop.poses[i], &drop.poses[j]);
            let centers = (q.translation.vector - p.translation.vector).norm();
            if centers - drop.radii[i] - drop.radii[j] > limit {
                continue;
            }
            let (a, b) = (Moved::new(&drop.shapes[i], p).unwrap(), Moved::new(&drop.shapes[j], q).unwrap());
            let d = distance(&a, &b, &DistanceRequest::default()).distance;
            if d <= limit {
                out.push(((u32::try_from(i).unwrap(), u32::try_from(j).unwrap()), d));
            }
        }
    }
    out
}

/// Drops `n` grains and checks every step. Returns the number of computed distances, divided by the
/// number of steps and of pairs of bodies.
fn drop_and_check(n: usize, steps: u32, dt: f64, request: BroadPhaseRequest) -> f64 {
    let mut drop = Drop::new(71, n);
    let mut broad = BroadPhase::new(drop.shapes.clone(), request).unwrap();
    let mut n_near = 0;
    for step in 0..steps {
        let near = broad.step(&drop.poses).unwrap();
        assert!(near.windows(2).all(|w| w[0] < w[1]), "pairs must ascend without duplicates");
        let limit = request.d_max + request.margin;
        let all = near_pairs(&drop, limit * 1.001 + 1e-9);
        for (pair, d) in &all {
            assert!(*d > request.d_max || near.binary_search(pair).is_ok(), "{step}: {pair:?} missed at {d}");
        }
        for pair in near {
            assert!(all.iter().any(|(p, _)| p == pair), "{step}: {pair:?} is not near");
        }
        n_near += all.iter().filter(|(_, d)| *d <= request.d_max).count();
        drop.step(dt);
    }
    assert!(n_near > 0, "{n}: no pair came near");
    let counts = broad.counts();
    assert_eq!(counts.steps, u64::from(steps), "steps");
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let share = counts.distances as f64 / (f64::from(steps) * (n * (n - 1) / 2) as f64);
    share
}

/// DIST §4.4: fewer than 5 % of the distances are computed, and no near pair is missed.
#[test]
fn falling_grains() {
    let request = BroadPhaseRequest { d_max: 0.02, margin: 0.05 };
    for (n, steps, dt) in [(3, 3000, 1e-3), (100, 400, 2e-3), (1000, 60, 2e-2)] {
        let share = drop_and_check(n, steps, dt, request);
        assert!(share < 0.05, "{n} grains: {share}");
    }
    // Without a margin, and with steps as long as a grain.
    drop_and_check(60, 60, 0.1, BroadPhaseRequest { d_max: 0.3, margin: 0.0 });
    drop_and_check(60, 60, 0.02, BroadPhaseRequest { d_max: 0.0, margin: 0.0 });
}

/// A long rod far from its neighbour's centre: its end comes near by rotation alone.
#[test]
fn turning_counts_as_moving() {
    let rod = Segment::new([P3::new(-5.0, 0.0, 0.0), P3::new(5.0, 0.0, 0.0)]).unwrap();
    let ball = Ball::new(P3::new(0.0, 5.0, 0.0), 0.5).unwrap();
    let shapes: Vec<Box<dyn Support>> = vec![Box::new(rod), Box::new(ball)];
    let shapes: Vec<&dyn Support> = shapes.iter().map(|s| &**s).collect();
    let mut broad = BroadPhase::new(shapes, BroadPhaseRequest { d_max: 0.1, margin: 0.0 }).unwrap();
    let mut seen = 0;
    for k in 0..400 {
        let angle = f64::from(k) * 0.01;
        let poses = [Pose::rotation(V3::z() * angle), Pose::identity()];
        let exact =
            distance(&Moved::new(rod, &poses[0]).unwrap(), &ball, &DistanceRequest::default()).distance;
        let near = !broad.step(&poses).unwrap().is_empty();
        assert_eq!(near, exact <= 0.1, "{angle}: {exact}");
        seen += usize::from(near);
    }
    assert!(seen > 5, "{seen}");
    assert!(broad.counts().distances < 120, "{:?}", broad.counts());
}

/// A common motion of all bodies changes no distance between two of them. The lower bounds of the
/// distances stay valid, so that no distance is computed after the first step.
#[test]
fn common_motion_costs_no_distances() {
    let shapes = vec![Cuboid::new(V3::repeat(1.0)).unwrap(); 27];
    let mut broad = BroadPhase::new(shapes, BroadPhaseRequest { d_max: 0.2, margin: 1e-6 }).unwrap();
    let at = |t: f64| -> Vec<Pose> {
        (0..27_i32)
            .map(|i| V3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)) * 2.1)
            .map(|v| Pose::translation(v.x + 3.0 * t, v.y, v.z - 5.0 * t * t))
            .collect()
    };
    let near = broad.step(&at(0.0)).unwrap().to_vec();
    assert!(near.len() >= 54, "pairs at faces, edges and corners: {}", near.len());
    let first = broad.counts().distances;
    for k in 1..500 {
        assert_eq!(broad.step(&at(0.01 * f64::from(k))).unwrap(), near, "{k}");
    }
    assert_eq!(broad.counts().distances, first, "{:?}", broad.counts());
}

#[test]
fn invalid_steps_are_refused() {
    let cube = Cuboid::new(V3::repeat(1.0)).unwrap();
    for (d_max, margin) in [(-1.0, 0.0), (f64::NAN, 0.0), (0.0, -1.0), (0.0, f64::INFINITY)] {
        let made = BroadPhase::new(vec![cube], BroadPhaseRequest { d_max, margin });
        assert_eq!(made.unwrap_err(), BroadPhaseError::Request, "{d_max} {margin}");
    }
    #[derive(Debug)]
    struct NanSupport;
    impl Support for NanSupport {
        fn support(&self, _: &V3) -> crate::SupportPoint {
            crate::SupportPoint::plain(P3::new(f64::NAN, 0.0, 0.0))
        }
    }
    let request = BroadPhaseRequest { d_max: 1.0, margin: 0.0 };
    assert_eq!(BroadPhase::new(vec![NanSupport], request).unwrap_err(), BroadPhaseError::Shape(0), "NaN");
    let mut empty = BroadPhase::new(Vec::<Cuboid>::new(), request).unwrap();
    assert!(empty.step(&[]).unwrap().is_empty(), "no bodies");
    let mut two = BroadPhase::new(vec![cube, cube], request).unwrap();
    let here = [Pose::identity(), Pose::translation(2.5, 0.0, 0.0)];
    assert_eq!(two.step(&here).unwrap(), [(0, 1)], "near");
    let refused = two.step(&here[..1]).unwrap_err();
    assert_eq!(refused, BroadPhaseError::Count { given: 1, bodies: 2 }, "count");
    let bad = [here[0], Pose::translation(f64::NAN, 0.0, 0.0)];
    assert_eq!(two.step(&bad).unwrap_err(), BroadPhaseError::Pose(1), "NaN");
    assert_eq!(two.counts().steps, 1, "a refused step must not count");
    // Far away and back within one step each.
    assert!(two.step(&[here[0], Pose::translation(1e6, 0.0, 0.0)]).unwrap().is_empty(), "far");
    assert_eq!(two.step(&here).unwrap(), [(0, 1)], "back");
}

/// Two instances give identical results, and no near pair is missed after arbitrary jumps.
#[test]
fn any_motion_is_followed() {
    let mut rng = CaseRandom(72);
    let mut drop = Drop::new(73, 80);
    let request = BroadPhaseRequest { d_max: 0.1, margin: 0.0 };
    let mut broad = [(); 2].map(|()| BroadPhase::new(drop.shapes.clone(), request).unwrap());
    for _ in 0..100 {
        let [one, two] = broad.each_mut().map(|b| b.step(&drop.poses).unwrap().to_vec());
        assert_eq!(one, two, "two instances must agree");
        let all = near_pairs(&drop, 0.1);
        assert!(all.iter().all(|(p, _)| one.binary_search(p).is_ok()), "a near pair is missed");
        for pose in &mut drop.poses {
            let size = rng.decades(-6.0, 1.0) * if rng.below(4) == 0 { 1.0 } else { 0.0 };
            *pose = Pose::new(rng.vector() * size, rng.vector() * size) * *pose;
            pose.translation.vector = pose.translation.vector.map(|c| c.clamp(-6.0, 6.0));
        }
    }
}
