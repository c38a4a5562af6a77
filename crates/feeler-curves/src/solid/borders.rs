//! Where level stretches of a curve end: at the borders of what they are opposite to.

use feeler_geom::trim::Side;
use feeler_hierarchy::Feature;
use feeler_runtime::PointQuery;

use super::{Candidate, Context, SAME};
use crate::obstacle::Distance;
use crate::solve::Stretch;

/// Most steps in which a stretch is looked through for borders of the face that it is opposite to.
const CUTS: f64 = 4096.0;

/// Part of the size by which a curve is followed beyond the border of a feature; of the parameter, by which
/// the border of a patch is looked for beyond the end of a stretch.
const BEYOND: f64 = 1e-4;

/// Cosine of the angle between a direction and an edge across it.
const ACROSS: f64 = 1e-9;

impl Context<'_> {
    /// The parts of a stretch on which the solid has the feature. What is narrower than a part of it in
    /// [`CUTS`] may be passed over. `is_free` tells the ends that no other stretch goes on from.
    pub(super) fn clip(
        &self,
        feature: Feature,
        stretch: &Stretch,
        is_free: [bool; 2],
        points: &mut PointQuery,
        keep: &mut impl FnMut(Stretch),
    ) {
        let [mut p, mut q] = stretch.ends.map(|e| e[0]);
        let is_on = |u: f64| self.is_on(feature, stretch.of, u);
        let (middle, length) = (0.5 * (p + q), (self.curve.point(p) - self.curve.point(q)).norm());
        if self.room(feature, middle) > length && is_on(middle) {
            keep(*stretch);
            return;
        }
        // The last place on the feature before one that is not.
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
        // Of a patch feet are not known beyond its border, so that a stretch ends a little before it.
        if matches!(feature, Feature::Face(f) if self.solid.faces[f.index()].is_none()) {
            let way = BEYOND.copysign(q - p);
            for (k, end, by) in [(0, &mut p, -way), (1, &mut q, way)] {
                if is_free[k] && is_on(*end) && !is_on(*end + by) {
                    *end = border(*end, *end + by);
                    outward[k] = self.beyond(feature, stretch.of, *end, by, points);
                }
            }
        }
        let mut start = is_on(p).then_some((p, outward[0]));
        let part = |(from, before): (f64, f64), to: f64, after: f64| Stretch {
            ends: [[from, 0.0], [to, 0.0]],
            outward: [before, after],
            ..*stretch
        };
        // Of faces with a closed form is known how far their border is.
        let most = (q - p).abs() / CUTS.sqrt();
        let is_measured = matches!(feature, Feature::Face(f) if self.solid.faces[f.index()].is_some());
        let least = if is_measured { (q - p).abs() / CUTS } else { most };
        let mut u = p;
        loop {
            let step = (0.5 * self.room(feature, u) / self.curve.at(u).d.norm()).clamp(least, most);
            let is_last = (q - u).abs() <= step;
            let next = if is_last { q } else { u + step.copysign(q - p) };
            match (start, is_on(next)) {
                (None, true) => {
                    let u = border(next, u);
                    start = Some((u, self.beyond(feature, stretch.of, u, p - q, points)));
                }
                (Some(from), false) => {
                    let u = border(u, next);
                    keep(part(from, u, self.beyond(feature, stretch.of, u, q - p, points)));
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

    /// Neighbouring areas of a patch both tell what is on their border: what the one has is taken from the
    /// other.
    pub(super) fn part_overlaps(&self, feature: Feature, stretches: &mut Vec<Stretch>) {
        stretches.sort_unstable_by(|p, q| p.ends[0][0].total_cmp(&q.ends[0][0]).then(p.of.cmp(&q.of)));
        let mut n = 0;
        for i in 0..stretches.len() {
            let mut s = stretches[i];
            for k in &stretches[..n] {
                let (from, to) = (s.ends[0][0].max(k.ends[0][0]), s.ends[1][0].min(k.ends[1][0]));
                if k.of == s.of || from > to {
                    continue;
                }
                let foot = |of: u32| self.on(feature, of, 0.5 * (from + to), None).map(|c| c.foot);
                if let (Some(p), Some(q)) = (foot(s.of), foot(k.of))
                    && (p - q).norm() <= SAME * self.size
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

    /// Whether a place is opposite to an area's feature, its foot not beside the face by what rounding does.
    fn is_on(&self, feature: Feature, area: u32, u: f64) -> bool {
        let Feature::Face(f) = feature else { return self.on(feature, area, u, None).is_some() };
        let face = &self.solid.body().hierarchy().faces[f.index()];
        let uv = if self.solid.faces[f.index()].is_some() {
            let foot = self.on(feature, area, u, None).map(|c| c.foot);
            foot.map(|foot| face.surface.invert(&foot, None, Some(&face.trim.rect)))
        } else {
            let rect = self.solid.body().hierarchy().areas[area as usize].rect;
            self.on_free(f, &rect, rect.center(), u).map(|(_, uv)| uv)
        };
        uv.is_some_and(|uv| face.trim.classify(uv) == Side::Inside)
    }

    /// Change of the distance with length where the curve leaves a feature: negative where the solid's
    /// boundary comes nearer beyond, as in a concave fillet.
    fn beyond(&self, feature: Feature, area: u32, u: f64, direction: f64, points: &mut PointQuery) -> f64 {
        let Some(c) = self.on(feature, area, u, None) else { return 0.0 };
        let (body, reach) = (self.solid.body(), BEYOND * self.size);
        let step = (reach / self.curve.at(u).d.norm()).copysign(direction);
        let at = |u: f64| self.into.point(&self.curve.point(u.clamp(0.0, self.curve.n_pieces() as f64)));
        let limit = c.distance.abs() + 2.0 * reach;
        let Ok(Some(there)) = points.nearest(body, &at(u + step), limit) else { return 0.0 };
        // The nearest distance is continuous, wherever its foot goes; other distances are so with their foot.
        let is_same = (there.foot - c.foot).norm() < 10.0 * reach
            || points
                .nearest(body, &at(u), limit)
                .is_ok_and(|n| n.is_some_and(|n| n.distance >= c.distance.abs() - SAME * self.size));
        if is_same { (there.distance.copysign(c.distance) - c.distance) / reach } else { 0.0 }
    }

    /// Whether a minimum at a vertex is none: where the direction is across an edge there, the bend of the
    /// edge tells whether the distance falls along it.
    pub(super) fn leaves_along_an_edge(&self, c: &Candidate, points: &mut PointQuery) -> bool {
        let Feature::Vertex(v) = c.feature else { return false };
        let constraints = &self.solid.body().hierarchy().vertices[v.index()].constraints;
        let is_across = constraints.iter().any(|k| k.dot(&c.away).abs() <= ACROSS * k.norm());
        let slope = self.limits.level.slope;
        is_across && [1.0, -1.0].iter().any(|way| self.beyond(c.feature, 0, c.u, *way, points) < -slope)
    }

    /// How far the foot on a face with a closed form may go until it reaches the border; 0 where that is not
    /// told.
    fn room(&self, feature: Feature, u: f64) -> f64 {
        let Feature::Face(f) = feature else { return 0.0 };
        let Some(primitive) = &self.solid.faces[f.index()] else { return 0.0 };
        let p = self.into.point(&self.curve.point(u));
        let Some(d) = Distance::of_primitive(primitive, &p, self.size) else { return 0.0 };
        let face = &self.solid.body().hierarchy().faces[f.index()];
        let uv = face.surface.invert(&d.foot(&p), None, Some(&face.trim.rect));
        face.trim.nearest(uv, face.surface.metric(uv), self.size).map_or(self.size, |n| n.2)
    }
}
