//! Free-form features that a screw motion maps to themselves, with tables from angles about their axes to
//! their parameters.

use feeler_geom::helical::{self, Helical};
use feeler_geom::{Curve, P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::{Feature, Hierarchy};
use std::f64::consts::TAU;

/// Largest deviation of a spline from a helical shape, relative to the size of the solid; the limit is
/// the same as for near-canonical splines. With a larger value, coarse threads are separated only at
/// gaps as large; with a smaller one, their ripples become minima.
const MAX_DEVIATION: f64 = 1e-5;
/// Factor that is applied to the steepest sampled slope of a profile, because the profile may be steeper
/// between its samples. With a larger value, more turns are examined; with a smaller one, the next turn
/// is missed.
const SLOPE_MARGIN: f64 = 1.05;
/// Number of parameters at which the angle is tabulated, for each piece of the spline. More of them
/// interpolate more accurately and use more memory.
const ANGLES_PER_PIECE: usize = 8;

/// A screw motion that maps a feature to itself, with tables of the feature's parameters.
#[derive(Clone, Debug)]
pub(crate) struct Helix {
    pub shape: Helical,
    /// Whether the parameter u of the face runs along the screw motion; always `true` for an edge.
    along_u: bool,
    /// Angles (rad) about the axis, continued over turns and ascending, each with the parameter along
    /// the motion at this angle.
    along: Vec<(f64, f64)>,
    /// For a face, points of a curve of the face across the screw motion; empty for an edge.
    section: Vec<Across>,
    /// Range of the parameter of the face that does not run along the screw motion; [0, 0] for an edge.
    pub across: [f64; 2],
    /// Smallest distance (mm) of the feature's sampled points from the axis of the screw motion.
    pub radius: f64,
}

/// Point of a curve across the screw motion on a face: parameter across the motion, and orbit of the point.
#[derive(Clone, Copy, Debug)]
struct Across {
    parameter: f64,
    radius: f64,
    /// Height (mm) along the axis of the point's orbit at angle 0.
    height: f64,
}

/// Returns the screw motion that maps a free-form feature to itself, over the parameters `rect`. `size`
/// (mm) is that of the solid. `None` if no motion fits within [`MAX_DEVIATION`] times the size.
pub(super) fn helix(hierarchy: &Hierarchy, feature: Feature, rect: &Rect, size: f64) -> Option<Helix> {
    let tol = MAX_DEVIATION * size;
    if !(size.is_finite() && rect.width().is_finite() && rect.width() > 0.0) {
        return None;
    }
    match feature {
        Feature::Face(f) => {
            let Surface::Bezier(grid) = &hierarchy.faces[f.index()].surface else { return None };
            let is_strip = rect.v1 > rect.v0;
            if !is_strip || grid.u_periodic || grid.v_periodic {
                return None;
            }
            let shape = helical::of_surface(grid, rect, tol)?;
            Helix::of_face(shape, &|uv| grid.first_derivs(uv), (&grid.u_breaks, &grid.v_breaks), rect)
        }
        Feature::Edge(e) => {
            let Curve::Bezier(spline) = &hierarchy.edges[e.index()].curve else { return None };
            if spline.period().is_some() {
                return None;
            }
            let shape = helical::of_curve(spline, (rect.u0, rect.u1), tol)?;
            let point = |t: f64| spline.derivs(t).p;
            let along = angles(&shape, &point, &spline.breaks, [rect.u0, rect.u1])?;
            let radius = shape.cylindrical(&point(0.5 * (rect.u0 + rect.u1))).radius;
            Some(Helix { shape, along_u: true, along, section: Vec::new(), across: [0.0; 2], radius })
        }
        Feature::Vertex(_) => None,
    }
}

/// Evaluates a point of a surface and the derivatives by u and v at its parameters.
type Evaluate<'a> = &'a dyn Fn(P2) -> (P3, V3, V3);

impl Helix {
    fn of_face(
        shape: Helical,
        at: Evaluate<'_>,
        (u_breaks, v_breaks): (&[f64], &[f64]),
        rect: &Rect,
    ) -> Option<Self> {
        let middle = rect.center();
        let (p, du, dv) = at(middle);
        let along = shape.velocity(&p);
        let cosine = |d: V3| d.dot(&along).abs() / d.norm();
        let along_u = cosine(du) > cosine(dv);
        let uv =
            |along: f64, across: f64| if along_u { P2::new(along, across) } else { P2::new(across, along) };
        let (us, vs) = ([rect.u0, rect.u1], [rect.v0, rect.v1]);
        let (range, across, breaks, center) = match along_u {
            true => (us, vs, u_breaks, middle),
            false => (vs, us, v_breaks, P2::new(middle.y, middle.x)),
        };
        let table = angles(&shape, &|t| at(uv(t, center.y)).0, breaks, range)?;
        // The angles of a section differ little, even if it leans.
        let near = interpolated(&table, center.x, |k| (k.1, k.0));
        let sections = 8_i32;
        let section: Vec<Across> = (0..=sections)
            .map(|k| {
                let s = across[0] + (across[1] - across[0]) * f64::from(k) / f64::from(sections);
                let c = shape.cylindrical(&at(uv(center.x, s)).0);
                let angle = math::unwrap_near(c.angle, near, TAU);
                Across { parameter: s, radius: c.radius, height: c.height - shape.lead * angle }
            })
            .collect();
        let radius = section.iter().fold(f64::INFINITY, |r: f64, s| r.min(s.radius));
        Some(Self { shape, along_u, along: table, section, across, radius })
    }

    /// Angles (rad) about the axis of both ends of the feature, ascending.
    pub(crate) fn ends(&self) -> [f64; 2] {
        let [first, last] = [self.along.first(), self.along.last()];
        [first, last].map(|k| k.map_or(0.0, |k| k.0))
    }

    /// Orbits of points all over a face, section by section: radius and height at angle 0 (mm).
    pub(super) fn orbits(&self, surface: &Surface) -> Vec<[f64; 2]> {
        let near = self.section.first().map_or(0.0, |s| s.height);
        let points = self
            .parameters()
            .flat_map(|t| self.section.iter().step_by(2).map(move |s| self.uv(t, s.parameter)));
        let orbit = |uv: P2| {
            let c = self.shape.cylindrical(&surface.point(uv));
            [c.radius, math::unwrap_near(c.height - self.shape.lead * c.angle, near, self.shape.pitch())]
        };
        points.map(orbit).collect()
    }

    /// Estimated upper bound of the change of a point's height above the face, measured along the axis,
    /// per displacement of the point (mm/mm).
    pub(crate) fn steepness(&self) -> f64 {
        let slopes =
            self.section.windows(2).map(|w| (w[1].height - w[0].height) / (w[1].radius - w[0].radius));
        let steepest =
            slopes.fold(0.0, |m: f64, s| if s.is_finite() { m.max(s.abs()) } else { f64::INFINITY });
        math::hypot(math::hypot(1.0, SLOPE_MARGIN * steepest), self.shape.lead / self.radius)
    }

    /// Parameters of the feature along the screw motion at which angles are tabulated.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = f64> + '_ {
        self.along.iter().map(|k| k.1)
    }

    /// Parameter of the feature along the screw motion at an angle (rad) about its axis, which is clamped
    /// to the ends of the feature.
    pub(crate) fn parameter(&self, angle: f64) -> f64 {
        let [lo, hi] = self.ends();
        interpolated(&self.along, angle.clamp(lo, hi), |k| *k)
    }

    /// Surface parameters (u, v), given the parameters along and across the screw motion.
    pub(crate) fn uv(&self, along: f64, across: f64) -> P2 {
        if self.along_u { P2::new(along, across) } else { P2::new(across, along) }
    }

    /// Selects the derivative of a face across the motion from those by u and v.
    pub(crate) fn across_of(&self, du: V3, dv: V3) -> V3 {
        if self.along_u { dv } else { du }
    }

    /// Approximate parameters of the footpoint of `p`, which is near the face. `turns` selects a turn of
    /// the thread, counted from the nearest one. `None` if the footpoint is beyond the ends of the face.
    pub(crate) fn foot_near(&self, p: &P3, turns: f64) -> Option<P2> {
        let c = self.shape.cylindrical(p);
        // The turn follows from the point of the section at the same distance from the axis.
        let apart = |s: &Across| (s.radius - c.radius).abs();
        let beside = self.section.iter().min_by(|s, t| apart(s).total_cmp(&apart(t)))?;
        let turn = (((c.height - beside.height) / self.shape.lead - c.angle) / TAU).round() + turns;
        let angle = c.angle + TAU * turn;
        let height = c.height - self.shape.lead * angle;
        let [lo, hi] = self.ends();
        // A foot differs from the point by less than a radian.
        if !(lo - 1.0 <= angle && angle <= hi + 1.0) {
            return None;
        }
        let apart = |s: &Across| {
            (s.radius - c.radius) * (s.radius - c.radius) + (s.height - height) * (s.height - height)
        };
        let nearest = self.section.iter().min_by(|s, t| apart(s).total_cmp(&apart(t)))?;
        Some(self.uv(self.parameter(angle), nearest.parameter))
    }
}

/// Table of the angles (rad) about the axis and the parameters of points along a curve, ascending by
/// angle. `breaks` are the parameters between the pieces of the curve. `None` if the angle is not
/// monotonic.
fn angles(
    shape: &Helical,
    point: &dyn Fn(f64) -> P3,
    breaks: &[f64],
    [lo, hi]: [f64; 2],
) -> Option<Vec<(f64, f64)>> {
    let mut joints = vec![lo];
    joints.extend(breaks.iter().copied().filter(|b| lo < *b && *b < hi));
    joints.push(hi);
    let mut out: Vec<(f64, f64)> = Vec::with_capacity((joints.len() - 1) * ANGLES_PER_PIECE + 1);
    for w in joints.windows(2) {
        for k in 0..ANGLES_PER_PIECE {
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            let t = w[0] + (w[1] - w[0]) * k as f64 / ANGLES_PER_PIECE as f64;
            out.push((0.0, t));
        }
    }
    out.push((0.0, hi));
    let mut before: Option<(f64, f64)> = None;
    for place in &mut out {
        let c = shape.cylindrical(&point(place.1));
        // The height determines the number of turns, whatever the distance between the points.
        place.0 = match before {
            None => c.angle,
            Some((angle, height)) => {
                math::unwrap_near(c.angle, angle + (c.height - height) / shape.lead, TAU)
            }
        };
        before = Some((place.0, c.height));
    }
    if out.first()?.0 > out.last()?.0 {
        out.reverse();
    }
    out.windows(2).all(|w| w[0].0 < w[1].0).then_some(out)
}

/// Linear interpolation in a table with at least two entries, at `x`. `of` converts an entry to two
/// numbers: the one that is compared with `x`, in which the table must be monotonic, and the one that is
/// interpolated. Beyond the ends of the table, the first or last two entries are extrapolated.
fn interpolated(table: &[(f64, f64)], x: f64, of: impl Fn(&(f64, f64)) -> (f64, f64)) -> f64 {
    let ascends = table.first().zip(table.last()).is_some_and(|(a, b)| of(a).0 <= of(b).0);
    let k = table.partition_point(|k| (of(k).0 <= x) == ascends).clamp(1, table.len() - 1);
    let (from, to) = (of(&table[k - 1]), of(&table[k]));
    from.1 + (to.1 - from.1) * (x - from.0) / (to.0 - from.0)
}
