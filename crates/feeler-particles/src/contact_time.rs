//! How long contacts last: what steps must be short against.
//!
//! # Source
//! Linear: half a period of the damped oscillator. Hertz: Landau and Lifshitz, *Theory of Elasticity*, §9,
//! problem 1, without damping, which makes contacts longer.

use crate::law::Law;
use feeler_geom::math;
use std::f64::consts::PI;

impl Law {
    /// How long (s) a head-on impact lasts, of bodies with an effective mass (kg) and radius (mm) that come
    /// together with a speed (mm/s). That of a Hertzian contact gets longer without end as the speed falls.
    #[must_use]
    pub fn contact_time(&self, mass: f64, radius: f64, speed: f64) -> f64 {
        match *self {
            Self::Linear { normal, restitution, .. } => {
                let ln = math::ln(restitution);
                // ω√(1 − ζ²) = ω π / √(π² + ln² e).
                (mass / normal).sqrt() * (PI * PI + ln * ln).sqrt()
            }
            Self::Hertz { modulus, .. } => {
                let deepest = 15.0 * mass * speed * speed / (16.0 * modulus * radius.sqrt());
                HERTZ * math::powf(deepest, 0.4) / speed
            }
        }
    }
}

/// 2 ∫ dx / √(1 − x^(5/2)) from 0 to 1.
const HERTZ: f64 = 2.943_275_174;

#[cfg(test)]
mod tests {
    use crate::{Law, Particle, PlaneWall, Settings, Simulation};
    use feeler_geom::{P3, Pose, V3};

    #[test]
    fn simulated_impacts_last_as_long() {
        let linear = |restitution| Law::Linear { normal: 1e3, shear: 0.0, restitution, friction: 0.0 };
        let hertz = Law::Hertz { modulus: 1e5, shear: 1e5, restitution: 1.0, friction: 0.0 };
        for law in [linear(1.0), linear(0.4), hertz] {
            for speed in [10.0, 1000.0] {
                let ball = Particle::sphere(2.0, 2_500.0).unwrap();
                let told = law.contact_time(ball.mass(), 2.0, speed);
                let mut world = Simulation::new(Settings { gravity: V3::zeros(), particles: None }).unwrap();
                world.add_wall(PlaneWall::new(P3::origin(), V3::z()).unwrap().into(), law).unwrap();
                world.add(ball, &Pose::translation(0.0, 0.0, 2.0), V3::z() * -speed, V3::zeros()).unwrap();
                let step = told / 1000.0;
                let mut met = 0;
                for _ in 0..1500 {
                    world.step(step).unwrap();
                    met += world.wall_contacts();
                }
                let lasted = met as f64 * step;
                assert!((lasted / told - 1.0).abs() < 5e-3, "{law:?} {speed}: {lasted} {told}");
            }
        }
    }
}
