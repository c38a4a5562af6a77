//! Plots of a run over time.

use crate::plot;
use feeler_pour::{PourScene, Series};

/// Returns an SVG image with panels for the mass flow, for the mass that has left by each outlet, and
/// for the kinetic energy. Panels whose values are all 0 are omitted, apart from the energy.
pub(super) fn plot(series: &Series, scene: &PourScene) -> String {
    let panel = |label: String, values: &[f64], factor: f64| plot::Panel {
        label,
        values: values.iter().map(|x| Some(factor * x)).collect(),
    };
    let mut panels = Vec::new();
    if series.mass_flow(scene).iter().any(|x| *x > 0.0) {
        panels.push(panel("mass flow (g/s)".into(), &series.smooth_mass_flow(scene), 1e3));
    }
    for name in scene.outflow_names() {
        let mass = series.column(&format!("{name}_kg"));
        if mass.last().is_some_and(|x| *x > 0.0) {
            panels.push(panel(format!("{name}: mass that has left (g)"), mass, 1e3));
        }
    }
    panels.push(panel("kinetic energy (mJ)".into(), series.column("kinetic_uJ"), 1e-3));
    let last = series.column("time_s").last().copied().unwrap_or(0.0);
    plot::stacked(&panels, &plot::Axis { label: "time (s)".into(), last })
}
