//! Is a point inside a solid? Told without anything of the runtime.
//!
//! [`Form`] is a solid in closed form with a signed depth; [`Spec`] describes generated solids by their
//! dimensions and gives the same solid as a form and as a boundary representation ([`Shape`]). [`Rays`] tells
//! of any solid, not near its boundary.

mod form;
mod rays;
mod shapes;
mod source;

pub use form::{Form, Outline};
pub use rays::{NEAR, Rays};
pub use shapes::{Shape, Spec};
