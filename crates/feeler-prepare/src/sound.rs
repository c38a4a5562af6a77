//! Is the result a solid? Volume, area and box must fit each other, and lines through it must enter and leave
//! it in turns.
//!
//! What importing and preparing get wrong shows here: a surface that covers itself, a face on the wrong side
//! of its edges, a part that is missing. Lines begin on the boundary, spread over its areas, so that each of
//! them meets it. Sheets bound nothing, and are met twice in one place: they are not asked.

mod line;
#[cfg(test)]
mod tests;

use feeler_brep::Solid;
use feeler_geom::{Rect, V3, math};
use feeler_hierarchy::{FaceId, Feature, Hierarchy};
use std::f64::consts::{PI, TAU};

use line::{Crossing, Line, Target};

/// Lines that are tried, and those without doubt that are enough.
const LINES: (u64, u32) = (96, 24);

/// Single lines may meet a small fault of the model that does no harm: so many do not.
const FEW: u32 = 2;

/// Share of the inside that may be covered twice: threads and sweeps of real models overlap themselves by a
/// part in a thousand.
const OVERLAP: f64 = 0.05;

/// Shells with less volume than this, relative to their area and size, bound nothing.
const NO_VOLUME: f64 = 1e-9;

/// Why a result is no solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unsound {
    /// No volume, or a negative one.
    #[error(
        "its faces enclose a volume of {volume:.6e} mm³ with an area of {area:.6e} mm², which no solid does"
    )]
    Volume {
        /// Volume (mm³).
        volume: f64,
        /// Area (mm²).
        area: f64,
    },
    /// More volume than its box.
    #[error("its volume of {volume:.6e} mm³ does not fit into its box of {room:.6e} mm³")]
    Box {
        /// Volume (mm³).
        volume: f64,
        /// Volume of the box (mm³).
        room: f64,
    },
    /// Lines do not leave where they should.
    #[error(
        "{bad} of {lines} lines through it enter and leave it a different number of times, as at face #{face}"
    )]
    Open {
        /// Lines that do so.
        bad: u32,
        /// Lines without doubt.
        lines: u32,
        /// Entity id of a face that such a line meets.
        face: u64,
    },
    /// The boundary covers itself.
    #[error("its surface covers itself: {percent:.0} % of its inside is entered twice, as at face #{face}")]
    Covered {
        /// Share of the lines' length within the solid (%).
        percent: f64,
        /// Entity id of a face where such a line enters or leaves.
        face: u64,
    },
}

/// Looks at a prepared solid as a whole.
pub(crate) fn check(solid: &Solid, h: &Hierarchy) -> Result<(), Unsound> {
    if is_sheet(solid) {
        return Ok(());
    }
    let (volume, area) = (h.info.volume, h.info.area);
    let edges = V3::from(h.info.bbox_max) - V3::from(h.info.bbox_min);
    let (room, size) = (edges.x * edges.y * edges.z, edges.norm());
    // A ball has the smallest area around its volume.
    let ball = math::powf(36.0 * PI * volume * volume, 1.0 / 3.0);
    if volume <= NO_VOLUME * area * size || ball > area * (1.0 + 1e-6) {
        return Err(Unsound::Volume { volume, area });
    }
    if volume > room * (1.0 + 1e-6) {
        return Err(Unsound::Box { volume, room });
    }
    lines(h, size)
}

/// Whether open shells were given a back: each of their faces is there twice.
fn is_sheet(solid: &Solid) -> bool {
    let faces = solid.faces.iter().zip(&solid.shell.faces);
    let mut sides: Vec<(u64, bool)> = faces.map(|(f, s)| (f.source, s.orientation)).collect();
    sides.sort_unstable();
    sides.windows(2).any(|w| w[0].0 == w[1].0 && w[0].0 != 0 && w[0].1 != w[1].1)
}

fn lines(h: &Hierarchy, size: f64) -> Result<(), Unsound> {
    let tol = 1e-7 * size;
    let target = Target::new(h, tol);
    // Far below the thickness of plates and foils.
    let tie = (1e-9 * size + 2.0 * h.info.max_trim_deviation).min(0.1 * h.info.volume / h.info.area);
    let area = |a: &feeler_hierarchy::Area| match a.feature {
        Feature::Face(f) => Some((f, a.rect)),
        _ => None,
    };
    let areas: Vec<(FaceId, Rect)> = h.areas.iter().filter_map(area).collect();
    let mut sums = Sums::default();
    for k in 0..LINES.0 {
        if sums.lines >= LINES.1 || areas.is_empty() {
            break;
        }
        // Spread over all areas, the first ones not before the last ones.
        let (f, rect) = &areas[scattered(k, areas.len())];
        let face = &h.faces[f.index()];
        let Some(uv) = face.trim.sample_inside(rect) else { continue };
        let away = face.surface.normal(uv) + random_direction(k) * 0.8;
        let Some(dir) = away.try_normalize(0.1) else { continue };
        let Some(found) = target.crossings(&Line { origin: face.surface.point(uv), dir }) else { continue };
        // The line begins on the boundary: a line that does not meet it there tells nothing.
        if found.iter().any(|c| c.face == *f && c.t.abs() <= 10.0 * tol) {
            sums.add(&found, tie);
        }
    }
    let entity = |f: FaceId| h.faces[f.index()].sources.first().map_or(0, |s| s.0);
    let Sums { lines, open, nothing, at, .. } = sums;
    if open >= FEW {
        return Err(Unsound::Open { bad: open, lines, face: entity(at) });
    }
    if sums.twice > OVERLAP * sums.inside || 4 * nothing > lines {
        let share = if 4 * nothing > lines { 1.0 } else { sums.twice / sums.inside };
        return Err(Unsound::Covered { percent: 100.0 * share, face: entity(at) });
    }
    Ok(())
}

/// What all lines say together.
#[derive(Debug, Default)]
struct Sums {
    /// Lines without doubt.
    lines: u32,
    /// Those that enter and leave a different number of times.
    open: u32,
    /// Those that enter and leave again in one place.
    nothing: u32,
    /// Their length within the solid (mm), and that where they have entered more often than once or not at
    /// all.
    inside: f64,
    twice: f64,
    /// A face where something is wrong.
    at: FaceId,
}

impl Sums {
    /// `tie`: crossings that are nearer to each other are in one place (mm).
    fn add(&mut self, crossings: &[Crossing], tie: f64) {
        self.lines += 1;
        let Some(last) = crossings.last() else { return };
        if crossings.iter().map(|c| c.step).sum::<i32>() != 0 {
            self.open += 1;
            self.at = last.face;
            return;
        }
        let mut depth = 0;
        let mut rest = crossings;
        while let Some(first) = rest.first() {
            let n = rest.windows(2).take_while(|w| w[1].t - w[0].t <= tie).count() + 1;
            let step: i32 = rest[..n].iter().map(|c| c.step).sum();
            // Faces back to back within the material are a slit; without material around them there is
            // nothing.
            if n > 1 && step == 0 && depth == 0 {
                self.nothing += 1;
                self.at = first.face;
            }
            depth += step;
            let length = rest.get(n).map_or(0.0, |next| next.t - rest[n - 1].t);
            if depth != 0 {
                self.inside += length;
            }
            if !(0..=1).contains(&depth) {
                self.twice += length;
                self.at = first.face;
            }
            rest = &rest[n..];
        }
    }
}

/// One of `n` things, another one for each `k`, spread evenly.
fn scattered(k: u64, n: usize) -> usize {
    // Multiples of the golden ratio, as shares of 2³².
    let share = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let n = u64::try_from(n).unwrap_or(1).min(1 << 31);
    usize::try_from((share * n) >> 32).unwrap_or(0)
}

/// Directions that look random, the same ones every time.
fn random_direction(k: u64) -> V3 {
    let share = |salt: u64| {
        let mut x = (2 * k + salt).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((x ^ (x >> 31)) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    };
    let (z, turn) = (2.0 * share(0) - 1.0, TAU * share(1));
    let (sin, cos) = math::sin_cos(turn);
    let r = (1.0 - z * z).max(0.0).sqrt();
    V3::new(r * cos, r * sin, z)
}
