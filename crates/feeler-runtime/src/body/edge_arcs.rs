//! Trimming curves of a solid in space, cut into short arcs with bounds of their derivatives. All edges are
//! included, even those without minima because they are smooth or concave.

use crate::body::{Body, index};
use feeler_geom::crossing::{Arc, Patch, third_of_closed_form};
use feeler_geom::trim::TrimPiece;
use feeler_geom::{P3, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use std::collections::BTreeMap;
use std::ops::Range;

/// Largest bow of an arc (its distance from its chord), as a fraction of the size of the solid; arcs
/// with a larger bow are halved. A larger value needs more searches, a smaller one more memory.
const MAX_BOW: f64 = 2e-4;
/// Maximum number of halvings of a trimming piece. More of them use more memory; with fewer, arcs can
/// exceed [`MAX_BOW`].
const MAX_HALVINGS: u32 = 6;
/// Number of sampled points along an arc, ends included.
pub(crate) const SAMPLES: usize = 5;

/// Part of a trimming piece of a face. Each edge is included once, on the first of its two faces.
#[derive(Clone, Debug)]
pub(crate) struct EdgeArc {
    /// Face that the trimming piece bounds.
    pub face: FaceId,
    /// Face on the other side of the edge: the last one if there are several, or `face` itself if there is
    /// none.
    pub beside: FaceId,
    /// Upper bound of the distance (mm) of the arc from the face `beside`, by the measured deviations of
    /// the edge.
    pub off: f64,
    pub piece: TrimPiece,
    /// Points at equal steps of the piece's parameter, ends included, in the frame of the solid.
    pub samples: [P3; SAMPLES],
    /// Upper bound of the arc's first derivative (mm) with respect to the piece's parameter, which is in
    /// [0, 1].
    pub speed: f64,
    /// Upper bound of the arc's second derivative (mm) with respect to the piece's parameter, which is in
    /// [0, 1].
    pub bend: f64,
}

impl EdgeArc {
    /// Point and derivative at the piece's parameter `s` in [0, 1], in the frame of the solid.
    pub(crate) fn eval(&self, body: &Body, s: f64) -> (P3, V3) {
        let (p, du, dv) = body.face(self.face).surface.first_derivs(self.piece.eval(s));
        let d = self.piece.derivative(s);
        (p, du * d.x + dv * d.y)
    }

    /// Curve of the arc with bounds of its derivatives, in the form that the search for crossings needs.
    pub(crate) fn curve<'a>(&'a self, body: &'a Body) -> Arc<impl Fn(f64) -> (P3, V3) + 'a> {
        Arc { eval: |s: f64| self.eval(body, s), range: [0.0, 1.0], speed: self.speed, bend: self.bend }
    }

    /// Point at the middle sample of the arc, in the frame of the solid.
    pub(crate) fn middle(&self) -> P3 {
        self.samples[SAMPLES / 2]
    }

    /// Upper bound of the distance (mm) of points of the arc from its middle sample.
    pub(crate) fn radius(&self) -> f64 {
        let ends =
            (self.samples[0] - self.middle()).norm().max((self.samples[SAMPLES - 1] - self.middle()).norm());
        // Between the middle and an end, the arc deviates from the chord by at most its bow.
        (ends + self.bend / 32.0).min(0.5 * self.speed)
    }
}

/// Ball around an arc. Balls are stored contiguously because they exclude most pairs of arcs and faces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeArcBall {
    /// Middle of the arc in the frame of the solid.
    pub center: P3,
    pub radius: f64,
    /// Index of the arc in [`EdgeArcs::list`].
    pub arc: u32,
}

/// The arcs of one solid.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeArcs {
    pub list: Vec<EdgeArc>,
    /// For each face, by its index, the range in `list` of the arcs on its trimming pieces. An edge has
    /// arcs on the first of its two faces only, so the range lacks the edges whose other face comes
    /// first.
    of_face: Vec<Range<usize>>,
    /// For each area, by its index, the range of its balls in `balls`; empty for areas of edges and
    /// vertices.
    of_area: Vec<Range<usize>>,
    /// Balls around arcs, area by area. An arc that may pass through several areas has a ball for each.
    balls: Vec<EdgeArcBall>,
    /// For each edge, by ascending index ([`TrimPiece::edge`]): that index, and an upper bound of the
    /// distance (mm) between the borders of its two faces.
    gaps: Vec<(u32, f64)>,
}

impl EdgeArcs {
    pub(crate) fn new(body: &Body) -> Self {
        let h = body.hierarchy();
        let mut list: Vec<EdgeArc> = Vec::new();
        let mut of_face: Vec<Range<usize>> = Vec::new();
        // First and last face of each edge with the largest distances of their borders from it, and the
        // edges of the arcs.
        let mut owner: BTreeMap<u32, [(FaceId, f64); 2]> = BTreeMap::new();
        let mut edges: Vec<u32> = Vec::new();
        for (f, face) in h.faces.iter().enumerate() {
            let (start, f) = (list.len(), FaceId::new(f));
            let mut thirds = PatchThirds::default();
            for piece in &face.trim.pieces {
                // The largest index marks artificial cuts.
                if piece.edge == u32::MAX {
                    continue;
                }
                let sides = owner.entry(piece.edge).or_insert([(f, 0.0); 2]);
                if sides[0].0 == f {
                    halve((body, f), *piece, MAX_HALVINGS, &mut thirds, &mut list);
                    edges.resize(list.len(), piece.edge);
                } else if sides[1].0 != f {
                    sides[1] = (f, 0.0);
                }
                let side = &mut sides[usize::from(sides[0].0 != f)];
                side.1 = piece.deviation.max(side.1);
            }
            of_face.push(start..list.len());
        }
        for (arc, edge) in list.iter_mut().zip(edges) {
            let [(_, to_edge), (beside, from_edge)] = owner[&edge];
            (arc.beside, arc.off) = (beside, to_edge + from_edge);
        }
        let gaps = owner.iter().map(|(edge, [(_, a), (_, b)])| (*edge, a + b)).collect();
        let mut arcs = Self { list, gaps, ..Self::default() };
        for area in &h.areas {
            let start = arcs.balls.len();
            if let Feature::Face(f) = area.feature {
                let face = body.face(f);
                let period = (face.trim.u_period, face.trim.v_period);
                for t in of_face[f.index()].clone() {
                    let arc = &arcs.list[t];
                    if overlap(&arc.piece.bounds(), &area.rect, period) {
                        let ball = EdgeArcBall { center: arc.middle(), radius: arc.radius(), arc: index(t) };
                        arcs.balls.push(ball);
                    }
                }
            }
            arcs.of_area.push(start..arcs.balls.len());
        }
        arcs.of_face = of_face;
        arcs
    }

    /// Upper bound of the distance (mm) between the borders of the two faces along the edge of a
    /// trimming piece; the piece's own deviation if it belongs to no edge.
    pub(crate) fn gap_beside(&self, piece: &TrimPiece) -> f64 {
        let found = self.gaps.binary_search_by_key(&piece.edge, |(edge, _)| *edge);
        found.map_or(piece.deviation, |i| self.gaps[i].1)
    }

    /// Indices in `list` of the arcs on the trimming pieces of `face`. An edge has arcs on one of its
    /// two faces only, the one with the smaller index. The edges of `face` whose other face has the
    /// smaller index are therefore missing.
    pub(crate) fn of_face(&self, face: FaceId) -> Range<u32> {
        let Range { start, end } = self.of_face[face.index()];
        index(start)..index(end)
    }

    /// Balls around those arcs that may pass through an area, of the arcs that `of_face` returns for the
    /// area's face.
    pub(crate) fn of_area(&self, area: AreaId) -> &[EdgeArcBall] {
        &self.balls[self.of_area[area.index()].clone()]
    }
}

/// Appends the arcs along a trimming piece. The piece is halved until the bow is at most [`MAX_BOW`] or
/// it has been halved `halvings` times.
fn halve(
    (body, face): (&Body, FaceId),
    piece: TrimPiece,
    halvings: u32,
    thirds: &mut PatchThirds,
    out: &mut Vec<EdgeArc>,
) {
    let surface = &body.face(face).surface;
    let (speed, bend) = thirds.bounds_along(surface, &piece);
    if halvings == 0 || bend <= 8.0 * MAX_BOW * body.size() {
        let samples = [0.0, 0.25, 0.5, 0.75, 1.0].map(|s| surface.point(piece.eval(s)));
        out.push(EdgeArc { face, beside: face, off: f64::INFINITY, piece, samples, speed, bend });
        return;
    }
    let (first, second) = piece.split(0.5);
    halve((body, face), first, halvings - 1, thirds, out);
    halve((body, face), second, halvings - 1, thirds, out);
}

/// Upper bounds of the lengths of the third derivatives (uuu, uuv, uvv, vvv) over each Bézier patch of
/// one surface, computed at the first use of the patch.
#[derive(Debug, Default)]
pub(crate) struct PatchThirds {
    of_patch: BTreeMap<(usize, usize), [f64; 4]>,
}

impl PatchThirds {
    /// Upper bounds of the first and second derivative of a trimming piece in space with respect to its
    /// parameter.
    pub(crate) fn bounds_along(&mut self, surface: &Surface, piece: &TrimPiece) -> (f64, f64) {
        let largest = |c: [f64; 4]| {
            let steps = [c[1] - c[0], c[2] - c[1], c[3] - c[2]];
            let first = steps.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
            let second = (steps[1] - steps[0]).abs().max((steps[2] - steps[1]).abs());
            (3.0 * first, 6.0 * second)
        };
        let ((u1, u2), (v1, v2)) = (largest(piece.us()), largest(piece.vs()));
        let range = |c: [f64; 4]| {
            c.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(*x), hi.max(*x)))
        };
        // The range of the control points is close to the tightest one if the piece is short.
        let ((u_lo, u_hi), (v_lo, v_hi)) = (range(piece.us()), range(piece.vs()));
        let rect = Rect { u0: u_lo, u1: u_hi, v0: v_lo, v1: v_hi };
        let mut bounds = (0.0_f64, 0.0_f64);
        let mut take = |rect: Rect, third: [f64; 4]| {
            let patch = Patch { surface, outward: true, pose: None, rect, third, cone: (V3::zeros(), 1.0) };
            let [su, sv, suu, suv, svv] = patch.derivative_bounds();
            bounds.0 = bounds.0.max(su * u1 + sv * v1);
            bounds.1 = bounds.1.max(suu * u1 * u1 + 2.0 * suv * u1 * v1 + svv * v1 * v1 + su * u2 + sv * v2);
        };
        match surface {
            Surface::Bezier(grid) => {
                let (us, vs) = grid.parts(&rect);
                for u in &us {
                    for v in &vs {
                        let place = (u.piece, v.piece);
                        let third = *self.of_patch.entry(place).or_insert_with(|| {
                            let over = surface.third_derivatives(&grid.patch_rect(place));
                            over.map_or([f64::INFINITY; 4], |t| t.map(|b| b.norm()))
                        });
                        take(Rect { u0: u.t0, u1: u.t1, v0: v.t0, v1: v.t1 }, third);
                    }
                }
            }
            _ => take(rect, third_of_closed_form(surface, &rect)),
        }
        bounds
    }
}

/// Whether two parameter rectangles intersect, one of them shifted by up to one period.
fn overlap(a: &Rect, b: &Rect, (u_period, v_period): (Option<f64>, Option<f64>)) -> bool {
    let intersect = |a0: f64, a1: f64, b0: f64, b1: f64, period: Option<f64>| {
        let slack = 1e-9 * (a1 - a0 + b1 - b0);
        let hit = |shift: f64| a0 + shift <= b1 + slack && b0 <= a1 + shift + slack;
        hit(0.0) || period.is_some_and(|p| hit(p) || hit(-p))
    };
    intersect(a.u0, a.u1, b.u0, b.u1, u_period) && intersect(a.v0, a.v1, b.v0, b.v1, v_period)
}
