//! Smallest distance between the solids of two STEP files, and all nearby minima.
//!
//! ```text
//! cargo run -p feeler --example distance -- data/socket.step data/plug.step
//! ```
#![expect(clippy::print_stdout, reason = "an example")]

use feeler::{Body, ContactPair, Pose, QueryOptions};
use std::error::Error;
use std::sync::Arc;

/// Returns the first solid of a STEP file, and its pose in the file.
fn first_solid(path: &str) -> Result<(Arc<Body>, Pose), Box<dyn Error>> {
    let model = feeler::prepare_step(path)?;
    for remark in &model.remarks {
        println!("{path}: {remark}");
    }
    let instance = model.instances.first().ok_or("the file has no solid")?;
    Ok((Arc::new(Body::from_model(&model, instance.solid as usize)?), instance.pose()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = args.as_slice() else { return Err("give two STEP files".into()) };
    let ((body_a, pose_a), (body_b, pose_b)) = (first_solid(a)?, first_solid(b)?);
    // Twice the smallest distance includes other nearby minima.
    let mut pair = ContactPair::new(body_a, body_b);
    let nearest =
        pair.nearest_distance(&pose_a, &pose_b, &QueryOptions::default())?.ok_or("a solid has no faces")?;
    let minima = pair.query(&pose_a, &pose_b, &QueryOptions::within(2.0 * nearest.max(0.5)))?;
    for m in minima {
        let [p, q] = [m.point_a, m.point_b].map(|p| format!("({:.4}, {:.4}, {:.4})", p.x, p.y, p.z));
        println!("{:.6} mm between {p} and {q}", m.distance);
    }
    println!("{:?}, nearest {nearest:.6} mm", pair.status().ok_or("no verdict")?);
    Ok(())
}
