//! Contacts for solvers that look at each pose once.

use crate::{ContactPair, FeatureKind, Lmd, QueryError, QueryOptions, Status, load_bearing};
use feeler_geom::{P3, Pose, V3};

/// A contact of a [`LastingContacts`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LastingContact {
    /// Identity: counts up from contact to contact, never given twice.
    pub number: u64,
    /// Footpoint in A's own coordinates.
    pub local_a: P3,
    /// Footpoint in B's own coordinates.
    pub local_b: P3,
    /// A's outward direction there, in A's own coordinates.
    pub normal: V3,
    /// Gap (mm) between the footpoints along the normal, less the dilations.
    pub gap: f64,
    /// Features of A and of B.
    pub features: [(FeatureKind, u32); 2],
    /// Whether the last query has found it; else it is remembered.
    pub is_found: bool,
    /// What dilations take from the distance (mm).
    dilation: f64,
    /// Sum of the curvatures of both sides (1/mm).
    bend: f64,
}

/// The contacts of a pair as solvers like them: those that queries find, and beside them those that were
/// found before and still hold.
///
/// A part that rests on a face, tilted by a millionth, has one local minimum, its lowest point: with that
/// alone it tips over to the other side, and back, for ever. A contact that is found no longer is therefore
/// remembered as two points that ride on their solids, with the gap along the normal that it had, which is
/// right up to the curvature times the square of how far they have slid past each other. It is dropped as
/// soon as that is more than a ten-thousandth of a millimetre, or they have slid by more than a
/// thousandth of the smaller solid, or are out of reach, or it is the oldest of many.
///
/// Contacts of one place are one, whatever features they are on: numbers stay where [`Lmd::id`] changes from
/// feature to feature.
#[derive(Clone, Debug)]
pub struct LastingContacts {
    slip: f64,
    contacts: Vec<LastingContact>,
    next: u64,
    chosen: Vec<usize>,
    found: Vec<LastingContact>,
}

/// Part of the sum of walls down to which contacts are told.
const WALLS: f64 = 0.45;
/// Depth (mm) down to which contacts are looked for first.
const SHALLOW: f64 = 0.05;
/// How far footpoints may have slid, as a part of a size.
const SLIP: f64 = 1e-3;
/// Error of a remembered gap (mm).
const ERROR: f64 = 1e-4;
/// Contacts that are remembered at most.
const REMEMBERED: usize = 16;

impl LastingContacts {
    /// Of a pair whose smaller solid has that size (mm).
    #[must_use]
    pub fn new(size: f64) -> Self {
        Self { slip: SLIP * size, contacts: Vec::new(), next: 0, chosen: Vec::new(), found: Vec::new() }
    }

    /// The contacts, by number.
    #[must_use]
    pub fn contacts(&self) -> &[LastingContact] {
        &self.contacts
    }

    /// Forgets all: the next query begins a new motion.
    pub fn clear(&mut self) {
        self.contacts.clear();
    }

    /// Asks a pair for its contacts within `reach` (mm), and down to `depth` where the solids are in one
    /// another, as far as walls are thick enough to tell their sides apart. Whether contacts tell how the
    /// solids stand: not where they interfere without one.
    ///
    /// # Errors
    /// As [`ContactPair::query`]; there are no contacts then.
    pub fn ask(
        &mut self,
        pair: &mut ContactPair,
        pose_a: &Pose,
        pose_b: &Pose,
        reach: f64,
        depth: f64,
    ) -> Result<bool, QueryError> {
        let (a, b) = (pair.body_a(), pair.body_b());
        let thick = WALLS * (a.wall() + b.wall());
        // Of a contact along a line or an area the corners carry all loads.
        let conformal_spacing = Some(a.size().max(b.size()));
        let mut is_told = false;
        // Deep contacts cost several times as much to look for: only where shallow ones do not tell.
        for penetration in [SHALLOW, depth] {
            let penetration = penetration.min(depth).min(thick);
            let options = QueryOptions { conformal_spacing, penetration, ..QueryOptions::within(reach) };
            pair.query(pose_a, pose_b, &options).inspect_err(|_| self.clear())?;
            is_told = pair.lmds().iter().any(|l| l.gap < 0.0) || pair.status() != Some(Status::Interfering);
            if is_told {
                break;
            }
        }
        self.update(pair.lmds(), pose_a, pose_b, reach);
        Ok(is_told)
    }

    /// Takes what a query at these poses has found within `reach` (mm): of conformal sets what
    /// [`load_bearing()`] chooses.
    pub fn update(&mut self, lmds: &[Lmd], pose_a: &Pose, pose_b: &Pose, reach: f64) {
        load_bearing(lmds, &mut self.chosen);
        self.found.clear();
        self.found.extend(self.chosen.iter().map(|&k| found(&lmds[k], pose_a)));
        let pose_ab = pose_a.inv_mul(pose_b);
        for c in &mut self.contacts {
            c.is_found = false;
        }
        let mut remembered = 0;
        // The youngest first: they know best how the solids stand.
        for k in (0..self.contacts.len()).rev() {
            let c = &mut self.contacts[k];
            let here = |f: &LastingContact| {
                (f.local_a - c.local_a).norm().min((f.local_b - c.local_b).norm()) <= self.slip
                    && f.normal.dot(&c.normal) > SAME
            };
            let apart = |f: &LastingContact| {
                (f.local_a - c.local_a).norm_squared() + (f.local_b - c.local_b).norm_squared()
            };
            let near = (0..self.found.len()).filter(|&i| here(&self.found[i]));
            let same = near.min_by(|&i, &j| apart(&self.found[i]).total_cmp(&apart(&self.found[j])));
            if let Some(i) = same {
                *c = LastingContact { number: c.number, ..self.found.swap_remove(i) };
                continue;
            }
            let holds = remembered < REMEMBERED && c.still_holds(&pose_ab, self.slip, reach, lmds);
            if holds && !self.contacts.iter().any(|o| o.is_found && o.is_at(&self.contacts[k], self.slip)) {
                remembered += 1;
            } else {
                self.contacts.remove(k);
            }
        }
        for f in self.found.drain(..) {
            self.contacts.push(LastingContact { number: self.next, ..f });
            self.next += 1;
        }
    }
}

/// Cosine of the angle between normals of contacts that are one.
const SAME: f64 = 0.9;

impl LastingContact {
    fn is_at(&self, other: &Self, slip: f64) -> bool {
        (self.local_a - other.local_a).norm() <= slip && self.normal.dot(&other.normal) > SAME
    }

    /// Renews the gap from where the points are. Whether that may be relied on.
    fn still_holds(&mut self, pose_ab: &Pose, slip: f64, reach: f64, lmds: &[Lmd]) -> bool {
        let between = pose_ab * self.local_b - self.local_a;
        let along = between.dot(&self.normal);
        let slid = (between - self.normal * along).norm();
        self.gap = along - self.dilation;
        // Where nothing is within reach, nothing is to be remembered.
        !lmds.is_empty() && slid <= slip && 0.5 * self.bend * slid * slid <= ERROR && self.gap <= reach
    }
}

fn found(lmd: &Lmd, pose_a: &Pose) -> LastingContact {
    // Edges and vertices stay where they are: what bends is the other side.
    let bend = |[least, most]: [f64; 2]| {
        let finite = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
        finite(least).max(finite(most))
    };
    LastingContact {
        number: 0,
        local_a: lmd.local_a,
        local_b: lmd.local_b,
        normal: pose_a.inverse_transform_vector(&lmd.normal),
        gap: lmd.gap,
        features: [lmd.feature_a, lmd.feature_b].map(|f| (f.kind, f.index)),
        is_found: true,
        dilation: lmd.distance - lmd.gap,
        bend: bend(lmd.curvature_a) + bend(lmd.curvature_b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LmdClass;

    const REACH: f64 = 0.5;

    fn at(x: f64, gap: f64) -> Lmd {
        let lmd = Lmd::plain(LmdClass::Strict, 0, P3::new(x, 0.0, 0.0));
        let point_b = P3::new(x, 0.0, gap);
        Lmd { distance: gap, gap, point_b, local_b: P3::new(x, 0.0, 0.0), ..lmd }
    }

    /// B's coordinates, raised and tilted about y.
    fn pose(z: f64, tilt: f64) -> Pose {
        Pose::new(V3::new(0.0, 0.0, z), V3::new(0.0, tilt, 0.0))
    }

    fn gaps(all: &LastingContacts) -> Vec<(u64, f64, bool)> {
        all.contacts().iter().map(|c| (c.number, c.gap, c.is_found)).collect()
    }

    /// A bar of 20 mm that tips from one end to the other.
    #[test]
    fn the_other_end_is_remembered_with_its_gap() {
        let mut all = LastingContacts::new(20.0);
        all.update(&[at(10.0, 0.0)], &Pose::identity(), &pose(0.0, 0.0), REACH);
        let tilt = 1e-3;
        let low = at(-10.0, 0.0);
        all.update(&[low], &Pose::identity(), &pose(10.0 * tilt, -tilt), REACH);
        let found = gaps(&all);
        assert_eq!(found.len(), 2);
        assert!(found[0].0 == 0 && (found[0].1 - 20.0 * tilt).abs() < 1e-7 && !found[0].2, "{found:?}");
        assert!(found[1] == (1, 0.0, true), "{found:?}");
        // Back again: the same contact.
        all.update(&[at(10.0, 0.0)], &Pose::identity(), &pose(10.0 * tilt, tilt), REACH);
        let found = gaps(&all);
        assert!(found.len() == 2 && found[0] == (0, 0.0, true) && !found[1].2, "{found:?}");
        all.clear();
        assert!(all.contacts().is_empty());
    }

    #[test]
    fn what_has_slid_or_risen_is_forgotten() {
        for (moved, stays) in [
            (V3::new(0.015, 0.0, 0.0), true),
            (V3::new(0.025, 0.0, 0.0), false),
            (V3::new(0.0, 0.0, 0.4), true),
            (V3::new(0.0, 0.0, 0.6), false),
        ] {
            let mut all = LastingContacts::new(20.0);
            all.update(&[at(10.0, 0.0)], &Pose::identity(), &Pose::identity(), REACH);
            let pose_b = Pose::new(moved, V3::zeros());
            all.update(&[at(-10.0, 0.0)], &Pose::identity(), &pose_b, REACH);
            assert_eq!(all.contacts().len(), 1 + usize::from(stays), "{moved}");
        }
        // Strongly curved: less far.
        let mut all = LastingContacts::new(20.0);
        let bent = Lmd { curvature_b: [5.0, 5.0], ..at(10.0, 0.0) };
        all.update(&[bent], &Pose::identity(), &Pose::identity(), REACH);
        let pose_b = Pose::translation(0.015, 0.0, 0.0);
        all.update(&[at(-10.0, 0.0)], &Pose::identity(), &pose_b, REACH);
        assert_eq!(all.contacts().len(), 1);
        all.update(&[], &Pose::identity(), &pose_b, REACH);
        assert!(all.contacts().is_empty());
    }

    /// A rim that rolls round and round: what is remembered does not grow.
    #[test]
    fn few_are_remembered() {
        let mut all = LastingContacts::new(20.0);
        for k in 0..200 {
            all.update(&[at(0.1 * f64::from(k), 0.0)], &Pose::identity(), &Pose::identity(), REACH);
            assert!(all.contacts().len() <= 1 + REMEMBERED);
            assert!(all.contacts().is_sorted_by_key(|c| c.number));
        }
        assert_eq!(all.contacts().len(), 1 + REMEMBERED);
    }
}
