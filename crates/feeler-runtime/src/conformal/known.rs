//! Samples of conformal sets that continue while the bodies move little.
//!
//! A set is searched by marching along the trims of its faces, which takes most of the time of a step at
//! rest. After a motion of a few accepted errors of gaps, the members found there are still those of the set:
//! each of them is computed at the new pose from its last footpoint, without the tests of trims and polars.
//! Footpoints on a trim move with its body, so that the corners of one face inside the other are exact;
//! crossings of trims of both bodies are off by at most the motion.
//!
//! # Source
//! MATH §23.

use super::{FamilySet, Sample, is_pressed, max_corner_loss};
use crate::body::Body;
use crate::body::side::Which;
use crate::footpoint::trim::place_on;
use crate::query::{Accepted, Context, FamilyPair};
use feeler_geom::skeleton::Family;
use feeler_geom::{Curve, P3, Pose, Surface};
use feeler_hierarchy::Feature;
use std::ops::Range;

/// Motion within which the samples of sets continue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Continuing {
    /// Upper bound of the displacement (mm) of B's points since the last query.
    pub moved: f64,
    /// Largest displacement (mm) of B's points since a set was searched.
    pub limit: f64,
}

/// Queries for which the samples of a set continue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validity {
    /// Displacement (mm) of B's points from the pose of the last query up to which the samples continue.
    pub remaining: f64,
    /// Largest distance (mm) of a corner from the polygon of the samples, if the set is flat.
    pub corner_loss: f64,
}

/// Largest displacement of B's points since a set was searched at which its samples continue, as a multiple
/// of the accepted error of a gap. A larger value reports corners at which trims of both bodies cross less
/// exactly; a smaller one searches the sets more often.
pub(crate) const MAX_SET_MOTION: f64 = 8.0;

impl Continuing {
    /// Motion in a step of a simulator that accepts the error `gap_error` (mm) of gaps, after a displacement
    /// of B's points by at most `moved` (mm) since the last query.
    pub(crate) fn in_step(gap_error: f64, moved: f64) -> Self {
        Self { moved, limit: MAX_SET_MOTION * gap_error }
    }
}

/// Samples of the sets of the last query of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSets {
    last: Sets,
    /// Sets of the current query.
    now: Sets,
    /// Range of distances (mm) of the last query.
    range: [f64; 2],
    /// Pose of A in B's frame at the last query and at the current one.
    poses_ba: [Pose; 2],
}

/// Sets with their samples.
#[derive(Clone, Debug, Default)]
struct Sets {
    sets: Vec<KnownSet>,
    samples: Vec<Sample>,
}

#[derive(Clone, Debug)]
struct KnownSet {
    features: (Feature, Feature),
    family: Family,
    /// Indices of the set's samples.
    samples: Range<usize>,
    validity: Validity,
    /// Whether a sample is pressed. Pressed sets are sampled inside their outline, too.
    is_pressed: bool,
}

impl KnownSets {
    /// Removes all sets.
    pub(crate) fn clear(&mut self) {
        self.last.clear();
    }

    /// Starts a query.
    pub(super) fn start(&mut self, ctx: &Context<'_>) {
        let range = [ctx.least, ctx.d_max];
        let last = std::mem::replace(&mut self.range, range);
        if last.map(f64::to_bits) != range.map(f64::to_bits) {
            self.last.clear();
        }
        self.poses_ba = [self.poses_ba[1], ctx.pose_ba];
        self.now.clear();
    }

    /// Ends a query, whose sets replace those of the last one.
    pub(super) fn finish(&mut self) {
        std::mem::swap(&mut self.last, &mut self.now);
    }

    /// Computes the samples of a set of the last query at the current pose and stores them in `out`. Returns
    /// the queries for which they continue; `None`, with `out` empty, if the set must be searched.
    pub(super) fn continued(
        &self,
        set: &FamilySet<'_>,
        family: &FamilyPair,
        continuing: &Continuing,
        out: &mut Vec<Sample>,
    ) -> Option<Validity> {
        let features = (family.feature_a, family.feature_b);
        let known = self.last.sets.iter().find(|k| k.features == features && k.family == family.family)?;
        let remaining = known.validity.remaining - continuing.moved;
        if remaining.is_nan() || remaining < 0.0 || known.validity.corner_loss > max_corner_loss(set.ctx) {
            return None;
        }
        for sample in &self.last.samples[known.samples.clone()] {
            let Some(moved) = set.moved(sample, family.family, &self.poses_ba[0]) else {
                out.clear();
                return None;
            };
            out.push(moved);
        }
        if is_any_pressed(set.ctx, out) != known.is_pressed {
            out.clear();
            return None;
        }
        Some(Validity { remaining, ..known.validity })
    }

    /// Stores the samples of a set, which continue for the queries `validity`.
    pub(super) fn store(
        &mut self,
        ctx: &Context<'_>,
        family: &FamilyPair,
        samples: &[Sample],
        validity: Validity,
    ) {
        let Sets { sets, samples: all } = &mut self.now;
        let start = all.len();
        all.extend_from_slice(samples);
        let features = (family.feature_a, family.feature_b);
        sets.push(KnownSet {
            features,
            family: family.family,
            samples: start..all.len(),
            validity,
            is_pressed: is_any_pressed(ctx, samples),
        });
    }
}

impl Sets {
    fn clear(&mut self) {
        self.sets.clear();
        self.samples.clear();
    }
}

impl FamilySet<'_> {
    /// Computes the member near a sample of the last query, which moves with its body, without the tests of
    /// trims and polars. `last_ba` is the pose of A in B's frame at that query. Returns `None` if the family
    /// has no member near the sample, or if the distance of that member is out of range.
    fn moved(&self, sample: &Sample, family: Family, last_ba: &Pose) -> Option<Sample> {
        let ctx = self.ctx;
        let point = match sample.own {
            Which::A => sample.pair.p_a,
            Which::B => ctx.pose_ab * (last_ba * sample.pair.p_b),
        };
        let pair = match family {
            // Each point of a face belongs to a set of dimension two.
            Family::Two => self.facing(sample.own, &point)?,
            Family::One => self.pair(&point)?,
        };
        if !(ctx.least <= pair.distance && pair.distance <= ctx.d_max) {
            return None;
        }
        let (n, distance) = self.direction_of(&pair);
        let place = |which, feature, known, p: &P3| {
            let body = ctx.body(which);
            if is_free_form(body, feature) { known } else { place_on(body, feature, &ctx.in_own(which, p)) }
        };
        let pair = Accepted {
            p_a: pair.p_a,
            p_b: pair.p_b,
            n,
            distance,
            place_a: place(Which::A, self.feature_a, sample.pair.place_a, &pair.p_a),
            place_b: place(Which::B, self.feature_b, sample.pair.place_b, &pair.p_b),
            ..sample.pair
        };
        Some(Sample { pair, ..*sample })
    }
}

/// Whether at least one of the samples of a set is pressed.
fn is_any_pressed(ctx: &Context<'_>, samples: &[Sample]) -> bool {
    samples.iter().any(|sample| is_pressed(ctx, sample))
}

/// Whether a feature is stored as a spline, on which parameters take long to compute.
fn is_free_form(body: &Body, feature: Feature) -> bool {
    match feature {
        Feature::Face(f) => matches!(body.face(f).surface, Surface::Bezier(_)),
        Feature::Edge(e) => matches!(body.edge(e).curve, Curve::Bezier(_)),
        Feature::Vertex(_) => false,
    }
}
