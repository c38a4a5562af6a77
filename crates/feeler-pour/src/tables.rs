//! Tables of a scene file in TOML; `docs/POUR.md` describes the keys.
//!
//! Syntax errors report the line; semantic errors report the table and the key.

use crate::error::{PourError, Within as _, ensure};
use feeler_import::{Reading, is_stl};
use feeler_particles::{Distribution, Law, Material};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Content of a scene file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SceneFile {
    /// Acceleration of gravity (mm/s², world).
    #[serde(default = "down")]
    pub(crate) gravity: [f64; 3],
    /// Time at which the simulation ends (s).
    pub(crate) end: f64,
    /// Maximum time step (s); by default it follows from the contact laws.
    pub(crate) step: Option<f64>,
    #[serde(default)]
    pub(crate) seed: u64,
    /// Corners of the box outside which particles are lost (mm, world), the smaller coordinates first;
    /// by default the box around walls, regions and outlets, enlarged by its diagonal on all sides.
    pub(crate) domain: Option<[[f64; 3]; 2]>,
    /// Name of the contact law between particles; by default the only law of the scene.
    pub(crate) between: Option<String>,
    #[serde(rename = "law")]
    pub(crate) laws: BTreeMap<String, LawTable>,
    #[serde(default, rename = "wall")]
    pub(crate) walls: Vec<WallTable>,
    #[serde(rename = "grains")]
    pub(crate) groups: Vec<ParticleGroupTable>,
    #[serde(default, rename = "outlet")]
    pub(crate) outlets: Vec<OutletTable>,
    pub(crate) packing: Option<PackingTable>,
    pub(crate) stop: Option<StopTable>,
    #[serde(default)]
    pub(crate) output: OutputTable,
}

/// Standard gravity along −z (mm/s²).
fn down() -> [f64; 3] {
    [0.0, 0.0, -9_810.0]
}

/// Table `[law.NAME]`: a contact law, by the stiffnesses of springs or by the materials of the two
/// bodies.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LawTable {
    /// Stiffness of the normal spring (N/m); `None` for a law by materials.
    normal: Option<f64>,
    shear: Option<f64>,
    /// Young's modulus of the bodies (kPa); `None` for a law by stiffnesses.
    young: Option<PerBody>,
    poisson: Option<PerBody>,
    #[serde(default = "one")]
    restitution: f64,
    #[serde(default)]
    friction: f64,
}

fn one() -> f64 {
    1.0
}

/// One value for both bodies of a contact, or one value for each body.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or two numbers in brackets, one for each body")]
enum PerBody {
    Same(f64),
    Each([f64; 2]),
}

impl PerBody {
    fn values(self) -> [f64; 2] {
        match self {
            Self::Same(x) => [x, x],
            Self::Each(both) => both,
        }
    }
}

/// Table `[[wall]]`: one or several walls, either the solids or triangles of a file, or a plane.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WallTable {
    pub(crate) name: Option<String>,
    /// STEP, `.feeler` or STL file, relative to the folder of the scene file.
    pub(crate) file: Option<String>,
    /// Name or path of the part of the file that becomes a wall; by default every part becomes one.
    pub(crate) part: Option<String>,
    pub(crate) plane: Option<PlaneTable>,
    /// Chord error (mm) of the triangles that replace the solids of the file; without it, the walls are
    /// exact.
    pub(crate) chord: Option<f64>,
    /// Unit of the coordinates in the file, such as `mm`; by default the unit that the file states, which STL
    /// files do not.
    pub(crate) unit: Option<String>,
    /// Whether the triangles of an STL file are replaced by the solids that they bound, which become
    /// exact walls; by default they are not.
    pub(crate) solid: Option<bool>,
    /// Sides of the triangles on which particles have contacts; by default only the front with `chord`,
    /// and both sides for an STL file.
    pub(crate) sides: Option<Sides>,
    pub(crate) law: Option<String>,
    pub(crate) pose: Option<PoseValue>,
    pub(crate) motion: Option<MotionTable>,
    pub(crate) shake: Option<ShakeTable>,
    pub(crate) lid: Option<LidTable>,
    /// Time (s) at which the wall opens, after which it has no contacts; by default it never opens.
    pub(crate) opens_at: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaneTable {
    pub(crate) point: [f64; 3],
    pub(crate) normal: [f64; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sides {
    Both,
    Front,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a pose: [x, y, z], [x, y, z, qx, qy, qz, qw] or a string of these numbers")]
pub(crate) enum PoseValue {
    Text(String),
    Numbers(Vec<f64>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MotionTable {
    /// Velocity (mm/s, world) of the point `center` of the wall.
    #[serde(default)]
    pub(crate) velocity: [f64; 3],
    /// Angular velocity of the wall (rad/s, world axes).
    #[serde(default)]
    pub(crate) spin: [f64; 3],
    /// Point on the axis of the rotation (mm, world) at the time `from`; it moves with `velocity`.
    #[serde(default)]
    pub(crate) center: [f64; 3],
    #[serde(default)]
    pub(crate) from: f64,
    pub(crate) until: Option<f64>,
}

/// Sinusoidal translation of a wall.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShakeTable {
    /// Amplitude of the translation along each axis (mm, world).
    pub(crate) by: [f64; 3],
    /// Frequency of the oscillation (Hz).
    pub(crate) frequency: f64,
    #[serde(default)]
    pub(crate) from: f64,
    pub(crate) until: Option<f64>,
}

/// Key `lid` of a wall: the wall slides along an axis under its weight and reacts to the forces of particles.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LidTable {
    /// Direction in which the wall presses (world); by default that of gravity.
    pub(crate) direction: Option<[f64; 3]>,
    /// Mass of the wall (kg).
    pub(crate) mass: f64,
    /// Pressure (kPa) on `area` (mm²), in the direction, in addition to the weight.
    pub(crate) pressure: Option<f64>,
    pub(crate) area: Option<f64>,
    /// Distance (mm) from the front of the wall to the first particle, at which the wall is placed at the
    /// beginning; by default it begins in its pose.
    pub(crate) above: Option<f64>,
}

/// Table `[packing]`: measures of the particles in a container.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackingTable {
    /// Corners of the inner volume of the container (mm, world), the smaller coordinates first.
    #[serde(rename = "box")]
    pub(crate) container: [[f64; 3]; 2],
    /// Name of the lid that bounds the container; by default the box is fixed.
    pub(crate) lid: Option<String>,
}

/// Table `[stop]`: end of the run before the time `end`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopTable {
    /// Kinetic energy, as a part of its maximum so far, below which the run ends.
    pub(crate) kinetic: f64,
    /// Time (s) for which the energy has to be below this limit; by default that of ten rows.
    pub(crate) during: Option<f64>,
}

/// Table `[[grains]]`: a particle group. Its particles exist from the beginning or come from a source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParticleGroupTable {
    pub(crate) name: Option<String>,
    /// Sizes of the particles if they are spheres; either `sphere` or `shape` must be given.
    pub(crate) sphere: Option<SphereTable>,
    pub(crate) shape: Option<ShapeTable>,
    /// Density of the particles (kg/m³).
    pub(crate) density: f64,
    pub(crate) number: Option<u64>,
    /// Total mass of the particles of the group (kg); excludes `number`.
    pub(crate) mass: Option<f64>,
    pub(crate) region: RegionTable,
    #[serde(default)]
    pub(crate) arrangement: Arrangement,
    #[serde(default)]
    pub(crate) velocity: [f64; 3],
    /// Number of particles per second that a source creates, from the time `from` until `until` (s);
    /// without it, all particles exist from the beginning.
    pub(crate) rate: Option<f64>,
    pub(crate) from: Option<f64>,
    pub(crate) until: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SphereTable {
    pub(crate) diameter: Distribution,
}

/// Shape of the particles of a group. Particles are copies of it, which are scaled to their diameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ShapeTable {
    Superellipsoid {
        /// Semi-axes (mm); only their ratios matter if a diameter is given.
        semi_axes: [f64; 3],
        #[serde(default = "ellipsoid")]
        exponents: [f64; 2],
        /// Distribution of the diameters (mm) of the balls of equal volume; by default all particles
        /// have the given semi-axes.
        diameter: Option<Distribution>,
    },
    PolySuperellipsoid {
        /// Semi-axes (mm) on the positive sides of the three axes.
        positive: [f64; 3],
        negative: [f64; 3],
        #[serde(default = "ellipsoid")]
        exponents: [f64; 2],
        diameter: Option<Distribution>,
    },
    Solid(SolidTable),
}

/// Shape of particles that are copies of a solid.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SolidTable {
    /// STEP, `.feeler` or STL file, relative to the folder of the scene file.
    pub(crate) file: String,
    /// Unit of the coordinates in the file, such as `mm`; by default the unit that the file states, which STL
    /// files do not.
    pub(crate) unit: Option<String>,
    /// Sizes of the particles: diameters (mm) of the balls with the volume of the solid. Without sizes, all
    /// particles have the size of the solid in the file.
    pub(crate) diameter: Option<Distribution>,
    /// Sizes of the particles: diameters (mm) of the smallest balls around the solid.
    pub(crate) bounding_diameter: Option<Distribution>,
    /// Number of facets of the mesh, with vertices on the surface of the solid, that replaces the solid; by
    /// default the particles are exact.
    pub(crate) facets: Option<u32>,
}

/// Default exponents, those of an ellipsoid.
fn ellipsoid() -> [f64; 2] {
    [1.0, 1.0]
}

/// Arrangement of the bounding balls of particles that exist from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arrangement {
    /// Random positions.
    #[default]
    Random,
    /// Balls on top of each other, from the lowest z of a box upwards.
    Dense,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum RegionTable {
    /// Box, given by two opposite corners (mm, world).
    Box([[f64; 3]; 2]),
    Cylinder {
        from: [f64; 3],
        to: [f64; 3],
        radius: f64,
    },
    Inside {
        wall: String,
        above: Option<f64>,
        below: Option<f64>,
    },
}

/// Table `[[outlet]]`: a plane, or a disc in a plane, through which particles leave.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutletTable {
    pub(crate) name: Option<String>,
    pub(crate) point: [f64; 3],
    /// Normal of the plane, in the direction in which particles leave.
    pub(crate) normal: [f64; 3],
    /// Radius (mm) of the disc around `point`; by default the outlet is the whole plane.
    pub(crate) radius: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutputTable {
    /// Simulated time (s) between two rows of the time series (`series.csv`); by default a thousandth of
    /// `end`.
    pub(crate) rows: Option<f64>,
    /// Simulated time (s) between two frames of the animation, a multiple of `rows`; by default about a
    /// hundredth of `end`.
    pub(crate) frames: Option<f64>,
    /// Simulated time (s) between two checkpoints, a multiple of `rows`; by default that between frames.
    pub(crate) checkpoints: Option<f64>,
    /// Whether `timing.csv` is written.
    #[serde(default)]
    pub(crate) timing: bool,
}

/// Parses the text of a scene file and checks its times and the gravity.
///
/// # Errors
/// The text is not TOML or not a scene; a time or the gravity is not valid.
pub(crate) fn read(text: &str) -> Result<SceneFile, PourError> {
    let scene: SceneFile = toml::from_str(text).map_err(PourError::Syntax)?;
    let is_time = |t: Option<f64>| t.is_none_or(|t| t > 0.0 && t.is_finite());
    ensure!(is_time(Some(scene.end)), "end", "{} s is not a valid time; give a time above 0", scene.end);
    ensure!(is_time(scene.step), "step", "give a time in s above 0, or omit it");
    ensure!(is_finite(&scene.gravity), "gravity", "give three finite numbers (mm/s²)");
    for (key, value) in [
        ("[output] rows", scene.output.rows),
        ("[output] frames", scene.output.frames),
        ("[output] checkpoints", scene.output.checkpoints),
    ] {
        ensure!(is_time(value), key, "give a time in s above 0, or omit it");
    }
    ensure!(!scene.groups.is_empty(), "[[grains]]", "the scene has no grains; add a table");
    Ok(scene)
}

pub(crate) fn is_finite(v: &[f64; 3]) -> bool {
    v.iter().all(|c| c.is_finite())
}

impl SceneFile {
    /// Returns the contact law called `name`, or the only law of the scene if `name` is `None`.
    ///
    /// # Errors
    /// The scene has no such law, or no law at all; it has several laws and no name is given; or the
    /// parameters of the law are not valid.
    pub(crate) fn law(&self, name: Option<&str>) -> Result<Law, PourError> {
        let names = || self.laws.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let value = |problem: String| PourError::value("law", problem);
        let (name, law) = match name {
            Some(name) => self
                .laws
                .get_key_value(name)
                .ok_or_else(|| value(format!("the scene has no [law.{name}]; its laws are {}", names())))?,
            None => {
                let mut all = self.laws.iter();
                match (all.next(), all.next()) {
                    (Some(only), None) => only,
                    (None, _) => return Err(value("the scene has no law; add [law.NAME]".to_owned())),
                    _ => return Err(value(format!("name one of the laws {}", names()))),
                }
            }
        };
        law.law().within(|| format!("[law.{name}]"))
    }
}

impl LawTable {
    fn law(&self) -> Result<Law, PourError> {
        let Self { normal, shear, young, poisson, restitution, friction } = *self;
        let law = match (normal, young, poisson) {
            (Some(normal), None, None) => {
                Law::Linear { normal, shear: shear.unwrap_or(0.0), restitution, friction }
            }
            (None, Some(young), Some(poisson)) => {
                ensure!(shear.is_none(), "shear", "follows from young and poisson; omit it");
                let ([y, z], [p, q]) = (young.values(), poisson.values());
                let materials = [Material { young: y, poisson: p }, Material { young: z, poisson: q }];
                Law::hertz(materials, restitution, friction)?
            }
            _ => {
                let problem = "give either normal and shear (N/m), or young (kPa) and poisson";
                return Err(PourError::value("normal, young, poisson", problem));
            }
        };
        law.check()?;
        Ok(law)
    }
}

/// Returns the options for reading a file whose coordinates have the unit `unit`; `None` stands for the
/// unit that the file states.
///
/// # Errors
/// The unit is not valid, or an STL file has no unit.
pub(crate) fn reading(file: &Path, unit: Option<&str>) -> Result<Reading, PourError> {
    let is_known = unit.is_some() || !is_stl(file);
    ensure!(is_known, "unit", "STL files do not state their unit; add unit = \"mm\" (or m, inch, …)");
    let unit = unit.map(feeler_import::parse_unit).transpose();
    let unit = unit.map_err(|problem| PourError::value("unit", problem))?;
    Ok(Reading { unit, ..Reading::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_particles::Class;

    #[test]
    fn sizes_are_read_in_all_forms() {
        #[derive(Deserialize)]
        struct Table {
            d: Distribution,
        }
        let read = |text: &str| toml::from_str::<Table>(&format!("d = {text}")).map(|t| t.d);
        let (from, to) = (1.0, 3.0);
        for (text, expected) in [
            ("2", Distribution::Same(2.0)),
            ("2.5", Distribution::Same(2.5)),
            ("{ from = 1, to = 3.0 }", Distribution::Uniform { from, to }),
            (
                "{ mean = 2, deviation = 0.5, from = 1, to = 3 }",
                Distribution::Normal { mean: 2.0, deviation: 0.5, from, to },
            ),
            (
                "{ median = 2, spread = 0.5, from = 1, to = 3 }",
                Distribution::Lognormal { median: 2.0, spread: 0.5, from, to },
            ),
            (
                "{ by_mass = [[1, 20], [2.0, 3, 80.5]] }",
                Distribution::ByMass(vec![Class::of(1.0, 20.0), Class { from: 2.0, to: 3.0, share: 80.5 }]),
            ),
        ] {
            assert_eq!(read(text).expect("a distribution"), expected, "{text}");
        }
        for text in ["{ from = 1 }", "'wide'", "{ from = 1, to = 2, mean = 1 }", "{ by_mass = [[1]] }"] {
            let message = read(text).expect_err("an invalid distribution was accepted").to_string();
            assert!(
                message.contains("{mean, deviation, from, to}") && message.contains("line 1"),
                "{text}: {message}"
            );
        }
    }
}
