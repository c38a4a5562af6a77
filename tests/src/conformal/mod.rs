//! Conformal contact through near-conformal poses, against closed forms (MATH §9, §14.4).
//!
//! A pair of solids touches along a line, a circle or a surface, and is tilted out of this contact by
//! very small angles and back. The expected results are known without the program under test: the
//! distance of any point to either solid, the smallest distance, and the position of the contact
//! ([`scenarios`], [`shapes`]).
//!
//! Demands on every pose ([`check`]) in which the solids do not overlap, with `tol` = 1e-7 of the size:
//!
//! - *pair*: each footpoint lies on its solid, and its distance to the other solid is the reported one:
//!   to 1e-9 of the size for strict minima, to `tol` for samples of conformal sets;
//! - *minimum*: the smallest distance is right to `tol`, and no point of B nearby is nearer to A by 16
//!   `tol`;
//! - *span*: while the tilt moves no point of B by more than `tol` / 4 (the pose is conformal), the hull
//!   of the footpoints contains the overlap. For larger tilts it contains the points that are within
//!   1e-10 of the size of the lowest one: the lowest corner, edge or ruling. Samples may cut round
//!   borders of an overlap by the sagitta of their spacing ([`sagitta`]);
//! - *quasi*: with α twice the tilt, all corners of flat faces stay in contact;
//! - *status*: disjoint interiors are not reported as interfering, and interiors that overlap by 100
//!   `tol` are.
//!
//! Demands along a ramp of growing tilts:
//!
//! - *step*: the smallest distance changes by no more than the motion and rounding;
//! - *flicker*: a set of contacts that was left does not come back: the same number at the same positions
//!   (to a twentieth of B's size) after another number. A number that comes back with contacts elsewhere
//!   is only counted ([`Seen::returns`]), because the contact of a face passes into those of its edges,
//!   then into a corner;
//! - *warm*: a pair that has followed the ramp finds exactly the results of a new pair.

pub mod scenarios;
pub mod shapes;

use crate::part_of;
use feeler_geom::{P3, Pose, V3};
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, QueryOptions, Status};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
pub use scenarios::{Axis, Effect, Scenario, all};
use std::sync::Arc;

/// A violated demand and the circumstances under which it was violated.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Name of the demand.
    pub demand: &'static str,
    /// Description of the pose, the options and the values.
    pub text: String,
}

/// Statistics for reports. Lengths are relative to the size of the pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Poses in which the solids do not overlap.
    pub poses: u64,
    /// Number of contacts in these poses.
    pub contacts: u64,
    /// Largest distance of a footpoint from its solid.
    pub off: f64,
    /// Largest error of the distance of a strict minimum.
    pub strict: f64,
    /// Largest error of the distance of a conformal sample.
    pub conformal: f64,
    /// Largest error of the smallest distance of a pose.
    pub minimum: f64,
    /// Largest length by which the contacts of a set with corners span less than they must.
    pub lack: f64,
    /// Largest length by which the contacts of a round set span less than they must, relative to the
    /// set's radius.
    pub round_lack: f64,
    /// Largest number of contacts in a pose.
    pub max_contacts: usize,
    /// Largest number of changes of the number of contacts along a ramp.
    pub changes: usize,
    /// Number of times that a number of contacts came back, with contacts elsewhere.
    pub returns: usize,
}

impl Seen {
    /// Adds the statistics of `other`.
    pub fn add(&mut self, other: &Self) {
        self.poses += other.poses;
        self.contacts += other.contacts;
        for (x, y) in [
            (&mut self.off, other.off),
            (&mut self.strict, other.strict),
            (&mut self.conformal, other.conformal),
            (&mut self.minimum, other.minimum),
            (&mut self.lack, other.lack),
            (&mut self.round_lack, other.round_lack),
        ] {
            *x = x.max(y);
        }
        self.max_contacts = self.max_contacts.max(other.max_contacts);
        self.changes = self.changes.max(other.changes);
        self.returns += other.returns;
    }
}

/// A scenario ready for queries.
#[derive(Debug)]
pub struct Rig {
    /// The scenario.
    pub scenario: Scenario,
    a: Arc<Body>,
    b: Arc<Body>,
    /// Points of B's boundary, in B's frame.
    boundary: Vec<P3>,
    /// Distance (mm) of the farthest corner of B's box from B's origin.
    corner: f64,
    /// Pose of A in the world.
    world: Pose,
    directions: Vec<V3>,
}

/// Query options, constant along a ramp.
#[derive(Clone, Copy, Debug)]
pub struct RampOptions {
    /// Angle α for quasi contacts (rad).
    pub quasi_angle: f64,
    /// Maximum distance (mm) between adjacent samples; `None` for the default.
    pub spacing: Option<f64>,
}

/// Maximum difference of distances, relative to the size, at which points of a tilted contact count as
/// lowest points.
const LOWEST: f64 = 1e-10;
/// Minimum radius of curvature (mm) of the surfaces of the scenarios near their contacts.
const RADIUS: f64 = 6.0;
/// Maximum distance of a query (mm).
const D_MAX: f64 = 0.3;

impl Rig {
    /// Prepares both solids; a seed other than 0 poses the pair at random in the world.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64) -> Self {
        let body = |shape: &shapes::Shape| part_of(&shape.source(), feeler_import::DEFAULT_FLATNESS).body;
        let (a, b) = (body(&scenario.a), body(&scenario.b));
        let mut rng = SmallRng::seed_from_u64(seed);
        let mut vector = |x: f64| V3::from_fn(|_, _| rng.random_range(-x..x));
        let world = if seed == 0 {
            Pose::identity()
        } else {
            Pose::from_parts(Translation3::from(vector(30.0)), UnitQuaternion::from_scaled_axis(vector(2.0)))
        };
        let axes = [V3::x(), V3::y(), V3::z()];
        let mut directions: Vec<V3> = axes.iter().flat_map(|v| [*v, -*v]).collect();
        directions.extend((0..20).map(|_| vector(1.0).normalize()));
        let boundary = scenario.b.boundary(0.03 * b.size());
        let corner = b.bounds().max.coords.abs().sup(&b.bounds().min.coords.abs()).norm();
        Self { scenario, a, b, boundary, corner, world, directions }
    }

    /// Creates a pair with no cached results, for a ramp.
    #[must_use]
    pub fn pair(&self) -> ContactPair {
        ContactPair::new(self.a.clone(), self.b.clone())
    }

    /// Size to which tolerances are relative (mm).
    #[must_use]
    pub fn size(&self) -> f64 {
        self.a.size().max(self.b.size())
    }

    /// Queries the pair with B posed by `pose` in the frame of A.
    ///
    /// # Panics
    /// If the pose is not finite or an option is invalid.
    pub fn query<'a>(&self, pair: &'a mut ContactPair, pose: &Pose, options: &RampOptions) -> &'a [Contact] {
        let query_options = QueryOptions {
            quasi_angle: options.quasi_angle,
            conformal_spacing: options.spacing,
            ..QueryOptions::within(D_MAX)
        };
        pair.query(&self.world, &(self.world * pose), &query_options).expect("finite poses and options")
    }
}

/// Largest length (mm) by which samples may cut a round border: every candidate is within a quarter of
/// the diameter, or within `spacing` (mm), of a selected sample, so adjacent samples are at most twice
/// as far apart.
#[must_use]
pub fn sagitta(radius: f64, spacing: Option<f64>) -> f64 {
    let chord = 2.0 * spacing.unwrap_or(f64::INFINITY).min(0.5 * radius);
    // A fifth more, for the steps between candidates.
    1.2 * chord * chord / (8.0 * radius)
}

/// Checks the results of a pair at one pose against the demands; `(axis, tilt)` is the axis and the
/// angle (rad) of the tilt.
#[must_use]
pub fn check(
    rig: &Rig,
    pair: &ContactPair,
    pose: &Pose,
    (axis, tilt): (&Axis, f64),
    options: &RampOptions,
) -> (Vec<Fault>, Seen) {
    let mut faults = Vec::new();
    let mut seen = Seen::default();
    let mut fault = |demand, text: String| faults.push(Fault { demand, text });
    let s = &rig.scenario;
    let size = rig.size();
    let tol = 1e-7 * size;
    let lowest = (s.lowest)(pose);
    let is_interfering = pair.status() == Some(Status::Interfering);
    if lowest < -1e-12 * size {
        if lowest < -100.0 * tol && !is_interfering {
            fault(
                "status",
                format!("the solids overlap by {lowest:.1e} mm, but the status is {:?}", pair.status()),
            );
        }
        return (faults, seen);
    }
    if is_interfering {
        fault("status", format!("interfering at a distance of {lowest:.1e} mm"));
    }
    let contacts = pair.contacts();
    seen.poses = 1;
    seen.contacts = contacts.len() as u64;
    seen.max_contacts = contacts.len();
    for l in contacts {
        let (p_a, p_b) = (l.local_a, pose * l.local_b);
        let shown = || {
            format!(
                "{:?} {:?} {} / {:?} {} at {p_b:.6}",
                l.kind, l.feature_a.kind, l.feature_a.index, l.feature_b.kind, l.feature_b.index
            )
        };
        let off = s.a.distance(&p_a).abs().max(s.b.distance(&l.local_b).abs()) / size;
        seen.off = seen.off.max(off);
        if off > 2e-9 || ((p_b - p_a).norm() - l.distance.abs()).abs() > 1e-11 * size {
            fault("pair", format!("footpoint off by {off:.1e} of the size: {}", shown()));
        }
        if l.kind == ContactKind::Quasi {
            continue;
        }
        let back = s.b.distance(&(pose.inverse() * p_a)).abs();
        let error = (s.a.distance(&p_b).abs() - l.distance).abs().max((back - l.distance).abs()) / size;
        let (worst, allowed) = match l.kind {
            ContactKind::Strict => (&mut seen.strict, 1e-9),
            _ => (&mut seen.conformal, 1e-7),
        };
        *worst = worst.max(error);
        if error > allowed {
            fault("pair", format!("distance off by {error:.1e} of the size: {}", shown()));
        }
        let near = 0.1 * rig.b.size();
        let nearer = rig.boundary.iter().filter(|q| (*q - l.local_b).norm() < near);
        let smallest = nearer.map(|q| s.a.distance(&(pose * q))).fold(f64::INFINITY, f64::min);
        if smallest < l.distance - 16.0 * tol {
            fault("minimum", format!("smaller by {:.1e} mm nearby: {}", l.distance - smallest, shown()));
        }
    }
    match pair.min_distance() {
        None => fault("minimum", format!("no contact is found at a distance of {lowest:.3e} mm")),
        Some(d) => {
            seen.minimum = (d - lowest).abs() / size;
            if (d - lowest).abs() > tol {
                fault("minimum", format!("{d:.9} instead of {lowest:.9}"));
            }
        }
    }
    let overlap = (s.overlap)(pose);
    let moved = tilt.abs() * rig.b.size();
    let conformal = (axis.effect == Effect::None || moved <= 0.25 * tol)
        && overlap.iter().all(|q| s.a.distance(q).abs() <= lowest + 0.25 * tol);
    let (within, slack) = if conformal {
        (tol, 0.0)
    } else {
        let within = LOWEST * size;
        (within, lowest_width(s, axis.effect, tilt.abs(), within))
    };
    let low: Vec<P3> = overlap.iter().copied().filter(|q| s.a.distance(q).abs() <= lowest + within).collect();
    let found: Vec<P3> =
        contacts.iter().filter(|l| l.kind != ContactKind::Quasi).map(|l| pose * l.local_b).collect();
    let lack = lack_of_span(rig, &low, &found);
    let allowed = if s.round > 0.0 && conformal {
        seen.round_lack = lack / s.round;
        sagitta(s.round, options.spacing) + 1e-6 * size
    } else {
        seen.lack = (lack - slack).max(0.0) / size;
        slack + 1e-6 * size
    };
    if lack > allowed {
        let how = if conformal { "conformal" } else { "tilted" };
        let text = format!(
            "{how}: {} lowest points are not spanned by {} footpoints, {lack:.2e} mm are missing",
            low.len(),
            found.len()
        );
        fault("span", text);
    }
    if s.polygon && options.quasi_angle >= 2.0 * tilt.abs() && options.quasi_angle > 0.0 {
        let any: Vec<P3> = contacts.iter().map(|l| pose * l.local_b).collect();
        let lack = lack_of_span(rig, &overlap, &any);
        // Footpoints on the two solids are a distance apart, along a tilted normal.
        let farthest = contacts.iter().fold(0.0, |d: f64, l| d.max(l.distance));
        if lack > 1e-6 * size + 2.0 * farthest * tilt.abs() {
            fault(
                "quasi",
                format!("the overlap is not spanned by {} footpoints, {lack:.2e} mm are missing", any.len()),
            );
        }
    }
    (faults, seen)
}

/// Whether every point of each set is within `near` (mm) of a point of the other set.
fn same_places(x: &[P3], y: &[P3], near: f64) -> bool {
    let all = |x: &[P3], y: &[P3]| x.iter().all(|p| y.iter().any(|q| (p - q).norm() <= near));
    all(x, y) && all(y, x)
}

/// Width (mm) of the part of a tilted contact whose distances exceed the smallest one by at most
/// `within` (mm).
fn lowest_width(s: &Scenario, effect: Effect, tilt: f64, within: f64) -> f64 {
    // `straight` is for a straight border, `round` for a round one that is tilted against a plane.
    let straight = within / tilt;
    let round = (2.0 * s.round * straight).sqrt();
    match effect {
        Effect::None => 0.0,
        Effect::First => 2.0 * straight.max(round),
        // Distances grow with the square of the tilt times the path, divided by a radius.
        Effect::Second => 2.0 * (2.0 * within * RADIUS).sqrt() / tilt,
    }
}

/// Largest length (mm), over some directions, by which `points` extend beyond the hull of `hull`.
fn lack_of_span(rig: &Rig, points: &[P3], hull: &[P3]) -> f64 {
    let reach = |set: &[P3], v: &V3| set.iter().map(|p| p.coords.dot(v)).fold(f64::NEG_INFINITY, f64::max);
    rig.directions.iter().map(|v| reach(points, v) - reach(hull, v)).fold(0.0, f64::max)
}

/// Tilts (rad) of a ramp: 0, then from 1e-12 to `largest` with `per_decade` steps per decade.
#[must_use]
pub fn tilts(largest: f64, per_decade: u32) -> Vec<f64> {
    let mut out = vec![0.0];
    for decade in -12..0 {
        for k in 0..per_decade {
            let tilt =
                feeler_geom::math::powf(10.0, f64::from(decade) + f64::from(k) / f64::from(per_decade));
            if tilt <= largest * (1.0 + 1e-9) {
                out.push(tilt);
            }
        }
    }
    out
}

/// Queries along a ramp of growing tilts; returns faults, statistics, and the number of contacts in each
/// run of poses with equal numbers.
#[must_use]
pub fn ramp(
    rig: &Rig,
    axis: &Axis,
    sign: f64,
    gap: f64,
    tilts: &[f64],
    options: &RampOptions,
) -> (Vec<Fault>, Seen, Vec<usize>) {
    let mut faults = Vec::new();
    let mut seen = Seen::default();
    let mut sets: Vec<Vec<P3>> = Vec::new();
    let mut pair = rig.pair();
    let mut last: Option<(Pose, f64)> = None;
    let size = rig.size();
    for (k, tilt) in tilts.iter().enumerate() {
        let pose = rig.scenario.place(&axis.dir, sign * tilt, gap);
        rig.query(&mut pair, &pose, options);
        let (some, now) = check(rig, &pair, &pose, (axis, *tilt), options);
        let at = |f: Fault| Fault { text: format!("tilt {:.3e}: {}", sign * tilt, f.text), ..f };
        faults.extend(some.into_iter().map(at));
        seen.add(&now);
        if now.poses == 0 {
            last = None;
            continue;
        }
        sets.push(pair.contacts().iter().map(|l| l.local_b).collect());
        if let (Some((before, d)), Some(e)) = (last, pair.min_distance()) {
            let change = before.inverse() * pose;
            let moved = change.translation.vector.norm() + change.rotation.angle() * rig.corner;
            if (d - e).abs() > moved + 1e-7 * size {
                faults.push(Fault {
                    demand: "step",
                    text: format!(
                        "tilt {tilt:.3e}: the distance changes from {d:.9} to {e:.9}, moved {moved:.1e} mm"
                    ),
                });
            }
        }
        last = pair.min_distance().map(|d| (pose, d));
        if k % 9 == 4 {
            let mut cold = rig.pair();
            rig.query(&mut cold, &pose, options);
            let timeless = |l: &[Contact]| -> Vec<Contact> {
                l.iter().map(|l| Contact { id: 0, age: 0, ..*l }).collect()
            };
            if timeless(cold.contacts()) != timeless(pair.contacts()) || cold.status() != pair.status() {
                faults.push(Fault {
                    demand: "warm",
                    text: format!("tilt {tilt:.3e}: the results of a warm and a new pair differ"),
                });
            }
        }
    }
    // First and last set of contacts of every run of poses with equal numbers of contacts.
    let runs: Vec<&[Vec<P3>]> = sets.chunk_by(|x, y| x.len() == y.len()).collect();
    let counts: Vec<usize> = runs.iter().map(|r| r[0].len()).collect();
    seen.changes = counts.len().saturating_sub(1);
    for (i, first) in runs.iter().enumerate() {
        for later in &runs[i + 1..] {
            let (Some(left), Some(back)) = (first.last(), later.first()) else { continue };
            if left.len() != back.len() {
                continue;
            }
            if same_places(left, back, 0.05 * rig.b.size()) {
                faults.push(Fault {
                    demand: "flicker",
                    text: format!("a set of contacts comes back, numbers of contacts {counts:?}"),
                });
            } else {
                seen.returns += 1;
            }
        }
    }
    (faults, seen, counts)
}
