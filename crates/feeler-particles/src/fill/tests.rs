use super::*;
use crate::FacetWall;
use feeler_geom::Pose;

/// A box from the origin with facets oriented outwards.
fn block(size: [f64; 3]) -> FacetWall {
    let corner = |k: usize| {
        P3::new(size[0] * (k & 1) as f64, size[1] * (k >> 1 & 1) as f64, size[2] * (k >> 2) as f64)
    };
    let points: Vec<P3> = (0..8).map(corner).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[u32; 3]> =
        quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    FacetWall::new(&points, &triangles).unwrap()
}

fn overlaps(spheres: &[Sphere]) -> usize {
    let mut found = 0;
    for (k, a) in spheres.iter().enumerate() {
        found += spheres[..k].iter().filter(|b| (a.center - b.center).norm() < a.radius + b.radius).count();
    }
    found
}

#[test]
fn spheres_are_in_the_region_and_do_not_overlap() {
    let sizes = Distribution::Uniform { from: 1.0, to: 3.0 };
    let (min, max) = (P3::new(-10.0, 0.0, 5.0), P3::new(10.0, 15.0, 25.0));
    let spheres = fill(&FillRegion::Box { min, max }, &sizes, Amount::Number(400), 5, |_| true).unwrap();
    assert_eq!((spheres.len(), overlaps(&spheres)), (400, 0), "in the box");
    for b in &spheres {
        assert!(
            (0..3).all(|k| b.center[k] >= min[k] + b.radius && b.center[k] <= max[k] - b.radius),
            "{b:?}"
        );
    }
    // The order is independent of sizes and positions.
    let mean = |part: &[Sphere]| part.iter().map(|b| b.radius).sum::<f64>() / part.len() as f64;
    assert!((mean(&spheres[..200]) - mean(&spheres[200..])).abs() < 0.15, "no order of sizes");
    let (from, to) = (P3::new(1.0, 2.0, 3.0), P3::new(11.0, 22.0, 3.0));
    let cylinder = FillRegion::Cylinder { from, to, radius: 9.0 };
    let spheres = fill(&cylinder, &sizes, Amount::Number(300), 5, |_| true).unwrap();
    let axis = (to - from).normalize();
    for b in &spheres {
        let along = (b.center - from).dot(&axis);
        let off = (b.center - from - axis * along).norm();
        let end = (to - from).norm() - b.radius;
        assert!(off <= 9.0 - b.radius + 1e-12 && along >= b.radius - 1e-12 && along <= end + 1e-12, "{b:?}");
    }
    assert_eq!(overlaps(&spheres), 0, "in the cylinder");
}

#[test]
fn equal_requests_give_equal_spheres() {
    let sizes = Distribution::Normal { mean: 2.0, deviation: 0.3, from: 1.0, to: 3.0 };
    let region = FillRegion::Box { min: P3::origin(), max: P3::new(20.0, 20.0, 20.0) };
    let of = |seed: u64| fill(&region, &sizes, Amount::Volume(1500.0), seed, |_| true).unwrap();
    let (a, b) = (of(7), of(7));
    assert!(a == b, "the same");
    assert!(a != of(8), "another seed");
    let volume = |b: &Sphere| 4.0 / 3.0 * std::f64::consts::PI * math::powi(b.radius, 3);
    let sum: f64 = a.iter().map(volume).sum();
    assert!(sum >= 1500.0 && sum - volume(a.last().unwrap()) < 1500.0, "{sum}: the last one goes beyond");
}

#[test]
fn closed_walls_are_filled_in_their_pose() {
    let mut wall = block([30.0, 20.0, 10.0]);
    assert_eq!(wall.open_sides(), 0, "closed");
    assert!((wall.volume() - 6000.0).abs() < 1e-9, "{}", wall.volume());
    let turn = nalgebra::UnitQuaternion::from_euler_angles(0.3, 0.2, 0.1);
    wall.set_pose(Pose::from_parts(nalgebra::Translation3::new(100.0, 50.0, 0.0), turn));
    let region = FillRegion::Inside { wall: &wall, above: 2.0, below: 12.0 };
    let spheres = fill(&region, &Distribution::Same(2.0), Amount::Number(200), 1, |_| true).unwrap();
    assert_eq!(overlaps(&spheres), 0, "apart");
    for b in &spheres {
        let local = wall.pose().inverse_transform_point(&b.center);
        let size = [30.0, 20.0, 10.0];
        assert!((0..3).all(|k| local[k] >= 1.0 && local[k] <= size[k] - 1.0), "{local}");
        assert!(b.center.z >= 3.0 && b.center.z <= 11.0, "{b:?}");
    }
    // The points include some straight below edges and vertices.
    let block = block([2.0, 2.0, 2.0]);
    for x in [0.5, 1.0, 1.5] {
        for y in [0.5, 1.0, 1.5] {
            assert!(block.encloses(&P3::new(x, y, 1.0)), "{x} {y}");
            assert!(!block.encloses(&P3::new(x, y, -1.0)), "{x} {y}: below");
            assert!(
                !block.encloses(&P3::new(x, y, 3.0)) && !block.encloses(&P3::new(x + 2.0, y, 1.0)),
                "out"
            );
        }
    }
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let region = FillRegion::Box { min: P3::origin(), max: P3::new(10.0, 10.0, 10.0) };
    let error = fill(&region, &Distribution::Same(2.0), Amount::Number(200), 1, |_| true).unwrap_err();
    let FillError::NoRoom { fitted, wanted } = error else { panic!("{error}") };
    // 26 % to 38.5 % of the box, whose layers at the walls stay empty.
    assert!(wanted == 200 && (60..=95).contains(&fitted), "{fitted}");
    let none = fill(&region, &Distribution::Same(11.0), Amount::Number(1), 1, |_| true).unwrap_err();
    assert_eq!(none, FillError::NoRoom { fitted: 0, wanted: 1 });
    let refused =
        fill(&region, &Distribution::Same(1.0), Amount::Number(5), 1, |b| b.center.z > 20.0).unwrap_err();
    assert_eq!(refused, FillError::NoRoom { fitted: 0, wanted: 5 });
    let error_of = |region: &FillRegion<'_>| {
        fill(region, &Distribution::Same(1.0), Amount::Number(1), 1, |_| true).unwrap_err().to_string()
    };
    let open = FacetWall::new(&[P3::origin(), P3::new(1.0, 0.0, 0.0), P3::new(0.0, 1.0, 0.0)], &[[0, 1, 2]]);
    let open = open.unwrap();
    let inside = FillRegion::Inside { wall: &open, above: 0.0, below: 1.0 };
    assert!(error_of(&inside).contains("3 sides of facets have no neighbour"), "{}", error_of(&inside));
    let flat = FillRegion::Box { min: P3::origin(), max: P3::new(1.0, 0.0, 1.0) };
    assert!(error_of(&flat).contains("two finite corners"), "{}", error_of(&flat));
    let thin = FillRegion::Cylinder { from: P3::origin(), to: P3::origin(), radius: 1.0 };
    assert!(error_of(&thin).contains("two different ends"), "{}", error_of(&thin));
    let empty =
        fill(&region, &Distribution::Same(1.0), Amount::Volume(0.0), 1, |_| true).unwrap_err().to_string();
    assert!(empty.contains("above 0 kg"), "{empty}");
}

#[test]
fn deposited_spheres_lie_on_each_other() {
    let sizes =
        Distribution::ByNumber(vec![Class::of(0.71, 7.0), Class::of(0.5, 76.0), Class::of(0.35, 17.0)]);
    let (min, max) = (P3::new(-3.0, 0.1, 5.0), P3::new(0.0, 3.1, 15.0));
    let of = |seed: u64| deposit((min, max), &sizes, Amount::Number(300), seed, &[], |_| true).unwrap();
    let spheres = of(4);
    assert!(spheres == of(4) && spheres != of(5), "determined by the seed");
    assert_eq!((spheres.len(), overlaps(&spheres)), (300, 0));
    let mut highest = 0.0_f64;
    for (k, b) in spheres.iter().enumerate() {
        let inside = (0..3).all(|i| b.center[i] >= min[i] + b.radius && b.center[i] <= max[i] - b.radius);
        assert!(inside, "{b:?}");
        let on_floor = b.center.z - b.radius - min.z < 1e-6;
        let touches = |o: &Sphere| (o.center - b.center).norm() < (o.radius + b.radius) * (1.0 + 1e-6);
        assert!(on_floor || spheres[..k].iter().any(touches), "sphere {k} floats");
        highest = highest.max(b.center.z + b.radius);
    }
    let volume: f64 =
        spheres.iter().map(|b| 4.0 / 3.0 * std::f64::consts::PI * math::powi(b.radius, 3)).sum();
    let filled = volume / (9.0 * (highest - min.z));
    assert!((0.45..0.64).contains(&filled), "{filled}");
}

#[test]
fn deposition_respects_obstacles_and_reports_full_boxes() {
    let (sizes, min, max) = (Distribution::Same(1.0), P3::origin(), P3::new(4.0, 4.0, 4.0));
    let obstacle = Sphere { center: P3::new(2.0, 2.0, 1.0), radius: 1.5 };
    let spheres =
        deposit((min, max), &sizes, Amount::Number(12), 1, &[obstacle], |b| b.center.x < 3.0).unwrap();
    let all: Vec<Sphere> = spheres.iter().copied().chain([obstacle]).collect();
    assert!(overlaps(&all) == 0 && spheres.iter().all(|b| b.center.x < 3.0));
    match deposit((min, max), &sizes, Amount::Number(200), 1, &[], |_| true) {
        Err(FillError::Full { fitted, wanted: 200 }) => assert!((40..120).contains(&fitted), "{fitted}"),
        other => panic!("{other:?}"),
    }
    let large = deposit((min, max), &Distribution::Same(5.0), Amount::Number(1), 1, &[], |_| true);
    assert_eq!(large, Err(FillError::Full { fitted: 0, wanted: 1 }));
    assert!(matches!(
        deposit((max, min), &sizes, Amount::Number(1), 1, &[], |_| true),
        Err(FillError::Region(_))
    ));
}
