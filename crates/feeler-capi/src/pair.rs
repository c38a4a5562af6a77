//! Pairs of bodies.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{exclusive, fill, hand_out, put_sized, shared, take_back};
use crate::record::{FeelerContact, FeelerOptions, FeelerPose, FeelerStatus, options, pose};
use feeler::{ContactPair, Verdict};

/// Two bodies and everything their queries reuse.
#[derive(Debug)]
pub struct FeelerPair {
    pair: ContactPair,
    /// A query has panicked: what is reused cannot be trusted.
    broken: bool,
}

/// How two solids stood in the last query, with what proves it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerVerdict {
    /// `sizeof(FeelerVerdict)`, set by the caller.
    pub struct_size: u32,
    /// The outcome.
    pub status: FeelerStatus,
    /// Smallest distance (mm) of a minimum; infinite where none was within `d_max`.
    pub distance: f64,
    /// Lengths below this (mm) were zero.
    pub tolerance: f64,
    /// Of interfering solids: a point inside both, world.
    pub witness: [f64; 3],
    /// Lower bound of its distance (mm) to the boundary of A. No translation shorter than `inside_a +
    /// inside_b` parts the solids.
    pub inside_a: f64,
    /// The same for B.
    pub inside_b: f64,
    /// Places where interference could not be decided.
    pub undecided_places: u32,
    /// In a certified query: solves that may have more minima than were found.
    pub undecided_solves: u32,
}

/// A pair of bodies; both may be the same.
///
/// # Safety
/// `a` and `b` are bodies; `out` may be written. Free the pair by `feeler_pair_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_new(
    a: *const FeelerBody,
    b: *const FeelerBody,
    out: *mut *mut FeelerPair,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = ContactPair::new(shared(a, "a")?.0.clone(), shared(b, "b")?.0.clone());
        hand_out(out, FeelerPair { pair, broken: false })
    })
}

/// Frees a pair; NULL does nothing.
///
/// # Safety
/// `pair` is NULL or a pair that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_free(pair: *mut FeelerPair) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(pair);
        Ok(())
    });
}

/// All local minimal distances up to `d_max`, by ascending distance: up to `capacity` of them to `out`, how
/// many there are to `count`. Where there is not room for all, `feeler_pair_contacts` gives them without
/// another query. Poses may be NULL: where the solid is modelled. Options may be NULL: the defaults.
///
/// # Safety
/// `pair` is a pair that no other thread uses; poses are NULL or poses; `options` is NULL or has the size
/// that its `struct_size` tells; `out` has room for `capacity` contacts; `count` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_query(
    pair: *mut FeelerPair,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    asked: *const FeelerOptions,
    out: *mut FeelerContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = exclusive(pair, "pair")?;
        let (pose_a, pose_b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        let options = options(asked)?;
        if std::mem::replace(&mut pair.broken, true) {
            return Err(Failure::new(FeelerResult::Panic, "the pair is broken by an earlier panic; free it"));
        }
        let contacts = pair.pair.query(&pose_a, &pose_b, &options);
        pair.broken = false;
        let contacts = contacts.map_err(Failure::of(FeelerResult::Query))?;
        fill(contacts.iter().map(FeelerContact::from), (out, capacity), count)
    })
}

/// The minima of the last query once more.
///
/// # Safety
/// `pair` is a pair that no other thread uses; `out` has room for `capacity` contacts; `count` may be
/// written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_contacts(
    pair: *const FeelerPair,
    out: *mut FeelerContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let contacts = shared(pair, "pair")?.pair.contacts();
        fill(contacts.iter().map(FeelerContact::from), (out, capacity), count)
    })
}

/// How the solids stood in the last query; the status is `Unknown` before the first one and after an error.
///
/// # Safety
/// `pair` is a pair that no other thread uses; `out` has the size that its `struct_size` tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_verdict(
    pair: *const FeelerPair,
    out: *mut FeelerVerdict,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put_sized(out, verdict(&shared(pair, "pair")?.pair), "out") })
}

/// Verdict of the last query, computed on demand if its option `decide` skipped it. The contacts do not
/// change.
///
/// # Safety
/// No other thread uses `pair`; `out` has the size given by its `struct_size`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_decide(pair: *mut FeelerPair, out: *mut FeelerVerdict) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = &mut exclusive(pair, "pair")?.pair;
        pair.decide();
        put_sized(out, verdict(pair), "out")
    })
}

pub(crate) fn verdict(pair: &ContactPair) -> FeelerVerdict {
    let distance = pair.min_distance().unwrap_or(f64::INFINITY);
    let undecided_solves = pair.stats().undecided_pairs;
    verdict_record(pair.verdict(), distance, pair.tolerances().tol, undecided_solves)
}

/// Record of a verdict, with the smallest distance (mm) of a minimum, the tolerance (mm) and the number of
/// undecided solves.
pub(crate) fn verdict_record(
    verdict: Option<&Verdict>,
    distance: f64,
    tolerance: f64,
    undecided_solves: u64,
) -> FeelerVerdict {
    let witness = verdict.and_then(|v| v.witness);
    let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    FeelerVerdict {
        struct_size: 0,
        status: FeelerStatus::of(verdict.map(|v| v.status)),
        distance,
        tolerance,
        witness: witness.map_or([0.0; 3], |w| w.point.into()),
        inside_a: witness.map_or(0.0, |w| w.inside_a),
        inside_b: witness.map_or(0.0, |w| w.inside_b),
        undecided_places: count(verdict.map_or(0, |v| v.undecided.len() as u64)),
        undecided_solves: count(undecided_solves),
    }
}

/// Begins a new motion: what the next query finds is new.
///
/// # Safety
/// `pair` is a pair that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_pair_forget(pair: *mut FeelerPair) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        exclusive(pair, "pair")?.pair.forget();
        Ok(())
    })
}
