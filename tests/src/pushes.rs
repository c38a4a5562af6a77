//! Pushes of two solids from a gap through contact to a penetration depth, during which contacts must
//! persist.

use feeler_geom::{P2, P3, Pose, V3};
use feeler_runtime::{Body, Contact, ContactKind, ContactPair, FeatureKind, FeatureRef, QueryOptions};
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::sync::Arc;

/// Statistics of the contacts in pushes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of pushes that reached contact.
    pub pushes: u64,
    /// Number of steps.
    pub steps: u64,
    /// Number of contacts whose signed distance changed from positive to negative.
    pub crossed: u64,
    /// Number of these contacts that kept their identity.
    pub same: u64,
    /// Number of contacts that moved to an adjacent feature.
    pub passed_on: u64,
    /// Number of contacts that ended at the limits of the queried range of distances.
    pub at_ends: u64,
    /// Contacts at positive or zero distances that ended without a reason.
    pub lost: Vec<String>,
    /// Number of contacts at positive distances that merged with a saddle and vanished.
    pub folded: u64,
    /// Number of contacts that ended at negative distances: at folds, or where the common volume beside
    /// the contact ended.
    pub gone_inside: u64,
    /// Number of contacts that began at a negative distance.
    pub born_inside: u64,
    /// Contacts whose signed distance changed by more than the motion.
    pub jumps: Vec<String>,
}

/// A push of B along a random direction, with B in a random orientation.
#[derive(Debug)]
pub struct Push {
    a: Arc<Body>,
    b: Arc<Body>,
    own_a: Pose,
    turn: UnitQuaternion<f64>,
    toward: V3,
    /// Position of B (mm) along the direction at which the solids touch.
    contact: f64,
    /// Final depth (mm).
    depth: f64,
    name: String,
}

/// Number of steps of a push.
const STEPS: u32 = 48;

impl Push {
    /// Push number `seed`; `None` if B does not reach contact.
    #[must_use]
    pub fn new(name: &str, (a, own_a): (&Arc<Body>, &Pose), b: &Arc<Body>, seed: u64) -> Option<Self> {
        let mut rng = SmallRng::seed_from_u64(seed);
        let axis = V3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        let turn = UnitQuaternion::from_scaled_axis(axis * 3.0);
        let toward = V3::from_fn(|_, _| rng.random_range(-1.0..1.0)).try_normalize(0.1)?;
        let size = a.size().max(b.size());
        let max_depth = 0.45 * (a.min_thickness() + b.min_thickness());
        let mut push = Self {
            a: a.clone(),
            b: b.clone(),
            own_a: *own_a,
            turn,
            toward,
            contact: 0.0,
            depth: (0.02 * size * rng.random_range(0.05..1.0)).min(max_depth),
            name: format!("{name}, seed {seed}"),
        };
        // Advance B by the distance; this cannot move B beyond the contact.
        let mut pair = ContactPair::new(a.clone(), b.clone());
        let mut options =
            QueryOptions { detect_interference: false, ..QueryOptions::within(8.0 * (a.size() + b.size())) };
        let mut s = -1.5 * (a.size() + b.size());
        for _ in 0..400 {
            pair.query(own_a, &push.pose(s), &options).ok()?;
            let gap = pair.min_distance()?;
            if gap < 1e-9 * size {
                push.contact = s;
                return Some(push);
            }
            s += gap;
            // The next distance is at most the last distance plus the advance.
            options.d_max = 2.0 * gap + 1e-6 * size;
            if s > 3.0 * (a.size() + b.size()) {
                return None;
            }
        }
        None
    }

    /// Whether a contact at the position `s` (mm) that ends within the next `step` (mm) merges with a
    /// saddle. Before that, its footpoints move at an unbounded speed (inversely proportional to the
    /// square root of the remaining path), or the contact ends at the border of its feature.
    fn merges_with_saddle(&self, contact: &Contact, s: f64, step: f64) -> bool {
        let options = QueryOptions { detect_interference: false, ..QueryOptions::within(2.0 * self.depth) };
        let mut pair = ContactPair::new(self.a.clone(), self.b.clone());
        let (mut there, mut gone) = (0.0, step);
        let mut last = (*contact, 0.0);
        let mut run = 0.0_f64;
        while gone - there > 1e-9 * step {
            let t = 0.5 * (there + gone);
            let found = pair.query(&self.own_a, &self.pose(s + t), &options).expect("finite");
            let features =
                |l: &Contact| (l.feature_a.kind, l.feature_a.index, l.feature_b.kind, l.feature_b.index);
            let away =
                |l: &Contact| (l.local_a - last.0.local_a).norm().max((l.local_b - last.0.local_b).norm());
            let same = found.iter().filter(|l| features(l) == features(contact));
            match same.min_by(|l, m| away(l).total_cmp(&away(m))).filter(|l| away(l) < 0.05 * self.a.size()) {
                Some(l) => {
                    run = away(l) / (t - last.1);
                    (there, last) = (t, (*l, t));
                }
                None => gone = t,
            }
        }
        let [n, turned] = [last.0.normal, -last.0.normal];
        run > 100.0
            || is_at_border(
                &self.a,
                &last.0.feature_a,
                &last.0.local_a,
                &self.own_a.inverse_transform_vector(&n),
            )
            || is_at_border(
                &self.b,
                &last.0.feature_b,
                &last.0.local_b,
                &self.turn.inverse_transform_vector(&turned),
            )
    }

    fn pose(&self, s: f64) -> Pose {
        let center = self.b.bounds().min + (self.b.bounds().max - self.b.bounds().min) * 0.5;
        let middle = self.a.bounds().min + (self.a.bounds().max - self.a.bounds().min) * 0.5;
        let place = self.own_a * middle + self.toward * s - self.turn * center.coords;
        Pose::from_parts(Translation3::from(place.coords), self.turn)
    }

    /// Moves B in steps from a gap through contact to the depth, and adds the results to `tally`.
    ///
    /// # Panics
    /// If a query is rejected.
    pub fn run(&self, tally: &mut Tally) {
        tally.pushes += 1;
        let (depth, size) = (self.depth, self.a.size().max(self.b.size()));
        let options = QueryOptions { penetration: depth, ..QueryOptions::within(depth) };
        let mut pair = ContactPair::new(self.a.clone(), self.b.clone());
        let moved = 3.0 * depth / f64::from(STEPS);
        let tol = 1e-7 * size;
        let mut before: Vec<Contact> = Vec::new();
        for k in 0..STEPS {
            let s = self.contact - depth + moved * f64::from(k);
            pair.query(&self.own_a, &self.pose(s), &options)
                .expect("finite poses and a penetration below the thickness");
            tally.steps += 1;
            let strict = |l: &&Contact| l.kind == ContactKind::Strict && !l.undecided;
            let now: Vec<Contact> = pair.contacts().iter().filter(strict).copied().collect();
            let all = pair.contacts();
            let near = 20.0 * moved + 10.0 * tol;
            let beside = |set: &[Contact], p: &P3, q: &P3| {
                let is_near = |l: &Contact| (l.point_a - p).norm() < near && (l.point_b - q).norm() < near;
                set.iter().any(is_near)
            };
            let place = |l: &Contact| {
                let of = |f: &FeatureRef| format!("{:?} {}", f.kind, f.index);
                format!(
                    "{} at step {k}, {} / {}, {:.6e}",
                    self.name,
                    of(&l.feature_a),
                    of(&l.feature_b),
                    l.distance
                )
            };
            for l in &before {
                let next = now.iter().find(|n| n.id == l.id);
                let crosses = l.distance > 0.0 && l.distance < moved;
                match next {
                    Some(n) => {
                        if (n.distance - l.distance).abs() > moved * (1.0 + 1e-9) + 2.0 * tol {
                            tally.jumps.push(format!(
                                "{} then {:.6e}, moved {moved:.2e}",
                                place(l),
                                n.distance
                            ));
                        }
                        if l.distance > 0.0 && n.distance <= 0.0 {
                            tally.crossed += 1;
                            tally.same += 1;
                        }
                    }
                    None if depth - l.distance.abs() <= 2.0 * moved + tol => tally.at_ends += 1,
                    None if beside(all, &l.point_a, &(l.point_b + self.toward * moved)) => {
                        tally.passed_on += 1;
                        tally.crossed += u64::from(crosses);
                    }
                    None if l.distance < -2.0 * tol => tally.gone_inside += 1,
                    None if self.merges_with_saddle(l, s - moved, moved) => tally.folded += 1,
                    None => tally.lost.push(place(l)),
                }
            }
            if k > 0 {
                for n in now.iter().filter(|n| n.distance < -2.0 * tol - moved) {
                    let is_old = before.iter().any(|l| l.id == n.id);
                    let at_end = depth + n.distance <= 2.0 * moved;
                    if !is_old && !at_end && !beside(&before, &n.point_a, &(n.point_b - self.toward * moved))
                    {
                        tally.born_inside += 1;
                    }
                }
            }
            before = now;
        }
    }
}

/// Whether an outward direction at a footpoint (both in the solid's frame) is at the border of the polar
/// of its feature, or the footpoint is at the border of its face. At such a footpoint, the minimum can
/// merge with a saddle of an adjacent feature.
fn is_at_border(body: &Body, feature: &FeatureRef, p: &P3, n: &V3) -> bool {
    const TOLERANCE: f64 = 1e-5;
    let h = body.hierarchy();
    match feature.kind {
        FeatureKind::Vertex => {
            let polar = &h.vertices[feature.index as usize].constraints;
            polar.iter().any(|v| n.dot(v).abs() <= TOLERANCE * v.norm())
        }
        FeatureKind::Edge => h.edges[feature.index as usize].sides.iter().any(|side| {
            let face = &h.faces[side.face.index()];
            let normal = face.surface.normal(face.surface.invert(p, None, None));
            (normal * if face.outward { 1.0 } else { -1.0 } - n).norm() <= TOLERANCE
        }),
        FeatureKind::Face => {
            let face = &h.faces[feature.index as usize];
            let uv = P2::new(feature.uv[0], feature.uv[1]);
            let d = face.surface.derivs(uv);
            let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
            face.trim.nearest(uv, metric, TOLERANCE * body.size()).is_some()
        }
    }
}
