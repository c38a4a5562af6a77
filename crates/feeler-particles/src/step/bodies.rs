//! Particles and how they move, as forces between two of them need it.

use super::form::Form;
use super::particle::Particle;
use super::{Motion, Sphere, sphere_center};
use crate::law::{Law, Meeting, ShearState};
use feeler_geom::{P3, V3};

/// Where two bodies touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) overlap: f64,
    /// From the second one to the first.
    pub(super) normal: V3,
    pub(super) at: P3,
    /// Effective radius (mm).
    pub(super) radius: f64,
}

/// Particles, and how they move: what the forces of a pair depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bodies<'a> {
    pub(super) spheres: &'a [Sphere],
    pub(super) particles: &'a [Particle],
    pub(super) motions: &'a [Motion],
    pub(super) spins: &'a [V3],
    pub(super) driven: &'a [bool],
}

impl<'a> Bodies<'a> {
    /// A sphere, or what it stands for, where it is.
    pub(super) fn form(&self, sphere: u32) -> Form<'a> {
        let s = &self.spheres[sphere as usize];
        let of = s.particle as usize;
        let motion = &self.motions[of];
        let center = sphere_center(s, motion);
        let shaped = self.particles[of].shaped.as_ref().filter(|_| s.is_grain);
        let form = shaped.and_then(|shaped| shaped.placed(&center, motion));
        form.unwrap_or(Form::Ball(center, s.radius))
    }

    /// The force on the first one of two spheres where they touch.
    pub(super) fn force(
        &self,
        law: &Law,
        spheres: (u32, u32),
        touch: &Touch,
        state: &mut ShearState,
        time: f64,
    ) -> V3 {
        let [i, j] = [spheres.0, spheres.1].map(|k| self.spheres[k as usize].particle as usize);
        let moving =
            |k: usize| self.motions[k].velocity + self.spins[k].cross(&(touch.at - self.motions[k].center));
        let [m, n] = [i, j].map(|k| self.particles[k].mass);
        let mass = match (self.driven[i], self.driven[j]) {
            (false, true) => m,
            (true, false) => n,
            _ => m * n / (m + n),
        };
        let meeting = Meeting {
            overlap: touch.overlap,
            normal: touch.normal,
            velocity: moving(i) - moving(j),
            twist: 0.5 * touch.normal.dot(&(self.spins[i] + self.spins[j])),
            radius: touch.radius,
            mass,
        };
        law.force(&meeting, state, time)
    }
}
