//! Contacts of surfaces with smooth shapes: bounds of distances, minima and forces.
//!
//! The crate documentation describes the potential.

use super::minimum::{Field, SegmentMinimum};
use super::share::{Share, share};
use crate::body::Body;
use crate::contact::{ContactSettings, MIN_SKIN_FRACTION};
use crate::error::DeformableError;
use crate::shape::{SmoothShape, SurfacePoint};
use crate::state::{NodalForces, ShapeForces};
use feeler_geom::{P3, V3};
use std::collections::BTreeMap;

/// Relative increase of displacements in the update of bounds, for rounding. A larger value makes bounds
/// decrease faster; a value below 1e-15 could lose the guarantee.
const DISPLACEMENT_MARGIN: f64 = 1e-12;
/// Maximum number of probes along an edge. A larger value allows slow searches near shapes with a small
/// spacing of probes; a smaller value can miss narrow parts that such a spacing would find.
const MAX_PROBES: f64 = 200.0;

/// Nodes, edges and facets of the surface of a body.
#[derive(Clone, Debug)]
struct Surface {
    body: usize,
    /// Node indices of the body.
    nodes: Vec<u32>,
    /// Indices into `nodes`, in ascending order.
    edges: Vec<[u32; 2]>,
    facets: Vec<Facet>,
}

#[derive(Clone, Copy, Debug)]
struct Facet {
    /// Indices into the nodes of the surface.
    corners: [u32; 3],
    /// Indices of the edges from corner k to corner k + 1.
    edges: [u32; 3],
}

/// Shape of a rigid body.
#[derive(Clone, Debug)]
struct Part {
    body: usize,
    shape: Box<dyn SmoothShape>,
    is_removed: bool,
}

/// Surface and smooth shape of different bodies.
#[derive(Clone, Debug)]
struct Pair {
    surface: usize,
    part: usize,
    /// Lower bound (mm) of the distance of the skin of the surface from the shape; negative if they may
    /// overlap.
    bound: f64,
    /// Positions of the nodes in the frame of the shape (mm) in the last step.
    local: Vec<P3>,
    /// Positions in the frame of the shape with their signed distances, from the last evaluation of each
    /// node.
    evaluated: Vec<(P3, f64)>,
    /// Points of the surface in contact in the last step: nodes with their weights.
    touching: Vec<([u32; 3], [f64; 3])>,
}

/// State of an edge in one step.
#[derive(Clone, Copy, Debug, Default)]
struct EdgeState {
    minimum: Option<SegmentMinimum>,
    share: Share,
    /// Coefficient of the share in the potential, by which facets reduce it.
    coefficient: f64,
}

/// State of a facet in one step whose share is not 0.
#[derive(Clone, Copy, Debug)]
struct FacetState {
    facet: u32,
    weights: [f64; 3],
    at: SurfacePoint,
    share: Share,
}

/// Memory of one pair in one step.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Displacements of the nodes in the last step in the frame of the shape (mm), and their lengths.
    shifts: Vec<V3>,
    moved: Vec<f64>,
    /// Nearest surface point of each node, if it was evaluated.
    nearest: Vec<Option<SurfacePoint>>,
    /// Lower bounds of the signed distances of the nodes (mm).
    lower: Vec<f64>,
    /// Sum of the squared overlaps of each node (mm²), and its coefficient in the potential.
    nodes: Vec<[f64; 2]>,
    /// Surface points of the nodes in contact.
    minima: Vec<(u32, SurfacePoint)>,
    found: Vec<SurfacePoint>,
    edges: Vec<EdgeState>,
    facets: Vec<FacetState>,
}

/// All smooth shapes and the surfaces that can touch them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SmoothSearch {
    surfaces: Vec<Surface>,
    parts: Vec<Part>,
    pairs: Vec<Pair>,
    scratch: Scratch,
    /// Number of signed distances that were computed.
    pub(crate) evaluations: u64,
}

/// Contact of a point of a surface with a smooth shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmoothContact {
    /// Indices of the body with the surface and of the body with the shape.
    pub(crate) bodies: [usize; 2],
    nodes: [u32; 3],
    count: usize,
    weights: [f64; 3],
    forces: [V3; 3],
    /// Force on the surface without friction (N), and the friction on it.
    force: V3,
    friction: V3,
    /// Point of the facet, of the skin, and of the shape (mm).
    point: P3,
    on_skin: P3,
    foot: P3,
    stiffness: f64,
    /// Potential energy (mJ).
    pub(crate) energy: f64,
    /// Overlap of the skin and the shape (mm).
    pub(crate) overlap: f64,
}

impl Surface {
    fn new(body: usize, facets: &[[u32; 3]]) -> Self {
        let mut nodes: Vec<u32> = if facets.is_empty() { vec![0] } else { facets.concat() };
        nodes.sort_unstable();
        nodes.dedup();
        #[expect(clippy::cast_possible_truncation, reason = "there are at most 2³² nodes")]
        let local = |n: u32| nodes.partition_point(|&m| m < n) as u32;
        let mut edges: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        let facets: Vec<[u32; 3]> = facets.iter().map(|f| f.map(local)).collect();
        let key = |f: &[u32; 3], k: usize| {
            let (a, b) = (f[k], f[(k + 1) % 3]);
            [a.min(b), a.max(b)]
        };
        for f in &facets {
            (0..3).for_each(|k| _ = edges.insert(key(f, k), 0));
        }
        edges.values_mut().zip(0..).for_each(|(index, k)| *index = k);
        let facets =
            facets.iter().map(|f| Facet { corners: *f, edges: [0, 1, 2].map(|k| edges[&key(f, k)]) });
        Self { body, facets: facets.collect(), edges: edges.into_keys().collect(), nodes }
    }
}

impl SmoothSearch {
    /// Adds a body with the index `id`: its smooth shapes, or its surface if it has none.
    pub(crate) fn add(&mut self, id: usize, body: &Body) {
        let Some(shapes) = body.shapes() else {
            self.surfaces.push(Surface::new(id, body.facets()));
            let surface = self.surfaces.len() - 1;
            (0..self.parts.len()).for_each(|part| self.add_pair(surface, part));
            return;
        };
        for shape in shapes {
            self.parts.push(Part { body: id, shape: shape.clone(), is_removed: false });
            let part = self.parts.len() - 1;
            (0..self.surfaces.len()).for_each(|surface| self.add_pair(surface, part));
        }
    }

    /// Removes all pairs of the shapes of a body.
    pub(crate) fn remove(&mut self, body: usize) {
        self.parts.iter_mut().filter(|p| p.body == body).for_each(|p| p.is_removed = true);
        self.pairs.retain(|pair| !self.parts[pair.part].is_removed);
    }

    fn add_pair(&mut self, surface: usize, part: usize) {
        if self.parts[part].is_removed {
            return;
        }
        let evaluated = vec![(P3::origin(), f64::NEG_INFINITY); self.surfaces[surface].nodes.len()];
        let (bound, local, touching) = (f64::NEG_INFINITY, Vec::new(), Vec::new());
        self.pairs.push(Pair { surface, part, bound, local, evaluated, touching });
    }

    /// Discards the bounds and the last positions of a body whose nodes or shapes were moved from outside, so
    /// that the displacement does not count as fast.
    pub(crate) fn invalidate(&mut self, body: usize) {
        for pair in &mut self.pairs {
            if self.surfaces[pair.surface].body == body || self.parts[pair.part].body == body {
                pair.touching.clear();
                pair.local.clear();
                pair.bound = f64::NEG_INFINITY;
            }
        }
    }

    /// Appends the contacts of all pairs; `bodies` are in the positions of the step.
    pub(crate) fn contacts(
        &mut self,
        bodies: &[Body],
        settings: &ContactSettings,
        out: &mut Vec<SmoothContact>,
    ) -> Result<(), DeformableError> {
        out.clear();
        let Self { surfaces, parts, pairs, scratch, evaluations } = self;
        for pair in pairs {
            let (surface, part) = (&surfaces[pair.surface], &mut parts[pair.part]);
            let ids = [surface.body, part.body];
            if ids.iter().any(|&b| !bodies[b].is_fixed()) {
                let mut step = PairStep { ids, bodies, settings, surface, pair, part, scratch, evaluations };
                step.contacts(out)?;
            }
        }
        Ok(())
    }
}

/// One pair in one step.
struct PairStep<'a> {
    ids: [usize; 2],
    bodies: &'a [Body],
    settings: &'a ContactSettings,
    surface: &'a Surface,
    pair: &'a mut Pair,
    part: &'a mut Part,
    scratch: &'a mut Scratch,
    evaluations: &'a mut u64,
}

impl PairStep<'_> {
    fn contacts(&mut self, out: &mut Vec<SmoothContact>) -> Result<(), DeformableError> {
        let moved = self.update_positions();
        self.pair.bound -= 3.0 * moved * (1.0 + DISPLACEMENT_MARGIN);
        let is_fast = moved > self.max_moved();
        if is_fast && self.pair.touching.iter().any(|(k, w)| self.moved_at(k, w) > self.max_moved()) {
            return Err(self.too_fast());
        }
        self.pair.touching.clear();
        if self.pair.bound > if is_fast { self.settings.margin + moved } else { 0.0 } {
            return Ok(());
        }
        self.evaluate_near_nodes()?;
        if is_fast {
            self.check_fast_nodes()?;
        }
        self.find_nodes()?;
        self.find_edges()?;
        self.find_facets()?;
        if is_fast {
            self.check_fast_facets()?;
        }
        self.append(out)
    }

    /// Largest displacement (mm) in a step of points in contact.
    fn max_moved(&self) -> f64 {
        MIN_SKIN_FRACTION * self.skin()
    }

    fn is_fast(&self, node: u32) -> bool {
        self.scratch.moved[node as usize] > self.max_moved()
    }

    /// Displacement (mm) in the last step of the point with the given weights of nodes.
    fn moved_at(&self, nodes: &[u32; 3], weights: &[f64; 3]) -> f64 {
        let shifts = nodes.iter().map(|&k| self.scratch.shifts[k as usize]).zip(weights);
        shifts.fold(V3::zeros(), |sum, (shift, w)| sum + shift * *w).norm()
    }

    fn too_fast(&self) -> DeformableError {
        DeformableError::TooFast { pair: self.ids }
    }

    /// Fails if a fast node is near the shape or may have passed through it in this step.
    fn check_fast_nodes(&mut self) -> Result<(), DeformableError> {
        for (k, node) in (0..self.surface.nodes.len()).zip(0..) {
            let reach = self.skin() + self.settings.margin + self.scratch.moved[k];
            if self.is_fast(node) && self.scratch.lower[k] < reach {
                self.evaluate(k)?;
                if self.scratch.lower[k] < reach {
                    return Err(self.too_fast());
                }
            }
        }
        Ok(())
    }

    /// Fails if the shape may have passed through a facet with a fast node in this step: if the distance of
    /// the nearest point of the facet is below the thickness of the skin plus the displacement of this point.
    fn check_fast_facets(&mut self) -> Result<(), DeformableError> {
        for facet in &self.surface.facets {
            if !facet.corners.iter().any(|&k| self.is_fast(k)) {
                continue;
            }
            let moved = facet.corners.iter().map(|&k| self.scratch.moved[k as usize]).fold(0.0, f64::max);
            let reach = self.skin() + moved;
            if self.facet_bound(facet) > reach {
                continue;
            }
            facet.corners.iter().try_for_each(|&k| self.evaluate(k as usize))?;
            let corners = facet.corners.map(|k| k as usize);
            let points = corners.map(|k| self.pair.local[k]);
            if self.facet_bound(facet) > reach
                || self.is_excluded(&corners, reach)
                || self.is_far(&points, reach)?
            {
                continue;
            }
            let ends = corners.map(|k| self.scratch.nearest[k].unwrap_or_default());
            let longest = [0, 1, 2].map(|k| (points[(k + 1) % 3] - points[k]).norm());
            let spacing = self.spacing(longest.iter().copied().fold(0.0, f64::max));
            let failure = self.failure();
            let (shape, evaluations) = (&mut self.part.shape, &mut *self.evaluations);
            let nearest = |p: &P3| {
                *evaluations += 1;
                shape.nearest(p)
            };
            let mut field = Field { nearest, reach, spacing };
            let mut minima = [SegmentMinimum::default(); 3];
            for (k, minimum) in minima.iter_mut().enumerate() {
                let next = (k + 1) % 3;
                let found = field.on_segment([&points[k], &points[next]], [ends[k], ends[next]]);
                *minimum = found.ok_or(failure.clone())?;
            }
            let found = field.on_triangle([&points[0], &points[1], &points[2]], &minima);
            let (weights, at) = found.ok_or(failure)?;
            let moved = self.moved_at(&facet.corners, &weights);
            if moved > self.max_moved() && at.distance < self.skin() + moved {
                return Err(self.too_fast());
            }
        }
        Ok(())
    }

    fn skin(&self) -> f64 {
        self.bodies[self.ids[0]].skin()
    }

    fn failure(&self) -> DeformableError {
        DeformableError::SmoothDistance { pair: self.ids }
    }

    /// Updates the positions in the frame of the shape. Returns the largest displacement in this frame (mm).
    fn update_positions(&mut self) -> f64 {
        let [a, b] = self.ids.map(|b| &self.bodies[b]);
        let (Pair { local, .. }, positions) = (&mut *self.pair, &a.nodes().positions);
        let is_new = local.is_empty();
        local.resize(self.surface.nodes.len(), P3::origin());
        let Scratch { moved, shifts, .. } = &mut *self.scratch;
        moved.clear();
        shifts.clear();
        for (local, &n) in local.iter_mut().zip(&self.surface.nodes) {
            let new = b.to_shape(&positions[n as usize]);
            let shift = if is_new { V3::zeros() } else { new - *local };
            shifts.push(shift);
            moved.push(shift.norm());
            *local = new;
        }
        moved.iter().copied().fold(0.0, f64::max)
    }

    /// Evaluates the nodes that are in contact or belong to edges or facets that may be, and computes the
    /// bound of the pair.
    ///
    /// The distance d is a function with the slope 1 at most. On an edge of the length l, whose ends have the
    /// distances d₁ and d₂, it is at least (d₁ + d₂ − l)/2; on a facet it is at least the distance of a
    /// corner minus the length of the longer edge there. The bounds of edges and facets decrease by three
    /// times the displacement of their nodes at most.
    fn evaluate_near_nodes(&mut self) -> Result<(), DeformableError> {
        let skin = self.skin();
        let Scratch { nearest, lower, .. } = &mut *self.scratch;
        nearest.clear();
        nearest.resize(self.surface.nodes.len(), None);
        lower.clear();
        let evaluated = self.pair.local.iter().zip(&self.pair.evaluated);
        lower.extend(evaluated.map(|(p, (at, d))| d - (p - at).norm() * (1.0 + DISPLACEMENT_MARGIN)));
        for k in 0..self.surface.nodes.len() {
            if self.scratch.lower[k] <= skin {
                self.evaluate(k)?;
            }
        }
        for [a, b] in self.surface.edges.iter().map(|e| e.map(|k| k as usize)) {
            if self.edge_bound(a, b) <= skin {
                self.evaluate(a)?;
                self.evaluate(b)?;
            }
        }
        for facet in &self.surface.facets {
            if self.facet_bound(facet) <= skin {
                facet.corners.iter().try_for_each(|&k| self.evaluate(k as usize))?;
            }
        }
        let mut bound = self.scratch.lower.iter().copied().fold(f64::INFINITY, f64::min);
        for [a, b] in &self.surface.edges {
            bound = bound.min(self.edge_bound(*a as usize, *b as usize));
        }
        for facet in &self.surface.facets {
            bound = bound.min(self.facet_bound(facet));
        }
        self.pair.bound = bound - skin;
        Ok(())
    }

    fn evaluate(&mut self, k: usize) -> Result<(), DeformableError> {
        if self.scratch.nearest[k].is_none() {
            *self.evaluations += 1;
            let p = self.pair.local[k];
            let node = self.surface.nodes[k] as usize;
            let found = self.part.shape.nearest(&p).filter(|s| s.distance.is_finite());
            let found = found.ok_or(DeformableError::NodeDistance { pair: self.ids, node })?;
            self.pair.evaluated[k] = (p, found.distance);
            self.scratch.lower[k] = found.distance;
            self.scratch.nearest[k] = Some(found);
        }
        Ok(())
    }

    fn edge_bound(&self, a: usize, b: usize) -> f64 {
        let (local, lower) = (&self.pair.local, &self.scratch.lower);
        0.5 * (lower[a] + lower[b] - (local[a] - local[b]).norm())
    }

    fn facet_bound(&self, facet: &Facet) -> f64 {
        let corners = facet.corners.map(|k| k as usize);
        let p = corners.map(|k| self.pair.local[k]);
        let lengths = [0, 1, 2].map(|k| (p[(k + 1) % 3] - p[k]).norm());
        let bound = |k: usize| self.scratch.lower[corners[k]] - lengths[k].max(lengths[(k + 2) % 3]);
        bound(0).max(bound(1)).max(bound(2))
    }

    /// Computes all minima of the nodes in contact.
    fn find_nodes(&mut self) -> Result<(), DeformableError> {
        let (skin, failure) = (self.skin(), self.failure());
        let Scratch { nearest, nodes, minima, found, .. } = &mut *self.scratch;
        nodes.clear();
        nodes.resize(nearest.len(), [0.0, 1.0]);
        minima.clear();
        for (k, at) in (0..).zip(nearest.iter()) {
            let Some(at) = at.filter(|at| at.distance < skin) else { continue };
            if at.distance < MIN_SKIN_FRACTION * skin {
                return Err(DeformableError::Crushed { pair: self.ids });
            }
            found.clear();
            let p = &self.pair.local[k as usize];
            self.part.shape.minima(p, skin, at, found).ok_or(failure.clone())?;
            for m in found.iter().filter(|m| m.distance < skin) {
                let overlap = skin - m.distance;
                nodes[k as usize][0] += overlap * overlap;
                minima.push((k, *m));
            }
        }
        Ok(())
    }

    /// Computes the minimum of an edge.
    fn edge_minimum(&mut self, e: usize) -> Result<SegmentMinimum, DeformableError> {
        if let Some(minimum) = self.scratch.edges[e].minimum {
            return Ok(minimum);
        }
        let [a, b] = self.surface.edges[e].map(|k| k as usize);
        self.evaluate(a)?;
        self.evaluate(b)?;
        let (failure, reach) = (self.failure(), self.skin());
        let [Some(at_a), Some(at_b)] = [a, b].map(|k| self.scratch.nearest[k]) else { return Err(failure) };
        let [p, q] = [a, b].map(|k| &self.pair.local[k]);
        let spacing = self.spacing((p - q).norm());
        let (shape, evaluations) = (&mut self.part.shape, &mut *self.evaluations);
        let nearest = |p: &P3| {
            *evaluations += 1;
            shape.nearest(p)
        };
        let found = Field { nearest, reach, spacing }.on_segment([p, q], [at_a, at_b]).ok_or(failure)?;
        self.scratch.edges[e].minimum = Some(found);
        Ok(found)
    }

    fn spacing(&self, longest: f64) -> f64 {
        if self.is_convex() {
            return f64::INFINITY;
        }
        self.part.shape.probe_spacing().max(longest / MAX_PROBES)
    }

    fn find_edges(&mut self) -> Result<(), DeformableError> {
        let skin = self.skin();
        self.scratch.edges.clear();
        let none = EdgeState { coefficient: 1.0, ..EdgeState::default() };
        self.scratch.edges.resize(self.surface.edges.len(), none);
        for e in 0..self.surface.edges.len() {
            let [a, b] = self.surface.edges[e].map(|k| k as usize);
            let bound = skin - self.edge_bound(a, b);
            let border = self.scratch.nodes[a][0] + self.scratch.nodes[b][0];
            if bound <= 0.0 || border >= bound * bound || self.is_excluded(&[a, b], skin) {
                continue;
            }
            let overlap = skin - self.edge_minimum(e)?.at.distance;
            if overlap > 0.0 {
                self.check_crushed(overlap)?;
                self.scratch.edges[e].share = share(overlap * overlap, border);
            }
        }
        Ok(())
    }

    fn is_convex(&self) -> bool {
        self.part.shape.is_convex()
    }

    /// Whether the tangent plane of the distance at one of the nodes excludes distances up to `reach` between
    /// the nodes. The distance from a convex shape is not below such a plane.
    fn is_excluded(&self, nodes: &[usize], reach: f64) -> bool {
        let local = &self.pair.local;
        self.is_convex()
            && nodes.iter().any(|&k| {
                self.scratch.nearest[k].is_some_and(|at| {
                    let heights = nodes.iter().map(|&j| at.normal.dot(&(local[j] - local[k])));
                    at.distance + heights.fold(0.0, f64::min) > reach
                })
            })
    }

    /// Whether the distance of the centroid of a facet excludes distances up to `reach` inside it, for shapes
    /// that are not convex.
    fn is_far(&mut self, points: &[P3; 3], reach: f64) -> Result<bool, DeformableError> {
        if self.is_convex() {
            return Ok(false);
        }
        let centroid = P3::from(points.iter().fold(V3::zeros(), |sum, p| sum + p.coords) / 3.0);
        let radius = points.iter().map(|p| (p - centroid).norm()).fold(0.0, f64::max);
        *self.evaluations += 1;
        let at = self.part.shape.nearest(&centroid).ok_or(self.failure())?;
        Ok(at.distance - radius > reach)
    }

    fn check_crushed(&self, overlap: f64) -> Result<(), DeformableError> {
        let is_crushed = overlap > (1.0 - MIN_SKIN_FRACTION) * self.skin();
        if is_crushed { Err(DeformableError::Crushed { pair: self.ids }) } else { Ok(()) }
    }

    fn find_facets(&mut self) -> Result<(), DeformableError> {
        let skin = self.skin();
        self.scratch.facets.clear();
        for (index, facet) in (0..).zip(&self.surface.facets) {
            let bound = skin - self.facet_bound(facet);
            let Scratch { nodes, edges, .. } = &*self.scratch;
            let border = facet.corners.iter().fold(0.0, |sum, &k| sum + nodes[k as usize][0])
                + facet.edges.iter().fold(0.0, |sum, &e| sum + edges[e as usize].share.value);
            let corners = facet.corners.map(|k| k as usize);
            if bound <= 0.0 || border >= bound * bound || self.is_excluded(&corners, skin) {
                continue;
            }
            let points = corners.map(|k| self.pair.local[k]);
            if self.is_far(&points, skin)? {
                continue;
            }
            let mut minima = [SegmentMinimum::default(); 3];
            for (k, minimum) in minima.iter_mut().enumerate() {
                *minimum = self.edge_minimum(facet.edges[k] as usize)?;
                if facet.corners[k] > facet.corners[(k + 1) % 3] {
                    minimum.t = 1.0 - minimum.t;
                }
            }
            let longest = [0, 1, 2].map(|k| (points[(k + 1) % 3] - points[k]).norm());
            let spacing = self.spacing(longest.iter().copied().fold(0.0, f64::max));
            let failure = self.failure();
            let (shape, evaluations) = (&mut self.part.shape, &mut *self.evaluations);
            let nearest = |p: &P3| {
                *evaluations += 1;
                shape.nearest(p)
            };
            let mut field = Field { nearest, reach: skin, spacing };
            let (weights, at) =
                field.on_triangle([&points[0], &points[1], &points[2]], &minima).ok_or(failure)?;
            let overlap = skin - at.distance;
            if overlap > 0.0 && border < overlap * overlap {
                self.check_crushed(overlap)?;
                let share = share(overlap * overlap, border);
                self.scratch.facets.push(FacetState { facet: index, weights, at, share });
            }
        }
        Ok(())
    }

    /// Computes the coefficients of all shares in the gradient of the potential and appends the contacts.
    fn append(&mut self, out: &mut Vec<SmoothContact>) -> Result<(), DeformableError> {
        let Scratch { nodes, edges, facets, minima, .. } = &mut *self.scratch;
        let touching = &mut self.pair.touching;
        touching.extend(minima.iter().map(|m| ([m.0; 3], [1.0, 0.0, 0.0])));
        for state in facets.iter() {
            let Facet { corners, edges: sides } = self.surface.facets[state.facet as usize];
            touching.push((corners, state.weights));
            corners.iter().for_each(|&k| nodes[k as usize][1] += state.share.by_border);
            sides.iter().for_each(|&e| edges[e as usize].coefficient += state.share.by_border);
        }
        for (edge, state) in self.surface.edges.iter().zip(edges.iter()) {
            if let Some(minimum) = state.minimum.filter(|_| state.share.value > 0.0) {
                touching.push(([edge[0], edge[1], edge[1]], [1.0 - minimum.t, minimum.t, 0.0]));
            }
            let change = state.coefficient * state.share.by_border;
            edge.iter().for_each(|&k| nodes[k as usize][1] += change);
        }
        for k in 0..self.scratch.minima.len() {
            let (node, at) = self.scratch.minima[k];
            let overlap = self.skin() - at.distance;
            let coefficient = self.scratch.nodes[node as usize][1];
            out.push(self.contact(([node; 3], 1), [1.0, 0.0, 0.0], at, coefficient, overlap * overlap)?);
        }
        for e in 0..self.surface.edges.len() {
            let EdgeState { minimum, share, coefficient } = self.scratch.edges[e];
            let Some(SegmentMinimum { t, at }) = minimum.filter(|_| share.value > 0.0) else { continue };
            let [a, b] = self.surface.edges[e];
            let coefficient = coefficient * share.by_largest;
            out.push(self.contact(([a, b, b], 2), [1.0 - t, t, 0.0], at, coefficient, share.value)?);
        }
        for k in 0..self.scratch.facets.len() {
            let FacetState { facet, weights, at, share } = self.scratch.facets[k];
            let corners = self.surface.facets[facet as usize].corners;
            out.push(self.contact((corners, 3), weights, at, share.by_largest, share.value)?);
        }
        Ok(())
    }

    /// Contact at the point of the first `count` of `nodes` with the given weights, whose surface point is
    /// `at` (frame of the shape). Its potential is `share` times half of the penalty, with the derivative
    /// `coefficient` by the squared overlap.
    fn contact(
        &self,
        (nodes, count): ([u32; 3], usize),
        weights: [f64; 3],
        at: SurfacePoint,
        coefficient: f64,
        share: f64,
    ) -> Result<SmoothContact, DeformableError> {
        let [surface, shape] = self.ids.map(|b| &self.bodies[b]);
        let nodes = nodes.map(|k| self.surface.nodes[k as usize]);
        let positions = &surface.nodes().positions;
        let point = P3::from(
            (0..count).fold(V3::zeros(), |sum, k| sum + positions[nodes[k] as usize].coords * weights[k]),
        );
        let normal = shape.rotate_from_shape(&at.normal);
        let skin = self.skin();
        let overlap = skin - at.distance;
        let penalty = self.settings.penalty;
        let pressure = coefficient * penalty * overlap;
        let force = normal * pressure;
        let foot = point - normal * at.distance;
        let on_skin = point - normal * skin;
        if !force.iter().all(|c| c.is_finite()) {
            return Err(self.failure());
        }
        let mut contact = SmoothContact {
            bodies: self.ids,
            nodes,
            count,
            weights,
            forces: weights.map(|w| force * w),
            force,
            friction: V3::zeros(),
            point,
            on_skin,
            foot,
            stiffness: coefficient.abs() * penalty,
            energy: 0.5 * penalty * share,
            overlap,
        };
        if self.settings.friction > 0.0 {
            let on_surface = surface.velocity_at(&nodes[..count], &weights[..count], &on_skin);
            let relative = on_surface - shape.velocity_at(&[], &[], &foot);
            let sliding = relative - normal * relative.dot(&normal);
            let speed = sliding.norm().max(self.settings.slip_speed);
            // Negative coefficients give negative friction, which cancels like the forces along the normal.
            contact.friction = sliding * (-self.settings.friction * pressure / speed);
        }
        Ok(contact)
    }
}

impl SmoothContact {
    /// Forces on the nodes of the surface.
    pub(crate) fn on_surface(&self) -> NodalForces<'_> {
        NodalForces {
            nodes: &self.nodes[..self.count],
            weights: &self.weights[..self.count],
            forces: &self.forces[..self.count],
            friction: self.friction,
            at: self.on_skin,
            stiffness: self.stiffness,
        }
    }

    /// Forces on the body with the shape.
    pub(crate) fn on_shape(&self) -> ShapeForces {
        ShapeForces {
            force: -self.force,
            at: self.point,
            friction: -self.friction,
            foot: self.foot,
            stiffness: self.stiffness,
        }
    }
}
