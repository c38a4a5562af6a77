//! A scene, checked and in numbers of steps: what is simulated.

use super::scene::{self, ParticleGroupTable, Region, Scene};
use super::shape::{CUBIC_METRE, Shape};
use anyhow::{Context as _, ensure};
use feeler_geom::{Aabb, P3, V3};
use feeler_particles::{Amount, Law, Random};
use std::path::Path;

/// Particles of one kind.
#[derive(Clone, Debug)]
pub(super) struct ParticleGroup {
    pub(super) name: String,
    pub(super) shape: Shape,
    pub(super) density: f64,
    /// None: for as long as the source flows.
    pub(super) amount: Option<Amount>,
    pub(super) region: Region,
    pub(super) velocity: V3,
    pub(super) seed: u64,
    pub(super) source: Option<Source>,
}

/// When grains come (s).
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) rate: f64,
    pub(super) from: f64,
    pub(super) until: f64,
}

/// Where grains leave.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    pub(super) name: String,
    point: P3,
    normal: V3,
    radius: f64,
}

impl Outlet {
    /// Whether a centre has gone through.
    pub(super) fn has_let(&self, center: &P3) -> bool {
        let way = center - self.point;
        let beyond = way.dot(&self.normal);
        beyond > 0.0 && (way - self.normal * beyond).norm() <= self.radius
    }
}

/// Steps, and what is written when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    /// Of one step (s).
    pub(super) step: f64,
    pub(super) steps_of_row: u64,
    /// Rows after that of the beginning.
    pub(super) rows: u64,
    pub(super) rows_of_frame: u64,
    pub(super) rows_of_checkpoint: u64,
}

impl Times {
    /// The step at whose beginning a time (s) has come.
    pub(super) fn step_at(&self, time: f64) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
        let step = (time / self.step).round().clamp(0.0, MOST_STEPS) as u64;
        step
    }
}

pub(super) fn groups(scene: &Scene, folder: &Path) -> anyhow::Result<Vec<ParticleGroup>> {
    let numbered = (0_u64..).zip(&scene.groups);
    numbered.map(|(k, g)| group(g, k, scene, folder).with_context(|| label(g, k))).collect()
}

fn label(table: &ParticleGroupTable, number: u64) -> String {
    format!("[[grains]] '{}'", table.name.clone().unwrap_or_else(|| (number + 1).to_string()))
}

fn group(
    table: &ParticleGroupTable,
    number: u64,
    scene: &Scene,
    folder: &Path,
) -> anyhow::Result<ParticleGroup> {
    let shape = Shape::of(table, folder)?;
    let density = table.density;
    ensure!(density > 0.0 && density.is_finite(), "density: give kg/m³ above 0");
    ensure!(scene::is_finite(&table.velocity), "velocity: give three finite numbers (mm/s)");
    let source = match table.rate {
        None => {
            ensure!(
                table.from.is_none() && table.until.is_none(),
                "from, until: are times of a source; add rate (grains each second)"
            );
            None
        }
        Some(rate) => {
            ensure!(rate > 0.0 && rate.is_finite(), "rate: give grains each second, above 0");
            let (from, until) = (table.from.unwrap_or(0.0), table.until.unwrap_or(scene.end));
            ensure!(0.0 <= from && from < until, "from, until: {from} to {until} s is no time");
            Some(Source { rate, from, until })
        }
    };
    let amount = match (table.number, table.mass) {
        (Some(n), None) => {
            let n = usize::try_from(n).ok().filter(|n| (1..=MOST_GRAINS).contains(n));
            Some(Amount::Number(n.context("number: give 1 to ten million")?))
        }
        (None, Some(mass)) => {
            ensure!(mass > 0.0 && mass.is_finite(), "mass: give kg above 0");
            Some(Amount::Volume(mass / (density * CUBIC_METRE)))
        }
        (None, None) if source.is_some() => None,
        _ => anyhow::bail!("give either number or mass (kg)"),
    };
    Ok(ParticleGroup {
        name: table.name.clone().unwrap_or_else(|| format!("grains-{}", number + 1)),
        shape,
        density,
        amount,
        region: table.region.clone(),
        velocity: V3::from(table.velocity),
        seed: Random::new(scene.seed, number).whole(),
        source,
    })
}

pub(super) fn outlets(scene: &Scene) -> anyhow::Result<Vec<Outlet>> {
    let one = |(k, o): (usize, &scene::Outlet)| {
        let name = o.name.clone().unwrap_or_else(|| format!("outlet-{}", k + 1));
        let normal = V3::from(o.normal).try_normalize(f64::MIN_POSITIVE);
        let normal = normal.filter(|n| n.iter().all(|c| c.is_finite()));
        let normal =
            normal.with_context(|| format!("[[outlet]] '{name}': normal: give a direction, outwards"))?;
        ensure!(scene::is_finite(&o.point), "[[outlet]] '{name}': point: give three finite numbers (mm)");
        let radius = o.radius.unwrap_or(f64::INFINITY);
        ensure!(radius > 0.0, "[[outlet]] '{name}': radius: give one above 0 (mm), or leave it out");
        Ok(Outlet { name, point: P3::from(o.point), normal, radius })
    };
    scene.outlets.iter().enumerate().map(one).collect()
}

/// The box that grains may be in: as it is written, or what is around walls, regions and outlets, wider by
/// its diagonal on all sides.
pub(super) fn domain(scene: &Scene, walls: &Aabb) -> anyhow::Result<Aabb> {
    if let Some([a, b]) = scene.domain {
        ensure!(
            scene::is_finite(&a) && scene::is_finite(&b) && (0..3).all(|k| a[k] < b[k]),
            "domain: give two finite corners, the smaller coordinates first"
        );
        return Ok(Aabb { min: P3::from(a), max: P3::from(b) });
    }
    let mut around = *walls;
    scene.outlets.iter().for_each(|o| around.insert(&P3::from(o.point)));
    for table in &scene.groups {
        match &table.region {
            Region::Box(corners) => corners.iter().for_each(|c| around.insert(&P3::from(*c))),
            Region::Cylinder { from, to, radius } => {
                for end in [from, to] {
                    around.insert(&(P3::from(*end) - V3::repeat(*radius)));
                    around.insert(&(P3::from(*end) + V3::repeat(*radius)));
                }
            }
            Region::Inside { .. } => {}
        }
    }
    ensure!(!around.is_empty() && around.diagonal().is_finite(), "region: its numbers must be finite");
    Ok(around.inflated(around.diagonal()))
}

/// The shortest contact (s) there may be, of the smallest grain of any kind.
pub(super) fn shortest_contact(groups: &[ParticleGroup], between: &Law, walls: &[Law], speed: f64) -> f64 {
    let mut shortest = f64::INFINITY;
    let [between, walls] = [&[*between], walls].map(|laws| laws.iter().map(stiffest).collect::<Vec<_>>());
    for group in groups {
        let (mass, r) = group.shape.worst(group.density);
        for law in &between {
            shortest = shortest.min(law.contact_time(0.5 * mass, 0.5 * r, speed));
        }
        for law in &walls {
            shortest = shortest.min(law.contact_time(mass, r, speed));
        }
    }
    shortest
}

/// A law whose normal stiffness is the larger one of both: springs in shear swing, too.
fn stiffest(law: &Law) -> Law {
    match *law {
        Law::Linear { normal, shear, restitution, friction } => {
            Law::Linear { normal: normal.max(shear), shear, restitution, friction }
        }
        Law::Hertz { .. } => *law,
    }
}

/// Steps and rows; a note where the step is long.
pub(super) fn times(scene: &Scene, contact: f64) -> anyhow::Result<(Times, Option<String>)> {
    let wanted = scene.step.unwrap_or(contact / STEPS_OF_CONTACT);
    let most = contact / LEAST_STEPS;
    ensure!(
        wanted <= most,
        "step: {wanted:e} s is too long for contacts that last {contact:.2e} s; give {:.1e} or less, or \
         leave it out",
        contact / STEPS_OF_CONTACT
    );
    let note = (wanted > contact / FEW_STEPS).then(|| {
        format!("the step of {wanted:e} s is more than a fifteenth of the shortest contact, {contact:.2e} s")
    });
    let rows = scene.output.rows.unwrap_or(scene.end / ROWS);
    let frames = scene.output.frames.unwrap_or_else(|| rows * (scene.end / FRAMES / rows).round().max(1.0));
    let checkpoints = scene.output.checkpoints.unwrap_or(frames);
    let count = |what: &str, whole: f64, part: f64| {
        let n = (whole / part).round();
        ensure!(
            n >= 1.0 && (whole / part - n).abs() <= WHOLE * n && n <= MOST_STEPS,
            "{what} is {whole} s, which is no multiple of the {part} s between rows ([output] rows)"
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        Ok(n as u64)
    };
    let n_rows = count("end", scene.end, rows)?;
    let steps_of_row = (rows / wanted * (1.0 - WHOLE)).ceil().max(1.0);
    ensure!(steps_of_row * scene.end / rows <= MOST_STEPS, "step: too many steps until {} s", scene.end);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let steps = steps_of_row as u64;
    let times = Times {
        step: rows / steps_of_row,
        steps_of_row: steps,
        rows: n_rows,
        rows_of_frame: count("[output] frames", frames, rows)?,
        rows_of_checkpoint: count("[output] checkpoints", checkpoints, rows)?,
    };
    Ok((times, note))
}

/// Steps that the shortest contact is to have, below how many it is said, and the least.
const STEPS_OF_CONTACT: f64 = 30.0;
const FEW_STEPS: f64 = 15.0;
const LEAST_STEPS: f64 = 5.0;

/// Rows and frames where the scene does not say.
const ROWS: f64 = 1000.0;
const FRAMES: f64 = 100.0;

/// Up to this part a time is a multiple of another.
const WHOLE: f64 = 1e-9;

const MOST_STEPS: f64 = 1e12;
const MOST_GRAINS: usize = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(end: f64, more: &str) -> anyhow::Result<(Times, Option<String>)> {
        let text = format!(
            "end = {end:?}\n{more}\n[law.a]\nnormal = 1.0\n[[grains]]\nsphere = {{ diameter = 1 }}\n\
             density = 1\nnumber = 1\nregion = {{ box = [[0, 0, 0], [1, 1, 1]] }}\n"
        );
        times(&scene::read(&text).unwrap(), 3e-3)
    }

    #[test]
    fn rows_are_whole_steps_and_steps_short() {
        let (t, note) = of(1.0, "output = { rows = 0.001 }").unwrap();
        assert_eq!((t.steps_of_row, t.rows, t.rows_of_frame, t.rows_of_checkpoint), (10, 1000, 10, 10));
        assert!((t.step - 1e-4).abs() < 1e-18 && note.is_none(), "{t:?}");
        // A row that is no multiple of the step that is wanted: the step is shorter.
        let (t, _) = of(1.0, "output = { rows = 0.00125, frames = 0.005 }").unwrap();
        assert_eq!((t.steps_of_row, t.rows, t.rows_of_frame), (13, 800, 4));
        assert!((t.step * 13.0 - 0.00125).abs() < 1e-18, "{t:?}");
        let (t, note) = of(0.3, "step = 3e-4\noutput = { rows = 0.1, checkpoints = 0.2 }").unwrap();
        assert_eq!((t.rows, t.rows_of_frame, t.rows_of_checkpoint), (3, 1, 2));
        assert!(note.unwrap().contains("more than a fifteenth"), "told");
        assert_eq!((t.step_at(0.0), t.step_at(0.1), t.step_at(f64::INFINITY)), (0, 334, 1_000_000_000_000));
        assert!(of(1.0, "step = 1e-3").unwrap_err().to_string().contains("too long"), "a third of a contact");
        assert!(of(1.0, "output = { rows = 0.3 }").unwrap_err().to_string().contains("no multiple"));
    }
}
