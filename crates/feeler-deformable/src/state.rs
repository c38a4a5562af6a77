//! Positions, velocities and forces of the nodes of a body.

use feeler_geom::{P3, V3};

/// State of the nodes of a body.
#[derive(Clone, Debug)]
pub(crate) struct NodeState {
    /// Positions (mm).
    pub(crate) positions: Vec<P3>,
    /// Velocities (mm/s).
    pub(crate) velocities: Vec<V3>,
    /// Sums of all forces (N); unused by rigid bodies.
    pub(crate) forces: Vec<V3>,
    /// Lengths of the displacements in the last step (mm).
    pub(crate) moved: Vec<f64>,
}

impl NodeState {
    /// Creates the state of nodes at rest.
    pub(crate) fn at_rest(positions: Vec<P3>) -> Self {
        let n = positions.len();
        Self {
            positions,
            velocities: vec![V3::zeros(); n],
            forces: vec![V3::zeros(); n],
            moved: vec![0.0; n],
        }
    }
}

/// Forces of one contact on the nodes of one body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodalForces<'a> {
    /// Indices of the nodes.
    pub(crate) nodes: &'a [u32],
    /// Weights of the nodes in the closest point.
    pub(crate) weights: &'a [f64],
    /// Frictionless forces on the nodes (N).
    pub(crate) forces: &'a [V3],
    /// Friction (N), which acts at `at`.
    pub(crate) friction: V3,
    /// Point of contact on the skin (mm).
    pub(crate) at: P3,
    /// Stiffness of the contact (N/mm).
    pub(crate) stiffness: f64,
}

/// Forces of one contact on a body of exact shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShapeForces {
    /// Frictionless force (N), which acts at `at`.
    pub(crate) force: V3,
    /// Point of the other surface (mm).
    pub(crate) at: P3,
    /// Friction (N), which acts at `foot`.
    pub(crate) friction: V3,
    /// Point of the shape (mm).
    pub(crate) foot: P3,
    /// Stiffness of the contact (N/mm).
    pub(crate) stiffness: f64,
}
