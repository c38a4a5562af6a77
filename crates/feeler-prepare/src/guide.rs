//! Samples along an edge from which points of it are inverted on a Bézier surface.

use feeler_brep::{EdgeInfo, EdgeSide, Solid};
use feeler_geom::{Curve, P2, Surface, V2};

use crate::group::EdgeGroup;
use crate::normals::unwrapped;

/// Linear interpolation between two samples must come this close to the sample between them, relative to the way
/// between them in space: Newton from there converges, being an order nearer than the neighbours.
const CLOSE: f64 = 0.05;

/// Halvings between two samples at most.
const MAX_HALVINGS: u32 = 6;

/// Samples `(t, u, v)` by `t`, in the parameters of the supermaximal edge; nothing for canonical surfaces.
pub(crate) fn guide(solid: &Solid, edge: &EdgeGroup, side: usize, surface: &Surface) -> Vec<[f64; 3]> {
    if surface.is_canonical() {
        return vec![];
    }
    let mut out: Vec<[f64; 3]> = Vec::new();
    for &(e, map) in &edge.members {
        let (info, curve) = (&solid.edges[e as usize], &solid.shell.edges[e as usize].curve);
        let Some(own) = source_side(edge, side, info, map.reverses()) else { continue };
        let mut samples = walk(curve, own, surface);
        if let Some(p) = edge.curve.period() {
            // The member may have been written some turns away from the span it is in.
            let mid = map.apply(0.5 * (info.range.0 + info.range.1));
            let shift = edge
                .spans
                .iter()
                .map(|s| ((0.5 * (s.t0 + s.t1) - mid) / p, s))
                .map(|(turns, s)| (turns.round() * p, s))
                .find(|(shift, s)| s.t0 - 1e-9 * p <= mid + shift && mid + shift <= s.t1 + 1e-9 * p)
                .map_or(0.0, |f| f.0);
            samples.iter_mut().for_each(|s| s[0] = map.apply(s[0]) + shift);
        } else {
            samples.iter_mut().for_each(|s| s[0] = map.apply(s[0]));
        }
        out.extend(samples);
    }
    out.sort_by(|a, b| a[0].total_cmp(&b[0]));
    out.dedup_by(|a, b| a[0] <= b[0]);
    out
}

/// The source edge's side that became side `side` of the supermaximal edge.
fn source_side<'a>(
    edge: &EdgeGroup,
    side: usize,
    info: &'a EdgeInfo,
    reversed: bool,
) -> Option<&'a EdgeSide> {
    let forward = edge.sides[side].1 != reversed;
    info.sides.iter().find(|s| s.forward == forward).or_else(|| info.sides.get(side))
}

/// Samples along one source edge, by its own parameters.
fn walk(curve: &Curve, side: &EdgeSide, surface: &Surface) -> Vec<[f64; 3]> {
    let mut out: Vec<[f64; 3]> = Vec::new();
    for (k, piece) in side.pcurve.iter().enumerate() {
        let (Some(&a), Some(&b)) = (side.joints.get(k), side.joints.get(k + 1)) else { continue };
        let start = (a, piece.start());
        if out.is_empty() {
            out.push([a, start.1.x, start.1.y]);
        }
        let mut stops = curve.breaks(a, b);
        stops.push(0.5 * (a + b));
        stops.push(b);
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        let mut from = start;
        for t in stops {
            // A piece is not parametrised like the curve: its inside only guesses.
            let uv =
                if t < b { sample(curve, surface, t, piece.eval((t - a) / (b - a))) } else { piece.end() };
            refine(curve, surface, from, (t, uv), 0, &mut out);
            from = (t, uv);
        }
    }
    out
}

fn sample(curve: &Curve, surface: &Surface, t: f64, guess: P2) -> P2 {
    unwrapped(surface, surface.invert(&curve.point(t), Some(guess), None), guess)
}

/// Adds the samples after `a` up to `b`.
fn refine(curve: &Curve, surface: &Surface, a: (f64, P2), b: (f64, P2), depth: u32, out: &mut Vec<[f64; 3]>) {
    let t = 0.5 * (a.0 + b.0);
    if depth < MAX_HALVINGS && a.0 < t && t < b.0 {
        let guess: P2 = nalgebra::center(&a.1, &b.1);
        let uv = sample(curve, surface, t, guess);
        let d = surface.derivs(uv);
        let length = |x: V2| (d.du * x.x + d.dv * x.y).norm();
        if length(guess - uv) > CLOSE * length(b.1 - a.1) {
            refine(curve, surface, a, (t, uv), depth + 1, out);
            refine(curve, surface, (t, uv), b, depth + 1, out);
            return;
        }
        out.push([t, uv.x, uv.y]);
    }
    out.push([b.0, b.1.x, b.1.y]);
}
