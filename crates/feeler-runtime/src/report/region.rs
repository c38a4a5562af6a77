//! Area of the common region of two faces on one surface.
//!
//! On lines of constant v (in the parameters of A's face), the intervals of u inside both faces are
//! determined. The area per unit of u and v is integrated over these intervals, and then over v. If an
//! affine map takes B's parameters to A's (planes; cylinders, cones and tori about one axis; spheres
//! with parallel axes; splines that are one surface), B's trims are mapped and the intervals are exact.
//! Otherwise the line is sampled, and each change between inside and outside is located by bisection.

use crate::body::ids::FacePair;
use crate::nearest::{foot_on_face, foot_on_face_within};
use crate::query::Context;
use feeler_geom::crossing::parameter_map;
use feeler_geom::trim::{Side, TrimCells, TrimDomain, TrimPiece, gauss_legendre};
use feeler_geom::{P2, P3, Rect, Surface, V2, V3, math};
use nalgebra::Matrix2;
use std::cell::Cell;

/// Largest distance, in tolerances, of two surfaces that count as one. A larger value measures areas of
/// faces that are apart; with a smaller one, contacts have no area.
const MAX_SURFACE_DISTANCE: f64 = 4.0;
/// Number of samples of a line of constant v: for surfaces with a closed form, and for splines. A larger
/// value is slower; a smaller one misses narrow parts of the region.
const LINE_SAMPLES: [usize; 2] = [512, 64];
/// Number of bisections between two samples of a line at a border of the region: on surfaces with a closed
/// form, and on splines. A larger value is slower; a smaller one limits the accuracy of areas.
const BORDER_BISECTIONS: [u32; 2] = [50, 16];
/// Relative accuracy of areas: with mapped trims on surfaces with a closed form and on splines, and with
/// sampled lines on surfaces with a closed form and on splines. A larger value is less exact, a smaller
/// one slower.
const AREA_ACCURACY: [f64; 4] = [1e-11, 1e-7, 1e-8, 1e-4];
/// Number of parts of a spline's piece in which the area per parameters is integrated separately. A
/// larger value is slower; with a smaller one the accuracy of mapped trims may not be reached.
const PIECE_PARTS: usize = 4;
/// Maximum number of successive bisections of a range of v in the integration. A larger value is slower at
/// corners of regions, a smaller one less exact.
const MAX_BISECTIONS: u32 = 40;
/// Maximum number of lines of constant v that are evaluated for one region. A larger value is slower, a
/// smaller one less exact.
const MAX_LINES: u32 = 40_000;
/// Number of points of sampled lines on or beside splines that are projected to the other face, after which
/// ranges of v are not bisected. A larger value is slower where the gap varies about its limit, as between
/// fitted splines; a smaller one is less exact.
const MAX_PROJECTIONS: u32 = 50_000;

/// Returns the area (mm²) of the part of face `faces[0]` of A at the distance `distance` (mm) from face
/// `faces[1]` of B, and an estimate of the error of the area (mm²). `at` is a point of the region on A, in
/// the frame of A. `None` if the surfaces touch in a line or point only.
pub(super) fn common_area(ctx: &Context<'_>, faces: FacePair, at: &P3, distance: f64) -> Option<(f64, f64)> {
    let (a, b) = (ctx.a.face(faces[0]), ctx.b.face(faces[1]));
    let placed = b.surface.transformed(&ctx.pose_ab);
    let placed = if distance > MAX_SURFACE_DISTANCE * ctx.tol.tol { offset_to(&placed, at) } else { placed };
    let (mapped, samples) = match coincidence(ctx, [&a.surface, &placed], (at, &a.trim.rect), distance) {
        Coincidence::Mapped(map) => {
            let mapped = map.domain(&b.trim, &a.surface, P2::new(a.trim.rect.u0, a.trim.rect.v0));
            (Some(mapped), 0)
        }
        Coincidence::Same => (None, LINE_SAMPLES[0]),
        Coincidence::Unknown => (None, LINE_SAMPLES[1]),
        Coincidence::Apart => return None,
    };
    let is_spline = matches!(a.surface, Surface::Bezier(_)) || matches!(b.surface, Surface::Bezier(_));
    // Nearest points on closed forms take little time.
    let projections = Cell::new(if is_spline { MAX_PROJECTIONS } else { u32::MAX });
    let near = Cell::new(None);
    let region = Region { ctx, faces, distance, mapped, samples, is_spline, near, projections };
    let accuracy = AREA_ACCURACY[2 * usize::from(region.mapped.is_none()) + usize::from(is_spline)];
    let (area, error) = region.area(accuracy);
    let error = error + region.trim_error();
    // Splines that touch along a line have a common region whose width is due to the tolerance only.
    let extent = ctx.a.data(feeler_hierarchy::Feature::Face(faces[0])).extent;
    (!is_spline || area > 1e-2 * extent * extent).then_some((area, error))
}

/// Returns the offset surface of `surface` through the point `at` (both in one frame), with the same
/// parameters. Cones and splines are returned unchanged.
fn offset_to(surface: &Surface, at: &P3) -> Surface {
    match *surface {
        Surface::Plane { mut frame } => {
            frame.origin += frame.z * (at - frame.origin).dot(&frame.z);
            Surface::Plane { frame }
        }
        Surface::Cylinder { frame, .. } => {
            Surface::Cylinder { frame, radius: (at - frame.origin).cross(&frame.z).norm() }
        }
        Surface::Sphere { frame, .. } => Surface::Sphere { frame, radius: (at - frame.origin).norm() },
        Surface::Torus { frame, major, .. } => {
            let local = frame.local(at);
            let radial = math::hypot(local.x, local.y) - major;
            Surface::Torus { frame, major, minor: math::hypot(radial, local.z) }
        }
        Surface::Cone { .. } | Surface::Bezier(_) => surface.clone(),
    }
}

/// Relation of two surfaces near a common point.
enum Coincidence {
    /// The surfaces coincide, and an affine map takes the parameters of the second one to those of the
    /// first one.
    Mapped(Map),
    /// The surfaces coincide, but no affine map between their parameters is known.
    Same,
    /// A surface is a spline, so it is tested for each point whether the surfaces coincide there.
    Unknown,
    /// The surfaces touch in a line or a point.
    Apart,
}

/// Affine map from parameters of B to parameters of A.
struct Map {
    linear: Matrix2<f64>,
    shift: V2,
}

impl Map {
    fn new(rows: [[f64; 2]; 2], shift: [f64; 2]) -> Self {
        let [[a, b], [c, d]] = rows;
        Self { linear: Matrix2::new(a, b, c, d), shift: V2::from(shift) }
    }

    /// Maps the trimmed domain `cells` of B's face to the parameters of A's surface `surface`, in the
    /// period that starts at `origin`.
    fn domain(&self, cells: &TrimCells, surface: &Surface, origin: P2) -> TrimCells {
        let mirrored = self.linear.determinant() < 0.0;
        let place = |p: &TrimPiece| {
            let mapped = p.mapped(|q| P2::from(self.linear * q.coords + self.shift));
            if mirrored { mapped.reversed() } else { mapped }
        };
        let pieces: Vec<TrimPiece> = cells.pieces.iter().map(place).collect();
        let (u, v) = (surface.u_period(), surface.v_period());
        TrimCells::build(&TrimDomain::new(&pieces, surface.natural_domain(), u, v, origin)).0
    }
}

/// Relation of the surfaces `a` and `b` of two faces near the point `at`, all in the frame of A; `rect` are
/// the parameters of A's face. `distance` (mm) is that of the faces.
fn coincidence(
    ctx: &Context<'_>,
    [a, b]: [&Surface; 2],
    (at, rect): (&P3, &Rect),
    distance: f64,
) -> Coincidence {
    let near = MAX_SURFACE_DISTANCE * ctx.tol.tol;
    let angle = near / ctx.tol.size;
    let along = |x: &V3, y: &V3| x.cross(y).norm() <= angle;
    // Angle, sense and height of B relative to A for surfaces about one axis.
    let about = |f: &feeler_geom::Frame, g: &feeler_geom::Frame| {
        let turned = math::atan2(g.x.dot(&f.y), g.x.dot(&f.x));
        (turned, g.z.dot(&f.z).signum(), (g.origin - f.origin).dot(&f.z))
    };
    let on_axis = |f: &feeler_geom::Frame, p: &P3| (p - f.origin).cross(&f.z).norm() <= near;
    match (a, b) {
        (Surface::Plane { frame: f }, Surface::Plane { frame: g }) => {
            let off = (at - g.origin).dot(&g.z).abs().max((at - f.origin).dot(&f.z).abs());
            if !along(&f.z, &g.z) || off > near {
                return Coincidence::Apart;
            }
            let o = f.local(&g.origin);
            let rows = [[f.x.dot(&g.x), f.x.dot(&g.y)], [f.y.dot(&g.x), f.y.dot(&g.y)]];
            Coincidence::Mapped(Map::new(rows, [o.x, o.y]))
        }
        (Surface::Cylinder { frame: f, radius: r }, Surface::Cylinder { frame: g, radius: s }) => {
            if !along(&f.z, &g.z) || !on_axis(f, &g.origin) || (r - s).abs() > near {
                return Coincidence::Apart;
            }
            let (turned, sense, height) = about(f, g);
            Coincidence::Mapped(Map::new([[sense, 0.0], [0.0, sense]], [turned, height]))
        }
        (Surface::Cone { frame: f, half_angle: r }, Surface::Cone { frame: g, half_angle: s }) => {
            let (turned, sense, height) = about(f, g);
            let parallel =
                along(&f.z, &g.z) && sense > 0.0 && on_axis(f, &g.origin) && (r - s).abs() <= angle;
            let apart = height.abs() * math::sin(*r);
            if !parallel || (apart - distance).abs() > near {
                return Coincidence::Apart;
            }
            if distance > near {
                return Coincidence::Same;
            }
            Coincidence::Mapped(Map::new([[1.0, 0.0], [0.0, 1.0]], [turned, height]))
        }
        (
            Surface::Torus { frame: f, major: m, minor: r },
            Surface::Torus { frame: g, major: n, minor: s },
        ) => {
            let (turned, sense, height) = about(f, g);
            let is_one = along(&f.z, &g.z)
                && on_axis(f, &g.origin)
                && height.abs() <= near
                && (m - n).abs() <= near
                && (r - s).abs() <= near;
            if !is_one {
                return Coincidence::Apart;
            }
            Coincidence::Mapped(Map::new([[sense, 0.0], [0.0, sense]], [turned, 0.0]))
        }
        (Surface::Sphere { frame: f, radius: r }, Surface::Sphere { frame: g, radius: s }) => {
            if (f.origin - g.origin).norm() > near || (r - s).abs() > near {
                return Coincidence::Apart;
            }
            if !along(&f.z, &g.z) {
                return Coincidence::Same;
            }
            let (turned, sense, _) = about(f, g);
            Coincidence::Mapped(Map::new([[sense, 0.0], [0.0, sense]], [turned, 0.0]))
        }
        (Surface::Bezier(_), Surface::Bezier(_)) => {
            let back = parameter_map(a, b, (at, rect), near)
                .and_then(|map| Some((map.linear.try_inverse()?, map.shift)));
            back.map_or(Coincidence::Unknown, |(linear, shift)| {
                Coincidence::Mapped(Map { linear, shift: -(linear * shift) })
            })
        }
        (Surface::Bezier(_), _) | (_, Surface::Bezier(_)) => Coincidence::Unknown,
        _ => Coincidence::Apart,
    }
}

/// Common region of two faces: the part of A's face that is at the distance `distance` from B's face.
struct Region<'a> {
    ctx: &'a Context<'a>,
    /// Faces of A and B.
    faces: FacePair,
    /// Distance (mm) between the two faces in the common region.
    distance: f64,
    /// Domain of B's face in the parameters of A's face, if it can be mapped.
    mapped: Option<TrimCells>,
    /// Number of samples of each line of constant v; 0 if the intervals on the lines follow from the
    /// mapped domain.
    samples: usize,
    /// Whether a face is a spline.
    is_spline: bool,
    /// Parameters on B's face of the last point of the region that was projected to it.
    near: Cell<Option<P2>>,
    /// Number of points that may still be projected to B's face.
    projections: Cell<u32>,
}

impl Region<'_> {
    /// Area (mm²) and an estimate of its error (mm²). `accuracy` is the relative accuracy of the
    /// integration.
    fn area(&self, accuracy: f64) -> (f64, f64) {
        let trim = &self.ctx.a.face(self.faces[0]).trim;
        let (mut low, mut high) = (trim.rect.v0, trim.rect.v1);
        let mut borders: Vec<f64> = trim.rows().to_vec();
        if let Some(mapped) = &self.mapped {
            (low, high) = (low.max(mapped.rect.v0), high.min(mapped.rect.v1));
            borders.extend(mapped.rows());
        }
        borders.extend(self.ctx.a.face(self.faces[0]).surface.breaks(&trim.rect).1);
        borders.retain(|v| low < *v && *v < high);
        borders.extend([low, high]);
        borders.sort_by(f64::total_cmp);
        borders.dedup();
        let rules = [gauss_legendre(5), gauss_legendre(8)];
        let whole = low < high;
        let mut sum = Integral {
            region: self,
            rules: &rules,
            width: high - low,
            accuracy,
            scale: 0.0,
            left: MAX_LINES,
        };
        sum.scale = if whole { sum.rough(low, high) } else { 0.0 };
        let (mut area, mut error) = (0.0, 0.0);
        for w in borders.windows(2).filter(|w| whole && w[0] < w[1]) {
            let (a, e) = sum.over([w[0], w[1]], [0.0, 1.0], MAX_BISECTIONS);
            area += a;
            error += e;
        }
        (area, error)
    }

    /// Error (mm²) of the area because the trims that bound the region deviate from their edges.
    fn trim_error(&self) -> f64 {
        let a = self.ctx.a.face(self.faces[0]);
        let along = |p: &TrimPiece, on: &dyn Fn(P2) -> bool| {
            let uv = p.eval(0.5);
            let (_, du, dv) = a.surface.first_derivs(uv);
            let d = p.end() - p.start();
            if on(uv) { p.deviation * (du * d.x + dv * d.y).norm() } else { 0.0 }
        };
        let of_b = self.mapped.iter().flat_map(|m| &m.pieces);
        let of_b = of_b.map(|p| along(p, &|uv| a.trim.classify(uv) == Side::Inside)).sum::<f64>();
        let of_a = a.trim.pieces.iter().map(|p| {
            along(p, &|uv| {
                self.mapped.as_ref().map_or_else(|| self.is_on_b(uv), |m| m.classify(uv) == Side::Inside)
            })
        });
        // The error of trims of B that are not mapped counts as equal to that of A's trims.
        of_b + of_a.sum::<f64>() * if self.mapped.is_some() { 1.0 } else { 2.0 }
    }

    /// Area (mm²) of the region per unit of v at the line with the parameter `v`. `rule` are the nodes and
    /// weights of a quadrature on [0, 1].
    fn at_row(&self, v: f64, rule: &[(f64, f64)]) -> f64 {
        let face = self.ctx.a.face(self.faces[0]);
        let inside = face.trim.inside_on_row(v);
        let common = match &self.mapped {
            Some(mapped) => common_parts(&inside, &mapped.inside_on_row(v)),
            None => inside.iter().flat_map(|part| self.sample_line(*part, v)).collect(),
        };
        let stretch = |(_, du, dv): &(P3, V3, V3)| du.cross(dv).norm();
        let Surface::Bezier(spline) = &face.surface else {
            let density = |u: f64| stretch(&face.surface.first_derivs(P2::new(u, v)));
            return common.iter().map(|(a, b)| (b - a) * density(*a)).sum();
        };
        let breaks = face.surface.breaks(&face.trim.rect).0;
        let (mut us, mut row) = (Vec::new(), Vec::new());
        let mut sum = 0.0;
        for (a, b) in common {
            let inner = breaks.iter().copied().filter(|u| a < *u && *u < b);
            let stops: Vec<f64> = std::iter::once(a).chain(inner).chain([b]).collect();
            for w in stops.windows(2) {
                let width = (w[1] - w[0]) / PIECE_PARTS as f64;
                let starts = (0..PIECE_PARTS).map(|k| w[0] + width * k as f64);
                us.clear();
                us.extend(starts.flat_map(|start| rule.iter().map(move |(x, _)| start + width * x)));
                spline.first_derivs_on_row(&us, v, &mut row);
                let weighted = rule.iter().map(|(_, weight)| weight).cycle().zip(&row);
                sum += width * weighted.map(|(weight, at)| weight * stretch(at)).sum::<f64>();
            }
        }
        sum
    }

    /// Returns the intervals of u within the interval from `a` to `b` of the line with the parameter `v`
    /// that are on B's face.
    fn sample_line(&self, (a, b): (f64, f64), v: f64) -> Vec<(f64, f64)> {
        let rect = &self.ctx.a.face(self.faces[0]).trim.rect;
        let share = (b - a) / rect.width();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most `samples`")]
        let n = ((self.samples as f64 * share).ceil() as usize).clamp(4, self.samples.max(4));
        let at = |i: usize| a + (b - a) * i as f64 / n as f64;
        let on = |u: f64| self.is_on_b(P2::new(u, v));
        let steps = BORDER_BISECTIONS[usize::from(self.is_spline)];
        let mut out = Vec::new();
        let mut start = None;
        // The ends of the interval are on trims of A, so the first and last samples are inside it.
        let mut last = a + 1e-9 * (b - a);
        for i in 0..=n {
            let u = if i == n { b - 1e-9 * (b - a) } else { at(i).max(last) };
            match (start, on(u)) {
                (None, true) => start = Some(if i == 0 { a } else { border(u, last, steps, &on) }),
                (Some(from), false) => {
                    out.push((from, border(last, u, steps, &on)));
                    start = None;
                }
                _ => {}
            }
            last = u;
        }
        out.extend(start.map(|from| (from, b)));
        out
    }

    /// Whether the point of A's face with the parameters `uv` is in the common region.
    fn is_on_b(&self, uv: P2) -> bool {
        let (ctx, [fa, fb]) = (self.ctx, self.faces);
        self.projections.update(|left| left.saturating_sub(1));
        let p = ctx.pose_ba * ctx.a.face(fa).surface.point(uv);
        let face = ctx.b.face(fb);
        let limit = MAX_SURFACE_DISTANCE * ctx.tol.tol;
        let is_near = |other: P2| ((face.surface.point(other) - p).norm() - self.distance).abs() <= limit;
        let Surface::Bezier(spline) = &face.surface else {
            let other = foot_on_face(ctx.b, fb, &p);
            return is_near(other) && face.trim.classify(other) == Side::Inside;
        };
        // The nearest point most often follows that of the point before. A nearer part of B's face elsewhere
        // does not count then.
        let following = self.near.get().and_then(|near| Some(spline.wrapped(spline.descend(&p, near)?.0)));
        let is_inside = |other: &P2| is_near(*other) && face.trim.classify(*other) == Side::Inside;
        let other = following
            .filter(is_inside)
            .or_else(|| foot_on_face_within(ctx.b, fb, &p, self.distance + limit).filter(is_inside));
        if other.is_some() {
            self.near.set(other);
        }
        other.is_some()
    }
}

/// Bisects between the parameters `inside`, where `on` is `true`, and `outside`, where it is `false`, in
/// `steps` steps. Returns the last parameter at which it is `true`.
pub(super) fn border(mut inside: f64, mut outside: f64, steps: u32, on: &impl Fn(f64) -> bool) -> f64 {
    for _ in 0..steps {
        let middle = 0.5 * (inside + outside);
        if on(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

/// Intersection of two lists of intervals.
fn common_parts(x: &[(f64, f64)], y: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let both = |(a, b): &(f64, f64)| {
        let (a, b) = (*a, *b);
        y.iter().map(move |(c, d)| (a.max(*c), b.min(*d))).filter(|(l, h)| l < h)
    };
    x.iter().flat_map(both).collect()
}

/// Integral over v by two Gauss rules on intervals that are bisected until the rules agree.
struct Integral<'a> {
    region: &'a Region<'a>,
    /// Nodes and weights on [0, 1] of the coarser and the finer rule.
    rules: &'a [Vec<(f64, f64)>; 2],
    /// Length of the whole range of v that is integrated.
    width: f64,
    /// Accuracy of the integral, relative to `scale`.
    accuracy: f64,
    /// Rough value (mm²) of the area of the whole region.
    scale: f64,
    /// Number of lines of constant v that may still be evaluated.
    left: u32,
}

impl Integral<'_> {
    /// Rough value (mm²) of the integral from `low` to `high`, by the finer Gauss rule.
    fn rough(&self, low: f64, high: f64) -> f64 {
        let rule = &self.rules[1];
        rule.iter().map(|(x, w)| w * (high - low) * self.region.at_row(low + (high - low) * x, rule)).sum()
    }

    /// Integral (mm²) over a part of `[v0, v1]`, and an estimate of its error. The part is that between
    /// the values `t0` and `t1` of t, where v = v0 + (v1 − v0) (3t² − 2t³). A border of the region that
    /// turns back at an end of the interval behaves like the square root of v there, and this substitution
    /// makes the integrand smooth. The part is bisected at most `bisections` times.
    fn over(&mut self, [v0, v1]: [f64; 2], [t0, t1]: [f64; 2], bisections: u32) -> (f64, f64) {
        let mut by_rule = [0.0; 2];
        for (sum, rule) in by_rule.iter_mut().zip(self.rules) {
            for (x, w) in rule {
                let t = t0 + (t1 - t0) * x;
                let v = v0 + (v1 - v0) * t * t * (3.0 - 2.0 * t);
                let speed = (v1 - v0) * 6.0 * t * (1.0 - t) * (t1 - t0);
                *sum += w * speed * self.region.at_row(v, rule);
            }
        }
        self.left = self.left.saturating_sub(13);
        let [coarse, fine] = by_rule;
        let error = (fine - coarse).abs();
        let share = (t1 - t0) * (v1 - v0) / self.width;
        let enough = self.accuracy * (self.scale * share).max(fine.abs()).max(1e-4 * self.scale);
        let is_exhausted = self.left == 0 || self.region.projections.get() == 0;
        if error <= enough || bisections == 0 || is_exhausted {
            return (fine, error);
        }
        let middle = 0.5 * (t0 + t1);
        let (a, e) = self.over([v0, v1], [t0, middle], bisections - 1);
        let (b, f) = self.over([v0, v1], [middle, t1], bisections - 1);
        (a + b, e + f)
    }
}
