//! Mechanisms with little play, stepped by feeler-dynamics and by Rapier with exact contacts.
//!
//! ```text
//! python tools/models/make_contact_mechanisms.py FOLDER
//! cargo run --profile dist -p feeler-benches --bin mechanism_steps -- FOLDER [--only NAME...]
//!     [--engine dynamics|rapier] [--seconds S] [--limit S] [--looks N]
//! cargo run --profile dist -p feeler-benches --bin mechanism_steps -- FOLDER --steps-without-verdict
//!     [--only NAME...] [--steps N]
//! ```
//!
//! Each scene of `FOLDER/mechanisms.json` is simulated in steps of 1 ms for the time given there, at most
//! for `--seconds`, and until the run has taken `--limit` seconds of processor time (60 by default).
//! Columns:
//!
//! - steps made;
//! - contacts: maximum number of contacts passed to the solver;
//! - ms: processor time of a step, mean, 95th percentile and maximum, and the step of the maximum;
//! - queries: part of the mean spent on finding contacts (ms);
//! - deepest (µm): maximum penetration of the true solids, from separate queries every `--looks` steps
//!   (20 by default, 0 disables them);
//! - lost: steps in which solids interfere without a contact that shows it; failed: steps that were not
//!   solved, or queries that failed;
//! - energy (mJ) at the start and at the end, and the largest increase as a fraction of the weight of all
//!   bodies times their size. Loads do work, so in scenes with loads an increase is not an error;
//! - the measured quantity of the scene, and the value of its closed form.
//!
//! feeler-dynamics has no joints: a coupling that keeps the centre of a body and the direction of its
//! axis replaces a revolute joint. The coupling doubles the inertia about the axis; steady rates are not
//! affected.
//!
//! With `--steps-without-verdict` the pairs of the file are queried without verdicts, as solvers do it,
//! while B moves by 1e-5 mm and 1e-6 rad per step. The table gives the processor time of the first query
//! and of the following `--steps` ones (300 by default), and the median number of contacts. In motions
//! along z, the axis of the parts, coaxial and flat sets persist; skew motions tilt the parts, after a
//! few steps by more than sets allow.
//!
//! The exit status is 1 if a scene cannot be simulated or a contact is lost.
#![expect(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program that reports"
)]

use feeler_benches::contact_mechanisms::{Mechanism, SceneFile, State, TimedPair, Weight, Wrench, load_part};
use feeler_benches::depth::query_depth;
use feeler_benches::timed::{Spent, Timed};
use feeler_benches::{Fallible, cpu_seconds, exit_code, number_after, spread};
use feeler_dynamics::{Coupling, RigidBody, RigidBodyId, World, WorldSettings};
use feeler_geom::{Pose, V3};
use feeler_rapier::{CloseFitParameters, ExactDispatcher, ExactShape, METRES, exact_pose, rapier_pose};
use feeler_runtime::{Body, ContactPair, QueryOptions};
use nalgebra::{Quaternion, Translation3, UnitQuaternion};
use rapier3d_f64::dynamics::{RevoluteJointBuilder, RigidBodyBuilder, RigidBodyHandle};
use rapier3d_f64::math::Vector;
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::pipeline::PhysicsWorld;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// A direction in which B moves: a translation along a unit vector and a rotation about another one.
struct Motion {
    name: &'static str,
    direction: [f64; 3],
    axis: [f64; 3],
}

/// Motions of B in the queries without verdicts.
const MOTIONS: [Motion; 2] = [
    Motion { name: "z", direction: [0.0, 0.0, 1.0], axis: [0.0, 0.0, 1.0] },
    Motion { name: "skew", direction: [0.48, -0.6, 0.64], axis: [0.64, 0.48, 0.6] },
];

/// Duration (s) of a simulated step.
const STEP: f64 = 1e-3;
/// Maximum simulated time (s) by default.
const MAX_SECONDS: f64 = 2.0;
/// Processor time (s) after which a run ends by default.
const MAX_PROCESSOR_SECONDS: f64 = 60.0;
/// Number of steps between two queries of the true solids by default.
const STEPS_PER_MEASUREMENT: usize = 20;
/// Depth (mm) up to which a penetration is reported without computing a separating translation, which
/// takes seconds for threads.
const MAX_UNVERIFIED_DEPTH: f64 = 1e-3;
/// Translation (mm) and rotation (rad) of B in a step of the timed pairs, and the default number of
/// these steps.
const STEP_TRANSLATION: f64 = 1e-5;
const STEP_ROTATION: f64 = 1e-6;
const STEPS: usize = 300;
/// Factors that convert energies in µJ and in J to mJ.
const MJ_PER_UJ: f64 = 1e-3;
const MJ_PER_J: f64 = 1e3;

/// An engine that simulates a scene.
trait Engine {
    /// State of the body with the given index in the scene.
    fn state(&self, body: usize) -> State;
    /// Sets the force and torque that act on a body in the next step.
    fn push(&mut self, body: usize, wrench: &Wrench);
    /// Makes a step; returns the number of contacts of the solver.
    fn step(&mut self) -> Fallible<usize>;
    /// Processor time (s) of all queries so far.
    fn query_time(&mut self) -> f64;
    /// Kinetic and potential energy (mJ) of all bodies.
    fn energy(&self) -> f64;
    /// Numbers of steps in which solids interfere without a contact, and of steps or queries that failed.
    fn failures(&self) -> [u64; 2];
}

/// The engine feeler-dynamics.
struct Dynamics {
    world: World,
    weights: Vec<Option<Weight>>,
    /// Axis of the revolute joint that each coupling replaces.
    axes: Vec<V3>,
    starts: Vec<Pose>,
    failures: [u64; 2],
}

impl Dynamics {
    fn new(scene: &Mechanism, parts: &[Arc<Body>]) -> Fallible<Self> {
        let settings = WorldSettings {
            gravity: scene.gravity.into(),
            friction: scene.friction,
            ..WorldSettings::default()
        };
        let mut world = World::new(settings);
        world.clock = Some(cpu_seconds);
        let (mut weights, mut axes) = (Vec::new(), Vec::new());
        for (b, part) in scene.bodies.iter().zip(parts) {
            if b.fixed {
                world.add(RigidBody::fixed(part.clone(), b.pose()));
                weights.push(None);
                continue;
            }
            let body = RigidBody::of_density(part.clone(), b.pose(), b.density).map_err(|e| e.to_string())?;
            let id = world.add(body);
            let weight = b.weight(part).ok_or_else(|| format!("{}: no volume", b.name))?;
            if let Some(axis) = b.revolute {
                let axis = V3::from(axis);
                let held = Coupling::critical(id, b.pose(), weight.mass, 0.0, STEP);
                let inertia = axis.dot(&(weight.inertia * axis));
                world.couplings.push(Coupling { turning_stiffness: inertia / (STEP * STEP), ..held });
                axes.push(axis);
            }
            weights.push(Some(weight));
        }
        let starts = scene.bodies.iter().map(|b| b.pose()).collect();
        Ok(Self { world, weights, axes, starts, failures: [0; 2] })
    }
}

impl Engine for Dynamics {
    fn state(&self, body: usize) -> State {
        let b = self.world.body(RigidBodyId(body));
        State { pose: b.pose, center: b.center(), velocity: b.velocity, spin: b.spin }
    }

    fn push(&mut self, body: usize, wrench: &Wrench) {
        let Some(w) = &self.weights[body] else { return };
        let b = self.world.body_mut(RigidBodyId(body));
        b.velocity += wrench.force * (STEP / w.mass);
        let turn = b.pose.rotation;
        let own = turn.inverse() * (wrench.torque * STEP);
        b.spin += turn * w.inertia.lu().solve(&own).unwrap_or_default();
    }

    fn step(&mut self) -> Fallible<usize> {
        for (k, axis) in self.axes.iter().enumerate() {
            let body = self.world.couplings[k].body;
            let b = self.world.body(body);
            let start = self.starts[body.0];
            let twist = (b.pose.rotation * start.rotation.inverse()).into_inner();
            let about = Quaternion::from_parts(twist.w, axis * twist.imag().dot(axis));
            // The target rotates with the body, so that the coupling neither drives nor brakes it.
            let ahead = UnitQuaternion::from_scaled_axis(axis * (b.spin.dot(axis) * STEP));
            let rotation = ahead * UnitQuaternion::new_normalize(about) * start.rotation;
            self.world.couplings[k].target = Pose::from_parts(start.translation, rotation);
        }
        let report = self.world.step(STEP).map_err(|e| e.to_string())?;
        self.failures[0] += u64::from(report.interferes);
        self.failures[1] += u64::from(report.unsolved);
        Ok(report.contacts)
    }

    fn query_time(&mut self) -> f64 {
        self.world.query_time()
    }

    fn energy(&self) -> f64 {
        MJ_PER_UJ * self.world.energy()
    }

    fn failures(&self) -> [u64; 2] {
        self.failures
    }
}

/// The engine Rapier, with contacts from feeler.
struct Rapier {
    world: PhysicsWorld,
    dispatcher: ExactDispatcher,
    handles: Vec<RigidBodyHandle>,
    spent: Spent,
}

impl Rapier {
    fn new(scene: &Mechanism, parts: &[Arc<Body>]) -> Fallible<Self> {
        let (mut world, dispatcher) = (PhysicsWorld::new(), ExactDispatcher::default());
        world.gravity = metres(&scene.gravity.into());
        dispatcher.install(&mut world, &CloseFitParameters { step: STEP, ..CloseFitParameters::default() });
        let spent = Spent::default();
        let timed = Timed::new(dispatcher.clone().chain(DefaultQueryDispatcher), spent.clone());
        world.narrow_phase.set_query_dispatcher(timed);
        let mut shapes: Vec<(Arc<Body>, ExactShape)> = Vec::new();
        let mut handles = Vec::new();
        for (b, part) in scene.bodies.iter().zip(parts) {
            let shape = match shapes.iter().find(|(known, _)| Arc::ptr_eq(known, part)) {
                Some((_, shape)) => shape.clone(),
                None => ExactShape::new(part.clone()).map_err(|e| format!("{}: {e}", b.part))?,
            };
            shapes.push((part.clone(), shape.clone()));
            let builder = if b.fixed {
                RigidBodyBuilder::fixed()
            } else {
                RigidBodyBuilder::dynamic().can_sleep(false)
            };
            let collider = shape.collider().friction(scene.friction).density(b.density);
            let (handle, _) = world.insert(builder.pose(rapier_pose(&b.pose())), collider);
            world.bodies[handle].recompute_mass_properties_from_colliders(&world.colliders);
            if let Some(axis) = b.revolute {
                let ground = world.insert_body(RigidBodyBuilder::fixed().pose(rapier_pose(&b.pose())));
                let own = b.pose().rotation.inverse() * V3::from(axis);
                let joint = RevoluteJointBuilder::new(Vector::new(own.x, own.y, own.z));
                world.insert_impulse_joint(ground, handle, joint);
            }
            handles.push(handle);
        }
        Ok(Self { world, dispatcher, handles, spent })
    }
}

impl Engine for Rapier {
    fn state(&self, body: usize) -> State {
        let b = &self.world.bodies[self.handles[body]];
        let (c, v, w) = (b.center_of_mass() / METRES, b.linvel() / METRES, b.angvel());
        State {
            pose: exact_pose(b.position()),
            center: [c.x, c.y, c.z].into(),
            velocity: V3::new(v.x, v.y, v.z),
            spin: V3::new(w.x, w.y, w.z),
        }
    }

    fn push(&mut self, body: usize, wrench: &Wrench) {
        let b = &mut self.world.bodies[self.handles[body]];
        b.reset_forces(true);
        b.reset_torques(true);
        // From mN to N, and from µN·m to N·m.
        b.add_force(metres(&wrench.force), true);
        b.add_torque(metres(&(wrench.torque * METRES)), true);
    }

    fn step(&mut self) -> Fallible<usize> {
        self.world.step();
        let manifolds = self.world.narrow_phase.contact_pairs().flat_map(|p| p.manifolds());
        Ok(manifolds.map(|m| m.data.solver_contacts.len()).sum())
    }

    fn query_time(&mut self) -> f64 {
        self.spent.take().as_secs_f64()
    }

    fn energy(&self) -> f64 {
        let one = |h: &RigidBodyHandle| {
            let b = &self.world.bodies[*h];
            if !b.is_dynamic() {
                return 0.0;
            }
            b.kinetic_energy() - b.mass() * self.world.gravity.dot(b.center_of_mass())
        };
        MJ_PER_J * self.handles.iter().map(one).sum::<f64>()
    }

    fn failures(&self) -> [u64; 2] {
        [self.dispatcher.unexplained(), self.dispatcher.failed()]
    }
}

fn metres(v: &V3) -> Vector {
    Vector::new(v.x, v.y, v.z) * METRES
}

/// Pairs of bodies whose penetration is measured, and the maximum.
struct Depths {
    pairs: Vec<(usize, usize, ContactPair)>,
    /// Smallest signed distance (mm), at most 0.
    deepest: f64,
    /// Names of the deepest pair, and its step.
    deepest_at: String,
}

impl Depths {
    fn new(scene: &Mechanism, parts: &[Arc<Body>]) -> Self {
        let mut pairs = Vec::new();
        for (j, b) in scene.bodies.iter().enumerate() {
            for (i, a) in scene.bodies[..j].iter().enumerate() {
                if !(a.fixed && b.fixed) {
                    pairs.push((i, j, ContactPair::new(parts[i].clone(), parts[j].clone())));
                }
            }
        }
        Self { pairs, deepest: 0.0, deepest_at: String::new() }
    }

    /// Measures the penetration of all pairs, and updates the maximum.
    fn measure(&mut self, scene: &Mechanism, states: &[State], step: usize) -> Fallible<()> {
        let options = QueryOptions { penetration: f64::MAX, ..QueryOptions::within(0.0) };
        for (i, j, pair) in &mut self.pairs {
            let [a, b] = [*i, *j].map(|k| states[k].pose);
            let [box_a, box_b] = [pair.body_a().posed_bounds(&a), pair.body_b().posed_bounds(&b)];
            if (box_a.min - box_b.max).sup(&(box_b.min - box_a.max)).max() > 0.0 {
                continue;
            }
            query_depth(pair, &a, &b, 0.0).map_err(|e| e.to_string())?;
            let depth = pair.contacts().iter().map(|l| l.distance).fold(0.0, f64::min);
            if depth < self.deepest {
                // Edges that cross on faces in contact give a large depth sideways. The separating
                // translation is at most as long as the depth of the faces.
                let mut depth = depth;
                if depth < -MAX_UNVERIFIED_DEPTH {
                    let translation =
                        pair.separating_translation(&a, &b, &options).map_err(|e| e.to_string())?;
                    depth = depth.max(-translation.map_or(0.0, |v| v.norm()));
                }
                if depth < self.deepest {
                    self.deepest = depth;
                    self.deepest_at =
                        format!("{}-{} step {step}", scene.bodies[*i].name, scene.bodies[*j].name);
                }
            }
        }
        Ok(())
    }
}

/// Settings of the runs.
struct Plan {
    seconds: f64,
    limit: f64,
    looks: usize,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    exit_code(campaign(&args))
}

fn campaign(args: &[String]) -> Fallible<bool> {
    let folder = args.first().filter(|a| !a.starts_with("--")).map(PathBuf::from);
    let folder =
        folder.ok_or("an argument is needed: the folder that make_contact_mechanisms.py has written")?;
    let file = SceneFile::load(&folder)?;
    let only: Option<Vec<&String>> = args
        .iter()
        .position(|a| a == "--only")
        .map(|at| args[at + 1..].iter().take_while(|a| !a.starts_with("--")).collect());
    let is_wanted = |name: &String| only.as_ref().is_none_or(|names| names.contains(&name));
    if args.iter().any(|a| a == "--steps-without-verdict") {
        let steps = number_after(args, "--steps").unwrap_or(STEPS);
        println!("pair    motion  contacts  first ms  mean ms     50 %     95 %    worst");
        for pair in file.pairs.iter().filter(|p| is_wanted(&p.name)) {
            for motion in &MOTIONS {
                time_queries(pair, &folder, steps, motion)?;
            }
        }
        return Ok(true);
    }
    let plan = Plan {
        seconds: number_after(args, "--seconds").unwrap_or(MAX_SECONDS),
        limit: number_after(args, "--limit").unwrap_or(MAX_PROCESSOR_SECONDS),
        looks: number_after(args, "--looks").unwrap_or(STEPS_PER_MEASUREMENT),
    };
    let engine: Option<String> = number_after(args, "--engine");
    println!(
        "mechanism   engine    steps  contacts  ms mean  queries     95 %    worst  (step)  deepest um   \
         lost  failed  energy mJ: start        end   increase  observed"
    );
    let mut is_right = true;
    for scene in file.mechanisms.iter().filter(|m| is_wanted(&m.name)) {
        let parts = scene.load_parts(&folder)?;
        for name in ["dynamics", "rapier"] {
            if engine.as_ref().is_some_and(|e| e != name) {
                continue;
            }
            let run = if name == "dynamics" {
                Dynamics::new(scene, &parts).and_then(|e| simulate(scene, &parts, e, &plan))
            } else {
                Rapier::new(scene, &parts).and_then(|e| simulate(scene, &parts, e, &plan))
            };
            match run {
                Ok((row, lost)) => {
                    println!("{:10}  {name:8}  {row}", scene.name);
                    is_right &= lost == 0;
                }
                Err(e) => {
                    println!("{:10}  {name:8}  {e}", scene.name);
                    is_right = false;
                }
            }
        }
    }
    Ok(is_right)
}

/// Simulates a scene; returns its row of the table and the number of lost contacts.
fn simulate(
    scene: &Mechanism,
    parts: &[Arc<Body>],
    mut engine: impl Engine,
    plan: &Plan,
) -> Fallible<(String, u64)> {
    let weights: Vec<Option<Weight>> =
        scene.bodies.iter().zip(parts).map(|(b, part)| if b.fixed { None } else { b.weight(part) }).collect();
    let states = |e: &dyn Engine| (0..parts.len()).map(|k| e.state(k)).collect::<Vec<State>>();
    let mut depths = Depths::new(scene, parts);
    let mut motion = vec![states(&engine)];
    let (mut times, mut contacts) = (Vec::new(), 0);
    let begin = engine.energy();
    let (mut max_energy, start) = (begin, cpu_seconds());
    let steps = (scene.seconds.min(plan.seconds) / STEP).round() as usize;
    for k in 0..steps {
        let time = STEP * (k + 1) as f64;
        for (body, weight) in weights.iter().enumerate() {
            if let Some(weight) = weight {
                let wrench = scene.wrench(body, &motion[k][body], weight, parts[body].size(), time);
                engine.push(body, &wrench);
            }
        }
        let clock = cpu_seconds();
        let solved = engine.step().map_err(|e| format!("step {k}: {e}"))?;
        times.push(1e3 * (cpu_seconds() - clock));
        contacts = contacts.max(solved);
        max_energy = max_energy.max(engine.energy());
        motion.push(states(&engine));
        if plan.looks > 0 && (k % plan.looks == 0 || k + 1 == steps) {
            depths.measure(scene, &motion[k + 1], k)?;
        }
        if cpu_seconds() - start > plan.limit {
            break;
        }
    }
    let size = parts.iter().zip(&scene.bodies).filter(|(_, b)| !b.fixed).map(|(p, _)| p.size());
    let mass: f64 = weights.iter().flatten().map(|w| w.mass).sum();
    // kg·m/s² times mm is mJ.
    let scale = mass * 9.81 * size.fold(0.0, f64::max);
    let measured = scene.observe.measure(scene, &motion, STEP)?;
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let worst_at = (0..times.len()).max_by(|a, b| times[*a].total_cmp(&times[*b])).unwrap_or(0);
    let made = times.len();
    let queries = 1e3 * engine.query_time() / made.max(1) as f64;
    let [_, high, worst] = spread(&mut times);
    let [lost, failed] = engine.failures();
    let deepest = if depths.deepest < 0.0 { format!(" [{}]", depths.deepest_at) } else { String::new() };
    let row = format!(
        "{made:5}  {contacts:8}  {mean:7.3}  {queries:7.3}  {high:7.3}  {worst:7.2}  {worst_at:6}  {:10.2}  \
         {lost:5} {failed:7}  {begin:16.4} {:10.4}  {:9.1e}  {}{deepest}",
        1e3 * depths.deepest.abs(),
        engine.energy(),
        (max_energy - begin) / scale,
        measured.text
    );
    Ok((row, lost))
}

/// Times queries of a pair while B moves by small steps in one direction.
fn time_queries(pair: &TimedPair, folder: &Path, steps: usize, motion: &Motion) -> Fallible<()> {
    let [a, b] = [load_part(folder, &pair.a)?, load_part(folder, &pair.b)?];
    let options = QueryOptions {
        detect_interference: false,
        load_bearing: true,
        conformal_spacing: Some(a.size().max(b.size())),
        ..QueryOptions::within(pair.reach)
    };
    let mut contacts = ContactPair::new(a, b);
    let [direction, axis] = [motion.direction, motion.axis].map(V3::from);
    let (mut times, mut counts) = (Vec::new(), Vec::new());
    for k in 0..=steps {
        let moved = k as f64;
        let pose_b = Pose::from_parts(
            Translation3::from(V3::from(pair.position_b) + direction * (STEP_TRANSLATION * moved)),
            UnitQuaternion::from_scaled_axis(axis * (STEP_ROTATION * moved)),
        );
        let clock = cpu_seconds();
        contacts.query(&Pose::identity(), &pose_b, &options).map_err(|e| format!("{}: {e}", pair.name))?;
        times.push(1e3 * (cpu_seconds() - clock));
        counts.push(contacts.contacts().len());
    }
    let first = times.remove(0);
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let [middle, high, worst] = spread(&mut times);
    counts.sort_unstable();
    println!(
        "{:6}  {:6}  {:8}  {first:8.2}  {mean:7.3}  {middle:7.3}  {high:7.3}  {worst:7.2}",
        pair.name,
        motion.name,
        counts[counts.len() / 2],
    );
    Ok(())
}
