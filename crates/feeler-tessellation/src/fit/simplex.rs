//! Derivative-free fit: Nelder and Mead's method in the four unknowns of one site after the other.
//!
//! # Source
//! Rowan, *Functional stability analysis of numerical algorithms* (1990): the method Subplex, which minimises
//! in subspaces of few unknowns. The subspaces are those of one site each, because a site affects only the
//! cells around it.
//!
//! Nelder and Mead's method is that of the crate `argmin` 0.11 (MIT or Apache 2.0, maintained, seven small
//! dependencies without its default features). `nlopt`, which has Subplex itself, compiles a C library with
//! `CMake`, and would evaluate all cells whenever one site moves.

use super::distance::CellDistance;
use super::objective::grain_sum;
use crate::domain::{Domain, Site};
use crate::image::Grains;
use crate::tessellation::{CellScratch, Neighbour, SiteIndex};
use argmin::core::{CostFunction, Error, Executor, State as _};
use argmin::solver::neldermead::NelderMead;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of Nelder and Mead's iterations for a site in one sweep. With a larger value, a site is
/// adjusted precisely to neighbours that will move; a smaller one needs more sweeps.
const ITERATIONS: u64 = 30;

/// Standard deviation of the sums of squares of a simplex at which it is not improved further, relative to
/// the first sum. A larger value ends early; a smaller one spends evaluations on digits that do not matter.
const DEVIATION: f64 = 1e-7;

/// Sum of squares of the cells around one site.
struct OneSite<'a, D> {
    grains: &'a Grains,
    domain: &'a Domain,
    sites: &'a [Site],
    site: usize,
    /// Unit of the weight's unknown.
    weight_unit: f64,
    /// Grains whose cells the site can change.
    affected: Vec<usize>,
    distance: &'a D,
    evaluations: &'a AtomicU64,
}

impl<D: CellDistance> OneSite<'_, D> {
    fn with(&self, unknowns: &[f64]) -> Vec<Site> {
        let mut sites = self.sites.to_vec();
        for (x, unknown) in sites[self.site].position.iter_mut().zip(unknowns) {
            *x = *unknown;
        }
        if let Some(w) = unknowns.get(3) {
            sites[self.site].weight = w * self.weight_unit;
        }
        sites
    }
}

impl<D: CellDistance> CostFunction for &OneSite<'_, D> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, unknowns: &Vec<f64>) -> Result<f64, Error> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        let index = SiteIndex::new(self.domain, &self.with(unknowns))?;
        let sums: Vec<f64> = self
            .affected
            .par_iter()
            .map_init(CellScratch::default, |s, k| {
                grain_sum(self.grains, *k, &index, self.distance, s, None).squares
            })
            .collect();
        Ok(sums.into_iter().sum())
    }
}

/// Improves each site once, in order. `step` is the size of the first simplexes. Returns the number of local
/// evaluations.
pub(super) fn sweep<D: CellDistance>(
    grains: &Grains,
    domain: &Domain,
    sites: &mut Vec<Site>,
    has_weights: bool,
    step: f64,
    distance: &D,
) -> u64 {
    let evaluations = AtomicU64::new(0);
    let mut adjacent: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); sites.len()];
    for p in &grains.interface {
        let [a, b] = p.grains.map(|k| k as usize);
        adjacent[a].insert(b);
        adjacent[b].insert(a);
    }
    let weight_unit = 2.0 * grains.mean_diameter();
    let mut scratch = CellScratch::default();
    for site in 0..sites.len() {
        let Ok(index) = SiteIndex::new(domain, sites) else { continue };
        let mut affected = adjacent[site].clone();
        affected.insert(site);
        for face in index.cell(site, &mut scratch).iter().flat_map(|c| &c.faces) {
            if let Neighbour::Cell { index, .. } = face.neighbour {
                affected.insert(index as usize);
            }
        }
        let problem = OneSite {
            grains,
            domain,
            sites,
            site,
            weight_unit,
            affected: affected.into_iter().collect(),
            distance,
            evaluations: &evaluations,
        };
        let mut start = sites[site].position.coords.as_slice().to_vec();
        if has_weights {
            start.push(sites[site].weight / weight_unit);
        }
        let Ok(before) = (&problem).cost(&start) else { continue };
        if before <= 0.0 {
            continue;
        }
        let mut corners = vec![start.clone()];
        for k in 0..start.len() {
            let mut corner = start.clone();
            corner[k] += step;
            corners.push(corner);
        }
        let Ok(solver) = NelderMead::new(corners).with_sd_tolerance(DEVIATION * before) else { continue };
        let run = Executor::new(&problem, solver).configure(|s| s.max_iters(ITERATIONS)).timer(false).run();
        let Ok(run) = run else { continue };
        let state = run.state();
        if let Some(best) = state.get_best_param()
            && state.get_best_cost() < before
        {
            let improved = problem.with(best);
            *sites = improved;
        }
    }
    evaluations.into_inner()
}
