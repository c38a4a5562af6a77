//! Balls on a plate: which of many bodies are near each other, and how near.
//!
//! ```text
//! cargo run -p feeler --example many_bodies -- data/perforated-plate.step data/ball.step
//! ```
#![expect(clippy::print_stdout, reason = "an example")]

use feeler::{Body, Pose, QueryOptions, Scene};
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [plate, ball] = args.as_slice() else { return Err("give two STEP files".into()) };
    let body = |path: &str| -> Result<Arc<Body>, Box<dyn Error>> {
        Ok(Arc::new(Body::from_model(&feeler::prepare_step(path)?, 0)?))
    };
    let (plate, ball) = (body(plate)?, body(ball)?);
    let (bounds, size) = (*plate.bounds(), ball.size());
    let mut bodies = vec![plate];
    let mut poses = vec![Pose::identity()];
    for k in 0..25 {
        let (i, j) = (f64::from(k % 5), f64::from(k / 5));
        let [x, y] = [i, j].map(|n| 0.7 * size * (n - 2.0));
        bodies.push(ball.clone());
        poses.push(Pose::translation(x, y, bounds.max.z + 0.3 * size + 0.02 * size * i));
    }
    let mut scene = Scene::new(bodies, QueryOptions::within(0.1 * size))?;
    scene.step(&poses, |_, _| false)?;
    println!("{} near pairs of {}", scene.near().len(), poses.len() * (poses.len() - 1) / 2);
    for near in scene.near() {
        let status = near.contacts.status().ok_or("no verdict")?;
        println!(
            "{} and {}: {status:?}, {:?} mm",
            near.bodies.0,
            near.bodies.1,
            near.contacts.min_distance()
        );
    }
    Ok(())
}
