//! All real roots of small polynomials and trigonometric polynomials.
