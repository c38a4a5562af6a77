//! Places that are outside a solid for certain, found when rays were cast, kept from query to query.
//!
//! The same points are asked about in query after query: tips, a point of each shell, places of nested faces. A ball that the boundary
//! does not enter is outside as a whole, in all poses.

use crate::point_in_solid::{RayScratch, clearance, contains};
use crate::solve::{Context, Which};
use arrayvec::ArrayVec;
use feeler_geom::P3;

/// Balls kept for one solid: a few times as many as a query asks for.
const BALLS: usize = 16;

/// Radius, relative to the solid's size, from which on a ball is kept: smaller ones, of points that slide along the solid, hold few
/// others.
const LEAST: f64 = 1e-3;

/// Balls outside one solid, its own frame.
#[derive(Clone, Debug, Default)]
struct Balls {
    /// Centres and squared radii.
    list: ArrayVec<(P3, f64), BALLS>,
    /// The next one to make room.
    oldest: usize,
}

impl Balls {
    fn hold(&self, p: &P3) -> bool {
        self.list.iter().any(|(center, radius_sq)| (p - center).norm_squared() < *radius_sq)
    }

    fn add(&mut self, center: P3, radius: f64) {
        let ball = (center, radius * radius);
        if self.list.try_push(ball).is_err() {
            self.list[self.oldest] = ball;
            self.oldest = (self.oldest + 1) % BALLS;
        }
    }
}

/// Asks whether points are inside the solids of a pair.
#[derive(Debug, Default)]
pub(super) struct Rays {
    scratch: RayScratch,
    /// Outside A, and outside B.
    outside: [Balls; 2],
}

impl Rays {
    /// Forgets earlier queries.
    pub(super) fn clear(&mut self) {
        self.outside = Default::default();
    }

    /// Whether a point of a solid's frame is inside it for certain.
    pub(super) fn convict(&mut self, ctx: &Context<'_>, inside: Which, p: &P3) -> bool {
        let (body, balls) = (ctx.body(inside), &mut self.outside[inside as usize]);
        if !body.bounds().contains(p) || balls.hold(p) {
            return false;
        }
        let found = contains(body, p, ctx.tol.tol, &mut self.scratch);
        if found == Some(false) {
            let radius = clearance(body, p, &mut self.scratch) - ctx.tol.tol;
            if radius > LEAST * body.size() {
                balls.add(*p, radius);
            }
        }
        found == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The oldest ball makes room, and the border of a ball is not in it.
    #[test]
    fn few_balls_are_kept() {
        let mut balls = Balls::default();
        let center = |k: usize| P3::new(3.0 * f64::from(u32::try_from(k).expect("a few")), 0.0, 0.0);
        for k in 0..=BALLS {
            balls.add(center(k), 1.0);
        }
        assert!(!balls.hold(&center(0)) && (1..=BALLS).all(|k| balls.hold(&center(k))));
        assert!(balls.hold(&P3::new(3.5, 0.0, 0.0)) && !balls.hold(&P3::new(4.0, 0.0, 0.0)));
    }
}
