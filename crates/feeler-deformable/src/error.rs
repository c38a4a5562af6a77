//! Errors of meshes, bodies and steps.

/// Reason why a body cannot be created or a step is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeformableError {
    /// Young's modulus is not finite and positive.
    #[error("Young's modulus is {0} MPa; give a finite value above 0")]
    Young(f64),
    /// Poisson's ratio is not above −1 and below 0.5.
    #[error("Poisson's ratio is {0}; give a value above -1 and below 0.5")]
    Poisson(f64),
    /// A density is not finite and positive.
    #[error("the density is {0} t/mm³; give a finite value above 0")]
    Density(f64),
    /// The thickness of a skin is not finite and positive.
    #[error("the skin is {0} mm; give a finite thickness above 0")]
    Skin(f64),
    /// A setting is not valid, as the text states.
    #[error("{0}")]
    Setting(&'static str),
    /// A number of divisions or a size of a generated box is not positive and finite.
    #[error("a box needs at least one division and a finite positive size along each axis")]
    Divisions,
    /// A mesh has no elements, or a body has no nodes.
    #[error("the mesh has no elements")]
    Empty,
    /// A mesh has more nodes or facets than a `u32` can count.
    #[error("the mesh has more than {} nodes or facets", u32::MAX)]
    TooLarge,
    /// A coordinate, velocity or force of a node is NaN or infinite.
    #[error("node {node} has a coordinate, velocity or force that is not finite")]
    NotFinite {
        /// Index of the node in its body.
        node: usize,
    },
    /// A velocity of a body or an acceleration is NaN or infinite.
    #[error("a velocity or acceleration is not finite")]
    VelocityNotFinite,
    /// An element or a call refers to a node that does not exist.
    #[error("node {node} does not exist: the mesh has {count} nodes")]
    UnknownNode {
        /// Index that was given.
        node: usize,
        /// Number of nodes.
        count: usize,
    },
    /// A node belongs to no element, so it has no mass.
    #[error("node {node} belongs to no element and has no mass; remove it from the mesh")]
    UnusedNode {
        /// Index of the node.
        node: usize,
    },
    /// An axis is not 0, 1 or 2.
    #[error("axis {0} does not exist; give 0 (x), 1 (y) or 2 (z)")]
    UnknownAxis(usize),
    /// A body does not exist or is not of the kind that the call needs.
    #[error("body {0} does not exist or is not of the required kind")]
    UnknownBody(usize),
    /// A change replaced a body of a simulation by one of another kind.
    #[error(
        "body {0} was replaced by a body with other numbers of nodes, facets or shapes; add it as a new body"
    )]
    Replaced(usize),
    /// An element of a mesh has no positive volume at an integration point.
    #[error("element {element} is inverted or flat in the mesh; check the order of its nodes")]
    InvertedReference {
        /// Index of the element: tetrahedra first, then hexahedra.
        element: usize,
    },
    /// An element has been inverted by its deformation.
    #[error(
        "element {element} of body {body} is inverted by its deformation; use a smaller time step or load"
    )]
    Inverted {
        /// Index of the body.
        body: usize,
        /// Index of the element: tetrahedra first, then hexahedra.
        element: usize,
    },
    /// Elements are so stiff or so small that their numbers overflow.
    #[error("the stiffness of element {element} is not finite; check the units of the mesh and material")]
    Stiffness {
        /// Index of the element: tetrahedra first, then hexahedra.
        element: usize,
    },
    /// The facets of a rigid body that moves freely do not enclose a positive volume.
    #[error(
        "the facets enclose no positive volume; a free rigid body needs a closed surface with outward normals"
    )]
    OpenSurface,
    /// The list of pieces does not have one entry below the number of facets for each facet.
    #[error("{given} pieces are given for {count} facets; give one index below {count} for each facet")]
    Pieces {
        /// Number of entries that were given.
        given: usize,
        /// Number of facets of the body.
        count: usize,
    },
    /// The time step is not finite and positive.
    #[error("the time step is {0} s; give a finite time above 0")]
    Step(f64),
    /// The time step exceeds the stable time step.
    #[error("the time step is {step} s, which exceeds the stable time step {stable} s")]
    UnstableStep {
        /// Time step that was requested (s).
        step: f64,
        /// Largest time step that is proven to be stable (s).
        stable: f64,
    },
    /// Two bodies move by more than a tenth of their skins in one step while they are in contact.
    #[error(
        "bodies {} and {} move too fast for their skins; use a smaller time step or thicker skins",
        .pair[0], .pair[1]
    )]
    TooFast {
        /// Indices of the two bodies.
        pair: [usize; 2],
    },
    /// The skins of two bodies are crushed to less than a tenth of their thickness.
    #[error(
        "the skins of bodies {} and {} are crushed; use a larger penalty or thicker skins",
        .pair[0], .pair[1]
    )]
    Crushed {
        /// Indices of the two bodies.
        pair: [usize; 2],
    },
    /// The distance of a node from a body with a smooth shape cannot be computed.
    #[error(
        "the distance of node {node} of body {} from the exact shape of body {} cannot be computed; \
         check the position of the node and the size of the shape",
        .pair[0], .pair[1]
    )]
    NodeDistance {
        /// Indices of the body with the node and of the body with the shape.
        pair: [usize; 2],
        /// Index of the node in its body.
        node: usize,
    },
    /// The distance of an edge or a facet from a body with a smooth shape cannot be computed.
    #[error(
        "the distance of body {} from the exact shape of body {} cannot be computed; \
         check the positions of the nodes and the size of the shape",
        .pair[0], .pair[1]
    )]
    SmoothDistance {
        /// Indices of the body with the facets and of the body with the shape.
        pair: [usize; 2],
    },
    /// The mass, centre of mass or inertia of a free body is not valid.
    #[error(
        "the mass and the inertia of a free body must be finite and positive; \
         a body of exact shape needs them (set_free_with_inertia)"
    )]
    Inertia,
    /// A position or rotation of a rigid body is not finite.
    #[error("the position or rotation of a rigid body is not finite")]
    Pose,
    /// A line of a mesh file is not valid.
    #[error("line {line}: {reason}")]
    MeshFile {
        /// Number of the line, starting at 1.
        line: usize,
        /// Reason why the line is refused.
        reason: String,
    },
}
