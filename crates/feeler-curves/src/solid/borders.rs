//! Ends of level stretches of a curve where their footpoints reach the border of the solid's feature.

use feeler_geom::trim::Side;
use feeler_hierarchy::Feature;
use feeler_runtime::PointQuery;

use super::{Candidate, Context, SAME_MINIMUM_TOLERANCE};
use crate::obstacle::Distance;
use crate::solve::Stretch;

/// Maximum number of steps in which a stretch is searched for points whose footpoints are on the border
/// of the face; for faces without a closed form, the square root of this number. With a larger value,
/// stretches near the borders of faces are slower; with a smaller one, narrow faces are missed.
const MAX_CUTS: f64 = 4096.0;

/// Distance beyond the border of a feature at which the distance from the solid is computed, as a
/// fraction of the size of the curve or the solid, whichever is larger. It is also the length (in the
/// curve's parameter) beyond the end of a stretch that is searched for the border of a patch. With a
/// smaller value, concave fillets are missed.
const PROBE_DISTANCE: f64 = 1e-4;

/// Cosine of the angle between a direction and an edge below which the two count as orthogonal. With a
/// larger value, more minima at vertices are checked; with a smaller one, false minima remain where
/// edges bend away.
const ORTHOGONAL_COS: f64 = 1e-9;

impl Context<'_> {
    /// Passes to `keep` the parts of a stretch on which the footpoints of the curve's points are on the
    /// feature. Parts shorter than a fraction 1 / [`MAX_CUTS`] of the stretch may be missed. `is_free`
    /// marks the ends from which no other stretch continues.
    pub(super) fn clip(
        &self,
        feature: Feature,
        stretch: &Stretch,
        is_free: [bool; 2],
        points: &mut PointQuery,
        keep: &mut impl FnMut(Stretch),
    ) {
        let [mut p, mut q] = stretch.ends.map(|e| e[0]);
        let is_on = |u: f64| self.is_on(feature, stretch.area, u);
        let (middle, length) = (0.5 * (p + q), (self.curve.point(p) - self.curve.point(q)).norm());
        if self.border_distance(feature, middle) > length && is_on(middle) {
            keep(*stretch);
            return;
        }
        // Bisects to the parameter between `on` and `off` at which the footpoint leaves the feature.
        let border = |mut on: f64, mut off: f64| {
            for _ in 0..52 {
                let u = 0.5 * (on + off);
                if is_on(u) {
                    on = u;
                } else {
                    off = u;
                }
            }
            on
        };
        let mut outward = stretch.outward;
        // Stretches on a free-form face end slightly before the face's border, because no footpoint exists
        // beyond it. Free ends are extended to the border.
        if matches!(feature, Feature::Face(f) if self.solid.faces[f.index()].is_none()) {
            let direction = PROBE_DISTANCE.copysign(q - p);
            for (k, end, by) in [(0, &mut p, -direction), (1, &mut q, direction)] {
                if is_free[k] && is_on(*end) && !is_on(*end + by) {
                    *end = border(*end, *end + by);
                    outward[k] = self.slope_beyond(feature, stretch.area, *end, by, points);
                }
            }
        }
        let mut start = is_on(p).then_some((p, outward[0]));
        let part = |(from, before): (f64, f64), to: f64, after: f64| Stretch {
            ends: [[from, 0.0], [to, 0.0]],
            outward: [before, after],
            ..*stretch
        };
        // For faces with a closed form, the distance to the border is available and sets the step.
        let max_step = (q - p).abs() / MAX_CUTS.sqrt();
        let is_measured = matches!(feature, Feature::Face(f) if self.solid.faces[f.index()].is_some());
        let min_step = if is_measured { (q - p).abs() / MAX_CUTS } else { max_step };
        let mut u = p;
        loop {
            let step = (0.5 * self.border_distance(feature, u) / self.curve.at(u).d.norm())
                .clamp(min_step, max_step);
            let is_last = (q - u).abs() <= step;
            let next = if is_last { q } else { u + step.copysign(q - p) };
            match (start, is_on(next)) {
                (None, true) => {
                    let u = border(next, u);
                    start = Some((u, self.slope_beyond(feature, stretch.area, u, p - q, points)));
                }
                (Some(from), false) => {
                    let u = border(u, next);
                    keep(part(from, u, self.slope_beyond(feature, stretch.area, u, q - p, points)));
                    start = None;
                }
                _ => {}
            }
            if is_last {
                break;
            }
            u = next;
        }
        if let Some(from) = start {
            keep(part(from, q, outward[1]));
        }
    }

    /// Sorts `stretches` and removes their overlaps: two neighbouring areas of a patch both report the
    /// stretches whose footpoints are on their common border, and only the stretch of the first area is
    /// kept there.
    pub(super) fn remove_overlaps(&self, feature: Feature, stretches: &mut Vec<Stretch>) {
        stretches.sort_unstable_by(|p, q| p.ends[0][0].total_cmp(&q.ends[0][0]).then(p.area.cmp(&q.area)));
        let mut n = 0;
        for i in 0..stretches.len() {
            let mut s = stretches[i];
            for k in &stretches[..n] {
                let (from, to) = (s.ends[0][0].max(k.ends[0][0]), s.ends[1][0].min(k.ends[1][0]));
                if k.area == s.area || from > to {
                    continue;
                }
                let foot = |area: u32| self.candidate(feature, area, 0.5 * (from + to), None).map(|c| c.foot);
                if let (Some(p), Some(q)) = (foot(s.area), foot(k.area))
                    && (p - q).norm() <= SAME_MINIMUM_TOLERANCE * self.size
                {
                    (s.ends[0], s.outward[0]) = (k.ends[1], -k.outward[1]);
                }
            }
            if s.ends[0][0] < s.ends[1][0] {
                stretches[n] = s;
                n += 1;
            }
        }
        stretches.truncate(n);
    }

    /// Whether the point of the curve at the parameter `u` has a footpoint on the feature; on a face, it
    /// must be strictly inside the trims. `area` is the index of the area of a free-form face in which
    /// the footpoint is searched.
    fn is_on(&self, feature: Feature, area: u32, u: f64) -> bool {
        let Feature::Face(f) = feature else { return self.candidate(feature, area, u, None).is_some() };
        let face = &self.solid.body().hierarchy().faces[f.index()];
        let uv = if self.solid.faces[f.index()].is_some() {
            let foot = self.candidate(feature, area, u, None).map(|c| c.foot);
            foot.map(|foot| face.surface.invert(&foot, None, Some(&face.trim.rect)))
        } else {
            let rect = self.solid.body().hierarchy().areas[area as usize].rect;
            self.candidate_on_patch(f, &rect, rect.center(), u).map(|(_, uv)| uv)
        };
        uv.is_some_and(|uv| face.trim.classify(uv) == Side::Inside)
    }

    /// Change of the distance from the solid with length (mm per mm) from the parameter `u` on, in the
    /// direction in which the curve leaves the feature (sign of `direction`). It is negative if the
    /// boundary of the solid comes nearer beyond the feature, as in a concave fillet; 0 if it is
    /// unknown.
    fn slope_beyond(
        &self,
        feature: Feature,
        area: u32,
        u: f64,
        direction: f64,
        points: &mut PointQuery,
    ) -> f64 {
        let Some(c) = self.candidate(feature, area, u, None) else { return 0.0 };
        let (body, reach) = (self.solid.body(), PROBE_DISTANCE * self.size);
        let step = (reach / self.curve.at(u).d.norm()).copysign(direction);
        let at = |u: f64| self.into.point(&self.curve.point(u.clamp(0.0, self.curve.n_pieces() as f64)));
        let limit = c.distance.abs() + 2.0 * reach;
        let Ok(Some(there)) = points.nearest(body, &at(u + step), limit) else { return 0.0 };
        // The distance to the nearest point is continuous even if its footpoint jumps; other distances
        // are continuous only if their footpoint is.
        let is_same = (there.foot - c.foot).norm() < 10.0 * reach
            || points.nearest(body, &at(u), limit).is_ok_and(|n| {
                n.is_some_and(|n| n.distance >= c.distance.abs() - SAME_MINIMUM_TOLERANCE * self.size)
            });
        if is_same { (there.distance.copysign(c.distance) - c.distance) / reach } else { 0.0 }
    }

    /// Whether a minimum at a vertex of the solid is false, because the distance decreases along an edge
    /// of the vertex. This can occur only if the minimum's direction is orthogonal to the edge, whose
    /// curvature then decides.
    pub(super) fn decreases_along_edge(&self, c: &Candidate, points: &mut PointQuery) -> bool {
        let Feature::Vertex(v) = c.feature else { return false };
        let constraints = &self.solid.body().hierarchy().vertices[v.index()].constraints;
        let is_across = constraints.iter().any(|k| k.dot(&c.away).abs() <= ORTHOGONAL_COS * k.norm());
        let slope = self.limits.level.slope;
        is_across
            && [1.0, -1.0]
                .iter()
                .any(|direction| self.slope_beyond(c.feature, 0, c.u, *direction, points) < -slope)
    }

    /// Distance (mm) between the border of the face `feature` and the footpoint on it of the point at
    /// the parameter `u` of the queried curve, at most the size of curve or solid; 0 for edges, vertices
    /// and faces without a closed form, or if the footpoint is undefined.
    fn border_distance(&self, feature: Feature, u: f64) -> f64 {
        let Feature::Face(f) = feature else { return 0.0 };
        let Some(primitive) = &self.solid.faces[f.index()] else { return 0.0 };
        let p = self.into.point(&self.curve.point(u));
        let Some(d) = Distance::of_primitive(primitive, &p, self.size) else { return 0.0 };
        let face = &self.solid.body().hierarchy().faces[f.index()];
        let uv = face.surface.invert(&d.foot(&p), None, Some(&face.trim.rect));
        face.trim.nearest(uv, face.surface.metric(uv), self.size).map_or(self.size, |n| n.2)
    }
}
