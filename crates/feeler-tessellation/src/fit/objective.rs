//! The objective of the fit and its derivatives by sites and weights.
//!
//! # Source
//! DIST §6.3.1, Eq. (6.5), with c = 1 / (D √N): D is the mean diameter of the grains, N the number of
//! boundary voxels. The objective is then the root mean square of the distances in mean grain diameters.
//!
//! # Derivatives
//! Let f be the point of a cell nearest to a voxel, and n the unit vector from f to the voxel. Then n is a
//! sum of the outward normals of the faces at f with factors λ ≥ 0. If the faces move inwards by s, the
//! distance grows by Σ λ s (sensitivity of a linear programme). The signed distance of f to the radical plane
//! of the sites i and j is s = (|f − xᵢ|² − wᵢ − |f − xⱼ|² + wⱼ) / (2 |xⱼ − xᵢ|).

use super::distance::CellDistance;
use super::normal::{Normal, Row};
use crate::image::{Grains, InterfacePoint};
use crate::tessellation::{Cell, CellScratch, Neighbour, SiteIndex};
use feeler_geom::{P3, V3};
use nalgebra::{Matrix2, Matrix3, Vector2, Vector4};
use rayon::prelude::*;

/// Distance from a face within which a point counts as lying on it, relative to the size of the cell. With a
/// larger value, faces nearby share derivatives; with a smaller one, rounding hides a face.
const ON_FACE: f64 = 1e-9;

/// Maximum difference between a unit vector and the sum of normals of faces that represents it. If it is
/// exceeded, more faces are tried.
const MAX_NORMAL_ERROR: f64 = 1e-7;

/// Number of interface points that one task evaluates. It fixes the order of summation, so results do not
/// depend on the number of threads.
const CHUNK: usize = 4096;

/// Squared distances of the boundary voxels of one grain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CellSum {
    pub(super) squares: f64,
    /// Number of voxels outside of the cell.
    pub(super) outside: usize,
    /// Number of distances that failed; the distance to the violated plane replaces them.
    pub(super) failures: usize,
}

impl std::ops::AddAssign for CellSum {
    fn add_assign(&mut self, o: Self) {
        self.squares += o.squares;
        self.outside += o.outside;
        self.failures += o.failures;
    }
}

/// Function that is called with a distance and its derivatives.
type Visitor<'a> = &'a mut dyn FnMut(f64, &[Row]);

/// Plane of a face of a cell: normal · (x − site) ≤ offset.
struct FacePlane {
    normal: V3,
    offset: f64,
    /// Index and position of the site on the other side; `None` for walls.
    other: Option<(u32, P3)>,
}

fn face_planes(cell: &Cell, grain: usize, sites: &SiteIndex) -> Vec<FacePlane> {
    let site = sites.sites()[grain];
    let planes = cell.faces.iter().map(|face| match face.neighbour {
        Neighbour::Wall { axis, upper } => {
            let axis = usize::from(axis);
            let mut normal = V3::zeros();
            normal[axis] = if upper { 1.0 } else { -1.0 };
            let x = site.position[axis];
            let offset = if upper { sites.domain().lengths[axis] - x } else { x };
            FacePlane { normal, offset, other: None }
        }
        Neighbour::Cell { index, shift } => {
            let o = sites.sites()[index as usize];
            let position = o.position + V3::from(shift.map(f64::from)).component_mul(&sites.domain().lengths);
            let row = position - site.position;
            let length = row.norm();
            let offset = (row.norm_squared() - o.weight + site.weight) / (2.0 * length);
            FacePlane { normal: row / length, offset, other: Some((index, position)) }
        }
    });
    planes.collect()
}

/// Computes the sum of squared distances of one grain, and calls `visit` with each distance and its
/// derivatives, if derivatives are wanted.
pub(super) fn grain_sum<D: CellDistance>(
    grains: &Grains,
    grain: usize,
    sites: &SiteIndex,
    distance: &D,
    scratch: &mut CellScratch,
    mut visit: Option<Visitor<'_>>,
) -> CellSum {
    let mut sum = CellSum::default();
    let site = sites.sites()[grain];
    #[expect(clippy::cast_possible_truncation, reason = "grains have 32-bit indices")]
    let number = grain as u32;
    let Some(cell) = sites.cell(grain, scratch) else {
        // A grain without a cell pulls its site to its voxels.
        for p in &grains.boundary[grain] {
            let to = grains.domain.nearest_offset(&(p - site.position));
            let d = to.norm();
            sum += CellSum { squares: d * d, outside: 1, failures: 0 };
            if let Some(visit) = &mut visit
                && d > 0.0
            {
                visit(d, &[(number, (-to / d).push(0.0))]);
            }
        }
        return sum;
    };
    let planes = face_planes(&cell, grain, sites);
    let size = cell.vertices.iter().map(|v| (v - cell.centroid).norm()).fold(0.0, f64::max);
    for voxel in &grains.boundary[grain] {
        let p = cell.centroid + grains.domain.nearest_offset(&(voxel - cell.centroid));
        let relative = p - site.position;
        let mut worst = (0.0, V3::zeros());
        for plane in &planes {
            let s = plane.normal.dot(&relative) - plane.offset;
            if s > worst.0 {
                worst = (s, plane.normal);
            }
        }
        if worst.0 <= 0.0 {
            continue;
        }
        sum.outside += 1;
        let (d, foot) = distance.nearest(&cell.vertices, &p, &worst.1).unwrap_or_else(|| {
            sum.failures += 1;
            (worst.0, p - worst.1 * worst.0)
        });
        sum.squares += d * d;
        if let Some(visit) = &mut visit
            && d > 0.0
        {
            let rows = distance_rows(&planes, number, &site.position, &foot, &((p - foot) / d), size);
            visit(d, &rows);
        }
    }
    sum
}

/// Returns the derivatives of a distance by the sites and weights at its footpoint.
fn distance_rows(
    planes: &[FacePlane],
    grain: u32,
    site: &P3,
    foot: &P3,
    direction: &V3,
    size: f64,
) -> Vec<Row> {
    let on = |p: &&FacePlane| (p.normal.dot(&(foot - site)) - p.offset).abs() <= ON_FACE * size;
    let active: Vec<&FacePlane> = planes.iter().filter(on).collect();
    let normals: Vec<V3> = active.iter().map(|p| p.normal).collect();
    let mut own = Vector4::zeros();
    let mut rows: Vec<Row> = Vec::with_capacity(4);
    for (k, factor) in conic_combination(&normals, direction) {
        let Some((other, position)) = active[k].other else { continue };
        let length = (position - site).norm();
        own += (-(foot - site) / length).push(-0.5 / length) * factor;
        rows.push((other, ((foot - position) / length).push(0.5 / length) * factor));
    }
    rows.push((grain, own));
    rows
}

/// Represents a unit vector by at most three of the vectors with factors ≥ 0, as well as possible.
fn conic_combination(vectors: &[V3], target: &V3) -> Vec<(usize, f64)> {
    let mut best: (f64, Vec<(usize, f64)>) = (f64::INFINITY, Vec::new());
    let mut offer = |list: Vec<(usize, f64)>| {
        let sum = list.iter().fold(V3::zeros(), |s, (k, f)| s + vectors[*k] * *f);
        let error = (sum - target).norm();
        if list.iter().all(|(_, f)| *f >= 0.0) && error < best.0 {
            best = (error, list);
        }
        best.0 <= MAX_NORMAL_ERROR
    };
    let n = vectors.len();
    for (i, vector) in vectors.iter().enumerate() {
        if offer(vec![(i, vector.dot(target))]) {
            return best.1;
        }
    }
    for i in 0..n {
        for j in i + 1..n {
            let (a, b) = (vectors[i], vectors[j]);
            let gram = Matrix2::new(a.dot(&a), a.dot(&b), a.dot(&b), b.dot(&b));
            let right = Vector2::new(a.dot(target), b.dot(target));
            if let Some(f) = gram.try_inverse().map(|m| m * right)
                && offer(vec![(i, f[0]), (j, f[1])])
            {
                return best.1;
            }
        }
    }
    for i in 0..n {
        for j in i + 1..n {
            for k in j + 1..n {
                let matrix = Matrix3::from_columns(&[vectors[i], vectors[j], vectors[k]]);
                if let Some(f) = matrix.try_inverse().map(|m| m * target)
                    && offer(vec![(i, f[0]), (j, f[1]), (k, f[2])])
                {
                    return best.1;
                }
            }
        }
    }
    best.1
}

/// Computes the sums of all grains.
pub(super) fn boundary_sums<D: CellDistance>(grains: &Grains, sites: &SiteIndex, distance: &D) -> CellSum {
    let sums: Vec<CellSum> = (0..grains.labels.len())
        .into_par_iter()
        .map_init(CellScratch::default, |s, k| grain_sum(grains, k, sites, distance, s, None))
        .collect();
    let mut total = CellSum::default();
    sums.into_iter().for_each(|s| total += s);
    total
}

/// Computes the normal equations of the distances of all boundary voxels.
pub(super) fn boundary_normal<D: CellDistance>(grains: &Grains, sites: &SiteIndex, distance: &D) -> Normal {
    let n = grains.labels.len();
    let parts: Vec<Normal> = (0..n)
        .into_par_iter()
        .map_init(CellScratch::default, |scratch, k| {
            let mut normal = Normal::default();
            let mut visit = |d: f64, rows: &[Row]| normal.add(d, rows);
            grain_sum(grains, k, sites, distance, scratch, Some(&mut visit));
            normal
        })
        .collect();
    Normal::sum(parts)
}

/// Computes the signed distance of an interface point to the radical plane of its grains, and its
/// derivatives.
fn interface_row(point: &InterfacePoint, sites: &SiteIndex) -> Option<(f64, [Row; 2])> {
    let [a, b] = point.grains.map(|k| sites.sites()[k as usize]);
    let from_a = sites.domain().nearest_offset(&(point.position - a.position));
    let from_b = sites.domain().nearest_offset(&(point.position - b.position));
    let row = from_a - from_b;
    let length = row.norm();
    if length <= 0.0 {
        return None;
    }
    let s = (from_a.norm_squared() - a.weight - from_b.norm_squared() + b.weight) / (2.0 * length);
    let turn = row * (s / (length * length));
    let by_a = (turn - from_a / length).push(-0.5 / length);
    let by_b = (from_b / length - turn).push(0.5 / length);
    Some((s, [(point.grains[0], by_a), (point.grains[1], by_b)]))
}

/// Computes the sum of the squared distances of the interface points to their planes.
pub(super) fn interface_sum(grains: &Grains, sites: &SiteIndex) -> f64 {
    let sum = |chunk: &[InterfacePoint]| {
        chunk.iter().filter_map(|p| interface_row(p, sites)).map(|(s, _)| s * s).sum::<f64>()
    };
    let parts: Vec<f64> = grains.interface.par_chunks(CHUNK).map(sum).collect();
    parts.into_iter().sum()
}

/// Computes the normal equations of the interface points.
pub(super) fn interface_normal(grains: &Grains, sites: &SiteIndex) -> Normal {
    let parts: Vec<Normal> = grains
        .interface
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut normal = Normal::default();
            for (s, rows) in chunk.iter().filter_map(|p| interface_row(p, sites)) {
                normal.add(s, &rows);
            }
            normal
        })
        .collect();
    Normal::sum(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Site};
    use crate::fit::distance::Gjk;
    use crate::image::VoxelImage;

    /// An image, and sites that are not those of the image, so that many voxels are outside of their cells.
    fn problem(periodic: [bool; 3]) -> (Grains, Domain, Vec<Site>) {
        let domain = Domain { lengths: V3::new(20.0, 18.0, 16.0), periodic };
        let mut state = 0.3;
        let mut next = || {
            state = (state * 997.0_f64 + 0.123).fract();
            state
        };
        let sites: Vec<Site> = (0..30)
            .map(|_| Site { position: P3::from(domain.lengths.map(|l| l * next())), weight: 4.0 * next() })
            .collect();
        let image = VoxelImage::of_tessellation(&SiteIndex::new(&domain, &sites).unwrap(), [20, 18, 16]);
        let moved = sites
            .iter()
            .map(|s| Site {
                position: s.position + V3::new(next() - 0.5, next() - 0.5, next() - 0.5) * 3.0,
                weight: s.weight + 6.0 * (next() - 0.5),
            })
            .collect();
        let grains = Grains::new(&image, periodic).unwrap();
        assert_eq!(grains.labels.len(), 30, "every site has voxels");
        (grains, domain, moved)
    }

    /// Compares the gradient with central differences of the sum.
    fn check(domain: &Domain, sites: &[Site], sum: impl Fn(&SiteIndex) -> f64, normal: &Normal) {
        let gradient = normal.gradient(sites.len());
        let largest = gradient.iter().map(|g| g.amax()).fold(0.0, f64::max);
        for (k, exact) in gradient.iter().enumerate() {
            for (component, exact) in exact.iter().enumerate() {
                let h = 1e-5;
                let at = |h: f64| {
                    let mut moved = sites.to_vec();
                    if component < 3 {
                        moved[k].position[component] += h;
                    } else {
                        moved[k].weight += h;
                    }
                    sum(&SiteIndex::new(domain, &moved).unwrap())
                };
                // The gradient is that of half of the sum.
                let numeric = (at(h) - at(-h)) / (4.0 * h);
                let error = (numeric - exact).abs();
                assert!(error < 1e-6 * largest, "site {k}, {component}: {numeric} {exact}");
            }
        }
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        for periodic in [[false; 3], [true, true, false]] {
            let (grains, domain, sites) = problem(periodic);
            let index = SiteIndex::new(&domain, &sites).unwrap();
            let gjk = Gjk::<feeler_convex::SignedVolumes>::default();
            let total = boundary_sums(&grains, &index, &gjk);
            assert!(total.outside > 300 && total.failures == 0, "{total:?}");
            let normal = boundary_normal(&grains, &index, &gjk);
            check(&domain, &sites, |s| boundary_sums(&grains, s, &gjk).squares, &normal);
            let normal = interface_normal(&grains, &index);
            check(&domain, &sites, |s| interface_sum(&grains, s), &normal);
        }
    }

    #[test]
    fn vectors_are_sums_of_normals_with_positive_factors() {
        let vectors = [V3::x(), V3::y(), V3::z(), V3::new(-1.0, 0.0, 0.0)];
        let target = V3::new(1.0, 2.0, 2.0) / 3.0;
        let found = conic_combination(&vectors, &target);
        assert_eq!(found.iter().map(|(k, _)| *k).collect::<Vec<_>>(), [0, 1, 2]);
        assert!((found[1].1 - 2.0 / 3.0).abs() < 1e-15);
        let two = conic_combination(&vectors, &V3::new(-0.6, 0.0, 0.8));
        assert_eq!(two.iter().map(|(k, _)| *k).collect::<Vec<_>>(), [2, 3]);
    }
}
