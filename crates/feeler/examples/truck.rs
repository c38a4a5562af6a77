//! Builds a bush and its pin in code with truck-modeling, prepares both, and computes their distances.
//!
//! ```text
//! cargo run --release -p feeler --features truck --example truck
//! ```
#![expect(clippy::print_stdout, reason = "an example that prints its results")]

use feeler::{Body, ContactPair, Pose, QueryOptions};
use std::sync::Arc;
use truck_modeling::{Point3, Rad, Solid, Vector3, Wire, builder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Both are solids of revolution about z; lengths are in mm. The radius of the bore is 5, that of the pin
    // 4.9.
    let bush = prepared("bush", &turned(&[(5.0, 0.0), (9.0, 0.0), (9.0, 12.0), (5.0, 12.0), (5.0, 0.0)]))?;
    let pin = prepared("pin", &turned(&[(0.0, 3.0), (4.9, 3.0), (4.9, 30.0), (0.0, 30.0)]))?;
    let mut pair = ContactPair::new(bush, pin);
    // The pin does not touch the bush: it is 0.06 mm off the axis and tilted by a milliradian.
    let off_axis = Pose::new([0.06, 0.0, 0.0].into(), [0.0, 0.001, 0.0].into());
    let options = QueryOptions { d_max: 0.2, ..QueryOptions::default() };
    for contact in pair.query(&Pose::identity(), &off_axis, &options)? {
        println!("{:.6} mm from {:.4} to {:.4}", contact.distance, contact.point_a, contact.point_b);
    }
    let nearest = pair.contacts().iter().map(|l| l.distance).fold(f64::INFINITY, f64::min);
    // At the end of the bore (z = 12), the pin's side is at 0.06 + 4.9 + 0.012 from the axis, up to 1e-5.
    assert!((nearest - 0.028).abs() < 1e-4, "{nearest} mm");
    Ok(())
}

/// Solid of revolution about z, from a profile of (radius, height) points.
fn turned(profile: &[(f64, f64)]) -> Solid {
    let first = builder::vertex(Point3::new(profile[0].0, 0.0, profile[0].1));
    let closed = profile[0] == profile[profile.len() - 1];
    let mut vertices = vec![first.clone()];
    for (k, p) in profile.iter().enumerate().skip(1) {
        let last = closed && k + 1 == profile.len();
        vertices.push(if last { first.clone() } else { builder::vertex(Point3::new(p.0, 0.0, p.1)) });
    }
    let wire: Wire = vertices.windows(2).map(|w| builder::line(&w[0], &w[1])).collect();
    let shell = if closed {
        builder::rsweep(&wire, Point3::new(0.0, 0.0, 0.0), Vector3::unit_z(), Rad(7.0))
    } else {
        // The ends of the profile are on the axis.
        builder::cone(&wire, Vector3::unit_z(), Rad(7.0))
    };
    Solid::new(vec![shell])
}

fn prepared(name: &str, solid: &Solid) -> Result<Arc<Body>, Box<dyn std::error::Error>> {
    let model = feeler::prepare_truck(name, solid)?;
    let info = &model.solids[0].info;
    println!("{name}: {} faces, {:.4} mm3", info.source_counts[0], info.volume);
    Ok(Arc::new(Body::from_model(&model, 0)?))
}
