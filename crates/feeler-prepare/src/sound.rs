//! Checks that a prepared solid is valid: its volume, area and box must be consistent, and lines through
//! it must enter and leave it alternately.
//!
//! The check detects faults of import and preparation: a surface that covers itself, a face on the wrong
//! side of its edges, a missing part. Lines start on the boundary, spread over its areas, so that each of
//! them intersects it. Sheets are not checked because they bound no volume and every line crosses them
//! twice at the same point.

mod line;
mod senses;
#[cfg(test)]
mod tests;

use feeler_brep::Solid;
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Rect, V3, mass, math};
use feeler_hierarchy::{FaceId, Feature, Hierarchy};
use std::f64::consts::{PI, TAU};

use line::{Crossing, Line, Target};

pub(crate) use senses::contradicted_faces;

/// Maximum number of lines that are tried in the first pass, and number of conclusive lines (without an
/// ambiguous crossing) after which no more are tried.
const LINE_LIMITS: (u64, u32) = (96, 24);

/// Maximum fraction of the length of the lines inside the solid that is enclosed twice in the first pass.
/// If it is exceeded, the overlap is measured with more lines ([`measure`]). With a larger value overlaps
/// are missed; with a smaller one, threads are measured in vain.
const MEASURED_OVERLAP: f64 = 0.01;

/// Maximum number of lines that are tried in the second pass, which measures a fault, and number of
/// conclusive lines after which no more are tried. The starts of these lines are distributed in
/// proportion to area.
const MEASURE_LIMITS: (u64, u32) = (20_000, 400);

/// Minimum number of conclusive lines of the second pass; with fewer, the solid is rejected.
const MIN_MEASURED: u32 = 60;

/// Maximum share of the lines of the second pass that enter and leave the solid different numbers of
/// times. If a face of 1 % of the area is missing, 2 to 3 % of the lines pass through the hole. With a
/// larger value wrong faces pass; with a smaller one solids are rejected because of slits that are small
/// compared with the solid.
const MAX_OPEN_SHARE: f64 = 0.015;

/// Maximum length of the sum of the vector areas (∫ n dA) of all faces, relative to the area of the
/// boundary, in addition to what the gaps at the edges explain. The sum is 0 for a closed boundary. With
/// a larger value missing faces pass; a smaller one rejects inexact files.
const MAX_VECTOR_AREA: f64 = 1e-3;

/// Maximum fraction of the length of the lines inside the solid that may be enclosed twice. Threads and
/// sweeps of real models overlap themselves by a thousandth. With a larger value doubled surfaces pass;
/// with a smaller one threads are rejected.
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
        /// Volume of the solid (mm³); negative if its faces are oriented inwards.
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
        "{}; check for missing, duplicated or reversed faces",
        if *bad == 0 {
            "its faces leave openings: their areas do not balance in all directions".to_owned()
        } else {
            format!(
                "{bad} of {lines} test lines do not enter and leave it equally often, for example at face \
                 #{face}"
            )
        }
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

/// Maximum relative difference between the mean length of the lines inside a solid, per crossing, and
/// the length that follows from volume and area. It applies to solids in which more than a quarter of
/// the lines cross faces that lie back to back; beyond it, the faces enclose nothing and the solid is
/// rejected. The mean of a few hundred lines is accurate to about 8 %. With a larger value folded
/// surfaces pass; with a smaller one valid solids are rejected by chance.
const MAX_CHORD_ERROR: f64 = 0.35;

/// A fault of a solid that is small compared with the solid, which is therefore accepted with a warning.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SmallFault {
    /// Number of points at which test lines cross two faces that lie back to back without material
    /// between them, divided by the number of lines; about the share of such faces in the area.
    pub(crate) empty: f64,
    /// Share (0 to 1) of the test lines that enter and leave the solid different numbers of times.
    pub(crate) open: f64,
    /// Share of the length of the test lines inside the solid that is enclosed twice, an estimate of the
    /// share of the volume.
    pub(crate) twice: f64,
    /// Entity number of a face at which a test line shows the fault.
    pub(crate) face: u64,
}

/// Values of `empty`, `open` and `twice` of a [`SmallFault`] above which the fault is reported. With
/// larger values faults are hidden; with smaller ones there are warnings of tangent faces and threads.
const MIN_REPORTED: (f64, f64, f64) = (0.05, 0.0, 0.005);

impl std::fmt::Display for SmallFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.empty > MIN_REPORTED.0 {
            return write!(
                f,
                "faces lie back to back without material between them, for example face #{} (about {:.0} % \
                of the area); the part is read as it is, with a sheet there; remove it or give it a \
                thickness",
                self.face,
                100.0 * self.empty
            );
        }
        write!(f, "faces pass through each other or leave a slit near face #{}", self.face)?;
        match self {
            Self { open, .. } if *open > 0.0 => write!(f, " (about {:.1} % of the area)", 100.0 * open)?,
            Self { twice, .. } if *twice > 0.0 => write!(f, " ({:.1} % of the volume twice)", 100.0 * twice)?,
            _ => {}
        }
        f.write_str("; contacts there are uncertain, and area and volume are those of the faces as they are")
    }
}

/// Checks a prepared solid as a whole. Returns `None` if no fault is found, a small fault that is to be
/// reported as a warning, or an error if the solid is invalid. Sheets are not checked.
pub(crate) fn check(solid: &Solid, h: &Hierarchy) -> Result<Option<SmallFault>, Unsound> {
    if is_sheet(solid) {
        return Ok(None);
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

/// Tolerance of crossings, relative to the size of the solid. With a larger value lines near trims are
/// inconclusive; with a smaller one rounding counts as a fault.
const LINE_TOLERANCE: f64 = 1e-7;

/// Distance (mm) along a line within which crossings count as one point. It is far below the thickness of
/// plates and foils.
fn tie_distance(h: &Hierarchy, size: f64) -> f64 {
    (1e-9 * size + 2.0 * h.info.max_trim_deviation).min(0.1 * h.info.volume.abs() / h.info.area)
}

fn lines(h: &Hierarchy, size: f64) -> Result<Option<SmallFault>, Unsound> {
    let target = Target::new(h, LINE_TOLERANCE * size);
    let tie = tie_distance(h, size);
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
        // The starts are spread over all areas, not taken in their order. Small faces get the same number as
        // large ones, so that faults of either are found.
        let (f, rect) = &areas[scattered(k, areas.len())];
        let face = &h.faces[f.index()];
        let Some(uv) = face.trim.sample_inside(rect) else { continue };
        let away = face.surface.normal(uv) + random_direction(k) * 0.8;
        let Some(dir) = away.try_normalize(0.1) else { continue };
        sums.cast(&target, (*f, face.surface.point(uv)), dir, tie);
    }
    if sums.is_fine() { Ok(None) } else { measure(&target, &areas, tie) }
}

/// Measures a fault by lines whose starts are distributed over the `areas` in proportion to area. Returns
/// an error if the fault invalidates the solid, the fault if it is to be reported, and `None` otherwise.
/// Crossings closer than `tie` (mm) count as one point.
fn measure(target: &Target<'_>, areas: &[(FaceId, Rect)], tie: f64) -> Result<Option<SmallFault>, Unsound> {
    let h = target.h;
    // Points are evenly distributed in the rectangle of an area; those outside its trim are skipped.
    let weight = |(f, r): &(FaceId, Rect)| {
        let (_, du, dv) = h.faces[f.index()].surface.first_derivs(r.center());
        du.cross(&dv).norm() * r.width() * r.height()
    };
    let mut ends = Vec::with_capacity(areas.len());
    let mut total = 0.0;
    for area in areas {
        total += weight(area);
        ends.push(total);
    }
    let mut sums = Sums::default();
    for k in 0..MEASURE_LIMITS.0 {
        if sums.lines >= MEASURE_LIMITS.1 {
            break;
        }
        let at = random(k, 2) * total;
        let Some((f, r)) = areas.get(ends.partition_point(|e| *e <= at)) else { continue };
        let face = &h.faces[f.index()];
        let uv = P2::new(r.u0 + r.width() * random(k, 3), r.v0 + r.height() * random(k, 4));
        if face.trim.classify(uv) != Side::Inside {
            continue;
        }
        // With directions by Lambert's law, the lines are evenly distributed in position and direction.
        let Some(dir) = (face.surface.normal(uv) + random_direction(k)).try_normalize(1e-2) else { continue };
        sums.cast(target, (*f, face.surface.point(uv)), dir, tie);
    }
    let entity = |f: FaceId| h.faces[f.index()].sources.first().map_or(0, |s| s.0);
    let Sums { lines, open, empty, faulty_face, .. } = sums;
    let face = entity(faulty_face);
    let share = f64::from(open) / f64::from(lines.max(1));
    if share > MAX_OPEN_SHARE || lines < MIN_MEASURED || !is_closed(h) {
        return Err(Unsound::Open { bad: open, lines, face });
    }
    // Parts without thickness are harmless in a solid. The mean length of such lines inside a solid, per
    // crossing, is twice the volume divided by the area.
    let chord = 2.0 * h.info.volume / h.info.area;
    let is_hollow =
        4 * empty > lines && (sums.inside / f64::from(lines) / chord - 1.0).abs() > MAX_CHORD_ERROR;
    if sums.covered_twice > MAX_OVERLAP * sums.inside || is_hollow {
        let share = if is_hollow { 1.0 } else { sums.covered_twice / sums.inside };
        return Err(Unsound::Covered { percent: 100.0 * share, face });
    }
    let twice = sums.covered_twice / sums.inside.max(f64::MIN_POSITIVE);
    let fault = SmallFault { empty: f64::from(empty) / f64::from(lines), open: share, twice, face };
    let is_reported =
        fault.empty > MIN_REPORTED.0 || fault.open > MIN_REPORTED.1 || fault.twice > MIN_REPORTED.2;
    Ok(is_reported.then_some(fault))
}

/// Returns whether the vector areas of all faces add up to zero, as those of a closed boundary do, up to
/// what the gaps at the edges explain.
fn is_closed(h: &Hierarchy) -> bool {
    let (mut sum, mut gaps) = (V3::zeros(), 0.0);
    for face in &h.faces {
        let (vector, _) = mass::vector_area(&face.surface, &face.trim);
        sum += if face.outward { vector } else { -vector };
    }
    for e in &h.edges {
        let length = |s: &feeler_hierarchy::Span| e.curve.bounds(s.t0, s.t1).diagonal();
        gaps += e.spans.iter().map(|s| length(s) * s.deviation).sum::<f64>();
    }
    // A NaN counts as open.
    sum.norm() <= MAX_VECTOR_AREA * h.info.area + 2.0 * gaps
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
    /// Sum over the lines of the length (mm) inside the solid divided by the number of crossings, because
    /// a line is tried the more often the more points it has in common with the boundary.
    inside: f64,
    /// Sum over the lines, with the same division, of the length (mm) over which a line has entered the
    /// solid more than once, or left it more often than entered.
    covered_twice: f64,
    /// Face at the most recent fault.
    faulty_face: FaceId,
}

impl Sums {
    /// Adds the line through the point `origin` of the face `face` along `dir`, if the line is
    /// conclusive.
    fn cast(&mut self, target: &Target<'_>, (face, origin): (FaceId, P3), dir: V3, tie: f64) {
        let Some(found) = target.crossings(&Line { origin, dir }) else { return };
        // The line starts on the boundary, so that without a crossing there the result is inconclusive.
        if found.iter().any(|c| c.face == face && c.t.abs() <= 10.0 * target.tol) {
            self.add(&found, tie);
        }
    }

    /// Whether the lines of the first pass show no fault that has to be measured by a second pass.
    fn is_fine(&self) -> bool {
        self.open == 0 && self.covered_twice <= MEASURED_OVERLAP * self.inside && 4 * self.empty <= self.lines
    }

    /// Adds a conclusive line, given by its crossings in order along it. Crossings closer than `tie` (mm)
    /// count as one point.
    fn add(&mut self, crossings: &[Crossing], tie: f64) {
        self.lines += 1;
        let Some(last) = crossings.last() else { return };
        if crossings.iter().map(|c| c.step).sum::<i32>() != 0 {
            self.open += 1;
            self.faulty_face = last.face;
            return;
        }
        // A line is as likely as it has points to start from.
        let weight = 1.0 / f64::from(u32::try_from(crossings.len()).unwrap_or(u32::MAX));
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
            let length = weight * rest.get(n).map_or(0.0, |next| next.t - rest[n - 1].t);
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

/// Returns an index below `n`. The indices for `k` = 0, 1, 2, … are spread evenly over all of the list
/// from the beginning, instead of in order.
fn scattered(k: u64, n: usize) -> usize {
    // Multiples of the golden ratio, as fractions of 2³².
    let share = k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let n = u64::try_from(n).unwrap_or(1).min(1 << 31);
    usize::try_from((share * n) >> 32).unwrap_or(0)
}

/// Returns a pseudo-random unit direction that depends on `k` only.
fn random_direction(k: u64) -> V3 {
    let (z, turn) = (2.0 * hashed(2 * k) - 1.0, TAU * hashed(2 * k + 1));
    let (sin, cos) = math::sin_cos(turn);
    let r = (1.0 - z * z).max(0.0).sqrt();
    V3::new(r * cos, r * sin, z)
}

/// Pseudo-random number from 0 to 1, a function of `k` and `salt` only.
fn random(k: u64, salt: u64) -> f64 {
    hashed(k.wrapping_mul(8).wrapping_add(salt) ^ 0x5851_f42d_4c95_7f2d)
}

fn hashed(k: u64) -> f64 {
    let mut x = k.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from(u32::try_from((x ^ (x >> 31)) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}
