//! What meets facets: balls, and grains of any smooth convex shape.
//!
//! How far a grain is pressed into a facet is the least way out that keeps the grain's origin on its side:
//! over all directions the largest gap between the grain and the facet, as for a ball. Where the grain's
//! lowest point is above the inside of the facet it is along the normal; else it is looked for around each
//! edge that this point is beyond, and from there at the vertices.
//!
//! # Guarantees
//! A gap is solved to rounding, or asked of the expanding polytope ([`penetration`]) to its tolerance. Of
//! several ways out that are least among their neighbours, which takes a depth beyond the grain's radii of
//! curvature, one is found.

use super::closest::{Closest, Region, SAME};
use super::mesh::Mesh;
use feeler_convex::{PenetrationRequest, Triangle, penetration};
use feeler_geom::frame::complete_basis;
use feeler_geom::{P3, V3, math};
use feeler_grains::convex::Placed;
use std::f64::consts::{FRAC_PI_2, PI};

/// What meets facets (wall's coordinates).
pub(super) trait Meets {
    /// What is seen from, to tell what is behind something.
    fn center(&self) -> &P3;
    /// No point is farther (mm) from the centre.
    fn radius(&self) -> f64;
    /// Where it overlaps a facet, and how much (mm).
    fn overlap(&self, mesh: &Mesh, facet: u32) -> Option<(Closest, f64)>;
    /// The point of a wall with a normal that it overlaps by so much.
    fn wall_point(&self, normal: &V3, overlap: f64) -> P3;
}

/// A ball.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub(super) center: P3,
    pub(super) radius: f64,
}

impl Meets for Round {
    fn center(&self) -> &P3 {
        &self.center
    }

    fn radius(&self) -> f64 {
        self.radius
    }

    fn overlap(&self, mesh: &Mesh, facet: u32) -> Option<(Closest, f64)> {
        // The plane is no farther than the facet.
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

/// A grain, and the ball that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smooth<'g> {
    pub(super) placed: Placed<'g>,
    pub(super) center: P3,
    pub(super) radius: f64,
}

/// A way out of a facet.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Unit direction, from the facet's point to the grain.
    normal: V3,
    gap: f64,
    point: P3,
    region: Region,
    linked: Region,
}

impl Meets for Smooth<'_> {
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
        let lowest = self.at(&normal);
        let gap = normal.dot(&(lowest - corners[0]));
        if gap >= 0.0 || mesh.closest(facet, &self.center).distance >= self.radius {
            return None;
        }
        let same = SAME * (mesh.lengths[k] + self.radius);
        let sides = [corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]];
        // Unit vectors of the plane, away from the facet.
        let outwards: [V3; 3] = std::array::from_fn(|i| -plane.cross(&sides[i]) / sides[i].norm());
        let inwards: [f64; 3] = std::array::from_fn(|i| -outwards[i].dot(&(lowest - corners[i])));
        let way = if inwards.iter().all(|s| *s >= 0.0) {
            let point = lowest - normal * gap;
            Way { normal, gap, point, region: Region::Face, linked: mesh.snapped(facet, &inwards, same) }
        } else {
            self.beside(mesh, facet, &normal, &outwards, &inwards)?
        };
        let Way { normal, gap, point, region, linked } = way;
        let distance = (self.center - point).norm();
        let closest = Closest { point, distance, normal: Some(normal), region, linked, signed, same };
        (gap < 0.0).then_some((closest, -gap))
    }

    fn wall_point(&self, normal: &V3, overlap: f64) -> P3 {
        self.at(normal) + normal * overlap
    }
}

impl Smooth<'_> {
    /// The point of the surface farthest against a direction.
    fn at(&self, m: &V3) -> P3 {
        self.placed.surface(&-m).0
    }

    /// The way out of a facet whose inside the lowest point is not above; none where there is a gap.
    fn beside(
        &self,
        mesh: &Mesh,
        facet: u32,
        normal: &V3,
        outwards: &[V3; 3],
        inwards: &[f64; 3],
    ) -> Option<Way> {
        let k = facet as usize;
        let mut best: Option<Way> = None;
        let mut keep = |way: Way| {
            if best.is_none_or(|b| way.gap > b.gap) {
                best = Some(way);
            }
        };
        for i in (0..3).filter(|i| inwards[*i] < 0.0) {
            let edge = mesh.facet_edges[k][i];
            let ends = mesh.edges[edge as usize];
            let [a, b] = ends.map(|v| mesh.vertices[v as usize]);
            let Some(m) = self.around(normal, &outwards[i], &a) else { continue };
            let foot = self.at(&m);
            let gap = m.dot(&(foot - a));
            if gap >= 0.0 {
                // The whole facet is on the other side of a plane.
                return None;
            }
            let along = b - a;
            let part = (foot - a).dot(&along) / along.norm_squared();
            if (0.0..=1.0).contains(&part) {
                let linked = if part <= SAME {
                    Region::Vertex(ends[0])
                } else if part >= 1.0 - SAME {
                    Region::Vertex(ends[1])
                } else {
                    Region::Edge(edge)
                };
                keep(Way { normal: m, gap, point: a + along * part, region: Region::Edge(edge), linked });
                continue;
            }
            let vertex = ends[usize::from(part > 0.5)];
            let q = mesh.vertices[vertex as usize];
            let Some((m, gap)) = self.off(&q, &m) else { continue };
            let reach = CONE * (mesh.lengths[k] + self.radius);
            if mesh.corners(k).iter().all(|c| m.dot(&(c - q)) <= reach) {
                if gap >= 0.0 {
                    return None;
                }
                let region = Region::Vertex(vertex);
                keep(Way { normal: m, gap, point: q, region, linked: region });
            }
        }
        best.or_else(|| self.asked(mesh, facet))
    }

    /// The direction around an edge line through `a`, from the facet's normal outwards, in which the line is
    /// farthest out of the grain: a zero of the slope, by Newton's method between two bounds.
    fn around(&self, normal: &V3, out: &V3, a: &P3) -> Option<V3> {
        let at = |angle: f64| {
            let (s, c) = math::sin_cos(angle);
            let (m, across) = (normal * c + out * s, out * c - normal * s);
            let (foot, bend) = self.placed.surface(&-m);
            let way = foot - a;
            (m, across.dot(&way), -m.dot(&way) - across.dot(&(bend * across)))
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
        for _ in 0..STEPS {
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
            if slope.abs() <= DONE * self.radius || high - low <= DONE {
                break;
            }
            let next = angle - slope / second;
            // A step that is lost in rounding has arrived.
            if (next - angle).abs() <= 0.1 * DONE {
                break;
            }
            angle = if next > low && next < high { next } else { 0.5 * (low + high) };
        }
        found
    }

    /// The direction in which a point is out of the grain the soonest, near a direction, and the gap:
    /// negative inside.
    fn off(&self, q: &P3, start: &V3) -> Option<(V3, f64)> {
        let gap = |m: &V3| m.dot(&(self.at(m) - q));
        let to_center = (self.center - q).try_normalize(0.0).unwrap_or(*start);
        let mut m = if gap(&to_center) > gap(start) { to_center } else { *start };
        let mut size = f64::INFINITY;
        for _ in 0..STEPS {
            let (foot, bend) = self.placed.surface(&-m);
            let way = foot - q;
            let g = m.dot(&way);
            let rest = way - m * g;
            size = rest.norm();
            if size <= DONE * self.radius {
                break;
            }
            let (e, f) = complete_basis(&m);
            let (ee, ef, ff) = (e.dot(&(bend * e)) + g, e.dot(&(bend * f)), f.dot(&(bend * f)) + g);
            let (re, rf) = (e.dot(&rest), f.dot(&rest));
            let det = ee * ff - ef * ef;
            let step = if det > 0.0 && ee + ff > 0.0 {
                (e * (ff * re - ef * rf) + f * (ee * rf - ef * re)) / det
            } else {
                // Too deep for Newton's method: uphill.
                rest / self.radius
            };
            let mut part = 1.0;
            let mut next = None;
            for _ in 0..HALVINGS {
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
        (size <= SOLVED * self.radius).then(|| (m, gap(&m)))
    }

    /// Asks the expanding polytope, which needs nothing but support points.
    #[cold]
    fn asked(&self, mesh: &Mesh, facet: u32) -> Option<Way> {
        let corners = mesh.corners(facet as usize);
        let triangle = Triangle::new(corners).ok()?;
        let found = penetration(&self.placed, &triangle, &PenetrationRequest::default());
        let normal = -found.direction.try_normalize(0.5)?;
        let foot = self.at(&normal);
        let lengths = corners.map(|c| normal.dot(&(foot - c)));
        let gap = lengths.into_iter().fold(f64::INFINITY, f64::min);
        if found.depth <= 0.0 || gap >= 0.0 {
            return None;
        }
        let closest = mesh.closest(facet, &(foot - normal * gap));
        Some(Way { normal, gap, point: closest.point, region: closest.region, linked: closest.linked })
    }
}

/// Steps of a solve, halvings of one.
const STEPS: usize = 60;
const HALVINGS: usize = 20;

/// Part of the grain's size, and angle (rad), to which equations are solved, and to which they must be.
const DONE: f64 = 1e-15;
const SOLVED: f64 = 1e-9;

/// Part of the sizes up to which a facet is behind the plane through one of its vertices.
const CONE: f64 = 1e-9;
