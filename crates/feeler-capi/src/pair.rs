//! Pairs of bodies: queries and verdicts.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{exclusive, fill, hand_out, put, put_sized, shared, take_back};
use crate::record::{
    FeelerContact, FeelerPose, FeelerQueryOptions, FeelerStatus, options as read_options, pose,
};
use feeler::{ContactPair, Overlap, OverlapMethod, Verdict};

/// Two bodies, A and B, with the results of earlier queries that the next query reuses.
#[derive(Debug)]
pub struct FeelerContactPair {
    pair: ContactPair,
    /// Whether a query has panicked, so that the cached results are unreliable. Further queries then
    /// return [`FeelerResult::Panic`].
    broken: bool,
}

/// Verdict of a query: whether two solids interfere, and the proof.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerVerdict {
    /// `sizeof(FeelerVerdict)`, set by the caller.
    pub struct_size: u32,
    /// Relation of the solids; `FEELER_STATUS_UNKNOWN` if no verdict was computed. The members from
    /// `witness` to `undecided_count` are 0 then.
    pub status: FeelerStatus,
    /// Smallest distance of a contact (mm); infinite if no contact is within `d_max`.
    pub min_distance: f64,
    /// Tolerance of the query (mm): lengths below it counted as zero.
    pub tolerance: f64,
    /// Point inside both solids (mm, world coordinates) if they interfere; else zeros.
    pub witness: [f64; 3],
    /// Lower bound of the distance (mm) of the witness from the boundary of A. No translation shorter
    /// than `inside_a + inside_b` separates the solids. The depth of the interference is this sum, or
    /// `-min_distance` if that is larger.
    pub inside_a: f64,
    /// Lower bound of the distance (mm) of the witness from the boundary of B.
    pub inside_b: f64,
    /// Number of locations where interference could be neither found nor excluded.
    pub undecided_count: u32,
    /// Number of pairs of areas (pieces of features) that may have more minima than were found, if the
    /// query had the option `certified`; else 0.
    pub undecided_pairs: u32,
}

/// Method by which the volume of an overlap was computed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeelerOverlapMethod {
    /// Integrals over the parts of the faces of each solid that are inside the other one.
    Faces = 0,
    /// Integrals over faces at small opposite displacements of B, extrapolated to no displacement, because
    /// faces coincide or are tangent to each other.
    Displaced = 1,
    /// Lengths of parallel lines in both solids; less exact.
    Lines = 2,
}

/// Common part of two interfering solids.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerOverlap {
    /// `sizeof(FeelerOverlap)`, set by the caller.
    pub struct_size: u32,
    /// Method by which the volume was computed.
    pub method: FeelerOverlapMethod,
    /// Volume (mm³).
    pub volume: f64,
    /// Estimated error of the volume (mm³); not a bound.
    pub error: f64,
    /// Centroid (mm, world coordinates).
    pub centroid: [f64; 3],
    /// Smallest coordinates of the box around the common part (mm, world coordinates).
    pub bbox_min: [f64; 3],
    /// Largest coordinates of the box around the common part (mm, world coordinates).
    pub bbox_max: [f64; 3],
}

impl From<&Overlap> for FeelerOverlap {
    fn from(overlap: &Overlap) -> Self {
        let method = match overlap.method {
            OverlapMethod::Faces => FeelerOverlapMethod::Faces,
            OverlapMethod::Displaced => FeelerOverlapMethod::Displaced,
            OverlapMethod::Lines => FeelerOverlapMethod::Lines,
        };
        Self {
            struct_size: 0,
            method,
            volume: overlap.volume,
            error: overlap.error,
            centroid: overlap.centroid.into(),
            bbox_min: overlap.min.into(),
            bbox_max: overlap.max.into(),
        }
    }
}

/// Creates a pair of the bodies A (`a`) and B (`b`), which may be the same body. Free it with
/// `feeler_contact_pair_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_new(
    a: *const FeelerBody,
    b: *const FeelerBody,
    out: *mut *mut FeelerContactPair,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = ContactPair::new(shared(a, "a")?.0.clone(), shared(b, "b")?.0.clone());
        hand_out(out, FeelerContactPair { pair, broken: false })
    })
}

/// Frees a pair.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_free(pair: *mut FeelerContactPair) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(pair);
        Ok(())
    });
}

/// Computes all local minima of the distance up to the option `d_max` and writes them to `out` by
/// ascending distance. `pose_a` and `pose_b` map the bodies' coordinates to the world; NULL is the
/// identity. If `capacity` is less than `count`, `feeler_contact_pair_contacts` returns all contacts
/// without another query. `options` may be NULL for the defaults. After an error the pair has no
/// contacts and no verdict.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_query(
    pair: *mut FeelerContactPair,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    options: *const FeelerQueryOptions,
    out: *mut FeelerContact,
    capacity: usize,
    count: *mut usize,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = exclusive(pair, "pair")?;
        let (pose_a, pose_b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        let options = read_options(options)?;
        if std::mem::replace(&mut pair.broken, true) {
            return Err(Failure::new(
                FeelerResult::Panic,
                "an earlier call of this pair has panicked: free the pair",
            ));
        }
        let contacts = pair.pair.query(&pose_a, &pose_b, &options);
        pair.broken = false;
        let contacts = contacts.map_err(Failure::of(FeelerResult::Query))?;
        fill(contacts.iter().map(FeelerContact::from), (out, capacity), count)
    })
}

/// Writes the contacts of the last query to `out`, by ascending distance.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_contacts(
    pair: *const FeelerContactPair,
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

/// Writes the verdict of the last query to `out`. The status is `FEELER_STATUS_UNKNOWN` before the first
/// query, after an error, and if the options skipped the verdict.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_verdict(
    pair: *const FeelerContactPair,
    out: *mut FeelerVerdict,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put_sized(out, verdict(&shared(pair, "pair")?.pair), "out") })
}

/// Writes the verdict of the last query to `out` and computes it first if the options skipped it. The
/// contacts do not change.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_decide(
    pair: *mut FeelerContactPair,
    out: *mut FeelerVerdict,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = &mut exclusive(pair, "pair")?.pair;
        pair.decide();
        put_sized(out, verdict(pair), "out")
    })
}

/// Computes a translation of B (mm, world coordinates) after which the solids no longer interfere:
/// short, but not proven to be the shortest. Writes to `interfere` whether the solids interfere at
/// `pose_a` and `pose_b`, and to `out` the three coordinates of the translation, zeros if they do not
/// interfere. The function computes up to 200 verdicts. `options` may be NULL for the defaults. The
/// contacts of the last query do not change.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_separating_translation(
    pair: *mut FeelerContactPair,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    options: *const FeelerQueryOptions,
    interfere: *mut bool,
    out: *mut f64,
) -> FeelerResult {
    // SAFETY: by the caller's promise; three numbers have the layout of an array of three.
    enter(|| unsafe {
        let pair = exclusive(pair, "pair")?;
        let (pose_a, pose_b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        let options = read_options(options)?;
        let translation = pair.pair.separating_translation(&pose_a, &pose_b, &options);
        let translation = translation.map_err(Failure::of(FeelerResult::Query))?;
        put(interfere, "interfere", translation.is_some())?;
        put(out.cast(), "out", translation.map_or([0.0; 3], <[f64; 3]>::from))
    })
}

/// Computes volume, centroid and box of the common part of the two solids at `pose_a` and `pose_b`. Writes
/// to `has_overlap` whether the solids interfere there; it is false for sheets, which have no volume. `out`
/// is left unchanged if it is false. The computation takes longer than a query. `options` may be NULL for the
/// defaults. The contacts of the last query do not change.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_overlap(
    pair: *mut FeelerContactPair,
    pose_a: *const FeelerPose,
    pose_b: *const FeelerPose,
    options: *const FeelerQueryOptions,
    has_overlap: *mut bool,
    out: *mut FeelerOverlap,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let pair = exclusive(pair, "pair")?;
        let (pose_a, pose_b) = (pose(pose_a, "pose_a")?, pose(pose_b, "pose_b")?);
        let options = read_options(options)?;
        let overlap = pair.pair.overlap(&pose_a, &pose_b, &options);
        let overlap = overlap.map_err(Failure::of(FeelerResult::Query))?;
        put(has_overlap, "has_overlap", overlap.is_some())?;
        overlap.map_or(Ok(()), |overlap| put_sized(out, FeelerOverlap::from(&overlap), "out"))
    })
}

/// Record of the verdict of the last query of a pair; its status is `Unknown` if no verdict was
/// computed.
pub(crate) fn verdict(pair: &ContactPair) -> FeelerVerdict {
    let min_distance = pair.min_distance().unwrap_or(f64::INFINITY);
    let undecided_pairs = pair.stats().undecided_pairs;
    verdict_record(pair.verdict(), min_distance, pair.tolerances().tol, undecided_pairs)
}

/// Record of a verdict. If `verdict` is `None` because none was computed, the status is `Unknown`.
/// `min_distance` (mm) is the smallest distance of a contact, `tolerance` (mm) that of the query, and
/// `undecided_pairs` the number of pairs of areas that may have further minima.
pub(crate) fn verdict_record(
    verdict: Option<&Verdict>,
    min_distance: f64,
    tolerance: f64,
    undecided_pairs: u64,
) -> FeelerVerdict {
    let witness = verdict.and_then(|v| v.witness);
    let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    FeelerVerdict {
        struct_size: 0,
        status: FeelerStatus::of(verdict.map(|v| v.status)),
        min_distance,
        tolerance,
        witness: witness.map_or([0.0; 3], |w| w.point.into()),
        inside_a: witness.map_or(0.0, |w| w.inside_a),
        inside_b: witness.map_or(0.0, |w| w.inside_b),
        undecided_count: count(verdict.map_or(0, |v| v.undecided.len() as u64)),
        undecided_pairs: count(undecided_pairs),
    }
}

/// Discards the results of earlier queries. The contacts of the next query get new ids.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_contact_pair_forget(pair: *mut FeelerContactPair) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        exclusive(pair, "pair")?.pair.forget();
        Ok(())
    })
}
