//! Pairs of grains that a lower bound of their distance proves to be apart.
//!
//! # Source
//! DIST §3.3, (3.13) and (3.14).
//! # Deviations
//! DIST subtracts the largest displacement of both bodies from the bound of each pair in every step. Here
//! each body accumulates its displacements once, and a pair stores the sum of both at which its bound is used
//! up.

use super::{Collider, ParticleMotion};
use feeler_geom::P3;
use nalgebra::UnitQuaternion;

/// Bounds of pairs, and the displacements that decrease them.
#[derive(Clone, Debug, Default)]
pub(super) struct SeparationBounds {
    /// Length (mm) by which points of each collider have moved at most, summed over all steps since the
    /// bounds were cleared.
    paths: Vec<f64>,
    /// Centre of the bounding sphere and rotation of each collider at the last update.
    places: Vec<(P3, UnitQuaternion<f64>)>,
    /// Pairs that are apart, in increasing order of their colliders.
    pairs: Vec<ApartPair>,
    /// Scratch buffer for the pairs of the previous step.
    previous: Vec<ApartPair>,
}

/// Pair of colliders that is apart while the sum of both paths is below `until` (mm).
#[derive(Clone, Copy, Debug)]
struct ApartPair {
    colliders: (u32, u32),
    until: f64,
}

/// Increase of a displacement by rounding, relative to it: a position and a rotation have a few roundings.
/// With a larger value pairs are searched earlier; with a smaller one a bound may exceed the distance by
/// rounding.
const DISPLACEMENT_ROUNDING: f64 = 1e-12;
/// Increase of a displacement by rounding, relative to the coordinates: those of a centre and of the points
/// around it have a few roundings. With a larger value pairs are searched earlier; with a smaller one a bound
/// may exceed the distance by rounding.
const COORDINATE_ROUNDING: f64 = 4.0 * f64::EPSILON;

impl SeparationBounds {
    /// Removes all bounds, because numbers of colliders have changed.
    pub(super) fn clear(&mut self) {
        self.paths.clear();
        self.places.clear();
        self.pairs.clear();
    }

    /// Adds the displacements since the last update to the paths. Two spheres have no bound, so nothing is
    /// done if all colliders are spheres.
    pub(super) fn advance(&mut self, colliders: &[Collider], motions: &[ParticleMotion]) {
        if !colliders.iter().any(|c| c.is_bounding) {
            return;
        }
        let place = |c: &Collider| {
            let motion = &motions[c.particle as usize];
            (c.center(motion), motion.rotation)
        };
        if self.places.len() != colliders.len() {
            self.clear();
            self.paths.resize(colliders.len(), 0.0);
            self.places.extend(colliders.iter().map(place));
        }
        for ((path, before), collider) in self.paths.iter_mut().zip(&mut self.places).zip(colliders) {
            let now = place(collider);
            let mut moved = (now.0 - before.0).norm();
            if collider.is_bounding {
                // A rotation moves points by twice the sine of half its angle times their distance from the
                // centre.
                moved += 2.0 * (before.1.inverse() * now.1).imag().norm() * collider.sphere.radius;
            }
            let coordinates = collider.sphere.radius + now.0.coords.norm();
            let rounding = DISPLACEMENT_ROUNDING * moved + COORDINATE_ROUNDING * coordinates;
            *path = (*path + (moved + rounding)).next_up();
            *before = now;
        }
        std::mem::swap(&mut self.pairs, &mut self.previous);
        self.pairs.clear();
    }

    /// Cursor over the bounds of the previous step.
    pub(super) fn cursor(&mut self) -> BoundCursor<'_> {
        BoundCursor { bounds: self, next: 0 }
    }

    /// Stores lower bounds (mm) of the distances of pairs, after all pairs of the previous step have been
    /// seen.
    pub(super) fn add(&mut self, found: impl Iterator<Item = ((u32, u32), f64)>) {
        let before = self.pairs.len();
        for (colliders, distance) in found {
            let sum = self.path(colliders);
            // The sum of the paths is rounded, too.
            let until = sum + distance - 2.0 * f64::EPSILON * (sum + distance);
            if until > sum {
                self.pairs.push(ApartPair { colliders, until });
            }
        }
        if self.pairs.len() > before {
            self.pairs.sort_unstable_by_key(|p| p.colliders);
        }
    }

    fn path(&self, (a, b): (u32, u32)) -> f64 {
        self.paths[a as usize] + self.paths[b as usize]
    }
}

/// Cursor over the bounds of the previous step, for pairs in increasing order.
pub(super) struct BoundCursor<'b> {
    bounds: &'b mut SeparationBounds,
    next: usize,
}

impl BoundCursor<'_> {
    /// Whether the pair is proven to be apart at present; its bound then persists.
    pub(super) fn is_apart(&mut self, colliders: (u32, u32)) -> bool {
        let previous = &self.bounds.previous;
        while previous.get(self.next).is_some_and(|p| p.colliders < colliders) {
            self.next += 1;
        }
        let known = previous.get(self.next).copied().filter(|p| p.colliders == colliders);
        let apart = known.filter(|p| self.bounds.path(colliders) < p.until);
        self.bounds.pairs.extend(apart);
        apart.is_some()
    }
}
