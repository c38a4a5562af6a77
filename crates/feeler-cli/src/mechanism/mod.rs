//! `feeler mechanism`: margins of moving parts over time, and proofs that they stay free.

mod html;
mod output;

use crate::args::MechanismArgs as Arguments;
use crate::{CommandOutcome, passage, plot, verdict};
use anyhow::Context as _;
use feeler_assembly::{
    Assembly, Margin, MechanismCheck, MechanismOptions, MechanismPair, MechanismReport, MovingPart,
    assign_links,
};
use feeler_hierarchy::whole::write_whole;
use feeler_import as import;
use feeler_mechanism::file::{self, MechanismFile};
use feeler_mechanism::loops::LoopOptions;
use feeler_mechanism::{JointTrajectory, Mechanism, MechanismError};
use feeler_runtime::Status;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// Poses at which a mechanism is checked.
enum Poses {
    /// All combinations of so many values of each joint.
    Grid(u32),
    /// The motion of the file.
    Along(JointTrajectory),
}

/// Result of a check of a mechanism, with the data that outputs need.
struct Checked<'a> {
    mechanism: &'a Mechanism,
    parts: &'a [MovingPart],
    report: MechanismReport,
    margins: Vec<Option<Margin>>,
    duration: Duration,
}

impl Checked<'_> {
    /// Names of the two parts of a pair.
    fn names(&self, pair: &MechanismPair) -> [&str; 2] {
        pair.parts.map(|i| self.parts[i].name.as_str())
    }

    /// Smallest margin of all steps, that is the smallest distance (mm) of any pair at any step; `None`
    /// if no pair was ever within `--d-max`.
    fn smallest_margin(&self) -> Option<Margin> {
        self.margins.iter().flatten().copied().min_by(|x, y| x.distance.total_cmp(&y.distance))
    }
}

pub(crate) fn run(
    args: &Arguments,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    if let Some(file) = &args.plot {
        plot::check_name(file)?;
    }
    let name = args.file.display();
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("{name}: cannot be read"))?;
    let file = file::read(&text).with_context(|| name.to_string())?;
    let folder = args.file.parent().unwrap_or(Path::new(""));
    let urdf = file.urdf.as_ref().map(|urdf| {
        let path = folder.join(urdf);
        std::fs::read_to_string(&path).with_context(|| format!("{}: cannot be read", path.display()))
    });
    let mechanism = file.mechanism(urdf.transpose()?.as_deref()).with_context(|| name.to_string())?;
    let poses = match args.grid {
        Some(values) => Poses::Grid(values),
        None => Poses::Along(file.motion(&mechanism).with_context(|| name.to_string())?),
    };
    // A motion beyond the limits of a joint, or of a loop that does not close, is reported before the parts
    // are loaded.
    if let Poses::Along(motion) = &poses {
        check_motion(&mechanism, motion).with_context(|| name.to_string())?;
    }
    let parts = parts(&file, &mechanism, folder, args, err)?;
    let ignored = ignored(&file, &mechanism).with_context(|| name.to_string())?;
    let check = MechanismCheck::new(&mechanism, &parts, &ignored, file.neighbours)
        .with_context(|| name.to_string())?;
    let options = MechanismOptions {
        d_max: args.d_max,
        distance: args.distance,
        proof: !args.no_proof,
        allow_touching: args.allow_touching || file.allow_touching,
        deviation: file.deviation,
        tolerance: args.tolerance.unwrap_or_default(),
    };
    let clock = Instant::now();
    let report = crate::thread_pool(args.threads.threads)?.install(|| match &poses {
        Poses::Along(motion) => check.along(motion, args.steps, &options),
        Poses::Grid(values) => check.over_grid(*values, &options),
    });
    let report = report.with_context(|| name.to_string())?;
    let (duration, margins) = (clock.elapsed(), report.margins());
    let checked = Checked { mechanism: &mechanism, parts: &parts, report, margins, duration };

    if let Some(file) = &args.csv {
        write_whole(file, &output::csv(&checked)?)
            .with_context(|| format!("{}: cannot write the margins", file.display()))?;
    }
    if let (Some(file), Some(last)) = (&args.plot, checked.report.moments.last()) {
        let values = checked.margins.iter().map(|m| m.map(|m| m.distance)).collect();
        let panel = plot::Panel { label: "margin (mm)".into(), values };
        let svg = plot::stacked(&[panel], &plot::Axis { label: "time (s)".into(), last: last.time });
        write_whole(file, svg.as_bytes())
            .with_context(|| format!("{}: cannot write the plot", file.display()))?;
    }
    if let Some(file) = &args.html {
        let title = args.file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
        write_whole(file, html::page(&title, &checked)?.as_bytes())
            .with_context(|| format!("{}: cannot write the page", file.display()))?;
    }
    if args.form.json {
        serde_json::to_writer(&mut *out, &output::document(args.distance, &checked))?;
        writeln!(out)?;
    } else {
        output::write_table(&checked, out)?;
        output::write_summary(args, &checked, out)?;
    }
    Ok(outcome(&checked.report.pairs))
}

/// Solves the loops of a mechanism in few pieces, and checks that its motion is within the limits of joints.
fn check_motion(mechanism: &Mechanism, motion: &JointTrajectory) -> Result<(), MechanismError> {
    let options = LoopOptions { deviation: Some(f64::INFINITY), ..LoopOptions::default() };
    let solved = mechanism.solve(motion, &options)?;
    mechanism.paths(&solved.trajectory).map(|_| ())
}

/// Loads the solids of all links, as parts that move.
fn parts(
    file: &MechanismFile,
    mechanism: &Mechanism,
    folder: &Path,
    args: &Arguments,
    err: &mut dyn Write,
) -> anyhow::Result<Vec<MovingPart>> {
    let mut load = |path: &Path| -> anyhow::Result<Assembly> {
        let (model, note) = import::load_with(path, args.read.reading())?;
        if let Some(first) = note.as_ref().and_then(|n| n.lines().next()).filter(|_| !args.form.quiet) {
            writeln!(err, "feeler: {first}")?;
        }
        Assembly::from_model(&model).with_context(|| path.display().to_string())
    };
    if let Some(assembly) = &file.assembly {
        let path = folder.join(assembly);
        let links = file.links.iter().map(|(link, names)| (link.as_str(), names.all()));
        return assign_links(load(&path)?.into_parts(), mechanism, links)
            .with_context(|| path.display().to_string());
    }
    let mut parts = Vec::new();
    for (link, names) in &file.links {
        let k = mechanism.link(link)?;
        for name in names.all() {
            let solids = load(&folder.join(name)).with_context(|| format!("link '{link}'"))?.into_parts();
            let is_only = solids.len() == 1 && names.all().len() == 1;
            parts.extend(solids.into_iter().map(|part| {
                let part = MovingPart::new(part, k);
                let name = if is_only { link.clone() } else { format!("{link}/{}", part.name) };
                MovingPart { name, ..part }
            }));
        }
    }
    Ok(parts)
}

/// Pairs of links, by their indices, that the file excludes from the check.
fn ignored(file: &MechanismFile, mechanism: &Mechanism) -> anyhow::Result<Vec<[usize; 2]>> {
    file.ignore.iter().map(|[a, b]| Ok([mechanism.link(a)?, mechanism.link(b)?])).collect()
}

/// Outcome of a check. A pair fails if it interferes at a step, if its motion is not proven as demanded, or
/// if a step is undecided and no proof of the motion covers it.
fn outcome(pairs: &[MechanismPair]) -> CommandOutcome {
    let statuses = |pair: &MechanismPair| {
        let interferes = (pair.interfering_steps() > 0).then_some(Status::Interfering);
        let is_undecided = pair.count(Status::Undecided) > 0 && !pair.is_proven_allowed();
        let undecided = is_undecided.then_some(Status::Undecided);
        [interferes, undecided, pair.motion.as_ref().map(passage::status)]
    };
    verdict::outcome(pairs.iter().flat_map(statuses).flatten().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_assembly::{PairMotion, StepDistance};
    use feeler_runtime::{Passage, PassageOutcome};

    /// Undecided steps pass if the motion is proven free, and fail without a proof, also of the part of the
    /// motion before the parts leave their first contact. An interfering step always fails.
    #[test]
    fn proofs_decide_undecided_steps() {
        let motion = |outcome, left| {
            Some(PairMotion::Passage(Passage {
                outcome,
                start: Some(Status::Separated),
                left,
                smallest: None,
                queries: 1,
                pairs: 0,
            }))
        };
        let outcome_of = |status, motion| {
            let step = StepDistance { status, distance: Some(0.5), depth: None, points: None };
            outcome(&[MechanismPair { parts: [0, 1], steps: vec![step], motion }])
        };
        let (free, open) = (motion(PassageOutcome::Free, None), motion(PassageOutcome::Undecided(0.5), None));
        let left = motion(PassageOutcome::Free, Some(0.25));
        assert!(matches!(outcome_of(Status::Undecided, free), CommandOutcome::Done));
        assert!(matches!(outcome_of(Status::Undecided, open), CommandOutcome::Partly));
        assert!(matches!(outcome_of(Status::Undecided, None), CommandOutcome::Partly));
        assert!(matches!(outcome_of(Status::Undecided, left), CommandOutcome::Partly));
        assert!(matches!(outcome_of(Status::Touching, None), CommandOutcome::Done));
        assert!(matches!(outcome_of(Status::Interfering, free), CommandOutcome::Partly));
    }
}
