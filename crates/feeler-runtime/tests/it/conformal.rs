//! Conformal sets: the smallest distance is always reported, and each member at most once.

use crate::common::{at, body, query, turned};
use feeler_brep::fixtures;
use feeler_geom::{P3, Pose, math};
use feeler_runtime::{Contact, ContactKind, ContactPair, FeatureKind, QueryOptions};
use std::f64::consts::{PI, SQRT_2, TAU};

fn within(d_max: f64) -> QueryOptions {
    QueryOptions::within(d_max)
}

fn all_conformal(l: &[Contact]) -> bool {
    !l.is_empty() && l.iter().all(|l| l.kind == ContactKind::Conformal)
}

/// A pin of radius 1.9 in a bore of radius 2: longer and shorter than the bore, coaxial and nearly
/// coaxial.
#[test]
fn pin_in_a_bore() {
    let block = body(&fixtures::block_with_hole(5.0, 4.0, 2.0));
    for (height, z) in [(10.0, -3.0), (2.0, 1.0), (4.0, 0.0)] {
        for pin in [fixtures::cylinder(1.9, height), fixtures::cylinder_halves(1.9, height)] {
            let pin = body(&pin);
            for offset in [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.05] {
                let l = query(&block, &pin, &at(0.0, 0.0, 0.0), &at(offset, 0.0, z), &within(0.2));
                assert!(!l.is_empty(), "height {height} offset {offset}");
                assert!(
                    (l[0].distance - (0.1 - offset)).abs() < 2e-6,
                    "height {height} offset {offset}: {l:?}"
                );
                let faces = l.iter().filter(|l| {
                    l.feature_a.kind == FeatureKind::Face && l.feature_b.kind == FeatureKind::Face
                });
                assert!(faces.count() >= 2, "height {height} offset {offset}: {l:?}");
                assert!(all_conformal(&l), "height {height} offset {offset}: {l:#?}");
                // Both ends of the overlap are sampled.
                let (lo, hi) = (z.max(0.0), (z + height).min(4.0));
                for end in [lo, hi] {
                    assert!(
                        l.iter().any(|l| (l.point_a.z - end).abs() < 1e-6),
                        "height {height} offset {offset} end {end}: {l:#?}"
                    );
                }
            }
        }
    }
}

/// A tilted pin has strict minima at the ends of the bore.
#[test]
fn tilted_pin_in_a_bore() {
    let block = body(&fixtures::block_with_hole(5.0, 4.0, 2.0));
    let pin = body(&fixtures::cylinder(1.9, 10.0));
    for tilt in [1e-9, 1e-7, 1e-5, 1e-3, 0.5] {
        let pose = at(0.0, 0.0, 2.0) * turned(0.0, 0.0, 0.0, tilt, 0.0, 0.0) * at(0.0, 0.0, -5.0);
        let l = query(&block, &pin, &at(0.0, 0.0, 0.0), &pose, &within(0.2));
        assert!(!l.is_empty(), "tilt {tilt}");
        // At the end of the bore, the axes are 2 tan(tilt) apart.
        let expected = 0.1 - 2.0 * math::tan(tilt.to_radians());
        assert!(
            (l[0].distance - expected).abs() < 2e-4 * tilt + 2e-6,
            "tilt {tilt}: {} {expected} {l:?}",
            l[0].distance
        );
        if tilt > 1e-3 {
            assert_eq!(l.iter().filter(|l| l.kind == ContactKind::Strict).count(), 2, "tilt {tilt}: {l:#?}");
        }
    }
}

/// Two blocks face to face, in the four ways that the faces can overlap.
#[test]
fn parallel_faces() {
    let a = body(&fixtures::block([-2.0, -2.0, -1.0], [2.0, 2.0, 0.0]));
    let b = body(&fixtures::block([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]));
    let corners = |l: &[Contact], expected: &[(f64, f64)]| {
        for (x, y) in expected {
            let p = P3::new(*x, *y, 0.0);
            assert!(l.iter().any(|l| (l.point_a - p).norm() < 1e-6), "corner {p}: {l:#?}");
        }
    };
    // The upper face is inside the lower one, overlaps an edge of it, or overlaps a corner.
    for (x, y) in [(0.0, 0.0), (1.5, 0.2), (1.7, -1.6)] {
        let l = query(&a, &b, &at(0.0, 0.0, 0.0), &at(x, y, 0.25), &within(0.5));
        assert!(all_conformal(&l), "{l:#?}");
        assert!(l.iter().all(|l| (l.distance - 0.25).abs() < 1e-13), "{l:#?}");
        let kinds = |l: &Contact| (l.feature_a.kind, l.feature_b.kind);
        assert!(l.iter().all(|l| kinds(l) == (FeatureKind::Face, FeatureKind::Face)), "{l:#?}");
        let clip = |v: f64| v.clamp(-2.0, 2.0);
        let (x0, x1, y0, y1) = (clip(x - 1.0), clip(x + 1.0), clip(y - 1.0), clip(y + 1.0));
        corners(&l, &[(x0, y0), (x0, y1), (x1, y0), (x1, y1)]);
    }
    // The faces form a cross.
    let long = body(&fixtures::block([-5.0, -0.5, 0.0], [5.0, 0.5, 1.0]));
    let l = query(&a, &long, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 0.25), &within(0.5));
    assert!(all_conformal(&l), "{l:#?}");
    corners(&l, &[(-2.0, -0.5), (-2.0, 0.5), (2.0, -0.5), (2.0, 0.5)]);
    // Bodies on both sides of a common plane touch.
    let l = query(&a, &b, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 0.0), &within(0.5));
    assert!(all_conformal(&l) && l[0].distance.abs() < 1e-13, "touching {l:#?}");
}

/// With tiny tilts the contact is neither lost nor duplicated; with larger ones the lowest corner or edge
/// remains.
#[test]
fn nearly_parallel_faces() {
    let a = body(&fixtures::block([-2.0, -2.0, -1.0], [2.0, 2.0, 0.0]));
    let b = body(&fixtures::block([-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]));
    for tilt in [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 1.0] {
        for (rx, ry) in [(tilt, 0.0), (tilt, 0.7 * tilt)] {
            let l = query(&a, &b, &at(0.0, 0.0, 0.0), &turned(0.0, 0.0, 0.25, rx, ry, 0.0), &within(0.5));
            assert!(!l.is_empty() && l.len() <= 16, "{tilt}: {l:#?}");
            let lowest = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)]
                .map(|(x, y)| (turned(0.0, 0.0, 0.25, rx, ry, 0.0) * P3::new(x, y, 0.0)).z)
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            assert!((l[0].distance - lowest).abs() < 1e-6, "{tilt}: {l:#?}");
            if tilt > 1e-4 && ry > 0.0 {
                assert_eq!(l.len(), 1, "{tilt}: {l:#?}");
                assert_eq!(l[0].feature_b.kind, FeatureKind::Vertex, "{tilt}: {l:#?}");
            }
        }
    }
}

/// Lines and circles of minima.
#[test]
fn one_dimensional_sets() {
    let plate = body(&fixtures::block([-5.0, -5.0, -1.0], [5.0, 5.0, 0.0]));
    let cylinder = body(&fixtures::cylinder(1.0, 8.0));
    // The cylinder lies on the plate, partly beyond its border.
    let pose = turned(0.0, 0.0, 0.0, 0.0, 0.0, 30.0) * turned(0.0, 3.0, 1.25, 90.0, 0.0, 0.0);
    let l = query(&plate, &cylinder, &at(0.0, 0.0, 0.0), &pose, &within(0.5));
    assert!(all_conformal(&l) && l.iter().all(|l| (l.distance - 0.25).abs() < 1e-13), "{l:#?}");
    assert!(l.iter().all(|l| l.feature_b.kind == FeatureKind::Face), "{l:#?}");
    // A torus lies on the plate.
    let torus = body(&fixtures::torus(2.0, 0.5));
    let l = query(&plate, &torus, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 0.75), &within(0.5));
    assert!(
        all_conformal(&l) && l.len() >= 3 && l.iter().all(|l| (l.distance - 0.25).abs() < 1e-13),
        "{l:#?}"
    );
    // A ball on the axis of a bore.
    let block = body(&fixtures::block_with_hole(5.0, 4.0, 2.0));
    let ball = body(&fixtures::sphere(1.5));
    let l = query(&block, &ball, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 1.0), &within(0.7));
    assert!(
        all_conformal(&l) && l.len() >= 3 && l.iter().all(|l| (l.distance - 0.5).abs() < 1e-13),
        "{l:#?}"
    );
    // A ball in the groove of a spool, centred on the tube circle: a circle of minima.
    let spool = body(&crate::common::spool(3.0, 1.0, 0.866));
    let ball = body(&fixtures::sphere(0.75));
    let l = query(&spool, &ball, &at(0.0, 0.0, 0.0), &at(0.0, 3.0, 0.0), &within(0.5));
    assert!(
        all_conformal(&l) && l.len() >= 3 && l.iter().all(|l| (l.distance - 0.25).abs() < 1e-13),
        "{l:#?}"
    );
}

/// The distances are the same after a common motion of both solids and after a swap.
#[test]
fn invariance() {
    let block = body(&fixtures::block_with_hole(5.0, 4.0, 2.0));
    let pin = body(&fixtures::cylinder(1.9, 10.0));
    let move_all: Pose = turned(3.0, -7.0, 11.0, 20.0, 50.0, -70.0);
    let pose = at(0.01, 0.0, -3.0);
    let still = query(&block, &pin, &at(0.0, 0.0, 0.0), &pose, &within(0.2));
    let moved = query(&block, &pin, &move_all, &(move_all * pose), &within(0.2));
    let swapped = query(&pin, &block, &pose, &at(0.0, 0.0, 0.0), &within(0.2));
    assert!((still[0].distance - moved[0].distance).abs() < 1e-12, "{still:?} {moved:?}");
    assert!((still[0].distance - swapped[0].distance).abs() < 1e-12, "{still:?} {swapped:?}");
    assert!(all_conformal(&moved) && all_conformal(&swapped), "{moved:?} {swapped:?}");
}

/// A set has at most 32 samples. In every direction their extent equals that of the set, up to the error
/// of a regular octagon on circles.
#[test]
fn few_samples_keep_the_hull() {
    let plate = body(&fixtures::block([-2.0, -2.0, -1.0], [2.0, 2.0, 0.0]));
    let holed = body(&fixtures::block_with_hole(5.0, 4.0, 2.0));
    let disc = body(&fixtures::cylinder(3.0, 1.0));
    let pin = body(&fixtures::cylinder(1.9, 10.0));
    // Extent of the samples in a direction.
    let extent = |l: &[Contact], (x, y): (f64, f64)| {
        l.iter().map(|l| x * l.point_a.x + y * l.point_a.y).fold(f64::NEG_INFINITY, f64::max)
    };
    let directions = || (0..64).map(|k| math::sin_cos(f64::from(k) * TAU / 64.0));
    for gap in [0.0, 0.1] {
        // Two squares, one rotated by 45 degrees: their intersection is an octagon.
        let l = query(
            &plate,
            &plate,
            &at(0.0, 0.0, 0.0),
            &turned(0.0, 0.0, 1.0 + gap, 0.0, 0.0, 45.0),
            &within(0.2),
        );
        assert!(all_conformal(&l) && l.len() <= 32, "{l:#?}");
        let h = 2.0 * (SQRT_2 - 1.0);
        for (x, y) in directions() {
            let (a, b) = (x.abs().max(y.abs()), x.abs().min(y.abs()));
            let exact = 2.0 * a + h * b;
            assert!((extent(&l, (x, y)) - exact).abs() < 1e-6, "{exact} along {x}, {y}: {l:#?}");
        }
        // A disc over a hole: the set is a ring.
        let l = query(&holed, &disc, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, 4.0 + gap), &within(0.2));
        assert!(all_conformal(&l) && l.len() <= 32, "{l:#?}");
        let eighth = math::cos(PI / 8.0);
        for (x, y) in directions() {
            let r = extent(&l, (x, y));
            assert!(3.0 * eighth - 1e-6 < r && r < 3.0 + 1e-6, "{r} along {x}, {y}: {l:#?}");
        }
        assert!(l.iter().any(|l| (l.point_a.xy().coords.norm() - 2.0).abs() < 1e-6), "the hole: {l:#?}");
    }
    // A pin in a bore: the samples are on both rims.
    let l = query(&holed, &pin, &at(0.0, 0.0, 0.0), &at(0.0, 0.0, -3.0), &within(0.2));
    assert!(all_conformal(&l) && l.len() <= 32, "{l:#?}");
    for z in [0.0, 4.0] {
        let rim: Vec<Contact> = l.iter().filter(|l| (l.point_a.z - z).abs() < 1e-6).cloned().collect();
        for (x, y) in directions() {
            let r = extent(&rim, (x, y));
            assert!(r > 2.0 * math::cos(PI / 8.0) - 1e-6, "{r} along {x}, {y} at {z}: {l:#?}");
        }
    }
}

/// The conformal loss bounds the distance of corners from samples. It is above 0 only for sets with more
/// corners than samples.
#[test]
fn many_corners() {
    let plate = body(&fixtures::block([-4.0, -4.0, -1.0], [4.0, 4.0, 0.0]));
    for (n, complete) in [(6, true), (24, true), (48, false), (100, false)] {
        let corner = |k: i32| math::sin_cos(f64::from(k) * TAU / f64::from(n));
        let corners: Vec<[f64; 2]> = (0..n).map(corner).map(|(s, c)| [2.0 * c, 2.0 * s]).collect();
        let prism = body(&fixtures::prism(&corners, 1.0));
        let mut pair = ContactPair::new(plate.clone(), prism);
        // The choice of samples depends on the set, not on the pose.
        let mut kept: Option<Vec<P3>> = None;
        for pose in [at(0.0, 0.0, 0.0), at(0.1, 0.2, 0.0), turned(0.3, 0.0, 0.0, 0.0, 0.0, 17.0)] {
            pair.query(&Pose::identity(), &pose, &within(0.1)).expect("a pose");
            assert!(
                all_conformal(pair.contacts()) && pair.contacts().len() <= 33,
                "{n}: {}",
                pair.contacts().len()
            );
            let loss = pair.conformal_loss();
            assert_eq!(loss == 0.0, complete, "{n}: {loss}");
            // At most two adjacent corners have no sample.
            assert!(loss < 2.0 * TAU * 3.0 / f64::from(n), "{n}: {loss}");
            let local: Vec<P3> = pair.contacts().iter().map(|l| pose.inverse() * l.point_a).collect();
            for [x, y] in &corners {
                let gap = local.iter().map(|p| math::hypot(p.x - x, p.y - y)).fold(f64::INFINITY, f64::min);
                assert!(gap <= loss + 1e-6, "{n}: {gap} > {loss}");
            }
            let first = kept.get_or_insert_with(|| local.clone());
            assert_eq!(first.len(), local.len(), "{n}");
            for p in first.iter() {
                assert!(local.iter().any(|q| (p - q).norm() < 1e-6), "{n}: {p} is missing at {pose}");
            }
        }
    }
}

/// Contact regions and conformal sets that are computed together are those that are computed one by one, and
/// have the areas of closed forms: a pin in a bore of its size, blocks on and above each other, a pin with
/// play.
#[test]
fn regions_and_sets_together_and_one_by_one() {
    let block = fixtures::block([0.0; 3], [2.0, 3.0, 1.0]);
    let bore = fixtures::block_with_hole(5.0, 4.0, 2.0);
    let pin = |radius: f64| fixtures::cylinder(radius, 4.0);
    // Solids, position of B, areas of the regions in contact, and areas of the sets.
    let cases = [
        (&block, block.clone(), at(1.0, 1.0, 1.0), vec![2.0], vec![2.0]),
        (&block, block.clone(), at(1.0, 1.0, 1.5), vec![], vec![2.0]),
        (&bore, pin(2.0), at(0.0, 0.0, 1.0), vec![TAU * 2.0 * 3.0], vec![TAU * 2.0 * 3.0]),
        (&bore, pin(1.5), at(0.0, 0.0, 1.0), vec![], vec![TAU * 2.0 * 3.0]),
    ];
    for (k, (a, b, pose, in_contact, of_sets)) in cases.into_iter().enumerate() {
        let options = within(0.8);
        let mut pair = ContactPair::new(body(a), body(&b));
        let here = Pose::identity();
        pair.query(&here, &pose, &options).expect("finite");
        let (regions, sets) = pair.regions_and_sets(&here, &pose, &options).expect("finite");
        assert_eq!(regions, pair.contact_regions(&here, &pose, &options).expect("finite"), "{k}");
        assert_eq!(sets, pair.conformal_sets(&here, &pose, &options).expect("finite"), "{k}");
        let areas = |list: Vec<Option<f64>>| {
            let mut list: Vec<f64> = list.into_iter().flatten().filter(|area| *area > 1e-6).collect();
            list.sort_by(f64::total_cmp);
            list
        };
        let found = areas(regions.iter().map(|region| region.area).collect());
        assert_eq!(found.len(), in_contact.len(), "{k}: {regions:#?}");
        assert!(found.iter().zip(&in_contact).all(|(x, y)| (x - y).abs() < 1e-6), "{k}: {found:?}");
        let found = areas(sets.iter().map(|set| set.contact.area).collect());
        assert_eq!(found.len(), of_sets.len(), "{k}: {sets:#?}");
        assert!(found.iter().zip(&of_sets).all(|(x, y)| (x - y).abs() < 1e-6), "{k}: {found:?}");
    }
}
