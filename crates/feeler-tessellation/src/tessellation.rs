//! Tessellation of a box into Voronoi or Laguerre cells.
//!
//! # Source
//! DIST §6.3, Eqs. (6.1) and (6.2), with the distances *ordinary* and *additively power* of Table 6.1.
//!
//! # Deviations
//! - The weight of a site is w², not w, so it may be negative. Equal weights give ordinary Voronoi cells.
//! - Coordinates are rounded to multiples of 2⁻⁵¹ of the size of the domain, so that differences and periodic
//!   images have no rounding error.
//!
//! # Choice of libraries
//! `meshless_voronoi` 0.7 and `voro_rs` 0.3 (a binding of voro++, which needs a C++ compiler) were
//! considered. The former has no weights; the latter decides with tolerances, so two cells may disagree about
//! a face, and has no names for vertices that several cells share. Regularisation needs both.
//! benches/RESULTS.md has times.

use crate::clip::{Clipper, Polyhedron, Source};
use crate::domain::{Domain, Site};
use crate::grid::Grid;
use feeler_geom::{P3, V3, math};
use rayon::prelude::*;
use std::collections::HashMap;

/// Cell or wall behind a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Neighbour {
    /// Another cell, or an image of a cell.
    Cell {
        /// Index of its site.
        index: u32,
        /// Number of domains, along each axis, between the site and its image behind the face; 0 along axes
        /// that are not periodic.
        shift: [i32; 3],
    },
    /// Wall of the domain.
    Wall {
        /// Axis of the wall's normal: 0, 1 or 2.
        axis: u8,
        /// Whether the wall is at the upper end of the axis.
        upper: bool,
    },
}

/// Face of a cell: a convex polygon.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Cell or wall on the other side.
    pub neighbour: Neighbour,
    /// Indices of the cell's vertices, counter-clockwise seen from outside.
    pub vertices: Vec<u32>,
}

/// Convex polyhedron of the points that are nearest to one site.
///
/// Exactly three faces meet at each vertex. If more cells than four meet at one point, as in a lattice,
/// several vertices coincide, and edges or faces between them have no size.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Positions of the vertices.
    pub vertices: Vec<P3>,
    /// For each vertex, the indices of the three faces that meet there.
    pub corners: Vec<[u32; 3]>,
    /// Faces of the cell.
    pub faces: Vec<Face>,
    /// Volume.
    pub volume: f64,
    /// Centre of mass.
    pub centroid: P3,
}

impl Cell {
    /// Returns the edges, as pairs of vertices with the lower index first.
    #[must_use]
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut out = Vec::with_capacity(self.vertices.len() * 3 / 2);
        for face in &self.faces {
            for (a, b) in face.vertices.iter().zip(face.vertices.iter().cycle().skip(1)) {
                // The other face has the edge in the opposite direction.
                if a < b {
                    out.push([*a, *b]);
                }
            }
        }
        out.sort_unstable();
        out
    }

    /// Returns the area of a face times its unit normal, which points out of the cell.
    #[must_use]
    pub fn area_vector(&self, face: &Face) -> V3 {
        area_vector(&face.vertices.iter().map(|v| self.vertices[*v as usize]).collect::<Vec<_>>())
    }
}

/// Returns the area of a polygon times its unit normal.
pub(crate) fn area_vector(polygon: &[P3]) -> V3 {
    let Some(first) = polygon.first() else { return V3::zeros() };
    let pairs = polygon.iter().zip(polygon.iter().skip(1));
    pairs.fold(V3::zeros(), |sum, (a, b)| sum + (a - first).cross(&(b - first)) * 0.5)
}

/// Computes volume and centre of mass of a closed surface of polygons.
pub(crate) fn volume_and_centroid(polygons: impl Iterator<Item = Vec<P3>>, about: &P3) -> (f64, P3) {
    let (mut volume, mut moment) = (0.0, V3::zeros());
    for polygon in polygons {
        for k in 2..polygon.len() {
            let [a, b, c] = [polygon[0] - about, polygon[k - 1] - about, polygon[k] - about];
            let part = a.dot(&b.cross(&c)) / 6.0;
            volume += part;
            moment += (a + b + c) * (part / 4.0);
        }
    }
    (volume, if volume > 0.0 { about + moment / volume } else { *about })
}

/// Error of the sites or the domain of a tessellation.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TessellationError {
    /// A length of the domain is not a positive number.
    #[error("a length of the domain is not positive: {0}")]
    Length(f64),
    /// The number of sites is zero or exceeds the range of 32-bit indices.
    #[error("a tessellation needs 1 to 2³² − 1 sites, not {0}")]
    SiteCount(usize),
    /// A coordinate or a weight is not finite, or larger than the limit.
    #[error("site {0}: a coordinate or the weight is not a number, or exceeds the size of the domain by 10⁶")]
    Site(usize),
}

/// Maximum coordinate of a site relative to the largest length of the domain. With a larger value, rounding
/// of coordinates to the grid moves sites more; with a smaller one, a fit cannot move sites out of the box
/// freely.
const MAX_EXTENT: f64 = 1e6;

/// Relative margin of the distances up to which sites are searched; it exceeds the errors of vertices. A
/// larger value examines more sites; without a margin, a plane that touches a vertex may be missed.
const SEARCH_MARGIN: f64 = 1e-9;

/// Sites with a grid that finds those near a point.
#[derive(Clone, Debug)]
pub struct SiteIndex {
    domain: Domain,
    sites: Vec<Site>,
    max_weight: f64,
    grid: Grid,
}

/// Buffers of a cell computation, reused from cell to cell.
#[derive(Debug, Default)]
pub struct CellScratch {
    clipper: Clipper,
    candidates: Vec<(f64, u32, [i32; 3])>,
}

impl SiteIndex {
    /// Sorts sites into a grid.
    ///
    /// # Errors
    /// A length of the domain is not positive, the number of sites is 0 or too large, or a site is not
    /// finite.
    pub fn new(domain: &Domain, sites: &[Site]) -> Result<Self, TessellationError> {
        for length in domain.lengths.iter() {
            if !(*length > 0.0 && length.is_finite()) {
                return Err(TessellationError::Length(*length));
            }
        }
        if sites.is_empty() || u32::try_from(sites.len()).map_or(true, |n| n == u32::MAX) {
            return Err(TessellationError::SiteCount(sites.len()));
        }
        let largest = domain.lengths.max();
        let mut extent = largest;
        for (k, site) in sites.iter().enumerate() {
            let size = site.position.coords.amax();
            let is_valid = site.position.iter().all(|x| x.is_finite())
                && size <= MAX_EXTENT * largest
                && site.weight.abs() <= MAX_EXTENT * MAX_EXTENT * largest * largest;
            if !is_valid {
                return Err(TessellationError::Site(k));
            }
            extent = extent.max(size);
        }
        let quantum = quantum(extent);
        // Adding zero turns −0 into 0, so that equal coordinates are equal bits.
        let rounded = |x: f64| (x / quantum).round() * quantum + 0.0;
        let domain = Domain { lengths: domain.lengths.map(rounded), periodic: domain.periodic };
        let sites: Vec<Site> = sites
            .iter()
            .map(|s| {
                let mut position = P3::from(s.position.coords.map(rounded));
                for k in (0..3).filter(|k| domain.periodic[*k]) {
                    position[k] = position[k].rem_euclid(domain.lengths[k]);
                }
                Site { position, weight: s.weight }
            })
            .collect();
        let max_weight = sites.iter().map(|s| s.weight).fold(f64::NEG_INFINITY, f64::max);
        let grid = Grid::new(&domain, &sites);
        Ok(Self { domain, sites, max_weight, grid })
    }

    /// Returns the domain, whose lengths are rounded as the coordinates of the sites.
    #[must_use]
    pub const fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the sites, rounded, and moved into the domain along periodic axes.
    #[must_use]
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Computes the cell of a site. Returns `None` if the cell is empty, because other sites have larger
    /// weights.
    ///
    /// # Panics
    /// The index is not that of a site.
    #[must_use]
    pub fn cell(&self, index: usize, scratch: &mut CellScratch) -> Option<Cell> {
        let site = self.sites[index];
        #[expect(clippy::cast_possible_truncation, reason = "the number of sites is checked")]
        let number = index as u32;
        let clipper = &mut scratch.clipper;
        clipper.start(number, site.position, site.weight, self.bounds(number, &site));
        for ring in 1.. {
            let delta = (self.max_weight - site.weight).max(0.0);
            let reach = clipper.radius + (clipper.radius * clipper.radius + delta).sqrt();
            // The two innermost rings are sorted together, because the nearest sites cut off the most.
            let inner = if ring == 1 { 0 } else { ring };
            match self.grid.beyond(&self.domain, &site.position, inner) {
                Some(near) if near <= reach * (1.0 + SEARCH_MARGIN) => {}
                _ => break,
            }
            scratch.candidates.clear();
            for r in inner..=ring {
                self.grid.for_ring(&self.domain, &site.position, r, |other, shift| {
                    if other != number || shift != [0; 3] {
                        let o = self.sites[other as usize];
                        let d_sq = (self.image(&o.position, shift) - site.position).norm_squared();
                        let key = (d_sq - o.weight + site.weight) / d_sq.max(f64::MIN_POSITIVE).sqrt();
                        scratch.candidates.push((key, other, shift));
                    }
                });
            }
            scratch
                .candidates
                .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
            for (key, other, shift) in &scratch.candidates {
                if *key > 2.0 * clipper.radius * (1.0 + SEARCH_MARGIN) {
                    break;
                }
                let o = self.sites[*other as usize];
                clipper.cut(*other, *shift, self.image(&o.position, *shift), o.weight);
                if clipper.is_empty {
                    return None;
                }
            }
        }
        if clipper.is_empty { None } else { Some(self.finish(&site, &clipper.polyhedron())) }
    }

    /// Returns the index of the site with the smallest weighted distance from a point of the domain; the
    /// lowest index if several are equally near.
    #[must_use]
    pub fn nearest(&self, point: &P3) -> u32 {
        let mut best = (f64::INFINITY, u32::MAX);
        for ring in 0.. {
            match self.grid.beyond(&self.domain, point, ring) {
                Some(near) if near * near - self.max_weight <= best.0 => {}
                _ => break,
            }
            self.grid.for_ring(&self.domain, point, ring, |k, shift| {
                let site = self.sites[k as usize];
                let power = (self.image(&site.position, shift) - point).norm_squared() - site.weight;
                if power < best.0 || (power <= best.0 && k < best.1) {
                    best = (power, k);
                }
            });
        }
        best.1
    }

    /// Returns the box from which the cell of a site is clipped: walls, or the radical planes of the site's
    /// own images.
    fn bounds(&self, number: u32, site: &Site) -> [[(Source, f64); 2]; 3] {
        [0, 1, 2].map(|axis| {
            [false, true].map(|upper| {
                let length = self.domain.lengths[axis];
                if self.domain.periodic[axis] {
                    let mut shift = [0; 3];
                    shift[axis] = if upper { 1 } else { -1 };
                    let position = self.image(&site.position, shift);
                    let source = Source::Site { index: number, shift, position, weight: site.weight };
                    (source, 0.5 * length)
                } else {
                    let x = site.position[axis];
                    (Source::Wall { axis, upper }, if upper { length - x } else { x })
                }
            })
        })
    }

    fn image(&self, position: &P3, shift: [i32; 3]) -> P3 {
        position + self.domain.lengths.component_mul(&V3::from(shift.map(f64::from)))
    }

    fn finish(&self, site: &Site, polyhedron: &Polyhedron) -> Cell {
        let vertices: Vec<P3> = polyhedron
            .vertices
            .iter()
            .map(|v| {
                let mut p = site.position + v;
                for k in (0..3).filter(|k| !self.domain.periodic[*k]) {
                    p[k] = p[k].clamp(0.0, self.domain.lengths[k]);
                }
                p
            })
            .collect();
        let faces: Vec<Face> = polyhedron
            .faces
            .iter()
            .map(|(source, vertices)| Face { neighbour: neighbour(source), vertices: vertices.clone() })
            .collect();
        let polygons = faces.iter().map(|f| f.vertices.iter().map(|v| vertices[*v as usize]).collect());
        #[expect(clippy::cast_precision_loss, reason = "few vertices")]
        let middle = vertices.iter().fold(V3::zeros(), |s, p| s + p.coords) / vertices.len() as f64;
        let (volume, centroid) = volume_and_centroid(polygons, &P3::from(middle));
        Cell { corners: polyhedron.corners.clone(), volume, centroid, vertices, faces }
    }
}

/// Returns the power of two of which all coordinates are multiples. Differences of coordinates up to `extent`
/// and their images then have no rounding error.
fn quantum(extent: f64) -> f64 {
    let mut power = 1.0;
    while power < extent {
        power *= 2.0;
    }
    while power * 0.5 >= extent {
        power *= 0.5;
    }
    power * math::powi(2.0, -51)
}

fn neighbour(source: &Source) -> Neighbour {
    match *source {
        Source::Site { index, shift, .. } => Neighbour::Cell { index, shift },
        Source::Wall { axis, upper } => {
            #[expect(clippy::cast_possible_truncation, reason = "at most 2")]
            let axis = axis as u8;
            Neighbour::Wall { axis, upper }
        }
    }
}

/// Cells of all sites.
#[derive(Clone, Debug)]
pub struct Tessellation {
    /// Domain of the cells.
    pub domain: Domain,
    /// Sites, along periodic axes inside the domain.
    pub sites: Vec<Site>,
    /// Cell of each site; `None` if it is empty.
    pub cells: Vec<Option<Cell>>,
}

/// Computes all cells. The result does not depend on the number of threads.
///
/// # Errors
/// A length of the domain is not positive, the number of sites is 0 or too large, or a site is not finite.
///
/// ```
/// use feeler_tessellation::{Domain, Site, tessellate};
/// use feeler_geom::{P3, V3};
///
/// let domain = Domain { lengths: V3::new(2.0, 1.0, 1.0), periodic: [false; 3] };
/// let site = |x: f64, weight: f64| Site { position: P3::new(x, 0.5, 0.5), weight };
/// let cells = tessellate(&domain, &[site(0.5, 0.0), site(1.5, 0.4)]).unwrap().cells;
/// // The radical plane is at x = 0.8, because 0.3² = 0.7² − 0.4.
/// let volume = |k: usize| cells[k].as_ref().unwrap().volume;
/// assert!((volume(0) - 0.8).abs() < 1e-12 && (volume(1) - 1.2).abs() < 1e-12);
/// ```
pub fn tessellate(domain: &Domain, sites: &[Site]) -> Result<Tessellation, TessellationError> {
    let index = SiteIndex::new(domain, sites)?;
    let cells = (0..sites.len())
        .into_par_iter()
        .map_init(CellScratch::default, |scratch, k| index.cell(k, scratch))
        .collect();
    Ok(Tessellation { domain: index.domain, sites: index.sites, cells })
}

/// Vertices that cells share.
#[derive(Clone, Debug, Default)]
pub struct SharedVertices {
    /// Position of each vertex: that of the first cell that has it.
    pub positions: Vec<P3>,
    /// For each cell, in the order of its vertices: the index of the shared vertex, and the number of domains
    /// along each axis by which the cell's vertex is shifted from it.
    pub of_cell: Vec<Vec<(u32, [i32; 3])>>,
}

/// Site with its image, or a wall as `u32::MAX` and its number.
type Name = (u32, [i32; 3]);

impl Tessellation {
    /// Returns the vertices of all cells, each once. Vertices are identified by the cells and walls that meet
    /// there, not by their positions.
    #[must_use]
    pub fn shared_vertices(&self) -> SharedVertices {
        let mut numbers: HashMap<[Name; 4], (u32, [i32; 3])> = HashMap::new();
        let mut out = SharedVertices::default();
        for (k, cell) in self.cells.iter().enumerate() {
            let mut list = Vec::new();
            for (v, corner) in cell
                .iter()
                .flat_map(|c| c.corners.iter().enumerate().map(move |x| (c, x)))
                .map(|(c, (v, n))| (v, n.map(|f| c.faces[f as usize].neighbour)))
            {
                let (key, base) = vertex_name(k, corner);
                let next = (u32::try_from(out.positions.len()).unwrap_or(u32::MAX), base);
                let (number, first) = *numbers.entry(key).or_insert(next);
                if number == next.0 {
                    out.positions.extend(cell.iter().map(|c| c.vertices[v]));
                }
                list.push((number, [0, 1, 2].map(|a| base[a] - first[a])));
            }
            out.of_cell.push(list);
        }
        out
    }
}

/// Returns the name of a vertex of cell `k`, which does not depend on the cell from which it is seen, and the
/// image of the vertex that the cell has.
fn vertex_name(k: usize, corner: [Neighbour; 3]) -> ([Name; 4], [i32; 3]) {
    #[expect(clippy::cast_possible_truncation, reason = "the number of sites is checked")]
    let mut names: [Name; 4] = [(k as u32, [0; 3]); 4];
    for (name, neighbour) in names.iter_mut().skip(1).zip(corner) {
        *name = match neighbour {
            Neighbour::Cell { index, shift } => (index, shift),
            Neighbour::Wall { axis, upper } => (u32::MAX, [i32::from(axis), i32::from(upper), 0]),
        };
    }
    let first = names.iter().map(|n| n.0).min().unwrap_or(0);
    let relative = |base: [i32; 3]| {
        let mut moved = names.map(|(i, s)| {
            if i == u32::MAX { (i, s) } else { (i, [s[0] - base[0], s[1] - base[1], s[2] - base[2]]) }
        });
        moved.sort_unstable();
        (moved, base)
    };
    let bases = names.iter().filter(|n| n.0 == first).map(|n| relative(n.1));
    bases.min().unwrap_or((names, [0; 3]))
}
