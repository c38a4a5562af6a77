//! Points of curves and surfaces with their derivatives.

use crate::{P3, V3};

/// A point of a curve with the first two derivatives with respect to the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveDerivs {
    /// The point (mm).
    pub p: P3,
    /// First derivative.
    pub d1: V3,
    /// Second derivative.
    pub d2: V3,
}

/// A point of a surface with the partial derivatives up to second order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceDerivs {
    /// The point (mm).
    pub p: P3,
    /// ∂/∂u.
    pub du: V3,
    /// ∂/∂v.
    pub dv: V3,
    /// ∂²/∂u².
    pub duu: V3,
    /// ∂²/∂u∂v.
    pub duv: V3,
    /// ∂²/∂v².
    pub dvv: V3,
}
