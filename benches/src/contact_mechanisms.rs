//! Scenes of mechanisms with little play, and measurements of their motion.
//!
//! `tools/models/make_contact_mechanisms.py` writes the parts and `mechanisms.json`; its header documents the
//! fields. Lengths are mm, times s and angles rad here, except where a field says otherwise.

use crate::{Fallible, first_body, prepare};
use feeler_geom::{P3, Pose, V3, math};
use feeler_runtime::Body;
use nalgebra::{Matrix3, Translation3, UnitQuaternion};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

/// Contents of `mechanisms.json`.
#[derive(Clone, Debug, Deserialize)]
pub struct SceneFile {
    /// Simulated scenes.
    pub mechanisms: Vec<Mechanism>,
    /// Pairs whose queries are timed alone.
    pub pairs: Vec<TimedPair>,
}

/// A scene: bodies, forces on them, and a measured quantity.
#[derive(Clone, Debug, Deserialize)]
pub struct Mechanism {
    /// Unique name.
    pub name: String,
    /// Description in one sentence.
    pub about: String,
    /// Acceleration (mm/s²) of gravity.
    pub gravity: [f64; 3],
    /// Friction coefficient of all contacts.
    pub friction: f64,
    /// Simulated time (s).
    pub seconds: f64,
    /// Bodies in the order in which engines number them.
    pub bodies: Vec<SceneBody>,
    /// Forces and torques that act on bodies.
    #[serde(default)]
    pub loads: Vec<Load>,
    /// Springs that pull bodies.
    #[serde(default)]
    pub pulls: Vec<Pull>,
    /// Quantity that is measured during the run.
    pub observe: Observation,
}

/// A body of a scene.
#[derive(Clone, Debug, Deserialize)]
pub struct SceneBody {
    /// Unique name within the scene.
    pub name: String,
    /// Name of the part's STEP file, without its extension.
    pub part: String,
    /// Whether the body never moves.
    #[serde(default)]
    pub fixed: bool,
    /// Density (kg/m³); not used for a fixed body.
    #[serde(default)]
    pub density: f64,
    /// Position (mm) of the part's origin in the world at the start.
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation vector (degrees) of the part in the world at the start.
    #[serde(default)]
    pub rotation: [f64; 3],
    /// Axis of a revolute joint with the world through the origin of the part; `None` without a joint.
    pub revolute: Option<[f64; 3]>,
}

/// Force and torque on a body, and a driven spin.
#[derive(Clone, Debug, Deserialize)]
pub struct Load {
    /// Name of the body on which the load acts.
    pub body: String,
    /// Force (N) at the centre of mass.
    #[serde(default)]
    pub force: [f64; 3],
    /// Torque (N·mm) on the body.
    #[serde(default)]
    pub torque: [f64; 3],
    /// Frequency (Hz) of the sine that scales force and torque; `None` for constant ones.
    pub frequency: Option<f64>,
    /// Time (s) from which on the load acts.
    #[serde(default)]
    pub from: f64,
    /// Time (s) until which the load acts; `None` for the end of the run.
    pub until: Option<f64>,
    /// Unit vector of the axis about which the spin is driven.
    #[serde(default)]
    pub axis: [f64; 3],
    /// Spin (rad/s) about the axis to which the body is driven.
    #[serde(default)]
    pub spin: f64,
    /// Torque per difference from the driven spin (N·mm·s).
    #[serde(default)]
    pub gain: f64,
}

/// A critically damped spring that pulls a body along a polyline and keeps its rotation.
#[derive(Clone, Debug, Deserialize)]
pub struct Pull {
    /// Name of the body that is pulled.
    pub body: String,
    /// Response time (s) of the spring.
    pub response: f64,
    /// Ascending times (s) of the positions.
    pub times: Vec<f64>,
    /// Positions (mm) of the body's origin at these times.
    pub positions: Vec<[f64; 3]>,
}

/// Kind of a measured quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Final coordinate (mm) of the origin along an axis; of several bodies, the one with the largest
    /// deviation from the expected value is reported.
    Coordinate,
    /// Displacement (mm) of the centre of mass along an axis.
    Travel,
    /// Displacement (mm) of the origin along an axis for each turn about it, in the second half of the
    /// motion.
    Advance,
    /// Largest displacement (mm) of the origin.
    Offset,
    /// Largest distance (mm) between the origins of consecutive bodies at the end.
    Span,
    /// Largest rotation about an axis (degrees).
    Turn,
    /// Period of the swing about an axis under gravity (s).
    Period,
    /// Spin of the second body divided by that of the first one, in the last fifth of the motion.
    Ratio,
    /// Rate at which the other bodies revolve around the axis, divided by the spin of the first body, in
    /// the last fifth of the motion.
    Orbit,
}

/// Measured quantity of a scene.
#[derive(Clone, Debug, Deserialize)]
pub struct Observation {
    /// Kind of the quantity.
    pub kind: Quantity,
    /// Names of the bodies to which the quantity refers.
    pub bodies: Vec<String>,
    /// Unit vector of the axis to which the quantity refers.
    pub axis: [f64; 3],
    /// Expected values by a closed form, in the unit of the kind.
    pub expected: Vec<f64>,
}

/// Two parts whose queries are timed.
#[derive(Clone, Debug, Deserialize)]
pub struct TimedPair {
    /// Unique name.
    pub name: String,
    /// Part A, a STEP file without its extension.
    pub a: String,
    /// Part B, a STEP file without its extension.
    pub b: String,
    /// Origin of B (mm); A is at the origin.
    pub position_b: [f64; 3],
    /// Largest distance (mm) of contacts.
    pub reach: f64,
}

/// State of a body after a step.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Pose: transforms the part's coordinates to those of the world.
    pub pose: Pose,
    /// Centre of mass (mm) in the world.
    pub center: P3,
    /// Velocity (mm/s) of the centre of mass.
    pub velocity: V3,
    /// Angular velocity (rad/s).
    pub spin: V3,
}

/// Mass properties of a body in its own coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass (mm).
    pub center: P3,
    /// Inertia (kg·mm²) about the centre of mass.
    pub inertia: Matrix3<f64>,
}

/// Force and torque on a body.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wrench {
    /// Force (mN) at the centre of mass.
    pub force: V3,
    /// Torque (µN·m) about the centre of mass.
    pub torque: V3,
}

/// Factor from N to mN and from N·mm to µN·m.
const THOUSANDTHS: f64 = 1e3;
/// Factor from mm³ to m³.
const CUBIC_METRE: f64 = 1e-9;
/// Radius of gyration, as a fraction of the body's size, that determines the torque on a pulled body.
const GYRATION: f64 = 0.3;

impl SceneFile {
    /// Reads `mechanisms.json` of a folder.
    ///
    /// # Errors
    /// The file is missing or malformed.
    pub fn load(folder: &Path) -> Fallible<Self> {
        let path = folder.join("mechanisms.json");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// Prepares the STEP file of a part.
///
/// # Errors
/// The file cannot be read, or no solid of it can be prepared.
pub fn load_part(folder: &Path, part: &str) -> Fallible<Arc<Body>> {
    Ok(first_body(&prepare(&folder.join(format!("{part}.step")))?)?.0)
}

impl SceneBody {
    /// Pose of the part in the world at the start.
    #[must_use]
    pub fn pose(&self) -> Pose {
        let degrees = TAU / 360.0;
        Pose::from_parts(
            Translation3::from(V3::from(self.position)),
            UnitQuaternion::from_scaled_axis(V3::from(self.rotation) * degrees),
        )
    }

    /// Mass properties of `body` with the density of this body; `None` for a sheet.
    #[must_use]
    pub fn weight(&self, body: &Body) -> Option<Weight> {
        let info = &body.hierarchy().info;
        let inertia = info.inertia?;
        let density = self.density * CUBIC_METRE;
        Some(Weight {
            mass: density * info.volume,
            center: inertia.centroid.into(),
            inertia: Matrix3::from_fn(|r, c| inertia.tensor[r][c]) * density,
        })
    }
}

impl Mechanism {
    /// Index of the body with the name `name`; `None` if no such body exists.
    #[must_use]
    pub fn body_index(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }

    /// Prepares the parts of all bodies in order; equal parts are shared.
    ///
    /// # Errors
    /// The file of a part cannot be read, or no solid of it can be prepared.
    pub fn load_parts(&self, folder: &Path) -> Fallible<Vec<Arc<Body>>> {
        let mut parts: BTreeMap<&str, Arc<Body>> = BTreeMap::new();
        for b in &self.bodies {
            if !parts.contains_key(b.part.as_str()) {
                parts.insert(&b.part, load_part(folder, &b.part)?);
            }
        }
        Ok(self.bodies.iter().map(|b| parts[b.part.as_str()].clone()).collect())
    }

    /// Force and torque on a body at a time (s), from loads and pulls. `size` (mm) is the size of the
    /// body.
    #[must_use]
    pub fn wrench(&self, body: usize, state: &State, weight: &Weight, size: f64, time: f64) -> Wrench {
        let name = &self.bodies[body].name;
        let mut out = Wrench::default();
        let acts = |l: &&Load| l.body == *name && l.from <= time && l.until.is_none_or(|u| time < u);
        for l in self.loads.iter().filter(acts) {
            let scale = l.frequency.map_or(1.0, |f| math::sin_cos(TAU * f * time).0) * THOUSANDTHS;
            let axis = V3::from(l.axis);
            out.force += V3::from(l.force) * scale;
            out.torque += V3::from(l.torque) * scale;
            out.torque += axis * (l.gain * (l.spin - state.spin.dot(&axis)) * THOUSANDTHS);
        }
        for p in self.pulls.iter().filter(|p| p.body == *name) {
            let (target, velocity) = p.target(time);
            let start = self.bodies[body].pose().rotation;
            let center = target + start * weight.center.coords;
            let (stiffness, damping) =
                (weight.mass / (p.response * p.response), 2.0 * weight.mass / p.response);
            let inertia = GYRATION * size * GYRATION * size;
            let missing = (start * state.pose.rotation.inverse()).scaled_axis();
            out.force += (center - state.center.coords) * stiffness + (velocity - state.velocity) * damping;
            out.torque += (missing * stiffness - state.spin * damping) * inertia;
        }
        out
    }
}

impl Pull {
    /// Position (mm) and velocity (mm/s) of the target at a time (s).
    fn target(&self, time: f64) -> (V3, V3) {
        let at = |k: usize| V3::from(self.positions[k]);
        let next = self.times.partition_point(|t| *t <= time);
        if next == 0 || next == self.times.len() {
            return (at(next.saturating_sub(1)), V3::zeros());
        }
        let duration = self.times[next] - self.times[next - 1];
        let velocity = (at(next) - at(next - 1)) / duration;
        (at(next - 1) + velocity * (time - self.times[next - 1]), velocity)
    }
}

/// A measured quantity and its closed form.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Measured value, in the unit of the quantity.
    pub value: f64,
    /// Expected value, in the same unit.
    pub expected: f64,
    /// Text that describes the result in the report.
    pub text: String,
}

impl Observation {
    /// Measures the quantity on a motion, given by the states of all bodies at the start and after each
    /// step of `step` seconds.
    ///
    /// # Errors
    /// The scene does not have a body of that name, or the motion is empty.
    pub fn measure(&self, scene: &Mechanism, motion: &[Vec<State>], step: f64) -> Fallible<Measured> {
        let named =
            |name: &String| scene.body_index(name).ok_or_else(|| format!("{}: no body '{name}'", scene.name));
        let bodies = self.bodies.iter().map(named).collect::<Fallible<Vec<usize>>>()?;
        let (Some(first), Some(last), Some(&body), Some(&expected)) =
            (motion.first(), motion.last(), bodies.first(), self.expected.first())
        else {
            return Err(format!("{}: nothing to observe", scene.name));
        };
        let axis = V3::from(self.axis);
        let origin = |states: &[State], b: usize| states[b].pose.translation.vector;
        let moved = |states: &[State]| origin(states, body) - origin(first, body);
        let tail = &motion[motion.len() * 4 / 5..];
        let plain = |value: f64, unit: &str, name: &str| Measured {
            value,
            expected,
            text: format!("{name} {value:.4}{unit} (expected {expected:.4})"),
        };
        Ok(match self.kind {
            Quantity::Coordinate => {
                let off = |(b, e): (&usize, &f64)| (*b, origin(last, *b).dot(&axis), *e);
                let all = bodies.iter().zip(&self.expected).map(off);
                let worst = all.max_by(|a, b| (a.1 - a.2).abs().total_cmp(&(b.1 - b.2).abs()));
                let (b, value, expected) = worst.unwrap_or((body, f64::NAN, expected));
                let name = &scene.bodies[b].name;
                let off = 1e3 * (value - expected);
                Measured { value, expected, text: format!("{name} rests at {expected:.3} mm {off:+.2} um") }
            }
            Quantity::Travel => plain((last[body].center - first[body].center).dot(&axis), " mm", "travel"),
            Quantity::Advance => {
                let all = twists(motion, body, &axis);
                let middle = motion.len() / 2;
                let end = all[motion.len() - 1];
                let turns = (end - all[middle]) / TAU;
                let along = (moved(last) - moved(&motion[middle])).dot(&axis);
                let advance = plain(along / turns, " mm/turn", "advance");
                Measured { text: format!("{}, {:.1} degrees", advance.text, 360.0 * end / TAU), ..advance }
            }
            Quantity::Offset => {
                plain(motion.iter().map(|s| moved(s).norm()).fold(0.0, f64::max), " mm", "offset")
            }
            Quantity::Span => {
                let apart = |pair: &[usize]| (origin(last, pair[0]) - origin(last, pair[1])).norm();
                plain(bodies.windows(2).map(apart).fold(0.0, f64::max), " mm", "span")
            }
            Quantity::Turn => {
                let largest = twists(motion, body, &axis).iter().fold(0.0, |a: f64, t| a.max(t.abs()));
                plain(largest * 360.0 / TAU, " degrees", "largest rotation")
            }
            Quantity::Period => {
                let (period, swings) = swing(scene, motion, body, &axis, step);
                let period = plain(period, " s", "period");
                Measured {
                    text: format!("{}, swing {:.0} to {:.0} degrees", period.text, swings[0], swings[1]),
                    ..period
                }
            }
            Quantity::Ratio => {
                let spin = |b: usize| tail.iter().map(|s| s[b].spin.dot(&axis)).sum::<f64>();
                plain(spin(bodies[1.min(bodies.len() - 1)]) / spin(body), "", "ratio of spins")
            }
            Quantity::Orbit => {
                let rate = |s: &State| {
                    let arm = s.center.coords - axis * s.center.coords.dot(&axis);
                    arm.cross(&s.velocity).dot(&axis) / arm.norm_squared()
                };
                let (mut rates, mut spins) = (0.0, 0.0);
                for states in tail {
                    let balls = bodies[1..].iter().map(|b| rate(&states[*b])).sum::<f64>();
                    #[expect(clippy::cast_precision_loss, reason = "a handful of bodies")]
                    let n = (bodies.len() - 1) as f64;
                    rates += balls / n;
                    spins += states[body].spin.dot(&axis);
                }
                #[expect(clippy::cast_precision_loss, reason = "thousands of steps")]
                let spin = spins / tail.len() as f64;
                let orbit = plain(rates / spins, "", "orbit / spin");
                let off = 1e3 * moved(last).norm();
                Measured {
                    text: format!("{}, spin {spin:.2} rad/s, ring off {off:.1} um", orbit.text),
                    ..orbit
                }
            }
        })
    }
}

/// Rotation (rad) of a body about an axis since the start, continuous over full turns, for each state of
/// the motion.
fn twists(motion: &[Vec<State>], body: usize, axis: &V3) -> Vec<f64> {
    let (mut out, mut sum) = (vec![0.0], 0.0);
    for pair in motion.windows(2) {
        let q = pair[1][body].pose.rotation * pair[0][body].pose.rotation.inverse();
        sum += math::unwrap_near(2.0 * math::atan2(q.imag().dot(axis), q.w), 0.0, TAU);
        out.push(sum);
    }
    out
}

/// Period (s) of a body that swings about an axis through the origin of its part, and its largest deflections
/// (degrees) before the first passage of its lowest position and between the last two.
fn swing(scene: &Mechanism, motion: &[Vec<State>], body: usize, axis: &V3, step: f64) -> (f64, [f64; 2]) {
    let down = V3::from(scene.gravity).normalize();
    let aside = axis.cross(&down);
    let pivot = V3::from(scene.bodies[body].position);
    let angle = |s: &Vec<State>| {
        let arm = s[body].center.coords - pivot;
        math::atan2(arm.dot(&aside), arm.dot(&down))
    };
    let angles: Vec<f64> = motion.iter().map(angle).collect();
    let mut passages = Vec::new();
    for (k, pair) in angles.windows(2).enumerate() {
        if (pair[0] > 0.0) != (pair[1] > 0.0) {
            #[expect(clippy::cast_precision_loss, reason = "thousands of steps")]
            passages.push(step * (k as f64 + pair[0] / (pair[0] - pair[1])));
        }
    }
    let largest = |range: &[f64]| range.iter().fold(0.0, |a: f64, x| a.max(x.abs())) * 360.0 / TAU;
    let [Some(begin), Some(end)] = [passages.first(), passages.last()] else {
        return (f64::NAN, [largest(&angles); 2]);
    };
    #[expect(clippy::cast_precision_loss, reason = "a handful of passages")]
    let period = 2.0 * (end - begin) / (passages.len() - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of steps")]
    let [at_begin, at_end] = [begin, end].map(|t| (t / step) as usize);
    let before_last = passages.len().checked_sub(2).map_or(0.0, |k| passages[k]);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of a step")]
    let last_half = &angles[(before_last / step) as usize..=at_end];
    (period, [largest(&angles[..=at_begin]), largest(last_half)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(observe: &str) -> Mechanism {
        serde_json::from_str(&format!(
            r#"{{"name": "s", "about": "", "gravity": [0, 0, -9810], "friction": 0, "seconds": 1,
            "bodies": [{{"name": "a", "part": "p", "density": 1}}], "observe": {observe}}}"#
        ))
        .expect("a scene")
    }

    fn turned(angle: f64, z: f64) -> Vec<State> {
        let rotation = UnitQuaternion::from_scaled_axis(V3::z() * angle);
        let pose = Pose::from_parts(Translation3::new(0.0, 0.0, z), rotation);
        vec![State { pose, center: P3::origin(), velocity: V3::zeros(), spin: V3::zeros() }]
    }

    /// Rotations of more than a full turn are counted.
    #[test]
    fn a_screw_motion_advances_by_its_pitch() {
        let scene = scene(r#"{"kind": "advance", "bodies": ["a"], "axis": [0, 0, 1], "expected": [1.5]}"#);
        let motion: Vec<_> = (0..100).map(|k| 0.1 * f64::from(k)).map(|a| turned(a, 1.5 * a / TAU)).collect();
        let measured = scene.observe.measure(&scene, &motion, 1e-3).expect("a measurable motion");
        assert!((measured.value - 1.5).abs() < 1e-12, "{measured:?}");
    }

    #[test]
    fn a_pendulum_has_its_period() {
        let scene = scene(r#"{"kind": "period", "bodies": ["a"], "axis": [0, 1, 0], "expected": [0.3]}"#);
        let at = |k: u32| {
            let angle = 0.5 * math::sin_cos(TAU * (f64::from(k) * 1e-3 / 0.3 + 0.25)).0;
            let (sin, cos) = math::sin_cos(angle);
            vec![State { center: P3::new(sin, 0.0, -cos), ..turned(0.0, 0.0)[0] }]
        };
        let motion: Vec<_> = (0..1000).map(at).collect();
        let measured = scene.observe.measure(&scene, &motion, 1e-3).expect("a measurable motion");
        assert!((measured.value - 0.3).abs() < 1e-4, "{measured:?}");
        assert!(measured.text.ends_with("swing 29 to 29 degrees"), "{measured:?}");
    }

    /// The scenes of the repository are readable, and all their parts exist.
    #[test]
    fn scenes_of_data_have_their_parts() {
        let folder = feeler_tests::data_dir().join("contact");
        let file = SceneFile::load(&folder).expect("data/contact/mechanisms.json");
        let parts = file.mechanisms.iter().flat_map(|m| &m.bodies).map(|b| &b.part);
        for part in parts.chain(file.pairs.iter().flat_map(|p| [&p.a, &p.b])) {
            assert!(folder.join(format!("{part}.step")).is_file(), "{part}");
        }
        for scene in &file.mechanisms {
            let mut named = scene.observe.bodies.iter().chain(scene.loads.iter().map(|l| &l.body));
            assert!(named.all(|n| scene.body_index(n).is_some()), "{}", scene.name);
        }
    }
}
