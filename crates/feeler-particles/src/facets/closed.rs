//! Whether a wall of facets is closed, and what it encloses.

use super::mesh::id;
use super::wall::FacetWall;
use feeler_geom::{Aabb, P3};

impl FacetWall {
    /// Sides of facets that no other facet shares in the opposite direction; 0 where the wall is closed.
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

    /// Volume that the wall encloses (mm³): positive where its facets look outwards, negative where they look
    /// inwards. Of an open wall it means nothing.
    #[must_use]
    pub fn volume(&self) -> f64 {
        let Some(from) = self.mesh.vertices.first() else { return 0.0 };
        let six = |k: usize| {
            let [a, b, c] = self.mesh.corners(k).map(|p| p - from);
            a.dot(&b.cross(&c))
        };
        (0..self.mesh.facets.len()).map(six).sum::<f64>() / 6.0
    }

    /// Whether a closed wall has a point (world) inside, where it is now: an odd number of facets is straight
    /// above it in the wall's coordinates. A point on a facet is on either side.
    #[must_use]
    pub fn encloses(&self, point: &P3) -> bool {
        let x = self.pose().inverse_transform_point(point);
        let mut near = Vec::new();
        self.tree.above(&self.mesh, &x, &mut near);
        near.into_iter().filter(|facet| self.is_above(*facet, &x)).count() % 2 == 1
    }

    /// Whether some facet, from whichever side, is nearer to a point (world) than a radius.
    #[must_use]
    pub fn reaches(&self, point: &P3, radius: f64) -> bool {
        let x = self.pose().inverse_transform_point(point);
        let mut near = Vec::new();
        self.tree.near(&self.mesh, &x, radius, &mut near);
        near.into_iter().any(|facet| self.mesh.closest(facet, &x).distance < radius)
    }

    /// Box around the wall where it is now (world).
    #[must_use]
    pub fn placed_bounds(&self) -> Aabb {
        let placed: Vec<P3> = self.mesh.vertices.iter().map(|p| self.pose() * p).collect();
        Aabb::of_points(&placed)
    }

    /// Whether a facet is straight above a point. Sides that two facets share are judged once for both, so
    /// that a line between two facets meets one of them, not none or both.
    fn is_above(&self, facet: u32, x: &P3) -> bool {
        let corners = self.mesh.corners(facet as usize);
        let crossed = |k: usize| {
            let (mut a, mut b) = (corners[k], corners[(k + 1) % 3]);
            if (a.y <= x.y) == (b.y <= x.y) {
                return false;
            }
            // Always from below, so that rounding is the same for both facets.
            if a.y > b.y {
                std::mem::swap(&mut a, &mut b);
            }
            (b.x - a.x) * (x.y - a.y) > (x.x - a.x) * (b.y - a.y)
        };
        if (0..3).filter(|k| crossed(*k)).count() % 2 == 0 {
            return false;
        }
        let n = self.mesh.normals[facet as usize];
        // The plane's height over the point has the sign of this.
        n.dot(&(corners[0] - x)) * n.z > 0.0
    }
}
