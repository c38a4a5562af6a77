//! Random grains with bumps and dents.

use super::fit::{FitOptions, Spline};
use super::{NurbsGrain, NurbsGrainError};
use crate::Random;
use feeler_geom::{P2, P3, V3, math};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Total number of bumps and dents of a random grain.
const BUMPS: usize = 8;
/// Largest height of a bump or depth of a dent at roughness 1, relative to the radius of the grain.
const HEIGHT: f64 = 0.45;
/// Maximum number of attempts to make a star-shaped grain, each with half the roughness of the one
/// before.
const MAX_ATTEMPTS: u32 = 6;

impl NurbsGrain {
    /// Creates a random grain about the origin with a mean radius of about `radius` (mm), with bumps and
    /// dents. At `roughness` 0.5 most grains are concave somewhere, at 0 all are ellipsoids up to a
    /// thousandth of the radius. The net is bicubic with 12 control points around and 10 rows. The seed
    /// determines the grain to the bit.
    ///
    /// Each ray from the origin is proven to intersect the surface once
    /// ([`NurbsGrain::is_star_shaped`]). If this is not proven, the grain is made again with half the
    /// roughness, up to five times.
    ///
    /// # Errors
    /// Returns [`NurbsGrainError::Dimension`] if the radius is not valid, and
    /// [`NurbsGrainError::Roughness`] if the roughness is outside [0, 1] or no grain was found.
    pub fn random(seed: u64, radius: f64, roughness: f64) -> Result<Self, NurbsGrainError> {
        if !(radius.is_finite() && radius > 0.0) {
            return Err(NurbsGrainError::Dimension { name: "the radius", value: radius });
        }
        if !(0.0..=1.0).contains(&roughness) {
            return Err(NurbsGrainError::Roughness);
        }
        let mut random = Random(seed);
        let axes = [(); 3].map(|()| radius * (1.0 - 0.3 * share(&mut random)));
        let bumps = [(); BUMPS].map(|()| {
            let center = direction(&mut random);
            let width = 2.0 + 6.0 * share(&mut random);
            (center, HEIGHT * (2.0 * share(&mut random) - 1.0), width)
        });
        let spline = Spline::new(&FitOptions::default())?;
        let [u_end, v_end] = spline.lengths();
        let (n_u, n_v) = (48, 32);
        for halvings in 0..MAX_ATTEMPTS {
            let height = roughness / f64::from(1_u32 << halvings);
            let (mut at, mut points) = (Vec::new(), Vec::new());
            for k in 0..n_u {
                for l in 0..=n_v {
                    let (u, v) = (f64::from(k) / f64::from(n_u), f64::from(l) / f64::from(n_v));
                    let (sin_u, cos_u) = math::sin_cos(TAU * u);
                    let (sin_v, cos_v) = math::sin_cos(PI * v - FRAC_PI_2);
                    let d = V3::new(cos_v * cos_u, cos_v * sin_u, sin_v);
                    let bump = |(c, h, w): &(V3, f64, f64)| h * math::exp(w * (d.dot(c) - 1.0));
                    let r = 1.0 + height * bumps.iter().map(bump).sum::<f64>();
                    points.push(P3::new(axes[0] * r * d.x, axes[1] * r * d.y, axes[2] * r * d.z));
                    at.push(P2::new(u * u_end, v * v_end));
                }
            }
            let grain = Self::of_net(&spline.solve(&points, &at, 1e-8)?)?;
            if grain.is_star_shaped(&P3::origin()) {
                return Ok(grain);
            }
        }
        Err(NurbsGrainError::Roughness)
    }
}

/// Draws a number uniform in [0, 1) with 32 random bits.
fn share(random: &mut Random) -> f64 {
    f64::from(u32::try_from(random.whole() >> 32).unwrap_or(0)) / 4_294_967_296.0
}

fn direction(random: &mut Random) -> V3 {
    let z = 2.0 * share(random) - 1.0;
    let (sin, cos) = math::sin_cos(TAU * share(random));
    let r = (1.0 - z * z).max(0.0).sqrt();
    V3::new(r * cos, r * sin, z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_determine_concave_grains() {
        let mut concave = 0;
        for seed in 0..12 {
            let grain = NurbsGrain::random(seed, 5.0, 0.6).unwrap();
            assert_eq!(grain, NurbsGrain::random(seed, 5.0, 0.6).unwrap(), "the same bits");
            concave += u32::from(grain.curvature_range()[0] < -0.01);
        }
        assert!(concave >= 10, "{concave} of 12 are concave");
    }
}
