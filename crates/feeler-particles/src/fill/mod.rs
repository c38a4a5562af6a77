//! Filling a region with spheres that do not overlap.
//!
//! [`fill`] draws sizes first. Then spheres are placed from the largest to the smallest, each at random
//! positions until one is free (random sequential addition). Equal spheres fill 30 % of a region easily and
//! never more than 38 %; settled they have about twice that density. [`deposit()`] packs spheres more
//! densely, from the floor of a box upwards. Equal requests give equal spheres, to the bit, on every machine.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

mod deposit;
mod region;

pub use deposit::deposit;
pub use feeler_grains::Random;
pub use feeler_grains::distribution::{Class, Distribution};
pub use region::FillRegion;

use crate::sphere::Sphere;
use feeler_geom::{P3, math};
use feeler_grains::GrainError;
use std::collections::HashMap;

/// Amount of spheres to place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// This number of spheres.
    Number(usize),
    /// Spheres until their total volume (mm³) reaches or exceeds this value.
    Volume(f64),
}

/// Reason why a region cannot be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The distribution of sizes is invalid.
    #[error(transparent)]
    Sizes(#[from] GrainError),
    /// The region is not valid, as the text states.
    #[error("{0}")]
    Region(String),
    /// The amount is not valid, as the text states.
    #[error("{0}")]
    Amount(&'static str),
    /// No free position was found in the region for a sphere.
    #[error(
        "only {fitted} of {wanted} particles fit into the region without overlaps; make it larger, or give \
         fewer: at random positions particles fill about 30 % of it"
    )]
    NoRoom {
        /// Number of spheres that were placed.
        fitted: usize,
        /// Number of spheres requested.
        wanted: usize,
    },
    /// The box is full before all spheres are deposited in it.
    #[error(
        "only {fitted} of {wanted} particles fit into the box without overlaps; make it larger, or give \
         fewer: bounding balls of one size fill about half of a box that is much wider than they are"
    )]
    Full {
        /// Number of spheres that were placed.
        fitted: usize,
        /// Number of spheres requested.
        wanted: usize,
    },
}

/// Places spheres at random positions within a region, without overlaps. `sizes` is the distribution of
/// their diameters (mm), and `seed` determines all random numbers. The spheres are returned in the order
/// in which their sizes were drawn. `is_free` may refuse a sphere at a position, for example if it would
/// touch a wall.
///
/// # Errors
/// The distribution, the region or the amount is invalid, or there is not enough space.
pub fn fill(
    region: &FillRegion<'_>,
    sizes: &Distribution,
    amount: Amount,
    seed: u64,
    mut is_free: impl FnMut(&Sphere) -> bool,
) -> Result<Vec<Sphere>, FillError> {
    sizes.check()?;
    region.check()?;
    let mut random = Random::new(seed, SIZES);
    let radii = drawn(sizes, amount, &mut random)?;
    let mut order: Vec<usize> = (0..radii.len()).collect();
    order.sort_by(|a, b| radii[*b].total_cmp(&radii[*a]).then(a.cmp(b)));
    let mut random = Random::new(seed, POSITIONS);
    let mut placed: Vec<Option<Sphere>> = vec![None; radii.len()];
    let mut grid = Grid::new(sizes.range().1);
    for (fitted, k) in order.into_iter().enumerate() {
        let radius = radii[k];
        let mut one = || {
            let center = region.random(radius, &mut random)?;
            let sphere = Sphere { center, radius };
            (grid.is_free(&sphere) && region.contains(&sphere) && is_free(&sphere)).then_some(sphere)
        };
        let Some(sphere) = (0..MAX_TRIES).find_map(|_| one()) else {
            return Err(FillError::NoRoom { fitted, wanted: radii.len() });
        };
        grid.add(sphere);
        placed[k] = Some(sphere);
    }
    Ok(placed.into_iter().flatten().collect())
}

fn drawn(sizes: &Distribution, amount: Amount, random: &mut Random) -> Result<Vec<f64>, FillError> {
    match amount {
        Amount::Number(n) => Ok((0..n).map(|_| 0.5 * sizes.draw(random)).collect()),
        Amount::Volume(volume) => {
            if !(volume > 0.0 && volume.is_finite()) {
                return Err(FillError::Amount("the mass of the particles must be above 0 kg"));
            }
            let (mut radii, mut sum) = (Vec::new(), 0.0);
            while sum < volume {
                if radii.len() >= MAX_SPHERES {
                    return Err(FillError::Amount(
                        "the mass is that of more than ten million particles; give less",
                    ));
                }
                let r = 0.5 * sizes.draw(random);
                sum += 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
                radii.push(r);
            }
            Ok(radii)
        }
    }
}

/// Spheres placed so far, grouped by the cell of a cubic grid that contains their centres. Cells are as
/// wide as the largest diameter (`size`, mm).
struct Grid {
    size: f64,
    cells: HashMap<[i64; 3], Vec<Sphere>>,
}

impl Grid {
    fn new(size: f64) -> Self {
        Self { size, cells: HashMap::new() }
    }

    #[expect(clippy::cast_possible_truncation, reason = "positions are finite and cells as wide as spheres")]
    fn cell(&self, p: &P3) -> [i64; 3] {
        [0, 1, 2].map(|k| (p[k] / self.size).floor() as i64)
    }

    fn is_free(&self, sphere: &Sphere) -> bool {
        let [x, y, z] = self.cell(&sphere.center);
        let near = (0..27_i64).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        let overlaps = |other: &Sphere| {
            math::powi(other.radius + sphere.radius, 2) > (other.center - sphere.center).norm_squared()
        };
        !near.filter_map(|cell| self.cells.get(&cell)).flatten().any(overlaps)
    }

    fn add(&mut self, sphere: Sphere) {
        self.cells.entry(self.cell(&sphere.center)).or_default().push(sphere);
    }
}

/// Purpose given to [`Random::new`] for the random numbers that sizes are drawn from.
const SIZES: u64 = 1;

/// Purpose given to [`Random::new`] for the random numbers that positions are drawn from.
const POSITIONS: u64 = 2;

/// Maximum number of random positions that are tried for one sphere before the region counts as full.
/// With a larger value denser fillings are found, slowly; with a smaller one regions with space left are
/// refused.
const MAX_TRIES: u32 = 10_000;

/// Maximum number of spheres that one call places.
const MAX_SPHERES: usize = 10_000_000;

#[cfg(test)]
mod tests;
