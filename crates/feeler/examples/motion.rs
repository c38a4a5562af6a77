//! Lowers a plug into a socket and prints when contacts begin and end.
//!
//! ```text
//! cargo run -p feeler --example motion -- data/socket.step data/plug.step
//! ```
#![expect(clippy::print_stdout, reason = "an example")]

use feeler::{Body, ContactPair, Pose, QueryOptions, Status};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [a, b] = args.as_slice() else { return Err("give two STEP files".into()) };
    let body = |path: &str| -> Result<Arc<Body>, Box<dyn Error>> {
        Ok(Arc::new(Body::from_model(&feeler::prepare_step(path)?, 0)?))
    };
    let mut pair = ContactPair::new(body(a)?, body(b)?);
    let options = QueryOptions::within(0.15);
    let mut known: BTreeMap<u64, f64> = BTreeMap::new();
    let mut last: Option<Status> = None;
    for step in 0..=200 {
        let height = 0.05 * f64::from(200 - step);
        pair.query(&Pose::identity(), &Pose::translation(0.0, 0.0, height), &options)?;
        let now: BTreeMap<u64, f64> = pair.contacts().iter().map(|m| (m.id, m.distance)).collect();
        for (id, distance) in now.iter().filter(|(id, _)| !known.contains_key(*id)) {
            println!("{height:6.2} mm: contact {id} begins at {distance:.6} mm");
        }
        for id in known.keys().filter(|id| !now.contains_key(*id)) {
            println!("{height:6.2} mm: contact {id} ends");
        }
        if pair.status() != last {
            println!("{height:6.2} mm: {:?}", pair.status().ok_or("no verdict")?);
        }
        (known, last) = (now, pair.status());
    }
    Ok(())
}
