//! Pascal's triangle as a table made by the compiler.

/// Binomial coefficients: row `n`, entry `k ≤ n`; the rest is zero. Exact up to row 56.
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
