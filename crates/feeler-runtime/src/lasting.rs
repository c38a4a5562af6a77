//! Contacts for solvers that look at each pose once.

mod predict;

use crate::{
    Body, ContactPair, FeatureKind, FeatureRef, Lmd, QueryError, QueryOptions, Status, load_bearing,
};
use feeler_geom::{P3, Pose, V3, math};
use feeler_hierarchy::EdgeId;
use nalgebra::UnitQuaternion;
use predict::{Displacement, Held, Loads, Mobility, Row};
use std::sync::Arc;

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
    /// Gap (mm) between the footpoints along the normal, less the dilations. Of a predicted contact the
    /// normal is the one that it will have, and the gap may be beyond the reach.
    pub gap: f64,
    /// Features of A and of B.
    pub features: [(FeatureKind, u32); 2],
    /// The gap that it would have at the next query without itself: if the solids went on as since the last
    /// one, went on to get faster as they did, or were turned by the other contacts, whichever is least.
    /// After [`LastingContacts::update`] alone: the gap.
    pub gap_ahead: f64,
    /// Whether the last query has found it; else it is remembered, if its number was there before the query,
    /// or predicted.
    pub is_found: bool,
    /// What dilations take from the distance (mm).
    dilation: f64,
    /// Sum of the curvatures of both sides (1/mm).
    bend: f64,
    /// Definition of the normal.
    direction: Direction,
    /// Of B in A's coordinates when it was found.
    rotation: UnitQuaternion<f64>,
}

/// Definition of the normal of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    /// The normal of a face.
    Face,
    /// The common perpendicular of two edges with this sine between them.
    Edges(f64),
    /// The connection of the footpoints.
    Connection,
}

/// The contacts of a pair as solvers like them: those that queries find, and beside them those that were
/// found before and still hold.
///
/// A part that rests on a face, tilted by a millionth, has one local minimum, its lowest point: with that
/// alone it tips over to the other side, and back, for ever. So a contact that is found no longer is
/// remembered as two points that ride on their solids. Their gap along the normal may be more than the
/// smallest one nearby, never less by more than a ten-thousandth of a millimetre. With s the distance by
/// which the points have slid past each other, θ the relative rotation since they were found and κ the sum
/// of the curvatures, the difference is at most s θ + κ s² / 2 where one of them is on a face. Between two
/// edges that cross at an angle φ the common perpendicular turns by up to θ / sin φ, and s counts along them
/// as s / sin φ. With a vertex on an edge or a vertex it is the difference between the distance and its part
/// along the normal. The contact is dropped as soon as these are more, or the points have slid by more than
/// a thousandth of the smaller solid, or are out of reach, or it is the oldest of many.
///
/// Contacts of one place are one, whatever features they are on: numbers stay where [`Lmd::id`] changes from
/// feature to feature.
///
/// Some contacts are predicted. A part that strikes with one end turns its other end down within the step,
/// and what that meets is no minimum before. So [`LastingContacts::ask`] lets the solids go on as they have
/// moved since the last query, held by the contacts that it has found, and asks the pair there: contacts that
/// are closed there, although the found ones are open, are added with the gaps that they have now. They are
/// the more complete the more evenly a solver steps; at rest nothing is predicted. The lighter solid, for one
/// density, is taken to be the one that moves.
#[derive(Debug)]
pub struct LastingContacts {
    slip: f64,
    contacts: Vec<LastingContact>,
    next: u64,
    chosen: Vec<usize>,
    found: Vec<LastingContact>,
    /// Of B in A's coordinates at the last query.
    pose_ab: Option<Pose>,
    /// What led there from the one before.
    motion: Displacement,
    /// How that differs from the one before.
    change: Displacement,
    /// What contacts were predicted to leave of the motion, at the last pose.
    held: Option<Displacement>,
    /// The same at the pose before: what began the motion.
    began: Option<Displacement>,
    rows: Vec<Row>,
    loads: Loads,
    predicted: Vec<Predicted>,
    /// The same bodies, asked at predicted poses: it keeps what it knows of those.
    ahead: Option<Box<ContactPair>>,
}

/// A contact at a predicted pose.
#[derive(Clone, Copy, Debug)]
struct Predicted {
    contact: LastingContact,
    /// The displacement to the pose.
    at: Displacement,
}

/// Part of the sum of walls down to which contacts are looked for.
const WALLS: f64 = 0.45;
/// Depth (mm) down to which contacts are looked for first.
const SHALLOW: f64 = 0.05;
/// How far footpoints may have slid, as a part of a size.
const SLIP: f64 = 1e-3;
/// Error of a remembered gap (mm).
const ERROR: f64 = 1e-4;
/// Contacts that are remembered at most.
const REMEMBERED: usize = 16;
/// Contacts that are predicted at most.
const PREDICTED: usize = 16;
/// How often a pair is asked at predicted poses: each time contacts are found there, the prediction changes.
const PREDICTIONS: u32 = 3;
/// Displacement between two queries (mm) below which nothing is predicted: no more than that is closed.
const STILL: f64 = 5e-4;
/// Displacement above which the motion is none that goes on, as a multiple of the reach.
const JUMP: f64 = 4.0;

impl LastingContacts {
    /// Of a pair whose smaller solid has that size (mm).
    #[must_use]
    pub fn new(size: f64) -> Self {
        Self {
            slip: SLIP * size,
            contacts: Vec::new(),
            next: 0,
            chosen: Vec::new(),
            found: Vec::new(),
            pose_ab: None,
            motion: Displacement::zero(),
            change: Displacement::zero(),
            held: None,
            began: None,
            rows: Vec::new(),
            loads: Loads::default(),
            predicted: Vec::new(),
            ahead: None,
        }
    }

    /// The contacts, by number.
    #[must_use]
    pub fn contacts(&self) -> &[LastingContact] {
        &self.contacts
    }

    /// Forgets all: the next query begins a new motion.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.halt();
        if let Some(pair) = &mut self.ahead {
            pair.forget();
        }
    }

    /// Forgets how the solids have moved, and keeps the contacts: they were set where they are.
    pub fn halt(&mut self) {
        self.pose_ab = None;
        self.clear_motion();
    }

    fn clear_motion(&mut self) {
        self.motion = Displacement::zero();
        self.change = Displacement::zero();
        (self.held, self.began) = (None, None);
    }

    /// Asks a pair for its contacts within `reach` (mm), and down to `depth` where the solids are in one
    /// another. The answer is that of [`ContactPair::query_deep`].
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
        // Of a contact along a line or an area the corners carry all loads.
        let conformal_spacing = Some(pair.body_a().size().max(pair.body_b().size()));
        let options = QueryOptions {
            conformal_spacing,
            load_bearing: true,
            penetration: depth,
            ..QueryOptions::within(reach)
        };
        let is_explained =
            pair.query_deep(pose_a, pose_b, &options, SHALLOW).inspect_err(|_| self.clear())?;
        let bodies = [pair.body_a().as_ref(), pair.body_b().as_ref()];
        self.update_with(pair.lmds(), pose_a, pose_b, reach, Some(bodies));
        self.predict(pair, &pose_a.inv_mul(pose_b), &options).inspect_err(|_| self.clear())?;
        Ok(is_explained)
    }

    /// Adds contacts that are closed one step on.
    fn predict(&mut self, pair: &ContactPair, now: &Pose, options: &QueryOptions) -> Result<(), QueryError> {
        let mobility = Mobility::new(pair.body_a(), pair.body_b(), now);
        let radius = pair.body_a().size().min(pair.body_b().size());
        let motion = self.pose_ab.map(|before| mobility.between(&before, now));
        match motion.filter(|motion| motion.reach(radius) <= JUMP * options.d_max) {
            // Asked again where it stands: it goes on as it did.
            Some(_) if self.pose_ab == Some(*now) => self.held = None,
            Some(motion) => {
                self.change = motion.minus(&self.motion);
                self.motion = motion;
                self.began = self.held.take();
            }
            None => self.clear_motion(),
        }
        self.pose_ab = Some(*now);
        // What falls goes faster and faster; a blow does not go on.
        let is_smooth = self.change.reach(radius) <= self.motion.reach(radius);
        let faster = if is_smooth { self.motion.plus(&self.change) } else { self.motion };
        let ahead = [self.motion, faster].map(|d| mobility.moved(now, &d));
        let gap_ahead = |c: &LastingContact| c.gap_at(&ahead[0]).min(c.gap_at(&ahead[1]));
        for c in &mut self.contacts {
            c.gap_ahead = gap_ahead(c);
        }
        // After a blow velocities are no longer what displacements were: they are those that it has left.
        let motions = [Some(self.motion), self.began];
        let is_of = |p: &ContactPair| {
            Arc::ptr_eq(p.body_a(), pair.body_a()) && Arc::ptr_eq(p.body_b(), pair.body_b())
        };
        let mut asked = self.ahead.take().filter(|p| is_of(p));
        self.predicted.clear();
        for free in motions.into_iter().flatten() {
            let reach = free.reach(radius);
            if !self.contacts.is_empty() && STILL < reach && reach <= JUMP * options.d_max {
                let fresh = || Box::new(ContactPair::new(pair.body_a().clone(), pair.body_b().clone()));
                let asked = asked.get_or_insert_with(fresh);
                let held = self.ask_ahead(asked, now, &mobility, &free, options)?;
                let is_other = held.velocity.minus(&free).reach(radius) > STILL;
                self.held = self.held.or(is_other.then_some(held.velocity));
            }
        }
        self.ahead = asked;
        let depth = |p: &Predicted| p.contact.gap;
        let features = |p: &Predicted| p.contact.features;
        self.predicted
            .sort_unstable_by(|p, q| depth(p).total_cmp(&depth(q)).then(features(p).cmp(&features(q))));
        for p in self.predicted.drain(..).take(PREDICTED) {
            // It is no minimum yet, and not closed: else the query at this pose would have found it.
            let gap = p.contact.gap_at(now).max(0.0);
            let gap_ahead = gap_ahead(&p.contact).min(p.contact.gap_ahead);
            let number = self.next;
            self.next += 1;
            self.contacts.push(LastingContact { number, gap, gap_ahead, is_found: false, ..p.contact });
        }
        Ok(())
    }

    /// Predicts contacts of solids that go on by a displacement, as far as contacts let them.
    fn ask_ahead(
        &mut self,
        pair: &mut ContactPair,
        now: &Pose,
        mobility: &Mobility,
        free: &Displacement,
        options: &QueryOptions,
    ) -> Result<Held, QueryError> {
        let mut held = Held { moved: *free, velocity: *free };
        let radius = pair.body_a().size().min(pair.body_b().size());
        // Only what is closed counts.
        let options = QueryOptions { d_max: 0.0, ..*options };
        for _ in 0..PREDICTIONS {
            self.rows.clear();
            let none = Displacement::zero();
            // Solvers take penetrations back softly.
            let known = self.contacts.iter().map(|c| (c, c.gap.max(0.0), &none));
            let new = self.predicted.iter().map(|p| (&p.contact, p.contact.gap, &p.at));
            for (c, gap, at) in known.chain(new) {
                let point = mobility.moved(now, at) * c.local_b;
                self.rows.push(mobility.row(&c.normal, &point, gap, at));
            }
            held = mobility.held(free, &self.rows, &mut self.loads);
            let then = mobility.moved(now, &held.moved);
            // What is open now is in no deeper than it has moved.
            let shallow = SHALLOW.max(held.moved.reach(radius));
            pair.query_deep(&Pose::identity(), &then, &options, shallow)?;
            load_bearing(pair.lmds(), &mut self.chosen);
            let mut is_new = false;
            for &k in &self.chosen {
                let bodies = [pair.body_a().as_ref(), pair.body_b().as_ref()];
                let contact = found(&pair.lmds()[k], &Pose::identity(), then.rotation, Some(bodies));
                let faces_the_same = |c: &&LastingContact| c.normal.dot(&contact.normal) > SAME;
                let is_in = self.contacts.iter().filter(faces_the_same).map(|c| c.gap).fold(0.0, f64::min);
                if contact.gap >= is_in - ERROR {
                    continue;
                }
                let is_it = |p: &Predicted| {
                    p.contact.features == contact.features && p.contact.is_at(&contact, self.slip)
                };
                let predicted = Predicted { contact, at: held.moved };
                match self.predicted.iter_mut().find(|p| is_it(p)) {
                    Some(p) => *p = predicted,
                    None => {
                        self.predicted.push(predicted);
                        is_new = true;
                    }
                }
            }
            if !is_new {
                break;
            }
        }
        // Rows are those of the last solution: contacts that were found after it come behind them.
        let known = self.contacts.iter_mut();
        let all = known.chain(self.predicted.iter_mut().map(|p| &mut p.contact));
        for ((c, row), opened) in all.zip(&self.rows).zip(&self.loads.opened) {
            c.gap_ahead = c.gap_ahead.min(row.gap_after(&held.moved) - opened);
        }
        Ok(held)
    }

    /// Takes what a query at these poses has found within `reach` (mm): of conformal sets what
    /// [`load_bearing()`] chooses.
    pub fn update(&mut self, lmds: &[Lmd], pose_a: &Pose, pose_b: &Pose, reach: f64) {
        self.update_with(lmds, pose_a, pose_b, reach, None);
    }

    /// [`LastingContacts::update`] with the bodies, whose edges give the angles between them; without them,
    /// two edges are treated as a vertex on an edge.
    fn update_with(
        &mut self,
        lmds: &[Lmd],
        pose_a: &Pose,
        pose_b: &Pose,
        reach: f64,
        bodies: Option<[&Body; 2]>,
    ) {
        load_bearing(lmds, &mut self.chosen);
        self.found.clear();
        let pose_ab = pose_a.inv_mul(pose_b);
        let found = |&k: &usize| found(&lmds[k], pose_a, pose_ab.rotation, bodies);
        self.found.extend(self.chosen.iter().map(found));
        if self.found.is_empty() {
            // Nothing is within reach: nothing is to be remembered.
            self.contacts.clear();
        }
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
            let holds = remembered < REMEMBERED && c.still_holds(&pose_ab, self.slip, reach);
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

impl Clone for LastingContacts {
    /// What searches remember is not copied: it is found again.
    fn clone(&self) -> Self {
        Self {
            slip: self.slip,
            contacts: self.contacts.clone(),
            next: self.next,
            pose_ab: self.pose_ab,
            motion: self.motion,
            change: self.change,
            held: self.held,
            began: self.began,
            ..Self::new(0.0)
        }
    }
}

impl ContactPair {
    /// A query for contacts down to [`QueryOptions::penetration`], or as far as walls are thick enough to
    /// separate their sides. Deep contacts take several times as long to find as shallow ones: the pair is
    /// first asked down to `shallow` (mm), and again only where it interferes without a negative gap. A
    /// verdict is computed only where no minimum has a negative gap
    /// ([`QueryOptions::verdict_unless_pressed`]); elsewhere [`ContactPair::decide`] computes it on demand.
    ///
    /// Returns whether the contacts explain how the solids stand: false where they still interfere without a
    /// negative gap.
    ///
    /// # Errors
    /// As [`ContactPair::query`].
    pub fn query_deep(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        options: &QueryOptions,
        shallow: f64,
    ) -> Result<bool, QueryError> {
        let deepest = options.penetration.min(WALLS * (self.body_a().wall() + self.body_b().wall()));
        for penetration in [shallow.min(deepest), deepest] {
            let options = QueryOptions { penetration, verdict_unless_pressed: true, ..*options };
            let is_pressed = self.query(pose_a, pose_b, &options)?.iter().any(|l| l.gap < 0.0);
            if is_pressed || self.status() != Some(Status::Interfering) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Cosine of the angle between normals of contacts that are one.
const SAME: f64 = 0.9;

impl LastingContact {
    fn is_at(&self, other: &Self, slip: f64) -> bool {
        (self.local_a - other.local_a).norm() <= slip && self.normal.dot(&other.normal) > SAME
    }

    /// Gap along the normal where B is at a pose.
    fn gap_at(&self, pose_ab: &Pose) -> f64 {
        (pose_ab * self.local_b - self.local_a).dot(&self.normal) - self.dilation
    }

    /// Renews the gap from where the points are. Whether that may be relied on.
    fn still_holds(&mut self, pose_ab: &Pose, slip: f64, reach: f64) -> bool {
        let between = pose_ab * self.local_b - self.local_a;
        let along = between.dot(&self.normal);
        let slid = (between - self.normal * along).norm();
        self.gap = along - self.dilation;
        self.gap_ahead = self.gap;
        let turned = pose_ab.rotation.angle_to(&self.rotation);
        let error = match self.direction {
            Direction::Face => slid * (0.5 * self.bend * slid + turned),
            Direction::Edges(sine) => {
                let (slid, turned) = (slid / sine, turned / sine);
                slid * (0.5 * self.bend * slid + turned * sine) + 0.5 * along.abs() * turned * turned
            }
            Direction::Connection => math::hypot(slid, along) - along.abs(),
        };
        slid <= slip && error <= ERROR && self.gap <= reach
    }
}

fn found(
    lmd: &Lmd,
    pose_a: &Pose,
    rotation: UnitQuaternion<f64>,
    bodies: Option<[&Body; 2]>,
) -> LastingContact {
    // An edge or a vertex against a face stays where it is: what bends is the face.
    let finite = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
    let bend = |[least, most]: [f64; 2]| finite(least).max(finite(most));
    let is_face = |f: &FeatureRef| f.kind == FeatureKind::Face;
    let has_face = is_face(&lmd.feature_a) || is_face(&lmd.feature_b);
    LastingContact {
        number: 0,
        local_a: lmd.local_a,
        local_b: lmd.local_b,
        normal: pose_a.inverse_transform_vector(&lmd.normal),
        gap: lmd.gap,
        gap_ahead: lmd.gap,
        features: [lmd.feature_a, lmd.feature_b].map(|f| (f.kind, f.index)),
        is_found: true,
        dilation: lmd.distance - lmd.gap,
        bend: bend(lmd.curvature_a) + bend(lmd.curvature_b),
        direction: match bodies {
            _ if has_face => Direction::Face,
            Some(bodies) => {
                sine_of_edges(lmd, bodies, &rotation).map_or(Direction::Connection, Direction::Edges)
            }
            None => Direction::Connection,
        },
        rotation,
    }
}

/// Sine of the angle between two edges in contact, which are not parallel; `None` with a vertex. `rotation`:
/// of B in A's coordinates.
fn sine_of_edges(lmd: &Lmd, [a, b]: [&Body; 2], rotation: &UnitQuaternion<f64>) -> Option<f64> {
    let tangent = |body: &Body, f: &FeatureRef| {
        (f.kind == FeatureKind::Edge).then(|| body.edge(EdgeId(f.index)).curve.tangent(f.uv[0])).flatten()
    };
    let (s, t) = (tangent(a, &lmd.feature_a)?, tangent(b, &lmd.feature_b)?);
    let sine = s.cross(&(rotation * t)).norm();
    (sine > 0.0).then_some(sine)
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

    /// A ball that rolls and slides a little over a plane, in motions by chance, as B and as A: its true gap
    /// is that of its centre. What is remembered never pushes apart what is open.
    #[test]
    fn remembered_gaps_are_no_less_than_those_of_a_ball_on_a_plane() {
        use rand::{Rng, SeedableRng};
        let mut random = rand::rngs::SmallRng::seed_from_u64(23);
        let (mut kept, far) = (0, at(500.0, 0.0));
        for case in 0..4_000 {
            let is_b = case % 2 == 0;
            let radius = math::powf(10.0, random.random_range(-1.0..2.0));
            let gap = random.random_range(-0.02..0.2);
            let (local_a, local_b) = match is_b {
                true => (P3::origin(), P3::new(0.0, 0.0, -radius)),
                false => (P3::new(0.0, 0.0, radius), P3::origin()),
            };
            let curvatures = if is_b { [0.0, 1.0 / radius] } else { [1.0 / radius, 0.0] };
            let [curvature_a, curvature_b] = curvatures.map(|c| [c; 2]);
            let lmd = Lmd { local_a, local_b, curvature_a, curvature_b, ..at(0.0, gap) };
            let size = 4.0 * radius;
            let mut all = LastingContacts::new(size);
            let start = Pose::translation(0.0, 0.0, radius + gap);
            all.update(&[lmd], &Pose::identity(), &start, REACH);
            let scale = SLIP * size * math::powf(10.0, random.random_range(-3.0..0.3));
            let mut any = || V3::from_fn(|_, _| random.random_range(-1.0..1.0)) * scale;
            let (moved, spun) = (any(), any() / radius);
            // Every other one rolls: a rotation that goes with the displacement.
            let spun = if case % 4 < 2 { spun } else { V3::z().cross(&moved) / radius };
            let pose = Pose::new(start.translation.vector + moved, spun);
            // Of the ball's centre over the plane.
            let normal = if is_b { V3::z() } else { pose.rotation * V3::z() };
            let true_gap = normal.dot(&pose.translation.vector) - radius;
            all.update(&[far], &Pose::identity(), &pose, REACH);
            if let Some(c) = all.contacts().iter().find(|c| !c.is_found) {
                kept += 1;
                assert!(c.gap >= true_gap - 1.01 * ERROR, "{case}: {} {true_gap}", c.gap);
            }
        }
        assert!((1_000..3_999).contains(&kept), "{kept}");
    }

    /// Two straight edges that cross at an angle, moved against each other: the true gap is that along their
    /// common perpendicular.
    #[test]
    fn remembered_gaps_are_no_less_than_those_of_crossing_edges() {
        use rand::{Rng, SeedableRng};
        let mut random = rand::rngs::SmallRng::seed_from_u64(46);
        let (mut kept, mut closed) = (0, 0);
        for case in 0..4_000 {
            let mut any = |size: f64| V3::from_fn(|_, _| random.random_range(-size..size));
            let (s, n) = (V3::x(), V3::z());
            let angle = any(1.5).x.abs() + 0.05;
            let t = V3::new(math::cos(angle), math::sin(angle), 0.0);
            let gap = any(0.05).x * if case % 2 == 0 { 1.0 } else { 0.0 };
            let mut contact = found(&at(0.0, gap), &Pose::identity(), UnitQuaternion::identity(), None);
            contact.local_b = P3::new(0.0, 0.0, gap);
            contact.direction = Direction::Edges(s.cross(&t).norm());
            let scale = math::powf(10.0, any(1.5).x - 2.5);
            let pose = Pose::new(any(0.05 * scale), any(scale));
            // Direction of B's edge and a point of it.
            let (turned, point) = (pose.rotation * t, pose * contact.local_b);
            let across = s.cross(&turned).normalize();
            let true_gap = across.dot(&point.coords) * across.dot(&n).signum();
            if contact.still_holds(&pose, 0.05, REACH) {
                kept += 1;
                closed += usize::from(gap == 0.0);
                assert!(contact.gap >= true_gap - 1.01 * ERROR, "{case}: {} {true_gap}", contact.gap);
            }
        }
        assert!((1_000..3_999).contains(&kept) && closed > 500, "{kept} {closed}");
    }
}
