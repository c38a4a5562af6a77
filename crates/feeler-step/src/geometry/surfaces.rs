//! Reads surfaces of every kind.
//!
//! A surface is read for one face, because the location of the face selects the nappe of a cone, or the
//! part of an unbounded extrusion.

use feeler_geom::{Curve, Frame, P3, Surface, V3, math};

use super::curves::parameter_near;
use super::{Geometry, splines};
use crate::entities::{Record, Res, bad};

/// Half-angle (rad) below which a cone is read as a cylinder: over 1e4 mm it widens by at most 1e-8 mm. A
/// larger value changes shapes; a smaller one gives apices at infinity.
const MIN_HALF_ANGLE: f64 = 1e-12;

/// Location of the face for which a surface is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    /// Points (mm) whose hull roughly contains the face.
    pub(crate) points: &'a [P3],
    /// Distance (mm) by which the face may extend beyond the hull of the points.
    pub(crate) margin: f64,
    /// Edges of the loops of the face.
    pub(crate) edges: &'a [NearEdge<'a>],
    /// Entity id of the surface of the face; 0 if unknown.
    pub(crate) surface: u64,
}

impl Near<'_> {
    /// Returns whether the face is on the nappe of a cone below `apex` along `axis`. The edges decide
    /// rather than the points around the face: those include the boxes of whole circles, which can
    /// extend farther beyond the apex than the face does on its own side.
    pub(super) fn is_below(&self, apex: &P3, axis: &V3) -> bool {
        let height = |p: &P3| (p - apex).dot(axis);
        let farthest = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
        let on_edges = self.edges.iter().flat_map(NearEdge::points).map(|p| height(&p)).fold(0.0, farthest);
        let around = || self.points.iter().map(height).fold(0.0, farthest);
        (if self.edges.is_empty() { around() } else { on_edges }) < 0.0
    }
}

/// An edge of a face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearEdge<'a> {
    /// Entity id.
    pub(crate) id: u64,
    pub(crate) curve: &'a Curve,
    /// Start and end point (mm).
    pub(crate) ends: [P3; 2],
    /// Whether the edge runs in the direction of its curve.
    pub(crate) along: bool,
}

impl NearEdge<'_> {
    /// Start, middle and end point of the edge.
    pub(super) fn points(&self) -> [P3; 3] {
        let [start, end] = self.ends.map(|p| parameter_near(self.curve, &p));
        let (a, b) = if self.along { (start, end) } else { (end, start) };
        let span = match self.curve.period() {
            // An edge with coincident ends covers the whole period.
            Some(period) => match math::wrap(b - a, 0.0, period) {
                span if span <= 1e-9 * period => period,
                span => span,
            },
            None => b - a,
        };
        [self.ends[0], self.curve.point(a + 0.5 * span), self.ends[1]]
    }
}

/// Result of reading a surface.
#[derive(Clone, Debug)]
pub(crate) struct ReadSurface {
    /// Surface as read, in mm.
    pub(crate) surface: Surface,
    /// Whether the natural normal of `surface` has the direction of the normal of the surface in the
    /// file.
    pub(crate) same_normal: bool,
    /// Maximum distance (mm) of `surface` from the surface in the file; 0 if `surface` is exact.
    pub(crate) deviation: f64,
    /// Whether the file does not determine which of the two halves of a profile that crosses its axis is
    /// revolved, so that the normal can be the opposite one.
    pub(crate) either_way: bool,
    /// Whether the face is on the outer sheet of a spindle torus; `None` for other surfaces.
    pub(crate) outer_sheet: Option<bool>,
}

impl ReadSurface {
    pub(crate) fn exact(surface: Surface) -> Self {
        Self::with_normal(surface, true)
    }

    pub(super) fn with_normal(surface: Surface, same_normal: bool) -> Self {
        Self { surface, same_normal, deviation: 0.0, either_way: false, outer_sheet: None }
    }
}

impl Geometry<'_> {
    /// Reads the surface `id`, to which the entity `by` refers, for a face around the points `near`.
    pub(crate) fn surface(&mut self, id: u64, by: u64, near: Near<'_>) -> Res<ReadSurface> {
        self.deeper(id, |g| g.surface_here(id, by, near))
    }

    fn surface_here(&mut self, id: u64, by: u64, near: Near<'_>) -> Res<ReadSurface> {
        let r = self.entities.get(id, by)?;
        if splines::is_surface(&r) {
            return Ok(ReadSurface::exact(Surface::Bezier(self.spline_surface(&r)?)));
        }
        let r = r.flattened();
        match r.name {
            "PLANE" => {
                let frame = self.placement(r.reference(1, "position")?, id)?;
                Ok(ReadSurface::exact(Surface::Plane { frame }))
            }
            "CYLINDRICAL_SURFACE" => {
                let frame = self.placement(r.reference(1, "position")?, id)?;
                let radius = self.positive_length(&r, 2, "radius")?;
                Ok(ReadSurface::exact(Surface::Cylinder { frame, radius }))
            }
            "CONICAL_SURFACE" => {
                let frame = self.placement(r.reference(1, "position")?, id)?;
                let radius = self.length(&r, 2, "radius")?;
                let half_angle = r.real(3, "semi_angle")? * self.units.rad;
                cone(id, &frame, radius, half_angle, near)
            }
            "SPHERICAL_SURFACE" => {
                let frame = self.placement(r.reference(1, "position")?, id)?;
                let radius = self.positive_length(&r, 2, "radius")?;
                Ok(ReadSurface::exact(Surface::Sphere { frame, radius }))
            }
            "TOROIDAL_SURFACE" | "DEGENERATE_TOROIDAL_SURFACE" => self.torus(&r),
            "SURFACE_OF_LINEAR_EXTRUSION" => self.extrusion(&r, near),
            "SURFACE_OF_REVOLUTION" => self.revolution(&r, near),
            "OFFSET_SURFACE" => self.offset(&r, near),
            "RECTANGULAR_TRIMMED_SURFACE" => {
                let mut basis = self.surface(r.reference(1, "basis_surface")?, id, near)?;
                // Reversing one parameter direction reverses the normal, reversing both does not.
                if (r.logical(6) == Some(false)) != (r.logical(7) == Some(false)) {
                    basis.same_normal = !basis.same_normal;
                }
                Ok(basis)
            }
            "CURVE_BOUNDED_SURFACE" => self.surface(r.reference(1, "basis_surface")?, id, near),
            "ORIENTED_SURFACE" => {
                bad(id, "is an ORIENTED_SURFACE, which is not supported; export the face as a B-spline")
            }
            _ => bad(
                id,
                format!("is a {}, which is not supported as a surface; export it as a B-spline", r.label()),
            ),
        }
    }

    fn torus(&mut self, r: &Record<'_>) -> Res<ReadSurface> {
        let frame = self.placement(r.reference(1, "position")?, r.id)?;
        let major = self.length(r, 2, "major_radius")?;
        let minor = self.positive_length(r, 3, "minor_radius")?;
        if major > 0.0 {
            let outer_sheet = r.logical(4).filter(|_| r.name == "DEGENERATE_TOROIDAL_SURFACE");
            let torus = Surface::Torus { frame, major, minor };
            return Ok(ReadSurface { outer_sheet, ..ReadSurface::exact(torus) });
        }
        if major == 0.0 {
            // The centre of the tube is on the axis, so that v is the latitude of a sphere.
            return Ok(ReadSurface::exact(Surface::Sphere { frame, radius: minor }));
        }
        // (R + r cos v)(cos u, sin u) with R < 0 equals |R| + r cos(π - v) at u + π: v is reversed.
        Ok(ReadSurface::with_normal(Surface::Torus { frame, major: -major, minor }, false))
    }

    fn offset(&mut self, r: &Record<'_>, near: Near<'_>) -> Res<ReadSurface> {
        let distance = self.length(r, 2, "distance")?;
        // The basis must extend beyond the face by the offset distance.
        let wide = Near { margin: near.margin + distance.abs(), ..near };
        let basis_id = r.reference(1, "basis_surface")?;
        if let Some((grid, deviation)) = self.offsets.get(&r.id) {
            let surface = Surface::Bezier(grid.clone());
            return Ok(ReadSurface { deviation: *deviation, ..ReadSurface::exact(surface) });
        }
        let basis = self.surface(basis_id, r.id, wide)?;
        // Signed distance along the natural normal of the basis as read.
        let along = if basis.same_normal { distance } else { -distance };
        let offset = match basis.surface {
            Surface::Bezier(grid) => {
                let (grid, deviation) = super::offset::offset(r.id, &grid, along)?;
                let deviation = deviation + basis.deviation;
                self.note(
                    r.id,
                    format!(
                        "is an OFFSET_SURFACE of a free-form surface; approximated to {deviation:.1e} mm"
                    ),
                );
                // Only offsets of splines are cached; other free-form surfaces depend on the location of
                // the face.
                if splines::is_surface(&self.entities.get(basis_id, r.id)?) {
                    self.offsets.insert(r.id, (grid.clone(), deviation));
                }
                return Ok(ReadSurface {
                    surface: Surface::Bezier(grid),
                    same_normal: basis.same_normal,
                    deviation,
                    either_way: basis.either_way,
                    outer_sheet: basis.outer_sheet,
                });
            }
            Surface::Plane { frame } => Some((
                Surface::Plane { frame: Frame { origin: frame.origin + frame.z * along, ..frame } },
                true,
            )),
            Surface::Cylinder { frame, radius } => {
                signed(radius + along).map(|(radius, same)| (Surface::Cylinder { frame, radius }, same))
            }
            Surface::Sphere { frame, radius } => {
                signed(radius + along).map(|(radius, same)| (Surface::Sphere { frame, radius }, same))
            }
            Surface::Torus { frame, major, minor } => {
                signed(minor + along).map(|(minor, same)| (Surface::Torus { frame, major, minor }, same))
            }
            Surface::Cone { frame, half_angle } => {
                // The parallel surface of a cone is the same cone with its apex moved by -d / sin φ along
                // the axis.
                let origin = frame.origin - frame.z * (along / math::sin(half_angle));
                Some((Surface::Cone { frame: Frame { origin, ..frame }, half_angle }, true))
            }
        };
        match offset {
            Some((surface, same)) => Ok(ReadSurface {
                surface,
                same_normal: basis.same_normal == same,
                deviation: basis.deviation,
                either_way: basis.either_way,
                outer_sheet: basis.outer_sheet,
            }),
            None => {
                bad(r.id, "is an OFFSET_SURFACE that collapses to a curve or a point; check its distance")
            }
        }
    }
}

/// Returns the absolute value of a radius and whether the radius is positive; a negative radius turns
/// the surface inside out. `None` for zero.
fn signed(radius: f64) -> Option<(f64, bool)> {
    (radius != 0.0).then_some((radius.abs(), radius > 0.0))
}

/// Converts a cone. A cone of ISO 10303-42 has `radius` (mm) at the origin of its placement. In this
/// program the origin of a cone is its apex, and the cone consists of the one nappe that contains the
/// face.
fn cone(id: u64, frame: &Frame, radius: f64, half_angle: f64, near: Near<'_>) -> Res<ReadSurface> {
    // A cone with a negative angle opens in the opposite direction.
    let flip = half_angle < 0.0;
    let angle = half_angle.abs();
    if angle < MIN_HALF_ANGLE {
        if radius > 0.0 {
            return Ok(ReadSurface::exact(Surface::Cylinder { frame: *frame, radius }));
        }
        return bad(id, "is a CONICAL_SURFACE whose semi_angle is zero and whose radius is not positive");
    }
    if angle >= std::f64::consts::FRAC_PI_2 - 1e-12 {
        return bad(
            id,
            format!(
                "is a CONICAL_SURFACE with a semi_angle of {angle} rad; check the file's plane-angle unit"
            ),
        );
    }
    let half = if flip { turned_over(frame) } else { *frame };
    let apex = half.origin - half.z * (radius / math::tan(angle));
    let mut frame = Frame { origin: apex, ..half };
    // The natural normals of both nappes point away from the axis.
    if near.is_below(&apex, &half.z) {
        frame = turned_over(&frame);
    }
    Ok(ReadSurface::exact(Surface::Cone { frame, half_angle: angle }))
}

/// Returns the frame rotated by half a turn about its x axis.
fn turned_over(f: &Frame) -> Frame {
    Frame { origin: f.origin, x: f.x, y: -f.y, z: -f.z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::V3;

    /// Arcs on one nappe of a cone, whose full circles extend beyond the apex in some cases.
    #[test]
    fn edges_choose_the_nappe() {
        let mut seed = 3_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(seed >> 33).unwrap_or(0)) / f64::from(1_u32 << 31)
        };
        let (mut n_turned, mut n_beyond) = (0, 0);
        while n_turned < 1000 {
            let mut unit = || {
                let v = V3::new(random() - 0.5, random() - 0.5, random() - 0.5);
                v.try_normalize(1e-3).unwrap_or(V3::z())
            };
            let (axis, ring_axis, at) = (unit(), unit(), unit());
            let apex = P3::origin() + at * 5.0;
            let half_angle = (1.0 + 88.0 * random()).to_radians();
            // An arc in an arbitrary plane, with a radius of 0.1 to 10 times its distance from the apex,
            // and of 1° to 350°.
            let distance = 0.1 + random();
            let radius = distance * math::powf(10.0, 2.0 * random() - 1.0);
            // Its centre is on either side of the apex along the axis.
            let beside = axis.cross(&ring_axis) * (distance * random());
            let centre = apex + axis * (distance * (2.0 * random() - 1.0)) + beside;
            let Some(frame) = Frame::from_z(centre, ring_axis, None) else { continue };
            let sweep = (1.0 + 349.0 * random()).to_radians();
            let start = random() * std::f64::consts::TAU;
            let curve = Curve::Circle { frame, radius };
            let heights: Vec<f64> = (0..=64)
                .map(|k| (curve.point(start + sweep * f64::from(k) / 64.0) - apex).dot(&axis))
                .collect();
            if heights.iter().any(|h| *h < 1e-3 * radius) {
                continue;
            }
            n_turned += 1;
            let mut around = Vec::new();
            crate::topology::hull_of_curve(&curve, &mut around);
            let farthest =
                around.iter().map(|p| (p - apex).dot(&axis)).max_by(|a, b| a.abs().total_cmp(&b.abs()));
            n_beyond += u32::from(farthest.is_some_and(|h| h < 0.0));
            let along = n_turned % 2 == 0;
            let ends = [start, start + sweep].map(|t| curve.point(t));
            let ends = if along { ends } else { [ends[1], ends[0]] };
            let edge = NearEdge { id: 1, curve: &curve, ends, along };
            let near = Near { points: &around, margin: 0.0, edges: &[edge], surface: 0 };
            for (z, tan) in [(axis, half_angle), (-axis, half_angle), (axis, -half_angle)] {
                // The placement is anywhere on the axis, and has the radius of the cone there.
                let height = random();
                let origin = if tan > 0.0 { apex + z * height } else { apex - z * height };
                let placement = Frame::from_z(origin, z, None).unwrap_or_else(Frame::identity);
                let read = cone(1, &placement, height * math::tan(half_angle), tan, near);
                let Ok(ReadSurface { surface: Surface::Cone { frame, .. }, .. }) = read else {
                    panic!("a cone")
                };
                assert!(frame.z.dot(&axis) > 0.999, "{n_turned}: the nappe beyond the apex");
                assert!((frame.origin - apex).norm() < 1e-6, "{n_turned}: the apex");
            }
        }
        assert!(n_beyond > 50, "{n_beyond} boxes reach farther beyond the apex");
    }
}
