//! Settings of worlds with exact contacts.

use crate::dispatcher::{ExactDispatcher, GRAVITY};
use crate::units::METRES;
use rapier3d_f64::dynamics::{IntegrationParameters, SpringCoefficients};
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::pipeline::PhysicsWorld;

/// Parameters of a simulation with close fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CloseFitParameters {
    /// Time of a step (s).
    pub step: f64,
    /// Distance (mm) within which contacts are computed; larger than the motion of a step.
    pub reach: f64,
    /// Part of a penetration that a step corrects, from 0 to 1.
    pub correction: f64,
    /// Number of iterations of the solver, each for a part of the step.
    pub iterations: usize,
}

impl Default for CloseFitParameters {
    /// Steps of 1 ms and a reach of 0.5 mm, for fits of some hundredths of a millimetre.
    fn default() -> Self {
        Self { step: 1e-3, reach: 0.5, correction: 0.2, iterations: 8 }
    }
}

/// Penetration (mm) that Rapier does not correct. Parts sink in by it with a larger value; contacts
/// alternate between open and closed with a smaller one.
const ALLOWED_PENETRATION: f64 = 1e-5;
/// Damping ratio of contacts, large enough that their softness does not make them bounce. They bounce
/// with a smaller value.
const DAMPING_RATIO: f64 = 10.0;

impl ExactDispatcher {
    /// Sets a world up: contacts of exact shapes are computed here, those of other shapes by Rapier.
    ///
    /// Rapier's defaults are for stacks of boxes: contacts are updated after 50 mm of motion only, and those
    /// with normals within 5° are merged. Both are disabled, because exact contacts are few and change in
    /// each step. [`CloseFitParameters::correction`] determines the stiffness of contacts; no penetration
    /// is tolerated. Continuous collision detection is disabled.
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

/// Softness with which a step corrects [`CloseFitParameters::correction`] of a penetration. A spring with
/// the angular frequency ω and the damping ratio ζ corrects the part ω h / (ω h + 2 ζ) in each part h of
/// the step.
fn softness(fit: &CloseFitParameters) -> SpringCoefficients<f64> {
    let h = fit.step / f64::from(u32::try_from(fit.iterations.max(1)).unwrap_or(u32::MAX));
    let part = fit.correction.clamp(0.0, MAX_CORRECTION);
    let omega = 2.0 * DAMPING_RATIO * part / ((1.0 - part) * h);
    SpringCoefficients { natural_frequency: omega / std::f64::consts::TAU, damping_ratio: DAMPING_RATIO }
}

/// Largest part of a penetration that a part of a step corrects. A correction of all of it needs an infinite
/// stiffness.
const MAX_CORRECTION: f64 = 0.99;
