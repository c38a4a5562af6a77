//! Fit of a tessellation to the grains of an image.
//!
//! # Source
//! DIST §6.3.1, Eq. (6.5), and the convergence criterion of §6.5.2.
//!
//! # Deviations
//! - Beyond the reference, the derivatives of the distances by sites and weights are computed at the
//!   footpoints, so the fit uses Levenberg and Marquardt's method. The derivative-free method remains as
//!   [`FitMethod`].
//! - The objective (6.5) is zero for all tessellations whose faces separate the voxel centres. Therefore the
//!   fit starts with another stage, which minimises distances of the interface points to the planes of both
//!   grains: it places a face in the middle of the possible positions.

mod checkpoint;
mod distance;
mod normal;
mod objective;
mod simplex;

pub use checkpoint::{CheckpointError, CheckpointProblem};
pub use distance::{CellDistance, Gjk};

use crate::domain::{Domain, Site};
use crate::image::{Grains, as_float};
use crate::tessellation::{SiteIndex, Tessellation, TessellationError, tessellate};
use feeler_convex::SignedVolumes;
use feeler_geom::P3;
use nalgebra::Vector4;
use normal::System;
use serde::{Deserialize, Serialize};

/// Kind of the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CellKind {
    /// Cells of sites with weights. They represent all tessellations into convex polyhedra whose vertices
    /// join four cells.
    #[default]
    Laguerre,
    /// Cells of sites with equal weights.
    Voronoi,
}

/// Optimisation method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FitMethod {
    /// Levenberg and Marquardt's method with exact derivatives.
    #[default]
    Gradient,
    /// Nelder and Mead's method for one site after the other, without derivatives.
    Simplex,
}

/// Options of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// Kind of the cells.
    pub kind: CellKind,
    /// Optimisation method.
    pub method: FitMethod,
    /// Whether a fit to the interface points precedes that of the objective. Without it, the fit starts from
    /// the centres of mass and sizes of the grains.
    pub interfaces_first: bool,
    /// Decrease of the objective in one iteration, in mean grain diameters, below which the fit has converged
    /// (DIST §6.5.2: 10⁻⁵ and 10⁻⁶). A larger value ends earlier, with a larger objective.
    pub tolerance: f64,
    /// Maximum number of iterations of all stages.
    pub max_iterations: u64,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            kind: CellKind::Laguerre,
            method: FitMethod::Gradient,
            interfaces_first: true,
            tolerance: 1e-6,
            max_iterations: 1000,
        }
    }
}

/// Stage of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FitStage {
    /// Distances of interface points to planes are minimised.
    Interfaces,
    /// The objective (6.5) is minimised.
    Boundaries,
    /// The decrease of the objective was below the tolerance.
    Converged,
}

/// State of a fit after an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitState {
    /// Current stage.
    pub stage: FitStage,
    /// Number of iterations so far.
    pub iterations: u64,
    /// Number of evaluations of all cells: for the simplex method, local evaluations over the number of
    /// sites.
    pub evaluations: f64,
    /// Damping of the gradient method, or size of the simplexes of the simplex method (unit of length).
    pub control: f64,
    /// Factor by which the next rejected step increases the damping.
    pub growth: f64,
    /// Current value of what the stage minimises: root mean square in mean grain diameters.
    pub objective: f64,
    /// Objective (6.5) at the start of its stage and after each of its iterations.
    pub history: Vec<f64>,
    /// For each site, its coordinates and weight.
    pub sites: Vec<[f64; 4]>,
}

impl FitState {
    /// Returns the sites, in the order of the grains.
    #[must_use]
    pub fn sites(&self) -> Vec<Site> {
        sites_of(&self.sites)
    }
}

/// First damping relative to the diagonal of the normal equations. A larger value makes the first steps
/// cautious; a smaller one causes rejected steps.
const FIRST_DAMPING: f64 = 1e-3;

/// Damping at which no step is tried any more, because it would be shorter than rounding.
const MAX_DAMPING: f64 = 1e12;

/// Smallest damping. The positions of Laguerre sites are not unique, and the damping keeps them where they
/// are; a smaller value moves sites along these directions.
const MIN_DAMPING: f64 = 1e-9;

/// Decrease of a sweep relative to the objective below which the simplexes are made smaller.
const SLOW_SWEEP: f64 = 0.05;

/// Size of a simplex relative to the first one at which the simplex method has converged.
const MIN_SIMPLEX: f64 = 1e-4;

/// A running fit.
#[derive(Clone, Debug)]
pub struct Fit<'a, D = Gjk<SignedVolumes>> {
    grains: &'a Grains,
    options: FitOptions,
    distance: D,
    state: FitState,
}

impl<'a> Fit<'a> {
    /// Starts a fit with distances by GJK and Signed Volumes: sites at the centres of mass of the grains,
    /// weights from their volumes.
    ///
    /// # Errors
    /// The domain of the image is not valid.
    pub fn new(grains: &'a Grains, options: FitOptions) -> Result<Self, TessellationError> {
        Self::with_distance(grains, options, Gjk::default())
    }
}

impl<'a, D: CellDistance> Fit<'a, D> {
    /// Starts a fit with another computation of distances.
    ///
    /// # Errors
    /// The domain of the image is not valid.
    pub fn with_distance(
        grains: &'a Grains,
        options: FitOptions,
        distance: D,
    ) -> Result<Self, TessellationError> {
        let sites = (0..grains.labels.len())
            .map(|k| {
                let radius = 0.5 * grains.diameter(k);
                let weight = if options.kind == CellKind::Laguerre { radius * radius } else { 0.0 };
                let p = grains.centroids[k];
                [p.x, p.y, p.z, weight]
            })
            .collect();
        let is_interface = options.interfaces_first && options.method == FitMethod::Gradient;
        let stage = if is_interface { FitStage::Interfaces } else { FitStage::Boundaries };
        let state = FitState {
            stage,
            iterations: 0,
            evaluations: 0.0,
            control: 0.0,
            growth: 2.0,
            objective: 0.0,
            history: Vec::new(),
            sites,
        };
        let mut out = Self { grains, options, distance, state };
        out.enter(stage)?;
        Ok(out)
    }

    /// Continues from an earlier state of a fit of the same grains with the same options.
    ///
    /// # Errors
    /// The number of sites in the state is not that of the grains.
    pub fn resume(mut self, state: FitState) -> Result<Self, TessellationError> {
        if state.sites.len() != self.grains.labels.len() {
            return Err(TessellationError::SiteCount(state.sites.len()));
        }
        self.state = state;
        Ok(self)
    }

    /// Returns the current state.
    #[must_use]
    pub const fn state(&self) -> &FitState {
        &self.state
    }

    /// Returns the computation of distances.
    #[must_use]
    pub fn into_distance(self) -> D {
        self.distance
    }

    /// Returns whether the fit has converged, or has run the maximum number of iterations.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.state.stage == FitStage::Converged || self.state.iterations >= self.options.max_iterations
    }

    /// Computes the cells of the current sites, in the order of the grains.
    ///
    /// # Errors
    /// The sites are not valid.
    pub fn tessellation(&self) -> Result<Tessellation, TessellationError> {
        tessellate(&self.domain(), &self.state.sites())
    }

    const fn domain(&self) -> Domain {
        self.grains.domain
    }

    /// Returns the number of residuals of a stage.
    fn residual_count(&self, stage: FitStage) -> usize {
        match stage {
            FitStage::Interfaces => self.grains.interface.len(),
            _ => self.grains.boundary_count(),
        }
    }

    /// Converts a sum of squares to the objective.
    fn objective(&self, sum: f64) -> f64 {
        let count = as_float(self.residual_count(self.state.stage).max(1));
        (sum / count).sqrt() / self.grains.mean_diameter()
    }

    fn sum(&mut self, sites: &SiteIndex) -> f64 {
        self.state.evaluations += 1.0;
        match self.state.stage {
            FitStage::Interfaces => objective::interface_sum(self.grains, sites),
            _ => objective::boundary_sums(self.grains, sites, &self.distance).squares,
        }
    }

    fn enter(&mut self, stage: FitStage) -> Result<(), TessellationError> {
        self.state.stage = stage;
        self.state.growth = 2.0;
        self.state.control = match self.options.method {
            FitMethod::Gradient => FIRST_DAMPING,
            FitMethod::Simplex => self.first_simplex(),
        };
        let sites = SiteIndex::new(&self.domain(), &self.state.sites())?;
        let sum = self.sum(&sites);
        self.state.objective = self.objective(sum);
        if stage == FitStage::Boundaries {
            self.state.history.push(self.state.objective);
            if sum <= 0.0 {
                self.state.stage = FitStage::Converged;
            }
        }
        Ok(())
    }

    /// Returns the size of the first simplexes: two voxels.
    fn first_simplex(&self) -> f64 {
        2.0 * self.grains.voxel_edge
    }

    /// Runs one iteration: one accepted step of the gradient method, or one sweep over all sites.
    ///
    /// # Errors
    /// The sites are not valid.
    pub fn advance(&mut self) -> Result<(), TessellationError> {
        if self.is_finished() {
            return Ok(());
        }
        let before = self.state.objective;
        let has_converged = match self.options.method {
            FitMethod::Gradient => self.gradient_step()?,
            FitMethod::Simplex => self.sweep()?,
        };
        self.state.iterations += 1;
        let stage = self.state.stage;
        if stage == FitStage::Boundaries {
            self.state.history.push(self.state.objective);
        }
        let decrease = before - self.state.objective;
        let is_slow = self.options.method == FitMethod::Gradient && decrease < self.options.tolerance;
        let is_zero = self.state.objective <= 0.0;
        if has_converged || is_slow || is_zero {
            match stage {
                FitStage::Interfaces => self.enter(FitStage::Boundaries)?,
                _ => self.state.stage = FitStage::Converged,
            }
        }
        Ok(())
    }

    /// Tries steps with increasing damping until one decreases the sum of squares. Returns whether no step
    /// does.
    fn gradient_step(&mut self) -> Result<bool, TessellationError> {
        let domain = self.domain();
        let sites = SiteIndex::new(&domain, &self.state.sites())?;
        let n = self.state.sites.len();
        let normal = match self.state.stage {
            FitStage::Interfaces => objective::interface_normal(self.grains, &sites),
            _ => objective::boundary_normal(self.grains, &sites, &self.distance),
        };
        self.state.evaluations += 1.0;
        let weight = match self.options.kind {
            // The plane between two sites at a distance of one diameter then moves by 1 if an unknown does.
            CellKind::Laguerre => 2.0 * self.grains.mean_diameter(),
            CellKind::Voronoi => 0.0,
        };
        let scale = Vector4::new(1.0, 1.0, 1.0, weight);
        let system = System::new(&normal, n, &scale);
        let count = as_float(self.residual_count(self.state.stage));
        let diameter = self.grains.mean_diameter();
        let before = self.state.objective * diameter;
        let sum_before = before * before * count;
        while self.state.control < MAX_DAMPING {
            let (step, predicted) = system.step(self.state.control);
            let moved: Vec<[f64; 4]> = self
                .state
                .sites
                .iter()
                .zip(&step)
                .map(|(s, d)| [0, 1, 2, 3].map(|k| s[k] + d[k] * scale[k]))
                .collect();
            // A step that leaves the range of coordinates counts as one that increases the sum.
            if let Ok(index) = SiteIndex::new(&domain, &sites_of(&moved)) {
                let sum = self.sum(&index);
                if sum < sum_before {
                    let gain = (sum_before - sum) / predicted.max(f64::MIN_POSITIVE);
                    let t = 2.0 * gain - 1.0;
                    let factor = (1.0 - t * t * t).clamp(1.0 / 5.0, 2.0);
                    self.state.control = (self.state.control * factor).max(MIN_DAMPING);
                    self.state.growth = 2.0;
                    self.state.objective = self.objective(sum);
                    self.state.sites = moved;
                    return Ok(false);
                }
            }
            self.state.control *= self.state.growth;
            self.state.growth *= 2.0;
        }
        Ok(true)
    }

    /// Runs one sweep of the simplex method. Returns whether the simplexes are as small as they get.
    fn sweep(&mut self) -> Result<bool, TessellationError> {
        let before = self.state.objective;
        let mut sites = self.state.sites();
        let has_weights = self.options.kind == CellKind::Laguerre;
        let step = self.state.control;
        let local =
            simplex::sweep(self.grains, &self.domain(), &mut sites, has_weights, step, &self.distance);
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2⁵³ evaluations")]
        let local = local as f64;
        self.state.evaluations += local / as_float(sites.len());
        let sum = self.sum(&SiteIndex::new(&self.domain(), &sites)?);
        let after = self.objective(sum);
        if after < before {
            self.state.objective = after;
            self.state.sites =
                sites.iter().map(|s| [s.position.x, s.position.y, s.position.z, s.weight]).collect();
        }
        let decrease = before - after;
        if decrease < SLOW_SWEEP * before {
            self.state.control *= 0.5;
        }
        let is_small = self.state.control < MIN_SIMPLEX * self.first_simplex();
        Ok(is_small || decrease.max(0.0) < self.options.tolerance)
    }
}

fn sites_of(list: &[[f64; 4]]) -> Vec<Site> {
    list.iter().map(|s| Site { position: P3::new(s[0], s[1], s[2]), weight: s[3] }).collect()
}
