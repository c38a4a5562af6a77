//! Durations of contacts. Time steps must be short compared with them.
//!
//! # Source
//! Linear: half a period of the damped oscillator. Hertz: Landau and Lifshitz, *Theory of Elasticity*, §9,
//! problem 1, without damping, which would make contacts longer.

use crate::law::Law;
use feeler_geom::math;
use std::f64::consts::PI;

impl Law {
    /// Duration (s) of a head-on impact of two bodies with an effective mass (kg) and an effective
    /// radius (mm) that approach each other at `speed` (mm/s). The duration of a Hertzian contact has no
    /// upper bound as the speed decreases.
    #[must_use]
    pub fn contact_time(&self, mass: f64, radius: f64, speed: f64) -> f64 {
        match *self {
            Self::Linear { normal, restitution, .. } => {
                let ln = math::ln(restitution);
                // ω√(1 − ζ²) = ω π / √(π² + ln² e).
                (mass / normal).sqrt() * (PI * PI + ln * ln).sqrt()
            }
            Self::Hertz { modulus, .. } => {
                let depth = 15.0 * mass * speed * speed / (16.0 * modulus * radius.sqrt());
                HERTZ_DURATION * math::powf(depth, 0.4) / speed
            }
        }
    }
}

/// Duration of a Hertzian impact without damping, as a multiple of the maximum depth divided by the
/// speed of approach: 2 ∫ dx / √(1 − x^(5/2)) from 0 to 1.
const HERTZ_DURATION: f64 = 2.943_275_174;

#[cfg(test)]
mod tests {
    use crate::{Law, Particle, PlaneWall, Simulation, SimulationSettings};
    use feeler_geom::{P3, Pose, V3};

    #[test]
    fn simulated_impacts_last_as_long() {
        let linear = |restitution| Law::Linear { normal: 1e3, shear: 0.0, restitution, friction: 0.0 };
        let hertz = Law::Hertz { modulus: 1e5, shear: 1e5, restitution: 1.0, friction: 0.0 };
        for law in [linear(1.0), linear(0.4), hertz] {
            for speed in [10.0, 1000.0] {
                let sphere = Particle::sphere(2.0, 2_500.0).unwrap();
                let expected = law.contact_time(sphere.mass(), 2.0, speed);
                let settings = SimulationSettings { gravity: V3::zeros(), between: None };
                let mut simulation = Simulation::new(settings).unwrap();
                simulation.add_wall(PlaneWall::new(P3::origin(), V3::z()).unwrap().into(), law).unwrap();
                let pose = Pose::translation(0.0, 0.0, 2.0);
                simulation.add(sphere, &pose, V3::z() * -speed, V3::zeros()).unwrap();
                let step = expected / 1000.0;
                let mut steps_in_contact = 0;
                for _ in 0..1500 {
                    simulation.step(step).unwrap();
                    steps_in_contact += simulation.wall_contact_count();
                }
                let duration = steps_in_contact as f64 * step;
                assert!((duration / expected - 1.0).abs() < 5e-3, "{law:?} {speed}: {duration} {expected}");
            }
        }
    }
}
