//! Closedness of a wall of facets, and the volume that it encloses.

use super::mesh::id;
use super::wall::FacetWall;
use feeler_geom::{Aabb, P3};

impl FacetWall {
    /// Number of sides of facets that no other facet has in the opposite direction; 0 if the wall is
    /// closed.
    #[must_use]
    pub fn open_sides(&self) -> usize {
        let mesh = &self.mesh;
        let mut open = 0;
        for edge in 0..mesh.edges.len() {
            let first = mesh.edges[edge][0];
            let goes_up = |facet: &&u32| {
                let side =
                    mesh.facet_edges[**facet as usize].iter().position(|e| *e == id(edge)).unwrap_or(0);
                mesh.facets[**facet as usize][side] == first
            };
            let all = mesh.at_edge(id(edge));
            let up = all.iter().filter(goes_up).count();
            open += up.abs_diff(all.len() - up);
        }
        open
    }

    /// Volume that the wall encloses (mm³): positive if its facets are oriented outwards, negative if
    /// inwards. The volume of an open wall is meaningless.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let Some(from) = self.mesh.vertices.first() else { return 0.0 };
        let six = |k: usize| {
            let [a, b, c] = self.mesh.corners(k).map(|p| p - from);
            a.dot(&b.cross(&c))
        };
        (0..self.mesh.facets.len()).map(six).sum::<f64>() / 6.0
    }

    /// Whether a closed wall in its present pose encloses a point (world). It does if the number of
    /// facets above the point, along z of the wall's coordinates, is odd. A point on a facet may count
    /// as enclosed or not.
    #[must_use]
    pub fn encloses(&self, point: &P3) -> bool {
        let x = self.pose().inverse_transform_point(point);
        let mut near = Vec::new();
        self.tree.above(&self.mesh, &x, &mut near);
        near.into_iter().filter(|facet| self.is_above(*facet, &x)).count() % 2 == 1
    }

    /// Whether the distance of a point (world) from some facet, on either side, is less than a radius (mm).
    #[must_use]
    pub fn reaches(&self, point: &P3, radius: f64) -> bool {
        let x = self.pose().inverse_transform_point(point);
        let mut near = Vec::new();
        self.tree.near(&self.mesh, &x, radius, &mut near);
        near.into_iter().any(|facet| self.mesh.closest(facet, &x).distance < radius)
    }

    /// Bounding box of the wall in its present pose (world).
    #[must_use]
    pub fn placed_bounds(&self) -> Aabb {
        let placed: Vec<P3> = self.mesh.vertices.iter().map(|p| self.pose() * p).collect();
        Aabb::of_points(&placed)
    }

    /// Whether a facet crosses the ray from the point `x` along +z (both in the wall's coordinates). An
    /// edge that two facets share is tested with the same rounding for both, so that a vertical line
    /// through the edge crosses exactly one of them.
    fn is_above(&self, facet: u32, x: &P3) -> bool {
        let corners = self.mesh.corners(facet as usize);
        let crossed = |k: usize| {
            let (mut a, mut b) = (corners[k], corners[(k + 1) % 3]);
            if (a.y <= x.y) == (b.y <= x.y) {
                return false;
            }
            // The edge is always directed towards +y, so that rounding is the same for both facets.
            if a.y > b.y {
                std::mem::swap(&mut a, &mut b);
            }
            (b.x - a.x) * (x.y - a.y) > (x.x - a.x) * (b.y - a.y)
        };
        if (0..3).filter(|k| crossed(*k)).count() % 2 == 0 {
            return false;
        }
        let n = self.mesh.normals[facet as usize];
        // The product has the sign of the plane's height above the point.
        n.dot(&(corners[0] - x)) * n.z > 0.0
    }
}
