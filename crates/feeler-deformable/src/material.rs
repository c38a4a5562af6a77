//! Isotropic linear elastic material.

use crate::error::DeformableError;

/// Isotropic material with the St Venant–Kirchhoff law: the second Piola–Kirchhoff stress is a linear
/// function of the Green strain.
///
/// The law is meant for small strains with arbitrary rotations. It softens under strong compression, and an
/// element that is compressed to less than about 58 % of its length loses its stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    young: f64,
    poisson: f64,
    density: f64,
}

impl Material {
    /// Creates a material from Young's modulus (N/mm²), Poisson's ratio and the density (t/mm³).
    ///
    /// # Errors
    /// Young's modulus or the density is not finite and positive, or Poisson's ratio is not above −1 and
    /// below 0.5.
    pub fn new(young: f64, poisson: f64, density: f64) -> Result<Self, DeformableError> {
        if !(young.is_finite() && young > 0.0) {
            return Err(DeformableError::Young(young));
        }
        if !(-1.0 < poisson && poisson < 0.5) {
            return Err(DeformableError::Poisson(poisson));
        }
        if !(density.is_finite() && density > 0.0) {
            return Err(DeformableError::Density(density));
        }
        Ok(Self { young, poisson, density })
    }

    /// Young's modulus (N/mm²).
    #[must_use]
    pub fn young(&self) -> f64 {
        self.young
    }

    /// Poisson's ratio.
    #[must_use]
    pub fn poisson(&self) -> f64 {
        self.poisson
    }

    /// Density (t/mm³).
    #[must_use]
    pub fn density(&self) -> f64 {
        self.density
    }

    /// Lamé's constants λ and μ (N/mm²).
    #[must_use]
    pub fn lame(&self) -> (f64, f64) {
        let nu = self.poisson;
        (self.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), self.young / (2.0 * (1.0 + nu)))
    }

    /// Speed of longitudinal waves in a slender bar, √(E/ρ) (mm/s).
    #[must_use]
    pub fn bar_wave_speed(&self) -> f64 {
        (self.young / self.density).sqrt()
    }

    /// Speed of pressure waves in an unbounded solid, √((λ + 2μ)/ρ) (mm/s).
    #[must_use]
    pub fn pressure_wave_speed(&self) -> f64 {
        let (lambda, mu) = self.lame();
        ((lambda + 2.0 * mu) / self.density).sqrt()
    }
}
