//! Random shapes of grains.

use super::Distribution;
use crate::convex::Grain;
use crate::mass::poly_superellipsoid;
use crate::{GrainError, Random};
use feeler_convex::PolySuperellipsoid;
use feeler_geom::V3;
use feeler_geom::math::powf;

/// Distributions of random poly-superellipsoids.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapes {
    /// Diameter of the ball of equal volume (mm).
    pub size: Distribution,
    /// Ratios of the semi-axes +x, +y, +z, −x, −y, −z, which are then scaled to the size.
    pub proportions: [Distribution; 6],
    /// Whether both sides of an axis have the semi-axis of the positive side, which gives
    /// superellipsoids.
    pub symmetric: bool,
    /// Exponents ε₁ and ε₂, within [0.1, 1.9].
    pub exponents: [Distribution; 2],
}

impl Shapes {
    /// Draws a random grain.
    ///
    /// # Errors
    /// Returns an error if a distribution is not valid or an exponent is out of bounds.
    pub fn sample(&self, random: &mut Random) -> Result<Grain, GrainError> {
        self.proportions
            .iter()
            .chain(&self.exponents)
            .chain([&self.size])
            .try_for_each(Distribution::check)?;
        let mut parts = [0.0; 6];
        for (part, of) in parts.iter_mut().zip(&self.proportions) {
            *part = of.draw(random);
        }
        let plus = V3::new(parts[0], parts[1], parts[2]);
        let minus = if self.symmetric { plus } else { V3::new(parts[3], parts[4], parts[5]) };
        let exponents = [self.exponents[0].draw(random), self.exponents[1].draw(random)];
        let size = self.size.draw(random);
        let volume = poly_superellipsoid(&PolySuperellipsoid::new(plus, minus, exponents)?)?.volume;
        let scale = size * powf(std::f64::consts::PI / 6.0 / volume, 1.0 / 3.0);
        Grain::new(plus * scale, minus * scale, exponents)
    }
}
