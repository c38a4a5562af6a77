//! Scenes as people write them: TOML. docs/POUR.md tells what each key means.
//!
//! What TOML alone can tell is wrong is told with its line; the rest with its table and key.

use crate::args;
use anyhow::{Context as _, ensure};
use feeler_import::{Reading, is_stl};
use feeler_particles::{Distribution, Law, Material};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The file as it is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scene {
    /// mm/s².
    #[serde(default = "down")]
    pub(super) gravity: [f64; 3],
    /// When it ends (s).
    pub(super) end: f64,
    /// Longest step (s); without it the laws choose.
    pub(super) step: Option<f64>,
    #[serde(default)]
    pub(super) seed: u64,
    /// Corners of the box that grains may be in (mm).
    pub(super) domain: Option<[[f64; 3]; 2]>,
    /// The law between grains, by name; the only one where there is one.
    pub(super) between: Option<String>,
    #[serde(rename = "law")]
    pub(super) laws: BTreeMap<String, WrittenLaw>,
    #[serde(default, rename = "wall")]
    pub(super) walls: Vec<Wall>,
    #[serde(rename = "grains")]
    pub(super) groups: Vec<ParticleGroupTable>,
    #[serde(default, rename = "outlet")]
    pub(super) outlets: Vec<Outlet>,
    #[serde(default)]
    pub(super) output: Output,
}

fn down() -> [f64; 3] {
    [0.0, 0.0, -9_810.0]
}

/// Springs, or what two bodies are made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenLaw {
    /// N/m.
    normal: Option<f64>,
    shear: Option<f64>,
    /// kPa.
    young: Option<Both>,
    poisson: Option<Both>,
    #[serde(default = "one")]
    restitution: f64,
    #[serde(default)]
    friction: f64,
}

fn one() -> f64 {
    1.0
}

/// What two bodies have in common, or each its own.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "a number, or two in brackets: of one body and of the other")]
enum Both {
    Alike(f64),
    Each([f64; 2]),
}

impl Both {
    fn values(self) -> [f64; 2] {
        match self {
            Self::Alike(x) => [x, x],
            Self::Each(both) => both,
        }
    }
}

/// A wall: a file or a plane.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wall {
    pub(super) name: Option<String>,
    /// STEP, `.feeler` or STL, relative to the scene.
    pub(super) file: Option<String>,
    /// Name or path of the part of the file, where not all are meant.
    pub(super) part: Option<String>,
    pub(super) plane: Option<Plane>,
    /// Triangles instead of the solid, no farther from it than this (mm).
    pub(super) chord: Option<f64>,
    /// Of the file's coordinates.
    pub(super) unit: Option<String>,
    /// The solids that an STL file's triangles bound, instead of the triangles.
    pub(super) solid: Option<bool>,
    /// From which sides triangles are felt.
    pub(super) sides: Option<Sides>,
    pub(super) law: Option<String>,
    /// As on the command line, or its numbers.
    pub(super) pose: Option<WrittenPose>,
    pub(super) motion: Option<Motion>,
    pub(super) shake: Option<Shake>,
    /// From when on it lets everything through (s).
    pub(super) opens_at: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plane {
    pub(super) point: [f64; 3],
    pub(super) normal: [f64; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sides {
    Both,
    Front,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a pose: [x, y, z], [x, y, z, qx, qy, qz, qw] or a text as of `query`")]
pub(super) enum WrittenPose {
    Text(String),
    Numbers(Vec<f64>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Motion {
    /// mm/s.
    #[serde(default)]
    pub(super) velocity: [f64; 3],
    /// rad/s.
    #[serde(default)]
    pub(super) spin: [f64; 3],
    /// Point of the axis of the spin (mm, world, at `from`).
    #[serde(default)]
    pub(super) center: [f64; 3],
    #[serde(default)]
    pub(super) from: f64,
    pub(super) until: Option<f64>,
}

/// To and fro by a sine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shake {
    /// Largest displacement (mm).
    pub(super) by: [f64; 3],
    /// Hz.
    pub(super) frequency: f64,
    #[serde(default)]
    pub(super) from: f64,
    pub(super) until: Option<f64>,
}

/// A table `[[grains]]`: particles that are there at the beginning, or come from a source.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParticleGroupTable {
    pub(super) name: Option<String>,
    /// Either this
    pub(super) sphere: Option<Sphere>,
    /// or that.
    pub(super) shape: Option<WrittenShape>,
    /// kg/m³.
    pub(super) density: f64,
    pub(super) number: Option<u64>,
    /// kg.
    pub(super) mass: Option<f64>,
    pub(super) region: Region,
    #[serde(default)]
    pub(super) velocity: [f64; 3],
    /// Grains each second, from `from` until `until`.
    pub(super) rate: Option<f64>,
    pub(super) from: Option<f64>,
    pub(super) until: Option<f64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sphere {
    pub(super) diameter: Distribution,
}

/// A shape of which grains of different sizes are scaled copies.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum WrittenShape {
    Superellipsoid {
        /// mm, where no diameter is given.
        semi_axes: [f64; 3],
        #[serde(default = "ellipsoid")]
        exponents: [f64; 2],
        /// Of the ball of equal volume.
        diameter: Option<Distribution>,
    },
    PolySuperellipsoid {
        /// On the positive sides.
        positive: [f64; 3],
        negative: [f64; 3],
        #[serde(default = "ellipsoid")]
        exponents: [f64; 2],
        diameter: Option<Distribution>,
    },
    /// One solid, as large as it is.
    Solid {
        /// STEP, `.feeler` or STL, relative to the scene.
        file: String,
        /// Of the file's coordinates.
        unit: Option<String>,
    },
}

fn ellipsoid() -> [f64; 2] {
    [1.0, 1.0]
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Region {
    /// Two corners.
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

/// Where grains leave: through a plane, or a disc of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Outlet {
    pub(super) name: Option<String>,
    pub(super) point: [f64; 3],
    /// Outwards.
    pub(super) normal: [f64; 3],
    pub(super) radius: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// Time between rows of the CSV file (s).
    pub(super) rows: Option<f64>,
    /// Between frames for pictures, and between checkpoints.
    pub(super) frames: Option<f64>,
    pub(super) checkpoints: Option<f64>,
}

/// Reads a scene.
///
/// # Errors
/// What is no TOML or no scene, with the line and what was expected.
pub(super) fn read(text: &str) -> anyhow::Result<Scene> {
    let scene: Scene = toml::from_str(text).context("this is no scene (docs/POUR.md has one)")?;
    let is_time = |t: Option<f64>| t.is_none_or(|t| t > 0.0 && t.is_finite());
    ensure!(is_time(Some(scene.end)), "end: {} s; give a time above 0", scene.end);
    ensure!(is_time(scene.step), "step: give a time in s above 0, or leave it out");
    ensure!(is_finite(&scene.gravity), "gravity: give three finite numbers (mm/s²)");
    for (key, value) in [
        ("rows", scene.output.rows),
        ("frames", scene.output.frames),
        ("checkpoints", scene.output.checkpoints),
    ] {
        ensure!(is_time(value), "[output] {key}: give a time in s above 0, or leave it out");
    }
    ensure!(!scene.groups.is_empty(), "[[grains]]: there are none; add a table");
    Ok(scene)
}

pub(super) fn is_finite(v: &[f64; 3]) -> bool {
    v.iter().all(|c| c.is_finite())
}

impl Scene {
    /// The law of a name; without one the only law there is.
    ///
    /// # Errors
    /// No such law, or numbers that are none.
    pub(super) fn law(&self, name: Option<&str>) -> anyhow::Result<Law> {
        let names = || self.laws.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let (name, law) = match name {
            Some(name) => self.laws.get_key_value(name).with_context(|| {
                format!("law = \"{name}\": there is no [law.{name}]; there are {}", names())
            })?,
            None => {
                let mut all = self.laws.iter();
                match (all.next(), all.next()) {
                    (Some(only), None) => only,
                    (None, _) => anyhow::bail!("[law]: there is none; add [law.NAME]"),
                    _ => anyhow::bail!("law: which one of {}? Name it", names()),
                }
            }
        };
        law.law().with_context(|| format!("[law.{name}]"))
    }
}

impl WrittenLaw {
    fn law(&self) -> anyhow::Result<Law> {
        let Self { normal, shear, young, poisson, restitution, friction } = *self;
        let law = match (normal, young, poisson) {
            (Some(normal), None, None) => {
                Law::Linear { normal, shear: shear.unwrap_or(0.0), restitution, friction }
            }
            (None, Some(young), Some(poisson)) => {
                ensure!(shear.is_none(), "shear: follows from young and poisson; leave it out");
                let ([y, z], [p, q]) = (young.values(), poisson.values());
                let materials = [Material { young: y, poisson: p }, Material { young: z, poisson: q }];
                Law::hertz(materials, restitution, friction)?
            }
            _ => anyhow::bail!("give either normal and shear (N/m), or young (kPa) and poisson"),
        };
        law.check()?;
        Ok(law)
    }
}

/// How a file is read whose coordinates have a unit.
///
/// # Errors
/// A unit that is none, or none for an STL file.
pub(super) fn reading(file: &Path, unit: Option<&str>) -> anyhow::Result<Reading> {
    ensure!(unit.is_some() || !is_stl(file), "unit: STL files have none; add unit = \"mm\" (or m, inch, …)");
    let unit = unit.map(args::unit).transpose().map_err(anyhow::Error::msg).context("unit")?;
    Ok(Reading { unit, ..Reading::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_particles::Class;

    #[test]
    fn sizes_are_read_in_all_their_forms() {
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
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for text in ["{ from = 1 }", "'wide'", "{ from = 1, to = 2, mean = 1 }", "{ by_mass = [[1]] }"] {
            let told = read(text).unwrap_err().to_string();
            assert!(
                told.contains("{mean, deviation, from, to}") && told.contains("line 1"),
                "{text}: {told}"
            );
        }
    }
}
