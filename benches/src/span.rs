//! Command-line options that select which part of a run is simulated in Rapier, its initial state, and
//! whether it is recorded.

use crate::record::{Recording, Step};
use crate::{Fallible, number_after};
use feeler_geom::Pose;
use feeler_rapier::rapier_pose;
use rapier3d_f64::prelude::RigidBody;
use std::path::PathBuf;

/// Reads `--parts`: divisors of the clearance that give the chord errors of meshes.
///
/// # Errors
/// The option is not a list of positive numbers.
pub fn chords(args: &[String]) -> Fallible<Vec<f64>> {
    let parts = number_after::<String>(args, "--parts").unwrap_or_else(|| "1,4".into());
    let parts: Option<Vec<f64>> =
        parts.split(',').map(|p| p.parse().ok().filter(|p: &f64| p.is_finite() && *p > 0.0)).collect();
    parts.ok_or_else(|| "--parts needs positive numbers separated by commas".to_owned())
}

/// Part of a motion that is simulated in Rapier, and recordings that belong to it.
#[derive(Debug)]
pub struct Span {
    along: Option<Recording>,
    /// Number of steps of the recording between two single steps that are simulated; `None` to simulate
    /// continuously.
    pub every: Option<usize>,
    /// Start time (s) of the simulation.
    pub begin: f64,
    /// Latest end time (s) of the simulation.
    pub until: f64,
    record: Option<PathBuf>,
}

impl Span {
    /// Reads the options `--along`, `--every`, `--begin`, `--until` and `--record`.
    ///
    /// # Errors
    /// Options contradict each other, or the recording cannot be read.
    pub fn from_args(args: &[String]) -> Fallible<Self> {
        let along =
            number_after::<PathBuf>(args, "--along").map(|file| Recording::read(&file)).transpose()?;
        let every = number_after::<usize>(args, "--every").map(|n| n.max(1));
        let begin = number_after::<f64>(args, "--begin");
        if along.is_none() && (every.is_some() || begin.is_some()) {
            return Err("--every and --begin need a recording (--along)".to_owned());
        }
        if along.is_some() && every.is_some() == begin.is_some() {
            return Err("--along needs one of --every and --begin".to_owned());
        }
        Ok(Self {
            along,
            every,
            begin: begin.unwrap_or(0.0),
            until: number_after(args, "--until").unwrap_or(f64::INFINITY),
            record: number_after(args, "--record"),
        })
    }

    /// The last step of the recording that ends at or before the time `time` (s), and the step before
    /// it. `None` without a recording, or before its second step.
    ///
    /// # Errors
    /// The recording ends before the time.
    pub fn state(&self, time: f64) -> Fallible<Option<[&Step; 2]>> {
        let Some(along) = &self.along else { return Ok(None) };
        let Some(k) = along.at(time).filter(|k| *k > 0) else { return Ok(None) };
        if time > along.steps[k].time + 0.01 {
            return Err(format!("--along: the recording ends before {time} s"));
        }
        Ok(Some([&along.steps[k - 1], &along.steps[k]]))
    }

    /// Writes a recording if `--record` is given. The name gets a suffix if the run follows another
    /// recording.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, steps: &Recording, name: &str, place: &Pose) -> Fallible<()> {
        let Some(folder) = &self.record else { return Ok(()) };
        match (&self.along, self.every) {
            // Single steps do not form a motion.
            (_, Some(_)) => steps.write(folder, &format!("{name}-along")),
            (along, None) => {
                let name = format!("{name}{}", if along.is_some() { "-from" } else { "" });
                steps.write(folder, &name)?;
                steps.write_motion(folder, &name, place)
            }
        }
    }
}

/// Sets the pose and the velocities of a body to those at the end of the second of two consecutive steps.
pub fn set_state(body: &mut RigidBody, [before, now]: [&Step; 2]) {
    let time = now.time - before.time;
    let (from, to) = (rapier_pose(&before.pose), rapier_pose(&now.pose));
    let local = body.mass_properties().local_mprops.local_com;
    body.set_position(to, true);
    body.set_linvel((to.transform_point(local) - from.transform_point(local)) / time, true);
    body.set_angvel((to.rotation * from.rotation.inverse()).to_scaled_axis() / time, true);
}
