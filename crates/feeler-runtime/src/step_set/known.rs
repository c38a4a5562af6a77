//! Samples that continue while the bodies move little.
//!
//! A sample is a point at fixed parameters of one feature and the nearest point of the other feature. The
//! search for samples tests the trims and polars of many points. After a motion that is small compared with
//! the bound of the step, the samples found there are still those of the step, and only their nearest points
//! and gaps are computed.
//!
//! # Source
//! MATH §23.

use super::Widening;
use super::fixed_point::{Sample, foot_on_face};
use crate::body::side::Which;
use crate::cull::motion::Motion;
use crate::query::{Accepted, Context};
use feeler_geom::{P2, P3};
use feeler_hierarchy::Feature;

/// Samples of the last step.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSamples {
    samples: Vec<KnownSample>,
    /// Features of the contacts beside which the samples were searched, sorted.
    features: Vec<(Feature, Feature)>,
    /// Scratch buffer: features of the contacts of the current step.
    current: Vec<(Feature, Feature)>,
    /// Step for which the samples were searched, and the smallest distance (mm) of the query; `None` before a
    /// search.
    search: Option<(Widening, f64)>,
    /// Motion of B since the last query up to which the samples continue.
    remaining: Motion,
    /// Whether samples may be missing because of a limit on their number.
    pub is_limited: bool,
}

#[derive(Clone, Copy, Debug)]
struct KnownSample {
    sample: Sample,
    /// The fixed point, in the frame of its body.
    fixed: P3,
}

impl KnownSamples {
    /// Removes all samples.
    pub(crate) fn clear(&mut self) {
        self.search = None;
    }

    /// Samples at the current pose. Those without a nearest point within the depth of the query have an
    /// infinite distance.
    pub(super) fn samples(&self) -> impl Iterator<Item = Sample> + '_ {
        self.samples.iter().map(|known| known.sample)
    }

    /// Computes the samples at the current pose, after the motion `moved` of B since the last query. Returns
    /// `false` if samples must be searched: for another step, after a larger motion, and if the contacts
    /// `near`, beside which samples are searched, have other features.
    pub(super) fn continues<'a>(
        &mut self,
        ctx: &Context<'_>,
        step: &Widening,
        moved: &Motion,
        near: impl Iterator<Item = &'a Accepted>,
    ) -> bool {
        self.current.clear();
        self.current.extend(near.map(|c| (c.feature_a, c.feature_b)));
        self.current.sort_unstable();
        self.current.dedup();
        std::mem::swap(&mut self.current, &mut self.features);
        self.remaining.displacement -= moved.displacement;
        self.remaining.rotation -= moved.rotation;
        let is_for_step = self.search == Some(search_of(ctx, step));
        // The comparisons are false for a motion that is not a number.
        let is_near = self.remaining.displacement >= 0.0 && self.remaining.rotation >= 0.0;
        if !(is_for_step && is_near && self.current == self.features) {
            return false;
        }
        for known in &mut self.samples {
            let sample = &mut known.sample;
            if move_sample(ctx, sample, &known.fixed).is_none() {
                sample.pair.distance = f64::INFINITY;
            }
        }
        true
    }

    /// Stores the samples of a search for a step, which continue for the motion `slack` of B, and whether
    /// samples may be missing.
    pub(super) fn store(
        &mut self,
        ctx: &Context<'_>,
        step: &Widening,
        slack: Motion,
        (samples, is_limited): (&[Sample], bool),
    ) {
        self.is_limited = is_limited;
        self.samples.clear();
        self.samples.extend(samples.iter().map(|sample| {
            let fixed = match sample.key.0 {
                Which::A => sample.pair.p_a,
                Which::B => ctx.pose_ba * sample.pair.p_b,
            };
            KnownSample { sample: *sample, fixed }
        }));
        (self.search, self.remaining) = (Some(search_of(ctx, step)), slack);
    }
}

/// Values on which the search for samples depends, besides the pose and the contacts.
fn search_of(ctx: &Context<'_>, step: &Widening) -> (Widening, f64) {
    (Widening { pose_before: None, ..*step }, ctx.least)
}

/// Computes the nearest point and the gap of a sample at the current pose. `fixed` is its fixed point in the
/// frame of its body. `None` if the point has no unique nearest point, or is deeper than reported contacts.
fn move_sample(ctx: &Context<'_>, sample: &mut Sample, fixed: &P3) -> Option<()> {
    let own = sample.key.0;
    let other = own.other();
    let pair = &mut sample.pair;
    let (feature, place) = match other {
        Which::A => (pair.feature_a, &mut pair.place_a),
        Which::B => (pair.feature_b, &mut pair.place_b),
    };
    let Feature::Face(face) = feature else { return None };
    let p = ctx.in_a(own, fixed);
    let foot = foot_on_face(ctx, other, face, P2::new(place.uv[0], place.uv[1]), &p)?;
    let uv = foot.uv.unwrap_or_else(|| {
        ctx.body(other).face(face).surface.invert(&ctx.in_own(other, &foot.p), None, None)
    });
    place.uv = [uv.x, uv.y];
    (pair.p_a, pair.p_b, pair.n) = match own {
        Which::A => (p, foot.p, -foot.outward),
        Which::B => (foot.p, p, foot.outward),
    };
    pair.distance = foot.distance;
    (foot.distance >= ctx.least).then_some(())
}
