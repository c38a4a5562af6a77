//! Axis-aligned boxes.

use crate::P3;

/// An axis-aligned box, which is empty if `min > max` in some coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Aabb {
    /// Corner with the smallest coordinates (mm).
    pub min: P3,
    /// Corner with the largest coordinates (mm).
    pub max: P3,
}

impl Aabb {
    /// The empty box, the neutral element of [`Aabb::union`].
    #[must_use]
    pub fn empty() -> Self {
        let inf = f64::INFINITY;
        Self { min: P3::new(inf, inf, inf), max: P3::new(-inf, -inf, -inf) }
    }

    /// Smallest box around points; the empty box if `points` is empty.
    pub fn of_points<'a>(points: impl IntoIterator<Item = &'a P3>) -> Self {
        let mut b = Self::empty();
        for p in points {
            b.insert(p);
        }
        b
    }

    /// Enlarges the box to contain `p`.
    pub fn insert(&mut self, p: &P3) {
        self.min = self.min.inf(p);
        self.max = self.max.sup(p);
    }

    /// Smallest box that contains both boxes.
    #[must_use]
    pub fn union(&self, o: &Self) -> Self {
        Self { min: self.min.inf(&o.min), max: self.max.sup(&o.max) }
    }

    /// The box enlarged by `r` (mm) on every side.
    #[must_use]
    pub fn inflated(&self, r: f64) -> Self {
        Self { min: self.min.map(|c| c - r), max: self.max.map(|c| c + r) }
    }

    /// Whether the box contains no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        (0..3).any(|i| self.min[i] > self.max[i])
    }

    /// Whether `p` is inside the box or on its boundary.
    #[must_use]
    pub fn contains(&self, p: &P3) -> bool {
        (0..3).all(|i| self.min[i] <= p[i] && p[i] <= self.max[i])
    }

    /// Length of the diagonal (mm); 0 for the empty box.
    #[must_use]
    pub fn diagonal(&self) -> f64 {
        if self.is_empty() { 0.0 } else { (self.max - self.min).norm() }
    }

    /// Centre of the box, which must not be empty.
    #[must_use]
    pub fn center(&self) -> P3 {
        nalgebra::center(&self.min, &self.max)
    }

    /// Squared distance (mm²) from `p` to the box: 0 inside, infinite for the empty box.
    #[must_use]
    pub fn distance_sq(&self, p: &P3) -> f64 {
        if self.is_empty() {
            return f64::INFINITY;
        }
        (0..3).map(|i| (self.min[i] - p[i]).max(p[i] - self.max[i]).max(0.0)).map(|d| d * d).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes() {
        let e = Aabb::empty();
        assert!(e.is_empty() && e.diagonal() == 0.0 && e.distance_sq(&P3::origin()).is_infinite(), "empty");
        let b = Aabb::of_points(&[P3::new(1.0, 2.0, 3.0), P3::new(4.0, 2.0, 3.0)]);
        assert_eq!(b.union(&e), b, "empty is neutral");
        assert!((b.distance_sq(&P3::new(5.0, 4.0, 3.0)) - 5.0).abs() < 1e-15, "to an edge");
        assert!(b.distance_sq(&P3::new(2.0, 2.0, 3.0)) <= 0.0, "inside");
        assert!(b.contains(&P3::new(2.0, 2.0, 3.0)) && !b.contains(&P3::new(2.0, 2.1, 3.0)), "flat");
        assert!(b.inflated(0.2).contains(&P3::new(0.9, 2.1, 3.1)), "inflated");
    }
}
