//! Proximity cache of a particle near a wall.

use super::distance;
use feeler_geom::P3;

/// Maximum number of places (see [`ProximityCache`]) that one cache lists. More places are near a
/// particle only in corners of many small faces.
const MAX_PLACES: usize = 8;

/// Entry that marks the end of a list of places.
const NO_PLACE: u32 = u32::MAX;

/// Proximity cache: places of the wall near one particle at its last query, in the wall's frame. A
/// *place* is a part of the boundary that can contain a nearest point, given by its number in the wall's
/// [`Boundary`](feeler_runtime::Boundary). A `ProximityCache` has the size of one cache line of the
/// processor (64 bytes). The default is empty.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct ProximityCache {
    /// Point (wall's frame) of the last query that changed the cache; the centre of the two radii below.
    at: [f64; 3],
    /// Distance (mm) from `at` within which the wall has no point; negative if none is proven.
    clear: f32,
    /// Distance (mm) from `at` within which all places are listed; negative if no list exists.
    listed: f32,
    places: [u32; MAX_PLACES],
}

const _: () = assert!(size_of::<ProximityCache>() == 64, "the cache takes one cache line");

impl Default for ProximityCache {
    fn default() -> Self {
        Self { at: [0.0; 3], clear: -1.0, listed: -1.0, places: [NO_PLACE; MAX_PLACES] }
    }
}

/// Returns a lower bound of the distance `x` (mm) as an `f32`, with a margin for the rounding of the
/// distances that are compared with it.
#[expect(clippy::cast_possible_truncation, reason = "the result is rounded down")]
fn below(x: f64) -> f32 {
    ((x * (1.0 - 1e-6)) as f32).next_down()
}

impl ProximityCache {
    /// Whether the cache proves that the wall has no point within `near` (mm) of the point `p` (wall's
    /// frame).
    pub(crate) fn is_clear(&self, p: &P3, near: f64) -> bool {
        distance(p, &self.at) + near < f64::from(self.clear)
    }

    /// Returns the radius (mm) around the point `p` (wall's frame) within which the cache lists all
    /// places; negative if the cache has no list or `p` is too far from `at`.
    pub(crate) fn listed_radius(&self, p: &P3) -> f64 {
        if self.listed < 0.0 { -1.0 } else { f64::from(self.listed) - distance(p, &self.at) }
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = u32> + '_ {
        self.places.iter().copied().take_while(|k| *k != NO_PLACE)
    }

    /// Stores that the wall has no point within `clear` (mm) of the point `p`. Stores `places`, which are
    /// all places within `radius` (mm) of `p`; if there are more than [`MAX_PLACES`], the cache has no
    /// list afterwards.
    pub(crate) fn set(&mut self, p: &P3, clear: f64, radius: f64, places: &[u32]) {
        self.at = [p.x, p.y, p.z];
        self.clear = below(clear);
        self.places = [NO_PLACE; MAX_PLACES];
        self.listed = -1.0;
        if places.len() <= MAX_PLACES {
            self.places[..places.len()].copy_from_slice(places);
            self.listed = below(radius);
        }
    }

    /// Stores that the wall has no point within `clear` (mm) of the point `p`, and keeps the list of
    /// places. The radius of the list is reduced by the distance of `p` from the previous point.
    pub(crate) fn set_clear(&mut self, p: &P3, clear: f64) {
        let listed = self.listed_radius(p);
        self.listed = if listed > 0.0 { below(listed) } else { -1.0 };
        self.at = [p.x, p.y, p.z];
        self.clear = below(clear);
    }
}
