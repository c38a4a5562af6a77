//! Share of an edge or a facet in the potential of a smooth shape, beyond the share of its border.

/// Term of an edge or facet in the potential beyond the terms of its border, with derivatives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Part C of the squared largest overlap of the feature (mm²).
    pub(super) value: f64,
    /// Derivative of C by the squared largest overlap.
    pub(super) by_largest: f64,
    /// Derivative of C by the sum of the border.
    pub(super) by_border: f64,
}

/// Computes the share C = m (1 − s)² (1 + s) of a feature with the squared largest overlap `largest` (m),
/// whose border has the squared overlaps or shares with the sum `border`; s is border / m, at most 1.
///
/// C is m without a border in contact, decreases by the border's share if that is small, and vanishes with a
/// continuous derivative if the border has as much as the whole feature.
pub(super) fn share(largest: f64, border: f64) -> Share {
    if border >= largest {
        return Share::default();
    }
    let s = border / largest;
    let rest = 1.0 - s;
    Share {
        value: largest * rest * rest * (1.0 + s),
        by_largest: rest * (1.0 + s + 2.0 * s * s),
        by_border: -rest * (1.0 + 3.0 * s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_agree_with_differences_and_values_with_the_limits() {
        for border in [0.0, 0.1, 0.5, 0.9, 0.999, 1.0, 2.0] {
            let h = 1e-6;
            let at = share(1.0, border);
            let by_largest = (share(1.0 + h, border).value - share(1.0 - h, border).value) / (2.0 * h);
            assert!((at.by_largest - by_largest).abs() < 1e-5, "{border}: {at:?} {by_largest}");
            if border > 0.0 {
                let by_border = (share(1.0, border + h).value - share(1.0, border - h).value) / (2.0 * h);
                assert!((at.by_border - by_border).abs() < 1e-5, "{border}: {at:?} {by_border}");
            }
            let sum = at.value + border;
            assert!(sum >= 0.85 * border.max(1.0) && sum <= border.max(1.0) + 1e-12, "{border}: {sum}");
        }
    }
}
