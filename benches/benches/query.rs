//! Cold queries of pairs of `data/`; each must find a contact.
#![expect(missing_docs, reason = "criterion's macros make items without docs")]

use criterion::{Criterion, criterion_group, criterion_main};
use feeler_benches::{first_body, prepare};
use feeler_geom::Pose;
use feeler_runtime::{ContactPair, QueryOptions};
use std::path::Path;

fn cold_queries(c: &mut Criterion) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data");
    for (a, b, z, d_max) in [
        ("socket", "plug", 0.1, 0.2),
        ("stepped-seat", "stepped-cone", 0.2, 0.3),
        ("bayonet-socket", "bayonet-plug", 0.0, 0.3),
    ] {
        let load = |name: &str| {
            first_body(&prepare(&data.join(format!("{name}.step"))).expect("prepares")).expect("loads")
        };
        let ((body_a, pose_a), (body_b, own_b)) = (load(a), load(b));
        let pose_b =
            Pose::new(nalgebra::Vector3::new(0.01, 0.015, z), nalgebra::Vector3::new(2e-4, 1e-4, 0.0))
                * own_b;
        let options = QueryOptions { d_max, ..QueryOptions::default() };
        let mut check = ContactPair::new(body_a.clone(), body_b.clone());
        assert!(
            !check.query(&pose_a, &pose_b, &options).expect("finite poses and options").is_empty(),
            "{a}/{b}: no contact to time"
        );
        c.bench_function(&format!("cold query {a} {b}"), |bench| {
            bench.iter(|| {
                let mut pair = ContactPair::new(body_a.clone(), body_b.clone());
                pair.query(&pose_a, &pose_b, &options).expect("finite poses and options").len()
            });
        });
    }
}

criterion_group!(benches, cold_queries);
criterion_main!(benches);
