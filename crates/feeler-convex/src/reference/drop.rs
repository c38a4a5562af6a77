//! Grains that fall into a heap: realistic motion for tests and benches of the broad phase.
//!
//! # Source
//! DIST §4.4 (free falling particles). The dynamics are those of balls with positions corrected step by
//! step, which suffices for free fall, impacts, rolling and rest.

use super::cases::CaseRandom;
use crate::Polytope;
use feeler_geom::{P3, Pose, V3};
use nalgebra::UnitQuaternion;

/// Radius of the balls that collide in place of the grains, relative to the radius of a grain's bounding
/// ball. It is below 1, so that corners of grains intersect.
const CONTACT_RATIO: f64 = 0.75;

/// Falling grains in a column with a floor and walls. Each grain is a polytope; a ball around it
/// collides in its place.
#[derive(Clone, Debug)]
pub struct Drop {
    /// Grains, each the hull of random points on a sphere around the origin of its own coordinates.
    pub shapes: Vec<Polytope>,
    /// Radii of the spheres on which the points of the grains lie.
    pub radii: Vec<f64>,
    /// Current poses of the grains.
    pub poses: Vec<Pose>,
    velocities: Vec<V3>,
    spins: Vec<V3>,
    half_width: f64,
}

impl Drop {
    /// Creates `n` grains of radius 0.5 to 1 above the floor z = 0, in loose layers.
    #[must_use]
    pub fn new(seed: u64, n: usize) -> Self {
        let mut rng = CaseRandom(seed);
        let mut out = Self {
            shapes: Vec::new(),
            radii: Vec::new(),
            poses: Vec::new(),
            velocities: Vec::new(),
            spins: Vec::new(),
            half_width: 0.0,
        };
        let side = (1..).find(|k| 4 * k * k * k >= n).unwrap_or(1);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let at = |i: usize| 2.4 * (i as f64 - 0.5 * (side - 1) as f64);
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let width = 1.2 * side as f64 + 0.3;
        out.half_width = width;
        while out.shapes.len() < n {
            let i = out.shapes.len();
            let radius = rng.between(0.5, 1.0);
            let points: Vec<P3> = (0..12).map(|_| P3::from(rng.vector().normalize() * radius)).collect();
            let Ok(shape) = Polytope::new(&points) else { continue };
            out.shapes.push(shape);
            out.radii.push(radius);
            let layer = i / (side * side);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let z = 1.5 + 2.4 * layer as f64;
            let place = V3::new(at(i % side), at(i / side % side), z) + rng.vector() * 0.1;
            out.poses.push(Pose::new(place, rng.vector() * 3.0));
            out.velocities.push(rng.vector());
            out.spins.push(rng.vector() * 2.0);
        }
        out
    }

    /// Advances the motion by the time step `dt`, with gravity of magnitude 10 along −z.
    pub fn step(&mut self, dt: f64) {
        let n = self.shapes.len();
        for i in 0..n {
            self.velocities[i].z -= 10.0 * dt;
            self.velocities[i] *= 1.0 - 0.1 * dt;
            self.poses[i].translation.vector += self.velocities[i] * dt;
            let turn = UnitQuaternion::from_scaled_axis(self.spins[i] * dt);
            self.poses[i].rotation =
                UnitQuaternion::new_normalize((turn * self.poses[i].rotation).into_inner());
        }
        for i in 0..n {
            for j in i + 1..n {
                let apart = self.poses[j].translation.vector - self.poses[i].translation.vector;
                let contact_distance = CONTACT_RATIO * (self.radii[i] + self.radii[j]);
                if apart.norm_squared() < contact_distance * contact_distance {
                    self.push_apart(i, j, apart, contact_distance);
                }
            }
            self.keep_inside(i);
        }
    }

    fn push_apart(&mut self, i: usize, j: usize, apart: V3, contact_distance: f64) {
        let d = apart.norm();
        let n = if d > 0.0 { apart / d } else { V3::z() };
        let by = n * (0.4 * (contact_distance - d));
        self.poses[i].translation.vector -= by;
        self.poses[j].translation.vector += by;
        let closing = (self.velocities[j] - self.velocities[i]).dot(&n);
        if closing < 0.0 {
            let impulse = n * (0.6 * closing);
            self.velocities[i] += impulse;
            self.velocities[j] -= impulse;
            // Contacts damp the motion.
            for k in [i, j] {
                self.spins[k] *= 0.98;
                self.velocities[k] *= 0.995;
            }
        }
    }

    fn keep_inside(&mut self, i: usize) {
        let r = CONTACT_RATIO * self.radii[i];
        for (axis, sign, wall) in
            [(0, 1.0, -self.half_width), (0, -1.0, -self.half_width), (1, 1.0, -self.half_width)]
                .into_iter()
                .chain([(1, -1.0, -self.half_width), (2, 1.0, 0.0)])
        {
            let inside = sign * self.poses[i].translation.vector[axis] - (wall + r);
            if inside < 0.0 {
                self.poses[i].translation.vector[axis] -= sign * inside;
                if sign * self.velocities[i][axis] < 0.0 {
                    self.velocities[i][axis] *= -0.3;
                    self.spins[i] *= 0.95;
                }
            }
        }
    }
}
