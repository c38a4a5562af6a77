//! From a hierarchy to a body that can be queried.

use crate::body::{Body, BodyError};
use crate::nearest::membership::shell_points;
use feeler_hierarchy::{Hierarchy, Model};

impl Body {
    /// Takes a hierarchy into use.
    ///
    /// # Errors
    /// When an index is out of range or a box is not finite: the loader of a file has checked this already,
    /// but a hierarchy can be made by hand. When there are more than 2²⁸ areas.
    pub fn new(hierarchy: Hierarchy) -> Result<Self, BodyError> {
        let mut body = Self::without_shell_points(hierarchy)?;
        body.shell_points = shell_points(&body);
        body.make_derived_data();
        Ok(body)
    }

    /// Takes a solid of a model into use, by its index among the distinct ones
    /// ([`Instance::solid`](feeler_hierarchy::Instance)).
    ///
    /// # Errors
    /// As [`Body::new`], and when the model has no such solid.
    pub fn from_model(model: &Model, solid: usize) -> Result<Self, BodyError> {
        let count = model.solids.len();
        let hierarchy = model.solids.get(solid).ok_or(BodyError::NoSolid { solid, count })?;
        Self::new(hierarchy.clone())
    }
}
