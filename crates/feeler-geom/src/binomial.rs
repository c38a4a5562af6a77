//! Pascal's triangle: a table computed at compile time, and single rows of any length.

/// Table of the binomial coefficients "n over k" in row `n` and column `k ≤ n`; the other entries are
/// zero. The table is exact up to row 56.
pub(crate) const fn pascal<const N: usize>() -> [[f64; N]; N] {
    let mut c = [[0.0; N]; N];
    let mut n = 0;
    while n < N {
        c[n][0] = 1.0;
        let mut k = 1;
        while k <= n {
            c[n][k] = c[n - 1][k - 1] + if k < n { c[n - 1][k] } else { 0.0 };
            k += 1;
        }
        n += 1;
    }
    c
}

/// Computes row `n` of Pascal's triangle, for degrees beyond the tables.
pub(crate) fn row(n: usize) -> Vec<f64> {
    let mut row = vec![1.0];
    for _ in 0..n {
        let next = row.windows(2).map(|w| w[0] + w[1]);
        row = std::iter::once(1.0).chain(next).chain(std::iter::once(1.0)).collect();
    }
    row
}

#[cfg(test)]
mod tests {
    #[test]
    fn rows_agree_with_the_table() {
        let table = super::pascal::<9>();
        for (n, expected) in table.iter().enumerate() {
            assert_eq!(super::row(n), expected[..=n]);
        }
    }
}
