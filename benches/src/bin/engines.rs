//! Plugs in Rapier, with exact contacts and with the triangle meshes that Rapier would use otherwise.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin engines -- FILE... [--step SECONDS] [--friction MU]
//!     [--held SECONDS] [--correction PART] [--iterations N] [--reach MM] [--exact] [--parts 1,4]
//!     [--beside PART] [--until SECONDS] [--record FOLDER] [--along RUN.csv [--every N | --begin SECONDS]]
//! ```
//!
//! For each scenario, the table has a row for exact contacts, and rows for meshes with a chord error of
//! the clearance and of a quarter of it: solver contacts, time of a step, and the penetration of the true
//! solids at the end of steps, computed by feeler for all rows (for meshes every 20th step).
//!
//! Plugs follow the path of the scenario, pulled by a displaced target. With `--held` they are released
//! in their sockets under tilted gravity, and a pin of 19.9 mm in a blind bore of 20 mm as well. The
//! table then contains the largest excess of the energy over that at the start, as a fraction of weight
//! times size, and for the last fifth of the run the largest displacement in a step of contact points
//! with the same identity, and the RMS of the angular acceleration.
//!
//! `--exact` omits meshes, which take minutes, and `--meshes` omits exact contacts. `--parts` sets the
//! chord errors of meshes: the clearance divided by each of these numbers. `--beside` selects one
//! displacement (in clearances). `--until` ends a run early; the last column is then the distance of the
//! plug from its target along its path at that time.
//!
//! With `--record` each run is written step by step, as by `insertions`. `--along` takes such a file, of
//! the same scenario and displacement. With `--begin` a run starts from the recorded state at that time.
//! With `--every` nothing is simulated continuously: from each Nth recorded state a single step is made,
//! which measures contacts and times where a whole run would take hours; all other columns refer to these
//! single steps as well. The names of these recordings end in `-from` and `-along`.
//!
//! Exit status 1 if, with exact contacts, solids penetrate by more than 10 µm, interfere without a
//! contact, or have more than 50 contacts, or if the energy grows by more than 1e-4 of weight times size
//! with `--held`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program that reports"
)]

use feeler_benches::depth::query_depth;
use feeler_benches::drive::{self, MAX_SEATED_DISTANCE, RESPONSE_TIME, STEEL_DENSITY, Target};
use feeler_benches::record::{Recording, Step};
use feeler_benches::span::{Span, chords, set_state};
use feeler_benches::timed::{Spent, Timed};
use feeler_benches::{cpu_seconds, number_after, spread};
use feeler_geom::Pose as ExactPose;
use feeler_rapier::{
    CloseFitParameters, ExactDispatcher, ExactShape, METRES, contact_id, exact_pose, rapier_pose,
};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use feeler_view::mesh::mesh;
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Maximum penetration (mm) with exact contacts.
const MAX_PENETRATION: f64 = 0.01;
/// Maximum number of exact contacts of a scene.
const MAX_CONTACTS: usize = 50;
/// Prediction distance (m) of contacts of fast bodies (`soft_ccd_prediction`). A smaller value can let a
/// fast plug pass a thin wall; a larger one costs time.
const CONTACT_PREDICTION: f64 = 0.01;
/// Maximum excess of the energy, as a fraction of weight times size.
const MAX_ENERGY_EXCESS: f64 = 1e-4;
/// Number of steps between two measurements of the penetration behind meshes. Smaller values find deeper
/// penetrations, but a measurement takes longer than a step.
const STEPS_PER_MEASUREMENT: usize = 20;

/// Representation of the solids in Rapier.
#[derive(Clone, Copy, Debug)]
enum Contacts {
    Exact,
    /// Triangles with the given chord error (mm).
    Mesh(f64),
}

/// A scene: a fixed part, a moving part, and the target that moves it.
struct Scene {
    name: String,
    /// Pose of the moving part in its STEP file.
    place: ExactPose,
    a: (Arc<Body>, ExactPose),
    b: (Arc<Body>, ExactPose),
    clearance: f64,
    target: Option<Target>,
    /// Displacement of the target, in units of the clearance.
    part: f64,
}

#[derive(Debug, Default)]
struct Run {
    times: Vec<f64>,
    contacts: usize,
    /// Smallest signed distance (mm) of the true solids, at most 0; its magnitude is the largest
    /// penetration.
    deepest: f64,
    lost: u64,
    energy: f64,
    /// Largest displacement (mm) of a contact point with one identity in a step.
    moved: f64,
    shaken: f64,
    seated: f64,
    out: f64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let fit = CloseFitParameters {
        step: number_after(&args, "--step").unwrap_or(1e-3),
        correction: number_after(&args, "--correction").unwrap_or(CloseFitParameters::default().correction),
        iterations: number_after(&args, "--iterations").unwrap_or(CloseFitParameters::default().iterations),
        reach: number_after(&args, "--reach").unwrap_or(CloseFitParameters::default().reach),
    };
    let is_exact_only = args.iter().any(|a| a == "--exact");
    let is_mesh_only = args.iter().any(|a| a == "--meshes");
    let friction = number_after(&args, "--friction").unwrap_or(0.0);
    let held: Option<f64> = number_after(&args, "--held");
    let files: Vec<PathBuf> = args.iter().filter(|a| a.ends_with(".json")).map(PathBuf::from).collect();
    let beside = number_after(&args, "--beside");
    let loaded =
        scenes(&files, held.is_some(), beside).and_then(|s| Ok((s, Span::from_args(&args)?, chords(&args)?)));
    let (scenes, span, chords) = match loaded {
        Ok(loaded) => loaded,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    };
    println!("friction {friction}, {fit:?}");
    println!(
        "scene       beside  contacts from     solver  ms mean    95 %  deepest mm  lost   energy  points um\
         \x20 rad/s2  in place      out"
    );
    let mut is_right = true;
    for scene in scenes {
        let c = scene.clearance;
        let meshes = chords.iter().map(|part| Contacts::Mesh(c / part));
        for contacts in std::iter::once(Contacts::Exact).chain(meshes) {
            let is_left_out = match contacts {
                Contacts::Exact => is_mesh_only,
                Contacts::Mesh(_) => is_exact_only,
            };
            if is_left_out {
                continue;
            }
            let mut r = match run(&scene, contacts, &fit, friction, held, &span) {
                Ok(r) => r,
                Err(e) => {
                    eprintln!("{}: {e}", scene.name);
                    return ExitCode::from(2);
                }
            };
            let mean = r.times.iter().sum::<f64>() / r.times.len().max(1) as f64;
            let [_, high, _] = spread(&mut r.times);
            let source = match contacts {
                Contacts::Exact => "exact".to_owned(),
                Contacts::Mesh(chord) => format!("mesh {chord:.4} mm"),
            };
            println!(
                "{:10}  {:6}  {source:16}  {:6}  {mean:7.3}  {high:6.3}  {:10.2e}  {:4}  {:7.0e}  {:9.3}  \
                 {:6.2}  {:8.4}  {:7.4}",
                scene.name,
                scene.part,
                r.contacts,
                r.deepest,
                r.lost,
                r.energy,
                1e3 * r.moved,
                r.shaken,
                r.seated,
                r.out
            );
            if matches!(contacts, Contacts::Exact) && span.every.is_none() {
                let is_there = held.is_some()
                    || r.seated.abs().max(r.out.abs()) <= MAX_SEATED_DISTANCE
                    || friction > 0.0;
                let is_there = is_there || span.until.is_finite();
                is_right &= r.deepest >= -MAX_PENETRATION && r.lost == 0;
                is_right &= r.contacts <= MAX_CONTACTS && is_there;
                is_right &= held.is_none() || r.energy <= MAX_ENERGY_EXCESS;
            }
        }
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn scenes(files: &[PathBuf], is_held: bool, beside: Option<f64>) -> Result<Vec<Scene>, String> {
    let mut out = Vec::new();
    for file in files {
        let i = Insertion::load(file, feeler_import::DEFAULT_FLATNESS)?;
        if i.scenario.dilation != 0.0 {
            return Err(format!("{}: a dilated plug is supported by `insertions` only", file.display()));
        }
        let parts =
            if is_held { vec![0.0] } else { beside.map_or(vec![0.0, 0.5, 1.0, 2.0], |part| vec![part]) };
        for part in parts {
            let target = Target::new(&i, part)?;
            let start = if is_held { drive::seated_pose(&i) } else { target.pose(0.0) };
            out.push(Scene {
                name: i.name.clone(),
                place: i.b.1,
                a: i.a.clone(),
                b: (i.b.0.clone(), start),
                clearance: i.scenario.clearance,
                target: (!is_held).then_some(target),
                part,
            });
        }
    }
    if is_held {
        let [bore, pin] = ["blind-bore", "pin"].map(|name| feeler_tests::model(name).body);
        out.push(Scene {
            name: "peg".to_owned(),
            place: ExactPose::identity(),
            a: (bore, ExactPose::identity()),
            b: (pin, drive::above_bore()),
            clearance: 0.05,
            target: None,
            part: 0.0,
        });
    }
    Ok(out)
}

fn collider(body: &Arc<Body>, contacts: Contacts) -> Result<ColliderBuilder, String> {
    let exact = ExactShape::new(body.clone()).map_err(|e| e.to_string())?;
    let Contacts::Mesh(chord) = contacts else { return Ok(exact.collider()) };
    let mesh = mesh(body.hierarchy(), chord).map_err(|e| e.to_string())?;
    let points = mesh.points.iter().map(|p| Vector::new(p.x, p.y, p.z) * METRES).collect();
    let triangles = mesh.triangles.iter().map(|t| t.map(|k| mesh.welded[k as usize])).collect();
    ColliderBuilder::trimesh(points, triangles).map_err(|e| e.to_string())
}

fn run(
    scene: &Scene,
    contacts: Contacts,
    fit: &CloseFitParameters,
    friction: f64,
    held: Option<f64>,
    span: &Span,
) -> Result<Run, String> {
    let (mut world, dispatcher) = (PhysicsWorld::new(), ExactDispatcher::default());
    let g = if held.is_some() { drive::tilted_gravity() * METRES } else { nalgebra::zero() };
    world.gravity = Vector::new(g.x, g.y, g.z);
    dispatcher.install(&mut world, fit);
    let spent = Spent::default();
    let clocked = Timed::new(dispatcher.clone().chain(DefaultQueryDispatcher), spent.clone());
    world.narrow_phase.set_query_dispatcher(clocked);
    let fixed = RigidBodyBuilder::fixed().pose(rapier_pose(&scene.a.1));
    world.insert(fixed, collider(&scene.a.0, contacts)?.friction(friction));
    // Mass and inertia are those of the exact solid, whatever its representation.
    let shape = ExactShape::new(scene.b.0.clone()).map_err(|e| e.to_string())?;
    let properties = Shape::mass_properties(&shape, STEEL_DENSITY);
    let moving = RigidBodyBuilder::dynamic()
        .pose(rapier_pose(&scene.b.1))
        .can_sleep(false)
        .soft_ccd_prediction(CONTACT_PREDICTION)
        .additional_mass_properties(properties);
    let (id, _) = world.insert(moving, collider(&scene.b.0, contacts)?.density(0.0).friction(friction));
    let mut true_solids = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    let mut out = Run { energy: f64::MIN, ..Run::default() };
    world.bodies[id].recompute_mass_properties_from_colliders(&world.colliders);
    let energy = |w: &PhysicsWorld| {
        let b = &w.bodies[id];
        b.kinetic_energy() - b.mass() * w.gravity.dot(b.center_of_mass())
    };
    let begin = energy(&world);
    let scale = world.bodies[id].mass() * 9.81 * scene.b.0.size() * METRES;
    let end =
        held.unwrap_or_else(|| scene.target.as_ref().map_or(0.0, |t| t.end_time + 10.0 * RESPONSE_TIME));
    let mut points: BTreeMap<u64, Vector> = BTreeMap::new();
    let (mut t, mut k, mut shaken) = (span.begin, 0_usize, Vec::new());
    let mut steps = Recording::default();
    if span.every.is_none()
        && let Some(state) = span.state(t)?
    {
        set_state(&mut world.bodies[id], state);
    }
    while t < end.min(span.until) {
        let before = t;
        t += fit.step;
        k += 1;
        if let Some(every) = span.every {
            if !k.is_multiple_of(every) {
                continue;
            }
            if let Some(state) = span.state(before)? {
                set_state(&mut world.bodies[id], state);
            }
        }
        if let Some(target) = &scene.target {
            pull(&mut world.bodies[id], target, t, fit.step);
        }
        let spin = world.bodies[id].angvel();
        spent.take();
        let begun = cpu_seconds();
        world.step();
        let took = 1e3 * (cpu_seconds() - begun);
        out.times.push(took);
        let manifolds = || world.narrow_phase.contact_pairs().flat_map(|p| p.manifolds());
        let solved = manifolds().map(|m| m.data.solver_contacts.len()).sum();
        out.contacts = out.contacts.max(solved);
        let pose = exact_pose(world.bodies[id].position());
        if let Some(target) = &scene.target {
            steps.steps.push(Step {
                time: t,
                phase: target.phase(t).to_owned(),
                step_ms: took,
                query_ms: 1e3 * spent.take().as_secs_f64(),
                rounds: 1,
                minima: manifolds().map(|m| m.points.len()).sum(),
                contacts: solved,
                smallest_gap: manifolds()
                    .flat_map(|m| &m.points)
                    .map(|p| p.dist / METRES)
                    .fold(f64::INFINITY, f64::min),
                pose,
            });
        }
        if matches!(contacts, Contacts::Exact) || k.is_multiple_of(STEPS_PER_MEASUREMENT) {
            measure_penetration(&mut true_solids, &scene.a.1, &pose, &mut out)?;
        }
        out.energy = out.energy.max((energy(&world) - begin) / scale);
        if held.is_some_and(|time| t > 0.8 * time) {
            shaken.push(((world.bodies[id].angvel() - spin) / fit.step).length_squared());
            let now: BTreeMap<u64, Vector> =
                manifolds().filter_map(|m| Some((contact_id(m), m.points.first()?.local_p1))).collect();
            let moved = now.iter().filter_map(|(id, p)| points.get(id).map(|q| (*p - *q).length()));
            out.moved = moved.fold(out.moved, |a, b| a.max(b / METRES));
            points = now;
        }
        if let Some(target) = &scene.target {
            let off = pose.translation.z - target.pose(t).translation.z;
            if before < target.seat_time && t >= target.seat_time {
                out.seated = off;
            }
            out.out = off;
        }
    }
    out.shaken = (shaken.iter().sum::<f64>() / shaken.len().max(1) as f64).sqrt();
    out.lost += dispatcher.unexplained() + dispatcher.failed();
    let source = match contacts {
        Contacts::Exact => "exact".to_owned(),
        Contacts::Mesh(chord) => format!("mesh-{chord}"),
    };
    span.write(&steps, &format!("{}-{}-rapier-{source}", scene.name, scene.part), &scene.place)?;
    Ok(out)
}

/// Applies the force of a spring and a damper towards the target, as in `insertions`, but explicitly.
fn pull(body: &mut RigidBody, target: &Target, time: f64, step: f64) {
    let pose = rapier_pose(&target.pose(time));
    let v = target.velocity(time, step) * METRES;
    let (m, gyration) = (body.mass(), 0.3 * target.length * METRES);
    let (stiffness, damping) = (m / (RESPONSE_TIME * RESPONSE_TIME), 2.0 * m / RESPONSE_TIME);
    let center = pose.transform_point(body.mass_properties().local_mprops.local_com);
    let velocity = Vector::new(v.x, v.y, v.z) - body.linvel();
    let turned = (pose.rotation * body.rotation().inverse()).to_scaled_axis();
    let inertia = gyration * gyration;
    body.reset_forces(true);
    body.reset_torques(true);
    body.add_force((center - body.center_of_mass()) * stiffness + velocity * damping, true);
    body.add_torque(turned * (stiffness * inertia) - body.angvel() * (damping * inertia), true);
}

/// Updates the largest penetration of the solids, and counts interferences without a contact.
fn measure_penetration(
    true_solids: &mut ContactPair,
    a: &ExactPose,
    b: &ExactPose,
    out: &mut Run,
) -> Result<(), String> {
    let options = QueryOptions { penetration: f64::MAX, ..QueryOptions::within(0.0) };
    let is_explained = query_depth(true_solids, a, b, 0.0).map_err(|e| e.to_string())?;
    let deepest = true_solids.contacts().iter().map(|l| l.distance).fold(0.0, f64::min);
    if deepest < out.deepest {
        // Edges of two coincident faces cross sideways: the common volume there is as thin as the faces
        // are pressed together, and a short translation across them separates the solids.
        let translation = true_solids.separating_translation(a, b, &options).map_err(|e| e.to_string())?;
        // `None` if the solids touch within the tolerance and do not interfere.
        out.deepest = out.deepest.min(deepest.max(-translation.map_or(0.0, |v| v.norm())));
    }
    out.lost += u64::from(!is_explained);
    Ok(())
}
