//! Lids: walls that slide along an axis under their weight and react to the forces of the particles.

use crate::error::{PourError, Within as _, ensure};
use crate::tables::{self, LidTable};
use feeler_geom::{P3, V3};
use feeler_particles::{Slider, Wall};

/// Plan of a wall that slides along an axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lid {
    pub(crate) slider: Slider,
    /// Largest coordinate along the axis (mm) of a point of the wall in the pose that the scene states.
    pub(crate) front: f64,
    /// Distance (mm) from the front of the lid to the first particle at which the lid is placed at the
    /// beginning; `None` if it begins in the pose that the scene states.
    pub(crate) above: Option<f64>,
    /// Acceleration (mm/s²) along the axis without contacts.
    pub(crate) free_acceleration: f64,
}

impl Lid {
    /// Reads the table `lid` of a wall in the pose of the scene. `vertices` (world) are those of its
    /// displayed surface, or its point if it is a plane.
    ///
    /// # Errors
    /// A value is not valid.
    pub(crate) fn new(
        table: &LidTable,
        gravity: &V3,
        wall: &Wall,
        vertices: impl Iterator<Item = P3>,
    ) -> Result<Self, PourError> {
        let axis = table.direction.map_or(*gravity, V3::from);
        ensure!(
            axis.iter().all(|c| c.is_finite()) && axis.norm() > 0.0,
            "direction",
            "give the direction in which the lid presses, three finite numbers that are not all 0"
        );
        let force = force(table)?;
        let slider = Slider::new(axis, table.mass, force).in_key("mass")?;
        if let Some(above) = table.above {
            ensure!(above >= 0.0 && above.is_finite(), "above", "give mm of at least 0");
        }
        let free_acceleration = slider.free_acceleration(gravity);
        ensure!(
            free_acceleration > 0.0,
            "direction",
            "gravity and pressure move the lid with {free_acceleration} mm/s² along its direction; give a \
             direction that has an angle below 90° to gravity, or a pressure"
        );
        let of = |p: P3| p.coords.dot(slider.axis());
        let front = match wall {
            Wall::Plane(_) => of(wall.reference()),
            _ => vertices.map(of).fold(f64::NEG_INFINITY, f64::max),
        };
        Ok(Self { slider, front, above: table.above, free_acceleration })
    }

    /// Distance (mm) along the axis that a wall has moved from `begin` to its present pose.
    pub(crate) fn travel(&self, begin: &Wall, now: &Wall) -> f64 {
        let moved = now.pose().translation.vector - begin.pose().translation.vector;
        moved.dot(self.slider.axis())
    }
}

/// Constant force (mN) of the pressure on a lid.
fn force(table: &LidTable) -> Result<f64, PourError> {
    match (table.pressure, table.area) {
        (None, None) => Ok(0.0),
        (Some(pressure), Some(area)) => {
            let are_valid = tables::is_finite(&[pressure, area, 0.0]) && pressure > 0.0 && area > 0.0;
            ensure!(are_valid, "pressure, area", "give kPa and mm² above 0");
            Ok(pressure * area)
        }
        _ => Err(PourError::value("pressure, area", "give both (kPa and mm²), or neither")),
    }
}
