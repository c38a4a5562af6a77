//! Contacts of a pair for engines that ask once a step.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pair::{FeelerVerdict, verdict};
use crate::pointer::{check_room, exclusive, fill, hand_out, put, put_sized, shared, take_back};
use crate::record::{FeelerPose, feature_kind, pose};
use feeler::{ContactPair, LastingContact, LastingContacts, Lmd, P3, Pose};

/// Two bodies and their contacts, with numbers that last from step to step.
#[derive(Debug)]
pub struct FeelerLasting {
    pair: ContactPair,
    contacts: LastingContacts,
    /// Of A and of B in the last query.
    poses: [Pose; 2],
    /// Curvatures by number, ascending: queries tell them of what they find, not of what is remembered.
    curvatures: Vec<(u64, [[f64; 2]; 2])>,
    earlier: Vec<(u64, [[f64; 2]; 2])>,
    /// A query has panicked: what is reused cannot be trusted.
    broken: bool,
}

/// A contact that an engine should get, in millimetres. World coordinates are those of the last query.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeelerLastingContact {
    /// Identity: counts up from contact to contact of a handle, never given twice; fits a double. For
    /// impulses and the like that an engine keeps.
    pub number: u64,
    /// Signed distance of the footpoints along the normal. May be more than the smallest distance nearby,
    /// less by no more than 1e-4 mm; that of a predicted one is along the normal that it will have, and may
    /// be beyond the reach.
    pub gap: f64,
    /// The least gap at the next query without this contact: bodies go on as since the last one, or get
    /// faster as they did, or are turned by the other contacts. For engines that let contacts act only once
    /// they are closed.
    pub gap_ahead: f64,
    /// Footpoint on A, world.
    pub point_a: [f64; 3],
    /// Footpoint on B, world. That of a contact that is remembered may have slid beside the normal.
    pub point_b: [f64; 3],
    /// Unit vector outward of A, world: along it B is pushed away.
    pub normal: [f64; 3],
    /// Footpoint on A in A's own coordinates.
    pub local_a: [f64; 3],
    /// Footpoint on B in B's own coordinates.
    pub local_b: [f64; 3],
    /// The normal in A's own coordinates.
    pub local_normal: [f64; 3],
    /// Smallest and largest normal curvature (1/mm) of A, positive where it bulges, infinite across edges;
    /// NaN where no query has told.
    pub curvature_a: [f64; 2],
    /// The same of B.
    pub curvature_b: [f64; 2],
    /// Where it is on A: 0 a face, 1 an edge, 2 a vertex; number among these.
    pub feature_a: [u32; 2],
    /// Where it is on B.
    pub feature_b: [u32; 2],
    /// Not 0: the last query has found it; else it was found before and still holds, or is predicted to
    /// close within the step: a number that was not there before then.
    pub is_found: u32,
    /// 0.
    pub reserved: u32,
}

/// The contacts of two bodies for an engine that asks once a step: those that queries find, without the
/// samples that carry no load, those found before that still hold, and those that are predicted to close
/// within the step, if bodies go on as they moved between the last two queries. Both bodies may be the same.
///
/// # Safety
/// `a` and `b` are bodies; `out` may be written. Free the handle by `feeler_lasting_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_lasting_new(
    a: *const FeelerBody,
    b: *const FeelerBody,
    out: *mut *mut FeelerLasting,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let (a, b) = (&shared(a, "a")?.0, &shared(b, "b")?.0);
        let lasting = FeelerLasting {
            pair: ContactPair::new(a.clone(), b.clone()),
            contacts: LastingContacts::new(a.size().min(b.size())),
            poses: [Pose::identity(); 2],
            curvatures: Vec::new(),
            earlier: Vec::new(),
            broken: false,
        };
        hand_out(out, lasting)
    })
}

/// Frees the handle; NULL does nothing.
///
/// # Safety
/// `lasting` is NULL or a handle that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_lasting_free(lasting: *mut FeelerLasting) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(lasting);
        Ok(())
    });
}

/// The contacts within `reach` (mm), a little more than what bodies move in a step, and down to `depth`
/// (mm) where the solids are in one another, no deeper than walls are thick: by ascending number, up to
/// `capacity` of them to `out`, how many there are to `count`. Where there is not room for all,
/// `feeler_lasting_contacts` gives them without another query. Poses may be NULL: where the solid is
/// modelled.
///
/// `explained`, which may be NULL, tells whether the contacts explain how the solids stand: false where they
/// interfere without a negative gap, deeper than was looked. After an error, such as `count` being NULL,
/// there are no contacts.
///
/// # Safety
/// `lasting` is a handle that no other thread uses; poses are NULL or poses; `out` has room for `capacity`
/// contacts; `count` may be written; `explained` is NULL or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_lasting_ask(
    lasting: *mut FeelerLasting,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    reach: f64,
    depth: f64,
    out: *mut FeelerLastingContact,
    capacity: usize,
    count: *mut usize,
    explained: *mut bool,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let lasting = exclusive(lasting, "lasting")?;
        // Contacts of other poses than asked for are those of no pose.
        let poses = (pose(pose_a, "pose_a"), pose(pose_b, "pose_b"));
        let asked =
            check_room((out, capacity), count).and_then(|()| lasting.ask(poses.0, poses.1, reach, depth));
        let is_explained = asked.inspect_err(|_| lasting.forget())?;
        if !explained.is_null() {
            put(explained, "explained", is_explained)?;
        }
        fill(lasting.records(), (out, capacity), count)
    })
}

/// The contacts of the last query once more.
///
/// # Safety
/// `lasting` is a handle that no other thread uses; `out` has room for `capacity` contacts; `count` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_lasting_contacts(
    lasting: *const FeelerLasting,
    out: *mut FeelerLastingContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { fill(shared(lasting, "lasting")?.records(), (out, capacity), count) })
}

/// How the solids stood in the last query, as `feeler_pair_verdict`. Computed here where a contact with a
/// negative gap has made it superfluous for the query.
///
/// # Safety
/// `lasting` is a handle that no other thread uses; `out` has the size that its `struct_size` tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_lasting_verdict(
    lasting: *mut FeelerLasting,
    out: *mut FeelerVerdict,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let lasting = exclusive(lasting, "lasting")?;
        lasting.pair.decide();
        put_sized(out, verdict(&lasting.pair), "out")
    })
}

/// Forgets all contacts, as where a simulation is set back: the next query begins a new motion.
///
/// # Safety
/// `lasting` is a handle that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_lasting_clear(lasting: *mut FeelerLasting) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let lasting = exclusive(lasting, "lasting")?;
        lasting.forget();
        lasting.pair.forget();
        Ok(())
    })
}

impl FeelerLasting {
    fn ask(
        &mut self,
        pose_a: Result<Pose, Failure>,
        pose_b: Result<Pose, Failure>,
        reach: f64,
        depth: f64,
    ) -> Result<bool, Failure> {
        let (pose_a, pose_b) = (pose_a?, pose_b?);
        if depth.is_nan() {
            return Err(Failure::new(FeelerResult::Query, "depth is NaN; give a depth of 0 mm or more"));
        }
        if std::mem::replace(&mut self.broken, true) {
            return Err(Failure::new(FeelerResult::Panic, "broken by an earlier panic; free it"));
        }
        let asked = self.contacts.ask(&mut self.pair, &pose_a, &pose_b, reach, depth);
        self.broken = false;
        let is_explained = asked.map_err(Failure::of(FeelerResult::Query))?;
        self.poses = [pose_a, pose_b];
        self.keep_curvatures();
        Ok(is_explained)
    }

    fn forget(&mut self) {
        self.contacts.clear();
        self.curvatures.clear();
    }

    fn keep_curvatures(&mut self) {
        std::mem::swap(&mut self.curvatures, &mut self.earlier);
        self.curvatures.clear();
        let lmds = self.pair.lmds();
        for c in self.contacts.contacts() {
            let is_it = |l: &&Lmd| l.local_a == c.local_a && l.local_b == c.local_b;
            let found = if c.is_found { lmds.iter().find(is_it) } else { None };
            let curvatures = match found {
                Some(l) => Some([l.curvature_a, l.curvature_b]),
                None => curvatures_of(&self.earlier, c.number),
            };
            self.curvatures.extend(curvatures.map(|k| (c.number, k)));
        }
    }

    fn records(&self) -> impl ExactSizeIterator<Item = FeelerLastingContact> {
        let contacts = if self.broken { &[] } else { self.contacts.contacts() };
        contacts.iter().map(|c| self.record(c))
    }

    fn record(&self, c: &LastingContact) -> FeelerLastingContact {
        let [pose_a, pose_b] = &self.poses;
        let world = |pose: &Pose, p: &P3| pose.transform_point(p).into();
        let unknown = [[f64::NAN; 2]; 2];
        let [curvature_a, curvature_b] = curvatures_of(&self.curvatures, c.number).unwrap_or(unknown);
        let [feature_a, feature_b] = c.features.map(|(kind, index)| [feature_kind(kind), index]);
        FeelerLastingContact {
            number: c.number,
            gap: c.gap,
            gap_ahead: c.gap_ahead,
            point_a: world(pose_a, &c.local_a),
            point_b: world(pose_b, &c.local_b),
            normal: pose_a.transform_vector(&c.normal).into(),
            local_a: c.local_a.into(),
            local_b: c.local_b.into(),
            local_normal: c.normal.into(),
            curvature_a,
            curvature_b,
            feature_a,
            feature_b,
            is_found: c.is_found.into(),
            reserved: 0,
        }
    }
}

/// Of a contact in a list by ascending number.
fn curvatures_of(all: &[(u64, [[f64; 2]; 2])], number: u64) -> Option<[[f64; 2]; 2]> {
    all.binary_search_by_key(&number, |c| c.0).ok().map(|i| all[i].1)
}
