//! Particles: their shape, mass and inertia.

use super::error::SimulationError;
use super::grain::GrainShape;
use super::shape::ParticleShape;
use super::solid::SolidShape;
use crate::sphere::Sphere;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::Grain;
use feeler_grains::mass::{MassProperties, poly_superellipsoid};
use feeler_runtime::Body;
use nalgebra::{Matrix3, Rotation3, Translation3, UnitQuaternion};
use std::f64::consts::PI;
use std::sync::Arc;

/// Rigid particle: its spheres or another shape, its mass and inertia.
#[derive(Clone, Debug, PartialEq)]
pub struct Particle {
    /// Spheres of the particle, or the bounding sphere of a grain or a solid, in coordinates along the
    /// axes of inertia with the centre of mass as origin.
    pub(super) spheres: Vec<Sphere>,
    /// The shape that the sphere bounds; `None` if the particle is made of spheres.
    pub(super) shape: Option<Box<ParticleShape>>,
    /// Mass (kg).
    pub(super) mass: f64,
    /// Principal moments of inertia (kg·mm²).
    pub(super) inertia: V3,
    /// Pose that maps coordinates along the axes of inertia, with the centre of mass as origin, to the
    /// particle's coordinates.
    pub(super) axes: Pose,
}

impl Particle {
    /// Creates a sphere of a radius (mm) and a density (kg/m³), centred at the origin of its
    /// coordinates.
    ///
    /// # Errors
    /// The radius or the density is not above 0.
    pub fn sphere(radius: f64, density: f64) -> Result<Self, SimulationError> {
        Self::clump(&[Sphere { center: P3::origin(), radius }], density)
    }

    /// Creates a clump: spheres of a density (kg/m³), in the particle's coordinates, that form one rigid
    /// body. The mass of a volume where spheres overlap counts for each of them;
    /// [`Particle::with_inertia`] takes a given mass and inertia.
    ///
    /// # Errors
    /// There are no spheres, a radius or the density is not above 0, or a centre is not finite.
    pub fn clump(spheres: &[Sphere], density: f64) -> Result<Self, SimulationError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(SimulationError::Particle("the density must be above 0 kg/m³"));
        }
        check(spheres)?;
        let masses: Vec<f64> = spheres
            .iter()
            .map(|p| 4.0 / 3.0 * PI * p.radius * p.radius * p.radius * density * CUBIC_METRES_PER_MM3)
            .collect();
        let mass: f64 = masses.iter().sum();
        let center =
            P3::from(spheres.iter().zip(&masses).map(|(p, m)| p.center.coords * *m).sum::<V3>() / mass);
        let mut tensor = Matrix3::zeros();
        for (p, m) in spheres.iter().zip(&masses) {
            let arm = p.center - center;
            tensor += Matrix3::identity() * (m * (0.4 * p.radius * p.radius + arm.norm_squared()));
            tensor -= arm * arm.transpose() * *m;
        }
        Self::with_inertia(spheres, mass, center, tensor)
    }

    /// Creates a grain: a superellipsoid or poly-superellipsoid of a density (kg/m³), in the coordinates
    /// of its semi-axes. Their origin is not the centre of mass if the semi-axes of opposite sides
    /// differ.
    ///
    /// # Errors
    /// The density is not above 0, or there is a layer around the grain's shape. The mass of a layer has
    /// no closed form; [`Particle::grain_with_inertia`] takes a given mass.
    pub fn grain(grain: &Grain, density: f64) -> Result<Self, SimulationError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(SimulationError::Particle("the density must be above 0 kg/m³"));
        }
        if grain.dilation() > 0.0 {
            return Err(SimulationError::Particle(
                "a grain with a layer needs a given mass and inertia (grain_with_inertia)",
            ));
        }
        let density = density * CUBIC_METRES_PER_MM3;
        let mass = poly_superellipsoid(grain.shape())
            .map_err(|_| SimulationError::Particle("the semi-axes of a grain must be above 0 mm"))?;
        Self::grain_with_inertia(grain, mass.volume * density, mass.centroid, mass.tensor * density)
    }

    /// Creates a grain with a given mass (kg), centre of mass (mm) and inertia tensor (kg·mm²) about
    /// that centre, both in the coordinates of the grain's semi-axes.
    ///
    /// # Errors
    /// Those of [`Particle::with_inertia`], or the grain has no volume.
    pub fn grain_with_inertia(
        grain: &Grain,
        mass: f64,
        center: P3,
        tensor: Matrix3<f64>,
    ) -> Result<Self, SimulationError> {
        let bounding = Sphere { center: P3::origin(), radius: grain.radius() };
        let mut out = Self::with_inertia(&[bounding], mass, center, tensor)?;
        let shape = GrainShape::new(grain, &out.axes.rotation.inverse());
        let shape = shape.ok_or(SimulationError::Particle("the grain has no volume"))?;
        out.shape = Some(Box::new(ParticleShape::Grain(shape)));
        Ok(out)
    }

    /// Creates a particle from a prepared solid, with a density (kg/m³), in the solid's own coordinates.
    /// The solid may be concave and have edges and vertices.
    ///
    /// A solid has contacts with other solids, spheres, grains, planes and exact walls
    /// ([`ExactWall`](crate::ExactWall)), one at each point where they touch. It has no contacts with
    /// walls of triangles, but it has with solids made of triangles. Contacts are tracked from step to
    /// step ([`ContactFollower`](feeler_runtime::ContactFollower)). Overlaps may therefore be up to a
    /// twentieth of the solid's size ([`Body::size`](feeler_runtime::Body::size)), or two fifths of its
    /// minimum thickness if that is less.
    ///
    /// # Errors
    /// The density is not above 0, the body is a sheet, which has no inside, or its size is out of range.
    pub fn solid(body: &Arc<Body>, density: f64) -> Result<Self, SimulationError> {
        let bounds = body.bounds();
        Self::solid_in_ball(
            body,
            &Sphere { center: bounds.center(), radius: 0.5 * bounds.diagonal() },
            density,
        )
    }

    /// Like [`Particle::solid`], with a given ball (mm, coordinates of the solid) that contains the solid,
    /// for the search of pairs. A small ball saves queries; parts of the solid outside of the ball may have
    /// no contacts.
    ///
    /// # Errors
    /// Those of [`Particle::solid`].
    pub fn solid_in_ball(body: &Arc<Body>, bounding: &Sphere, density: f64) -> Result<Self, SimulationError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(SimulationError::Particle("the density must be above 0 kg/m³"));
        }
        let mass = MassProperties::of_solid(&body.hierarchy().info).filter(|_| body.min_thickness() > 0.0);
        let mass =
            mass.ok_or(SimulationError::Particle("a particle must be a closed solid; this is a sheet"))?;
        let density = density * CUBIC_METRES_PER_MM3;
        let mut out =
            Self::with_inertia(&[*bounding], mass.volume * density, mass.centroid, mass.tensor * density)?;
        let shape = SolidShape::new(body, bounding, &out.axes.rotation.inverse(), mass.volume);
        let shape = shape.ok_or(SimulationError::Particle(
            "the bounding sphere of the particle's solid must have a radius of 1e-12 to 1e12 mm; check the \
             unit of its coordinates",
        ))?;
        out.shape = Some(Box::new(ParticleShape::Solid(shape)));
        Ok(out)
    }

    /// Creates a clump of spheres with a given mass (kg), centre of mass (mm) and inertia tensor
    /// (kg·mm²) about that centre, all in the particle's coordinates.
    ///
    /// # Errors
    /// There are no spheres, a radius or the mass is not above 0, a number is not finite, or the tensor
    /// is not that of any body.
    pub fn with_inertia(
        spheres: &[Sphere],
        mass: f64,
        center: P3,
        tensor: Matrix3<f64>,
    ) -> Result<Self, SimulationError> {
        check(spheres)?;
        if !(mass.is_finite() && mass > 0.0 && center.iter().all(|c| c.is_finite())) {
            return Err(SimulationError::Particle("the mass must be above 0 kg, its centre finite"));
        }
        if !(tensor.iter().all(|c| c.is_finite())
            && (tensor - tensor.transpose()).amax() <= INERTIA_ROUNDING * tensor.amax())
        {
            return Err(SimulationError::Particle("the inertia tensor must be finite and symmetric"));
        }
        let is_diagonal =
            [(0, 1), (0, 2), (1, 2)].iter().all(|k| tensor[*k].abs() <= INERTIA_ROUNDING * tensor.amax());
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
        if !(inertia.min() > 0.0 && 2.0 * largest <= sum * (1.0 + INERTIA_ROUNDING)) {
            return Err(SimulationError::Particle(
                "the inertia tensor must have moments above 0, none larger than the sum of the other two",
            ));
        }
        let axes = Pose::from_parts(Translation3::from(center.coords), rotation);
        let moved = |s: &Sphere| Sphere { center: axes.inverse_transform_point(&s.center), radius: s.radius };
        Ok(Self { spheres: spheres.iter().map(moved).collect(), shape: None, mass, inertia, axes })
    }

    /// Mass (kg).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Pose that maps the axes of inertia, with the centre of mass as origin, to the particle's
    /// coordinates.
    #[must_use]
    pub fn axes(&self) -> &Pose {
        &self.axes
    }

    /// Principal moments of inertia (kg·mm²).
    #[must_use]
    pub fn moments(&self) -> V3 {
        self.inertia
    }
}

fn check(spheres: &[Sphere]) -> Result<(), SimulationError> {
    if spheres.is_empty() {
        return Err(SimulationError::Particle("a particle needs at least one sphere"));
    }
    let is_good =
        |s: &Sphere| s.radius > 0.0 && s.radius.is_finite() && s.center.iter().all(|c| c.is_finite());
    if !spheres.iter().all(is_good) {
        return Err(SimulationError::Particle("radii must be above 0 mm, centres finite"));
    }
    Ok(())
}

/// Number of m³ in a mm³: densities are in kg/m³, volumes in mm³.
const CUBIC_METRES_PER_MM3: f64 = 1e-9;

/// Relative rounding of an inertia tensor: deviations up to it count as 0 in the tests whether the
/// tensor is symmetric or diagonal and its moments satisfy the triangle inequality. With a larger value
/// tensors that no body has pass; with a smaller one tensors from other programs are refused.
const INERTIA_ROUNDING: f64 = 1e-12;
