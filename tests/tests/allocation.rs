//! Queries do not allocate once their buffers have grown to the size that a trajectory needs.
#![expect(clippy::print_stdout, reason = "the test reports the counted allocations")]

use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryOptions};
use feeler_tests::corpus::scenarios;
use feeler_tests::moving_pairs::{MovingPair, moving_pairs_of};
use feeler_tests::{model, random_pose};

/// Pairs with motions of B: narrow gaps and free-form surfaces, deep interference, and conformal contact.
fn cases() -> Vec<MovingPair> {
    let own = [
        ("box", "half-cone", [0.0, 0.0, 5.0], 8.0, 3.0, 10.0),
        ("bore", "pin", [0.0, 0.0, 0.0], 0.0, 0.0, 1.0),
    ];
    let common = ["socket", "stepped-seat", "bayonet-socket", "race", "perforated-plate", "wave"];
    moving_pairs_of(&common).into_iter().chain(own).collect()
}

/// Allocations in each of three passes over the poses.
fn passes(pair: &mut ContactPair, poses: &[Pose], options: &QueryOptions) -> [u64; 3] {
    [0, 1, 2].map(|_| {
        let counted = allocation_counter::measure(|| {
            for pose in poses {
                pair.query(&Pose::identity(), pose, options).expect("finite poses and options");
            }
        });
        counted.count_total
    })
}

#[test]
fn second_passes_allocate_nothing() {
    for (a, b, t, dt, dr, d_max) in cases() {
        let mut pair = ContactPair::new(model(a).body, model(b).body);
        let base = Pose::translation(t[0], t[1], t[2]);
        let poses: Vec<Pose> = (0..20).map(|k| random_pose(k, &base, dt, dr)).collect();
        for quasi_angle in [0.0, 0.02] {
            let options = QueryOptions { quasi_angle, ..QueryOptions::within(d_max) };
            let counts = passes(&mut pair, &poses, &options);
            println!("{a}/{b} quasi_angle {quasi_angle}: {counts:?}");
            assert_eq!(counts[1..], [0, 0], "{a}/{b} quasi_angle {quasi_angle}");
        }
    }
}

/// The insertion scenarios of `data/`, and those of the shared corpus if it is present.
#[test]
fn trajectories_allocate_nothing_the_second_time() {
    for s in scenarios() {
        let mut pair = ContactPair::new(s.a.0.clone(), s.b.0.clone());
        let poses: Vec<Pose> = s.poses.iter().copied().step_by(3).collect();
        let counts = passes(&mut pair, &poses, &QueryOptions::within(s.d_max()));
        println!("{}: {counts:?}", s.name);
        assert_eq!(counts[1..], [0, 0], "{}", s.name);
    }
}
