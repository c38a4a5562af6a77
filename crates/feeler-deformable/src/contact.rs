//! Penalty contact of two features: closest points, forces and potential.
//!
//! The crate documentation describes the model.

use crate::body::Body;
use crate::closest;
use crate::error::DeformableError;
use crate::state::NodalForces;
use crate::surface::Feature;
use crate::tree::TreeScope;
use feeler_geom::{P3, V3};

/// Squared sine of the angle below which the potential of two edges is reduced. A larger value weakens the
/// contact of edges that cross at small angles; a smaller value lets their forces vary faster.
const PARALLEL_SINE_SQ: f64 = 0.05;
/// Smallest allowed distance of two features relative to the thickness of both skins. A larger value refuses
/// more runs; a smaller value allows surfaces to pass through one another undetected in fast runs.
pub(crate) const MIN_SKIN_FRACTION: f64 = 0.1;

/// Parameters of the contact law and of the contact search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSettings {
    /// Stiffness k of each contact (N/mm), finite and positive. A larger value reduces the overlap of the
    /// skins and the stable time step.
    pub penalty: f64,
    /// Coefficient of friction, finite and at least 0.
    pub friction: f64,
    /// Sliding speed (mm/s), finite and positive, below which friction is proportional to the speed. A larger
    /// value makes contacts that should stick creep; a step Δt with friction F on a mass m is stable if this
    /// speed is above F Δt / m.
    pub slip_speed: f64,
    /// Whether sharp edges are in contact with sharp edges of other bodies. Without it, bodies whose edges
    /// cross penetrate one another until a corner touches a facet.
    pub edge_contacts: bool,
    /// Distance `ε_d` of the skins of two pieces (mm) up to which facets are searched for; at least 0,
    /// infinite to search the facets of all pairs in every step. A larger value builds trees earlier.
    pub activation: f64,
    /// Distance of the skins (mm), finite and positive, up to which pairs of features are collected. They
    /// are collected again when the two pieces have moved by this distance. A larger value makes the lists
    /// longer; a smaller value makes them shorter-lived.
    pub margin: f64,
    /// Features that share a tree. Forces do not depend on it.
    pub trees: TreeScope,
}

impl ContactSettings {
    /// Frictionless contact of facets and edges with the given penalty (N/mm) and margin of the search (mm).
    #[must_use]
    pub fn new(penalty: f64, margin: f64) -> Self {
        Self {
            penalty,
            friction: 0.0,
            slip_speed: 1.0,
            edge_contacts: true,
            activation: 0.0,
            margin,
            trees: TreeScope::default(),
        }
    }

    /// Checks the ranges that the fields state.
    pub(crate) fn check(&self) -> Result<(), DeformableError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let error = if !positive(self.penalty) {
            "the penalty must be finite and above 0 N/mm"
        } else if !(self.friction.is_finite() && self.friction >= 0.0) {
            "the coefficient of friction must be finite and at least 0"
        } else if !positive(self.slip_speed) {
            "the slip speed must be finite and above 0 mm/s"
        } else if self.activation.is_nan() || self.activation < 0.0 {
            "the activation distance must be at least 0 mm"
        } else if !positive(self.margin) {
            "the margin must be finite and above 0 mm"
        } else {
            return Ok(());
        };
        Err(DeformableError::Setting(error))
    }
}

/// Contact of two features with its forces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Indices of the two bodies, in ascending order, and of their features: the order in which contacts are
    /// summed, whatever pieces the bodies have.
    pub(crate) key: [u32; 4],
    /// Nodes of A, then of B; `counts` of each.
    nodes: [u32; 4],
    counts: [usize; 2],
    weights: [f64; 4],
    forces: [V3; 4],
    /// Friction on A (N).
    friction: V3,
    /// Points on the two skins (mm).
    at: [P3; 2],
    stiffness: f64,
    /// Potential energy (mJ).
    pub(crate) energy: f64,
    /// Overlap of the skins (mm).
    pub(crate) overlap: f64,
}

/// Coefficient of the potential of two features; `None` if they have no contact.
pub(crate) fn coefficient(a: &Feature, b: &Feature, edge_contacts: bool) -> Option<f64> {
    let weight = match (a.count, b.count) {
        (1, 1) => {
            // A sphere is a point without facets and has the weight 0.
            if a.is_sphere && b.is_sphere { 1.0 } else { a.weight + b.weight }
        }
        (1, _) => b.weight,
        (_, 1) => a.weight,
        (2, 2) if edge_contacts && a.is_sharp && b.is_sharp => 1.0,
        _ => 0.0,
    };
    (weight != 0.0).then_some(weight)
}

/// Feature of a sphere.
pub(crate) fn sphere_feature() -> Feature {
    Feature { count: 1, is_sphere: true, ..Feature::default() }
}

/// Computes the contact of two features of the bodies `pair`; `None` if their skins do not overlap.
pub(crate) fn contact(
    settings: &ContactSettings,
    bodies: [&Body; 2],
    key: [u32; 4],
    [a, b]: [&Feature; 2],
) -> Result<Option<Contact>, DeformableError> {
    let Some(weight) = coefficient(a, b, settings.edge_contacts) else { return Ok(None) };
    let mut weights = [0.0; 4];
    let mut points = [P3::origin(); 4];
    let mut nodes = [0; 4];
    let counts = [a.count, b.count];
    let features =
        a.nodes[..a.count].iter().map(|&n| (0, n)).chain(b.nodes[..b.count].iter().map(|&n| (1, n)));
    for (k, (side, node)) in features.enumerate() {
        nodes[k] = node;
        points[k] = bodies[side].nodes().positions[node as usize];
    }
    closest_weights(counts, &points, &mut weights);
    let sum =
        |range: std::ops::Range<usize>| range.fold(V3::zeros(), |s, k| s + points[k].coords * weights[k]);
    let on = [sum(0..a.count), sum(a.count..a.count + b.count)];
    let apart = on[0] - on[1];
    let distance = apart.norm();
    let skins = [bodies[0].skin(), bodies[1].skin()];
    let reach = skins[0] + skins[1];
    let overlap = reach - distance;
    if overlap <= 0.0 {
        return Ok(None);
    }
    if distance.is_nan() || distance < MIN_SKIN_FRACTION * reach {
        return Err(DeformableError::Crushed { pair: [key[0] as usize, key[1] as usize] });
    }
    let normal = apart / distance;
    let stiffness = weight * settings.penalty;
    let mut contact = Contact {
        key,
        nodes,
        counts,
        weights,
        forces: [V3::zeros(); 4],
        friction: V3::zeros(),
        at: [P3::from(on[0] - normal * skins[0]), P3::from(on[1] + normal * skins[1])],
        stiffness,
        energy: 0.5 * stiffness * overlap * overlap,
        overlap,
    };
    let force = normal * (stiffness * overlap);
    for (k, (f, weight)) in contact.forces.iter_mut().zip(weights).enumerate() {
        *f = force * if k < a.count { weight } else { -weight };
    }
    if counts == [2, 2] {
        contact.reduce_if_parallel(&points, a.length_sq * b.length_sq);
    }
    contact.add_friction(settings, bodies, &normal);
    Ok(Some(contact))
}

/// Computes the weights of the nodes in the closest points of two features; the nodes of A come first.
fn closest_weights(counts: [usize; 2], p: &[P3; 4], weights: &mut [f64; 4]) {
    match counts {
        [1, 2] => {
            let t = closest::point_segment(&p[0], &p[1], &p[2]);
            *weights = [1.0, 1.0 - t, t, 0.0];
        }
        [2, 1] => {
            let t = closest::point_segment(&p[2], &p[0], &p[1]);
            *weights = [1.0 - t, t, 1.0, 0.0];
        }
        [1, 3] => {
            let w = closest::point_triangle(&p[0], [&p[1], &p[2], &p[3]]);
            *weights = [1.0, w[0], w[1], w[2]];
        }
        [3, 1] => {
            let w = closest::point_triangle(&p[3], [&p[0], &p[1], &p[2]]);
            *weights = [w[0], w[1], w[2], 1.0];
        }
        [2, 2] => {
            let (s, t) = closest::segment_segment([&p[0], &p[1]], [&p[2], &p[3]]);
            *weights = [1.0 - s, s, 1.0 - t, t];
        }
        _ => *weights = [1.0, 1.0, 0.0, 0.0],
    }
}

impl Contact {
    /// Multiplies the potential of two edges by a factor m ≤ 1 that vanishes if the edges are parallel, and
    /// adds the forces of its gradient. m = q (2 − q), where q is the squared sine of the angle divided by
    /// [`PARALLEL_SINE_SQ`], at most 1. The sine refers to the lengths of the undeformed edges.
    fn reduce_if_parallel(&mut self, p: &[P3; 4], lengths_sq: f64) {
        let (u, v) = (p[1] - p[0], p[3] - p[2]);
        let cross = u.cross(&v);
        let scale = 1.0 / (lengths_sq * PARALLEL_SINE_SQ);
        let q = cross.norm_squared() * scale;
        if q >= 1.0 {
            return;
        }
        let factor = q * (2.0 - q);
        for force in &mut self.forces {
            *force *= factor;
        }
        let slope = self.energy * (2.0 - 2.0 * q) * 2.0 * scale;
        let (along_u, along_v) = (v.cross(&cross) * slope, cross.cross(&u) * slope);
        self.forces[0] += along_u;
        self.forces[1] -= along_u;
        self.forces[2] += along_v;
        self.forces[3] -= along_v;
        self.energy *= factor;
        self.stiffness *= factor;
    }

    fn add_friction(&mut self, settings: &ContactSettings, bodies: [&Body; 2], normal: &V3) {
        if settings.friction <= 0.0 {
            return;
        }
        let velocity = |side: usize| {
            let range = self.range(side);
            bodies[side].velocity_at(&self.nodes[range.clone()], &self.weights[range], &self.at[side])
        };
        let relative = velocity(0) - velocity(1);
        let sliding = relative - normal * relative.dot(normal);
        let speed = sliding.norm().max(settings.slip_speed);
        // Negative weights give negative friction, which cancels like the forces along the normal.
        self.friction = sliding * (-settings.friction * self.stiffness * self.overlap / speed);
    }

    fn range(&self, side: usize) -> std::ops::Range<usize> {
        if side == 0 { 0..self.counts[0] } else { self.counts[0]..self.counts[0] + self.counts[1] }
    }

    /// Forces on the nodes of A (side 0) or B (side 1).
    pub(crate) fn on_side(&self, side: usize) -> NodalForces<'_> {
        let range = self.range(side);
        NodalForces {
            nodes: &self.nodes[range.clone()],
            weights: &self.weights[range.clone()],
            forces: &self.forces[range],
            friction: if side == 0 { self.friction } else { -self.friction },
            at: self.at[side],
            stiffness: self.stiffness,
        }
    }
}
