//! Exact sums and products of floating-point numbers, for signs of determinants.
//!
//! # Source
//! Shewchuk, *Adaptive precision floating-point arithmetic and fast robust geometric predicates* (1997):
//! an expansion is a sum of numbers of increasing magnitude whose bits do not overlap.
//!
//! The crate `robust` has the predicates of ordinary Delaunay triangulations only. Cells with weights need
//! the sign of a determinant with weighted heights, therefore the arithmetic itself is here. It is used when
//! rounding may change a sign, so it needs no speed.

use std::cmp::Ordering;

/// Exact sum of floating-point numbers, in order of increasing magnitude; empty for zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Expansion(Vec<f64>);

/// Returns the rounded sum and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let bb = s - a;
    (s, (a - (s - bb)) + (b - bb))
}

/// Returns the rounded product and its rounding error.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, a.mul_add(b, -p))
}

impl From<f64> for Expansion {
    fn from(x: f64) -> Self {
        let mut out = Self::default();
        out.add_number(x);
        out
    }
}

impl Expansion {
    /// Returns the exact product of two numbers, unless it underflows.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let (p, e) = two_product(a, b);
        let mut out = Self::from(e);
        out.add_number(p);
        out
    }

    fn add_number(&mut self, x: f64) {
        let mut carry = x;
        let mut kept = 0;
        for k in 0..self.0.len() {
            let (sum, error) = two_sum(carry, self.0[k]);
            if error != 0.0 {
                self.0[kept] = error;
                kept += 1;
            }
            carry = sum;
        }
        self.0.truncate(kept);
        if carry != 0.0 {
            self.0.push(carry);
        }
    }

    pub(crate) fn add(&self, other: &Self) -> Self {
        let mut out = self.clone();
        for x in &other.0 {
            out.add_number(*x);
        }
        out
    }

    pub(crate) fn negated(&self) -> Self {
        Self(self.0.iter().map(|x| -x).collect())
    }

    pub(crate) fn mul(&self, other: &Self) -> Self {
        let mut out = Self::default();
        for a in &self.0 {
            for b in &other.0 {
                let (p, e) = two_product(*a, *b);
                out.add_number(e);
                out.add_number(p);
            }
        }
        out
    }

    /// Returns the sign of the sum.
    pub(crate) fn sign(&self) -> Ordering {
        self.0.last().map_or(Ordering::Equal, |x| x.total_cmp(&0.0))
    }

    /// Returns the sum, rounded.
    pub(crate) fn value(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// Computes the determinant of a square matrix of expansions by expanding it along the last column.
pub(crate) fn determinant(rows: &[Vec<Expansion>]) -> Expansion {
    let n = rows.len();
    if n == 1 {
        return rows[0][0].clone();
    }
    let mut out = Expansion::default();
    for k in 0..n {
        let factor = &rows[k][n - 1];
        if factor.sign() == Ordering::Equal {
            continue;
        }
        let minor: Vec<Vec<Expansion>> =
            rows.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, r)| r[..n - 1].to_vec()).collect();
        let term = factor.mul(&determinant(&minor));
        out = out.add(&if (k + n).is_multiple_of(2) { term.negated() } else { term });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;

    fn rational(e: &Expansion) -> BigRational {
        e.0.iter().map(|x| BigRational::from_float(*x).expect("a finite number")).sum()
    }

    #[test]
    fn determinants_are_those_of_rational_arithmetic() {
        // Rows whose exact determinant is far below the rounding of its terms.
        let tiny = f64::EPSILON;
        let matrix = [[1.0, 2.0, 3.0], [1.0 + tiny, 2.0, 3.0 - tiny], [0.1, 0.2, 0.3]];
        let rows: Vec<Vec<Expansion>> =
            matrix.iter().map(|r| r.iter().map(|x| Expansion::from(*x)).collect()).collect();
        let q = |i: usize, j: usize| BigRational::from_float(matrix[i][j]).expect("a finite number");
        let exact = q(0, 0) * (q(1, 1) * q(2, 2) - q(1, 2) * q(2, 1))
            - q(0, 1) * (q(1, 0) * q(2, 2) - q(1, 2) * q(2, 0))
            + q(0, 2) * (q(1, 0) * q(2, 1) - q(1, 1) * q(2, 0));
        let found = determinant(&rows);
        assert_eq!(rational(&found), exact);
        assert_ne!(found.sign(), Ordering::Equal, "the determinant is small but not zero");
        let equal = [rows[0].clone(), rows[1].clone(), rows[0].clone()];
        assert_eq!(determinant(&equal).sign(), Ordering::Equal);
    }
}
