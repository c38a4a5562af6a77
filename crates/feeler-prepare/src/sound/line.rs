//! Finds the crossings of a line and the boundary of a solid.
//!
//! Canonical surfaces use closed forms. Free-form areas are halved until the line is far from tangent to
//! them. Each part then has at most one crossing, which Newton's method finds. A line that passes near a
//! trim or is nearly tangent to the boundary is inconclusive and is not used.

use feeler_geom::surface::line_in_slabs;
use feeler_geom::trim::Side;
use feeler_geom::{Aabb, Obb, P2, P3, Rect, RevolutionCone, V3, math};
use feeler_hierarchy::{Face, FaceId, Feature, FeatureType, Hierarchy, NodeId};

/// Sine of the angle between line and surface up to which a crossing counts as a tangency and makes the
/// line inconclusive. With a larger value more lines are needed for valid solids; with a smaller one
/// crossings can be miscounted.
const MIN_CROSSING_SINE: f64 = 1e-4;

/// Approximate minimum sine of the angle between the line and the tangent planes of a part of a
/// free-form area for which Newton's method is used. A larger value causes more halvings; with a smaller
/// one Newton's method can diverge.
const MIN_GRAPH_SINE: f64 = 1e-2;

/// Maximum number of parts of free-form areas that are visited for one line; a line that needs more is
/// inconclusive.
const MAX_PARTS: u32 = 200;

/// Maximum number of halvings of the rectangle of a free-form area; a line that needs more is
/// inconclusive.
const MAX_HALVINGS: u32 = 24;

/// Infinite line through `origin` along `dir`, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) origin: P3,
    /// Unit direction of the line.
    pub(super) dir: V3,
}

/// Crossing of a line and the boundary of a solid: `t` is the distance (mm) along the line from its
/// origin, with sign, and `uv` are the parameters on the face's surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub(super) t: f64,
    /// 1 if the line enters the solid, −1 if it leaves it.
    pub(super) step: i32,
    pub(super) face: FaceId,
    uv: P2,
}

/// Solid whose boundary is intersected with lines, up to the tolerance `tol` (mm).
pub(super) struct Target<'a> {
    pub(super) h: &'a Hierarchy,
    /// For each face, the maximum deviation (mm) of its trims from their edges; crossings nearer to a
    /// trim are ambiguous.
    deviation: Vec<f64>,
    pub(super) tol: f64,
}

impl<'a> Target<'a> {
    pub(super) fn new(h: &'a Hierarchy, tol: f64) -> Self {
        let of_face = |f: &Face| f.trim.pieces.iter().map(|p| p.deviation).fold(0.0, f64::max);
        Self { h, deviation: h.faces.iter().map(of_face).collect(), tol }
    }

    /// Returns all crossings with the boundary in order along the line. Returns `None` if the line is
    /// inconclusive because a crossing is ambiguous.
    pub(super) fn crossings(&self, line: &Line) -> Option<Vec<Crossing>> {
        let slack = self.tol + self.h.info.max_trim_deviation;
        let (mut stack, mut canonical, mut found) = (vec![NodeId(0)], vec![], vec![]);
        let mut parts = 0;
        while let Some(i) = stack.pop() {
            let node = &self.h.nodes[i.index()];
            if node.types & FeatureType::FACES == 0 || !line.intersects_box(&node.obb, slack) {
                continue;
            }
            if let Some(children) = node.children() {
                stack.extend(children);
                continue;
            }
            let Some(area) = node.area().map(|a| &self.h.areas[a.index()]) else { continue };
            let Feature::Face(f) = area.feature else { continue };
            if self.h.faces[f.index()].surface.is_canonical() {
                canonical.push(f);
            } else {
                self.cross_part(line, f, &area.rect, Some(&node.cone), (0, &mut parts), &mut found)?;
            }
        }
        canonical.sort_unstable();
        canonical.dedup();
        for f in canonical {
            self.cross_face(line, f, &mut found)?;
        }
        // Adjacent areas share their border, so that a crossing can be found twice.
        found.sort_by(|a, b| (a.face, a.t).partial_cmp(&(b.face, b.t)).unwrap_or(std::cmp::Ordering::Equal));
        found.dedup_by(|a, b| a.face == b.face && self.is_same(a, b));
        found.sort_by(|a, b| a.t.total_cmp(&b.t));
        Some(found)
    }

    /// Returns whether two crossings of one face have the same surface parameters, up to rounding.
    fn is_same(&self, a: &Crossing, b: &Crossing) -> bool {
        let trim = &self.h.faces[a.face.index()].trim;
        let near = |x: f64, y: f64, period: Option<f64>, width: f64| {
            let d = (x - y).abs();
            period.map_or(d, |p| (d % p).min(p - d % p)) <= 1e-5 * width
        };
        near(a.uv.x, b.uv.x, trim.u_period, trim.rect.width())
            && near(a.uv.y, b.uv.y, trim.v_period, trim.rect.height())
    }

    fn cross_face(&self, line: &Line, f: FaceId, found: &mut Vec<Crossing>) -> Option<()> {
        let face = &self.h.faces[f.index()];
        for t in face.surface.line_parameters(&line.origin, &line.dir, MIN_CROSSING_SINE)? {
            let p = line.origin + line.dir * t;
            let uv = face.surface.invert(&p, None, Some(&face.trim.rect));
            let off = (face.surface.point(uv) - p).norm();
            if off > 1e3 * self.tol {
                // The point is on the other nappe or sheet.
                continue;
            }
            if off > self.tol {
                return None;
            }
            self.add_crossing(line, f, uv, t, found)?;
        }
        Some(())
    }

    /// Adds the crossings of the line with the part of a free-form face over the parameter rectangle
    /// `rect`. `cone` contains the outward or the natural normals of the part, `halvings` is the number
    /// of halvings so far, and `parts` counts the parts visited for the line. Returns `None` if a
    /// crossing is ambiguous or a limit is exceeded.
    fn cross_part(
        &self,
        line: &Line,
        f: FaceId,
        rect: &Rect,
        cone: Option<&RevolutionCone>,
        (halvings, parts): (u32, &mut u32),
        found: &mut Vec<Crossing>,
    ) -> Option<()> {
        *parts += 1;
        let surface = &self.h.faces[f.index()].surface;
        // Seen along the line the part is a graph and has at most one crossing.
        let is_graph = cone.is_some_and(|c| {
            let to_axis = c.axis.dot(&line.dir).abs();
            c.half_angle < 1.5 && to_axis > math::sin(c.half_angle) + MIN_GRAPH_SINE
        });
        if is_graph && let Some(crossing) = surface.graph_crossing(rect, (&line.origin, &line.dir), self.tol)
        {
            return crossing.map_or(Some(()), |(uv, t)| self.add_crossing(line, f, uv, t, found));
        }
        if halvings >= MAX_HALVINGS || *parts >= MAX_PARTS {
            return None;
        }
        for half in surface.halves(rect) {
            if line.intersects_aabb(&surface.bounds(&half), self.tol) {
                let cone = surface.normal_cone(&half);
                self.cross_part(line, f, &half, cone.as_ref(), (halvings + 1, &mut *parts), found)?;
            }
        }
        Some(())
    }

    /// Adds a crossing of the line with a face's surface if it lies on the face. Returns `None` if that
    /// is ambiguous because a trim is near, or if the line is nearly tangent to the surface.
    fn add_crossing(&self, line: &Line, f: FaceId, uv: P2, t: f64, found: &mut Vec<Crossing>) -> Option<()> {
        let face = &self.h.faces[f.index()];
        let margin = self.deviation[f.index()] + 10.0 * self.tol;
        let by_trim = face.trim.nearest(uv, face.surface.metric(uv), margin).is_some();
        if by_trim {
            return None;
        }
        if face.trim.classify(uv) != Side::Inside {
            return Some(());
        }
        let normal = face.surface.normal(uv);
        let sine = if face.outward { normal.dot(&line.dir) } else { -normal.dot(&line.dir) };
        // NaN is ambiguous, too.
        if sine.abs().partial_cmp(&MIN_CROSSING_SINE) != Some(std::cmp::Ordering::Greater) {
            return None;
        }
        found.push(Crossing { t, step: if sine < 0.0 { 1 } else { -1 }, face: f, uv });
        Some(())
    }
}

impl Line {
    fn intersects_box(&self, obb: &Obb, slack: f64) -> bool {
        let d = obb.center - self.origin;
        let slab = |k: usize| (obb.axes[k].dot(&d), obb.axes[k].dot(&self.dir), obb.half[k] + slack);
        line_in_slabs([slab(0), slab(1), slab(2)]).is_some()
    }

    fn intersects_aabb(&self, b: &Aabb, slack: f64) -> bool {
        let (d, half) = (b.center() - self.origin, (b.max - b.min) * 0.5);
        let slab = |k: usize| (d[k], self.dir[k], half[k] + slack);
        line_in_slabs([slab(0), slab(1), slab(2)]).is_some()
    }
}
