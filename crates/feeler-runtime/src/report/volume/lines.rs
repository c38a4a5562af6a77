//! Volume of the common part of two solids from the lengths of parallel lines in it.
//!
//! The lengths are integrated over a plane perpendicular to the lines, by Gauss's rule on squares. The
//! square with the largest estimated error is divided until the errors are small or the limit of lines is
//! reached. The lines are oblique, so that they are parallel to no face of typical solids, and the length is
//! a continuous function.
//!
//! The estimated error of one direction does not include features of the length that are narrower than the
//! distances between the lines and that a square and its quarters miss alike. The volume is therefore
//! integrated along two directions, in which such features have different positions between the lines. The
//! difference of the results is a part of the stated error, which remains an estimate.

use crate::api::error::QueryError;
use crate::body::Body;
use crate::nearest::RayQuery;
use feeler_geom::frame::complete_basis;
use feeler_geom::trim::gauss_legendre;
use feeler_geom::{Aabb, P3, Pose, V3};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Directions (world, not of unit length) of the lines, far from the axes and diagonals of typical solids,
/// and from each other. Directions near an axis make the length discontinuous at faces parallel to it.
const DIRECTIONS: [[f64; 3]; 2] = [[0.2617, 0.4373, 0.8604], [0.7931, -0.5142, 0.3267]];
/// Factor of the difference of the volumes along the two directions, and factor of the mean of their own
/// estimates, in the stated error. Larger values state larger errors; with smaller ones, the error of thin
/// features is understated (factors of up to 3 and 12 of the latter were measured without the former).
const ERROR_FACTORS: [f64; 2] = [2.0, 4.0];
/// Number of squares along each side of the initial grid. A larger value uses more lines; with a smaller
/// one, narrow parts of the overlap are missed.
const GRID: u32 = 6;
/// Number of nodes along each side of a square. A larger value is better for smooth lengths, a smaller one
/// near edges.
const NODES: usize = 3;
/// Accuracy of the volume, relative to the volume, at which the division of squares ends. A larger value is
/// less exact; a smaller one takes more lines.
const ACCURACY: f64 = 1e-7;

/// Sums over the lines through the common part of two solids, in world coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSums {
    pub volume: f64,
    /// First moments (mm⁴) about the reference point.
    pub moment: V3,
    /// Box around the ends of all common parts of lines.
    pub bounds: Aabb,
    /// Estimated error (mm³) of the volume.
    pub error: f64,
}

/// Two posed solids and the direction of the lines.
struct Lines<'a> {
    solids: [(&'a Body, &'a Pose); 2],
    reference: P3,
    /// Direction of the lines, and the axes of the plane perpendicular to them.
    basis: [V3; 3],
    rays: [RayQuery; 2],
    rule: Vec<(f64, f64)>,
    bounds: Aabb,
    count: u32,
}

/// Sums over a square: volume and first moments.
type Sums = [f64; 4];

/// Square of the plane perpendicular to the lines.
struct Square {
    /// Centre, along the two axes of the plane, relative to the reference point.
    center: [f64; 2],
    half: [f64; 2],
    sums: Sums,
    error: f64,
    /// Number by which equal errors are ordered.
    number: u32,
}

impl PartialEq for Square {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Square {}

impl PartialOrd for Square {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Square {
    fn cmp(&self, other: &Self) -> Ordering {
        self.error.total_cmp(&other.error).then(other.number.cmp(&self.number))
    }
}

/// Integrates the lengths of at most about `max_lines` lines along one direction in the common part of two
/// posed solids. `region` is a box (world) around the common part.
pub(super) fn line_sums(
    solids: [(&Body, &Pose); 2],
    region: &Aabb,
    max_lines: u32,
) -> Result<LineSums, QueryError> {
    line_sums_along(&DIRECTIONS[0], solids, region, max_lines)
}

/// Mean of the sums along both directions, with at most about `max_lines` lines together, and with an error
/// that includes the difference of the two volumes.
pub(super) fn checked_line_sums(
    solids: [(&Body, &Pose); 2],
    region: &Aabb,
    max_lines: u32,
) -> Result<LineSums, QueryError> {
    let [x, y] = &DIRECTIONS;
    let x = line_sums_along(x, solids, region, max_lines / 2)?;
    let y = line_sums_along(y, solids, region, max_lines / 2)?;
    let [of_difference, of_estimates] = ERROR_FACTORS;
    let error = of_difference * (x.volume - y.volume).abs() + of_estimates * 0.5 * (x.error + y.error);
    Ok(LineSums {
        volume: 0.5 * (x.volume + y.volume),
        moment: (x.moment + y.moment) * 0.5,
        bounds: x.bounds.union(&y.bounds),
        error,
    })
}

/// Integrates the lengths of at most about `max_lines` lines along `direction` (world), like [`line_sums`].
fn line_sums_along(
    direction: &[f64; 3],
    solids: [(&Body, &Pose); 2],
    region: &Aabb,
    max_lines: u32,
) -> Result<LineSums, QueryError> {
    let dir = V3::from(*direction).normalize();
    let (e, g) = complete_basis(&dir);
    let reference = region.center();
    let mut lines = Lines {
        solids,
        reference,
        basis: [dir, e, g],
        rays: [RayQuery::new(), RayQuery::new()],
        rule: gauss_legendre(NODES),
        bounds: Aabb::empty(),
        count: 0,
    };
    let half = (region.max - region.min) * 0.5;
    let extent = |axis: &V3| axis.iter().zip(half.iter()).map(|(a, h)| a.abs() * h).sum::<f64>();
    let cell = [extent(&e), extent(&g)].map(|x| x / f64::from(GRID));
    let mut number = 0;
    let mut heap = BinaryHeap::new();
    let mut total = [0.0; 4];
    let mut error = 0.0;
    for i in 0..GRID {
        for j in 0..GRID {
            let place = |k: u32, h: f64| (2.0 * f64::from(k) + 1.0 - f64::from(GRID)) * h;
            let center = [place(i, cell[0]), place(j, cell[1])];
            let sums = lines.square(center, cell)?;
            let square = Square { center, half: cell, sums, error: f64::INFINITY, number };
            number += 1;
            // The error of a square is known after its division.
            for part in lines.divided(&square, &mut number)? {
                (0..4).for_each(|k| total[k] += part.sums[k]);
                error += part.error;
                heap.push(part);
            }
        }
    }
    while lines.count < max_lines && error > ACCURACY * total[0].abs() {
        let Some(square) = heap.pop() else { break };
        error -= square.error;
        (0..4).for_each(|k| total[k] -= square.sums[k]);
        for part in lines.divided(&square, &mut number)? {
            (0..4).for_each(|k| total[k] += part.sums[k]);
            error += part.error;
            heap.push(part);
        }
    }
    // The sums are added again, without the rounding of the subtractions.
    let mut squares = heap.into_vec();
    squares.sort_by_key(|s| s.number);
    let mut total = [0.0; 4];
    let mut error = 0.0;
    for square in &squares {
        (0..4).for_each(|k| total[k] += square.sums[k]);
        error += square.error;
    }
    let [volume, x, y, z] = total;
    Ok(LineSums { volume, moment: V3::new(x, y, z), bounds: lines.bounds, error })
}

impl Lines<'_> {
    /// Sums over a square, by Gauss's rule.
    fn square(&mut self, center: [f64; 2], half: [f64; 2]) -> Result<Sums, QueryError> {
        let mut sums = [0.0; 4];
        let rule = self.rule.clone();
        for (x, a) in &rule {
            for (y, b) in &rule {
                let at = [center[0] + half[0] * (2.0 * x - 1.0), center[1] + half[1] * (2.0 * y - 1.0)];
                let on_line = self.line(at)?;
                let w = 4.0 * half[0] * half[1] * a * b;
                (0..4).for_each(|k| sums[k] += w * on_line[k]);
            }
        }
        Ok(sums)
    }

    /// Quarters of a square, with estimates of their errors.
    fn divided(&mut self, square: &Square, number: &mut u32) -> Result<[Square; 4], QueryError> {
        let half = square.half.map(|h| 0.5 * h);
        let mut sums = [[0.0; 4]; 4];
        let centers = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]
            .map(|[x, y]: [f64; 2]| [square.center[0] + x * half[0], square.center[1] + y * half[1]]);
        for (sums, center) in sums.iter_mut().zip(centers) {
            *sums = self.square(center, half)?;
        }
        let whole: f64 = sums.iter().map(|s| s[0]).sum();
        // The error of a kink decreases by a factor of 4, which the quarters share.
        let error = 0.25 * (whole - square.sums[0]).abs() / 4.0;
        let first = *number;
        *number += 4;
        let numbers = [first, first + 1, first + 2, first + 3];
        Ok([0, 1, 2, 3].map(|k| Square {
            center: centers[k],
            half,
            sums: sums[k],
            error,
            number: numbers[k],
        }))
    }

    /// Length of a line in the common part, and the first moments of it per unit of area.
    fn line(&mut self, [x, y]: [f64; 2]) -> Result<Sums, QueryError> {
        self.count += 1;
        let [dir, e, g] = self.basis;
        // The line begins outside both solids.
        let reach = self.solids.iter().map(|(body, _)| body.size()).fold(0.0, f64::max);
        let middle = self.reference + e * x + g * y;
        let origin = middle - dir * (2.0 * reach);
        let mut parts: [Vec<[f64; 2]>; 2] = [Vec::new(), Vec::new()];
        for ((parts, (body, pose)), rays) in parts.iter_mut().zip(self.solids).zip(&mut self.rays) {
            let start = pose.inverse_transform_point(&origin);
            let along = pose.rotation.inverse_transform_vector(&dir);
            let hits = rays.intersections(body, &start, &along)?;
            parts.extend(hits.chunks_exact(2).map(|w| [w[0].t, w[1].t]));
        }
        let [a, b] = &parts;
        let mut sums = [0.0; 4];
        for [from, to] in a.iter().flat_map(|p| b.iter().map(|q| [p[0].max(q[0]), p[1].min(q[1])])) {
            if from < to {
                let ends = [from, to].map(|t| origin + dir * t);
                ends.iter().for_each(|p| self.bounds.insert(p));
                let length = to - from;
                let center = nalgebra::center(&ends[0], &ends[1]) - self.reference;
                sums[0] += length;
                (0..3).for_each(|k| sums[k + 1] += length * center[k]);
            }
        }
        Ok(sums)
    }
}
