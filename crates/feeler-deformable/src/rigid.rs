//! Rigid bodies with facets or a spherical surface: fixed, prescribed or free.

use crate::error::DeformableError;
use crate::shape::SmoothShape;
use crate::state::{NodalForces, NodeState, ShapeForces};
use feeler_geom::{P3, Pose, V3, math};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion};

/// Mass and inertia of a body that moves freely.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inertia {
    /// Mass (t).
    mass: f64,
    /// Inverse of the inertia about the centre in the body frame (1/(t·mm²)).
    inverse: Matrix3<f64>,
    /// Upper bound of the eigenvalues of `inverse`.
    max_inverse: f64,
}

/// Response of a body to forces, for the estimate of the stable step.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mobility {
    /// Inverse of the mass (1/t).
    inverse_mass: f64,
    /// Upper bound of the eigenvalues of the inverse inertia about the centre (1/(t·mm²)).
    max_inverse_inertia: f64,
}

impl Mobility {
    /// Estimated squared frequency (1/s²) of a contact of stiffness 1 N/mm at the distance `arm` (mm) from
    /// the centre.
    fn unit_rate(&self, arm: f64) -> f64 {
        2.0 * (self.inverse_mass + arm * arm * self.max_inverse_inertia)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RigidMotion {
    /// Constant velocities; zero for fixed bodies.
    Prescribed {
        angular_velocity: V3,
    },
    Free {
        inertia: Inertia,
        angular_momentum: V3,
    },
    /// Pose at the end of the next step, with the velocities there.
    Path {
        center: P3,
        rotation: UnitQuaternion<f64>,
        velocity: V3,
        angular_velocity: V3,
        /// Whether the body has not reached the pose.
        is_pending: bool,
    },
}

/// Rigid body with a surface of triangles, a sphere, or a body of exact shape ([`RigidBody::smooth`]). It is
/// fixed until [`RigidBody::prescribe`], [`RigidBody::move_to`] or [`RigidBody::set_free`] is called.
#[derive(Clone, Debug)]
pub struct RigidBody {
    /// Positions of the nodes relative to the centre in the body frame (mm).
    local: Vec<V3>,
    facets: Vec<[u32; 3]>,
    /// Smooth shapes. Simulations evaluate copies of them.
    shapes: Vec<Box<dyn SmoothShape>>,
    is_smooth: bool,
    /// Point in the frame of the shapes that is at `center`.
    shape_center: V3,
    /// Radius of a ball around the origin of the shapes' frame that contains them (mm).
    shape_radius: f64,
    skin: f64,
    center: P3,
    rotation: UnitQuaternion<f64>,
    velocity: V3,
    motion: RigidMotion,
    force: V3,
    torque: V3,
    /// Estimated squared frequency of the contacts (1/s²).
    contact_rate: f64,
    /// Mobility of a body whose motion another program integrates.
    external: Option<Mobility>,
    pub(crate) nodes: NodeState,
}

impl RigidBody {
    /// Creates a fixed body from the positions of its nodes (mm) and triangles with outward normals. The
    /// contact surface is offset from the triangles by the thickness `skin` (mm).
    ///
    /// # Errors
    /// The list of triangles is empty, a node index does not exist, a node belongs to no triangle, or a
    /// number is not valid.
    pub fn new(nodes: Vec<P3>, facets: Vec<[u32; 3]>, skin: f64) -> Result<Self, DeformableError> {
        if facets.is_empty() {
            return Err(DeformableError::Empty);
        }
        let count = nodes.len();
        let mut used = vec![false; count];
        for &node in facets.iter().flatten() {
            let node = node as usize;
            *used.get_mut(node).ok_or(DeformableError::UnknownNode { node, count })? = true;
        }
        if let Some(node) = used.iter().position(|u| !u) {
            return Err(DeformableError::UnusedNode { node });
        }
        Self::with_nodes(nodes, facets, skin)
    }

    /// Creates a fixed sphere (mm).
    ///
    /// # Errors
    /// The radius is not finite and positive, or the centre is not finite.
    pub fn sphere(center: P3, radius: f64) -> Result<Self, DeformableError> {
        Self::with_nodes(vec![center], Vec::new(), radius)
    }

    /// Creates a fixed body of exact shape, without triangles, in a pose that maps the frame of its shapes to
    /// the common frame. It has contacts with the surfaces of deformable bodies, of rigid bodies with
    /// triangles and with spheres, whose skins carry them, but not with other bodies of exact shape. Several
    /// shapes are the parts of one body: each has contacts of its own, as the spheres of a clump.
    ///
    /// # Errors
    /// The list of shapes is empty, or the pose is not finite.
    pub fn smooth(shapes: Vec<Box<dyn SmoothShape>>, pose: &Pose) -> Result<Self, DeformableError> {
        if shapes.is_empty() {
            return Err(DeformableError::Empty);
        }
        check_pose(&pose.translation.vector.into(), &pose.rotation)?;
        let shape_radius = shapes.iter().map(|s| s.radius()).fold(0.0, f64::max);
        Ok(Self {
            shapes,
            is_smooth: true,
            shape_radius,
            ..Self::at_rest(pose.translation.vector.into(), pose.rotation, Vec::new())
        })
    }

    /// Fixed body at rest without facets and shapes, with its centre (mm), rotation and nodes (mm) in space.
    fn at_rest(center: P3, rotation: UnitQuaternion<f64>, nodes: Vec<P3>) -> Self {
        Self {
            local: Vec::new(),
            facets: Vec::new(),
            shapes: Vec::new(),
            is_smooth: false,
            shape_center: V3::zeros(),
            shape_radius: 0.0,
            skin: 0.0,
            center,
            rotation,
            velocity: V3::zeros(),
            motion: RigidMotion::Prescribed { angular_velocity: V3::zeros() },
            force: V3::zeros(),
            torque: V3::zeros(),
            contact_rate: 0.0,
            external: None,
            nodes: NodeState::at_rest(nodes),
        }
    }

    fn with_nodes(nodes: Vec<P3>, facets: Vec<[u32; 3]>, skin: f64) -> Result<Self, DeformableError> {
        if !(skin.is_finite() && skin > 0.0) {
            return Err(DeformableError::Skin(skin));
        }
        if let Some(node) = nodes.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
            return Err(DeformableError::NotFinite { node });
        }
        let n = u32::try_from(nodes.len()).map_err(|_| DeformableError::TooLarge)?;
        let center = P3::from(nodes.iter().fold(V3::zeros(), |s, p| s + p.coords) / f64::from(n));
        Ok(Self {
            local: nodes.iter().map(|p| p - center).collect(),
            facets,
            skin,
            ..Self::at_rest(center, UnitQuaternion::identity(), nodes)
        })
    }

    /// Lets the body move freely. The mass follows from the density (t/mm³) and the volume inside the
    /// triangles or the sphere; skins of facetted bodies have no mass. All points keep their velocities.
    ///
    /// # Errors
    /// The density is not finite and positive, the triangles do not enclose a positive volume, or the body
    /// has an exact shape, whose mass [`RigidBody::set_free_with_inertia`] takes.
    pub fn set_free(&mut self, density: f64) -> Result<(), DeformableError> {
        if !(density.is_finite() && density > 0.0) {
            return Err(DeformableError::Density(density));
        }
        if self.is_smooth {
            return Err(DeformableError::Inertia);
        }
        let (volume, center, second) = if self.facets.is_empty() {
            let volume = 4.0 / 3.0 * std::f64::consts::PI * self.skin * self.skin * self.skin;
            (volume, V3::zeros(), Matrix3::identity() * (0.2 * volume * self.skin * self.skin))
        } else {
            self.volume_moments()
        };
        let inertia = (Matrix3::identity() * second.trace() - second) * density;
        let inverse = inertia.try_inverse().filter(|i| i.iter().all(|c| c.is_finite()));
        let valid = volume.is_finite() && volume > 0.0;
        let inverse = inverse.filter(|_| valid).ok_or(DeformableError::OpenSurface)?;
        let angular_velocity = self.angular_velocity();
        for p in &mut self.local {
            *p -= center;
        }
        let arm = self.rotation * center;
        self.center += arm;
        let inertia = Inertia { mass: density * volume, inverse, max_inverse: inverse.norm() };
        self.motion = RigidMotion::Free { inertia, angular_momentum: V3::zeros() };
        self.set_velocity(self.velocity + angular_velocity.cross(&arm), angular_velocity)
    }

    /// Lets the body move freely with a mass (t), a centre of mass (mm) and an inertia tensor (t·mm²) about
    /// it. The centre and the tensor are in the frame of an exact shape; for other bodies, they are in the
    /// frame whose origin is [`RigidBody::center`] and whose axes turn with the body. All points keep their
    /// velocities.
    ///
    /// # Errors
    /// The mass is not finite and positive, the centre is not finite, or the tensor is not symmetric and
    /// positive definite.
    pub fn set_free_with_inertia(
        &mut self,
        mass: f64,
        center: P3,
        tensor: Matrix3<f64>,
    ) -> Result<(), DeformableError> {
        let is_finite = mass.is_finite() && center.iter().chain(tensor.iter()).all(|c| c.is_finite());
        let is_symmetric = (tensor - tensor.transpose()).amax() <= 1e-9 * tensor.amax();
        let inverse = tensor.cholesky().map(|c| c.inverse());
        let inverse = inverse.filter(|i| mass > 0.0 && is_finite && is_symmetric && i.norm().is_finite());
        let inverse = inverse.ok_or(DeformableError::Inertia)?;
        let angular_velocity = self.angular_velocity();
        let shift = center.coords - self.shape_center;
        self.local.iter_mut().for_each(|p| *p -= shift);
        self.shape_center += if self.is_smooth { shift } else { V3::zeros() };
        let arm = self.rotation * shift;
        self.center += arm;
        let inertia = Inertia { mass, inverse, max_inverse: inverse.norm() };
        self.motion = RigidMotion::Free { inertia, angular_momentum: V3::zeros() };
        self.set_velocity(self.velocity + angular_velocity.cross(&arm), angular_velocity)
    }

    /// Sets the mass (t) and the smallest principal moment of inertia about the centre (t·mm²) of a body with
    /// a prescribed motion that another program computes from the contact forces. They affect the estimate of
    /// the stable step only.
    ///
    /// # Errors
    /// A number is not finite and positive.
    pub fn set_external_inertia(&mut self, mass: f64, min_moment: f64) -> Result<(), DeformableError> {
        let (inverse_mass, max_inverse_inertia) = (1.0 / mass, 1.0 / min_moment);
        let is_valid =
            [mass, min_moment, inverse_mass, max_inverse_inertia].iter().all(|x| x.is_finite() && *x > 0.0);
        if !is_valid {
            return Err(DeformableError::Inertia);
        }
        self.external = Some(Mobility { inverse_mass, max_inverse_inertia });
        Ok(())
    }

    /// Volume (mm³), its centre, and its central second moments ∫ x xᵀ dV (mm⁵), in the body frame.
    fn volume_moments(&self) -> (f64, V3, Matrix3<f64>) {
        let (mut volume, mut first, mut second) = (0.0, V3::zeros(), Matrix3::zeros());
        for facet in &self.facets {
            let [a, b, c] = facet.map(|n| self.local[n as usize]);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += v;
            first += sum * (0.25 * v);
            let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += (squares + sum * sum.transpose()) * (0.05 * v);
        }
        let center = first / volume;
        (volume, center, second - center * center.transpose() * volume)
    }

    /// Prescribes constant velocities: the velocity of the centre (mm/s) and the angular velocity (rad/s).
    ///
    /// # Errors
    /// A velocity is not finite.
    pub fn prescribe(&mut self, velocity: V3, angular_velocity: V3) -> Result<(), DeformableError> {
        check_finite(&velocity, &angular_velocity)?;
        self.motion = RigidMotion::Prescribed { angular_velocity };
        self.velocity = velocity;
        self.update_nodes(None);
        Ok(())
    }

    /// Prescribes the pose at the end of the next step: the position of the centre (mm) and the rotation,
    /// with the velocity of the centre (mm/s) and the angular velocity (rad/s) there. In later steps, the
    /// body rests there until the next call. A path is prescribed by a call before every step, best by
    /// [`Simulation::move_rigid`](crate::Simulation::move_rigid).
    ///
    /// # Errors
    /// A number is not finite.
    pub fn move_to(
        &mut self,
        center: P3,
        rotation: UnitQuaternion<f64>,
        velocity: V3,
        angular_velocity: V3,
    ) -> Result<(), DeformableError> {
        check_pose(&center, &rotation)?;
        check_finite(&velocity, &angular_velocity)?;
        self.motion = RigidMotion::Path { center, rotation, velocity, angular_velocity, is_pending: true };
        Ok(())
    }

    /// Sets the velocity of the centre (mm/s) and the angular velocity (rad/s); later velocities follow from
    /// the forces if the body moves freely. On a path, these are the velocities at the end of the next step,
    /// and a body that has reached its last pose rests from then on.
    ///
    /// # Errors
    /// A velocity is not finite, or the inertia is singular.
    pub fn set_velocity(&mut self, velocity: V3, angular_velocity: V3) -> Result<(), DeformableError> {
        check_finite(&velocity, &angular_velocity)?;
        self.velocity = velocity;
        match &mut self.motion {
            RigidMotion::Prescribed { angular_velocity: old } => *old = angular_velocity,
            RigidMotion::Path { velocity: at_end, angular_velocity: old, .. } => {
                (*at_end, *old) = (velocity, angular_velocity);
            }
            RigidMotion::Free { inertia, angular_momentum } => {
                let inertia = inertia.inverse.try_inverse().ok_or(DeformableError::OpenSurface)?;
                let local = self.rotation.inverse() * angular_velocity;
                *angular_momentum = self.rotation * (inertia * local);
            }
        }
        self.update_nodes(None);
        Ok(())
    }

    /// Position of the centre (mm): the centre of mass of a free body, otherwise the mean of the nodes, or
    /// the origin of the frame of an exact shape.
    #[must_use]
    pub fn center(&self) -> P3 {
        self.center
    }

    /// Rotation from the orientation at creation; of an exact shape, from its frame.
    #[must_use]
    pub fn rotation(&self) -> UnitQuaternion<f64> {
        self.rotation
    }

    /// Velocity of the centre (mm/s).
    #[must_use]
    pub fn velocity(&self) -> V3 {
        self.velocity
    }

    /// Angular velocity (rad/s) in the common frame.
    #[must_use]
    pub fn angular_velocity(&self) -> V3 {
        self.angular_velocity_at(&self.rotation)
    }

    fn angular_velocity_at(&self, rotation: &UnitQuaternion<f64>) -> V3 {
        match &self.motion {
            RigidMotion::Prescribed { angular_velocity } | RigidMotion::Path { angular_velocity, .. } => {
                *angular_velocity
            }
            RigidMotion::Free { inertia, angular_momentum } => {
                rotation * (inertia.inverse * (rotation.inverse() * angular_momentum))
            }
        }
    }

    /// Positions of the nodes (mm).
    #[must_use]
    pub fn positions(&self) -> &[P3] {
        &self.nodes.positions
    }

    /// Node indices of the triangles.
    #[must_use]
    pub fn facets(&self) -> &[[u32; 3]] {
        &self.facets
    }

    /// Distance of the contact surface from the triangles, or the radius of a sphere (mm); 0 for an exact
    /// shape.
    #[must_use]
    pub fn skin(&self) -> f64 {
        self.skin
    }

    /// Mass (t); `None` if the motion is prescribed.
    #[must_use]
    pub fn mass(&self) -> Option<f64> {
        match &self.motion {
            RigidMotion::Prescribed { .. } | RigidMotion::Path { .. } => None,
            RigidMotion::Free { inertia, .. } => Some(inertia.mass),
        }
    }

    /// Resultant of gravity and contact forces after the last step (N); contact forces only if the motion is
    /// prescribed.
    #[must_use]
    pub fn force(&self) -> V3 {
        self.force
    }

    /// Resultant torque of contact forces about [`RigidBody::center`] after the last step (N·mm).
    #[must_use]
    pub fn torque(&self) -> V3 {
        self.torque
    }

    /// Kinetic energy (mJ); 0 if the motion is prescribed.
    #[must_use]
    pub fn kinetic_energy(&self) -> f64 {
        match &self.motion {
            RigidMotion::Prescribed { .. } | RigidMotion::Path { .. } => 0.0,
            RigidMotion::Free { inertia, angular_momentum } => {
                let translation = inertia.mass * self.velocity.norm_squared();
                0.5 * (translation + angular_momentum.dot(&self.angular_velocity()))
            }
        }
    }

    /// Linear momentum (N·s); 0 if the motion is prescribed.
    #[must_use]
    pub fn momentum(&self) -> V3 {
        self.velocity * self.mass().unwrap_or(0.0)
    }

    /// Angular momentum about the origin (N·mm·s); 0 if the motion is prescribed.
    #[must_use]
    pub fn angular_momentum(&self) -> V3 {
        match &self.motion {
            RigidMotion::Prescribed { .. } | RigidMotion::Path { .. } => V3::zeros(),
            RigidMotion::Free { angular_momentum, .. } => {
                angular_momentum + self.center.coords.cross(&self.momentum())
            }
        }
    }

    /// Whether the resultant force and torque are finite.
    pub(crate) fn has_finite_forces(&self) -> bool {
        self.force.iter().chain(self.torque.iter()).all(|c| c.is_finite())
    }

    /// Whether the body stands still whatever the forces are.
    pub(crate) fn is_fixed(&self) -> bool {
        let still = RigidMotion::Prescribed { angular_velocity: V3::zeros() };
        self.motion == still && self.velocity == V3::zeros()
    }

    pub(crate) fn reset_forces(&mut self, gravity: &V3) {
        self.force = gravity * self.mass().unwrap_or(0.0);
        self.torque = V3::zeros();
        self.contact_rate = 0.0;
    }

    pub(crate) fn kick_and_drift(&mut self, step: f64) {
        if let RigidMotion::Path { center, rotation, velocity, angular_velocity, is_pending } =
            &mut self.motion
        {
            if !*is_pending {
                (*velocity, *angular_velocity) = (V3::zeros(), V3::zeros());
            }
            *is_pending = false;
            (self.center, self.rotation, self.velocity) = (*center, *rotation, *velocity);
            self.update_nodes(Some(step));
            return;
        }
        self.kick(step);
        // The angular velocity at the middle of the step makes the rotation second-order accurate.
        let middle = rotation_by(self.angular_velocity() * (0.5 * step)) * self.rotation;
        let turn = rotation_by(self.angular_velocity_at(&middle) * step);
        self.rotation = UnitQuaternion::new_normalize((turn * self.rotation).into_inner());
        self.center += self.velocity * step;
        self.update_nodes(Some(step));
    }

    /// Half of the change of the velocities in a step.
    pub(crate) fn kick(&mut self, step: f64) {
        if let RigidMotion::Free { inertia, angular_momentum } = &mut self.motion {
            self.velocity += self.force * (0.5 * step / inertia.mass);
            *angular_momentum += self.torque * (0.5 * step);
        }
    }

    /// Updates positions and velocities of the nodes, and their displacements if `step` is given.
    fn update_nodes(&mut self, step: Option<f64>) {
        let angular_velocity = self.angular_velocity();
        for (i, local) in self.local.iter().enumerate() {
            let arm = self.rotation * local;
            self.nodes.velocities[i] = self.velocity + angular_velocity.cross(&arm);
            if step.is_some() {
                let new = self.center + arm;
                self.nodes.moved[i] = (new - self.nodes.positions[i]).norm();
                self.nodes.positions[i] = new;
            }
        }
    }

    /// Velocity (mm/s) of the point of the body at `at`.
    pub(crate) fn velocity_at(&self, at: &P3) -> V3 {
        self.velocity + self.angular_velocity().cross(&(at - self.center))
    }

    pub(crate) fn add_contact(&mut self, contact: &NodalForces<'_>) {
        for (&node, force) in contact.nodes.iter().zip(contact.forces) {
            let arm = self.nodes.positions[node as usize] - self.center;
            self.force += force;
            self.torque += arm.cross(force);
        }
        let arm = contact.at - self.center;
        self.force += contact.friction;
        self.torque += arm.cross(&contact.friction);
        self.add_contact_rate(&arm, contact.stiffness);
    }

    /// Smooth shapes; `None` for spheres and bodies of triangles.
    pub(crate) fn shapes(&self) -> Option<&[Box<dyn SmoothShape>]> {
        self.is_smooth.then_some(&self.shapes)
    }

    /// Removes the smooth shapes, so that the body has no contacts.
    pub(crate) fn remove_shapes(&mut self) {
        self.shapes.clear();
        self.shape_radius = 0.0;
        self.external = None;
    }

    /// Mobility of a free body, or of one that another program moves.
    fn mobility(&self) -> Option<Mobility> {
        match &self.motion {
            RigidMotion::Prescribed { .. } | RigidMotion::Path { .. } => self.external,
            RigidMotion::Free { inertia, .. } => {
                Some(Mobility { inverse_mass: 1.0 / inertia.mass, max_inverse_inertia: inertia.max_inverse })
            }
        }
    }

    /// Transforms a point of the common frame into the frame of the shapes.
    pub(crate) fn to_shape(&self, p: &P3) -> P3 {
        P3::from(self.rotation.inverse_transform_vector(&(p - self.center)) + self.shape_center)
    }

    pub(crate) fn add_smooth_contact(&mut self, contact: &ShapeForces) {
        let (arm, foot_arm) = (contact.at - self.center, contact.foot - self.center);
        self.force += contact.force + contact.friction;
        self.torque += arm.cross(&contact.force) + foot_arm.cross(&contact.friction);
        // Both points are on the line of the force, and the foot is on the body.
        self.add_contact_rate(&foot_arm, contact.stiffness);
    }

    fn add_contact_rate(&mut self, arm: &V3, stiffness: f64) {
        if let Some(mobility) = self.mobility() {
            self.contact_rate += stiffness * mobility.unit_rate(arm.norm());
        }
    }

    /// Estimated squared frequency of the contacts added since the forces were reset (1/s²).
    pub(crate) fn contact_rate(&self) -> f64 {
        self.contact_rate
    }

    /// Estimated squared frequency (1/s²) of one contact of stiffness 1 N/mm at the farthest node.
    pub(crate) fn unit_contact_rate(&self) -> f64 {
        let Some(mobility) = self.mobility() else { return 0.0 };
        let of_nodes = self.local.iter().map(|p| p.norm()).fold(0.0, f64::max) + self.skin;
        let of_shapes = if self.is_smooth { self.shape_radius + self.shape_center.norm() } else { 0.0 };
        mobility.unit_rate(of_nodes.max(of_shapes))
    }
}

fn check_finite(velocity: &V3, angular_velocity: &V3) -> Result<(), DeformableError> {
    let finite = velocity.iter().chain(angular_velocity.iter()).all(|c| c.is_finite());
    if finite { Ok(()) } else { Err(DeformableError::VelocityNotFinite) }
}

fn check_pose(center: &P3, rotation: &UnitQuaternion<f64>) -> Result<(), DeformableError> {
    let finite = center.iter().chain(rotation.coords.iter()).all(|c| c.is_finite());
    if finite { Ok(()) } else { Err(DeformableError::Pose) }
}

/// Rotation by a vector (rad).
fn rotation_by(vector: V3) -> UnitQuaternion<f64> {
    let angle = vector.norm();
    let (sin, cos) = math::sin_cos(0.5 * angle);
    let axis = if angle > 0.0 { vector * (sin / angle) } else { V3::zeros() };
    UnitQuaternion::new_normalize(Quaternion::from_parts(cos, axis))
}
