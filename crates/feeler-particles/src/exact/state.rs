//! What is remembered of a particle beside a wall.

use super::apart;
use feeler_geom::P3;

/// Places that are remembered: more are near only in corners where many small faces meet.
const MOST: usize = 8;
/// In a list: nothing more.
const NONE: u32 = u32::MAX;

/// What was learnt of one particle when it was last asked for, in the wall's frame: one line of memory. The
/// default knows nothing.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct ParticleState {
    /// Where it was when nothing was within `clear`.
    at: [f64; 3],
    /// No place of the wall was nearer (mm).
    clear: f32,
    /// All places within this (mm) of `at` are listed; negative: none are.
    listed: f32,
    places: [u32; MOST],
}

const _: () = assert!(size_of::<ParticleState>() == 64, "a line of memory");

impl Default for ParticleState {
    fn default() -> Self {
        Self { at: [0.0; 3], clear: -1.0, listed: -1.0, places: [NONE; MOST] }
    }
}

/// No more than `x`, with room for the rounding of the distances that it is compared with.
#[expect(clippy::cast_possible_truncation, reason = "rounded down")]
fn below(x: f64) -> f32 {
    ((x * (1.0 - 1e-6)) as f32).next_down()
}

impl ParticleState {
    /// Whether a point has no place of the wall within `near` (mm).
    pub(crate) fn is_clear(&self, p: &P3, near: f64) -> bool {
        apart(p, &self.at) + near < f64::from(self.clear)
    }

    /// The radius (mm) around a point within which all places are listed; negative: unknown.
    pub(crate) fn known_radius(&self, p: &P3) -> f64 {
        if self.listed < 0.0 { -1.0 } else { f64::from(self.listed) - apart(p, &self.at) }
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.places.iter().copied().take_while(|k| *k != NONE)
    }

    /// Keeps all places within `radius` of a point, when there is room, and that none is nearer than `clear`.
    pub(crate) fn set(&mut self, p: &P3, clear: f64, radius: f64, places: &[u32]) {
        self.at = [p.x, p.y, p.z];
        self.clear = below(clear);
        self.places = [NONE; MOST];
        self.listed = -1.0;
        if places.len() <= MOST {
            self.places[..places.len()].copy_from_slice(places);
            self.listed = below(radius);
        }
    }

    /// Keeps that no place is nearer to a point than `clear`; what is listed stays so around it.
    pub(crate) fn set_clear(&mut self, p: &P3, clear: f64) {
        let listed = self.known_radius(p);
        self.listed = if listed > 0.0 { below(listed) } else { -1.0 };
        self.at = [p.x, p.y, p.z];
        self.clear = below(clear);
    }
}
