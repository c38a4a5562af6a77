//! Checks that a prepared solid is valid: its volume, area and box must be consistent, and lines through
//! it must enter and leave it alternately.
//!
//! The check detects faults of import and preparation: a surface that covers itself, a face on the wrong
//! side of its edges, a missing part. Lines start on the boundary, spread over its areas, so that each of
//! them intersects it. Sheets are not checked because they bound no volume and every line crosses them
//! twice at the same point.

mod line;
#[cfg(test)]
mod tests;

use feeler_brep::Solid;
use feeler_geom::{Rect, V3, math};
use feeler_hierarchy::{FaceId, Feature, Hierarchy};
use std::f64::consts::{PI, TAU};

use line::{Crossing, Line, Target};

/// Maximum number of lines that are tried, and number of conclusive lines after which no more are tried.
const LINE_LIMITS: (u64, u32) = (96, 24);

/// Minimum number of open lines for which a solid is rejected. An open line enters and leaves the solid
/// different numbers of times. A single one can be caused by a small fault of the model that does no
/// harm.
const MIN_OPEN_LINES: u32 = 2;

/// Maximum fraction of the length of the lines inside the solid that may be enclosed twice by its
/// boundary. Threads and sweeps of real models overlap themselves by a thousandth. With a larger value
/// doubled surfaces pass; with a smaller one threads are rejected.
const MAX_OVERLAP: f64 = 0.05;

/// Minimum volume of a solid, relative to the product of its surface area and its size. With a larger
/// value thin parts are rejected; with a smaller one empty shells pass.
const MIN_RELATIVE_VOLUME: f64 = 1e-9;

/// Reasons why a prepared shape is not a valid solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unsound {
    /// The volume is zero, negative, or larger than that of a ball of the same area.
    #[error(
        "its volume of {volume:.6e} mm³ is impossible for a closed solid with an area of {area:.6e} mm²; \
         check that its faces close and are oriented outwards"
    )]
    Volume {
        /// Volume of the solid, with sign (mm³).
        volume: f64,
        /// Surface area of the solid (mm²).
        area: f64,
    },
    /// The volume is larger than that of the bounding box.
    #[error(
        "its volume of {volume:.6e} mm³ exceeds that of its bounding box ({box_volume:.6e} mm³); \
         check for duplicated faces"
    )]
    Box {
        /// Volume of the solid (mm³).
        volume: f64,
        /// Volume of the bounding box (mm³).
        box_volume: f64,
    },
    /// Several test lines enter and leave the solid different numbers of times.
    #[error(
        "{bad} of {lines} test lines do not enter and leave it equally often, for example at face #{face}; \
         check for missing, duplicated or reversed faces"
    )]
    Open {
        /// Number of lines that enter and leave the solid different numbers of times.
        bad: u32,
        /// Number of conclusive lines, on which no crossing is ambiguous.
        lines: u32,
        /// Entity number of a face at which a test line shows a fault.
        face: u64,
    },
    /// The boundary encloses a part of the solid twice, or faces lie back to back and enclose nothing.
    #[error(
        "its surface covers itself: {percent:.0} % of its inside is enclosed twice, for example at face \
         #{face}; check for overlapping bodies or duplicated faces"
    )]
    Covered {
        /// Percentage of the length of the test lines inside the solid that is enclosed twice; 100 if
        /// faces lie back to back.
        percent: f64,
        /// Entity number of a face at which a test line shows a fault.
        face: u64,
    },
}

/// Checks that a prepared solid is valid. Sheets always pass.
pub(crate) fn check(solid: &Solid, h: &Hierarchy) -> Result<(), Unsound> {
    if is_sheet(solid) {
        return Ok(());
    }
    let (volume, area) = (h.info.volume, h.info.area);
    let edges = V3::from(h.info.bbox_max) - V3::from(h.info.bbox_min);
    let (box_volume, size) = (edges.x * edges.y * edges.z, edges.norm());
    // Of all solids of a given volume a ball has the smallest area.
    let ball = math::powf(36.0 * PI * volume * volume, 1.0 / 3.0);
    if volume <= MIN_RELATIVE_VOLUME * area * size || ball > area * (1.0 + 1e-6) {
        return Err(Unsound::Volume { volume, area });
    }
    if volume > box_volume * (1.0 + 1e-6) {
        return Err(Unsound::Box { volume, box_volume });
    }
    lines(h, size)
}

/// Returns whether the solid is a sheet: an open shell that was given a back side, so that each of its
/// faces occurs twice, with opposite orientations.
fn is_sheet(solid: &Solid) -> bool {
    let faces = solid.faces.iter().zip(&solid.shell.faces);
    let mut sides: Vec<(u64, bool)> = faces.map(|(f, s)| (f.source, s.orientation)).collect();
    sides.sort_unstable();
    sides.windows(2).any(|w| w[0].0 == w[1].0 && w[0].0 != 0 && w[0].1 != w[1].1)
}

fn lines(h: &Hierarchy, size: f64) -> Result<(), Unsound> {
    let tol = 1e-7 * size;
    let target = Target::new(h, tol);
    // The tie distance is far below the thickness of plates and foils.
    let tie = (1e-9 * size + 2.0 * h.info.max_trim_deviation).min(0.1 * h.info.volume / h.info.area);
    let area = |a: &feeler_hierarchy::Area| match a.feature {
        Feature::Face(f) => Some((f, a.rect)),
        _ => None,
    };
    let areas: Vec<(FaceId, Rect)> = h.areas.iter().filter_map(area).collect();
    let mut sums = Sums::default();
    for k in 0..LINE_LIMITS.0 {
        if sums.lines >= LINE_LIMITS.1 || areas.is_empty() {
            break;
        }
        // The starts are spread over all areas, not taken in their order.
        let (f, rect) = &areas[scattered(k, areas.len())];
        let face = &h.faces[f.index()];
        let Some(uv) = face.trim.sample_inside(rect) else { continue };
        let away = face.surface.normal(uv) + random_direction(k) * 0.8;
        let Some(dir) = away.try_normalize(0.1) else { continue };
        let Some(found) = target.crossings(&Line { origin: face.surface.point(uv), dir }) else { continue };
        // The line starts on the boundary, so that without a crossing there the result is inconclusive.
        if found.iter().any(|c| c.face == *f && c.t.abs() <= 10.0 * tol) {
            sums.add(&found, tie);
        }
    }
    let entity = |f: FaceId| h.faces[f.index()].sources.first().map_or(0, |s| s.0);
    let Sums { lines, open, empty, faulty_face, .. } = sums;
    if open >= MIN_OPEN_LINES {
        return Err(Unsound::Open { bad: open, lines, face: entity(faulty_face) });
    }
    if sums.covered_twice > MAX_OVERLAP * sums.inside || 4 * empty > lines {
        let share = if 4 * empty > lines { 1.0 } else { sums.covered_twice / sums.inside };
        return Err(Unsound::Covered { percent: 100.0 * share, face: entity(faulty_face) });
    }
    Ok(())
}

/// Sums over all lines that were intersected with the boundary of the solid.
#[derive(Debug, Default)]
struct Sums {
    /// Number of conclusive lines so far.
    lines: u32,
    /// Number of lines that enter and leave the solid different numbers of times.
    open: u32,
    /// Number of times that a line enters and leaves the solid at the same point, coming from outside:
    /// faces that lie back to back and enclose nothing.
    empty: u32,
    /// Total length (mm) of the lines inside the solid.
    inside: f64,
    /// Total length (mm) over which lines have entered the solid more than once, or left it more often
    /// than entered.
    covered_twice: f64,
    /// Face at the most recent fault.
    faulty_face: FaceId,
}

impl Sums {
    /// Adds the crossings of a conclusive line with the boundary, in order along the line. Crossings
    /// closer to each other than `tie` (mm) count as one point.
    fn add(&mut self, crossings: &[Crossing], tie: f64) {
        self.lines += 1;
        let Some(last) = crossings.last() else { return };
        if crossings.iter().map(|c| c.step).sum::<i32>() != 0 {
            self.open += 1;
            self.faulty_face = last.face;
            return;
        }
        let mut depth = 0;
        let mut rest = crossings;
        while let Some(first) = rest.first() {
            let n = rest.windows(2).take_while(|w| w[1].t - w[0].t <= tie).count() + 1;
            let step: i32 = rest[..n].iter().map(|c| c.step).sum();
            // Two faces back to back within the material are a slit; without material around them they
            // enclose nothing.
            if n > 1 && step == 0 && depth == 0 {
                self.empty += 1;
                self.faulty_face = first.face;
            }
            depth += step;
            let length = rest.get(n).map_or(0.0, |next| next.t - rest[n - 1].t);
            if depth != 0 {
                self.inside += length;
            }
            if !(0..=1).contains(&depth) {
                self.covered_twice += length;
                self.faulty_face = first.face;
            }
            rest = &rest[n..];
        }
    }
}

/// Returns an index below `n`; for `k` = 0, 1, 2, … these indices are evenly spread and not in order.
fn scattered(k: u64, n: usize) -> usize {
    // Multiples of the golden ratio, as fractions of 2³².
    let share = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let n = u64::try_from(n).unwrap_or(1).min(1 << 31);
    usize::try_from((share * n) >> 32).unwrap_or(0)
}

/// Returns a pseudo-random unit direction that depends on `k` only.
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
