//! Distributions as written in files.

use super::{Class, Distribution};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a number (diameters in mm), or one of {from, to}, {mean, deviation, from, to}, {median, \
                 spread, from, to}, {by_mass = [[diameter, share], …]} or {by_mass = [[from, to, share], \
                 …]}, also with by_number"
)]
pub(super) enum Written {
    Same(f64),
    Uniform { from: f64, to: f64 },
    Normal { mean: f64, deviation: f64, from: f64, to: f64 },
    Lognormal { median: f64, spread: f64, from: f64, to: f64 },
    ByMass { by_mass: Vec<Class> },
    ByNumber { by_number: Vec<Class> },
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a class: [diameter, share] or [from, to, share]")]
pub(super) enum WrittenClass {
    One([f64; 2]),
    Wide([f64; 3]),
}

impl From<Written> for Distribution {
    fn from(written: Written) -> Self {
        match written {
            Written::Same(d) => Self::Same(d),
            Written::Uniform { from, to } => Self::Uniform { from, to },
            Written::Normal { mean, deviation, from, to } => Self::Normal { mean, deviation, from, to },
            Written::Lognormal { median, spread, from, to } => Self::Lognormal { median, spread, from, to },
            Written::ByMass { by_mass } => Self::ByMass(by_mass),
            Written::ByNumber { by_number } => Self::ByNumber(by_number),
        }
    }
}

impl From<WrittenClass> for Class {
    fn from(written: WrittenClass) -> Self {
        match written {
            WrittenClass::One([size, share]) => Self::of(size, share),
            WrittenClass::Wide([from, to, share]) => Self { from, to, share },
        }
    }
}
