//! What particles are made of: spheres, clumps of spheres that hold together, and grains of smooth shape.

use super::error::StepError;
use super::form::Shaped;
use super::grain::Smooth;
use super::solid::Solid;
use crate::exact::Sphere;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::Grain;
use feeler_grains::mass::{MassProperties, poly_superellipsoid};
use feeler_runtime::Body;
use nalgebra::{Matrix3, Rotation3, Translation3, UnitQuaternion};
use std::f64::consts::PI;
use std::sync::Arc;

/// A sphere of a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pebble {
    /// Its centre (mm, particle's coordinates).
    pub center: P3,
    /// Its radius (mm).
    pub radius: f64,
}

/// A rigid particle: its spheres or its shape, its mass and inertia.
#[derive(Clone, Debug, PartialEq)]
pub struct Particle {
    /// In the axes of inertia about the centre of mass; of a grain one ball that holds it.
    pub(super) pebbles: Vec<Pebble>,
    /// What is in the ball, where that is no sphere itself.
    pub(super) shaped: Option<Box<Shaped>>,
    /// kg.
    pub(super) mass: f64,
    /// Principal moments of inertia (kg·mm²).
    pub(super) inertia: V3,
    /// From the axes of inertia to the particle's coordinates.
    pub(super) axes: Pose,
}

impl Particle {
    /// A sphere (mm) of a density (kg/m³), about the origin of its coordinates.
    ///
    /// # Errors
    /// A radius or a density that is not above 0.
    pub fn sphere(radius: f64, density: f64) -> Result<Self, StepError> {
        Self::clump(&[Pebble { center: P3::origin(), radius }], density)
    }

    /// Spheres of a density (kg/m³) that hold together. Where they overlap, their mass counts as often as
    /// they do; [`Particle::with_inertia`] takes other ones.
    ///
    /// # Errors
    /// No spheres, radii or a density that are not above 0, places that are not finite.
    pub fn clump(pebbles: &[Pebble], density: f64) -> Result<Self, StepError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(StepError::Particle("the density must be above 0 kg/m³"));
        }
        check(pebbles)?;
        let masses: Vec<f64> = pebbles
            .iter()
            .map(|p| 4.0 / 3.0 * PI * p.radius * p.radius * p.radius * density * CUBIC_METRE)
            .collect();
        let mass: f64 = masses.iter().sum();
        let center =
            P3::from(pebbles.iter().zip(&masses).map(|(p, m)| p.center.coords * *m).sum::<V3>() / mass);
        let mut tensor = Matrix3::zeros();
        for (p, m) in pebbles.iter().zip(&masses) {
            let arm = p.center - center;
            tensor += Matrix3::identity() * (m * (0.4 * p.radius * p.radius + arm.norm_squared()));
            tensor -= arm * arm.transpose() * *m;
        }
        Self::with_inertia(pebbles, mass, center, tensor)
    }

    /// A superellipsoid or poly-superellipsoid of a density (kg/m³), in the coordinates of its semi-axes,
    /// which are not about its centre of mass where they differ.
    ///
    /// # Errors
    /// A density that is not above 0; a layer around the shape, whose mass has no closed form: that is for
    /// [`Particle::grain_with_inertia`].
    pub fn grain(grain: &Grain, density: f64) -> Result<Self, StepError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(StepError::Particle("the density must be above 0 kg/m³"));
        }
        if grain.dilation() > 0.0 {
            return Err(StepError::Particle("give mass and inertia of a grain with a layer"));
        }
        let density = density * CUBIC_METRE;
        let mass = poly_superellipsoid(grain.shape())
            .map_err(|_| StepError::Particle("the semi-axes of a grain must be above 0 mm"))?;
        Self::grain_with_inertia(grain, mass.volume * density, mass.centroid, mass.tensor * density)
    }

    /// A grain with a mass (kg), a centre of mass (mm, in the coordinates of its semi-axes) and an inertia
    /// tensor (kg·mm²) about it.
    ///
    /// # Errors
    /// As [`Particle::with_inertia`].
    pub fn grain_with_inertia(
        grain: &Grain,
        mass: f64,
        center: P3,
        tensor: Matrix3<f64>,
    ) -> Result<Self, StepError> {
        let around = Pebble { center: P3::origin(), radius: grain.radius() };
        let mut out = Self::with_inertia(&[around], mass, center, tensor)?;
        let smooth = Smooth::new(grain, &out.axes.rotation.inverse());
        let smooth = smooth.ok_or(StepError::Particle("the grain has no volume"))?;
        out.shaped = Some(Box::new(Shaped::Grain(smooth)));
        Ok(out)
    }

    /// A prepared solid of a density (kg/m³), in its own coordinates: also concave, with edges and vertices.
    ///
    /// It meets other solids, balls, grains, planes and exact walls ([`ExactWall`](crate::ExactWall)), at
    /// each place where they touch; triangles it cannot meet, but solids made of them. Contacts are followed
    /// from step to step ([`Following`](feeler_runtime::Following)), so it may overlap by no more than a
    /// twentieth of its size ([`Body::size`](feeler_runtime::Body::size)), or where that is less two fifths
    /// of its wall.
    ///
    /// # Errors
    /// A density that is not above 0; a sheet, which has no inside; a size beyond all sense.
    pub fn solid(body: &Arc<Body>, density: f64) -> Result<Self, StepError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(StepError::Particle("the density must be above 0 kg/m³"));
        }
        let mass = MassProperties::of_solid(&body.hierarchy().info).filter(|_| body.min_thickness() > 0.0);
        let mass = mass.ok_or(StepError::Particle("a particle must be a closed solid; this is a sheet"))?;
        let density = density * CUBIC_METRE;
        let bounds = body.bounds();
        let around = Pebble { center: bounds.center(), radius: 0.5 * bounds.diagonal() };
        let mut out =
            Self::with_inertia(&[around], mass.volume * density, mass.centroid, mass.tensor * density)?;
        let ball = Sphere { center: around.center, radius: around.radius };
        let solid = Solid::new(body, &ball, &out.axes.rotation.inverse(), mass.volume);
        let solid = solid
            .ok_or(StepError::Particle("the ball around a solid must have a radius of 1e-12 to 1e12 mm"))?;
        out.shaped = Some(Box::new(Shaped::Solid(solid)));
        Ok(out)
    }

    /// Spheres that hold together, with a mass (kg), a centre of mass (mm) and an inertia tensor (kg·mm²)
    /// about it.
    ///
    /// # Errors
    /// No spheres, radii or a mass that are not above 0, numbers that are not finite, a tensor that
    /// no body has.
    pub fn with_inertia(
        pebbles: &[Pebble],
        mass: f64,
        center: P3,
        tensor: Matrix3<f64>,
    ) -> Result<Self, StepError> {
        check(pebbles)?;
        if !(mass.is_finite() && mass > 0.0 && center.iter().all(|c| c.is_finite())) {
            return Err(StepError::Particle("the mass must be above 0 kg, its centre finite"));
        }
        if !(tensor.iter().all(|c| c.is_finite())
            && (tensor - tensor.transpose()).amax() <= SYMMETRIC * tensor.amax())
        {
            return Err(StepError::Particle("the inertia tensor must be finite and symmetric"));
        }
        let is_diagonal =
            [(0, 1), (0, 2), (1, 2)].iter().all(|k| tensor[*k].abs() <= SYMMETRIC * tensor.amax());
        let (inertia, rotation) = if is_diagonal {
            (tensor.diagonal(), UnitQuaternion::identity())
        } else {
            let eigen = tensor.symmetric_eigen();
            let mut axes = eigen.eigenvectors;
            if axes.determinant() < 0.0 {
                axes.column_mut(2).neg_mut();
            }
            let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
            (eigen.eigenvalues, rotation)
        };
        let (sum, largest) = (inertia.sum(), inertia.max());
        if !(inertia.min() > 0.0 && 2.0 * largest <= sum * (1.0 + SYMMETRIC)) {
            return Err(StepError::Particle(
                "the inertia tensor must have moments above 0, none larger than the sum of the other two",
            ));
        }
        let axes = Pose::from_parts(Translation3::from(center.coords), rotation);
        let moved = |p: &Pebble| Pebble { center: axes.inverse_transform_point(&p.center), radius: p.radius };
        Ok(Self { pebbles: pebbles.iter().map(moved).collect(), shaped: None, mass, inertia, axes })
    }

    /// Its mass (kg).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// From its axes of inertia, about its centre of mass, to its own coordinates.
    #[must_use]
    pub fn axes(&self) -> &Pose {
        &self.axes
    }

    /// Its principal moments of inertia (kg·mm²).
    #[must_use]
    pub fn moments(&self) -> V3 {
        self.inertia
    }
}

fn check(pebbles: &[Pebble]) -> Result<(), StepError> {
    if pebbles.is_empty() {
        return Err(StepError::Particle("a particle needs at least one sphere"));
    }
    let is_good =
        |p: &Pebble| p.radius > 0.0 && p.radius.is_finite() && p.center.iter().all(|c| c.is_finite());
    if !pebbles.iter().all(is_good) {
        return Err(StepError::Particle("radii must be above 0 mm, centres finite"));
    }
    Ok(())
}

/// m³ in mm³.
const CUBIC_METRE: f64 = 1e-9;

/// Up to this part of its largest number an inertia tensor is symmetric, or diagonal.
const SYMMETRIC: f64 = 1e-12;
