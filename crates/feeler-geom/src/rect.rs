//! Rectangles in the parameter plane of a surface.

use crate::P2;

/// An axis-parallel rectangle of parameters `[u0, u1] × [v0, v1]`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rect {
    /// Smallest u of the rectangle.
    pub u0: f64,
    /// Largest u of the rectangle.
    pub u1: f64,
    /// Smallest v of the rectangle.
    pub v0: f64,
    /// Largest v of the rectangle.
    pub v1: f64,
}

impl Rect {
    /// Centre of the rectangle.
    #[must_use]
    pub fn center(&self) -> P2 {
        P2::new(0.5 * (self.u0 + self.u1), 0.5 * (self.v0 + self.v1))
    }

    /// Length `u1 - u0` of the rectangle in u.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.u1 - self.u0
    }

    /// Length `v1 - v0` of the rectangle in v.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.v1 - self.v0
    }

    /// Whether `uv` is inside the rectangle or on its boundary.
    #[must_use]
    pub fn contains(&self, uv: P2) -> bool {
        self.u0 <= uv.x && uv.x <= self.u1 && self.v0 <= uv.y && uv.y <= self.v1
    }

    /// Point of the rectangle nearest to `uv`, by each parameter separately.
    #[must_use]
    pub fn clamp(&self, uv: P2) -> P2 {
        // `f64::clamp` would panic for an empty rectangle.
        P2::new(uv.x.min(self.u1).max(self.u0), uv.y.min(self.v1).max(self.v0))
    }

    /// The four corners, counter-clockwise from `(u0, v0)`.
    #[must_use]
    pub fn corners(&self) -> [P2; 4] {
        [
            P2::new(self.u0, self.v0),
            P2::new(self.u1, self.v0),
            P2::new(self.u1, self.v1),
            P2::new(self.u0, self.v1),
        ]
    }

    /// Intersection of both rectangles; an empty one has `u0 > u1` or `v0 > v1`.
    #[must_use]
    pub fn intersection(&self, o: &Self) -> Self {
        Self { u0: self.u0.max(o.u0), u1: self.u1.min(o.u1), v0: self.v0.max(o.v0), v1: self.v1.min(o.v1) }
    }

    /// Whether the rectangle contains no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !(self.u0 <= self.u1 && self.v0 <= self.v1)
    }
}

#[cfg(feature = "serde")]
crate::record!(Rect { u0: f64, u1: f64, v0: f64, v1: f64 });
