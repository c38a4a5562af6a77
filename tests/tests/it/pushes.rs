//! Contacts persist through zero distance: some pushes of the benchmark program `pushes`, and a part
//! pressed into its seat.

use feeler_geom::Pose;
use feeler_runtime::{Contact, ContactPair, QueryOptions};
use feeler_tests::model;
use feeler_tests::pushes::{Push, Tally};

#[test]
fn contacts_persist_through_zero_distance() {
    for (a, b) in [("box", "torus"), ("cylinder", "cylinder"), ("spool", "spool"), ("torus-nurbs", "wave")] {
        let [part_a, part_b] = [a, b].map(model);
        let mut t = Tally::default();
        for seed in 0..8 {
            if let Some(push) = Push::new(a, (&part_a.body, &part_a.pose), &part_b.body, 7000 + seed) {
                push.run(&mut t);
            }
        }
        assert!(t.lost.is_empty(), "{a} / {b}: {:#?}", t.lost);
        assert!(t.jumps.is_empty(), "{a} / {b}: {:#?}", t.jumps);
        assert!(t.pushes >= 6 && t.same >= t.pushes, "{a} / {b}: {t:?}");
    }
}

/// The plug is pressed through the wall of its socket's slot in a thousand steps. Minima at negative
/// distances continue from step to step; they begin and end only at zero, at the maximum depth or at a
/// neighbouring feature.
#[test]
fn a_plug_pressed_into_its_socket() {
    let [socket, plug] = ["bayonet-socket", "bayonet-plug"].map(model);
    let mut pair = ContactPair::new(socket.body.clone(), plug.body.clone());
    let depth = 0.2;
    let options = QueryOptions { penetration: depth, ..QueryOptions::within(0.3) };
    let steps = 1000;
    let (mut before, mut deepest, mut unexplained) = (Vec::new(), 0.0_f64, 0);
    let travel = 0.5;
    let moved = travel / f64::from(steps);
    let features = |l: &Contact| [l.feature_a, l.feature_b].map(|f| (f.kind, f.index));
    // Start beside the common axis, because on the axis all round faces are in contact all around.
    for k in 5..steps {
        let pose = Pose::translation(moved * f64::from(k), 0.3 * moved * f64::from(k), 0.0) * plug.pose;
        let now = pair.query(&socket.pose, &pose, &options).expect("thin enough").to_vec();
        for l in &now {
            let gap = l.point_b - l.point_a - l.normal * l.distance;
            assert!(gap.norm() < 1e-8, "{l:?}");
            assert!(l.distance >= -depth, "{l:?}");
            deepest = deepest.min(l.distance);
        }
        let at_end = |d: f64| (depth + d).abs() < 3.0 * moved || (d - 0.3).abs() < 3.0 * moved;
        for l in before.iter().filter(|l: &&Contact| !at_end(l.distance)) {
            let continues = now.iter().any(|n| {
                features(n) == features(l)
                    || (n.point_a - l.point_a).norm().min((n.point_b - l.point_b).norm()) < 30.0 * moved
            });
            unexplained += usize::from(!continues);
        }
        before = now;
    }
    assert!(deepest < -0.1, "{deepest}");
    assert_eq!(unexplained, 0, "contacts vanish at negative distances");
}
