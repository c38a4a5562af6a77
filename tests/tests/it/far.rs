//! Solids that are far apart or far from the world's origin: queries give the right result or are
//! rejected.
//!
//! These are some pairs of `data/` at some distances; the benchmark program `far` runs all of them.

use feeler_geom::{Pose, V3, math};
use feeler_runtime::{ContactPair, QueryOptions};
use feeler_tests::far::{Outcome, far_apart, far_from_the_origin};
use feeler_tests::model;
use nalgebra::UnitQuaternion;

/// Canonical, free-form and sharp models, and one that is not convex.
const MODELS: [&str; 6] = ["box", "sphere", "torus", "loft", "half-cone", "sphere-nurbs"];
/// Powers of ten (mm): around the limits, and where squares and products overflow.
const POWERS: [i32; 16] = [3, 5, 7, 8, 9, 10, 11, 13, 15, 18, 30, 77, 103, 154, 200, 300];

/// Runs `check` for each pair of models, panics with the descriptions of all failures, and returns the
/// numbers of right and of rejected queries.
fn for_pairs(
    mut check: impl FnMut(&mut ContactPair, &mut dyn FnMut(String, Result<Outcome, String>)),
) -> [u32; 2] {
    let bodies = MODELS.map(|name| model(name).body);
    let (mut right, mut refused, mut wrong) = (0, 0, Vec::new());
    for (i, (name_a, a)) in MODELS.iter().zip(&bodies).enumerate() {
        for (name_b, b) in MODELS.iter().zip(&bodies).skip(i) {
            let mut pair = ContactPair::new(a.clone(), b.clone());
            check(&mut pair, &mut |what, outcome| match outcome {
                Ok(Outcome::Right) => right += 1,
                Ok(Outcome::Refused) => refused += 1,
                Err(why) => wrong.push(format!("{name_a} / {name_b}, {what}: {why}")),
            });
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    [right, refused]
}

fn directions() -> [V3; 2] {
    [V3::x(), V3::new(0.48, -0.6, 0.64)]
}

fn turned() -> Pose {
    Pose::from_parts(V3::zeros().into(), UnitQuaternion::from_scaled_axis(V3::new(0.4, -1.1, 0.7)))
}

#[test]
fn solids_that_are_far_apart() {
    let [right, refused] = for_pairs(|pair, report| {
        for k in POWERS {
            for direction in directions() {
                for rotation in [Pose::identity(), turned()] {
                    for d_max in [1.0, f64::INFINITY] {
                        let place = (&rotation, &direction, power_of_ten(k));
                        let outcome = far_apart(pair, place, &QueryOptions::within(d_max));
                        report(format!("1e{k} mm, d_max {d_max}"), outcome);
                    }
                }
            }
        }
    });
    // With an infinite `d_max`, queries beyond some distance are rejected; with a finite one, no query
    // is.
    assert!(right > refused && refused > 0, "{right} {refused}");
}

#[test]
fn offsets_that_both_solids_share() {
    let [right, refused] = for_pairs(|pair, report| {
        let size = pair.body_a().size().max(pair.body_b().size());
        let beside = Pose::from_parts((V3::z() * size).into(), turned().rotation);
        // Beyond 1e18 mm, rounding loses the distance between the solids.
        for k in POWERS.into_iter().filter(|k| *k <= 18 || *k == 300) {
            for direction in directions() {
                for d_max in [1.0, f64::INFINITY] {
                    let (offset, options) = (power_of_ten(k), QueryOptions::within(d_max));
                    let outcome =
                        far_from_the_origin(pair, [&turned(), &beside], (&direction, offset), &options);
                    report(format!("offset 1e{k} mm, d_max {d_max}"), outcome);
                }
            }
        }
    });
    assert!(right > 0 && refused == 0, "{right} right, {refused} rejected: a common offset must not matter");
}

fn power_of_ten(k: i32) -> f64 {
    math::powf(10.0, f64::from(k))
}
