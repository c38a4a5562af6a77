//! Convexity of a hull: the largest distance of a surface point from the hull's boundary along its normal.
//!
//! # Source
//! DIST §3.3.2 (3.11), (3.12).
//!
//! # Deviations
//! - (3.11) is a maximum, not a minimum as printed.
//! - (3.12) measures the points of one part. Here all points of the surface inside the part's hull
//!   count, whichever part they belong to: otherwise the outer surface of a plate with a bore would be one
//!   part of convexity 0, although its hull covers the bore.
//! - The maximum is taken over samples of the surface and the middles of cells.

use crate::cell::{Cell, Sample};
use feeler_convex::{ConvexShapeError, Polytope};
use feeler_geom::{Aabb, P3, V3};
use std::rc::Rc;

/// Depth inside a hull from which a sample counts, relative to the requested convexity. With a larger value
/// shallow concavities are missed; with a smaller one rounding of hulls counts as concavity.
const MIN_DEPTH: f64 = 0.02;

/// Smallest cosine between a ray and the normal of a side through which it leaves a hull. A larger value
/// overestimates distances, a smaller one divides by rounding errors.
const MIN_EXIT_COS: f64 = 1e-9;

/// Largest cosine between the normals of the two worst samples. A larger value gives two nearly equal
/// planes for the next cut, a smaller one often only one.
const DISTINCT_COS: f64 = 0.9;

/// Area of a facet relative to its longest side, squared, from which its corners give the offset of its
/// side. With a larger value more sides are compared with all vertices, with a smaller one rounding matters.
const MIN_SHAPE: f64 = 1e-4;

/// Number of recent sides with which a side is compared. A larger value takes longer, with a smaller one
/// more sides are tested twice.
const MAX_COMPARED: usize = 32;

/// Two sides whose normals differ by less than this count as one. A larger value loosens the hull that is
/// measured; with a smaller one the same side is tested several times.
const SAME_SIDE: f64 = 1e-12;

/// Hull of a group of cells with the surface samples inside it.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Vertices of the hull (mm).
    pub(crate) vertices: Vec<P3>,
    /// Box of the vertices.
    pub(crate) bounds: Aabb,
    /// Convexity (mm).
    pub(crate) convexity: f64,
    /// Sum of the distances of all samples along their normals (mm).
    pub(crate) sum: f64,
    /// The sample with the largest distance along its normal (mm), and one with a large distance and a
    /// distinct normal, if there are any.
    pub(crate) worst: Vec<(Sample, f64)>,
    /// Indices of samples inside the hull.
    pub(crate) inside: Vec<u32>,
}

/// Lengths of a decomposition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    /// Requested convexity (mm).
    pub(crate) convexity: f64,
    /// Distance of points that count as one (mm).
    pub(crate) tol: f64,
}

/// Computes the hull of a group of cells and its convexity. `among` lists the samples that may be inside
/// the hull.
pub(crate) fn measured(
    cells: &[Rc<Cell<'_>>],
    samples: &[Sample],
    among: &[u32],
    lengths: &Lengths,
) -> Result<Measured, ConvexShapeError> {
    let points: Vec<P3> = cells.iter().flat_map(|c| c.points.iter().copied()).collect();
    let (mut out, sides) = with_sides(points, samples, among, lengths, f64::INFINITY)?;
    // Cuts may leave a cell without samples inside the hull, so its middle is one, too.
    for sample in cells.iter().filter_map(|cell| cell.sample()) {
        if let Some(exit) = exit_distance(&sides, &sample, MIN_DEPTH * lengths.convexity) {
            out.add(sample, exit);
        }
    }
    Ok(out)
}

/// Like [`measured`], for the hull of points. Returns early if the convexity exceeds `limit` (mm); the other
/// results then refer to a part of the samples.
pub(crate) fn measured_points(
    points: Vec<P3>,
    samples: &[Sample],
    among: &[u32],
    lengths: &Lengths,
    limit: f64,
) -> Result<Measured, ConvexShapeError> {
    with_sides(points, samples, among, lengths, limit).map(|(hull, _)| hull)
}

/// Like [`measured_points`]; also returns the sides of the hull that was measured.
fn with_sides(
    points: Vec<P3>,
    samples: &[Sample],
    among: &[u32],
    lengths: &Lengths,
    limit: f64,
) -> Result<(Measured, Vec<HalfSpace>), ConvexShapeError> {
    let hull = Polytope::new(&without_duplicates(points, lengths.tol))?;
    let vertices = hull.vertices().to_vec();
    let bounds = Aabb::of_points(&vertices);
    let depth = MIN_DEPTH * lengths.convexity;
    let sides = thick_sides(&hull, depth)?;
    let near = bounds.inflated(depth);
    let mut out =
        Measured { vertices, bounds, convexity: 0.0, sum: 0.0, worst: Vec::new(), inside: Vec::new() };
    for i in among {
        let sample = &samples[*i as usize];
        if !near.contains(&sample.point) {
            continue;
        }
        if let Some(exit) = exit_distance(&sides, sample, depth) {
            out.inside.push(*i);
            out.add(*sample, exit);
            if exit > limit {
                break;
            }
        }
    }
    Ok((out, sides))
}

impl Measured {
    /// Adds a sample inside the hull with the distance along its normal.
    fn add(&mut self, sample: Sample, exit: f64) {
        self.convexity = self.convexity.max(exit);
        self.sum += exit;
        let is_distinct = |other: &Sample| other.normal.dot(&sample.normal).abs() < DISTINCT_COS;
        match self.worst.first() {
            Some((first, at)) if exit <= *at => {
                let is_second = self.worst.get(1).is_none_or(|(_, at)| exit > *at);
                if is_second && is_distinct(first) {
                    self.worst.truncate(1);
                    self.worst.push((sample, exit));
                }
            }
            _ => {
                let second = self.worst.iter().find(|(other, _)| is_distinct(other)).copied();
                self.worst.clear();
                self.worst.push((sample, exit));
                self.worst.extend(second);
            }
        }
    }
}

/// Points `p` with `normal · p ≤ offset`.
#[derive(Clone, Copy, Debug)]
struct HalfSpace {
    normal: V3,
    offset: f64,
}

/// Distance (mm) of a sample from the boundary of a hull along its normal; `None` unless the sample is at
/// least `depth` inside.
fn exit_distance(sides: &[HalfSpace], sample: &Sample, depth: f64) -> Option<f64> {
    let mut exit = f64::INFINITY;
    for side in sides {
        let inside = side.offset - side.normal.dot(&sample.point.coords);
        if inside < depth {
            return None;
        }
        let cos = side.normal.dot(&sample.normal);
        if cos > MIN_EXIT_COS {
            exit = exit.min(inside / cos);
        }
    }
    exit.is_finite().then_some(exit)
}

/// Returns the sides of a hull. A hull thinner than 4 `depth` is enlarged along its thinnest direction,
/// because samples on a flat hull would not be inside. The list is empty for a hull without area.
fn thick_sides(hull: &Polytope, depth: f64) -> Result<Vec<HalfSpace>, ConvexShapeError> {
    let vertices = hull.vertices();
    let sides = sides(hull);
    let normals = sides.iter().map(|side| side.normal);
    let thinnest = normals
        .chain(plane_normal(vertices).filter(|_| sides.is_empty()))
        .filter_map(|normal| Some((thickness_below(4.0 * depth, vertices, &normal)?, normal)))
        .reduce(|a, b| if b.0 < a.0 { b } else { a });
    let Some((_, normal)) = thinnest else { return Ok(sides) };
    let offset = normal * (2.0 * depth);
    let prism: Vec<P3> = vertices.iter().flat_map(|p| [p + offset, p - offset]).collect();
    Ok(self::sides(&Polytope::new(&prism)?))
}

/// Extent of points along a unit vector (mm); `None` if it is at least `limit`, which the first points show
/// for most directions.
fn thickness_below(limit: f64, points: &[P3], normal: &V3) -> Option<f64> {
    let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
    for p in points {
        let height = p.coords.dot(normal);
        (lo, hi) = (lo.min(height), hi.max(height));
        if hi - lo >= limit {
            return None;
        }
    }
    Some(hi - lo)
}

/// Normal of the plane of coplanar points; `None` if they are collinear.
fn plane_normal(points: &[P3]) -> Option<V3> {
    let a = points.first()?;
    let far = points.iter().max_by(|p, q| (*p - a).norm().total_cmp(&(*q - a).norm()))?;
    let along = far - a;
    let crosses = points.iter().map(|p| along.cross(&(p - a)));
    let widest = crosses.max_by(|p, q| p.norm().total_cmp(&q.norm()))?;
    // A triangle narrower than this fraction of its length has no reliable normal.
    if widest.norm() <= 1e-12 * along.norm_squared() {
        return None;
    }
    widest.try_normalize(0.0)
}

/// Half-spaces whose intersection contains a hull up to rounding: one for each facet that is large enough
/// for a normal. The offset of a narrow facet, whose normal is inexact, is that of the farthest vertex, so
/// that the side is only looser.
fn sides(hull: &Polytope) -> Vec<HalfSpace> {
    let vertices = hull.vertices();
    let mut out: Vec<HalfSpace> = Vec::new();
    for facet in hull.facets() {
        let corners = facet.map(|i| feeler_convex::Support::numbered(hull, i));
        let [Some(a), Some(b), Some(c)] = corners else { continue };
        let cross = (b - a).cross(&(c - a));
        let Some(normal) = cross.try_normalize(f64::MIN_POSITIVE) else { continue };
        let recent = out.iter().rev().take(MAX_COMPARED);
        if recent.into_iter().any(|side| side.normal.dot(&normal) > 1.0 - SAME_SIDE) {
            continue;
        }
        let longest = (b - a).norm_squared().max((c - b).norm_squared()).max((a - c).norm_squared());
        let height = |p: &P3| p.coords.dot(&normal);
        let offset = if cross.norm() > MIN_SHAPE * longest {
            height(&a).max(height(&b)).max(height(&c))
        } else {
            vertices.iter().map(height).fold(f64::NEG_INFINITY, f64::max)
        };
        out.push(HalfSpace { normal, offset });
    }
    out
}

/// Returns points without those that are within `tol` (mm) of an earlier one.
pub(crate) fn without_duplicates(mut points: Vec<P3>, tol: f64) -> Vec<P3> {
    let key = |p: &P3| (p.x, p.y, p.z);
    points.sort_by(|p, q| {
        let (p, q) = (key(p), key(q));
        p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)).then(p.2.total_cmp(&q.2))
    });
    let mut out: Vec<P3> = Vec::with_capacity(points.len());
    for p in points {
        let near = out.iter().rev().take_while(|q| p.x - q.x <= tol);
        if !near.into_iter().any(|q| (p - q).amax() <= tol) {
            out.push(p);
        }
    }
    out
}
