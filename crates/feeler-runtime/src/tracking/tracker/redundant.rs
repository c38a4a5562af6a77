//! Removal of contacts that other contacts of the set imply.
//!
//! A contact c is implied by a contact k if, for every motion within the bound (θ, d) of the step, the
//! gap of c is at least the gap of k minus an error δ. Let `n_c` and `n_k` be their normals, u the
//! displacement of c's point on B, w the vector from there to k's point on B, and ω the rotation of B.
//! The difference of both linear gaps is
//!
//! ```text
//! gap_c − gap_k + (n_c − n_k)·u − n_k·(ω × w) ≥ gap_c − gap_k − |n_c − n_k| d − |w × n_k| θ.
//! ```
//!
//! # Source
//! MATH §23.

use super::{ContactTracker, Identity, StepBound};
use crate::api::contact::Contact;
use feeler_geom::{P3, Pose};

/// Error δ (see the module) up to which another contact implies a contact, as a fraction of the accepted
/// error of a predicted gap. A larger value allows deeper contacts; a smaller one gives larger sets.
const MAX_ERROR_PART: f64 = 0.5;

/// Sort key of a contact: minima come first, then contacts of the previous update, then new
/// ones.
#[derive(Clone, Copy, Debug)]
struct Entry {
    is_minimum: bool,
    /// Whether the contact was in the set of the previous update.
    is_old: bool,
    /// Index of the contact in the tracker's list of contacts.
    index: usize,
}

/// Scratch buffers reused between updates.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Sort keys of the contacts, in the order in which the contacts are examined.
    order: Vec<Entry>,
    /// Indices of the kept contacts, with their points on B in A's frame.
    kept: Vec<(usize, P3)>,
    /// Whether each contact is kept.
    is_kept: Vec<bool>,
}

impl ContactTracker {
    /// Removes contacts that other contacts imply up to half of `gap_error` (mm), but no minima.
    /// Contacts that were in the last update are kept in preference to new ones, so that the set does not
    /// alternate between equivalent contacts. `before` must be sorted by keys.
    pub(super) fn drop_implied(&mut self, pose_ab: &Pose, bound: &StepBound, gap_error: f64) {
        let error = MAX_ERROR_PART * gap_error;
        let Scratch { order, kept, is_kept } = &mut self.redundant;
        let (contacts, known, before) = (&self.contacts, &self.known, &self.before);
        order.clear();
        order.extend(contacts.iter().zip(known).enumerate().map(|(index, (contact, identity))| Entry {
            is_minimum: contact.kind.is_minimum(),
            is_old: before.binary_search_by_key(&identity.key, |before: &Identity| before.key).is_ok(),
            index,
        }));
        order.sort_unstable_by(|x, y| {
            let first = (y.is_minimum, y.is_old).cmp(&(x.is_minimum, x.is_old));
            let by_gap = contacts[x.index].gap.total_cmp(&contacts[y.index].gap);
            first.then(by_gap).then_with(|| known[x.index].key.cmp(&known[y.index].key))
        });
        kept.clear();
        is_kept.clear();
        is_kept.resize(contacts.len(), false);
        for &Entry { is_minimum, index, .. } in &*order {
            let contact = &contacts[index];
            let point = pose_ab * contact.local_b;
            let implies = |&(k, of_kept): &(usize, P3)| {
                is_implied((contact, &point), (&contacts[k], &of_kept), bound, error)
            };
            if is_minimum || !kept.iter().any(implies) {
                kept.push((index, point));
                is_kept[index] = true;
            }
        }
        let mut flags = is_kept.iter();
        self.contacts.retain(|_| flags.next() == Some(&true));
        let mut flags = is_kept.iter();
        self.known.retain(|_| flags.next() == Some(&true));
    }
}

/// Returns whether the contact `by` implies the contact `c`: for every motion within `bound`, the linear
/// gap of `c` is at least that of `by` minus `error` (mm). `p` and `q` are the points of `c` and `by` on
/// B, in A's frame.
fn is_implied((c, p): (&Contact, &P3), (by, q): (&Contact, &P3), bound: &StepBound, error: f64) -> bool {
    let turned = (c.local_normal - by.local_normal).norm() * bound.displacement;
    let lever = (q - p).cross(&by.local_normal).norm() * bound.rotation;
    c.gap - by.gap >= turned + lever - error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::contact::{ContactKind, FeatureKind, FeatureRef};
    use feeler_geom::V3;
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    fn contact(point: P3, normal: V3, gap: f64) -> Contact {
        let face = FeatureRef { kind: FeatureKind::Face, index: 0, source: 0, uv: [0.0; 2] };
        let on_a = point - normal * gap;
        Contact {
            distance: gap,
            gap,
            point_a: on_a,
            point_b: point,
            local_a: on_a,
            local_b: point,
            normal,
            local_normal: normal,
            gap_rate: [0.0; 6],
            curvature_a: [0.0; 2],
            curvature_b: [0.0; 2],
            kind: ContactKind::Sample,
            id: 0,
            age: 0,
            is_active: true,
            is_fixed: [true, false],
            feature_a: face,
            feature_b: face,
            undecided: false,
        }
    }

    /// For random motions within the bound, the linear gap of an implied contact is at most the error
    /// below the gap of the contact that implies it, and some motions nearly attain that.
    #[test]
    fn implied_gaps_stay_open() {
        let mut random = SmallRng::seed_from_u64(48);
        let bound = StepBound { rotation: 1e-3, displacement: 0.01 };
        let error = 5e-4;
        let (mut implied, mut closest) = (0, f64::INFINITY);
        for _ in 0..20_000 {
            let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..size));
            let n = any(1.0).normalize();
            let [q, p] = [any(5.0), any(0.5)];
            let by = contact(P3::from(q), n, any(2e-3).x);
            let c = contact(P3::from(q + p), (n + any(0.02)).normalize(), by.gap + any(1e-3).x);
            if !is_implied((&c, &c.local_b), (&by, &by.local_b), &bound, error) {
                continue;
            }
            implied += 1;
            // Displacement of c's point, and a rotation about it.
            let unit = |v: V3| v.normalize();
            let aligned = (q - c.local_b.coords).cross(&by.normal);
            let spins = [unit(any(1.0)), unit(aligned)];
            let shifts = [unit(any(1.0)), unit(by.normal - c.normal)];
            for (spin, shift) in spins.into_iter().zip(shifts) {
                let (spin, shift) = (spin * bound.rotation, shift * bound.displacement);
                let of_kept = shift + spin.cross(&(by.local_b - c.local_b));
                let difference = (c.gap + c.normal.dot(&shift)) - (by.gap + by.normal.dot(&of_kept));
                assert!(difference >= -error * (1.0 + 1e-9), "{difference}: {c:?} {by:?}");
                closest = closest.min(difference + error);
            }
        }
        assert!(implied > 1_000 && closest < 0.02 * error, "{implied}, {closest}");
    }
}
