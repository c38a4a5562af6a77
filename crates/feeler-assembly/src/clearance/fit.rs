//! Standard fits of two parts: threads, press fits and running fits.
//!
//! A fit consists of a shaft of one part and a coaxial hole of the other part. Each of them is a cylinder, a
//! spline that follows one, or a flank of a thread. Rules of a clearance check can be restricted to pairs
//! with a fit, and reports state the fit of each pair. The status of a pair (separated, touching,
//! interfering or undecided) does not depend on its fit.

use crate::assembly::AssemblyPart;
use feeler_geom::{P3, Pose, Surface, V3};
use feeler_hierarchy::Face;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Kind of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitKind {
    /// The parts have coaxial helical flanks, or the shaft has the diameter of a standard thread and is drawn
    /// larger than the hole by at most the depth of that thread.
    Thread,
    /// The shaft is larger than the hole, but not by more than [`MAX_PRESS`] of its diameter.
    Press,
    /// The hole is larger than the shaft, but not by more than [`MAX_PLAY`] of its diameter.
    Running,
}

/// Fit of a shaft and a hole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Kind of the fit.
    pub kind: FitKind,
    /// Position of the part with the hole in the pair: 0 or 1.
    pub hole_in: usize,
    /// Diameters (mm) of the hole and of the shaft; `None` for threads with helical flanks.
    pub diameters: Option<[f64; 2]>,
}

impl Fit {
    /// Diameter of the hole minus that of the shaft (mm): the play if positive, the overlap if negative.
    /// `None` for threads with helical flanks.
    #[must_use]
    pub fn play(&self) -> Option<f64> {
        self.diameters.map(|[hole, shaft]| hole - shaft)
    }
}

/// Largest overlap of a press fit, as a fraction of the diameter. Fits H7/s6 of ISO 286 reach 0.4 % at 8 mm
/// and 0.12 % at 50 mm. With a larger value, wrong diameters count as press fits; with a smaller one, heavy
/// press fits count as interference.
pub const MAX_PRESS: f64 = 0.005;
/// Largest play of a running fit, as a fraction of the diameter. With a larger value, holes for passage count
/// as running fits; with a smaller one, loose bearings do not.
pub const MAX_PLAY: f64 = 0.02;
/// Sine of the largest angle between the axes of a fit. A larger value joins parts that are askew; a smaller
/// one misses shafts that are tilted within their play.
const MAX_ANGLE_SINE: f64 = 0.02;
/// Smallest length of a fit, as a fraction of the diameter. A larger value misses thin plates on bolts; a
/// smaller one joins cylinders that only meet at their ends.
const MIN_LENGTH: f64 = 0.05;
/// Smallest angle (rad) about the axis that a face of a fit covers. A larger value misses slotted holes; with
/// a smaller one, fillets count as holes.
const MIN_COVERED: f64 = PI;
/// Largest distance between the axes of a fit, as a multiple of the difference of the radii. It exceeds 1
/// because parts in contact are eccentric by the whole difference.
const MAX_ECCENTRICITY: f64 = 1.5;
/// Distance (in diameters) of the axes that rounded positions explain.
const ROUNDED: f64 = 1e-3;

/// Nominal diameters and pitches (mm) of ISO 261 coarse threads and of unified coarse threads, ascending.
const THREADS: [(f64, f64); 40] = [
    (1.6, 0.35),
    (2.0, 0.4),
    (2.184, 0.4536),
    (2.5, 0.45),
    (2.845, 0.635),
    (3.0, 0.5),
    (3.505, 0.7938),
    (4.0, 0.7),
    (4.166, 0.7938),
    (4.826, 1.0583),
    (5.0, 0.8),
    (6.0, 1.0),
    (6.35, 1.27),
    (7.938, 1.4111),
    (8.0, 1.25),
    (9.525, 1.5875),
    (10.0, 1.5),
    (11.113, 1.8143),
    (12.0, 1.75),
    (12.7, 1.9538),
    (14.0, 2.0),
    (15.875, 2.3091),
    (16.0, 2.0),
    (18.0, 2.5),
    (19.05, 2.54),
    (20.0, 2.5),
    (22.0, 2.5),
    (22.225, 2.8222),
    (24.0, 3.0),
    (25.4, 3.175),
    (27.0, 3.0),
    (30.0, 3.5),
    (33.0, 3.5),
    (36.0, 4.0),
    (39.0, 4.0),
    (42.0, 4.5),
    (45.0, 4.5),
    (48.0, 5.0),
    (56.0, 5.5),
    (64.0, 6.0),
];
/// Depth of the internal thread of ISO 68-1 on both sides, as a multiple of the pitch P: D − D₁ is
/// 5/8 √3 P.
const DEPTH_OF_PITCH: f64 = 1.082_531_8;
/// Largest excess of the drawn depth over that of the thread: holes are also drawn at the minor diameter of
/// the bolt's thread. A larger value takes more interference for threads; a smaller one misses threads.
const DEPTH_SLACK: f64 = 1.15;
/// Range of drawn diameters of bolts around the nominal diameter, as fractions of the pitch below it and
/// above it: the tolerance classes g and h, and rounding.
const BOLT_RANGE: [f64; 2] = [0.2, 0.02];

/// A cylinder or a thread of one part, in world coordinates.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Point of the axis (mm) and unit direction.
    origin: P3,
    axis: V3,
    /// Range of the coordinates (mm) along the axis, from `origin`.
    along: [f64; 2],
    /// Radius (mm) of a cylinder; `None` for the flanks of a thread.
    radius: Option<f64>,
    /// Whether the material is outside.
    is_hole: bool,
}

/// Returns the fit of two parts with the largest common area; `None` if they have none.
pub(crate) fn fit(parts: [&AssemblyPart; 2]) -> Option<Fit> {
    let rounds = parts.map(rounds);
    let mut best: Option<(f64, Fit)> = None;
    for hole_in in [0, 1] {
        for hole in rounds[hole_in].iter().filter(|round| round.is_hole) {
            for shaft in rounds[1 - hole_in].iter().filter(|round| !round.is_hole) {
                let Some((size, kind)) = joined(hole, shaft) else { continue };
                if best.is_none_or(|(largest, _)| size > largest) {
                    let diameters = hole.radius.zip(shaft.radius).map(|(r, s)| [2.0 * r, 2.0 * s]);
                    best = Some((size, Fit { kind, hole_in, diameters }));
                }
            }
        }
    }
    best.map(|(_, fit)| fit)
}

/// Common area (mm², of a cylinder of the hole's or the shaft's radius) and kind of the fit of a hole and a
/// shaft; `None` if they form none.
fn joined(hole: &Round, shaft: &Round) -> Option<(f64, FitKind)> {
    let radius = hole.radius.or(shaft.radius);
    let sine = hole.axis.cross(&shaft.axis).norm();
    if sine > MAX_ANGLE_SINE {
        return None;
    }
    // The range of the shaft along the axis of the hole.
    let ends = shaft.along.map(|t| (shaft.origin + shaft.axis * t - hole.origin).dot(&hole.axis));
    let lo = hole.along[0].max(ends[0].min(ends[1]));
    let hi = hole.along[1].min(ends[0].max(ends[1]));
    let middle = hole.origin + hole.axis * (0.5 * (lo + hi));
    let across = middle - shaft.origin;
    let offset = (across - shaft.axis * across.dot(&shaft.axis)).norm();
    let (Some(r), Some(s)) = (hole.radius, shaft.radius) else {
        let is_thread = hole.radius.is_none() && shaft.radius.is_none() && hi > lo;
        // Flanks have priority over the cylinders of the same parts.
        let size = (hi - lo) * 1e6;
        return (is_thread && offset <= 0.1 * (hi - lo)).then_some((size, FitKind::Thread));
    };
    let diameter = 2.0 * radius?;
    if hi - lo < MIN_LENGTH * diameter || offset > MAX_ECCENTRICITY * (r - s).abs() + ROUNDED * diameter {
        return None;
    }
    kind([2.0 * r, 2.0 * s]).map(|kind| (PI * diameter * (hi - lo), kind))
}

/// Kind of the fit of a hole and a shaft with these diameters (mm); `None` if the difference is too large.
fn kind([hole, shaft]: [f64; 2]) -> Option<FitKind> {
    let overlap = shaft - hole;
    if overlap <= 0.0 {
        (-overlap <= MAX_PLAY * hole).then_some(FitKind::Running)
    } else if overlap <= MAX_PRESS * hole {
        Some(FitKind::Press)
    } else {
        let is_drawn = |&(nominal, pitch): &(f64, f64)| {
            let [below, above] = BOLT_RANGE.map(|part| part * pitch);
            nominal - below <= shaft
                && shaft <= nominal + above
                && overlap <= DEPTH_SLACK * DEPTH_OF_PITCH * pitch
        };
        THREADS.iter().any(is_drawn).then_some(FitKind::Thread)
    }
}

/// Cylinders that reach at least half around their axes, and threads of a part, in world coordinates.
fn rounds(part: &AssemblyPart) -> Vec<Round> {
    let faces = part.body.hierarchy().faces.iter();
    let cylinders = faces.filter_map(|face| cylinder(face, &part.pose));
    let threads = part.body.threads().into_iter().map(|thread| Round {
        origin: part.pose * thread.origin,
        axis: part.pose * thread.axis,
        along: thread.along,
        radius: None,
        is_hole: thread.is_internal,
    });
    cylinders.chain(threads).collect()
}

/// The cylinder of a face, or the one that it follows, in world coordinates.
fn cylinder(face: &Face, pose: &Pose) -> Option<Round> {
    let near = face.canonical_approximation.as_ref();
    let (surface, outward) = near.map_or((&face.surface, face.outward), |n| (&n.shape, n.outward));
    let Surface::Cylinder { frame, radius } = surface else { return None };
    let along = if near.is_some() {
        let ends = face.trim.pieces.iter().flat_map(|piece| [0.0, 0.5].map(|s| piece.eval(s)));
        let heights = ends.map(|uv| (face.surface.point(uv) - frame.origin).dot(&frame.z));
        heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[lo, hi], z| [lo.min(z), hi.max(z)])
    } else {
        let rect = &face.trim.rect;
        if rect.u1 - rect.u0 < MIN_COVERED {
            return None;
        }
        [rect.v0, rect.v1]
    };
    let (origin, axis) = (pose * frame.origin, pose * frame.z);
    Some(Round { origin, axis, along, radius: Some(*radius), is_hole: !outward })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(radius: f64, x: f64, along: [f64; 2], is_hole: bool) -> Round {
        Round { origin: P3::new(x, 0.0, 0.0), axis: V3::z(), along, radius: Some(radius), is_hole }
    }

    #[test]
    fn diameters_decide_the_kind() {
        for (diameters, expected) in [
            ([10.0, 9.98], Some(FitKind::Running)),
            ([10.0, 10.0], Some(FitKind::Running)),
            ([10.0, 9.5], None),
            ([10.0, 10.03], Some(FitKind::Press)),
            ([5.0, 6.0], Some(FitKind::Thread)),
            ([4.917, 5.974], Some(FitKind::Thread)),
            ([4.5, 6.0], None),
            ([6.6, 8.0], Some(FitKind::Thread)),
            // No thread has this diameter.
            ([15.8, 17.0], None),
            ([10.2, 12.0], Some(FitKind::Thread)),
        ] {
            assert_eq!(kind(diameters), expected, "{diameters:?}");
        }
        assert!(THREADS.windows(2).all(|w| w[0].0 < w[1].0), "ascending");
    }

    #[test]
    fn axes_and_lengths_decide_whether_there_is_a_fit() {
        let hole = round(5.0, 0.0, [0.0, 20.0], true);
        let is_fit = |shaft: Round| joined(&hole, &shaft).is_some();
        assert!(is_fit(round(4.95, 0.05, [-5.0, 5.0], false)), "eccentric by the play");
        assert!(!is_fit(round(4.95, 0.2, [-5.0, 5.0], false)), "eccentric by more");
        assert!(!is_fit(round(4.95, 0.0, [-5.0, 0.1], false)), "at the end only");
        assert!(!is_fit(Round { axis: V3::x(), ..round(4.95, 0.0, [-5.0, 5.0], false) }), "across");
        let turned = Round { axis: -V3::z(), ..round(4.95, 0.0, [-15.0, -5.0], false) };
        let (size, kind) = joined(&hole, &turned).unwrap();
        assert!(kind == FitKind::Running && (size - PI * 100.0).abs() < 1e-9, "{size}");
    }
}
