//! Geometric deposition: a box is filled with spheres from its lowest z upwards.

use super::{Amount, Distribution, FillError, FillRegion, Random, SIZES, drawn};
use crate::sphere::Sphere;
use feeler_geom::P3;
use std::collections::HashMap;

/// Purpose given to [`Random::new`] for the random numbers that columns are drawn from.
const COLUMNS: u64 = 6;

/// Fills a box with spheres from its lowest z upwards, without overlaps. Each sphere is lowered along z in
/// several random columns until it touches the floor of the box or a sphere below. The lowest of these
/// positions is then improved by shifts along x and y that lower it further, so that the sphere mostly
/// touches three others or walls. Spheres are placed in the order in which their sizes are drawn, and equal
/// requests give equal spheres, to the bit, on every machine.
///
/// `sizes` is the distribution of the diameters (mm), and `seed` determines all random numbers. `obstacles`
/// are spheres that are present already. `is_free` may refuse a sphere at a position.
///
/// # Errors
/// The distribution, the box or the amount is invalid, or there is not enough space.
pub fn deposit(
    (min, max): (P3, P3),
    sizes: &Distribution,
    amount: Amount,
    seed: u64,
    obstacles: &[Sphere],
    mut is_free: impl FnMut(&Sphere) -> bool,
) -> Result<Vec<Sphere>, FillError> {
    sizes.check()?;
    FillRegion::Box { min, max }.check()?;
    let radii = drawn(sizes, amount, &mut Random::new(seed, SIZES))?;
    let mut random = Random::new(seed, COLUMNS);
    let largest = obstacles.iter().map(|s| 2.0 * s.radius).fold(sizes.range().1, f64::max);
    let mut columns = Columns { size: largest, cells: HashMap::new() };
    obstacles.iter().for_each(|s| columns.add(*s));
    let mut out = Vec::with_capacity(radii.len());
    for radius in &radii {
        let in_box = Positions { min, max, radius: *radius * (1.0 + GAP), columns: &columns };
        let mut is_free = |center: P3| is_free(&Sphere { center, radius: *radius });
        let Some(center) = (0..MAX_ROUNDS).find_map(|_| in_box.lowest(&mut random, &mut is_free)) else {
            return Err(FillError::Full { fitted: out.len(), wanted: radii.len() });
        };
        let sphere = Sphere { center, radius: *radius };
        columns.add(sphere);
        out.push(sphere);
    }
    Ok(out)
}

/// Spheres placed so far, grouped by the square of a grid in x and y that contains their centres. Squares are
/// as wide as the largest diameter (`size`, mm).
struct Columns {
    size: f64,
    cells: HashMap<[i64; 2], Vec<Sphere>>,
}

impl Columns {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "positions are finite and squares as wide as spheres"
    )]
    fn cell(&self, x: f64, y: f64) -> [i64; 2] {
        [x, y].map(|c| (c / self.size).floor() as i64)
    }

    fn add(&mut self, sphere: Sphere) {
        self.cells.entry(self.cell(sphere.center.x, sphere.center.y)).or_default().push(sphere);
    }

    /// Height of the centre of a sphere of a radius (mm) that is lowered at (x, y) from above until it
    /// touches a sphere; at least `floor`.
    fn height(&self, x: f64, y: f64, radius: f64, floor: f64) -> f64 {
        let [i, j] = self.cell(x, y);
        let near = (0..9_i64).map(|k| [i + k % 3 - 1, j + k / 3 - 1]);
        let heights = near.filter_map(|cell| self.cells.get(&cell)).flatten().filter_map(|s| {
            let (dx, dy, reach) = (x - s.center.x, y - s.center.y, radius + s.radius);
            let square = reach * reach - dx * dx - dy * dy;
            (square > 0.0).then(|| s.center.z + square.sqrt())
        });
        heights.fold(floor, f64::max)
    }
}

/// Positions of the centre of a sphere of a radius (mm) in a box, above the spheres in `columns`.
struct Positions<'c> {
    min: P3,
    max: P3,
    radius: f64,
    columns: &'c Columns,
}

impl Positions<'_> {
    /// Lowers the sphere in random columns and returns the lowest position that `is_free` accepts; `None` if
    /// it accepts none of them.
    fn lowest(&self, random: &mut Random, mut is_free: impl FnMut(P3) -> bool) -> Option<P3> {
        let ranges = [0, 1].map(|k| (self.min[k] + self.radius, self.max[k] - self.radius));
        if ranges.iter().any(|(low, high)| low > high) {
            return None;
        }
        let mut starts: Vec<P3> = (0..STARTS)
            .map(|_| {
                let [x, y] = ranges.map(|(low, high)| random.between(low, high));
                P3::new(x, y, self.height(x, y))
            })
            .collect();
        starts.sort_by(|a, b| a.z.total_cmp(&b.z));
        let fits = |p: &P3| p.z + self.radius <= self.max.z;
        starts.iter().map(|start| self.lowered(start)).filter(fits).find(|p| is_free(*p))
    }

    fn height(&self, x: f64, y: f64) -> f64 {
        self.columns.height(x, y, self.radius, self.min.z + self.radius)
    }

    /// Shifts a position in eight directions as long as that lowers it, by halving the length of the shift.
    fn lowered(&self, start: &P3) -> P3 {
        let mut best = *start;
        let mut shift = self.radius;
        while shift > MIN_SHIFT * self.radius {
            let around = (0..9).filter(|k| *k != 4).map(|k| [f64::from(k % 3 - 1), f64::from(k / 3 - 1)]);
            let positions = around.map(|[i, j]| {
                let inside = |k: usize, x: f64| x.clamp(self.min[k] + self.radius, self.max[k] - self.radius);
                let (x, y) = (inside(0, best.x + i * shift), inside(1, best.y + j * shift));
                P3::new(x, y, self.height(x, y))
            });
            match positions.min_by(|a, b| a.z.total_cmp(&b.z)) {
                Some(lower) if lower.z < best.z - MIN_DROP * shift => best = lower,
                _ => shift *= 0.5,
            }
        }
        best
    }
}

/// Number of random columns in which a sphere is lowered. With a larger number spheres are packed more
/// densely, slowly; with a smaller one holes remain.
const STARTS: usize = 24;

/// Maximum number of times that columns are drawn for a sphere before the box counts as full. With a larger
/// number denser packings are found, slowly; with a smaller one boxes with space left are refused.
const MAX_ROUNDS: usize = 40;

/// Smallest shift of a sphere along x and y, as a multiple of its radius. A smaller value takes more shifts;
/// with a larger one spheres do not reach the hollows between others.
const MIN_SHIFT: f64 = 1e-4;

/// Smallest drop of a sphere, as a multiple of the shift, for which it is shifted again by the same length.
/// With a larger value shifts end on gentle slopes; with a smaller one spheres creep.
const MIN_DROP: f64 = 1e-3;

/// Gap around a sphere, as a multiple of its radius, that keeps rounding from making spheres overlap.
const GAP: f64 = 1e-9;
