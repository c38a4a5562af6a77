//! Reference results: the distance sampled along one circle, and the query over the whole range.

use super::super::*;
use super::{SimpleSolutions, State};
use crate::testing::{rng, unit};
use crate::unit_angle::UnitAngle;
use nalgebra::{Translation3, UnitQuaternion};
use rand::{Rng, rngs::SmallRng};
use std::f64::consts::{PI, TAU};

const TOL: f64 = 1e-7;
const EXTENT: f64 = 80.0;

/// Returns a pose near the identity: an offset, a tilt, a shift along z, and sometimes a half turn.
fn nearly_coaxial(r: &mut SmallRng, offset: f64, tilt: f64, height: f64) -> Pose {
    let u = unit(r);
    let flip = if r.random_bool(0.5) { PI } else { 0.0 };
    let shift = V3::new(u.x * offset, u.y * offset, height);
    let turn = UnitQuaternion::new(unit(r) * tilt) * UnitQuaternion::new(V3::x() * flip);
    Pose::from_parts(Translation3::from(shift), turn)
}

fn power(r: &mut SmallRng, lo: f64, hi: f64) -> f64 {
    math::powf(10.0, r.random_range(lo..hi))
}

/// Returns, at random, a circular edge or a torus. `radius` (mm) is the radius of the edge or of the torus's
/// centre circle.
fn ring(r: &mut SmallRng, radius: f64) -> Primitive {
    let sigma = if r.random_bool(0.5) { 0.0 } else { r.random_range(-2.0..2.0) };
    Primitive::Circle { frame: Frame::identity(), radius, sigma }
}

/// Returns a cone, cylinder or circle, and a circle that fits it closely or loosely.
fn features(r: &mut SmallRng, offset: f64, tilt: f64) -> (Primitive, Primitive) {
    let slack = if r.random_bool(0.5) { r.random_range(-0.5..0.5) } else { r.random_range(-3.0..20.0) };
    let world = Pose::from_parts(
        Translation3::from(unit(r) * 40.0),
        UnitQuaternion::new(unit(r) * r.random_range(0.0..3.0)),
    );
    let (a, radius, height) = if r.random_bool(0.5) {
        let slope: f64 = [0.0, 1.0, -1.0][r.random_range(0..3)] * r.random_range(0.05..0.8);
        let height = r.random_range(8.0..60.0);
        let radius = if slope == 0.0 { 10.0 } else { height * slope.abs() / (1.0 - slope * slope).sqrt() };
        let sigma = if slope == 0.0 { radius } else { 0.0 };
        (Primitive::Line { origin: P3::origin(), dir: V3::z(), sigma, slope }, radius.max(4.0), height)
    } else {
        let radius = r.random_range(5.0..40.0);
        (ring(r, radius), radius, r.random_range(0.0..5.0) * [0.0, 0.01, 1.0][r.random_range(0..3)])
    };
    let b = ring(r, radius + slack);
    let relative = nearly_coaxial(r, offset, tilt, height);
    (a.transformed(&world), b.transformed(&(world * relative)))
}

#[test]
fn every_extremum_of_the_sampled_distance_is_found() {
    const SAMPLES: usize = 360;
    let mut r = rng(31);
    let mut matched = 0;
    for round in 0..2000 {
        let (offset, tilt) = (power(&mut r, -3.0, 0.5), power(&mut r, -5.0, 0.0));
        let (a, b) = features(&mut r, offset, tilt);
        let Primitive::Circle { frame, radius, sigma } = b else {
            unreachable!("the second one is a circle")
        };
        let range = if r.random_bool(0.5) { [-TOL, r.random_range(0.2..0.6)] } else { [-60.0, 60.0] };
        let got = critical_pairs_between(&a, &b, range, TOL, EXTENT);
        let center = |k: usize| {
            let (sin, cos) = math::sin_cos(TAU * (k % SAMPLES) as f64 / SAMPLES as f64);
            frame.point(radius * cos, radius * sin, 0.0)
        };
        let distances: Vec<_> = (0..SAMPLES).map(|k| signed_distance(&a, &center(k))).collect();
        let at = |k: usize| distances[k % SAMPLES];
        for k in 1..=SAMPLES {
            let (Some(before), Some(here), Some(after)) = (at(k - 1), at(k), at(k + 1)) else { continue };
            let (left, right) = (here.value - before.value, here.value - after.value);
            // Compares only where neighbours have about the same normal, and on the used nappe.
            let smooth = [before, after].iter().all(|n| n.gradient.dot(&here.gradient) > 0.9)
                && !matches!(a, Primitive::Line { origin, dir, slope, .. }
                        if slope != 0.0 && (here.foot - origin).dot(&dir) < 0.0);
            let strict = left * right > 0.0 && left.abs().min(right.abs()) > 1e-9;
            let distance = here.value - sigma;
            // An extremum between samples may exceed the sample by about the difference to its
            // neighbours.
            let slack = 2.0 * left.abs().max(right.abs());
            if !(strict && smooth && range[0] + slack < distance && distance < range[1] - slack) {
                continue;
            }
            let step = 2.5 * radius * TAU / SAMPLES as f64;
            let is_extremum = |c: &&Critical| {
                let foot = c.p_b + c.n * sigma;
                (foot - center(k)).norm() < step && c.n.dot(&here.gradient) > 0.9
            };
            let beyond = |c: &Critical| (c.distance - distance) * left.signum();
            assert!(
                got.isolated.iter().filter(is_extremum).any(|c| (-1e-12..=slack).contains(&beyond(c))),
                "round {round}: extremum at {distance} in {range:?}\n{a:?}\n{b:?}\n{got:#?}"
            );
            matched += 1;
        }
    }
    assert!(matched > 2000, "only {matched} extrema");
}

/// Queries with narrow ranges return the same pairs in the range as a query of the whole range, although
/// pairs outside the range are not refined.
#[test]
fn narrow_ranges_return_a_subset_of_the_whole_range() {
    let mut r = rng(32);
    let (mut matched, mut outside) = (0, 0);
    for round in 0..4000 {
        // Includes poses that differ from coaxial ones by a few tolerances only.
        let (offset, tilt) = (power(&mut r, -6.0, 1.0), power(&mut r, -7.0, 0.3));
        let (a, b) = features(&mut r, offset, tilt);
        let whole = critical_pairs_between(&a, &b, [-1e3, 1e3], TOL, EXTENT);
        if whole.family.is_some() {
            continue;
        }
        let lo = r.random_range(-1.0..1.0);
        for range in [[-TOL, 0.4], [-EXTENT, -TOL], [lo, lo + power(&mut r, -3.0, 1.0)]] {
            let part = critical_pairs_between(&a, &b, range, TOL, EXTENT);
            // Rounding may move distances at the ends of the range to either side.
            let inner = |c: &&Critical| range.iter().all(|end| (c.distance - end).abs() > 1e-9);
            let expected: Vec<_> = whole
                .isolated
                .iter()
                .filter(|c| (range[0]..=range[1]).contains(&c.distance))
                .filter(inner)
                .collect();
            let found: Vec<_> = part.isolated.iter().filter(inner).collect();
            assert_eq!(
                found.len(),
                expected.len(),
                "round {round}, {range:?}\n{a:?}\n{b:?}\n{whole:#?}\n{part:#?}"
            );
            for (x, y) in found.iter().zip(&expected) {
                assert!((x.distance - y.distance).abs() < 1e-10, "round {round}: {x:?} {y:?}");
            }
            matched += found.len();
            outside += whole.isolated.len() - expected.len();
        }
    }
    assert!(matched > 5000 && outside > 10_000, "{matched} in the ranges, {outside} outside");
}

#[test]
fn simple_solutions_distinguish_duplicates_from_neighbours() {
    let state = |det: f64| State { step: 0.0, size: 0.0, det, derivative_bound: 1.0, max_size: 1.0 };
    let at = UnitAngle::of_angle;
    let mut solutions = SimpleSolutions::default();
    for (angle, det) in [(0.0, 0.5), (1.0, -0.5), (3.0, 0.5), (4.0, -0.5)] {
        assert!(matches!(solutions.add(at(angle), &state(det)), Ok(true)), "{angle}: new");
    }
    assert!(matches!(solutions.add(at(TAU + 1e-9), &state(0.5)), Ok(false)), "the first one again");
    assert!(solutions.add(at(1.0 + 1e-5), &state(1e-6)).is_err(), "too close to decide");
    assert!(SimpleSolutions::are_complete(&[solutions], 4), "equal numbers of minima and maxima");
    let mut one = SimpleSolutions::default();
    assert!(one.add(at(0.0), &state(1.0)).is_ok(), "new");
    assert!(!SimpleSolutions::are_complete(&[one], 1), "a maximum is missing");
    assert!(!SimpleSolutions::are_complete(&[SimpleSolutions::default()], 2), "no solutions");
}
