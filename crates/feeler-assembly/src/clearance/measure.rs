//! Pairs that are near, measured in parallel.

use super::parts::Part;
use super::rules::Matches;
use anyhow::Context as _;
use feeler_geom::{P3, Pose};
use feeler_runtime::{
    Contact, ContactKind, ContactPair, ContactRegion, FeatureRef, QueryOptions, Scene, Status, Undecided,
    Witness,
};
use indicatif::{ParallelProgressIterator as _, ProgressBar, ProgressDrawTarget, ProgressStyle};
use rayon::prelude::*;
use std::io::IsTerminal as _;

/// Minima of a pair that are kept for its picture.
const LISTED: usize = 50;

/// What is asked of every pair.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Distance (mm) within which parts are measured.
    pub(crate) d_max: f64,
    pub(crate) tolerance: Option<f64>,
    pub(crate) quiet: bool,
}

/// How many pairs there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) all: usize,
    /// Left alone because somebody said so.
    pub(crate) ignored: usize,
    /// Within the distance asked for.
    pub(crate) near: usize,
}

/// Where two parts come nearest.
#[derive(Clone, Debug)]
pub(crate) struct Nearest {
    pub(crate) distance: f64,
    pub(crate) points: [P3; 2],
    pub(crate) features: [FeatureRef; 2],
}

/// What is known of a pair.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Indices of the parts, ascending.
    pub(crate) parts: [usize; 2],
    pub(crate) status: Status,
    /// Smallest minimum within the distance asked for.
    pub(crate) nearest: Option<Nearest>,
    /// Number of minima.
    pub(crate) minima: usize,
    /// The nearest of them.
    pub(crate) listed: Vec<Contact>,
    /// Lengths (mm) below this counted as zero.
    pub(crate) tolerance: f64,
    /// Of parts that touch.
    pub(crate) contacts: Vec<ContactRegion>,
    /// Of parts that interfere.
    pub(crate) witness: Option<Witness>,
    pub(crate) crossing: Vec<(FeatureRef, FeatureRef)>,
    pub(crate) undecided: Vec<Undecided>,
    /// Why it could not be measured; the rest means nothing then.
    pub(crate) failed: Option<String>,
}

impl Measured {
    /// Depth (mm) below which no translation parts them; 0 where there is none.
    pub(crate) fn depth(&self) -> f64 {
        self.witness.map_or(0.0, |w| w.inside_a + w.inside_b)
    }
}

/// All near pairs, ascending.
pub(crate) fn measure(
    parts: &[Part],
    matches: &Matches<'_>,
    request: &Request,
) -> anyhow::Result<(Vec<Measured>, Counts)> {
    let all = parts.len() * parts.len().saturating_sub(1) / 2;
    let ignored = (0..parts.len())
        .flat_map(|i| (i + 1..parts.len()).map(move |j| (i, j)))
        .filter(|(i, j)| matches.is_ignored(*i, *j))
        .count();
    if parts.len() < 2 {
        return Ok((Vec::new(), Counts { all, ignored, near: 0 }));
    }
    let options = QueryOptions { tolerance: request.tolerance, ..QueryOptions::within(request.d_max) };
    let mut scene = Scene::new(options)?;
    for part in parts {
        scene.add(part.body.clone(), part.pose).context("the parts make no scene")?;
    }
    // Bodies are numbered as the parts are.
    let near = scene.near_bodies()?.into_iter().map(|pair| pair.map(|id| id.0 as usize));
    let near: Vec<[usize; 2]> = near.filter(|&[i, j]| !matches.is_ignored(i, j)).collect();
    let bar = progress(near.len(), !request.quiet);
    let one = |&pair: &[usize; 2]| one(pair, parts, &options);
    let mut measured: Vec<Measured> = near.par_iter().progress_with(bar.clone()).map(one).collect();
    bar.finish_and_clear();
    // The broad phase finds some that are a little farther.
    let is_far = |m: &Measured| m.status == Status::Separated && m.nearest.is_none() && m.failed.is_none();
    measured.retain(|m| !is_far(m));
    let counts = Counts { all, ignored, near: measured.len() };
    Ok((measured, counts))
}

fn one(which: [usize; 2], parts: &[Part], options: &QueryOptions) -> Measured {
    let [a, b] = which.map(|i| &parts[i]);
    let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
    let mut measured = Measured {
        parts: which,
        status: Status::Undecided,
        nearest: None,
        minima: 0,
        listed: Vec::new(),
        tolerance: 0.0,
        contacts: Vec::new(),
        witness: None,
        crossing: Vec::new(),
        undecided: Vec::new(),
        failed: None,
    };
    if let Err(e) = fill(&mut measured, &mut pair, (&a.pose, &b.pose), options) {
        measured.failed = Some(e.to_string());
    }
    measured
}

fn fill(
    measured: &mut Measured,
    pair: &mut ContactPair,
    (pose_a, pose_b): (&Pose, &Pose),
    options: &QueryOptions,
) -> Result<(), feeler_runtime::QueryError> {
    pair.query(pose_a, pose_b, options)?;
    measured.status = pair.status().unwrap_or(Status::Undecided);
    measured.tolerance = pair.tolerances().tol;
    measured.minima = pair.contacts().len();
    measured.listed = pair.contacts().iter().take(LISTED).copied().collect();
    let nearest = pair.contacts().iter().find(|l| l.kind != ContactKind::Quasi);
    measured.nearest = nearest.map(|l| Nearest {
        distance: l.distance,
        points: [l.point_a, l.point_b],
        features: [l.feature_a, l.feature_b],
    });
    if let Some(verdict) = pair.verdict() {
        measured.witness = verdict.witness;
        measured.undecided.clone_from(&verdict.undecided);
    }
    match measured.status {
        Status::Touching => measured.contacts = pair.contact_regions(pose_a, pose_b, options)?,
        Status::Interfering => measured.crossing = pair.crossing_faces(pose_a, pose_b, options)?,
        Status::Separated | Status::Undecided => {}
    }
    Ok(())
}

/// A bar on stderr, where that is a terminal.
fn progress(pairs: usize, wanted: bool) -> ProgressBar {
    if !wanted || pairs < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(pairs as u64), ProgressDrawTarget::stderr());
    // A bar in the default style is still a bar.
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} pairs, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}
