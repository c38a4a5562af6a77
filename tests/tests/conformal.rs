//! Conformal contact through near-conformal poses: the demands and the scenarios are in
//! [`feeler_tests::conformal`], the whole campaign is a program of the benches.
#![expect(clippy::print_stdout, reason = "the test reports what it looked at")]

use feeler_geom::{P3, V3};
use feeler_tests::conformal::shapes::Shape;
use feeler_tests::conformal::{Ask, Rig, Seen, all, ramp, tilts};

#[test]
fn tilted_contacts() {
    let tilts = tilts(1e-3, 1);
    let mut faults = Vec::new();
    for i in 0..all(0.0).len() {
        let mut seen = Seen::default();
        for (gap, seed) in [(0.0, 1), (0.05, 0)] {
            let rig = Rig::new(all(gap).swap_remove(i), seed);
            for (k, axis) in rig.scenario.axes.iter().enumerate() {
                // Both ways and both angles, in turn.
                let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                for alpha in [0.0, 2e-3] {
                    let (found, now, _) = ramp(&rig, axis, sign, gap, &tilts, &Ask { alpha, spacing: None });
                    seen.add(&now);
                    let of = format!("{}, gap {gap}, about {}, α {alpha}", rig.scenario.name, axis.name);
                    faults.extend(found.into_iter().map(|f| format!("{}: {of}: {}", f.demand, f.text)));
                }
            }
        }
        println!("{}: {} poses, {} contacts", all(0.0)[i].name, seen.poses, seen.contacts);
        assert!(seen.contacts > 2 * seen.poses, "contacts are met");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The oracles themselves: boundaries lie at distance 0, steps along a normal go as far as they should.
#[test]
fn distances_of_the_shapes() {
    for scenario in all(0.05) {
        for shape in [&scenario.a, &scenario.b] {
            let boundary = shape.boundary(0.5);
            let worst = boundary.iter().map(|p| shape.distance(p).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-14 * 50.0, "{}: {worst}", scenario.name);
        }
        // In the pose itself the smallest distance over B's boundary is the closed form's, from above.
        let axis = scenario.axes[0].dir;
        let pose = scenario.place(&axis, 1e-3, 0.05);
        let lowest = (scenario.lowest)(&pose);
        let least = scenario
            .b
            .boundary(0.1)
            .iter()
            .map(|p| scenario.a.distance(&(pose * p)).abs())
            .fold(f64::INFINITY, f64::min);
        assert!((-1e-12..2e-3).contains(&(least - lowest)), "{}: {least} {lowest}", scenario.name);
    }
    let block = Shape::Box { half: [2.0, 3.0, 4.0], fillet: 0.5 };
    let corner = P3::new(1.5, 2.5, 3.5) + V3::repeat(1.0);
    assert!((block.distance(&corner) - (3.0_f64.sqrt() - 0.5)).abs() < 1e-15, "off a rounded corner");
}
