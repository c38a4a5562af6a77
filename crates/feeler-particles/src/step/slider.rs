//! Sliding walls: rigid walls that move along one axis under gravity, a constant force and their contacts.
//!
//! The velocity of a sliding wall is that of its [`RigidMotion`], which saved states contain. It is
//! integrated with the same leapfrog as the velocities of particles.

use super::error::SimulationError;
use super::ids::WallId;
use super::wall::{RigidMotion, Wall};
use super::{Load, Simulation};
use crate::facets::WallMotion;
use feeler_geom::V3;

/// Rigid wall with one degree of freedom: translation along an axis. It reacts to the forces of particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slider {
    /// Unit vector along which the wall can move (world).
    axis: V3,
    /// Mass of the wall (kg).
    mass: f64,
    /// Constant force on the wall along `axis` (mN), in addition to its weight.
    force: f64,
}

impl Slider {
    /// Creates a slider along `axis` (world, of any length but 0) for a wall of the mass `mass` (kg), on
    /// which the constant force `force` (mN) acts along the axis in addition to gravity and contacts.
    ///
    /// # Errors
    /// The axis is zero, the mass is not above 0, or a number is not finite.
    pub fn new(axis: V3, mass: f64, force: f64) -> Result<Self, SimulationError> {
        let length = axis.norm();
        if !(length > 0.0 && length.is_finite()) {
            return Err(SimulationError::Particle("a sliding wall needs a finite axis other than 0"));
        }
        if !(mass > 0.0 && mass.is_finite() && force.is_finite()) {
            return Err(SimulationError::Particle(
                "a sliding wall needs a mass above 0 kg and a finite force",
            ));
        }
        Ok(Self { axis: axis / length, mass, force })
    }

    /// Unit vector along which the wall can move (world).
    #[must_use]
    pub fn axis(&self) -> &V3 {
        &self.axis
    }

    /// Mass of the wall (kg).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Acceleration (mm/s²) along the axis by gravity (mm/s², world) and the constant force, without
    /// contacts.
    #[must_use]
    pub fn free_acceleration(&self, gravity: &V3) -> f64 {
        gravity.dot(&self.axis) + self.force / self.mass
    }

    /// Changes the velocity of `wall` by the forces that act on it during a time (s).
    pub(super) fn kick(
        &self,
        wall: &mut Wall,
        load: &Load,
        gravity: &V3,
        time: f64,
    ) -> Result<(), SimulationError> {
        let acceleration = self.free_acceleration(gravity) + load.force.dot(&self.axis) / self.mass;
        let velocity = wall.velocity() + self.axis * (acceleration * time);
        let center = wall.reference();
        wall.set_motion(Some(RigidMotion { velocity, spin: V3::zeros(), center }))
    }
}

impl Wall {
    /// Velocity (mm/s, world) of the reference point of the wall; 0 for a wall at rest, and for a wall of
    /// triangles whose vertices move separately.
    #[must_use]
    pub fn velocity(&self) -> V3 {
        match self {
            Self::Facets(wall) => match wall.motion() {
                WallMotion::Rigid { velocity, .. } => *velocity,
                WallMotion::Still | WallMotion::Vertices(_) => V3::zeros(),
            },
            Self::Exact(solid) => solid.motion.map_or_else(V3::zeros, |m| m.velocity),
            Self::Plane(plane) => plane.motion().map_or_else(V3::zeros, |m| m.velocity),
        }
    }
}

impl Simulation {
    /// Lets a wall slide along an axis from now on, with the velocity that it has; with `None` it keeps its
    /// present motion and no longer reacts to forces. A wall that does not exist is ignored.
    ///
    /// The slider is a property of the wall, which saved states do not contain: it has to be set again
    /// before [`Simulation::restore`]. They contain the position and the velocity of the wall.
    pub fn set_slider(&mut self, wall: WallId, slider: Option<Slider>) {
        if let Some(entry) = self.walls.sliders.get_mut(wall.index()) {
            *entry = slider;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Law, Particle, PlaneWall, SimulationSettings};
    use feeler_geom::{P3, Pose};

    const LAW: Law = Law::Linear { normal: 1e3, shear: 5e2, restitution: 0.2, friction: 0.3 };
    const GRAVITY: f64 = 9_810.0;

    /// Floor and a lid with a mass of 2 g at a height of 5.5 mm, with four spheres of 5 mm between them.
    fn with_lid(slider: Slider) -> (Simulation, [WallId; 2]) {
        let settings = SimulationSettings { gravity: V3::z() * -GRAVITY, between: Some(LAW) };
        let mut out = Simulation::new(settings).unwrap();
        let floor = out.add_wall(PlaneWall::new(P3::origin(), V3::z()).unwrap().into(), LAW).unwrap();
        let lid = PlaneWall::new(P3::new(0.0, 0.0, 5.5), -V3::z()).unwrap();
        let lid = out.add_wall(lid.into(), LAW).unwrap();
        out.set_slider(lid, Some(slider));
        out.set_slider(WallId::new(7), Some(slider));
        for (x, y) in [(-4.0, -4.0), (4.0, -4.0), (-4.0, 4.0), (4.0, 4.0)] {
            let pose = Pose::translation(x, y, 2.5);
            out.add(Particle::sphere(2.5, 2_500.0).unwrap(), &pose, V3::zeros(), V3::zeros()).unwrap();
        }
        (out, [floor, lid])
    }

    fn height(simulation: &Simulation, lid: WallId) -> f64 {
        simulation.wall(lid).unwrap().reference().z
    }

    #[test]
    fn a_free_lid_falls_along_its_axis() {
        // Along an oblique axis, the component of gravity accelerates the lid.
        for (axis, force) in [(-V3::z(), 0.0), (V3::new(0.0, 3.0, -4.0), 0.0), (-V3::z(), -7.0)] {
            let slider = Slider::new(axis, 2e-3, force).unwrap();
            let (mut simulation, [_, lid]) = with_lid(slider);
            let begin = simulation.wall(lid).unwrap().reference();
            (0..500).for_each(|_| simulation.step(1e-5).unwrap());
            let acceleration = GRAVITY * -slider.axis().z + force / 2e-3;
            let moved = simulation.wall(lid).unwrap().reference() - begin;
            let expected = slider.axis() * (0.5 * acceleration * 5e-3 * 5e-3);
            assert!((moved - expected).norm() < 1e-12, "{moved} {expected}");
            let velocity = simulation.wall(lid).unwrap().velocity();
            assert!((velocity - slider.axis() * (acceleration * 5e-3)).norm() < 1e-9, "{velocity}");
        }
    }

    #[test]
    fn a_lid_at_rest_presses_with_its_weight() {
        let (mass, pressure) = (2e-3, 30.0);
        let (mut simulation, [floor, lid]) = with_lid(Slider::new(-V3::z(), mass, pressure).unwrap());
        (0..40_000).for_each(|_| simulation.step(1e-5).unwrap());
        let own = mass * GRAVITY + pressure;
        let load = |wall| simulation.wall_load(wall).unwrap().force.z;
        assert!((load(lid) - own).abs() < 1e-9 * own, "{} {own}", load(lid));
        let all = own + 4.0 * simulation.mass(simulation.particle_ids().next().unwrap()).unwrap() * GRAVITY;
        assert!((load(floor) + all).abs() < 1e-9 * all, "{} {all}", load(floor));
        // Both springs of the four spheres are compressed.
        let expected = 5.0 - own / 4e3 - all / 4e3;
        assert!((height(&simulation, lid) - expected).abs() < 1e-9, "{}", height(&simulation, lid));
        assert!(simulation.wall(lid).unwrap().velocity().norm() < 1e-6, "at rest");
        let pairs = simulation.touching_pairs().count();
        let walls: Vec<usize> = simulation.touched_walls().map(|(_, wall, _)| wall.index()).collect();
        assert_eq!((pairs, walls), (0, vec![0, 1, 0, 1, 0, 1, 0, 1]));
    }

    #[test]
    fn saved_states_contain_the_position_and_velocity_of_a_lid() {
        let slider = Slider::new(-V3::z(), 2e-3, 1.0).unwrap();
        let (mut whole, [_, lid]) = with_lid(slider);
        (0..1_030).for_each(|_| whole.step(1e-5).unwrap());
        let (mut again, _) = with_lid(slider);
        again.restore(&whole.save()).unwrap();
        assert!(whole.wall(lid).unwrap().velocity().norm() > 1.0, "in motion");
        for simulation in [&mut whole, &mut again] {
            (0..1_000).for_each(|_| simulation.step(1e-5).unwrap());
        }
        assert!(whole.save() == again.save(), "equal bytes");
    }

    #[test]
    fn invalid_sliders_are_refused() {
        assert!(Slider::new(V3::zeros(), 1.0, 0.0).is_err() && Slider::new(V3::z(), 0.0, 0.0).is_err());
        assert!(Slider::new(V3::z() * f64::NAN, 1.0, 0.0).is_err());
        assert!(Slider::new(V3::z(), 1.0, f64::INFINITY).is_err());
    }
}
