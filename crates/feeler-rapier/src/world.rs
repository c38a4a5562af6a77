//! Settings of worlds with exact contacts.

use crate::dispatcher::{ExactDispatcher, GRAVITY};
use crate::units::METRES;
use rapier3d_f64::dynamics::{IntegrationParameters, SpringCoefficients};
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::pipeline::PhysicsWorld;

/// Parameters of a simulation of solids with close fits, for [`ExactDispatcher::install`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloseFitParameters {
    /// Duration of a step (s).
    pub step: f64,
    /// Distance (mm) within which contacts are computed; it must be larger than the motion of a step.
    pub reach: f64,
    /// Part of a penetration that each solver iteration of a step corrects, from 0 to 1.
    pub correction: f64,
    /// Number of iterations of Rapier's solver in a step, each for an equal part of the step's duration.
    pub iterations: usize,
}

impl Default for CloseFitParameters {
    /// Steps of 1 ms and a reach of 0.5 mm, for fits of some hundredths of a millimetre.
    fn default() -> Self {
        Self { step: 1e-3, reach: 0.5, correction: 0.2, iterations: 8 }
    }
}

/// Penetration (mm) that Rapier does not correct. With a larger value, parts sink in by that amount;
/// with a smaller one, contacts alternate between open and closed.
const ALLOWED_PENETRATION: f64 = 1e-5;
/// Damping ratio of the springs by which Rapier corrects penetrations. It is large enough that contacts
/// do not bounce; with a smaller value they do.
const DAMPING_RATIO: f64 = 10.0;

impl ExactDispatcher {
    /// Sets a world up so that this dispatcher computes the contacts of exact shapes, and Rapier those
    /// of other shapes.
    ///
    /// Rapier's defaults are for stacks of boxes: contacts are updated after 50 mm of motion only, and
    /// those with normals within 5° are merged. Both are disabled, because exact contacts are few and
    /// change in each step. [`CloseFitParameters::correction`] determines the stiffness of contacts;
    /// only penetrations up to 1e-5 mm are not corrected. Continuous collision detection is disabled.
    pub fn install(&self, world: &mut PhysicsWorld, fit: &CloseFitParameters) {
        let mut dispatcher = self.clone();
        dispatcher.forced_displacement = GRAVITY * fit.step * fit.step;
        world.narrow_phase.set_query_dispatcher(dispatcher.chain(DefaultQueryDispatcher));
        let parameters = &mut world.integration_parameters;
        let unit = parameters.length_unit;
        let softness = softness(fit);
        *parameters = IntegrationParameters {
            dt: fit.step,
            contact_recycling: false,
            contact_clustering: false,
            max_ccd_substeps: 0,
            normalized_prediction_distance: fit.reach * METRES / unit,
            normalized_allowed_linear_error: ALLOWED_PENETRATION * METRES / unit,
            num_solver_iterations: fit.iterations,
            contact_softness: softness,
            static_contact_softness: softness,
            ..*parameters
        };
    }
}

/// Softness of contacts for [`CloseFitParameters::correction`]. A spring with the angular frequency ω
/// and the damping ratio ζ corrects the part ω h / (ω h + 2 ζ) of a penetration in each solver
/// iteration, which covers the duration h.
fn softness(fit: &CloseFitParameters) -> SpringCoefficients<f64> {
    let h = fit.step / f64::from(u32::try_from(fit.iterations.max(1)).unwrap_or(u32::MAX));
    let part = fit.correction.clamp(0.0, MAX_CORRECTION);
    let omega = 2.0 * DAMPING_RATIO * part / ((1.0 - part) * h);
    SpringCoefficients { natural_frequency: omega / std::f64::consts::TAU, damping_ratio: DAMPING_RATIO }
}

/// Largest part of a penetration that one solver iteration corrects; larger values of
/// [`CloseFitParameters::correction`] are reduced to it. A correction of the whole penetration would
/// need an infinite stiffness.
const MAX_CORRECTION: f64 = 0.99;
