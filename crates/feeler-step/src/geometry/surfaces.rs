//! Surfaces of every kind that a face may lie on.
//!
//! A surface is read for one face: where that is tells what the surface alone does not (which nappe of a
//! cone, how much of an unbounded extrusion).

use feeler_geom::{Curve, Frame, P3, Surface, math};

use super::curves::parameter_near;
use super::{Geometry, splines};
use crate::entities::{Record, Res, bad};

/// A cone narrower than this (rad) is a cylinder: over 1e4 mm it widens by less than 1e-8 mm.
const MIN_HALF_ANGLE: f64 = 1e-12;

/// Where a face is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    /// Points around the face.
    pub(crate) points: &'a [P3],
    /// How far beyond them the face may reach (mm).
    pub(crate) margin: f64,
    /// The face's edges.
    pub(crate) edges: &'a [NearEdge<'a>],
    /// The face's surface; 0 if it is not known.
    pub(crate) surface: u64,
}

/// An edge of a face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NearEdge<'a> {
    /// Its entity.
    pub(crate) id: u64,
    pub(crate) curve: &'a Curve,
    /// Where it starts and ends, and whether it runs along its curve.
    pub(crate) ends: [P3; 2],
    pub(crate) along: bool,
}

impl NearEdge<'_> {
    /// Its ends and a point in its middle.
    pub(super) fn points(&self) -> [P3; 3] {
        let [start, end] = self.ends.map(|p| parameter_near(self.curve, &p));
        let (a, b) = if self.along { (start, end) } else { (end, start) };
        let span = match self.curve.period() {
            // All around where it ends where it starts.
            Some(period) => match math::wrap(b - a, 0.0, period) {
                span if span <= 1e-9 * period => period,
                span => span,
            },
            None => b - a,
        };
        [self.ends[0], self.curve.point(a + 0.5 * span), self.ends[1]]
    }
}

/// A surface as read.
#[derive(Clone, Debug)]
pub(crate) struct ReadSurface {
    /// The surface (mm).
    pub(crate) surface: Surface,
    /// Whether its natural normal is that of the file's surface.
    pub(crate) same_normal: bool,
    /// Largest distance from the file's surface (mm), 0 when exact.
    pub(crate) deviation: f64,
    /// Nothing tells which half of a profile that crosses its axis is turned: the normal may be the other
    /// one.
    pub(crate) either_way: bool,
}

impl ReadSurface {
    pub(crate) fn exact(surface: Surface) -> Self {
        Self::with_normal(surface, true)
    }

    pub(super) fn with_normal(surface: Surface, same_normal: bool) -> Self {
        Self { surface, same_normal, deviation: 0.0, either_way: false }
    }
}

impl Geometry<'_> {
    /// The surface `id` for a face around the points `near`.
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
                // Turning around one direction of the parameters turns the normal around, both do not.
                if (r.logical(6) == Some(false)) != (r.logical(7) == Some(false)) {
                    basis.same_normal = !basis.same_normal;
                }
                Ok(basis)
            }
            "CURVE_BOUNDED_SURFACE" => self.surface(r.reference(1, "basis_surface")?, id, near),
            "ORIENTED_SURFACE" => {
                bad(id, "is an ORIENTED_SURFACE, which is not supported; export the surface itself")
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
            return Ok(ReadSurface::exact(Surface::Torus { frame, major, minor }));
        }
        if major == 0.0 {
            // The tube turns about its own centre: v is the latitude of a sphere.
            return Ok(ReadSurface::exact(Surface::Sphere { frame, radius: minor }));
        }
        // (R + r cos v)(cos u, sin u) with R < 0 is |R| + r cos(π - v) at u + π: v runs the other way.
        Ok(ReadSurface::with_normal(Surface::Torus { frame, major: -major, minor }, false))
    }

    fn offset(&mut self, r: &Record<'_>, near: Near<'_>) -> Res<ReadSurface> {
        let distance = self.length(r, 2, "distance")?;
        // What the basis has to cover lies as far beside the face as the offset.
        let wide = Near { margin: near.margin + distance.abs(), ..near };
        let basis_id = r.reference(1, "basis_surface")?;
        if let Some((grid, deviation)) = self.offsets.get(&r.id) {
            let surface = Surface::Bezier(grid.clone());
            return Ok(ReadSurface { deviation: *deviation, ..ReadSurface::exact(surface) });
        }
        let basis = self.surface(basis_id, r.id, wide)?;
        // Along the natural normal of our surface.
        let along = if basis.same_normal { distance } else { -distance };
        let offset = match basis.surface {
            Surface::Bezier(grid) => {
                let (grid, deviation) = super::offset::offset(r.id, &grid, along)?;
                let deviation = deviation + basis.deviation;
                self.note(
                    r.id,
                    format!("OFFSET_SURFACE of a free-form surface is approximated to {deviation:.1e} mm"),
                );
                // Other free-form surfaces depend on where the face is.
                if splines::is_surface(&self.entities.get(basis_id, r.id)?) {
                    self.offsets.insert(r.id, (grid.clone(), deviation));
                }
                return Ok(ReadSurface {
                    surface: Surface::Bezier(grid),
                    same_normal: basis.same_normal,
                    deviation,
                    either_way: basis.either_way,
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
                // The parallel of a cone is the same cone with its apex moved down by d / sin φ.
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
            }),
            None => bad(r.id, "is an OFFSET_SURFACE that shrinks to a curve or a point"),
        }
    }
}

/// A radius and whether it kept its sign: through zero the surface turns inside out.
fn signed(radius: f64) -> Option<(f64, bool)> {
    (radius != 0.0).then_some((radius.abs(), radius > 0.0))
}

/// ISO 10303-42's cone has a radius at its placement; ours has its apex there, and only the nappe with the
/// face.
fn cone(id: u64, frame: &Frame, radius: f64, half_angle: f64, near: Near<'_>) -> Res<ReadSurface> {
    // A negative angle opens the other way.
    let flip = half_angle < 0.0;
    let angle = half_angle.abs();
    if angle < MIN_HALF_ANGLE {
        if radius > 0.0 {
            return Ok(ReadSurface::exact(Surface::Cylinder { frame: *frame, radius }));
        }
        return bad(id, "is a CONICAL_SURFACE with neither an angle nor a radius");
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
    // The face says which nappe; both have their natural normal away from the axis.
    let height =
        near.points.iter().map(|p| (p - apex).dot(&half.z)).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    if height.is_some_and(|h| h < 0.0) {
        frame = turned_over(&frame);
    }
    Ok(ReadSurface::exact(Surface::Cone { frame, half_angle: angle }))
}

/// The frame half a turn about its x axis.
fn turned_over(f: &Frame) -> Frame {
    Frame { origin: f.origin, x: f.x, y: -f.y, z: -f.z }
}
