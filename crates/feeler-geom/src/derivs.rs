//! Points of curves and surfaces with their derivatives.

use crate::{P3, V3};

/// A point of a curve with the first two derivatives with respect to the curve's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveDerivs {
    /// The point of the curve (mm).
    pub p: P3,
    /// First derivative with respect to the parameter.
    pub d1: V3,
    /// Second derivative with respect to the parameter.
    pub d2: V3,
}

/// A point of a surface with the partial derivatives with respect to u and v up to second order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceDerivs {
    /// The point of the surface (mm).
    pub p: P3,
    /// First derivative ∂/∂u.
    pub du: V3,
    /// First derivative ∂/∂v.
    pub dv: V3,
    /// Second derivative ∂²/∂u².
    pub duu: V3,
    /// Second derivative ∂²/∂u∂v.
    pub duv: V3,
    /// Second derivative ∂²/∂v².
    pub dvv: V3,
}
