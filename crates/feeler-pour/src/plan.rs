//! Checked particle groups, outlets, domain and times of a scene. Intervals of time are counted in
//! steps.

use crate::error::{PourError, Within as _, ensure};
use crate::shape::{self, CUBIC_METRE, GroupShape};
use crate::solid_shape;
use crate::tables::{self, Arrangement, OutletTable, ParticleGroupTable, RegionTable, SceneFile, ShapeTable};
use feeler_geom::{Aabb, P3, V3, math};
use feeler_particles::{Amount, Law, Random};
use std::f64::consts::PI;
use std::path::Path;

/// Particle group: particles of one kind, from one table `[[grains]]` of the scene file.
#[derive(Clone, Debug)]
pub(crate) struct ParticleGroup {
    pub(crate) name: String,
    pub(crate) shape: GroupShape,
    /// Density of the particles (kg/m³).
    pub(crate) density: f64,
    /// Number or total volume (mm³) of the particles; `None` if only the interval of time of the source
    /// limits it.
    pub(crate) amount: Option<Amount>,
    pub(crate) region: RegionTable,
    pub(crate) arrangement: Arrangement,
    /// Initial velocity of the particles (mm/s).
    pub(crate) velocity: V3,
    pub(crate) seed: u64,
    pub(crate) source: Option<Source>,
}

/// Source of particles: the number of particles per second (`rate`), and the times (s) between which it
/// creates them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) rate: f64,
    pub(crate) from: f64,
    pub(crate) until: f64,
}

/// Outlet: plane, or disc in a plane, through which particles leave the simulation. The unit normal is
/// in the direction in which they leave; the radius (mm) is infinite for a plane.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    pub(crate) name: String,
    point: P3,
    normal: V3,
    radius: f64,
}

impl Outlet {
    /// Whether a particle with this centre (mm, world) has left: the centre is beyond the plane, and
    /// within the radius of the disc if there is one.
    pub(crate) fn has_passed(&self, center: &P3) -> bool {
        let offset = center - self.point;
        let beyond = offset.dot(&self.normal);
        beyond > 0.0 && (offset - self.normal * beyond).norm() <= self.radius
    }
}

/// Time step, and the intervals of rows, frames and checkpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PourTimes {
    /// Duration of a time step (s).
    pub step: f64,
    /// Number of time steps between two rows of the series.
    pub steps_of_row: u64,
    /// Number of rows of the whole run, not counting that of the initial state.
    pub rows: u64,
    /// Number of rows between two frames.
    pub rows_of_frame: u64,
    /// Number of rows between two checkpoints.
    pub rows_of_checkpoint: u64,
}

impl PourTimes {
    /// Time of a row (s), rounded to 13 digits so that the rounding of step durations does not appear in
    /// outputs.
    #[must_use]
    pub fn time_of_row(&self, row: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
        let time = row as f64 * (self.step * self.steps_of_row as f64);
        let rounded = format!("{time:.12e}");
        rounded.parse().unwrap_or(time)
    }

    /// Number of frames of the whole run, including that of the initial state.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        self.rows / self.rows_of_frame + 1
    }

    /// Number of the step that begins nearest to a time (s).
    pub(crate) fn step_at(&self, time: f64) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range of u64"
        )]
        let step = (time / self.step).round().clamp(0.0, MAX_STEPS) as u64;
        step
    }
}

/// Checks the particle groups of a scene file and returns them. Files of solids are relative to
/// `folder`.
pub(crate) fn groups(scene: &SceneFile, folder: &Path) -> Result<Vec<ParticleGroup>, PourError> {
    let numbered = (0_u64..).zip(&scene.groups);
    numbered.map(|(k, g)| group(g, k, scene, folder).within(|| label(g, k))).collect()
}

fn label(table: &ParticleGroupTable, number: u64) -> String {
    format!("[[grains]] '{}'", table.name.clone().unwrap_or_else(|| (number + 1).to_string()))
}

/// Reads the shape and the sizes of the particles of a table `[[grains]]`. Paths of files are relative to
/// `folder`.
///
/// # Errors
/// The sizes or the shape are not valid, or a file cannot be read.
fn shape_of(table: &ParticleGroupTable, folder: &Path) -> Result<GroupShape, PourError> {
    match (&table.sphere, &table.shape) {
        (Some(sphere), None) => {
            sphere.diameter.check().in_key("diameter")?;
            Ok(GroupShape { sizes: sphere.diameter.clone(), scaled: None, note: None })
        }
        (None, Some(ShapeTable::Solid(table))) => solid_shape::solid(table, folder).in_key("shape"),
        (None, Some(of_grain)) => shape::smooth(of_grain).in_key("shape"),
        _ => Err(PourError::value("sphere, shape", "give either sphere or shape")),
    }
}

fn group(
    table: &ParticleGroupTable,
    number: u64,
    scene: &SceneFile,
    folder: &Path,
) -> Result<ParticleGroup, PourError> {
    let shape = shape_of(table, folder)?;
    let density = table.density;
    ensure!(density > 0.0 && density.is_finite(), "density", "give kg/m³ above 0");
    ensure!(tables::is_finite(&table.velocity), "velocity", "give three finite numbers (mm/s)");
    let source = match table.rate {
        None => {
            ensure!(
                table.from.is_none() && table.until.is_none(),
                "from, until",
                "only a source has these times; add rate (grains per second)"
            );
            None
        }
        Some(rate) => {
            ensure!(rate > 0.0 && rate.is_finite(), "rate", "give grains per second, above 0");
            let (from, until) = (table.from.unwrap_or(0.0), table.until.unwrap_or(scene.end));
            let is_interval = 0.0 <= from && from < until;
            ensure!(is_interval, "from, until", "{from} to {until} s is not a valid interval of time");
            Some(Source { rate, from, until })
        }
    };
    let amount = match (table.number, table.mass) {
        (Some(n), None) => {
            let n = usize::try_from(n).ok().filter(|n| (1..=MAX_PARTICLES).contains(n));
            Some(Amount::Number(n.ok_or_else(|| PourError::value("number", "give 1 to ten million"))?))
        }
        (None, Some(mass)) => {
            ensure!(mass > 0.0 && mass.is_finite(), "mass", "give kg above 0");
            Some(Amount::Volume(mass / (density * CUBIC_METRE)))
        }
        (None, None) if source.is_some() => None,
        _ => return Err(PourError::value("number, mass", "give either number or mass (kg)")),
    };
    if table.arrangement == Arrangement::Dense {
        ensure!(source.is_none(), "arrangement", "a source places grains at random; omit it");
        let is_box = matches!(table.region, RegionTable::Box(_));
        ensure!(is_box, "arrangement", "a dense arrangement needs a region that is a box");
    }
    Ok(ParticleGroup {
        name: table.name.clone().unwrap_or_else(|| format!("grains-{}", number + 1)),
        shape,
        density,
        amount,
        region: table.region.clone(),
        arrangement: table.arrangement,
        velocity: V3::from(table.velocity),
        seed: Random::new(scene.seed, number).whole(),
        source,
    })
}

/// Checks the outlets of a scene file and returns them.
pub(crate) fn outlets(scene: &SceneFile) -> Result<Vec<Outlet>, PourError> {
    let one = |(k, table): (usize, &OutletTable)| {
        let name = table.name.clone().unwrap_or_else(|| format!("outlet-{}", k + 1));
        outlet(table, &name).within(|| format!("[[outlet]] '{name}'"))
    };
    scene.outlets.iter().enumerate().map(one).collect()
}

fn outlet(table: &OutletTable, name: &str) -> Result<Outlet, PourError> {
    let normal = V3::from(table.normal).try_normalize(f64::MIN_POSITIVE);
    let normal = normal.filter(|n| n.iter().all(|c| c.is_finite()));
    let normal = normal.ok_or_else(|| PourError::value("normal", "give a direction that points outwards"))?;
    ensure!(tables::is_finite(&table.point), "point", "give three finite numbers (mm)");
    let radius = table.radius.unwrap_or(f64::INFINITY);
    ensure!(radius > 0.0, "radius", "give a length above 0 (mm), or omit it");
    Ok(Outlet { name: name.to_owned(), point: P3::from(table.point), normal, radius })
}

/// Box (mm, world) outside which particles are removed as lost. It is the domain that the scene states,
/// or the box around walls, regions and outlets, enlarged by its diagonal on all sides. `walls` is the
/// box around the walls.
pub(crate) fn domain(scene: &SceneFile, walls: &Aabb) -> Result<Aabb, PourError> {
    if let Some([a, b]) = scene.domain {
        ensure!(
            tables::is_finite(&a) && tables::is_finite(&b) && (0..3).all(|k| a[k] < b[k]),
            "domain",
            "give two finite corners; every coordinate of the first must be less than that of the second"
        );
        return Ok(Aabb { min: P3::from(a), max: P3::from(b) });
    }
    let mut around = *walls;
    scene.outlets.iter().for_each(|o| around.insert(&P3::from(o.point)));
    for table in &scene.groups {
        match &table.region {
            RegionTable::Box(corners) => corners.iter().for_each(|c| around.insert(&P3::from(*c))),
            RegionTable::Cylinder { from, to, radius } => {
                for end in [from, to] {
                    around.insert(&(P3::from(*end) - V3::repeat(*radius)));
                    around.insert(&(P3::from(*end) + V3::repeat(*radius)));
                }
            }
            RegionTable::Inside { .. } => {}
        }
    }
    ensure!(!around.is_empty() && around.diagonal().is_finite(), "region", "give finite numbers");
    Ok(around.inflated(around.diagonal()))
}

/// Returns the shortest duration of a contact (s), over the smallest particles of all groups and all laws.
/// `between` is the law between particles, `walls` are the laws of walls with the masses (kg) of those that
/// slide, and `speed` (mm/s) is the speed of the impacts.
pub(crate) fn shortest_contact(
    groups: &[ParticleGroup],
    between: &Law,
    walls: &[(Law, Option<f64>)],
    speed: f64,
) -> f64 {
    let mut shortest = f64::INFINITY;
    let between = stiffest(between);
    for group in groups {
        let (mass, r) = group.shape.worst(group.density);
        shortest = shortest.min(between.contact_time(0.5 * mass, 0.5 * r, speed));
        for (law, of_wall) in walls {
            let mass = of_wall.map_or(mass, |wall| {
                let share = wall / group.max_count_in_layer();
                mass * share / (mass + share)
            });
            shortest = shortest.min(stiffest(law).contact_time(mass, r, speed));
        }
    }
    shortest
}

impl ParticleGroup {
    /// Estimate of the largest number of particles of the group that touch a lid at once: those of one layer
    /// of a cube.
    fn max_count_in_layer(&self) -> f64 {
        let r = self.shape.min_radius();
        let ball = 4.0 / 3.0 * PI * r * r * r * self.shape.volume_fraction();
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let count = match self.amount {
            Some(Amount::Number(n)) => n as f64,
            Some(Amount::Volume(v)) => v / ball,
            None => MAX_PARTICLES as f64,
        };
        math::powf(count.max(1.0), 2.0 / 3.0)
    }
}

/// Returns the law with its normal stiffness raised to its shear stiffness, if that is larger, because
/// shear springs oscillate as well.
fn stiffest(law: &Law) -> Law {
    match *law {
        Law::Linear { normal, shear, restitution, friction } => {
            Law::Linear { normal: normal.max(shear), shear, restitution, friction }
        }
        Law::Hertz { .. } => *law,
    }
}

/// Returns the time step and the intervals of a run whose shortest contact lasts `contact` (s). The
/// second value is a warning if the step that the scene file states is long for such a contact.
pub(crate) fn times(scene: &SceneFile, contact: f64) -> Result<(PourTimes, Option<String>), PourError> {
    let wanted = scene.step.unwrap_or(contact / STEPS_OF_CONTACT);
    ensure!(
        wanted <= contact / MIN_STEPS_OF_CONTACT,
        "step",
        "{wanted:e} s is too long for contacts that last {contact:.2e} s; give {:.1e} s or less, or omit it",
        contact / STEPS_OF_CONTACT
    );
    let note = (wanted > contact / FEW_STEPS_OF_CONTACT).then(|| {
        format!("the step of {wanted:e} s is more than a fifteenth of the shortest contact, {contact:.2e} s")
    });
    let rows = scene.output.rows.unwrap_or(scene.end / DEFAULT_ROWS);
    let frames =
        scene.output.frames.unwrap_or_else(|| rows * (scene.end / DEFAULT_FRAMES / rows).round().max(1.0));
    let checkpoints = scene.output.checkpoints.unwrap_or(frames);
    let count = |key: &str, whole: f64, part: f64| {
        let n = (whole / part).round();
        ensure!(
            n >= 1.0 && (whole / part - n).abs() <= MULTIPLE_TOLERANCE * n && n <= MAX_STEPS,
            key,
            "{whole} s is not a multiple of the {part} s between rows ([output] rows)"
        );
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
        Ok(n as u64)
    };
    let n_rows = count("end", scene.end, rows)?;
    let steps_of_row = (rows / wanted * (1.0 - MULTIPLE_TOLERANCE)).ceil().max(1.0);
    let is_feasible = steps_of_row * scene.end / rows <= MAX_STEPS;
    ensure!(is_feasible, "step", "the run has too many steps until {} s; give a longer step", scene.end);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    let steps = steps_of_row as u64;
    let times = PourTimes {
        step: rows / steps_of_row,
        steps_of_row: steps,
        rows: n_rows,
        rows_of_frame: count("[output] frames", frames, rows)?,
        rows_of_checkpoint: count("[output] checkpoints", checkpoints, rows)?,
    };
    Ok((times, note))
}

/// Number of time steps into which the duration of the shortest contact is divided if the scene states
/// no step. A larger value takes proportionally more time; with less than about 15, contacts lose or
/// gain energy visibly.
const STEPS_OF_CONTACT: f64 = 30.0;

/// Minimum number of time steps during the shortest contact; a scene with fewer gets a warning. A
/// smaller value hides inaccurate runs; a larger one warns of runs that are accurate to a percent.
const FEW_STEPS_OF_CONTACT: f64 = 15.0;

/// Minimum number of time steps during the shortest contact; a scene with fewer is rejected. A smaller
/// value accepts runs that become unstable; a larger one rejects usable runs.
const MIN_STEPS_OF_CONTACT: f64 = 5.0;

/// Number of rows of a run if the scene does not set their interval. More rows give larger files; fewer
/// give coarser plots.
const DEFAULT_ROWS: f64 = 1000.0;

/// Number of frames of a run if the scene does not set their interval. More frames give larger files;
/// fewer give jerky pages.
const DEFAULT_FRAMES: f64 = 100.0;

/// Maximum difference between the quotient of two intervals of time and a whole number, relative to that
/// number, at which one interval counts as a multiple of the other. A smaller value rejects decimal
/// fractions because of their rounding; a larger one shifts rows visibly in long runs.
const MULTIPLE_TOLERANCE: f64 = 1e-9;

/// Maximum number of time steps of a run. More steps cannot be computed in a lifetime; a smaller value
/// could reject long runs.
const MAX_STEPS: f64 = 1e12;

/// Maximum number of particles of a group. With a larger value, groups exceed the memory of usual
/// computers; a smaller one rejects feasible scenes.
const MAX_PARTICLES: usize = 10_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(end: f64, more: &str) -> Result<(PourTimes, Option<String>), PourError> {
        let text = format!(
            "end = {end:?}\n{more}\n[law.a]\nnormal = 1.0\n[[grains]]\nsphere = {{ diameter = 1 }}\n\
             density = 1\nnumber = 1\nregion = {{ box = [[0, 0, 0], [1, 1, 1]] }}\n"
        );
        times(&tables::read(&text).expect("a scene"), 3e-3)
    }

    #[test]
    fn rows_are_multiples_of_short_steps() {
        let (t, note) = of(1.0, "output = { rows = 0.001 }").expect("valid times");
        assert_eq!((t.steps_of_row, t.rows, t.rows_of_frame, t.rows_of_checkpoint), (10, 1000, 10, 10));
        assert!((t.step - 1e-4).abs() < 1e-18 && note.is_none(), "{t:?}");
        // The interval of rows is not a multiple of the default step, so the step becomes shorter.
        let (t, _) = of(1.0, "output = { rows = 0.00125, frames = 0.005 }").expect("valid times");
        assert_eq!((t.steps_of_row, t.rows, t.rows_of_frame), (13, 800, 4));
        assert!((t.step * 13.0 - 0.00125).abs() < 1e-18, "{t:?}");
        let (t, note) =
            of(0.3, "step = 3e-4\noutput = { rows = 0.1, checkpoints = 0.2 }").expect("valid times");
        assert_eq!((t.rows, t.rows_of_frame, t.rows_of_checkpoint), (3, 1, 2));
        assert!(note.expect("a warning").contains("more than a fifteenth"), "another warning");
        assert_eq!((t.step_at(0.0), t.step_at(0.1), t.step_at(f64::INFINITY)), (0, 334, 1_000_000_000_000));
        let error = |more: &str| of(1.0, more).expect_err("invalid times were accepted").to_string();
        assert!(error("step = 1e-3").contains("too long"), "a third of a contact");
        assert!(error("output = { rows = 0.3 }").contains("not a multiple"), "rows of 0.3 s");
    }
}
