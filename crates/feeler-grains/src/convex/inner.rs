//! Balls inside grains that touch them from within.
//!
//! With u the coordinates as parts of the semi-axes and p = 2/ε, a shape is all points where the norm
//! `M = ‖(m, u_z)‖`, `m = ‖(u_x, u_y)‖`, is at most 1. At a point of its surface
//! `M² ≤ 1 + ∇·δ + Σ wᵢ δᵢ²` holds for every displacement δ, with w computed below; so the ball of radius
//! |∇|/(2 max w) that touches the surface from within at this point lies inside. As |∇| = 2/h with the
//! support function h, the radius is 1/(h max w): the exact one for balls.
//!
//! *Why.* In one norm: for p ≤ 2, m² is concave in the squares of the coordinates and below its tangent
//! there, which is Σ gᵢ uᵢ² with gᵢ = m^(2−p) |uᵢ|^(p−2). For p > 2, m² is below its tangent and (p − 1)|δ|².
//! Of two norms: for p₂ ≤ 2 the tangent in m² and `u_z²` has the factor m^(p₂−2) ≥ 0 on m². For p₂ > 2 the
//! bound has (p₂ − 1) m² and a negative multiple of m, which is convex: its tangent bounds that. Where
//! semi-axes differ on both sides of an axis, the shorter one holds for both.

use super::second::Second;
use super::shape::Grain;
use feeler_geom::V3;
use feeler_geom::math::powf;

/// The weight of δ² beside the tangent of m², for a coordinate that is a part of the norm with a share.
#[inline]
fn weight(p: f64, share: f64) -> f64 {
    // |u/m|^(p−2) = share^((p−2)/p).
    if p <= 2.0 { powf(share, (p - 2.0) / p) } else { p - 1.0 }
}

/// The largest of w / r², given the weights in units of the semi-axes.
#[inline]
fn steepest(grain: &Grain, w: V3) -> f64 {
    let r = grain.positive.inf(&grain.negative);
    w.component_div(&r.component_mul(&r)).max()
}

impl Grain {
    /// Radius (mm) of a ball inside the shape, without its layer, that touches the surface at a support
    /// point.
    #[inline]
    pub(super) fn ball_at(&self, s: &Second) -> f64 {
        let [p1, p2] = self.power;
        let [inner, outer] = s.shares;
        // Shares of the surface's norm are those of its dual one: (uᵢ/m)^p = (νᵢ/ρ)^q.
        let level = [weight(p2, outer[0]), weight(p2, outer[1])];
        let w = V3::new(level[0] * weight(p1, inner[0]), level[0] * weight(p1, inner[1]), level[1]);
        let bound = steepest(self, w);
        // Infinite at a tip: no ball.
        1.0 / (s.height * bound)
    }

    /// A radius of curvature (mm) that the surface has everywhere, or more: 0 where an exponent is above 1,
    /// at whose tips and ridges there is none. Exact for balls, a lower bound for all others.
    #[must_use]
    pub fn least_radius(&self) -> f64 {
        let [p1, p2] = self.power;
        if p1 < 2.0 || p2 < 2.0 {
            return self.dilation;
        }
        let level = p2 - 1.0;
        let bound = steepest(self, V3::new(level * (p1 - 1.0), level * (p1 - 1.0), level));
        1.0 / (self.far * bound) + self.dilation
    }
}
