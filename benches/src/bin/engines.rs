//! Plugs in Rapier: with exact contacts, and as the triangle meshes that it would take otherwise.
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin engines -- FILE... [--step SECONDS] [--friction MU]
//!     [--held SECONDS] [--correction PART] [--iterations N] [--reach MM] [--exact] [--parts 1,4]
//!     [--beside PART] [--until SECONDS] [--record FOLDER] [--along RUN.csv [--every N | --begin SECONDS]]
//! ```
//!
//! For each scenario a row for exact contacts, and for meshes with a chord error of the clearance and of a
//! quarter of it: solver contacts, time of a step, and how deep the true solids are in one another at the
//! end of steps, asked of feeler for all of them alike (of meshes every twentieth step).
//!
//! Plugs follow the path of the scenario, pulled by a target beside it; with `--held` they are let go in
//! their sockets under tilted gravity, and a pin of 19.9 mm in a blind bore of 20 mm with them. Reported
//! then: what the energy exceeds that of the start by, as a part of weight times size, how far contact points
//! of one identity move in a step of the last fifth, and the RMS of the angular acceleration there.
//!
//! With `--exact` meshes are left out, which take minutes, with `--parts` they have a chord error of the
//! clearance over each of these numbers, and with `--meshes` exact contacts are left out. `--beside` takes
//! one displacement alone (in clearances), and `--until` ends early: the last column is then how far the
//! plug is from its target along its path there.
//!
//! With `--record` each run is written step by step, as `insertions` does. `--along` takes such a file, of
//! the same scenario and displacement: with `--begin` a run begins in the state that this one had at that
//! time, and with `--every` nothing is simulated, but at every Nth step of it one step is made from the
//! state that it had, which tells contacts and times where a whole run would take hours; all else in the
//! row is of these single steps. Names of what is recorded end in `-from` and `-along` then.
//!
//! Exit status 1 where exact contacts let solids deeper into one another than 10 µm, or lose them, or are
//! more than 50, or where energy grows by more than 1e-4 of weight times size while parts are held.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::cast_precision_loss,
    reason = "a program that reports"
)]

use feeler_benches::depth::query_depth;
use feeler_benches::drive::{self, RESPONSE, SEATED, STEEL, Target};
use feeler_benches::record::{Recording, Step};
use feeler_benches::span::{Span, chords, set_state};
use feeler_benches::timed::{Spent, Timed};
use feeler_benches::{cpu_seconds, number_after, spread};
use feeler_geom::Pose as ExactPose;
use feeler_rapier::{ExactDispatcher, ExactShape, Fit, METRES, contact_id, exact_pose, rapier_pose};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use feeler_view::mesh::mesh;
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Deepest (mm) that exact contacts may let solids into one another.
const DEEPEST: f64 = 0.01;
/// Most contacts of a scene.
const CONTACTS: usize = 50;
/// How far (m) ahead of fast bodies contacts are looked for.
const SPECULATION: f64 = 0.01;
/// Largest excess of energy, as a part of weight times size.
const ENERGY: f64 = 1e-4;
/// Steps between two looks at how deep the solids behind meshes are.
const LOOKS: usize = 20;

/// What stands for the solids.
#[derive(Clone, Copy, Debug)]
enum Contacts {
    Exact,
    /// Triangles of a chord error (mm).
    Mesh(f64),
}

/// A scene: a fixed part, a moving one, and what moves it.
struct Scene {
    name: String,
    /// Where its file puts the moving part.
    place: ExactPose,
    a: (Arc<Body>, ExactPose),
    b: (Arc<Body>, ExactPose),
    clearance: f64,
    target: Option<Target>,
    /// Part of the clearance that the target is displaced by.
    part: f64,
}

#[derive(Debug, Default)]
struct Run {
    times: Vec<f64>,
    contacts: usize,
    /// mm
    deepest: f64,
    lost: u64,
    energy: f64,
    /// mm
    moved: f64,
    shaken: f64,
    seated: f64,
    out: f64,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let fit = Fit {
        step: number_after(&args, "--step").unwrap_or(1e-3),
        correction: number_after(&args, "--correction").unwrap_or(Fit::default().correction),
        iterations: number_after(&args, "--iterations").unwrap_or(Fit::default().iterations),
        reach: number_after(&args, "--reach").unwrap_or(Fit::default().reach),
    };
    let is_exact_only = args.iter().any(|a| a == "--exact");
    let is_mesh_only = args.iter().any(|a| a == "--meshes");
    let friction = number_after(&args, "--friction").unwrap_or(0.0);
    let held: Option<f64> = number_after(&args, "--held");
    let files: Vec<PathBuf> = args.iter().filter(|a| a.ends_with(".json")).map(PathBuf::from).collect();
    let beside = number_after(&args, "--beside");
    let told = scenes(&files, held.is_some(), beside).and_then(|s| Ok((s, Span::of(&args)?, chords(&args)?)));
    let (scenes, span, chords) = match told {
        Ok(told) => told,
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
            let [_, most, _] = spread(&mut r.times);
            let source = match contacts {
                Contacts::Exact => "exact".to_owned(),
                Contacts::Mesh(chord) => format!("mesh {chord:.4} mm"),
            };
            println!(
                "{:10}  {:6}  {source:16}  {:6}  {mean:7.3}  {most:6.3}  {:10.2e}  {:4}  {:7.0e}  {:9.3}  \
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
                let is_there = held.is_some() || r.seated.abs().max(r.out.abs()) <= SEATED || friction > 0.0;
                let is_there = is_there || span.until.is_finite();
                is_right &= r.deepest >= -DEEPEST && r.lost == 0 && r.contacts <= CONTACTS && is_there;
                is_right &= held.is_none() || r.energy <= ENERGY;
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
            return Err(format!("{}: has a dilated plug, which only `insertions` takes", file.display()));
        }
        let parts =
            if is_held { vec![0.0] } else { beside.map_or(vec![0.0, 0.5, 1.0, 2.0], |part| vec![part]) };
        for part in parts {
            let target = Target::new(&i, part)?;
            let start = if is_held { drive::place(&i) } else { target.pose(0.0) };
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
    fit: &Fit,
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
    // Mass and inertia are those of the exact solid, whatever touches.
    let shape = ExactShape::new(scene.b.0.clone()).map_err(|e| e.to_string())?;
    let properties = Shape::mass_properties(&shape, STEEL);
    let moving = RigidBodyBuilder::dynamic()
        .pose(rapier_pose(&scene.b.1))
        .can_sleep(false)
        .soft_ccd_prediction(SPECULATION)
        .additional_mass_properties(properties);
    let (id, _) = world.insert(moving, collider(&scene.b.0, contacts)?.density(0.0).friction(friction));
    let mut judge = ContactPair::new(scene.a.0.clone(), scene.b.0.clone());
    let mut out = Run { energy: f64::MIN, ..Run::default() };
    world.bodies[id].recompute_mass_properties_from_colliders(&world.colliders);
    let energy = |w: &PhysicsWorld| {
        let b = &w.bodies[id];
        b.kinetic_energy() - b.mass() * w.gravity.dot(b.center_of_mass())
    };
    let begin = energy(&world);
    let scale = world.bodies[id].mass() * 9.81 * scene.b.0.size() * METRES;
    let end = held.unwrap_or_else(|| scene.target.as_ref().map_or(0.0, |t| t.last + 10.0 * RESPONSE));
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
        if matches!(contacts, Contacts::Exact) || k.is_multiple_of(LOOKS) {
            look(&mut judge, &scene.a.1, &pose, &mut out)?;
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
            if before < target.seat && t >= target.seat {
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

/// A spring and a damper towards the target, as in `insertions`; explicit here.
fn pull(body: &mut RigidBody, target: &Target, time: f64, step: f64) {
    let pose = rapier_pose(&target.pose(time));
    let v = target.velocity(time, step) * METRES;
    let (m, gyration) = (body.mass(), 0.3 * target.length * METRES);
    let (stiffness, damping) = (m / (RESPONSE * RESPONSE), 2.0 * m / RESPONSE);
    let center = pose.transform_point(body.mass_properties().local_mprops.local_com);
    let velocity = Vector::new(v.x, v.y, v.z) - body.linvel();
    let turned = (pose.rotation * body.rotation().inverse()).to_scaled_axis();
    let inertia = gyration * gyration;
    body.reset_forces(true);
    body.reset_torques(true);
    body.add_force((center - body.center_of_mass()) * stiffness + velocity * damping, true);
    body.add_torque(turned * (stiffness * inertia) - body.angvel() * (damping * inertia), true);
}

/// How deep the solids are in one another, as far as that can be told, or that they are lost in one another.
fn look(judge: &mut ContactPair, a: &ExactPose, b: &ExactPose, out: &mut Run) -> Result<(), String> {
    let options = QueryOptions { penetration: f64::MAX, ..QueryOptions::within(0.0) };
    let is_explained = query_depth(judge, a, b, 0.0).map_err(|e| e.to_string())?;
    let deepest = judge.contacts().iter().map(|l| l.distance).fold(0.0, f64::min);
    if deepest < out.deepest {
        // Edges of two faces that lie on one another cross sideways: what is common to the solids there is as
        // thin as the faces are pressed together, and a short way across them parts the solids.
        let way = judge.separating_translation(a, b, &options).map_err(|e| e.to_string())?;
        // None where they touch, within the tolerance, and do not interfere.
        out.deepest = out.deepest.min(deepest.max(-way.map_or(0.0, |way| way.norm())));
    }
    out.lost += u64::from(!is_explained);
    Ok(())
}
