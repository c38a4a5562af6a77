use super::*;
use feeler_convex::{PolySuperellipsoid, Superellipsoid};
use feeler_geom::math;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// Semi-axes in the order +x, −x, +y, −y, +z, −z.
fn shape(r: [f64; 6], e: [f64; 2]) -> PolySuperellipsoid {
    PolySuperellipsoid::new(V3::new(r[0], r[2], r[4]), V3::new(r[1], r[3], r[5]), e).expect("a shape")
}

struct Known {
    semi: [f64; 6],
    exponents: [f64; 2],
    volume: f64,
    centroid: [f64; 3],
    moments: [f64; 3],
    /// Entries xy, xz, yz of the tensor (−∫xy, ...), if POLY prints them.
    products: Option<[f64; 3]>,
}

/// Figures 3.9, 3.10 and 3.12 of POLY, integrated numerically.
fn known() -> [Known; 6] {
    let wide = [1.0, 0.5, 0.8, 0.9, 0.4, 0.6];
    [
        Known {
            semi: [1.0, 0.5, 0.5, 2.5, 0.5, 1.7],
            exponents: [1.0, 1.0],
            volume: 5.183627878423,
            centroid: [0.1875, -0.75, -0.45],
            moments: [3.8514355137, 1.9197241871, 3.1223258549],
            products: Some([-0.0689476704, -0.0413686022, 0.1654744090]),
        },
        Known {
            semi: wide,
            exponents: [0.4, 1.5],
            volume: 1.161181372773,
            centroid: [0.1954613121, -0.0390922624, -0.0614544739],
            moments: [0.2217566553, 0.1841465480, 0.3222675849],
            products: None,
        },
        Known {
            semi: wide,
            exponents: [1.0, 1.0],
            volume: 1.335176877776,
            centroid: [0.1875, -0.0375, -0.075],
            moments: [0.2603177669, 0.2205962548, 0.3463949512],
            products: None,
        },
        Known {
            semi: wide,
            exponents: [1.5, 1.5],
            volume: 0.776536264479,
            centroid: [0.1536361848, -0.0307272370, -0.0614544739],
            moments: [0.1077884501, 0.0923992215, 0.1442566239],
            products: None,
        },
        Known {
            semi: [3.26, 2.67, 1.66, 1.59, 1.81, 1.67],
            exponents: [0.85, 1.0],
            volume: 37.133179909262,
            centroid: [0.2287928903, 0.0271449192, 0.0525],
            moments: [43.2571181, 91.7283599, 90.0020654],
            products: None,
        },
        Known {
            semi: [2.07, 1.02, 1.26, 1.23, 1.40, 0.35],
            exponents: [1.1, 1.2],
            volume: 5.969555509391,
            centroid: [0.3726595924, 0.0106474169, 0.3640576475],
            moments: [2.5522604, 3.5288249, 4.3408618],
            products: None,
        },
    ]
}

#[test]
fn shapes_of_the_reference() {
    // Half a unit of the last printed digit, and rounding.
    let same = |x: f64, y: f64, digit: f64| assert!((x - y).abs() <= 0.51 * digit, "{x}, not {y}");
    for (i, k) in known().iter().enumerate() {
        let m = poly_superellipsoid(&shape(k.semi, k.exponents)).expect("a mass");
        same(m.volume, k.volume, 1e-12);
        for c in 0..3 {
            same(m.centroid[c], k.centroid[c], 1e-10);
            same(m.tensor[(c, c)], k.moments[c], if i < 4 { 1e-10 } else { 1e-7 });
        }
        if let Some([xy, xz, yz]) = k.products {
            for (c, p) in [((0, 1), xy), ((0, 2), xz), ((1, 2), yz)] {
                same(m.tensor[c], p, 1e-10);
            }
        }
    }
}

/// Nodes and weights on [0, π/2] for integrands that are singular at the ends (tanh-sinh).
fn nodes() -> Vec<(f64, f64)> {
    let step = 1.0 / 16.0;
    let at = |i: i32| {
        let t = f64::from(i) * step;
        let s = FRAC_PI_2 * math::sinh(t);
        let c = math::cosh(s);
        (FRAC_PI_4 * (1.0 + math::sinh(s) / c), step * FRAC_PI_4 * FRAC_PI_2 * math::cosh(t) / (c * c))
    };
    (-50..=50).map(at).collect()
}

/// Integral of a product of powers over the body, computed along rays from the implicit equation only.
fn by_rays(r: [f64; 6], [e1, e2]: [f64; 2], powers: [i32; 3]) -> f64 {
    let nodes = nodes();
    let total = f64::from(powers.iter().sum::<i32>() + 3);
    let mut sum = 0.0;
    for octant in 0..8 {
        let sign = V3::from_fn(|i, _| if octant >> i & 1 == 0 { 1.0 } else { -1.0 });
        let semi = V3::from_fn(|i, _| r[2 * i + (octant >> i & 1)]);
        for (theta, wt) in &nodes {
            for (phi, wp) in &nodes {
                let ((st, ct), (sp, cp)) = (math::sin_cos(*theta), math::sin_cos(*phi));
                let d = V3::new(ct * sp, st * sp, cp);
                let u = d.component_div(&semi);
                let around = math::powf(u.x, 2.0 / e1) + math::powf(u.y, 2.0 / e1);
                let gauge = math::powf(math::powf(around, e1 / e2) + math::powf(u.z, 2.0 / e2), 0.5 * e2);
                let power: f64 = (0..3).map(|i| math::powi(d[i] * sign[i], powers[i])).product();
                sum += wt * wp * sp * power * math::powf(1.0 / gauge, total) / total;
            }
        }
    }
    sum
}

#[test]
fn integrals_by_rays() {
    let mut rng = SmallRng::seed_from_u64(26);
    for _ in 0..12 {
        let r: [f64; 6] = std::array::from_fn(|_| rng.random_range(0.3..3.0));
        let e = [rng.random_range(0.5..1.7), rng.random_range(0.5..1.7)];
        let m = poly_superellipsoid(&shape(r, e)).expect("a mass");
        let volume = by_rays(r, e, [0, 0, 0]);
        assert!((m.volume - volume).abs() < 1e-8 * volume, "{} {volume} {r:?} {e:?}", m.volume);
        let first = V3::new(by_rays(r, e, [1, 0, 0]), by_rays(r, e, [0, 1, 0]), by_rays(r, e, [0, 0, 1]));
        assert!((m.centroid.coords - first / volume).amax() < 1e-8, "{r:?} {e:?}");
        // Tensor about the origin of coordinates.
        let c = m.centroid.coords;
        let tensor =
            m.tensor + (Matrix3::from_diagonal_element(c.norm_squared()) - c * c.transpose()) * volume;
        for (i, j) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
            let known = if i == j {
                let square = |k: usize| by_rays(r, e, std::array::from_fn(|l| if l == k { 2 } else { 0 }));
                square((i + 1) % 3) + square((i + 2) % 3)
            } else {
                -by_rays(r, e, std::array::from_fn(|l| i32::from(l == i || l == j)))
            };
            assert!((tensor[(i, j)] - known).abs() < 1e-8 * m.tensor.amax(), "{i}{j} {r:?} {e:?}");
        }
    }
}

#[test]
fn ball_box_and_octahedron() {
    let near = |x: f64, y: f64| assert!((x - y).abs() < 3e-15 * y.abs(), "{x}, not {y}");
    let of = |semi: V3, e: f64| {
        let s = Superellipsoid::new(semi, [e, e]).expect("a shape");
        poly_superellipsoid(&s.into()).expect("a mass")
    };
    let ball = of(V3::repeat(2.0), 1.0);
    near(ball.volume, 32.0 / 3.0 * PI);
    near(ball.tensor[(0, 0)], 0.4 * 4.0 * ball.volume);
    let octahedron = of(V3::new(1.0, 2.0, 3.0), 2.0);
    near(octahedron.volume, 8.0);
    near(octahedron.tensor[(2, 2)], 0.1 * 5.0 * octahedron.volume);
    // The limit is a box; the difference is proportional to ε².
    let cube = of(V3::repeat(1.0), 1e-4);
    assert!((cube.volume - 8.0).abs() < 1e-6 && (cube.tensor[(1, 1)] - 16.0 / 3.0).abs() < 1e-6, "{cube:?}");
}

#[test]
fn polyhedra_by_closed_forms() {
    let corners: Vec<P3> = (0..8)
        .map(|i| P3::new(f64::from(i & 1), 2.0 * f64::from(i >> 1 & 1), 3.0 * f64::from(i >> 2)))
        .map(|p| p + V3::new(1e4, -2e4, 5e3))
        .collect();
    let m = hull(&corners).expect("a box");
    assert!((m.volume - 6.0).abs() < 1e-14, "{m:?}");
    assert!((m.centroid - P3::new(1e4 + 0.5, -2e4 + 1.0, 5e3 + 1.5)).amax() < 1e-11, "{m:?}");
    let known = Matrix3::from_diagonal(&V3::new(13.0, 10.0, 5.0)) * 0.5;
    assert!((m.tensor - known).amax() < 1e-13, "{m:?}");
    // An octahedron is also a superellipsoid with exponents 2.
    let tips: Vec<P3> = (0..6)
        .map(|i| P3::from(V3::ith(i / 2, [[1.0, -0.5], [0.8, -0.9], [0.4, -0.6]][i / 2][i % 2])))
        .collect();
    let exact = poly_superellipsoid(&shape([1.0, 0.5, 0.8, 0.9, 0.4, 0.6], [2.0, 2.0])).expect("a mass");
    let m = hull(&tips).expect("an octahedron");
    assert!((m.volume - exact.volume).abs() < 1e-15, "{} {}", m.volume, exact.volume);
    assert!((m.centroid - exact.centroid).amax() < 1e-15);
    assert!((m.tensor - exact.tensor).amax() < 1e-15, "{} {}", m.tensor, exact.tensor);
}

#[test]
fn principal_axes_give_the_tensor_back() {
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..200 {
        let r: [f64; 6] = std::array::from_fn(|_| rng.random_range(0.1..5.0));
        let e = [rng.random_range(0.1..1.9), rng.random_range(0.1..1.9)];
        let m = poly_superellipsoid(&shape(r, e)).expect("a mass");
        let (moments, pose) = m.principal();
        assert!(moments.x <= moments.y && moments.y <= moments.z, "{moments:?}");
        assert!((pose.translation.vector - m.centroid.coords).norm() < 1e-15);
        let q = pose.rotation.to_rotation_matrix();
        let again = q * Matrix3::from_diagonal(&moments) * q.transpose();
        assert!((again - m.tensor).amax() < 1e-13 * m.tensor.amax(), "{m:?}");
        // The tensor is diagonal in the principal frame.
        let own = m.placed(&pose.inverse());
        assert!((own.tensor - Matrix3::from_diagonal(&moments)).amax() < 1e-13 * m.tensor.amax());
        assert!(own.centroid.coords.amax() < 1e-13);
    }
}

#[test]
fn shapes_without_volume_are_refused() {
    let flat = PolySuperellipsoid::new(V3::new(1.0, 0.0, 1.0), V3::repeat(1.0), [1.0, 1.0]).expect("a shape");
    let message = poly_superellipsoid(&flat).expect_err("flat").to_string();
    assert!(message.contains("+y is 0 mm"), "{message}");
    let plane = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|[x, y]| P3::new(x, y, 1.0));
    assert!(hull(&plane).is_err());
    let tip = [plane[0], plane[1], plane[2], P3::new(0.0, 0.0, 2.0)];
    assert!(
        polyhedron(&tip, &[[0, 2, 1], [0, 1, 3], [1, 2, 3]])
            .expect_err("open")
            .to_string()
            .contains("closed")
    );
    let closed = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    assert!((polyhedron(&tip, &closed).expect("closed").volume - 1.0 / 6.0).abs() < 1e-16);
    let inside_out = closed.map(|[a, b, c]| [a, c, b]);
    assert!(polyhedron(&tip, &inside_out).is_err());
    assert!(polyhedron(&tip, &[[0, 2, 9]]).is_err());
}
