//! Integrals over the strips between faces and those of their edges that do not lie on the surface.
//!
//! A face ends at its trimming curves, which leaves gaps along edges that are off its surface. Integrals
//! of the divergence theorem over a shell with gaps depend on the reference point: the error is the area
//! of the gap times the distance of that point. Ruled strips from every face to the curve of the edge
//! close the gaps.
//!
//! # Source
//! MATH §17: to first order in the strip's width `w`, the strip's vector area along the boundary is
//! `w × P' ds`.

use feeler_geom::mass::FaceIntegrals;
use feeler_geom::{Curve, P3, Rect, Surface, V3};

use super::draft::{Draft, Face, Use};
use super::loops;
use super::pcurve::{Piece, cubic, foot_on_curve};
use super::singular::spindle_angle;

/// Nodes and weights of Gauss–Legendre quadrature with four points on `[0, 1]`.
const NODES: [(f64, f64); 4] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_07),
    (0.669_990_521_792_428_1, 0.326_072_577_431_273_07),
    (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
];

/// Returns the volume and its moments, about `reference`, that the strips between a face and the curves
/// of its edges contribute. The trims of a face deviate from the edges, and a strip closes this gap. The
/// area of the strips is not included. Edges that deviate from the face by at most `least` (mm) have no
/// strip.
pub(super) fn to_edges(draft: &Draft, face: &Face, reference: &P3, least: f64) -> FaceIntegrals {
    let mut sums = FaceIntegrals::default();
    let sheet = spindle_angle(&face.surface).map(|_| loops::host(draft, face).natural);
    for u in face.loops.iter().flatten() {
        to_edge(draft, (face, sheet.as_ref()), u, reference, least, &mut sums);
    }
    sums
}

/// Adds the integrals over the strip along the use `u` of an edge to `sums`. `sheet` is the parameter
/// rectangle of the face's sheet of a spindle torus; `None` for other surfaces.
fn to_edge(
    draft: &Draft,
    (face, sheet): (&Face, Option<&Rect>),
    u: &Use,
    reference: &P3,
    least: f64,
    sums: &mut FaceIntegrals,
) {
    let Some(pcurve) = u.pcurve.as_ref().filter(|p| p.deviation() > least) else { return };
    let edge = &draft.edges[u.edge as usize];
    let sign = if u.forward { 1.0 } else { -1.0 };
    // The integrals over a canonical surface already extend to the projections of the edges in this
    // case.
    let projected = !matches!(face.surface, Surface::Bezier(_))
        && matches!(edge.curve, Curve::Line { .. } | Curve::Circle { .. } | Curve::Ellipse { .. });
    for (piece, t) in pcurve.pieces.iter().zip(pcurve.joints.windows(2)) {
        let margin = 0.2 * (t[1] - t[0]);
        let (lo, hi) = ((t[0] - margin).max(edge.range.0), (t[1] + margin).min(edge.range.1));
        let cuts = cuts(&face.surface, &edge.curve, piece, (t[0], t[1]));
        for (s, weight) in cuts.windows(2).flat_map(|c| {
            let (a, width) = (c[0], c[1] - c[0]);
            NODES.map(|(s, w)| (a + width * s, width * w))
        }) {
            let (uv, velocity) = cubic(&piece.control, s);
            let (p, du, dv) = face.surface.first_derivs(uv);
            let (off, foot) = foot_on_curve(&edge.curve, &p, t[0] + (t[1] - t[0]) * s, lo, hi);
            if off.is_nan() || off > pcurve.deviation() {
                continue;
            }
            let to = edge.curve.point(foot);
            let from =
                if projected { face.surface.point(face.surface.invert(&to, Some(uv), sheet)) } else { p };
            let along = (du * velocity.x + dv * velocity.y) * (sign * weight);
            add(sums, &(nalgebra::center(&from, &to) - reference), &(to - from).cross(&along));
        }
    }
}

/// Returns the parameters, from 0 to 1, at which a piece of a pcurve is divided for the integration
/// along it: the joints of the edge's curve and of the surface, because the gap can oscillate between
/// them, and the middle between any two adjacent joints. `t`: curve parameters at the ends of the piece.
fn cuts(surface: &Surface, curve: &Curve, piece: &Piece, t: (f64, f64)) -> Vec<f64> {
    let [a, b] = [piece.control[0], piece.control[3]];
    let rect = Rect { u0: a.x.min(b.x), u1: a.x.max(b.x), v0: a.y.min(b.y), v1: a.y.max(b.y) };
    let (us, vs) = surface.breaks(&rect);
    let along = |breaks: Vec<f64>, a: f64, b: f64| breaks.into_iter().map(move |x| (x - a) / (b - a));
    let mut cuts = vec![0.0, 1.0];
    cuts.extend(along(curve.breaks(t.0, t.1), t.0, t.1));
    cuts.extend(along(us, a.x, b.x));
    cuts.extend(along(vs, a.y, b.y));
    cuts.retain(|s| (0.0..=1.0).contains(s));
    cuts.sort_by(f64::total_cmp);
    cuts.dedup_by(|a, b| *a - *b < 1e-6);
    let middles: Vec<f64> = cuts.windows(2).map(|c| 0.5 * (c[0] + c[1])).collect();
    cuts.extend(middles);
    cuts.sort_by(f64::total_cmp);
    cuts
}

/// Adds the contribution of a small piece of surface to the volume and its moments in `sums`. `d` (mm)
/// is the vector to the piece from the reference point, and `area` (mm²) its vector area.
fn add(sums: &mut FaceIntegrals, d: &V3, area: &V3) {
    let flux = d.dot(area);
    sums.volume += flux / 3.0;
    sums.moment += d * (0.25 * flux);
    sums.second += d * d.transpose() * (0.2 * flux);
}
