//! Overhead of exact contacts in a step of Rapier, beyond `ContactTracker::update` and the solver.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin overhead -- [SCENARIO.json...] [--held SECONDS]
//! ```
//!
//! Parts are released as in `engines --held`, in two worlds: one with exact contacts, and one with a stub
//! dispatcher that receives the same contacts and searches for none. A third update outside of both worlds
//! computes the contacts. The overhead is the time of a step in the first world minus that in the second one
//! and minus that of the update. Both worlds must have the same bits.
//!
//! The exit status is 1 if the median overhead exceeds 20 µs, or if the worlds differ.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use feeler_benches::drive::{self, STEEL_DENSITY};
use feeler_benches::{number_after, spread};
use feeler_geom::Pose as ExactPose;
use feeler_rapier::{
    CloseFitParameters, ExactDispatcher, ExactShape, METRES, Manifold, contact_id, exact_pose, rapier_pose,
};
use feeler_runtime::{Body, ContactTracker, TrackerOptions};
use feeler_tests::insertion::Insertion;
use rapier3d_f64::geometry::{ContactData, ContactManifoldData};
use rapier3d_f64::parry::query::details::{NormalConstraints, ShapeCastOptions};
use rapier3d_f64::parry::query::{
    ClosestPoints, Contact, ContactManifoldsWorkspace, NonlinearRigidMotion, PersistentQueryDispatcher,
    QueryDispatcher, ShapeCastHit, ShapeDistance, ShapeIntersection, TypedWorkspaceData, Unsupported,
    WorkspaceData,
};
use rapier3d_f64::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Maximum median overhead (µs) of a step.
const MAX_OVERHEAD: f64 = 20.0;

/// Dispatcher that returns stored contacts.
#[derive(Clone, Default)]
struct Stub {
    stored: Arc<Mutex<Vec<Manifold>>>,
}

/// Workspace that marks a pair as composite, because Rapier allows only one manifold for a pair of convex
/// shapes.
#[derive(Clone, Copy)]
struct Composite;

impl WorkspaceData for Composite {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(*self)
    }
}

impl QueryDispatcher for Stub {
    fn intersection_test(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        Err(Unsupported)
    }

    fn distance(&self, _: &Pose, _: &dyn Shape, _: &dyn Shape) -> Result<ShapeDistance, Unsupported> {
        Err(Unsupported)
    }

    fn contact(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: f64,
    ) -> Result<Option<Contact>, Unsupported> {
        Err(Unsupported)
    }

    fn closest_points(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: f64,
    ) -> Result<ClosestPoints, Unsupported> {
        Err(Unsupported)
    }

    fn cast_shapes(
        &self,
        _: &Pose,
        _: Vector,
        _: &dyn Shape,
        _: &dyn Shape,
        _: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        Err(Unsupported)
    }

    fn cast_shapes_nonlinear(
        &self,
        _: &NonlinearRigidMotion,
        _: &dyn Shape,
        _: &NonlinearRigidMotion,
        _: &dyn Shape,
        _: f64,
        _: f64,
        _: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        Err(Unsupported)
    }
}

impl PersistentQueryDispatcher<ContactManifoldData, ContactData> for Stub {
    fn contact_manifolds(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: f64,
        manifolds: &mut Vec<Manifold>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        if workspace.is_none() {
            *workspace = Some(Composite.into());
        }
        let earlier = std::mem::take(manifolds);
        for m in &*self.stored.lock().expect("no other thread panicked") {
            let mut manifold = m.clone();
            let before = earlier.iter().find(|e| contact_id(e) == contact_id(m));
            // The data of the solver belongs to the other world.
            manifold.points[0].data = before.map_or_else(ContactData::default, |e| e.points[0].data);
            manifold.data = before.map_or_else(ContactManifoldData::default, |e| e.data.clone());
            manifolds.push(manifold);
        }
        Ok(())
    }

    fn contact_manifold_convex_convex(
        &self,
        _: &Pose,
        _: &dyn Shape,
        _: &dyn Shape,
        _: Option<&dyn NormalConstraints>,
        _: Option<&dyn NormalConstraints>,
        _: f64,
        _: &mut Manifold,
    ) -> Result<(), Unsupported> {
        Err(Unsupported)
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let time = number_after(&args, "--held").unwrap_or(2.0);
    let files: Vec<PathBuf> = args.iter().filter(|a| a.ends_with(".json")).map(PathBuf::from).collect();
    println!("scene     steps  query us  stub's step us  overhead us: median, 95 %  same motion");
    let mut is_right = true;
    let [bore, pin] = ["blind-bore", "pin"].map(|name| feeler_tests::model(name).body);
    let mut scenes = vec![("peg".to_owned(), (bore, ExactPose::identity()), (pin, drive::above_bore()))];
    for file in &files {
        match Insertion::load(file, feeler_import::DEFAULT_FLATNESS) {
            Ok(i) => scenes.push((i.name.clone(), i.a.clone(), (i.b.0.clone(), drive::seated_pose(&i)))),
            Err(e) => {
                eprintln!("{e}");
                return ExitCode::from(2);
            }
        }
    }
    for (name, a, b) in scenes {
        match run(&a, &b, time) {
            Ok(mut r) => {
                let [overhead, high, _] = spread(&mut r.overhead);
                let [query, stub] = [&mut r.query, &mut r.stub].map(|t| spread(t)[0]);
                println!(
                    "{name:8}  {:5}  {query:8.1}  {stub:14.1}  {overhead:8.2}, {high:8.2}            {}",
                    r.overhead.len(),
                    r.is_same
                );
                is_right &= overhead <= MAX_OVERHEAD && r.is_same;
            }
            Err(e) => {
                eprintln!("{name}: {e}");
                return ExitCode::from(2);
            }
        }
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Debug)]
struct Run {
    /// Times (µs) of the updates.
    query: Vec<f64>,
    stub: Vec<f64>,
    overhead: Vec<f64>,
    is_same: bool,
}

fn run(a: &(Arc<Body>, ExactPose), b: &(Arc<Body>, ExactPose), time: f64) -> Result<Run, String> {
    let shapes = [&a.0, &b.0].map(|body| ExactShape::new(body.clone()).map_err(|e| e.to_string()));
    let [fixed, moving] = shapes;
    let (fixed, moving) = (fixed?, moving?);
    let stub = Stub::default();
    let build = |dispatcher: Option<&Stub>| {
        let mut world = PhysicsWorld::new();
        let g = drive::tilted_gravity() * METRES;
        world.gravity = Vector::new(g.x, g.y, g.z);
        ExactDispatcher::default().install(&mut world, &CloseFitParameters::default());
        if let Some(stub) = dispatcher {
            world.narrow_phase.set_query_dispatcher(stub.clone());
        }
        world.insert(RigidBodyBuilder::fixed().pose(rapier_pose(&a.1)), fixed.collider().friction(0.0));
        let body = RigidBodyBuilder::dynamic().pose(rapier_pose(&b.1)).can_sleep(false);
        let (id, _) = world.insert(body, moving.collider().density(STEEL_DENSITY).friction(0.0));
        (world, id)
    };
    let ((mut exact, id), (mut played, twin)) = (build(None), build(Some(&stub)));
    let max_depth = ExactDispatcher::default().depth;
    let options = TrackerOptions { reach: 0.0, max_depth, ..TrackerOptions::default() };
    let mut tracker = ContactTracker::new(a.0.clone(), b.0.clone(), options);
    let forced = drive::tilted_gravity().norm()
        * CloseFitParameters::default().step
        * CloseFitParameters::default().step;
    let mut out = Run { query: Vec::new(), stub: Vec::new(), overhead: Vec::new(), is_same: true };
    let mut t = 0.0;
    while t < time {
        t += CloseFitParameters::default().step;
        let pose = exact_pose(exact.bodies[id].position());
        let clock = Instant::now();
        let bound = tracker.expected_bound(&a.1, &pose, forced, CloseFitParameters::default().reach);
        bound.and_then(|bound| tracker.update(&a.1, &pose, bound)).map_err(|e| e.to_string())?;
        let query = 1e6 * clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        exact.step();
        let step = 1e6 * clock.elapsed().as_secs_f64();
        {
            let mut stored = stub.stored.lock().map_err(|_| "another thread panicked".to_owned())?;
            stored.clear();
            stored.extend(exact.narrow_phase.contact_pairs().flat_map(|p| p.manifolds()).cloned());
        }
        let clock = Instant::now();
        played.step();
        let stubbed = 1e6 * clock.elapsed().as_secs_f64();
        out.is_same &= exact.bodies[id].position() == played.bodies[twin].position();
        out.query.push(query);
        out.stub.push(stubbed);
        out.overhead.push(step - query - stubbed);
    }
    Ok(out)
}
