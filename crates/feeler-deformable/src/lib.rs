//! Deformable bodies of finite elements with explicit dynamics, penalty contact and an intrinsic contact
//! search.
//!
//! A [`DeformableBody`] consists of tetrahedra with four nodes and hexahedra with eight nodes ([`Mesh`]),
//! with lumped masses and a St Venant–Kirchhoff [`Material`]. A [`RigidBody`] has a surface of triangles, is
//! a sphere, or has an exact shape without triangles ([`SmoothShape`]: balls, half-spaces; CAD solids and
//! grains are in the crate `feeler-particles`); it is fixed, moves with prescribed velocities or along a
//! path, or moves freely. A [`Simulation`] advances all bodies by central differences. Their surfaces are in
//! penalty contact with Coulomb friction; contact of a body with itself is not computed.
//!
//! The contact search stores a lower bound of the distance for every pair of pieces. A step decreases the
//! bound by the largest displacements of both pieces. Distances are computed, and trees of facets are built,
//! only if the bound does not exclude contact.
//!
//! Units are mm, s and t (tonnes). Forces are in N, stresses and Young's moduli in N/mm², energies in mJ:
//! steel has a density of 7.85e-9 t/mm³ and Young's modulus 2.1e5 N/mm².
//!
//! ```
//! use feeler_deformable::{ContactSettings, DeformableBody, Material, Mesh, RigidBody, Simulation};
//! use feeler_geom::{P3, V3};
//!
//! # fn main() -> Result<(), feeler_deformable::DeformableError> {
//! // A rubber cube of 10 mm falls on a fixed plate.
//! let rubber = Material::new(5.0, 0.4, 1.1e-9)?;
//! let mesh = Mesh::box_of_hexahedra(P3::new(0.0, 0.0, 1.0), V3::repeat(10.0), [2, 2, 2])?;
//! let mut simulation = Simulation::new(ContactSettings::new(20.0, 0.5))?;
//! let cube = simulation.add(DeformableBody::new(&mesh, rubber, 0.1)?)?;
//! let corners = [[-9.0, -9.0], [19.0, -9.0], [19.0, 19.0], [-9.0, 19.0]];
//! let plate = corners.map(|[x, y]| P3::new(x, y, 0.0)).to_vec();
//! simulation.add(RigidBody::new(plate, vec![[0, 1, 2], [0, 2, 3]], 0.1)?)?;
//! simulation.set_gravity(V3::new(0.0, 0.0, -9810.0))?;
//! let step = 0.9 * simulation.stable_step(2);
//! let mut lowest = f64::INFINITY;
//! for _ in 0..1500 {
//!     simulation.step(step)?;
//!     let z = simulation.deformable(cube).map(|c| c.center_of_mass().z);
//!     lowest = z.unwrap_or(0.0).min(lowest);
//! }
//! assert!(lowest > 5.0, "the plate carries the cube");
//! # Ok(())
//! # }
//! ```
//!
//! # Contact model
//! Every surface has a skin. Two features at the distance d, whose skins have the thicknesses `r_a` and
//! `r_b`, have the overlap `o = r_a + r_b − d` and, if o > 0, the potential `w k o² / 2`, where k is
//! [`ContactSettings::penalty`]. The features are points against points, edges and triangles, and convex
//! edges against convex edges. The weight w is 1 for triangles and pairs of edges. The weight of another
//! feature is 1 minus the sum of the weights of the larger features that contain it. Forces are minus the
//! gradient of the potential. Their properties:
//! - They are continuous: the distance of a point from a segment or triangle has a continuous gradient while
//!   d > 0, and the potential of two edges is multiplied by a factor that vanishes if they are parallel.
//! - They are equal and opposite, and distributed to the nodes by the shape functions at the closest points.
//!   The potential does not change if both bodies move together, so linear and angular momentum are
//!   conserved.
//! - The potential of a point over a convex or flat region depends on its nearest point only, because the
//!   weights cancel all other terms. A point that slides over the common edge of two coplanar triangles has a
//!   constant potential.
//! - The stiffness of two surfaces is proportional to the number of nodes and crossing edges in contact; the
//!   penalty is not a property per area.
//!
//! Friction is Coulomb's law, regularised below the slip speed. Linear momentum is conserved. The angular
//! momentum changes by the torque of the two opposite forces, whose arm is at most the thickness of both
//! skins.
//!
//! A skin must not be crushed to less than a tenth of its thickness, and bodies in contact must not move by
//! more than a tenth of their skins in a step: such steps are errors, because surfaces could pass through one
//! another. Near exact shapes, the second rule applies to the points of nodes, edges and facets that touched
//! in the last step, to nodes within the margin of the search, and to facets that the shape may have passed
//! through.
//!
//! # Exact shapes
//! A point of the surface at the signed distance d from an exact shape has the overlap `o = r − d` with the
//! thickness r of the skin. The potential of a surface and a shape is half of the penalty times the sum of
//! - `h = Σ o²` for every node, over all local minima of its distance: one near a convex shape, one for each
//!   wall in a concave corner;
//! - `C = m (1 − s)² (1 + s)` for every edge and every facet, where m is the largest o² on it, b the sum of
//!   the terms of its border (nodes; for facets also edges), and s = b / m, at most 1.
//!
//! Overlaps that are not positive count as 0. An edge or facet thus counts for what its border misses: as
//! much as a node for a ball, a corner or an edge of the shape that presses between the nodes, nothing for a
//! plane or a bore, where the nodes have the largest overlaps. The properties of this potential:
//! - Forces are minus its gradient; they act along the gradient of the distance and are equal and opposite.
//!   Linear and angular momentum are conserved. Without friction, the energy is conserved up to the error of
//!   the time steps while the potential is continuous.
//! - The potential is continuous except at obtuse concave edges. If the free angle θ between two walls is
//!   above 90°, the minimum on the farther wall begins where its foot crosses the edge. The distance of this
//!   wall is then `d`, that of the nearer wall `d cos(180° − θ)`, and h jumps by `(r − d)²`: at 120° and
//!   d = 0.6 r by a third. Forces are minus the gradient beside the jump only, and a node that crosses it
//!   changes the energy. Jumps occur at angles above 96° only, because nodes nearer than a tenth of the skin
//!   are errors, and not at concave fillets with a radius above the skin.
//! - Forces are continuous where the points of the largest overlaps move continuously: for balls and other
//!   strictly convex shapes everywhere. A flat face or a straight edge of a shape that presses on the inside
//!   of a facet or edge, without a node or crossing edge in contact, acts at its deepest point, which jumps
//!   as it tilts, without a jump of the potential. The same holds for edges and facets that are equally near
//!   to two walls.
//! - The potential of a ball of any radius at a given overlap with a flat surface, over nodes, edges or
//!   facets, is 0.85 to 1.65 of `k o² / 2` if it is small against the facets. The stiffness of a flat contact
//!   is proportional to the number of nodes in contact.
//! - Minima on edges and facets are computed to a slope of 1e-10. All are found for shapes with
//!   [`SmoothShape::is_convex`]. For other shapes, edges and facets are probed with
//!   [`SmoothShape::probe_spacing`]: a part of the shape that is narrower than the spacing and touches no
//!   node or probe may be missed, and so may the deepest point beside a narrower gap.
//!
//! The search stores for every node a point with its distance, and evaluates the distance again only if the
//! motion relative to the shape could have brought the node or an edge or facet at it into contact.
//!
//! Friction acts on the facet and at the surface of the shape, with the same law. Each term of the potential
//! has friction proportional to its force. The term of an edge or a facet reduces those of its border, whose
//! friction can then act along the sliding velocity. If all points slide alike, the sum is Coulomb's law; if
//! sliding velocities differ within a facet, the friction of single points can add energy.
//!
//! # Source
//! DIST sections 3.3 and 4.3 to 4.6. The elements and the integration are standard (total Lagrangian
//! formulation with Green's strain; central differences).
//!
//! # Deviations
//! - The contact surface is offset from the facets by a skin, so that closest points are unique and forces
//!   continuous. The reference lets the facets overlap.
//! - The search of features of near pairs is repeated only after the pieces have moved by a margin, and all
//!   pairs of a piece share its tree.

mod body;
mod closest;
mod contact;
mod deformable;
mod element;
mod error;
mod hierarchy;
mod material;
mod mesh;
mod msh;
mod rigid;
mod shape;
mod simulation;
mod smooth;
mod state;
mod surface;
mod tree;

pub use body::Body;
pub use contact::ContactSettings;
pub use deformable::DeformableBody;
pub use error::DeformableError;
pub use hierarchy::{PairStatus, SearchCounts};
pub use material::Material;
pub use mesh::Mesh;
pub use rigid::RigidBody;
pub use shape::{Ball, HalfSpace, SmoothShape, SurfacePoint};
pub use simulation::{BodyId, Energies, Simulation};
pub use tree::TreeScope;
