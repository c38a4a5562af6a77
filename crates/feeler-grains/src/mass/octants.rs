//! Mass properties of poly-superellipsoids by sums over their octants.

use super::MassProperties;
use super::beta::beta;
use crate::GrainError;
use feeler_convex::PolySuperellipsoid;
use feeler_geom::V3;
use nalgebra::Matrix3;

/// Integral ∫ xᵖ yᵠ zʳ over the positive octant of the shape with exponents `e1`, `e2` and semi-axes 1:
/// ε₁ε₂/4 · 1/(p+q+r+3) · B((p+1)ε₁/2, (q+1)ε₁/2) · B((p+q+2)ε₂/2, (r+1)ε₂/2).
fn octant([e1, e2]: [f64; 2], [p, q, r]: [f64; 3]) -> f64 {
    0.25 * e1 * e2 / (p + q + r + 3.0)
        * beta(0.5 * (p + 1.0) * e1, 0.5 * (q + 1.0) * e1)
        * beta(0.5 * (p + q + 2.0) * e2, 0.5 * (r + 1.0) * e2)
}

/// Mass properties of a poly-superellipsoid, in the coordinates of its semi-axes. Superellipsoids have
/// equal semi-axes on both sides.
///
/// # Errors
/// Returns an error if a semi-axis is 0.
pub fn poly_superellipsoid(shape: &PolySuperellipsoid) -> Result<MassProperties, GrainError> {
    crate::error::semi_axes(shape)?;
    let (plus, minus, e) = (shape.positive(), shape.negative(), shape.exponents());
    // An integral over all octants is a product of sums over the two sides of each axis.
    let sum = |powers: [u8; 3]| {
        (0..3).fold(octant(e, powers.map(f64::from)), |product, i| {
            let side = |r: f64| (0..powers[i]).fold(r, |x, _| x * r);
            let (a, b) = (side(plus[i]), side(minus[i]));
            product * if powers[i] == 1 { a - b } else { a + b }
        })
    };
    let first = V3::new(sum([1, 0, 0]), sum([0, 1, 0]), sum([0, 0, 1]));
    let second = Matrix3::from_fn(|i, j| {
        let mut powers = [0; 3];
        powers[i] += 1;
        powers[j] += 1;
        sum(powers)
    });
    Ok(MassProperties::of_integrals(sum([0, 0, 0]), first, &second))
}
