//! Recorded insertions: a table for figures, and a trajectory that `feeler sweep` plays.

use crate::Fallible;
use feeler_geom::Pose;
use feeler_geom::pose::{from_values, to_values};
use serde_json::json;
use std::fmt::Write as _;
use std::path::Path;

/// One step of a recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Time (s) at the end of the step.
    pub time: f64,
    /// Name of the scenario's phase during the step.
    pub phase: String,
    /// Processor time (ms) of the step, which does not depend on other load of the machine.
    pub step_ms: f64,
    /// Part of `step_ms` that is spent on finding contacts (ms).
    pub query_ms: f64,
    /// Number of contact searches in the step.
    pub rounds: u32,
    /// Number of minima found; of conformal sets only the load-bearing samples count, of triangle meshes
    /// the contact points.
    pub minima: usize,
    /// Number of contacts passed to the solver.
    pub contacts: usize,
    /// Smallest gap (mm); infinite if no contact within reach exists. In Rapier, the gap, minima and
    /// contacts are those at the start of the step.
    pub smallest_gap: f64,
    /// Pose of the plug in the world.
    pub pose: Pose,
}

/// A recorded run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Steps of the run, in order.
    pub steps: Vec<Step>,
}

/// Header of the table; [`Recording::read`] accepts no other.
const COLUMNS: &str =
    "time_s,phase,step_ms,query_ms,rounds,minima,contacts,smallest_gap_mm,x,y,z,qx,qy,qz,qw";

/// Minimum time (s) between two poses of a played trajectory. Smaller values make larger pages, larger
/// ones jerky playback.
const MIN_PLAYED_INTERVAL: f64 = 0.01;

impl Recording {
    /// Writes all steps, one per line, to FOLDER/NAME.csv.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path, name: &str) -> Fallible<()> {
        write_file(folder, &format!("{name}.csv"), &self.csv())
    }

    /// Writes the motion relative to the pose of the plug in its file, `place`, to FOLDER/NAME.json: a
    /// pose every 10 ms or every step, whichever is longer.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_motion(&self, folder: &Path, name: &str, place: &Pose) -> Fallible<()> {
        write_file(folder, &format!("{name}.json"), &self.trajectory(place))
    }

    fn csv(&self) -> String {
        let mut out = format!("{COLUMNS}\n");
        for s in &self.steps {
            let gap = if s.smallest_gap.is_finite() { s.smallest_gap.to_string() } else { String::new() };
            // Writing to a string cannot fail.
            let _ = write!(
                out,
                "{:.6},{},{:.6},{:.6},{},{},{},{gap}",
                s.time, s.phase, s.step_ms, s.query_ms, s.rounds, s.minima, s.contacts
            );
            for x in to_values(&s.pose) {
                let _ = write!(out, ",{x}");
            }
            out.push('\n');
        }
        out
    }

    fn trajectory(&self, place: &Pose) -> String {
        let back = place.inverse();
        // Round to a nanosecond, because times are sums of steps.
        let longest =
            self.steps.windows(2).map(|s| s[1].time - s[0].time).fold(MIN_PLAYED_INTERVAL, f64::max);
        let dt = (1e9 * longest).round() / 1e9;
        let mut next_time = f64::NEG_INFINITY;
        let mut poses = Vec::new();
        for s in &self.steps {
            // The tolerance of half a millisecond covers the rounding of times, which are sums of steps.
            if s.time >= next_time - 5e-4 {
                next_time = if next_time.is_finite() { next_time + dt } else { s.time + dt };
                poses.push(to_values(&(s.pose * back)));
            }
        }
        json!({ "unit": "mm", "dt": dt, "poses_b": poses }).to_string()
    }

    /// Reads the table of a run that [`Recording::write`] wrote.
    ///
    /// # Errors
    /// The file cannot be read or is not such a table.
    pub fn read(file: &Path) -> Fallible<Self> {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let mut lines = text.lines();
        if lines.next() != Some(COLUMNS) {
            return Err(format!("{}: not the table of a run (--record writes one)", file.display()));
        }
        let step = |(k, line): (usize, &str)| {
            step(line).ok_or_else(|| format!("{}: line {}: not a step of a run", file.display(), k + 2))
        };
        Ok(Self { steps: lines.enumerate().map(step).collect::<Fallible<_>>()? })
    }

    /// Phases with their half-open ranges of times (s).
    #[must_use]
    pub fn phases(&self) -> Vec<(String, f64, f64)> {
        let mut out: Vec<(String, f64, f64)> = Vec::new();
        let mut before = 0.0;
        for s in &self.steps {
            match out.last_mut() {
                Some(last) if last.0 == s.phase => last.2 = s.time,
                _ => out.push((s.phase.clone(), before, s.time)),
            }
            before = s.time;
        }
        out
    }

    /// Index of the last step that ends at or before the time `time` (s); `None` if there is no such
    /// step.
    #[must_use]
    pub fn at(&self, time: f64) -> Option<usize> {
        self.steps.iter().rposition(|s| s.time <= time + 1e-9)
    }
}

fn write_file(folder: &Path, name: &str, text: &str) -> Fallible<()> {
    let file = folder.join(name);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, text));
    written.map_err(|e| format!("{}: {e}", file.display()))
}

fn step(line: &str) -> Option<Step> {
    let fields: Vec<&str> = line.split(',').collect();
    let number = |k: usize| fields.get(k)?.parse::<f64>().ok();
    let mut values = [0.0; 7];
    for (k, v) in values.iter_mut().enumerate() {
        *v = number(8 + k)?;
    }
    Some(Step {
        time: number(0)?,
        phase: (*fields.get(1)?).to_owned(),
        step_ms: number(2)?,
        query_ms: number(3)?,
        rounds: fields.get(4)?.parse().ok()?,
        minima: fields.get(5)?.parse().ok()?,
        contacts: fields.get(6)?.parse().ok()?,
        smallest_gap: number(7).unwrap_or(f64::INFINITY),
        pose: from_values(&values).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Recording {
        let step = |k: u32| Step {
            time: f64::from(k + 1) / 1_000.0,
            phase: if k < 30 { "approach" } else { "inplace" }.to_owned(),
            step_ms: 0.25,
            query_ms: 0.125,
            rounds: 2,
            minima: k as usize,
            contacts: 1,
            smallest_gap: if k == 0 { f64::INFINITY } else { 1.0 / f64::from(k) },
            pose: Pose::translation(0.0, 0.0, 0.1 * f64::from(k)),
        };
        Recording { steps: (0..50).map(step).collect() }
    }

    #[test]
    fn a_written_run_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        run().write(folder.path(), "run-0.5").unwrap();
        run().write_motion(folder.path(), "run-0.5", &Pose::identity()).unwrap();
        let read = Recording::read(&folder.path().join("run-0.5.csv")).unwrap();
        assert_eq!(read, run());
        assert!(Recording::read(&folder.path().join("run-0.5.json")).unwrap_err().contains("not the table"));
        assert_eq!(read.phases(), [("approach".to_owned(), 0.0, 0.03), ("inplace".to_owned(), 0.03, 0.05)]);
        assert_eq!(read.at(0.0305), Some(29));
        assert_eq!(read.at(0.0), None);
    }

    /// The file of the plug places it away from the origin.
    #[test]
    fn the_played_motion_is_relative_to_the_pose_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = Pose::translation(5.0, 0.0, 0.0);
        run().write_motion(folder.path(), "run", &place).unwrap();
        let played = feeler_cli::trajectory::read(&folder.path().join("run.json")).unwrap();
        assert_eq!((played.len(), played.dt()), (5, Some(0.01)));
        let at = played.poses_b()[4] * place;
        assert!((at.translation.vector - run().steps[40].pose.translation.vector).norm() < 1e-12, "{at}");
        // Steps of 16 ms are longer than the interval, so each one is played.
        let mut slow = run();
        slow.steps.iter_mut().for_each(|s| s.time *= 16.0);
        slow.write_motion(folder.path(), "slow", &place).unwrap();
        let played = feeler_cli::trajectory::read(&folder.path().join("slow.json")).unwrap();
        assert_eq!((played.len(), played.dt()), (50, Some(0.016)));
    }
}
