//! Contacts of grains allocate no memory unless they use the fallback.

use feeler_geom::{Pose, V3};
use feeler_grains::Random;
use feeler_grains::convex::{Placed, contact};
use feeler_grains::distribution::{Distribution, Shapes};
use nalgebra::{Translation3, UnitQuaternion};

#[test]
fn contacts_allocate_nothing() {
    let shapes = Shapes {
        size: Distribution::Uniform { from: 1.5, to: 2.0 },
        proportions: std::array::from_fn(|_| Distribution::Uniform { from: 0.6, to: 1.4 }),
        symmetric: false,
        exponents: std::array::from_fn(|_| Distribution::Uniform { from: 0.5, to: 1.5 }),
    };
    let mut random = Random(7);
    let mut plain = 0;
    for _ in 0..200 {
        let grains = [0, 1].map(|_| shapes.sample(&mut random).expect("a grain"));
        let turn = V3::from_fn(|_, _| 3.0 * random.part());
        let place = V3::from_fn(|_, _| random.part() - 0.5).normalize() * (1.6 + 0.6 * random.part());
        let pose = Pose::from_parts(Translation3::from(place), UnitQuaternion::from_scaled_axis(turn));
        let mut fell_back = false;
        let taken = allocation_counter::measure(|| {
            let a = Placed::new(&grains[0], &Pose::identity()).expect("finite");
            let b = Placed::new(&grains[1], &pose).expect("finite");
            fell_back = contact(&a, &b, 0.1, None).is_some_and(|c| c.fell_back);
        });
        if !fell_back {
            plain += 1;
            assert_eq!(taken.count_total, 0, "{grains:?} {pose:?}");
        }
    }
    assert!(plain > 150, "{plain}");
}
