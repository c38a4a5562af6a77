//! Shapes of particle groups: spheres, or scaled copies of one shape. Each particle has a bounding ball.

use crate::error::{PourError, Within as _};
use crate::tables::ShapeTable;
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::{Grain, Placed};
use feeler_grains::drawn::{GrainSurface, directions, drawn};
use feeler_grains::mass::{MassProperties, poly_superellipsoid};
use feeler_particles::{Distribution, Particle, Random, Sphere};
use feeler_runtime::Body;
use feeler_view::picture::TriangleSurface;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;

/// Shape and sizes of the particles of a group.
#[derive(Clone, Debug)]
pub(crate) struct GroupShape {
    /// Distribution of the diameters (mm) of the bounding balls.
    pub(crate) sizes: Distribution,
    /// Shape of the particles; `None` for spheres.
    pub(crate) scaled: Option<ScaledShape>,
    /// Message about the shape for the user.
    pub(crate) note: Option<String>,
}

/// Shape of the particles of a group, scaled so that its bounding ball has radius 1; all lengths are
/// multiples of the radius of that ball.
#[derive(Clone, Debug)]
pub(crate) struct ScaledShape {
    pub(crate) template: Template,
    /// Centre of the bounding ball, in the coordinates of the shape.
    pub(crate) ball_center: P3,
    /// Radius of the ball with the volume of the scaled shape.
    pub(crate) equal_radius: f64,
    /// Smallest effective mass of a contact at any point of the surface, divided by the mass of the
    /// particle. It is at most 1, because an eccentric contact also rotates the particle.
    pub(crate) min_effective_mass: f64,
    /// Centre of mass, in the coordinates of the shape.
    pub(crate) center: P3,
    /// Vertices of the surface that represents a particle in the frames for `ParaView`, in the
    /// coordinates of the scaled shape.
    pub(crate) points: Vec<P3>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// Body of a solid in one size.
#[derive(Clone, Debug)]
pub(crate) struct SizedBody {
    /// Radius (mm) of the bounding ball.
    pub(crate) radius: f64,
    pub(crate) body: Arc<Body>,
}

#[derive(Clone, Debug)]
pub(crate) enum Template {
    /// A grain whose bounding ball is centred at the grain's origin.
    Grain(Grain),
    /// A solid in its sizes, at least one, and its triangulated surface, whose coordinates are divided by the
    /// radius of the bounding ball.
    Solid(Vec<SizedBody>, TriangleSurface),
}

impl ScaledShape {
    /// Triangulated surface of a particle for display, with the centre of mass at the origin and scaled
    /// so that the ball of equal volume has radius 1. The surface of a grain has 8 · 4^`halvings`
    /// triangles; that of a solid does not depend on `halvings`.
    pub(crate) fn surface(&self, halvings: u32) -> TriangleSurface {
        let mut surface = match &self.template {
            Template::Grain(grain) => {
                let GrainSurface { points, normals, triangles } = drawn(grain, halvings);
                TriangleSurface { points, normals, triangles }
            }
            Template::Solid(_, surface) => surface.clone(),
        };
        surface.points.iter_mut().for_each(|p| *p = P3::from((*p - self.center) / self.equal_radius));
        surface
    }

    pub(crate) fn is_solid(&self) -> bool {
        matches!(self.template, Template::Solid(..))
    }
}

impl GroupShape {
    /// Smallest radius (mm) of the bounding ball of a particle of the group.
    pub(crate) fn min_radius(&self) -> f64 {
        0.5 * self.sizes.range().0
    }

    /// Volume of a particle divided by the volume of its bounding ball.
    pub(crate) fn volume_fraction(&self) -> f64 {
        self.scaled.as_ref().map_or(1.0, |s| s.equal_radius * s.equal_radius * s.equal_radius)
    }

    /// Radius (mm) of the ball with the volume of a particle whose bounding ball has the radius `radius`
    /// (mm).
    pub(crate) fn equal_radius(&self, radius: f64) -> f64 {
        self.scaled.as_ref().map_or(radius, |s| s.equal_radius * radius)
    }

    /// Lower bound of the effective mass (kg) and upper bound of the radius of curvature (mm) at a
    /// contact of the smallest particle. Together they give the shortest duration of a contact.
    pub(crate) fn worst(&self, density: f64) -> (f64, f64) {
        let r = self.min_radius();
        let ball = 4.0 / 3.0 * PI * r * r * r * density * CUBIC_METRE;
        match &self.scaled {
            None => (ball, r),
            Some(s) => {
                (ball * self.volume_fraction() * s.min_effective_mass, r * s.equal_radius * MAX_RADIUS_RATIO)
            }
        }
    }

    /// Creates a particle of this shape with a bounding ball of `radius` (mm) and a density (kg/m³). A
    /// solid has that of its sizes whose ball is nearest to this radius.
    pub(crate) fn particle(&self, radius: f64, density: f64) -> Result<Particle, PourError> {
        Ok(match &self.scaled {
            None => Particle::sphere(radius, density)?,
            Some(ScaledShape { template: Template::Grain(grain), .. }) => {
                Particle::grain(&scaled(grain, radius)?, density)?
            }
            Some(ScaledShape { template: Template::Solid(bodies, _), ball_center, .. }) => {
                let off = |b: &&SizedBody| (b.radius - radius).abs();
                let nearest = bodies.iter().min_by(|a, b| off(a).total_cmp(&off(b)));
                let nearest =
                    nearest.ok_or_else(|| PourError::value("solid", "it has no size; give a diameter"))?;
                let ball = Sphere { center: ball_center * nearest.radius, radius: nearest.radius };
                Particle::solid_in_ball(&nearest.body, &ball, density)?
            }
        })
    }

    /// Random orientation, uniformly distributed; the identity for spheres.
    pub(crate) fn random_orientation(&self, random: &mut Random) -> UnitQuaternion<f64> {
        if self.scaled.is_none() {
            return UnitQuaternion::identity();
        }
        // Shoemake's method: two random points on circles with the radii √(1 − part) and √part.
        let part = random.part();
        let [(s1, c1), (s2, c2)] = [random.part(), random.part()].map(|u| math::sin_cos(TAU * u));
        let (a, b) = ((1.0 - part).sqrt(), part.sqrt());
        UnitQuaternion::new_normalize(Quaternion::new(b * c2, a * s1, a * c1, b * s2))
    }
}

fn scaled(grain: &Grain, by: f64) -> Result<Grain, PourError> {
    let shape = grain.shape();
    Ok(Grain::new(shape.positive() * by, shape.negative() * by, shape.exponents())?)
}

/// Builds the shape of a group of superellipsoids or poly-superellipsoids.
pub(crate) fn smooth(table: &ShapeTable) -> Result<GroupShape, PourError> {
    let (positive, negative, exponents, diameter) = match table {
        ShapeTable::Superellipsoid { semi_axes, exponents, diameter } => {
            (semi_axes, semi_axes, exponents, diameter)
        }
        ShapeTable::PolySuperellipsoid { positive, negative, exponents, diameter } => {
            (positive, negative, exponents, diameter)
        }
        ShapeTable::Solid(_) => {
            return Err(PourError::value(
                "solid",
                "a solid has no semi-axes; give a superellipsoid or poly-superellipsoid",
            ));
        }
    };
    let given = Grain::new(V3::from(*positive), V3::from(*negative), *exponents)?;
    let grain = scaled(&given, 1.0 / given.radius()).in_key("semi-axes")?;
    let mass = poly_superellipsoid(grain.shape())?;
    let equal = math::powf(0.75 * mass.volume / PI, 1.0 / 3.0);
    let sizes = match diameter {
        None => Distribution::Same(2.0 * given.radius()),
        Some(diameter) => {
            diameter.check().in_key("diameter")?;
            diameter.times(1.0 / equal)
        }
    };
    sizes.check().in_key("diameter")?;
    let placed = Placed::new(&grain, &Pose::identity())?;
    let inverse = mass.tensor.try_inverse().ok_or_else(|| too_flat("semi-axes"))?;
    let (directions, _) = directions(HALVINGS);
    let points: Vec<P3> = directions.iter().map(|n| placed.surface(n).0).collect();
    let min_effective_mass = min_effective_mass(&mass, &inverse, directions.iter().zip(&points));
    if min_effective_mass <= 0.0 {
        return Err(too_flat("semi-axes"));
    }
    let GrainSurface { points, triangles, .. } = drawn(&grain, HALVINGS);
    Ok(GroupShape {
        sizes,
        scaled: Some(ScaledShape {
            template: Template::Grain(grain),
            ball_center: P3::origin(),
            equal_radius: equal,
            min_effective_mass,
            center: mass.centroid,
            points,
            triangles,
        }),
        note: None,
    })
}

/// Smallest effective mass, divided by the mass of the body, for a force along the normal at a point of
/// the surface. `surface` are the unit normals and points that are considered, `inverse` is the inverse
/// of the inertia tensor of `mass`.
pub(crate) fn min_effective_mass<'p>(
    mass: &MassProperties,
    inverse: &Matrix3<f64>,
    surface: impl Iterator<Item = (&'p V3, &'p P3)>,
) -> f64 {
    let turning = |(n, p): (&V3, &P3)| {
        let arm = (p - mass.centroid).cross(n);
        mass.volume * arm.dot(&(inverse * arm))
    };
    1.0 / (1.0 + surface.map(turning).fold(0.0, f64::max))
}

pub(crate) fn too_flat(key: &str) -> PourError {
    PourError::value(key, "the particle is too flat for a simulation; make it thicker")
}

/// Number of halvings of the edges of an octahedron for the surface of a grain in frames, which then has
/// 66 points. Each further halving makes frames four times as large; with fewer, the surface looks like
/// an octahedron with bulges.
const HALVINGS: u32 = 2;

/// Maximum radius of curvature of a grain in Hertz's law, divided by the radius of the ball of equal
/// volume. It has the same value as in the simulation. A larger value makes steps shorter than
/// necessary; a smaller one makes them too long.
const MAX_RADIUS_RATIO: f64 = 10.0;

/// Volume of a cubic millimetre (m³).
pub(crate) const CUBIC_METRE: f64 = 1e-9;
