//! Measurement of one pair of parts.

use super::fit::{Fit, FitKind};
use crate::assembly::AssemblyPart;
use crate::tolerance::{CoarserDecision, ToleranceChoice};
use feeler_geom::{P3, Pose};
use feeler_hierarchy::FaceId;
use feeler_runtime::{
    Body, Contact, ContactKind, ContactPair, ContactRegion, FeatureKind, FeatureRef, Overlap, QueryError,
    QueryOptions, Status, UndecidedPoint, WidenedPoint, Witness,
};

/// Nearest minimum of the distance of two parts, quasi-minima excluded.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestContact {
    /// Distance (mm) of the minimum.
    pub distance: f64,
    /// Footpoints on both parts (mm, world).
    pub points: [P3; 2],
    /// Features of both parts that contain the footpoints.
    pub features: [FeatureRef; 2],
}

/// Result of measuring two parts.
#[derive(Clone, Debug)]
pub struct PairMeasurement {
    /// Indices of the parts, ascending.
    pub parts: [usize; 2],
    /// Standard fit of the parts, such as a press fit; `None` if they have none. Interfering parts are never
    /// a running fit.
    pub fit: Option<Fit>,
    /// Relation of the parts, such as touching or interfering.
    pub status: Status,
    /// Nearest minimum of the distance, quasi-minima excluded, within the `d_max` of the check; `None`
    /// if none exists. If the parts interfere, only a minimum at a negative distance beyond the tolerance
    /// counts, because others are at other places.
    pub nearest: Option<NearestContact>,
    /// Number of all minima within the `d_max` of the check, quasi-minima and those that `contacts`
    /// omits included.
    pub contact_count: usize,
    /// The nearest minima, quasi-minima included, by ascending distance; at most
    /// [`ClearanceOptions::max_contacts`](crate::ClearanceOptions::max_contacts).
    pub contacts: Vec<Contact>,
    /// Tolerance of the query (mm): lengths below it count as zero.
    pub tolerance: f64,
    /// `tolerance`, if it is coarser than the default one, which left the pair undecided; else `None`.
    pub decided_at: Option<f64>,
    /// For an undecided pair, the verdict at a coarser tolerance than the chosen one; `None` if the pair is
    /// decided, or if coarser tolerances leave it undecided, too.
    pub coarser: Option<CoarserDecision>,
    /// Regions in which the parts touch; empty unless `status` is `Touching`.
    pub regions: Vec<ContactRegion>,
    /// Point inside both parts; `None` if they do not interfere.
    pub witness: Option<Witness>,
    /// Pairs of crossing faces, one of each part; empty unless `status` is `Interfering`.
    pub crossing_faces: Vec<(FeatureRef, FeatureRef)>,
    /// Accuracy (mm) of the geometry where the parts interfere: the larger one of the uncertainties that
    /// their files state, or the sum of the deviations of the edges of the crossing faces, if that is
    /// larger; 0 unless `status` is `Interfering`.
    pub accuracy: f64,
    /// Points at which `status` holds only for a tolerance enlarged by the deviation of an edge.
    pub widened: Vec<WidenedPoint>,
    /// Common part of the parts; `None` unless they interfere and its volume is measured, and for sheets.
    pub overlap: Option<Overlap>,
    /// Points at which it is undecided whether the parts interfere.
    pub undecided: Vec<UndecidedPoint>,
    /// Error of the query; the other members are then meaningless, apart from `parts`.
    pub error: Option<QueryError>,
}

impl PairMeasurement {
    /// Lower bound (mm) of the length of any translation that separates the parts; 0 if they do not
    /// interfere.
    #[must_use]
    pub fn depth(&self) -> f64 {
        self.witness.map_or(0.0, |w| w.depth())
    }

    /// Whether the parts interfere, and not deeper than their geometry is accurate.
    #[must_use]
    pub fn is_within_accuracy(&self) -> bool {
        self.status == Status::Interfering && self.witness.is_some() && self.depth() <= self.accuracy
    }

    /// Largest possible depth (mm) of common interior points of undecided parts; 0 if they are decided.
    #[must_use]
    pub fn depth_bound(&self) -> f64 {
        self.undecided.iter().fold(0.0, |deepest, u| deepest.max(u.depth_bound))
    }

    /// Whether the parts are separated, have no minimum within `d_max` except quasi-minima, and the
    /// query did not fail.
    pub(super) fn is_beyond_reach(&self) -> bool {
        self.status == Status::Separated && self.nearest.is_none() && self.error.is_none()
    }

    /// Queries the two of `parts` with the indices `which`, and stores at most `max_contacts` of their
    /// minima. If `volume` is set, the volume of an overlap is measured. An error of the query is stored in
    /// `error` of the result.
    pub(super) fn new(
        (which, fit): ([usize; 2], Option<Fit>),
        parts: &[AssemblyPart],
        (tolerance, options): (ToleranceChoice, &QueryOptions),
        (max_contacts, volume): (usize, bool),
    ) -> Self {
        let [a, b] = which.map(|i| &parts[i]);
        let mut pair = ContactPair::new(a.body.clone(), b.body.clone());
        let mut measurement = Self {
            parts: which,
            fit,
            status: Status::Undecided,
            nearest: None,
            contact_count: 0,
            contacts: Vec::new(),
            tolerance: 0.0,
            decided_at: None,
            coarser: None,
            regions: Vec::new(),
            witness: None,
            crossing_faces: Vec::new(),
            accuracy: 0.0,
            widened: Vec::new(),
            overlap: None,
            undecided: Vec::new(),
            error: None,
        };
        let poses = [&a.pose, &b.pose];
        let query = (tolerance, options);
        measurement.error = measurement.query(&mut pair, poses, query, max_contacts).err();
        if volume && measurement.error.is_none() && measurement.status == Status::Interfering {
            let options = QueryOptions { tolerance: Some(measurement.tolerance), ..*options };
            match pair.overlap(&a.pose, &b.pose, &options) {
                Ok(overlap) => measurement.overlap = overlap,
                Err(error) => measurement.error = Some(error),
            }
        }
        measurement
    }

    fn query(
        &mut self,
        pair: &mut ContactPair,
        [pose_a, pose_b]: [&Pose; 2],
        (tolerance, options): (ToleranceChoice, &QueryOptions),
        max_contacts: usize,
    ) -> Result<(), QueryError> {
        let decided = tolerance.query(pair, [pose_a, pose_b], options)?;
        self.decided_at = decided.decided_at;
        self.coarser = decided.coarser;
        let options = &QueryOptions { tolerance: Some(pair.tolerances().tol), ..*options };
        self.status = pair.status().unwrap_or(Status::Undecided);
        self.tolerance = pair.tolerances().tol;
        // Interfering parts with a cylinder of the same diameter are not a running fit.
        let interferes = self.status == Status::Interfering;
        self.fit = self.fit.filter(|fit| !(interferes && fit.kind == FitKind::Running));
        self.contact_count = pair.contacts().len();
        self.contacts = pair.contacts().iter().take(max_contacts).copied().collect();
        let nearest = pair.contacts().iter().find(|c| c.kind != ContactKind::Quasi);
        // A place where parts that interfere touch or are apart does not describe them.
        let nearest = nearest.filter(|c| !interferes || c.distance < -self.tolerance);
        self.nearest = nearest.map(|c| NearestContact {
            distance: c.distance,
            points: [c.point_a, c.point_b],
            features: [c.feature_a, c.feature_b],
        });
        if let Some(verdict) = pair.verdict() {
            self.witness = verdict.witness;
            self.undecided.clone_from(&verdict.undecided);
            self.widened.clone_from(&verdict.widened);
        }
        match self.status {
            Status::Touching => self.regions = pair.contact_regions(pose_a, pose_b, options)?,
            Status::Interfering => {
                self.crossing_faces = pair.crossing_faces(pose_a, pose_b, options)?;
                self.accuracy = accuracy([pair.body_a(), pair.body_b()], &self.crossing_faces);
            }
            Status::Separated | Status::Undecided => {}
        }
        Ok(())
    }
}

/// Accuracy (mm) of the geometry of two bodies where the given faces cross; see
/// [`PairMeasurement::accuracy`].
fn accuracy(bodies: [&Body; 2], crossing_faces: &[(FeatureRef, FeatureRef)]) -> f64 {
    let deviation = |body: &Body, feature: &FeatureRef| {
        let face = (feature.kind == FeatureKind::Face).then_some(FaceId(feature.index));
        let face = face.and_then(|face| body.hierarchy().faces.get(face.index()));
        let pieces = face.iter().flat_map(|face| &face.trim.pieces);
        pieces.fold(0.0, |largest: f64, piece| largest.max(piece.deviation))
    };
    let [a, b] = bodies;
    let stated = a.hierarchy().info.uncertainty.max(b.hierarchy().info.uncertainty);
    let of_pair = |(f, g): &(FeatureRef, FeatureRef)| deviation(a, f) + deviation(b, g);
    crossing_faces.iter().map(of_pair).fold(stated, f64::max)
}
