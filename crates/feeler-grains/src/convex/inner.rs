//! Inscribed balls of grains that touch the surface from within at a given point.
//!
//! With the coordinates u relative to the semi-axes and p = 2/ε, a shape is the set of points at which
//! the norm `M = ‖(m, u_z)‖`, `m = ‖(u_x, u_y)‖`, is at most 1. At a point of its surface,
//! `M² ≤ 1 + ∇·δ + Σ wᵢ δᵢ²` for every displacement δ, with the weights w computed below. Hence the ball
//! of radius |∇|/(2 max w) that touches the surface from within at this point lies inside the shape. As
//! |∇| = 2/h with the support function h, the radius is 1/(h max w), which is exact for balls.
//!
//! *Proof.* For one norm with p ≤ 2, m² is concave in the squares of the coordinates and lies below its
//! tangent in them, which is Σ gᵢ uᵢ² with gᵢ = m^(2−p) |uᵢ|^(p−2). For p > 2, m² lies below the sum of
//! its tangent and (p − 1)|δ|². For nested norms with p₂ ≤ 2, the tangent in m² and `u_z²` has the
//! factor m^(p₂−2) ≥ 0 on m². For p₂ > 2, the bound has (p₂ − 1) m² and a negative multiple of m, which
//! is convex and bounded by its tangent. If the semi-axes on both sides of an axis differ, the shorter
//! one is valid for both sides.

use super::second::SupportDerivative;
use super::shape::Grain;
use feeler_geom::V3;
use feeler_geom::math::powf;

/// Weight of δᵢ² in the upper bound of m² (see the top of this file), where m is the norm with exponent
/// `p` of two coordinates. `share` is the share of coordinate i in the norm at the point of the surface.
#[inline]
fn weight(p: f64, share: f64) -> f64 {
    // |u/m|^(p−2) = share^((p−2)/p).
    if p <= 2.0 { powf(share, (p - 2.0) / p) } else { p - 1.0 }
}

/// Largest quotient wᵢ/rᵢ² (1/mm²) over the coordinates i, where `w` are the weights wᵢ of the bound for
/// coordinates relative to the semi-axes. rᵢ is the shorter one of the grain's semi-axes on both sides
/// of axis i.
#[inline]
fn steepest(grain: &Grain, w: V3) -> f64 {
    let r = grain.positive.inf(&grain.negative);
    w.component_div(&r.component_mul(&r)).max()
}

impl Grain {
    /// Radius (mm) of a ball that lies inside the shape, without its layer, and touches the shape's
    /// surface at the support point `s`; 0 at a tip.
    #[inline]
    pub(super) fn ball_at(&self, s: &SupportDerivative) -> f64 {
        let [p1, p2] = self.power;
        let [inner, outer] = s.shares;
        // Shares in the norm of the surface equal those in its dual norm: (uᵢ/m)^p = (νᵢ/ρ)^q.
        let level = [weight(p2, outer[0]), weight(p2, outer[1])];
        let w = V3::new(level[0] * weight(p1, inner[0]), level[0] * weight(p1, inner[1]), level[1]);
        let bound = steepest(self, w);
        // The bound is infinite at a tip, where the radius is 0.
        1.0 / (s.height * bound)
    }

    /// Lower bound (mm) of the radius of curvature over the whole surface, layer included. If an
    /// exponent is above 1, the shape has tips or ridges, and the bound is the thickness of the layer.
    /// The bound is exact for balls.
    #[must_use]
    pub fn min_curvature_radius(&self) -> f64 {
        let [p1, p2] = self.power;
        if p1 < 2.0 || p2 < 2.0 {
            return self.dilation;
        }
        let level = p2 - 1.0;
        let bound = steepest(self, V3::new(level * (p1 - 1.0), level * (p1 - 1.0), level));
        1.0 / (self.far * bound) + self.dilation
    }
}
