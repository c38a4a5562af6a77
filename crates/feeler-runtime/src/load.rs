//! Construction of a body from a hierarchy.

use crate::body::{Body, BodyError};
use crate::nearest::membership::shell_points;
use feeler_hierarchy::{Hierarchy, Model};

impl Body {
    /// Prepares a hierarchy for queries.
    ///
    /// # Errors
    /// [`BodyError`] if an index or a count is out of range, a box, a cone or the hull is not finite, an
    /// edge has no span, an area has no leaf, or the hierarchy has more than 2²⁸ areas. The loader of a
    /// file checks indices and numbers already, but a hierarchy can be built in code.
    pub fn new(hierarchy: Hierarchy) -> Result<Self, BodyError> {
        let mut body = Self::without_shell_points(hierarchy)?;
        body.shell_points = shell_points(&body);
        body.make_derived_data();
        Ok(body)
    }

    /// Prepares a solid of a model for queries. `solid` is its index in `model.solids`, which
    /// [`Instance::solid`](feeler_hierarchy::Instance) contains for each instance.
    ///
    /// # Errors
    /// The errors of [`Body::new`], and [`BodyError::NoSolid`] if the model has no solid with this
    /// index.
    pub fn from_model(model: &Model, solid: usize) -> Result<Self, BodyError> {
        let count = model.solids.len();
        let hierarchy = model.solids.get(solid).ok_or(BodyError::NoSolid { solid, count })?;
        Self::new(hierarchy.clone())
    }
}
