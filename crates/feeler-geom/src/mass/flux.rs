//! Antiderivatives, in the parameter u, of the densities of volume and first moments over a surface.
//!
//! A line integral `∮ F dv` of such an antiderivative along the boundary of any part of the surface gives
//! the part's contribution to the volume of a solid, by Green's theorem. The boundary need not be that of
//! the face: parts that other solids cut out are integrated in the same way.
//!
//! # Source
//! MATH §17.

use super::{Meridian, Plane, Profile, Revolution, of_revolution};
use crate::surface::Surface;
use crate::trim::gauss_legendre;
use crate::{Frame, P2, P3, Rect, V3, math};

/// Number of integrals: the flux `d·N`, the flux times the three coordinates of d, and the three
/// components of N, with `N = ∂u × ∂v` and d the vector from the reference point.
pub const NUM_FLUX_SUMS: usize = 7;

/// Sums of line integrals of [`FluxForm::antiderivative`].
pub type FluxSums = [f64; NUM_FLUX_SUMS];

/// Nodes of the rule along u in one patch of degree p, beyond the 2p that integrate polynomials
/// exactly. A larger value takes longer, a smaller one is less exact on rational patches.
const RATIONAL_NODES: usize = 4;

/// Densities of flux, first moments and vector area over a surface, with their antiderivatives in u.
pub struct FluxForm<'a> {
    frame: Frame,
    form: Form<'a>,
}

impl std::fmt::Debug for FluxForm<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let form = match self.form {
            Form::Plane(_) => "plane",
            Form::Revolution { .. } => "revolution",
            Form::Patches { .. } => "patches",
        };
        f.debug_struct("FluxForm").field("form", &form).finish_non_exhaustive()
    }
}

enum Form<'a> {
    Plane(Plane),
    Revolution {
        meridian: Meridian,
        /// Vector (mm) from the reference point to the origin of the frame, along its axes.
        at: V3,
        u0: f64,
    },
    Patches {
        surface: &'a Surface,
        reference: P3,
        u0: f64,
        /// Borders of the patches in u.
        breaks: Vec<f64>,
        /// Nodes and weights on [0, 1] along u in a patch.
        rule: Vec<(f64, f64)>,
    },
}

/// Contribution of a part of a surface to the integrals of a solid whose outward normal is the natural
/// normal of the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flux {
    /// Contribution to the volume (mm³), which depends on the reference point.
    pub volume: f64,
    /// Contribution to the first moments `∫ (x − c) dV` (mm⁴), with c the reference point.
    pub moment: V3,
    /// Vector area `∫ n dA` (mm²), whose sum over a closed boundary is 0.
    pub area: V3,
}

impl<'a> FluxForm<'a> {
    /// Prepares the antiderivatives that vanish at the smallest u of `rect`. `reference` is the reference
    /// point c, in the frame of the surface's solid.
    #[must_use]
    pub fn new(surface: &'a Surface, rect: &Rect, reference: &P3) -> Self {
        match of_revolution(surface) {
            Some((frame, meridian)) => {
                let at = frame.local(reference) * -1.0;
                Self { frame, form: Form::Revolution { meridian, at, u0: rect.u0 } }
            }
            None => match surface {
                Surface::Plane { frame } => {
                    Self { frame: *frame, form: Form::Plane(Plane::new(frame, rect, reference)) }
                }
                _ => Self::of_patches(surface, rect, reference),
            },
        }
    }

    fn of_patches(surface: &'a Surface, rect: &Rect, reference: &P3) -> Self {
        let degree = match surface {
            Surface::Bezier(grid) => grid.u_degree as usize,
            _ => 1,
        };
        let rule = gauss_legendre(2 * degree + RATIONAL_NODES);
        let (breaks, _) = surface.breaks(rect);
        let form = Form::Patches { surface, reference: *reference, u0: rect.u0, breaks, rule };
        Self { frame: Frame::identity(), form }
    }

    /// Integrals of the densities from the smallest u of the rectangle to that of `p`, on the line of
    /// constant v through `p`.
    #[must_use]
    pub fn antiderivative(&self, p: P2) -> FluxSums {
        match &self.form {
            Form::Plane(plane) => {
                let [u, flux, x, y, z, ..] = plane.antiderivative(p);
                [flux, x, y, z, 0.0, 0.0, u]
            }
            Form::Revolution { meridian, at, u0 } => {
                let r = Revolution { profile: &**meridian, at: *at, u0: *u0 };
                let [_, flux, x, y, z, ..] = r.antiderivative(p);
                let [nx, ny, nz] = vector_area_of_arc(&meridian(p.y), *u0, p.x);
                [flux, x, y, z, nx, ny, nz]
            }
            Form::Patches { surface, reference, u0, breaks, rule } => {
                let mut sums = [0.0; NUM_FLUX_SUMS];
                let mut from = *u0;
                for to in breaks.iter().copied().filter(|u| *u0 < *u && *u < p.x).chain([p.x]) {
                    for (x, weight) in rule {
                        let at = P2::new(from + (to - from) * x, p.y);
                        let w = weight * (to - from);
                        sums.iter_mut().zip(density(surface, reference, at)).for_each(|(s, d)| *s += w * d);
                    }
                    from = to;
                }
                sums
            }
        }
    }

    /// Densities at the parameters `uv` on `surface`, the surface of this form, per unit of u and v: the
    /// derivatives by u of [`FluxForm::antiderivative`]. `reference` is the reference point of this form.
    #[must_use]
    pub fn density(&self, surface: &Surface, reference: &P3, uv: P2) -> FluxSums {
        let [flux, x, y, z, nx, ny, nz] = density(surface, reference, uv);
        let (d, n) =
            (self.frame.local_vector(&V3::new(x, y, z)), self.frame.local_vector(&V3::new(nx, ny, nz)));
        [flux, d.x, d.y, d.z, n.x, n.y, n.z]
    }

    /// Converts line integrals of the antiderivatives to the contribution of a part of the surface, in the
    /// frame of the surface's solid.
    #[must_use]
    pub fn flux(&self, sums: &FluxSums) -> Flux {
        let [flux, x, y, z, nx, ny, nz] = *sums;
        Flux {
            volume: flux / 3.0,
            moment: self.frame.vector(x, y, z) * 0.25,
            area: self.frame.vector(nx, ny, nz),
        }
    }
}

/// Densities at the parameters `uv`, per unit of u and v.
fn density(surface: &Surface, reference: &P3, uv: P2) -> FluxSums {
    let (p, du, dv) = surface.first_derivs(uv);
    let n = du.cross(&dv);
    let d = p - reference;
    let flux = d.dot(&n);
    [flux, d.x * flux, d.y * flux, d.z * flux, n.x, n.y, n.z]
}

/// Integral of `∂u × ∂v` over u from `u0` to `u` on a surface of revolution, at the point `m` of its
/// meridian, along the axes of its frame.
pub(super) fn vector_area_of_arc(m: &Profile, u0: f64, u: f64) -> [f64; 3] {
    let ((s, c), (s0, c0)) = (math::sin_cos(u), math::sin_cos(u0));
    let k = m.a * m.db;
    [k * (s - s0), k * (c0 - c), -m.a * m.da * (u - u0)]
}
