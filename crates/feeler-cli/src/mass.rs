//! Mass, centroid and inertia of the solids of a file and of all solids together.

use anyhow::{bail, ensure};
use feeler_geom::{P3, Pose, V3};
use feeler_hierarchy::{Inertia, Instance, Model};
use nalgebra::{Matrix3, Quaternion, Translation3, UnitQuaternion};
use std::path::Path;

/// Factor from kg/m³ to kg/mm³.
const KG_MM3_PER_KG_M3: f64 = 1e-9;

/// Maximum number of names that an error lists. Errors are long with a larger value; a smaller one hides the
/// right name.
const MAX_LISTED_NAMES: usize = 20;

/// Mass properties of a body: mass (kg, or mm³ at density 1), centroid (mm) and inertia tensor about the
/// centroid (kg·mm², or mm⁵ at density 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mass {
    pub mass: f64,
    pub centroid: P3,
    pub tensor: Matrix3<f64>,
}

impl Mass {
    fn of_solid(volume: f64, i: &Inertia) -> Self {
        let tensor = Matrix3::from_fn(|r, c| i.tensor[r][c]);
        Self { mass: volume, centroid: i.centroid.into(), tensor }
    }

    /// Returns the mass properties at a density (kg/mm³), if `self` has those at density 1.
    pub(crate) fn at_density(&self, density: f64) -> Self {
        Self { mass: self.mass * density, tensor: self.tensor * density, ..*self }
    }

    fn placed(&self, pose: &Pose) -> Self {
        let r = pose.rotation.to_rotation_matrix();
        Self { centroid: pose * self.centroid, tensor: r * self.tensor * r.transpose(), ..*self }
    }

    /// Rows of the inertia tensor.
    pub(crate) fn rows(&self) -> [[f64; 3]; 3] {
        std::array::from_fn(|r| std::array::from_fn(|c| self.tensor[(r, c)]))
    }
}

/// Mass properties of several bodies together, by the parallel-axis theorem; `None` if their total mass
/// is 0.
pub(crate) fn total(parts: &[Mass]) -> Option<Mass> {
    let first = parts.first()?.centroid;
    let mass: f64 = parts.iter().map(|p| p.mass).sum();
    // The sums are relative to a nearby point, so that coordinates far from the origin keep their digits.
    let moment = parts.iter().fold(V3::zeros(), |m, p| m + (p.centroid - first) * p.mass);
    let centroid = first + moment / mass;
    let tensor = parts.iter().fold(Matrix3::zeros(), |t, p| {
        let r = p.centroid - centroid;
        t + p.tensor + (Matrix3::from_diagonal_element(r.norm_squared()) - r * r.transpose()) * p.mass
    });
    (mass > 0.0).then_some(Mass { mass, centroid, tensor })
}

/// Pose of an instance in the coordinates of the model.
pub(crate) fn pose(instance: &Instance) -> Pose {
    let [x, y, z, w] = instance.rotation;
    Pose::from_parts(
        Translation3::from(instance.translation),
        UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
    )
}

/// Mass properties at density 1 of the solid of an instance, in the solid's own coordinates; `None` for
/// an open surface.
pub(crate) fn own(model: &Model, instance: &Instance) -> Option<Mass> {
    let info = &model.solids[instance.solid as usize].info;
    info.inertia.as_ref().map(|i| Mass::of_solid(info.volume, i))
}

/// Mass properties of all instances together, in the coordinates of the model. `densities` has the
/// density (kg/mm³) of each instance. Open surfaces and instances without a density are omitted; `None`
/// if nothing remains.
pub(crate) fn all(model: &Model, densities: &[Option<f64>]) -> Option<Mass> {
    let of = |(i, f): (&Instance, &Option<f64>)| Some(own(model, i)?.at_density((*f)?).placed(&pose(i)));
    let parts: Vec<Mass> = model.instances.iter().zip(densities).filter_map(of).collect();
    total(&parts)
}

/// Returns the density (kg/mm³) of each instance, `None` if it has none, from pairs of a name and a
/// density (kg/m³). A name is the name, path or number of a solid and applies to all instances that have
/// it; `*` applies to all other instances.
///
/// # Errors
/// A name matches no solid, a solid has two densities, or a name matches an open surface.
pub(crate) fn densities(
    model: &Model,
    file: &Path,
    given: &[(String, f64)],
) -> anyhow::Result<Vec<Option<f64>>> {
    let file = file.display();
    let mut out: Vec<Option<f64>> = vec![None; model.instances.len()];
    for (name, density) in given.iter().filter(|(n, _)| n != "*") {
        let density = density * KG_MM3_PER_KG_M3;
        let mut found = false;
        for (k, i) in model.instances.iter().enumerate() {
            if i.name != *name && i.path != *name && k.to_string() != *name {
                continue;
            }
            found = true;
            ensure!(
                own(model, i).is_some(),
                "{file}: '{name}' (solid {k}) is an open surface, which has no volume; remove its density"
            );
            let two = out[k].is_some_and(|d| d.total_cmp(&density).is_ne());
            ensure!(!two, "{file}: solid {k} ('{}') has two densities; give only one", i.name);
            out[k] = Some(density);
        }
        if !found {
            let mut names: Vec<&str> = model.instances.iter().map(|i| i.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            let more = names.len().saturating_sub(MAX_LISTED_NAMES);
            names.truncate(MAX_LISTED_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            bail!("{file}: no solid is called '{name}'; the solids are '{}'{more}", names.join("', '"));
        }
    }
    if let Some((_, rest)) = given.iter().rfind(|(n, _)| n == "*") {
        out.iter_mut().for_each(|d| *d = d.or(Some(rest * KG_MM3_PER_KG_M3)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_a_block_make_the_block() {
        let block = |l: V3, centroid: P3| {
            let mass = l.x * l.y * l.z;
            let sq = l.component_mul(&l) * (mass / 12.0);
            let tensor = Matrix3::from_diagonal(&V3::new(sq.y + sq.z, sq.x + sq.z, sq.x + sq.y));
            Mass { mass, centroid, tensor }
        };
        let half = block(V3::new(1.0, 3.0, 5.0), P3::new(0.5, 1.5, 2.5));
        let there = Pose::from_parts(
            Translation3::new(2.0, 0.0, 5.0),
            UnitQuaternion::from_axis_angle(&V3::y_axis(), std::f64::consts::PI),
        );
        let whole = total(&[half, half.placed(&there)]).expect("the block has a mass");
        let expected = block(V3::new(2.0, 3.0, 5.0), P3::new(1.0, 1.5, 2.5));
        assert!((whole.mass - expected.mass).abs() < 1e-12);
        assert!((whole.centroid - expected.centroid).norm() < 1e-14, "{whole:?}");
        assert!((whole.tensor - expected.tensor).amax() < 1e-12, "{whole:?}");
        assert_eq!(total(&[]), None);
    }
}
