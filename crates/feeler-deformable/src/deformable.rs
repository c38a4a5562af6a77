//! Deformable bodies: nodes, masses, elements and prescribed motions.

use crate::element::{Hexahedron, Tetrahedron};
use crate::error::DeformableError;
use crate::material::Material;
use crate::mesh::Mesh;
use crate::state::{NodalForces, NodeState};
use crate::surface;
use feeler_geom::{P3, V3};
use nalgebra::{DMatrix, Matrix3};

/// Motion of one coordinate of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CoordinateMotion {
    Free,
    /// Velocity (mm/s).
    Velocity(f64),
    /// Displacement from the reference position at the end of the next step (mm).
    Displacement(f64),
}

/// Body of tetrahedra and hexahedra with a St Venant–Kirchhoff material.
///
/// The masses of the elements are lumped by row sums, which preserves the total mass and the centre of mass
/// of each element. Hexahedra have 2×2×2 integration points, so they have no hourglass modes: the only
/// deformations without energy are rigid motions. Both elements have linear shape functions and are too
/// stiff in bending if one element spans the thickness, and if Poisson's ratio is close to 0.5.
#[derive(Clone, Debug)]
pub struct DeformableBody {
    material: Material,
    tetrahedra: Vec<Tetrahedron>,
    hexahedra: Vec<Hexahedron>,
    reference: Vec<P3>,
    masses: Vec<f64>,
    motions: Vec<[CoordinateMotion; 3]>,
    facets: Vec<[u32; 3]>,
    skin: f64,
    damping: f64,
    max_eigenvalue: f64,
    strain_energy: f64,
    /// Estimated squared frequency of the contacts for each node (1/s²).
    contact_rates: Vec<f64>,
    /// Whether a position was set since the last call of [`DeformableBody::take_relocated`].
    relocated: bool,
    pub(crate) nodes: NodeState,
}

impl DeformableBody {
    /// Creates a body at rest in the undeformed positions of a mesh. The contact surface is offset from the
    /// boundary of the mesh by the thickness `skin` (mm).
    ///
    /// # Errors
    /// The mesh has no elements, refers to nodes that do not exist, contains nodes without elements, numbers
    /// that are not finite, or inverted elements; `skin` is not finite and positive.
    pub fn new(mesh: &Mesh, material: Material, skin: f64) -> Result<Self, DeformableError> {
        mesh.check()?;
        if !(skin.is_finite() && skin > 0.0) {
            return Err(DeformableError::Skin(skin));
        }
        let at = |n: u32| mesh.nodes[n as usize];
        let inverted = |element| DeformableError::InvertedReference { element };
        let mut tetrahedra = Vec::with_capacity(mesh.tetrahedra.len());
        for (element, &nodes) in mesh.tetrahedra.iter().enumerate() {
            tetrahedra.push(Tetrahedron::new(nodes, nodes.map(at)).ok_or(inverted(element))?);
        }
        let mut hexahedra = Vec::with_capacity(mesh.hexahedra.len());
        for (k, &nodes) in mesh.hexahedra.iter().enumerate() {
            let element = k + tetrahedra.len();
            hexahedra.push(Hexahedron::new(nodes, nodes.map(at)).ok_or(inverted(element))?);
        }
        let mut masses = vec![0.0; mesh.nodes.len()];
        let tetrahedron_shares = tetrahedra.iter().flat_map(|e| e.nodes.iter().zip(&e.shares));
        let hexahedron_shares = hexahedra.iter().flat_map(|e| e.nodes.iter().zip(&e.shares));
        for (&node, share) in tetrahedron_shares.chain(hexahedron_shares) {
            masses[node as usize] += material.density() * share;
        }
        let max_eigenvalue = max_eigenvalue(&tetrahedra, &hexahedra, material)?;
        let n = mesh.nodes.len();
        Ok(Self {
            material,
            tetrahedra,
            hexahedra,
            reference: mesh.nodes.clone(),
            masses,
            motions: vec![[CoordinateMotion::Free; 3]; n],
            facets: surface::boundary_triangles(mesh),
            skin,
            damping: 0.0,
            max_eigenvalue,
            strain_energy: 0.0,
            contact_rates: vec![0.0; n],
            relocated: false,
            nodes: NodeState::at_rest(mesh.nodes.clone()),
        })
    }

    /// Material of all elements.
    #[must_use]
    pub fn material(&self) -> Material {
        self.material
    }

    /// Undeformed positions of the nodes (mm).
    #[must_use]
    pub fn reference(&self) -> &[P3] {
        &self.reference
    }

    /// Positions of the nodes (mm).
    #[must_use]
    pub fn positions(&self) -> &[P3] {
        &self.nodes.positions
    }

    /// Velocities of the nodes (mm/s).
    #[must_use]
    pub fn velocities(&self) -> &[V3] {
        &self.nodes.velocities
    }

    /// Sums of internal forces, contact forces and gravity at the nodes after the last step (N).
    #[must_use]
    pub fn forces(&self) -> &[V3] {
        &self.nodes.forces
    }

    /// Lumped masses of the nodes (t).
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Node indices of the boundary triangles, with outward normals. Quadrilaterals are split into two
    /// triangles.
    #[must_use]
    pub fn facets(&self) -> &[[u32; 3]] {
        &self.facets
    }

    /// Distance of the contact surface from the boundary of the mesh (mm).
    #[must_use]
    pub fn skin(&self) -> f64 {
        self.skin
    }

    /// Upper bound of ω² (1/s²) for all small vibrations of the undeformed body without contact.
    ///
    /// The bound is the largest eigenvalue of a single element: with K = Σ Kₑ and M = Σ Mₑ, the Rayleigh
    /// quotient uᵀKu / uᵀMu is a weighted mean of the quotients uᵀKₑu / uᵀMₑu and does not exceed the largest
    /// of them (Irons and Fried). Prescribed coordinates can only lower the frequencies. The bound holds for
    /// the stiffness at small strains. A body that is stretched by ε is stiffer by a factor of up to about
    /// 1 + 3ε, so a run with large stretches needs a smaller step.
    #[must_use]
    pub fn max_eigenvalue(&self) -> f64 {
        self.max_eigenvalue
    }

    /// Sets the velocity (mm/s) of a node.
    ///
    /// # Errors
    /// The node does not exist, or the velocity is not finite.
    pub fn set_velocity(&mut self, node: usize, velocity: V3) -> Result<(), DeformableError> {
        self.check_node(node)?;
        check_finite(node, &velocity)?;
        self.nodes.velocities[node] = velocity;
        Ok(())
    }

    /// Sets the velocity (mm/s) of all nodes.
    ///
    /// # Errors
    /// The velocity is not finite.
    pub fn set_uniform_velocity(&mut self, velocity: V3) -> Result<(), DeformableError> {
        check_finite(0, &velocity)?;
        self.nodes.velocities.fill(velocity);
        Ok(())
    }

    /// Moves a node to a position (mm); the reference position does not change.
    ///
    /// # Errors
    /// The node does not exist, or the position is not finite.
    pub fn set_position(&mut self, node: usize, position: P3) -> Result<(), DeformableError> {
        self.check_node(node)?;
        check_finite(node, &position.coords)?;
        self.nodes.positions[node] = position;
        self.relocated = true;
        Ok(())
    }

    /// Sets the coefficient α (1/s) of a damping force −α m v on all nodes; 0 by default.
    ///
    /// # Errors
    /// The coefficient is negative or not finite.
    pub fn set_damping(&mut self, damping: f64) -> Result<(), DeformableError> {
        if !(damping.is_finite() && damping >= 0.0) {
            return Err(DeformableError::Setting("the damping must be finite and at least 0 1/s"));
        }
        self.damping = damping;
        Ok(())
    }

    /// Prescribes the velocity (mm/s) of a node along an axis (0, 1 or 2); the velocity 0 fixes the
    /// coordinate.
    ///
    /// # Errors
    /// The node or the axis does not exist, or the velocity is not finite.
    pub fn prescribe_velocity(
        &mut self,
        node: usize,
        axis: usize,
        velocity: f64,
    ) -> Result<(), DeformableError> {
        self.prescribe(node, axis, velocity, CoordinateMotion::Velocity(velocity))
    }

    /// Prescribes the displacement (mm) of a node from its reference position along an axis (0, 1 or 2). The
    /// node reaches it at the end of the next step and stays there.
    ///
    /// # Errors
    /// The node or the axis does not exist, or the displacement is not finite.
    pub fn prescribe_displacement(
        &mut self,
        node: usize,
        axis: usize,
        displacement: f64,
    ) -> Result<(), DeformableError> {
        self.prescribe(node, axis, displacement, CoordinateMotion::Displacement(displacement))
    }

    /// Ends the prescribed motion of a node along an axis (0, 1 or 2).
    ///
    /// # Errors
    /// The node or the axis does not exist.
    pub fn release(&mut self, node: usize, axis: usize) -> Result<(), DeformableError> {
        self.prescribe(node, axis, 0.0, CoordinateMotion::Free)
    }

    fn prescribe(
        &mut self,
        node: usize,
        axis: usize,
        value: f64,
        motion: CoordinateMotion,
    ) -> Result<(), DeformableError> {
        self.check_node(node)?;
        check_finite(node, &V3::repeat(value))?;
        *self.motions[node].get_mut(axis).ok_or(DeformableError::UnknownAxis(axis))? = motion;
        Ok(())
    }

    /// Force (N) that keeps the prescribed coordinates of a node on a motion at constant velocity; 0 along
    /// free coordinates. Returns `None` if the node does not exist.
    #[must_use]
    pub fn reaction(&self, node: usize) -> Option<V3> {
        let motions = self.motions.get(node)?;
        let force = self.nodes.forces[node];
        Some(V3::from_fn(|i, _| if motions[i] == CoordinateMotion::Free { 0.0 } else { -force[i] }))
    }

    /// Total mass (t).
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.masses.iter().sum()
    }

    /// Centre of mass (mm).
    #[must_use]
    pub fn center_of_mass(&self) -> P3 {
        let weighted = self.nodes.positions.iter().zip(&self.masses);
        P3::from(weighted.fold(V3::zeros(), |sum, (x, m)| sum + x.coords * *m) / self.mass())
    }

    /// Linear momentum (N·s).
    #[must_use]
    pub fn momentum(&self) -> V3 {
        self.nodes.velocities.iter().zip(&self.masses).fold(V3::zeros(), |sum, (v, m)| sum + v * *m)
    }

    /// Angular momentum about the origin (N·mm·s).
    #[must_use]
    pub fn angular_momentum(&self) -> V3 {
        let nodes = self.nodes.positions.iter().zip(&self.nodes.velocities).zip(&self.masses);
        nodes.fold(V3::zeros(), |sum, ((x, v), m)| sum + x.coords.cross(v) * *m)
    }

    /// Kinetic energy (mJ).
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        self.nodes.velocities.iter().zip(&self.masses).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
    }

    /// Strain energy after the last computation of forces (mJ).
    #[must_use]
    pub fn strain_energy(&self) -> f64 {
        self.strain_energy
    }

    /// Second Piola–Kirchhoff stresses (N/mm²) at all integration points: one for each tetrahedron, then
    /// eight for each hexahedron.
    #[must_use]
    pub fn stresses(&self) -> Vec<Matrix3<f64>> {
        let lame = self.material.lame();
        let x = &self.nodes.positions;
        let tetrahedra = self.tetrahedra.iter().flat_map(|e| e.stresses(lame, x));
        tetrahedra.chain(self.hexahedra.iter().flat_map(|e| e.stresses(lame, x))).collect()
    }

    /// Assembled stiffness matrix for small strains (N/mm); rows 3k to 3k + 2 belong to node k. The matrix is
    /// dense: it is meant for analyses of small bodies.
    #[must_use]
    pub fn stiffness_matrix(&self) -> DMatrix<f64> {
        let n = 3 * self.reference.len();
        let mut matrix = DMatrix::zeros(n, n);
        let lame = self.material.lame();
        let mut add = |nodes: &[u32], element: &DMatrix<f64>| {
            let row = |i: usize| 3 * nodes[i / 3] as usize + i % 3;
            for i in 0..element.nrows() {
                for j in 0..element.ncols() {
                    matrix[(row(i), row(j))] += element[(i, j)];
                }
            }
        };
        self.tetrahedra.iter().for_each(|e| add(&e.nodes, &e.stiffness(lame)));
        self.hexahedra.iter().for_each(|e| add(&e.nodes, &e.stiffness(lame)));
        matrix
    }

    /// Computes the forces of gravity (mm/s²) and of the elements, without contact. Fails with the index of
    /// the element if an element is inverted.
    pub(crate) fn compute_forces(&mut self, gravity: &V3) -> Result<(), usize> {
        for (force, m) in self.nodes.forces.iter_mut().zip(&self.masses) {
            *force = gravity * *m;
        }
        self.contact_rates.fill(0.0);
        let lame = self.material.lame();
        let (x, f) = (&self.nodes.positions, &mut self.nodes.forces);
        self.strain_energy = 0.0;
        for (k, element) in self.tetrahedra.iter().enumerate() {
            self.strain_energy += element.subtract_internal_forces(lame, x, f).ok_or(k)?;
        }
        for (k, element) in self.hexahedra.iter().enumerate() {
            let energy = element.subtract_internal_forces(lame, x, f);
            self.strain_energy += energy.ok_or(k + self.tetrahedra.len())?;
        }
        Ok(())
    }

    /// First half of the velocity change of a step, then the displacement of all nodes.
    pub(crate) fn kick_and_drift(&mut self, step: f64) {
        let half = 0.5 * step;
        for i in 0..self.masses.len() {
            let acceleration = self.nodes.forces[i] / self.masses[i];
            let mut v = (self.nodes.velocities[i] + acceleration * half) / (1.0 + self.damping * half);
            for axis in 0..3 {
                match self.motions[i][axis] {
                    CoordinateMotion::Free => {}
                    CoordinateMotion::Velocity(given) => v[axis] = given,
                    CoordinateMotion::Displacement(given) => {
                        v[axis] = (self.reference[i][axis] + given - self.nodes.positions[i][axis]) / step;
                    }
                }
            }
            self.nodes.velocities[i] = v;
            let old = self.nodes.positions[i];
            self.nodes.positions[i] += v * step;
            self.nodes.moved[i] = (self.nodes.positions[i] - old).norm();
        }
    }

    /// Second half of the velocity change of a step.
    pub(crate) fn kick(&mut self, step: f64) {
        let half = 0.5 * step;
        for i in 0..self.masses.len() {
            let (v, acceleration) = (self.nodes.velocities[i], self.nodes.forces[i] / self.masses[i]);
            let free = v * (1.0 - self.damping * half) + acceleration * half;
            let motions = self.motions[i];
            self.nodes.velocities[i] =
                V3::from_fn(|k, _| if motions[k] == CoordinateMotion::Free { free[k] } else { v[k] });
        }
    }

    pub(crate) fn add_contact(&mut self, contact: &NodalForces<'_>) {
        for ((&node, force), weight) in contact.nodes.iter().zip(contact.forces).zip(contact.weights) {
            let node = node as usize;
            self.nodes.forces[node] += force + contact.friction * *weight;
            self.contact_rates[node] += 2.0 * contact.stiffness * weight.abs() / self.masses[node];
        }
    }

    /// Estimated largest squared frequency of the contacts added since the last computation of forces (1/s²).
    pub(crate) fn contact_rate(&self) -> f64 {
        self.contact_rates.iter().fold(0.0, |max, r| r.max(max))
    }

    /// Estimated squared frequency (1/s²) of one contact of stiffness 1 N/mm with the lightest node.
    pub(crate) fn unit_contact_rate(&self) -> f64 {
        let surface = self.facets.iter().flatten().map(|&n| self.masses[n as usize]);
        2.0 / surface.fold(f64::INFINITY, f64::min)
    }

    /// Whether a position was set since the last call.
    pub(crate) fn take_relocated(&mut self) -> bool {
        std::mem::take(&mut self.relocated)
    }

    fn check_node(&self, node: usize) -> Result<(), DeformableError> {
        let count = self.reference.len();
        if node < count { Ok(()) } else { Err(DeformableError::UnknownNode { node, count }) }
    }
}

fn check_finite(node: usize, vector: &V3) -> Result<(), DeformableError> {
    let finite = vector.iter().all(|c| c.is_finite());
    if finite { Ok(()) } else { Err(DeformableError::NotFinite { node }) }
}

/// Computes the largest eigenvalue of a single element.
fn max_eigenvalue(
    tetrahedra: &[Tetrahedron],
    hexahedra: &[Hexahedron],
    material: Material,
) -> Result<f64, DeformableError> {
    let (lame, density) = (material.lame(), material.density());
    let values = tetrahedra.iter().map(|e| e.max_eigenvalue(lame, density));
    let values = values.chain(hexahedra.iter().map(|e| e.max_eigenvalue(lame, density)));
    let mut largest = 0.0_f64;
    for (element, value) in values.enumerate() {
        largest = largest.max(value.ok_or(DeformableError::Stiffness { element })?);
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kinetic energy after 200 steps of a free body of six hexahedra, relative to its start. The velocities
    /// are those of its highest mode, and the step is `factor` times the stability limit 2/ω of this mode.
    fn energy_growth(factor: f64) -> Option<f64> {
        let mesh = Mesh::box_of_hexahedra(P3::origin(), V3::new(3.0, 2.1, 0.9), [3, 2, 1]).ok()?;
        let material = Material::new(2.1e5, 0.3, 7.85e-9).ok()?;
        let mut body = DeformableBody::new(&mesh, material, 0.01).ok()?;
        let mut matrix = body.stiffness_matrix();
        for i in 0..matrix.nrows() {
            for j in 0..matrix.ncols() {
                matrix[(i, j)] /= (body.masses[i / 3] * body.masses[j / 3]).sqrt();
            }
        }
        let eigen = matrix.symmetric_eigen();
        let mode = eigen.eigenvalues.imax();
        for k in 0..body.masses.len() {
            let shape = eigen.eigenvectors.fixed_view::<3, 1>(3 * k, mode).into_owned();
            body.set_velocity(k, shape * (1e-7 / body.masses[k].sqrt())).ok()?;
        }
        let step = factor * 2.0 / eigen.eigenvalues[mode].sqrt();
        let start = body.kinetic_energy();
        body.compute_forces(&V3::zeros()).ok()?;
        let mut largest = 0.0_f64;
        for _ in 0..200 {
            body.kick_and_drift(step);
            if body.compute_forces(&V3::zeros()).is_err() {
                return Some(f64::INFINITY);
            }
            body.kick(step);
            largest = largest.max(body.kinetic_energy() / start);
        }
        Some(largest)
    }

    #[test]
    fn steps_beyond_the_stability_limit_blow_up() {
        let below = energy_growth(0.99).unwrap();
        assert!(below < 1.5, "below the limit: {below}");
        let beyond = energy_growth(1.01).unwrap();
        assert!(beyond > 1e6, "beyond the limit: {beyond}");
    }
}
