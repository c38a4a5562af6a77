//! What grains are: spheres, or copies of one smooth shape, each in a ball that holds it.

use super::scene::{Grains, WrittenShape};
use anyhow::{Context as _, ensure};
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::{Grain, Placed};
use feeler_grains::drawn::{Drawn, directions, drawn};
use feeler_grains::mass::poly_superellipsoid;
use feeler_particles::{Distribution, Particle, Random};
use feeler_view::picture::Surface;
use nalgebra::{Quaternion, UnitQuaternion};
use std::f64::consts::{PI, TAU};

/// Grains of different sizes and one shape.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Of the balls that hold them.
    pub(super) sizes: Distribution,
    /// None: the balls themselves.
    pub(super) smooth: Option<Smooth>,
}

/// A shape of semi-axes that a ball of radius 1 about its origin holds.
#[derive(Clone, Debug)]
pub(super) struct Smooth {
    grain: Grain,
    /// Radius of the ball of equal volume.
    equal: f64,
    /// The least effective mass at a contact, as a part of the mass: a push beside the centre turns it away.
    lightest: f64,
    /// Centre of mass.
    center: P3,
    /// Its surface, as it is drawn for `ParaView`.
    pub(super) points: Vec<P3>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl Smooth {
    /// Its surface about its centre of mass, as large as that of the ball of radius 1, with 4^`halvings`
    /// times 8 triangles.
    pub(super) fn surface(&self, halvings: u32) -> Surface {
        let Drawn { mut points, normals, triangles } = drawn(&self.grain, halvings);
        points.iter_mut().for_each(|p| *p = P3::from((*p - self.center) / self.equal));
        Surface { points, normals, triangles }
    }
}

impl Shape {
    /// # Errors
    /// Sizes or a shape that are none.
    pub(super) fn of(grains: &Grains) -> anyhow::Result<Self> {
        match (&grains.sphere, &grains.shape) {
            (Some(sphere), None) => {
                sphere.diameter.check().context("diameter")?;
                Ok(Self { sizes: sphere.diameter.clone(), smooth: None })
            }
            (None, Some(shape)) => smooth(shape).context("shape"),
            _ => anyhow::bail!("give either sphere or shape"),
        }
    }

    /// The smallest radius (mm) of a ball that holds a grain.
    pub(super) fn least_radius(&self) -> f64 {
        0.5 * self.sizes.range().0
    }

    /// Part of the ball's volume that is the grain's.
    pub(super) fn filled(&self) -> f64 {
        self.smooth.as_ref().map_or(1.0, |s| s.equal * s.equal * s.equal)
    }

    /// Radius (mm) of the ball of equal volume.
    pub(super) fn equal_radius(&self, radius: f64) -> f64 {
        self.smooth.as_ref().map_or(radius, |s| s.equal * radius)
    }

    /// Least effective mass (kg) and largest radius of curvature (mm) that the shortest contact is to be
    /// reckoned with.
    pub(super) fn worst(&self, density: f64) -> (f64, f64) {
        let r = self.least_radius();
        let ball = 4.0 / 3.0 * PI * r * r * r * density * CUBIC_METRE;
        match &self.smooth {
            None => (ball, r),
            Some(s) => (ball * self.filled() * s.lightest, r * s.equal * FLATTEST),
        }
    }

    /// The grain in a ball of a radius (mm).
    pub(super) fn particle(&self, radius: f64, density: f64) -> anyhow::Result<Particle> {
        Ok(match &self.smooth {
            None => Particle::sphere(radius, density)?,
            Some(s) => Particle::grain(&scaled(&s.grain, radius)?, density)?,
        })
    }

    /// How a grain stands: any way alike. Balls stand as they are.
    pub(super) fn turn(&self, random: &mut Random) -> UnitQuaternion<f64> {
        if self.smooth.is_none() {
            return UnitQuaternion::identity();
        }
        // Shoemake: two points of circles whose radii are those of a random split.
        let part = random.part();
        let [(s1, c1), (s2, c2)] = [random.part(), random.part()].map(|u| math::sin_cos(TAU * u));
        let (a, b) = ((1.0 - part).sqrt(), part.sqrt());
        UnitQuaternion::new_normalize(Quaternion::new(b * c2, a * s1, a * c1, b * s2))
    }
}

fn scaled(grain: &Grain, by: f64) -> anyhow::Result<Grain> {
    let shape = grain.shape();
    Ok(Grain::new(shape.positive() * by, shape.negative() * by, shape.exponents())?)
}

fn smooth(written: &WrittenShape) -> anyhow::Result<Shape> {
    let (positive, negative, exponents, diameter) = match written {
        WrittenShape::Superellipsoid { semi_axes, exponents, diameter } => {
            (semi_axes, semi_axes, exponents, diameter)
        }
        WrittenShape::PolySuperellipsoid { positive, negative, exponents, diameter } => {
            (positive, negative, exponents, diameter)
        }
    };
    let given = Grain::new(V3::from(*positive), V3::from(*negative), *exponents)?;
    let grain = scaled(&given, 1.0 / given.radius()).context("semi-axes are out of range")?;
    let mass = poly_superellipsoid(grain.shape())?;
    let equal = math::powf(0.75 * mass.volume / PI, 1.0 / 3.0);
    let sizes = match diameter {
        None => Distribution::Same(2.0 * given.radius()),
        Some(diameter) => {
            diameter.check().context("diameter")?;
            diameter.times(1.0 / equal)
        }
    };
    sizes.check().context("diameter")?;
    let placed = Placed::new(&grain, &Pose::identity())?;
    let inverse = mass.tensor.try_inverse().context("semi-axes: the grain is too flat")?;
    let (directions, _) = directions(HALVINGS);
    let points: Vec<P3> = directions.iter().map(|n| placed.surface(n).0).collect();
    let turning = |(n, p): (&V3, &P3)| {
        let arm = (p - mass.centroid).cross(n);
        mass.volume * arm.dot(&(inverse * arm))
    };
    let most = directions.iter().zip(&points).map(turning).fold(0.0, f64::max);
    ensure!(most.is_finite(), "semi-axes: the grain is too flat");
    let Drawn { points, triangles, .. } = drawn(&grain, HALVINGS);
    Ok(Shape {
        sizes,
        smooth: Some(Smooth {
            grain,
            equal,
            lightest: 1.0 / (1.0 + most),
            center: mass.centroid,
            points,
            triangles,
        }),
    })
}

/// Halvings of the edges of what is drawn: 66 points.
const HALVINGS: u32 = 2;

/// How much flatter a grain counts at most, to Hertz's law, than the ball of equal volume: that of the
/// simulation.
const FLATTEST: f64 = 10.0;

/// m³ in mm³.
pub(super) const CUBIC_METRE: f64 = 1e-9;
