//! `feeler query`: all local minimal distances of two posed solids.

use crate::args::{PairArgs, QueryArgs};
use crate::features::{feature_json, feature_name, point_text};
use crate::report::{Report, set_text};
use crate::{CommandOutcome, pose, table, verdict};
use anyhow::{Context as _, bail};
use feeler_assembly::{AssemblyPart, DecidedQuery, ToleranceChoice, compose_poses, contact_kind_name};
use feeler_hierarchy::{Instance, Model};
use feeler_import as import;
use feeler_runtime::{ConformalSet, Contact, ContactPair, QueryOptions, Stats};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

pub(crate) fn run(
    args: &QueryArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    // Invalid arguments are reported before files are read.
    let motion_a = pose::parse(&args.pose_a)?;
    let motion_b = pose::parse(&args.pose_b)?;
    let options = options(&args.pair)?;
    let SolidPair { parts: [a, b], .. } = load(&args.pair, err)?;
    let tolerance = args.pair.tolerance.unwrap_or_default();
    let options = QueryOptions { tolerance: tolerance.of([&a.body, &b.body]), ..options };
    let pool = crate::thread_pool(Some(args.pair.threads))?;
    let mut pair = ContactPair::new(a.body, b.body);
    let file_names = || format!("A is {}, B is {}", args.pair.a.display(), args.pair.b.display());
    let poses = compose_poses(&pair, [(motion_a, a.pose), (motion_b, b.pose)], &options);
    let [pose_a, pose_b] = poses.with_context(file_names)?;
    let clock = Instant::now();
    let decided = pool.install(|| tolerance.query(&mut pair, [&pose_a, &pose_b], &options));
    let decided = decided.with_context(file_names)?;
    let wall_us = clock.elapsed().as_secs_f64() * 1e6;
    let options = QueryOptions { tolerance: decided.decided_at.or(options.tolerance), ..options };
    let report =
        pool.install(|| Report::new(&pair, (&pose_a, &pose_b), &options, (args.curves, args.volume)))?;
    if args.pair.form.json {
        let mut document = document(&pair, args.pair.d_max, wall_us);
        keep_nearest(&mut document, args.pair.top);
        verdict::put_decided(&decided, &mut document);
        report.put_json(&mut document);
        if args.pair.certified {
            document["certificate"] = Certificate::of(&pair.stats()).json();
        }
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)?;
    } else {
        for line in report.lines() {
            writeln!(out, "{line}")?;
        }
        write_table(&pair, &decided, &report.sets, &args.pair, wall_us, out)?;
        if args.pair.certified {
            writeln!(out, "{}", Certificate::of(&pair.stats()))?;
        }
    }
    Ok(verdict::outcome([pair.status()]))
}

/// Solids A and B that a command line selects.
pub(crate) struct SolidPair {
    pub parts: [AssemblyPart; 2],
    /// Numbers of A and B in their files, counted from 0.
    pub indices: [usize; 2],
}

/// Loads the solids A and B. Messages about their files go to `err`.
pub(crate) fn load(args: &PairArgs, err: &mut dyn Write) -> anyhow::Result<SolidPair> {
    let (a, index_a) = load_solid(&args.a, ("--solid-a", args.solid_a.as_deref()), args, err)?;
    let (b, index_b) = load_solid(&args.b, ("--solid-b", args.solid_b.as_deref()), args, err)?;
    Ok(SolidPair { parts: [a, b], indices: [index_a, index_b] })
}

/// Returns the query options that a command line states. Without `--tolerance`, or with that of the files,
/// their tolerance is the default one.
pub(crate) fn options(args: &PairArgs) -> anyhow::Result<QueryOptions> {
    let options = QueryOptions {
        d_max: args.d_max,
        quasi_angle: args.quasi_angle,
        dilation_a: args.dilation_a,
        dilation_b: args.dilation_b,
        certified: args.certified,
        conformal_spacing: args.conformal_spacing,
        tolerance: match args.tolerance {
            Some(ToleranceChoice::Length(tolerance)) => Some(tolerance),
            Some(ToleranceChoice::Default | ToleranceChoice::Stated) | None => None,
        },
        penetration: args.penetration,
        parallel: args.threads > 1,
        ..QueryOptions::default()
    };
    let options = if args.brute_force { options.brute_force() } else { options };
    options.check()?;
    Ok(options)
}

/// Loads one solid of a file, and returns it with its number in the file. `which` is its number, name or
/// path, stated by the command-line option `option`.
fn load_solid(
    path: &Path,
    (option, which): (&str, Option<&str>),
    args: &PairArgs,
    err: &mut dyn Write,
) -> anyhow::Result<(AssemblyPart, usize)> {
    let (model, note) = import::load_with(path, args.read.reading())?;
    if let Some(note) = note.filter(|_| !args.form.quiet) {
        writeln!(err, "feeler: {note}")?;
    }
    let index = find_instance(&model, option, which).with_context(|| path.display().to_string())?;
    let part = AssemblyPart::from_instance(&model, index).with_context(|| path.display().to_string())?;
    Ok((part, index))
}

/// Finds an instance by its index, name or path (`which`) and returns its index. If `which` is `None`,
/// the model must have only one instance. `option` is the command-line option that selects the instance;
/// errors name it.
pub(crate) fn find_instance(model: &Model, option: &str, which: Option<&str>) -> anyhow::Result<usize> {
    match which {
        Some(which) => find_solid(model, which),
        None => only_solid(model, option),
    }
}

/// Maximum number of solids that are listed by the error about a file with several solids. Errors of
/// large assemblies are long with a larger value, and less helpful with a smaller one.
const MAX_LISTED: usize = 20;

/// Returns the index of the only solid of a file. If there are several, the error lists them.
fn only_solid(model: &Model, option: &str) -> anyhow::Result<usize> {
    let n = model.instances.len();
    if n == 1 {
        return Ok(0);
    }
    let name =
        |(i, s): (usize, &Instance)| format!("{i} '{}'", if s.path.is_empty() { &s.name } else { &s.path });
    let listed: Vec<String> = model.instances.iter().enumerate().take(MAX_LISTED).map(name).collect();
    let more = if n > MAX_LISTED { ", …; `feeler inspect` lists all" } else { "" };
    bail!(
        "the file has {n} solids; choose one with {option}, or check all with `feeler clearance`: {}{more}",
        listed.join(", ")
    )
}

/// Finds an instance by its index, name or path and returns its index. A name that several instances
/// have is an error.
fn find_solid(model: &Model, which: &str) -> anyhow::Result<usize> {
    let n = model.instances.len();
    if let Ok(i) = which.parse::<usize>() {
        if i < n {
            return Ok(i);
        }
        bail!("solid {i} does not exist: the file has {n}, numbered from 0; `feeler inspect` lists them");
    }
    let named: Vec<usize> =
        (0..n).filter(|&i| model.instances[i].name == which || model.instances[i].path == which).collect();
    match named.as_slice() {
        [i] => Ok(*i),
        [] => bail!("no solid is called '{which}'; `feeler inspect` lists the names"),
        several => bail!("solids {several:?} are called '{which}'; give one of these numbers"),
    }
}

/// Counts of the solves that certified queries have examined: all of them, and those without a complete
/// proof.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Certificate {
    /// Number of solves of pairs of areas of which at least one is free-form.
    pub solves: u64,
    /// Number of these solves that may have more minima than were found, because the proof is
    /// incomplete.
    pub undecided: u64,
}

impl Certificate {
    pub(crate) fn of(stats: &Stats) -> Self {
        Self { solves: stats.certified_pairs, undecided: stats.undecided_pairs }
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "complete": self.undecided == 0, "solves": self.solves, "undecided": self.undecided })
    }
}

impl std::fmt::Display for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { solves, undecided } = self;
        if *undecided == 0 {
            write!(f, "certified: all of {solves} solves with a free-form side are complete")
        } else {
            write!(f, "undecided: {undecided} of {solves} solves with a free-form side may have more minima")
        }
    }
}

/// JSON document of the last query of a pair, as specified in docs/INTERFACE.md, "query". `wall_us` is
/// the duration of the query (µs).
#[must_use]
pub fn document(pair: &ContactPair, d_max: f64, wall_us: f64) -> Value {
    let s = pair.stats();
    let mut document = json!({
        "schema": verdict::SCHEMA, "unit": "mm", "d_max": d_max,
        "contacts": contacts_json(pair.contacts()), "conformal_loss": pair.conformal_loss(),
        "stats": {
            "wall_us": wall_us, "bvtt_nodes": s.bvtt_nodes, "leaf_pairs": s.leaf_pairs,
            "exact_solves": s.exact_solves
        },
    });
    verdict::put_json(pair.verdict(), pair.tolerances().tol, pair.min_distance(), &mut document);
    document
}

/// Keeps only the `top` nearest minima of a document, and adds the number of removed ones. `None` keeps
/// all.
pub(crate) fn keep_nearest(document: &mut Value, top: Option<usize>) {
    if let (Some(top), Some(contacts)) = (top, document["contacts"].as_array_mut())
        && contacts.len() > top
    {
        let more = contacts.len() - top;
        contacts.truncate(top);
        document["contacts_left_out"] = more.into();
    }
}

/// Minima as a JSON array, as specified in docs/INTERFACE.md, "query".
pub(crate) fn contacts_json(contacts: &[Contact]) -> Value {
    let one = |l: &Contact| {
        json!({
            "distance": l.distance, "gap": l.gap,
            "point_a": <[f64; 3]>::from(l.point_a), "point_b": <[f64; 3]>::from(l.point_b),
            "local_a": <[f64; 3]>::from(l.local_a), "local_b": <[f64; 3]>::from(l.local_b),
            "normal": <[f64; 3]>::from(l.normal), "curvature_a": l.curvature_a, "curvature_b": l.curvature_b,
            "kind": contact_kind_name(l.kind), "id": l.id, "age": l.age, "undecided": l.undecided,
            "feature_a": feature_json(&l.feature_a), "feature_b": feature_json(&l.feature_b),
        })
    };
    contacts.iter().map(one).collect()
}

/// Returns the indices of the minima that get a row in the table, each with its conformal set if it is a
/// sample of one. These are all minima that are not samples, and the first sample of each set.
fn shown_minima<'a>(
    contacts: &[Contact],
    sets: &'a [ConformalSet],
) -> Vec<(usize, Option<&'a ConformalSet>)> {
    let mut of = vec![None; contacts.len()];
    let mut sampled = vec![false; contacts.len()];
    for set in sets {
        set.samples.iter().for_each(|&k| sampled[k] = true);
        if let Some(&first) = set.samples.iter().min() {
            of[first] = Some(set);
        }
    }
    (0..contacts.len()).filter(|&k| !sampled[k] || of[k].is_some()).map(|k| (k, of[k])).collect()
}

fn write_table(
    pair: &ContactPair,
    decided: &DecidedQuery,
    sets: &[ConformalSet],
    args: &PairArgs,
    wall_us: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let (contacts, d_max) = (pair.contacts(), args.d_max);
    for line in pair.verdict().iter().flat_map(|v| verdict::lines(v)) {
        writeln!(out, "{line}")?;
    }
    if let Some(line) = verdict::decided_line(decided, pair.status()) {
        writeln!(out, "{line}")?;
    }
    let status = crate::color::word(verdict::status_name(pair.status()));
    let ms = wall_us / 1e3;
    match pair.min_distance() {
        Some(d) => writeln!(
            out,
            "{status}: minimum distance {d:.9} mm, {} local minima within {d_max} mm ({ms:.2} ms)",
            contacts.len(),
        )?,
        None => writeln!(out, "{status}: nothing within {d_max} mm ({ms:.2} ms)")?,
    }
    if contacts.is_empty() {
        return Ok(());
    }
    let shown = shown_minima(contacts, sets);
    let rows: Vec<_> = shown
        .iter()
        .take(args.top.unwrap_or(usize::MAX))
        .map(|(i, set)| {
            let l = &contacts[*i];
            vec![
                i.to_string(),
                format!("{:.9}", l.distance),
                format!("{:.9}", l.gap),
                contact_kind_name(l.kind).into(),
                feature_name(&l.feature_a),
                feature_name(&l.feature_b),
                point_text(&l.point_a),
                point_text(&l.point_b),
                set.map_or_else(String::new, set_text),
            ]
        })
        .collect();
    let header = ["#", "distance", "gap", "kind", "feature of A", "feature of B", "point on A"];
    let header = [&header[..], &["point on B", "set"]].concat();
    // The last column is omitted if there are no conformal sets.
    let columns = if sets.is_empty() { header.len() - 1 } else { header.len() };
    let cut: Vec<Vec<String>> = rows.iter().map(|r| r[..columns].to_vec()).collect();
    write!(out, "{}", table::render(&header[..columns], &cut))?;
    if rows.len() < shown.len() {
        writeln!(out, "and {} more", shown.len() - rows.len())?;
    }
    Ok(())
}
