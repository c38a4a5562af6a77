//! Curves that move by formulas (`feeler_tests::curve_scenes`): their contacts in each step, a search for
//! jumps, and pages that show them.
//!
//! `curve_scenes [--solid STEP] [--frames N] [--steps N] [--pages FOLDER]`: pages show the frames, and
//! contacts are tracked over the steps. Exit status 1 if a contact begins or ends without a reason.
//! Reasons are `d_max`, an end or a corner that takes the contact over, a point at which the second
//! derivative of the distance vanishes, and a set of equal distances that begins or ends.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use clap::Parser;
use feeler_benches::{Fallible, cpu_seconds, exit_code, spread};
use feeler_curves::{Curve, CurveContact, CurveLocation, CurveOptions, CurveScene as Scene};
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, PointQuery, QueryOptions, Scene as Solids};
use feeler_tests::curve_scenes::{CURVE_SCENES, CurveScene};
use feeler_view::page::page;
use feeler_view::picture::{Picture, PictureMotion, PicturePart, PictureScene as Shown, Tint};
use feeler_view::shape::Shape;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Parser)]
struct Args {
    /// STEP file of the solid on which the hose lies.
    #[arg(long)]
    solid: Option<PathBuf>,
    /// Number of frames of a page.
    #[arg(long, default_value_t = 120)]
    frames: usize,
    /// Number of steps over which contacts are tracked.
    #[arg(long, default_value_t = 2_000)]
    steps: usize,
    /// Folder in which pages are written.
    #[arg(long)]
    pages: Option<PathBuf>,
    /// Names of the scenes to run; all scenes if empty.
    #[arg(long)]
    only: Vec<String>,
}

fn main() -> ExitCode {
    exit_code(run(&Args::parse()))
}

fn solid_of(scene: CurveScene, args: &Args) -> Fallible<Option<Arc<Body>>> {
    let own = scene.solid();
    let other = if scene == CurveScene::Hose { args.solid.clone() } else { None };
    let Some(file) = other.or(own) else { return Ok(None) };
    let model = feeler_import::prepare_step(&file).map_err(|e| e.to_string())?;
    Ok(Some(Arc::new(Body::from_model(&model, 0).map_err(|e| e.to_string())?)))
}

fn run(args: &Args) -> Fallible<bool> {
    println!(
        "scene    pieces   steps  contacts  sets  smallest gap     us: median,   95 %  \
            born  gone  unexplained  largest move"
    );
    let mut is_right = true;
    for scene in CURVE_SCENES {
        if !args.only.is_empty() && !args.only.iter().any(|n| n == scene.name()) {
            continue;
        }
        let solid = solid_of(scene, args)?;
        is_right &= follow(scene, solid.as_ref(), args.steps)?;
        if let Some(folder) = &args.pages {
            write_page(scene, solid.as_ref(), args.frames, folder)?;
        }
    }
    Ok(is_right)
}

struct Running {
    scene: Scene,
    id: feeler_curves::CurveId,
    low: P3,
    high: P3,
}

fn start(scene: CurveScene, solid: Option<&Arc<Body>>) -> Fallible<Running> {
    // The cable on the pulley approximates its path by cubics; their ripple must not count as separate
    // contacts.
    let level_slope = if scene == CurveScene::Pulley { 1e-3 } else { CurveOptions::default().level_slope };
    let options = CurveOptions { d_max: scene.d_max(), level_slope, ..CurveOptions::default() };
    let solids = Solids::new(QueryOptions::default()).map_err(|e| e.to_string())?;
    let mut made = Scene::new(solids, options).map_err(|e| e.to_string())?;
    let bounds = solid.map(|s| *s.bounds());
    if let Some(solid) = solid {
        made.solids_mut().add(solid.clone(), Pose::identity()).map_err(|e| e.to_string())?;
    }
    let (low, high) = bounds.map_or((P3::origin(), P3::origin()), |b| (b.min, b.max));
    let points = scene.points(0.0, &low, &high);
    let id = made.add(Curve::new(3, &points, scene.radius(), scene.is_closed()).map_err(|e| e.to_string())?);
    Ok(Running { scene: made, id, low, high })
}

/// Position of a contact, for comparison with the next step.
#[derive(Clone, Copy)]
struct Seen {
    u: [f64; 2],
    places: [CurveLocation; 2],
    foot: V3,
    gap: f64,
    is_sample: bool,
    /// Feature of the solid at the contact; `None` for contacts between curves.
    feature: Option<feeler_hierarchy::Feature>,
}

fn seen(contact: &CurveContact) -> Seen {
    match contact {
        CurveContact::Curves { minimum: m, .. } => Seen {
            u: m.u,
            places: m.places,
            foot: m.points[1].coords,
            gap: m.gap,
            is_sample: m.set.is_some(),
            feature: None,
        },
        CurveContact::Solid { minimum: m, .. } => Seen {
            u: [m.u, 0.0],
            places: [m.place, CurveLocation::Inside],
            foot: m.foot.coords,
            gap: m.gap,
            is_sample: m.set.is_some(),
            feature: Some(m.feature),
        },
    }
}

/// Smallest second derivative of the distance with respect to arc length, made dimensionless: it is
/// multiplied by the distance between two curves, or by the size of the curve for contacts with a solid.
/// It is 0 where a minimum merges with a saddle.
fn bend(curve: &Curve, s: &Seen, solid: Option<&Arc<Body>>) -> f64 {
    let [d, dd] = curve.derivatives(s.u[0]);
    let p = curve.point(s.u[0]);
    if let (Some(_), Some(solid)) = (s.feature, solid) {
        // Finite difference of the distances of three points from the boundary.
        let mut points = PointQuery::new();
        let h = 1e-3;
        let mut at = |u: f64| {
            let nearest = points.nearest(solid, &curve.point(u), solid.size()).expect("near");
            nearest.map_or(0.0, |n| n.distance)
        };
        let second = (at(s.u[0] - h) + at(s.u[0] + h) - 2.0 * at(s.u[0])) / (h * h);
        return second / d.norm_squared() * curve.size();
    }
    let [e, ee] = curve.derivatives(s.u[1]);
    let w = p - curve.point(s.u[1]);
    let (sa, sb) = (d.norm_squared(), e.norm_squared());
    let (aa, bb) = (1.0 + w.dot(&dd) / sa, 1.0 - w.dot(&ee) / sb);
    let ab = -d.dot(&e) / (sa * sb).sqrt();
    0.5 * (aa + bb) - (0.25 * (aa - bb) * (aa - bb) + ab * ab).sqrt()
}

fn follow(scene: CurveScene, solid: Option<&Arc<Body>>, steps: usize) -> Fallible<bool> {
    let mut run = start(scene, solid)?;
    let mut before: BTreeMap<u64, Seen> = BTreeMap::new();
    let mut spent = Vec::with_capacity(steps);
    let (mut max_contacts, mut sets, mut min_gap) = (0, 0, f64::INFINITY);
    let (mut born, mut gone, mut unexplained) = (0, 0, 0);
    let mut jump: f64 = 0.0;
    for k in 0..=steps {
        let points = scene.points(k as f64 / steps as f64, &run.low, &run.high);
        let begin = cpu_seconds();
        run.scene.update_curve(run.id, &points).map_err(|e| e.to_string())?;
        run.scene.update().map_err(|e| e.to_string())?;
        spent.push((cpu_seconds() - begin) * 1e6);
        let now: BTreeMap<u64, Seen> = run.scene.contacts().iter().map(|c| (c.id(), seen(c))).collect();
        let curve = run.scene.curve(run.id).map_err(|e| e.to_string())?;
        max_contacts = max_contacts.max(now.len());
        sets = sets.max(now.values().filter(|s| s.is_sample).count());
        min_gap = now.values().map(|s| s.gap).fold(min_gap, f64::min);
        if k > 0 {
            let has_samples = now.values().chain(before.values()).any(|s| s.is_sample);
            for (id, s) in &now {
                match before.get(id) {
                    None => {
                        born += 1;
                        unexplained +=
                            usize::from(!has_samples && !is_explained(scene, curve, solid, s, &before));
                    }
                    Some(b) if !s.is_sample => jump = jump.max((s.foot - b.foot).norm()),
                    Some(_) => {}
                }
            }
            for (_, b) in before.iter().filter(|(id, _)| !now.contains_key(id)) {
                gone += 1;
                unexplained += usize::from(!has_samples && !is_explained(scene, curve, solid, b, &now));
            }
        }
        before = now;
    }
    let pieces = run.scene.curve(run.id).map_err(|e| e.to_string())?.n_pieces();
    let [median, high, _] = spread(&mut spent);
    println!(
        "{:8} {pieces:6} {steps:7} {max_contacts:9} {sets:5} {min_gap:13.6} {median:14.1} {high:8.1} \
            {born:5} {gone:5} {unexplained:12} {jump:13.6}",
        scene.name()
    );
    Ok(unexplained == 0)
}

/// Whether a contact may begin or end: at the maximum gap, at an end or a corner, on the border of a
/// face, where the second derivative of the distance vanishes, or where another contact replaces it.
fn is_explained(
    scene: CurveScene,
    curve: &Curve,
    solid: Option<&Arc<Body>>,
    s: &Seen,
    others: &BTreeMap<u64, Seen>,
) -> bool {
    let size = curve.size();
    s.gap > scene.d_max() - 1e-2 * size
        || s.places != [CurveLocation::Inside; 2]
        || s.feature.is_some_and(|f| !matches!(f, feeler_hierarchy::Feature::Face(_)))
        || bend(curve, s, solid).abs() < 0.05
        || others.values().any(|o| (o.foot - s.foot).norm() < 1e-2 * size && (o.u[0] - s.u[0]).abs() < 0.1)
}

fn write_page(scene: CurveScene, solid: Option<&Arc<Body>>, frames: usize, folder: &Path) -> Fallible<()> {
    let mut run = start(scene, solid)?;
    let (mut lines, mut motion) = (Vec::new(), PictureMotion { unit: "", ..PictureMotion::default() });
    for k in 0..frames {
        let points = scene.points(k as f64 / (frames - 1).max(1) as f64, &run.low, &run.high);
        run.scene.update_curve(run.id, &points).map_err(|e| e.to_string())?;
        run.scene.update().map_err(|e| e.to_string())?;
        let curve = run.scene.curve(run.id).map_err(|e| e.to_string())?;
        let n = 12 * curve.n_pieces();
        let last = if curve.is_closed() { n - 1 } else { n };
        let at = |i: usize| curve.point(curve.n_pieces() as f64 * i as f64 / n as f64);
        lines.push((0..=last).map(at).collect::<Vec<_>>());
        let mut contacts: Vec<&CurveContact> = run.scene.contacts().iter().collect();
        contacts.sort_by(|a, b| a.gap().total_cmp(&b.gap()));
        motion.times.push(k as f64);
        motion.margin.push(contacts.first().map(|c| c.gap()));
        if contacts.first().is_some_and(|c| c.gap() < 0.0) {
            motion.interfering.push(k);
        }
        let ends = |c: &&CurveContact| match c {
            CurveContact::Curves { minimum: m, .. } => {
                let r = m.normal * scene.radius();
                [m.points[0] + r, m.points[1] - r]
            }
            CurveContact::Solid { minimum: m, .. } => [m.point - m.normal * scene.radius(), m.foot],
        };
        motion.minima.push(contacts.iter().map(ends).collect());
    }
    let mut shapes = vec![Shape::tube(scene.name(), &lines, scene.radius(), scene.is_closed())];
    let part = |path: &str, shape: usize| PicturePart {
        path: path.to_owned(),
        shape,
        pose: Pose::identity(),
        track: None,
        tint: Tint::Own,
        facts: Vec::new(),
    };
    let mut parts = vec![part(scene.name(), 0)];
    if let Some(solid) = solid {
        shapes.push(Shape::new(solid.hierarchy(), 2e-3 * solid.size(), false).map_err(|e| e.to_string())?);
        parts.push(part(&solid.hierarchy().info.name, 1));
    }
    let shown = Shown { name: scene.name().to_owned(), parts, motion: Some(motion), ..Shown::default() };
    let picture = Picture { shapes, scenes: vec![shown], ..Picture::default() };
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let file = folder.join(format!("{}.html", scene.name()));
    let text = page(scene.name(), "", Some(&picture)).map_err(|e| e.to_string())?;
    std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))
}
