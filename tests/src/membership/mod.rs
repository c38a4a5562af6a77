//! Reference for the membership of points in solids, without any code of the runtime.
//!
//! [`Form`] is a solid in closed form with a signed depth. [`Spec`] describes generated solids by their
//! dimensions and builds each of them as a form and as a boundary representation ([`Shape`]). [`Rays`]
//! classifies points of any solid, except near its boundary.

mod form;
mod rays;
mod shapes;
mod source;

pub use form::{Form, Outline};
pub use rays::{NEAR_BOUNDARY, Rays};
pub use shapes::{Shape, Spec};
