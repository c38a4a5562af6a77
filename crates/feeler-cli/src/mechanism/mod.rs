//! `feeler mechanism`: margins of moving parts over time, and proofs that they stay free.

use crate::args::Mechanism as Arguments;
use crate::clearance::parts::number_equal;
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::{Outcome, passage, plot, pose, table};
use anyhow::{Context as _, bail, ensure};
use feeler_geom::{P3, Pose};
use feeler_hierarchy::whole::write_whole;
use feeler_import as import;
use feeler_mechanism::file::{self, Written};
use feeler_mechanism::{Mechanism, Motion};
use feeler_runtime::{
    Body, ContactPair, Passage, PassageOptions, PassageOutcome, Path as MotionPath, QueryOptions, Status,
    time_of_contact,
};
use feeler_view::picture;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A solid of a link.
struct Part {
    name: String,
    link: usize,
    body: Arc<Body>,
    /// In the frame of the link.
    own: Pose,
}

/// What is known of two parts.
struct PairResult {
    parts: [usize; 2],
    steps: Vec<Step>,
    passage: Option<Passage>,
}

/// What is known of two parts at one step.
#[derive(Clone, Copy, Default)]
struct Step {
    /// Smallest distance, if it is within reach.
    distance: Option<f64>,
    interferes: bool,
    /// Where it is.
    nearest: Option<[P3; 2]>,
}

const PAIR_HEADER: [&str; 6] = ["a", "b", "smallest mm", "at s", "steps that interfere", "between steps"];
/// Names of parts that an error lists.
const LISTED: usize = 40;
/// Combinations of a grid.
const MOST_POSES: usize = 1_000_000;

pub(crate) fn run(args: &Arguments, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    if let Some(file) = &args.plot {
        let is_svg = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        ensure!(is_svg, "{}: plots are SVG; give a name that ends with .svg", file.display());
    }
    let named = || args.file.display().to_string();
    let text = std::fs::read_to_string(&args.file).with_context(|| format!("{}: cannot read", named()))?;
    let written = file::read(&text).with_context(named)?;
    let folder = args.file.parent().unwrap_or(Path::new(""));
    let urdf = written.urdf.as_ref().map(|name| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("{}: cannot read", path.display()))
    });
    let mechanism = written.mechanism(urdf.transpose()?.as_deref()).with_context(named)?;
    let motion =
        if args.grid.is_some() { None } else { Some(written.motion(&mechanism).with_context(named)?) };
    let paths = motion.as_ref().map(|m| mechanism.paths(m)).transpose().with_context(named)?;
    let parts = parts(&written, &mechanism, folder, args, err)?;
    let pairs = pairs(&written, &mechanism, &parts).with_context(named)?;
    ensure!(
        !pairs.is_empty(),
        "{}: no two parts move against each other; `neighbours = true` looks at parts that \
        share a joint",
        named()
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(args.threads.unwrap_or(0)));
    let pool = pool.build().context("cannot start the threads of --threads")?;
    let poses = match (&motion, &paths, args.grid) {
        (Some(motion), Some(paths), _) => over_time(motion, paths, args.steps),
        (_, _, grid) => over_grid(&mechanism, grid.unwrap_or(2))?,
    };
    let clock = Instant::now();
    let work = |pair: &[usize; 2]| measure(args, &parts, *pair, &poses, paths.as_deref());
    let results: Vec<PairResult> =
        pool.install(|| pairs.par_iter().map(work).collect::<anyhow::Result<_>>())?;
    let seconds = clock.elapsed().as_secs_f64();
    let margins = margins(&results, poses.len());
    if let Some(file) = &args.csv {
        write_whole(file, csv(&margins, &poses, &results, &parts).as_bytes())
            .with_context(|| format!("{}: cannot write the margins", file.display()))?;
    }
    if let (Some(file), Some(last)) = (&args.plot, poses.last()) {
        let panel = plot::Panel {
            label: "margin (mm)".into(),
            values: margins.iter().map(|m| m.map(|(d, _)| d)).collect(),
        };
        let svg = plot::stacked(&[panel], &plot::Axis { label: "time (s)".into(), last: last.time });
        write_whole(file, svg.as_bytes())
            .with_context(|| format!("{}: cannot write the plot", file.display()))?;
    }
    if let Some(file) = &args.html {
        let name = written_name(&args.file);
        write_whole(file, page(&name, &results, &parts, &margins, &poses)?.as_bytes())
            .with_context(|| format!("{}: cannot write the page", file.display()))?;
    }
    if args.json {
        serde_json::to_writer(&mut *out, &document(args, &results, &parts, &margins, &poses))?;
        writeln!(out)?;
    } else {
        write_table(&results, &parts, &poses, out)?;
        tell(args, &results, &parts, &poses, &margins, seconds, out)?;
    }
    Ok(outcome(&results))
}

/// Where all links are at one moment, or one point of a grid.
struct Moment {
    time: f64,
    links: Vec<Pose>,
}

fn over_time(motion: &Motion, paths: &[MotionPath], steps: u32) -> Vec<Moment> {
    let duration = motion.times.last().unwrap_or(&0.0) - motion.times.first().unwrap_or(&0.0);
    let at = |i: u32| {
        let time = duration * f64::from(i) / f64::from(steps - 1);
        Moment { time, links: paths.iter().map(|p| p.pose(time)).collect() }
    };
    (0..steps).map(at).collect()
}

/// All combinations of values of the joints that have limits; the others stay at 0.
fn over_grid(mechanism: &Mechanism, each: u32) -> anyhow::Result<Vec<Moment>> {
    let free: Vec<(usize, [f64; 2])> = mechanism
        .joints
        .iter()
        .enumerate()
        .filter_map(|(k, j)| j.limits.filter(|_| j.follows.is_none()).map(|l| (k, l)))
        .collect();
    ensure!(!free.is_empty(), "no joint has limits: there is no grid over them");
    let count = u32::try_from(free.len()).ok().and_then(|n| (each as usize).checked_pow(n));
    let count = count.filter(|n| *n <= MOST_POSES).with_context(|| {
        format!("{each} values of each of {} joints are more than a million poses; give fewer", free.len())
    })?;
    let mut out = Vec::new();
    let mut left_out = 0_usize;
    for i in 0..count {
        let mut values = vec![0.0; mechanism.joints.len()];
        let mut rest = i;
        for (k, [least, most]) in &free {
            #[expect(clippy::cast_precision_loss, reason = "a small count")]
            let part = (rest % each as usize) as f64 / f64::from(each - 1);
            values[*k] = least + part * (most - least);
            rest /= each as usize;
        }
        let values = mechanism.all_values(&values);
        if mechanism.check(&values).is_err() {
            left_out += 1;
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        out.push(Moment { time: i as f64, links: mechanism.poses(&values) });
    }
    ensure!(left_out < count, "every point of the grid is beyond the limits of a joint that follows another");
    Ok(out)
}

/// The solids of all links.
fn parts(
    written: &Written,
    mechanism: &Mechanism,
    folder: &Path,
    args: &Arguments,
    err: &mut dyn Write,
) -> anyhow::Result<Vec<Part>> {
    let mut load = |path: &Path| -> anyhow::Result<Vec<Part>> {
        let (model, note) = import::load_with(path, args.read.reading())?;
        if let Some(first) = note.as_ref().and_then(|n| n.lines().next()).filter(|_| !args.quiet) {
            writeln!(err, "feeler: {first}")?;
        }
        let bodies: Vec<Arc<Body>> = (0..model.solids.len())
            .map(|i| Body::from_model(&model, i).map(Arc::new))
            .collect::<Result<_, _>>()
            .with_context(|| path.display().to_string())?;
        let part = |i: &feeler_hierarchy::Instance| Part {
            name: if i.path.is_empty() { i.name.clone() } else { i.path.clone() },
            link: 0,
            body: bodies[i.solid as usize].clone(),
            own: i.pose(),
        };
        let mut parts: Vec<Part> = model.instances.iter().map(part).collect();
        number_equal(parts.iter_mut().map(|p| &mut p.name));
        Ok(parts)
    };
    let mut out = Vec::new();
    if let Some(assembly) = &written.assembly {
        let path = folder.join(assembly);
        let all = load(&path)?;
        let mut taken = vec![None; all.len()];
        for (link, names) in &written.links {
            let k = mechanism.link(link)?;
            for pattern in names.all() {
                let matcher =
                    globset::Glob::new(pattern).with_context(|| format!("link '{link}'"))?.compile_matcher();
                let mut found = false;
                for (i, part) in all.iter().enumerate() {
                    let last = part.name.rsplit('/').next().unwrap_or_default();
                    if matcher.is_match(&part.name) || matcher.is_match(last) {
                        found = true;
                        if let Some(other) = taken[i].filter(|other| *other != k) {
                            let other: &String = &mechanism.links[other];
                            bail!("part '{}' is in two links, '{other}' and '{link}'", part.name);
                        }
                        taken[i] = Some(k);
                    }
                }
                if !found {
                    let names: Vec<&str> = all.iter().take(LISTED).map(|p| p.name.as_str()).collect();
                    let more = if all.len() > LISTED { ", …" } else { "" };
                    bail!(
                        "link '{link}': no part of {} is called '{pattern}'; there are {}{more}",
                        path.display(),
                        names.join(", ")
                    );
                }
            }
        }
        // Where the assembly is drawn all joints are at 0: the frames of links are those of the assembly
        // then.
        out.extend(
            all.into_iter().zip(taken).filter_map(|(part, link)| link.map(|link| Part { link, ..part })),
        );
        return Ok(out);
    }
    for (link, names) in &written.links {
        let k = mechanism.link(link)?;
        for name in names.all() {
            let path = folder.join(name);
            let solids = load(&path).with_context(|| format!("link '{link}'"))?;
            let is_one = solids.len() == 1 && names.all().len() == 1;
            let named = |part: &Part| if is_one { link.clone() } else { format!("{link}/{}", part.name) };
            out.extend(solids.into_iter().map(|part| Part { name: named(&part), link: k, ..part }));
        }
    }
    Ok(out)
}

/// Pairs of parts that move against each other and are not left alone.
fn pairs(written: &Written, mechanism: &Mechanism, parts: &[Part]) -> anyhow::Result<Vec<[usize; 2]>> {
    let mut ignored = Vec::new();
    for [a, b] in &written.ignore {
        ignored.push([mechanism.link(a)?, mechanism.link(b)?]);
    }
    let groups = mechanism.rigid_groups();
    let counts = |a: usize, b: usize| {
        groups[a] != groups[b]
            && (written.neighbours || !mechanism.are_neighbours(a, b))
            && !ignored.iter().any(|i| *i == [a, b] || *i == [b, a])
    };
    let all = (0..parts.len()).flat_map(|i| (i + 1..parts.len()).map(move |j| [i, j]));
    Ok(all.filter(|[i, j]| counts(parts[*i].link, parts[*j].link)).collect())
}

fn measure(
    args: &Arguments,
    parts: &[Part],
    pair: [usize; 2],
    poses: &[Moment],
    paths: Option<&[MotionPath]>,
) -> anyhow::Result<PairResult> {
    let [a, b] = pair.map(|i| &parts[i]);
    let named = || format!("{} and {}", a.name, b.name);
    let mut contact_pair = ContactPair::new(a.body.clone(), b.body.clone());
    let options = QueryOptions::within(args.d_max);
    let mut steps = Vec::with_capacity(poses.len());
    for moment in poses {
        let links = [(moment.links[a.link], a.own), (moment.links[b.link], b.own)];
        // Links are moved by products of poses: these round an offset of the whole mechanism.
        let offset = links.map(|(link, _)| link.translation.vector.amax());
        contact_pair.check_coordinates(offset[0].min(offset[1]), &options).with_context(named)?;
        let [pose_a, pose_b] = pose::composed(&contact_pair, links, &options).with_context(named)?;
        let (box_a, box_b) = (a.body.posed_bounds(&pose_a), b.body.posed_bounds(&pose_b));
        let gap = (box_a.min - box_b.max).sup(&(box_b.min - box_a.max)).map(|x| x.max(0.0)).norm();
        if gap > args.d_max {
            steps.push(Step::default());
            continue;
        }
        contact_pair.query(&pose_a, &pose_b, &options).with_context(named)?;
        steps.push(Step {
            distance: contact_pair.min_distance(),
            interferes: contact_pair.status() == Some(Status::Interfering),
            nearest: contact_pair.contacts().first().map(|l| [l.point_a, l.point_b]),
        });
    }
    let passage = match paths.filter(|_| !args.no_proof) {
        None => None,
        Some(paths) => {
            let [path_a, path_b] = [a, b].map(|p| paths[p.link].starting(&p.own));
            let options = PassageOptions { distance: args.distance, ..PassageOptions::default() };
            Some(time_of_contact(&mut contact_pair, &path_a, &path_b, &options).with_context(named)?)
        }
    };
    Ok(PairResult { parts: pair, steps, passage })
}

/// At each step the smallest distance and the pair that has it; 0 where a pair interferes.
fn margins(results: &[PairResult], steps: usize) -> Vec<Option<(f64, usize)>> {
    let at = |i: usize| {
        let of = |(k, r): (usize, &PairResult)| {
            let Step { distance, interferes, .. } = r.steps[i];
            if interferes { Some((0.0, k)) } else { distance.map(|d| (d.max(0.0), k)) }
        };
        results.iter().enumerate().filter_map(of).min_by(|x, y| x.0.total_cmp(&y.0))
    };
    (0..steps).map(at).collect()
}

fn csv(margins: &[Option<(f64, usize)>], poses: &[Moment], results: &[PairResult], parts: &[Part]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["time_s", "margin_mm", "a", "b", "interferes"];
    let mut rows = vec![header.map(str::to_owned)];
    for (i, (margin, moment)) in margins.iter().zip(poses).enumerate() {
        let row = match margin {
            Some((distance, k)) => {
                let [a, b] = results[*k].parts.map(|p| parts[p].name.clone());
                [
                    moment.time.to_string(),
                    distance.to_string(),
                    a,
                    b,
                    results[*k].steps[i].interferes.to_string(),
                ]
            }
            None => [moment.time.to_string(), String::new(), String::new(), String::new(), "false".into()],
        };
        rows.push(row);
    }
    // Memory takes everything, and all rows are as long.
    rows.iter().for_each(|row| drop(writer.write_record(row)));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The smallest distance of a pair, when, and how many steps interfere.
fn smallest(result: &PairResult, poses: &[Moment]) -> (Option<(f64, f64)>, usize) {
    let measured = result.steps.iter().zip(poses).filter_map(|(s, m)| s.distance.map(|d| (d, m.time)));
    let met = result.steps.iter().filter(|s| s.interferes).count();
    (measured.min_by(|x, y| x.0.total_cmp(&y.0)), met)
}

fn write_table(
    results: &[PairResult],
    parts: &[Part],
    poses: &[Moment],
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let row = |r: &PairResult| {
        let [a, b] = r.parts.map(|i| parts[i].name.clone());
        let (least, met) = smallest(r, poses);
        let [distance, when] = match least {
            Some((d, t)) => [format!("{d:.6}"), format!("{t:.4}")],
            None => ["-".to_owned(), "-".to_owned()],
        };
        let told = r.passage.as_ref().map_or_else(|| "-".to_owned(), |p| passage::text(p, " s"));
        vec![a, b, distance, when, met.to_string(), told]
    };
    // What was far off all the time and is proven free need not be told one by one.
    let tells = |r: &&PairResult| {
        let (least, met) = smallest(r, poses);
        least.is_some() || met > 0 || r.passage.as_ref().is_some_and(|p| p.outcome != PassageOutcome::Free)
    };
    let rows: Vec<_> = results.iter().filter(tells).map(row).collect();
    write!(out, "{}", table::render(&PAIR_HEADER, &rows))?;
    let far = results.len() - rows.len();
    if far > 0 {
        writeln!(out, "{far} other pairs are never within reach")?;
    }
    Ok(())
}

fn tell(
    args: &Arguments,
    results: &[PairResult],
    parts: &[Part],
    poses: &[Moment],
    margins: &[Option<(f64, usize)>],
    seconds: f64,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let least = margins.iter().zip(poses).filter_map(|(m, p)| m.map(|(d, k)| (d, k, p.time)));
    let what = if args.grid.is_some() { "poses" } else { "steps" };
    write!(out, "{} {what} of {} pairs in {seconds:.2} s", poses.len(), results.len())?;
    match least.min_by(|x, y| x.0.total_cmp(&y.0)) {
        Some((d, k, _)) => {
            let [a, b] = results[k].parts.map(|i| &parts[i].name);
            writeln!(out, "; smallest margin {d:.9} mm, {a} to {b}")?;
        }
        None => writeln!(out, "; nothing within reach")?,
    }
    if args.grid.is_some() {
        let meets = |i: usize| results.iter().any(|r| r.steps[i].interferes);
        let met = (0..poses.len()).filter(|i| meets(*i)).count();
        writeln!(out, "{met} poses of the grid interfere")?;
    } else if !args.no_proof {
        let free =
            results.iter().filter(|r| r.passage.as_ref().is_some_and(|p| p.outcome == PassageOutcome::Free));
        let free = free.count();
        if free == results.len() {
            writeln!(out, "proven free at all times, all pairs")?;
        } else {
            writeln!(out, "{} of {} pairs are not free", results.len() - free, results.len())?;
        }
    }
    Ok(())
}

fn written_name(file: &Path) -> String {
    file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned())
}

/// The motion as it is played, with a row for each pair.
fn page(
    name: &str,
    results: &[PairResult],
    parts: &[Part],
    margins: &[Option<(f64, usize)>],
    poses: &[Moment],
) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let shapes = drawing.shapes_of_bodies(parts.iter().map(|p| &p.body));
    let part = |(p, shape): (&Part, usize)| picture::Part {
        track: Some(p.link),
        ..drawing::still(&p.name, shape, p.own)
    };
    // Where a pair is nearest, and the step.
    let nearest = |r: &PairResult| {
        let at = |i: usize| Some((r.steps[i].distance?, i));
        (0..poses.len()).filter_map(at).min_by(|x, y| x.0.total_cmp(&y.0))
    };
    let pair = |r: &PairResult| {
        let met = r.steps.iter().any(|s| s.interferes);
        let minimum = nearest(r).and_then(|(distance, i)| {
            let points = r.steps[i].nearest?;
            Some(picture::Minimum { distance, points, features: Default::default(), kind: "nearest" })
        });
        picture::Pair {
            parts: r.parts,
            status: if met { "interfering" } else { "separated" }.to_owned(),
            minima: minimum.into_iter().collect(),
            more: 0,
            witness: None,
        }
    };
    let links = poses.first().map_or(0, |p| p.links.len());
    let minima = |(i, margin): (usize, &Option<(f64, usize)>)| {
        margin.and_then(|(_, k)| results[k].steps[i].nearest).into_iter().collect()
    };
    let motion = picture::Motion {
        times: poses.iter().map(|p| p.time).collect(),
        unit: "s",
        curve: None,
        tracks: (0..links).map(|link| poses.iter().map(|p| p.links[link]).collect()).collect(),
        margin: margins.iter().map(|m| m.map(|m| m.0)).collect(),
        interfering: (0..poses.len()).filter(|i| results.iter().any(|r| r.steps[*i].interferes)).collect(),
        minima: margins.iter().enumerate().map(minima).collect(),
    };
    let scene = picture::Scene {
        name: name.to_owned(),
        parts: parts.iter().zip(shapes).map(part).collect(),
        pairs: results.iter().map(pair).collect(),
        motion: Some(motion),
        balls: None,
    };
    let scene = drawing.add(scene);
    let row = |(k, r): (usize, &PairResult)| {
        let [a, b] = r.parts.map(|i| parts[i].name.as_str());
        let (least, met) = smallest(r, poses);
        let [distance, when] = match least {
            Some((d, t)) => [format!("{d:.6}"), format!("{t:.4}")],
            None => ["-".to_owned(), "-".to_owned()],
        };
        let told = r.passage.as_ref().map_or_else(|| "-".to_owned(), |p| passage::text(p, " s"));
        let cells = vec![
            Cell::new("path", a),
            Cell::new("path", b),
            Cell::new("n", distance),
            Cell::new("n", when),
            Cell::new("n", met.to_string()),
            Cell::new("", told),
        ];
        let step = nearest(r).map(|(_, i)| i);
        let class = if met > 0 { "new" } else { "" };
        Row { class, cells, show: Some(drawing.show(scene, picture::What::Pair(k, step))) }
    };
    let rows: Vec<Row> = results.iter().enumerate().map(row).collect();
    let least = margins.iter().filter_map(|m| m.map(|(d, _)| d)).min_by(f64::total_cmp);
    let least =
        least.map_or_else(|| "nothing within reach".to_owned(), |d| format!("smallest margin {d:.9} mm"));
    let summary = format!("{} steps of {} pairs; {least}", poses.len(), results.len());
    report(name, &summary, &drawing.failed, (&PAIR_HEADER, &rows), drawing.finished())
}

fn document(
    args: &Arguments,
    results: &[PairResult],
    parts: &[Part],
    margins: &[Option<(f64, usize)>],
    poses: &[Moment],
) -> Value {
    let pairs: Vec<Value> = results
        .iter()
        .map(|r| {
            let [a, b] = r.parts.map(|i| &parts[i].name);
            let (least, met) = smallest(r, poses);
            json!({
                "a": a, "b": b, "smallest": least.map(|l| l.0), "time": least.map(|l| l.1),
                "interfering_steps": met, "motion": r.passage.as_ref().map(passage::json),
            })
        })
        .collect();
    let margins: Vec<Value> = margins
        .iter()
        .zip(poses)
        .map(|(m, p)| json!({ "time": p.time, "margin": m.map(|m| m.0), "pair": m.map(|m| m.1) }))
        .collect();
    json!({
        "schema": crate::verdict::SCHEMA, "unit": "mm", "distance": args.distance, "pairs": pairs,
        "margins": margins,
    })
}

fn outcome(results: &[PairResult]) -> Outcome {
    let of_pair = |r: &PairResult| {
        let meets = r.steps.iter().any(|s| s.interferes).then_some(Status::Interfering);
        [meets, r.passage.as_ref().map(passage::status)]
    };
    crate::verdict::outcome(results.iter().flat_map(of_pair).flatten().map(Some))
}
