//! Overlaps of spheres and grains with facets.
//!
//! The overlap of a grain with a facet is the smallest displacement that separates the two and keeps the
//! grain's origin on its side of the facet: minus the maximum over all directions of the (negative) gap
//! between them, as for a sphere. If the grain's lowest point, along the facet's normal, is above the
//! interior of the facet, the direction is the facet's normal. Otherwise the direction is searched
//! around each edge beyond which this point is, and from there at the vertices.
//!
//! # Guarantees
//! A gap is solved to rounding, or computed by the expanding polytope ([`penetration`]) to its tolerance.
//! If several directions are local optima, which takes a depth beyond the grain's radii of curvature, one
//! of them is found.

use super::closest::{Closest, FacetRegion, SAME_POINT};
use super::mesh::Mesh;
use feeler_convex::{PenetrationRequest, Triangle, penetration};
use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, V3, math};
use feeler_grains::convex::Placed;
use std::f64::consts::{FRAC_PI_2, PI};

/// Shape that can have contacts with facets (wall's coordinates).
pub(super) trait FacetShape {
    /// Centre of the shape (a grain's origin). A facet hides the contact of another one if it is between
    /// the centre and the contact point.
    fn center(&self) -> &P3;
    /// Maximum distance (mm) of a point of the shape from its centre.
    fn radius(&self) -> f64;
    /// Contact point of the shape with a facet, and the overlap (mm) of the two, above 0; `None` if they
    /// do not overlap.
    fn overlap(&self, mesh: &Mesh, facet: u32) -> Option<(Closest, f64)>;
    /// Contact point on a plane that the shape overlaps by `overlap` (mm). `normal` is the unit normal
    /// of the plane, which points to the shape.
    fn wall_point(&self, normal: &V3, overlap: f64) -> P3;
}

/// A sphere (wall's coordinates).
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalSphere {
    pub(super) center: P3,
    pub(super) radius: f64,
}

impl FacetShape for LocalSphere {
    fn center(&self) -> &P3 {
        &self.center
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn overlap(&self, mesh: &Mesh, facet: u32) -> Option<(Closest, f64)> {
        // The distance of the plane is at most that of the facet.
        if mesh.height(facet, &self.center).abs() >= self.radius {
            return None;
        }
        let closest = mesh.closest(facet, &self.center);
        let overlap = self.radius - closest.distance;
        (overlap > 0.0).then_some((closest, overlap))
    }

    fn wall_point(&self, normal: &V3, overlap: f64) -> P3 {
        self.center - normal * (self.radius - overlap)
    }
}

/// A grain and its bounding sphere (wall's coordinates).
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalGrain<'g> {
    pub(super) placed: Placed<'g>,
    pub(super) center: P3,
    pub(super) radius: f64,
}

/// Smallest displacement of a grain, along one direction, that separates it from a facet.
#[derive(Clone, Copy, Debug)]
struct Separation {
    /// Unit direction of the displacement, from the facet to the grain.
    normal: V3,
    /// Gap (mm) between the facet and the grain along `normal`, negative for an overlap.
    gap: f64,
    /// Contact point of the facet (wall's coordinates).
    point: P3,
    region: FacetRegion,
    linked: FacetRegion,
}

impl FacetShape for LocalGrain<'_> {
    fn center(&self) -> &P3 {
        &self.center
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn overlap(&self, mesh: &Mesh, facet: u32) -> Option<(Closest, f64)> {
        let k = facet as usize;
        let signed = mesh.height(facet, &self.center);
        if signed.abs() >= self.radius {
            return None;
        }
        let plane = mesh.normals[k];
        let normal = if signed < 0.0 { -plane } else { plane };
        let corners = mesh.corners(k);
        let lowest = self.lowest_point(&normal);
        let gap = normal.dot(&(lowest - corners[0]));
        if gap >= 0.0 || mesh.closest(facet, &self.center).distance >= self.radius {
            return None;
        }
        let same_point = SAME_POINT * (mesh.lengths[k] + self.radius);
        let sides = [corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]];
        // Unit vectors of the facet's plane across its sides, outwards.
        let outwards: [V3; 3] = std::array::from_fn(|i| -plane.cross(&sides[i]) / sides[i].norm());
        let inwards: [f64; 3] = std::array::from_fn(|i| -outwards[i].dot(&(lowest - corners[i])));
        let separation = if inwards.iter().all(|s| *s >= 0.0) {
            let point = lowest - normal * gap;
            Separation {
                normal,
                gap,
                point,
                region: FacetRegion::Face,
                linked: mesh.snapped(facet, &inwards, same_point),
            }
        } else {
            self.separate_at_border(mesh, facet, &normal, &outwards, &inwards)?
        };
        let Separation { normal, gap, point, region, linked } = separation;
        let distance = (self.center - point).norm();
        let closest = Closest { point, distance, normal: Some(normal), region, linked, signed, same_point };
        (gap < 0.0).then_some((closest, -gap))
    }

    fn wall_point(&self, normal: &V3, overlap: f64) -> P3 {
        self.lowest_point(normal) + normal * overlap
    }
}

impl LocalGrain<'_> {
    /// Point of the grain's surface at which the coordinate along the unit direction `m` is smallest.
    fn lowest_point(&self, m: &V3) -> P3 {
        self.placed.surface(&-m).0
    }

    /// Smallest separation of the grain from a facet if the contact point is on the facet's border,
    /// because the grain's lowest point along `normal` is not above the facet's interior. `normal` is
    /// the facet's normal on the side of the grain's centre. `outwards` are the unit vectors in the
    /// facet's plane across its edges, `inwards` the distances (mm) of the lowest point from the edges,
    /// positive inwards. `None` if the grain and the facet do not overlap.
    fn separate_at_border(
        &self,
        mesh: &Mesh,
        facet: u32,
        normal: &V3,
        outwards: &[V3; 3],
        inwards: &[f64; 3],
    ) -> Option<Separation> {
        let k = facet as usize;
        let mut best: Option<Separation> = None;
        let mut keep = |found: Separation| {
            if best.is_none_or(|b| found.gap > b.gap) {
                best = Some(found);
            }
        };
        for i in (0..3).filter(|i| inwards[*i] < 0.0) {
            let edge = mesh.facet_edges[k][i];
            let ends = mesh.edges[edge as usize];
            let [a, b] = ends.map(|v| mesh.vertices[v as usize]);
            let Some(m) = self.separate_from_edge(normal, &outwards[i], &a) else { continue };
            let foot = self.lowest_point(&m);
            let gap = m.dot(&(foot - a));
            if gap >= 0.0 {
                // A plane separates the whole facet from the grain.
                return None;
            }
            let along = b - a;
            let part = (foot - a).dot(&along) / along.norm_squared();
            if (0.0..=1.0).contains(&part) {
                let linked = if part <= SAME_POINT {
                    FacetRegion::Vertex(ends[0])
                } else if part >= 1.0 - SAME_POINT {
                    FacetRegion::Vertex(ends[1])
                } else {
                    FacetRegion::Edge(edge)
                };
                keep(Separation {
                    normal: m,
                    gap,
                    point: a + along * part,
                    region: FacetRegion::Edge(edge),
                    linked,
                });
                continue;
            }
            let vertex = ends[usize::from(part > 0.5)];
            let q = mesh.vertices[vertex as usize];
            let Some((m, gap)) = self.separate_from_point(&q, &m) else { continue };
            let slack = VERTEX_SLACK * (mesh.lengths[k] + self.radius);
            if mesh.corners(k).iter().all(|c| m.dot(&(c - q)) <= slack) {
                if gap >= 0.0 {
                    return None;
                }
                let region = FacetRegion::Vertex(vertex);
                keep(Separation { normal: m, gap, point: q, region, linked: region });
            }
        }
        best.or_else(|| self.separate_by_polytope(mesh, facet))
    }

    /// Unit direction, perpendicular to the line of an edge through `a`, in which the gap between the
    /// line and the grain is maximum. It is searched among the directions from `normal`, the facet's
    /// normal on the side of the grain's centre, over `out`, the outward normal of the edge in the
    /// facet's plane, to the opposite of `normal`. The solve for a zero of the gap's slope is by
    /// Newton's method between two bounds. `None` if no zero exists.
    fn separate_from_edge(&self, normal: &V3, out: &V3, a: &P3) -> Option<V3> {
        let at = |angle: f64| {
            let (s, c) = math::sin_cos(angle);
            let (m, across) = (normal * c + out * s, out * c - normal * s);
            let (foot, bend) = self.placed.surface(&-m);
            let arm = foot - a;
            (m, across.dot(&arm), -m.dot(&arm) - across.dot(&(bend * across)))
        };
        let (mut low, mut high) = (0.0, FRAC_PI_2);
        if at(high).1 > 0.0 {
            (low, high) = (high, PI);
            if at(high).1 > 0.0 {
                return None;
            }
        }
        let to_center = self.center - a;
        let mut angle = math::atan2(out.dot(&to_center), normal.dot(&to_center));
        let mut found = None;
        for _ in 0..MAX_STEPS {
            if !(low..=high).contains(&angle) {
                angle = 0.5 * (low + high);
            }
            let (m, slope, second) = at(angle);
            found = Some(m);
            if slope > 0.0 {
                low = angle;
            } else {
                high = angle;
            }
            if slope.abs() <= CONVERGED * self.radius || high - low <= CONVERGED {
                break;
            }
            let next = angle - slope / second;
            // The next step would be rounding.
            if (next - angle).abs() <= 0.1 * CONVERGED {
                break;
            }
            angle = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        found
    }

    /// Unit direction near `start` in which the gap between the point `q` and the grain is maximum, and
    /// that gap (mm), which is negative for a point inside the grain. `None` if the solve does not
    /// converge.
    fn separate_from_point(&self, q: &P3, start: &V3) -> Option<(V3, f64)> {
        let gap = |m: &V3| m.dot(&(self.lowest_point(m) - q));
        let to_center = (self.center - q).try_normalize(0.0).unwrap_or(*start);
        let mut m = if gap(&to_center) > gap(start) { to_center } else { *start };
        let mut size = f64::INFINITY;
        for _ in 0..MAX_STEPS {
            let (foot, bend) = self.placed.surface(&-m);
            let arm = foot - q;
            let g = m.dot(&arm);
            let rest = arm - m * g;
            size = rest.norm();
            if size <= CONVERGED * self.radius {
                break;
            }
            let (e, f) = complete_basis(&m);
            let (ee, ef, ff) = (e.dot(&(bend * e)) + g, e.dot(&(bend * f)), f.dot(&(bend * f)) + g);
            let (re, rf) = (e.dot(&rest), f.dot(&rest));
            let det = ee * ff - ef * ef;
            let step = if det > 0.0 && ee + ff > 0.0 {
                (e * (ff * re - ef * rf) + f * (ee * rf - ef * re)) / det
            } else {
                // The point is too deep for Newton's method: the step is along the gradient.
                rest / self.radius
            };
            let mut part = 1.0;
            let mut next = None;
            for _ in 0..MAX_HALVINGS {
                let to = (m + step * part).normalize();
                let (there, _) = self.placed.surface(&-to);
                let left = there - q;
                let g_to = to.dot(&left);
                if g_to > g || (left - to * g_to).norm() < size {
                    next = Some(to);
                    break;
                }
                part *= 0.5;
            }
            let Some(to) = next else { break };
            m = to;
        }
        (size <= MAX_RESIDUAL * self.radius).then(|| (m, gap(&m)))
    }

    /// Separation computed by the expanding polytope, which requires support points alone; `None` if
    /// grain and facet do not overlap.
    #[cold]
    fn separate_by_polytope(&self, mesh: &Mesh, facet: u32) -> Option<Separation> {
        let corners = mesh.corners(facet as usize);
        let triangle = Triangle::new(corners).ok()?;
        let found = penetration(&self.placed, &triangle, &PenetrationRequest::default());
        let normal = -found.direction.try_normalize(0.5)?;
        let foot = self.lowest_point(&normal);
        let lengths = corners.map(|c| normal.dot(&(foot - c)));
        let gap = lengths.into_iter().fold(f64::INFINITY, f64::min);
        if found.depth <= 0.0 || gap >= 0.0 {
            return None;
        }
        let closest = mesh.closest(facet, &(foot - normal * gap));
        Some(Separation { normal, gap, point: closest.point, region: closest.region, linked: closest.linked })
    }
}

/// Maximum number of steps of a solve by Newton's method.
const MAX_STEPS: usize = 60;

/// Maximum number of times that a step of Newton's method is halved.
const MAX_HALVINGS: usize = 20;

/// Residual at which a solve ends, as a multiple of the grain's radius; also the width (rad) of the
/// interval of angles at which it ends. It is the rounding of the equations: a larger value makes
/// contacts noisy, with a smaller one the last steps gain nothing.
const CONVERGED: f64 = 1e-15;

/// Maximum residual of a solution, as a multiple of the radius of the grain's bounding sphere, at which
/// it is accepted; otherwise the expanding polytope is used. With a larger value contacts are inexact; a
/// smaller one uses the slow method more often.
const MAX_RESIDUAL: f64 = 1e-9;

/// Slack of the test that a facet lies behind the plane through one of its vertices across the contact
/// direction, as a multiple of the sum of the facet's longest side and the grain's radius. A larger
/// value accepts wrong vertices; with a smaller one rounding rejects right ones, and the expanding
/// polytope is used.
const VERTEX_SLACK: f64 = 1e-9;
