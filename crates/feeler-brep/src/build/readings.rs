//! The solid that a source describes: rounds of building and correcting, and the choice between corrections.

use std::collections::BTreeSet;

use super::corrections::{self, ArcChoice, Changes, Correction};
use super::problem::{BuildError, Problem, Report};
use super::{BuildOptions, Built, build, error, evidence, gaps};
use crate::remark::Remark;
use crate::solid::Solid;
use crate::source::SolidSource;

/// Maximum number of times that the gap tolerance is raised; then the solid is rejected. A larger value
/// takes more time on bad files.
const MAX_WIDENINGS: u32 = 3;

/// Maximum number of rounds of building and correcting; then the solid is rejected. A larger value takes
/// more time on bad files; with a smaller one combined errors are not corrected.
const MAX_ROUNDS: u32 = 6;

/// Maximum number of variants of a source ([`corrections::other_arcs`]) that are tried if it cannot be built
/// otherwise. A larger value takes more time on bad files; with a smaller one fewer are repaired.
const MAX_TRIALS: usize = 16;

/// Maximum number of variants of a source that are tried if it can be built with reversed faces. A larger
/// value takes more time; with a smaller one fewer wrong arcs are found.
const MAX_DOUBTFUL: usize = 8;

/// Maximum number of corrected senses for which other explanations are tried. With a larger value files with
/// many wrong senses take longer; with a smaller one fewer wrong arcs are found.
const MAX_UNCERTAIN: usize = 4;

/// Builds a solid with everything that the offline stage needs: the first one of [`build_readings`].
///
/// # Errors
/// [`BuildError`] with all problems of the source that could not be repaired. Repairs are listed in
/// [`Solid::remarks`].
pub fn build_solid(source: &SolidSource, options: &BuildOptions) -> Result<Solid, BuildError> {
    Ok(build_readings(source, options)?.swap_remove(0).solid)
}

/// A solid that a source describes, perhaps after corrections of its senses.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The solid.
    pub solid: Solid,
    /// The sense that was corrected, as a text; empty if it does not distinguish this reading from others.
    pub correction: String,
    /// Whether all seams in question are arcs of less than half a turn: the short arc of a tube is far more
    /// often a face than the long one.
    pub has_short_seams: bool,
}

/// Builds the solid that a source describes. If its senses contradict each other, the result is the solid
/// with the fewest corrections. If different solids need equally few, the result contains each of them: they
/// differ in whether the sense of a face or the direction of an arc is wrong, which only properties of the
/// whole solid can decide. The result is not empty.
///
/// # Errors
/// [`BuildError`] with all problems of the source that could not be repaired. Repairs are listed in
/// [`Solid::remarks`].
pub fn build_readings(source: &SolidSource, options: &BuildOptions) -> Result<Vec<Reading>, BuildError> {
    let (trials, first, changes) = Trials::begin(source, options);
    let alone = |solid| vec![Reading { solid, correction: String::new(), has_short_seams: false }];
    let first = match first {
        Ok(solid) => solid,
        Err(e) => {
            let faces: Vec<u64> = e.problems.iter().map_while(Problem::contradicting_face).collect();
            let is_only_problem = !faces.is_empty() && faces.len() == e.problems.len();
            let found = if is_only_problem { trials.with_other_arcs(&faces) } else { None };
            return found.map(alone).ok_or(e);
        }
    };
    // If the normal of a face was reversed, an arc in the wrong direction may be the actual error. A face
    // that folds back on its neighbours afterwards is evidence of that.
    let folded = evidence::folded(&first, &changes.faces);
    if !folded.is_empty()
        && let Some(solid) = trials.with_other_arcs(&folded)
    {
        return Ok(alone(solid));
    }
    if !(1..=MAX_UNCERTAIN).contains(&changes.count()) {
        return Ok(alone(first));
    }
    let is_less = |c: &Correction| c.count() < changes.count();
    let is_possible =
        |c: &Correction| is_less(c) || c.count() == changes.count() && !changes.is_refuted(source, c);
    let mut equal: Vec<Reading> = Vec::new();
    for other in changes.alternatives(source).into_iter().filter(is_possible).take(MAX_DOUBTFUL) {
        match trials.with(&other) {
            Some(solid) if is_less(&other) => return Ok(alone(solid)),
            Some(solid) => {
                let has_short_seams = changes.has_short_seams(source, Some(&other));
                equal.push(Reading { solid, correction: other.text(source), has_short_seams });
            }
            None => {}
        }
    }
    let has_short_seams = changes.has_short_seams(source, None);
    equal.push(Reading { solid: first, correction: changes.text(), has_short_seams });
    Ok(equal)
}

/// Constructions of one source with different corrections.
struct Trials<'a> {
    source: &'a SolidSource,
    options: BuildOptions,
    /// Remarks on the options.
    remarks: Vec<Remark>,
}

impl<'a> Trials<'a> {
    /// Builds the source without trying other corrections. Returns the trials of these, the solid, and its
    /// uncertain corrections. Gaps beyond the tolerance that are short compared with the edges around them
    /// are closed as well, if the loops stay consistent. Some gaps are found only after others are closed,
    /// so the tolerance is raised repeatedly.
    fn begin(source: &'a SolidSource, options: &BuildOptions) -> (Self, Result<Solid, BuildError>, Changes) {
        let mut trials = Self { source, options: *options, remarks: Vec::new() };
        let mut changes = Changes::default();
        let mut built = build_in_rounds(source, options, Vec::new(), &mut changes);
        for _ in 0..MAX_WIDENINGS {
            let Err(e) = &built else { break };
            let Some(w) = gaps::widened(source, &trials.options, &e.problems) else { break };
            (trials.options, trials.remarks, changes) = (w.options, vec![w.remark], Changes::default());
            built = build_in_rounds(source, &trials.options, trials.remarks.clone(), &mut changes);
        }
        (trials, built, changes)
    }

    /// Returns the solid after a correction; `None` if it is invalid or needs further uncertain ones.
    fn with(&self, correction: &Correction) -> Option<Solid> {
        let (source, remarks) = correction.applied(self.source);
        let (mut changes, remarks) = (Changes::default(), [self.remarks.clone(), remarks].concat());
        let solid = build_in_rounds(&source, &self.options, remarks, &mut changes).ok()?;
        (changes == Changes::default()).then_some(solid)
    }

    /// Returns the solid after the first correction of arcs of the faces (entity ids) with which it is valid.
    fn with_other_arcs(&self, faces: &[u64]) -> Option<Solid> {
        let all = corrections::other_arcs(self.source, faces, ArcChoice::Any);
        all.iter().take(MAX_TRIALS).find_map(|c| self.with(c))
    }
}

/// Builds a solid, corrects the source where the result contradicts it, and repeats this until nothing
/// contradicts it, at most [`MAX_ROUNDS`] times. `remarks` are remarks on the source, for the result; the
/// corrections for which there may be another explanation are added to `changes`.
fn build_in_rounds(
    source: &SolidSource,
    options: &BuildOptions,
    remarks: Vec<Remark>,
    changes: &mut Changes,
) -> Result<Solid, BuildError> {
    let mut corrected = (!remarks.is_empty()).then(|| (source.clone(), remarks));
    let mut patches = BTreeSet::new();
    let mut joined = Vec::new();
    // The first passes correct patches and faces, then guesses, then shells; the last pass confirms the
    // result.
    for _ in 0..MAX_ROUNDS {
        let mut report = Report::default();
        if let Some((_, remarks)) = &corrected {
            report.remarks.clone_from(remarks);
        }
        let current: &SolidSource = corrected.as_ref().map_or(source, |c: &(SolidSource, Vec<Remark>)| &c.0);
        match build(current, (&patches, &joined), options, &mut report) {
            Some(Built::Solid(solid)) if report.problems.is_empty() => return Ok(*solid),
            Some(Built::Wrong(wrong)) => {
                let mut notes = corrected.as_ref().map_or_else(Vec::new, |c| c.1.clone());
                let mut fix = Report::default();
                let next = corrections::corrected(current, &wrong, &mut fix);
                patches.extend(&wrong.patches);
                joined.extend(&wrong.joined);
                changes.add(&wrong);
                notes.append(&mut fix.remarks);
                corrected = Some((next, notes));
            }
            _ => return Err(error(source, report)),
        }
    }
    let mut report = Report::default();
    report.fail(Problem::InsideOut);
    Err(error(source, report))
}
