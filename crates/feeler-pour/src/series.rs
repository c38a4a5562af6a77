//! The series of a run: a CSV file with a row for each output time.

use crate::error::PourError;
use crate::packing::Packing;
use crate::setup::PourScene;
use crate::world::World;
use feeler_particles::Load;
use std::path::Path;

/// Names of the columns of the series of a scene.
pub(crate) fn header(scene: &PourScene) -> Vec<String> {
    let mut out: Vec<String> =
        ["time_s", "grains", "mass_kg", "kinetic_uJ", "potential_uJ", "grain_contacts", "wall_contacts"]
            .map(str::to_owned)
            .into();
    for name in scene.outflow_names() {
        out.extend(["grains", "kg", "kg_per_s"].map(|quantity| format!("{name}_{quantity}")));
    }
    for wall in &scene.walls {
        out.extend(["fx_mN", "fy_mN", "fz_mN"].map(|component| format!("{}_{component}", wall.name)));
        if wall.schedule.lid().is_some() {
            out.extend(["travel_mm", "mm_per_s"].map(|quantity| format!("{}_{quantity}", wall.name)));
        }
    }
    if scene.packing.is_some() {
        out.extend(PACKING_COLUMNS.map(str::to_owned));
    }
    out
}

/// Names of the columns of a packing.
const PACKING_COLUMNS: [&str; 14] = [
    "packed_grains",
    "void_ratio",
    "coordination",
    "wall_coordination",
    "pairs_1",
    "pairs_2",
    "pairs_3",
    "pairs_4_or_more",
    "mutual_1",
    "mutual_2",
    "mutual_3",
    "mutual_4",
    "mutual_5",
    "mutual_6_or_more",
];

/// Values of [`PACKING_COLUMNS`].
fn packing_cells(packing: &Packing) -> Vec<String> {
    let mut out = vec![packing.count.to_string()];
    out.extend([packing.void_ratio, packing.coordination, packing.wall_coordination].map(|x| x.to_string()));
    out.extend(packing.pairs_by_points.iter().chain(&packing.mutual).map(usize::to_string));
    out
}

/// Returns the cells of the row at a time (s), in the order of [`header`]. `before` are the masses (kg)
/// that had left by each outlet at the previous row, `loads` are the mean loads on the walls since that
/// row.
pub(crate) fn row(world: &World<'_>, time: f64, before: &[f64], loads: &[Load]) -> Vec<String> {
    let (mass, potential) = world.mass_and_potential();
    let s = &world.simulation;
    let mut out = vec![
        time.to_string(),
        s.present_count().to_string(),
        mass.to_string(),
        s.kinetic_energy().to_string(),
        // Adding 0 turns −0 into 0.
        (potential + 0.0).to_string(),
        s.pair_count().to_string(),
        s.wall_contact_count().to_string(),
    ];
    let times = &world.scene.times;
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let since = times.step * times.steps_of_row as f64;
    for ((count, mass), before) in world.left.iter().zip(before) {
        out.extend([count.to_string(), mass.to_string(), ((mass - before) / since).to_string()]);
    }
    for (k, load) in loads.iter().enumerate() {
        out.extend(load.force.iter().map(f64::to_string));
        out.extend(world.lid_motion(k).into_iter().flatten().map(|x| x.to_string()));
    }
    if let Some(packing) = world.packing() {
        out.extend(packing_cells(&packing));
    }
    out
}

/// Returns the line of a CSV file with these cells, including the end of the line.
pub(crate) fn line(cells: &[String]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    drop(writer.write_record(cells));
    writer.into_inner().unwrap_or_default()
}

/// Series of a run: values of all rows, in columns with names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
}

impl Series {
    /// Reads a series that a run has written.
    ///
    /// # Errors
    /// The file cannot be read, or is not the series of a run.
    pub fn read(file: &Path) -> Result<Self, PourError> {
        let wrong = |problem: String| PourError::run_file(file, format!("is not a series: {problem}"));
        let mut reader = csv::Reader::from_path(file).map_err(|e| wrong(e.to_string()))?;
        let header = reader.headers().map_err(|e| wrong(e.to_string()))?;
        let names: Vec<String> = header.iter().map(str::to_owned).collect();
        let mut values = vec![Vec::new(); names.len()];
        for record in reader.records() {
            let record = record.map_err(|e| wrong(e.to_string()))?;
            for (column, cell) in values.iter_mut().zip(&record) {
                column.push(cell.parse().map_err(|_| wrong(format!("'{cell}' is not a number")))?);
            }
        }
        Ok(Self { names, values })
    }

    /// Names of the columns, in the order of the file.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of rows.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// Values of a column, one for each row; empty if no such column exists.
    #[must_use]
    pub fn column(&self, name: &str) -> &[f64] {
        self.names.iter().position(|n| n == name).map_or(&[], |k| &self.values[k])
    }

    /// Mass flow (kg/s), for each row the mean since the previous row, through all outlets of the scene,
    /// or out of the domain if the scene has no outlet.
    #[must_use]
    pub fn mass_flow(&self, scene: &PourScene) -> Vec<f64> {
        let mut names: Vec<&str> = scene.outflow_names().collect();
        if names.len() > 1 {
            names.pop();
        }
        let mut out = vec![0.0; self.row_count()];
        for name in names {
            for (sum, x) in out.iter_mut().zip(self.column(&format!("{name}_kg_per_s"))) {
                *sum += x;
            }
        }
        out
    }

    /// Moving mean of [`Self::mass_flow`] (kg/s) over a fiftieth of all rows, so that single particles
    /// do not hide the flow.
    #[must_use]
    pub fn smooth_mass_flow(&self, scene: &PourScene) -> Vec<f64> {
        let flow = self.mass_flow(scene);
        let over = flow.len() / MEAN_FRACTION;
        moving_mean(&flow, over)
    }
}

/// Returns the moving mean of `values`: for each value, the mean of about `over` values around it, fewer
/// at both ends.
fn moving_mean(values: &[f64], over: usize) -> Vec<f64> {
    let mean = |k: usize| {
        let part = &values[k.saturating_sub(over / 2)..(k + over / 2 + 1).min(values.len())];
        #[expect(clippy::cast_precision_loss, reason = "a count of rows")]
        let count = part.len() as f64;
        part.iter().sum::<f64>() / count
    };
    (0..values.len()).map(mean).collect()
}

/// Number of rows of a series, divided by the number of rows over which the mass flow is averaged. A
/// larger value shows single particles as peaks, a smaller one blurs the beginning and the end of a
/// flow.
const MEAN_FRACTION: usize = 50;
