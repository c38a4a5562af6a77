//! Identities of minima from one query to the next.
//!
//! Minima of one pair of features are distinguished by a branch number. A minimum takes over the branch,
//! and with it the identity, of the nearest minimum of the last query between the same features, if its
//! distance has changed by at most the displacement of B's points since then, and if the footpoints of a
//! member of a conformal set have moved by at most [`MAX_MEMBER_RUN`] times that. Footpoints are compared in
//! the frames of their own solids. Each branch is taken over once, by the nearest minimum. A new minimum gets
//! the smallest branch number that is unused in this query and was unused in the last one.
//!
//! # Source
//! MATH §10 (an identity that persists from step to step: pair of features and branch).
//!
//! # Guarantees
//! No two minima of one query share an identity. In the first query, minima are numbered by their
//! distance. Identities are a deterministic function of the sequence of queries.

use crate::api::contact::{ContactKind, FeatureKind};
use crate::query::Accepted;
use feeler_geom::{P3, Pose, V3};
use feeler_hierarchy::Feature;

/// A minimum of the last or the current query, with its identity.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    /// Features of A and B between which the minimum was found.
    features: (Feature, Feature),
    /// Footpoints of the minimum on A and B (mm), each in the frame of its own solid.
    places: (P3, P3),
    /// Unit direction of the minimum from A to B, in the frame of A.
    n: V3,
    /// Signed distance (mm) of the minimum.
    distance: f64,
    /// Whether the minimum is a member of a conformal set.
    is_member: bool,
    /// Branch: the number that distinguishes the minima of one pair of features.
    branch: u32,
    /// Number of consecutive earlier queries that found the minimum.
    age: u32,
}

/// Identity of a minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Hash of the pair of features and the branch, in 53 bits.
    pub id: u64,
    /// Number of consecutive earlier queries that found the minimum.
    pub age: u32,
}

/// The minima of the last query of a pair of bodies, with their identities.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactIds {
    last: Vec<Tracked>,
    /// Scratch buffer: the minima of the current query.
    now: Vec<Tracked>,
    /// Scratch buffer: for each minimum of the current query and each possible predecessor, the sum over
    /// both solids of the squared distance between their footpoints (mm²), the index in `now`, and the
    /// index in `last`.
    matches: Vec<(f64, u32, u32)>,
    /// Scratch buffer: for each minimum in `last`, whether a minimum of the current query has taken over
    /// its branch.
    taken: Vec<bool>,
}

/// Maximum number of minima of one pair of features that are matched by position. With more minima, for
/// example dense samples of a conformal set, branches are ranks by distance. A larger value takes
/// quadratic time; a smaller one loses identities.
const MAX_TRACKED: usize = 64;

/// Maximum displacement of a footpoint between two queries at which a minimum on other features still
/// counts as the continuation of a pressed contact (a minimum at a negative distance), as a multiple of the
/// displacement of B's points. A larger value continues pressed contacts by unrelated ones; a smaller one
/// loses them.
const MAX_FOOTPOINT_RUN: f64 = 10.0;

/// Maximum displacement of the footpoints of a member of a conformal set between two queries at which it
/// keeps its identity, as a multiple of the displacement of B's points since the set was searched. Members
/// are at fixed parameters, or at crossings of two trims, which move by the displacement over the sine of the
/// angle of the trims, and are computed again when the set is searched. With a larger value, a new member
/// takes over the identity of a distant one that has ended; with a smaller one, corners of flush faces lose
/// theirs when the bodies slide.
const MAX_MEMBER_RUN: f64 = 50.0;

/// Branch of a minimum that has not been assigned one yet.
const NO_BRANCH: u32 = u32::MAX;

impl ContactIds {
    /// Clears all identities: the next query starts a new motion.
    pub(crate) fn clear(&mut self) {
        self.last.clear();
    }

    /// Whether the minimum `x` may continue a minimum of the last query, if points of B have moved by at
    /// most `displacement` (mm) since then. The signed distances must differ by at most the displacement,
    /// and the features must be the same or the footpoints near each other. `pose_ba` maps coordinates of
    /// A to those of B.
    pub(crate) fn continues(&self, x: &Accepted, pose_ba: &Pose, displacement: f64) -> bool {
        let (p_a, p_b) = (x.p_a, pose_ba * x.p_b);
        // On flat contacts, footpoints move faster than the solids.
        let near = |k: &Tracked| {
            (k.places.0 - p_a).norm() <= MAX_FOOTPOINT_RUN * displacement
                && (k.places.1 - p_b).norm() <= MAX_FOOTPOINT_RUN * displacement
        };
        self.last.iter().any(|k| {
            (k.distance - x.distance).abs() <= displacement
                && k.n.dot(&x.n) > 0.0
                && (k.features == (x.feature_a, x.feature_b) || near(k))
        })
    }

    /// Assigns identities to the minima `found` of a query, which are sorted by distance. `pose_ba` maps
    /// coordinates of A to those of B. Points of B have moved by at most `displacement` (mm) since the
    /// last query, which bounds the change of a minimum's distance, and members of sets may continue from a
    /// search up to `searched` (mm) earlier.
    pub(crate) fn advance(
        &mut self,
        found: &[Accepted],
        pose_ba: &Pose,
        (displacement, searched): (f64, f64),
    ) {
        self.now.clear();
        self.now.extend(found.iter().map(|x| Tracked {
            features: (x.feature_a, x.feature_b),
            places: (x.p_a, pose_ba * x.p_b),
            n: x.n,
            distance: x.distance,
            is_member: x.kind == ContactKind::Conformal,
            branch: NO_BRANCH,
            age: 0,
        }));
        let crowded = |all: &[Tracked], f| all.iter().filter(|k| k.features == f).count() > MAX_TRACKED;
        self.matches.clear();
        let member_run = MAX_MEMBER_RUN * (displacement + searched);
        for (i, n) in (0..).zip(&self.now) {
            if self.now.len() > MAX_TRACKED && crowded(&self.now, n.features) {
                continue;
            }
            for (j, l) in (0..).zip(&self.last) {
                if l.features == n.features && (l.distance - n.distance).abs() <= displacement {
                    let apart =
                        (n.places.0 - l.places.0).norm_squared() + (n.places.1 - l.places.1).norm_squared();
                    if !(n.is_member || l.is_member) || apart <= member_run * member_run {
                        self.matches.push((apart, i, j));
                    }
                }
            }
        }
        self.matches.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then_with(|| (x.1, x.2).cmp(&(y.1, y.2))));
        self.taken.clear();
        self.taken.resize(self.last.len(), false);
        for &(_, i, j) in &self.matches {
            let (n, l) = (&mut self.now[i as usize], &self.last[j as usize]);
            if n.branch == NO_BRANCH && !self.taken[j as usize] {
                self.taken[j as usize] = true;
                (n.branch, n.age) = (l.branch, l.age.saturating_add(1));
            }
        }
        for i in 0..self.now.len() {
            if self.now[i].branch == NO_BRANCH {
                let features = self.now[i].features;
                // The branch of a minimum that has just disappeared is not reused, because a caller would
                // take both for the same minimum.
                let crowd = self.now.len() > MAX_TRACKED && crowded(&self.now, features);
                let last: &[Tracked] = if crowd { &[] } else { &self.last };
                let all = || self.now.iter().chain(last);
                let used = |b| all().any(|k| k.features == features && k.branch == b);
                self.now[i].branch = (0..).find(|b| !used(*b)).unwrap_or(0);
            }
        }
        std::mem::swap(&mut self.last, &mut self.now);
    }

    /// Increases the ages of the last query's minima by 1, for a query that reuses the previous results.
    pub(crate) fn hold(&mut self) {
        self.last.iter_mut().for_each(|k| k.age = k.age.saturating_add(1));
    }

    /// Identity of the minimum at index `i` of the last query.
    pub(crate) fn identity(&self, i: usize) -> Identity {
        let k = &self.last[i];
        Identity { id: hash(k.features, k.branch), age: k.age }
    }
}

/// Hash of a pair of features and a branch by FNV-1a, in 53 bits.
fn hash((a, b): (Feature, Feature), branch: u32) -> u64 {
    let words = |f: Feature| match f {
        Feature::Face(i) => [FeatureKind::Face as u64, u64::from(i.0)],
        Feature::Edge(i) => [FeatureKind::Edge as u64, u64::from(i.0)],
        Feature::Vertex(i) => [FeatureKind::Vertex as u64, u64::from(i.0)],
    };
    let all = words(a).into_iter().chain(words(b)).chain([u64::from(branch)]);
    let bytes = all.flat_map(u64::to_le_bytes);
    // A JSON reader with doubles keeps integers of up to 53 bits.
    bytes.fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::contact::FeatureRef;
    use feeler_hierarchy::FaceId;

    fn minimum(face: u32, x: f64, distance: f64) -> Accepted {
        let place = FeatureRef { kind: FeatureKind::Face, index: face, source: 0, uv: [0.0; 2] };
        Accepted {
            feature_a: Feature::Face(FaceId(face)),
            feature_b: Feature::Face(FaceId(0)),
            p_a: P3::new(x, 0.0, 0.0),
            p_b: P3::new(x, 0.0, distance),
            n: V3::z(),
            distance,
            kind: ContactKind::Strict,
            place_a: place,
            place_b: place,
            slack_a: 0.0,
            slack_b: 0.0,
            is_extended: false,
            is_slid: false,
            undecided: false,
        }
    }

    fn ids(contact_ids: &ContactIds, n: usize) -> Vec<(u64, u32)> {
        (0..n).map(|i| contact_ids.identity(i)).map(|x| (x.id, x.age)).collect()
    }

    #[test]
    fn identities_follow_places_not_ranks() {
        let mut contact_ids = ContactIds::default();
        let still = Pose::identity();
        contact_ids.advance(
            &[minimum(1, 0.0, 0.1), minimum(1, 5.0, 0.2), minimum(2, 0.0, 0.3)],
            &still,
            (f64::INFINITY, 0.0),
        );
        let first = ids(&contact_ids, 3);
        assert!(first.iter().all(|x| x.1 == 0), "new");
        assert!(
            first[0].0 != first[1].0 && first[0].0 != first[2].0 && first[1].0 != first[2].0,
            "{first:?}"
        );
        // The second one is nearer now; both have moved.
        contact_ids.advance(&[minimum(1, 4.5, 0.1), minimum(1, 0.4, 0.2)], &still, (f64::INFINITY, 0.0));
        let second = ids(&contact_ids, 2);
        assert_eq!(second, [(first[1].0, 1), (first[0].0, 1)]);
        // One minimum has disappeared; the remaining one keeps its identity.
        contact_ids.advance(&[minimum(1, 4.0, 0.1)], &still, (f64::INFINITY, 0.0));
        assert_eq!(ids(&contact_ids, 1), [(first[1].0, 2)]);
        contact_ids.advance(
            &[minimum(1, 9.0, 0.05), minimum(1, 4.0, 0.1), minimum(2, 0.0, 0.3)],
            &still,
            (f64::INFINITY, 0.0),
        );
        let last = ids(&contact_ids, 3);
        assert_eq!(last[1], (first[1].0, 3));
        assert_eq!(last[0], (first[0].0, 0), "a new minimum reuses the free branch");
        assert_eq!(last[2], (first[2].0, 0), "it was absent for two queries");
        contact_ids.clear();
        contact_ids.advance(&[minimum(1, 4.0, 0.1)], &still, (f64::INFINITY, 0.0));
        assert_eq!(ids(&contact_ids, 1), [(first[0].0, 0)], "a new motion starts again");
    }

    /// A new member of a conformal set does not take over the identity of a distant one that has ended; a
    /// strict minimum may have moved as far.
    #[test]
    fn members_of_sets_stay_near() {
        let member = |x: f64| Accepted { kind: ContactKind::Conformal, ..minimum(1, x, 0.1) };
        let mut contact_ids = ContactIds::default();
        contact_ids.advance(&[member(0.0), member(5.0)], &Pose::identity(), (f64::INFINITY, 0.0));
        let first = ids(&contact_ids, 2);
        contact_ids.advance(&[member(0.001), member(6.0)], &Pose::identity(), (0.01, 0.0));
        let second = ids(&contact_ids, 2);
        assert_eq!(second[0], (first[0].0, 1));
        assert!(second[1].1 == 0 && second[1].0 != first[1].0, "{second:?}");
        contact_ids.clear();
        contact_ids.advance(&[minimum(1, 5.0, 0.1)], &Pose::identity(), (f64::INFINITY, 0.0));
        contact_ids.advance(&[minimum(1, 6.0, 0.1)], &Pose::identity(), (0.01, 0.0));
        assert_eq!(ids(&contact_ids, 1)[0].1, 1);
    }

    #[test]
    fn crowds_are_numbered_by_rank() {
        let mut contact_ids = ContactIds::default();
        let many: Vec<Accepted> = (0..200).map(|i| minimum(1, f64::from(i), 0.1)).collect();
        contact_ids.advance(&many, &Pose::identity(), (f64::INFINITY, 0.0));
        let first = ids(&contact_ids, 200);
        contact_ids.advance(&many, &Pose::identity(), (f64::INFINITY, 0.0));
        assert_eq!(first, ids(&contact_ids, 200), "without tracking, identities are ranks");
    }
}
