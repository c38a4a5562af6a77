//! Insertions of a part into another with little clearance, as sequences of poses like those of `feeler
//! sweep`.

use feeler_runtime::{ContactPair, QueryOptions, Status};
use feeler_tests::corpus::scenarios;

/// No pose interferes, and the smallest distance agrees with that of an independent kernel at the poses
/// that it computed. Its distances have six digits.
#[test]
fn smallest_distances_along_insertions_agree_with_another_kernel() {
    for s in scenarios() {
        let mut pair = ContactPair::new(s.a.0.clone(), s.b.0.clone());
        let options = QueryOptions::within(s.d_max());
        let mut compared = 0;
        for (i, pose) in s.poses.iter().enumerate() {
            pair.query(&s.a.1, pose, &options).expect("finite poses and options");
            assert_eq!(pair.status(), Some(Status::Separated), "{} {i}", s.name);
            let Some(&expected) = s.scenario.reference_min_distance.get(&i) else { continue };
            let found = match pair.min_distance() {
                Some(d) => d,
                None => {
                    let nearest = pair.nearest_distance(&s.a.1, pose, &options);
                    nearest.expect("finite poses").expect("separated solids have a distance")
                }
            };
            assert!((found - expected).abs() < 2e-6, "{} {i}: {found} instead of {expected}", s.name);
            compared += 1;
        }
        assert!(compared >= 20, "{}: {compared}", s.name);
    }
}
