//! Which part of a run is simulated in Rapier, from which state, and what is kept of it.

use crate::record::{Recording, Step};
use crate::{Fallible, number_after};
use feeler_geom::Pose;
use feeler_rapier::rapier_pose;
use rapier3d_f64::prelude::RigidBody;
use std::path::PathBuf;

/// Chord errors of meshes, as numbers that the clearance is divided by: `--parts`.
///
/// # Errors
/// What is no list of numbers above 0.
pub fn chords(args: &[String]) -> Fallible<Vec<f64>> {
    let parts = number_after::<String>(args, "--parts").unwrap_or_else(|| "1,4".into());
    let parts: Option<Vec<f64>> =
        parts.split(',').map(|p| p.parse().ok().filter(|p: &f64| p.is_finite() && *p > 0.0)).collect();
    parts.ok_or_else(|| "--parts takes numbers above 0 with commas between".to_owned())
}

/// Which part of a motion is simulated, and what is kept of it.
#[derive(Debug)]
pub struct Span {
    along: Option<Recording>,
    /// Steps of the recording from one that is made to the next.
    pub every: Option<usize>,
    /// When it begins (s).
    pub begin: f64,
    /// When it ends (s) at the latest.
    pub until: f64,
    record: Option<PathBuf>,
}

impl Span {
    /// As arguments tell: `--along`, `--every`, `--begin`, `--until`, `--record`.
    ///
    /// # Errors
    /// Some that do not go together, and a recording that is none.
    pub fn of(args: &[String]) -> Fallible<Self> {
        let along =
            number_after::<PathBuf>(args, "--along").map(|file| Recording::read(&file)).transpose()?;
        let every = number_after::<usize>(args, "--every").map(|n| n.max(1));
        let begin = number_after::<f64>(args, "--begin");
        if along.is_none() && (every.is_some() || begin.is_some()) {
            return Err("--every and --begin need a recording: give it with --along".to_owned());
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

    /// The step of the recording that one which ends at a time begins with; none before its first.
    ///
    /// # Errors
    /// The recording ends before.
    pub fn state(&self, time: f64) -> Fallible<Option<[&Step; 2]>> {
        let Some(along) = &self.along else { return Ok(None) };
        let Some(k) = along.at(time).filter(|k| *k > 0) else { return Ok(None) };
        if time > along.steps[k].time + 0.01 {
            return Err(format!("the recording of --along ends before {time} s"));
        }
        Ok(Some([&along.steps[k - 1], &along.steps[k]]))
    }

    /// Writes what was recorded, where that is wanted: what goes on from another recording by another name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, steps: &Recording, name: &str, place: &Pose) -> Fallible<()> {
        let Some(folder) = &self.record else { return Ok(()) };
        match (&self.along, self.every) {
            // Steps that do not follow on one another are no motion.
            (_, Some(_)) => steps.write(folder, &format!("{name}-along")),
            (along, None) => {
                let name = format!("{name}{}", if along.is_some() { "-from" } else { "" });
                steps.write(folder, &name)?;
                steps.write_motion(folder, &name, place)
            }
        }
    }
}

/// A body as it was at the end of the second of two steps.
pub fn set_state(body: &mut RigidBody, [before, now]: [&Step; 2]) {
    let time = now.time - before.time;
    let (from, to) = (rapier_pose(&before.pose), rapier_pose(&now.pose));
    let local = body.mass_properties().local_mprops.local_com;
    body.set_position(to, true);
    body.set_linvel((to.transform_point(local) - from.transform_point(local)) / time, true);
    body.set_angvel((to.rotation * from.rotation.inverse()).to_scaled_axis() / time, true);
}
