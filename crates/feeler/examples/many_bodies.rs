//! Balls on a plate: near pairs of many bodies, their distances, and events of a step.
//!
//! ```text
//! cargo run -p feeler --example many_bodies -- data/perforated-plate.step data/ball.step
//! ```
#![expect(clippy::print_stdout, reason = "an example")]

use feeler::{Body, EventKind, Pose, QueryOptions, Scene};
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
    let mut scene = Scene::new(QueryOptions::within(0.1 * size))?;
    scene.add(plate, Pose::identity())?;
    let mut balls = Vec::new();
    for k in 0..25 {
        let (i, j) = (f64::from(k % 5), f64::from(k / 5));
        let [x, y] = [i, j].map(|n| 0.7 * size * (n - 2.0));
        let pose = Pose::translation(x, y, bounds.max.z + 0.3 * size + 0.02 * size * i);
        balls.push(scene.add(ball.clone(), pose)?);
    }
    scene.update()?;
    let n = scene.bodies().len();
    println!("{} near pairs of {}", scene.near().count(), n * (n - 1) / 2);
    for near in scene.near() {
        let status = near.contacts.status().ok_or("no verdict")?;
        let [a, b] = near.bodies.map(|id| id.0);
        println!("{a} and {b}: {status:?}, {:?} mm", near.contacts.min_distance());
    }
    // Remove one ball and lift another one.
    scene.remove(balls[0])?;
    let lifted = Pose::translation(0.0, 0.0, 0.1 * size) * *scene.pose(balls[12])?;
    scene.set_pose(balls[12], lifted)?;
    scene.update()?;
    let count = |kind| scene.events().iter().filter(|e| e.kind == kind).count();
    let [began, persisted, ended] = [EventKind::Began, EventKind::Persisted, EventKind::Ended].map(count);
    println!("then {began} contacts began, {persisted} persisted, {ended} ended");
    Ok(())
}
