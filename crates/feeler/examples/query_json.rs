//! Prints all local minimal distances of the first solids of two STEP files as JSON. The poses in the
//! files are not used: A is at the identity, B at the given pose.
//!
//! ```text
//! cargo run -p feeler --example query_json -- A.step B.step D_MAX X Y Z QX QY QZ QW
//! ```
#![expect(clippy::print_stdout, reason = "an example")]

use feeler::{Body, ContactPair, Pose, QueryOptions, Status};
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [a, b, numbers @ ..] = args.as_slice() else { return Err("give two STEP files".into()) };
    let numbers = numbers.iter().map(|x| x.parse()).collect::<Result<Vec<f64>, _>>()?;
    let (d_max, pose) = numbers.split_first().ok_or("give the largest distance (mm) after the files")?;
    let pose_b = feeler::pose::from_values(pose.try_into().map_err(|_| "give a pose of seven numbers")?)?;
    let body = |path: &str| -> Result<Arc<Body>, Box<dyn Error>> {
        Ok(Arc::new(Body::from_model(&feeler::prepare_step(path)?, 0)?))
    };
    let mut pair = ContactPair::new(body(a)?, body(b)?);
    pair.query(&Pose::identity(), &pose_b, &QueryOptions::within(*d_max))?;

    // JSON has no infinity.
    let number = |x: f64| if x.is_finite() { format!("{x:?}") } else { "null".to_owned() };
    let list = |x: &[f64]| format!("[{}]", x.iter().map(|x| number(*x)).collect::<Vec<_>>().join(", "));
    let contacts = pair.contacts().iter().map(|l| {
        format!(
            "{{\"distance\": {}, \"point_a\": {}, \"point_b\": {}, \"normal\": {}, \"curvature_a\": {}, \
             \"curvature_b\": {}, \"id\": {}}}",
            number(l.distance),
            list(l.point_a.coords.as_slice()),
            list(l.point_b.coords.as_slice()),
            list(l.normal.as_slice()),
            list(&l.curvature_a),
            list(&l.curvature_b),
            l.id
        )
    });
    let status = match pair.status() {
        Some(Status::Separated) => "separated",
        Some(Status::Touching) => "touching",
        Some(Status::Interfering) => "interfering",
        Some(Status::Undecided) => "undecided",
        None => "unknown",
    };
    println!("{{\"status\": \"{status}\", \"contacts\": [{}]}}", contacts.collect::<Vec<_>>().join(",\n"));
    Ok(())
}
