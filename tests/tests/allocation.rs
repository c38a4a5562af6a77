//! Queries do not allocate once their buffers have grown to the size that a trajectory needs.
#![expect(clippy::print_stdout, reason = "the test reports the counted allocations")]

use feeler_geom::Pose;
use feeler_runtime::{ContactPair, ContactTracker, QueryOptions, StepBound, TrackerOptions};
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

/// The insertion scenarios of `data/`, and those of the shared corpus if it is present. The second pass
/// begins with the results of the end of the path instead of none, so it may use the data of a few other
/// areas, which are computed at their first use; the third pass repeats the second one.
#[test]
fn trajectories_stop_allocating() {
    for s in scenarios() {
        let mut pair = ContactPair::new(s.a.0.clone(), s.b.0.clone());
        let poses: Vec<Pose> = s.poses.iter().copied().step_by(3).collect();
        let counts = passes(&mut pair, &poses, &QueryOptions::within(s.d_max()));
        println!("{}: {counts:?}", s.name);
        assert!(counts[1] <= counts[0] / 1000, "{}: {counts:?}", s.name);
        assert_eq!(counts[2], 0, "{}", s.name);
    }
}

/// Updates of trackers of flush and of tilted solids stop allocating after a few passes over the poses.
#[test]
fn updates_of_trackers_stop_allocating() {
    let flush =
        [("box", "box", [0.3, 0.2, 20.0]), ("perforated-plate", "perforated-plate", [3.0, 2.0, 10.0])];
    let cases = flush.into_iter().chain(cases().into_iter().map(|(a, b, t, ..)| (a, b, t)));
    for (a, b, t) in cases {
        let (a_body, b_body) = (model(a).body, model(b).body);
        let mut tracker = ContactTracker::new(a_body, b_body, TrackerOptions::default());
        let base = Pose::translation(t[0], t[1], t[2]);
        let tilted = (0..10).map(|k| random_pose(k, &base, 1e-3, 1e-4));
        let slid = (0..10).map(|k| Pose::translation(1e-3 * f64::from(k), 0.0, 0.0) * base);
        let poses: Vec<Pose> = slid.chain(tilted).collect();
        let bound = StepBound { rotation: 1e-3, displacement: 0.02 };
        let counts = [0; 6].map(|_| {
            let counted = allocation_counter::measure(|| {
                for pose in &poses {
                    tracker.update(&Pose::identity(), pose, bound).expect("finite poses and bounds");
                }
            });
            counted.count_total
        });
        println!("{a}/{b}: {counts:?}");
        assert_eq!(counts[4..], [0, 0], "{a}/{b}");
    }
}
