//! A world set up for exact contacts.

use crate::dispatcher::{ExactDispatcher, GRAVITY};
use crate::units::METRES;
use rapier3d_f64::dynamics::{IntegrationParameters, SpringCoefficients};
use rapier3d_f64::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d_f64::pipeline::PhysicsWorld;

/// How close a fit is to be simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Time of a step (s).
    pub step: f64,
    /// Distance (mm) from which on contacts are looked at. More than bodies move in a step.
    pub reach: f64,
    /// Part of a penetration that a step takes back: from 0 to 1.
    pub correction: f64,
    /// Iterations of the solver, each with a part of the step.
    pub iterations: usize,
}

impl Default for Fit {
    /// Fits of some hundredths of a millimetre: 1 ms, 0.5 mm.
    fn default() -> Self {
        Self { step: 1e-3, reach: 0.5, correction: 0.2, iterations: 8 }
    }
}

/// Penetration (mm) that is left standing.
const ALLOWED: f64 = 1e-5;
/// Damping of contacts: none of them bounces by its softness.
const DAMPING: f64 = 10.0;

impl ExactDispatcher {
    /// Sets a world up: contacts come from here, and from Rapier for shapes of its own.
    ///
    /// Rapier's defaults are for stacks of boxes. It asks for contacts again only after 50 mm of motion, and
    /// merges those whose normals are within 5°: both are turned off, since exact contacts are few, and
    /// change with every step. Contacts are as hard as [`Fit::correction`] says, and nothing is allowed to
    /// stay penetrated. Continuous detection of collisions is off.
    pub fn install(&self, world: &mut PhysicsWorld, fit: &Fit) {
        let mut dispatcher = self.clone();
        dispatcher.acceleration = GRAVITY * fit.step * fit.step;
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
            normalized_allowed_linear_error: ALLOWED * METRES / unit,
            num_solver_iterations: fit.iterations,
            contact_softness: softness,
            static_contact_softness: softness,
            ..*parameters
        };
    }
}

/// The softness with which a step takes back the part of a penetration that it is asked to: of a spring of
/// angular frequency ω and damping ζ that is ω h / (ω h + 2 ζ), for each of the parts h of the step.
fn softness(fit: &Fit) -> SpringCoefficients<f64> {
    let h = fit.step / f64::from(u32::try_from(fit.iterations.max(1)).unwrap_or(u32::MAX));
    let part = fit.correction.clamp(0.0, MOST);
    let omega = 2.0 * DAMPING * part / ((1.0 - part) * h);
    SpringCoefficients { natural_frequency: omega / std::f64::consts::TAU, damping_ratio: DAMPING }
}

/// All of it at once would need a spring without bound.
const MOST: f64 = 0.99;
