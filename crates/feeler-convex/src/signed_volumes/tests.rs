use super::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Nearest point by enumeration of all sub-simplices: least squares on each affine hull, accepted if no
/// weight is negative.
fn brute_force(s: &[V3]) -> f64 {
    let mut best = f64::INFINITY;
    for mask in 1_u32..1 << s.len() {
        let v: Vec<V3> = (0..s.len()).filter(|i| mask >> i & 1 == 1).map(|i| s[i]).collect();
        let e = nalgebra::DMatrix::from_fn(3, v.len() - 1, |r, c| v[c + 1][r] - v[0][r]);
        let w = if v.len() == 1 {
            nalgebra::DVector::zeros(0)
        } else {
            let rhs = nalgebra::DVector::from_iterator(3, (-v[0]).iter().copied());
            let size = e.amax();
            match e.svd(true, true).solve(&rhs, 1e-12 * size) {
                Ok(w) => w,
                Err(_) => continue,
            }
        };
        let w0 = 1.0 - w.sum();
        if w0 < -1e-12 || w.iter().any(|w| *w < -1e-12) {
            continue;
        }
        let p = v[0] * w0 + v[1..].iter().zip(w.iter()).fold(V3::zeros(), |p, (v, w)| p + v * *w);
        best = best.min(p.norm());
    }
    best
}

#[test]
fn matches_enumeration_of_all_sub_simplices() {
    let mut rng = SmallRng::seed_from_u64(31);
    for _ in 0..20_000 {
        let n = rng.random_range(1..5);
        let mut s: Vec<V3> = (0..n).map(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0))).collect();
        let shift = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * [0.0, 0.3, 2.0][rng.random_range(0..3)];
        match rng.random_range(0..6) {
            0 => s.iter_mut().for_each(|v| v.z = 0.0),
            1 => s.iter_mut().for_each(|v| *v = V3::new(v.x, 2.0 * v.x, -v.x)),
            2 => s[n - 1] = s[0],
            3 => s.iter_mut().for_each(|v| v.z *= 1e-9),
            4 => s.iter_mut().for_each(|v| *v = v.map(|c| (c * 2.0).round())),
            _ => {}
        }
        s.iter_mut().for_each(|v| *v += shift);
        let found = nearest_to_origin(&s).unwrap();
        let (d, exact) = (found.point().norm(), brute_force(&s));
        assert!(d < exact + 1e-11, "{s:?}: {d} {exact}");
        // Least squares lose digits on nearly flat simplices. The lower bound is checked directly: no
        // vertex lies nearer in the direction of the found point.
        assert!(d > exact - 1e-8, "{s:?}: {d} {exact}");
        let x = found.point();
        assert!(s.iter().all(|v| x.dot(v) > x.norm_squared() - 1e-14 * (1.0 + d)), "{s:?}: {x:?}");
        assert!((found.weights().iter().sum::<f64>() - 1.0).abs() < 1e-13, "sum of the weights");
        assert!(found.weights().iter().all(|w| *w > 0.0), "weights must be positive: {found:?}");
    }
}

#[test]
fn unsupported_numbers_of_points() {
    assert!(nearest_to_origin(&[]).is_none(), "no points");
    assert!(nearest_to_origin(&[V3::x(); 5]).is_none(), "too many points");
}

/// Records the faces in the order in which they are searched.
#[derive(Default)]
struct Path(Vec<Vec<usize>>);

impl FaceObserver for Path {
    fn face(&mut self, vertices: &[usize]) {
        self.0.push(vertices.to_vec());
    }
}

/// DIST Table 4.1 and the step-by-step solution of §4.1.
#[test]
fn sphere_and_triangle_of_section_4_1() {
    let s = [V3::new(0.45, 0.0, -0.6), V3::new(-0.55, -0.75, -1.55), V3::new(-0.55, 0.75, -1.55)];
    // (4.1): the triangle's projection onto xz is degenerate, and that onto yz is the largest.
    let n = (s[1] - s[0]).cross(&(s[2] - s[0]));
    assert!(n.y == 0.0 && n.iamax() == 2, "projections {n:?}");
    let mut both = Vec::new();
    for signs in [Signs::Double, Signs::Adaptive] {
        let mut path = Path::default();
        let found = signed_volumes_watched(&s, signs, Newest::Unknown, &mut path).unwrap();
        // The nearest point is not on {s2, s3}; {s1, s3} and {s1, s2} are searched, and both return s1.
        assert_eq!(path.0, [vec![0, 2], vec![0, 1]], "{signs:?}");
        assert_eq!(found.vertices(), [0], "{signs:?}");
        assert_eq!(found.point(), s[0], "{signs:?}");
        both.push(found);
    }
    // The ball of diameter 1 around the origin touches within its radius (MATH §12): 0.75 > 0.5.
    assert!((both[0].point().norm() - 0.75).abs() < 1e-15, "{}", both[0].point().norm());
}

#[expect(clippy::excessive_precision, reason = "digits as printed")]
/// DIST Figure 4.6, where the first and the last vertex are the same point.
fn figure_4_6() -> [V3; 4] {
    let z = -31.557_752_817_397_152;
    let s1 = V3::new(-20.713_282_046_795_065, 0.0, z);
    [
        s1,
        V3::new(-6.350_536_262_466_924_6, 19.715_748_586_578_577, z),
        V3::new(20.713_255_776_709_875, -0.032_989_069_061_845_351, z),
        s1,
    ]
}

#[test]
#[expect(clippy::float_cmp, reason = "the printed number, and exact zeros")]
fn degenerate_tetrahedron_of_figure_4_6() {
    let s = figure_4_6();
    // (4.4b) and (3.6) in double precision, in the order of the text, reproduce the printed number.
    let minor = |a: &V3, b: &V3, c: &V3| {
        a.x * b.y * c.z + a.y * b.z * c.x + a.z * b.x * c.y
            - a.z * b.y * c.x
            - a.y * b.x * c.z
            - a.x * b.z * c.y
    };
    let minors = [
        minor(&s[1], &s[2], &s[3]),
        minor(&s[0], &s[2], &s[3]),
        minor(&s[0], &s[1], &s[3]),
        minor(&s[0], &s[1], &s[2]),
    ];
    let det = -minors[0] + minors[1] - minors[2] + minors[3];
    assert_eq!(det, -3.637_978_807_091_713e-12, "cancellation");
    // Volumes from edges and exact signs avoid this cancellation.
    assert_eq!(volumes(&s).0, 0.0, "volume from edges");
    let (exact, c) = exact_volumes(&s);
    assert_eq!((exact, c[1], c[2]), (0.0, 0.0, 0.0), "exact signs");
    assert!(c[0] * c[3] < 0.0, "the two faces that coincide with the hull: {c:?}");

    let search = |signs| {
        let mut path = Path::default();
        let found = signed_volumes_watched(&s, signs, Newest::Unknown, &mut path).unwrap();
        (found, path.0)
    };
    let (plain, plain_path) = search(Signs::Double);
    let (adaptive, path) = search(Signs::Adaptive);
    // With exact signs the search is a single arrow of Figure 4.7; without them it has four.
    assert_eq!(path.len(), 1, "{path:?}");
    assert_eq!(path[0].len(), 3, "{path:?}");
    assert!(plain_path.iter().filter(|f| f.len() == 3).count() >= 3, "{plain_path:?}");
    for found in [plain, adaptive] {
        // s4 equals s1; the projection of the origin is inside the triangle s1, s2, s3.
        assert_eq!(found.vertices().len(), 3, "{found:?}");
        assert!((found.point() - V3::new(0.0, 0.0, s[0].z)).norm() < 1e-13, "{found:?}");
    }
}

/// Signed Volumes with rounded and with exact signs, Voronoi's and Johnson's method find the same
/// nearest point as the search of all faces of the simplex. If the newest vertex improves on the nearest
/// point of the other vertices, Signed Volumes with [`Newest::Last`] finds that point, too, and the
/// vertex is part of the result.
#[test]
fn variants_agree_where_simplices_have_volume() {
    use crate::gjk::SubAlgorithm;
    use crate::reference::{Johnson, Voronoi};
    let mut rng = SmallRng::seed_from_u64(34);
    let mut sizes = [0; 5];
    for _ in 0..20_000 {
        let n = rng.random_range(1..5);
        let shift = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * [0.0, 0.6, 2.0][rng.random_range(0..3)];
        let s: Vec<V3> = (0..n).map(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) + shift).collect();
        let expected = exhaustive(&s).point();
        let check = |found: Option<Nearest>, name: &str| {
            let found = found.unwrap_or_else(|| panic!("{name}: {s:?}"));
            assert!((found.point() - expected).norm() < 1e-9, "{name} {s:?}: {found:?} {expected:?}");
            found.vertices().len()
        };
        sizes[check(signed_volumes(&s, Signs::Double, Newest::Unknown), "plain")] += 1;
        check(signed_volumes(&s, Signs::Adaptive, Newest::Unknown), "adaptive");
        if expected.norm() > 1e-12 {
            check(Voronoi.nearest(&s), "Voronoi");
            check(Johnson.nearest(&s), "Johnson");
        }
        // If the newest vertex lies beyond the nearest point of the others, it is part of the result.
        if n > 1 {
            let old = nearest_to_origin(&s[..n - 1]).unwrap();
            if s[n - 1].dot(&old.point()) < old.point().norm_squared() {
                let kept: Vec<V3> = old.vertices().iter().map(|i| s[*i]).chain([s[n - 1]]).collect();
                let expected = exhaustive(&kept).point();
                for signs in [Signs::Double, Signs::Adaptive] {
                    let found = signed_volumes(&kept, signs, Newest::Last).unwrap();
                    assert!(
                        (found.point() - expected).norm() < 1e-9,
                        "newest vertex last, {kept:?}: {found:?}"
                    );
                    assert!(
                        found.vertices().contains(&(kept.len() - 1)),
                        "newest vertex last, {kept:?}: {found:?}"
                    );
                }
            }
        }
    }
    assert!(sizes[1..].iter().all(|n| *n > 200), "{sizes:?}");
}
