//! Contacts of superellipsoids and poly-superellipsoids with places of a wall: faces, edges, vertices or
//! areas of them.
//!
//! A particle is given by its support point `s(m)`: the point farthest along a direction `m`, which is its
//! outward normal there. Against a face, the signed distance of `s(m)` from the face's surface is
//! minimised; its gradient is `-m` at the minimum. Against a point `q` of an edge or a vertex, `s(m) + g m
//! = q` is solved: `g` is the signed distance of `q` from the particle, which has a single minimum along a
//! straight edge.
//!
//! # Source
//! POLY §3.5.2 (support points), MATH §21.
//!
//! # Guarantees
//! A reported contact solves its equations to [`CONVERGED`] of the particle's size. Searches start from
//! sampled directions: among several minima on one curved face, a minimum that no start leads to is missed.

use super::WallError;
use crate::contact::WallContact;
use arrayvec::ArrayVec;
use feeler_convex::{PolySuperellipsoid, Superellipsoid as Symmetric, Support};
use feeler_geom::frame::complete_basis;
use feeler_geom::{Curve, P3, Pose, V3, math};
use feeler_grains::convex as grains;
use feeler_hierarchy::{EdgeId, Feature, VertexId};
use feeler_runtime::{
    Boundary, NearPart, feature_id, held_curvatures, is_in_edge_polar, is_in_vertex_polar, surface_foot,
};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion};

/// A particle that is a superellipsoid: |x/a|^{2/ε₁} + |y/b|^{2/ε₁}, to the power ε₁/ε₂, plus |z/c|^{2/ε₂},
/// at most 1, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SuperellipsoidParticle {
    /// Centre (mm, world).
    pub center: P3,
    /// Rotation from the particle's own frame to the world.
    pub orientation: UnitQuaternion<f64>,
    /// Semi-axes a, b, c (mm), above 0.
    pub semi: V3,
    /// Exponents ε₁ (around z) and ε₂ (along z), each in [0.1, 1.9]: the shape approaches a box near 0
    /// and an octahedron near 2, and is an ellipsoid at 1.
    pub exponents: [f64; 2],
}

/// Scratch buffer for the contacts of one particle.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    found: Vec<Found>,
}

/// A contact with a feature of the wall.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Contact point on the feature of the wall (wall's frame).
    point: P3,
    /// Unit normal of the contact at `point`, from the wall to the particle.
    normal: V3,
    gap: f64,
    curvatures: [f64; 2],
    feature: Feature,
    id: u64,
}

/// Maximum residual of the equations of a contact. For a contact with an edge or a vertex it is a length
/// divided by the particle's radius; for a contact with a face it is the distance between two unit
/// normals. With a larger value contacts are inexact; with a smaller one contacts of box-like particles
/// are lost.
const CONVERGED: f64 = 1e-9;

/// Maximum number of steps of a solve by Newton's method or regula falsi. A contact whose solve needs
/// more is not found.
const MAX_STEPS: usize = 60;

/// Rotation (rad) of a direction in difference quotients, by which support points are differentiated.
/// Larger steps make Newton steps inexact; smaller ones make them noisy.
const DIFFERENCE_STEP: f64 = 1e-6;

/// Number of equal intervals of a curved edge's parameter; each is searched for one contact. With more
/// intervals the search is slower; with fewer ones contacts that are close to each other are missed.
const EDGE_SAMPLES: u32 = 16;

/// Number of equal intervals of the angle around an edge; each is searched for one direction of a
/// contact. With more intervals the search is slower; with fewer ones a direction may be missed.
const ANGLE_SAMPLES: u32 = 8;

/// Angle (rad) by which the range of directions that is searched extends beyond the polar of an edge on
/// both sides. A larger value takes more time; with a smaller one contacts at the ends of the polar are
/// lost.
const POLAR_MARGIN: f64 = 0.2;

/// Minimum cosine of the angle between two sampled directions at which they count as neighbours. With a
/// larger value more samples are local minima, from each of which a search starts; with a smaller one
/// contacts are lost.
const NEIGHBOUR_COS: f64 = 0.55;

/// Distance between the points of two contacts of a particle with a wall up to which they count as one
/// contact, as a multiple of the particle's maximum radius. Contacts on different features of the wall must
/// also have almost equal normals. A larger value merges contacts of small features; with a smaller one
/// contacts are reported twice.
const SAME_CONTACT: f64 = 1e-5;

/// A superellipsoid or poly-superellipsoid in the frame of the wall.
#[derive(Debug)]
pub(super) struct LocalSuperellipsoid {
    shape: PolySuperellipsoid,
    /// Thickness (mm) of the particle's layer around `shape`; 0 without a layer.
    layer: f64,
    rotation: Matrix3<f64>,
    /// Origin of the shape's coordinates (wall's frame), a point inside the shape.
    center: P3,
    /// Maximum distance (mm) of a point of the particle, layer included, from `center`.
    radius: f64,
}

/// Directions from the centre of a cube to its face centres, edge midpoints and vertices, not
/// normalised.
const DIRECTIONS: [[f64; 3]; 26] = {
    let mut out = [[0.0; 3]; 26];
    let (mut i, mut n) = (0, 0);
    while i < 27 {
        if i != 13 {
            out[n] = [(i % 3) as f64 - 1.0, (i / 3 % 3) as f64 - 1.0, (i / 9) as f64 - 1.0];
            n += 1;
        }
        i += 1;
    }
    out
};

impl SuperellipsoidParticle {
    /// Creates a superellipsoid from its centre (mm, world), the quaternion x, y, z, w (of any length
    /// but 0) that rotates from its own frame to the world, its semi-axes (mm) and exponents. Invalid
    /// numbers are refused when contacts are computed.
    #[must_use]
    pub fn of_numbers(center: [f64; 3], [x, y, z, w]: [f64; 4], semi: [f64; 3], exponents: [f64; 2]) -> Self {
        let orientation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        Self { center: center.into(), orientation, semi: semi.into(), exponents }
    }

    /// Checks that the numbers of the particle are finite and in range. Errors report `index`, the
    /// position of the particle in its list.
    pub(super) fn check(&self, index: usize) -> Result<(), WallError> {
        let q = &self.orientation.coords;
        if !self.center.iter().chain(q.iter()).all(|c| c.is_finite()) {
            return Err(WallError::Position { index });
        }
        let is_shape = self.semi.iter().all(|s| *s > 0.0 && s.is_finite())
            && self.exponents.iter().all(|e| (0.1..=1.9).contains(e));
        if is_shape { Ok(()) } else { Err(WallError::Shape { index }) }
    }

    /// Upper bound of the distance (mm) of a point of the particle from its centre: that of the box of
    /// the semi-axes or, if no exponent is below 1, the largest semi-axis.
    fn radius(&self) -> f64 {
        let is_box = self.exponents.iter().any(|e| *e < 1.0);
        if is_box { self.semi.norm() } else { self.semi.amax() }
    }

    /// Transforms the superellipsoid into the frame of a wall with the pose `wall`. `None` if the
    /// semi-axes or exponents are out of range.
    pub(super) fn local(&self, wall: &Pose) -> Option<LocalSuperellipsoid> {
        Some(LocalSuperellipsoid {
            shape: Symmetric::new(self.semi, self.exponents).ok()?.into(),
            layer: 0.0,
            rotation: (wall.rotation.inverse() * self.orientation).to_rotation_matrix().into_inner(),
            center: wall.inverse_transform_point(&self.center),
            radius: self.radius(),
        })
    }
}

impl LocalSuperellipsoid {
    /// Transforms a grain from the world into the frame of a wall with the pose `wall`.
    pub(super) fn of_grain(grain: &grains::Placed<'_>, wall: &Pose) -> Self {
        let turn = wall.rotation.inverse().to_rotation_matrix().into_inner();
        Self {
            shape: *grain.grain().shape(),
            layer: grain.grain().dilation(),
            rotation: turn * grain.rotation(),
            center: wall.inverse_transform_point(&grain.origin()),
            radius: grain.grain().radius(),
        }
    }

    pub(super) fn center(&self) -> &P3 {
        &self.center
    }

    pub(super) fn radius(&self) -> f64 {
        self.radius
    }

    /// Support point: the point of the particle (wall's frame), layer included, that is farthest along
    /// the unit direction `m`.
    fn support(&self, m: &V3) -> P3 {
        let point = self.center + self.rotation * self.shape.support(&self.rotation.tr_mul(m)).point.coords;
        if self.layer > 0.0 { point + m.normalize() * self.layer } else { point }
    }

    /// Derivatives of the support point (mm per rad) as the direction `m` rotates towards either of two
    /// unit vectors `e` and `f` perpendicular to it, by difference quotients.
    fn support_derivatives(&self, m: &V3, (e, f): &(V3, V3)) -> [V3; 2] {
        [e, f].map(|t| {
            let [ahead, behind] =
                [DIFFERENCE_STEP, -DIFFERENCE_STEP].map(|h| self.support(&(m + t * h).normalize()));
            (ahead - behind) / (2.0 * DIFFERENCE_STEP)
        })
    }

    /// Computes the contacts with the places of the wall with the numbers `places` whose gaps are at
    /// most `reach` (mm), sorted by increasing gap.
    pub(super) fn contacts(
        &self,
        boundary: &Boundary,
        reach: f64,
        places: &[u32],
        scratch: &mut Scratch,
    ) -> impl Iterator<Item = WallContact> {
        let found = &mut scratch.found;
        found.clear();
        let mut last = None;
        for &k in places {
            match boundary.place(k) {
                place @ NearPart::Face(f) => self.find_on_face(boundary, place, Feature::Face(f), found),
                place @ NearPart::Patch(f, _) => self.find_on_face(boundary, place, Feature::Face(f), found),
                // The areas of one edge are consecutive; the edge is searched once.
                NearPart::Edge(e) | NearPart::Curve(e, _) if last != Some(e) => {
                    last = Some(e);
                    self.find_on_edge(boundary, e, found);
                }
                NearPart::Edge(_) | NearPart::Curve(..) => {}
                NearPart::Vertex(v) => self.find_at_vertex(boundary, v, found),
                NearPart::Border(_) | NearPart::Tip(..) => {}
            }
        }
        found.retain(|f| f.gap <= reach);
        found.sort_by(|a, b| a.id.cmp(&b.id).then(a.gap.total_cmp(&b.gap)));
        let mut kept = 0;
        for i in 0..found.len() {
            let f = found[i];
            let is_known = found[..kept].iter().any(|g| {
                (f.point - g.point).norm() <= SAME_CONTACT * self.radius
                    && (f.normal - g.normal).norm() <= 1e-2
            });
            if !is_known {
                let branch = found[..kept].iter().filter(|g| g.feature == f.feature).count() as u64;
                found[kept] = Found { id: f.id | branch, ..f };
                kept += 1;
            }
        }
        found.truncate(kept);
        found.sort_by(|a, b| a.gap.total_cmp(&b.gap).then(a.id.cmp(&b.id)));
        let contact = |f: &Found| WallContact {
            id: f.id,
            point: f.point,
            normal: f.normal,
            gap: f.gap,
            curvatures: f.curvatures,
        };
        found.iter().map(contact)
    }

    /// Contact of a particle whose centre is inside the material, at the point `m` of the boundary
    /// nearest to the centre. Its gap is that along the boundary's normal at `m`.
    pub(super) fn way_out(&self, m: &feeler_runtime::PointMinimum) -> WallContact {
        let x = self.support(&-m.normal);
        let gap = (x - m.point).dot(&m.normal);
        WallContact { id: m.id, point: m.point, normal: m.normal, gap, curvatures: m.curvatures }
    }

    /// Start directions of solves: the sampled [`DIRECTIONS`] at which `value` is smaller than at all
    /// neighbouring ones. Directions at which `value` is `None` are excluded.
    fn starts(&self, value: impl Fn(&V3) -> Option<f64>) -> ArrayVec<V3, 26> {
        let sampled = DIRECTIONS.map(|d| self.rotation * V3::from(d).normalize());
        let values = sampled.map(|m| value(&m).unwrap_or(f64::INFINITY));
        let is_minimum = |i: usize| {
            values[i].is_finite()
                && (0..26).all(|j| {
                    let is_neighbour = j != i && sampled[i].dot(&sampled[j]) > NEIGHBOUR_COS;
                    !is_neighbour || values[i] < values[j] || (values[i] <= values[j] && i < j)
                })
        };
        (0..26).filter(|i| is_minimum(*i)).map(|i| sampled[i]).collect()
    }

    /// Appends to `found` the contacts with the face `feature`; `place` is the part of the face near the
    /// particle.
    fn find_on_face(&self, boundary: &Boundary, place: NearPart, feature: Feature, found: &mut Vec<Found>) {
        let distance = |m: &V3| surface_foot(boundary, place, &self.support(m)).map(|f| f.distance);
        let first = found.len();
        let central = surface_foot(boundary, place, &self.center).map(|f| -f.normal);
        for start in self.starts(distance).into_iter().chain(central) {
            let Some(m) = self.solve_surface(boundary, place, start) else { continue };
            let x = self.support(&m);
            let Some(foot) = surface_foot(boundary, place, &x) else { continue };
            // If the centre is behind the face, another side of the wall is nearer.
            let is_in_front = (self.center - foot.foot).dot(&foot.normal) > 0.0;
            let is_new =
                !found[first..].iter().any(|f| (f.point - foot.foot).norm() <= SAME_CONTACT * self.radius);
            if !is_in_front || !is_new || !self.is_minimum(&m, foot.distance, &distance) {
                continue;
            }
            if let Some(curvatures) = held_curvatures(boundary, place, foot.uv) {
                found.push(Found {
                    point: foot.foot,
                    normal: foot.normal,
                    gap: foot.distance,
                    curvatures,
                    feature,
                    id: feature_id(feature),
                });
            }
        }
    }

    /// Whether `value` (mm) has a local minimum at the direction `m`: in eight directions next to `m` it
    /// is at least `distance`, its value at `m`, up to rounding. Directions without a value are skipped.
    fn is_minimum(&self, m: &V3, distance: f64, value: &impl Fn(&V3) -> Option<f64>) -> bool {
        let (e, f) = complete_basis(m);
        let h = 1e-3;
        [e, f, -e, -f, e + f, e - f, f - e, -e - f].iter().all(|t| {
            let there = value(&(m + t * h).normalize());
            there.is_none_or(|d| d >= distance - CONVERGED * self.radius)
        })
    }

    /// Solves `m = -∇D(s(m))` for a direction `m` near `start`, where `s(m)` is the support point and
    /// `D` the signed distance from the face's surface. A step is Newton's if that reduces the residual,
    /// else a part of the step to `-∇D`. `None` if the solve does not converge, or if a support point
    /// has no footpoint on the surface.
    fn solve_surface(&self, boundary: &Boundary, place: NearPart, start: V3) -> Option<V3> {
        let gradient = |m: &V3| surface_foot(boundary, place, &self.support(m)).map(|f| f.normal);
        let mut m = start;
        let mut g = gradient(&m)?;
        let mut off = (m + g).norm();
        for _ in 0..MAX_STEPS {
            if off <= 1e-14 {
                break;
            }
            // The step to the gradient solves a plane, and always decreases the distance in a bore.
            let mut next = -g;
            let mut new = gradient(&next);
            let mut new_off = new.map_or(f64::INFINITY, |g| (next + g).norm());
            if new_off > 0.1 * off {
                let basis = complete_basis(&m);
                let columns = [basis.0, basis.1].map(|t| {
                    let ahead = (m + t * DIFFERENCE_STEP).normalize();
                    let behind = (m - t * DIFFERENCE_STEP).normalize();
                    Some(
                        ((ahead + gradient(&ahead)?) - (behind + gradient(&behind)?))
                            / (2.0 * DIFFERENCE_STEP),
                    )
                });
                if let [Some(a), Some(b)] = columns {
                    let r = m + g;
                    let (aa, ab, bb) = (a.norm_squared(), a.dot(&b), b.norm_squared());
                    let (ar, br) = (a.dot(&r), b.dot(&r));
                    let det = aa * bb - ab * ab;
                    let step = basis.0 * ((ab * br - bb * ar) / det) + basis.1 * ((ab * ar - aa * br) / det);
                    let mut t = 1.0;
                    for _ in 0..12 {
                        let to = (m + step * t).try_normalize(0.1);
                        if let Some(to) = to
                            && let Some(g) = gradient(&to)
                            && (to + g).norm() < new_off.min(off)
                        {
                            (next, new_off, new) = (to, (to + g).norm(), Some(g));
                            break;
                        }
                        t *= 0.5;
                    }
                }
            }
            let Some(to) = new.filter(|_| new_off < off) else {
                // The particle is flatter than the wall is curved: half of the step to the gradient
                // converges.
                let half = (m - g).try_normalize(0.1)?;
                g = gradient(&half)?;
                m = half;
                let now = (m + g).norm();
                if now >= off && off <= CONVERGED {
                    break;
                }
                off = now;
                continue;
            };
            (m, g, off) = (next, to, new_off);
        }
        (off <= CONVERGED).then_some(m)
    }

    /// Solves `s(m) + g m = q` for the direction `m`, starting at `start`, and for the signed distance
    /// `g` (mm) of the point `q` from the particle; `s(m)` is the support point. `None` if the solve
    /// does not converge.
    fn solve_point(&self, q: &P3, start: V3) -> Option<(V3, f64)> {
        let residual = |m: &V3, g: f64| self.support(m) + m * g - q;
        let mut m = start;
        let mut g = (q - self.support(&m)).dot(&m);
        let mut r = residual(&m, g);
        for _ in 0..MAX_STEPS {
            if r.norm() <= 1e-15 * self.radius {
                break;
            }
            let basis = complete_basis(&m);
            let [a, b] = self.support_derivatives(&m, &basis);
            let j = Matrix3::from_columns(&[a + basis.0 * g, b + basis.1 * g, m]);
            let step = j.try_inverse().map(|inverse| -(inverse * r));
            let mut is_better = false;
            if let Some(step) = step {
                let mut t = 1.0;
                for _ in 0..20 {
                    let to = (m + (basis.0 * step.x + basis.1 * step.y) * t).try_normalize(0.1);
                    if let Some(to) = to {
                        let there = (q - self.support(&to)).dot(&to);
                        let new = residual(&to, there);
                        if new.norm() < r.norm() {
                            is_better = new.norm() < 0.999_9 * r.norm() || r.norm() > CONVERGED * self.radius;
                            (m, g, r) = (to, there, new);
                            break;
                        }
                    }
                    t *= 0.5;
                }
            }
            if !is_better {
                break;
            }
        }
        (r.norm() <= CONVERGED * self.radius).then_some((m, g))
    }

    /// Appends the contact with the vertex `v` to `found`, or nothing if the polar of the vertex does
    /// not contain the direction of the contact.
    fn find_at_vertex(&self, boundary: &Boundary, v: VertexId, found: &mut Vec<Found>) {
        let q = boundary.body().hierarchy().vertices[v.index()].point;
        let along = |m: &V3| Some((self.support(m) - q).dot(m));
        let towards = (q - self.center).try_normalize(0.0);
        let mut best: Option<(V3, f64)> = None;
        for start in self.starts(along).into_iter().chain(towards) {
            if let Some((m, g)) = self.solve_point(&q, start)
                && is_in_vertex_polar(boundary, v, &-m)
                && best.is_none_or(|(_, h)| g > h)
            {
                best = Some((m, g));
            }
        }
        let feature = Feature::Vertex(v);
        found.extend(best.map(|(m, gap)| Found {
            point: q,
            normal: -m,
            gap,
            curvatures: [f64::INFINITY; 2],
            feature,
            id: feature_id(feature),
        }));
    }

    /// Appends the contacts with the edge `e` to `found`; a curved edge can have several.
    fn find_on_edge(&self, boundary: &Boundary, e: EdgeId, found: &mut Vec<Found>) {
        let edge = &boundary.body().hierarchy().edges[e.index()];
        for span in &edge.spans {
            if let Curve::Line { origin, dir } = &edge.curve {
                // The direction is the same along the whole line.
                let beside = boundary.body().edge_normals(e, 0.5 * (span.t0 + span.t1));
                let m =
                    beside.and_then(|(tangent, normals)| self.direction_across(origin, &tangent, &normals));
                if let Some(m) = m {
                    self.add_edge_contact(boundary, e, (self.support(&m) - origin).dot(dir), &m, found);
                }
                continue;
            }
            // Restrict the span to the neighbourhood of the centre's foot that the particle can reach.
            let foot = edge.curve.project(&self.center, span.t0, span.t1);
            let d = edge.curve.derivs(foot);
            let half = 2.0 * (self.radius + (d.p - self.center).norm()) / d.d1.norm();
            let (mut lo, mut hi) = (span.t0, span.t1);
            if half.is_finite() && 2.0 * half < hi - lo {
                (lo, hi) = (foot - half, foot + half);
                if !edge.closed {
                    (lo, hi) = (lo.max(span.t0), hi.min(span.t1));
                }
            }
            let mut before: Option<(f64, f64)> = None;
            for i in 0..=EDGE_SAMPLES {
                let t = lo + (hi - lo) * f64::from(i) / f64::from(EDGE_SAMPLES);
                let ahead = self.offset_along_edge(boundary, e, t).map(|(r, _)| (t, r));
                if let (Some(a), Some(b)) = (before, ahead)
                    && a.1 >= 0.0
                    && b.1 <= 0.0
                    && let Some((t, m)) = self.solve_edge(boundary, e, a, b)
                {
                    self.add_edge_contact(boundary, e, t, &m, found);
                }
                before = ahead;
            }
        }
    }

    /// Appends the contact with an edge at the parameter `t` and the particle's outward normal `m`, if
    /// the polar of the edge contains `-m` and the particle's support point along `m` lies on the line
    /// along `m` through the edge's point at `t`.
    fn add_edge_contact(&self, boundary: &Boundary, e: EdgeId, t: f64, m: &V3, found: &mut Vec<Found>) {
        let d = boundary.body().hierarchy().edges[e.index()].curve.derivs(t);
        let r = self.support(m) - d.p;
        let gap = -r.dot(m);
        if (r + m * gap).norm() <= CONVERGED.sqrt() * self.radius && is_in_edge_polar(boundary, e, t, &-m) {
            let along = d.d2.dot(m) / d.d1.norm_squared();
            found.push(Found {
                point: d.p,
                normal: -m,
                gap,
                curvatures: [f64::INFINITY, along],
                feature: Feature::Edge(e),
                id: feature_id(Feature::Edge(e)),
            });
        }
    }

    /// Offset along an edge, at its parameter `t`, of the particle's point nearest to the edge's tangent
    /// line (or deepest beyond it). It is the coordinate (mm) along the tangent, from the edge's point
    /// at `t` to the particle's point; the edge can have a contact where it is 0. Also returns the
    /// particle's outward unit normal at its point, which is the direction of
    /// [`direction_across`](Self::direction_across). `None` if the edge has no normals at `t`, or no
    /// such direction exists.
    fn offset_along_edge(&self, boundary: &Boundary, e: EdgeId, t: f64) -> Option<(f64, V3)> {
        let (tangent, normals) = boundary.body().edge_normals(e, t)?;
        let q = boundary.body().hierarchy().edges[e.index()].curve.point(t);
        let m = self.direction_across(&q, &tangent, &normals)?;
        Some(((self.support(&m) - q).dot(&tangent), m))
    }

    /// Solves for the parameter of an edge at which the particle's support point lies in the plane
    /// perpendicular to the edge, and for the particle's outward normal at that point. The solve is by
    /// regula falsi (Illinois) between `a` and `b`, each a parameter of the edge with its offset of
    /// [`offset_along_edge`](Self::offset_along_edge) (mm). `None` if a parameter between them has no
    /// offset.
    fn solve_edge(
        &self,
        boundary: &Boundary,
        e: EdgeId,
        mut a: (f64, f64),
        mut b: (f64, f64),
    ) -> Option<(f64, V3)> {
        let mut best = None;
        for k in 0..MAX_STEPS {
            let by_values = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
            let is_sound = k % 4 != 3 && by_values > a.0 && by_values < b.0;
            let t = if is_sound { by_values } else { 0.5 * (a.0 + b.0) };
            let (r, m) = self.offset_along_edge(boundary, e, t)?;
            best = Some((t, m));
            if r.abs() <= 1e-14 * self.radius || b.0 - a.0 <= 1e-15 * (1.0 + t.abs()) {
                break;
            }
            if r > 0.0 {
                a = (t, r);
                b.1 *= 0.5;
            } else {
                b = (t, r);
                a.1 *= 0.5;
            }
        }
        best
    }

    /// Unit direction `m`, perpendicular to the line through `q` along `tangent`, in which the signed
    /// distance of that line from the particle, `(q - s(m))·m` with the support point `s(m)`, has a
    /// maximum; it is positive if the line is outside the particle. Only directions between those
    /// opposite to `normals`, the outward normals of the two faces at the edge, and up to
    /// [`POLAR_MARGIN`] beyond them are searched. `None` if the edge is concave or no maximum is found.
    fn direction_across(&self, q: &P3, tangent: &V3, normals: &[V3; 2]) -> Option<V3> {
        let [left, right] = normals;
        let omega = math::atan2(left.cross(right).dot(tangent), left.dot(right));
        let half = 0.5 * if omega < -3.1 { -omega } else { omega };
        if half < -1e-9 {
            return None;
        }
        // The direction in the middle of the polar, and the direction from the left face's normal to it.
        let (s, c) = math::sin_cos(half);
        let e = -(left * c + tangent.cross(left) * s);
        let f = tangent.cross(&e);
        let at = |angle: f64| {
            let (s, c) = math::sin_cos(angle);
            e * c + f * s
        };
        let slope = |angle: f64| {
            let (s, c) = math::sin_cos(angle);
            (f * c - e * s).dot(&(q - self.support(&(e * c + f * s))))
        };
        let wide = half + POLAR_MARGIN;
        let mut best: Option<(f64, V3)> = None;
        let mut before = (-wide, slope(-wide));
        for i in 1..=ANGLE_SAMPLES {
            let angle = wide * (2.0 * f64::from(i) / f64::from(ANGLE_SAMPLES) - 1.0);
            let after = (angle, slope(angle));
            if before.1 >= 0.0 && after.1 <= 0.0 {
                let (mut a, mut b) = (before, after);
                for k in 0..MAX_STEPS {
                    let by_values = (a.0 * b.1 - b.0 * a.1) / (b.1 - a.1);
                    let is_sound = k % 4 != 3 && by_values > a.0 && by_values < b.0;
                    let t = if is_sound { by_values } else { 0.5 * (a.0 + b.0) };
                    let r = slope(t);
                    if r > 0.0 {
                        a = (t, r);
                        b.1 *= 0.5;
                    } else {
                        b = (t, r);
                        a.1 *= 0.5;
                    }
                    if r.abs() <= 1e-16 * self.radius || b.0 - a.0 <= 1e-16 {
                        break;
                    }
                }
                let m = at(if a.1.abs() < b.1.abs() { a.0 } else { b.0 });
                let g = (q - self.support(&m)).dot(&m);
                if best.is_none_or(|(h, _)| g > h) {
                    best = Some((g, m));
                }
            }
            before = after;
        }
        best.map(|(_, m)| m)
    }
}
