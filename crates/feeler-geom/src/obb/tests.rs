use super::*;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

fn vec3(rng: &mut SmallRng) -> V3 {
    V3::from_fn(|_, _| rng.random_range(-1.0..1.0))
}

fn rotation(rng: &mut SmallRng) -> UnitQuaternion<f64> {
    // Some rotations are nearly aligned with the axes, where cross products degenerate.
    match rng.random_range(0..5) {
        0 => UnitQuaternion::identity(),
        1 => UnitQuaternion::from_scaled_axis(vec3(rng) * 1e-9),
        2 => UnitQuaternion::from_scaled_axis(V3::z() * rng.random_range(0.0..6.0)),
        _ => UnitQuaternion::from_scaled_axis(vec3(rng) * 4.0),
    }
}

fn random_box(rng: &mut SmallRng) -> Obb {
    let q = rotation(rng);
    let half =
        V3::from_fn(|_, _| if rng.random_range(0..5) == 0 { 0.0 } else { rng.random_range(0.01..1.0) });
    Obb { center: P3::from(vec3(rng) * 2.0), axes: WORLD.map(|a| q * a), half }
}

fn pose(rng: &mut SmallRng) -> Pose {
    Pose::from_parts(Translation3::from(vec3(rng) * 3.0), rotation(rng))
}

fn orthonormal(b: &Obb) -> bool {
    let m = Matrix3::from_columns(&b.axes);
    (m.transpose() * m - Matrix3::identity()).amax() < 4e-15 && m.determinant() > 0.5
}

/// Distance of two boxes by alternating projection (both convex): an upper bound that converges to the
/// distance.
fn distance(a: &Obb, b: &Obb) -> f64 {
    let clamp = |o: &Obb, p: &P3| {
        let d = p - o.center;
        (0..3).fold(o.center, |q, k| q + o.axes[k] * o.axes[k].dot(&d).clamp(-o.half[k], o.half[k]))
    };
    let (mut p, mut best) = (a.center, f64::INFINITY);
    for _ in 0..4000 {
        let q = clamp(b, &p);
        p = clamp(a, &q);
        let d = (p - q).norm();
        if d > best - 1e-15 && d < 1e-14 {
            break;
        }
        best = best.min(d);
    }
    best
}

#[test]
fn empty_single_and_non_finite_sets() {
    let zero = Obb::fit(&[]);
    assert_eq!(zero.half, V3::zeros(), "no points");
    let p = P3::new(3.0, -4.0, 1e6);
    let one = Obb::fit(&[p, p, p]);
    assert!(one.contains(&p, 0.0) && one.half.amax() < 1e-8, "{one:?}");
    for bad in [f64::NAN, f64::INFINITY] {
        let b = Obb::fit(&[P3::new(0.0, bad, 0.0), P3::origin()]);
        assert!(b.half.iter().all(|h| *h == f64::INFINITY), "{b:?}");
    }
}

#[test]
fn fit_contains_every_point_and_recovers_rotated_boxes() {
    let mut rng = SmallRng::seed_from_u64(1);
    for round in 0..400 {
        let q = rotation(&mut rng);
        let shift = vec3(&mut rng) * [1.0, 1e3, 1e6][round % 3];
        let half = V3::new(1.0, [0.6, 0.0, 1e-9][round / 3 % 3], [0.3, 0.0, 0.7][round / 9 % 3]);
        let mut points: Vec<P3> = (0..8)
            .map(|i| {
                let s = V3::from_fn(|k, _| if i >> k & 1 == 1 { half[k] } else { -half[k] });
                P3::from(q * s + shift)
            })
            .collect();
        for _ in 0..rng.random_range(0..20) {
            points.push(P3::from(q * vec3(&mut rng).component_mul(&half) + shift));
        }
        let b = Obb::fit(&points);
        assert!(orthonormal(&b), "{b:?}");
        assert!(points.iter().all(|p| b.contains(p, 0.0)), "{b:?}");
        let exact = 8.0 * half_area(&half);
        let noise = 1e-14 * (1.0 + shift.norm()) * 50.0;
        assert!(
            b.surface_area() <= exact * (1.0 + 1e-9) + noise,
            "{half:?} at {shift:?}: {} > {exact}",
            b.surface_area()
        );
        assert!(b.half.x >= b.half.y - noise && b.half.y >= b.half.z - noise, "sorted");
    }
}

#[test]
fn fit_is_no_worse_than_the_axis_aligned_box() {
    let mut rng = SmallRng::seed_from_u64(2);
    for _ in 0..200 {
        let n = rng.random_range(1..60);
        let points: Vec<P3> = (0..n).map(|_| P3::from(vec3(&mut rng))).collect();
        let b = Obb::fit(&points);
        let aligned = Obb::from_aabb(&Aabb::of_points(&points));
        assert!(points.iter().all(|p| b.contains(p, 0.0) && aligned.contains(p, 0.0)), "{b:?}");
        assert!(b.surface_area() <= aligned.surface_area() * (1.0 + 1e-12), "tight");
        assert_eq!(b, Obb::fit(&points), "deterministic");
    }
}

/// The nearest point of a box has the coordinates of the point clamped to the faces.
#[test]
fn distances_of_points() {
    let mut rng = SmallRng::seed_from_u64(4);
    let mut outside = 0;
    for _ in 0..500 {
        let (b, p) = (random_box(&mut rng), P3::from(vec3(&mut rng) * 3.0));
        let along = |k: usize| b.axes[k].dot(&(p - b.center)).clamp(-b.half[k], b.half[k]);
        let nearest = (0..3).fold(b.center, |q, k| q + b.axes[k] * along(k));
        let distance = b.distance_to(&p);
        assert!((distance - (p - nearest).norm()).abs() < 1e-14, "{b:?} {p}");
        assert_eq!(distance <= 0.0, b.contains(&p, 0.0), "{b:?} {p}");
        outside += usize::from(distance > 0.0);
    }
    assert!(outside > 100, "{outside}");
}

#[test]
fn union_and_moved_boxes_contain_their_corners() {
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..200 {
        let (a, b, pose) = (random_box(&mut rng), random_box(&mut rng), pose(&mut rng));
        let u = a.union(&b);
        assert!(a.corners().iter().chain(&b.corners()).all(|p| u.contains(p, 0.0)), "{u:?}");
        let moved = a.transformed(&pose);
        assert!(a.corners().iter().all(|p| moved.contains(&(pose * p), 0.0)), "{moved:?}");
        assert!((moved.volume() - a.volume()).abs() < 1e-12, "rigid");
    }
}

#[test]
fn separation_and_lower_bound_never_exceed_the_distance() {
    let mut rng = SmallRng::seed_from_u64(4);
    let (mut seen, mut exact) = (0, 0);
    for _ in 0..4000 {
        let (a, b, pose_ab) = (random_box(&mut rng), random_box(&mut rng), pose(&mut rng));
        let moved = b.transformed(&pose_ab);
        let d = distance(&a, &moved);
        let bound = a.distance_lower_bound(&moved);
        assert!(bound <= d * (1.0 + 1e-12) + 1e-15, "{bound} > {d}");
        let matrix = PoseMatrix::from(&pose_ab);
        for margin in [0.0, 0.5 * d, d * (1.0 - 1e-7), d, d * 1.01, 2.0 * d] {
            let hint = rng.random_range(0..20);
            let axis = separated(&a, &b, &matrix, margin, hint);
            assert!(axis.is_none() || margin < d, "margin {margin} distance {d} axis {axis:?}");
            assert_eq!(
                axis.is_some(),
                separated(&a, &b, &matrix, margin, 99).is_some(),
                "hint changed the result"
            );
            if let Some(k) = axis {
                assert!(k < SAT_AXES, "index");
                assert_eq!(separated(&a, &b, &matrix, margin, k), Some(k), "hint is tried first");
                seen += 1;
            }
            // Overlapping boxes must not be separated.
            assert!(d > 1e-9 || axis.is_none(), "touching");
        }
        // All fifteen axes together decide exactly whether the boxes overlap.
        if d > 1e-6 {
            assert!(separated(&a, &b, &matrix, 0.0, 99).is_some(), "apart by {d}");
            exact += usize::from(bound > d * (1.0 - 1e-6));
        }
    }
    assert!(seen > 1000 && exact > 500, "{seen} {exact}");
}

#[test]
fn known_distances() {
    let unit_box = Obb { center: P3::origin(), axes: WORLD, half: V3::repeat(1.0) };
    let far = Obb { center: P3::new(5.0, 0.0, 0.0), ..unit_box };
    assert!((unit_box.distance_lower_bound(&far) - 3.0).abs() < 1e-13, "faces");
    let id = PoseMatrix::from(&Pose::identity());
    assert!(separated(&unit_box, &far, &id, 2.999, 99).is_some(), "nearer than 3");
    assert!(separated(&unit_box, &far, &id, 3.0, 99).is_none(), "exactly 3");
    assert!(separated_in_frame(&unit_box, &far, 2.999, 0) == Some(0), "hint");
    // Two crossed beams, edge over edge, have a gap along a cross product only.
    let s = 0.5_f64.sqrt();
    let beam = Obb {
        center: P3::new(0.0, 0.0, 0.0),
        axes: [V3::x(), V3::new(0.0, s, s), V3::new(0.0, -s, s)],
        half: V3::new(10.0, 1.0, 1.0),
    };
    let cross = Obb {
        center: P3::new(0.0, 0.0, 3.5),
        axes: [V3::y(), V3::new(-s, 0.0, s), V3::new(s, 0.0, s)],
        half: V3::new(10.0, 1.0, 1.0),
    };
    let gap = 3.5 - 2.0 * 2.0_f64.sqrt();
    assert!((beam.distance_lower_bound(&cross) - gap).abs() < 1e-12, "edges");
    assert!(separated_in_frame(&beam, &cross, gap - 1e-9, 99).is_some_and(|k| k >= 6), "cross product");
    assert!(separated_in_frame(&beam, &cross, gap + 1e-9, 99).is_none(), "gap");
    let nan = Obb { center: P3::new(f64::NAN, 0.0, 0.0), ..unit_box };
    assert!(separated_in_frame(&unit_box, &nan, 0.0, 99).is_none(), "not finite");
}

/// Gaps along single axes agree with those of the full test, up to rounding.
#[test]
fn gaps_along_single_axes() {
    let mut rng = SmallRng::seed_from_u64(45);
    let mut widest = 0;
    for _ in 0..4000 {
        let (a, b, pose_ab) = (random_box(&mut rng), random_box(&mut rng), pose(&mut rng));
        let placed = b.transformed(&pose_ab);
        let rel = Relative::new(&a, &placed.center.coords, &placed.axes, placed.half, 0.0);
        let matrix = PoseMatrix::from(&pose_ab);
        for axis in 0..SAT_AXES {
            let (gap, reference) = (gap_along(&a, &b, &matrix, axis), rel.gap(axis));
            let overlap = gap <= 0.0 && reference <= 0.0;
            // The cross product of nearly parallel axes is not reliable.
            let close = (gap - reference).abs() < 1e-9 || axis >= 6 && gap.max(reference) < 1e-8;
            assert!(overlap || close, "{gap} {reference} along {axis}");
            widest += usize::from(gap > 0.0);
        }
        assert!(gap_along(&a, &b, &matrix, SAT_AXES) < 0.0, "no axis");
        let d = distance(&a, &placed);
        assert!(
            (0..SAT_AXES).all(|axis| gap_along(&a, &b, &matrix, axis) <= d * (1.0 + 1e-12) + 1e-15),
            "{d}"
        );
    }
    assert!(widest > 10_000, "{widest}");
}

#[test]
fn gaps_and_unreachable_distances_are_lower_bounds() {
    let mut rng = SmallRng::seed_from_u64(44);
    let (mut gaps, mut unreachable) = (0, 0);
    for _ in 0..2000 {
        let (a, b) = (random_box(&mut rng), random_box(&mut rng));
        let margin = rng.random_range(0.0..0.5);
        if let Some((axis, gap)) = gap_in_frame(&a, &b, margin) {
            gaps += 1;
            assert!(
                axis < SAT_AXES && gap > margin && gap <= distance(&a, &b) + 1e-12,
                "{gap} of {}",
                distance(&a, &b)
            );
        }
        // Allowed displacements are along one direction, to either side.
        let (direction, reach) = (vec3(&mut rng).normalize(), rng.random_range(0.0..3.0));
        let Some(spare) = unreachable_in_frame(&a, &b, 0.0, |axis| reach * axis.dot(&direction).abs()) else {
            continue;
        };
        unreachable += 1;
        for k in -20..=20 {
            let moved = Obb { center: a.center + direction * (reach * f64::from(k) / 20.0), ..a };
            assert!(distance(&moved, &b) >= spare - 1e-12, "{} < {spare}", distance(&moved, &b));
        }
    }
    assert!(gaps > 300 && unreachable > 300, "{gaps} {unreachable}");
}
