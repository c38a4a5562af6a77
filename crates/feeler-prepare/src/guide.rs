//! Samples along an edge, with the parameters of the same points on a Bézier surface. Newton's method for
//! the surface parameters of other points of the edge starts from them.

use std::cell::Cell;

use feeler_brep::{EdgeInfo, EdgeSide, Solid};
use feeler_geom::{Curve, P2, Surface, V2};

use crate::group::EdgeGroup;
use crate::normals::unwrapped;

/// Maximum error of surface parameters that are interpolated linearly between two neighbouring samples
/// of an edge, as a fraction of the distance between the two samples. Error and distance are lengths on
/// the surface, and the error is that at the middle of the interval, which is halved if the error is
/// larger. Newton's method converges from the interpolated parameters because they are an order of
/// magnitude nearer than the neighbouring samples. With a larger value Newton can diverge; with a
/// smaller one there are more samples.
const MAX_INTERPOLATION_ERROR: f64 = 0.05;

/// Maximum number of halvings of the interval between two initial samples of an edge; the intervals that
/// remain are accepted whatever their error.
const MAX_HALVINGS: u32 = 6;

/// Maximum number of searches of the whole surface along one source edge, for points at which Newton's
/// method does not converge. Beyond it, such points keep their guess: if the method hardly ever
/// converges, more searches would not make the samples useful.
const MAX_SEARCHES: u32 = 200;

/// Computes the samples `(t, u, v)` of side `side` of a supermaximal edge: `t` is the parameter of the
/// edge's curve in ascending order, and `u` and `v` are those of `surface`, the surface on that side.
/// Returns no samples for canonical surfaces.
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
            // The parameters of the member may differ by whole turns from those of its span.
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

/// Returns the side of the source edge `info` that became side `side` of the supermaximal edge.
/// `reversed` is whether the curves of both run in opposite directions.
fn source_side<'a>(
    edge: &EdgeGroup,
    side: usize,
    info: &'a EdgeInfo,
    reversed: bool,
) -> Option<&'a EdgeSide> {
    let forward = edge.sides[side].1 != reversed;
    info.sides.iter().find(|s| s.forward == forward).or_else(|| info.sides.get(side))
}

/// Computes samples along one side of one source edge, in the parameters of the source edge's curve.
fn walk(curve: &Curve, side: &EdgeSide, surface: &Surface) -> Vec<[f64; 3]> {
    let mut out: Vec<[f64; 3]> = Vec::new();
    let mut sampler = Sampler { curve, surface, off: 0.0, searches: Cell::new(0) };
    for (k, piece) in side.pcurve.iter().enumerate() {
        let (Some(&a), Some(&b)) = (side.joints.get(k), side.joints.get(k + 1)) else { continue };
        let start = (a, piece.start());
        sampler.off = 2.0 * piece.deviation.max(side.deviation);
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
            // A piece is not parametrised like the curve; points inside it are only guesses.
            let uv = if t < b { sampler.at(t, piece.eval((t - a) / (b - a))) } else { piece.end() };
            sampler.refine(from, (t, uv), 0, &mut out);
            from = (t, uv);
        }
    }
    out
}

/// Computes the surface parameters of points of an edge on one of its faces.
struct Sampler<'a> {
    curve: &'a Curve,
    surface: &'a Surface,
    /// Distance (mm) of a point from the surface up to which the result of Newton's method is accepted.
    off: f64,
    /// Number of searches of the whole surface so far.
    searches: Cell<u32>,
}

impl Sampler<'_> {
    fn at(&self, t: f64, guess: P2) -> P2 {
        let p = self.curve.point(t);
        // If an edge deviates from its surface, Newton's method ends at the border of the surface; a
        // search would not find a better point.
        let near = match self.surface {
            Surface::Bezier(b) => b.descend(&p, guess).filter(|(_, off)| *off <= self.off),
            _ => None,
        };
        let uv = match near {
            Some((uv, _)) => uv,
            None if self.searches.get() >= MAX_SEARCHES => guess,
            None => {
                self.searches.set(self.searches.get() + 1);
                self.surface.invert(&p, Some(guess), None)
            }
        };
        unwrapped(self.surface, uv, guess)
    }

    /// Appends the samples after `a` up to and including `b` to `out`, and halves the interval until
    /// linear interpolation is accurate. `a` and `b` each consist of a parameter of the curve and the
    /// surface parameters there; `depth` is the number of halvings so far.
    fn refine(&self, a: (f64, P2), b: (f64, P2), depth: u32, out: &mut Vec<[f64; 3]>) {
        let t = 0.5 * (a.0 + b.0);
        if depth < MAX_HALVINGS && a.0 < t && t < b.0 {
            let guess: P2 = nalgebra::center(&a.1, &b.1);
            let uv = self.at(t, guess);
            let d = self.surface.derivs(uv);
            let length = |x: V2| (d.du * x.x + d.dv * x.y).norm();
            if length(guess - uv) > MAX_INTERPOLATION_ERROR * length(b.1 - a.1) {
                self.refine(a, (t, uv), depth + 1, out);
                self.refine((t, uv), b, depth + 1, out);
                return;
            }
            out.push([t, uv.x, uv.y]);
        }
        out.push([b.0, b.1.x, b.1.y]);
    }
}
