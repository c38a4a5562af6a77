//! Curves that run along the boundary.
//!
//! Boxes and strips do not separate a curve from a boundary that coincides with it, however short the parts
//! are. The curve is therefore followed from boundary piece to boundary piece: both are cut at the same two
//! points, and one bound of the distance decides about the whole part. The bound looks across the tangents
//! only, so that the parts may differ in speed a little, as arcs of one circle do when their pieces end at
//! different angles.

use super::piece::BINOMIAL3;
use super::tree::{self, UvBox};
use super::{TrimCells, TrimPiece};
use crate::{P2, Rect, V2};
use arrayvec::ArrayVec;

/// Parameter of the curve within which two of its points are one.
const SAME_PARAMETER: f64 = 1e-9;
/// Steps of Newton's method for the foot of a point, and the step (parameter) that ends it.
const FOOT_STEPS: usize = 8;
const LAST_STEP: f64 = 1e-13;
/// Step (parameter) after which the next one of Newton's method for a crossing would be rounding.
const LAST_CROSSING_STEP: f64 = 1e-7;
/// Parameter beyond the ends of chords up to which curves with crossing chords are intersected.
const CHORDS_BEYOND: f64 = 0.5;
/// Maximum number of crossings of a curve with the boundary.
pub const MAX_CROSSINGS: usize = 8;
/// Halvings of a part of two curves whose bound is too large: arcs differ in speed by the square of their
/// angle, and the bound by its sixth power.
const HALVINGS: u32 = 2;
/// Maximum number of boundary pieces along one curve.
const MAX_PIECES_ALONG: usize = 16;

/// How a curve runs along the boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlongBoundary {
    /// Largest deviation (mm) of the boundary pieces beside the curve.
    pub deviation: f64,
    /// Largest distance (mm) of the curve from one of these pieces, less the deviation of that piece.
    pub beyond: f64,
}

/// A parameter plane with lengths (mm) of unit steps in u and v, which are orthogonal, and a distance (mm) up
/// to which curves coincide.
#[derive(Clone, Copy, Debug)]
struct Measure {
    scale: V2,
    within: f64,
}

impl Measure {
    /// Length in mm.
    fn length(&self, d: V2) -> f64 {
        d.component_mul(&self.scale).norm()
    }

    /// Parameter, perhaps beyond the ends, of the point of a piece whose tangent is across the way to `p`:
    /// Newton's method for a point next to the piece.
    fn foot(&self, piece: &TrimPiece, p: P2, start: f64) -> f64 {
        let mut t = start;
        for _ in 0..FOOT_STEPS {
            let off = (p - piece.eval(t)).component_mul(&self.scale);
            let along = piece.derivative(t).component_mul(&self.scale);
            let step = off.dot(&along) / along.norm_squared();
            t += step;
            if step.abs() <= LAST_STEP {
                break;
            }
        }
        t
    }

    /// The parameter up to which a curve coincides with a boundary piece from `t` on, if they do, and their
    /// distance (mm) beyond the piece's deviation.
    fn end_of_common_part(&self, curve: &TrimPiece, t: f64, boundary: &TrimPiece) -> Option<(f64, f64)> {
        let p = curve.eval(t);
        let chord = (boundary.end() - boundary.start()).component_mul(&self.scale);
        let off = (p - boundary.start()).component_mul(&self.scale);
        let from = self.foot(boundary, p, off.dot(&chord) / chord.norm_squared()).clamp(0.0, 1.0);
        let within = self.within + boundary.deviation;
        // Also false for what is not a number.
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
        let distance = self.distance((&curve.part(t, end), &part), within, HALVINGS);
        (distance <= within).then_some((end, distance - boundary.deviation))
    }

    /// Upper bound of the distance (mm) of the points of the first curve from the second one, which has about
    /// the same ends. Curves with a bound above `enough` are cut in two, up to `halvings` times.
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

    /// [`Measure::distance`] without cuts; infinite where the other curve bends back.
    ///
    /// Let b be the other curve and d the difference of the curves at equal parameters. Across the tangent
    /// of b, the distance is d × b′ / |b′|. The numerator is a polynomial of degree 5, bounded by its
    /// Bernstein coefficients. Along the tangent, b leaves its tangent by no more than its curvature times
    /// |d|².
    fn distance_of_whole(&self, curve: &TrimPiece, other: &TrimPiece) -> f64 {
        // Binomial coefficients of degrees 2 and 5.
        let (of_2, of_5) = ([1.0, 2.0, 1.0], [1.0, 5.0, 10.0, 10.0, 5.0, 1.0]);
        let way: [V2; 4] =
            std::array::from_fn(|i| (curve.control[i] - other.control[i]).component_mul(&self.scale));
        let hodograph: [V2; 3] = std::array::from_fn(|i| {
            (other.control[i + 1] - other.control[i]).component_mul(&self.scale) * 3.0
        });
        let chord = (other.end() - other.start()).component_mul(&self.scale);
        let slowest = hodograph.iter().map(|d| d.dot(&chord)).fold(f64::INFINITY, f64::min) / chord.norm();
        let is_forward = slowest > 0.0;
        if !is_forward {
            return f64::INFINITY;
        }
        let mut across = [0.0; 6];
        for (i, d) in way.iter().enumerate() {
            for (j, along) in hodograph.iter().enumerate() {
                across[i + j] += BINOMIAL3[i] * of_2[j] * along.perp(d) / of_5[i + j];
            }
        }
        let widest = across.iter().fold(0.0, |m: f64, x| m.max(x.abs())) / slowest;
        let longest = way.iter().map(V2::norm).fold(0.0, f64::max);
        let second = (hodograph[1] - hodograph[0]).norm().max((hodograph[2] - hodograph[1]).norm()) * 2.0;
        widest + second * (longest / slowest) * (longest / slowest)
    }
}

impl TrimCells {
    /// Returns how a curve runs along the boundary from end to end: each of its points is near a boundary
    /// piece, no farther than `within` (mm) and the piece's deviation. `scale` holds the lengths (mm) of unit
    /// steps in u and v, which are orthogonal. The curve may be unwrapped or not. `None` where the curve
    /// leaves the boundary, and where the two differ too much for one comparison.
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

    /// A boundary piece along a curve from a parameter on, with their common part.
    fn next_along(&self, measure: &Measure, curve: &TrimPiece, t: f64) -> Option<((f64, f64), usize)> {
        let p = curve.eval(t);
        // A piece that ends slightly before this point begins the common part as well.
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

    /// Whole periods between a rectangle and a part of it in the base rectangle.
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

    /// Returns parameters, ascending, at which a curve crosses the boundary: at most [`MAX_CROSSINGS`], and
    /// one with each piece. Some may be missing; what depends on them must be proved in another way.
    #[must_use]
    pub fn some_crossings(&self, curve: &TrimPiece) -> ArrayVec<f64, MAX_CROSSINGS> {
        let rect = curve.bounds();
        let mut out = ArrayVec::new();
        for image in self.images(&rect) {
            let moved = curve.translated(self.shift(&rect, &image));
            let meets =
                |b: &UvBox| b[0] <= image.u1 && image.u0 <= b[1] && b[2] <= image.v1 && image.v0 <= b[3];
            tree::visit(&self.boxes, self.pieces.len(), meets, |i| {
                let piece = &self.pieces[i];
                let found =
                    Some(piece).filter(|p| meets(&tree::piece_box(p))).and_then(|p| crossing(&moved, p));
                // Crossings beyond the capacity are among those that may be missing.
                found.is_some_and(|t| out.try_push(t).is_err())
            });
        }
        out.sort_unstable_by(f64::total_cmp);
        out
    }
}

/// Parameter of the first curve at which it crosses the second one, by Newton's method from where the chords
/// cross.
fn crossing(curve: &TrimPiece, other: &TrimPiece) -> Option<f64> {
    // Solves `t a - s b = off`.
    let solve = |a: V2, b: V2, off: V2| {
        let det = a.perp(&b);
        V2::new(off.perp(&b) / det, off.perp(&a) / det)
    };
    let is_within = |at: &V2, beyond: f64| at.iter().all(|x| -beyond <= *x && *x <= 1.0 + beyond);
    let start = other.start() - curve.start();
    let mut at = solve(curve.end() - curve.start(), other.end() - other.start(), start);
    if !is_within(&at, CHORDS_BEYOND) {
        return None;
    }
    for _ in 0..FOOT_STEPS {
        let off = other.eval(at.y) - curve.eval(at.x);
        let step = solve(curve.derivative(at.x), other.derivative(at.y), off);
        at += step;
        if step.amax() <= LAST_CROSSING_STEP {
            return Some(at.x).filter(|_| is_within(&at, SAME_PARAMETER));
        }
    }
    None
}

#[cfg(test)]
mod tests;
