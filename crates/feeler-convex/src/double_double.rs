//! Error-free sums and products: the rounded result and its rounding error.
//!
//! # Source
//! Dekker 1971, Knuth (TAOCP 2, §4.2.2): error-free transformations. Products need |a|, |b| < 2⁹⁹⁵.

/// Computes a + b exactly: returns the rounded sum and its rounding error.
#[inline]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// Splits a number exactly into two numbers with half of its digits each (Veltkamp): returns the number,
/// the upper part and the lower part, whose sum is the number.
#[inline]
pub(crate) fn split(x: f64) -> [f64; 3] {
    let c = 134_217_729.0 * x;
    let hi = c - (c - x);
    [x, hi, x - hi]
}

/// Computes a · b exactly, unless the error underflows: returns the rounded product and its rounding
/// error.
#[cfg(any(test, feature = "reference"))]
pub(crate) fn two_product(a: f64, b: f64) -> (f64, f64) {
    two_product_split(split(a), split(b))
}

/// Computes a · b exactly, like [`two_product`], for numbers that [`split`] has already split.
#[inline]
pub(crate) fn two_product_split([a, ah, al]: [f64; 3], [b, bh, bl]: [f64; 3]) -> (f64, f64) {
    let p = a * b;
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    #[test]
    fn errors_are_exact() {
        let mut rng = SmallRng::seed_from_u64(42);
        for _ in 0..20_000 {
            // Integers of 53 bits: sums and products are exact in 128 bits.
            let (m, n) = (rng.random_range(-1_i64 << 53..1 << 53), rng.random_range(-1_i64 << 53..1 << 53));
            #[expect(clippy::cast_precision_loss, reason = "53 bits")]
            let (a, b) = (m as f64, n as f64);
            #[expect(clippy::cast_possible_truncation, reason = "integers below 2^107")]
            let exact = |(hi, lo): (f64, f64)| hi as i128 + lo as i128;
            assert_eq!(exact(two_sum(a, b)), i128::from(m) + i128::from(n), "{m} + {n}");
            assert_eq!(exact(two_product(a, b)), i128::from(m) * i128::from(n), "{m} · {n}");
            let (s, e) = two_sum(a, b * 1e-9);
            assert_eq!((s + e).to_bits(), s.to_bits(), "the error must be below the last digit of the sum");
        }
    }
}
