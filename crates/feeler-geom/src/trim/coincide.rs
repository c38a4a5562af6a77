//! Comparison of curves in the parameter plane with the boundary of a trimmed domain, with which they
//! may coincide.
//!
//! Boxes and strips cannot separate a curve from a boundary that coincides with it, even for short
//! parts. The curve is therefore followed from boundary piece to boundary piece: both are cut at the
//! same two points, and one bound of the distance decides for the whole part. The bound measures across
//! the tangents only, so the parts may differ slightly in speed, as arcs of one circle do if their
//! pieces end at different angles.

use super::piece::BINOMIAL3;
use super::tree::{self, UvBox};
use super::{TrimCells, TrimPiece};
use crate::{P2, Rect, V2};
use arrayvec::ArrayVec;

/// Difference of two parameters of a curve (in [0, 1]) within which they count as one point. With a
/// larger value ends of common parts are not compared; with a smaller one parts of the size of rounding
/// remain.
const SAME_PARAMETER: f64 = 1e-9;
/// Maximum number of steps of Newton's method for the point of a piece nearest to a given point, and for
/// the crossing of two curves. It converges within a few steps for points next to the piece.
const MAX_FOOT_STEPS: usize = 8;
/// Maximum step of the piece's parameter at which Newton's method for the nearest point has converged.
/// With a larger value parts are cut away from their true ends; with a smaller one steps of rounding are
/// added.
const MAX_LAST_STEP: f64 = 1e-13;
/// Maximum step of the curves' parameters at which Newton's method for a crossing has converged, because
/// the next step would be about its square. With a larger value crossings are inexact; with a smaller
/// one each takes one more step.
const MAX_LAST_CROSSING_STEP: f64 = 1e-7;
/// Maximum distance of the crossing of two chords beyond their ends, relative to their lengths, at which
/// Newton's method for the crossing of the curves is started. A larger value is slower; with a smaller
/// one crossings of curved pieces are missed and found step by step.
const MAX_BEYOND_CHORDS: f64 = 0.5;
/// Maximum number of crossings of a curve with the boundary that [`TrimCells::some_crossings`] returns;
/// a larger value costs memory, a smaller one loses crossings.
pub const MAX_CROSSINGS: usize = 8;
/// Maximum number of times that a part of two curves is halved if the bound of their distance is too
/// large. Two halvings are enough: if two arcs differ in speed, the difference is proportional to the
/// square of their angle, and the bound to its sixth power. More halvings are slower; with fewer, curves
/// that coincide are rejected.
const MAX_HALVINGS: u32 = 2;
/// Maximum number of consecutive boundary pieces along which [`TrimCells::along_boundary`] follows a
/// curve from its start to its end. A larger value is slower for curves along many pieces; with a smaller
/// one such curves count as not along the boundary.
const MAX_PIECES_ALONG: usize = 16;

/// Comparison of a curve with the boundary of a domain along which it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlongBoundary {
    /// Largest [deviation](TrimPiece::deviation) (mm) of the boundary pieces along which the curve runs.
    pub deviation: f64,
    /// Upper bound of the distance (mm) of the curve's points from the boundary, after the deviation of
    /// the boundary piece at each point is subtracted. It is negative if all points are within the
    /// deviations.
    pub beyond: f64,
}

/// Metric of the parameter plane: lengths (mm) of unit steps in u and v, which are orthogonal, and the
/// distance (mm) within which curves coincide.
#[derive(Clone, Copy, Debug)]
struct Measure {
    scale: V2,
    within: f64,
}

impl Measure {
    /// Returns the length of a vector in mm.
    fn length(&self, d: V2) -> f64 {
        d.component_mul(&self.scale).norm()
    }

    /// Returns the parameter of the point of a piece nearest to `p`, possibly beyond the piece's ends,
    /// by Newton's method from the parameter `start`. The point must be next to the piece.
    fn foot(&self, piece: &TrimPiece, p: P2, start: f64) -> f64 {
        let mut t = start;
        for _ in 0..MAX_FOOT_STEPS {
            let off = (p - piece.eval(t)).component_mul(&self.scale);
            let along = piece.derivative(t).component_mul(&self.scale);
            let step = off.dot(&along) / along.norm_squared();
            t += step;
            if step.abs() <= MAX_LAST_STEP {
                break;
            }
        }
        t
    }

    /// If a curve coincides with a boundary piece from the curve's parameter `t` on, returns the curve's
    /// parameter at the end of the common part, and an upper bound of the distance there between curve
    /// and piece (mm), minus the piece's deviation. Returns `None` if they do not coincide, that is, if
    /// they are farther apart than `within` plus the deviation.
    fn end_of_common_part(&self, curve: &TrimPiece, t: f64, boundary: &TrimPiece) -> Option<(f64, f64)> {
        let p = curve.eval(t);
        let chord = (boundary.end() - boundary.start()).component_mul(&self.scale);
        let off = (p - boundary.start()).component_mul(&self.scale);
        let from = self.foot(boundary, p, off.dot(&chord) / chord.norm_squared()).clamp(0.0, 1.0);
        let within = self.within + boundary.deviation;
        // Also false for NaN.
        let is_near = self.length(boundary.eval(from) - p) <= within;
        if !is_near {
            return None;
        }
        let speeds = [curve.derivative(t), boundary.derivative(from)].map(|d| d.component_mul(&self.scale));
        let ratio = speeds[0].dot(&speeds[1]) / speeds[0].norm_squared();
        let (far_end, to) = if ratio > 0.0 { (boundary.end(), 1.0) } else { (boundary.start(), 0.0) };
        let end = self.foot(curve, far_end, t + (to - from) * ratio);
        if end.is_nan() || end <= t + SAME_PARAMETER {
            return None;
        }
        let (end, to) = if end < 1.0 - SAME_PARAMETER {
            (end, to)
        } else {
            let guess = from + (to - from) * ((1.0 - t) / (end - t)).min(1.0);
            (1.0, self.foot(boundary, curve.end(), guess).clamp(0.0, 1.0))
        };
        let is_range = from.min(to) < from.max(to);
        if !is_range {
            return None;
        }
        let part = boundary.part(from.min(to), from.max(to));
        let part = if from < to { part } else { part.reversed() };
        let distance = self.distance((&curve.part(t, end), &part), within, MAX_HALVINGS);
        (distance <= within).then_some((end, distance - boundary.deviation))
    }

    /// Returns an upper bound of the distance (mm) of the points of `curve` from the curve `other`,
    /// which has about the same ends. If the bound exceeds `enough` (mm), both curves are halved and the
    /// larger bound of the two halves is returned; halves are halved again, up to `halvings` times in
    /// all.
    fn distance(&self, (curve, other): (&TrimPiece, &TrimPiece), enough: f64, halvings: u32) -> f64 {
        let whole = self.distance_of_whole(curve, other);
        if whole <= enough || halvings == 0 {
            return whole;
        }
        let at = self.foot(other, curve.eval(0.5), 0.5);
        let is_inside = 0.0 < at && at < 1.0;
        if !is_inside {
            return whole;
        }
        let (halves, others) = (curve.split(0.5), other.split(at));
        let first = self.distance((&halves.0, &others.0), enough, halvings - 1);
        if first > enough {
            return first;
        }
        first.max(self.distance((&halves.1, &others.1), enough, halvings - 1))
    }

    /// Like [`Measure::distance`], but without halving. Returns infinity if the other curve bends back.
    ///
    /// Let b be the other curve and d the difference of the curves at equal parameters. The distance
    /// across the tangent of b is d × b′ / |b′|. Its numerator is a polynomial of degree 5, bounded by
    /// its Bernstein coefficients. Along the tangent, b deviates from its tangent by at most its
    /// curvature times |d|².
    fn distance_of_whole(&self, curve: &TrimPiece, other: &TrimPiece) -> f64 {
        // Binomial coefficients of degrees 2 and 5.
        let (of_2, of_5) = ([1.0, 2.0, 1.0], [1.0, 5.0, 10.0, 10.0, 5.0, 1.0]);
        let difference: [V2; 4] =
            std::array::from_fn(|i| (curve.control[i] - other.control[i]).component_mul(&self.scale));
        let hodograph: [V2; 3] = std::array::from_fn(|i| {
            (other.control[i + 1] - other.control[i]).component_mul(&self.scale) * 3.0
        });
        let chord = (other.end() - other.start()).component_mul(&self.scale);
        let min_speed = hodograph.iter().map(|d| d.dot(&chord)).fold(f64::INFINITY, f64::min) / chord.norm();
        let is_forward = min_speed > 0.0;
        if !is_forward {
            return f64::INFINITY;
        }
        let mut across = [0.0; 6];
        for (i, d) in difference.iter().enumerate() {
            for (j, along) in hodograph.iter().enumerate() {
                across[i + j] += BINOMIAL3[i] * of_2[j] * along.perp(d) / of_5[i + j];
            }
        }
        let max_across = across.iter().fold(0.0, |m: f64, x| m.max(x.abs())) / min_speed;
        let max_difference = difference.iter().map(V2::norm).fold(0.0, f64::max);
        let second = (hodograph[1] - hodograph[0]).norm().max((hodograph[2] - hodograph[1]).norm()) * 2.0;
        max_across + second * (max_difference / min_speed) * (max_difference / min_speed)
    }
}

impl TrimCells {
    /// Compares a curve in the parameter plane with the boundary from end to end. The curve runs along
    /// the boundary if each of its points is at most `within` (mm) plus the piece's deviation away from
    /// a boundary piece. `scale` contains the lengths (mm) of unit steps in u and v, which are
    /// orthogonal. The curve may be shifted from the boundary by whole periods. Returns `None` if the
    /// curve is not proven to run along the boundary.
    #[must_use]
    pub fn along_boundary(&self, curve: &TrimPiece, scale: V2, within: f64) -> Option<AlongBoundary> {
        let measure = Measure { scale, within };
        let (mut t, mut out) = (0.0, AlongBoundary { deviation: 0.0, beyond: f64::NEG_INFINITY });
        for _ in 0..MAX_PIECES_ALONG {
            let ((end, beyond), piece) = self.next_along(&measure, curve, t)?;
            out.deviation = out.deviation.max(self.pieces[piece].deviation);
            out.beyond = out.beyond.max(beyond);
            if end >= 1.0 {
                return Some(out);
            }
            t = end;
        }
        None
    }

    /// Searches for a boundary piece that coincides with a curve from the curve's parameter `t` on.
    /// Returns the result of [`Measure::end_of_common_part`] and the index of the piece, or `None` if no
    /// piece coincides with the curve there.
    fn next_along(&self, measure: &Measure, curve: &TrimPiece, t: f64) -> Option<((f64, f64), usize)> {
        let p = curve.eval(t);
        // Pieces that end slightly before this point are candidates for the start of the common part as
        // well.
        let reach = V2::new(measure.within / measure.scale.x, measure.within / measure.scale.y);
        let rect = Rect { u0: p.x - reach.x, u1: p.x + reach.x, v0: p.y - reach.y, v1: p.y + reach.y };
        let pad = self.rounding();
        self.images(&rect).into_iter().find_map(|image| {
            let moved = curve.translated(self.shift(&rect, &image));
            let mut found = None;
            tree::visit(
                &self.boxes,
                self.pieces.len(),
                |b| {
                    let slack = [pad[0] + reach.x, pad[1] + reach.y];
                    b[0] <= image.u1 + slack[0]
                        && image.u0 - slack[0] <= b[1]
                        && b[2] <= image.v1 + slack[1]
                        && image.v0 - slack[1] <= b[3]
                },
                |i| {
                    found = measure.end_of_common_part(&moved, t, &self.pieces[i]).map(|part| (part, i));
                    found.is_some()
                },
            );
            found
        })
    }

    /// Returns the vector by which `rect` has to be moved, a multiple of the periods, so that it
    /// contains `image`. `image` is one of the parts of the base rectangle that [`TrimCells::images`]
    /// returns for `rect`.
    fn shift(&self, rect: &Rect, image: &Rect) -> V2 {
        // One end of each part is an end of the rectangle.
        let along = |lo: f64, (a, b): (f64, f64), (start, end): (f64, f64), period: Option<f64>| {
            let off = if start > lo { start - a } else { end - b };
            period.map_or(0.0, |period| (off / period).round() * period)
        };
        let base = &self.rect;
        V2::new(
            along(base.u0, (rect.u0, rect.u1), (image.u0, image.u1), self.u_period),
            along(base.v0, (rect.v0, rect.v1), (image.v0, image.v1), self.v_period),
        )
    }

    /// Returns ascending parameters of a curve at which it crosses the boundary: at most
    /// [`MAX_CROSSINGS`], and at most one with each boundary piece. Some crossings may be missing, so
    /// callers must prove in another way whatever depends on completeness.
    #[must_use]
    pub fn some_crossings(&self, curve: &TrimPiece) -> ArrayVec<f64, MAX_CROSSINGS> {
        let rect = curve.bounds();
        let mut out = ArrayVec::new();
        for image in self.images(&rect) {
            let moved = curve.translated(self.shift(&rect, &image));
            let overlaps =
                |b: &UvBox| b[0] <= image.u1 && image.u0 <= b[1] && b[2] <= image.v1 && image.v0 <= b[3];
            tree::visit(&self.boxes, self.pieces.len(), overlaps, |i| {
                let piece = &self.pieces[i];
                let found =
                    Some(piece).filter(|p| overlaps(&tree::piece_box(p))).and_then(|p| crossing(&moved, p));
                // Crossings beyond the capacity are omitted.
                found.is_some_and(|t| out.try_push(t).is_err())
            });
        }
        out.sort_unstable_by(f64::total_cmp);
        out
    }
}

/// Returns the parameter of the first curve at which it crosses the second one, by Newton's method from
/// the crossing of their chords. Returns `None` if the method does not converge to a crossing of both.
fn crossing(curve: &TrimPiece, other: &TrimPiece) -> Option<f64> {
    // Solves `t a - s b = off`.
    let solve = |a: V2, b: V2, off: V2| {
        let det = a.perp(&b);
        V2::new(off.perp(&b) / det, off.perp(&a) / det)
    };
    let is_within = |at: &V2, beyond: f64| at.iter().all(|x| -beyond <= *x && *x <= 1.0 + beyond);
    let start = other.start() - curve.start();
    let mut at = solve(curve.end() - curve.start(), other.end() - other.start(), start);
    if !is_within(&at, MAX_BEYOND_CHORDS) {
        return None;
    }
    for _ in 0..MAX_FOOT_STEPS {
        let off = other.eval(at.y) - curve.eval(at.x);
        let step = solve(curve.derivative(at.x), other.derivative(at.y), off);
        at += step;
        if step.amax() <= MAX_LAST_CROSSING_STEP {
            return Some(at.x).filter(|_| is_within(&at, SAME_PARAMETER));
        }
    }
    None
}

#[cfg(test)]
mod tests;
