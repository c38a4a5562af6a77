//! The CSV file: a row for each moment.

use super::world::{Setting, World};
use feeler_particles::Load;

/// Names of the columns.
pub(super) fn header(setting: &Setting) -> Vec<String> {
    let mut out: Vec<String> =
        ["time_s", "grains", "mass_kg", "kinetic_uJ", "potential_uJ", "grain_contacts", "wall_contacts"]
            .map(str::to_owned)
            .into();
    for name in outlets(setting) {
        out.extend(["grains", "kg", "kg_per_s"].map(|what| format!("{name}_{what}")));
    }
    for wall in &setting.walls {
        out.extend(["fx_mN", "fy_mN", "fz_mN"].map(|what| format!("{}_{what}", wall.name)));
    }
    out
}

/// Names of the outlets, and of the way out of the domain.
pub(super) fn outlets(setting: &Setting) -> impl Iterator<Item = &str> {
    setting.outlets.iter().map(|o| o.name.as_str()).chain([LOST])
}

/// What has left the domain otherwise than by an outlet.
pub(super) const LOST: &str = "lost";

/// A row. `before`: masses that had left at the row before; loads are means since then.
pub(super) fn row(world: &World<'_>, time: f64, before: &[f64], loads: &[Load]) -> Vec<String> {
    let (mass, potential) = world.mass_and_potential();
    let s = &world.simulation;
    let mut out = vec![
        time.to_string(),
        s.present_count().to_string(),
        mass.to_string(),
        s.kinetic_energy().to_string(),
        // Not −0.
        (potential + 0.0).to_string(),
        s.pair_count().to_string(),
        s.wall_contact_count().to_string(),
    ];
    let times = &world.setting.times;
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let since = times.step * times.steps_of_row as f64;
    for ((count, mass), before) in world.left.iter().zip(before) {
        out.extend([count.to_string(), mass.to_string(), ((mass - before) / since).to_string()]);
    }
    for load in loads {
        out.extend(load.force.iter().map(f64::to_string));
    }
    out
}

/// A row as text.
pub(super) fn line(cells: &[String]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Memory takes everything.
    drop(writer.write_record(cells));
    writer.into_inner().unwrap_or_default()
}
