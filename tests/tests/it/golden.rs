//! The smallest local minimal distance agrees with the distance that an independent kernel computed
//! (`data/golden`).
#![expect(clippy::print_stdout, reason = "the test reports the numbers of compared poses")]

use feeler_geom::Pose;
use feeler_runtime::QueryOptions;
use feeler_tests::corpus::boundary_distance;
use feeler_tests::{data_dir, model, pose_of_matrix, query};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    pairs: Vec<GoldenPair>,
}

#[derive(Deserialize)]
struct GoldenPair {
    a: String,
    b: String,
    poses: Vec<GoldenPose>,
}

#[derive(Deserialize)]
struct GoldenPose {
    pose_b: [[f64; 4]; 4],
    distance: f64,
}

#[test]
fn smallest_distance_equals_that_of_the_other_kernel() {
    let text = std::fs::read_to_string(data_dir().join("golden/distances.json")).unwrap();
    let golden: Golden = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    let (mut poses, mut missed) = (0, 0);
    for pair in &golden.pairs {
        let (a, b) = (model(&pair.a), model(&pair.b));
        let size = a.solid.bounds.diagonal().max(b.solid.bounds.diagonal());
        let deviation =
            a.body.hierarchy().info.max_trim_deviation + b.body.hierarchy().info.max_trim_deviation;
        for (i, g) in pair.poses.iter().enumerate() {
            let options = QueryOptions { d_max: g.distance * 1.5, ..QueryOptions::default() };
            let result = query(&a, &b, &Pose::identity(), &pose_of_matrix(&g.pose_b), &options);
            poses += 1;
            let Some(d) = result.min_distance() else {
                wrong.push(format!(
                    "{} / {} pose {i}: nothing found, expected {}",
                    pair.a, pair.b, g.distance
                ));
                continue;
            };
            let tol = 1e-7 * size + deviation;
            if d < g.distance - tol {
                // The other kernel may have missed a minimum; then both footpoints must be on the solids.
                let l = &result.contacts()[0];
                let world_b = pose_of_matrix(&g.pose_b) * b.pose;
                let off = boundary_distance(&a.solid, &(a.pose.inverse() * l.point_a))
                    .max(boundary_distance(&b.solid, &(world_b.inverse() * l.point_b)));
                if off <= tol {
                    println!(
                        "{} / {} pose {i}: {d:.9} is below the other kernel's {:.9}, footpoints on the \
                            solids to {off:.1e}",
                        pair.a, pair.b, g.distance
                    );
                    missed += 1;
                    continue;
                }
            }
            if (d - g.distance).abs() > tol {
                wrong.push(format!(
                    "{} / {} pose {i}: {d:.9}, expected {:.9} ({:?})",
                    pair.a,
                    pair.b,
                    g.distance,
                    result.contacts()[0]
                ));
            }
        }
    }
    println!(
        "{poses} poses of {} pairs; the other kernel missed the smallest distance in {missed}",
        golden.pairs.len()
    );
    assert!(poses >= 380, "the golden file has only {poses} poses");
    assert!(wrong.is_empty(), "{} of {poses} differ:\n{}", wrong.len(), wrong.join("\n"));
}
