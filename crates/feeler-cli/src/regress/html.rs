//! Result of a comparison as a page with a row for each difference and the models of the entries.

use super::Compared;
use super::output::{HEADER, summary};
use super::suite::{PairTask, SolidSource, Suite, Task};
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::playback::{self, PlayedStep};
use crate::query::find_instance;
use feeler_assembly::regress::{Entries, EntryComparison, EntryOutcome, PairFacts};
use feeler_assembly::{MinimumFacts, contact_kind_name};
use feeler_geom::Pose;
use feeler_import as import;
use feeler_runtime::ContactKind;
use feeler_view::picture::{PictureMinimum, PicturePair, PicturePart, PictureScene, Tint, What};

pub(super) fn page(compared: &Compared, suite: &Suite, found: &Entries) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let mut rows = Vec::new();
    // Entries with differences come first.
    let same = compared.entries.iter().filter(|e| e.differences.is_empty());
    for entry in compared.differing().chain(same) {
        let scene = if drawing.is_full() { None } else { scene(entry, suite, found, &mut drawing) };
        let cells = |kind: &str, of: &str, what: &str| {
            vec![
                Cell::new("path", entry.name.as_str()),
                Cell::new("", kind),
                Cell::new("path", of),
                Cell::new("", what),
            ]
        };
        let show = |drawing: &mut Drawing, subject: &str| {
            let what = what(&drawing.picture.scenes[scene?], subject);
            Some(drawing.show(scene?, what))
        };
        if entry.differences.is_empty() {
            let show = show(&mut drawing, "");
            rows.push(Row { class: "", cells: cells("", "", "no differences"), show });
        }
        for d in &entry.differences {
            let show = show(&mut drawing, &d.subject);
            rows.push(Row { class: "new", cells: cells(d.kind.name(), &d.subject, &d.what), show });
        }
    }
    report("Regression", &summary(compared), &drawing.failed, (&HEADER, &rows), drawing.finished())
}

/// Returns the selection that the picture shows for a difference about `subject`: a step of the motion,
/// the pair, the parts that `subject` names, or everything.
fn what(scene: &PictureScene, subject: &str) -> What {
    let step = subject.strip_prefix("step ").and_then(|n| n.parse().ok());
    if let (Some(step), Some(_)) = (step, &scene.motion) {
        return What::Step(step);
    }
    if scene.motion.is_none() && !scene.pairs.is_empty() {
        return What::Pair(0, None);
    }
    match drawing::about(&scene.parts, subject) {
        parts if parts.is_empty() => What::All,
        parts => What::Parts(parts),
    }
}

/// Adds a scene with the solids of an entry to `drawing` and returns its index. `None` if the files
/// cannot be read or the entry has no result; the table reports this as a difference of the entry.
fn scene(entry: &EntryComparison, suite: &Suite, found: &Entries, drawing: &mut Drawing) -> Option<usize> {
    let mut scene = match suite.tasks.get(&entry.name)? {
        Task::Model { file, reading, .. } => {
            let (model, _) = import::load_with(file, *reading).ok()?;
            PictureScene { parts: drawing.parts_of_model(&model, Tint::Own), ..PictureScene::default() }
        }
        Task::Pair(task) => match &found.get(&entry.name)?.found {
            EntryOutcome::Pair(found) => pair(task, found, drawing)?,
            _ => return None,
        },
    };
    scene.name.clone_from(&entry.name);
    Some(drawing.add(scene))
}

fn solid(source: &SolidSource, option: &str, drawing: &mut Drawing) -> Option<(PicturePart, Pose)> {
    let (model, _) = import::load_with(&source.file, source.reading).ok()?;
    let instance = &model.instances[find_instance(&model, option, source.solid.as_deref()).ok()?];
    let shape = drawing.shapes(&[&model.solids[instance.solid as usize]])[0];
    let own = instance.pose();
    Some((drawing::still(&instance.name, shape, own), own))
}

fn pair(task: &PairTask, found: &PairFacts, drawing: &mut Drawing) -> Option<PictureScene> {
    let (mut a, own_a) = solid(&task.a, "solid_a", drawing)?;
    let (mut b, own_b) = solid(&task.b, "solid_b", drawing)?;
    let minima = |k: usize| {
        let (pose_a, pose_b) = (task.poses[k].0 * own_a, task.poses[k].1 * own_b);
        let minimum = move |m: &MinimumFacts| PictureMinimum {
            distance: m.distance,
            points: [pose_a * feeler_geom::P3::from(m.a), pose_b * feeler_geom::P3::from(m.b)],
            features: [String::new(), String::new()],
            kind: [ContactKind::Strict, ContactKind::Quasi, ContactKind::Conformal]
                .map(contact_kind_name)
                .into_iter()
                .find(|c| *c == m.kind)
                .unwrap_or_default(),
        };
        found.steps[k].minima.iter().map(minimum)
    };
    if found.steps.len() == 1 {
        (a.pose, b.pose) = (task.poses[0].0 * own_a, task.poses[0].1 * own_b);
        let pair = PicturePair {
            parts: [0, 1],
            status: found.steps[0].status.clone(),
            minima: minima(0).collect(),
            more: 0,
            witness: None,
        };
        return Some(PictureScene { parts: vec![a, b], pairs: vec![pair], ..PictureScene::default() });
    }
    (a.track, b.track) = (Some(0), Some(1));
    let step = |k: usize| {
        let step = &found.steps[k];
        PlayedStep {
            poses: [task.poses[k].0, task.poses[k].1],
            distance: step.minima.first().map(|m| m.distance),
            interferes: step.status == "interfering",
            minima: minima(k).take(playback::MAX_DRAWN_MINIMA).map(|m| m.points).collect(),
        }
    };
    let motion = playback::motion((0..found.steps.len()).map(step).collect(), None);
    Some(PictureScene { parts: vec![a, b], motion: Some(motion), ..PictureScene::default() })
}
