//! Splits faces into parameter rectangles over which normals are almost constant.
//!
//! # Source
//! BREP §2.4.1 and Algorithm 3, MATH §6 "Almost flat".
//!
//! # Deviations
//! - The four recursive calls of Algorithm 3 are misprinted (they are the quarters). Here a patch is
//!   halved across the direction in which its normals turn more, so that an extruded patch is not cut
//!   along its rulings.
//! - On spheres and tori the number of columns depends on the latitude of the row.
//! - Every rectangle is shrunk to the part of the trimmed domain in it ([`crate::cover`]).

use feeler_geom::{P2, Rect, RevolutionCone, Surface, V3, math};
use std::f64::consts::SQRT_2;

use crate::cover::{CoverCost, Coverage};
use crate::group::FaceGroup;
use crate::normals::normals_over;

/// Area, relative to the rectangle that is covered, that an additional leaf must save. With this value a
/// triangle has at most three leaves; a disc and a quarter of an annulus have one. A larger value gives
/// looser covers; a smaller one more leaves.
const LEAF_COST: f64 = 0.1;

/// Reduction of the leaf cost per hole: the cost is divided by `1 + COST_PER_HOLE * holes`, because
/// holes should not be covered. With a smaller value holes are covered.
const COST_PER_HOLE: f64 = 4.0;

/// Maximum number of holes that reduce the cost of a leaf.
const MAX_HOLES: usize = 1000;

/// Maximum angle (rad) about the axis of a cone or torus that a rectangle may cover. Where normals
/// hardly turn (a flat cone, the top of a torus), whole rings would be flat enough but fill their boxes
/// badly. A larger value gives looser boxes; a smaller one more leaves.
const MAX_TURN: f64 = 0.8;

/// Maximum number of halvings of a Bézier patch, after which a rectangle becomes an area although its
/// normals vary by more than the flatness.
const MAX_HALVINGS: u32 = 12;

/// Maximum number of halvings of a patch around whose normals no cone is known because it contains a
/// singular point. Rectangles that contain the singular point never get a cone, however small they are.
const MAX_SINGULAR_HALVINGS: u32 = 6;

/// Width of a part of a free-form face, relative to the domain of the face, up to which the part is due to
/// the rounding of parameters beside a break of the surface. With a larger value points of the domain are in
/// no area; with a smaller one areas have zero width.
const MIN_WIDTH: f64 = 1e-12;

/// Maximum number of rectangles of one free-form face beyond one per patch. A face with a fold (its
/// normals reverse along a curve) would exhaust the memory; if the limit is exceeded, the face is split
/// again with fewer halvings per patch.
const MAX_PARTS: usize = 5_000;

/// Maximum flatness (rad) of free-form areas, also if the option is larger. Their minima are found by
/// iteration from a few starts per area, and with 0.8 a minimum of the reference search was missed (a
/// face and an edge of two threads). Canonical areas are solved in closed form over their whole feature,
/// so that their size affects only culling. A smaller value gives more leaves.
pub(crate) const FREE_FORM_FLATNESS: f64 = 0.5;

/// Parameter rectangle of a face over which normals are almost constant.
#[derive(Clone, Debug)]
pub(crate) struct FacePart {
    pub(crate) rect: Rect,
    /// Directions whose conical hull contains the natural normals over the rectangle; `None` if they fit
    /// no half-space or the surface is singular there.
    pub(crate) generators: Option<Vec<V3>>,
}

/// Splits a face into rectangles that together contain its trimmed domain. The normals of each lie within
/// a cone of apex angle `flatness` (rad), except at singular points of patches.
pub(crate) fn split_face(face: &FaceGroup, flatness: f64) -> Vec<FacePart> {
    let flatness = if face.surface.is_canonical() { flatness } else { flatness.min(FREE_FORM_FLATNESS) };
    let domain = face.cells.rect;
    let mut coverage = Coverage::new(&face.cells);
    // The two ends of a cylinder or cone are loops as well.
    let plain_loops = if face.surface.u_period().is_some() { 2 } else { 1 };
    let holes = face.n_loops.saturating_sub(plain_loops).min(MAX_HOLES);
    #[expect(clippy::cast_precision_loss, reason = "at most 1000")]
    let leaf = LEAF_COST / (1.0 + COST_PER_HOLE * holes as f64);
    let rects: Vec<Rect> = match &face.surface {
        Surface::Plane { .. } => vec![domain],
        Surface::Cylinder { .. } => columns(&domain, flatness),
        Surface::Cone { half_angle, .. } => {
            // The normals turn by 2 asin(cos φ sin(Δu / 2)) while the ruling turns by Δu.
            let s = math::sin(0.5 * flatness) / math::cos(*half_angle);
            let turn = if s < 1.0 { (2.0 * math::asin(s)).min(MAX_TURN) } else { MAX_TURN };
            columns(&domain, turn)
        }
        Surface::Sphere { .. } => bands(&domain, flatness, f64::INFINITY),
        Surface::Torus { .. } => bands(&domain, flatness, MAX_TURN),
        Surface::Bezier(_) => {
            let patches = patches(&face.surface, &domain);
            let max_rects = patches.len() + MAX_PARTS;
            let mut halving = Halving {
                surface: &face.surface,
                flatness,
                max_halvings: MAX_HALVINGS,
                max_rects,
                min_size: [domain.width(), domain.height()].map(|width| MIN_WIDTH * width),
            };
            loop {
                let mut out = Vec::new();
                for rect in &patches {
                    halving.halve(&mut coverage, rect, 0, &mut out);
                }
                if out.len() <= max_rects || halving.max_halvings == 0 {
                    return out;
                }
                halving.max_halvings -= 4;
            }
        }
    };
    let part = |rect: Rect| FacePart { rect, generators: face.surface.normal_generators(&rect) };
    let mut out = Vec::new();
    for rect in &rects {
        let cost = CoverCost { leaf, aspect: aspect(&face.surface, rect) };
        out.extend(coverage.cover(rect, &cost).iter().copied().map(part));
    }
    out
}

/// Computes the ratio of the length along u to the length along v of a parameter rectangle in space,
/// measured at its centre.
fn aspect(surface: &Surface, rect: &Rect) -> f64 {
    let d = surface.derivs(P2::new(0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1)));
    let a = d.du.norm() * (rect.u1 - rect.u0) / (d.dv.norm() * (rect.v1 - rect.v0));
    if a.is_finite() { a.clamp(1e-6, 1e6) } else { 1.0 }
}

/// Returns the smallest number of equal parts of an interval of length `span` that are at most `limit`
/// long, up to rounding.
pub(crate) fn parts(span: f64, limit: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let n = (span / limit - 1e-9).ceil().clamp(1.0, 1e6) as u32;
    n
}

/// Divides `[a, b]` into `n` equal parts; adjacent parts have equal ends, and the last one ends exactly
/// at `b`.
fn divide(a: f64, b: f64, n: u32) -> impl Iterator<Item = (f64, f64)> {
    let at = move |k: u32| if k == n { b } else { a + (b - a) * (f64::from(k) / f64::from(n)) };
    (0..n).map(move |k| (at(k), at(k + 1)))
}

fn columns(domain: &Rect, limit: f64) -> Vec<Rect> {
    let n = parts(domain.u1 - domain.u0, limit);
    divide(domain.u0, domain.u1, n).map(|(u0, u1)| Rect { u0, u1, ..*domain }).collect()
}

/// Divides the domain of a sphere or torus into rows along v, and each row into columns along u whose
/// number depends on the longest parallel of the row. Columns turn by at most `max_turn` (rad) about the
/// axis.
fn bands(domain: &Rect, flatness: f64, max_turn: f64) -> Vec<Rect> {
    let limit = flatness / SQRT_2;
    let mut out = Vec::new();
    for (v0, v1) in divide(domain.v0, domain.v1, parts(domain.v1 - domain.v0, limit)) {
        let widest = max_abs_cos(v0, v1);
        let turn = (limit / widest).min(max_turn);
        let row = Rect { v0, v1, ..*domain };
        out.extend(columns(&row, turn));
    }
    out
}

/// Maximum of |cos| over an interval.
fn max_abs_cos(a: f64, b: f64) -> f64 {
    let pi = std::f64::consts::PI;
    if (a / pi).ceil() <= (b / pi).floor() { 1.0 } else { math::cos(a).abs().max(math::cos(b).abs()) }
}

/// Cuts the domain at the breaks of a free-form surface, into one rectangle for each Bézier patch.
fn patches(surface: &Surface, domain: &Rect) -> Vec<Rect> {
    let (us, vs) = surface.breaks(domain);
    let stops = |a: f64, inner: &[f64], b: f64| -> Vec<f64> {
        std::iter::once(a).chain(inner.iter().copied()).chain(std::iter::once(b)).collect()
    };
    let (us, vs) = (stops(domain.u0, &us, domain.u1), stops(domain.v0, &vs, domain.v1));
    let mut out = Vec::new();
    for u in us.windows(2) {
        out.extend(vs.windows(2).map(|v| Rect { u0: u[0], u1: u[1], v0: v[0], v1: v[1] }));
    }
    out
}

/// Surface and limits of the recursive halving of Bézier patches.
struct Halving<'a> {
    surface: &'a Surface,
    flatness: f64,
    /// Maximum number of halvings of one Bézier patch.
    max_halvings: u32,
    /// Number of rectangles of one face beyond which the recursion stops.
    max_rects: usize,
    /// Width and height up to which a rectangle is omitted.
    min_size: [f64; 2],
}

impl Halving<'_> {
    fn halve(&self, coverage: &mut Coverage<'_>, rect: &Rect, depth: u32, out: &mut Vec<FacePart>) {
        if out.len() > self.max_rects {
            return;
        }
        let Some(tight) = coverage.shrink(rect) else { return };
        // The domain ends at a side of `rect`, up to rounding, and the rectangle beyond that side contains
        // its end. Bounds of derivatives per width do not exist for a rectangle without an inside.
        if tight.width() <= self.min_size[0] || tight.height() <= self.min_size[1] {
            return;
        }
        let samples = Samples::new(self.surface, &tight);
        let flat = |c: &RevolutionCone| c.half_angle <= 0.5 * self.flatness;
        // Bounding costs much more than sampling, so that it waits until the samples are almost flat.
        let sampled_flat = flat(&RevolutionCone::around(&samples.normals));
        let singular = MAX_SINGULAR_HALVINGS.min(self.max_halvings);
        let bound = sampled_flat || depth >= singular;
        let generators = if bound { normals_over(self.surface, &tight) } else { None };
        let bounded_flat = generators.as_ref().is_some_and(|g| flat(&RevolutionCone::around(g)));
        let limit = if sampled_flat && generators.is_none() { singular } else { self.max_halvings };
        if bounded_flat || depth >= limit {
            out.push(FacePart { rect: tight, generators });
            return;
        }
        let (a, b) = if samples.turn_more_along_u(self.surface, &tight) {
            let u = 0.5 * (tight.u0 + tight.u1);
            (Rect { u1: u, ..tight }, Rect { u0: u, ..tight })
        } else {
            let v = 0.5 * (tight.v0 + tight.v1);
            (Rect { v1: v, ..tight }, Rect { v0: v, ..tight })
        };
        self.halve(coverage, &a, depth + 1, out);
        self.halve(coverage, &b, depth + 1, out);
    }
}

/// Unit normals of a surface at 4 × 4 points of a parameter rectangle; index 4 i + j is for step i along
/// u and j along v. They only decide where to cut and when to bound the normals.
struct Samples {
    normals: [V3; 16],
}

impl Samples {
    fn new(surface: &Surface, r: &Rect) -> Self {
        // The samples lie slightly inside because patches can collapse on a side.
        let s = |k: usize| [0.05, 0.35, 0.65, 0.95][k];
        let at = |k: usize| P2::new(r.u0 + (r.u1 - r.u0) * s(k / 4), r.v0 + (r.v1 - r.v0) * s(k % 4));
        Self { normals: std::array::from_fn(|k| surface.normal(at(k))) }
    }

    /// Returns whether the normals turn more along u than along v, or, if they turn equally, whether the
    /// rectangle is longer along u.
    fn turn_more_along_u(&self, surface: &Surface, r: &Rect) -> bool {
        let at = |i: usize, j: usize| self.normals[4 * i + j];
        let (mut along_u, mut along_v) = (0.0, 0.0);
        for i in 0..4 {
            for j in 0..3 {
                along_u += (at(j + 1, i) - at(j, i)).norm();
                along_v += (at(i, j + 1) - at(i, j)).norm();
            }
        }
        if (along_u - along_v).abs() <= 1e-6 * (along_u + along_v) {
            aspect(surface, r) >= 1.0
        } else {
            along_u > along_v
        }
    }
}
