//! What grains are: spheres, or copies of one shape, each in a ball that holds it.

use super::scene::{ParticleGroupTable, WrittenShape, reading};
use anyhow::{Context as _, bail, ensure};
use feeler_geom::{P3, Pose, V3, math};
use feeler_grains::convex::{Grain, Placed};
use feeler_grains::drawn::{Drawn, directions, drawn};
use feeler_grains::mass::{MassProperties, poly_superellipsoid};
use feeler_particles::{Distribution, Particle, Random};
use feeler_runtime::Body;
use feeler_view::mesh::mesh;
use feeler_view::picture::Surface;
use nalgebra::{Matrix3, Quaternion, UnitQuaternion};
use std::f64::consts::{PI, TAU};
use std::path::Path;
use std::sync::Arc;

/// Grains of different sizes and one shape.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// Of the balls that hold them.
    pub(super) sizes: Distribution,
    /// None: the balls themselves.
    pub(super) scaled: Option<ScaledShape>,
}

/// A shape that a ball of radius 1 holds.
#[derive(Clone, Debug)]
pub(super) struct ScaledShape {
    template: Template,
    /// Middle of the ball.
    pub(super) middle: P3,
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

#[derive(Clone, Debug)]
enum Template {
    /// In a ball about its origin.
    Grain(Grain),
    /// Of one size alone, and its surface as it is drawn (own coordinates by the radius of the ball).
    Solid(Arc<Body>, Surface),
}

impl ScaledShape {
    /// Its surface about its centre of mass, as large as that of the ball of radius 1, with 4^`halvings`
    /// times 8 triangles.
    pub(super) fn surface(&self, halvings: u32) -> Surface {
        let mut surface = match &self.template {
            Template::Grain(grain) => {
                let Drawn { points, normals, triangles } = drawn(grain, halvings);
                Surface { points, normals, triangles }
            }
            Template::Solid(_, surface) => surface.clone(),
        };
        surface.points.iter_mut().for_each(|p| *p = P3::from((*p - self.center) / self.equal));
        surface
    }

    pub(super) fn is_solid(&self) -> bool {
        matches!(self.template, Template::Solid(..))
    }
}

impl Shape {
    /// # Errors
    /// Sizes or a shape that are none.
    pub(super) fn of(table: &ParticleGroupTable, folder: &Path) -> anyhow::Result<Self> {
        match (&table.sphere, &table.shape) {
            (Some(sphere), None) => {
                sphere.diameter.check().context("diameter")?;
                Ok(Self { sizes: sphere.diameter.clone(), scaled: None })
            }
            (None, Some(WrittenShape::Solid { file, unit })) => {
                solid(&folder.join(file), unit.as_deref()).context("shape")
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
        self.scaled.as_ref().map_or(1.0, |s| s.equal * s.equal * s.equal)
    }

    /// Radius (mm) of the ball of equal volume.
    pub(super) fn equal_radius(&self, radius: f64) -> f64 {
        self.scaled.as_ref().map_or(radius, |s| s.equal * radius)
    }

    /// Least effective mass (kg) and largest radius of curvature (mm) that the shortest contact is to be
    /// reckoned with.
    pub(super) fn worst(&self, density: f64) -> (f64, f64) {
        let r = self.least_radius();
        let ball = 4.0 / 3.0 * PI * r * r * r * density * CUBIC_METRE;
        match &self.scaled {
            None => (ball, r),
            Some(s) => (ball * self.filled() * s.lightest, r * s.equal * FLATTEST),
        }
    }

    /// The grain in a ball of a radius (mm).
    pub(super) fn particle(&self, radius: f64, density: f64) -> anyhow::Result<Particle> {
        Ok(match &self.scaled {
            None => Particle::sphere(radius, density)?,
            Some(ScaledShape { template: Template::Grain(grain), .. }) => {
                Particle::grain(&scaled(grain, radius)?, density)?
            }
            Some(ScaledShape { template: Template::Solid(body, _), .. }) => Particle::solid(body, density)?,
        })
    }

    /// How a grain stands: any way alike. Balls stand as they are.
    pub(super) fn turn(&self, random: &mut Random) -> UnitQuaternion<f64> {
        if self.scaled.is_none() {
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
        WrittenShape::Solid { .. } => bail!("a solid has no semi-axes"),
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
    let lightest = lightest(&mass, &inverse, directions.iter().zip(&points));
    ensure!(lightest > 0.0, "semi-axes: the grain is too flat");
    let Drawn { points, triangles, .. } = drawn(&grain, HALVINGS);
    Ok(Shape {
        sizes,
        scaled: Some(ScaledShape {
            template: Template::Grain(grain),
            middle: P3::origin(),
            equal,
            lightest,
            center: mass.centroid,
            points,
            triangles,
        }),
    })
}

/// One solid of a file.
fn solid(path: &Path, unit: Option<&str>) -> anyhow::Result<Shape> {
    let named = || path.display().to_string();
    let (model, _) = feeler_import::load_with(path, reading(path, unit)?)?;
    let many = model.solids.len();
    ensure!(many == 1, "{}: has {many} solids; give a file with one", named());
    let body = Arc::new(Body::from_model(&model, 0).with_context(named)?);
    let info = &body.hierarchy().info;
    let mass = MassProperties::of_solid(info).with_context(|| format!("{}: is no closed solid", named()))?;
    // What simulations ask, told with the file's name.
    Particle::solid(&body, 1.0).with_context(named)?;
    let inverse = mass.tensor.try_inverse().with_context(|| format!("{}: is too flat", named()))?;
    let radius = 0.5 * body.bounds().diagonal();
    let drawn = mesh(body.hierarchy(), FINENESS * radius).with_context(named)?;
    let lightest = lightest(&mass, &inverse, drawn.normals.iter().zip(&drawn.points));
    ensure!(lightest > 0.0, "{}: is too flat", named());
    let inward = |p: &P3| P3::from(p.coords / radius);
    let points: Vec<P3> = drawn.points.iter().map(inward).collect();
    let surface =
        Surface { points: points.clone(), normals: drawn.normals, triangles: drawn.triangles.clone() };
    Ok(Shape {
        sizes: Distribution::Same(2.0 * radius),
        scaled: Some(ScaledShape {
            middle: inward(&body.bounds().center()),
            equal: math::powf(0.75 * mass.volume / PI, 1.0 / 3.0) / radius,
            lightest,
            center: inward(&mass.centroid),
            points,
            triangles: drawn.triangles,
            template: Template::Solid(body, surface),
        }),
    })
}

/// The least effective mass of a push at a point of the surface along its normal, as a part of the mass.
fn lightest<'p>(
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

/// How far what is drawn of a solid is off, as a part of the ball around it.
const FINENESS: f64 = 0.02;

/// Halvings of the edges of what is drawn: 66 points.
const HALVINGS: u32 = 2;

/// How much flatter a grain counts at most, to Hertz's law, than the ball of equal volume: that of the
/// simulation.
const FLATTEST: f64 = 10.0;

/// m³ in mm³.
pub(super) const CUBIC_METRE: f64 = 1e-9;
